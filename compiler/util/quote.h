/* Text of programs and names of files in what tkc writes: each language has one function for it.
 * Bytes that are no UTF-8 are kept where the language has an escape for them, and are '?' elsewhere. */
#ifndef TKC_QUOTE_H
#define TKC_QUOTE_H

#include <stdbool.h>

#include "util/arena.h"
#include "util/strbuf.h"

/* A string literal of C, and of JSON, with its quotes. */
void quote_c(strbuf *b, const char *s);
void quote_json(strbuf *b, const char *s);
/* The name of the file at a path, for people: control characters are '?'. */
const char *quote_base(arena *mem, const char *path);
/* Inside a comment of C; indent goes before each further line. */
void quote_c_comment(strbuf *b, const char *s, const char *indent);
/* Inside a string of Python; indent goes before each further line of one of three quotes, and is "\\n" in one of one
 * quote. */
void quote_python(strbuf *b, const char *s, const char *indent);
/* A name in a rule of make, as make reads it, and ninja where it can. NULL, or in words the character that neither can
 * read: then nothing was added. */
const char *quote_make(strbuf *b, const char *s, bool target);

#endif
