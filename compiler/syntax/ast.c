/* Builders: one for each construct of the grammar. */
#include "syntax/ast.h"

#include "syntax/parse.h"

/* ---- lists; an element that an error left out is NULL ---- */

#define APPEND(l, e) \
    do { \
        if (!(e)) \
            break; \
        if ((l).last) \
            (l).last->next = (e); \
        else \
            (l).first = (e); \
        (l).last = (e); \
    } while (0)

expr_list expr_append(expr_list l, ast_expr *e)
{
    APPEND(l, e);
    return l;
}

expr_list expr_prepend(ast_expr *e, expr_list l)
{
    e->next = l.first;
    return (expr_list){e, l.last ? l.last : e};
}

type_list type_append(type_list l, ast_type *t)
{
    APPEND(l, t);
    return l;
}

name_list name_append(parse *p, name_list l, const char *name, src_span at)
{
    ast_name *n = ARENA_NEW(p->mem, ast_name);
    *n = (ast_name){.name = name, .span = at};
    APPEND(l, n);
    return l;
}

stmt_list stmt_append(stmt_list l, ast_stmt *s)
{
    APPEND(l, s);
    return l;
}

attr_list attr_append(attr_list l, ast_attr *a)
{
    APPEND(l, a);
    return l;
}

param_list param_append(param_list l, ast_param *q)
{
    APPEND(l, q);
    return l;
}

item_list item_append(item_list l, ast_item *i)
{
    APPEND(l, i);
    return l;
}

/* ---- types ---- */

static ast_type *new_type(parse *p, ast_type_kind kind, src_span at)
{
    ast_type *t = ARENA_NEW(p->mem, ast_type);
    t->kind = kind;
    t->span = at;
    return t;
}

const char *dotted_name(parse *p, const char *lib, const char *name)
{
    return intern(p->names, arena_printf(p->mem, "%s.%s", lib, name));
}

ast_type *type_name(parse *p, src_span at, const char *name)
{
    ast_type *t = new_type(p, AST_TYPE_NAME, at);
    t->name = name;
    return t;
}

ast_type *type_vec(parse *p, src_span at, ast_expr *n, ast_type *elem)
{
    ast_type *t = new_type(p, AST_TYPE_VEC, at);
    t->extents = n;
    t->elem = elem;
    return t;
}

ast_type *type_mat(parse *p, src_span at, ast_expr *n, ast_expr *m, ast_type *elem)
{
    ast_type *t = new_type(p, AST_TYPE_MAT, at);
    t->extents = n;
    n->next = m;
    t->elem = elem;
    return t;
}

ast_type *type_array(parse *p, src_span at, ast_type *elem, expr_list extents)
{
    ast_type *t = new_type(p, AST_TYPE_ARRAY, at);
    t->elem = elem;
    t->extents = extents.first;
    return t;
}

ast_type *type_tuple(parse *p, src_span at, type_list members)
{
    if (members.first == members.last)
        return members.first;
    ast_type *t = new_type(p, AST_TYPE_TUPLE, at);
    t->members = members.first;
    return t;
}

/* ---- expressions ---- */

static ast_expr *new_expr(parse *p, ast_expr_kind kind, src_span at, src_span op_at)
{
    ast_expr *e = ARENA_NEW(p->mem, ast_expr);
    e->kind = kind;
    e->span = at;
    e->op_span = op_at;
    e->height = 0; /* operators, one above the other */
    return e;
}

/* Notes that `below` is a part of e. */
static void raise(parse *p, ast_expr *e, const ast_expr *below)
{
    if (!below || below->height < e->height)
        return;
    e->height = below->height + 1;
    if (e->height <= MAX_HEIGHT)
        return;
    if (!p->stopped)
        diag(p->diag, e->op_span, DIAG_EXPR_HEIGHT, MAX_HEIGHT);
    parse_stop(p);
}

static ast_expr *with_args(parse *p, ast_expr *e, expr_list args)
{
    e->args = args.first;
    for (const ast_expr *a = args.first; a; a = a->next)
        raise(p, e, a);
    return e;
}

ast_expr *expr_int(parse *p, src_span at, int_value v)
{
    ast_expr *e = new_expr(p, AST_EXPR_INT, at, at);
    e->ival = v.value;
    e->big = v.big;
    return e;
}

ast_expr *expr_float(parse *p, src_span at, float_value v)
{
    ast_expr *e = new_expr(p, AST_EXPR_FLOAT, at, at);
    e->fval = v.value;
    e->fsingle = v.single;
    return e;
}

ast_expr *expr_bool(parse *p, src_span at, bool v)
{
    ast_expr *e = new_expr(p, AST_EXPR_BOOL, at, at);
    e->ival = v;
    return e;
}

ast_expr *expr_string(parse *p, src_span at, const char *text)
{
    ast_expr *e = new_expr(p, AST_EXPR_STRING, at, at);
    e->text = text;
    return e;
}

ast_expr *expr_name(parse *p, src_span at, const char *name)
{
    ast_expr *e = new_expr(p, AST_EXPR_NAME, at, at);
    e->name = name;
    return e;
}

