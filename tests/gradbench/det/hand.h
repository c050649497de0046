/* The gradient of det.tk by hand. */
#ifndef DET_HAND_H
#define DET_HAND_H

enum { DET_MOST = 11 };

/* The determinant of an n x n matrix; as the known program does it, each element's derivative is its cofactor, a
 * determinant by minors of its own. */
double det_hand_cofactors(int n, const double *A, double *gradient);
/* One walk through all minors, which knows the product of what leads to each. */
double det_hand_walk(int n, const double *A, double *gradient);

#endif
