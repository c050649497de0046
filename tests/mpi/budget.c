/* A budget on every process: the bits of a plain tape, for each budget that suffices; one schedule for all, though the
 * parts have different sizes; exchanges that run again count as primal. Different numbers of launches are refused, as
 * are budgets that are too small, by all. */
#include "part.h"

enum { STEPS = 40 };

/* A copy of gradients and data. */
static void *run(part *p, size_t bytes, size_t *n)
{
    tk_field *const f[] = {p->m->u.field, p->m->c.field};
    *n = tk_field_bytes(f[0]);
    fill(p);
    tk_tape_budget(p->s, bytes);
    TK_TAPE(p->m, p->m->loss)
    {
        program(p);
    }
    char *bits = malloc(3 * *n);
    for (int i = 0; i < 2; i++)
        memcpy(bits + (size_t)i * *n, tk_field_grad(f[i]), *n);
    memcpy(bits + 2 * *n, tk_field_data(f[0]), *n);
    return bits;
}

static void same_bits(part *p)
{
    size_t n = 0, refused = 0, named = 0, again = 0, twice = 0, most = 0;
    uint64_t more = 0;
    void *plain = run(p, 0, &n);
    CHECK_OK(p->m, stencil_status(p->m));
    for (size_t bytes = 400000; bytes > 8000; bytes -= bytes / 3) {
        tk_mpi_counts a, b;
        tk_mpi_count(p->s, &a);
        void *bits = run(p, bytes, &n);
        tk_mpi_count(p->s, &b);
        const tk_tape_report r = tk_tape_last_report(p->s);
        int64_t schedule[] = {(int64_t)r.again, -(int64_t)r.again};
        if (stencil_status(p->m) == TK_BAD_ARGUMENT) {
            named += strstr(stencil_error(p->m), "bytes suffice") != NULL;
            refused++;
        } else {
            CHECK(refused == 0);
            CHECK_OK(p->m, stencil_status(p->m));
            if (memcmp(bits, plain, 3 * n) != 0)
                FAIL("rank %d of %d, %zu bytes: other bits", rank, ranks, bytes);
            CHECK(b.primal.exchanges - a.primal.exchanges >= STEPS);
            CHECK(b.adjoint.exchanges - a.adjoint.exchanges == STEPS);
            more += b.primal.exchanges - a.primal.exchanges - STEPS;
            again += r.again > 0;
            twice += r.again > r.launches;
            most = r.bytes > bytes && r.bytes - bytes > most ? r.bytes - bytes : most;
        }
        MPI_Allreduce(MPI_IN_PLACE, schedule, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
        CHECK(schedule[0] == -schedule[1]);
        tk_session_clear_error(p->s);
        free(bits);
    }
    CHECK(more > 0 && named > 0);
    if (refused == 0 || again < 4 || twice == 0 || most > 0)
        FAIL("rank %d of %d: %zu refused, %zu ran again, %zu twice, %zu bytes too many", rank, ranks, refused, again,
             twice, most);
    free(plain);
}

static void other_numbers(part *p)
{
    fill(p);
    tk_tape_budget(p->s, 60000);
    TK_TAPE(p->m, p->m->loss)
    {
        tk_halo_exchange(p->both);
        if (rank == 0)
            stencil_spoil(p->m);
        program(p);
    }
    if (ranks > 1)
        CHECK_STATUS(p->m, stencil_status(p->m), TK_BAD_STATE, "processes launched other numbers of kernels");
    else
        CHECK_OK(p->m, stencil_status(p->m));
    /* all between two calls that all make */
    fill(p);
    TK_TAPE(p->m, p->m->loss)
    {
        tk_halo_exchange(p->both);
        for (int t = 0; t < 40 * STEPS; t++) {
            stencil_step(p->m);
            stencil_move(p->m);
        }
        program(p);
    }
    CHECK_STATUS(p->m, stencil_status(p->m), TK_BAD_ARGUMENT, "");
}

/* A tape closes, and runs exchanges again, between begin and end. */
static void begun(part *p)
{
    fill(p);
    tk_tape_budget(p->s, 200000);
    TK_TAPE(p->m, p->m->loss)
    {
        program(p);
        for (int t = 0; t < STEPS; t++) {
            stencil_step(p->m);
            stencil_move(p->m);
        }
        tk_halo_begin(p->u);
    }
    CHECK_STATUS(p->m, stencil_status(p->m), TK_BAD_STATE, "a tape closes between tk_halo_begin and tk_halo_end");
    CHECK_STATUS(p->m, tk_halo_end(p->u), TK_BAD_STATE, "are not in the same tape");
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    part p = make(MPI_COMM_WORLD, STEPS);
    p.overlaps = ranks == 3;
    same_bits(&p);
    p.overlaps = false;
    other_numbers(&p);
    begun(&p);
    destroy(&p);
    return end();
}
