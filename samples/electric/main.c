/* The weights of a network that steers a charged body are optimised, over goals that are new in each iteration. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "electric.h"
#include "sample.h"

enum { HIDDEN = 64, ELECTRODES = 8, LEG = 128 /* steps from one random point to the next */ };

typedef struct steering {
    sample s; /* first */
    electric *m;
    double strength, drag, far; /* far: how far from the middle goals lie */
    double target[2];
} steering;

static void spread(electric_real *w, int n, double deviation, uint64_t *random)
{
    for (int i = 0; i < n; i++)
        w[i] = (electric_real)(deviation * random_normal(random));
}

static bool create(sample *s)
{
    steering *t = (steering *)s;
    electric_params p = electric_defaults();
    uint64_t random = (uint64_t)s->seed;
    p.STEPS = s->steps;
    p.EPISODES = s->size;
    electric *m = t->m = electric_create(s->session, &p);
    if (!m) {
        fprintf(stderr, "%s: %s\n", s->name, tk_error());
        return false;
    }
    for (int k = 0, at = 0; at < 9; at++)
        if (at != 4) {
            m->electrode.data[k][0] = (electric_real)(0.1 + 0.4 * (at % 3));
            m->electrode.data[k++][1] = (electric_real)(0.1 + 0.4 * (at / 3));
        }
    spread(m->w1.data, 8 * HIDDEN, sqrt(1.0 / 8), &random);
    spread(m->w2.data, HIDDEN * ELECTRODES, sqrt(1.0 / HIDDEN), &random);
    return true;
}

/* A goal goes from one random point to the next by a curve whose velocity is zero at both; that of the first episode,
 * which is drawn, ends at the target. */
static void goals(const steering *t, int episode, uint64_t random)
{
    electric *m = t->m;
    double from[2] = {0.0}, to[2];
    for (int k = 0; k < 2; k++) {
        m->x.data[episode][k] = (electric_real)(0.5 + 0.3 * t->far * (2.0 * random_uniform(&random) - 1.0));
        to[k] = 0.5 + t->far * (2.0 * random_uniform(&random) - 1.0);
    }
    for (int step = 0; step <= m->params.STEPS; step++) {
        const double f = (double)(step % LEG) / LEG;
        const int64_t at = electric_idx_goal(m, step, episode);
        for (int k = 0; k < 2; k++) {
            if (step % LEG == 0) {
                from[k] = to[k];
                to[k] = episode == 0 && step + LEG >= m->params.STEPS
                            ? t->target[k]
                            : 0.5 + t->far * (2.0 * random_uniform(&random) - 1.0);
            }
            const double way = to[k] - from[k], speed = 6.0 * f * (1.0 - f) / (LEG * (double)m->params.DT);
            m->goal.data[at][k] = (electric_real)(from[k] + way * f * f * (3.0 - 2.0 * f));
            m->goal_v.data[at][k] = (electric_real)(way * speed);
        }
    }
}

/* The goals of the first episode are always the same, those of the others are new in each iteration. */
static double run(sample *s)
{
    steering *t = (steering *)s;
    electric *m = t->m;
    electric_params p = m->params;
    p.STRENGTH = (electric_real)t->strength;
    p.DRAG = (electric_real)t->drag;
    electric_set_params(m, &p);
    for (int e = 0; e < s->size; e++)
        goals(t, e, (uint64_t)s->seed + (e ? ((uint64_t)s->iteration * (uint64_t)s->size + (uint64_t)e) << 20 : 1));
    TK_TAPE(m, m->loss)
    {
        for (int step = 0; step < s->steps; step++)
            electric_step(m, step);
    }
    return (double)m->loss.data[0];
}

/* ---- drawing ---- */

