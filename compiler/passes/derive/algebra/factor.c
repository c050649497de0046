/* Common factors of sums are taken out, in adjoints.
 *
 *     t = w * C;  u = d * t + e * (w * D);  v = C * (d * g) + D * (e * g)       becomes
 *     s = d * C + e * D;  u = w * s;  v = g * s
 *
 * The chain rule multiplies from the outside to the inside and adds at the end: what a factor was multiplied with once
 * in the primal, a matrix or a sum, it is multiplied with once for each element in the adjoint. Sums of one region are
 * seen as polynomials of what they are made of (negations, products and their sums are looked through, also products
 * that several sums use), common kernels are taken out (factor_search.c), and all is built anew where that takes fewer
 * operations than before; a product and an addition count as one.
 *
 * Three kinds of values keep their form, for range and exactness: differences of values that are no products; values
 * that were scaled to be near 1, so that of two products that are multiplied, one stays a value; and constants far from
 * 1, which stay with what they were multiplied with. Factors keep the order in which they were multiplied.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/derive/algebra/algebra.h"

/* MAX_DEPTH: of a sum of products of sums. MAX_WORK: products of sums that are looked at, in all tries of a region. */
enum { MAX_DEPTH = 100, MAX_WORK = 20000 };

/* By value id, of the region at hand. */
typedef struct seen {
    uint32_t good;  /* uses by arithmetic of the region */
    bool through;   /* a product that is used several times is looked through all the same */
    bool dissolves; /* nobody else uses it: it is a part of what its users are */
    bool root;      /* a sum or product of its own */
    int var;        /* -1: none yet */
} seen;

typedef struct collector {
    factoring *x;
    const uint32_t *uses; /* as the function was */
    seen *at;
    int total, depth;
    bool distributes; /* products with a sum are looked through */
} collector;

/* A power of 2 that brings a number near 1: what is multiplied with it would leave the range without. */
static bool is_scale(const ir_value *v)
{
    return v->def && (v->def->code == OP_UNIT_SCALE || v->def->code == OP_EVEN_SCALE || v->def->code == OP_NORM_SCALE ||
                      v->def->code == OP_NORM_UNSCALE || v->def->code == OP_SAFE_SCALE);
}

static bool is_arithmetic(const ir_op *op)
{
    if (op->code == OP_MUL && (is_scale(op->args[0]) || is_scale(op->args[1])))
        return false;
    return (op->code == OP_ADD || op->code == OP_SUB || op->code == OP_NEG || op->code == OP_MUL) &&
           scalar_is_float(op->res[0]->type) && !op->res[0]->exact;
}

/* From the end to the beginning: users come before what they use. */
static void find_roots(collector *c)
{
    for (ir_op *op = c->x->region->last; op; op = op->prev) {
        if (!is_arithmetic(op))
            continue;
        seen *s = &c->at[op->res[0]->id];
        const uint32_t uses = c->uses[op->res[0]->id];
        s->dissolves = uses > 0 && s->good == uses && (uses == 1 || (op->code == OP_MUL && s->through));
        s->root = !s->dissolves;
        for (int i = 0; i < op->nargs; i++)
            c->at[op->args[i]->id].good++;
    }
}

/* ---- a value as a sum of products ---- */

typedef struct terms {
    int n;
    term at[FACTOR_TERMS];
} terms;

static int variable_of(collector *c, ir_value *v)
{
    seen *s = &c->at[v->id];
    if (s->var < 0) {
        s->var = (int)c->x->vars.len;
        vec_push(&c->x->vars, ((variable){.v = v, .sum = -1}));
    }
    return s->var;
}

/* As one value, whatever it is made of: then it is a sum of its own. */
static void as_variable(collector *c, ir_value *v, terms *out)
{
    seen *s = &c->at[v->id];
    s->root |= s->dissolves;
    out->n = 1;
    out->at[0] = (term){.coef = 1.0, .n = 1, .at = {variable_of(c, v)}};
}

