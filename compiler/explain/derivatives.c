/* What a kernel reads and writes, which derivatives it has, what is active in them and what is not, and why. */
#include <string.h>

#include "codegen/forms.h"
#include "codegen/layout.h"
#include "explain/words.h"
#include "ir/ops.h"

enum { WRITES = OP_STORES | OP_ADDS };

static unsigned touch_of(words *w, const ir_func *f, const ir_field *field, ir_plane p)
{
    return f ? facts_of(&w->facts, f)->planes[ir_storage_of(field, p)] : 0;
}

/* ---- inputs and outputs ---- */

static const char *parameter_word(const words *w, const ir_sigparam *p)
{
    if (p->array)
        return arena_printf(w->m->mem, "%s (%s array)", p->array->name,
                            !p->array->in   ? "out"
                            : p->array->out ? "inout"
                                            : "in");
    return p->name;
}

static void add_parameters(const words *w, strbuf *b, const ir_sigparam *at, int n)
{
    for (int i = 0; i < n; i++)
        if (!at[i].structure || at[i].leads || at[i].array)
            add_name(b, parameter_word(w, &at[i]));
}

void explain_touched(words *w, const ir_func *k)
{
    static const struct {
        unsigned mask, is;
        const char *what;
    } ways[] = {{OP_READS | WRITES, OP_READS, "Reads"},
                {OP_READS | WRITES, OP_ADDS, "Adds to"},
                {OP_READS | WRITES, OP_STORES, "Writes"},
                {OP_READS | WRITES, OP_STORES | OP_ADDS, "Writes and adds to"}};
    strbuf b = {0};
    add_parameters(w, &b, k->sig, k->nsig);
    if (b.len)
        say(w, "  ", "Takes %s.", joined(w, &b));
    for (size_t way = 0; way <= sizeof ways / sizeof *ways; way++) {
        sb_clear(&b);
        for (size_t i = 0; i < w->m->fields.len; i++)
            for (ir_plane p = IR_DATA; p < IR_PLANES; p++) {
                const ir_field *f = w->m->fields.at[i];
                const unsigned t = touch_of(w, k, f, p);
                if (f->array && !f->launched)
                    continue;
                if (way < sizeof ways / sizeof *ways ? (t & ways[way].mask) == ways[way].is
                                                     : (t & OP_READS) && (t & WRITES))
                    add_name(&b, arena_printf(w->m->mem, "%s%s", f->name, ir_plane_text(p)));
            }
        if (b.len)
            say(w, "  ", "%s %s.", way < sizeof ways / sizeof *ways ? ways[way].what : "Reads and changes",
                joined(w, &b));
    }
    sb_clear(&b);
    add_parameters(w, &b, k->outs, k->nouts);
    if (b.len)
        say(w, "  ", "Returns %s.", joined(w, &b));
    sb_free(&b);
}

/* ---- active and not ---- */

static unsigned touch_of_gradient(words *w, const ir_func *k, const ir_field *f)
{
    const ir_plane plane = ir_adjoint_of(IR_DATA);
    if (!k->ad.grad)
        return 0;
    return f->wide[plane] ? touch_of(w, k->ad.grad, f->wide[plane], IR_DATA) : touch_of(w, k->ad.grad, f, plane);
}

static bool gets_gradient(words *w, const ir_func *k, const ir_field *f)
{
    return (touch_of_gradient(w, k, f) & OP_ADDS) != 0;
}

static bool gives_gradient(words *w, const ir_func *k, const ir_field *f)
{
    return (touch_of_gradient(w, k, f) & (OP_READS | OP_STORES)) != 0;
}

static void explain_field(words *w, const ir_func *k, const ir_field *f)
{
    const unsigned t = touch_of(w, k, f, IR_DATA);
    if (t && gets_gradient(w, k, f))
        explain_steering(w, k, f);
    if (!t || gets_gradient(w, k, f) || ((t & WRITES) && gives_gradient(w, k, f)))
        return;
    if (!scalar_is_float(f->elem))
        say(w, "  - ", "%s is not active: integers have no derivative.", f->name);
    else if (f->scratch)
        say(w, "  - ", "%s is scratch: it and its derivative exist only during the launch.", f->name);
    else if (!f->grad && !f->wide[IR_GRAD])
        say(w, "  - ", "%s is not active: it is not marked needs_grad, and counts as constant.", f->name);
    else if (t & WRITES)
        say(w, "  - ", "%s gets no active value here.", f->name);
    else
        explain_steering(w, k, f);
}

