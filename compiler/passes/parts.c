/* Which parts of fields a launch of a kernel needs to stay for its adjoint, and which it writes: what a tape holds against each other.
 *
 *     kernel step(t: i32) { for i in x { x[t + 1, i] = sin(x[t, i]); } }      needs [t, t] x [0, N - 1] of x, writes [t + 1, t + 1] x [0, N - 1]
 *
 * A part is a box: an interval for each subscript, which comes from the kernel's arguments, params, extents, and bounds of loops. Subscripts that are computed from
 * these alone are one value, whatever the arithmetic (`t % 2`); what depends on data may be anything. A function of its own (ir_func.bounds) yields the
 * ends of all intervals, so that libtk knows before a launch what it is about to do.
 *
 * A part is `all` if the kernel surely touches each component of each of its elements; else these are among what it touches at most.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/passes.h"

enum { MAX_DEPTH = 24, BUDGET = 60000, BUDGET_EACH = 300 /* of a subscript */, MAX_PARTS = 8 /* of a plane, of one kind */, DIMS = 8 };

/* Values of the function `bounds`. index: the loop's index that it runs with; NULL: it is one value, lo and hi alike. */
typedef struct range {
    ir_value *lo, *hi;
    const ir_value *index;
    bool exact; /* each value between lo and hi comes */
    bool wraps; /* the kernel may compute it modulo 2^32: right where it lies in the field, which libtk looks at */
} range;

/* Of the values of one subscript. least: if the last one is not so far behind the first one, they say nothing; 0: no matter. */
typedef struct ends {
    ir_value *at[2];
    int64_t least;
} ends;

typedef struct parts {
    ir_func *kernel;
    ir_module *m;
    ir_builder b; /* in `bounds` */
    int budget, left; /* of this subscript, of all */
    range *known;  /* by value id: of whole subscripts */
    bool *is_known;
    const bool *written, *needed; /* by field: by any kernel of the module, by any adjoint */
    effects own;   /* of this one */
    VEC(ir_part) found;
    VEC(ends) ends; /* of each dimension of each */
} parts;

/* ---- what is known before the launch ---- */

static bool is_fixed_load(const parts *p, const ir_op *op)
{
    const ir_field *f = op->attr.field;
    return op->code == OP_LOAD && op->attr.plane == IR_DATA && f->ndim == 0 && !f->array && ir_component_known(op) &&
           (p->own.at[f->index * 4 + IR_DATA] & (EFFECT_STORE | EFFECT_ACCUM)) == 0;
}

/* v as it is on entry, computed in `bounds`; NULL if it is no integer of arguments, params, extents and single numbers in memory that stay. Floats are left
 * out: they might be rounded in another way than in the kernel. */
static ir_value *entry_value(parts *p, const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if ((!scalar_is_int(v->type) && v->type != SC_BOOL) || depth > MAX_DEPTH || --p->budget < 0)
        return NULL;
    if (!op)
        return v->region == p->kernel->body ? p->b.region->params[v->index] : NULL;
    if (op->code == OP_CONST)
        return ir_const_i(&p->b, v->type, op->attr.i);
    if (op->code == OP_MPARAM)
        return ir_mparam_value(&p->b, op->attr.mparam);
    if (op->code == OP_SHAPE)
        return op->attr.field->array ? NULL : ir_shape(&p->b, op->attr.field, (int)op->attr.i);
    if (is_fixed_load(p, op)) {
        ir_value *comp = ir_const_i(&p->b, SC_I64, op->args[0]->def->attr.i);
        return ir_load(&p->b, op->attr.field, IR_DATA, NULL, comp);
    }
    if (!op_is_pure_table(op->code) || op->nargs > 3 || op->nregions)
        return NULL;
    ir_value *args[3];
    for (int i = 0; i < op->nargs; i++) {
        args[i] = entry_value(p, op->args[i], depth + 1);
        if (!args[i])
            return NULL;
    }
    return op->code == OP_CAST ? ir_cast(&p->b, v->type, args[0]) : ir_insert(&p->b, op->code, op->nargs, args, 1, &v->type, 0)->res[0];
}

static ir_value *wide(parts *p, ir_value *v)
{
    return ir_cast(&p->b, SC_I64, v);
}

static ir_value *number(parts *p, int64_t x)
{
    return ir_const_i(&p->b, SC_I64, x);
}

