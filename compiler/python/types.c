/* The .pyi: types of the module's names, for type checkers and editors. */
#include "host/host.h"
#include "python/python.h"
#include "python/python_int.h"

#include <string.h>

static const char *numpy_type(arena *mem, scalar s)
{
    if (s == SC_BOOL)
        return "_np.bool_";
    if (scalar_is_float(s))
        return scalar_bytes(s) == 8 ? "_np.float64" : "_np.float32";
    return arena_printf(mem, "_np.%sint%d", scalar_is_signed(s) ? "" : "u", 8 * scalar_bytes(s));
}

/* What an argument may be, and what a result is. */
static const char *number_in(scalar s)
{
    return s == SC_BOOL ? "_Bool" : scalar_is_float(s) ? "_Number" : "_Integer";
}

static const char *number_out(scalar s)
{
    return s == SC_BOOL ? "_Flag" : scalar_is_float(s) ? "_Float" : "_Int";
}

/* ---- structs ---- */

void types_struct(python *p, const ir_struct *r, const char *name)
{
    sb_printf(&p->types, "\n\n_D_%s = _t.TypedDict(\"_D_%s\", {", name, name); /* names may be keywords */
    for (int k = 0; k < r->nmembers; k++) {
        const ir_struct *inner = r->members[k].structure;
        sb_printf(&p->types, "%s\"%s\": %s%s", k ? ", " : "", py_member(p->e.mem, r, k), inner ? "_V_" : "_Values",
                  inner ? (const char *)ptrmap_get(&p->structs, inner) : "");
    }
    sb_printf(&p->types,
              "}, total=False)\n_V_%s = _t.Union[_D_%s, tuple[_t.Any, ...], _np.void, _npt.NDArray[_t.Any]]\n"
              "%s: _np.dtype[_np.record]\n",
              name, name, name);
}

/* ---- calls ---- */

static const char *element(const call *c, const ir_sigparam *p, const char *structure)
{
    return p->structure ? structure : numpy_type(c->p->e.mem, p->array ? p->array->elem : p->elem);
}

const char *types_argument(const call *c, const item *x)
{
    const ir_sigparam *p = &x->sig->p;
    if (p->array)
        return arena_printf(c->p->e.mem, "_Array[%s]", element(c, p, "_np.void"));
    if (p->structure)
        return arena_printf(c->p->e.mem, "_V_%s", (const char *)ptrmap_get(&c->p->structs, p->structure));
    return x->whole ? number_in(p->elem) : "_Values";
}

static const char *result_type(const call *c, const item *x)
{
    const ir_sigparam *p = &x->sig->p;
    if (p->array || !x->whole)
        return arena_printf(c->p->e.mem, "_npt.NDArray[%s]", element(c, p, "_np.record"));
    return p->structure ? "_np.record" : number_out(p->elem);
}

static bool is_result(const item *x)
{
    return x->role == ROLE_RESULT || x->role == ROLE_NEW_ARRAY;
}

void types_results(const call *c, const char *name)
{
    sb_printf(&c->p->types, "\n\nclass _%s_results(_t.NamedTuple):\n", name);
    for (int i = 0; i < c->n; i++) {
        const char *field = c->at[i].name;
        if (is_result(&c->at[i])) /* tuples have methods of these names */
            sb_printf(&c->p->types, "    %s: %s%s\n", field, result_type(c, &c->at[i]),
                      strcmp(field, "count") == 0 || strcmp(field, "index") == 0 ? "  # type: ignore" : "");
    }
}

static void print_return(const call *c)
{
    strbuf *b = &c->p->types;
    if (c->results > 1)
        sb_printf(b, ") -> _%s_results: ...\n", python_form(c->p->e.mem, c->f, c->form));
    for (int i = 0; i < c->n && c->results == 1; i++)
        if (is_result(&c->at[i]))
            sb_printf(b, ") -> %s: ...\n", result_type(c, &c->at[i]));
    if (c->results == 0)
        sb_add(b, ") -> None: ...\n");
}

void types_call(const call *c, const char *name)
{
    strbuf *b = &c->p->types;
    const bool kernel = ir_is_kernel(c->f);
    const bool matrix = c->form >= FORM_JAC; /* has attributes: an object that is called */
    if (matrix)
        sb_printf(b, "\n\nclass _%s_matrix(_Matrix):\n    def __call__(self", name);
    else
        sb_printf(b, "%sdef %s(%s", kernel ? "    " : "\n\n", name, kernel ? "self" : "");
    const char *comma = kernel || matrix ? ", " : "";
    for (int i = 0; i < c->n; i++)
        if (python_is_required(&c->at[i])) {
            sb_printf(b, "%s%s: %s", comma, c->at[i].name, types_argument(c, &c->at[i]));
            comma = ", ";
        }
    bool star = false;
    for (int plane = 0; plane < 2; plane++) /* in the order of the function */
        for (int i = 0; i < c->n; i++) {
            const item *x = &c->at[i];
            if (!python_is_argument(x) || python_is_required(x) || (x->sig->plane != IR_DATA) != plane)
                continue;
            sb_printf(b, "%s%s%s: _t.Optional[%s] = ...", comma, plane && !star ? "*, " : "", x->name,
                      types_argument(c, x));
            star = star || plane;
            comma = ", ";
        }
    print_return(c);
    if (matrix)
        sb_printf(b, "\n\n%s: _t.Final[_%s_matrix]\n", name, name);
}

/* ---- the module object ---- */

enum { GRAD = 1, DUAL = 2, GRAD_DUAL = 4 };

