/* The syntax tree: what the parser saw, nothing resolved. Names are interned. Lists are singly linked through `next`,
 * in source order. Everything is allocated in the arena given to the parser.
 */
#ifndef TKC_AST_H
#define TKC_AST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util/arena.h"
#include "util/diag.h"
#include "util/intern.h"
#include "util/strbuf.h"

typedef struct ast_type ast_type;
typedef struct ast_expr ast_expr;
typedef struct ast_stmt ast_stmt;
typedef struct ast_item ast_item;
typedef struct ast_param ast_param;
typedef struct ast_attr ast_attr;
typedef struct ast_name ast_name;

/* ---- types ---- */

typedef enum ast_type_kind {
    AST_TYPE_NAME,  /* name: f32, real, vec3, ivec2, mat4, a struct */
    AST_TYPE_VEC,   /* vec(n, T): extents (one), elem */
    AST_TYPE_MAT,   /* mat(n, m, T): extents (two), elem */
    AST_TYPE_ARRAY, /* T[n, m]: elem, extents (expressions, or bare names that an array parameter binds) */
    AST_TYPE_TUPLE  /* (A, B): members through next */
} ast_type_kind;

struct ast_type {
    ast_type_kind kind;
    src_span span;
    const char *name;
    ast_type *elem;
    ast_expr *extents; /* list */
    ast_type *members;
    ast_type *next;
};

/* ---- expressions ---- */

typedef enum ast_binop {
    AST_ADD,
    AST_SUB,
    AST_MUL,
    AST_DIV,
    AST_REM,
    AST_POW,
    AST_MATMUL,
    AST_EQ,
    AST_NE,
    AST_LT,
    AST_LE,
    AST_GT,
    AST_GE,
    AST_LAND,
    AST_LOR,
    AST_BAND,
    AST_BOR,
    AST_BXOR,
    AST_SHL,
    AST_SHR
} ast_binop;
typedef enum ast_unop { AST_NEG, AST_PLUS, AST_LNOT, AST_BNOT } ast_unop;

typedef enum ast_expr_kind {
    AST_EXPR_INT,      /* ival; big: does not fit an i64 but fits a u64 */
    AST_EXPR_FLOAT,    /* fval */
    AST_EXPR_BOOL,     /* ival 0 or 1 */
    AST_EXPR_STRING,   /* text: only as an argument of assert and print */
    AST_EXPR_NAME,     /* name; "lib.f" of what is imported as lib */
    AST_EXPR_UNARY,    /* unop, a */
    AST_EXPR_BINARY,   /* binop, a, b */
    AST_EXPR_COND,     /* a ? b : c */
    AST_EXPR_CALL,     /* callee in a (a name or a member expression), args */
    AST_EXPR_TYPECALL, /* type(...): cast or construction by a type that the grammar knows as one (vec(3, f32)(...));
                          type, args */
    AST_EXPR_INDEX,    /* a[args] */
    AST_EXPR_MEMBER,   /* a.name */
    AST_EXPR_LIST      /* [args]; nested lists make matrices; is_bounds: (lo, hi, step), of ndrange only */
} ast_expr_kind;

struct ast_expr {
    ast_expr_kind kind;
    src_span span;
    src_span op_span; /* of the operator, member name or bracket, for carets */
    int64_t ival;
    double fval;
    float fsingle; /* the literal as f32: not always what fval is as f32 */
    bool big;
    bool is_bounds;
    const char *name; /* NAME, MEMBER */
    const char *text; /* STRING: decoded */
    ast_unop unop;
    ast_binop binop;
    ast_expr *a, *b, *c;
    ast_expr *args;
    ast_type *type;
    int height; /* of the tree below; the parser bounds it, since every stage recurses over it */
    ast_expr *next;
};

/* ---- statements ---- */

struct ast_name {
    const char *name;
    src_span span;
    ast_name *next;
};

