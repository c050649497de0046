/* Sums of products as operations again. */
#include <math.h>

#include "ir/ops.h"
#include "passes/derive/algebra/algebra.h"

static ir_value *build_sum(factoring *x, ir_builder *b, const sum *p);

/* Where it is needed first, which is in front of all others that need it. */
static ir_value *value_of(factoring *x, ir_builder *b, int var)
{
    if (!x->vars.at[var].v) {
        const sum p = x->sums.at[x->vars.at[var].sum];
        x->vars.at[var].v = build_sum(x, b, &p);
    }
    return x->vars.at[var].v;
}

/* The factor that was multiplied with as number k. */
static int factor_at(const term *t, int k)
{
    for (int i = 0; i < t->n; i++) {
        int before = 0;
        for (int j = 0; j < t->n; j++)
            before += t->rank[j] < t->rank[i] || (t->rank[j] == t->rank[i] && j < i);
        if (before == k)
            return t->at[i];
    }
    return -1;
}

/* Without its sign. */
static ir_value *build_product(factoring *x, ir_builder *b, const term *t, scalar type)
{
    const double coef = fabs(t->coef);
    if (t->n == 0)
        return ir_const_f(b, type, coef);
    ir_value *v = value_of(x, b, factor_at(t, 0));
    for (int k = 1; k < t->n; k++)
        v = ir_op2(b, OP_MUL, v, value_of(x, b, factor_at(t, k)));
    return coef == 1.0 ? v : ir_op2(b, OP_MUL, v, ir_const_f(b, type, coef));
}

/* In the order in which it was. */
static ir_value *build_sum(factoring *x, ir_builder *b, const sum *p)
{
    const bool swapped = p->n > 1 && p->at[0].coef < 0 && p->at[1].coef > 0;
    ir_value *v = build_product(x, b, &p->at[swapped], p->type);
    if (p->at[swapped].coef < 0)
        v = ir_op1(b, OP_NEG, v);
    for (int i = 0; i < p->n; i++)
        if (i != swapped)
            v = ir_op2(b, p->at[i].coef < 0 ? OP_SUB : OP_ADD, v, build_product(x, b, &p->at[i], p->type));
    return v;
}

void factor_build(factoring *x, ir_map *map)
{
    for (size_t i = 0; i < x->sums.len; i++) {
        const sum p = x->sums.at[i];
        if (!p.root || !p.changed)
            continue;
        ir_op *op = p.root;
        ir_builder b = {.func = x->f, .region = x->region, .before = op, .loc = op->loc, .origin = op->origin};
        ir_value *v = build_sum(x, &b, &p);
        if (!v->name)
            v->name = op->res[0]->name;
        ir_map_set(map, op->res[0], v);
    }
}
