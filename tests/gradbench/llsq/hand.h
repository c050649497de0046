/* The gradient of llsq.tk by hand. */
#ifndef LLSQ_HAND_H
#define LLSQ_HAND_H

/* The value; as the known program does it, the powers are computed once more on the way back. */
double llsq_hand_grad(int n, int m, const double *x, double *gradient);
/* The same, with the powers of a point kept in `powers`, of m. */
double llsq_hand_grad_kept(int n, int m, const double *x, double *gradient, double *powers);

#endif
