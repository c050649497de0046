/* Arrays of the host that an export func or a kernel writes.
 *
 * What an `out` array holds at first is zero, so that the function is one of its arguments. The function itself and its
 * JVP work in the host's memory. The gradient cannot: it gets seeds that it must not change, and it needs what was
 * overwritten. It is made from a second version of the function, in which these arrays are local arrays, filled at the
 * beginning (`inout`) and copied to the host's memory at the end. That is spared where each element is written once, or
 * only added to, and never read: then the seed of an element is what its only writes take.
 *
 * The adjoint of a kernel reads memory as the launch left it, and `inout` arrays are like fields. Seeds stay as they
 * are in the simple case; otherwise libtkc gives the adjoint a copy of them.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/overlap/disjoint.h"
#include "passes/analysis/values.h"
#include "passes/derive/derive.h"
#include "passes/simplify/simplify.h"
#include "util/ptrmap.h"

#include <string.h>

enum { MAX_IN_FRAME = 4 * 1024 /* bytes of a copy of an array of constant extents */ };

typedef VEC(access) access_list;

typedef struct study {
    const ir_func *f;
    const ir_field *field;
    access_list stores, accums;
    bool loads;
    bool complete; /* what the stores of all components reach: every element */
} array_uses;

/* ---- how a function uses one of them ---- */

static bool is_bare(const affine *a, const ir_value *v)
{
    return a->ok && a->n == 1 && a->term[0] == v && a->coef[0] == 1 && a->konst == 0;
}

/* Indices of a loop or task; 0: it has none, or trips without one. */
static int indices(const ir_op *op)
{
    return op->code == OP_TASK ? ir_task_attr(op)->ndim : op->code == OP_LOOP && ir_loop_attr(op)->bounded ? 1 : 0;
}

/* Every iteration of the loops around it stores into another element: each index is, up to a shift, a subscript. */
static bool is_own(const access *a)
{
    for (const ir_op *op = a->op->region->parent; op; op = op->region->parent) {
        const int n = indices(op);
        if (n == 0 && op->code != OP_IF)
            return false;
        for (int i = 0; i < n; i++) {
            bool found = false;
            for (int k = 0; k < a->nsub && !found; k++)
                found = a->sub[k].ok && a->sub[k].n == 1 && a->sub[k].term[0] == op->regions[0]->params[i] &&
                        a->sub[k].coef[0] != 0;
            if (!found)
                return false;
        }
    }
    return true;
}

/* A loop nest over the whole array. */
static bool is_whole(const array_uses *s, const access *a)
{
    int depth = 0;
    for (const ir_op *op = a->op->region->parent; op; op = op->region->parent) {
        const int n = indices(op);
        if (n == 0 || (op->code == OP_LOOP && ir_loop_attr(op)->cond))
            return false;
        for (int i = 0; i < n; i++, depth++) {
            const ir_value *lo = op->args[2 * i], *hi = op->args[2 * i + 1];
            bool found = false;
            for (int d = 0; d < s->field->ndim && !found; d++)
                found = is_bare(&a->sub[d], op->regions[0]->params[i]) &&
                        same_value(s->f->module, hi, extent_value(s->f, s->field, d));
            if (!found || !ir_is_const(lo) || ir_int(lo) != 0)
                return false;
        }
    }
    return depth == s->field->ndim && ir_component_known(a->op);
}

/* What a function that is called, or an adjoint, does is not looked at. None of them has the arrays of another
 * function. */
static bool may_touch(const ir_op *op, const ir_field *field)
{
    return !field->array && (op->code == OP_CALL || op->code == OP_ADJOINT);
}

static void collect_access(array_uses *s, ir_op *op)
{
    s->loads |= op->code == OP_LOAD;
    if (op->code != OP_LOAD)
        vec_push(op->code == OP_STORE ? &s->stores : &s->accums, access_of_op(s->f->module, op, NULL));
}

static void collect_touching(ir_op *op, void *ctx)
{
    array_uses *s = ctx;
    const bool memory = op_accesses_field(op->code);
    if (memory ? ir_field_of(op) == s->field && (op->code == OP_ATOMIC || ir_access_attr(op)->plane != IR_DATA)
               : may_touch(op, s->field))
        s->loads = true; /* taken for one: it may be more */
    else if (memory && ir_field_of(op) == s->field)
        collect_access(s, op);
}

