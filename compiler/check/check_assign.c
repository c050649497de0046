/* Assignment and accumulation. */
#include <string.h>

#include "check/check.h"

/* ---- what may be assigned ---- */

static bool is_assignable(checker *c, place *p, const ast_expr *target)
{
    if (p->kind == PLACE_BAD || !place_complete(c, p, target->span))
        return false;
    if (p->kind == PLACE_VALUE) {
        const sym *s = p->sym;
        if (s)
            ERR(c, target->span, DIAG_NOT_MUTABLE, s->name, sym_describe(s));
        else
            ERR(c, target->span, DIAG_NOT_A_PLACE);
        if (s && s->kind == SYM_PARAM)
            NOTE(c, target->span, "params are set by the host; a 0-D field is a variable of the module");
        return false;
    }
    if (p->kind == PLACE_FIELD && p->field->array && !array_has_plane(c, p, target->span))
        return false;
    if (p->kind == PLACE_FIELD && p->field->array && !p->field->out)
        return ERR(c, target->span, DIAG_NOT_MUTABLE, p->type->kind == TY_STRUCT ? p->sym->name : p->field->name,
                   p->sym->what);
    if (p->kind == PLACE_FIELD && !may_write(c, p->field, target->span))
        return false;
    if (p->kind == PLACE_LOCAL && !p->local->mutable_) {
        ERR(c, target->span, DIAG_NOT_MUTABLE, p->sym->name, p->sym->what);
        if (p->sym->what && !strcmp(p->sym->what, "a 'let'"))
            NOTE(c, p->sym->span, "declare it with 'var'");
        else
            NOTE(c, target->span, "copy it: 'var %s_ = %s;'", p->sym->name, p->sym->name);
        return false;
    }
    for (int k = 0; !p->all && k < p->ncomps; k++)
        for (int i = 0; i < k; i++)
            if (p->comps[i] == p->comps[k])
                return ERR(c, target->span, DIAG_SWIZZLE_TWICE);
    return true;
}

/* ---- the statement ---- */

static void check_compound(checker *c, const ast_stmt *s, place *p)
{
    const bool added = p->kind == PLACE_FIELD && is_sum(s);
    if (!added)
        place_bind_subscripts(c, p);
    val v = check_expr(c, s->value);
    if (val_bad(v))
        return;
    if (added && accumulates(c, p, v)) {
        tx_expr *value = added_value(c, s, p, v);
        if (value)
            store_place(c, p, TX_ACCUM, value, IR_RED_ADD, s->span);
        return;
    }
    if (added)
        place_bind_subscripts(c, p);
    val old = place_value(c, p, false);
    if (val_bad(old))
        return;
    v = apply_operator(c, s->assign_op, old, v, s->span, s->span);
    v = convert_stored(c, v, p, s->value->span);
    if (!val_bad(v))
        store_place(c, p, p->kind == PLACE_FIELD ? TX_STORE : TX_ASSIGN, v.e, IR_RED_ADD, s->span);
}

/* Finds the place that the statement assigns; false after an error. */
static bool find_target(checker *c, const ast_stmt *s, const ast_expr *target, place *p)
{
    const bool undeclared = is_undeclared(c, target);
    place_resolve(c, target, p);
    if (undeclared)
        hint_undeclared(c, s);
    if (!is_assignable(c, p, target))
        return false;
    if (p->kind == PLACE_LOCAL && p->sym->ref_param)
        c->fn->inst->writes[p->sym->ref_param - 1] = true;
    return true;
}

void check_assign(checker *c, const ast_stmt *s)
{
    place p;
    if (!find_target(c, s, s->target, &p)) {
        check_expr(c, s->value);
        return;
    }
    if (p.kind == PLACE_LOCAL && c->fn->task && p.sym->task != c->fn->task) {
        check_reduction(c, s, &p);
        return;
    }
    if (s->has_op) {
        check_compound(c, s, &p);
        return;
    }
    val v = convert_stored(c, check_expr(c, s->value), &p, s->value->span);
    if (!val_bad(v))
        store_place(c, &p, p.kind == PLACE_FIELD ? TX_STORE : TX_ASSIGN, v.e, IR_RED_ADD, s->span);
}

/* ---- several at once ---- */

