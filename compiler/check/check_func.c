/* Functions and kernels: parameters, results, attributes, and one instance for each set of argument types. */
#include <assert.h>
#include <string.h>

#include "check/check.h"

/* ---- signatures ---- */

static context leave(checker *c)
{
    context old = {c->fn, c->constant, c->extents, c->depth};
    c->fn = NULL;
    c->constant = c->extents = false;
    return old;
}

static void come_back(checker *c, context old)
{
    c->fn = old.fn;
    c->constant = old.constant;
    c->extents = old.extents;
    c->depth = old.depth;
}

static const char *what_it_is(const sym *s)
{
    return s->kind == SYM_KERNEL ? "a kernel"
           : s->item->is_export  ? "an export func"
           : s->item->is_extern  ? "an extern func"
                                 : "a function";
}

/* An array without a direction, or a direction where there is none. */
static const ty *bad_direction(checker *c, const sym *s, const ast_param *p, bool local)
{
    if (s->item->is_extern) {
        ERR(c, p->span, DIAG_NOT_COMPILED, "an array parameter of an extern func");
    } else if (p->dir == AST_DIR_NONE) {
        ERR(c, p->span, DIAG_DIRECTION,
            arena_printf(c->mem, "array '%s' needs a direction: 'in', 'out' or 'inout'", p->name));
        NOTE(c, p->span, "as in '%s: in real[n]', which gives its extent the name n", p->name);
    } else if (local) {
        ERR(c, p->span, DIAG_DIRECTION,
            arena_printf(c->mem, "'%s' has no direction: a function takes arrays as they are", p->name));
        NOTE(c, p->span, "without type it takes any array or field; kernels and export funcs take arrays of the host");
    } else {
        ERR(c, p->span, DIAG_DIRECTION, arena_printf(c->mem, "'%s' has no direction: it is not an array", p->name));
        NOTE(c, p->span, "what is not an array goes in by value and out as a result");
    }
    return ty_error(c->types);
}

static const ty *param_type(checker *c, const sym *s, const ast_param *p, tx_expr ***extents)
{
    if ((s->item->is_export || s->kind == SYM_KERNEL) && p->dir != AST_DIR_NONE && p->type->kind == AST_TYPE_ARRAY)
        return array_param_type(c, s, p, extents);
    const bool local = s->kind == SYM_FUNC && !s->item->is_export &&
                       !s->item->is_extern; /* takes what is in the module */
    if (p->dir != AST_DIR_NONE || (!local && p->type && p->type->kind == AST_TYPE_ARRAY))
        return bad_direction(c, s, p, local);
    if (!p->type) {
        if (local || s->kind == SYM_KERNEL)
            return NULL;
        ERR(c, p->span, DIAG_NEEDS_TYPE, arena_printf(c->mem, "a parameter of %s needs a type", what_it_is(s)));
        return ty_error(c->types);
    }
    const ty *t = type_resolve(c, p->type);
    if (s->item->is_extern && ty_is_value(t) && !extern_has_type(c, arena_printf(c->mem, "'%s'", p->name), t, p->span))
        return ty_error(c->types);
    if (t->kind == TY_ERROR || ty_is_value(t) || t->kind == TY_ARRAY)
        return t;
    ERR(c, p->type->span, DIAG_NOT_SCALAR_TYPE, "a parameter", ty_name(c->types, t));
    return ty_error(c->types);
}

