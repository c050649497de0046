/* The module's name: the prefix of all that is generated. */
#ifndef TKC_NAME_H
#define TKC_NAME_H

#include "util/arena.h"
#include "util/diag.h"

/* The prefix asked for, else the file's name without directory and extension. NULL after reporting that it is no usable
 * C name. */
const char *module_name(arena *mem, diag_sink *d, const char *path, const char *prefix);

#endif
