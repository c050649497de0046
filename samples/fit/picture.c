#include "picture.h"

#include <cairo.h>
#include <math.h>
#include <stdio.h>

enum { SIZE = 800, LEFT = 64, RIGHT = 776 };

typedef double colour[3];
static const colour black = {0.20, 0.20, 0.23}, grey = {0.62, 0.63, 0.66}, pale = {0.88, 0.88, 0.87};
static const colour blue = {0.10, 0.36, 0.70}, red = {0.80, 0.18, 0.33}, green = {0.20, 0.55, 0.30};

typedef struct axis {
    const char *name;
    double ends[2];   /* in the picture */
    double values[2]; /* there; if logarithmic, their decimal logarithms */
    bool logarithmic;
} axis;

typedef struct chart {
    axis x, y;
} chart;

static void ink(cairo_t *c, const colour rgb)
{
    cairo_set_source_rgb(c, rgb[0], rgb[1], rgb[2]);
}

/* ---- axes ---- */

static void widen(axis *a, double value)
{
    if (isfinite(value)) {
        a->values[0] = fmin(a->values[0], value);
        a->values[1] = fmax(a->values[1], value);
    }
}

/* What is far outside comes to stand outside too, but near: cairo's coordinates have bounds. */
static double place(const axis *a, double value)
{
    const double part = (value - a->values[0]) / (a->values[1] - a->values[0]);
    return a->ends[0] + (a->ends[1] - a->ends[0]) * fmin(fmax(part, -1.0), 2.0);
}

/* One, two or five times a power of ten: as many ticks as there is room for. */
static double tick_step(const axis *a)
{
    const double room = 40.0, least = room * (a->values[1] - a->values[0]) / fabs(a->ends[1] - a->ends[0]);
    const double power = pow(10.0, floor(log10(least))), step = power * (least <= 2.0 * power ? 2.0 : least <= 5.0 * power ? 5.0 : 10.0);
    return a->logarithmic ? fmax(step, 1.0) : step;
}

/* Its right end or its middle is at (x, y); a power of ten has its exponent set higher. */
static void draw_number(cairo_t *c, double x, double y, bool centred, double value, bool power)
{
    char base[32] = "10", exponent[32] = "";
    cairo_text_extents_t size, raised;
    snprintf(power ? exponent : base, sizeof base, "%g", value);
    cairo_text_extents(c, base, &size);
    cairo_save(c);
    cairo_set_font_size(c, 9.0);
    cairo_text_extents(c, exponent, &raised);
    cairo_restore(c);
    cairo_move_to(c, x - (size.x_advance + raised.x_advance) * (centred ? 0.5 : 1.0), y);
    cairo_show_text(c, base);
    cairo_rel_move_to(c, 0.0, -5.0);
    cairo_save(c);
    cairo_set_font_size(c, 9.0);
    cairo_show_text(c, exponent);
    cairo_restore(c);
}

/* Lines across the chart, each with its number. */
static void draw_ticks(cairo_t *c, const axis *a, const axis *across, bool vertical)
{
    enum { MOST = 40 };
    const double step = tick_step(a), first = ceil(a->values[0] / step), *const ends = across->ends;
    for (int k = 0; k < MOST && (first + k) * step <= a->values[1]; k++) {
        const double value = (first + k) * step, at = place(a, value);
        cairo_move_to(c, vertical ? at : ends[0], vertical ? ends[0] : at);
        cairo_line_to(c, vertical ? at : ends[1], vertical ? ends[1] : at);
        ink(c, pale);
        cairo_stroke(c);
        ink(c, black);
        draw_number(c, vertical ? at : ends[0] - 8.0, vertical ? ends[0] + 20.0 : at + 4.0, vertical, value, a->logarithmic);
    }
}

/* Leaves the point behind the name of the y axis, where the legend goes. */
static void draw_axes(cairo_t *c, const chart *h)
{
    cairo_text_extents_t size;
    draw_ticks(c, &h->x, &h->y, true);
    draw_ticks(c, &h->y, &h->x, false);
    ink(c, black);
    cairo_text_extents(c, h->x.name, &size);
    cairo_move_to(c, h->x.ends[1] - size.x_advance, h->y.ends[0] + 36.0);
    cairo_show_text(c, h->x.name);
    cairo_move_to(c, h->x.ends[0], h->y.ends[1] - 14.0);
    cairo_show_text(c, h->y.name);
}

/* An entry of the legend. */
static void draw_entry(cairo_t *c, const colour rgb, const char *text)
{
    double x, y;
    cairo_get_current_point(c, &x, &y);
    cairo_move_to(c, x + 24.0, y - 4.0);
    cairo_rel_line_to(c, 24.0, 0.0);
    ink(c, rgb);
    cairo_stroke(c);
    ink(c, black);
    cairo_move_to(c, x + 54.0, y);
    cairo_show_text(c, text);
}

