/* Two threads, or more, against one, with 0, 1 and 2 other processes that compute all the time: kernels of ../hand,
 * and the sample smoke. */
#include "bench.h"
#include "smoke.h"

/* ---- smoke ---- */

BENCH_MODULE(smoke)

static void *create_smoke(const int64_t *n)
{
    smoke_params p = smoke_defaults();
    p.N = (int32_t)n[0];
    p.STEPS = (int32_t)n[1];
    smoke *m = new_smoke(&p);
    if (!m)
        return NULL;
    smoke_images(m);
    uint64_t seed = 1;
    for (int64_t i = 0; i < n[0] * n[0]; i++)
        for (int c = 0; c < 2; c++)
            m->push.data[i][c] = 0.1f * bench_random(&seed);
    return m;
}

static void primal(void *p)
{
    smoke *m = p;
    smoke_begin(m);
    for (int t = 0; t <= m->params.STEPS; t++) {
        smoke_diverge(m);
        smoke_jacobi(m);
        smoke_project(m, t);
        if (t < m->params.STEPS)
            smoke_advect(m, t);
    }
    smoke_measure(m);
}

static void grad(void *p)
{
    smoke *m = p;
    TK_TAPE(m, m->loss) primal(m);
}

static const bench_case smoke_case = {.create = create_smoke, .run = {primal, grad}};

/* ---- turns ---- */

enum { PRIMAL, PRIMAL_MORE, GRADIENT, GRADIENT_MORE };

typedef struct turn {
    bench_run *run;
    void *data;
    int threads;
} turn;

static void run(void *p)
{
    const turn *t = p;
    t->run(t->data);
}

/* The other number of threads has left the caches in another state: one call warms them. */
static void prepare(void *p)
{
    tk_session_set_threads(bench_session(), ((turn *)p)->threads);
    run(p);
}

static int sides(const bench_row *r, bench_side *side)
{
    static turn turns[BENCH_SIDES];
    for (int k = 0; k < BENCH_SIDES; k++) {
        turns[k] = (turn){r->of->run[k / 2], r->data, k % 2 ? bench_options.threads : 1};
        side[k] = (bench_side){run, &turns[k], prepare};
    }
    return BENCH_SIDES;
}

static void print(const bench_row *r)
{
    const bench_times *t = &r->times;
    printf("| %s | %d | %d | %.3f | %.3f | %.2f | %.3f | %.3f | %.2f |\n", r->of->name, r->busy, bench_options.threads,
           1e3 * bench_median(t, PRIMAL), 1e3 * bench_median(t, PRIMAL_MORE), bench_ratio(t, PRIMAL_MORE, PRIMAL),
           1e3 * bench_median(t, GRADIENT), 1e3 * bench_median(t, GRADIENT_MORE),
           bench_ratio(t, GRADIENT_MORE, GRADIENT));
}

/* ---- cases ---- */

extern const bench_case bench_elementwise[], bench_wave[], bench_scatter[];

static const struct {
    const char *name;
    const bench_case *of;
    bench_size sizes[3];
} rows[] = {
    {"element-wise, 0.1 ms", bench_elementwise, {{"9", {9}}, {"65536 elements", {65536}}}},
    {"element-wise, 3 ms", bench_elementwise, {{"9", {9}}, {"4000000 elements", {4000000}}}},
    {"wave 256, 32 steps", bench_wave, {{"9", {9, 32}}, {"256 cells a side", {256, 32}}}},
    {"wave 512, 32 steps", bench_wave, {{"9", {9, 32}}, {"512 cells a side", {512, 32}}}},
    {"smoke 128, 4 steps, 60 loops", &smoke_case, {{"8", {8, 4}}, {"128 cells a side", {128, 4}}}},
    {"smoke 256, 4 steps, 60 loops", &smoke_case, {{"8", {8, 4}}, {"256 cells a side", {256, 4}}}},
    {"particles to grid, 0.2 ms", bench_scatter, {{"9", {9, 128, 1}}, {"16384 particles", {16384, 128, 1}}}},
    {"particles to grid, 3 ms", bench_scatter, {{"9", {9, 128, 1}}, {"262144 particles", {262144, 128, 1}}}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

int main(int argc, char **argv)
{
    static bench_case cases[ROWS + 1];
    for (int i = 0; i < ROWS; i++) {
        const bench_case *of = rows[i].of;
        cases[i] = (bench_case){
            .name = rows[i].name, .sizes = rows[i].sizes, .create = of->create, .run = {of->run[0], of->run[1]}};
    }
    const bench_suite suite = {
        .about = "f32",
        .head = "| work | busy processes | threads | primal, 1 thread, ms | threads, ms | threads / 1 | "
                "gradient, 1 thread, ms | threads, ms | threads / 1 |\n|---|---|---|---|---|---|---|---|---|",
        .watch = {CLOCK_MONOTONIC, 15, 0.03},
        .threads = 2,
        .busy = 2,
        .cases = (const bench_case *const[]){cases, NULL},
        .print = print,
        .sides = sides,
    };
    return bench_main(&suite, argc, argv);
}
