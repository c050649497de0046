/* What calls a function of the library: arguments are checked and turned into C's, results into Python's. */
#include "python/python_int.h"

#include <string.h>

static bool is_extent(const ir_func *f, const ir_sigparam *p)
{
    for (int i = 0; i < f->nsig; i++)
        for (int d = 0; f->sig[i].array && d < f->sig[i].array->ndim; d++)
            if (f->sig[i].array->dims[d].param >= 0 && !p->array &&
                strcmp(f->sig[f->sig[i].array->dims[d].param].name, p->name) == 0)
                return true;
    return false;
}

/* Of a struct, that of any member. */
static bool is_lost(const ir_func *f, const ir_sigparam *p)
{
    for (int i = 0; i < f->nsig; i++)
        if (f->sig[i].lost_in && strcmp(f->sig[i].name, p->name) == 0)
            return true;
    return false;
}

static role role_of(const ir_func *f, const sig_item *s)
{
    const ir_field *a = s->p.array;
    if (!a && is_extent(f, &s->p))
        return ROLE_EXTENT;
    if (!a)
        return s->use == SIG_INPUT ? ROLE_VALUE : s->use == SIG_OPTIONAL ? ROLE_MAYBE_VALUE : ROLE_RESULT;
    if (s->use == SIG_INPUT || (s->use == SIG_RESULT && s->plane == IR_DATA && a->in))
        return ROLE_ARRAY;
    /* A dual that would be lost is refused unless it is NULL. */
    return s->use == SIG_OPTIONAL || (ir_plane_is_tangent(s->plane) && is_lost(f, &s->p)) ? ROLE_MAYBE_ARRAY
                                                                                          : ROLE_NEW_ARRAY;
}

static const char *struct_name(const call *c, const ir_sigparam *p)
{
    return ptrmap_get(&c->p->structs, p->structure);
}

static void push_result(call *c, const char *name, ir_shape_kind shape, int rows, int cols)
{
    const ir_sigparam p = {
        .name = name, .elem = matrix_of(c->f, c->form).elem, .shape = shape, .rows = rows, .cols = cols};
    vec_push(&c->sigs, ((sig_item){p, IR_DATA, SIG_RESULT}));
}

/* The matrix is a result like others; a gradient is in front of a Hessian. */
static void push_matrix(call *c)
{
    const matrix_shape s = matrix_of(c->f, c->form);
    const matrix_names n = matrix_names_of(c->p->e.mem, c->f, c->form);
    if (c->form == FORM_HESS)
        push_result(c, n.grad, IR_SHAPE_VEC, s.ncols, 1);
    push_result(c, n.at, IR_SHAPE_MAT, s.nrows, s.ncols);
}

bool python_has_form(const ir_func *f, kernel_form form)
{
    return form >= FORM_JAC ? matrix_is_wanted(f, form) : kernel_form_of(f, form) != NULL;
}

call python_call_new(python *p, const ir_func *f, kernel_form form)
{
    arena *mem = p->e.mem;
    call c = {.p = p, .f = f, .form = form};
    if (ir_is_kernel(f))
        kernel_items(mem, &c.sigs, f, form);
    else
        export_items(mem, &c.sigs, f, form);
    if (form >= FORM_JAC)
        push_matrix(&c);
    c.n = (int)c.sigs.len;
    c.at = ARENA_ARRAY(mem, item, c.n + 1);
    py_names taken = {0};
    for (int i = 0; i < c.n; i++) {
        item *x = &c.at[i];
        const sig_item *s = &c.sigs.at[i];
        *x = (item){.sig = s, .role = role_of(f, s)};
        x->whole = !s->p.array && (s->p.structure || s->p.shape == IR_SHAPE_SCALAR);
        x->type = s->p.structure ? arena_printf(mem, "_C_%s", struct_name(&c, &s->p)) : py_ctype(mem, s->p.elem);
        x->name = x->role == ROLE_EXTENT
                      ? s->p.name
                      : py_name(mem, &taken, PY_ARGUMENT, arena_printf(mem, "%s%s", s->p.name, plane_tail(s->plane)));
        c.arrays = c.arrays || s->p.array;
        c.results += x->role == ROLE_RESULT || x->role == ROLE_NEW_ARRAY;
        c.seeds += s->plane == ir_adjoint_of(IR_DATA) && s->use == SIG_OPTIONAL;
    }
    vec_free(&taken);
    return c;
}

