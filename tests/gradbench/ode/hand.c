#include "hand.h"

#include "by_hand.h"

/* Every array has one more element in front, the 1 that x_0 is multiplied with. */
typedef struct stages {
    double *restrict y2, *restrict y3, *restrict y4;
} stages;

long ode_hand_work(int n, int steps)
{
    return (long)(n + 1) * (steps + 1 + 3 + 5);
}

static void stage(int n, const double *restrict x, const double *restrict y, double h, const double *restrict from,
                  double *restrict to)
{
    for (int i = 0; i < n; i++)
        to[i] = y[i] + h * x[i] * from[i - 1];
}

static void make_stages(int n, const double *x, const double *y, double h, stages s)
{
    stage(n, x, y, 0.5 * h, y, s.y2);
    stage(n, x, y, 0.5 * h, s.y2, s.y3);
    stage(n, x, y, h, s.y3, s.y4);
}

static void step(int n, const double *restrict x, const double *restrict y, double h, stages s, double *restrict to)
{
    make_stages(n, x, y, h, s);
    for (int i = 0; i < n; i++)
        to[i] = y[i] + h / 6.0 * x[i] * (y[i - 1] + 2.0 * s.y2[i - 1] + 2.0 * s.y3[i - 1] + s.y4[i - 1]);
}

/* The gradient of one slope, w gy + h gto, goes to x and to what it was made of. */
static void slope_back(int n, const double *restrict x, const double *restrict from, double w,
                       const double *restrict gy, double h, const double *restrict gto, double *restrict gfrom,
                       double *restrict gx)
{
    for (int i = 0; i < n; i++) {
        const double g = w * gy[i] + h * gto[i];
        gx[i] += g * from[i - 1];
        gfrom[i - 1] = g * x[i];
    }
    gfrom[n - 1] = 0.0;
}

void ode_hand_grad(int n, int steps, const double *x, double *y, const double *seed, double *gradient, double *work)
{
    const double h = 2.0 / steps, w = h / 6.0;
    const long each = n + 1;
    double *all = work + 1; /* y before each step, and the last one */
    stages s = {all + (steps + 1) * each, all + (steps + 2) * each, all + (steps + 3) * each};
    double *restrict gy = s.y4 + each, *restrict g1 = gy + each, *restrict g2 = g1 + each, *restrict g3 = g2 + each,
                     *restrict g4 = g3 + each;
    memset(all, 0, (size_t)n * sizeof(double));
    for (int t = 0; t <= steps + 3; t++)
        all[t * each - 1] = 1.0;
    for (int t = 0; t < steps; t++)
        step(n, x, all + t * each, h, s, all + (t + 1) * each);
    memcpy(y, all + steps * each, (size_t)n * sizeof(double));
    memcpy(gy, seed, (size_t)n * sizeof(double));
    memset(gradient, 0, (size_t)n * sizeof(double));
    memset(g1, 0, (size_t)n * sizeof(double));
    for (int t = steps; t-- > 0;) {
        const double *before = all + t * each;
        make_stages(n, x, before, h, s);
        slope_back(n, x, s.y4, w, gy, 0.0, gy, g4, gradient);
        slope_back(n, x, s.y3, 2.0 * w, gy, h, g4, g3, gradient);
        slope_back(n, x, s.y2, 2.0 * w, gy, 0.5 * h, g3, g2, gradient);
        slope_back(n, x, before, w, gy, 0.5 * h, g2, g1, gradient);
        for (int i = 0; i < n; i++)
            gy[i] += g1[i] + g2[i] + g3[i] + g4[i];
    }
}
