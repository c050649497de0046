/* The parts of fields that launches and functions of the host touch. */
#include "needs.h"

bool tk_rt_parts_counts(const tk_field *f, tk_plane plane)
{
    const bool array = f - f->module->fields >= f->module->desc->nfields;
    return !array && !tk_rt_is_adjoint(plane) && (f->desc->flags & TK_FIELD_SCRATCH) == 0 &&
           (plane != TK_DATA || (f->desc->flags & TK_FIELD_SAVED) == 0);
}

bool tk_rt_needs_whole(const tk_field *f, int64_t *b)
{
    const int nd = f->desc->ndim;
    bool any = true;
    for (int d = 0; d <= nd; d++) {
        b[2 * d] = 0;
        b[2 * d + 1] = (d < nd ? f->shape[d] : f->desc->ncomp) - 1;
        any = any && b[2 * d + 1] >= 0;
    }
    return any;
}

/* Where the ends are not in the field, the kernel computes subscripts in a way that the ends do not show: then they may
 * be any. */
kind tk_rt_part_settle(const rt_parts *w)
{
    int64_t *ends = w->box;
    kind k = (w->what & TK_ALL) ? ALL : (w->what & TK_PERHAPS) ? PERHAPS : SOME;
    for (int d = 0; d < w->field->desc->ndim; d++, ends += 2) {
        if (ends[0] < 0 || ends[1] >= w->field->shape[d]) {
            ends[0] = 0;
            ends[1] = w->field->shape[d] - 1;
            k = k == ALL ? SOME : k;
        }
        if (ends[0] > ends[1])
            return EMPTY;
    }
    return k;
}

static bool room_for_ends(tk_session *s, const tk_kernel *k)
{
    rt_tape *t = &s->tape;
    if (k->nends <= t->nends)
        return true;
    int64_t *ends = tk_rt_alloc(s, (size_t)k->nends * sizeof *ends, false);
    if (!ends) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for the boxes that kernel '%s' touches", k->name);
        return false;
    }
    tk_rt_free(s, t->ends);
    t->ends = ends;
    t->nends = k->nends;
    return true;
}

bool tk_rt_parts_compute(tk_module *m, const tk_kernel *k, const void *args, bool all)
{
    if (!room_for_ends(m->session, k))
        return false;
    if (k->bounds)
        k->bounds(m, args, m->session->tape.ends);
    if (all && k->beside)
        k->beside(m, args, m->session->tape.ends + k->nbounds);
    return true;
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

/* What --debug cannot see in launches. Without footprint functions may touch all that is there. */
bool tk_rt_call_part(rt_parts *w)
{
    enum { ANYTHING = TK_READS | TK_STORES | TK_ACCUMULATES | TK_NEEDED | TK_PERHAPS };
    w->plane = TK_DATA;
    w->box = w->ends;
    while (w->at < w->n) {
        const tk_footprint *l = &w->call->footprint[w->at++];
        w->field = l->field;
        w->what = l->what | TK_CUSTOM;
        if (box_of(l, w->box))
            return true;
    }
    for (; w->module && w->n < 0; w->module = w->module->next, w->at = 0)
        while (w->at < w->module->desc->nfields) {
            w->field = &w->module->fields[w->at++];
            w->what = ANYTHING | TK_CUSTOM;
            if ((w->field->desc->flags & TK_FIELD_SCRATCH) == 0 && tk_rt_needs_whole(w->field, w->box))
                return true;
        }
    return false;
}
