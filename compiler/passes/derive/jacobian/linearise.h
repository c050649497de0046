/* The local Jacobian of a function: its operations, and behind them the partials of its results. */
#ifndef TKC_JACOBIAN_LINEARISE_H
#define TKC_JACOBIAN_LINEARISE_H

#include "passes/analysis/analysis.h"
#include "passes/derive/jacobian/graph.h"

/* Which rows and columns of a function are wanted. */
typedef struct jac_wanted {
    const int *rows, *cols; /* numbers of yielded values, of parameters; all are floats */
    int nrows, ncols;
    int nresults; /* so many values are yielded as they are; of a Hessian the rows, too */
    bool lower;   /* rows and columns are the same inputs, and the matrix is symmetric: its lower triangle */
    bool of_args; /* a value in the program: memory counts as constant, and what is called has the program's derivatives
                   */
} jac_wanted;

/* A function of f's parameters that yields the first `nresults` values that f yields, for a lower triangle the rows,
 * and then the entries of the matrix that are not zero by structure, row by row; `pattern` takes them: nrows x ncols.
 * NULL: the function holds what has no local Jacobian, as a local array that is active; no part of it stays. `made`
 * takes how it is made; NULL: nothing does. */
ir_func *jac_linearise(const ir_func *f, ir_func_kind kind, const char *name, const jac_wanted *wanted, bool *pattern,
                       ir_matrix *made);

/* ---- facts.c ---- */

/* Beyond so many operations a loop over directions is shorter, and C compilers take long. */
enum { JAC_MOST_OPERATIONS = 10000 };

/* Whether C compilers take it as one straight line; enters what it holds. */
bool jac_is_short(const ir_func *line, ir_matrix *made);
ir_matrix *jac_made(const ir_func *of, int kind, int rows, int cols);
void jac_count_entries(ir_matrix *made, const bool *pattern);
/* Adds it to the list of the module, which --explain reads. */
void jac_list(const ir_matrix *made);

#endif
