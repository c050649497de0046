/* Elements of local arrays become values, in functions with Jacobians: the local Jacobian takes only these. A vector of
 * more than 16 numbers is a local array, and its subscripts are constants once loops are written out.
 *
 *     lstore y, 3, %a  ...  %b = lload y, 3       uses of %b are uses of %a
 *
 * An array is replaced if all its subscripts are constants, and all its stores stand in the region of the array; loads
 * may stand anywhere. */
#include "ir/ops.h"
#include "passes/simplify/simplify.h"

enum { MAX_COUNT = 4096 };

typedef struct array {
    bool stays;
    ir_value **now; /* of each element, behind what was visited; NULL: zero */
} array;

typedef struct replacing {
    ir_func *f;
    array *arrays; /* by the id of the array */
    ir_map map;    /* load -> the element's value */
    bool changed;
} replacing;

static bool is_access(const ir_op *op)
{
    return op->code == OP_LLOAD || op->code == OP_LSTORE || op->code == OP_LACCUM;
}

static bool is_simple(const ir_op *op)
{
    const ir_op *local = op->args[0]->def;
    return local->code == OP_LOCAL && !local->nargs && ir_is_const(op->args[1]) && ir_int(op->args[1]) >= 0 &&
           ir_int(op->args[1]) < ir_local_attr(local)->count && (op->code == OP_LLOAD || op->region == local->region);
}

static void find_uses(ir_op *op, void *ctx)
{
    replacing *r = ctx;
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i]->type == SC_PTR && (i > 0 || !is_access(op) || !is_simple(op)))
            r->arrays[op->args[i]->id].stays = true;
    if (op->code == OP_LOCAL && (op->nargs || ir_local_attr(op)->count > MAX_COUNT))
        r->arrays[op->res[0]->id].stays = true;
}

static ir_value *value_now(const replacing *r, ir_value *v)
{
    ir_value *now = ir_map_get(&r->map, v);
    return now ? now : v;
}

static void replace(replacing *r, ir_op *op)
{
    ir_value **now = &r->arrays[op->args[0]->id].now[ir_int(op->args[1])];
    ir_builder b = {.func = r->f, .region = op->region, .before = op, .loc = op->loc};
    if (op->code == OP_LSTORE) {
        *now = value_now(r, op->args[2]);
    } else {
        if (!*now) { /* arrays begin with zeros */
            b.before = op->args[0]->def;
            b.region = b.before->region;
            *now = ir_zero(&b, ir_elem_type(op->args[0]));
            b.before = op;
            b.region = op->region;
        }
        if (op->code == OP_LACCUM)
            *now = ir_op2(&b, OP_ADD, *now, value_now(r, op->args[2]));
        else
            ir_map_set(&r->map, op->res[0], *now);
    }
    ir_remove(op);
    r->changed = true;
}

static void visit(replacing *r, ir_region *region)
{
    for (ir_op *op = region->first, *next; op; op = next) {
        next = op->next;
        for (int k = 0; k < op->nregions; k++)
            visit(r, op->regions[k]);
        if (op->code == OP_LOCAL && !r->arrays[op->res[0]->id].stays)
            r->arrays[op->res[0]->id].now = ARENA_ARRAY(r->f->module->mem, ir_value *,
                                                        (size_t)ir_local_attr(op)->count + 1);
        else if (is_access(op) && !r->arrays[op->args[0]->id].stays)
            replace(r, op);
    }
}

bool pass_scalars(ir_func *f)
{
    replacing r = {f, ARENA_ARRAY(f->module->mem, array, f->next_value + 1), ir_map_create(f), false};
    ir_walk(f->body, find_uses, &r);
    visit(&r, f->body);
    if (r.changed)
        ir_rewrite_uses(f, &r.map);
    ir_map_free(&r.map);
    return r.changed;
}
