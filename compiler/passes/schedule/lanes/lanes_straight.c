/* Bodies without inner loops: which of their operations lanes do as vectors, and which one by one.
 *
 *     loop p { k = list[p];  f = work(x[k]);  g[k] += f;  y[p] = f }      becomes
 *
 *     loop strip {
 *         loop lane { k[lane] = list[p0 + lane];  x[lane] = x[k[lane]] }
 *         loop lane { f = work(x[lane]);  y[p0 + lane] = f;  t[lane] = f }
 *         loop lane { g[k[lane]] += t[lane] }
 *     }
 *
 * Compilers vectorise the work, but not where an iteration adds to what another one may add to: such additions, and
 * what comes behind them, wait for the loop at the end, in their order. Nor does every compiler make vectors of loads
 * from anywhere: these are copied in loops of their own. Integers that are narrower than the floats would make vectors
 * of as many elements as there are integers in one, and of the floats two for each value, too many for the registers:
 * they go with the copies.
 *
 * Loops over the lanes are numbered by level: even ones copy, odd ones work, the last one is the one at the end.
 */
#include "ir/target.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/lanes/lanes.h"
#include "passes/schedule/schedule.h"

typedef struct straight {
    lanes_study *s;
    VEC(ir_op *) memory; /* loads, stores and accumulations, in their order */
    VEC(ir_op *) top;    /* in which operation of the body each of them stands */
    bool *copied;        /* by ir_op.pos, of operations of the body: stands in a loop that copies */
    bool changed;
} straight;

static ir_op *top_of(const lanes_study *s, ir_op *op)
{
    while (op->region != s->loop->regions[0])
        op = op->region->parent;
    return op;
}

static bool is_scalar(const lanes_study *s, const ir_op *top)
{
    return s->level[top->pos] == LEVEL_END;
}

static void make_scalar(straight *p, const ir_op *top)
{
    p->changed |= !is_scalar(p->s, top);
    p->s->level[top->pos] = LEVEL_END;
}

/* ---- what lanes do one by one ---- */

/* The same element in no two iterations. */
static bool are_disjoint(const ir_op *loop, const ir_op *a, const ir_op *b)
{
    if (never_meet(loop, a, b))
        return true;
    for (int d = 0; d < ir_field_of(a)->ndim; d++) {
        const affine x = affine_of(a->args[d]), y = affine_of(b->args[d]);
        if (varies_with_index(loop, &x) && y.ok && affine_equal(&x, &y))
            return true;
    }
    return false;
}

static bool is_write(const ir_op *op)
{
    return op->code != OP_LOAD;
}

/* a stands before b, and one of them waits for the last loop: the other one does, if they may meet. */
static void keep_order(straight *p, size_t a, size_t b)
{
    lanes_study *s = p->s;
    const ir_op *x = p->memory.at[a], *y = p->memory.at[b], *in = p->top.at[a], *then = p->top.at[b];
    if (in == then || ir_storage_of_op(x) != ir_storage_of_op(y) || (!is_write(x) && !is_write(y)))
        return;
    if (!is_scalar(s, in) && !is_scalar(s, then)) {
        if (simd_touches_again(x, y))
            make_scalar(p, then);
        return;
    }
    if (is_scalar(s, in) == is_scalar(s, then))
        return;
    if (is_scalar(s, in) && meet_in_iteration(x, y))
        make_scalar(p, then);
    if (!are_disjoint(s->loop, x, y))
        make_scalar(p, is_scalar(s, in) ? then : in);
}

/* The operation of the body in which another one's operand is computed; NULL: beside that one, or not in the body. */
static const ir_op *comes_from(const lanes_study *s, const ir_op *op, const ir_value *operand)
{
    const ir_op *def = operand->def;
    if (def && def->region == op->region && op->region != s->loop->regions[0])
        return NULL;
    while (def && def->region != s->loop->regions[0])
        def = def->region->parent;
    return def;
}

static bool follows_from_scalar(const lanes_study *s, const ir_op *op)
{
    for (int i = 0; i < op->nargs; i++) {
        const ir_op *from = comes_from(s, op, op->args[i]);
        if (from && is_scalar(s, from))
            return true;
    }
    for (int k = 0; k < op->nregions; k++)
        for (const ir_op *in = op->regions[k]->first; in; in = in->next)
            if (follows_from_scalar(s, in))
                return true;
    return false;
}

