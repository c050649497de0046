/* Diagnostics: every message has a place, a severity and a stable code from diag.def. */
#ifndef TKC_DIAG_H
#define TKC_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A place in the source. Line and column count from 1; line 0 means "no place". Columns count bytes. */
typedef struct src_loc {
    uint32_t line;
    uint16_t col;
    uint16_t file; /* index given by diag_add_file */
} src_loc;

static inline bool src_loc_equal(src_loc a, src_loc b)
{
    return a.line == b.line && a.col == b.col && a.file == b.file;
}

/* Half-open in columns when on one line; end.line == 0 means a single point. */
typedef struct src_span {
    src_loc begin, end;
} src_span;

typedef enum diag_code {
#define DIAG(id, severity, code, text) DIAG_##id,
#include "util/diag.def"
#undef DIAG
    DIAG_COUNT
} diag_code;

typedef enum diag_severity { DIAG_NOTE, DIAG_WARNING, DIAG_ERROR } diag_severity;

typedef struct diag_sink diag_sink;

typedef enum diag_format { DIAG_FORMAT_TEXT, DIAG_FORMAT_JSON } diag_format;

/* Messages go to out when diag_flush is called, sorted by nothing: in the order reported. At most 20 errors are
 * printed. */
diag_sink *diag_create(FILE *out, diag_format format);
/* Once, at the end: JSON is one array. */
void diag_flush(diag_sink *d);
/* Flushes if nobody did. */
void diag_destroy(diag_sink *d);

/* Instead of printing: each message as it is reported, its notes and the edits that would mend it behind it. What is in
 * there belongs to the sink and lives until the next call. */
typedef struct diag_listener {
    void *ctx;
    void (*message)(void *ctx, src_span at, diag_severity severity, diag_code code, const char *text);
    void (*note)(void *ctx, src_span at, const char *text);
    void (*fix)(void *ctx, src_loc at, const char *old, const char *text);
} diag_listener;
/* Before the first message. */
void diag_listen(diag_sink *d, const diag_listener *l);

/* Registers a source text (not copied; must outlive the sink) so that messages can quote its lines. */
uint16_t diag_add_file(diag_sink *d, const char *path, const char *text, size_t len);
/* Its index, -1 if it is none of them. */
int diag_find_file(const diag_sink *d, const char *path);
const char *diag_file_path(const diag_sink *d, uint16_t file);

/* Reports a message: the code's text from diag.def is the printf format for the arguments. An error that was printed
 * for the same place in the same words is counted only. Returns false, so that checks can `return diag(...)`. */
bool diag(diag_sink *d, src_span at, diag_code code, ...);
/* A note that belongs to the last message. */
__attribute__((format(printf, 3, 4))) void diag_note(diag_sink *d, src_span at, const char *fmt, ...);

/* An edit that would mend what the last message is about, for listeners: `text` in place of `old`, which stands at `at`
 * (they see to it that it does: in an instance of a generic function it may not). */
void diag_fix(diag_sink *d, src_loc at, const char *old, const char *text);

int diag_error_count(const diag_sink *d);
/* True once 20 errors were reported: the stages stop early. */
bool diag_too_many(const diag_sink *d);
void diag_set_werror(diag_sink *d, bool on);
/* The text of a code such as "E0102", its format string and severity (docs and tests list them). */
const char *diag_code_name(diag_code code);
const char *diag_code_text(diag_code code);
diag_severity diag_code_severity(diag_code code);

static inline src_span span_at(src_loc l)
{
    return (src_span){l, {0, 0, 0}};
}

#endif
