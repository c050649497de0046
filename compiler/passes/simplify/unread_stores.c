/* Stores into local arrays whose elements nobody reads before all of them are stored again, or the array ends:
 *
 *     loop t { ... loop i { y[i] = f(z[i]) }  loop i { y[i] = kept[i] } ... }
 *
 * Adjoints that compute a trip once more compute to its end, and the next trip begins with another state.
 */
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

enum { LOOKED_AT = 2000000 }; /* operations, of a function: beyond that stores stay */

static bool visit_region(ir_region *r, int64_t *left)
{
    bool changed = false;
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (int k = 0; k < op->nregions; k++)
            changed |= visit_region(op->regions[k], left);
        if (op->code == OP_LSTORE && *left > 0 && store_is_unread(op, left)) {
            ir_remove(op);
            changed = true;
        }
    }
    return changed;
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
