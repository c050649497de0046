/* Atomics: atomic_add(x[i], v). */
#include "check/check.h"

/* The element: one number of a field's data. */
static bool atomic_place(checker *c, const atomic_builtin *a, const ast_expr *e, place *p)
{
    place_resolve(c, e, p);
    if (p->kind == PLACE_BAD || !place_complete(c, p, e->span))
        return false;
    const char *name = a->name;
    if (p->kind != PLACE_FIELD || p->plane != IR_DATA) {
        ERR(c, e->span, DIAG_ATOMIC_TARGET, name);
        return false;
    }
    if (p->field->array && !p->field->out)
        return ERR(c, e->span, DIAG_NOT_MUTABLE, p->field->name, p->sym->what);
    if (!may_write(c, p->field, e->span))
        return false;
    if (p->type->kind != TY_SCALAR || p->type->elem == SC_BOOL || (a->integer && !scalar_is_int(p->type->elem))) {
        ERR(c, e->span, DIAG_ARGUMENT, name, ty_name(c->types, p->type));
        if (p->type->kind == TY_VEC || p->type->kind == TY_MAT)
            NOTE(c, e->span, "name one component: the others are atomics of their own");
        return false;
    }
    return true;
}

/* What e adds, or else does, to which place; false after an error. */
bool atomic_operands(checker *c, const atomic_builtin *a, const ast_expr *e, place *p, val *v)
{
    const int n = ast_count(e->args);
    if (n != 2)
        return val_bad(wrong_count(c, a->name, "2 arguments", n, e->span)) && false;
    if (c->constant || !c->fn)
        return val_bad(called_too_early(c, e->span)) && false;
    const bool ok = atomic_place(c, a, e->args, p);
    *v = check_expr(c, e->args->next);
    if (!ok || val_bad(*v))
        return false;
    *v = convert(c, *v, p->type, e->args->next->span);
    if (val_bad(*v))
        return false;
    if (a->negated)
        v->e = tx_op(c, OP_NEG, p->type, e->span, 1, (tx_expr *[]){v->e});
    return true;
}

tx_expr *atomic_value(checker *c, const atomic_builtin *a, const place *p, tx_expr *v, src_span at)
{
    note_impure(c, p->field->array ? "an atomic on" : "the field", p->field->name, at);
    tx_expr *t = tx_new(c, TX_ATOMIC, p->type, at);
    t->opcode = a->with;
    t->field = p->field;
    t->args = p->subs;
    t->nargs = p->nsubs;
    t->a = p->dyn;
    t->comps = p->all ? NULL : p->comps;
    t->ncomps = p->all ? 0 : p->ncomps;
    t->b = v;
    c->fn->tx->atomics = true;
    return t;
}

val call_atomic(checker *c, const atomic_builtin *a, const ast_expr *e)
{
    place p;
    val v;
    if (!atomic_operands(c, a, e, &p, &v))
        return val_error(c, e->span);
    return val_typed(wrap_bindings(c, p.bindings, atomic_value(c, a, &p, v.e, e->span)));
}
