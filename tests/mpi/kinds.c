/* Fields of all types and layouts travel in one message, and their gradients come back. Arguments that are wrong have a
 * status and a message, in all processes. */
#include "kinds.h"

#include "host.h"

#include <mpi.h>
#include <tkc/mpi.h>
#include <tkc/tkc_gen.h>

#include <unistd.h>

enum { N = 6, OWN = N - 2, MOST = 32 };

static int rank, ranks;
static kinds *m;
static tk_session *s;

/* A field with an element for each number, in all planes that are there. */
static int rings(tk_field **list)
{
    int n = 0;
    for (tk_field *f = tk_field_next(s, NULL); f; f = tk_field_next(s, f))
        if (tk_field_ndim(f) == 1 && tk_field_extent(f, 0) == N)
            list[n++] = f;
    return n;
}

static double value_of(int of, int64_t element, int64_t c, int field, bool is_bool)
{
    const int64_t x = (of * 7 + element * 3 + c + field) % 50;
    return is_bool ? (double)(x % 2) : (double)x;
}

static void fill(tk_field *const *list, int n)
{
    for (int i = 0; i < n; i++)
        for (int64_t k = 0, c = tk_field_components(list[i]); k < N * c; k++) {
            const double x = k / c < OWN ? value_of(rank, k / c, k % c, i, tk_field_scalar(list[i]) == TK_BOOL) : 0;
            tk_field_set(list[i], TK_DATA, k, 1, &x);
        }
}

static void check_ghosts(tk_field *const *list, int n, const tk_ghost *ghosts)
{
    for (int i = 0; i < n; i++)
        for (int g = 0; g < 2; g++)
            for (int64_t c = 0; c < tk_field_components(list[i]); c++) {
                double x = -1;
                const double want = value_of(ghosts[g].rank, ghosts[g].of, c, i, tk_field_scalar(list[i]) == TK_BOOL);
                tk_field_get(list[i], TK_DATA, ghosts[g].element * tk_field_components(list[i]) + c, 1, &x);
                if (x != want)
                    FAIL("rank %d: %s[%d] component %d is %g, not %g", rank, tk_field_name(list[i]),
                         (int)ghosts[g].element, (int)c, x, want);
            }
}

static void check_grad(tk_field *f, int64_t element, int64_t c, double want)
{
    double x = 0;
    tk_field_get(f, TK_GRAD, element * tk_field_components(f) + c, 1, &x);
    if (x != want)
        FAIL("rank %d: %s.grad[%d] component %d is %g, not %g", rank, tk_field_name(f), (int)element, (int)c, x, want);
}

static void exchange(const tk_ghost *ghosts)
{
    tk_field *list[MOST];
    const int n = rings(list);
    CHECK(n == 13);
    tk_halo *h = tk_halo_create(s, list, n, ghosts, 2);
    CHECK_OK(m, tk_session_status(s));
    fill(list, n);
    CHECK_OK(m, tk_halo_exchange(h));
    check_ghosts(list, n, ghosts);
    fill(list, n);
    TK_TAPE(m, m->loss)
    {
        tk_halo_begin(h);
        tk_halo_end(h);
        kinds_use(m);
        tk_allsum(s, m->loss.field);
    }
    CHECK_OK(m, kinds_status(m));
    check_ghosts(list, n, ghosts);
    /* ghost 0 is the last element of the left, ghost 1 the first one of the right */
    for (int64_t e = 0; e < N; e++) {
        const double k = e == OWN - 1 ? 1 : e == 0 ? 2 : 0;
        check_grad(m->wide.field, e, 0, k);
        check_grad(m->v.field, e, 0, k);
        check_grad(m->v.field, e, 1, 0);
        check_grad(m->v.field, e, 2, 2 * k);
        check_grad(m->apart.field, e, 1, k);
        check_grad(m->turns.field, e, 5, k);
        check_grad(tk_field_find(s, "body.pos"), e, 2, k);
        check_grad(tk_field_find(s, "body.turn"), e, 2, k);
        check_grad(tk_field_find(s, "body.turn"), e, 1, 0);
    }
    tk_halo_destroy(h);
}

