/* A picture: the first guess, the equilibrium, the gradient by iterations. */
#ifndef PICTURE_H
#define PICTURE_H

#include <cairo.h>

#include "solve.h"

enum { PAGE_WIDTH = 900, PAGE_HEIGHT = 530 };

typedef struct picture picture;

/* Draws the mesh as it is. NULL behind a message. */
picture *picture_create(mesh *k);
/* Draws it again, and the course, and writes a PNG. False behind a message. */
bool picture_write(picture *p, mesh *k, const course *c, const char *path);
void picture_destroy(picture *p);

/* The mesh as it is, and the course so far. NULL behind a message. */
cairo_surface_t *picture_page(mesh *k, const course *c);

#endif