void check_signature(checker *c, sym *s)
{
    if (s->state == SYM_DONE)
        return;
    context old = leave(c);
    bool kernel = s->kind == SYM_KERNEL;
    s->state = SYM_DONE;
    s->param_types = ARENA_ARRAY(c->mem, const ty *, s->nparams + 1);
    s->param_extents = ARENA_ARRAY(c->mem, tx_expr **, s->nparams + 1);
    int k = 0;
    for (const ast_param *p = s->item->params; p; p = p->next) {
        s->param_types[k] = param_type(c, s, p, &s->param_extents[k]);
        s->generic = s->generic || !s->param_types[k];
        s->refused = s->refused || (s->param_types[k] && s->param_types[k]->kind == TY_ERROR);
        k++;
    }
    if (s->item->result) {
        s->result = type_resolve(c, s->item->result);
        if (kernel && s->result->kind == TY_TUPLE) {
            ERR(c, s->item->result->span, DIAG_NOT_COMPILED, "a kernel with several results");
            NOTE(c, s->item->result->span, "a struct holds them");
            s->result = ty_error(c->types);
        }
        if (s->result->kind == TY_ARRAY) {
            ERR(c, s->item->result->span, DIAG_NOT_SCALAR_TYPE, "a result", ty_name(c->types, s->result));
            s->result = ty_error(c->types);
        }
        if (s->item->is_extern && s->result->kind != TY_ERROR &&
            !extern_has_type(c, "the result", s->result, s->item->result->span))
            s->result = ty_error(c->types);
        s->refused = s->refused || s->result->kind == TY_ERROR || (s->item->is_extern && !extern_fits_libc(c, s));
    } else if (s->item->is_extern) {
        ERR(c, s->span, DIAG_NEEDS_TYPE, "an extern func needs the type of its result");
        NOTE(c, s->span,
             "it is called for its value alone, perhaps more often than written: what has an effect belongs in the "
             "host");
        s->refused = true;
    }
    come_back(c, old);
}

bool takes_vector(checker *c, sym *s)
{
    if (!s->item) /* an operation */
        return false;
    check_signature(c, s);
    return s->nparams == 1 && s->param_types[0] && s->param_types[0]->kind == TY_VEC;
}

static src_span name_span(const ast_param *p)
{
    src_span s = {p->span.begin, p->span.begin};
    s.end.col = (uint16_t)(s.end.col + strlen(p->name));
    return s;
}

/* ---- attributes ---- */

static void check_attrs(checker *c, const sym *s, tx_func *f)
{
    const bool kernel = s->kind == SYM_KERNEL, derived = kernel || s->item->is_export;
    if (derived)
        default_requests(c, f);
    f->finite = c->opt->finite && !s->item->is_extern;
    for (const ast_attr *a = s->item->attrs; a && !diag_too_many(c->d); a = a->next) {
        for (const ast_attr *b = s->item->attrs; b != a; b = b->next)
            if (!strcmp(a->name, b->name)) {
                ERR(c, a->span, DIAG_ATTR_TWICE, a->name);
                break;
            }
        if (!strcmp(a->name, "grad_for") || !strcmp(a->name, "jvp_for") ||
            (s->item->is_extern && !strcmp(a->name, "grad")) || (!kernel && !strcmp(a->name, "operator"))) {
            continue; /* check_custom.c, check_extern.c, check_struct_ops.c */
        } else if (derived && !strcmp(a->name, "derive")) {
            check_requests(c, s, a, f);
        } else if (kernel && !strcmp(a->name, "no_grad")) {
            f->no_grad = plain_attribute(c, a);
        } else if (!s->item->is_extern && !strcmp(a->name, "finite")) {
            f->finite = plain_attribute(c, a);
        } else {
            static const char *const known[] = {"grad_for", "jvp_for", "finite", "derive", "no_grad"};
            static const char *const of_extern[] = {"grad_for", "jvp_for", "grad"};
            bad_attribute(c, a, what_it_is(s), s->item->is_extern ? of_extern : known, kernel ? 5 : derived ? 4 : 3);
        }
    }
    if (f->no_grad && f->derive_explicit && f->nrequests)
        ERR(c, s->item->name_span, DIAG_NO_GRAD_DERIVE, s->name);
}