/* One of them is a variable or a constant. */
static bool multiply(const term *a, const term *b, scalar type, term *out)
{
    const term *longer = a->n >= b->n ? a : b, *other = a->n >= b->n ? b : a;
    const double coef = a->coef * b->coef;
    if (longer->n + other->n > FACTOR_DEGREE || !algebra_is_near_one(coef, type))
        return false;
    *out = other->n ? factor_times(longer, other->at[0]) : *longer;
    out->coef = coef;
    return true;
}

/* Neither a product nor a sum with one in it, which are rounded already. */
static bool is_plain(const ir_value *v, int depth)
{
    const ir_op *op = v->def;
    if (!op || !is_arithmetic(op) || depth == 0)
        return true;
    return op->code != OP_MUL && is_plain(op->args[0], depth - 1) && is_plain(op->args[op->nargs - 1], depth - 1);
}

/* A difference of places perhaps, or from 1: exact as it is, as it would not be if it were taken apart. */
static bool is_difference(const collector *c, const terms *t)
{
    int plain = 0;
    for (int i = 0; i < t->n && t->n > 1; i++)
        plain += t->at[i].n == 0 ? 2 : t->at[i].n == 1 && is_plain(c->x->vars.at[t->at[i].at[0]].v, 8);
    return plain > 1;
}

static void expand(collector *c, ir_value *v, bool top, terms *out);

/* The left operand goes on with its own order. */
static void expand_sum(collector *c, const ir_op *op, terms *out)
{
    terms b;
    expand(c, op->args[0], false, out);
    expand(c, op->args[1], false, &b);
    if (is_difference(c, &b))
        as_variable(c, op->args[1], &b);
    if (out->n + b.n > FACTOR_TERMS)
        as_variable(c, op->args[out->n > b.n ? 0 : 1], out->n > b.n ? out : &b);
    for (int i = 0; i < b.n; i++) {
        out->at[out->n] = b.at[i];
        out->at[out->n++].coef *= op->code == OP_SUB ? -1.0 : 1.0;
    }
}

static bool is_long(const terms *t)
{
    for (int i = 0; i < t->n; i++)
        if (t->at[i].n > 1)
            return true;
    return false;
}

/* Of two sums, or of two products, one stays a value: what was scaled each for itself, (a * s) * (b * s), is not to be
 * a * b. */
static bool expand_product(collector *c, const ir_op *op, terms *out)
{
    terms a, b;
    expand(c, op->args[0], false, &a);
    expand(c, op->args[1], false, &b);
    if (a.n > 1 && (!c->distributes || is_difference(c, &a) || (b.n > 1 && a.n >= b.n)))
        as_variable(c, op->args[0], &a);
    if (b.n > 1 && (!c->distributes || is_difference(c, &b) || a.n > 1))
        as_variable(c, op->args[1], &b);
    if (is_long(&a) && is_long(&b))
        as_variable(c, op->args[b.n == 1], b.n == 1 ? &b : &a);
    out->n = 0;
    for (int i = 0; i < a.n; i++)
        for (int k = 0; k < b.n; k++)
            if (!multiply(&a.at[i], &b.at[k], op->res[0]->type, &out->at[out->n++]))
                return false;
    return true;
}

static void expand(collector *c, ir_value *v, bool top, terms *out)
{
    const ir_op *op = v->def;
    const seen *s = &c->at[v->id];
    if (ir_is_const(v) && algebra_is_near_one(ir_float(v), v->type)) {
        out->n = 1;
        out->at[0] = (term){.coef = ir_float(v)};
        return;
    }
    bool ok = top || (s->dissolves && !s->root && c->depth < MAX_DEPTH);
    c->depth++;
    if (ok && op->code == OP_NEG) {
        expand(c, op->args[0], false, out);
        for (int i = 0; i < out->n; i++)
            out->at[i].coef = -out->at[i].coef;
    } else if (ok && op->code == OP_MUL) {
        ok = expand_product(c, op, out);
    } else if (ok) {
        expand_sum(c, op, out);
    }
    c->depth--;
    if (!ok)
        as_variable(c, v, out);
}