/* The components that these accesses reach in every element; of more than 64 none, which is what is safe: they count as
 * not reached. */
static uint64_t reaches(const array_uses *s, const access_list *list)
{
    const int n = ir_field_ncomp(s->field);
    uint64_t whole = 0;
    for (size_t i = 0; i < list->len; i++) {
        if (n > 64 || !is_whole(s, &list->at[i]))
            continue;
        const int64_t k = ir_int(list->at[i].op->args[s->field->ndim]);
        if (k >= 0 && k < n) /* one outside is never run, or fails */
            whole |= UINT64_C(1) << k;
    }
    return whole;
}

static uint64_t every_component(const ir_field *f)
{
    const int n = ir_field_ncomp(f);
    return UINT64_MAX >> (n < 64 ? 64 - n : 0);
}

/* Of the whole function, or of one operation in it. */
static array_uses array_uses_of(const ir_func *f, const ir_field *field, ir_op *only)
{
    array_uses s = {.f = f, .field = field};
    if (only)
        collect_touching(only, &s);
    else
        ir_walk(f->body, collect_touching, &s);
    for (int k = 0; only && k < only->nregions; k++)
        ir_walk(only->regions[k], collect_touching, &s);
    s.complete = reaches(&s, &s.stores) == every_component(field);
    return s;
}

static void array_uses_free(array_uses *s)
{
    vec_free(&s->stores);
    vec_free(&s->accums);
}

/* Written once, or only added to, and never read. */
static bool is_plain(const array_uses *s)
{
    if (s->loads || s->field->in || (s->accums.len && s->stores.len))
        return false;
    for (size_t i = 0; i < s->stores.len; i++) {
        if (!is_own(&s->stores.at[i]))
            return false;
        for (size_t k = 0; k < i; k++)
            if (!access_never_aliases(&s->stores.at[i], &s->stores.at[k]))
                return false;
    }
    return true;
}

/* ---- zeros that are there already, or that nobody sees ---- */

static bool is_zero(const ir_value *v)
{
    return ir_is_const(v) && (scalar_is_float(v->type) ? ir_float(v) == 0.0 : ir_int(v) == 0);
}

/* The field of which everything in r sets elements to zero; NULL: it does more. */
static ir_field *cleared_in(const ir_region *r)
{
    ir_field *field = NULL;
    for (const ir_op *op = r->first; op; op = op->next) {
        ir_field *here = NULL;
        if (op->code == OP_YIELD || (!op->nregions && op->code != OP_CALL && ir_op_is_pure(op)))
            continue;
        if (op->code == OP_STORE && ir_access_attr(op)->plane == IR_DATA && is_zero(op->args[op->nargs - 1]))
            here = ir_field_of(op);
        else if (op->code == OP_LOOP && ir_loop_attr(op)->bounded && !ir_loop_attr(op)->cond && !op->nres)
            here = cleared_in(op->regions[0]);
        if (!here || (field && here != field))
            return NULL;
        field = here;
    }
    return field;
}

static ir_field *cleared_by(const ir_op *op)
{
    return (op->code == OP_TASK || (op->code == OP_LOOP && ir_loop_attr(op)->bounded && !ir_loop_attr(op)->cond)) &&
                   !op->nres
               ? cleared_in(op->regions[0])
               : NULL;
}

typedef struct touching {
    const ir_field *field;
    bool found;
} touching;

static void find_touch(ir_op *op, void *ctx)
{
    touching *t = ctx;
    const bool memory = op_accesses_field(op->code);
    t->found |= memory ? ir_field_of(op) == t->field : may_touch(op, t->field);
}

static bool touches(ir_op *op, const ir_field *field)
{
    touching t = {field, false};
    find_touch(op, &t);
    for (int k = 0; k < op->nregions; k++)
        ir_walk(op->regions[k], find_touch, &t);
    return t.found;
}

/* An `out` array that nothing was done to. */
static bool is_zero_before(const ir_func *f, const ir_op *op, const ir_field *field)
{
    bool zero = field->array && field->out && !field->in;
    for (ir_op *p = f->body->first; p != op && zero; p = p->next)
        zero = !touches(p, field);
    return zero;
}

