/* A mesh of triangles with ghosts by lists, and particles that share a grid by sums: gradients are those of one
 * process, twice with the same bits. */
#include "mesh.h"

#include "host.h"

#include <mpi.h>
#include <tkc/mpi.h>

#include <unistd.h>

enum { SIDE = 7, ALL = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1), STEPS = 6, PARTICLES = 40 };

static int rank, ranks;

typedef struct part {
    tk_session *s;
    mesh *m;
    tk_halo *h;
    int first, own, first_particle;
    int number[ALL]; /* of a vertex here, -1: it is not */
    int vertex[ALL]; /* of a number here */
} part;

/* Vertices are numbered in a way that tears neighbours apart. */
static int vertex_at(int i, int j)
{
    return (i * SIDE + j) * 10 % ALL;
}

static void corners_of(int triangle, int *c)
{
    const int i = triangle / 2 / (SIDE - 1), j = triangle / 2 % (SIDE - 1), upper = triangle % 2;
    c[0] = vertex_at(i, j);
    c[1] = vertex_at(i + 1, upper ? j + 1 : j);
    c[2] = vertex_at(upper ? i : i + 1, j + 1);
}

static int begin_of(int n, int q, int of)
{
    return n * q * (q + 1) / (of * (of + 1));
}

static int owner_of(int n, int k, int of)
{
    int q = 0;
    while (begin_of(n, q + 1, of) <= k)
        q++;
    return q;
}

/* Triangles with an own vertex, and their vertices. */
static int choose(part *p, int (*triangle)[3], int *nvertices)
{
    int n = 0;
    *nvertices = 0;
    for (int k = 0; k < ALL; k++)
        p->number[k] = -1;
    for (int k = p->first; k < p->first + p->own; k++) {
        p->vertex[*nvertices] = k;
        p->number[k] = (*nvertices)++;
    }
    for (int t = 0; t < TRIANGLES; t++) {
        int c[3], mine = 0;
        corners_of(t, c);
        for (int k = 0; k < 3; k++)
            mine += c[k] >= p->first && c[k] < p->first + p->own;
        for (int k = 0; k < 3 && mine; k++) {
            if (p->number[c[k]] < 0) {
                p->vertex[*nvertices] = c[k];
                p->number[c[k]] = (*nvertices)++;
            }
            triangle[n][k] = p->number[c[k]];
        }
        n += mine > 0;
    }
    return n;
}

static void fill(part *p)
{
    for (int i = 0; i < p->m->params.N; i++) {
        const int k = p->vertex[i];
        p->m->x.data[i] = i < p->own ? sin(1.0 + k) : 99;
        p->m->w.data[i] = i < p->own ? 1 + 0.3 * cos(2.0 * k) : 99;
    }
    for (int i = 0; i < p->m->params.P; i++) {
        p->m->place.data[i] = 0.1 * (p->first_particle + i);
        p->m->mass.data[i] = 1 + 0.01 * (p->first_particle + i);
    }
}

static part make(MPI_Comm comm)
{
    int me, of, triangle[TRIANGLES][3], n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &of);
    part p = {.first = begin_of(ALL, me, of), .first_particle = 8 * begin_of(PARTICLES / 8, me, of)};
    p.own = begin_of(ALL, me + 1, of) - p.first;
    mesh_params q = mesh_defaults();
    q.T = choose(&p, triangle, &n);
    q.N = n;
    q.OWN = p.own;
    q.P = 8 * begin_of(PARTICLES / 8, me + 1, of) - p.first_particle; /* multiples of 8: p % 8 is the same */
    tk_session_options o = tk_session_defaults();
    o.deterministic = true;
    o.threads = 1;
    p.s = tk_session_create(&o);
    p.m = mesh_create(p.s, &q);
    for (int t = 0; t < q.T; t++)
        memcpy(p.m->corner.data[t], triangle[t], sizeof triangle[t]);
    CHECK_OK(p.m, tk_mpi_attach(p.s, comm));
    tk_ghost ghost[ALL];
    for (int i = p.own; i < n; i++) {
        const int owner = owner_of(ALL, p.vertex[i], of);
        ghost[i - p.own] = (tk_ghost){i, owner, p.vertex[i] - begin_of(ALL, owner, of)};
    }
    tk_field *const fields[] = {p.m->x.field, p.m->w.field};
    p.h = tk_halo_create(p.s, fields, 2, ghost, n - p.own);
    CHECK_OK(p.m, tk_session_status(p.s));
    return p;
}

static void run(part *p, bool particles)
{
    fill(p);
    TK_TAPE(p->m, p->m->loss) {
        for (int t = 0; t < (particles ? 3 : STEPS); t++) {
            if (particles) {
                mesh_empty(p->m);
                mesh_spread(p->m);
                tk_allsum_apart(p->s, p->m->grid.field);
                mesh_drift(p->m);
            } else {
                tk_halo_exchange(p->h);
                mesh_clear(p->m);
                mesh_pull(p->m);
                mesh_move(p->m);
            }
        }
        if (particles)
            mesh_weigh(p->m);
        else
            mesh_total(p->m);
        tk_allsum(p->s, p->m->loss.field);
    }
    CHECK_OK(p->m, mesh_status(p->m));
}

static double differ(const char *what, const double *a, const double *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]) / (1 + fabs(b[i])));
    if (!(most < 1e-15))
        FAIL("rank %d of %d: %s differ by %g", rank, ranks, what, most);
    return most;
}

static void compare(part *p, part *whole, bool particles)
{
    double first[ALL];
    run(p, particles);
    double *const grad = particles ? p->m->place.grad : p->m->x.grad;
    const int n = particles ? p->m->params.P : p->own;
    memcpy(first, grad, (size_t)n * sizeof *first);
    run(p, particles);
    CHECK(memcmp(first, grad, (size_t)n * sizeof *first) == 0);
    run(whole, particles);
    differ("losses", p->m->loss.data, whole->m->loss.data, 1);
    CHECK(*p->m->loss.data > 0.01);
    if (particles) {
        differ("places", p->m->place.grad, whole->m->place.grad + p->first_particle, n);
        differ("masses", p->m->mass.grad, whole->m->mass.grad + p->first_particle, n);
    } else {
        differ("vertices", p->m->x.grad, whole->m->x.grad + p->first, n);
        differ("weights", p->m->w.grad, whole->m->w.grad + p->first, n);
    }
}

int main(int argc, char **argv)
{
    alarm(60);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    part p = make(MPI_COMM_WORLD), whole = make(MPI_COMM_SELF);
    compare(&p, &whole, false);
    compare(&p, &whole, true);
    part *const both[] = {&p, &whole};
    for (int i = 0; i < 2; i++) {
        tk_halo_destroy(both[i]->h);
        CHECK_OK(both[i]->m, tk_mpi_detach(both[i]->s));
        mesh_destroy(both[i]->m);
        tk_session_destroy(both[i]->s);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures != 0;
}
