/* Kernels: argument structs, the function that a launch runs, and the typed entry points of the host. */
#include "emit/emit_int.h"

#include <string.h>

static const src_loc nowhere = {0, 0, 0};

/* ---- argument and gradient structs ---- */

static const char *args_tag(emitter *e, const ir_func *kernel, kernel_form form)
{
    return arena_printf(e->mem, "%s_%s_%s", e->m->name, kernel->name, form == FORM_JVP || form == FORM_HVP ? "jvp_args" : "args");
}

static const char *out_tag(emitter *e, const ir_func *kernel, kernel_form form)
{
    return arena_printf(e->mem, "%s_%s%s_out", e->m->name, kernel->name, form_suffix(form));
}

static bool has_args(const ir_func *kernel)
{
    return kernel->nsig || kernel->nouts;
}

/* Pointers to the host's result, and to its derivatives where there are any. */
static void print_result_members(emitter *e, const ir_func *kernel)
{
    static const char *const suffix[] = {"", "_dual", "_grad", "_grad_dual"};
    const bool has[] = {true, kernel->jvp, kernel->grad, kernel->hvp};
    for (int i = 0; i < kernel->nouts; i++) {
        const ir_sigparam p = sig_result(e->mem, kernel, i);
        for (int k = 0; k < 4 && sig_stands(&p); k++)
            if (has[k] && (k == 0 || sig_has_dual(&p)))
                sb_printf(e->out, "    %s%s *%s%s;\n", k > 1 ? "const " : "", p.record ? record_type(e->mem, p.record) : scalar_c_type(p.elem), p.name, suffix[k]);
    }
}

static void print_arg_structs(emitter *e, const ir_func *kernel)
{
    strbuf *out = e->out;
    if (has_args(kernel)) {
        sb_printf(out, "struct %s {\n", args_tag(e, kernel, FORM_RUN));
        for (int i = 0; i < kernel->nsig; i++)
            if (sig_stands(&kernel->sig[i]))
                sb_printf(out, "    %s;\n", sig_decl(e->mem, &kernel->sig[i], "", SIG_MEMBER));
        print_result_members(e, kernel);
        sb_add(out, "};\n\n");
    }
    if (has_args(kernel) && (kernel->jvp || kernel->hvp)) {
        sb_printf(out, "struct %s { /* the tangents come after the primal's arguments */\n    struct %s primal;\n", args_tag(e, kernel, FORM_JVP),
                  args_tag(e, kernel, FORM_RUN));
        for (int i = 0; i < kernel->nsig; i++)
            if (sig_has_dual(&kernel->sig[i]) && !kernel->sig[i].array)
                sb_printf(out, "    %s;\n", sig_decl(e->mem, &kernel->sig[i], "_dual", SIG_MEMBER));
        sb_add(out, "};\n\n");
    }
    for (int form = FORM_GRAD; form <= FORM_HVP; form++) {
        if (form == FORM_JVP || !kernel_form_of(kernel, (kernel_form)form) || !kernel_has_grad_args(kernel))
            continue;
        sb_printf(out, "struct %s {\n", out_tag(e, kernel, (kernel_form)form));
        for (int tangent = 0; tangent <= (form == FORM_HVP); tangent++)
            for (int i = 0; i < kernel->nsig; i++)
                if (sig_has_grad(&kernel->sig[i]) && !kernel->sig[i].array)
                    sb_printf(out, "    %s;\n", sig_decl(e->mem, &kernel->sig[i], tangent ? "_grad_dual" : "_grad", SIG_MEMBER));
        sb_add(out, "};\n\n");
    }
}

/* ---- the function that a launch runs ---- */

static void hoist_arg(cfn *c, strbuf *out, const ir_value *p, const char *access)
{
    if (!c->v[p->id].uses)
        return;
    const char *name = names_unique_function(c->names, p->name);
    define_name(c, p, name);
    sb_printf(out, "    %s = %s->%s;\n", declare(c, p, true, name), c->a, access);
}

/* Of a result that is no struct, the k-th number behind a pointer. */
static const char *result_component(cfn *c, const ir_sigparam *p, const char *suffix, int k)
{
    return p->record ? sig_component(c->e->mem, p, suffix, "->", k) : arena_printf(c->e->mem, "%s%s[%d]", p->name, suffix, k);
}