/* What comes next stores into all elements. */
static bool is_stored_behind(const ir_func *f, const ir_op *op, const ir_field *field)
{
    ir_op *p = op->next;
    while (p && !touches(p, field))
        p = p->next;
    if (!p)
        return false;
    array_uses s = array_uses_of(f, field, p);
    const bool stored = s.complete && !s.loads && !s.accums.len;
    array_uses_free(&s);
    return stored;
}

/* What a kernel that was called does to its `out` arrays. */
static void drop_clears(ir_func *f)
{
    for (ir_op *op = f->body->first, *next; op && !f->module->debug; op = next) {
        const ir_field *field = cleared_by(op);
        next = op->next;
        if (field && (is_zero_before(f, op, field) || is_stored_behind(f, op, field)))
            ir_remove(op);
    }
}

/* ---- loops over an array ---- */

typedef void (*element_fn)(ir_builder *b, ir_field *field, ir_value *const *idx, ir_value *comp, ir_value *flat,
                           ir_value *local);

enum { MAX_SPELT = 16 /* components that are written out; of larger elements there is a loop over them */ };

static void one_component(ir_builder *b, ir_field *field, ir_value **idx, ir_value *comp, ir_value *flat,
                          ir_value *local, element_fn fn)
{
    const int n = ir_field_ncomp(field);
    if (n > 1 && flat) {
        flat = ir_op2(b, OP_MUL, flat, ir_const_i(b, SC_I64, n));
        flat = ir_op2(b, OP_ADD, flat, comp);
    }
    fn(b, field, idx, comp, flat, local);
}

static void each_component(ir_builder *b, ir_field *field, ir_value **idx, ir_value *flat, ir_value *local,
                           element_fn fn)
{
    const int n = ir_field_ncomp(field);
    for (int k = 0; k < n && n <= MAX_SPELT; k++)
        one_component(b, field, idx, ir_const_i(b, SC_I64, k), flat, local, fn);
    if (n <= MAX_SPELT)
        return;
    ir_value *lo = ir_const_i(b, SC_I64, 0), *hi = ir_const_i(b, SC_I64, n);
    ir_op *loop = ir_loop(b, lo, hi, false, 0, NULL);
    ir_builder in = {.func = b->func, .region = loop->regions[0], .loc = b->loc};
    loop->regions[0]->params[0]->name = "c";
    one_component(&in, field, idx, loop->regions[0]->params[0], flat, local, fn);
    ir_yield(&in, 0, NULL);
}

/* Dimension by dimension, and each component; `flat` is the number of the element so far. */
static void each_element(ir_builder *b, ir_field *field, int d, ir_value **idx, ir_value *flat, ir_value *local,
                         element_fn fn)
{
    if (d == field->ndim) {
        each_component(b, field, idx, flat, local, fn);
        return;
    }
    static const char *const names[] = {"i", "j", "k"};
    ir_value *lo = ir_const_i(b, SC_I64, 0), *hi = ir_shape(b, field, d);
    ir_op *loop = ir_loop(b, lo, hi, false, 0, NULL);
    ir_builder in = {.func = b->func, .region = loop->regions[0], .loc = b->loc};
    idx[d] = loop->regions[0]->params[0];
    idx[d]->name = d < 3 ? names[d] : NULL;
    if (d > 0) {
        flat = ir_op2(&in, OP_MUL, flat, hi);
        flat = ir_op2(&in, OP_ADD, flat, idx[d]);
    } else {
        flat = idx[d];
    }
    each_element(&in, field, d + 1, idx, flat, local, fn);
    ir_yield(&in, 0, NULL);
}

static void store_zero(ir_builder *b, ir_field *field, ir_value *const *idx, ir_value *comp, ir_value *flat,
                       ir_value *local)
{
    (void)flat, (void)local;
    ir_value *zero = ir_zero(b, field->elem);
    ir_store(b, field, IR_DATA, idx, comp, zero);
}

static void copy_in(ir_builder *b, ir_field *field, ir_value *const *idx, ir_value *comp, ir_value *flat,
                    ir_value *local)
{
    ir_value *v = ir_load(b, field, IR_DATA, idx, comp);
    ir_lstore(b, local, flat, v);
}

