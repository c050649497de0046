/* Which elements are an iteration's own: the subscripts tell the task's index.
 *
 *     x[i + 1]                         one subscript with the index, the same in all accesses
 *     x[2 * i],  x[2 * i + 1]          multiples of one number apart from each other's
 *     x[i],  x[i + n],  i below n      further apart than the range is long
 *     A[i * M + j],  j below M         a row of a matrix that the program lays out itself, and its columns
 *     x[order[i]]                      elements of a field that is declared distinct, where its subscripts tell
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"

/* MAX_SUBSCRIPTS: that are compared in pairs. MAX_DEPTH: of products of sums. MAX_STRIDE: of an index, so that the
 * product does not wrap. MAX_LOADS: of elements that are subscripts of elements. Beyond them the element counts as
 * anybody's. */
enum { MAX_SUBSCRIPTS = 64, MAX_DEPTH = 8, MAX_STRIDE = 1 << 30, MAX_LOADS = 4 };

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
    const ir_value *at[MAX_SUBSCRIPTS];
    int n;
} values;

static bool collect_values(values *v, ir_op *const *ops, size_t n, int d)
{
    v->n = 0;
    for (size_t i = 0; i < n; i++) {
        bool seen = false;
        for (int k = v->n - 1; k >= 0 && !seen; k--)
            seen = v->at[k] == ops[i]->args[d];
        if (!seen && v->n == MAX_SUBSCRIPTS)
            return false;
        if (!seen)
            v->at[v->n++] = ops[i]->args[d];
    }
    return true;
}

static bool are_apart(const ir_module *m, const ir_op *task, int t, const values *v)
{
    const ir_value *iv = task->regions[0]->params[t];
    affine a[MAX_SUBSCRIPTS];
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

/* Of an index of a task or loop; NULL: v is none. */
static ir_value *const *bounds_of(const ir_value *v)
{
    const affine a = affine_of(v);
    if (!a.ok || a.n != 1 || a.coef[0] != 1 || a.konst != 0 || a.term[0]->def)
        return NULL;
    const ir_op *around = a.term[0]->region->parent;
    if (around && around->code == OP_TASK)
        return a.term[0]->index < ir_task_attr(around)->ndim ? around->args + 2 * a.term[0]->index : NULL;
    const bool index = around && around->code == OP_LOOP && ir_loop_attr(around)->bounded && a.term[0]->index == 0 &&
                       a.term[0]->region == around->regions[0];
    return index ? around->args : NULL;
}

static bool is_below(const ir_module *m, const ir_value *y, const ir_value *most)
{
    int64_t k, limit, low;
    const bool constant = const_value_of(m, most, &limit);
    if (const_value_of(m, y, &k))
        return constant && k >= 0 && k < limit;
    ir_value *const *bounds = bounds_of(y);
    if (!bounds || !const_value_of(m, bounds[0], &low) || low < 0)
        return false;
    return same_value(m, bounds[1], most) || (constant && const_value_of(m, bounds[1], &k) && k <= limit);
}

affine affine_extreme(const ir_op *op, affine a, int sign)
{
    for (int depth = 0; a.ok && depth < MAX_DEPTH && !affine_is_invariant(&a, op); depth++) {
        int k = 0;
        while (ir_is_visible(a.term[k], op->region) || !value_depends_on(a.term[k], op))
            k++;
        ir_value *const *bounds = bounds_of(a.term[k]);
        const int64_t coef = a.coef[k];
        const bool top = (coef > 0) == (sign > 0);
        const affine index = affine_of(a.term[k]), bound = bounds ? affine_of(bounds[top]) : (affine){.ok = false};
        a = affine_plus(&a, &index, -coef);
        a = affine_plus(&a, &bound, coef);
        a.konst -= top ? coef : 0;
    }
    a.ok = a.ok && affine_is_invariant(&a, op);
    return a;
}

static bool is_beyond(const ir_op *op, const ir_value *a, const ir_value *b)
{
    const affine least = affine_extreme(op, affine_of(a), -1), most = affine_extreme(op, affine_of(b), 1);
    int64_t distance;
    return least.ok && most.ok && affine_distance(op->region->func->module, &least, &most, &distance) && distance > 0;
}

bool stay_apart(const ir_op *op, const ir_op *a, const ir_op *b)
{
    for (int d = 0; d < ir_field_of(a)->ndim; d++)
        if (is_beyond(op, a->args[d], b->args[d]) || is_beyond(op, b->args[d], a->args[d]))
            return true;
    return false;
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
            if (!value_depends_on(*m, task) && is_below(mod, *y, *m))
                return true;
        }
    }
    return false;
}

/* ---- elements of distinct fields ---- */

/* Who asks, and what the answer relies on. */
typedef struct question {
    const ir_module *m;
    const ir_op *task;
    int t;
    bool *relies; /* by field index: those whose elements must differ; NULL: that is not known of any */
} question;

