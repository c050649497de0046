/* Turns, medians and ratios. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

double bench_now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double take_turn(const bench_watch *w, const bench_side *s, long repetitions)
{
    if (s->prepare)
        s->prepare(s->data);
    const double start = bench_now(w->clock);
    for (long i = 0; i < repetitions; i++)
        s->run(s->data);
    return (bench_now(w->clock) - start) / (double)repetitions;
}

void bench_measure(const bench_watch *w, const bench_side *side, int sides, bench_times *t)
{
    long repetitions[BENCH_SIDES];
    for (int k = 0; k < sides; k++) {
        const double once = w->turn > 0.0 ? take_turn(w, &side[k], 1) : 0.0;
        repetitions[k] = once > 0.0 && once < w->turn ? (long)(w->turn / once) + 1 : 1;
    }
    t->runs = w->runs;
    for (int r = 0; r < t->runs; r++)
        for (int i = 0; i < sides; i++) {
            const int k = (r + i) % sides; /* each side is the first in its turn */
            t->of[k][r] = take_turn(w, &side[k], repetitions[k]);
        }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_size);
    return v[n / 2];
}

double bench_median(const bench_times *t, int side)
{
    double v[BENCH_RUNS];
    memcpy(v, t->of[side], sizeof v);
    return median_of(v, t->runs);
}

double bench_ratio(const bench_times *t, int side, int to)
{
    double v[BENCH_RUNS];
    for (int r = 0; r < t->runs; r++)
        v[r] = t->of[side][r] / t->of[to][r];
    return median_of(v, t->runs);
}
