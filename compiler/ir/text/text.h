/* The IR as text. Printer and reader are one description (text_op.c, text_module.c) made of the calls below: each
 * writes its part, or expects it and fills what it is given. So there is one place for each spelling, and nothing is
 * printed that cannot be read again.
 *
 * When writing nothing of the module is changed. When reading the first fault is kept, and from there on the text is at
 * its end.
 */
#ifndef TKC_IR_TEXT_H
#define TKC_IR_TEXT_H

#include "ir/ir.h"
#include "util/strbuf.h"

typedef enum text_kind {
    TEXT_END,
    TEXT_LINE,
    TEXT_WORD,
    TEXT_VALUE,
    TEXT_LABEL,
    TEXT_NUMBER,
    TEXT_STRING,
    TEXT_PUNCT
} text_kind;

typedef struct text_place {
    uint32_t line, col;
} text_place;

/* Things that are referred to by name. Where several have one (arrays of two kernels), the second is name#2. */
typedef struct text_symbol {
    const char *name;
    int nth;
    void *of;
} text_symbol;

typedef VEC(text_symbol) text_symbols;

/* An operation that others name as their origin: of its number, in the order in which they stand. */
typedef struct text_target {
    const ir_op *op;
    int64_t label;
} text_target;

/* What stands behind its use. */
typedef struct text_pending {
    enum { PENDING_FUNC, PENDING_ORIGIN, PENDING_REST, PENDING_EXTENT } kind;
    void *slot;
    const char *name; /* FUNC */
    int64_t number;   /* of a FUNC of that name, of the operation, of the value */
    text_place at;
} text_pending;

typedef struct ir_text {
    ir_module *m;
    text_symbols funcs, fields, structs, params, layouts;
    int extent_next; /* where a field's extents are, unless it says otherwise */
    /* writing */
    strbuf *out;              /* NULL: reading */
    VEC(text_target) targets; /* by address */
    VEC(bool) files;          /* by number: a place is in it */
    /* reading */
    const char *path, *at, *end, *line_begin;
    uint32_t line;
    text_kind kind; /* of the token that is next */
    const char *token;
    size_t token_len;
    text_place place; /* of the token */
    bool failed;
    FILE *errors;
    VEC(ir_value *) values; /* of the function, by id */
    VEC(ir_op *) labelled;  /* by label */
    VEC(ir_func *) read;    /* with their bodies */
    VEC(text_pending) pending;
    VEC(ir_func **) externs;
    VEC(uint16_t) file_numbers; /* by number in the text */
    int depth;
} ir_text;

enum { TEXT_MAX_VALUES = 1 << 24, TEXT_MAX_DEPTH = 4000, TEXT_MAX_COMPONENTS = 1024, TEXT_MAX_FIELDS = 1 << 16 };

/* ---- ir/text/text_token.c ---- */

void text_free(ir_text *t);
/* Reading: goes to the next token. */
void text_next(ir_text *t);
/* Reading: keeps the fault, at the token or at a place. Returns false. */
__attribute__((format(printf, 2, 3))) bool text_fault(ir_text *t, const char *fmt, ...);
__attribute__((format(printf, 3, 4))) bool text_fault_at(ir_text *t, text_place at, const char *fmt, ...);
/* The first token of what text_lit writes, without blanks in front. */
size_t text_lit_len(const char *lit);
/* Reading: whether the next token is this word or sign. Blanks around it do not count, nor what comes behind it. */
bool text_is(const ir_text *t, const char *lit);

/* Reading: a fault, as something else is next. */
bool text_expected(ir_text *t, const char *what);
/* Whether a name is one token. */
bool text_is_plain(const char *name);

/* ---- ir/text/text.c: what is made of a token or two ---- */

