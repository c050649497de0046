/* Saved fields: what the adjoint of a kernel that overwrites them does about it.
 *
 * The tape keeps what a launch overwrites and restores it on the way back, so an adjoint may see a saved field as the
 * launch left it or as the launch found it. The reads that the adjoint needs decide, field by field:
 *
 *     no write changes what was read  the state after the launch serves, as for every other field
 *     all come before the writes      the state before the launch serves (IR_BEFORE_WANTED)
 *     both                            the adjoint starts from the state before the launch and replays the kernel: its
 * forward sweep writes saved fields once more and keeps the values read; its reverse sweep takes these writes back
 * where an adjoint of a parallel loop reads memory (IR_BEFORE_REPLAYED)
 *
 * A read comes before or after a write only if the write may touch the element that is read. Writes in order, outside
 * of parallel loops, are taken back as well where there are fewer of them than of the reads that they overwrite: each
 * keeps its element's old value, the reverse sweep puts that back, and reads the field in place of saved reads.
 *
 * Iterations of one parallel loop share no element that one of them stores, by the language's rule; so within a
 * parallel loop only the order inside an iteration counts, and each iteration of its adjoint writes, reads and takes
 * back its own elements alone.
 */
#include <stdlib.h>
#include <string.h>

#include "passes/analysis/analysis.h"
#include "passes/analysis/overlap/disjoint.h"
#include "passes/derive/derive.h"
#include "passes/derive/reverse/plan/plan.h"
#include "passes/simplify/simplify.h"

typedef struct site {
    access a;
    const ir_op *task; /* around it, or NULL */
    bool needed;       /* loads: by the adjoint that reads saved fields like any other */
} site;

typedef struct study {
    ir_func *f;
    ir_module *m;
    uint32_t npos;
    bool *written, *read; /* by field: in the kernel, data */
    VEC(site) loads, writes;
    const bool *live, *asked; /* by value id */
    bool scratch;             /* the adjoint reads a scratch field */
    VEC(const ir_op *) makes; /* writes to scratch fields */
    overlap *pair;            /* a read and a write that are looked at */
    const ir_op **call; /* by field: the first that touches it, of a function with a derivative of its own, or of a
                           gradient that keeps values; no other is a call here still */
} study;

/* ---- what the kernel does ---- */

static void collect_call(study *s, const ir_op *op)
{
    effects e = effects_of_op(s->m, op);
    for (size_t i = 0; i < s->m->fields.len; i++) {
        const unsigned bits = e.at[ir_storage_of(s->m->fields.at[i], IR_DATA)];
        if ((!s->m->fields.at[i]->saved && !s->m->fields.at[i]->scratch) || !bits)
            continue;
        s->written[i] |= (bits & (OP_STORES | OP_ADDS)) != 0;
        if (!s->call[i])
            s->call[i] = op;
    }
    effects_free(&e);
}

static void collect(ir_op *op, void *ctx)
{
    study *s = ctx;
    op->pos = s->npos++;
    if (op->code == OP_CALL)
        collect_call(s, op);
    if ((op->code != OP_LOAD && !rev_is_write(op)) || ir_access_attr(op)->plane != IR_DATA)
        return;
    if (ir_field_of(op)->scratch && rev_is_write(op))
        vec_push(&s->makes, op);
    if (!ir_field_of(op)->saved)
        return;
    const site at = {.a = access_of_op(s->m, op, NULL), .task = ir_task_of(op)};
    if (op->code == OP_LOAD) {
        s->read[ir_field_of(op)->index] = true;
        vec_push(&s->loads, at);
    } else {
        s->written[ir_field_of(op)->index] = true;
        vec_push(&s->writes, at);
    }
}

static study study_of(ir_func *f)
{
    ir_module *m = f->module;
    study s = {.f = f, .m = m};
    s.written = ARENA_ARRAY(m->mem, bool, m->fields.len + 1);
    s.read = ARENA_ARRAY(m->mem, bool, m->fields.len + 1);
    s.call = ARENA_ARRAY(m->mem, const ir_op *, m->fields.len + 1);
    s.pair = ARENA_NEW(m->mem, overlap);
    ir_walk(f->body, collect, &s);
    return s;
}

static bool is_loop(const ir_op *op)
{
    return op->code == OP_LOOP;
}

/* Whether `then` may run after `first` in one run of the region that holds both; of a task, in one iteration. `within`:
 * look no further out; may be NULL. */
