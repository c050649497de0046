/* Sums over all processes, along one binary tree: the same bits in each process and each run. */
#include "ranks.h"

#include <math.h>
#include <stdio.h>

enum { PIECE = 1 << 26 /* numbers of a message */ };

#define FOR_SCALARS(X) \
    X(TK_I8, uint8_t, MPI_INT8_T) \
    X(TK_I16, uint16_t, MPI_INT16_T) \
    X(TK_I32, uint32_t, MPI_INT32_T) \
    X(TK_I64, uint64_t, MPI_INT64_T) \
    X(TK_U8, uint8_t, MPI_UINT8_T) \
    X(TK_U16, uint16_t, MPI_UINT16_T) \
    X(TK_U32, uint32_t, MPI_UINT32_T) \
    X(TK_U64, uint64_t, MPI_UINT64_T) \
    X(TK_F32, float, MPI_FLOAT) \
    X(TK_F64, double, MPI_DOUBLE)

static MPI_Datatype type_of(tk_scalar t)
{
    switch (t) {
#define TYPE_(id, c, mpi) \
    case id: \
        return mpi;
        FOR_SCALARS(TYPE_)
    case TK_BOOL:
        break;
    }
    return MPI_DATATYPE_NULL;
}

static void add(tk_scalar t, void *to, const void *from, int64_t n)
{
    switch (t) {
#define ADD_(id, c, mpi) \
    case id: \
        for (int64_t i = 0; i < n; i++) \
            ((c *)to)[i] = (c)(((c *)to)[i] + ((const c *)from)[i]); \
        return;
        FOR_SCALARS(ADD_)
    case TK_BOOL:
        return;
    }
}

static int sum_piece(const ranks *r, tk_scalar t, void *x, void *other, int64_t n)
{
    const MPI_Datatype type = type_of(t);
    int code = MPI_SUCCESS;
    for (int step = 1; step < r->count && code == MPI_SUCCESS; step *= 2) {
        if (r->rank % (2 * step) != 0) {
            code = MPI_Send(x, (int)n, type, r->rank - step, SUM_TAG, r->comm);
            break;
        }
        if (r->rank + step >= r->count)
            continue;
        code = MPI_Recv(other, (int)n, type, r->rank + step, SUM_TAG, r->comm, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS)
            add(t, x, other, n);
    }
    return code == MPI_SUCCESS ? MPI_Bcast(x, (int)n, type, 0, r->comm) : code;
}

static void add_sum(ranks *r, tk_plane plane, size_t bytes)
{
    tk_mpi_traffic *sum = plane == TK_GRAD ? &r->counts.adjoint : &r->counts.primal;
    sum->sums++;
    sum->summed += bytes;
}

/* All processes have room for the sums of the field, or none calls. */
static bool make_room(tk_session *s, ranks *r, const tk_field *f)
{
    const size_t data = 2 * tk_field_bytes(f), both = 2 * sizeof(double) * (size_t)tk_field_count(f),
                 bytes = data > both ? data : both;
    void *room = bytes > r->bytes ? realloc(r->room, bytes) : r->room;
    if (bytes > r->bytes && !room) {
        tk_fail(s, TK_NO_MEMORY, "out of memory for the sum of field '%s'", f->desc->name);
        return false;
    }
    r->bytes = bytes > r->bytes ? bytes : r->bytes;
    r->room = room;
    return true;
}

static tk_status sum_plane(tk_field *f, tk_plane plane)
{
    tk_session *s = f->module->session;
    const tk_scalar t = f->desc->elem;
    const int64_t n = tk_field_count(f);
    const size_t size = n > 0 ? tk_field_bytes(f) / (size_t)n : 0;
    ranks *r = ranks_of(s, "tk_allsum");
    if (!r)
        return tk_session_status(s);
    unsigned char *x = r->room;
    add_sum(r, plane, tk_field_bytes(f));
    tk_field_pack(f, plane, NULL, f->count, x);
    for (int64_t i = 0; i < n; i += PIECE) {
        unsigned char *at = x + (size_t)i * size;
        const int64_t m = n - i < PIECE ? n - i : PIECE;
        if (!ranks_ok(s, sum_piece(r, t, at, at + tk_field_bytes(f), m), "tk_allsum"))
            return tk_session_status(s);
    }
    tk_field_unpack(f, plane, NULL, f->count, x);
    return TK_OK;
}

