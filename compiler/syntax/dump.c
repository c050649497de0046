/* --emit=ast: the tree, one statement or item a line with its span, expressions in prefix form. */
#include "syntax/ast.h"

#include <stdlib.h>
#include <string.h>

static const char *binop_name(ast_binop op)
{
    static const char *const names[] = {
        [AST_ADD] = "+",  [AST_SUB] = "-",    [AST_MUL] = "*",  [AST_DIV] = "/",   [AST_REM] = "%",
        [AST_POW] = "**", [AST_MATMUL] = "@", [AST_EQ] = "==",  [AST_NE] = "!=",   [AST_LT] = "<",
        [AST_LE] = "<=",  [AST_GT] = ">",     [AST_GE] = ">=",  [AST_LAND] = "&&", [AST_LOR] = "||",
        [AST_BAND] = "&", [AST_BOR] = "|",    [AST_BXOR] = "^", [AST_SHL] = "<<",  [AST_SHR] = ">>",
    };
    return names[op];
}

static const char *unop_name(ast_unop op)
{
    static const char *const names[] = {[AST_NEG] = "-", [AST_PLUS] = "+", [AST_LNOT] = "!", [AST_BNOT] = "~"};
    return names[op];
}

static void dump_expr(FILE *out, const ast_expr *e);
static void dump_type(FILE *out, const ast_type *t);

