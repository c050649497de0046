/* What functions need from their callers and do to fields, and what regions cost. */
#include "codegen/facts.h"

#include <stdio.h>
#include <stdlib.h>

#include "codegen/layout.h"
#include "ir/target.h"
#include "passes/analysis/analysis.h"

facts facts_create(const ir_module *m, arena *mem)
{
    return (facts){.mem = mem, .m = m};
}

void facts_free(facts *x)
{
    ptrmap_free(&x->shared);
    ptrmap_free(&x->apart);
}

static func_facts *gathered(facts *x, const ir_func *f);

bool op_is_scatter(const ir_op *op)
{
    if (ir_access_attr(op)->acc == IR_ACC_UNSET) {
        fprintf(stderr, "tkc: internal error: '%s' into '%s' in '%s' has no class\n", op_name(op->code),
                ir_field_of(op)->name, op->region->func->name);
        abort();
    }
    return ir_access_attr(op)->acc == IR_ACC_SCATTER;
}

static void gather_call(facts *x, func_facts *info, const ir_op *op)
{
    const func_facts *callee = gathered(x, ir_callee_of(op));
    for (size_t i = 0; i < ir_storage_count(x->m); i++)
        info->planes[i] |= callee->planes[i];
    for (size_t i = 0; i < x->m->fields.len; i++)
        info->marked[i] |= callee->marked[i];
    info->module |= callee->module;
    info->stack |= callee->stack;
    info->can_fail |= callee->can_fail;
}

static void gather(facts *x, func_facts *info, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        op_touch touched[OP_TOUCHED_MAX];
        for (int n = op_touched(op, touched), i = 0; i < n; i++)
            info->planes[touched[i].at] |= (unsigned char)touched[i].what;
        if (op_has_subscripts(op->code)) {
            info->module |= x->m->debug;
            info->can_fail |= x->m->debug;
        }
        if (op_memory_of(op->code) == MEMORY_FIELD)
            info->module |= op->code != OP_ACCUM || layout_needs_module(ir_field_of(op));
        switch (op->code) {
        case OP_MPARAM:
        case OP_SHAPE:
        case OP_PRINT:
            info->module = true;
            break;
        case OP_NEED:
        case OP_KEEP:
            info->module = info->marked[ir_mark_attr(op)->field->index] = true;
            break;
        case OP_ASSERT:
            info->module = info->can_fail = true;
            break;
        case OP_LOCAL:
            info->stack |= ir_local_attr(op)->stacked;
            info->can_fail |= ir_local_attr(op)->stacked;
            break;
        case OP_STK_ALLOC:
            info->stack = info->can_fail = true;
            break;
        case OP_STK_MARK:
        case OP_STK_RELEASE:
            info->stack = true;
            break;
        case OP_TASK:
            info->tasks = true;
            break;
        case OP_CALL:
            gather_call(x, info, op);
            break;
        default:
            break;
        }
        for (int i = 0; i < op->nregions; i++)
            gather(x, info, op->regions[i]);
    }
}

/* Whether a function that an export func calls keeps values: large arrays live on C's stack there. */
static bool keeps_values(facts *x, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_STK_ALLOC || (op->code == OP_CALL && facts_of(x, ir_callee_of(op))->stack))
            return true;
        for (int i = 0; i < op->nregions; i++)
            if (keeps_values(x, op->regions[i]))
                return true;
    }
    return false;
}

/* What export funcs call is printed once more if it asks for what they have not. */
static func_facts *pure_variant(facts *x, const ir_func *f, const func_facts *shared)
{
    func_facts *info = ptrmap_get(&x->apart, f);
    if (info)
        return info;
    info = ARENA_NEW(x->mem, func_facts);
    ptrmap_set(&x->apart, f, info);
    *info = (func_facts){.pure = true, .planes = shared->planes, .marked = shared->marked, .cost = shared->cost};
    info->stack = keeps_values(x, f->body);
    return info;
}

static func_facts *gathered(facts *x, const ir_func *f)
{
    func_facts *info = ptrmap_get(&x->shared, f);
    if (info)
        return info;
    info = ARENA_NEW(x->mem, func_facts);
    ptrmap_set(&x->shared, f, info);
    info->planes = ARENA_ARRAY(x->mem, unsigned char, ir_storage_count(x->m) + 1);
    info->marked = ARENA_ARRAY(x->mem, bool, x->m->fields.len + 1);
    gather(x, info, f->body);
    info->cost = region_cost(x, f->body);
    return info;
}

const func_facts *facts_of(facts *x, const ir_func *f)
{
    const func_facts *info = gathered(x, f);
    if (x->pure && (info->module || info->stack || info->can_fail))
        info = pure_variant(x, f, info);
    return info;
}

bool region_may_fail(facts *x, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_ASSERT || op->code == OP_STK_ALLOC || op->code == OP_REC_ALLOC || op->code == OP_REC_GET ||
            op->code == OP_TASK || (op->code == OP_REC_STORE && ir_layout_of(op)->log) ||
            (op->code == OP_LOCAL && ir_local_attr(op)->stacked))
            return true;
        if (op->code == OP_CALL && facts_of(x, ir_callee_of(op))->can_fail)
            return true;
        if (x->m->debug && op_has_subscripts(op->code))
            return true;
        for (int i = 0; i < op->nregions; i++)
            if (region_may_fail(x, op->regions[i]))
                return true;
    }
    return false;
}

