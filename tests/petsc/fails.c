/* One process fails: SNESSolve and TaoSolve end with an error in all. fails WAY: what the last process does. */
#include "solver.h"

#include <signal.h>
#include <tkc/tkc_gen.h>

static const char *way;
static solver p;
static int calls;

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
    const bool fault = *(const bool *)args;
    return fault ? TK_ASSERT : TK_OK;
}

static void run_badly(void *user)
{
    static bool fault;
    static const tk_triple forward = {"forward", fails, nothing, fails, 0},
                           backward = {"backward", nothing, fails, NULL, 0};
    const bool along = tk_forward_is_open(p.s);
    calls += along || is("adjoint") || is("kernel");
    fault = rank == ranks - 1 && calls == 3;
    if (fault && is("killed"))
        raise(SIGKILL);
    if (fault && is("leaves")) { /* without a word, but for the end of agreements */
        tk_fail(p.s, TK_STOPPED, "it leaves");
        return;
    }
    if (!(fault && is("skips")))
        tk_halo_exchange(p.halo);
    if (is("kernel") || is("product"))
        tk_call_with(p.s, &forward, &fault, 0, NULL, 0);
    if (is("adjoint"))
        tk_call_with(p.s, &backward, &fault, 0, NULL, 0);
    bratu_residual(p.m);
    if (is("adjoint")) {
        bratu_sum(p.m);
        tk_allsum(p.s, p.m->loss.field);
    }
    (void)user;
}

static PetscErrorCode minimize(tk_petsc *f, Vec x)
{
    Tao tao;
    OK(TaoCreate(PETSC_COMM_WORLD, &tao));
    OK(TaoSetType(tao, TAOLMVM));
    OK(TaoSetSolution(tao, x));
    OK(TaoSetObjectiveAndGradient(tao, NULL, tk_petsc_objective, f));
    OK(TaoSetMaximumIterations(tao, 4));
    const PetscErrorCode code = TaoSolve(tao);
    OK(TaoDestroy(&tao));
    return code;
}

static PetscErrorCode solve(tk_petsc *f, Vec x)
{
    Vec r;
    Mat J;
    CHECK_OK(p.m, tk_petsc_mat(f, &J));
    OK(VecDuplicate(x, &r));
    if (is("before") && rank == ranks - 1)
        tk_fail(p.s, TK_STOPPED, "before the solver");
    SNES snes = newton(&p, f, r, J);
    const PetscErrorCode code = SNESSolve(snes, NULL, x);
    OK(SNESDestroy(&snes));
    OK(MatDestroy(&J));
    OK(VecDestroy(&r));
    return code;
}

int main(int argc, char **argv)
{
    way = argc > 1 ? argv[1] : "";
    begin(argc, argv);
    start(&p);
    Vec x;
    tk_petsc_program q = program_of(&p);
    q.run = run_badly;
    if (is("adjoint"))
        q.output = p.m->loss.field;
    tk_petsc *f = tk_petsc_create(&q);
    OK(DMCreateGlobalVector(p.dm, &x));
    OK(VecSet(x, 0.1));
    const PetscErrorCode code = is("adjoint") ? minimize(f, x) : solve(f, x);
    CHECK(code != 0);
    CHECK(tk_session_status(p.s) != TK_OK);
    const bool own = rank == ranks - 1 && !is("skips");
    if (own != !strstr(tk_session_error(p.s), "another"))
        FAIL("%s", tk_session_error(p.s));
    tk_session_clear_error(p.s);
    CHECK(tk_session_status(p.s) == TK_OK);
    /* and all go on */
    way = is("adjoint") ? "adjoint" : "";
    calls = 100;
    CHECK((is("adjoint") ? minimize(f, x) : solve(f, x)) == 0);
    CHECK_OK(p.m, tk_session_status(p.s));
    OK(VecDestroy(&x));
    tk_petsc_destroy(f);
    finish(&p);
    return end();
}
