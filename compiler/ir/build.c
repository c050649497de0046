/* Making and unlinking operations, regions and values. */
#include <assert.h>
#include <string.h>

#include "ir/ops.h"

ir_module *ir_module_create(arena *mem, intern_pool *names, diag_sink *diag, const char *name)
{
    ir_module *m = ARENA_NEW(mem, ir_module);
    m->mem = mem;
    m->names = names;
    m->diag = diag;
    m->name = name;
    m->real = SC_F32;
    return m;
}

void ir_module_destroy(ir_module *m)
{
    vec_free(&m->structs);
    vec_free(&m->fields);
    vec_free(&m->params);
    vec_free(&m->funcs);
    vec_free(&m->externs);
    vec_free(&m->places);
    vec_free(&m->matrices);
}

void ir_add_wide(ir_module *m, ir_field *f)
{
    for (int p = IR_DATA; p < IR_PLANES; p++) {
        if (!f->width[p])
            continue;
        ir_field *w = ARENA_NEW(m->mem, ir_field);
        *w = (ir_field){.name = intern(m->names, arena_printf(m->mem, "%s%s", f->name, ir_plane_text((ir_plane)p))),
                        .elem = f->elem,
                        .rows = 1,
                        .cols = 1,
                        .ndim = f->ndim + (ir_field_ncomp(f) > 1) + 1,
                        .loc = f->loc,
                        .index = (int)m->fields.len,
                        .wide_of = f,
                        .wide_plane = (ir_plane)p};
        f->wide[p] = w;
        vec_push(&m->fields, w);
    }
}

ir_func *ir_func_create(ir_module *m, ir_func_kind kind, const char *name)
{
    ir_func *f = ARENA_NEW(m->mem, ir_func);
    f->module = m;
    f->kind = kind;
    f->name = name;
    f->body = ir_region_create(f);
    vec_push(&m->funcs, f);
    return f;
}

/* ---- regions ---- */

ir_region *ir_region_create(ir_func *f)
{
    ir_region *r = ARENA_NEW(f->module->mem, ir_region);
    r->func = f;
    r->params = ARENA_ARRAY(f->module->mem, ir_value *, 1);
    return r;
}

static ir_value *new_value(ir_func *f, scalar type, ir_region *region, ir_op *def, int index, src_loc loc)
{
    ir_value *v = ARENA_NEW(f->module->mem, ir_value);
    v->type = type;
    v->id = f->next_value++;
    v->region = region;
    v->def = def;
    v->index = index;
    v->loc = loc;
    return v;
}

/* Arrays of operands, results and parameters grow by doubling and never shrink; the capacity is the power of two at or
 * above n. */
static void *grow(arena *mem, void *old, int n, size_t size)
{
    if (n != 0 && (n & (n - 1)) != 0)
        return old;
    void *p = arena_alloc(mem, size * (size_t)(n ? 2 * n : 1));
    if (n)
        memcpy(p, old, size * (size_t)n);
    return p;
}

/* Room for n entries in the sense of grow(); never NULL, so that `array + 0` is defined. */
static void *room(arena *mem, int n, size_t size)
{
    int cap = 1;
    while (cap < n)
        cap *= 2;
    return arena_alloc(mem, size * (size_t)cap);
}

ir_value *ir_region_param(ir_region *r, scalar type, const char *name)
{
    r->params = grow(r->func->module->mem, r->params, r->nparams, sizeof *r->params);
    ir_value *v = new_value(r->func, type, r, NULL, r->nparams, r->parent ? r->parent->loc : r->func->loc);
    v->name = name;
    r->params[r->nparams++] = v;
    return v;
}

ir_value *ir_region_param_like(ir_region *r, const ir_value *v)
{
    ir_value *p = ir_region_param(r, v->type, v->name);
    p->loc = v->loc;
    return p;
}

