/* The loops over strips.
 *
 *     loop strip of (hi - lo) / 32 { ... 32 lanes ... }  if lanes = (hi - lo) % 32 > 0 { ... }
 *
 * A strip stands there twice: where it is whole, compilers know how many lanes there are, and loops over them become
 * pieces of straight code.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"
#include "passes/schedule/lanes/lanes.h"

/* The number of lanes, up to whole vectors. */
static ir_value *round_up_to_vectors(ir_builder *b, ir_value *lanes)
{
    ir_value *up = ir_op2(b, OP_ADD, lanes, ir_const_i(b, SC_I64, VECTOR - 1));
    ir_value *vector = ir_const_i(b, SC_I64, VECTOR);
    ir_value *rounded = ir_op2(b, OP_MUL, ir_op2(b, OP_DIV, up, vector), vector);
    rounded->name = "rounded";
    return rounded;
}

typedef enum strip_kind {
    STRIP_WHOLE,  /* of LANES iterations */
    STRIP_FILLED, /* the last one may have fewer, but arithmetic on arrays of lanes is done for LANES of them */
    STRIP_ANY     /* the last one may have fewer, up to whole vectors */
} strip_kind;

/* n strips, from the first iteration on. */
static ir_op *loop_of_strips(lanes_study *s, ir_builder *b, ir_value *n, strip_kind kind)
{
    const ir_op *loop = s->loop;
    ir_op *strips = ir_loop(b, ir_const_i(b, SC_I64, 0), n, false, loop->nres, loop->args + 2);
    ir_loop_attr(strips)->parallel = true;
    ir_region *body = strips->regions[0];
    body->params[0]->name = "strip";
    n->name = "strips";
    for (int i = 0; i < loop->nres; i++) {
        strips->res[i]->exact = body->params[1 + i]->exact = loop->res[i]->exact;
        body->params[1 + i]->name = loop->regions[0]->params[1 + i]->name;
    }
    ir_builder in = {.func = s->f, .region = body, .loc = loop->loc};
    ir_value *width = ir_const_i(&in, SC_I64, LANES), *lanes = width, *rounded = width;
    ir_value *first = ir_op2(&in, OP_ADD, loop->args[0], ir_op2(&in, OP_MUL, body->params[0], width));
    first->name = "first";
    if (kind != STRIP_WHOLE) {
        lanes = ir_op2(&in, OP_MIN, ir_op2(&in, OP_SUB, loop->args[1], first), width);
        lanes->name = "lanes";
    }
    if (kind == STRIP_ANY)
        rounded = round_up_to_vectors(&in, lanes);
    lanes_build_strip(s, body, first, lanes, rounded, body->params + 1);
    return strips;
}

/* The iterations behind them, fewer than LANES, if there are any. */
static ir_op *last_strip(lanes_study *s, ir_builder *b, ir_value *first, ir_value *lanes, const ir_op *before)
{
    const ir_op *loop = s->loop;
    ir_op *rest = ir_if(b, ir_op2(b, OP_GT, lanes, ir_const_i(b, SC_I64, 0)), 0, NULL);
    for (int i = 0; i < loop->nres; i++) {
        ir_value *v = ir_add_result(rest, loop->res[i]->type);
        v->exact = loop->res[i]->exact;
        v->name = loop->res[i]->name;
    }
    ir_builder in = {.func = s->f, .region = rest->regions[0], .loc = loop->loc};
    lanes_build_strip(s, rest->regions[0], first, lanes, round_up_to_vectors(&in, lanes), before->res);
    ir_builder none = {.func = s->f, .region = rest->regions[1], .loc = loop->loc};
    ir_yield(&none, loop->nres, before->res);
    return rest;
}

