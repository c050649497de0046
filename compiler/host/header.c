/* The header: what the host's programmer reads. */
#include "host/host.h"
#include "host/host_int.h"

#include <ctype.h>
#include <string.h>

static void emit_prototypes(emitter *e)
{
    for (size_t i = 0; i < e->m->externs.len; i++) {
        const ir_func *f = e->m->externs.at[i];
        const char *type = extern_returns(f) ? scalar_c_type(f->outs[0].elem) : "void";
        strbuf b = {0};
        for (int k = 0; k < f->nsig; k++)
            if (sig_stands(&f->sig[k]))
                sb_printf(&b, "%s%s", b.len ? ", " : "", sig_decl(e->mem, &f->sig[k], IR_DATA, SIG_INPUT));
        for (int k = 0; k < f->nouts && !extern_returns(f); k++) {
            const ir_sigparam r = sig_result(e->mem, f, k);
            if (sig_stands(&r))
                sb_printf(&b, "%s%s", b.len ? ", " : "", sig_decl(e->mem, &r, IR_DATA, SIG_RESULT));
        }
        sb_printf(e->out,
                  "/** Extern func %s (%s), which the host defines: a function of its arguments alone. Several threads "
                  "may call it at once.",
                  f->name, place_of(e, f->loc));
        if (f->doc) {
            sb_add(e->out, "\n *  ");
            quote_c_comment(e->out, f->doc, " *  ");
        }
        sb_printf(e->out, " */\n%s %s(%s);\n\n", type, f->name,
                  b.len ? wrap_list(e->mem, sb_str(&b), strlen(type) + strlen(f->name) + 2, 2) : "void");
        sb_free(&b);
    }
}

static const char *clean_doc(arena *mem, const char *doc)
{
    strbuf b = {0};
    quote_c_comment(&b, doc, " *  ");
    const char *r = arena_strdup(mem, sb_str(&b));
    sb_free(&b);
    return r;
}

static const char *guard(arena *mem, const char *name)
{
    char *g = arena_printf(mem, "%s_H", name);
    for (char *p = g; *p; p++)
        *p = isalnum((unsigned char)*p) ? (char)toupper((unsigned char)*p) : '_';
    return g;
}

static void print_params(emitter *e)
{
    const ir_module *m = e->m;
    strbuf *b = e->out;
    sb_printf(b, "/** Parameters of the module; start from %s_defaults(). */\ntypedef struct %s_params {\n", m->name,
              m->name);
    for (size_t i = 0; i < m->params.len; i++) {
        const ir_mparam *p = m->params.at[i];
        sb_printf(b, "    %s %s; /**< ", scalar_c_type(p->type), (const char *)ptrmap_get(&e->params, p));
        if (p->doc)
            quote_c_comment(b, p->doc, "         ");
        sb_printf(b, "%s%s */\n", p->doc ? ". " : "",
                  p->sizes ? "Sizes fields: fixed at creation" : "Changed by set_params");
    }
    if (!m->params.len)
        sb_add(b, "    char unused_; /**< this module has no parameters */\n");
    sb_printf(b, "} %s_params;\n\n", m->name);
}

