/* The throw and its gradient, three ways. */
#ifndef SIMULATE_H
#define SIMULATE_H

#include <stdbool.h>
#include <stddef.h>

#include "jelly.h"

/* What becomes of the grids, which the way back needs: a grid for each step; one grid, made again; one grid, of which the tape keeps copies. */
enum way { STORED, RECOMPUTED, SAVED, WAYS };
extern const char *const way_names[WAYS];

typedef struct size {
    int side, steps, cells;
} size;

/* Fewer time steps would make the simulation blow up. */
int least_steps(int cells);
/* A body at rest at its starting point, with the first guess of how to throw it. NULL after printing why. */
jelly *body_create(tk_session *session, size s, enum way way);
/* Throws it and leaves the gradient of the loss in throw_.grad, x.grad and F.grad. */
tk_status body_gradient(jelly *m, enum way way);
/* Bytes of the module's fields. */
size_t body_bytes(const jelly *m);
/* The factor of a step of gradient descent: half of what would correct a throw in empty space at once. */
float body_rate(void);
/* The centre of the body at a time step. */
void body_centre(const jelly *m, int step, float centre[2]);

#endif
