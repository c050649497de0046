/* A text as an editor has it: lines and columns of the protocol, places of the compiler, and offsets in bytes between
 * the two. */
#ifndef TKC_LSP_TEXT_H
#define TKC_LSP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/diag.h"
#include "util/strbuf.h"
#include "util/vec.h"

typedef struct text_pos {
    size_t line, character; /* from 0 */
} text_pos;

/* A line ends with \n, \r\n or \r to the protocol, with \n to the compiler. Positions behind the end of a line or of
 * the text are its end. wide: characters count units of UTF-16, else bytes. */
size_t text_offset(const char *text, size_t len, text_pos at, bool wide);

/* Places of a text that stays as it is, each found without reading what stands in front of it. */
typedef struct text_index {
    const char *text;
    size_t len;
    bool wide;
    VEC(size_t) lines; /* where the compiler's begin */
    VEC(struct text_mark {
        size_t offset;
        text_pos at;
    })
    marks;
} text_index;
text_index text_index_make(const strbuf *text, bool wide);
void text_index_free(text_index *ix);
/* Of the whole block. */
#define TEXT_INDEX(name, text, wide) \
    __attribute__((cleanup(text_index_free))) text_index name = text_index_make(text, wide)
text_pos text_position(const text_index *ix, size_t offset);
size_t text_offset_of(const text_index *ix, src_loc at);
src_loc text_where(const char *text, size_t offset, unsigned file);

/* The name around or in front of the offset; its length, 0 if there is none. */
size_t text_word(const char *text, size_t len, size_t offset, size_t *begin);
bool text_in_word(char c);
/* The end of the comment or string at `i`, or `i` if there is none; *closed (or NULL): it ends before the text does. */
size_t text_skip(const char *text, size_t len, size_t i, bool *closed);
/* Whether the offset is inside a comment or a string. */
bool text_is_quiet(const char *text, size_t offset);

/* Two states of a text: one stretch between an equal beginning and an equal end was changed. */
typedef struct text_change {
    size_t before, after, head, tail; /* lengths */
} text_change;
text_change text_compare(const strbuf *before, const strbuf *after);
/* Where what stood at `offset` stands now. False: it is in that stretch. */
bool text_map(const text_change *c, size_t offset, size_t *mapped);

#endif
