/* Entries of Jacobians and Hessians of export funcs in C. */
#include "host/host_int.h"
#include "passes/analysis/analysis.h"

static const src_loc nowhere = {0, 0, 0};

static int columns_of(const entry_list *l, int i)
{
    return l->form == FORM_HESS ? i + 1 : l->shape.ncols;
}

entry_list entries_of(cfn *c, const ir_func *primal, kernel_form form)
{
    arena *mem = c->e->mem;
    if (form < FORM_JAC)
        return (entry_list){.form = form};
    const ir_op *yield = c->f->body->last;
    entry_list l = {.shape = matrix_of(primal, form), .names = matrix_names_of(mem, primal, form), .form = form};
    l.first = primal->nresults + (form == FORM_HESS ? l.shape.nrows : 0);
    l.i = ARENA_ARRAY(mem, int, yield->nargs + 1);
    l.j = ARENA_ARRAY(mem, int, yield->nargs + 1);
    l.next = ARENA_ARRAY(mem, int, yield->nargs + 1);
    l.written = ARENA_ARRAY(mem, bool, yield->nargs + 1);
    l.of = ARENA_ARRAY(mem, int, c->f->next_value + 1);
    for (uint32_t v = 0; v < c->f->next_value; v++)
        l.of[v] = -1;
    for (int i = 0; i < l.shape.nrows; i++)
        for (int j = 0; j < columns_of(&l, i); j++) {
            if (!matrix_has(&l.shape, i, j))
                continue;
            const uint32_t v = yield->args[l.first + l.n]->id;
            l.i[l.n] = i;
            l.j[l.n] = j;
            l.next[l.n] = l.of[v];
            l.of[v] = l.n++;
        }
    return l;
}

/* In the type of the matrix. */
static const char *entry_text(cfn *c, const ir_value *v, scalar elem)
{
    const char *text = val(c, v).text;
    return v->type == elem ? text : arena_printf(c->e->mem, "(%s)(%s)", scalar_c_type(elem), text);
}

static void write_entry(cfn *c, const entry_list *l, int i, int j, const char *text)
{
    const bool mirrored = l->form == FORM_HESS && j < i;
    const char *mirror = mirrored ? arena_printf(c->e->mem, "%s = ", matrix_entry(c->e->mem, &l->names, j, i)) : "";
    stmt(c, nowhere, "%s%s = %s;", mirror, matrix_entry(c->e->mem, &l->names, i, j), text);
}

static void write_yielded(cfn *c, entry_list *l, int k)
{
    if (!l->written[k])
        write_entry(c, l, l->i[k], l->j[k], entry_text(c, c->f->body->last->args[l->first + k], l->shape.elem));
    l->written[k] = true;
}

void emit_with_entries(cfn *c, entry_list *l)
{
    if (l->form < FORM_JAC || !is_long_line(c->f)) {
        emit_ops(c, c->f->body);
        return;
    }
    for (const ir_op *op = c->f->body->first; op; op = op->next) {
        emit_op(c, op);
        for (int r = 0; r < op->nres && op->code != OP_CONST; r++)
            for (int k = l->of[op->res[r]->id]; k >= 0; k = l->next[k])
                write_yielded(c, l, k);
    }
}

static void write_gradient(cfn *c, const entry_list *l)
{
    const ir_op *yield = c->f->body->last;
    stmt(c, nowhere, "if (%s) {", l->names.grad);
    c->indent++;
    for (int i = 0; i < l->shape.nrows; i++)
        stmt(c, nowhere, "%s[%d] = %s;", l->names.grad, i,
             entry_text(c, yield->args[l->first - l->shape.nrows + i], l->shape.elem));
    close_block(c);
}

void write_entries(cfn *c, entry_list *l)
{
    if (l->form < FORM_JAC)
        return;
    if (l->shape.nrows < 2)
        stmt(c, nowhere, "(void)%s;", l->names.ld);
    if (l->form == FORM_HESS && l->shape.ncols)
        write_gradient(c, l);
    for (int i = 0, at = 0; i < l->shape.nrows; i++)
        for (int j = 0; j < columns_of(l, i); j++)
            if (matrix_has(&l->shape, i, j))
                write_yielded(c, l, at++);
            else
                write_entry(c, l, i, j, zero_text(l->shape.elem));
}
