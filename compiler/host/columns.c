/* Jacobians and Hessians of export funcs where there is no straight-line code: a loop over the columns, each a JVP or a
 * second-order product. */
#include "host/host_int.h"

#include <string.h>

static int components(const ir_sigparam *p)
{
    return p->rows * p->cols;
}

typedef struct columns {
    emitter *e;
    const ir_func *f;
    kernel_form form, of;
    matrix_names names;
    sig_items items; /* of the derivative that is called */
    const char *row; /* loop index over a column's component */
    strbuf clear;    /* statements in front of each call */
} columns;

static bool same(const sig_item *x, const char *name, ir_plane plane)
{
    return x->plane == plane && !strcmp(x->p.name, name);
}

static bool is_column_named(const columns *c, const char *name)
{
    for (int i = 0; i < c->f->nsig; i++)
        if (!strcmp(c->f->sig[i].name, name) && matrix_column(c->f, c->form, i) >= 0)
            return true;
    return false;
}

static bool is_result(const columns *c, const sig_item *x)
{
    for (int i = 0; i < c->f->nouts; i++)
        if (same(x, sig_result(c->e->mem, c->f, i).name, x->plane))
            return true;
    return false;
}

/* A variable for the item, of its type without pointer; whether it is an array in C. */
static bool declare_item(const columns *c, strbuf *b, const sig_item *x, bool zero)
{
    const bool array = !x->p.structure && x->p.shape != IR_SHAPE_SCALAR;
    ir_sigparam p = x->p;
    p.name = arena_printf(c->e->mem, "%s%s", x->p.name, plane_tail(x->plane));
    sb_printf(b, "    %s%s;\n", sig_decl(c->e->mem, &p, IR_DATA, SIG_MEMBER),
              !zero                     ? ""
              : array || x->p.structure ? " = {0}"
                                        : " = 0");
    return array;
}

/* The argument of the call for an item, after its variable is declared. */
static const char *argument_of(columns *c, strbuf *b, const sig_item *x)
{
    arena *mem = c->e->mem;
    const bool result = is_result(c, x), dual = ir_plane_is_tangent(x->plane), adjoint = ir_plane_is_adjoint(x->plane);
    const char *name = arena_printf(mem, "%s%s", name_member(mem, x->p.name), plane_tail(x->plane));
    if (!dual && !adjoint) /* arguments, and results that may be NULL */
        return name_member(mem, x->p.name);
    if (adjoint && result) { /* the multipliers */
        if (dual)
            return "NULL";
        ir_sigparam m = x->p;
        for (int i = 0; i < c->f->nouts; i++)
            if (same(x, sig_result(mem, c->f, i).name, x->plane))
                m = matrix_multiplier(mem, c->f, i);
        const bool array = !x->p.structure && x->p.shape != IR_SHAPE_SCALAR;
        if (matrix_has_multipliers(c->f))
            return arena_printf(mem, "%s%s", array ? "" : "&", name_member(mem, m.name));
        (void)declare_item(c, b, x, false);
        sb_printf(b, "    %s = 1;\n", name);
        return arena_printf(mem, "&%s", name);
    }
    if (result ? c->form == FORM_HESS : !is_column_named(c, x->p.name))
        return "NULL";
    const bool array = declare_item(c, b, x, !adjoint && !result);
    if (adjoint)
        sb_printf(&c->clear, "memset(%s%s, 0, sizeof %s);\n", array ? "" : "&", name, name);
    if (array && x->p.shape == IR_SHAPE_MAT && !result && !adjoint) /* C converts no pointer to an array to const */
        return arena_printf(mem, "(const %s (*)[%d])%s", scalar_c_type(x->p.elem), x->p.cols, name);
    return arena_printf(mem, "%s%s", array ? "" : "&", name);
}

/* To the type of the matrix. */
static const char *cast_of(const columns *c, const ir_sigparam *p)
{
    const scalar elem = matrix_of(c->f, c->form).elem;
    return p->elem == elem ? "" : arena_printf(c->e->mem, "(%s)", scalar_c_type(elem));
}

/* The statements that store one column, `col` of an argument with the index k in C. */
static void store_column(const columns *c, const char *indent, const char *col)
{
    arena *mem = c->e->mem;
    const ir_func *f = c->f;
    int next = 0;
    const bool hess = c->form == FORM_HESS;
    for (int i = 0; i < (hess ? f->nsig : f->nouts); i++) {
        const ir_sigparam p = hess ? f->sig[i] : sig_result(mem, f, i);
        if (hess ? matrix_column(f, c->form, i) < 0 : !sig_is_float(&p))
            continue;
        for (int k = 0; k < components(&p); k++) {
            const int row = hess ? matrix_column(f, c->form, i) + k : next++;
            sb_printf(c->e->out, "%s%s = %s%s;\n", indent, matrix_element(mem, &c->names, row, col), cast_of(c, &p),
                      sig_component(mem, &p, plane_of(hess, true), ".", k));
        }
    }
}

