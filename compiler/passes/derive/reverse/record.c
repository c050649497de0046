/* Records: old values of atomics, which depend on the order in which iterations came, cannot be replayed. The kernel
 * writes those that its adjoint needs to the record of the launch, in blocks. An atomic in a parallel loop has a block
 * for each time that the loop runs (`turn`), with an element for each iteration (`at`); one at kernel level has a
 * single block.
 *
 * Of a minimum or maximum without old value derivatives ask who set the element. In a parallel loop the block has an
 * element (`slot`) for each component of the field, with the winner's iteration and the number of its execution there
 * (`step`); the atomics of that field in the loop share it. At kernel level each execution knows at once, and that is
 * recorded as its old value would be.
 *
 * Sequential loops between the block's place and the atomic: where each trip of all of them comes to the atomic, and
 * their numbers are known at that place, they are dimensions of the block like those of the parallel loop. Otherwise
 * the elements are logs, which grow, and `step` counts their values.
 *
 * Before differentiation these numbers are put behind the operands of the atomics, so that reverse mode finds their
 * values as it finds all others.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/derive/reverse/build/build.h"
#include "passes/simplify/simplify.h"

typedef VEC(ir_op *) op_list;

/* Where the block of an atomic is made, and what stands between. */
typedef struct place {
    ir_op *unit;  /* the block is made before it: the parallel loop, or the outermost sequential one, or the atomic */
    ir_op *task;  /* the parallel loop, or NULL */
    op_list path; /* if there are loops: these and the branches around the atomic, outermost first; without a task, with
                     the unit */
    bool log;
} place;

/* ---- where ---- */

static bool is_dimension(const ir_op *op, const ir_op *unit)
{
    return op->code == OP_LOOP && ir_loop_attr(op)->bounded && !ir_loop_attr(op)->cond &&
           ir_can_leave(op->args[0], unit) && ir_can_leave(op->args[1], unit);
}

static ir_op *unit_of(ir_op *op)
{
    ir_op *unit = op;
    for (ir_op *p = op->region->parent; p; p = p->region->parent) {
        if (p->code == OP_TASK)
            return p;
        if (p->code == OP_LOOP)
            unit = p;
    }
    return unit;
}

/* What is around op, inside `end`, outermost first. */
static void path_to(const ir_op *op, const ir_op *end, op_list *path)
{
    for (ir_op *p = op->region->parent; p != end; p = p->region->parent)
        vec_push(path, p);
    for (size_t i = 0; i < path->len / 2; i++) {
        ir_op *p = path->at[i];
        path->at[i] = path->at[path->len - 1 - i];
        path->at[path->len - 1 - i] = p;
    }
}

static place place_of(ir_op *atomic)
{
    place p = {.unit = unit_of(atomic)};
    p.task = p.unit->code == OP_TASK ? p.unit : NULL;
    bool loops = false, all = true;
    path_to(atomic, p.task ? p.task : p.unit->region->parent, &p.path);
    for (size_t i = 0; i < p.path.len; i++) {
        loops |= p.path.at[i]->code == OP_LOOP;
        all &= is_dimension(p.path.at[i], p.unit);
    }
    if (!loops)
        p.path.len = 0;
    p.log = loops && !all;
    return p;
}

/* ---- counting ---- */

static ir_builder before_op(ir_op *op, const ir_op *atomic)
{
    return (ir_builder){.func = op->region->func, .region = op->region, .before = op, .loc = atomic->loc};
}

/* How often op has run since the root of `path` began, `path` being the loops and branches around it: a value that is
 * carried through all of them. */
