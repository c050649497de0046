/* Records: old values of atomics, which depend on the order in which iterations came, cannot be replayed. The kernel writes those that its adjoint needs to
 * the record of the launch, in blocks. An atomic in a parallel loop has a block for each time that the loop runs (`turn`), with an element for each
 * iteration (`at`); one at kernel level has a single block.
 *
 * Sequential loops between the block's place and the atomic: where each trip of all of them comes to the atomic, and their numbers are known at that place,
 * they are dimensions of the block like those of the parallel loop. Otherwise the elements are logs, which grow, and `step` counts their values.
 *
 * Before differentiation the three are put behind the operands of the atomics, so that reverse mode finds their values as it finds all others.
 */
#include "passes/reverse.h"

typedef VEC(ir_op *) op_list;

/* Where the block of an atomic is made, and what stands between. */
typedef struct place {
    ir_op *unit;       /* the block is made before it: the parallel loop, or the outermost sequential one, or the atomic */
    ir_op *task;       /* the parallel loop, or NULL */
    op_list path;      /* if there are loops: these and the branches around the atomic, outermost first; without a task, with the unit */
    bool log;
} place;

/* ---- where ---- */

/* Constants, params, extents, what was computed before the unit, and pure operations of them. */
static bool is_known_before(const ir_value *v, const ir_op *unit)
{
    if (ir_region_is_ancestor(v->region, unit->region))
        return true;
    const ir_op *op = v->def;
    if (!op || (op->code != OP_CONST && op->code != OP_MPARAM && op->code != OP_SHAPE && !op_is_pure_table(op->code)))
        return false;
    for (int i = 0; i < op->nargs; i++)
        if (!is_known_before(op->args[i], unit))
            return false;
    return true;
}

static ir_value *compute_before(ir_builder *b, ir_value *v, ir_map *map)
{
    if (ir_region_is_ancestor(v->region, b->region))
        return v;
    if (ir_map_get(map, v))
        return ir_map_get(map, v);
    for (int i = 0; i < v->def->nargs; i++)
        compute_before(b, v->def->args[i], map);
    ir_clone_op(b, v->def, map);
    return ir_map_get(map, v);
}

static bool is_dimension(const ir_op *op, const ir_op *unit)
{
    return op->code == OP_LOOP && op->attr.bounded && !op->attr.cond && is_known_before(op->args[0], unit) && is_known_before(op->args[1], unit);
}

static ir_op *unit_of(ir_op *op)
{
    ir_op *unit = op;
    for (ir_op *p = op->region->parent; p; p = p->region->parent) {
        if (p->code == OP_TASK)
            return p;
        if (p->code == OP_LOOP)
            unit = p;
    }
    return unit;
}

/* What is around op, inside `end`, outermost first. */
static void path_to(const ir_op *op, const ir_op *end, op_list *path)
{
    for (ir_op *p = op->region->parent; p != end; p = p->region->parent)
        vec_push(path, p);
    for (size_t i = 0; i < path->len / 2; i++) {
        ir_op *p = path->at[i];
        path->at[i] = path->at[path->len - 1 - i];
        path->at[path->len - 1 - i] = p;
    }
}

static place place_of(ir_op *atomic)
{
    place p = {.unit = unit_of(atomic)};
    p.task = p.unit->code == OP_TASK ? p.unit : NULL;
    bool loops = false, all = true;
    path_to(atomic, p.task ? p.task : p.unit->region->parent, &p.path);
    for (size_t i = 0; i < p.path.len; i++) {
        loops |= p.path.at[i]->code == OP_LOOP;
        all &= is_dimension(p.path.at[i], p.unit);
    }
    if (!loops)
        p.path.len = 0;
    p.log = loops && !all;
    return p;
}

/* ---- counting ---- */

static ir_builder before_op(ir_op *op, const ir_op *atomic)
{
    return (ir_builder){.func = op->region->func, .region = op->region, .before = op, .loc = atomic->loc};
}

