/* Which floats must have the same bits wherever they are computed: in the launch, in its adjoint, its JVP, and in
 * whatever computes them again.
 *
 * A *decision* is a value that steers: what comes of a comparison, a cast to an integer, floor, the winner of a
 * minimum; subscripts, conditions and trip counts are made of these. An adjoint that decides otherwise than its launch
 * did reads other elements and takes other branches, however little the operands differ. So operands of decisions are
 * exact, and so is every float that they are computed from, back to memory, parameters and constants:
 *
 *     let c = i32(floor(x[p] / dx));      floor decides: x[p] / dx is exact
 *     for q in n { s += w[q]; }  tex[i32(s)]     the cast decides: s is exact, and with it the order of the sum
 *     phase[i] = x * freq;  if phase[i] > t { }  the comparison decides: so does what the kernel stored there
 *
 * This runs on the program as written, before anything is derived: copies inherit the mark (ir_map_set), so that both
 * sides have the same arithmetic. What marks mean is obeyed elsewhere: no pass rewrites exact values but by operations
 * that give the same bits (scale, reciprocal, promote, gather), no loop that carries one is vectorised as a sum (simd),
 * C compilers are kept from contracting and from calling vector variants (emit/expr.c). ir/verify.c holds that what an
 * exact value is computed from is exact.
 *
 * An adjoint reads from memory much of what its launch decided by, where the launch computed it. The copies of what
 * that was computed from decide nothing there: once adjoints are made, only what their own decisions are computed from
 * stays exact.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "util/ptrmap.h"

typedef struct unit unit;

typedef VEC(unit *) unit_list;
typedef VEC(ir_op *) op_list;

/* A function or kernel of the program. */
struct unit {
    ir_func *f;
    op_list calls, adjoints; /* in it */
    op_list callers;         /* of it, anywhere; of a kernel, what launches its adjoint */
    op_list writes;          /* of floats, into fields and local arrays */
    unit_list launched_by;   /* the kernels that run it, itself included */
    unit_list runs;          /* of a kernel: what it runs, itself included */
    bool *planes;            /* of a kernel, by field and plane: what is read there decides */
    bool *was; /* of an adjoint, by value: copied from what is exact in its primal. NULL: its marks stay */
};

typedef struct marker {
    ir_module *m;
    VEC(unit) units;
    ptrmap unit_of;       /* by function */
    op_list saves;        /* for reverse sweeps */
    VEC(ir_value *) work; /* exact, but what they are computed from has not been looked at */
} marker;

static unit *unit_of(const marker *k, const ir_func *f)
{
    return ptrmap_get(&k->unit_of, f);
}

static void need(marker *k, ir_value *v)
{
    if (v->exact || (!scalar_is_float(v->type) && v->type != SC_PTR))
        return;
    const bool *was = unit_of(k, v->region->func)->was;
    if (was && !was[v->id])
        return;
    v->exact = true;
    vec_push(&k->work, v);
}

/* ---- what an exact value is computed from ---- */

static bool same_plane(const ir_op *a, const ir_op *b)
{
    return ir_field_of(a) == ir_field_of(b) && ir_access_attr(a)->plane == ir_access_attr(b)->plane;
}

/* What a kernel, or a function that it calls, writes where one of them reads what decides. */
static void need_stored(marker *k, const ir_op *read)
{
    const unit *u = unit_of(k, read->region->func);
    for (size_t i = 0; i < u->launched_by.len; i++) {
        const unit *kernel = u->launched_by.at[i];
        bool *known = &kernel->planes[ir_storage_of_op(read)];
        if (*known)
            continue;
        *known = true;
        for (size_t r = 0; r < kernel->runs.len; r++)
            for (size_t w = 0; w < kernel->runs.at[r]->writes.len; w++) {
                ir_op *op = kernel->runs.at[r]->writes.at[w];
                if (!ir_field_of(op) || !same_plane(op, read))
                    continue;
                ir_access_attr(op)->exact = op->code == OP_ACCUM;
                need(k, op->args[ir_field_of(op)->ndim + 1]);
            }
    }
}

static void need_array(marker *k, const ir_value *array)
{
    const unit *u = unit_of(k, array->region->func);
    for (size_t w = 0; w < u->writes.len; w++)
        if (!ir_field_of(u->writes.at[w]) && u->writes.at[w]->args[0] == array)
            need(k, u->writes.at[w]->args[2]);
}

static void need_carried(marker *k, const ir_op *loop, int i)
{
    need(k, loop->args[ir_loop_first_init(loop) + i]);
    need(k, loop->res[i]);
    need(k, loop->regions[0]->params[ir_loop_first_param(loop) + i]);
    if (ir_loop_attr(loop)->cond)
        need(k, loop->regions[1]->params[i]);
    need(k, ir_yield_of(loop->regions[0])->args[i]);
}