/* ---- the binding ---- */

/* The call of the function that says how many bytes of workspace are wanted; NULL: none are. */
static const char *size_function(python *p, const ir_func *f, kernel_form form)
{
    if (ir_is_kernel(f) || !export_workspace(p->e.mem, f, form))
        return NULL;
    return arena_printf(p->e.mem, "%s_bytes", python_form(p->e.mem, f, form));
}

/* Several results are a tuple with names. */
static void print_result_type(const call *c)
{
    if (c->results < 2)
        return;
    const char *name = python_form(c->p->e.mem, c->f, c->form);
    sb_printf(c->p->out, "_%s_results = _collections.namedtuple(\"%s_results\", \"", name, name);
    bool first = true;
    for (int i = 0; i < c->n; i++)
        if (c->at[i].role == ROLE_RESULT || c->at[i].role == ROLE_NEW_ARRAY) {
            sb_printf(c->p->out, "%s%s", first ? "" : " ", c->at[i].name);
            first = false;
        }
    sb_add(c->p->out, "\")\n");
    types_results(c, name);
}

void python_binding(python *p, const ir_func *f, kernel_form form)
{
    call c = python_call_new(p, f, form);
    arena *mem = p->e.mem;
    const char *name = python_form(mem, f, form);
    strbuf b = {0};
    sb_add(&b, ir_is_kernel(f) ? "_ct.c_int, _P" : "None");
    for (int i = 0; i < c.n; i++) {
        const item *x = &c.at[i];
        const bool by_value = x->whole && (x->role == ROLE_VALUE || x->role == ROLE_EXTENT);
        sb_printf(&b, ", %s", by_value ? x->type : "_P");
    }
    const char *size = size_function(p, f, form);
    if (form >= FORM_JAC)
        sb_add(&b, ", _ct.c_int");
    if (size)
        sb_add(&b, ", _P");
    const char *head = arena_printf(mem, "_c_%s = _bind(\"%s_%s\", ", name, p->e.m->name, name);
    sb_printf(p->out, "%s%s)\n", head, wrap_list(mem, sb_str(&b), strlen(head), 1));
    if (size) {
        sb_printf(p->out, "_c_%s = _bind(\"%s\", _ct.c_size_t", size, file_level(&p->e, size));
        for (int i = 0; i < f->nsig; i++)
            if (export_sizes(f, i))
                sb_printf(p->out, ", %s",
                          f->sig[i].structure ? arena_printf(mem, "_C_%s", struct_name(&c, &f->sig[i]))
                                              : py_ctype(mem, f->sig[i].elem));
        sb_add(p->out, ")\n");
    }
    print_result_type(&c);
    sb_free(&b);
    vec_free(&c.sigs);
}

/* ---- what an array and a value are ---- */

const char *python_element_type(const call *c, const ir_sigparam *p)
{
    return p->structure ? struct_name(c, p) : py_dtype(c->p->e.mem, p->array ? p->array->elem : p->elem);
}

const char *python_element_shape(const call *c, const ir_sigparam *p)
{
    if (p->structure)
        return "()";
    return p->array ? py_shape(c->p->e.mem, p->array->shape, p->array->rows, p->array->cols)
                    : py_shape(c->p->e.mem, p->shape, p->rows, p->cols);
}

const char *python_dims(const call *c, const ir_sigparam *p, bool tuple)
{
    arena *mem = c->p->e.mem;
    const ir_field *a = p->array;
    const char *text = "";
    for (int d = 0; d < a->ndim; d++) {
        const ir_extent *x = &a->dims[d];
        const char *one;
        if (x->mparam)
            one = arena_printf(mem, "%s%s", tuple ? "self._h.params." : "",
                               (const char *)ptrmap_get(&c->p->params, x->mparam));
        else if (x->param >= 0)
            one = arena_printf(mem, tuple ? "\"%s\"" : "%s", c->f->sig[x->param].name);
        else
            one = arena_printf(mem, "%lld", (long long)x->count);
        text = arena_printf(mem, "%s%s%s", text, d ? ", " : "", one);
    }
    return tuple ? arena_printf(mem, "(%s%s)", text, a->ndim == 1 ? "," : "") : text;
}

