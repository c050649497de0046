/* Data that adjoints of the open tape need, held against what later launches write;
 * compiler/passes/derive/footprint/footprint.c tells which parts of fields these are.
 *
 * A part is a box: an interval for each subscript, and one of components. Of each field the tape has a list of what its
 * launches need (`log`), and a few boxes that together hold all of it (`sum`), so that a time axis, of which each step
 * needs another slab, is one box. A launch that writes beside them costs a comparison or two. Where boxes meet, the
 * values decide: what the launch is about to write of them is copied, and compared afterwards.
 *
 *     nothing changed                                          all is well
 *     an element that an adjoint surely needs                  TK_OVERWRITTEN
 *     the launch replaces all of what an adjoint may need      TK_OVERWRITTEN
 *     else (subscripts that depend on data, conditions)        what changed is kept, and put back when the way back has
 * passed the launch
 */
#include "needs.h"

#include "params.h"

/* ---- what is needed ---- */

struct rt_needs *tk_rt_needs_of(tk_field *f, tk_plane plane)
{
    struct rt_needs **at = &f->needs[plane == TK_DUAL];
    if (!*at) {
        *at = tk_rt_alloc(f->module->session, sizeof **at, true);
        if (*at)
            **at = (struct rt_needs){.first = 0, .last = -1, .dims = f->desc->ndim + 1};
        else
            tk_fail(f->module->session, TK_NO_MEMORY, "out of memory for what a tape needs of field '%s'",
                    f->desc->name);
    }
    return *at;
}

static bool grow(tk_session *s, struct rt_needs *n)
{
    const size_t cap = n->cap ? 2 * n->cap : 16, width = 2 * (size_t)n->dims;
    int64_t *log = tk_rt_alloc(s, cap * width * sizeof *log, false);
    rt_mark_of_need *marks = tk_rt_alloc(s, cap * sizeof *marks, false);
    if (!log || !marks) {
        tk_rt_free(s, log);
        tk_rt_free(s, marks);
        return false;
    }
    if (n->n > 0) {
        memcpy(log, n->log, n->n * width * sizeof *log);
        memcpy(marks, n->marks, n->n * sizeof *marks);
    }
    tk_rt_free(s, n->log);
    tk_rt_free(s, n->marks);
    n->log = log;
    n->marks = marks;
    n->cap = cap;
    return true;
}

/* Box i has grown: those that it is one box with now become a part of it. */
static void settle_sum(struct rt_needs *n, int i)
{
    for (int j = n->nsum; j-- > 0;) {
        if (j == i || relate(n->sum[i], n->sum[j], n->dims) == APART)
            continue;
        const int low = i < j ? i : j, high = i < j ? j : i;
        surround(n->sum[low], n->sum[high], n->dims);
        n->nsum--;
        if (high < n->nsum)
            memcpy(n->sum[high], n->sum[n->nsum], sizeof n->sum[high]);
        i = low;
        j = n->nsum;
    }
}

/* True if it was there. */
static bool add_to_sum(struct rt_needs *n, const int64_t *b)
{
    for (int i = n->nsum; i-- > 0;) {
        const int d = relate(n->sum[i], b, n->dims);
        if (d == HOLDS)
            return true;
        if (d == APART)
            continue;
        extend(n->sum[i], b, d);
        if (n->nsum > 1)
            settle_sum(n, i);
        return false;
    }
    if (n->nsum == SUM_MAX)
        surround(n->sum[SUM_MAX - 1], b, n->dims);
    else
        copy(n->sum[n->nsum++], b, n->dims);
    return false;
}

static bool is_noted(const struct rt_needs *n, const int64_t *b, kind k)
{
    const size_t width = 2 * (size_t)n->dims;
    for (size_t i = n->n; i > 0 && i + RECENT > n->n; i--) {
        const int64_t *at = n->log + (i - 1) * width;
        if (n->marks[i - 1].kind_of == k && memcmp(at, b, width * sizeof *at) == 0)
            return true;
    }
    return false;
}

/* What launch number `launch`, from 1, needs. */
static bool note_box(tk_field *f, tk_plane plane, const int64_t *b, kind k, uint32_t launch)
{
    struct rt_needs *n = tk_rt_needs_of(f, plane);
    if (!n)
        return false;
    if (add_to_sum(n, b) && is_noted(n, b, k))
        return true;
    if (n->n == n->cap && !grow(f->module->session, n)) {
        tk_fail(f->module->session, TK_NO_MEMORY, "out of memory for what launch %u of a tape needs of field '%s'",
                launch, f->desc->name);
        return false;
    }
    copy(n->log + n->n * 2 * (size_t)n->dims, b, n->dims);
    n->marks[n->n++] = (rt_mark_of_need){launch, k};
    return true;
}

