/* GradBench's evaluations: generated gradients against gradients written by hand, in one process, same compiler and
 * flags. All in f64, on one thread. */
#include "bench.h"

#include <malloc.h>

extern const bench_case bench_gmm[], bench_gmm_arrays[], bench_ba[], bench_lstm[], bench_ht[], bench_kmeans[],
    bench_lse[], bench_llsq[], bench_ode[], bench_det[];

static const bench_case *const cases[] = {bench_gmm, bench_gmm_arrays, bench_ba,  bench_lstm, bench_ht, bench_kmeans,
                                          bench_lse, bench_llsq,       bench_ode, bench_det,  NULL};

enum { PRIMAL, GRADIENT, HAND };

static void print(const bench_row *r)
{
    const bench_times *t = &r->times;
    printf("| %s | %s | %s | %s | %.3f | %.3f | %.3f | %.2f | %.2f | %.0e |\n", r->of->name, r->size->name, r->of->how,
           r->of->hand, 1e3 * bench_median(t, PRIMAL), 1e3 * bench_median(t, GRADIENT), 1e3 * bench_median(t, HAND),
           bench_ratio(t, GRADIENT, HAND), bench_ratio(t, GRADIENT, PRIMAL), r->difference);
}

/* Bytes that the C library has given out. */
static int64_t heap(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 m = mallinfo2();
    return (int64_t)(m.uordblks + m.hblkhd);
#else
    return 0;
#endif
}

/* Beside arguments and results. A session keeps the memory of a gradient for the next one, so after a gradient the heap
 * has the most that it took. */
static bool print_memory(const bench_case *c, const bench_size *size)
{
    void *data = c->create(size->n);
    const int64_t before = heap();
    if (data) {
        c->run[GRADIENT](data);
        printf("| %s | %s | %s | %s | %.1f | %.1f |\n", c->name, size->name, c->how, c->hand,
               (double)(bench_worked[BENCH_OURS] + heap() - before) / 1024.0,
               (double)bench_worked[BENCH_HAND] / 1024.0);
    }
    bench_release();
    return data;
}

int main(int argc, char **argv)
{
    const bench_suite suite = {
        .about = "f64, one thread",
        .head = "| evaluation | size | ours | by hand | primal ms | gradient ms | by hand ms | ours / by hand | "
                "gradient / primal | difference |\n|---|---|---|---|---|---|---|---|---|---|",
        .watch = {CLOCK_THREAD_CPUTIME_ID, 9, 0.02}, /* of the only thread: other programs matter less */
        .allowed = 1e-9,
        .threads = 1,
        .cases = cases,
        .print = print,
        .memory_head = "| evaluation | size | ours | by hand | KiB, ours | KiB, by hand |\n|---|---|---|---|---|---|",
        .memory = print_memory,
    };
    return bench_main(&suite, argc, argv);
}