static void sums(void)
{
    for (int i = 0; i < 2; i++)
        m->sums.data[i] = rank + i;
    CHECK_OK(m, tk_allsum(s, m->sums.field));
    CHECK(m->sums.data[0] == ranks * (ranks - 1) / 2 && m->sums.data[1] == m->sums.data[0] + ranks);
    /* each process uses the sum in its own way */
    const double start[6] = {1, 2, 3, 4, 5, 6};
    tk_field_set(m->fine.field, TK_DATA, 0, 6, start);
    TK_TAPE(m, m->loss)
    {
        tk_allsum_apart(s, m->fine.field);
        if (rank == 0)
            kinds_use_fine(m);
        tk_allsum(s, m->loss.field);
    }
    CHECK_OK(m, kinds_status(m));
    for (int e = 0; e < 3; e++) {
        check_grad(m->fine.field, e, 0, e);
        check_grad(m->fine.field, e, 1, 3);
    }
    double x = 0;
    tk_field_get(m->fine.field, TK_DATA, 3, 1, &x);
    CHECK(x == 4 * ranks);
    /* not the identity: gradients differ */
    TK_TAPE(m, m->loss)
    {
        tk_allsum(s, m->fine.field);
        if (rank == 0)
            kinds_use_fine(m);
        tk_allsum(s, m->loss.field);
    }
    if (ranks > 1)
        CHECK_STATUS(m, kinds_status(m), TK_BAD_STATE, "tk_allsum_apart adds them up");
    else
        CHECK_OK(m, kinds_status(m));
}

/* No ghosts outside of the grid: the first and the last process own one element more, one process all. */
static tk_halo_box cropped_box(void)
{
    tk_halo_box box = {.extent = {4 * ranks + 2}, .width = {1}, .cropped = {true}};
    box.lo[0] = rank ? 4 * rank + 1 : 0;
    box.hi[0] = rank == ranks - 1 ? 4 * ranks + 2 : 4 * rank + 5;
    return box;
}

static void cropped(void)
{
    const tk_halo_box box = cropped_box();
    const int64_t first = rank ? box.lo[0] - 1 : 0;
    tk_halo *h = tk_halo_create_box(s, (tk_field *[]){m->wide.field}, 1, &box);
    CHECK_OK(m, tk_session_status(s));
    for (int64_t e = 0; e < N; e++) {
        const bool own = first + e >= box.lo[0] && first + e < box.hi[0];
        m->wide.data[e] = own ? (double)(first + e) : -1;
    }
    CHECK_OK(m, tk_halo_exchange(h));
    for (int64_t e = 0; e < N; e++)
        CHECK(m->wide.data[e] == (double)(first + e));
    tk_halo_destroy(h);
}

/* All processes fail, whether or not the fault is theirs. */
static void refused(tk_halo *h, tk_status want, const char *text, bool mine)
{
    CHECK(h == NULL);
    CHECK_STATUS(m, tk_session_status(s), want, mine ? text : "another");
}