static void explain_parameters(words *w, const ir_func *k)
{
    for (int i = 0; i < k->nsig; i++) {
        const ir_sigparam *p = &k->sig[i];
        const char *name = p->structure ? arena_printf(w->m->mem, "%s.%s", p->name, p->path) : p->name;
        if (p->array && k->pure && k->ad.grad)
            explain_steering(w, k, p->array);
        if (k->pure && p->no_dual && !p->grad)
            say(w, "  - ", "the argument %s is not active: it is const, or derive(...) does not list it.", name);
        if (p->array)
            continue;
        if (!scalar_is_float(p->elem))
            say(w, "  - ", "the argument %s is not active: integers have no derivative.", name);
        else if (!p->grad && !k->pure)
            say(w, "  - ", "the argument %s is not active: it is not marked needs_grad, and counts as constant.", name);
        else if (!k->pure)
            say(w, "  - ", "the argument %s is active: the adjoint returns its gradient.", name);
        if (p->grad || k->pure)
            explain_steering_argument(w, k, p, name);
    }
}

static void explain_active(words *w, const ir_func *k)
{
    strbuf in = {0}, out = {0};
    for (size_t i = 0; i < w->m->fields.len; i++) {
        const ir_field *f = w->m->fields.at[i];
        if (gets_gradient(w, k, f))
            add_name(&in, f->name);
        if (gives_gradient(w, k, f) && (touch_of(w, k, f, IR_DATA) & WRITES))
            add_name(&out, f->name);
    }
    const bool made = k->ad.grad && k->ad.grad != k->ad.custom_grad && !k->ad.no_grad;
    if (made && in.len)
        say(w, "  - ", "gradients flow from %s to %s.", out.len ? joined(w, &out) : "its results", joined(w, &in));
    else if (made && out.len)
        say(w, "  - ", "gradients of %s end here: no active value is written.", joined(w, &out));
    sb_free(&in);
    sb_free(&out);
    for (size_t i = 0; i < w->m->fields.len && made; i++)
        if (!w->m->fields.at[i]->array || w->m->fields.at[i]->launched)
            explain_field(w, k, w->m->fields.at[i]);
    if (made)
        explain_parameters(w, k);
}

/* ---- which derivatives there are ---- */

static void explain_rule(words *w, const ir_func *rule, const char *what)
{
    say(w, "  ", "%s: %s (%s), written by the program. tkc does not check it; tk_gradcheck does.", what, rule->name,
        line_of(w, rule->loc));
}

static void explain_reverse(words *w, const ir_func *k)
{
    const char *p = w->m->name;
    if (k->ad.grad && k->ad.grad == k->ad.custom_grad)
        explain_rule(w, k->ad.custom_grad, "Gradient");
    else if (k->ad.no_grad)
        say(w, "  ", "Gradient: zero, because the kernel is no_grad.%s",
            k->ad.grad ? " Data that it overwrites loses its gradient." : "");
    else if (kernel_has_wide_adjoint(k))
        say(w, "  ", "Gradient: %s_%s has several directions, and no tape runs it.", p, k->ad.grad->name);
    else if (k->ad.grad)
        say(w, "  ", "Gradient: a tape records each launch and runs %s_%s when it ends.", p, k->ad.grad->name);
    else
        say(w, "  ", "Gradient: none, because %s.", why_no_grad(k));
    explain_active(w, k);
}

