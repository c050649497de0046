/* What a name stands for where a place begins: a field, a value, a parameter, a constant. */
#include <string.h>

#include "check/check.h"

void place_fail(place *p)
{
    p->kind = PLACE_BAD;
}

void place_set_whole(place *p, const ty *type)
{
    p->whole = p->type = type;
    p->all = true;
}

static void resolve_field(checker *c, sym *s, src_span at, place *p)
{
    if (!c->fn || c->constant) {
        ERR(c, at, DIAG_NOT_CONSTANT, c->extents ? "an extent" : "a constant");
        NOTE(c, s->span, "'%s' is a field", s->name);
        place_fail(p);
        return;
    }
    if (s->refused || !s->type || s->type->kind == TY_ERROR) {
        place_fail(p);
        return;
    }
    p->kind = PLACE_FIELD;
    p->field = s->field;
    p->plane = IR_DATA;
    p->missing = sym_ndim(s);
    place_set_whole(p, s->type);
}

void place_of_value(place *p, val v)
{
    p->kind = val_bad(v) ? PLACE_BAD : PLACE_VALUE;
    p->missing = 0;
    p->value = v;
    place_set_whole(p, v.e->type);
}

static void resolve_param(checker *c, sym *s, src_span at, place *p)
{
    if (s->refused || !s->mparam) {
        place_fail(p);
        return;
    }
    if (c->constant) {
        ERR(c, at, DIAG_NOT_CONSTANT, c->extents ? "an extent" : "a constant");
        NOTE(c, s->span, "'%s' is a param: its value is known when the module is created", s->name);
        place_fail(p);
        return;
    }
    note_impure(c, "the param", s->name, at);
    tx_expr *e = tx_new(c, TX_MPARAM, ty_scalar(c->types, s->mparam->type), at);
    e->mparam = s->mparam;
    val v = val_typed(e);
    if (c->extents && scalar_is_int(s->mparam->type) && s->mparam->type != SC_U64)
        v = cast_to(c, v, SC_I64, at);
    place_of_value(p, v);
}

static void resolve_constant(checker *c, sym *s, src_span at, place *p)
{
    if (s->kind == SYM_CONST)
        resolve_const(c, s, at);
    if (!s->value.e || val_bad(s->value)) {
        place_fail(p);
        return;
    }
    val v = s->value;
    v.e = const_clone(c, v.e, report_span(c, at).begin);
    if (c->extents && v.soft == SOFT_NO && scalar_is_int(v.e->type->elem) && v.e->type->elem != SC_U64)
        v = cast_to(c, v, SC_I64, at);
    place_of_value(p, v);
}

void place_of_name(checker *c, const ast_expr *e, place *p)
{
    sym *s = names_use(c, e->name, e->span);
    p->sym = s;
    if (!s) {
        if (is_builtin(c, e->name))
            ERR(c, e->span, DIAG_NOT_A_NAME_OF_VALUE, e->name, "a built-in function");
        else
            names_unknown(c, e->name, e->span, false);
        place_fail(p);
        return;
    }
    switch (s->kind) {
    case SYM_LOCAL:
        p->kind = s->local->type->kind == TY_ERROR ? PLACE_BAD : PLACE_LOCAL;
        p->local = s->local;
        place_set_whole(p, s->local->type);
        if (s->local->type->kind == TY_ARRAY) {
            p->missing = s->local->type->ndim;
            place_set_whole(p, s->local->type->of);
        }
        return;
    case SYM_FIELD:
        resolve_field(c, s, e->span, p);
        return;
    case SYM_PARAM:
        resolve_param(c, s, e->span, p);
        return;
    case SYM_CONST:
    case SYM_STATIC:
        resolve_constant(c, s, e->span, p);
        return;
    case SYM_FUNC:
    case SYM_KERNEL:
    case SYM_STRUCT:
    case SYM_IMPORT:
        ERR(c, e->span, DIAG_NOT_A_NAME_OF_VALUE, e->name, sym_describe(s));
        if (s->kind == SYM_FUNC)
            NOTE(c, e->span, "call it: %s(...)", e->name);
        break;
    case SYM_BAD:
        break;
    }
    place_fail(p);
}
