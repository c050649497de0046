/* Halos of boxes of a Cartesian grid: each ghost in the grid has one owner, also around the end of a periodic one. */
#include "ranks.h"

enum { DIMS = TK_HALO_DIMS };

typedef struct grid {
    const tk_halo_box *own;
    int ndim, rank, count;
    const int64_t *bounds;        /* of all ranks: DIMS first elements, DIMS ends */
    int64_t from[DIMS], to[DIMS]; /* of this process with its ghosts, in elements of the grid */
} grid;

/* Ghosts so far; NULL: they are counted. */
typedef struct found {
    tk_ghost *ghost;
    int64_t n;
} found;

static bool refuse(tk_session *s, const char *why)
{
    tk_fail(s, TK_BAD_ARGUMENT, "tk_halo_create_box: %s", why);
    return false;
}

/* The first element of fields that own elements from lo on, and that behind the last one, if they own them up to hi. */
static int64_t begin_of(const tk_halo_box *b, int d, int64_t lo)
{
    return b->cropped[d] && lo < b->width[d] ? 0 : lo - b->width[d];
}

static int64_t end_of(const tk_halo_box *b, int d, int64_t hi)
{
    return b->cropped[d] && hi + b->width[d] > b->extent[d] ? b->extent[d] : hi + b->width[d];
}

static bool check_box(tk_session *s, const tk_field *f, const tk_halo_box *b)
{
    if (!b)
        return refuse(s, "the box is NULL");
    if (f->desc->ndim < 1 || f->desc->ndim > DIMS)
        return refuse(s, "the fields have no dimension, or more than 8");
    for (int d = 0; d < f->desc->ndim; d++) {
        if (b->lo[d] < 0 || b->hi[d] < b->lo[d] || b->hi[d] > b->extent[d])
            return refuse(s, "the box is not in the grid");
        if (b->width[d] < 0 || b->width[d] > b->extent[d])
            return refuse(s, "ghosts are fewer than none, or more than the grid");
        if (b->cropped[d] && b->periodic[d])
            return refuse(s, "a dimension is periodic and cropped");
        if (f->shape[d] != end_of(b, d, b->hi[d]) - begin_of(b, d, b->lo[d]))
            return refuse(s, b->cropped[d]
                                 ? "the extents of the fields are not those of the box with ghosts in the grid"
                                 : "the extents of the fields are not hi - lo + 2 * width");
    }
    return true;
}

/* ---- ghosts ---- */

static int64_t volume(int ndim, const int64_t *lo, const int64_t *hi)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++)
        n *= hi[d] > lo[d] ? hi[d] - lo[d] : 0;
    return n;
}

/* Elements of [lo, hi) of the grid, which rank q has, shifted by so many of its elements. */
static void add_ghosts(const grid *g, int q, const int64_t *shift, const int64_t *lo, const int64_t *hi, found *list)
{
    const int64_t n = volume(g->ndim, lo, hi), *theirs = g->bounds + (size_t)q * 2 * DIMS;
    for (int64_t k = 0; k < n && list->ghost; k++) {
        int64_t rest = k, x[DIMS], here = 0, there = 0;
        for (int d = g->ndim - 1; d >= 0; d--) {
            x[d] = lo[d] + rest % (hi[d] - lo[d]);
            rest /= hi[d] - lo[d];
        }
        for (int d = 0; d < g->ndim; d++) {
            const int64_t from = begin_of(g->own, d, theirs[d]), to = end_of(g->own, d, theirs[DIMS + d]);
            here = here * (g->to[d] - g->from[d]) + x[d] - g->from[d];
            there = there * (to - from) + x[d] - shift[d] - from;
        }
        list->ghost[list->n + k] = (tk_ghost){here, q, there};
    }
    list->n += n;
}

/* Ghosts here that rank q owns. */
static void from_rank(const grid *g, int q, found *list)
{
    const int64_t *theirs = g->bounds + (size_t)q * 2 * DIMS;
    int images = 1;
    for (int d = 0; d < g->ndim; d++)
        images *= 3;
    for (int image = 0; image < images; image++) {
        int64_t lo[DIMS], hi[DIMS], shift[DIMS];
        bool is_own = q == g->rank, exists = true;
        for (int d = 0, rest = image; d < g->ndim; d++, rest /= 3) {
            shift[d] = (rest % 3 - 1) * g->own->extent[d];
            is_own = is_own && shift[d] == 0;
            exists = exists && (shift[d] == 0 || (g->own->periodic[d] && g->own->width[d] > 0));
            lo[d] = theirs[d] + shift[d] > g->from[d] ? theirs[d] + shift[d] : g->from[d];
            hi[d] = theirs[DIMS + d] + shift[d] < g->to[d] ? theirs[DIMS + d] + shift[d] : g->to[d];
        }
        if (exists && !is_own && volume(g->ndim, lo, hi) > 0)
            add_ghosts(g, q, shift, lo, hi, list);
    }
}

/* How many ghosts have an owner, if the boxes make up the grid. */
static int64_t count_ghosts(const grid *g)
{
    int64_t lo[DIMS], hi[DIMS];
    for (int d = 0; d < g->ndim; d++) {
        const bool around = g->own->periodic[d];
        lo[d] = around || g->from[d] > 0 ? g->from[d] : 0;
        hi[d] = around || g->to[d] < g->own->extent[d] ? g->to[d] : g->own->extent[d];
    }
    return volume(g->ndim, lo, hi) - volume(g->ndim, g->own->lo, g->own->hi);
}

