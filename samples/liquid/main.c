/* A soft robot learns to swim: the robot of diffmpm, in a basin of a weakly compressible fluid. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "liquid.h"
#include "sample.h"

enum { FRAME = 8 /* steps */, MUSCLES = 4, WALL = 3, FLUID = -2 };

typedef struct robot {
    sample s; /* first */
    liquid *m;
    int n, frames; /* n: particles */
    double strength, omega, gravity;
    liquid_Particle *kept;        /* the state at each frame, and at the end */
    liquid_real (*pull)[MUSCLES]; /* of the muscles at each frame */
} robot;

/* Fills a box with 4 particles a cell. Numbers in cells. */
static void fill(robot *r, int x, int y, int w, int h, int kind)
{
    for (int i = 0; i < 4 * w * h; i++, r->n++) {
        liquid_Particle *p = &r->kept[r->n];
        p->x[0] = (liquid_real)((x + 0.5 * (i / (2 * h))) / r->s.size);
        p->x[1] = (liquid_real)((y + 0.5 * (i % (2 * h))) / r->s.size);
        p->F[0][0] = p->F[1][1] = 1;
        r->m->kind.data[r->n] = kind;
    }
}

static bool create(sample *s)
{
    robot *r = (robot *)s;
    liquid_params p = liquid_defaults();
    const int u = s->size, leg = u / 20, height = u / 10, width = 3 * u / 10, end = u - WALL;
    const int x = u / 10, x1 = x + 2 * leg, x2 = x + width - 2 * leg, x3 = x + width; /* of the legs */
    const int y = WALL + u / 12, y1 = y + height, top = y1 + height;
    p.N = 4 * (end - WALL) * (top - WALL);
    p.CELLS = u;
    p.DT = (liquid_real)(0.128 / u);
    p.FRAMES = r->frames = (s->steps + FRAME - 1) / FRAME;
    r->kept = calloc((size_t)p.N * (size_t)(r->frames + 1), sizeof *r->kept);
    r->pull = calloc((size_t)r->frames, sizeof *r->pull);
    r->m = r->kept && r->pull ? liquid_create(s->session, &p) : NULL;
    if (!r->m) {
        fprintf(stderr, "%s: %s\n", s->name, r->kept && r->pull ? tk_error() : "out of memory");
        return false;
    }
    fill(r, WALL, WALL, x - WALL, top - WALL, FLUID);
    fill(r, x, WALL, width, y - WALL, FLUID);
    fill(r, x1, y, x2 - x1, height, FLUID);
    fill(r, x3, WALL, end - x3, top - WALL, FLUID);
    fill(r, x, y1, width, height, -1);
    for (int k = 0; k < MUSCLES; k++)
        fill(r, k < 2 ? x + k * leg : x2 + (k - 2) * leg, y, leg, height, k);
    uint64_t seed = (uint64_t)s->seed;
    for (int64_t i = 0; i < tk_field_count(r->m->weights.field); i++)
        r->m->weights.data[i] = (liquid_real)(0.01 * random_normal(&seed));
    return true;
}

static double run(sample *s)
{
    robot *r = (robot *)s;
    liquid *m = r->m;
    liquid_params p = m->params;
    const size_t n = (size_t)r->n;
    p.STRENGTH = (liquid_real)r->strength;
    p.GRAVITY = (liquid_real)r->gravity;
    p.OMEGA = (liquid_real)r->omega;
    liquid_set_params(m, &p);
    memcpy(m->state.data, r->kept, n * sizeof *r->kept);
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < s->steps; t++) {
            const int frame = t / FRAME;
            if (t % FRAME == 0) {
                memcpy(r->kept + (size_t)frame * n, m->state.data, n * sizeof *r->kept);
                liquid_look(m, frame);
            }
            liquid_step(m, t);
            if (t % FRAME == 0)
                memcpy(r->pull[frame], m->pull.data, sizeof *r->pull);
        }
        liquid_walk(m);
    }
    memcpy(r->kept + (size_t)r->frames * n, m->state.data, n * sizeof *r->kept);
    return (double)m->loss.data[0];
}

