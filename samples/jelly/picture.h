/* Throws as a picture: the body at some moments of each, the way of its centre, the target, and how the loss fell. */
#ifndef PICTURE_H
#define PICTURE_H

#include <cairo.h>

#include "simulate.h"

/* Errors stay in what it returns, until picture_write. Free with cairo_destroy. */
cairo_t *picture_create(void);
void picture_first_throw(cairo_t *c, const jelly *m, int side);
void picture_last_throw(cairo_t *c, const jelly *m, int side);
/* Losses before and after each iteration. */
void picture_losses(cairo_t *c, const double *losses, int iterations);
/* False after a message. */
bool picture_write(cairo_t *c, const char *path);

#endif
