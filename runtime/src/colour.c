/* Colours of the columns of sparse matrices. One product gives the entries of all columns of a colour.
 *
 * A. H. Gebremedhin, F. Manne, A. Pothen: "What Color Is Your Jacobian? Graph Coloring for Computing Derivatives", SIAM
 * Review 47 (2005). Distance-2 colouring of columns: greedy, columns with more neighbours first. */
#include "sparse.h"

/* Line i has the members of[start[i]] to of[start[i + 1] - 1]. */
typedef struct lines {
    int64_t *start;
    int32_t *of;
} lines;

static void free_lines(tk_session *s, lines *l)
{
    tk_rt_free(s, l->start);
    tk_rt_free(s, l->of);
}

/* The rows of each column. */
static bool transpose(tk_session *s, int64_t rows, int64_t cols, const int64_t *start, const int32_t *col, lines *t)
{
    t->start = tk_rt_alloc(s, ((size_t)cols + 2) * sizeof *t->start, true);
    t->of = tk_rt_alloc(s, ((size_t)start[rows] + 1) * sizeof *t->of, false);
    if (!t->start || !t->of)
        return false;
    for (int64_t k = 0; k < start[rows]; k++)
        t->start[col[k] + 2]++;
    for (int64_t j = 1; j <= cols; j++)
        t->start[j + 1] += t->start[j];
    for (int64_t i = 0; i < rows; i++) /* start[j + 1]: where the next row of column j goes, at last its end */
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            t->of[t->start[col[k] + 1]++] = (int32_t)i;
    return true;
}

/* The columns in falling order of weight, which is at most `most`; equal ones stay in order. */
static int32_t *ordered(tk_session *s, int64_t n, const int32_t *weight, int32_t most)
{
    int32_t *order = tk_rt_alloc(s, ((size_t)n + 1) * sizeof *order, false);
    int64_t *at = tk_rt_alloc(s, ((size_t)most + 2) * sizeof *at, true);
    if (order && at) {
        for (int64_t j = 0; j < n; j++)
            at[most - weight[j] + 1]++;
        for (int32_t w = 0; w < most; w++)
            at[w + 1] += at[w];
        for (int64_t j = 0; j < n; j++)
            order[at[most - weight[j]]++] = (int32_t)j;
    } else {
        tk_rt_free(s, order);
        order = NULL;
    }
    tk_rt_free(s, at);
    return order;
}

/* How many columns share a row with each, counted once for each row; at most `limit`. */
static int32_t *neighbours(tk_session *s, int64_t cols, const int64_t *start, const lines *rows_of, int32_t limit)
{
    int32_t *n = tk_rt_alloc(s, ((size_t)cols + 1) * sizeof *n, true);
    for (int64_t j = 0; n && j < cols; j++) {
        int64_t all = 0;
        for (int64_t k = rows_of->start[j]; k < rows_of->start[j + 1]; k++)
            all += start[rows_of->of[k] + 1] - start[rows_of->of[k]] - 1;
        n[j] = (int32_t)(all < limit ? all : limit);
    }
    return n;
}

static int32_t colour_greedily(int64_t cols, const int64_t *start, const int32_t *col, const lines *rows_of,
                               const int32_t *order, int32_t *taken, int32_t *colour)
{
    int32_t ncolours = 0;
    for (int64_t j = 0; j < cols; j++)
        colour[j] = -1;
    for (int64_t i = 0; i < cols; i++) {
        const int32_t j = order[i];
        for (int64_t a = rows_of->start[j]; a < rows_of->start[j + 1]; a++)
            for (int64_t b = start[rows_of->of[a]]; b < start[rows_of->of[a] + 1]; b++)
                if (colour[col[b]] >= 0)
                    taken[colour[col[b]]] = j;
        int32_t c = 0;
        while (c < ncolours && taken[c] == j)
            c++;
        colour[j] = c;
        ncolours += c == ncolours;
    }
    return ncolours;
}

/* A row with all columns gives each of them a colour of its own. */
static bool has_full_row(int64_t rows, int64_t cols, const int64_t *start)
{
    for (int64_t i = 0; i < rows; i++)
        if (start[i + 1] - start[i] == cols)
            return true;
    return false;
}

