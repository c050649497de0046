/* In each dimension the subscripts of the two accesses are the same multiple of the same index, and something that is
 * the same in all iterations. So their difference says how many iterations apart they meet, and a launch that knows it
 * needs no more than a few comparisons. Or one counts up and the other down: then their sum tells.
 *
 * Of a read and a write, where some dimension is of another kind, or conditions decide, launches refuse what the other
 * dimensions do not keep apart: slabs that are the same one.
 */
#include "passes/rules/at_launch.h"

#include "ir/ops.h"
#include "passes/analysis/values.h"

enum { DIMS = 8 };

typedef struct question {
    ir_module *m;
    ir_op *task;
    ir_builder b; /* in front of the task */
    ir_map map;
    ir_value *meet;   /* whether they do, so far; NULL: nothing said */
    ir_value *differ; /* whether the two iterations are not the same one; NULL: nothing said */
    bool named[DIMS]; /* indices that a subscript has */
} question;

static void also(question *q, ir_value **all, ir_value *v, ir_opcode with)
{
    *all = *all ? ir_op2(&q->b, with, *all, v) : v;
}

/* Whether nothing between the task and the access decides whether an iteration reaches it. */
static bool is_reached(const access *a, const ir_op *task)
{
    bool inside = false;
    for (int i = 0; i < a->way.n; i++) {
        const ir_op *op = a->way.at[i].op;
        int64_t lo, hi;
        const bool runs = op->code == OP_LOOP && ir_loop_attr(op)->bounded && !ir_loop_attr(op)->cond &&
                          const_value_of(op->region->func->module, op->args[0], &lo) &&
                          const_value_of(op->region->func->module, op->args[1], &hi) && lo < hi;
        if (inside && !runs)
            return false;
        inside |= op == task;
    }
    return !a->guarded && !a->repeated;
}

/* The subscript as *coef times index *t, -1: of none, and the rest; false: it has something else of the iteration. */
static bool split(const question *q, const affine *sub, int *t, int64_t *coef, affine *rest)
{
    *t = -1;
    *coef = 0;
    *rest = (affine){.ok = sub->ok, .konst = sub->konst};
    for (int i = 0; i < sub->n && sub->ok; i++) {
        const ir_value *v = sub->term[i];
        if (!v->def && v->region->parent == q->task && v->index < ir_task_attr(q->task)->ndim) {
            if (*t >= 0 || v->index >= DIMS)
                return false;
            *t = v->index;
            *coef = sub->coef[i];
        } else if (value_depends_on(v, q->task) || !ir_can_leave(v, q->task)) {
            return false;
        } else {
            rest->term[rest->n] = v;
            rest->coef[rest->n++] = sub->coef[i];
        }
    }
    return sub->ok;
}

static ir_value *value_of(question *q, const affine *a)
{
    ir_value *sum = ir_const_i(&q->b, SC_I64, a->konst);
    for (int i = 0; i < a->n; i++) {
        ir_value *v = ir_value_before(&q->b, (ir_value *)a->term[i], &q->map);
        v = ir_cast(&q->b, SC_I64, v);
        ir_value *c = ir_const_i(&q->b, SC_I64, a->coef[i]);
        v = ir_op2(&q->b, OP_MUL, v, c);
        sum = ir_op2(&q->b, OP_ADD, sum, v);
    }
    return sum;
}

static ir_value *extent_of(question *q, int t)
{
    return ir_op2(&q->b, OP_SUB, q->task->args[2 * t + 1], q->task->args[2 * t]);
}

/* One dimension: the iterations are `difference / coef` apart in index t. */
static void add_dimension(question *q, int t, int64_t coef, ir_value *difference)
{
    ir_value *zero = ir_const_i(&q->b, SC_I64, 0);
    if (t < 0) {
        also(q, &q->meet, ir_op2(&q->b, OP_EQ, difference, zero), OP_AND);
        return;
    }
    ir_value *c = ir_const_i(&q->b, SC_I64, coef), *left = ir_op2(&q->b, OP_REM, difference, c),
             *differ = ir_op2(&q->b, OP_DIV, difference, c), *back = ir_op1(&q->b, OP_NEG, differ),
             *far = ir_op2(&q->b, OP_MAX, differ, back), *extent = extent_of(q, t);
    also(q, &q->meet, ir_op2(&q->b, OP_EQ, left, zero), OP_AND);
    also(q, &q->meet, ir_op2(&q->b, OP_LT, far, extent), OP_AND);
    also(q, &q->differ, ir_op2(&q->b, OP_NE, differ, zero), OP_OR);
}