/* "f32[n, 3]", "vec(2, f32)[n]", "Line" */
static const char *type_text(const call *c, const ir_sigparam *p)
{
    arena *mem = c->p->e.mem;
    if (p->array)
        return arena_printf(mem, "%s[%s]", layout_element_name(mem, p->array), python_dims(c, p, false));
    if (p->structure)
        return struct_name(c, p);
    const char *elem = scalar_name(p->elem);
    if (p->shape == IR_SHAPE_SCALAR)
        return elem;
    return p->shape == IR_SHAPE_VEC ? arena_printf(mem, "vec(%d, %s)", p->rows, elem)
                                    : arena_printf(mem, "mat(%d, %d, %s)", p->rows, p->cols, elem);
}

/* ---- the head ---- */

/* Of the one result that a gradient is of. */
static const char *default_of(const call *c, const item *x)
{
    const bool seed = x->sig->plane == ir_adjoint_of(IR_DATA) && x->sig->use == SIG_OPTIONAL && c->seeds == 1;
    return seed && x->whole && !x->sig->p.structure ? "1.0" : "None";
}

static const char *print_head(const call *c)
{
    python *p = c->p;
    const bool kernel = ir_is_kernel(c->f);
    strbuf b = {0};
    if (kernel)
        sb_add(&b, "self");
    for (int i = 0; i < c->n; i++)
        if (python_is_required(&c->at[i]))
            sb_printf(&b, "%s%s", b.len ? ", " : "", c->at[i].name);
    bool star = false;
    for (int plane = 0; plane < 2; plane++) /* arrays that are results may follow by place, what derivatives add not */
        for (int i = 0; i < c->n; i++) {
            const item *x = &c->at[i];
            if (!python_is_argument(x) || python_is_required(x) || (x->sig->plane != IR_DATA) != plane)
                continue;
            if (plane && !star)
                sb_add(&b, b.len ? ", *" : "*");
            star = star || plane;
            sb_printf(&b, "%s%s=%s", b.len ? ", " : "", x->name, default_of(c, x));
        }
    const char *name = kernel ? (c->form == FORM_RUN ? "__call__" : form_suffix(c->form) + 1)
                              : py_name(p->e.mem, &p->taken, PY_MODULE, python_form(p->e.mem, c->f, c->form));
    if (!kernel && c->form < FORM_JAC)
        ptrmap_set(&p->names, kernel_form_of(c->f, c->form), (void *)name);
    const char *head = arena_printf(p->e.mem, "%sdef %s(", kernel ? "    " : "", name);
    sb_printf(p->out, "%s%s):\n", head, wrap_list(p->e.mem, arena_strdup(p->e.mem, sb_str(&b)), strlen(head), 4));
    types_call(c, name);
    sb_free(&b);
    return name;
}

static void print_doc(const call *c, const char *indent)
{
    static const char *const what[] = {[FORM_RUN] = "",
                                       [FORM_GRAD] = "The adjoint of ",
                                       [FORM_JVP] = "The JVP of ",
                                       [FORM_HVP] = "The JVP of the adjoint of ",
                                       [FORM_JAC] = "The Jacobian of ",
                                       [FORM_HESS] = "The Hessian of "};
    strbuf *b = c->p->out;
    sb_printf(b, "%s\"\"\"%s%s (", indent, what[c->form], c->f->name);
    quote_python(b, place_of(&c->p->e, c->f->loc), indent);
    sb_add(b, ").");
    if (c->f->doc) {
        sb_addc(b, ' ');
        quote_python(b, c->f->doc, indent);
    }
    bool any = false;
    for (int i = 0; i < c->n; i++) {
        const item *x = &c->at[i];
        if (x->role == ROLE_EXTENT)
            continue;
        const bool result = x->role == ROLE_RESULT || x->role == ROLE_NEW_ARRAY;
        sb_printf(b, "%s\n%s%s: %s%s%s", any ? "" : "\n", indent, x->name, type_text(c, &x->sig->p),
                  x->role == ROLE_ARRAY && x->sig->use == SIG_RESULT ? ", changed in place" : "",
                  x->role == ROLE_NEW_ARRAY ? ", a result, made unless it is given"
                  : result                  ? ", a result"
                                            : "");
        any = true;
    }
    sb_printf(b, "%s%s\"\"\"\n", any ? "\n" : "", any ? indent : "");
}

/* ---- the body ---- */

