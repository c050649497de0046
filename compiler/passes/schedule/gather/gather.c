/* Accumulations into neighbours become gathers with boundary strips.
 *
 *     task i in [lo, hi) { accum P[i - 1], f(i);  accum P[i], g(i);  accum P[i + 1], h(i);  rest }
 *
 * adds into neighbours, so two threads may meet and no compiler vectorises it. Seen from the element t that receives,
 * it is
 *
 *     task t in [lo - 1, hi + 1) { accum P[t], f(t + 1) + g(t) + h(t - 1) }       each term only if its iteration
 * exists task i in [lo, hi) { rest }
 *
 * where every element is one iteration's own. The interior, where all terms exist, is a loop without conditions; the
 * strips around it test. The values are computed once per shift, so this is done when they are cheap.
 *
 * Neighbours may be around the end or held at a bound (gather_steps.c), and accumulations may stand under conditions.
 * These are asked again, for the iteration that adds; between the ends of the range most are known (gather_known.c).
 */
#include <string.h>

#include "ir/target.h"
#include "passes/schedule/gather/gather.h"
#include "passes/schedule/schedule.h"

/* MAX_COST: operations of the values, which are computed once per shift. MAX_CONE: with those that cost nothing, as
 * they are the same in all iterations; each may be a level of recursion. MAX_PIECES: of all accumulations. MAX_TRIES:
 * accumulations that are tried before the rest stay as they are. Beyond these it is a scatter, which is always right.
 */
enum { MAX_COST = 120, MAX_CONE = 2000, MAX_PIECES = 256, MAX_TRIES = 100 };

/* ---- finding ---- */

/* Which task index subscript a is, plus a constant; -1: none, it is the same in all iterations; -2: anything else. */
static int index_of(const gather *g, const affine *a)
{
    int dim;
    int64_t by;
    if (gather_index(g, a, &dim, &by))
        return dim;
    return affine_is_invariant(a, g->task) ? -1 : -2;
}

/* Of a choice by a condition around op, the side on which op stands; NULL: v is no such choice. */
static const ir_value *side_of(const gather *g, const ir_op *op, const ir_value *v)
{
    if (!v->def || v->def->code != OP_SELECT)
        return NULL;
    for (const ir_region *r = op->region; r != g->task->regions[0]; r = r->parent->region)
        if (r->parent->code == OP_IF && v->def->args[0] == r->parent->args[0])
            return v->def->args[r == r->parent->regions[0] ? 1 : 2];
    return NULL;
}

/* Subscript d of op, which stands under conditions: adjoints have values of a branch as choices. */
static affine subscript_of(const gather *g, const ir_op *op, int d)
{
    affine a = affine_of(op->args[d]);
    for (int k = 0, left = 2 * AFFINE_TERMS; k < a.n && a.ok && left > 0;) {
        const ir_value *side = side_of(g, op, a.term[k]);
        if (!side) {
            k++;
            continue;
        }
        const affine choice = {.term = {a.term[k]}, .coef = {1}, .n = 1, .ok = true}, chosen = affine_of(side);
        const int64_t coef = a.coef[k];
        a = affine_plus(&a, &choice, -coef);
        a = affine_plus(&a, &chosen, coef);
        left--;
        k = 0;
    }
    return a;
}

/* The accumulation's steps along each task index; false if a subscript is none, or not like the first one's in the
 * other dimensions. */
static bool steps_of(gather *g, const ir_op *accum, steps *by)
{
    bool seen[GATHER_DIMS] = {false};
    int n = 0;
    for (int d = 0; d < g->field->ndim; d++) {
        const affine a = subscript_of(g, accum, d);
        if (affine_is_invariant(&a, g->task)) {
            const affine first = affine_of(g->first->args[d]);
            if (!affine_equal(&a, &first) || !ir_can_leave(accum->args[d], g->task))
                return false;
            continue;
        }
        const steps s = gather_steps(g, &a);
        if (!s.n || seen[s.dim] || (g->at_dim[s.dim] >= 0 && g->at_dim[s.dim] != d))
            return false;
        seen[s.dim] = true;
        g->at_dim[s.dim] = d;
        by[s.dim] = s;
        n++;
    }
    return n == g->nd && ir_component_known(accum);
}

