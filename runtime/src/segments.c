/* Segments of a tape under a budget, each with its image: in memory or in a file. */
#include "images.h"

enum { FEW = 8 /* segments */ };

size_t tk_rt_segment_growth(const struct rt_budget *u)
{
    return u->nsegments < u->cap ? 0 : (u->cap ? u->cap : FEW) * sizeof *u->segment;
}

static bool resize(tk_session *s, size_t cap)
{
    struct rt_budget *u = s->tape.budget;
    rt_segment *segment = tk_rt_alloc(s, cap * sizeof *segment, false);
    if (!segment)
        return false;
    if (u->nsegments > 0)
        memcpy(segment, u->segment, u->nsegments * sizeof *segment);
    tk_rt_free(s, u->segment);
    u->used = u->used - u->cap * sizeof *segment + cap * sizeof *segment;
    u->segment = segment;
    u->cap = cap;
    return true;
}

bool tk_rt_segment_push(tk_session *s, size_t first, bool fixed)
{
    struct rt_budget *u = s->tape.budget;
    if (u->nsegments == u->cap && !resize(s, u->cap ? 2 * u->cap : FEW)) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for the log of a tape");
        return false;
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
    const int64_t began = tk_rt_now();
    for (struct rt_state **st = &g->states; *st; st = &(*st)->next)
        if (!move_state(s, g, st, tk_rt_file_get))
            return;
    for (const struct rt_state *st = g->states; st; st = st->next)
        tk_rt_state_restore(st, 0);
    u->way.copy += tk_rt_now() - began;
    u->way.copied += g->bytes;
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

static bool has_piece(const void *segment, const rt_piece *p)
{
    const rt_segment *a = segment;
    for (int k = 0; k < p->members; k++) {
        tk_field *f = p->field + k;
        int64_t box[2 * DIMS_MAX];
        tk_rt_needs_whole(f, box);
        if (p->box)
            copy(box, p->box, dims_of(f));
        if (!is_held(a->held, f, box))
            return false;
    }
    return true;
}

/* Of a state of segment b, what a has not. */
static void trim(tk_session *s, const rt_segment *a, rt_segment *b, struct rt_state **st)
{
    struct rt_budget *u = s->tape.budget;
    int had = 0;
    for (int i = 0; i < (*st)->n; i++)
        had += has_piece(a, &(*st)->piece[i]);
    if (had == 0 || (had < (*st)->n && !move_state(s, b, st, tk_rt_file_get)))
        return;
    struct rt_state *old = *st, *rest = had < old->n ? tk_rt_state_without(s, old, has_piece, a) : NULL;
    if (had < old->n && !rest)
        return; /* it stays as it is */
    *st = rest ? rest : old->next;
    if (rest)
        rest->next = old->next;
    u->used -= memory_of(old) - (rest ? memory_of(rest) : 0);
    tk_rt_file_forget(s, u->file, old);
    tk_rt_free(s, old);
}

void tk_rt_segment_join(tk_session *s, size_t i)
{
    struct rt_budget *u = s->tape.budget;
    rt_segment *a = &u->segment[i], *b = &u->segment[i + 1];
    struct rt_state **last = &b->states;
    while (*last) {
        const struct rt_state *next = (*last)->next;
        trim(s, a, b, last);
        if (*last != next) {
            a->bytes += memory_of(*last);
            last = &(*last)->next;
        }
    }
    *last = a->states;
    a->states = b->states;
    join_held(s, a, b);
    for (size_t k = i + 1; k + 1 < u->nsegments; k++)
        u->segment[k] = u->segment[k + 1];
    u->nsegments--;
    if (u->cap > FEW && u->nsegments <= u->cap / 4)
        resize(s, u->cap / 2); /* or it stays as it is */
}

/* Boxes side by side become one, until none are; their sums are those at the end of the segment. */
static void merge_held(tk_session *s, rt_segment *g)
{
    for (rt_held *x = g->held; x; x = x->next)
        for (rt_held **at = &x->next; *at;) {
            rt_held *y = *at;
            const int d = y->field == x->field ? relate(x->box, y->box, dims_of(x->field)) : APART;
            if (d < 0 && !(y->field == x->field && holds(x->box, y->box, dims_of(x->field)))) {
                at = &y->next;
                continue;
            }
            if (d >= 0)
                extend(x->box, y->box, d);
            *at = y->next;
            g->bytes -= held_bytes(y->field);
            s->tape.budget->used -= held_bytes(y->field);
            tk_rt_free(s, y);
            at = &x->next;
        }
}

bool tk_rt_segment_join_last(tk_session *s)
{
    const struct rt_budget *u = s->tape.budget;
    if (u->nsegments < 2 || u->segment[u->nsegments - 1].fixed || u->segment[u->nsegments - 2].fixed)
        return false;
    tk_rt_segment_join(s, u->nsegments - 2);
    merge_held(s, last_segment(u));
    return true;
}

void tk_rt_segments_empty(tk_session *s)
{
    struct rt_budget *u = s->tape.budget;
    for (size_t i = 0; i < u->nsegments; i++) {
        rt_segment *g = &u->segment[i];
        for (struct rt_state *st = g->states; st; st = st->next) {
            const size_t all = tk_rt_image_bytes(u, st->bytes);
            g->bytes += all - memory_of(st);
            u->used += all - memory_of(st);
            u->unkept += all;
            tk_rt_file_forget(s, u->file, st);
        }
        tk_rt_states_free(s, &g->states);
    }
}

size_t tk_rt_segments_load(const struct rt_budget *u)
{
    size_t most = 0, behind = 0;
    for (size_t i = u->nsegments; i-- > 0; behind += u->segment[i].bytes) {
        size_t load = 0;
        for (const struct rt_state *st = u->segment[i].states; st; st = st->next)
            load += tk_rt_image_bytes(u, st->bytes) - memory_of(st);
        most = load > behind && load - behind > most ? load - behind : most;
    }
    return most;
}

static void want_final(tk_session *s)
{
    for (rt_held *h = s->tape.budget->touched; h; h = h->next)
        for (int p = 0; p <= (int)s->forward.open; p++)
            if (h->field->plane[p ? RT_TANGENT : TK_DATA])
                tk_rt_state_want(h->field, p ? RT_TANGENT : TK_DATA, is_whole(h->field, h->box) ? NULL : h->box, 0);
}

size_t tk_rt_image_final_bytes(tk_session *s)
{
    want_final(s);
    return tk_rt_state_drop(s);
}

bool tk_rt_image_final(tk_session *s)
{
    want_final(s);
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
    rt_held **const lists[] = {&u->touched, &u->read, &u->born, &u->own};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        forget_held(s, lists[i], m, &none);
}
