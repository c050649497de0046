/* The typed tree: its nodes, the values that they are, and where faults are reported. */
#include <string.h>

#include "check/base/checker.h"

tx_flow tx_flow_of(const tx_stmt *s)
{
    static const tx_flow flows[] = {
#define TX(id, flow) [TX_##id] = TX_##flow,
#include "check/base/stmts.def"
#undef TX
    };
    return flows[s->kind];
}

src_span report_span(const checker *c, src_span s)
{
    return c->fn && c->fn->sym->prelude ? c->fn->site : s;
}

tx_expr *tx_new(checker *c, tx_expr_kind kind, const ty *type, src_span at)
{
    tx_expr *e = ARENA_NEW(c->mem, tx_expr);
    e->kind = kind;
    e->type = type;
    e->loc = report_span(c, at).begin;
    return e;
}

val val_error(checker *c, src_span at)
{
    return (val){.e = tx_new(c, TX_CONST, ty_error(c->types), at)};
}

val val_typed(tx_expr *e)
{
    return (val){.e = e};
}

val val_const_i(checker *c, scalar s, int64_t i, src_span at)
{
    tx_expr *e = tx_new(c, TX_CONST, ty_scalar(c->types, s), at);
    e->cval.i = i;
    return val_typed(e);
}

tx_expr *tx_op(checker *c, ir_opcode op, const ty *type, src_span at, int n, tx_expr *const *args)
{
    tx_expr *e = tx_new(c, TX_OP, type, at);
    e->opcode = op;
    e->nargs = n;
    e->args = ARENA_ARRAY(c->mem, tx_expr *, n);
    memcpy(e->args, args, (size_t)n * sizeof *args);
    return e;
}

const char *name_of(checker *c, val v)
{
    if (v.soft == SOFT_NO || v.e->type->kind != TY_SCALAR)
        return v.soft == SOFT_NO    ? ty_name(c->types, v.e->type)
               : v.soft == SOFT_INT ? "a list of integer literals"
                                    : "a list of float literals";
    return v.e->kind == TX_RANDOM ? "a random float" : v.soft == SOFT_INT ? "an integer literal" : "a float literal";
}

bool too_deep(checker *c, src_span at)
{
    if (c->depth < MAX_DEPTH)
        return false;
    ERR(c, at, DIAG_TOO_DEEP);
    return true;
}

/* ---- lists, fields and arrays ---- */

int ast_count(const ast_expr *list)
{
    int n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

int sym_ndim(const sym *s)
{
    return s->field->ndim - s->nlead;
}

bool takes_arrays(const sym *s)
{
    bool takes = false;
    for (const ast_param *p = s->item->params; p; p = p->next)
        takes = takes || (p->dir != AST_DIR_NONE && p->type && p->type->kind == AST_TYPE_ARRAY);
    return takes;
}