/* Whether it is marked needs_grad, which parameters of kernels may be. Those of export funcs may be const. */
static bool check_param_attrs(checker *c, const sym *s, const ast_param *p, const ty *t)
{
    const bool kernel = s->kind == SYM_KERNEL;
    const char *const known[] = {kernel ? "needs_grad" : "const"};
    bool marked = false;
    for (const ast_attr *a = p->attrs; a; a = a->next) {
        if (!(kernel || s->item->is_export) || strcmp(a->name, *known) != 0)
            bad_attribute(c, a, kernel ? "a parameter of a kernel" : "a parameter of a function", known, kernel);
        else if (marked)
            ERR(c, a->span, DIAG_ATTR_TWICE, a->name);
        else if (t->kind != TY_ERROR && !ty_has_floats(t))
            ERR(c, a->span, DIAG_NEEDS_GRAD_INTEGER, p->name, ty_name(c->types, t));
        else if (!kernel && (p->dir == AST_DIR_OUT || p->dir == AST_DIR_INOUT))
            ERR(c, a->span, DIAG_CONST_RESULT, p->name, p->dir == AST_DIR_OUT ? "out" : "inout");
        else
            marked = plain_attribute(c, a);
    }
    return marked && kernel;
}

/* ---- bodies ---- */

/* A parameter by value; a struct as its leaves. */
static void declare_param(checker *c, fn *f, const ast_param *p, const ty *type, lossy lost)
{
    sym *s = scope_declare(c, SYM_LOCAL, p->name, name_span(p));
    sym_set_local(c, s, p->name, type, false, report_span(c, p->span).begin);
    s->local->needs_grad = check_param_attrs(c, f->sym, p, type);
    s->what = "a parameter";
    s->lost = lost;
    for (int i = 0; i < ty_nleaves(type); i++) {
        tx_local *l = s->parts ? s->parts[i] : s->local;
        f->tx->params[f->tx->nparams++] = l;
        if (!s->parts)
            continue;
        l->whole = s->local;
        l->leaf = i;
        l->needs_grad = s->local->needs_grad && scalar_is_float(l->type->elem);
    }
}

sym *declare_field(checker *c, fn *f, const ast_param *p, const sym *field)
{
    sym *s = scope_declare(c, SYM_FIELD, p->name, name_span(p));
    s->type = field->type;
    s->field = field->field;
    s->members = field->members;
    s->extents = field->extents;
    s->dims = field->dims;
    s->nlead = field->nlead; /* lead_bound is the caller's */
    s->what = field->dims ? field->what : "a parameter that is a field";
    f->tx->in_place = f->tx->in_place || field->dims;
    if (!s->nlead)
        return s;
    s->lead = ARENA_ARRAY(c->mem, tx_expr *, s->nlead);
    for (int k = 0; k < s->nlead; k++) {
        s->lead[k] = tx_new(c, TX_LOCAL, ty_scalar(c->types, SC_I64), p->span);
        s->lead[k]->local = local_new(c, p->name, s->lead[k]->type, report_span(c, p->span).begin);
    }
    return s;
}

/* The first subscripts of a parameter that is a slab come in as numbers. */
static void declare_lead(fn *f, const sym *s)
{
    for (int k = 0; k < s->nlead; k++)
        f->tx->params[f->tx->nparams++] = s->lead[k]->local;
}

/* A parameter that is a local array of the caller. ref: which one, NULL where its type says all. */
static void declare_ref(checker *c, fn *f, const ast_param *p, const ty *type, const sym *ref, int number)
{
    sym *s = scope_declare(c, SYM_LOCAL, p->name, name_span(p));
    sym_set_local(c, s, p->name, type, true, report_span(c, p->span).begin);
    s->what = "a parameter";
    s->ref_param = number;
    if (ref)
        local_set_extents(s, ref->local->extents);
    for (int i = 0; i < ty_nleaves(type); i++) {
        tx_local *l = s->parts ? s->parts[i] : s->local;
        l->by_ref = true;
        f->tx->params[f->tx->nparams++] = l;
    }
}

