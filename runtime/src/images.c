/* Images of the data of fields: copies of what launches overwrite, on the first write behind the image's time.
 *
 * Dead data are not copied: a grid that each step clears and fills again is dead at the end of the step. A value is
 * dead where it was made and read within one segment, and is overwritten in a later one. The data of a box before the
 * tape are dead where the first launch that touches it replaces all of it: such a box is born. A state with a dimension
 * for time takes no copy for this reason. */
#include "budget.h"
#include "files.h"

enum { BOXES = 64 /* of a field in the lists `read` and `born` */, READS = TK_READS | TK_BEFORE_WANTED };
enum { SEES = READS | TK_NEEDED | TK_NEEDED_BY_PRODUCT | TK_ACCUMULATES };

/* ---- boxes ---- */

static int dims_of(const tk_field *f)
{
    return f->desc->ndim + 1;
}

static size_t held_bytes(const tk_field *f)
{
    return sizeof(rt_held) + 2 * (size_t)dims_of(f) * sizeof(int64_t);
}

static bool is_held(const rt_held *list, const tk_field *f, const int64_t *b)
{
    for (; list; list = list->next)
        if (list->field == f && holds(list->box, b, dims_of(f)))
            return true;
    return false;
}

static bool meets(const rt_held *list, const tk_field *f, const int64_t *b)
{
    for (; list; list = list->next)
        if (list->field == f && meet(list->box, b, dims_of(f)))
            return true;
    return false;
}

static int boxes_of(const rt_held *list, const tk_field *f)
{
    int n = 0;
    for (; list; list = list->next)
        n += list->field == f;
    return n;
}

static bool out_of_memory(tk_session *s, const tk_field *f)
{
    tk_fail(s, TK_NO_MEMORY, "out of memory for a copy of field '%s', from which launches can run again",
            f->desc->name);
    return false;
}

/* A box that is not held yet. */
static bool hold(tk_session *s, rt_held **list, tk_field *f, const int64_t *b)
{
    for (rt_held *h = *list; h; h = h->next) {
        const int d = h->field == f ? relate(h->box, b, dims_of(f)) : APART;
        if (d >= 0) {
            extend(h->box, b, d);
            return true;
        }
    }
    rt_held *h = tk_rt_alloc(s, held_bytes(f), false);
    if (!h)
        return out_of_memory(s, f);
    *h = (rt_held){.next = *list, .field = f};
    copy(h->box, b, dims_of(f));
    *list = h;
    s->tape.budget->used += held_bytes(f);
    return true;
}

void tk_rt_image_free(tk_session *s, rt_held **list)
{
    for (rt_held *h = *list, *next; h; h = next) {
        next = h->next;
        tk_rt_free(s, h);
    }
    *list = NULL;
}

static size_t box_bytes(const tk_session *s, const tk_field *f, const int64_t *b)
{
    size_t n = tk_rt_scalar_bytes(f->desc->elem);
    for (int d = 0; d < dims_of(f); d++)
        n *= (size_t)extent(b, d);
    return s->forward.open && f->plane[RT_TANGENT] ? 2 * n : n;
}

static bool is_whole(const tk_field *f, const int64_t *b)
{
    int64_t whole[2 * DIMS_MAX];
    tk_rt_needs_whole(f, whole);
    return holds(b, whole, dims_of(f));
}

/* ---- what is known of the data of a field ---- */

/* made: the line whose launch replaced all of it, -1: none is known; crosses: it is read in a later segment. */
static struct rt_needs *known_of(tk_field *f)
{
    struct rt_needs *n = tk_rt_needs_of(f, TK_DATA);
    const uint64_t epoch = f->module->session->epoch;
    if (n && n->epoch != epoch) {
        n->epoch = epoch;
        n->made = -1;
        n->crosses = true;
    }
    return n;
}

static rt_segment *last_segment(const struct rt_budget *b)
{
    return &b->segment[b->nsegments - 1];
}

static bool note_read(tk_field *f)
{
    struct rt_needs *n = known_of(f);
    if (n && n->made < (int64_t)last_segment(f->module->session->tape.budget)->first)
        n->crosses = true;
    return n;
}

/* ---- copies ---- */

/* The last data of the box are kept while the adjoints run. */
static bool touch(tk_session *s, tk_field *f, const int64_t *b)
{
    struct rt_budget *u = s->tape.budget;
    if (u->back || is_held(u->touched, f, b))
        return true;
    u->final_bytes += box_bytes(s, f, b);
    return hold(s, &u->touched, f, b);
}