static void misuse(const tk_ghost *good)
{
    tk_field *const one[] = {m->wide.field}, *const others[] = {m->wide.field, m->sums.field},
                    *const twice[] = {m->wide.field, m->wide.field};
    const bool last = rank == ranks - 1;
    CHECK(tk_mpi_attach(NULL, MPI_COMM_WORLD) == TK_BAD_ARGUMENT && tk_mpi_detach(NULL) == TK_BAD_ARGUMENT);
    CHECK(tk_halo_exchange(NULL) == TK_BAD_ARGUMENT && tk_halo_begin(NULL) == TK_BAD_ARGUMENT);
    CHECK(tk_halo_end(NULL) == TK_BAD_ARGUMENT && tk_allsum(NULL, NULL) == TK_BAD_ARGUMENT);
    CHECK(!tk_halo_create(NULL, one, 1, NULL, 0) && !tk_halo_create_box(NULL, one, 1, NULL));
    tk_halo_destroy(NULL);
    CHECK(tk_mpi_count(NULL, NULL) == TK_BAD_ARGUMENT);
    CHECK_STATUS(m, tk_mpi_count(s, NULL), TK_BAD_ARGUMENT, "the counts are NULL");
    CHECK_STATUS(m, tk_mpi_attach(s, MPI_COMM_WORLD), TK_BAD_STATE, "attached already");
    refused(tk_halo_create(s, last ? NULL : one, 1, NULL, 0), TK_BAD_ARGUMENT, "there is no field", last);
    refused(tk_halo_create(s, others, last ? 2 : 1, NULL, 0), TK_BAD_ARGUMENT, "have other extents", last);
    refused(tk_halo_create(s, twice, last ? 2 : 1, NULL, 0), TK_BAD_ARGUMENT, "is there twice", last);
    refused(tk_halo_create(s, one, 1, NULL, last ? 1 : 0), TK_BAD_ARGUMENT, "the ghosts are NULL", last);
    tk_ghost bad[2] = {good[0], good[1]};
    bad[1].element = last ? good[0].element : good[1].element;
    refused(tk_halo_create(s, one, 1, bad, 2), TK_BAD_ARGUMENT, "and a ghost twice", last);
    bad[1] = good[1];
    bad[1].rank = last ? ranks : good[1].rank;
    refused(tk_halo_create(s, one, 1, bad, 2), TK_BAD_ARGUMENT, "ghost 1 is element 5 of 6", last);
    bad[1] = good[1];
    bad[1].of = last ? N - 1 : good[1].of; /* a ghost there */
    refused(tk_halo_create(s, one, 1, bad, 2), TK_BAD_ARGUMENT, "which is a ghost itself", rank == 0);
    tk_halo_box box = {.extent = {4 * ranks}, .lo = {4 * rank}, .hi = {4 * rank + 4}, .width = {1}, .periodic = {true}};
    box.hi[0] += last;
    refused(tk_halo_create_box(s, one, 1, &box), TK_BAD_ARGUMENT, "the box is not in the grid", last);
    box.hi[0] -= last;
    box.width[0] += last;
    refused(tk_halo_create_box(s, one, 1, &box), TK_BAD_ARGUMENT, "hi - lo + 2 * width", last);
    box.width[0] -= last;
    box.extent[0]++;
    refused(tk_halo_create_box(s, one, 1, &box), TK_BAD_ARGUMENT, "boxes overlap or leave gaps", true);
    box.extent[0]--;
    box.periodic[0] = !last;
    if (ranks > 1)
        refused(tk_halo_create_box(s, one, 1, &box), TK_BAD_ARGUMENT, "differ between processes", true);
    box.periodic[0] = true;
    refused(tk_halo_create_box(s, one, 1, last ? NULL : &box), TK_BAD_ARGUMENT, "the box is NULL", last);
    box.cropped[0] = true;
    refused(tk_halo_create_box(s, one, 1, &box), TK_BAD_ARGUMENT, "is periodic and cropped", true);
    box = cropped_box();
    box.hi[0] -= last;
    box.extent[0] -= 1;
    refused(tk_halo_create_box(s, one, 1, &box), TK_BAD_ARGUMENT, "with ghosts in the grid", last);
    CHECK_STATUS(m, tk_allsum(s, last ? m->flag.field : m->wide.field), TK_BAD_ARGUMENT,
                 last ? "holds bools" : "another");
    CHECK_STATUS(m, tk_allsum(s, NULL), TK_BAD_ARGUMENT, "the field is NULL");

    tk_halo *h = tk_halo_create(s, one, 1, good, 2);
    CHECK_STATUS(m, tk_halo_end(h), TK_BAD_STATE, "no exchange has begun");
    CHECK_OK(m, tk_halo_begin(h));
    CHECK_STATUS(m, tk_halo_begin(h), TK_BAD_STATE, "an exchange has begun already");
    CHECK_OK(m, tk_halo_end(h));
    CHECK_OK(m, tk_halo_begin(h));
    m->wide.data[0] += 1;
    CHECK_STATUS(m, tk_halo_end(h), TK_OVERWRITTEN, "changed between tk_halo_begin and tk_halo_end");
    CHECK_STATUS(m, tk_mpi_detach(s), TK_BAD_STATE, "the session has 1 halos");
    tk_tape_begin(m->loss.field, 0);
    tk_halo_destroy(h);
    CHECK_STATUS(m, tk_session_status(s), TK_BAD_STATE, "a tape is open");
    tk_tape_drop(s);
    tk_halo_destroy(h);
}

