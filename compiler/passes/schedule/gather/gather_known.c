/* What conditions and subscripts are for all but few indices at the ends of the task's range: `i > 0` is true, `i + 1 <
 * N` is true, `(i + 1) % N` is i + 1. A gather takes this for granted in its interior, which begins and ends where it
 * holds; in the strips around it, all is computed as it was written.
 */
#include "ir/ops.h"
#include "passes/schedule/gather/gather.h"

/* Of a condition: one that uses others twice (a && b || a && c), again and again, must not cost 2^depth. */
enum { MAX_PARTS = 200 };

static const known nothing;

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* From the first `after` indices on; or up to the last `before`. Where both are known, the shorter exception. */
static bool set_range(known *k, const limit *l, int64_t after, int64_t before)
{
    const bool low = l->above != gather_unknown && after <= GATHER_EDGE;
    const bool high = l->below != gather_unknown && before <= GATHER_EDGE;
    if (!low && !high)
        return false;
    k->what = KNOWN_TRUTH;
    k->on[l->dim] = true;
    const bool first = low && (!high || after <= before);
    /* i + c has not wrapped, as it lies between the bounds as well */
    k->after[l->dim] = largest(first ? after : 0, -l->c);
    k->before[l->dim] = largest(first ? 0 : before, l->c);
    k->truth = l->one ? l->not : first != l->not ;
    return true;
}

static known known_of_limit(const limit *l)
{
    known k = {0};
    const int64_t more = l->one ? 1 : 0; /* that one index is an exception as well */
    const int64_t after = l->above == gather_unknown ? 0 : largest(l->above + more, 0);
    const int64_t before = l->below == gather_unknown ? 0 : largest(l->below, 0);
    return set_range(&k, l, after, before) ? k : nothing;
}

static known both(const known *a, const known *b, bool truth)
{
    known k = *a;
    k.truth = truth;
    for (int d = 0; d < GATHER_DIMS; d++) {
        k.on[d] |= b->on[d];
        k.after[d] = largest(k.after[d], b->after[d]);
        k.before[d] = largest(k.before[d], b->before[d]);
    }
    return k;
}

static known truth_of(const gather *g, const ir_value *condition, int *left);

/* `decisive`: the operand that decides alone. */
static known known_of_pair(const gather *g, const ir_op *op, bool decisive, int *left)
{
    const known a = truth_of(g, op->args[0], left), b = truth_of(g, op->args[1], left);
    if (a.what && a.truth == decisive)
        return a;
    if (b.what && b.truth == decisive)
        return b;
    return a.what && b.what ? both(&a, &b, !decisive) : nothing;
}

static known truth_of(const gather *g, const ir_value *condition, int *left)
{
    const ir_op *op = condition->def;
    limit l;
    bool truth;
    if (!op || condition->type != SC_BOOL || --*left < 0)
        return nothing;
    if (gather_decided(g, condition, left, &truth))
        return (known){.what = KNOWN_TRUTH, .truth = truth};
    switch (op->code) {
    case OP_AND:
    case OP_OR:
        return known_of_pair(g, op, op->code == OP_OR, left);
    case OP_NOT: {
        known k = truth_of(g, op->args[0], left);
        k.truth = !k.truth;
        return k;
    }
    default:
        return gather_limit(g, condition, left, &l) ? known_of_limit(&l) : nothing;
    }
}

known gather_known_truth(const gather *g, const ir_value *condition)
{
    int left = MAX_PARTS;
    return truth_of(g, condition, &left);
}

known gather_known_index(const gather *g, const ir_value *v)
{
    const affine a = {.term = {v}, .coef = {1}, .n = 1, .ok = true};
    const steps s = gather_steps(g, &a);
    if (!s.n || s.at[0].by > GATHER_EDGE || s.at[0].by < -GATHER_EDGE)
        return nothing;
    const step *main = &s.at[0];
    known k = {.what = KNOWN_INDEX, .dim = s.dim, .plus = main->by};
    k.on[s.dim] = true;
    if (main->kind == STEP_WRAP) {
        k.after[s.dim] = largest(-main->by, 0);
        k.before[s.dim] = largest(main->by, 0);
    }
    if (main->kind == STEP_BELOW)
        k.before[s.dim] = largest(main->edge + main->by, 0);
    if (main->kind == STEP_ABOVE)
        k.after[s.dim] = largest(main->edge - main->by, 0);
    return k;
}