static void print_view(emitter *e, const ir_field *f)
{
    strbuf *b = e->out;
    arena *mem = e->mem;
    const char *id = layout_id(mem, f), *note = layout_view_is_shared(f) ? "; of members that are floats" : "";
    sb_printf(b, "/** Field %s: %s", layout_title(f), layout_element_name(mem, f));
    if (f->ndim)
        sb_printf(b, ", %d-D", f->ndim);
    else
        sb_add(b, ", a single element");
    sb_add(b, layout_word(mem, f));
    for (int p = 0; p < IR_PLANES; p++)
        if (f->wide[p])
            sb_printf(b, ", %s(%d)", ir_plane_get((ir_plane)p)->attribute, f->width[p]);
        else if (*ir_plane_get((ir_plane)p)->attribute && plane_leaf(e->m, f, (ir_plane)p))
            sb_printf(b, ", %s", ir_plane_get((ir_plane)p)->attribute);
    sb_printf(b, "%s%s.", layout_takes_strides(f) ? ", strided" : "", f->distinct ? ", distinct" : "");
    if (f->doc) {
        sb_addc(b, ' ');
        quote_c_comment(b, f->doc, " *  ");
    }
    sb_printf(b, " */\ntypedef struct %s_%s_view {\n    %s; /**< %s */\n", e->m->name, id,
              layout_view_pointer(mem, f, "data"), layout_note(f));
    for (int p = IR_DATA + 1; p < IR_PLANES; p++) {
        const ir_plane_info *plane = ir_plane_get((ir_plane)p);
        if (plane_leaf(e->m, f, (ir_plane)p))
            sb_printf(b, "    %s; /**< %s%s */\n", layout_view_pointer(mem, f, plane->name), plane->note,
                      plane->bound ? note : "");
    }
    for (int p = IR_DATA; p < IR_PLANES; p++)
        if (f->wide[p])
            sb_printf(b, "    %s; /**< %ss, the direction last; always the library's memory */\n",
                      layout_wide_pointer(mem, f, (ir_plane)p),
                      ir_plane_is_tangent((ir_plane)p) ? "tangent" : ir_plane_get((ir_plane)p)->words);
    for (int p = IR_DATA; p < IR_PLANES && layout_takes_strides(f); p++)
        if (plane_leaf(e->m, f, (ir_plane)p))
            sb_printf(b, "    int64_t %s_strides[%d]; /**< bytes from an element of %s to the next, by dimension */\n",
                      plane_name((ir_plane)p), f->ndim, plane_name((ir_plane)p));
    sb_printf(b, "    int64_t shape[%d]; /**< extents */\n", f->ndim ? f->ndim : 1);
    emit_field_objects(e, f);
    sb_printf(b, "} %s_%s_view;\n\n", e->m->name, id);
}

static void print_struct(emitter *e)
{
    const ir_module *m = e->m;
    strbuf *b = e->out;
    sb_printf(b,
              "/** A module object: its fields can be read and written between kernels; pointers and shapes must not "
              "be changed. */\ntypedef struct %s {\n",
              m->name);
    sb_printf(b,
              "    tk_module tk; /**< first */\n    const %s_params params; /**< as given at creation, or by "
              "%s_set_params */\n",
              m->name, m->name);
    for (size_t i = 0; i < m->nfields; i++) {
        const ir_field *f = m->fields.at[i];
        const bool of_members = f->lead && !layout_view_is_shared(f);
        if (f->wide_of)
            continue;
        if (of_members && f->lead == f)
            emit_member_views(e, f);
        else if (!of_members && ir_field_begins(f))
            sb_printf(b, "    %s_%s_view %s;\n", m->name, layout_id(e->mem, f), e->field_names[i]);
    }
    sb_printf(b, "} %s;\n\n", m->name);
}

static void print_lifetime(emitter *e)
{
    const char *p = e->m->name;
    strbuf *b = e->out;
    sb_printf(b, "/** The parameters' default values. */\n%s_params %s_defaults(void);\n\n", p, p);
    sb_printf(
        b,
        "/** What %s_create calls, with what this header was generated for. */\n"
        "%s *%s_create_(tk_session *session, const %s_params *params, uint64_t header_hash, int header_interface);\n\n",
        p, p, p, p);
    sb_printf(b,
              "/** Creates a module object, all fields zero.\n *  @param session  its session, or NULL for one of its "
              "own (all threads, no hooks)\n"
              " *  @param params   copied; NULL: the defaults\n *  @return NULL on failure, tk_error() tells why. "
              "Destroy it with %s_destroy. */\n"
              "static inline %s *%s_create(tk_session *session, const %s_params *params)\n{\n"
              "    return %s_create_(session, params, UINT64_C(0x%016llx), TK_INTERFACE);\n}\n\n",
              p, p, p, p, p, (unsigned long long)emit_interface_hash(e->m));
    sb_printf(b,
              "/** Destroys a module object, and its session if that is its own. NULL is ignored. */\nvoid "
              "%s_destroy(%s *m);\n\n",
              p, p);
    sb_printf(b,
              "/** The first failure of the module's session since creation or the last tk_session_clear_error; TK_OK "
              "if there was none. */\n"
              "tk_status %s_status(const %s *m);\n\n",
              p, p);
    sb_printf(b,
              "/** The message of that failure, \"\" if there was none. Valid until the next call on the session. "
              "*/\nconst char *%s_error(const %s *m);\n\n",
              p, p);
    sb_printf(b,
              "/** Changes the parameters for later kernels. Those that size fields must keep their values "
              "(TK_BAD_ARGUMENT);\n"
              " *  not inside a function of tk_call on a tape (TK_BAD_STATE). A tape keeps the parameters of each "
              "launch. */\ntk_status %s_set_params(%s *m, const %s_params *params);\n\n",
              p, p, p);
}

