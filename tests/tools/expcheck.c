/* Checks the derivatives of export funcs, as adcheck does those of kernels. The table comes from a stub that tools/exports.py writes from the module's
 * header; all inputs of a function stand in one vector x, all outputs in one vector y:
 *   - the JVP along a random direction against Richardson-extrapolated central differences,
 *   - reverse against forward, <J v, w> = <v, J^T w>,
 *   - the second-order product, where there is one, against differences of the gradient,
 *   - Jacobians and Hessians against columns of the JVP and of the second-order product, and their patterns,
 *   - values: those that the derivatives give along must be the function's own.
 * usage: expcheck [LO HI]   the range of the inputs (default 0.3 1.2)
 *        expcheck --random LO HI   for random programs: outputs at kinks, where differences of several steps disagree, are left out. Then, with data at ties (ties.h),
 *        that a gradient gives along the results of the function itself, bit for bit, that both modes go the same way, and that second-order products are symmetric
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expcheck.h"
#include "ties.h"

enum { ROUNDS = 5, TIES = 24 };

/* Of a stub for adcheck that is linked, too. */
__attribute__((weak)) double adcheck_step(void);

static unsigned long long seed = 12345;
static double low = 0.3, high = 1.2;
static bool kinks;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static double *new(int n)
{
    double *p = calloc((size_t)n + 1, sizeof *p);
    if (!p)
        exit(2);
    return p;
}

/* Numbers that are f32 (single; NULL: none) get few binary digits: they are exact, and so are they after a step along a direction of them. */
static double *draw(int n, double lo, double hi, const bool *single)
{
    double *p = new(n);
    for (int i = 0; i < n; i++) {
        p[i] = lo + (hi - lo) * uniform();
        if (single && single[i])
            p[i] = lo < 0.0 && hi == 1.0 ? round(p[i] * 16.0) / 16.0 : (2.0 * floor(p[i] * 8192.0) + 1.0) / 16384.0;
    }
    return p;
}

static double dot(const double *a, const double *b, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

static int failures;

static bool any_single(const expcheck_func *f)
{
    return f->single_in || f->single_out;
}

/* Of comparisons that are equal to rounding: where there is f32, to its rounding. */
static double rounding(const expcheck_func *f, double of_f64)
{
    return any_single(f) ? 2e-5 : of_f64;
}

/* doubt: how well each b is known; NULL: well. single: which of them are f32, whose differences show rounding, and so do those of what is computed from f32. */
static void compare(const expcheck_func *f, const char *what, const double *a, const double *b, const double *doubt, int n, double tolerance, const bool *single)
{
    double most = 0.0, scale = 0.0;
    for (int i = 0; i < n; i++)
        if (!doubt || doubt[i] < 0.1)
            scale = fmax(scale, fabs(b[i]));
    for (int i = 0; i < n; i++) {
        const double coarse = !doubt || !any_single(f) ? 1.0 : single && single[i] ? 1e4 : 1e2;
        if (doubt && doubt[i] > 0.1 * coarse * tolerance * (1.0 + scale))
            continue;
        most = fmax(most, fabs(a[i] - b[i]) / coarse);
        if (!isfinite(a[i]) || !isfinite(b[i]))
            most = INFINITY;
    }
    if (most <= tolerance * (1.0 + scale))
        return;
    failures++;
    printf("%s: %s: off by %.3g, of %.3g\n", f->name, what, most, scale);
    for (int i = 0; i < n && i < 12; i++)
        printf("    [%d] %.12g %.12g\n", i, a[i], b[i]);
}

typedef void (*map_fn)(const expcheck_func *f, const double *x, const double *w, double *y);

static void value_of(const expcheck_func *f, const double *x, const double *w, double *y)
{
    (void)w;
    f->run(x, y);
}

static void gradient_of(const expcheck_func *f, const double *x, const double *w, double *g)
{
    double *y = new(f->nout);
    f->grad(x, y, w, g);
    free(y);
}

/* d/dt map(x + t v) at 0, with steps from h0 down. */
static void extrapolated(const expcheck_func *f, map_fn map, const double *x, const double *v, const double *w, double h0, double *out, int n)
{
    enum { LEVELS = 4 };
    double *table[LEVELS], *at = new(f->nin), *plus = new(n), *minus = new(n);
    for (int l = 0; l < LEVELS; l++) {
        const double h = h0 / (double)(1 << l);
        table[l] = new(n);
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int i = 0; i < f->nin; i++)
                at[i] = x[i] + sign * h * v[i];
            map(f, at, w, sign > 0 ? plus : minus);
        }
        for (int i = 0; i < n; i++)
            table[l][i] = (plus[i] - minus[i]) / (2.0 * h);
    }
    double power = 4.0;
    for (int k = 1; k < LEVELS; k++, power *= 4.0)
        for (int l = LEVELS - 1; l >= k; l--)
            for (int i = 0; i < n; i++)
                table[l][i] += (table[l][i] - table[l - 1][i]) / (power - 1.0);
    memcpy(out, table[LEVELS - 1], (size_t)n * sizeof *out);
    for (int l = 0; l < LEVELS; l++)
        free(table[l]);
    free(at);
    free(plus);
    free(minus);
}

