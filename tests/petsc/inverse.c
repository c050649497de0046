/* TAO's L-BFGS finds what the observations were made with: conductivities, each of one process, and a gain that all
 * share, as a vector over the field itself. */
#include "inverse.h"

#include "host.h"

#include <petscdmda.h>
#include <tkc/petsc.h>
#include <unistd.h>

#define OK(call) ((call) ? (FAIL("%s failed", #call), MPI_Abort(PETSC_COMM_WORLD, 1)) : 0)

enum { ALL = 8 };
static const double true_gain = 0.8;

typedef struct problem {
    inverse *m;
    tk_session *s;
    DM dm;
    tk_halo *k, *u, *gain;
    int first, last, alone; /* elements of the grid; alone: no sum of the loss */
    bool observes;
} problem;

static int rank, ranks;

static double true_k(int i)
{
    return 0.2 + 0.1 * sin(0.9 * i);
}

static void run(void *user)
{
    problem *p = user;
    inverse *m = p->m;
    tk_halo_exchange(p->gain);
    tk_halo_exchange(p->k);
    inverse_start(m, p->first - 1);
    for (int t = 0; t < m->params.STEPS; t++) {
        tk_halo_exchange(p->u);
        inverse_step(m);
        inverse_move(m);
        if (p->observes)
            inverse_observe(m, t);
        else
            inverse_compare(m, t);
    }
    if (!p->alone)
        tk_allsum(p->s, m->loss.field);
}

static void fill(problem *p, bool right)
{
    for (int i = p->first; i < p->last; i++)
        p->m->k.data[i - p->first + 1] = right ? true_k(i) : 0.15;
    *p->m->gain.data = rank > 0 ? 99 : right ? true_gain : 0.3;
}

static problem make(void)
{
    problem p = {0};
    PetscInt first, n;
    OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_GHOSTED, ALL, 1, 1, NULL, &p.dm));
    OK(DMSetUp(p.dm));
    OK(DMDAGetCorners(p.dm, &first, NULL, NULL, &n, NULL, NULL));
    p.first = (int)first, p.last = (int)(first + n);
    p.s = tk_session_create(NULL);
    inverse_params q = inverse_defaults();
    q.N = n + 2;
    p.m = inverse_create(p.s, &q);
    CHECK_OK(p.m, tk_mpi_attach(p.s, PETSC_COMM_WORLD));
    p.k = tk_petsc_halo_dm(p.s, (tk_field *[]){p.m->k.field}, 1, p.dm);
    p.u = tk_petsc_halo_dm(p.s, (tk_field *[]){p.m->u.field}, 1, p.dm);
    const tk_ghost of_first = {0, 0, 0};
    p.gain = tk_halo_create(p.s, (tk_field *[]){p.m->gain.field}, 1, &of_first, rank > 0);
    p.m->k.data[0] = p.m->k.data[n + 1] = 0.25; /* outside of the grid */
    fill(&p, true);
    p.observes = true;
    run(&p);
    p.observes = false;
    CHECK_OK(p.m, tk_session_status(p.s));
    return p;
}

static Tao minimize(tk_petsc *f, Vec x, Vec g, const char *search)
{
    Tao tao;
    TaoLineSearch ls;
    TaoConvergedReason why;
    OK(TaoCreate(PETSC_COMM_WORLD, &tao));
    OK(TaoSetType(tao, TAOLMVM));
    OK(TaoSetSolution(tao, x));
    OK(TaoSetObjectiveAndGradient(tao, g, tk_petsc_objective, f));
    OK(TaoSetTolerances(tao, 1e-7, 0, 0));
    OK(TaoSetMaximumIterations(tao, 400));
    OK(TaoGetLineSearch(tao, &ls));
    OK(TaoLineSearchSetType(ls, search));
    OK(TaoSetFromOptions(tao));
    OK(TaoSolve(tao));
    OK(TaoGetConvergedReason(tao, &why));
    if (why <= 0)
        FAIL("TAO ended with %d", (int)why);
    return tao;
}

static void find_k(problem *p)
{
    Vec x;
    PetscScalar *a;
    fill(p, true);
    const double outside = p->m->k.data[p->last - p->first + 1];
    const tk_petsc_program q = {.input = p->m->k.field, .output = p->m->loss.field, .dm = p->dm, .run = run, .user = p};
    tk_petsc *f = tk_petsc_create(&q);
    CHECK_OK(p->m, tk_session_status(p->s));
    OK(DMCreateGlobalVector(p->dm, &x));
    OK(VecSet(x, 0.15));
    Tao tao = minimize(f, x, NULL, TAOLINESEARCHMT);
    OK(DMDAVecGetArrayRead(p->dm, x, &a));
    for (int i = p->first; i < p->last; i++) {
        CHECK_NEAR(a[i], true_k(i), 1e-5);
        CHECK(p->m->k.data[i - p->first + 1] == true_k(i)); /* the field as it was */
    }
    OK(DMDAVecRestoreArrayRead(p->dm, x, &a));
    CHECK(rank < ranks - 1 || p->m->k.data[p->last - p->first + 1] == outside);
    OK(TaoDestroy(&tao));
    OK(VecDestroy(&x));
    tk_petsc_destroy(f);
}