/* ---- the functions ---- */

static tk_status forward(void *args)
{
    return sum_plane(args, TK_DATA);
}

static tk_status along(void *args)
{
    tk_field *f = args;
    const tk_status st = sum_plane(f, TK_DATA);
    return st == TK_OK && f->plane[TK_DUAL] ? sum_plane(f, TK_DUAL) : st;
}

static tk_status add_gradients(void *args)
{
    tk_field *f = args;
    return f->plane[TK_GRAD] ? sum_plane(f, TK_GRAD) : TK_OK;
}

/* The largest of numbers and of their negatives: all processes see the same difference. */
static tk_status compare(tk_field *f, const ranks *r, double *x, int64_t n)
{
    tk_session *s = f->module->session;
    const double most = f->desc->elem == TK_F32 ? 1e-4 : 1e-9;
    for (int64_t i = 0; i < n; i++)
        x[n + i] = -x[i];
    for (int64_t i = 0; i < 2 * n; i += PIECE)
        if (!ranks_ok(s,
                      MPI_Allreduce(MPI_IN_PLACE, x + i, (int)(2 * n - i < PIECE ? 2 * n - i : PIECE), MPI_DOUBLE,
                                    MPI_MAX, r->comm),
                      "tk_allsum"))
            return tk_session_status(s);
    for (int64_t i = 0; i < n; i++) {
        const double low = -x[n + i], high = x[i];
        if (high - low > most * fmax(fabs(low), fabs(high)))
            return tk_fail(
                s, TK_BAD_STATE,
                "gradients of the sum '%s' differ between processes (%g and %g), which compute something else "
                "from it each: tk_allsum_apart adds them up",
                f->desc->name, low, high);
    }
    return TK_OK;
}

static tk_status same_gradients(void *args)
{
    tk_field *f = args;
    tk_session *s = f->module->session;
    const int64_t n = f->plane[TK_GRAD] ? tk_field_count(f) : 0;
    ranks *r = ranks_of(s, "tk_allsum");
    if (!r || n == 0)
        return tk_session_status(s);
    tk_field_get(f, TK_GRAD, 0, n, r->room);
    add_sum(r, TK_GRAD, 2 * sizeof(double) * (size_t)n);
    return compare(f, r, r->room, n);
}

/* All make the same sum, of as many numbers of the same type. */
static void agree_on(tk_session *s, const tk_field *f, bool apart)
{
    char place[120];
    snprintf(place, sizeof place, "%s of %lld numbers of '%.40s' (type %d)", apart ? "tk_allsum_apart" : "tk_allsum",
             f ? (long long)tk_field_count(f) : 0, f ? f->desc->name : "NULL", f ? (int)f->desc->elem : 0);
    tk_session_agree(s, place);
}

static tk_status step(tk_session *s, tk_field *f, tk_host_fn backward)
{
    if (!s)
        return tk_fail(NULL, TK_BAD_ARGUMENT, "tk_allsum: the session is NULL");
    ranks *r = ranks_of(s, "tk_allsum");
    if (!r)
        return tk_session_status(s);
    if (!f || f->module->session != s)
        tk_fail(s, TK_BAD_ARGUMENT, "tk_allsum: the field is NULL, or of another session");
    else if (f->desc->elem == TK_BOOL)
        tk_fail(s, TK_BAD_ARGUMENT, "tk_allsum: field '%s' holds bools", f->desc->name);
    else if (make_room(s, r, f))
        refuse_wide(s, f, "tk_allsum");
    agree_on(s, f, backward == add_gradients);
    const tk_triple t = {f ? f->desc->name : "tk_allsum", forward, backward, along, TK_CALL_AGAIN | TK_CALL_TOGETHER};
    const tk_footprint line = {f, TK_READS | TK_STORES, NULL};
    return tk_call_with(s, &t, f, 0, &line, 1);
}

tk_status tk_allsum(tk_session *s, tk_field *f)
{
    return step(s, f, same_gradients);
}

tk_status tk_allsum_apart(tk_session *s, tk_field *f)
{
    return step(s, f, add_gradients);
}