static bool may_follow(const ir_op *first, const ir_op *then, const ir_op *within)
{
    const ir_op *a = first, *b = NULL;
    for (; a; a = a->region->parent) {
        for (b = then; b && b->region != a->region;)
            b = b->region->parent;
        if (b)
            break;
    }
    if (!a)
        return false; /* not reached: the function's body holds both */
    for (const ir_op *op = a == b ? a : a->region->parent; op && op != within; op = op->region->parent)
        if (is_loop(op))
            return true;
    return a->pos < b->pos;
}

static bool is_repeated(const ir_op *op)
{
    for (op = op->region->parent; op; op = op->region->parent)
        if (is_loop(op))
            return true;
    return false;
}

/* Whether `then` may touch, behind `first`, the element that this has touched. `within`: in one iteration of the task,
 * in one trip of the loop, around both; NULL: anywhere. */
static bool may_touch_again(const study *s, const site *first, const site *then, const ir_op *within)
{
    if (access_never_aliases(&first->a, &then->a) || !may_follow(first->a.op, then->a.op, within))
        return false;
    overlap_find(s->pair, s->m, &first->a, &then->a, NULL);
    return !surely_kept_within(s->m, &first->a, &then->a, s->pair, within);
}

/* The same in a later run of the task around both. */
static bool may_touch_in_later_run(const study *s, const site *first, const site *then)
{
    if (access_never_aliases(&first->a, &then->a) || !is_repeated(first->task))
        return false;
    overlap_find(s->pair, s->m, &first->a, &then->a, NULL);
    return !surely_kept_beyond(s->m, &first->a, &then->a, s->pair, first->task);
}

/* ---- which state serves ---- */

/* A read that is live is one that the adjoint needs. */
static void mark_needed(ir_op *op, void *ctx)
{
    study *s = ctx;
    if (op->code == OP_LOAD && ir_access_attr(op)->plane == IR_DATA && ir_field_of(op)->scratch)
        s->scratch |= s->live[op->res[0]->id];
}

static void find_needed(study *s, const bool *live)
{
    s->live = live;
    ir_walk(s->f->body, mark_needed, s);
    for (size_t i = 0; i < s->loads.len; i++)
        s->loads.at[i].needed = live[s->loads.at[i].a.op->res[0]->id];
}

typedef struct order {
    bool before, after; /* a needed read may come before a write of its element, after one */
} order;

static order order_of(const study *s, const ir_field *f)
{
    order o = {false, false};
    for (size_t i = 0; i < s->loads.len; i++) {
        const site *l = &s->loads.at[i];
        for (size_t k = 0; k < s->writes.len && l->needed && l->a.field == f; k++) {
            const site *w = &s->writes.at[k];
            o.before = o.before || may_touch_again(s, l, w, NULL);
            o.after = o.after || may_touch_again(s, w, l, NULL);
        }
    }
    return o;
}

/* ---- the plan of a replay ---- */

/* Every iteration has an element of its own: each index of the task is, up to a shift, a subscript. */
static bool is_own(const site *w)
{
    const ir_op *task = w->task;
    for (int d = 0; d < ir_task_attr(task)->ndim; d++) {
        bool found = false;
        for (int k = 0; k < w->a.nsub && !found; k++)
            found = w->a.sub[k].ok && w->a.sub[k].n == 1 && w->a.sub[k].term[0] == task->regions[0]->params[d] &&
                    w->a.sub[k].coef[0] != 0;
        if (!found)
            return false;
    }
    return true;
}

/* What an iteration reads behind a write of its own is found when its adjoint writes it again. No other iteration
 * touches such an element, by the language's rule; but a sum that is not known to be the iteration's own may have other
 * elements, which several take back: then one thread does, in order. */
static void plan_task(const study *s, const site *w, saved_plan *p)
{
    for (size_t i = 0; i < s->loads.len; i++) {
        const site *l = &s->loads.at[i];
        if (l->task != w->task || !l->needed || !may_touch_again(s, w, l, w->task))
            continue;
        p->fused[w->a.op->pos] = true;
        p->ordered[w->task->pos] |= w->a.op->code != OP_STORE && !is_own(w);
    }
}

/* Whether something behind the write reads it that is not of the same iteration. */
static bool is_read_later(const study *s, const site *w)
{
    for (size_t i = 0; i < s->loads.len; i++) {
        const site *l = &s->loads.at[i];
        const bool same = w->task && l->task == w->task;
        if (l->needed && (same ? may_touch_in_later_run(s, w, l) : may_touch_again(s, w, l, NULL)))
            return true;
    }
    return false;
}

/* runs: by position of a task, whether the forward sweep runs it, for a sum or for a write that is kept. Then what it
 * reads counts as well. */