/* ---- intervals ---- */

static const range unknown;

static range range_of(parts *p, const ir_value *v, int depth);

static range range_of_index(parts *p, const ir_value *v, int depth)
{
    const ir_op *loop = v->region->parent;
    const bool task = loop && loop->code == OP_TASK;
    if (!task && !(loop && loop->code == OP_LOOP && loop->attr.bounded && v->region == loop->regions[0] && v->index == 0))
        return unknown;
    const int dim = task ? v->index : 0;
    if (task && dim >= loop->attr.ndim)
        return unknown;
    const range lo = range_of(p, loop->args[2 * dim], depth + 1), hi = range_of(p, loop->args[2 * dim + 1], depth + 1);
    if (!lo.lo || !hi.hi)
        return unknown;
    return (range){lo.lo, ir_op2(&p->b, OP_SUB, hi.hi, number(p, 1)), v, lo.lo == lo.hi && hi.lo == hi.hi, lo.wraps || hi.wraps};
}

static range sum(parts *p, const ir_op *op, int depth)
{
    const range a = range_of(p, op->args[0], depth + 1), b = range_of(p, op->args[1], depth + 1);
    const bool minus = op->code == OP_SUB;
    if (!a.lo || !b.lo)
        return unknown;
    const bool single = !a.index || !b.index;
    return (range){ir_op2(&p->b, op->code, a.lo, minus ? b.hi : b.lo), ir_op2(&p->b, op->code, a.hi, minus ? b.lo : b.hi), a.index ? a.index : b.index,
                   a.exact && b.exact && single, a.wraps || b.wraps};
}

static range scaled(parts *p, range a, int64_t by, scalar type)
{
    if (!a.lo || (a.index && (by > INT32_MAX || by < INT32_MIN)))
        return unknown;
    ir_value *lo = ir_op2(&p->b, OP_MUL, by < 0 ? a.hi : a.lo, number(p, by)), *hi = ir_op2(&p->b, OP_MUL, by < 0 ? a.lo : a.hi, number(p, by));
    const bool plain = by == 1 || by == -1;
    return (range){lo, hi, a.index, a.exact && plain, a.wraps || (!plain && type != SC_I64)};
}

static range joined(parts *p, ir_opcode low, range a, ir_opcode high, range b)
{
    if (!a.lo || !b.lo || a.wraps || b.wraps)
        return unknown;
    return (range){ir_op2(&p->b, low, a.lo, b.lo), ir_op2(&p->b, high, a.hi, b.hi), a.index ? a.index : b.index, false, false};
}

/* A floored or truncated remainder by a positive number. */
static range remainder_of(parts *p, const ir_op *op)
{
    const ir_value *by = op->args[1];
    if (!ir_is_const(by) || by->def->attr.i <= 0)
        return unknown;
    const int64_t top = by->def->attr.i - 1;
    return (range){number(p, op->code == OP_MOD ? 0 : -top), number(p, top), by, false, false};
}

static range range_of_op(parts *p, const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
        return sum(p, op, depth);
    case OP_NEG:
        return scaled(p, range_of(p, op->args[0], depth + 1), -1, v->type);
    case OP_MUL:
        for (int i = 0; i < 2; i++)
            if (ir_is_const(op->args[i]))
                return scaled(p, range_of(p, op->args[1 - i], depth + 1), op->args[i]->def->attr.i, v->type);
        return unknown;
    case OP_MOD:
    case OP_REM:
        return remainder_of(p, op);
    case OP_MIN:
    case OP_MAX:
        return joined(p, op->code, range_of(p, op->args[0], depth + 1), op->code, range_of(p, op->args[1], depth + 1));
    case OP_SELECT:
        return joined(p, OP_MIN, range_of(p, op->args[1], depth + 1), OP_MAX, range_of(p, op->args[2], depth + 1));
    case OP_IF:
        return joined(p, OP_MIN, range_of(p, ir_yield_of(op->regions[0])->args[v->index], depth + 1), OP_MAX,
                      range_of(p, ir_yield_of(op->regions[1])->args[v->index], depth + 1));
    case OP_CAST: {
        const scalar from = op->args[0]->type;
        if (from != SC_I64 && from != SC_I32)
            return unknown;
        range a = range_of(p, op->args[0], depth + 1);
        a.wraps = a.wraps || (from == SC_I64 && v->type == SC_I32 && !value_fits_i32(op->args[0]));
        return a;
    }
    default:
        return unknown;
    }
}