static void need_param(marker *k, const ir_value *v)
{
    const ir_op *parent = v->region->parent;
    if (parent && parent->code == OP_LOOP) {
        need_carried(k, parent, v->region == parent->regions[0] ? v->index - ir_loop_first_param(parent) : v->index);
    } else if (!parent) {
        const unit *u = unit_of(k, v->region->func);
        for (size_t i = 0; i < u->callers.len; i++)
            need(k, u->callers.at[i]->args[v->index]);
    }
}

/* The JVPs of built-in functions call these for their values. */
static void need_result(marker *k, const ir_func *f, int i)
{
    if (!f->external)
        need(k, ir_yield_of(f->body)->args[i]);
    if (f->ad.custom_jvp && f->ad.custom_jvp->prelude)
        need(k, ir_yield_of(f->ad.custom_jvp->body)->args[i]);
}

static void need_saved(marker *k, const ir_op *read)
{
    for (size_t i = 0; i < k->saves.len; i++) {
        const ir_op *save = k->saves.at[i];
        const ir_attr_slot *a = ir_slot_attr(save), *b = ir_slot_attr(read);
        if (a->layout == b->layout && a->number == b->number)
            need(k, save->args[2]);
    }
}

static void need_operands(marker *k, const ir_value *v)
{
    const ir_op *op = v->def;
    switch (op->code) {
    case OP_LOAD:
    case OP_ATOMIC:
        need_stored(k, op);
        return;
    case OP_LOCAL:
        need_array(k, v);
        return;
    case OP_LLOAD:
        need(k, op->args[0]);
        return;
    case OP_STK_LOAD:
        need_saved(k, op);
        return;
    case OP_IF:
        for (int r = 0; r < 2; r++)
            need(k, ir_yield_of(op->regions[r])->args[v->index]);
        return;
    case OP_LOOP:
        if (v->index < ir_loop_ncarried(op))
            need_carried(k, op, v->index);
        return;
    case OP_TASK:
        need(k, op->args[ir_task_first_init(op) + v->index]);
        need(k, ir_yield_of(op->regions[0])->args[v->index]);
        return;
    case OP_CALL:
        need_result(k, ir_callee_of(op), v->index);
        return;
    default:
        if (op_is_pure_table(op->code))
            for (int i = 0; i < op->nargs; i++)
                need(k, op->args[i]);
    }
}

static void follow(marker *k)
{
    while (k->work.len) {
        const ir_value *v = k->work.at[--k->work.len];
        if (v->def)
            need_operands(k, v);
        else
            need_param(k, v);
    }
}

/* ---- what decides ---- */

static void decide_task(marker *k, const ir_op *task)
{
    const ir_op *y = ir_yield_of(task->regions[0]);
    for (int i = 0, at = 0; i < ir_task_attr(task)->nreductions;
         at += 1 + ir_task_attr(task)->reductions[i++].companions) {
        if (ir_task_attr(task)->reductions[i].kind == IR_RED_ADD)
            continue;
        need(k, task->args[ir_task_first_init(task) + at]);
        need(k, y->args[at]);
    }
}

static void decide(ir_op *op, void *ctx)
{
    marker *k = ctx;
    for (int i = 0; op_is_pure_table(op->code) && i < op->nargs; i++)
        if (op_decides(op, i))
            need(k, op->args[i]);
    if ((op->code == OP_MOD || op->code == OP_REM) && scalar_is_float(op->res[0]->type))
        need(k, op->res[0]); /* their derivatives find the quotient from it */
    if (op->code == OP_ATOMIC && ir_atomic_is_extreme(op))
        need(k, op->args[ir_field_of(op)->ndim + 1]);
    if (op->code == OP_TASK)
        decide_task(k, op);
    if (op->code != OP_CALL)
        return;
    /* What the program's own derivative, or a C function of the host, does with its arguments is not known here. */
    const ir_func *f = ir_callee_of(op);
    for (int i = 0; i < op->nargs && (f->external || f->ad.custom_grad || f->ad.custom_jvp); i++)
        need(k, op->args[i]);
}

/* The results of an export func are its gradient's results, too: who compares them finds what the function itself
 * gives. */
static void decide_results(marker *k, ir_func *f)
{
    const ir_op *y = ir_yield_of(f->body);
    if (!ir_is_export(f) || !f->ad.nrequests)
        return;
    effects e = effects_of_region(k->m, f->body);
    f->ad.results_separate = exact_results_are_costly(f) && !e.stack; /* a call would need memory of its own */
    effects_free(&e);
    for (int i = 0; i < y->nargs && !f->ad.results_separate; i++)
        need(k, y->args[i]);
    const unit *u = unit_of(k, f);
    for (size_t i = 0; i < u->writes.len && !f->ad.results_separate; i++) {
        ir_op *w = u->writes.at[i];
        if (!ir_field_of(w) || !ir_field_of(w)->out)
            continue;
        ir_access_attr(w)->exact = w->code == OP_ACCUM;
        need(k, w->args[ir_field_of(w)->ndim + 1]);
    }
}

