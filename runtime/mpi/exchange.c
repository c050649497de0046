/* The exchange of a halo: data, with duals in a forward scope; gradients on the way back. */
#include "ranks.h"

/* ---- messages ---- */

/* Also where a process has no element. */
static size_t element_bytes(const tk_field *f)
{
    size_t scalar = 8;
    switch (f->desc->elem) {
    case TK_BOOL:
    case TK_I8:
    case TK_U8:
        scalar = 1;
        break;
    case TK_I16:
    case TK_U16:
        scalar = 2;
        break;
    case TK_I32:
    case TK_U32:
    case TK_F32:
        scalar = 4;
        break;
    case TK_I64:
    case TK_U64:
    case TK_F64:
        break;
    }
    return (size_t)f->desc->ncomp * scalar;
}

static bool travels(const tk_field *f, tk_plane plane)
{
    return f->plane[plane] != NULL;
}

size_t halo_bytes(const tk_halo *h, bool gradients, bool duals)
{
    size_t n = 0;
    for (int i = 0; i < h->nfields; i++)
        for (int p = 0; p < TK_PLANE_COUNT; p++)
            if (travels(h->field[i], (tk_plane)p) &&
                (gradients ? p == TK_GRAD : p == TK_DATA || (duals && p == TK_DUAL)))
                n += element_bytes(h->field[i]);
    return n;
}

static unsigned char *message(const side *of, int i, size_t unit)
{
    return of->buffer + (size_t)of->at[i] * unit;
}

typedef void (*copy_fn)(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, void *buffer);

static void pack(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, void *buffer)
{
    tk_field_pack(f, plane, elements, n, buffer);
}

static void unpack(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, void *buffer)
{
    tk_field_unpack(f, plane, elements, n, buffer);
}

static void add(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, void *buffer)
{
    tk_field_unpack_add(f, plane, elements, n, buffer);
}

/* Sets gradients to 0 that have been packed. */
static void pack_and_clear(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, void *buffer)
{
    tk_field_pack(f, plane, elements, n, buffer);
    const unsigned char zeros[128] = {0};
    const int64_t most = (int64_t)(sizeof zeros / element_bytes(f));
    void *more = most > 0 ? NULL : calloc(1, element_bytes(f));
    for (int64_t i = 0; i < n && (most > 0 || more); i += most > 0 ? most : 1)
        tk_field_unpack(f, plane, elements + i, most == 0 ? 1 : n - i < most ? n - i : most, more ? more : zeros);
    if (most == 0 && !more)
        tk_fail(f->module->session, TK_NO_MEMORY, "out of memory for clearing the gradients of ghosts");
    free(more);
}

/* Planes `plane` of all fields, between the fields and the messages of one side. They begin at `*at` of the unit of an
 * element. */
static void each(const tk_halo *h, const side *of, tk_plane plane, size_t unit, size_t *at, copy_fn copy)
{
    for (int f = 0; f < h->nfields; f++) {
        if (!travels(h->field[f], plane))
            continue;
        for (int i = 0; i < of->n; i++) {
            const int64_t n = of->at[i + 1] - of->at[i];
            copy(h->field[f], plane, of->element + of->at[i], n, message(of, i, unit) + (size_t)n * *at);
        }
        *at += element_bytes(h->field[f]);
    }
}

static void copy_data(const tk_halo *h, const side *of, bool duals, copy_fn copy)
{
    const size_t unit = halo_bytes(h, false, duals);
    size_t at = 0;
    each(h, of, TK_DATA, unit, &at, copy);
    if (duals)
        each(h, of, TK_DUAL, unit, &at, copy);
}

/* Of an exchange in which `from` is sent. */
static void add_traffic(const tk_halo *h, const side *from, size_t unit, tk_mpi_traffic *sum)
{
    sum->exchanges++;
    for (int i = 0; i < from->n; i++)
        if (from->rank[i] != h->ranks->rank) {
            sum->messages++;
            sum->bytes += (uint64_t)(from->at[i + 1] - from->at[i]) * unit;
        }
}

/* Messages of `from` are sent, and come to `to`. */
static bool post(tk_halo *h, const side *from, const side *to, size_t unit, tk_mpi_traffic *sum)
{
    MPI_Datatype element;
    MPI_Comm comm = h->ranks->comm;
    int code = MPI_Type_contiguous((int)unit, MPI_BYTE, &element);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&element);
    if (!ranks_ok(h->session, code, h->name))
        return false;
    for (int i = 0; i < to->n && code == MPI_SUCCESS; i++)
        code = MPI_Irecv(message(to, i, unit), (int)(to->at[i + 1] - to->at[i]), element, to->rank[i], HALO_TAG, comm,
                         &h->request[i]);
    for (int i = 0; i < from->n && code == MPI_SUCCESS; i++)
        code = MPI_Isend(message(from, i, unit), (int)(from->at[i + 1] - from->at[i]), element, from->rank[i], HALO_TAG,
                         comm, &h->request[to->n + i]);
    MPI_Type_free(&element);
    add_traffic(h, from, unit, sum);
    return ranks_ok(h->session, code, h->name);
}

static bool wait_for(tk_halo *h)
{
    const int code = MPI_Waitall(h->ghosts.n + h->owned.n, h->request, MPI_STATUSES_IGNORE);
    return ranks_ok(h->session, code, h->name);
}

void halo_wait(tk_halo *h)
{
    if (h->begun)
        wait_for(h);
    h->begun = false;
}

