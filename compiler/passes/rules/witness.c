/* Bounded search. A trial draws an iteration for each loop around the two accesses, computes bounds, conditions and
 * subscripts with them, and draws what these read: arguments, params, memory, results of loops. One thing has one value
 * in a trial, whenever it is read: so two conditions that exclude each other never both hold. What a loop carries
 * follows from its iterations. What the kernel itself changes while the two happen is not drawn.
 */
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"
#include "passes/rules/witness.h"

#include <math.h>
#include <stdlib.h>

#include "passes/rules/witness_values.h"

/* Where both accesses were never reached together in the first ones, conditions exclude each other most likely. */
enum { TRIALS = 1500, TRIALS_APART = 800, TRIAL_BUDGET = 600 };

/* A loop of which arguments, params or extents decide the length is taken to have so many iterations. */
enum { FEW = 2 };

static void open_side(trial_side *x, const access *a)
{
    *x = (trial_side){.a = a};
    vec_push(&x->call, NULL);
    for (; a; a = a->deeper) {
        const int frame = (int)x->call.len - 1;
        for (int i = 0; i < a->way.n; i++)
            vec_push(&x->at, ((trial_place){a->way.at[i].op, a->way.at[i].region, frame}));
        x->inner = a->op;
        if (a->deeper)
            vec_push(&x->call, a->op);
    }
}

static void close_side(trial_side *x)
{
    vec_free(&x->call);
    vec_free(&x->at);
    vec_free(&x->slots);
}

/* Of so many first iterations one is drawn; wide: where subscripts leave the pair open. */
enum { FIRST = 5, FIRST_WIDE = 10 };

/* Most of what decides happens in the first iterations, in the last ones, or next to a constant. */
static int64_t draw_index(trial *s, int64_t lo, int64_t hi)
{
    const uint64_t count = (uint64_t)hi - (uint64_t)lo, kind = trial_draw(s, 8);
    if (kind < 3 && s->npool) {
        static const int64_t beside[] = {0, 0, -1, 1};
        const const_value *near = &s->pool[trial_draw(s, (uint64_t)s->npool)];
        const int64_t i = scalar_is_float(near->type)
                              ? lo
                              : (int64_t)((uint64_t)near->i + (uint64_t)beside[trial_draw(s, 4)]);
        if (i >= lo && i < hi)
            return i;
    }
    return kind == 3 ? hi - 1 - (int64_t)trial_draw(s, count < 2 ? count : 2)
                     : lo + (int64_t)trial_draw(s, count < s->first ? count : s->first);
}

static const_value subscript(trial *s, trial_side *x, int k)
{
    return trial_eval(s, x, x->inner->args[k], (int)x->call.len - 1);
}

/* The other access's subscript: of the write, which comes second, only what is a constant. */
static bool other_subscript(trial *s, const trial_side *x, int k, uint64_t *value)
{
    if (x == &s->write) {
        *value = (uint64_t)subscript(s, &s->read, k).i;
        return !s->failed;
    }
    const affine *f = &s->write.a->sub[k];
    *value = (uint64_t)f->konst;
    return f->ok && f->n == 0;
}

/* The index with which one access's subscript is what the other's is, if one subscript has it as only unknown. */
static bool solve(trial *s, trial_side *x, const trial_slot *unknown, int64_t *index)
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
                rest += (uint64_t)f->coef[i] * (uint64_t)trial_eval(s, x, v, 0).i;
        }
        uint64_t value;
        const bool found = other_subscript(s, x, k, &value);
        const int64_t diff = (int64_t)(value - rest);
        const bool known = found && f->ok && coef != 0 && diff != INT64_MIN && !s->failed;
        s->failed = false;
        if (!known)
            continue;
        *index = diff / coef;
        return diff % coef == 0;
    }
    return false;
}

