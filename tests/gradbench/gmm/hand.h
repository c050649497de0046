/* The gradient of gmm.tk by hand. */
#ifndef GMM_HAND_H
#define GMM_HAND_H

typedef struct gmm_input {
    int n, d, k, m;
    double gamma;
    const double *alpha, *mu, *q, *l, *x;
} gmm_input;

typedef struct gmm_output {
    double loss, *alpha, *mu, *q, *l;
} gmm_output;

/* Doubles of work that both functions take. */
long gmm_hand_work(const gmm_input *in);
/* As the known programs do it: the derivatives of a point's K terms are computed first, and added by their weights when
 * these are known. */
void gmm_hand_grad(const gmm_input *in, gmm_output *out, double *work);
/* The terms alone are computed first; then what belongs to a component is added at once, by its weight. */
void gmm_hand_grad_fused(const gmm_input *in, gmm_output *out, double *work);

#endif
