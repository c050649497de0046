/* GradBench's evaluations: generated gradients against gradients written by hand, in one process, same compiler and
 * flags. All in f64, on one thread. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tkc/tkc.h>

enum { BENCH_SIZES = 6, BENCH_NUMBERS = 4 };

typedef struct bench_size {
    const char *name; /* NULL ends the list */
    int n[BENCH_NUMBERS];
} bench_size;

/* One objective, with one gradient of tkc's and one by hand. The functions leave their data ready for the next call. */
typedef struct bench_case {
    const char *name, *how; /* how the .tk source is written */
    const char *hand;       /* which algorithm the side by hand uses */
    bench_size tiny, sizes[BENCH_SIZES];
    void *(*create)(const int *n); /* NULL: out of memory, said on stderr */
    void (*primal)(void *);
    void (*grad)(void *);
    void (*hand_grad)(void *);
    double (*difference)(
        void *); /* largest relative difference of values and gradients, behind one call of each function */
    void (*destroy)(void *);
} bench_case;

/* Ends with NULL. */
extern const bench_case *const bench_cases[];

/* A session with one thread. */
tk_session *bench_session(void);
/* n zeros, aligned to a cache line; the program ends when there is no memory. */
double *bench_doubles(int64_t n);
/* The same for what one side's gradient keeps beside arguments and results; bench_worked has the sums, in bytes. */
typedef enum bench_side { BENCH_OURS, BENCH_HAND } bench_side;
double *bench_work(bench_side side, int64_t n);
extern int64_t bench_worked[2];

/* Deterministic numbers: in (0, 1), and normally distributed. */
double bench_uniform(uint64_t *state);
double bench_normal(uint64_t *state);
void bench_fill(double *to, int64_t n, double (*draw)(uint64_t *), uint64_t *state);

/* Largest |a - b| relative to the largest |b|; of infinite size where one is not finite. */
double bench_difference(const double *a, const double *b, int64_t n);

#endif
