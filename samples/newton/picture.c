#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = PAGE_WIDTH, FRAME = 290, PLOT = PAGE_HEIGHT - FRAME, GAP = 14 };

struct picture {
    cairo_t *c;
};

typedef struct ink {
    double r, g, b;
} ink;

static const ink BLACK = {0.20, 0.20, 0.23}, PALE = {0.88, 0.88, 0.87}, RED = {0.80, 0.18, 0.33};

static void set_ink(cairo_t *c, ink k)
{
    cairo_set_source_rgb(c, k.r, k.g, k.b);
}

/* Of t from 0 to 1: from blue by white to red. */
static ink warmth(double t)
{
    static const ink stop[] = {
        {0.16, 0.28, 0.55}, {0.55, 0.72, 0.83}, {0.97, 0.90, 0.68}, {0.86, 0.42, 0.25}, {0.60, 0.08, 0.17}};
    const double at = 4.0 * fmin(fmax(t, 0.0), 1.0); /* NaN: the first */
    const int k = at < 3.0 ? (int)at : 3;
    const ink a = stop[k], b = stop[k + 1];
    return (ink){a.r + (at - k) * (b.r - a.r), a.g + (at - k) * (b.g - a.g), a.b + (at - k) * (b.b - a.b)};
}

/* ---- the mesh ---- */

/* A polygon that is seen: a triangle, or a side of a cell at the surface of a beam. */
typedef struct patch {
    double x[4], y[4], depth, warm, light;
    int corners;
} patch;

typedef struct patches {
    patch *at;
    int n;
} patches;

static double warm(double tension)
{
    return sqrt(fmax(tension, 0.0) / 0.6);
}

static void add_triangles(const mesh *k, const double *tension, patches *all)
{
    const double *x = mesh_places(k);
    for (int e = 0; e < k->elements; e++) {
        patch *q = &all->at[all->n++];
        *q = (patch){.corners = 3, .warm = warm(tension[e]), .light = 1.0};
        for (int c = 0; c < 3; c++) {
            const int p = k->m->triangle.data[e][c];
            q->x[c] = x[2 * p];
            q->y[c] = x[2 * p + 1];
        }
    }
}

/* From the side and above. */
static void see(const double *p, double *x, double *y, double *depth)
{
    const double turn = 0.45, rise = 0.42, away = sin(turn) * (p[0] - 2.0) + cos(turn) * p[2];
    *x = 2.0 + cos(turn) * (p[0] - 2.0) - sin(turn) * p[2];
    *y = cos(rise) * p[1] - sin(rise) * away;
    *depth = sin(rise) * p[1] + cos(rise) * away;
}

static void add_side(const mesh *k, const double *tension, const int cell[3], int axis, int high, patches *all)
{
    static const int around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const int n = k->shape.cells, across = n + 1, a = (axis + 1) % 3, b = (axis + 2) % 3;
    const int first = 6 * ((cell[0] * n + cell[1]) * n + cell[2]);
    patch *q = &all->at[all->n++];
    double p[4][3], mean = 0.0;
    *q = (patch){.corners = 4};
    for (int c = 0; c < 4; c++) {
        int at[3] = {cell[0], cell[1], cell[2]};
        at[axis] += high;
        at[a] += around[c][0];
        at[b] += around[c][1];
        const double *x = &mesh_places(k)[3 * ((at[0] * across + at[1]) * across + at[2])];
        double depth;
        see(x, &q->x[c], &q->y[c], &depth);
        q->depth += 0.25 * depth;
        for (int i = 0; i < 3; i++)
            p[c][i] = x[i];
    }
    for (int e = 0; e < 6; e++)
        mean += tension[first + e] / 6.0;
    q->warm = warm(mean);
    double u[3], v[3], normal[3];
    for (int i = 0; i < 3; i++) {
        u[i] = p[2][i] - p[0][i];
        v[i] = p[3][i] - p[1][i];
    }
    for (int i = 0; i < 3; i++)
        normal[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
    const double size = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    q->light = 0.7 + 0.3 * fabs(0.2 * normal[0] + 0.8 * normal[1] + 0.55 * normal[2]) / size;
}

static void add_surface(const mesh *k, const double *tension, patches *all)
{
    const int n = k->shape.cells, cells[3] = {4 * n, n, n};
    for (int i = 0; i < 4 * n * n * n; i++) {
        const int cell[3] = {i / (n * n), i / n % n, i % n};
        for (int axis = 0; axis < 3; axis++)
            for (int high = 0; high < 2; high++)
                if (cell[axis] == (high ? cells[axis] - 1 : 0))
                    add_side(k, tension, cell, axis, high, all);
    }
}

static int farther(const void *a, const void *b)
{
    const double d = ((const patch *)a)->depth - ((const patch *)b)->depth;
    return (d > 0.0) - (d < 0.0);
}

/* The mesh fits into a frame. */
static void draw_patches(cairo_t *c, patches *all)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < all->n; i++)
        for (int j = 0; j < all->at[i].corners; j++) {
            low[0] = fmin(low[0], all->at[i].x[j]);
            high[0] = fmax(high[0], all->at[i].x[j]);
            low[1] = fmin(low[1], all->at[i].y[j]);
            high[1] = fmax(high[1], all->at[i].y[j]);
        }
    const double scale = fmin(130.0,
                              fmin((WIDTH - 4.0 * GAP) / (high[0] - low[0]), (FRAME - 4.0 * GAP) / (high[1] - low[1])));
    cairo_save(c);
    cairo_translate(c, 0.5 * WIDTH, 0.5 * (FRAME + GAP));
    cairo_scale(c, scale, -scale);
    cairo_translate(c, -0.5 * (low[0] + high[0]), -0.5 * (low[1] + high[1]));
    cairo_set_line_width(c, 0.5 / scale);
    cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
    for (int i = 0; i < all->n; i++) {
        const patch *q = &all->at[i];
        const ink k = warmth(q->warm);
        for (int j = 0; j < q->corners; j++)
            cairo_line_to(c, q->x[j], q->y[j]);
        cairo_close_path(c);
        set_ink(c, (ink){q->light * k.r, q->light * k.g, q->light * k.b});
        cairo_fill_preserve(c);
        set_ink(c, (ink){0.6 * q->light * k.r, 0.6 * q->light * k.g, 0.6 * q->light * k.b});
        cairo_stroke(c);
    }
    cairo_restore(c);
}

