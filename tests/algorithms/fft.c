/* Both transforms against the sum of the definition; forth and back; and the theorem of Parseval for the gradient of the energy. */
#include <math.h>
#include <stdio.h>

#include "fft.h"

enum { N = 16 };

static int differs(const fft *m, const double (*from)[2], double direction)
{
    int wrong = 0;
    for (int k = 0; k < N; k++) {
        double re = 0, im = 0;
        for (int j = 0; j < N; j++) {
            const double a = direction * 2 * acos(-1) * j * k / N;
            re += from[j][0] * cos(a) - from[j][1] * sin(a);
            im += from[j][0] * sin(a) + from[j][1] * cos(a);
        }
        wrong += !(fabs(m->spectrum.data[k][0] - re) < 1e-12) || !(fabs(m->spectrum.data[k][1] - im) < 1e-12);
    }
    return wrong;
}

int main(void)
{
    fft *m = fft_create(NULL, NULL);
    double x[N][2];
    if (!m)
        return 1;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++) {
            m->signal.data[i][c] = x[i][c] = ((i * 5 + c * 3) % 9 - 4) / 3.0;
            m->spectrum.data[i][c] = x[i][c];
        }
    fft_in_place(m, -1);
    int wrong = differs(m, (const double(*)[2])x, -1);
    fft_in_place(m, 1);
    for (int i = 0; i < N; i++)
        wrong += !(fabs(m->spectrum.data[i][0] - N * x[i][0]) < 1e-12);
    fft_by_stages(m);
    wrong += differs(m, (const double(*)[2])x, -1);
    tk_module_clear_grad(&m->tk);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++)
            m->spectrum.grad[i][c] = 2 * m->spectrum.data[i][c];
    fft_by_stages_grad(m);
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++)
            wrong += !(fabs(m->signal.grad[i][c] - 2 * N * x[i][c]) < 1e-11);
    printf("%d wrong\n%s\n", wrong, fft_error(m));
    fft_destroy(m);
    return wrong;
}
