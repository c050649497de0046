/* Pairs, each of which comes twice.
 *
 *     task (i, j) in [0, N) x [0, N) { accum x[i], v;  accum x[j], -v }      v(j, i) = -v(i, j)      becomes
 *     task (i, j) in [0, N) x [0, N) { accum x[i], v;  accum x[i], v }
 *
 * Over all pairs, v(i, j) added to element j is v(j, i) added to element i. Differences x[i] - x[j] only change their
 * sign, distances and what is made of them do not even do that: what v(j, i) has of these is there already, and the
 * rest, a mass m[j] in the place of m[i], is little. What was a scatter is a sum over a row. Legal because `+=` reads
 * nothing and the order of a sum is unspecified; sums that decide stay as they are.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/target.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"
#include "passes/schedule/schedule.h"

/* What becomes of a value when i and j change places. */
typedef enum parity { UNKNOWN, EVEN, ODD, NEITHER } parity;

enum { MAX_STEPS = 2000 }; /* looks at values, for one accumulation */

/* An index of a task or of a counted loop. */
typedef struct index_of {
    const ir_value *index, *lo, *hi;
    const ir_op *op;
} index_of;

typedef struct exchange {
    ir_func *f;
    index_of outer, inner;
    unsigned char *known; /* parity, by value id */
    effects touched;      /* by the outer loop */
    int steps;
} exchange;

static parity parity_of(exchange *x, const ir_value *v);

static bool is_read_only(const exchange *x, const ir_op *load)
{
    return load->code == OP_LOAD && (x->touched.at[ir_storage_of_op(load)] & (OP_STORES | OP_ADDS)) == 0;
}

/* b is what a is with i and j exchanged. */
static bool are_exchanged(exchange *x, const ir_value *a, const ir_value *b)
{
    if (--x->steps < 0)
        return false;
    if ((a == x->outer.index && b == x->inner.index) || (a == x->inner.index && b == x->outer.index))
        return true;
    if (a == b)
        return parity_of(x, a) == EVEN;
    const ir_op *p = a->def, *q = b->def;
    if (!p || !q || p->code != q->code || a->type != b->type || p->nargs != q->nargs)
        return false;
    if (p->code == OP_LOAD) {
        if (!is_read_only(x, p) || ir_storage_of_op(p) != ir_storage_of_op(q))
            return false;
    } else if (p->code == OP_CONST || !op_is_pure_table(p->code)) {
        return false;
    }
    for (int i = 0; i < p->nargs; i++)
        if (!are_exchanged(x, p->args[i], q->args[i]))
            return false;
    return true;
}

static parity product(parity a, parity b)
{
    return a == NEITHER || b == NEITHER ? NEITHER : a == b ? EVEN : ODD;
}

static bool all_even(exchange *x, const ir_op *op)
{
    for (int i = 0; i < op->nargs; i++)
        if (parity_of(x, op->args[i]) != EVEN)
            return false;
    return true;
}

/* Opposite integers are so modulo a power of 2, which sums and products keep; to these, -d of an unsigned type is a
 * large number, and the smallest number of a signed type is its own opposite.
 */
static bool wants_order(const ir_op *op)
{
    const scalar of = op->args[0]->type;
    return scalar_is_int(of) &&
           (op->code == OP_DIV || op->code == OP_SIGN || (op->code == OP_ABS && !scalar_is_signed(of)));
}

static parity parity_of_function(exchange *x, const ir_op *op)
{
    const parity a = parity_of(x, op->args[0]);
    if (a == ODD && wants_order(op))
        return NEITHER;
    switch (op->code) {
    case OP_NEG:
    case OP_STOP:
    case OP_SIN:
    case OP_TAN:
    case OP_ASIN:
    case OP_ATAN:
    case OP_SINH:
    case OP_TANH:
    case OP_ERF:
    case OP_CBRT:
    case OP_SIGN:
        return a;
    case OP_CAST:
        return a == EVEN || (scalar_is_float(op->args[0]->type) && scalar_is_float(op->res[0]->type)) ? a : NEITHER;
    case OP_ABS:
    case OP_COS:
    case OP_COSH:
    case OP_GAUSS:
    case OP_SECH_SQR:
        return a == ODD ? EVEN : a;
    default:
        return a == EVEN ? EVEN : NEITHER;
    }
}

