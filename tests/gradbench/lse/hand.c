#include "hand.h"

#include "by_hand.h"

double lse_hand_grad(long n, const double *restrict x, double *restrict gradient)
{
    double most = x[0], s = 0.0;
#pragma omp simd reduction(max : most)
    for (long i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
#pragma omp simd reduction(+ : s)
    for (long i = 0; i < n; i++)
        s += gradient[i] = exp(x[i] - most);
    const double f = 1.0 / s;
    for (long i = 0; i < n; i++)
        gradient[i] *= f;
    return most + log(s);
}
