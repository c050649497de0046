#include "sparse_again.h"
#include "sparse.h"

#include <math.h>

enum { N = 11, FULL = 2 };

typedef sparse_again mod;

typedef struct problem {
    const char *name;
    tk_status (*run)(mod *m);
    tk_status (*pattern)(mod *m, const tk_sparse_options *o, tk_sparse **p);
    tk_status (*hess)(mod *m, tk_sparse *p, void *values, size_t n);
} problem;

#define KERNEL(k, ...) \
    static tk_status k##_run(mod *m) \
    { \
        return sparse_again_##k(__VA_ARGS__); \
    } \
    static tk_status k##_pattern(mod *m, const tk_sparse_options *o, tk_sparse **p) \
    { \
        return sparse_again_##k##_hess_pattern(__VA_ARGS__, o, p); \
    } \
    static tk_status k##_hess(mod *m, tk_sparse *p, void *values, size_t n) \
    { \
        return sparse_again_##k##_hess(__VA_ARGS__, p, values, n); \
    }
KERNEL(cleared, m)
KERNEL(steps, m, 3)
KERNEL(sums, m)
KERNEL(mixed, m)
KERNEL(inplace, m)
KERNEL(before, m)
KERNEL(behind, m)
KERNEL(branches, m)
KERNEL(passive, m, 3)

#define PROBLEM(k) \
    { \
#k, k##_run, k##_pattern, k##_hess \
    }
static const problem problems[] = {PROBLEM(cleared), PROBLEM(steps),  PROBLEM(sums),    PROBLEM(mixed),
                                   PROBLEM(before),  PROBLEM(behind), PROBLEM(branches), PROBLEM(inplace)};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void set(mod *m)
{
    for (int i = 0; i < N; i++) {
        m->x.data[i] = m->y.data[i] = sin(1.7 * i) + 0.02 * i + 0.01;
        m->a.data[i] = 1.0 + 0.1 * i;
        m->u.data[i] = 0.7 * i;
        m->v.data[i] = -0.3;
        m->on.data[i] = i % 3;
        m->next.data[i] = (i * 4 + 3) % N;
        m->x.grad[i] = m->u.grad[i] = m->v.grad[i] = m->a.grad[i] = 0;
    }
    m->S.data[0] = 5;
    m->E.data[0] = m->E.grad[0] = m->S.grad[0] = m->F.data[0] = 0;
}

/* ---- references ---- */

static void gradient(mod *m, const problem *p, double *g)
{
    CHECK_OK(m, tk_tape_begin(m->E.field, 0));
    CHECK_OK(m, p->run(m));
    CHECK_OK(m, tk_tape_end(m->E.field));
    memcpy(g, m->x.grad, sizeof(double) * N);
}

static void by_products(mod *m, const problem *p, double *D)
{
    double seed[N] = {0.0};
    for (int j = 0; j < N; j++) {
        set(m);
        tk_field *of = m->E.field;
        seed[j] = 1;
        CHECK_OK(m, tk_forward_begin(&of, 1, m->x.field, seed, N));
        CHECK_OK(m, tk_tape_begin(m->E.field, 0));
        CHECK_OK(m, p->run(m));
        CHECK_OK(m, tk_tape_end(m->E.field));
        for (int i = 0; i < N; i++)
            D[i * N + j] = m->x.grad_dual[i];
        CHECK_OK(m, tk_forward_end(m->tk.session));
        seed[j] = 0;
    }
}

static void by_differences(mod *m, const problem *p, double *D)
{
    const double h = 1e-5;
    double more[N], less[N];
    for (int j = 0; j < N; j++) {
        set(m);
        m->x.data[j] += h;
        gradient(m, p, more);
        set(m);
        m->x.data[j] -= h;
        gradient(m, p, less);
        for (int i = 0; i < N; i++)
            D[i * N + j] = (more[i] - less[i]) / (2 * h);
    }
}

/* ---- the matrix ---- */

static void matrix(mod *m, const problem *p, const double *want)
{
    static double values[MOST_ENTRIES + 1], D[N * N];
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        memset(values, 0, sizeof values);
        set(m);
        CHECK_OK(m, p->pattern(m, &o, &s));
        sparse_form(s, &o, N, N, 1, 1);
        const size_t n = tk_sparse_values(s);
        for (int twice = 0; twice < 2; twice++) { /* the values are added */
            set(m);
            CHECK_OK(m, p->hess(m, s, values, n));
        }
        CHECK(values[n] == 0);
        for (size_t i = 0; i < n; i++)
            values[i] /= 2;
        sparse_dense(s, &o, values, 1, 1, D);
        sparse_equal(p->name, D, want, N, N, o.full ? 0 : 1, 1e-12 * (1 + fabs(want[0])));
        tk_sparse_free(s);
    }
}

