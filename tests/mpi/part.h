/* A part of the grid of stencil.tk, which is periodic in its first dimension. */
#include "stencil.h"

#include "host.h"

#include <mpi.h>
#include <tkc/mpi.h>
#include <tkc/tkc_gen.h>

#include <unistd.h>

#ifndef G
#define G 12
#endif

typedef struct part {
    stencil *m;
    tk_session *s;
    tk_halo *both, *u; /* of u and c; of u */
    tk_halo_box box;
    int steps;
    bool overlaps;
} part;

static int rank, ranks;

static inline double start_of(int64_t i, int64_t j, int which)
{
    i = (i + G) % G;
    return which ? 1.0 + 0.1 * sin(0.7 * (double)(i * G + j))
                 : 0.3 + 0.2 * cos(1.3 * (double)i) * sin(0.4 * (double)j + 1);
}

/* Ghosts have other data until they are exchanged; those outside of the grid stay as they are. */
static inline void fill(part *p)
{
    const int64_t ny = p->m->params.NY;
    for (int64_t k = 0; k < p->m->params.NX * ny; k++) {
        const int64_t i = p->box.lo[0] - 1 + k / ny, j = p->box.lo[1] - 1 + k % ny;
        const bool own = i >= p->box.lo[0] && i < p->box.hi[0] && j >= p->box.lo[1] && j < p->box.hi[1];
        const bool outside = j < 0 || j >= G;
        p->m->u.data[k] = outside ? 0.1 : own ? start_of(i, j, 0) : 99;
        p->m->c.data[k] = outside ? 0.5 : own ? start_of(i, j, 1) : 99;
    }
}

static inline part make(MPI_Comm comm, int steps)
{
    int n, me, dims[2] = {0, 0};
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    MPI_Dims_create(n, 2, dims);
    part p = {.steps = steps};
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    o.deterministic = true;
    p.s = tk_session_create(&o);
    const int at[2] = {me / dims[1], me % dims[1]};
    for (int d = 0; d < 2; d++) {
        p.box.extent[d] = G;
        p.box.width[d] = 1;
        const int all = dims[d] * (dims[d] + 1); /* parts of 1, 2, 3, ... */
        p.box.lo[d] = G * at[d] * (at[d] + 1) / all;
        p.box.hi[d] = G * (at[d] + 1) * (at[d] + 2) / all;
    }
    p.box.periodic[0] = true;
    stencil_params q = stencil_defaults();
    q.NX = (int32_t)(p.box.hi[0] - p.box.lo[0]) + 2;
    q.NY = (int32_t)(p.box.hi[1] - p.box.lo[1]) + 2;
    p.m = stencil_create(p.s, &q);
    CHECK_OK(p.m, tk_mpi_attach(p.s, comm));
    tk_field *const fields[] = {p.m->u.field, p.m->c.field};
    p.both = tk_halo_create_box(p.s, fields, 2, &p.box);
    p.u = tk_halo_create_box(p.s, fields, 1, &p.box);
    if (!p.both || !p.u) {
        FAIL("%s", tk_session_error(p.s));
        MPI_Abort(comm, 1);
    }
    fill(&p);
    return p;
}

static inline void destroy(part *p)
{
    tk_halo_destroy(p->both);
    tk_halo_destroy(p->u);
    CHECK_OK(p->m, tk_mpi_detach(p->s));
    stencil_destroy(p->m);
    tk_session_destroy(p->s);
}

static inline void program(void *user)
{
    part *p = user;
    for (int t = 0; t < p->steps; t++) {
        if (p->overlaps) {
            tk_halo_begin(t ? p->u : p->both);
            stencil_beside(p->m);
            tk_halo_end(t ? p->u : p->both);
        } else {
            tk_halo_exchange(t ? p->u : p->both);
        }
        stencil_step(p->m);
        stencil_move(p->m);
    }
    stencil_total(p->m);
    tk_allsum(p->s, p->m->loss.field);
}

/* Number in part p of element (i, j) of the grid. */
static inline int64_t number(const part *p, int64_t i, int64_t j)
{
    return (i - p->box.lo[0] + 1) * p->m->params.NY + j - p->box.lo[1] + 1;
}

static inline void begin(int argc, char **argv)
{
    alarm(60);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static inline int end(void)
{
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
