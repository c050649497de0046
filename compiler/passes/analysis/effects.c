/* What a region does to fields, through nested regions and calls. */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"

/* Summaries of callees already walked: functions that call each other twice would otherwise cost 2^depth. */
typedef struct summary {
    const ir_func *func;
    effects e;
} summary;

typedef struct scan {
    size_t n; /* bytes of effects.at */
    VEC(summary) done;
} scan;

static effects empty(const scan *s)
{
    effects e = {.at = xmalloc(s->n)};
    memset(e.at, 0, s->n);
    return e;
}

static void scan_region(scan *s, const ir_region *r, effects *e);

static effects summary_of(scan *s, const ir_func *f)
{
    for (size_t i = 0; i < s->done.len; i++)
        if (s->done.at[i].func == f)
            return s->done.at[i].e;
    effects e = empty(s);
    scan_region(s, f->body, &e);
    vec_push(&s->done, ((summary){f, e}));
    return e;
}

static void scan_op(scan *s, const ir_op *op, effects *e)
{
    op_touch touched[OP_TOUCHED_MAX];
    for (int n = op_touched(op, touched), i = 0; i < n; i++)
        e->at[touched[i].at] |= (unsigned char)touched[i].what;
    e->other |= op_effect_of(op->code) == OP_EFFECT_EVENT;
    switch (op->code) {
    case OP_STK_MARK:
    case OP_STK_RELEASE:
    case OP_STK_ALLOC:
    case OP_STK_STORE:
    case OP_STK_LOAD:
        e->stack = true;
        break;
    case OP_CALL: {
        effects c = summary_of(s, ir_callee_of(op));
        for (size_t i = 0; i < s->n; i++)
            e->at[i] |= c.at[i];
        e->other |= c.other;
        e->stack |= c.stack;
        e->custom |= c.custom || ir_callee_of(op)->ad.custom_of;
        break;
    }
    case OP_ADJOINT: /* not known yet: anything */
        memset(e->at, OP_READS | OP_STORES | OP_ADDS, s->n);
        e->other = e->stack = true;
        break;
    default:
        break;
    }
    for (int i = 0; i < op->nregions; i++)
        scan_region(s, op->regions[i], e);
}

static void scan_region(scan *s, const ir_region *r, effects *e)
{
    for (const ir_op *op = r->first; op; op = op->next)
        scan_op(s, op, e);
}

static void scan_free(scan *s)
{
    for (size_t i = 0; i < s->done.len; i++)
        effects_free(&s->done.at[i].e);
    vec_free(&s->done);
}

effects effects_of_region(const ir_module *m, const ir_region *r)
{
    scan s = {.n = ir_storage_count(m)};
    effects e = empty(&s);
    scan_region(&s, r, &e);
    scan_free(&s);
    return e;
}

effects effects_of_op(const ir_module *m, const ir_op *op)
{
    scan s = {.n = ir_storage_count(m)};
    effects e = empty(&s);
    scan_op(&s, op, &e);
    scan_free(&s);
    return e;
}

void effects_free(effects *e)
{
    free(e->at);
    e->at = NULL;
}

/* ---- straight lines ---- */

/* A shorter one stays in the caches, and its order gives C compilers pairs of operations for vectors. */
enum { LEAST_OPERATIONS = 1000 };

bool is_long_line(const ir_func *f)
{
    int n = 0;
    for (const ir_op *op = f->body->first; op; op = op->next) {
        if (op->code != OP_YIELD && (!op->nres || ir_op_has_effect(op) || ir_op_reads_memory(op)))
            return false;
        n += op->code != OP_YIELD && op->code != OP_CONST;
    }
    return n >= LEAST_OPERATIONS;
}
