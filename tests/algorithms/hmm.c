/* All paths, one by one. */
#include <math.h>
#include <stdio.h>

#include "hmm.h"

enum { S = 3, KINDS = 4, T = 6, SEQUENCES = 3, PATHS = 729 };

static double part(const double *w, int n, int k)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += exp(w[i]);
    return exp(w[k]) / s;
}

int main(void)
{
    hmm *m = hmm_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < S; i++)
        m->start.data[i] = i * 2 % 3 * 0.1;
    for (int i = 0; i < S * S; i++)
        m->move.data[i] = i * 4 % 7 / 10.0;
    for (int i = 0; i < S * KINDS; i++)
        m->emit.data[i] = (i * 5 % 7 - 3) / 3.0;
    for (int i = 0; i < SEQUENCES * T; i++)
        m->seen.data[i] = i * i % KINDS;
    hmm_viterbi(m);
    hmm_forward(m);
    tk_module_clear_grad(&m->tk);
    for (int q = 0; q < SEQUENCES; q++)
        m->log_p.grad[q] = 1;
    hmm_forward_grad(m);
    int wrong = 0;
    double first[S] = {0}, prior[S];
    for (int k = 0; k < S; k++)
        prior[k] = part(m->start.data, S, k);
    for (int q = 0; q < SEQUENCES; q++) {
        double sum = 0, top = 0, began[S] = {0};
        for (int path = 0; path < PATHS; path++) {
            double p = 1;
            for (int t = 0, code = path, last = 0; t < T; t++, code /= S) {
                const int k = code % S;
                p *= t ? part(m->move.data + last * S, S, k) : prior[k];
                p *= part(m->emit.data + k * KINDS, KINDS, m->seen.data[q * T + t]);
                last = k;
            }
            sum += p;
            top = fmax(top, p);
            began[path % S] += p;
        }
        wrong += !(fabs(m->log_p.data[q] - log(sum)) < 1e-12) || !(fabs(m->best.data[q] - log(top)) < 1e-12);
        for (int k = 0; k < S; k++)
            first[k] += began[k] / sum - prior[k]; /* posterior less prior: the gradient of a softmax's score */
    }
    for (int k = 0; k < S; k++)
        wrong += !(fabs(m->start.grad[k] - first[k]) < 1e-12);
    printf("%d wrong\n%s\n", wrong, hmm_error(m));
    hmm_destroy(m);
    return wrong;
}
