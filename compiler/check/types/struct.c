/* Values that are structs. Lowering has none: a struct is split into its leaves, the members that are no structs
 * themselves. */
#include <string.h>

#include "check/check.h"

/* ---- values ---- */

static val build_group(checker *c, const ty *t, val *v, src_span at)
{
    tx_expr **values = ARENA_ARRAY(c->mem, tx_expr *, t->nmembers),
            **leaves = ARENA_ARRAY(c->mem, tx_expr *, t->nleaves);
    for (int k = 0; k < t->nmembers; k++)
        values[k] = v[k].e;
    binding *list = NULL;
    spread_values(c, values, t->nmembers, leaves, &list);
    return val_typed(wrap_bindings(c, list, group_new(c, t, leaves, at)));
}

/* S(a, b, ...): a value for each member. */
val build_struct(checker *c, sym *s, const ast_expr *args, src_span at)
{
    const ty *t = resolve_struct(c, s, at);
    if (t->kind == TY_ERROR) {
        for (const ast_expr *a = args; a; a = a->next)
            check_expr(c, a);
        return val_error(c, at);
    }
    int n = ast_count(args), k = 0;
    bool bad = n != t->nmembers;
    val *v = ARENA_ARRAY(c->mem, val, t->nmembers);
    if (bad) {
        ERR(c, at, DIAG_ARGUMENT_COUNT, s->name,
            t->nmembers == 1 ? "1 member" : arena_printf(c->mem, "%d members", t->nmembers), n);
        NOTE(c, s->span, "'%s' is declared here", s->name);
    }
    for (const ast_expr *a = args; a; a = a->next, k++) {
        val x = check_expr(c, a);
        if (k >= t->nmembers)
            continue;
        v[k] = convert(c, x, t->members[k], a->span);
        bad = bad || val_bad(v[k]);
    }
    return bad ? val_error(c, at) : build_group(c, t, v, at);
}

/* select(b, s, t): both are evaluated. */
val select_struct(checker *c, const val *v, src_span at)
{
    const ty *t = v[1].e->type;
    if (v[0].e->type != ty_scalar(c->types, SC_BOOL)) {
        ERR(c, at, DIAG_CONDITION, "the first argument of 'select'", name_of(c, v[0]));
        return val_error(c, at);
    }
    if (v[2].e->type != t) {
        ERR(c, at, DIAG_SHAPES, "select", name_of(c, v[1]), name_of(c, v[2]));
        return val_error(c, at);
    }
    binding *list = NULL;
    tx_expr *cond = bind_repeated(c, v[0].e, &list), *a = bind_repeated(c, v[1].e, &list),
            *b = bind_repeated(c, v[2].e, &list);
    tx_expr *r = group_new(c, t, a->args, at);
    for (int k = 0; k < r->nargs; k++)
        r->args[k] = tx_op(c, OP_SELECT, a->args[k]->type, at, 3, (tx_expr *[]){cond, a->args[k], b->args[k]});
    return val_typed(wrap_bindings(c, list, r));
}

/* stop_grad(s): of each float in it. */
val stop_struct(checker *c, val v, src_span at)
{
    binding *list = NULL;
    tx_expr *a = struct_bound(c, v.e, &list), *r = group_new(c, a->type, a->args, at);
    for (int k = 0; k < r->nargs; k++)
        if (scalar_is_float(r->args[k]->type->elem))
            r->args[k] = tx_op(c, OP_STOP, r->args[k]->type, at, 1, &r->args[k]);
    return val_typed(wrap_bindings(c, list, r));
}
