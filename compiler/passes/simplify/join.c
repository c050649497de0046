/* Branches of one condition become one branch.
 *
 *     y = if c { f(x) } else { g(x) };  p = h(q);  z = if c { f(x) * p } else { 0 }        becomes
 *
 *     p = h(q);  y, z = if c { t = f(x);  t, t * p } else { g(x), 0 }
 *
 * Two gradients of one function replay it twice. What does not stand in branches, common subexpressions share; here
 * what does comes to stand in one region, where they see it as well.
 *
 * A branch moves to the end of the first one that it can be moved to. What it needs of what is computed in between goes
 * in front of both, if that does not follow from the first; what stays in between may not meet what has moved.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

enum { FAR = 1000 }; /* operations between two branches */

typedef struct first_branch {
    uint32_t cond;
    ir_op *branch;
} first_branch;

typedef struct joining {
    ir_func *f;
    ir_map map;              /* results of what has moved */
    ir_op **branch;          /* by value id of a condition: the first branch of the region with it */
    VEC(first_branch) outer; /* what stood there before, outside of the regions that are walked */
    uint32_t nvalues;
    bool changed;
} joining;

enum { BY_BRANCH = 1, BY_FRONT = 2 }; /* in ir_op.pos, of the attempt that runs: who needs a result */

/* What moves does this to an element of a local array or of a field. */
typedef struct touched {
    const ir_value *array; /* NULL: a field */
    ir_storage at;
    unsigned what;
    bool front; /* it goes in front of both branches */
} touched;

/* To join a branch with one that stands before it. */
typedef struct attempt {
    joining *j;
    ir_op *from, *to; /* to: NULL, none is found yet */
    size_t nfront;    /* how many operations go in front of that */
    VEC(touched) memory;
    VEC(ir_op *) front; /* last first */
    VEC(ir_op *) needed;
    bool events; /* it asserts, prints or notes decisions */
    bool ok;     /* it can move up to here */
} attempt;

/* ---- memory ---- */

typedef void touch_fn(attempt *t, touched what);

static void each_touched(attempt *t, const ir_op *op, touch_fn *fn)
{
    op_touch fields[OP_TOUCHED_MAX];
    for (int n = op_touched(op, fields), i = 0; i < n; i++)
        fn(t, (touched){.at = fields[i].at, .what = fields[i].what});
    if (op_memory_of(op->code) == MEMORY_ARRAY && op->code != OP_LOCAL)
        fn(t, (touched){.array = op->args[0], .what = op_touches(op->code)});
    if (op->code != OP_CALL)
        return;
    const ir_module *m = t->j->f->module;
    effects e = effects_of_op(m, op);
    for (ir_storage s = 0; s < ir_storage_count(m); s++)
        if (e.at[s])
            fn(t, (touched){.at = s, .what = e.at[s]});
    effects_free(&e);
}

static void add_touched(attempt *t, touched what)
{
    vec_push(&t->memory, what);
}

static void add_touched_in_front(attempt *t, touched what)
{
    what.front = true;
    vec_push(&t->memory, what);
}

static bool meet(const touched *a, const touched *b)
{
    return a->array == b->array && (a->array || a->at == b->at) && ((a->what | b->what) & (OP_STORES | OP_ADDS));
}

/* What moves comes in front of it. */
static void stays(attempt *t, touched what)
{
    for (size_t i = 0; i < t->memory.len; i++)
        t->ok &= !meet(&t->memory.at[i], &what);
}

/* What goes in front of both branches does. */
static void stays_in_branch(attempt *t, touched what)
{
    for (size_t i = 0; i < t->memory.len; i++)
        t->ok &= !t->memory.at[i].front || !meet(&t->memory.at[i], &what);
}

/* ---- the branch ---- */

static void need(attempt *t, const ir_value *v, unsigned by)
{
    if (v->region != t->from->region || !v->def)
        return;
    v->def->pos |= by;
    vec_push(&t->needed, v->def);
}