/* A launch sees the box. Beyond BOXES of them, that is all of the field. */
static bool see(tk_session *s, tk_field *f, const int64_t *b)
{
    struct rt_budget *u = s->tape.budget;
    int64_t whole[2 * DIMS_MAX];
    if (u->back || is_held(u->read, f, b))
        return true;
    tk_rt_needs_whole(f, whole);
    return hold(s, &u->read, f, boxes_of(u->read, f) < BOXES ? b : whole);
}

/* b: valid until the state is taken. */
static bool want(tk_session *s, tk_field *f, int64_t *b, bool dead)
{
    struct rt_budget *u = s->tape.budget;
    rt_segment *g = last_segment(u);
    if (is_held(g->held, f, b))
        return true;
    const size_t before = u->used;
    const bool held = hold(s, &g->held, f, b);
    g->bytes += u->used - before;
    if (!held || dead)
        return held;
    for (int p = 0; p <= (int)s->forward.open; p++)
        if (f->plane[p ? RT_TANGENT : TK_DATA])
            tk_rt_state_want(f, p ? RT_TANGENT : TK_DATA, is_whole(f, b) ? NULL : b, 0);
    return true;
}

static bool take(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    rt_segment *g = last_segment(u);
    if (tk_rt_state_wanted(s) == 0)
        return true;
    struct rt_state *st = tk_rt_state_take(s, NULL);
    if (!st) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for copies of fields, from which launches can run again");
        return false;
    }
    st->next = g->states;
    g->states = st;
    g->bytes += st->bytes;
    u->used += st->bytes;
    u->report.images++;
    return true;
}

static bool is_state(const tk_module *m, const tk_part *p)
{
    return p->field < m->desc->nfields && p->plane == TK_DATA &&
           (m->fields[p->field].desc->flags & TK_FIELD_SCRATCH) == 0 && m->fields[p->field].count > 0;
}

/* A part of a launch. */
typedef struct state_part {
    rt_parts of;
    kind settled;
    int64_t box[2 * DIMS_MAX]; /* of the field */
} state_part;

static state_part states_of(tk_module *m, const tk_kernel *k)
{
    return (state_part){.of = parts_of_launch(m, k, true)};
}

/* The next part with elements; false: there is none. */
static bool next_state(state_part *p)
{
    rt_parts *w = &p->of;
    while (w->at < w->n) {
        const tk_part *part = &w->kernel->parts[w->at++];
        w->field = &w->module->fields[part->field];
        w->what = part->what;
        w->box = w->ends;
        w->ends += 2 * dims_of(w->field);
        copy(p->box, w->box, dims_of(w->field));
        p->settled = tk_rt_part_settle(&(rt_parts){.field = w->field, .box = p->box, .what = w->what});
        if (is_state(w->module, part) && p->settled != EMPTY)
            return true;
    }
    return false;
}

static bool replaces_box(const state_part *p)
{
    return p->settled == ALL && ((p->of.what & RT_WRITES) == TK_STORES || (p->of.what & TK_REPLACES));
}

/* Of all parts of the field: whether the launch surely replaces all of it, and reads none of it. */
static void effects_on(tk_module *m, const tk_kernel *k, const tk_field *f, bool *reads, bool *replaces)
{
    bool adds = false;
    *reads = *replaces = false;
    for (state_part p = states_of(m, k); next_state(&p);)
        if (p.of.field == f) {
            *reads = *reads || (p.of.what & READS);
            adds = adds || (p.of.what & TK_ACCUMULATES);
            *replaces = *replaces || (replaces_box(&p) && is_whole(f, p.box));
        }
    *reads = *reads || (adds && !*replaces);
}

/* What the launch does to each field, as long as the boxes are as the kernel has them. */
static bool note_effects(tk_module *m, const tk_kernel *k, bool is_line)
{
    for (int i = 0; i < k->nparts; i++) {
        tk_field *f = &m->fields[k->parts[i].field];
        struct rt_needs *n = is_state(m, &k->parts[i]) ? known_of(f) : NULL;
        bool reads, replaces;
        if (!is_state(m, &k->parts[i]))
            continue;
        effects_on(m, k, f, &reads, &replaces);
        if (!n || (reads && !note_read(f)))
            return false;
        n->dead = is_line && !reads && n->made >= 0 && !n->crosses;
        n->replaced = is_line && replaces;
    }
    return true;
}