static parity parity_of_pair(exchange *x, const ir_op *op)
{
    const ir_value *u = op->args[0], *v = op->args[1];
    const parity a = parity_of(x, u), b = parity_of(x, v);
    if (a == EVEN && b == EVEN)
        return EVEN;
    if (wants_order(op))
        return NEITHER;
    switch (op->code) {
    case OP_MUL:
    case OP_DIV:
        if (a != NEITHER && b != NEITHER)
            return product(a, b);
        return op->code == OP_MUL && are_exchanged(x, u, v) ? EVEN : NEITHER;
    case OP_ADD:
    case OP_SUB:
        if (a == b && a != NEITHER)
            return a;
        return !are_exchanged(x, u, v) ? NEITHER : op->code == OP_ADD ? EVEN : ODD;
    case OP_HYPOT:
        if (a != NEITHER && b != NEITHER)
            return EVEN;
        return are_exchanged(x, u, v) ? EVEN : NEITHER;
    case OP_MIN:
    case OP_MAX:
    case OP_EQ:
    case OP_NE:
        return are_exchanged(x, u, v) ? EVEN : NEITHER;
    case OP_POWI:
        if (a != ODD || !ir_is_const(v))
            return NEITHER;
        return ir_int(v) % 2 ? ODD : EVEN;
    default:
        return NEITHER;
    }
}

static bool enclosing(const ir_value *v, index_of *found)
{
    const ir_op *op = v->region->parent;
    if (!op || v->def || v->region != op->regions[0])
        return false;
    if (op->code == OP_TASK) {
        const int d = v->index;
        *found = (index_of){v, op->args[2 * d], op->args[2 * d + 1], op};
        return d < ir_task_attr(op)->ndim;
    }
    if (op->code != OP_LOOP || v->index != 0 || !ir_loop_attr(op)->bounded || ir_loop_attr(op)->cond)
        return false;
    *found = (index_of){v, op->args[0], op->args[1], op};
    return true;
}

static parity compute_parity(exchange *x, const ir_value *v)
{
    index_of other;
    if (v == x->outer.index || v == x->inner.index)
        return NEITHER;
    if (ir_is_visible(v, x->outer.op->region))
        return EVEN;
    const ir_op *op = v->def;
    if (!op) /* the index of a further loop */
        return enclosing(v, &other) && parity_of(x, other.lo) == EVEN && parity_of(x, other.hi) == EVEN ? EVEN
                                                                                                        : NEITHER;
    if (op->code == OP_LOAD)
        return is_read_only(x, op) && all_even(x, op) ? EVEN : NEITHER;
    if (!op_is_pure_table(op->code))
        return op->code == OP_CONST ? EVEN : NEITHER;
    if (op->code == OP_SELECT) {
        const parity a = parity_of(x, op->args[1]);
        return parity_of(x, op->args[0]) == EVEN && a == parity_of(x, op->args[2]) ? a : NEITHER;
    }
    return op->nargs == 1    ? parity_of_function(x, op)
           : op->nargs == 2  ? parity_of_pair(x, op)
           : all_even(x, op) ? EVEN
                             : NEITHER;
}

static parity parity_of(exchange *x, const ir_value *v)
{
    if (x->known[v->id] == UNKNOWN) {
        if (--x->steps < 0)
            return NEITHER;
        x->known[v->id] = NEITHER;
        x->known[v->id] = (unsigned char)compute_parity(x, v);
    }
    return (parity)x->known[v->id];
}

/* ---- v(j, i) ---- */

enum { MAX_COST = 16 }; /* of what v(j, i) does not share with v(i, j) */

static bool can_exchange(exchange *x, const ir_value *v, int *cost)
{
    if (v == x->outer.index || v == x->inner.index || parity_of(x, v) != NEITHER)
        return true;
    const ir_op *op = v->def;
    if (!op || --x->steps < 0 || !(op_is_pure_table(op->code) || is_read_only(x, op)))
        return false;
    *cost += op->code == OP_LOAD ? COST_MEMORY : op_cost(op->code);
    for (int i = 0; i < op->nargs && *cost <= MAX_COST; i++)
        if (!can_exchange(x, op->args[i], cost))
            return false;
    return *cost <= MAX_COST;
}

static ir_value *exchanged(exchange *x, ir_builder *b, const ir_value *v)
{
    if (v == x->outer.index)
        return (ir_value *)x->inner.index;
    if (v == x->inner.index)
        return (ir_value *)x->outer.index;
    const parity p = parity_of(x, v);
    if (p == EVEN)
        return (ir_value *)v;
    if (p == ODD)
        return v->def->code == OP_NEG ? v->def->args[0] : ir_op1(b, OP_NEG, (ir_value *)v);
    ir_map map = ir_map_create(x->f);
    for (int i = 0; i < v->def->nargs; i++)
        ir_map_set(&map, v->def->args[i], exchanged(x, b, v->def->args[i]));
    ir_op *c = ir_clone_op(b, v->def, &map);
    ir_map_free(&map);
    return c->res[0];
}

/* ---- accumulations ---- */

static bool depends_on(const ir_value *v, const ir_value *index, int *steps)
{
    if (v == index || --*steps < 0)
        return true;
    for (int i = 0; v->def && i < v->def->nargs; i++)
        if (depends_on(v->def->args[i], index, steps))
            return true;
    return false;
}

/* Whether a subscript is made of indices by pure operations, so that it can be made of others. What a loop carries is
 * no index: it may be of any of them.
 */
