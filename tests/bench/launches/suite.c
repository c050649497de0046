/* The time of a launch of a tiny kernel: forward, without a tape. */
#include "bench.h"
#include "tiny.h"

typedef struct data {
    tiny *m;
    int64_t launches;
} data;

BENCH_MODULE(tiny)

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    d->m = new_tiny(NULL);
    d->launches = n[0];
    return d->m ? d : NULL;
}

#define LAUNCHES(kernel, ...) \
    static void kernel(void *p) \
    { \
        const data *d = p; \
        for (int k = 0; k < d->launches; k++) \
            tiny_##kernel(d->m __VA_ARGS__); \
    }
LAUNCHES(single, )
LAUNCHES(several, )
LAUNCHES(given, , k, 0.25f)
LAUNCHES(total, )

static void print(const bench_row *r)
{
    printf("| %s | %.1f |\n", r->of->name, 1e9 * bench_median(&r->times, 0) / (double)r->size->n[0]);
}

int main(int argc, char **argv)
{
    static const bench_size sizes[] = {{"10 launches", {10}}, {"1000000 launches", {1000000}}, {0}};
    static const bench_case cases[] = {BENCH_CASE("0-D", NULL, NULL, sizes, create, NULL, single),
                                       BENCH_CASE("16 elements", NULL, NULL, sizes, create, NULL, several),
                                       BENCH_CASE("16 elements, arguments", NULL, NULL, sizes, create, NULL, given),
                                       BENCH_CASE("sum of 16 elements", NULL, NULL, sizes, create, NULL, total),
                                       {0}};
    const bench_suite suite = {
        .about = "f32",
        .head = "| kernel | ns a launch |\n|---|---|",
        .watch = {CLOCK_PROCESS_CPUTIME_ID, 9, 0.0}, /* others may use the processor */
        .threads = 2,
        .cases = (const bench_case *const[]){cases, NULL},
        .print = print,
    };
    return bench_main(&suite, argc, argv);
}
