/* What a module's stub gives to expcheck.c: each export func over flat vectors of f64, some of whose numbers the function has in f32. */
#ifndef EXPCHECK_H
#define EXPCHECK_H

#include <stdbool.h>

typedef struct expcheck_func {
    const char *name;
    int nin, nout; /* real components that go in, that come out */
    const bool *single_in, *single_out; /* which of them are f32; NULL: none */
    const bool *by_grad, *by_jvp, *by_hvp; /* which inputs that derivative is by; NULL: all */
    void (*run)(const double *x, double *y);
    void (*grad)(const double *x, double *y, const double *w, double *g);                                         /* NULL: none */
    void (*jvp)(const double *x, const double *v, double *y, double *dy);                                         /* NULL: none */
    void (*hvp)(const double *x, const double *v, double *y, double *dy, const double *w, double *g, double *dg); /* NULL: none; of constant seeds */
    void (*jac)(const double *x, double *y, double *matrix);                                                      /* NULL: none */
    void (*hess)(const double *x, double *y, const double *w, double *g, double *matrix);                         /* NULL: none */
    const int *jac_columns, *hess_columns; /* inputs */
    int jac_ncolumns, hess_ncolumns;
} expcheck_func;

/* Ends the program where the tables of a matrix lack an entry that is not zero. */
void expcheck_pattern(const char *name, const double *matrix, int nrows, int ncols, int n, const int *row, const int *col);

extern const expcheck_func expcheck_funcs[];
extern const int expcheck_count;

#endif