/* ---- begin and end ---- */

static tk_status nothing(void *args)
{
    (void)args;
    return TK_OK;
}

static tk_status begin_and_end(void *args)
{
    tk_halo_begin(args);
    return tk_halo_end(args);
}

static void open_scope(void)
{
    const double seed[N] = {1, 2, 3, 4, 5, 6};
    CHECK_OK(m, tk_forward_begin((tk_field *const[]){m->loss.field}, 1, m->wide.field, seed, N));
}

static void check_end(tk_halo *h)
{
    CHECK_STATUS(m, tk_halo_end(h), TK_BAD_STATE, "are not in the same tape or forward scope");
}

/* A tape or scope opens or closes between begin and end. */
static void halves(const tk_ghost *ghosts)
{
    tk_halo *h = tk_halo_create(s, (tk_field *const[]){m->wide.field}, 1, ghosts, 2);
    const tk_triple inside = {"inside", nothing, nothing, begin_and_end, 0};
    TK_TAPE(m, m->loss)
    {
        tk_halo_exchange(h);
        kinds_use(m);
        tk_allsum(s, m->loss.field);
        tk_halo_begin(h);
    }
    CHECK_STATUS(m, kinds_status(m), TK_BAD_STATE, "a tape closes between tk_halo_begin and tk_halo_end");
    check_end(h);
    tk_tape_begin(m->loss.field, 0);
    CHECK_OK(m, tk_halo_begin(h));
    tk_tape_drop(s);
    check_end(h);
    CHECK_OK(m, tk_halo_begin(h));
    tk_tape_begin(m->loss.field, 0);
    check_end(h);
    tk_tape_drop(s);
    CHECK_OK(m, tk_halo_begin(h));
    open_scope();
    check_end(h);
    tk_forward_end(s);
    tk_session_clear_error(s);
    open_scope();
    CHECK_OK(m, tk_halo_begin(h));
    tk_forward_end(s);
    check_end(h);
    open_scope();
    CHECK_STATUS(m, tk_call(s, &inside, h, 0), TK_BAD_STATE, "it has begun with tangents, and ends without");
    tk_forward_end(s);
    tk_session_clear_error(s);
    CHECK_OK(m, tk_halo_exchange(h));
    tk_halo_destroy(h);
}

/* Tangents in several directions do not travel. */
static void directions(void)
{
    const tk_ghost ghosts[2] = {{2, (rank + ranks - 1) % ranks, 1}, {3, (rank + 1) % ranks, 0}};
    tk_halo *h = tk_halo_create(s, (tk_field *const[]){m->many.field}, 1, ghosts, 2);
    const double seed[12] = {1};
    CHECK_OK(m, tk_halo_exchange(h));
    for (int way = 0; way < 4; way++) {
        CHECK_OK(m, tk_forward_begin((tk_field *const[]){m->along.field}, 1, m->many.field, seed, 12));
        const tk_status st = way == 0   ? tk_halo_exchange(h)
                             : way == 1 ? tk_halo_begin(h)
                             : way == 2 ? tk_allsum(s, m->many.field)
                                        : tk_allsum_apart(s, m->along.field);
        CHECK_STATUS(m, st, TK_NO_DERIVATIVE, "have several directions, and do not travel");
        tk_forward_end(s);
        tk_session_clear_error(s);
    }
    tk_halo_destroy(h);
}

