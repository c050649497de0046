/* --casadi: entry points of CasADi's external functions beside export funcs, for casadi.external and the programs that
 * load its shared libraries.
 * Source of the interface: CasADi's guide, "Generating C-code" and "Calling external functions" (3.6 and later). */
#include "host/host_int.h"

#include <string.h>

/* A parameter or result as CasADi has it: a matrix, column by column; a struct is a vector of its components. */
typedef struct value {
    const ir_sigparam *leaf; /* the first of n */
    int n, size;
} value;

typedef VEC(value) values;

/* One entry point: m_f_casadi and so on. */
typedef enum entry { ENTRY_VALUE, ENTRY_JAC, ENTRY_ADJ, ENTRY_HESS } entry;

typedef struct casadi {
    emitter *e;
    const ir_func *f;
    values in, out;
    const char *arg, *res, *seed; /* parameters of an entry point, and a local */
} casadi;

static int components(const ir_sigparam *p)
{
    return p->rows * p->cols;
}

/* ---- inputs and outputs ---- */

static void collect(values *v, const ir_sigparam *list, int n)
{
    for (int i = 0; i < n; i++) {
        const ir_sigparam *p = &list[i];
        value *last = v->len ? &v->at[v->len - 1] : NULL;
        if (last && p->structure && last->leaf->structure && !strcmp(last->leaf->name, p->name)) {
            last->n++;
            last->size += components(p);
        } else
            vec_push(v, ((value){p, 1, components(p)}));
    }
}

/* Position of component k of leaf i, which `before` components of a struct precede. */
static int position(const value *v, int i, int before, int k)
{
    const ir_sigparam *p = &v->leaf[i];
    return v->n > 1 || p->structure ? before + k : k % p->cols * p->rows + k / p->cols;
}

static bool is_array(const ir_sigparam *p)
{
    return !p->structure && p->shape != IR_SHAPE_SCALAR;
}

static int rows(const value *v)
{
    return is_array(v->leaf) ? v->leaf->rows : v->size;
}

static int cols(const value *v)
{
    return is_array(v->leaf) ? v->leaf->cols : 1;
}

/* ---- which entry points ---- */

static bool lists_all(const ir_func *f, kernel_form form)
{
    for (int i = 0; i < f->nsig; i++)
        if (scalar_is_float(f->sig[i].elem) && matrix_column(f, form, i) < 0)
            return false;
    return true;
}

static bool has_matrix(const ir_func *f, kernel_form form)
{
    return matrix_is_wanted(f, form) && lists_all(f, form) && !export_workspace_of(f, form);
}

static bool has_entry(const ir_func *f, entry e)
{
    const bool jac = has_matrix(f, FORM_JAC);
    return e == ENTRY_VALUE || (jac && (e != ENTRY_HESS || has_matrix(f, FORM_HESS)));
}

static const char *entry_name(const casadi *c, entry e)
{
    static const char *const lead[] = {"", "jac_", "adj1_", "jac_adj1_"};
    return arena_printf(c->e->mem, "%s%s_%s_casadi", lead[e], c->e->m->name, c->f->name);
}

/* ---- sparsity ---- */

static void print_dense(const casadi *c, const value *v)
{
    sb_printf(c->e->out, "{%d, %d, 1}", rows(v), cols(v));
}

/* Of each component of a value, in CasADi's order: its row or column in a matrix of tkc; -1: an integer. */
static int *numbers_of(const casadi *c, const values *all, const value *v, kernel_form form, bool columns)
{
    int *at = ARENA_ARRAY(c->e->mem, int, v->size + 1), before = 0, row = 0;
    for (size_t i = 0; i < all->len && &all->at[i] < v; i++)
        for (int k = 0; k < all->at[i].n; k++)
            row += scalar_is_float(all->at[i].leaf[k].elem) ? components(&all->at[i].leaf[k]) : 0;
    for (int i = 0; i < v->n; i++) {
        const ir_sigparam *p = &v->leaf[i];
        const int first = columns                    ? matrix_column(c->f, form, (int)(p - c->f->sig))
                          : scalar_is_float(p->elem) ? row
                                                     : -1;
        for (int k = 0; k < components(p); k++)
            at[position(v, i, before, k)] = first < 0 ? -1 : first + k;
        before += components(p);
        row += scalar_is_float(p->elem) ? components(p) : 0;
    }
    return at;
}

