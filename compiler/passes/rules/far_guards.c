/* Guards that are too far from what they exclude.
 *
 *     for i in x { s[i] = sqrt(x[i]); }
 *     for i in x { if x[i] > 0 { r += s[i]; } }
 *
 * Reverse mode pulls back under a branch's condition what that branch alone uses, as far as values go. Memory, calls of
 * functions and iterations hand on no condition: a gradient of 0 comes back to the root, whose derivative at 0 is
 * infinite. An operation with a pole is followed forwards, through these. There is a warning if all ways to memory
 * that nobody reads lead through guards, of which one stands behind such a border.
 *
 * A guard is a condition that compares a value made of what the operation is made of with a constant.
 */
#include "ir/ops.h"
#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"
#include "passes/rules/rules.h"
#include "passes/simplify/simplify.h"

#include <string.h>

typedef struct use {
    const ir_op *op;
    int arg;
} use;

/* The uses of a function's values: those of value id are at[first[id]] to at[first[id + 1]]. */
typedef struct uses {
    const ir_func *f;
    use *at;
    uint32_t *first;
    struct uses *next;
} uses;

typedef VEC(const ir_value *) value_list;

typedef struct search {
    ir_module *m;
    arena *mem;
    uses *known;
    value_list *loads;       /* by field: what the program loads of it */
    activity act;            /* of the function that is looked at; varied NULL: not computed yet */
    VEC(const void *) roots; /* fields, arrays, parameters and results that what it computes depends on, or goes to */
    value_list seen;
    VEC(src_loc) told;  /* places: loops that are written out have several operations of one */
    const ir_op *guard; /* behind a border */
    bool open;          /* there is a way without a guard */
} search;

/* ---- uses ---- */

static void count_uses(ir_op *op, void *ctx)
{
    uses *u = ctx;
    for (int i = 0; i < op->nargs; i++)
        u->first[op->args[i]->id]++;
}

static void note_uses(ir_op *op, void *ctx)
{
    uses *u = ctx;
    for (int i = 0; i < op->nargs; i++)
        u->at[--u->first[op->args[i]->id]] = (use){op, i};
}

static const uses *uses_of(search *s, const ir_func *f)
{
    for (uses *u = s->known; u; u = u->next)
        if (u->f == f)
            return u;
    const size_t n = f->next_value;
    uses *u = ARENA_NEW(s->mem, uses);
    *u = (uses){.f = f, .first = ARENA_ARRAY(s->mem, uint32_t, n + 2), .next = s->known};
    s->known = u;
    ir_walk(f->body, count_uses, u);
    for (size_t i = 1; i <= n; i++)
        u->first[i] += u->first[i - 1];
    u->at = ARENA_ARRAY(s->mem, use, u->first[n] + 1);
    ir_walk(f->body, note_uses, u);
    return u;
}

/* ---- what a condition is made of ---- */

static bool is_root(const search *s, const void *p)
{
    for (size_t i = 0; i < s->roots.len; i++)
        if (s->roots.at[i] == p)
            return true;
    return false;
}

static void add_root(search *s, const void *p)
{
    if (!is_root(s, p))
        vec_push(&s->roots, p);
}

/* What a value is read from, or comes from; NULL: it is computed. */
static const void *origin(const ir_value *v)
{
    const ir_op *op = v->def;
    if (op && op->code == OP_LOAD)
        return ir_field_of(op);
    if (op && op->code == OP_LLOAD)
        return op->args[0];
    return !op || !op_follows_from_operands(op->code) ? v : NULL;
}

typedef enum kind { PASSIVE, RELATED, OTHER } kind; /* made of constants, of roots, of something else */

static kind kind_of(const search *s, const ir_value *v, int depth)
{
    const void *from = origin(v);
    if (from)
        return is_root(s, from) ? RELATED : OTHER;
    kind k = PASSIVE;
    for (int i = 0; i < v->def->nargs && k != OTHER; i++) {
        const kind of = depth ? kind_of(s, v->def->args[i], depth - 1) : OTHER;
        k = of > k ? of : k;
    }
    return k;
}

enum { DEPTH = 12 };

/* Whether all that v is made of are components of one element, as of the square of a norm. */
static bool is_of_one(const ir_value *v, const ir_value **first, int depth)
{
    const ir_op *op = v->def;
    if (!origin(v)) {
        bool one = depth > 0;
        for (int i = 0; i < op->nargs && one; i++)
            one = is_of_one(op->args[i], first, depth - 1);
        return one;
    }
    const ir_value *f = *first ? *first : v;
    *first = f;
    bool one = origin(f) == origin(v) && (f == v || (op && op->code == OP_LOAD));
    for (int i = 0; one && f != v && i < ir_field_of(op)->ndim; i++)
        one = f->def->args[i] == op->args[i];
    return one;
}

static bool is_kept_off(const search *s, const ir_value *v, const ir_value *bound)
{
    const ir_value *first = NULL;
    return kind_of(s, v, DEPTH) == RELATED && kind_of(s, bound, DEPTH) == PASSIVE && is_of_one(v, &first, DEPTH);
}

