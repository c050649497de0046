#include "picture.h"

#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 440, GAP = 14, HEAD = 30, PLOT = 230, WIDTH = 2 * SIDE + 3 * GAP };

typedef struct ink {
    double r, g, b;
} ink;

static const ink BLACK = {0.20, 0.20, 0.23}, PALE = {0.88, 0.88, 0.87}, RED = {0.80, 0.18, 0.33},
                 BLUE = {0.10, 0.36, 0.70};

static void set_ink(cairo_t *c, ink k, double opacity)
{
    cairo_set_source_rgba(c, k.r, k.g, k.b, opacity);
}

static void write_at(cairo_t *c, double x, double y, const char *text)
{
    set_ink(c, BLACK, 1.0);
    cairo_move_to(c, x, y);
    cairo_show_text(c, text);
    cairo_new_path(c);
}

/* ---- the scene from above ---- */

typedef struct view {
    double x, z, reach; /* middle and half width */
} view;

static int ascending(const void *a, const void *b)
{
    const double d = *(const double *)a - *(const double *)b;
    return (d > 0.0) - (d < 0.0);
}

/* Room for all cameras, and for all points but the farthest. */
static bool find_view(const scene *s, view *v)
{
    const size_t n = (size_t)s->points;
    double *far = malloc(n * sizeof *far);
    if (!far) {
        perror("bundle");
        return false;
    }
    double middle[2];
    for (int axis = 0; axis < 2; axis++) {
        for (size_t p = 0; p < n; p++)
            far[p] = s->point[p][2 * axis];
        qsort(far, n, sizeof *far, ascending);
        middle[axis] = far[n / 2];
    }
    *v = (view){middle[0], middle[1], 0.0};
    for (size_t p = 0; p < n; p++)
        far[p] = hypot(s->point[p][0] - v->x, s->point[p][2] - v->z);
    qsort(far, n, sizeof *far, ascending);
    v->reach = far[n * 9 / 10];
    for (int k = 0; k < s->cameras; k++) {
        double at[3];
        camera_centre(s->camera[k], at);
        v->reach = fmax(v->reach, hypot(at[0] - v->x, at[2] - v->z));
    }
    v->reach *= 1.1;
    free(far);
    return v->reach > 0.0 && isfinite(v->reach);
}

static void draw_camera(cairo_t *c, const view *v, const double camera[CAMERA])
{
    double at[3], look[CAMERA], to[3];
    camera_centre(camera, at);
    for (int i = 0; i < CAMERA; i++)
        look[i] = camera[i];
    look[5] += 0.14 * v->reach; /* the place before it, along its negative z axis */
    camera_centre(look, to);
    const double scale = 0.5 * SIDE / v->reach;
    set_ink(c, BLUE, 1.0);
    cairo_move_to(c, scale * (at[0] - v->x), scale * (at[2] - v->z));
    cairo_line_to(c, scale * (to[0] - v->x), scale * (to[2] - v->z));
    cairo_stroke(c);
    cairo_arc(c, scale * (at[0] - v->x), scale * (at[2] - v->z), 3.5, 0.0, 6.2832);
    cairo_fill(c);
}

static void draw_scene(cairo_t *c, const view *v, const scene *s, double left, const char *title)
{
    const double scale = 0.5 * SIDE / v->reach;
    write_at(c, left, HEAD - 10.0, title);
    cairo_save(c);
    cairo_rectangle(c, left, HEAD, SIDE, SIDE);
    cairo_clip(c);
    set_ink(c, (ink){1, 1, 1}, 1.0);
    cairo_paint(c);
    cairo_translate(c, left + 0.5 * SIDE, HEAD + 0.5 * SIDE);
    set_ink(c, RED, s->points > 5000 ? 0.25 : 0.7);
    for (int p = 0; p < s->points; p++) {
        const double x = scale * (s->point[p][0] - v->x), y = scale * (s->point[p][2] - v->z);
        if (fabs(x) < SIDE && fabs(y) < SIDE) {
            cairo_arc(c, x, y, 1.4, 0.0, 6.2832);
            cairo_fill(c);
        }
    }
    for (int k = 0; k < s->cameras; k++)
        draw_camera(c, v, s->camera[k]);
    cairo_restore(c);
}

/* ---- the course ---- */

static void draw_course(cairo_t *c, const course *course)
{
    const double left = 70.0, right = WIDTH - 2.0 * GAP, top = 50.0, bottom = PLOT - 24.0;
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i <= course->count; i++) {
        const double e = log10(fmax(course->at[i].cost, 1e-30));
        low = fmin(low, floor(e));
        high = fmax(high, ceil(e));
    }
    high = fmax(high, low + 1.0);
    write_at(c, GAP, 28.0, "half the sum of squares of all residuals, in square pixels, before each iteration");
    for (double e = low; e <= high; e += fmax(1.0, floor((high - low) / 5.0))) {
        char text[16];
        const double y = bottom + (top - bottom) * (e - low) / (high - low);
        snprintf(text, sizeof text, "1e%.0f", e);
        write_at(c, GAP, y + 4.0, text);
        set_ink(c, PALE, 1.0);
        cairo_move_to(c, left, y);
        cairo_line_to(c, right, y);
        cairo_stroke(c);
    }
    set_ink(c, RED, 1.0);
    for (int i = 0; i <= course->count; i++)
        cairo_line_to(c, left + (right - left) * i / fmax(course->count, 1),
                      bottom + (top - bottom) * (log10(fmax(course->at[i].cost, 1e-30)) - low) / (high - low));
    cairo_stroke(c);
}

bool picture_write(const char *path, const scene *before, const scene *after, const course *course)
{
    view v;
    if (!find_view(before, &v)) {
        fprintf(stderr, "bundle: there is nothing to draw\n");
        return false;
    }
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEAD + SIDE + PLOT);
    cairo_t *c = cairo_create(surface);
    cairo_surface_destroy(surface); /* c holds it */
    cairo_set_source_rgb(c, 0.95, 0.945, 0.93);
    cairo_paint(c);
    cairo_set_font_size(c, 14.0);
    cairo_set_line_width(c, 1.6);
    draw_scene(c, &v, before, GAP, "first guess, from above");
    draw_scene(c, &v, after, SIDE + 2 * GAP, "adjusted");
    cairo_translate(c, 0.0, HEAD + SIDE);
    draw_course(c, course);
    const cairo_status_t status = cairo_surface_write_to_png(cairo_get_target(c), path);
    cairo_destroy(c);
    if (status != CAIRO_STATUS_SUCCESS)
        fprintf(stderr, "bundle: %s: %s\n", path, cairo_status_to_string(status));
    else
        printf("picture: %s\n", path);
    return status == CAIRO_STATUS_SUCCESS;
}
