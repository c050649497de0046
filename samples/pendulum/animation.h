/* Pictures as an animated GIF. */
#ifndef ANIMATION_H
#define ANIMATION_H

#include "draw.h"

typedef struct animation animation;

/* Of pictures of one size, each shown for so many seconds. NULL after a message. */
animation *animation_create(const char *path, int size, double seconds);
bool animation_frame(animation *a, const picture *p);
/* False after a message: it is not complete. a may be NULL. */
bool animation_close(animation *a);

#endif