static range range_of(parts *p, const ir_value *v, int depth)
{
    if (!scalar_is_int(v->type) || depth > MAX_DEPTH || --p->budget < 0)
        return unknown;
    ir_value *one = entry_value(p, v, depth);
    if (one) {
        one = wide(p, one);
        return (range){one, one, NULL, true, false};
    }
    if (!v->def)
        return range_of_index(p, v, depth);
    if (v->type != SC_I64 && v->type != SC_I32)
        return unknown;
    return range_of_op(p, v, depth);
}

/* ---- parts ---- */

static range subscript(parts *p, const ir_value *v)
{
    if (!p->is_known[v->id]) {
        const int budget = p->left < BUDGET_EACH ? p->left : BUDGET_EACH;
        p->budget = budget;
        p->known[v->id] = range_of(p, v, 0);
        p->is_known[v->id] = true;
        p->left -= budget - (p->budget > 0 ? p->budget : 0);
    }
    return p->known[v->id];
}

static range whole_dim(parts *p, ir_field *f, int d)
{
    return (range){number(p, 0), ir_op2(&p->b, OP_SUB, ir_shape(&p->b, f, d), number(p, 1)), NULL, false, false};
}

static bool is_among(const ir_value *const *indices, int n, const ir_value *v)
{
    for (int i = 0; i < n; i++)
        if (indices[i] == v)
            return true;
    return false;
}

/* Whether all iterations of what stands around op come, and each index is one of these subscripts. */
static bool always_runs(const ir_op *op, const ir_value *const *indices, int n)
{
    for (op = op->region->parent; op; op = op->region->parent) {
        const int dims = op->code == OP_TASK ? op->attr.ndim : op->code == OP_LOOP && op->attr.bounded && !op->attr.cond ? 1 : 0;
        if (dims == 0)
            return false;
        for (int d = 0; d < dims; d++)
            if (!is_among(indices, n, op->regions[0]->params[d]))
                return false;
    }
    return true;
}

static void add_part(parts *p, ir_part part, const range *dims)
{
    vec_push(&p->found, part);
    for (int d = 0; d < part.field->ndim; d++)
        vec_push(&p->ends, ((ends){{dims[d].lo, dims[d].hi}, 0}));
}

static void add_whole(parts *p, ir_field *f, ir_plane plane, bool write)
{
    range dims[DIMS];
    for (int d = 0; d < f->ndim; d++)
        dims[d] = whole_dim(p, f, d);
    add_part(p, (ir_part){.field = f, .plane = plane, .write = write, .last = ir_field_ncomp(f) - 1}, dims);
}

static bool is_wanted(const parts *p, const ir_field *f, ir_plane plane, bool write)
{
    if (f->array || (plane != IR_DATA && plane != IR_DUAL) || (plane == IR_DATA && f->saved))
        return false;
    return write ? p->needed[f->index] : plane == IR_DUAL || p->written[f->index];
}

static void add_access(parts *p, const ir_op *op)
{
    ir_field *f = op->attr.field;
    const bool write = op->code != OP_LOAD;
    if (!is_wanted(p, f, op->attr.plane, write))
        return;
    range dims[DIMS];
    const ir_value *indices[DIMS];
    int n = 0;
    bool all = op->code != OP_ATOMIC && ir_component_known(op);
    for (int d = 0; d < f->ndim; d++) {
        dims[d] = subscript(p, op->args[d]);
        if (!dims[d].lo)
            dims[d] = whole_dim(p, f, d);
        all = all && dims[d].exact && !is_among(indices, n, dims[d].index);
        if (dims[d].index)
            indices[n++] = dims[d].index;
    }
    all = all && always_runs(op, indices, n);
    const bool known = ir_component_known(op);
    const int comp = known ? (int)op->args[f->ndim]->def->attr.i : 0, last = ir_field_ncomp(f) - 1;
    if (known && comp > last)
        return; /* fails, or never runs */
    add_part(p, (ir_part){.field = f, .plane = op->attr.plane, .write = write, .all = all, .first = comp, .last = known ? comp : last}, dims);
}

/* ---- what is there ---- */

