/* Benchmarks: generated code against the same thing written by hand, in one process, same compiler and flags. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include <tkc/tkc.h>

/* One kernel at one size and thread count. The four functions do the same work on their own data; each leaves it ready
 * for the next call. */
typedef struct bench_case {
    const char *name;
    const char *hand;                           /* which algorithm the hand-written side uses */
    int64_t sizes[2];                           /* in cache, far beyond */
    const char *unit;                           /* what the size counts */
    void *(*create)(int64_t size, int threads); /* NULL: out of memory */
    void (*primal)(void *);
    void (*grad)(void *);
    void (*hand_primal)(void *);
    void (*hand_grad)(void *);
    double (*difference)(void *); /* largest relative difference of the two gradients after one grad each */
    void (*destroy)(void *);
} bench_case;

extern const bench_case bench_elementwise, bench_stencil, bench_nbody, bench_nbody_symmetric, bench_scatter, bench_wave,
    bench_border_zero, bench_border_around, bench_border_held, bench_stored, bench_window, bench_transfer;

/* A session with so many threads. */
tk_session *bench_session(int threads);
/* n zeros, aligned to a cache line; NULL when out of memory. */
float *bench_floats(int64_t n);

/* Deterministic values in (0, 1). */
float bench_random(uint32_t *state);
/* Largest |a - b| relative to the largest |b|. */
double bench_difference(const float *a, const float *b, int64_t n);

#endif
