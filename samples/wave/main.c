/* The first height of a membrane, held at its border and at rest, is optimised so that its waves meet as letters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "wave.h"
#include "sample.h"

typedef struct membrane {
    sample s; /* first */
    wave *m;
    double courant, damping;
    int flat;
    float *pixels;
} membrane;

static bool create(sample *s)
{
    membrane *b = (membrane *)s;
    wave_params p = wave_defaults();
    p.N = s->size;
    p.STEPS = s->steps;
    wave *m = b->m = wave_create(s->session, &p);
    b->pixels = calloc((size_t)s->size * (size_t)s->size, 3 * sizeof *b->pixels);
    if (!m || !b->pixels) {
        fprintf(stderr, "%s: %s\n", s->name, m ? "out of memory" : tk_error());
        return false;
    }
    wave_draw_target(m);
    for (int64_t k = 0; k < tk_field_count(m->initial.field) && !b->flat; k++)
        m->initial.data[k] = m->target.data[k] / (wave_real)s->size;
    return true;
}

static double run(sample *s)
{
    const membrane *b = (membrane *)s;
    wave *m = b->m;
    wave_params p = m->params;
    p.COURANT = (wave_real)b->courant;
    p.DAMPING = (wave_real)b->damping;
    wave_set_params(m, &p);
    TK_TAPE(m, m->loss)
    {
        wave_begin(m);
        for (int t = 1; t < s->steps; t++)
            wave_step(m, t);
        wave_measure(m);
    }
    return (double)m->loss.data[0];
}

/* Blue above, red below, white at rest, lit from the upper left. */
static void shade(float pixel[3], double height, double slope)
{
    const colour k = height > 0.0 ? BLUE : RED;
    const double depth = fmin(fabs(height), 1.0), light = fmin(fmax(1.0 + slope, 0.6), 1.25);
    pixel[0] = (float)(light * (0.96 + depth * (k.r - 0.96)));
    pixel[1] = (float)(light * (0.96 + depth * (k.g - 0.96)));
    pixel[2] = (float)(light * (0.96 + depth * (k.b - 0.96)));
}

static void draw(sample *s, cairo_t *c, int step)
{
    const membrane *b = (membrane *)s;
    const int n = s->size;
    const wave_real *h = b->m->u.data + wave_idx_u(b->m, step, 0, 0);
    double unit = 1.0;
    if (s->show_gradient) { /* minus the derivative by the first height, its greatest number as 1 */
        h = b->m->initial.grad;
        unit = 1e-30;
        for (int k = 0; k < n * n; k++)
            unit = fmax(unit, fabs((double)h[k]));
        unit = -unit;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int k = i * n + j, down = i + 1 < n ? k + n : k, right = j + 1 < n ? k + 1 : k;
            const double fall = ((double)h[down] + (double)h[right] - 2.0 * (double)h[k]) / unit;
            shade(b->pixels + 3 * k, (double)h[k] / unit, fall * 0.005 * n);
        }
    draw_image(c, n, n, b->pixels, 1.0);
    cairo_set_line_width(c, 0.008);
    cairo_rectangle(c, 0.0, 0.0, 1.0, 1.0);
    draw_colour(c, INK, 1.0);
    cairo_stroke(c);
}

static void destroy(sample *s)
{
    free(((membrane *)s)->pixels);
    wave_destroy(((membrane *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"initial", NULL};
    membrane b = {.courant = 0.5};
    const struct poptOption options[] = {
        {"courant", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &b.courant, 0, "cells that a wave goes a step",
         "X"},
        {"damping", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &b.damping, 0, "of short waves", "X"},
        {"flat", 0, POPT_ARG_NONE, &b.flat, 0, "begins with a flat membrane, not with the image", NULL},
        POPT_TABLEEND};
    const sample_knob knobs[] = {
        {"wave speed", &b.courant, 0.1, 0.65}, {"damping", &b.damping, 0.0, 0.5}, {NULL, NULL, 0.0, 0.0}};
    b.s = (sample){.name = "wave",
                   .about = "the first height of a membrane whose waves meet as an image",
                   .loss = "mean square of what differs from the image",
                   .size = 256,
                   .size_means = "points along a side",
                   .least_size = 8,
                   .steps = 256,
                   .iterations = 200,
                   .rate = 0.5,
                   .threads = 1,
                   .options = options,
                   .parameters = parameters,
                   .method = DESCENT,
                   .knobs = knobs,
                   .create = create,
                   .run = run,
                   .draw = draw,
                   .destroy = destroy};
    return sample_main(&b.s, argc, argv);
}
