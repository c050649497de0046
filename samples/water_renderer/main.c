/* The first height of water is optimised so that, once waves have run, the tiles of the ground are seen as letters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "water_renderer.h"
#include "sample.h"

typedef water_renderer water;

typedef struct pool {
    sample s; /* first */
    water *m;
    int tiles;
    double courant, damping, depth, refraction;
    float *pixels;
} pool;

/* What the sliders change between two episodes. */
static void set_params(const pool *b)
{
    water_renderer_params p = b->m->params;
    p.COURANT = (water_renderer_real)b->courant;
    p.DAMPING = (water_renderer_real)b->damping;
    p.DEPTH = (water_renderer_real)b->depth;
    p.INDEX = (water_renderer_real)b->refraction;
    water_renderer_set_params(b->m, &p);
}

static bool create(sample *s)
{
    pool *b = (pool *)s;
    water_renderer_params p = water_renderer_defaults();
    p.N = s->size;
    p.STEPS = s->steps;
    p.TILES = b->tiles;
    water *m = b->m = water_renderer_create(s->session, &p);
    b->pixels = calloc((size_t)s->size * (size_t)s->size, 3 * sizeof *b->pixels);
    if (!m || !b->pixels) {
        fprintf(stderr, "%s: %s\n", s->name, m ? "out of memory" : tk_error());
        return false;
    }
    water_renderer_paint(m);
    const int n = (int)m->knots.shape[0];
    for (int i = 0; i < n; i++) /* a drop */
        for (int j = 0; j < n; j++) {
            const double x = p.APART * (j - 1.0) / s->size - 0.5, y = p.APART * (i - 1.0) / s->size - 0.5;
            m->knots.data[i * n + j] = (water_renderer_real)(2.0 * exp(-200.0 * (x * x + y * y)));
        }
    return true;
}

static double run(sample *s)
{
    const pool *b = (pool *)s;
    water *m = b->m;
    set_params(b);
    TK_TAPE(m, m->loss)
    {
        water_renderer_raise(m);
        water_renderer_begin(m);
        for (int t = 1; t < s->steps; t++)
            water_renderer_step(m, t);
        water_renderer_render(m, s->steps);
        water_renderer_compare(m);
    }
    return (double)m->loss.data[0];
}

static void draw(sample *s, cairo_t *c, int step)
{
    const pool *b = (pool *)s;
    water *m = b->m;
    const int n = s->size;
    double most = 1e-30;
    for (int64_t k = 0; s->show_gradient && k < tk_field_count(m->knots.field); k++)
        most = fmax(most, fabs((double)m->knots.grad[k]));
    water_renderer_render(m, step);
    for (int k = 0; k < n * n; k++) {
        const int64_t knot = water_renderer_idx_knots(m, k / n / m->params.APART + 1, k % n / m->params.APART + 1);
        const double g = s->show_gradient ? -(double)m->knots.grad[knot] / most : 0.0;
        const double full[] = {g > 0.0 ? BLUE.r : RED.r, g > 0.0 ? BLUE.g : RED.g, g > 0.0 ? BLUE.b : RED.b};
        for (int q = 0; q < 3; q++) /* with derivatives: where the water wants to be higher at first, and lower */
            b->pixels[3 * k + q] = (float)((1.0 - fabs(g)) * (double)m->image.data[k][q] + fabs(g) * full[q]);
    }
    draw_image(c, n, n, b->pixels, 1.0);
    cairo_set_line_width(c, 0.008);
    cairo_rectangle(c, 0.0, 0.0, 1.0, 1.0);
    draw_colour(c, INK, 1.0);
    cairo_stroke(c);
}

static void destroy(sample *s)
{
    free(((pool *)s)->pixels);
    water_renderer_destroy(((pool *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"knots", NULL};
    pool b = {.courant = 0.5, .depth = 0.25, .refraction = 1.33, .tiles = 16};
    const struct poptOption options[] = {
        {"tiles", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &b.tiles, 0, "along a side", "N"},
        {"depth", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &b.depth, 0, "of the water; it is 1 wide", "X"},
        {"index", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &b.refraction, 0, "of refraction", "X"},
        {"courant", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &b.courant, 0, "cells that a wave goes a step",
         "X"},
        {"damping", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &b.damping, 0, "of short waves", "X"},
        POPT_TABLEEND};
    const sample_knob knobs[] = {{"depth", &b.depth, 0.05, 0.5},
                                 {"index of refraction", &b.refraction, 1.0, 2.0},
                                 {"wave speed", &b.courant, 0.1, 0.65},
                                 {NULL, NULL, 0.0, 0.0}};
    b.s = (sample){.name = "water_renderer",
                   .about = "the first height of water through which tiles are seen as an image",
                   .loss = "mean square of what differs from the image",
                   .size = 256,
                   .size_means = "points and pixels along a side",
                   .least_size = 8,
                   .steps = 256,
                   .iterations = 200,
                   .rate = 0.03,
                   .threads = 1,
                   .options = options,
                   .parameters = parameters,
                   .method = ADAM,
                   .knobs = knobs,
                   .create = create,
                   .run = run,
                   .draw = draw,
                   .destroy = destroy};
    return sample_main(&b.s, argc, argv);
}
