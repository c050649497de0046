/* A window that shows each iteration, with SDL2. */
#ifndef WINDOW_H
#define WINDOW_H

#include "solve.h"

typedef struct window window;

/* NULL behind a message. */
window *window_open(void);
/* The mesh and the course so far, for a moment. False: the window was closed, or a failure behind a message. */
bool window_show(window *w, mesh *k, const course *c);
/* Until the window is closed, or so many seconds, if they are not negative. */
void window_wait(window *w, double seconds);
void window_close(window *w);

#endif