static ir_op *whole_strips_and_rest(lanes_study *s, ir_builder *b, ir_value *count, ir_value *width)
{
    ir_value *n = ir_op2(b, OP_DIV, count, width);
    const ir_op *whole = loop_of_strips(s, b, n, STRIP_WHOLE);
    ir_value *done = ir_op2(b, OP_MUL, n, width), *lanes = ir_op2(b, OP_SUB, count, done);
    lanes->name = "lanes";
    ir_value *first = ir_op2(b, OP_ADD, s->loop->args[0], done);
    first->name = "first";
    return last_strip(s, b, first, lanes, whole);
}

static ir_op *any_strips(lanes_study *s, ir_builder *b, ir_value *count, ir_value *width, strip_kind kind)
{
    ir_value *up = ir_op2(b, OP_ADD, count, ir_const_i(b, SC_I64, LANES - 1));
    return loop_of_strips(s, b, ir_op2(b, OP_DIV, up, width), kind);
}

/* Made of the index, by integer arithmetic. */
static bool follows_from_index(const ir_value *v, const ir_value *index, int depth)
{
    if (v == index)
        return true;
    if (!v->def || depth == 0 || !op_is_pure_table(v->def->code) || !scalar_is_int(v->type))
        return false;
    for (int i = 0; i < v->def->nargs; i++)
        if (follows_from_index(v->def->args[i], index, depth - 1))
            return true;
    return false;
}

/* The index chooses among fewer elements of an array, or components, than a strip has iterations: compilers would warn
 * of what never runs. */
static bool chooses_among_few(const lanes_study *s, const ir_op *op)
{
    enum { DEPTH = 8 };
    const ir_value *index = s->loop->regions[0]->params[0];
    if (op->code == OP_LLOAD || op->code == OP_LSTORE) {
        const ir_op *local = op->args[0]->def;
        return local->code == OP_LOCAL && !local->nargs && ir_local_attr(local)->count < LANES &&
               follows_from_index(op->args[1], index, DEPTH);
    }
    return op_memory_of(op->code) == MEMORY_FIELD && follows_from_index(op->args[ir_field_of(op)->ndim], index, DEPTH);
}

/* With so many loops in it, a body that stands there twice takes C compilers too long: their time grows faster than a
 * function does. */
static bool has_many_loops(const lanes_study *s)
{
    enum { MOST_LOOPS = 24 };
    int loops = 0;
    for (size_t i = 0; i < s->ops.len; i++)
        loops += s->ops.at[i]->code == OP_LOOP;
    return loops > MOST_LOOPS;
}

/* Whether there may be strips of LANES iterations, for all that one can see, with inner loops. Bodies without them are
 * long, and gain nothing where it is known how many lanes there are. */
static bool may_be_whole(const lanes_study *s)
{
    if (s->level)
        return false;
    const ir_op *task = ir_task_of(s->loop);
    const int last = 2 * (ir_task_attr(task)->ndim - 1);
    int64_t lo, hi;
    if (const_value_of(s->f->module, task->args[last], &lo) &&
        const_value_of(s->f->module, task->args[last + 1], &hi) && hi - lo < LANES)
        return false;
    for (size_t i = 0; i < s->ops.len; i++)
        if (chooses_among_few(s, s->ops.at[i]))
            return false;
    return true;
}

void lanes_build(lanes_study *s)
{
    ir_op *loop = s->loop;
    ir_builder b = {.func = s->f, .region = loop->region, .before = loop, .loc = loop->loc};
    ir_value *width = ir_const_i(&b, SC_I64, LANES), *count = ir_op2(&b, OP_SUB, loop->args[1], loop->args[0]);
    const ir_op *made;
    if (!may_be_whole(s))
        made = any_strips(s, &b, count, width, STRIP_ANY);
    else if (has_many_loops(s))
        made = any_strips(s, &b, count, width, STRIP_FILLED);
    else
        made = whole_strips_and_rest(s, &b, count, width);
    for (int i = 0; i < loop->nres; i++)
        ir_replace_uses(loop->region, loop->res[i], made->res[i]);
    ir_remove(loop);
}