static bool tell(const question *q, const values *v, int depth, int loads);

/* Whether what op does to its operand k gives different results for different ones, where its other operand, if it has
 * one, is `other`, or a constant like it. Sums and differences may wrap. */
static bool is_one_to_one(const ir_op *op, int k, const ir_value *other)
{
    const scalar type = op->res[0]->type, from = op->args[k]->type;
    if (op->code == OP_CAST)
        return scalar_is_int(from) && scalar_bytes(from) <= scalar_bytes(type);
    if (op->code == OP_NEG)
        return true;
    const ir_value *its = op->args[1 - k];
    if (its != other && !(ir_is_const(its) && ir_is_const(other) && ir_int(its) == ir_int(other)))
        return false;
    if (op->code != OP_MUL)
        return true;
    return type == SC_I64 && value_fits_i32(op->args[k]) && ir_is_const(its) && value_fits_i32(its) && ir_int(its) != 0;
}

/* Takes the same one-to-one operation off all values, so that they are equal where they were; false: there is none. */
static bool take_off(const question *q, values *v, int k)
{
    const ir_op *op = v->at[0]->def;
    const bool unary = op->code == OP_CAST || op->code == OP_NEG;
    const ir_value *other = unary ? NULL : op->args[1 - k];
    values inner = {.n = v->n};
    if (other && value_depends_on(other, q->task))
        return false;
    for (int i = 0; i < v->n; i++) {
        const ir_op *its = v->at[i]->def;
        if (!its || its->code != op->code || v->at[i]->type != v->at[0]->type)
            return false;
        const bool swapped = op->code != OP_SUB && !unary && !is_one_to_one(its, k, other);
        const int at = swapped ? 1 - k : k;
        if (!is_one_to_one(its, at, other) || (i && its->args[at]->type != inner.at[0]->type))
            return false;
        inner.at[i] = its->args[at];
    }
    *v = inner;
    return true;
}

static bool take_one_off(const question *q, values *v)
{
    const ir_op *op = v->at[0]->def;
    if (!op || !scalar_is_int(v->at[0]->type))
        return false;
    switch (op->code) {
    case OP_CAST:
    case OP_NEG:
        return take_off(q, v, 0);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        return take_off(q, v, 0) || take_off(q, v, 1);
    default:
        return false;
    }
}

/* Of one distinct field; NULL: the values are something else. No kernel writes to it, so an element is the same number
 * whenever it is read. */
static const ir_field *distinct_field(const values *v)
{
    const ir_field *f = NULL;
    for (int i = 0; i < v->n; i++) {
        const ir_op *op = v->at[i]->def;
        if (!op || op->code != OP_LOAD || !ir_field_of(op)->distinct || (f && ir_field_of(op) != f))
            return NULL;
        f = ir_field_of(op);
    }
    return f;
}

/* Values that follow from elements of a distinct field, each from another one, where the subscripts of these tell. */
static bool elements_tell(const question *q, values v, int loads)
{
    while (take_one_off(q, &v))
        ;
    const ir_field *f = loads > 0 ? distinct_field(&v) : NULL;
    for (int d = 0; f && d < f->ndim; d++) {
        values sub = {.n = v.n};
        for (int i = 0; i < v.n; i++)
            sub.at[i] = v.at[i]->def->args[d];
        if (tell(q, &sub, MAX_DEPTH, loads - 1)) {
            q->relies[f->index] = true;
            return true;
        }
    }
    return false;
}

/* Whether values of which each is the same in two iterations tell index t of the task. */
static bool tell(const question *q, const values *v, int depth, int loads)
{
    values x = {.n = v->n}, y = {.n = v->n};
    const ir_value *most = NULL, *m;
    if (are_apart(q->m, q->task, q->t, v) || (q->relies && elements_tell(q, *v, loads)))
        return true;
    bool small = true;
    for (int i = 0; i < v->n; i++) {
        if (depth == 0 || !split(q->m, q->task, v->at[i], &x.at[i], &m, &y.at[i]) ||
            (most && !same_value(q->m, m, most)))
            return false;
        small = small && value_fits_i32(x.at[i]) && value_fits_i32(m);
        most = m;
    }
    /* An index takes steps, and a product of it that wraps has been outside of the field before. An element may be any
     * number, so its product must not wrap. */
    return tell(q, &x, depth - 1, small ? loads : 0) || tell(q, &y, depth - 1, loads);
}

bool subscript_is_injective(const ir_op *task, ir_op *const *ops, size_t n, int t, bool *relies)
{
    const question q = {task->regions[0]->func->module, task, t, relies};
    values v;
    for (int d = 0; d < ir_field_of(ops[0])->ndim; d++)
        if (collect_values(&v, ops, n, d) && tell(&q, &v, MAX_DEPTH, MAX_LOADS))
            return true;
    return false;
}
