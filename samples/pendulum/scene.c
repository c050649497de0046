#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "animation.h"
#include "draw.h"

enum { GREY, BLUE, RED, GREEN, BLACK, INKS };
static const colour inks[INKS] = {{0.62f, 0.63f, 0.66f}, {0.10f, 0.36f, 0.70f}, {0.80f, 0.18f, 0.33f}, {0.20f, 0.55f, 0.30f}, {0.20f, 0.20f, 0.23f}};

/* Where metres are in a picture's unit square. */
typedef struct view {
    float x, y, scale;
} view;

/* Of all that a cart and its pole reach. */
static view view_of(const task *t, const double (*z)[INPUTS], int count, float y, float half_height)
{
    const double length = t->interval.plant.length;
    double far = 0.0;
    for (int k = 0; k <= count; k++)
        far = fmax(far, fabs(z[k][0]));
    return (view){0.5f, y, fminf(half_height / (float)(1.15 * length), 0.47f / (float)(far + 1.15 * length))};
}

static void place(const view *w, double x, double y, float at[2])
{
    at[0] = w->x + w->scale * (float)x;
    at[1] = w->y + w->scale * (float)y;
}

static void bob_at(const view *w, const task *t, const double z[INPUTS], float at[2])
{
    const double length = t->interval.plant.length;
    place(w, z[0] + length * sin(z[1]), -length * cos(z[1]), at);
}

/* A thick line with round ends, opaque. */
static void bar(picture *p, const float from[2], const float to[2], float radius, const colour c)
{
    const float dx = to[0] - from[0], dy = to[1] - from[1];
    const int n = (int)(2.0f * hypotf(dx, dy) / radius) + 1;
    for (int k = 0; k <= n; k++)
        picture_disc(p, from[0] + dx * (float)k / (float)n, from[1] + dy * (float)k / (float)n, radius, c, 1.0f);
}

static void draw_track(picture *p, const view *w, const task *t)
{
    float from[2], to[2];
    place(w, -t->track, 0.0, from);
    place(w, t->track, 0.0, to);
    picture_line(p, from, to, inks[BLACK]);
}

static void draw_plant(picture *p, const view *w, const task *t, const double z[INPUTS], const colour cart, const colour pole)
{
    const double half = 0.12 * t->interval.plant.length;
    float left[2], right[2], joint[2], bob[2];
    place(w, z[0] - half, 0.0, left);
    place(w, z[0] + half, 0.0, right);
    place(w, z[0], 0.0, joint);
    bob_at(w, t, z, bob);
    const float unit = w->scale * (float)t->interval.plant.length;
    bar(p, left, right, 0.05f * unit, cart);
    bar(p, joint, bob, 0.015f * unit, pole);
    picture_disc(p, bob[0], bob[1], 0.06f * unit, pole, 1.0f);
}

/* ---- the picture ---- */

static void draw_swing(picture *p, const plan *plan, const task *t)
{
    enum { MOMENTS = 30 };
    const view w = view_of(t, (const double (*)[INPUTS])plan->z, t->intervals, 0.73f, 0.25f);
    draw_track(p, &w, t);
    for (int m = 0; m <= MOMENTS; m++) {
        const int k = (int)lround((double)t->intervals * m / MOMENTS);
        const float part = (float)m / MOMENTS;
        colour pole;
        for (int c = 0; c < 3; c++)
            pole[c] = inks[BLUE][c] + part * (inks[RED][c] - inks[BLUE][c]);
        draw_plant(p, &w, t, plan->z[k], inks[m < MOMENTS ? GREY : BLACK], pole);
    }
    for (int k = 0; k < t->intervals; k++) {
        float from[2], to[2];
        bob_at(&w, t, plan->z[k], from);
        bob_at(&w, t, plan->z[k + 1], to);
        picture_line(p, from, to, inks[GREY]);
    }
}

/* The axes hold both the plan and the run. */
static chart component_chart(const plan *plan, const task *t, const double (*run)[INPUTS], int count, int component, float bottom, float top)
{
    chart c = {.left = 0.06f, .right = 0.97f, .bottom = bottom, .top = top, .x = {0.0, count * t->interval.time}, .y = {INFINITY, -INFINITY}};
    for (int k = 0; k <= count; k++) {
        const double planned = plan->z[k < t->intervals ? k : t->intervals][component];
        c.y[0] = fmin(c.y[0], fmin(run[k][component], planned));
        c.y[1] = fmax(c.y[1], fmax(run[k][component], planned));
    }
    return c;
}

/* A component of n intervals. A force is constant in each. */
static bool draw_component(picture *p, const chart *c, const task *t, const double (*z)[INPUTS], int n, int component, const colour ink)
{
    const bool held = component == STATE;
    double *time = malloc(2 * ((size_t)n + 1) * sizeof *time), *value = malloc(2 * ((size_t)n + 1) * sizeof *value);
    const bool ok = time && value;
    int points = 0;
    for (int k = 0; ok && k < n + !held; k++)
        for (int end = 0; end <= held; end++, points++) {
            time[points] = (k + end) * t->interval.time;
            value[points] = z[k][component];
        }
    if (ok)
        picture_curve(p, c, time, value, points, ink);
    free(time);
    free(value);
    return ok;
}

bool scene_write_png(const char *path, const plan *plan, const task *t, const double (*run)[INPUTS], int count)
{
    static const struct {
        int component, ink;
        float bottom, top;
    } charts[] = {{1, RED, 0.33f, 0.45f}, {0, BLUE, 0.18f, 0.29f}, {STATE, GREEN, 0.04f, 0.14f}};
    picture *p = picture_create(800);
    bool ok = p != NULL;
    if (ok)
        draw_swing(p, plan, t);
    for (size_t k = 0; ok && k < sizeof charts / sizeof *charts; k++) {
        const int component = charts[k].component;
        const chart c = component_chart(plan, t, run, count, component, charts[k].bottom, charts[k].top);
        picture_axes(p, &c);
        ok = draw_component(p, &c, t, run, count, component, inks[GREY]) &&
             draw_component(p, &c, t, (const double (*)[INPUTS])plan->z, t->intervals, component, inks[charts[k].ink]);
    }
    ok = ok && picture_write_png(p, path);
    picture_destroy(p);
    return ok;
}

/* ---- the animation ---- */

static void draw_force(picture *p, const view *w, const task *t, const double z[INPUTS])
{
    const double length = t->interval.plant.length;
    float from[2], to[2];
    place(w, z[0], -0.25 * length, from);
    place(w, z[0] + length * z[STATE] / t->force, -0.25 * length, to);
    bar(p, from, to, 0.02f * w->scale * (float)length, inks[GREEN]);
}

bool scene_write_gif(const char *path, const task *t, const double (*run)[INPUTS], int count, const push *push)
{
    enum { SIZE = 360 };
    const view w = view_of(t, run, count, 0.5f, 0.46f);
    animation *a = animation_create(path, SIZE, t->interval.time);
    bool ok = a != NULL;
    for (int k = 0; ok && k <= count; k++) {
        const double since = k * t->interval.time - push->time;
        picture *p = picture_create(SIZE);
        ok = p != NULL;
        if (ok) {
            draw_track(p, &w, t);
            draw_force(p, &w, t, run[k]);
            draw_plant(p, &w, t, run[k], inks[BLACK], push->rate != 0.0 && since >= 0.0 && since < 0.2 ? inks[RED] : inks[BLUE]);
            ok = animation_frame(a, p);
        }
        picture_destroy(p);
    }
    return animation_close(a) && ok;
}
