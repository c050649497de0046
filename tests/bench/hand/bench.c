/* Times every case and prints one table: tests/bench/run.sh builds and runs it. */
#include "bench.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 9 };
static const double RUN_SECONDS = 0.02;

static const bench_case *const cases[] = {&bench_elementwise,     &bench_stencil,       &bench_nbody,
                                          &bench_nbody_symmetric, &bench_scatter,       &bench_wave,
                                          &bench_border_zero,     &bench_border_around, &bench_border_held,
                                          &bench_stored,          &bench_window,        &bench_transfer};

tk_session *bench_session(int threads)
{
    tk_session_options o = tk_session_defaults();
    o.threads = threads;
    return tk_session_create(&o);
}

float *bench_floats(int64_t n)
{
    const size_t bytes = ((size_t)n * sizeof(float) + 63) / 64 * 64;
    float *p = aligned_alloc(64, bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}

float bench_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f;
}

double bench_difference(const float *a, const float *b, int64_t n)
{
    double top = 0.0, scale = 0.0;
    for (int64_t i = 0; i < n; i++) {
        top = fmax(top, fabs((double)a[i] - (double)b[i]));
        scale = fmax(scale, fabs((double)b[i]));
    }
    return scale > 0.0 ? top / scale : top;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double time_once(void (*fn)(void *), void *data, long reps)
{
    const double start = now();
    for (long i = 0; i < reps; i++)
        fn(data);
    return (now() - start) / (double)reps;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, compare);
    return v[RUNS / 2];
}

/* The four sides take turns, so that a machine whose speed drifts is equally unfair to all. */
static int run_case(const bench_case *c, int64_t size, int threads)
{
    void *data = c->create(size, threads);
    if (!data) {
        fprintf(stderr, "%s: out of memory\n", c->name);
        return 1;
    }
    void (*const side[4])(void *) = {c->primal, c->grad, c->hand_primal, c->hand_grad};
    double t[4][RUNS], ratio[3][RUNS];
    long reps[4];
    side[1](data);
    side[3](data);
    const double difference = c->difference(data);
    for (int k = 0; k < 4; k++) {
        const double once = time_once(side[k], data, 1);
        reps[k] = once > 0.0 && once < RUN_SECONDS ? (long)(RUN_SECONDS / once) + 1 : 1;
    }
    for (int r = 0; r < RUNS; r++) {
        for (int k = 0; k < 4; k++)
            t[k][r] = time_once(side[k], data, reps[k]);
        ratio[0][r] = t[1][r] / t[0][r];
        ratio[1][r] = t[1][r] / t[3][r];
        ratio[2][r] = t[0][r] / t[2][r];
    }
    printf("| %s | %s | %lld %s | %d | %.3f | %.3f | %.2f | %.2f | %.2f | %.0e |\n", c->name, c->hand, (long long)size,
           c->unit, threads, 1e3 * median(t[0]), 1e3 * median(t[1]), median(ratio[0]), median(ratio[1]),
           median(ratio[2]), difference);
    fflush(stdout);
    c->destroy(data);
    return difference > 1e-3 || isnan(difference);
}

static void print_machine(void)
{
    char line[256] = "";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f) && strncmp(line, "model name", 10) != 0)
        ;
    if (f)
        fclose(f);
    const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
    line[strcspn(line, "\n")] = 0;
    printf("f32, %s, %s, %d processors; medians of %d interleaved runs, ratios taken run by run.\n\n", __VERSION__,
           colon ? colon + 2 : "unknown processor", omp_get_num_procs(), RUNS);
}

int main(int argc, char **argv)
{
    const int all = omp_get_num_procs();
    int failed = 0;
    print_machine();
    printf("| work | by hand | size | threads | primal ms | gradient ms | gradient / primal | gradient: ours / by hand "
           "| primal: ours / by hand | "
           "difference |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc > 1 && !strstr(cases[i]->name, argv[1]))
            continue;
        for (int s = 0; s < 2; s++)
            for (int threads = 1; threads <= all; threads += all > 1 ? all - 1 : 1)
                failed |= run_case(cases[i], cases[i]->sizes[s], threads);
    }
    if (failed)
        fputs("a gradient differs from the one by hand\n", stderr);
    return failed;
}
