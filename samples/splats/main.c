/* Places, widths, angles, colours and opacities of Gaussians are optimised so that their image is a given one. */
#include <math.h>
#include <stdio.h>

#include "sample.h"
#include "splats.h"

enum { TILE = 8 };
static const double SIDE = 0.49; /* of a panel: a frame has four */

typedef struct painting {
    sample s; /* first */
    splats *m;
    int pixels;
    double rate; /* that the optimiser begins with */
} painting;

static void fade(cairo_t *c, double from, colour a, double to, colour b)
{
    cairo_pattern_t *p = cairo_pattern_create_linear(0.0, from, 0.0, to);
    cairo_pattern_add_color_stop_rgb(p, 0.0, a.r, a.g, a.b);
    cairo_pattern_add_color_stop_rgb(p, 1.0, b.r, b.g, b.b);
    cairo_set_source(c, p);
    cairo_pattern_destroy(p);
    cairo_rectangle(c, 0.0, from, 1.0, to - from);
    cairo_fill(c);
}

/* Ridges are sums of sines. */
static void ridge(cairo_t *c, double height, double rough, double phase, colour k)
{
    cairo_move_to(c, 0.0, 0.62);
    for (double x = 0.0; x < 1.005; x += 0.01) {
        const double bumps = fabs(sin(5.0 * x + phase)) + 0.4 * fabs(sin(13.0 * x + 2.0 * phase));
        cairo_line_to(c, x, height - rough * (bumps + 0.15 * sin(31.0 * x + phase)));
    }
    cairo_line_to(c, 1.0, 0.62);
    draw_colour(c, k, 1.0);
    cairo_fill(c);
}

static void polygon(cairo_t *c, int n, const double (*p)[2], colour k)
{
    for (int i = 0; i < n; i++)
        cairo_line_to(c, p[i][0], p[i][1]);
    draw_colour(c, k, 1.0);
    cairo_fill(c);
}

/* The image to be painted, of 0 to 1 to the right and down: a lake at sunset. */
static void scene(cairo_t *c)
{
    fade(c, 0.0, (colour){0.16, 0.22, 0.47}, 0.35, (colour){0.93, 0.50, 0.40});
    fade(c, 0.35, (colour){0.93, 0.50, 0.40}, 0.62, (colour){1.0, 0.85, 0.50});
    draw_colour(c, (colour){1.0, 0.96, 0.80}, 1.0);
    draw_disc(c, 0.66, 0.355, 0.085);
    ridge(c, 0.50, 0.13, 1.9, (colour){0.55, 0.36, 0.50});
    ridge(c, 0.57, 0.10, 0.4, (colour){0.33, 0.24, 0.42});
    fade(c, 0.60, (colour){0.95, 0.66, 0.45}, 1.0, (colour){0.10, 0.17, 0.36});
    draw_colour(c, (colour){1.0, 0.93, 0.72}, 0.85);
    for (int i = 0; i < 9; i++) /* the sun's path on the water */
        cairo_rectangle(c, 0.66 - 0.075 + 0.004 * i + 0.02 * sin(3.0 * i), 0.625 + 0.04 * i, 0.15 - 0.008 * i, 0.012);
    cairo_fill(c);
    polygon(c, 3, (const double[][2]){{0.305, 0.42}, {0.305, 0.745}, {0.15, 0.745}}, (colour){0.98, 0.97, 0.93});
    polygon(c, 3, (const double[][2]){{0.325, 0.47}, {0.325, 0.745}, {0.43, 0.745}}, (colour){0.85, 0.25, 0.22});
    polygon(c, 4, (const double[][2]){{0.12, 0.765}, {0.47, 0.765}, {0.42, 0.825}, {0.18, 0.825}},
            (colour){0.25, 0.13, 0.10});
}

static bool take_target(splats *m)
{
    const int n = m->params.PIXELS;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, n, n);
    cairo_t *c = cairo_create(image);
    cairo_scale(c, n, n);
    scene(c);
    const bool ok = cairo_status(c) == CAIRO_STATUS_SUCCESS;
    cairo_destroy(c);
    for (int i = 0; ok && i < 3 * n * n; i++) {
        const unsigned char *row = cairo_image_surface_get_data(image) +
                                   i / (3 * n) * cairo_image_surface_get_stride(image);
        const uint32_t pixel = ((const uint32_t *)(const void *)row)[i / 3 % n];
        m->target.data[i / 3][i % 3] = (splats_real)(pixel >> (16 - 8 * (i % 3)) & 255) / (splats_real)255;
    }
    cairo_surface_destroy(image);
    return ok;
}

