/* Branches of what is to become lanes.
 *
 *     if c { a[j] = 2 * x;  y[i] = x }      becomes      t = 2 * x;  a[j] = c ? t : a[j];  y[i] = c ? x : y[i]
 *
 * In the loop over lanes that this is to stand in, a branch that some lanes take keeps C compilers from vectors: gcc
 * computes nothing that the program does not (an operation could raise an exception), and masked stores are slow on
 * many processors, or not there. Only elements that are there in any case, and that no other iteration looks at; only
 * where both sides cost little more than the branch. What such an if holds beside that stays a branch with all that is
 * in it.
 */
#include <stdlib.h>

#include "passes/schedule/branches.h"
#include "passes/schedule/lanes/lanes.h"
#include "passes/schedule/schedule.h"

/* Innermost first. */
static void open_all(ir_op *op)
{
    for (int k = 0; k < 2; k++)
        for (ir_op *in = op->regions[k]->first, *next; in; in = next) {
            next = in->next;
            if (in->code == OP_IF)
                open_all(in);
        }
    branch_open(op);
}

typedef struct masks_pass {
    ir_func *f;
    const uint32_t *uses;
    VEC(ir_op *) branches;
    bool loosened;
} masks_pass;

static bool has_store(const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        if (op->code == OP_STORE || op->code == OP_ACCUM || op->code == OP_LSTORE ||
            (op->code == OP_IF && (has_store(op->regions[0]) || has_store(op->regions[1]))))
            return true;
    return false;
}

/* The lanes come to it together. */
static bool is_reached(const lanes_study *s, const ir_op *op)
{
    for (const ir_op *around = op->region->parent; around != s->loop; around = around->region->parent)
        if (lanes_kind_of(s, around) == LANES_INNER)
            return false;
    return true;
}

static void visit_loop(ir_op *op, void *ctx)
{
    masks_pass *p = ctx;
    if (!lanes_may(op))
        return;
    lanes_study s = {.f = p->f, .loop = op, .uses = p->uses, .hoists = true};
    lanes_look(&s);
    lanes_find_levels(&s);
    p->loosened |= !s.why && s.level && lanes_pay(&s) && lanes_hoist_guarded(&s);
    lanes_free(&s);
    s = (lanes_study){.f = p->f, .loop = op, .uses = p->uses};
    lanes_look(&s);
    lanes_find_levels(&s);
    if (!s.why && lanes_pay(&s))
        for (size_t n = 0; n < s.ops.len; n++) {
            ir_op *in = s.ops.at[n];
            if (in->code == OP_IF && is_reached(&s, in) && lanes_mask_fits(&s, in) &&
                (s.level || has_store(in->regions[0]) || has_store(in->regions[1])))
                vec_push(&p->branches, in);
        }
    lanes_free(&s);
}

static void visit_task(ir_op *op, void *ctx)
{
    if (lanes_may_in(op) && !ir_task_attr(op)->overlap_next)
        ir_walk(op->regions[0], visit_loop, ctx);
}

bool pass_masks(ir_func *f)
{
    if (f->module->debug || f->module->lanes == IR_NOWHERE)
        return false;
    uint32_t *uses = ir_count_uses(f);
    masks_pass p = {.f = f, .uses = uses};
    ir_walk(f->body, visit_task, &p);
    free(uses);
    for (size_t i = 0; i < p.branches.len; i++)
        open_all(p.branches.at[i]);
    const bool changed = p.branches.len > 0 || p.loosened;
    vec_free(&p.branches);
    return changed;
}
