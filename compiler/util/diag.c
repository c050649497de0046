#include "util/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/quote.h"
#include "util/strbuf.h"
#include "util/utf8.h"
#include "util/vec.h"

enum {
    MAX_ERRORS = 20,
    TAB_WIDTH = 8,
    LINE_BYTES = 160,       /* longer source lines are clipped to a window of this size ... */
    CONTEXT_BYTES = 60,     /* ... that starts this far before the caret */
    MAX_COLUMN = UINT16_MAX /* a column that does not fit src_loc is clamped to this and cannot be pointed at */
};

struct source {
    const char *path, *text;
    size_t len;
};

struct diag_sink {
    FILE *out;
    diag_format format;
    diag_listener listener; /* no message: nobody listens */
    VEC(struct source) files;
    strbuf buf;
    int errors;
    int printed;          /* of these */
    VEC(uint64_t) hashes; /* of those with a place */
    int messages;         /* printed so far, for the commas of JSON */
    int notes;            /* of the last message */
    bool werror;
    bool dropped; /* the last message was not printed: neither are its notes */
    bool open;    /* JSON: the last object still takes notes */
    bool flushed;
};

static const struct {
    const char *code, *text;
    diag_severity severity;
} table[DIAG_COUNT] = {
#define DIAG(id, severity_, code_, text_) [DIAG_##id] = {code_, text_, DIAG_##severity_},
#include "util/diag.def"
#undef DIAG
};

diag_sink *diag_create(FILE *out, diag_format format)
{
    diag_sink *d = xmalloc(sizeof *d);
    *d = (diag_sink){.out = out, .format = format};
    return d;
}

void diag_destroy(diag_sink *d)
{
    if (!d)
        return;
    if (!d->flushed)
        diag_flush(d);
    vec_free(&d->files);
    vec_free(&d->hashes);
    sb_free(&d->buf);
    free(d);
}

void diag_listen(diag_sink *d, const diag_listener *l)
{
    d->listener = *l;
}

uint16_t diag_add_file(diag_sink *d, const char *path, const char *text, size_t len)
{
    vec_push(&d->files, ((struct source){path, text, len}));
    return (uint16_t)(d->files.len - 1);
}

int diag_find_file(const diag_sink *d, const char *path)
{
    for (size_t i = 0; i < d->files.len; i++)
        if (!strcmp(d->files.at[i].path, path))
            return (int)i;
    return -1;
}

const char *diag_file_path(const diag_sink *d, uint16_t file)
{
    return file < d->files.len ? d->files.at[file].path : "?";
}

/* ---- the quoted line ---- */