static void print_array(const call *c, const item *x, const char *indent)
{
    const ir_sigparam *p = &x->sig->p;
    const char *given = x->role == ROLE_ARRAY ? arena_printf(c->p->e.mem, "_needed(\"%s\", %s)", x->name, x->name)
                                              : x->name;
    sb_printf(c->p->out, "%s%s = _given(_e, \"%s\", %s, %s, %s, %s%s)\n", indent, x->name, x->name, given,
              python_element_type(c, p), python_dims(c, p, true), python_element_shape(c, p),
              x->sig->use == SIG_RESULT ? ", write=True" : "");
}

/* Arrays that are given tell the extents of those that are not. */
static void print_arrays(const call *c, const char *indent)
{
    strbuf *b = c->p->out, written = {0}, read = {0};
    if (!c->arrays)
        return;
    sb_printf(b, "%s_e = {}\n", indent);
    for (int i = 0; i < c->n; i++)
        if (c->at[i].sig->p.array)
            print_array(c, &c->at[i], indent);
    for (int i = 0; i < c->n; i++) {
        const item *x = &c->at[i];
        if (x->role == ROLE_NEW_ARRAY)
            sb_printf(b, "%sif %s is None:\n%s    %s = _made(_e, \"%s\", %s, %s, %s)\n", indent, x->name, indent,
                      x->name, x->name, python_element_type(c, &x->sig->p), python_dims(c, &x->sig->p, true),
                      python_element_shape(c, &x->sig->p));
        if (!x->sig->p.array)
            continue;
        strbuf *list = x->sig->use == SIG_RESULT ? &written : &read;
        sb_printf(list, "%s\"%s\": %s", list->len ? ", " : "", x->name, x->name);
    }
    if (written.len && !ir_is_kernel(c->f)) /* libtkc looks at those of kernels */
        sb_printf(b, "%s_apart({%s}, {%s})\n", indent, sb_str(&written), sb_str(&read));
    sb_free(&written);
    sb_free(&read);
}

/* "_as_i32(n, "n")": errors have the argument's name. */
static const char *converted(const call *c, const item *x)
{
    arena *mem = c->p->e.mem;
    return arena_printf(mem, "%s(%s, \"%s\")", py_convert(mem, x->sig->p.elem), x->name, x->name);
}

/* A scalar that goes in by value is converted where it is given. */
void python_values(const call *c, const char *indent)
{
    strbuf *b = c->p->out;
    for (int i = 0; i < c->n; i++) {
        const item *x = &c->at[i];
        const ir_sigparam *p = &x->sig->p;
        const char *in = indent;
        if (p->array || x->role == ROLE_EXTENT)
            continue;
        if (x->role == ROLE_RESULT && (!x->whole || p->structure)) {
            sb_printf(b, "%s%s = _np.zeros(%s, %s)\n", indent, x->name, python_element_shape(c, p),
                      python_element_type(c, p));
            continue;
        }
        if (x->role == ROLE_RESULT) {
            sb_printf(b, "%s%s = %s()\n", indent, x->name, x->type);
            continue;
        }
        if (x->role == ROLE_VALUE && x->whole && !p->structure)
            continue;
        if (x->role == ROLE_MAYBE_VALUE) {
            sb_printf(b, "%sif %s is not None:\n", indent, x->name);
            in = arena_printf(c->p->e.mem, "%s    ", indent);
        }
        if (p->structure)
            sb_printf(b, "%s%s = _struct(\"%s\", %s, %s, %s)\n", in, x->name, x->name, x->name, x->type,
                      struct_name(c, p));
        else if (x->whole)
            sb_printf(b, "%s%s = %s(%s)\n", in, x->name, x->type, converted(c, x));
        else
            sb_printf(b, "%s%s = _vector(\"%s\", %s, %s, %s)\n", in, x->name, x->name, x->name,
                      python_element_type(c, p), python_element_shape(c, p));
    }
}

const char *python_argument(const call *c, const item *x)
{
    arena *mem = c->p->e.mem;
    const ir_sigparam *p = &x->sig->p;
    if (x->role == ROLE_EXTENT)
        return arena_printf(mem, "_e[\"%s\"]", p->name);
    if (!x->whole || (x->role == ROLE_RESULT && p->structure))
        return arena_printf(mem, "_at(%s)", x->name);
    if (x->role != ROLE_VALUE)
        return arena_printf(mem, "_ref(%s)", x->name);
    return p->structure ? x->name : converted(c, x);
}

