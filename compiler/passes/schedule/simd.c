/* Marks innermost counted loops whose iterations may run in any order: what they carry are sums, and no two iterations
 * touch one element. The order of a sum over iterations is unspecified by the language, so sums vectorise without
 * -ffast-math.
 *
 * Nor may one iteration touch an element again that it has written: clang would reorder the accesses of that iteration
 * (docs/c-compilers.md). What one can see of such iterations, forward_stores has rewritten.
 */
#include <string.h>

#include "ir/target.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"

typedef struct simd_check {
    const ir_func *f;
    const ir_op *loop;
    const uint32_t *uses;
    VEC(ir_op *) memory; /* in the order of one iteration, branch after branch */
    VEC(ir_op *) arrays; /* the same of local arrays, and of blocks of saved values */
    bool ok, writes;
} simd_check;

static void check_op(ir_op *op, void *ctx)
{
    simd_check *c = ctx;
    switch (op->code) {
    case OP_LOAD:
        vec_push(&c->memory, op);
        return;
    case OP_STORE:
    case OP_ACCUM:
        c->writes = true;
        vec_push(&c->memory, op);
        return;
    case OP_IF:
    case OP_YIELD:
        return;
    case OP_LSTORE:
        c->writes = true;
        vec_push(&c->arrays, op);
        return;
    case OP_LLOAD:
        vec_push(&c->arrays, op);
        return;
    case OP_STK_STORE:
        c->writes = true;
        vec_push(&c->arrays, op);
        return;
    case OP_STK_LOAD:
        vec_push(&c->arrays, op);
        return;
    case OP_REC_LOAD: /* a record is not written where it is read */
        c->ok &= !ir_layout_of(op)->log;
        return;
    default:
        c->ok &= op_follows_from_operands(op->code);
    }
}

static int64_t coef_of(const affine *a, const ir_value *index)
{
    for (int k = 0; k < a->n; k++)
        if (a->term[k] == index)
            return a->coef[k];
    return 1;
}

/* Different iterations touch different elements as a field is distinct at which the launch looks in any case. */
static bool by_distinct(const simd_check *c, const ir_op *write)
{
    const ir_func *f = c->loop->regions[0]->func;
    if (!f->launch.distinct)
        return false;
    VEC(ir_op *) ops = {0};
    for (size_t i = 0; i < c->memory.len; i++)
        if (ir_storage_of_op(c->memory.at[i]) == ir_storage_of_op(write) &&
            !never_meet(c->loop, c->memory.at[i], write))
            vec_push(&ops, c->memory.at[i]);
    const size_t n = f->module->fields.len;
    bool *relies = xmalloc((n + 1) * sizeof *relies);
    memset(relies, 0, (n + 1) * sizeof *relies);
    bool distinct = ops.len > 0 && subscript_is_injective(c->loop, ops.at, ops.len, 0, relies), any = false;
    for (size_t i = 0; i < n && distinct; i++) {
        any |= relies[i];
        distinct = !relies[i] || f->launch.distinct[i];
    }
    free(relies);
    vec_free(&ops);
    return distinct && any;
}

/* Different iterations touch different elements: in one dimension all accesses have one subscript that varies with the
 * index, or such with multiples of the index that are never equal. */
static bool separate(const simd_check *c, const ir_op *write)
{
    for (int d = 0; d < ir_field_of(write)->ndim; d++) {
        affine w = affine_of(write->args[d]);
        if (!varies_with_index(c->loop, &w))
            continue;
        bool same = true;
        for (size_t i = 0; i < c->memory.len && same; i++) {
            const ir_op *op = c->memory.at[i];
            if (ir_field_of(op) != ir_field_of(write) || ir_access_attr(op)->plane != ir_access_attr(write)->plane ||
                op->args[d] == write->args[d] || never_meet(c->loop, op, write))
                continue;
            affine a = affine_of(op->args[d]);
            same = a.ok &&
                   (affine_equal(&w, &a) || strides_differ(&w, &a, coef_of(&w, c->loop->regions[0]->params[0])));
        }
        if (same)
            return true;
    }
    return by_distinct(c, write);
}

/* Elements stored by an unordered iteration are not touched by others, whatever the subscripts. */
static bool only_stored(const simd_check *c, const ir_op *write)
{
    for (size_t i = 0; i < c->memory.len; i++) {
        const ir_op *op = c->memory.at[i];
        if (op->code == OP_ACCUM && ir_field_of(op) == ir_field_of(write) &&
            ir_access_attr(op)->plane == ir_access_attr(write)->plane)
            return false;
    }
    return ir_loop_attr(c->loop)->parallel;
}

/* Of one local array, or of one member of the same structs. */
static bool are_of_one(const ir_op *a, const ir_op *b)
{
    const bool saved = op_memory_of(a->code) == MEMORY_STACK;
    if (saved != (op_memory_of(b->code) == MEMORY_STACK))
        return false;
    return saved ? ir_layout_of(a) == ir_layout_of(b) && ir_slot_attr(a)->number == ir_slot_attr(b)->number
                 : a->args[0] == b->args[0];
}

