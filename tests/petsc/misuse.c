/* Wrong objects and sizes: a status with a message in all processes, for functions of tk_status and of PETSc. */
#include "solver.h"

#include <petscdmshell.h>
#include <tkc/tkc_gen.h>

static solver p;
static bool last;

/* All fail, whether or not the fault is theirs. */
static void refused(const void *made, tk_status want, const char *text, bool mine)
{
    CHECK(!made);
    CHECK_STATUS(p.m, tk_session_status(p.s), want, mine ? text : "another");
}

static tk_halo *halo(tk_field *f, DM dm)
{
    return tk_petsc_halo_dm(p.s, &f, 1, dm);
}

static void grids(void)
{
    DM shell, other;
    tk_field *u = p.m->u.field;
    OK(DMShellCreate(PETSC_COMM_WORLD, &shell));
    refused(halo(u, last ? shell : p.dm), TK_BAD_ARGUMENT, "the DM is no DMDA", last);
    refused(halo(u, last ? NULL : p.dm), TK_BAD_ARGUMENT, "the DM is NULL", last);
    refused(halo(last ? p.m->loss.field : u, p.dm), TK_BAD_ARGUMENT, "'loss' has 0 dimensions, the DMDA 2", last);
    refused(tk_petsc_halo_dm(p.s, NULL, 1, p.dm), TK_BAD_ARGUMENT, "there is no field", true);
    CHECK(!tk_petsc_halo_dm(NULL, &u, 1, p.dm) && strstr(tk_error(), "the session is NULL"));
    OK(DMDestroy(&shell));
    other = grid_of(1, DM_BOUNDARY_GHOSTED);
    refused(halo(u, other), TK_BAD_ARGUMENT, "in the DMDA with ghosts", true);
    OK(DMDestroy(&other));
    other = grid_of(1, DM_BOUNDARY_MIRROR);
    refused(halo(u, other), TK_BAD_ARGUMENT, "is DM_BOUNDARY_MIRROR or", true);
    OK(DMDestroy(&other));
    OK(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, SIDE, SIDE, PETSC_DECIDE,
                    PETSC_DECIDE, 1, 1, NULL, NULL, &other));
    refused(halo(u, other), TK_BAD_ARGUMENT, "is not set up", true);
    OK(DMDestroy(&other));
    if (ranks > 1) {
        OK(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, p.m->params.NX,
                        p.m->params.NY, 1, 1, 1, 1, NULL, NULL, &other));
        OK(DMSetUp(other));
        refused(halo(u, other), TK_BAD_ARGUMENT, "has other processes than the session", true);
        OK(DMDestroy(&other));
    }
}

static double *room; /* of a field */

static void vectors(void)
{
    Vec v;
    bratu *m = p.m;
    const int64_t n = tk_field_count(m->u.field);
    CHECK_REFUSED(m, tk_petsc_vec(PETSC_COMM_SELF, m->single.field, TK_DATA, -1, &v), "'single' does not hold f64");
    CHECK(!v);
    CHECK_REFUSED(m, tk_petsc_vec(PETSC_COMM_SELF, m->parts.field, TK_DATA, -1, &v), "not one after the other");
    CHECK_REFUSED(m, tk_petsc_vec(PETSC_COMM_SELF, m->u.field, TK_DATA, n + 1, &v), "elements, not");
    CHECK_REFUSED(m, tk_petsc_vec(MPI_COMM_NULL, m->u.field, TK_DATA, -1, &v), "MPI_COMM_NULL");
    CHECK_REFUSED(m, tk_petsc_vec(PETSC_COMM_SELF, m->u.field, TK_DATA, -1, NULL), "place for the vector is NULL");
    CHECK(tk_petsc_vec(PETSC_COMM_SELF, NULL, TK_DATA, -1, &v) == TK_BAD_ARGUMENT);
    CHECK_STATUS(m, tk_petsc_vec(PETSC_COMM_SELF, m->plain.field, TK_GRAD, -1, &v), TK_NO_DERIVATIVE, "'plain' has no");
    CHECK_STATUS(m, tk_petsc_vec(PETSC_COMM_SELF, m->plain.field, (tk_plane)77, -1, &v), TK_NO_DERIVATIVE, "no memory");
    /* bound with gaps */
    room = calloc(2 * (size_t)n, sizeof *room);
    const int64_t strides[] = {16 * p.m->params.NX, 16};
    void *const planes[TK_PLANE_COUNT] = {room};
    const int64_t *const steps[TK_PLANE_COUNT] = {strides};
    CHECK_OK(m, tk_field_bind_strided(m->gaps.field, planes, steps));
    CHECK_REFUSED(m, tk_petsc_vec(PETSC_COMM_SELF, m->gaps.field, TK_DATA, -1, &v), "'gaps' are not one after");
    CHECK_OK(m, tk_petsc_vec(PETSC_COMM_WORLD, m->u.field, TK_DUAL, rank, &v)); /* another number in each process */
    PetscInt all, block;
    OK(VecGetSize(v, &all));
    OK(VecGetBlockSize(v, &block));
    CHECK(all == ranks * (ranks - 1) / 2 && block == 1);
    OK(VecDestroy(&v));
}

static tk_petsc *made(tk_petsc_program q, tk_field *in, tk_field *out)
{
    q.input = in;
    q.output = out;
    return tk_petsc_create(&q);
}

