/* What scanner, grammar and builders share. Private to the syntax layer. */
#ifndef TKC_PARSE_H
#define TKC_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syntax/ast.h"
#include "util/vec.h"

enum {
    MAX_NESTING = 256,      /* of brackets and blocks */
    MAX_HEIGHT = 1000,      /* of an expression, in operators: later stages recurse over it */
    MAX_NAME = 255,         /* bytes */
    MAX_PARSER_STACK = 5000 /* symbols; enough for MAX_NESTING, and a bound for what nests without brackets: else-if,
                               unary operators, ** */
};

typedef struct token {
    int code; /* of the grammar; 0 at the end of the file */
    src_span span;
    size_t from, to; /* offsets in the text */
    bool first;      /* on its line */
} token;

typedef struct doc_comment {
    uint32_t line;
    size_t offset;
    bool own_line; /* nothing but the comment stands on the line */
    const char *text;
} doc_comment;

/* Lists under construction; the AST keeps `first`. */
typedef struct expr_list {
    ast_expr *first, *last;
} expr_list;
typedef struct type_list {
    ast_type *first, *last;
} type_list;
typedef struct name_list {
    ast_name *first, *last;
} name_list;
typedef struct stmt_list {
    ast_stmt *first, *last;
} stmt_list;
typedef struct attr_list {
    ast_attr *first, *last;
} attr_list;
typedef struct param_list {
    ast_param *first, *last;
} param_list;
typedef struct item_list {
    ast_item *first, *last;
} item_list;

typedef struct parse {
    arena *mem;
    intern_pool *names;
    diag_sink *diag;
    uint16_t file;
    const char *text;
    size_t len;

    /* scanner: the place behind the last match, and where the match begins */
    void *scanner;
    uint32_t line, col;
    size_t offset;
    src_span comment; /* where the open one begins */
    size_t match_from;
    uint32_t token_line; /* line of the last token, to see which comments and tokens are the first on theirs */
    VEC(doc_comment) docs;

    /* token feed (feed.c): open brackets, and what is to be delivered before the next scanned token */
    token open[MAX_NESTING];
    int depth;
    bool in_struct;     /* the outermost bracket holds members */
    uint32_t outer_col; /* column at which the line of the outermost open bracket starts */
    uint32_t line_col;  /* column of the first token of the current line */
    token cur, prev, before_prev;
    token stmt_start; /* the token behind the last ';', '{' or '}' */
    bool closing;     /* brackets that the user forgot are being closed; `held` follows */
    token held;
    bool forgive_brace; /* the '{' of the next stray '}' was in a part with an error */

    /* errors */
    bool stopped; /* an error after which going on makes no sense: the feed says "end of file" and nothing more is
                     reported */

    bool reported;
    size_t reported_at;    /* offset of the token of the last syntax error */
    size_t reported_start; /* and of the first token of its statement */
    bool skips_parens;     /* the error is the '(' of a loop of C: its head is skipped */

    item_list items;
    VEC(ast_expr *) members; /* of names: lib.f is one name, if lib is an import */
} parse;

/* ---- feed.c: tokens with matched brackets ---- */

void feed_begin(parse *p);
void feed_end(parse *p);
/* The next token, brackets not looked at. */
union TK_STYPE;
token feed_scan(parse *p, union TK_STYPE *value);
bool feed_begins_item(int code);
/* After a syntax error the open parentheses around it close no more. */
void feed_forget_parens(parse *p);
/* All tokens of a text, the end of the file included; bad ones are reported and left out. False, and reported, if it is
 * no text. */
bool parse_scan(intern_pool *names, diag_sink *d, uint16_t file, const char *text, size_t len,
                void (*each)(void *ctx, const token *t), void *ctx);
/* Stops the parse after an error that was just reported. */
void parse_stop(parse *p);

/* ---- message.c ---- */

/* Reports that p->cur is not one of `expected` (names as the grammar spells them). */
void syntax_error(parse *p, const char *const *expected, int n);
/* "identifier 'foo'", "';'", "end of file": for messages. */
const char *describe_token(parse *p, const token *t);

/* ---- literal.c: values of tokens; they report what is wrong with them and return something usable ---- */

typedef struct int_value {
    int64_t value; /* bits of the u64 if big */
    bool big;
} int_value;

int_value literal_int(parse *p, src_span at, const char *text, size_t len, int base);
/* Each rounded once from the decimal digits. */
typedef struct float_value {
    double value;
    float single;
} float_value;

float_value literal_float(parse *p, src_span at, const char *text);
/* The first bytes of a text that may be long. */
const char *clip_text(parse *p, const char *text, size_t len);
/* text: between the quotes. */
const char *literal_string(parse *p, src_span at, const char *text, size_t len);
const char *literal_name(parse *p, src_span at, const char *text, size_t len);
void bad_number(parse *p, src_span at, const char *text, size_t len);
/* The match stands directly behind a name, a number or a closing bracket. */
bool is_behind_operand(const parse *p);
void bad_character(parse *p, src_span at, const char *text, size_t len);
void add_doc_comment(parse *p, const char *text, size_t len);

/* ---- ast.c: builders ---- */

