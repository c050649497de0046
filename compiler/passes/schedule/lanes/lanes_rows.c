/* Elements far apart, read once for all trips of a loop.
 *
 *     loop p { loop k { loop j { ... x[p, j] - c[k, j] ... } } }          becomes
 *
 *     loop p { loop j { row[j] = x[p, j] }  loop k { loop j { ... row[j] - c[k, j] ... } } }
 *
 * The lanes of a strip find x[p, j] a row apart from each other. Of an array of the iteration's own each lane has a
 * neighbouring element. Only where lanes are to be made: one iteration by itself has its row in a piece already.
 */
#include "passes/schedule/lanes/lanes.h"

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"

enum { MAX_PARTS = 64 }; /* of a subscript */

/* Made of constants, params and extents: it can be had where the function begins. */
static bool is_fixed(const ir_value *v, int *parts)
{
    if (!v->def || --*parts < 0 ||
        !(op_is_pure_table(v->def->code) || v->def->code == OP_CONST || v->def->code == OP_MPARAM ||
          v->def->code == OP_SHAPE))
        return false;
    for (int i = 0; i < v->def->nargs; i++)
        if (!is_fixed(v->def->args[i], parts))
            return false;
    return true;
}

/* Made of the index, and of what is there in front of `outer`. */
static bool follows(const ir_value *v, const ir_value *index, const ir_op *outer, bool *moves, int *parts)
{
    if (v == index)
        return *moves = true;
    if (ir_is_visible(v, outer->region))
        return true;
    if (!v->def || --*parts < 0 || !(op_is_pure_table(v->def->code) || v->def->code == OP_CONST))
        return false;
    for (int i = 0; i < v->def->nargs; i++)
        if (!follows(v->def->args[i], index, outer, moves, parts))
            return false;
    return true;
}

static bool is_known_before(const ir_op *load, const ir_op *inner, const ir_op *outer)
{
    bool moves = false;
    int parts = MAX_PARTS;
    for (int d = 0; d <= ir_field_of(load)->ndim; d++)
        if (!follows(load->args[d], inner->regions[0]->params[0], outer, &moves, &parts))
            return false;
    return moves && ir_can_leave(inner->args[0], outer) && ir_can_leave(inner->args[1], outer);
}

ir_op *lanes_row_loop(const lanes_study *s, const ir_op *load)
{
    ir_op *inner = load->region->parent, *found = NULL;
    if (load->code != OP_LOAD || load->res[0]->type == SC_BOOL /* of what nobody stored */ || inner == s->loop ||
        inner->code != OP_LOOP || lanes_kind_of(s, inner) != LANES_SPLIT || load->region != inner->regions[0] ||
        (s->touched[ir_storage_of_op(load)] & (OP_STORES | OP_ADDS)))
        return NULL;
    int parts = MAX_PARTS;
    if (!is_fixed(inner->args[0], &parts) || !is_fixed(inner->args[1], &parts))
        return NULL;
    for (ir_op *outer = inner->region->parent; outer && outer != s->loop; outer = outer->region->parent)
        if (outer->code != OP_LOOP || lanes_kind_of(s, outer) != LANES_SPLIT || !is_known_before(load, inner, outer))
            break;
        else
            found = outer;
    return found;
}

/* Nothing is read where the loops around the load make no trip. */
static ir_value *end_if_any(ir_builder *b, const ir_op *inner, const ir_op *outer, ir_value *lo, ir_value *hi)
{
    for (const ir_op *op = inner->region->parent;; op = op->region->parent) {
        ir_map made = ir_map_create(b->func);
        ir_value *from = ir_value_before(b, op->args[0], &made), *to = ir_value_before(b, op->args[1], &made);
        ir_map_free(&made);
        hi = ir_op3(b, OP_SELECT, ir_op2(b, OP_LT, from, to), hi, lo);
        if (op == outer)
            return hi;
    }
}

/* The first is 0. */
static ir_value *number_in(ir_builder *b, ir_value *i, ir_value *lo)
{
    return ir_is_const(lo) && ir_int(lo) == 0 ? i : ir_op2(b, OP_SUB, i, lo);
}

static void read_once(const lanes_study *s, ir_op *load, ir_op *outer)
{
    ir_op *inner = load->region->parent;
    const scalar elem = ir_field_of(load)->elem;
    ir_builder b = {.func = s->f, .region = outer->region, .before = outer, .loc = load->loc};
    ir_map made = ir_map_create(s->f);
    ir_value *lo = ir_value_before(&b, inner->args[0], &made), *hi = ir_value_before(&b, inner->args[1], &made);
    ir_value *count = number_in(&b, hi, lo);
    ir_value *array = ir_is_const(count) && ir_int(count) > 0 ? ir_local(&b, elem, ir_int(count), "row")
                                                              : ir_local_sized(&b, elem, count, "row");
    ir_local_attr(array->def)->set = true;
    ir_op *fill = ir_loop(&b, lo, end_if_any(&b, inner, outer, lo, hi), false, 0, NULL);
    ir_value *i = fill->regions[0]->params[0];
    i->name = inner->regions[0]->params[0]->name;
    ir_builder in = {.func = s->f, .region = fill->regions[0], .loc = load->loc};
    ir_map_set(&made, inner->regions[0]->params[0], i);
    for (int d = 0; d <= ir_field_of(load)->ndim; d++)
        if (!ir_is_visible(load->args[d], outer->region))
            ir_clone_value(&in, load->args[d], &made);
        else
            ir_map_set(&made, load->args[d], load->args[d]);
    ir_value *element = ir_clone_op(&in, load, &made)->res[0];
    ir_lstore(&in, array, number_in(&in, i, lo), element);
    ir_yield(&in, 0, NULL);
    ir_map_free(&made);
    ir_builder at = {.func = s->f, .region = load->region, .before = load, .loc = load->loc};
    ir_value *again = ir_lload(&at, array, number_in(&at, inner->regions[0]->params[0], lo));
    again->name = load->res[0]->name;
    again->exact = element->exact = array->exact = load->res[0]->exact;
    ir_replace_uses(load->region, load->res[0], again);
    ir_remove(load);
}

bool lanes_read_rows(lanes_study *s)
{
    bool changed = false;
    for (size_t n = 0; n < s->ops.len; n++) {
        ir_op *op = s->ops.at[n],
              *outer = op->code == OP_LOAD && lanes_are_strided(s, op) ? lanes_row_loop(s, op) : NULL;
        if (outer) {
            read_once(s, op, outer);
            changed = true;
        }
    }
    return changed;
}
