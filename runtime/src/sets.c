/* Patterns of computed matrices: which columns each row depends on, by launches that carry sets of 64 columns.
 *
 * Columns stand in blocks. A launch tells which parts of blocks a row depends on. Blocks of one colour share bits: a
 * row depends on one of them at most, and which is known. So parts become blocks, until a block is a column; the number
 * of launches follows from the colours, not from the number of columns. */
#include "sparse.h"

#include <stdlib.h>

/* A row depends on a block. */
typedef struct hit {
    int32_t row, block;
} hit;

typedef struct sets {
    rt_coloured c;    /* first */
    tk_sparse *given; /* compared with; NULL: a pattern is made */
    int64_t rows, cols, block_rows, block_cols;
    /* blocks so far: columns begin[b] to begin[b + 1] - 1; of each row, those that it depends on; their colours */
    int64_t nblocks, *begin, *start;
    int32_t *col, *colour, ncolours;
    /* parts: of block b, first[b] to first[b + 1] - 1, `split` at most */
    int64_t nparts, *first, *part;
    int split;
    int64_t bit; /* of the launch: colour * split + part is bit number `bit` to bit + 63 */
    hit *hits;
    int64_t nhits, room;
} sets;

enum { BITS = 64 };

static tk_status no_memory(const sets *r)
{
    return tk_fail(r->c.m->session, TK_NO_MEMORY, "out of memory for the pattern of '%s'", r->c.k->name);
}

static void *alloc(const sets *r, int64_t n, size_t size)
{
    return tk_rt_alloc(r->c.m->session, ((size_t)n + 1) * size, true);
}

/* ---- launches ---- */

static int64_t number_of_bits(const sets *r)
{
    return (int64_t)r->ncolours * r->split;
}

static void seed_columns(const sets *r, int64_t from, int64_t to, int64_t set)
{
    for (int i = 0; i < r->c.k->nby; i++) {
        int64_t first;
        int64_t *const column = tk_rt_coloured_column(&r->c, i, &first);
        const int64_t end = first + (int64_t)tk_rt_scalars(tk_rt_sparse_field(r->c.m, r->c.k, i));
        for (int64_t k = from > first ? from : first; k < to && k < end; k++)
            column[k - first] = set;
    }
}

/* Each column has the bit of its part, if the launch has it; else none. */
static void seed(const sets *r)
{
    tk_rt_coloured_clear(&r->c);
    for (int64_t b = 0; b < r->nblocks; b++)
        for (int64_t i = r->first[b]; i < r->first[b + 1]; i++) {
            const int64_t bit = (int64_t)r->colour[b] * r->split + i - r->first[b] - r->bit;
            seed_columns(r, r->part[i] * r->block_cols, r->part[i + 1] * r->block_cols,
                         bit < 0 || bit >= BITS ? 0 : (int64_t)((uint64_t)1 << bit));
        }
}

/* Splits blocks into as many parts as bits allow. */
static tk_status split(sets *r)
{
    tk_session *s = r->c.m->session;
    r->ncolours = tk_rt_colour_columns(s, r->rows, r->nblocks, r->start, r->col, r->colour);
    if (r->ncolours < 0)
        return no_memory(r);
    r->split = r->ncolours > BITS / 2 ? 2 : BITS / (r->ncolours > 1 ? r->ncolours : 1);
    r->first = alloc(r, r->nblocks + 1, sizeof *r->first);
    r->part = alloc(r, r->nblocks * r->split < r->cols ? r->nblocks * r->split + 1 : r->cols + 1, sizeof *r->part);
    if (!r->first || !r->part)
        return no_memory(r);
    r->nparts = 0;
    for (int64_t b = 0; b < r->nblocks; b++) {
        const int64_t n = r->begin[b + 1] - r->begin[b], width = (n + r->split - 1) / r->split;
        r->first[b] = r->nparts;
        for (int64_t at = r->begin[b]; at < r->begin[b + 1]; at += width)
            r->part[r->nparts++] = at;
    }
    r->first[r->nblocks] = r->nparts;
    r->part[r->nparts] = r->cols;
    r->bit = 0;
    r->nhits = 0;
    seed(r);
    return TK_OK;
}

static bool add_hit(sets *r, int64_t row, int64_t block)
{
    if (r->nhits == r->room) {
        const int64_t room = r->room ? 2 * r->room : 4096;
        hit *more = alloc(r, room, sizeof *more);
        if (!more)
            return false;
        if (r->nhits)
            memcpy(more, r->hits, (size_t)r->nhits * sizeof *more);
        tk_rt_free(r->c.m->session, r->hits);
        r->hits = more;
        r->room = room;
    }
    r->hits[r->nhits++] = (hit){(int32_t)row, (int32_t)block};
    return true;
}