static bool sees(tk_module *m, const tk_kernel *k, const tk_field *f, const int64_t *b)
{
    for (state_part p = states_of(m, k); next_state(&p);)
        if (p.of.field == f && (p.of.what & SEES) && meet(p.box, b, dims_of(f)))
            return true;
    return false;
}

/* Whether the launch is the first one that touches the box, and replaces all of it. On the way back: whether it was. A
 * launch that was not has all of its box in `touched`. */
static bool bears(const state_part *p)
{
    tk_module *m = p->of.module;
    const tk_field *f = p->of.field;
    const struct rt_budget *u = m->session->tape.budget;
    if (!replaces_box(p) || sees(m, p->of.kernel, f, p->box))
        return false;
    if (u->back)
        return is_held(u->born, f, p->box) && !is_held(u->touched, f, p->box);
    return !meets(u->born, f, p->box) && !meets(u->touched, f, p->box) && !meets(u->read, f, p->box) &&
           boxes_of(u->born, f) < BOXES;
}

/* A part that writes. */
static bool image_part(const state_part *p, bool born)
{
    tk_session *s = p->of.module->session;
    struct rt_budget *u = s->tape.budget;
    tk_field *f = p->of.field;
    copy(p->of.box, p->box, dims_of(f));
    const bool noted = !born ? touch(s, f, p->box) : u->back || hold(s, &u->born, f, p->box);
    const struct rt_needs *n = known_of(f);
    const bool dead = n->dead && (n->replaced || replaces_box(p)); /* else some of it stays */
    return noted && want(s, f, p->of.box, born || dead);
}

/* Parts that cannot be born come first: none of them meets one that is. */
static bool image_parts(tk_module *m, const tk_kernel *k, bool is_line)
{
    bool ok = true;
    for (int pass = 0; pass < 2; pass++)
        for (state_part p = states_of(m, k); ok && next_state(&p);)
            if ((p.of.what & (RT_WRITES | TK_SAVED)) != 0 && replaces_box(&p) == (pass > 0))
                ok = image_part(&p, is_line && bears(&p));
    return ok;
}

/* What the adjoint of the program's own stores is put back: it is never born. */
static bool image_back(tk_module *m, const tk_kernel *back)
{
    bool ok = true;
    for (int i = 0; i < back->nparts && ok; i++) {
        tk_field *f = &m->fields[back->parts[i].field];
        int64_t whole[2 * DIMS_MAX];
        if (is_state(m, &back->parts[i]) && (back->parts[i].what & RT_WRITES) && tk_rt_needs_whole(f, whole))
            ok = see(m->session, f, whole) &&
                 (boxes_of(m->session->tape.budget->born, f) == 0 || touch(m->session, f, whole));
    }
    return ok;
}

static bool note_parts(tk_module *m, const tk_kernel *k, size_t at)
{
    enum { NEEDED = TK_NEEDED | TK_NEEDED_BY_PRODUCT };
    bool ok = true;
    for (state_part p = states_of(m, k); ok && next_state(&p);)
        ok = (p.of.what & SEES) == 0 || see(m->session, p.of.field, p.box);
    for (int i = 0; i < k->nparts; i++) {
        struct rt_needs *n = is_state(m, &k->parts[i]) ? known_of(&m->fields[k->parts[i].field]) : NULL;
        if (n && n->replaced) {
            n->made = (int64_t)at;
            n->crosses = false;
        }
    }
    for (int i = 0; i < k->nparts && ok; i++)
        if (is_state(m, &k->parts[i]) && (k->parts[i].what & NEEDED))
            ok = note_read(&m->fields[k->parts[i].field]);
    return ok;
}

bool tk_rt_image_launch(tk_module *m, const tk_kernel *k, const void *args, size_t at)
{
    tk_session *s = m->session;
    if (k->nparts == 0)
        return true;
    const bool is_line = at != RT_BESIDE;
    const bool ok = tk_rt_parts_compute(m, k, args, true) && note_effects(m, k, is_line) && image_parts(m, k, is_line);
    return take(s) && ok && note_parts(m, k, at) && (!k->back || image_back(m, k->back));
}

bool tk_rt_image_beside(tk_module *m, const tk_kernel *k, const void *args)
{
    const tk_session *s = m->session;
    const bool needless = s->tape.replaying && !s->tape.budget->over;
    return needless || tk_rt_image_launch(m, k, args, RT_BESIDE);
}

