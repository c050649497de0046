/* A star forest with an irregular graph: its halo does what PetscSFBcast and PetscSFReduce do. */
#include "grids.h"

#include "host.h"

#include <petscsf.h>
#include <tkc/petsc.h>
#include <unistd.h>

#define OK(call) ((call) ? (FAIL("%s failed", #call), MPI_Abort(PETSC_COMM_WORLD, 1)) : 0)

static int rank, ranks;

/* Process k has 3 + k roots, and 9 + 2 * k elements in all; leaves are every second element from the end. */
enum { LEAVES = 3 };
static int roots_of(int k)
{
    return 3 + k;
}
static int elements_of(int k)
{
    return 9 + 2 * k;
}

/* Where root k of process q is: the first elements, in another order. */
static PetscInt element_of(int q, PetscInt k)
{
    return roots_of(q) - 1 - k;
}

typedef struct leaf {
    PetscInt at[LEAVES + 3];
    PetscSFNode from[LEAVES + 3];
    PetscInt n;
} leaf;

/* own: also a leaf for an element that this process owns, which is no ghost. */
static leaf leaves_of(bool own)
{
    leaf l = {.n = rank % 2 ? LEAVES : LEAVES - 1};
    for (PetscInt i = 0; i < l.n; i++) {
        const int q = (rank * 2 + (int)i * 3 + 1) % ranks;
        l.at[i] = elements_of(rank) - 1 - 2 * i;
        l.from[i] = (PetscSFNode){.rank = q, .index = (rank + 2 * i) % roots_of(q)};
    }
    if (own) {
        l.at[l.n] = element_of(rank, 1);
        l.from[l.n++] = (PetscSFNode){.rank = rank, .index = 1};
    }
    return l;
}

static PetscSF make_forest(leaf *l)
{
    PetscSF sf;
    OK(PetscSFCreate(PETSC_COMM_WORLD, &sf));
    OK(PetscSFSetGraph(sf, roots_of(rank), l->n, l->at, PETSC_COPY_VALUES, l->from, PETSC_COPY_VALUES));
    return sf;
}

/* What the forest does with numbers in the order of its roots. */
static void check(bool with_own)
{
    leaf l = leaves_of(with_own);
    const int n = elements_of(rank), nroots = roots_of(rank);
    PetscSF sf = make_forest(&l);
    tk_session *s = tk_session_create(NULL);
    grids_params q = grids_defaults();
    q.N = n;
    grids *m = grids_create(s, &q);
    CHECK_OK(m, tk_mpi_attach(s, PETSC_COMM_WORLD));
    PetscInt *element = malloc((size_t)nroots * sizeof *element);
    double *roots = malloc((size_t)nroots * sizeof *roots), *sums = malloc((size_t)nroots * sizeof *sums),
           *got = malloc((size_t)n * sizeof *got), *add = malloc((size_t)n * sizeof *add);
    for (int k = 0; k < nroots; k++)
        element[k] = element_of(rank, k);
    tk_field *f = m->any.field;
    tk_halo *h = tk_petsc_halo_sf(s, &f, 1, sf, element);
    CHECK_OK(m, tk_session_status(s));
    for (int c = 0; c < 2; c++) {
        for (int e = 0; e < n; e++) {
            const double x = 100 * rank + e + 0.25 * c, w = sin(e + 3 * rank + c) + 2;
            tk_field_set(f, TK_DATA, 2 * e + c, 1, &x);
            tk_field_set(m->weight.field, TK_DATA, 2 * e + c, 1, &w);
            got[e] = x;
            add[e] = w;
        }
        for (int k = 0; k < nroots; k++) {
            roots[k] = got[element[k]];
            sums[k] = add[element[k]];
        }
        if (with_own) /* its own copy would count twice */
            add[element_of(rank, 1)] = 0;
        OK(PetscSFBcastBegin(sf, MPIU_REAL, roots, got, MPI_REPLACE));
        OK(PetscSFBcastEnd(sf, MPIU_REAL, roots, got, MPI_REPLACE));
        OK(PetscSFReduceBegin(sf, MPIU_REAL, add, sums, MPI_SUM));
        OK(PetscSFReduceEnd(sf, MPIU_REAL, add, sums, MPI_SUM));
        TK_TAPE(m, m->loss)
        {
            tk_halo_exchange(h);
            grids_sum_any(m);
        }
        CHECK_OK(m, tk_session_status(s));
        for (int e = 0; e < n; e++) {
            double x = 0;
            tk_field_get(f, TK_DATA, 2 * e + c, 1, &x);
            CHECK(x == got[e]);
        }
        for (int k = 0; k < nroots; k++) {
            double g = 0;
            tk_field_get(f, TK_GRAD, 2 * element[k] + c, 1, &g);
            CHECK_NEAR(g, sums[k], 1e-13);
        }
        for (PetscInt i = 0; i < l.n - with_own; i++) {
            double g = 1;
            tk_field_get(f, TK_GRAD, 2 * l.at[i] + c, 1, &g);
            CHECK(g == 0);
        }
    }
    tk_halo_destroy(h);
    CHECK_OK(m, tk_mpi_detach(s));
    grids_destroy(m);
    tk_session_destroy(s);
    OK(PetscSFDestroy(&sf));
    free(element), free(roots), free(sums), free(got), free(add);
}

