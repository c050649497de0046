/* The case gmm: data of a fixed seed, and both gradients of it. */
#include <math.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "gmm.h"
#include "objective.h"
#include "hand.h"

OBJECTIVE(gmm, objective, loss)

typedef struct data {
    ours o;
    gmm_input in;
    gmm_output out;
    double *work;
} data;

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    gmm_params p = gmm_defaults();
    p.N = n[0];
    p.D = n[1];
    p.K = n[2];
    p.m = n[3];
    gmm *m = d->o.m = new_gmm(&p);
    if (!m)
        return NULL;
    const int64_t kd = (int64_t)p.K * p.D, kl = (int64_t)p.K * p.D * (p.D - 1) / 2;
    uint64_t seed = 31337;
    bench_fill(m->x.data, (int64_t)p.N * p.D, bench_normal, &seed);
    bench_fill(m->alpha.data, p.K, bench_normal, &seed);
    bench_fill(m->mu.data, kd, bench_uniform, &seed);
    bench_fill(m->q.data, kd, bench_normal, &seed);
    bench_fill(m->l.data, kl, bench_normal, &seed);
    d->in = (gmm_input){p.N, p.D, p.K, p.m, p.gamma, m->alpha.data, m->mu.data, m->q.data, m->l.data, m->x.data};
    d->out = (gmm_output){0.0, bench_doubles(p.K), bench_doubles(kd), bench_doubles(kd), bench_doubles(kl)};
    d->work = bench_work(BENCH_HAND, gmm_hand_work(&d->in));
    return d;
}

static void *create_flushed(const int64_t *n)
{
    bench_options.flush_denormals = true;
    return create(n);
}

static void hand_grad(void *p)
{
    data *d = p;
    gmm_hand_grad(&d->in, &d->out, d->work);
}

static void hand_grad_fused(void *p)
{
    data *d = p;
    gmm_hand_grad_fused(&d->in, &d->out, d->work);
}

/* As a session with flush_denormals does it. */
static void hand_grad_flushed(void *p)
{
#ifdef __SSE2__
    const unsigned mode = _mm_getcsr();
    _mm_setcsr(mode | 0x8040);
    hand_grad(p);
    _mm_setcsr(mode);
#else
    hand_grad(p);
#endif
}

static double difference(void *p)
{
    const data *d = p;
    const gmm *m = d->o.m;
    const int64_t kd = (int64_t)d->in.k * d->in.d, kl = (int64_t)d->in.k * d->in.d * (d->in.d - 1) / 2;
    double top = bench_difference(&d->o.value, &d->out.loss, 1);
    top = fmax(top, bench_difference(m->alpha.grad, d->out.alpha, d->in.k));
    top = fmax(top, bench_difference(m->mu.grad, d->out.mu, kd));
    top = fmax(top, bench_difference(m->q.grad, d->out.q, kd));
    return fmax(top, bench_difference(m->l.grad, d->out.l, kl));
}

static const bench_size sizes[] = {{"n7 d3 K4", {7, 3, 4, 2}},     {"d2 K5", {1000, 2, 5, 0}},
                                   {"d10 K25", {1000, 10, 25, 0}}, {"d32 K25", {1000, 32, 25, 0}},
                                   {"d64 K50", {1000, 64, 50, 0}}, {0}};
/* Weights of components that are far from a point are denormal numbers, with which processors take their time. */
static const char flushed[] = "kernel, denormals flushed";
const bench_case bench_gmm[] = {
    BENCH_CASE("gmm", "kernel", "as known", sizes, create, difference, primal, grad, hand_grad),
    BENCH_CASE("gmm", flushed, "as known", sizes, create_flushed, difference, primal, grad, hand_grad_flushed),
    BENCH_CASE("gmm", "kernel", "fused", sizes, create, difference, primal, grad, hand_grad_fused),
    {0}};