static colour between(colour a, colour b, double t)
{
    const double f = fmin(fmax(t, 0.0), 1.0);
    return (colour){a.r + f * (b.r - a.r), a.g + f * (b.g - a.g), a.b + f * (b.b - a.b)};
}

/* Muscles that contract are red, those that stretch are blue; the fluid is the darker, the greater its pressure. */
static colour colour_of(const robot *r, int k, int i)
{
    const colour rest = {0.93, 0.90, 0.88}, calm = {0.80, 0.89, 0.95}, deep = {0.30, 0.52, 0.72};
    const int kind = r->m->kind.data[i];
    if (kind == FLUID) {
        const double squeezed = 1.0 - (double)r->kept[(size_t)k * (size_t)r->n + (size_t)i].F[0][0];
        return between(calm, deep, 0.2 + 12.0 * squeezed);
    }
    if (kind < 0)
        return (colour){0.95, 0.80, 0.55};
    const double t = (double)r->pull[k < r->frames ? k : k - 1][kind] / fmax(r->strength, 1e-9);
    return between(rest, t > 0.0 ? RED : BLUE, fabs(t));
}

/* The outline of the robot is its particles once more, larger. */
static void draw(sample *s, cairo_t *c, int step)
{
    const robot *r = (const robot *)s;
    const int now = (step + FRAME - 1) / FRAME;
    const double h = 1.0 / s->size;
    const liquid_Particle *p = r->kept + (size_t)now * (size_t)r->n;
    draw_colour(c, (colour){0.86, 0.83, 0.77}, 1.0);
    cairo_rectangle(c, 0.0, 0.0, 1.0, WALL * h);
    cairo_fill(c);
    draw_colour(c, INK, 1.0);
    draw_line(c, 0.0, WALL * h, 1.0, WALL * h, 0.004);
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < r->n; i++) {
            const int kind = r->m->kind.data[i];
            if ((pass == 0) != (kind == FLUID))
                continue;
            draw_colour(c, pass == 1 ? INK : colour_of(r, now, i), 1.0);
            draw_disc(c, (double)p[i].x[0], (double)p[i].x[1], (pass == 1 ? 0.9 : 0.45) * h);
        }
    draw_colour(c, INK, 1.0);
    for (int i = 0; i < r->n && s->show_gradient && now < r->frames; i += 37) {
        const double x = (double)p[i].x[0], y = (double)p[i].x[1], far = 0.04 * r->n;
        const liquid_real *g = r->m->push.grad[liquid_idx_push(r->m, now, i)];
        draw_arrow(c, x, y, x - far * (double)g[0], y - far * (double)g[1], 0.003);
    }
}

static void destroy(sample *s)
{
    robot *r = (robot *)s;
    liquid_destroy(r->m);
    free(r->kept);
    free(r->pull);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"weights", NULL};
    static robot r = {.strength = 12.0, .omega = 15.0, .gravity = 3.8};
    static const sample_knob knobs[] = {{"strength of the muscles", &r.strength, 0.0, 15.0},
                                        {"their speed", &r.omega, 5.0, 60.0},
                                        {"gravity", &r.gravity, 0.0, 6.0},
                                        {NULL, NULL, 0, 0}};
    r.s = (sample){.name = "liquid",
                   .about = "muscles of a soft robot that swims to the right",
                   .loss = "minus x of the robot's centre",
                   .size = 64,
                   .size_means = "cells along a side of the grid",
                   .least_size = 40,
                   .steps = 512,
                   .iterations = 40,
                   .rate = 0.05,
                   .threads = 1,
                   .budget = 32.0,
                   .parameters = parameters,
                   .method = ADAM,
                   .aspect = 0.5,
                   .knobs = knobs,
                   .create = create,
                   .run = run,
                   .draw = draw,
                   .destroy = destroy};
    return sample_main(&r.s, argc, argv);
}
