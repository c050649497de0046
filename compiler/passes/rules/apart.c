/* Subscripts that differ, by the ranges of the loops.
 *
 * The write comes behind the read in one of these cases: in the same iteration of all loops around both, or in a later
 * one of one of them, the loops outside of that being in the same iteration. In each case there must be a dimension in
 * which the difference of the subscripts is never zero: all of it but a constant is a multiple of some number, or its
 * greatest value lies below zero, or its least one above. For these, indices are replaced by the ends of their ranges,
 * inner ones first, because ends of inner ranges may be made of outer indices.
 */
#include "passes/rules/apart.h"

#include <stdlib.h>

#include "ir/ops.h"
#include "passes/analysis/values.h"

/* TERMS: of a difference. STEPS: replacements in one of them, with all ways that minima and maxima offer. */
enum { TERMS = 20, STEPS = 200 };

/* Larger numbers are not compared, so that sums cannot overflow. */
#define KONST_MAX (INT64_C(1) << 40)

typedef enum side { READ, WRITE, SHARED } side;

typedef struct term {
    const ir_value *v;
    side of; /* SHARED: one number for both */
    int64_t coef;
} term;

/* later * (how many iterations the write of the case comes behind the read) is a part of it. */
typedef struct form {
    term at[TERMS];
    int n;
    int64_t konst, later;
    bool ok;
} form;

/* One order of the two. */
typedef struct order {
    const ir_module *m;
    const access *sides[2];
    int same;          /* loops around both, outermost first, that are in the same iteration */
    const ir_op *next; /* the one behind, of which the write has a later iteration; NULL: there is none */
    const overlap *o;
    int steps;
} order;

/* The step of o.a in which the loops end that are in the same iteration. */
static int common_steps(const order *x)
{
    if (!x->next)
        return x->o->ncommon;
    int i = 0;
    while (x->o->a.at[i].op != x->next)
        i++;
    return i;
}

/* Whether v is one number for read and write. */
static bool is_shared(const order *x, const ir_value *v)
{
    for (int s = 0; s < 2; s++)
        for (int i = common_steps(x); i < x->sides[s]->way.n; i++) {
            const ir_op *op = x->sides[s]->way.at[i].op;
            if (op->code != OP_IF && value_depends_on(v, op))
                return false;
            if (op->code == OP_IF && i >= x->o->ncommon && value_depends_on(v, op))
                return false;
        }
    return true;
}

static bool is_small(int64_t x)
{
    return x <= KONST_MAX && x >= -KONST_MAX;
}

static void add_affine(const order *x, form *f, const affine *a, int64_t coef, side of);

static void add_term(const order *x, form *f, const ir_value *v, int64_t coef, side of)
{
    v = resolved_value(x->m, v);
    const affine inner = affine_of(v);
    if (inner.ok && !(inner.n == 1 && inner.term[0] == v)) { /* an extent, as it was computed */
        add_affine(x, f, &inner, coef, of);
        return;
    }
    if (of != SHARED && is_shared(x, v))
        of = SHARED;
    for (int i = 0; i < f->n; i++) {
        term *t = &f->at[i];
        if (t->of != of || !(of == SHARED ? same_value(x->m, t->v, v) : t->v == v))
            continue;
        t->coef += coef;
        f->ok &= is_small(t->coef);
        if (t->coef == 0)
            *t = f->at[--f->n];
        return;
    }
    f->ok &= f->n < TERMS && is_small(coef);
    if (f->ok)
        f->at[f->n++] = (term){v, of, coef};
}

static void add_affine(const order *x, form *f, const affine *a, int64_t coef, side of)
{
    f->ok &= a->ok && is_small(coef) && is_small(a->konst) && (coef == 0 || is_small(a->konst * coef));
    for (int i = 0; i < a->n && f->ok; i++) {
        f->ok &= is_small(a->coef[i]) && llabs(a->coef[i]) <= KONST_MAX / (llabs(coef) + 1);
        if (f->ok)
            add_term(x, f, a->term[i], a->coef[i] * coef, of);
    }
    if (f->ok)
        f->konst += a->konst * coef;
    f->ok &= is_small(f->konst);
}

