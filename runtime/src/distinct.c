/* Fields that are declared distinct: launches whose loops rely on it look first whether it is so.
 *
 * Time and memory are linear in the number of elements: a byte for each number between the least and the greatest where
 * these are not far apart, else a sorted copy. The host may write to its fields at any time, so every launch looks. But
 * data that are the same as those which were found distinct need no second look: they are kept, and compared.
 */
#include "rt.h"

/* MAP: bytes for each element, in the widest map; as many as sorting takes. DIGIT: bits of a digit of that. COMPARED:
 * bytes of a piece of a comparison. */
enum { MAP = 16, DIGIT = 8, COMPARED = 4096 };

/* The numbers of a field, one after the other. Unsigned differences are right for signed ones, too.
 */
typedef struct numbers {
    const void *at;
    int64_t n;
    tk_scalar type;
    uint64_t least; /* its bits */
    uint64_t span;  /* the greatest less the least */
} numbers;

#define EACH_TYPE(X) \
    X(TK_I8, int8_t) \
    X(TK_I16, int16_t) \
    X(TK_I32, int32_t) \
    X(TK_I64, int64_t) \
    X(TK_U8, uint8_t) \
    X(TK_U16, uint16_t) \
    X(TK_U32, uint32_t) \
    X(TK_U64, uint64_t)

static void find_span(numbers *x)
{
    switch (x->type) {
#define SPAN(TYPE, T) \
    case TYPE: { \
        const T *const v = x->at; \
        T least = v[0], greatest = v[0]; \
        for (int64_t i = 1; i < x->n; i++) { \
            least = v[i] < least ? v[i] : least; \
            greatest = v[i] > greatest ? v[i] : greatest; \
        } \
        x->least = (uint64_t)least; \
        x->span = (uint64_t)greatest - (uint64_t)least; \
        return; \
    }
        EACH_TYPE(SPAN)
#undef SPAN
    default:
        return;
    }
}

static uint64_t number(const numbers *x, int64_t i)
{
    switch (x->type) {
#define GET(TYPE, T) \
    case TYPE: \
        return (uint64_t)((const T *)x->at)[i] - x->least;
        EACH_TYPE(GET)
#undef GET
    default:
        return 0;
    }
}

/* The first element whose number an earlier one has; n: none. seen: zeros, for each number. */
static int64_t find_by_map(const numbers *x, unsigned char *seen)
{
    switch (x->type) {
#define MARK(TYPE, T) \
    case TYPE: { \
        const T *const v = x->at; \
        for (int64_t i = 0; i < x->n; i++) { \
            const uint64_t k = (uint64_t)v[i] - x->least; \
            if (seen[k]) \
                return i; \
            seen[k] = 1; \
        } \
        return x->n; \
    }
        EACH_TYPE(MARK)
#undef MARK
    default:
        return x->n;
    }
}

/* keys in ascending order, by the digits that span has; room for as many. The sorted ones. */
static uint64_t *sort(uint64_t *keys, uint64_t *room, int64_t n, uint64_t span)
{
    for (int shift = 0; shift < 64 && span >> shift != 0; shift += DIGIT) {
        enum { DIGITS = 1 << DIGIT };
        int64_t at[DIGITS + 1] = {0};
        for (int64_t i = 0; i < n; i++)
            at[(keys[i] >> shift) % DIGITS + 1]++;
        for (int d = 0; d < DIGITS; d++)
            at[d + 1] += at[d];
        for (int64_t i = 0; i < n; i++)
            room[at[(keys[i] >> shift) % DIGITS]++] = keys[i];
        uint64_t *const sorted = room;
        room = keys;
        keys = sorted;
    }
    return keys;
}

/* The last element of a number that an earlier one has, too; n: none. room: for two numbers an element. */
static int64_t find_by_order(const numbers *x, uint64_t *room)
{
    for (int64_t i = 0; i < x->n; i++)
        room[i] = number(x, i);
    const uint64_t *const sorted = sort(room, room + x->n, x->n, x->span);
    for (int64_t i = 1; i < x->n; i++) {
        if (sorted[i] != sorted[i - 1])
            continue;
        for (int64_t k = x->n - 1; k >= 0; k--)
            if (number(x, k) == sorted[i])
                return k;
    }
    return x->n;
}

