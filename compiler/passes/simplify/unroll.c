/* Loops of few trips in parallel loops are written out, as `static for` would.
 *
 *     for i, j { for a in range(-1, 2) { for b in range(-1, 2) { s += x[i + a, j + b]; } } }
 *
 * What reads or writes a window so are neighbours to all later passes: adjoints gather, rows become vectors, which no
 * C compiler makes of a loop with a loop in it, and constants that are looked up by index (a row of weights) are found.
 * Lanes would do the same for loops of many trips; for three there is more to hand over from loop to loop than to do.
 *
 * The operations and their order stay as they are, and so do all bits.
 *
 * Export funcs with a Jacobian or Hessian become straight lines, as far as that is short: so many entries and products
 * are zero by structure then.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

/* MAX_TRIPS: of one loop. MAX_OPS: of a nest, written out. MAX_DEPTH: of what a subscript is computed from. Beyond them
 * the loop stays. */
enum { MAX_TRIPS = 4, MAX_OPS = 200, MAX_DEPTH = 8 };

/* The same of a function with a Jacobian. */
enum { MAX_LINE_TRIPS = 1024, MAX_LINE_OPS = 4000 };

typedef struct unrolling {
    ir_func *f;
    bool line; /* the function is to be a straight line */
    bool changed;
} unrolling;

typedef struct size {
    const ir_op *task; /* NULL: subscripts do not matter */
    int nops;
    bool stays; /* holds what is not copied */
} size;

/* Made of indices, and of what is the same in all iterations, by arithmetic alone. Where a subscript comes from memory
 * (the cell of a particle) neither gathers nor vectors come of it, and a loop is shorter. */
static bool is_regular(const ir_op *task, const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if (!ir_region_is_ancestor(task->regions[0], v->region))
        return true;
    if (!op)
        return v->region == task->regions[0] || v->index < ir_loop_first_param(v->region->parent);
    bool regular = depth > 0 && op_follows_from_operands(op->code);
    for (int i = 0; i < op->nargs && regular; i++)
        regular = is_regular(task, op->args[i], depth - 1);
    return regular;
}

/* Integers count nothing: they are subscripts, and mostly of the loop's index, which is a constant then. */
static void measure(ir_op *op, void *ctx)
{
    size *s = ctx;
    if (!op_is_launch_constant(op->code) && op->code != OP_YIELD)
        s->nops += op->nres == 0 || scalar_is_float(op->res[0]->type);
    s->stays |= op->code == OP_LOOP || op->code == OP_ATOMIC || (op->code == OP_CALL && s->task);
    for (int d = 0; s->task && op_accesses_field(op->code) && d < ir_field_of(op)->ndim; d++)
        s->stays |= !is_regular(s->task, op->args[d], MAX_DEPTH);
}

static bool has_constant_trips(const ir_op *loop)
{
    const ir_attr_loop *a = ir_loop_attr(loop);
    return a->bounded && !a->cond && ir_is_const(loop->args[0]) && ir_is_const(loop->args[1]);
}

/* -1: more than `most`. */
static int64_t trips_of(const ir_op *loop, int64_t most)
{
    const int64_t lo = ir_int(loop->args[0]), hi = ir_int(loop->args[1]);
    return lo >= hi ? 0 : (uint64_t)hi - (uint64_t)lo <= (uint64_t)most ? hi - lo : -1;
}

/* NONE: it is unrolled. */
static ir_no_line reason_against(const unrolling *u, const ir_op *task, const ir_op *loop)
{
    if (!has_constant_trips(loop))
        return IR_NO_LINE_TRIPS;
    if (ir_loop_attr(loop)->down)
        return IR_NO_LINE_DOWN;
    const int64_t trips = trips_of(loop, u->line ? MAX_LINE_TRIPS : MAX_TRIPS);
    if (trips < 0)
        return IR_NO_LINE_MANY;
    size s = {.task = task};
    ir_walk(loop->regions[0], measure, &s);
    if (s.stays)
        return IR_NO_LINE_INNER;
    return s.nops * trips <= (u->line ? MAX_LINE_OPS : MAX_OPS) ? IR_NO_LINE_NONE : IR_NO_LINE_LONG;
}

static void unroll(unrolling *u, ir_op *loop)
{
    const ir_region *body = loop->regions[0];
    const int i0 = ir_loop_first_init(loop), n = ir_loop_ncarried(loop);
    const int64_t trips = trips_of(loop, INT64_MAX);
    ir_builder b = {.func = u->f, .region = loop->region, .before = loop, .loc = loop->loc};
    ir_value **carried = ARENA_ARRAY(u->f->module->mem, ir_value *, n);
    for (int i = 0; i < n; i++)
        carried[i] = loop->args[i0 + i];
    for (int64_t k = 0; k < trips; k++) {
        ir_map map = ir_map_create(u->f);
        ir_map_set(&map, body->params[0], ir_const_i(&b, SC_I64, ir_int(loop->args[0]) + k));
        for (int i = 0; i < n; i++)
            ir_map_set(&map, body->params[1 + i], carried[i]);
        ir_clone_region_ops(&b, body, &map);
        for (int i = 0; i < n; i++) {
            ir_value *v = ir_yield_of(body)->args[i], *copy = ir_map_get(&map, v);
            carried[i] = copy ? copy : v;
        }
        ir_map_free(&map);
    }
    for (int i = 0; i < n; i++)
        ir_replace_uses(u->f->body, loop->res[i], carried[i]);
    ir_remove(loop);
    u->changed = true;
}

/* Inner loops first: one that is gone makes the one around it a loop without loops. */
static void visit(unrolling *u, ir_region *r, const ir_op *task)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (int k = 0; k < op->nregions; k++)
            visit(u, op->regions[k], op->code == OP_TASK ? op : task);
        if (op->code != OP_LOOP || !(task || u->line))
            continue;
        const ir_no_line why = reason_against(u, task, op);
        if (!why)
            unroll(u, op);
        else if (u->line)
            ir_loop_attr(op)->no_line = why;
    }
}

bool unroll_to_line(ir_func *f)
{
    unrolling u = {f, true, false};
    visit(&u, f->body, NULL);
    if (u.changed)
        pass_simplify(f); /* subscripts become constants */
    const bool scalars = pass_scalars(f);
    return u.changed || scalars;
}

bool pass_unroll(ir_func *f)
{
    const bool line = (ir_derives(f) & (IR_DERIVE_JAC | IR_DERIVE_HESS)) != 0;
    if (line)
        return unroll_to_line(f);
    if (f->pure)
        return false;
    unrolling u = {f, false, false};
    visit(&u, f->body, NULL);
    return u.changed;
}
