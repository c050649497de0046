/* Halos by lists of ghosts: who sends what to whom. */
#include "ranks.h"

#include <limits.h>
#include <stdio.h>

static void free_side(side *of)
{
    free(of->rank);
    free(of->at);
    free(of->element);
    free(of->buffer);
}

static void free_halo(tk_halo *h)
{
    free_side(&h->ghosts);
    free_side(&h->owned);
    free(h->field);
    free(h->request);
    free(h->line);
    free(h->box);
    free(h);
}

void tk_halo_destroy(tk_halo *h)
{
    if (!h)
        return;
    if (tk_tape_is_open(h->session)) {
        tk_fail(h->session, TK_BAD_STATE, "tk_halo_destroy: a tape is open, which may exchange '%s' again", h->name);
        return;
    }
    halo_wait(h);
    h->ranks->halos--;
    free_halo(h);
}

/* ---- what is given ---- */

static tk_status refuse(tk_session *s, const char *why)
{
    return tk_fail(s, TK_BAD_ARGUMENT, "tk_halo_create: %s", why);
}

bool halo_check_fields(tk_session *s, tk_field *const *fields, int nfields)
{
    if (!fields || nfields < 1)
        return refuse(s, "there is no field") == TK_OK;
    for (int i = 0; i < nfields; i++) {
        const tk_field *f = fields[i], *first = fields[0];
        if (!f || f->module->session != s)
            return refuse(s, "a field is NULL, or of another session") == TK_OK;
        bool same = f->desc->ndim == first->desc->ndim;
        for (int d = 0; d < f->desc->ndim && same; d++)
            same = f->shape[d] == first->shape[d];
        if (!same) {
            tk_fail(s, TK_BAD_ARGUMENT, "tk_halo_create: fields '%s' and '%s' have other extents", first->desc->name,
                    f->desc->name);
            return false;
        }
        for (int k = 0; k < i; k++)
            if (fields[k] == f)
                return tk_fail(s, TK_BAD_ARGUMENT, "tk_halo_create: field '%s' is there twice", f->desc->name) == TK_OK;
    }
    return true;
}

/* is_ghost: of each element. */
static bool check_ghosts(tk_session *s, const ranks *r, const tk_field *f, const tk_ghost *g, int64_t n, bool *is_ghost)
{
    for (int64_t i = 0; i < n; i++) {
        const bool inside = g[i].element >= 0 && g[i].element < f->count;
        if (!inside || g[i].rank < 0 || g[i].rank >= r->count || g[i].of < 0 || is_ghost[g[i].element]) {
            tk_fail(s, TK_BAD_ARGUMENT,
                    "tk_halo_create: ghost %lld is element %lld of %lld, owned as %lld by rank %d of %d%s",
                    (long long)i, (long long)g[i].element, (long long)f->count, (long long)g[i].of, g[i].rank, r->count,
                    inside && is_ghost[g[i].element] ? ", and a ghost twice" : "");
            return false;
        }
        is_ghost[g[i].element] = true;
    }
    return true;
}

static bool check_owned(tk_session *s, const tk_field *f, const side *owned, const bool *is_ghost)
{
    for (int i = 0; i < owned->n; i++)
        for (int64_t k = owned->at[i]; k < owned->at[i + 1]; k++) {
            const int64_t e = owned->element[k];
            if (e >= f->count || is_ghost[e]) {
                tk_fail(s, TK_BAD_ARGUMENT, "tk_halo_create: rank %d has a ghost of element %lld of %lld here%s",
                        owned->rank[i], (long long)e, (long long)f->count,
                        e < f->count ? ", which is a ghost itself" : "");
                return false;
            }
        }
    return true;
}

/* ---- sides ---- */

/* count: how many elements of each rank. */
static bool make_side(side *of, const ranks *r, const int64_t *count, size_t unit)
{
    int64_t all = 0;
    for (int q = 0; q < r->count; q++) {
        of->n += count[q] > 0;
        all += count[q];
    }
    of->rank = malloc(((size_t)of->n + 1) * sizeof *of->rank);
    of->at = calloc((size_t)of->n + 1, sizeof *of->at);
    of->element = malloc(((size_t)all + 1) * sizeof *of->element);
    of->buffer = malloc((size_t)all * unit + 1);
    if (!of->rank || !of->at || !of->element || !of->buffer)
        return false;
    for (int q = 0, i = 0; q < r->count; q++)
        if (count[q] > 0) {
            of->rank[i] = q;
            of->at[i + 1] = of->at[i] + count[q];
            i++;
        }
    return true;
}

