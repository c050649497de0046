/* Text of programs and names of files in what tkc writes: each language has one function for it. */
#ifndef TKC_QUOTE_H
#define TKC_QUOTE_H

#include "util/strbuf.h"

/* A string literal of C, and of JSON, with its quotes. */
void quote_c(strbuf *b, const char *s);
void quote_json(strbuf *b, const char *s);
/* Inside a comment of C; indent goes before each further line. */
void quote_c_comment(strbuf *b, const char *s, const char *indent);
/* Inside a string of Python; indent goes before each further line of one of three quotes, and is "\\n" in one of one
 * quote. */
void quote_python(strbuf *b, const char *s, const char *indent);
/* A name in a rule of make. */
void quote_make(strbuf *b, const char *s);

#endif
