/* Footprints of functions of the host: what a tape holds of a call against launches and other calls.
 *
 * Data that forward stores are held against what earlier adjoints need, and data that backward needs against what later
 * launches store, by the boxes of needs.h. A triple without footprint may read and store anything: backward perhaps
 * needs all fields, so that what changes later is kept and never refused, and all that adjoints need is compared around
 * each of its functions.
 */
#include "needs.h"

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
        if (l->box[2 * d] <= l->box[2 * d + 1] &&
            (l->box[2 * d] < 0 || l->box[2 * d + 1] >= l->field->shape[d]))
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

/* False: it has no element. */
static bool box_of(const tk_footprint *l, int64_t *b)
{
    bool any = tk_rt_needs_whole(l->field, b);
    for (int d = 0; l->box && d < l->field->desc->ndim; d++) {
        b[2 * d] = l->box[2 * d];
        b[2 * d + 1] = l->box[2 * d + 1];
        any = any && b[2 * d] <= b[2 * d + 1];
    }
    return any;
}

/* ---- what backward needs ---- */

typedef bool (*box_fn)(void *ctx, tk_field *f, const int64_t *box, kind kind_of);

/* Calls fn for each box that a function of the triple may so touch; without footprint for each field as a whole. */
static bool each_box(tk_session *s, const rt_call *c, unsigned what, box_fn fn, void *ctx)
{
    int64_t b[2 * DIMS_MAX];
    for (int i = 0; i < c->nlines; i++)
        if ((c->footprint[i].what & what) != 0 && box_of(&c->footprint[i], b) &&
            !fn(ctx, c->footprint[i].field, b, SOME))
            return false;
    for (tk_module *m = s->modules; m && c->nlines < 0; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            if ((m->fields[i].desc->flags & TK_FIELD_SCRATCH) == 0 && tk_rt_needs_whole(&m->fields[i], b) &&
                !fn(ctx, &m->fields[i], b, PERHAPS))
                return false;
    return true;
}

static bool is_saved(const tk_field *f)
{
    return (f->desc->flags & TK_FIELD_SAVED) != 0;
}

static bool note_box(void *ctx, tk_field *f, const int64_t *box, kind kind_of)
{
    const uint32_t *launch = ctx;
    return is_saved(f) || tk_rt_needs_note(f, TK_DATA, box, kind_of, *launch);
}

bool tk_rt_call_note(tk_session *s, const rt_entry *e, uint32_t launch)
{
    return each_box(s, e->call, TK_NEEDED, note_box, &launch);
}

static bool note_first(void *ctx, tk_field *f, const int64_t *box, kind kind_of)
{
    (void)ctx;
    (void)kind_of;
    f->current = f->current || is_saved(f);
    return is_saved(f) || tk_rt_needs_first(f, TK_DATA, box[0], f->desc->ndim > 0 ? box[1] : 0);
}

tk_status tk_rt_call_needs(tk_session *s, rt_entry *e)
{
    e->needs = each_box(s, e->call, TK_NEEDED, note_first, NULL);
    s->tape.host_needs = true;
    return tk_session_status(s);
}

/* ---- what its functions store ---- */

static bool has_part(const tk_kernel *k, int field)
{
    for (int i = 0; i < k->nparts; i++)
        if (k->parts[i].field == field && k->parts[i].plane == TK_DATA && (k->parts[i].what & TK_PART_NEEDED) != 0)
            return true;
    return false;
}

/* A field that no kernel of the module writes has no parts, but a function of the host may write it. */
static bool note_beside_parts(const rt_entry *e, uint32_t launch)
{
    int64_t b[2 * DIMS_MAX];
    bool ok = true;
    for (int i = 0; e->kernel && e->kernel->grad && i < e->kernel->naccess && ok; i++) {
        const tk_access *a = &e->kernel->access[i];
        if ((a->what & TK_NEEDED) == 0 || a->field >= e->module->desc->nfields || has_part(e->kernel, a->field))
            continue;
        tk_field *f = &e->module->fields[a->field];
        ok = is_saved(f) || !tk_rt_needs_whole(f, b) || tk_rt_needs_note(f, TK_DATA, b, SOME, launch);
    }
    return ok;
}

static bool list_all(tk_session *s, size_t end)
{
    rt_tape *t = &s->tape;
    for (; t->scanned < end && !t->validate; t->scanned++)
        if (!note_beside_parts(&t->entries[t->scanned], (uint32_t)t->scanned + 1))
            return false;
    return tk_rt_needs_list(s, end);
}

static bool keep_box(void *ctx, tk_field *f, const int64_t *box, kind kind_of)
{
    tk_session *s = ctx;
    (void)kind_of;
    if (is_saved(f))
        return !(f->current || s->tape.replaying) || tk_rt_kept_add(f, TK_DATA, box, SOME, &s->tape.call_kept);
    return tk_rt_needs_keep(f, TK_DATA, box, SOME, &s->tape.call_kept);
}

tk_status tk_rt_call_before(tk_session *s, const rt_entry *e)
{
    rt_tape *t = &s->tape;
    tk_rt_needs_drop(s, &t->call_kept); /* an exception may have left it */
    const bool seen = t->replaying && e->call->nlines >= 0; /* backward stores by launches, which are seen */
    if (seen || (list_all(s, t->replaying ? t->count : t->count - 1) &&
                 each_box(s, e->call, TK_STORES | TK_ACCUMULATES, keep_box, s)))
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