/* The parts of one block that a row with these bits depends on. */
static bool take_block(sets *r, int64_t row, int32_t block, uint64_t bits)
{
    const int64_t base = (int64_t)r->colour[block] * r->split - r->bit;
    for (int64_t i = r->first[block]; i < r->first[block + 1]; i++) {
        const int64_t bit = base + i - r->first[block];
        if (bit >= 0 && bit < BITS && (bits >> bit & 1) && !add_hit(r, row, i))
            return false;
    }
    return true;
}

static bool take_launch(sets *r)
{
    const int64_t *const from = tk_rt_coloured_rows(&r->c);
    for (int64_t i = 0; i < r->rows; i++) {
        uint64_t bits = 0;
        for (int64_t c = 0; c < r->block_rows; c++)
            bits |= (uint64_t)from[i * r->block_rows + c];
        for (int64_t k = r->start[i]; bits && k < r->start[i + 1]; k++)
            if (!take_block(r, i, r->col[k], bits))
                return false;
    }
    return true;
}

/* Parts are the new blocks. The hits of a row come launch by launch: a second sort, by row, leaves the columns of each
 * row in order. */
static bool parts_to_blocks(sets *r)
{
    tk_session *s = r->c.m->session;
    int64_t *start = alloc(r, r->rows + 1, sizeof *start), *at = alloc(r, r->nparts + 1, sizeof *at);
    int32_t *col = alloc(r, r->nhits, sizeof *col), *colour = alloc(r, r->nparts, sizeof *colour);
    hit *sorted = alloc(r, r->nhits, sizeof *sorted);
    const bool ok = start && at && col && colour && sorted;
    if (ok) {
        for (int64_t k = 0; k < r->nhits; k++)
            at[r->hits[k].block + 1]++;
        for (int64_t b = 0; b < r->nparts; b++)
            at[b + 1] += at[b];
        for (int64_t k = 0; k < r->nhits; k++)
            sorted[at[r->hits[k].block]++] = r->hits[k];
        for (int64_t k = 0; k < r->nhits; k++)
            start[r->hits[k].row + 1]++;
        for (int64_t i = 0; i < r->rows; i++)
            start[i + 1] += start[i];
        for (int64_t k = 0; k < r->nhits; k++)
            col[start[sorted[k].row]++] = sorted[k].block;
        for (int64_t i = r->rows; i > 0; i--)
            start[i] = start[i - 1];
        start[0] = 0;
        void *const old[] = {r->start, r->col, r->colour, r->begin, r->first};
        for (size_t i = 0; i < sizeof old / sizeof *old; i++)
            tk_rt_free(s, old[i]);
        r->start = start;
        r->col = col;
        r->colour = colour;
        r->begin = r->part;
        r->nblocks = r->nparts;
        r->first = r->part = NULL;
    } else {
        tk_rt_free(s, start);
        tk_rt_free(s, col);
        tk_rt_free(s, colour);
    }
    tk_rt_free(s, at);
    tk_rt_free(s, sorted);
    return ok;
}

tk_status tk_sets_next(tk_coloured *run)
{
    sets *r = (sets *)(void *)run->own;
    RT_ENTER(r->c.m->session, r->c.k->name, TK_BAD_STATE);
    if (!take_launch(r))
        return no_memory(r);
    r->bit += BITS;
    if (r->bit < number_of_bits(r)) {
        seed(r);
        return TK_OK;
    }
    if (!parts_to_blocks(r))
        return no_memory(r);
    run->goes_on = r->nblocks < r->cols;
    return run->goes_on ? split(r) : TK_OK;
}

/* ---- begin and end ---- */

/* One block of all columns, on which each row depends. */
static bool one_block(sets *r)
{
    r->nblocks = 1;
    r->begin = alloc(r, 2, sizeof *r->begin);
    r->start = alloc(r, r->rows + 1, sizeof *r->start);
    r->col = alloc(r, r->rows, sizeof *r->col);
    r->colour = alloc(r, 1, sizeof *r->colour);
    if (!r->begin || !r->start || !r->col || !r->colour)
        return false;
    r->begin[1] = r->cols;
    for (int64_t i = 0; i < r->rows; i++)
        r->start[i + 1] = i + 1;
    return true;
}

static tk_status open_sets(tk_module *m, const tk_elements *k, tk_sparse *given, tk_coloured *run)
{
    tk_session *s = m->session;
    RT_ENTER(s, k->name, TK_BAD_STATE);
    sets *r = tk_rt_alloc(s, sizeof *r, true);
    if (!r)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the pattern of '%s'", k->name);
    *r = (sets){.c = {.m = m, .k = k, .sets = true}, .given = given, .block_cols = k->block};
    r->block_rows = tk_rt_sparse_block_rows(m, k);
    r->rows = tk_rt_sparse_nrows(m, k);
    r->cols = tk_rt_sparse_ncols(m, k);
    run->own = &r->c;
    const tk_status st = tk_rt_coloured_open(run, &r->c);
    if (st != TK_OK)
        return st;
    run->goes_on = r->cols > 0 && r->rows > 0;
    return one_block(r) ? split(r) : no_memory(r);
}

