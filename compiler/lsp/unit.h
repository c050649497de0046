/* One compilation of one text, in memory. */
#ifndef TKC_LSP_UNIT_H
#define TKC_LSP_UNIT_H

#include "check/base/typed.h"
#include "files/imports.h"
#include "lsp/lsp.h"
#include "util/strbuf.h"
#include "util/vec.h"

typedef struct unit_note {
    src_span at;
    char *text;
} unit_note;

typedef struct unit_fix {
    src_loc at;
    char *old, *text;
} unit_fix;

typedef struct unit_message {
    src_span at;
    diag_severity severity;
    const char *code; /* NULL: a fault of the compiler */
    char *text;
    VEC(unit_note) notes;
    VEC(unit_fix) fixes;
} unit_message;

/* What its adjoint, or a pass, says of a place: "x.grad +=: gather". */
typedef struct unit_fact {
    src_loc at;
    const char *kernel, *text;
    const ir_field *needed; /* the adjoint reads the field again, as it is here; else NULL */
} unit_fact;

/* A name of the kernel that stands for active values, in the line of one of them. */
typedef struct unit_active {
    const char *kernel, *name;
    unsigned line;
} unit_active;

/* How far. What is not reached because of errors is not there. UNIT_TEXT: the text alone is parsed, without imports. */
typedef enum unit_level {
    UNIT_NOTHING,
    UNIT_TEXT,
    UNIT_PARSED,
    UNIT_CHECKED,
    UNIT_LOWERED,
    UNIT_COMPILED,
    UNIT_EMITTED
} unit_level;

typedef struct unit {
    arena *mem;
    intern_pool *names;
    diag_sink *diag;
    imports imports;
    ast_module *ast;        /* with the items of imported files, if `checked` or behind */
    ast_item *import_items; /* copies of those of the text itself, through next */
    check_log log;
    ir_module *ir;
    tx_module *typed;
    strbuf text, c;
    char *path;
    unit_level reached;
    bool broken; /* a fault of the compiler ended it */
    bool asked;  /* names and types were looked at: the log is filled, as far as it goes */
    VEC(unit_message) messages;
    VEC(unit_fact) facts;    /* of what is compiled */
    VEC(unit_active) active; /* of what is lowered */
} unit;

/* What open files look like that are not written. */
typedef struct unit_host {
    const lsp_options *opt;
    bool (*unsaved)(void *ctx, const char *real, strbuf *out);
    void *ctx;
    size_t *checked, *compiled; /* count the runs of the checker and of the pipeline; NULL: no count */
} unit_host;

/* Never NULL. Compiles nothing but what `path` names with this text. A fault of the compiler that would end it becomes
 * a message. */
unit *unit_compile(const unit_host *host, const char *path, const char *text, size_t len, unit_level level);
/* Continues a compilation that stopped before this level. */
void unit_continue(unit *u, const unit_host *host, unit_level level);
/* Whether `level` is yet to be reached, and no error is in the way. */
bool unit_is_short_of(const unit *u, unit_level level);
void unit_free(unit *u);

/* What the adjoints of a compiled module need, and how its writes are made parallel. facts.c */
void unit_find_facts(unit *u);
/* Fills `active`, of what is lowered and no more. facts.c */
void unit_find_active(unit *u);
/* Whether a local of the kernel is active that is declared at line `from`, and the next one of that name at line
 * `until` (0: none). */
bool unit_is_active(const unit *u, const char *kernel, const char *name, unsigned from, unsigned until);
/* In words, whether the local or parameter `name` of the kernel or function at `item` is active, and why; declared at
 * this line, and the next one of that name at line `until` (0: none). NULL: nothing to say. Of what is lowered. facts.c
 */
const char *unit_activity(unit *u, const ast_item *item, const char *name, unsigned from, unsigned until);

#endif
