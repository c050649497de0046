/* Data-access rules: provable violations.
 *
 * A read that the adjoint needs must still hold its value when the adjoint runs. Which reads these are shows in the
 * simplified adjoint: the loads of data that are left in it. Each is held against the writes of the primal that may
 * come after it. What is certain, if perhaps not in every run, is an error; what may happen, launches on a tape check.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/overlap/disjoint.h"
#include "passes/analysis/overlap/called.h"
#include "passes/rules/at_launch.h"
#include "passes/rules/marks.h"
#include "passes/rules/rules.h"
#include "passes/rules/witness.h"

/* A message given: one for a place, however many components it writes. */
typedef struct report {
    const ir_field *field;
    src_loc loc;
} report;

typedef VEC(access) access_list;

typedef struct rules {
    ir_func *func; /* a kernel, or a function that stays a call */
    ir_module *m;
    uint32_t npos;
    bool *needed; /* pos of a load -> already in reads */
    access_list reads, writes, all;
    VEC(const ir_func *)
    run_again; /* functions whose loads are marked: calling each other twice must not cost 2^depth */
    VEC(called *) called;
    bool *reported; /* pos of a write */
    VEC(report) reports;
    overlap pair; /* the two accesses that are looked at */
    witness conditions;
} rules;

/* ---- collecting ---- */

static void number(ir_op *op, void *ctx)
{
    rules *r = ctx;
    op->pos = r->npos++;
}

static ir_op *primal_of(const rules *r, const ir_op *op)
{
    ir_op *o = ir_root_of(op);
    return o && o->region->func == r->func ? o : NULL;
}

/* What the kernel found there, not what its derivatives made. */
static bool is_primal_data(const ir_op *op)
{
    return !ir_plane_is_adjoint(ir_access_attr(op)->plane);
}

static void need_function(rules *r, const ir_func *f);

static void need_loads(ir_op *op, void *ctx)
{
    if (op->code == OP_LOAD && is_primal_data(op))
        ir_access_attr(op)->needed = true;
    else if (op->code == OP_CALL)
        need_function(ctx, ir_callee_of(op));
}

static void need_function(rules *r, const ir_func *f)
{
    for (size_t i = 0; i < r->run_again.len; i++)
        if (r->run_again.at[i] == f)
            return;
    vec_push(&r->run_again, f);
    ir_walk(f->body, need_loads, r);
}

/* Of a function that the adjoint runs again all loads are needed; what its own adjoint needs is found with that. */
static void need_call(ir_op *call, void *ctx)
{
    rules *r = ctx;
    const ir_func *f = call->code == OP_CALL ? ir_callee_of(call) : NULL;
    if (!f)
        return;
    const ir_op *primal = primal_of(r, call);
    if (primal && ir_callee_of(primal)->ad.gradient_of) /* the pull-back goes by what the gradient read */
        need_function(r, ir_callee_of(primal));
    if (!f->ad.primal)
        need_function(r, f);
    else if (f->ad.primal->ad.replay == f)
        need_function(r, f->ad.primal);
}

typedef struct collecting {
    rules *r;
    called *in;
} collecting;

static void collect_called(ir_op *op, void *ctx);

static const called *called_of(rules *r, const ir_func *f, bool reads)
{
    for (size_t i = 0; i < r->called.len; i++)
        if (r->called.at[i]->func == f && r->called.at[i]->reads == reads)
            return r->called.at[i];
    called *in = ARENA_NEW(r->m->mem, called);
    *in = (called){.func = f, .reads = reads};
    ir_walk(f->body, collect_called, &(collecting){r, in});
    vec_push(&r->called, in);
    return in;
}

static void collect_called(ir_op *op, void *ctx)
{
    const collecting *c = ctx;
    const bool load = op->code == OP_LOAD, memory = load || op->code == OP_STORE || op->code == OP_ACCUM;
    if (op->code == OP_CALL) {
        const called *deeper = called_of(c->r, ir_callee_of(op), c->in->reads);
        for (size_t i = 0; i < deeper->found.len; i++)
            called_add(c->in, c->r->m, op, &deeper->found.at[i]);
    } else if (memory && is_primal_data(op) && load == c->in->reads && (!load || ir_access_attr(op)->needed)) {
        called_add(c->in, c->r->m, op, NULL);
    }
}