static bool make_up_grid(const grid *g)
{
    const int64_t none[DIMS] = {0};
    int64_t n = 0;
    for (int q = 0; q < g->count; q++)
        n += volume(g->ndim, g->bounds + (size_t)q * 2 * DIMS, g->bounds + (size_t)q * 2 * DIMS + DIMS);
    return n == volume(g->ndim, none, g->own->extent);
}

/* ---- footprint ---- */

/* Boxes of ghosts: those below and above in each dimension. */
static int slabs(const grid *g, int64_t *boxes)
{
    int n = 0;
    for (int d = 0; d < g->ndim; d++)
        for (int above = 0; above < 2; above++) {
            const int64_t all = g->to[d] - g->from[d],
                          w = above ? g->to[d] - g->own->hi[d] : g->own->lo[d] - g->from[d];
            int64_t *b = boxes + (size_t)n * 2 * (size_t)g->ndim;
            for (int k = 0; k < g->ndim; k++) {
                b[2 * k] = 0;
                b[2 * k + 1] = g->to[k] - g->from[k] - 1;
            }
            b[2 * d] = above ? all - w : 0;
            b[2 * d + 1] = above ? all - 1 : w - 1;
            n += volume(g->ndim, g->from, g->to) > 0 && w > 0;
        }
    return n;
}

/* ---- all of it ---- */

/* False after failing the session. */
static bool find_ghosts(tk_session *s, grid *g, found *list)
{
    for (int d = 0; d < g->ndim; d++) {
        g->from[d] = begin_of(g->own, d, g->own->lo[d]);
        g->to[d] = end_of(g->own, d, g->own->hi[d]);
    }
    for (int pass = 0; pass < 2; pass++) {
        list->n = 0;
        for (int q = 0; q < g->count; q++)
            from_rank(g, q, list);
        if (pass == 0 && (!make_up_grid(g) || list->n != count_ghosts(g)))
            return refuse(s, "boxes overlap or leave gaps");
        if (pass == 0 && !(list->ghost = malloc(((size_t)list->n + 1) * sizeof *list->ghost))) {
            tk_fail(s, TK_NO_MEMORY, "out of memory for a halo of %lld ghosts", (long long)list->n);
            return false;
        }
    }
    return true;
}

/* What is to be the same in all processes: they see the same, and all refuse. */
static void check_same(tk_session *s, const ranks *r, const tk_halo_box *box, int ndim)
{
    enum { WORDS = 3 * DIMS + 1 };
    int64_t x[2 * WORDS] = {ndim};
    for (int d = 0; d < ndim; d++) {
        x[1 + 3 * d] = box->extent[d];
        x[2 + 3 * d] = box->width[d];
        x[3 + 3 * d] = box->periodic[d] + 2 * box->cropped[d];
    }
    for (int i = 0; i < WORDS; i++)
        x[WORDS + i] = -x[i];
    if (!ranks_ok(s, MPI_Allreduce(MPI_IN_PLACE, x, 2 * WORDS, MPI_INT64_T, MPI_MAX, r->comm), "tk_halo_create_box"))
        return;
    for (int i = 0; i < WORDS; i++)
        if (x[i] != -x[WORDS + i]) {
            refuse(s, "dimensions, extents, widths or ends of the grid differ between processes");
            return;
        }
}

static int64_t *gather_bounds(tk_session *s, const ranks *r, const tk_halo_box *box, int ndim)
{
    int64_t *bounds = malloc((size_t)r->count * 2 * DIMS * sizeof *bounds), own[2 * DIMS] = {0};
    if (!bounds)
        tk_fail(s, TK_NO_MEMORY, "out of memory for the boxes of %d processes", r->count);
    if (tk_session_agree(s, "tk_halo_create_box") == TK_OK) {
        memcpy(own, box->lo, sizeof box->lo);
        memcpy(own + DIMS, box->hi, sizeof box->hi);
        ranks_ok(s, MPI_Allgather(own, 2 * DIMS, MPI_INT64_T, bounds, 2 * DIMS, MPI_INT64_T, r->comm),
                 "tk_halo_create_box");
        check_same(s, r, box, ndim);
    }
    return bounds;
}

tk_halo *tk_halo_create_box(tk_session *s, tk_field *const *fields, int nfields, const tk_halo_box *box)
{
    if (!s) {
        tk_fail(NULL, TK_BAD_ARGUMENT, "tk_halo_create_box: the session is NULL");
        return NULL;
    }
    ranks *r = ranks_of(s, "tk_halo_create_box");
    if (!r)
        return NULL;
    int ndim = 0;
    if (tk_tape_is_open(s))
        tk_fail(s, TK_BAD_STATE, "tk_halo_create_box: a tape is open");
    else if (halo_check_fields(s, fields, nfields) && check_box(s, fields[0], box))
        ndim = fields[0]->desc->ndim;
    int64_t *bounds = gather_bounds(s, r, box, ndim), boxes[2 * DIMS * 2 * DIMS];
    found list = {0};
    int nboxes = 0;
    if (!tk_failed(s)) {
        grid g = {.own = box, .ndim = ndim, .rank = r->rank, .count = r->count, .bounds = bounds};
        if (find_ghosts(s, &g, &list))
            nboxes = slabs(&g, boxes);
    }
    tk_halo *h = halo_create(s, r, fields, nfields, list.ghost, list.n, boxes, nboxes);
    free(list.ghost);
    free(bounds);
    return h;
}
