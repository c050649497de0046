/* The whole text: the module's fields, then each kernel. */
#include "codegen/forms.h"
#include "explain/words.h"
#include "ir/ops.h"

static void explain_func(words *w, const ir_func *k)
{
    say_heading(w, "%s %s (%s)", k->pure ? "Export func" : "Kernel", k->name, line_of(w, k->loc));
    explain_touched(w, k);
    explain_derivatives(w, k);
    if (k->pure)
        explain_workspace(w, k);
    explain_needs(w, k);
    explain_loops(w, k);
    explain_memory(w, k);
    const ir_func *const derived[] = {k->ad.grad, k->ad.jvp, k->ad.hvp, k->ad.elements.sweep};
    for (int i = 0; i < 4; i++)
        if (derived[i] && derived[i] != k && !derived[i]->ad.custom_of) {
            explain_loops(w, derived[i]);
            if (!k->pure)
                explain_memory(w, derived[i]);
        }
}

static void seek_decision(ir_op *op, void *ctx)
{
    bool *found = ctx;
    for (int i = 0; op_is_pure_table(op->code) && i < op->nargs; i++)
        *found |= op_decides(op, i);
    const ir_attr_task *t = op->code == OP_TASK ? ir_task_attr(op) : NULL;
    for (int i = 0; t && i < t->nreductions; i++)
        *found |= t->reductions[i].kind != IR_RED_ADD;
    *found |= op->code == OP_ATOMIC && ir_atomic_is_extreme(op);
    const ir_func *f = op->code == OP_CALL ? ir_callee_of(op) : NULL;
    *found |= f && (f->external || f->ad.custom_grad || f->ad.custom_jvp);
}

/* Why flags that change floats are refused. */
static const char *why_exact(const ir_module *m)
{
    bool found = false;
    for (size_t i = 0; i < m->funcs.len; i++)
        if (!m->funcs.at[i]->ad.primal)
            ir_walk(m->funcs.at[i]->body, seek_decision, &found);
    return found ? " Floats decide (conditions, subscripts, casts), so -ffast-math is an error."
                 : " Derivatives of export funcs return results with the bits of the function, so -ffast-math is an "
                   "error.";
}

void explain_module(strbuf *out, const ir_module *m, const notes *n)
{
    words w = {.out = out, .m = m, .noted = n, .facts = facts_create(m, m->mem)};
    say_heading(&w, "Module %s (%s)", m->name, m->source);
    say(&w, "  ", "real is %s.%s%s%s", scalar_name(m->real), m->debug ? " Compiled with --debug." : "",
        m->decides ? why_exact(m) : "",
        m->decides && !module_has_object(m)
            ? " Do not use parts of -ffast-math either: only parts that define a macro are detected."
            : "");
    explain_fields(&w);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i]->kind == IR_KERNEL && !ir_is_hidden(m->funcs.at[i]))
            explain_func(&w, m->funcs.at[i]);
    explain_matrix_values(&w);
    facts_free(&w.facts);
}
