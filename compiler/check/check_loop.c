/* Loops: ranges, fields, parallel tasks, static for, while. */
#include <string.h>

#include "check/check.h"

typedef struct bounds {
    int n;
    tx_expr *lo[MAX_DIM], *hi[MAX_DIM];
    scalar index[MAX_DIM];
    int64_t step[MAX_DIM]; /* fits an i32, not 0 */
    bool grouped;
} bounds;

/* ---- what a loop runs over ---- */

/* Literals in a choice get a type here, as in a local. */
static scalar index_type(checker *c, val *a, val *b)
{
    val *v[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        if (!v[k])
            continue;
        if (v[k]->soft == SOFT_INT && !const_is(v[k]->e))
            *v[k] = settle(c, *v[k]);
        if (v[k]->soft == SOFT_INT ? !const_fits(SC_I32, v[k]->e->cval.i) : !scalar_widens(v[k]->e->type->elem, SC_I32))
            return SC_I64;
    }
    return SC_I32;
}

/* lo: 0 if `from` is NULL. */
static bool add_bounds(checker *c, bounds *b, val *from, val to, int64_t step, src_span lo, src_span hi)
{
    if (b->n == MAX_DIM)
        return ERR(c, hi, DIAG_DIMENSIONS, MAX_DIM);
    b->index[b->n] = index_type(c, &to, from);
    b->step[b->n] = step;
    b->hi[b->n] = to_i64(c, to, hi, "the bound of a loop");
    b->lo[b->n] = from ? to_i64(c, *from, lo, "the bound of a loop") : val_const_i(c, SC_I64, 0, hi).e;
    if (!b->hi[b->n] || !b->lo[b->n])
        return false;
    b->n++;
    return true;
}

/* ndrange(v): a vector's components are the bounds of so many dimensions. */
static bool add_vector(checker *c, bounds *b, val *from, val to, int64_t step, src_span lo, src_span hi)
{
    const int n = to.e->type->rows;
    binding *list = NULL;
    to = settle(c, to);
    to.e = bind_repeated(c, to.e, &list);
    if (from && from->e->type->kind == TY_VEC && from->e->type->rows != n)
        return ERR(c, lo, DIAG_SHAPES, "ndrange", name_of(c, *from), name_of(c, to));
    if (from)
        *from = settle(c, *from);
    if (from)
        from->e = bind_repeated(c, from->e, &list);
    emit_bindings(c, list, hi);
    for (int k = 0; k < n; k++) {
        val first = from ? val_typed(component_of(c, from->e, k)) : (val){0};
        if (!add_bounds(c, b, from ? &first : NULL, val_typed(component_of(c, to.e, k)), step, lo, hi))
            return false;
    }
    return true;
}

/* A number as it is written, with a sign or without. */
static bool is_written(const ast_expr *e, int64_t *out)
{
    const bool negative = e->kind == AST_EXPR_UNARY && e->unop == AST_NEG;
    const ast_expr *digits = negative ? e->a : e;
    if (digits->kind != AST_EXPR_INT || digits->big)
        return false;
    *out = negative ? -digits->ival : digits->ival;
    return true;
}

/* Bounds that are computed may well be empty; those that are written in the wrong order are a mistake. */
static bool makes_trips(checker *c, const ast_expr *lo, const ast_expr *hi, int64_t step, bool pairs)
{
    int64_t from = 0, to;
    if (!is_written(hi, &to) || (lo && !is_written(lo, &from)) || (step > 0 ? to >= from : to <= from))
        return true;
    ERR(c, hi->span, DIAG_NO_TRIP, (long long)from, step > 0 ? "below" : "above", (long long)to);
    if (pairs && !lo)
        NOTE(c, hi->span, "a dimension from a to b is a pair: ndrange((-1, 2), (-1, 2))");
    if (!pairs && lo && step == 1)
        NOTE(c, hi->span, "downwards, the step is negative: range(%lld, %lld, -1)", (long long)from, (long long)to);
    return false;
}

