/* libtkc-petsc: fields and programs of tkc in solvers of PETSc, on one process or on many (mpi.h).
 *
 * The session is attached to MPI with the processes of PETSc's objects, in the same order. A session that is not
 * attached works with objects of one process, without halos. Numbers of fields in vectors are f64. This PETSc has real
 * numbers of double precision; PetscInt may have 32 or 64 bits.
 *
 * Functions that return tk_status or a halo fail the session; a failure of PETSc is TK_BAD_STATE with PETSc's message,
 * or TK_NO_MEMORY. Functions that return PetscErrorCode are for PETSc to call: a failure of the session is
 * PETSC_ERR_LIB with the session's message. Such a function begins and ends with an agreement of all processes
 * (tk_session_agree), so if one fails, all return an error, and the solver ends.
 *
 * All functions except tk_petsc_destroy and tk_petsc_vec are collective.
 */
#ifndef TK_PETSC_INCLUDED
#define TK_PETSC_INCLUDED

#include <petscsnes.h>
#include <petsctao.h>

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "tkc/petsc.h: this PETSc has complex numbers, or none of double precision"
#endif

#include "mpi.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- halos ---- */

/** A halo (tk_halo_create) with the ghosts of a star forest: leaf i is element ilocal[i] of the fields, and a ghost.
 * roots: the element of each of this process's roots, nroots of PetscSFGetGraph. NULL: root k is element k, as in the
 * forest of DMGetPointSF. A leaf that is the element of its own root is no ghost. Frees nothing: see tk_halo_destroy.
 *
 * Further TK_BAD_ARGUMENT: the forest is NULL or has no graph, or its processes are not the session's. */
tk_halo *tk_petsc_halo_sf(tk_session *s, tk_field *const *fields, int nfields, PetscSF sf, const PetscInt *roots);

/** A halo (tk_halo_create_box) of a DMDA. The fields have the extents of DMDAGetGhostCorners, z first and x
 * last, of as many dimensions as the DMDA. Their memory is laid out as its local vectors. With a star stencil, too,
 * ghosts at corners are filled. Ghosts outside of the grid (DM_BOUNDARY_GHOSTED) stay as they are.
 *
 * Further TK_BAD_ARGUMENT: dm is NULL, no DMDA or not set up; its processes are not the session's; fields have other
 * extents. TK_BAD_ARGUMENT: a boundary is DM_BOUNDARY_MIRROR or DM_BOUNDARY_TWIST. */
tk_halo *tk_petsc_halo_dm(tk_session *s, tk_field *const *fields, int nfields, DM dm);

/* ---- vectors ---- */

/** Makes *v a vector whose numbers are the memory of a field: nothing is copied. It has the first `elements` elements
 * of each process of comm, all if negative, with the components of an element as a block. With PETSC_COMM_SELF and all
 * elements it is a local vector of a DMDA (tk_petsc_halo_dm), for DMGlobalToLocal. Destroy it before the field is bound
 * or its module destroyed. PETSc keeps norms of vectors: VecGetArrayWrite and
 * VecRestoreArrayWrite after a kernel has stored the field make it forget them.
 *
 * Collective on comm alone: a process that fails leaves the others waiting, unless comm is PETSC_COMM_SELF.
 *
 * TK_BAD_ARGUMENT: NULL, the field has other numbers than f64, more elements than there are, or more than a PetscInt
 * counts. TK_BAD_ARGUMENT: the numbers are not one after the other (layout soa, members of structs, bound strides).
 * TK_NO_DERIVATIVE: it has no such plane. On failure *v is NULL. */
tk_status tk_petsc_vec(MPI_Comm comm, tk_field *f, tk_plane plane, int64_t elements, Vec *v);

/* ---- programs ---- */

/** A program of the host, as for tk_gradcheck: launches and exchanges, always the same. */
typedef struct tk_petsc_program {
    tk_field *input;  /**< f64, any layout: x */
    tk_field *output; /**< f64: residuals, with the extents of the input; or the loss, a single number */
    DM dm;            /**< NULL, or a DMDA: see tk_petsc_halo_dm; components of an element are its degrees of freedom */
    int64_t owned;    /**< without dm: how many elements, the first ones, this process owns. The others are ghosts */
    tk_program_fn run; /**< exchanges the input, and sets and computes the output; may store the input */
    void *user;
} tk_petsc_program;

/** A program as a function of a global vector, which has the numbers of owned elements. With dm it is a vector of
 * DMCreateGlobalVector. Without, it has `owned` elements of each process with their components. */
typedef struct tk_petsc tk_petsc;

/** Creates it; p is copied. Free it with tk_petsc_destroy before its fields' modules. NULL is a failure of the session.
 *
 * TK_BAD_ARGUMENT: NULL, fields of two sessions, input and output are one field, a field has other numbers than f64.
 * TK_BAD_ARGUMENT: the output has neither the extents and components of the input nor a single number. TK_BAD_ARGUMENT:
 * `owned` is negative, or more than there are. TK_BAD_ARGUMENT for dm as in tk_petsc_halo_dm, or its degrees of freedom
 * are not the components. TK_BAD_STATE: PETSc is not initialised. TK_NO_MEMORY. */
tk_petsc *tk_petsc_create(const tk_petsc_program *p);

/** Frees it; NULL is ignored. Matrices of tk_petsc_mat keep what they need of it. */
void tk_petsc_destroy(tk_petsc *p);

/* Each function below copies x into the owned elements of the input and runs the program. It copies what it gets from
 * output, tangents or gradients to its result. Then the owned elements of input and output (of a loss: of the input's
 * gradient) have their values from before. So x and the result may be vectors of tk_petsc_vec; those are not copied.
 *
 * Errors of all: x or the result has another number of local numbers; a tape or forward scope is open; the program
 * fails. */

/** Computes the residuals: SNESSetFunction(snes, f, tk_petsc_residual, p). */
PetscErrorCode tk_petsc_residual(SNES snes, Vec x, Vec f, void *p);

/** Makes *J the Jacobian of the residuals, a MATSHELL of the session's processes. Its product is a forward scope with
 * one run of the program. Use it without a preconditioner (PCNONE), or with a matrix of your own for that.
 * TK_NO_DERIVATIVE: input or output are not declared needs_dual, or have several directions. TK_BAD_ARGUMENT: p is
 * NULL, or the output is no residual. */
tk_status tk_petsc_mat(tk_petsc *p, Mat *J);

/** Makes J the Jacobian at x: SNESSetJacobian(snes, J, J, tk_petsc_jacobian, p). J: of tk_petsc_mat; x is copied. P is
 * assembled if it is another matrix, and has the values that it had. snes may be NULL. */
PetscErrorCode tk_petsc_jacobian(SNES snes, Vec x, Mat J, Mat P, void *p);

/** Computes a loss and its gradient by a tape: TaoSetObjectiveAndGradient(tao, g, tk_petsc_objective, p). The program
 * ends with tk_allsum of the loss, and exchanges the input on its tape. Then ghosts of an input that all share, such as
 * a single number that process 0 owns, add up, too. Further failures: the output is no loss, it differs between
 * processes, or input or loss is not declared needs_grad. tao may be NULL. */
PetscErrorCode tk_petsc_objective(Tao tao, Vec x, PetscReal *loss, Vec gradient, void *p);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