static bool create(sample *s)
{
    painting *t = (painting *)s;
    uint64_t seed = (uint64_t)s->seed;
    splats_params p = splats_defaults();
    p.N = s->size;
    p.PIXELS = (t->pixels + TILE - 1) / TILE * TILE;
    splats *m = t->m = splats_create(s->session, &p);
    if (!m || !take_target(m)) {
        fprintf(stderr, "%s: %s\n", s->name, m ? "no image" : tk_error());
        return false;
    }
    t->rate = s->rate;
    for (int i = 0; i < p.N; i++) {
        m->angle.data[i] = (splats_real)(M_PI * random_uniform(&seed));
        for (int k = 0; k < 3; k++)
            m->paint.data[i][k] = (splats_real)(0.3 * random_normal(&seed));
        for (int k = 0; k < 2; k++) {
            m->place.data[i][k] = (splats_real)(10.0 * random_uniform(&seed));
            m->size.data[i][k] = (splats_real)(log(0.6 / sqrt(p.N)) + 0.3 * random_normal(&seed));
        }
    }
    return true;
}

/* The rate falls to a tenth: long steps first, fine ones at the end. */
static double run(sample *s)
{
    painting *t = (painting *)s;
    splats *m = t->m;
    s->rate = t->rate * pow(0.1, (double)s->iteration / fmax(s->iterations, 1));
    TK_TAPE(m, m->loss)
    {
        splats_prepare(m);
        splats_sort(m);
        splats_blend(m);
        splats_compare(m);
    }
    splats_show(m);
    return (double)m->loss.data[0];
}

static void draw(sample *s, cairo_t *c, int step)
{
    static const char *const names[] = {"target", "image of the Gaussians", "difference", "Gaussians"};
    const splats *m = ((painting *)s)->m;
    const int n = m->params.PIXELS;
    (void)step;
    draw_colour(c, INK, 1.0);
    for (int k = 0; k < 4; k++) {
        cairo_save(c);
        cairo_translate(c, k % 2 ? 1.0 - SIDE : 0.0, k < 2 ? 1.08 - SIDE : 0.04);
        draw_text(c, 0.0, -0.03, 0.027, names[k]);
        cairo_scale(c, SIDE, SIDE);
        if (k < 3)
            draw_image(c, n, n, m->panel.data[splats_idx_panel(m, k, 0, 0)], 1.0);
        cairo_restore(c);
    }
    cairo_translate(c, 1.0 - SIDE, 0.04);
    cairo_rectangle(c, 0.0, 0.0, SIDE, SIDE);
    cairo_clip(c);
    cairo_scale(c, SIDE, SIDE);
    for (int k = s->size - 1; k >= 0; k--) { /* those behind first */
        const int i = m->order.data[k];
        const splats_real *q = m->colour.data[i], *g = m->place.grad[i];
        const double x = 0.1 * (double)m->place.data[i][0], y = 1.0 - 0.1 * (double)m->place.data[i][1];
        cairo_save(c);
        cairo_translate(c, x, y);
        cairo_rotate(c, -(double)m->angle.data[i]);
        cairo_scale(c, exp((double)m->size.data[i][0]), exp((double)m->size.data[i][1]));
        cairo_arc(c, 0.0, 0.0, 1.0, 0.0, 2.0 * M_PI);
        cairo_restore(c);
        draw_colour(c, (colour){(double)q[0], (double)q[1], (double)q[2]}, (double)q[3]);
        cairo_fill_preserve(c);
        draw_colour(c, INK, 0.5);
        cairo_set_line_width(c, 0.0014);
        cairo_stroke(c);
        if (s->show_gradient) /* where it would go */
            draw_arrow(c, x, y, x - 1000.0 * (double)g[0], y + 1000.0 * (double)g[1], 0.003);
    }
}

static void destroy(sample *s)
{
    splats_destroy(((painting *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"place", "size", "angle", "paint", NULL};
    static painting t = {.s = {.name = "splats",
                               .about = "Gaussians that make an image",
                               .loss = "mean square of the difference from the image",
                               .size = 1200,
                               .size_means = "Gaussians",
                               .iterations = 250,
                               .rate = 0.1,
                               .threads = 1,
                               .parameters = parameters,
                               .method = ADAM,
                               .aspect = 1.08,
                               .create = create,
                               .run = run,
                               .draw = draw,
                               .destroy = destroy},
                         .pixels = 240};
    static const struct poptOption options[] = {
        {"pixels", 0, POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &t.pixels, 0, "along each side of the image", "N"},
        POPT_TABLEEND};
    t.s.options = options;
    return sample_main(&t.s, argc, argv);
}