/* Gradients of the results, or the tangents of these: NULL is zero. */
static int hoist_seeds(cfn *c, strbuf *out, const ir_func *kernel, const char *primal, const char *suffix, int next)
{
    for (int i = 0; i < kernel->nouts; i++) {
        const ir_sigparam p = sig_result(c->e->mem, kernel, i);
        for (int k = 0; k < p.rows * p.cols && sig_is_float(&p); k++, next++) {
            const ir_value *v = c->f->body->params[next];
            if (!c->v[v->id].uses)
                continue;
            const char *name = names_unique_function(c->names, v->name), *args = arena_printf(c->e->mem, "%s->%s", c->a, primal);
            define_name(c, v, name);
            sb_printf(out, "    %s = %s%s%s ? %s%s : %s;\n", declare(c, v, true, name), args, p.name, suffix, args, result_component(c, &p, suffix, k), zero_text(p.elem));
        }
    }
    return next;
}

/* Parameters of the region: the components of all parameters, gradients of results, then the tangents of all floats among these. */
static void hoist_args(cfn *c, strbuf *out, const ir_func *kernel, kernel_form form)
{
    arena *mem = c->e->mem;
    ir_value **params = c->f->body->params;
    const bool tangents = form == FORM_JVP || form == FORM_HVP;
    int next = 0;
    for (int i = 0; i < kernel->nsig; i++) {
        const ir_sigparam *s = &kernel->sig[i];
        for (int k = 0; k < s->rows * s->cols; k++, next++) {
            const char *member = sig_component(mem, s, "", ".", k);
            hoist_arg(c, out, params[next], tangents ? arena_printf(mem, "primal.%s", member) : member);
        }
    }
    const bool seeds = form == FORM_GRAD || form == FORM_HVP;
    if (seeds)
        next = hoist_seeds(c, out, kernel, tangents ? "primal." : "", "_grad", next);
    for (int i = 0; i < kernel->nsig && tangents; i++) {
        const ir_sigparam *s = &kernel->sig[i];
        for (int k = 0; k < s->rows * s->cols && sig_is_float(s); k++)
            hoist_arg(c, out, params[next++], sig_component(mem, s, "_dual", ".", k));
    }
    if (seeds && tangents)
        (void)hoist_seeds(c, out, kernel, "primal.", "_grad_dual", next);
}

/* Result number i, of a struct all of it, where the host wants it; *next: of the yielded values. Returns the number behind it. */
static int give_result(cfn *c, const ir_func *kernel, int i, const char *args, bool tangent, int *next)
{
    const ir_op *yield = c->f->body->last;
    const char *suffix = tangent ? "_dual" : "";
    const ir_sigparam lead = sig_result(c->e->mem, kernel, i);
    int n = 0, end = i;
    do {
        n += tangent && !sig_is_float(&kernel->outs[end]) ? 0 : kernel->outs[end].rows * kernel->outs[end].cols;
        end++;
    } while (end < kernel->nouts && !sig_stands(&kernel->outs[end]));
    if (n)
        stmt(c, nowhere, "if (%s%s%s)%s", args, lead.name, suffix, n > 1 ? " {" : "");
    c->indent += n > 0;
    for (; i < end; i++) {
        const ir_sigparam p = sig_result(c->e->mem, kernel, i);
        for (int k = 0; k < p.rows * p.cols && (!tangent || sig_is_float(&p)); k++)
            stmt(c, nowhere, "%s%s = %s;", args, result_component(c, &p, suffix, k), val(c, yield->args[(*next)++]).text);
    }
    if (n > 1)
        close_block(c);
    else
        c->indent -= n;
    return end;
}

/* Where the host wants them. */
static void give_results(cfn *c, const ir_func *kernel, kernel_form form)
{
    const char *args = arena_printf(c->e->mem, "%s->%s", c->a, form == FORM_JVP ? "primal." : "");
    int next = 0;
    for (int tangent = 0; tangent <= (form == FORM_JVP); tangent++)
        for (int i = 0; i < kernel->nouts;)
            i = give_result(c, kernel, i, args, tangent, &next);
}

static void yield_gradients(cfn *c, const ir_func *kernel, kernel_form form, const char *result)
{
    const ir_op *yield = c->f->body->last;
    int next = 0;
    for (int tangent = 0; tangent <= (form == FORM_HVP); tangent++)
        for (int i = 0; i < kernel->nsig; i++) {
            const ir_sigparam *s = &kernel->sig[i];
            for (int k = 0; k < s->rows * s->cols && s->grad; k++)
                stmt(c, nowhere, "%s->%s = %s;", result, sig_component(c->e->mem, s, tangent ? "_grad_dual" : "_grad", ".", k), val(c, yield->args[next++]).text);
        }
}