static ir_value *count_runs(ir_op *op, ir_op *const *path, size_t n)
{
    while (n > 0 && path[0]->code != OP_LOOP)
        path++, n--;
    ir_builder b = before_op(n > 0 ? path[0] : op, op);
    ir_value *count = ir_const_i(&b, SC_I64, 0);
    VEC(ir_value *) in = {0}, out = {0};
    for (size_t i = 0; i < n; i++) {
        ir_value *result = NULL;
        vec_push(&in, count);
        if (path[i]->code == OP_LOOP)
            count = ir_loop_carry(path[i], count, &result);
        vec_push(&out, result);
    }
    b = (ir_builder){.func = op->region->func, .region = op->region, .before = op->next, .loc = op->loc};
    ir_value *one = ir_const_i(&b, SC_I64, 1), *next = ir_op2(&b, OP_ADD, count, one);
    const ir_region *from = op->region;
    for (size_t i = n; i-- > 0; from = path[i]->region) {
        for (int k = 0; k < path[i]->nregions; k++)
            if (path[i]->regions[k] == from || path[i]->code == OP_IF)
                ir_add_arg(ir_yield_of(path[i]->regions[k]), path[i]->regions[k] == from ? next : in.at[i]);
        next = out.at[i] ? out.at[i] : ir_add_result(path[i], SC_I64);
    }
    vec_free(&in);
    vec_free(&out);
    return count;
}

/* How often the task has run since the kernel began. */
static ir_value *count_turns(ir_op *task)
{
    op_list path = {0};
    path_to(task, NULL, &path);
    ir_value *turn = count_runs(task, path.at, path.len);
    vec_free(&path);
    return turn;
}

static ir_value *iteration(ir_op *atomic, const place *p)
{
    ir_builder b = before_op(p->task->regions[0]->first, atomic);
    return rev_iteration_number(&b, p->task);
}

/* at: NULL, or what counts outside of the sequential loops. The number of the element, each dimension's part where its
 * loop begins. */
static ir_value *element(ir_op *atomic, const place *p, ir_value *at)
{
    ir_builder b;
    for (size_t i = 0; i < p->path.len && !p->log; i++) {
        ir_op *loop = p->path.at[i];
        b = before_op(loop, atomic);
        if (at) {
            ir_value *n = ir_op2(&b, OP_SUB, loop->args[1], loop->args[0]);
            at = ir_op2(&b, OP_MUL, at, n);
        }
        b = before_op(loop->regions[0]->first, atomic);
        ir_value *k = ir_op2(&b, OP_SUB, loop->regions[0]->params[0], loop->args[0]);
        at = at ? ir_op2(&b, OP_ADD, at, k) : k;
    }
    if (at)
        return at;
    b = before_op(p->task ? p->task->regions[0]->first : p->unit, atomic);
    return ir_const_i(&b, SC_I64, 0);
}

/* Which value of its log. */
static ir_value *log_step(ir_op *atomic, const place *p)
{
    if (p->log)
        return count_runs(atomic, p->path.at, p->path.len);
    ir_builder b = before_op(atomic, atomic);
    return ir_const_i(&b, SC_I64, 0);
}

typedef struct turn_of {
    const ir_op *task;
    ir_value *turn;
} turn_of;

static bool shares_winners(const ir_op *op, const ir_op *task, const ir_field *f)
{
    return ir_atomic_has_winner(op) && ir_field_of(op) == f && ir_task_of(op) == task;
}

/* ---- what has no winner ---- */

typedef struct company {
    const ir_op *atomic, *task;
    const ir_op *other; /* what else may touch the element in the parallel loop */
} company;

static void find_company(ir_op *op, void *ctx)
{
    company *c = ctx;
    const ir_field *f = ir_field_of(c->atomic);
    if (c->other || op == c->atomic)
        return;
    if (op->code == OP_CALL) {
        effects e = effects_of_op(op->region->func->module, op);
        if (e.at[ir_storage_of(f, IR_DATA)])
            c->other = op;
        effects_free(&e);
        return;
    }
    if (!op_accesses_field(op->code) || ir_field_of(op) != f || ir_access_attr(op)->plane != IR_DATA)
        return;
    const bool alike = ir_atomic_has_winner(op) && ir_access_attr(op)->with == ir_access_attr(c->atomic)->with;
    if (!alike && !never_meet(c->task, op, c->atomic))
        c->other = op;
}

