/* The functions of tkc_math.h one by one, written by helpers.py: for code that includes nothing of the library. */
#ifndef TKC_EMIT_HELPERS_H
#define TKC_EMIT_HELPERS_H

#include "util/strbuf.h"

typedef struct emit_helper {
    const char *name, *text;
} emit_helper;

extern const emit_helper emit_helpers[]; /* callees before callers; one without a name belongs to every file */
extern const int emit_nhelpers;

/* Prints those that `code` uses, and what these use; their functions, and the calls in `code`, with the prefix. */
void emit_helpers_of(strbuf *out, strbuf *code, const char *prefix);

#endif
