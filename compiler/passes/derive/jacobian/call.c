/* Linearisation of calls that stay: by the callee's own local Jacobian; where it has none, or the program gives its
 * derivative, by its JVP with a unit seed for each active argument. */
#include "ir/ops.h"
#include "passes/derive/derive.h"
#include "passes/derive/jacobian/linearise_int.h"

typedef VEC(int) numbers;

static void enter_results(linearisation *w, jac_frame *f, const ir_op *op, const ir_op *c)
{
    for (int i = 0; i < op->nres; i++) {
        ir_map_set(&w->val, op->res[i], c->res[i]);
        if (lin_active(w, op->res[i]))
            frame_result(f, op->res[i]);
    }
}

static ir_op *call_with(const linearisation *w, ir_builder *b, const ir_op *op, ir_func *callee, int seed)
{
    jac_values args = {0};
    for (int i = 0; i < op->nargs; i++)
        vec_push(&args, lin_value(w, op->args[i]));
    for (int i = 0; i < op->nargs && seed >= 0; i++)
        if (scalar_is_float(op->args[i]->type))
            vec_push(&args, ir_const_f(b, op->args[i]->type, i == seed));
    ir_op *c = ir_call(b, callee, (int)args.len, args.at);
    vec_free(&args);
    return c;
}

static void by_unit_seeds(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op, const numbers *active)
{
    if (extern_lacks_derivative(op, false)) {
        ir_clone_op(b, op, &w->val);
        return;
    }
    ir_op *plain = call_with(w, b, op, ir_callee_of(op), -1);
    enter_results(w, f, op, plain);
    ir_func *column = w->of_args ? forward_column(ir_callee_of(op), op->loc) : forward_func(ir_callee_of(op));
    for (size_t j = 0; j < active->len; j++) {
        const int seed = active->at[j];
        ir_op *c = call_with(w, b, op, column, seed);
        for (int i = 0, at = op->nres; i < op->nres; i++) {
            if (!scalar_is_float(op->res[i]->type))
                continue;
            if (lin_active(w, op->res[i]))
                jac_edge_add(&f->graph, b, frame_vertex(w, f, op->args[seed]), frame_vertex(w, f, op->res[i]),
                             c->res[at]);
            at++;
        }
    }
}

/* The Jacobian of the callee by these arguments, made once for each set of them. */
static const ir_partials *partials_of(const linearisation *w, ir_func *callee, const numbers *active)
{
    arena *mem = callee->module->mem;
    for (const ir_partials *p = callee->ad.partials; p; p = p->next) {
        bool same = p->ncols == (int)active->len;
        for (size_t j = 0; j < active->len && same; j++)
            same = p->cols[j] == active->at[j];
        if (same)
            return p;
    }
    ir_partials *p = ARENA_NEW(mem, ir_partials);
    int *rows = ARENA_ARRAY(mem, int, callee->nresults + 1), *cols = ARENA_ARRAY(mem, int, active->len + 1);
    *p = (ir_partials){.next = callee->ad.partials, .cols = cols, .ncols = (int)active->len, .rows = rows};
    for (int i = 0; i < callee->nresults; i++)
        if (scalar_is_float(callee->results[i]))
            rows[p->nrows++] = i;
    for (size_t j = 0; j < active->len; j++)
        cols[j] = active->at[j];
    p->pattern = ARENA_ARRAY(mem, bool, (size_t)p->nrows * active->len + 1);
    const jac_wanted wanted = {rows, cols, p->nrows, p->ncols, callee->nresults, .of_args = w->of_args};
    const char *name = intern(callee->module->names, arena_printf(mem, "%s_partials", callee->name));
    p->func = w->function(callee, IR_FUNC, name, &wanted, p->pattern, NULL);
    if (p->func) {
        p->func->ad.primal = w->of_args ? NULL : callee; /* values are functions of the program */
        p->func->nouts = 0;                              /* the results are others */
    }
    callee->ad.partials = p;
    return p;
}

static void by_partials(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op, const ir_partials *p)
{
    ir_op *c = call_with(w, b, op, p->func, -1);
    enter_results(w, f, op, c);
    for (int i = 0, at = op->nres; i < p->nrows; i++)
        for (int j = 0; j < p->ncols; j++)
            if (p->pattern[i * p->ncols + j]) {
                const ir_value *r = op->res[p->rows[i]];
                if (lin_active(w, r))
                    jac_edge_add(&f->graph, b, frame_vertex(w, f, op->args[p->cols[j]]), frame_vertex(w, f, r),
                                 c->res[at]);
                at++;
            }
}

void lin_call(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op)
{
    ir_func *callee = ir_callee_of(op);
    numbers active = {0};
    for (int i = 0; i < op->nargs; i++)
        if (lin_active(w, op->args[i]) && frame_vertex(w, f, op->args[i]) >= 0)
            vec_push(&active, i);
    const bool given = has_own_derivative(callee);
    const ir_partials *p = active.len && !given ? partials_of(w, callee, &active) : NULL;
    if (!active.len)
        ir_clone_op(b, op, &w->val);
    else if (p && p->func)
        by_partials(w, b, f, op, p);
    else
        by_unit_seeds(w, b, f, op, &active);
    vec_free(&active);
}
