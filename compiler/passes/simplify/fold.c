/* Folding: constants, identities exact in IEEE arithmetic, constant branches, trivial loops, subscripts in 64 bits.
 *
 * One walk in program order with a map from replaced values to their replacements: every use comes later than its
 * definition, so one walk resolves all.
 */
#include "passes/analysis/analysis.h"
#include "passes/simplify/fold.h"
#include "passes/simplify/simplify.h"

#include <math.h>

#include "ir/ops.h"

typedef struct folder {
    ir_func *f;
    ir_map map;
    bool changed;
} folder;

static void fold_region(folder *c, ir_region *r);

static ir_value *resolve(const folder *c, ir_value *v)
{
    for (ir_value *to; v->id < c->map.n && (to = ir_map_get(&c->map, v));)
        v = to;
    return v;
}

static void replace(folder *c, ir_value *v, ir_value *by)
{
    if (v == by)
        return;
    if (v->name && !by->name && by->def && by->def->code != OP_CONST)
        by->name = v->name;
    ir_map_set(&c->map, v, by);
    c->changed = true;
}

static ir_builder before(const folder *c, ir_op *op)
{
    return (ir_builder){.func = c->f, .region = op->region, .before = op, .loc = op->loc, .origin = op->origin};
}

static bool is_op(const ir_value *v, ir_opcode code)
{
    return v->def && v->def->code == code;
}

/* ---- subscripts ---- */

/* The i32 expression v in 64 bits: in a subscript + - * do not wrap (docs/language/types.md). */
static ir_value *widen(ir_builder *b, ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if (op && depth > 0 && v->type == SC_I32) {
        if (op->code == OP_CONST)
            return ir_const_i(b, SC_I64, ir_const_attr(op)->i);
        if (op->code == OP_CAST && op->args[0]->type == SC_I64 && value_fits_i32(op->args[0]))
            return op->args[0];
        if (op->code == OP_ADD || op->code == OP_SUB || op->code == OP_MUL) {
            ir_value *x = widen(b, op->args[0], depth - 1), *y = widen(b, op->args[1], depth - 1);
            return ir_op2(b, op->code, x, y);
        }
        if (op->code == OP_NEG)
            return ir_op1(b, OP_NEG, widen(b, op->args[0], depth - 1));
    }
    return ir_cast(b, SC_I64, v);
}

static void widen_subscript(folder *c, ir_op *op, int i)
{
    ir_value *v = op->args[i];
    if (!is_op(v, OP_CAST) || v->def->args[0]->type != SC_I32)
        return;
    ir_value *x = v->def->args[0];
    if (!x->def ||
        (x->def->code != OP_ADD && x->def->code != OP_SUB && x->def->code != OP_MUL && x->def->code != OP_NEG))
        return;
    ir_builder b = before(c, op);
    op->args[i] = widen(&b, x, 8);
    c->changed = true;
}

static void fold_subscripts(folder *c, ir_op *op)
{
    if (op_memory_of(op->code) == MEMORY_ARRAY) {
        widen_subscript(c, op, 1);
        return;
    }
    for (int i = 0; i <= ir_field_of(op)->ndim; i++)
        widen_subscript(c, op, i);
}

/* ---- structure ---- */

/* Moves r's operations before op and maps op's results to its yield. */
static void splice(folder *c, ir_op *op, ir_region *r)
{
    ir_op *y = ir_yield_of(r);
    while (r->first != y)
        ir_move(r->first, op->region, op);
    for (int i = 0; i < y->nargs; i++)
        replace(c, op->res[i], resolve(c, y->args[i]));
    ir_remove(op);
    c->changed = true;
}

/* Whether a branch may run although it was not chosen: nothing in it has a derivative (an untaken branch must not
 * contribute so much as a NaN), touches memory, or takes long. */
static bool is_harmless(const ir_region *r)
{
    int cost = 0;
    for (const ir_op *op = r->first; op->code != OP_YIELD; op = op->next) {
        if (op_is_launch_constant(op->code))
            continue;
        if (!op_is_pure_table(op->code) || scalar_is_float(op->res[0]->type) || op->code == OP_STOP)
            return false;
        cost += op_get(op->code)->cost;
    }
    return cost <= 8;
}

/* An `if` that only chooses between values becomes selects: what && || and min-like code lower to. */
static bool choose(folder *c, ir_op *op)
{
    if (op->nres == 0 || !is_harmless(op->regions[0]) || !is_harmless(op->regions[1]))
        return false;
    for (int i = 0; i < op->nres; i++)
        if (op->res[i]->type == SC_PTR)
            return false;
    ir_op *then = ir_yield_of(op->regions[0]), *other = ir_yield_of(op->regions[1]);
    for (int r = 0; r < 2; r++)
        while (op->regions[r]->first->code != OP_YIELD)
            ir_move(op->regions[r]->first, op->region, op);
    ir_builder b = before(c, op);
    for (int i = 0; i < op->nres; i++)
        replace(c, op->res[i],
                fold_same(then->args[i], other->args[i])
                    ? then->args[i]
                    : ir_op3(&b, OP_SELECT, op->args[0], then->args[i], other->args[i]));
    ir_remove(op);
    return true;
}

