/* Structs. Lowering knows none: here a struct is taken apart into its leaves, the members that are no structs
 * themselves. */
#include <string.h>

#include "check/check.h"

/* ---- declarations ---- */

static const ty *member_type(checker *c, const ast_param *p, const sym *s)
{
    const ty *t = type_resolve(c, p->type);
    if (t->kind == TY_ERROR || ty_is_value(t))
        return t;
    ERR(c, p->type->span, DIAG_NOT_SCALAR_TYPE, arena_printf(c->mem, "a member of struct '%s'", s->name),
        ty_name(c->types, t));
    if (t->kind == TY_ARRAY)
        NOTE(c, p->type->span, "numbers that belong together are a vector: vec(n, T)");
    return ty_error(c->types);
}

ir_shape_kind shape_of(const ty *t)
{
    return t->kind == TY_MAT ? IR_SHAPE_MAT : t->kind == TY_VEC ? IR_SHAPE_VEC : IR_SHAPE_SCALAR;
}

static const ir_struct *make_structure(checker *c, const sym *s, int n, const char *const *names,
                                       const ty *const *types)
{
    ir_struct *r = ARENA_NEW(c->mem, ir_struct);
    *r = (ir_struct){.module = c->ir,
                     .name = s->name,
                     .doc = s->item->doc,
                     .nmembers = n,
                     .loc = s->span.begin,
                     .members = ARENA_ARRAY(c->mem, ir_member, n)};
    for (int k = 0; k < n; k++)
        r->members[k] = (ir_member){names[k],           types[k]->structure, types[k]->elem,
                                    shape_of(types[k]), types[k]->rows,      types[k]->cols};
    vec_push(&c->ir->structs, r);
    return r;
}

static const ty *resolve_members(checker *c, const sym *s)
{
    const ty **types = ARENA_ARRAY(c->mem, const ty *, s->nparams + 1);
    const char **names = ARENA_ARRAY(c->mem, const char *, s->nparams + 1);
    bool bad = s->refused;
    int n = 0;
    long total = 0;
    for (const ast_param *p = s->item->params; p; p = p->next, n++) {
        names[n] = p->name;
        types[n] = member_type(c, p, s);
        names_check_member(c, p);
        bad = bad || types[n]->kind == TY_ERROR;
        total += types[n]->kind == TY_ERROR ? 0 : ty_ncomp(types[n]);
        for (int k = 0; k < n; k++)
            if (names[k] == names[n]) {
                ERR(c, p->span, DIAG_REDEFINED, p->name);
                bad = true;
            }
    }
    if (!bad && (total < 1 || total > MAX_COMPONENTS)) {
        ERR(c, s->span, DIAG_SIZE, arena_printf(c->mem, "the number of components of struct '%s'", s->name),
            (long)MAX_COMPONENTS, (long long)total);
        bad = true;
    }
    return bad ? ty_error(c->types)
               : ty_struct(c->types, make_structure(c, s, n, names, types), s->name, n, names, types);
}

const ty *resolve_struct(checker *c, sym *s, src_span use)
{
    if (s->state == SYM_DONE)
        return s->type;
    if (s->state == SYM_ACTIVE) {
        ERR(c, use, DIAG_STRUCT_CYCLE, s->name);
        NOTE(c, s->span, "'%s' is declared here; what is linked is an index into a field", s->name);
        return ty_error(c->types);
    }
    s->state = SYM_ACTIVE;
    s->type = resolve_members(c, s);
    s->state = SYM_DONE;
    return s->type;
}

/* ---- values ---- */

tx_expr *group_new(checker *c, const ty *t, tx_expr *const *leaves, src_span at)
{
    tx_expr *e = tx_new(c, TX_GROUP, t, at);
    e->nargs = ty_nleaves(t);
    e->args = ARENA_ARRAY(c->mem, tx_expr *, e->nargs);
    memcpy(e->args, leaves, (size_t)e->nargs * sizeof *leaves);
    return e;
}

/* On module level, where nothing can be bound and everything is pure: leaf by leaf. */
static tx_expr *spread_choice(checker *c, const tx_expr *e)
{
    const tx_expr *sides[2] = {e->b, e->c};
    for (int i = 0; i < 2; i++)
        sides[i] = sides[i]->kind == TX_GROUP ? sides[i] : spread_choice(c, sides[i]);
    tx_expr *r = group_new(c, e->type, sides[0]->args, span_at(e->loc));
    for (int k = 0; k < r->nargs; k++) {
        r->args[k] = tx_new(c, TX_COND, sides[0]->args[k]->type, span_at(e->loc));
        r->args[k]->a = e->a;
        r->args[k]->b = sides[0]->args[k];
        r->args[k]->c = sides[1]->args[k];
    }
    return r;
}

/* e as a group whose leaves may be repeated, or left out: what computes them is bound. */
tx_expr *struct_bound(checker *c, tx_expr *e, binding **list)
{
    e = bind_repeated(c, e, list);
    return e->kind == TX_GROUP ? e : spread_choice(c, e);
}

/* n values with their structs taken apart, for places where lowering expects one value after the other: returns how
 * many. They are computed in order. */
int spread_values(checker *c, tx_expr *const *values, int n, tx_expr **out, binding **list)
{
    int count = 0;
    bool in_order = false; /* something of a later value is computed in front: then what is before it must be, too */
    for (int k = 0; k < n; k++)
        in_order = in_order || (values[k]->type->kind == TY_STRUCT && values[k]->kind != TX_GROUP);
    for (int k = 0; k < n; k++) {
        tx_expr *e = in_order && ty_is_value(values[k]->type) ? bind_repeated(c, values[k], list) : values[k];
        if (e->type->kind != TY_STRUCT) {
            out[count++] = e;
            continue;
        }
        memcpy(out + count, e->args, (size_t)e->nargs * sizeof *out);
        count += e->nargs;
    }
    return count;
}

int count_leaves(tx_expr *const *values, int n)
{
    int count = 0;
    for (int k = 0; k < n; k++)
        count += ty_nleaves(values[k]->type);
    return count;
}

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

/* ---- locals ---- */

/* The locals that a local of this type is: itself, or one for each leaf. */
tx_local **local_parts(checker *c, const tx_local *whole)
{
    const ty *t = whole->type, *s = t->kind == TY_ARRAY ? t->of : t;
    const int n = ty_nleaves(t);
    tx_local **parts = ARENA_ARRAY(c->mem, tx_local *, n);
    for (int k = 0; k < n; k++) {
        const char *name = whole->name ? arena_printf(c->mem, "%s_%s", whole->name, s->paths[k]) : NULL;
        for (char *dot = (char *)name; dot && (dot = strchr(dot, '.'));)
            *dot = '_';
        parts[k] = local_new(c, name, ty_leaf(c->types, t, k), whole->loc);
        parts[k]->mutable_ = whole->mutable_;
    }
    return parts;
}

/* Declares the variable behind a symbol; its type tells whether it is one local or several. */
void sym_set_local(checker *c, sym *s, const char *name, const ty *type, bool mutable_, src_loc loc)
{
    const bool is_struct = type->kind == TY_STRUCT || (type->kind == TY_ARRAY && type->of->kind == TY_STRUCT);
    if (!is_struct) {
        s->local = local_new(c, name, type, loc);
        s->local->mutable_ = mutable_;
        return;
    }
    s->local = ARENA_NEW(c->mem, tx_local); /* stands for the whole; no statement has it */
    *s->local = (tx_local){.name = name, .type = type, .loc = loc, .mutable_ = mutable_};
    s->parts = local_parts(c, s->local);
}
