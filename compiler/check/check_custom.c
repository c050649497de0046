/* grad_for(f), jvp_for(f): derivatives that the program brings along. Signatures, and who may have them.
 *
 * A gradient takes the arguments, of a function then a seed for each real result; it returns the gradients of the real
 * parameters (a kernel returns nothing: it works on .grad). A JVP takes the arguments, then a tangent for each real
 * one; it returns the results, then the tangents of the real ones. */
#include <string.h>

#include "check/check.h"

typedef struct type_list {
    const ty **at;
    int n;
} type_list;

static type_list list_new(checker *c, int max)
{
    return (type_list){ARENA_ARRAY(c->mem, const ty *, max + 1), 0};
}

static void list_types(type_list *l, const ty *const *types, int n, bool real_only)
{
    for (int k = 0; k < n; k++)
        if (!real_only || scalar_is_float(types[k]->elem))
            l->at[l->n++] = types[k];
}

static const char *list_text(checker *c, const type_list *l)
{
    const char *text = "";
    for (int k = 0; k < l->n; k++)
        text = arena_printf(c->mem, "%s%s%s", text, k ? ", " : "", ty_name(c->types, l->at[k]));
    return text;
}

static bool same_types(const type_list *l, const ty *const *types, int n)
{
    bool same = l->n == n;
    for (int k = 0; k < l->n && same; k++)
        same = l->at[k] == types[k];
    return same;
}

static int result_list(const ty *const *t, const ty *const **out)
{
    const ty *r = *t;
    *out = r->kind == TY_TUPLE ? r->members : t;
    return r->kind == TY_VOID ? 0 : r->kind == TY_TUPLE ? r->nmembers : 1;
}

/* ---- the target ---- */

static bool is_custom(const ast_attr *a)
{
    return !strcmp(a->name, "grad_for") || !strcmp(a->name, "jvp_for");
}

static const ast_attr *custom_attr(const sym *s)
{
    for (const ast_attr *a = s->item->attrs; a; a = a->next)
        if (is_custom(a))
            return a;
    return NULL;
}

static const char *kind_word(const sym *s)
{
    return s->kind == SYM_KERNEL ? "kernel" : "function";
}

static sym *target_of(checker *c, const sym *s, const ast_attr *a)
{
    if (!a->args || a->args->next || a->args->kind != AST_EXPR_NAME) {
        ERR(c, a->span, DIAG_CUSTOM_TARGET, a->name, kind_word(s));
        return NULL;
    }
    const char *name = a->args->name;
    sym *t = names_item(c, name, a->args->span);
    if (!t && (names_entry(c, name)->prelude || op_find_user(name) != OP_COUNT)) {
        ERR(c, a->args->span, DIAG_CUSTOM_TARGET, a->name, kind_word(s));
        NOTE(c, a->args->span,
             "'%s' is a built-in function: give the derivative to a function of your own that calls it", name);
        return NULL;
    }
    if (!t) {
        names_unknown(c, name, a->args->span, true);
        return NULL;
    }
    if (t->kind != s->kind || t->prelude) {
        ERR(c, a->args->span, DIAG_CUSTOM_TARGET, a->name, kind_word(s));
        NOTE(c, t->span, "'%s' is %s", name, sym_describe(t));
        return NULL;
    }
    log_use(c, t, a->args->span);
    const ast_attr *own = custom_attr(t);
    if (own) {
        ERR(c, a->args->span, DIAG_CUSTOM_CHAIN, name);
        NOTE(c, own->span, "here it is said to be one");
        return NULL;
    }
    return t;
}

/* ---- what fits ---- */

static bool generic(checker *c, const sym *s, const ast_attr *a, const sym *who)
{
    if (!who->generic)
        return false;
    ERR(c, a->span, DIAG_CUSTOM_CONFLICT, s->name, a->name,
        arena_printf(c->mem, "a parameter of '%s' has no type", who->name));
    NOTE(c, who->span, "a custom derivative is for one set of types: write them");
    return true;
}