typedef enum ast_stmt_kind {
#define STMT(id, word) AST_STMT_##id,
#include "syntax/stmts.def"
#undef STMT
} ast_stmt_kind;

struct ast_stmt {
    ast_stmt_kind kind;
    src_span span;
    ast_name *names;
    ast_type *type;
    ast_expr *target, *value, *cond, *limit, *iter;
    ast_expr *targets, *values;
    bool has_op;
    ast_binop assign_op;
    ast_stmt *body, *else_body; /* lists */
    bool has_else;
    bool is_static, is_serial, is_independent;
    ast_stmt *next;
};

/* ---- module items ---- */

/* A contextual word behind a declaration: needs_grad, derive(grad, jvp), grad_for(f). */
struct ast_attr {
    const char *name;
    src_span span;
    bool parens; /* there are parentheses, empty ones too */
    ast_expr *args;
    ast_attr *next;
};

typedef enum ast_dir { AST_DIR_NONE, AST_DIR_IN, AST_DIR_OUT, AST_DIR_INOUT } ast_dir;

/* Function or kernel parameter, or struct member. */
struct ast_param {
    const char *name;
    src_span span;
    ast_dir dir;
    ast_type *type; /* NULL: generic */
    ast_attr *attrs;
    ast_param *next;
};

typedef enum ast_item_kind {
    AST_ITEM_IMPORT, /* text: path; as, or NULL; once the files are joined: file, and its items behind it, if it is the
                        first import of the file */
    AST_ITEM_CONST,  /* name, type (or NULL), value */
    AST_ITEM_PARAM,  /* name, type, value (or NULL) */
    AST_ITEM_STRUCT, /* name, params: members */
    AST_ITEM_FIELD,  /* name, type, attrs */
    AST_ITEM_FUNC,   /* name, params, result, attrs, body; is_export, is_extern */
    AST_ITEM_KERNEL, /* name, params, result, attrs, body; or name, attrs, made_of, args, of `kernel a = b(x);` */
    AST_ITEM_LAZY_GRAD,
    AST_ITEM_LAZY_DUAL
} ast_item_kind;

struct ast_item {
    ast_item_kind kind;
    src_span span, name_span;
    const char *name, *text, *made_of;
    src_span made_span; /* of that name */
    ast_expr *args;
    ast_param *bound; /* the checker's: the parameters of the other kernel that args are for, as many as there are */
    const char *doc;  /* text of the doc comments before or on the line, NULL if none; lines joined by \n */
    ast_type *type, *result;
    ast_expr *value;
    ast_param *params;
    ast_attr *attrs;
    ast_stmt *body;
    bool is_export, is_extern;
    ast_item *next;
    const char *as;
    src_span as_span;
    uint16_t file; /* that is imported */
};

typedef struct ast_module {
    ast_item *items;
    uint16_t file;
} ast_module;

/* ---- parsing (syntax/parse.c, grammar/) ---- */

/* Bytes of a source file: larger ones are refused. */
enum { MAX_SOURCE = 64 << 20 };

/* Parses text registered as `file`. Reports syntax errors to d; after an error the tree holds what could be recovered,
 * possibly nothing. Nesting deeper than 256 levels is an error, not a crash. */
ast_module *ast_parse(arena *mem, intern_pool *names, diag_sink *d, uint16_t file, const char *text, size_t len);
/* --emit=tokens and --emit=ast. */
void ast_dump_tokens(FILE *out, intern_pool *names, diag_sink *d, uint16_t file, const char *text, size_t len);
void ast_dump(FILE *out, const ast_module *m);
/* --format: the text with its spaces and indentation put in order; comments, line breaks and alignment within a
 * statement are the author's. What was formatted stays as it is. Only for text that parses without errors. False, and
 * no text, if that would be another program, which would be a mistake in here. */
bool ast_format(strbuf *out, intern_pool *names, diag_sink *d, uint16_t file, const char *text, size_t len);

#endif
