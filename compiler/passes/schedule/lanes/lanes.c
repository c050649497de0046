/* Iterations of a parallel loop as the lanes of vectors.
 *
 *     loop p { y = 0;  loop k { t = f(k);  y += t * x[p];  w[k] = y; }  z[p] = g(w); }      becomes
 *
 *     loop strip {
 *         loop lane { y[lane] = 0 }
 *         loop k { t = f(k);  loop lane { y[lane] += t * x[p0 + lane];  w[k][lane] = y[lane]; } }
 *         loop lane { z[p0 + lane] = g(w[..][lane]) }
 *     }
 *
 * No compiler does this to a loop that has loops in it, or arrays of its own. Loops with the same bounds in all
 * iterations are taken out of them, what is the same in a strip of iterations is computed once, and what is left are
 * short loops without dependences, of a constant number of trips nearly always. Each iteration does what it did, in the
 * order in which it did it, so all bits are the same; only sums into one element are made strip by strip.
 *
 * Karrenberg and Hack, "Whole-function vectorization", CGO 2011, and the work-item loops of OpenCL on CPUs
 * (Jaeaeskelaeinen et al., "pocl", 2015) are the sources of the idea.
 */
#include "passes/schedule/lanes/lanes.h"

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"
#include "passes/simplify/simplify.h"

typedef struct lanes_pass {
    ir_func *f;
    ir_op *task;
    const uint32_t *uses;
    bool changed;
} lanes_pass;

bool lanes_may(const ir_op *op)
{
    if (op->code != OP_LOOP || !ir_loop_attr(op)->parallel || ir_loop_attr(op)->cond || !ir_loop_attr(op)->bounded)
        return false;
    return !ir_loop_attr(op)->short_trip || lanes_have_inner(op);
}

static void visit_loop(ir_op *op, void *ctx)
{
    lanes_pass *p = ctx;
    if (!lanes_may(op))
        return;
    lanes_study s = {.f = p->f, .loop = op, .uses = p->uses};
    lanes_look(&s);
    lanes_find_levels(&s);
    if (!s.why && lanes_pay(&s)) {
        uint32_t *uses = NULL;
        if (lanes_read_rows(&s)) {
            lanes_free(&s);
            uses = ir_count_uses(p->f);
            s = (lanes_study){.f = p->f, .loop = op, .uses = uses};
            lanes_look(&s);
            lanes_find_levels(&s);
        }
        lanes_build(&s);
        free(uses);
        ir_task_attr(p->task)->lanes = LANES;
        p->changed = true;
    } else if (lanes_have_inner(op) || s.why == IR_NO_LANES_SMALL) {
        ir_task_attr(p->task)->no_lanes = s.why;
    }
    lanes_free(&s);
}

bool lanes_may_in(const ir_op *task)
{
    return task->code == OP_TASK && ir_task_attr(task)->rows && !ir_task_attr(task)->ordered &&
           !ir_task_attr(task)->fused_with;
}

static void visit_task(ir_op *op, void *ctx)
{
    lanes_pass *p = ctx;
    if (!lanes_may_in(op) || ir_task_attr(op)->lanes)
        return;
    p->task = op;
    ir_walk(op->regions[0], visit_loop, p);
}

static bool make_lanes(ir_func *f)
{
    if (f->module->lanes == IR_NOWHERE)
        return false;
    mark_locals(f); /* spread over loops of lanes it is hard to see */
    uint32_t *uses = ir_count_uses(f);
    lanes_pass p = {.f = f, .uses = uses};
    ir_walk(f->body, visit_task, &p);
    free(uses);
    return p.changed;
}

static void merge_and_hoist(ir_func *f)
{
    pass_cse(f);
    pass_licm(f);
    pass_dce(f);
}

void pass_lanes(ir_func *f)
{
    if (f->module->debug)
        return;
    if (make_lanes(f))
        merge_and_hoist(f);
    if (lanes_leave_out_still(f))
        merge_and_hoist(f);
    if (unroll_and_jam(f)) {
        pass_simplify(f);
        merge_and_hoist(f);
    }
    if (lanes_find_extrema(f))
        merge_and_hoist(f);
}
