/* Subscripts that differ, by the ranges of the loops.
 *
 * The write comes behind the read in one of these cases: in the same iteration of all loops around both, or in a later
 * one of one of them, the loops outside of that being in the same iteration. In each case there must be a dimension in
 * which the difference of the subscripts is never zero: all of it but a constant is a multiple of some number, or its
 * greatest value lies below zero, or its least one above. For these, indices are replaced by the ends of their ranges,
 * inner ones first, because ends of inner ranges may be made of outer indices, or by what conditions say of them. Sums
 * and differences of two dimensions are tried as well, and what conditions say of remainders (red and black elements).
 *
 * Of two iterations of a task, each in turn is the later one.
 */
#include "passes/analysis/overlap/disjoint.h"

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
    int dim;           /* of a task: the indices before it are the same */
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

static bool is_index_of(const ir_op *loop, const ir_value *v)
{
    return !v->def && v->region->parent == loop;
}

/* Whether v is one number for read and write. */
static bool is_shared(const order *x, const ir_value *v)
{
    if (x->next && x->next->code == OP_TASK && is_index_of(x->next, v) && v->index < x->dim)
        return true;
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

/* The index of which the iterations differ, or NULL. */
static const ir_value *next_index(const order *x)
{
    if (!x->next || (x->next->code == OP_LOOP && !ir_loop_attr(x->next)->bounded))
        return NULL;
    return x->next->regions[0]->params[x->dim];
}

/* The index of the loop in which the write is later: its term of the write as the read's, and so many more. */
static void shift(form *f, const order *x)
{
    const ir_value *index = next_index(x);
    for (int i = 0; i < f->n && index; i++) {
        if (f->at[i].v != index || f->at[i].of != WRITE)
            continue;
        const int64_t coef = f->at[i].coef;
        f->at[i] = f->at[--f->n];
        f->later += coef;
        add_term(x, f, index, coef, READ);
        return;
    }
}

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
    if (g.ok)
        shift(&g, x);
    return g.ok && is_below_zero(x, g);
}

/* Of the loop whose iterations differ: the read's index, the write's being as many behind it as f.later says. */
static bool below_later(order *x, const form *f)
{
    const ir_value *index = next_index(x), *lo = x->next->args[2 * x->dim], *hi = x->next->args[2 * x->dim + 1];
    form g = *f;
    if (g.later > 0) { /* as many as there are: the write has the last one */
        const affine end = affine_of(hi);
        add_affine(x, &g, &end, g.later, SHARED);
        g.konst -= g.later;
        add_term(x, &g, index, -g.later, READ);
    } else {
        g.konst += g.later;
    }
    g.later = 0;
    if (!g.ok)
        return false;
    for (int i = 0; i < g.n; i++)
        if (g.at[i].v == index && g.at[i].of == READ)
            return g.at[i].coef > 0 ? below_with(x, &g, i, hi, -2) : below_with(x, &g, i, lo, 0);
    return is_below_zero(x, g);
}

/* What a condition says: that *l is at most zero. */
static bool condition_form(order *x, const ir_value *c, bool holds, side of, form *l)
{
    const ir_op *op = c->def;
    if (op && op->code == OP_NOT)
        return condition_form(x, op->args[0], !holds, of, l);
    if (!op || op->nargs != 2 || !scalar_is_int(op->args[0]->type))
        return false;
    const bool less = op->code == OP_LT || op->code == OP_LE, more = op->code == OP_GT || op->code == OP_GE;
    if (!less && !more)
        return false;
    const bool strict = (op->code == OP_LT || op->code == OP_GT) == holds;
    const int64_t sign = less == holds ? 1 : -1;
    const affine a = affine_of(op->args[0]), b = affine_of(op->args[1]);
    *l = (form){.ok = true, .konst = strict};
    add_affine(x, l, &a, sign, of);
    add_affine(x, l, &b, -sign, of);
    return l->ok;
}

/* f without term k, which l, that is at most zero, binds. */
static bool below_by(order *x, const form *f, int k, form l)
{
    const term t = f->at[k];
    const int64_t n = llabs(t.coef);
    form g = *f;
    bool binds = false;
    shift(&l, x);
    for (int i = 0; i < l.n; i++)
        binds |= l.at[i].v == t.v && l.at[i].of == t.of && l.at[i].coef == (t.coef > 0 ? 1 : -1);
    if (!binds || !l.ok || n > KONST_MAX / TERMS || !is_small(l.later))
        return false;
    for (int i = 0; i < l.n && g.ok; i++) {
        g.ok = llabs(l.at[i].coef) <= KONST_MAX / n;
        if (g.ok)
            add_term(x, &g, l.at[i].v, -n * l.at[i].coef, l.at[i].of);
    }
    g.ok = g.ok && llabs(l.konst) <= KONST_MAX / n && llabs(l.later) <= KONST_MAX / n;
    if (!g.ok)
        return false;
    g.konst -= n * l.konst;
    g.later -= n * l.later;
    return is_below_zero(x, g);
}