static void explain_forward(words *w, const ir_func *k)
{
    if (k->ad.jvp && k->ad.jvp == k->ad.custom_jvp)
        explain_rule(w, k->ad.custom_jvp, "Forward mode");
    else if (k->ad.jvp == k)
        say(w, "  ", "Forward mode: no dual changes here, so a forward scope runs the kernel itself.");
    else if (k->ad.jvp)
        say(w, "  ", "Forward mode: a forward scope runs %s_%s instead, which computes values and tangents.",
            w->m->name, k->ad.jvp->name);
    else if (!k->ad.no_grad)
        say(w, "  ", "Forward mode: none, because %s.", why_no_jvp(k));
    if (k->ad.hvp)
        say(w, "  ",
            "Second order: a tape inside a forward scope runs %s_%s when it ends, for products with the Hessian.",
            w->m->name, k->ad.hvp->name);
}

static const char *inputs_or(words *w, const ir_func *k, kernel_form form, const char *all)
{
    const char *some = form_inputs(w->m->mem, k, form);
    return some ? some : all;
}

static void explain_export(words *w, const ir_func *k)
{
    say(w, "  ", "The host calls it without a module object, and it keeps nothing between calls.");
    if (k->ad.grad)
        say(w, "  ", "Gradient: %s_%s_grad takes the gradients of the results and returns the gradients of %s.%s",
            w->m->name, k->name, inputs_or(w, k, FORM_GRAD, "all float arguments"),
            k->ad.grad == k->ad.custom_grad ? " The program wrote its rule."
                                            : " Each call computes the function again.");
    else
        say(w, "  ", "Gradient: none, because %s.", why_no_grad(k));
    if (k->ad.jvp)
        say(w, "  ", "Forward mode: %s_%s_jvp takes a tangent of %s and returns the tangents of the results.",
            w->m->name, k->name, inputs_or(w, k, FORM_JVP, "each float argument"));
    if (k->ad.hvp) {
        const char *inputs = form_inputs(w->m->mem, k, FORM_HVP);
        say(w, "  ", "Second order: %s_%s_hvp is the derivative of the gradient along tangents%s%s.", w->m->name,
            k->name, inputs ? " of " : "", inputs ? inputs : "");
    }
    explain_parameters(w, k);
}

/* What statements mean to derivatives. */
static void explain_statements(words *w, const ir_func *k)
{
    static const struct {
        note_kind kind;
        const char *text;
    } said[] = {
        {NOTE_BRANCH, "branches: derivatives take the branch of the launch. Conditions have no derivative."},
        {NOTE_WHILE, "a loop with a condition: derivatives run as many trips as the launch."},
        {NOTE_STOP, "stop_grad: no derivative passes."},
        {NOTE_ATOMIC, "atomics: the order of iterations varies, so the launch records it for its derivatives."},
        {NOTE_RANDOM, "random numbers: they are constants, and derivatives draw the same numbers again."},
        {NOTE_ASSERT, "assertions: a failed assertion fails the launch. Derivatives do not repeat it."},
        {NOTE_PRINT, "prints: only the launch prints."},
    };
    const func_notes *n = notes_of(w, k);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (has_note(n, said[i].kind)) {
            const char *lines = lines_of(w, n, said[i].kind);
            say(w, "  - ", "%s, %s", lines, said[i].text);
        }
    for (size_t i = 0; n && i < n->at.len; i++) {
        const note *x = &n->at.at[i];
        if (x->kind == NOTE_KERNEL)
            say(w, "  - ", "%s: runs the kernel %s as a part of this kernel.", line_of(w, x->loc), x->name);
        else if (x->kind == NOTE_ADJOINT)
            say(w, "  - ", "%s: runs the adjoint of %s as a part of this kernel.", line_of(w, x->loc), x->name);
        else if (x->kind == NOTE_CALL)
            say(w, "  - ", "%s: calls %s; derivatives pass through it.", line_of(w, x->loc), x->name);
        else if (x->kind == NOTE_HOST)
            say(w, "  - ", "%s: calls %s, a C function of the host.", line_of(w, x->loc), x->name);
    }
}

void explain_derivatives(words *w, const ir_func *k)
{
    if (k->ad.custom_of)
        say(w, "  ", "The derivative of %s, written by hand. It has no derivative itself.", k->ad.custom_of->name);
    else if (k->pure)
        explain_export(w, k);
    else {
        explain_reverse(w, k);
        explain_forward(w, k);
    }
    explain_matrices(w, k);
    explain_statements(w, k);
    explain_repeats(w, k);
}
