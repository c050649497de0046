/* Halos of DMDAs of one to three dimensions against PETSc's own exchanges, forwards and backwards; vectors of both are
 * the memory of the fields. */
#include "grids.h"

#include "host.h"

#include <petscdmda.h>
#include <tkc/petsc.h>
#include <unistd.h>

#define OK(call) ((call) ? (FAIL("%s failed", #call), MPI_Abort(PETSC_COMM_WORLD, 1)) : 0)

static int rank, ranks;

typedef struct shape {
    int ndim, width;
    DMBoundaryType type[3];
    DMDAStencilType stencil;
} shape;

static DM make_dm(const shape *c)
{
    DM dm;
    OK(DMDACreate(PETSC_COMM_WORLD, &dm));
    OK(DMSetDimension(dm, c->ndim));
    OK(DMDASetSizes(dm, 11, c->ndim > 1 ? 9 : 1, c->ndim > 2 ? 7 : 1));
    OK(DMDASetBoundaryType(dm, c->type[0], c->type[1], c->type[2]));
    OK(DMDASetDof(dm, c->ndim == 1 ? 2 : c->ndim == 2 ? 1 : 3));
    OK(DMDASetStencilType(dm, c->stencil));
    OK(DMDASetStencilWidth(dm, c->width));
    OK(DMSetUp(dm));
    return dm;
}

static grids *make_module(tk_session *s, int ndim, const DMDALocalInfo *i)
{
    grids_params q = grids_defaults();
    q.SEED = rank;
    if (ndim == 1)
        q.N1 = i->gxm;
    if (ndim == 2)
        q.N2Y = i->gym, q.N2X = i->gxm;
    if (ndim == 3)
        q.N3Z = i->gzm, q.N3Y = i->gym, q.N3X = i->gxm;
    return grids_create(s, &q);
}

static double value(int64_t k)
{
    return 1 + 0.001 * (double)k + 0.5 * rank;
}

/* Elements at corners, which PETSc leaves alone with a star; -1: outside of the grid, and stays. */
static int where(const shape *c, const DMDALocalInfo *i, int64_t element)
{
    const int64_t at[] = {element % i->gxm, element / i->gxm % i->gym, element / i->gxm / i->gym};
    const int64_t x[] = {at[0] + i->gxs, at[1] + i->gys, at[2] + i->gzs};
    const int lo[] = {i->xs, i->ys, i->zs}, n[] = {i->xm, i->ym, i->zm}, all[] = {i->mx, i->my, i->mz};
    int beside = 0;
    for (int d = 0; d < c->ndim; d++) {
        beside += x[d] < lo[d] || x[d] >= lo[d] + n[d];
        if (c->type[d] != DM_BOUNDARY_PERIODIC && (x[d] < 0 || x[d] >= all[d]))
            return -1;
    }
    return beside;
}

static void sum(grids *m, int ndim)
{
    if (ndim == 1)
        grids_sum_line(m);
    if (ndim == 2)
        grids_sum_plane(m);
    if (ndim == 3)
        grids_sum_cube(m);
}

/* Numbers of the owned elements to a global vector. */
static void copy_owned(const shape *c, const DMDALocalInfo *i, const tk_field *f, const double *numbers, Vec global)
{
    const int64_t n = tk_field_count(f), ncomp = tk_field_components(f);
    PetscScalar *x;
    OK(VecGetArray(global, &x));
    for (int64_t k = 0, own = 0; k < n; k++)
        if (where(c, i, k / ncomp) == 0)
            x[own++] = numbers[k];
    OK(VecRestoreArray(global, &x));
}

static double dot(const double *a, const double *b, int64_t n)
{
    double all = 0;
    for (int64_t k = 0; k < n; k++)
        all += a[k] * b[k];
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
    return all;
}

