#include "picture.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 800, HEIGHT = 700 };

static const double black[3] = {0.20, 0.20, 0.23}, grey[3] = {0.55, 0.56, 0.60}, red[3] = {0.80, 0.18, 0.33}, blue[3] = {0.10, 0.36, 0.70};

static void ink(cairo_t *c, const double rgb[3], double opacity)
{
    cairo_set_source_rgba(c, rgb[0], rgb[1], rgb[2], opacity);
}

/* ---- throws ---- */

/* The unit square is as wide as the picture. */
static void line_to(cairo_t *c, const float at[2])
{
    cairo_line_to(c, WIDTH * fmin(fmax((double)at[0], -1.0), 2.0), HEIGHT - WIDTH * fmin(fmax((double)at[1], -1.0), 2.0));
}

/* A line of the particles' lattice: n of them, each a stride behind the one before. */
static void lattice_line(cairo_t *c, const float (*x)[2], int n, int stride)
{
    for (int k = 0; k < n; k++)
        line_to(c, x[k * stride]);
}

static void draw_body(cairo_t *c, const float (*x)[2], int side, const double rgb[3], double opacity)
{
    const int last = side - 1, lines = last < 8 ? last : 8;
    lattice_line(c, x, last, 1);
    lattice_line(c, x + last, last, side);
    lattice_line(c, x + last * side + last, last, -1);
    lattice_line(c, x + last * side, last, -side);
    cairo_close_path(c);
    ink(c, rgb, 0.3 * opacity);
    cairo_fill(c);
    for (int k = 0; k <= lines; k++) {
        const int at = lines ? k * last / lines : 0;
        lattice_line(c, x + at * side, side, 1);
        cairo_new_sub_path(c);
        lattice_line(c, x + at, side, side);
        cairo_new_sub_path(c);
    }
    ink(c, rgb, opacity);
    cairo_set_line_width(c, 0.9);
    cairo_stroke(c);
}

static void draw_throw(cairo_t *c, const jelly *m, int side, const double rgb[3], double opacity)
{
    enum { MOMENTS = 5 };
    const int steps = m->params.STEPS;
    for (int k = 0; k <= MOMENTS; k++) {
        const int step = (int)((long)steps * k / MOMENTS);
        draw_body(c, (const float (*)[2])m->x.data + (size_t)step * (size_t)m->params.N, side, rgb, k == MOMENTS ? opacity : 0.4 * opacity);
    }
    for (int step = 0; step <= steps; step++) {
        float centre[2];
        body_centre(m, step, centre);
        line_to(c, centre);
    }
    ink(c, rgb, 1.0);
    cairo_set_line_width(c, 1.8);
    cairo_stroke(c);
}

static void draw_floor(cairo_t *c, double height)
{
    cairo_rectangle(c, 0.0, HEIGHT - WIDTH * height, WIDTH, WIDTH * height);
    ink(c, black, 0.12);
    cairo_fill(c);
}

static void draw_target(cairo_t *c, const float at[2])
{
    const double x = WIDTH * (double)at[0], y = HEIGHT - WIDTH * (double)at[1];
    ink(c, blue, 1.0);
    cairo_arc(c, x, y, 16.0, 0.0, 2.0 * M_PI);
    cairo_stroke(c);
    cairo_arc(c, x, y, 3.5, 0.0, 2.0 * M_PI);
    cairo_fill(c);
}

static void draw_name(cairo_t *c, double x, const double rgb[3], const char *name)
{
    const double y = 210.0, side = 12.0;
    cairo_rectangle(c, x, y, side, side);
    ink(c, rgb, 0.9);
    cairo_fill(c);
    ink(c, black, 1.0);
    cairo_move_to(c, x + 1.6 * side, y + side - 1.0);
    cairo_show_text(c, name);
    cairo_new_path(c);
}