static void print_run(cfn *c, const ir_func *kernel, kernel_form form, const strbuf *args, const strbuf *body, bool stack, const char *result)
{
    emitter *e = c->e;
    strbuf hoists = {0}, *out = e->out;
    cfn_hoists(c, &hoists);
    if (stack || c->uses_label)
        c->uses_m = true;
    sb_addn(out, sb_str(&c->tasks), c->tasks.len);
    sb_printf(out, "static tk_status %s_run(tk_module *tk_m, const void *tk_args, void *tk_out, tk_record *tk_rec)\n{\n", e->base);
    if (c->uses_m)
        sb_printf(out, "    %s *const %s = (%s *)tk_m;\n", e->m->name, c->m, e->m->name);
    else
        sb_add(out, "    (void)tk_m;\n");
    const bool gives = kernel->nouts && (form == FORM_RUN || form == FORM_JVP);
    if (args->len || gives)
        sb_printf(out, "    const struct %s *const %s = tk_args;\n", args_tag(e, kernel, form), c->a);
    else
        sb_add(out, "    (void)tk_args;\n");
    if (result)
        sb_printf(out, "    struct %s *const %s = tk_out;\n", out_tag(e, kernel, form), result);
    else
        sb_add(out, "    (void)tk_out;\n");
    if (!c->uses_rec)
        sb_add(out, "    (void)tk_rec;\n");
    sb_add(out, sb_str(args));
    sb_add(out, sb_str(&hoists));
    if (stack)
        sb_printf(out, "    tk_stack *const %s = tk_stack_acquire(%s->tk.session);\n    if (!%s)\n        return tk_session_status(%s->tk.session);\n", c->st, c->m,
                  c->st, c->m);
    sb_addn(out, sb_str(body), body->len);
    if (stack && c->uses_label)
        sb_add(out, "leave:\n");
    if (stack)
        sb_printf(out, "    tk_stack_release(%s);\n", c->st);
    if (stack && c->uses_label)
        sb_printf(out, "    return tk_session_status(%s->tk.session);\n}\n", c->m);
    else
        sb_add(out, "    return TK_OK;\n}\n");
    reset_line(e, out);
    sb_addc(out, '\n');
    sb_free(&hoists);
}

static void emit_run(emitter *e, const ir_func *kernel, kernel_form form)
{
    const ir_func *f = kernel_form_of(kernel, form);
    if (!f || (form != FORM_RUN && f->kind == IR_KERNEL)) /* shared with the primal, or a kernel of the program's own */
        return;
    static const char *const what[] = {[FORM_RUN] = "kernel", [FORM_GRAD] = "adjoint of", [FORM_JVP] = "JVP of", [FORM_HVP] = "JVP of the adjoint of"};
    emit_functions_of(e, f);
    sb_printf(e->out, "/* ---- %s %s, %s ---- */\n\n", what[form], kernel->name, place_of(e, kernel->loc));
    if (form == FORM_RUN)
        print_arg_structs(e, kernel);
    e->base = arena_printf(e->mem, "%s%s", kernel->name, form_suffix(form));
    e->nlayouts = 0;
    fstate fs = fstate_create(f);
    cfn *c = cfn_create(e, f, CFN_RUN, &fs);
    strbuf body = {0}, args = {0};
    c->out = &body;
    c->info = func_info_of(e, f);
    cfn_scan(c, f->body);
    cfn_take_names(c);
    const bool stack = region_uses_stack(e, f->body);
    c->fail = stack ? "goto leave;" : arena_printf(e->mem, "return tk_session_status(%s->tk.session);", c->m);
    hoist_args(c, &args, kernel, form);
    const bool gives = kernel_has_grad_args(kernel) && (form == FORM_GRAD || form == FORM_HVP);
    const char *result = gives ? names_internal(c->names, fs.hints, "out") : NULL;
    emit_ops(c, f->body);
    if (gives)
        yield_gradients(c, kernel, form, result);
    if (form == FORM_RUN || form == FORM_JVP)
        give_results(c, kernel, form);
    print_run(c, kernel, form, &args, &body, stack, result);
    sb_free(&c->tasks);
    cfn_free(c);
    fstate_free(&fs);
    sb_free(&body);
    sb_free(&args);
}

