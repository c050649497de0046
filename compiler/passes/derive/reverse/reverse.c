/* Reverse mode: the adjoint of a function or kernel. docs/architecture.md tells the scheme. */
#include <string.h>

#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/derive/reverse/build/build.h"
#include "passes/simplify/simplify.h"

void rev_region(scope *s, const ir_region *r)
{
    for (const ir_op *op = r->last; op; op = op->prev)
        if (op->code == OP_IF)
            rev_if(s, op);
        else if (op->code == OP_LOOP)
            rev_loop(s, op);
        else if (op->code == OP_TASK)
            rev_task(s, op);
        else
            rev_straight(s, op);
}

static rev rev_begin(ir_func *f, const activity *act)
{
    rev rv = {.module = f->module,
              .primal = f,
              .act = *act,
              .storage = activity_storage_of(f, ACTIVITY_REVERSE),
              .plan = rev_plan_begin(f)};
    const size_t n = f->next_value + 1;
    if (f->ad.no_grad) /* nothing it computes depends on anything; what it stores over has no gradient any more */
        memset(rv.act.varied, 0, rv.act.n * sizeof *rv.act.varied);
    arena *mem = f->module->mem;
    rv.memo = ARENA_ARRAY(mem, ir_value *, n);
    rv.adj = ARENA_ARRAY(mem, ir_value *, n);
    rv.shadow = ARENA_ARRAY(mem, ir_value *, n);
    rv.kept = ARENA_ARRAY(mem, ir_layout *, n);
    rv.filled = ARENA_ARRAY(mem, rev_filled, n);
    rv.last_store = ARENA_ARRAY(mem, const ir_op *, n);
    rv.scanned = ARENA_ARRAY(mem, bool, n);
    return rv;
}

/* out: without a body yet. */
static void begin_build(rev *rv, ir_func *out)
{
    const ir_func *f = rv->primal;
    rv->out = out;
    rv->fwd = ir_map_create(f);
    out->next_value = 0;
    out->body = ir_region_create(out);
    for (int i = 0; i < f->body->nparams; i++)
        ir_map_set(&rv->fwd, f->body->params[i], ir_region_param_like(out->body, f->body->params[i]));
}

static void rev_end(rev *rv)
{
    rev_plan_end(rv->plan);
    free(rv->uses);
    vec_free(&rv->snapshots);
    vec_free(&rv->guards);
    ir_map_free(&rv->fwd);
    ptrmap_free(&rv->fwd_ops);
}

ir_func *rev_derived(ir_func *f, ir_func_kind kind, const char *suffix)
{
    ir_module *m = f->module;
    ir_func *d = ir_func_create(m, kind, intern(m->names, arena_printf(m->mem, "%s_%s", f->name, suffix)));
    d->loc = f->loc;
    d->doc = f->doc;
    d->pure = f->pure;
    d->sig = f->sig;
    d->nsig = f->nsig;
    d->outs = f->outs;
    d->nouts = f->nouts;
    d->ad.primal = f;
    d->no_inline = f->no_inline;
    return d;
}

static void set_results(ir_func *f, int n, ir_value *const *vals)
{
    f->nresults = n;
    f->results = ARENA_ARRAY(f->module->mem, scalar, n + 1);
    for (int i = 0; i < n; i++)
        f->results[i] = vals[i]->type;
}

/* Ends the function by yielding the adjoints of the chosen parameters, of an export func behind its results. */
static void finish_func(scope *root, ir_func *f, const bool *wanted)
{
    ir_builder b = {.func = root->rv->out, .region = root->rev, .loc = f->loc};
    ir_value **vals = ARENA_ARRAY(f->module->mem, ir_value *, f->body->nparams + f->nresults + 1);
    const ir_op *y = ir_yield_of(f->body);
    int n = 0;
    for (int i = 0; i < f->nresults && f->pure; i++) /* of a kernel: memory may have changed since the launch */
        vals[n++] = ir_map_get(&root->rv->fwd, y->args[i]);
    for (int i = 0; i < f->body->nparams; i++) {
        if (!wanted[i])
            continue;
        ir_value *g = rev_adj(root, f->body->params[i]);
        vals[n++] = g ? g : ir_zero(&b, f->body->params[i]->type);
    }
    rev_finish_root(root);
    ir_yield(&b, n, vals);
    set_results(root->rv->out, n, vals);
    decide_handed_on(root->rv->out);
    rev_scope_free(root);
}