/* v without negations; *negated is turned with each. */
static const ir_value *without_not(const ir_value *v, bool *negated)
{
    for (; is_op(v, OP_NOT); v = v->def->args[0])
        *negated = !*negated;
    return v;
}

/* Which branch runs, if that is certain: in a branch of an `if` of the same condition, or of its opposite, it is. Else
 * -1. */
static int branch_taken(const ir_op *op)
{
    bool negated = false;
    const ir_value *cond = without_not(op->args[0], &negated);
    if (ir_is_const(op->args[0]))
        return ir_int(op->args[0]) ? 0 : 1;
    int levels = 256; /* those of the source; guards behind early returns nest without end */
    for (const ir_region *r = op->region; r->parent && levels-- > 0; r = r->parent->region) {
        bool opposite = negated;
        if (r->parent->code == OP_IF && without_not(r->parent->args[0], &opposite) == cond)
            return (r == r->parent->regions[0]) != opposite ? 0 : 1;
    }
    return -1;
}

static void fold_if(folder *c, ir_op *op)
{
    ir_value *cond = op->args[0];
    fold_region(c, op->regions[0]);
    fold_region(c, op->regions[1]);
    const int taken = branch_taken(op);
    if (taken >= 0) {
        splice(c, op, op->regions[taken]);
        return;
    }
    if (choose(c, op))
        return;
    for (int i = 0; i < op->nres; i++) {
        ir_value *a = ir_yield_of(op->regions[0])->args[i], *b = ir_yield_of(op->regions[1])->args[i];
        if (a == b) {
            replace(c, op->res[i], a);
        } else if (fold_same(a, b)) {
            ir_builder at = before(c, op);
            ir_value *k = scalar_is_float(a->type) ? ir_const_f(&at, a->type, ir_float(a))
                                                   : ir_const_i(&at, a->type, ir_int(a));
            replace(c, op->res[i], k);
        } else if (a->type == SC_BOOL && fold_is_int(a, 1) && fold_is_int(b, 0)) {
            replace(c, op->res[i], cond);
        }
    }
}

/* Carried values that come back unchanged are their initial values. */
/* Carried value k is `param` in the body, `test` in the condition, and `result` behind the loop. */
static void drop_carried(folder *c, ir_op *op, int k, ir_value *param, ir_value *test, ir_value *result)
{
    replace(c, op->regions[0]->params[ir_loop_first_param(op) + k], param);
    replace(c, op->res[k], result);
    if (ir_loop_attr(op)->cond) {
        replace(c, op->regions[1]->params[k], test);
        ir_region_remove_param(op->regions[1], k);
    }
    ir_region_remove_param(op->regions[0], ir_loop_first_param(op) + k);
    ir_remove_arg(ir_yield_of(op->regions[0]), k);
    ir_remove_arg(op, ir_loop_first_init(op) + k);
    ir_remove_result(op, k);
}

/* Two sums of the same terms: p + x and q + x, where p and q began alike. */
static bool are_twins(const folder *c, const ir_op *loop, int i, int k)
{
    const int i0 = ir_loop_first_init(loop), p0 = ir_loop_first_param(loop);
    const ir_region *body = loop->regions[0];
    const ir_value *p = body->params[p0 + i], *q = body->params[p0 + k];
    const ir_op *a = resolve(c, ir_yield_of(body)->args[i])->def, *b = resolve(c, ir_yield_of(body)->args[k])->def;
    if (p->exact != q->exact || !a || !b || a->code != OP_ADD || b->code != OP_ADD)
        return false;
    if (a->region != body || b->region != body)
        return false;
    if (!fold_same(resolve(c, loop->args[i0 + i]), resolve(c, loop->args[i0 + k])))
        return false;
    for (int x = 0; x < 2; x++)
        for (int y = 0; y < 2; y++)
            if (a->args[x] == p && b->args[y] == q && resolve(c, a->args[1 - x]) == resolve(c, b->args[1 - y]))
                return true;
    return false;
}

static void fold_carried(folder *c, ir_op *op)
{
    const int i0 = ir_loop_first_init(op), p0 = ir_loop_first_param(op);
    for (int k = ir_loop_ncarried(op) - 1; k >= 0; k--) {
        ir_value *p = op->regions[0]->params[p0 + k], *init = op->args[i0 + k];
        const ir_value *back = resolve(c, ir_yield_of(op->regions[0])->args[k]);
        if (back == p || back == init) {
            drop_carried(c, op, k, init, init, init);
            continue;
        }
        for (int i = 0; i < k; i++)
            if (are_twins(c, op, i, k)) {
                ir_value *const test = ir_loop_attr(op)->cond ? op->regions[1]->params[i] : NULL;
                drop_carried(c, op, k, op->regions[0]->params[p0 + i], test, op->res[i]);
                break;
            }
    }
}