/* Takes entry i out of an array of values and renumbers the ones behind it. */
static void remove_value(ir_value **at, int *n, int i, bool renumber)
{
    assert(i >= 0 && i < *n);
    memmove(at + i, at + i + 1, sizeof *at * (size_t)(*n - i - 1));
    --*n;
    for (int k = i; renumber && k < *n; k++)
        at[k]->index = k;
}

void ir_region_remove_param(ir_region *r, int i)
{
    /* grow() copies at powers of two, so a shorter array in a longer allocation is harmless */
    remove_value(r->params, &r->nparams, i, true);
}

/* ---- operations ---- */

static void link_op(ir_op *op, ir_region *r, ir_op *before)
{
    op->region = r;
    op->next = before;
    op->prev = before ? before->prev : r->last;
    if (op->prev)
        op->prev->next = op;
    else
        r->first = op;
    if (before)
        before->prev = op;
    else
        r->last = op;
}

static void unlink_op(ir_op *op)
{
    ir_region *r = op->region;
    if (op->prev)
        op->prev->next = op->next;
    else
        r->first = op->next;
    if (op->next)
        op->next->prev = op->prev;
    else
        r->last = op->prev;
    op->prev = op->next = NULL;
    op->region = NULL;
}

ir_op *ir_insert(ir_builder *b, ir_opcode code, int nargs, ir_value *const *args, int nres, const scalar *res_types,
                 int nregions)
{
    arena *mem = b->func->module->mem;
    ir_op *op = ARENA_NEW(mem, ir_op);
    op->code = code;
    op->attr = ir_attr_new(mem, code);
    op->loc = b->loc;
    op->origin = b->origin;
    op->nargs = nargs;
    op->args = room(mem, nargs, sizeof *op->args);
    if (nargs)
        memcpy(op->args, args, sizeof *args * (size_t)nargs);
    link_op(op, b->region, b->before);
    op->nres = nres;
    op->res = room(mem, nres, sizeof *op->res);
    for (int i = 0; i < nres; i++) {
        op->res[i] = new_value(b->func, res_types[i], b->region, op, i, b->loc);
        op->res[i]->exact = b->exact && scalar_is_float(res_types[i]);
        op->res[i]->finite = b->finite && scalar_is_float(res_types[i]);
    }
    op->nregions = nregions;
    op->regions = nregions ? ARENA_ARRAY(mem, ir_region *, nregions) : NULL;
    for (int i = 0; i < nregions; i++)
        ir_set_region(op, i, ir_region_create(b->func));
    return op;
}

ir_value *ir_add_result(ir_op *op, scalar type)
{
    ir_func *f = op->region->func;
    op->res = grow(f->module->mem, op->res, op->nres, sizeof *op->res);
    op->res[op->nres] = new_value(f, type, op->region, op, op->nres, op->loc);
    return op->res[op->nres++];
}

void ir_add_arg(ir_op *op, ir_value *v)
{
    op->args = grow(op->region->func->module->mem, op->args, op->nargs, sizeof *op->args);
    op->args[op->nargs++] = v;
}

void ir_remove_arg(ir_op *op, int i)
{
    remove_value(op->args, &op->nargs, i, false);
}

void ir_remove_result(ir_op *op, int i)
{
    remove_value(op->res, &op->nres, i, true);
}

void ir_set_region(ir_op *op, int i, ir_region *r)
{
    assert(i >= 0 && i < op->nregions);
    op->regions[i] = r;
    r->parent = op;
}

void ir_remove(ir_op *op)
{
    unlink_op(op);
}

void ir_move(ir_op *op, ir_region *to, ir_op *before)
{
    if (before == op)
        return;
    unlink_op(op);
    link_op(op, to, before);
    for (int i = 0; i < op->nres; i++)
        op->res[i]->region = to;
}

/* ---- constants and pure operations ---- */

int64_t ir_wrap_int(scalar type, int64_t x)
{
    switch (type) {
    case SC_BOOL:
        return x != 0;
    case SC_I8:
        return (int8_t)x;
    case SC_I16:
        return (int16_t)x;
    case SC_I32:
        return (int32_t)x;
    case SC_U8:
        return (uint8_t)x;
    case SC_U16:
        return (uint16_t)x;
    case SC_U32:
        return (uint32_t)x;
    default:
        return x;
    }
}