static bool has_struct(const sym *s)
{
    bool has = s->instances->result && ty_has_struct(s->instances->result);
    for (int k = 0; k < s->nparams; k++)
        has = has || s->param_types[k]->kind == TY_STRUCT;
    return has;
}

static bool has_array(const sym *s)
{
    bool has = false;
    for (int k = 0; k < s->nparams; k++)
        has = has || s->param_types[k]->kind == TY_ARRAY;
    return has;
}

static bool conflicts(checker *c, const sym *s, const ast_attr *a, const sym *t, bool grad)
{
    const tx_func *own = s->instances->tx, *f = t->instances->tx;
    const char *why = NULL;
    bool with_grad = false, with_array = false;
    for (int k = 0; k < f->nparams; k++) {
        with_grad = with_grad || f->params[k]->needs_grad;
        with_array = with_array || f->params[k]->array;
    }
    for (int k = 0; k < own->nparams; k++)
        with_array = with_array || own->params[k]->array;
    if (own->exported || f->exported)
        why = arena_printf(c->mem, "'%s' is an export func: give the derivative to a function that it calls",
                           own->exported ? s->name : t->name);
    else if (own->no_grad || (own->derive_explicit && own->nrequests))
        why = arena_printf(c->mem, "'%s' has no derivatives of its own", s->name);
    else if (f->no_grad)
        why = arena_printf(c->mem, "'%s' is marked no_grad", t->name);
    else if (t->kind == SYM_KERNEL && !(tx_derives(f) & (grad ? IR_DERIVE_GRAD : IR_DERIVE_JVP)))
        why = arena_printf(c->mem, "its derive(...) does not list %s", grad ? "grad" : "jvp");
    else if (tx_derives(f) & IR_DERIVE_HVP)
        why = arena_printf(c->mem, "'%s' asks for hvp, which is made from its own text", t->name);
    else if (own->nsites > 0 || f->nsites > 0)
        why = arena_printf(c->mem, "'%s' draws random numbers", own->nsites > 0 ? s->name : t->name);
    else if (t->kind == SYM_FUNC && (own->atomics || f->atomics))
        why = arena_printf(c->mem, "'%s' uses the old value of an atomic", own->atomics ? s->name : t->name);
    else if (grad && with_grad)
        why = arena_printf(c->mem,
                           "'%s' has needs_grad parameters, whose gradients a kernel cannot return: make them fields",
                           t->name);
    else if (t->kind == SYM_KERNEL && (s->result || t->result))
        why = arena_printf(c->mem, "'%s' has a result: make it a field", t->result ? t->name : s->name);
    else if (with_array)
        why = "an array of the host is among its parameters: make it a field, bound to the host's memory";
    else if (has_array(s) || has_array(t))
        why = arena_printf(c->mem, "'%s' takes an array", has_array(t) ? t->name : s->name);
    else if (has_struct(s) || has_struct(t))
        why = arena_printf(c->mem, "'%s' takes or gives a struct: pass its members", has_struct(t) ? t->name : s->name);
    if (!why)
        return false;
    ERR(c, a->span, DIAG_CUSTOM_CONFLICT, s->name, a->name, why);
    NOTE(c, t->span, "'%s' is declared here", t->name);
    return true;
}

/* Small aggregates only: others have no call, they are expanded where they are used. */
static bool too_large(checker *c, const sym *s, const ast_attr *a, const type_list *l)
{
    for (int k = 0; k < l->n; k++)
        if (ty_ncomp(l->at[k]) > 16) {
            ERR(c, a->span, DIAG_CUSTOM_CONFLICT, s->name, a->name,
                arena_printf(c->mem, "%s has more than 16 components", ty_name(c->types, l->at[k])));
            return true;
        }
    return false;
}

