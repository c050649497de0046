/* A soft robot in three dimensions, with four muscles in each leg, learns to walk. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diffmpm3d.h"
#include "sample.h"

enum { FRAME = 8 /* steps */, MUSCLES = 16, WALL = 3 };

typedef struct robot {
    sample s; /* first */
    diffmpm3d *m;
    int n, frames; /* n: particles */
    double strength, view;
    diffmpm3d_Particle *kept; /* the state at each frame, and at the end */
    struct spot {
        double x, y, far; /* in the frame, and behind the middle of the cube */
        int i, normal[3]; /* the particle; where the surface of its box looks */
    } * spots;            /* in the painter's order */
} robot;

/* Fills a box with n[0] n[1] n[2] particles, 8 a cell; at is in cells. */
static void fill(robot *r, const int at[3], const int n[3], int kind)
{
    for (int i = 0; i < n[0] * n[1] * n[2]; i++, r->n++) {
        const int place[3] = {i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]};
        for (int d = 0; d < 3; d++) {
            r->kept[r->n].x[d] = (diffmpm3d_real)((at[d] + 0.5 * place[d]) / r->s.size);
            r->kept[r->n].F[d][d] = 1;
            r->spots[r->n].normal[d] = (place[d] == n[d] - 1) - (place[d] == 0);
        }
        r->spots[r->n].i = r->n;
        r->m->kind.data[r->n] = kind;
    }
}

static bool create(sample *s)
{
    robot *r = (robot *)s;
    diffmpm3d_params p = diffmpm3d_defaults();
    const int u = s->size, half = u / 20, leg[3] = {2 * half, u / 4, 2 * half}; /* a quarter of a leg */
    const int body[3] = {5 * u / 8, 2 * (u / 9), u / 2}, at[3] = {u / 10, WALL + 1 + leg[1] / 2, u / 2 - body[2] / 4};
    p.N = body[0] * body[1] * body[2] + MUSCLES * leg[0] * leg[1] * leg[2];
    p.CELLS = u;
    p.MUSCLES = MUSCLES;
    p.DT = (diffmpm3d_real)(0.128 / u);
    p.FRAMES = r->frames = (s->steps + FRAME - 1) / FRAME;
    r->kept = calloc((size_t)p.N * (size_t)(r->frames + 1), sizeof *r->kept);
    r->spots = calloc((size_t)p.N, sizeof *r->spots);
    r->m = r->kept && r->spots ? diffmpm3d_create(s->session, &p) : NULL;
    if (!r->m) {
        fprintf(stderr, "%s: %s\n", s->name, r->kept && r->spots ? tk_error() : "out of memory");
        return false;
    }
    fill(r, at, body, -1);
    for (int k = 0; k < MUSCLES; k++) { /* bits of k: front leg, left leg, front half, left half */
        const int x = (k & 1 ? body[0] / 2 - 2 * half : 0) + (k & 4 ? half : 0);
        const int z = (k & 2 ? body[2] / 2 - 2 * half : 0) + (k & 8 ? half : 0);
        fill(r, (const int[3]){at[0] + x, WALL + 1, at[2] + z}, leg, k);
    }
    for (uint64_t i = 0, seed = (uint64_t)s->seed; i < (uint64_t)tk_field_count(r->m->weights.field); i++)
        r->m->weights.data[i] = (diffmpm3d_real)(0.01 * random_normal(&seed));
    return true;
}

static double run(sample *s)
{
    robot *r = (robot *)s;
    diffmpm3d *m = r->m;
    diffmpm3d_params p = m->params;
    const size_t n = (size_t)r->n;
    p.STRENGTH = (diffmpm3d_real)r->strength;
    diffmpm3d_set_params(m, &p);
    memcpy(m->state.data, r->kept, n * sizeof *r->kept);
    TK_TAPE(m, m->loss)
    {
        for (int t = 0; t < s->steps; t++) {
            if (t % FRAME == 0) {
                memcpy(r->kept + (size_t)(t / FRAME) * n, m->state.data, n * sizeof *r->kept);
                diffmpm3d_look(m, t / FRAME);
            }
            diffmpm3d_step(m, t);
        }
        diffmpm3d_walk(m);
    }
    memcpy(r->kept + (size_t)r->frames * n, m->state.data, n * sizeof *r->kept);
    return (double)m->loss.data[0];
}

/* Where a point is in the frame: in perspective, from above. */
static void project(const robot *r, double x, double y, double z, struct spot *at)
{
    const double a = r->view, up = 0.42, right = (x - 0.5) * cos(a) + (z - 0.5) * sin(a);
    const double away = (z - 0.5) * cos(a) - (x - 0.5) * sin(a), near = 2.2 / (2.2 + away * cos(up) - y * sin(up));
    at->far = 1.0 / near;
    at->x = 0.5 + near * right;
    at->y = 0.16 + near * (y * cos(up) + away * sin(up));
}

