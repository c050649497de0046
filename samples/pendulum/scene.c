#include "scene.h"

#include <cairo.h>
#include <math.h>
#include <stdio.h>

#include "animation.h"

enum { GREY, PALE, BLUE, RED, GREEN, BLACK, INKS };
static const double inks[INKS][3] = {{0.62, 0.63, 0.66}, {0.87, 0.87, 0.86}, {0.10, 0.36, 0.70},
                                     {0.80, 0.18, 0.33}, {0.20, 0.55, 0.30}, {0.20, 0.20, 0.23}};

static void ink(cairo_t *c, int colour)
{
    cairo_set_source_rgb(c, inks[colour][0], inks[colour][1], inks[colour][2]);
}

static cairo_t *blank(int width, int height)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *c = cairo_create(surface);
    cairo_surface_destroy(surface); /* c holds it */
    cairo_set_source_rgb(c, 0.98, 0.975, 0.96);
    cairo_paint(c);
    cairo_set_font_size(c, 13.0);
    cairo_set_line_width(c, 1.6);
    ink(c, BLACK);
    return c;
}

/* A part of the text, 0 to 1, stands to the left of the point. */
static void write_at(cairo_t *c, double x, double y, double part_before, const char *text)
{
    cairo_text_extents_t size;
    cairo_text_extents(c, text, &size);
    cairo_move_to(c, x - part_before * size.x_advance, y);
    cairo_show_text(c, text);
    cairo_new_path(c); /* behind the text it would begin */
}

/* ---- cart and pole ---- */

/* From here to cairo_restore coordinates are metres, y upwards, 0 where the middle of the track is: at the height y of the picture.
   There is room for all that a cart and its pole reach. */
static void enter_metres(cairo_t *c, const task *t, const double (*z)[INPUTS], int count, double width, double y, double half_height)
{
    const double reach = 1.15 * t->interval.plant.length;
    double far = 0.0;
    for (int k = 0; k <= count; k++)
        far = fmax(far, fabs(z[k][0]));
    const double scale = fmin(half_height / reach, 0.47 * width / (far + reach));
    cairo_save(c);
    cairo_translate(c, 0.5 * width, y);
    cairo_scale(c, scale, -scale);
    cairo_set_line_cap(c, CAIRO_LINE_CAP_ROUND);
}

/* Its place, and its velocity. */
static void bob(const task *t, const double z[INPUTS], double at[2], double velocity[2])
{
    const double length = t->interval.plant.length;
    at[0] = z[0] + length * sin(z[1]);
    at[1] = -length * cos(z[1]);
    velocity[0] = z[2] + length * cos(z[1]) * z[3];
    velocity[1] = length * sin(z[1]) * z[3];
}

static void bar(cairo_t *c, double x0, double y0, double x1, double y1, double width)
{
    cairo_move_to(c, x0, y0);
    cairo_line_to(c, x1, y1);
    cairo_set_line_width(c, width);
    cairo_stroke(c);
}

static void draw_track(cairo_t *c, const task *t)
{
    const double length = t->interval.plant.length, end = fmin(t->track, 100.0 * length);
    ink(c, BLACK);
    bar(c, -end, 0.0, end, 0.0, 0.01 * length);
}

static void draw_cart(cairo_t *c, const task *t, const double z[INPUTS])
{
    const double length = t->interval.plant.length, half = 0.12 * length;
    bar(c, z[0] - half, 0.0, z[0] + half, 0.0, 0.1 * length);
}

static void draw_pole(cairo_t *c, const task *t, const double z[INPUTS])
{
    const double length = t->interval.plant.length;
    double at[2], velocity[2];
    bob(t, z, at, velocity);
    bar(c, z[0], 0.0, at[0], at[1], 0.03 * length);
    cairo_arc(c, at[0], at[1], 0.06 * length, 0.0, 2.0 * M_PI);
    cairo_fill(c);
}

/* ---- the picture ---- */

enum { WIDTH = 800, HEIGHT = 880, LEFT = 64, RIGHT = 776 };

/* Of each interval a cubic that has the velocities at both ends. */
static void draw_way(cairo_t *c, const plan *p, const task *t)
{
    const double third = t->interval.time / 3.0;
    double at[2], v[2];
    bob(t, p->z[0], at, v);
    cairo_move_to(c, at[0], at[1]);
    for (int k = 1; k <= t->intervals; k++) {
        const double x = at[0] + third * v[0], y = at[1] + third * v[1];
        bob(t, p->z[k], at, v);
        cairo_curve_to(c, x, y, at[0] - third * v[0], at[1] - third * v[1], at[0], at[1]);
    }
    ink(c, GREY);
    cairo_set_line_width(c, 0.008 * t->interval.plant.length);
    cairo_stroke(c);
}

