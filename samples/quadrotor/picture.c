#include "picture.h"

#include <cairo.h>
#include <math.h>
#include <stdio.h>

enum { WIDTH = 900, SPACE = 460, STRIP = 150, LEFT = 60, RIGHT = WIDTH - 20 };

typedef struct ink {
    double r, g, b;
} ink;

static const ink BLACK = {0.20, 0.20, 0.23}, GREY = {0.62, 0.63, 0.66}, PALE = {0.88, 0.88, 0.87},
                 RED = {0.80, 0.18, 0.33}, BLUE = {0.10, 0.36, 0.70}, GREEN = {0.20, 0.55, 0.30};

static void set_ink(cairo_t *c, ink k)
{
    cairo_set_source_rgb(c, k.r, k.g, k.b);
}

static void write_at(cairo_t *c, double x, double y, const char *text)
{
    set_ink(c, BLACK);
    cairo_move_to(c, x, y);
    cairo_show_text(c, text);
    cairo_new_path(c);
}

/* ---- the way ---- */

/* From above and the side. */
static void see(const double p[3], double to[2])
{
    const double turn = 0.5, rise = 0.65, scale = 125.0;
    const double along = cos(turn) * p[0] - sin(turn) * p[1], away = sin(turn) * p[0] + cos(turn) * p[1];
    to[0] = 0.5 * WIDTH + scale * along;
    to[1] = 0.53 * SPACE - scale * (sin(rise) * away + cos(rise) * (p[2] - 1.5));
}

static void line_to(cairo_t *c, const double p[3])
{
    double at[2];
    see(p, at);
    cairo_line_to(c, fmin(fmax(at[0], -1e4), 1e4), fmin(fmax(at[1], -1e4), 1e4));
}

/* Two bars across, in the axes of the body. */
static void draw_drone(cairo_t *c, const double s[STATE], double arm, ink k)
{
    const double sr = sin(s[6]), cr = cos(s[6]), sp = sin(s[7]), cp = cos(s[7]), sy = sin(s[8]), cy = cos(s[8]);
    const double axis[2][3] = {{cy * cp, sy * cp, -sp}, {cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr}};
    set_ink(c, k);
    for (int a = 0; a < 2; a++) {
        double ends[2][3];
        for (int i = 0; i < 3; i++) {
            ends[0][i] = s[i] - arm * axis[a][i];
            ends[1][i] = s[i] + arm * axis[a][i];
        }
        line_to(c, ends[0]);
        line_to(c, ends[1]);
        cairo_set_line_width(c, 2.5);
        cairo_stroke(c);
        for (int e = 0; e < 2; e++) {
            double at[2];
            see(ends[e], at);
            cairo_arc(c, at[0], at[1], 3.2, 0.0, 6.2832);
            cairo_fill(c);
        }
    }
}

static void draw_way(cairo_t *c, const flight *f, const task *t, const gust *g)
{
    const int every = (int)fmax(1.0, lround(0.25 / t->time)), hit = (int)lround(g->time / t->time);
    set_ink(c, GREY);
    cairo_set_line_width(c, 1.2);
    for (int k = 0; k < f->count; k++)
        line_to(c, f->at[k].goal);
    cairo_stroke(c);
    set_ink(c, RED);
    cairo_set_line_width(c, 1.8);
    for (int k = 0; k < f->count; k++)
        line_to(c, f->at[k].state);
    cairo_stroke(c);
    if (hit < f->count) {
        const double dash[] = {4.0, 4.0};
        set_ink(c, GREEN);
        cairo_set_dash(c, dash, 2, 0.0);
        for (int k = 0; k <= t->intervals; k++)
            line_to(c, f->plan[k]);
        cairo_stroke(c);
        cairo_set_dash(c, NULL, 0, 0.0);
    }
    for (int k = 0; k < f->count; k += every)
        draw_drone(c, f->at[k].state, t->drone.arm, k == hit ? GREEN : BLUE);
    write_at(c, 14.0, 24.0, "grey: path; red: flight; green: the plan when the gust hits");
}

/* ---- by time ---- */

typedef struct strip {
    const char *name;
    double high;
} strip;

static void enter(cairo_t *c, const strip *s, const flight *f)
{
    cairo_save(c);
    cairo_translate(c, LEFT, STRIP - 22.0);
    cairo_scale(c, (RIGHT - LEFT) / fmax(f->count - 1, 1), -(STRIP - 50.0) / s->high);
}

static void stroke(cairo_t *c, ink k)
{
    cairo_restore(c); /* else lines would be as distorted as the values */
    set_ink(c, k);
    cairo_set_line_width(c, 1.6);
    cairo_stroke(c);
}

static void draw_axes(cairo_t *c, const strip *s, const flight *f, const task *t)
{
    char text[32];
    write_at(c, 14.0, 18.0, s->name);
    for (int k = 0; k <= 2; k++) {
        const double value = 0.5 * k * s->high, y = STRIP - 22.0 - (STRIP - 50.0) * 0.5 * k;
        snprintf(text, sizeof text, "%.3g", value);
        write_at(c, 20.0, y + 4.0, text);
        set_ink(c, PALE);
        cairo_move_to(c, LEFT, y);
        cairo_line_to(c, RIGHT, y);
        cairo_stroke(c);
    }
    snprintf(text, sizeof text, "%g s", (f->count - 1) * t->time);
    write_at(c, RIGHT - 30.0, STRIP - 6.0, text);
    write_at(c, LEFT, STRIP - 6.0, "0");
}

static void draw_off(cairo_t *c, const flight *f, const task *t)
{
    strip s = {"distance from the path, m", 1e-3};
    for (int k = 0; k < f->count; k++)
        s.high = fmax(s.high, f->at[k].off);
    draw_axes(c, &s, f, t);
    enter(c, &s, f);
    for (int k = 0; k < f->count; k++)
        cairo_line_to(c, k, f->at[k].off);
    stroke(c, RED);
}

static void draw_thrusts(cairo_t *c, const flight *f, const task *t)
{
    static const ink inks[THRUSTS] = {{0.10, 0.36, 0.70}, {0.80, 0.18, 0.33}, {0.20, 0.55, 0.30}, {0.85, 0.60, 0.15}};
    const strip s = {"thrusts of the rotors, N", t->thrust};
    draw_axes(c, &s, f, t);
    for (int i = 0; i < THRUSTS; i++) {
        enter(c, &s, f);
        for (int k = 0; k < f->count; k++) {
            cairo_line_to(c, k, f->at[k].thrust[i]);
            cairo_line_to(c, k + 1 < f->count ? k + 1 : k, f->at[k].thrust[i]);
        }
        stroke(c, inks[i]);
    }
}

bool picture_write(const char *path, const flight *f, const task *t, const gust *g)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, SPACE + 2 * STRIP);
    cairo_t *c = cairo_create(surface);
    cairo_surface_destroy(surface); /* c holds it */
    cairo_set_source_rgb(c, 0.98, 0.975, 0.96);
    cairo_paint(c);
    cairo_set_font_size(c, 14.0);
    cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
    draw_way(c, f, t, g);
    cairo_translate(c, 0.0, SPACE);
    draw_off(c, f, t);
    cairo_translate(c, 0.0, STRIP);
    draw_thrusts(c, f, t);
    const cairo_status_t status = cairo_surface_write_to_png(cairo_get_target(c), path);
    cairo_destroy(c);
    if (status != CAIRO_STATUS_SUCCESS)
        fprintf(stderr, "quadrotor: %s: %s\n", path, cairo_status_to_string(status));
    else
        printf("picture: %s\n", path);
    return status == CAIRO_STATUS_SUCCESS;
}
