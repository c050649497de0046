/* Inlining by cost. Callees come before callers in the module, so one sweep works bottom-up.
 *
 * The pass adjoint-calls is here as well: a clone of a kernel's adjoint replaces each ADJOINT operation. Only kernels
 * without derivatives have this operation, so derivative passes need no case for it.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"
#include "util/ptrmap.h"

/* Operations; beyond, calls stay calls. Without loops a function of some calls is taken apart as well: a call keeps the
 * loop around it from vectors, and hides what two of them have in common. */
enum { SMALL = 60, SMALL_WITH_WRITES = 250, STRAIGHT = 400, STRAIGHT_COPIES = 800, CALLER_LIMIT = 4000, ROUNDS = 8 };

static void count_op(ir_op *op, void *ctx)
{
    int *n = ctx;
    if (op->code != OP_CONST && op->code != OP_YIELD)
        ++*n;
}

static int size_of(const ir_func *f)
{
    int n = 0;
    ir_walk(f->body, count_op, &n);
    return n;
}

static bool writes_memory(const ir_func *f)
{
    effects e = effects_of_region(f->module, f->body);
    bool any = e.other;
    for (size_t i = 0; i < ir_storage_count(f->module); i++)
        any |= (e.at[i] & (OP_STORES | OP_ADDS)) != 0;
    effects_free(&e);
    return any;
}

/* What overwrites a saved field must stand in the kernel, where the adjoint can take it back. */
static bool touches_saved(const ir_func *f)
{
    bool saved = false;
    for (size_t i = 0; i < f->module->fields.len; i++)
        saved |= f->module->fields.at[i]->saved || f->module->fields.at[i]->scratch;
    if (!saved)
        return false;
    effects e = effects_of_region(f->module, f->body);
    bool any = false;
    for (size_t i = 0; i < f->module->fields.len; i++)
        any |= (f->module->fields.at[i]->saved || f->module->fields.at[i]->scratch) &&
               e.at[ir_storage_of(f->module->fields.at[i], IR_DATA)];
    effects_free(&e);
    return any;
}

typedef struct clone_fix {
    const ir_op *call;
    const ir_func *callee;
} clone_fix;

static bool is_in_finite(const ir_op *call)
{
    for (int i = 0; i < call->nres; i++)
        if (call->res[i]->finite)
            return true;
    return false;
}

/* In primal code there is no origin; code of the prelude takes the place of the call, its numbers are finite if the
 * caller's are, and its names are nobody's. */
static void fix_clone(ir_op *op, void *ctx)
{
    const clone_fix *c = ctx;
    op->origin = c->call->origin;
    if (!c->callee->prelude)
        return;
    op->loc = c->call->loc;
    for (int i = 0; i < op->nres; i++) {
        op->res[i]->loc = op->loc;
        op->res[i]->name = NULL;
        op->res[i]->finite = scalar_is_float(op->res[i]->type) && is_in_finite(c->call);
    }
}

static void expand(ir_func *f, ir_op *call, ir_func *callee, ir_map *results)
{
    ir_map map = ir_map_create(callee);
    for (int i = 0; i < call->nargs; i++)
        ir_map_set(&map, callee->body->params[i], call->args[i]);
    ir_builder b = {.func = f, .region = call->region, .before = call, .loc = call->loc};
    ir_op *last = call->prev;
    ir_clone_region_ops(&b, callee->body, &map);
    clone_fix fix = {call, callee};
    for (ir_op *op = last ? last->next : call->region->first; op != call; op = op->next) {
        fix_clone(op, &fix);
        for (int k = 0; k < op->nregions; k++)
            ir_walk(op->regions[k], fix_clone, &fix);
    }
    const ir_op *y = ir_yield_of(callee->body);
    for (int i = 0; i < call->nres; i++) {
        ir_value *v = ir_map_get(&map, y->args[i]);
        if (!v->name)
            v->name = call->res[i]->name;
        ir_map_set(results, call->res[i], v);
    }
    ir_map_free(&map);
    ir_remove(call);
}

typedef VEC(ir_op *) call_list;

static void collect_call(ir_op *op, void *ctx)
{
    call_list *l = ctx;
    if (op->code == OP_CALL)
        vec_push(l, op);
}

typedef struct call_count {
    const ir_func *func;
    int n;
} call_count;

typedef VEC(call_count) count_list;

static int *count_of(count_list *counts, const ir_func *f)
{
    for (size_t i = 0; i < counts->len; i++)
        if (counts->at[i].func == f)
            return &counts->at[i].n;
    vec_push(counts, ((call_count){f, 0}));
    return &vec_last(counts).n;
}

/* In what the host launches, and in what that leads to. */
static void count_calls(const ir_module *m, count_list *counts)
{
    call_list calls = {0};
    ptrmap reached = {0};
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i]->kind != IR_FUNC || ir_is_of_rule(m->funcs.at[i]))
            ir_reach(&reached, m->funcs.at[i]);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ptrmap_get(&reached, m->funcs.at[i]))
            ir_walk(m->funcs.at[i]->body, collect_call, &calls);
    ptrmap_free(&reached);
    for (size_t i = 0; i < calls.len; i++)
        ++*count_of(counts, ir_callee_of(calls.at[i]));
    vec_free(&calls);
}

