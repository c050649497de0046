/* The same program in one process without MPI, or in many with it (HAVE_MPI). All functions are collective. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdio.h>
#include <stdlib.h>

typedef struct processes {
    int rank, count;
    int sides[2]; /* processes along each side of a grid; ranks are row-major */
} processes;

#ifdef HAVE_MPI
#include <tkc/mpi.h>
#else
typedef struct tk_halo tk_halo;
typedef struct tk_halo_box {
    int64_t extent[2], lo[2], hi[2], width[2];
} tk_halo_box;
#endif

/* The part of a square grid with n cells a side, with so many layers of ghosts. */
static inline tk_halo_box processes_box(const processes *p, int n, int width)
{
    const int at[2] = {p->rank / p->sides[1], p->rank % p->sides[1]};
    tk_halo_box box = {.extent = {n, n}, .width = {width, width}};
    for (int d = 0; d < 2; d++) {
        box.lo[d] = (int64_t)n * at[d] / p->sides[d];
        box.hi[d] = (int64_t)n * (at[d] + 1) / p->sides[d];
    }
    return box;
}

#ifdef HAVE_MPI

static inline void processes_finalize(void)
{
    MPI_Finalize();
}

/* The first one prints: what others print is lost, except to stderr. */
static inline processes processes_begin(int *argc, char ***argv)
{
    processes p = {.rank = 0};
    MPI_Init(argc, argv);
    atexit(processes_finalize);
    MPI_Comm_rank(MPI_COMM_WORLD, &p.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p.count);
    MPI_Dims_create(p.count, 2, p.sides);
    if (p.rank > 0 && !freopen("/dev/null", "w", stdout))
        MPI_Abort(MPI_COMM_WORLD, 1);
    return p;
}

/* Status of a program. Where one process has failed, all end. */
static inline int processes_end(const processes *p, int status)
{
    fflush(stdout);
    if (p->count > 1 && status != 0)
        MPI_Abort(MPI_COMM_WORLD, status);
    return status;
}

/* For sample.sum. */
static inline double processes_sum(double x)
{
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return x;
}

/* Sums, in process 0. */
static inline void processes_gather(const processes *p, float *x, int n)
{
    MPI_Reduce(p->rank == 0 ? MPI_IN_PLACE : x, x, n, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
}

typedef struct processes_mark {
    tk_mpi_counts counts;
    double time;
} processes_mark;

static inline processes_mark processes_now(tk_session *s)
{
    processes_mark m = {.time = MPI_Wtime()};
    tk_mpi_count(s, &m.counts);
    return m;
}

/* Prints messages, bytes and milliseconds since `from`: each is the most of a process. */
static inline void processes_print(const processes *p, tk_session *s, const processes_mark *from)
{
    const processes_mark now = processes_now(s);
    const tk_mpi_counts *a = &from->counts, *b = &now.counts;
    double x[] = {(double)(b->primal.messages - a->primal.messages),
                  (double)(b->primal.bytes - a->primal.bytes),
                  (double)(b->adjoint.messages - a->adjoint.messages),
                  (double)(b->adjoint.bytes - a->adjoint.bytes),
                  (double)(b->agreements - a->agreements),
                  1e3 * (now.time - from->time)};
    MPI_Allreduce(MPI_IN_PLACE, x, 6, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (p->rank == 0)
        printf(
            "traffic: primal %.0f messages, %.0f bytes; adjoint %.0f messages, %.0f bytes; %.0f agreements; %.3f ms\n",
            x[0], x[1], x[2], x[3], x[4], x[5]);
}

#else
/* One process: in a basin with walls no ghost has an owner, so that exchanges copy nothing, and a sum has one part. */
typedef struct processes_mark {
    int none;
} processes_mark;
#define MPI_COMM_WORLD 0

static inline processes processes_begin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return (processes){0, 1, {1, 1}};
}
static inline int processes_end(const processes *p, int status)
{
    (void)p;
    return status;
}
static inline double processes_sum(double x)
{
    return x;
}
static inline void processes_gather(const processes *p, float *x, int n)
{
    (void)p, (void)x, (void)n;
}
static inline processes_mark processes_now(tk_session *s)
{
    (void)s;
    return (processes_mark){0};
}
static inline void processes_print(const processes *p, tk_session *s, const processes_mark *from)
{
    (void)p, (void)s, (void)from;
    printf("traffic: none, in one process without MPI\n");
}
static inline tk_status tk_mpi_attach(tk_session *s, int comm)
{
    (void)comm;
    return tk_session_status(s);
}
static inline tk_status tk_mpi_detach(tk_session *s)
{
    return tk_session_status(s);
}
static inline tk_halo *tk_halo_create_box(tk_session *s, tk_field *const *fields, int n, const tk_halo_box *box)
{
    (void)n, (void)box;
    return tk_session_status(s) == TK_OK ? (tk_halo *)fields[0] : NULL; /* what is not NULL */
}
static inline void tk_halo_destroy(tk_halo *h)
{
    (void)h;
}
static inline void tk_halo_exchange(tk_halo *h)
{
    (void)h;
}
static inline void tk_halo_begin(tk_halo *h)
{
    (void)h;
}
static inline void tk_halo_end(tk_halo *h)
{
    (void)h;
}
static inline tk_status tk_allsum(tk_session *s, tk_field *f)
{
    (void)f;
    return tk_session_status(s);
}
#endif
#endif