static bool is_gathered(const gather *g, const ir_op *op)
{
    return op->code == OP_ACCUM && !ir_access_attr(op)->exact && ir_field_of(op) == g->field &&
           ir_access_attr(op)->plane == g->plane && !gather_apart(g, op, g->first);
}

/* Whether only branches stand between the body of the task and r. */
static bool is_under_conditions(const gather *g, const ir_region *r)
{
    while (r != g->task->regions[0]) {
        if (r->parent->code != OP_IF)
            return false;
        r = r->parent->region;
    }
    return true;
}

static bool fail(gather *g, ir_scatter_reason why)
{
    g->ok = false;
    g->why = why;
    return false;
}

static void find_other_access(ir_op *op, void *ctx)
{
    gather *g = ctx;
    if (op->code == OP_CALL || op->code == OP_TASK || op->code == OP_ATOMIC)
        fail(g, IR_SCATTER_CALL);
    if (op->code != OP_LOAD && op->code != OP_STORE &&
        (op->code != OP_ACCUM || (is_under_conditions(g, op->region) && !ir_access_attr(op)->exact)))
        return;
    if (ir_field_of(op) != g->field || ir_access_attr(op)->plane != g->plane)
        return;
    if (!gather_apart(g, op, g->first))
        fail(g, op->code != OP_ACCUM        ? IR_SCATTER_READ
                : ir_access_attr(op)->exact ? IR_SCATTER_ORDER
                                            : IR_SCATTER_LOOP);
}

static bool are_same_steps(const gather *g, const step *a, const step *b)
{
    for (int d = 0; d < g->nd; d++)
        if (a[d].kind != b[d].kind || a[d].by != b[d].by || a[d].edge != b[d].edge)
            return false;
    return true;
}

static void add_piece(gather *g, const piece *p)
{
    piece one = *p;
    one.group = -1;
    for (size_t i = 0; i < g->at.len && one.group < 0; i++)
        if (are_same_steps(g, g->at.at[i].at, one.at))
            one.group = g->at.at[i].group;
    if (one.group < 0)
        one.group = g->ngroups++;
    vec_push(&g->at, one);
}

/* All combinations of the steps of the dimensions from d on. */
static void add_pieces(gather *g, piece *p, const steps *by, int d)
{
    if (d == g->nd) {
        add_piece(g, p);
        return;
    }
    for (int k = 0; k < by[d].n && g->at.len <= MAX_PIECES; k++) {
        p->at[d] = by[d].at[k];
        g->wraps[d] |= p->at[d].kind == STEP_WRAP;
        g->inside |= by[d].n > 1;
        add_pieces(g, p, by, d + 1);
    }
}

static void collect_pieces(ir_op *op, void *ctx)
{
    gather *g = ctx;
    if (!g->ok || !is_gathered(g, op))
        return;
    piece p = {.accum = op};
    steps by[GATHER_DIMS];
    if (!steps_of(g, op, by)) {
        fail(g, IR_SCATTER_SUBSCRIPT);
        return;
    }
    g->inside |= op->region != g->task->regions[0];
    add_pieces(g, &p, by, 0);
    if (g->at.len > MAX_PIECES)
        fail(g, IR_SCATTER_DEAR);
}

/* Whether there is something to gather: of one shift, each iteration has its own element. */
static bool collect_groups(gather *g)
{
    ir_walk(g->task->regions[0], collect_pieces, g);
    bool wraps = false;
    for (int d = 0; d < g->nd; d++)
        wraps |= g->wraps[d];
    return g->ok && (g->ngroups > 1 || wraps);
}

/* ---- what values are computed from ---- */

/* What is known of a value costs nothing in the interior, where it counts. */
typedef struct marking {
    gather *g;
    int cost, nops;
    int free;                 /* depth of what is known */
    int depth;                /* of is_invariant */
    unsigned char *invariant; /* by value id: of is_invariant */
} marking;

static bool mark_cone(marking *m, const ir_value *v);

