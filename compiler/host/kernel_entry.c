/* The typed entry points of the host: they fill the argument struct, launch, and hand gradients on. */
#include "host/host_int.h"

#include <string.h>

/* "{p[0], p[1]}", or the zeros of a tangent that was not given; a struct as a whole. */
static void component_list(emitter *e, strbuf *b, const ir_sigparam *p, ir_plane plane, bool optional)
{
    const char *name = arena_printf(e->mem, "%s%s", name_member(e->mem, p->name), plane_tail(plane));
    if (p->structure) {
        if (optional)
            sb_printf(b, "%s ? *%s : (%s)%s", name, name, struct_type(e->mem, p->structure),
                      struct_zero(e->mem, p->structure));
        else
            sb_add(b, name);
        return;
    }
    const int n = p->rows * p->cols;
    if (p->shape != IR_SHAPE_SCALAR)
        sb_addc(b, '{');
    for (int k = 0; k < n; k++) {
        if (p->shape == IR_SHAPE_MAT && k % p->cols == 0)
            sb_add(b, k ? "}, {" : "{");
        else if (k)
            sb_add(b, ", ");
        const char *one = sig_component(e->mem, p, plane, ".", k);
        if (optional)
            sb_printf(b, "%s ? %s%s : %s", name, p->shape == IR_SHAPE_SCALAR ? "*" : "", one, zero_text(p->elem));
        else
            sb_add(b, one);
    }
    if (p->shape == IR_SHAPE_MAT)
        sb_addc(b, '}');
    if (p->shape != IR_SHAPE_SCALAR)
        sb_addc(b, '}');
}

/* The pointers that this form is given; libtkc puts zeros where one is missing. */
static void array_planes(emitter *e, strbuf *b, const ir_sigparam *p, kernel_form form)
{
    const bool back = sig_has_grad(p) && (form == FORM_GRAD || form == FORM_HVP),
               along = sig_has_dual(p) && (form == FORM_JVP || form == FORM_HVP);
    sb_add(b, "{{");
    const char *before = "";
    for (int k = IR_DATA; k < IR_PLANES; k++) {
        if ((back || !ir_plane_is_adjoint((ir_plane)k)) && (along || !ir_plane_is_tangent((ir_plane)k))) {
            sb_printf(b, "%s(void *)%s%s", before, name_member(e->mem, p->name), plane_tail((ir_plane)k));
            before = "";
        } else {
            before = arena_printf(e->mem, "%sNULL", before);
        }
        before = arena_printf(e->mem, "%s, ", before);
    }
    sb_add(b, "}}");
}

static void result_args(emitter *e, strbuf *b, const ir_func *kernel, kernel_form form)
{
    const bool runs = form == FORM_RUN || form == FORM_JVP, has[] = {runs, form == FORM_JVP, !runs, form == FORM_HVP};
    bool comma = kernel->nsig > 0;
    for (int i = 0; i < kernel->nouts; i++) {
        const ir_sigparam p = sig_result(e->mem, kernel, i);
        if (!sig_stands(&p))
            continue;
        for (int k = 0; k < RESULT_PLANES; k++) {
            if (!has[k] || (k > 0 && !sig_has_dual(&p)))
                continue;
            const char *cast = p.shape == IR_SHAPE_MAT && !p.structure
                                   ? arena_printf(e->mem, "(%s%s *)", k > 1 ? "const " : "", scalar_c_type(p.elem))
                                   : "";
            sb_printf(b, "%s.%s%s = %s%s%s", comma ? ", " : "", p.name, plane_tail(result_plane(k)), cast, p.name,
                      plane_tail(result_plane(k)));
            comma = true;
        }
        if (!runs && !sig_has_dual(&p))
            sb_printf(b, "%s.%s = NULL", comma ? ", " : "", p.name);
    }
}