static unsigned planes_of(python *p, const ir_field *f)
{
    return (field_has_plane(p->e.m, f, IR_GRAD) || f->wide[IR_GRAD] ? GRAD : 0u) |
           (ir_field_has_tangents(f) ? DUAL : 0u) | (field_has_plane(p->e.m, f, IR_GRAD_DUAL) ? GRAD_DUAL : 0u);
}

static const char *leaf_type(python *p, const ir_field *f)
{
    const unsigned planes = planes_of(p, f);
    const char *base = planes ? arena_printf(p->e.mem, "_Field_%s%s%s", planes & GRAD ? "g" : "",
                                             planes & DUAL ? "d" : "", planes & GRAD_DUAL ? "h" : "")
                              : "Field";
    return arena_printf(p->e.mem, "%s[%s]", base, numpy_type(p->e.mem, f->elem));
}

/* The class of a field of structs, with those of its members that are structs in front. *planes: those of any member.
 */
static const char *struct_class(python *p, const ir_struct *r, int *at, bool shared, unsigned *planes)
{
    strbuf members = {0};
    unsigned mine = 0;
    for (int k = 0; k < r->nmembers; k++) {
        const ir_struct *inner = r->members[k].structure;
        const char *type;
        if (inner) {
            type = struct_class(p, inner, at, shared, &mine);
        } else {
            const ir_field *f = p->e.m->fields.at[(*at)++];
            mine |= planes_of(p, f);
            type = leaf_type(p, f);
        }
        sb_printf(&members, "    %s: %s[%s]\n", py_member(p->e.mem, r, k), inner ? "_StructSlot" : "_Slot", type);
    }
    const char *name = arena_printf(p->e.mem, "_Structs%d", ++p->classes);
    sb_printf(&p->types, "\n\nclass %s", name);
    if (shared)
        sb_printf(&p->types, "(_Elements[_np.record]%s%s%s)", mine & GRAD ? ", _Grad[_np.record]" : "",
                  mine & DUAL ? ", _Dual[_np.record]" : "", mine & GRAD_DUAL ? ", _GradDual[_np.record]" : "");
    sb_printf(&p->types, ":\n%s", sb_str(&members));
    sb_free(&members);
    *planes |= mine;
    return name;
}

/* Names of the classes, in the order of the fields. */
static void print_struct_classes(python *p)
{
    for (size_t i = 0; i < p->e.m->nfields; i++) {
        const ir_field *f = p->e.m->fields.at[i];
        int at = f->index;
        unsigned planes = 0;
        if (f->lead == f)
            ptrmap_set(&p->names, f, (void *)struct_class(p, f->structure, &at, layout_view_is_shared(f), &planes));
    }
}

void types_field(python *p, const ir_field *f, const char *name)
{
    if (f->lead)
        sb_printf(&p->types, "    %s: _StructSlot[%s]\n", name, (const char *)ptrmap_get(&p->names, f));
    else
        sb_printf(&p->types, "    %s: _Slot[%s]\n", name, leaf_type(p, f));
}

static void print_params(python *p)
{
    const ir_module *m = p->e.m;
    sb_add(&p->types, "\n\nclass _Params:\n");
    for (size_t i = 0; i < m->params.len; i++) {
        const ir_mparam *x = m->params.at[i];
        const char *type = number_out(x->type);
        sb_printf(&p->types, x->sizes ? "    %s: _t.Final[%s]\n" : "    %s: %s\n",
                  (const char *)ptrmap_get(&p->params, x), type);
    }
    if (!m->params.len)
        sb_add(&p->types, "    ...\n");
}

void types_module(python *p)
{
    const ir_module *m = p->e.m;
    print_struct_classes(p);
    print_params(p);
    sb_add(&p->types, "\n\nclass Module(_Module):\n    def __init__(self, *, ");
    for (size_t i = 0; i < m->params.len; i++)
        sb_printf(&p->types, "%s: %s = ..., ", (const char *)ptrmap_get(&p->params, m->params.at[i]),
                  number_in(m->params.at[i]->type));
    sb_add(&p->types, "session: _t.Optional[_AnySession] = ..., threads: _Integer = ..., deterministic: _Bool = ..., "
                      "flush_denormals: _Bool = ...,\n                 seed: _Integer = ..., "
                      "on_print: _t.Optional[_t.Callable[[str], object]] = ...) -> None: ...\n"
                      "    params: _t.Final[_Params]\n");
}

/* ---- functions of tensors ---- */

void types_wrappers(python *p, unsigned frameworks)
{
    sb_add(&p->types, "\n\nclass _Functions:\n");
    if (module_has_object(p->e.m))
        sb_add(&p->types, "    def over_fields(self, module: _t.Any, program: _t.Callable[[], object], inputs: _t.Any, "
                          "outputs: _t.Any, seed: _Integer = ...) -> _t.Any: ...\n");
    for (size_t i = 0; i < p->e.m->funcs.len; i++) {
        const ir_func *f = p->e.m->funcs.at[i];
        const char *name = ptrmap_get(&p->names, f);
        if (name && (ir_is_kernel(f) || ir_is_export(f)) && !f->ad.primal)
            sb_printf(&p->types, "    def %s(self, *arguments: _t.Any, **extents: _t.Any) -> _t.Any: ...\n", name);
    }
    sb_add(&p->types, "    ...\n\n\n");
    if (frameworks & PYTHON_TORCH)
        sb_add(&p->types, "torch: _Functions\n");
    if (frameworks & PYTHON_JAX)
        sb_add(&p->types, "jax: _Functions\n");
}