/* Also how well it is known; NULL: well. */
static double *differences(const expcheck_func *f, map_fn map, const double *x, const double *v, const double *w, double *out, int n)
{
    const double h = any_single(f) ? 0x1p-9 : kinks ? 2e-3 : 2e-2;
    extrapolated(f, map, x, v, w, h, out, n);
    if (!kinks && !any_single(f))
        return NULL;
    double *doubt = new(n);
    memcpy(doubt, out, (size_t)n * sizeof *out);
    extrapolated(f, map, x, v, w, h / 8.0, out, n);
    for (int i = 0; i < n; i++)
        doubt[i] = fabs(doubt[i] - out[i]);
    return doubt;
}

/* ---- Jacobians and Hessians ---- */

void expcheck_pattern(const char *name, const double *matrix, int nrows, int ncols, int n, const int *row, const int *col)
{
    double *rest = new(nrows * ncols);
    memcpy(rest, matrix, (size_t)(nrows * ncols) * sizeof *rest);
    for (int k = 0; k < n; k++)
        rest[row[k] * ncols + col[k]] = 0.0;
    for (int k = 0; k < nrows * ncols; k++)
        if (rest[k] != 0.0) {
            printf("%s: entry %d, %d is %g, and not in the pattern\n", name, k / ncols, k % ncols, rest[k]);
            exit(1);
        }
    free(rest);
}

