/* A parallel loop as data: what it needs from outside, what it reduces. */
#include "codegen/plan.h"

#include "ir/ops.h"

static bool is_remade(const ir_value *v)
{
    return v->def && op_is_launch_constant(v->def->code);
}

static void capture_value(task_plan *p, value_use *use, const ir_value *v)
{
    if (is_remade(v) || use[v->id].stamp == p->stamp)
        return;
    use[v->id].stamp = p->stamp;
    vec_push(&p->captures, v);
}

static void find_captures(task_plan *p, value_use *use, const ir_region *r)
{
    const ir_region *body = p->op->regions[0];
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op_is_dead(use, op))
            continue;
        for (int i = 0; i < op->nargs; i++)
            if (!ir_region_is_ancestor(body, op->args[i]->region))
                capture_value(p, use, op->args[i]);
        const ir_value *count = checked_count(r->func->module, op);
        if (count && !ir_region_is_ancestor(body, count->region))
            capture_value(p, use, count);
        for (int i = 0; i < op->nregions; i++)
            find_captures(p, use, op->regions[i]);
    }
}

static void find_parts(task_plan *p, value_use *use, arena *mem)
{
    const ir_op *op = p->op;
    p->nparts = op->nres;
    p->parts = ARENA_ARRAY(mem, task_part, op->nres + 1);
    for (int i = 0, at = 0; i < ir_task_attr(op)->nreductions; i++) {
        const ir_reduction *r = &ir_task_attr(op)->reductions[i];
        const int leader = at;
        for (int c = 0; c <= r->companions; c++, at++) {
            p->parts[at] = (task_part){
                .init = op->args[ir_task_first_init(op) + at],
                .yield = op->regions[0]->last->args[at],
                .result = op->res[at],
                .leader = r->kind == IR_RED_ADD ? -1 : leader,
                .kind = r->kind,
                .wanted = reduction_is_wanted(use, op, at),
                .only_decides = ir_reduce_is_last(r->kind) && c == 1 && !use[op->res[at]->id].uses,
            };
            if (p->parts[at].wanted && p->parts[at].leader >= 0 && !p->once)
                capture_value(p, use, p->parts[at].init);
        }
    }
}

task_plan plan_task(facts *x, const ir_op *task, value_use *use, uint32_t stamp, bool steps, arena *mem)
{
    const ir_region *body = task->regions[0];
    task_plan p = {.op = task, .stamp = stamp, .once = ir_task_attr(task)->rows && ir_task_attr(task)->ndim == 1};
    find_captures(&p, use, body);
    find_parts(&p, use, mem);
    for (size_t i = 0; i < p.captures.len; i++)
        p.adds_to_arrays |= use[p.captures.at[i]->id].added;
    p.stack = region_uses_stack(x, body);
    p.body = plan_body(x, use, body, BODY_FUNC, steps);
    for (int k = 0; k < p.nparts && !p.once; k++) /* minima begin with it */
        if (p.parts[k].wanted && p.parts[k].leader >= 0)
            body_reads(&p.body, p.parts[k].init);
    for (size_t i = 0; i < p.body.touched.len; i++)
        if (p.body.planes[p.body.touched.at[i]].scatter)
            vec_push(&p.scatters, p.body.touched.at[i]);
    return p;
}

void task_plan_free(task_plan *p)
{
    vec_free(&p->captures);
    vec_free(&p->scatters);
    body_plan_free(&p->body);
}
