/* Data that adjoints of the open tape need, held against what later launches write; compiler/passes/parts.c tells which parts of fields these are.
 *
 * A part is a box: an interval for each subscript, and one of components. Of each field the tape has a list of what its launches need (`log`), and a few boxes that
 * together hold all of it (`sum`), so that a time axis, of which each step needs another slab, is one box. A launch that writes beside them costs a comparison or two.
 * Where boxes meet, the values decide: what the launch is about to write of them is copied, and compared afterwards.
 *
 *     nothing changed                                          all is well
 *     an element that an adjoint surely needs                  TK_OVERWRITTEN
 *     the launch replaces all of what an adjoint may need      TK_OVERWRITTEN
 *     else (subscripts that depend on data, conditions)        what changed is kept, and put back when the way back has passed the launch
 */
#include "rt.h"

enum { SUM_MAX = 16, DIMS_MAX = 9, RECENT = 8 };

typedef struct rt_mark_of_need {
    uint32_t launch; /* from 1 */
    bool all;
} rt_mark_of_need;

struct rt_needs {
    int dims;                /* of the field, and one of components */
    int nsum;
    int64_t sum[SUM_MAX][2 * DIMS_MAX];
    int64_t *log;            /* 2 * dims each: lo, hi */
    rt_mark_of_need *marks;
    size_t n, cap;
};

struct rt_changes {
    struct rt_changes *next; /* of an earlier launch of the same entry */
    size_t n, bytes;         /* values; bytes of each */
    bool undone;
    struct rt_change {
        void *at;
        uint64_t value;
    } item[];
};

/* A copy of what a launch is about to write, where that meets what adjoints need. */
struct rt_kept {
    struct rt_kept *next;
    tk_field *field;
    tk_plane plane;
    bool all;              /* all of `written` is, always */
    size_t before;         /* how many needs there were */
    int64_t written[2 * DIMS_MAX], region[2 * DIMS_MAX];
    unsigned char copy[];
};

/* ---- boxes ---- */

typedef enum kind { EMPTY, SOME, ALL } kind;

/* Where the ends are not in the field, the kernel computes subscripts in a way that the ends do not show: then they may be any. */
static kind settle_box(const tk_field *f, const tk_part *p, int64_t *ends)
{
    const int nd = f->desc->ndim;
    kind k = (p->what & TK_PART_ALL) ? ALL : SOME;
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

static bool meet(const int64_t *a, const int64_t *b, int dims)
{
    for (int d = 0; d < dims; d++)
        if (a[2 * d] > b[2 * d + 1] || b[2 * d] > a[2 * d + 1])
            return false;
    return true;
}

static bool holds(const int64_t *a, const int64_t *b, int dims)
{
    for (int d = 0; d < dims; d++)
        if (a[2 * d] > b[2 * d] || a[2 * d + 1] < b[2 * d + 1])
            return false;
    return true;
}

static void copy(int64_t *to, const int64_t *b, int dims)
{
    for (int d = 0; d < 2 * dims; d++)
        to[d] = b[d];
}

static void surround(int64_t *a, const int64_t *b, int dims)
{
    for (int d = 0; d < dims; d++) {
        a[2 * d] = a[2 * d] < b[2 * d] ? a[2 * d] : b[2 * d];
        a[2 * d + 1] = a[2 * d + 1] > b[2 * d + 1] ? a[2 * d + 1] : b[2 * d + 1];
    }
}

enum { APART = -2, HOLDS = -1 };

/* HOLDS: a holds b. Else the dimension in which they lie side by side, or over each other, so that both together are a box; APART: there is none. */
static int relate(const int64_t *a, const int64_t *b, int dims)
{
    int other = HOLDS;
    bool smaller = false;
    for (int d = 0; d < dims; d++, a += 2, b += 2) {
        if (a[0] == b[0] && a[1] == b[1])
            continue;
        if (a[0] <= b[0] && a[1] >= b[1]) {
            smaller = true;
            continue;
        }
        if (other != HOLDS || a[0] > b[1] + 1 || b[0] > a[1] + 1)
            return APART;
        other = d;
    }
    return smaller && other != HOLDS ? APART : other;
}

static void extend(int64_t *a, const int64_t *b, int d)
{
    a[2 * d] = a[2 * d] < b[2 * d] ? a[2 * d] : b[2 * d];
    a[2 * d + 1] = a[2 * d + 1] > b[2 * d + 1] ? a[2 * d + 1] : b[2 * d + 1];
}

/* ---- what is needed ---- */

static struct rt_needs *needs_of(tk_field *f, tk_plane plane)
{
    struct rt_needs **at = &f->needs[plane == TK_DUAL];
    if (!*at) {
        *at = rt_alloc(f->module->session, sizeof **at, true);
        if (*at)
            (*at)->dims = f->desc->ndim + 1;
    }
    return *at;
}

static bool grow(tk_session *s, struct rt_needs *n)
{
    const size_t cap = n->cap ? 2 * n->cap : 16, width = 2 * (size_t)n->dims;
    int64_t *log = rt_alloc(s, cap * width * sizeof *log, false);
    rt_mark_of_need *marks = rt_alloc(s, cap * sizeof *marks, false);
    if (!log || !marks) {
        rt_free(s, log);
        rt_free(s, marks);
        return false;
    }
    if (n->n > 0) {
        memcpy(log, n->log, n->n * width * sizeof *log);
        memcpy(marks, n->marks, n->n * sizeof *marks);
    }
    rt_free(s, n->log);
    rt_free(s, n->marks);
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
        if (n->marks[i - 1].all == (k == ALL) && memcmp(at, b, width * sizeof *at) == 0)
            return true;
    }
    return false;
}

