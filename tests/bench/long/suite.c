/* A gradient through so many steps in place that a budget holds a small part of their states: the time of closing the
 * tape against the predicted one, and the gradient against the JVP. */
#include <math.h>

#include "bench.h"
#include "sine_gordon.h"

typedef struct data {
    sine_gordon *m;
    int steps;
    size_t budget;
    double *direction;
    tk_tape_report report;
} data;

BENCH_MODULE(sine_gordon)

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    sine_gordon_params p = sine_gordon_defaults();
    p.N = (int)n[0];
    d->steps = (int)n[1];
    d->budget = (size_t)n[2];
    d->m = new_sine_gordon(&p);
    if (!d->m)
        return NULL;
    const double width = 0.1 * (double)p.N;
    uint64_t seed = 1;
    d->direction = bench_doubles((int64_t)p.N * p.N);
    for (int i = 0; i < p.N; i++)
        for (int k = 0; k < p.N; k++) {
            const double x = ((double)i - 0.4 * p.N) / width, y = ((double)k - 0.55 * p.N) / width;
            d->m->start.data[i * p.N + k] = 4.0 * exp(-x * x - y * y);
            d->direction[i * p.N + k] = bench_normal(&seed);
        }
    return d;
}

static void program(data *d)
{
    sine_gordon_begin(d->m);
    for (int t = 0; t < d->steps; t++)
        sine_gordon_step(d->m);
    sine_gordon_total(d->m);
}

static void gradient(void *p)
{
    data *d = p;
    tk_tape_budget(bench_session(), d->budget);
    TK_TAPE(d->m, d->m->loss)
    {
        program(d);
    }
    d->report = tk_tape_last_report(bench_session());
}

/* The gradient's product with a direction, against the JVP. */
static double difference(void *p)
{
    data *d = p;
    const int64_t n = (int64_t)d->m->params.N * d->m->params.N;
    double product = 0.0;
    for (int64_t i = 0; i < n; i++)
        product += d->m->start.grad[i] * d->direction[i];
    *d->m->loss.data = 0.0;
    if (sine_gordon_forward_start(d->m, (tk_field *[]){d->m->loss.field}, 1, d->direction, n) == TK_OK)
        program(d);
    const double slope = *d->m->loss.dual;
    tk_forward_end(bench_session());
    return fabs(product - slope) / fabs(slope);
}

static void print(const bench_row *r)
{
    const data *d = r->data;
    const tk_tape_report *t = &d->report;
    printf("| %s | %.1f | %.1f | %zu | %.2f | %.2f | %.2f | %.2f | %.2f | %.0e |\n", r->size->name,
           1e-6 * (double)t->budget, 1e-6 * (double)t->bytes, t->slots, (double)t->again / (double)t->launches,
           bench_median(&r->times, 0), t->seconds, t->predicted, t->seconds / t->predicted, r->difference);
}

int main(int argc, char **argv)
{
    static const bench_size sizes[] = {
        {"32 x 32, 200 steps", {32, 200, 600000}}, {"512 x 512, 20000 steps", {512, 20000, 1000000000}}, {0}};
    static const bench_case cases[] = {{"sine-Gordon", NULL, NULL, sizes, create, {gradient}, difference, NULL}, {0}};
    const bench_suite suite = {
        .about = "f64",
        .head = "| size | budget MB | MB held | slots | launches again | s | closing s | predicted s | ratio | "
                "difference |\n"
                "|---|---|---|---|---|---|---|---|---|---|",
        .watch = {CLOCK_MONOTONIC, 1, 0.0},
        .allowed = 1e-10,
        .threads = 1,
        .cases = (const bench_case *const[]){cases, NULL},
        .print = print,
    };
    return bench_main(&suite, argc, argv);
}