static bool has_constant_bounds(const ir_op *loop)
{
    return ir_loop_attr(loop)->bounded && ir_is_const(loop->args[0]) && ir_is_const(loop->args[1]);
}

static void drop_loop(folder *c, ir_op *op)
{
    ir_builder b = before(c, op);
    const int i0 = ir_loop_first_init(op), n = ir_loop_ncarried(op);
    for (int k = 0; k < n; k++)
        replace(c, op->res[k], op->args[i0 + k]);
    if (ir_loop_attr(op)->cond)
        replace(c, op->res[n], ir_const_i(&b, SC_I64, 0));
    ir_remove(op);
    c->changed = true;
}

/* A condition that is always true leaves a loop with bounds only, which runs max(hi - lo, 0) times. */
static void drop_condition(folder *c, ir_op *op)
{
    ir_builder b = before(c, op);
    const int n = ir_loop_ncarried(op);
    ir_value *trips = ir_op2(&b, OP_SUB, op->args[1], op->args[0]);
    replace(c, op->res[n], ir_op2(&b, OP_MAX, trips, ir_const_i(&b, SC_I64, 0)));
    ir_remove_result(op, n);
    ir_loop_attr(op)->cond = false;
    op->nregions = 1;
}

static void fold_loop(folder *c, ir_op *op)
{
    fold_carried(c, op);
    const bool known = has_constant_bounds(op);
    if (known && ir_int(op->args[0]) >= ir_int(op->args[1])) {
        drop_loop(c, op);
        return;
    }
    if (ir_loop_attr(op)->cond) {
        fold_region(c, op->regions[1]);
        const ir_value *go_on = ir_yield_of(op->regions[1])->args[0];
        if (fold_is_int(go_on, 0)) {
            drop_loop(c, op);
            return;
        }
        if (fold_is_int(go_on, 1) && ir_loop_attr(op)->bounded)
            drop_condition(c, op);
    }
    if (known && !ir_loop_attr(op)->cond && ir_int(op->args[0]) == ir_int(op->args[1]) - 1) {
        ir_region *body = op->regions[0];
        const int i0 = ir_loop_first_init(op), n = ir_loop_ncarried(op);
        replace(c, body->params[0], op->args[0]);
        for (int k = 0; k < n; k++)
            replace(c, body->params[1 + k], op->args[i0 + k]);
        fold_region(c, body);
        splice(c, op, body);
        return;
    }
    fold_region(c, op->regions[0]);
}

static bool always_holds(const ir_op *op)
{
    const ir_value *a = op->args[0];
    if (ir_text_attr(op)->whose == IR_ASSERT_FINITE)
        return ir_is_const(a) && isfinite(ir_float(a));
    if (ir_text_attr(op)->whose != IR_ASSERT_BOUNDS)
        return fold_is_int(a, 1);
    const ir_value *extent = op->args[1];
    return ir_is_const(a) && ir_is_const(extent) && ir_int(a) >= 0 && ir_int(a) < ir_int(extent);
}

static void fold_op(folder *c, ir_op *op)
{
    for (int i = 0; i < op->nargs; i++)
        op->args[i] = resolve(c, op->args[i]);
    if (op_has_subscripts(op->code)) {
        fold_subscripts(c, op);
        return;
    }
    switch (op->code) {
    case OP_IF:
        fold_if(c, op);
        return;
    case OP_LOOP:
        fold_loop(c, op);
        return;
    case OP_TASK:
        fold_region(c, op->regions[0]);
        return;
    case OP_STK_LOAD:
        if (ir_is_const(
                op->args[0])) { /* what was never saved: this is never run, but by what nobody has found out yet */
            ir_builder b = before(c, op);
            replace(c, op->res[0], ir_zero(&b, op->res[0]->type));
        }
        return;
    case OP_ASSERT:
        if (always_holds(op)) {
            ir_remove(op);
            c->changed = true;
        }
        return;
    default:
        break;
    }
    if (!op_is_pure_table(op->code))
        return;
    ir_builder b = before(c, op);
    b.exact = op->res[0]->exact;
    b.finite = op->res[0]->finite;
    for (int i = 0; i < op->nargs; i++)
        b.exact |= op_decides(op, i);
    ir_value *v = fold_pure(&b, op);
    if (v)
        replace(c, op->res[0], v);
}

static void fold_region(folder *c, ir_region *r)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        fold_op(c, op);
    }
}

bool pass_fold(ir_func *f)
{
    folder c = {f, ir_map_create(f), false};
    fold_region(&c, f->body);
    ir_map_free(&c.map);
    return c.changed;
}
