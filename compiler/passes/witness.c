/* Bounded search. A trial draws an iteration for each loop around the two accesses, computes bounds, conditions and subscripts with them, and draws what these
 * read: arguments, params, memory, results of loops. One thing has one value in a trial, whenever it is read: so two conditions that exclude each other never
 * both hold. What a loop carries follows from its iterations.
 */
#include "passes/witness.h"

#include <stdlib.h>
#include <string.h>

#include "ir/eval.h"

enum { TRIALS = 240, TRIAL_BUDGET = 600, SYMBOLS = 96, PLACES = 96, FRAMES = 8, SLOTS = 32, POOL = 16, CARRIED_MAX = 8, ARGS_MAX = 8 };

/* A function on the way: the kernel first, then what it calls. */
typedef struct place {
    const ir_op *op; /* if, loop or task */
    const ir_region *region;
    int frame;
} place;

typedef struct slot {
    const ir_op *op;
    int frame, dim;
    int64_t lo, index;
    bool data; /* of one access only, and its bounds are what the host decides or memory holds */
} slot;

typedef struct side {
    const access *a;
    const ir_op *inner; /* the memory operation */
    const ir_op *call[FRAMES];
    int nframes;
    place at[PLACES];
    int n;
    slot slots[SLOTS];
    int nslots;
} side;

typedef struct symbol {
    uint64_t key;
    const_value v;
} symbol;

typedef struct search {
    const ir_module *m;
    uint64_t random;
    bool failed, data; /* data: a symbol has been used */
    int budget;
    symbol symbols[SYMBOLS];
    int nsymbols;
    const_value pool[POOL]; /* constants that were met: where conditions change */
    int npool;
    side read, write;
} search;