/* Ghosts rank by rank, as they are given; remote: their numbers there. next: room for a number for each rank. */
static void sort_ghosts(side *ghosts, const tk_ghost *g, int64_t n, int64_t *remote, int64_t *next)
{
    for (int i = 0; i < ghosts->n; i++)
        next[ghosts->rank[i]] = ghosts->at[i];
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = next[g[i].rank]++;
        ghosts->element[at] = g[i].element;
        remote[at] = g[i].of;
    }
}

static bool send_lists(tk_halo *h, const int64_t *remote)
{
    const side *owned = &h->owned, *ghosts = &h->ghosts;
    int code = MPI_SUCCESS;
    for (int i = 0; i < owned->n && code == MPI_SUCCESS; i++)
        code = MPI_Irecv(owned->element + owned->at[i], (int)(owned->at[i + 1] - owned->at[i]), MPI_INT64_T,
                         owned->rank[i], LIST_TAG, h->ranks->comm, &h->request[i]);
    for (int i = 0; i < ghosts->n && code == MPI_SUCCESS; i++)
        code = MPI_Isend(remote + ghosts->at[i], (int)(ghosts->at[i + 1] - ghosts->at[i]), MPI_INT64_T, ghosts->rank[i],
                         LIST_TAG, h->ranks->comm, &h->request[owned->n + i]);
    if (code == MPI_SUCCESS)
        code = MPI_Waitall(owned->n + ghosts->n, h->request, MPI_STATUSES_IGNORE);
    return ranks_ok(h->session, code, h->name);
}

/* ---- footprint ---- */

/* The box around elements; false: there is none. */
static bool surround(const tk_field *f, const side *of, int64_t *box)
{
    const int64_t n = of->at[of->n];
    for (int d = 0; d < f->desc->ndim; d++) {
        box[2 * d] = INT64_MAX;
        box[2 * d + 1] = -1;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t e = of->element[i];
        for (int d = f->desc->ndim - 1; d >= 0; d--) {
            const int64_t x = e % f->shape[d];
            e /= f->shape[d];
            box[2 * d] = x < box[2 * d] ? x : box[2 * d];
            box[2 * d + 1] = x > box[2 * d + 1] ? x : box[2 * d + 1];
        }
    }
    return n > 0;
}

static void add_lines(tk_halo *h, unsigned what, const int64_t *box)
{
    for (int i = 0; i < h->nfields; i++)
        h->line[h->nlines++] = (tk_footprint){h->field[i], what, box};
}

/* boxes: of ghosts, nboxes of them; NULL: one around all. */
static bool make_lines(tk_halo *h, const int64_t *boxes, int nboxes)
{
    const tk_field *f = h->field[0];
    const size_t width = 2 * (size_t)f->desc->ndim, n = boxes ? (size_t)nboxes : 1;
    h->box = calloc((n + 1) * width + 1, sizeof *h->box);
    h->line = calloc((n + 1) * (size_t)h->nfields, sizeof *h->line);
    if (!h->box || !h->line)
        return false;
    if (surround(f, &h->owned, h->box))
        add_lines(h, TK_READS, h->box);
    int64_t *box = h->box + width;
    if (!boxes && surround(f, &h->ghosts, box))
        add_lines(h, TK_STORES, box);
    for (size_t i = 0; boxes && i < n; i++) {
        memcpy(box + i * width, boxes + i * width, width * sizeof *box);
        add_lines(h, TK_STORES, box + i * width);
    }
    return true;
}

/* ---- all of it ---- */

/* Room for the work of creation. */
typedef struct work {
    bool *is_ghost;
    int64_t *want, *give, *remote; /* want, give: of each rank the number of elements, and bytes of an element */
} work;

static void free_work(work *w)
{
    free(w->is_ghost);
    free(w->want);
    free(w->give);
    free(w->remote);
}

static tk_halo *make(tk_session *s, ranks *r, tk_field *const *fields, int nfields, int64_t n, work *w)
{
    const size_t nranks = (size_t)r->count, count = (size_t)(nfields > 0 && fields[0] ? fields[0]->count : 0);
    tk_halo *h = calloc(1, sizeof *h);
    w->is_ghost = calloc(count + 1, sizeof *w->is_ghost);
    w->want = calloc(2 * nranks, sizeof *w->want);
    w->give = calloc(2 * nranks, sizeof *w->give);
    w->remote = malloc(((size_t)n + 1) * sizeof *w->remote);
    if (h) {
        h->field = malloc((size_t)nfields * sizeof *h->field);
        h->session = s;
        h->ranks = r;
        h->nfields = nfields;
        snprintf(h->name, sizeof h->name, "halo %d of '%.24s'", r->made + 1, fields[0]->desc->name);
        snprintf(h->exchanges, sizeof h->exchanges, "exchange of %s", h->name);
        snprintf(h->begins, sizeof h->begins, "begin of %s", h->name);
        snprintf(h->ends, sizeof h->ends, "end of %s", h->name);
    }
    if (h && h->field && w->is_ghost && w->want && w->give && w->remote) {
        memcpy(h->field, fields, (size_t)nfields * sizeof *h->field);
        return h;
    }
    if (h)
        free_halo(h);
    tk_fail(s, TK_NO_MEMORY, "out of memory for a halo");
    return NULL;
}