ir_value *ir_const_i(ir_builder *b, scalar type, int64_t x)
{
    assert(!scalar_is_float(type));
    ir_op *op = ir_insert(b, OP_CONST, 0, NULL, 1, &type, 0);
    ir_const_attr(op)->i = ir_wrap_int(type, x);
    return op->res[0];
}

ir_value *ir_const_f(ir_builder *b, scalar type, double x)
{
    assert(scalar_is_float(type));
    ir_op *op = ir_insert(b, OP_CONST, 0, NULL, 1, &type, 0);
    ir_const_attr(op)->f = type == SC_F32 ? (double)(float)x : x;
    return op->res[0];
}

ir_value *ir_zero(ir_builder *b, scalar type)
{
    return scalar_is_float(type) ? ir_const_f(b, type, 0.0) : ir_const_i(b, type, 0);
}

bool ir_component_known(const ir_op *op)
{
    const ir_value *comp = op->args[ir_field_of(op)->ndim];
    return ir_is_const(comp) && ir_int(comp) >= 0 && ir_int(comp) < ir_field_ncomp(ir_field_of(op));
}

static ir_value *pure_op(ir_builder *b, ir_opcode code, int n, ir_value *const *args)
{
    scalar types[3] = {SC_NONE, SC_NONE, SC_NONE};
    assert(op_get(code)->arity == n);
    for (int i = 0; i < n; i++)
        types[i] = args[i]->type;
    scalar result = op_result_type(code, types);
    return ir_insert(b, code, n, args, 1, &result, 0)->res[0];
}

ir_value *ir_op1(ir_builder *b, ir_opcode code, ir_value *a)
{
    return pure_op(b, code, 1, &a);
}

ir_value *ir_op2(ir_builder *b, ir_opcode code, ir_value *a, ir_value *c)
{
    return pure_op(b, code, 2, (ir_value *[]){a, c});
}

ir_value *ir_op3(ir_builder *b, ir_opcode code, ir_value *a, ir_value *c, ir_value *d)
{
    return pure_op(b, code, 3, (ir_value *[]){a, c, d});
}

ir_value *ir_cast(ir_builder *b, scalar to, ir_value *a)
{
    return a->type == to ? a : ir_insert(b, OP_CAST, 1, &a, 1, &to, 0)->res[0];
}

/* ---- memory ---- */

static ir_op *field_op(ir_builder *b, ir_opcode code, ir_field *f, ir_plane p, ir_value *const *idx, ir_value *comp,
                       ir_value *v)
{
    ir_value *args[10];
    int n = 0;
    assert(f->ndim <= 8);
    for (int i = 0; i < f->ndim; i++)
        args[n++] = idx[i];
    args[n++] = comp;
    if (v)
        args[n++] = v;
    ir_op *op = ir_insert(b, code, n, args, v ? 0 : 1, v ? NULL : &f->elem, 0);
    ir_access_attr(op)->field = f;
    ir_access_attr(op)->plane = p;
    return op;
}

ir_value *ir_load(ir_builder *b, ir_field *f, ir_plane p, ir_value *const *idx, ir_value *comp)
{
    return field_op(b, OP_LOAD, f, p, idx, comp, NULL)->res[0];
}

ir_op *ir_store(ir_builder *b, ir_field *f, ir_plane p, ir_value *const *idx, ir_value *comp, ir_value *v)
{
    return field_op(b, OP_STORE, f, p, idx, comp, v);
}

ir_op *ir_accum(ir_builder *b, ir_field *f, ir_plane p, ir_value *const *idx, ir_value *comp, ir_value *v)
{
    return field_op(b, OP_ACCUM, f, p, idx, comp, v);
}

ir_value *ir_atomic(ir_builder *b, ir_opcode with, ir_field *f, ir_value *const *idx, ir_value *comp, ir_value *v)
{
    ir_op *op = field_op(b, OP_ATOMIC, f, IR_DATA, idx, comp, v);
    ir_access_attr(op)->with = with;
    return ir_add_result(op, f->elem);
}

