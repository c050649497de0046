/* Kernels: argument structs, and the function that a launch runs. */
#include "host/host_int.h"

static const src_loc nowhere = {0, 0, 0};

/* ---- argument and gradient structs ---- */

const char *kernel_args_tag(emitter *e, const ir_func *kernel, kernel_form form)
{
    return arena_printf(e->mem, "%s_%s_%s", e->m->name, kernel->name,
                        form == FORM_JVP || form == FORM_HVP ? "jvp_args" : "args");
}

const char *kernel_out_tag(emitter *e, const ir_func *kernel, kernel_form form)
{
    return arena_printf(e->mem, "%s_%s%s_out", e->m->name, kernel->name, form_suffix(form));
}

/* Pointers to the host's result, and to its derivatives where there are any. */
static void print_result_members(emitter *e, const ir_func *kernel)
{
    const bool has[] = {true, kernel->ad.jvp, kernel->ad.grad, kernel->ad.hvp};
    for (int i = 0; i < kernel->nouts; i++) {
        const ir_sigparam p = sig_result(e->mem, kernel, i);
        for (int k = 0; k < RESULT_PLANES && sig_stands(&p); k++)
            if (has[k] && (k == 0 || sig_has_dual(&p)))
                sb_printf(e->out, "    %s%s *%s%s;\n", k > 1 ? "const " : "",
                          p.structure ? struct_type(e->mem, p.structure) : scalar_c_type(p.elem), p.name,
                          plane_tail(result_plane(k)));
    }
}

static void print_arg_structs(emitter *e, const ir_func *kernel)
{
    strbuf *out = e->out;
    if (kernel_has_args(kernel)) {
        sb_printf(out, "struct %s {\n", kernel_args_tag(e, kernel, FORM_RUN));
        for (int i = 0; i < kernel->nsig; i++)
            if (sig_stands(&kernel->sig[i]))
                sb_printf(out, "    %s;\n", sig_decl(e->mem, &kernel->sig[i], IR_DATA, SIG_MEMBER));
        print_result_members(e, kernel);
        sb_add(out, "};\n\n");
    }
    if (kernel_has_args(kernel) && (kernel->ad.jvp || kernel->ad.hvp)) {
        sb_printf(out, "struct %s { /* the tangents come after the primal's arguments */\n    struct %s primal;\n",
                  kernel_args_tag(e, kernel, FORM_JVP), kernel_args_tag(e, kernel, FORM_RUN));
        for (int i = 0; i < kernel->nsig; i++)
            if (sig_has_dual(&kernel->sig[i]) && !kernel->sig[i].array)
                sb_printf(out, "    %s;\n", sig_decl(e->mem, &kernel->sig[i], plane_of(false, true), SIG_MEMBER));
        sb_add(out, "};\n\n");
    }
    for (int form = FORM_GRAD; form <= FORM_HVP; form++) {
        if (form == FORM_JVP || !kernel_form_of(kernel, (kernel_form)form) || !kernel_has_grad_args(kernel))
            continue;
        sb_printf(out, "struct %s {\n", kernel_out_tag(e, kernel, (kernel_form)form));
        for (int tangent = 0; tangent <= (form == FORM_HVP); tangent++)
            for (int i = 0; i < kernel->nsig; i++)
                if (sig_has_grad(&kernel->sig[i]) && !kernel->sig[i].array)
                    sb_printf(out, "    %s;\n", sig_decl(e->mem, &kernel->sig[i], plane_of(true, tangent), SIG_MEMBER));
        sb_add(out, "};\n\n");
    }
}

/* ---- the function that a launch runs ---- */

static void hoist_arg(cfn *c, strbuf *out, const ir_value *p, const char *access)
{
    if (!c->use[p->id].uses)
        return;
    const char *name = names_unique_function(c->names, p->name);
    define_name(c, p, name);
    sb_printf(out, "    %s = %s->%s;\n", declare(c, p, true, name), c->a, access);
}

/* Of a result that is no struct, the k-th number behind a pointer. */
static const char *result_component(cfn *c, const ir_sigparam *p, ir_plane plane, int k)
{
    return p->structure ? sig_component(c->e->mem, p, plane, "->", k)
                        : arena_printf(c->e->mem, "%s%s[%d]", p->name, plane_tail(plane), k);
}

