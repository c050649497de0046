/* Words, numbers, names and places of the IR's text, both directions. */
#include "ir/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- words and numbers ---- */

static void end_of_line(ir_text *t)
{
    if (t->kind != TEXT_LINE && t->kind != TEXT_END)
        text_expected(t, "the end of the line");
    else if (t->kind == TEXT_LINE)
        text_next(t);
}

void text_lit(ir_text *t, const char *lit)
{
    if (t->out) {
        sb_add(t->out, lit);
        return;
    }
    if (*lit == '\n') {
        end_of_line(t);
        return;
    }
    for (lit += strspn(lit, " "); *lit; lit += strspn(lit, " ")) {
        const size_t n = text_lit_len(lit);
        if (!text_is(t, lit)) {
            char what[40];
            snprintf(what, sizeof what, "'%.*s'", (int)n, lit);
            text_expected(t, what);
        }
        text_next(t);
        lit += n;
    }
}

bool text_opt(ir_text *t, const char *lit, bool is)
{
    if (!t->out)
        is = text_is(t, lit);
    if (is)
        text_lit(t, lit);
    return is;
}

void text_flag(ir_text *t, const char *lit, bool *is)
{
    const bool found = text_opt(t, lit, *is);
    if (!t->out)
        *is = found;
}

static void expected_one(ir_text *t, const char *const *words, int n)
{
    strbuf all = {0};
    for (int i = 0; i < n; i++)
        sb_printf(&all, "%s%s", i ? ", " : "one of ", words[i] + strspn(words[i], " "));
    text_expected(t, sb_str(&all));
    sb_free(&all);
}

void text_choice(ir_text *t, const char *const *words, int n, int *which)
{
    if (t->out) {
        sb_add(t->out, words[*which]);
        return;
    }
    int none = -1;
    for (int i = 0; i < n; i++) {
        if (!*words[i])
            none = i;
        else if (text_opt(t, words[i], false)) {
            *which = i;
            return;
        }
    }
    if (none < 0)
        expected_one(t, words, n);
    *which = none < 0 ? 0 : none;
}

/* Most of a text are numbers: printf would take half of the time. */
static void write_digits(ir_text *t, uint64_t x, char sign)
{
    char s[24], *at = s + sizeof s;
    do
        *--at = (char)('0' + x % 10);
    while (x /= 10);
    if (sign)
        *--at = sign;
    sb_addn(t->out, at, (size_t)(s + sizeof s - at));
}

void text_write_id(ir_text *t, char sign, uint32_t id)
{
    write_digits(t, id, sign);
}

/* The token as a string of its own. */
static const char *token_text(const ir_text *t)
{
    return arena_strndup(t->m->mem, t->token, t->token_len);
}

void text_i64(ir_text *t, int64_t *x, int64_t lo, int64_t hi)
{
    if (t->out) {
        write_digits(t, *x < 0 ? -(uint64_t)*x : (uint64_t)*x, *x < 0 ? '-' : '\0');
        return;
    }
    *x = lo;
    if (t->kind != TEXT_NUMBER) {
        text_expected(t, "an integer");
        return;
    }
    char *end;
    errno = 0;
    const long long v = strtoll(token_text(t), &end, 10);
    if (errno || *end || v < lo || v > hi)
        text_fault(t, "'%.*s' is no integer from %" PRId64 " to %" PRId64, (int)(t->token_len < 40 ? t->token_len : 40),
                   t->token, lo, hi);
    else
        *x = v;
    text_next(t);
}

void text_int(ir_text *t, int *x, int lo, int hi)
{
    int64_t v = *x;
    text_i64(t, &v, lo, hi);
    if (!t->out)
        *x = (int)v;
}

void text_u64(ir_text *t, uint64_t *x)
{
    if (t->out) {
        sb_printf(t->out, "%" PRIu64, *x);
        return;
    }
    *x = 0;
    if (t->kind != TEXT_NUMBER) {
        text_expected(t, "an integer");
        return;
    }
    char *end;
    errno = 0;
    const unsigned long long v = strtoull(token_text(t), &end, 10);
    if (errno || *end || *t->token == '-')
        text_fault(t, "an integer without sign expected");
    else
        *x = v;
    text_next(t);
}

/* With as few digits as give the same number. */
static void write_double(strbuf *out, double x)
{
    char s[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (strtod(s, NULL) == x)
            break;
    }
    sb_add(out, s);
}