/* Each root as a sum; of those too large to be looked through, parts become roots, in front. */
static void collect(collector *c)
{
    VEC(sum) backwards = {0};
    for (ir_op *op = c->x->region->last; op && c->total <= FACTOR_ALL; op = op->prev) {
        if (!is_arithmetic(op) || !c->at[op->res[0]->id].root)
            continue;
        terms t;
        expand(c, op->res[0], true, &t);
        sum p = {.type = op->res[0]->type, .at = xmalloc((size_t)t.n * sizeof *p.at), .n = t.n, .root = op};
        memcpy(p.at, t.at, (size_t)t.n * sizeof *t.at);
        c->total += t.n;
        vec_push(&backwards, p);
    }
    for (size_t i = backwards.len; i-- > 0;)
        vec_push(&c->x->sums, backwards.at[i]);
    vec_free(&backwards);
}

/* ---- whether it pays ---- */

static void count_use(ir_op *op, void *ctx)
{
    uint32_t *uses = ctx;
    for (int i = 0; i < op->nargs; i++)
        uses[op->args[i]->id]++;
}

/* How many sums and products somebody uses, where the map's values are in the place of those that they stand for. A
 * product that is added to something, and used nowhere else, is one operation with that. */
static int cost_of(const factoring *x, const ir_map *map)
{
    int cost = 0;
    uint32_t *uses = xmalloc((x->f->next_value + 1) * sizeof *uses);
    memset(uses, 0, (x->f->next_value + 1) * sizeof *uses);
    ir_walk(x->region, count_use, uses);
    for (size_t i = 0; i < x->sums.len && map; i++) {
        const ir_value *root = x->sums.at[i].root ? x->sums.at[i].root->res[0] : NULL;
        const ir_value *to = root ? ir_map_get(map, root) : NULL;
        if (to) {
            uses[to->id] += uses[root->id];
            uses[root->id] = 0;
        }
    }
    for (const ir_op *op = x->region->last; op; op = op->prev) {
        if (!is_arithmetic(op))
            continue;
        const bool dead = uses[op->res[0]->id] == 0;
        cost += !dead && op->code != OP_NEG;
        for (int i = 0, fused = 0; i < op->nargs; i++) {
            const ir_op *a = op->args[i]->def;
            uses[op->args[i]->id] -= dead;
            if (!dead && op->code != OP_MUL && op->code != OP_NEG && a && a->code == OP_MUL && is_arithmetic(a) &&
                a->region == x->region && uses[a->res[0]->id] == 1 && !fused++)
                cost--;
        }
    }
    free(uses);
    return cost;
}

typedef struct pass {
    ir_func *f;
    const uint32_t *uses;
    seen *at;
    ir_map map;
    bool changed;
} pass;

/* One region, and what is tried there. */
typedef struct tries {
    pass *p;
    ir_region *region;
    bool distributes, best_distributes;
    int gain; /* the most so far: operations fewer */
    int work;
} tries;

static void forget(const pass *p, const ir_value *v)
{
    seen *s = &p->at[v->id];
    *s = (seen){.var = -1, .through = s->through};
}

/* Builds what comes of it beside what is there; returns how many operations fewer that takes. `keep`: NULL, or gets the
 * values that take the places of others. */
static int build(tries *t, ir_map *keep)
{
    pass *p = t->p;
    factoring x = {.f = p->f, .region = t->region};
    collector c = {.x = &x, .uses = p->uses, .at = p->at, .distributes = t->distributes};
    int gain = 0;
    for (const ir_op *op = t->region->first; op; op = op->next) {
        for (int i = 0; i < op->nargs; i++)
            forget(p, op->args[i]);
        for (int i = 0; i < op->nres; i++)
            forget(p, op->res[i]);
    }
    find_roots(&c);
    collect(&c);
    t->work += c.total;
    const size_t nsums = x.sums.len;
    if (c.total <= FACTOR_ALL)
        factor_search(&x);
    if (x.sums.len > nsums) {
        ir_map map = ir_map_create(p->f);
        gain = cost_of(&x, NULL);
        factor_build(&x, &map);
        gain -= cost_of(&x, &map);
        for (size_t i = 0; i < nsums && keep; i++) {
            const ir_value *root = x.sums.at[i].root->res[0];
            if (ir_map_get(&map, root))
                ir_map_set(keep, root, ir_map_get(&map, root));
        }
        ir_map_free(&map);
    }
    for (size_t i = 0; i < x.sums.len; i++)
        free(x.sums.at[i].at);
    vec_free(&x.sums);
    vec_free(&x.vars);
    return gain;
}