static bool draw_mesh(cairo_t *c, mesh *k, const char *title)
{
    const int n = k->shape.cells, most = k->shape.solid ? 2 * (n * n + 8 * n * n) : k->elements;
    patches all = {malloc((size_t)most * sizeof *all.at), 0};
    if (!all.at) {
        perror("newton");
        return false;
    }
    k->shape.solid ? add_surface(k, mesh_tension(k), &all) : add_triangles(k, mesh_tension(k), &all);
    if (k->shape.solid)
        qsort(all.at, (size_t)all.n, sizeof *all.at, farther);
    draw_patches(c, &all);
    free(all.at);
    set_ink(c, BLACK);
    cairo_move_to(c, GAP, 22.0);
    cairo_show_text(c, title);
    cairo_new_path(c);
    return true;
}

/* ---- the course ---- */

static double height_of(double gradient, double low, double high)
{
    return PLOT - 30.0 - (PLOT - 70.0) * (fmax(log10(gradient), low) - low) / (high - low);
}

static void draw_course(cairo_t *c, const course *course)
{
    const double left = 70.0, right = WIDTH - 2.0 * GAP;
    double low = 0.0, high = -100.0;
    for (int i = 0; i <= course->count; i++) {
        low = fmin(low, floor(log10(fmax(course->at[i].gradient, 1e-20))));
        high = fmax(high, ceil(log10(fmax(course->at[i].gradient, 1e-20))));
    }
    high = fmax(high, low + 1.0);
    set_ink(c, BLACK);
    cairo_move_to(c, GAP, 22.0);
    cairo_show_text(c, "largest component of the gradient, before each iteration");
    for (double e = low; e <= high; e += fmax(1.0, floor((high - low) / 5.0))) {
        char text[16];
        const double y = height_of(pow(10.0, e), low, high);
        snprintf(text, sizeof text, "1e%.0f", e);
        set_ink(c, BLACK);
        cairo_move_to(c, GAP, y + 4.0);
        cairo_show_text(c, text);
        set_ink(c, PALE);
        cairo_move_to(c, left, y);
        cairo_line_to(c, right, y);
        cairo_stroke(c);
    }
    set_ink(c, RED);
    for (int i = 0; i <= course->count; i++)
        cairo_line_to(c, left + (right - left) * i / fmax(course->count, 1),
                      height_of(course->at[i].gradient, low, high));
    cairo_stroke(c);
    for (int i = 0; i <= course->count; i++) {
        cairo_arc(c, left + (right - left) * i / fmax(course->count, 1), height_of(course->at[i].gradient, low, high),
                  3.0, 0.0, 6.2832);
        cairo_fill(c);
    }
}

static cairo_t *blank(int height)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, height);
    cairo_t *c = cairo_create(surface);
    cairo_surface_destroy(surface); /* c holds it */
    cairo_set_source_rgb(c, 0.98, 0.975, 0.96);
    cairo_paint(c);
    cairo_set_font_size(c, 14.0);
    cairo_set_line_width(c, 1.6);
    return c;
}

cairo_surface_t *picture_page(mesh *k, const course *so_far)
{
    char title[100];
    cairo_t *c = blank(PAGE_HEIGHT);
    cairo_surface_t *page = cairo_surface_reference(cairo_get_target(c));
    snprintf(title, sizeof title, "iteration %d, energy %.10g", so_far->count, so_far->at[so_far->count].energy);
    bool ok = draw_mesh(c, k, title);
    cairo_translate(c, 0.0, FRAME);
    draw_course(c, so_far);
    if (cairo_status(c) != CAIRO_STATUS_SUCCESS) {
        fprintf(stderr, "newton: %s\n", cairo_status_to_string(cairo_status(c)));
        ok = false;
    }
    cairo_destroy(c);
    cairo_surface_flush(page);
    if (ok)
        return page;
    cairo_surface_destroy(page);
    return NULL;
}

picture *picture_create(mesh *k)
{
    picture *p = calloc(1, sizeof *p);
    if (!p) {
        perror("newton");
        return NULL;
    }
    p->c = blank(2 * FRAME + PLOT);
    if (draw_mesh(p->c, k, "first guess"))
        return p;
    picture_destroy(p);
    return NULL;
}

bool picture_write(picture *p, mesh *k, const course *c, const char *path)
{
    cairo_translate(p->c, 0.0, FRAME);
    if (!draw_mesh(p->c, k, c->found ? "equilibrium; colour: energy of a unit of volume" : "the last iteration"))
        return false;
    cairo_translate(p->c, 0.0, FRAME);
    draw_course(p->c, c);
    const cairo_status_t status = cairo_surface_write_to_png(cairo_get_target(p->c), path);
    if (status != CAIRO_STATUS_SUCCESS)
        fprintf(stderr, "newton: %s: %s\n", path, cairo_status_to_string(status));
    else
        printf("picture: %s\n", path);
    return status == CAIRO_STATUS_SUCCESS;
}

void picture_destroy(picture *p)
{
    if (p)
        cairo_destroy(p->c);
    free(p);
}