static bool note(tk_field *f, tk_plane plane, const int64_t *b, kind k, uint32_t launch)
{
    struct rt_needs *n = needs_of(f, plane);
    if (n && add_to_sum(n, b) && is_noted(n, b, k))
        return true;
    if (!n || (n->n == n->cap && !grow(f->module->session, n))) {
        tk_fail(f->module->session, TK_NO_MEMORY, "out of memory for what launch %u of a tape needs of field '%s'", launch, f->desc->name);
        return false;
    }
    copy(n->log + n->n * 2 * (size_t)n->dims, b, n->dims);
    n->marks[n->n++] = (rt_mark_of_need){launch, k == ALL};
    return true;
}

void rt_needs_forget(tk_session *s)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int p = 0; p < 2; p++)
                if (m->fields[i].needs[p])
                    m->fields[i].needs[p]->n = (size_t)(m->fields[i].needs[p]->nsum = 0);
}

void rt_needs_free(tk_session *s, tk_field *f)
{
    for (int p = 0; p < 2; p++) {
        if (f->needs[p]) {
            rt_free(s, f->needs[p]->log);
            rt_free(s, f->needs[p]->marks);
        }
        rt_free(s, f->needs[p]);
        f->needs[p] = NULL;
    }
}

/* ---- the components of a box ---- */

typedef void (*run_fn)(void *ctx, int64_t component, int64_t n);

static int64_t extent(const int64_t *b, int d)
{
    return b[2 * d + 1] - b[2 * d] + 1;
}

static int64_t count_of(const tk_field *f, const int64_t *b)
{
    int64_t n = 1;
    for (int d = 0; d <= f->desc->ndim; d++)
        n *= extent(b, d);
    return n;
}

/* Number of component c of the element at these subscripts. */
static int64_t number_of(const tk_field *f, const int64_t *index, int64_t c)
{
    int64_t e = 0;
    for (int d = 0; d < f->desc->ndim; d++)
        e = e * f->shape[d] + index[d];
    return (f->desc->flags & TK_FIELD_SOA) ? c * f->count + e : e * f->desc->ncomp + c;
}