static bool is_made_of_indices(const exchange *x, const ir_value *v, int *steps)
{
    index_of any;
    if (--*steps < 0)
        return false;
    if (!v->def)
        return ir_is_visible(v, x->outer.op->region) || enclosing(v, &any);
    if (v->def->code != OP_CONST && !op_is_pure_table(v->def->code))
        return false;
    for (int i = 0; i < v->def->nargs; i++)
        if (!is_made_of_indices(x, v->def->args[i], steps))
            return false;
    return true;
}

/* The element moves with j and is the same for all i. */
static bool is_at_inner(const exchange *x, const ir_op *accum)
{
    enum { MAX_PARTS = 64 };
    bool inner = false;
    for (int d = 0; d <= ir_field_of(accum)->ndim; d++) {
        int a = MAX_PARTS, b = MAX_PARTS, c = MAX_PARTS;
        if (depends_on(accum->args[d], x->outer.index, &a) || !is_made_of_indices(x, accum->args[d], &b))
            return false;
        inner |= depends_on(accum->args[d], x->inner.index, &c);
    }
    return inner;
}

/* What stands around the accumulation is the same for (i, j) and (j, i). */
static bool stands_evenly(exchange *x, const ir_op *accum)
{
    for (const ir_op *op = accum->region->parent; op != x->outer.op; op = op->region->parent) {
        index_of loop;
        if (op == x->inner.op)
            continue;
        if (op->code == OP_IF ? parity_of(x, op->args[0]) != EVEN
                              : op->code != OP_LOOP || !enclosing(op->regions[0]->params[0], &loop) ||
                                    parity_of(x, loop.lo) != EVEN || parity_of(x, loop.hi) != EVEN)
            return false;
    }
    return true;
}

static void move(exchange *x, ir_op *accum)
{
    ir_builder b = {.func = x->f, .region = accum->region, .before = accum, .loc = accum->loc, .origin = accum->origin};
    ir_map map = ir_map_create(x->f);
    const int n = ir_field_of(accum)->ndim;
    accum->args[n + 1] = exchanged(x, &b, accum->args[n + 1]);
    ir_map_set(&map, x->inner.index, (ir_value *)x->outer.index);
    for (int d = 0; d < n; d++) {
        int steps = MAX_STEPS;
        if (depends_on(accum->args[d], x->inner.index, &steps))
            accum->args[d] = ir_clone_value(&b, accum->args[d], &map);
    }
    ir_map_free(&map);
}

static bool same_bound(const ir_func *f, const ir_value *a, const ir_value *b)
{
    return a == b || same_value(f->module, a, b);
}

static bool try_exchange(ir_func *f, ir_op *accum, const index_of *outer, const index_of *inner)
{
    if (!same_bound(f, outer->lo, inner->lo) || !same_bound(f, outer->hi, inner->hi))
        return false;
    exchange x = {.f = f, .outer = *outer, .inner = *inner, .steps = MAX_STEPS};
    if (!is_at_inner(&x, accum))
        return false;
    x.known = xmalloc(f->next_value + 1);
    memset(x.known, UNKNOWN, f->next_value + 1);
    x.touched = effects_of_op(f->module, outer->op);
    int cost = 0;
    const bool can = x.touched.at[ir_storage_of_op(accum)] == OP_ADDS && stands_evenly(&x, accum) &&
                     can_exchange(&x, accum->args[accum->nargs - 1], &cost);
    if (can)
        move(&x, accum);
    effects_free(&x.touched);
    free(x.known);
    return can;
}

typedef VEC(ir_op *) op_list;

static void collect_accum(ir_op *op, void *ctx)
{
    op_list *accums = ctx;
    if (op->code == OP_ACCUM && !ir_access_attr(op)->exact)
        vec_push(accums, op);
}

/* Indices around op, innermost first. */
static int indices_around(const ir_op *op, index_of *at, int most)
{
    int n = 0;
    for (const ir_op *p = op->region->parent; p; p = p->region->parent) {
        if (p->code != OP_LOOP && p->code != OP_TASK)
            continue;
        for (int d = p->code == OP_TASK ? ir_task_attr(p)->ndim - 1 : 0; d >= 0 && n < most; d--)
            n += enclosing(p->regions[0]->params[d], &at[n]);
    }
    return n;
}

bool pass_symmetry(ir_func *f)
{
    enum { MOST = 16 };
    op_list accums = {0};
    bool changed = false;
    ir_walk(f->body, collect_accum, &accums);
    for (size_t i = 0; i < accums.len; i++) {
        index_of at[MOST];
        const int n = indices_around(accums.at[i], at, MOST);
        bool moved = false;
        for (int inner = 0; inner < n && !moved; inner++)
            for (int outer = inner + 1; outer < n && !moved; outer++)
                moved = try_exchange(f, accums.at[i], &at[outer], &at[inner]);
        changed |= moved;
    }
    vec_free(&accums);
    return changed;
}