/* The line of a place without its line end. */
static bool find_line(const diag_sink *d, src_loc at, const char **line, size_t *len)
{
    if (at.line == 0 || at.col == 0 || at.col == MAX_COLUMN || at.file >= d->files.len)
        return false;
    const struct source *f = &d->files.at[at.file];
    const char *p = f->text, *end = f->text + f->len;
    for (uint32_t n = 1; n < at.line; n++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (!p)
            return false;
        p++;
    }
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    if (!stop)
        stop = end;
    if (stop > p && stop[-1] == '\r')
        stop--;
    *line = p;
    *len = (size_t)(stop - p);
    return (size_t)(at.col - 1) <= *len;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Adds one character of the source to `text` and, below it, its share of the marker line. Returns its bytes. */
static size_t add_cell(strbuf *text, strbuf *mark, size_t *width, const char *s, size_t n, char m)
{
    size_t bytes = utf8_length(s, n), cells = 1;
    if (*s == '\t') {
        cells = TAB_WIDTH - *width % TAB_WIDTH;
        for (size_t i = 0; i < cells; i++)
            sb_addc(text, ' ');
    } else if (bytes == 0 || (unsigned char)*s < ' ' || *s == 0x7f) {
        sb_addc(text, '?'); /* raw control bytes would act on the terminal */
        bytes = 1;
    } else {
        sb_addn(text, s, bytes);
    }
    for (size_t i = 0; i < cells; i++)
        sb_addc(mark, m == '^' && i > 0 ? ' ' : m);
    *width += cells;
    return bytes;
}

static void quote_line(diag_sink *d, src_span at)
{
    const char *line;
    size_t len;
    if (!find_line(d, at.begin, &line, &len))
        return;
    size_t caret = at.begin.col - 1u, under = caret + 1;
    if (at.end.line > at.begin.line)
        under = len;
    else if (at.end.line == at.begin.line && at.end.col > at.begin.col)
        under = at.end.col - 1u;
    size_t from = 0, to = len;
    if (len > LINE_BYTES) {
        from = caret > CONTEXT_BYTES ? caret - CONTEXT_BYTES : 0;
        to = len - from > LINE_BYTES ? from + LINE_BYTES : len;
        while (from > 0 && is_continuation(line[from]))
            from--;
        while (to < len && is_continuation(line[to]))
            to++;
    }
    strbuf text = {0}, mark = {0};
    size_t width = 0;
    if (from > 0) {
        sb_add(&text, "...");
        sb_add(&mark, "   ");
        width = 3;
    }
    for (size_t i = from; i < to;)
        i += add_cell(&text, &mark, &width, line + i, len - i, i == caret ? '^' : i > caret && i < under ? '~' : ' ');
    if (to < len)
        sb_add(&text, "...");
    if (caret == len)
        sb_addc(&mark, '^'); /* just behind the last character: a missing ';' */
    while (text.len > 0 && text.s[text.len - 1] == ' ')
        text.s[--text.len] = '\0';
    while (mark.len > 0 && mark.s[mark.len - 1] == ' ')
        mark.s[--mark.len] = '\0';
    if (text.len > 0)
        sb_printf(&d->buf, "%s\n%s\n", sb_str(&text), sb_str(&mark));
    sb_free(&text);
    sb_free(&mark);
}

/* ---- the two formats ---- */

static const char *severity_name(diag_severity s)
{
    return s == DIAG_ERROR ? "error" : s == DIAG_WARNING ? "warning" : "note";
}

static void add_text(diag_sink *d, src_span at, diag_severity s, const char *message, const char *code, bool promoted)
{
    if (at.begin.line > 0 && at.begin.file < d->files.len)
        sb_printf(&d->buf, "%s:%u:%u: ", d->files.at[at.begin.file].path, (unsigned)at.begin.line,
                  (unsigned)at.begin.col);
    else
        sb_add(&d->buf, "tkc: ");
    sb_printf(&d->buf, "%s: %s", severity_name(s), message);
    if (code)
        sb_printf(&d->buf, promoted ? " [%s, -Werror]" : " [%s]", code);
    sb_addc(&d->buf, '\n');
    quote_line(d, at);
}

/* The members that messages and notes share. Without a place there is no "file", "line" and "column"; without an end
 * there is none of those. */
static void add_json_body(diag_sink *d, src_span at, diag_severity s, const char *message)
{
    sb_printf(&d->buf, "\"severity\": \"%s\", \"message\": ", severity_name(s));
    quote_json(&d->buf, message);
    if (at.begin.line == 0 || at.begin.file >= d->files.len)
        return;
    sb_add(&d->buf, ", \"file\": ");
    quote_json(&d->buf, d->files.at[at.begin.file].path);
    sb_printf(&d->buf, ", \"line\": %u, \"column\": %u", (unsigned)at.begin.line, (unsigned)at.begin.col);
    if (at.end.line > 0)
        sb_printf(&d->buf, ", \"end_line\": %u, \"end_column\": %u", (unsigned)at.end.line, (unsigned)at.end.col);
}

static void close_json_message(diag_sink *d)
{
    if (d->open)
        sb_add(&d->buf, d->notes > 0 ? "\n  ]}" : "]}");
    d->open = false;
}

static void add_json(diag_sink *d, src_span at, diag_severity s, const char *message, const char *code)
{
    close_json_message(d);
    sb_add(&d->buf, d->messages > 0 ? ",\n  {" : "\n  {");
    sb_printf(&d->buf, "\"code\": \"%s\", ", code);
    add_json_body(d, at, s, message);
    sb_add(&d->buf, ", \"notes\": [");
    d->open = true;
}

/* FNV-1a. */
static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n > 0; n--)
        h = (h ^ *p++) * 0x100000001b3u;
    return h;
}

