#include "flight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void path(double time, double place[3])
{
    const double t = 0.9 * time;
    place[0] = 2.0 * sin(t);
    place[1] = 1.4 * sin(2.0 * t);
    place[2] = 1.5 + 0.5 * sin(t + 0.7);
}

bool flight_create(flight *f, const task *t, int count)
{
    *f = (flight){.at = calloc((size_t)count, sizeof *f->at),
                  .plan = calloc((size_t)t->intervals + 1, sizeof *f->plan)};
    return f->at && f->plan;
}

void flight_destroy(flight *f)
{
    free(f->at);
    free(f->plan);
}

static void note(moment *m, const task *t, const plan *p)
{
    double square = 0.0;
    memcpy(m->state, t->start, sizeof m->state);
    memcpy(m->thrust, p->z[0] + STATE, sizeof m->thrust);
    memcpy(m->goal, t->goal[0], sizeof m->goal);
    for (int i = 0; i < 3; i++)
        square += (m->state[i] - m->goal[i]) * (m->state[i] - m->goal[i]);
    m->off = sqrt(square);
    m->seconds = p->seconds;
    m->iterations = p->iterations;
}

const char *fly(flight *f, task *t, plan *p, const gust *g, int steps, void (*told)(const flight *, const task *))
{
    const int all = f->count, hit = (int)lround(g->time / t->time);
    plan_guess(p, t);
    for (f->count = 0; f->count < all;) {
        for (int k = 0; k <= t->intervals; k++)
            path((f->count + k) * t->time, t->goal[k]);
        if (f->count == hit)
            t->start[4] += g->speed;
        const char *why = plan_solve(p, t);
        if (why)
            return why;
        note(&f->at[f->count++], t, p);
        told(f, t);
        for (int k = 0; f->count == hit + 1 && k <= t->intervals; k++)
            memcpy(f->plan[k], p->z[k], sizeof f->plan[k]);
        for (int i = 0; i < steps; i++)
            quadrotor_step(t->start, p->z[0] + STATE, t->time / steps, t->drone, t->start);
        plan_shift(p, t);
    }
    return NULL;
}
