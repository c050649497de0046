/* gcc (12 at least) vectorises an outer loop whose inner loop stores to b[i + j]. The order of such a store and of the
 * same store in a later iteration is lost: dependences of a store on itself do not count there, only those between two
 * accesses. A store at an element that the outer loop does not choose (b[j]) makes no such vectors, and iterations that
 * have elements of their own (b[3 * i + j] of three j, b[i, j]) have no order. */
#include "codegen/nests.h"

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"

/* The counted loop whose index v is; NULL: none. */
static const ir_op *loop_of(const ir_value *v)
{
    const ir_op *loop = v->def ? NULL : v->region->parent;
    const bool counted = loop && loop->code == OP_LOOP && ir_loop_attr(loop)->bounded;
    return counted && v == loop->regions[0]->params[0] ? loop : NULL;
}

/* The distance between the first and the last index of a loop of a constant number of trips; -1: unknown. */
static int64_t reach_of(const ir_op *loop)
{
    if (!loop || !ir_is_const(loop->args[0]) || !ir_is_const(loop->args[1]))
        return -1;
    const int64_t lo = ir_int(loop->args[0]), hi = ir_int(loop->args[1]);
    return lo >= hi ? 0 : lo > -INT32_MAX && hi < INT32_MAX ? hi - lo - 1 : -1;
}

/* Whether the subscript differs between any two iterations of the loop; *fixed: the loop does not choose it. */
static bool differs(const ir_op *loop, const ir_value *subscript, bool *fixed)
{
    const affine a = affine_of(subscript);
    int64_t step = 0, reach = 0;
    bool known = a.ok;
    *fixed = a.ok;
    for (int k = 0; k < a.n; k++) {
        if (ir_is_visible(a.term[k], loop->region))
            continue;
        const ir_op *of = loop_of(a.term[k]);
        const int64_t coef = a.coef[k] < 0 ? -a.coef[k] : a.coef[k];
        *fixed &= of && of != loop && !value_depends_on(of->args[0], loop);
        known &= of && coef <= INT32_MAX;
        if (of == loop)
            step = coef;
        else if (known && (known = reach_of(of) >= 0))
            reach += coef * reach_of(of);
    }
    return known && step > reach;
}

static bool store_is_ordered(const ir_op *loop, const ir_op *store)
{
    const op_memory memory = op_memory_of(store->code);
    if (memory != MEMORY_FIELD && store->nargs && !ir_is_visible(store->args[0], loop->region))
        return false; /* of the iteration alone */
    if (memory != MEMORY_FIELD && memory != MEMORY_ARRAY)
        return true;
    const int first = memory == MEMORY_ARRAY, n = memory == MEMORY_ARRAY ? 1 : ir_field_of(store)->ndim;
    bool fixed = true;
    for (int d = first; d < first + n; d++) {
        bool here;
        if (differs(loop, store->args[d], &here))
            return false;
        fixed &= here;
    }
    return !fixed;
}

static bool has_loop(const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_LOOP || op->code == OP_CALL)
            return true;
        for (int i = 0; i < op->nregions; i++)
            if (has_loop(op->regions[i]))
                return true;
    }
    return false;
}

/* Which elements a function stores to is not followed. */
static bool call_stores_again(facts *x, const ir_op *call, bool inner)
{
    if (!inner && !has_loop(ir_callee_of(call)->body))
        return false;
    for (int i = 0; i < call->nargs; i++)
        if (call->args[i]->type == SC_PTR)
            return true;
    const func_facts *callee = facts_of(x, ir_callee_of(call));
    for (ir_storage key = 0; key < ir_storage_count(x->m); key++)
        if (callee->planes[key] & OP_STORES)
            return true;
    return false;
}

/* `inner`: r is a part of a loop within. */
static bool stores_again(facts *x, const ir_op *loop, const ir_region *r, bool inner)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (inner && (op_touches(op->code) & OP_STORES) && store_is_ordered(loop, op))
            return true;
        if (op->code == OP_CALL && call_stores_again(x, op, inner))
            return true;
        for (int i = 0; i < op->nregions && op->code != OP_TASK; i++)
            if (stores_again(x, loop, op->regions[i], inner || op->code == OP_LOOP))
                return true;
    }
    return false;
}

bool nest_stores_again(facts *x, const ir_op *loop)
{
    return !ir_loop_attr(loop)->parallel && stores_again(x, loop, loop->regions[0], false);
}
