/* Pixels on a shared edge belong to one triangle, those on the border of a square to two of its sides; of triangles at the same depth the first one is seen. */
#include <math.h>
#include <stdio.h>

#include "raster.h"

enum { W = 5, TRIANGLES = 4 };

static int covered(raster *m, const int (*corners)[3], int n)
{
    int pixels = 0;
    for (int t = 0; t < TRIANGLES; t++)
        for (int c = 0; c < 3; c++)
            m->corner.data[t][c] = corners[t < n ? t : 0][c];
    raster_render(m);
    for (int i = 0; i < W * W; i++)
        pixels += m->depth.data[i] < 9;
    return pixels;
}

int main(void)
{
    raster *m = raster_create(NULL, NULL);
    if (!m)
        return 1;
    const double square[4][3] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    const int both[2][3] = {{0, 1, 2}, {0, 2, 3}}, same[2][3] = {{3, 4, 5}, {0, 1, 2}};
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            m->vertex.data[k][c] = square[k][c];
    const int one = covered(m, both, 1), other = covered(m, both + 1, 1), all = covered(m, both, 2);
    int wrong = one + other != all || all != (W - 1) * (W - 1);
    for (int k = 0; k < 6; k++)
        for (int c = 0; c < 3; c++) {
            m->vertex.data[k][c] = k < 3 ? square[k][c] * (c == 2 ? 1 : 0.75) : m->vertex.data[k - 3][c];
            m->colour.data[k][c] = k / 3 + 0.25 * c;
        }
    const int twice = covered(m, same, 2);
    raster_project(m);
    raster_draw_depth(m);
    raster_shade(m);
    tk_module_clear_grad(&m->tk);
    for (int i = 0; i < W * W; i++) {
        m->depth.grad[i] = 1;
        m->image.grad[i][0] = 1;
        wrong += m->shown.data[i] > 0;
    }
    raster_shade_grad(m);
    raster_draw_depth_grad(m);
    raster_project_grad(m);
    double seen = 0, hidden = 0;
    for (int k = 0; k < 6; k++)
        for (int c = 0; c < 3; c++)
            *(k < 3 ? &hidden : &seen) += fabs(m->vertex.grad[k][c]) + fabs(m->colour.grad[k][c]);
    wrong += hidden != 0 || !(seen > twice);
    printf("%d wrong; %d and %d pixels of %d; hidden %g, seen %g\n%s\n", wrong, one, other, all, hidden, seen, raster_error(m));
    raster_destroy(m);
    return wrong;
}