/* The calls for the columns of one leaf. */
static void print_leaf(const columns *c, const ir_sigparam *p, int first, const char *call)
{
    arena *mem = c->e->mem;
    strbuf *b = c->e->out;
    const bool many = p->shape != IR_SHAPE_SCALAR;
    const char *seed = arena_printf(mem, "%s%s", name_member(mem, p->name), plane_tail(plane_of(false, true)));
    if (p->structure)
        seed = arena_printf(mem, "%s.%s", seed, member_path(mem, p->path, "."));
    if (p->shape == IR_SHAPE_VEC)
        seed = arena_printf(mem, "%s[%s]", seed, c->row);
    else if (many)
        seed = arena_printf(mem, "%s[%s / %d][%s %% %d]", seed, c->row, p->cols, c->row, p->cols);
    const char *indent = many ? "        " : "    ";
    if (many)
        sb_printf(b, "    for (int %s = 0; %s < %d; %s++) {\n", c->row, c->row, components(p), c->row);
    sb_printf(b, "%s%s = 1;\n", indent, seed);
    for (const char *line = sb_str(&c->clear); *line; line = strchr(line, '\n') + 1)
        sb_printf(b, "%s%.*s\n", indent, (int)(strchr(line, '\n') - line), line);
    sb_printf(b, "%s%s;\n%s%s = 0;\n", indent, call, indent, seed);
    store_column(c, indent,
                 !many   ? arena_printf(mem, "%d", first)
                 : first ? arena_printf(mem, "%d + %s", first, c->row)
                         : c->row);
    if (many)
        sb_add(b, "    }\n");
}

/* The gradient, which each product has computed. */
static void print_gradient(const columns *c)
{
    sb_printf(c->e->out, "    if (%s) {\n", c->names.grad);
    for (int i = 0; i < c->f->nsig; i++)
        for (int k = 0; matrix_column(c->f, c->form, i) >= 0 && k < components(&c->f->sig[i]); k++)
            sb_printf(c->e->out, "        %s[%d] = %s%s;\n", c->names.grad, matrix_column(c->f, c->form, i) + k,
                      cast_of(c, &c->f->sig[i]),
                      sig_component(c->e->mem, &c->f->sig[i], plane_of(true, false), ".", k));
    sb_add(c->e->out, "    }\n");
}

static void emit_columns(emitter *e, const ir_func *f, kernel_form form)
{
    arena *mem = e->mem;
    columns c = {.e = e, .f = f, .form = form, .of = form == FORM_HESS ? FORM_HVP : FORM_JVP};
    strbuf declared = {0}, args = {0};
    c.names = matrix_names_of(mem, f, form);
    c.row = free_name(mem, f, "k");
    export_items(mem, &c.items, f, c.of);
    for (size_t i = 0; i < c.items.len; i++)
        sb_printf(&args, "%s%s", i ? ", " : "", argument_of(&c, &declared, &c.items.at[i]));
    if (kernel_form_of(f, c.of)->ad.workspace)
        sb_printf(&args, ", %s", export_workspace_name(mem, f));
    sb_printf(e->out, "/* ---- %s of %s, column by column, %s ---- */\n\nvoid %s_%s%s(%s)\n{\n%s",
              form == FORM_HESS ? "Hessian" : "Jacobian", f->name, place_of(e, f->loc), e->m->name, f->name,
              form_suffix(form), export_signature(mem, e->m, f, form), sb_str(&declared));
    const char *call = arena_printf(mem, "%s_%s%s(%s)", e->m->name, f->name, form_suffix(c.of), sb_str(&args));
    for (int i = 0; i < f->nsig; i++)
        if (matrix_column(f, form, i) >= 0)
            print_leaf(&c, &f->sig[i], matrix_column(f, form, i), call);
    if (form == FORM_HESS)
        print_gradient(&c);
    if (matrix_of(f, form).nrows == 1)
        sb_printf(e->out, "    (void)%s;\n", c.names.ld);
    sb_add(e->out, "}\n\n");
    sb_free(&declared);
    sb_free(&args);
    sb_free(&c.clear);
    vec_free(&c.items);
}

void emit_matrices(emitter *e)
{
    for (size_t i = 0; i < e->m->funcs.len; i++)
        for (int form = FORM_JAC; form <= FORM_HESS && ir_is_export(e->m->funcs.at[i]); form++) {
            const ir_func *f = e->m->funcs.at[i];
            if (matrix_is_wanted(f, (kernel_form)form) && !kernel_form_of(f, (kernel_form)form))
                emit_columns(e, f, (kernel_form)form);
        }
}