/* Of a member, too. */
static const char *own_id(emitter *e, const ir_field *f)
{
    return f->lead ? arena_printf(e->mem, "%s_%s", f->whole, member_path(e->mem, f->path, "_")) : f->name;
}

/* A seed is a plain pointer to tk_forward_begin: here C checks its precision. */
static void print_forward(emitter *e, const ir_field *f)
{
    const char *p = e->m->name;
    sb_printf(e->out,
              "/** Opens a forward scope of field %s: tk_forward_begin with a seed whose precision is checked. seed: "
              "count values, one for each\n"
              " *  component of each element%s%s. Closed by tk_forward_end. */\n"
              "static inline tk_status %s_forward_%s(%s *m, tk_field *const *outputs, int noutputs, const %s *seed, "
              "size_t count)\n{\n"
              "    return tk_forward_begin(outputs, noutputs, m ? m->%s : NULL, seed, count);\n}\n\n",
              f->name, f->ndim == 0 && f->shape == IR_SHAPE_SCALAR && !f->wide[IR_DUAL] ? "; NULL, 0: one" : "",
              f->wide[IR_DUAL] ? ", in each direction" : "", p, own_id(e, f), p, scalar_c_type(f->elem),
              layout_object(e->mem, e->field_names[f->index], f));
}

static const char *shape_term(void *ctx, const ir_field *f, int dim)
{
    const emitter *e = ctx;
    return arena_printf(e->mem, "m->%s.shape[%d]", e->field_names[f->index], dim);
}

static const char *position_text(emitter *e, const ir_field *f)
{
    const layout_terms terms = {.extent = shape_term, .ctx = e};
    cexpr at[8];
    for (int d = 0; d < f->ndim; d++)
        at[d] = (cexpr){arena_printf(e->mem, "i%d", d), PREC_PRIMARY};
    return layout_position(e->mem, &terms, f, at).text;
}

static bool binds_several(const ir_module *m, const ir_field *f)
{
    bool several = false;
    for (int p = IR_DATA + 1; p < IR_PLANES; p++)
        several |= ir_plane_get((ir_plane)p)->bound && plane_leaf(m, f, (ir_plane)p);
    return several;
}

static void print_field_functions(emitter *e, const ir_field *f)
{
    strbuf *b = e->out;
    const char *p = e->m->name;
    const char *id = layout_id(e->mem, f);
    if (ir_field_begins(f))
        sb_printf(b,
                  "/** Lets field %s live in the host's memory%s, which must outlive the module or the next bind;\n"
                  " *  the library's own memory for it is freed. Overlap with other fields' memory is refused.%s "
                  "*/\ntk_status %s_bind_%s(%s);\n\n",
                  layout_title(f), binds_several(e->m, f) ? ", all of its storages at once" : "", layout_bind_note(f),
                  p, id, bind_signature(e->mem, e->m, f));
    if (layout_takes_strides(f))
        sb_printf(b,
                  "/** The same where element (i, j, ...) stands i * strides[0] + j * strides[1] + ... bytes behind "
                  "the first, its components side by side; NULL:\n"
                  " *  dense, row-major. No alignment is assumed. */\ntk_status %s_bind_%s_strided(%s);\n\n",
                  p, f->name, bind_strided_signature(e->mem, e->m, f));
    if (ir_field_has_tangents(f))
        print_forward(e, f);
    if (!layout_has_index(f))
        return;
    const char *component = layout_subscript(f);
    sb_printf(b, "/** Position of an element in %s.data%s: %s.data%s[%s_idx_%s(m", e->field_names[f->index],
              plane_leaf(e->m, f, ir_adjoint_of(IR_DATA)) ? ", grad" : "", e->field_names[f->index], component, p,
              f->lead ? f->whole : f->name);
    for (int d = 0; d < f->ndim; d++)
        sb_printf(b, ", i%d", d);
    sb_printf(b, ")]. */\nstatic inline int64_t %s_idx_%s(const %s *m", p, f->lead ? f->whole : f->name, p);
    for (int d = 0; d < f->ndim; d++)
        sb_printf(b, ", int64_t i%d", d);
    sb_printf(b, ")\n{\n    return %s;\n}\n\n", position_text(e, f));
}

