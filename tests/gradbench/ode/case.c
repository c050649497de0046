/* The case ode: the gradient of the sum of all y. (The last y alone, which GradBench takes, is below the least number.)
 */
#include <math.h>

#include "bench.h"
#include "ode.h"
#include "hand.h"

typedef struct data {
    int n, steps;
    double *x, *seed, *out[6], *y, *gradient, *hand, *work;
    void *workspace;
} data;

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    uint64_t seed = 31337;
    d->n = n[0];
    d->steps = n[1];
    d->x = bench_doubles(d->n);
    d->seed = bench_doubles(d->n);
    d->y = bench_doubles(d->n);
    d->gradient = bench_doubles(d->n);
    d->hand = bench_doubles(d->n);
    for (int i = 0; i < 6; i++)
        d->out[i] = bench_doubles(d->n);
    for (int i = 0; i < d->n; i++)
        d->seed[i] = 1.0;
    bench_fill(d->x, d->n, bench_uniform, &seed);
    d->work = bench_work(BENCH_HAND, ode_hand_work(d->n, d->steps));
    d->workspace = bench_work(BENCH_OURS, (int64_t)(ode_run_grad_WORKSPACE(d->n, d->steps) / sizeof(double)) + 1);
    return d;
}

static void primal(void *p)
{
    data *d = p;
    double *const *o = d->out;
    ode_run(d->n, d->x, d->steps, o[0], o[1], o[2], o[3], o[4], o[5]);
}

static void grad(void *p)
{
    data *d = p;
    for (int i = 0; i < d->n; i++)
        d->gradient[i] = 0.0;
    ode_run_grad(d->n, d->x, d->steps, NULL, NULL, NULL, NULL, NULL, NULL, d->seed, NULL, NULL, NULL, NULL, NULL,
                 d->gradient, d->workspace);
}

static void hand_grad(void *p)
{
    data *d = p;
    ode_hand_grad(d->n, d->steps, d->x, d->y, d->seed, d->hand, d->work);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(d->out[0], d->y, d->n), bench_difference(d->gradient, d->hand, d->n));
}

static const bench_size sizes[] = {{"n9 s4", {9, 4}}, {"n1000 s100", {1000, 100}}, {"n10000 s100", {10000, 100}}, {0}};
const bench_case bench_ode[] = {
    {"ode", "export func", "backwards through the steps", sizes, create, {primal, grad, hand_grad}, difference}, {0}};
