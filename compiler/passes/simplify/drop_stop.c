/* Removes what has no meaning left once everything is differentiated: stop_grad, slope, the operand of a leg (a / c)
 * that only its derivatives need, which would be computed, and saved, for nothing, and what tells a root from a sqrt.
 */
#include <stdlib.h>
#include <string.h>

#include "passes/simplify/simplify.h"

typedef struct drop {
    ir_value **instead; /* id of its result -> what it is the value of */
    VEC(ir_op *) stops;
} drop;

static void visit(drop *d, ir_region *r)
{
    for (ir_op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nargs; i++)
            if (d->instead[op->args[i]->id])
                op->args[i] = d->instead[op->args[i]->id];
        if (op->code == OP_STOP || op->code == OP_SLOPE) {
            d->instead[op->res[0]->id] = op->args[0];
            vec_push(&d->stops, op);
        }
        if (op->code == OP_LEG) {
            op->code = OP_DIV;
            ir_remove_arg(op, 1);
        }
        if (op->code == OP_ROOT)
            op->code = OP_SQRT;
        for (int k = op->nregions - 1; k >= 0; k--)
            visit(d, op->regions[k]);
    }
}

void pass_drop_stop(ir_func *f)
{
    drop d = {0};
    d.instead = xmalloc(((size_t)f->next_value + 1) * sizeof *d.instead);
    memset(d.instead, 0, ((size_t)f->next_value + 1) * sizeof *d.instead);
    visit(&d, f->body);
    for (size_t i = d.stops.len; i-- > 0;)
        ir_remove(d.stops.at[i]);
    free(d.instead);
    vec_free(&d.stops);
}
