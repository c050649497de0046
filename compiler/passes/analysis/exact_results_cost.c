/* Whether the results of an export func would cost much if they were exact: where it has a loop that compilers
 * vectorise as a sum, or with functions of the C library that have vector variants. The gradient of such a function
 * calls the function itself for its results; those of others are exact.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"

typedef struct visit {
    const ir_func *f;
    bool vectorised; /* called from a loop that is */
} visit;

typedef struct search {
    VEC(visit) seen; /* functions that call each other twice would otherwise cost 2^depth */
    bool vectorised;
    bool dear;
} search;

static bool is_loop(const ir_op *op)
{
    return op->code == OP_LOOP;
}

/* Innermost and counted, and what it carries are sums. */
static bool is_vectorised(const ir_op *loop)
{
    if (!ir_loop_attr(loop)->bounded || ir_loop_attr(loop)->cond || ir_has(loop->regions[0], is_loop))
        return false;
    const ir_op *y = ir_yield_of(loop->regions[0]);
    for (int i = 0; i < y->nargs; i++) {
        const ir_value *v = y->args[i], *param = loop->regions[0]->params[1 + i];
        const bool sum = v->def && (v->def->code == OP_ADD || v->def->code == OP_SUB) &&
                         (v->def->args[0] == param || v->def->args[1] == param);
        if (scalar_is_float(v->type) && !sum)
            return false;
    }
    return true;
}

static bool carries_float(const ir_op *loop)
{
    for (int i = 0; i < loop->nres; i++)
        if (scalar_is_float(loop->res[i]->type))
            return true;
    return false;
}

static bool stands_in_vectorised(const search *s, const ir_op *op)
{
    for (const ir_op *p = op->region->parent; p; p = p->region->parent)
        if (p->code == OP_LOOP)
            return is_vectorised(p);
    return s->vectorised;
}

static void search_func(search *s, const ir_func *f, bool vectorised);

static void search_op(ir_op *op, void *ctx)
{
    search *s = ctx;
    if (op->code == OP_LOOP)
        s->dear |= is_vectorised(op) && carries_float(op);
    else if (op->code == OP_CALL)
        search_func(s, ir_callee_of(op), stands_in_vectorised(s, op));
    else if (op_is_pure_table(op->code) && op_is_of_library(op->code) && scalar_is_float(op->res[0]->type))
        s->dear |= stands_in_vectorised(s, op);
}

static void search_func(search *s, const ir_func *f, bool vectorised)
{
    for (size_t i = 0; i < s->seen.len; i++)
        if (s->seen.at[i].f == f && s->seen.at[i].vectorised == vectorised)
            return;
    vec_push(&s->seen, ((visit){f, vectorised}));
    const bool outer = s->vectorised;
    s->vectorised = vectorised;
    ir_walk(f->body, search_op, s);
    s->vectorised = outer;
}

/* Arrays that are written, too, would be written twice. */
bool exact_results_are_costly(const ir_func *f)
{
    for (int i = 0; i < f->nsig; i++)
        if (f->sig[i].array && f->sig[i].array->out)
            return false;
    search s = {.dear = false};
    search_func(&s, f, false);
    vec_free(&s.seen);
    return s.dear;
}
