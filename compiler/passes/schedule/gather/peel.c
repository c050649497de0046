/* Rows are peeled: subscripts around the end, or held at a bound, are plain ones but for a few iterations at the ends.
 *
 *     loop j in [lo, hi) { ... x[(j + 1) % N] ... }
 *
 * becomes
 *
 *     loop j in the first and the last of these { ... x[(j + 1) % N] ... }
 *     loop j in between { ... x[j + 1] ... }
 *
 * No compiler sees that by itself: it divides in each iteration, and loads element by element. Which iterations these
 * are follows from the whole range, not from the segment that one thread has, so the results are the same for any
 * number of threads.
 *
 * A row is not peeled if its order decides, if it has a minimum or maximum, or if it has an inner loop. If a condition
 * that only the launch can evaluate is false, all of the row is an end.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/schedule/gather/gather.h"
#include "passes/schedule/schedule.h"

enum { MAX_OPS = 100 }; /* of a body, which is there twice then */

typedef struct peeling {
    gather g; /* the task, as gathers see it */
    ir_op *loop;
    VEC(const ir_value *) at;  /* what is known */
    unsigned char *conditions; /* by value id: of keep_condition */
    int64_t after, before;
    bool worth; /* a subscript is, or what stands around a load */
    bool ok;
    int nops;
} peeling;

static void keep(peeling *p, const ir_value *v, const known *k)
{
    const int last = p->g.nd - 1;
    if (!k->what || p->g.is[v->id])
        return;
    for (int d = 0; d < last; d++)
        if (k->on[d])
            return;
    if (!k->on[last] && k->what == KNOWN_INDEX)
        return;
    known *kept = ARENA_NEW(p->g.f->module->mem, known);
    *kept = *k;
    p->g.is[v->id] = kept;
    vec_push(&p->at, v);
    p->after = k->after[last] > p->after ? k->after[last] : p->after;
    p->before = k->before[last] > p->before ? k->before[last] : p->before;
    p->worth |= k->what == KNOWN_INDEX;
}

static bool is_load(const ir_op *op)
{
    return op->code == OP_LOAD;
}

/* As a whole, or in parts, which may be parts of several. */
static bool keep_condition(peeling *p, const ir_value *v)
{
    enum { UNKNOWN, FOUND, NONE };
    const ir_op *op = v->def;
    if (!op || v->type != SC_BOOL || !ir_region_is_ancestor(p->loop->regions[0], v->region))
        return false;
    if (p->conditions[v->id] != UNKNOWN)
        return p->conditions[v->id] == FOUND;
    const known k = gather_known_truth(&p->g, v);
    keep(p, v, &k);
    bool found = p->g.is[v->id] != NULL;
    for (int i = 0; !p->g.is[v->id] && i < op->nargs && (op->code == OP_AND || op->code == OP_OR || op->code == OP_NOT);
         i++)
        found |= keep_condition(p, op->args[i]);
    p->conditions[v->id] = found ? FOUND : NONE;
    return found;
}

static void find_known(ir_op *op, void *ctx)
{
    peeling *p = ctx;
    p->nops++;
    p->ok &= op->code != OP_LOOP && (op->code != OP_ACCUM || !ir_access_attr(op)->exact);
    if (op->code == OP_SELECT)
        keep_condition(p, op->args[0]);
    if (op->code == OP_IF && keep_condition(p, op->args[0]))
        for (int i = 0; i < op->nregions; i++)
            p->worth |= ir_has(op->regions[i], is_load);
    for (int d = 0; op_accesses_field(op->code) && d < ir_field_of(op)->ndim; d++) {
        const affine a = affine_of(op->args[d]);
        for (int i = 0; i < a.n; i++) {
            if (!a.term[i]->def || !ir_region_is_ancestor(p->loop->regions[0], a.term[i]->region))
                continue;
            const known k = gather_known_index(&p->g, a.term[i]);
            keep(p, a.term[i], &k);
        }
    }
}

/* What is added up may be added up in another order. */
static bool is_free(const ir_op *task)
{
    if (ir_task_attr(task)->ordered || ir_task_sum_decides(task))
        return false;
    for (int i = 0; i < ir_task_attr(task)->nreductions; i++)
        if (ir_task_attr(task)->reductions[i].kind != IR_RED_ADD)
            return false;
    return true;
}

