/* Kernels that the program does not have: their hidden arguments and results, and the numbers of elements. */
#include "ir/ops.h"
#include "passes/derive/elements/elements_int.h"

#include <string.h>

/* ---- signatures ---- */

void hidden_begin(ir_func *f, ir_func *of, int narguments)
{
    arena *mem = f->module->mem;
    f->ad = (ir_ad){
        .primal = of, .elements_of = of, .no_grad_why = "it gives a matrix", .no_jvp_why = "it gives a matrix"};
    f->launch = (ir_launch){0};
    ir_sigparam *sig = ARENA_ARRAY(mem, ir_sigparam, f->nsig + narguments + 1);
    for (int i = 0; i < f->nsig; i++) {
        sig[i] = f->sig[i];
        sig[i].grad = sig[i].struct_grad = false;
        sig[i].no_dual = scalar_is_float(sig[i].elem);
        sig[i].lost_in = NULL;
    }
    f->sig = sig;
}

static const char *free_name(const ir_func *f, const char *name)
{
    for (int i = 0; i < f->nsig; i++)
        if (!strcmp(f->sig[i].name, name))
            return free_name(f, arena_printf(f->module->mem, "%s_", name));
    return intern(f->module->names, name);
}

static ir_sigparam *add(ir_func *f, const char *name, scalar elem)
{
    name = free_name(f, name);
    f->sig[f->nsig] = (ir_sigparam){.name = name, .elem = elem, .no_dual = scalar_is_float(elem)};
    return &f->sig[f->nsig++];
}

ir_value *hidden_count(ir_func *f, const char *name)
{
    ir_sigparam *p = add(f, name, SC_I64);
    p->rows = p->cols = 1;
    p->first = f->body->nparams;
    return ir_region_param(f->body, SC_I64, p->name);
}

/* Behind the arrays of kernels that there are, in front of those of export funcs. */
static void enter(ir_module *m, ir_field *f)
{
    const size_t at = m->nfields + m->narrays++;
    vec_push(&m->fields, f);
    for (size_t i = m->fields.len - 1; i > at; i--) {
        m->fields.at[i] = m->fields.at[i - 1];
        m->fields.at[i]->index = (int)i;
    }
    m->fields.at[at] = f;
    f->index = (int)at;
}

ir_field *hidden_array(ir_func *f, const char *name, scalar elem, bool out)
{
    ir_module *m = f->module;
    ir_sigparam *p = add(f, name, elem);
    ir_field *a = ARENA_NEW(m->mem, ir_field);
    *a = (ir_field){.name = p->name,
                    .elem = elem,
                    .rows = 1,
                    .cols = 1,
                    .ndim = 1,
                    .array = true,
                    .launched = true,
                    .in = true,
                    .out = out,
                    .loc = f->loc};
    a->dims = ARENA_ARRAY(m->mem, ir_extent, 1);
    int count = f->nsig - 2;
    while (f->sig[count].array)
        count--;
    a->dims[0].param = count;
    p->array = a;
    enter(m, a);
    return a;
}

void hidden_end(ir_func *f, ir_value *total)
{
    arena *mem = f->module->mem;
    ir_op *y = ir_yield_of(f->body);
    ir_add_arg(y, total);
    f->results = ARENA_ARRAY(mem, scalar, 1);
    f->results[0] = SC_I64;
    f->nresults = f->nouts = 1;
    f->outs = ARENA_ARRAY(mem, ir_sigparam, 1);
    f->outs[0] = (ir_sigparam){.name = free_name(f, "elements"), .elem = SC_I64, .rows = 1, .cols = 1};
    ir_forget_origins(f);
}

/* ---- numbers ---- */

static ir_value *plus(ir_builder *b, ir_value *x, ir_value *y)
{
    return ir_op2(b, OP_ADD, x, y);
}

numbering number_elements(ir_func *f, ir_op *task, ir_value *base, ir_value *most)
{
    numbering n = {
        .front = {.func = f, .region = f->body, .before = task, .loc = task->loc},
        .body = {.func = f, .region = task->regions[0], .before = ir_yield_of(task->regions[0]), .loc = task->loc}};
    const int ndim = ir_task_attr(task)->ndim;
    ir_value *zero = ir_const_i(&n.front, SC_I64, 0), *trips[8], *all = NULL, *number = NULL;
    for (int d = 0; d < ndim; d++) {
        ir_value *span = ir_op2(&n.front, OP_SUB, task->args[2 * d + 1], task->args[2 * d]);
        trips[d] = ir_op2(&n.front, OP_MAX, span, zero);
        all = all ? ir_op2(&n.front, OP_MUL, all, trips[d]) : trips[d];
    }
    for (int d = 0; d < ndim; d++) {
        ir_value *i = ir_op2(&n.body, OP_SUB, task->regions[0]->params[d], task->args[2 * d]);
        number = number ? plus(&n.body, ir_op2(&n.body, OP_MUL, number, trips[d]), i) : i;
    }
    n.next = plus(&n.front, base, all);
    n.element = plus(&n.body, base, number);
    if (most) {
        ir_value *fits = ir_op2(&n.front, OP_LE, n.next, most);
        task->args[1] = ir_op3(&n.front, OP_SELECT, fits, task->args[1], task->args[0]);
    }
    return n;
}
