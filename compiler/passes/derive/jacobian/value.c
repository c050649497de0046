/* Jacobians and Hessians inside functions and kernels: f.jacobian(x), f.hessian(x). The operation becomes the call of a
 * function that yields the entries: the local Jacobian of f, or of its gradient, with one evaluation of f. Where there
 * is none, or it is too long, that function calls what gives a column, once for each. */
#include "passes/derive/derive.h"
#include "passes/derive/jacobian/linearise_int.h"
#include "passes/derive/reverse/reverse.h"
#include "passes/simplify/simplify.h"

/* ---- sources: functions that yield the rows ---- */

static ir_func *begin_func(ir_func *of, const char *suffix)
{
    ir_module *m = of->module;
    ir_func *out = ir_func_create(m, IR_FUNC, intern(m->names, arena_printf(m->mem, "%s_%s", of->name, suffix)));
    out->loc = of->loc;
    out->pure = of->pure;
    for (int i = 0; i < of->body->nparams; i++)
        ir_region_param_like(out->body, of->body->params[i]);
    return out;
}

static void end_func(ir_builder *b, int n, ir_value *const *values)
{
    ir_func *out = b->func;
    out->results = ARENA_ARRAY(out->module->mem, scalar, n + 1);
    out->nresults = n;
    for (int i = 0; i < n; i++)
        out->results[i] = values[i]->type;
    ir_yield(b, n, values);
}

/* What is known of f alone; f itself waits, as for gradient_of_source. */
static ir_func *line_of(ir_func *of)
{
    ir_func *line = ir_clone_func(of, of->name);
    pass_simplify(line);
    if (unroll_to_line(line))
        pass_simplify(line);
    return line;
}

static ir_func *rows_of_hessian(ir_func *of, gradient_settler settle)
{
    if (of->ad.custom_grad)
        return ir_func_that_calls(of, of->ad.custom_grad, true);
    ir_func *line = line_of(of), *g = gradient_by_args(line);
    rev_forget(of->module, line);
    settle(g, true);
    return g;
}

static ir_func *rows_of_jacobian(ir_func *of)
{
    return has_own_derivative(of) ? ir_func_that_calls(of, of, false) : line_of(of);
}

/* ---- columns ---- */

static ir_op *column(ir_builder *b, ir_func *of, ir_func *called, int seed)
{
    const ir_region *body = b->func->body;
    jac_values args = {0};
    for (int i = 0; i < body->nparams; i++)
        vec_push(&args, body->params[i]);
    for (int i = 0; i < of->body->nparams; i++)
        if (scalar_is_float(body->params[i]->type))
            vec_push(&args, ir_const_f(b, body->params[i]->type, i == seed));
    ir_op *c = ir_call(b, called, (int)args.len, args.at);
    vec_free(&args);
    return c;
}

/* Of a Hessian by the program's own gradient, source calls that. */
static ir_func *by_columns(ir_func *of, ir_func *source, bool hess, const int *cols, int ncols)
{
    const bool along = hess && !of->ad.custom_grad;
    const int nrows = hess ? ncols : of->nresults, first = along ? 0 : nrows;
    ir_func *called = along  ? gradient_along(forward_along(of, ALONG_REVERSED, gradient_along))
                      : hess ? forward_column(source, of->loc)
                             : forward_column(of, of->loc);
    ir_func *out = begin_func(of, hess ? "hessian" : "jacobian");
    ir_builder b = {.func = out, .region = out->body, .loc = of->loc};
    jac_values entries = {0};
    for (int i = 0; i < nrows * ncols; i++)
        vec_push(&entries, NULL);
    for (int j = 0; j < ncols; j++) {
        const ir_op *c = column(&b, of, called, cols[j]);
        for (int i = 0; i < nrows; i++)
            entries.at[i * ncols + j] = c->res[first + i];
    }
    if (hess) {
        size_t n = 0;
        for (int i = 0; i < nrows; i++)
            for (int j = 0; j <= i; j++)
                entries.at[n++] = entries.at[i * ncols + j];
        entries.len = n;
    }
    end_func(&b, (int)entries.len, entries.at);
    vec_free(&entries);
    return out;
}

/* ---- the function of the entries ---- */

static const ir_partials *make(ir_func *of, bool hess, gradient_settler settle)
{
    ir_module *m = of->module;
    const int nparams = of->body->nparams;
    int *cols = ARENA_ARRAY(m->mem, int, nparams + 1), ncols = 0;
    for (int i = 0; i < nparams; i++)
        if (scalar_is_float(of->body->params[i]->type))
            cols[ncols++] = i;
    const int nrows = hess ? ncols : of->nresults;
    int *rows = ARENA_ARRAY(m->mem, int, nrows + 1);
    for (int i = 0; i < nrows; i++)
        rows[i] = i;
    ir_partials *p = ARENA_NEW(m->mem, ir_partials);
    *p = (ir_partials){.rows = rows, .cols = cols, .nrows = nrows, .ncols = ncols};
    p->pattern = ARENA_ARRAY(m->mem, bool, nrows *ncols + 1);
    ir_func *source = hess ? rows_of_hessian(of, settle) : rows_of_jacobian(of);
    const char *name = intern(m->names, arena_printf(m->mem, "%s_%s", of->name, hess ? "hessian" : "jacobian"));
    const jac_wanted wanted = {rows, cols, nrows, ncols, .lower = hess, .of_args = true};
    ir_matrix *made = jac_made(of, hess ? IR_DERIVE_HESS : IR_DERIVE_JAC, nrows, ncols);
    made->value = true;
    p->made = made;
    p->func = jac_linearise(source, IR_FUNC, name, &wanted, p->pattern, made);
    p->first = hess ? nrows : 0;
    if (p->func && !jac_is_short(p->func, made)) {
        rev_forget(m, p->func);
        p->func = NULL;
    }
    if (!p->func) {
        p->func = by_columns(of, source, hess, cols, ncols);
        p->first = 0;
        for (int i = 0; i < nrows * ncols; i++)
            p->pattern[i] = !hess || i % ncols <= i / ncols;
    }
    jac_count_entries(made, p->pattern);
    rev_forget(m, source);
    p->func->nouts = 0;
    ir_forget_origins(p->func);
    return p;
}

static bool has_matrix(const ir_op *op, bool hess)
{
    ir_func *of = ir_callee_of(op);
    const bool by_grad = hess || !of->ad.custom_jvp;
    ir_func *own = by_grad ? of->ad.custom_grad : of->ad.custom_jvp;
    return !extern_lacks_derivative(op, hess) && leaves_memory(of, of, op->loc) &&
           (!own || leaves_memory(own, of, op->loc));
}

bool matrix_entries(ir_builder *b, const ir_op *op, gradient_settler settle, ir_value **entries)
{
    const bool hess = op->code == OP_HESSIAN;
    ir_func *of = ir_callee_of(op);
    if (!has_matrix(op, hess))
        return false;
    if (!of->ad.matrix[hess])
        of->ad.matrix[hess] = make(of, hess, settle);
    const ir_partials *p = of->ad.matrix[hess];
    ir_matrix *use = ARENA_NEW(of->module->mem, ir_matrix);
    *use = *p->made;
    use->at = op->loc;
    jac_list(use);
    const ir_op *c = ir_call(b, p->func, op->nargs, op->args);
    int n = 0, at = p->first;
    for (int i = 0; i < p->nrows; i++)
        for (int j = 0; j < (hess ? i + 1 : p->ncols); j++, n++)
            entries[n] = p->pattern[i * p->ncols + j] ? c->res[at++] : ir_zero(b, op->res[n]->type);
    return true;
}
