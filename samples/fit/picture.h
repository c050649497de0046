/* What the two methods found, as a picture. */
#ifndef PICTURE_H
#define PICTURE_H

#include "methods.h"

/* Above: measurements with their standard errors, the model before and after. Below: how chi2 fell. False after a message. */
bool picture_write(const char *path, const fit *f, const double *before, const double *after, const course *descent, const course *newton);

#endif
