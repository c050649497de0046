/* libtkc-petsc, inside. */
#ifndef ADAPTER_H
#define ADAPTER_H

#include "tkc/petsc.h"
#include "tkc/tkc_gen.h"

/* The part of a DMDA of this process, dimensions in the order of fields: z first. */
typedef struct grid_part {
    int ndim, components;
    tk_halo_box box;
    int64_t from[3], to[3]; /* with ghosts, in elements of the grid */
} grid_part;

struct tk_petsc {
    int users; /* the host, and matrices */
    tk_petsc_program program;
    tk_session *session;
    int64_t owned, numbers; /* elements; components of all of them */
    int64_t *element;       /* numbers of owned elements; NULL: the first ones */
    double *before, *other; /* numbers of the input, and of what else the run changes, to be put back */
    double *zeros;          /* as many as the input has, for scopes of matrices; NULL: none yet */
};

/* What PETSc calls: the input at x, and a plane of which the run makes the result `to`. */
typedef struct petsc_call {
    const char *what;
    Vec x, to; /* x NULL: values */
    const double *values;
    tk_field *changed; /* the plane that is put back, unless `to` is its memory */
    tk_plane plane;
} petsc_call;

/* halo.c: each fails the session. */
bool petsc_ok(tk_session *s, PetscErrorCode code, const char *what);
bool petsc_runs(tk_session *s, const char *what);
bool petsc_same_processes(tk_session *s, MPI_Comm comm, const char *what);
bool petsc_find_part(tk_session *s, DM dm, grid_part *part, const char *what);
bool petsc_fits(tk_session *s, const tk_field *f, const grid_part *part, const char *what);
MPI_Comm petsc_comm(const tk_session *s);
/* program.c. petsc_begin: all processes may run; false after failing the session. petsc_end follows in any case: it
 * stores the plane of a field into the result, if all is well, and returns what PETSc is to get. */
bool petsc_begin(tk_petsc *p, const petsc_call *c);
PetscErrorCode petsc_end(tk_petsc *p, const petsc_call *c, const tk_field *result, tk_plane plane);
bool petsc_is_residual(const tk_petsc *p);
bool petsc_is_memory(const tk_petsc *p, const tk_field *f, tk_plane plane, const double *memory);
void petsc_release(tk_petsc *p);

#endif