static bool fits(checker *c, const sym *s, const ast_attr *a, const sym *t, bool grad)
{
    const ty *const *results, *const *own;
    const int n = t->nparams, nresults = result_list(&t->instances->tx->result, &results),
              nown = result_list(&s->instances->tx->result, &own);
    type_list params = list_new(c, 2 * n + nresults), want = list_new(c, n + 2 * nresults);
    list_types(&params, t->param_types, n, false);
    if (!grad)
        list_types(&params, t->param_types, n, true);
    else
        list_types(&params, results, nresults, true);
    if (t->kind == SYM_FUNC && grad)
        list_types(&want, t->param_types, n, true);
    if (!grad) {
        list_types(&want, results, nresults, false);
        list_types(&want, results, nresults, true);
    }
    if (!same_types(&params, s->param_types, s->nparams)) {
        ERR(c, s->span, DIAG_CUSTOM_SIGNATURE, s->name, grad ? "gradient" : "JVP", t->name, "parameters",
            list_text(c, &params));
        NOTE(c, t->span, "the parameters of '%s'%s", t->name,
             !grad                 ? ", then a tangent of each real one"
             : t->kind == SYM_FUNC ? ", then the gradient of each real result"
                                   : "");
        return false;
    }
    if (!same_types(&want, own, nown)) {
        ERR(c, s->span, DIAG_CUSTOM_SIGNATURE, s->name, grad ? "gradient" : "JVP", t->name, "results",
            list_text(c, &want));
        NOTE(c, t->span,
             grad ? "the gradient of each real parameter of '%s'"
                  : "the results of '%s', then a tangent of each real one",
             t->name);
        return false;
    }
    type_list all = list_new(c, nresults);
    list_types(&all, results, nresults, false);
    return t->kind == SYM_KERNEL ||
           (!too_large(c, s, a, &params) && !too_large(c, s, a, &want) && !too_large(c, s, a, &all));
}

static void check_one(checker *c, sym *s, const ast_attr *a)
{
    const bool grad = !strcmp(a->name, "grad_for");
    sym *t = target_of(c, s, a);
    if (!t || s->refused || t->refused || generic(c, s, a, s) || generic(c, s, a, t))
        return;
    if (!s->instances || !t->instances || !s->instances->ready || !t->instances->ready)
        return; /* has errors of its own */
    if (conflicts(c, s, a, t, grad) || !fits(c, s, a, t, grad))
        return;
    tx_func **slot = grad ? &t->instances->tx->custom_grad : &t->instances->tx->custom_jvp;
    if (*slot) {
        const sym *first = names_entry(c, (*slot)->name)->item; /* none: grad(...) of an extern func */
        ERR(c, a->span, DIAG_CUSTOM_TWICE, t->name, grad ? "gradients" : "JVPs", first ? first->name : "grad(...)",
            s->name);
        return;
    }
    *slot = s->instances->tx;
    call_edge *edge = ARENA_NEW(c->mem, call_edge);
    *edge = (call_edge){.to = s->instances, .next = t->instances->callees};
    t->instances->callees = edge;
}

/* ---- gradients inside functions and kernels ---- */

static const char *no_gradient(checker *c, const sym *s, const instance *i)
{
    const ty *r = i->result;
    if (r->kind == TY_VOID)
        return "it has no result";
    if (r->kind == TY_TUPLE)
        return "it has several results: write a function that returns one of them, or their sum";
    if (r->kind != TY_SCALAR)
        return arena_printf(c->mem, "its result is %s: write a function that returns one component, or a sum of them",
                            ty_name(c->types, r));
    if (!scalar_is_float(r->elem))
        return arena_printf(c->mem, "its result is %s: only floats have derivatives", ty_name(c->types, r));
    return no_derivative(c, s, i);
}