/* The write's iteration of a loop around both: often the read's, or the next one. */
static bool follow_read(trial *s, const trial_side *x, const trial_slot *at, bool shared, int64_t *index)
{
    const trial_slot *read = shared && x == &s->write ? trial_slot_of(&s->read, at->op, at->frame, at->dim) : NULL;
    const uint64_t kind = read ? trial_draw(s, 4) : 2;
    if (kind < 2)
        *index = (int64_t)((uint64_t)read->index + kind);
    return kind < 2;
}

/* Draws the iteration of one loop or dimension; fixed: it is this one. How far a loop counts is free, as conditions
 * are; where one begins may follow from where another ends. Of a race, neither data nor the length of a loop beyond the
 * first iterations may decide. */
static bool enter_dim(trial *s, trial_side *x, const trial_place *p, int dim, bool shared, const int64_t *fixed)
{
    const bool bounded = p->op->code == OP_TASK || ir_loop_attr(p->op)->bounded;
    trial_slot at = {.op = p->op, .frame = p->frame, .dim = dim};
    int64_t hi = TRIAL_CARRIED;
    s->data = s->memory = false;
    if (bounded)
        at.lo = trial_eval(s, x, p->op->args[2 * dim], p->frame).i;
    at.data = s->data;
    s->sized = false;
    if (bounded)
        hi = trial_eval(s, x, p->op->args[2 * dim + 1], p->frame).i;
    const bool open = s->data || s->sized;
    at.data |= s->task && s->memory;
    if (s->failed || hi <= at.lo)
        return false;
    if (p->op == s->task && open && (uint64_t)hi - (uint64_t)at.lo > FEW)
        hi = at.lo + FEW;
    if (fixed)
        at.index = *fixed;
    else if (!follow_read(s, x, &at, shared, &at.index) && (!trial_draw(s, 4) || !solve(s, x, &at, &at.index)))
        at.index = draw_index(s, at.lo, hi);
    if (at.index < at.lo || at.index >= hi)
        return false;
    at.data = !shared && (at.data || (s->task && open && trial_iteration_of(&at) >= FEW));
    vec_push(&x->slots, at);
    return true;
}

/* A loop with a condition has come to this iteration. */
static bool still_runs(trial *s, trial_side *x, const trial_place *p)
{
    trial_slot *at = trial_slot_of(x, p->op, p->frame, 0);
    const int64_t index = at->index;
    const uint64_t trips = trial_iteration_of(at) + (p->region == p->op->regions[0] ? 1 : 0);
    if (trips > TRIAL_CARRIED + 1)
        return false;
    bool runs = true;
    for (uint64_t k = 0; k < trips && runs; k++) {
        at->index = at->lo + (int64_t)k;
        runs = trial_eval(s, x, ir_yield_of(p->op->regions[1])->args[0], p->frame).i && !s->failed;
    }
    at->index = index;
    return runs;
}

/* The iteration of the read's that a write in a loop in common is tied to. */
static bool tied(trial *s, const overlap *o, const trial_place *p, int dim, int64_t *index)
{
    const trial_slot *at = p->frame == 0 ? trial_slot_of(&s->read, p->op, 0, dim) : NULL;
    for (int i = 0; i < (int)o->loops.len && at; i++) {
        if (o->loops.at[i].op != p->op || o->loops.at[i].dim != dim)
            continue;
        if (s->task ? p->op == s->task : !o->loops.at[i].fixed || !o->provable)
            return false;
        *index = (int64_t)((uint64_t)at->index + (s->task ? 0 : (uint64_t)o->loops.at[i].delta));
        return true;
    }
    return false;
}

/* What one iteration of the task does may not be what all of them do if data decides: a flag that is set for one only,
 * say. */
static bool decides(const trial *s, bool in_task)
{
    return !s->failed && !(s->data && in_task);
}

