/* Jacobians and Hessians of export funcs in C: their shape, their pattern, and the loop over columns of the JVP or of
 * the second-order product where there is no straight-line code. */
#include "host/host_int.h"

#include <string.h>

/* ---- shapes ---- */

static int components(const ir_sigparam *p)
{
    return p->rows * p->cols;
}

static int turn_of(const ir_sigparam *p, kernel_form form)
{
    return form == FORM_HESS ? p->hess : p->jac;
}

static bool is_column(const ir_sigparam *p, kernel_form form)
{
    return turn_of(p, form) > 0;
}

/* In front of the columns of parameter i. */
static int first_column(const ir_func *f, kernel_form form, int i)
{
    int n = 0;
    for (int k = 0; k < f->nsig; k++) {
        const int turn = turn_of(&f->sig[k], form), own = turn_of(&f->sig[i], form);
        n += turn && (turn < own || (turn == own && k < i)) ? components(&f->sig[k]) : 0;
    }
    return n;
}

bool matrix_is_wanted(const ir_func *f, kernel_form form)
{
    return (form == FORM_JAC && (f->ad.jac || ((f->ad.derive & IR_DERIVE_JAC) && f->ad.jvp))) ||
           (form == FORM_HESS && (f->ad.hess || ((f->ad.derive & IR_DERIVE_HESS) && f->ad.hvp)));
}

matrix_shape matrix_of(const ir_func *f, kernel_form form)
{
    matrix_shape s = {.elem = SC_F32};
    const ir_func *made = kernel_form_of(f, form);
    for (int i = 0; i < f->nsig; i++)
        if (is_column(&f->sig[i], form)) {
            s.ncols += components(&f->sig[i]);
            s.elem = f->sig[i].elem == SC_F64 ? SC_F64 : s.elem;
        }
    for (int i = 0; i < f->nresults; i++) {
        s.nrows += scalar_is_float(f->results[i]);
        s.elem = f->results[i] == SC_F64 ? SC_F64 : s.elem;
    }
    s.nrows = form == FORM_HESS ? s.ncols : s.nrows;
    s.pattern = made ? made->ad.pattern : NULL;
    return s;
}

bool matrix_has(const matrix_shape *s, int i, int j)
{
    return !s->pattern || s->pattern[i * (s->ncols + 1) + j] == '1';
}

/* Of a Hessian, whose pattern has the lower triangle alone. */
static bool has_either(const matrix_shape *s, kernel_form form, int i, int j)
{
    return form == FORM_HESS && j > i ? matrix_has(s, j, i) : matrix_has(s, i, j);
}

static int count_entries(const matrix_shape *s, kernel_form form)
{
    int n = 0;
    for (int i = 0; i < s->nrows; i++)
        for (int j = 0; j < s->ncols; j++)
            n += has_either(s, form, i, j);
    return n;
}

/* ---- the names of what such a function takes beside the arguments ---- */

static bool has_one_result(const ir_func *f)
{
    for (int i = 1; i < f->nouts; i++)
        if (strcmp(f->outs[i].name, f->outs[0].name) != 0)
            return false;
    return true;
}

bool matrix_has_multipliers(const ir_func *f)
{
    return f->nresults > 1;
}

ir_sigparam matrix_multiplier(arena *mem, const ir_func *f, int i)
{
    ir_sigparam p = f->outs[i];
    p.name = free_name(mem, f, has_one_result(f) ? "lambda" : arena_printf(mem, "lambda_%s", p.name));
    return p;
}

matrix_names matrix_names_of(arena *mem, const ir_func *f, kernel_form form)
{
    return (matrix_names){.at = free_name(mem, f, form == FORM_HESS ? "hess" : "jac"),
                          .grad = free_name(mem, f, "grad"),
                          .ld = free_name(mem, f, "ld")};
}

void matrix_add_arguments(arena *mem, strbuf *b, const ir_func *f, kernel_form form)
{
    const matrix_names n = matrix_names_of(mem, f, form);
    const char *type = scalar_c_type(matrix_of(f, form).elem);
    if (form == FORM_HESS)
        sb_printf(b, "%s%s *%s", b->len ? ", " : "", type, n.grad);
    sb_printf(b, "%s%s *%s, int %s", b->len ? ", " : "", type, n.at, n.ld);
}

const char *matrix_element(arena *mem, const matrix_names *n, int i, const char *col)
{
    const char *row = i == 0 ? "" : i == 1 ? n->ld : arena_printf(mem, "%d * %s", i, n->ld);
    const bool first = !strcmp(col, "0");
    return arena_printf(mem, "%s[%s%s%s]", n->at, row, *row && !first ? " + " : "", *row && first ? "" : col);
}