/* The ends of the parts of fields that a launch touches, from its arguments. */
static void emit_part_ends(emitter *e, const ir_func *kernel)
{
    const ir_func *f = kernel->bounds;
    if (!f)
        return;
    e->base = arena_printf(e->mem, "%s_bounds", kernel->name);
    e->nlayouts = 0;
    fstate fs = fstate_create(f);
    cfn *c = cfn_create(e, f, CFN_RUN, &fs);
    strbuf body = {0}, args = {0}, hoists = {0}, *out = e->out;
    c->out = &body;
    c->info = func_info_of(e, f);
    cfn_scan(c, f->body);
    cfn_take_names(c);
    hoist_args(c, &args, kernel, FORM_RUN);
    emit_ops(c, f->body);
    const ir_op *yield = f->body->last;
    for (int i = 0; i < f->nresults; i++)
        stmt(c, nowhere, "tk_ends[%d] = %s;", i, val(c, yield->args[i]).text);
    cfn_hoists(c, &hoists);
    sb_printf(out, "static void %s_bounds(tk_module *tk_m, const void *tk_args, int64_t *tk_ends)\n{\n", kernel->name);
    if (c->uses_m)
        sb_printf(out, "    %s *const %s = (%s *)tk_m;\n", e->m->name, c->m, e->m->name);
    else
        sb_add(out, "    (void)tk_m;\n");
    if (args.len)
        sb_printf(out, "    const struct %s *const %s = tk_args;\n", args_tag(e, kernel, FORM_RUN), c->a);
    else
        sb_add(out, "    (void)tk_args;\n");
    sb_add(out, sb_str(&args));
    sb_add(out, sb_str(&hoists));
    sb_addn(out, sb_str(&body), body.len);
    sb_add(out, "}\n\n");
    cfn_free(c);
    fstate_free(&fs);
    sb_free(&body);
    sb_free(&args);
    sb_free(&hoists);
}

/* A member of the arguments of a kernel of the program's own that serves as a derivative: both structs have the same types in other members. */
static void copy_member(emitter *e, const ir_sigparam *to, const char *access, const ir_sigparam *from, const char *suffix)
{
    const char *name = name_member(e->mem, to->name);
    sb_printf(e->out, "    memcpy(&args.%s, &given->%s%s%s, sizeof args.%s);\n", name, access, name_member(e->mem, from->name), suffix, name);
}

static void emit_custom(emitter *e, const ir_func *kernel, kernel_form form)
{
    const ir_func *f = kernel_form_of(kernel, form);
    if (form == FORM_RUN || !f || f->custom_of != kernel)
        return;
    strbuf *b = e->out;
    sb_printf(b, "/* ---- %s is the %s of %s ---- */\n\n", f->name, form == FORM_JVP ? "JVP" : "adjoint", kernel->name);
    sb_printf(b, "static tk_status %s%s_run(tk_module *tk_m, const void *tk_args, void *tk_out, tk_record *tk_rec)\n{\n", kernel->name, form_suffix(form));
    const char *given = "tk_args";
    if (kernel->nsig) {
        const char *access = form == FORM_JVP ? "primal." : "";
        sb_printf(b, "    const struct %s *const given = tk_args;\n    struct %s args;\n", args_tag(e, kernel, form), args_tag(e, f, FORM_RUN));
        int next = 0;
        for (int i = 0; i < kernel->nsig; i++)
            copy_member(e, &f->sig[next++], access, &kernel->sig[i], "");
        for (int i = 0; i < kernel->nsig && form == FORM_JVP; i++)
            if (sig_is_float(&kernel->sig[i]))
                copy_member(e, &f->sig[next++], "", &kernel->sig[i], "_dual");
        given = "&args";
    }
    sb_printf(b, "    return %s_run(tk_m, %s, tk_out, tk_rec);\n}\n\n", f->name, given);
}

void emit_kernels(emitter *e)
{
    for (size_t i = 0; i < e->m->funcs.len; i++)
        if (ir_is_kernel(e->m->funcs.at[i]))
            for (int form = FORM_RUN; form <= FORM_HVP; form++)
                emit_run(e, e->m->funcs.at[i], (kernel_form)form);
    for (size_t i = 0; i < e->m->funcs.len; i++)
        if (ir_is_kernel(e->m->funcs.at[i]))
            emit_part_ends(e, e->m->funcs.at[i]);
    for (size_t i = 0; i < e->m->funcs.len; i++)
        if (ir_is_kernel(e->m->funcs.at[i]))
            for (int form = FORM_RUN; form <= FORM_HVP; form++)
                emit_custom(e, e->m->funcs.at[i], (kernel_form)form);
}

/* ---- entry points ---- */