static void add_effects(parts *p, const effects *e, bool writes)
{
    for (size_t i = 0; i < p->m->nfields; i++)
        for (int plane = IR_DATA; plane <= IR_DUAL; plane += IR_DUAL - IR_DATA) {
            const unsigned bits = e->at[i * 4 + (size_t)plane] & (writes ? EFFECT_STORE | EFFECT_ACCUM : EFFECT_READ);
            if (bits && is_wanted(p, p->m->fields.at[i], (ir_plane)plane, writes))
                add_whole(p, p->m->fields.at[i], (ir_plane)plane, writes);
        }
}

static void add_call(parts *p, const ir_op *op, bool writes)
{
    effects e = effects_of_op(p->m, op);
    add_effects(p, &e, writes);
    effects_free(&e);
}

static void find_write(ir_op *op, void *ctx)
{
    if (op->code == OP_STORE || op->code == OP_ACCUM || op->code == OP_ATOMIC)
        add_access(ctx, op);
    else if (op->code == OP_CALL || op->code == OP_ADJOINT)
        add_call(ctx, op, true);
}

static const ir_op *primal_of(const parts *p, const ir_op *op)
{
    while (op && op->origin)
        op = op->origin;
    return op && op->region->func == p->kernel && op->code == OP_LOAD ? op : NULL;
}

/* A load that is left in the adjoint is of what a load of the primal read, or of anything. */
static void find_need(ir_op *op, void *ctx)
{
    parts *p = ctx;
    if (op->code == OP_CALL || op->code == OP_ADJOINT) {
        add_call(p, op, false);
        return;
    }
    if (op->code != OP_LOAD || !is_wanted(p, op->attr.field, op->attr.plane, false))
        return;
    for (const ir_op *at = op; at; at = at->twin) {
        const ir_op *primal = primal_of(p, at);
        if (primal && primal->attr.field == op->attr.field && primal->attr.plane == op->attr.plane)
            add_access(p, primal);
        else
            add_whole(p, op->attr.field, op->attr.plane, false);
    }
}

/* The second-order product reads what the adjoint reads, and its duals, which libtk takes for granted. */
static void find_needs_of_product(parts *p)
{
    effects e = effects_of_region(p->m, p->kernel->hvp->body);
    for (size_t k = 0; k < p->found.len; k++)
        for (int plane = IR_DATA; plane <= IR_DUAL && !p->found.at[k].write; plane++)
            e.at[(size_t)p->found.at[k].field->index * 4 + (size_t)plane] = 0;
    add_effects(p, &e, false);
    effects_free(&e);
}

static void find_parts(parts *p)
{
    const ir_func *k = p->kernel;
    ir_walk(k->body, find_write, p);
    if (!k->grad || k->custom_grad)
        return;
    ir_walk(k->grad->body, find_need, p);
    if (k->hvp)
        find_needs_of_product(p);
}

/* ---- fewer of them ---- */

static bool is_same_plane(const ir_part *a, const ir_part *b)
{
    return a->field == b->field && a->plane == b->plane && a->write == b->write;
}