void declare_params(checker *c, fn *f, const ty *const *args, int more)
{
    const ast_item *it = f->sym->item;
    int k = 0;
    const bool derived = f->is_kernel || it->is_export;
    const bool at_call = f->tx->at_call || (f->inst != f->sym->instances && takes_arrays(f->sym));
    f->in_header = derived || it->is_extern;
    int leaves = more;
    for (int i = 0; i < f->sym->nparams; i++)
        leaves += ty_nleaves(args[i]) + (f->inst->refs && f->inst->refs[i] ? f->inst->refs[i]->nlead : 0);
    for (const ast_param *p = it->params; p; p = p->next)
        for (const ast_expr *e = derived && p->type && p->type->kind == AST_TYPE_ARRAY ? p->type->extents : NULL; e;
             e = e->next)
            leaves++;
    f->tx->params = ARENA_ARRAY(c->mem, tx_local *, leaves);
    if (derived && !at_call)
        declare_extents(c, f);
    for (const ast_param *p = it->params; p; p = p->next, k++) {
        const sym *ref = f->inst->refs ? f->inst->refs[k] : NULL;
        if (ref && ref->kind == SYM_FUNC) {
            scope_declare(c, SYM_FUNC, p->name, name_span(p))->stands_for = (sym *)ref;
        } else if (ref && ref->kind == SYM_FIELD) {
            declare_lead(f, declare_field(c, f, p, ref));
        } else if (args[k]->kind == TY_ARRAY) {
            declare_ref(c, f, p, args[k], ref, k + 1);
        } else if (f->sym->param_extents[k]) {
            const bool marked = check_param_attrs(c, f->sym, p, args[k]);
            declare_array(c, f, p, args[k], f->sym->param_extents[k], name_span(p), marked || !f->is_kernel);
        } else {
            declare_param(c, f, p, args[k], f->inst->lost ? f->inst->lost[k] : (lossy){0});
        }
        for (const ast_param *o = it->params; derived && !at_call && o; o = o->next)
            if (o != p && generated_param_collides(p->name, o)) {
                ERR(c, name_span(p), DIAG_GENERATED_NAME, p->name, p->name);
                NOTE(c, name_span(o), "derivatives have that argument beside '%s'", o->name);
            }
    }
    f->in_header = false;
    declare_bound(c, f);
    if (at_call && takes_arrays(f->sym))
        bind_arrays(c, f);
}

void fn_begin(checker *c, fn *f, scope *sc)
{
    f->outer = leave(c);
    f->tail = &f->tx->body;
    c->fn = f;
    c->depth += 8; /* a function costs more stack than an expression */
    scope_push(c, sc);
}

void fn_end(checker *c, const fn *f)
{
    scope_pop(c);
    come_back(c, f->outer);
}

void instance_complete(checker *c, instance *i)
{
    i->before = c->completed;
    c->completed = i;
}

static void check_body(checker *c, sym *s, instance *inst, src_span site)
{
    int errors = diag_error_count(c->d);
    fn f = {
        .sym = s, .inst = inst, .tx = inst->tx, .is_kernel = s->kind == SYM_KERNEL, .site = site, .result = s->result};
    scope sc;
    if (f.is_kernel && !f.result)
        f.result = ty_void(c->types);
    s->checking++;
    fn_begin(c, &f, &sc);
    declare_params(c, &f, inst->args, 0);
    if (f.tx->exported)
        check_inputs(c, &f);
    else if (f.is_kernel)
        check_fields(c, &f);
    bool falls = !s->item->is_extern && check_stmts(c, s->item->body);
    const ty *result = f.result ? f.result : ty_void(c->types);
    if (falls && !f.stop && result->kind != TY_VOID && result->kind != TY_ERROR && diag_error_count(c->d) == errors)
        ERR(c, s->item->name_span, DIAG_NO_RETURN, s->name);
    inst->result = result;
    inst->tx->declared = result;
    inst->tx->result = ty_flat(c->types, result);
    fn_end(c, &f);
    s->checking--;
    inst->ready = diag_error_count(c->d) == errors;
    instance_complete(c, inst);
}

static lossy lost_by(const sym *s, const val *given, int k)
{
    return given && !s->param_types[k] && given[k].lost.literals ? given[k].lost : (lossy){0};
}