void text_double(ir_text *t, double *x)
{
    if (t->out) {
        write_double(t->out, *x);
        return;
    }
    *x = 0;
    const char *s = t->kind == TEXT_NUMBER || t->kind == TEXT_WORD ? token_text(t) : "";
    char *end;
    const double v = strtod(s, &end);
    if (!*s || *end)
        text_expected(t, "a number");
    else
        *x = v;
    text_next(t);
}

/* ---- strings and names ---- */

static void write_string(strbuf *out, const char *s)
{
    sb_addc(out, '"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            sb_addc(out, '\\');
        if ((unsigned char)*s < ' ')
            sb_printf(out, "\\x%02x", (unsigned)(unsigned char)*s);
        else
            sb_addc(out, *s);
    }
    sb_addc(out, '"');
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *unquoted(ir_text *t)
{
    char *s = arena_strndup(t->m->mem, t->token + 1, t->token_len - 2), *to = s;
    for (const char *p = s; *p; p++) {
        if (*p != '\\') {
            *to++ = *p;
            continue;
        }
        p++;
        if (*p != 'x') {
            *to++ = *p;
            continue;
        }
        const int high = hex_digit(p[1]), low = high < 0 ? -1 : hex_digit(p[2]);
        if (low < 0 || high + low == 0) {
            text_fault(t, "'\\x' needs two digits of a byte that is not zero");
            return "";
        }
        *to++ = (char)(16 * high + low);
        p += 2;
    }
    *to = '\0';
    return s;
}

void text_string(ir_text *t, const char **s)
{
    if (t->out) {
        write_string(t->out, *s ? *s : "");
        return;
    }
    *s = "";
    if (t->kind != TEXT_STRING)
        text_expected(t, "a string");
    else
        *s = intern(t->m->names, unquoted(t));
    text_next(t);
}

void text_opt_string(ir_text *t, const char *keyword, const char **s)
{
    if (text_opt(t, keyword, *s != NULL))
        text_string(t, s);
}

bool text_is_name(const ir_text *t)
{
    return t->kind == TEXT_WORD || t->kind == TEXT_STRING;
}

/* A name and which of those that have it. */
static void name_and_number(ir_text *t, const char **name, int *nth)
{
    *nth = 1;
    *name = "";
    if (t->kind == TEXT_STRING) {
        *name = intern(t->m->names, unquoted(t));
        text_next(t);
        if (t->kind == TEXT_LABEL) {
            *nth = atoi(token_text(t) + 1);
            text_next(t);
        }
        return;
    }
    if (t->kind != TEXT_WORD) {
        text_expected(t, "a name");
        return;
    }
    const char *sign = memchr(t->token, '#', t->token_len);
    const size_t n = sign ? (size_t)(sign - t->token) : t->token_len;
    *name = intern_n(t->m->names, t->token, n);
    if (sign && t->token_len - n < 10)
        *nth = atoi(token_text(t) + n + 1);
    text_next(t);
}

static void write_name(ir_text *t, const char *name, int nth)
{
    if (text_is_plain(name))
        sb_add(t->out, name);
    else
        write_string(t->out, name);
    if (nth > 1)
        sb_printf(t->out, "#%d", nth);
}

void text_name(ir_text *t, const char **name)
{
    int nth;
    if (t->out)
        write_name(t, *name, 1);
    else
        name_and_number(t, name, &nth);
}

void text_scalar(ir_text *t, scalar *type)
{
    if (t->out) {
        sb_add(t->out, scalar_name(*type));
        return;
    }
    for (int i = 0; i < SC_NONE; i++)
        if (text_opt(t, scalar_name((scalar)i), false)) {
            *type = (scalar)i;
            return;
        }
    *type = SC_F32;
    text_expected(t, "a type");
}

/* ---- symbols ---- */

void text_add(text_symbols *list, const char *name, void *of)
{
    int nth = 1;
    for (size_t i = 0; i < list->len; i++)
        nth += list->at[i].name == name || !strcmp(list->at[i].name, name);
    vec_push(list, ((text_symbol){name, nth, of}));
}

static void *find(const text_symbols *list, const char *name, int nth)
{
    for (size_t i = 0; i < list->len; i++)
        if (list->at[i].nth == nth && !strcmp(list->at[i].name, name))
            return list->at[i].of;
    return NULL;
}

static void write_symbol(ir_text *t, const text_symbols *list, const void *of, const char *suffix)
{
    for (size_t i = 0; i < list->len; i++)
        if (list->at[i].of == of) {
            write_name(t, list->at[i].name, list->at[i].nth);
            sb_add(t->out, suffix);
            return;
        }
    sb_add(t->out, "\"?\""); /* of a module that is broken */
}

void text_define(ir_text *t, text_symbols *list, const char **name, void *of)
{
    if (t->out) {
        write_symbol(t, list, of, "");
        return;
    }
    const text_place at = t->place;
    int nth;
    name_and_number(t, name, &nth);
    if (find(list, *name, nth))
        text_fault_at(t, at, "'%s' is there already", *name);
    vec_push(list, ((text_symbol){*name, nth, of}));
}

void text_refer(ir_text *t, const text_symbols *list, const char *what, void **of)
{
    if (t->out) {
        write_symbol(t, list, *of, "");
        return;
    }
    const text_place at = t->place;
    const char *name;
    int nth;
    name_and_number(t, &name, &nth);
    *of = find(list, name, nth);
    if (!*of)
        text_fault_at(t, at, "there is no %s '%s'", what, name);
}

void text_func(ir_text *t, ir_func **f)
{
    if (t->out) {
        write_symbol(t, &t->funcs, *f, "");
        return;
    }
    text_pending p = {.kind = PENDING_FUNC, .slot = f, .at = t->place};
    int nth;
    name_and_number(t, &p.name, &nth);
    p.number = nth;
    *f = NULL;
    vec_push(&t->pending, p);
}

/* A member may be called `grad`: of two readings of p.grad one is a field, as no member is a struct and a leaf at once.
 */
static ir_field *split_plane(const ir_text *t, const char *token, size_t len, ir_plane plane)
{
    const size_t suffix = strlen(ir_plane_text(plane));
    if (len <= suffix || memcmp(token + len - suffix, ir_plane_text(plane), suffix))
        return NULL;
    len -= suffix;
    const char *sign = memchr(token, '#', len);
    const size_t n = sign ? (size_t)(sign - token) : len;
    const char *number = sign ? arena_strndup(t->m->mem, sign + 1, len - n - 1) : "1";
    const bool whole = strspn(number, "0123456789") == strlen(number) && strlen(number) < 9;
    return whole ? find(&t->fields, arena_strndup(t->m->mem, token, n), atoi(number)) : NULL;
}

void text_plane(ir_text *t, ir_field **f, ir_plane *plane)
{
    if (t->out) {
        write_symbol(t, &t->fields, *f, ir_plane_text(*plane));
        return;
    }
    *f = NULL;
    *plane = IR_DATA;
    for (int p = IR_DATA; p < IR_PLANES && !*f && t->kind == TEXT_WORD; p++) {
        *f = split_plane(t, t->token, t->token_len, (ir_plane)p);
        *plane = (ir_plane)p;
    }
    if (!*f)
        text_expected(t, "a field");
    text_next(t);
    if (*f && (*f)->wide_of && (*f)->wide_of->has[(*f)->wide_plane]) { /* until the field is in its place */
        *plane = (*f)->wide_plane;
        *f = (*f)->wide_of;
    }
}

/* ---- places, types ---- */

void text_loc(ir_text *t, src_loc *loc)
{
    if (!text_opt(t, "   @", loc->line != 0))
        return;
    int64_t file = loc->file, line = loc->line, col = loc->col, first = file ? file : line;
    text_i64(t, &first, 0, UINT32_MAX);
    const bool elsewhere = text_opt(t, "/", file != 0);
    if (elsewhere)
        text_i64(t, &line, 0, UINT32_MAX);
    if (!t->out) {
        file = elsewhere ? first : 0;
        line = elsewhere ? line : first;
    }
    text_lit(t, ":");
    text_i64(t, &col, 0, UINT16_MAX);
    if (t->out || t->failed)
        return;
    if (file >= (int64_t)t->file_numbers.len && file > 0)
        text_fault(t, "there is no file %" PRId64, file);
    else
        *loc = (src_loc){(uint32_t)line, (uint16_t)col,
                         file < (int64_t)t->file_numbers.len ? t->file_numbers.at[file] : 0};
}

void text_type(ir_text *t, scalar *elem, ir_shape_kind *shape, int *rows, int *cols)
{
    text_scalar(t, elem);
    if (!t->out) {
        *shape = IR_SHAPE_SCALAR;
        *rows = *cols = 1;
    }
    if (!text_opt(t, " x ", *shape != IR_SHAPE_SCALAR))
        return;
    text_int(t, rows, 0, TEXT_MAX_COMPONENTS);
    const bool mat = text_opt(t, " x ", *shape == IR_SHAPE_MAT);
    if (mat)
        text_int(t, cols, 0, TEXT_MAX_COMPONENTS);
    if (!t->out)
        *shape = mat ? IR_SHAPE_MAT : IR_SHAPE_VEC;
}