static bool mark_all(marking *m, ir_value *const *v, int n)
{
    for (int i = 0; i < n; i++)
        if (!mark_cone(m, v[i]))
            return false;
    return true;
}

static const known *find_known(gather *g, const ir_value *v, bool subscript)
{
    if (!g->is[v->id]) {
        const known k = subscript ? gather_known_index(g, v) : gather_known_truth(g, v);
        if (k.what) {
            g->is[v->id] = ARENA_NEW(g->f->module->mem, known);
            *g->is[v->id] = k;
        }
    }
    return g->is[v->id];
}

static bool mark_condition(marking *m, const ir_value *v)
{
    find_known(m->g, v, false);
    return mark_cone(m, v);
}

/* Subscripts, beside an index and what is the same in all iterations, may be known. */
static bool mark_load(marking *m, const ir_op *op)
{
    for (int d = 0; d < ir_field_of(op)->ndim; d++) {
        const affine a = subscript_of(m->g, op, d);
        for (int k = 0; k < a.n; k++)
            if (a.term[k]->def && ir_region_is_ancestor(m->g->task->regions[0], a.term[k]->region))
                find_known(m->g, a.term[k], true);
    }
    return mark_all(m, op->args, op->nargs);
}

typedef struct writes {
    const ir_op *load;
    bool found;
} writes;

static void find_write(ir_op *op, void *ctx)
{
    writes *w = ctx;
    w->found |= op_writes_field(op->code) && ir_storage_of_op(op) == ir_storage_of_op(w->load);
}

static bool is_invariant(marking *m, const ir_value *v);

static bool find_invariant(marking *m, const ir_op *op)
{
    if (!op || (op->code != OP_LOAD && !op_follows_from_operands(op->code)))
        return false;
    for (int i = 0; i < op->nargs; i++)
        if (!is_invariant(m, op->args[i]))
            return false;
    writes w = {.load = op};
    if (op->code == OP_LOAD)
        ir_walk(m->g->task->regions[0], find_write, &w);
    return !w.found;
}

/* The same in all iterations, so that it leaves the loop: of what is, and of memory that the task leaves alone. */
static bool is_invariant(marking *m, const ir_value *v)
{
    enum { UNKNOWN, YES, NO };
    if (!ir_region_is_ancestor(m->g->task->regions[0], v->region))
        return true;
    if (m->invariant[v->id] == UNKNOWN) {
        m->depth++;
        m->invariant[v->id] = m->depth <= MAX_CONE && find_invariant(m, v->def) ? YES : NO;
        m->depth--;
    }
    return m->invariant[v->id] == YES;
}

static bool mark_choice(marking *m, const ir_op *op, int result)
{
    if (!mark_condition(m, op->args[0]))
        return false;
    for (int k = 0; k < 2; k++)
        if (!mark_cone(m, ir_yield_of(op->regions[k])->args[result]))
            return false;
    return true;
}

/* What the value is computed from inside the task; false if that cannot be repeated. */
static bool mark_cone(marking *m, const ir_value *v)
{
    gather *g = m->g;
    if (!ir_region_is_ancestor(g->task->regions[0], v->region) || g->cone[v->id])
        return true;
    if (!v->def)
        return v->region == g->task->regions[0];
    const ir_op *op = v->def;
    if (++m->nops > MAX_CONE)
        return false;
    g->cone[v->id] = true;
    if (g->is[v->id]) {
        m->free++;
        const bool ok = mark_all(m, op->args, op->nargs);
        m->free--;
        return ok;
    }
    if (op->code != OP_LOAD && op->code != OP_IF && !op_follows_from_operands(op->code))
        return false;
    if (!m->free && !is_invariant(m, v))
        m->cost += op->code == OP_LOAD || op->code == OP_IF ? COST_MEMORY : op_cost(op->code);
    if (m->cost > MAX_COST)
        return false;
    if (op->code == OP_SELECT)
        find_known(g, op->args[0], false);
    return op->code == OP_IF     ? mark_choice(m, op, v->index)
           : op->code == OP_LOAD ? mark_load(m, op)
                                 : mark_all(m, op->args, op->nargs);
}

