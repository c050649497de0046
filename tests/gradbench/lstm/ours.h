/* lstm by tkc, an export func for each number of layers. */
#ifndef LSTM_OURS_H
#define LSTM_OURS_H

#include "bench.h"
#include "lstm.h"
#include "lstm_l4.h"
#include "lstm_l6.h"

enum { B = 14 }; /* as in lstm.tk */

/* The gradient is by gates, then by extra. */
typedef struct ours {
    int l, c;
    double *gates, *extra, *state, *text, *gradient, loss;
    void *workspace;
} ours;

/* l: 2, 4 or 6 */
static void begin(ours *o, int l, int64_t c)
{
    o->l = l;
    o->c = (int)c;
    o->gates = bench_doubles(8 * l * B);
    o->extra = bench_doubles(3 * B);
    o->state = bench_doubles(2 * l * B);
    o->text = bench_doubles(c * B);
    o->gradient = bench_doubles((8 * l + 3) * B);
    o->workspace = bench_workspace(l == 2   ? lstm_loss_grad_WORKSPACE(c)
                                   : l == 4 ? lstm_l4_loss_grad_WORKSPACE(c)
                                            : lstm_l6_loss_grad_WORKSPACE(c));
}

static void primal(void *p)
{
    ours *o = p;
    (o->l == 2   ? lstm_loss
     : o->l == 4 ? lstm_l4_loss
                 : lstm_l6_loss)(o->c, o->gates, o->extra, o->state, o->text, &o->loss);
}

static void grad(void *p)
{
    ours *o = p;
    const double one = 1.0;
    double *extra = o->gradient + 8 * o->l * B;
    for (int i = 0; i < (8 * o->l + 3) * B; i++)
        o->gradient[i] = 0.0;
    (o->l == 2   ? lstm_loss_grad
     : o->l == 4 ? lstm_l4_loss_grad
                 : lstm_l6_loss_grad)(o->c, o->gates, o->extra, o->state, o->text, NULL, &one, o->gradient, extra, NULL,
                                      NULL, o->workspace);
}

#endif
