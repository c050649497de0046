/* The module object in Python: params, fields, kernels. */
#include "host/host.h"
#include "python/python_int.h"

#include <string.h>

static const char *planes_of(python *p, const ir_field *f)
{
    const char *text = "";
    for (int k = IR_DATA; k < IR_PLANES; k++)
        if (field_has_plane(p->e.m, f, (ir_plane)k) || f->wide[k])
            text = arena_printf(p->e.mem, "%s%s%s", text, k ? " " : "", plane_name((ir_plane)k));
    return text;
}

/* ---- params and creation ---- */

static void print_params(python *p)
{
    const ir_module *m = p->e.m;
    py_names taken = {0};
    sb_add(p->out, "class _Params(_ct.Structure):\n    _fields_ = [");
    for (size_t i = 0; i < m->params.len; i++) {
        const ir_mparam *x = m->params.at[i];
        const char *name = py_name(p->e.mem, &taken, PY_CREATION, x->name);
        ptrmap_set(&p->params, x, (void *)name);
        sb_printf(p->out, "%s(\"%s\", %s)", i ? ", " : "", name, py_ctype(p->e.mem, x->type));
    }
    if (!m->params.len)
        sb_add(p->out, "(\"_unused\", _ct.c_char)");
    sb_add(p->out, "]\n\n\n_param_kinds = {");
    for (size_t i = 0; i < m->params.len; i++)
        sb_printf(p->out, "%s\"%s\": %s", i ? ", " : "", taken.at[i], py_convert(p->e.mem, m->params.at[i]->type));
    sb_add(p->out, "}\n");
    vec_free(&taken);
    const char *name = m->name;
    sb_printf(p->out,
              "_create = _bind(\"%s_create_\", _P, _P, _P, _ct.c_uint64, _ct.c_int)\n"
              "_destroy = _bind(\"%s_destroy\", None, _P)\n"
              "_set_params = _bind(\"%s_set_params\", _ct.c_int, _P, _P)\n"
              "_made_for = (0x%016llx, %d)  # the hash of the interface, and that of libtkc\n_field_count = %zu\n",
              name, name, name, (unsigned long long)emit_interface_hash(m), EMIT_INTERFACE, m->nfields);
}

static void print_init(python *p)
{
    const ir_module *m = p->e.m;
    strbuf head = {0};
    sb_add(&head, "self, *, ");
    for (size_t i = 0; i < m->params.len; i++) {
        const ir_mparam *x = m->params.at[i];
        sb_printf(&head, "%s=%s, ", (const char *)ptrmap_get(&p->params, x),
                  py_number(p->e.mem, x->type, x->idefault, x->fdefault));
    }
    sb_add(&head, "session=None, **options");
    sb_printf(p->out, "    def __init__(%s):\n        \"\"\"All fields are zero.\n\n",
              wrap_list(p->e.mem, sb_str(&head), strlen("    def __init__("), 4));
    for (size_t i = 0; i < m->params.len; i++) {
        const ir_mparam *x = m->params.at[i];
        sb_printf(p->out, "        %s: %s. ", (const char *)ptrmap_get(&p->params, x), scalar_name(x->type));
        if (x->doc) {
            quote_python(p->out, x->doc, "            ");
            sb_add(p->out, ". ");
        }
        sb_add(p->out, x->sizes ? "Sizes fields: fixed at creation\n" : "m.params changes it\n");
    }
    sb_add(p->out,
           "        session: the one of other modules, to be on tapes with them; else options are those of a new "
           "Session.\"\"\"\n");
    strbuf given = {0};
    sb_add(&given, "session, options");
    for (size_t i = 0; i < m->params.len; i++) {
        const char *name = ptrmap_get(&p->params, m->params.at[i]);
        sb_printf(&given, ", %s=%s", name, name);
    }
    sb_printf(p->out, "        self._open(%s)\n",
              wrap_list(p->e.mem, sb_str(&given), strlen("        self._open("), 5));
    sb_free(&head);
    sb_free(&given);
}

/* ---- fields ---- */

static void print_doc_argument(python *p, const char *what, const ir_field *f)
{
    arena *mem = p->e.mem;
    const char *dims = f->ndim ? arena_printf(mem, ", %d-D", f->ndim) : "";
    const char *text = arena_printf(mem, "Field %s: %s%s.%s%s", layout_title(f), layout_element_name(mem, f), dims,
                                    f->doc ? " " : "", f->doc ? f->doc : "");
    sb_printf(p->out, "%s(\"", what);
    quote_python(p->out, text, "\\n");
    sb_add(p->out, "\", ");
}

/* "x", 0, _f32, 1, (3,), "data grad" */
static void print_leaf(python *p, const ir_field *f)
{
    arena *mem = p->e.mem;
    sb_printf(p->out, "\"%s\", %d, %s, %d, %s, \"%s\"%s", f->name, f->index, py_dtype(mem, f->elem), f->ndim,
              py_shape(mem, f->shape, f->rows, f->cols), planes_of(p, f), *layout_subscript(f) ? ", apart=True" : "");
    const char *between = ", wide={";
    for (int k = IR_DATA; k < IR_PLANES; k++)
        if (f->wide[k]) {
            sb_printf(p->out, "%s%d: (%d, %d)", between, k, f->wide[k]->index, f->width[k]);
            between = ", ";
        }
    if (!strcmp(between, ", "))
        sb_addc(p->out, '}');
}

