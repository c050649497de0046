/* A sparse matrix of a kernel as a dense one. */
#ifndef TESTS_RUN_SPARSE
#define TESTS_RUN_SPARSE

#include "host.h"

enum { MOST_ENTRIES = 2000 };

static int64_t sparse_start(const tk_sparse *p, size_t i)
{
    return tk_sparse_starts(p) ? tk_sparse_starts(p)[i] : tk_sparse_starts_wide(p)[i];
}

static int64_t sparse_index(const tk_sparse *p, int64_t k)
{
    return tk_sparse_indices(p) ? tk_sparse_indices(p)[k] : tk_sparse_indices_wide(p)[k];
}

/* The form of the pattern is that of the options; r, c: the size of a block. */
static void sparse_form(const tk_sparse *p, const tk_sparse_options *o, size_t rows, size_t cols, int r, int c)
{
    CHECK(tk_sparse_rows(p) == rows / (o->blocks ? (size_t)r : 1));
    CHECK(tk_sparse_cols(p) == cols / (o->blocks ? (size_t)c : 1));
    CHECK((tk_sparse_starts(p) != NULL) == !o->wide && (tk_sparse_indices(p) != NULL) == !o->wide);
    CHECK((tk_sparse_starts_wide(p) != NULL) == o->wide && (tk_sparse_indices_wide(p) != NULL) == o->wide);
    CHECK(tk_sparse_values(p) <= MOST_ENTRIES);
}

/* D: rows x cols, NAN where there is no entry. Indices ascend. */
static void sparse_dense(const tk_sparse *p, const tk_sparse_options *o, const double *values, int r, int c, double *D)
{
    const int block_rows = o->blocks ? r : 1, block_cols = o->blocks ? c : 1;
    const size_t lines = o->columns ? tk_sparse_cols(p) : tk_sparse_rows(p),
                 width = tk_sparse_cols(p) * (size_t)block_cols;
    for (size_t i = 0; i < tk_sparse_rows(p) * (size_t)block_rows * width; i++)
        D[i] = NAN;
    CHECK(sparse_start(p, 0) == 0);
    for (size_t i = 0; i < lines; i++)
        for (int64_t k = sparse_start(p, i); k < sparse_start(p, i + 1); k++) {
            const int64_t other = sparse_index(p, k), row = o->columns ? other : (int64_t)i,
                          col = o->columns ? (int64_t)i : other;
            CHECK(k == sparse_start(p, i) || sparse_index(p, k - 1) < other);
            for (int a = 0; a < block_rows; a++)
                for (int b = 0; b < block_cols; b++)
                    D[(size_t)(row * block_rows + a) * width + (size_t)(col * block_cols + b)] =
                        values[(k * block_rows + a) * block_cols + b];
        }
    CHECK((size_t)sparse_start(p, lines) * (size_t)(block_rows * block_cols) == tk_sparse_values(p));
}

/* Entries that there are have the values of `want`; those that there are not are zero there. lower: the entries right
 * of the diagonal are absent, of a matrix of blocks those of blocks right of it. */
static void sparse_equal(const char *what, const double *D, const double *want, int rows, int cols, int lower,
                         double tolerance)
{
    int wrong = 0, present = 0, above = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            const double got = D[i * cols + j], right = want[i * cols + j];
            const bool absent = lower && j / lower > i / lower;
            present += !isnan(got);
            above += absent && !isnan(got);
            wrong += !absent && !near(isnan(got) ? 0.0 : got, right, tolerance);
        }
    if (wrong || above || !present)
        FAIL("%s: %d of %d entries are wrong, %d are above the diagonal", what, wrong, present, above);
}

static tk_sparse_options sparse_option(int number)
{
    return (tk_sparse_options){number & 1, number & 2, number & 4, number & 8};
}

#endif