static void primal_args(emitter *e, strbuf *b, const ir_func *kernel, kernel_form form)
{
    for (int i = 0; i < kernel->nsig; i++) {
        if (!sig_stands(&kernel->sig[i]))
            continue;
        sb_printf(b, "%s.%s = ", i ? ", " : "", name_member(e->mem, kernel->sig[i].name));
        if (kernel->sig[i].array)
            array_planes(e, b, &kernel->sig[i], form);
        else
            component_list(e, b, &kernel->sig[i], IR_DATA, false);
    }
    result_args(e, b, kernel, form);
}

static void print_args(emitter *e, strbuf *b, const ir_func *kernel, kernel_form form, const char *name)
{
    if (!kernel_has_args(kernel))
        return;
    sb_printf(b, "    const struct %s %s = {", kernel_args_tag(e, kernel, form), name);
    if (form == FORM_RUN || form == FORM_GRAD) {
        primal_args(e, b, kernel, form);
    } else {
        sb_add(b, ".primal = {");
        primal_args(e, b, kernel, form);
        sb_addc(b, '}');
        for (int i = 0; i < kernel->nsig; i++) {
            if (!sig_has_dual(&kernel->sig[i]) || kernel->sig[i].array)
                continue;
            sb_printf(b, ",\n        .%s_dual = ", name_member(e->mem, kernel->sig[i].name));
            component_list(e, b, &kernel->sig[i], plane_of(false, true), true);
        }
    }
    sb_add(b, "};\n");
}

/* The members of a struct, whose parameters begin with number i; returns that of the last. */
static int add_struct(emitter *e, strbuf *b, const ir_func *kernel, int i, ir_plane plane, const char *out)
{
    const char *name = arena_printf(e->mem, "%s%s", name_member(e->mem, kernel->sig[i].name), plane_tail(plane));
    sb_printf(b, "    if (%s) {\n", name);
    do {
        const ir_sigparam *p = &kernel->sig[i];
        for (int k = 0; k < p->rows * p->cols && p->grad; k++) {
            const char *one = sig_component(e->mem, p, plane, ".", k);
            sb_printf(b, "        %s->%s += %s.%s;\n", name, one + strlen(name) + 1, out, one);
        }
        i++;
    } while (i < kernel->nsig && !sig_stands(&kernel->sig[i]));
    sb_add(b, "    }\n");
    return i - 1;
}

/* Gradients are added to what the caller has; NULL means not wanted. */
static void add_results(emitter *e, strbuf *b, const ir_func *kernel, kernel_form form, const char *out)
{
    for (int tangent = 0; tangent <= (form == FORM_HVP); tangent++)
        for (int i = 0; i < kernel->nsig; i++) {
            const ir_sigparam *p = &kernel->sig[i];
            const ir_plane plane = plane_of(true, tangent);
            if (sig_has_grad(p) && p->structure && !p->array)
                i = add_struct(e, b, kernel, i, plane, out);
            if (!p->grad || p->structure || p->array)
                continue;
            const int n = p->rows * p->cols;
            sb_printf(b, "    if (%s%s)%s\n", name_member(e->mem, p->name), plane_tail(plane), n > 1 ? " {" : "");
            for (int k = 0; k < n; k++) {
                const char *one = sig_component(e->mem, p, plane, ".", k);
                sb_printf(b, "        %s%s += %s.%s;\n", p->shape == IR_SHAPE_SCALAR ? "*" : "", one, out, one);
            }
            if (n > 1)
                sb_add(b, "    }\n");
        }
}

/* "dt_dual"; of a member of a struct, whether it is not zero. */
static const char *given_tangent(emitter *e, const ir_sigparam *p)
{
    const char *name = arena_printf(e->mem, "%s_dual", name_member(e->mem, p->name));
    if (!p->structure || p->array)
        return name;
    strbuf b = {0};
    for (int k = 0; k < p->rows * p->cols; k++)
        sb_printf(&b, "%s%s->%s != %s", k ? " || " : "", name,
                  sig_component(e->mem, p, plane_of(false, true), ".", k) + strlen(name) + 1, zero_text(p->elem));
    const char *r = arena_printf(e->mem, p->rows * p->cols > 1 ? "%s && (%s)" : "%s && %s", name, sb_str(&b));
    sb_free(&b);
    return r;
}