static void programs(void)
{
    bratu *m = p.m;
    tk_field *u = m->u.field, *r = m->r.field;
    tk_petsc_program q = program_of(&p);
    CHECK(!tk_petsc_create(NULL) && !made(q, NULL, r) && tk_error_status() == TK_BAD_ARGUMENT);
    tk_petsc_destroy(NULL);
    refused(made(q, u, last ? NULL : r), TK_BAD_ARGUMENT, "the output is NULL", last);
    refused(made(q, u, last ? u : r), TK_BAD_ARGUMENT, "the output is NULL, the input", last);
    refused(made(q, last ? m->single.field : u, r), TK_BAD_ARGUMENT, "'single' does not hold f64", last);
    refused(made(q, u, last ? m->single.field : r), TK_BAD_ARGUMENT, "'single' does not hold f64", last);
    refused(made(q, u, last ? m->pair.field : r), TK_BAD_ARGUMENT, "'pair' has other extents or components", last);
    refused(made(q, last ? m->pair.field : u, m->loss.field), TK_BAD_ARGUMENT, "'pair' has 3 dimensions", last);
    refused(made(q, m->parts.field, m->loss.field), TK_BAD_ARGUMENT, "has 2 components, and 1 in the DMDA", true);
    q.dm = NULL;
    q.owned = last ? tk_field_count(u) + 1 : 1;
    refused(made(q, u, r), TK_BAD_ARGUMENT, "elements of field 'u' are owned", last);
    q.owned = last ? -1 : 1;
    refused(made(q, u, r), TK_BAD_ARGUMENT, "-1 elements of field 'u' are owned", last);
    q.owned = 1;
    q.run = NULL;
    refused(made(q, u, r), TK_BAD_ARGUMENT, "the function of the program is NULL", true);
    Mat J;
    CHECK(tk_petsc_mat(NULL, &J) == TK_BAD_ARGUMENT);
    q = program_of(&p);
    tk_petsc *f = made(q, m->plain.field, r);
    refused(tk_petsc_mat(f, &J) == TK_OK ? f : NULL, TK_NO_DERIVATIVE, "'plain' is not declared needs_dual", true);
    CHECK(!J);
    tk_petsc_destroy(f);
    f = made(q, u, r);
    refused(tk_petsc_mat(f, NULL) == TK_OK ? f : NULL, TK_BAD_ARGUMENT, "place for the matrix is NULL", true);
    tk_petsc_destroy(f);
}

static void failed(PetscErrorCode code, tk_status want, const char *text, bool mine)
{
    CHECK(code == PETSC_ERR_LIB);
    refused(NULL, want, text, mine);
}

static void calls(void)
{
    Vec x, y, wrong;
    Mat J, own;
    PetscInt n;
    const tk_petsc_program q = program_of(&p);
    tk_petsc *f = tk_petsc_create(&q);
    CHECK_OK(p.m, tk_petsc_mat(f, &J));
    OK(DMCreateGlobalVector(p.dm, &x));
    OK(VecDuplicate(x, &y));
    OK(VecGetLocalSize(x, &n));
    OK(VecCreateMPI(PETSC_COMM_WORLD, last ? n - 1 : n, PETSC_DETERMINE, &wrong));
    failed(MatMult(J, x, y), TK_BAD_STATE, "it has no x yet", true);
    failed(tk_petsc_residual(NULL, wrong, y, f), TK_BAD_ARGUMENT, "numbers in this process, field 'u'", last);
    failed(tk_petsc_residual(NULL, x, wrong, f), TK_BAD_ARGUMENT, "numbers in this process, field 'u'", last);
    failed(tk_petsc_residual(NULL, NULL, y, f), TK_BAD_ARGUMENT, "x or f is NULL", true);
    CHECK(tk_petsc_residual(NULL, x, y, NULL) == PETSC_ERR_LIB);
    failed(tk_petsc_jacobian(NULL, wrong, J, J, f), TK_BAD_ARGUMENT, "numbers in this process, field 'u'", last);
    failed(tk_petsc_jacobian(NULL, last ? NULL : x, J, J, f), TK_BAD_ARGUMENT, "or x is NULL", last);
    OK(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, NULL, &own));
    failed(tk_petsc_jacobian(NULL, x, own, own, f), TK_BAD_ARGUMENT, "no matrix is of its tk_petsc_mat", true);
    OK(tk_petsc_jacobian(NULL, x, J, own, f));
    OK(MatMult(J, x, y));
    CHECK(tk_forward_begin((tk_field *[]){p.m->loss.field}, 1, p.m->lambda.field, NULL, 1) == TK_OK);
    CHECK(MatMult(J, x, y) == PETSC_ERR_LIB);
    CHECK(tk_forward_end(p.s) == TK_BAD_STATE);
    refused(NULL, TK_BAD_STATE, "a tape or a forward scope is open", true);
    OK(MatDestroy(&J));
    OK(MatDestroy(&own));
    OK(VecDestroy(&x));
    OK(VecDestroy(&y));
    OK(VecDestroy(&wrong));
    tk_petsc_destroy(f);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    last = rank == ranks - 1;
    start(&p);
    grids();
    vectors();
    programs();
    calls();
    finish(&p);
    free(room);
    return end();
}