static int farther(const void *a, const void *b)
{
    const double x = ((const struct spot *)a)->far, y = ((const struct spot *)b)->far;
    return (x < y) - (x > y);
}

/* Muscles that are shorter than at rest are red, longer ones blue. The sun stands above the left shoulder. */
static colour colour_of(const robot *r, int frame, const struct spot *at, const diffmpm3d_Particle *p)
{
    static const double sun[3] = {-0.35, 0.80, -0.48};
    const bool muscle = r->m->kind.data[at->i] >= 0;
    double t = muscle ? 4.0 - 4.0 * hypot(hypot((double)p->F[0][1], (double)p->F[1][1]), (double)p->F[2][1]) : 0.0;
    if (r->s.show_gradient) /* red is what helps when it goes forward */
        t = frame == r->frames ? 0.0 : -r->n * (double)r->m->push.grad[diffmpm3d_idx_push(r->m, frame, at->i)][0];
    double lit = 0.0, length = 1e-9;
    for (int d = 0; d < 3; d++) {
        const double n = (double)p->F[d][0] * at->normal[0] + (double)p->F[d][1] * at->normal[1] +
                         (double)p->F[d][2] * at->normal[2];
        lit += n * sun[d];
        length += n * n;
    }
    const colour rest = muscle ? (colour){0.93, 0.90, 0.88} : (colour){0.97, 0.80, 0.52}, to = t > 0.0 ? RED : BLUE;
    const double l = 0.72 + 0.30 * lit / sqrt(length), f = fmin(fabs(t), 1.0), g = 1.0 - f;
    return (colour){l * (f * to.r + g * rest.r), l * (f * to.g + g * rest.g), l * (f * to.b + g * rest.b)};
}

static void draw(sample *s, cairo_t *c, int step)
{
    robot *r = (robot *)s;
    const int now = (step + FRAME - 1) / FRAME;
    const double h = 1.0 / s->size, ground = WALL * h;
    const diffmpm3d_Particle *p = r->kept + (size_t)now * (size_t)r->n;
    struct spot a, b;
    draw_colour(c, (colour){0.84, 0.82, 0.78}, 1.0);
    for (int k = 0; k < 11; k++) {
        project(r, 0.1 * k, ground, 0.15, &a);
        project(r, 0.1 * k, ground, 0.85, &b);
        draw_line(c, a.x, a.y, b.x, b.y, 0.006);
    }
    draw_colour(c, (colour){0.72, 0.70, 0.67}, 1.0);
    for (struct spot *at = r->spots; at < r->spots + r->n; at++) { /* the shadow */
        const double x = (double)p[at->i].x[0], y = (double)p[at->i].x[1], z = (double)p[at->i].x[2];
        project(r, x + 0.4 * (y - ground), ground, z + 0.5 * (y - ground), &a);
        draw_disc(c, a.x, a.y, 0.5 * h);
        project(r, x, y, z, at);
    }
    qsort(r->spots, (size_t)r->n, sizeof *r->spots, farther);
    for (const struct spot *at = r->spots; at < r->spots + r->n; at++) {
        draw_colour(c, colour_of(r, now, at, p + at->i), 1.0);
        draw_disc(c, at->x, at->y, 0.5 * h);
    }
}

static void destroy(sample *s)
{
    diffmpm3d_destroy(((robot *)s)->m);
    free(((robot *)s)->kept);
    free(((robot *)s)->spots);
}

int main(int argc, char **argv)
{
    static robot r = {.strength = 6.0, .view = 0.4};
    static const sample_knob knobs[] = {
        {"strength of the muscles", &r.strength, 0.0, 10.0}, {"view", &r.view, -3.1, 3.1}, {NULL, NULL, 0.0, 0.0}};
    r.s = (sample){.name = "diffmpm3d",
                   .about = "muscles of a soft robot that walks to the right",
                   .loss = "minus x of the centre",
                   .size = 40,
                   .size_means = "cells along a side of the grid",
                   .least_size = 20,
                   .steps = 320,
                   .iterations = 30,
                   .rate = 0.04,
                   .threads = 1,
                   .budget = 100.0,
                   .parameters = (const char *const[]){"weights", NULL},
                   .method = ADAM,
                   .aspect = 0.6,
                   .knobs = knobs,
                   .create = create,
                   .run = run,
                   .draw = draw,
                   .destroy = destroy};
    return sample_main(&r.s, argc, argv);
}