/* Whether it would be the most so far. Nothing is left of it. */
static bool try_it(tries *t)
{
    const uint32_t first = t->p->f->next_value;
    if (t->work > MAX_WORK)
        return false;
    const int gain = build(t, NULL);
    for (ir_op *op = t->region->last, *before; op; op = before) {
        before = op->prev;
        if (op->nres == 1 && op->res[0]->id >= first)
            ir_remove(op);
    }
    t->p->f->next_value = first;
    if (gain <= t->gain)
        return false;
    t->gain = gain;
    return true;
}

/* A factor of several products that are used several times. */
typedef struct shared {
    const ir_value *factor;
    int n;
} shared;

typedef VEC(shared) shared_list;

static bool is_shared_by(const tries *t, const ir_op *op, const ir_value *factor)
{
    return op->code == OP_MUL && is_arithmetic(op) && t->p->uses[op->res[0]->id] > 1 &&
           (!factor || op->args[0] == factor || op->args[1] == factor);
}

static void count_shared(shared_list *list, const ir_value *factor)
{
    for (size_t i = 0; i < list->len; i++)
        if (list->at[i].factor == factor) {
            list->at[i].n++;
            return;
        }
    vec_push(list, ((shared){factor, 1}));
}

static void look_through(tries *t, const ir_value *factor, bool through)
{
    for (const ir_op *op = t->region->first; op; op = op->next)
        if (is_shared_by(t, op, factor))
            t->p->at[op->res[0]->id].through = through;
}

/* Of those that several products have: what few have is found in few sums. NULL: there is none. */
static shared *least_shared(const shared_list *list)
{
    shared *least = NULL;
    for (size_t i = 0; i < list->len; i++)
        if (list->at[i].n > 1 && (!least || list->at[i].n < least->n))
            least = &list->at[i];
    return least;
}

/* What products have been made of once, for several sums, stays a value unless it pays to look through all that have
 * one factor: then that may be a factor of whole sums. */
static void try_shared(tries *t)
{
    shared_list list = {0};
    for (const ir_op *op = t->region->first; op; op = op->next)
        for (int i = 0; is_shared_by(t, op, NULL) && i < 2 && list.len < 200; i++)
            count_shared(&list, op->args[i]);
    for (shared *s; (s = least_shared(&list)); s->n = 0) {
        look_through(t, s->factor, true);
        if (!try_it(t))
            look_through(t, s->factor, false);
    }
    vec_free(&list);
}

/* With products of sums looked through, and without. */
static bool try_both(tries *t)
{
    const bool before = t->distributes;
    bool better = false;
    for (int k = 0; k < 2; k++) {
        t->distributes = k;
        if (try_it(t)) {
            t->best_distributes = k;
            better = true;
        }
    }
    t->distributes = better ? t->best_distributes : before;
    return better;
}

static void factor_region(pass *p, ir_region *r)
{
    tries t = {.p = p, .region = r};
    look_through(&t, NULL, false);
    try_both(&t);
    look_through(&t, NULL, true);
    if (!try_both(&t)) {
        look_through(&t, NULL, false);
        try_shared(&t);
    }
    if (t.gain > 0) {
        build(&t, &p->map);
        p->changed = true;
    }
}

/* Inner regions first: what is built there is used nowhere else. */
static void visit(pass *p, ir_region *r)
{
    for (ir_op *op = r->first; op; op = op->next)
        for (int k = 0; k < op->nregions; k++)
            visit(p, op->regions[k]);
    factor_region(p, r);
}

bool factor_sums(ir_func *f)
{
    pass p = {.f = f, .map = ir_map_create(f)};
    uint32_t *uses = ir_count_uses(f);
    p.uses = uses;
    p.at = xmalloc((f->next_value + 1) * sizeof *p.at);
    memset(p.at, 0, (f->next_value + 1) * sizeof *p.at);
    visit(&p, f->body);
    if (p.changed)
        ir_rewrite_uses(f, &p.map);
    ir_map_free(&p.map);
    free(uses);
    free(p.at);
    return p.changed;
}
