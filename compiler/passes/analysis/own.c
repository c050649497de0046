/* Which elements are an iteration's own: the subscripts tell the task's index.
 *
 *     x[i + 1]                         one subscript with the index, the same in all accesses
 *     x[2 * i],  x[2 * i + 1]          multiples of one number apart from each other's
 *     x[i],  x[i + n],  i below n      further apart than the range is long
 *     A[i * M + j],  j below M         a row of a matrix that the program lays out itself, and its columns
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"

/* MAX_DISTINCT: subscripts that are compared in pairs. MAX_DEPTH: of products of sums. MAX_STRIDE: of an index, so that
 * the product does not wrap. Beyond them the element counts as anybody's. */
enum { MAX_DISTINCT = 64, MAX_DEPTH = 8, MAX_STRIDE = 1 << 30 };

/* ---- how far apart ---- */

/* Extents as what they were made of. */
static affine resolved(const ir_module *m, const affine *a)
{
    const affine none = {.ok = true};
    affine sum = none;
    sum.konst = a->konst;
    sum.ok = a->ok;
    for (int i = 0; i < a->n; i++) {
        const ir_value *v = resolved_value(m, a->term[i]);
        const affine term = affine_of(v);
        sum = affine_plus(&sum, &term, a->coef[i]);
    }
    return sum;
}

bool affine_distance(const ir_module *m, const affine *a, const affine *b, int64_t *distance)
{
    const affine x = resolved(m, a), y = resolved(m, b);
    affine d = affine_sub(&x, &y);
    if (!d.ok)
        return false;
    for (int i = 0; i < d.n; i++)
        for (int j = i + 1; j < d.n && d.coef[i] != 0; j++)
            if (d.coef[i] + d.coef[j] == 0 && same_value(m, d.term[i], d.term[j]))
                d.coef[i] = d.coef[j] = 0;
    for (int i = 0; i < d.n; i++)
        if (d.coef[i] != 0)
            return false;
    *distance = d.konst;
    return true;
}

/* ---- subscripts with the index ---- */

/* A subscript as *coef times index `iv` of the task plus something that is the same in all iterations. */
static bool is_multiple(const ir_op *task, const affine *a, const ir_value *iv, int64_t *coef)
{
    *coef = 0;
    for (int k = 0; k < a->n; k++) {
        if (a->term[k] == iv)
            *coef = a->coef[k];
        else if (value_depends_on(a->term[k], task))
            return false;
    }
    return a->ok && *coef != 0 && *coef <= MAX_STRIDE && *coef >= -MAX_STRIDE;
}

bool strides_differ(const affine *a, const affine *b, int64_t coef)
{
    const affine d = affine_sub(a, b);
    return coef != 1 && coef != -1 && d.ok && d.n == 0 && d.konst % coef != 0;
}

/* a and b, which both have the index once, are further apart than its range is long. */
static bool ranges_differ(const ir_module *m, const ir_op *task, int t, const affine *a, const affine *b)
{
    const affine lo = affine_of(task->args[2 * t]), hi = affine_of(task->args[2 * t + 1]);
    const affine length = affine_sub(&hi, &lo), ab = affine_sub(a, b), ba = affine_sub(b, a);
    int64_t beyond;
    return (affine_distance(m, &ab, &length, &beyond) && beyond >= 0) ||
           (affine_distance(m, &ba, &length, &beyond) && beyond >= 0);
}

/* The subscripts of dimension d that are not the same value as one before; false: too many. */
typedef struct values {
    const ir_value *at[MAX_DISTINCT];
    int n;
} values;

static bool collect(values *v, ir_op *const *ops, size_t n, int d)
{
    v->n = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        for (int k = v->n - 1; k >= 0 && !seen; k--)
            seen = v->at[k] == ops[i]->args[d];
        if (!seen && v->n == MAX_DISTINCT)
            return false;
        if (!seen)
            v->at[v->n++] = ops[i]->args[d];
    }
    return true;
}