bool ir_atomic_is_extreme(const ir_op *op)
{
    return op->code == OP_ATOMIC && (ir_access_attr(op)->with == OP_MIN || ir_access_attr(op)->with == OP_MAX) &&
           scalar_is_float(ir_field_of(op)->elem);
}

bool ir_atomic_has_winner(const ir_op *op)
{
    return ir_atomic_is_extreme(op) && ir_access_attr(op)->discarded;
}

ir_value *ir_atomic_sets(ir_builder *b, const ir_op *op, ir_value *value, ir_value *old)
{
    return ir_op2(b, ir_access_attr(op)->with == OP_MIN ? OP_LT : OP_GT, value, old);
}

ir_value *ir_array_extent(const ir_func *f, const ir_field *array, int dim)
{
    const ir_extent *e = &array->dims[dim];
    return e->param < 0 ? e->value : f->body->params[f->sig[e->param].first];
}

ir_value *ir_shape(ir_builder *b, ir_field *f, int dim)
{
    const ir_extent *e = f->array ? &f->dims[dim] : NULL;
    if (e && e->param >= 0)
        return ir_array_extent(b->func, f, dim);
    if (e && e->mparam)
        return ir_cast(b, SC_I64, ir_mparam_value(b, e->mparam));
    if (e)
        return ir_const_i(b, SC_I64, e->count);
    static const scalar type = SC_I64;
    ir_op *op = ir_insert(b, OP_SHAPE, 0, NULL, 1, &type, 0);
    ir_shape_attr(op)->field = f->lead ? f->lead : f;
    ir_shape_attr(op)->dim = dim;
    return op->res[0];
}

ir_value *ir_key(ir_builder *b)
{
    return ir_insert(b, OP_KEY, 0, NULL, 1, &(scalar){SC_U64}, 0)->res[0];
}

ir_value *ir_random(ir_builder *b, ir_opcode code, scalar type, ir_value *key, ir_value *i, ir_value *j)
{
    return ir_insert(b, code, 3, (ir_value *[]){key, i, j}, 1, &type, 0)->res[0];
}

ir_value *ir_component_count(ir_builder *b, ir_field *f)
{
    ir_value *n = ir_const_i(b, SC_I64, ir_field_ncomp(f));
    for (int d = 0; d < f->ndim; d++) {
        ir_value *extent = ir_shape(b, f, d);
        n = ir_op2(b, OP_MUL, n, extent);
    }
    return n;
}

ir_value *ir_component_number(ir_builder *b, ir_field *f, ir_value *const *idx)
{
    ir_value *at = f->ndim ? idx[0] : NULL;
    for (int d = 1; d < f->ndim; d++) {
        ir_value *extent = ir_shape(b, f, d);
        at = ir_op2(b, OP_MUL, at, extent);
        at = ir_op2(b, OP_ADD, at, idx[d]);
    }
    if (!at)
        return idx[f->ndim];
    if (ir_field_ncomp(f) == 1)
        return at;
    ir_value *n = ir_const_i(b, SC_I64, ir_field_ncomp(f));
    at = ir_op2(b, OP_MUL, at, n);
    return ir_op2(b, OP_ADD, at, idx[f->ndim]);
}

ir_value *ir_mparam_value(ir_builder *b, ir_mparam *p)
{
    ir_op *op = ir_insert(b, OP_MPARAM, 0, NULL, 1, &p->type, 0);
    ir_mparam_attr(op)->param = p;
    op->res[0]->name = p->name;
    return op->res[0];
}

ir_value *ir_local(ir_builder *b, scalar elem, int64_t count, const char *name)
{
    static const scalar type = SC_PTR;
    ir_op *op = ir_insert(b, OP_LOCAL, 0, NULL, 1, &type, 0);
    ir_local_attr(op)->elem = elem;
    ir_local_attr(op)->count = count;
    op->res[0]->name = name;
    return op->res[0];
}

