/* The kernel that carries sets of columns: what an operation gives follows from all that its operands follow from,
 * unless its derivative is zero by table. Values are computed only where they steer. Loops run one after the other. */
#include "ir/ops.h"
#include "passes/derive/computed/computed_int.h"
#include "passes/derive/elements/elements_int.h"
#include "passes/simplify/simplify.h"

/* ---- memory ---- */

/* 0 <= x < n. */
static ir_value *is_inside(ir_builder *b, ir_value *x, ir_value *n)
{
    ir_value *from = ir_op2(b, OP_GE, x, ir_const_i(b, SC_I64, 0));
    return ir_op2(b, OP_AND, from, ir_op2(b, OP_LT, x, n));
}

/* The subscripts and the component; *exists: whether there is the element. A pattern is made without it otherwise. */
static ir_value **subscripts(const sets *s, ir_builder *b, const ir_op *op, ir_value **exists)
{
    ir_field *f = ir_field_of(op);
    ir_value **at = ARENA_ARRAY(s->out->module->mem, ir_value *, f->ndim + 1);
    *exists = NULL;
    for (int d = 0; d <= f->ndim; d++) {
        at[d] = sets_value(s, op->args[d]);
        if (d == f->ndim && ir_component_known(op))
            continue;
        ir_value *n = d < f->ndim ? ir_shape(b, f, d) : ir_const_i(b, SC_I64, ir_field_ncomp(f)),
                 *inside = is_inside(b, at[d], n);
        *exists = *exists ? ir_op2(b, OP_AND, *exists, inside) : inside;
    }
    return at;
}

/* The number of the element's set. */
static ir_value *place_of(const sets *s, ir_builder *b, const ir_op *op, ir_value **exists)
{
    ir_value **at = subscripts(s, b, op, exists), *number = ir_component_number(b, ir_field_of(op), at);
    return *exists ? ir_op3(b, OP_SELECT, *exists, number, ir_const_i(b, SC_I64, 0)) : number;
}

static ir_value *load_set(ir_builder *b, ir_field *memory, ir_value *place, ir_value *exists)
{
    ir_value *zero = ir_const_i(b, SC_I64, 0), *v = ir_load(b, memory, IR_DATA, &place, zero);
    return exists ? ir_op3(b, OP_SELECT, exists, v, zero) : v;
}

/* A value that steers, which must not be read where there is none. */
static void load_value(sets *s, ir_builder *b, const ir_op *op)
{
    ir_value *exists;
    ir_value **at = subscripts(s, b, op, &exists);
    if (!exists) {
        ir_clone_op(b, op, &s->val);
        return;
    }
    ir_op *choice = ir_if(b, exists, 1, &op->res[0]->type);
    ir_builder in = {.func = s->out, .region = choice->regions[0], .loc = op->loc};
    ir_value *v = ir_load(&in, ir_field_of(op), IR_DATA, at, at[ir_field_of(op)->ndim]);
    ir_yield(&in, 1, &v);
    in.region = choice->regions[1];
    v = ir_zero(&in, op->res[0]->type);
    ir_yield(&in, 1, &v);
    ir_map_set_other(&s->val, op->res[0], choice->res[0]);
}

static void sets_load(sets *s, ir_builder *b, const ir_op *op)
{
    if (sets_has_value(s, op->res[0]))
        load_value(s, b, op);
    ir_field *memory = s->memory[ir_storage_of_op(op)];
    if (!memory || !sets_is_varied(s, op->res[0]))
        return;
    ir_value *exists, *place = place_of(s, b, op, &exists);
    ir_map_set_other(&s->set, op->res[0], load_set(b, memory, place, exists));
}

static void sets_store(sets *s, ir_builder *b, const ir_op *op)
{
    ir_field *memory = s->memory[ir_storage_of_op(op)];
    const ir_value *stored = ir_stored_value(op);
    if (!memory)
        return;
    ir_value *exists, *place = place_of(s, b, op, &exists), *set = sets_set(s, b, stored),
                      *zero = ir_const_i(b, SC_I64, 0);
    const bool adds = s->maybe || op->code != OP_STORE;
    ir_value *old = adds || exists ? load_set(b, memory, place, NULL) : NULL;
    if (adds)
        set = ir_op2(b, OP_OR, old, set);
    if (exists)
        set = ir_op3(b, OP_SELECT, exists, set, old);
    ir_store(b, memory, IR_DATA, &place, zero, set);
}

