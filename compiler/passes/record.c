/* Records: old values of atomics, which depend on the order in which iterations came, cannot be replayed. The kernel writes those that its adjoint needs to
 * the record of the launch: for each atomic one block, one element for each iteration of the parallel loop around, or a single one at kernel level.
 */
#include "passes/reverse.h"

typedef struct record {
    ir_func *kernel, *adjoint;
    int n; /* blocks */
    VEC(ir_op *) olds;
} record;

static void find_old(ir_op *op, void *ctx)
{
    record *r = ctx;
    if (op->code == OP_OLD)
        vec_push(&r->olds, op);
}

/* Where a block that serves `atomic` is made, and with how many elements. */
static ir_value *block_count(ir_func *f, ir_op *atomic, ir_builder *b)
{
    ir_op *task = atomic->region->parent;
    while (task && task->code != OP_TASK)
        task = task->region->parent;
    *b = (ir_builder){.func = f, .region = task ? task->region : atomic->region, .before = task ? task : atomic, .loc = atomic->loc};
    ir_value *count = ir_const_i(b, SC_I64, 1), *zero = ir_const_i(b, SC_I64, 0);
    for (int d = 0; task && d < task->attr.ndim; d++) {
        ir_value *n = ir_op2(b, OP_MAX, ir_op2(b, OP_SUB, task->args[2 * d + 1], task->args[2 * d]), zero);
        count = d ? ir_op2(b, OP_MUL, count, n) : n;
    }
    return count;
}

static ir_value *record_op(ir_builder *b, ir_opcode code, int nargs, ir_value *const *args, scalar type, ir_layout *l, int slot)
{
    ir_op *op = ir_insert(b, code, nargs, args, type != SC_NONE, &type, 0);
    op->attr.layout = l;
    op->attr.i = slot;
    return op->nres ? op->res[0] : NULL;
}

static ir_layout *layout_for(ir_module *m, const ir_value *v)
{
    ir_layout *l = ARENA_NEW(m->mem, ir_layout);
    l->n = 1;
    l->types = ARENA_ARRAY(m->mem, scalar, 1);
    l->types[0] = v->type;
    l->names = ARENA_ARRAY(m->mem, const char *, 1);
    l->names[0] = v->name;
    return l;
}

/* All of one atomic: a replay at kernel level and the task's own adjoint may both want it. */
static void record_one(record *r, size_t first)
{
    ir_op *atomic = r->olds.at[first]->origin;
    ir_layout *l = layout_for(r->kernel->module, atomic->res[0]);
    const int slot = r->n++;
    ir_builder b;
    ir_value *count = block_count(r->kernel, atomic, &b);
    ir_value *block = record_op(&b, OP_REC_ALLOC, 1, &count, SC_PTR, l, slot);
    b = (ir_builder){.func = r->kernel, .region = atomic->region, .before = atomic->next, .loc = atomic->loc};
    record_op(&b, OP_REC_STORE, 3, (ir_value *[]){block, atomic->args[atomic->nargs - 1], atomic->res[0]}, SC_NONE, l, slot);

    b = (ir_builder){.func = r->adjoint, .region = r->adjoint->body, .before = r->adjoint->body->first, .loc = atomic->loc};
    block = record_op(&b, OP_REC_GET, 0, NULL, SC_PTR, l, slot);
    for (size_t i = first; i < r->olds.len; i++) {
        ir_op *old = r->olds.at[i];
        if (!old || old->origin != atomic)
            continue;
        b = (ir_builder){.func = r->adjoint, .region = old->region, .before = old, .loc = old->loc, .origin = old->origin};
        ir_value *v = record_op(&b, OP_REC_LOAD, 2, (ir_value *[]){block, old->args[0]}, old->res[0]->type, l, slot);
        v->name = atomic->res[0]->name;
        ir_replace_uses(r->adjoint->body, old->res[0], v);
        ir_remove(old);
        r->olds.at[i] = NULL;
    }
}

bool record_old_values(ir_func *kernel, ir_func *adjoint)
{
    record r = {.kernel = kernel, .adjoint = adjoint};
    bool ok = true;
    ir_walk(adjoint->body, find_old, &r);
    for (size_t i = 0; i < r.olds.len; i++) {
        if (!r.olds.at[i])
            continue;
        const ir_op *atomic = r.olds.at[i]->origin;
        const ir_value *at = atomic->args[atomic->nargs - 1];
        if (ir_is_const(at) && at->def->attr.i < 0) {
            diag(kernel->module->diag, span_at(atomic->loc), DIAG_ATOMIC_NEEDED, kernel->name);
            diag_note(kernel->module->diag, span_at(atomic->loc), "here it stands in a sequential loop: make that loop a dimension of the parallel one, or "
                      "store the value in a field by a kernel of its own, marked derive() or no_grad");
            ok = false;
        } else {
            record_one(&r, i);
        }
    }
    kernel->records = r.n > 0;
    vec_free(&r.olds);
    return ok;
}