/* A block of a derivative: of each component of an output by each of an input. */
typedef struct block {
    const int *row, *col; /* in the matrix of tkc */
    int nrows, ncols;
    kernel_form form; /* FORM_GRAD: all zero */
    bool transposed;  /* of `row` by `col` as in the matrix, but printed the other way round */
} block;

static bool is_in(const casadi *c, const block *b, int i, int j)
{
    if (b->form == FORM_GRAD)
        return false;
    const matrix_shape s = matrix_of(c->f, b->form);
    const int r = b->transposed ? b->col[j] : b->row[i], k = b->transposed ? b->row[i] : b->col[j];
    return r >= 0 && k >= 0 && matrix_has_either(&s, b->form, r, k);
}

static void print_block(const casadi *c, const block *b)
{
    strbuf *out = c->e->out, at = {0};
    int n = 0;
    sb_printf(out, "{%d, %d, 0", b->nrows, b->ncols);
    for (int j = 0; j < b->ncols; j++) {
        for (int i = 0; i < b->nrows; i++)
            if (is_in(c, b, i, j)) {
                sb_printf(&at, ", %d", i);
                n++;
            }
        sb_printf(out, ", %d", n);
    }
    sb_printf(out, "%s}", sb_str(&at));
    sb_free(&at);
}

static block block_of(const casadi *c, entry e, int output, int input)
{
    const int nin = (int)c->in.len, nout = (int)c->out.len;
    block b = {.form = FORM_GRAD};
    const value *o = e == ENTRY_JAC ? &c->out.at[output] : &c->in.at[output];
    const value *i = input < nin          ? &c->in.at[input]
                     : input < nin + nout ? &c->out.at[input - nin]
                                          : &c->out.at[input - nin - nout];
    b.nrows = o->size;
    b.ncols = i->size;
    if (e == ENTRY_JAC && input < nin) {
        b.form = FORM_JAC;
        b.row = numbers_of(c, &c->out, o, FORM_JAC, false);
        b.col = numbers_of(c, &c->in, i, FORM_JAC, true);
    } else if (e == ENTRY_HESS && input < nin) {
        b.form = FORM_HESS;
        b.row = numbers_of(c, &c->in, o, FORM_HESS, true);
        b.col = numbers_of(c, &c->in, i, FORM_HESS, true);
    } else if (e == ENTRY_HESS && input >= nin + nout) {
        b.form = FORM_JAC;
        b.transposed = true;
        b.row = numbers_of(c, &c->in, o, FORM_JAC, true);
        b.col = numbers_of(c, &c->out, i, FORM_JAC, false);
    }
    return b;
}

/* ---- what CasADi reads before it calls ---- */

static int count_in(const casadi *c, entry e)
{
    const int nin = (int)c->in.len, nout = (int)c->out.len;
    const int n[] = {nin, nin + nout, nin + 2 * nout, nin + 2 * nout + nin};
    return n[e];
}

static int count_out(const casadi *c, entry e)
{
    const int nin = (int)c->in.len, nout = (int)c->out.len;
    const int n[] = {nout, nout * nin, nin, nin * count_in(c, ENTRY_ADJ)};
    return n[e];
}

/* A value that no entry point reads. */
static void print_absent(const casadi *c, const value *v)
{
    sb_printf(c->e->out, "{%d, %d", rows(v), cols(v));
    for (int k = 0; k <= cols(v); k++)
        sb_add(c->e->out, ", 0");
    sb_addc(c->e->out, '}');
}

/* Inputs; outputs; seeds of the outputs; results of the adjoint. */
static void print_sparsity_in(const casadi *c, int i)
{
    const int nin = (int)c->in.len, nout = (int)c->out.len;
    if (i < nin)
        print_dense(c, &c->in.at[i]);
    else if (i < nin + nout)
        print_absent(c, &c->out.at[i - nin]);
    else if (i < nin + 2 * nout)
        print_dense(c, &c->out.at[i - nin - nout]);
    else
        print_absent(c, &c->in.at[i - nin - 2 * nout]);
}

static void print_sparsity_out(const casadi *c, entry e, int i)
{
    if (e == ENTRY_VALUE)
        print_dense(c, &c->out.at[i]);
    else if (e == ENTRY_ADJ)
        print_dense(c, &c->in.at[i]);
    else {
        const int n = e == ENTRY_JAC ? (int)c->in.len : count_in(c, ENTRY_ADJ);
        const block b = block_of(c, e, i / n, i % n);
        print_block(c, &b);
    }
}