/* What takes arrays of the host has an instance of its own, the first of all, and one for each set of arrays that calls
 * give it. A generic kernel has the latter alone. */
static instance *instance_new(checker *c, sym *s, const ty *const *args, const val *given)
{
    const bool at_call = given && takes_arrays(s);
    instance *i = ARENA_NEW(c->mem, instance);
    i->args = ARENA_ARRAY(c->mem, const ty *, s->nparams + 1);
    i->refs = ARENA_ARRAY(c->mem, sym *, s->nparams + 1);
    i->lost = ARENA_ARRAY(c->mem, lossy, s->nparams + 1);
    i->writes = ARENA_ARRAY(c->mem, bool, s->nparams + 1);
    for (int k = 0; k < s->nparams; k++) {
        i->args[k] = args[k];
        i->refs[k] = given ? given[k].ref : NULL;
        i->lost[k] = lost_by(s, given, k);
    }
    instance **first = at_call && !s->generic ? &s->instances->next : &s->instances;
    i->next = *first;
    *first = i;
    i->tx = ARENA_NEW(c->mem, tx_func);
    i->tx->name = s->generic || (at_call && s->kind == SYM_FUNC) ? check_names_unique(c, s->id, true) : s->id;
    i->tx->doc = s->item->doc;
    i->tx->is_kernel = s->kind == SYM_KERNEL;
    i->tx->at_call = (at_call || s->generic) && i->tx->is_kernel;
    i->tx->exported = s->item->is_export && !at_call;
    i->tx->external = s->item->is_extern;
    i->tx->prelude = s->prelude;
    i->tx->of_func = s->of_func;
    i->tx->opened = s->prelude && (!strcmp(s->name, "transpose") || !strcmp(s->name, "diag"));
    i->tx->loc = report_span(c, s->item->name_span).begin;
    return i;
}

void check_plain_func(checker *c, sym *s)
{
    check_signature(c, s);
    if (s->generic || s->refused || s->instances)
        return;
    instance *i = instance_new(c, s, s->param_types, NULL);
    i->used = s->item->is_export || s->item->is_extern; /* the header declares what the host provides */
    check_attrs(c, s, i->tx);
    check_body(c, s, i, s->span);
    check_rows(c, s, i->tx);
}

void check_kernel(checker *c, sym *s)
{
    check_signature(c, s);
    if (s->generic || (s->refused && s->item->made_of)) /* checked where it is called, or another is made of it */
        return;
    if (s->instances) /* called by another kernel */
        return;
    instance *i = instance_new(c, s, s->param_types, NULL);
    i->used = true;
    const int errors = diag_error_count(c->d);
    check_attrs(c, s, i->tx);
    check_body(c, s, i, s->span);
    if (s->item->bound && diag_error_count(c->d) > errors)
        NOTE(c, s->item->name_span, "in kernel '%s', made of '%s' here", s->name, s->item->made_of);
}

/* ---- calls ---- */

static const char *argument_types(checker *c, const sym *s, const ty *const *args)
{
    const char *text = "";
    for (int k = 0; k < s->nparams; k++)
        text = arena_printf(c->mem, "%s%s%s", text, k ? ", " : "", ty_name(c->types, args[k]));
    return text;
}

static instance *find_instance(checker *c, sym *s, const ty *const *args, const val *given, src_span at);

/* A derivative that the prelude brings along, for the types of this instance of its target. */
static tx_func *prelude_custom(checker *c, instance *target, sym *s, int nargs, bool grad, src_span at)
{
    const ty *result = target->result;
    const ty *const *results = result->kind == TY_TUPLE ? result->members : &result;
    const ty **types = ARENA_ARRAY(c->mem, const ty *, s->nparams);
    for (int k = 0; k < s->nparams; k++)
        types[k] = k < nargs ? target->args[k] : grad ? results[k - nargs] : target->args[k - nargs];
    assert(s->nparams == nargs + (!grad ? nargs : result->kind == TY_TUPLE ? result->nmembers : 1));
    check_signature(c, s);
    instance *i = find_instance(c, s, types, NULL, at);
    call_edge *edge = ARENA_NEW(c->mem, call_edge);
    *edge = (call_edge){i, at, false, target->callees};
    target->callees = edge;
    return i->tx;
}