static bool enter(trial *s, trial_side *x, const overlap *o)
{
    bool in_task = false;
    for (int i = 0; i < (int)x->at.len; i++) {
        const trial_place *p = &x->at.at[i];
        if (p->op->code == OP_IF) {
            s->data = false;
            const bool yes = trial_eval(s, x, p->op->args[0], p->frame).i != 0;
            if (!decides(s, in_task) || p->region != p->op->regions[yes ? 0 : 1])
                return false;
            continue;
        }
        const int dims = p->op->code == OP_TASK ? ir_task_attr(p->op)->ndim : 1;
        for (int d = 0; d < dims; d++) {
            int64_t index;
            const bool fixed = x == &s->write && tied(s, o, p, d, &index);
            if (!enter_dim(s, x, p, d, i < o->ncommon, fixed ? &index : NULL))
                return false;
        }
        s->data = false;
        if (p->op->code == OP_LOOP && ir_loop_attr(p->op)->cond && (!still_runs(s, x, p) || !decides(s, in_task)))
            return false;
        in_task |= p->op == s->task;
    }
    return true;
}

/* Whether the write comes after the read. Different iterations of a parallel loop have no order. */
static bool is_later(trial *s, const overlap *o)
{
    for (int i = 0; i < (int)o->loops.len; i++) {
        const common_loop *c = &o->loops.at[i];
        const trial_slot *r = trial_slot_of(&s->read, c->op, 0, c->dim),
                         *w = trial_slot_of(&s->write, c->op, 0, c->dim);
        if (r->index != w->index)
            return c->op->code == OP_LOOP && r->index < w->index;
    }
    const int last = o->ncommon - 1;
    if (last >= 0 && o->a.at[last].region != o->b.at[last].region) /* of a loop, the condition runs before the body */
        return o->a.at[last].op->code == OP_LOOP && o->a.at[last].region == o->a.at[last].op->regions[1];
    return s->read.a->op->pos < s->write.a->op->pos;
}

static bool is_other_iteration(trial *s)
{
    for (int d = 0; d < ir_task_attr(s->task)->ndim; d++)
        if (trial_slot_of(&s->read, s->task, 0, d)->index != trial_slot_of(&s->write, s->task, 0, d)->index)
            return true;
    return false;
}

static bool same_element(trial *s, const overlap *o)
{
    const ir_field *f = s->read.a->field;
    for (int k = 0; k <= f->ndim; k++) {
        s->data = false;
        const int64_t i = subscript(s, &s->read, k).i, j = subscript(s, &s->write, k).i;
        if (s->failed || i != j || i < 0)
            return false;
        if (s->data && (s->task || !o->provable) && !trial_is_same(s, s->read.inner->args[k], s->write.inner->args[k]))
            return false;
        const ir_func *func = s->read.a->op->region->func;
        const ir_value *extent = k < f->ndim ? extent_value(func, f, k) : NULL;
        if (extent && (i >= trial_eval(s, &s->read, extent, 0).i || s->failed))
            return false;
    }
    return true;
}

static bool is_one_iteration(trial *s, const overlap *o)
{
    for (int i = 0; i < (int)o->loops.len; i++)
        if (trial_slot_of(&s->read, o->loops.at[i].op, 0, o->loops.at[i].dim)->index !=
            trial_slot_of(&s->write, o->loops.at[i].op, 0, o->loops.at[i].dim)->index)
            return false;
    return true;
}

static bool attempt(trial *s, const overlap *o)
{
    static const int64_t sizes[] = {2, 4, 16};
    s->failed = s->changing = false;
    if (s->sizes.len)
        s->size = sizes[trial_draw(s, sizeof sizes / sizeof *sizes)];
    s->budget = TRIAL_BUDGET;
    s->computed = 0;
    s->nsymbols = 0;
    vec_clear(&s->read.slots);
    vec_clear(&s->write.slots);
    if (!enter(s, &s->read, o) || !enter(s, &s->write, o))
        return false;
    s->reached = true;
    if (s->changing && !is_one_iteration(s, o))
        return false;
    return (s->task ? is_other_iteration(s) : is_later(s, o)) && same_element(s, o);
}

