/* Where the elements stand that the iterations of a loop touch, and which of them keep compilers from vectors: from
 * those the step is hidden (TK_STEP in tkc_loops.h), where the loop has enough to do beside.
 */
#include "ir/target.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"
#include "passes/schedule/schedule.h"

place_kind place_in_loop(const ir_op *loop, const ir_op *access, int64_t *step)
{
    const ir_field *f = ir_field_of(access);
    const ir_value *index = loop->regions[0]->params[0];
    place_kind place = PLACE_FIXED;
    for (int d = 0; d < f->ndim; d++) {
        const affine a = affine_of(access->args[d]);
        if (!a.ok && value_depends_on(access->args[d], loop))
            return PLACE_ANY;
        for (int k = 0; k < a.n; k++) {
            if (a.term[k] != index && value_depends_on(a.term[k], loop))
                return PLACE_ANY;
            if (a.term[k] != index)
                continue;
            *step = a.coef[k] * ir_field_step(f);
            place = place == PLACE_FIXED && d == f->ndim - 1 && *step ? PLACE_STEPS : PLACE_ROWS;
        }
    }
    return place;
}

/* ---- what compilers make of the accesses ---- */

typedef struct stepping {
    const ir_op *loop;
    VEC(ir_op *) memory, stepped;
    double work, accesses; /* operations; loads and stores at steps */
    bool hopeless;         /* for gcc whatever the steps are */
} stepping;

/* All components of the elements are stored: no group has gaps. */
static bool is_whole(const stepping *s, const ir_op *store)
{
    const ir_field *f = ir_field_of(store);
    int64_t n = 0;
    for (size_t i = 0; i < s->memory.len; i++) {
        const ir_op *op = s->memory.at[i];
        bool same = op->code == store->code && ir_storage_of_op(op) == ir_storage_of_op(store);
        for (int d = 0; d < f->ndim && same; d++)
            same = op->args[d] == store->args[d];
        n += same;
    }
    return n == ir_field_ncomp(f) && !ir_field_has_gaps(f);
}

static void collect_memory(ir_op *op, void *ctx)
{
    stepping *s = ctx;
    if (op->code == OP_LOAD || op->code == OP_STORE || op->code == OP_ACCUM)
        vec_push(&s->memory, op);
    else if (op_is_pure_table(op->code) && scalar_is_float(op->res[0]->type))
        s->work += op_get(op->code)->cost;
}

static void analyse_step(stepping *s, ir_op *op)
{
    int64_t step = 0;
    const place_kind place = place_in_loop(s->loop, op, &step);
    if (place == PLACE_ANY)
        s->hopeless |= target_has_no_gather(op);
    if (place != PLACE_STEPS)
        return;
    step = step < 0 ? -step : step;
    if (step == 1 || (target_permutes(step) && (op->code == OP_LOAD || is_whole(s, op))))
        return;
    s->hopeless |= op->region != s->loop->regions[0];
    s->accesses += op->code == OP_ACCUM ? 2 : 1;
    vec_push(&s->stepped, op);
}

void mark_steps(const ir_op *loop)
{
    stepping s = {.loop = loop};
    ir_walk(loop->regions[0], collect_memory, &s);
    for (size_t i = 0; i < s.memory.len; i++) {
        ir_access_attr(s.memory.at[i])->stepped = false;
        analyse_step(&s, s.memory.at[i]);
    }
    for (size_t i = 0; i < s.stepped.len; i++)
        ir_access_attr(s.stepped.at[i])->stepped = !s.hopeless && s.work >= s.accesses;
    vec_free(&s.memory);
    vec_free(&s.stepped);
}
