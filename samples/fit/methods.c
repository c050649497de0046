#include "methods.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SMALLEST_RATE = 1e-30, SMALLEST_DAMPING = 1e-12, LARGEST_DAMPING = 1e12;
static const double ENOUGH_DESCENT = 1e-11, ENOUGH_NEWTON = 1e-12;

typedef struct normal {
    double matrix[PARAMETERS][PARAMETERS]; /* J^T J */
    double right[PARAMETERS];              /* J^T residual */
} normal;

static void residuals(void *f)
{
    fit_compare(f);
}

double sum_of_squares(fit *f)
{
    f->chi2.data[0] = 0.0;
    fit_compare(f);
    fit_sum(f);
    return f->chi2.data[0];
}

/* Leaves chi2 and its gradient in the module. */
static tk_status differentiate(fit *f)
{
    TK_TAPE(f, f->chi2) {
        fit_compare(f);
        fit_sum(f);
    }
    return fit_status(f);
}

static void begin(fit *f, course *c)
{
    c->iterations = 0;
    c->converged = false;
    c->chi2[0] = sum_of_squares(f);
}

/* The end of an iteration: goes back if it failed. Converged is what gains less than a part of chi2. */
static void note(fit *f, course *c, const double from[PARAMETERS], double after, double enough)
{
    const double before = c->chi2[c->iterations];
    if (!(after <= before)) {
        memcpy(f->p.data, from, PARAMETERS * sizeof *from);
        after = before;
    }
    c->converged = before - after <= enough * before;
    c->chi2[++c->iterations] = after;
}

/* The length of the steps grows while chi2 falls; a step after which it has not fallen is halved. */
bool gradient_descent(fit *f, course *c, progress_fn progress)
{
    double rate = 1e-6, from[PARAMETERS];
    begin(f, c);
    while (!c->converged && c->iterations < c->most) {
        if (differentiate(f) != TK_OK)
            return false;
        memcpy(from, f->p.data, sizeof from);
        fit_descend(f, rate);
        double after = sum_of_squares(f);
        while (!(after <= c->chi2[c->iterations]) && rate > SMALLEST_RATE) {
            rate *= 0.5;
            memcpy(f->p.data, from, sizeof from);
            fit_descend(f, rate);
            after = sum_of_squares(f);
        }
        rate *= 1.5;
        note(f, c, from, after, ENOUGH_DESCENT);
        progress(c);
    }
    return true;
}

/* J, a row for each measurement, for free(); it leaves the residuals in their field. NULL: there is none. */
static double *jacobian(fit *f)
{
    double *j = malloc((size_t)f->params.N * PARAMETERS * sizeof *j);
    if (j && tk_jacobian_forward(f->residual.field, f->p.field, residuals, f, j) == TK_OK)
        return j;
    free(j);
    return NULL;
}

/* The linear least squares problem at the module's parameters. */
static bool normal_equations(fit *f, normal *e)
{
    double *j = jacobian(f);
    if (!j)
        return false;
    fit_compare(f);
    memset(e, 0, sizeof *e);
    for (int i = 0; i < f->params.N; i++) {
        const double *row = j + (size_t)i * PARAMETERS;
        for (int k = 0; k < PARAMETERS; k++) {
            e->right[k] += row[k] * f->residual.data[i];
            for (int l = 0; l < PARAMETERS; l++)
                e->matrix[k][l] += row[k] * row[l];
        }
    }
    free(j);
    return true;
}

/* chi2 after the step that solves (J^T J + damping * its diagonal) step = -J^T residual. */
static double newton_step(fit *f, const normal *e, double damping, const double from[PARAMETERS])
{
    normal damped = *e;
    for (int k = 0; k < PARAMETERS; k++)
        damped.matrix[k][k] *= 1.0 + damping;
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', PARAMETERS, 1, damped.matrix[0], PARAMETERS, damped.right, 1) != 0)
        return INFINITY;
    for (int k = 0; k < PARAMETERS; k++)
        f->p.data[k] = from[k] - damped.right[k];
    return sum_of_squares(f);
}

/* Steps to the minimum of the linear problem, shortened by damping until chi2 does not grow (Levenberg and Marquardt). */
bool gauss_newton(fit *f, course *c, progress_fn progress)
{
    double damping = 1e-3, from[PARAMETERS];
    normal e;
    begin(f, c);
    while (!c->converged && c->iterations < c->most) {
        if (!normal_equations(f, &e))
            return false;
        memcpy(from, f->p.data, sizeof from);
        double after = newton_step(f, &e, damping, from);
        while (!(after <= c->chi2[c->iterations]) && damping < LARGEST_DAMPING) {
            damping *= 10.0;
            after = newton_step(f, &e, damping, from);
        }
        damping = fmax(0.1 * damping, SMALLEST_DAMPING);
        note(f, c, from, after, ENOUGH_NEWTON);
        progress(c);
    }
    return true;
}

bool standard_errors(fit *f, double errors[PARAMETERS])
{
    normal e;
    if (!normal_equations(f, &e) || LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', PARAMETERS, e.matrix[0], PARAMETERS) != 0 ||
        LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'U', PARAMETERS, e.matrix[0], PARAMETERS) != 0)
        return false;
    for (int k = 0; k < PARAMETERS; k++)
        errors[k] = sqrt(e.matrix[k][k]);
    return true;
}

/* The same for one column. */
static double column_deviation(fit *f, const double *jacobian, int k, double *above)
{
    const int n = f->params.N;
    const double p = f->p.data[k], h = 1e-5 * fmax(fabs(p), 1.0);
    double worst = 0.0, largest = 0.0;
    f->p.data[k] = p + h;
    fit_compare(f);
    memcpy(above, f->residual.data, (size_t)n * sizeof *above);
    f->p.data[k] = p - h;
    fit_compare(f);
    f->p.data[k] = p;
    for (int i = 0; i < n; i++) {
        const double derivative = jacobian[(size_t)i * PARAMETERS + (size_t)k];
        const double d = fabs(derivative - (above[i] - f->residual.data[i]) / (2.0 * h));
        worst = d <= worst ? worst : d; /* keeps a NaN */
        largest = fmax(largest, fabs(derivative));
    }
    return largest > 0.0 ? worst / largest : INFINITY;
}

double jacobian_deviation(fit *f)
{
    double worst = 0.0, *j = jacobian(f), *above = malloc((size_t)f->params.N * sizeof *above);
    for (int k = 0; j && above && k < PARAMETERS; k++) {
        const double d = column_deviation(f, j, k, above);
        worst = d <= worst ? worst : d;
    }
    const bool ok = j && above && fit_status(f) == TK_OK;
    free(j);
    free(above);
    return ok ? worst : INFINITY;
}
