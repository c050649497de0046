/* Divisions by one value share its reciprocal: x / b, y / b become x * r, y * r with r = 1 / b. One rounding more, so
 * only in adjoints, whose values nobody compares bit for bit; there the rules of / and sqrt divide by the same value
 * again and again.
 *
 * A gradient that the program asks for, f.grad(x), is an adjoint as well, and yet a function of the program, in whose
 * replay of f a decision may be made: there only what is pulled back is divided so.
 */
#include "ir/ops.h"
#include "passes/derive/algebra/algebra.h"
#include "passes/derive/derive.h"

#include <stdlib.h>
#include <string.h>

typedef struct found {
    ir_op *div;
    uint32_t order;
} found;

typedef VEC(found) found_list;

static int by_denominator(const void *x, const void *y)
{
    const found *a = x, *b = y;
    const uint32_t i = a->div->args[1]->id, j = b->div->args[1]->id;
    if (i != j)
        return i < j ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static void share(ir_func *f, const found *at, size_t n, ir_map *map)
{
    ir_op *first = at[0].div;
    ir_value *b = first->args[1];
    ir_builder in = {.func = f, .region = first->region, .before = first, .loc = first->loc, .origin = first->origin};
    ir_value *one = ir_const_f(&in, b->type, 1.0), *r = ir_op2(&in, OP_DIV, one, b);
    for (size_t i = 0; i < n; i++) {
        ir_op *div = at[i].div;
        in.before = div;
        in.loc = div->loc;
        ir_map_set(map, div->res[0], ir_op2(&in, OP_MUL, div->args[0], r));
    }
}

/* pulled: by value id, what may be divided so; NULL: anything. */
static bool may_share(const ir_op *op, const bool *pulled)
{
    if (op->code != OP_DIV || !scalar_is_float(op->res[0]->type) || op->res[0]->exact || ir_is_const(op->args[1]))
        return false;
    return !pulled || (pulled[op->args[0]->id] && !pulled[op->args[1]->id]);
}

static bool share_in_region(ir_func *f, ir_region *r, const bool *pulled, ir_map *map)
{
    found_list divs = {0};
    bool changed = false;
    for (ir_op *op = r->first; op; op = op->next) {
        if (may_share(op, pulled))
            vec_push(&divs, ((found){op, (uint32_t)divs.len}));
        for (int k = 0; k < op->nregions; k++)
            changed |= share_in_region(f, op->regions[k], pulled, map);
    }
    if (divs.len > 1)
        qsort(divs.at, divs.len, sizeof *divs.at, by_denominator);
    for (size_t i = 0, n; i < divs.len; i += n) {
        for (n = 1; i + n < divs.len && divs.at[i + n].div->args[1] == divs.at[i].div->args[1]; n++)
            continue;
        if (n > 1) {
            share(f, divs.at + i, n, map);
            changed = true;
        }
    }
    vec_free(&divs);
    return changed;
}

static bool share_all(ir_func *f, const bool *pulled)
{
    ir_map map = ir_map_create(f);
    const bool changed = share_in_region(f, f->body, pulled, &map);
    if (changed)
        ir_rewrite_uses(f, &map);
    ir_map_free(&map);
    return changed;
}

bool share_reciprocals(ir_func *f)
{
    return share_all(f, NULL);
}

/* ---- gradients that the program asks for ---- */

typedef struct pulling {
    bool *pulled;
    bool changed;
} pulling;

static void pull(pulling *p, const ir_value *v)
{
    p->changed |= !p->pulled[v->id];
    p->pulled[v->id] = true;
}

/* Result k of what has regions, and of a loop what its body sees. */
static void pull_result(pulling *p, const ir_op *op, int k)
{
    pull(p, op->res[k]);
    if (op->code == OP_LOOP)
        pull(p, op->regions[0]->params[ir_loop_first_param(op) + k]);
}

/* What follows from the seeds: surely no value of the replay. */
static void follow(ir_op *op, void *ctx)
{
    pulling *p = ctx;
    const ir_op *around = op->region->parent;
    for (int i = 0; i < op->nargs; i++) {
        if (!p->pulled[op->args[i]->id])
            continue;
        if (op->code == OP_LOOP && i >= ir_loop_first_init(op))
            pull_result(p, op, i - ir_loop_first_init(op));
        else if (op->code == OP_YIELD && around && (around->code == OP_IF || op->region == around->regions[0]))
            pull_result(p, around, i);
        for (int k = 0; k < op->nres && !op->nregions; k++)
            pull(p, op->res[k]);
    }
}

void share_pulled_reciprocals(ir_func *f, const ir_value *const *seeds, int n)
{
    const size_t bytes = sizeof(bool) * ((size_t)f->next_value + 1);
    pulling p = {.pulled = xmalloc(bytes), .changed = true};
    memset(p.pulled, 0, bytes);
    for (int i = 0; i < n; i++)
        p.pulled[seeds[i]->id] = true;
    while (p.changed) {
        p.changed = false;
        ir_walk(f->body, follow, &p);
    }
    share_all(f, p.pulled);
    free(p.pulled);
}