/* A condition that the access on that side stands under. */
static bool below_by_condition(order *x, const form *f, int k, const ir_value *c, bool holds, side of)
{
    form l;
    if (c->def && c->def->code == (holds ? OP_AND : OP_OR) && c->type == SC_BOOL)
        return below_by_condition(x, f, k, c->def->args[0], holds, of) ||
               below_by_condition(x, f, k, c->def->args[1], holds, of);
    return condition_form(x, c, holds, of, &l) && below_by(x, f, k, l);
}

/* A loop around the access on that side has an iteration. */
static bool below_by_loop(order *x, const form *f, int k, const ir_op *loop, side of)
{
    form l = {.ok = true, .konst = 1};
    const affine lo = affine_of(loop->args[0]), hi = affine_of(loop->args[1]);
    add_affine(x, &l, &lo, 1, of);
    add_affine(x, &l, &hi, -1, of);
    return below_by(x, f, k, l);
}

static bool below_by_conditions(order *x, const form *f, int k)
{
    for (int s = 0; s < 2; s++) {
        if (f->at[k].of != SHARED && f->at[k].of != (side)s)
            continue;
        const path *way = &x->sides[s]->way;
        for (int i = 0; i < way->n; i++) {
            const ir_op *op = way->at[i].op;
            if (op->code == OP_IF
                    ? below_by_condition(x, f, k, op->args[0], way->at[i].region == op->regions[0], (side)s)
                    : op->code == OP_LOOP && ir_loop_attr(op)->bounded && below_by_loop(x, f, k, op, (side)s))
                return true;
        }
    }
    return false;
}

static bool is_extent(const ir_value *v)
{
    return v->def && (v->def->code == OP_SHAPE || (v->def->code == OP_MPARAM && ir_mparam_attr(v->def)->param->sizes));
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
    if (op->nargs != 2 || !const_value_of(x->m, op->args[1], &n) || n < 1 || llabs(t.coef) > KONST_MAX / n)
        return false;
    form g = *f;
    g.at[k] = g.at[--g.n];
    if (op->code == OP_MOD || op->code == OP_REM) { /* a remainder may have the sign of what is divided */
        g.konst += most ? t.coef * (n - 1) : op->code == OP_REM ? -t.coef * (n - 1) : 0;
        return is_below_zero(x, g);
    }
    if (op->code != OP_DIV || t.coef % n != 0)
        return false;
    const affine a = affine_of(op->args[0]); /* towards zero: an extent is not negative */
    const bool extent = a.ok && a.n == 1 && a.konst == 0 && a.coef[0] > 0 && is_extent(a.term[0]);
    add_affine(x, &g, &a, t.coef / n, t.of);
    g.konst += most && extent ? 0 : llabs(t.coef) / n * (n - 1);
    return is_below_zero(x, g);
}