/* ---- the ends of ranges ---- */

/* The bounded loop or task whose index v is, or NULL. */
static const ir_op *loop_of(const ir_value *v, int *dim)
{
    const ir_op *op = v->def ? NULL : v->region->parent;
    *dim = op ? v->index : 0;
    if (op && op->code == OP_TASK && v->index < ir_task_attr(op)->ndim)
        return op;
    const bool index = op && op->code == OP_LOOP && ir_loop_attr(op)->bounded && op->regions[0] == v->region;
    return index && v->index == 0 ? op : NULL;
}

static int depth_of(const ir_value *v)
{
    int n = 0;
    for (const ir_region *r = v->region; r->parent; r = r->parent->region)
        n++;
    return n;
}

static bool is_below_zero(order *x, form f);

/* f with v, a term of it, replaced by e + konst. */
static bool below_with(order *x, const form *f, int k, const ir_value *e, int64_t konst)
{
    form g = *f;
    const term t = g.at[k];
    g.at[k] = g.at[--g.n];
    const affine a = affine_of(e);
    add_affine(x, &g, &a, t.coef, t.of);
    g.ok &= llabs(t.coef) <= KONST_MAX / 8;
    g.konst += g.ok ? konst * t.coef : 0;
    return g.ok && is_below_zero(x, g);
}

/* Of the loop whose iterations differ: the read's index, the write's being as many behind it as f.later says. */
static bool below_later(order *x, const form *f, const ir_op *loop)
{
    form g = *f;
    if (g.later > 0) { /* as many as there are: the write has the last one */
        const affine hi = affine_of(loop->args[1]);
        add_affine(x, &g, &hi, g.later, SHARED);
        g.konst -= g.later;
        add_term(x, &g, loop->regions[0]->params[0], -g.later, READ);
    } else {
        g.konst += g.later;
    }
    g.later = 0;
    if (!g.ok)
        return false;
    for (int i = 0; i < g.n; i++)
        if (g.at[i].v == loop->regions[0]->params[0] && g.at[i].of == READ)
            return g.at[i].coef > 0 ? below_with(x, &g, i, loop->args[1], -2) : below_with(x, &g, i, loop->args[0], 0);
    return is_below_zero(x, g);
}

/* Values that are no indices: of minima, maxima and remainders something is known. */
static bool below_value(order *x, const form *f, int k)
{
    const term t = f->at[k];
    const ir_op *op = t.v->def;
    const bool most = t.coef > 0;
    int64_t n;
    if (!op || !scalar_is_int(t.v->type))
        return false;
    if (op->code == (most ? OP_MIN : OP_MAX))
        return below_with(x, f, k, op->args[0], 0) || below_with(x, f, k, op->args[1], 0);
    if (op->code == (most ? OP_MAX : OP_MIN))
        return below_with(x, f, k, op->args[0], 0) && below_with(x, f, k, op->args[1], 0);
    if (op->code == OP_SELECT)
        return below_with(x, f, k, op->args[1], 0) && below_with(x, f, k, op->args[2], 0);
    if (op->code == OP_MOD && const_value_of(x->m, op->args[1], &n) && n > 0 && is_small(n)) {
        form g = *f;
        g.at[k] = g.at[--g.n];
        g.ok &= llabs(t.coef) <= KONST_MAX / n;
        g.konst += most && g.ok ? t.coef * (n - 1) : 0;
        return g.ok && is_below_zero(x, g);
    }
    return false;
}

