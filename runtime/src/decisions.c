/* Code built with --debug tells how it decides (docs/architecture.md: Decisions). A launch on a tape keeps all of its
 * decisions; its adjoint may make none that the launch did not make there.
 *
 * The adjoint decides in another order, some things twice and some never, so what is kept is a set: of numbers made of
 * the place, the iteration of the parallel loop and the outcome. Two of them meet by chance once in 2^64; that hides a
 * fault, it never makes one up.
 */
#include "rt.h"

struct rt_decisions {
    uint64_t *at; /* open addressing, 0: free */
    size_t n, cap;
};

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

static uint64_t key_of(int place, uint64_t bits, const int64_t *indices, int n)
{
    uint64_t h = mix((uint64_t)place + 1, bits);
    for (int i = 0; i < n; i++)
        h = mix(h, (uint64_t)indices[i]);
    return h ? h : 1;
}

static uint64_t *slot(const struct rt_decisions *d, uint64_t key)
{
    size_t i = (size_t)key & (d->cap - 1);
    while (d->at[i] && d->at[i] != key)
        i = (i + 1) & (d->cap - 1);
    return &d->at[i];
}

static bool grow(tk_session *s, struct rt_decisions *d)
{
    struct rt_decisions wider = {.cap = d->cap ? 2 * d->cap : 256, .n = d->n};
    wider.at = wider.cap > SIZE_MAX / 2 / sizeof *wider.at ? NULL : tk_rt_alloc(s, wider.cap * sizeof *wider.at, true);
    if (!wider.at)
        return false;
    for (size_t i = 0; i < d->cap; i++)
        if (d->at[i])
            *slot(&wider, d->at[i]) = d->at[i];
    tk_rt_free(s, d->at);
    *d = wider;
    return true;
}

static void keep(tk_session *s, tk_record *rec, uint64_t key)
{
    if (!rec->decided)
        rec->decided = tk_rt_alloc(s, sizeof *rec->decided, true);
    struct rt_decisions *d = rec->decided;
    if (!d || (2 * (d->n + 1) > d->cap && !grow(s, d))) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for the decisions of a launch");
        return;
    }
    uint64_t *at = slot(d, key);
    d->n += !*at;
    *at = key;
}

void tk_rt_decisions_free(tk_session *s, tk_record *rec)
{
    if (rec->decided)
        tk_rt_free(s, rec->decided->at);
    tk_rt_free(s, rec->decided);
    rec->decided = NULL;
}

void tk_watch_decision(const tk_module *m, int place, uint64_t bits, const int64_t *indices, int n)
{
    tk_session *s = m->session;
    const rt_watch *w = &s->watch;
    if (!w->record || tk_failed(s))
        return;
    const uint64_t key = key_of(place, bits, indices, n);
    if (!w->replays) {
        keep(s, w->record, key);
        return;
    }
    if (!w->record->decided || w->record->decided->cap == 0 || *slot(w->record->decided, key))
        return;
    const tk_place *p = &m->desc->decisions[place];
    tk_fail(s, TK_DIVERGED,
            "%s:%u:%u: the adjoint of kernel '%s' decides otherwise than its launch did, in an iteration that begins "
            "with index %lld: "
            "what it reads there was changed since, or the C compiler computes it in two ways",
            p->file, p->line, p->col, w->kernel->name, (long long)(n > 0 ? indices[0] : 0));
}