/* Points as DMGetPointSF numbers them: leaves and roots are elements; no list of leaves. */
static void points(void)
{
    PetscSF sf;
    tk_session *s = tk_session_create(NULL);
    grids_params q = grids_defaults();
    q.N = 2;
    grids *m = grids_create(s, &q);
    CHECK_OK(m, tk_mpi_attach(s, PETSC_COMM_WORLD));
    OK(PetscSFCreate(PETSC_COMM_WORLD, &sf));
    PetscSFNode from = {.rank = (rank + 1) % ranks, .index = 1};
    OK(PetscSFSetGraph(sf, 2, 1, NULL, PETSC_COPY_VALUES, &from, PETSC_COPY_VALUES));
    tk_halo *h = tk_petsc_halo_sf(s, (tk_field *[]){m->any.field}, 1, sf, NULL);
    const double x[] = {-1, -1, rank, 10 + rank};
    double y[4];
    tk_field_set(m->any.field, TK_DATA, 0, 4, x);
    CHECK_OK(m, tk_halo_exchange(h));
    tk_field_get(m->any.field, TK_DATA, 0, 4, y);
    CHECK(y[0] == from.rank && y[1] == 10 + from.rank && y[2] == rank);
    tk_halo_destroy(h);
    OK(PetscSFReset(sf));
    CHECK(!tk_petsc_halo_sf(s, (tk_field *[]){m->any.field}, 1, sf, NULL));
    CHECK_REFUSED(m, tk_session_status(s), "has no graph");
    CHECK(!tk_petsc_halo_sf(s, (tk_field *[]){m->any.field}, 1, NULL, NULL));
    CHECK_REFUSED(m, tk_session_status(s), "the star forest is NULL");
    CHECK(!tk_petsc_halo_sf(NULL, (tk_field *[]){m->any.field}, 1, sf, NULL) && strstr(tk_error(), "session is NULL"));
    OK(PetscSFDestroy(&sf));
    if (ranks > 1) {
        OK(PetscSFCreate(PETSC_COMM_SELF, &sf));
        OK(PetscSFSetGraph(sf, 2, 0, NULL, PETSC_COPY_VALUES, NULL, PETSC_COPY_VALUES));
        CHECK(!tk_petsc_halo_sf(s, (tk_field *[]){m->any.field}, 1, sf, NULL));
        CHECK_REFUSED(m, tk_session_status(s), "has other processes than the session");
        OK(PetscSFDestroy(&sf));
    }
    CHECK_OK(m, tk_mpi_detach(s));
    grids_destroy(m);
    tk_session_destroy(s);
}

int main(int argc, char **argv)
{
    alarm(120);
    PetscInitialize(&argc, &argv, NULL, NULL);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    check(false);
    check(true);
    points();
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
    PetscFinalize();
    return failures != 0;
}
