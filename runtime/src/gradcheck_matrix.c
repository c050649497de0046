/* Matrices of derivatives, compared entry by entry with products and with differences. */
#include "gradcheck.h"
#include "sparse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- one column ---- */

enum { POINTS = 64 };

/* The values of all rows at points of a line along one variable. Each point is computed once: the differences of all
 * rows are at the same points. */
typedef struct column {
    void (*values)(void *ctx, int64_t k, double *x, double *values); /* variable k is at x, as rounded to its type */
    void *ctx;
    int64_t k, row, rows;
    int npoints;
    double asked[POINTS], at[POINTS];
    double *found; /* POINTS + 1 times all rows */
} column;

static double value_at(void *ctx, double *x)
{
    column *c = ctx;
    for (int i = 0; i < c->npoints; i++)
        if (c->asked[i] == *x) {
            *x = c->at[i];
            return c->found[i * c->rows + c->row];
        }
    const int i = c->npoints;
    const double asked = *x;
    double *values = c->found + i * c->rows;
    c->values(c->ctx, c->k, x, values);
    if (i < POINTS) {
        c->asked[i] = asked;
        c->at[i] = *x;
        c->npoints++;
    }
    return values[c->row];
}

/* Row by row. first: what precedes column 0 among `cols` columns. products: NULL, or the column by forward mode. */
static void compare_column(gradcheck *g, column *c, rt_line *l, tk_field *f, int64_t first, int64_t cols,
                           const double *entries, const double *products, const double *largest)
{
    c->npoints = 0;
    l->at = value_at;
    l->ctx = c;
    for (c->row = 0; c->row < c->rows; c->row++) {
        const modes m = {
            .reverse = entries[c->row], .forward = products ? products[c->row] : NAN, .has_forward = products != NULL};
        g->largest = largest[c->row];
        tk_rt_compare(g, l, &m, f, c->row * cols + first + c->k);
    }
}

static void enlarge(double *largest, double entry)
{
    if (isfinite(entry))
        *largest = fmax(*largest, fabs(entry));
}

static rt_text text_of(const tk_gradcheck_result *r)
{
    rt_text t;
    if (r->has_forward)
        snprintf(t.s, sizeof t.s, "%.9g in the matrix, %.9g by a product, %.9g by differences (step %g)", r->reverse,
                 r->forward, r->difference, r->step);
    else
        snprintf(t.s, sizeof t.s, "%.9g in the matrix, %.9g by differences (step %g)", r->reverse, r->difference,
                 r->step);
    return t;
}

static size_t bytes_of(size_t rows, size_t count)
{
    return rows * count * sizeof(double) + 1;
}

/* Whether `bytes_of` any of what is allocated is a number. */
static bool are_few(size_t rows, size_t n)
{
    return rows < SIZE_MAX / 32 / (POINTS + 1) && n < SIZE_MAX / 32 && (rows == 0 || n < SIZE_MAX / 32 / rows);
}

/* ---- functions of the host ---- */

typedef struct host_matrix {
    const tk_matrix_function *f;
    void *user;
    double *x;
} host_matrix;

static void host_values(void *ctx, int64_t k, double *x, double *values)
{
    const host_matrix *h = ctx;
    const double old = h->x[k];
    *x = h->f->single ? (double)(float)*x : *x;
    h->x[k] = *x;
    memset(values, 0, h->f->rows * sizeof *values);
    h->f->values(h->user, h->x, values);
    h->x[k] = old;
}

/* rest: three times all rows, zero; unit: all variables, zero. */
static void check_host_matrix(gradcheck *g, const host_matrix *h, column *c, size_t n, double *matrix, double *rest,
                              double *unit)
{
    const size_t rows = h->f->rows;
    double *entries = rest, *products = entries + rows, *largest = products + rows;
    for (size_t i = 0; i < rows * n; i++)
        matrix[i] = NAN; /* all entries are to be written */
    h->f->matrix(h->user, h->x, matrix);
    for (size_t i = 0; i < rows * n; i++)
        enlarge(&largest[i / n], matrix[i]);
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < rows; i++)
            entries[i] = matrix[i * n + k];
        if (h->f->product) {
            unit[k] = 1;
            memset(products, 0, rows * sizeof *products);
            h->f->product(h->user, h->x, unit, products);
            unit[k] = 0;
        }
        c->k = (int64_t)k;
        rt_line l = {.x = h->x[k], .single = h->f->single};
        compare_column(g, c, &l, NULL, 0, (int64_t)n, entries, h->f->product ? products : NULL, largest);
    }
}