const char *no_derivative(checker *c, const sym *s, const instance *i)
{
    bool real = false;
    for (int k = 0; k < s->nparams; k++) {
        if (i->refs[k] || i->args[k]->kind == TY_ARRAY)
            return "it takes an array: a gradient is by numbers, vectors, matrices and structs; read a field in the "
                   "function by its own name";
        for (int n = 0; n < ty_nleaves(i->args[k]); n++)
            if (ty_ncomp(ty_leaf(c->types, i->args[k], n)) > 16)
                return arena_printf(c->mem, "%s has more than 16 components", ty_name(c->types, i->args[k]));
        real |= ty_has_floats(i->args[k]);
    }
    if (!real)
        return s->nparams ? "none of its arguments has floats" : "it has no parameters";
    if (i->tx->nsites > 0)
        return "it draws random numbers: draw them first, and pass them";
    return i->tx->atomics ? "it uses the old value of an atomic" : NULL;
}

static bool lacks(checker *c, const sym *s, const instance *i, src_span at)
{
    const char *why = no_gradient(c, s, i);
    if (!why)
        return false;
    ERR(c, at, DIAG_FUNC_GRADIENT, s->name, why);
    NOTE(c, s->span, "'%s' is declared here", s->name);
    return true;
}

/* Tangents become arguments, of the floats of structs alone. What must be computed in front of the call is computed
 * behind the arguments that come before it. */
static tx_expr *add_tangents(checker *c, tx_expr *e, tx_expr *const *given, int n)
{
    if (e->kind == TX_LET) { /* around arguments that are structs */
        e->b = add_tangents(c, e->b, given, n);
        return e;
    }
    const int nargs = e->nargs;
    tx_expr **values = ARENA_ARRAY(c->mem, tx_expr *, nargs + n + 1),
            **leaves = ARENA_ARRAY(c->mem, tx_expr *, nargs + count_leaves(given, n) + 1);
    for (int k = 0; k < nargs; k++)
        values[k] = e->args[k];
    for (int k = 0; k < n; k++)
        values[nargs + k] = given[k];
    binding *list = NULL;
    const int nleaves = spread_values(c, values, nargs + n, leaves, &list);
    for (int k = nargs; k < nleaves; k++)
        if (scalar_is_float(leaves[k]->type->elem))
            leaves[e->nargs++] = leaves[k];
    e->args = leaves;
    e->along = true;
    return wrap_bindings(c, list, e);
}

val jvp_of_call(checker *c, const sym *s, val v, const val *tangents, int n, const src_span *spans, src_span at)
{
    const instance *i = c->fn->inst->callees->to;
    if (lacks(c, s, i, at))
        return val_error(c, at);
    tx_expr **given = ARENA_ARRAY(c->mem, tx_expr *, n + 1);
    int want = 0;
    for (int k = 0; k < s->nparams; k++) {
        if (!ty_has_floats(i->args[k]))
            continue;
        if (want < n) {
            const val t = convert(c, tangents[want], i->args[k], spans[want]);
            if (val_bad(t))
                return t;
            given[want] = t.e;
        }
        want++;
    }
    if (n != want) {
        ERR(c, at, DIAG_ARGUMENT_COUNT, arena_printf(c->mem, "%s.jvp", s->name),
            arena_printf(c->mem, "%d argument%s and %d tangent%s", s->nparams, s->nparams == 1 ? "" : "s", want,
                         want == 1 ? "" : "s"),
            s->nparams + n);
        NOTE(c, s->span, "the parameters of '%s', then a tangent of each real one", s->name);
        return val_error(c, at);
    }
    return val_typed(add_tangents(c, v.e, given, n));
}

val gradient_of_call(checker *c, const sym *s, val v, src_span at)
{
    const instance *i = c->fn->inst->callees->to;
    if (lacks(c, s, i, at))
        return val_error(c, at);
    const ty **types = ARENA_ARRAY(c->mem, const ty *, s->nparams);
    int n = 0;
    for (int k = 0; k < s->nparams; k++)
        if (ty_has_floats(i->args[k]))
            types[n++] = i->args[k];
    const ty *type = n == 1 ? types[0] : ty_tuple(c->types, n, types);
    tx_expr *e = v.e;
    for (; e->kind == TX_LET; e = e->b) /* around arguments that are structs */
        e->type = type;
    e->type = type;
    e->gradient = true;
    return val_typed(v.e);
}

