/* The solution is that of Gaussian elimination, and so is the derivative of the compliance by the load: twice the solution. */
#include <math.h>
#include <stdio.h>

#include "cg.h"

enum { N = 5, M = N * N };

static double face(double a, double b)
{
    return 2 * a * b / (a + b);
}

static void eliminate(double A[M][M], double *b)
{
    for (int k = 0; k < M; k++)
        for (int i = k + 1; i < M; i++) {
            const double f = A[i][k] / A[k][k];
            for (int j = k; j < M; j++)
                A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    for (int i = M - 1; i >= 0; i--) {
        for (int j = i + 1; j < M; j++)
            b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

static void direct(const cg *m, double *x)
{
    static double A[M][M];
    const int di[] = {-1, 1, 0, 0}, dj[] = {0, 0, -1, 1};
    for (int e = 0; e < M; e++) {
        const int i = e / N, j = e % N;
        for (int q = 0; q < M; q++)
            A[e][q] = 0;
        A[e][e] = 0.1;
        for (int k = 0; k < 4; k++) {
            const int a = i + di[k], b = j + dj[k];
            const bool inside = a >= 0 && a < N && b >= 0 && b < N;
            const double f = inside ? face(m->conductivity.data[e], m->conductivity.data[a * N + b]) : m->conductivity.data[e];
            A[e][e] += f;
            if (inside)
                A[e][a * N + b] -= f;
        }
        x[e] = m->rhs.data[e];
    }
    eliminate(A, x);
}

int main(void)
{
    cg *m = cg_create(NULL, NULL);
    double x[M];
    if (!m)
        return 1;
    for (int e = 0; e < M; e++) {
        m->conductivity.data[e] = 1 + e * 7 % 5 / 10.0;
        m->rhs.data[e] = (e * 3 % 7 - 3) / 3.0;
    }
    direct(m, x);
    TK_TAPE(m, m->compliance) cg_solve_to_residual(m);
    int wrong = 0;
    for (int e = 0; e < M; e++)
        wrong += !(fabs(m->solution.data[e] - x[e]) < 1e-10) || !(fabs(m->rhs.grad[e] - 2 * x[e]) < 1e-9);
    cg_solve_fixed(m);
    double left = 0, all = 0;
    for (int e = 0; e < M; e++) {
        left += (m->solution.data[e] - x[e]) * (m->solution.data[e] - x[e]);
        all += x[e] * x[e];
    }
    printf("%d wrong, after the fixed number of iterations %g\n%s\n", wrong, sqrt(left / all), cg_error(m));
    cg_destroy(m);
    return wrong > 0 || !(left < 1e-6 * all);
}
