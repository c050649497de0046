/* A mesh, its energy, and the sparse Hessian of that. */
#ifndef MESH_H
#define MESH_H

#include <stdbool.h>

#include "newton.h"

/* A strip of 4 by 1, or a beam of 4 by 1 by 1, both of whose ends are held. */
typedef struct shape {
    bool solid;           /* tetrahedra */
    int cells;            /* across */
    double squeeze, turn; /* of the end: by a part of the length, in degrees */
    double gravity, lambda;
} shape;

typedef struct mesh {
    newton *m;
    shape shape;
    int points, elements, dim, n; /* n: unknowns, dim of each point */
    bool *held;                   /* of each unknown: it does not move */
    tk_sparse *hessian;           /* columns of its lower triangle */
    double *values;               /* of it */
} mesh;

/* At the first guess. False behind a message. */
bool mesh_create(mesh *k, const shape *s, tk_session *session);
void mesh_destroy(mesh *k);
/* "newton: why" on stderr; false. */
bool mesh_fails(const mesh *k);

double *mesh_places(const mesh *k);   /* n numbers; to be changed */
double *mesh_gradient(const mesh *k); /* of the last mesh_derive; 0 where a point is held */

/* The energy here; not finite if an element is turned over. */
double mesh_energy(mesh *k);
/* And gradient and Hessian; where a point is held, the Hessian has rows and columns of the unit matrix. projected: the
 * blocks of elements become positive semidefinite first. */
double mesh_derive(mesh *k, bool projected);
/* Of each element, energy of a unit of volume. */
const double *mesh_tension(mesh *k);

#endif