/* An order that nobody can see in the memory they touch. */
static bool has_events(const attempt *t, const ir_op *op)
{
    if (op->code == OP_CALL && ir_op_has_effect(op)) {
        effects e = effects_of_op(t->j->f->module, op);
        const bool other = e.other;
        effects_free(&e);
        return other;
    }
    return op_effect_of(op->code) == OP_EFFECT_EVENT || op->code == OP_DECISION;
}

static void moves(ir_op *op, void *ctx)
{
    attempt *t = ctx;
    for (int i = 0; i < op->nargs; i++)
        need(t, op->args[i], BY_BRANCH);
    each_touched(t, op, add_touched);
    t->events |= has_events(t, op);
    const op_memory memory = op_memory_of(op->code);
    t->ok &= memory != MEMORY_STACK && memory != MEMORY_RECORD;
    switch (op->code) {
    case OP_TASK:
    case OP_ADJOINT:
    case OP_GRADIENT:
    case OP_ALONG:
    case OP_JACOBIAN:
    case OP_HESSIAN:
        t->ok = false;
        return;
    case OP_CALL: {
        effects e = effects_of_op(t->j->f->module, op);
        t->ok &= !e.stack;
        effects_free(&e);
        return;
    }
    default:
        return;
    }
}

/* ---- what stands before it ---- */

static void goes_in_front(attempt *t, ir_op *op)
{
    t->ok &= op_follows_from_operands(op->code) || op->code == OP_LOAD || op->code == OP_LLOAD;
    for (int i = 0; i < op->nargs; i++)
        need(t, op->args[i], BY_FRONT);
    each_touched(t, op, add_touched_in_front);
    vec_push(&t->front, op);
}

static void remains(ir_op *op, void *ctx)
{
    attempt *t = ctx;
    each_touched(t, op, stays);
    t->ok &= !(t->events && has_events(t, op));
    if (op->code == OP_ADJOINT || ir_is_func_derivative(op))
        t->ok &= t->memory.len == 0 && !t->events;
}

static void takes_in(ir_op *op, void *ctx)
{
    each_touched(ctx, op, stays_in_branch);
}

static bool can_take(attempt *t, ir_op *branch)
{
    for (int k = 0; k < 2; k++)
        ir_walk(branch->regions[k], takes_in, t);
    const bool can = t->ok && !(branch->pos & BY_FRONT);
    t->ok = true;
    return can;
}

/* Backwards, so that what a need leads to comes after the need. */
static void search_backwards(attempt *t, const ir_op *first)
{
    int left = FAR;
    for (ir_op *op = t->from->prev; op && t->ok && left-- > 0; op = op->prev) {
        if (op->code == OP_IF && op->args[0] == t->from->args[0] && can_take(t, op)) {
            t->to = op;
            t->nfront = t->front.len;
        }
        if (op == first)
            return;
        if (op->pos) {
            goes_in_front(t, op);
            continue;
        }
        remains(op, t);
        for (int k = 0; k < op->nregions; k++)
            ir_walk(op->regions[k], remains, t);
    }
}

/* ---- the change ---- */

typedef struct side {
    const ir_op *to, *yield;
} side;

/* On its side, what the earlier branch gives is what it yields there. */
static void see_earlier(ir_op *op, void *ctx)
{
    const side *s = ctx;
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i]->def == s->to)
            op->args[i] = s->yield->args[op->args[i]->index];
}

static void join(const attempt *t)
{
    ir_op *to = t->to, *from = t->from;
    for (size_t i = t->nfront; i-- > 0;)
        ir_move(t->front.at[i], to->region, to);
    for (int k = 0; k < 2; k++) {
        ir_region *r = from->regions[k];
        ir_op *yield = ir_yield_of(to->regions[k]);
        ir_walk(r, see_earlier, &(side){to, yield});
        while (r->first->code != OP_YIELD)
            ir_move(r->first, to->regions[k], yield);
        for (int i = 0; i < from->nres; i++)
            ir_add_arg(yield, r->first->args[i]);
    }
    for (int i = 0; i < from->nres; i++) {
        ir_value *v = ir_add_result(to, from->res[i]->type);
        v->name = from->res[i]->name;
        v->loc = from->res[i]->loc;
        ir_map_set(&t->j->map, from->res[i], v);
    }
    ir_remove(from);
    t->j->changed = true;
}

