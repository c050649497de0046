/* The gradient of ode.tk by hand. */
#ifndef ODE_HAND_H
#define ODE_HAND_H

/* Doubles of work. */
long ode_hand_work(int n, int steps);
/* y, and the gradient of the sum of seed[i] y[i]: backwards through the steps, each of which is made once more from its
 * y. (The known program has the solution's formula, which is no derivative of steps.) */
void ode_hand_grad(int n, int steps, const double *x, double *y, const double *seed, double *gradient, double *work);

#endif
