/* Images of the data of fields: copies of what launches overwrite, on the first write behind the image's time.
 *
 * Data that nobody reads any more are not copied: a grid that each step clears and fills again is dead at the end of
 * the step. A value is dead where it was made and read within one segment, and is overwritten in a later one. */
#include "budget.h"

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

/* b: valid until the state is taken. */
static bool want(tk_session *s, tk_field *f, int64_t *b, bool dead)
{
    struct rt_budget *u = s->tape.budget;
    rt_segment *g = last_segment(u);
    if (is_held(g->held, f, b))
        return true;
    if (!is_held(u->touched, f, b)) {
        if (!hold(s, &u->touched, f, b))
            return false;
        u->final_bytes += box_bytes(s, f, b);
    }
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

/* Of all parts of the field: whether the launch surely replaces all of it, and reads none of it. */
static void effects_on(const tk_module *m, const tk_kernel *k, const int64_t *ends, int field, bool *reads,
                       bool *replaces)
{
    enum { READS = TK_READS | TK_BEFORE_WANTED };
    bool adds = false;
    *reads = *replaces = false;
    for (int i = 0; i < k->nparts; i++) {
        const tk_part *p = &k->parts[i];
        tk_field *f = &m->fields[p->field];
        int64_t box[2 * DIMS_MAX];
        copy(box, ends, dims_of(f));
        ends += 2 * dims_of(f);
        if (p->field != field || !is_state(m, p))
            continue;
        const kind settled = tk_rt_part_settle(&(rt_parts){.field = f, .box = box, .what = p->what});
        *reads = *reads || ((p->what & READS) && settled != EMPTY);
        adds = adds || (p->what & TK_ACCUMULATES);
        *replaces = *replaces || ((p->what & RT_WRITES) == TK_STORES && settled == ALL && is_whole(f, box));
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
        effects_on(m, k, m->session->tape.ends, k->parts[i].field, &reads, &replaces);
        if (!n || (reads && !note_read(f)))
            return false;
        n->dead = is_line && !reads && n->made >= 0 && !n->crosses;
        n->replaced = is_line && replaces;
    }
    return true;
}

static bool image_parts(tk_module *m, const tk_kernel *k)
{
    int64_t *ends = m->session->tape.ends;
    bool ok = true;
    for (int i = 0; i < k->nparts && ok; i++) {
        const tk_part *p = &k->parts[i];
        tk_field *f = &m->fields[p->field];
        int64_t *box = ends;
        ends += 2 * dims_of(f);
        if (is_state(m, p) && (p->what & (RT_WRITES | TK_SAVED)) != 0 &&
            tk_rt_part_settle(&(rt_parts){.field = f, .box = box, .what = p->what}) != EMPTY)
            ok = want(m->session, f, box, known_of(f)->dead);
    }
    return ok;
}

static bool note_parts(tk_module *m, const tk_kernel *k, size_t at)
{
    enum { NEEDED = TK_NEEDED | TK_NEEDED_BY_PRODUCT };
    bool ok = true;
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
    const bool ok = tk_rt_parts_compute(m, k, args, true) && note_effects(m, k, at != RT_BESIDE) && image_parts(m, k);
    return take(s) && ok && note_parts(m, k, at);
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
        ok = n && ((w.what & RT_WRITES) == 0 || (want(s, w.field, w.box, false) && take(s)));
    }
    return take(s) && ok;
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
    return true;
}

static void drop_image(tk_session *s, rt_segment *g)
{
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
    const rt_segment *g = last_segment(u);
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
            u->used -= st->bytes;
            tk_rt_free(s, st);
        } else {
            a->bytes += st->bytes;
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
    for (size_t i = 0; u && i < u->nsegments; i++) {
        tk_rt_states_forget(u->segment[i].states, m);
        forget_held(s, &u->segment[i].held, m, &u->segment[i].bytes);
    }
    if (u)
        forget_held(s, &u->touched, m, &none);
}