/* Whether f is below zero whatever its indices are. */
static bool is_below_zero(order *x, form f)
{
    if (!f.ok || ++x->steps > STEPS)
        return false;
    int inner = -1, depth = -1, dim;
    for (int i = 0; i < f.n; i++) {
        const bool stays = f.at[i].of == SHARED && !loop_of(f.at[i].v, &dim);
        const int d = stays ? -1 : depth_of(f.at[i].v);
        if (d > depth) {
            inner = i;
            depth = d;
        }
    }
    const int next = x->next ? depth_of(x->next->regions[0]->params[0]) : -1;
    if (f.later != 0 && depth <= next)
        return below_later(x, &f, x->next);
    if (inner < 0)
        for (int i = 0; i < f.n; i++) { /* what both have: an extent is no less than zero */
            const ir_value *v = f.at[i].v;
            const bool extent = v->def && (v->def->code == OP_SHAPE ||
                                           (v->def->code == OP_MPARAM && ir_mparam_attr(v->def)->param->sizes));
            if (!(extent && f.at[i].coef < 0))
                return false;
        }
    if (inner < 0)
        return f.konst < 0;
    const ir_op *loop = loop_of(f.at[inner].v, &dim);
    if (!loop)
        return below_value(x, &f, inner);
    return f.at[inner].coef > 0 ? below_with(x, &f, inner, loop->args[2 * dim + 1], -1)
                                : below_with(x, &f, inner, loop->args[2 * dim], 0);
}

static form negative(const form *f)
{
    form g = *f;
    for (int i = 0; i < g.n; i++)
        g.at[i].coef = -g.at[i].coef;
    g.konst = -g.konst;
    g.later = -g.later;
    return g;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t r = a % b;
        a = b;
        b = r;
    }
    return llabs(a);
}

static bool is_never_zero(order *x, const form *f)
{
    int64_t step = llabs(f->later);
    for (int i = 0; i < f->n; i++)
        step = gcd(step, f->at[i].coef);
    if (step == 0 ? f->konst != 0 : f->konst % step != 0)
        return true;
    x->steps = 0;
    if (is_below_zero(x, *f))
        return true;
    x->steps = 0;
    return is_below_zero(x, negative(f));
}

/* The index of the loop in which the write is later: its term of the write as the read's, and so many more. */
static void shift(form *f, const order *x)
{
    const ir_value *index = ir_loop_attr(x->next)->bounded ? x->next->regions[0]->params[0] : NULL;
    for (int i = 0; i < f->n && index; i++) {
        if (f->at[i].v != index || f->at[i].of != WRITE)
            continue;
        const int64_t coef = f->at[i].coef;
        f->at[i] = f->at[--f->n];
        f->later = coef;
        add_term(x, f, index, coef, READ);
        return;
    }
}

static bool differ(order *x, const access *read, const access *write)
{
    for (int k = 0; k < read->nsub && k < write->nsub; k++) {
        form f = {.ok = read->sub[k].ok && write->sub[k].ok};
        if (!f.ok)
            continue;
        add_affine(x, &f, &read->sub[k], 1, READ);
        add_affine(x, &f, &write->sub[k], -1, WRITE);
        if (x->next && f.ok)
            shift(&f, x);
        if (f.ok && is_never_zero(x, &f))
            return true;
    }
    return false;
}

/* Whether the write may come behind the read in one iteration of all loops around both. */
static bool may_follow(const access *read, const access *write, const overlap *o)
{
    const int last = o->ncommon - 1;
    if (last >= 0 && o->a.at[last].region != o->b.at[last].region)
        return o->a.at[last].op->code == OP_LOOP && o->a.at[last].region == o->a.at[last].op->regions[1];
    return read->op->pos < write->op->pos;
}

bool surely_kept(const ir_module *m, const access *read, const access *write, const overlap *o)
{
    order x = {.m = m, .sides = {read, write}, .o = o};
    if (!o->placed)
        return true;
    if (read->repeated || write->repeated)
        return false;
    if (may_follow(read, write, o) && !differ(&x, read, write))
        return false;
    for (int i = 0; i < o->ncommon; i++) {
        x.next = o->a.at[i].op;
        if (x.next->code != OP_LOOP)
            continue;
        if (loop_runs_at_most(x.next, 0, 1))
            continue;
        if (!differ(&x, read, write))
            return false;
    }
    return true;
}
