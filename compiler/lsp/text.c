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

text_pos text_position(const char *text, size_t len, size_t offset, bool wide)
{
    text_pos at = {0, 0};
    offset = offset < len ? offset : len;
    for (size_t i = 0; i < offset;) {
        const size_t end = line_end(text, len, i);
        if (end > 1 && i + 1 == offset) /* between \r and \n: the end of the line */
            break;
        if (end) {
            i += end;
            at = (text_pos){at.line + 1, 0};
            continue;
        }
        size_t units;
        const size_t bytes = step(text + i, len - i, &units);
        if (i + bytes > offset)
            break;
        at.character += wide ? units : bytes;
        i += bytes;
    }
    return at;
}

size_t text_offset_of(const char *text, size_t len, src_loc at)
{
    const char *p = text, *const end = text + len;
    for (uint32_t n = 1; n < at.line; n++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p)
            return len;
        p++;
    }
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    const size_t room = (size_t)((stop ? stop : end) - p), col = at.col ? at.col - 1u : 0;
    return (size_t)(p - text) + (col < room ? col : room);
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

bool text_map(const char *a, size_t na, const char *b, size_t nb, size_t offset, size_t *mapped)
{
    const size_t least = na < nb ? na : nb;
    size_t head = 0, tail = 0;
    while (head < least && a[head] == b[head])
        head++;
    while (tail < least - head && a[na - 1 - tail] == b[nb - 1 - tail])
        tail++;
    if (offset < head || na == nb)
        *mapped = offset;
    else if (offset >= na - tail)
        *mapped = offset - na + nb;
    else
        return false;
    return offset < head || offset >= na - tail;
}
