/* Common subexpressions: a scoped hash table along the walk, so that whatever it holds dominates the operation at hand.
 *
 * A load's entry carries the version of what it read (a field plane or a local array). A write gives its target a new
 * version; a loop gives one to all that its body writes before the body is walked, because the write of one iteration
 * comes before the load of the next. A store into a local array stands in the table as the load of what it stored.
 * Calls of functions that touch nothing are operations like others.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

typedef struct entry {
    ir_op *op;
    uint32_t hash, version;
    int32_t next; /* in the bucket; -1 ends */
} entry;

typedef struct callee_effects {
    const ir_func *func;
    effects e;
} callee_effects;

typedef struct cse {
    ir_func *f;
    ir_map map;
    VEC(entry) entries; /* a stack: a region's entries go when it ends */
    int32_t *buckets;
    uint32_t nbuckets;
    uint32_t *planes, *arrays; /* versions, by field plane and by value id */
    uint32_t clock;
    VEC(callee_effects) callees;
    bool changed;
} cse;

/* ---- versions ---- */

static size_t nplanes(const cse *c)
{
    return ir_storage_count(c->f->module);
}

static uint32_t *plane_version(const cse *c, const ir_op *op)
{
    return &c->planes[ir_storage_of_op(op)];
}

static const effects *effects_of_callee(cse *c, const ir_func *callee)
{
    for (size_t i = 0; i < c->callees.len; i++)
        if (c->callees.at[i].func == callee)
            return &c->callees.at[i].e;
    vec_push(&c->callees, ((callee_effects){callee, effects_of_region(c->f->module, callee->body)}));
    return &vec_last(&c->callees).e;
}

/* New versions for what op itself writes. */
static void write_op(cse *c, const ir_op *op)
{
    op_touch touched[OP_TOUCHED_MAX];
    for (int n = op_touched(op, touched), i = 0; i < n; i++)
        if (touched[i].what & (OP_STORES | OP_ADDS))
            c->planes[touched[i].at] = ++c->clock;
    switch (op->code) {
    case OP_LSTORE:
    case OP_LACCUM:
        c->arrays[op->args[0]->id] = ++c->clock;
        break;
    case OP_CALL: {
        const effects *e = effects_of_callee(c, ir_callee_of(op));
        for (size_t i = 0; i < nplanes(c); i++)
            if (e->at[i] & (OP_STORES | OP_ADDS))
                c->planes[i] = ++c->clock;
        break;
    }
    case OP_ADJOINT: /* what it writes is not known yet */
        for (size_t i = 0; i < nplanes(c); i++)
            c->planes[i] = ++c->clock;
        break;
    default:
        break;
    }
}

static void write_region(cse *c, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        write_op(c, op);
        for (int i = 0; i < op->nregions; i++)
            write_region(c, op->regions[i]);
    }
}

static uint32_t version_of(const cse *c, const ir_op *op)
{
    if (op->code == OP_LOAD)
        return *plane_version(c, op);
    return op->code == OP_LLOAD || op->code == OP_LSTORE ? c->arrays[op->args[0]->id] : 0;
}

/* ---- equality ---- */

/* Its results follow from its operands, and nothing happens beside: no field is read or written. */
static bool is_pure_call(cse *c, const ir_op *op)
{
    const ir_func *callee = ir_callee_of(op);
    if (op->nres == 0 || callee->external)
        return false;
    const effects *e = effects_of_callee(c, callee);
    bool any = e->other || e->stack;
    for (size_t i = 0; i < nplanes(c) && !any; i++)
        any = e->at[i] != 0;
    return !any;
}

static bool is_candidate(cse *c, const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
    case OP_LLOAD:
    case OP_DECISION:
    case OP_ASSERT: /* what held still holds */
        return true;
    case OP_CALL:
        return is_pure_call(c, op);
    default:
        return op_follows_from_operands(op->code);
    }
}

static bool is_commutative(ir_opcode code)
{
    switch (code) {
    case OP_ADD:
    case OP_MUL:
    case OP_EQ:
    case OP_NE:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        return true;
    default: /* not min and max: which operand wins a tie matters to the derivative */
        return false;
    }
}

/* The order of commutative operands: constants last, as one writes them. */
static bool comes_after(const ir_value *a, const ir_value *b)
{
    if (ir_is_const(a) != ir_is_const(b))
        return ir_is_const(a);
    return a->id > b->id;
}

static void order_operands(ir_op *op)
{
    if (!is_commutative(op->code) || !comes_after(op->args[0], op->args[1]))
        return;
    ir_value *x = op->args[0];
    op->args[0] = op->args[1];
    op->args[1] = x;
}