static void draw_swing(cairo_t *c, const plan *p, const task *t)
{
    enum { MOMENTS = 30 };
    enter_metres(c, t, (const double (*)[INPUTS])p->z, t->intervals, WIDTH, 215.0, 200.0);
    draw_track(c, t);
    ink(c, PALE);
    for (int m = 0; m <= MOMENTS; m++)
        draw_cart(c, t, p->z[(int)lround((double)t->intervals * m / MOMENTS)]);
    draw_way(c, p, t);
    for (int m = 0; m <= MOMENTS; m++) {
        const double part = (double)m / MOMENTS, *const a = inks[BLUE], *const b = inks[RED];
        cairo_set_source_rgb(c, a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), a[2] + part * (b[2] - a[2]));
        if (m == MOMENTS) {
            cairo_save(c);
            ink(c, BLACK);
            draw_cart(c, t, p->z[t->intervals]);
            cairo_restore(c);
        }
        draw_pole(c, t, p->z[(int)lround((double)t->intervals * m / MOMENTS)]);
    }
    cairo_restore(c);
}

/* ---- components by time ---- */

/* A component of plan and run. */
typedef struct strip {
    const char *name;
    int component, colour;
    double unit, bound;  /* values are shown in this unit, bounds as dashed lines */
    double top, bottom;  /* in the picture */
    double low, high;    /* the values there */
    double time;         /* at the right end */
} strip;

/* Room for plan and run, and for the bounds unless they are far away. */
static void find_range(strip *s, const plan *p, const task *t, const double (*run)[INPUTS], int count)
{
    s->low = INFINITY;
    s->high = -INFINITY;
    for (int k = 0; k <= count; k++) {
        const double planned = p->z[k < t->intervals ? k : t->intervals][s->component];
        s->low = fmin(s->low, fmin(run[k][s->component], planned) / s->unit);
        s->high = fmax(s->high, fmax(run[k][s->component], planned) / s->unit);
    }
    if (fmax(-s->low, s->high) > 0.5 * s->bound) {
        s->low = fmin(s->low, -s->bound);
        s->high = fmax(s->high, s->bound);
    }
    if (s->low == s->high) {
        s->low -= 1.0;
        s->high += 1.0;
    }
    s->time = count * t->interval.time;
}

/* From here to stroke_values coordinates are times and values. */
static void enter_values(cairo_t *c, const strip *s)
{
    cairo_save(c);
    cairo_translate(c, LEFT, s->bottom);
    cairo_scale(c, (RIGHT - LEFT) / s->time, (s->top - s->bottom) / (s->high - s->low));
    cairo_translate(c, 0.0, -s->low);
}

static void stroke_values(cairo_t *c, int colour)
{
    cairo_restore(c); /* else lines would be as distorted as the values */
    ink(c, colour);
    cairo_stroke(c);
}

static void draw_component(cairo_t *c, const strip *s, const task *t, const double (*z)[INPUTS], int n, int colour)
{
    const double length = t->interval.time;
    const bool held = s->component == STATE; /* a force is constant in each interval */
    enter_values(c, s);
    for (int k = 0; k < n + !held; k++) {
        cairo_line_to(c, k * length, z[k][s->component] / s->unit);
        if (held)
            cairo_line_to(c, (k + 1) * length, z[k][s->component] / s->unit);
    }
    stroke_values(c, colour);
}

static void draw_level(cairo_t *c, const strip *s, double value, int colour)
{
    enter_values(c, s);
    cairo_move_to(c, 0.0, value);
    cairo_line_to(c, s->time, value);
    stroke_values(c, colour);
}

static void draw_moment(cairo_t *c, const strip *s, double time, int colour)
{
    enter_values(c, s);
    cairo_move_to(c, time, s->low);
    cairo_line_to(c, time, s->high);
    stroke_values(c, colour);
}

/* A half, one or two times a power of ten. */
static double tick_step(double range)
{
    const double power = pow(10.0, floor(log10(range)));
    return range < 2.0 * power ? 0.5 * power : range < 5.0 * power ? power : 2.0 * power;
}

static void draw_values(cairo_t *c, const strip *s)
{
    enum { MOST = 20 };
    const double range = s->high - s->low, right_angle = 90.0;
    const double step = s->component == 1 && range < 5.0 * right_angle ? right_angle : tick_step(range), first = ceil(s->low / step);
    for (int k = 0; k < MOST && (first + k) * step <= s->high; k++) {
        const double value = (first + k) * step;
        char text[32];
        draw_level(c, s, value, PALE);
        snprintf(text, sizeof text, "%g", value);
        ink(c, BLACK);
        write_at(c, LEFT - 8, s->bottom + (s->top - s->bottom) * (value - s->low) / range + 4.0, 1.0, text);
    }
}

