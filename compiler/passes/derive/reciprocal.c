/* Divisions by one value share its reciprocal: x / b, y / b become x * r, y * r with r = 1 / b. One rounding more, so
 * only in adjoints, whose values nobody compares bit for bit; there the rules of / and sqrt divide by the same value
 * again and again.
 */
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/simplify/simplify.h"

#include <stdlib.h>

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

static bool share_in_region(ir_func *f, ir_region *r, ir_map *map)
{
    found_list divs = {0};
    bool changed = false;
    for (ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_DIV && scalar_is_float(op->res[0]->type) && !op->res[0]->exact && !ir_is_const(op->args[1]))
            vec_push(&divs, ((found){op, (uint32_t)divs.len}));
        for (int k = 0; k < op->nregions; k++)
            changed |= share_in_region(f, op->regions[k], map);
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

void pass_reciprocal(ir_func *f)
{
    if (!is_adjoint(f))
        return;
    ir_map map = ir_map_create(f);
    if (share_in_region(f, f->body, &map)) {
        ir_rewrite_uses(f, &map);
        pass_simplify(f);
    }
    ir_map_free(&map);
}