static uint64_t draw(search *s, uint64_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (s->random >> 11) % n;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

static uint64_t mix_pointer(uint64_t h, const void *p)
{
    return mix(h, (uint64_t)(uintptr_t)p);
}

static uint64_t mix_value(uint64_t h, const_value v)
{
    uint64_t bits = (uint64_t)v.i;
    if (scalar_is_float(v.type))
        memcpy(&bits, &v.f, sizeof bits);
    return mix(h, bits);
}

static const_value fail(search *s, scalar type)
{
    s->failed = true;
    return (const_value){.type = type};
}

static const_value integer(scalar type, int64_t i)
{
    return (const_value){.type = type, .i = ir_wrap_int(type, i)};
}

static const_value draw_value(search *s, scalar type)
{
    static const double some[] = {-2, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 3};
    if (type == SC_BOOL)
        return integer(type, (int64_t)draw(s, 2));
    const const_value *near = s->npool && draw(s, 2) ? &s->pool[draw(s, (uint64_t)s->npool)] : NULL;
    if (near && scalar_is_float(near->type) != scalar_is_float(type))
        near = NULL;
    if (scalar_is_float(type)) {
        const double f = near ? near->f + 0.5 * ((double)draw(s, 3) - 1) : some[draw(s, sizeof some / sizeof *some)];
        return eval_cast((const_value){.type = SC_F64, .f = f}, type);
    }
    return integer(type, near ? (int64_t)((uint64_t)near->i + draw(s, 3) - 1) : (int64_t)draw(s, 11) - (scalar_is_signed(type) ? 1 : 0));
}

static const_value symbol_of(search *s, uint64_t key, scalar type)
{
    s->data = true;
    for (int i = 0; i < s->nsymbols; i++)
        if (s->symbols[i].key == key)
            return s->symbols[i].v;
    if (s->nsymbols == SYMBOLS || type == SC_PTR)
        return fail(s, type);
    const const_value v = draw_value(s, type);
    s->symbols[s->nsymbols++] = (symbol){key, v};
    return v;
}

static void remember(search *s, const_value v)
{
    for (int i = 0; i < s->npool; i++)
        if (s->pool[i].type == v.type && mix_value(0, s->pool[i]) == mix_value(0, v))
            return;
    if (s->npool < POOL)
        s->pool[s->npool++] = v;
}

/* ---- values ---- */

static const_value eval(search *s, side *x, const ir_value *v, int frame);

static slot *slot_of(side *x, const ir_op *op, int frame, int dim)
{
    for (int i = 0; i < x->nslots; i++)
        if (x->slots[i].op == op && x->slots[i].frame == frame && x->slots[i].dim == dim)
            return &x->slots[i];
    return NULL;
}

/* A value of which nothing is known but where and in which iterations it is computed. */
static const_value opaque(search *s, const side *x, const ir_value *v, int frame)
{
    uint64_t key = mix_pointer(1, v);
    for (int f = frame; f > 0; f--)
        key = mix_pointer(key, x->call[f]);
    for (int i = 0; i < x->nslots; i++)
        for (int k = 0; k < x->slots[i].op->nregions; k++)
            if (x->slots[i].frame < frame || (x->slots[i].frame == frame && ir_region_is_ancestor(x->slots[i].op->regions[k], v->region)))
                key = mix(mix_pointer(key, x->slots[i].op), (uint64_t)x->slots[i].index);
    return symbol_of(s, key, v->type);
}

/* The same inputs give the same outputs; memory is taken to hold one value. */
static const_value uninterpreted(search *s, side *x, const ir_value *v, int frame, uint64_t key, int nargs)
{
    const ir_op *op = v->def;
    for (int i = 0; i < nargs && !s->failed; i++)
        key = op->args[i]->type == SC_PTR ? mix(mix_pointer(key, op->args[i]), (uint64_t)frame) : mix_value(key, eval(s, x, op->args[i], frame));
    return symbol_of(s, mix(key, (uint64_t)v->index), v->type);
}

static uint64_t iteration_of(const slot *at)
{
    return (uint64_t)at->index - (uint64_t)at->lo;
}

static const_value eval_index(search *s, side *x, const ir_op *loop, int frame, const ir_value *v)
{
    const slot *at = slot_of(x, loop, frame, v->index);
    if (!at)
        return fail(s, v->type);
    s->data |= at->data;
    return integer(v->type, at->index);
}

static const_value eval_carried(search *s, side *x, const ir_value *v, int frame)
{
    const ir_op *loop = v->region->parent;
    slot *at = slot_of(x, loop, frame, 0);
    const bool body = v->region == loop->regions[0];
    const int bounded = loop->attr.bounded ? 1 : 0;
    const int j = v->index - (body ? bounded : 0);
    if (!at || iteration_of(at) > CARRIED_MAX)
        return fail(s, v->type);
    if (at->index == at->lo)
        return eval(s, x, loop->args[2 * bounded + j], frame);
    at->index--;
    const const_value r = eval(s, x, ir_yield_of(loop->regions[0])->args[j], frame);
    at->index++;
    return r;
}

static const_value eval_param(search *s, side *x, const ir_value *v, int frame)
{
    const ir_op *parent = v->region->parent;
    if (!parent && frame > 0)
        return eval(s, x, x->call[frame]->args[v->index], frame - 1);
    if (!parent)
        return symbol_of(s, mix_pointer(2, v), v->type);
    if (parent->code == OP_LOOP && !(parent->attr.bounded && v->region == parent->regions[0] && v->index == 0))
        return eval_carried(s, x, v, frame);
    return eval_index(s, x, parent, frame, v);
}

static const_value eval_pure(search *s, side *x, const ir_value *v, int frame)
{
    const ir_op *op = v->def;
    const_value args[3] = {{0}}, r;
    for (int i = 0; i < op->nargs && !s->failed; i++)
        args[i] = eval(s, x, op->args[i], frame);
    if (s->failed)
        return fail(s, v->type);
    if (op->code == OP_CAST)
        return eval_cast(args[0], v->type);
    return eval_op(op->code, args, &r) ? r : uninterpreted(s, x, v, frame, mix(3, (uint64_t)op->code), op->nargs);
}

static const_value eval_extent(search *s, side *x, const ir_value *v, int frame)
{
    const ir_field *f = v->def->attr.field;
    const ir_value *extent = extent_value(v->def->region->func, f, (int)v->def->attr.i);
    return extent && extent != v ? eval(s, x, extent, frame) : symbol_of(s, mix(mix_pointer(4, f), (uint64_t)v->def->attr.i), v->type);
}

static const_value constant(search *s, const ir_value *v)
{
    const_value r = {.type = v->type};
    if (v->type == SC_PTR)
        return fail(s, v->type);
    if (scalar_is_float(v->type))
        r.f = v->def->attr.f;
    else
        r.i = v->def->attr.i;
    remember(s, r);
    return r;
}

static const_value eval(search *s, side *x, const ir_value *v, int frame)
{
    if (s->failed || --s->budget < 0)
        return fail(s, v->type);
    const ir_op *op = v->def;
    if (!op)
        return eval_param(s, x, v, frame);
    switch (op->code) {
    case OP_CONST:
        return constant(s, v);
    case OP_MPARAM:
        return symbol_of(s, mix_pointer(5, op->attr.mparam), v->type);
    case OP_SHAPE:
        return eval_extent(s, x, v, frame);
    case OP_KEY:
        return symbol_of(s, 6, v->type);
    case OP_LOAD:
        return uninterpreted(s, x, v, frame, mix(mix_pointer(7, op->attr.field), op->attr.plane), op->nargs);
    case OP_LLOAD:
        return uninterpreted(s, x, v, frame, 8, op->nargs);
    case OP_CALL:
        return uninterpreted(s, x, v, frame, mix_pointer(9, op->attr.callee), op->nargs);
    case OP_IF: {
        const const_value c = eval(s, x, op->args[0], frame);
        return s->failed ? fail(s, v->type) : eval(s, x, ir_yield_of(op->regions[c.i ? 0 : 1])->args[v->index], frame);
    }
    default:
        return op_is_pure_table(op->code) ? eval_pure(s, x, v, frame) : opaque(s, x, v, frame);
    }
}

/* ---- iterations ---- */

static bool open_side(side *x, const access *a)
{
    *x = (side){.a = a};
    for (; a; a = a->deeper) {
        const path p = path_to(a->op);
        if (!p.ok || x->nframes == FRAMES || x->n + p.n > PLACES)
            return false;
        for (int i = 0; i < p.n; i++)
            x->at[x->n++] = (place){p.at[i].op, p.at[i].region, x->nframes};
        x->nframes++;
        x->inner = a->op;
        if (a->deeper && x->nframes < FRAMES)
            x->call[x->nframes] = a->op;
    }
    return true;
}

static int64_t draw_index(search *s, int64_t lo, int64_t hi)
{
    const uint64_t count = (uint64_t)hi - (uint64_t)lo, kind = draw(s, 4);
    if (kind == 0 && s->npool) {
        const const_value *near = &s->pool[draw(s, (uint64_t)s->npool)];
        const int64_t i = scalar_is_float(near->type) ? lo : (int64_t)((uint64_t)near->i + draw(s, 3) - 1);
        if (i >= lo && i < hi)
            return i;
    }
    return kind == 1 ? hi - 1 - (int64_t)draw(s, count < 2 ? count : 2) : lo + (int64_t)draw(s, count < 5 ? count : 5);
}

static const_value subscript(search *s, side *x, int k)
{
    return eval(s, x, x->inner->args[k], x->nframes - 1);
}

/* The index with which the write's subscript is what the read's is, if one subscript has it as only unknown. */
static bool solve(search *s, const side *x, const slot *unknown, int64_t *index)
{
    for (int k = 0; k < x->a->nsub && unknown->frame == 0 && !x->a->deeper; k++) {
        const affine *f = &x->a->sub[k];
        int64_t coef = 0;
        uint64_t rest = (uint64_t)f->konst;
        for (int i = 0; i < f->n && f->ok; i++) {
            const ir_value *v = f->term[i];
            if (!v->def && v->region->parent == unknown->op && v->index == unknown->dim)
                coef = f->coef[i];
            else
                rest += (uint64_t)f->coef[i] * (uint64_t)eval(s, &s->write, v, 0).i;
        }
        const int64_t diff = (int64_t)((uint64_t)subscript(s, &s->read, k).i - rest);
        const bool known = f->ok && coef != 0 && diff != INT64_MIN && !s->failed;
        s->failed = false;
        if (!known)
            continue;
        *index = diff / coef;
        return diff % coef == 0;
    }
    return false;
}

/* Draws the iteration of one loop or dimension; fixed: it is this one. */
static bool enter_dim(search *s, side *x, const place *p, int dim, bool shared, const int64_t *fixed)
{
    const bool bounded = p->op->code == OP_TASK || p->op->attr.bounded;
    slot at = {.op = p->op, .frame = p->frame, .dim = dim};
    int64_t hi = CARRIED_MAX;
    s->data = false;
    if (bounded) {
        at.lo = eval(s, x, p->op->args[2 * dim], p->frame).i;
        hi = eval(s, x, p->op->args[2 * dim + 1], p->frame).i;
    }
    at.data = s->data && !shared;
    if (s->failed || hi <= at.lo || x->nslots == SLOTS)
        return false;
    if (fixed)
        at.index = *fixed;
    else if (x != &s->write || !draw(s, 4) || !solve(s, x, &at, &at.index))
        at.index = draw_index(s, at.lo, hi);
    if (at.index < at.lo || at.index >= hi)
        return false;
    x->slots[x->nslots++] = at;
    return true;
}

/* A loop with a condition has come to this iteration. */
static bool still_runs(search *s, side *x, const place *p)
{
    slot *at = slot_of(x, p->op, p->frame, 0);
    const int64_t index = at->index;
    const uint64_t trips = iteration_of(at) + (p->region == p->op->regions[0] ? 1 : 0);
    if (trips > CARRIED_MAX + 1)
        return false;
    bool runs = true;
    for (uint64_t k = 0; k < trips && runs; k++) {
        at->index = at->lo + (int64_t)k;
        runs = eval(s, x, ir_yield_of(p->op->regions[1])->args[0], p->frame).i && !s->failed;
    }
    at->index = index;
    return runs;
}

/* The iteration of the read's that a write in a loop in common is tied to. */
static bool tied(search *s, const overlap *o, const place *p, int dim, int64_t *index)
{
    const slot *at = p->frame == 0 ? slot_of(&s->read, p->op, 0, dim) : NULL;
    for (int i = 0; i < o->nloops && at; i++) {
        if (o->loops[i].op != p->op || o->loops[i].dim != dim)
            continue;
        if (!o->loops[i].fixed || !o->provable)
            return false;
        *index = (int64_t)((uint64_t)at->index + (uint64_t)o->loops[i].delta);
        return true;
    }
    return false;
}

static bool enter(search *s, side *x, const overlap *o)
{
    for (int i = 0; i < x->n; i++) {
        const place *p = &x->at[i];
        if (p->op->code == OP_IF) {
            const bool yes = eval(s, x, p->op->args[0], p->frame).i != 0;
            if (s->failed || p->region != p->op->regions[yes ? 0 : 1])
                return false;
            continue;
        }
        const int dims = p->op->code == OP_TASK ? p->op->attr.ndim : 1;
        for (int d = 0; d < dims; d++) {
            int64_t index;
            const bool fixed = x == &s->write && tied(s, o, p, d, &index);
            if (!enter_dim(s, x, p, d, i < o->ncommon, fixed ? &index : NULL))
                return false;
        }
        if (p->op->code == OP_LOOP && p->op->attr.cond && !still_runs(s, x, p))
            return false;
    }
    return true;
}

/* Whether the write comes after the read. Different iterations of a parallel loop have no order. */
static bool is_later(search *s, const overlap *o)
{
    for (int i = 0; i < o->nloops; i++) {
        const common_loop *c = &o->loops[i];
        const slot *r = slot_of(&s->read, c->op, 0, c->dim), *w = slot_of(&s->write, c->op, 0, c->dim);
        if (r->index != w->index)
            return c->op->code == OP_LOOP && r->index < w->index;
    }
    const int last = o->ncommon - 1;
    if (last >= 0 && o->a.at[last].region != o->b.at[last].region) /* of a loop, the condition runs before the body */
        return o->a.at[last].op->code == OP_LOOP && o->a.at[last].region == o->a.at[last].op->regions[1];
    return s->read.a->op->pos < s->write.a->op->pos;
}

static bool same_element(search *s, const overlap *o)
{
    const ir_field *f = s->read.a->field;
    for (int k = 0; k <= f->ndim; k++) {
        s->data = false;
        const int64_t i = subscript(s, &s->read, k).i, j = subscript(s, &s->write, k).i;
        if (s->failed || i != j || i < 0 || (s->data && !o->provable))
            return false;
        const ir_func *func = s->read.a->op->region->func;
        const ir_value *extent = k < f->ndim ? extent_value(func, f, k) : NULL;
        if (extent && (i >= eval(s, &s->read, extent, 0).i || s->failed))
            return false;
    }
    return true;
}

static bool attempt(search *s, const overlap *o)
{
    s->failed = false;
    s->budget = TRIAL_BUDGET;
    s->nsymbols = s->read.nslots = s->write.nslots = 0;
    return enter(s, &s->read, o) && enter(s, &s->write, o) && is_later(s, o) && same_element(s, o);
}

static uint64_t size_of(const side *x)
{
    uint64_t sum = 0;
    for (int i = 0; i < x->nslots; i++)
        sum += (uint64_t)x->slots[i].index;
    return sum;
}

static void describe(witness *w, search *s, const overlap *o)
{
    size_t used = 0;
    w->text[0] = '\0';
    side *sides[] = {&s->read, &s->write};
    for (int k = 0; k < 2; k++) {
        bool first = true;
        for (int i = 0; i < o->nloops; i++) {
            const common_loop *c = &o->loops[i];
            const char *name = c->op->code == OP_TASK || c->op->attr.bounded ? c->op->regions[0]->params[c->dim]->name : NULL;
            if (!name || used >= sizeof w->text)
                continue;
            const char *before = !first ? ", " : k ? " and " : "";
            used += (size_t)snprintf(w->text + used, sizeof w->text - used, "%s%s = %lld", before, name, (long long)slot_of(sides[k], c->op, 0, c->dim)->index);
            first = false;
        }
        if (!first && used < sizeof w->text)
            used += (size_t)snprintf(w->text + used, sizeof w->text - used, " at the %s", k ? "write" : "read");
    }
    if (used >= sizeof w->text)
        w->text[0] = '\0';
}

bool witness_find(witness *w, const ir_module *m, const access *read, const access *write, const overlap *o)
{
    search s = {.m = m, .random = UINT64_C(0x2545f4914f6cdd1d)};
    if (!o->placed || !open_side(&s.read, read) || !open_side(&s.write, write))
        return false;
    uint64_t least = UINT64_MAX; /* an example with small numbers is easier to follow */
    for (int i = 0; i < TRIALS && w->budget > 0; i++) {
        const bool found = attempt(&s, o);
        w->budget -= TRIAL_BUDGET - s.budget;
        const uint64_t size = size_of(&s.read) + size_of(&s.write);
        if (found && size < least) {
            least = size;
            describe(w, &s, o);
        }
    }
    return least != UINT64_MAX;
}
