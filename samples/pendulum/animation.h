/* Pictures as an animated GIF. */
#ifndef ANIMATION_H
#define ANIMATION_H

#include <cairo.h>
#include <stdbool.h>

typedef struct animation animation;

/* Of pictures of one size, each shown for so many seconds. NULL after a message. */
animation *animation_create(const char *path, int width, int height, double seconds);
/* Of a surface of format RGB24. False after a message. */
bool animation_frame(animation *a, cairo_surface_t *picture);
/* False after a message: it is not complete. a may be NULL. */
bool animation_close(animation *a);

#endif