/* Counts to and from all; false: all fail, as one does. */
static bool exchange_counts(tk_halo *h, const tk_ghost *g, int64_t n, work *w)
{
    const ranks *r = h->ranks;
    const int64_t unit = (int64_t)(halo_bytes(h, false, false) + (halo_bytes(h, true, false) << 20));
    for (int q = 0; q < r->count; q++)
        w->want[2 * q + 1] = unit;
    for (int64_t i = 0; i < n; i++)
        w->want[2 * g[i].rank]++;
    if (!ranks_ok(h->session, MPI_Alltoall(w->want, 2, MPI_INT64_T, w->give, 2, MPI_INT64_T, r->comm), h->name))
        return false;
    for (int q = 0; q < r->count; q++) {
        if (w->give[2 * q + 1] != unit)
            refuse(h->session, "the fields of another process have other types");
        if (w->give[2 * q] > INT_MAX || w->want[2 * q] > INT_MAX)
            refuse(h->session, "a message has more than 2^31 elements");
        w->give[q] = w->give[2 * q];
        w->want[q] = w->want[2 * q];
    }
    return true;
}

static void connect(tk_halo *h, const tk_ghost *g, int64_t n, const int64_t *boxes, int nboxes, work *w)
{
    tk_session *s = h->session;
    const size_t data = halo_bytes(h, false, true), grad = halo_bytes(h, true, false), unit = data > grad ? data : grad;
    const bool counted = exchange_counts(h, g, n, w);
    if (counted && (!make_side(&h->ghosts, h->ranks, w->want, unit) || !make_side(&h->owned, h->ranks, w->give, unit) ||
                    !(h->request = malloc(((size_t)h->ghosts.n + (size_t)h->owned.n + 1) * sizeof *h->request))))
        tk_fail(s, TK_NO_MEMORY, "out of memory for a halo of %lld ghosts", (long long)n);
    if (tk_session_agree(s, "tk_halo_create, lists") != TK_OK)
        return;
    sort_ghosts(&h->ghosts, g, n, w->remote, w->give);
    if (send_lists(h, w->remote) && check_owned(s, h->field[0], &h->owned, w->is_ghost) &&
        !make_lines(h, boxes, nboxes))
        tk_fail(s, TK_NO_MEMORY, "out of memory for a halo of %lld ghosts", (long long)n);
    tk_session_agree(s, "tk_halo_create, the end");
}

tk_halo *halo_create(tk_session *s, ranks *r, tk_field *const *fields, int nfields, const tk_ghost *g, int64_t n,
                     const int64_t *boxes, int nboxes)
{
    work w = {0};
    tk_halo *h = tk_failed(s) ? NULL : make(s, r, fields, nfields, n, &w);
    if (h)
        check_ghosts(s, r, fields[0], g, n, w.is_ghost);
    if (tk_session_agree(s, "tk_halo_create") == TK_OK)
        connect(h, g, n, boxes, nboxes, &w);
    free_work(&w);
    if (!tk_failed(s)) {
        r->halos++;
        r->made++;
        return h;
    }
    if (h)
        free_halo(h);
    return NULL;
}

tk_halo *tk_halo_create(tk_session *s, tk_field *const *fields, int nfields, const tk_ghost *ghosts, int64_t n)
{
    if (!s) {
        tk_fail(NULL, TK_BAD_ARGUMENT, "tk_halo_create: the session is NULL");
        return NULL;
    }
    ranks *r = ranks_of(s, "tk_halo_create");
    if (!r)
        return NULL;
    if (halo_check_fields(s, fields, nfields) && (n < 0 || (n > 0 && !ghosts)))
        refuse(s, "the ghosts are NULL, or fewer than none");
    if (tk_tape_is_open(s))
        tk_fail(s, TK_BAD_STATE, "tk_halo_create: a tape is open");
    return halo_create(s, r, fields, nfields, ghosts, n, NULL, 0);
}
