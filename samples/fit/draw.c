#include "draw.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

struct picture {
    int size;
    float (*pixel)[3];
};

picture *picture_create(int size)
{
    static const colour paper = {0.98f, 0.975f, 0.96f};
    picture *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    const size_t n = (size_t)size * (size_t)size;
    *p = (picture){size, malloc(n * sizeof *p->pixel)};
    if (!p->pixel) {
        free(p);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            p->pixel[i][c] = paper[c];
    return p;
}

void picture_destroy(picture *p)
{
    if (p)
        free(p->pixel);
    free(p);
}

static void blend(picture *p, int x, int y, const colour c, float opacity)
{
    if (x < 0 || y < 0 || x >= p->size || y >= p->size)
        return;
    float *at = p->pixel[(size_t)(p->size - 1 - y) * (size_t)p->size + (size_t)x];
    for (int k = 0; k < 3; k++)
        at[k] += opacity * (c[k] - at[k]);
}

static float clamped(float a)
{
    return fminf(fmaxf(a, 0.0f), 1.0f);
}

/* What lies between two radii, with soft edges. */
static void annulus(picture *p, float x, float y, float inner, float outer, const colour c, float opacity)
{
    const float s = (float)p->size, cx = x * s, cy = y * s;
    if (!(fabsf(cx) < 2.0f * s && fabsf(cy) < 2.0f * s))
        return;
    for (int j = (int)floorf(cy - outer - 1.0f); (float)j <= cy + outer + 1.0f; j++)
        for (int i = (int)floorf(cx - outer - 1.0f); (float)i <= cx + outer + 1.0f; i++) {
            const float r = hypotf((float)i + 0.5f - cx, (float)j + 0.5f - cy);
            blend(p, i, j, c, opacity * clamped(outer - r + 0.5f) * clamped(r - inner + 0.5f));
        }
}

void picture_disc(picture *p, float x, float y, float radius, const colour c, float opacity)
{
    annulus(p, x, y, -1.0f, radius * (float)p->size, c, opacity);
}

void picture_ring(picture *p, float x, float y, float radius, const colour c)
{
    const float r = radius * (float)p->size;
    annulus(p, x, y, r - 2.0f, r, c, 1.0f);
}

void picture_line(picture *p, const float from[2], const float to[2], const colour c)
{
    const float dx = to[0] - from[0], dy = to[1] - from[1], length = hypotf(dx, dy) * (float)p->size;
    if (!(length < 4.0f * (float)p->size))
        return;
    const int n = (int)(2.0f * length) + 1;
    for (int k = 0; k <= n; k++)
        annulus(p, from[0] + dx * (float)k / (float)n, from[1] + dy * (float)k / (float)n, -1.0f, 0.8f, c, 0.5f);
}

/* Where a value stands between two edges of a chart. */
static float place(double value, const double range[2], bool logarithmic, float from, float to)
{
    const double lo = logarithmic ? log(range[0]) : range[0], hi = logarithmic ? log(range[1]) : range[1];
    const double at = logarithmic ? log(fmax(value, range[0])) : value;
    return from + (to - from) * (float)(hi > lo ? (at - lo) / (hi - lo) : 0.5);
}

static void place_point(const chart *c, double x, double y, float at[2])
{
    at[0] = place(x, c->x, c->logarithmic_x, c->left, c->right);
    at[1] = place(y, c->y, c->logarithmic_y, c->bottom, c->top);
}

void picture_axes(picture *p, const chart *c)
{
    static const colour ink = {0.35f, 0.35f, 0.38f};
    const float outside = 0.015f;
    const float corner[3][2] = {{c->left - outside, c->top}, {c->left - outside, c->bottom - outside}, {c->right, c->bottom - outside}};
    picture_line(p, corner[0], corner[1], ink);
    picture_line(p, corner[1], corner[2], ink);
}

void picture_point(picture *p, const chart *c, double x, double y, const colour ink)
{
    float at[2];
    place_point(c, x, y, at);
    picture_disc(p, at[0], at[1], 0.004f, ink, 1.0f);
}

void picture_curve(picture *p, const chart *c, const double *x, const double *y, int n, const colour ink)
{
    float last[2], at[2];
    for (int k = 0; k < n; k++) {
        place_point(c, x ? x[k] : (double)k, y[k], at);
        if (k > 0)
            picture_line(p, last, at, ink);
        last[0] = at[0];
        last[1] = at[1];
    }
}

void picture_bytes(const picture *p, unsigned char *rgb)
{
    const size_t n = (size_t)p->size * (size_t)p->size;
    for (size_t i = 0; i < 3 * n; i++)
        rgb[i] = (unsigned char)(255.0f * clamped(p->pixel[i / 3][i % 3]) + 0.5f);
}

bool picture_write_png(const picture *p, const char *path)
{
    unsigned char *rgb = malloc(3 * (size_t)p->size * (size_t)p->size);
    if (!rgb)
        return false;
    picture_bytes(p, rgb);
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)p->size, .height = (png_uint_32)p->size, .format = PNG_FORMAT_RGB};
    const bool ok = png_image_write_to_file(&image, path, 0, rgb, 0, NULL);
    if (!ok)
        fprintf(stderr, "%s: %s\n", path, image.message);
    free(rgb);
    return ok;
}
