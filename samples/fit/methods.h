/* Two ways to least squares, by derivatives that tkc made of fit.tk. */
#ifndef METHODS_H
#define METHODS_H

#include <stdbool.h>

#include "fit.h"

enum { PARAMETERS = 6 };

/* How a method went. */
typedef struct course {
    int most;        /* iterations that it may take */
    int iterations;  /* that it took */
    double *chi2;    /* before the first and after each of them: most + 1 */
    bool converged;
} course;

typedef void (*progress_fn)(const course *c); /* called after each iteration */

/* chi2 at the module's parameters. */
double sum_of_squares(fit *f);

/* Each goes on from the module's parameters and leaves there what it found. False: a derivative failed, see fit_status. */
bool gradient_descent(fit *f, course *c, progress_fn progress);
bool gauss_newton(fit *f, course *c, progress_fn progress);

/* Standard errors of the parameters: roots of the diagonal of (J^T J)^-1. False: they are not determined. */
bool standard_errors(fit *f, double errors[PARAMETERS]);

/* The largest deviation of the Jacobian from central differences, against the largest number in its column. Infinity: it could not be compared. */
double jacobian_deviation(fit *f);

#endif
