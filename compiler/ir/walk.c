/* Walking, rewriting, and cloning. */
#include <assert.h>
#include <string.h>

#include "ir/ops.h"
#include "util/ptrmap.h"

void ir_walk(ir_region *r, void (*fn)(ir_op *op, void *ctx), void *ctx)
{
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        fn(op, ctx);
        for (int i = 0; op->region && i < op->nregions; i++)
            ir_walk(op->regions[i], fn, ctx);
    }
}

bool ir_has(const ir_region *r, bool (*is)(const ir_op *op))
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (is(op))
            return true;
        for (int i = 0; i < op->nregions; i++)
            if (ir_has(op->regions[i], is))
                return true;
    }
    return false;
}

static void reach_op(ir_op *op, void *ctx)
{
    if (op->code == OP_CALL || ir_is_func_derivative(op))
        ir_reach(ctx, ir_callee_of(op));
}

void ir_reach(ptrmap *reached, ir_func *f)
{
    if (ptrmap_get(reached, f))
        return;
    ptrmap_set(reached, f, f);
    ir_walk(f->body, reach_op, reached);
}

ir_op *ir_root_of(const ir_op *op)
{
    ir_op *o = op->origin;
    while (o && o->origin)
        o = o->origin;
    return o;
}

ir_value *ir_stored_value(const ir_op *op)
{
    return op->args[op->nargs - 1];
}

static void forget_origin(ir_op *op, void *ctx)
{
    (void)ctx;
    op->origin = op->twin = NULL;
}

void ir_forget_origins(ir_func *f)
{
    ir_walk(f->body, forget_origin, NULL);
}

static void replace_uses(ir_region *r, const ir_value *from, ir_value *to)
{
    for (ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nargs; i++)
            if (op->args[i] == from)
                op->args[i] = to;
        for (int i = 0; i < op->nregions; i++)
            replace_uses(op->regions[i], from, to);
    }
}

void ir_replace_uses(ir_region *r, ir_value *from, ir_value *to)
{
    to->exact |= from->exact;
    replace_uses(r, from, to);
}

static ir_value *resolve(ir_map *map, ir_value *v)
{
    ir_value *to = ir_map_get(map, v);
    if (!to)
        return v;
    for (ir_value *next; (next = ir_map_get(map, to)) && next != to;)
        to = next;
    for (ir_value *next; (next = ir_map_get(map, v)) && next != to; v = next) /* shorten the chain for later uses */
        ir_map_set(map, v, to);
    return to;
}

static void rewrite_region(ir_region *r, ir_map *map)
{
    for (ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nargs; i++)
            op->args[i] = resolve(map, op->args[i]);
        for (int i = 0; i < op->nregions; i++)
            rewrite_region(op->regions[i], map);
    }
}

void ir_rewrite_uses(ir_func *f, ir_map *map)
{
    rewrite_region(f->body, map);
}

static void count_region(const ir_region *r, uint32_t *uses)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nargs; i++)
            uses[op->args[i]->id]++;
        for (int i = 0; i < op->nregions; i++)
            count_region(op->regions[i], uses);
    }
}

uint32_t *ir_count_uses(const ir_func *f)
{
    uint32_t *uses = xmalloc(sizeof *uses * (size_t)(f->next_value + 1));
    memset(uses, 0, sizeof *uses * (size_t)(f->next_value + 1));
    count_region(f->body, uses);
    return uses;
}

static void renumber_region(ir_region *r, uint32_t *next)
{
    for (int i = 0; i < r->nparams; i++)
        r->params[i]->id = (*next)++;
    for (ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nregions; i++)
            renumber_region(op->regions[i], next);
        for (int i = 0; i < op->nres; i++)
            op->res[i]->id = (*next)++;
    }
}

void ir_renumber(ir_func *f)
{
    f->next_value = 0;
    renumber_region(f->body, &f->next_value);
}

bool ir_region_is_ancestor(const ir_region *outer, const ir_region *inner)
{
    while (inner != outer && inner && inner->parent)
        inner = inner->parent->region;
    return inner == outer;
}

bool ir_is_visible(const ir_value *v, const ir_region *r)
{
    return ir_region_is_ancestor(v->region, r);
}

/* ---- effects ---- */

bool ir_op_is_pure(const ir_op *op)
{
    const op_effect e = op_effect_of(op->code);
    return e == OP_EFFECT_PURE || e == OP_EFFECT_READ;
}

/* A search through regions and callees. Callees already found to have no such operation: a chain of functions that call
 * each other twice would otherwise cost 2^depth. */
typedef struct search {
    bool (*found)(const ir_op *op);
    bool (*follows)(const ir_op *op);
    VEC(const ir_func *) without;
} search;

static bool region_has(const ir_region *r, search *s);

static bool func_has(const ir_func *f, search *s)
{
    for (size_t i = 0; i < s->without.len; i++)
        if (s->without.at[i] == f)
            return false;
    if (region_has(f->body, s))
        return true;
    vec_push(&s->without, f);
    return false;
}

static bool op_has(const ir_op *op, search *s)
{
    if (s->follows(op))
        return func_has(ir_callee_of(op), s);
    bool has = s->found(op);
    for (int i = 0; i < op->nregions && !has; i++)
        has = region_has(op->regions[i], s);
    return has;
}

static bool region_has(const ir_region *r, search *s)
{
    for (const ir_op *op = r->first; op; op = op->next)
        if (op_has(op, s))
            return true;
    return false;
}

static bool search_op(const ir_op *op, bool (*found)(const ir_op *op), bool (*follows)(const ir_op *op))
{
    search s = {.found = found, .follows = follows};
    bool has = op_has(op, &s);
    vec_free(&s.without);
    return has;
}

bool ir_is_func_derivative(const ir_op *op)
{
    return op->code == OP_GRADIENT || op->code == OP_ALONG || op->code == OP_JACOBIAN || op->code == OP_HESSIAN;
}

static bool is_call(const ir_op *op)
{
    return op->code == OP_CALL;
}

static bool is_effect(const ir_op *op)
{
    return op->code != OP_YIELD &&
           (op_effect_of(op->code) == OP_EFFECT_WRITE || op_effect_of(op->code) == OP_EFFECT_EVENT);
}

bool ir_op_has_effect(const ir_op *op)
{
    return search_op(op, is_effect, is_call);
}

static bool runs_callee(const ir_op *op)
{
    return op->code == OP_CALL || ir_is_func_derivative(op);
}

static bool is_read(const ir_op *op)
{
    return !op_is_pure_table(op->code) && op->nregions == 0 && op->code != OP_CONST && op->code != OP_YIELD;
}

bool ir_op_reads_memory(const ir_op *op)
{
    return search_op(op, is_read, runs_callee);
}