static bool try_join(joining *j, ir_op *from, const ir_op *first)
{
    attempt t = {.j = j, .from = from, .ok = true};
    for (int k = 0; k < 2; k++)
        ir_walk(from->regions[k], moves, &t);
    if (t.ok)
        search_backwards(&t, first);
    if (t.to)
        join(&t);
    for (size_t i = 0; i < t.needed.len; i++)
        t.needed.at[i]->pos = 0;
    vec_free(&t.memory);
    vec_free(&t.front);
    vec_free(&t.needed);
    return t.to != NULL;
}

/* ---- results ---- */

typedef struct pair {
    uint32_t then, other;
    int result;
} pair;

static int by_values(const void *x, const void *y)
{
    const pair *a = x, *b = y;
    if (a->then != b->then)
        return a->then < b->then ? -1 : 1;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    return a->result - b->result;
}

/* Results that are the same on both sides are one: the first. */
static void merge_results(joining *j, const ir_op *op)
{
    if (op->nres < 2)
        return;
    const ir_op *a = ir_yield_of(op->regions[0]), *b = ir_yield_of(op->regions[1]);
    pair *pairs = xmalloc(sizeof *pairs * (size_t)op->nres);
    for (int i = 0; i < op->nres; i++)
        pairs[i] = (pair){a->args[i]->id, b->args[i]->id, i};
    qsort(pairs, (size_t)op->nres, sizeof *pairs, by_values);
    const pair *first = pairs;
    for (const pair *p = pairs + 1; p < pairs + op->nres; p++) {
        if (p->then != first->then || p->other != first->other) {
            first = p;
            continue;
        }
        ir_map_set(&j->map, op->res[p->result], op->res[first->result]);
        j->changed = true;
    }
    free(pairs);
}

/* ---- the walk ---- */

static void visit_region(joining *j, ir_region *r);

static void visit_branch(joining *j, ir_op *op)
{
    const uint32_t cond = op->args[0]->id;
    merge_results(j, op);
    if (cond >= j->nvalues)
        return;
    ir_op *first = j->branch[cond];
    if (first && first->region == op->region) {
        try_join(j, op, first);
        return;
    }
    vec_push(&j->outer, ((first_branch){cond, first}));
    j->branch[cond] = op;
}

static void visit(joining *j, ir_op *op)
{
    for (int i = 0; i < op->nargs; i++)
        for (ir_value *v; (v = ir_map_get(&j->map, op->args[i]));)
            op->args[i] = v;
    for (int k = 0; k < op->nregions; k++)
        visit_region(j, op->regions[k]);
    if (op->code == OP_IF)
        visit_branch(j, op);
}

static void visit_region(joining *j, ir_region *r)
{
    const size_t outer = j->outer.len;
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        visit(j, op);
    }
    while (j->outer.len > outer) {
        const first_branch b = vec_pop(&j->outer);
        j->branch[b.cond] = b.branch;
    }
}

static void find_branch(ir_op *op, void *ctx)
{
    op->pos = 0;
    *(bool *)ctx |= op->code == OP_IF;
}

bool pass_join(ir_func *f)
{
    bool any = false;
    ir_walk(f->body, find_branch, &any);
    if (!any)
        return false;
    joining j = {.f = f, .map = ir_map_create(f), .nvalues = f->next_value};
    const size_t bytes = sizeof *j.branch * ((size_t)j.nvalues + 1);
    j.branch = xmalloc(bytes);
    memset(j.branch, 0, bytes);
    visit_region(&j, f->body);
    vec_free(&j.outer);
    ir_map_free(&j.map);
    free(j.branch);
    return j.changed;
}
