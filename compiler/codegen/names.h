/* Names that generated code may use: the user's, kept where C allows it and made unique where it does not. */
#ifndef TKC_CODEGEN_NAMES_H
#define TKC_CODEGEN_NAMES_H

#include "util/arena.h"

typedef struct names names;

/* Names of one C function, or of the whole file (outer == NULL). Names that `outer` has are not given out. */
names *names_create(arena *mem, const names *outer);
void names_free(names *n);
void names_push(names *n);
void names_pop(names *n); /* names given since the matching push are free again */
/* hint made a valid C identifier that nobody uses; NULL gives t1, t2, ... */
const char *names_unique(names *n, const char *hint);
/* The same, but taken to the end of the function whatever the scope. */
const char *names_unique_function(names *n, const char *hint);
void names_release(names *n, const char *name);
/* A name of the emitter's own, to the end of the function: gives way to names that the user may want (those taken in
 * `hints`). */
const char *names_internal(names *n, const names *hints, const char *base);
/* A member of a struct or a parameter in the header: the user's name unless C or C++ reserve it. */
const char *name_member(arena *mem, const char *name);

#endif
