/* libtkc-mpi: one program in several processes of MPI, with gradients across them.
 *
 * Each process has a session and modules of its own, with its part of the data and copies of elements of others, the
 * ghosts. Exchanges and sums are steps on tapes, in forward scopes and under budgets. The adjoints differentiate the
 * sum of the losses of all processes; a loss that tk_allsum has added up counts once. A tape in a forward scope
 * (second-order products) refuses these steps.
 *
 * All functions but tk_halo_destroy and tk_mpi_count are collective: all processes call them in the same order, from
 * the thread that initialised MPI. If one process fails, all fail at the next of these calls, opening or closing of a
 * tape, and none hangs (tk_session_set_agree). Functions fail the session and return its status.
 */
#ifndef TK_MPI_INCLUDED
#define TK_MPI_INCLUDED

#include <mpi.h>

#include "tkc.h"

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/** Makes the session one of the processes of comm, which is duplicated. TK_BAD_ARGUMENT: the session is NULL, comm is
 * MPI_COMM_NULL or an intercommunicator. TK_BAD_STATE: MPI is not initialised or already finalised, the session is
 * attached, a tape is open, or MPI failed. TK_NO_MEMORY. */
tk_status tk_mpi_attach(tk_session *s, MPI_Comm comm);

/** Makes the session independent again; to be called before MPI_Finalize, also after a failure. TK_BAD_STATE: it is not
 * attached, or it has halos. */
tk_status tk_mpi_detach(tk_session *s);

/** The session's duplicate of comm. MPI_COMM_NULL: it is not attached, or NULL. */
MPI_Comm tk_mpi_comm(const tk_session *s);

/** Elements that are copied from their owners to ghosts in other processes, or in the same one. */
typedef struct tk_halo tk_halo;

/** A ghost: its number in the fields here; its owner, a rank in comm, and its number in the fields there. Numbers are
 * row-major, from 0. */
typedef struct tk_ghost {
    int64_t element;
    int rank;
    int64_t of;
} tk_ghost;

/** Creates a halo of fields with equal extents, of any types: they travel in one message. ghosts: n of this process,
 * copied. Free it with tk_halo_destroy, before the fields' modules. NULL is a failure of the session.
 *
 * TK_BAD_ARGUMENT: no field; a field is NULL, of another session, or there twice; extents differ. TK_BAD_ARGUMENT:
 * types differ between processes. TK_BAD_ARGUMENT: a number or rank does not exist, a ghost is there twice, or an owner
 * is a ghost. TK_BAD_STATE: the session is not attached, a tape is open, or MPI failed. TK_NO_MEMORY. */
tk_halo *tk_halo_create(tk_session *s, tk_field *const *fields, int nfields, const tk_ghost *ghosts, int64_t n);

enum { TK_HALO_DIMS = 8 };
/** The part of a Cartesian grid that this process owns, for each dimension of the fields. */
typedef struct tk_halo_box {
    int64_t extent[TK_HALO_DIMS];               /**< of the grid; only lo and hi differ between processes */
    int64_t lo[TK_HALO_DIMS], hi[TK_HALO_DIMS]; /**< owned elements: the first one, and that behind the last one */
    int64_t width[TK_HALO_DIMS];                /**< layers of ghosts on both sides; at most the extent */
    bool periodic[TK_HALO_DIMS];
    bool cropped[TK_HALO_DIMS]; /**< fields have no ghosts outside of the grid; not where it is periodic */
} tk_halo_box;

/** The same for boxes that make up a grid. The fields have the extents hi - lo + 2 * width, less where they are
 * cropped; ghosts at corners are filled too. Ghosts outside of a grid that is not periodic have no owner, and stay as
 * they are. Further TK_BAD_ARGUMENT: fields of other extents, a box outside of the grid, boxes that overlap or leave
 * gaps. Extents, widths, ends or numbers of dimensions that differ between processes are TK_BAD_ARGUMENT, too. */
tk_halo *tk_halo_create_box(tk_session *s, tk_field *const *fields, int nfields, const tk_halo_box *box);

/** Frees a halo; NULL is ignored. Under an open tape it stays, and the session fails with TK_BAD_STATE. */
void tk_halo_destroy(tk_halo *h);

/** Fills all ghosts: one launch on tapes. Its adjoint adds the gradients of ghosts to the owners, in the order of
 * ranks, and then sets them to 0. In a forward scope duals travel too. TK_BAD_ARGUMENT for NULL; TK_BAD_STATE: it has
 * begun, or MPI failed. TK_NO_DERIVATIVE: a field with needs_dual(K), K > 1, in a forward scope. */
tk_status tk_halo_exchange(tk_halo *h);
/** The same in two parts: launches between them run while messages travel. The step stands where it ends. Elements
 * that are sent stay as they are from begin to end, else TK_OVERWRITTEN. TK_BAD_STATE: begun twice, or not at all; one
 * of the two is in a tape or forward scope, and the other is not. If a tape with steps of a halo closes between the
 * two, its closing is TK_BAD_STATE. Both fail as tk_halo_exchange does. */
tk_status tk_halo_begin(tk_halo *h);
tk_status tk_halo_end(tk_halo *h);

/** Replaces the data of a field of numbers by their sums over all processes, always in the same order. All processes
 * then compute the same from it, such as a loss: its adjoint is the identity. If gradients differ between processes,
 * closing the tape is TK_BAD_STATE. TK_BAD_ARGUMENT: NULL, a field of another session or of bools; TK_NO_MEMORY.
 * TK_BAD_STATE: its size or type differs between processes. TK_NO_DERIVATIVE: a field with needs_dual(K),
 * K > 1, in a forward scope. */
tk_status tk_allsum(tk_session *s, tk_field *f);
/** The same where each process computes something else from the sums, such as from a grid for its own particles. The
 * adjoint adds up the gradients of all. */
tk_status tk_allsum_apart(tk_session *s, tk_field *f);

/** Traffic of one process, in one direction of the program. */
typedef struct tk_mpi_traffic {
    uint64_t exchanges;       /**< of halos */
    uint64_t messages, bytes; /**< of these, to other processes */
    uint64_t sums, summed;    /**< of fields, and comparisons of their gradients; bytes that are summed or compared */
} tk_mpi_traffic;

typedef struct tk_mpi_counts {
    tk_mpi_traffic primal, adjoint; /**< primal: with duals */
    uint64_t agreements;            /**< on failures and schedules: maxima of TK_AGREE_WORDS words over all processes */
} tk_mpi_counts;

/** Sets counts to all since tk_mpi_attach; exchanges that a budget runs again count again. TK_BAD_ARGUMENT for NULL.
 * TK_BAD_STATE: not attached. */
tk_status tk_mpi_count(tk_session *s, tk_mpi_counts *counts);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