/* The direction of a loop and the number of its trips follow from a constant. */
static bool check_step(checker *c, const ast_expr *e, int64_t *step)
{
    val v = check_expr(c, e);
    const tx_expr *wide = to_i64(c, v, e->span, "the step of a loop");
    if (!wide)
        return false;
    if (wide->kind != TX_CONST) {
        ERR(c, e->span, DIAG_NOT_CONSTANT, "the step of a loop");
        NOTE(c, e->span, "count the trips, for k in range((b - a + s - 1) / s), and begin with let i = a + k * s;");
        return false;
    }
    *step = wide->cval.i;
    if (*step == 0)
        return ERR(c, e->span, DIAG_STEP_ZERO);
    if (!const_fits(SC_I32, *step) || (v.e->type->elem == SC_U64 && *step < 0))
        return ERR(c, e->span, DIAG_LITERAL_RANGE, "the step of a loop", "i32");
    return true;
}

/* lo, hi, step as they are written; of lo and step there may be none. */
static bool add_range(checker *c, bounds *b, const ast_expr *lo, const ast_expr *hi, const ast_expr *by, bool pairs)
{
    int64_t step = 1;
    if ((by && !check_step(c, by, &step)) || !makes_trips(c, lo, hi, step, pairs))
        return false;
    val from, to = check_expr(c, hi);
    if (lo)
        from = check_expr(c, lo);
    if (val_bad(to) || (lo && val_bad(from)))
        return false;
    const src_span lo_at = lo ? lo->span : hi->span;
    if (pairs && to.e->type->kind == TY_VEC)
        return add_vector(c, b, lo ? &from : NULL, to, step, lo_at, hi->span);
    return add_bounds(c, b, lo ? &from : NULL, to, step, lo_at, hi->span);
}

/* One bound, two, or two and a step. */
static bool add_listed(checker *c, bounds *b, const ast_expr *list, bool pairs)
{
    const ast_expr *second = list->next;
    return second ? add_range(c, b, list, second, second->next, pairs) : add_range(c, b, NULL, list, NULL, pairs);
}

static bool over_range(checker *c, bounds *b, const ast_expr *iter)
{
    const int n = ast_count(iter->args);
    if (n < 1 || n > 3)
        return ERR(c, iter->span, DIAG_ARGUMENT_COUNT, "range", "1 to 3 arguments", n);
    return add_listed(c, b, iter->args, false);
}

static bool over_ndrange(checker *c, bounds *b, const ast_expr *iter)
{
    if (!iter->args)
        return ERR(c, iter->span, DIAG_ARGUMENT_COUNT, "ndrange", "1 or more arguments", 0);
    for (const ast_expr *e = iter->args; e; e = e->next) {
        const bool pair = e->kind == AST_EXPR_LIST && e->is_bounds;
        if (pair && ast_count(e->args) > 3)
            return ERR(c, e->span, DIAG_RANGE_PAIR);
        if (!(pair ? add_listed(c, b, e->args, true) : add_range(c, b, NULL, e, NULL, true)))
            return false;
    }
    return true;
}

static bool over_field(checker *c, bounds *b, const ast_expr *e)
{
    sym *s = e->kind == AST_EXPR_NAME ? names_use(c, e->name, e->span) : NULL;
    if (e->kind == AST_EXPR_NAME && !s) {
        names_unknown(c, e->name, e->span, false);
        return false;
    }
    if (s && (s->kind == SYM_BAD || s->refused || (s->kind == SYM_LOCAL && s->local->type->kind == TY_ERROR)))
        return false;
    const bool array = s && s->kind == SYM_LOCAL && s->local->type->kind == TY_ARRAY;
    if (!array && (!s || s->kind != SYM_FIELD)) {
        ERR(c, e->span, DIAG_NOT_ITERABLE);
        NOTE(c, e->span,
             e->kind == AST_EXPR_LIST ? "'static for' runs over a list of constants"
                                      : "loops run over range(n), range(a, b), ndrange(n, m), a field or an array, or "
                                        "grouped(field)");
        return false;
    }
    b->n = array ? s->local->type->ndim : sym_ndim(s);
    if (b->n == 0)
        return ERR(c, e->span, DIAG_ZERO_D_LOOP, s->name);
    for (int k = 0; k < b->n; k++) {
        b->lo[k] = val_const_i(c, SC_I64, 0, e->span).e;
        b->hi[k] = extent_of(c, s, k, e->span);
        b->index[k] = SC_I32;
        b->step[k] = 1;
    }
    return true;
}

