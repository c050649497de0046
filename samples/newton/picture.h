/* A picture: the first guess, the equilibrium, the gradient by iterations. */
#ifndef PICTURE_H
#define PICTURE_H

#include "solve.h"

typedef struct picture picture;

/* Draws the mesh as it is. NULL behind a message. */
picture *picture_create(mesh *k);
/* Draws it again, and the course, and writes a PNG. False behind a message. */
bool picture_write(picture *p, mesh *k, const course *c, const char *path);
void picture_destroy(picture *p);

#endif
