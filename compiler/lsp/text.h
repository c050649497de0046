/* A text as an editor has it: lines and columns of the protocol, places of the compiler, and offsets in bytes between
 * the two. */
#ifndef TKC_LSP_TEXT_H
#define TKC_LSP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"

typedef struct text_pos {
    size_t line, character; /* from 0 */
} text_pos;

/* A line ends with \n, \r\n or \r to the protocol, with \n to the compiler. Positions behind the end of a line or of
 * the text are its end. wide: characters count units of UTF-16, else bytes. */
size_t text_offset(const char *text, size_t len, text_pos at, bool wide);
text_pos text_position(const char *text, size_t len, size_t offset, bool wide);
size_t text_offset_of(const char *text, size_t len, src_loc at);
src_loc text_where(const char *text, size_t offset, unsigned file);

/* The name around or in front of the offset; its length, 0 if there is none. */
size_t text_word(const char *text, size_t len, size_t offset, size_t *begin);
bool text_in_word(char c);

/* Where what stands at `offset` of `a` stands in `b`, another state of the text: one stretch between an equal beginning
 * and an equal end was changed. False: it is in that stretch. */
bool text_map(const char *a, size_t na, const char *b, size_t nb, size_t offset, size_t *mapped);

#endif
