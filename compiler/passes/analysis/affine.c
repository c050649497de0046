/* Subscripts as sums of multiples of opaque values. */
#include <stdlib.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"

/* Sums of shared subexpressions (x = x + x, again and again) must not cost 2^depth: past this many steps a value is
 * opaque, which is always right. */
enum { BUDGET = 100 };

typedef struct gathering {
    affine a;
    int budget;
} gathering;

/* Coefficients wrap like the i64 arithmetic that they stand for. */
static int64_t add(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x + (uint64_t)y);
}

static int64_t mul(int64_t x, int64_t y)
{
    return (int64_t)((uint64_t)x * (uint64_t)y);
}

/* Once there were too many terms they stay: what is left of them would look like another form. */
static void add_term(affine *a, const ir_value *v, int64_t coef)
{
    if (!a->ok)
        return;
    for (int i = 0; i < a->n; i++) {
        if (a->term[i] != v)
            continue;
        a->coef[i] = add(a->coef[i], coef);
        if (a->coef[i] == 0) {
            a->n--;
            a->term[i] = a->term[a->n];
            a->coef[i] = a->coef[a->n];
        }
        return;
    }
    if (coef == 0)
        return;
    if (a->n == AFFINE_TERMS) {
        a->ok = false;
        return;
    }
    a->term[a->n] = v;
    a->coef[a->n++] = coef;
}

/* Sums and differences of less than this leave a value in the range of its type, as far as fields reach. */
enum { MARGIN = 65536 };

static bool fits(const ir_value *v, int depth);

static bool is_margin(const ir_value *v)
{
    return ir_is_const(v) && llabs(ir_int(v)) < MARGIN;
}

static const ir_value *without_margin(const ir_value *v)
{
    const ir_op *op = v->def;
    return op && (op->code == OP_ADD || op->code == OP_SUB) && is_margin(op->args[1]) ? op->args[0] : v;
}

/* The bounds of a loop or task that counts in v; NULL: v is no such counter. */
static ir_value *const *bounds_of_counter(const ir_value *v)
{
    const ir_op *p = v->def ? NULL : v->region->parent;
    if (!p || (p->code != OP_TASK && p->code != OP_LOOP))
        return NULL;
    if (p->code == OP_LOOP && (!ir_loop_attr(p)->bounded || v->index != 0))
        return NULL;
    int dim = p->code == OP_LOOP ? 0 : v->index;
    if (p->code == OP_TASK && dim >= ir_task_attr(p)->ndim) /* end of a row segment */
        dim = ir_task_attr(p)->ndim - 1;
    return p->args + 2 * dim;
}

/* first + step * k over as many constant trips; first NULL: 0. */
static bool last_fits(const ir_value *first, int64_t step, int64_t trips, int depth)
{
    int64_t way, last;
    if (trips <= 0)
        return true;
    if (__builtin_mul_overflow(step, trips - 1, &way))
        return false;
    if (first && !ir_is_const(first))
        return way > -MARGIN && way < MARGIN && fits(first, depth);
    return !__builtin_add_overflow(first ? ir_int(first) : 0, way, &last) && last >= INT32_MIN && last <= INT32_MAX &&
           (!first || fits(first, depth));
}

/* Whether the index first + step * k of range(first, end, step) fits, k below (|end - first| + |step| - 1) / |step|. */
static bool stepped_fits(const ir_value *first, const ir_value *k, int64_t step, int depth)
{
    ir_value *const *bounds = bounds_of_counter(k);
    if (!bounds || !ir_is_const(bounds[0]) || ir_int(bounds[0]) < 0 || step == INT64_MIN)
        return false;
    if (ir_is_const(bounds[1]))
        return last_fits(first, step, ir_int(bounds[1]), depth);
    const ir_value *distance = bounds[1];
    if (step != 1 && step != -1) {
        const ir_op *quotient = distance->def;
        if (!quotient || quotient->code != OP_DIV || !ir_is_const(quotient->args[1]) ||
            ir_int(quotient->args[1]) != llabs(step))
            return false;
        distance = quotient->args[0];
    }
    distance = without_margin(distance);
    const ir_op *op = distance->def;
    if (op && op->code == OP_SUB && op->args[step > 0 ? 1 : 0] == first)
        return fits(op->args[0], depth) && fits(op->args[1], depth);
    if (step > 0)
        return (!first || is_margin(first)) && fits(distance, depth);
    return first && without_margin(first) == distance && fits(first, depth);
}