/* Gradients of the results, or the tangents of these: NULL is zero. */
static int hoist_seeds(cfn *c, strbuf *out, const ir_func *kernel, const char *primal, ir_plane plane, int next)
{
    for (int i = 0; i < kernel->nouts; i++) {
        const ir_sigparam p = sig_result(c->e->mem, kernel, i);
        for (int k = 0; k < p.rows * p.cols && sig_is_float(&p); k++, next++) {
            const ir_value *v = c->f->body->params[next];
            if (!c->use[v->id].uses)
                continue;
            const char *name = names_unique_function(c->names, v->name),
                       *args = arena_printf(c->e->mem, "%s->%s", c->a, primal);
            define_name(c, v, name);
            sb_printf(out, "    %s = %s%s%s ? %s%s : %s;\n", declare(c, v, true, name), args, p.name, plane_tail(plane),
                      args, result_component(c, &p, plane, k), zero_text(p.elem));
        }
    }
    return next;
}

/* Parameters of the region: the components of all parameters, gradients of results, then the tangents of all floats
 * among these. */
static void hoist_args(cfn *c, strbuf *out, const ir_func *kernel, kernel_form form)
{
    arena *mem = c->e->mem;
    ir_value **params = c->f->body->params;
    const bool tangents = form == FORM_JVP || form == FORM_HVP;
    int next = 0;
    for (int i = 0; i < kernel->nsig; i++) {
        const ir_sigparam *s = &kernel->sig[i];
        for (int k = 0; k < s->rows * s->cols; k++, next++) {
            const char *member = sig_component(mem, s, IR_DATA, ".", k);
            hoist_arg(c, out, params[next], tangents ? arena_printf(mem, "primal.%s", member) : member);
        }
    }
    const bool seeds = form == FORM_GRAD || form == FORM_HVP;
    if (seeds)
        next = hoist_seeds(c, out, kernel, tangents ? "primal." : "", plane_of(true, false), next);
    for (int i = 0; i < kernel->nsig && tangents; i++) {
        const ir_sigparam *s = &kernel->sig[i];
        for (int k = 0; k < s->rows * s->cols && sig_has_tangent(s); k++)
            hoist_arg(c, out, params[next++], sig_component(mem, s, plane_of(false, true), ".", k));
    }
    if (seeds && tangents)
        (void)hoist_seeds(c, out, kernel, "primal.", plane_of(true, true), next);
}

/* Result number i, of a struct all of it, where the host wants it; *next: of the yielded values. Returns the number
 * behind it. */
static int give_result(cfn *c, const ir_func *kernel, int i, const char *args, bool tangent, int *next)
{
    const ir_op *yield = c->f->body->last;
    const ir_plane plane = plane_of(false, tangent);
    const ir_sigparam lead = sig_result(c->e->mem, kernel, i);
    int n = 0, end = i;
    do {
        n += tangent && !sig_is_float(&kernel->outs[end]) ? 0 : kernel->outs[end].rows * kernel->outs[end].cols;
        end++;
    } while (end < kernel->nouts && !sig_stands(&kernel->outs[end]));
    if (n)
        stmt(c, nowhere, "if (%s%s%s)%s", args, lead.name, plane_tail(plane), n > 1 ? " {" : "");
    c->indent += n > 0;
    for (; i < end; i++) {
        const ir_sigparam p = sig_result(c->e->mem, kernel, i);
        for (int k = 0; k < p.rows * p.cols && (!tangent || sig_is_float(&p)); k++)
            stmt(c, nowhere, "%s%s = %s;", args, result_component(c, &p, plane, k),
                 val(c, yield->args[(*next)++]).text);
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
                stmt(c, nowhere, "%s->%s = %s;", result, sig_component(c->e->mem, s, plane_of(true, tangent), ".", k),
                     val(c, yield->args[next++]).text);
        }
}

/* Before anything is written. */
static void print_looks(cfn *c)
{
    const ir_module *m = c->e->m;
    for (size_t i = 0; c->f->launch.distinct && i < m->fields.len; i++)
        if (c->f->launch.distinct[i])
            sb_printf(c->e->out,
                      "    if (tk_check_distinct(tk_m, %zu) != TK_OK) /* %s */\n"
                      "        return tk_session_status(tk_m->session);\n",
                      i, m->fields.at[i]->name);
}

/* C++ converts no void * by itself. */
static const char *take_args(emitter *e, const char *tag, const char *name)
{
    return arena_printf(e->mem, "    const struct %s *const %s = (const struct %s *)tk_args;\n", tag, name, tag);
}