static void forget(struct rt_needs *n)
{
    if (!n)
        return;
    n->n = 0;
    n->nsum = 0;
    n->first = 0;
    n->last = -1;
}

void tk_rt_needs_forget(tk_session *s)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int p = 0; p < 2; p++)
                forget(m->fields[i].needs[p]);
}

void tk_rt_needs_free(tk_session *s, tk_field *f)
{
    for (int p = 0; p < 2; p++) {
        if (f->needs[p]) {
            tk_rt_free(s, f->needs[p]->log);
            tk_rt_free(s, f->needs[p]->marks);
        }
        tk_rt_free(s, f->needs[p]);
        f->needs[p] = NULL;
    }
}

/* ---- the parts of a launch, or of a call ---- */

static bool is_saved(const rt_parts *w)
{
    return w->plane == TK_DATA && (w->field->desc->flags & TK_FIELD_SAVED) != 0;
}

static bool keep_box(tk_field *f, tk_plane plane, const int64_t *b, kind kind_of, struct rt_kept **kept)
{
    const struct rt_needs *n = f->needs[plane == TK_DUAL];
    for (int i = 0; n && i < n->nsum; i++)
        if (meet(n->sum[i], b, n->dims))
            return tk_rt_kept_add(f, plane, b, kind_of, kept);
    return true;
}

bool tk_rt_needs_keep(rt_parts w, bool duals, struct rt_kept **kept)
{
    bool ok = true;
    while (ok && next_part(&w)) {
        tk_field *f = w.field;
        const bool replaying = f->module->session->tape.replaying, dual = duals && w.plane == TK_DATA;
        const kind kind_of = (w.what & RT_WRITES) ? tk_rt_part_settle(&w) : EMPTY;
        if (kind_of == EMPTY)
            continue;
        if (is_saved(&w))
            ok = !(f->live_on_tape || replaying) || tk_rt_kept_add(f, TK_DATA, w.box, SOME, kept);
        else /* the last is compared first */
            ok = (!dual || keep_box(f, TK_DUAL, w.box, kind_of, kept)) && keep_box(f, w.plane, w.box, kind_of, kept);
    }
    return ok;
}

/* On a validated tape the checker sees what else is needed, element by element. */
static bool is_needed(const rt_parts *w)
{
    const tk_session *s = w->field->module->session;
    const unsigned needs = TK_NEEDED | (s->forward.open ? TK_NEEDED_BY_PRODUCT : 0);
    return (w->what & needs) != 0 && (!s->tape.validate || (w->what & TK_CUSTOM) != 0);
}

/* In a forward scope duals are needed as well, of which it is not known for sure. */
static bool needs_dual(const rt_parts *w)
{
    return w->plane == TK_DATA && w->field->plane[TK_DUAL] && w->field->module->session->forward.open;
}

static bool note_parts(rt_parts w, uint32_t launch)
{
    bool ok = true;
    while (ok && next_part(&w)) {
        if (!is_needed(&w) || is_saved(&w))
            continue;
        if (w.kernel && w.at > w.kernel->ncompared && w.kernel->beside_reads) /* the numbers may be others by now */
            tk_rt_needs_whole(w.field, w.box);
        const kind kind_of = tk_rt_part_settle(&w);
        ok = kind_of == EMPTY || (note_box(w.field, w.plane, w.box, kind_of, launch) &&
                                  (!needs_dual(&w) || note_box(w.field, TK_DUAL, w.box, SOME, launch)));
    }
    return ok;
}

/* ---- the first subscript alone ---- */

/* Most launches of a tape write beside all that is needed, in the dimension of time: that is seen by first subscripts,
 * and what the launches need is not even listed until one comes of which it is not. */
static void first_of(const rt_parts *w, int64_t *first, int64_t *last)
{
    const tk_field *f = w->field;
    const bool inside = f->desc->ndim > 0 && w->box[0] >= 0 && w->box[1] < f->shape[0];
    *first = inside ? w->box[0] : 0;
    *last = inside ? w->box[1] : f->desc->ndim > 0 ? f->shape[0] - 1 : 0;
}

static bool is_beside(const struct rt_needs *n, int64_t first, int64_t last)
{
    return !n || first > n->last || last < n->first;
}