static bool excludes(const search *s, const ir_value *cond, int depth)
{
    const ir_op *op = cond->def;
    if (!op || depth == 0)
        return false;
    switch (op->code) {
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
        return scalar_is_float(op->args[0]->type) &&
               (is_kept_off(s, op->args[0], op->args[1]) || is_kept_off(s, op->args[1], op->args[0]));
    case OP_IF:
        return excludes(s, op->args[0], depth - 1) ||
               excludes(s, ir_yield_of(op->regions[0])->args[cond->index], depth - 1) ||
               excludes(s, ir_yield_of(op->regions[1])->args[cond->index], depth - 1);
    case OP_AND:
    case OP_OR:
    case OP_NOT:
        for (int i = 0; i < op->nargs; i++)
            if (excludes(s, op->args[i], depth - 1))
                return true;
        return false;
    default:
        return false;
    }
}

/* The guard around op within the region of v. border: iterations stand in between, and the condition is theirs. */
static const ir_op *guard_of(const search *s, const ir_op *op, const ir_region *around, bool *border)
{
    const ir_op *guard = NULL;
    *border = false;
    for (const ir_region *r = op->region; r && r != around && r->parent; r = r->parent->region) {
        const ir_op *p = r->parent;
        if (!guard && p->code == OP_IF && excludes(s, p->args[0], DEPTH))
            guard = p;
        if (guard && p != guard && p->code != OP_IF && !ir_is_visible(guard->args[0], p->region))
            *border = true;
    }
    return guard;
}

/* ---- following values ---- */

static void follow(search *s, const ir_value *v, bool crossed);

static void note_load(ir_op *op, void *ctx)
{
    const search *s = ctx;
    if (op->code == OP_LOAD && ir_access_attr(op)->plane == IR_DATA)
        vec_push(&s->loads[ir_field_of(op)->index], op->res[0]);
}

static void note_loads(search *s)
{
    s->loads = ARENA_ARRAY(s->mem, value_list, s->m->fields.len + 1);
    for (size_t i = 0; i < s->m->funcs.len; i++)
        if (!s->m->funcs.at[i]->ad.primal)
            ir_walk(s->m->funcs.at[i]->body, note_load, s);
}

/* What is read of the memory is followed; nobody reads it: it is an output. */
static void follow_reads(search *s, const void *memory, const value_list *reads)
{
    vec_push(&s->roots, memory);
    s->open |= reads->len == 0;
    for (size_t i = 0; i < reads->len; i++)
        vec_push(&s->seen, reads->at[i]);
    for (size_t i = 0; i < reads->len && !s->open; i++)
        follow(s, reads->at[i], true);
}

static void follow_field(search *s, const ir_field *f)
{
    if (!is_root(s, f))
        follow_reads(s, f, &s->loads[f->index]);
}

static void follow_array(search *s, const ir_value *array)
{
    if (is_root(s, array))
        return;
    const uses *u = uses_of(s, array->region->func);
    value_list reads = {0};
    for (uint32_t i = u->first[array->id + 1]; i-- > u->first[array->id];) /* they are listed from the last one on */
        if (u->at[i].op->code == OP_LLOAD)
            vec_push(&reads, u->at[i].op->res[0]);
    follow_reads(s, array, &reads);
    vec_free(&reads);
}

static void follow_once(search *s, const ir_value *v, bool crossed)
{
    for (size_t i = 0; i < s->seen.len; i++)
        if (s->seen.at[i] == v)
            return;
    vec_push(&s->seen, v);
    follow(s, v, crossed);
}

static void follow_result(search *s, const ir_value *v, bool crossed)
{
    add_root(s, v);
    follow_once(s, v, crossed);
}

static void follow_call(search *s, const ir_op *call, int arg)
{
    const ir_func *f = ir_callee_of(call);
    if (f->external || f->ad.custom_grad || f->ad.gradient_of) {
        s->open = true;
        return;
    }
    for (int i = 0; i < call->nargs; i++)
        if (i == arg || kind_of(s, call->args[i], DEPTH) == RELATED)
            add_root(s, f->body->params[i]);
    follow_once(s, f->body->params[arg], true);
}

static void follow_yield(search *s, const ir_op *yield, int k, bool crossed)
{
    const ir_op *p = yield->region->parent;
    if (!p) {
        s->open = true;
        return;
    }
    if (p->code == OP_LOOP && yield->region != p->regions[0])
        return;
    if (p->code == OP_LOOP)
        follow_result(s, p->regions[0]->params[ir_loop_first_param(p) + k], crossed);
    follow_result(s, p->res[k], crossed);
}

/* Whether what op makes of its operand k is that alone, scaled or shifted: a sum with others is used for their sake. */
static bool is_only_active(const search *s, const ir_op *op, int k)
{
    const bool factor = op->code == OP_MUL || op->code == OP_DIV;
    for (int i = 0; i < op->nargs; i++)
        if (i != k && kind_of(s, op->args[i], DEPTH) > (factor ? RELATED : PASSIVE))
            return false;
    return true;
}