/* Solution and gradient are the memory of the field. */
static void find_gain(problem *p, const char *search)
{
    Vec x, g;
    const int64_t owned = rank == 0;
    fill(p, true);
    *p->m->gain.data = rank == 0 ? 0.3 : 99;
    const tk_petsc_program q = {
        .input = p->m->gain.field, .output = p->m->loss.field, .owned = owned, .run = run, .user = p};
    tk_petsc *f = tk_petsc_create(&q);
    CHECK_OK(p->m, tk_petsc_vec(PETSC_COMM_WORLD, p->m->gain.field, TK_DATA, owned, &x));
    CHECK_OK(p->m, tk_petsc_vec(PETSC_COMM_WORLD, p->m->gain.field, TK_GRAD, owned, &g));
    Tao tao = minimize(f, x, g, search);
    if (rank == 0)
        CHECK_NEAR(*p->m->gain.data, true_gain, 1e-7);
    OK(TaoDestroy(&tao));
    OK(VecDestroy(&x));
    OK(VecDestroy(&g));
    tk_petsc_destroy(f);
}

/* The program is one for tk_gradcheck too. */
static void check_gradient(problem *p)
{
    tk_gradcheck_result r;
    fill(p, false);
    tk_field *const inputs[] = {p->m->k.field, p->m->gain.field};
    const tk_gradcheck_options o = {.inputs = inputs, .ninputs = 2, .tolerance = 1e-6, .directions = 2};
    CHECK_OK(p->m, tk_gradcheck_with(p->m->loss.field, &o, run, p, &r));
    CHECK(r.compared == 2 * ranks && r.has_forward);
}

static void misuse(problem *p)
{
    Vec x, g;
    PetscReal loss;
    const PetscErrorCode wrong = PETSC_ERR_LIB;
    OK(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    OK(DMCreateGlobalVector(p->dm, &x));
    OK(VecDuplicate(x, &g));
    tk_petsc_program q = {.input = p->m->k.field, .output = p->m->loss.field, .dm = p->dm, .run = run, .user = p};
    tk_petsc *f = tk_petsc_create(&q);
    p->alone = true;
    CHECK(tk_petsc_objective(NULL, x, &loss, g, f) == (ranks > 1 ? wrong : 0));
    CHECK_STATUS(p->m, tk_session_status(p->s), ranks > 1 ? TK_BAD_ARGUMENT : TK_OK,
                 ranks > 1 ? "differs between processes" : "");
    p->alone = false;
    CHECK(tk_tape_begin(p->m->loss.field, 0) == TK_OK);
    CHECK(tk_petsc_objective(NULL, x, &loss, g, f) == wrong);
    tk_tape_drop(p->s);
    CHECK_STATUS(p->m, tk_session_status(p->s), TK_BAD_STATE, "a tape or a forward scope is open");
    CHECK(tk_petsc_objective(NULL, x, &loss, NULL, f) == wrong);
    CHECK_REFUSED(p->m, tk_session_status(p->s), "loss or gradient is NULL");
    CHECK(tk_petsc_residual(NULL, x, g, f) == wrong);
    CHECK_REFUSED(p->m, tk_session_status(p->s), "'loss' is a loss");
    Mat J;
    CHECK_REFUSED(p->m, tk_petsc_mat(f, &J), "is no residual of");
    tk_petsc_destroy(f);
    q.output = p->m->u.field;
    f = tk_petsc_create(&q);
    CHECK(tk_petsc_objective(NULL, x, &loss, g, f) == wrong);
    CHECK_REFUSED(p->m, tk_session_status(p->s), "'u' is no loss");
    tk_petsc_destroy(f);
    q.output = p->m->far.field;
    CHECK(!tk_petsc_create(&q));
    CHECK_REFUSED(p->m, tk_session_status(p->s), "'far' does not hold f64");
    q.input = p->m->no_grad.field;
    q.output = p->m->loss.field;
    f = tk_petsc_create(&q);
    CHECK(tk_petsc_objective(NULL, x, &loss, g, f) == wrong);
    CHECK_STATUS(p->m, tk_session_status(p->s), TK_NO_DERIVATIVE, "'no_grad' is not declared needs_grad");
    tk_petsc_destroy(f);
    OK(VecDestroy(&x));
    OK(VecDestroy(&g));
}

int main(int argc, char **argv)
{
    alarm(120);
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    problem p = make();
    check_gradient(&p);
    find_k(&p);
    find_gain(&p, TAOLINESEARCHMT);
    find_gain(&p, TAOLINESEARCHARMIJO);
    misuse(&p);
    tk_halo_destroy(p.k);
    tk_halo_destroy(p.u);
    tk_halo_destroy(p.gain);
    CHECK_OK(p.m, tk_mpi_detach(p.s));
    inverse_destroy(p.m);
    tk_session_destroy(p.s);
    OK(DMDestroy(&p.dm));
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    PetscFinalize();
    return failures != 0;
}