static bool writes_beside(rt_parts w, bool duals)
{
    int64_t first, last;
    while (next_part(&w)) {
        if ((w.what & RT_WRITES) == 0)
            continue;
        first_of(&w, &first, &last);
        if (!is_beside(w.field->needs[w.plane == TK_DUAL], first, last) ||
            (duals && w.plane == TK_DATA && !is_beside(w.field->needs[1], first, last)))
            return false;
    }
    return true;
}

static bool note_first(tk_field *f, tk_plane plane, int64_t first, int64_t last)
{
    struct rt_needs *n = tk_rt_needs_of(f, plane);
    if (!n)
        return false;
    if (first > last)
        return true;
    const bool none = n->first > n->last;
    n->first = none || first < n->first ? first : n->first;
    n->last = none || last > n->last ? last : n->last;
    return true;
}

bool tk_rt_needs_first(rt_parts w)
{
    int64_t first, last;
    bool ok = true;
    while (ok && next_part(&w)) {
        if (!is_needed(&w))
            continue;
        first_of(&w, &first, &last);
        if (is_saved(&w))
            w.field->live_on_tape = true;
        else
            ok = note_first(w.field, w.plane, first, last) &&
                 (!needs_dual(&w) || note_first(w.field, TK_DUAL, first, last));
    }
    return ok;
}

/* ---- the list ---- */

static bool list_entry(tk_session *s, size_t i)
{
    const rt_entry *e = &s->tape.entries[i];
    int64_t b[2 * DIMS_MAX];
    if (e->call)
        return note_parts(parts_of_call(s, e->call, b), (uint32_t)i + 1);
    tk_rt_params_use(s, e->params);
    return !e->kernel->grad || (tk_rt_parts_compute(e->module, e->kernel, e->args, s->tape.all) &&
                                note_parts(parts_of_launch(e->module, e->kernel, s->tape.all), (uint32_t)i + 1));
}

bool tk_rt_needs_list(tk_session *s, size_t end)
{
    const rt_version *params = s->tape.in_force;
    bool ok = true;
    for (; ok && s->tape.listed < end; s->tape.listed += ok)
        ok = list_entry(s, s->tape.listed);
    tk_rt_params_use(s, params);
    return ok;
}

bool tk_rt_needs_all(tk_session *s)
{
    const rt_version *params = s->tape.in_force;
    bool ok = true;
    for (size_t i = 0; i < s->tape.listed && !s->tape.all && ok; i++) {
        const rt_entry *e = &s->tape.entries[i];
        if (!e->kernel->grad)
            continue;
        tk_rt_params_use(s, e->params);
        ok = tk_rt_parts_compute(e->module, e->kernel, e->args, true);
        rt_parts w = parts_of_launch(e->module, e->kernel, true);
        w.at = e->kernel->ncompared;
        w.ends += e->kernel->nbounds;
        ok = ok && note_parts(w, (uint32_t)i + 1);
    }
    tk_rt_params_use(s, params);
    s->tape.all = true;
    return ok;
}

/* ---- before a launch ---- */

/* Without first subscripts to tell. */
static bool keep_what_meets(tk_module *m, const tk_kernel *k, const void *args, bool duals, bool recorded,
                            struct rt_kept **kept)
{
    const rt_tape *t = &m->session->tape;
    const bool last = recorded || (m->session->in_call && !t->replaying); /* the entry that is running */
    return tk_rt_needs_list(m->session, last ? t->count - 1 : t->count) && tk_rt_parts_compute(m, k, args, t->all) &&
           tk_rt_needs_keep(parts_of_launch(m, k, t->all), duals, kept);
}

/* Fields that bounds are read from may have changed when the list is made: then it is made at once. */
static bool note_entry(tk_module *m, const tk_kernel *k)
{
    const rt_tape *t = &m->session->tape;
    return tk_rt_needs_first(parts_of_launch(m, k, t->all)) &&
           (!k->bounds_read || tk_rt_needs_list(m->session, t->count));
}

tk_status tk_rt_needs_before(tk_module *m, const tk_kernel *k, const void *args, bool duals, bool recorded,
                             struct rt_kept **kept)
{
    tk_session *s = m->session;
    *kept = NULL;
    if (k->ncompared == 0 && !s->tape.all)
        return TK_OK;
    const bool ok = tk_rt_parts_compute(m, k, args, s->tape.all) &&
                    (writes_beside(parts_of_launch(m, k, s->tape.all), duals) ||
                     keep_what_meets(m, k, args, duals, recorded, kept));
    if (ok && (!recorded || note_entry(m, k)))
        return TK_OK;
    tk_rt_needs_drop(s, kept);
    return tk_session_status(s);
}