static void check_jacobian(const expcheck_func *f, const double *x, const double *y)
{
    double *matrix = new(f->nout * f->jac_ncolumns), *y1 = new(f->nout), *dy = new(f->nout), *v = new(f->nin), *column = new(f->nout), *doubt = NULL;
    f->jac(x, y1, matrix);
    compare(f, "value of jac", y1, y, NULL, f->nout, rounding(f, kinks ? 1e-11 : 1e-13), NULL);
    for (int j = 0; j < f->jac_ncolumns; j++) {
        memset(v, 0, (size_t)f->nin * sizeof *v);
        v[f->jac_columns[j]] = 1.0;
        for (int i = 0; i < f->nout; i++)
            column[i] = matrix[i * f->jac_ncolumns + j];
        if (f->jvp && !f->by_jvp)
            f->jvp(x, v, y1, dy);
        else
            doubt = differences(f, value_of, x, v, NULL, dy, f->nout);
        compare(f, "column of jac", column, dy, doubt, f->nout, rounding(f, !f->jvp || f->by_jvp ? 1e-6 : kinks ? 1e-9 : 1e-11), f->jvp && !f->by_jvp ? NULL : f->single_out);
        free(doubt);
        doubt = NULL;
    }
    double *all[] = {matrix, y1, dy, v, column};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void check_hessian(const expcheck_func *f, const double *x, const double *w, const double *y)
{
    const int n = f->hess_ncolumns;
    double *matrix = new(n * n), *y1 = new(f->nout), *dy = new(f->nout), *g = new(f->nin), *dg = new(f->nin), *v = new(f->nin), *gradient = new(n), *column = new(n), *right = new(n);
    const double one = 1.0;
    f->hess(x, y1, w, gradient, matrix);
    compare(f, "value of hess", y1, y, NULL, f->nout, rounding(f, kinks ? 1e-11 : 1e-13), NULL);
    for (int j = 0; j < n && f->hvp && !f->by_hvp; j++) {
        memset(v, 0, (size_t)f->nin * sizeof *v);
        v[f->hess_columns[j]] = 1.0;
        f->hvp(x, v, y1, dy, f->nout > 1 ? w : &one, g, dg);
        for (int i = 0; i < n; i++) {
            column[i] = matrix[i * n + j];
            right[i] = dg[f->hess_columns[i]];
        }
        compare(f, "column of hess", column, right, NULL, n, rounding(f, kinks ? 1e-8 : 1e-10), NULL);
        for (int i = 0; i < n; i++)
            right[i] = g[f->hess_columns[i]];
        compare(f, "gradient of hess", gradient, right, NULL, n, rounding(f, kinks ? 1e-10 : 1e-12), NULL);
    }
    double *all[] = {matrix, y1, dy, g, dg, v, gradient, column, right};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- all of a function ---- */

/* by: inputs along which directions go; NULL: all. */
static void check_by(const expcheck_func *f, const bool *by)
{
    double *x = draw(f->nin, low, high, f->single_in), *v = draw(f->nin, -1.0, 1.0, f->single_in), *w = draw(f->nout, -1.0, 1.0, f->single_out);
    double *y = new(f->nout), *y1 = new(f->nout), *dy = new(f->nout), *fd = new(f->nout), *g = new(f->nin), *g1 = new(f->nin), *dg = new(f->nin), *fdg = new(f->nin);
    double *doubt = NULL, *doubt2 = NULL;
    for (int i = 0; by && i < f->nin; i++)
        v[i] *= by[i];
    f->run(x, y);
    if (f->jvp) {
        f->jvp(x, v, y1, dy);
        compare(f, "value of jvp", y1, y, NULL, f->nout, rounding(f, kinks ? 1e-11 : 1e-13), NULL);
        doubt = differences(f, value_of, x, v, NULL, fd, f->nout);
        compare(f, "jvp against differences", dy, fd, doubt, f->nout, kinks ? 1e-6 : 1e-7, f->single_out);
    } else {
        doubt = differences(f, value_of, x, v, NULL, dy, f->nout);
    }
    if (f->grad) {
        f->grad(x, y1, w, g);
        compare(f, "value of grad", y1, y, NULL, f->nout, rounding(f, kinks ? 1e-11 : 1e-13), NULL);
        const double forward = dot(dy, w, f->nout), reverse = dot(v, g, f->nin);
        const double scale = 1.0 + sqrt(dot(dy, dy, f->nout) * dot(w, w, f->nout)) + sqrt(dot(v, v, f->nin) * dot(g, g, f->nin));
        double unsure = 0.0; /* a difference at a kink stands in for the JVP */
        for (int i = 0; !f->jvp && doubt && i < f->nout; i++)
            unsure += doubt[i] * fabs(w[i]);
        if (!(fabs(forward - reverse) <= rounding(f, !f->jvp ? 1e-7 : kinks ? 1e-10 : 1e-12) * scale) && unsure <= 1e-8 * scale) {
            failures++;
            printf("%s: reverse against forward: %.17g, %.17g\n", f->name, reverse, forward);
        }
    }
    if (f->hvp) {
        f->hvp(x, v, y1, fd, w, g1, dg);
        compare(f, "value of hvp", y1, y, NULL, f->nout, rounding(f, kinks ? 1e-11 : 1e-13), NULL);
        compare(f, "tangent of hvp", fd, dy, NULL, f->nout, rounding(f, !f->jvp ? 1e-7 : kinks ? 1e-10 : 1e-12), NULL);
        compare(f, "gradient of hvp", g1, g, NULL, f->nin, rounding(f, kinks ? 1e-10 : 1e-12), NULL);
        doubt2 = differences(f, gradient_of, x, v, w, fdg, f->nin);
        compare(f, "hvp against differences", dg, fdg, doubt2, f->nin, kinks ? 1e-5 : 1e-6, f->single_in);
    }
    if (f->jac)
        check_jacobian(f, x, y);
    if (f->hess)
        check_hessian(f, x, w, y);
    double *all[] = {x, v, w, y, y1, dy, fd, g, g1, dg, fdg, doubt, doubt2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- derivatives by some inputs ---- */

static bool is_within(const bool *some, const bool *all, int n)
{
    bool is = true;
    for (int i = 0; i < n && all; i++)
        is = is && (all[i] || (some && !some[i]));
    return is;
}

static const expcheck_func *bent;

static void gradient_of_hvp(const double *x, double *y, const double *w, double *g)
{
    double *v = new(bent->nin), *dy = new(bent->nout), *dg = new(bent->nin);
    bent->hvp(x, v, y, dy, w, g, dg);
    free(v);
    free(dy);
    free(dg);
}

/* The JVP takes part where it is by all inputs that the others are by. */
static void check(const expcheck_func *f)
{
    const bool *by[] = {f->by_grad, f->by_jvp, f->by_hvp};
    bool alike = true;
    for (int k = 1; k < 3; k++)
        alike = alike && is_within(by[0], by[k], f->nin) && is_within(by[k], by[0], f->nin);
    if (alike) {
        check_by(f, by[0]);
        return;
    }
    expcheck_func jvp = *f, grad = *f, hvp = *f;
    jvp.grad = NULL;
    jvp.hvp = grad.hvp = NULL;
    grad.jvp = is_within(f->by_grad, f->by_jvp, f->nin) ? f->jvp : NULL;
    hvp.jvp = is_within(f->by_hvp, f->by_jvp, f->nin) ? f->jvp : NULL;
    hvp.grad = gradient_of_hvp;
    bent = f;
    if (f->jvp)
        check_by(&jvp, f->by_jvp);
    if (f->grad)
        check_by(&grad, f->by_grad);
    if (f->hvp)
        check_by(&hvp, f->by_hvp);
}

/* ---- data at ties ---- */

static double *draw_at_ties(const expcheck_func *f, int round)
{
    double *x = new(f->nin);
    const double h = adcheck_step ? adcheck_step() : ties_steps[round % (int)(sizeof ties_steps / sizeof *ties_steps)];
    for (int i = 0; i < f->nin; i++) {
        const double u[] = {uniform(), uniform(), uniform(), uniform()};
        x[i] = ties_draw(h, u, low, high, f->single_in && f->single_in[i]);
    }
    return x;
}

static void compare_numbers(const expcheck_func *f, const char *what, double a, double b, double scale)
{
    if (fabs(a - b) <= rounding(f, 1e-10) * (1.0 + scale))
        return;
    failures++;
    printf("%s: %s: %.17g, %.17g\n", f->name, what, a, b);
}

/* The first of them is printed. */
static void compare_bits(const expcheck_func *f, const char *what, const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))
            continue;
        failures++;
        printf("%s: %s at ties: result %d is %.17g, not %.17g\n", f->name, what, i, a[i], b[i]);
        return;
    }
}

static double length(const double *a, int n)
{
    return sqrt(dot(a, a, n));
}

/* The gradient of the product is the adjoint's, and the Hessian is symmetric. */
static void check_second_at_ties(const expcheck_func *f, const double *x, const double *v, const double *w, const double *y, const double *g)
{
    double *u = draw(f->nin, -1.0, 1.0, f->single_in), *y1 = new(f->nout), *dy = new(f->nout), *g1 = new(f->nin), *hv = new(f->nin), *hu = new(f->nin);
    f->hvp(x, v, y1, dy, w, g1, hv);
    compare(f, "value of hvp at ties", y1, y, NULL, f->nout, rounding(f, 1e-11), NULL);
    compare(f, "gradient of hvp at ties", g1, g, NULL, f->nin, rounding(f, 1e-10), NULL);
    f->hvp(x, u, y1, dy, w, g1, hu);
    compare_numbers(f, "symmetry of hvp at ties", dot(hv, u, f->nin), dot(hu, v, f->nin), length(hv, f->nin) * length(u, f->nin) + length(hu, f->nin) * length(v, f->nin));
    double *all[] = {u, y1, dy, g1, hv, hu};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void check_at_ties(const expcheck_func *f, int round)
{
    double *x = draw_at_ties(f, round), *v = draw(f->nin, -1.0, 1.0, f->single_in), *w = draw(f->nout, -1.0, 1.0, f->single_out);
    double *y = new(f->nout), *y1 = new(f->nout), *dy = new(f->nout), *g = new(f->nin);
    f->run(x, y);
    if (f->jvp) {
        f->jvp(x, v, y1, dy);
        compare(f, "value of jvp at ties", y1, y, NULL, f->nout, rounding(f, 1e-11), NULL);
    }
    if (f->grad) {
        f->grad(x, y1, w, g);
        compare_bits(f, "result of grad", y1, y, f->nout);
    }
    if (f->jvp && f->grad)
        compare_numbers(f, "reverse against forward at ties", dot(v, g, f->nin), dot(dy, w, f->nout), length(dy, f->nout) * length(w, f->nout) + length(v, f->nin) * length(g, f->nin));
    if (f->hvp && f->grad)
        check_second_at_ties(f, x, v, w, y, g);
    double *all[] = {x, v, w, y, y1, dy, g};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

int main(int argc, char **argv)
{
    kinks = argc > 3 && !strcmp(argv[1], "--random");
    argc -= kinks;
    argv += kinks;
    if (argc > 2) {
        low = atof(argv[1]);
        high = atof(argv[2]);
    }
    for (int i = 0; i < expcheck_count; i++)
        for (int k = 0; k < ROUNDS; k++)
            check(&expcheck_funcs[i]);
    for (int i = 0; i < expcheck_count; i++)
        for (int k = 0; kinks && k < TIES; k++)
            check_at_ties(&expcheck_funcs[i], k);
    return failures != 0;
}