/* call: in the primal; f: what is called there, or stands for it. */
static void collect_call(rules *r, const ir_op *call, const ir_func *f, bool reads)
{
    const called *in = called_of(r, f->ad.primal ? f->ad.primal : f, reads);
    access_list *to = reads ? &r->reads : &r->writes;
    for (size_t i = 0; i < in->found.len; i++) {
        const access a = access_in_call(r->m, call, &in->found.at[i], i ? &vec_last(to) : NULL);
        vec_push(to, a);
    }
}

static void collect_one(rules *r, const ir_op *op)
{
    ir_op *primal = primal_of(r, op);
    if (!primal || r->needed[primal->pos])
        return;
    r->needed[primal->pos] = true;
    if (op->code == OP_CALL) {
        const ir_func *callee = ir_callee_of(primal)->ad.gradient_of ? ir_callee_of(primal) : ir_callee_of(op);
        collect_call(r, primal, callee, true);
        return;
    }
    assert(primal->code == OP_LOAD && ir_field_of(primal) == ir_field_of(op));
    ir_access_attr(primal)->needed = !ir_field_of(primal)->scratch; /* of a tape; adjoints make it anew */
    const access a = access_of_op(r->m, primal, r->reads.len ? &vec_last(&r->reads) : NULL);
    vec_push(&r->reads, a);
}

static void collect_needed(ir_op *op, void *ctx)
{
    if (op->code == OP_CALL || (op->code == OP_LOAD && is_primal_data(op)))
        for (; op; op = op->twin)
            collect_one(ctx, op);
}

static void collect_primal(ir_op *op, void *ctx)
{
    rules *r = ctx;
    if (op->code == OP_CALL) {
        collect_call(r, op, ir_callee_of(op), false);
    } else if (op_accesses_field(op->code)) {
        const access a = access_of_op(r->m, op, r->all.len ? &vec_last(&r->all) : NULL);
        vec_push(&r->all, a);
        if (op_writes_field(op->code) && is_primal_data(op))
            vec_push(&r->writes, a);
    }
}

/* True the first time that a message about this write is given. */
static bool is_news(rules *r, const access *w)
{
    r->reported[w->op->pos] = true;
    for (size_t i = 0; i < r->reports.len; i++)
        if (r->reports.at[i].field == w->field && !memcmp(&r->reports.at[i].loc, &w->op->loc, sizeof(src_loc)))
            return false;
    vec_push(&r->reports, ((report){w->field, w->op->loc}));
    return true;
}

/* ---- needed reads against later writes ---- */

/* Whether the write surely comes where the read did, behind the steps that both have in common. A write that depends on
 * a condition counts as well, if the read does not: whenever the branch is taken, the gradient would be wrong. Two
 * conditions may exclude each other. */
static bool follows(const overlap *o, const access *read, const access *write, int read_from, int write_from)
{
    if (!write->guarded && path_is_unconditional(&o->b, write_from) && path_is_index_free(&o->a, read_from))
        return true;
    return !read->guarded && !write->guarded && path_is_unconditional(&o->a, read_from) &&
           path_is_index_free(&o->b, write_from);
}

/* Whether w provably overwrites, after it, what `read` has read: whatever the conditions that both stand under depend
 * on. */
static bool always_overwrites(const overlap *o, const access *read, const access *w)
{
    if (!o->provable)
        return false;
    for (int i = 0, step = 0; i < (int)o->loops.len; i++) {
        const common_loop *c = &o->loops.at[i];
        while (o->a.at[step].op != c->op)
            step++;
        if (c->op->code == OP_TASK) {
            if (!c->fixed || c->delta != 0)
                return false; /* between iterations: a race, if anything */
            continue;
        }
        if (c->fixed && c->delta < 0)
            return false;
        if ((c->fixed && c->delta == 0) || (!c->fixed && loop_runs_at_most(c->op, c->dim, 1)))
            continue;
        if (c->fixed && loop_runs_at_most(c->op, c->dim, c->delta))
            return false;
        if (!read->guarded && !w->guarded && path_is_unconditional(&o->b, step + 1) &&
            path_is_unconditional(&o->a, step + 1))
            return true;
        if (c->fixed)
            return false;
    }
    const int last = o->ncommon - 1;
    if (last >= 0 && o->a.at[last].region != o->b.at[last].region) {
        const ir_op *op = o->a.at[last].op; /* of a loop, the condition runs before the body */
        return op->code == OP_LOOP && o->a.at[last].region == op->regions[1] &&
               follows(o, read, w, o->ncommon, o->ncommon);
    }
    return read->op->pos < w->op->pos && follows(o, read, w, o->ncommon, o->ncommon);
}