static bool check_iter(checker *c, bounds *b, const ast_expr *iter)
{
    if (calls_builtin(c, iter, "range"))
        return over_range(c, b, iter);
    if (calls_builtin(c, iter, "ndrange"))
        return over_ndrange(c, b, iter);
    if (!calls_builtin(c, iter, "grouped"))
        return over_field(c, b, iter);
    b->grouped = true;
    if (ast_count(iter->args) != 1)
        return ERR(c, iter->span, DIAG_ARGUMENT_COUNT, "grouped", "a field or an ndrange", ast_count(iter->args));
    if (calls_builtin(c, iter->args, "ndrange"))
        return over_ndrange(c, b, iter->args);
    return over_field(c, b, iter->args);
}

/* ---- for ---- */

static int count_names(const ast_stmt *s)
{
    int n = 0;
    for (const ast_name *name = s->names; name; name = name->next)
        n++;
    return n;
}

static sym *declare_index(checker *c, const ast_name *n, const ty *type)
{
    sym *s = scope_declare(c, SYM_LOCAL, n->name, n->span);
    s->local = local_new(c, n->name, type, report_span(c, n->span).begin);
    s->what = "a loop variable";
    return s;
}

static void declare_indices(checker *c, const ast_stmt *s, const bounds *b, tx_stmt *t)
{
    t->ndim = b->n;
    t->indices = ARENA_ARRAY(c->mem, tx_local *, b->n);
    t->lo = ARENA_ARRAY(c->mem, tx_expr *, b->n);
    t->hi = ARENA_ARRAY(c->mem, tx_expr *, b->n);
    t->steps = ARENA_ARRAY(c->mem, int64_t, b->n);
    const ast_name *name = s->names;
    for (int k = 0; k < b->n; k++) {
        t->lo[k] = b->lo[k];
        t->hi[k] = b->hi[k];
        t->steps[k] = b->step[k];
        if (!b->grouped) {
            t->indices[k] = declare_index(c, name, ty_scalar(c->types, b->index[k]))->local;
            name = name->next;
            continue;
        }
        const char *hint = arena_printf(c->mem, b->n <= 4 ? "%s_%c" : "%s_%d", name->name, b->n <= 4 ? "xyzw"[k] : k);
        t->indices[k] = local_new(c, hint, ty_scalar(c->types, b->index[k]), t->loc);
    }
}

/* for I in grouped(x): I is the vector of the indices. */
static void declare_grouped(checker *c, const ast_stmt *s, const tx_stmt *t)
{
    scalar index = SC_I32;
    for (int k = 0; k < t->ndim; k++)
        index = t->indices[k]->type->elem == SC_I64 ? SC_I64 : index;
    const ty *type = ty_vec(c->types, t->ndim, index);
    tx_stmt *d = emit_stmt(c, TX_DECL, s->span);
    d->nlocals = 1;
    d->locals = ARENA_ARRAY(c->mem, tx_local *, 1);
    d->locals[0] = declare_index(c, s->names, type)->local;
    d->value = tx_new(c, TX_BUILD, type, s->span);
    d->value->nargs = t->ndim;
    d->value->args = ARENA_ARRAY(c->mem, tx_expr *, t->ndim);
    for (int k = 0; k < t->ndim; k++) {
        tx_expr *i = tx_new(c, TX_LOCAL, t->indices[k]->type, s->span);
        i->local = t->indices[k];
        d->value->args[k] = cast_to(c, val_typed(i), index, s->span).e;
    }
}

static bool names_match(checker *c, const ast_stmt *s, const bounds *b)
{
    int names = count_names(s), want = b->grouped ? 1 : b->n;
    if (names == want)
        return true;
    ERR(c, s->names->span, DIAG_LOOP_NAMES, names, names == 1 ? "" : "s", want, want == 1 ? "" : "s");
    if (names == 1 && want > 1)
        NOTE(
            c, s->iter->span,
            "one variable for each, 'for i, j in ...', or the vector of all indices of a field, 'for I in grouped(x)'");
    return false;
}