/* All data, and the gradient by x, are those of one launch; other gradients stay. */
static void runs_once(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES];
    double g[N], data[2][3 * N + N + 2];
    tk_sparse *s = NULL;
    set(m);
    gradient(m, p, g);
    for (int k = 0; k < 2; k++) {
        set(m);
        m->E.data[0] = 2.5;
        m->u.grad[2] = 8;
        m->E.grad[0] = 7;
        m->x.grad[1] = 0.5;
        if (k) {
            CHECK_OK(m, p->pattern(m, NULL, &s));
            CHECK_OK(m, p->hess(m, s, values, MOST_ENTRIES));
            for (int i = 0; i < N; i++)
                CHECK_NEAR(m->x.grad[i], g[i] + (i == 1 ? 0.5 : 0.0), 1e-12);
        } else {
            CHECK_OK(m, p->run(m));
        }
        for (int i = 0; i < N; i++) {
            data[k][i] = m->u.data[i];
            data[k][N + i] = m->v.data[i];
            data[k][2 * N + i] = m->a.data[i];
            data[k][3 * N + i] = m->on.data[i];
        }
        data[k][4 * N] = m->S.data[0];
        data[k][4 * N + 1] = m->E.data[0];
        CHECK(m->u.grad[2] == 8 && m->E.grad[0] == 7);
    }
    for (int i = 0; i < 4 * N + 2; i++)
        CHECK_NEAR(data[1][i], data[0][i], 1e-14);
    tk_sparse_free(s);
}

/* Fields without gradients that are not saved. */
static void without_gradients(mod *m, const double *want)
{
    static double values[MOST_ENTRIES], D[N * N];
    const problem p = PROBLEM(passive);
    const tk_sparse_options o = sparse_option(0);
    tk_sparse *s = NULL;
    set(m);
    memset(values, 0, sizeof values);
    CHECK_OK(m, p.pattern(m, &o, &s));
    CHECK_OK(m, p.hess(m, s, values, MOST_ENTRIES));
    sparse_dense(s, &o, values, 1, 1, D);
    sparse_equal(p.name, D, want, N, N, o.full ? 0 : 1, 1e-12);
    const double F = m->F.data[0], q = m->q.data[3];
    set(m);
    CHECK_OK(m, p.run(m));
    CHECK(m->F.data[0] == F && m->q.data[3] == q);
    tk_sparse_free(s);
}

static void jacobian(mod *m)
{
    static double values[MOST_ENTRIES], D[N * N], want[N * N];
    const tk_sparse_options o = sparse_option(0);
    tk_sparse *s = NULL;
    set(m);
    memset(values, 0, sizeof values);
    for (int i = 0; i < N - 1; i++) {
        want[i * N + i] = m->a.data[i];
        want[i * N + i + 1] = 1;
    }
    CHECK_OK(m, sparse_again_later_jac_pattern(m, &o, &s));
    CHECK_OK(m, sparse_again_later_jac(m, s, values, MOST_ENTRIES));
    sparse_dense(s, &o, values, 1, 1, D);
    sparse_equal("later", D, want, N, N, 0, 1e-14);
    CHECK_NEAR(m->a.data[4], sin(m->x.data[4]), 1e-15);
    tk_sparse_free(s);
}

/* Columns of one colour stand apart: of the sum of three steps nothing couples the first and the last component. */
static void pattern_is(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES], D[N * N];
    const tk_sparse_options o = sparse_option(FULL);
    tk_sparse *s = NULL;
    set(m);
    CHECK_OK(m, p->pattern(m, &o, &s));
    sparse_dense(s, &o, values, 1, 1, D);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            bool both = false;
            for (int t = 0; t < 3; t++)
                both |= j >= 2 * t && i <= 2 * t + 2;
            if (both == isnan(D[i * N + j]))
                FAIL("%s: entry %d, %d is %s the pattern", p->name, i, j, both ? "not in" : "in");
        }
    tk_sparse_free(s);
}

int main(void)
{
    mod *m = sparse_again_create(NULL, NULL);
    static double want[PROBLEMS][N * N], differences[N * N];
    for (int k = 0; k < PROBLEMS; k++) {
        const problem *p = &problems[k];
        by_products(m, p, want[k]);
        by_differences(m, p, differences);
        for (int i = 0; i < N * N; i++)
            CHECK_NEAR(want[k][i], differences[i], 1e-6 * (1 + fabs(differences[i])));
        matrix(m, p, want[k]);
        runs_once(m, p);
    }
    without_gradients(m, want[1]);
    pattern_is(m, &problems[2]);
    jacobian(m);
    sparse_again_destroy(m);
    return failures != 0;
}
