/* Reading the source and writing results: all outputs of a run appear together, or none does. */
#ifndef TKC_FILES_H
#define TKC_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/diag.h"
#include "util/strbuf.h"
#include "util/vec.h"

/* Reads a whole file; of one that has more than `most` bytes, or no end, somewhat more than these. Reports and returns
 * false on failure. */
bool file_read(strbuf *out, const char *path, size_t most, diag_sink *d);

/* Reports and returns false on failure. */
bool stdout_write(const strbuf *text, diag_sink *d);

/* Name of `path` with its extension replaced (extension with its dot). */
char *path_with_extension(arena *mem, const char *path, const char *extension);
const char *path_base(const char *path);
/* Directory of path with the slash, "" if it names none. */
char *path_dir(arena *mem, const char *path);

/* A file to be written: filled under a temporary name beside its target, renamed by outputs_commit. */
typedef struct output {
    const char *target; /* symbolic links resolved */
    const char *temp;   /* the same as target where that is a device: written directly */
} output;

typedef struct outputs {
    arena *mem;
    diag_sink *diag;
    VEC(output) files;
    VEC(const char *) inputs;
} outputs;

/* No output is written over this file, which must stay named as long as `o` lives. */
void outputs_spare(outputs *o, const char *input);

/* Name of a new temporary file for target; NULL after reporting. */
const char *outputs_add(outputs *o, const char *target);
bool outputs_add_text(outputs *o, const char *target, const strbuf *text);
/* The same for generated C, which replaces nothing but generated C. */
bool outputs_add_generated(outputs *o, const char *target, const strbuf *text);
/* Gives all files their names. */
bool outputs_commit(outputs *o);
/* Removes what was not committed. */
void outputs_discard(outputs *o);
/* False for devices such as /dev/null and for pipes. */
bool path_is_regular(const char *path);

#endif