/* The value, and the conditions around the accumulation. */
static bool mark_piece(marking *m, const piece *p)
{
    for (const ir_region *r = p->accum->region; r != m->g->task->regions[0]; r = r->parent->region)
        if (!mark_condition(m, r->parent->args[0]))
            return false;
    return mark_cone(m, p->accum->args[m->g->field->ndim + 1]);
}

static bool group_is_edge(const gather *g, int k)
{
    for (size_t i = 0; i < g->at.len; i++)
        for (int d = 0; d < g->nd && g->at.at[i].group == k; d++)
            if (step_is_edge(&g->at.at[i].at[d]))
                return true;
    return false;
}

static bool cones_are_cheap(gather *g)
{
    marking m = {.g = g, .invariant = xmalloc(g->nvalues + 1)};
    memset(m.invariant, 0, g->nvalues + 1);
    bool *all = xmalloc((g->nvalues + 1) * sizeof *all);
    memset(all, 0, g->nvalues * sizeof *all);
    bool ok = true;
    for (int k = 0; k < g->ngroups && ok; k++) {
        memset(g->cone, 0, g->nvalues * sizeof *g->cone);
        m.free = group_is_edge(g, k); /* the interior has none of these */
        for (size_t i = 0; i < g->at.len && ok; i++)
            if (g->at.at[i].group == k)
                ok = mark_piece(&m, &g->at.at[i]);
        for (uint32_t i = 0; i < g->nvalues; i++)
            all[i] |= g->cone[i];
    }
    if (!ok)
        g->why = m.cost > MAX_COST || m.nops > MAX_CONE ? IR_SCATTER_DEAR : IR_SCATTER_VALUE;
    free(m.invariant);
    free(g->cone);
    g->cone = all;
    return ok;
}

/* ---- what the values read ---- */

typedef struct conflict {
    const gather *g;
    const ir_op *load;
    bool found;
} conflict;

/* Whether op is run before `load`, in one iteration. */
static bool comes_before(const ir_op *op, const ir_op *load)
{
    while (!ir_region_is_ancestor(op->region, load->region))
        op = op->region->parent;
    while (load->region != op->region)
        load = load->region->parent;
    if (op == load) /* in two branches */
        return false;
    for (; op; op = op->next)
        if (op == load)
            return true;
    return false;
}

/* Both touch one element in each iteration, which no other iteration names by these subscripts. */
static bool are_own_element(const gather *g, const ir_op *a, const ir_op *b)
{
    bool seen[GATHER_DIMS] = {false};
    int n = 0;
    for (int d = 0; d < ir_field_of(a)->ndim; d++) {
        const affine x = affine_of(a->args[d]), y = affine_of(b->args[d]);
        const int k = index_of(g, &x);
        if (k == -2 || !affine_equal(&x, &y))
            return false;
        if (k >= 0 && !seen[k]) {
            seen[k] = true;
            n++;
        }
    }
    return n == g->nd;
}

/* A plane that the cone loads must still be untouched when the gather runs, before all of the task: the load comes
 * before any store of its own iteration, and what is accumulated into it is the iteration's own element, later. */
static void find_conflict(ir_op *op, void *ctx)
{
    conflict *c = ctx;
    if (op->code != OP_ACCUM && op->code != OP_STORE) /* x.shape[k] has no subscripts to compare */
        return;
    if (ir_field_of(op) != ir_field_of(c->load) || ir_access_attr(op)->plane != ir_access_attr(c->load)->plane ||
        never_meet(c->g->task, op, c->load))
        return;
    if (comes_before(op, c->load) || (op->code == OP_ACCUM && !are_own_element(c->g, op, c->load)))
        c->found |= !gather_apart(c->g, op, c->load);
}

static void find_unsafe(ir_op *op, void *ctx)
{
    conflict *c = ctx;
    if (op->code != OP_LOAD || !c->g->cone[op->res[0]->id] || c->found)
        return;
    c->load = op;
    ir_walk(c->g->task->regions[0], find_conflict, c);
}

