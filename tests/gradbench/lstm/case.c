/* The case lstm: a text of random bits, and both gradients of its loss. */
#include <math.h>

#include "ours.h"
#include "hand.h"

enum { L = 2 };

typedef struct data {
    ours o;
    lstm_input in;
    lstm_output out;
    double *work;
} data;

static double draw_bit(uint64_t *state)
{
    return bench_uniform(state) < 0.5 ? 0.0 : 1.0;
}

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    ours *o = &d->o;
    uint64_t seed = 1024;
    begin(o, L, n[0]);
    bench_fill(o->gates, L * 8 * B, bench_uniform, &seed);
    bench_fill(o->extra, 3 * B, bench_uniform, &seed);
    bench_fill(o->state, 2 * L * B, bench_uniform, &seed);
    bench_fill(o->text, n[0] * B, draw_bit, &seed);
    d->in = (lstm_input){L, B, o->c, o->gates, o->extra, o->state, o->text};
    d->out = (lstm_output){0.0, bench_doubles(L * 8 * B), bench_doubles(3 * B)};
    d->work = bench_work(BENCH_HAND, lstm_hand_work(&d->in));
    return d;
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
    double top = bench_difference(&d->o.loss, &d->out.loss, 1);
    top = fmax(top, bench_difference(d->o.gradient, d->out.gates, L * 8 * B));
    return fmax(top, bench_difference(d->o.gradient + L * 8 * B, d->out.extra, 3 * B));
}

static const bench_size sizes[] = {{"l2 c7", {7}}, {"l2 c1024", {1024}}, {"l2 c4096", {4096}}, {0}};
const bench_case bench_lstm[] = {
    BENCH_CASE("lstm", "export func", "as known: Jacobians forwards", sizes, create, difference, primal, grad,
               hand_forward),
    BENCH_CASE("lstm", "export func", "reverse", sizes, create, difference, primal, grad, hand_reverse),
    {0}};