static void print_sparsities(const casadi *c, entry e, bool out)
{
    strbuf *b = c->e->out;
    const int n = out ? count_out(c, e) : count_in(c, e);
    sb_printf(b, "const long long *%s_sparsity_%s(long long i)\n{\n", entry_name(c, e), out ? "out" : "in");
    for (int i = 0; i < n; i++) {
        sb_printf(b, "    static const long long at%d[] = ", i);
        if (out)
            print_sparsity_out(c, e, i);
        else
            print_sparsity_in(c, i);
        sb_add(b, ";\n");
    }
    sb_add(b, "    static const long long *const all[] = {");
    for (int i = 0; i < n; i++)
        sb_printf(b, "%s%sat%d", i ? "," : "", i % 16 == 0 && i ? "\n        " : i ? " " : "", i);
    sb_printf(b, "};\n    return i >= 0 && i < %d ? all[i] : NULL;\n}\n\n", n);
}

static void print_names(const casadi *c, bool out)
{
    const values *v = out ? &c->out : &c->in;
    sb_printf(c->e->out, "const char *%s_name_%s(long long i)\n{\n    static const char *const of[] = {",
              entry_name(c, ENTRY_VALUE), out ? "out" : "in");
    for (size_t i = 0; i < v->len; i++)
        sb_printf(c->e->out, "%s\"%s\"", i ? ", " : "", v->at[i].leaf->name);
    sb_printf(c->e->out, "};\n    return i >= 0 && i < %d ? of[i] : NULL;\n}\n\n", (int)v->len);
}

static void print_shape(const casadi *c, entry e)
{
    const char *name = entry_name(c, e);
    sb_printf(c->e->out,
              "long long %s_n_in(void)\n{\n    return %d;\n}\n\nlong long %s_n_out(void)\n{\n    return %d;\n}\n\n"
              "int %s_work(long long *narg, long long *nres, long long *niw, long long *nw)\n{\n"
              "    *narg = %d;\n    *nres = %d;\n    *niw = 0;\n    *nw = 0;\n    return 0;\n}\n\n",
              name, count_in(c, e), name, count_out(c, e), name, count_in(c, e), count_out(c, e));
    print_sparsities(c, e, false);
    print_sparsities(c, e, true);
    if (e != ENTRY_VALUE)
        return;
    print_names(c, false);
    print_names(c, true);
}

/* ---- the calls ---- */

/* Declares a variable and sets it by the argument `i` of the entry point. */
static void read_value(const casadi *c, const value *v, ir_sigparam named, int i)
{
    arena *mem = c->e->mem;
    strbuf *b = c->e->out;
    sb_printf(b, "    %s;\n", sig_decl(mem, &named, IR_DATA, SIG_MEMBER));
    for (int l = 0, before = 0; l < v->n; before += components(&v->leaf[l++])) {
        ir_sigparam p = v->leaf[l];
        p.name = named.name;
        for (int k = 0; k < components(&p); k++) {
            const char *from = arena_printf(mem, "%s[%d][%d]", c->arg, i, position(v, l, before, k));
            const char *to = sig_component(mem, &p, IR_DATA, ".", k);
            if (p.elem == SC_BOOL)
                sb_printf(b, "    %s = %s[%d] && %s != 0;\n", to, c->arg, i, from);
            else
                sb_printf(b, "    %s = %s[%d] ? %s%s : 0;\n", to, c->arg, i,
                          p.elem == SC_F64 ? "" : arena_printf(mem, "(%s)", scalar_c_type(p.elem)), from);
        }
    }
}

static void read_inputs(const casadi *c)
{
    for (size_t i = 0; i < c->in.len; i++)
        read_value(c, &c->in.at[i], *c->in.at[i].leaf, (int)i);
}