/* What C's declarations do not say: extents of arrays that are no arguments. */
static void add_extents(emitter *e, const ir_func *f)
{
    for (int i = 0; i < f->nsig; i++) {
        const ir_field *a = sig_stands(&f->sig[i]) ? f->sig[i].array : NULL;
        bool fixed = false;
        for (int d = 0; a && d < a->ndim; d++)
            fixed = fixed || (a->dims[d].param < 0 && (a->ndim > 1 || a->dims[d].mparam));
        if (fixed)
            sb_printf(e->out, "\n *  Extents of %s: ", name_member(e->mem, f->sig[i].name));
        for (int d = 0; fixed && d < a->ndim; d++) {
            const ir_extent *x = &a->dims[d];
            sb_add(e->out, d ? " x " : "");
            if (x->param < 0 && !x->mparam)
                sb_printf(e->out, "%lld", (long long)x->count);
            else
                sb_add(e->out,
                       x->mparam ? ptrmap_get(&e->params, x->mparam) : name_member(e->mem, f->sig[x->param].name));
        }
        sb_add(e->out, fixed ? "." : "");
    }
}

static void print_kernel(emitter *e, const ir_func *k)
{
    strbuf *b = e->out;
    arena *mem = e->mem;
    const char *p = e->m->name;
    sb_printf(b, "/** Kernel %s (%s). ", k->name, place_of(e, k->loc));
    if (k->doc) {
        quote_c_comment(b, k->doc, " *  ");
        sb_add(b, "\n *  ");
    }
    const bool taped = k->ad.grad && kernel_fits_tape(k);
    if (k->ad.grad)
        sb_add(b, taped ? "It may be launched on a tape" : "Not on a tape: its adjoint is called directly");
    else if (why_no_grad(k))
        sb_printf(b, "No adjoint: %s", clean_doc(mem, why_no_grad(k)));
    else
        sb_add(b, "Its derivative is zero by intent: it may be launched on a tape and adds nothing");
    if (why_no_jvp(k))
        sb_printf(b, ".\n *  No JVP: %s", clean_doc(mem, why_no_jvp(k)));
    else if (k->ad.jvp && !kernel_fits_scope(k))
        sb_add(b, ".\n *  Not in a forward scope: its JVP is called directly");
    else if (k->ad.jvp)
        sb_add(b, taped ? " and in a forward scope" : ".\n *  It may be launched in a forward scope");
    sb_addc(b, '.');
    add_extents(e, k);
    sb_printf(b, " */\ntk_status %s_%s(%s);\n\n", p, k->name, kernel_signature(mem, e->m, k, FORM_RUN));
    if (k->ad.grad)
        sb_printf(
            b,
            "/** The adjoint of %s: takes the gradients of what it wrote, adds to the gradients of what it read%s. */\n"
            "tk_status %s_%s_grad(%s);\n\n",
            k->name,
            kernel_has_grad_args(k)
                ? ";\n *  adds the gradients of its arguments to the last parameters (NULL: not wanted)"
                : "",
            p, k->name, kernel_signature(mem, e->m, k, FORM_GRAD));
    if (k->ad.jvp) {
        sb_printf(b, "/** The JVP of %s: runs it, and carries duals along%s.", k->name,
                  k->nsig ? "; a dual that is NULL is zero, or not wanted" : "");
        for (int i = 0; i < k->nsig; i++)
            if (k->sig[i].lost_in)
                sb_printf(b, "\n *  %s must be %s (TK_NO_DERIVATIVE): it would be lost in '%s', which has no dual.",
                          sig_dual_text(mem, &k->sig[i]), k->sig[i].structure ? "zero" : "NULL", k->sig[i].lost_in);
        sb_printf(b, " */\ntk_status %s_%s_jvp(%s);\n\n", p, k->name, kernel_signature(mem, e->m, k, FORM_JVP));
    }
    if (k->ad.hvp)
        sb_printf(
            b,
            "/** Second-order product: the JVP of the adjoint of %s. Adds the tangents of gradients to grad_dual. */\n"
            "tk_status %s_%s_hvp(%s);\n\n",
            k->name, p, k->name, kernel_signature(mem, e->m, k, FORM_HVP));
}

static bool writes_arrays(const ir_func *f)
{
    for (int i = 0; i < f->nsig; i++)
        if (f->sig[i].array && f->sig[i].array->out)
            return true;
    return false;
}