/* Members that share memory: {"pos": (0, "data grad"), "inner": {...}}. Returns the number behind its leaves. */
static int print_shared_members(python *p, const ir_struct *r, int at)
{
    sb_addc(p->out, '{');
    for (int k = 0; k < r->nmembers; k++) {
        sb_printf(p->out, "%s\"%s\": ", k ? ", " : "", py_member(p->e.mem, r, k));
        if (r->members[k].structure) {
            at = print_shared_members(p, r->members[k].structure, at);
        } else {
            const ir_field *f = p->e.m->fields.at[at++];
            sb_printf(p->out, "(%d, \"%s\")", f->index, planes_of(p, f));
        }
    }
    sb_addc(p->out, '}');
    return at;
}

/* Members with memory of their own: "p", pos=_leaf(...), inner=_group(...). */
static int print_apart_members(python *p, const ir_struct *r, int at, const char *name)
{
    sb_printf(p->out, "\"%s\"", name);
    for (int k = 0; k < r->nmembers; k++) {
        const char *member = py_member(p->e.mem, r, k);
        sb_printf(p->out, ", %s=", member);
        if (r->members[k].structure) {
            sb_add(p->out, "_group(");
            at = print_apart_members(p, r->members[k].structure, at,
                                     arena_printf(p->e.mem, "%s.%s", name, r->members[k].name));
        } else {
            sb_add(p->out, "_leaf(");
            print_leaf(p, p->e.m->fields.at[at++]);
        }
        sb_addc(p->out, ')');
    }
    return at;
}

static void print_field(python *p, const ir_field *f, py_names *taken)
{
    const char *name = py_name(p->e.mem, taken, PY_CLASS, f->lead ? f->whole : f->name);
    types_field(p, f, name);
    sb_printf(p->out, "    %s = ", name);
    if (!f->lead) {
        print_doc_argument(p, "_field", f);
        print_leaf(p, f);
    } else if (layout_view_is_shared(f)) {
        print_doc_argument(p, "_structs", f);
        sb_printf(p->out, "\"%s\", %s, %d, ", f->whole, (const char *)ptrmap_get(&p->structs, f->structure), f->ndim);
        (void)print_shared_members(p, f->structure, f->index);
    } else {
        sb_printf(p->out, "_apart_structs(\"Field %s: of structs %s, each member an array.\", ", f->whole,
                  f->structure->name);
        (void)print_apart_members(p, f->structure, f->index, f->whole);
    }
    sb_add(p->out, ")\n");
}

/* ---- kernels ---- */

static void print_kernel(python *p, const ir_func *k)
{
    for (int form = FORM_RUN; form <= FORM_HVP; form++)
        if (kernel_form_of(k, (kernel_form)form))
            python_binding(p, k, (kernel_form)form);
    python_sparse_bindings(p, k);
    sb_printf(&p->types, "\n\nclass _kernel_%s:\n", k->name);
    sb_printf(p->out, "\n\nclass _kernel_%s(_Kernel):\n    \"\"\"Kernel %s (", k->name, k->name);
    quote_python(p->out, place_of(&p->e, k->loc), "");
    sb_add(p->out, ").");
    if (k->doc) {
        sb_addc(p->out, ' ');
        quote_python(p->out, k->doc, "    ");
    }
    sb_add(p->out, "\"\"\"\n    __slots__ = ()\n");
    for (int form = FORM_RUN; form <= FORM_HVP; form++)
        if (kernel_form_of(k, (kernel_form)form)) {
            sb_addc(p->out, '\n');
            python_call(p, k, (kernel_form)form);
        }
    python_sparse_method(p, k);
    sb_add(p->out, "\n\n");
}

void python_object(python *p)
{
    const ir_module *m = p->e.m;
    print_params(p);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i]) && !ir_is_hidden(m->funcs.at[i]))
            print_kernel(p, m->funcs.at[i]);
    sb_printf(p->out, "%sclass Module(_Module):\n    \"\"\"The fields and kernels of ", m->funcs.len ? "" : "\n\n");
    quote_python(p->out, source_base(&p->e), "");
    sb_add(p->out, ". `with Module() as m:` closes it at the end; else it goes with its last view.\"\"\"\n\n");
    py_names taken = {0};
    types_module(p);
    for (size_t i = 0; i < m->nfields; i++)
        if (!m->fields.at[i]->wide_of && (!m->fields.at[i]->lead || m->fields.at[i]->lead == m->fields.at[i]))
            print_field(p, m->fields.at[i], &taken);
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i]) && !ir_is_hidden(m->funcs.at[i])) {
            const char *name = py_name(p->e.mem, &taken, PY_CLASS, m->funcs.at[i]->name);
            ptrmap_set(&p->names, m->funcs.at[i], (void *)name);
            sb_printf(p->out, "    %s = _Launch(_kernel_%s)\n", name, m->funcs.at[i]->name);
            sb_printf(&p->types, "    %s: _t.Final[_kernel_%s]\n", name, m->funcs.at[i]->name);
        }
    sb_addc(p->out, '\n');
    print_init(p);
    sb_add(p->out, "\n\n");
    vec_free(&taken);
}
