/* Two elastic discs collide; the forces on the grid come from the gradient of their energy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpm_forces.h"
#include "sample.h"

typedef struct discs {
    sample s; /* first */
    mpm_forces *m;
    double target[2]; /* of the left disc */
    double speed, mu, lambda;
    double *curve; /* total energies, against the first */
    bool told;
} discs;

enum { EVERY = 10 /* steps from one frame to the next */ };
static const double RADIUS = 0.14, CENTRE[2][2] = {{0.27, 0.44}, {0.73, 0.56}};

/* Points of a disc, in rows half a cell apart. Returns their number; x NULL: only that. */
static int fill_disc(int cells, const double *centre, mpm_forces_real (*x)[2])
{
    const double h = 0.5 / cells;
    const int n = (int)(RADIUS / h) + 1;
    int count = 0;
    for (int i = -n; i < n; i++)
        for (int j = -n; j < n; j++) {
            const double u = (i + 0.5) * h, w = (j + 0.5) * h;
            if (u * u + w * w >= RADIUS * RADIUS)
                continue;
            if (x) {
                x[count][0] = (mpm_forces_real)(centre[0] + u);
                x[count][1] = (mpm_forces_real)(centre[1] + w);
            }
            count++;
        }
    return count;
}

static bool create(sample *s)
{
    discs *d = (discs *)s;
    mpm_forces_params p = mpm_forces_defaults();
    p.CELLS = s->size;
    p.N = 2 * fill_disc(s->size, CENTRE[0], NULL);
    p.FRAMES = s->steps / EVERY + 1;
    p.DT = (mpm_forces_real)(0.064 / s->size);
    p.VOLUME = (mpm_forces_real)(0.25 / s->size / s->size);
    d->m = mpm_forces_create(s->session, &p);
    d->curve = calloc((size_t)p.FRAMES, sizeof *d->curve);
    if (!d->m || !d->curve) {
        fprintf(stderr, "%s: %s\n", s->name, d->m ? "out of memory" : tk_error());
        return false;
    }
    return true;
}

static void begin(const discs *d)
{
    mpm_forces *m = d->m;
    mpm_forces_params p = m->params;
    const double dx = d->target[0] - CENTRE[0][0], dy = d->target[1] - CENTRE[0][1], r = hypot(dx, dy) + 1e-9;
    p.MU = (mpm_forces_real)d->mu;
    p.LAMBDA = (mpm_forces_real)d->lambda;
    mpm_forces_set_params(m, &p);
    const int half = fill_disc(p.CELLS, CENTRE[0], m->x.data);
    fill_disc(p.CELLS, CENTRE[1], m->x.data + half);
    for (int k = 0; k < p.N; k++) {
        const double speed = k < half ? d->speed : -d->speed; /* the total momentum is zero */
        m->v.data[k][0] = (mpm_forces_real)(speed * dx / r);
        m->v.data[k][1] = (mpm_forces_real)(speed * dy / r);
        for (int c = 0; c < 4; c++) {
            m->F.data[k][c / 2][c % 2] = c == 0 || c == 3;
            m->C.data[k][c / 2][c % 2] = 0;
        }
    }
}

static double run(sample *s)
{
    discs *d = (discs *)s;
    mpm_forces *m = d->m;
    mpm_forces_Totals first = {0}, now = {0};
    double linear = 0.0, angular = 0.0, difference = 0.0, force = d->mu / s->size / s->size / s->size;
    begin(d);
    for (int step = 0; step <= s->steps; step++) {
        mpm_forces_begin_step(m);
        if (step % EVERY == 0) {
            mpm_forces_stresses(m);
            mpm_forces_measure(m, &now);
            mpm_forces_show(m, step / EVERY);
            first = step == 0 ? now : first;
            d->curve[step / EVERY] = (double)now.energy / (double)first.energy - 1.0;
            linear = fmax(linear, hypot((double)now.momentum[0], (double)now.momentum[1]) / (double)first.speed);
            angular = fmax(angular, fabs((double)(now.angular - first.angular)) / fabs((double)first.angular));
            difference = fmax(difference, (double)now.difference);
            force = fmax(force, (double)now.force);
        }
        mpm_forces_move(m);
    }
    s->curve = d->curve;
    s->curve_length = m->params.FRAMES;
    if (!d->told)
        printf("%s: %d particles; drift of momentum %.2g, of angular momentum %.2g; energy %.12g to %.12g; forces are "
               "those by hand to %.2g of the greatest\n",
               s->name, m->params.N, linear, angular, (double)first.energy, (double)now.energy, difference / force);
    d->told = true;
    const double allowed = sizeof(mpm_forces_real) == sizeof(float) ? 1e-5 : 1e-12;
    return difference < allowed * force && linear < 1e-4 && angular < 1e-3 ? (double)now.energy : INFINITY;
}

static void draw(sample *s, cairo_t *c, int step)
{
    const discs *d = (const discs *)s;
    const mpm_forces *m = d->m;
    const int n = m->params.N, cells = m->params.CELLS, frame = step / EVERY;
    draw_colour(c, GREY, 0.15);
    for (int i = 1; i < cells; i++) {
        draw_line(c, (double)i / cells, 0.0, (double)i / cells, 1.0, 0.001);
        draw_line(c, 0.0, (double)i / cells, 1.0, (double)i / cells, 0.001);
    }
    for (int k = 0; k < n; k++) {
        const mpm_forces_real *x = m->shown_x.data[mpm_forces_idx_shown_x(m, frame, k)];
        const double psi = (double)m->shown_psi.data[mpm_forces_idx_shown_psi(m, frame, k)];
        draw_colour(c, draw_ramp(0.15 + 0.85 * sqrt(psi / (0.1 * d->mu))), 1.0);
        draw_disc(c, (double)x[0], (double)x[1], 0.38 / cells);
    }
    draw_colour(c, GREEN, 1.0);
    for (int i = 0; s->show_gradient && i < cells * cells; i++) { /* what a force does to a full cell in .12 s */
        const mpm_forces_real *f = m->shown_force.data[frame * cells * cells + i];
        const double x = (double)(i / cells) / cells, y = (double)(i % cells) / cells,
                     k = 0.5 * 0.12 * 0.12 * cells * cells;
        draw_arrow(c, x, y, x + k * (double)f[0], y + k * (double)f[1], 0.002);
    }
}

static void destroy(sample *s)
{
    mpm_forces_destroy(((discs *)s)->m);
    free(((discs *)s)->curve);
}

int main(int argc, char **argv)
{
    discs d = {.s = {.name = "mpm_forces",
                     .about = "elastic discs collide; forces are the gradient of their energy",
                     .loss = "change of the total energy, as a part of it, by tens of steps",
                     .size = 64,
                     .size_means = "cells along a side of the grid",
                     .least_size = 16,
                     .steps = 1000,
                     .rate = 1.0,
                     .threads = 1,
                     .create = create,
                     .run = run,
                     .draw = draw,
                     .destroy = destroy},
               .target = {0.73, 0.44},
               .speed = 0.5,
               .mu = 4.0,
               .lambda = 4.0};
    const sample_knob knobs[] = {{"speed", &d.speed, 0.0, 1.0},
                                 {"stiffness against shear", &d.mu, 1.0, 8.0},
                                 {"stiffness against change of area", &d.lambda, 0.0, 8.0},
                                 {NULL, NULL, 0, 0}};
    d.s.knobs = knobs;
    d.s.target = d.target;
    return sample_main(&d.s, argc, argv);
}
