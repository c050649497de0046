#include "gravity.h"

#include <stdio.h>

int main(void)
{
    gravity_params p = gravity_defaults();
    p.N = 8;
    gravity *g = gravity_create(NULL, &p);                  /* NULL: a session of its own */
    if (!g) { fprintf(stderr, "%s\n", tk_error()); return 1; }

    for (int i = 0; i < p.N; i++) { g->x.data[i][0] = 0.1f * (float)i; g->x.data[i][1] = 0.01f * (float)(i * i); }     /* float (*data)[2] */
    for (int step = 0; step < 50; step++) {
        TK_TAPE(g, g->U) {                                  /* afterwards dU/dx is in g->x.grad */
            gravity_compute_U(g);
        }
        gravity_advance(g, 1e-5f);
    }
    tk_status s = gravity_status(g);                        /* the first failure sticks */
    if (s != TK_OK) fprintf(stderr, "%s\n", gravity_error(g));
    gravity_destroy(g);
    return s != TK_OK;
}
