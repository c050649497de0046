/* The same density by Gaussian elimination. */
#include <math.h>
#include <stdio.h>

#include "cholesky.h"

enum { N = 7 };

int main(void)
{
    cholesky *m = cholesky_create(NULL, NULL);
    if (!m)
        return 1;
    const double amplitude = 1.25, length = 0.75, noise = 0.5;
    m->scales.data[0].amplitude = amplitude;
    m->scales.data[0].length = length;
    m->scales.data[0].noise = noise;
    double A[N][N], b[N], log_det = 0, square = 0;
    for (int i = 0; i < N; i++) {
        m->t.data[i] = i * 4 % 7 / 3.0;
        m->value.data[i] = (i * 3 % 5 - 2) * 0.1;
    }
    for (int i = 0; i < N; i++) {
        b[i] = m->value.data[i];
        for (int j = 0; j < N; j++) {
            const double r = (m->t.data[i] - m->t.data[j]) / length;
            A[i][j] = amplitude * amplitude * exp(-0.5 * r * r) + (i == j ? noise * noise + 10 : 0);
        }
    }
    for (int k = 0; k < N; k++) {
        log_det += log(A[k][k]);
        for (int i = k + 1; i < N; i++) {
            const double f = A[i][k] / A[k][k];
            for (int j = k; j < N; j++)
                A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
        square += b[k] * b[k] / A[k][k];
    }
    const double want = -0.5 * square - 0.5 * log_det - 0.5 * N * log(2 * acos(-1));
    cholesky_log_evidence(m);
    const double got = m->evidence.data[0];
    printf("%.15g, by elimination %.15g\n%s\n", got, want, cholesky_error(m));
    cholesky_destroy(m);
    return !(fabs(got - want) < 1e-11 * fabs(want));
}