static void order_op(ir_op *op, void *unused)
{
    (void)unused;
    order_operands(op);
}

void pass_order(ir_func *f)
{
    ir_renumber(f);
    ir_walk(f->body, order_op, NULL);
}

/* Bits that tell constants apart: -0.0 is not 0.0, and a NaN is equal to itself. */
static uint64_t const_bits(const ir_op *op)
{
    uint64_t bits;
    if (scalar_is_float(op->res[0]->type))
        memcpy(&bits, &ir_const_attr(op)->f, sizeof bits);
    else
        memcpy(&bits, &ir_const_attr(op)->i, sizeof bits);
    return bits;
}

static uint32_t mix(uint32_t h, uint64_t x)
{
    x = (x ^ h) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(x >> 32) ^ (uint32_t)x;
}

static uint32_t hash_op(const ir_op *op)
{
    if (op->code == OP_LSTORE)
        return mix(mix(mix((uint32_t)OP_LLOAD, (uint64_t)op->args[2]->type), op->args[0]->id), op->args[1]->id);
    uint32_t h = mix((uint32_t)op->code, op->nres ? (uint64_t)op->res[0]->type : 0);
    for (int i = 0; i < op->nargs; i++)
        h = mix(h, op->args[i]->id);
    switch (op->code) {
    case OP_CONST:
        return mix(h, const_bits(op));
    case OP_MPARAM:
        return mix(h, (uint64_t)ir_mparam_attr(op)->param->index);
    case OP_SHAPE:
        return mix(mix(h, (uint64_t)ir_field_of(op)->index), (uint64_t)ir_shape_attr(op)->dim);
    case OP_LOAD:
        return mix(h, ir_storage_of_op(op));
    case OP_CALL:
        return mix(h, (uint64_t)(uintptr_t)ir_callee_of(op));
    default:
        return h;
    }
}

/* Whether a gives what b gives; b is a candidate. */
static bool equal(const ir_op *a, const ir_op *b)
{
    if (a->code == OP_LSTORE)
        return b->code == OP_LLOAD && a->args[0] == b->args[0] && a->args[1] == b->args[1];
    if (a->code != b->code || a->nargs != b->nargs || (a->nres && a->res[0]->type != b->res[0]->type))
        return false;
    for (int i = 0; i < a->nargs; i++)
        if (a->args[i] != b->args[i])
            return false;
    switch (a->code) {
    case OP_CONST:
        return const_bits(a) == const_bits(b);
    case OP_MPARAM:
        return ir_mparam_attr(a)->param == ir_mparam_attr(b)->param;
    case OP_SHAPE:
        return ir_field_of(a) == ir_field_of(b) && ir_shape_attr(a)->dim == ir_shape_attr(b)->dim;
    case OP_LOAD:
        return ir_field_of(a) == ir_field_of(b) && ir_access_attr(a)->plane == ir_access_attr(b)->plane;
    case OP_CALL:
        return ir_callee_of(a) == ir_callee_of(b);
    default:
        return true;
    }
}

/* ---- the table ---- */

static void rehash(cse *c)
{
    c->nbuckets *= 2;
    c->buckets = xrealloc(c->buckets, sizeof *c->buckets * c->nbuckets);
    memset(c->buckets, -1, sizeof *c->buckets * c->nbuckets);
    for (size_t i = 0; i < c->entries.len; i++) { /* in order, so that popping stays last in, first out */
        entry *e = &c->entries.at[i];
        e->next = c->buckets[e->hash & (c->nbuckets - 1)];
        c->buckets[e->hash & (c->nbuckets - 1)] = (int32_t)i;
    }
}

/* The version goes into the hash: reads that writes have made stale would stand in one chain. */
static void insert(cse *c, ir_op *op, uint32_t hash)
{
    const uint32_t version = version_of(c, op);
    hash = mix(hash, version);
    if (c->entries.len >= c->nbuckets)
        rehash(c);
    int32_t *bucket = &c->buckets[hash & (c->nbuckets - 1)];
    entry e = {op, hash, version, *bucket};
    *bucket = (int32_t)c->entries.len;
    vec_push(&c->entries, e);
}

/* What stands in a branch is guarded by its condition, and in a loop by its bounds: there a pull-back at a pole, of
 * sqrt(x) at 0, is not run. Around them it is, with an adjoint of 0, and gives 0 * inf. So such a value is not one with
 * the same value around it. */
static bool is_guarded(const ir_op *op, const ir_op *same)
{
    if (op->code != OP_CALL && !op_may_have_poles(op->code))
        return false;
    const bool poles = has_poles(op);
    for (const ir_region *r = op->region; r != same->region && r->parent; r = r->parent->region)
        if (r->parent->code == OP_IF ||
            (poles && r->parent->code == OP_LOOP && r == r->parent->regions[0] && !loop_surely_runs(r->parent)))
            return true;
    return false;
}

