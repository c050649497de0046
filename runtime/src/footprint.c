/* Footprints of functions of the host: what a tape holds of a call against launches and other calls.
 *
 * Data that forward stores are held against what earlier adjoints need, and data that backward needs against what later
 * launches store, by the boxes of needs.h. A triple without footprint may read and store anything: backward perhaps
 * needs all fields, so that what changes later is kept and never refused, and all that adjoints need is compared around
 * each of its functions.
 */
#include "budget.h"

const char *tk_rt_call_name(const rt_call *c)
{
    return c->triple.name ? c->triple.name : "unnamed";
}

/* ---- the lines of a footprint ---- */

static tk_status refuse_line(tk_session *s, const rt_call *c, int line, const char *why)
{
    return tk_fail(s, TK_BAD_ARGUMENT, "tk_call of '%s': line %d of its footprint %s", tk_rt_call_name(c), line, why);
}

static bool is_inside(const tk_footprint *l)
{
    for (int d = 0; l->box && d < l->field->desc->ndim; d++)
        if (l->box[2 * d] <= l->box[2 * d + 1] && (l->box[2 * d] < 0 || l->box[2 * d + 1] >= l->field->shape[d]))
            return false;
    return true;
}

tk_status tk_rt_footprint_check(tk_session *s, const rt_call *c)
{
    const unsigned known = TK_READS | TK_STORES | TK_ACCUMULATES | TK_NEEDED;
    if (c->nlines > 0 && !c->footprint)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_call of '%s': its footprint is NULL, but has %d lines",
                       tk_rt_call_name(c), c->nlines);
    for (int i = 0; i < c->nlines; i++) {
        const tk_footprint *l = &c->footprint[i];
        if (!l->field)
            return refuse_line(s, c, i, "has no field");
        if (l->field->module->session != s)
            return refuse_line(s, c, i, "is a field of another session");
        if (l->what == 0 || (l->what & ~known) != 0)
            return refuse_line(s, c, i, "does nothing, or has unknown bits");
        if (!is_inside(l))
            return refuse_line(s, c, i, "has a box that is not in the field");
    }
    return TK_OK;
}

bool tk_rt_footprint_has(const rt_call *c, const tk_field *f, unsigned what)
{
    for (int i = 0; i < c->nlines; i++)
        if (c->footprint[i].field == f && (c->footprint[i].what & what) != 0)
            return true;
    return c->nlines < 0;
}

bool tk_rt_footprint_names(const rt_call *c, const tk_module *m)
{
    for (int i = 0; i < c->nlines; i++)
        if (c->footprint[i].field->module == m)
            return true;
    return false;
}

rt_call *tk_rt_call_copy(tk_session *s, const rt_call *c)
{
    rt_tape *t = &s->tape;
    const int n = c->nlines > 0 ? c->nlines : 0;
    rt_call *copy = tk_stack_alloc(&t->args, 1, sizeof *copy);
    tk_footprint *lines = copy && n > 0 ? tk_stack_alloc(&t->args, n, sizeof *lines) : NULL;
    if (!copy || (n > 0 && !lines))
        return NULL;
    *copy = *c;
    copy->footprint = lines;
    tk_rt_tape_count(s, sizeof *copy + (size_t)n * sizeof *lines);
    for (int i = 0; i < n; i++) {
        const int64_t *box = c->footprint[i].box;
        const size_t size = 2 * (size_t)c->footprint[i].field->desc->ndim * sizeof *box;
        int64_t *own = box && size > 0 ? tk_stack_alloc(&t->args, 1, size) : NULL;
        lines[i] = c->footprint[i];
        lines[i].box = own;
        if (box && size > 0 && !own)
            return NULL;
        if (own)
            memcpy(own, box, size);
        tk_rt_tape_count(s, own ? size : 0);
    }
    return copy;
}

/* ---- on a tape ---- */

tk_status tk_rt_call_needs(tk_session *s, const rt_entry *e)
{
    int64_t b[2 * DIMS_MAX];
    tk_rt_needs_first(parts_of_call(s, e->call, b));
    return tk_session_status(s);
}

tk_status tk_rt_call_before(tk_session *s, const rt_entry *e)
{
    rt_tape *t = &s->tape;
    int64_t b[2 * DIMS_MAX];
    tk_rt_needs_drop(s, &t->call_kept);                     /* an exception may have left it */
    const bool seen = t->replaying && e->call->nlines >= 0; /* backward stores by launches, which are seen */
    if (tk_rt_needs_all(s) && (seen || (tk_rt_needs_list(s, t->replaying ? t->count : t->count - 1) &&
                                        tk_rt_needs_keep(parts_of_call(s, e->call, b), false, &t->call_kept))))
        return TK_OK;
    tk_rt_needs_drop(s, &t->call_kept);
    return tk_session_status(s);
}

tk_status tk_rt_call_after(tk_session *s, rt_entry *e, tk_status st)
{
    rt_tape *t = &s->tape;
    return tk_rt_needs_after(s, (rt_writer){.call = e->call}, st, &t->call_kept,
                             t->replaying ? &t->scratch : &e->changes);
}
