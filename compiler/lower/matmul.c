/* Matrix products: written out while small, else a loop nest. */
#include <assert.h>

#include "lower/lower_impl.h"

/* Products up to this many multiplications are written out (4x4 by 4x4). */
enum { UNROLL_MAX = 64 };

/* The product as rows x inner times inner x cols; a vector on the left is a row, on the right a column. */
typedef struct shape {
    int rows, inner, cols;
} shape;

static shape product_shape(const ty *a, const ty *b)
{
    shape s = {a->kind == TY_VEC ? 1 : a->rows, a->kind == TY_VEC ? a->rows : a->cols, b->kind == TY_VEC ? 1 : b->cols};
    assert(b->rows == s.inner);
    return s;
}

static agg product_unrolled(lower *l, shape s, const agg *a, const agg *b)
{
    ir_value *x[UNROLL_MAX], *y[UNROLL_MAX];
    agg r = agg_scalars(l, a->elem, s.rows * s.cols);
    const bool square = s.rows == s.inner && s.inner == s.cols && scalar_is_float(a->elem) && a->at && b->at;
    if (square && lower_spectral(l, a, b, &r))
        return r;
    for (int k = 0; k < a->n; k++)
        x[k] = agg_get(l, a, k);
    for (int k = 0; k < b->n; k++)
        y[k] = agg_get(l, b, k);
    for (int i = 0; i < s.rows; i++) {
        for (int j = 0; j < s.cols; j++) {
            ir_value *sum = NULL;
            for (int k = 0; k < s.inner; k++) {
                ir_value *p = ir_op2(&l->b, OP_MUL, x[i * s.inner + k], y[k * s.cols + j]);
                sum = sum ? ir_op2(&l->b, OP_ADD, sum, p) : p;
            }
            r.at[i * s.cols + j] = sum;
        }
    }
    if (square)
        note_product(l, a, b, &r);
    return r;
}

static ir_value *flat_index(lower *l, ir_value *row, int width, ir_value *col)
{
    return ir_op2(&l->b, OP_ADD, ir_op2(&l->b, OP_MUL, row, const_i64(l, width)), col);
}

static agg product_looped(lower *l, shape s, const agg *a, const agg *b)
{
    agg x = agg_to_memory(l, *a), y = agg_to_memory(l, *b);
    agg r = agg_memory(l, a->elem, s.rows * s.cols, NULL);
    comp_loop i = comp_loop_open(l, s.rows, "i", NULL);
    comp_loop j = comp_loop_open(l, s.cols, "j", NULL);
    comp_loop k = comp_loop_open(l, s.inner, "k", ir_zero(&l->b, a->elem));
    ir_value *a_ik = ir_lload(&l->b, x.mem, flat_index(l, i.k, s.inner, k.k));
    ir_value *b_kj = ir_lload(&l->b, y.mem, flat_index(l, k.k, s.cols, j.k));
    ir_value *sum = ir_op2(&l->b, OP_ADD, k.loop->regions[0]->params[1], ir_op2(&l->b, OP_MUL, a_ik, b_kj));
    sum = comp_loop_close(l, &k, sum);
    ir_lstore(&l->b, r.mem, flat_index(l, i.k, s.cols, j.k), sum);
    comp_loop_close(l, &j, NULL);
    comp_loop_close(l, &i, NULL);
    return r;
}

agg lower_matmul(lower *l, const tx_expr *e)
{
    shape s = product_shape(e->a->type, e->b->type);
    agg a = lower_expr(l, e->a), b = lower_expr(l, e->b);
    l->b.loc = e->loc;
    if (s.rows * s.cols <= SPLIT_MAX && s.rows * s.inner * s.cols <= UNROLL_MAX)
        return product_unrolled(l, s, &a, &b);
    agg r = product_looped(l, s, &a, &b);
    if (s.rows * s.cols > SPLIT_MAX)
        return r;
    agg small = agg_scalars(l, r.elem, r.n);
    for (int k = 0; k < r.n; k++)
        small.at[k] = agg_get(l, &r, k);
    return small;
}
