/* Copies of what a launch is about to write of data that adjoints need, and what it changed of them. */
#include "needs.h"

#include <stdio.h>

/* The box around what is needed of the written one; false: nothing is. */
static bool region_of(const struct rt_needs *n, size_t count, const int64_t *written, int64_t *region)
{
    const size_t width = 2 * (size_t)n->dims;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const int64_t *b = n->log + i * width;
        if (!meet(b, written, n->dims))
            continue;
        if (any)
            surround(region, b, n->dims);
        else
            memcpy(region, b, width * sizeof *b);
        any = true;
    }
    for (int d = 0; any && d < n->dims; d++) {
        region[2 * d] = region[2 * d] > written[2 * d] ? region[2 * d] : written[2 * d];
        region[2 * d + 1] = region[2 * d + 1] < written[2 * d + 1] ? region[2 * d + 1] : written[2 * d + 1];
    }
    return any;
}

/* How many needs there are; on the way back, of the launches that it has not come to. */
static size_t needs_before(const tk_session *s, const struct rt_needs *n)
{
    size_t k = n->n;
    while (s->tape.replaying && k > 0 && n->marks[k - 1].launch > s->tape.at)
        k--;
    return k;
}

bool tk_rt_kept_add(tk_field *f, tk_plane plane, const int64_t *b, kind kind_of, struct rt_kept **kept)
{
    const bool saved = (f->desc->flags & TK_FIELD_SAVED) != 0 && plane == TK_DATA;
    const struct rt_needs *n = saved ? NULL : f->needs[plane == TK_DUAL];
    struct rt_kept k = {.next = *kept,
                        .field = f,
                        .plane = plane,
                        .all = kind_of == ALL,
                        .before = n ? needs_before(f->module->session, n) : 0};
    copy(k.written, b, f->desc->ndim + 1);
    copy(k.region, b, f->desc->ndim + 1);
    if (n && !region_of(n, k.before, b, k.region))
        return true;
    struct rt_kept *new = tk_rt_alloc(f->module->session, sizeof *new, false);
    if (new) {
        *new = k;
        tk_rt_state_want(f, plane, new->region, 0);
        new->was = tk_rt_state_take(f->module->session, NULL);
        *kept = new;
    }
    if (!new || !new->was)
        tk_fail(f->module->session, TK_NO_MEMORY,
                "out of memory for a copy of what earlier adjoints on the tape may need of field '%s'", f->desc->name);
    return new &&new->was;
}

static void free_kept(tk_session *s, struct rt_kept *k)
{
    tk_rt_states_free(s, &k->was);
    tk_rt_free(s, k);
}

void tk_rt_needs_drop(tk_session *s, struct rt_kept **kept)
{
    for (struct rt_kept *k = *kept, *next; k; k = next) {
        next = k->next;
        free_kept(s, k);
    }
    *kept = NULL;
}

typedef struct comparing {
    const struct rt_kept *k;
    bool strict; /* there are adjoints that do not stand a change */
    size_t changed;
    int64_t refused; /* a component that may not change, -1: none; by which adjoint */
    uint32_t launch;
} comparing;

static bool is_in(const tk_field *f, const int64_t *b, int64_t component)
{
    const int nd = f->desc->ndim;
    int64_t c, e = tk_rt_element(f, component, &c);
    if (c < b[2 * nd] || c > b[2 * nd + 1])
        return false;
    for (int d = nd - 1; d >= 0; d--) {
        const int64_t i = e % f->shape[d];
        e /= f->shape[d];
        if (i < b[2 * d] || i > b[2 * d + 1])
            return false;
    }
    return true;
}

/* The first launch that does not stand a change of the component; -1: of any in the region. 0: none. */
static uint32_t who_refuses(const struct rt_kept *k, int64_t component)
{
    const struct rt_needs *n = k->field->needs[k->plane == TK_DUAL];
    for (size_t i = 0; i < k->before; i++) { /* the launch's own are behind these */
        const int64_t *b = n->log + i * 2 * (size_t)n->dims;
        const kind kind_of = n->marks[i].kind_of;
        const bool replaced = kind_of == SOME && k->all && holds(k->written, b, n->dims);
        if ((kind_of == ALL || replaced) &&
            (component < 0 ? meet(b, k->region, n->dims) : is_in(k->field, b, component)))
            return n->marks[i].launch;
    }
    return 0;
}

static bool count_change(void *ctx, const rt_piece *p, int64_t component, const void *was)
{
    comparing *c = ctx;
    (void)was;
    if (c->strict && (c->launch = who_refuses(c->k, component)) > 0) {
        c->refused = component;
        return false;
    }
    if (p->field->desc->flags & TK_FIELD_SAVED)
        tk_rt_watch_kept(p->field, p->plane, component);
    c->changed++;
    return true;
}

static rt_text writer_text(const rt_writer *w)
{
    rt_text t;
    if (w->kernel)
        snprintf(t.s, sizeof t.s, "kernel '%.60s' of module '%.60s'", w->kernel->name, w->module->desc->name);
    else
        snprintf(t.s, sizeof t.s, "the function '%.100s' of the host", tk_rt_call_name(w->call));
    return t;
}

static tk_status refuse(const rt_writer *w, const comparing *c)
{
    const tk_field *f = c->k->field;
    tk_session *s = f->module->session;
    const rt_entry *needing = &s->tape.entries[c->launch - 1];
    return tk_fail(s, TK_OVERWRITTEN,
                   "%s changes '%s', but the %s '%s' (launch %zu on the tape) needs the data that it found there: "
                   "declare '%s' as saved, give it a dimension for time, or write to another part of it",
                   writer_text(w).s, tk_rt_element_text(f, c->k->plane, c->refused).s,
                   needing->call ? "backward function of" : "adjoint of kernel",
                   needing->call ? tk_rt_call_name(needing->call) : needing->kernel->name, s->tape.start + c->launch,
                   f->desc->name);
}

/* What changed of one copy, to the list of an entry. */
static tk_status compare(const rt_writer *w, const struct rt_kept *kept, struct rt_state **to)
{
    tk_session *s = kept->field->module->session;
    comparing c = {.k = kept, .strict = !s->tape.replaying && who_refuses(kept, -1) > 0, .refused = -1};
    tk_rt_state_differ(kept->was, count_change, &c);
    if (c.refused >= 0)
        return refuse(w, &c);
    if (c.changed == 0)
        return TK_OK;
    struct rt_state *changes = tk_rt_state_shrink(s, kept->was, c.changed);
    if (!changes)
        return tk_fail(s, TK_NO_MEMORY,
                       "out of memory for %zu values of field '%s' that earlier adjoints on the tape may need",
                       c.changed, kept->field->desc->name);
    changes->next = *to;
    *to = changes;
    s->tape.bytes += changes->bytes;
    return TK_OK;
}

tk_status tk_rt_needs_after(tk_session *s, rt_writer w, tk_status st, struct rt_kept **kept, struct rt_state **to)
{
    for (const struct rt_kept *at = *kept; at && st == TK_OK; at = at->next)
        st = compare(&w, at, to);
    tk_rt_needs_drop(s, kept);
    return st;
}

void tk_rt_kept_forget(tk_session *s, struct rt_kept **kept, const tk_module *m)
{
    for (struct rt_kept *k = *kept; k; k = *kept)
        if (k->field->module == m) {
            *kept = k->next;
            free_kept(s, k);
        } else {
            kept = &k->next;
        }
}