/* A generic function says the same of each of its instances: once is enough. */
static bool is_repeated(diag_sink *d, src_span at, const char *message)
{
    if (at.begin.line == 0)
        return false;
    const uint64_t place[] = {at.begin.file, at.begin.line, at.begin.col};
    const uint64_t h = hash(hash(0xcbf29ce484222325u, place, sizeof place), message, strlen(message));
    for (size_t i = 0; i < d->hashes.len; i++)
        if (d->hashes.at[i] == h)
            return true;
    vec_push(&d->hashes, h);
    return false;
}

bool diag(diag_sink *d, src_span at, diag_code code, ...)
{
    diag_severity s = table[code].severity;
    bool promoted = s == DIAG_WARNING && d->werror;
    if (promoted)
        s = DIAG_ERROR;
    d->dropped = diag_too_many(d);
    if (s == DIAG_ERROR)
        d->errors++;
    if (d->dropped)
        return false;

    strbuf message = {0};
    va_list ap;
    va_start(ap, code);
    sb_vprintf(&message, table[code].text, ap);
    va_end(ap);
    d->dropped = is_repeated(d, at, sb_str(&message));
    if (d->dropped) {
        sb_free(&message);
        return false;
    }
    d->printed += s == DIAG_ERROR;
    if (d->listener.message)
        d->listener.message(d->listener.ctx, at, s, code, sb_str(&message));
    else if (d->format == DIAG_FORMAT_JSON)
        add_json(d, at, s, sb_str(&message), table[code].code);
    else
        add_text(d, at, s, sb_str(&message), table[code].code, promoted);
    sb_free(&message);
    d->messages++;
    d->notes = 0;
    return false;
}

void diag_note(diag_sink *d, src_span at, const char *fmt, ...)
{
    if (d->dropped || d->messages == 0)
        return;
    strbuf message = {0};
    va_list ap;
    va_start(ap, fmt);
    sb_vprintf(&message, fmt, ap);
    va_end(ap);
    if (d->listener.message) {
        d->listener.note(d->listener.ctx, at, sb_str(&message));
    } else if (d->format == DIAG_FORMAT_JSON) {
        sb_add(&d->buf, d->notes > 0 ? ",\n    {" : "\n    {");
        add_json_body(d, at, DIAG_NOTE, sb_str(&message));
        sb_addc(&d->buf, '}');
    } else {
        add_text(d, at, DIAG_NOTE, sb_str(&message), NULL, false);
    }
    sb_free(&message);
    d->notes++;
}

void diag_fix(diag_sink *d, src_loc at, const char *old, const char *text)
{
    if (!d->dropped && d->messages > 0 && d->listener.message)
        d->listener.fix(d->listener.ctx, at, old, text);
}

void diag_flush(diag_sink *d)
{
    if (d->listener.message)
        return;
    if (d->format == DIAG_FORMAT_JSON) {
        close_json_message(d);
        fprintf(d->out, "[%s%s]\n", sb_str(&d->buf), d->messages > 0 ? "\n" : "");
    } else {
        fputs(sb_str(&d->buf), d->out);
        if (diag_too_many(d))
            fprintf(d->out, "tkc: stopped after %d errors\n", MAX_ERRORS);
    }
    fflush(d->out);
    sb_clear(&d->buf);
    d->messages = 0;
    d->flushed = true;
}

int diag_error_count(const diag_sink *d)
{
    return d->errors;
}

bool diag_too_many(const diag_sink *d)
{
    return d->printed >= MAX_ERRORS;
}

void diag_set_werror(diag_sink *d, bool on)
{
    d->werror = on;
}

const char *diag_code_name(diag_code code)
{
    return table[code].code;
}

const char *diag_code_text(diag_code code)
{
    return table[code].text;
}

diag_severity diag_code_severity(diag_code code)
{
    return table[code].severity;
}
