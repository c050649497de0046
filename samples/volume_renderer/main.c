/* A grid of densities is found from images of what it holds: two rings, one through the other, seen from all sides. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sample.h"
#include "volume_renderer.h"

typedef volume_renderer_real number;

typedef struct volume {
    sample s; /* first */
    volume_renderer *m;
    int pixels, samples;
    double smooth;
} volume;

static bool create(sample *s)
{
    volume *v = (volume *)s;
    volume_renderer_params p = volume_renderer_defaults();
    p.N = s->size;
    p.VIEWS = s->steps + 1;
    p.PIXELS = v->pixels ? v->pixels : s->size * 5 / 3;
    p.SAMPLES = v->samples ? v->samples : s->size * 5 / 3;
    volume_renderer *m = v->m = volume_renderer_create(s->session, &p);
    if (!m) {
        fprintf(stderr, "%s: %s\n", s->name, tk_error());
        return false;
    }
    volume_renderer_rings(m);
    volume_renderer_render(m);
    volume_renderer_keep(m);
    const tk_field *raw = m->raw.field;
    for (int64_t i = 0; i < tk_field_count(raw); i++)
        m->raw.data[i] = (number)-1.0;
    return true;
}

static double run(sample *s)
{
    volume *v = (volume *)s;
    volume_renderer *m = v->m;
    volume_renderer_params p = m->params;
    p.SMOOTH = (number)v->smooth;
    volume_renderer_set_params(m, &p);
    TK_TAPE(m, m->loss)
    {
        volume_renderer_positive(m);
        volume_renderer_render(m);
        volume_renderer_compare(m);
        volume_renderer_smooth(m);
    }
    return (double)m->loss.data[0];
}

/* A square of n by n pixels with its lower left corner at x, y.
 */
static void draw_square(cairo_t *c, int n, const float *rgb, double x, double y, double side, const char *text)
{
    cairo_save(c);
    cairo_translate(c, x, y);
    cairo_scale(c, side, side);
    draw_image(c, n, n, rgb, 1.0);
    draw_colour(c, (colour){1.0, 1.0, 1.0}, 0.9);
    draw_text(c, 0.03, 0.03, side < 0.9 ? 0.1 : 0.04, text);
    cairo_restore(c);
}

static void draw_view(cairo_t *c, int n, number (*pixel)[3], double x, double y, double side, const char *text)
{
    float *rgb = malloc(sizeof *rgb * 3 * (size_t)n * (size_t)n);
    for (int i = 0; rgb && i < 3 * n * n; i++)
        rgb[i] = (float)pixel[i / 3][i % 3];
    if (rgb)
        draw_square(c, n, rgb, x, y, side, text);
    free(rgb);
}

/* The plane k of a grid, dark to bright; signed: blue where negative, red where positive, of the greatest. */
static void draw_slice(cairo_t *c, int n, const number *grid, int k, bool is_signed, double x, const char *text)
{
    float *rgb = malloc(sizeof *rgb * 3 * (size_t)n * (size_t)n);
    double most = is_signed ? 1e-30 : 20.0;
    for (int i = 0; is_signed && i < n * n; i++)
        most = fmax(most, fabs((double)grid[i * n + k]));
    for (int i = 0; rgb && i < n * n; i++) {
        const double a = (double)grid[((i % n) * n + n - 1 - i / n) * n + k] / most;
        const colour q = is_signed ? (colour){fmax(a, 0.0), 0.3 * fabs(a), fmax(-a, 0.0)} : draw_ramp(a);
        rgb[3 * i] = (float)q.r;
        rgb[3 * i + 1] = (float)q.g;
        rgb[3 * i + 2] = (float)q.b;
    }
    if (rgb)
        draw_square(c, n, rgb, x, 0.0, 1.0 / 3.0, text);
    free(rgb);
}

/* A step is a camera; the slices go through the volume from step to step. */
static void draw(sample *s, cairo_t *c, int step)
{
    const volume_renderer *m = ((volume *)s)->m;
    const int n = s->size, k = s->steps ? n * 3 / 10 + 4 * n * step / (10 * s->steps) : n / 2;
    draw_view(c, m->params.PIXELS, &m->image.data[volume_renderer_idx_image(m, step, 0, 0)], 0.0, 1.0 / 3.0, 1.0, "");
    draw_view(c, m->params.PIXELS, &m->target.data[volume_renderer_idx_target(m, step, 0, 0)], 0.0, 0.0, 1.0 / 3.0,
              "target");
    draw_slice(c, n, s->show_gradient ? m->raw.grad : m->density.data, k, s->show_gradient, 1.0 / 3.0,
               s->show_gradient ? "derivative" : "slice found");
    draw_slice(c, n, m->truth.data, k, false, 2.0 / 3.0, "slice true");
    draw_colour(c, GREY, 1.0);
    draw_line(c, 0.0, 1.0 / 3.0, 1.0, 1.0 / 3.0, 0.004);
    draw_line(c, 1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0, 0.004);
    draw_line(c, 2.0 / 3.0, 0.0, 2.0 / 3.0, 1.0 / 3.0, 0.004);
}

static void destroy(sample *s)
{
    volume_renderer_destroy(((volume *)s)->m);
}

int main(int argc, char **argv)
{
    static const char *const parameters[] = {"raw", NULL};
    static volume v = {.s = {.name = "volume_renderer",
                             .about = "the densities of a volume from images of it",
                             .loss = "mean square of the difference between images",
                             .size = 48,
                             .size_means = "voxels along each side",
                             .least_size = 4,
                             .steps = 6,
                             .iterations = 100,
                             .rate = 0.3,
                             .threads = 1,
                             .parameters = parameters,
                             .method = ADAM,
                             .aspect = 4.0 / 3.0,
                             .create = create,
                             .run = run,
                             .draw = draw,
                             .destroy = destroy},
                       .smooth = 1e-5};
    static const struct poptOption options[] = {
        {"pixels", 0, POPT_ARG_INT, &v.pixels, 0, "along each side of an image; else 5/3 of the size", "N"},
        {"samples", 0, POPT_ARG_INT, &v.samples, 0, "along a ray; else 5/3 of the size", "N"},
        {"smooth", 0, POPT_ARG_DOUBLE | POPT_ARGFLAG_SHOW_DEFAULT, &v.smooth, 0, "weight of smoothness", "X"},
        POPT_TABLEEND};
    static const sample_knob knobs[] = {{"smoothness", &v.smooth, 0.0, 1e-3}, {NULL, NULL, 0.0, 0.0}};
    v.s.options = options;
    v.s.knobs = knobs;
    return sample_main(&v.s, argc, argv);
}