static void plan_write(const study *s, const site *w, const bool *runs, saved_plan *p)
{
    const uint32_t pos = w->a.op->pos;
    bool later = p->keep[pos], memory = false;
    if (w->task)
        plan_task(s, w, p);
    for (size_t i = 0; i < s->loads.len; i++) {
        const site *l = &s->loads.at[i];
        if (!l->needed || access_never_aliases(&l->a, &w->a))
            continue;
        const bool same = w->task && l->task == w->task;
        later = later || (same && runs[w->task->pos] && may_touch_again(s, w, l, w->task));
        /* The adjoint of a task reads memory, and runs when the write has been taken back. */
        memory = memory || (l->task && may_touch_again(s, l, w, NULL));
    }
    memory |= p->fused[pos]; /* done again where the task began */
    p->keep[pos] = later;
    if (later && w->task && ir_access_attr(w->a.op)->exact && !is_own(w))
        ir_task_attr(w->task)->ordered =
            true; /* several iterations add to one element, here and when the adjoint adds them up again */
    if (!later || !memory)
        return;
    if (w->task)
        p->snap[(size_t)w->task->pos * s->m->fields.len + (size_t)w->a.field->index] = true;
    else
        p->undo[pos] = true;
}

static void plan_writes(const study *s, saved_plan *p)
{
    bool *runs = ARENA_ARRAY(s->m->mem, bool, (size_t)s->npos + 1);
    for (size_t i = 0; i < s->writes.len; i++) {
        const site *w = &s->writes.at[i];
        p->keep[w->a.op->pos] = s->read[w->a.field->index] && is_read_later(s, w);
        if (w->task)
            runs[w->task->pos] |= w->task->nres > 0 || p->keep[w->a.op->pos];
    }
    for (size_t i = 0; s->scratch && i < s->makes.len; i++)
        if (ir_task_of(s->makes.at[i]))
            runs[ir_task_of(s->makes.at[i])->pos] = true;
    for (size_t i = 0; i < s->writes.len; i++)
        if (s->read[s->writes.at[i].a.field->index])
            plan_write(s, &s->writes.at[i], runs, p);
}

static saved_plan *plan_nothing(const study *s)
{
    arena *mem = s->m->mem;
    const size_t n = (size_t)s->npos + 1;
    saved_plan *p = ARENA_NEW(mem, saved_plan);
    p->npos = s->npos;
    p->keep = ARENA_ARRAY(mem, bool, n);
    p->undo = ARENA_ARRAY(mem, bool, n);
    p->fused = ARENA_ARRAY(mem, bool, n);
    p->fixed = ARENA_ARRAY(mem, bool, n);
    p->ordered = ARENA_ARRAY(mem, bool, n);
    p->snap = ARENA_ARRAY(mem, bool, n * s->m->fields.len);
    return p;
}

/* Every write to a scratch field once more: one may be computed from another. No element that the adjoint reads is
 * overwritten behind the read, by the rules, so that all of them hold at the end of the forward sweep what every read
 * found. */
static void plan_scratch(const study *s, saved_plan *p)
{
    for (size_t i = 0; i < s->makes.len; i++) {
        const ir_op *w = s->makes.at[i], *task = ir_task_of(w);
        const site at = {.a = access_of_op(s->m, (ir_op *)w, NULL), .task = task};
        p->keep[w->pos] = true;
        if (task && ir_access_attr(w)->exact && w->code != OP_STORE && !is_own(&at))
            ir_task_attr((ir_op *)task)->ordered = true; /* the same bits once more */
    }
}

/* Whether only the forward sweep finds the value of a load: a write behind it is done again, and is not taken back when
 * the reverse sweep begins with the load's trip or branch. */
static bool is_fixed(const study *s, const site *l, const saved_plan *p)
{
    bool fixed = false;
    for (size_t k = 0; k < s->writes.len && !fixed; k++) {
        const site *w = &s->writes.at[k];
        const ir_op *around = l->a.op->region->parent;
        if (l->task)
            fixed = w->task == l->task && p->fused[w->a.op->pos] && may_touch_again(s, l, w, l->task);
        else if (p->undo[w->a.op->pos] && around)
            fixed = ir_region_is_ancestor(l->a.op->region, w->a.op->region) && may_touch_again(s, l, w, around);
        else
            fixed = may_touch_again(s, l, w, NULL);
    }
    return fixed;
}

static void fix_loads(const study *s, saved_plan *p)
{
    for (size_t i = 0; i < s->loads.len; i++)
        p->fixed[s->loads.at[i].a.op->pos] = is_fixed(s, &s->loads.at[i], p);
}