int32_t tk_rt_colour_columns(tk_session *s, int64_t rows, int64_t cols, const int64_t *start, const int32_t *col,
                             int32_t *colour)
{
    enum { MOST_WEIGHT = 1 << 16 };
    if (has_full_row(rows, cols, start)) {
        for (int64_t j = 0; j < cols; j++)
            colour[j] = (int32_t)j;
        return (int32_t)cols;
    }
    int32_t ncolours = -1;
    lines rows_of = {NULL, NULL};
    if (transpose(s, rows, cols, start, col, &rows_of)) {
        int32_t *weight = neighbours(s, cols, start, &rows_of, MOST_WEIGHT),
                *order = weight ? ordered(s, cols, weight, MOST_WEIGHT) : NULL,
                *taken = order ? tk_rt_alloc(s, ((size_t)cols + 1) * sizeof *taken, false) : NULL;
        for (int64_t j = 0; taken && j < cols; j++)
            taken[j] = -1;
        if (taken)
            ncolours = colour_greedily(cols, start, col, &rows_of, order, taken, colour);
        tk_rt_free(s, weight);
        tk_rt_free(s, order);
        tk_rt_free(s, taken);
    }
    free_lines(s, &rows_of);
    return ncolours;
}

/* ---- of a part of a pattern ---- */

void tk_rt_sparse_uncolour(rt_elements *x)
{
    tk_rt_block_free(x->colour);
    tk_rt_block_free(x->of_colour);
    tk_rt_block_free(x->first);
    x->colour = NULL;
    x->of_colour = x->first = NULL;
    x->ncolours = 0;
}

/* The rows of the part alone. Its elements are blocks in the order of their rows. */
static bool rows_of_part(tk_session *s, const tk_sparse *p, const rt_elements *x, lines *l)
{
    l->start = tk_rt_alloc(s, ((size_t)p->rows + 1) * sizeof *l->start, true);
    l->of = tk_rt_alloc(s, ((size_t)x->n + 1) * sizeof *l->of, false);
    if (!l->start || !l->of)
        return false;
    for (int64_t e = 0; e < x->n; e++) {
        l->start[x->places[2 * e] + 1]++;
        l->of[e] = x->places[2 * e + 1];
    }
    for (int64_t i = 0; i < p->rows; i++)
        l->start[i + 1] += l->start[i];
    return true;
}

/* The elements of each colour. */
static bool sort_by_colour(const tk_sparse *p, rt_elements *x)
{
    x->of_colour = tk_rt_sparse_alloc(p, x->n, sizeof *x->of_colour);
    x->first = tk_rt_sparse_alloc(p, (int64_t)x->ncolours + 1, sizeof *x->first);
    if (!x->of_colour || !x->first)
        return false;
    for (int64_t e = 0; e < x->n; e++)
        x->first[x->colour[x->places[2 * e + 1]] + 1]++;
    for (int32_t c = 0; c < x->ncolours; c++)
        x->first[c + 1] += x->first[c];
    for (int64_t e = 0; e < x->n; e++)
        x->of_colour[x->first[x->colour[x->places[2 * e + 1]]]++] = e;
    for (int32_t c = x->ncolours; c > 0; c--)
        x->first[c] = x->first[c - 1];
    x->first[0] = 0;
    return true;
}

tk_status tk_rt_sparse_colour(tk_session *s, const tk_sparse *p, rt_elements *x)
{
    if (x->first)
        return TK_OK;
    lines rows = {NULL, NULL};
    x->colour = tk_rt_sparse_alloc(p, p->cols, sizeof *x->colour);
    bool ok = x->colour && rows_of_part(s, p, x, &rows);
    if (ok)
        x->ncolours = tk_rt_colour_columns(s, p->rows, p->cols, rows.start, rows.of, x->colour);
    ok = ok && x->ncolours >= 0 && sort_by_colour(p, x);
    free_lines(s, &rows);
    if (ok)
        return TK_OK;
    tk_rt_sparse_uncolour(x);
    return tk_fail(s, TK_NO_MEMORY, "out of memory for the colours of '%s'", x->k->name);
}
