#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

static const colour PAPER = {0.98, 0.975, 0.96};

cairo_surface_t *frame_create(sample *s, int step)
{
    cairo_surface_t *frame = cairo_image_surface_create(CAIRO_FORMAT_RGB24, FRAME_WIDTH,
                                                        2 * (int)lround(0.5 * s->aspect * FRAME_WIDTH));
    if (cairo_surface_status(frame) != CAIRO_STATUS_SUCCESS) {
        fprintf(stderr, "%s: %s\n", s->name, cairo_status_to_string(cairo_surface_status(frame)));
        cairo_surface_destroy(frame);
        return NULL;
    }
    cairo_t *c = cairo_create(frame);
    draw_colour(c, PAPER, 1.0);
    cairo_paint(c);
    cairo_translate(c, 0.0, cairo_image_surface_get_height(frame));
    cairo_scale(c, FRAME_WIDTH, -FRAME_WIDTH);
    s->draw(s, c, step);
    cairo_destroy(c);
    return frame;
}

/* ---- the picture of a run ---- */

enum { COLUMN = 240, GAP = 12, HEAD = 26, PLOT = 220, ROWS = 8 };

struct picture {
    int rows;
    cairo_surface_t *frame[ROWS]; /* each a row, finished */
};

picture *picture_create(const sample *s)
{
    (void)s;
    return calloc(1, sizeof(picture));
}

static int moments_of(const sample *s)
{
    return s->steps > 0 ? s->moments : 1;
}

/* A frame that stands alone has all its pixels. */
static int column_of(const sample *s)
{
    return moments_of(s) > 1 ? COLUMN : FRAME_WIDTH;
}

static int row_height(const sample *s)
{
    return (int)lround(column_of(s) * s->aspect);
}

static int width_of(const sample *s)
{
    const int frames = moments_of(s) * (column_of(s) + GAP) + GAP;
    return frames < 600 ? 600 : frames;
}

static void write_at(cairo_t *c, double x, double y, double before, const char *text)
{
    cairo_text_extents_t size;
    cairo_text_extents(c, text, &size);
    cairo_move_to(c, x - before * size.x_advance, y);
    cairo_show_text(c, text);
    cairo_new_path(c);
}

void picture_add_row(picture *p, sample *s, const char *label)
{
    const int n = moments_of(s);
    if (p->rows == ROWS)
        return;
    cairo_surface_t *row = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width_of(s), HEAD + row_height(s));
    cairo_t *c = cairo_create(row);
    draw_colour(c, (colour){1, 1, 1}, 1.0);
    cairo_paint(c);
    cairo_set_font_size(c, 14.0);
    for (int k = 0; k < n; k++) {
        const int step = n > 1 ? (int)((long)s->steps * k / (n - 1)) : s->steps;
        const double x = GAP + k * (column_of(s) + GAP), scale = (double)column_of(s) / FRAME_WIDTH;
        char text[128];
        if (k > 0)
            snprintf(text, sizeof text, "step %d", step);
        else
            snprintf(text, sizeof text, s->steps > 0 ? "%s: step 0" : "%s", label);
        draw_colour(c, INK, 1.0);
        write_at(c, x, HEAD - 8, 0.0, text);
        cairo_surface_t *frame = frame_create(s, step);
        if (!frame)
            break;
        cairo_save(c);
        cairo_translate(c, x, HEAD);
        cairo_scale(c, scale, scale);
        cairo_set_source_surface(c, frame, 0.0, 0.0);
        cairo_paint(c);
        cairo_restore(c);
        cairo_surface_destroy(frame);
    }
    cairo_destroy(c);
    p->frame[p->rows++] = row;
}

/* ---- the curve ---- */

/* An axis: values from low to high at places from `from` to `to`; logarithmic, or not. */
typedef struct axis {
    double low, high, from, to;
    bool decades;
} axis;

static double place(const axis *a, double value)
{
    const double x = a->decades ? log10(value) : value, low = a->decades ? log10(a->low) : a->low;
    return a->from + (a->to - a->from) * (x - low) / ((a->decades ? log10(a->high) : a->high) - low);
}

/* 1, 2 or 5 times a power of ten: at most `most` of them fit. */
static double tick_step(double length, int most)
{
    double step = pow(10.0, floor(log10(length / most)));
    const double factor[] = {2.0, 2.5, 2.0};
    for (int k = 0; length / step > most; k++)
        step *= factor[k % 3];
    return step;
}

