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
    if (op->code == OP_CALL || op->code == OP_GRADIENT || op->code == OP_ALONG)
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
    bool (*follows)(ir_opcode code);
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
    if (s->follows(op->code))
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

static bool search_op(const ir_op *op, bool (*found)(const ir_op *op), bool (*follows)(ir_opcode code))
{
    search s = {.found = found, .follows = follows};
    bool has = op_has(op, &s);
    vec_free(&s.without);
    return has;
}

static bool is_call(ir_opcode code)
{
    return code == OP_CALL;
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

static bool runs_callee(ir_opcode code)
{
    return code == OP_CALL || code == OP_GRADIENT || code == OP_ALONG;
}

static bool is_read(const ir_op *op)
{
    return !op_is_pure_table(op->code) && op->nregions == 0 && op->code != OP_CONST && op->code != OP_YIELD;
}

bool ir_op_reads_memory(const ir_op *op)
{
    return search_op(op, is_read, runs_callee);
}

/* ---- maps and cloning ---- */

ir_map ir_map_create(const ir_func *from)
{
    ir_map m = {.n = from->next_value};
    m.at = xmalloc(sizeof *m.at * ((size_t)m.n + 1));
    memset(m.at, 0, sizeof *m.at * ((size_t)m.n + 1));
    return m;
}

void ir_map_set(ir_map *m, const ir_value *from, ir_value *to)
{
    to->exact |= from->exact;
    ir_map_set_other(m, from, to);
}

void ir_map_set_other(ir_map *m, const ir_value *from, ir_value *to)
{
    if (from->id >= m->n) { /* values made since the map was created */
        uint32_t n = from->id + 1 + m->n;
        m->at = xrealloc(m->at, sizeof *m->at * ((size_t)n + 1));
        memset(m->at + m->n, 0, sizeof *m->at * ((size_t)(n - m->n) + 1));
        m->n = n;
    }
    m->at[from->id] = to;
}

ir_value *ir_map_get(const ir_map *m, const ir_value *from)
{
    return from->id < m->n ? m->at[from->id] : NULL;
}

void ir_map_free(ir_map *m)
{
    free(m->at);
    m->at = NULL;
    m->n = 0;
}

static void clone_ops(ir_builder *b, const ir_region *r, ir_map *map, bool with_yield)
{
    const ir_op *last = r->last; /* the clone may grow the region that is read */
    for (const ir_op *op = r->first; op; op = op->next) {
        if (with_yield || op->code != OP_YIELD)
            ir_clone_op(b, op, map);
        if (op == last)
            break;
    }
}

ir_op *ir_clone_op(ir_builder *b, const ir_op *op, ir_map *map)
{
    ir_op *c = ir_insert(b, op->code, op->nargs, op->args, 0, NULL, op->nregions);
    for (int i = 0; i < c->nargs; i++) {
        ir_value *v = ir_map_get(map, c->args[i]);
        if (v)
            c->args[i] = v;
    }
    c->loc = op->loc;
    ir_copy_attr(c, op);
    c->origin = op->origin ? op->origin : (ir_op *)op;
    for (int i = 0; i < op->nregions; i++) {
        const ir_region *from = op->regions[i];
        ir_region *to = c->regions[i];
        for (int k = 0; k < from->nparams; k++) {
            ir_map_set(map, from->params[k], ir_region_param_like(to, from->params[k]));
        }
        ir_builder inner = {.func = b->func, .region = to, .loc = b->loc, .origin = b->origin};
        clone_ops(&inner, from, map, true);
    }
    for (int i = 0; i < op->nres; i++) {
        ir_value *v = ir_add_result(c, op->res[i]->type);
        v->name = op->res[i]->name;
        v->loc = op->res[i]->loc;
        ir_map_set(map, op->res[i], v);
    }
    return c;
}

ir_value *ir_clone_value(ir_builder *b, const ir_value *v, ir_map *map)
{
    ir_value *again = ir_map_get(map, v);
    if (again || !v->def)
        return again ? again : (ir_value *)v;
    for (int i = 0; i < v->def->nargs; i++)
        ir_clone_value(b, v->def->args[i], map);
    ir_clone_op(b, v->def, map);
    return ir_map_get(map, v);
}

/* Of more operations a value stays where it is: those who ask have another way, and recursion stays shallow. */
enum { LEAVE_MAX = 256 };

static bool can_leave(const ir_value *v, const ir_op *op, ptrmap *asked, int *left)
{
    if (ir_is_visible(v, op->region))
        return true;
    const ir_op *def = v->def;
    if (!def || !op_follows_from_operands(def->code))
        return false;
    if (ptrmap_get(asked, def)) /* a value that is used twice would be asked 2^depth times */
        return true;
    if (--*left < 0)
        return false;
    for (int i = 0; i < def->nargs; i++)
        if (!can_leave(def->args[i], op, asked, left))
            return false;
    ptrmap_set(asked, def, (void *)def);
    return true;
}

bool ir_can_leave(const ir_value *v, const ir_op *op)
{
    ptrmap asked = {0};
    int left = LEAVE_MAX;
    const bool can = can_leave(v, op, &asked, &left);
    ptrmap_free(&asked);
    return can;
}

ir_value *ir_value_before(ir_builder *b, ir_value *v, ir_map *map)
{
    ir_value *again = ir_map_get(map, v);
    if (again || ir_is_visible(v, b->region))
        return again ? again : v;
    for (int i = 0; i < v->def->nargs; i++)
        ir_value_before(b, v->def->args[i], map);
    ir_clone_op(b, v->def, map);
    return ir_map_get(map, v);
}

void ir_clone_region_ops(ir_builder *b, const ir_region *r, ir_map *map)
{
    clone_ops(b, r, map, false);
}

ir_func *ir_clone_func(const ir_func *f, const char *name)
{
    ir_func *c = ir_func_create(f->module, f->kind, name);
    ir_region *body = c->body;
    *c = *f;
    c->body = body;
    c->name = name;
    c->next_value = 0;
    ir_map map = ir_map_create(f);
    for (int i = 0; i < f->body->nparams; i++) {
        ir_map_set(&map, f->body->params[i], ir_region_param_like(body, f->body->params[i]));
    }
    ir_builder b = {.func = c, .region = body, .loc = f->loc};
    clone_ops(&b, f->body, &map, true);
    ir_map_free(&map);
    return c;
}