/* After an error in the loop's head: its variables stay unknown quietly, the body is checked all the same. */
static void check_body_of_bad_loop(checker *c, const ast_stmt *s)
{
    scope sc;
    tx_stmt *lost = NULL, **tail = c->fn->tail;
    loop l = {.outer = c->fn->loop, .kind = LOOP_SEQUENTIAL};
    scope_push(c, &sc);
    for (const ast_name *n = s->names; n; n = n->next)
        declare_index(c, n, ty_error(c->types));
    c->fn->tail = &lost;
    c->fn->loop = &l;
    check_stmts(c, s->body);
    c->fn->loop = l.outer;
    c->fn->tail = tail;
    scope_pop(c);
}

/* ---- static for ---- */

static val static_vector(checker *c, const int64_t at[], int n, src_span span)
{
    tx_expr *e = tx_new(c, TX_BUILD, ty_vec(c->types, n, SC_I32), span);
    e->nargs = n;
    e->args = ARENA_ARRAY(c->mem, tx_expr *, n);
    for (int k = 0; k < n; k++)
        e->args[k] = val_const_i(c, SC_I32, at[k], span).e;
    return val_typed(e);
}

/* values: one for each variable. */
static bool unroll(checker *c, const ast_stmt *s, const val values[], bool *falls)
{
    const int errors = diag_error_count(c->d);
    if (c->unrolled == MAX_UNROLL)
        ERR(c, s->iter->span, DIAG_UNROLL, MAX_UNROLL);
    if (++c->unrolled > MAX_UNROLL)
        return false;
    tx_stmt *b = emit_stmt(c, TX_BLOCK, s->span), **tail = c->fn->tail;
    scope sc;
    loop l = {.outer = c->fn->loop, .kind = LOOP_STATIC};
    scope_push(c, &sc);
    for (const ast_name *name = s->names; name; name = name->next)
        scope_declare(c, SYM_STATIC, name->name, name->span)->value = *values++;
    c->fn->tail = &b->body;
    c->fn->loop = &l;
    *falls = check_stmts(c, s->body) && *falls;
    c->fn->loop = l.outer;
    c->fn->tail = tail;
    scope_pop(c);
    return diag_error_count(c->d) == errors; /* the same error for every value is enough once */
}

static bool unroll_at(checker *c, const ast_stmt *s, const int64_t at[], int n, bool grouped, bool *falls)
{
    val values[MAX_DIM];
    if (grouped)
        values[0] = static_vector(c, at, n, s->names->span);
    for (int k = 0; !grouped && k < n; k++) {
        values[k] = val_const_i(c, SC_I64, at[k], s->names->span);
        values[k].soft = SOFT_INT;
    }
    return unroll(c, s, values, falls);
}

/* A param in the bounds, which the host chooses. */
static void hint_static_param(checker *c, const ast_expr *e)
{
    const sym *s = e->kind == AST_EXPR_NAME ? names_lookup(c, e->name, e->span) : NULL;
    if (s && s->kind == SYM_PARAM)
        NOTE(c, e->span, "'%s' is a param, chosen at run time: make it a const (tkc -D %s=... sets it), or write 'for'",
             s->name, s->name);
    const ast_expr *const parts[] = {e->a, e->b, e->c};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k])
            hint_static_param(c, parts[k]);
    for (const ast_expr *a = e->args; a; a = a->next)
        hint_static_param(c, a);
}

/* static for s in [-1, 1]: the constants have one component type, as those of a vector. */
static bool static_over_list(checker *c, const ast_stmt *s)
{
    const int n = ast_count(s->iter->args), errors = diag_error_count(c->d);
    val *values = ARENA_ARRAY(c->mem, val, n), *v = values;
    names_match(c, s, &(bounds){.n = 1});
    for (const ast_expr *e = s->iter->args; e; e = e->next, v++) {
        *v = check_expr(c, e);
        if (val_bad(*v) || (const_is(v->e) && v->e->kind != TX_GROUP))
            continue;
        ERR(c, e->span, DIAG_NOT_CONSTANT, "a value of 'static for'");
        hint_static_param(c, e);
    }
    bool falls = true;
    if (diag_error_count(c->d) > errors || !unify(c, values, n, "static for", s->iter->span)) {
        check_body_of_bad_loop(c, s);
        return true;
    }
    for (int k = 0; k < n; k++) {
        if (values[k].e->type->kind != TY_SCALAR)
            values[k] = settle(c, values[k]);
        if (!unroll(c, s, &values[k], &falls))
            break;
    }
    return falls;
}

