/* Colours of the columns of sparse matrices. One product gives the entries of all columns of a colour.
 *
 * A. H. Gebremedhin, F. Manne, A. Pothen: "What Color Is Your Jacobian? Graph Coloring for Computing Derivatives", SIAM
 * Review 47 (2005). Distance-2 colouring of columns for Jacobians, star colouring for Hessians: greedy, columns with
 * more neighbours first. */
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
static int32_t *neighbours(tk_session *s, int64_t cols, const int64_t *start, const lines *column_rows, int32_t limit)
{
    int32_t *n = tk_rt_alloc(s, ((size_t)cols + 1) * sizeof *n, true);
    for (int64_t j = 0; n && j < cols; j++) {
        int64_t all = 0;
        for (int64_t k = column_rows->start[j]; k < column_rows->start[j + 1]; k++)
            all += start[column_rows->of[k] + 1] - start[column_rows->of[k]] - 1;
        n[j] = (int32_t)(all < limit ? all : limit);
    }
    return n;
}

static int32_t colour_greedily(int64_t cols, const int64_t *start, const int32_t *col, const lines *column_rows,
                               const int32_t *order, int32_t *taken, int32_t *colour)
{
    int32_t ncolours = 0;
    for (int64_t j = 0; j < cols; j++)
        colour[j] = -1;
    for (int64_t i = 0; i < cols; i++) {
        const int32_t j = order[i];
        for (int64_t a = column_rows->start[j]; a < column_rows->start[j + 1]; a++)
            for (int64_t b = start[column_rows->of[a]]; b < start[column_rows->of[a] + 1]; b++)
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
    lines column_rows = {NULL, NULL};
    if (transpose(s, rows, cols, start, col, &column_rows)) {
        int32_t *weight = neighbours(s, cols, start, &column_rows, MOST_WEIGHT),
                *order = weight ? ordered(s, cols, weight, MOST_WEIGHT) : NULL,
                *taken = order ? tk_rt_alloc(s, ((size_t)cols + 1) * sizeof *taken, false) : NULL;
        for (int64_t j = 0; taken && j < cols; j++)
            taken[j] = -1;
        if (taken)
            ncolours = colour_greedily(cols, start, col, &column_rows, order, taken, colour);
        tk_rt_free(s, weight);
        tk_rt_free(s, order);
        tk_rt_free(s, taken);
    }
    free_lines(s, &column_rows);
    return ncolours;
}

/* ---- star colouring ---- */

/* Vertices of one colour are no neighbours. Two vertices with a common neighbour have one colour only if that colour is
 * above the neighbour's: so a path of four vertices, which has a second common neighbour of the other colour, never has
 * two colours alone. */
static int32_t star_greedily(int64_t n, const lines *near, const int32_t *order, int32_t *taken, int32_t *colour)
{
    int32_t ncolours = 0;
    for (int64_t j = 0; j < n; j++)
        colour[j] = -1;
    for (int64_t i = 0; i < n; i++) {
        const int32_t v = order[i];
        for (int64_t a = near->start[v]; a < near->start[v + 1]; a++) {
            const int32_t w = near->of[a];
            if (colour[w] >= 0)
                taken[colour[w]] = v;
            for (int64_t b = near->start[w]; b < near->start[w + 1]; b++) {
                const int32_t x = near->of[b];
                if (x != v && colour[x] >= 0 && (colour[w] < 0 || colour[x] < colour[w]))
                    taken[colour[x]] = v;
            }
        }
        int32_t c = 0;
        while (c < ncolours && taken[c] == v)
            c++;
        colour[v] = c;
        ncolours += c == ncolours;
    }
    return ncolours;
}

static int32_t star_colours(tk_session *s, int64_t n, const lines *near, int32_t *colour)
{
    int32_t most = 0, ncolours = -1;
    int32_t *weight = tk_rt_alloc(s, ((size_t)n + 1) * sizeof *weight, true);
    for (int64_t j = 0; weight && j < n; j++) {
        weight[j] = (int32_t)(near->start[j + 1] - near->start[j]);
        most = weight[j] > most ? weight[j] : most;
    }
    int32_t *order = weight ? ordered(s, n, weight, most) : NULL,
            *taken = order ? tk_rt_alloc(s, ((size_t)n + 1) * sizeof *taken, false) : NULL;
    for (int64_t j = 0; taken && j < n; j++)
        taken[j] = -1;
    if (taken)
        ncolours = star_greedily(n, near, order, taken, colour);
    tk_rt_free(s, weight);
    tk_rt_free(s, order);
    tk_rt_free(s, taken);
    return ncolours;
}

/* ---- of a part of a pattern ---- */

void tk_rt_sparse_uncolour(rt_elements *x)
{
    tk_rt_block_free(x->colour);
    tk_rt_block_free(x->of_batch);
    tk_rt_block_free(x->first);
    x->colour = NULL;
    x->of_batch = x->first = NULL;
    x->ncolours = 0;
}

/* The rows of a Jacobian's part alone, whose elements are blocks in the order of their rows; of a Hessian's the
 * neighbours of each vertex. */
static bool lines_of_part(tk_session *s, const tk_sparse *p, const rt_elements *x, lines *l)
{
    const int both = p->hessian ? 2 : 1;
    l->start = tk_rt_alloc(s, ((size_t)p->rows + 2) * sizeof *l->start, true);
    l->of = tk_rt_alloc(s, (size_t)(both * x->n + 1) * sizeof *l->of, false);
    if (!l->start || !l->of)
        return false;
    for (int64_t e = 0; e < x->n; e++)
        for (int k = 0; k < both; k++)
            l->start[x->places[2 * e + k] + 2]++;
    for (int64_t i = 1; i <= p->rows; i++)
        l->start[i + 1] += l->start[i];
    for (int64_t e = 0; e < x->n; e++)
        for (int k = 0; k < both; k++)
            l->of[l->start[x->places[2 * e + k] + 1]++] = x->places[2 * e + 1 - k];
    return true;
}

/* Which product gives an element: of a Jacobian that of its column. A block of a Hessian stands in the row of its first
 * vertex, unless another neighbour of that has the colour of the second; then in the row of the second. */
typedef struct chooser {
    const rt_elements *x;
    const lines *l;
    int32_t *seen; /* by colour: how many neighbours of `row` */
    int32_t row;
} chooser;

static void see(chooser *c, int32_t row, int by)
{
    for (int64_t k = c->l->start[row]; k < c->l->start[row + 1]; k++)
        c->seen[c->x->colour[c->l->of[k]]] += by;
}

static bool is_transposed(chooser *c, int64_t e)
{
    const int32_t row = c->x->places[2 * e];
    if (row != c->row) {
        if (c->row >= 0)
            see(c, c->row, -1);
        see(c, row, 1);
        c->row = row;
    }
    return c->seen[c->x->colour[c->x->places[2 * e + 1]]] > 1;
}

/* The elements of each batch; of a Hessian also diagonal blocks, numbered behind elements and transposed ones. */
static bool sort_by_batch(tk_session *s, const tk_sparse *p, rt_elements *x, const lines *l)
{
    const int64_t n = p->hessian ? x->n + p->rows : x->n;
    x->of_batch = tk_rt_sparse_alloc(p, n, sizeof *x->of_batch);
    const int size = tk_rt_sparse_batch(p), nbatches = (x->ncolours + size - 1) / size;
    x->first = tk_rt_sparse_alloc(p, (int64_t)nbatches + 1, sizeof *x->first);
    int64_t *item = tk_rt_alloc(s, (size_t)(n + 1) * sizeof *item, false);
    chooser c = {x, l, tk_rt_alloc(s, ((size_t)x->ncolours + 1) * sizeof *c.seen, true), -1};
    const bool ok = x->of_batch && x->first && item && c.seen;
    for (int pass = 0; ok && pass < 2; pass++) {
        for (int64_t k = 0; k < n; k++) {
            if (!pass)
                item[k] = k >= x->n ? k + x->n : p->hessian && is_transposed(&c, k) ? k + x->n : k;
            const int32_t column = item[k] < x->n       ? x->places[2 * item[k] + 1]
                                   : item[k] < 2 * x->n ? x->places[2 * (item[k] - x->n)]
                                                        : (int32_t)(item[k] - 2 * x->n);
            const int32_t batch = x->colour[column] / size;
            if (pass)
                x->of_batch[x->first[batch]++] = item[k] * TK_BATCH + x->colour[column] % size;
            else
                x->first[batch + 1]++;
        }
        for (int i = 0; i < nbatches && !pass; i++)
            x->first[i + 1] += x->first[i];
    }
    for (int i = nbatches; ok && i > 0; i--)
        x->first[i] = x->first[i - 1];
    if (ok)
        x->first[0] = 0;
    tk_rt_free(s, item);
    tk_rt_free(s, c.seen);
    return ok;
}

/* ---- colours of the host ---- */

/* Neighbours of line i in that colour. */
static int64_t count_colour(const rt_elements *x, const lines *l, int64_t i, int32_t colour)
{
    int64_t n = 0;
    for (int64_t k = l->start[i]; k < l->start[i + 1]; k++)
        n += x->colour[l->of[k]] == colour;
    return n;
}

/* Element e follows from one product: that of its column, or of a Hessian that of its row. */
static bool is_direct(const tk_sparse *p, const rt_elements *x, const lines *l, int64_t e)
{
    const int32_t i = x->places[2 * e], j = x->places[2 * e + 1];
    if (!p->hessian)
        return count_colour(x, l, i, x->colour[j]) == 1;
    return x->colour[i] != x->colour[j] &&
           (count_colour(x, l, i, x->colour[j]) == 1 || count_colour(x, l, j, x->colour[i]) == 1);
}

static tk_status colour_by_host(tk_session *s, const tk_sparse *p, rt_elements *x, const lines *l)
{
    for (int64_t j = 0; j < p->cols; j++)
        x->colour[j] = -1;
    x->ncolours = p->colouring(p->colouring_user, p->hessian, p->rows, p->cols, l->start, l->of, x->colour);
    if (x->ncolours < 0)
        return tk_fail(s, TK_BAD_STATE, "the function of tk_sparse_colour failed for '%s'", x->k->name);
    for (int64_t j = 0; j < p->cols; j++)
        if (x->colour[j] < 0 || x->colour[j] >= x->ncolours)
            return tk_fail(s, TK_BAD_ARGUMENT, "'%s': column %lld has colour %d, of %d", x->k->name, (long long)j,
                           x->colour[j], x->ncolours);
    for (int64_t e = 0; e < x->n; e++)
        if (!is_direct(p, x, l, e))
            return tk_fail(s, TK_BAD_ARGUMENT, "'%s': by these colours no product gives entry (%d, %d)", x->k->name,
                           x->places[2 * e], x->places[2 * e + 1]);
    return TK_OK;
}

/* TK_NO_MEMORY is the caller's to report. */
static tk_status find_colours(tk_session *s, const tk_sparse *p, rt_elements *x, const lines *l)
{
    if (p->colouring)
        return colour_by_host(s, p, x, l);
    x->ncolours = p->hessian ? star_colours(s, p->rows, l, x->colour)
                             : tk_rt_colour_columns(s, p->rows, p->cols, l->start, l->of, x->colour);
    return x->ncolours >= 0 ? TK_OK : TK_NO_MEMORY;
}

tk_status tk_rt_sparse_colour(tk_session *s, const tk_sparse *p, rt_elements *x)
{
    if (x->first)
        return TK_OK;
    lines l = {NULL, NULL};
    x->colour = tk_rt_sparse_alloc(p, p->cols, sizeof *x->colour);
    tk_status st = x->colour && lines_of_part(s, p, x, &l) ? find_colours(s, p, x, &l) : TK_NO_MEMORY;
    if (st == TK_OK && !sort_by_batch(s, p, x, &l))
        st = TK_NO_MEMORY;
    free_lines(s, &l);
    if (st == TK_OK)
        return TK_OK;
    tk_rt_sparse_uncolour(x);
    return tk_failed(s) ? st : tk_fail(s, st, "out of memory for the colours of '%s'", x->k->name);
}

tk_status tk_sparse_colour(tk_sparse *p, tk_colouring_fn fn, void *user)
{
    if (!p)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_sparse_colour: the pattern is NULL");
    bool computed = false;
    for (int i = 0; i < p->nparts; i++) {
        computed = computed || p->parts[i].k->active;
        tk_rt_sparse_uncolour(&p->parts[i]);
    }
    if (!computed)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_sparse_colour: the matrix has elements, which need no colours");
    p->colouring = fn;
    p->colouring_user = user;
    return TK_OK;
}

size_t tk_sparse_colours(const tk_sparse *p)
{
    size_t n = 0;
    for (int i = 0; p && i < p->nparts; i++)
        n += (size_t)p->parts[i].ncolours;
    return n;
}
