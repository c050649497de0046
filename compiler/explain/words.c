/* Paragraphs. */
#include "explain/words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100 };

static void fill(strbuf *b, const char *begin, const char *text)
{
    const size_t indent = strlen(begin);
    size_t column = indent;
    sb_add(b, begin);
    for (const char *at = text; *at;) {
        const size_t n = strcspn(at, " ");
        if (column > indent && column + 1 + n > WIDTH) {
            sb_printf(b, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            sb_addc(b, ' ');
            column++;
        }
        sb_addn(b, at, n);
        column += n;
        at += n;
        at += strspn(at, " ");
    }
    sb_addc(b, '\n');
}

void say(words *w, const char *begin, const char *fmt, ...)
{
    strbuf b = {0};
    va_list ap;
    va_start(ap, fmt);
    sb_vprintf(&b, fmt, ap);
    va_end(ap);
    fill(w->out, begin, sb_str(&b));
    sb_free(&b);
}

void say_heading(words *w, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (w->out->len)
        sb_addc(w->out, '\n');
    sb_vprintf(w->out, fmt, ap);
    va_end(ap);
    sb_addc(w->out, '\n');
}

/* Of the module itself: as positions in messages have it, by the line alone. */
static const char *file_of(const words *w, src_loc at)
{
    const char *path = diag_file_path(w->m->diag, at.file);
    return path && strcmp(path, w->m->source) != 0 ? path : NULL;
}

const char *line_of(const words *w, src_loc at)
{
    const char *file = file_of(w, at);
    return arena_printf(w->m->mem, file ? "line %u of %s" : "line %u", (unsigned)at.line, file);
}

void add_line(const words *w, strbuf *list, src_loc at)
{
    const char *file = file_of(w, at);
    const char *text = arena_printf(w->m->mem, file ? "%u of %s" : "%u", (unsigned)at.line, file);
    const size_t n = strlen(text);
    for (const char *s = sb_str(list); *s;) {
        const size_t len = strcspn(s, ",");
        if (len == n && !strncmp(s, text, n))
            return;
        s += len;
        s += strspn(s, ", ");
    }
    sb_printf(list, "%s%s", list->len ? ", " : "", text);
}

void add_name(strbuf *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *s = sb_str(list); *s;) {
        const char *end = strstr(s, ", ");
        const size_t len = end ? (size_t)(end - s) : strlen(s);
        if (len == n && !strncmp(s, name, n))
            return;
        s += len + (end ? 2 : 0);
    }
    sb_printf(list, "%s%s", list->len ? ", " : "", name);
}

const char *joined(const words *w, const strbuf *list)
{
    const char *text = sb_str(list), *last = NULL;
    for (const char *s = text; (s = strstr(s, ", ")); s += 2)
        last = s;
    return last ? arena_printf(w->m->mem, "%.*s and %s", (int)(last - text), text, last + 2)
                : arena_printf(w->m->mem, "%s", text);
}
