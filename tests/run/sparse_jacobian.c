#include "sparse_jacobian.h"
#include "sparse.h"

#include <tkc/tkc_gen.h>

enum { NX = 14, T = 6, NU = 12, NR = 3 * T, MOST = NR * NX };

typedef sparse_jacobian mod;

#define SINGLE (sizeof(((mod *)0)->u.data[0]) == sizeof(float))
#define EPS (SINGLE ? 2e-6 : 1e-13)

static const int edges[T][2] = {{0, 1}, {2, 1}, {3, 3}, {6, 5}, {0, 6}, {5, 4}};

static void set(mod *m)
{
    memcpy(m->edge.data, edges, sizeof edges);
    for (int i = 0; i < NX; i++)
        m->x.data[i / 2][i % 2] = (float)(sin(1.7 * i) + 0.1 * i);
    for (int i = 0; i < NU; i++)
        m->u.data[i] = (float)cos(2.3 * i);
}

/* ---- references: a column each ---- */

static void residuals_by_products(mod *m, double *D)
{
    for (int j = 0; j < NX; j++) {
        memset(m->x.dual, 0, sizeof m->x.data[0] * NX / 2);
        m->x.dual[j / 2][j % 2] = 1;
        CHECK_OK(m, sparse_jacobian_residuals_jvp(m, 0.7f, 0));
        for (int i = 0; i < NR; i++)
            D[i * NX + j] = (double)m->r.dual[i / 3][i % 3];
    }
}

static void stencil_by_products(mod *m, double *D)
{
    for (int j = 0; j < NU; j++) {
        memset(m->u.dual, 0, sizeof m->u.data[0] * NU);
        m->u.dual[j] = 1;
        CHECK_OK(m, sparse_jacobian_stencil_jvp(m));
        for (int i = 0; i < NU; i++)
            D[i * NU + j] = (double)m->q.dual[i];
    }
}

static void residuals_by_differences(mod *m, double *D)
{
    const double h = SINGLE ? 4e-3 : 1e-6;
    for (int j = 0; j < NX; j++) {
        const double at = (double)m->x.data[j / 2][j % 2];
        double more[NR];
        m->x.data[j / 2][j % 2] = (float)(at + h);
        const double up = (double)m->x.data[j / 2][j % 2];
        CHECK_OK(m, sparse_jacobian_residuals(m, 0.7f));
        for (int i = 0; i < NR; i++)
            more[i] = (double)m->r.data[i / 3][i % 3];
        m->x.data[j / 2][j % 2] = (float)(at - h);
        const double down = (double)m->x.data[j / 2][j % 2];
        CHECK_OK(m, sparse_jacobian_residuals(m, 0.7f));
        m->x.data[j / 2][j % 2] = (float)at;
        for (int i = 0; i < NR; i++)
            D[i * NX + j] = (more[i] - (double)m->r.data[i / 3][i % 3]) / (up - down);
    }
}

/* ---- each layout ---- */

static tk_status residuals_pattern(mod *m, const tk_sparse_options *o, tk_sparse **p)
{
    return sparse_jacobian_residuals_jac_pattern(m, 0.7f, o, p);
}
static tk_status residuals_jac(mod *m, tk_sparse *p, void *values, size_t n)
{
    return sparse_jacobian_residuals_jac(m, 0.7f, p, values, n);
}
static tk_status stencil_jac(mod *m, tk_sparse *p, void *values, size_t n)
{
    return sparse_jacobian_stencil_jac(m, p, values, n);
}

typedef struct problem {
    const char *name;
    tk_status (*pattern)(mod *m, const tk_sparse_options *o, tk_sparse **p);
    tk_status (*jac)(mod *m, tk_sparse *p, void *values, size_t n);
    int rows, cols, block_rows, block_cols;
} problem;

static double value_at(const void *values, size_t i)
{
    return SINGLE ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static void layouts(mod *m, const problem *p, const double *want)
{
    static double values[MOST_ENTRIES + 1], wide[MOST_ENTRIES], D[MOST];
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        CHECK_OK(m, p->pattern(m, &o, &s));
        sparse_form(s, &o, (size_t)p->rows, (size_t)p->cols, p->block_rows, p->block_cols);
        memset(values, 0, sizeof values);
        const size_t n = tk_sparse_values(s);
        /* a second time: the values are added */
        CHECK_OK(m, p->jac(m, s, values, n));
        CHECK_OK(m, p->jac(m, s, values, n));
        for (size_t i = 0; i < n; i++)
            wide[i] = value_at(values, i) / 2;
        CHECK(value_at(values, n) == 0);
        sparse_dense(s, &o, wide, p->block_rows, p->block_cols, D);
        sparse_equal(p->name, D, want, p->rows, p->cols, 0, 4 * EPS);
        CHECK_REFUSED(m, p->jac(m, s, values, n - 1), "values, and the array");
        tk_sparse_free(s);
    }
}

int main(void)
{
    mod *m = sparse_jacobian_create(NULL, NULL);
    static double want[MOST], differences[MOST];
    set(m);
    const problem residuals = {"residuals", residuals_pattern, residuals_jac, NR, NX, 3, 2};
    const problem stencil = {"stencil", sparse_jacobian_stencil_jac_pattern, stencil_jac, NU, NU, 1, 1};
    residuals_by_products(m, want);
    residuals_by_differences(m, differences);
    for (int i = 0; i < MOST; i++)
        CHECK_NEAR(want[i], differences[i], SINGLE ? 2e-3 : 1e-7);
    layouts(m, &residuals, want);
    stencil_by_products(m, want);
    layouts(m, &stencil, want);

    /* the residuals are those of the kernel */
    static double values[MOST_ENTRIES];
    static double r[NR];
    tk_sparse *s = NULL;
    CHECK_OK(m, sparse_jacobian_residuals(m, 0.7f));
    memcpy(r, m->r.data, sizeof m->r.data[0] * T);
    memset(m->r.data, 0, sizeof m->r.data[0] * T);
    CHECK_OK(m, residuals_pattern(m, NULL, &s));
    CHECK_OK(m, residuals_jac(m, s, values, MOST_ENTRIES));
    for (int i = 0; i < NR; i++)
        CHECK_NEAR(m->r.data[i / 3][i % 3], value_at(r, (size_t)i), EPS);
    CHECK_STATUS(m, stencil_jac(m, s, values, MOST_ENTRIES), TK_BAD_STATE, "the pattern is not one of 'stencil'");
    tk_sparse_free(s);
    sparse_jacobian_destroy(m);
    return failures != 0;
}
