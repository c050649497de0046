/* Halos from star forests and DMDAs, and what all parts check. */
#include "adapter.h"

#include <petscdmda.h>
#include <petscsf.h>
#include <stdlib.h>

bool petsc_ok(tk_session *s, PetscErrorCode code, const char *what)
{
    const char *text = NULL;
    char *specific = NULL;
    if (code == 0)
        return true;
    PetscErrorMessage(code, &text, &specific);
    tk_fail(s, code == PETSC_ERR_MEM ? TK_NO_MEMORY : TK_BAD_STATE, "%s: PETSc: %s", what,
            specific && *specific ? specific
            : text                ? text
                                  : "an error without a message");
    return false;
}

static bool refuse(tk_session *s, const char *what, const char *why)
{
    tk_fail(s, TK_BAD_ARGUMENT, "%s: %s", what, why);
    return false;
}

bool petsc_runs(tk_session *s, const char *what)
{
    PetscBool begun = PETSC_FALSE;
    PetscInitialized(&begun);
    if (!begun)
        tk_fail(s, TK_BAD_STATE, "%s: PETSc is not initialised (PetscInitialize)", what);
    return begun;
}

MPI_Comm petsc_comm(const tk_session *s)
{
    const MPI_Comm comm = tk_mpi_comm(s);
    return comm == MPI_COMM_NULL ? PETSC_COMM_SELF : comm;
}

bool petsc_same_processes(tk_session *s, MPI_Comm comm, const char *what)
{
    int how = MPI_UNEQUAL;
    if (MPI_Comm_compare(petsc_comm(s), comm, &how) == MPI_SUCCESS && (how == MPI_IDENT || how == MPI_CONGRUENT))
        return true;
    return refuse(s, what, "the object of PETSc has other processes than the session, or another order of them");
}

/* ---- star forests ---- */

typedef struct forest {
    PetscInt nroots, nleaves, behind; /* behind: the largest number of a leaf, plus one */
    const PetscInt *leaf;             /* NULL: 0, 1, ... */
    const PetscSFNode *root;
    PetscInt *of_root, *of_leaf; /* elements of roots here; for each leaf, of its root there */
    tk_ghost *ghost;
} forest;

static const char sf_name[] = "tk_petsc_halo_sf";

static bool find_forest(tk_session *s, PetscSF sf, forest *f)
{
    PetscInt least = 0, most = -1;
    if (!petsc_runs(s, sf_name))
        return false;
    if (!sf)
        return refuse(s, sf_name, "the star forest is NULL");
    if (!petsc_same_processes(s, PetscObjectComm((PetscObject)sf), sf_name) ||
        !petsc_ok(s, PetscSFGetGraph(sf, &f->nroots, &f->nleaves, &f->leaf, &f->root), sf_name))
        return false;
    if (f->nroots < 0)
        return refuse(s, sf_name, "the star forest has no graph (PetscSFSetGraph)");
    if (!petsc_ok(s, PetscSFGetLeafRange(sf, &least, &most), sf_name))
        return false;
    f->behind = most + 1;
    f->of_root = malloc(((size_t)f->nroots + 1) * sizeof *f->of_root);
    f->of_leaf = malloc(((size_t)f->behind + 1) * sizeof *f->of_leaf);
    f->ghost = malloc(((size_t)f->nleaves + 1) * sizeof *f->ghost);
    if (f->of_root && f->of_leaf && f->ghost)
        return true;
    tk_fail(s, TK_NO_MEMORY, "out of memory for a halo of %lld ghosts", (long long)f->nleaves);
    return false;
}

/* Each leaf gets the element of its root. */
static bool send_roots(tk_session *s, PetscSF sf, forest *f, const PetscInt *roots)
{
    for (PetscInt k = 0; k < f->nroots; k++)
        f->of_root[k] = roots ? roots[k] : k;
    return petsc_ok(s, PetscSFBcastBegin(sf, MPIU_INT, f->of_root, f->of_leaf, MPI_REPLACE), sf_name) &&
           petsc_ok(s, PetscSFBcastEnd(sf, MPIU_INT, f->of_root, f->of_leaf, MPI_REPLACE), sf_name);
}

static int64_t list_ghosts(const forest *f, int rank)
{
    int64_t n = 0;
    for (PetscInt i = 0; i < f->nleaves; i++) {
        const PetscInt e = f->leaf ? f->leaf[i] : i, owner = (PetscInt)f->root[i].rank;
        if (owner != rank || f->of_leaf[e] != e)
            f->ghost[n++] = (tk_ghost){e, (int)owner, f->of_leaf[e]};
    }
    return n;
}