static void find_loop(ir_op *op, void *ctx)
{
    *(bool *)ctx |= op->code == OP_LOOP || op->code == OP_CALL;
}

/* No loops, and no calls, in which there might be some. */
static bool is_straight(const ir_func *f)
{
    bool loops = false;
    ir_walk(f->body, find_loop, &loops);
    return !loops;
}

/* A function called once costs nothing to inline; a small one less than its call, but a chain of functions that call
 * each other twice must not double. */
static bool is_worth_it(const ir_func *callee, int size, int calls)
{
    if (calls == 1 || size <= SMALL)
        return true;
    if (size <= SMALL_WITH_WRITES && writes_memory(callee))
        return true;
    return size <= STRAIGHT && size * calls <= STRAIGHT_COPIES && is_straight(callee);
}

/* Whether a call is left because f is too large. */
static bool inline_into(ir_func *f, count_list *counts)
{
    call_list calls = {0};
    ir_walk(f->body, collect_call, &calls);
    int size = calls.len ? size_of(f) : 0;
    bool expanded = false, full = false;
    ir_map results = ir_map_create(f);
    for (size_t k = 0; k < calls.len; k++) {
        const ir_func *callee = ir_callee_of(calls.at[k]);
        const int n = size_of(callee);
        const bool fits = size + n <= CALLER_LIMIT, worth = fits && is_worth_it(callee, n, *count_of(counts, callee));
        /* The adjoint of a no_grad kernel takes the gradients of what is stored over, in functions with derivatives of
         * their own as well: it has no calls but of what stores nothing. */
        const bool must = f->ad.no_grad && !callee->external && !callee->ad.gradient_of;
        if (callee == f || (!must && (callee->no_inline || !(worth || touches_saved(callee))))) {
            full |= callee != f && !callee->no_inline && !fits && is_worth_it(callee, n, *count_of(counts, callee));
            continue;
        }
        expand(f, calls.at[k], ir_callee_of(calls.at[k]), &results);
        size += n;
        expanded = true;
    }
    if (expanded)
        ir_rewrite_uses(f, &results);
    ir_map_free(&results);
    vec_free(&calls);
    if (f->ad.no_grad && expanded)
        inline_into(f, counts);
    return full && expanded;
}

/* What is expanded with constant arguments gets smaller, and so does what two calls have in common: there may be room
 * for more, and callers see what is left. */
void pass_inline(ir_module *m)
{
    count_list counts = {0};
    count_calls(m, &counts);
    for (size_t i = 0; i < m->funcs.len; i++) {
        ir_func *f = m->funcs.at[i];
        for (int round = 0; round < ROUNDS && inline_into(f, &counts); round++)
            pass_simplify(f);
        if (f->kind == IR_FUNC && size_of(f) > SMALL)
            pass_simplify(f);
    }
    vec_free(&counts);
}

void inline_calls_in(ir_func *f)
{
    count_list counts = {0};
    count_calls(f->module, &counts);
    inline_into(f, &counts);
    vec_free(&counts);
}

/* ---- adjoints that kernels launch ---- */

static void collect_adjoints(ir_op *op, void *ctx)
{
    call_list *l = ctx;
    if (op->code == OP_ADJOINT)
        vec_push(l, op);
}

/* A field that the adjoint wants as it was before the launch. Copies are kept for launches by the host only. */
static const ir_field *wanted_before(const ir_func *k)
{
    for (int i = 0; i < k->launch.nparts; i++)
        if (k->launch.parts[i].what & IR_PART_BEFORE_WANTED)
            return k->launch.parts[i].field;
    return NULL;
}

static bool refuse_adjoint(const ir_func *f, const ir_op *call)
{
    const ir_func *k = ir_callee_of(call);
    arena *mem = f->module->mem;
    const char *why = NULL;
    if (k->ad.no_grad_why)
        why = arena_printf(mem, "does not exist: %s", k->ad.no_grad_why);
    else if (wanted_before(k))
        why = arena_printf(mem, "needs the saved field '%s' as it was before '%s'", wanted_before(k)->name, k->name);
    if (!why)
        return false;
    diag(f->module->diag, span_at(call->loc), DIAG_KERNEL_CALL, f->name, arena_printf(mem, "%s.grad", k->name), why);
    diag_note(f->module->diag, span_at(k->loc), "'%s' is declared here", k->name);
    if (!k->ad.no_grad_why)
        diag_note(
            f->module->diag, span_at(call->loc),
            "copies are kept for what the host launches: let it launch '%s' and its adjoint, or write to another field",
            k->name);
    return true;
}

bool pass_adjoint_calls(ir_func *f)
{
    call_list calls = {0};
    ir_walk(f->body, collect_adjoints, &calls);
    bool ok = true;
    ir_map none = ir_map_create(f);
    for (size_t i = 0; i < calls.len; i++) {
        ir_func *grad = ir_callee_of(calls.at[i])->ad.grad;
        if (refuse_adjoint(f, calls.at[i]))
            ok = false;
        else if (grad)
            expand(f, calls.at[i], grad, &none);
        else
            ir_remove(calls.at[i]); /* marked no_grad, and there is nothing to take */
    }
    ir_map_free(&none);
    if (calls.len && ok)
        pass_simplify(f);
    vec_free(&calls);
    return ok;
}
