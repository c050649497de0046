/* f.jacobian(...), f.hessian(...): matrices of derivatives as values. */
#include "check/check.h"

enum { MAX_ROWS = 16, MAX_BLOCKS = 64 };

static int count_real(const sym *s, const instance *i)
{
    int n = 0;
    for (int k = 0; k < s->nparams; k++)
        n += ty_has_floats(i->args[k]);
    return n;
}

static const char *no_rows(checker *c, const sym *s, const ty *r, bool hess)
{
    if (r->kind == TY_VOID)
        return "it has no result";
    if (r->kind == TY_TUPLE)
        return "it has several results: write a function that returns one of them";
    if (hess && r->kind != TY_SCALAR)
        return arena_printf(c->mem, "its result is %s: a Hessian is the matrix of one number", ty_name(c->types, r));
    if (!hess && r->kind == TY_SCALAR && scalar_is_float(r->elem))
        return arena_printf(c->mem, "its result is one number: the row is its gradient, %s.grad(...)", s->name);
    if (!hess && r->kind != TY_VEC)
        return arena_printf(c->mem, "its result is %s: a Jacobian is the matrix of a vector", ty_name(c->types, r));
    if (!scalar_is_float(r->elem))
        return arena_printf(c->mem, "its result is %s: only floats have derivatives", ty_name(c->types, r));
    return r->rows > MAX_ROWS ? "its result has more than 16 components" : NULL;
}

static const char *no_matrix(checker *c, const sym *s, const instance *i, bool hess)
{
    const char *why = no_rows(c, s, i->result, hess);
    if (!why)
        why = no_derivative(c, s, i);
    if (why)
        return why;
    for (int k = 0; k < s->nparams; k++) {
        const ty *t = i->args[k];
        if (ty_has_floats(t) && t->kind == TY_STRUCT)
            return arena_printf(
                c->mem, "%s is a struct: pass its numbers as vectors, or declare them as constants of the module",
                ty_name(c->types, t));
        if (ty_has_floats(t) && t->kind != TY_SCALAR && t->kind != TY_VEC)
            return arena_printf(c->mem, "%s is no number and no vector: columns are components of such arguments",
                                ty_name(c->types, t));
    }
    const int n = count_real(s, i);
    return hess && n * (n + 1) / 2 > MAX_BLOCKS ? "it has more than 10 arguments with floats: pass vectors" : NULL;
}

/* A side of one number makes it a vector. */
static const ty *block_type(checker *c, int rows, int cols, scalar elem)
{
    if (rows == 1 && cols == 1)
        return ty_scalar(c->types, elem);
    return rows == 1 || cols == 1 ? ty_vec(c->types, rows * cols, elem) : ty_mat(c->types, rows, cols, elem);
}

static int jacobian_blocks(checker *c, const sym *s, const instance *i, const ty **types)
{
    int n = 0;
    for (int k = 0; k < s->nparams; k++) {
        const ty *t = i->args[k], *r = i->result;
        if (ty_has_floats(t))
            types[n++] = t->kind == TY_SCALAR ? r : ty_mat(c->types, r->rows, t->rows, r->elem);
    }
    return n;
}

/* A block for each pair of arguments, the first with the first to the last one, then the second with itself, ... */
static int hessian_blocks(checker *c, const sym *s, const instance *i, const ty **types)
{
    int n = 0;
    for (int k = 0; k < s->nparams; k++)
        for (int q = k; q < s->nparams; q++) {
            const ty *a = i->args[k], *b = i->args[q];
            if (!ty_has_floats(a) || !ty_has_floats(b))
                continue;
            const scalar elem = a->elem == SC_F64 ? SC_F64 : b->elem;
            types[n++] = block_type(c, ty_ncomp(a), ty_ncomp(b), elem);
        }
    return n;
}

val matrix_of_call(checker *c, const sym *s, val v, src_span at, bool hess)
{
    const instance *i = c->fn->inst->callees->to;
    const char *why = no_matrix(c, s, i, hess);
    if (why) {
        ERR(c, at, DIAG_FUNC_GRADIENT, s->name, why);
        NOTE(c, s->span, "'%s' is declared here", s->name);
        return val_error(c, at);
    }
    const int most = count_real(s, i);
    const ty **types = ARENA_ARRAY(c->mem, const ty *, most *(most + 1) / 2 + 1);
    const int n = hess ? hessian_blocks(c, s, i, types) : jacobian_blocks(c, s, i, types);
    const ty *type = n == 1 ? types[0] : ty_tuple(c->types, n, types);
    tx_expr *e = v.e;
    for (; e->kind == TX_LET; e = e->b) /* around arguments that are structs */
        e->type = type;
    e->type = type;
    e->jacobian = !hess;
    e->hessian = hess;
    return val_typed(v.e);
}
