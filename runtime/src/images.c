/* Images of the data of fields: copies of what launches overwrite, on the first write behind the image's time.
 *
 * Dead data are not copied: a grid that each step clears and fills again is dead at the end of the step. A value is
 * dead where it was made and read within one segment, and is overwritten in a later one. The data of a box before the
 * tape are dead where the first launch that touches it replaces all of it: such a box is born. A state with a dimension
 * for time takes no copy for this reason. */
#include "images.h"

enum { BOXES = 64 /* of a field in the lists `read` and `born` */, READS = TK_READS | TK_BEFORE_WANTED };
enum { SEES = READS | TK_NEEDED | TK_NEEDED_BY_PRODUCT | TK_ACCUMULATES };

/* ---- boxes ---- */

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
    if (u->measures) {
        const size_t bytes = tk_rt_image_bytes(u, tk_rt_state_drop(s));
        g->bytes += bytes;
        u->used += bytes;
        u->unkept += bytes;
        return true;
    }
    const int64_t began = tk_rt_now();
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
    u->way.copy += tk_rt_now() - began;
    u->way.copied += st->bytes;
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

/* An image takes it while adjoints run. */
static bool stores_back(tk_session *s, tk_field *f, const int64_t *b)
{
    struct rt_budget *u = s->tape.budget;
    if (u->back || is_held(u->own, f, b))
        return true;
    u->own_bytes += box_bytes(s, f, b) + held_bytes(f) + sizeof(struct rt_state) + sizeof(rt_piece);
    return hold(s, &u->own, f, b);
}

/* What the adjoint of the program's own stores is put back: it is never born. */
static bool image_back(tk_module *m, const tk_kernel *back)
{
    bool ok = true;
    for (int i = 0; i < back->nparts && ok; i++) {
        tk_field *f = &m->fields[back->parts[i].field];
        int64_t whole[2 * DIMS_MAX];
        if (is_state(m, &back->parts[i]) && (back->parts[i].what & RT_WRITES) && tk_rt_needs_whole(f, whole))
            ok = see(m->session, f, whole) && stores_back(m->session, f, whole) &&
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