ir_value *ir_local_sized(ir_builder *b, scalar elem, ir_value *count, const char *name)
{
    ir_value *array = ir_local(b, elem, 0, name);
    ir_add_arg(array->def, count);
    return array;
}

ir_value *ir_local_count(ir_builder *b, const ir_op *local)
{
    return local->nargs ? local->args[0] : ir_const_i(b, SC_I64, ir_local_attr(local)->count);
}

scalar ir_elem_type(const ir_value *array)
{
    assert(array->def && array->def->code == OP_LOCAL);
    return ir_local_attr(array->def)->elem;
}

ir_value *ir_lload(ir_builder *b, ir_value *array, ir_value *idx)
{
    scalar type = ir_elem_type(array);
    return ir_insert(b, OP_LLOAD, 2, (ir_value *[]){array, idx}, 1, &type, 0)->res[0];
}

ir_op *ir_lstore(ir_builder *b, ir_value *array, ir_value *idx, ir_value *v)
{
    return ir_insert(b, OP_LSTORE, 3, (ir_value *[]){array, idx, v}, 0, NULL, 0);
}

ir_op *ir_laccum(ir_builder *b, ir_value *array, ir_value *idx, ir_value *v)
{
    return ir_insert(b, OP_LACCUM, 3, (ir_value *[]){array, idx, v}, 0, NULL, 0);
}

ir_op *ir_yield(ir_builder *b, int n, ir_value *const *vals)
{
    return ir_insert(b, OP_YIELD, n, vals, 0, NULL, 0);
}

/* ---- structured operations ---- */

ir_op *ir_if(ir_builder *b, ir_value *cond, int nres, const scalar *types)
{
    return ir_insert(b, OP_IF, 1, &cond, nres, types, 2);
}

ir_op *ir_loop(ir_builder *b, ir_value *lo, ir_value *hi, bool cond, int ncarried, ir_value *const *init)
{
    static const scalar count = SC_I64;
    assert((lo == NULL) == (hi == NULL));
    ir_op *op = ir_insert(b, OP_LOOP, lo ? 2 : 0, (ir_value *[]){lo, hi}, 0, NULL, cond ? 2 : 1);
    ir_loop_attr(op)->bounded = lo != NULL;
    ir_loop_attr(op)->cond = cond;
    if (lo)
        ir_region_param(op->regions[0], SC_I64, NULL);
    for (int i = 0; i < ncarried; i++) {
        ir_add_arg(op, init[i]);
        ir_add_result(op, init[i]->type);
        for (int r = 0; r < op->nregions; r++)
            ir_region_param(op->regions[r], init[i]->type, init[i]->name);
    }
    if (cond)
        ir_add_result(op, count);
    return op;
}

ir_value *ir_loop_carry(ir_op *loop, ir_value *init, ir_value **result)
{
    ir_add_arg(loop, init);
    ir_value *p = ir_region_param(loop->regions[0], init->type, NULL);
    *result = ir_add_result(loop, init->type);
    if (!ir_loop_attr(loop)->cond)
        return p;
    ir_region_param(loop->regions[1], init->type, NULL);
    const int n = loop->nres; /* the number of trips stays the last one */
    ir_value *trips = loop->res[n - 2];
    loop->res[n - 2] = *result;
    loop->res[n - 1] = trips;
    (*result)->index = n - 2;
    trips->index = n - 1;
    return p;
}

ir_op *ir_task(ir_builder *b, int ndim, ir_value *const *lo, ir_value *const *hi, int nred, const ir_reduction *reds,
               ir_value *const *init)
{
    arena *mem = b->func->module->mem;
    ir_op *op = ir_insert(b, OP_TASK, 0, NULL, 0, NULL, 1);
    ir_task_attr(op)->ndim = ndim;
    ir_task_attr(op)->nreductions = nred;
    ir_task_attr(op)->reductions = nred ? ARENA_ARRAY(mem, ir_reduction, nred) : NULL;
    for (int i = 0; i < ndim; i++) {
        ir_add_arg(op, lo[i]);
        ir_add_arg(op, hi[i]);
        ir_region_param(op->regions[0], SC_I64, NULL);
    }
    for (int r = 0, k = 0; r < nred; r++) {
        ir_task_attr(op)->reductions[r] = reds[r];
        for (int end = k + 1 + reds[r].companions; k < end; k++) {
            ir_add_arg(op, init[k]);
            ir_add_result(op, init[k]->type);
        }
    }
    return op;
}

