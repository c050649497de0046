/* A block of triangles falls onto a ball and the floor. Its forces come from the gradient of its energy; a formula by
 * hand is there to compare. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fem.h"
#include "sample.h"

typedef struct block {
    sample s; /* first */
    fem *m;
    double ball[2], mu, lambda, gravity, drag, angle;
    double *curve; /* total energies, against the first */
    bool told;
} block;

static const double WIDTH = 0.4, RADIUS = 0.12, FLOOR = 0.05, CONTACT = 1e5;

static bool create(sample *s)
{
    block *b = (block *)s;
    fem_params p = fem_defaults();
    p.STEPS = s->steps;
    p.WIDE = s->size;
    p.HIGH = (s->size + 1) / 2;
    p.DT *= (fem_real)fmin(1.0, 24.0 / s->size); /* a wave may not pass a cell in a step */
    fem *m = b->m = fem_create(s->session, &p);
    b->curve = calloc((size_t)s->steps + 1, sizeof *b->curve);
    if (!m || !b->curve) {
        fprintf(stderr, "%s: %s\n", s->name, m ? "out of memory" : tk_error());
        return false;
    }
    for (int k = 0; k < 2 * p.WIDE * p.HIGH; k++) { /* two to a cell, whose diagonals alternate */
        const int i = k / 2 % p.WIDE, j = k / 2 / p.WIDE, at = j * (p.WIDE + 1) + i, up = at + p.WIDE + 1;
        const int corners[4][3] = {{at, at + 1, up + 1}, {at, up + 1, up}, {at, at + 1, up}, {at + 1, up + 1, up}};
        for (int c = 0; c < 3; c++)
            m->triangle.data[k][c] = corners[2 * ((i + j) % 2) + k % 2][c];
    }
    return true;
}

/* Gradient of the energy by the positions of a step, from the first Piola-Kirchhoff stress. f: 2 numbers a point. */
static void by_hand(const fem *m, int step, double *f)
{
    const double mu = (double)m->params.MU, lambda = (double)m->params.LAMBDA;
    const int n = (m->params.WIDE + 1) * (m->params.HIGH + 1);
    const fem_real(*x)[2] = (const fem_real(*)[2])m->x.data + (size_t)step * (size_t)n;
    for (int i = 0; i < n; i++) {
        const double mass = (double)m->mass.data[i], dx = (double)x[i][0] - (double)m->ball.data[0][0],
                     dy = (double)x[i][1] - (double)m->ball.data[0][1], r = hypot(dx, dy);
        f[2 * i] = mass * CONTACT *
                   (fmax((double)x[i][0] - 1.0, 0.0) - fmax(-(double)x[i][0], 0.0) - fmax(RADIUS - r, 0.0) * dx / r);
        f[2 * i + 1] = mass * ((double)m->params.GRAVITY - CONTACT * fmax(FLOOR - (double)x[i][1], 0.0) -
                               CONTACT * fmax(RADIUS - r, 0.0) * dy / r);
    }
    for (int k = 0; k < m->triangle.shape[0]; k++) {
        const int *c = m->triangle.data[k];
        double F[2][2], B[2][2], P[2][2];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                B[i][j] = (double)m->rest.data[k][i][j];
                F[i][j] = 0.0;
                for (int e = 0; e < 2; e++)
                    F[i][j] += ((double)x[c[e + 1]][i] - (double)x[c[0]][i]) * (double)m->rest.data[k][e][j];
            }
        const double J = F[0][0] * F[1][1] - F[0][1] * F[1][0], a = (lambda * log(J) - mu) / J;
        P[0][0] = mu * F[0][0] + a * F[1][1]; /* mu F + (lambda log J - mu) F^-T */
        P[0][1] = mu * F[0][1] - a * F[1][0];
        P[1][0] = mu * F[1][0] - a * F[0][1];
        P[1][1] = mu * F[1][1] + a * F[0][0];
        for (int e = 0; e < 2; e++)
            for (int i = 0; i < 2; i++) {
                const double g = (double)m->area.data[k] * (P[i][0] * B[e][0] + P[i][1] * B[e][1]);
                f[2 * c[e + 1] + i] += g;
                f[2 * c[0] + i] -= g;
            }
    }
}

/* The greatest difference over the greatest force, of some steps. */
static double worst(const fem *m, int steps)
{
    const int n = (m->params.WIDE + 1) * (m->params.HIGH + 1);
    double difference = 0.0, most = 0.0, *f = malloc(2 * sizeof *f * (size_t)n);
    for (int step = 0; f && step <= steps; step += 10) {
        by_hand(m, step, f);
        for (int i = 0; i < 2 * n; i++) {
            const double g = (double)m->x.grad[(size_t)step * (size_t)n + (size_t)i / 2][i % 2];
            difference = fmax(difference, isfinite(g - f[i]) ? fabs(g - f[i]) : INFINITY);
            most = fmax(most, fabs(f[i]));
        }
    }
    free(f);
    return f ? difference / most : INFINITY;
}

