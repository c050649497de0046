/* Splits the accesses of a plane into groups of which no two ever touch an element in common (u[t + 1, i] and u[t, i -
 * 1] in one task).
 *
 * In each dimension a subscript is either unknown, or the same in all iterations: a constant beside a sum of values,
 * its family. Two of one family with different constants are apart. There may be thousands of accesses (a loop that is
 * unrolled, nodes around a particle), nearly all of them alike or all of one family: those of equal labels are one to
 * begin with, and where all are of one family they fall apart by their constants. Only what is left is compared in
 * pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"

typedef struct label {
    uint32_t family; /* 0: unknown */
    int64_t konst;
} label;

typedef struct grouping {
    const ir_op *op;
    int ndim;      /* subscripts and component */
    label *at;     /* [access * ndim + dimension] */
    size_t *group; /* union-find: a smaller number of the same group, or its own */
    VEC(affine) families;
} grouping;

static label *label_at(const grouping *g, size_t access, int d)
{
    return &g->at[access * (size_t)g->ndim + (size_t)d];
}

static uint32_t family_of(grouping *g, const affine *a)
{
    for (size_t i = 0; i < g->families.len; i++) {
        if (g->families.at[i].n != a->n)
            continue;
        const affine d = affine_sub(&g->families.at[i], a);
        if (d.ok && d.n == 0)
            return (uint32_t)i + 1;
    }
    vec_push(&g->families, *a);
    return (uint32_t)g->families.len;
}

static label label_of(grouping *g, const ir_op *access, int d)
{
    const ir_value *v = access->args[d];
    if (d == g->ndim - 1 && !ir_is_const(v)) /* a component that is computed may be any */
        return (label){0};
    const affine a = affine_of(v);
    return affine_is_invariant(&a, g->op) ? (label){family_of(g, &a), a.konst} : (label){0};
}

static int order(const label *a, const label *b)
{
    return a->family != b->family ? (a->family > b->family ? 1 : -1) : (a->konst > b->konst) - (a->konst < b->konst);
}

/* ---- groups ---- */

static size_t root_of(grouping *g, size_t i)
{
    while (g->group[i] != i)
        i = g->group[i] = g->group[g->group[i]];
    return i;
}

static void join(grouping *g, size_t i, size_t j)
{
    i = root_of(g, i);
    j = root_of(g, j);
    g->group[i > j ? i : j] = i > j ? j : i;
}

static bool are_apart(const grouping *g, size_t i, size_t j)
{
    for (int d = 0; d < g->ndim; d++) {
        const label *a = label_at(g, i, d), *b = label_at(g, j, d);
        if (a->family && a->family == b->family && a->konst != b->konst)
            return true;
    }
    return false;
}

/* Of the labels in `dims` dimensions from `first` on. */
static int order_of(const grouping *g, size_t i, size_t j, int first, int dims)
{
    int c = 0;
    for (int d = first; d < first + dims && !c; d++)
        c = order(label_at(g, i, d), label_at(g, j, d));
    return c;
}

/* By merging, so that no order of the input is slow. */
static void sort(const grouping *g, size_t *by, size_t *spare, size_t n, int first, int dims)
{
    if (n < 2)
        return;
    const size_t half = n / 2;
    sort(g, by, spare, half, first, dims);
    sort(g, by + half, spare, n - half, first, dims);
    memcpy(spare, by, half * sizeof *by);
    for (size_t i = 0, j = half, k = 0; i < half; k++) {
        const bool left = j == n || order_of(g, spare[i], by[j], first, dims) <= 0;
        by[k] = left ? spare[i++] : by[j++];
    }
}

/* A dimension in which all are of one family, with different constants; -1: none. */
static int dividing(const grouping *g, const size_t *by, size_t n)
{
    for (int d = 0; d < g->ndim; d++) {
        const label *first = label_at(g, by[0], d);
        bool one = first->family != 0, differ = false;
        for (size_t i = 1; i < n && one; i++) {
            const label *l = label_at(g, by[i], d);
            one = l->family == first->family;
            differ |= l->konst != first->konst;
        }
        if (one && differ)
            return d;
    }
    return -1;
}

static void divide(grouping *g, size_t *by, size_t *spare, size_t n)
{
    const int d = dividing(g, by, n);
    if (d < 0) {
        for (size_t i = 1; i < n; i++)
            for (size_t j = 0; j < i; j++)
                if (root_of(g, by[i]) != root_of(g, by[j]) && !are_apart(g, by[i], by[j]))
                    join(g, by[i], by[j]);
        return;
    }
    sort(g, by, spare, n, d, 1);
    for (size_t from = 0, to; from < n; from = to) {
        to = from + 1;
        while (to < n && order_of(g, by[from], by[to], d, 1) == 0)
            to++;
        divide(g, by + from, spare, to - from);
    }
}

size_t *groups_that_meet(const ir_op *op, ir_op *const *accesses, size_t n)
{
    grouping g = {
        .op = op, .ndim = n ? ir_field_of(accesses[0])->ndim + 1 : 1, .group = xmalloc((n + 1) * sizeof *g.group)};
    g.at = xmalloc((n * (size_t)g.ndim + 1) * sizeof *g.at);
    size_t *by = xmalloc((n + 1) * sizeof *by), *spare = xmalloc((n + 1) * sizeof *spare), distinct = 0;
    for (size_t i = 0; i < n; i++) {
        g.group[i] = by[i] = i;
        for (int d = 0; d < g.ndim; d++)
            *label_at(&g, i, d) = label_of(&g, accesses[i], d);
    }
    sort(&g, by, spare, n, 0, g.ndim);
    for (size_t i = 0; i < n; i++) {
        if (i && order_of(&g, by[distinct - 1], by[i], 0, g.ndim) == 0)
            join(&g, by[distinct - 1], by[i]);
        else
            by[distinct++] = by[i];
    }
    if (distinct)
        divide(&g, by, spare, distinct);
    for (size_t i = 0; i < n; i++)
        g.group[i] = root_of(&g, i);
    free(by);
    free(spare);
    free(g.at);
    vec_free(&g.families);
    return g.group;
}