bool tk_rt_image_call(tk_session *s, const rt_call *c)
{
    int64_t box[2 * DIMS_MAX];
    bool ok = true;
    for (rt_parts w = parts_of_call(s, c, box); ok && tk_rt_call_part(&w);) {
        struct rt_needs *n = known_of(w.field);
        if (n)
            n->crosses = true;
        ok = n && see(s, w.field, w.box) &&
             ((w.what & RT_WRITES) == 0 || (touch(s, w.field, w.box) && want(s, w.field, w.box, false) && take(s)));
    }
    return take(s) && ok;
}

bool tk_rt_image_line(tk_session *s, const rt_logged *l, size_t at)
{
    return l->call ? tk_rt_image_call(s, l->call) : tk_rt_image_launch(l->module, l->kernel, l->args, at);
}

/* ---- segments ---- */

bool tk_rt_segment_push(tk_session *s, size_t first, bool fixed)
{
    struct rt_budget *u = s->tape.budget;
    if (u->nsegments == u->cap) {
        const size_t cap = u->cap ? 2 * u->cap : 8;
        rt_segment *segment = tk_rt_alloc(s, cap * sizeof *segment, false);
        if (!segment) {
            tk_fail(s, TK_NO_MEMORY, "out of memory for the log of a tape");
            return false;
        }
        if (u->nsegments > 0)
            memcpy(segment, u->segment, u->nsegments * sizeof *segment);
        tk_rt_free(s, u->segment);
        u->segment = segment;
        u->used += (cap - u->cap) * sizeof *segment;
        u->cap = cap;
    }
    u->segment[u->nsegments++] = (rt_segment){.first = first, .fixed = fixed};
    u->report.slots = u->nsegments > u->report.slots ? u->nsegments : u->report.slots;
    return true;
}

/* What memory has of it. */
static size_t memory_of(const struct rt_state *st)
{
    const rt_filed *d = st->filed;
    return (d ? sizeof *d : 0) + (d && d->only ? st->head : st->bytes);
}

static bool move_state(tk_session *s, rt_segment *g, struct rt_state **st,
                       bool (*fn)(tk_session *s, struct rt_file *file, struct rt_state **st))
{
    struct rt_budget *u = s->tape.budget;
    const size_t before = memory_of(*st);
    const bool ok = fn(s, u->file, st);
    g->bytes += memory_of(*st) - before;
    u->used += memory_of(*st) - before;
    return ok;
}

/* An image that still is in memory, the first one of all, goes to the file. False: none does. */
static bool put_image(tk_session *s)
{
    enum { LEAST = 256 };
    struct rt_budget *u = s->tape.budget;
    bool any = false;
    for (size_t i = 0; u->file && !any && i + 1 < u->nsegments; i++)
        for (struct rt_state **st = &u->segment[i].states; *st && !tk_failed(s); st = &(*st)->next)
            if (!((*st)->filed && (*st)->filed->only) && (*st)->bytes - (*st)->head >= LEAST)
                any = move_state(s, &u->segment[i], st, tk_rt_file_put) || any;
    return any && !tk_failed(s);
}

bool tk_rt_image_exceeds(tk_session *s, size_t more, size_t bytes)
{
    while (budget_used(s) + more > bytes && put_image(s))
        continue;
    return budget_used(s) + more > bytes;
}

static void drop_image(tk_session *s, rt_segment *g)
{
    for (struct rt_state *st = g->states; st; st = st->next)
        tk_rt_file_forget(s, s->tape.budget->file, st);
    tk_rt_states_free(s, &g->states);
    tk_rt_image_free(s, &g->held);
    s->tape.budget->used -= g->bytes;
    g->bytes = 0;
}

void tk_rt_segment_pop(tk_session *s)
{
    drop_image(s, last_segment(s->tape.budget));
    s->tape.budget->nsegments--;
}

void tk_rt_segment_restore(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    rt_segment *g = last_segment(u);
    for (struct rt_state **st = &g->states; *st; st = &(*st)->next)
        if (!move_state(s, g, st, tk_rt_file_get))
            return;
    for (const struct rt_state *st = g->states; st; st = st->next)
        tk_rt_state_restore(st, 0);
    u->image_bytes = g->bytes > u->image_bytes ? g->bytes : u->image_bytes;
    s->epoch++;
}

void tk_rt_segment_end(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    rt_segment *g = last_segment(u);
    for (rt_held *h = g->held; h; h = h->next) {
        h->sum = tk_rt_state_sum(h->field, TK_DATA, h->box);
        h->known = true;
    }
    u->image_bytes = g->bytes > u->image_bytes ? g->bytes : u->image_bytes;
}

