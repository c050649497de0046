/* A damped oscillation is fitted to measurements: gradient descent by a tape, and Gauss-Newton by Jacobians. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "csv.h"
#include "methods.h"
#include "options.h"
#include "picture.h"

/* Twice the same problem: by gradient descent, by Gauss-Newton. */
enum { DESCENT, NEWTON, METHODS };

typedef struct result {
    course course;
    double seconds;
    double p[PARAMETERS], errors[PARAMETERS];
    double *fitted; /* the model at the times of the measurements */
} result;

static const char *const method_names[METHODS] = {"gradient descent", "Gauss-Newton"};
static const char *const parameter_names[PARAMETERS] = {"amplitude", "decay", "frequency", "phase", "offset", "drift"};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void progress(const course *c)
{
    const bool last = c->converged || c->iterations == c->most;
    if (isatty(STDERR_FILENO) && (last || c->iterations % 256 == 0))
        fprintf(stderr, "\r%d iterations, chi2 %.6g%s", c->iterations, c->chi2[c->iterations], last ? "\n" : "  ");
}

/* ---- the problem ---- */

static fit *create(tk_session *session, const options *o)
{
    measurement *all = NULL;
    fit_params params = fit_defaults();
    params.N = csv_read(o->input, &all);
    if (params.N < 0)
        return NULL;
    fit *f = NULL;
    if (params.N <= PARAMETERS)
        fprintf(stderr, "%s: %d measurements are too few for %d parameters\n", o->input, params.N, PARAMETERS);
    else if ((f = fit_create(session, &params)) == NULL)
        fprintf(stderr, "fit: %s\n", tk_error());
    for (int i = 0; f && i < params.N; i++) {
        f->time.data[i] = all[i].t;
        f->value.data[i] = all[i].y;
        f->sigma.data[i] = all[i].sigma;
    }
    free(all);
    return f;
}

static void keep_fitted(const fit *f, double *fitted)
{
    for (int i = 0; i < f->params.N; i++)
        fitted[i] = f->value.data[i] + f->sigma.data[i] * f->residual.data[i];
}

/* ---- the methods ---- */

static bool run(fit *f, const options *o, int method, result *r)
{
    r->course.most = method == DESCENT ? o->descent : o->newton;
    r->course.chi2 = malloc(((size_t)r->course.most + 1) * sizeof *r->course.chi2);
    r->fitted = malloc((size_t)f->params.N * sizeof *r->fitted);
    if (!r->course.chi2 || !r->fitted) {
        perror("fit");
        return false;
    }
    memcpy(f->p.data, o->start, sizeof o->start);
    const double start = now();
    if (!(method == DESCENT ? gradient_descent : gauss_newton)(f, &r->course, progress))
        return false;
    r->seconds = now() - start;
    memcpy(r->p, f->p.data, sizeof r->p);
    if (!standard_errors(f, r->errors)) {
        fprintf(stderr, "fit: these measurements do not determine all parameters\n");
        return false;
    }
    sum_of_squares(f);
    keep_fitted(f, r->fitted);
    return fit_status(f) == TK_OK;
}

/* chi2 of a right model has this mean, and this times two as variance: five standard deviations are let pass. */
static bool reached(const fit *f, const course *c)
{
    const double freedom = f->params.N - PARAMETERS, limit = freedom + 5.0 * sqrt(2.0 * freedom);
    return c->converged && c->chi2[c->iterations] <= limit;
}

static bool report(const fit *f, const result r[METHODS])
{
    bool ok = true;
    printf("%d measurements\n\n%-12s", f->params.N, "");
    for (int m = 0; m < METHODS; m++)
        printf("%28s", method_names[m]);
    for (int k = 0; k < PARAMETERS; k++) {
        printf("\n%-12s", parameter_names[k]);
        for (int m = 0; m < METHODS; m++)
            printf("%16.6f +- %8.6f", r[m].p[k], r[m].errors[k]);
    }
    printf("\n%-12s", "chi2");
    for (int m = 0; m < METHODS; m++)
        printf("%28.6f", r[m].course.chi2[r[m].course.iterations]);
    printf("\n%-12s", "iterations");
    for (int m = 0; m < METHODS; m++)
        printf("%28d", r[m].course.iterations);
    printf("\n%-12s", "time, ms");
    for (int m = 0; m < METHODS; m++)
        printf("%28.3f", 1e3 * r[m].seconds);
    printf("\n\n");
    for (int m = 0; m < METHODS; m++) {
        const bool good = reached(f, &r[m].course);
        printf("%s %s; chi2 of a good fit is about %d\n", method_names[m],
               good ? "reached a good fit" : "DID NOT REACH A GOOD FIT", f->params.N - PARAMETERS);
        ok = ok && good;
    }
    return ok;
}

static bool check(fit *f)
{
    const double deviation = jacobian_deviation(f);
    const bool ok = deviation < 1e-6;
    printf("the Jacobian deviates from central differences by %.1e: %s\n", deviation, ok ? "right" : "WRONG");
    return ok;
}

static bool draw(const fit *f, const double *before, const result r[METHODS], const char *path)
{
    const bool ok = picture_write(path, f, before, r[NEWTON].fitted, &r[DESCENT].course, &r[NEWTON].course);
    if (ok)
        printf("picture: %s\n", path);
    return ok;
}

static bool fit_both_ways(fit *f, const options *o)
{
    result r[METHODS] = {0};
    double *before = malloc((size_t)f->params.N * sizeof *before);
    bool ok = before != NULL;
    if (ok) {
        memcpy(f->p.data, o->start, sizeof o->start);
        sum_of_squares(f);
        keep_fitted(f, before);
        ok = (!o->check || check(f)) && run(f, o, DESCENT, &r[DESCENT]) && run(f, o, NEWTON, &r[NEWTON]);
    }
    if (ok) {
        ok = report(f, r);
        ok = (!*o->png || draw(f, before, r, o->png)) && ok;
    }
    for (int m = 0; m < METHODS; m++) {
        free(r[m].course.chi2);
        free(r[m].fitted);
    }
    free(before);
    return ok;
}

int main(int argc, char **argv)
{
    options o;
    const int status = options_parse(&o, argc, (const char **)argv);
    if (status >= 0)
        return status;
    tk_session_options so = tk_session_defaults();
    so.threads = 1; /* the loops are short */
    tk_session *session = tk_session_create(&so);
    if (!session) {
        fprintf(stderr, "fit: %s\n", tk_error());
        return 1;
    }
    fit *f = create(session, &o);
    bool ok = f && fit_both_ways(f, &o);
    if (f && fit_status(f) != TK_OK) {
        fprintf(stderr, "fit: %s\n", fit_error(f));
        ok = false;
    }
    fit_destroy(f);
    tk_session_destroy(session);
    return !ok;
}