/* Whether v is a counter times a constant. */
static bool is_multiple_of_counter(const ir_value *v, const ir_value **k, int64_t *step)
{
    const ir_op *op = v->def;
    const bool product = op && op->code == OP_MUL && ir_is_const(op->args[1]);
    *k = product ? op->args[0] : v;
    *step = product ? ir_int(op->args[1]) : 1;
    return bounds_of_counter(*k) != NULL;
}

static bool sum_fits(const ir_op *op, int depth)
{
    const ir_value *k;
    int64_t step;
    if (is_margin(op->args[1])) /* an extent or bound less or plus a margin */
        return fits(op->args[0], depth);
    for (int i = op->code == OP_ADD ? 0 : 1; i < 2; i++)
        if (is_multiple_of_counter(op->args[i], &k, &step) && step != INT64_MIN &&
            stepped_fits(op->args[1 - i], k, op->code == OP_ADD ? step : -step, depth))
            return true;
    return false;
}

/* depth: bounds that depend on outer indices branch twice a loop */
static bool fits(const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if (depth == 0)
        return false;
    if (v->type != SC_I64)
        return v->type == SC_I32 || scalar_bytes(v->type) < 4;
    if (!op) {
        ir_value *const *bounds = bounds_of_counter(v);
        return bounds && fits(bounds[0], depth - 1) && fits(bounds[1], depth - 1);
    }
    switch (op->code) {
    case OP_CONST:
        return ir_const_attr(op)->i >= INT32_MIN && ir_const_attr(op)->i <= INT32_MAX;
    case OP_SHAPE: /* the language gives such an index type i32: a field that large cannot be walked with it */
        return true;
    case OP_CAST: {
        scalar from = op->args[0]->type;
        return from == SC_BOOL || (scalar_is_int(from) && (scalar_bytes(from) < 4 || from == SC_I32));
    }
    case OP_MIN:
    case OP_MAX:
        return fits(op->args[0], depth - 1) && fits(op->args[1], depth - 1);
    case OP_SELECT:
        return fits(op->args[1], depth - 1) && fits(op->args[2], depth - 1);
    case OP_MUL: {
        const ir_value *k;
        int64_t step;
        return is_multiple_of_counter(v, &k, &step) && stepped_fits(NULL, k, step, depth - 1);
    }
    case OP_ADD:
    case OP_SUB:
        return sum_fits(op, depth - 1);
    default:
        return false;
    }
}

bool value_fits_i32(const ir_value *v)
{
    return fits(v, 10);
}

ir_value *count_times(ir_builder *b, ir_value *count, int64_t n)
{
    if (!value_fits_i32(count))
        count = ir_op2(b, OP_MIN, count, ir_const_i(b, SC_I64, INT64_MAX / n));
    return ir_op2(b, OP_MUL, count, ir_const_i(b, SC_I64, n));
}

/* An i32 sum or product seen in 64 bits. It may have wrapped, but a subscript that moves in steps and wraps passes
 * through negative values first, and a negative subscript is outside of every field; so where the program is right,
 * both are the same. */
static bool is_i32_arithmetic(const ir_op *op)
{
    switch (op->code) {
    case OP_CONST:
    case OP_ADD:
    case OP_SUB:
    case OP_NEG:
        return true;
    case OP_MUL:
        return ir_is_const(op->args[0]) || ir_is_const(op->args[1]);
    case OP_CAST:
        return op->args[0]->type == SC_I64 && value_fits_i32(op->args[0]);
    default:
        return false;
    }
}

/* Adds scale * v. */
static void gather(gathering *g, const ir_value *v, int64_t scale)
{
    const ir_op *op = v->def;
    affine *a = &g->a;
    if (!op || !a->ok || --g->budget < 0 || (v->type != SC_I64 && v->type != SC_I32)) {
        add_term(a, v, scale);
        return;
    }
    switch (op->code) {
    case OP_CONST:
        a->konst = add(a->konst, mul(scale, ir_const_attr(op)->i));
        return;
    case OP_ADD:
    case OP_SUB:
        gather(g, op->args[0], scale);
        gather(g, op->args[1], op->code == OP_ADD ? scale : mul(scale, -1));
        return;
    case OP_NEG:
        gather(g, op->args[0], mul(scale, -1));
        return;
    case OP_MUL:
        for (int i = 0; i < 2; i++)
            if (ir_is_const(op->args[i])) {
                gather(g, op->args[1 - i], mul(scale, ir_int(op->args[i])));
                return;
            }
        break;
    case OP_CAST: {
        const ir_value *x = op->args[0];
        if (v->type == SC_I64 && x->type == SC_I32 && x->def && is_i32_arithmetic(x->def)) {
            gather(g, x, scale);
            return;
        }
        if (v->type == SC_I64 && x->type == SC_I32) { /* one opaque value, however often it is widened */
            add_term(a, x, scale);
            return;
        }
        if (v->type == SC_I32 && x->type == SC_I64 && value_fits_i32(x)) {
            gather(g, x, scale);
            return;
        }
        break;
    }
    default:
        break;
    }
    add_term(a, v, scale);
}