/* example: of iterations in which it does, if it depends on them. */
static bool overwrites(rules *r, const access *read, const access *w, const char **example)
{
    overlap_find(&r->pair, r->m, read, w, NULL);
    *example = "";
    if (always_overwrites(&r->pair, read, w))
        return true;
    *example = r->conditions.text;
    return witness_overwritten(&r->conditions, r->m, read, w, &r->pair);
}

typedef struct reason {
    const ir_value *v;
    activity act;
    char text[96];
    src_loc loc;
    bool found;
} reason;

/* What becomes of a value that the adjoint needs: the first use for which a derivative reads it. */
static void find_reason(ir_op *op, void *ctx)
{
    reason *why = ctx;
    for (int k = 0; k < op->nargs && !why->found; k++) {
        if (op->args[k] != why->v)
            continue;
        const char *what = NULL;
        if (op_accesses_field(op->code) && k < ir_field_of(op)->ndim)
            what = "a subscript";
        else if (op->code == OP_IF)
            what = "a condition";
        else if (op->code == OP_LOOP && ir_loop_attr(op)->bounded && k < 2)
            what = "a loop's bound";
        else if (op->code == OP_TASK && k < 2 * ir_task_attr(op)->ndim)
            what = "a loop's bound";
        else if (op->code == OP_CALL)
            what = "an argument of a function";
        if (op_is_pure_table(op->code)) {
            unsigned needs = 0;
            for (int j = 0; j < op->nargs; j++)
                if (activity_has(&why->act, op->args[j]) && why->act.useful[op->res[0]->id] &&
                    !op_zero_derivative(op->code, j) && !op_not_differentiable(op->code, j))
                    needs |= rule_needs(op->code, j, OP_COUNT);
            if (!(needs & (1u << k)) && !(needs & RULE_RESULT))
                continue;
            why->found = true;
            why->loc = op->loc;
            snprintf(why->text, sizeof why->text, "an operand of '%s'", op_name(op->code));
        } else if (what) {
            why->found = true;
            why->loc = op->loc;
            snprintf(why->text, sizeof why->text, "%s", what);
        }
    }
}

static reason reason_of(const rules *r, const access *read)
{
    reason why = {.v = read->op->nres ? read->op->res[0] : NULL, .act = activity_compute(r->func, ACTIVITY_REVERSE)};
    for (int depth = 0; why.v && depth < 8 && !why.found; depth++) {
        ir_walk(r->func->body, find_reason, &why);
        if (why.found)
            break;
        /* Not itself an operand of anything non-linear: follow the first pure operation that uses it. */
        const ir_value *next = NULL;
        for (const ir_op *op = why.v->def ? why.v->def->next : NULL; op && !next; op = op->next)
            for (int k = 0; k < op->nargs; k++)
                if (op->args[k] == why.v && op_is_pure_table(op->code))
                    next = op->res[0];
        why.v = next;
    }
    activity_free(&why.act);
    return why;
}

static const char *plane_name(const rules *r, const access *a)
{
    return arena_printf(r->m->mem, "%s%s", a->field->name, ir_plane_text(a->plane));
}