/* What of a field or array an instance is for, beyond its type: which field, or which extents. */
static const void *identity(const sym *ref)
{
    if (!ref)
        return NULL;
    return ref->kind == SYM_FUNC    ? (const void *)ref->name
           : ref->kind == SYM_FIELD ? (const void *)ref->field
                                    : ref->local->extents;
}

static int lead_of(const sym *ref)
{
    return ref ? ref->nlead : 0;
}

static instance *find_instance(checker *c, sym *s, const ty *const *args, const val *given, src_span at)
{
    const src_span site = report_span(c, at);
    const bool sited = c->ir->debug && is_decomposition(c, s); /* its message names the call */
    for (instance *i = s->instances; i; i = i->next) {
        bool same = !sited || src_loc_equal(i->tx->loc, site.begin);
        for (int k = 0; k < s->nparams && same; k++)
            same = i->args[k] == args[k] && identity(i->refs[k]) == identity(given ? given[k].ref : NULL) &&
                   lead_of(i->refs[k]) == lead_of(given ? given[k].ref : NULL) &&
                   i->lost[k].kind == lost_by(s, given, k).kind;
        if (same)
            return i;
    }
    int errors = diag_error_count(c->d);
    instance *i = instance_new(c, s, args, given);
    i->used = !takes_arrays(s) && !s->generic && (s->kind == SYM_KERNEL || s->item->is_export);
    if (s->prelude)
        i->tx->loc = site.begin;
    else
        check_attrs(c, s, i->tx);
    check_body(c, s, i, site);
    if (s->custom_grad && i->ready) {
        i->tx->custom_grad = prelude_custom(c, i, s->custom_grad, s->nparams, true, at);
        i->tx->custom_jvp = prelude_custom(c, i, s->custom_jvp, s->nparams, false, at);
    }
    if (!s->prelude && (s->generic || takes_arrays(s)) && diag_error_count(c->d) > errors)
        NOTE(c, at, "in '%s(%s)', called here", s->name, argument_types(c, s, args));
    return i;
}

instance *call_instance(checker *c, sym *s, const ty *const *types, src_span at)
{
    check_signature(c, s);
    instance *i = find_instance(c, s, types, NULL, at);
    call_edge *edge = ARENA_NEW(c->mem, call_edge);
    *edge = (call_edge){i, at, false, c->fn->inst->callees};
    c->fn->inst->callees = edge;
    return i;
}

static bool convert_args(checker *c, sym *s, val *args, const ty **types, const src_span *spans)
{
    bool ok = true;
    for (int k = 0; k < s->nparams; k++) {
        if (s->param_types[k] && !s->param_extents[k])
            args[k] = convert(c, args[k], s->param_types[k], spans[k]);
        else if (!args[k].ref)
            args[k] = settle(c, args[k]);
        types[k] = args[k].e->type;
        ok = ok && !val_bad(args[k]);
    }
    return ok;
}

/* An array of the kernel's: iterations of a parallel loop read it, and nobody writes to it. */
static bool check_refs(checker *c, const sym *s, const instance *i, const val *args, int n, const src_span *spans)
{
    for (int k = 0; k < n; k++) {
        sym *ref = args[k].ref;
        if (!ref || ref->kind != SYM_LOCAL)
            continue;
        if (i->writes[k] && ref->ref_param)
            c->fn->inst->writes[ref->ref_param - 1] = true;
        if (i->writes[k] && c->fn->task && ref->task != c->fn->task) {
            ERR(c, spans[k], DIAG_TASK_WRITE, ref->name);
            NOTE(c, ref->span, "'%s' belongs to the kernel; its iterations run in parallel", ref->name);
            NOTE(c, spans[k], "'%s' assigns its elements: accumulate into a field, or write 'serial for'", s->name);
            return false;
        }
        note_read(c, ref, spans[k]);
    }
    return true;
}

