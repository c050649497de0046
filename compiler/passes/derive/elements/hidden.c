/* Kernels that the program does not have: their hidden arguments and results, and the numbers of elements. */
#include "ir/ops.h"
#include "passes/derive/elements/elements_int.h"

#include <string.h>

/* ---- names and signatures ---- */

static bool is_taken(const ir_module *m, const char *name)
{
    bool taken = false;
    for (size_t i = 0; i < m->funcs.len; i++)
        taken |= m->funcs.at[i]->name == name;
    return taken;
}

const char *hidden_name(const ir_func *k, const char *suffix)
{
    ir_module *m = k->module;
    const char *name = intern(m->names, arena_printf(m->mem, "%s_%s", k->name, suffix));
    while (is_taken(m, name))
        name = intern(m->names, arena_printf(m->mem, "%s_", name));
    return name;
}

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

ir_field *hidden_array(ir_func *f, const char *name, scalar elem, int ndim, bool out)
{
    ir_module *m = f->module;
    ir_sigparam *p = add(f, name, elem);
    ir_field *a = ARENA_NEW(m->mem, ir_field);
    *a = (ir_field){.name = p->name,
                    .elem = elem,
                    .rows = 1,
                    .cols = 1,
                    .ndim = ndim,
                    .array = true,
                    .launched = true,
                    .in = true,
                    .out = out,
                    .loc = f->loc};
    a->dims = ARENA_ARRAY(m->mem, ir_extent, ndim);
    for (int d = ndim - 1, count = f->nsig - 2; d >= 0; d--, count--) {
        while (f->sig[count].array)
            count--;
        a->dims[d].param = count;
    }
    p->array = a;
    enter(m, a);
    return a;
}

void hidden_end(ir_func *f, ir_value *const *results, const char *const *names, int n)
{
    arena *mem = f->module->mem;
    ir_op *y = ir_yield_of(f->body);
    f->results = ARENA_ARRAY(mem, scalar, n);
    f->outs = ARENA_ARRAY(mem, ir_sigparam, n);
    f->nresults = f->nouts = n;
    for (int i = 0; i < n; i++) {
        ir_add_arg(y, results[i]);
        f->results[i] = SC_I64;
        f->outs[i] = (ir_sigparam){.name = free_name(f, names[i]), .elem = SC_I64, .rows = 1, .cols = 1};
    }
    ir_forget_origins(f);
}

/* ---- numbers ---- */

static ir_value *plus(ir_builder *b, ir_value *x, ir_value *y)
{
    return ir_op2(b, OP_ADD, x, y);
}

numbering number_elements(ir_func *f, ir_op *task, ir_value *base)
{
    numbering n = {
        .front = {.func = f, .region = f->body, .before = task, .loc = task->loc},
        .body = {.func = f, .region = task->regions[0], .before = ir_yield_of(task->regions[0]), .loc = task->loc}};
    const int ndim = ir_task_attr(task)->ndim;
    ir_value *zero = ir_const_i(&n.front, SC_I64, 0);
    for (int d = 0; d < ndim; d++) {
        ir_value *span = ir_op2(&n.front, OP_SUB, task->args[2 * d + 1], task->args[2 * d]);
        n.trips[d] = ir_op2(&n.front, OP_MAX, span, zero);
    }
    n.row = ir_const_i(&n.front, SC_I64, 1);
    for (int d = 1; d < ndim; d++)
        n.row = d > 1 ? ir_op2(&n.front, OP_MUL, n.row, n.trips[d]) : n.trips[d];
    n.rows = n.trips[0];
    n.next = plus(&n.front, base, ir_op2(&n.front, OP_MUL, n.rows, n.row));
    return n;
}

ir_value *number_of_element(numbering *n, const ir_op *task, ir_value *base)
{
    ir_value *number = NULL;
    for (int d = 0; d < ir_task_attr(task)->ndim; d++) {
        ir_value *i = ir_op2(&n->body, OP_SUB, task->regions[0]->params[d], task->args[2 * d]);
        number = number ? plus(&n->body, ir_op2(&n->body, OP_MUL, number, n->trips[d]), i) : i;
    }
    return plus(&n->body, base, number);
}

void run_at_most(numbering *n, ir_op *task, ir_value *most)
{
    ir_value *fits = ir_op2(&n->front, OP_LE, n->next, most);
    task->args[1] = ir_op3(&n->front, OP_SELECT, fits, task->args[1], task->args[0]);
}

ir_value *run_rows(numbering *n, ir_op *task, ir_value *base, ir_value *from, ir_value **room)
{
    ir_builder *b = &n->front;
    ir_value *zero = ir_const_i(b, SC_I64, 0), *one = ir_const_i(b, SC_I64, 1);
    ir_value *empty = ir_op2(b, OP_LE, n->row, zero), *row = ir_op2(b, OP_MAX, n->row, one),
             *rows = ir_op3(b, OP_SELECT, empty, zero, n->rows);
    ir_value *past = ir_op2(b, OP_MAX, ir_op2(b, OP_SUB, from, base), zero);
    ir_value *skip = ir_op2(b, OP_MIN, ir_op2(b, OP_DIV, past, row), rows), *left = ir_op2(b, OP_SUB, rows, skip);
    ir_value *take = ir_op2(b, OP_MIN, left, ir_op2(b, OP_DIV, *room, row)), *ran = ir_op2(b, OP_MUL, take, row);
    ir_value *whole = ir_op2(b, OP_EQ, take, left), *rest = ir_op2(b, OP_SUB, *room, ran);
    *room = ir_op3(b, OP_SELECT, whole, rest, zero);
    task->args[0] = plus(b, task->args[0], skip);
    task->args[1] = plus(b, task->args[0], take);
    return ran;
}
