/* The arithmetic of adjoints, internal to passes/derive/algebra/. */
#ifndef TKC_ALGEBRA_H
#define TKC_ALGEBRA_H

#include "ir/ir.h"

/* Whether a product leaves the range of its type neither with this factor nor without it: with z = 1e-10 * x the square
 * of z may be of order one, and the square of x infinite in f32. */
bool algebra_is_near_one(double x, scalar type);

/* Each returns whether it changed f, which is to be simplified then. */
bool share_reciprocals(ir_func *f);
bool scale_values(ir_func *f);
bool factor_sums(ir_func *f);

/* ---- common factors of sums: factor.c ---- */

/* FACTOR_DEGREE: factors of one product. FACTOR_TERMS: products of one sum. FACTOR_ALL: of all sums of a region. Beyond
 * these a part of a sum is one value, or the region stays as it is. */
enum { FACTOR_DEGREE = 6, FACTOR_TERMS = 96, FACTOR_ALL = 3000 };

/* A constant times the variables `at`, which are sorted. They were multiplied in the order of `rank`, one after the
 * other, and so they will be: another order might leave the range of the type on the way. */
typedef struct term {
    double coef;
    int n;
    int at[FACTOR_DEGREE];
    int rank[FACTOR_DEGREE];
} term;

typedef struct sum {
    scalar type;
    term *at;
    int n;
    ir_op *root;  /* NULL: it was taken out of others */
    bool changed; /* something was taken out of it */
} sum;

/* A value of the program, or a sum or product that was taken out of others. */
typedef struct variable {
    ir_value *v; /* NULL: not built yet */
    int sum;     /* -1: a value of the program */
} variable;

typedef struct factoring {
    ir_func *f;
    ir_region *region;
    VEC(sum) sums;
    VEC(variable) vars;
} factoring;

/* ---- factor_search.c ---- */

/* Takes sums that several products share, and then products of two, out of the sums, as long as that is less to
 * compute.
 */
void factor_search(factoring *x);
/* t with one more factor, which comes last. */
term factor_times(const term *t, int var);
/* What a product costs, where a product and the addition of it are one operation. */
int factor_cost(const term *t);

/* ---- factor_build.c ---- */

/* Builds the changed sums, each in front of its root; the values take the places of the roots in `map`. */
void factor_build(factoring *x, ir_map *map);

#endif