static bool loads_are_safe(gather *g)
{
    conflict c = {.g = g};
    ir_walk(g->task->regions[0], find_unsafe, &c);
    if (c.found)
        g->why = IR_SCATTER_WRITTEN;
    return !c.found;
}

/* ---- the pass ---- */

static bool gather_plane(ir_func *f, ir_op *task, const ir_op *first, asks *asked)
{
    gather g = {.f = f,
                .task = task,
                .nd = ir_task_attr(task)->ndim,
                .first = first,
                .field = ir_field_of(first),
                .plane = ir_access_attr(first)->plane,
                .nvalues = f->next_value,
                .asked = asked,
                .ok = true};
    for (int d = 0; d < GATHER_DIMS; d++) {
        g.at_dim[d] = -1;
        g.index[d] = d < g.nd ? task->regions[0]->params[d] : NULL;
    }
    g.cone = xmalloc((g.nvalues + 1) * sizeof *g.cone);
    g.is = xmalloc((g.nvalues + 1) * sizeof *g.is);
    memset(g.is, 0, (g.nvalues + 1) * sizeof *g.is);
    bool done = false;
    const size_t known_before = asked->at.len;
    ir_walk(task->regions[0], find_other_access, &g);
    if (g.ok && collect_groups(&g) && cones_are_cheap(&g) && loads_are_safe(&g)) {
        if (asked->at.len > known_before)
            gather_versions(&g);
        gather_build(&g);
        done = true;
    } else {
        asked->at.len = known_before;
        ir_access_attr(first)->why = g.why;
    }
    vec_free(&g.at);
    free(g.cone);
    free(g.is);
    return done;
}

typedef struct op_list {
    const ir_op *task;
    VEC(ir_op *) at;
} op_list;

static void list_accum(ir_op *op, void *ctx)
{
    op_list *l = ctx;
    if (op->code != OP_ACCUM || ir_field_of(op)->ndim > GATHER_DIMS || l->at.len == MAX_TRIES)
        return;
    if (ir_field_of(op)->ndim < ir_task_attr(l->task)->ndim)
        ir_access_attr(op)->why = IR_SCATTER_DIMENSIONS;
    else
        vec_push(&l->at, op);
}

static bool gather_one(ir_func *f, ir_op *task, asks *asked)
{
    op_list l = {.task = task};
    bool found = false;
    ir_walk(task->regions[0], list_accum, &l);
    for (size_t i = 0; i < l.at.len && !found; i++)
        found = gather_plane(f, task, l.at.at[i], asked);
    vec_free(&l.at);
    return found;
}

/* What needs nothing that the launch alone knows comes first, in both versions. There are no versions of versions. */
static bool gather_task(ir_func *f, ir_op *task)
{
    asks asked = {0};
    bool changed = false, found = true;
    while (found) {
        found = gather_one(f, task, &asked);
        asked.open = !found && asked.at.len == 0 && is_adjoint(f) && !f->module->debug;
        found |= asked.open && gather_one(f, task, &asked);
        asked.open = false;
        changed |= found;
    }
    vec_free(&asked.at);
    return changed;
}

static void list_task(ir_op *op, void *ctx)
{
    op_list *l = ctx;
    if (op->code == OP_TASK && !ir_task_attr(op)->rows && ir_task_attr(op)->ndim <= GATHER_DIMS)
        vec_push(&l->at, op);
}

/* Loops over directions whose tasks gather. */
static bool gather_directions(ir_func *f, ir_op *task)
{
    bool changed = false;
    for (ir_op *op = task->regions[0]->first, *next; op; op = next) {
        next = op->next;
        ir_op *apart = gather_split(f, task, op);
        const bool gathers = apart && gather_task(f, apart);
        if (apart)
            ir_remove(gathers ? op : apart);
        changed |= gathers;
    }
    return changed;
}

bool pass_gather(ir_func *f)
{
    op_list tasks = {0};
    bool changed = false;
    ir_walk(f->body, list_task, &tasks);
    for (size_t i = 0; i < tasks.at.len; i++) {
        changed |= gather_directions(f, tasks.at.at[i]);
        changed |= gather_task(f, tasks.at.at[i]);
    }
    vec_free(&tasks.at);
    return changed;
}