/* "{p[0], p[1]}", or the zeros of a tangent that was not given; a struct as a whole. */
static void component_list(emitter *e, strbuf *b, const ir_sigparam *p, const char *suffix, bool optional)
{
    const char *name = arena_printf(e->mem, "%s%s", name_member(e->mem, p->name), suffix);
    if (p->record) {
        if (optional)
            sb_printf(b, "%s ? *%s : (%s)%s", name, name, record_type(e->mem, p->record), record_zero(e->mem, p->record));
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
        const char *one = sig_component(e->mem, p, suffix, ".", k);
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

/* The pointers that this form is given; libtk puts zeros where one is missing. */
static void array_planes(emitter *e, strbuf *b, const ir_sigparam *p, kernel_form form)
{
    static const char *const suffix[] = {[IR_DATA] = "", [IR_GRAD] = "_grad", [IR_DUAL] = "_dual", [IR_GRAD_DUAL] = "_grad_dual"};
    const bool back = sig_has_grad(p) && (form == FORM_GRAD || form == FORM_HVP), along = sig_has_dual(p) && (form == FORM_JVP || form == FORM_HVP);
    const bool given[] = {true, back, along, back && form == FORM_HVP};
    sb_add(b, "{{");
    for (int k = IR_DATA; k <= IR_GRAD_DUAL; k++)
        if (given[k])
            sb_printf(b, "%s[%s] = (void *)%s%s", k ? ", " : "", plane_enum((ir_plane)k), name_member(e->mem, p->name), suffix[k]);
    sb_add(b, "}}");
}

static void result_args(emitter *e, strbuf *b, const ir_func *kernel, kernel_form form)
{
    static const char *const suffix[] = {"", "_dual", "_grad", "_grad_dual"};
    const bool runs = form == FORM_RUN || form == FORM_JVP, has[] = {runs, form == FORM_JVP, !runs, form == FORM_HVP};
    bool comma = kernel->nsig > 0;
    for (int i = 0; i < kernel->nouts; i++) {
        const ir_sigparam p = sig_result(e->mem, kernel, i);
        if (!sig_stands(&p))
            continue;
        for (int k = 0; k < 4; k++) {
            if (!has[k] || (k > 0 && !sig_has_dual(&p)))
                continue;
            const char *cast = p.shape == IR_SHAPE_MAT && !p.record ? arena_printf(e->mem, "(%s%s *)", k > 1 ? "const " : "", scalar_c_type(p.elem)) : "";
            sb_printf(b, "%s.%s%s = %s%s%s", comma ? ", " : "", p.name, suffix[k], cast, p.name, suffix[k]);
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
            component_list(e, b, &kernel->sig[i], "", false);
    }
    result_args(e, b, kernel, form);
}

static void print_args(emitter *e, strbuf *b, const ir_func *kernel, kernel_form form, const char *name)
{
    if (!has_args(kernel))
        return;
    sb_printf(b, "    const struct %s %s = {", args_tag(e, kernel, form), name);
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
            component_list(e, b, &kernel->sig[i], "_dual", true);
        }
    }
    sb_add(b, "};\n");
}

/* The members of a struct, whose parameters begin with number i; returns that of the last. */
static int add_record(emitter *e, strbuf *b, const ir_func *kernel, int i, const char *suffix, const char *out)
{
    const char *name = arena_printf(e->mem, "%s%s", name_member(e->mem, kernel->sig[i].name), suffix);
    sb_printf(b, "    if (%s) {\n", name);
    do {
        const ir_sigparam *p = &kernel->sig[i];
        for (int k = 0; k < p->rows * p->cols && p->grad; k++) {
            const char *one = sig_component(e->mem, p, suffix, ".", k);
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
            const char *suffix = tangent ? "_grad_dual" : "_grad";
            if (sig_has_grad(p) && p->record && !p->array)
                i = add_record(e, b, kernel, i, suffix, out);
            if (!p->grad || p->record || p->array)
                continue;
            const int n = p->rows * p->cols;
            sb_printf(b, "    if (%s%s)%s\n", name_member(e->mem, p->name), suffix, n > 1 ? " {" : "");
            for (int k = 0; k < n; k++) {
                const char *one = sig_component(e->mem, p, suffix, ".", k);
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
    if (!p->record || p->array)
        return name;
    strbuf b = {0};
    for (int k = 0; k < p->rows * p->cols; k++)
        sb_printf(&b, "%s%s->%s != %s", k ? " || " : "", name, sig_component(e->mem, p, "_dual", ".", k) + strlen(name) + 1, zero_text(p->elem));
    const char *r = arena_printf(e->mem, p->rows * p->cols > 1 ? "%s && (%s)" : "%s && %s", name, sb_str(&b));
    sb_free(&b);
    return r;
}

void emit_entry(emitter *e, const ir_func *kernel, kernel_form form, int index)
{
    if (!kernel_form_of(kernel, form))
        return;
    static const char *const launch[] = {[FORM_RUN] = "tk_launch", [FORM_GRAD] = "tk_launch_grad", [FORM_JVP] = "tk_launch_jvp", [FORM_HVP] = "tk_launch_hvp"};
    strbuf *b = e->out;
    names *local = names_create(e->mem, e->globals);
    for (int i = 0; i < kernel->nsig; i++)
        for (int k = 0; k < 4; k++) {
            static const char *const suffix[] = {"", "_dual", "_grad", "_grad_dual"};
            names_unique(local, arena_printf(e->mem, "%s%s", name_member(e->mem, kernel->sig[i].name), suffix[k]));
        }
    for (int i = 0; i < kernel->nouts; i++)
        for (int k = 0; k < 4; k++) {
            static const char *const suffix[] = {"", "_dual", "_grad", "_grad_dual"};
            names_unique(local, arena_printf(e->mem, "%s%s", sig_result(e->mem, kernel, i).name, suffix[k]));
        }
    const char *self = kernel_self(e->mem, kernel);
    names_unique(local, self);
    const char *args = names_unique(local, "args"), *out = names_unique(local, "out"), *status = names_unique(local, "status");
    const bool takes_out = form == FORM_GRAD || form == FORM_HVP;
    const bool gives = takes_out && kernel_has_grad_args(kernel);
    sb_printf(b, "tk_status %s_%s%s(%s)\n{\n", e->m->name, kernel->name, form_suffix(form), kernel_signature(e->mem, e->m, kernel, form));
    for (int i = 0; i < kernel->nsig && (form == FORM_JVP || form == FORM_HVP); i++) {
        const ir_sigparam *p = &kernel->sig[i];
        if (p->lost_in)
            sb_printf(b, "    if (%s)\n        return tk_fail(%s ? %s->tk.session : NULL, TK_NO_DERIVATIVE,\n"
                         "                       \"%s%s: the tangent of '%s' would be lost in '%s', which has no dual: declare it needs_dual, or pass NULL\");\n",
                      given_tangent(e, p), self, self, kernel->name, form_suffix(form), p->record ? arena_printf(e->mem, "%s.%s", p->name, p->path) : p->name,
                      p->lost_in);
    }
    print_args(e, b, kernel, form, args);
    if (gives)
        sb_printf(b, "    struct %s %s;\n    memset(&%s, 0, sizeof %s);\n", out_tag(e, kernel, form), out, out, out);
    const char *given = arena_printf(e->mem, "%s ? &%s->tk : NULL, &%s[%d], %s%s", self, self, e->kernels, index, has_args(kernel) ? "&" : "", has_args(kernel) ? args : "NULL");
    if (!gives) {
        sb_printf(b, "    return %s(%s%s);\n}\n\n", launch[form], given, takes_out ? ", NULL" : "");
    } else {
        sb_printf(b, "    const tk_status %s = %s(%s, &%s);\n    if (%s != TK_OK)\n        return %s;\n", status, launch[form], given, out, status, status);
        add_results(e, b, kernel, form, out);
        sb_add(b, "    return TK_OK;\n}\n\n");
    }
    names_free(local);
}

/* ---- descriptors ---- */

/* custom: what an adjoint that the program wrote does, which may overwrite saved fields on its own. */
static void print_saved(strbuf *b, const ir_func *kernel, size_t i, const unsigned char *at, const unsigned char *custom)
{
    const unsigned write = USE_STORE | USE_ACCUM;
    const unsigned before = kernel->before ? kernel->before[i] : 0;
    const bool spoils = custom && (custom[IR_DATA] & write);
    if (!kernel->module->fields.at[i]->saved)
        return;
    if ((at[IR_DATA] & write) || spoils)
        sb_printf(b, "%sTK_SAVED", b->len ? " | " : "");
    if (before & IR_BEFORE_WANTED)
        sb_add(b, " | TK_BEFORE_WANTED");
    if ((before & IR_BEFORE_REPLAYED) || spoils)
        sb_add(b, " | TK_BEFORE_REPLAYED");
}

static void print_access(emitter *e, const ir_func *kernel, int *count)
{
    const func_info *info = func_info_of(e, kernel), *back = kernel->grad ? func_info_of(e, kernel->grad) : NULL;
    *count = 0;
    for (size_t i = 0; i < e->m->nfields; i++) {
        const unsigned char *at = info->planes + i * 4;
        strbuf b = {0};
        static const char *const flag[] = {"TK_READS", "TK_STORES", "TK_ACCUMULATES"};
        for (int k = 0; k < 3; k++)
            if (at[IR_DATA] & (1 << k))
                sb_printf(&b, "%s%s", b.len ? " | " : "", flag[k]);
        if (back && (back->planes[i * 4] & USE_READ))
            sb_printf(&b, "%sTK_NEEDED", b.len ? " | " : "");
        print_saved(&b, kernel, i, at, back && kernel->grad == kernel->custom_grad ? back->planes + i * 4 : NULL);
        if (at[IR_GRAD] & (USE_STORE | USE_ACCUM))
            sb_printf(&b, "%sTK_GRAD_WRITES", b.len ? " | " : "");
        if (b.len) {
            if (*count == 0)
                sb_printf(e->out, "static const tk_access %s_access[] = {\n", kernel->name);
            sb_printf(e->out, "    {%zu, %s}, /* %s */\n", i, sb_str(&b), e->m->fields.at[i]->name);
            ++*count;
        }
        sb_free(&b);
    }
    if (*count)
        sb_add(e->out, "};\n");
}

static void print_parts(emitter *e, const ir_func *kernel)
{
    if (kernel->nparts)
        sb_printf(e->out, "static const tk_part %s_parts[] = {\n", kernel->name);
    for (int i = 0; i < kernel->nparts; i++) {
        const ir_part *p = &kernel->parts[i];
        sb_printf(e->out, "    {%d, %s, %s%s}, /* %s */\n", p->field->index, plane_enum(p->plane), p->write ? "TK_PART_WRITTEN" : "TK_PART_NEEDED",
                  p->all ? " | TK_PART_ALL" : "", p->field->name);
    }
    if (kernel->nparts)
        sb_add(e->out, "};\n");
}

const char *why_no_grad(const ir_func *kernel)
{
    if (kernel->grad || kernel->no_grad)
        return NULL;
    return kernel->no_grad_why ? kernel->no_grad_why : "its derive(...) does not ask for one";
}

const char *why_no_jvp(const ir_func *kernel)
{
    if (kernel->jvp)
        return NULL;
    if (kernel->no_grad)
        return "it is marked no_grad";
    return kernel->no_jvp_why ? kernel->no_jvp_why : "its derive(...) does not ask for one";
}

static void print_extent(emitter *e, const ir_func *kernel, const ir_extent *x, const char *comma)
{
    if (x->param >= 0)
        sb_printf(e->out, "%s{TK_EXTENT_ARGUMENT, .at = offsetof(struct %s, %s)}", comma, args_tag(e, kernel, FORM_RUN), name_member(e->mem, kernel->sig[x->param].name));
    else if (x->mparam)
        sb_printf(e->out, "%s{TK_EXTENT_PARAM, %s, .at = offsetof(%s, params.%s)}", comma, scalar_enum(x->mparam->type), e->m->name,
                  (const char *)ptrmap_get(&e->params, x->mparam));
    else
        sb_printf(e->out, "%s{TK_EXTENT_CONSTANT, .count = %lld}", comma, (long long)x->count);
}

/* Its arrays: the field that each is during a launch, and where its pointers and extents stand among the arguments. */
static int print_arrays(emitter *e, const ir_func *kernel)
{
    strbuf *b = e->out;
    const char *tag = args_tag(e, kernel, FORM_RUN);
    int n = 0;
    for (int i = 0; i < kernel->nsig; i++) {
        const ir_sigparam *p = &kernel->sig[i];
        if (!p->array)
            continue;
        if (n++ == 0)
            sb_printf(b, "static const tk_array_desc %s_arrays[] = {\n", kernel->name);
        bool copied = false; /* of structs: in all of them, or in none */
        for (int k = 0; k < kernel->nsig; k++)
            copied |= kernel->sig[k].array && kernel->sig[k].array->copied && kernel->sig[k].name == p->name;
        const char *what = copied ? "TK_ARRAY_OUT | TK_ARRAY_COPIED" : !p->array->in ? "TK_ARRAY_OUT" : p->array->out ? "TK_ARRAY_IN | TK_ARRAY_OUT" : "TK_ARRAY_IN";
        sb_printf(b, "    {%d, %s, offsetof(struct %s, %s), {", p->array->index, what, tag, name_member(e->mem, p->name));
        for (int d = 0; d < p->array->ndim; d++)
            print_extent(e, kernel, &p->array->dims[d], d ? ", " : "");
        sb_add(b, "}},\n");
    }
    if (n)
        sb_add(b, "};\n");
    return n;
}

static bool gives_floats(const ir_func *kernel)
{
    for (int i = 0; i < kernel->nouts; i++)
        if (sig_is_float(&kernel->outs[i]))
            return true;
    return false;
}

static bool gives_gradients(const ir_func *kernel)
{
    for (int i = 0; i < kernel->nsig; i++)
        if (kernel->sig[i].grad)
            return true;
    return false;
}

bool kernel_fits_scope(const ir_func *kernel)
{
    for (int i = 0; i < kernel->nsig; i++)
        if (kernel->sig[i].array && kernel->sig[i].array->out && kernel->sig[i].array->dual)
            return false;
    return !gives_floats(kernel);
}

bool kernel_fits_tape(const ir_func *kernel)
{
    return kernel_fits_scope(kernel) && !gives_gradients(kernel);
}

static int kernel_index(const ir_module *m, const ir_func *kernel)
{
    int n = 0;
    for (size_t i = 0; m->funcs.at[i] != kernel; i++)
        n += ir_is_kernel(m->funcs.at[i]);
    return n;
}

static bool reads_fields(const ir_func *bounds)
{
    for (const ir_op *op = bounds->body->first; op; op = op->next)
        if (op->code == OP_LOAD)
            return true;
    return false;
}

static void print_kernel(emitter *e, const ir_func *kernel, int index, int naccess, int narrays)
{
    strbuf *b = e->out;
    static const char *const member[] = {[FORM_RUN] = "run", [FORM_GRAD] = "grad", [FORM_JVP] = "jvp", [FORM_HVP] = "hvp"};
    sb_printf(b, "    {.name = %s, .index = %d", c_string(e->mem, kernel->name), index);
    if (has_args(kernel))
        sb_printf(b, ", .args_size = sizeof(struct %s)", args_tag(e, kernel, FORM_RUN));
    if (has_args(kernel) && (kernel->jvp || kernel->hvp))
        sb_printf(b, ", .jvp_args_size = sizeof(struct %s)", args_tag(e, kernel, FORM_JVP));
    sb_add(b, ",\n     ");
    for (int form = FORM_RUN; form <= FORM_HVP; form++)
        if (kernel_form_of(kernel, (kernel_form)form))
            sb_printf(b, "%s.%s = %s%s_run", form ? ", " : "", member[form], kernel->name,
                      kernel_form_of(kernel, (kernel_form)form) == kernel ? "" : form_suffix((kernel_form)form));
    if (why_no_grad(kernel))
        sb_printf(b, ",\n     .no_grad = %s", c_string(e->mem, why_no_grad(kernel)));
    if (why_no_jvp(kernel))
        sb_printf(b, ",\n     .no_jvp = %s", c_string(e->mem, why_no_jvp(kernel)));
    if (naccess)
        sb_printf(b, ",\n     .access = %s_access, .naccess = %d", kernel->name, naccess);
    if (kernel->nparts)
        sb_printf(b, ",\n     .parts = %s_parts, .nparts = %d, .bounds = %s_bounds, .nbounds = %d%s", kernel->name, kernel->nparts, kernel->name,
                  kernel->bounds->nresults, reads_fields(kernel->bounds) ? ", .bounds_read = true" : "");
    if (narrays)
        sb_printf(b, ",\n     .arrays = %s_arrays, .narrays = %d", kernel->name, narrays);
    if (gives_floats(kernel))
        sb_add(b, ", .result = true");
    if (kernel->custom_grad)
        sb_printf(b, ", .back = &%s[%d]", e->kernels, kernel_index(e->m, kernel->custom_grad));
    sb_printf(b, "%s%s%s},\n", gives_gradients(kernel) ? ", .grad_args = true" : "", kernel->draws ? ", .draws = true" : "",
              kernel->records > 0 ? ", .records = true" : "");
}

int emit_kernel_table(emitter *e)
{
    const ir_module *m = e->m;
    int n = 0;
    bool custom = false;
    int *counts = ARENA_ARRAY(e->mem, int, m->funcs.len + 1), *arrays = ARENA_ARRAY(e->mem, int, m->funcs.len + 1);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i])) {
            custom |= m->funcs.at[i]->custom_grad != NULL;
            arrays[n] = print_arrays(e, m->funcs.at[i]);
            print_access(e, m->funcs.at[i], &counts[n++]);
            print_parts(e, m->funcs.at[i]);
        }
    if (n == 0)
        return 0;
    sb_addc(e->out, '\n');
    if (custom)
        sb_printf(e->out, "static const tk_kernel %s[%d];\n", e->kernels, n); /* they name each other */
    sb_printf(e->out, "static const tk_kernel %s[%d] = {\n", e->kernels, n);
    n = 0;
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i])) {
            print_kernel(e, m->funcs.at[i], n, counts[n], arrays[n]);
            n++;
        }
    sb_add(e->out, "};\n\n");
    return n;
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
