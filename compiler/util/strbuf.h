/* A growing string, always NUL-terminated once something was added. */
#ifndef TKC_STRBUF_H
#define TKC_STRBUF_H

#include <stdarg.h>
#include <stddef.h>

typedef struct strbuf {
    char *s; /* NULL while empty */
    size_t len, cap;
} strbuf;

void sb_add(strbuf *b, const char *s);
void sb_addn(strbuf *b, const char *s, size_t n);
void sb_addc(strbuf *b, char c);
__attribute__((format(printf, 2, 3))) void sb_printf(strbuf *b, const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void sb_vprintf(strbuf *b, const char *fmt, va_list ap);
/* The string, "" while empty. */
const char *sb_str(const strbuf *b);
void sb_clear(strbuf *b);
void sb_free(strbuf *b);

#endif
