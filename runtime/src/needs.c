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

/* ---- what is needed ---- */

static struct rt_needs *needs_of(tk_field *f, tk_plane plane)
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

bool tk_rt_needs_note(tk_field *f, tk_plane plane, const int64_t *b, kind k, uint32_t launch)
{
    struct rt_needs *n = needs_of(f, plane);
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

/* ---- before a launch ---- */

/* Where the ends are not in the field, the kernel computes subscripts in a way that the ends do not show: then they may
 * be any. */
static kind settle_box(const tk_field *f, const tk_part *p, int64_t *ends)
{
    const int nd = f->desc->ndim;
    kind k = (p->what & TK_PART_ALL) ? ALL : (p->what & TK_PART_PERHAPS) ? PERHAPS : SOME;
    for (int d = 0; d < nd; d++, ends += 2) {
        if (ends[0] < 0 || ends[1] >= f->shape[d]) {
            ends[0] = 0;
            ends[1] = f->shape[d] - 1;
            k = k == ALL ? SOME : k;
        }
        if (ends[0] > ends[1])
            return EMPTY;
    }
    return k;
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

bool tk_rt_needs_keep(tk_field *f, tk_plane plane, const int64_t *b, kind kind_of, struct rt_kept **kept)
{
    const struct rt_needs *n = f->needs[plane == TK_DUAL];
    for (int i = 0; n && i < n->nsum; i++)
        if (meet(n->sum[i], b, n->dims))
            return tk_rt_kept_add(f, plane, b, kind_of, kept);
    return true;
}

static bool room_for_ends(tk_session *s, const tk_kernel *k)
{
    rt_tape *t = &s->tape;
    if (k->nbounds <= t->nends)
        return true;
    int64_t *ends = tk_rt_alloc(s, (size_t)k->nbounds * sizeof *ends, false);
    if (!ends) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for launch %zu of a tape (kernel '%s')", t->count, k->name);
        return false;
    }
    tk_rt_free(s, t->ends);
    t->ends = ends;
    t->nends = k->nbounds;
    return true;
}

/* What it writes; the parts that it needs come behind. */
static bool keep_written(tk_module *m, const tk_kernel *k, bool duals, const int64_t *ends, struct rt_kept **kept)
{
    bool ok = true;
    for (int i = 0; i < k->nparts && (k->parts[i].what & TK_PART_WRITTEN) != 0 && ok; i++) {
        const tk_part *p = &k->parts[i];
        tk_field *f = &m->fields[p->field];
        int64_t b[2 * DIMS_MAX];
        copy(b, ends, f->desc->ndim + 1);
        const bool data = f->needs[p->plane == TK_DUAL] != NULL, dual = duals && p->plane == TK_DATA && f->needs[1];
        const kind kind_of = data || dual ? settle_box(f, p, b) : EMPTY;
        if (kind_of != EMPTY) /* the last is compared first */
            ok = (!dual || tk_rt_needs_keep(f, TK_DUAL, b, kind_of, kept)) &&
                 tk_rt_needs_keep(f, p->plane, b, kind_of, kept);
        ends += 2 * f->desc->ndim + 2;
    }
    return ok;
}

/* A field that no adjoint of the module reads has no parts, but a function of the host may. NULL: access i writes none.
 */
static tk_field *beside_parts(tk_module *m, const tk_kernel *k, int i)
{
    const tk_access *a = &k->access[i];
    if ((a->what & (TK_STORES | TK_ACCUMULATES)) == 0 || a->field >= m->desc->nfields)
        return NULL;
    for (int j = 0; j < k->nparts && (k->parts[j].what & TK_PART_WRITTEN) != 0; j++)
        if (k->parts[j].field == a->field && k->parts[j].plane == TK_DATA)
            return NULL;
    tk_field *f = &m->fields[a->field];
    return (f->desc->flags & TK_FIELD_SAVED) == 0 && f->needs[0] ? f : NULL;
}

static bool keep_beside_parts(tk_module *m, const tk_kernel *k, struct rt_kept **kept)
{
    int64_t b[2 * DIMS_MAX];
    bool ok = true;
    for (int i = 0; i < k->naccess && m->session->tape.host_needs && ok; i++) {
        tk_field *f = beside_parts(m, k, i);
        ok = !f || !tk_rt_needs_whole(f, b) || tk_rt_needs_keep(f, TK_DATA, b, SOME, kept);
    }
    return ok;
}

/* On a validated tape the checker sees what else is needed, element by element. */
static bool is_needed(const tk_part *p, const tk_session *s)
{
    const unsigned skipped = s->forward.open ? 0 : TK_PART_OF_PRODUCT;
    return (p->what & (TK_PART_WRITTEN | skipped)) == 0 && (!s->tape.validate || (p->what & TK_PART_CUSTOM) != 0);
}

/* In a forward scope duals are needed as well, of which it is not known for sure. */
static bool note_needed(tk_module *m, const tk_kernel *k, int64_t *ends, uint32_t launch)
{
    const bool duals = m->session->forward.open;
    bool ok = true;
    for (int i = 0; i < k->nparts && ok; i++) {
        const tk_part *p = &k->parts[i];
        tk_field *f = &m->fields[p->field];
        const kind kind_of = is_needed(p, m->session) ? settle_box(f, p, ends) : EMPTY;
        if (kind_of != EMPTY)
            ok = tk_rt_needs_note(f, p->plane, ends, kind_of, launch) &&
                 (!duals || p->plane != TK_DATA || !f->plane[TK_DUAL] ||
                  tk_rt_needs_note(f, TK_DUAL, ends, SOME, launch));
        ends += 2 * f->desc->ndim + 2;
    }
    return ok;
}

/* ---- the first subscript alone ---- */

/* Most launches of a tape write beside all that is needed, in the dimension of time: that is seen by first subscripts,
 * and what the launches need is not even listed until one comes of which it is not. */
static void first_of(const tk_field *f, const int64_t *ends, int64_t *first, int64_t *last)
{
    const bool inside = f->desc->ndim > 0 && ends[0] >= 0 && ends[1] < f->shape[0];
    *first = inside ? ends[0] : 0;
    *last = inside ? ends[1] : f->desc->ndim > 0 ? f->shape[0] - 1 : 0;
}

static bool is_beside(const struct rt_needs *n, int64_t first, int64_t last)
{
    return !n || first > n->last || last < n->first;
}

static bool writes_beside(tk_module *m, const tk_kernel *k, bool duals, const int64_t *ends)
{
    int64_t first, last;
    for (int i = 0; i < k->nparts && (k->parts[i].what & TK_PART_WRITTEN) != 0; i++) {
        const tk_part *p = &k->parts[i];
        const tk_field *f = &m->fields[p->field];
        first_of(f, ends, &first, &last);
        if (!is_beside(f->needs[p->plane == TK_DUAL], first, last) ||
            (duals && p->plane == TK_DATA && !is_beside(f->needs[1], first, last)))
            return false;
        ends += 2 * f->desc->ndim + 2;
    }
    for (int i = 0; i < k->naccess && m->session->tape.host_needs; i++) {
        const tk_field *f = beside_parts(m, k, i);
        if (f && f->needs[0]->first <= f->needs[0]->last)
            return false;
    }
    return true;
}

bool tk_rt_needs_first(tk_field *f, tk_plane plane, int64_t first, int64_t last)
{
    struct rt_needs *n = needs_of(f, plane);
    if (!n)
        return false;
    if (first > last)
        return true;
    const bool none = n->first > n->last;
    n->first = none || first < n->first ? first : n->first;
    n->last = none || last > n->last ? last : n->last;
    return true;
}

static bool note_firsts(tk_module *m, const tk_kernel *k, const int64_t *ends)
{
    const bool duals = m->session->forward.open;
    int64_t first, last;
    bool ok = true;
    for (int i = 0; i < k->nparts && ok; i++) {
        const tk_part *p = &k->parts[i];
        tk_field *f = &m->fields[p->field];
        if (is_needed(p, m->session)) {
            first_of(f, ends, &first, &last);
            ok = tk_rt_needs_first(f, p->plane, first, last) &&
                 (!duals || p->plane != TK_DATA || !f->plane[TK_DUAL] || tk_rt_needs_first(f, TK_DUAL, first, last));
        }
        ends += 2 * f->desc->ndim + 2;
    }
    return ok;
}

bool tk_rt_needs_list(tk_session *s, size_t end)
{
    rt_tape *t = &s->tape;
    for (; t->listed < end; t->listed++) {
        const rt_entry *e = &t->entries[t->listed];
        if (!e->needs)
            continue;
        if (!e->call)
            e->kernel->bounds(e->module, e->args, t->ends);
        if (!(e->call ? tk_rt_call_note(s, e, (uint32_t)t->listed + 1)
                      : note_needed(e->module, e->kernel, t->ends, (uint32_t)t->listed + 1)))
            return false;
    }
    return true;
}

/* Without first subscripts to tell. */
static bool keep_what_meets(tk_module *m, const tk_kernel *k, const void *args, bool duals, bool recorded,
                            struct rt_kept **kept)
{
    rt_tape *t = &m->session->tape;
    const bool last = recorded || (m->session->in_call && !t->replaying); /* the entry that is running */
    if (!tk_rt_needs_list(m->session, last ? t->count - 1 : t->count))
        return false;
    if (k->nparts > 0)
        k->bounds(m, args, t->ends);
    return keep_written(m, k, duals, t->ends, kept) && keep_beside_parts(m, k, kept);
}

/* Fields that bounds are read from may have changed when the list is made: then it is made at once. */
static bool note_entry(tk_module *m, const tk_kernel *k)
{
    rt_tape *t = &m->session->tape;
    rt_entry *e = &t->entries[t->count - 1];
    e->needs = note_firsts(m, k, t->ends);
    return e->needs && (!k->bounds_read || tk_rt_needs_list(m->session, t->count));
}

tk_status tk_rt_needs_before(tk_module *m, const tk_kernel *k, const void *args, bool duals, bool recorded,
                             struct rt_kept **kept)
{
    tk_session *s = m->session;
    *kept = NULL;
    if (k->nparts == 0 && !s->tape.host_needs)
        return TK_OK;
    if (!room_for_ends(s, k))
        return tk_session_status(s);
    if (k->nparts > 0)
        k->bounds(m, args, s->tape.ends);
    const bool ok = writes_beside(m, k, duals, s->tape.ends) || keep_what_meets(m, k, args, duals, recorded, kept);
    if (ok && (!recorded || k->nparts == 0 || note_entry(m, k)))
        return TK_OK;
    tk_rt_needs_drop(s, kept);
    return tk_session_status(s);
}