/* The gradients of owned elements are the transpose of PETSc's exchange: along any vector. */
static void check_gradients(const shape *c, DM dm, const DMDALocalInfo *i, grids *m, tk_field *f, tk_halo *h)
{
    const int64_t n = tk_field_count(f), ncomp = tk_field_components(f);
    Vec global, local;
    PetscScalar *x;
    double *each = malloc((size_t)n * sizeof *each), *own = malloc((size_t)n * sizeof *own);
    TK_TAPE(m, m->loss)
    { /* without an exchange, each copy has its own */
        sum(m, c->ndim);
    }
    tk_field_get(f, TK_GRAD, 0, n, each);
    TK_TAPE(m, m->loss)
    {
        tk_halo_exchange(h);
        sum(m, c->ndim);
    }
    CHECK_OK(m, tk_session_status(m->tk.session));
    tk_field_get(f, TK_GRAD, 0, n, own);
    for (int64_t k = 0; k < n; k++) {
        CHECK(where(c, i, k / ncomp) <= 0 || own[k] == 0);
        if (where(c, i, k / ncomp) != 0)
            own[k] = 0;
        if (where(c, i, k / ncomp) < 0)
            each[k] = 0;
    }
    OK(DMCreateGlobalVector(dm, &global));
    OK(DMCreateLocalVector(dm, &local));
    for (int round = 0; round < 3; round++) {
        double *v = calloc((size_t)n, sizeof *v);
        for (int64_t k = 0; k < n; k++)
            v[k] = where(c, i, k / ncomp) == 0 ? cos(0.9 * (double)k * (round + 1) + 1.7 * rank) : 0;
        copy_owned(c, i, f, v, global);
        OK(DMGlobalToLocal(dm, global, INSERT_VALUES, local));
        OK(VecGetArray(local, &x));
        CHECK_NEAR(dot(own, v, n), dot(each, x, n), 1e-12);
        OK(VecRestoreArray(local, &x));
        free(v);
    }
    OK(VecDestroy(&local));
    OK(VecDestroy(&global));
    free(each);
    free(own);
}

static void check(const shape *c)
{
    DMDALocalInfo i;
    Vec global, mine, local;
    DM dm = make_dm(c);
    tk_session *s = tk_session_create(NULL);
    OK(DMDAGetLocalInfo(dm, &i));
    grids *m = make_module(s, c->ndim, &i);
    tk_field *f = c->ndim == 1 ? m->line.field : c->ndim == 2 ? m->plane.field : m->cube.field;
    CHECK_OK(m, tk_mpi_attach(s, PETSC_COMM_WORLD));
    tk_halo *h = tk_petsc_halo_dm(s, &f, 1, dm);
    CHECK_OK(m, tk_session_status(s));
    CHECK_OK(m, tk_petsc_vec(PETSC_COMM_SELF, f, TK_DATA, -1, &mine));
    OK(DMCreateGlobalVector(dm, &global));
    OK(DMCreateLocalVector(dm, &local));
    const int64_t n = tk_field_count(f), ncomp = tk_field_components(f);
    double *data = tk_field_data(f);
    PetscScalar *x;
    for (int64_t k = 0; k < n; k++)
        data[k] = value(k);
    copy_owned(c, &i, f, data, global);
    OK(DMGlobalToLocal(dm, global, INSERT_VALUES, local));
    CHECK_OK(m, tk_halo_exchange(h));
    OK(VecGetArray(local, &x));
    for (int64_t k = 0; k < n; k++) {
        const int at = where(c, &i, k / ncomp);
        if (at < 0)
            CHECK(data[k] == value(k));
        else if (at < 2 || c->stencil == DMDA_STENCIL_BOX)
            CHECK(data[k] == x[k]);
    }
    OK(VecRestoreArray(local, &x));
    if (c->stencil == DMDA_STENCIL_BOX)
        check_gradients(c, dm, &i, m, f, h);
    for (int64_t k = 0; k < n; k++) /* PETSc exchanges in the memory of the field */
        data[k] = 0;
    OK(DMGlobalToLocal(dm, global, INSERT_VALUES, mine));
    OK(VecGetArray(local, &x));
    for (int64_t k = 0; k < n; k++)
        if (where(c, &i, k / ncomp) == 0)
            CHECK(data[k] == value(k) && x[k] == value(k));
    OK(VecRestoreArray(local, &x));
    OK(VecDestroy(&mine));
    OK(VecDestroy(&local));
    OK(VecDestroy(&global));
    tk_halo_destroy(h);
    CHECK_OK(m, tk_mpi_detach(s));
    grids_destroy(m);
    tk_session_destroy(s);
    OK(DMDestroy(&dm));
}

int main(int argc, char **argv)
{
    alarm(120);
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    static const DMBoundaryType none = DM_BOUNDARY_NONE, ghosted = DM_BOUNDARY_GHOSTED, around = DM_BOUNDARY_PERIODIC;
    const shape all[] = {
        {1, 2, {none}, DMDA_STENCIL_BOX},
        {1, 1, {ghosted}, DMDA_STENCIL_BOX},
        {1, 2, {around}, DMDA_STENCIL_BOX},
        {2, 1, {none, around}, DMDA_STENCIL_BOX},
        {2, 2, {ghosted, none}, DMDA_STENCIL_BOX},
        {2, 1, {around, around}, DMDA_STENCIL_STAR},
        {3, 1, {around, none, ghosted}, DMDA_STENCIL_BOX},
        {3, 1, {none, none, none}, DMDA_STENCIL_STAR},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const int before = failures;
        check(&all[k]);
        if (failures > before)
            printf("of grid %zu\n", k);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    PetscFinalize();
    return failures != 0;
}