/* From here to cairo_restore. */
static void only_inside(cairo_t *c, const chart *h)
{
    const double margin = 4.0;
    cairo_save(c);
    cairo_rectangle(c, h->x.ends[0] - margin, h->y.ends[1] - margin, h->x.ends[1] - h->x.ends[0] + 2.0 * margin,
                    h->y.ends[0] - h->y.ends[1] + 2.0 * margin);
    cairo_clip(c);
}

/* ---- the charts ---- */

static void draw_model(cairo_t *c, const chart *h, const fit *f, const double *model, const colour rgb)
{
    cairo_new_path(c);
    for (int i = 0; i < f->params.N; i++)
        cairo_line_to(c, place(&h->x, f->time.data[i]), place(&h->y, model[i]));
    ink(c, rgb);
    cairo_stroke(c);
}

static void draw_measurements(cairo_t *c, const chart *h, const fit *f)
{
    const double radius = 2.5;
    ink(c, blue);
    for (int i = 0; i < f->params.N; i++) {
        const double x = place(&h->x, f->time.data[i]), y = f->value.data[i], sigma = f->sigma.data[i];
        cairo_move_to(c, x, place(&h->y, y - sigma));
        cairo_line_to(c, x, place(&h->y, y + sigma));
        cairo_stroke(c);
        cairo_arc(c, x, place(&h->y, y), radius, 0.0, 2.0 * M_PI);
        cairo_fill(c);
    }
}

static void draw_fit(cairo_t *c, const fit *f, const double *before, const double *after)
{
    chart h = {{.name = "time", .ends = {LEFT, RIGHT}, .values = {INFINITY, -INFINITY}},
               {.name = "value", .ends = {420.0, 44.0}, .values = {INFINITY, -INFINITY}}};
    for (int i = 0; i < f->params.N; i++) {
        widen(&h.x, f->time.data[i]);
        widen(&h.y, f->value.data[i] - f->sigma.data[i]);
        widen(&h.y, f->value.data[i] + f->sigma.data[i]);
    }
    draw_axes(c, &h);
    draw_entry(c, blue, "measured, with its standard error");
    draw_entry(c, grey, "model at the start");
    draw_entry(c, red, "model fitted");
    only_inside(c, &h);
    draw_model(c, &h, f, before, grey);
    draw_measurements(c, &h, f);
    draw_model(c, &h, f, after, red);
    cairo_restore(c);
}

/* What is too small for the axis stands at its end. */
static double course_y(const chart *h, const course *course, int k, double least)
{
    return place(&h->y, fmax(log10(course->chi2[k] - least), h->y.values[0]));
}

static void draw_course(cairo_t *c, const chart *h, const course *course, double least, const colour rgb)
{
    double last = -INFINITY;
    cairo_new_path(c);
    for (int k = 0; k <= course->iterations; k++) {
        const double x = place(&h->x, log10(k + 1.0));
        if (x - last > 0.25 || k == course->iterations) {
            cairo_line_to(c, x, course_y(h, course, k, least));
            last = x;
        }
    }
    ink(c, rgb);
    cairo_stroke(c);
    for (int k = 0; course->iterations < 50 && k <= course->iterations; k++) {
        cairo_arc(c, place(&h->x, log10(k + 1.0)), course_y(h, course, k, least), 3.0, 0.0, 2.0 * M_PI);
        cairo_fill(c);
    }
}

static void draw_convergence(cairo_t *c, const course *descent, const course *newton)
{
    const double least = fmin(descent->chi2[descent->iterations], newton->chi2[newton->iterations]);
    chart h = {{.name = "iteration", .ends = {LEFT, RIGHT}, .values = {0.0, log10(2.0)}, .logarithmic = true},
               {.name = "chi2 before it, less the least one", .ends = {750.0, 510.0}, .values = {-6.0, 0.0}, .logarithmic = true}};
    widen(&h.x, log10(fmax(descent->iterations, newton->iterations) + 1.0));
    widen(&h.y, log10(fmax(descent->chi2[0], newton->chi2[0]) - least));
    draw_axes(c, &h);
    draw_entry(c, green, "gradient descent");
    draw_entry(c, red, "Gauss-Newton");
    only_inside(c, &h);
    draw_course(c, &h, descent, least, green);
    draw_course(c, &h, newton, least, red);
    cairo_restore(c);
}

bool picture_write(const char *path, const fit *f, const double *before, const double *after, const course *descent, const course *newton)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, SIZE, SIZE);
    cairo_t *c = cairo_create(surface);
    cairo_set_source_rgb(c, 0.98, 0.975, 0.96);
    cairo_paint(c);
    cairo_set_font_size(c, 13.0);
    cairo_set_line_width(c, 1.6);
    draw_fit(c, f, before, after);
    draw_convergence(c, descent, newton);
    cairo_status_t status = cairo_status(c);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png(surface, path);
    if (status != CAIRO_STATUS_SUCCESS)
        fprintf(stderr, "%s: %s\n", path, cairo_status_to_string(status));
    cairo_destroy(c);
    cairo_surface_destroy(surface);
    return status == CAIRO_STATUS_SUCCESS;
}
