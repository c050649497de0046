/* Sparse matrices of kernels: methods hess and jac, which give those of SciPy. */
#include "python/python_int.h"

#include <string.h>

static const ir_request *request_of(const ir_func *k)
{
    const ir_request *r = ir_request_of(k, IR_DERIVE_BLOCKS);
    return r ? r : ir_request_of(k, IR_DERIVE_ROWS);
}

static bool is_hessian(const ir_func *k)
{
    return request_of(k)->kind == IR_DERIVE_BLOCKS;
}

static const char *word_of(const ir_func *k)
{
    return is_hessian(k) ? "hess" : "jac";
}

static void print_binding(python *p, const call *c, const char *suffix, const char *rest)
{
    strbuf b = {0};
    for (int i = 0; i < c->n; i++)
        sb_printf(&b, ", %s", c->at[i].whole ? c->at[i].type : "_P");
    sb_printf(p->out, "_c_%s_%s%s = _bind(\"%s_%s_%s%s\", _ct.c_int, _P%s, %s)\n", c->f->name, word_of(c->f), suffix,
              p->e.m->name, c->f->name, word_of(c->f), suffix, sb_str(&b), rest);
    sb_free(&b);
}

void python_sparse_bindings(python *p, const ir_func *k)
{
    if (!k->ad.elements.sweep)
        return;
    call c = python_call_new(p, k, FORM_RUN);
    print_binding(p, &c, "_pattern", "_P, _P");
    print_binding(p, &c, "", "_P, _P, _ct.c_size_t");
    vec_free(&c.sigs);
}

/* The arguments behind the kernel's own; type: the string of the .pyi. */
typedef struct option {
    const char *name, *value, *type;
    enum { OF_ALL, OF_HESSIANS, OF_COMPUTED } of;
    bool flag; /* a truth value */
} option;
enum { LAYOUT, FULL, PROJECT, FIXED, COLOURING, NOPTIONS };
static const option options[NOPTIONS] = {
    [LAYOUT] = {"layout", "\"csr\"", "_t.Literal[\"csr\", \"csc\", \"bsr\"]", OF_ALL, false},
    [FULL] = {"full", "True", "_Bool", OF_HESSIANS, true},
    [PROJECT] = {"project", "False", "_Bool", OF_HESSIANS, true},
    [FIXED] = {"fixed", "None", "_t.Any", OF_HESSIANS, false},
    [COLOURING] = {"colouring", "None", "_t.Optional[_t.Callable[[bool, int, int, _t.Any, _t.Any], _Values]]",
                   OF_COMPUTED, false}};

static bool is_computed(const ir_func *k)
{
    return !k->ad.elements.arity;
}

static bool has_option(const ir_func *k, int i)
{
    return options[i].of == OF_ALL || (options[i].of == OF_HESSIANS ? is_hessian(k) : is_computed(k));
}

static void print_doc(python *p, const ir_func *k, const char *const *given)
{
    const char *matrix = is_hessian(k) ? "Hessian" : "Jacobian";
    const ir_columns *by = &request_of(k)->by;
    sb_printf(p->out,
              "        \"\"\"The sparse %s by %s. Runs the kernel%s.\n\n"
              "        %s: \"csr\", \"csc\", or \"bsr\" with a block for each pair of elements of fields\n",
              matrix, ir_columns_names(p->e.mem, by, ", "),
              !is_hessian(k) || !ir_columns_have_grad(by) ? ""
              : by->n == 1                                ? ", and adds its gradient to that of the field"
                                                          : ", and adds its gradients to those of the fields",
              given[LAYOUT]);
    if (is_hessian(k))
        sb_printf(p->out,
                  "        %s: both triangles; False: the lower one\n"
                  "        %s: blocks of elements are projected onto positive semidefinite matrices\n"
                  "        %s: bools, one for each %s: such rows and columns become those of the unit matrix\n",
                  given[FULL], given[PROJECT], given[FIXED],
                  by->n > 1 ? "component of the fields" : "element of the field or each component");
    if (is_computed(k))
        sb_printf(
            p->out,
            "        %s: a function of (symmetric, rows, cols, starts, of), which gives the colour of each column; "
            "None: libtkc's own\n",
            given[COLOURING]);
    sb_add(p->out,
           "        A matrix of scipy.sparse; without SciPy, an object with data, indices, indptr and shape.\"\"\"\n");
}

static const char *name_of_dtype(const call *c)
{
    return py_dtype(c->p->e.mem, ir_matrix_type(c->f, request_of(c->f)));
}

void python_sparse_method(python *p, const ir_func *k)
{
    if (!k->ad.elements.sweep)
        return;
    arena *mem = p->e.mem;
    call c = python_call_new(p, k, FORM_RUN);
    const char *keys[NOPTIONS] = {NULL}, *word = word_of(k);
    strbuf head = {0}, types = {0}, args = {0};
    py_names taken = {0};
    for (int i = 0; i < c.n; i++) {
        const char *name = py_name(mem, &taken, PY_ARGUMENT, c.at[i].name);
        sb_printf(&head, ", %s", name);
        sb_printf(&types, ", %s: %s", name, types_argument(&c, &c.at[i]));
        sb_printf(&args, "%s, ", python_argument(&c, &c.at[i]));
    }
    for (int i = 0; i < NOPTIONS; i++)
        if (has_option(k, i)) {
            keys[i] = py_name(mem, &taken, PY_ARGUMENT, options[i].name);
            sb_printf(&head, "%s, %s=%s", i ? "" : ", *", keys[i], options[i].value);
            sb_printf(&types, "%s, %s: %s = ...", i ? "" : ", *", keys[i], options[i].type);
        }
    sb_printf(p->out, "\n    def %s(self%s):\n", word, sb_str(&head));
    print_doc(p, k, keys);
    python_values(&c, "        ");
    const int block = ir_columns_block(&request_of(k)->by),
              rows = is_hessian(k) ? block : ir_field_ncomp(k->ad.elements.to);
    sb_printf(p->out, "        return _sparse(self, _c_%s_%s_pattern, _c_%s_%s, (%s), %s, (%d, %d), %s", k->name, word,
              k->name, word, sb_str(&args), name_of_dtype(&c), rows, block, keys[LAYOUT]);
    for (int i = LAYOUT + 1; i < NOPTIONS; i++)
        if (keys[i])
            sb_printf(p->out, options[i].flag ? ", %s=_as_bool(%s, \"%s\")" : ", %s=%s", options[i].name, keys[i],
                      keys[i]);
    sb_add(p->out, is_hessian(k) && request_of(k)->by.n > 1 ? ", several=True)\n" : ")\n");
    sb_printf(&p->types, "    def %s(self%s) -> _t.Any: ...\n", word, sb_str(&types));
    if (is_computed(k)) {
        sb_add(p->out, "\n    @property\n    def colours(self):\n        \"\"\"Colours of the last matrix.\"\"\"\n"
                       "        return _colours(self)\n");
        sb_add(&p->types, "    @property\n    def colours(self) -> int: ...\n");
    }
    sb_free(&head);
    sb_free(&types);
    sb_free(&args);
    vec_free(&taken);
    vec_free(&c.sigs);
}
