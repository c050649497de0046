/* Stores into local arrays that another store overwrites before anybody reads the element:
 *
 *     w[i] = 0;  ... nothing reads w[i] ...;  w[i] = v;
 *
 * An adjoint takes an element's adjoint, clears it and stores the next one. With one store an element compilers see
 * iterations that touch nothing twice. In adjoints also those whose elements nobody reads before all of them are stored
 * again, or the array ends:
 *
 *     loop t { ... loop i { y[i] = f(z[i]) }  loop i { y[i] = kept[i] } ... }
 *
 * Adjoints that compute a trip once more compute to its end, and the next trip begins with another state.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

enum { LOOKED_AT = 2000000 }; /* operations, of a function: beyond that such stores stay */

typedef struct looking {
    const ir_value *array;
    bool found;
} looking;

static void find_access(ir_op *op, void *ctx)
{
    looking *l = ctx;
    for (int i = 0; i < op->nargs; i++)
        l->found |= op->args[i] == l->array;
}

static bool touches_inside(const ir_op *op, const ir_value *array)
{
    looking l = {array, false};
    for (int k = 0; k < op->nregions; k++)
        ir_walk(op->regions[k], find_access, &l);
    return l.found;
}

typedef enum meeting { MEET_NEVER, MEET_MAYBE, MEET_ALWAYS } meeting;

static meeting meeting_of(const ir_op *a, const ir_op *b)
{
    if (a->args[1] == b->args[1])
        return MEET_ALWAYS;
    const affine x = affine_of(a->args[1]), y = affine_of(b->args[1]), difference = affine_sub(&x, &y);
    if (!difference.ok || difference.n)
        return MEET_MAYBE;
    return difference.konst ? MEET_NEVER : MEET_ALWAYS;
}

static bool is_overwritten(const ir_op *store)
{
    const ir_value *array = store->args[0];
    for (const ir_op *op = store->next; op; op = op->next) {
        if (op->code == OP_LSTORE && op->args[0] == array) {
            if (meeting_of(store, op) == MEET_ALWAYS)
                return true;
            continue;
        }
        if (op->code == OP_LLOAD && op->args[0] == array && meeting_of(store, op) == MEET_NEVER)
            continue;
        looking l = {array, false};
        find_access((ir_op *)op, &l);
        if (l.found || touches_inside(op, array))
            return false;
    }
    return false;
}

static bool visit_region(ir_region *r, int64_t *left)
{
    bool changed = false;
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (int k = 0; k < op->nregions; k++)
            changed |= visit_region(op->regions[k], left);
        if (op->code == OP_LSTORE && (is_overwritten(op) || (*left > 0 && store_is_unread(op, left)))) {
            ir_remove(op);
            changed = true;
        }
    }
    return changed;
}

bool pass_array_stores(ir_func *f)
{
    int64_t left = 0;
    return visit_region(f->body, &left);
}

bool pass_unread_stores(ir_func *f)
{
    int64_t left = LOOKED_AT;
    bool changed = false;
    while (visit_region(f->body, &left)) {
        pass_dce(f);
        changed = true;
    }
    return changed;
}