/* Calls fn for each run of components that stand side by side. */
static void walk(const tk_field *f, tk_plane plane, const int64_t *b, run_fn fn, void *ctx)
{
    const int nd = f->desc->ndim;
    const int64_t first = b[2 * nd], last = b[2 * nd + 1];
    const bool rows = rt_is_dense(f, plane) && (f->desc->flags & TK_FIELD_SOA) == 0 && extent(b, nd) == f->desc->ncomp;
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
        if (rows)
            fn(ctx, number_of(f, index, 0), run);
        for (int64_t c = first; c <= last && !rows; c++)
            fn(ctx, number_of(f, index, c), 1);
        for (d = inner - 1; d >= 0 && ++index[d] > b[2 * d + 1]; d--)
            index[d] = b[2 * d];
    }
}

/* ---- before and after a launch ---- */

typedef struct copying {
    const struct rt_kept *k;
    unsigned char *to;
} copying;

static void copy_run(void *ctx, int64_t component, int64_t n)
{
    copying *c = ctx;
    const size_t bytes = (size_t)n * rt_scalar_bytes(c->k->field->desc->elem);
    memcpy(c->to, rt_component(c->k->field, c->k->plane, component), bytes);
    c->to += bytes;
}

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

/* Of a part that meets a box of the sum. */
static bool keep_region(tk_field *f, tk_plane plane, const int64_t *b, kind kind_of, struct rt_kept **kept)
{
    const struct rt_needs *n = f->needs[plane == TK_DUAL];
    struct rt_kept k = {.next = *kept, .field = f, .plane = plane, .all = kind_of == ALL, .before = needs_before(f->module->session, n)};
    copy(k.written, b, n->dims);
    if (!region_of(n, k.before, b, k.region))
        return true;
    struct rt_kept *new = rt_alloc(f->module->session, sizeof k + (size_t)count_of(f, k.region) * rt_scalar_bytes(f->desc->elem), false);
    if (!new) {
        tk_fail(f->module->session, TK_NO_MEMORY, "out of memory for a copy of what earlier adjoints on the tape may need of field '%s'", f->desc->name);
        return false;
    }
    *new = k;
    walk(f, plane, new->region, copy_run, &(copying){new, new->copy});
    *kept = new;
    return true;
}

static bool keep(tk_field *f, tk_plane plane, const int64_t *b, kind kind_of, struct rt_kept **kept)
{
    const struct rt_needs *n = f->needs[plane == TK_DUAL];
    for (int i = 0; n && i < n->nsum; i++)
        if (meet(n->sum[i], b, n->dims))
            return keep_region(f, plane, b, kind_of, kept);
    return true;
}

static bool room_for_ends(tk_session *s, const tk_kernel *k)
{
    rt_tape *t = &s->tape;
    if (k->nbounds <= t->nends)
        return true;
    rt_free(s, t->ends);
    t->nends = 0;
    t->ends = rt_alloc(s, (size_t)k->nbounds * sizeof *t->ends, false);
    if (t->ends)
        t->nends = k->nbounds;
    else
        tk_fail(s, TK_NO_MEMORY, "out of memory for launch %zu of a tape (kernel '%s')", t->count, k->name);
    return t->ends != NULL;
}

/* What it writes; the parts that it needs come behind. Returns the number of the first of these, or a negative one after failing the session. */
static int keep_written(tk_module *m, const tk_kernel *k, bool duals, int64_t **ends, struct rt_kept **kept)
{
    int i = 0;
    bool ok = true;
    for (; i < k->nparts && (k->parts[i].what & TK_PART_WRITTEN) != 0 && ok; i++) {
        const tk_part *p = &k->parts[i];
        tk_field *f = &m->fields[p->field];
        const bool data = f->needs[p->plane == TK_DUAL] != NULL, dual = duals && p->plane == TK_DATA && f->needs[1];
        const kind kind_of = data || dual ? settle_box(f, p, *ends) : EMPTY;
        if (kind_of != EMPTY) /* the last is compared first */
            ok = (!dual || keep(f, TK_DUAL, *ends, kind_of, kept)) && keep(f, p->plane, *ends, kind_of, kept);
        *ends += 2 * f->desc->ndim + 2;
    }
    return ok ? i : -1;
}