/* A minimum or maximum whose winner does not depend on the order of iterations; reported if it is not. */
static bool may_win(const ir_func *kernel, const ir_op *atomic)
{
    const ir_field *f = ir_field_of(atomic);
    diag_sink *d = kernel->module->diag;
    const char *name = arena_printf(kernel->module->mem, "atomic_%s", op_name(ir_access_attr(atomic)->with));
    company c = {.atomic = atomic, .task = ir_task_of(atomic)};
    const bool winner = ir_atomic_has_winner(atomic);
    if (winner && c.task)
        ir_walk(c.task->regions[0], find_company, &c);
    if (!c.other && (winner || !ir_atomic_is_extreme(atomic) || !f->grad ||
                     !kernel->ad.no_grad)) /* of kernels with derivatives, old values were looked at */
        return true;
    diag(d, span_at(atomic->loc), DIAG_NOT_DIFFERENTIABLE, name);
    if (!winner) {
        diag_note(d, span_at(f->loc),
                  "'%s' has a gradient, which ends where an element is set: as a statement, without the old value, "
                  "'%s' knows where",
                  f->name, name);
        return false;
    }
    diag_note(d, span_at(c.other->loc), "'%s' is %s, in the same parallel loop, whose iterations are unordered",
              f->name,
              c.other->code == OP_LOAD   ? "read here"
              : c.other->code == OP_CALL ? "touched by this function"
                                         : "written here as well");
    diag_note(d, span_at(atomic->loc), "use another loop for one of the two%s",
              c.other->code == OP_LOAD ? "; a test in front of the atomic is not needed" : "");
    return false;
}

typedef struct numbering {
    uint32_t *uses; /* NULL: for forward mode, which has no interest in old values */
    VEC(ir_op *) atomics;
    VEC(turn_of) turns;
} numbering;

/* A replay of a saved field sets its dual as well. */
static bool has_derivative(const numbering *n, const ir_field *f)
{
    return n->uses ? f->grad || (f->dual && (f->saved || f->scratch)) : f->dual;
}

static void find_atomic(ir_op *op, void *ctx)
{
    numbering *n = ctx;
    if (op->code != OP_ATOMIC || ir_atomic_form(op) > 0)
        return;
    if ((n->uses && n->uses[op->res[0]->id]) || (ir_atomic_is_extreme(op) && has_derivative(n, ir_field_of(op))))
        vec_push(&n->atomics, op);
}

static ir_value *turn_for(numbering *n, ir_op *atomic, const place *p)
{
    for (size_t i = 0; p->task && i < n->turns.len; i++)
        if (n->turns.at[i].task == p->task)
            return n->turns.at[i].turn;
    if (p->task) {
        vec_push(&n->turns, ((turn_of){p->task, count_turns(p->task)}));
        return vec_last(&n->turns).turn;
    }
    ir_builder b = before_op(p->unit, atomic);
    return ir_const_i(&b, SC_I64, 0);
}

/* Which execution of the iteration, among those of all minima and maxima of the field in the parallel loop. */
static ir_value *execution(const numbering *n, ir_op *atomic, const place *p)
{
    ir_value *step = p->log ? log_step(atomic, p) : element(atomic, p, NULL);
    int64_t sites = 0, site = 0;
    for (size_t i = 0; i < n->atomics.len; i++) {
        const ir_op *other = n->atomics.at[i];
        if (!shares_winners(other, p->task, ir_field_of(atomic)))
            continue;
        if (other == atomic)
            site = sites;
        sites++;
    }
    ir_builder b = before_op(atomic, atomic);
    if (sites > 1) {
        ir_value *all = ir_const_i(&b, SC_I64, sites), *own = ir_const_i(&b, SC_I64, site);
        step = ir_op2(&b, OP_MUL, step, all);
        step = ir_op2(&b, OP_ADD, step, own);
    }
    return step;
}

/* 0 is nobody. */
static ir_value *number_from_one(ir_op *atomic, ir_value *at)
{
    ir_builder b = before_op(atomic, atomic);
    ir_value *one = ir_const_i(&b, SC_I64, 1);
    return ir_op2(&b, OP_ADD, at, one);
}

