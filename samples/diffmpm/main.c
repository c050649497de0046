/* A soft robot of four muscles learns to walk; or, with --throw, a soft body is thrown to a target. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diffmpm.h"
#include "sample.h"

enum { FRAME = 8, MUSCLES = 4 }; /* steps of a frame */

typedef struct robot {
    sample s; /* first */
    diffmpm *m;
    int thrown, n, frames; /* n: particles */
    double target[2], strength, omega;
    diffmpm_Particle *kept;        /* the state at each frame, and at the end */
    diffmpm_real (*pull)[MUSCLES]; /* of the muscles at each frame */
} robot;

/* Fills a box with 4 particles a cell. Numbers in cells. */
static void fill(robot *r, int x, int y, int w, int h, int kind)
{
    for (int i = 0; i < 4 * w * h; i++, r->n++) {
        diffmpm_Particle *p = &r->kept[r->n];
        p->x[0] = (diffmpm_real)((x + 0.5 * (i / (2 * h))) / r->s.size);
        p->x[1] = (diffmpm_real)((y + 0.5 * (i % (2 * h))) / r->s.size);
        p->F[0][0] = p->F[1][1] = 1;
        r->m->kind.data[r->n] = kind;
    }
}

static bool create(sample *s)
{
    robot *r = (robot *)s;
    diffmpm_params p = diffmpm_defaults();
    const int u = s->size, leg = u / 20, height = u / 10, width = 3 * u / 10;
    p.N = r->thrown ? 4 * (u / 3) * (u / 3) : 4 * (width + 4 * leg) * height;
    p.CELLS = u;
    p.DT = (diffmpm_real)((r->thrown ? 0.036 : 0.128) / u);
    p.GRAVITY = (diffmpm_real)(r->thrown ? 9.8 : 3.8);
    p.E = r->thrown ? 100 : 10;
    p.FRAMES = r->frames = (s->steps + FRAME - 1) / FRAME;
    r->kept = calloc((size_t)p.N * (size_t)(r->frames + 1), sizeof *r->kept);
    r->pull = calloc((size_t)r->frames, sizeof *r->pull);
    r->m = r->kept && r->pull ? diffmpm_create(s->session, &p) : NULL;
    if (!r->m) {
        fprintf(stderr, "%s: %s\n", s->name, r->kept && r->pull ? tk_error() : "out of memory");
        return false;
    }
    if (r->thrown) {
        fill(r, u / 12, 5 * u / 24, u / 3, u / 3, -1);
        r->m->v0.data[0][1] = -1;
        return true;
    }
    fill(r, u / 10, 4 + height, width, height, -1);
    for (int k = 0; k < MUSCLES; k++)
        fill(r, u / 10 + (k < 2 ? k * leg : width - (4 - k) * leg), 4, leg, height, k);
    uint64_t seed = (uint64_t)s->seed;
    for (int64_t i = 0; i < tk_field_count(r->m->weights.field); i++)
        r->m->weights.data[i] = (diffmpm_real)(0.01 * random_normal(&seed));
    return true;
}

static double run(sample *s)
{
    robot *r = (robot *)s;
    diffmpm *m = r->m;
    diffmpm_params p = m->params;
    const size_t n = (size_t)r->n;
    p.STRENGTH = (diffmpm_real)r->strength;
    p.OMEGA = (diffmpm_real)r->omega;
    diffmpm_set_params(m, &p);
    tk_field_set(m->target.field, TK_DATA, 0, 2, r->target);
    memcpy(m->state.data, r->kept, n * sizeof *r->kept);
    TK_TAPE(m, m->loss)
    {
        diffmpm_push_off(m);
        for (int t = 0; t < s->steps; t++) {
            const int frame = t / FRAME;
            if (t % FRAME == 0) {
                memcpy(r->kept + (size_t)frame * n, m->state.data, n * sizeof *r->kept);
                diffmpm_look(m, frame);
            }
            diffmpm_step(m, t);
            if (t % FRAME == 0)
                memcpy(r->pull[frame], m->pull.data, sizeof *r->pull);
        }
        r->thrown ? diffmpm_hit(m) : diffmpm_walk(m);
    }
    memcpy(r->kept + (size_t)r->frames * n, m->state.data, n * sizeof *r->kept);
    return (double)m->loss.data[0];
}