static void copy_out(ir_builder *b, ir_field *field, ir_value *const *idx, ir_value *comp, ir_value *flat,
                     ir_value *local)
{
    ir_value *v = ir_lload(b, local, flat);
    ir_store(b, field, IR_DATA, idx, comp, v);
}

static void over_array(ir_func *f, ir_op *before, ir_field *field, ir_value *local, element_fn fn)
{
    ir_builder b = {.func = f, .region = f->body, .before = before, .loc = field->loc};
    ir_value *idx[8];
    each_element(&b, field, 0, idx, NULL, local, fn);
}

/* ---- reads of what nothing overwrites ---- */

typedef struct uses {
    const ir_field *field;
    access_list loads, writes;
    uint32_t npos;
} uses;

static void note_use(ir_op *op, void *ctx)
{
    uses *u = ctx;
    op->pos = u->npos++;
    if (!op_accesses_field(op->code) || ir_field_of(op) != u->field)
        return;
    access_list *to = op->code == OP_LOAD ? &u->loads : &u->writes;
    const access a = access_of_op(op->region->func->module, op, to->len ? &vec_last(to) : NULL);
    vec_push(to, a);
}

/* Whether no write touches, in front of the load or behind it, the element that this reads. */
static bool is_untouched(const ir_func *f, const uses *u, const access *load, bool behind, overlap *pair)
{
    for (size_t k = 0; k < u->writes.len; k++) {
        const access *first = behind ? load : &u->writes.at[k], *then = behind ? &u->writes.at[k] : load;
        overlap_find(pair, f->module, first, then, NULL);
        if (!surely_kept(f->module, first, then, pair))
            return false;
    }
    return true;
}

typedef struct kept_loads {
    ptrmap first; /* of elements that no earlier write changes: the host's array has them */
    ptrmap final; /* of elements that no later write changes */
} kept_loads;

static kept_loads kept_loads_of(const ir_func *f, const ir_field *field)
{
    kept_loads kept = {0};
    overlap pair = {0};
    uses u = {.field = field};
    ir_walk(f->body, note_use, &u);
    for (size_t i = 0; i < u.loads.len; i++) {
        const access *load = &u.loads.at[i];
        if (field->in && is_untouched(f, &u, load, false, &pair))
            ptrmap_set(&kept.first, load->op, (void *)load->op);
        else if (is_untouched(f, &u, load, true, &pair))
            ptrmap_set(&kept.final, load->op, (void *)load->op);
    }
    overlap_free(&pair);
    vec_free(&u.loads);
    vec_free(&u.writes);
    return kept;
}

/* ---- the version with local arrays ---- */

typedef struct rewriting {
    ir_func *f;
    ir_field *field;
    ir_value *local;
    kept_loads kept;
} rewriting;

static ir_value *flat_index(ir_builder *b, const ir_op *op)
{
    ir_field *field = ir_field_of(op);
    ir_value *at = op->args[0];
    for (int d = 1; d < field->ndim; d++) {
        at = ir_op2(b, OP_MUL, at, ir_shape(b, field, d));
        at = ir_op2(b, OP_ADD, at, op->args[d]);
    }
    if (ir_field_ncomp(field) == 1)
        return at;
    at = ir_op2(b, OP_MUL, at, ir_const_i(b, SC_I64, ir_field_ncomp(field)));
    return ir_op2(b, OP_ADD, at, op->args[field->ndim]);
}

static void make_local(ir_op *op, void *ctx)
{
    const rewriting *r = ctx;
    if ((op->code != OP_LOAD && op->code != OP_STORE && op->code != OP_ACCUM) || ir_field_of(op) != r->field ||
        ptrmap_get(&r->kept.first, op))
        return;
    ir_builder b = {.func = r->f, .region = op->region, .before = op, .loc = op->loc};
    ir_value *at = flat_index(&b, op), *v = op->args[op->nargs - 1];
    if (op->code == OP_LOAD) {
        ir_value *loaded = ir_lload(&b, r->local, at);
        loaded->name = op->res[0]->name;
        loaded->loc = op->res[0]->loc;
        ir_element_attr(loaded->def)->final = ptrmap_get(&r->kept.final, op) != NULL;
        ir_replace_uses(r->f->body, op->res[0], loaded);
        r->local->exact |= loaded->exact;
    } else if (op->code == OP_STORE) {
        ir_lstore(&b, r->local, at, v);
    } else {
        b.exact = ir_access_attr(op)->exact;
        ir_value *old = ir_lload(&b, r->local, at);
        r->local->exact |= old->exact;
        v = ir_op2(&b, OP_ADD, old, v);
        ir_lstore(&b, r->local, at, v);
    }
    ir_remove(op);
}