static bool number_atomics(ir_func *kernel, uint32_t *uses)
{
    numbering n = {.uses = uses};
    ir_walk(kernel->body, find_atomic, &n);
    bool ok = true;
    for (size_t i = 0; i < n.atomics.len; i++)
        ok &= may_win(kernel, n.atomics.at[i]);
    for (size_t i = 0; i < n.atomics.len; i++) {
        ir_op *atomic = n.atomics.at[i];
        place p = place_of(atomic);
        const bool winner = p.task && ir_atomic_has_winner(atomic);
        ir_value *turn = turn_for(&n, atomic, &p), *at = p.task ? iteration(atomic, &p) : NULL, *step;
        if (winner) {
            at = number_from_one(atomic, at);
            step = execution(&n, atomic, &p);
        } else {
            at = element(atomic, &p, at);
            step = log_step(atomic, &p);
        }
        ir_add_arg(atomic, turn);
        ir_add_arg(atomic, at);
        ir_add_arg(atomic, step);
        vec_free(&p.path);
    }
    vec_free(&n.atomics);
    vec_free(&n.turns);
    return ok;
}

bool record_number_atomics(ir_func *kernel)
{
    uint32_t *uses = ir_count_uses(kernel);
    const bool ok = number_atomics(kernel, uses);
    free(uses);
    return ok;
}

/* ---- recording ---- */

typedef struct record {
    ir_func *kernel, *adjoint;
    int n; /* numbers of blocks */
    VEC(ir_op *) olds, wons;
} record;

static void find_old(ir_op *op, void *ctx)
{
    record *r = ctx;
    if (op->code == OP_OLD)
        vec_push(&r->olds, op);
    else if (op->code == OP_WON)
        vec_push(&r->wons, op);
}

static ir_value *block_count(const place *p, ir_builder *b, ir_map *map)
{
    ir_value *count = ir_const_i(b, SC_I64, 1), *zero = ir_const_i(b, SC_I64, 0);
    const int nd = p->task ? ir_task_attr(p->task)->ndim : 0, n = nd + (p->log ? 0 : (int)p->path.len);
    for (int d = 0; d < n; d++) {
        const ir_op *op = d < nd ? p->task : p->path.at[d - nd];
        const int first = d < nd ? 2 * d : 0;
        ir_value *hi = ir_value_before(b, op->args[first + 1], map), *lo = ir_value_before(b, op->args[first], map);
        ir_value *trips = ir_op2(b, OP_MAX, ir_op2(b, OP_SUB, hi, lo), zero);
        count = d ? ir_op2(b, OP_MUL, count, trips) : trips;
    }
    return count;
}

static ir_value *record_op(ir_builder *b, ir_opcode code, int nargs, ir_value *const *args, scalar type, ir_layout *l,
                           int number)
{
    ir_op *op = ir_insert(b, code, nargs, args, type != SC_NONE, &type, 0);
    ir_slot_attr(op)->layout = l;
    ir_slot_attr(op)->number = number;
    if (type == SC_PTR)
        op->res[0]->name = "recorded";
    return op->nres ? op->res[0] : NULL;
}

static ir_layout *layout_for(ir_module *m, scalar type, const char *name)
{
    ir_layout *l = ARENA_NEW(m->mem, ir_layout);
    l->n = 1;
    l->types = ARENA_ARRAY(m->mem, scalar, 1);
    l->types[0] = type;
    l->names = ARENA_ARRAY(m->mem, const char *, 1);
    l->names[0] = name;
    return l;
}

static ir_layout *layout_of_winners(ir_module *m, const ir_field *f)
{
    ir_layout *l = layout_for(m, SC_I64, f->name);
    l->winners = true;
    return l;
}

/* What is recorded of an atomic: the value that it returned, or of a minimum or maximum at kernel level whether it set
 * the element. */
static ir_value *recorded_value(ir_op *atomic)
{
    ir_value *old = atomic->res[0];
    if (!ir_atomic_has_winner(atomic))
        return old;
    ir_builder b = before_op(atomic->next, atomic);
    return ir_atomic_sets(&b, atomic, atomic->args[ir_field_of(atomic)->ndim + 1], old);
}

