/* The kernel that evaluates the elements: their values as the program has them, their gradients, and their blocks,
 * which it adds to an array. Where an entry belongs follows from two numbers for each pair of vertices (of a Jacobian:
 * for each vertex), which libtkc computes from the places; no subscript of today is used.
 *
 * A Hessian has its lower triangle. `at` is the position of the first entry of a block in its first row, and |step| the
 * entries of that row in front of the block row's diagonal block; row r has r + 1 entries more. With step > 0 the rows
 * are those of the pair's first vertex, with step < 0 those of the second. at < 0: both are one vertex, and the block
 * begins at -1 - at; what is right of the diagonal is added to its mirror image, and the diagonal twice.
 * A Jacobian has rows of `step` entries each. */
#include "ir/ops.h"
#include "passes/derive/elements/elements_int.h"
#include "passes/simplify/simplify.h"

typedef struct sweep {
    const elements *e;
    const element_loop *l;
    ir_builder *b;
    ir_field *values, *at, *step;
    ir_value *first; /* of the element's entries of the map */
} sweep;

static ir_value *int_of(const sweep *s, int64_t x)
{
    return ir_const_i(s->b, SC_I64, x);
}

static ir_value *op2(const sweep *s, ir_opcode code, ir_value *x, ir_value *y)
{
    return ir_op2(s->b, code, x, y);
}

static ir_value *map_entry(const sweep *s, ir_field *map, int pair)
{
    ir_value *at = op2(s, OP_ADD, s->first, int_of(s, pair)), *zero = int_of(s, 0);
    return ir_load(s->b, map, IR_DATA, &at, zero);
}

static void add_value(const sweep *s, ir_value *at, ir_value *v)
{
    ir_value *zero = int_of(s, 0);
    ir_accum(s->b, s->values, IR_DATA, &at, zero, ir_cast(s->b, s->values->elem, v));
}

/* ---- positions ---- */

static int64_t triangle(int n)
{
    return (int64_t)n * (n + 1) / 2;
}

/* at + row * length + (row * (row + 1) / 2 + col) */
static ir_value *position(const sweep *s, ir_value *at, ir_value *length, int row, int col)
{
    ir_value *skip = op2(s, OP_MUL, length, int_of(s, row));
    ir_value *p = op2(s, OP_ADD, at, skip);
    return op2(s, OP_ADD, p, int_of(s, triangle(row) + col));
}

/* ---- a Hessian ---- */

/* The pair of an entry: the lower vertex of the element stands first. */
static int pair_of(int a, int b)
{
    return b * (b + 1) / 2 + a;
}

/* r, c: component of the first, of the second vertex of the pair. */
static void add_between(const sweep *s, int pair, int r, int c, ir_value *v)
{
    ir_builder *b = s->b;
    ir_value *zero = int_of(s, 0), *at = map_entry(s, s->at, pair), *step = map_entry(s, s->step, pair);
    ir_value *one = ir_op2(b, OP_LT, at, zero), *second = ir_op2(b, OP_LT, step, zero);
    ir_value *mirrored = op2(s, OP_SUB, int_of(s, -1), at);
    at = ir_op3(b, OP_SELECT, one, mirrored, at);
    ir_value *opposite = op2(s, OP_SUB, zero, step), *length = ir_op3(b, OP_SELECT, second, opposite, step);
    ir_value *by_first = position(s, at, length, r, c), *by_second = position(s, at, length, c, r);
    if (r < c) { /* of one vertex: its mirror image */
        ir_value *either = ir_op2(b, OP_OR, one, second);
        add_value(s, ir_op3(b, OP_SELECT, either, by_second, by_first), v);
    } else if (r > c) {
        add_value(s, ir_op3(b, OP_SELECT, second, by_second, by_first), v);
    } else {
        ir_value *twice = ir_op2(b, OP_ADD, v, v);
        add_value(s, by_first, ir_op3(b, OP_SELECT, one, twice, v));
    }
}

static void add_entry(const sweep *s, const element_read *x, const element_read *y, ir_value *v)
{
    if (x->vertex == y->vertex) {
        const int pair = pair_of(x->vertex, x->vertex), most = x->comp > y->comp ? x->comp : y->comp;
        ir_value *at = map_entry(s, s->at, pair), *step = map_entry(s, s->step, pair);
        add_value(s, position(s, at, step, most, x->comp + y->comp - most), v);
    } else if (x->vertex < y->vertex) {
        add_between(s, pair_of(x->vertex, y->vertex), x->comp, y->comp, v);
    } else {
        add_between(s, pair_of(y->vertex, x->vertex), y->comp, x->comp, v);
    }
}

