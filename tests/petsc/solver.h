/* The Bratu problem on the part of a DMDA that this process has. */
#include "bratu.h"

#include "host.h"

#include <petscdmda.h>
#include <tkc/petsc.h>
#include <unistd.h>

enum { SIDE = 17 };

typedef struct solver {
    bratu *m;
    tk_session *s;
    tk_halo *halo;
    DM dm;
    bool spoils;
} solver;

static int rank, ranks;

#define OK(call) ((call) ? (FAIL("%s failed", #call), MPI_Abort(PETSC_COMM_WORLD, 1)) : 0)

static inline void begin(int argc, char **argv)
{
    alarm(120);
    PetscInitialize(&argc, &argv, NULL, NULL);
    PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
}

static inline int end(void)
{
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    PetscFinalize();
    return failures != 0;
}

static inline DM grid_of(PetscInt dof, DMBoundaryType type)
{
    DM dm;
    OK(DMDACreate2d(PETSC_COMM_WORLD, type, type, DMDA_STENCIL_STAR, SIDE, SIDE, PETSC_DECIDE, PETSC_DECIDE, dof, 1,
                    NULL, NULL, &dm));
    OK(DMSetUp(dm));
    return dm;
}

static inline void start(solver *p)
{
    DMDALocalInfo i;
    p->dm = grid_of(1, DM_BOUNDARY_NONE);
    OK(DMDAGetLocalInfo(p->dm, &i));
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    p->s = tk_session_create(&o);
    bratu_params q = bratu_defaults();
    q.NY = i.gym, q.NX = i.gxm, q.H = i.ym, q.W = i.xm;
    q.TOP = i.ys - i.gys, q.LEFT = i.xs - i.gxs, q.Y = i.gys, q.X = i.gxs, q.M = SIDE;
    p->m = bratu_create(p->s, &q);
    *p->m->lambda.data = 6;
    CHECK_OK(p->m, tk_mpi_attach(p->s, PETSC_COMM_WORLD));
    p->halo = tk_petsc_halo_dm(p->s, (tk_field *[]){p->m->u.field}, 1, p->dm);
    CHECK_OK(p->m, tk_session_status(p->s));
    CHECK(p->halo);
}

static inline void finish(solver *p)
{
    tk_halo_destroy(p->halo);
    CHECK_OK(p->m, tk_mpi_detach(p->s));
    bratu_destroy(p->m);
    tk_session_destroy(p->s);
    OK(DMDestroy(&p->dm));
}

static inline void run(void *user)
{
    solver *p = user;
    tk_halo_exchange(p->halo);
    bratu_residual(p->m);
    if (p->spoils)
        bratu_spoil(p->m);
}

static inline tk_petsc_program program_of(solver *p)
{
    return (tk_petsc_program){.input = p->m->u.field, .output = p->m->r.field, .dm = p->dm, .run = run, .user = p};
}

static inline SNES newton(solver *p, tk_petsc *f, Vec r, Mat J)
{
    SNES snes;
    KSP ksp;
    PC pc;
    OK(SNESCreate(PETSC_COMM_WORLD, &snes));
    OK(SNESSetFunction(snes, r, tk_petsc_residual, f));
    OK(SNESSetJacobian(snes, J, J, tk_petsc_jacobian, f));
    OK(SNESSetTolerances(snes, 1e-12, 1e-14, 1e-30, 30, 1000));
    OK(SNESGetKSP(snes, &ksp));
    OK(KSPSetTolerances(ksp, 1e-12, 1e-16, 1e5, 400));
    OK(KSPGMRESSetRestart(ksp, 200));
    OK(KSPGetPC(ksp, &pc));
    OK(PCSetType(pc, PCNONE));
    OK(SNESSetFromOptions(snes));
    (void)p;
    return snes;
}
