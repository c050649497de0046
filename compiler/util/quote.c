#include "util/quote.h"

#include <string.h>

#include "util/utf8.h"

void quote_c(strbuf *b, const char *s)
{
    sb_addc(b, '"');
    for (; *s; s++) {
        const unsigned char ch = (unsigned char)*s;
        if (ch == '"' || ch == '\\')
            sb_printf(b, "\\%c", ch);
        else if (ch == '\n')
            sb_add(b, "\\n");
        else if (ch == '\t')
            sb_add(b, "\\t");
        else if (ch < 32 || ch == 127 || (ch == '?' && s[1] == '?')) /* octal also keeps trigraphs away */
            sb_printf(b, "\\%03o", ch);
        else
            sb_addc(b, (char)ch);
    }
    sb_addc(b, '"');
}

void quote_json(strbuf *b, const char *s)
{
    size_t n = strlen(s);
    sb_addc(b, '"');
    for (size_t i = 0; i < n;) {
        size_t bytes = utf8_length(s + i, n - i);
        unsigned char c = (unsigned char)s[i];
        if (bytes == 0)
            sb_add(b, "\\ufffd");
        else if (c == '"' || c == '\\')
            sb_printf(b, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            sb_printf(b, "\\u%04x", c);
        else
            sb_addn(b, s + i, bytes);
        i += bytes ? bytes : 1;
    }
    sb_addc(b, '"');
}

void quote_c_comment(strbuf *b, const char *s, const char *indent)
{
    for (; *s; s++) {
        if (*s == '\n')
            sb_printf(b, "\n%s", indent);
        else if (s[0] == '*' && s[1] == '/')
            sb_add(b, "* ");
        else if (s[0] == '/' && s[1] == '*')
            sb_add(b, "/ ");
        else
            sb_addc(b, *s);
    }
}

void quote_python(strbuf *b, const char *s, const char *indent)
{
    for (; *s; s++) {
        if (*s == '\n')
            sb_printf(b, "%s%s", *indent == '\\' ? "" : "\n", indent);
        else if (*s == '\\' || *s == '"')
            sb_printf(b, "\\%c", *s);
        else
            sb_addc(b, *s);
    }
}

void quote_make(strbuf *b, const char *s)
{
    for (; *s; s++) {
        if (strchr(" #\\", *s))
            sb_addc(b, '\\');
        else if (*s == '$')
            sb_addc(b, '$');
        sb_addc(b, *s);
    }
}
