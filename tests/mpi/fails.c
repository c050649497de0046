/* One process fails: all have a status, and none hangs. fails WAY: what the last process does. */
#include "part.h"

#include <signal.h>

enum { STEPS = 6 };

static const char *way;
static bool culprit; /* the last process, if it is not alone */

static bool is(const char *name)
{
    return strcmp(way, name) == 0;
}

static tk_status nothing(void *args)
{
    (void)args;
    return TK_OK;
}

static tk_status fails(void *args)
{
    return *(const bool *)args ? TK_ASSERT : TK_OK;
}

static const tk_triple in_forward = {"forward", fails, nothing, NULL, TK_CALL_AGAIN};
static const tk_triple in_backward = {"backward", nothing, fails, NULL, TK_CALL_AGAIN};
static const tk_triple in_replay = {"replay", fails, nothing, NULL, TK_CALL_AGAIN};
static bool fault, later;

/* Not TK_OK: the tape is dropped. */
static tk_status steps(part *p)
{
    tk_session *s = p->s;
    fault = culprit;
    later = false;
    for (int t = 0; t < p->steps; t++) {
        const bool now = t == STEPS / 2;
        if (!(now && culprit && is("skips")))
            tk_halo_exchange(t ? p->u : p->both);
        if (now && culprit && is("nonfinite"))
            p->m->u.data[number(p, p->box.lo[0], p->box.lo[1])] = NAN;
        stencil_step(p->m);
        if (now && is("kernel"))
            tk_call_with(s, &in_forward, &fault, 0, NULL, 0);
        if (now && is("adjoint"))
            tk_call_with(s, &in_backward, &fault, 0, NULL, 0);
        if (is("replay"))
            tk_call_with(s, &in_replay, &later, 0, NULL, 0);
        if (now && is("between")) {
            tk_halo_begin(p->u);
            tk_call_with(s, &in_forward, &fault, 0, NULL, 0);
            tk_halo_end(p->u);
        }
        if (now && culprit && is("clears")) {
            tk_call_with(s, &in_forward, &fault, 0, NULL, 0);
            tk_session_clear_error(s);
        }
        if (now && culprit && is("killed"))
            raise(SIGKILL);
        if (now && culprit && (is("drops") || is("ends")))
            return TK_BAD_STATE;
        stencil_move(p->m);
    }
    stencil_total(p->m);
    tk_allsum(s, p->m->loss.field);
    later = culprit;
    return TK_OK;
}

/* The budget of a run: few launches fit. */
static tk_status run(part *p, bool under_budget)
{
    fill(p);
    tk_tape_budget(p->s, under_budget ? 40000 : 0);
    if (culprit && is("opening"))
        tk_call(p->s, &in_forward, &(bool){true}, sizeof(bool));
    if (tk_tape_begin(p->m->loss.field, 0) == TK_OK) {
        const tk_status st = steps(p);
        if (st != TK_OK)
            tk_tape_drop(p->s);
        else
            tk_tape_end(p->m->loss.field);
    }
    return stencil_status(p->m);
}

static void check_all_failed(const part *p)
{
    int least = stencil_status(p->m) == TK_OK, most = least;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (most)
        FAIL("%s: rank %d of %d has %s '%s'", way, rank, ranks, tk_status_name(stencil_status(p->m)),
             stencil_error(p->m));
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    way = argv[1];
    const bool under_budget = is("replay");
    part p = make(MPI_COMM_WORLD, under_budget ? 40 * STEPS : STEPS);
    culprit = rank == ranks - 1;
    tk_session_stop_at_nonfinite(p.s, true);
    if (is("leaves") && culprit) {
        destroy(&p);
        return end();
    }
    run(&p, under_budget);
    if (is("leaves")) { /* none waits for the process that has left */
        CHECK(stencil_status(p.m) != TK_OK);
        tk_session_clear_error(p.s);
        CHECK(stencil_status(p.m) != TK_OK);
        tk_halo_destroy(p.both);
        tk_halo_destroy(p.u);
        CHECK(tk_mpi_detach(p.s) != TK_OK);
        stencil_destroy(p.m);
        tk_session_destroy(p.s);
        return end();
    }
    if (is("ends")) {
        CHECK(culprit || stencil_status(p.m) != TK_OK);
        MPI_Finalize();
        tk_halo_destroy(p.both);
        tk_halo_destroy(p.u);
        tk_mpi_detach(p.s); /* too late: nothing of MPI is called */
        stencil_destroy(p.m);
        tk_session_destroy(p.s);
        return failures != 0;
    }
    check_all_failed(&p);
    const size_t again = tk_tape_last_report(p.s).again;
    CHECK(!under_budget || rank == ranks - 1 || again > 0);
    /* and well again */
    culprit = false;
    tk_session_clear_error(p.s);
    CHECK_OK(p.m, run(&p, under_budget));
    destroy(&p);
    return end();
}
