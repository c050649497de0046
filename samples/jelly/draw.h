/* The picture of an optimisation: throws in the unit square, and how the loss fell. */
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
/* A curve in the upper left corner, on a logarithmic scale. */
void picture_curve(picture *p, const double *y, int n, const colour c);
bool picture_write_png(const picture *p, const char *path);

#endif
