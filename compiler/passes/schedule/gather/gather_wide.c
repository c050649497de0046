/* Loops over directions as a dimension of their task, so that what they add to neighbours becomes a gather.
 *
 *     task i { p = f(x[i]);  rest;  loop d in [0, K) { accum P[i + 1, d], p * g[i, d] } }
 *
 *     task i { rest }
 *     task i, d in [0, K) { p = f(x[i]);  accum P[i + 1, d], p * g[i, d] }
 *
 * The rows of the second one are the old loop, and clean-up moves what is the same in all directions out of them. It is
 * taken back where no gather comes of it.
 */
#include "ir/ops.h"
#include "passes/schedule/gather/gather.h"

typedef struct split {
    ir_op *task, *loop;
    ir_storage n;
    unsigned *rest,
        *own;   /* OP_READS and so on by storage: what the task does outside of the loop, what the loop does */
    bool *cone; /* by value id: is computed again */
    bool ok;
} split;

/* An access of planes in several directions, in that of the loop. */
static bool is_in_direction(const split *s, const ir_op *op)
{
    if (op->code != OP_LOAD && op->code != OP_STORE && op->code != OP_ACCUM)
        return false;
    const ir_field *f = ir_field_of(op);
    return f->wide_of && op->args[f->ndim - 1] == s->loop->regions[0]->params[0];
}

static unsigned how(const ir_op *op)
{
    return op->code == OP_LOAD ? OP_READS : op->code == OP_STORE ? OP_STORES : op->code == OP_ACCUM ? OP_ADDS : ~0u;
}

static void note_rest(split *s, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op == s->loop)
            continue;
        if (op_accesses_field(op->code))
            s->rest[ir_storage_of_op(op)] |= how(op);
        s->ok &= op->code != OP_CALL || ir_op_is_pure(op);
        for (int k = 0; k < op->nregions; k++)
            note_rest(s, op->regions[k]);
    }
}

/* Numbers alone, and loads: not what lies in arrays, or comes out of branches and loops. */
static bool can_be_again(const ir_op *op)
{
    if (op->nregions ||
        !(op_is_pure_table(op->code) || op->code == OP_LOAD || op->code == OP_CONST || op->code == OP_SHAPE))
        return false;
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i]->type == SC_PTR)
            return false;
    return true;
}

/* v, which the loop uses, and what it is computed from in the task. */
static void mark(split *s, const ir_value *v)
{
    if (!s->ok || !v->def || v->def->region != s->task->regions[0] || s->cone[v->id])
        return;
    s->cone[v->id] = true;
    s->ok = can_be_again(v->def);
    if (s->ok && v->def->code == OP_LOAD)
        s->own[ir_storage_of_op(v->def)] |= OP_READS;
    for (int i = 0; i < v->def->nargs; i++)
        mark(s, v->def->args[i]);
}

static void study_loop(split *s)
{
    for (const ir_op *op = s->loop->regions[0]->first; op && s->ok; op = op->next) {
        if (op->code == OP_YIELD)
            continue;
        const bool memory = op_accesses_field(op->code);
        s->ok = memory ? is_in_direction(s, op) : can_be_again(op);
        if (memory)
            s->own[ir_storage_of_op(op)] |= how(op);
        for (int i = 0; i < op->nargs; i++)
            mark(s, op->args[i]);
    }
}

/* Whether the loop may run behind the whole rest of the task. */
static bool is_apart(split *s)
{
    const unsigned writes = OP_STORES | OP_ADDS;
    note_rest(s, s->task->regions[0]);
    study_loop(s);
    for (ir_storage i = 0; i < s->n && s->ok; i++)
        s->ok = !((s->rest[i] & writes) && s->own[i]) && !(s->rest[i] && (s->own[i] & writes));
    return s->ok;
}

/* The loop as a task behind its own. */
static ir_op *make_task(ir_func *f, const split *s)
{
    enum { MOST = GATHER_DIMS };
    const ir_op *task = s->task, *loop = s->loop;
    const int nd = ir_task_attr(task)->ndim;
    ir_builder b = {.func = f, .region = task->region, .before = task->next, .loc = task->loc, .origin = task->origin};
    ir_value *lo[MOST], *hi[MOST];
    for (int d = 0; d < nd; d++) {
        lo[d] = task->args[2 * d];
        hi[d] = task->args[2 * d + 1];
    }
    lo[nd] = ir_const_i(&b, SC_I64, ir_int(loop->args[0]));
    hi[nd] = ir_const_i(&b, SC_I64, ir_int(loop->args[1]));
    ir_op *made = ir_task(&b, nd + 1, lo, hi, 0, NULL, NULL);
    ir_map map = ir_map_create(f);
    for (int d = 0; d < nd; d++) {
        made->regions[0]->params[d]->name = task->regions[0]->params[d]->name;
        ir_map_set(&map, task->regions[0]->params[d], made->regions[0]->params[d]);
    }
    made->regions[0]->params[nd]->name = loop->regions[0]->params[0]->name;
    ir_map_set(&map, loop->regions[0]->params[0], made->regions[0]->params[nd]);
    ir_builder in = {.func = f, .region = made->regions[0], .loc = task->loc};
    for (const ir_op *op = task->regions[0]->first; op; op = op->next)
        if (op->nres == 1 && s->cone[op->res[0]->id])
            ir_clone_op(&in, op, &map);
    ir_clone_region_ops(&in, loop->regions[0], &map);
    in.loc = loop->loc;
    ir_yield(&in, 0, NULL);
    ir_map_free(&map);
    return made;
}

static bool is_of_directions(const ir_op *op)
{
    return op->code == OP_LOOP && op->nres == 0 && op->nargs == 2 && !ir_loop_attr(op)->cond &&
           ir_is_const(op->args[0]) && ir_is_const(op->args[1]);
}

ir_op *gather_split(ir_func *f, ir_op *task, ir_op *loop)
{
    if (!is_of_directions(loop) || ir_task_attr(task)->ndim >= GATHER_DIMS || ir_task_attr(task)->ordered)
        return NULL;
    const ir_storage n = ir_storage_count(f->module);
    arena *mem = f->module->mem;
    split s = {.task = task,
               .loop = loop,
               .n = n,
               .rest = ARENA_ARRAY(mem, unsigned, n + 1),
               .own = ARENA_ARRAY(mem, unsigned, n + 1),
               .cone = ARENA_ARRAY(mem, bool, f->next_value + 1),
               .ok = true};
    return is_apart(&s) ? make_task(f, &s) : NULL;
}
