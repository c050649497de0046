/* The case gmm once more, by the export func of gmm_arrays.tk, of which each size has a module. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "gmm_d2.h"
#include "gmm_d3.h"
#include "gmm_d10.h"
#include "gmm_d32.h"
#include "gmm_d64.h"
#include "hand.h"

typedef void value_fn(int64_t, const double *, const double *, const double *, const double *, const double *, int32_t,
                      double, double *);
typedef void grad_fn(int64_t, const double *, const double *, const double *, const double *, const double *, int32_t,
                     double, double *, const double *, double *, double *, double *, double *, double *, double *,
                     void *);

typedef struct module {
    int d, k;
    value_fn *value;
    grad_fn *grad;
} module;

#define MODULE(d, k) \
    { \
        d, k, gmm_d##d##_objective, gmm_d##d##_objective_grad \
    }
static const module modules[] = {MODULE(2, 5), MODULE(3, 4), MODULE(10, 25), MODULE(32, 25), MODULE(64, 50)};

typedef struct data {
    const module *m;
    gmm_input in;
    gmm_output ours, hand;
    double *alpha, *mu, *q, *l, *x, *work;
    void *workspace;
} data;

static size_t workspace(int d, int n, int m)
{
    (void)n; /* a macro need not use what it is given */
    (void)m;
    return d == 2    ? gmm_d2_objective_grad_WORKSPACE(n, m)
           : d == 3  ? gmm_d3_objective_grad_WORKSPACE(n, m)
           : d == 10 ? gmm_d10_objective_grad_WORKSPACE(n, m)
           : d == 32 ? gmm_d32_objective_grad_WORKSPACE(n, m)
                     : gmm_d64_objective_grad_WORKSPACE(n, m);
}

static double *drawn(int64_t n, double (*draw)(uint64_t *), uint64_t *seed)
{
    double *p = bench_doubles(n);
    bench_fill(p, n, draw, seed);
    return p;
}

static gmm_output output(int64_t k, int64_t kd, int64_t kl)
{
    return (gmm_output){0.0, bench_doubles(k), bench_doubles(kd), bench_doubles(kd), bench_doubles(kl)};
}

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        if (modules[i].d == n[1] && modules[i].k == n[2])
            d->m = &modules[i];
    const int64_t kd = (int64_t)n[2] * n[1], kl = kd * (n[1] - 1) / 2;
    uint64_t seed = 31337;
    d->x = drawn((int64_t)n[0] * n[1], bench_normal, &seed);
    d->alpha = drawn(n[2], bench_normal, &seed);
    d->mu = drawn(kd, bench_uniform, &seed);
    d->q = drawn(kd, bench_normal, &seed);
    d->l = drawn(kl, bench_normal, &seed);
    d->in = (gmm_input){n[0], n[1], n[2], n[3], 1.0, d->alpha, d->mu, d->q, d->l, d->x};
    d->ours = output(n[2], kd, kl);
    d->hand = output(n[2], kd, kl);
    d->work = bench_work(BENCH_HAND, gmm_hand_work(&d->in));
    d->workspace = bench_workspace(workspace(n[1], n[0], n[3]));
    return d;
}

static void primal(void *p)
{
    data *d = p;
    const gmm_input *in = &d->in;
    d->m->value(in->n, in->alpha, in->mu, in->q, in->l, in->x, in->m, in->gamma, &d->ours.loss);
}

static void grad(void *p)
{
    data *d = p;
    const gmm_input *in = &d->in;
    gmm_output *o = &d->ours;
    const double one = 1.0;
    const size_t kd = (size_t)in->k * (size_t)in->d;
    memset(o->alpha, 0, (size_t)in->k * sizeof(double));
    memset(o->mu, 0, kd * sizeof(double));
    memset(o->q, 0, kd * sizeof(double));
    memset(o->l, 0, kd * (size_t)(in->d - 1) / 2 * sizeof(double));
    d->m->grad(in->n, in->alpha, in->mu, in->q, in->l, in->x, in->m, in->gamma, NULL, &one, o->alpha, o->mu, o->q, o->l,
               NULL, NULL, d->workspace);
}

static void hand_grad(void *p)
{
    data *d = p;
    gmm_hand_grad(&d->in, &d->hand, d->work);
}

static double difference(void *p)
{
    const data *d = p;
    const int64_t kd = (int64_t)d->in.k * d->in.d, kl = kd * (d->in.d - 1) / 2;
    double top = bench_difference(&d->ours.loss, &d->hand.loss, 1);
    top = fmax(top, bench_difference(d->ours.alpha, d->hand.alpha, d->in.k));
    top = fmax(top, bench_difference(d->ours.mu, d->hand.mu, kd));
    top = fmax(top, bench_difference(d->ours.q, d->hand.q, kd));
    return fmax(top, bench_difference(d->ours.l, d->hand.l, kl));
}

static const bench_size sizes[] = {{"n7 d3 K4", {7, 3, 4, 2}},     {"d2 K5", {1000, 2, 5, 0}},
                                   {"d10 K25", {1000, 10, 25, 0}}, {"d32 K25", {1000, 32, 25, 0}},
                                   {"d64 K50", {1000, 64, 50, 0}}, {0}};
const bench_case bench_gmm_arrays[] = {
    BENCH_CASE("gmm", "export func", "as known", sizes, create, difference, primal, grad, hand_grad), {0}};