static void add_gradient(const sweep *s, const element_read *r, ir_value *v)
{
    ir_field *f = s->e->by;
    if (f->grad)
        ir_accum(s->b, f, ir_adjoint_of(IR_DATA), r->load->args, r->load->args[f->ndim], v);
}

static void add_hessian(const sweep *s, const element_matrix *x, ir_value *const *given)
{
    const element_read *reads = s->l->reads.at;
    for (int i = 0; i < x->nrows; i++)
        add_gradient(s, &reads[x->rows[i]], *given++);
    for (int i = 0; i < x->nrows; i++)
        for (int j = 0; j < x->ncols; j++)
            if (x->pattern[i * x->ncols + j])
                add_entry(s, &reads[x->rows[i]], &reads[x->cols[j]], *given++);
}

/* ---- a Jacobian ---- */

static void add_jacobian(const sweep *s, const element_matrix *x, ir_value *const *given)
{
    for (int i = 0; i < x->nrows; i++)
        for (int j = 0; j < x->ncols; j++) {
            if (!x->pattern[i * x->ncols + j])
                continue;
            const element_read *r = &s->l->reads.at[x->cols[j]];
            const ir_op *store = s->l->writes.at[x->rows[i]];
            const int row = (int)ir_int(store->args[ir_field_of(store)->ndim]);
            ir_value *at = map_entry(s, s->at, r->vertex), *step = map_entry(s, s->step, r->vertex);
            ir_value *skip = op2(s, OP_MUL, step, int_of(s, row));
            at = op2(s, OP_ADD, at, skip);
            add_value(s, op2(s, OP_ADD, at, int_of(s, r->comp)), *given++);
        }
}

/* ---- the kernel ---- */

static void add_matrix(const sweep *s, const element_matrix *x)
{
    ir_map map = ir_map_create(x->func);
    ir_value *const *params = x->func->body->params;
    const size_t nreads = s->l->reads.len;
    for (size_t i = 0; i < nreads; i++)
        ir_map_set(&map, params[i], s->l->reads.at[i].load->res[0]);
    for (size_t i = 0; i < x->outer.len; i++)
        ir_map_set(&map, params[nreads + i], x->outer.at[i]);
    ir_clone_region_ops(s->b, x->func->body, &map);
    const ir_op *y = ir_yield_of(x->func->body);
    ir_value **given = ARENA_ARRAY(x->func->module->mem, ir_value *, y->nargs + 1);
    for (int i = 0; i < y->nargs; i++)
        given[i] = ir_map_get(&map, y->args[i]);
    ir_map_free(&map);
    if (s->e->kind == IR_DERIVE_BLOCKS)
        add_hessian(s, x, given);
    else
        add_jacobian(s, x, given);
}

void make_sweep(elements *e, ir_func *of, int arity)
{
    ir_func *f = e->kernel;
    const int pairs = e->kind == IR_DERIVE_BLOCKS ? arity * (arity + 1) / 2 : arity;
    element_matrix *x = ARENA_ARRAY(f->module->mem, element_matrix, e->loops.len + 1);
    for (size_t i = 0; i < e->loops.len; i++) {
        x[i] = element_matrix_of(e, &e->loops.at[i]);
        if (e->why)
            return;
    }
    hidden_begin(f, of, 5);
    (void)hidden_count(f, "nvalues");
    ir_field *values = hidden_array(f, "values", e->kind == IR_DERIVE_BLOCKS ? e->by->elem : e->to->elem, true);
    ir_value *room = hidden_count(f, "npairs");
    ir_field *at = hidden_array(f, "at", SC_I64, false), *step = hidden_array(f, "step", SC_I64, false);
    ir_builder b = {.func = f, .region = f->body, .before = f->body->first, .loc = f->loc};
    ir_value *total = ir_const_i(&b, SC_I64, 0), *most = ir_op2(&b, OP_DIV, room, ir_const_i(&b, SC_I64, pairs));
    for (size_t i = 0; i < e->loops.len; i++) {
        const element_loop *l = &e->loops.at[i];
        numbering n = number_elements(f, l->task, total, most);
        sweep s = {e, l, &n.body, values, at, step, NULL};
        s.first = op2(&s, OP_MUL, n.element, int_of(&s, pairs));
        add_matrix(&s, &x[i]);
        element_matrix_free(&x[i]);
        total = n.next;
    }
    hidden_end(f, total);
    pass_simplify(f);
}
