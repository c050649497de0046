/* Which texels are taken: computed here by the same operations, each rounded by itself, as C does without contraction. */
#include <math.h>
#include <stdio.h>

#include "texture.h"

enum { N = 12 };

int main(void)
{
    texture *m = texture_create(NULL, NULL);
    if (!m)
        return 1;
    static double want[17 * 17], weight[17 * 17];
    int wrong = 0;
    for (int shift = 0; shift < 40; shift++) {
        for (int i = 0; i < N; i++) {
            const int k = shift * N + i;
            m->uv.data[i][0] = shift < 20 ? k % 16 / 10.0 : k % 16 * 0.1;
            m->uv.data[i][1] = shift < 20 ? k / 16 % 16 / 10.0 : k / 16 % 16 * 0.1;
        }
        for (int t = 0; t < 17 * 17; t++)
            m->picture.data[t] = t * 5 % 11 * 0.1;
        texture_bilinear(m);
        texture_by_cast(m);
        texture_pixelated(m);
        tk_module_clear_grad(&m->tk);
        for (int t = 0; t < 17 * 17; t++)
            want[t] = weight[t] = 0;
        for (int i = 0; i < N; i++) {
            m->colour.grad[i] = m->nearest.grad[i] = m->blocks.grad[i] = 1;
            const volatile double x = m->uv.data[i][0] / 0.1, y = m->uv.data[i][1] / 0.1;
            const int a = (int)floor(x), b = (int)floor(y);
            const double f = x - a, g = y - b;
            for (int k = 0; k < 4; k++)
                want[(a + k % 2) * 17 + b + k / 2] += (k % 2 ? f : 1 - f) * (k / 2 ? g : 1 - g);
            weight[a * 17 + b] += 2 * m->picture.data[a * 17 + b];
            weight[(int)x * 17 + (int)round(y)] += m->uv.data[i][0];
        }
        texture_bilinear_grad(m);
        texture_by_cast_grad(m);
        texture_pixelated_grad(m);
        for (int t = 0; t < 17 * 17; t++)
            wrong += !(fabs(m->picture.grad[t] - want[t] - weight[t]) < 1e-12);
    }
    printf("%d wrong\n%s\n", wrong, texture_error(m));
    texture_destroy(m);
    return wrong > 0;
}