ir_op *ir_call(ir_builder *b, ir_func *callee, int nargs, ir_value *const *args)
{
    ir_op *op = ir_insert(b, OP_CALL, nargs, args, callee->nresults, callee->results, 0);
    ir_call_attr(op)->callee = callee;
    return op;
}

void ir_adjoint(ir_builder *b, ir_func *kernel, int nargs, ir_value *const *args)
{
    ir_call_attr(ir_insert(b, OP_ADJOINT, nargs, args, 0, NULL, 0))->callee = kernel;
}

ir_op *ir_gradient(ir_builder *b, ir_func *f, int nargs, ir_value *const *args)
{
    scalar *types = ARENA_ARRAY(f->module->mem, scalar, f->body->nparams + 1);
    int n = 0;
    for (int i = 0; i < f->body->nparams; i++)
        if (scalar_is_float(f->body->params[i]->type))
            types[n++] = f->body->params[i]->type;
    ir_op *op = ir_insert(b, OP_GRADIENT, nargs, args, n, types, 0);
    ir_call_attr(op)->callee = f;
    return op;
}

ir_value *ir_along(ir_builder *b, ir_func *f, int nargs, ir_value *const *args)
{
    ir_op *op = ir_insert(b, OP_ALONG, nargs, args, 1, f->results, 0);
    ir_call_attr(op)->callee = f;
    return op->res[0];
}

ir_op *ir_func_matrix(ir_builder *b, ir_opcode code, ir_func *f, int nargs, ir_value *const *args)
{
    const ir_region *body = f->body;
    const int rows = code == OP_HESSIAN ? body->nparams : f->nresults;
    scalar *types = ARENA_ARRAY(f->module->mem, scalar, rows * body->nparams + 1);
    int n = 0;
    for (int i = 0; i < rows; i++) {
        const scalar type = code == OP_HESSIAN ? body->params[i]->type : f->results[i];
        for (int j = 0; j < body->nparams && scalar_is_float(type) && (code == OP_JACOBIAN || j <= i); j++)
            if (scalar_is_float(body->params[j]->type))
                types[n++] = type;
    }
    ir_op *op = ir_insert(b, code, nargs, args, n, types, 0);
    ir_call_attr(op)->callee = f;
    return op;
}

int ir_loop_first_init(const ir_op *loop)
{
    return ir_loop_attr(loop)->bounded ? 2 : 0;
}

int ir_loop_first_param(const ir_op *loop)
{
    return ir_loop_attr(loop)->bounded ? 1 : 0;
}

int ir_loop_ncarried(const ir_op *loop)
{
    return loop->nargs - ir_loop_first_init(loop);
}

int ir_task_first_init(const ir_op *task)
{
    return 2 * ir_task_attr(task)->ndim;
}

int ir_task_first_fixed(const ir_op *task)
{
    return ir_task_first_init(task) + task->nres;
}

const ir_op *ir_task_of(const ir_op *op)
{
    while (op && op->code != OP_TASK)
        op = op->region->parent;
    return op;
}

bool ir_task_sum_decides(const ir_op *task)
{
    for (int i = 0, at = 0; i < ir_task_attr(task)->nreductions;
         at += 1 + ir_task_attr(task)->reductions[i++].companions)
        if (ir_task_attr(task)->reductions[i].kind == IR_RED_ADD && task->res[at]->exact)
            return true;
    return false;
}

ir_op *ir_yield_of(const ir_region *r)
{
    return r->last && r->last->code == OP_YIELD ? r->last : NULL;
}
