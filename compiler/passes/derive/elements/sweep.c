/* The kernel that evaluates elements: the value of each, its gradient and its block, or the rows of its Jacobian. It
 * stores them into arrays of the caller's, the stage, and libtkc adds them to the matrix: where they belong follows
 * from the pattern alone. A launch runs the elements from `from` on, as many as there is room for.
 *
 * Number k of an element stands at [k, element - from], in rows of `room` numbers. The numbers of a Hessian are the
 * lower triangle of the element's dense block, row by row, with the components of each vertex as rows and columns; then
 * the gradient. The numbers of a Jacobian are dense rows, with the components of each vertex as columns. A number that
 * no element has stays as the caller left it, zero. */
#include "ir/ops.h"
#include "passes/derive/elements/elements_int.h"
#include "passes/simplify/simplify.h"

typedef struct sweep {
    const elements *e;
    int ncols, nblock, count; /* columns of a block, its numbers, and all numbers of an element */
    bool *used;
    ir_field *stage, *energies;
} sweep;

static int64_t triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

int elements_numbers(const elements *e, int arity)
{
    const int64_t ncols = (int64_t)arity * e->block;
    if (ncols > 1000)
        return INT32_MAX;
    return (int)(e->kind == IR_DERIVE_ROWS ? ncols * ir_field_ncomp(e->to)
                                           : triangle(ncols) + (ir_columns_have_grad(e->by) ? ncols : 0));
}

/* ---- the number of an entry ---- */

static int column(const sweep *s, const element_read *r)
{
    return r->vertex * s->e->block + r->comp;
}

static int entry(const sweep *s, const element_loop *l, const element_matrix *x, int i, int j)
{
    const int col = column(s, &l->reads.at[x->cols[j]]);
    if (s->e->kind == IR_DERIVE_ROWS) {
        const ir_op *store = l->writes.at[x->rows[i]];
        return (int)ir_int(store->args[ir_field_of(store)->ndim]) * s->ncols + col;
    }
    const int row = column(s, &l->reads.at[x->rows[i]]);
    return row > col ? (int)triangle(row) + col : (int)triangle(col) + row;
}

/* Yields of the matrix's function by number; NULL: none. fn: called for each. */
static void each_number(const sweep *s, const element_loop *l, const element_matrix *x,
                        void (*fn)(void *ctx, int number, int result), void *ctx)
{
    int result = 0;
    for (int i = 0; i < x->nrows && s->e->kind == IR_DERIVE_BLOCKS; i++, result++)
        if (ir_field_of(l->reads.at[x->rows[i]].load)->grad)
            fn(ctx, s->nblock + column(s, &l->reads.at[x->rows[i]]), result);
    for (int i = 0; i < x->nrows; i++)
        for (int j = 0; j < x->ncols; j++)
            if (x->pattern[i * x->ncols + j])
                fn(ctx, entry(s, l, x, i, j), result++);
}

static void mark(void *ctx, int number, int result)
{
    (void)result;
    ((bool *)ctx)[number] = true;
}

/* ---- the body of a loop ---- */

typedef struct given {
    ir_value *const *all;
    ir_value **of; /* number -> its value */
} given;

static void take(void *ctx, int number, int result)
{
    const given *g = ctx;
    g->of[number] = g->all[result];
}

static void store_number(const sweep *s, ir_builder *b, ir_value *slot, int number, ir_value *v)
{
    ir_value *const at[] = {ir_const_i(b, SC_I64, number), slot};
    ir_value *component = ir_const_i(b, SC_I64, 0);
    ir_store(b, s->stage, IR_DATA, at, component, ir_cast(b, s->stage->elem, v));
}

/* The operations of the matrix's function, in the body; its results. */
static ir_value **expand(ir_builder *b, const element_loop *l, const element_matrix *x)
{
    ir_map map = ir_map_create(x->func);
    ir_value *const *params = x->func->body->params;
    const size_t nreads = l->reads.len;
    for (size_t i = 0; i < nreads; i++)
        ir_map_set(&map, params[i], l->reads.at[i].load->res[0]);
    for (size_t i = 0; i < x->outer.len; i++)
        ir_map_set(&map, params[nreads + i], x->outer.at[i]);
    ir_clone_region_ops(b, x->func->body, &map);
    const ir_op *y = ir_yield_of(x->func->body);
    ir_value **all = ARENA_ARRAY(x->func->module->mem, ir_value *, y->nargs + 1);
    for (int i = 0; i < y->nargs; i++)
        all[i] = ir_map_get(&map, y->args[i]);
    ir_map_free(&map);
    return all;
}