static double size_of(const trial_side *x)
{
    double sum = 0;
    for (int i = 0; i < (int)x->slots.len; i++)
        sum += fabs((double)x->slots.at[i].index);
    return sum;
}

/* The index as the program names it: with a step, it follows from a counter without name. */
static const ir_value *named_index(const ir_op *loop, int dim)
{
    const ir_region *body = loop->regions[0];
    if (loop->code == OP_LOOP && !ir_loop_attr(loop)->bounded)
        return NULL;
    if (body->params[dim]->name)
        return body->params[dim];
    for (const ir_op *op = body->first; op; op = op->next) {
        if (op->nres != 1 || !op->res[0]->name || op->res[0]->type != SC_I64)
            continue;
        const affine a = affine_of(op->res[0]);
        for (int i = 0; i < a.n && a.ok; i++)
            if (a.term[i] == body->params[dim])
                return op->res[0];
    }
    return NULL;
}

/* The iterations of the loops in common, or of the task. */
static void describe(witness *w, trial *s, const overlap *o)
{
    size_t used = 0;
    w->text[0] = '\0';
    trial_side *sides[] = {&s->read, &s->write};
    for (int k = 0; k < 2; k++) {
        bool first = true;
        for (int i = 0; i < (int)o->loops.len; i++) {
            const common_loop *c = &o->loops.at[i];
            const ir_value *index = named_index(c->op, c->dim);
            if (!index || used >= sizeof w->text || (s->task && c->op != s->task))
                continue;
            const long long at = trial_eval(s, sides[k], index, 0).i;
            const char *before = !first ? ", " : k ? " and " : "";
            used += (size_t)snprintf(w->text + used, sizeof w->text - used, "%s%s = %lld", before, index->name, at);
            first = false;
        }
        if (!first && !s->task && used < sizeof w->text)
            used += (size_t)snprintf(w->text + used, sizeof w->text - used, " at the %s", k ? "write" : "read");
    }
    if (used >= sizeof w->text)
        w->text[0] = '\0';
}

/* What the bounds of the task are made of, and the extents of the array of the host that both access. */
static void find_sizes(trial *s)
{
    const ir_field *f = s->read.a->field;
    for (int d = 0; d < ir_task_attr(s->task)->ndim; d++)
        trial_add_sizes(s, s->task->args[2 * d + 1]);
    for (int d = 0; d < f->ndim && f->array; d++)
        trial_add_sizes(s, ir_array_extent(s->task->region->func, f, d));
}

static bool find(witness *w, const ir_module *m, const access *read, const access *write, const overlap *o,
                 const ir_op *task)
{
    trial s = {.m = m,
               .random = UINT64_C(0x2545f4914f6cdd1d),
               .task = task,
               .writes = w->writes,
               .nwrites = w->nwrites,
               .first = w->wide ? FIRST_WIDE : FIRST};
    if (!o->placed)
        return false;
    open_side(&s.read, read);
    open_side(&s.write, write);
    if (task)
        find_sizes(&s);
    double least =
        INFINITY; /* an example with small numbers, and the params that everybody knows, is easier to follow */
    for (int i = 0; i < (s.reached ? TRIALS : TRIALS_APART) && w->budget > 0; i++) {
        s.defaults = i % 2 == 0;
        const bool found = attempt(&s, o);
        w->budget -= TRIAL_BUDGET - s.budget;
        const double size = size_of(&s.read) + size_of(&s.write) + (s.defaults ? 0 : 1e6);
        if (found && size < least) {
            least = size;
            describe(w, &s, o);
        }
    }
    close_side(&s.read);
    close_side(&s.write);
    vec_free(&s.sizes);
    return least < INFINITY;
}

bool witness_overwritten(witness *w, const ir_module *m, const access *read, const access *write, const overlap *o)
{
    return find(w, m, read, write, o, NULL);
}

bool witness_race(witness *w, const ir_module *m, const access *a, const access *b, const overlap *o, const ir_op *task)
{
    return find(w, m, a, b, o, task);
}
