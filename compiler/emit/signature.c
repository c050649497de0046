/* The host's view of kernels: their forms, their parameters. */
#include "emit/emit_int.h"

#include <string.h>

static bool begins_with(const char *taken, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(taken, name, n) == 0 && (!taken[n] || taken[n] == '_');
}

static bool is_taken(const ir_func *f, const char *name)
{
    for (int i = 0; i < f->nsig; i++)
        if (begins_with(f->sig[i].name, name))
            return true;
    for (size_t i = 0; i < f->module->externs.len; i++)
        if (begins_with(f->module->externs.at[i]->name, name))
            return true;
    return false;
}

const char *free_name(arena *mem, const ir_func *f, const char *name)
{
    while (is_taken(f, name))
        name = arena_printf(mem, "out_%s", name);
    return name;
}

/* A single constant extent stands in the declaration. */
static const char *array_decl(arena *mem, const ir_field *f, bool is_const, const char *name)
{
    if (f->ndim != 1 || f->dims[0].param >= 0 || f->dims[0].mparam)
        return layout_pointer(mem, f, is_const, "", name, false);
    return arena_printf(mem, "%s%s %s[%lld]%s", is_const ? "const " : "", layout_element_type(mem, f), name,
                        (long long)f->dims[0].count, layout_element_dims(mem, f, false));
}

const char *sig_decl(arena *mem, const ir_sigparam *p, ir_plane plane, sig_use use)
{
    const char *name = arena_printf(mem, "%s%s", name_member(mem, p->name), plane_tail(plane));
    const char *type = p->structure ? struct_type(mem, p->structure) : scalar_c_type(p->elem);
    const char *lead = use == SIG_INPUT || use == SIG_OPTIONAL ? "const " : "";
    if (p->array && use == SIG_MEMBER)
        return arena_printf(mem, "tk_array %s", name);
    if (p->array)
        return array_decl(mem, p->array, *lead != '\0', name);
    if (p->structure || p->shape == IR_SHAPE_SCALAR)
        return use == SIG_INPUT || use == SIG_MEMBER ? arena_printf(mem, "%s %s", type, name)
                                                     : arena_printf(mem, "%s%s *%s", lead, type, name);
    if (p->shape == IR_SHAPE_VEC)
        return arena_printf(mem, "%s%s %s[%d]", lead, type, name, p->rows);
    return arena_printf(mem, "%s%s %s[%d][%d]", lead, type, name, p->rows, p->cols);
}

ir_sigparam sig_result(arena *mem, const ir_func *f, int i)
{
    ir_sigparam p = f->outs[i];
    p.name = free_name(mem, f, p.name);
    return p;
}

const char *sig_dual_text(arena *mem, const ir_sigparam *p)
{
    const char *name = arena_printf(mem, "%s_dual", p->name);
    return p->structure && !p->array ? arena_printf(mem, "%s.%s", name, p->path) : name;
}

const char *sig_component(arena *mem, const ir_sigparam *p, ir_plane plane, const char *dot, int k)
{
    const char *name = arena_printf(mem, "%s%s", name_member(mem, p->name), plane_tail(plane));
    if (p->structure)
        name = arena_printf(mem, "%s%s%s", name, dot, member_path(mem, p->path, "."));
    if (p->shape == IR_SHAPE_SCALAR)
        return name;
    if (p->shape == IR_SHAPE_VEC)
        return arena_printf(mem, "%s[%d]", name, k);
    return arena_printf(mem, "%s[%d][%d]", name, k / p->cols, k % p->cols);
}

const char *kernel_self(arena *mem, const ir_func *kernel)
{
    const char *self = "m";
    for (bool clash = true; clash;) {
        clash = false;
        for (int i = 0; i < kernel->nsig && !clash; i++)
            clash = strcmp(name_member(mem, kernel->sig[i].name), self) == 0;
        if (clash)
            self = arena_printf(mem, "%s_", self);
    }
    return self;
}

