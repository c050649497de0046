/* Values of tokens. A bad literal is reported and gets a value all the same, so that the parser goes on. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "syntax/parse.h"
#include "util/strbuf.h"
#include "util/utf8.h"

enum { SHOWN = 40 }; /* bytes of a token that a message quotes */

const char *clip_text(parse *p, const char *text, size_t len)
{
    if (len <= SHOWN)
        return arena_strndup(p->mem, text, len);
    len = SHOWN;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return arena_printf(p->mem, "%.*s...", (int)len, text);
}

static int digit_value(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

int_value literal_int(parse *p, src_span at, const char *text, size_t len, int base)
{
    uint64_t v = 0;
    for (size_t i = base == 10 ? 0 : 2; i < len; i++) {
        uint64_t digit = (uint64_t)digit_value(text[i]);
        if (v > (UINT64_MAX - digit) / (uint64_t)base) {
            diag(p->diag, at, DIAG_INT_RANGE, clip_text(p, text, len));
            return (int_value){0};
        }
        v = v * (uint64_t)base + digit;
    }
    return (int_value){.value = (int64_t)v, .big = v > INT64_MAX};
}

float_value literal_float(parse *p, src_span at, const char *text)
{
    errno = 0;
    double v = strtod(text, NULL);
    bool too_large = v > 1 && isinf(v), too_small = errno == ERANGE && v == 0;
    if (!too_large && !too_small)
        return (float_value){v, strtof(text, NULL)};
    diag(p->diag, at, DIAG_FLOAT_RANGE, clip_text(p, text, strlen(text)), too_large ? "large" : "small");
    return (float_value){1, 1};
}

static bool ends_with_suffix(const char *text, size_t len)
{
    bool hex = len > 1 && (text[1] | 0x20) == 'x';
    char last = (char)(text[len - 1] | 0x20);
    return !hex && len > 1 && (last == 'f' || last == 'l' || last == 'u');
}

void bad_number(parse *p, src_span at, const char *text, size_t len)
{
    bool octal = text[0] == '0' && strspn(text, "0123456789") == len;
    const char *why = octal                         ? "; there are no octal numbers, leave out the leading zero"
                      : ends_with_suffix(text, len) ? "; there are no suffixes, a literal takes the type that it meets"
                                                    : "";
    diag(p->diag, at, DIAG_BAD_NUMBER, clip_text(p, text, len), why);
}

const char *literal_string(parse *p, src_span at, const char *text, size_t len)
{
    static const char escapes[] = "n\nt\tr\r\"\"\\\\''";
    char *out = arena_alloc(p->mem, len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\\') {
            out[n++] = text[i];
            continue;
        }
        i++; /* the scanner's pattern has a character behind every '\' */
        const char *e = escapes;
        while (*e && *e != text[i])
            e += 2;
        if (*e) {
            out[n++] = e[1];
            continue;
        }
        size_t bytes = utf8_length(text + i, len - i);
        src_span where = at;
        where.begin.col = (uint16_t)(at.begin.col + i < UINT16_MAX ? at.begin.col + i : UINT16_MAX);
        where.end.col = (uint16_t)(where.begin.col + 1 + bytes < UINT16_MAX ? where.begin.col + 1 + bytes : UINT16_MAX);
        diag(p->diag, where, DIAG_BAD_ESCAPE, arena_strndup(p->mem, text + i, bytes));
        i += bytes > 0 ? bytes - 1 : 0;
    }
    out[n] = '\0';
    return out;
}

const char *literal_name(parse *p, src_span at, const char *text, size_t len)
{
    if (len > MAX_NAME) {
        diag(p->diag, at, DIAG_NAME_LENGTH, MAX_NAME);
        len = MAX_NAME;
    }
    return intern_n(p->names, text, len);
}

/* The '#' begins a directive of C; a comment has a space behind it. */
static bool begins_directive(const parse *p)
{
    static const char *const words[] = {"include", "define", "undef", "if", "else", "elif", "endif", "pragma", "error"};
    const char *word = p->text + p->offset;
    size_t len = 0;
    while (p->offset + len < p->len && word[len] >= 'a' && word[len] <= 'z')
        len++;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strlen(words[k]) == len && !memcmp(words[k], word, len))
            return true;
    return false;
}

bool is_behind_operand(const parse *p)
{
    const char before = p->match_from > 0 ? p->text[p->match_from - 1] : ' ';
    return before == ')' || before == ']' || before == '_' || (before >= '0' && before <= '9') ||
           (before >= 'A' && before <= 'Z') || (before >= 'a' && before <= 'z');
}

void bad_character(parse *p, src_span at, const char *text, size_t len)
{
    unsigned char c = (unsigned char)text[0];
    const char *shown = clip_text(p, text, len);
    if (c < ' ' || c == 0x7f)
        shown = arena_printf(p->mem, "0x%02x", c);
    else if (c == '#')
        shown = begins_directive(p) ? "'#'; there is no preprocessor, see 'import' and 'const'"
                                    : "'#'; a comment begins with '//'";
    else if (c == '\'' && is_behind_operand(p))
        shown = "\"'\"; a matrix is transposed by 'transpose(A)'";
    else if (c == '\'')
        shown = arena_printf(p->mem, "%s; there are no character literals", len > 1 ? shown : "\"'\"");
    else
        shown = arena_printf(p->mem, "'%s'", shown);
    diag(p->diag, at, DIAG_BAD_CHARACTER, shown);
}

/* "///", not "////", which is a line drawn by hand. */
void add_doc_comment(parse *p, const char *text, size_t len)
{
    if (len > 3 && text[3] == '/')
        return;
    text += 3;
    len -= 3;
    if (len > 0 && text[0] == '<')
        text++, len--; /* Doxygen's mark of a trailing comment */
    if (len > 0 && text[0] == ' ')
        text++, len--;
    while (len > 0 && strchr(" \t\r\f\v", text[len - 1]))
        len--;
    doc_comment c = {.line = p->line,
                     .offset = p->match_from,
                     .own_line = p->token_line != p->line,
                     .text = arena_strndup(p->mem, text, len)};
    vec_push(&p->docs, c);
}