tk_status tk_gradcheck_matrix(const double *x, size_t n, const tk_matrix_function *f, void *user, double tolerance,
                              tk_gradcheck_result *result)
{
    if (!f || !f->values || !f->matrix || (!x && n > 0))
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_gradcheck_matrix: the point, the function or its matrix is NULL");
    const size_t rows = f->rows;
    const bool few = are_few(rows, n);
    column *c = few ? calloc(1, sizeof *c) : NULL;
    double *found = few ? calloc(1, bytes_of(rows, POINTS + 1)) : NULL,
           *matrix = few ? calloc(1, bytes_of(rows, n)) : NULL, *rest = few ? calloc(1, bytes_of(rows, 3)) : NULL,
           *at = few ? calloc(1, bytes_of(n, 2)) : NULL;
    double *unit = at ? at + n : NULL;
    gradcheck g = {.o.tolerance = tolerance, .result.has_forward = f->product != NULL};
    tk_status st = c && found && matrix && rest && at ? TK_OK : TK_NO_MEMORY;
    if (st == TK_OK) {
        for (size_t k = 0; k < n; k++)
            at[k] = f->single ? (double)(float)x[k] : x[k];
        const host_matrix h = {f, user, at};
        *c = (column){.values = host_values, .ctx = (void *)&h, .rows = (int64_t)rows, .found = found};
        check_host_matrix(&g, &h, c, n, matrix, rest, unit);
    }
    free(c);
    free(found);
    free(matrix);
    free(rest);
    free(at);
    if (st != TK_OK)
        return tk_rt_thread_fail(st, "tk_gradcheck_matrix: out of memory for %zu rows and %zu columns", rows, n);
    if (result)
        *result = g.result;
    if (!(g.worst > 1) && !tk_rt_told_nothing(&g.result))
        return TK_OK;
    const rt_text by = text_of(&g.result);
    const long long row = (long long)(g.result.component / (int64_t)n),
                    col = (long long)(g.result.component % (int64_t)n);
    if (!(g.worst > 1))
        return tk_rt_thread_fail(TK_UNDECIDED,
                                 "differences %s whether an entry is right; that in row %lld, column %lld is %s%s",
                                 tk_rt_undecided(&g.result), row, col, by.s, tk_rt_remedy(&g.result, false));
    return tk_rt_thread_fail(TK_WRONG_GRADIENT, "the entry in row %lld, column %lld is %s", row, col, by.s);
}

/* ---- sparse matrices of kernels ---- */

typedef struct sparse_check {
    gradcheck g;
    const tk_sparse *p;
    tk_field *by;
    int64_t first; /* column of the first component of `by` */
    tk_status st;  /* of the runs */
} sparse_check;

/* Field i of the columns; NULL: there are no more. Of a pattern by one field it is that of the caller. */
static const tk_field *column_field(const tk_sparse *p, const tk_field *by, int i)
{
    const tk_elements *k = p->parts[0].k;
    if (k->nby == 1)
        return i ? NULL : by;
    return i < k->nby ? tk_rt_sparse_field(by->module, k, i) : NULL;
}

/* The first column of `by`, or with NULL the number of columns; -1: the pattern has no columns of `by`. */
static int64_t first_column(const tk_sparse *p, const tk_field *any, const tk_field *by)
{
    int64_t first = 0;
    const tk_field *f;
    for (int i = 0; (f = column_field(p, any, i)) != NULL; i++) {
        if (f == by)
            return first;
        first += (int64_t)tk_rt_scalars(f);
    }
    return by ? -1 : first;
}

/* Component k of the matrix's row or column where the field's layout has it. */
static int64_t number_in(const tk_field *f, int64_t k)
{
    return tk_rt_number(f, k / f->desc->ncomp, k % f->desc->ncomp);
}

/* Row k as a component of a field. */
static const tk_field *component_of(const sparse_check *c, int64_t *k)
{
    if (!c->p->hessian) {
        *k = number_in(c->g.loss, *k);
        return c->g.loss;
    }
    int i = 0;
    const tk_field *f = column_field(c->p, c->by, 0);
    while (*k >= (int64_t)tk_rt_scalars(f)) {
        *k -= (int64_t)tk_rt_scalars(f);
        f = column_field(c->p, c->by, ++i);
    }
    *k = number_in(f, *k);
    return f;
}

static int64_t number_of_rows(const sparse_check *c)
{
    return c->p->hessian ? c->p->rows * c->p->block_rows : (int64_t)tk_rt_scalars(c->g.loss);
}

static int64_t index_of(const tk_sparse *p, int64_t k)
{
    return p->opt.wide ? ((const int64_t *)p->indices)[k] : ((const int32_t *)p->indices)[k];
}