/* Neighbouring iterations have neighbouring elements. */
static bool is_step_one(const simd_check *c, const affine *a)
{
    for (int k = 0; k < a->n; k++)
        if (a->term[k] == c->loop->regions[0]->params[0])
            return a->coef[k] == 1;
    return false;
}

/* All iterations of a constant number of them are closer to each other than these two elements. */
static bool are_far(const simd_check *c, const affine *a, const affine *b)
{
    const ir_value *lo = c->loop->args[0], *hi = c->loop->args[1];
    const affine d = affine_sub(a, b);
    if (!d.ok || d.n || !ir_is_const(lo) || !ir_is_const(hi))
        return false;
    const int64_t trips = ir_int(hi) - ir_int(lo);
    return d.konst >= trips || -d.konst >= trips;
}

/* What is stored into has an element for each iteration: all accesses are of that one, or of others that none of these
 * iterations has, and none comes behind the store. */
static bool is_independent(const simd_check *c, const ir_op *store)
{
    const affine at = affine_of(store->args[1]);
    if (!varies_with_index(c->loop, &at))
        return false;
    bool behind = false;
    for (size_t i = 0; i < c->arrays.len; i++) {
        const ir_op *op = c->arrays.at[i];
        if (!are_of_one(op, store))
            continue;
        const affine a = affine_of(op->args[1]);
        if (is_step_one(c, &at) && are_far(c, &a, &at))
            continue;
        if (behind || !affine_equal(&a, &at))
            return false;
        behind |= op == store;
    }
    return true;
}

/* In two branches of one `if`: an iteration does one of them. */
static bool exclude_each_other(const ir_op *a, const ir_op *b)
{
    for (const ir_region *r = a->region; r->parent; r = r->parent->region)
        if (r->parent->code == OP_IF)
            for (int k = 0; k < 2; k++)
                if (r->parent->regions[k] != r && ir_region_is_ancestor(r->parent->regions[k], b->region))
                    return true;
    return false;
}

bool simd_iterations_independent(const ir_op *loop, ir_op *const *memory, size_t n, const ir_op *write)
{
    simd_check c = {.loop = loop};
    c.memory.at = (ir_op **)memory;
    c.memory.len = n;
    return separate(&c, write) || (write->code == OP_STORE && only_stored(&c, write));
}

bool simd_touches_again(const ir_op *a, const ir_op *b)
{
    return a->code != OP_LOAD && meet_in_iteration(a, b) && !exclude_each_other(a, b);
}

/* An iteration touches nothing that it has written. */
static bool writes_last(const simd_check *c)
{
    for (size_t i = 0; i < c->memory.len; i++)
        for (size_t k = i + 1; k < c->memory.len && c->memory.at[i]->code != OP_LOAD; k++)
            if (simd_touches_again(c->memory.at[i], c->memory.at[k]))
                return false;
    return true;
}

static bool carries_sums(const simd_check *c)
{
    for (int k = 0; k < ir_yield_of(c->loop->regions[0])->nargs; k++)
        if (!carries_sum(c->loop, k, c->uses, false))
            return false;
    return true;
}

typedef struct simd_pass {
    const ir_func *f;
    const uint32_t *uses;
} simd_pass;

bool simd_fits(const ir_func *f, const ir_op *op, const uint32_t *uses)
{
    if (!ir_loop_attr(op)->bounded || ir_loop_attr(op)->cond || ir_loop_attr(op)->short_trip)
        return false;
    simd_check c = {.f = f, .loop = op, .uses = uses, .ok = true};
    ir_walk(op->regions[0], check_op, &c);
    bool ok = c.ok && carries_sums(&c) && (c.writes || ir_yield_of(op->regions[0])->nargs > 0);
    for (size_t i = 0; i < c.memory.len && ok; i++) {
        const ir_op *w = c.memory.at[i];
        if (w->code == OP_STORE)
            ok = separate(&c, w) || only_stored(&c, w);
        else if (w->code == OP_ACCUM)
            ok = separate(&c, w);
    }
    for (size_t i = 0; i < c.arrays.len && ok; i++)
        ok = (c.arrays.at[i]->code != OP_LSTORE && c.arrays.at[i]->code != OP_STK_STORE) ||
             is_independent(&c, c.arrays.at[i]);
    ok = ok && writes_last(&c);
    vec_free(&c.memory);
    vec_free(&c.arrays);
    return ok;
}

static bool is_short(const ir_op *loop)
{
    return ir_is_const(loop->args[0]) && ir_is_const(loop->args[1]) &&
           ir_int(loop->args[1]) - ir_int(loop->args[0]) <= TRIPS_SHORT;
}

static void mark(ir_op *op, void *ctx)
{
    const simd_pass *s = ctx;
    if (op->code != OP_LOOP)
        return;
    ir_loop_attr(op)->simd = simd_fits(s->f, op, s->uses) && !is_short(op);
    if (ir_loop_attr(op)->simd && !s->f->module->debug)
        mark_steps(op);
}

bool pass_simd(ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++) {
        uint32_t *uses = ir_count_uses(m->funcs.at[i]);
        simd_pass s = {m->funcs.at[i], uses};
        ir_walk(s.f->body, mark, &s);
        free(uses);
    }
    store_by_member(m);
    return true;
}