static void dump_string(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if (*s == '\n')
            fputs("\\n", out);
        else if ((unsigned char)*s < ' ' || *s == 0x7f)
            fprintf(out, "\\x%02x", (unsigned)(unsigned char)*s);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

/* The shortest decimal that gives v again, with a point or an exponent. */
static void dump_float(FILE *out, double v)
{
    char text[40];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void dump_list(FILE *out, const ast_expr *e)
{
    for (; e; e = e->next) {
        fputc(' ', out);
        dump_expr(out, e);
    }
}

static void dump_extents(FILE *out, const ast_expr *e)
{
    for (const ast_expr *n = e; n; n = n->next) {
        if (n != e)
            fputs(", ", out);
        dump_expr(out, n);
    }
}

static void dump_type(FILE *out, const ast_type *t)
{
    switch (t->kind) {
    case AST_TYPE_NAME:
        fputs(t->name, out);
        return;
    case AST_TYPE_VEC:
    case AST_TYPE_MAT:
        fputs(t->kind == AST_TYPE_VEC ? "vec(" : "mat(", out);
        dump_extents(out, t->extents);
        fputs(", ", out);
        dump_type(out, t->elem);
        fputc(')', out);
        return;
    case AST_TYPE_ARRAY:
        dump_type(out, t->elem);
        fputc('[', out);
        dump_extents(out, t->extents);
        fputc(']', out);
        return;
    case AST_TYPE_TUPLE:
        for (const ast_type *m = t->members; m; m = m->next) {
            fputs(m == t->members ? "(" : ", ", out);
            dump_type(out, m);
        }
        fputc(')', out);
        return;
    }
}

static void dump_expr(FILE *out, const ast_expr *e)
{
    switch (e->kind) {
    case AST_EXPR_INT:
        if (e->big)
            fprintf(out, "%llu", (unsigned long long)e->ival);
        else
            fprintf(out, "%lld", (long long)e->ival);
        return;
    case AST_EXPR_FLOAT:
        dump_float(out, e->fval);
        return;
    case AST_EXPR_BOOL:
        fputs(e->ival ? "true" : "false", out);
        return;
    case AST_EXPR_STRING:
        dump_string(out, e->text);
        return;
    case AST_EXPR_NAME:
        fputs(e->name, out);
        return;
    case AST_EXPR_UNARY:
        fprintf(out, "(%s ", unop_name(e->unop));
        dump_expr(out, e->a);
        break;
    case AST_EXPR_BINARY:
        fprintf(out, "(%s ", binop_name(e->binop));
        dump_expr(out, e->a);
        fputc(' ', out);
        dump_expr(out, e->b);
        break;
    case AST_EXPR_COND:
        fputs("(?: ", out);
        dump_expr(out, e->a);
        fputc(' ', out);
        dump_expr(out, e->b);
        fputc(' ', out);
        dump_expr(out, e->c);
        break;
    case AST_EXPR_CALL:
        fputs("(call ", out);
        dump_expr(out, e->a);
        dump_list(out, e->args);
        break;
    case AST_EXPR_TYPECALL:
        fputs("(type ", out);
        dump_type(out, e->type);
        dump_list(out, e->args);
        break;
    case AST_EXPR_INDEX:
        fputs("(index ", out);
        dump_expr(out, e->a);
        dump_list(out, e->args);
        break;
    case AST_EXPR_MEMBER:
        fputs("(. ", out);
        dump_expr(out, e->a);
        fprintf(out, " %s", e->name);
        break;
    case AST_EXPR_LIST:
        fputs(e->is_bounds ? "(bounds" : "(list", out);
        dump_list(out, e->args);
        break;
    }
    fputc(')', out);
}

/* ---- statements ---- */

static void dump_span(FILE *out, src_span s)
{
    fprintf(out, " @%u:%u-%u:%u", (unsigned)s.begin.line, (unsigned)s.begin.col, (unsigned)s.end.line,
            (unsigned)s.end.col);
}

static void indent(FILE *out, int depth)
{
    fprintf(out, "%*s", 2 * depth, "");
}

static void dump_names(FILE *out, const ast_name *n)
{
    for (const ast_name *first = n; n; n = n->next)
        fprintf(out, "%s%s", n == first ? " " : ", ", n->name);
}

static void dump_part(FILE *out, const char *before, const ast_expr *e)
{
    if (!e)
        return;
    fputs(before, out);
    dump_expr(out, e);
}

static void dump_stmts(FILE *out, const ast_stmt *s, int depth);

static void dump_stmt_head(FILE *out, const ast_stmt *s)
{
    static const char *const words[] = {
#define STMT(id, word) word,
#include "syntax/stmts.def"
#undef STMT
    };
    const char *mark = s->is_static ? "static " : s->is_serial ? "serial " : s->is_independent ? "independent " : "";
    fprintf(out, "%s%s", mark, words[s->kind]);
    if (s->kind == AST_STMT_ASSIGN)
        fprintf(out, " %s=", s->has_op ? binop_name(s->assign_op) : "");
    dump_names(out, s->names);
    if (s->type) {
        fputs(": ", out);
        dump_type(out, s->type);
    }
    dump_part(out, " ", s->target);
    dump_part(out, " ", s->cond);
    dump_part(out, " limit ", s->limit);
    dump_part(out, " in ", s->iter);
    dump_part(out, s->kind == AST_STMT_LET || s->kind == AST_STMT_VAR ? " = " : " ", s->value);
    dump_list(out, s->targets);
    if (s->targets)
        fputs(" :", out);
    dump_list(out, s->values);
    dump_span(out, s->span);
    fputc('\n', out);
}

static void dump_stmts(FILE *out, const ast_stmt *s, int depth)
{
    for (; s; s = s->next) {
        indent(out, depth);
        dump_stmt_head(out, s);
        dump_stmts(out, s->body, depth + 1);
        if (!s->has_else)
            continue;
        indent(out, depth);
        fputs("else\n", out);
        dump_stmts(out, s->else_body, depth + 1);
    }
}

/* ---- items ---- */

static void dump_attrs(FILE *out, const ast_attr *a)
{
    for (; a; a = a->next) {
        fprintf(out, " (%s", a->name);
        dump_list(out, a->args);
        fputc(')', out);
    }
}

static void dump_params(FILE *out, const ast_param *q)
{
    static const char *const dirs[] = {
        [AST_DIR_NONE] = "", [AST_DIR_IN] = "in ", [AST_DIR_OUT] = "out ", [AST_DIR_INOUT] = "inout "};
    for (; q; q = q->next) {
        indent(out, 2);
        fprintf(out, "%s", q->name);
        if (q->type) {
            fprintf(out, ": %s", dirs[q->dir]);
            dump_type(out, q->type);
        }
        dump_attrs(out, q->attrs);
        dump_span(out, q->span);
        fputc('\n', out);
    }
}

static void dump_item(FILE *out, const ast_item *i)
{
    static const char *const words[] = {
        [AST_ITEM_IMPORT] = "import", [AST_ITEM_CONST] = "const",         [AST_ITEM_PARAM] = "param",
        [AST_ITEM_STRUCT] = "struct", [AST_ITEM_FIELD] = "field",         [AST_ITEM_FUNC] = "func",
        [AST_ITEM_KERNEL] = "kernel", [AST_ITEM_LAZY_GRAD] = "lazy_grad", [AST_ITEM_LAZY_DUAL] = "lazy_dual",
    };
    indent(out, 1);
    fprintf(out, "%s%s%s", i->is_export ? "export " : "", i->is_extern ? "extern " : "", words[i->kind]);
    if (i->name)
        fprintf(out, " %s", i->name);
    if (i->text) {
        fputc(' ', out);
        dump_string(out, i->text);
    }
    if (i->as)
        fprintf(out, " as %s", i->as);
    if (i->type) {
        fputs(": ", out);
        dump_type(out, i->type);
    }
    if (i->result) {
        fputs(" -> ", out);
        dump_type(out, i->result);
    }
    dump_part(out, " = ", i->value);
    if (i->made_of) {
        fprintf(out, " = (%s", i->made_of);
        dump_list(out, i->args);
        fputc(')', out);
    }
    dump_attrs(out, i->attrs);
    dump_span(out, i->span);
    fputc('\n', out);
    if (i->doc) {
        indent(out, 2);
        fputs("doc ", out);
        dump_string(out, i->doc);
        fputc('\n', out);
    }
    dump_params(out, i->params);
    if (i->body) {
        indent(out, 2);
        fputs("body\n", out);
    }
    dump_stmts(out, i->body, 3);
}

void ast_dump(FILE *out, const ast_module *m)
{
    fputs("module\n", out);
    for (const ast_item *i = m->items; i; i = i->next)
        dump_item(out, i);
}