/* The loop once more, for both ends of the row, in front of it, which goes on with the sums. */
static void add_ends(peeling *p, ir_builder *b, ir_value *from, ir_value *to)
{
    ir_op *loop = p->loop;
    ir_value *zero = ir_const_i(b, SC_I64, 0), *two = ir_const_i(b, SC_I64, 2);
    ir_op *ends = ir_loop(b, zero, two, false, loop->nres, loop->args + 2);
    ir_region *body = ends->regions[0];
    body->params[0]->name = "strip";
    ir_builder in = {.func = p->g.f, .region = body, .loc = loop->loc};
    ir_value *first = ir_op2(&in, OP_EQ, body->params[0], ir_const_i(&in, SC_I64, 0));
    ir_value *lo = ir_op3(&in, OP_SELECT, first, loop->args[0], to);
    ir_value *hi = ir_op3(&in, OP_SELECT, first, from, loop->args[1]);
    ir_map map = ir_map_create(p->g.f);
    ir_op *end = ir_clone_op(&in, loop, &map);
    ir_map_free(&map);
    ir_loop_attr(end)->short_trip = true;
    end->args[0] = lo;
    end->args[1] = hi;
    for (int i = 0; i < loop->nres; i++) {
        end->args[2 + i] = body->params[1 + i];
        loop->args[2 + i] = ends->res[i];
    }
    ir_yield(&in, end->nres, end->res);
    loop->args[0] = from;
    loop->args[1] = to;
}

static void use_known(peeling *p, const ir_value *v)
{
    const known *k = p->g.is[v->id];
    ir_builder b = {.func = p->g.f, .region = v->def->region, .before = v->def->next, .loc = v->loc};
    ir_value *j = p->loop->regions[0]->params[0], *is;
    if (k->what == KNOWN_TRUTH)
        is = ir_const_i(&b, SC_BOOL, k->truth);
    else
        is = ir_cast(&b, v->type, k->plus ? ir_op2(&b, OP_ADD, j, ir_const_i(&b, SC_I64, k->plus)) : j);
    ir_replace_uses(p->loop->regions[0], (ir_value *)v, is);
}

static void peel(peeling *p)
{
    const int last = p->g.nd - 1;
    ir_op *loop = p->loop;
    ir_builder b = {.func = p->g.f, .region = loop->region, .before = loop, .loc = loop->loc};
    ir_value *lo = p->g.task->args[2 * last], *hi = p->g.task->args[2 * last + 1];
    ir_value *first = ir_op2(&b, OP_ADD, lo, ir_const_i(&b, SC_I64, p->after));
    ir_value *end = ir_op2(&b, OP_SUB, hi, ir_const_i(&b, SC_I64, p->before));
    ir_map map = ir_map_create(p->g.f);
    for (size_t i = 0; i < p->g.asked->at.len; i++) /* if not, all of the row is an end */
        first = ir_op3(&b, OP_SELECT, gather_answer(&b, &p->g.asked->at.at[i], &map), first, hi);
    ir_map_free(&map);
    ir_value *from = ir_op2(&b, OP_MIN, ir_op2(&b, OP_MAX, first, loop->args[0]), loop->args[1]);
    ir_value *to = ir_op2(&b, OP_MIN, ir_op2(&b, OP_MAX, end, from), loop->args[1]);
    add_ends(p, &b, from, to);
    for (size_t i = 0; i < p->at.len; i++)
        use_known(p, p->at.at[i]);
}

static bool peel_row(ir_func *f, ir_op *task, ir_op *loop)
{
    const int nd = ir_task_attr(task)->ndim;
    asks asked = {.open = true};
    peeling p = {
        .g = {.f = f, .task = task, .nd = nd, .nvalues = f->next_value, .asked = &asked}, .loop = loop, .ok = true};
    for (int d = 0; d < nd - 1; d++)
        p.g.index[d] = task->regions[0]->params[d];
    p.g.index[nd - 1] = loop->regions[0]->params[0];
    p.g.is = xmalloc((p.g.nvalues + 1) * sizeof *p.g.is);
    memset(p.g.is, 0, (p.g.nvalues + 1) * sizeof *p.g.is);
    p.conditions = xmalloc(p.g.nvalues + 1);
    memset(p.conditions, 0, p.g.nvalues + 1);
    ir_walk(loop->regions[0], find_known, &p);
    const bool done = p.ok && p.worth && p.nops <= MAX_OPS;
    if (done)
        peel(&p);
    free(p.g.is);
    free(p.conditions);
    vec_free(&p.at);
    vec_free(&asked.at);
    return done;
}

typedef struct rows {
    VEC(ir_op *) loops;
} rows;

static void list_row(ir_op *op, void *ctx)
{
    rows *r = ctx;
    const ir_op *task = op->region->parent;
    if (op->code == OP_LOOP && ir_loop_attr(op)->parallel && task && task->code == OP_TASK &&
        ir_task_attr(task)->ndim <= GATHER_DIMS && is_free(task))
        vec_push(&r->loops, op);
}

bool pass_peel(ir_func *f)
{
    rows r = {0};
    bool changed = false;
    ir_walk(f->body, list_row, &r);
    for (size_t i = 0; i < r.loops.len; i++)
        changed |= peel_row(f, r.loops.at[i]->region->parent, r.loops.at[i]);
    vec_free(&r.loops);
    return changed;
}
