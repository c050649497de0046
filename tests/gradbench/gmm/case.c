/* The case gmm: data of a fixed seed, and both gradients of it. */
#include <math.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "bench.h"
#include "gmm.h"
#include "hand.h"

typedef struct data {
    gmm *m;
    tk_session *s;
    gmm_input in;
    gmm_output out;
    double *work, loss;
} data;

static void destroy(void *p)
{
    data *d = p;
    gmm_destroy(d->m);
    tk_session_destroy(d->s);
    free(d->out.alpha);
    free(d->out.mu);
    free(d->out.q);
    free(d->out.l);
    free(d->work);
    free(d);
}

static void *create_with(const int *n, bool flush)
{
    data *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    gmm_params p = gmm_defaults();
    p.N = n[0];
    p.D = n[1];
    p.K = n[2];
    p.m = n[3];
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    o.flush_denormals = flush;
    d->s = tk_session_create(&o);
    d->m = gmm_create(d->s, &p);
    if (!d->m) {
        tk_session_destroy(d->s);
        free(d);
        return NULL;
    }
    const int64_t kd = (int64_t)p.K * p.D, kl = (int64_t)p.K * p.D * (p.D - 1) / 2;
    uint64_t seed = 31337;
    bench_fill(d->m->x.data, (int64_t)p.N * p.D, bench_normal, &seed);
    bench_fill(d->m->alpha.data, p.K, bench_normal, &seed);
    bench_fill(d->m->mu.data, kd, bench_uniform, &seed);
    bench_fill(d->m->q.data, kd, bench_normal, &seed);
    bench_fill(d->m->l.data, kl, bench_normal, &seed);
    d->in = (gmm_input){p.N,           p.D,          p.K,          p.m,         p.gamma, d->m->alpha.data,
                        d->m->mu.data, d->m->q.data, d->m->l.data, d->m->x.data};
    d->out = (gmm_output){0.0, bench_doubles(p.K), bench_doubles(kd), bench_doubles(kd), bench_doubles(kl)};
    d->work = bench_work(BENCH_HAND, gmm_hand_work(&d->in));
    return d;
}

static void *create(const int *n)
{
    return create_with(n, false);
}

static void *create_flushed(const int *n)
{
    return create_with(n, true);
}

static void primal(void *p)
{
    data *d = p;
    d->m->loss.data[0] = 0.0;
    gmm_objective(d->m);
    d->loss = d->m->loss.data[0];
}

static void grad(void *p)
{
    data *d = p;
    tk_module_clear_grad(&d->m->tk);
    d->m->loss.grad[0] = 1.0;
    gmm_objective_grad(d->m);
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
    const int64_t kd = (int64_t)d->in.k * d->in.d, kl = (int64_t)d->in.k * d->in.d * (d->in.d - 1) / 2;
    double top = bench_difference(&d->loss, &d->out.loss, 1);
    top = fmax(top, bench_difference(d->m->alpha.grad, d->out.alpha, d->in.k));
    top = fmax(top, bench_difference(d->m->mu.grad, d->out.mu, kd));
    top = fmax(top, bench_difference(d->m->q.grad, d->out.q, kd));
    return fmax(top, bench_difference(d->m->l.grad, d->out.l, kl));
}

#define SIZES \
    {"n7 d3 K4", {7, 3, 4, 2}}, \
    { \
        {"d2 K5", {1000, 2, 5, 0}}, {"d10 K25", {1000, 10, 25, 0}}, {"d32 K25", {1000, 32, 25, 0}}, \
        { \
            "d64 K50", \
            { \
                1000, 64, 50, 0 \
            } \
        } \
    }

const bench_case bench_gmm = {"gmm", "kernel", "as known", SIZES, create, primal, grad, hand_grad, difference, destroy};
const bench_case bench_gmm_fused = {"gmm",  "kernel", "fused",         SIZES,      create,
                                    primal, grad,     hand_grad_fused, difference, destroy};
/* Weights of components that are far from a point are denormal numbers, with which processors take their time. */
const bench_case bench_gmm_flushed = {"gmm", "kernel, denormals flushed", "as known", SIZES,  create_flushed, primal,
                                      grad,  hand_grad_flushed,           difference, destroy};
