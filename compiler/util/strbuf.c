#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

static void reserve(strbuf *b, size_t extra)
{
    size_t want = b->len + extra + 1;
    if (want <= b->cap)
        return;
    b->cap = b->cap * 2 > want ? b->cap * 2 : want < 64 ? 64 : want;
    b->s = xrealloc(b->s, b->cap);
}

void sb_addn(strbuf *b, const char *s, size_t n)
{
    reserve(b, n);
    memcpy(b->s + b->len, s, n);
    b->len += n;
    b->s[b->len] = '\0';
}

void sb_add(strbuf *b, const char *s)
{
    sb_addn(b, s, strlen(s));
}

void sb_addc(strbuf *b, char c)
{
    sb_addn(b, &c, 1);
}

void sb_vprintf(strbuf *b, const char *fmt, va_list ap)
{
    enum { USUAL = 120 };
    reserve(b, USUAL);
    va_list again;
    va_copy(again, ap);
    const size_t room = b->cap - b->len, n = (size_t)vsnprintf(b->s + b->len, room, fmt, ap);
    if (n >= room) {
        reserve(b, n);
        vsnprintf(b->s + b->len, n + 1, fmt, again);
    }
    va_end(again);
    b->len += n;
}

void sb_printf(strbuf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    sb_vprintf(b, fmt, ap);
    va_end(ap);
}

const char *sb_str(const strbuf *b)
{
    return b->s ? b->s : "";
}

void sb_clear(strbuf *b)
{
    b->len = 0;
    if (b->s)
        b->s[0] = '\0';
}

void sb_free(strbuf *b)
{
    free(b->s);
    *b = (strbuf){0};
}
