/* Every ray against every triangle. */
#include <math.h>
#include <stdio.h>

#include "bvh.h"

enum { TRIANGLES = 6, RAYS = 8 };

static double det(const double *a, const double *b, const double *c)
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

int main(void)
{
    bvh *m = bvh_create(NULL, NULL);
    if (!m)
        return 1;
    int wrong = 0, hits = 0;
    for (int round = 0; round < 30; round++) {
        for (int k = 0; k < TRIANGLES * 9; k++)
            m->vertex.data[k / 3][k % 3] = (k * k * (round + 3) % 13 - 6) * 0.1;
        for (int r = 0; r < RAYS; r++)
            for (int c = 0; c < 2; c++)
                m->slope.data[r][c] = ((r * 3 + c + round) % 7 - 3) * 0.1;
        bvh_render(m);
        for (int r = 0; r < RAYS; r++) {
            const double o[3] = {0.05 * r - 0.2, 0.1, -3}, back[3] = {-0.3 * m->slope.data[r][0] - 0.01, -0.3 * m->slope.data[r][1] - 0.013, -1};
            double nearest = 10;
            bool edge = false;
            for (int k = 0; k < TRIANGLES; k++) { /* o - a = t back + u e + v f, by Cramer's rule */
                double s[3], e[3], f[3];
                for (int c = 0; c < 3; c++) {
                    const double a = m->vertex.data[3 * k][c];
                    s[c] = o[c] - a;
                    e[c] = m->vertex.data[3 * k + 1][c] - a;
                    f[c] = m->vertex.data[3 * k + 2][c] - a;
                }
                const double d = det(back, e, f), t = det(s, e, f) / d, u = det(back, s, f) / d, v = det(back, e, s) / d;
                edge |= fabs(u) < 1e-9 || fabs(v) < 1e-9 || fabs(u + v - 1) < 1e-9;
                if (u >= 0 && v >= 0 && u + v <= 1 && t > 0 && t < nearest)
                    nearest = t;
            }
            wrong += !edge && !(fabs(nearest - m->distance_.data[r]) < 1e-9);
            hits += nearest < 10;
        }
    }
    printf("%d wrong, %d hits\n%s\n", wrong, hits, bvh_error(m));
    bvh_destroy(m);
    return wrong || hits < 20;
}