tk_halo *tk_petsc_halo_sf(tk_session *s, tk_field *const *fields, int nfields, PetscSF sf, const PetscInt *roots)
{
    forest f = {0};
    int64_t n = 0;
    int rank = 0;
    if (!s) {
        tk_fail(NULL, TK_BAD_ARGUMENT, "tk_petsc_halo_sf: the session is NULL");
        return NULL;
    }
    find_forest(s, sf, &f);
    if (tk_session_agree(s, sf_name) == TK_OK && send_roots(s, sf, &f, roots)) {
        MPI_Comm_rank(petsc_comm(s), &rank);
        n = list_ghosts(&f, rank);
    }
    tk_halo *h = tk_halo_create(s, fields, nfields, f.ghost, n);
    free(f.of_root);
    free(f.of_leaf);
    free(f.ghost);
    return h;
}

/* ---- grids ---- */

static bool set_boundary(tk_session *s, tk_halo_box *box, int d, DMBoundaryType type, const char *what)
{
    if (type == DM_BOUNDARY_MIRROR || type == DM_BOUNDARY_TWIST)
        return refuse(s, what, "a boundary of the DMDA is DM_BOUNDARY_MIRROR or DM_BOUNDARY_TWIST");
    box->periodic[d] = type == DM_BOUNDARY_PERIODIC;
    box->cropped[d] = type == DM_BOUNDARY_NONE;
    return true;
}

/* Dimension d of fields is dimension ndim - 1 - d of the DMDA. */
static bool set_dimension(tk_session *s, const DMDALocalInfo *i, int d, grid_part *part, const char *what)
{
    const int k = part->ndim - 1 - d;
    const PetscInt extent[] = {i->mx, i->my, i->mz}, first[] = {i->xs, i->ys, i->zs}, n[] = {i->xm, i->ym, i->zm},
                   ghosts[] = {i->gxs, i->gys, i->gzs}, all[] = {i->gxm, i->gym, i->gzm};
    const DMBoundaryType type[] = {i->bx, i->by, i->bz};
    tk_halo_box *box = &part->box;
    box->extent[d] = extent[k];
    box->lo[d] = first[k];
    box->hi[d] = (int64_t)first[k] + n[k];
    box->width[d] = i->sw;
    part->from[d] = ghosts[k];
    part->to[d] = (int64_t)ghosts[k] + all[k];
    if (n[k] <= 0)
        return refuse(s, what, "the DMDA is not set up (DMSetUp)");
    if (!set_boundary(s, box, d, type[k], what))
        return false;
    const int64_t from = box->lo[d] - i->sw, to = box->hi[d] + i->sw, end = box->extent[d];
    if (part->from[d] != (box->cropped[d] && from < 0 ? 0 : from) ||
        part->to[d] != (box->cropped[d] && to > end ? end : to))
        return refuse(s, what, "the DMDA has other ghosts than those of its stencil");
    return true;
}

bool petsc_find_part(tk_session *s, DM dm, grid_part *part, const char *what)
{
    PetscBool is_grid = PETSC_FALSE;
    DMDALocalInfo info;
    if (!dm)
        return refuse(s, what, "the DM is NULL");
    if (!petsc_ok(s, PetscObjectTypeCompare((PetscObject)dm, DMDA, &is_grid), what))
        return false;
    if (!is_grid)
        return refuse(s, what, "the DM is no DMDA");
    if (!petsc_same_processes(s, PetscObjectComm((PetscObject)dm), what) ||
        !petsc_ok(s, DMDAGetLocalInfo(dm, &info), what))
        return false;
    part->ndim = (int)info.dim;
    part->components = (int)info.dof;
    for (int d = 0; d < part->ndim; d++)
        if (!set_dimension(s, &info, d, part, what))
            return false;
    return true;
}

bool petsc_fits(tk_session *s, const tk_field *f, const grid_part *part, const char *what)
{
    if (f->desc->ndim != part->ndim) {
        tk_fail(s, TK_BAD_ARGUMENT, "%s: field '%s' has %d dimensions, the DMDA %d", what, f->desc->name, f->desc->ndim,
                part->ndim);
        return false;
    }
    for (int d = 0; d < part->ndim; d++)
        if (f->shape[d] != part->to[d] - part->from[d]) {
            tk_fail(s, TK_BAD_ARGUMENT,
                    "%s: extent %d of field '%s' is %lld, and %lld in the DMDA with ghosts (z first, x last)", what, d,
                    f->desc->name, (long long)f->shape[d], (long long)(part->to[d] - part->from[d]));
            return false;
        }
    return true;
}

tk_halo *tk_petsc_halo_dm(tk_session *s, tk_field *const *fields, int nfields, DM dm)
{
    static const char what[] = "tk_petsc_halo_dm";
    grid_part part = {0};
    if (!s) {
        tk_fail(NULL, TK_BAD_ARGUMENT, "tk_petsc_halo_dm: the session is NULL");
        return NULL;
    }
    if (petsc_runs(s, what) && petsc_find_part(s, dm, &part, what) && fields && nfields > 0 && fields[0])
        petsc_fits(s, fields[0], &part, what);
    return tk_halo_create_box(s, fields, nfields, &part.box);
}