bool region_uses_stack(facts *x, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_STK_MARK || op->code == OP_STK_ALLOC || op->code == OP_STK_RELEASE)
            return true;
        if (op->code == OP_CALL && facts_of(x, ir_callee_of(op))->stack)
            return true;
        for (int i = 0; i < op->nregions && op->code != OP_TASK; i++)
            if (region_uses_stack(x, op->regions[i]))
                return true;
    }
    return false;
}

static int64_t trips_guess(const ir_op *loop)
{
    if (ir_loop_attr(loop)->bounded && ir_is_const(loop->args[0]) && ir_is_const(loop->args[1])) {
        const int64_t n = ir_int(loop->args[1]) - ir_int(loop->args[0]);
        return n < 1 ? 1 : n > TRIPS_MOST ? TRIPS_MOST : n;
    }
    return ir_loop_attr(loop)->unrolled_by_4 ? TRIPS_OF_FOURS
           : ir_loop_attr(loop)->short_trip  ? TRIPS_BRIEF
                                             : TRIPS_FOR_THREADS;
}

int64_t region_cost(facts *x, const ir_region *r)
{
    int64_t sum = 0;
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code < OP_PURE_COUNT) {
            sum += op_get(op->code)->cost;
        } else if (op->code == OP_IF) {
            const int64_t a = region_cost(x, op->regions[0]), b = region_cost(x, op->regions[1]);
            sum += a > b ? a : b;
        } else if (op->code == OP_LOOP || op->code == OP_TASK) {
            int64_t body = 1;
            for (int i = 0; i < op->nregions; i++)
                body += region_cost(x, op->regions[i]);
            sum += op->code == OP_TASK ? body : body * trips_guess(op);
        } else if (op->code == OP_CALL) {
            sum += facts_of(x, ir_callee_of(op))->cost;
        } else if (op->code == OP_PRINT) {
            sum += COST_PRINT;
        } else if (op->code == OP_EXTERN) {
            sum += COST_EXTERN;
        } else if (op->code != OP_YIELD && !op_is_launch_constant(op->code)) {
            sum += COST_MEMORY;
        }
        if (sum > INT32_MAX)
            sum = INT32_MAX;
    }
    return sum;
}

/* Made of the loop's index and of what is the same in all its trips. */
static bool is_plain_subscript(const ir_value *v, const ir_op *loop)
{
    const affine a = affine_of(v);
    for (int i = 0; i < a.n; i++)
        if (a.term[i] != loop->regions[0]->params[0] && ir_region_is_ancestor(loop->regions[0], a.term[i]->region))
            return false;
    return a.ok;
}

/* Reads or writes elements that data choose, which vectors do one by one. */
static bool goes_anywhere(const ir_region *r, const ir_op *loop)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        for (int d = 0; op_accesses_field(op->code) && d < ir_field_of(op)->ndim; d++)
            if (!is_plain_subscript(op->args[d], loop))
                return true;
        for (int i = 0; i < op->nregions; i++)
            if (goes_anywhere(op->regions[i], loop))
                return true;
    }
    return false;
}

/* What a row segment does for each of its elements: the loops over it. What it does once is not counted, nor the strips
 * at its ends, nor the rows at a border: of two branches, a gather has its interior in the first. */
static int64_t row_cost(facts *x, const ir_region *r)
{
    int64_t sum = 0;
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_IF) {
            const int64_t a = row_cost(x, op->regions[0]), b = row_cost(x, op->regions[1]);
            sum += a ? a : b;
        } else if (op->code == OP_LOOP && !ir_loop_attr(op)->short_trip) {
            const bool over_segment = !ir_loop_attr(op)->bounded || !ir_is_const(op->args[0]) ||
                                      !ir_is_const(op->args[1]);
            int64_t lanes = ir_loop_attr(op)->simd ? VECTOR_BYTES / scalar_bytes(x->m->real) : 1;
            if (lanes > VECTOR_SAVES_CHOSEN && goes_anywhere(op->regions[0], op))
                lanes = VECTOR_SAVES_CHOSEN;
            sum += over_segment ? region_cost(x, op->regions[0]) / lanes : row_cost(x, op->regions[0]);
        }
    }
    return sum;
}

int64_t task_cost(facts *x, const ir_op *task)
{
    int64_t cost = ir_task_attr(task)->rows ? row_cost(x, task->regions[0]) : region_cost(x, task->regions[0]);
    if (ir_task_attr(task)
            ->lanes) /* that of a strip, whose loops over lanes count as of unknown length, and no vectors */
        cost /= (int64_t)ir_task_attr(task)->lanes * 4;
    return cost < 1 ? 1 : cost;
}

/* Of one iteration; `row`: r is run once a segment, of which the strips do not count. A call that adds counts as one.
 */
static int64_t region_adds(const ir_region *r, const ir_scatter *s, bool row)
{
    int64_t sum = 0;
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_ACCUM || op->code == OP_ATOMIC)
            sum += ir_access_attr(op)->acc == IR_ACC_SCATTER && ir_field_of(op) == s->field &&
                   ir_access_attr(op)->plane == s->plane;
        sum += op->code == OP_CALL && s->called;
        if (row && op->code == OP_LOOP && ir_loop_attr(op)->short_trip)
            continue;
        int64_t inside = 0;
        for (int i = 0; i < op->nregions; i++)
            inside += region_adds(op->regions[i], s, row && op->code == OP_IF);
        sum += op->code == OP_LOOP && !row ? inside * trips_guess(op) : inside;
        if (sum > INT32_MAX)
            sum = INT32_MAX;
    }
    return sum;
}

int64_t task_adds(const ir_op *task, const ir_scatter *s)
{
    return region_adds(task->regions[0], s, ir_task_attr(task)->rows);
}