/* b as a part of a: the same elements, components that lie side by side. */
static bool take_in(ir_part *a, const ir_part *b, ends *of_a, const ends *of_b)
{
    if (!is_same_plane(a, b))
        return false;
    for (int d = 0; d < a->field->ndim; d++)
        if (of_a[d].at[0] != of_b[d].at[0] || of_a[d].at[1] != of_b[d].at[1] || of_a[d].least != of_b[d].least)
            return false;
    const bool within = b->first >= a->first && b->last <= a->last;
    if (within && (a->all || !b->all))
        return true;
    if (a->all != b->all || b->first > a->last + 1 || a->first > b->last + 1)
        return false;
    a->first = a->first < b->first ? a->first : b->first;
    a->last = a->last > b->last ? a->last : b->last;
    return true;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Both are intervals of loops; the ends of b are those of a, shifted by constants. */
static bool is_shifted(ir_value *const *a, ir_value *const *b, int64_t by[2])
{
    enum { FAR = 16 };
    for (int k = 0; k < 2; k++) {
        const affine x = affine_of(a[k]), y = affine_of(b[k]), difference = affine_sub(&y, &x);
        by[k] = difference.konst;
        if (!difference.ok || difference.n != 0 || by[k] < -FAR || by[k] > FAR)
            return false;
    }
    return a[0] != a[1] && b[0] != b[1];
}

/* A stencil reads neighbours: b becomes a part of a, if it lies beside it, or over it, in one dimension. Together they are a box if the loop has trips enough: `least` is
 * how long the interval must be, or the launch knows nothing of it. */
static bool join(ir_part *a, const ir_part *b, ends *of_a, const ends *of_b)
{
    int at = -1;
    if (!is_same_plane(a, b)) /* b may have fewer subscripts */
        return false;
    for (int d = 0; d < a->field->ndim; d++) {
        if (of_a[d].at[0] == of_b[d].at[0] && of_a[d].at[1] == of_b[d].at[1])
            continue;
        if (at >= 0)
            return false;
        at = d;
    }
    int64_t by[2];
    if (at < 0 || a->all != b->all || a->first != b->first || a->last != b->last || !is_shifted(of_a[at].at, of_b[at].at, by))
        return false;
    ends *x = &of_a[at];
    const ends *y = &of_b[at];
    const int64_t more_a = most(by[1], 0) + most(-by[0], 0), more_b = more_a - (by[1] - by[0]); /* that both together are longer */
    int64_t least = most(more_a, more_b);                                    /* neither is empty */
    least = most(least, more_a + most(by[0], -by[1]) - 1);                   /* they meet */
    if (x->least > 0)
        least = most(least, x->least + more_a);
    if (y->least > 0)
        least = most(least, y->least + more_b);
    x->least = a->all ? least : 0;
    x->at[0] = by[0] < 0 ? y->at[0] : x->at[0];
    x->at[1] = by[1] > 0 ? y->at[1] : x->at[1];
    for (int d = 0; d < a->field->ndim; d++)
        of_a[d].least = most(of_a[d].least, d == at ? 0 : of_b[d].least);
    return true;
}

/* The smallest box around both. */
static void surround(parts *p, ir_part *a, const ir_part *b, ends *of_a, const ends *of_b)
{
    for (int d = 0; d < a->field->ndim; d++) {
        of_a[d].at[0] = ir_op2(&p->b, OP_MIN, of_a[d].at[0], of_b[d].at[0]);
        of_a[d].at[1] = ir_op2(&p->b, OP_MAX, of_a[d].at[1], of_b[d].at[1]);
        of_a[d].least = 0;
    }
    a->first = a->first < b->first ? a->first : b->first;
    a->last = a->last > b->last ? a->last : b->last;
    a->all = false;
}

/* True if there are fewer now. crowded: what is too many becomes one. */
static bool merge(parts *p, bool crowded)
{
    size_t n = 0, end = 0; /* that stay */
    if (!p->ends.at) { /* of 0-D fields alone there are no ends: but there is an array of them */
        vec_push(&p->ends, ((ends){0}));
        p->ends.len = 0;
    }
    const size_t before = p->found.len;
    for (size_t k = 0, from = 0; k < before; from += (size_t)p->found.at[k].field->ndim, k++) {
        const ir_part part = p->found.at[k];
        const ends *own = p->ends.at + from;
        size_t at = 0, last = 0;
        int alike = 0;
        bool taken = false;
        ir_part *most_recent = NULL;
        for (size_t j = 0; j < n && !taken; at += (size_t)p->found.at[j].field->ndim, j++) {
            ir_part *other = &p->found.at[j];
            taken = take_in(other, &part, p->ends.at + at, own) || join(other, &part, p->ends.at + at, own);
            if (!is_same_plane(other, &part))
                continue;
            alike++;
            most_recent = other;
            last = at;
        }
        if (taken)
            continue;
        if (crowded && alike >= MAX_PARTS) {
            surround(p, most_recent, &part, p->ends.at + last, own);
            continue;
        }
        for (int d = 0; d < part.field->ndim; d++)
            p->ends.at[end++] = own[d];
        p->found.at[n++] = part;
    }
    p->found.len = n;
    p->ends.len = end;
    return n < before;
}

/* Yields the two ends of each, and behind those of a part its components. */
static void yield_ends(parts *p)
{
    ir_func *f = p->b.func;
    const size_t n = 2 * (p->ends.len + p->found.len);
    ir_value **both = ARENA_ARRAY(p->m->mem, ir_value *, n + 1);
    size_t to = 0, from = 0;
    for (size_t k = 0; k < p->found.len; k++) {
        for (int d = 0; d < p->found.at[k].field->ndim; d++, from++) {
            both[to++] = p->ends.at[from].at[0];
            both[to++] = p->ends.at[from].at[1];
        }
        both[to++] = number(p, p->found.at[k].first);
        both[to++] = number(p, p->found.at[k].last);
    }
    f->nresults = (int)n;
    f->results = ARENA_ARRAY(p->m->mem, scalar, n + 1);
    for (size_t i = 0; i < n; i++)
        f->results[i] = SC_I64;
    ir_yield(&p->b, (int)n, both);
    pass_simplify(f);
}

/* Equal ends are one value once the function is simple. */
static void make_simple(parts *p)
{
    yield_ends(p);
    ir_op *yield = ir_yield_of(p->b.region);
    size_t to = 0, from = 0;
    for (size_t k = 0; k < p->found.len; k++, from += 2)
        for (int d = 0; d < p->found.at[k].field->ndim; d++, to++, from += 2) {
            p->ends.at[to].at[0] = yield->args[from];
            p->ends.at[to].at[1] = yield->args[from + 1];
        }
    ir_remove(yield);
}

static void simplify(parts *p)
{
    make_simple(p);
    while (merge(p, false))
        ;
    merge(p, true);
    for (size_t i = 0; i < p->ends.len; i++) {
        ends *e = &p->ends.at[i];
        if (e->least <= 0)
            continue;
        ir_value *length = ir_op2(&p->b, OP_SUB, e->at[1], e->at[0]), *cond = ir_op2(&p->b, OP_GE, length, number(p, e->least)), *none = number(p, -1);
        e->at[0] = ir_op3(&p->b, OP_SELECT, cond, e->at[0], none);
    }
    yield_ends(p);
}

static ir_func *bounds_of(const ir_func *f)
{
    ir_module *m = f->module;
    ir_func *w = ir_func_create(m, IR_KERNEL, f->name);
    m->funcs.len--; /* no function of the program */
    w->loc = f->loc;
    w->primal = (ir_func *)f;
    for (int i = 0; i < f->body->nparams; i++)
        ir_region_param(w->body, f->body->params[i]->type, f->body->params[i]->name);
    return w;
}

static void find_in_kernel(ir_func *f, const bool *written, const bool *needed)
{
    parts p = {.kernel = f, .m = f->module, .left = BUDGET, .written = written, .needed = needed, .own = effects_of_region(f->module, f->body)};
    ir_func *bounds = bounds_of(f);
    p.known = ARENA_ARRAY(p.m->mem, range, f->next_value + 1);
    p.is_known = ARENA_ARRAY(p.m->mem, bool, f->next_value + 1);
    p.b = (ir_builder){.func = bounds, .region = bounds->body, .loc = f->loc};
    find_parts(&p);
    if (p.found.len) {
        simplify(&p);
        f->bounds = bounds;
        f->nparts = (int)p.found.len;
        f->parts = ARENA_ARRAY(f->module->mem, ir_part, p.found.len);
        memcpy(f->parts, p.found.at, p.found.len * sizeof *f->parts);
    }
    vec_free(&p.found);
    vec_free(&p.ends);
    effects_free(&p.own);
}

/* Marks the fields whose data, or duals, a function treats so. */
static void mark(const ir_module *m, const ir_func *f, unsigned bits, bool duals, bool *fields)
{
    effects e = f ? effects_of_region(m, f->body) : (effects){NULL, false, false};
    for (size_t i = 0; i < m->nfields && f; i++)
        fields[i] = fields[i] || (e.at[i * 4 + IR_DATA] & bits) || (duals && (e.at[i * 4 + IR_DUAL] & bits));
    effects_free(&e);
}

bool pass_parts(ir_module *m)
{
    bool *written = ARENA_ARRAY(m->mem, bool, m->fields.len + 1), *needed = ARENA_ARRAY(m->mem, bool, m->fields.len + 1);
    for (size_t i = 0; i < m->funcs.len; i++) {
        const ir_func *f = m->funcs.at[i];
        if (!ir_is_kernel(f))
            continue;
        mark(m, f, EFFECT_STORE | EFFECT_ACCUM, false, written);
        if (!f->custom_grad)
            mark(m, f->grad, EFFECT_READ, true, needed);
        mark(m, f->hvp, EFFECT_READ, true, needed);
    }
    for (size_t i = 0; i < m->funcs.len; i++)
        if (ir_is_kernel(m->funcs.at[i]))
            find_in_kernel(m->funcs.at[i], written, needed);
    return true;
}