static tk_status no_memory(const tk_field *f)
{
    return tk_fail(f->module->session, TK_NO_MEMORY,
                   "out of memory to look whether the elements of the distinct field '%s' differ", f->desc->name);
}

static tk_status fail(const tk_field *f, const numbers *x, int64_t second)
{
    int64_t first = 0;
    while (number(x, first) != number(x, second))
        first++;
    const rt_text a = tk_rt_element_text(f, TK_DATA, first), b = tk_rt_element_text(f, TK_DATA, second);
    const uint64_t bits = number(x, first) + x->least;
    const bool is_signed = x->type <= TK_I64;
    return tk_fail(f->module->session, TK_BAD_ARGUMENT,
                   is_signed ? "module '%s': field '%s' is declared distinct, but %s and %s are both %lld"
                             : "module '%s': field '%s' is declared distinct, but %s and %s are both %llu",
                   f->module->desc->name, f->desc->name, a.s, b.s, (long long)bits);
}

static tk_status check(const tk_field *f, const void *data)
{
    numbers x = {.at = data, .n = f->count, .type = f->desc->elem};
    find_span(&x);
    const bool map = x.span / MAP < (uint64_t)x.n;
    void *room = tk_rt_alloc(f->module->session, map ? (size_t)x.span + 1 : MAP * (size_t)x.n, map);
    if (!room)
        return no_memory(f);
    const int64_t second = map ? find_by_map(&x, room) : find_by_order(&x, room);
    tk_rt_free(f->module->session, room);
    return second == x.n ? TK_OK : fail(f, &x, second);
}

/* ---- data that were found distinct ---- */

typedef struct comparison {
    const unsigned char *a, *b;
    size_t bytes;
    atomic_bool *differ;
} comparison;

static void compare(const void *args, int64_t lo, int64_t hi)
{
    const comparison *const c = args;
    const size_t from = (size_t)lo * COMPARED, end = (size_t)hi * COMPARED, to = end < c->bytes ? end : c->bytes;
    if (memcmp(c->a + from, c->b + from, to - from) != 0)
        atomic_store_explicit(c->differ, true, memory_order_relaxed);
}

static bool are_same(tk_session *s, const void *a, const void *b, size_t bytes)
{
    enum { CYCLES = 512 }; /* of a piece beyond the cache */
    atomic_bool differ = false;
    const comparison c = {a, b, bytes, &differ};
    const tk_plan p = tk_plan_make((int64_t)(bytes / COMPARED + 1), 1, CYCLES);
    tk_rt_run_chunks(s, &p, tk_rt_work(s, &p), compare, &c, true);
    return !atomic_load(&differ);
}

/* data: dense. Without memory to keep them the next launch looks again. */
static tk_status check_changed(tk_field *f, const void *data)
{
    tk_session *s = f->module->session;
    const size_t bytes = tk_field_bytes(f);
    if (f->distinct && are_same(s, data, f->distinct, bytes))
        return TK_OK;
    const tk_status st = check(f, data);
    if (st == TK_OK && !f->distinct)
        f->distinct = tk_rt_alloc(s, bytes, false);
    if (st == TK_OK && f->distinct)
        memcpy(f->distinct, data, bytes);
    return st;
}

tk_status tk_check_distinct(tk_module *m, int field)
{
    tk_field *f = &m->fields[field];
    if (f->count < 2)
        return TK_OK;
    if (tk_rt_is_dense(f, TK_DATA) && tk_rt_is_aligned(f, TK_DATA))
        return check_changed(f, f->plane[TK_DATA]);
    void *copy = tk_rt_alloc(m->session, tk_field_bytes(f), false);
    if (!copy)
        return no_memory(f);
    tk_rt_plane_read(f, TK_DATA, copy);
    const tk_status st = check_changed(f, copy);
    tk_rt_free(m->session, copy);
    return st;
}