static ir_op *find(const cse *c, const ir_op *op, uint32_t hash)
{
    const uint32_t version = version_of(c, op);
    hash = mix(hash, version);
    for (int32_t i = c->buckets[hash & (c->nbuckets - 1)]; i >= 0; i = c->entries.at[i].next) {
        const entry *e = &c->entries.at[i];
        if (e->hash == hash && e->version == version && equal(e->op, op) &&
            !(c->f->ad.primal == NULL && is_guarded(op, e->op)))
            return e->op;
    }
    return NULL;
}

static void pop_to(cse *c, size_t len)
{
    while (c->entries.len > len) {
        const entry *e = &vec_last(&c->entries);
        c->buckets[e->hash & (c->nbuckets - 1)] = e->next;
        c->entries.len--;
    }
}

/* ---- the walk ---- */

static void walk_region(cse *c, ir_region *r);

/* The else branch sees memory as it was before the then branch; behind both, what either wrote is new. */
static void walk_if(cse *c, ir_op *op)
{
    size_t bytes = sizeof *c->planes * nplanes(c);
    uint32_t *before = xmalloc(bytes), clock = c->clock;
    memcpy(before, c->planes, bytes);
    walk_region(c, op->regions[0]);
    uint32_t *then = c->planes;
    bool wrote = c->clock != clock;
    if (wrote) {
        c->planes = xmalloc(bytes);
        memcpy(c->planes, before, bytes);
    }
    walk_region(c, op->regions[1]);
    if (wrote) {
        for (size_t i = 0; i < nplanes(c); i++)
            if (then[i] != before[i])
                c->planes[i] = ++c->clock;
        free(then);
    }
    free(before);
}

/* A read of the primal stays known, although its value is loaded with another one's: the data-access rules ask for it.
 */
static void keep_origin(ir_op *same, ir_op *op)
{
    if (op->code != OP_LOAD || !op->origin)
        return;
    ir_op *last = op;
    while (last->twin)
        last = last->twin;
    last->twin = same->twin;
    same->twin = op;
}

static void visit(cse *c, ir_op *op)
{
    for (int i = 0; i < op->nargs; i++) {
        ir_value *v = ir_map_get(&c->map, op->args[i]);
        if (v)
            op->args[i] = v;
    }
    if (op->code == OP_IF) {
        walk_if(c, op);
        return;
    }
    if (op->nregions) {
        for (int i = 0; i < op->nregions; i++)
            write_region(c, op->regions[i]);
        for (int i = op->nregions - 1; i >= 0; i--)
            walk_region(c, op->regions[i]);
        return;
    }
    write_op(c, op);
    if (op->code == OP_LSTORE)
        insert(c, op, hash_op(op));
    if (!is_candidate(c, op))
        return;
    order_operands(op);
    uint32_t hash = hash_op(op);
    ir_op *same = find(c, op, hash);
    if (!same) {
        insert(c, op, hash);
        return;
    }
    keep_origin(same, op);
    for (int i = 0; i < op->nres; i++) {
        ir_value *v = same->nres ? same->res[i] : same->args[2];
        ir_map_set(&c->map, op->res[i], v);
        v->finite = v->finite && op->res[i]->finite;
        if (!v->name && same->code != OP_CONST)
            v->name = op->res[i]->name;
    }
    ir_remove(op);
    c->changed = true;
}

static void walk_region(cse *c, ir_region *r)
{
    size_t outer = c->entries.len;
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        visit(c, op);
    }
    pop_to(c, outer);
}

bool pass_cse(ir_func *f)
{
    cse c = {.f = f, .map = ir_map_create(f), .nbuckets = 256};
    c.buckets = xmalloc(sizeof *c.buckets * c.nbuckets);
    memset(c.buckets, -1, sizeof *c.buckets * c.nbuckets);
    size_t planes = sizeof *c.planes * nplanes(&c), arrays = sizeof *c.arrays * ((size_t)f->next_value + 1);
    c.planes = xmalloc(planes);
    c.arrays = xmalloc(arrays);
    memset(c.planes, 0, planes);
    memset(c.arrays, 0, arrays);
    walk_region(&c, f->body);
    for (size_t i = 0; i < c.callees.len; i++)
        effects_free(&c.callees.at[i].e);
    vec_free(&c.callees);
    vec_free(&c.entries);
    free(c.buckets);
    free(c.planes);
    free(c.arrays);
    ir_map_free(&c.map);
    return c.changed;
}
