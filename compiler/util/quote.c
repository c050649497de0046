#include "util/quote.h"

#include <string.h>

#include "util/utf8.h"

/* The bytes of the character at s; 0 if it is none, or has no form of its own in a text. */
static size_t plain(const char *s)
{
    const unsigned char c = (unsigned char)*s;
    return c < ' ' || c == 0x7f ? 0 : utf8_length(s, strnlen(s, 4));
}

void quote_c(strbuf *b, const char *s)
{
    sb_addc(b, '"');
    while (*s) {
        const size_t n = plain(s);
        if (*s == '"' || *s == '\\')
            sb_printf(b, "\\%c", *s);
        else if (*s == '\n' || *s == '\t')
            sb_printf(b, "\\%c", *s == '\n' ? 'n' : 't');
        else if (n == 0 || (*s == '?' && s[1] == '?')) /* octal also keeps trigraphs away */
            sb_printf(b, "\\%03o", (unsigned)(unsigned char)*s);
        else
            sb_addn(b, s, n);
        s += n ? n : 1;
    }
    sb_addc(b, '"');
}

void quote_json(strbuf *b, const char *s)
{
    sb_addc(b, '"');
    while (*s) {
        const size_t n = plain(s);
        const unsigned char c = (unsigned char)*s;
        if (*s == '"' || *s == '\\')
            sb_printf(b, "\\%c", *s);
        else if (n == 0)
            sb_printf(b, "\\u%04x", c < 0x80 ? (unsigned)c : 0xfffd);
        else
            sb_addn(b, s, n);
        s += n ? n : 1;
    }
    sb_addc(b, '"');
}

void quote_c_comment(strbuf *b, const char *s, const char *indent)
{
    while (*s) {
        const size_t n = plain(s);
        if (*s == '\n')
            sb_printf(b, "\n%s", indent);
        else if ((s[0] == '*' && s[1] == '/') || (s[0] == '/' && s[1] == '*'))
            sb_printf(b, "%c ", *s);
        else if (n == 0)
            sb_addc(b, *s == '\t' ? '\t' : '?');
        else
            sb_addn(b, s, n);
        s += n ? n : 1;
    }
}

void quote_python(strbuf *b, const char *s, const char *indent)
{
    while (*s) {
        const size_t n = plain(s);
        const unsigned char c = (unsigned char)*s;
        if (*s == '\n')
            sb_printf(b, "%s%s", *indent == '\\' ? "" : "\n", indent);
        else if (*s == '\\' || *s == '"')
            sb_printf(b, "\\%c", *s);
        else if (n == 0)
            sb_printf(b, c < 0x80 ? "\\x%02x" : "\\udc%02x", c); /* as os.fsdecode */
        else
            sb_addn(b, s, n);
        s += n ? n : 1;
    }
}

const char *quote_base(arena *mem, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(mem, slash ? slash + 1 : path), *to = name;
    for (const char *s = name; *s;) {
        const size_t n = plain(s);
        if (n == 0)
            *to++ = '?';
        else
            to = (char *)memmove(to, s, n) + n;
        s += n ? n : 1;
    }
    *to = '\0';
    return name;
}

/* In front of a blank, and of '#' and ':', make reads two backslashes as one. */
static void double_backslashes(strbuf *b, const char *begin, const char *end)
{
    while (end-- > begin && *end == '\\')
        sb_addc(b, '\\');
}

const char *quote_make(strbuf *b, const char *s, bool target)
{
    const char *const begin = s, *const end = s + strlen(s);
    if (strpbrk(s, "\n\r") || (end > s && end[-1] == '\\'))
        return strpbrk(s, "\n\r") ? "a line end" : "a backslash at its end";
    if (strchr(s, ';') || (target && strchr(s, '\t')))
        return strchr(s, ';') ? "';'" : "a tab";
    for (; *s; s++) {
        if (strchr(" \t#:", *s) || (*s == '|' && !target)) {
            double_backslashes(b, begin, s);
            sb_addc(b, '\\');
        } else if (*s == '$') {
            sb_addc(b, '$');
        }
        sb_addc(b, *s);
    }
    return NULL;
}