ast_expr *expr_unary(parse *p, src_span at, ast_unop op, src_span op_at, ast_expr *a)
{
    ast_expr *e = new_expr(p, AST_EXPR_UNARY, at, op_at);
    e->unop = op;
    e->a = a;
    raise(p, e, a);
    return e;
}

ast_expr *expr_binary(parse *p, src_span at, ast_binop op, src_span op_at, ast_expr *a, ast_expr *b)
{
    ast_expr *e = new_expr(p, AST_EXPR_BINARY, at, op_at);
    e->binop = op;
    e->a = a;
    e->b = b;
    raise(p, e, a);
    raise(p, e, b);
    return e;
}

ast_expr *expr_cond(parse *p, src_span at, src_span op_at, ast_expr *a, ast_expr *b, ast_expr *c)
{
    ast_expr *e = new_expr(p, AST_EXPR_COND, at, op_at);
    e->a = a;
    e->b = b;
    e->c = c;
    raise(p, e, a);
    raise(p, e, b);
    raise(p, e, c);
    return e;
}

ast_expr *expr_call(parse *p, src_span at, src_span paren, ast_expr *callee, expr_list args)
{
    bool takes_bounds = callee->kind == AST_EXPR_NAME && callee->name == intern(p->names, "ndrange");
    for (const ast_expr *a = args.first; a; a = a->next)
        if (a->is_bounds && !takes_bounds)
            diag(p->diag, a->span, DIAG_STRAY_BOUNDS);
    ast_expr *e = new_expr(p, AST_EXPR_CALL, at, paren);
    e->a = callee;
    raise(p, e, callee);
    return with_args(p, e, args);
}

ast_expr *expr_typecall(parse *p, src_span at, src_span paren, ast_type *type, expr_list args)
{
    ast_expr *e = new_expr(p, AST_EXPR_TYPECALL, at, paren);
    e->type = type;
    for (const ast_expr *n = type->extents; n; n = n->next)
        raise(p, e, n);
    return with_args(p, e, args);
}

ast_expr *expr_index(parse *p, src_span at, src_span bracket, ast_expr *a, expr_list args)
{
    ast_expr *e = new_expr(p, AST_EXPR_INDEX, at, bracket);
    e->a = a;
    raise(p, e, a);
    return with_args(p, e, args);
}

ast_expr *expr_member(parse *p, src_span at, src_span name_at, ast_expr *a, const char *name)
{
    ast_expr *e = new_expr(p, AST_EXPR_MEMBER, at, name_at);
    e->a = a;
    e->name = name;
    raise(p, e, a);
    if (a && a->kind == AST_EXPR_NAME)
        vec_push(&p->members, e);
    return e;
}

ast_expr *expr_literal_list(parse *p, src_span at, expr_list items)
{
    src_span bracket = {at.begin, {0, 0, 0}};
    return with_args(p, new_expr(p, AST_EXPR_LIST, at, bracket), items);
}

ast_expr *expr_bounds(parse *p, src_span at, expr_list items)
{
    ast_expr *e = expr_literal_list(p, at, items);
    e->is_bounds = true;
    return e;
}

ast_expr *expr_paren(ast_expr *e, src_span at)
{
    e->span = at;
    return e;
}

/* ---- statements ---- */

static ast_stmt *new_stmt(parse *p, ast_stmt_kind kind, src_span at)
{
    ast_stmt *s = ARENA_NEW(p->mem, ast_stmt);
    s->kind = kind;
    s->span = at;
    return s;
}

ast_stmt *stmt_let(parse *p, src_span at, ast_stmt_kind kind, name_list names, ast_type *type, ast_expr *value)
{
    ast_stmt *s = new_stmt(p, kind, at);
    s->names = names.first;
    s->type = type;
    s->value = value;
    return s;
}

ast_stmt *stmt_let_several(parse *p, src_span at, ast_stmt_kind kind, name_list names, ast_type *type, expr_list values)
{
    ast_stmt *s = stmt_let(p, at, kind, names, type, NULL);
    s->values = values.first;
    return s;
}

ast_stmt *stmt_assign(parse *p, src_span at, ast_expr *target, const ast_binop *op, ast_expr *value)
{
    ast_stmt *s = new_stmt(p, AST_STMT_ASSIGN, at);
    s->target = target;
    s->value = value;
    s->has_op = op != NULL;
    if (op)
        s->assign_op = *op;
    return s;
}

ast_stmt *stmt_assign_several(parse *p, src_span at, expr_list targets, expr_list values)
{
    ast_stmt *s = new_stmt(p, AST_STMT_SEVERAL, at);
    s->targets = targets.first;
    s->values = values.first;
    return s;
}

ast_stmt *stmt_expr(parse *p, src_span at, ast_expr *value)
{
    ast_stmt *s = new_stmt(p, AST_STMT_EXPR, at);
    s->value = value;
    return s;
}

ast_stmt *stmt_if(parse *p, src_span at, ast_expr *cond, stmt_list body, ast_stmt *else_body, bool has_else)
{
    ast_stmt *s = new_stmt(p, AST_STMT_IF, at);
    s->cond = cond;
    s->body = body.first;
    s->else_body = else_body;
    s->has_else = has_else;
    return s;
}