/* ---- local arrays ---- */

static void sets_local(sets *s, ir_builder *b, const ir_op *op)
{
    const ir_value *array = op->res[0];
    if (sets_has_value(s, array))
        ir_clone_op(b, op, &s->val);
    if (!s->c->varied[array->id])
        return;
    ir_value *set = NULL;
    if (s->c->collapsed[array->id])
        set = ir_local(b, SC_I64, 1, NULL);
    else if (op->nargs)
        set = ir_local_sized(b, SC_I64, ir_op2(b, OP_MAX, sets_value(s, op->args[0]), ir_const_i(b, SC_I64, 1)), NULL);
    else
        set = ir_local(b, SC_I64, ir_local_attr(op)->count, NULL);
    ir_map_set_other(&s->set, array, set);
}

/* The subscript of the set of an element of a local array. */
static ir_value *slot_of(const sets *s, ir_builder *b, const ir_op *op, ir_value *array)
{
    if (s->c->collapsed[op->args[0]->id])
        return ir_const_i(b, SC_I64, 0);
    ir_value *at = sets_value(s, op->args[1]);
    ir_value *inside = is_inside(b, at, ir_local_count(b, array->def));
    return ir_op3(b, OP_SELECT, inside, at, ir_const_i(b, SC_I64, 0));
}

static void sets_element(sets *s, ir_builder *b, const ir_op *op)
{
    const ir_value *array = op->args[0];
    ir_value *set = ir_map_get(&s->set, array);
    if (op->code == OP_LLOAD ? sets_has_value(s, op->res[0]) && !s->maybe : sets_has_value(s, array))
        ir_clone_op(b, op, &s->val);
    else if (op->code == OP_LLOAD && sets_has_value(s, op->res[0]))
        ir_map_set_other(&s->val, op->res[0],
                         ir_lload(b, sets_value(s, array), slot_of(s, b, op, sets_value(s, array))));
    if (!set)
        return;
    ir_value *at = slot_of(s, b, op, set);
    if (op->code == OP_LLOAD) {
        if (sets_is_varied(s, op->res[0]))
            ir_map_set_other(&s->set, op->res[0], ir_lload(b, set, at));
        return;
    }
    ir_value *in = sets_set(s, b, op->args[2]);
    if (s->maybe || op->code == OP_LACCUM || s->c->collapsed[array->id])
        in = ir_op2(b, OP_OR, ir_lload(b, set, at), in);
    ir_lstore(b, set, at, in);
}

/* ---- pure operations and calls ---- */

static void sets_pure(sets *s, ir_builder *b, const ir_op *op)
{
    if (sets_has_value(s, op->res[0]))
        ir_clone_op(b, op, &s->val);
    if (!sets_is_varied(s, op->res[0]))
        return;
    ir_value *all = NULL;
    for (int k = 0; k < op->nargs; k++)
        if (sets_is_varied(s, op->args[k]) && !op_zero_derivative(op->code, k))
            all = sets_union(b, all, ir_map_get(&s->set, op->args[k]));
    if (all)
        ir_map_set_other(&s->set, op->res[0], all);
}

/* Each result follows from all arguments. */
static void sets_call(sets *s, ir_builder *b, const ir_op *op)
{
    ir_value *all = NULL;
    bool value = op->nres > 0;
    for (int k = 0; k < op->nargs; k++)
        if (sets_is_varied(s, op->args[k]))
            all = sets_union(b, all, ir_map_get(&s->set, op->args[k]));
    for (int i = 0; i < op->nres; i++) {
        value &= sets_has_value(s, op->res[i]);
        if (all && sets_is_varied(s, op->res[i]))
            ir_map_set_other(&s->set, op->res[i], all);
    }
    if (value)
        ir_clone_op(b, op, &s->val);
}