/* ---- --debug: a launch tells how it decides, and its adjoint how it does ---- */

static bool steers(const ir_op *op)
{
    bool any = false;
    for (int i = 0; op_is_pure_table(op->code) && op->code != OP_POW && i < op->nargs; i++)
        any |= op_decides(op, i);
    return any;
}

static void tell(ir_op *op, void *ctx)
{
    ir_func *f = ctx;
    if (!steers(op))
        return;
    ir_builder b = {.func = f, .region = op->region, .before = op->next, .loc = op->loc};
    const ir_op *task = ir_task_of(op);
    const int n = task ? ir_task_attr(task)->ndim : 0;
    ir_value **args = ARENA_ARRAY(f->module->mem, ir_value *, n + 1);
    args[0] = op->res[0];
    for (int i = 0; i < n; i++)
        args[1 + i] = task->regions[0]->params[i];
    ir_place_attr(ir_insert(&b, OP_DECISION, n + 1, args, 0, NULL, 0))->number = (int64_t)f->module->places.len;
    vec_push(&f->module->places, op->loc);
}

/* ---- who runs what ---- */

static void list_op(ir_op *op, void *ctx)
{
    unit *u = ctx;
    if (op->code == OP_CALL)
        vec_push(&u->calls, op);
    if (op->code == OP_ADJOINT)
        vec_push(&u->adjoints, op);
    const bool field = op_writes_field(op->code);
    if ((field && scalar_is_float(ir_field_of(op)->elem)) || op->code == OP_LSTORE || op->code == OP_LACCUM)
        vec_push(&u->writes, op);
}

static void list_save(ir_op *op, void *ctx)
{
    marker *k = ctx;
    if (op->code == OP_STK_STORE)
        vec_push(&k->saves, op);
}

static void reach(const marker *k, unit *kernel, unit *u)
{
    if (u->launched_by.len && vec_last(&u->launched_by) == kernel)
        return;
    vec_push(&u->launched_by, kernel);
    vec_push(&kernel->runs, u);
    for (size_t i = 0; i < u->calls.len; i++)
        reach(k, kernel, unit_of(k, ir_callee_of(u->calls.at[i])));
}

static void list_units(marker *k)
{
    const ir_module *m = k->m;
    for (size_t i = 0; i < m->funcs.len; i++)
        vec_push(&k->units, ((unit){.f = m->funcs.at[i]}));
    for (size_t i = 0; i < k->units.len; i++) /* they do not move any more */
        ptrmap_set(&k->unit_of, k->units.at[i].f, &k->units.at[i]);
    for (size_t i = 0; i < k->units.len; i++)
        ir_walk(k->units.at[i].f->body, list_op, &k->units.at[i]);
    for (size_t i = 0; i < k->units.len; i++) {
        unit *u = &k->units.at[i];
        for (size_t c = 0; c < u->calls.len; c++)
            vec_push(&unit_of(k, ir_callee_of(u->calls.at[c]))->callers, u->calls.at[c]);
        /* What the function itself decides by is decided again where its gradient is differentiated. */
        for (size_t c = 0; c < u->calls.len; c++)
            if (ir_callee_of(u->calls.at[c])->ad.gradient_of)
                vec_push(&unit_of(k, ir_callee_of(u->calls.at[c])->ad.gradient_of)->callers, u->calls.at[c]);
        for (size_t c = 0; c < u->adjoints.len; c++)
            vec_push(&unit_of(k, ir_callee_of(u->adjoints.at[c]))->callers, u->adjoints.at[c]);
        if (u->f->kind == IR_FUNC)
            continue;
        u->planes = ARENA_ARRAY(m->mem, bool, ir_storage_count(m) + 1);
        reach(k, u, u);
    }
}

static void free_units(marker *k)
{
    for (size_t i = 0; i < k->units.len; i++) {
        unit *u = &k->units.at[i];
        vec_free(&u->calls);
        vec_free(&u->adjoints);
        vec_free(&u->callers);
        vec_free(&u->writes);
        vec_free(&u->launched_by);
        vec_free(&u->runs);
    }
    vec_free(&k->units);
    ptrmap_free(&k->unit_of);
    vec_free(&k->saves);
    vec_free(&k->work);
}