tk_status tk_rt_segment_check(tk_session *s, const rt_segment *g, size_t end)
{
    for (const rt_held *h = g->held; h; h = h->next)
        if (h->known && h->sum != tk_rt_state_sum(h->field, TK_DATA, h->box))
            return tk_fail(s, TK_OVERWRITTEN,
                           "launches %zu to %zu of a tape under a budget ran again, and left other data in field '%s': "
                           "the host stored between them to data that they read, or a kernel races",
                           g->first + 1, end, h->field->desc->name);
    return TK_OK;
}

/* What the second one holds counts at the end of both. */
static void join_held(tk_session *s, rt_segment *a, rt_segment *b)
{
    struct rt_budget *u = s->tape.budget;
    for (rt_held *y = b->held, *next; y; y = next) {
        const int dims = dims_of(y->field);
        bool inside = false;
        next = y->next;
        for (rt_held *x = a->held; x; x = x->next) {
            if (x->field != y->field || !meet(x->box, y->box, dims))
                continue;
            const bool same = holds(x->box, y->box, dims) && holds(y->box, x->box, dims);
            x->known = same && y->known;
            x->sum = y->sum;
            inside = inside || holds(x->box, y->box, dims);
        }
        if (inside) {
            u->used -= held_bytes(y->field);
            tk_rt_free(s, y);
        } else {
            y->next = a->held;
            a->held = y;
            a->bytes += held_bytes(y->field);
        }
    }
}

static bool has_all(const rt_segment *a, const struct rt_state *st)
{
    for (int i = 0; i < st->n; i++)
        for (int k = 0; k < st->piece[i].members; k++) {
            tk_field *f = st->piece[i].field + k;
            int64_t box[2 * DIMS_MAX];
            tk_rt_needs_whole(f, box);
            if (st->piece[i].box)
                copy(box, st->piece[i].box, dims_of(f));
            if (!is_held(a->held, f, box))
                return false;
        }
    return true;
}

void tk_rt_segment_join(tk_session *s, size_t i)
{
    struct rt_budget *u = s->tape.budget;
    rt_segment *a = &u->segment[i], *b = &u->segment[i + 1];
    struct rt_state **last = &b->states;
    while (*last) {
        struct rt_state *st = *last;
        if (has_all(a, st)) {
            *last = st->next;
            u->used -= memory_of(st);
            tk_rt_file_forget(s, u->file, st);
            tk_rt_free(s, st);
        } else {
            a->bytes += memory_of(st);
            last = &st->next;
        }
    }
    *last = a->states;
    a->states = b->states;
    join_held(s, a, b);
    for (size_t k = i + 1; k + 1 < u->nsegments; k++)
        u->segment[k] = u->segment[k + 1];
    u->nsegments--;
}

bool tk_rt_image_final(tk_session *s)
{
    for (rt_held *h = s->tape.budget->touched; h; h = h->next)
        for (int p = 0; p <= (int)s->forward.open; p++)
            if (h->field->plane[p ? RT_TANGENT : TK_DATA])
                tk_rt_state_want(h->field, p ? RT_TANGENT : TK_DATA, is_whole(h->field, h->box) ? NULL : h->box, 0);
    if (tk_rt_state_wanted(s) == 0)
        return true;
    s->tape.final = tk_rt_state_take(s, NULL);
    if (!s->tape.final) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for the last data of a tape");
        return false;
    }
    s->tape.budget->used += s->tape.final->bytes;
    return true;
}

static void forget_held(tk_session *s, rt_held **list, const tk_module *m, size_t *bytes)
{
    for (rt_held *h = *list; h; h = *list)
        if (h->field->module == m) {
            *list = h->next;
            *bytes -= held_bytes(h->field);
            s->tape.budget->used -= held_bytes(h->field);
            tk_rt_free(s, h);
        } else {
            list = &h->next;
        }
}

void tk_rt_image_forget(tk_session *s, const tk_module *m)
{
    struct rt_budget *u = s->tape.budget;
    size_t none = SIZE_MAX;
    if (!u)
        return;
    for (size_t i = 0; i < u->nsegments; i++) {
        tk_rt_states_forget(u->segment[i].states, m);
        forget_held(s, &u->segment[i].held, m, &u->segment[i].bytes);
    }
    rt_held **const lists[] = {&u->touched, &u->read, &u->born};
    for (int i = 0; i < 3; i++)
        forget_held(s, lists[i], m, &none);
}
