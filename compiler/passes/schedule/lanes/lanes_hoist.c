/* Accesses under conditions that leave their branch, so that lanes may take both sides of it.
 *
 *     loop p { if a { y = work(if b { x[k[p]] } else { 0 });  z[j[p]] += y }  ... }       becomes
 *
 *     loop p { t = if a && b { x[k[p]] } else { 0 };
 *              y = if a { work(if b { t } else { 0 }) } else { 0 };
 *              if a { z[j[p]] += y }  ... }
 *
 * A load of an element that may not be there otherwise comes to stand in front of the branch, with its guard: it goes
 * with what lanes copy one by one. What adds to elements that others may add to comes to stand behind it.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/branches.h"
#include "passes/schedule/lanes/lanes.h"

bool lanes_is_guarded_load(const ir_op *op)
{
    if (op->code != OP_IF || op->nres != 1 || op->regions[0]->first->code != OP_LOAD ||
        op->regions[0]->first->next->code != OP_YIELD)
        return false;
    const ir_op *other = op->regions[1]->first;
    return other->code == OP_YIELD || (other->code == OP_CONST && other->next->code == OP_YIELD);
}

/* A branch without results that does nothing but write. */
static bool is_guarded_write(const ir_op *op)
{
    for (const ir_op *in = op->regions[0]->first; in->code != OP_YIELD; in = in->next)
        if (in->code != OP_STORE && in->code != OP_ACCUM)
            return false;
    return op->nres == 0 && op->regions[1]->first->code == OP_YIELD;
}

static ir_op *top_of(const lanes_study *s, ir_op *op)
{
    while (op->region != s->loop->regions[0])
        op = op->region->parent;
    return op;
}

/* Where the element is, and whether the access is reached, can be had in front of the branch. */
static bool is_known_before(const ir_op *access, const ir_op *top)
{
    for (int i = 0; i <= ir_field_of(access)->ndim; i++)
        if (!ir_can_leave(access->args[i], top))
            return false;
    for (const ir_op *in = access; in != top; in = in->region->parent)
        if (in->region->parent->code != OP_IF || !ir_can_leave(in->region->parent->args[0], top))
            return false;
    return true;
}

static bool is_loose_load(const lanes_study *s, const ir_op *load, const ir_op *top)
{
    return !(s->touched[ir_storage_of_op(load)] & (OP_STORES | OP_ADDS)) &&
           !element_is_there(s->loop->regions[0], load) && is_known_before(load, top);
}

/* Nothing else in the branch looks at what it writes, but for writes that leave it as well. What calls look at nobody
 * asks here. */
static bool is_loose_write(const lanes_study *s, const ir_op *write, const ir_op *top)
{
    for (size_t n = 0; n < s->ops.len; n++) {
        const ir_op *op = s->ops.at[n];
        if (op->code == OP_CALL && top_of(s, (ir_op *)op) == top)
            return false;
        if ((op->code != OP_LOAD && op->code != OP_STORE && op->code != OP_ACCUM) ||
            ir_storage_of_op(op) != ir_storage_of_op(write) || top_of(s, (ir_op *)op) != top)
            continue;
        const bool stays = op->code == OP_LOAD ||
                           (ir_access_attr(op)->no_alias && element_is_there(s->loop->regions[0], op));
        if (stays || !is_known_before(op, top))
            return false;
    }
    return true;
}

bool lanes_is_hoisted(const lanes_study *s, const ir_op *access)
{
    const ir_op *top = top_of(s, (ir_op *)access);
    if (top == access || lanes_is_guarded_load(top) || (top->code == OP_IF && is_guarded_write(top)))
        return false;
    switch (access->code) {
    case OP_LOAD:
        return is_loose_load(s, access, top);
    case OP_STORE:
    case OP_ACCUM:
        return is_loose_write(s, access, top);
    default:
        return false;
    }
}

/* ---- the change ---- */

