/* Times every case and prints one table, or checks results alone: run.sh builds and runs it. */
#include "bench.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 9, SIDES = 3 };
static const double RUN_SECONDS = 0.02, ALLOWED = 1e-9;

/* The time of this thread, the only one that works: what else runs on the machine counts less so. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
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

/* The three sides take turns, so that a machine whose speed drifts is equally unfair to all. */
static void time_case(const bench_case *c, void *data, double ms[SIDES], double ratio[2])
{
    void (*const side[SIDES])(void *) = {c->primal, c->grad, c->hand_grad};
    double t[SIDES][RUNS], by[2][RUNS];
    long reps[SIDES];
    for (int k = 0; k < SIDES; k++) {
        const double once = time_once(side[k], data, 1);
        reps[k] = once > 0.0 && once < RUN_SECONDS ? (long)(RUN_SECONDS / once) + 1 : 1;
    }
    for (int r = 0; r < RUNS; r++) {
        for (int k = 0; k < SIDES; k++)
            t[k][r] = time_once(side[k], data, reps[k]);
        by[0][r] = t[1][r] / t[2][r];
        by[1][r] = t[1][r] / t[0][r];
    }
    for (int k = 0; k < SIDES; k++)
        ms[k] = 1e3 * median(t[k]);
    for (int k = 0; k < 2; k++)
        ratio[k] = median(by[k]);
}

static bool run_case(const bench_case *c, const bench_size *size, bool timed)
{
    void *data = c->create(size->n);
    if (!data) {
        fprintf(stderr, "%s %s: %s\n", c->name, size->name, tk_error());
        return false;
    }
    c->primal(data);
    c->grad(data);
    c->hand_grad(data);
    const double difference = c->difference(data);
    const bool right = difference <= ALLOWED;
    if (timed) {
        double ms[SIDES], ratio[2];
        time_case(c, data, ms, ratio);
        printf("| %s | %s | %s | %s | %.3f | %.3f | %.3f | %.2f | %.2f | %.0e |\n", c->name, size->name, c->how,
               c->hand, ms[0], ms[1], ms[2], ratio[0], ratio[1], difference);
        fflush(stdout);
    } else {
        printf("%s %s, %s, %s: %s\n", c->name, size->name, c->how, c->hand, right ? "right" : "WRONG");
    }
    if (!right)
        fprintf(stderr, "%s %s, %s, %s: the gradients differ by %.1e\n", c->name, size->name, c->how, c->hand,
                difference);
    c->destroy(data);
    return right;
}

/* What the C library has given out. */
static int64_t heap(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 m = mallinfo2();
    return (int64_t)(m.uordblks + m.hblkhd);
#else
    return 0;
#endif
}

/* Beside arguments and results. libtkc's sessions keep the memory of a gradient for the next one, so what is there
 * behind a gradient is the most that it had. */
static void print_memory(const bench_case *c, const bench_size *size)
{
    bench_worked[BENCH_OURS] = bench_worked[BENCH_HAND] = 0;
    void *data = c->create(size->n);
    if (!data)
        return;
    const int64_t before = heap();
    c->grad(data);
    printf("| %s | %s | %s | %s | %.1f | %.1f |\n", c->name, size->name, c->how, c->hand,
           (double)(bench_worked[BENCH_OURS] + heap() - before) / 1024.0, (double)bench_worked[BENCH_HAND] / 1024.0);
    c->destroy(data);
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
    printf("f64, one thread, %s, %s; medians of %d interleaved runs, ratios taken run by run.\n\n", __VERSION__,
           colon ? colon + 2 : "unknown processor", RUNS);
    printf("| evaluation | size | ours | by hand | primal ms | gradient ms | by hand ms | ours / by hand | gradient / "
           "primal | difference |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(name, argv[i]) == 0)
            return true;
    return argc == 0;
}

/* bench [--check | --once | --memory] [NAME...] --once: each side of the first sizes once, for those who count
 * instructions */
int main(int argc, char **argv)
{
    const bool check = argc > 1 && strcmp(argv[1], "--check") == 0, once = argc > 1 && strcmp(argv[1], "--once") == 0,
               memory = argc > 1 && strcmp(argv[1], "--memory") == 0;
    argc -= 1 + (check || once || memory);
    argv += 1 + (check || once || memory);
    bool right = true;
    int count = 0;
    if (memory)
        printf("| evaluation | size | ours | by hand | KiB, ours | KiB, by hand |\n|---|---|---|---|---|---|\n");
    else if (!check && !once)
        print_machine();
    for (const bench_case *const *c = bench_cases; *c; c++) {
        if (!wanted((*c)->name, argc, argv))
            continue;
        if (check || once)
            right &= run_case(*c, check ? &(*c)->tiny : (*c)->sizes, false);
        for (const bench_size *s = (*c)->sizes; !check && !once && s < (*c)->sizes + BENCH_SIZES && s->name; s++)
            memory ? print_memory(*c, s) : (void)(right &= run_case(*c, s, true));
        count++;
    }
    if (!count)
        fputs("no such evaluation\n", stderr);
    return !right || !count;
}