/* The values of a tuple that a call gives, in locals of their own. */
static void bind_results(checker *c, tx_expr *call, val *parts, src_span at)
{
    const ty *t = call->type;
    tx_stmt *d = emit_stmt(c, TX_DECL, at);
    int room = 0;
    for (int k = 0; k < t->nmembers; k++)
        room += ty_nleaves(t->members[k]);
    d->value = call;
    d->locals = ARENA_ARRAY(c->mem, tx_local *, room + 1);
    for (int k = 0; k < t->nmembers; k++) {
        const int n = ty_nleaves(t->members[k]);
        tx_local **locals = local_parts(c, &(tx_local){.type = t->members[k], .loc = call->loc});
        tx_expr **leaves = ARENA_ARRAY(c->mem, tx_expr *, n);
        for (int i = 0; i < n; i++) {
            leaves[i] = tx_new(c, TX_LOCAL, locals[i]->type, at);
            leaves[i]->local = d->locals[d->nlocals++] = locals[i];
        }
        parts[k] = val_typed(t->members[k]->kind == TY_STRUCT ? group_new(c, t->members[k], leaves, at) : leaves[0]);
    }
}

bool take_apart(checker *c, val v, int n, val *parts, const char *names, src_span at)
{
    const ty *t = v.e->type;
    if (val_bad(v))
        return false;
    const int count = t->kind == TY_TUPLE ? t->nmembers : t->kind == TY_VEC || t->kind == TY_MAT ? t->rows : 1;
    if (count != n || t->kind == TY_VOID) {
        ERR(c, at, DIAG_PARTS, n, names, count, count == 1 ? "" : "s", t->kind == TY_VOID ? "nothing" : name_of(c, v));
        return false;
    }
    if (t->kind == TY_TUPLE) {
        bind_results(c, emit_lets(c, v.e, at), parts, at);
        return true;
    }
    binding *list = NULL;
    tx_expr *e = bind_value(c, v.e, &list);
    emit_bindings(c, list, at);
    for (int k = 0; k < n; k++)
        parts[k] = val_typed(t->kind == TY_MAT ? row_of(c, e, k) : component_of(c, e, k));
    return true;
}

/* Not a local of the kernel, assigned by the iterations of a task. */
static bool is_here(checker *c, const ast_expr *target, const place *p)
{
    if (p->kind != PLACE_LOCAL || !c->fn->task || p->sym->task == c->fn->task)
        return true;
    ERR(c, target->span, DIAG_TASK_WRITE, p->sym->name);
    NOTE(c, p->sym->span, "'%s' belongs to the kernel; its iterations run in parallel", p->sym->name);
    NOTE(c, target->span, "declare a local inside of the loop, or write 'serial for'");
    return false;
}

static bool is_fit(checker *c, const ast_expr *all, const ast_expr *target, const place *p)
{
    for (const ast_expr *e = all; e != target; e = e->next)
        if (same_expr(e, target))
            return ERR(c, target->span, DIAG_ASSIGNED_TWICE);
    return is_here(c, target, p);
}

/* A list in brackets gives its elements, whose literals are still open. */
static const ast_expr *listed_values(const ast_stmt *s)
{
    const ast_expr *e = s->values;
    return !e->next && e->kind == AST_EXPR_LIST ? e->args : e;
}

/* Values of the statement, one for each target, not yet converted. */
static bool values_of(checker *c, const ast_stmt *s, int n, val *values)
{
    const ast_expr *list = listed_values(s);
    const int count = ast_count(list);
    int k = 0;
    if (count == 1)
        return take_apart(c, settle(c, check_expr(c, s->values)), n, values, "place", s->span);
    for (const ast_expr *e = list; e; e = e->next, k++) {
        const val v = check_expr(c, e);
        if (k < n)
            values[k] = v;
    }
    return count == n || ERR(c, s->span, DIAG_PARTS, n, "place", count, "s", "this list");
}

/* As they are now, whatever an assignment changes. */
static void fix_subscripts(checker *c, place *p, src_span at)
{
    for (int k = 0; k < p->nsubs; k++)
        if (p->subs[k]->kind != TX_CONST)
            p->subs[k] = bind_value(c, p->subs[k], &p->bindings);
    if (p->dyn)
        p->dyn = bind_value(c, p->dyn, &p->bindings);
    emit_bindings(c, p->bindings, at);
    p->bindings = NULL;
}

