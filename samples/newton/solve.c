#include "solve.h"

#include <cholmod.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct factor {
    cholmod_common common;
    cholmod_sparse matrix; /* the Hessian: its arrays are those of libtkc */
    cholmod_factor *L;
    double diagonal; /* mean of the matrix's */
} factor;

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool fails(const char *why)
{
    fprintf(stderr, "newton: %s\n", why);
    return false;
}

/* ---- CHOLMOD ---- */

/* The pattern is analysed once. */
static bool factor_create(factor *f, const mesh *k)
{
    cholmod_start(&f->common);
    f->common.print = 0;
    f->common.supernodal = CHOLMOD_SUPERNODAL; /* L L': it fails where the matrix is not positive definite */
    f->common.quick_return_if_not_posdef = 1;
    f->matrix = (cholmod_sparse){.nrow = (size_t)k->n,
                                 .ncol = (size_t)k->n,
                                 .nzmax = tk_sparse_values(k->hessian),
                                 .p = (void *)tk_sparse_starts(k->hessian),
                                 .i = (void *)tk_sparse_indices(k->hessian),
                                 .x = k->values,
                                 .stype = -1, /* the lower triangle */
                                 .itype = CHOLMOD_INT,
                                 .xtype = CHOLMOD_REAL,
                                 .dtype = CHOLMOD_DOUBLE,
                                 .sorted = 1,
                                 .packed = 1};
    f->L = cholmod_analyze(&f->matrix, &f->common);
    return f->L || fails("CHOLMOD has no memory for this matrix");
}

static void factor_destroy(factor *f)
{
    cholmod_free_factor(&f->L, &f->common);
    cholmod_finish(&f->common);
}

/* 1: L is the factor of the matrix with `shift` on its diagonal; 0: that is not positive definite; -1: failure. */
static int factorize(factor *f, double shift)
{
    double beta[2] = {shift, 0.0};
    if (!cholmod_factorize_p(&f->matrix, beta, NULL, 0, f->L, &f->common) || f->common.status < CHOLMOD_OK)
        return -1;
    return f->common.status != CHOLMOD_NOT_POSDEF;
}

static double mean_of_diagonal(const mesh *k)
{
    const int32_t *begin = tk_sparse_starts(k->hessian);
    double sum = 0.0;
    for (int j = 0; j < k->n; j++) /* the first of a column */
        sum += fabs(k->values[begin[j]]);
    return sum / k->n;
}

/* If the Hessian is not positive definite, the blocks of its elements are projected. If that is singular, more and more
 * is added to its diagonal. */
static bool factorize_positive(factor *f, mesh *k, course *c, iteration *i)
{
    const double least = 1e-5 * mean_of_diagonal(k), start = seconds_now();
    int done = factorize(f, 0.0);
    i->shift = 0.0;
    i->projected = 0;
    if (done == 1)
        c->factorize = fmin(c->factorize, seconds_now() - start);
    while (done == 0) {
        if (i->projected == 0) {
            mesh_derive(k, true);
            i->projected = tk_sparse_projected(k->hessian);
        } else {
            i->shift = fmax(4.0 * i->shift, least);
        }
        if (i->projected == 0 || !(i->shift < 1e8 * least))
            return fails("the Hessian has numbers that are not finite");
        done = factorize(f, i->shift);
    }
    return done > 0 || fails("CHOLMOD fails");
}

/* ---- steps ---- */

static double largest(const double *g, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++)
        most = fabs(g[i]) <= most ? most : fabs(g[i]); /* keeps a NaN */
    return most;
}

/* direction = - matrix^-1 gradient. */
static bool newton_direction(factor *f, const mesh *k, double *direction)
{
    cholmod_dense b = {.nrow = (size_t)k->n,
                       .ncol = 1,
                       .nzmax = (size_t)k->n,
                       .d = (size_t)k->n,
                       .x = mesh_gradient(k),
                       .xtype = CHOLMOD_REAL,
                       .dtype = CHOLMOD_DOUBLE};
    cholmod_dense *x = cholmod_solve(CHOLMOD_A, f->L, &b, &f->common);
    if (!x)
        return fails("CHOLMOD has no memory for a solution");
    for (int i = 0; i < k->n; i++)
        direction[i] = -((const double *)x->x)[i];
    cholmod_free_dense(&x, &f->common);
    return true;
}

/* Halves the step until the energy falls in proportion (Armijo, 1966); elements that turn over have none. Returns the
 * part of the direction; 0: there is none. Near the end the energy changes by less than its rounding. */
static double line_search(mesh *k, const double *direction, double *from, double energy)
{
    const double *g = mesh_gradient(k), rounding = 1e-14 * fabs(energy);
    double *x = mesh_places(k), slope = 0.0;
    memcpy(from, x, (size_t)k->n * sizeof *from);
    for (int i = 0; i < k->n; i++)
        slope += g[i] * direction[i];
    for (double part = 1.0; part > 1e-12; part *= 0.5) {
        for (int i = 0; i < k->n; i++)
            x[i] = from[i] + part * direction[i];
        if (mesh_energy(k) <= energy + 1e-4 * part * slope + rounding)
            return part;
    }
    memcpy(x, from, (size_t)k->n * sizeof *from);
    return 0.0;
}

/* What is here, noted in the course. */
static bool look(mesh *k, course *c, double bound)
{
    iteration *i = &c->at[c->count];
    const double start = seconds_now();
    i->energy = mesh_derive(k, false);
    c->derive = fmin(c->derive, seconds_now() - start);
    if (newton_status(k->m) != TK_OK)
        return mesh_fails(k);
    i->gradient = largest(mesh_gradient(k), k->n);
    c->found = i->gradient < bound;
    return isfinite(i->energy) || fails("elements are turned over at the first guess: less --squeeze or --turn");
}

bool solve(mesh *k, int iterations, double bound, told_fn told, void *user, course *c)
{
    factor f = {.L = NULL};
    *c = (course){.at = calloc((size_t)iterations + 1, sizeof *c->at), .derive = INFINITY, .factorize = INFINITY};
    double *direction = malloc(2 * (size_t)k->n * sizeof *direction);
    bool ok = (c->at && direction) || fails("out of memory"), goes_on = true;
    ok = ok && look(k, c, bound) && factor_create(&f, k);
    while (ok && goes_on && !c->found && c->count < iterations) {
        iteration *i = &c->at[c->count];
        ok = factorize_positive(&f, k, c, i) && newton_direction(&f, k, direction);
        i->step = ok ? line_search(k, direction, direction + k->n, i->energy) : 0.0;
        goes_on = told(user, c) && i->step > 0.0;
        if (!goes_on)
            break;
        c->count++;
        ok = ok && look(k, c, bound);
    }
    if (ok && c->found) {
        iteration last = {.step = 0.0};
        told(user, c);
        c->minimum = factorize_positive(&f, k, c, &last) && last.projected == 0;
    }
    if (f.L) {
        c->factor_numbers = f.common.lnz;
        factor_destroy(&f);
    }
    free(direction);
    return ok;
}

void course_destroy(course *c)
{
    free(c->at);
}