/* ---- kernels that call kernels: the called one is expanded and differentiated as a part of the caller ---- */

/* Which derivatives are made of the text of a kernel. */
static int made_of_text(const tx_func *k, bool is_custom_one)
{
    if (k->no_grad || is_custom_one)
        return 0;
    return tx_derives(k) & ~((k->custom_grad ? IR_DERIVE_GRAD : 0) | (k->custom_jvp ? IR_DERIVE_JVP : 0));
}

static bool launches_adjoint(const instance *i)
{
    for (const call_edge *e = i->callees; e; e = e->next)
        if (e->adjoint || (e->to->tx->is_kernel && e->to->tx != i->tx->custom_grad && e->to->tx != i->tx->custom_jvp &&
                           launches_adjoint(e->to)))
            return true;
    return false;
}

static void check_kernel_call(checker *c, const sym *s, const call_edge *e)
{
    const tx_func *k = e->to->tx;
    const int need = made_of_text(s->instances->tx, custom_attr(s) != NULL), has = tx_derives(k),
              lacks = need & ~(has | (has & IR_DERIVE_HVP ? IR_DERIVE_GRAD : 0));
    const char *why = NULL;
    if (need && k->no_grad)
        why = "is marked no_grad";
    else if (lacks && !(lacks == IR_DERIVE_HVP && !k->derive_explicit))
        why = lacks & IR_DERIVE_GRAD ? "has no grad" : lacks & IR_DERIVE_JVP ? "has no jvp" : "has no hvp";
    else if (need & (IR_DERIVE_GRAD | IR_DERIVE_HVP) && k->custom_grad)
        why = "has a gradient of its own";
    else if (need & (IR_DERIVE_JVP | IR_DERIVE_HVP) && k->custom_jvp)
        why = "has a JVP of its own";
    else if (need && launches_adjoint(e->to))
        why = "launches an adjoint";
    if (!why)
        return;
    ERR(c, e->at, DIAG_KERNEL_CALL, s->name, k->name, why);
    NOTE(c, s->span,
         "a call becomes a part of '%s', whose derivatives are made of the whole: let the host launch '%s', or take "
         "derivatives from '%s' with derive(...)",
         s->name, k->name, s->name);
}

/* The custom gradient that is run for k.grad(...), NULL if there is none. */
static instance *custom_of_adjoint(const call_edge *e)
{
    for (const call_edge *own = e->to->callees; own; own = own->next)
        if (own->to->tx == e->to->tx->custom_grad)
            return own->to;
    return NULL;
}

/* Whether running `from` runs `to`: kernels do not call each other in a circle, but adjoints of the program's own may.
 */
static bool runs(instance *from, const instance *to)
{
    if (from == to)
        return true;
    if (from->asked == to)
        return false;
    from->asked = to;
    for (const call_edge *e = from->callees; e; e = e->next) {
        instance *next = e->adjoint ? custom_of_adjoint(e) : e->to;
        if (next && next->tx->is_kernel && next->tx != from->tx->custom_grad && next->tx != from->tx->custom_jvp &&
            runs(next, to))
            return true;
    }
    return false;
}