/* ---- regions ---- */

static void sets_op(sets *s, ir_builder *b, const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
        sets_load(s, b, op);
        return;
    case OP_STORE:
    case OP_ACCUM:
        sets_store(s, b, op);
        return;
    case OP_LOCAL:
        sets_local(s, b, op);
        return;
    case OP_LLOAD:
    case OP_LSTORE:
    case OP_LACCUM:
        sets_element(s, b, op);
        return;
    case OP_STK_MARK:
    case OP_STK_RELEASE:
    case OP_STK_ALLOC:
    case OP_STK_STORE:
    case OP_STK_LOAD:
        sets_stack(s, b, op);
        return;
    case OP_IF:
        sets_if(s, b, op);
        return;
    case OP_LOOP:
        sets_loop(s, b, op);
        return;
    case OP_TASK:
        sets_task(s, b, op);
        return;
    case OP_CALL:
        sets_call(s, b, op);
        return;
    default: /* events, atomics of memory without sets, and yields, which whoever has the region makes, are gone */
        if (op_is_pure_table(op->code) || op_is_launch_constant(op->code))
            sets_pure(s, b, op);
    }
}

static void sets_region(sets *s, ir_builder *b, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        b->loc = op->loc;
        sets_op(s, b, op);
    }
}

/* ---- the kernel ---- */

typedef struct arrays {
    ir_func *func;
    bool of_sets;
    int n;
} arrays;

static ir_field *add_array(arrays *to, const char *name, ir_storage at)
{
    ir_module *m = to->func->module;
    const ir_field *of = ir_storage_field(m, at);
    (void)hidden_count(to->func, arena_printf(m->mem, "size%d", to->n));
    ir_field *a = hidden_array(to->func, arena_printf(m->mem, "%s%d", name, to->n++), to->of_sets ? SC_I64 : of->elem,
                               1, true);
    a->beside = of;
    a->beside_plane = ir_storage_plane(at);
    return a;
}

ir_field **computed_arrays(const computed *c, ir_func *f, bool of_sets, ir_field **holders)
{
    const ir_module *m = f->module;
    const size_t nstorages = m->nfields * IR_PLANES;
    const char *name = of_sets ? "sets" : "tangents";
    ir_field **all = ARENA_ARRAY(m->mem, ir_field *, nstorages + 1);
    arrays to = {f, of_sets, 0};
    for (size_t at = 0; at < nstorages; at++)
        if (c->held && c->held[at])
            holders[at] = add_array(&to, "gradient", at);
    for (size_t at = 0; at < nstorages; at++)
        if (c->active[at] && !computed_is_row(c, at))
            all[at] = add_array(&to, name, at);
    for (int i = 0; i < c->nout; i++)
        all[c->out[i]] = add_array(&to, name, c->out[i]);
    return all;
}

ir_func *computed_sets(computed *c, const char *name)
{
    ir_func *out = ir_clone_func(c->from, name);
    out->body = ir_region_create(out);
    out->next_value = 0;
    sets s = {.c = c, .out = out, .val = ir_map_create(c->from), .set = ir_map_create(c->from), .region = sets_region};
    for (int i = 0; i < c->from->body->nparams; i++)
        ir_map_set(&s.val, c->from->body->params[i], ir_region_param_like(out->body, c->from->body->params[i]));
    hidden_begin(out, c->from->ad.primal, 4 * (int)ir_storage_count(out->module));
    s.memory = computed_arrays(c, out, true,
                               ARENA_ARRAY(out->module->mem, ir_field *, ir_storage_count(out->module) + 1));
    ir_builder b = {.func = out, .region = out->body, .loc = out->loc};
    sets_region(&s, &b, c->from->body);
    ir_yield(&b, 0, NULL);
    hidden_end(out, NULL, NULL, 0);
    ir_map_free(&s.val);
    ir_map_free(&s.set);
    vec_free(&s.layouts);
    pass_simplify(out);
    return out;
}