/* The arguments as lowering gets them: fields are none, structs are their leaves. */
static void list_args(checker *c, tx_expr *e, const val *args, int n, binding **list)
{
    int room = 0, given = 0;
    for (int k = 0; k < n; k++)
        room += ty_nleaves(args[k].e->type) + lead_of(args[k].ref);
    tx_expr **at = ARENA_ARRAY(c->mem, tx_expr *, room + 1);
    for (int k = 0; k < n; k++) {
        const sym *ref = args[k].ref;
        if (!ref)
            at[given++] = args[k].e;
        for (int i = 0; i < lead_of(ref); i++)
            at[given++] = ref->lead[i];
        binding **end = list;
        while (*end)
            end = &(*end)->next;
        *end = ref ? ref->lead_bound : NULL;
        for (int i = 0; ref && ref->kind == SYM_LOCAL && i < ty_nleaves(ref->local->type); i++) {
            tx_local *l = ref->parts ? ref->parts[i] : ref->local;
            at[given] = tx_new(c, TX_LOCAL, l->type, span_at(args[k].e->loc));
            at[given++]->local = l;
        }
    }
    e->args = ARENA_ARRAY(c->mem, tx_expr *, room + 1);
    e->nargs = spread_values(c, at, given, e->args, list);
}

/* What takes arrays is checked for itself before it is for those that a call gives it: then its errors are told once.
 */
static bool own_is_ready(checker *c, sym *s)
{
    if (s->kind == SYM_KERNEL)
        check_kernel(c, s);
    else
        check_plain_func(c, s);
    return s->instances && s->instances->ready;
}

val call_function(checker *c, sym *s, val *args, int n, const src_span *spans, src_span at)
{
    check_signature(c, s);
    if (s->refused)
        return val_error(c, at);
    if (n != s->nparams) {
        ERR(c, at, DIAG_ARGUMENT_COUNT, s->name,
            s->nparams == 1 ? "1 argument" : arena_printf(c->mem, "%d arguments", s->nparams), n);
        NOTE(c, s->span, "'%s' is declared here", s->name);
        return val_error(c, at);
    }
    const ty **types = ARENA_ARRAY(c->mem, const ty *, n + 1);
    if (!convert_args(c, s, args, types, spans))
        return val_error(c, at);
    if (s->checking > 0) {
        ERR(c, at, DIAG_RECURSION, s->name);
        NOTE(c, at, "recursion has no derivative code of bounded size: write a loop");
        return val_error(c, at);
    }
    if (too_deep(c, at) ||
        (takes_arrays(s) && (!check_array_args(c, s, args, spans) || (!s->generic && !own_is_ready(c, s)))))
        return val_error(c, at);
    instance *i = find_instance(c, s, types, args, at);
    if (!i->ready || !check_refs(c, s, i, args, n, spans))
        return val_error(c, at);
    if (!check_stops(c, i->tx, s->name, at))
        return val_error(c, at);
    i->tx->called = true;
    call_edge *edge = ARENA_NEW(c->mem, call_edge);
    *edge = (call_edge){i, at, false, c->fn->inst->callees};
    c->fn->inst->callees = edge;
    tx_expr *e = tx_new(c, TX_CALL, i->result, at);
    e->callee = i->tx;
    c->fn->tx->atomics = c->fn->tx->atomics || i->tx->atomics;
    c->fn->tx->in_place = c->fn->tx->in_place || (i->tx->in_place && !c->fn->is_kernel && !c->fn->sym->item->is_export);
    if (i->tx->nsites > 0)
        e->site = ++c->fn->tx->nsites;
    binding *list = NULL;
    list_args(c, e, args, n, &list);
    return val_typed(wrap_bindings(c, list, e));
}
