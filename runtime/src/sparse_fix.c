/* Dirichlet conditions on the values of a Hessian. */
#include "sparse.h"

typedef struct fixing {
    const tk_sparse *p;
    void *values;
    const bool *fixed;
} fixing;

/* Of a symmetric matrix: which of the two is the row does not matter. */
static inline void fix_value(const fixing *f, int64_t at, int64_t row, int64_t col)
{
    if (!f->fixed[row] && !f->fixed[col])
        return;
    if (f->p->elem == TK_F32)
        ((float *)f->values)[at] = row == col;
    else
        ((double *)f->values)[at] = row == col;
}

static void fix_lines(const void *args, int64_t lo, int64_t hi)
{
    const fixing *f = args;
    const tk_sparse *p = f->p;
    const int64_t b = p->opt.blocks ? p->block_cols : 1;
    for (int64_t i = lo; i < hi; i++) {
        const int64_t from = tk_rt_sparse_start(p, i), to = tk_rt_sparse_start(p, i + 1);
        for (int64_t k = from; k < to; k++) {
            const int64_t other = p->opt.wide ? ((const int64_t *)p->indices)[k] : ((const int32_t *)p->indices)[k],
                          row = p->opt.columns ? other : i, col = p->opt.columns ? i : other;
            for (int64_t r = 0; r < b; r++)
                for (int64_t c = 0; c < b; c++)
                    fix_value(f, (k * b + r) * b + c, row * b + r, col * b + c);
        }
    }
}

static const char *wrong(const tk_sparse *p, const void *values, size_t n, const bool *fixed, size_t nfixed)
{
    if (!p || !values || !fixed)
        return !p ? "the pattern is NULL" : !values ? "the array of values is NULL" : "the array of flags is NULL";
    if (!p->hessian)
        return "the pattern is that of a Jacobian";
    if (!p->starts)
        return "the pattern is not complete: its last function failed";
    if (n < (size_t)p->count)
        return "the array of values is shorter than the matrix";
    return nfixed != (size_t)p->rows * (size_t)p->block_rows ? "the flags are not one per component of the field"
                                                             : NULL;
}

tk_status tk_sparse_fix(const tk_sparse *p, void *values, size_t n, const bool *fixed, size_t nfixed)
{
    const char *why = wrong(p, values, n, fixed, nfixed);
    if (why)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_sparse_fix: %s", why);
    fix_lines(&(fixing){p, values, fixed}, 0, p->outer);
    return TK_OK;
}
