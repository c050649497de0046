/* The recursion, and for the gradient by the first series the expected alignment, computed backwards as in the paper. */
#include <math.h>
#include <stdio.h>

#include "soft_dtw.h"

enum { N = 6, M = 5 };

static double cost(const soft_dtw *m, int p, int i, int j)
{
    const double x = m->a.data[i][0] - m->b.data[p * M + j][0], y = m->a.data[i][1] - m->b.data[p * M + j][1];
    return x * x + y * y;
}

int main(void)
{
    soft_dtw *m = soft_dtw_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < N; i++)
        m->a.data[i][0] = i * 3 % 5 * 0.1, m->a.data[i][1] = i * 2 % 3 / 3.0;
    for (int i = 0; i < 2 * M; i++)
        m->b.data[i][0] = i * 2 % 7 * 0.1, m->b.data[i][1] = i * 5 % 3 / 3.0;
    m->gamma.data[0] = 0.5;
    const double g = 0.1 + 0.25;
    soft_dtw_soft(m);
    tk_module_clear_grad(&m->tk);
    for (int p = 0; p < 2; p++)
        m->distance_.grad[p] = 1;
    soft_dtw_soft_grad(m);
    double want[N][2] = {{0}};
    int wrong = 0;
    for (int p = 0; p < 2; p++) {
        double R[N + 2][M + 2], E[N + 2][M + 2] = {{0}};
        for (int i = 0; i <= N; i++)
            for (int j = 0; j <= M; j++)
                R[i][j] = i + j == 0 ? 0 : i == 0 || j == 0 ? 1e10
                        : cost(m, p, i - 1, j - 1) - g * log(exp(-R[i - 1][j] / g) + exp(-R[i][j - 1] / g) + exp(-R[i - 1][j - 1] / g));
        wrong += !(fabs(R[N][M] - m->distance_.data[p]) < 1e-12);
        for (int i = N; i >= 1; i--)
            for (int j = M; j >= 1; j--) {
                E[i][j] = i == N && j == M;
                for (int k = 1; k < 4; k++) {
                    const int a = i + k / 2, b = j + k % 2;
                    if (a <= N && b <= M)
                        E[i][j] += E[a][b] * exp((R[a][b] - R[i][j] - cost(m, p, a - 1, b - 1)) / g);
                }
                for (int c = 0; c < 2; c++)
                    want[i - 1][c] += E[i][j] * 2 * (m->a.data[i - 1][c] - m->b.data[p * M + j - 1][c]);
            }
    }
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++)
            wrong += !(fabs(want[i][c] - m->a.grad[i][c]) < 1e-11);
    printf("%d wrong\n%s\n", wrong, soft_dtw_error(m));
    soft_dtw_destroy(m);
    return wrong;
}