const char *matrix_entry(arena *mem, const matrix_names *n, int i, int j)
{
    return matrix_element(mem, n, i, arena_printf(mem, "%d", j));
}

/* ---- the header, and the pattern as tables ---- */

/* "x, u": what the derivative is by. */
static const char *arguments_of(arena *mem, const ir_func *f, kernel_form form)
{
    const char *list = "";
    for (int turn = 1; turn <= f->nsig; turn++)
        for (int i = 0; i < f->nsig; i++)
            if (turn_of(&f->sig[i], form) == turn && (i == 0 || f->sig[i - 1].name != f->sig[i].name))
                list = arena_printf(mem, "%s%s%s", list, *list ? ", " : "", f->sig[i].name);
    return list;
}

void matrix_print_header(emitter *e, const ir_func *f, kernel_form form)
{
    const matrix_shape s = matrix_of(f, form);
    const char *name = arena_printf(e->mem, "%s_%s%s", e->m->name, f->name, form_suffix(form));
    const int n = count_entries(&s, form);
    sb_printf(e->out,
              "/** Shape of %s; the rows and columns of its entries that are not zero by structure, row by row. */\n"
              "enum { %s_ROWS = %d, %s_COLS = %d, %s_NNZ = %d };\n",
              name, name, s.nrows, name, s.ncols, name, n);
    sb_printf(e->out, "extern const int %s_row[%d], %s_col[%d];\n\n", name, n ? n : 1, name, n ? n : 1);
    if (form == FORM_JAC)
        sb_printf(e->out,
                  "/** The Jacobian of %s by %s: a row for each result, rows are `ld` numbers apart.\n"
                  " *  All entries are overwritten. A result that is NULL is not wanted",
                  f->name, arguments_of(e->mem, f, form));
    else
        sb_printf(e->out,
                  "/** The Hessian of %s by %s%s: both triangles, rows are `ld` numbers apart; and the gradient.\n"
                  " *  All entries are overwritten. Results and the gradient that are NULL are not wanted",
                  f->name, arguments_of(e->mem, f, form),
                  matrix_has_multipliers(f) ? ", of the sum of its results, each times its lambda" : "");
}

static void print_table(emitter *e, const ir_func *f, kernel_form form, bool columns)
{
    const matrix_shape s = matrix_of(f, form);
    const char *sep = "";
    size_t begin = e->out->len;
    sb_printf(e->out, "const int %s_%s%s_%s[%d] = {", e->m->name, f->name, form_suffix(form), columns ? "col" : "row",
              count_entries(&s, form) ? count_entries(&s, form) : 1);
    for (int i = 0; i < s.nrows; i++)
        for (int j = 0; j < s.ncols; j++) {
            if (!has_either(&s, form, i, j))
                continue;
            sb_printf(e->out, "%s%d", sep, columns ? j : i);
            sep = ", ";
            if (e->out->len - begin > 110) {
                sep = ",\n    ";
                begin = e->out->len;
            }
        }
    sb_printf(e->out, "%s};\n", *sep ? "" : "0");
}

void matrix_print_tables(emitter *e, const ir_func *f, kernel_form form)
{
    print_table(e, f, form, false);
    print_table(e, f, form, true);
    sb_addc(e->out, '\n');
}

/* ---- columns of the JVP, of the second-order product ---- */

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
        if (!strcmp(c->f->sig[i].name, name) && is_column(&c->f->sig[i], c->form))
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
              !zero ? "" : array || x->p.structure ? " = {0}" : " = 0");
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
    return arena_printf(mem, "%s%s", array ? "" : "&", name);
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
        if (hess ? !p.hess : !sig_is_float(&p))
            continue;
        for (int k = 0; k < components(&p); k++) {
            const int row = hess ? first_column(f, c->form, i) + k : next++;
            sb_printf(c->e->out, "%s%s = %s;\n", indent, matrix_element(mem, &c->names, row, col),
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
        for (int k = 0; c->f->sig[i].hess && k < components(&c->f->sig[i]); k++)
            sb_printf(c->e->out, "        %s[%d] = %s;\n", c->names.grad, first_column(c->f, c->form, i) + k,
                      sig_component(c->e->mem, &c->f->sig[i], plane_of(true, false), ".", k));
    sb_add(c->e->out, "    }\n");
}

void matrix_print_columns(emitter *e, const ir_func *f, kernel_form form)
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
        if (is_column(&f->sig[i], form))
            print_leaf(&c, &f->sig[i], first_column(f, form, i), call);
    if (form == FORM_HESS)
        print_gradient(&c);
    sb_add(e->out, "}\n\n");
    sb_free(&declared);
    sb_free(&args);
    sb_free(&c.clear);
    vec_free(&c.items);
}