/* A word, a sign, both (" add("), or "\n", with the blanks that stand around it. */
void text_lit(ir_text *t, const char *lit);
/* The same, if it is there; writing: if it is to be there. */
bool text_opt(ir_text *t, const char *lit, bool is);
void text_flag(ir_text *t, const char *lit, bool *is);
/* One of n words; "" is what is meant where none of the others stands. */
void text_choice(ir_text *t, const char *const *words, int n, int *which);
void text_write_id(ir_text *t, char sign, uint32_t id);
void text_i64(ir_text *t, int64_t *x, int64_t lo, int64_t hi);
void text_int(ir_text *t, int *x, int lo, int hi);
void text_u64(ir_text *t, uint64_t *x);
void text_double(ir_text *t, double *x);
void text_string(ir_text *t, const char **s);
/* An identifier, or in quotes what is none. */
void text_name(ir_text *t, const char **name);
/* Reading: whether a name is next. */
bool text_is_name(const ir_text *t);
void text_scalar(ir_text *t, scalar *type);
/* `keyword "text"`, if there is one. */
void text_opt_string(ir_text *t, const char *keyword, const char **s);

/* Symbols. The name of a new one; reading, it is known from here on. */
void text_add(text_symbols *list, const char *name, void *of);
void text_define(ir_text *t, text_symbols *list, const char **name, void *of);
/* One that stands before. */
void text_refer(ir_text *t, const text_symbols *list, const char *what, void **of);
/* A function, which may stand behind. */
void text_func(ir_text *t, ir_func **f);
void text_plane(ir_text *t, ir_field **f, ir_plane *plane);

void text_loc(ir_text *t, src_loc *loc);
void text_type(ir_text *t, scalar *elem, ir_shape_kind *shape, int *rows, int *cols);

/* ---- ir/text/text_value.c ---- */

/* What stands in front of an operation, which is not there yet. */
typedef struct text_defined {
    int64_t id;
    scalar type;
    bool exact, finite;
    const char *name;
} text_defined;

/* Reading: the number in a token such as %12 or #12. */
int64_t text_id(ir_text *t);
/* Operand i. */
void text_arg(ir_text *t, ir_op *op, int i);
/* Operands from number i on, up to n; reading: as long as there is a comma. The number behind the last one. */
int text_args(ir_text *t, ir_op *op, int i, int n);
void text_write_def(ir_text *t, const ir_value *v);
text_defined text_read_def(ir_text *t);
void text_define_value(ir_text *t, ir_value *v, const text_defined *d);
/* A region's parameters. */
void text_params(ir_text *t, ir_region *r);

/* ---- ir/text/text_attr.c ---- */

/* The operation whose name is next; OP_COUNT if it is none. */
ir_opcode text_code(const ir_text *t);
/* All that stands between the operation's name and its regions. */
void text_attributes(ir_text *t, ir_op *op);

/* ---- ir/text/text_op.c: operations and regions ---- */

/* Between braces; one indented by depth. */
void text_region(ir_text *t, ir_region *r, int depth);
/* Writing: notes the file of a place. */
void text_survey_file(ir_text *t, src_loc loc);
/* Writing: numbers what is referred to in all functions, in their order; the layouts and files that they use. */
void text_survey(ir_text *t, ir_func *const *funcs, size_t n);
/* 1 + the greatest id. */
uint32_t text_ids(const ir_func *f);

/* ---- ir/text/text_func.c ---- */

/* A function with its body, from `func` on. */
void text_function(ir_text *t, ir_func *f);
/* One that is not there any more, but linked to. */
void text_gone(ir_text *t, ir_func *f);
/* Link number i to another function; NULL: it has none. */
ir_func *text_linked(const ir_func *f, int i);
int text_nlinks(void);

/* ---- ir/text/text_module.c ---- */

/* All but functions: what the module is, then one declaration after the other. */
void text_heading(ir_text *t);
void text_write_declarations(ir_text *t);
/* Reading: the declaration that is next; false if it is none of those. */
bool text_read_declaration(ir_text *t);

/* ---- ir/text/read_check.c ---- */

bool text_check(ir_text *t);

#endif