/* Which elements are meant is found first, then all values, and only then anything is changed: x[i], x[j] = x[j], x[i].
 */
void check_assign_several(checker *c, const ast_stmt *s)
{
    const int n = ast_count(s->targets);
    place *p = ARENA_ARRAY(c->mem, place, n);
    val *values = ARENA_ARRAY(c->mem, val, n);
    bool ok = true;
    int k = 0;
    for (const ast_expr *e = s->targets; e; e = e->next, k++) {
        const bool found = find_target(c, s, e, &p[k]) && is_fit(c, s->targets, e, &p[k]);
        ok = ok && found;
        if (!found)
            continue;
        fix_subscripts(c, &p[k], s->span);
    }
    ok = values_of(c, s, n, values) && ok;
    const ast_expr *written = listed_values(s);
    for (k = 0; ok && k < n; k++) {
        binding *list = NULL;
        const val v = convert_stored(c, values[k], &p[k], written->span);
        ok = !val_bad(v);
        if (ok)
            values[k].e = bind_value(c, v.e, &list);
        emit_bindings(c, list, s->span);
        written = written->next ? written->next : written;
    }
    for (k = 0; ok && k < n; k++)
        store_place(c, &p[k], p[k].kind == PLACE_FIELD ? TX_STORE : TX_ASSIGN, values[k].e, IR_RED_ADD, s->span);
}

/* ---- all elements ---- */

/* x.fill(e): e is evaluated once. A loop of its own, parallel where loops are. */
bool check_fill(checker *c, const ast_expr *call)
{
    if (call->kind != AST_EXPR_CALL || call->a->kind != AST_EXPR_MEMBER || strcmp(call->a->name, "fill") != 0)
        return false;
    const ast_expr *object = call->a->a;
    place p;
    binding *list = NULL;
    if (!place_slab(c, object, &p))
        place_resolve(c, object, &p);
    if (p.kind == PLACE_BAD)
        return true;
    if (p.kind == PLACE_FIELD && p.nsubs == 0 && p.sym->nlead > 0) {
        p.subs = p.sym->lead;
        p.nsubs = p.sym->nlead;
    }
    if (ast_count(call->args) != 1) {
        ERR(c, call->span, DIAG_ARGUMENT_COUNT, "fill", "1 argument", ast_count(call->args));
        return true;
    }
    const int given = p.nsubs;
    const bool whole = (p.kind == PLACE_FIELD && (p.missing > 0 || p.field->ndim == 0)) ||
                       (p.kind == PLACE_LOCAL && p.missing > 0);
    if (!whole) {
        ERR(c, object->span, DIAG_ARGUMENT, "fill", "what is no whole field or array");
        return true;
    }
    const int missing = p.missing;
    p.missing = 0;
    const bool fit = is_assignable(c, &p, object) && is_here(c, object, &p);
    p.missing = missing;
    val v = convert_added(c, check_expr(c, call->args), &p, call->args->span);
    if (!fit || val_bad(v))
        return true;
    if (p.kind == PLACE_LOCAL && p.sym->ref_param)
        c->fn->inst->writes[p.sym->ref_param - 1] = true;
    v.e = bind_repeated(c, v.e, &list);
    place_bind_subscripts(c, &p);
    emit_bindings(c, p.bindings, call->span);
    p.bindings = NULL;
    emit_bindings(c, list, call->span);
    fill_elements(c, &p, given, v.e, call->span);
    return true;
}

/* ---- atomics ---- */

/* An addition is `+=`. */
bool check_atomic_statement(checker *c, const ast_expr *e)
{
    const atomic_builtin *a = e->kind == AST_EXPR_CALL && e->a->kind == AST_EXPR_NAME ? atomic_find(e->a->name) : NULL;
    if (!a || names_lookup(c, e->a->name, e->a->span))
        return false;
    place p;
    val v;
    if (!atomic_operands(c, a, e, &p, &v))
        return true;
    if (a->with == OP_ADD) {
        store_place(c, &p, TX_ACCUM, v.e, IR_RED_ADD, e->span);
        return true;
    }
    tx_expr *t = atomic_value(c, a, &p, v.e, e->span);
    t->discarded = true;
    t = wrap_bindings(c, p.bindings, t);
    emit_stmt(c, TX_EXPR, e->span)->value = t;
    return true;
}
