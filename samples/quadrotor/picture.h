/* A picture of a flight: its way in space; distance from the path and thrusts by time. */
#ifndef PICTURE_H
#define PICTURE_H

#include "flight.h"

/* False behind a message. */
bool picture_write(const char *path, const flight *f, const task *t, const gust *g);

#endif