static void check_adjoint_call(checker *c, const sym *s, const call_edge *e)
{
    const tx_func *k = e->to->tx;
    instance *custom = custom_of_adjoint(e);
    const char *name = arena_printf(c->mem, "%s.grad", k->name);
    const tx_local *param = NULL;
    for (int i = 0; i < k->nparams; i++)
        if (k->params[i]->needs_grad)
            param = k->params[i];
    if (custom && runs(custom, s->instances)) {
        ERR(c, e->at, DIAG_RECURSION, s->name);
        NOTE(c, e->at, "'%s' runs '%s', which is marked grad_for('%s')", name, custom->tx->name, k->name);
    } else if (s->instances->tx->no_grad || made_of_text(s->instances->tx, custom_attr(s) != NULL)) {
        ERR(c, e->at, DIAG_KERNEL_CALL, s->name, name, "has no derivatives");
        NOTE(c, s->span, "write 'derive()' on '%s', or make it the gradient of a kernel with grad_for(...)", s->name);
    } else if (param) {
        ERR(c, e->at, DIAG_KERNEL_CALL, s->name, name, arena_printf(c->mem, "gives a gradient of '%s'", param->name));
        NOTE(c, e->at, "a kernel has no place for it: make '%s' a 0-D field with needs_grad", param->name);
    } else if (k->atomics) {
        ERR(c, e->at, DIAG_KERNEL_CALL, s->name, name,
            arena_printf(c->mem,
                         "goes by the old values of atomics in the last launch of '%s', which '%s' does not know",
                         k->name, s->name));
        NOTE(c, e->at, "let the host launch '%s' and its adjoint", k->name);
    } else if (k->nsites > 0) {
        ERR(c, e->at, DIAG_KERNEL_CALL, s->name, name,
            arena_printf(c->mem, "draws the random numbers of the last launch of '%s', which '%s' does not know",
                         k->name, s->name));
        NOTE(c, e->at, "let the host launch '%s' and its adjoint, or draw into a field first", k->name);
    }
}

/* Calls of kernels double with each level of a chain that calls twice. The lowest kernel that is too long is reported.
 */
static int count_bodies(checker *c, instance *i, const sym *s)
{
    if (i->bodies)
        return i->bodies;
    i->bodies = 1;
    int n = 1, most = 0;
    for (const call_edge *e = i->callees; e; e = e->next) {
        instance *part = e->adjoint && custom_of_adjoint(e) ? custom_of_adjoint(e) : e->to;
        if (!part->tx->is_kernel || part->tx == i->tx->custom_grad || part->tx == i->tx->custom_jvp)
            continue;
        const int more = count_bodies(c, part, names_entry(c, intern(c->names, part->tx->name))->item);
        most = more > most ? more : most;
        n = n + more > MAX_BODIES ? MAX_BODIES + 1 : n + more;
    }
    if (n > MAX_BODIES && most <= MAX_BODIES) {
        ERR(c, s->span, DIAG_KERNEL_BODIES, s->name, MAX_BODIES);
        NOTE(c, s->span,
             "each call of a kernel becomes a part of the caller: call in a loop what is called often, or let the host "
             "launch the parts");
    }
    return i->bodies = n;
}

static void check_kernel_calls(checker *c)
{
    for (const sym *s = c->items; s; s = s->next)
        if (s->kind == SYM_KERNEL && s->instances)
            count_bodies(c, s->instances, s);
    for (const sym *s = c->items; s; s = s->next) {
        if (s->kind != SYM_KERNEL || !s->instances)
            continue;
        const tx_func *own = s->instances->tx;
        for (const call_edge *e = s->instances->callees; e; e = e->next)
            if (e->adjoint)
                check_adjoint_call(c, s, e);
            else if (e->to->tx->is_kernel && e->to->tx != own->custom_grad && e->to->tx != own->custom_jvp)
                check_kernel_call(c, s, e);
    }
}

void check_custom(checker *c)
{
    for (sym *s = c->items; s; s = s->next) {
        if (s->kind != SYM_FUNC && s->kind != SYM_KERNEL)
            continue;
        const ast_attr *first = custom_attr(s);
        for (const ast_attr *a = first; a; a = a->next) {
            if (a != first && is_custom(a))
                ERR(c, a->span, DIAG_CUSTOM_CHAIN, s->name);
        }
        if (first)
            check_one(c, s, first);
    }
    check_kernel_calls(c);
}
