/* The motion of a piston is optimised so that its waves meet at a point. */
#include <math.h>
#include <stdio.h>

#include "sample.h"
#include "sph.h"

typedef struct tank {
    sample s; /* first */
    sph *m;
    double target[2], viscosity;
    int rows, columns;
} tank;

static const double LEFT = 0.13, RIGHT = 0.97, FLOOR = 0.05, DEPTH = 0.16, HEIGHT = 0.5, REACH = 2.6, GRAVITY = 9.8;

static bool create(sample *s)
{
    tank *t = (tank *)s;
    sph_params p = sph_defaults();
    const double spacing = DEPTH / s->size;
    t->rows = s->size;
    t->columns = (int)((RIGHT - LEFT) / spacing);
    p.STEPS = s->steps;
    p.N = t->rows * t->columns;
    p.SPACING = (sph_real)spacing;
    p.WIDE = (int)(1.0 / (REACH * spacing)) + 3;
    p.HIGH = (int)(HEIGHT / (REACH * spacing)) + 3;
    p.DT = (sph_real)(0.04 * spacing);
    if (p.N > UINT16_MAX) {
        fprintf(stderr, "%s: --size: at most %d particles\n", s->name, UINT16_MAX);
        return false;
    }
    t->m = sph_create(s->session, &p);
    if (!t->m)
        fprintf(stderr, "%s: %s\n", s->name, tk_error());
    return t->m;
}

static double run(sample *s)
{
    tank *t = (tank *)s;
    sph *m = t->m;
    sph_params p = m->params;
    const double spacing = (double)p.SPACING, sound = (double)p.SOUND;
    p.VISCOSITY = (sph_real)t->viscosity;
    sph_set_params(m, &p);
    for (int k = 0; k < 2; k++)
        m->goal.data[0][k] = (sph_real)t->target[k];
    for (int i = 0; i < p.N; i++) {
        const double depth = (t->rows - i / t->columns - 0.5) * spacing;
        m->x.data[i][0] = (sph_real)(LEFT + (RIGHT - LEFT) * (i % t->columns + 0.5) / t->columns);
        m->x.data[i][1] = (sph_real)(FLOOR + DEPTH - depth);
        m->rho.data[i] = (sph_real)(1.0 + GRAVITY * depth / (sound * sound));
    }
    TK_TAPE(m, m->loss)
    {
        for (int step = 0; step < s->steps; step++) {
            sph_find(m, step);
            sph_move_piston(m, step);
            sph_step(m, step);
        }
        sph_move_piston(m, s->steps);
        sph_measure(m);
    }
    return (double)m->loss.data[0];
}

static void draw(sample *s, cairo_t *c, int step)
{
    const tank *t = (const tank *)s;
    const sph *m = t->m;
    const int n = m->params.N;
    const double piston = (double)m->piston.data[step], radius = 0.55 * (double)m->params.SPACING;
    for (int i = 0; i < n; i++) {
        const sph_real *x = m->x.data[step * n + i], *v = m->v.data[step * n + i];
        const double speed = fmin(hypot((double)v[0], (double)v[1]) / 1.2, 1.0);
        draw_colour(c, (colour){0.10 + 0.75 * speed, 0.36 + 0.50 * speed, 0.70 + 0.25 * speed}, 1.0);
        draw_disc(c, (double)x[0], (double)x[1], radius);
    }
    draw_colour(c, GREY, 1.0);
    cairo_rectangle(c, 0.0, 0.0, 1.0, FLOOR);
    cairo_rectangle(c, RIGHT, 0.0, 1.0 - RIGHT, 0.36);
    cairo_fill(c);
    draw_colour(c, INK, 1.0);
    cairo_rectangle(c, piston - 0.03, FLOOR, 0.03, 0.3);
    cairo_rectangle(c, 0.0, FLOOR + 0.12, piston - 0.03, 0.02);
    cairo_fill(c);
    double most = 0.0;
    const sph_real(*g)[2] = step > 0 ? (const sph_real(*)[2])m->nudge.grad + (step - 1) * n : NULL;
    for (int i = 0; s->show_gradient && g && i < n; i++)
        most = fmax(most, hypot((double)g[i][0], (double)g[i][1]));
    draw_colour(c, RED, 1.0);
    for (int i = 0; most > 0.0 && i < n; i++) { /* pushes that would help most */
        const sph_real *x = m->x.data[step * n + i];
        draw_arrow(c, (double)x[0], (double)x[1], (double)x[0] - 0.08 / most * (double)g[i][0],
                   (double)x[1] - 0.08 / most * (double)g[i][1], 0.003);
    }
    draw_target(c, t->target);
}

static void destroy(sample *s)
{
    sph_destroy(((tank *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"amplitude", NULL};
    tank t = {.s = {.name = "sph",
                    .about = "the motion of a piston whose waves meet at a point",
                    .loss = "squared distance of the surface from the goal, and effort",
                    .size = 8,
                    .size_means = "rows of particles in the water at rest",
                    .least_size = 2,
                    .steps = 1800,
                    .iterations = 40,
                    .rate = 0.002,
                    .threads = 1,
                    .aspect = 0.42,
                    .parameters = parameters,
                    .method = ADAM,
                    .create = create,
                    .run = run,
                    .draw = draw,
                    .destroy = destroy},
              .target = {0.72, 0.28},
              .viscosity = 0.1};
    const sample_knob knobs[] = {{"viscosity", &t.viscosity, 0.02, 0.5}, {NULL, NULL, 0, 0}};
    t.s.knobs = knobs;
    t.s.target = t.target;
    return sample_main(&t.s, argc, argv);
}