static void settle(straight *p)
{
    const ir_region *body = p->s->loop->regions[0];
    do {
        p->changed = false;
        for (const ir_op *op = body->first; op; op = op->next)
            if (op->code != OP_YIELD && !is_scalar(p->s, op) && follows_from_scalar(p->s, op))
                make_scalar(p, op);
        for (size_t b = 1; b < p->memory.len; b++)
            for (size_t a = 0; a < b; a++)
                keep_order(p, a, b);
    } while (p->changed);
}

static void list_memory(straight *p)
{
    for (size_t n = 0; n < p->s->ops.len; n++) {
        ir_op *op = p->s->ops.at[n];
        if (op->code != OP_LOAD && op->code != OP_STORE && op->code != OP_ACCUM)
            continue;
        vec_push(&p->memory, op);
        vec_push(&p->top, top_of(p->s, op));
    }
}

static bool is_copied(const straight *p, const ir_op *op)
{
    int64_t step;
    return place_in_loop(p->s->loop, op, &step) == PLACE_ANY && target_has_no_gather(op);
}

/* A call, and what the loop writes of what it reads. */
static void leave_call(straight *p, const ir_op *call, const ir_op *top)
{
    effects e = effects_of_op(p->s->f->module, call);
    make_scalar(p, top);
    for (size_t n = 0; n < p->memory.len; n++)
        if (is_write(p->memory.at[n]) && e.at[ir_storage_of_op(p->memory.at[n])])
            make_scalar(p, p->top.at[n]);
    effects_free(&e);
}

static void find_scalar(straight *p)
{
    lanes_study *s = p->s;
    for (size_t n = 0; n < s->ops.len; n++) {
        ir_op *op = s->ops.at[n];
        const op_memory memory = op_memory_of(op->code);
        if (op->code == OP_CALL)
            leave_call(p, op, top_of(s, op));
        else if (memory == MEMORY_STACK || (memory == MEMORY_ARRAY && s->adds_to_array))
            make_scalar(p, top_of(s, op));
    }
    for (size_t n = 0; n < p->memory.len; n++) {
        const ir_op *op = p->memory.at[n];
        if (!is_write(op) || (lanes_sum_up(s, op) && op == p->top.at[n]) || (s->hoists && lanes_is_hoisted(s, op)))
            continue;
        if (is_copied(p, op) || !simd_iterations_independent(s->loop, p->memory.at, p->memory.len, op))
            make_scalar(p, p->top.at[n]);
    }
    settle(p);
}

/* ---- what is copied ---- */

static bool is_integer(const ir_value *v)
{
    return scalar_is_int(v->type) && v->type != SC_BOOL;
}

static bool is_narrow(const ir_value *v)
{
    return scalar_bytes(v->type) < 8 && v->type != SC_BOOL;
}

/* An integer that can be had before any work: of the index, and of what is read. */
static bool may_be_first(const straight *p, const ir_op *op)
{
    const lanes_study *s = p->s;
    if (op->nregions || op->nres != 1 || scalar_is_float(op->res[0]->type))
        return false;
    if (op->code == OP_LOAD ? (s->touched[ir_storage_of_op(op)] & (OP_STORES | OP_ADDS)) != 0
                            : !op_is_pure_table(op->code))
        return false;
    for (int i = 0; i < op->nargs; i++) {
        const ir_value *v = op->args[i];
        const bool index = v == s->loop->regions[0]->params[0];
        if (!index && s->varying[v->id] && !(v->def && p->copied[v->def->pos]))
            return false;
    }
    return true;
}

/* Whether something of less than 64 bits is left among what vectors do. */
static bool is_narrow_op(const lanes_study *s, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        if (is_narrow(op->res[i]))
            return true;
    for (int i = 0; i < op->nargs; i++)
        if (s->varying[op->args[i]->id] && is_narrow(op->args[i]))
            return true;
    for (int k = 0; k < op->nregions; k++)
        for (const ir_op *in = op->regions[k]->first; in; in = in->next)
            if (is_narrow_op(s, in))
                return true;
    return false;
}

static bool is_of_lanes(const lanes_study *s, const ir_op *op)
{
    return op->code != OP_YIELD && lanes_kind_of(s, op) == LANES_INNER && !is_scalar(s, op);
}

static bool is_copy(const straight *p, const ir_op *op)
{
    return op->code == OP_LOAD ? is_copied(p, op) : lanes_is_guarded_load(op);
}

static void mark_used(void *ctx, const ir_value *v)
{
    bool *asked = ctx;
    asked[v->id] = true;
}