/* All conditions on the way to the access. */
static ir_value *condition(ir_builder *b, const ir_op *access, const ir_op *top, ir_map *made)
{
    ir_value *all = NULL;
    for (const ir_op *in = access; in != top; in = in->region->parent) {
        const ir_op *branch = in->region->parent;
        ir_value *c = ir_value_before(b, branch->args[0], made);
        if (in->region == branch->regions[1])
            c = ir_op1(b, OP_NOT, c);
        all = all ? ir_op2(b, OP_AND, c, all) : c;
    }
    return all;
}

static ir_value *zero_in(ir_region *r, const ir_value *like)
{
    ir_builder b = {.func = r->func, .region = r, .before = r->last, .loc = like->loc, .exact = like->exact};
    return ir_zero(&b, like->type);
}

static void move_load(ir_builder *b, ir_op *load, ir_value *cond)
{
    ir_value *old = load->res[0];
    ir_region *from = load->region;
    ir_op *guard = ir_if(b, cond, 1, &old->type);
    guard->res[0]->exact = old->exact;
    guard->res[0]->name = old->name;
    ir_replace_uses(from, old, guard->res[0]);
    ir_move(load, guard->regions[0], NULL);
    ir_builder then = {.func = b->func, .region = guard->regions[0], .loc = load->loc};
    ir_builder other = {.func = b->func, .region = guard->regions[1], .loc = load->loc};
    ir_yield(&then, 1, load->res);
    ir_value *zero = zero_in(guard->regions[1], old);
    ir_yield(&other, 1, &zero);
}

/* Its value, which the branches around it hand on. */
static ir_value *hand_on(ir_op *write, const ir_op *top)
{
    ir_value *v = write->args[write->nargs - 1];
    for (ir_op *in = write; in != top; in = in->region->parent) {
        ir_op *branch = in->region->parent;
        for (int k = 0; k < 2; k++) {
            ir_region *r = branch->regions[k];
            ir_add_arg(r->last, r == in->region ? v : zero_in(r, v));
        }
        ir_value *out = ir_add_result(branch, v->type);
        out->exact = v->exact;
        out->name = v->name;
        v = out;
    }
    return v;
}

/* Where accesses of one branch of the body go: in front of it, and behind it. */
typedef struct leaving {
    ir_op *top, *behind;
    const ir_region *last; /* from which the last write came */
    ir_op *guard;          /* of that one */
} leaving;

/* Writes that stood together stand together. */
static void move_write(leaving *l, ir_op *write, ir_value *cond)
{
    ir_builder b = {.func = l->top->region->func, .region = l->top->region, .before = l->behind, .loc = write->loc};
    const bool together = l->guard && l->last == write->region;
    write->args[write->nargs - 1] = hand_on(write, l->top);
    l->last = write->region;
    if (!together) {
        l->guard = ir_if(&b, cond, 0, NULL);
        for (int k = 0; k < 2; k++) {
            ir_builder in = {.func = b.func, .region = l->guard->regions[k], .loc = write->loc};
            ir_yield(&in, 0, NULL);
        }
    }
    ir_move(write, l->guard->regions[0], l->guard->regions[0]->last);
}

static void leave(leaving *l, ir_op *access)
{
    ir_builder b = {.func = l->top->region->func, .region = l->top->region, .before = l->top, .loc = access->loc};
    ir_map made = ir_map_create(b.func);
    ir_value *cond = condition(&b, access, l->top, &made);
    for (int i = 0; i <= ir_field_of(access)->ndim; i++)
        access->args[i] = ir_value_before(&b, access->args[i], &made);
    ir_map_free(&made);
    if (access->code == OP_LOAD)
        move_load(&b, access, cond);
    else
        move_write(l, access, cond);
}

bool lanes_hoist_guarded(lanes_study *s)
{
    VEC(ir_op *) loose = {0};
    for (size_t n = 0; n < s->ops.len; n++)
        if (lanes_is_hoisted(s, s->ops.at[n]))
            vec_push(&loose, s->ops.at[n]);
    leaving l = {0};
    for (size_t i = 0; i < loose.len; i++) {
        ir_op *top = top_of(s, loose.at[i]);
        if (l.top != top)
            l = (leaving){.top = top, .behind = top->next};
        leave(&l, loose.at[i]);
    }
    const bool any = loose.len > 0;
    vec_free(&loose);
    return any;
}
