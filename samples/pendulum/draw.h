/* Pictures of discs, lines and curves as PNG. The samples jelly, fit and pendulum have the same file. */
#ifndef DRAW_H
#define DRAW_H

#include <stdbool.h>

typedef struct picture picture;
typedef float colour[3]; /* red, green, blue from 0 to 1 */

picture *picture_create(int size);
void picture_destroy(picture *p);
/* Coordinates are those of the unit square, y upwards. */
void picture_disc(picture *p, float x, float y, float radius, const colour c, float opacity);
void picture_line(picture *p, const float from[2], const float to[2], const colour c);
void picture_ring(picture *p, float x, float y, float radius, const colour c);
bool picture_write_png(const picture *p, const char *path);
/* Red, green, blue of each pixel, row by row from the top: 3 * size * size bytes. */
void picture_bytes(const picture *p, unsigned char *rgb);

/* A rectangle of the picture, and the values that stand at its edges. On a logarithmic axis they are positive; what is less is drawn at the edge. */
typedef struct chart {
    float left, right, bottom, top;
    double x[2], y[2];
    bool logarithmic_x, logarithmic_y;
} chart;

void picture_axes(picture *p, const chart *c);
void picture_point(picture *p, const chart *c, double x, double y, const colour ink);
/* Lines between points; their x are 0, 1, 2... if x is NULL. */
void picture_curve(picture *p, const chart *c, const double *x, const double *y, int n, const colour ink);

#endif