static axis axis_of(const double *values, int n)
{
    axis a = {INFINITY, -INFINITY, HEAD + PLOT - 30, HEAD + 14, false};
    for (int k = 0; k < n; k++) {
        if (!isfinite(values[k]))
            continue;
        a.low = fmin(a.low, values[k]);
        a.high = fmax(a.high, values[k]);
    }
    if (!(a.low <= a.high))
        a.low = a.high = 0.0;
    if (a.low > 0.0 && a.high > 30.0 * a.low) {
        a.decades = true;
        a.low = pow(10.0, floor(log10(a.low)));
        a.high = pow(10.0, ceil(log10(a.high)));
        return a;
    }
    const double step = tick_step(fmax(a.high - a.low, 1e-12 + 1e-6 * fabs(a.high)), 5);
    a.low = step * floor(a.low / step);
    a.high = step * fmax(ceil(a.high / step), a.low / step + 1.0);
    return a;
}

static void tick(cairo_t *c, const axis *y, double value, double left, double right)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", fabs(value) < 1e-9 * (y->high - y->low) ? 0.0 : value);
    draw_colour(c, INK, 0.15);
    draw_line(c, left, place(y, value), right, place(y, value), 1.0);
    draw_colour(c, INK, 1.0);
    write_at(c, left - 6, place(y, value) + 4, 1.0, text);
}

static void plot(cairo_t *c, const double *values, int n, double width, const char *title)
{
    const axis y = axis_of(values, n);
    const axis x = {0.0, n > 1 ? n - 1 : 1, 76.0, width - 24.0, false};
    const double step = tick_step(y.high - y.low, 6);
    draw_colour(c, INK, 1.0);
    cairo_set_font_size(c, 14.0);
    write_at(c, GAP, HEAD - 8, 0.0, title);
    cairo_set_font_size(c, 12.0);
    for (double v = y.low; y.decades && v < 1.01 * y.high; v *= 10.0)
        tick(c, &y, v, x.from, x.to);
    for (double v = y.low; !y.decades && v < y.high + 0.01 * step; v += step)
        tick(c, &y, v, x.from, x.to);
    const double across = fmax(tick_step(x.high, 10), 1.0);
    for (double k = 0.0; k <= x.high; k += across) {
        char text[32];
        snprintf(text, sizeof text, "%g", k);
        write_at(c, place(&x, k), y.from + 18, 0.5, text);
    }
    draw_colour(c, RED, 1.0);
    cairo_set_line_width(c, 1.8);
    for (int k = 0; k < n; k++)
        if (isfinite(values[k]))
            cairo_line_to(c, place(&x, k), place(&y, values[k]));
    cairo_stroke(c);
    if (n == 1)
        draw_disc(c, x.from, place(&y, values[0]), 3.0);
}

bool picture_finish(picture *p, const sample *s, const double *values, int n, const char *path)
{
    if (!p)
        return false;
    char title[160];
    const int height = HEAD + row_height(s), width = width_of(s);
    cairo_surface_t *all = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width,
                                                      p->rows * height + GAP + (n > 0 ? HEAD + PLOT : 0));
    cairo_t *c = cairo_create(all);
    draw_colour(c, (colour){1, 1, 1}, 1.0);
    cairo_paint(c);
    for (int k = 0; k < p->rows; k++) {
        cairo_set_source_surface(c, p->frame[k], 0.0, 0.0);
        cairo_paint(c);
        cairo_surface_destroy(p->frame[k]);
        cairo_translate(c, 0.0, height);
    }
    snprintf(title, sizeof title, s->parameters ? "%s, by iterations" : "%s", s->loss ? s->loss : "loss");
    if (n > 0)
        plot(c, values, n, width, title);
    cairo_status_t status = cairo_status(c);
    cairo_destroy(c);
    if (status == CAIRO_STATUS_SUCCESS && path)
        status = cairo_surface_write_to_png(all, path);
    if (status != CAIRO_STATUS_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", s->name, path, cairo_status_to_string(status));
    cairo_surface_destroy(all);
    free(p);
    return status == CAIRO_STATUS_SUCCESS && path;
}
