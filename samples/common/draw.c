#include "sample.h"

const colour INK = {0.20, 0.20, 0.23}, GREY = {0.55, 0.56, 0.60}, RED = {0.80, 0.18, 0.33}, BLUE = {0.10, 0.36, 0.70},
             GREEN = {0.15, 0.55, 0.35}, GOLD = {0.85, 0.60, 0.15};

void draw_colour(cairo_t *c, colour k, double opacity)
{
    cairo_set_source_rgba(c, k.r, k.g, k.b, opacity);
}

/* A path through the colour cube by way of violet, red and yellow. */
colour draw_ramp(double t)
{
    static const colour stop[] = {
        {0.05, 0.03, 0.15}, {0.35, 0.07, 0.43}, {0.73, 0.21, 0.33}, {0.98, 0.55, 0.04}, {0.99, 0.99, 0.75}};
    const double at = 4.0 * fmin(fmax(t, 0.0), 1.0); /* NaN: the first */
    const int k = at < 3.0 ? (int)at : 3;
    const colour a = stop[k], b = stop[k + 1];
    return (colour){a.r + (at - k) * (b.r - a.r), a.g + (at - k) * (b.g - a.g), a.b + (at - k) * (b.b - a.b)};
}

void draw_disc(cairo_t *c, double x, double y, double radius)
{
    cairo_new_sub_path(c);
    cairo_arc(c, x, y, radius, 0.0, 2.0 * M_PI);
    cairo_fill(c);
}

void draw_line(cairo_t *c, double x0, double y0, double x1, double y1, double width)
{
    cairo_set_line_width(c, width);
    cairo_move_to(c, x0, y0);
    cairo_line_to(c, x1, y1);
    cairo_stroke(c);
}

void draw_arrow(cairo_t *c, double x0, double y0, double x1, double y1, double width)
{
    const double dx = x1 - x0, dy = y1 - y0, l = hypot(dx, dy), head = fmin(5.0 * width, l);
    if (!(l > 0.0))
        return;
    const double ux = head * dx / l, uy = head * dy / l;
    draw_line(c, x0, y0, x1 - 0.6 * ux, y1 - 0.6 * uy, width);
    cairo_move_to(c, x1, y1);
    cairo_line_to(c, x1 - ux - 0.5 * uy, y1 - uy + 0.5 * ux);
    cairo_line_to(c, x1 - ux + 0.5 * uy, y1 - uy - 0.5 * ux);
    cairo_fill(c);
}

void draw_target(cairo_t *c, const double at[2])
{
    draw_colour(c, BLUE, 1.0);
    draw_disc(c, at[0], at[1], 0.006);
    cairo_set_line_width(c, 0.005);
    cairo_arc(c, at[0], at[1], 0.022, 0.0, 2.0 * M_PI);
    cairo_stroke(c);
}

void draw_image(cairo_t *c, int w, int h, const float *rgb, double aspect)
{
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h); /* its rows have no padding */
    uint32_t *pixel = (uint32_t *)cairo_image_surface_get_data(image);
    for (size_t k = 0; pixel && k < 3 * (size_t)w * (size_t)h; k++)
        pixel[k / 3] = pixel[k / 3] << 8 | (uint32_t)(255.0f * fminf(fmaxf(rgb[k], 0.0f), 1.0f) + 0.5f);
    cairo_surface_mark_dirty(image);
    double dx = 1.0 / w, dy = 0.0;
    cairo_user_to_device_distance(c, &dx, &dy); /* of a pixel: larger than one of the frame, it shows its edges */
    cairo_save(c);
    cairo_translate(c, 0.0, aspect);
    cairo_scale(c, 1.0 / w, -aspect / h);
    cairo_set_source_surface(c, image, 0.0, 0.0);
    cairo_pattern_set_filter(cairo_get_source(c), hypot(dx, dy) > 1.0 ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    cairo_paint(c);
    cairo_restore(c);
    cairo_surface_destroy(image);
}

void draw_text(cairo_t *c, double x, double y, double size, const char *text)
{
    cairo_save(c);
    cairo_translate(c, x, y);
    cairo_scale(c, size, -size);
    cairo_set_font_size(c, 1.0);
    text_at(c, 0.0, 0.0, 0.0, 1e9, text);
    cairo_restore(c);
}

double random_uniform(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

double random_normal(uint64_t *state)
{
    const double u = 1.0 - random_uniform(state), v = random_uniform(state);
    return sqrt(-2.0 * log(u)) * cos(2.0 * M_PI * v);
}