/* In a forward scope duals are needed as well, of which it is not known for sure. */
static bool note_needed(tk_module *m, const tk_kernel *k, int i, int64_t *ends)
{
    const bool duals = m->session->forward.open;
    const uint32_t launch = (uint32_t)m->session->tape.count;
    bool ok = true;
    for (; i < k->nparts && ok; i++) {
        const tk_part *p = &k->parts[i];
        tk_field *f = &m->fields[p->field];
        const kind kind_of = settle_box(f, p, ends);
        if (kind_of != EMPTY)
            ok = note(f, p->plane, ends, kind_of, launch) && (!duals || p->plane != TK_DATA || !f->plane[TK_DUAL] || note(f, TK_DUAL, ends, SOME, launch));
        ends += 2 * f->desc->ndim + 2;
    }
    return ok;
}

tk_status rt_needs_before(tk_module *m, const tk_kernel *k, const void *args, bool duals, bool recorded, struct rt_kept **kept)
{
    tk_session *s = m->session;
    *kept = NULL;
    if (s->tape.validate || k->nparts == 0)
        return TK_OK;
    if (!room_for_ends(s, k))
        return tk_session_status(s);
    int64_t *ends = s->tape.ends;
    k->bounds(m, args, ends);
    const int needed = keep_written(m, k, duals, &ends, kept);
    if (needed >= 0 && (!recorded || note_needed(m, k, needed, ends)))
        return TK_OK;
    rt_needs_drop(s, kept);
    return tk_session_status(s);
}

void rt_needs_drop(tk_session *s, struct rt_kept **kept)
{
    for (struct rt_kept *k = *kept, *next; k; k = next) {
        next = k->next;
        rt_free(s, k);
    }
    *kept = NULL;
}

typedef struct comparing {
    const struct rt_kept *k;
    const unsigned char *was;
    size_t size;
    bool strict;             /* there are adjoints that do not stand a change */
    size_t changed;
    int64_t refused;         /* a component that may not, -1: none; by which adjoint */
    uint32_t launch;
    struct rt_changes *into; /* NULL: only counted */
} comparing;

static bool is_in(const tk_field *f, const int64_t *b, int64_t component)
{
    const bool apart = (f->desc->flags & TK_FIELD_SOA) != 0;
    const int nd = f->desc->ndim;
    const int64_t c = apart ? component / f->count : component % f->desc->ncomp;
    int64_t e = apart ? component % f->count : component / f->desc->ncomp;
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
        const bool replaced = k->all && holds(k->written, b, n->dims);
        if ((n->marks[i].all || replaced) && (component < 0 ? meet(b, k->region, n->dims) : is_in(k->field, b, component)))
            return n->marks[i].launch;
    }
    return 0;
}

static void add_change(comparing *c, int64_t component, const unsigned char *was)
{
    struct rt_change change = {rt_component(c->k->field, c->k->plane, component), 0};
    memcpy(&change.value, was, c->size);
    c->into->item[c->into->n++] = change;
}

static void compare_run(void *ctx, int64_t component, int64_t n)
{
    comparing *c = ctx;
    const unsigned char *now = rt_component(c->k->field, c->k->plane, component), *was = c->was;
    c->was += (size_t)n * c->size;
    if (c->refused >= 0 || memcmp(now, was, (size_t)n * c->size) == 0)
        return;
    for (int64_t i = 0; i < n && c->refused < 0; i++, now += c->size, was += c->size) {
        if (memcmp(now, was, c->size) == 0)
            continue;
        if (c->into)
            add_change(c, component + i, was);
        else if (c->strict && (c->launch = who_refuses(c->k, component + i)) > 0)
            c->refused = component + i;
        c->changed++;
    }
}