/* The call of the function or of its matrix: results are wanted of the function alone. */
static void print_call(const casadi *c, kernel_form form)
{
    arena *mem = c->e->mem;
    strbuf args = {0};
    sig_items items = {0};
    export_items(mem, &items, c->f, form);
    for (size_t i = 0; i < items.len; i++) {
        const sig_item *x = &items.at[i];
        const bool result = x->use == SIG_RESULT, rows = !result && x->p.shape == IR_SHAPE_MAT && !x->p.structure;
        const char *cast = rows ? arena_printf(mem, "(const %s(*)[%d])", scalar_c_type(x->p.elem), x->p.cols) : "";
        sb_printf(&args, "%s%s%s%s", i ? ", " : "", cast, result && form == FORM_RUN && !is_array(&x->p) ? "&" : "",
                  result && form != FORM_RUN ? "NULL" : name_member(mem, x->p.name));
    }
    if (form != FORM_RUN) {
        const matrix_names n = matrix_names_of(mem, c->f, form);
        sb_printf(&args, "%s%s%s, %d", args.len ? ", " : "", form == FORM_HESS ? "NULL, " : "", n.at,
                  matrix_of(c->f, form).ncols);
    }
    sb_printf(c->e->out, "    %s_%s%s(%s);\n", c->e->m->name, c->f->name, form_suffix(form), sb_str(&args));
    vec_free(&items);
    sb_free(&args);
}

static void declare_matrix(const casadi *c, kernel_form form)
{
    const matrix_shape s = matrix_of(c->f, form);
    const int n = s.nrows * s.ncols;
    sb_printf(c->e->out, "    %s %s[%d];\n", scalar_c_type(s.elem), matrix_names_of(c->e->mem, c->f, form).at,
              n ? n : 1);
}

static const char *entry_of(const casadi *c, const block *b, int i, int j)
{
    const int r = b->transposed ? b->col[j] : b->row[i], k = b->transposed ? b->row[i] : b->col[j];
    const bool scaled = b->form == FORM_HESS && !matrix_has_multipliers(c->f);
    return arena_printf(c->e->mem, "%s%s%s[%d]", scaled ? c->seed : "", scaled ? " * " : "",
                        matrix_names_of(c->e->mem, c->f, b->form).at, r * matrix_of(c->f, b->form).ncols + k);
}

static void write_blocks(const casadi *c, entry e)
{
    const int n = e == ENTRY_JAC ? (int)c->in.len : count_in(c, ENTRY_ADJ);
    for (int at = 0; at < count_out(c, e); at++) {
        const block b = block_of(c, e, at / n, at % n);
        int k = 0;
        for (int j = 0; j < b.ncols; j++)
            for (int i = 0; i < b.nrows; i++)
                if (is_in(c, &b, i, j)) {
                    if (k == 0)
                        sb_printf(c->e->out, "    if (%s[%d]) {\n", c->res, at);
                    sb_printf(c->e->out, "        %s[%d][%d] = %s;\n", c->res, at, k++, entry_of(c, &b, i, j));
                }
        if (k)
            sb_add(c->e->out, "    }\n");
    }
}

static void write_results(const casadi *c)
{
    for (size_t i = 0; i < c->out.len; i++) {
        const value *v = &c->out.at[i];
        sb_printf(c->e->out, "    if (%s[%zu]) {\n", c->res, i);
        for (int l = 0, before = 0; l < v->n; before += components(&v->leaf[l++]))
            for (int k = 0; k < components(&v->leaf[l]); k++)
                sb_printf(c->e->out, "        %s[%zu][%d] = (double)%s;\n", c->res, i, position(v, l, before, k),
                          sig_component(c->e->mem, &v->leaf[l], IR_DATA, ".", k));
        sb_add(c->e->out, "    }\n");
    }
}

/* Each gradient is the seeds times the Jacobian. */
static void write_gradients(const casadi *c)
{
    const int nin = (int)c->in.len, nout = (int)c->out.len;
    for (int i = 0; i < nin; i++) {
        sb_printf(c->e->out, "    if (%s[%d]) {\n", c->res, i);
        for (int k = 0; k < c->in.at[i].size; k++)
            sb_printf(c->e->out, "        %s[%d][%d] = 0;\n", c->res, i, k);
        for (int o = 0; o < nout; o++) {
            const block b = block_of(c, ENTRY_JAC, o, i);
            bool any = false;
            for (int j = 0; j < b.ncols; j++)
                for (int r = 0; r < b.nrows; r++)
                    if (is_in(c, &b, r, j)) {
                        if (!any)
                            sb_printf(c->e->out, "        if (%s[%d]) {\n", c->arg, nin + nout + o);
                        any = true;
                        sb_printf(c->e->out, "            %s[%d][%d] += %s[%d][%d] * %s;\n", c->res, i, j, c->arg,
                                  nin + nout + o, r, entry_of(c, &b, r, j));
                    }
            if (any)
                sb_add(c->e->out, "        }\n");
        }
        sb_add(c->e->out, "    }\n");
    }
}

