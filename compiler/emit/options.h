/* How a module is printed. */
#ifndef TKC_EMIT_OPTIONS_H
#define TKC_EMIT_OPTIONS_H

#include <stdbool.h>

typedef struct emit_options {
    const char *header_name; /* as in #include "..." */
    const char *c_name;      /* path of the .c, for #line resets */
    bool line_directives;    /* -g */
    bool no_runtime;         /* --no-runtime: the C includes nothing of libtkc */
    bool casadi;             /* --casadi: entry points of CasADi's external functions */
    bool embed;              /* --runtime=embed: libtkc is tkc_runtime.h beside it */
} emit_options;

#endif
