/* Far from the beacons the filter is linear in what it measures; here the covariance is compared with the information form of the same update. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kalman.h"

/* B = inv(A), by Gauss and Jordan; A is positive definite. */
static void invert(double A[4][4], double B[4][4])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            B[i][j] = i == j;
    for (int k = 0; k < 4; k++) {
        const double p = A[k][k];
        for (int j = 0; j < 4; j++)
            A[k][j] /= p, B[k][j] /= p;
        for (int i = 0; i < 4; i++) {
            const double f = A[i][k];
            for (int j = 0; j < 4 && i != k; j++)
                A[i][j] -= f * A[k][j], B[i][j] -= f * B[k][j];
        }
    }
}

int main(void)
{
    kalman *m = kalman_create(NULL, NULL);
    if (!m)
        return 1;
    const double dt = 0.1, q = 0.1 * exp(0.5), r = 0.1 * exp(-0.25);
    m->noise.data[0][0] = 0.5;
    m->noise.data[0][1] = -0.25;
    m->beacon.data[0][0] = -1;
    m->beacon.data[1][1] = -0.5;
    for (int c = 0; c < 4; c++)
        m->start.data[0][c] = 0.5 + c * 0.25;
    for (int t = 0; t < 6; t++) {
        m->measured.data[t][0] = 1.5 + t * 0.1;
        m->measured.data[t][1] = t == 3 ? 50 : 1.25 + t * 0.1; /* one is an outlier */
    }
    kalman_filter(m, dt);
    int wrong = m->taken.data[3];
    for (int t = 0; t < 6; t++) {
        double P[4][4], A[4][4] = {{1, 0, dt, 0}, {0, 1, 0, dt}, {0, 0, 1, 0}, {0, 0, 0, 1}}, M[4][4] = {{0}}, W[4][4], at[4] = {0};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                P[i][j] = q * (i == j);
                at[i] += A[i][j] * m->track.data[t].at[j];
                for (int k = 0; k < 16; k++)
                    P[i][j] += A[i][k / 4] * m->track.data[t].P[k / 4][k % 4] * A[j][k % 4];
            }
        memcpy(W, P, sizeof P);
        invert(W, M);
        for (int k = 0; k < 2 && m->taken.data[t]; k++) {
            const double d[2] = {at[0] - m->beacon.data[k][0], at[1] - m->beacon.data[k][1]}, n = sqrt(d[0] * d[0] + d[1] * d[1] + 1e-4);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    M[i][j] += d[i] * d[j] / (n * n) / r;
        }
        invert(M, P);
        for (int e = 0; e < 16; e++)
            wrong += !(fabs(P[e / 4][e % 4] - m->track.data[t + 1].P[e / 4][e % 4]) < 1e-12);
    }
    printf("%d wrong\n%s\n", wrong, kalman_error(m));
    kalman_destroy(m);
    return wrong;
}
