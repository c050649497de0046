/* Statements without control flow. */
#include <assert.h>

#include "lower/lower_impl.h"

static void lower_decl(lower *l, const tx_stmt *s)
{
    if (s->value) {
        lower_bind(l, s->locals, s->nlocals, s->value);
        return;
    }
    for (int i = 0; i < s->nlocals; i++)
        var_bind(l, s->locals[i], NULL);
}

static void set_component(lower *l, const place *p, ir_value *comp, ir_value *v, void *ctx)
{
    (void)ctx;
    place_set(l, p, comp, v);
}

static void accum_component(lower *l, const place *p, ir_value *comp, ir_value *v, void *ctx)
{
    (void)ctx;
    ir_accum(&l->b, p->field, p->plane, p->idx, comp, v);
}

static void assign_split(lower *l, lvar *var, const tx_stmt *s, const agg *value, ir_value *dyn)
{
    if (dyn) {
        for (int i = 0; i < dyn_count(s); i++) {
            ir_value *at = dyn_component(l, s, dyn, i), *v = agg_get(l, value, i);
            for (int k = 0; k < var->n; k++) {
                ir_value *old = var_get(l, var, k), *chosen = is_component(l, at, k);
                var->val[k] = chosen ? ir_op3(&l->b, OP_SELECT, chosen, v, old) : old;
            }
        }
        return;
    }
    int n = s->comps ? s->ncomps : var->n;
    for (int i = 0; i < n; i++) {
        int k = s->comps ? s->comps[i] : i;
        var->val[k] = agg_get(l, value, i);
        name_value(var->val[k], var->names[k]);
    }
}

void lower_assign(lower *l, const tx_stmt *s)
{
    lvar *var = var_of(s->local);
    place p = {0};
    if (s->nsubs)
        p = place_of_element(l, s->local, s->subs);
    else if (!var->val)
        p = place_of_memory(var->mem, var->elem, var->n);
    ir_value *dyn = s->dyn ? lower_scalar(l, s->dyn) : NULL;
    agg value = lower_expr(l, s->value);
    if (var->val)
        assign_split(l, var, s, &value, dyn);
    else if (s->local->type->kind == TY_ARRAY && !s->nsubs)
        copy_memory(l, var->mem, &value);
    else
        place_assign(l, &p, s, &value, dyn, set_component, NULL);
}

static void lower_field_write(lower *l, const tx_stmt *s)
{
    place p = {.elem = s->field->elem,
               .n = ir_field_ncomp(s->field),
               .field = s->field,
               .plane = s->plane,
               .idx = lower_scalars(l, s->subs, s->nsubs)};
    ir_value *dyn = s->dyn ? lower_scalar(l, s->dyn) : NULL;
    agg value = lower_expr(l, s->value);
    place_assign(l, &p, s, &value, dyn, s->kind == TX_STORE ? set_component : accum_component, NULL);
}

/* Checked in debug builds of a module only; otherwise its operands are not even computed. */
static void lower_assert(lower *l, const tx_stmt *s)
{
    if (!l->m->debug)
        return;
    ir_value *cond = lower_scalar(l, s->cond);
    *ir_text_attr(ir_insert(&l->b, OP_ASSERT, 1, &cond, 0, NULL, 0)) = (ir_attr_text){
        s->text, s->derivative ? IR_ASSERT_DERIVATIVE : IR_ASSERT_USER};
}

static void lower_print(lower *l, const tx_stmt *s)
{
    ir_value **v = lower_scalars(l, s->values, s->nvalues);
    ir_text_attr(ir_insert(&l->b, OP_PRINT, s->nvalues, v, 0, NULL, 0))->text = s->text;
}

void lower_simple(lower *l, const tx_stmt *s)
{
    switch (s->kind) {
    case TX_DECL:
        lower_decl(l, s);
        return;
    case TX_ASSIGN:
        lower_assign(l, s);
        return;
    case TX_STORE:
    case TX_ACCUM:
        lower_field_write(l, s);
        return;
    case TX_REDUCE:
        lower_reduce(l, s);
        return;
    case TX_ASSERT:
        lower_assert(l, s);
        return;
    case TX_PRINT:
        lower_print(l, s);
        return;
    case TX_EXPR:
        if (s->value->kind != TX_CALL)
            lower_expr(l, s->value);
        else
            lower_call(l, s->value, ARENA_ARRAY(l->mem, agg, result_count(s->value->callee->result) + 1));
        return;
    default:
        assert(!"a statement with control flow");
    }
}

/* ---- return ---- */

void lower_return(lower *l, const tx_stmt *s, unsigned need)
{
    frame *f = l->frame;
    agg *v = ARENA_ARRAY(l->mem, agg, f->nresults + 1);
    if (s->nvalues == 1 && s->values[0]->kind == TX_CALL && f->nresults != 1) {
        lower_call(l, s->values[0], v);
    } else {
        assert(s->nvalues == f->nresults);
        for (int i = 0; i < s->nvalues; i++)
            v[i] = lower_expr(l, s->values[i]);
    }
    for (int i = 0; i < f->nresults; i++) {
        lvar *r = f->results[i];
        if (!r->val) {
            copy_memory(l, r->mem, &v[i]);
            continue;
        }
        for (int k = 0; k < r->n; k++)
            r->val[k] = agg_get(l, &v[i], k);
    }
    if (need & EXIT_RETURN)
        set_flag(l, f->returned);
}