static void report_overwritten(rules *r, const access *read, const access *w, const char *example)
{
    diag_sink *d = r->m->diag;
    const char *name = plane_name(r, w);
    if (!is_news(r, w))
        return;
    diag(d, span_at(w->op->loc), DIAG_READ_OVERWRITTEN, name, r->func->name);
    const reason why = reason_of(r, read);
    const char *file = why.loc.file != read->op->loc.file ? diag_file_path(d, why.loc.file) : NULL;
    if (why.found)
        diag_note(d, span_at(read->op->loc), "'%s' is read here; the adjoint needs this value: it is %s in line %u%s%s",
                  name, why.text, why.loc.line, file ? " of " : "", file ? file : "");
    else
        diag_note(d, span_at(read->op->loc), "'%s' is read here, and the adjoint needs this value", name);
    if (*example)
        diag_note(d, span_at(w->op->loc), "for example %s", example);
    if (w->plane != IR_DATA)
        diag_note(d, span_at(w->field->loc), "keep what is needed in a field of its own");
    else
        diag_note(d, span_at(w->field->loc),
                  w->field->array ? "write to another array or to a field, so that the value of '%s' stays"
                  : w->field->scratch
                      ? "the adjoint makes the scratch field '%s' once, as the launch left it: write to "
                        "another one, or give it a dimension"
                      : "declare '%s' as 'saved', give it a dimension for time, or write to another field, "
                        "so that the value stays",
                  w->field->whole ? w->field->whole : name);
    if (r->func->ad.no_grad)
        diag_note(d, span_at(r->func->loc),
                  "or write 'derive()' in place of 'no_grad' on kernel '%s' if it is never on a tape", r->func->name);
    else if (r->func->kind == IR_KERNEL)
        diag_note(d, span_at(r->func->loc), "or write 'derive(%s)' on kernel '%s' if it is never to be reversed",
                  r->func->ad.no_jvp_why ? "" : "jvp", r->func->name);
}

/* Subscripts leave it open: a second search, and what that does not find is the launch's to check. */
static void overwrites_rarely(rules *r, const access *read, const access *write)
{
    r->conditions.wide = true;
    const bool found = witness_overwritten(&r->conditions, r->m, read, write, &r->pair);
    r->conditions.wide = false;
    if (found)
        report_overwritten(r, read, write, r->conditions.text);
    else if (write->plane == IR_DATA)
        mark_pair(r->m, read, write);
}

static void check_needed(rules *r)
{
    for (size_t i = 0; i < r->reads.len; i++) {
        const access *read = &r->reads.at[i];
        if (read->field->saved && read->plane == IR_DATA)
            continue;
        for (size_t k = 0; k < r->writes.len; k++) {
            const access *write = &r->writes.at[k];
            const char *example;
            if (r->reported[write->op->pos] || access_never_aliases(read, write))
                continue;
            if (overwrites(r, read, write, &example))
                report_overwritten(r, read, write, example);
            else if (!surely_kept(r->m, read, write, &r->pair))
                overwrites_rarely(r, read, write);
        }
    }
}

/* ---- iterations of one task against each other ---- */

/* Whether the accesses meet from different iterations of the task, whatever the indices. */
static bool always_meet(const overlap *o)
{
    bool found = false;
    int task = 0;
    while (o->provable && o->a.at[task].op->code != OP_TASK)
        task++;
    if (!o->provable || !path_is_unconditional(&o->a, task + 1) || !path_is_unconditional(&o->b, task + 1))
        return false;
    for (int i = 0; i < (int)o->loops.len; i++) {
        const common_loop *c = &o->loops.at[i];
        if (c->op->code != OP_TASK) { /* around the task */
            if (c->fixed && c->delta != 0)
                return false;
            continue;
        }
        const int64_t distance = c->fixed ? llabs(c->delta) : 1;
        if (!found && distance != 0 && !loop_runs_at_most(c->op, c->dim, distance))
            found = true;
        else if (c->fixed && c->delta != 0 && loop_runs_at_most(c->op, c->dim, distance))
            return false;
    }
    return found;
}

/* Each iteration touches an element of its own: every index of the task is a subscript of both. */
static bool is_own_element(const access *a, const access *b, const ir_op *task)
{
    for (int d = 0; d < ir_task_attr(task)->ndim; d++) {
        bool found = false;
        for (int k = 0; k < a->nsub && !found; k++)
            found = a->sub[k].ok && a->sub[k].n == 1 && a->sub[k].term[0] == task->regions[0]->params[d] &&
                    affine_equal(&a->sub[k], &b->sub[k]);
        if (!found)
            return false;
    }
    return true;
}

