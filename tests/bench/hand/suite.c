/* Generated code against primal and gradient written by hand, in one process, with the same compiler and flags. */
#include "bench.h"

extern const bench_case bench_elementwise[], bench_stencil[], bench_nbody[], bench_scatter[], bench_wave[],
    bench_border[], bench_stored[], bench_window[], bench_transfer[];

static const bench_case *const cases[] = {bench_elementwise, bench_stencil, bench_nbody,  bench_scatter,  bench_wave,
                                          bench_border,      bench_stored,  bench_window, bench_transfer, NULL};

enum { PRIMAL, GRADIENT, HAND_PRIMAL, HAND_GRADIENT };

static void print(const bench_row *r)
{
    const bench_times *t = &r->times;
    printf("| %s | %s | %s | %d | %.3f | %.3f | %.2f | %.2f | %.2f | %.0e |\n", r->of->name, r->of->hand, r->size->name,
           bench_options.threads, 1e3 * bench_median(t, PRIMAL), 1e3 * bench_median(t, GRADIENT),
           bench_ratio(t, GRADIENT, PRIMAL), bench_ratio(t, GRADIENT, HAND_GRADIENT),
           bench_ratio(t, PRIMAL, HAND_PRIMAL), r->difference);
}

int main(int argc, char **argv)
{
    const bench_suite suite = {
        .about = "f32",
        .head = "| work | by hand | size | threads | primal ms | gradient ms | gradient / primal | "
                "gradient: ours / by hand | primal: ours / by hand | difference "
                "|\n|---|---|---|---|---|---|---|---|---|---|",
        .watch = {CLOCK_MONOTONIC, 9, 0.02},
        .allowed = 1e-3,
        .cases = cases,
        .print = print,
    };
    return bench_main(&suite, argc, argv);
}