/* Whether f is below zero whatever its indices are. */
static bool is_below_zero(order *x, form f)
{
    if (!f.ok || ++x->steps > STEPS)
        return false;
    int inner = -1, depth = -1, dim;
    bool rest = f.konst < 0; /* what both have: an extent is no less than zero */
    for (int i = 0; i < f.n; i++) {
        const bool stays = f.at[i].of == SHARED && !loop_of(f.at[i].v, &dim);
        const int d = stays ? -1 : depth_of(f.at[i].v);
        rest &= stays && is_extent(f.at[i].v) && f.at[i].coef < 0;
        if (d > depth) {
            inner = i;
            depth = d;
        }
    }
    if (rest && f.later == 0)
        return true;
    const ir_value *next = next_index(x);
    if (f.later != 0 && depth <= depth_of(next)) {
        for (int i = 0; i < f.n; i++)
            if (loop_of(f.at[i].v, &dim) && below_by_conditions(x, &f, i))
                return true;
        return below_later(x, &f);
    }
    for (int i = 0; i < f.n && inner < 0; i++)
        if (below_value(x, &f, i))
            return true;
    if (inner < 0)
        return false;
    const ir_op *loop = loop_of(f.at[inner].v, &dim);
    const int end = f.at[inner].coef > 0;
    return loop ? below_with(x, &f, inner, loop->args[2 * dim + end], -end) || below_by_conditions(x, &f, inner)
                : below_value(x, &f, inner);
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

static bool is_never_zero(order *x, const form *f)
{
    int64_t step = llabs(f->later);
    for (int i = 0; i < f->n; i++)
        step = greatest_divisor(step, f->at[i].coef);
    if (step == 0 ? f->konst != 0 : f->konst % step != 0)
        return true;
    x->steps = 0;
    if (is_below_zero(x, *f))
        return true;
    x->steps = 0;
    return is_below_zero(x, negative(f));
}

/* The sum of two differences that are both zero where the accesses meet. */
static form sum_of(order *x, const form *f, const form *g)
{
    form sum = *f;
    for (int i = 0; i < g->n && sum.ok; i++)
        add_term(x, &sum, g->at[i].v, g->at[i].coef, g->at[i].of);
    sum.konst += g->konst;
    sum.later += g->later;
    sum.ok &= g->ok && is_small(sum.konst) && is_small(sum.later);
    return sum;
}

/* That e % n is c. */
typedef struct remainder {
    const ir_value *e, *c;
    int64_t n;
} remainder;

static bool remainder_of(const order *x, const path_step *step, remainder *r)
{
    const ir_op *op = step->op->code == OP_IF && step->region == step->op->regions[0] ? step->op->args[0]->def : NULL;
    if (!op || op->code != OP_EQ)
        return false;
    for (int k = 0; k < 2; k++) {
        const ir_op *rem = resolved_value(x->m, op->args[k])->def;
        if (!rem || (rem->code != OP_REM && rem->code != OP_MOD) || !const_value_of(x->m, rem->args[1], &r->n) ||
            r->n < 2 || !is_small(r->n))
            continue;
        r->e = rem->args[0];
        r->c = op->args[1 - k];
        return true;
    }
    return false;
}

/* Whether a sum of the differences, each once at most, is a constant and no multiple of n. */
static bool sums_to_no_multiple(order *x, const form *sum, const form *f, int n, int64_t of)
{
    int64_t step = of;
    for (int i = 0; i < sum->n; i++)
        step = greatest_divisor(step, sum->at[i].coef);
    if (!sum->ok || ++x->steps > STEPS)
        return false;
    if (greatest_divisor(step, sum->later) != 1 && sum->konst % greatest_divisor(step, sum->later) != 0)
        return true;
    if (n == 0)
        return false;
    const form other = negative(f), plus = sum_of(x, sum, f), minus = sum_of(x, sum, &other);
    return sums_to_no_multiple(x, sum, f + 1, n - 1, of) || sums_to_no_multiple(x, &plus, f + 1, n - 1, of) ||
           sums_to_no_multiple(x, &minus, f + 1, n - 1, of);
}

/* Both stand under conditions on remainders, which tell that their elements differ. */
static bool remainders_differ(order *x, const form *f, int n)
{
    const path *a = &x->sides[READ]->way, *b = &x->sides[WRITE]->way;
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++) {
            remainder p, q;
            if (!remainder_of(x, &a->at[i], &p) || !remainder_of(x, &b->at[k], &q) || p.n != q.n)
                continue;
            const affine pe = affine_of(p.e), pc = affine_of(p.c), qe = affine_of(q.e), qc = affine_of(q.c);
            form sum = {.ok = true};
            add_affine(x, &sum, &pe, 1, READ);
            add_affine(x, &sum, &pc, -1, READ);
            add_affine(x, &sum, &qe, -1, WRITE);
            add_affine(x, &sum, &qc, 1, WRITE);
            if (sum.ok)
                shift(&sum, x);
            x->steps = 0;
            if (sums_to_no_multiple(x, &sum, f, n, p.n))
                return true;
        }
    return false;
}

/* f is one remainder minus another of the same divisor, and what they are of is less than that apart, but never equal:
 * x[(i + 3) % N], i below N. */
static bool differ_around(order *x, const form *f)
{
    form g = {.ok = true};
    const ir_op *rem[2];
    if (f->n != 2 || f->konst != 0 || f->later != 0 || f->at[0].coef + f->at[1].coef != 0 || llabs(f->at[0].coef) != 1)
        return false;
    for (int i = 0; i < 2; i++) {
        rem[i] = f->at[i].v->def;
        if (!rem[i] || (rem[i]->code != OP_REM && rem[i]->code != OP_MOD) || rem[i]->code != rem[0]->code ||
            !is_shared(x, rem[i]->args[1]) || !same_value(x->m, rem[i]->args[1], rem[0]->args[1]))
            return false;
        const affine e = affine_of(rem[i]->args[0]);
        add_affine(x, &g, &e, f->at[i].coef, f->at[i].of);
    }
    if (!g.ok)
        return false;
    shift(&g, x);
    const affine n = affine_of(rem[0]->args[1]);
    form less = g, more = negative(&g);
    add_affine(x, &less, &n, -1, SHARED);
    add_affine(x, &more, &n, -1, SHARED);
    x->steps = 0;
    return is_never_zero(x, &g) && is_below_zero(x, less) && is_below_zero(x, more);
}