static void draw_times(cairo_t *c, const strip *s, bool numbers)
{
    const double step = tick_step(0.5 * s->time);
    for (int k = 0; k * step <= s->time; k++) {
        char text[32];
        draw_moment(c, s, k * step, PALE);
        snprintf(text, sizeof text, "%g", k * step);
        ink(c, BLACK);
        if (numbers)
            write_at(c, LEFT + (RIGHT - LEFT) * k * step / s->time, s->bottom + 20.0, 0.5, text);
    }
}

/* Dashed: bounds, and when the push comes. */
static void draw_marks(cairo_t *c, const strip *s, const push *push)
{
    const double dash[] = {5.0, 4.0};
    cairo_set_dash(c, dash, 2, 0.0);
    if (s->high >= s->bound) {
        draw_level(c, s, -s->bound, BLACK);
        draw_level(c, s, s->bound, BLACK);
    }
    if (push->rate != 0.0 && push->time >= 0.0 && push->time <= s->time) {
        draw_moment(c, s, push->time, GREY);
        write_at(c, LEFT + (RIGHT - LEFT) * push->time / s->time, s->top - 8.0, 0.5, "push");
    }
    cairo_set_dash(c, NULL, 0, 0.0);
}

static void draw_strips(cairo_t *c, const plan *p, const task *t, const double (*run)[INPUTS], int count, const push *push)
{
    strip strips[] = {
        {.name = "angle, degrees", .component = 1, .colour = RED, .unit = M_PI / 180.0, .bound = INFINITY},
        {.name = "position, m", .component = 0, .colour = BLUE, .unit = 1.0, .bound = t->track},
        {.name = "force, N", .component = STATE, .colour = GREEN, .unit = 1.0, .bound = t->force},
    };
    enum { STRIPS = sizeof strips / sizeof *strips };
    for (int k = 0; k < STRIPS; k++) {
        strip *const s = &strips[k];
        s->top = 480.0 + 130.0 * k;
        s->bottom = s->top + 90.0;
        find_range(s, p, t, run, count);
        draw_values(c, s);
        draw_times(c, s, k == STRIPS - 1);
        write_at(c, LEFT, s->top - 8.0, 0.0, s->name);
        draw_marks(c, s, push);
        draw_component(c, s, t, run, count, GREY);
        draw_component(c, s, t, (const double (*)[INPUTS])p->z, t->intervals, s->colour);
    }
    ink(c, BLACK);
    write_at(c, RIGHT, HEIGHT - 12.0, 1.0, "time, s");
    write_at(c, LEFT, 442.0, 0.0, "in colours the same plan, in grey a run with the controller");
}

bool scene_write_png(const char *path, const plan *p, const task *t, const double (*run)[INPUTS], int count, const push *push)
{
    cairo_t *c = blank(WIDTH, HEIGHT);
    char text[64];
    snprintf(text, sizeof text, "the plan, from 0 s (blue) to %g s (red)", t->intervals * t->interval.time);
    write_at(c, LEFT, 24.0, 0.0, text);
    draw_swing(c, p, t);
    draw_strips(c, p, t, run, count, push);
    cairo_status_t status = cairo_status(c);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png(cairo_get_target(c), path);
    if (status != CAIRO_STATUS_SUCCESS)
        fprintf(stderr, "%s: %s\n", path, cairo_status_to_string(status));
    cairo_destroy(c);
    return status == CAIRO_STATUS_SUCCESS;
}

/* ---- the animation ---- */

static void draw_force(cairo_t *c, const task *t, const double z[INPUTS])
{
    const double length = t->interval.plant.length, y = -0.25 * length;
    ink(c, GREEN);
    bar(c, z[0], y, z[0] + length * z[STATE] / t->force, y, 0.04 * length);
}

bool scene_write_gif(const char *path, const task *t, const double (*run)[INPUTS], int count, const push *push)
{
    enum { ACROSS = 480, DOWN = 280 };
    animation *a = animation_create(path, ACROSS, DOWN, t->interval.time);
    bool ok = a != NULL;
    for (int k = 0; ok && k <= count; k++) {
        const double time = k * t->interval.time, since = time - push->time;
        const bool pushed = push->rate != 0.0 && since >= 0.0 && since < 0.2;
        cairo_t *c = blank(ACROSS, DOWN);
        char text[32];
        enter_metres(c, t, run, count, ACROSS, 0.5 * DOWN, 0.46 * DOWN);
        draw_track(c, t);
        draw_force(c, t, run[k]);
        ink(c, BLACK);
        draw_cart(c, t, run[k]);
        ink(c, pushed ? RED : BLUE);
        draw_pole(c, t, run[k]);
        cairo_restore(c);
        ink(c, BLACK);
        snprintf(text, sizeof text, "%.2f s%s", time, pushed ? ", pushed" : "");
        write_at(c, 12.0, 24.0, 0.0, text);
        ok = animation_frame(a, cairo_get_target(c));
        cairo_destroy(c);
    }
    return animation_close(a) && ok;
}
