/* What the pictures show. */
#ifndef SCENE_H
#define SCENE_H

#include "control.h"

/* The plan as a picture: the moving pole above; below, angle, position and force. In grey a run of so many intervals,
   with a push and the controller. False after a message. */
bool scene_write_png(const char *path, const plan *p, const task *t, const double (*run)[INPUTS], int count, const push *push);

/* The run as an animation in real time. False after a message. */
bool scene_write_gif(const char *path, const task *t, const double (*run)[INPUTS], int count, const push *push);

#endif