static bool are_apart(const ir_module *m, const ir_op *task, int t, const values *v)
{
    const ir_value *iv = task->regions[0]->params[t];
    affine a[MAX_DISTINCT];
    int64_t coef = 0, c;
    for (int i = 0; i < v->n; i++) {
        a[i] = affine_of(v->at[i]);
        if (!is_multiple(task, &a[i], iv, &c) || (i && c != coef))
            return false;
        coef = c;
    }
    for (int i = 0; i < v->n; i++)
        for (int k = 0; k < i; k++)
            if (!affine_equal(&a[i], &a[k]) && !strides_differ(&a[i], &a[k], coef) &&
                !(coef == 1 && ranges_differ(m, task, t, &a[i], &a[k])))
                return false;
    return true;
}

/* ---- x * m + y with 0 <= y < m: both are told ---- */

/* Of an index of the task or of a loop in it; NULL: v is none. */
static ir_value *const *bounds_of(const ir_op *task, const ir_value *v)
{
    const affine a = affine_of(v);
    if (!a.ok || a.n != 1 || a.coef[0] != 1 || a.konst != 0 || a.term[0]->def)
        return NULL;
    const ir_op *around = a.term[0]->region->parent;
    if (around == task)
        return a.term[0]->index < ir_task_attr(task)->ndim ? task->args + 2 * a.term[0]->index : NULL;
    const bool index = around && around->code == OP_LOOP && ir_loop_attr(around)->bounded && a.term[0]->index == 0 &&
                       a.term[0]->region == around->regions[0];
    return index ? around->args : NULL;
}

static bool is_below(const ir_module *m, const ir_op *task, const ir_value *y, const ir_value *most)
{
    int64_t k, limit, low;
    const bool constant = const_value_of(m, most, &limit);
    if (const_value_of(m, y, &k))
        return constant && k >= 0 && k < limit;
    ir_value *const *bounds = bounds_of(task, y);
    if (!bounds || !const_value_of(m, bounds[0], &low) || low < 0)
        return false;
    return same_value(m, bounds[1], most) || (constant && const_value_of(m, bounds[1], &k) && k <= limit);
}

/* v as *x * *m + *y; y NULL: 0. */
static bool split(const ir_module *mod, const ir_op *task, const ir_value *v, const ir_value **x, const ir_value **m,
                  const ir_value **y)
{
    const ir_op *op = v->def;
    for (int k = 0; k < 2 && op && op->code == OP_ADD && v->type == SC_I64; k++) { /* others wrap */
        const ir_op *product = op->args[k]->def;
        for (int i = 0; i < 2 && product && product->code == OP_MUL; i++) {
            *x = product->args[1 - i];
            *m = product->args[i];
            *y = op->args[1 - k];
            if (!value_depends_on(*m, task) && is_below(mod, task, *y, *m))
                return true;
        }
    }
    return false;
}

/* Whether values of which each is the same in two iterations tell index t of the task. */
static bool tell(const ir_module *mod, const ir_op *task, int t, const values *v, int depth)
{
    values x = {.n = v->n}, y = {.n = v->n};
    const ir_value *most = NULL, *m;
    if (are_apart(mod, task, t, v))
        return true;
    for (int i = 0; i < v->n; i++) {
        if (depth == 0 || !split(mod, task, v->at[i], &x.at[i], &m, &y.at[i]) || (most && !same_value(mod, m, most)))
            return false;
        most = m;
    }
    return tell(mod, task, t, &x, depth - 1) || tell(mod, task, t, &y, depth - 1);
}

bool owns_index(const ir_op *task, ir_op *const *ops, size_t n, int t)
{
    values v;
    for (int d = 0; d < ir_field_of(ops[0])->ndim; d++)
        if (collect(&v, ops, n, d) && tell(task->regions[0]->func->module, task, t, &v, MAX_DEPTH))
            return true;
    return false;
}