static bool is_within(int64_t at, int64_t hi, int64_t step)
{
    return step > 0 ? at < hi : at > hi;
}

static bool check_static_for(checker *c, const ast_stmt *s)
{
    bounds b = {0};
    if (s->iter->kind == AST_EXPR_LIST)
        return static_over_list(c, s);
    if (!check_iter(c, &b, s->iter) || !names_match(c, s, &b)) {
        check_body_of_bad_loop(c, s);
        return true;
    }
    int64_t lo[MAX_DIM], hi[MAX_DIM], at[MAX_DIM];
    bool falls = true;
    for (int k = 0; k < b.n; k++) {
        if (b.lo[k]->kind != TX_CONST || b.hi[k]->kind != TX_CONST || (b.grouped && b.index[k] != SC_I32)) {
            ERR(c, s->iter->span, DIAG_NOT_CONSTANT, "a bound of 'static for'");
            hint_static_param(c, s->iter);
            check_body_of_bad_loop(c, s);
            return true;
        }
        at[k] = lo[k] = b.lo[k]->cval.i;
        hi[k] = b.hi[k]->cval.i;
        if (!is_within(lo[k], hi[k], b.step[k]))
            return true;
    }
    while (unroll_at(c, s, at, b.n, b.grouped, &falls)) {
        int k = b.n - 1;
        while (k >= 0 && (__builtin_add_overflow(at[k], b.step[k], &at[k]) || !is_within(at[k], hi[k], b.step[k]))) {
            at[k] = lo[k];
            k--;
        }
        if (k < 0)
            break;
    }
    return falls;
}

static bool check_for(checker *c, const ast_stmt *s)
{
    if (s->is_static)
        return check_static_for(c, s);
    bounds b = {0};
    if (!check_iter(c, &b, s->iter) || !names_match(c, s, &b)) {
        check_body_of_bad_loop(c, s);
        return true;
    }
    tx_stmt **before = c->fn->tail, *t = emit_stmt(c, TX_FOR, s->span), **tail = c->fn->tail;
    scope sc;
    int outer_task = c->fn->task;
    t->parallel = c->fn->is_kernel && !outer_task && !s->is_serial;
    t->independent = s->is_independent;
    if (s->is_independent && !t->parallel) {
        ERR(c, s->span, DIAG_INDEPENDENT);
        NOTE(c, s->span, "leave 'independent' out; it belongs to the loop of a kernel around this one");
    }
    loop l = {.outer = c->fn->loop, .kind = t->parallel ? LOOP_TASK : LOOP_SEQUENTIAL};
    if (t->parallel) {
        c->fn->task = ++c->next_task;
        c->fn->before_task = before;
    }
    scope_push(c, &sc);
    c->fn->tail = &t->body;
    c->fn->loop = &l;
    declare_indices(c, s, &b, t);
    if (b.grouped)
        declare_grouped(c, s, t);
    check_stmts(c, s->body);
    c->fn->loop = l.outer;
    c->fn->tail = tail;
    scope_pop(c);
    c->fn->task = outer_task;
    return true;
}

static bool check_while(checker *c, const ast_stmt *s)
{
    tx_expr *limit = s->limit ? to_i64(c, check_expr(c, s->limit), s->limit->span, "the limit of 'while'") : NULL;
    c->fn->optional++;
    tx_expr *cond = check_condition(c, s->cond, "the condition of 'while'");
    c->fn->optional--;
    tx_stmt *t = emit_stmt(c, TX_WHILE, s->span);
    t->cond = cond;
    t->limit = limit;
    loop l = {.outer = c->fn->loop, .kind = LOOP_SEQUENTIAL};
    c->fn->loop = &l;
    check_block(c, s->body, &t->body);
    c->fn->loop = l.outer;
    return !(!s->limit && cond->kind == TX_CONST && cond->type->kind == TY_SCALAR && cond->cval.i != 0 && !l.broken);
}

bool check_loop(checker *c, const ast_stmt *s)
{
    return s->kind == AST_STMT_FOR ? check_for(c, s) : check_while(c, s);
}
