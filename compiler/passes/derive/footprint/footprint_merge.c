/* Fewer parts: what is there twice, components of the same elements, neighbours that a stencil reads are one part; so
 * is what is too many. */
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"
#include "passes/derive/footprint/footprint.h"
#include "passes/simplify/simplify.h"

enum { MAX_PARTS = 8 /* of a plane, of one kind */ };

enum {
    NEEDS = IR_PART_NEEDED | IR_PART_NEEDED_BY_PRODUCT,
    HOW = IR_PART_CUSTOM | IR_PART_PERHAPS /* it is needed */
};

/* Parts of one kind may become one part. */
static unsigned kind_of(const ir_part *p)
{
    return p->what & NEEDS ? p->what & (NEEDS | HOW) : p->what & (IR_PART_WRITES | IR_PART_SAVED) ? IR_PART_WRITES : 0;
}

static bool is_all(const ir_part *p)
{
    return (p->what & IR_PART_ALL) != 0;
}

static bool is_same_plane(const ir_part *a, const ir_part *b)
{
    return a->field == b->field && a->plane == b->plane && kind_of(a) == kind_of(b);
}

/* Whether stores replace all of it, whatever is added to it before or behind. */
static bool replaces(const ir_part *p)
{
    return is_all(p) && ((p->what & IR_PART_WRITES) == IR_PART_STORES || (p->what & IR_PART_REPLACES));
}

/* The flags of b, which is a part of a from here on. all_new: stores replace all of both. */
static void take_flags(ir_part *a, const ir_part *b, bool all_new)
{
    a->what |= b->what & ~(unsigned)IR_PART_ALL;
    a->what &= ~(unsigned)IR_PART_REPLACES;
    if (all_new && (a->what & IR_PART_ACCUMULATES))
        a->what |= IR_PART_REPLACES;
}

/* Whether the end is the same for all launches: *n. */
static bool is_known(const ir_module *m, const ir_value *end, int64_t *n)
{
    const affine a = affine_of(end);
    const ir_value *term = a.ok && a.n == 1 ? resolved_value(m, a.term[0]) : NULL;
    *n = a.konst;
    if (!term || !ir_is_const(term))
        return a.ok && a.n == 0;
    *n += a.coef[0] * ir_int(term);
    return true;
}

static bool is_same_end(const ir_module *m, const ir_value *a, const ir_value *b)
{
    int64_t x, y;
    return a == b || (is_known(m, a, &x) && is_known(m, b, &y) && x == y);
}

static bool are_same_ends(const ir_module *m, const ends *a, const ends *b)
{
    return is_same_end(m, a->at[0], b->at[0]) && is_same_end(m, a->at[1], b->at[1]);
}

/* b as a part of a: the same elements, components that lie side by side. */
static bool take_in(const ir_module *m, ir_part *a, const ir_part *b, ends *of_a, const ends *of_b)
{
    if (!is_same_plane(a, b))
        return false;
    for (int d = 0; d < a->field->ndim; d++)
        if (!are_same_ends(m, &of_a[d], &of_b[d]) || of_a[d].least != of_b[d].least)
            return false;
    const bool within = b->first >= a->first && b->last <= a->last;
    if (within && (is_all(a) || !is_all(b))) {
        take_flags(a, b, replaces(a) || (replaces(b) && b->first == a->first && b->last == a->last));
        return true;
    }
    if (is_all(a) != is_all(b) || b->first > a->last + 1 || a->first > b->last + 1)
        return false;
    a->first = a->first < b->first ? a->first : b->first;
    a->last = a->last > b->last ? a->last : b->last;
    take_flags(a, b, replaces(a) && replaces(b));
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
    if (a[0] == a[1] || b[0] == b[1])
        return false;
    for (int k = 0; k < 2; k++) {
        const affine x = affine_of(a[k]), y = affine_of(b[k]), difference = affine_sub(&y, &x);
        by[k] = difference.konst;
        if (!difference.ok || difference.n != 0 || by[k] < -FAR || by[k] > FAR)
            return false;
    }
    return true;
}

/* A stencil reads neighbours: b becomes a part of a, if it lies beside it, or over it, in one dimension. Together they
 * are a box if the loop has trips enough: `least` is how long the interval must be, or the launch knows nothing of it.
 */