static ir_layout *record_in_kernel(record *r, ir_op *atomic)
{
    place p = place_of(atomic);
    ir_value *value = recorded_value(atomic);
    ir_layout *l = layout_for(r->kernel->module, value->type, value->name);
    l->log = p.log;
    ir_value *const *where = atomic->args + atomic->nargs - 3; /* turn at step */
    ir_builder b = before_op(p.unit, atomic);
    ir_map map = ir_map_create(r->kernel);
    ir_value *count = block_count(&p, &b, &map), *turn = where[0];
    if (ir_is_const(turn))
        turn = ir_const_i(&b, SC_I64, ir_int(turn));
    ir_value *block = record_op(&b, OP_REC_ALLOC, 2, (ir_value *[]){turn, count}, SC_PTR, l, r->n);
    ir_map_free(&map);
    b = before_op(value->def->next, atomic);
    record_op(&b, OP_REC_STORE, 4, (ir_value *[]){block, where[1], where[2], value}, SC_NONE, l, r->n);
    vec_free(&p.path);
    return l;
}

/* In the adjoint: the block of an OLD or WON, whose first operand is the turn. */
static ir_value *get_block(ir_op *old, ir_layout *l, int number)
{
    ir_builder b = before_op(unit_of(old), old);
    ir_value *turn = old->args[0];
    if (ir_is_const(turn))
        turn = ir_const_i(&b, SC_I64, ir_int(turn));
    return record_op(&b, OP_REC_GET, 1, &turn, SC_PTR, l, number);
}

/* All of one atomic: a replay at kernel level and the task's own adjoint may both want it. */
static void record_one(record *r, size_t first)
{
    ir_op *atomic = r->olds.at[first]->origin;
    ir_layout *l = record_in_kernel(r, atomic);
    for (size_t i = first; i < r->olds.len; i++) {
        ir_op *old = r->olds.at[i];
        if (!old || old->origin != atomic)
            continue;
        ir_value *block = get_block(old, l, r->n);
        ir_builder b = before_op(old, old);
        b.origin = old->origin;
        ir_value *v = record_op(&b, OP_REC_LOAD, 3, (ir_value *[]){block, old->args[1], old->args[2]},
                                old->res[0]->type, l, r->n);
        v->name = atomic->res[0]->name;
        ir_replace_uses(r->adjoint->body, old->res[0], v);
        ir_remove(old);
        r->olds.at[i] = NULL;
    }
    r->n++;
}

/* ---- winners ---- */

typedef struct keeping {
    const ir_op *task;
    const ir_field *field;
    ir_value *block;
    ir_layout *layout;
} keeping;

/* turn at step become block slot at step. */
static void keep_winner(ir_op *op, void *ctx)
{
    const keeping *k = ctx;
    if (!shares_winners(op, k->task, k->field))
        return;
    const int first = ir_field_of(op)->ndim + 2;
    ir_builder b = before_op(op, op);
    ir_value *slot = ir_component_number(&b, ir_field_of(op), op->args), *at = op->args[first + 1],
             *step = op->args[first + 2];
    op->args[first] = k->block;
    op->args[first + 1] = slot;
    op->args[first + 2] = at;
    ir_add_arg(op, step);
    ir_access_attr(op)->layout = k->layout;
}

/* In front of the parallel loop around the atomic: the block that all of the field's share. */
static ir_layout *keep_winners(ir_func *kernel, ir_op *atomic, int number)
{
    ir_op *task = unit_of(atomic);
    ir_value *turn = atomic->args[atomic->nargs - 3];
    ir_builder b = before_op(task, atomic);
    keeping k = {.task = task, .field = ir_field_of(atomic)};
    k.layout = layout_of_winners(kernel->module, ir_field_of(atomic));
    if (ir_is_const(turn))
        turn = ir_const_i(&b, SC_I64, ir_int(turn));
    ir_value *count = ir_component_count(&b, ir_field_of(atomic));
    k.block = record_op(&b, OP_REC_ALLOC, 2, (ir_value *[]){turn, count}, SC_PTR, k.layout, number);
    ir_walk(task->regions[0], keep_winner, &k);
    return k.layout;
}

