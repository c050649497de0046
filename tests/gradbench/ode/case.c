/* The case ode: the gradient of the sum of all y. (The last y alone, which GradBench takes, is below the least number.)
 */
#include <math.h>

#include "ours.h"
#include "hand.h"

typedef struct data {
    ours o;
    double *y, *gradient, *work;
} data;

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    uint64_t seed = 31337;
    begin(&d->o, (int)n[0], (int)n[1]);
    for (int i = 0; i < d->o.n; i++)
        d->o.seed[i] = 1.0;
    bench_fill(d->o.x, n[0], bench_uniform, &seed);
    d->y = bench_doubles(n[0]);
    d->gradient = bench_doubles(n[0]);
    d->work = bench_work(BENCH_HAND, ode_hand_work(d->o.n, d->o.steps));
    return d;
}

static void hand_grad(void *p)
{
    data *d = p;
    ode_hand_grad(d->o.n, d->o.steps, d->o.x, d->y, d->o.seed, d->gradient, d->work);
}

static double difference(void *p)
{
    const data *d = p;
    return fmax(bench_difference(d->o.out[0], d->y, d->o.n), bench_difference(d->o.gradient, d->gradient, d->o.n));
}

static const bench_size sizes[] = {{"n9 s4", {9, 4}}, {"n1000 s100", {1000, 100}}, {"n10000 s100", {10000, 100}}, {0}};
const bench_case bench_ode[] = {
    BENCH_CASE("ode", "export func", "backwards through the steps", sizes, create, difference, primal, grad, hand_grad),
    {0}};