static void read_multipliers(const casadi *c)
{
    const int first = (int)(c->in.len + c->out.len);
    if (!matrix_has_multipliers(c->f)) {
        sb_printf(c->e->out, "    const double %s = %s[%d] ? %s[%d][0] : 0;\n", c->seed, c->arg, first, c->arg, first);
        return;
    }
    for (size_t o = 0; o < c->out.len; o++) {
        const value *v = &c->out.at[o];
        int l = 0;
        while (l < v->n && !scalar_is_float(v->leaf[l].elem))
            l++;
        if (l < v->n)
            read_value(c, v, matrix_multiplier(c->e->mem, c->f, (int)(&v->leaf[l] - c->out.at[0].leaf)),
                       first + (int)o);
    }
}

static void print_entry(const casadi *c, entry e)
{
    strbuf *b = c->e->out;
    sb_printf(b, "int %s(const double **%s, double **%s, long long *iw, double *w, int mem)\n{\n", entry_name(c, e),
              c->arg, c->res);
    read_inputs(c);
    if (e == ENTRY_VALUE) {
        for (size_t i = 0; i < c->out.len; i++)
            sb_printf(b, "    %s;\n", sig_decl(c->e->mem, c->out.at[i].leaf, IR_DATA, SIG_MEMBER));
        print_call(c, FORM_RUN);
        write_results(c);
    } else {
        declare_matrix(c, FORM_JAC);
        print_call(c, FORM_JAC);
    }
    if (e == ENTRY_HESS) {
        read_multipliers(c);
        declare_matrix(c, FORM_HESS);
        print_call(c, FORM_HESS);
    }
    if (e == ENTRY_ADJ)
        write_gradients(c);
    else if (e != ENTRY_VALUE)
        write_blocks(c, e);
    sb_add(b, "    (void)iw, (void)w, (void)mem;\n    return 0;\n}\n\n");
}

static void print_prototypes(const casadi *c, entry e)
{
    const char *name = entry_name(c, e);
    sb_printf(
        c->e->out,
        "int %s(const double **%s, double **%s, long long *iw, double *w, int mem);\nlong long %s_n_in(void);\n"
        "long long %s_n_out(void);\nint %s_work(long long *narg, long long *nres, long long *niw, long long *nw);\n"
        "const long long *%s_sparsity_in(long long i);\nconst long long *%s_sparsity_out(long long i);\n",
        name, c->arg, c->res, name, name, name, name, name);
    if (e == ENTRY_VALUE)
        sb_printf(c->e->out, "const char *%s_name_in(long long i);\nconst char *%s_name_out(long long i);\n", name,
                  name);
}

static bool is_offered(const ir_func *f)
{
    bool ok = ir_is_export(f) && f->nouts > 0 && f->nsig > 0 && !export_workspace_of(f, FORM_RUN);
    for (int i = 0; i < f->nsig; i++)
        ok = ok && !f->sig[i].array;
    return ok;
}

static void emit_entries_of(emitter *e, const ir_func *f)
{
    casadi c = {.e = e, .f = f};
    ir_sigparam *outs = ARENA_ARRAY(e->mem, ir_sigparam, f->nouts);
    for (int i = 0; i < f->nouts; i++)
        outs[i] = sig_result(e->mem, f, i);
    collect(&c.in, f->sig, f->nsig);
    collect(&c.out, outs, f->nouts);
    c.arg = free_name(e->mem, f, "arg");
    c.res = free_name(e->mem, f, "res");
    c.seed = free_name(e->mem, f, "seed");
    sb_printf(e->out, "/* ---- CasADi's entry points of %s ---- */\n\n", f->name);
    for (int i = ENTRY_VALUE; i <= ENTRY_HESS; i++)
        if (has_entry(f, (entry)i))
            print_prototypes(&c, (entry)i);
    sb_addc(e->out, '\n');
    for (int i = ENTRY_VALUE; i <= ENTRY_HESS; i++)
        if (has_entry(f, (entry)i)) {
            print_shape(&c, (entry)i);
            print_entry(&c, (entry)i);
        }
    vec_free(&c.in);
    vec_free(&c.out);
}

void emit_casadi(emitter *e)
{
    sb_add(e->out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (size_t i = 0; i < e->m->funcs.len; i++)
        if (is_offered(e->m->funcs.at[i]))
            emit_entries_of(e, e->m->funcs.at[i]);
    sb_add(e->out, "#ifdef __cplusplus\n}\n#endif\n");
}
