#include "hand.h"

#include "by_hand.h"

static const double PI = 3.141592653589793;

/* Where the work arrays lie. */
typedef struct work {
    double *diagonal, *sum_q; /* K x D, K */
    double *term;             /* K: the terms of one point, then their weights */
    double *centred, *Qx;     /* K x D each */
    double *mu, *q, *l;       /* of one point: K x D, K x D, K x L */
} work;

static int below(const gmm_input *in)
{
    return in->d * (in->d - 1) / 2;
}

long gmm_hand_work(const gmm_input *in)
{
    return (long)in->k * (5L * in->d + below(in) + 2);
}

static work lay_out(const gmm_input *in, double *p)
{
    const long kd = (long)in->k * in->d, k = in->k;
    return (work){p,
                  p + kd,
                  p + kd + k,
                  p + kd + 2 * k,
                  p + 2 * kd + 2 * k,
                  p + 3 * kd + 2 * k,
                  p + 4 * kd + 2 * k,
                  p + 5 * kd + 2 * k};
}

/* The term of point x and component k, before it is exponentiated. */
static double term(const gmm_input *in, const work *w, const double *restrict x, int k)
{
    const int d = in->d;
    const double *restrict mu = in->mu + k * d, *restrict diagonal = w->diagonal + k * d,
                           *restrict l = in->l + (long)k * below(in);
    double *restrict c = w->centred + k * d, *restrict Qx = w->Qx + k * d;
    for (int j = 0; j < d; j++) {
        c[j] = x[j] - mu[j];
        Qx[j] = diagonal[j] * c[j];
    }
    for (int j = 0; j < d; j++) {
        const double cj = c[j];
        for (int i = j + 1; i < d; i++)
            Qx[i] += *l++ * cj;
    }
    double square = 0.0;
#pragma omp simd reduction(+ : square)
    for (int j = 0; j < d; j++)
        square += Qx[j] * Qx[j];
    return in->alpha[k] + w->sum_q[k] - 0.5 * square;
}

/* log(sum(exp(v))); v becomes its derivative. */
static double log_sum_exp(double *v, int n)
{
    double most = v[0], s = 0.0;
    for (int i = 1; i < n; i++)
        most = v[i] > most ? v[i] : most;
#pragma omp simd reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += v[i] = exp(v[i] - most);
    for (int i = 0; i < n; i++)
        v[i] /= s;
    return most + log(s);
}

static void begin(const gmm_input *in, gmm_output *out, const work *w)
{
    const long kd = (long)in->k * in->d;
    for (long i = 0; i < kd; i++)
        w->diagonal[i] = exp(in->q[i]);
    for (int k = 0; k < in->k; k++) {
        w->sum_q[k] = 0.0;
        for (int j = 0; j < in->d; j++)
            w->sum_q[k] += in->q[k * in->d + j];
    }
    out->loss = 0.0;
    memset(out->alpha, 0, (size_t)in->k * sizeof(double));
    memset(out->mu, 0, (size_t)kd * sizeof(double));
    memset(out->q, 0, (size_t)kd * sizeof(double));
    memset(out->l, 0, (size_t)in->k * (size_t)below(in) * sizeof(double));
}

/* What does not depend on the points. */
static void finish(const gmm_input *in, gmm_output *out, const work *w)
{
    const double g = in->gamma * in->gamma, dof = in->d + in->m + 1;
    double prior = 0.0, gamma_d = 0.25 * in->d * (in->d - 1) * log(PI);
    for (int k = 0; k < in->k; k++) {
        w->term[k] = in->alpha[k];
        for (int j = 0; j < in->d; j++) {
            const long at = (long)k * in->d + j;
            prior += in->m * in->q[at] - 0.5 * g * w->diagonal[at] * w->diagonal[at];
            out->q[at] += in->m - g * w->diagonal[at] * w->diagonal[at];
        }
    }
    for (long i = 0; i < (long)in->k * below(in); i++) {
        prior -= 0.5 * g * in->l[i] * in->l[i];
        out->l[i] -= g * in->l[i];
    }
    for (int j = 0; j < in->d; j++)
        gamma_d += lgamma(0.5 * (dof - j));
    const double all = log_sum_exp(w->term, in->k);
    for (int k = 0; k < in->k; k++)
        out->alpha[k] -= in->n * w->term[k];
    out->loss += prior + in->k * (dof * in->d * log(in->gamma / sqrt(2.0)) - gamma_d) -
                 in->n * (0.5 * in->d * log(2.0 * PI) + all);
}

/* The derivatives of one term, times the weight, set or added. Of mu, the product of Q's transpose with Qx. */
static inline void derivatives(const gmm_input *in, const work *w, int k, double weight, double *restrict mu,
                               double *restrict q, double *restrict dl, int add)
{
    const int d = in->d;
    const double *restrict diagonal = w->diagonal + k * d, *restrict l = in->l + (long)k * below(in);
    const double *restrict c = w->centred + k * d, *restrict Qx = w->Qx + k * d;
    for (int j = 0; j < d; j++) {
        const double cj = -weight * c[j], old = add ? mu[j] : 0.0;
        q[j] = (add ? q[j] : 0.0) + weight + diagonal[j] * cj * Qx[j];
        double s = diagonal[j] * Qx[j];
        const int rows = d - j - 1;
        const double *restrict y = Qx + j + 1;
#pragma omp simd reduction(+ : s)
        for (int i = 0; i < rows; i++) {
            s += l[i] * y[i];
            dl[i] = (add ? dl[i] : 0.0) + cj * y[i];
        }
        mu[j] = old + weight * s;
        l += rows;
        dl += rows;
    }
}

void gmm_hand_grad(const gmm_input *in, gmm_output *out, double *space)
{
    const work w = lay_out(in, space);
    const int d = in->d;
    const long L = below(in);
    begin(in, out, &w);
    for (int i = 0; i < in->n; i++) {
        for (int k = 0; k < in->k; k++) {
            w.term[k] = term(in, &w, in->x + (long)i * d, k);
            derivatives(in, &w, k, 1.0, w.mu + k * d, w.q + k * d, w.l + k * L, 0);
        }
        out->loss += log_sum_exp(w.term, in->k);
        for (int k = 0; k < in->k; k++) {
            const double weight = w.term[k];
            out->alpha[k] += weight;
            for (int j = 0; j < d; j++) {
                out->mu[k * d + j] += weight * w.mu[k * d + j];
                out->q[k * d + j] += weight * w.q[k * d + j];
            }
            for (long j = 0; j < L; j++)
                out->l[k * L + j] += weight * w.l[k * L + j];
        }
    }
    finish(in, out, &w);
}

void gmm_hand_grad_fused(const gmm_input *in, gmm_output *out, double *space)
{
    const work w = lay_out(in, space);
    const int d = in->d;
    const long L = below(in);
    begin(in, out, &w);
    for (int i = 0; i < in->n; i++) {
        for (int k = 0; k < in->k; k++)
            w.term[k] = term(in, &w, in->x + (long)i * d, k);
        out->loss += log_sum_exp(w.term, in->k);
        for (int k = 0; k < in->k; k++) {
            out->alpha[k] += w.term[k];
            derivatives(in, &w, k, w.term[k], out->mu + k * d, out->q + k * d, out->l + k * L, 1);
        }
    }
    finish(in, out, &w);
}