static bool differ(order *x, const access *read, const access *write)
{
    form f[9];
    int n = 0;
    for (int k = 0; k < read->nsub && k < write->nsub && n < 9; k++) {
        f[n] = (form){.ok = read->sub[k].ok && write->sub[k].ok};
        if (!f[n].ok)
            continue;
        add_affine(x, &f[n], &read->sub[k], 1, READ);
        add_affine(x, &f[n], &write->sub[k], -1, WRITE);
        if (f[n].ok)
            shift(&f[n], x);
        if (f[n].ok && (is_never_zero(x, &f[n]) || differ_around(x, &f[n])))
            return true;
        n += f[n].ok;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) {
            const form other = negative(&f[k]), sum = sum_of(x, &f[i], &f[k]), difference = sum_of(x, &f[i], &other);
            if ((sum.ok && is_never_zero(x, &sum)) || (difference.ok && is_never_zero(x, &difference)))
                return true;
        }
    return remainders_differ(x, f, n);
}

/* Whether the write may come behind the read in one iteration of all loops around both. */
static bool may_follow(const access *read, const access *write, const overlap *o)
{
    const int last = o->ncommon - 1;
    if (last >= 0 && o->a.at[last].region != o->b.at[last].region)
        return o->a.at[last].op->code == OP_LOOP && o->a.at[last].region == o->a.at[last].op->regions[1];
    return read->op->pos < write->op->pos;
}

/* The step of o.a that is the task, which is around both. */
static int step_of(const overlap *o, const ir_op *task)
{
    int i = 0;
    while (o->a.at[i].op != task)
        i++;
    return i;
}

/* Whether the two differ when the second has a later trip of one of the loops that are steps `from` up to `to`. */
static bool differ_in_later_trips(order *x, const access *first, const access *second, int from, int to)
{
    for (int i = from; i < to; i++) {
        x->next = x->o->a.at[i].op;
        if (x->next->code != OP_LOOP || loop_runs_at_most(x->next, 0, 1))
            continue;
        if (!differ(x, first, second))
            return false;
    }
    return true;
}

bool surely_kept(const ir_module *m, const access *read, const access *write, const overlap *o)
{
    return surely_kept_within(m, read, write, o, NULL);
}

bool surely_kept_within(const ir_module *m, const access *read, const access *write, const overlap *o,
                        const ir_op *task)
{
    order x = {.m = m, .sides = {read, write}, .o = o};
    if (!o->placed)
        return true;
    if (read->repeated || write->repeated)
        return false;
    if (may_follow(read, write, o) && !differ(&x, read, write))
        return false;
    return differ_in_later_trips(&x, read, write, task ? step_of(o, task) + 1 : 0, o->ncommon);
}

bool surely_kept_beyond(const ir_module *m, const access *read, const access *write, const overlap *o,
                        const ir_op *task)
{
    order x = {.m = m, .sides = {read, write}, .o = o};
    if (!o->placed || read->repeated || write->repeated)
        return !o->placed;
    return differ_in_later_trips(&x, read, write, 0, step_of(o, task));
}

/* What that relies on, launches look at: one of the two is a store, or added to, by the same subscripts. */
static bool tells_index(const ir_module *m, const access *a, const access *b, const ir_op *task, int d)
{
    bool *relies = xmalloc(m->fields.len + 1);
    ir_op *ops[] = {(ir_op *)a->op, (ir_op *)b->op};
    const bool tells = !a->inner && !b->inner && subscript_is_injective(task, ops, 2, d, relies);
    free(relies);
    return tells;
}

bool surely_disjoint(const ir_module *m, const access *a, const access *b, const overlap *o, const ir_op *task)
{
    if (!o->placed || a->repeated || b->repeated)
        return !o->placed;
    for (int d = 0; d < ir_task_attr(task)->ndim; d++) {
        if (loop_runs_at_most(task, d, 1) || tells_index(m, a, b, task, d))
            continue;
        for (int later = 0; later < 2; later++) {
            const access *first = later ? b : a, *second = later ? a : b;
            order x = {.m = m, .sides = {first, second}, .o = o, .next = task, .dim = d};
            if (!differ(&x, first, second))
                return false;
        }
    }
    return true;
}