static void print_workspace(const call *c, const char *indent)
{
    const char *size = size_function(c->p, c->f, c->form);
    strbuf b = {0};
    if (!size)
        return;
    for (int i = 0; i < c->f->nsig; i++)
        for (int k = 0; k < c->n && export_sizes(c->f, i); k++)
            if (c->at[k].sig->plane == IR_DATA && strcmp(c->at[k].sig->p.name, c->f->sig[i].name) == 0) {
                sb_printf(&b, "%s%s", b.len ? ", " : "", python_argument(c, &c->at[k]));
                break;
            }
    sb_printf(c->p->out, "%s_w = _workspace(_c_%s(%s))\n", indent, size, sb_str(&b));
    sb_free(&b);
}

static void print_launch(const call *c, const char *indent)
{
    arena *mem = c->p->e.mem;
    strbuf *b = c->p->out, args = {0};
    const bool kernel = ir_is_kernel(c->f);
    if (kernel)
        sb_add(&args, "self._h.pointer");
    for (int i = 0; i < c->n; i++)
        sb_printf(&args, "%s%s", args.len ? ", " : "", python_argument(c, &c->at[i]));
    if (c->form >= FORM_JAC)
        sb_printf(&args, ", %d", matrix_of(c->f, c->form).ncols);
    if (size_function(c->p, c->f, c->form))
        sb_printf(&args, "%s_at(_w)", args.len ? ", " : "");
    const char *head = arena_printf(mem, "%s%s_c_%s(", indent, kernel ? "_status = " : "",
                                    python_form(mem, c->f, c->form));
    sb_printf(b, "%s%s)\n", head, wrap_list(mem, arena_strdup(mem, sb_str(&args)), strlen(head), 4));
    if (kernel)
        sb_printf(b, "%sif _status:\n%s    self._h.fail(_status)\n", indent, indent);
    if (kernel && c->form == FORM_RUN)
        sb_printf(b, "%sself._h.session._launched = True\n", indent);
    sb_clear(&args);
    for (int i = 0; i < c->n && kernel; i++)
        if (c->at[i].sig->p.array)
            sb_printf(&args, "%s%s", args.len ? ", " : "", c->at[i].name);
    if (args.len && c->form == FORM_RUN)
        sb_printf(b, "%sself._h.session._keep(%s)\n", indent, sb_str(&args));
    sb_free(&args);
}

static const char *result(const call *c, const item *x)
{
    if (x->sig->p.array || !x->whole)
        return x->name;
    return arena_printf(c->p->e.mem, x->sig->p.structure ? "%s[()]" : "%s.value", x->name);
}

static void print_results(const call *c, const char *indent)
{
    if (!c->results)
        return;
    strbuf b = {0};
    for (int i = 0; i < c->n; i++)
        if (c->at[i].role == ROLE_RESULT || c->at[i].role == ROLE_NEW_ARRAY)
            sb_printf(&b, "%s%s", b.len ? ", " : "", result(c, &c->at[i]));
    const char *type = c->results > 1
                           ? arena_printf(c->p->e.mem, "_%s_results", python_form(c->p->e.mem, c->f, c->form))
                           : NULL;
    sb_printf(c->p->out, "%sreturn %s%s%s%s\n", indent, type ? type : "", type ? "(" : "", sb_str(&b), type ? ")" : "");
    sb_free(&b);
}

/* What a matrix function has beside its call: the rows and columns of the entries, and the shape. */
static void print_pattern(const call *c, const char *name)
{
    const matrix_shape s = matrix_of(c->f, c->form);
    sb_printf(c->p->out, "\n\n%s.pattern = _pattern(\"%s_%s\", %d)\n%s.shape = (%d, %d)\n", name, c->p->e.m->name,
              python_form(c->p->e.mem, c->f, c->form), matrix_count(c->f, c->form), name, s.nrows, s.ncols);
}

void python_call(python *p, const ir_func *f, kernel_form form)
{
    call c = python_call_new(p, f, form);
    const char *indent = ir_is_kernel(f) ? "        " : "    ";
    const char *name = print_head(&c);
    print_doc(&c, indent);
    print_arrays(&c, indent);
    python_values(&c, indent);
    print_workspace(&c, indent);
    print_launch(&c, indent);
    print_results(&c, indent);
    if (form >= FORM_JAC)
        print_pattern(&c, name);
    vec_free(&c.sigs);
}