/* Muscles that contract are red, those that stretch are blue. */
static colour colour_of(const robot *r, int k, int kind)
{
    const colour rest = {0.93, 0.90, 0.88};
    if (kind < 0)
        return (colour){0.95, 0.80, 0.55};
    const double t = (double)r->pull[k < r->frames ? k : k - 1][kind] / fmax(r->strength, 1e-9), f = fabs(t);
    const colour to = t > 0.0 ? RED : BLUE;
    return (colour){rest.r + f * (to.r - rest.r), rest.g + f * (to.g - rest.g), rest.b + f * (to.b - rest.b)};
}

/* Outlines are all particles once more, larger; the green line is where the centre has been. */
static void draw(sample *s, cairo_t *c, int step)
{
    const robot *r = (const robot *)s;
    const int now = (step + FRAME - 1) / FRAME;
    const double h = 1.0 / s->size, floor_ = 3.0 * h;
    const diffmpm_Particle *p = r->kept + (size_t)now * (size_t)r->n;
    draw_colour(c, (colour){0.86, 0.83, 0.77}, 1.0);
    cairo_rectangle(c, 0.0, 0.0, 1.0, floor_);
    cairo_fill(c);
    draw_colour(c, INK, 1.0);
    draw_line(c, 0.0, floor_, 1.0, floor_, 0.004);
    for (double mark = 0.1; mark < 1.0; mark += 0.1)
        draw_line(c, mark, floor_, mark, 0.3 * floor_, 0.003);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < r->n; i++) {
            draw_colour(c, pass ? colour_of(r, now, r->m->kind.data[i]) : INK, 1.0);
            draw_disc(c, (double)p[i].x[0], (double)p[i].x[1], (pass ? 0.45 : 0.9) * h);
        }
    cairo_set_line_width(c, 0.006);
    for (int k = 0; k <= now; k++) {
        double centre[2] = {0.0, 0.0};
        for (int i = 0; i < r->n; i++)
            for (int d = 0; d < 2; d++)
                centre[d] += (double)r->kept[(size_t)k * (size_t)r->n + (size_t)i].x[d] / r->n;
        cairo_line_to(c, centre[0], centre[1]);
    }
    draw_colour(c, GREEN, 1.0);
    cairo_stroke(c);
    draw_colour(c, INK, 1.0);
    for (int i = 0; i < r->n && s->show_gradient && now < r->frames; i += 37) {
        const double x = (double)p[i].x[0], y = (double)p[i].x[1], far = 0.15 * r->n;
        const diffmpm_real *g = r->m->push.grad[diffmpm_idx_push(r->m, now, i)];
        draw_arrow(c, x, y, x - far * (double)g[0], y - far * (double)g[1], 0.003);
    }
    if (r->thrown)
        draw_target(c, r->target);
}

static void destroy(sample *s)
{
    robot *r = (robot *)s;
    diffmpm_destroy(r->m);
    free(r->kept);
    free(r->pull);
}

int main(int argc, char **argv)
{
    static const char *const weights[] = {"weights", NULL}, *const velocity[] = {"v0", NULL};
    static robot r = {.target = {0.3, 0.6}, .strength = 6.0, .omega = 30.0};
    static const sample_knob knobs[] = {
        {"strength of the muscles", &r.strength, 0.0, 10.0}, {"their speed", &r.omega, 5.0, 60.0}, {NULL, NULL, 0, 0}};
    for (int i = 1; i < argc; i++)
        r.thrown |= strcmp(argv[i], "--throw") == 0; /* which decides what the defaults are */
    const struct poptOption options[] = {
        {"throw", 0, POPT_ARG_NONE, &r.thrown, 0, "a soft body is thrown to a target", NULL}, POPT_TABLEEND};
    r.s = (sample){.name = "diffmpm",
                   .about = "muscles of a soft robot that walks to the right",
                   .loss = r.thrown ? "squared distance of the centre from the target" : "minus x of the centre",
                   .size = r.thrown ? 120 : 128,
                   .size_means = "cells along a side of the grid",
                   .least_size = 24,
                   .steps = 1024,
                   .iterations = r.thrown ? 20 : 60,
                   .rate = r.thrown ? 10.0 : 0.04,
                   .threads = 1,
                   .budget = 32.0,
                   .options = options,
                   .parameters = r.thrown ? velocity : weights,
                   .method = r.thrown ? DESCENT : ADAM,
                   .aspect = r.thrown ? 0.8 : 0.4,
                   .knobs = r.thrown ? NULL : knobs,
                   .target = r.thrown ? r.target : NULL,
                   .create = create,
                   .run = run,
                   .draw = draw,
                   .destroy = destroy};
    return sample_main(&r.s, argc, argv);
}