static tk_status refuse(const tk_module *m, const tk_kernel *k, const comparing *c)
{
    const tk_field *f = c->k->field;
    const rt_tape *t = &m->session->tape;
    const tk_kernel *needing = t->entries[c->launch - 1].kernel;
    return tk_fail(m->session, TK_OVERWRITTEN,
                   "kernel '%s' of module '%s' changes '%s', but the adjoint of kernel '%s' (launch %u on the tape) needs the data that it found there: "
                   "declare '%s' as saved, give it a dimension for time, or write to another part of it",
                   k->name, m->desc->name, rt_element_text(f, c->k->plane, c->refused).s, needing->name, c->launch, f->desc->name);
}

/* What changed of one copy, to the list of an entry. */
static tk_status compare(const tk_module *m, const tk_kernel *k, const struct rt_kept *kept, struct rt_changes **to)
{
    tk_session *s = m->session;
    comparing c = {.k = kept, .was = kept->copy, .size = rt_scalar_bytes(kept->field->desc->elem), .strict = !s->tape.replaying && who_refuses(kept, -1) > 0, .refused = -1};
    walk(kept->field, kept->plane, kept->region, compare_run, &c);
    if (c.refused >= 0)
        return refuse(m, k, &c);
    if (c.changed == 0)
        return TK_OK;
    const size_t bytes = sizeof *c.into + c.changed * sizeof c.into->item[0];
    c.into = rt_alloc(s, bytes, false);
    if (!c.into)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for %zu values of field '%s' that earlier adjoints on the tape may need", c.changed, kept->field->desc->name);
    *c.into = (struct rt_changes){.next = *to, .bytes = c.size};
    c.was = kept->copy;
    walk(kept->field, kept->plane, kept->region, compare_run, &c);
    *to = c.into;
    s->tape.bytes += bytes;
    return TK_OK;
}

tk_status rt_needs_after(tk_module *m, const tk_kernel *k, tk_status st, struct rt_kept **kept, struct rt_changes **to)
{
    for (const struct rt_kept *at = *kept; at && st == TK_OK; at = at->next)
        st = compare(m, k, at, to);
    rt_needs_drop(m->session, kept);
    return st;
}

/* ---- the way back ---- */

static void swap(struct rt_changes *c, size_t i)
{
    uint64_t now = 0;
    memcpy(&now, c->item[i].at, c->bytes);
    memcpy(c->item[i].at, &c->item[i].value, c->bytes);
    c->item[i].value = now;
}

static void undo(struct rt_changes *c)
{
    for (; c; c = c->next) {
        for (size_t i = c->n; i-- > 0;)
            swap(c, i);
        c->undone = true;
    }
}

void rt_changes_undo(tk_session *s, rt_entry *e)
{
    undo(e->changes);
    s->tape.undone = s->tape.undone || e->changes;
}

static void free_changes(tk_session *s, struct rt_changes **list)
{
    for (struct rt_changes *c = *list, *next; c; c = next) {
        next = c->next;
        rt_free(s, c);
    }
    *list = NULL;
}

void rt_changes_put_back(tk_session *s)
{
    undo(s->tape.scratch);
    free_changes(s, &s->tape.scratch);
}

/* The list has the last change first. */
static void redo(struct rt_changes *c)
{
    if (!c)
        return;
    redo(c->next);
    for (size_t i = 0; i < c->n && c->undone; i++)
        swap(c, i);
    c->undone = false;
}

void rt_changes_redo(tk_session *s)
{
    for (size_t i = 0; i < s->tape.count && s->tape.undone; i++)
        redo(s->tape.entries[i].changes);
    s->tape.undone = false;
}

void rt_changes_free(tk_session *s, rt_entry *e)
{
    free_changes(s, &e->changes);
}
