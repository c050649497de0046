/* Data of fields, taken, exchanged and put back. */
#include "states.h"

#include "box.h"

enum { ALIGNMENT = 16, ADD_UNIT = 256 /* components */, SWAP_BYTES = 256 };

static size_t aligned(size_t n)
{
    return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- the components of a piece ---- */

/* Components side by side. component: number of the first one; -1: not known. */
typedef void (*run_fn)(void *ctx, unsigned char *at, unsigned char *value, int64_t component, size_t bytes);

static int64_t count_of(const rt_piece *p)
{
    int64_t n = 1;
    for (int d = 0; d <= p->field->desc->ndim; d++)
        n *= extent(p->box, d) > 0 ? extent(p->box, d) : 0;
    return n;
}

/* Number of component c of the element at these subscripts. */
static int64_t number_of(const tk_field *f, const int64_t *index, int64_t c)
{
    int64_t e = 0;
    for (int d = 0; d < f->desc->ndim; d++)
        e = e * f->shape[d] + index[d];
    return tk_rt_number(f, e, c);
}

static void walk_box(const rt_piece *p, run_fn fn, void *ctx)
{
    const tk_field *f = p->field;
    const int64_t *b = p->box;
    const int nd = f->desc->ndim;
    const int64_t first = b[2 * nd], last = b[2 * nd + 1];
    const size_t size = tk_rt_scalar_bytes(f->desc->elem);
    const bool rows = tk_rt_is_row_major(f, p->plane) && extent(b, nd) == f->desc->ncomp;
    unsigned char *value = p->values;
    int64_t index[8], run = f->desc->ncomp;
    int inner = nd;
    while (rows && inner > 0) {
        run *= extent(b, --inner);
        if (extent(b, inner) != f->shape[inner])
            break;
    }
    for (int d = 0; d < nd; d++)
        index[d] = b[2 * d];
    for (int d = 0; d >= 0;) {
        const int64_t from = rows ? 0 : first, to = rows ? 0 : last;
        const size_t bytes = rows ? (size_t)run * size : size;
        for (int64_t c = from; c <= to; c++, value += bytes) {
            const int64_t number = number_of(f, index, c);
            fn(ctx, tk_rt_component(f, p->plane, number), value, number, bytes);
        }
        for (d = inner - 1; d >= 0 && ++index[d] > b[2 * d + 1]; d--)
            index[d] = b[2 * d];
    }
}

static void walk_singles(const rt_piece *p, run_fn fn, void *ctx)
{
    const size_t size = p->element;
    unsigned char *value = p->values + p->singles * sizeof(void *), *at;
    for (size_t i = 0; i < p->singles; i++, value += size) {
        memcpy(&at, p->values + i * sizeof at, sizeof at);
        fn(ctx, at, value, -1, size);
    }
}

static void walk(const rt_piece *p, run_fn fn, void *ctx)
{
    const tk_field *f = p->field;
    if (p->bytes == 0)
        return;
    if (p->singles > 0)
        walk_singles(p, fn, ctx);
    else if (p->box)
        walk_box(p, fn, ctx);
    else if (tk_rt_elements_dense(f, p->plane, p->element))
        fn(ctx, f->plane[p->plane], p->values, 0, p->bytes);
    else
        for (int64_t i = 0; i < f->count; i++)
            fn(ctx, tk_rt_component(f, p->plane, i * f->desc->ncomp), p->values + (size_t)i * p->element,
               i * f->desc->ncomp, p->element);
}

static void get_run(void *ctx, unsigned char *at, unsigned char *value, int64_t component, size_t bytes)
{
    (void)ctx;
    (void)component;
    memcpy(value, at, bytes);
}

static void put_run(void *ctx, unsigned char *at, unsigned char *value, int64_t component, size_t bytes)
{
    (void)ctx;
    (void)component;
    memcpy(at, value, bytes);
}

static void swap_run(void *ctx, unsigned char *at, unsigned char *value, int64_t component, size_t bytes)
{
    (void)ctx;
    (void)component;
    unsigned char held[SWAP_BYTES];
    for (size_t n; bytes > 0; bytes -= n, at += n, value += n) {
        n = bytes < sizeof held ? bytes : sizeof held;
        memcpy(held, at, n);
        memcpy(at, value, n);
        memcpy(value, held, n);
    }
}

static bool is_whole(const rt_piece *p)
{
    return !p->box && p->singles == 0;
}

static void take(const rt_piece *p)
{
    if (is_whole(p))
        tk_rt_elements_read(p->field, p->plane, p->element, p->values);
    else
        walk(p, get_run, NULL);
}

static void put(const rt_piece *p)
{
    if (is_whole(p))
        tk_rt_elements_write(p->field, p->plane, p->element, p->values);
    else
        walk(p, put_run, NULL);
}

/* ---- taking ---- */

/* True if the elements of the field stand beside those of the piece, which it joins. */
static bool joins(rt_piece *p, tk_field *f, tk_plane plane, unsigned what, size_t element)
{
    if (p->box || p->plane != plane || p->what != what)
        return false;
    const bool behind = f == p->field + p->members && tk_rt_elements_continue(p->field, p->element, f, plane);
    const bool before = f + 1 == p->field && tk_rt_elements_continue(f, element, p->field, plane);
    if (!behind && !before)
        return false;
    p->field = before ? f : p->field;
    p->element += element;
    p->bytes += tk_field_bytes(f);
    p->members++;
    return true;
}

static bool grow_wants(tk_session *s)
{
    rt_wants *w = &s->wants;
    const int cap = w->cap ? 2 * w->cap : 16;
    rt_piece *piece = tk_rt_alloc(s, (size_t)cap * sizeof *piece, false);
    w->failed = w->failed || !piece;
    if (!piece)
        return false;
    if (w->n > 0)
        memcpy(piece, w->piece, (size_t)w->n * sizeof *piece);
    tk_rt_free(s, w->piece);
    w->piece = piece;
    w->cap = cap;
    return true;
}

void tk_rt_state_want(tk_field *f, tk_plane plane, const int64_t *box, unsigned what)
{
    rt_wants *w = &f->module->session->wants;
    const size_t size = tk_rt_scalar_bytes(f->desc->elem), element = (size_t)f->desc->ncomp * size;
    for (int i = 0; i < w->n && !box; i++)
        if (joins(&w->piece[i], f, plane, what, element))
            return;
    if (w->n == w->cap && !grow_wants(f->module->session))
        return;
    rt_piece *p = &w->piece[w->n++];
    *p = (rt_piece){.field = f, .plane = plane, .what = what, .element = element, .members = 1, .box = box};
    p->bytes = box ? (size_t)count_of(p) * size : tk_field_bytes(f);
}

int tk_rt_state_wanted(const tk_session *s)
{
    return s->wants.n + (int)s->wants.failed;
}

static size_t box_bytes(const rt_piece *p)
{
    return p->box ? 2 * (size_t)(p->field->desc->ndim + 1) * sizeof *p->box : 0;
}

/* SIZE_MAX: too many. */
static size_t state_bytes(const rt_piece *piece, int n)
{
    size_t bytes = aligned(sizeof(struct rt_state) + (size_t)n * sizeof *piece);
    for (int i = 0; i < n; i++) {
        const size_t more = aligned(piece[i].bytes) + aligned(box_bytes(&piece[i]));
        if (more > SIZE_MAX / 4 - bytes)
            return SIZE_MAX;
        bytes += more;
    }
    return bytes;
}

/* A state of these pieces, without their values. */
static struct rt_state *allocate(tk_session *s, const rt_piece *piece, int n, struct rt_state *old)
{
    const size_t bytes = state_bytes(piece, n);
    struct rt_state *st = old;
    if (!old || old->bytes != bytes) {
        tk_rt_free(s, old);
        st = bytes == SIZE_MAX ? NULL : tk_rt_alloc(s, bytes, false);
    }
    if (!st)
        return NULL;
    *st = (struct rt_state){.bytes = bytes, .n = n};
    unsigned char *at = (unsigned char *)st + aligned(sizeof *st + (size_t)n * sizeof *piece);
    for (int i = 0; i < n; i++) {
        rt_piece *p = &st->piece[i];
        *p = piece[i];
        if (p->box) {
            p->box = memcpy(at, p->box, box_bytes(p));
            at += aligned(box_bytes(p));
        }
    }
    st->head = (size_t)(at - (unsigned char *)st);
    for (int i = 0; i < n; i++) {
        st->piece[i].values = at;
        at += aligned(st->piece[i].bytes);
    }
    return st;
}

/* As far behind `to` as p is behind `from`. */
static uintptr_t moved(const void *p, const void *from, const void *to)
{
    return (uintptr_t)to + ((uintptr_t)p - (uintptr_t)from);
}

void tk_rt_state_moved(struct rt_state *st, const struct rt_state *old)
{
    for (int i = 0; i < st->n; i++) {
        rt_piece *p = &st->piece[i];
        p->box = p->box ? (const int64_t *)moved(p->box, old, st) : NULL;
        p->values = (unsigned char *)moved(p->values, old, st);
    }
}

struct rt_state *tk_rt_state_take(tk_session *s, struct rt_state *old)
{
    rt_wants *w = &s->wants;
    struct rt_state *st = NULL;
    if (w->failed)
        tk_rt_free(s, old);
    else
        st = allocate(s, w->piece, w->n, old);
    w->n = 0;
    w->failed = false;
    tk_rt_state_retake(st);
    return st;
}

size_t tk_rt_state_drop(tk_session *s)
{
    rt_wants *w = &s->wants;
    const size_t bytes = w->n > 0 ? state_bytes(w->piece, w->n) : 0;
    w->n = 0;
    w->failed = false;
    return bytes;
}

struct rt_state *tk_rt_state_take_again(tk_session *s, const struct rt_state *st)
{
    struct rt_state *again = allocate(s, st->piece, st->n, NULL);
    tk_rt_state_retake(again);
    return again;
}

struct rt_state *tk_rt_state_without(tk_session *s, const struct rt_state *st, rt_drops_fn drops, const void *ctx)
{
    rt_piece *piece = tk_rt_alloc(s, (size_t)st->n * sizeof *piece, false);
    int n = 0;
    for (int i = 0; i < st->n && piece; i++)
        if (!drops(ctx, &st->piece[i]))
            piece[n++] = st->piece[i];
    struct rt_state *rest = piece ? allocate(s, piece, n, NULL) : NULL;
    for (int i = 0; i < n && rest; i++)
        memcpy(rest->piece[i].values, piece[i].values, piece[i].bytes);
    tk_rt_free(s, piece);
    return rest;
}

void tk_rt_state_retake(struct rt_state *st)
{
    for (int i = 0; st && i < st->n; i++)
        take(&st->piece[i]);
}

/* ---- back, and forth ---- */

void tk_rt_state_restore(const struct rt_state *st, unsigned what)
{
    for (int i = 0; st && i < st->n; i++)
        if (what == 0 || (st->piece[i].what & what) != 0)
            put(&st->piece[i]);
}

static void swap(struct rt_state *st)
{
    for (int i = 0; i < st->n; i++)
        walk(&st->piece[i], swap_run, NULL);
    st->swapped = !st->swapped;
}

void tk_rt_states_undo(struct rt_state *last)
{
    for (struct rt_state *st = last; st; st = st->next)
        if (!st->swapped)
            swap(st);
}

static struct rt_state *reversed(struct rt_state *st)
{
    struct rt_state *done = NULL;
    for (struct rt_state *next; st; st = next) {
        next = st->next;
        st->next = done;
        done = st;
    }
    return done;
}

void tk_rt_states_redo(struct rt_state **last)
{
    struct rt_state *first = reversed(*last);
    for (struct rt_state *st = first; st; st = st->next)
        if (st->swapped)
            swap(st);
    *last = reversed(first);
}

/* ---- differences ---- */

typedef struct differing {
    const rt_piece *piece;
    rt_differs_fn fn;
    void *ctx;
    bool stopped;
} differing;

static void compare_run(void *ctx, unsigned char *at, unsigned char *value, int64_t component, size_t bytes)
{
    differing *d = ctx;
    const size_t size = tk_rt_scalar_bytes(d->piece->field->desc->elem);
    if (d->stopped || memcmp(at, value, bytes) == 0)
        return;
    for (size_t i = 0; i < bytes && !d->stopped; i += size, component++)
        if (memcmp(at + i, value + i, size) != 0)
            d->stopped = !d->fn(d->ctx, d->piece, component, value + i);
}

void tk_rt_state_differ(const struct rt_state *st, rt_differs_fn fn, void *ctx)
{
    for (int i = 0; st && i < st->n; i++) {
        differing d = {&st->piece[i], fn, ctx, false};
        walk(d.piece, compare_run, &d);
        if (d.stopped)
            return;
    }
}

static bool add_single(void *ctx, const rt_piece *p, int64_t component, const void *was)
{
    rt_piece *singles = ctx;
    const size_t i = singles->singles++, size = singles->element;
    void *at = tk_rt_component(p->field, p->plane, component);
    memcpy(singles->values + i * sizeof at, &at, sizeof at);
    memcpy(singles->values + (singles->bytes / (sizeof at + size)) * sizeof at + i * size, was, size);
    return true;
}

struct rt_state *tk_rt_state_shrink(tk_session *s, const struct rt_state *st, size_t n)
{
    const size_t size = tk_rt_scalar_bytes(st->piece->field->desc->elem);
    rt_piece piece = {.field = st->piece->field,
                      .plane = st->piece->plane,
                      .members = 1,
                      .element = size,
                      .bytes = n * (sizeof(void *) + size)};
    struct rt_state *small = allocate(s, &piece, 1, NULL);
    if (small)
        tk_rt_state_differ(st, add_single, small->piece);
    return small;
}

/* ---- sums of bits ---- */

enum { SUMS = 4 };

static void mix(uint64_t *h, uint64_t word)
{
    *h = (*h ^ word) * 0x9e3779b97f4a7c15u;
    *h ^= *h >> 32;
}

static void sum_run(void *ctx, unsigned char *at, unsigned char *value, int64_t component, size_t bytes)
{
    uint64_t *h = ctx, word;
    (void)value;
    (void)component;
    for (; bytes >= SUMS * sizeof word; at += SUMS * sizeof word, bytes -= SUMS * sizeof word)
        for (int k = 0; k < SUMS; k++) {
            memcpy(&word, at + (size_t)k * sizeof word, sizeof word);
            mix(&h[k], word);
        }
    for (size_t n; bytes > 0; at += n, bytes -= n) {
        n = bytes < sizeof word ? bytes : sizeof word;
        word = 0;
        memcpy(&word, at, n);
        mix(&h[0], word);
    }
}

/* All elements of a plane with gaps, the lanes in turn. */
static void sum_elements(const rt_piece *p, uint64_t *h)
{
    const tk_field *f = p->field;
    const int inner = f->desc->ndim - 1;
    const int64_t row = f->shape[inner], step = f->stride[p->plane][inner];
    for (int64_t i = 0; i < f->count; i += row) {
        const unsigned char *at = tk_rt_component(f, p->plane, i * f->desc->ncomp);
        for (int64_t k = 0; k < row; k++, at += step) {
            uint64_t *lane = &h[k % SUMS], word;
            for (size_t b = 0, n; b < p->element; b += n) {
                n = p->element - b < sizeof word ? p->element - b : sizeof word;
                word = 0;
                memcpy(&word, at + b, n == sizeof word ? sizeof word : n);
                mix(lane, word);
            }
        }
    }
}

static uint64_t sum_of(uint64_t *h)
{
    for (int k = 1; k < SUMS; k++)
        mix(&h[0], h[k]);
    return h[0];
}

uint64_t tk_rt_state_sum(tk_field *f, tk_plane plane, const int64_t *box)
{
    const size_t size = tk_rt_scalar_bytes(f->desc->elem);
    rt_piece p = {.field = f,
                  .plane = plane,
                  .element = (size_t)f->desc->ncomp * size,
                  .members = 1,
                  .box = box,
                  .values = f->plane[plane]}; /* not used */
    p.bytes = (size_t)count_of(&p) * size;
    uint64_t h[SUMS] = {1, 2, 3, 4};
    if (f->desc->ndim > 0 && count_of(&p) == f->count * f->desc->ncomp && !tk_rt_elements_dense(f, plane, p.element))
        sum_elements(&p, h);
    else
        walk(&p, sum_run, h);
    return sum_of(h);
}

uint64_t tk_rt_bytes_sum(const void *bytes, size_t n)
{
    uint64_t h[SUMS] = {1, 2, 3, 4};
    sum_run(h, (unsigned char *)bytes, NULL, 0, n);
    return sum_of(h);
}

/* ---- sums ---- */

static void add_range(const void *args, int64_t lo, int64_t hi)
{
    const rt_piece *p = args;
    const bool f32 = p->field->desc->elem == TK_F32;
    for (int64_t k = lo; k < hi; k++) {
        void *at = tk_rt_component(p->field, p->plane, k);
        if (f32)
            tk_store_f32(at, tk_load_f32(p->values + (size_t)k * sizeof(float)) + tk_load_f32(at));
        else
            tk_store_f64(at, tk_load_f64(p->values + (size_t)k * sizeof(double)) + tk_load_f64(at));
    }
}

void tk_rt_state_add(tk_session *s, const struct rt_state *st)
{
    for (int i = 0; st && i < st->n; i++) {
        const tk_plan plan = tk_plan_make((int64_t)tk_rt_scalars(st->piece[i].field), ADD_UNIT, 8);
        tk_rt_run_chunks(s, &plan, tk_rt_work(s, &plan), add_range, &st->piece[i], true);
    }
}

/* ---- lists ---- */

const rt_piece *tk_rt_state_piece(const struct rt_state *st, const tk_field *f, tk_plane plane)
{
    for (int i = 0; st && i < st->n; i++) {
        const rt_piece *p = &st->piece[i];
        if (p->plane == plane && f->module == p->field->module && f >= p->field && f < p->field + p->members)
            return p;
    }
    return NULL;
}

size_t tk_rt_states_bytes(const struct rt_state *st)
{
    size_t bytes = 0;
    for (; st; st = st->next)
        bytes += st->bytes;
    return bytes;
}

void tk_rt_states_forget(struct rt_state *st, const tk_module *m)
{
    for (; st; st = st->next) {
        int n = 0;
        for (int i = 0; i < st->n; i++)
            if (st->piece[i].field->module != m)
                st->piece[n++] = st->piece[i];
        st->n = n;
    }
}

void tk_rt_states_free(tk_session *s, struct rt_state **list)
{
    for (struct rt_state *st = *list, *next; st; st = next) {
        next = st->next;
        tk_rt_free(s, st);
    }
    *list = NULL;
}

void tk_rt_states_put_back(tk_session *s, struct rt_state **last)
{
    tk_rt_states_undo(*last);
    tk_rt_states_free(s, last);
}
