/* Matrices of models.tk, and of CasADi for the same functions: their times, by turns, or with --check their results. */
#include "bench.h"
#include "models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CASADI(name) int name(const double **arg, double **res, long long *iw, double *w, int mem)
#define BOTH(name) \
    CASADI(name##_sparse); \
    CASADI(name##_dense)
BOTH(cart_jac);
BOTH(cart_hess);
BOTH(quad_jac);
BOTH(quad_hess);
BOTH(arm_jac);

typedef CASADI(casadi_fn);

enum { MOST = 16 };

static double x[MOST] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, u[4] = {1.0, 1.1, 1.2, 0.9},
              acc[6] = {0.2, -0.1, 0.4, 0.3, 0.7, -0.6}, weights[MOST] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, h = 0.02,
              plant[4] = {1.0, 0.1, 0.5, 9.81}, frame[6] = {1.0, 0.2, 0.01, 0.02, 0.03, 0.1};
static double y[MOST], grad[MOST], matrix[MOST * MOST], other[MOST * MOST], work[20000];

static void cart_jac(void *data)
{
    (void)data;
    x[0] += 1e-9;
    models_cart_jac(x, u[0], (models_Plant){plant[0], plant[1], plant[2], plant[3]}, h, y, matrix, 5);
}

static void cart_hess(void *data)
{
    (void)data;
    x[0] += 1e-9;
    models_cart_hess(x, u[0], (models_Plant){plant[0], plant[1], plant[2], plant[3]}, h, weights, y, grad, matrix, 5);
}

static void quad_jac(void *data)
{
    const models_Frame f = {frame[0], frame[1], {frame[2], frame[3], frame[4]}, frame[5]};
    (void)data;
    x[0] += 1e-9;
    models_quad_jac(x, u, f, h, y, matrix, 16);
}

static void quad_hess(void *data)
{
    const models_Frame f = {frame[0], frame[1], {frame[2], frame[3], frame[4]}, frame[5]};
    (void)data;
    x[0] += 1e-9;
    models_quad_hess(x, u, f, h, weights, y, grad, matrix, 16);
}

static void arm_jac(void *data)
{
    (void)data;
    x[0] += 1e-9;
    models_arm_jac(x, x + 6, acc, y, matrix, 12);
}

typedef struct row {
    const char *name;
    int rows, cols;
    bench_run *own;
    casadi_fn *sparse, *dense;
    const double *arg[6];
} row;

#define ROW(title, fn, nrows, ncols, ...) \
    { \
        .name = title, .rows = nrows, .cols = ncols, .own = fn, .sparse = fn##_sparse, .dense = fn##_dense, .arg = { \
            __VA_ARGS__ \
        } \
    }
static const row table[] = {
    ROW("cart-pole, Jacobian", cart_jac, 4, 5, x, u, plant, &h),
    ROW("cart-pole, Hessian", cart_hess, 5, 5, x, u, plant, &h, weights),
    ROW("quadrotor, Jacobian", quad_jac, 12, 16, x, u, frame, &h),
    ROW("quadrotor, Hessian", quad_hess, 16, 16, x, u, frame, &h, weights),
    ROW("arm of six joints, Jacobian", arm_jac, 6, 12, x, x + 6, acc),
};

static void call(const row *r, casadi_fn *f)
{
    const bool hess = r->arg[4] == weights;
    double *res[3] = {y, hess ? grad : other, other};
    const double *arg[6];
    memcpy(arg, r->arg, sizeof arg); /* CasADi's functions write to it */
    x[0] += 1e-9;
    f(arg, res, NULL, work, 0);
}

static void sparse(void *data)
{
    const row *r = data;
    call(r, r->sparse);
}

static void dense(void *data)
{
    const row *r = data;
    call(r, r->dense);
}

static int check(const row *r)
{
    double most = 0, size = 0;
    x[0] = 0.1;
    r->own(NULL);
    x[0] = 0.1;
    dense((void *)r);
    for (int i = 0; i < r->rows; i++)
        for (int j = 0; j < r->cols; j++) {
            const double own = matrix[i * r->cols + j], theirs = other[j * r->rows + i];
            size = fmax(size, fabs(theirs));
            most = fabs(own - theirs) <= most ? most : fabs(own - theirs);
        }
    const bool right = size > 0 && most <= 1e-11 * size;
    printf("%s: %s, off by %.1g of %.3g\n", r->name, right ? "right" : "WRONG", most, size);
    return !right;
}

static void measure(const row *r, const char *how)
{
    enum { TIMES = 5 };
    const bench_side sides[] = {{r->own, NULL, NULL}, {sparse, (void *)r, NULL}, {dense, (void *)r, NULL}};
    const bench_watch w = {CLOCK_PROCESS_CPUTIME_ID, 25, 0.002};
    double least = INFINITY, most = 0, ns[2] = {INFINITY, INFINITY};
    for (int k = 0; k < TIMES; k++) {
        bench_times t;
        bench_measure(&w, sides, 3, &t);
        const int faster = bench_median(&t, 1) < bench_median(&t, 2) ? 1 : 2;
        const double ratio = bench_ratio(&t, 0, faster);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        ns[0] = fmin(ns[0], bench_median(&t, 0));
        ns[1] = fmin(ns[1], bench_median(&t, faster));
    }
    printf("| %s | %s | %.0f | %.0f | %.2f to %.2f |\n", r->name, how, 1e9 * ns[0], 1e9 * ns[1], least, most);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const bool only = argc > 1 && !strcmp(argv[1], "--check");
    int wrong = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (only)
            wrong += check(&table[i]);
        else
            measure(&table[i], argc > 1 ? argv[1] : "");
    return wrong > 0;
}