/* All questions about a field's winners in one parallel loop. */
static void record_winners(record *r, size_t first)
{
    ir_op *atomic = r->wons.at[first]->origin;
    const ir_op *task = ir_task_of(atomic);
    const ir_field *f = ir_field_of(atomic);
    ir_layout *l = keep_winners(r->kernel, atomic, r->n);
    for (size_t i = first; i < r->wons.len; i++) {
        ir_op *won = r->wons.at[i];
        if (!won || !shares_winners(won->origin, task, f))
            continue;
        ir_value *block = get_block(won, l, r->n);
        ir_builder b = before_op(won, won);
        b.origin = won->origin;
        ir_value *answer = record_op(&b, OP_REC_WON, 4, (ir_value *[]){block, won->args[1], won->args[2], won->args[3]},
                                     SC_BOOL, l, r->n);
        ir_replace_uses(r->adjoint->body, won->res[0], answer);
        ir_remove(won);
        r->wons.at[i] = NULL;
    }
    r->n++;
}

/* ---- the pass ---- */

static void forget_number(ir_op *op, void *ctx)
{
    bool *any = ctx;
    while (op->code == OP_ATOMIC && ir_atomic_form(op) > 0 && ir_atomic_form(op) <= IR_ATOMIC_NUMBERED) {
        ir_remove_arg(op, op->nargs - 1);
        *any = true;
    }
}

static void forget_numbers(ir_func *kernel)
{
    bool numbered = false;
    ir_walk(kernel->body, forget_number, &numbered);
    if (numbered)
        pass_dce(kernel); /* what was counted for nothing */
}

void record_old_values(ir_func *kernel, ir_func *adjoint)
{
    record r = {.kernel = kernel, .adjoint = adjoint};
    ir_walk(adjoint->body, find_old, &r);
    for (size_t i = 0; i < r.olds.len; i++)
        if (r.olds.at[i])
            record_one(&r, i);
    for (size_t i = 0; i < r.wons.len; i++)
        if (r.wons.at[i])
            record_winners(&r, i);
    kernel->launch.records = r.n;
    vec_free(&r.olds);
    vec_free(&r.wons);
    forget_numbers(kernel);
}

/* ---- for forward mode alone ---- */

typedef struct unkept {
    int n; /* blocks */
    VEC(ir_op *) atomics;
} unkept;

static void find_unkept(ir_op *op, void *ctx)
{
    unkept *u = ctx;
    if (ir_atomic_has_winner(op) && ir_field_of(op)->dual && ir_task_of(op) && ir_atomic_form(op) == IR_ATOMIC_NUMBERED)
        vec_push(&u->atomics, op);
}

bool record_for_tangents(ir_func *kernel)
{
    if (!number_atomics(kernel, NULL))
        return false;
    unkept u = {0};
    ir_walk(kernel->body, find_unkept, &u);
    for (size_t i = 0; i < u.atomics.len; i++)
        if (ir_atomic_form(u.atomics.at[i]) == IR_ATOMIC_NUMBERED)
            keep_winners(kernel, u.atomics.at[i], kernel->launch.records + u.n++);
    vec_free(&u.atomics);
    forget_numbers(kernel);
    return true;
}

static void forget_block(ir_op *op, void *ctx)
{
    const ir_func *kernel = ctx;
    if (op->code != OP_ATOMIC || ir_atomic_form(op) != IR_ATOMIC_RECORDED)
        return;
    ir_op *alloc = op->args[op->nargs - 4]->def;
    if (ir_slot_attr(alloc)->number < kernel->launch.records)
        return;
    while (ir_atomic_form(op) > 0)
        ir_remove_arg(op, op->nargs - 1);
    ir_access_attr(op)->layout = NULL;
}

static void remove_block(ir_op *op, void *ctx)
{
    const ir_func *kernel = ctx;
    if (op->code == OP_REC_ALLOC && ir_slot_attr(op)->number >= kernel->launch.records)
        ir_remove(op);
}

void record_forget_tangents(ir_func *kernel)
{
    ir_walk(kernel->body, forget_block, kernel);
    ir_walk(kernel->body, remove_block, kernel);
    pass_dce(kernel);
}
