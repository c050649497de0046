#include "lsp/text.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "util/utf8.h"

/* Bytes of the character at s, and its units of UTF-16; a stray byte is one of each. */
static size_t step(const char *s, size_t n, size_t *units)
{
    const size_t bytes = utf8_length(s, n);
    *units = bytes == 4 ? 2 : 1;
    return bytes ? bytes : 1;
}

/* Bytes of the end of line at `i`, 0 if there is none. */
static size_t line_end(const char *text, size_t len, size_t i)
{
    if (text[i] == '\n')
        return 1;
    if (text[i] != '\r')
        return 0;
    return i + 1 < len && text[i + 1] == '\n' ? 2 : 1;
}

size_t text_offset(const char *text, size_t len, text_pos at, bool wide)
{
    size_t i = 0;
    for (size_t line = 0; line < at.line; line++) {
        while (i < len && !line_end(text, len, i))
            i++;
        if (i >= len)
            return len;
        i += line_end(text, len, i);
    }
    for (size_t passed = 0; i < len && !line_end(text, len, i);) {
        size_t units;
        const size_t bytes = step(text + i, len - i, &units);
        passed += wide ? units : bytes;
        if (passed > at.character)
            break;
        i += bytes;
    }
    return i;
}

/* Passes what stands at *i; false: not further than the offset. */
static bool pass(const text_index *ix, size_t *i, text_pos *at, size_t offset)
{
    const size_t end = line_end(ix->text, ix->len, *i);
    size_t units;
    const size_t bytes = end ? end : step(ix->text + *i, ix->len - *i, &units);
    if (*i + bytes > offset) /* between \r and \n: the end of the line */
        return false;
    *at = end ? (text_pos){at->line + 1, 0} : (text_pos){at->line, at->character + (ix->wide ? units : bytes)};
    *i += bytes;
    return true;
}

text_index text_index_make(const strbuf *text, bool wide)
{
    enum { APART = 256 };
    text_index ix = {.text = sb_str(text), .len = text->len, .wide = wide};
    vec_push(&ix.lines, 0);
    for (const char *p = ix.text, *end = p + ix.len; (p = memchr(p, '\n', (size_t)(end - p))) != NULL;)
        vec_push(&ix.lines, (size_t)(++p - ix.text));
    text_pos at = {0, 0};
    size_t i = 0, next = 0;
    do {
        if (i >= next) {
            vec_push(&ix.marks, ((struct text_mark){i, at}));
            next = i + APART;
        }
    } while (i < ix.len && pass(&ix, &i, &at, ix.len));
    return ix;
}

void text_index_free(text_index *ix)
{
    vec_free(&ix->lines);
    vec_free(&ix->marks);
}

text_pos text_position(const text_index *ix, size_t offset)
{
    offset = offset < ix->len ? offset : ix->len;
    size_t lo = 0, hi = ix->marks.len; /* the last mark at most there is in [lo, hi) */
    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        *(ix->marks.at[mid].offset <= offset ? &lo : &hi) = mid;
    }
    size_t i = ix->marks.at[lo].offset;
    text_pos at = ix->marks.at[lo].at;
    while (i < offset && pass(ix, &i, &at, offset))
        continue;
    return at;
}

size_t text_offset_of(const text_index *ix, src_loc at)
{
    const size_t line = at.line ? at.line - 1u : 0, col = at.col ? at.col - 1u : 0;
    if (line >= ix->lines.len)
        return ix->len;
    const size_t begin = ix->lines.at[line], end = line + 1 < ix->lines.len ? ix->lines.at[line + 1] - 1 : ix->len;
    return begin + (col < end - begin ? col : end - begin);
}

src_loc text_where(const char *text, size_t offset, unsigned file)
{
    src_loc at = {1, 1, (uint16_t)file};
    size_t line = 0;
    for (size_t i = 0; i < offset; i++)
        if (text[i] == '\n') {
            at.line++;
            line = i + 1;
        }
    at.col = (uint16_t)(offset - line + 1 < UINT16_MAX ? offset - line + 1 : UINT16_MAX);
    return at;
}

bool text_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

size_t text_word(const char *text, size_t len, size_t offset, size_t *begin)
{
    size_t from = offset < len ? offset : len, to = from;
    while (from > 0 && text_in_word(text[from - 1]))
        from--;
    while (to < len && text_in_word(text[to]))
        to++;
    *begin = from;
    return to - from;
}

size_t text_skip(const char *text, size_t len, size_t i, bool *closed)
{
    const char *const at = text + i, *const end = text + len, *stop = NULL;
    const bool line = end - at > 1 && at[0] == '/' && at[1] == '/',
               block = end - at > 1 && at[0] == '/' && at[1] == '*';
    if (!line && !block && *at != '"')
        return i;
    if (block) {
        stop = memmem(at + 2, (size_t)(end - at) - 2, "*/", 2);
        stop = stop ? stop + 2 : NULL;
    } else {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        for (stop = at + 1; !line && stop < (nl ? nl : end) && *stop != '"';)
            stop += *stop == '\\' && stop + 1 < (nl ? nl : end) ? 2 : 1;
        stop = !line && stop < (nl ? nl : end) ? stop + 1 : nl;
    }
    if (closed)
        *closed = stop != NULL;
    return stop ? (size_t)(stop - text) : len;
}

bool text_is_quiet(const char *text, size_t offset)
{
    bool closed = true;
    for (size_t i = 0; i < offset;) {
        const size_t end = text_skip(text, offset, i, &closed);
        i = end > i ? end : i + 1;
    }
    return !closed;
}

text_change text_compare(const strbuf *before, const strbuf *after)
{
    const char *a = sb_str(before), *b = sb_str(after);
    text_change c = {before->len, after->len, 0, 0};
    const size_t least = c.before < c.after ? c.before : c.after;
    while (c.head < least && a[c.head] == b[c.head])
        c.head++;
    while (c.tail < least - c.head && a[c.before - 1 - c.tail] == b[c.after - 1 - c.tail])
        c.tail++;
    return c;
}

bool text_map(const text_change *c, size_t offset, size_t *mapped)
{
    if (offset < c->head || c->before == c->after)
        *mapped = offset;
    else if (offset >= c->before - c->tail)
        *mapped = offset - c->before + c->after;
    else
        return false;
    return offset < c->head || offset >= c->before - c->tail;
}
