/* Arguments that functions do not read: rules of differentiation take what only their own derivatives need. */
#include <stdlib.h>

#include "passes/simplify/simplify.h"
#include "util/ptrmap.h"

typedef struct trim {
    ptrmap seen; /* functions */
    bool (*is_fixed)(const ir_func *f);
    bool changed; /* the function at hand */
} trim;

static void trim_func(trim *t, ir_func *f);

static void trim_call(ir_op *op, void *ctx)
{
    trim *t = ctx;
    if (op->code != OP_CALL)
        return;
    ir_func *of = ir_callee_of(op);
    const bool changed = t->changed;
    trim_func(t, of);
    t->changed = changed;
    uint32_t *uses = ir_count_uses(of);
    ir_builder b = {.func = op->region->func, .region = op->region, .before = op, .loc = op->loc};
    for (int i = 0; i < op->nargs; i++) {
        if (uses[of->body->params[i]->id] || ir_is_const(op->args[i]) || op->args[i]->type == SC_PTR)
            continue;
        op->args[i] = ir_zero(&b, op->args[i]->type);
        t->changed = true;
    }
    free(uses);
}

static void trim_func(trim *t, ir_func *f)
{
    if (ptrmap_get(&t->seen, f))
        return;
    ptrmap_set(&t->seen, f, f);
    t->changed = false;
    if (!t->is_fixed(f))
        ir_walk(f->body, trim_call, t);
    if (t->changed)
        pass_dce(f);
}

void pass_unread_args(ir_module *m, bool (*is_fixed)(const ir_func *f))
{
    trim t = {.is_fixed = is_fixed};
    for (size_t i = 0; i < m->funcs.len; i++)
        trim_func(&t, m->funcs.at[i]);
    ptrmap_free(&t.seen);
}