ast_stmt *stmt_for(parse *p, src_span at, name_list names, ast_expr *iter, stmt_list body)
{
    ast_stmt *s = new_stmt(p, AST_STMT_FOR, at);
    s->names = names.first;
    s->iter = iter;
    s->body = body.first;
    return s;
}

ast_stmt *stmt_while(parse *p, src_span at, ast_expr *cond, ast_expr *limit, stmt_list body)
{
    ast_stmt *s = new_stmt(p, AST_STMT_WHILE, at);
    s->cond = cond;
    s->limit = limit;
    s->body = body.first;
    return s;
}

ast_stmt *stmt_return(parse *p, src_span at, expr_list values)
{
    ast_stmt *s = new_stmt(p, AST_STMT_RETURN, at);
    s->values = values.first;
    return s;
}

ast_stmt *stmt_plain(parse *p, src_span at, ast_stmt_kind kind)
{
    return new_stmt(p, kind, at);
}

ast_stmt *stmt_block(parse *p, src_span at, stmt_list body)
{
    ast_stmt *s = new_stmt(p, AST_STMT_BLOCK, at);
    s->body = body.first;
    return s;
}

ast_stmt *stmt_mark(ast_stmt *s, src_span at, ast_mark mark)
{
    if (s) {
        s->span = at;
        s->is_static = mark == AST_MARK_STATIC;
        s->is_serial = mark == AST_MARK_SERIAL;
        s->is_independent = mark == AST_MARK_INDEPENDENT;
    }
    return s;
}

/* ---- items ---- */

ast_attr *attr_new(parse *p, src_span at, const char *name, bool parens, expr_list args)
{
    ast_attr *a = ARENA_NEW(p->mem, ast_attr);
    *a = (ast_attr){.name = name, .span = at, .parens = parens, .args = args.first};
    return a;
}

ast_param *param_new(parse *p, src_span at, const char *name, ast_dir dir, ast_type *type, attr_list attrs)
{
    ast_param *q = ARENA_NEW(p->mem, ast_param);
    *q = (ast_param){.name = name, .span = at, .dir = dir, .type = type, .attrs = attrs.first};
    return q;
}

static ast_item *new_item(parse *p, ast_item_kind kind, src_span at, src_span name_at, const char *name)
{
    ast_item *i = ARENA_NEW(p->mem, ast_item);
    i->kind = kind;
    i->span = at;
    i->name_span = name_at;
    i->name = name;
    return i;
}

ast_item *item_import(parse *p, src_span at, src_span path_at, const char *path, src_span as_at, const char *as)
{
    ast_item *i = new_item(p, AST_ITEM_IMPORT, at, path_at, NULL);
    i->text = path;
    i->as = as;
    i->as_span = as_at;
    return i;
}

ast_item *item_const(parse *p, src_span at, src_span name_at, const char *name, ast_type *type, ast_expr *value)
{
    ast_item *i = new_item(p, AST_ITEM_CONST, at, name_at, name);
    i->type = type;
    i->value = value;
    return i;
}

ast_item *item_param(parse *p, src_span at, src_span name_at, const char *name, ast_type *type, ast_expr *value)
{
    ast_item *i = item_const(p, at, name_at, name, type, value);
    i->kind = AST_ITEM_PARAM;
    return i;
}

ast_item *item_struct(parse *p, src_span at, src_span name_at, const char *name, param_list members)
{
    ast_item *i = new_item(p, AST_ITEM_STRUCT, at, name_at, name);
    i->params = members.first;
    return i;
}

ast_item *item_field(parse *p, src_span at, src_span name_at, const char *name, ast_type *type, attr_list attrs)
{
    ast_item *i = new_item(p, AST_ITEM_FIELD, at, name_at, name);
    i->type = type;
    i->attrs = attrs.first;
    return i;
}

ast_item *item_made(parse *p, src_span at, src_span name_at, const char *name, src_span of_at, const char *of,
                    expr_list args, attr_list attrs)
{
    ast_item *i = new_item(p, AST_ITEM_KERNEL, at, name_at, name);
    i->made_of = of;
    i->made_span = of_at;
    i->args = args.first;
    i->attrs = attrs.first;
    return i;
}

ast_item *item_lazy(parse *p, src_span at, ast_item_kind kind)
{
    return new_item(p, kind, at, at, NULL);
}

ast_item *item_signature(parse *p, src_span name_at, const char *name, param_list params, ast_type *result,
                         attr_list attrs)
{
    ast_item *i = new_item(p, AST_ITEM_FUNC, name_at, name_at, name);
    i->params = params.first;
    i->result = result;
    i->attrs = attrs.first;
    return i;
}

ast_item *item_function(ast_item *sig, src_span at, ast_item_kind kind, bool is_export, bool is_extern, stmt_list body)
{
    sig->kind = kind;
    sig->span = at;
    sig->is_export = is_export;
    sig->is_extern = is_extern;
    sig->body = body.first;
    return sig;
}
