/* A picture: cameras and points from above, before and after; the cost by iterations. */
#ifndef PICTURE_H
#define PICTURE_H

#include "solve.h"

/* False behind a message. */
bool picture_write(const char *path, const scene *before, const scene *after, const course *c);

#endif