/* An entry that the pattern lacks is 0; of a lower triangle, the entry above the diagonal is its mirror image. */
static double entry_of(const tk_sparse *p, const void *values, int64_t row, int64_t col)
{
    const int r = p->opt.blocks ? p->block_rows : 1, c = p->opt.blocks ? p->block_cols : 1;
    if (p->hessian && !p->opt.full && row / r < col / c)
        return entry_of(p, values, col, row);
    const int64_t line = p->opt.columns ? col / c : row / r, other = p->opt.columns ? row / r : col / c;
    for (int64_t k = tk_rt_sparse_start(p, line); k < tk_rt_sparse_start(p, line + 1); k++) {
        const int64_t at = (k * r + row % r) * c + col % c;
        if (index_of(p, k) == other)
            return p->elem == TK_F32 ? (double)((const float *)values)[at] : ((const double *)values)[at];
    }
    return 0;
}

static tk_status run_once(const sparse_check *c)
{
    const gradcheck *g = &c->g;
    if (!c->p->hessian) {
        tk_rt_snapshot_run(g->snapshot, g->run, g->user);
        return tk_session_status(g->s);
    }
    const tk_status st = tk_tape_begin(g->loss, 0);
    if (st != TK_OK)
        return st;
    tk_rt_snapshot_run(g->snapshot, g->run, g->user);
    return tk_tape_end(g->loss);
}

/* Of a Hessian the gradient, of a Jacobian the residuals. */
static void sparse_values(void *ctx, int64_t k, double *x, double *values)
{
    sparse_check *c = ctx;
    const bool hess = c->p->hessian;
    tk_rt_snapshot_restore(c->g.snapshot);
    tk_rt_scalar_set(c->by, TK_DATA, number_in(c->by, k), *x);
    *x = tk_rt_scalar_get(c->by, TK_DATA, number_in(c->by, k));
    c->st = c->st == TK_OK ? run_once(c) : c->st;
    for (int64_t i = 0, n = number_of_rows(c); i < n; i++) {
        int64_t at = i;
        const tk_field *from = component_of(c, &at);
        values[i] = tk_rt_scalar_get(from, hess ? RT_ADJOINT : TK_DATA, at);
    }
}

/* Column k of a Jacobian by forward mode. seed: zeros. */
static tk_status sparse_product(const sparse_check *c, int64_t k, void *seed, double *products)
{
    tk_field *of = c->g.loss;
    const float one_f32 = 1.0f;
    const double one_f64 = 1.0;
    const size_t size = tk_rt_scalar_bytes(c->by->desc->elem), n = tk_rt_scalars(c->by);
    unsigned char *at = (unsigned char *)seed + (size_t)number_in(c->by, k) * size;
    tk_rt_snapshot_restore(c->g.snapshot);
    memcpy(at, c->by->desc->elem == TK_F32 ? (const void *)&one_f32 : (const void *)&one_f64, size);
    const tk_status st = tk_forward_begin(&of, 1, c->by, seed, n);
    memset(at, 0, size);
    if (st != TK_OK)
        return st;
    tk_rt_snapshot_run(c->g.snapshot, c->g.run, c->g.user);
    for (int64_t i = 0, rows = (int64_t)tk_rt_scalars(of); i < rows; i++)
        products[i] = tk_rt_scalar_get(of, RT_TANGENT, number_in(of, i));
    return tk_forward_end(c->g.s);
}

/* rest: three times all rows, zero; seed: NULL, or that of a forward scope, zeros. */
static tk_status check_sparse_columns(sparse_check *c, column *col, const void *values, double *rest, void *seed)
{
    const int64_t rows = col->rows, cols = (int64_t)tk_rt_scalars(c->by), all = c->p->cols * c->p->block_cols;
    double *entries = rest, *products = entries + rows, *largest = products + rows;
    const bool single = c->by->desc->elem == TK_F32 || c->g.loss->desc->elem == TK_F32 || c->p->elem == TK_F32;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < cols; k++)
            enlarge(&largest[i], entry_of(c->p, values, i, c->first + k));
    c->g.result.has_forward = seed != NULL;
    for (int64_t k = 0; k < cols && c->st == TK_OK; k++) {
        for (int64_t i = 0; i < rows; i++)
            entries[i] = entry_of(c->p, values, i, c->first + k);
        c->st = seed ? sparse_product(c, k, seed, products) : TK_OK;
        if (c->st != TK_OK)
            break;
        col->k = k;
        tk_rt_snapshot_restore(c->g.snapshot);
        rt_line l = {.x = tk_rt_scalar_get(c->by, TK_DATA, number_in(c->by, k)), .single = single};
        compare_column(&c->g, col, &l, c->by, c->first, all, entries, seed ? products : NULL, largest);
    }
    return c->st;
}