/* How often the forward sweep would save what loads at kernel level find in the field. */
static int64_t saves_of(const study *s, const ir_field *f, const saved_plan *p)
{
    int64_t n = 0;
    for (size_t i = 0; i < s->loads.len; i++) {
        const ir_op *load = s->loads.at[i].a.op;
        if (!s->loads.at[i].task && ir_field_of(load) == f && s->asked[load->res[0]->id] && p->fixed[load->pos])
            n += rev_times(load->region);
    }
    return n;
}

/* Writes in order are taken back where that keeps fewer values than the loads do that they overwrite. */
static void plan_undo(const study *s, const ir_field *f, saved_plan *p)
{
    int64_t writes = 0;
    const int64_t loads = saves_of(s, f, p);
    bool *before = ARENA_ARRAY(s->m->mem, bool, (size_t)s->npos + 1);
    memcpy(before, p->undo, (size_t)s->npos * sizeof *before);
    for (size_t i = 0; i < s->writes.len && loads; i++) {
        const ir_op *w = s->writes.at[i].a.op;
        if (s->writes.at[i].task || ir_field_of(w) != f || !p->keep[w->pos])
            continue;
        writes += p->undo[w->pos] ? 0 : rev_times(w->region);
        p->undo[w->pos] = true;
    }
    if (!loads)
        return;
    fix_loads(s, p);
    if (writes + saves_of(s, f, p) < loads)
        return;
    memcpy(p->undo, before, (size_t)s->npos * sizeof *before);
    fix_loads(s, p);
}

static saved_plan *plan_of(const study *s)
{
    saved_plan *p = plan_nothing(s);
    if (s->scratch)
        plan_scratch(s, p);
    plan_writes(s, p);
    fix_loads(s, p);
    for (size_t i = 0; i < s->m->fields.len; i++)
        if (s->written[i] && s->read[i])
            plan_undo(s, s->m->fields.at[i], p);
    return p;
}

/* ---- the pass ---- */

static bool refused(const study *s)
{
    for (size_t i = 0; i < s->m->fields.len; i++)
        if (s->call[i] && s->written[i])
            return !diag(s->m->diag, span_at(s->call[i]->loc), DIAG_NOT_COMPILED,
                         arena_printf(s->m->mem, "a %s that touches the %s field '%s' in a kernel that writes it",
                                      ir_callee_of(s->call[i])->ad.gradient_of ? "gradient of a function"
                                                                               : "function with its own derivative",
                                      s->m->fields.at[i]->saved ? "saved" : "scratch", s->m->fields.at[i]->name));
    return false;
}

/* True if one field at least needs a replay. */
static bool choose(study *s)
{
    ir_part *parts = ARENA_ARRAY(s->m->mem, ir_part, s->m->fields.len + 1);
    int n = 0, wanted = 0;
    bool replay = false;
    order all = {false, false};
    for (size_t i = 0; i < s->m->fields.len; i++) {
        ir_field *f = s->m->fields.at[i];
        if (!s->written[i] || !s->read[i])
            continue;
        const order o = order_of(s, f);
        all.before |= o.before;
        all.after |= o.after;
        const unsigned what = o.before ? IR_PART_BEFORE_WANTED : 0;
        parts[n++] = (ir_part){.field = f, .what = what, .last = ir_field_ncomp(f) - 1};
        replay |= o.before && o.after;
    }
    replay |= s->f->launch.from_before && all.before && all.after;
    for (int i = 0; i < n; i++) {
        if (replay) /* it may depend on any of them */
            parts[i].what = IR_PART_BEFORE_WANTED | IR_PART_BEFORE_REPLAYED;
        if (parts[i].what)
            parts[wanted++] = parts[i];
    }
    s->f->launch.parts = parts;
    s->f->launch.nparts = wanted;
    return replay;
}

static void study_free(study *s)
{
    overlap_free(s->pair);
    vec_free(&s->makes);
    vec_free(&s->loads);
    vec_free(&s->writes);
}

saved_plan *scratch_study(const rev *rv)
{
    study s = study_of((ir_func *)rv->primal);
    saved_plan *plan = NULL;
    find_needed(&s, rv->plan->live);
    if (s.scratch && s.makes.len) {
        plan = plan_nothing(&s);
        plan_scratch(&s, plan);
    }
    study_free(&s);
    return plan;
}

bool saved_study(const rev *rv, saved_plan **plan)
{
    study s = study_of((ir_func *)rv->primal);
    const bool ok = !refused(&s);
    *plan = NULL;
    if (ok && s.writes.len) {
        find_needed(&s, rv->plan->live);
        s.asked = rv->plan->is_asked;
        if (choose(&s)) {
            s.scratch = s.makes.len > 0; /* what is replayed may be computed from them */
            *plan = plan_of(&s);
        }
    }
    study_free(&s);
    return ok;
}
