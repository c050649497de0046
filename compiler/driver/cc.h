/* Objects and shared libraries through a C compiler. */
#ifndef TKC_CC_H
#define TKC_CC_H

#include <stdbool.h>

#include "driver/options.h"
#include "util/arena.h"

/* Compiles c_path to out_path with the flags that generated code is meant for. Reports and returns false on failure. */
bool cc_compile(arena *mem, diag_sink *d, const options *opt, const char *c_path, const char *out_path);

#endif