/* What a derivative does with an argument; the tangent of an argument by value is optional. */
static sig_use use_of(const ir_sigparam *p, kernel_form form, bool tangent)
{
    const bool runs = form == FORM_RUN || form == FORM_JVP;
    return p->array && p->array->out && runs ? SIG_RESULT : tangent ? SIG_OPTIONAL : SIG_INPUT;
}

static void push(sig_items *items, const ir_sigparam *p, ir_plane plane, sig_use use)
{
    vec_push(items, ((sig_item){*p, plane, use}));
}

static void push_gradients(sig_items *items, const ir_func *kernel, kernel_form form, bool seeds)
{
    for (int i = 0; i < kernel->nsig; i++) {
        const ir_sigparam *p = &kernel->sig[i];
        const sig_use use = seeds ? SIG_OPTIONAL : SIG_RESULT;
        if (!sig_has_grad(p) || sig_is_seed(p) != seeds)
            continue;
        push(items, p, plane_of(true, false), use);
        if (form == FORM_HVP)
            push(items, p, plane_of(true, true), use);
    }
}

/* The result of a launch and its tangent; for an adjoint, its gradient. */
static void push_result(arena *mem, sig_items *items, const ir_func *kernel, int i, kernel_form form)
{
    const ir_sigparam p = sig_result(mem, kernel, i);
    if (!sig_stands(&p))
        return;
    if (form == FORM_RUN || form == FORM_JVP)
        push(items, &p, IR_DATA, SIG_RESULT);
    if (form == FORM_JVP && sig_has_dual(&p))
        push(items, &p, plane_of(false, true), SIG_RESULT);
}

static void push_result_seed(arena *mem, sig_items *items, const ir_func *kernel, int i, kernel_form form)
{
    const ir_sigparam p = sig_result(mem, kernel, i);
    if (!sig_has_dual(&p))
        return;
    push(items, &p, plane_of(true, false), SIG_OPTIONAL);
    if (form == FORM_HVP)
        push(items, &p, plane_of(true, true), SIG_OPTIONAL);
}

void kernel_items(arena *mem, sig_items *items, const ir_func *kernel, kernel_form form)
{
    for (int i = 0; i < kernel->nsig; i++) {
        const ir_sigparam *p = &kernel->sig[i];
        if (!sig_stands(p))
            continue;
        push(items, p, IR_DATA, use_of(p, form, false));
        if ((form == FORM_JVP || form == FORM_HVP) && sig_has_dual(p))
            push(items, p, plane_of(false, true), use_of(p, form, true));
    }
    for (int i = 0; i < kernel->nouts; i++)
        push_result(mem, items, kernel, i, form);
    for (int seeds = 1; seeds >= 0 && (form == FORM_GRAD || form == FORM_HVP); seeds--) {
        push_gradients(items, kernel, form, seeds);
        for (int i = 0; i < kernel->nouts && seeds; i++)
            push_result_seed(mem, items, kernel, i, form);
    }
}

void add_items(arena *mem, strbuf *b, const sig_items *items)
{
    for (size_t i = 0; i < items->len; i++)
        sb_printf(b, "%s%s", b->len ? ", " : "", sig_decl(mem, &items->at[i].p, items->at[i].plane, items->at[i].use));
}

const char *kernel_signature(arena *mem, const ir_module *m, const ir_func *kernel, kernel_form form)
{
    strbuf b = {0};
    sig_items items = {0};
    kernel_items(mem, &items, kernel, form);
    sb_printf(&b, "%s *%s", m->name, kernel_self(mem, kernel));
    add_items(mem, &b, &items);
    const size_t column = strlen("tk_status __(") + strlen(m->name) + strlen(kernel->name) + strlen(form_suffix(form));
    const char *r = wrap_list(mem, arena_strdup(mem, sb_str(&b)), column, 2);
    vec_free(&items);
    sb_free(&b);
    return r;
}
