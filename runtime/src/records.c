/* Old values of atomics, and who set minima and maxima, in the record of a launch.
 * compiler/passes/derive/reverse/record.c decides what goes where. */
#include "rt.h"

#include <sched.h>

/* One for each time that the parallel loop around the atomic ran. */
struct rt_block {
    int64_t count;
    size_t bytes;
    bool logs;
    _Alignas(16) unsigned char data[];
};

struct rt_blocks {
    struct rt_block **at;
    int64_t n, cap;
};

/* Of a log: FIRST values in the first part, twice as many in the next. */
struct rt_part {
    struct rt_part *next;
    size_t bytes;
    _Alignas(16) unsigned char data[];
};

enum { FIRST = 8 };

static void *no_memory(tk_session *s, size_t n)
{
    tk_fail(s, TK_NO_MEMORY, "out of memory for the record of a launch (%zu old values of an atomic)", n);
    return NULL;
}

/* The array at *at with room for n elements of that size, the new ones zero. */
static bool grow(tk_session *s, void *at, size_t had, size_t n, size_t size)
{
    void *old, *new = n > SIZE_MAX / 4 / size ? NULL : tk_rt_alloc(s, n * size, true);
    if (!new)
        return no_memory(s, n) != NULL;
    memcpy(&old, at, sizeof old);
    if (had > 0)
        memcpy(new, old, had * size);
    tk_rt_free(s, old);
    memcpy(at, &new, sizeof new);
    return true;
}

static struct rt_block *add_block(tk_session *s, tk_record *rec, int which, int64_t turn, int64_t count, size_t size)
{
    const size_t n = count > 0 ? (size_t)count : 0;
    if (which >= rec->nolds) {
        if (!grow(s, &rec->olds, (size_t)rec->nolds, (size_t)which + 1, sizeof *rec->olds))
            return NULL;
        rec->nolds = which + 1;
    }
    struct rt_blocks *b = &rec->olds[which];
    if (turn >= b->cap) {
        const int64_t cap = turn < FIRST / 2 ? turn + 1 : 2 * turn;
        if (!grow(s, &b->at, (size_t)b->n, (size_t)cap, sizeof(struct rt_block *)))
            return NULL;
        b->cap = cap;
    }
    struct rt_block *block = n > SIZE_MAX / 4 / size ? NULL : tk_rt_alloc(s, sizeof *block + n * size, true);
    if (!block)
        return no_memory(s, n);
    block->count = (int64_t)n;
    block->bytes = sizeof *block + n * size;
    b->at[turn] = block;
    b->n = turn + 1;
    return block;
}

void *tk_record_alloc(tk_session *s, tk_record *rec, int which, int64_t turn, int64_t count, size_t size)
{
    struct rt_block *b = add_block(s, rec, which, turn, count, size);
    return b ? b->data : NULL;
}

void *tk_record_logs(tk_session *s, tk_record *rec, int which, int64_t turn, int64_t count, size_t size)
{
    struct rt_block *b = add_block(s, rec, which, turn, count, size);
    if (b)
        b->logs = true;
    return b ? b->data : NULL;
}

static void *lost_way(tk_session *s)
{
    tk_fail(s, TK_BAD_STATE,
            "an adjoint took another way than its launch, at a condition that rounding decides: the old values of an "
            "atomic are not there");
    return NULL;
}

void *tk_record_get(tk_session *s, const tk_record *rec, int which, int64_t turn)
{
    if (which < rec->nolds && turn < rec->olds[which].n)
        return rec->olds[which].at[turn]->data;
    return lost_way(s);
}

/* ---- logs ---- */

void *tk_log_add(tk_session *s, tk_log *log, int64_t n, size_t size)
{
    struct rt_part **p = &log->first;
    const int64_t end = n + 1;
    int64_t cap = FIRST;
    for (; *p && n >= cap; p = &(*p)->next) {
        n -= cap;
        cap *= 2;
    }
    if (!*p) {
        struct rt_part *part = (size_t)cap > SIZE_MAX / 4 / size
                                   ? NULL
                                   : tk_rt_alloc(s, sizeof *part + (size_t)cap * size, true);
        if (!part)
            return no_memory(s, (size_t)cap);
        part->bytes = sizeof *part + (size_t)cap * size;
        *p = part;
    }
    log->n = end;
    return (*p)->data + (size_t)n * size;
}

const void *tk_log_get(tk_session *s, const tk_log *log, int64_t n, size_t size)
{
    static const uint64_t zero;
    if (n >= log->n) {
        lost_way(s);
        return &zero;
    }
    const struct rt_part *p = log->first;
    for (int64_t cap = FIRST; n >= cap; cap *= 2) {
        n -= cap;
        p = p->next;
    }
    return p->data + (size_t)n * size;
}

/* ---- winners ---- */

int64_t tk_winner_take(tk_winner *w)
{
    enum { TAKEN = -1, PATIENCE = 1000 };
    int64_t at;
    for (int n = 0; (at = __atomic_exchange_n(&w->at, TAKEN, __ATOMIC_ACQUIRE)) == TAKEN; n++)
        for (; __atomic_load_n(&w->at, __ATOMIC_RELAXED) == TAKEN; n++)
            if (n >= PATIENCE)
                sched_yield(); /* who has it may be waiting for a core */
    return at;
}

/* ---- all ---- */

static tk_log *logs_of(struct rt_block *b)
{
    return b->logs ? (tk_log *)(void *)b->data : NULL;
}

static void free_block(tk_session *s, struct rt_block *b)
{
    tk_log *logs = logs_of(b);
    for (int64_t i = 0; logs && i < b->count; i++)
        for (struct rt_part *p = logs[i].first, *next; p; p = next) {
            next = p->next;
            tk_rt_free(s, p);
        }
    tk_rt_free(s, b);
}

size_t tk_rt_records_bytes(const tk_record *rec)
{
    size_t sum = 0;
    for (int k = 0; k < rec->nolds; k++)
        for (int64_t i = 0; i < rec->olds[k].n; i++) {
            struct rt_block *b = rec->olds[k].at[i];
            const tk_log *logs = logs_of(b);
            sum += b->bytes;
            for (int64_t l = 0; logs && l < b->count; l++)
                for (const struct rt_part *q = logs[l].first; q; q = q->next)
                    sum += q->bytes;
        }
    return sum;
}

void tk_rt_records_free(tk_session *s, tk_record *rec)
{
    for (int k = 0; k < rec->nolds; k++) {
        for (int64_t i = 0; i < rec->olds[k].n; i++)
            free_block(s, rec->olds[k].at[i]);
        tk_rt_free(s, rec->olds[k].at);
    }
    tk_rt_free(s, rec->olds);
    rec->olds = NULL;
    rec->nolds = 0;
}