static void print_run(cfn *c, const ir_func *kernel, kernel_form form, const strbuf *args, const strbuf *body,
                      bool stack, const char *result)
{
    emitter *e = c->e;
    strbuf hoists = {0}, *out = e->out;
    cfn_hoists(c, &hoists);
    if (stack || c->fails)
        c->uses_m = true;
    sb_addn(out, sb_str(&c->tasks), c->tasks.len);
    sb_printf(out,
              "%sstatic tk_status %s_run(tk_module *tk_m, const void *tk_args, void *tk_out, tk_record *tk_rec)\n{\n",
              needs_whole_loops(&e->facts, c->f->body) ? "TK_WHOLE_LOOPS\n" : "", e->base);
    if (c->uses_m)
        sb_printf(out, "    %s *const %s = (%s *)tk_m;\n", e->m->name, c->m, e->m->name);
    else
        sb_add(out, "    (void)tk_m;\n");
    const bool gives = kernel->nouts && (form == FORM_RUN || form == FORM_JVP);
    if (args->len || gives)
        sb_add(out, take_args(e, kernel_args_tag(e, kernel, form), c->a));
    else
        sb_add(out, "    (void)tk_args;\n");
    if (result)
        sb_printf(out, "    struct %s *const %s = (struct %s *)tk_out;\n", kernel_out_tag(e, kernel, form), result,
                  kernel_out_tag(e, kernel, form));
    else
        sb_add(out, "    (void)tk_out;\n");
    if (!c->uses_rec)
        sb_add(out, "    (void)tk_rec;\n");
    sb_add(out, sb_str(args));
    sb_add(out, sb_str(&hoists));
    print_looks(c);
    if (stack)
        sb_printf(out,
                  "    tk_stack *const %s = tk_stack_acquire(%s->tk.session);\n    if (!%s)\n        return "
                  "tk_session_status(%s->tk.session);\n",
                  c->st, c->m, c->st, c->m);
    sb_addn(out, sb_str(body), body->len);
    if (stack)
        sb_printf(out, "    %s\n", c->release);
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
    static const char *const what[] = {
        [FORM_RUN] = "kernel", [FORM_GRAD] = "adjoint of", [FORM_JVP] = "JVP of", [FORM_HVP] = "JVP of the adjoint of"};
    emit_functions_of(e, f);
    sb_printf(e->out, "/* ---- %s %s, %s ---- */\n\n", what[form], kernel->name, place_of(e, kernel->loc));
    if (form == FORM_RUN)
        print_arg_structs(e, kernel);
    e->base = arena_printf(e->mem, "%s%s", file_level(e, kernel->name), form_suffix(form));
    e->nlayouts = 0;
    fstate fs = fstate_create(f);
    cfn *c = cfn_create(e, f, CFN_RUN, &fs);
    strbuf body = {0}, args = {0};
    c->out = &body;
    c->info = facts_of(&e->facts, f);
    body_plan plan = cfn_plan(c);
    cfn_take_names(c, &plan);
    const bool stack = region_uses_stack(&e->facts, f->body);
    c->fail = arena_printf(e->mem, "return tk_session_status(%s->tk.session);", c->m);
    c->release = stack ? stack_release(c) : NULL;
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
    body_plan_free(&plan);
    fstate_free(&fs);
    sb_free(&body);
    sb_free(&args);
}

/* A line for each part: first and last value of each subscript, then of the components. */
static void print_ends(cfn *c, const ir_func *kernel, bool compared)
{
    const ir_op *yield = c->f->body->last;
    strbuf lines = {0};
    for (int i = 0, at = 0; i < kernel->launch.nparts; i++) {
        const ir_field *f = kernel->launch.parts[i].field;
        if (kernel->launch.parts[i].compared != compared)
            continue;
        sb_printf(&lines, "%*s", 4 * (c->indent + 1), "");
        for (int end = 2 * (f->ndim + 1); end > 0; end--)
            sb_printf(&lines, "%s, ", val(c, yield->args[at++]).text);
        sb_printf(&lines, "/* %s */\n", f->name);
    }
    const char *name = names_unique(c->names, "ends");
    stmt(c, nowhere, "const int64_t %s[] = {\n%s%*s};", name, sb_str(&lines), 4 * c->indent, "");
    stmt(c, nowhere, "memcpy(tk_ends, %s, sizeof %s);", name, name);
    sb_free(&lines);
}

/* The ends of the parts of fields that a launch touches, from its arguments: of those that tapes compare, or of the
 * others. */
