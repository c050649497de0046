/* Linearisation: one walk that clones the operations of a region, builds the partials of each active one behind it, by
 * the rule table with the seed 1, and enters them as edges of the region's graph. The graph is eliminated at the end of
 * the region. Branches and loop bodies are regions of their own: the entries of their matrices are results, and edges
 * of the graph around them. */
#include "ir/ops.h"
#include "passes/derive/derive.h"
#include "passes/derive/jacobian/linearise_int.h"
#include "passes/derive/jacobian/product.h"
#include "passes/simplify/simplify.h"

/* ---- operations ---- */

static void lin_pure(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op)
{
    ir_clone_op(b, op, &w->val);
    const ir_value *r = op->res[0];
    if (!lin_active(w, r))
        return;
    rule_values at = {.result = lin_value(w, r), .part = OP_COUNT};
    int vertices[3] = {-1, -1, -1}, to = -1;
    for (int k = 0; k < op->nargs; k++) { /* inputs of the frame come in front of what follows from them */
        at.args[k] = lin_value(w, op->args[k]);
        vertices[k] = lin_active(w, op->args[k]) ? frame_vertex(w, f, op->args[k]) : -1;
    }
    for (int k = 0; k < op->nargs; k++) {
        const int from = vertices[k];
        if (from < 0 || op_contributes_nothing(op, k) || (activity_has(&w->act, r) && op_lacks_derivative(op, k)) ||
            op_not_differentiable(op->code, k))
            continue;
        ir_value *one = ir_const_f(b, op->args[k]->type, 1), *by = rule_apply(b, op->code, k, &at, one, r->type);
        if (!by)
            continue;
        to = to < 0 ? frame_result(f, r) : to;
        jac_edge_add(&f->graph, b, from, to, by);
    }
}

/* Nothing active goes into it or comes out. */
static bool is_passive(const linearisation *w, const ir_op *op)
{
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i]->type == SC_PTR ? w->act.varied[op->args[i]->id] : lin_active(w, op->args[i]))
            return false;
    for (int i = 0; i < op->nres; i++)
        if (op->res[i]->type == SC_PTR && w->act.varied[op->res[i]->id])
            return false;
    return op->nregions == 0;
}

/* The first operation that has no local Jacobian; NULL: all have one. Memory counts as constant: what is stored there
 * is not active. */
static const ir_op *refusing(const linearisation *w, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        const bool has_way = op_is_pure_table(op->code) || op->code == OP_IF || op->code == OP_LOOP ||
                             op->code == OP_CALL || op->code == OP_YIELD || op_carries_nothing(op->code);
        if (!has_way && !is_passive(w, op))
            return op;
        for (int k = 0; k < op->nregions; k++) {
            const ir_op *inside = refusing(w, op->regions[k]);
            if (inside)
                return inside;
        }
    }
    return NULL;
}

static void lin_op(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op)
{
    if (op_is_pure_table(op->code))
        lin_pure(w, b, f, op);
    else if (op->code == OP_IF)
        lin_if(w, b, f, op);
    else if (op->code == OP_LOOP)
        lin_loop(w, b, f, op);
    else if (op->code == OP_CALL)
        lin_call(w, b, f, op);
    else if (!w->of_args || op_effect_of(op->code) != OP_EFFECT_EVENT)
        ir_clone_op(b, op, &w->val);
}

static void lin_region(linearisation *w, ir_builder *b, jac_frame *f, const ir_region *r)
{
    for (const ir_op *op = r->first; op && op->code != OP_YIELD; op = op->next) {
        b->loc = op->loc;
        lin_op(w, b, f, op);
    }
}

/* ---- the function ---- */

/* Yields results and entries; enters these in the pattern. */
static void yield_entries(linearisation *w, ir_builder *b, const jac_wanted *wanted, const jac_matrix *j, bool *pattern)
{
    ir_func *out = w->out;
    const ir_op *y = ir_yield_of(w->from->body);
    jac_values all = {0};
    for (int i = 0; i < wanted->nresults; i++)
        vec_push(&all, lin_value(w, y->args[i]));
    for (int i = 0; i < wanted->nrows && wanted->lower; i++)
        vec_push(&all, lin_value(w, y->args[wanted->rows[i]]));
    for (int64_t k = 0; k < (int64_t)j->nrows * j->ncols; k++) {
        pattern[k] = j->at[k] != NULL;
        if (j->at[k])
            vec_push(&all, j->at[k]);
    }
    out->results = ARENA_ARRAY(out->module->mem, scalar, all.len + 1);
    out->nresults = (int)all.len;
    for (size_t i = 0; i < all.len; i++)
        out->results[i] = all.at[i]->type;
    ir_yield(b, (int)all.len, all.at);
    vec_free(&all);
}

static void copy_signature(ir_func *out, const ir_func *f)
{
    out->doc = f->doc;
    out->loc = f->loc;
    out->pure = f->pure;
    out->sig = f->sig;
    out->nsig = f->nsig;
    out->outs = f->outs;
    out->nouts = f->nouts;
    if (!out->body)
        out->body = ir_region_create(out);
}

static void fill(linearisation *w, const jac_wanted *wanted, bool *pattern)
{
    const ir_func *f = w->from;
    ir_builder b = {.func = w->out, .region = w->out->body, .loc = f->loc};
    jac_frame top = {0};
    for (int i = 0; i < f->body->nparams; i++)
        ir_map_set(&w->val, f->body->params[i], ir_region_param_like(w->out->body, f->body->params[i]));
    for (int k = 0; k < wanted->ncols; k++)
        frame_input(&top, f->body->params[wanted->cols[k]]);
    lin_region(w, &b, &top, f->body);
    const ir_op *y = ir_yield_of(f->body);
    int *rows = ARENA_ARRAY(f->module->mem, int, wanted->nrows + 1);
    for (int i = 0; i < wanted->nrows; i++)
        rows[i] = frame_vertex(w, &top, y->args[wanted->rows[i]]);
    b.loc = y->loc;
    const jac_matrix j = jac_eliminate(&top.graph, &b, rows, wanted->nrows, top.inputs.at, wanted->ncols,
                                       wanted->lower);
    if (w->made) {
        w->made->forward = j.forward;
        w->made->reverse = j.reverse;
    }
    yield_entries(w, &b, wanted, &j, pattern);
    frame_free(&top);
}

ir_func *jac_linearise(const ir_func *f, ir_func_kind kind, const char *name, const jac_wanted *wanted, bool *pattern,
                       ir_matrix *made)
{
    bool *active = ARENA_ARRAY(f->module->mem, bool, f->body->nparams + 1);
    for (int k = 0; k < wanted->ncols; k++)
        active[wanted->cols[k]] = true;
    linearisation w = {.from = f,
                       .act = activity_of_params(f, active),
                       .region = lin_region,
                       .function = jac_linearise,
                       .of_args = wanted->of_args,
                       .made = made};
    const ir_op *against = refusing(&w, f->body);
    if (against && made)
        jac_refuse(made, against);
    if (!against) {
        w.out = ir_func_create(f->module, kind, name);
        w.val = ir_map_create(f);
        copy_signature(w.out, f);
        fill(&w, wanted, pattern);
        ir_map_free(&w.val);
        decide_handed_on(w.out);
        pass_simplify(w.out);
    }
    activity_free(&w.act);
    return w.out;
}
