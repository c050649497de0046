/* Jacobians and Hessians of export funcs in C: their shape, their pattern, their declarations. */
#include "host/host_int.h"

#include <string.h>

/* ---- shapes ---- */

static int components(const ir_sigparam *p)
{
    return p->rows * p->cols;
}

static const ir_request *request_of(const ir_func *f, kernel_form form)
{
    return ir_request_of(f, form == FORM_HESS ? IR_DERIVE_HESS : IR_DERIVE_JAC);
}

int matrix_column(const ir_func *f, kernel_form form, int i)
{
    const ir_request *by = request_of(f, form);
    int n = 0;
    for (int k = 0; k < by->ninputs; k++) {
        const ir_sigparam *p = &f->sig[by->inputs[k]];
        if (by->inputs[k] == i)
            return scalar_is_float(p->elem) ? n : -1;
        n += scalar_is_float(p->elem) ? components(p) : 0;
    }
    return -1;
}

bool matrix_is_wanted(const ir_func *f, kernel_form form)
{
    return (form == FORM_JAC && (f->ad.jac || (request_of(f, form) && f->ad.jvp))) ||
           (form == FORM_HESS && (f->ad.hess || (request_of(f, form) && f->ad.hvp)));
}

matrix_shape matrix_of(const ir_func *f, kernel_form form)
{
    matrix_shape s = {.elem = SC_F32};
    const ir_func *made = kernel_form_of(f, form);
    for (int i = 0; i < f->nsig; i++)
        if (matrix_column(f, form, i) >= 0) {
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

bool matrix_has_either(const matrix_shape *s, kernel_form form, int i, int j)
{
    return form == FORM_HESS && j > i ? matrix_has(s, j, i) : matrix_has(s, i, j);
}

int matrix_count(const ir_func *f, kernel_form form)
{
    const matrix_shape s = matrix_of(f, form);
    int n = 0;
    for (int i = 0; i < s.nrows; i++)
        for (int j = 0; j < s.ncols; j++)
            n += matrix_has_either(&s, form, i, j);
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
    const ir_request *by = request_of(f, form);
    const char *list = "";
    for (int k = 0; k < by->ninputs; k++)
        if (k == 0 || strcmp(f->sig[by->inputs[k]].name, f->sig[by->inputs[k - 1]].name) != 0)
            list = arena_printf(mem, "%s%s%s", list, *list ? ", " : "", f->sig[by->inputs[k]].name);
    return list;
}

void matrix_print_header(emitter *e, const ir_func *f, kernel_form form)
{
    const matrix_shape s = matrix_of(f, form);
    const char *name = arena_printf(e->mem, "%s_%s%s", e->m->name, f->name, form_suffix(form));
    const int n = matrix_count(f, form);
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
    const int n = matrix_count(f, form);
    const char *sep = "";
    size_t begin = e->out->len;
    sb_printf(e->out, "const int %s_%s%s_%s[%d] = {", e->m->name, f->name, form_suffix(form), columns ? "col" : "row",
              n ? n : 1);
    for (int i = 0; i < s.nrows; i++)
        for (int j = 0; j < s.ncols; j++) {
            if (!matrix_has_either(&s, form, i, j))
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