static void emit_entry(emitter *e, const ir_func *kernel, kernel_form form, int index)
{
    if (!kernel_form_of(kernel, form))
        return;
    static const char *const launch[] = {[FORM_RUN] = "tk_launch",
                                         [FORM_GRAD] = "tk_launch_grad",
                                         [FORM_JVP] = "tk_launch_jvp",
                                         [FORM_HVP] = "tk_launch_hvp"};
    strbuf *b = e->out;
    names *local = names_create(e->mem, e->globals);
    for (int i = 0; i < kernel->nsig; i++)
        for (int k = 0; k < RESULT_PLANES; k++) {
            names_unique(local, arena_printf(e->mem, "%s%s", name_member(e->mem, kernel->sig[i].name),
                                             plane_tail(result_plane(k))));
        }
    for (int i = 0; i < kernel->nouts; i++)
        for (int k = 0; k < RESULT_PLANES; k++) {
            names_unique(local,
                         arena_printf(e->mem, "%s%s", sig_result(e->mem, kernel, i).name, plane_tail(result_plane(k))));
        }
    const char *self = kernel_self(e->mem, kernel);
    names_unique(local, self);
    const char *args = names_unique(local, "args"), *out = names_unique(local, "out"),
               *status = names_unique(local, "status");
    const bool takes_out = form == FORM_GRAD || form == FORM_HVP;
    const bool gives = takes_out && kernel_has_grad_args(kernel);
    const char *name = ir_is_hidden(kernel) ? arena_printf(e->mem, "static tk_status %s", file_level(e, kernel->name))
                                            : arena_printf(e->mem, "tk_status %s_%s", e->m->name, kernel->name);
    sb_printf(b, "%s%s(%s)\n{\n", name, form_suffix(form), kernel_signature(e->mem, e->m, kernel, form));
    for (int i = 0; i < kernel->nsig && (form == FORM_JVP || form == FORM_HVP); i++) {
        const ir_sigparam *p = &kernel->sig[i];
        if (p->lost_in)
            sb_printf(b,
                      "    if (%s)\n        return tk_fail(%s ? %s->tk.session : NULL, TK_NO_DERIVATIVE,\n"
                      "                       \"%s%s: the tangent of '%s' would be lost in '%s', which has no dual: "
                      "declare it needs_dual, or pass NULL\");\n",
                      given_tangent(e, p), self, self, kernel->name, form_suffix(form),
                      p->structure ? arena_printf(e->mem, "%s.%s", p->name, p->path) : p->name, p->lost_in);
    }
    print_args(e, b, kernel, form, args);
    if (gives)
        sb_printf(b, "    struct %s %s;\n    memset(&%s, 0, sizeof %s);\n", kernel_out_tag(e, kernel, form), out, out,
                  out);
    const char *given = arena_printf(e->mem, "%s ? &%s->tk : NULL, &%s[%d], %s%s", self, self, e->kernels, index,
                                     kernel_has_args(kernel) ? "&" : "", kernel_has_args(kernel) ? args : "NULL");
    if (!gives) {
        sb_printf(b, "    return %s(%s%s);\n}\n\n", launch[form], given, takes_out ? ", NULL" : "");
    } else {
        sb_printf(b, "    const tk_status %s = %s(%s, &%s);\n    if (%s != TK_OK)\n        return %s;\n", status,
                  launch[form], given, out, status, status);
        add_results(e, b, kernel, form, out);
        sb_add(b, "    return TK_OK;\n}\n\n");
    }
    names_free(local);
}

void emit_entries(emitter *e)
{
    int index = 0;
    for (size_t i = 0; i < e->m->funcs.len; i++) {
        if (!ir_is_kernel(e->m->funcs.at[i]))
            continue;
        for (int form = FORM_RUN; form <= FORM_HVP; form++)
            emit_entry(e, e->m->funcs.at[i], (kernel_form)form, index);
        index++;
    }
}