static void emit_part_ends(emitter *e, const ir_func *kernel, bool compared)
{
    const ir_func *f = compared ? kernel->launch.bounds : kernel->launch.beside;
    if (!f)
        return;
    e->base = arena_printf(e->mem, "%s_%s", file_level(e, kernel->name), compared ? "bounds" : "beside");
    e->nlayouts = 0;
    fstate fs = fstate_create(f);
    cfn *c = cfn_create(e, f, CFN_RUN, &fs);
    strbuf body = {0}, args = {0}, hoists = {0}, *out = e->out;
    c->out = &body;
    c->info = facts_of(&e->facts, f);
    body_plan plan = cfn_plan(c);
    cfn_take_names(c, &plan);
    hoist_args(c, &args, kernel, FORM_RUN);
    emit_ops(c, f->body);
    print_ends(c, kernel, compared);
    cfn_hoists(c, &hoists);
    sb_printf(out, "static void %s(tk_module *tk_m, const void *tk_args, int64_t *tk_ends)\n{\n", e->base);
    if (c->uses_m)
        sb_printf(out, "    %s *const %s = (%s *)tk_m;\n", e->m->name, c->m, e->m->name);
    else
        sb_add(out, "    (void)tk_m;\n");
    if (args.len)
        sb_add(out, take_args(e, kernel_args_tag(e, kernel, FORM_RUN), c->a));
    else
        sb_add(out, "    (void)tk_args;\n");
    sb_add(out, sb_str(&args));
    sb_add(out, sb_str(&hoists));
    sb_addn(out, sb_str(&body), body.len);
    sb_add(out, "}\n\n");
    cfn_free(c);
    body_plan_free(&plan);
    fstate_free(&fs);
    sb_free(&body);
    sb_free(&args);
    sb_free(&hoists);
}

/* A member of the arguments of a kernel of the program's own that serves as a derivative: both structs have the same
 * types in other members. */
static void copy_member(emitter *e, const ir_sigparam *to, const char *access, const ir_sigparam *from, ir_plane plane)
{
    const char *name = name_member(e->mem, to->name);
    sb_printf(e->out, "    memcpy(&args.%s, &given->%s%s%s, sizeof args.%s);\n", name, access,
              name_member(e->mem, from->name), plane_tail(plane), name);
}

static void emit_custom(emitter *e, const ir_func *kernel, kernel_form form)
{
    const ir_func *f = kernel_form_of(kernel, form);
    if (form == FORM_RUN || !f || f->ad.custom_of != kernel)
        return;
    strbuf *b = e->out;
    sb_printf(b, "/* ---- %s is the %s of %s ---- */\n\n", f->name, form == FORM_JVP ? "JVP" : "adjoint", kernel->name);
    sb_printf(b,
              "static tk_status %s%s_run(tk_module *tk_m, const void *tk_args, void *tk_out, tk_record *tk_rec)\n{\n",
              file_level(e, kernel->name), form_suffix(form));
    const char *given = "tk_args";
    if (kernel->nsig) {
        const char *access = form == FORM_JVP ? "primal." : "";
        sb_printf(b, "%s    struct %s args;\n", take_args(e, kernel_args_tag(e, kernel, form), "given"),
                  kernel_args_tag(e, f, FORM_RUN));
        int next = 0;
        for (int i = 0; i < kernel->nsig; i++)
            copy_member(e, &f->sig[next++], access, &kernel->sig[i], IR_DATA);
        for (int i = 0; i < kernel->nsig && form == FORM_JVP; i++)
            if (sig_is_float(&kernel->sig[i]))
                copy_member(e, &f->sig[next++], "", &kernel->sig[i], plane_of(false, true));
        given = "&args";
    }
    sb_printf(b, "    return %s_run(tk_m, %s, tk_out, tk_rec);\n}\n\n", file_level(e, f->name), given);
}

void emit_kernels(emitter *e)
{
    for (size_t i = 0; i < e->m->funcs.len; i++)
        if (ir_is_kernel(e->m->funcs.at[i]))
            for (int form = FORM_RUN; form <= FORM_HVP; form++)
                emit_run(e, e->m->funcs.at[i], (kernel_form)form);
    for (size_t i = 0; i < e->m->funcs.len; i++)
        for (int compared = 1; compared >= 0 && ir_is_kernel(e->m->funcs.at[i]); compared--)
            emit_part_ends(e, e->m->funcs.at[i], compared == 1);
    for (size_t i = 0; i < e->m->funcs.len; i++)
        if (ir_is_kernel(e->m->funcs.at[i]))
            for (int form = FORM_RUN; form <= FORM_HVP; form++)
                emit_custom(e, e->m->funcs.at[i], (kernel_form)form);
}
