/* derive(grad, jvp, hvp, jac(x, u), hess(x)). */
#include <string.h>

#include "check/check.h"

static void bad_derivative(checker *c, src_span at)
{
    ERR(c, at, DIAG_DERIVE);
    NOTE(c, at,
         "derive(...) takes grad, jvp, hvp, and of export funcs jac(x, ...) and hess(x, ...); derive() is a kernel "
         "without derivatives");
}

/* jac(x, u): what it is by. */
static const ast_expr *matrix_of(const ast_attr *a, const char *name)
{
    for (const ast_expr *e = a && !strcmp(a->name, "derive") ? a->args : NULL; e; e = e->next)
        if (e->kind == AST_EXPR_CALL && e->a->kind == AST_EXPR_NAME && !strcmp(e->a->name, name))
            return e;
    return NULL;
}

static int derive_bit(const sym *s, const ast_expr *e)
{
    const bool matrix = e->kind == AST_EXPR_CALL && s->item->is_export && e->args;
    const ast_expr *n = matrix ? e->a : e;
    const char *name = n->kind == AST_EXPR_NAME ? n->name : "";
    if (matrix)
        return !strcmp(name, "jac") ? IR_DERIVE_JAC : !strcmp(name, "hess") ? IR_DERIVE_HESS : 0;
    return !strcmp(name, "grad")  ? IR_DERIVE_GRAD
           : !strcmp(name, "jvp") ? IR_DERIVE_JVP
           : !strcmp(name, "hvp") ? IR_DERIVE_HVP
                                  : 0;
}

/* The arguments of jac(...) and hess(...) are parameters, by which there are derivatives. */
static void check_columns(checker *c, const sym *s, const ast_expr *call)
{
    for (const ast_expr *e = call->args; e; e = e->next) {
        const char *name = e->kind == AST_EXPR_NAME ? e->name : NULL;
        const ast_param *p = s->item->params;
        int k = 0;
        for (; p && (!name || strcmp(p->name, name) != 0); p = p->next)
            k++;
        for (const ast_expr *o = call->args; o != e && p; o = o->next)
            if (o->kind == AST_EXPR_NAME && !strcmp(o->name, name))
                ERR(c, e->span, DIAG_ATTR_TWICE, name);
        if (!p)
            ERR(c, e->span, DIAG_DERIVE_BY, call->a->name, "it is no parameter of the function");
        else if (s->param_extents[k] || (p->type && p->type->kind == AST_TYPE_ARRAY))
            ERR(c, e->span, DIAG_DERIVE_BY, call->a->name, "it is an array of the host");
        else if (s->param_types[k] && s->param_types[k]->kind != TY_ERROR && !ty_has_floats(s->param_types[k]))
            ERR(c, e->span, DIAG_DERIVE_BY, call->a->name, "it holds no float");
    }
}

void derive_check_rows(checker *c, const sym *s, const tx_func *f)
{
    bool floats = false, arrays = false;
    const ty *r = f->result;
    for (int k = 0; r && k < (r->kind == TY_TUPLE ? r->nmembers : 1); k++)
        floats |= ty_has_floats(r->kind == TY_TUPLE ? r->members[k] : r);
    for (const ast_param *p = s->item->params; p; p = p->next)
        arrays |= p->dir == AST_DIR_OUT || p->dir == AST_DIR_INOUT;
    for (const ast_attr *a = s->item->attrs; a; a = a->next)
        for (int k = 0; k < 2; k++) {
            const ast_expr *call = matrix_of(a, k ? "hess" : "jac");
            if (call && arrays)
                ERR(c, call->span, DIAG_DERIVE_BY, call->a->name, "the function writes arrays of the host");
            else if (call && !floats && diag_error_count(c->d) == 0)
                ERR(c, call->span, DIAG_DERIVE_BY, call->a->name, "the function has no result of floats");
        }
}

int derive_bits(checker *c, const sym *s, const ast_attr *a)
{
    int bits = 0;
    if (!a->parens)
        bad_derivative(c, a->span);
    for (const ast_expr *e = a->args; e; e = e->next) {
        const int bit = derive_bit(s, e);
        const char *name = e->kind == AST_EXPR_NAME ? e->name : bit ? e->a->name : "";
        if (!bit)
            bad_derivative(c, e->span);
        else if (bit & (IR_DERIVE_JAC | IR_DERIVE_HESS))
            check_columns(c, s, e);
        if (!bit)
            continue;
        if (bits & bit)
            ERR(c, e->span, DIAG_ATTR_TWICE, name);
        bits |= bit;
    }
    return bits;
}

int derive_turn(const fn *f, const ast_param *p, const char *matrix)
{
    for (const ast_attr *a = f->sym->item->attrs; a; a = a->next) {
        const ast_expr *call = matrix_of(a, matrix);
        int turn = 1;
        for (const ast_expr *e = call ? call->args : NULL; e; e = e->next, turn++)
            if (e->kind == AST_EXPR_NAME && !strcmp(e->name, p->name))
                return turn;
    }
    return 0;
}