affine affine_of(const ir_value *v)
{
    gathering g = {.a = {.ok = true}, .budget = BUDGET};
    gather(&g, v, 1);
    return g.a;
}

bool affine_equal(const affine *a, const affine *b)
{
    affine d = affine_sub(a, b);
    return d.ok && d.n == 0 && d.konst == 0;
}

affine affine_plus(const affine *a, const affine *b, int64_t scale)
{
    affine d = *a;
    d.ok = a->ok && b->ok;
    for (int i = 0; i < b->n && d.ok; i++)
        add_term(&d, b->term[i], mul(b->coef[i], scale));
    d.konst = add(d.konst, mul(b->konst, scale));
    return d;
}

affine affine_sub(const affine *a, const affine *b)
{
    return affine_plus(a, b, -1);
}

affine affine_in_call(const affine *a, const ir_op *call)
{
    gathering g = {.a = {.ok = a->ok, .konst = a->konst}, .budget = BUDGET};
    for (int i = 0; i < a->n && g.a.ok; i++) {
        const ir_value *v = a->term[i];
        if (v->def || v->region->parent)
            g.a.ok = false;
        else
            gather(&g, call->args[v->index], a->coef[i]);
    }
    return g.a;
}

bool varies_with_index(const ir_op *loop, const affine *a)
{
    bool found = false;
    for (int k = 0; k < a->n; k++) {
        if (a->term[k] == loop->regions[0]->params[0])
            found = a->coef[k] != 0;
        else if (!ir_is_visible(a->term[k], loop->region))
            return false;
    }
    return a->ok && found;
}

bool affine_is_invariant(const affine *a, const ir_op *op)
{
    for (int k = 0; k < a->n; k++)
        if (!ir_is_visible(a->term[k], op->region) && value_depends_on(a->term[k], op))
            return false;
    return a->ok;
}

/* Never 0, however the arithmetic wraps: a constant, or a constant that has fewer factors of 2 than all coefficients
 * (2 * t - 1). */
static bool is_never_zero(const affine *a)
{
    const uint64_t low = (uint64_t)a->konst & -(uint64_t)a->konst; /* that power of 2; beyond 32 bits it may be lost */
    if (!a->ok || a->konst == 0 || (a->n && low > UINT32_MAX))
        return false;
    for (int i = 0; i < a->n; i++)
        if ((uint64_t)a->coef[i] & (2 * low - 1))
            return false;
    return true;
}

bool elements_never_meet(const ir_op *op, const ir_op *a, const ir_op *b)
{
    for (int d = 0; d < ir_field_of(a)->ndim; d++) {
        if (a->args[d] == b->args[d])
            continue;
        affine x = affine_of(a->args[d]), y = affine_of(b->args[d]);
        if (!affine_is_invariant(&x, op) || !affine_is_invariant(&y, op))
            continue;
        affine difference = affine_sub(&x, &y);
        if (is_never_zero(&difference))
            return true;
    }
    return false;
}

bool never_meet(const ir_op *op, const ir_op *a, const ir_op *b)
{
    const ir_value *p = a->args[ir_field_of(a)->ndim], *q = b->args[ir_field_of(b)->ndim];
    return (ir_is_const(p) && ir_is_const(q) && ir_int(p) != ir_int(q)) || elements_never_meet(op, a, b);
}

/* Subscripts of one iteration that differ for certain. */
static bool differ(const ir_value *a, const ir_value *b)
{
    if (a == b)
        return false;
    if (ir_is_const(a) && ir_is_const(b))
        return ir_int(a) != ir_int(b);
    const affine x = affine_of(a), y = affine_of(b), difference = affine_sub(&x, &y);
    return is_never_zero(&difference);
}

bool meet_in_iteration(const ir_op *a, const ir_op *b)
{
    if (ir_field_of(a) != ir_field_of(b) || ir_access_attr(a)->plane != ir_access_attr(b)->plane)
        return false;
    for (int d = ir_field_of(a)->ndim; d >= 0; d--) /* components first, which are constants mostly */
        if (differ(a->args[d], b->args[d]))
            return false;
    return true;
}

int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    return llabs(a);
}