/* How often op has run since the root of `path` began, `path` being the loops and branches around it: a value that is carried through all of them. */
static ir_value *count_runs(ir_op *op, ir_op *const *path, size_t n)
{
    while (n > 0 && path[0]->code != OP_LOOP)
        path++, n--;
    ir_builder b = before_op(n > 0 ? path[0] : op, op);
    ir_value *count = ir_const_i(&b, SC_I64, 0);
    VEC(ir_value *) in = {0}, out = {0};
    for (size_t i = 0; i < n; i++) {
        ir_value *result = NULL;
        vec_push(&in, count);
        if (path[i]->code == OP_LOOP)
            count = ir_loop_carry(path[i], count, &result);
        vec_push(&out, result);
    }
    b = (ir_builder){.func = op->region->func, .region = op->region, .before = op->next, .loc = op->loc};
    ir_value *one = ir_const_i(&b, SC_I64, 1), *next = ir_op2(&b, OP_ADD, count, one);
    const ir_region *from = op->region;
    for (size_t i = n; i-- > 0; from = path[i]->region) {
        for (int k = 0; k < path[i]->nregions; k++)
            if (path[i]->regions[k] == from || path[i]->code == OP_IF)
                ir_add_arg(ir_yield_of(path[i]->regions[k]), path[i]->regions[k] == from ? next : in.at[i]);
        next = out.at[i] ? out.at[i] : ir_add_result(path[i], SC_I64);
    }
    vec_free(&in);
    vec_free(&out);
    return count;
}

/* How often the task has run since the kernel began. */
static ir_value *count_turns(ir_op *task)
{
    op_list path = {0};
    path_to(task, NULL, &path);
    ir_value *turn = count_runs(task, path.at, path.len);
    vec_free(&path);
    return turn;
}

/* The number of the element, each dimension's part where its loop begins. */
static ir_value *element(ir_op *atomic, const place *p)
{
    ir_builder b = before_op(p->task ? p->task->regions[0]->first : p->unit, atomic);
    ir_value *at = p->task ? rev_iteration_number(&b, p->task) : NULL;
    for (size_t i = 0; i < p->path.len && !p->log; i++) {
        ir_op *loop = p->path.at[i];
        b = before_op(loop, atomic);
        if (at) {
            ir_value *n = ir_op2(&b, OP_SUB, loop->args[1], loop->args[0]);
            at = ir_op2(&b, OP_MUL, at, n);
        }
        b = before_op(loop->regions[0]->first, atomic);
        ir_value *k = ir_op2(&b, OP_SUB, loop->regions[0]->params[0], loop->args[0]);
        at = at ? ir_op2(&b, OP_ADD, at, k) : k;
    }
    return at ? at : ir_const_i(&b, SC_I64, 0);
}

typedef struct turn_of {
    const ir_op *task;
    ir_value *turn;
} turn_of;

typedef struct numbering {
    uint32_t *uses;
    VEC(ir_op *) atomics;
    VEC(turn_of) turns;
} numbering;

static void find_atomic(ir_op *op, void *ctx)
{
    numbering *n = ctx;
    if (op->code == OP_ATOMIC && n->uses[op->res[0]->id])
        vec_push(&n->atomics, op);
}

static ir_value *turn_for(numbering *n, ir_op *atomic, const place *p)
{
    for (size_t i = 0; p->task && i < n->turns.len; i++)
        if (n->turns.at[i].task == p->task)
            return n->turns.at[i].turn;
    if (p->task) {
        vec_push(&n->turns, ((turn_of){p->task, count_turns(p->task)}));
        return vec_last(&n->turns).turn;
    }
    ir_builder b = before_op(p->unit, atomic);
    return ir_const_i(&b, SC_I64, 0);
}

void record_number_atomics(ir_func *kernel)
{
    numbering n = {.uses = ir_count_uses(kernel)};
    ir_walk(kernel->body, find_atomic, &n);
    for (size_t i = 0; i < n.atomics.len; i++) {
        ir_op *atomic = n.atomics.at[i];
        place p = place_of(atomic);
        ir_value *turn = turn_for(&n, atomic, &p), *at = element(atomic, &p), *step;
        if (p.log) {
            step = count_runs(atomic, p.path.at, p.path.len);
        } else {
            ir_builder b = before_op(atomic, atomic);
            step = ir_const_i(&b, SC_I64, 0);
        }
        ir_add_arg(atomic, turn);
        ir_add_arg(atomic, at);
        ir_add_arg(atomic, step);
        vec_free(&p.path);
    }
    free(n.uses);
    vec_free(&n.atomics);
    vec_free(&n.turns);
}

/* ---- recording ---- */

typedef struct record {
    ir_func *kernel, *adjoint;
    int n; /* numbers of blocks */
    VEC(ir_op *) olds;
} record;

static void find_old(ir_op *op, void *ctx)
{
    record *r = ctx;
    if (op->code == OP_OLD)
        vec_push(&r->olds, op);
}

