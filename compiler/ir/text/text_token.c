/* Tokens of the IR's text. */
#include "ir/text/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void text_free(ir_text *t)
{
    vec_free(&t->funcs);
    vec_free(&t->fields);
    vec_free(&t->structs);
    vec_free(&t->params);
    vec_free(&t->layouts);
    vec_free(&t->targets);
    vec_free(&t->files);
    vec_free(&t->values);
    vec_free(&t->labelled);
    vec_free(&t->pending);
    vec_free(&t->read);
    vec_free(&t->externs);
    vec_free(&t->file_numbers);
}

/* ---- faults ---- */

static void fault(ir_text *t, text_place at, const char *fmt, va_list ap)
{
    if (!t->failed) {
        fprintf(t->errors, "%s:%" PRIu32 ":%" PRIu32 ": error: ", t->path, at.line, at.col);
        vfprintf(t->errors, fmt, ap);
        fputc('\n', t->errors);
    }
    t->failed = true;
    t->kind = TEXT_END;
    t->at = t->end;
    t->token_len = 0;
}

bool text_fault(ir_text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fault(t, t->place, fmt, ap);
    va_end(ap);
    return false;
}

bool text_fault_at(ir_text *t, text_place at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fault(t, at, fmt, ap);
    va_end(ap);
    return false;
}

bool text_expected(ir_text *t, const char *what)
{
    if (t->kind == TEXT_END)
        return text_fault(t, "%s expected, not the end of the text", what);
    if (t->kind == TEXT_LINE)
        return text_fault(t, "%s expected, not the end of the line", what);
    return text_fault(t, "%s expected, not '%.*s'", what, (int)(t->token_len < 40 ? t->token_len : 40), t->token);
}

/* ---- tokens ---- */

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t digits(const char *p, const char *end)
{
    const char *begin = p;
    while (p < end && isdigit((unsigned char)*p))
        p++;
    return (size_t)(p - begin);
}

/* Words joined by dots, and #2 behind them, are one: a field's name and plane. */
static size_t word(const char *p, const char *end)
{
    const char *begin = p;
    for (;;) {
        while (p < end && is_word_char(*p))
            p++;
        if (p + 1 < end && *p == '#' && isdigit((unsigned char)p[1]))
            p += 1 + digits(p + 1, end);
        if (p + 1 >= end || *p != '.' || !(isalpha((unsigned char)p[1]) || p[1] == '_'))
            return (size_t)(p - begin);
        p++;
    }
}

static size_t number(const char *p, const char *end)
{
    const char *begin = p;
    p += *p == '-';
    while (p < end && (isalnum((unsigned char)*p) || (*p == '.' && (p + 1 == end || p[1] != '.')) ||
                       ((*p == '+' || *p == '-') && p[-1] == 'e')))
        p++;
    return (size_t)(p - begin);
}

static size_t string(const char *p, const char *end)
{
    const char *begin = p++;
    while (p < end && *p != '"' && *p != '\n')
        p += *p == '\\' && p + 1 < end && p[1] != '\n' ? 2 : 1;
    return p < end && *p == '"' ? (size_t)(p + 1 - begin) : 0;
}

/* Blanks and comments; true if a line ended. */
static bool skip(ir_text *t)
{
    bool line = false;
    while (t->at < t->end) {
        if (*t->at == ';') {
            while (t->at < t->end && *t->at != '\n')
                t->at++;
        } else if (*t->at == '\n') {
            line = true;
            t->line++;
            t->line_begin = ++t->at;
        } else if (*t->at == ' ' || *t->at == '\t' || *t->at == '\r') {
            t->at++;
        } else {
            break;
        }
    }
    return line;
}

static void take(ir_text *t, text_kind kind, size_t len)
{
    t->kind = kind;
    t->token = t->at;
    t->token_len = len;
    t->at += len;
}

static void scan(ir_text *t)
{
    const char *p = t->at, *end = t->end, c = *p;
    const char next = p + 1 < end ? p[1] : '\n';
    size_t n;
    if (isalpha((unsigned char)c) || c == '_')
        take(t, TEXT_WORD, word(p, end));
    else if ((c == '%' || c == '#') && isdigit((unsigned char)next))
        take(t, c == '%' ? TEXT_VALUE : TEXT_LABEL, 1 + digits(p + 1, end));
    else if (isdigit((unsigned char)c) || (c == '-' && isalnum((unsigned char)next)))
        take(t, TEXT_NUMBER, number(p, end));
    else if (c == '"' && (n = string(p, end)) != 0)
        take(t, TEXT_STRING, n);
    else if (c == '"')
        text_fault(t, "a string without its end");
    else
        take(t, TEXT_PUNCT, (c == '.' && next == '.') || (c == '-' && next == '>') ? 2 : 1);
}

void text_next(ir_text *t)
{
    if (t->failed)
        return;
    const bool line = skip(t);
    t->place = (text_place){t->line, (uint32_t)(t->at - t->line_begin) + 1};
    if (line)
        take(t, TEXT_LINE, 0);
    else if (t->at < t->end)
        scan(t);
    else
        take(t, TEXT_END, 0);
}

size_t text_lit_len(const char *lit)
{
    const size_t n = strcspn(lit, " (");
    return n || !*lit || *lit == ' ' ? n : 1;
}

bool text_is(const ir_text *t, const char *lit)
{
    if (*lit == '\n')
        return t->kind == TEXT_LINE;
    lit += strspn(lit, " ");
    const size_t n = text_lit_len(lit);
    return (t->kind == TEXT_WORD || t->kind == TEXT_PUNCT || t->kind == TEXT_NUMBER) && n == t->token_len &&
           !memcmp(lit, t->token, n);
}

bool text_is_plain(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && (isalpha((unsigned char)*name) || *name == '_') && word(name, name + n) == n && !strchr(name, '#');
}