/* In the function's frame if it is small, else in the workspace. */
static ir_value *local_copy(ir_builder *b, ir_field *field)
{
    char *name = arena_printf(b->func->module->mem, "%s_copy", field->name);
    for (char *dot; (dot = strchr(name, '.'));)
        *dot = '_';
    int64_t n = ir_field_ncomp(field);
    for (int d = 0; d < field->ndim && n; d++)
        n = field->dims[d].param < 0 && field->dims[d].count <= MAX_IN_FRAME / n ? n * field->dims[d].count : 0;
    if (n && n <= MAX_IN_FRAME / scalar_bytes(field->elem))
        return ir_local(b, field->elem, n, name);
    ir_value *count = ir_const_i(b, SC_I64, ir_field_ncomp(field));
    for (int d = 0; d < field->ndim; d++)
        count = ir_op2(b, OP_MUL, count, ir_shape(b, field, d));
    return ir_local_sized(b, field->elem, count, name);
}

static void localise(ir_func *f, ir_field *field)
{
    ir_builder b = {.func = f, .region = f->body, .before = f->body->first, .loc = field->loc};
    rewriting r = {f, field, local_copy(&b, field), kept_loads_of(f, field)};
    r.local->loc = field->loc;
    ir_walk(f->body, make_local, &r);
    ptrmap_free(&r.kept.first);
    ptrmap_free(&r.kept.final);
    if (field->in)
        over_array(f, r.local->def->next, field, r.local, copy_in);
    over_array(f, ir_yield_of(f->body), field, r.local, copy_out);
}

/* Zeros, by a parallel loop of the kernel. */
static void clear_in_task(ir_func *f, ir_field *field)
{
    ir_builder b = {.func = f, .region = f->body, .before = f->body->first, .loc = field->loc};
    ir_value *lo[8], *hi[8], *zero = ir_const_i(&b, SC_I64, 0);
    for (int d = 0; d < field->ndim; d++) {
        lo[d] = zero;
        hi[d] = ir_shape(&b, field, d);
    }
    ir_op *task = ir_task(&b, field->ndim, lo, hi, 0, NULL, NULL);
    ir_builder in = {.func = f, .region = task->regions[0], .loc = field->loc};
    each_component(&in, field, task->regions[0]->params, NULL, NULL, store_zero);
    ir_yield(&in, 0, NULL);
}

static void arrays_of_kernel(ir_func *f)
{
    for (int i = 0; i < f->nsig; i++) {
        ir_field *field = f->sig[i].array;
        if (!field || !field->out || field->in)
            continue;
        array_uses s = array_uses_of(f, field, NULL);
        const bool plain = is_plain(&s);
        field->copied = field->grad && !plain;
        if (!plain || !s.complete)
            clear_in_task(f, field);
        array_uses_free(&s);
    }
}

void pass_arrays(ir_func *f)
{
    drop_clears(f);
    if (!f->pure) {
        arrays_of_kernel(f);
        return;
    }
    bool *plain = ARENA_ARRAY(f->module->mem, bool, f->nsig + 1);
    bool local = false;
    for (int i = 0; i < f->nsig; i++) {
        ir_field *field = f->sig[i].array;
        if (!field || !field->out)
            continue;
        array_uses s = array_uses_of(f, field, NULL);
        plain[i] = is_plain(&s);
        local |= !plain[i];
        if (plain[i] && !s.complete) /* written to by both versions */
            over_array(f, f->body->first, field, NULL, store_zero);
        array_uses_free(&s);
    }
    if (!local)
        return;
    f->ad.with_locals = ir_clone_func(f, f->name);
    f->module->funcs.len--; /* no function of the program */
    for (int i = 0; i < f->nsig; i++) {
        ir_field *field = f->sig[i].array;
        if (!field || !field->out || plain[i])
            continue;
        localise(f->ad.with_locals, field);
        if (!field->in)
            over_array(f, f->body->first, field, NULL, store_zero);
    }
    pass_simplify(f->ad.with_locals);
}
