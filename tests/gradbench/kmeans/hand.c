#include "hand.h"

#include "by_hand.h"

double kmeans_hand_step(const kmeans_input *in, double *step, double *restrict sums, int *restrict counts)
{
    const int k = in->k, d = in->d;
    double cost = 0.0;
    memset(sums, 0, (size_t)k * (size_t)d * sizeof(double));
    memset(counts, 0, (size_t)k * sizeof(int));
    for (long i = 0; i < in->n; i++) {
        const double *restrict x = in->points + i * d;
        double least = INFINITY;
        int best = 0;
        for (int c = 0; c < k; c++) {
            const double *restrict centre = in->centres + (long)c * d;
            double s = 0.0;
#pragma omp simd reduction(+ : s)
            for (int j = 0; j < d; j++)
                s += (x[j] - centre[j]) * (x[j] - centre[j]);
            best = s < least ? c : best;
            least = s < least ? s : least;
        }
        cost += least;
        counts[best]++;
        for (int j = 0; j < d; j++)
            sums[(long)best * d + j] += x[j];
    }
    for (int c = 0; c < k; c++)
        for (int j = 0; j < d; j++)
            step[c * d + j] = in->centres[c * d + j] - sums[c * d + j] / counts[c];
    return cost;
}