static bool join(const ir_module *m, ir_part *a, const ir_part *b, ends *of_a, const ends *of_b)
{
    int at = -1;
    if (!is_same_plane(a, b)) /* b may have fewer subscripts */
        return false;
    for (int d = 0; d < a->field->ndim; d++) {
        if (are_same_ends(m, &of_a[d], &of_b[d]))
            continue;
        if (at >= 0)
            return false;
        at = d;
    }
    int64_t by[2];
    if (at < 0 || is_all(a) != is_all(b) || a->first != b->first || a->last != b->last ||
        !is_shifted(of_a[at].at, of_b[at].at, by))
        return false;
    ends *x = &of_a[at];
    const ends *y = &of_b[at];
    const int64_t more_a = most(by[1], 0) + most(-by[0], 0),
                  more_b = more_a - (by[1] - by[0]);       /* that both together are longer */
    int64_t least = most(more_a, more_b);                  /* neither is empty */
    least = most(least, more_a + most(by[0], -by[1]) - 1); /* they meet */
    if (x->least > 0)
        least = most(least, x->least + more_a);
    if (y->least > 0)
        least = most(least, y->least + more_b);
    x->least = is_all(a) ? least : 0;
    x->at[0] = by[0] < 0 ? y->at[0] : x->at[0];
    x->at[1] = by[1] > 0 ? y->at[1] : x->at[1];
    for (int d = 0; d < a->field->ndim; d++)
        of_a[d].least = most(of_a[d].least, d == at ? 0 : of_b[d].least);
    take_flags(a, b, replaces(a) && replaces(b));
    return true;
}

static bool is_whole(const ir_part *p, const ends *e)
{
    for (int d = 0; d < p->field->ndim; d++) {
        const affine last = affine_of(e[d].at[1]);
        const ir_op *extent = last.ok && last.n == 1 && last.coef[0] == 1 && last.konst == -1 ? last.term[0]->def
                                                                                              : NULL;
        if (!ir_is_const(e[d].at[0]) || ir_int(e[d].at[0]) != 0 || !extent || extent->code != OP_SHAPE ||
            ir_field_of(extent) != p->field || ir_shape_attr(extent)->dim != d)
            return false;
    }
    return true;
}

/* The box of `all` where a launch finds that it contains `other`, which is the whole field; else the launch knows
 * nothing of it. */
static bool contain(footprint *p, const ir_part *all, const ir_part *other, const ends *of_all, const ends *whole,
                    ends *to)
{
    if (!is_all(all) || is_all(other) || !is_whole(other, whole) || other->first < all->first ||
        other->last > all->last)
        return false;
    for (int d = 0; d < all->field->ndim; d++)
        if (of_all[d].least > 0)
            return false;
    for (int d = 0; d < all->field->ndim; d++) {
        ir_value *from = ir_op2(&p->b, OP_LE, of_all[d].at[0], whole[d].at[0]),
                 *until = ir_op2(&p->b, OP_GE, of_all[d].at[1], whole[d].at[1]),
                 *contains = ir_op2(&p->b, OP_AND, from, until), *none = ir_const_i(&p->b, SC_I64, -1);
        to[d] = (ends){{ir_op3(&p->b, OP_SELECT, contains, whole[d].at[0], none), whole[d].at[1]}, 0};
    }
    return true;
}

/* The smallest box around both. */
static void surround(footprint *p, ir_part *a, const ir_part *b, ends *of_a, const ends *of_b)
{
    const bool all_new = replaces(a) || replaces(b);
    if (contain(p, a, b, of_a, of_b, of_a) || contain(p, b, a, of_b, of_a, of_a)) {
        a->first = a->first < b->first ? a->first : b->first;
        a->last = a->last > b->last ? a->last : b->last;
        take_flags(a, b, all_new);
        a->what |= IR_PART_ALL;
        return;
    }
    for (int d = 0; d < a->field->ndim; d++) {
        of_a[d].at[0] = ir_op2(&p->b, OP_MIN, of_a[d].at[0], of_b[d].at[0]);
        of_a[d].at[1] = ir_op2(&p->b, OP_MAX, of_a[d].at[1], of_b[d].at[1]);
        of_a[d].least = 0;
    }
    a->first = a->first < b->first ? a->first : b->first;
    a->last = a->last > b->last ? a->last : b->last;
    take_flags(a, b, false);
    a->what &= ~(unsigned)IR_PART_ALL;
}

/* No element, whatever the arguments. */
static bool is_empty(const ir_part *p, const ends *e)
{
    for (int d = 0; d < p->field->ndim; d++)
        if (ir_is_const(e[d].at[0]) && ir_is_const(e[d].at[1]) && ir_int(e[d].at[0]) > ir_int(e[d].at[1]))
            return true;
    return false;
}