static tk_status sparse_columns(sparse_check *c, const void *values)
{
    tk_session *s = c->g.s;
    const tk_field *of = c->g.loss;
    const size_t rows = (size_t)number_of_rows(c);
    const bool forward = !c->p->hessian && of->plane[RT_TANGENT] && c->by->plane[RT_TANGENT];
    const bool few = are_few(rows, 1);
    column *col = tk_rt_alloc(s, sizeof *col, true);
    double *found = few ? tk_rt_alloc(s, bytes_of(rows, POINTS + 1), false) : NULL,
           *rest = few ? tk_rt_alloc(s, bytes_of(rows, 3), true) : NULL;
    void *seed = forward ? tk_rt_alloc(s, tk_field_bytes(c->by) + 1, true) : NULL;
    tk_status st = TK_OK;
    if (!col || !found || !rest || (forward && !seed)) {
        st = tk_fail(s, TK_NO_MEMORY, "out of memory for checking the matrix by field '%s'", c->by->desc->name);
    } else {
        *col = (column){.values = sparse_values, .ctx = c, .rows = (int64_t)rows, .found = found};
        st = check_sparse_columns(c, col, values, rest, seed);
    }
    tk_rt_free(s, seed);
    tk_rt_free(s, rest);
    tk_rt_free(s, found);
    tk_rt_free(s, col);
    return st;
}

static tk_status check_sparse_arguments(const tk_sparse *p, const void *values, const tk_field *of, const tk_field *by,
                                        tk_program_fn run)
{
    tk_session *s = of->module->session;
    const tk_status st = tk_rt_check_closed(s, "tk_gradcheck_sparse");
    if (st != TK_OK)
        return st;
    if (!p || !p->starts || !values || !run)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_gradcheck_sparse: the pattern, the values or the program are NULL");
    if (by->module->session != s || !tk_rt_is_float(of) || !tk_rt_is_float(by))
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_gradcheck_sparse: '%s' and '%s' are not float fields of one session",
                       of->desc->name, by->desc->name);
    const size_t rows = p->hessian ? 1 : (size_t)p->rows * (size_t)p->block_rows,
                 cols = (size_t)p->cols * (size_t)p->block_cols;
    if (tk_rt_scalars(of) != rows || first_column(p, by, by) < 0 || (size_t)first_column(p, by, NULL) != cols)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_gradcheck_sparse: the pattern is not one of '%s' by '%s'",
                       of->desc->name, by->desc->name);
    if (p->hessian && (!of->plane[RT_ADJOINT] || !by->plane[RT_ADJOINT]))
        return tk_fail(s, TK_NO_DERIVATIVE, "tk_gradcheck_sparse: '%s' is not declared needs_grad",
                       of->plane[RT_ADJOINT] ? by->desc->name : of->desc->name);
    return TK_OK;
}

static tk_status sparse_verdict(const sparse_check *c)
{
    const tk_gradcheck_result *r = &c->g.result;
    if (!(c->g.worst > 1) && !tk_rt_told_nothing(r))
        return TK_OK;
    const int64_t cols = c->p->cols * c->p->block_cols;
    int64_t at = r->component / cols;
    const tk_field *across = component_of(c, &at);
    const rt_text row = tk_rt_element_text(across, TK_DATA, at),
                  col = tk_rt_element_text(c->by, TK_DATA, number_in(c->by, r->component % cols - c->first)),
                  by = text_of(r);
    if (!(c->g.worst > 1))
        return tk_fail(c->g.s, TK_UNDECIDED, "differences %s whether an entry is right; that of '%s' by '%s' is %s%s",
                       tk_rt_undecided(r), row.s, col.s, by.s, tk_rt_remedy(r, true));
    return tk_fail(c->g.s, TK_WRONG_GRADIENT, "the entry of '%s' by '%s' is %s", row.s, col.s, by.s);
}

tk_status tk_gradcheck_sparse(const tk_sparse *pattern, const void *values, tk_field *of, tk_field *by,
                              tk_program_fn run, void *user, double tolerance, tk_gradcheck_result *result)
{
    if (!of || !by)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_gradcheck_sparse: a field is NULL");
    RT_ENTER(of->module->session, "tk_gradcheck_sparse", TK_BAD_STATE);
    tk_status st = check_sparse_arguments(pattern, values, of, by, run);
    if (st != TK_OK)
        return st;
    sparse_check c = {.p = pattern, .by = by, .first = first_column(pattern, by, by)};
    c.g = (gradcheck){.s = of->module->session, .loss = of, .run = run, .user = user, .o.tolerance = tolerance};
    RT_SNAPSHOT snapshot = tk_rt_snapshot_take(c.g.s);
    c.g.snapshot = &snapshot;
    if (!snapshot.data)
        return tk_session_status(c.g.s);
    st = sparse_columns(&c, values);
    tk_rt_snapshot_restore(&snapshot);
    if (result)
        *result = c.g.result;
    return st == TK_OK ? sparse_verdict(&c) : st;
}