static void decide_program(ir_module *m)
{
    marker k = {.m = m};
    list_units(&k);
    for (size_t i = 0; i < k.units.len; i++) /* of gradients that functions and kernels ask for */
        ir_walk(k.units.at[i].f->body, list_save, &k);
    for (size_t i = 0; i < k.units.len; i++) {
        ir_walk(k.units.at[i].f->body, decide, &k);
        decide_results(&k, k.units.at[i].f);
    }
    m->decides = k.work.len > 0;
    follow(&k);
    m->decided = true;
    for (size_t i = 0; i < k.units.len && m->debug; i++) {
        ir_func *f = k.units.at[i].f;
        if (ir_is_kernel(f) && !f->ad.custom_of &&
            !f->ad.custom_grad) /* a derivative of the program's own decides by itself */
            ir_walk(f->body, tell, f);
    }
    free_units(&k);
}

/* ---- adjoints ---- */

static void forget(unit *u, ir_value *v)
{
    u->was[v->id] = v->exact;
    v->exact = false;
}

static void forget_op(ir_op *op, void *ctx)
{
    unit *u = ctx;
    for (int i = 0; i < op->nres; i++)
        forget(u, op->res[i]);
    if (op->code == OP_LLOAD) /* what leaves an array that is exact, for the host, bears no mark of its own */
        u->was[op->res[0]->id] |= u->was[op->args[0]->id];
    for (int r = 0; r < op->nregions; r++)
        for (int i = 0; i < op->regions[r]->nparams; i++)
            forget(u, op->regions[r]->params[i]);
}

static void forget_marks(unit *u)
{
    u->was = ARENA_ARRAY(u->f->module->mem, bool, u->f->next_value + 1);
    for (int i = 0; i < u->f->body->nparams; i++)
        forget(u, u->f->body->params[i]);
    ir_walk(u->f->body, forget_op, u);
}

/* What an adjoint stores into data has the bits that the launch stored there; so has what it stores into an array that
 * bears no mark. */
static void decide_again(ir_op *op, void *ctx)
{
    marker *k = ctx;
    decide(op, k);
    if (op->code == OP_LSTORE && !unit_of(k, op->region->func)->was[op->args[0]->id])
        need(k, op->args[2]);
    if (op_writes_field(op->code) && ir_access_attr(op)->plane == IR_DATA)
        need(k, op->args[ir_field_of(op)->ndim + 1]);
}

static void decide_results_again(marker *k, const ir_func *f)
{
    const ir_op *y = ir_yield_of(f->body);
    for (int i = 0; f->pure && !f->ad.primal->ad.results_separate && i < f->ad.primal->nresults; i++)
        need(k, y->args[i]);
}

/* Functions as written keep their marks, and what they ask of who calls them, and whom they call. */
static void need_calls(marker *k, const unit *u)
{
    for (size_t c = 0; c < u->calls.len; c++) {
        const ir_op *call = u->calls.at[c];
        for (int i = 0; i < call->nres; i++)
            if (call->res[i]->exact)
                need_result(k, ir_callee_of(call), i);
        for (int i = 0; i < call->nargs; i++)
            if (ir_callee_of(call)->body->params[i]->exact)
                need(k, call->args[i]);
    }
}

static bool loses_mark(const ir_op *op)
{
    const ir_func *callee = op->code == OP_CALL ? ir_callee_of(op) : NULL;
    for (int i = 0; callee && !ir_is_of_rule(callee) && i < op->nargs; i++)
        if (callee->body->params[i]->exact && !op->args[i]->exact && !ir_is_const(op->args[i]))
            return true;
    return false;
}

void decide_handed_on(ir_func *f)
{
    if (!f->module->decided || !ir_has(f->body, loses_mark))
        return;
    marker k = {.m = f->module};
    list_units(&k);
    for (size_t i = 0; i < k.units.len; i++)
        ir_walk(k.units.at[i].f->body, list_save, &k);
    const unit *u = unit_of(&k, f);
    if (u) /* else it is not in the module, and what is made of it is looked at in its turn */
        need_calls(&k, u);
    follow(&k);
    free_units(&k);
}

static void decide_adjoints(ir_module *m)
{
    marker k = {.m = m};
    list_units(&k);
    for (size_t i = 0; i < k.units.len; i++) {
        unit *u = &k.units.at[i];
        ir_walk(u->f->body, list_save, &k);
        if (is_adjoint(u->f) && !u->f->ad.custom_of)
            forget_marks(u);
    }
    for (size_t i = 0; i < k.units.len; i++) {
        unit *u = &k.units.at[i];
        need_calls(&k, u);
        if (!u->was)
            continue;
        ir_walk(u->f->body, decide_again, &k);
        decide_results_again(&k, u->f);
    }
    follow(&k);
    free_units(&k);
}

bool pass_decisions(ir_module *m)
{
    if (m->decided)
        decide_adjoints(m);
    else
        decide_program(m);
    return true;
}