/* True if there are fewer now. crowded: what is too many becomes one; of what a launch may overwrite of a saved field a
 * tape keeps one box. */
static bool merge(footprint *p, bool crowded)
{
    size_t n = 0, end = 0; /* that stay */
    if (!p->ends.at) {     /* of 0-D fields alone there are no ends: but there is an array of them */
        vec_push(&p->ends, ((ends){0}));
        p->ends.len = 0;
    }
    const size_t before = p->found.len;
    for (size_t k = 0, from = 0; k < before; from += (size_t)p->found.at[k].field->ndim, k++) {
        const ir_part part = p->found.at[k];
        const ends *own = p->ends.at + from;
        size_t at = 0, last = 0;
        int alike = 0;
        bool taken = is_empty(&part, own);
        ir_part *most_recent = NULL;
        for (size_t j = 0; j < n && !taken; at += (size_t)p->found.at[j].field->ndim, j++) {
            ir_part *other = &p->found.at[j];
            taken = take_in(p->m, other, &part, p->ends.at + at, own) || join(p->m, other, &part, p->ends.at + at, own);
            if (!is_same_plane(other, &part))
                continue;
            alike++;
            most_recent = other;
            last = at;
        }
        if (taken)
            continue;
        if (crowded && alike >= (part.what & IR_PART_SAVED ? 1 : MAX_PARTS)) {
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

/* ---- parts of several kinds ---- */

static bool is_same_box(const ir_module *m, const ir_part *a, const ir_part *b, const ends *of_a, const ends *of_b)
{
    bool same = a->field == b->field && a->plane == b->plane && a->first == b->first && a->last == b->last;
    for (int d = 0; same && d < a->field->ndim; d++)
        same = are_same_ends(m, &of_a[d], &of_b[d]) && of_a[d].least == of_b[d].least;
    return same;
}

/* A box that is touched in several ways is one part, but where it is needed in two ways. */
static void unite(footprint *p)
{
    size_t n = 0, end = 0;
    for (size_t k = 0, from = 0; k < p->found.len; from += (size_t)p->found.at[k].field->ndim, k++) {
        const ir_part part = p->found.at[k];
        bool taken = false;
        for (size_t j = 0, at = 0; j < n && !taken; at += (size_t)p->found.at[j].field->ndim, j++) {
            ir_part *other = &p->found.at[j];
            taken = is_all(other) == is_all(&part) && !((other->what & NEEDS) && (part.what & NEEDS)) &&
                    is_same_box(p->m, other, &part, p->ends.at + at, p->ends.at + from);
            if (taken)
                take_flags(other, &part, replaces(other) || replaces(&part));
        }
        if (taken)
            continue;
        for (int d = 0; d < part.field->ndim; d++)
            p->ends.at[end++] = p->ends.at[from + (size_t)d];
        p->found.at[n++] = part;
    }
    p->found.len = n;
    p->ends.len = end;
}

/* Yields the two ends of each, and behind those of a part its components. */
static void yield_ends(footprint *p)
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
        both[to++] = ir_const_i(&p->b, SC_I64, p->found.at[k].first);
        both[to++] = ir_const_i(&p->b, SC_I64, p->found.at[k].last);
    }
    f->nresults = (int)n;
    f->results = ARENA_ARRAY(p->m->mem, scalar, n + 1);
    for (size_t i = 0; i < n; i++)
        f->results[i] = SC_I64;
    ir_yield(&p->b, (int)n, both);
    pass_simplify(f);
}

/* Equal ends are one value once the function is simple. */
static void make_simple(footprint *p)
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

void footprint_simplify(footprint *p)
{
    make_simple(p);
    while (merge(p, false))
        ;
    merge(p, true);
    unite(p);
    for (size_t i = 0; i < p->ends.len; i++) {
        ends *e = &p->ends.at[i];
        if (e->least <= 0)
            continue;
        ir_value *length = ir_op2(&p->b, OP_SUB, e->at[1], e->at[0]),
                 *cond = ir_op2(&p->b, OP_GE, length, ir_const_i(&p->b, SC_I64, e->least)),
                 *none = ir_const_i(&p->b, SC_I64, -1);
        e->at[0] = ir_op3(&p->b, OP_SELECT, cond, e->at[0], none);
    }
    yield_ends(p);
}