/* Red where the electrodes pull the body, blue where they push it away. */
static void draw_potential(cairo_t *c, const electric *m, const electric_real *charge)
{
    enum { PIXELS = 120 };
    static float rgb[PIXELS * PIXELS * 3];
    for (int p = 0; p < PIXELS * PIXELS; p++) {
        double u = 0.0;
        for (int k = 0; k < ELECTRODES; k++) {
            const double dx = (p % PIXELS + 0.5) / PIXELS - (double)m->electrode.data[k][0],
                         dy = (PIXELS - p / PIXELS - 0.5) / PIXELS - (double)m->electrode.data[k][1];
            u += (double)charge[k] / sqrt(dx * dx + dy * dy + 2e-3);
        }
        const colour to = u > 0.0 ? RED : BLUE, paper = {0.98, 0.975, 0.96};
        const double f = 0.75 * (1.0 - exp(-0.07 * fabs(u)));
        rgb[3 * p] = (float)(paper.r + f * (to.r - paper.r));
        rgb[3 * p + 1] = (float)(paper.g + f * (to.g - paper.g));
        rgb[3 * p + 2] = (float)(paper.b + f * (to.b - paper.b));
    }
    draw_image(c, PIXELS, PIXELS, rgb, 1.0);
}

/* Positions of the first episode, from a step to a later one. */
static void draw_path(cairo_t *c, const electric *m, const electric_real (*at)[2], int from, int to)
{
    for (int step = from; step <= to; step++)
        cairo_line_to(c, (double)at[step * m->params.EPISODES][0], (double)at[step * m->params.EPISODES][1]);
    cairo_stroke(c);
}

static void draw(sample *s, cairo_t *c, int step)
{
    const electric *m = ((steering *)s)->m;
    const electric_real(*x)[2] = (const electric_real(*)[2])m->x.data,
          (*goal)[2] = (const electric_real(*)[2])m->goal.data;
    const int now = step * s->size, last = s->steps ? (step < s->steps ? step : s->steps - 1) : 0;
    const electric_real *charge = m->charge.data + electric_idx_charge(m, last, 0, 0);
    draw_potential(c, m, charge);
    for (int k = 0; k < ELECTRODES; k++) {
        const electric_real *at = m->electrode.data[k];
        draw_colour(c, INK, 1.0);
        draw_disc(c, (double)at[0], (double)at[1], 0.026);
        draw_colour(c, charge[k] > 0 ? RED : BLUE, 1.0);
        draw_disc(c, (double)at[0], (double)at[1], 0.022);
        draw_colour(c, (colour){1, 1, 1}, 1.0);
        draw_text(c, (double)at[0] - 0.013, (double)at[1] - 0.015, 0.045, charge[k] > 0 ? "+" : "\xe2\x88\x92");
    }
    cairo_set_line_width(c, 0.007);
    draw_colour(c, BLUE, 0.35);
    draw_path(c, m, goal, step > LEG ? step - LEG : 0, step);
    draw_colour(c, INK, 0.7);
    draw_path(c, m, x, step > LEG ? step - LEG : 0, step);
    draw_disc(c, (double)x[now][0], (double)x[now][1], 0.02);
    draw_colour(c, GOLD, 1.0);
    draw_disc(c, (double)x[now][0], (double)x[now][1], 0.016);
    draw_target(c, (double[2]){(double)goal[now][0], (double)goal[now][1]});
    if (s->show_gradient && step > 0) {
        const electric_real *g = m->nudge.grad[(step - 1) * s->size];
        draw_colour(c, GREEN, 1.0);
        draw_arrow(c, (double)x[now][0], (double)x[now][1], (double)(x[now][0] - g[0]), (double)(x[now][1] - g[1]),
                   0.006);
    }
}

static void destroy(sample *s)
{
    electric_destroy(((steering *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"w1", "b1", "w2", "b2", NULL};
    steering t = {.s = {.name = "electric",
                        .about = "a network that steers a charged body by electrodes",
                        .loss = "squared distance from the goal, over time",
                        .size = 8,
                        .size_means = "episodes in an iteration",
                        .steps = 512,
                        .iterations = 2000,
                        .rate = 0.02,
                        .threads = 1,
                        .parameters = parameters,
                        .method = ADAM,
                        .create = create,
                        .run = run,
                        .draw = draw,
                        .destroy = destroy},
                  .strength = 7e-3,
                  .drag = 1.0,
                  .far = 0.35,
                  .target = {0.75, 0.75}};
    const sample_knob knobs[] = {{"strength of the electrodes", &t.strength, 0.0, 0.02},
                                 {"drag", &t.drag, 0.0, 3.0},
                                 {"how far goals lie", &t.far, 0.0, 0.45},
                                 {NULL, NULL, 0, 0}};
    t.s.knobs = knobs;
    t.s.target = t.target;
    return sample_main(&t.s, argc, argv);
}