/* Parameters for the adjoints of the float results, from which the reverse sweep starts. */
static void seed_results(scope *root, const ir_func *f)
{
    const ir_op *y = ir_yield_of(f->body);
    ir_func *out = root->rv->out;
    ir_builder b = {.func = out, .region = out->body, .loc = f->loc};
    for (int i = 0; i < f->nresults; i++) {
        if (!scalar_is_float(f->results[i]))
            continue;
        const char *name = f->nresults == 1 ? "seed" : arena_printf(f->module->mem, "seed_%d", i);
        rev_add(root, &b, y->args[i], ir_region_param(out->body, f->results[i], name));
    }
}

/* The seed of a goal with `unit`; else NULL: they are parameters. */
static ir_value *build_func(ir_func *f, ir_func *out, const rev_goal *goal)
{
    ir_value *unit = NULL;
    rev rv = rev_begin(f, &goal->act);
    rv.of_args = goal->of_args;
    rev_make_plan(&rv, false);
    if (f->module->plans)
        rev_print_plan(f->module->plans, &rv);
    begin_build(&rv, out);
    scope root = rev_scope(&rv, NULL, SCOPE_ROOT, f->body, out->body, out->body);
    rev_forward_sweep(&root, f->body);
    rev_mark(&root);
    if (goal->unit) {
        ir_builder b = {.func = out, .region = out->body, .loc = f->loc};
        unit = ir_const_f(&b, f->results[0], 1.0);
        rev_add(&root, &b, ir_yield_of(f->body)->args[0], unit);
    } else {
        seed_results(&root, f);
    }
    rev_region(&root, f->body);
    bool *wanted = ARENA_ARRAY(f->module->mem, bool, f->body->nparams + 1);
    for (int i = 0; i < f->body->nparams; i++)
        wanted[i] = scalar_is_float(f->body->params[i]->type);
    finish_func(&root, f, wanted);
    rev_end(&rv);
    return unit;
}

static void share_reciprocals(const ir_func *f, ir_func *out, ir_value *unit)
{
    VEC(const ir_value *) seeds = {0};
    if (unit)
        vec_push(&seeds, unit);
    for (int i = f->body->nparams; i < out->body->nparams; i++)
        vec_push(&seeds, out->body->params[i]);
    share_pulled_reciprocals(out, seeds.at, (int)seeds.len);
    vec_free(&seeds);
}

void rev_func(ir_func *f, ir_func *out, rev_goal goal)
{
    const int errors = diag_error_count(f->module->diag);
    ir_value *unit = build_func(f, out, &goal);
    activity_free(&goal.act);
    if (goal.of_args && diag_error_count(f->module->diag) == errors)
        share_reciprocals(f, out, unit);
    pass_settle(out);
    pass_simplify(out);
}

ir_func *reverse_vjp(ir_func *f)
{
    if (f->ad.vjp)
        return f->ad.vjp;
    f->ad.vjp = rev_derived(f, IR_FUNC, "vjp");
    rev_func(f, f->ad.vjp, (rev_goal){.act = activity_compute(f, ACTIVITY_REVERSE)});
    return f->ad.vjp;
}

static void build_kernel(rev *rv, ir_func *f, ir_func *out)
{
    begin_build(rv, out);
    scope root = rev_scope(rv, NULL, SCOPE_ROOT, f->body, out->body, out->body);
    rv->old = rv->memory ? ARENA_ARRAY(f->module->mem, ir_value *, rv->memory->npos + 1) : NULL;
    rev_forward_sweep(&root, f->body);
    root.uses_stack = rv->snapshots.len > 0;
    rev_mark(&root);
    seed_results(&root, f);
    rev_region(&root, f->body);
    bool *wanted = ARENA_ARRAY(f->module->mem, bool, f->body->nparams + 1);
    for (int i = 0; i < f->nsig; i++)
        for (int k = 0; k < f->sig[i].rows * f->sig[i].cols; k++)
            wanted[f->sig[i].first + k] = f->sig[i].grad;
    finish_func(&root, f, wanted);
}

