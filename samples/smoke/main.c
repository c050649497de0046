/* What sets air in motion at first, one velocity a cell, is optimised so that the smoke in it is letters at the end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "smoke.h"
#include "sample.h"

typedef struct air {
    sample s; /* first */
    smoke *m;
    int solver, sweeps;
    double tolerance, lift;
    float *pixels;
} air;

/* A few slow waves, each across its direction. In air at rest all would stand exactly on grid points, where values
 * between the points have kinks. */
static void swirl(const sample *s, smoke *m)
{
    uint64_t seed = (uint64_t)s->seed;
    for (int k = 0; k < 6; k++) {
        const double across = 1 + k % 2, up = 2 - k % 3, phase = 2.0 * M_PI * random_uniform(&seed);
        const double amplitude = 0.03 * random_normal(&seed);
        for (int i = 0; i < s->size; i++)
            for (int j = 0; j < s->size; j++) {
                const double a = amplitude * sin(2.0 * M_PI * (across * i + up * j) / s->size + phase);
                m->push.data[smoke_idx_push(m, i, j)][0] += (smoke_real)(-up * a);
                m->push.data[smoke_idx_push(m, i, j)][1] += (smoke_real)(across * a);
            }
    }
}

static bool create(sample *s)
{
    air *a = (air *)s;
    smoke_params p = smoke_defaults();
    p.N = s->size;
    p.STEPS = s->steps;
    p.SWEEPS = a->sweeps;
    p.TOLERANCE = (smoke_real)a->tolerance;
    if (s->size & (s->size - 1)) {
        fprintf(stderr, "%s: --size is a power of two\n", s->name);
        return false;
    }
    smoke *m = a->m = smoke_create(s->session, &p);
    a->pixels = calloc((size_t)s->size * (size_t)s->size, 3 * sizeof *a->pixels);
    if (!m || !a->pixels) {
        fprintf(stderr, "%s: %s\n", s->name, m ? "out of memory" : tk_error());
        return false;
    }
    smoke_images(m);
    swirl(s, m);
    return true;
}

static void project(const air *a, int t)
{
    smoke_diverge(a->m);
    if (a->solver)
        smoke_exact(a->m);
    else
        smoke_jacobi(a->m);
    smoke_project(a->m, t);
}

static double run(sample *s)
{
    const air *a = (air *)s;
    smoke *m = a->m;
    smoke_params p = m->params;
    p.LIFT = (smoke_real)a->lift;
    smoke_set_params(m, &p);
    TK_TAPE(m, m->loss)
    {
        smoke_begin(m);
        project(a, 0);
        for (int t = 0; t < s->steps; t++) {
            smoke_advect(m, t);
            project(a, t + 1);
        }
        smoke_measure(m);
    }
    return (double)m->loss.data[0];
}

/* What the velocity of the air is, or with derivatives minus that of the loss: arrows in the middles of some cells. */
static void draw_arrows(const sample *s, cairo_t *c, int step)
{
    const smoke *m = ((const air *)s)->m;
    const int n = s->size, apart = n / 16 ? n / 16 : 1;
    double unit = 0.25 / n * s->steps;
    if (s->show_gradient) {
        double most = 1e-30;
        for (int k = 0; k < n * n; k++)
            most = fmax(most, hypot((double)m->push.grad[k][0], (double)m->push.grad[k][1]));
        unit = -0.25 / most;
    }
    draw_colour(c, s->show_gradient ? RED : GOLD, 0.8);
    for (int i = apart / 2; i < n; i += apart)
        for (int j = apart / 2; j < n; j += apart) {
            const smoke_real *v = s->show_gradient ? m->push.grad[smoke_idx_push(m, i, j)]
                                                   : m->q.data[smoke_idx_q(m, step, i, j)];
            const double x = (i + 0.5) / n, y = (j + 0.5) / n;
            draw_arrow(c, x, y, x + unit * (double)v[0], y + unit * (double)v[1], 0.004);
        }
}

static void draw(sample *s, cairo_t *c, int step)
{
    const air *a = (air *)s;
    const int n = s->size;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double thick = (double)a->m->q.data[smoke_idx_q(a->m, step, i, j)][2];
            float *pixel = a->pixels + 3 * ((n - 1 - j) * n + i);
            pixel[0] = (float)(0.98 + thick * (INK.r - 0.98));
            pixel[1] = (float)(0.975 + thick * (INK.g - 0.975));
            pixel[2] = (float)(0.96 + thick * (BLUE.b - 0.96));
        }
    draw_image(c, n, n, a->pixels, 1.0);
    draw_arrows(s, c, step);
    cairo_set_line_width(c, 0.008);
    cairo_rectangle(c, 0.0, 0.0, 1.0, 1.0);
    draw_colour(c, INK, 1.0);
    cairo_stroke(c);
}

static void destroy(sample *s)
{
    air *a = (air *)s;
    free(a->pixels);
    smoke_destroy(a->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"push", NULL};
    air a = {.sweeps = 10, .tolerance = sizeof(smoke_real) == 4 ? 1e-5 : 1e-12};
    const struct poptOption options[] = {
        {"solver", 0, POPT_ARG_NONE, &a.solver, 0, "pressure by conjugate gradients, with an implicit gradient", NULL},
        {"tolerance", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &a.tolerance, 0, "of --solver", "X"},
        {"sweeps", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &a.sweeps, 0, "of Jacobi's method, an even number",
         "N"},
        {"lift", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &a.lift, 0, "of smoke, in cells a step, each step",
         "X"},
        POPT_TABLEEND};
    const sample_knob knobs[] = {{"lift", &a.lift, 0.0, 0.02}, {NULL, NULL, 0.0, 0.0}};
    a.s = (sample){.name = "smoke",
                   .about = "the air's first velocity, so that smoke becomes an image",
                   .loss = "mean square of what differs from the image",
                   .size = 128,
                   .size_means = "cells along a side, a power of two",
                   .least_size = 16,
                   .steps = 100,
                   .iterations = 100,
                   .rate = 0.015,
                   .threads = 1,
                   .options = options,
                   .parameters = parameters,
                   .method = ADAM,
                   .knobs = knobs,
                   .create = create,
                   .run = run,
                   .draw = draw,
                   .destroy = destroy};
    return sample_main(&a.s, argc, argv);
}