/* The one counts up, the other down: they meet where the indices have that sum. */
static void add_reversed(question *q, int t, ir_value *sum)
{
    ir_value *lo = q->task->args[2 * t], *hi = q->task->args[2 * t + 1], *one = ir_const_i(&q->b, SC_I64, 1),
             *last = ir_op2(&q->b, OP_SUB, hi, one), *from_last = ir_op2(&q->b, OP_SUB, sum, last),
             *from_first = ir_op2(&q->b, OP_SUB, sum, lo), *least = ir_op2(&q->b, OP_MAX, lo, from_last),
             *most = ir_op2(&q->b, OP_MIN, last, from_first);
    also(q, &q->meet, ir_op2(&q->b, OP_LE, least, most), OP_AND);
    also(q, &q->differ, ir_op2(&q->b, OP_LT, least, most), OP_OR);
}

static bool is_reversed(int64_t c, int64_t d)
{
    return c + d == 0 && (c == 1 || c == -1);
}

/* What one dimension has. */
typedef struct dimension {
    int t;        /* the index of both, -1: none */
    int64_t c, d; /* its coefficients */
    affine p, r;  /* the rest */
} dimension;

static bool dimension_of(const question *q, const access *a, const access *b, int k, dimension *x)
{
    int t;
    return split(q, &a->sub[k], &x->t, &x->c, &x->p) && split(q, &b->sub[k], &t, &x->d, &x->r) && x->t == t &&
           (x->c == x->d || is_reversed(x->c, x->d));
}

/* Whether all dimensions can be asked, each index in one of them at most. */
static bool is_exact(const question *q, const access *a, const access *b)
{
    bool named[DIMS] = {false};
    for (int k = 0; k < a->nsub; k++) {
        dimension x;
        if (!dimension_of(q, a, b, k, &x) || (x.t >= 0 && named[x.t]))
            return false;
        if (x.t >= 0)
            named[x.t] = true;
    }
    return ir_task_attr(q->task)->ndim <= DIMS && is_reached(a, q->task) && is_reached(b, q->task);
}

/* Whether a dimension without index tells slabs apart. */
static bool has_slabs(const question *q, const access *a, const access *b)
{
    for (int k = 0; k < a->nsub; k++) {
        dimension x;
        if (dimension_of(q, a, b, k, &x) && x.t < 0 && !affine_equal(&x.p, &x.r))
            return true;
    }
    return false;
}

static void refuse_where(question *q, ir_value *race, const char *what)
{
    ir_value *fine = ir_op1(&q->b, OP_NOT, race);
    ir_op *op = ir_insert(&q->b, OP_ASSERT, 1, &fine, 0, NULL, 0);
    *ir_text_attr(op) = (ir_attr_text){what, IR_ASSERT_RACE};
}

bool check_race_at_launch(ir_module *m, const access *a, const access *b, ir_op *task, const char *what)
{
    question q = {.m = m, .task = task};
    const bool exact = a->nsub == b->nsub && is_exact(&q, a, b);
    if (!exact && (a->nsub != b->nsub || a->kind != OP_READS || !has_slabs(&q, a, b)))
        return false;
    q.b = (ir_builder){.func = task->region->func, .region = task->region, .before = task, .loc = b->op->loc};
    q.map = ir_map_create(task->region->func);
    for (int k = 0; k < a->nsub; k++) {
        dimension d;
        if (!dimension_of(&q, a, b, k, &d) || (!exact && d.t >= 0))
            continue;
        if (d.t >= 0)
            q.named[d.t] = true;
        ir_value *x = value_of(&q, &d.p), *y = value_of(&q, &d.r);
        if (is_reversed(d.c, d.d))
            add_reversed(&q, d.t, d.c > 0 ? ir_op2(&q.b, OP_SUB, y, x) : ir_op2(&q.b, OP_SUB, x, y));
        else
            add_dimension(&q, d.t, d.c, ir_op2(&q.b, OP_SUB, x, y));
    }
    for (int t = 0; t < ir_task_attr(task)->ndim; t++) /* any two of an index that no subscript has */
        if (!q.named[t]) {
            ir_value *one = ir_const_i(&q.b, SC_I64, 1);
            also(&q, &q.differ, ir_op2(&q.b, OP_GT, extent_of(&q, t), one), OP_OR);
        }
    refuse_where(
        &q, ir_op2(&q.b, OP_AND, q.meet, q.differ),
        exact ? what
              : arena_printf(m->mem, "%s; write 'independent for' if no two iterations meet all the same", what));
    ir_map_free(&q.map);
    return true;
}
