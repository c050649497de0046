/* BAL's text format (grail.cs.washington.edu/projects/bal): the numbers of cameras, points and sights; for each sight
 * its camera, its point and its place; the nine numbers of each camera; the three of each point. */
#ifndef BAL_H
#define BAL_H

#include "scene.h"

/* False behind a message that has the line. */
bool bal_read(const char *path, scene *s);
bool bal_write(const char *path, const scene *s);

#endif