static bool meet(rules *r, const access *a, const access *b, const char **example)
{
    const ir_op *task = ir_task_of(b->op);
    if (is_own_element(a, b, task))
        return false;
    overlap_find(&r->pair, r->m, a, b, task);
    *example = "";
    if (always_meet(&r->pair))
        return true;
    *example = r->conditions.text;
    return witness_race(&r->conditions, r->m, a, b, &r->pair, task);
}

static const char *verb(unsigned kind)
{
    return kind == OP_READS ? "reads" : kind == OP_STORES ? "stores into" : "adds to";
}

/* max(y, e) that is stored into y: atomic_max does that. The loop may have another access of the element. */
static const char *atomic_for(const ir_op *store)
{
    const ir_op *e = store->nargs > 0 ? store->args[store->nargs - 1]->def : NULL;
    for (int k = 0; e && (e->code == OP_MIN || e->code == OP_MAX) && k < 2; k++) {
        const ir_op *load = e->args[k]->def;
        if (load && load->code == OP_LOAD && ir_field_of(load) == ir_field_of(store))
            return e->code == OP_MIN ? "atomic_min" : "atomic_max";
    }
    return NULL;
}

/* One store of the source, which may be there several times: a loop around it was written out. */
static bool is_one_store(const access *a, const access *b)
{
    const src_loc x = a->op->loc, y = b->op->loc;
    return a->op == b->op ||
           (a->kind == OP_STORES && b->kind == OP_STORES && x.file == y.file && x.line == y.line && x.col == y.col);
}

static void report_race(rules *r, const access *a, const access *b, const char *example)
{
    diag_sink *d = r->m->diag;
    if (!is_news(r, b))
        return;
    if (is_one_store(a, b)) {
        diag(d, span_at(b->op->loc), DIAG_RACE_STORE, plane_name(r, b));
        if (*example)
            diag_note(d, span_at(b->op->loc), "for example in the iterations %s", example);
        const char *atomic = atomic_for(b->op);
        if (atomic)
            diag_note(d, span_at(b->op->loc), "write '%s(%s, ...);', which several iterations may do", atomic,
                      b->field->name);
        diag_note(d, span_at(b->op->loc),
                  "iterations are unordered: use the loop's index in the subscripts, '+=' to add up, or 'serial for'");
        return;
    }
    diag(d, span_at(b->op->loc), DIAG_RACE_TOUCH, verb(b->kind), plane_name(r, b), verb(a->kind));
    diag_note(d, span_at(a->op->loc), "the other access is here");
    if (*example)
        diag_note(d, span_at(b->op->loc), "for example in the iterations %s", example);
    diag_note(d, span_at(b->op->loc),
              "iterations are unordered: use another field or another loop for one of the two, or 'serial for'");
}

static void mark_unproved(const access *a)
{
    if (a->kind == OP_STORES && !a->inner)
        ir_access_attr(a->op)->unproved = true;
}

/* Accesses of which nothing proves that two iterations meet: a launch checks it where arguments decide; of others a
 * read and a write are worth a warning, if the program does not vouch for them. */
static void leave_open(rules *r, const access *a, const access *b)
{
    diag_sink *d = r->m->diag;
    ir_op *task = (ir_op *)ir_task_of(b->op);
    if (is_own_element(a, b, task))
        return;
    overlap_find(&r->pair, r->m, a, b, task);
    if (surely_disjoint(r->m, a, b, &r->pair, task))
        return;
    const char *what = arena_printf(
        r->m->mem, "in kernel '%s' one iteration of a parallel loop %s '%s', and another one %s it: %s", r->func->name,
        verb(b->kind), plane_name(r, b), verb(a->kind), "arguments or params decide that");
    const bool independent = ir_task_attr(task)->independent;
    if (!independent && check_race_at_launch(r->m, a, b, task, what))
        return;
    mark_unproved(a);
    mark_unproved(b);
    if (independent || a->kind != OP_READS || !is_news(r, b))
        return;
    diag(d, span_at(b->op->loc), DIAG_MAY_RACE, verb(b->kind), plane_name(r, b));
    diag_note(d, span_at(a->op->loc), "it is read here");
    diag_note(
        d, span_at(b->op->loc),
        "iterations are unordered: write 'serial for', another field or slab, or subscripts by the loop's index or "
        "a 'distinct' field; or 'independent for' if no two iterations meet");
}