expr_list expr_append(expr_list l, ast_expr *e);
expr_list expr_prepend(ast_expr *e, expr_list l);
type_list type_append(type_list l, ast_type *t);
name_list name_append(parse *p, name_list l, const char *name, src_span at);
stmt_list stmt_append(stmt_list l, ast_stmt *s);
attr_list attr_append(attr_list l, ast_attr *a);
param_list param_append(param_list l, ast_param *q);
item_list item_append(item_list l, ast_item *i);

/* "lib.f" */
const char *dotted_name(parse *p, const char *lib, const char *name);
ast_type *type_name(parse *p, src_span at, const char *name);
ast_type *type_vec(parse *p, src_span at, ast_expr *n, ast_type *elem);
ast_type *type_mat(parse *p, src_span at, ast_expr *n, ast_expr *m, ast_type *elem);
ast_type *type_array(parse *p, src_span at, ast_type *elem, expr_list extents);
ast_type *type_tuple(parse *p, src_span at, type_list members);

ast_expr *expr_int(parse *p, src_span at, int_value v);
ast_expr *expr_float(parse *p, src_span at, float_value v);
ast_expr *expr_bool(parse *p, src_span at, bool v);
ast_expr *expr_string(parse *p, src_span at, const char *text);
ast_expr *expr_name(parse *p, src_span at, const char *name);
ast_expr *expr_unary(parse *p, src_span at, ast_unop op, src_span op_at, ast_expr *a);
ast_expr *expr_binary(parse *p, src_span at, ast_binop op, src_span op_at, ast_expr *a, ast_expr *b);
ast_expr *expr_cond(parse *p, src_span at, src_span op_at, ast_expr *a, ast_expr *b, ast_expr *c);
ast_expr *expr_call(parse *p, src_span at, src_span paren, ast_expr *callee, expr_list args);
ast_expr *expr_typecall(parse *p, src_span at, src_span paren, ast_type *type, expr_list args);
ast_expr *expr_index(parse *p, src_span at, src_span bracket, ast_expr *a, expr_list args);
ast_expr *expr_member(parse *p, src_span at, src_span name_at, ast_expr *a, const char *name);
ast_expr *expr_literal_list(parse *p, src_span at, expr_list items);
/* (lo, hi) or (lo, hi, step): what a call of ndrange may have as arguments, and no other. */
ast_expr *expr_bounds(parse *p, src_span at, expr_list items);
/* The same expression, its span including the parentheses. */
ast_expr *expr_paren(ast_expr *e, src_span at);

ast_stmt *stmt_let(parse *p, src_span at, ast_stmt_kind kind, name_list names, ast_type *type, ast_expr *value);
/* let a, b = e, f; */
ast_stmt *stmt_let_several(parse *p, src_span at, ast_stmt_kind kind, name_list names, ast_type *type,
                           expr_list values);
ast_stmt *stmt_assign(parse *p, src_span at, ast_expr *target, const ast_binop *op, ast_expr *value);
ast_stmt *stmt_assign_several(parse *p, src_span at, expr_list targets, expr_list values);
ast_stmt *stmt_expr(parse *p, src_span at, ast_expr *value);
ast_stmt *stmt_if(parse *p, src_span at, ast_expr *cond, stmt_list body, ast_stmt *else_body, bool has_else);
ast_stmt *stmt_for(parse *p, src_span at, name_list names, ast_expr *iter, stmt_list body);
ast_stmt *stmt_while(parse *p, src_span at, ast_expr *cond, ast_expr *limit, stmt_list body);
ast_stmt *stmt_return(parse *p, src_span at, expr_list values);
ast_stmt *stmt_plain(parse *p, src_span at, ast_stmt_kind kind); /* break, continue */
ast_stmt *stmt_block(parse *p, src_span at, stmt_list body);
/* Adds the word in front of s. */
typedef enum ast_mark { AST_MARK_STATIC, AST_MARK_SERIAL, AST_MARK_INDEPENDENT } ast_mark;
ast_stmt *stmt_mark(ast_stmt *s, src_span at, ast_mark mark);

ast_attr *attr_new(parse *p, src_span at, const char *name, bool parens, expr_list args);
ast_attr *attr_operator(parse *p, src_span at, const char *name, ast_binop op);
ast_param *param_new(parse *p, src_span at, const char *name, ast_dir dir, ast_type *type, attr_list attrs);

/* as: NULL if the items get no name in front. */
ast_item *item_import(parse *p, src_span at, src_span path_at, const char *path, src_span as_at, const char *as);
ast_item *item_const(parse *p, src_span at, src_span name_at, const char *name, ast_type *type, ast_expr *value);
ast_item *item_param(parse *p, src_span at, src_span name_at, const char *name, ast_type *type, ast_expr *value);
ast_item *item_struct(parse *p, src_span at, src_span name_at, const char *name, param_list members);
ast_item *item_field(parse *p, src_span at, src_span name_at, const char *name, ast_type *type, attr_list attrs);
/* kernel name = of(args) attrs; */
ast_item *item_made(parse *p, src_span at, src_span name_at, const char *name, src_span of_at, const char *of,
                    expr_list args, attr_list attrs);
ast_item *item_lazy(parse *p, src_span at, ast_item_kind kind);
/* Name, parameters, result and attributes of a function or kernel; item_function completes it. */
ast_item *item_signature(parse *p, src_span name_at, const char *name, param_list params, ast_type *result,
                         attr_list attrs);
ast_item *item_function(ast_item *sig, src_span at, ast_item_kind kind, bool is_export, bool is_extern, stmt_list body);

#endif