void rev_forget(ir_module *m, const ir_func *f)
{
    size_t n = 0;
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i] != f)
            m->funcs.at[n++] = m->funcs.at[i];
    m->funcs.len = n;
}

bool pass_reverse(ir_func *f)
{
    const int errors = diag_error_count(f->module->diag);
    if (!record_number_atomics(f))
        return false;
    activity act = activity_compute(f, ACTIVITY_REVERSE);
    rev rv = rev_begin(f, &act);
    if (rev_make_plan(&rv, true)) {
        if (f->module->plans)
            rev_print_plan(f->module->plans, &rv);
        f->ad.grad = rev_derived(f, IR_KERNEL_GRAD, "grad");
        build_kernel(&rv, f, f->ad.grad);
    }
    const bool ok = f->ad.grad && diag_error_count(f->module->diag) == errors;
    if (ok) {
        pass_settle(f->ad.grad);
        rev_check_reads(&rv, f->ad.grad);
        record_old_values(f, f->ad.grad);
    }
    rev_end(&rv);
    activity_free(&act);
    return ok;
}

/* ---- gradients that programs ask for ----
 * f.grad(x), and what they are made of, where memory counts as constant. To every pass they are functions of the
 * program; what they have instead of an adjoint made of their text is told in passes/derive/func_grad.c. */

/* They are functions of the program like others, with derivatives of their own. */
static void become_source(ir_func *f)
{
    f->ad.primal = NULL;
    f->nouts = 0; /* the results are others */
    ir_forget_origins(f);
}

/* Whether what is made of f asks no more of its callers than f does: before decisions were looked for, a launch may
 * have got to decide by its results. Derivatives that are made later do not, and get one of their own. */
static bool serves(const ir_func *made, const ir_func *f)
{
    bool ok = made != NULL;
    for (int i = 0; ok && i < made->body->nparams; i++)
        ok = !made->body->params[i]->exact || (i < f->body->nparams && f->body->params[i]->exact);
    return ok;
}

ir_func *reverse_args_vjp(ir_func *f, const ir_op *call)
{
    if (f->ad.custom_grad)
        return leaves_memory(f->ad.custom_grad, f, call->loc) ? f->ad.custom_grad : NULL;
    if (serves(f->ad.args_vjp, f))
        return f->ad.args_vjp;
    ir_func *out = f->ad.args_vjp = rev_derived(f, IR_FUNC, "pull");
    rev_func(f, out, (rev_goal){.act = activity_of_params(f, NULL), .of_args = true});
    become_source(out);
    return out;
}

static ir_func *gradient(ir_func *f, const bool *wanted)
{
    ir_func *out = rev_derived(f, IR_FUNC, "grad");
    rev_func(f, out, (rev_goal){.act = activity_of_params(f, wanted), .of_args = true, .unit = true});
    become_source(out);
    return out;
}

ir_func *gradient_by_args(ir_func *f)
{
    return gradient(f, NULL);
}

/* One that keeps values must stay a call. */
static void finish(ir_func *gradient, ir_func *of)
{
    effects e = effects_of_region(gradient->module, gradient->body);
    of->ad.gradient = gradient;
    gradient->no_inline = e.stack;
    gradient->ad.gradient_of = e.stack ? of : NULL;
    effects_free(&e);
}

ir_func *gradient_of_source(ir_func *f, const bool *wanted)
{
    if (f->ad.gradient)
        return f->ad.gradient;
    ir_func *simple = ir_clone_func(f, f->name); /* f itself waits: simplified, it would hide what it has lost */
    pass_simplify(simple);
    ir_func *g = gradient(simple, wanted);
    rev_forget(f->module, simple);
    finish(g, f);
    return g;
}

ir_func *gradient_along(ir_func *along)
{
    if (serves(along->ad.gradient, along))
        return along->ad.gradient;
    bool *wanted = ARENA_ARRAY(along->module->mem, bool, along->body->nparams + 1);
    int n = along->body->nparams, tangents = 0;
    for (int i = 0; i + tangents < n; i++) {
        wanted[i] = scalar_is_float(along->body->params[i]->type);
        tangents += wanted[i];
    }
    ir_func *g = gradient(along, wanted);
    finish(g, along);
    return g;
}
