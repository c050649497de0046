/* Position and velocity of the cue ball are optimised so that the ball at the far corner of the rack ends at the goal.
 */
#include <stdio.h>

#include "billiards.h"
#include "sample.h"

enum { LAYERS = 4 };

typedef struct table {
    sample s; /* first */
    billiards *m;
    double goal[2];
} table;

static bool create(sample *s)
{
    table *t = (table *)s;
    billiards_params p = billiards_defaults();
    const billiards_real radius = (billiards_real)0.03;
    p.STEPS = s->steps;
    billiards *m = t->m = billiards_create(s->session, &p);
    if (!m) {
        fprintf(stderr, "%s: %s\n", s->name, tk_error());
        return false;
    }
    for (int i = 0, k = 1; i < LAYERS; i++)
        for (int j = 0; j <= i; j++, k++) {
            m->x.data[k][0] = (billiards_real)0.5 + (billiards_real)(2 * i) * radius;
            m->x.data[k][1] = (billiards_real)0.5 + (billiards_real)(2 * j) * radius -
                              (billiards_real)i * radius * (billiards_real)0.7;
        }
    m->x0.data[0][0] = (billiards_real)0.1;
    m->x0.data[0][1] = (billiards_real)0.5;
    m->v0.data[0][0] = (billiards_real)0.3;
    return true;
}

static double run(sample *s)
{
    table *t = (table *)s;
    billiards *m = t->m;
    for (int k = 0; k < 2; k++)
        m->goal.data[0][k] = (billiards_real)t->goal[k];
    TK_TAPE(m, m->loss)
    {
        billiards_begin(m);
        for (int step = 0; step < s->steps; step++)
            billiards_step(m, step);
        billiards_measure(m);
    }
    return (double)m->loss.data[0];
}

static void draw(sample *s, cairo_t *c, int step)
{
    const table *t = (const table *)s;
    const billiards *m = t->m;
    for (int i = 0; i < m->params.BALLS; i++) {
        const billiards_real *x = m->x.data[billiards_idx_x(m, step, i)];
        draw_colour(c, i == 0 ? RED : i == m->params.BALLS - 1 ? BLUE : GREY, 1.0);
        draw_disc(c, (double)x[0], (double)x[1], 0.03);
    }
    if (s->show_gradient) { /* of place and velocity at the start, where they are: the stores of states take theirs */
        const billiards_real *x = m->x.data[0], *of_x = m->x0.grad[0], *of_v = m->v0.grad[0];
        draw_colour(c, INK, 1.0);
        draw_arrow(c, (double)x[0], (double)x[1], (double)(x[0] - of_x[0]), (double)(x[1] - of_x[1]), 0.004);
        draw_colour(c, GREEN, 1.0);
        draw_arrow(c, (double)x[0], (double)x[1], (double)(x[0] - of_v[0]), (double)(x[1] - of_v[1]), 0.004);
    }
    draw_target(c, t->goal);
}

static void destroy(sample *s)
{
    billiards_destroy(((table *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"x0", "v0", NULL};
    table t = {.s = {.name = "billiards",
                     .about = "a shot that brings the last ball of the rack to the goal",
                     .loss = "squared distance from the goal",
                     .steps = 1023, /* 1,024 states */
                     .iterations = 100,
                     .rate = 0.01,
                     .threads = 1,
                     .parameters = parameters,
                     .method = DESCENT,
                     .create = create,
                     .run = run,
                     .draw = draw,
                     .destroy = destroy},
               .goal = {0.9, 0.75}};
    t.s.target = t.goal;
    return sample_main(&t.s, argc, argv);
}