/* Integers in front of the work where that leaves nothing narrow beside 64-bit floats, else those that copies ask for.
 */
static void find_copied(straight *p)
{
    lanes_study *s = p->s;
    const ir_region *body = s->loop->regions[0];
    bool gain = false, left = false, *asked = ARENA_ARRAY(s->f->module->mem, bool, s->f->next_value + 1);
    for (const ir_op *op = body->first; op; op = op->next)
        if (is_of_lanes(s, op) && may_be_first(p, op)) {
            p->copied[op->pos] = true;
            gain |= is_integer(op->res[0]);
        }
    for (const ir_op *op = body->first; op; op = op->next) {
        if (is_of_lanes(s, op) && is_copy(p, op))
            p->copied[op->pos] = true;
        left |= is_of_lanes(s, op) && !p->copied[op->pos] && is_narrow_op(s, op);
    }
    for (const ir_op *op = body->last; op; op = op->prev) {
        if (!is_of_lanes(s, op))
            continue;
        if (may_be_first(p, op) && (left || !gain || !is_integer(op->res[0])))
            p->copied[op->pos] = is_copy(p, op) || asked[op->res[0]->id];
        if (p->copied[op->pos])
            lanes_each_use(op, mark_used, asked);
    }
}

/* ---- levels ---- */

static void come_behind(const lanes_study *s, const ir_op *op, int *level)
{
    for (int i = 0; i < op->nargs; i++) {
        const ir_op *from = comes_from(s, op, op->args[i]);
        if (from && s->level[from->pos] > *level)
            *level = s->level[from->pos];
    }
    for (int k = 0; k < op->nregions; k++)
        for (const ir_op *in = op->regions[k]->first; in; in = in->next)
            come_behind(s, in, level);
}

/* The accesses in `top` come behind those that they may meet, as one of the two writes. */
static void come_behind_accesses(const straight *p, const ir_op *top, int *level)
{
    for (size_t b = 0; b < p->memory.len; b++)
        for (size_t a = 0; a < b && p->top.at[b] == top; a++)
            if (p->top.at[a] != top && (is_write(p->memory.at[a]) || is_write(p->memory.at[b])) &&
                !is_scalar(p->s, p->top.at[a]) && p->s->level[p->top.at[a]->pos] > *level &&
                meet_in_iteration(p->memory.at[a], p->memory.at[b]))
                *level = p->s->level[p->top.at[a]->pos];
}

static void find_levels(straight *p)
{
    lanes_study *s = p->s;
    for (const ir_op *op = s->loop->regions[0]->first; op; op = op->next) {
        if (!is_of_lanes(s, op))
            continue;
        int level = p->copied[op->pos] ? 0 : 1;
        come_behind(s, op, &level);
        come_behind_accesses(p, op, &level);
        level += (level % 2 == 0) != p->copied[op->pos];
        if (level >= LEVEL_END)
            make_scalar(p, op);
        else
            s->level[op->pos] = (unsigned char)level;
    }
    settle(p); /* what follows from those that are beyond the last level */
}

/* Strips take and give back the stack in the order of the program, and so do they store there what is one for all
 * lanes. */
static bool has_stack(const lanes_study *s)
{
    for (size_t n = 0; n < s->ops.len; n++) {
        const ir_op *op = s->ops.at[n];
        if (op_memory_of(op->code) == MEMORY_STACK && op->code != OP_STK_LOAD &&
            (op->code != OP_STK_STORE || lanes_kind_of(s, op) == LANES_UNIFORM))
            return true;
    }
    return false;
}

void lanes_find_levels(lanes_study *s)
{
    if (s->why || lanes_have_inner(s->loop))
        return;
    if (has_stack(s)) {
        s->why = IR_NO_LANES_SAVES;
        return;
    }
    straight p = {.s = s, .copied = ARENA_ARRAY(s->f->module->mem, bool, s->ops.len + 1)};
    s->level = ARENA_ARRAY(s->f->module->mem, unsigned char, s->ops.len + 1);
    s->narrow = true;
    for (size_t n = 0; n < s->ops.len; n++)
        for (int i = 0; i < s->ops.at[n]->nres; i++)
            s->narrow &= s->ops.at[n]->res[i]->type != SC_F64;
    list_memory(&p);
    find_scalar(&p);
    find_copied(&p);
    find_levels(&p);
    vec_free(&p.memory);
    vec_free(&p.top);
}