static void follow_use(search *s, const ir_op *op, int k, bool crossed)
{
    switch (op->code) {
    case OP_STORE:
    case OP_ACCUM:
    case OP_ATOMIC:
        if (k > ir_field_of(op)->ndim && ir_field_of(op)->grad && ir_access_attr(op)->plane == IR_DATA)
            follow_field(s, ir_field_of(op));
        return;
    case OP_LSTORE:
    case OP_LACCUM:
        if (k == 2)
            follow_array(s, op->args[0]);
        return;
    case OP_CALL:
        follow_call(s, op, k);
        return;
    case OP_YIELD:
        follow_yield(s, op, k, crossed);
        return;
    case OP_LOOP:
        if (k >= ir_loop_first_init(op)) {
            follow_result(s, op->regions[0]->params[ir_loop_first_param(op) + k - ir_loop_first_init(op)], crossed);
            follow_result(s, op->res[k - ir_loop_first_init(op)], crossed);
        }
        return;
    case OP_TASK:
        if (k >= ir_task_first_init(op))
            follow_result(s, op->res[k - ir_task_first_init(op)], crossed);
        return;
    default:
        if (!op_is_pure_table(op->code) || !scalar_is_float(op->res[0]->type) || op_contributes_nothing(op, k))
            return;
        s->open |= !is_only_active(s, op, k);
        follow_once(s, op->res[0], crossed);
    }
}

static void follow(search *s, const ir_value *v, bool crossed)
{
    const uses *u = uses_of(s, v->region->func);
    for (uint32_t i = u->first[v->id]; i < u->first[v->id + 1] && !s->open; i++) {
        const use at = u->at[i];
        bool border;
        const ir_op *guard = guard_of(s, at.op, crossed ? NULL : v->region, &border);
        if (!guard) {
            follow_use(s, at.op, at.arg, crossed);
            continue;
        }
        if (crossed || border)
            s->guard = guard;
    }
}

/* ---- operations with poles ---- */

static void check_pole(ir_op *op, void *ctx)
{
    search *s = ctx;
    if (op->code == OP_CALL || !op_is_pure_table(op->code) || !has_poles(op))
        return;
    if (!s->act.varied)
        s->act = activity_compute(op->region->func, ACTIVITY_REVERSE);
    if (!activity_has(&s->act, op->res[0]))
        return;
    bool border;
    s->guard = NULL;
    s->open = false;
    vec_clear(&s->roots);
    vec_clear(&s->seen);
    const ir_value *at = op->args[op->code == OP_DIV ? 1 : 0];
    if (at->def && (at->def->code == OP_MAX || at->def->code == OP_MIN))
        return; /* kept off */
    VEC(const ir_value *) todo = {0};
    vec_push(&todo, at);
    for (size_t i = 0; i < todo.len && i < 64; i++) {
        const ir_value *v = todo.at[i];
        if (origin(v))
            add_root(s, origin(v));
        for (int k = 0; !origin(v) && k < v->def->nargs; k++)
            vec_push(&todo, v->def->args[k]);
    }
    vec_free(&todo);
    if (!s->roots.len || guard_of(s, op, NULL, &border))
        return;
    follow_once(s, op->res[0], false);
    bool tell = s->guard && !s->open;
    for (size_t i = 0; i < s->told.len && tell; i++)
        tell = memcmp(&s->told.at[i], &op->loc, sizeof op->loc) != 0;
    if (!tell)
        return;
    vec_push(&s->told, op->loc);
    const char *name = op->code == OP_DIV ? "/" : op_name(op->code);
    diag(s->m->diag, span_at(op->loc), DIAG_FAR_GUARD, name);
    diag_note(s->m->diag, span_at(s->guard->loc), "this condition keeps its value from use");
    diag_note(s->m->diag, span_at(op->loc), "compute it within that branch, or keep its operand off the pole: '%s'",
              op->code == OP_DIV ? "a / max(b, 1e-6)" : arena_printf(s->mem, "%s(max(a, 1e-6))", name));
}

bool pass_far_guards(ir_module *m)
{
    search s = {.m = m, .mem = m->mem};
    const size_t n = m->funcs.len;
    note_loads(&s);
    for (size_t i = 0; i < n; i++) {
        ir_func *f = m->funcs.at[i];
        const bool kernel = f->kind == IR_KERNEL;
        if (f->ad.primal || f == m->extents || f->ad.custom_grad || f->ad.no_grad || f->ad.no_grad_why ||
            (kernel && !(ir_derives(f) & (IR_DERIVE_GRAD | IR_DERIVE_HVP | IR_DERIVE_HESS))) ||
            (!kernel && f->kind != IR_FUNC))
            continue;
        ir_walk(f->body, check_pole, &s);
        if (s.act.varied)
            activity_free(&s.act);
        s.act.varied = NULL;
    }
    for (size_t i = 0; i < m->fields.len; i++)
        vec_free(&s.loads[i]);
    vec_free(&s.roots);
    vec_free(&s.seen);
    vec_free(&s.told);
    return true;
}