static void print_workspace(emitter *e, const ir_func *f, kernel_form form)
{
    const char *suffix = form_suffix(form), *size = export_workspace(e->mem, f, form), *p = e->m->name;
    if (size)
        sb_printf(e->out,
                  "/** Bytes of the workspace of %s_%s%s, which is aligned to %d. */\n#define %s_%s%s_WORKSPACE%s\n\n",
                  p, f->name, suffix, IR_WORKSPACE_ALIGN, p, f->name, suffix, size);
}

static void print_export(emitter *e, const ir_func *f)
{
    static const char *const what[] = {
        [FORM_GRAD] = "The gradient of %s, and its value: takes the gradients of results, adds to those of "
                      "arguments.\n *  NULL: a zero gradient of a result; an output that is not wanted",
        [FORM_JVP] = "The JVP of %s, and its value: a dual of an argument that is NULL is zero, an output that is NULL "
                     "is not wanted",
        [FORM_HVP] =
            "Second-order product: the JVP of %s_grad, in which each real argument and output is followed by its dual"};
    strbuf *b = e->out;
    const char *p = e->m->name;
    print_workspace(e, f, FORM_RUN);
    sb_printf(b, "/** Function %s (%s).", f->name, place_of(e, f->loc));
    if (f->doc) {
        sb_addc(b, ' ');
        quote_c_comment(b, f->doc, " *  ");
    }
    add_extents(e, f);
    sb_printf(b, " */\nvoid %s_%s(%s);\n\n", p, f->name, export_signature(e->mem, e->m, f, FORM_RUN));
    for (int form = FORM_GRAD; form <= FORM_LAST_EXPORT; form++) {
        const bool matrix = matrix_is_wanted(f, (kernel_form)form);
        if (!kernel_form_of(f, (kernel_form)form) && !matrix)
            continue;
        const char *suffix = form_suffix((kernel_form)form);
        print_workspace(e, f, (kernel_form)form);
        if (matrix) {
            matrix_print_header(e, f, (kernel_form)form);
        } else {
            sb_add(b, "/** ");
            sb_printf(b, what[form], f->name);
        }
        if (form == FORM_JVP && writes_arrays(f))
            sb_add(b, ".\n *  Arrays that are written, and their duals, are never NULL");
        const char *inputs = matrix ? NULL : form_inputs(e->mem, f, (kernel_form)form);
        if (inputs)
            sb_printf(b, ".\n *  It is by %s", inputs);
        sb_printf(b, ". */\nvoid %s_%s%s(%s);\n\n", p, f->name, suffix,
                  export_signature(e->mem, e->m, f, (kernel_form)form));
    }
}

static void print_object(emitter *e)
{
    const ir_module *m = e->m;
    print_params(e);
    emit_structs(e);
    for (size_t i = 0; i < m->nfields; i++)
        if (ir_field_begins(m->fields.at[i]) && !m->fields.at[i]->wide_of)
            print_view(e, m->fields.at[i]);
    print_struct(e);
    print_lifetime(e);
    for (size_t i = 0; i < m->nfields; i++)
        if (!m->fields.at[i]->wide_of)
            print_field_functions(e, m->fields.at[i]);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i]) && !ir_is_hidden(m->funcs.at[i])) {
            print_kernel(e, m->funcs.at[i]);
            elements_print_header(e, m->funcs.at[i]);
        }
}

void emit_header(strbuf *out, const ir_module *m, const emit_options *opt)
{
    emitter e;
    emitter_init(&e, m, opt);
    e.out = out;
    const char *name = guard(e.mem, m->name);
    const char *library = opt->embed ? "#include \"tkc_runtime.h\"" : "#include <tkc/tkc.h>";
    sb_printf(out,
              "/* Generated by tkc from %s. Do not edit. It belongs to the author of that program. */\n#ifndef "
              "%s\n#define %s\n\n%s\n\n#ifdef __cplusplus\n%sextern \"C\" {\n#endif\n\n",
              source_base(&e), name, name,
              module_has_object(m) ? library : "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>",
              m->externs.len ? "extern \"C++\" { /* an extern func may be a function of libm */\n#include <math.h>\n}\n"
                             : "");
    sb_printf(out, "/** What `real` is in this module. */\ntypedef %s %s_real;\n\n", scalar_c_type(m->real), m->name);
    if (module_has_object(m))
        print_object(&e);
    else
        emit_structs(&e);
    emit_prototypes(&e);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_export(m->funcs.at[i]))
            print_export(&e, m->funcs.at[i]);
    sb_add(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    emitter_done(&e);
}