static ir_value *block_count(const place *p, ir_builder *b, ir_map *map)
{
    ir_value *count = ir_const_i(b, SC_I64, 1), *zero = ir_const_i(b, SC_I64, 0);
    const int nd = p->task ? p->task->attr.ndim : 0, n = nd + (p->log ? 0 : (int)p->path.len);
    for (int d = 0; d < n; d++) {
        const ir_op *op = d < nd ? p->task : p->path.at[d - nd];
        const int first = d < nd ? 2 * d : 0;
        ir_value *hi = compute_before(b, op->args[first + 1], map), *lo = compute_before(b, op->args[first], map);
        ir_value *trips = ir_op2(b, OP_MAX, ir_op2(b, OP_SUB, hi, lo), zero);
        count = d ? ir_op2(b, OP_MUL, count, trips) : trips;
    }
    return count;
}

static ir_value *record_op(ir_builder *b, ir_opcode code, int nargs, ir_value *const *args, scalar type, ir_layout *l, int number)
{
    ir_op *op = ir_insert(b, code, nargs, args, type != SC_NONE, &type, 0);
    op->attr.layout = l;
    op->attr.i = number;
    if (type == SC_PTR)
        op->res[0]->name = "recorded";
    return op->nres ? op->res[0] : NULL;
}

static ir_layout *layout_for(ir_module *m, const ir_value *v, bool log)
{
    ir_layout *l = ARENA_NEW(m->mem, ir_layout);
    l->n = 1;
    l->types = ARENA_ARRAY(m->mem, scalar, 1);
    l->types[0] = v->type;
    l->names = ARENA_ARRAY(m->mem, const char *, 1);
    l->names[0] = v->name;
    l->log = log;
    return l;
}

static ir_layout *record_in_kernel(record *r, ir_op *atomic)
{
    place p = place_of(atomic);
    ir_layout *l = layout_for(r->kernel->module, atomic->res[0], p.log);
    ir_value *const *where = atomic->args + atomic->nargs - 3; /* turn at step */
    ir_builder b = before_op(p.unit, atomic);
    ir_map map = ir_map_create(r->kernel);
    ir_value *count = block_count(&p, &b, &map), *turn = where[0];
    if (ir_is_const(turn))
        turn = ir_const_i(&b, SC_I64, turn->def->attr.i);
    ir_value *block = record_op(&b, OP_REC_ALLOC, 2, (ir_value *[]){turn, count}, SC_PTR, l, r->n);
    ir_map_free(&map);
    b = (ir_builder){.func = r->kernel, .region = atomic->region, .before = atomic->next, .loc = atomic->loc};
    record_op(&b, OP_REC_STORE, 4, (ir_value *[]){block, where[1], where[2], atomic->res[0]}, SC_NONE, l, r->n);
    vec_free(&p.path);
    return l;
}

/* All of one atomic: a replay at kernel level and the task's own adjoint may both want it. */
static void record_one(record *r, size_t first)
{
    ir_op *atomic = r->olds.at[first]->origin;
    ir_layout *l = record_in_kernel(r, atomic);
    for (size_t i = first; i < r->olds.len; i++) {
        ir_op *old = r->olds.at[i];
        if (!old || old->origin != atomic)
            continue;
        ir_op *unit = unit_of(old);
        ir_builder b = before_op(unit, old);
        ir_value *turn = old->args[0];
        if (ir_is_const(turn))
            turn = ir_const_i(&b, SC_I64, turn->def->attr.i);
        ir_value *block = record_op(&b, OP_REC_GET, 1, &turn, SC_PTR, l, r->n);
        b = before_op(old, old);
        b.origin = old->origin;
        ir_value *v = record_op(&b, OP_REC_LOAD, 3, (ir_value *[]){block, old->args[1], old->args[2]}, old->res[0]->type, l, r->n);
        v->name = atomic->res[0]->name;
        ir_replace_uses(r->adjoint->body, old->res[0], v);
        ir_remove(old);
        r->olds.at[i] = NULL;
    }
    r->n++;
}

static void forget_number(ir_op *op, void *ctx)
{
    bool *any = ctx;
    while (op->code == OP_ATOMIC && op->nargs > op->attr.field->ndim + 2) {
        ir_remove_arg(op, op->nargs - 1);
        *any = true;
    }
}

void record_old_values(ir_func *kernel, ir_func *adjoint)
{
    record r = {.kernel = kernel, .adjoint = adjoint};
    ir_walk(adjoint->body, find_old, &r);
    for (size_t i = 0; i < r.olds.len; i++)
        if (r.olds.at[i])
            record_one(&r, i);
    kernel->records = r.n > 0;
    vec_free(&r.olds);
    bool numbered = false;
    ir_walk(kernel->body, forget_number, &numbered);
    if (numbered)
        pass_dce(kernel); /* what was counted for nothing */
}