tk_status tk_sets_open(tk_module *m, const tk_elements *k, const tk_sparse_options *opt, tk_sparse **pattern,
                       tk_coloured *run)
{
    memset(run, 0, sizeof *run);
    const tk_status st = tk_rt_sparse_check(m, k, opt, pattern);
    return st == TK_OK ? open_sets(m, k, NULL, run) : st;
}

tk_status tk_sets_reopen(tk_module *m, const tk_elements *k, tk_sparse *p, tk_coloured *run)
{
    memset(run, 0, sizeof *run);
    const bool made = m && m->session && tk_session_status(m->session) == TK_OK && tk_rt_sparse_part(p, k) && p->starts;
    return made && !m->session->tape.open && !m->session->forward.open ? open_sets(m, k, p, run) : TK_OK;
}

/* The n columns of a row in order, each once; how many. */
static int64_t take_row(int64_t *places, int64_t row, int32_t *col, int64_t n)
{
    int64_t taken = 0;
    qsort(col, (size_t)n, sizeof *col, tk_rt_sparse_order);
    for (int64_t k = 0; k < n; k++)
        if (k == 0 || col[k] != col[k - 1]) {
            places[2 * taken] = row;
            places[2 * taken + 1] = col[k];
            taken++;
        }
    return taken;
}

/* The blocks as elements: a row and a column each. Of a Hessian those below the diagonal: what one of two mirror images
 * has. */
static int64_t *places_of(const sets *r, int64_t *n)
{
    const bool hess = r->c.k->hessian;
    const int64_t all = r->rows && r->cols ? r->start[r->rows] : 0;
    const tk_sparse like = {.hook = r->c.m->session->opt.alloc, .user = r->c.m->session->opt.alloc_user};
    int64_t *places = tk_rt_sparse_alloc(&like, 2 * all, sizeof *places),
            *at = tk_rt_sparse_alloc(&like, r->rows + 1, sizeof *at);
    int32_t *col = tk_rt_sparse_alloc(&like, all, sizeof *col);
    *n = 0;
    for (int pass = 0; places && at && col && pass < 2; pass++) {
        for (int64_t i = 0; all && i < r->rows; i++)
            for (int64_t k = r->start[i]; k < r->start[i + 1]; k++) {
                const int64_t j = r->col[k], row = hess && j > i ? j : i, other = hess && j > i ? i : j;
                if (hess && i == j)
                    continue;
                if (pass)
                    col[at[row]++] = (int32_t)other;
                else
                    at[row + 1]++;
            }
        for (int64_t i = 0; i < r->rows && !pass; i++)
            at[i + 1] += at[i];
    }
    for (int64_t i = 0, k = 0; places && at && col && i < r->rows; i++) { /* at[i]: the end of row i */
        *n += take_row(places + 2 * *n, i, col + k, at[i] - k);
        k = at[i];
    }
    const bool ok = places && at && col;
    tk_rt_block_free(at);
    tk_rt_block_free(col);
    if (!ok)
        tk_rt_block_free(places);
    return ok ? places : NULL;
}

static void free_sets(sets *r)
{
    tk_session *s = r->c.m->session;
    void *const all[] = {r->begin, r->start, r->col, r->colour, r->first, r->part, r->hits};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tk_rt_free(s, all[i]);
    tk_rt_coloured_close(&r->c);
    tk_rt_free(s, r);
}

tk_status tk_sets_close(tk_coloured *run, tk_status ran, const tk_sparse_options *opt, tk_sparse **pattern)
{
    sets *r = (sets *)(void *)run->own;
    if (!r)
        return ran;
    tk_module *m = r->c.m;
    const tk_elements *k = r->c.k;
    int64_t n = 0, *places = NULL;
    if (ran == TK_OK && !(places = places_of(r, &n)))
        ran = no_memory(r);
    free_sets(r);
    return ran == TK_OK ? tk_sparse_end(m, k, ran, places, n, opt, pattern) : ran;
}

tk_status tk_sets_compare(tk_coloured *run, tk_status ran)
{
    sets *r = (sets *)(void *)run->own;
    if (!r)
        return ran;
    int64_t n = 0, *places = NULL;
    if (ran == TK_OK && !(places = places_of(r, &n)))
        ran = no_memory(r);
    if (ran == TK_OK && !tk_rt_sparse_has(r->given, r->c.k, places, n))
        ran = tk_rt_sparse_changed(r->c.m, r->c.k);
    tk_rt_block_free(places);
    free_sets(r);
    return ran;
}
