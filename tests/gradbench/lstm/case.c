/* The case lstm: a text of random bits, and both gradients of its loss. */
#include <math.h>

#include "bench.h"
#include "lstm.h"
#include "hand.h"

enum { L = 2, B = 14 }; /* as in lstm.tk */

typedef struct data {
    lstm_input in;
    lstm_output out;
    double *gates, *extra, *state, *text;  /* what both read */
    double *gates_grad, *extra_grad, loss; /* ours */
    double *work;
    void *workspace;
} data;

static double draw_bit(uint64_t *state)
{
    return bench_uniform(state) < 0.5 ? 0.0 : 1.0;
}

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    const int c = n[0];
    uint64_t seed = 1024;
    d->gates = bench_doubles(L * 8 * B);
    d->extra = bench_doubles(3 * B);
    d->state = bench_doubles(2 * L * B);
    d->text = bench_doubles((int64_t)c * B);
    bench_fill(d->gates, L * 8 * B, bench_uniform, &seed);
    bench_fill(d->extra, 3 * B, bench_uniform, &seed);
    bench_fill(d->state, 2 * L * B, bench_uniform, &seed);
    bench_fill(d->text, (int64_t)c * B, draw_bit, &seed);
    d->in = (lstm_input){L, B, c, d->gates, d->extra, d->state, d->text};
    d->out = (lstm_output){0.0, bench_doubles(L * 8 * B), bench_doubles(3 * B)};
    d->gates_grad = bench_doubles(L * 8 * B);
    d->extra_grad = bench_doubles(3 * B);
    d->work = bench_work(BENCH_HAND, lstm_hand_work(&d->in));
    d->workspace = bench_work(BENCH_OURS, (int64_t)(lstm_loss_grad_WORKSPACE(c) / sizeof(double)) + 1);
    return d;
}

static void primal(void *p)
{
    data *d = p;
    lstm_loss(d->in.c, d->gates, d->extra, d->state, d->text, &d->loss);
}

static void grad(void *p)
{
    data *d = p;
    const double one = 1.0;
    for (int i = 0; i < L * 8 * B; i++)
        d->gates_grad[i] = 0.0;
    for (int i = 0; i < 3 * B; i++)
        d->extra_grad[i] = 0.0;
    lstm_loss_grad(d->in.c, d->gates, d->extra, d->state, d->text, NULL, &one, d->gates_grad, d->extra_grad, NULL, NULL,
                   d->workspace);
}

static void hand_forward(void *p)
{
    data *d = p;
    lstm_hand_forward(&d->in, &d->out, d->work);
}

static void hand_reverse(void *p)
{
    data *d = p;
    lstm_hand_reverse(&d->in, &d->out, d->work);
}

static double difference(void *p)
{
    const data *d = p;
    double top = bench_difference(&d->loss, &d->out.loss, 1);
    top = fmax(top, bench_difference(d->gates_grad, d->out.gates, L * 8 * B));
    return fmax(top, bench_difference(d->extra_grad, d->out.extra, 3 * B));
}

static const bench_size sizes[] = {{"l2 c7", {7}}, {"l2 c1024", {1024}}, {"l2 c4096", {4096}}, {0}};
const bench_case bench_lstm[] = {
    {"lstm", "export func", "as known: Jacobians forwards", sizes, create, {primal, grad, hand_forward}, difference},
    {"lstm", "export func", "reverse", sizes, create, {primal, grad, hand_reverse}, difference},
    {0}};