/* Processes are at other operations with the same halo or field. */
static void places(const tk_ghost *ghosts)
{
    const bool last = rank == ranks - 1;
    tk_halo *h = tk_halo_create(s, (tk_field *const[]){m->wide.field}, 1, ghosts, 2);
    CHECK_STATUS(m, last ? tk_halo_begin(h) : tk_halo_exchange(h), TK_BAD_STATE, "is at another place");
    CHECK_STATUS(m, last ? tk_allsum_apart(s, m->sums.field) : tk_allsum(s, m->sums.field), TK_BAD_STATE,
                 "is at another place");
    CHECK_OK(m, tk_halo_exchange(h));
    tk_halo_destroy(h);
}

/* Only process 0 has elements. */
static void empty(void)
{
    kinds_params q = kinds_defaults();
    q.N = rank == 0 ? 4 : 0;
    kinds *few = kinds_create(s, &q);
    tk_field *const fields[] = {few->wide.field, few->v.field, few->turns.field, few->small.field, few->flag.field};
    tk_halo *h = tk_halo_create(s, fields, 5, &(tk_ghost){0, 0, 3}, rank == 0);
    CHECK_OK(m, tk_session_status(s));
    if (rank == 0)
        few->wide.data[3] = 7;
    CHECK_OK(m, tk_halo_exchange(h));
    CHECK(rank > 0 || few->wide.data[0] == 7);
    tk_halo_destroy(h);
    kinds_destroy(few);
}

/* Sums of fields that have other sizes in the last process. */
static void other_sizes(void)
{
    kinds *own = kinds_create(s, &(kinds_params){.N = rank == ranks - 1 ? 3 : 4});
    CHECK_STATUS(m, tk_allsum(s, own->wide.field), TK_BAD_STATE, "is at another place of the program");
    tk_session_clear_error(s);
    CHECK_STATUS(m, tk_allsum_apart(s, own->apart.field), TK_BAD_STATE, "is at another place of the program");
    tk_session_clear_error(s);
    CHECK_OK(m, tk_allsum(s, m->sums.field));
    kinds_destroy(own);
}

int main(int argc, char **argv)
{
    alarm(60);
    s = tk_session_create(NULL);
    m = kinds_create(s, NULL);
    CHECK_STATUS(m, tk_mpi_attach(s, MPI_COMM_WORLD), TK_BAD_STATE, "MPI is not initialised");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK_STATUS(m, tk_mpi_attach(s, MPI_COMM_NULL), TK_BAD_ARGUMENT, "is MPI_COMM_NULL");
    CHECK_STATUS(m, tk_allsum(s, m->loss.field), TK_BAD_STATE, "is not attached to MPI");
    tk_mpi_counts counts;
    CHECK_STATUS(m, tk_mpi_count(s, &counts), TK_BAD_STATE, "is not attached to MPI");
    CHECK_STATUS(m, tk_mpi_detach(s), TK_BAD_STATE, "is not attached to MPI");
    CHECK_OK(m, tk_mpi_attach(s, MPI_COMM_WORLD));
    const tk_ghost ghosts[2] = {{OWN, (rank + ranks - 1) % ranks, OWN - 1}, {OWN + 1, (rank + 1) % ranks, 0}};
    exchange(ghosts);
    sums();
    cropped();
    misuse(ghosts);
    halves(ghosts);
    directions();
    if (ranks > 1) {
        places(ghosts);
        other_sizes();
    }
    empty();
    CHECK_OK(m, tk_mpi_detach(s));
    kinds_destroy(m);
    tk_session_destroy(s);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