void picture_first_throw(cairo_t *c, const jelly *m, int side)
{
    draw_floor(c, 3.0 / m->params.CELLS);
    draw_throw(c, m, side, grey, 0.6);
    draw_name(c, 64.0, grey, "first throw");
}

void picture_last_throw(cairo_t *c, const jelly *m, int side)
{
    draw_throw(c, m, side, red, 0.9);
    draw_target(c, m->target.data[0]);
    draw_name(c, 180.0, red, "last throw");
    draw_name(c, 296.0, blue, "target");
}

/* ---- losses ---- */

enum { LEFT = 64, RIGHT = 776, TOP = 40, BOTTOM = 170 };

static double loss_y(double loss, const int decades[2])
{
    return BOTTOM + (TOP - BOTTOM) * (log10(loss) - decades[0]) / (decades[1] - decades[0]);
}

static double iteration_x(int k, int iterations)
{
    return LEFT + (double)(RIGHT - LEFT) * k / (iterations ? iterations : 1);
}

/* A number beside a tick; it ends at x, or x is its middle. */
static void number(cairo_t *c, double x, double y, double part_before, double value)
{
    char text[32];
    cairo_text_extents_t size;
    snprintf(text, sizeof text, "%g", value);
    cairo_text_extents(c, text, &size);
    cairo_move_to(c, x - part_before * size.x_advance, y);
    cairo_show_text(c, text);
}

static void draw_axes(cairo_t *c, const int decades[2], int iterations)
{
    int step = 1;
    while (10 * step < iterations)
        step *= 10;
    for (int d = decades[0]; d <= decades[1]; d++) {
        const double y = loss_y(pow(10.0, d), decades);
        ink(c, black, 0.1);
        cairo_move_to(c, LEFT, y);
        cairo_line_to(c, RIGHT, y);
        cairo_stroke(c);
        ink(c, black, 1.0);
        number(c, LEFT - 8, y + 4, 1.0, pow(10.0, d));
    }
    for (int k = 0; k <= iterations; k += step)
        number(c, iteration_x(k, iterations), BOTTOM + 18, 0.5, k);
    cairo_move_to(c, LEFT, TOP - 16);
    cairo_show_text(c, "loss: squared distance from the target, by iterations");
    cairo_new_path(c);
}

void picture_losses(cairo_t *c, const double *losses, int iterations)
{
    const double least = 1e-12, most = 1e12;
    int decades[2] = {12, -12};
    for (int k = 0; k <= iterations; k++) {
        const double d = log10(fmin(fmax(losses[k], least), most));
        decades[0] = (int)fmin(decades[0], floor(d));
        decades[1] = (int)fmax(decades[1], ceil(d));
    }
    decades[1] += decades[0] == decades[1];
    cairo_set_line_width(c, 1.6);
    draw_axes(c, decades, iterations);
    ink(c, red, 1.0);
    for (int k = 0; k <= iterations; k++)
        cairo_line_to(c, iteration_x(k, iterations), loss_y(fmin(fmax(losses[k], least), most), decades));
    cairo_stroke(c);
    for (int k = 0; iterations <= 100 && k <= iterations; k++) {
        cairo_arc(c, iteration_x(k, iterations), loss_y(fmin(fmax(losses[k], least), most), decades), 2.8, 0.0, 2.0 * M_PI);
        cairo_fill(c);
    }
}

/* ---- the file ---- */

cairo_t *picture_create(void)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    cairo_t *c = cairo_create(surface);
    cairo_surface_destroy(surface); /* c holds it */
    cairo_set_source_rgb(c, 0.98, 0.975, 0.96);
    cairo_paint(c);
    cairo_set_font_size(c, 13.0);
    return c;
}

bool picture_write(cairo_t *c, const char *path)
{
    cairo_status_t status = cairo_status(c);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png(cairo_get_target(c), path);
    if (status != CAIRO_STATUS_SUCCESS)
        fprintf(stderr, "%s: %s\n", path, cairo_status_to_string(status));
    return status == CAIRO_STATUS_SUCCESS;
}