/* ---- the three functions ---- */

/* Of what is packed for others. */
static uint64_t hash_sent(const tk_halo *h, bool duals)
{
    const size_t n = (size_t)h->owned.at[h->owned.n] * halo_bytes(h, false, duals);
    uint64_t hash = n, word;
    size_t i = 0;
    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, h->owned.buffer + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (; i < n; i++)
        hash = (hash ^ h->owned.buffer[i]) * 0x9e3779b97f4a7c15u;
    return hash;
}

static bool send_data(tk_halo *h, bool duals)
{
    copy_data(h, &h->owned, duals, pack);
    for (int i = 0; i < h->ghosts.n + h->owned.n; i++)
        h->request[i] = MPI_REQUEST_NULL;
    h->begun = post(h, &h->owned, &h->ghosts, halo_bytes(h, false, duals), &h->ranks->counts.primal);
    return h->begun;
}

static void check_sent(tk_halo *h, bool duals)
{
    if (!h->checks)
        return;
    h->checks = false;
    copy_data(h, &h->owned, duals, pack);
    if (hash_sent(h, duals) != h->sent)
        tk_fail(h->session, TK_OVERWRITTEN, "%s: elements that were sent changed between tk_halo_begin and tk_halo_end",
                h->name);
}

/* Messages that have begun use the buffers. */
static tk_status refuse_begun(tk_halo *h)
{
    return tk_fail(h->session, TK_BAD_STATE, "%s: a tape closes between tk_halo_begin and tk_halo_end", h->name);
}

static tk_status fill(tk_halo *h, bool duals)
{
    if (h->begun && !h->ending)
        return refuse_begun(h);
    if (h->begun && h->duals != duals)
        return tk_fail(h->session, TK_BAD_STATE, "%s: it has begun %s tangents, and ends %s", h->name,
                       duals ? "without" : "with", duals ? "with" : "without");
    if (!h->begun && !send_data(h, duals))
        return tk_session_status(h->session);
    h->begun = false;
    if (wait_for(h)) {
        copy_data(h, &h->ghosts, duals, unpack);
        check_sent(h, duals);
    }
    return tk_session_status(h->session);
}

static tk_status forward(void *args)
{
    return fill(args, false);
}

static tk_status along(void *args)
{
    return fill(args, true);
}

static tk_status backward(void *args)
{
    tk_halo *h = args;
    const size_t unit = halo_bytes(h, true, false);
    size_t at = 0;
    if (h->begun)
        return refuse_begun(h);
    if (unit == 0)
        return TK_OK;
    each(h, &h->ghosts, TK_GRAD, unit, &at, pack_and_clear);
    for (int i = 0; i < h->ghosts.n + h->owned.n; i++)
        h->request[i] = MPI_REQUEST_NULL;
    if (!post(h, &h->ghosts, &h->owned, unit, &h->ranks->counts.adjoint) || !wait_for(h))
        return tk_session_status(h->session);
    at = 0;
    each(h, &h->owned, TK_GRAD, unit, &at, add);
    return tk_session_status(h->session);
}

/* ---- the interface ---- */

static tk_status step(tk_halo *h, const char *name)
{
    const tk_triple t = {name, forward, backward, along, TK_CALL_AGAIN | TK_CALL_TOGETHER};
    for (int i = 0; i < h->nfields; i++)
        refuse_wide(h->session, h->field[i], h->name);
    h->ending = h->begun;
    const tk_status st = tk_call_with(h->session, &t, h, 0, h->line, h->nlines);
    halo_wait(h); /* where another process failed */
    h->checks = h->ending = false;
    return st;
}

tk_status tk_halo_exchange(tk_halo *h)
{
    if (!h)
        return tk_fail(NULL, TK_BAD_ARGUMENT, "tk_halo_exchange: the halo is NULL");
    if (h->begun)
        tk_fail(h->session, TK_BAD_STATE, "%s: an exchange has begun (tk_halo_end)", h->name);
    return step(h, h->exchanges);
}

tk_status tk_halo_begin(tk_halo *h)
{
    if (!h)
        return tk_fail(NULL, TK_BAD_ARGUMENT, "tk_halo_begin: the halo is NULL");
    tk_session *s = h->session;
    const bool duals = tk_forward_is_open(s);
    if (h->begun)
        tk_fail(s, TK_BAD_STATE, "%s: an exchange has begun already (tk_halo_end)", h->name);
    for (int i = 0; i < h->nfields; i++)
        refuse_wide(s, h->field[i], h->name);
    if (tk_session_agree(s, h->begins) != TK_OK || !send_data(h, duals))
        return tk_session_status(s);
    h->in_tape = tk_tape_is_open(s);
    h->duals = duals;
    h->sent = hash_sent(h, duals);
    h->checks = true;
    return TK_OK;
}

tk_status tk_halo_end(tk_halo *h)
{
    if (!h)
        return tk_fail(NULL, TK_BAD_ARGUMENT, "tk_halo_end: the halo is NULL");
    tk_session *s = h->session;
    if (!h->begun)
        tk_fail(s, TK_BAD_STATE, "%s: no exchange has begun (tk_halo_begin)", h->name);
    else if (h->in_tape != tk_tape_is_open(s) || h->duals != tk_forward_is_open(s))
        tk_fail(s, TK_BAD_STATE, "%s: tk_halo_begin and tk_halo_end are not in the same tape or forward scope",
                h->name);
    return step(h, h->ends);
}