static bool same_subscripts(const access *a, const access *b)
{
    if (a->field != b->field || a->plane != b->plane || a->kind != b->kind || a->op->region != b->op->region)
        return false;
    for (int k = 0; k < a->nsub; k++)
        if (a->op->args[k] != b->op->args[k])
            return false;
    return true;
}

/* Accesses of [from, to) belong to one task. Repeated ones are dropped first, so that long bodies stay cheap. */
static void check_task(rules *r, size_t from, size_t to)
{
    VEC(const access *) list = {0};
    for (size_t i = from; i < to; i++) {
        const access *a = &r->all.at[i];
        bool again = false;
        for (size_t k = list.len; k-- > 0 && list.len - k < 64 && !again;)
            again = same_subscripts(list.at[k], a);
        if (!again)
            vec_push(&list, a);
    }
    for (size_t i = 0; i < list.len; i++) {
        const access *b = list.at[i];
        const char *example;
        if (b->kind == OP_STORES && meet(r, b, b, &example))
            report_race(r, b, b, example);
        else if (b->kind == OP_STORES)
            leave_open(r, b, b);
        for (size_t k = 0; k < list.len && b->kind != OP_READS && !r->reported[b->op->pos]; k++) {
            const access *a = list.at[k];
            const bool both_add = a->kind == OP_ADDS && b->kind == OP_ADDS;
            /* Of two writes the later one is named. */
            const bool earlier = a->kind == OP_READS || k < i;
            if (!both_add && earlier && !access_never_aliases(a, b) && meet(r, a, b, &example))
                report_race(r, a, b, example);
            else if (!both_add && earlier && !access_never_aliases(a, b))
                leave_open(r, a, b);
        }
    }
    for (size_t i = from; i < to; i++) /* what was dropped is like what was not */
        for (size_t k = 0; k < list.len && r->all.at[i].kind == OP_STORES; k++)
            if (ir_access_attr(list.at[k]->op)->unproved && same_subscripts(list.at[k], &r->all.at[i]))
                mark_unproved(&r->all.at[i]);
    vec_free(&list);
}

static void check_races(rules *r)
{
    for (size_t i = 0; i < r->all.len;) {
        const ir_op *task = ir_task_of(r->all.at[i].op);
        size_t end = i + 1;
        while (end < r->all.len && ir_task_of(r->all.at[end].op) == task)
            end++;
        if (task)
            check_task(r, i, end);
        i = end;
    }
}

bool pass_rules(ir_func *f)
{
    rules r = {.func = f, .m = f->module, .conditions = {.budget = WITNESS_BUDGET}};
    const int errors = diag_error_count(r.m->diag);
    const ir_func *adjoint = f->kind == IR_KERNEL ? f->ad.grad : f->ad.vjp;
    ir_walk(f->body, number, &r);
    r.needed = xmalloc((size_t)r.npos + 1);
    r.reported = xmalloc((size_t)r.npos + 1);
    memset(r.needed, 0, (size_t)r.npos + 1);
    memset(r.reported, 0, (size_t)r.npos + 1);
    ir_walk(f->body, collect_primal, &r);
    r.conditions.writes = r.writes.at;
    r.conditions.nwrites = r.writes.len;
    check_races(&r);
    if (adjoint) {
        ir_walk(adjoint->body, need_call, &r);
        ir_walk(adjoint->body, collect_needed, &r);
        check_needed(&r);
    }
    free(r.needed);
    free(r.reported);
    vec_free(&r.reads);
    vec_free(&r.writes);
    vec_free(&r.all);
    vec_free(&r.run_again);
    for (size_t i = 0; i < r.called.len; i++)
        called_free(r.called.at[i]);
    vec_free(&r.called);
    vec_free(&r.reports);
    overlap_free(&r.pair);
    return diag_error_count(r.m->diag) == errors;
}