/* The energy of an element instead of its additions to the field. */
static void store_energy(const sweep *s, ir_builder *b, const element_loop *l, ir_value *slot)
{
    ir_value *sum = ir_stored_value(l->writes.at[0]), *zero = ir_const_i(b, SC_I64, 0);
    for (size_t i = 1; i < l->writes.len; i++)
        sum = ir_op2(b, OP_ADD, sum, ir_stored_value(l->writes.at[i]));
    ir_store(b, s->energies, IR_DATA, &slot, zero, sum);
    for (size_t i = 0; i < l->writes.len; i++)
        ir_remove(l->writes.at[i]);
}

static void store_element(const sweep *s, ir_builder *b, const element_loop *l, const element_matrix *x, ir_value *slot)
{
    const given g = {expand(b, l, x), ARENA_ARRAY(s->e->kernel->module->mem, ir_value *, s->count + 1)};
    each_number(s, l, x, take, (void *)&g);
    for (int k = 0; k < s->count; k++)
        if (s->used[k])
            store_number(s, b, slot, k, g.of[k] ? g.of[k] : ir_const_f(b, s->stage->elem, 0.0));
    if (s->energies)
        store_energy(s, b, l, slot);
}

/* ---- the kernel ---- */

/* Room for numbers of elements, and stores. */
enum { MAX_NUMBERS = 10000 };
/* Elements of a launch: so few that sums of their numbers do not wrap. */
#define MAX_ROOM (INT64_C(1) << 40)

static element_matrix *matrices_of(elements *e, int arity)
{
    e->at = e->loops.at[0].task->loc;
    if (elements_numbers(e, arity) > MAX_NUMBERS)
        e->why = "the matrix of an iteration has more than 10000 entries";
    element_matrix *x = ARENA_ARRAY(e->kernel->module->mem, element_matrix, e->loops.len + 1);
    for (size_t i = 0; i < e->loops.len && !e->why; i++)
        x[i] = element_matrix_of(e, &e->loops.at[i]);
    return x;
}

static sweep sweep_of(const elements *e, const element_matrix *x, int arity)
{
    sweep s = {.e = e, .ncols = arity * e->block, .count = elements_numbers(e, arity)};
    s.nblock = e->kind == IR_DERIVE_BLOCKS ? (int)triangle(s.ncols) : s.count;
    s.used = ARENA_ARRAY(e->kernel->module->mem, bool, s.count + 1);
    for (size_t i = 0; i < e->loops.len; i++)
        each_number(&s, &e->loops.at[i], &x[i], mark, s.used);
    return s;
}

void make_sweep(elements *e, ir_func *of, int arity)
{
    ir_func *f = e->kernel;
    element_matrix *x = matrices_of(e, arity);
    if (e->why) {
        for (size_t i = 0; i < e->loops.len; i++)
            element_matrix_free(&x[i]);
        return;
    }
    sweep s = sweep_of(e, x, arity);
    hidden_begin(f, of, 5 + (e->kind == IR_DERIVE_BLOCKS));
    ir_value *from = hidden_count(f, "from");
    (void)hidden_count(f, "numbers");
    ir_value *room = hidden_count(f, "room");
    if (e->kind == IR_DERIVE_BLOCKS)
        s.energies = hidden_array(f, "energies", e->to->elem, 1, true);
    s.stage = hidden_array(f, "stage", e->kind == IR_DERIVE_BLOCKS ? ir_columns_type(e->by) : e->to->elem, 2, true);
    ir_builder b = {.func = f, .region = f->body, .before = f->body->first, .loc = f->loc};
    ir_value *total = ir_const_i(&b, SC_I64, 0), *ran = total, *most = ir_const_i(&b, SC_I64, MAX_ROOM);
    room = ir_op2(&b, OP_MIN, ir_op2(&b, OP_MAX, room, total), most);
    for (size_t i = 0; i < e->loops.len; i++) {
        const element_loop *l = &e->loops.at[i];
        numbering n = number_elements(f, l->task, total);
        ir_value *more = run_rows(&n, l->task, total, from, &room);
        store_element(&s, &n.body, l, &x[i], number_of_element(&n, l->task, ran));
        ran = ir_op2(&n.front, OP_ADD, ran, more);
        element_matrix_free(&x[i]);
        total = n.next;
    }
    b.before = ir_yield_of(f->body);
    hidden_end(f, (ir_value *const[]){total, ir_op2(&b, OP_ADD, from, ran)}, (const char *const[]){"elements", "to"},
               2);
    pass_simplify(f);
}