static double run(sample *s)
{
    block *b = (block *)s;
    fem *m = b->m;
    fem_params p = m->params;
    p.MU = (fem_real)b->mu;
    p.LAMBDA = (fem_real)b->lambda;
    p.GRAVITY = (fem_real)b->gravity;
    p.DRAG = (fem_real)b->drag;
    fem_set_params(m, &p);
    for (int i = 0; i < 2; i++)
        m->ball.data[0][i] = (fem_real)b->ball[i];
    for (int i = 0; i < (p.WIDE + 1) * (p.HIGH + 1); i++) {
        const double u = (i % (p.WIDE + 1) - 0.5 * p.WIDE) * WIDTH / p.WIDE,
                     w = (i / (p.WIDE + 1) - 0.5 * p.HIGH) * WIDTH / p.WIDE;
        m->x.data[i][0] = (fem_real)(0.4 + cos(b->angle) * u - sin(b->angle) * w);
        m->x.data[i][1] = (fem_real)(0.62 + sin(b->angle) * u + cos(b->angle) * w);
    }
    fem_begin(m);
    for (int step = 0; step <= s->steps; step++)
        fem_step(m, step);
    const double first = (double)m->total.data[0], last = (double)m->total.data[s->steps], d = worst(m, s->steps);
    for (int step = 0; step <= s->steps; step++)
        b->curve[step] = (double)m->total.data[step] / first - 1.0;
    s->curve = b->curve;
    s->curve_length = s->steps + 1;
    if (!b->told)
        printf("%s: energy %.12g at first, %.12g in the end; forces are those by hand to %.2g of the greatest\n",
               s->name, first, last, d);
    b->told = true;
    return d < (sizeof(fem_real) == sizeof(float) ? 1e-4 : 1e-11) ? last : INFINITY;
}

static void draw(sample *s, cairo_t *c, int step)
{
    const block *b = (const block *)s;
    fem *m = b->m;
    const int n = (m->params.WIDE + 1) * (m->params.HIGH + 1);
    const fem_real(*x)[2] = (const fem_real(*)[2])m->x.data + (size_t)step * (size_t)n;
    fem_shade(m, step);
    draw_colour(c, GREY, 0.5);
    cairo_rectangle(c, 0.0, 0.0, 1.0, FLOOR);
    cairo_fill(c);
    draw_colour(c, GREY, 1.0);
    draw_line(c, 0.0, FLOOR, 1.0, FLOOR, 0.004);
    draw_disc(c, b->ball[0], b->ball[1], RADIUS);
    cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_width(c, 0.0015);
    for (int k = 0; k < m->triangle.shape[0]; k++) {
        const int *t = m->triangle.data[k];
        const double psi = (double)m->psi.data[k];
        const colour to = draw_ramp(0.15 + 0.85 * sqrt(psi / (0.6 * b->mu)));
        for (int e = 0; e < 3; e++)
            cairo_line_to(c, (double)x[t[e]][0], (double)x[t[e]][1]);
        cairo_close_path(c);
        draw_colour(c, to, 1.0);
        cairo_fill_preserve(c);
        cairo_stroke(c);
    }
    draw_colour(c, GREEN, 1.0);
    for (int i = 0; s->show_gradient && i < n; i++) { /* acceleration by the forces, seen for .015 s */
        const fem_real *g = m->x.grad[step * n + i];
        const double k = 0.5 * 0.015 * 0.015 / (double)m->mass.data[i];
        draw_arrow(c, (double)x[i][0], (double)x[i][1], (double)x[i][0] - k * (double)g[0],
                   (double)x[i][1] - k * (double)g[1], 0.002);
    }
}

static void destroy(sample *s)
{
    fem_destroy(((block *)s)->m);
    free(((block *)s)->curve);
}

int main(int argc, char **argv)
{
    block b = {.s = {.name = "fem",
                     .about = "a soft block falls; forces are the gradient of its energy",
                     .loss = "change of the total energy, as a part of it, by steps",
                     .size = 24,
                     .size_means = "cells along the block",
                     .least_size = 2,
                     .steps = 2000,
                     .rate = 1.0,
                     .threads = 1,
                     .create = create,
                     .run = run,
                     .draw = draw,
                     .destroy = destroy},
               .ball = {0.36, 0.22},
               .mu = 12,
               .lambda = 12,
               .gravity = 9.8,
               .angle = 0.15};
    const sample_knob knobs[] = {{"stiffness against shear", &b.mu, 4, 20},
                                 {"stiffness against change of area", &b.lambda, 0, 20},
                                 {"gravity", &b.gravity, 0, 15},
                                 {"drag", &b.drag, 0, 5},
                                 {NULL, NULL, 0, 0}};
    b.s.knobs = knobs;
    b.s.target = b.ball;
    return sample_main(&b.s, argc, argv);
}
