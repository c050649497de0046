/* Jacobians against central differences. */
#ifndef CHECK_H
#define CHECK_H

#include "scene.h"

/* The largest deviation of all sights' Jacobians, each column as a part of its largest number; also where cameras are
 * not turned. */
double compare_with_differences(const scene *s);

#endif
