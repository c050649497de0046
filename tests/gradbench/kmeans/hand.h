/* The Newton step of kmeans.tk by hand. */
#ifndef KMEANS_HAND_H
#define KMEANS_HAND_H

typedef struct kmeans_input {
    int n, k, d;
    const double *points, *centres;
} kmeans_input;

/* As the known program does it: the gradient by a centre is 2 (count * centre - sum of its points), the Hessian's
 * diagonal 2 count; step is their quotient. sums: k x d, counts: k. */
double kmeans_hand_step(const kmeans_input *in, double *step, double *sums, int *counts);

#endif
