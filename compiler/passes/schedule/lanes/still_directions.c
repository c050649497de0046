/* Directions along which nothing moves, in loops over directions around loops over lanes:
 *
 *     loop d { t = load x.dual[b, d];  loop lane { s[d][lane] += t * w[lane] } }                    becomes
 *
 *     loop d { size[d] = |load x.dual[b, d]| };  all = w has a number that is not finite
 *     loop d { if size[d] != 0 || all { t = load x.dual[b, d];  loop lane { s[d][lane] += t * w[lane] } } }
 *
 * The set of directions is computed from the tangents where they are read, so nothing keeps it: neither the host nor a
 * store can leave it out of date. Where all tangents are zero and all factors are finite, each term is a zero: the sum
 * keeps its value. A factor that is infinite or NaN runs all directions, and its product with zero is NaN as ever.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/lanes/lanes.h"

enum { FEW_DIRECTIONS = 4 };

/* What a zero is multiplied with, or divided by. */
typedef struct factor {
    ir_opcode code;
    ir_value *v;
} factor;

typedef struct still {
    ir_func *f;
    ir_op *loop, *inner; /* of directions, and the one in it, over lanes */
    bool *zero;          /* by value id: a zero where all tangents are */
    VEC(ir_op *) tangents;
    VEC(factor) factors;
} still;

static bool is_sum(const ir_op *op)
{
    return op->code == OP_LSTORE || op->code == OP_ACCUM;
}

/* ---- what it looks like ---- */

static bool writes_there(const still *s, const ir_op *load)
{
    for (const ir_op *op = s->inner->regions[0]->first; op; op = op->next)
        if ((op->code == OP_LSTORE && load->code == OP_LLOAD && op->args[0] == load->args[0]) ||
            (op->code == OP_ACCUM && load->code == OP_LOAD && ir_storage_of_op(op) == ir_storage_of_op(load)))
            return true;
    return false;
}

/* Whether v can be computed in front of the loop; index: of what is in front of it. */
static bool is_early(const still *s, const ir_value *v, const ir_value *index)
{
    if (v == index || ir_is_visible(v, s->loop->region))
        return true;
    if (!v->def || v->def->nregions)
        return false;
    const bool loads = v->def->code == OP_LOAD || v->def->code == OP_LLOAD;
    if (loads ? writes_there(s, v->def) : !op_follows_from_operands(v->def->code))
        return false;
    for (int i = 0; i < v->def->nargs; i++)
        if (!is_early(s, v->def->args[i], index))
            return false;
    return true;
}

/* The tangents of the direction, in front of the lanes. */
static bool find_tangents(still *s)
{
    const ir_region *body = s->loop->regions[0];
    for (ir_op *op = body->first; op != s->inner; op = op->next) {
        if (op->code != OP_LOAD || !ir_field_of(op)->wide_of)
            continue;
        if (!is_early(s, op->res[0], body->params[0]) ||
            (s->tangents.len && op->res[0]->type != s->tangents.at[0]->res[0]->type))
            return false;
        s->zero[op->res[0]->id] = true;
        vec_push(&s->tangents, op);
    }
    return s->tangents.len > 0;
}

static void note_factor(still *s, ir_opcode code, ir_value *v)
{
    bool known = v->finite && code == OP_MUL;
    for (size_t i = 0; i < s->factors.len && !known; i++)
        known = s->factors.at[i].v == v && s->factors.at[i].code == code;
    if (!known)
        vec_push(&s->factors, ((factor){code, v}));
}

/* Whether the result is a zero where the tangents are, if the factors that are noted are such numbers. */
static bool is_zero(still *s, const ir_op *op)
{
    const bool a = op->nargs > 0 && s->zero[op->args[0]->id], b = op->nargs > 1 && s->zero[op->args[1]->id];
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
        return a && b;
    case OP_NEG:
        return a;
    case OP_CAST:
        return a && scalar_is_float(op->res[0]->type);
    case OP_MUL:
        if (a != b)
            note_factor(s, OP_MUL, op->args[a]);
        return a || b;
    case OP_DIV:
        if (a && !b)
            note_factor(s, OP_DIV, op->args[1]);
        return a && !b;
    default:
        return false;
    }
}

/* s[lane] + zero, or s[lane] - zero, into s[lane], once in a trip. */
static bool keeps_element(const still *s, const ir_op *store)
{
    const ir_op *sum = store->args[2]->def;
    if (!sum || (sum->code != OP_ADD && sum->code != OP_SUB) || sum->region != store->region)
        return false;
    const int at = sum->code == OP_ADD && s->zero[sum->args[0]->id];
    const ir_op *old = sum->args[at]->def;
    for (const ir_op *op = store->region->first; op; op = op->next)
        if (op != store && op->code == OP_LSTORE && op->args[0] == store->args[0])
            return false;
    return s->zero[sum->args[!at]->id] && old && old->code == OP_LLOAD && old->region == store->region &&
           old->args[0] == store->args[0] && old->args[1] == store->args[1];
}

static bool keeps_sums(still *s)
{
    bool any = false;
    for (const ir_op *op = s->inner->regions[0]->first; op; op = op->next) {
        if (op->nregions || (op->code == OP_YIELD && op->nargs))
            return false;
        if (op->code == OP_LSTORE  ? !keeps_element(s, op)
            : op->code == OP_ACCUM ? ir_access_attr(op)->exact || !s->zero[ir_stored_value(op)->id]
                                   : op->code != OP_YIELD && op->code != OP_LOAD && op->code != OP_LLOAD &&
                                         !op_follows_from_operands(op->code))
            return false;
        any |= is_sum(op);
        if (op->nres)
            s->zero[op->res[0]->id] = is_zero(s, op);
    }
    for (size_t i = 0; i < s->factors.len; i++)
        if (!is_early(s, s->factors.at[i].v, s->inner->regions[0]->params[0]))
            return false;
    return any;
}

static bool fits_in_front(const ir_op *op)
{
    return op->code == OP_LOAD || op->code == OP_LLOAD || op_follows_from_operands(op->code);
}

static bool looks_right(still *s)
{
    const ir_attr_loop *a = ir_loop_attr(s->loop);
    if (!a->bounded || a->cond || a->parallel || s->loop->nres || !ir_is_const(s->loop->args[0]) ||
        ir_int(s->loop->args[0]) != 0 || !ir_is_const(s->loop->args[1]) || ir_int(s->loop->args[1]) < FEW_DIRECTIONS)
        return false;
    ir_op *op = s->loop->regions[0]->first;
    while (fits_in_front(op))
        op = op->next;
    if (op->code != OP_LOOP || !ir_loop_attr(op)->parallel || op->nres || !op->next || op->next->code != OP_YIELD)
        return false;
    s->inner = op;
    return ir_is_visible(op->args[0], s->loop->region) && ir_is_visible(op->args[1], s->loop->region) &&
           find_tangents(s) && keeps_sums(s);
}

/* ---- the set ---- */

/* v, computed at b. */
static ir_value *early(const still *s, ir_builder *b, ir_map *map, ir_value *v)
{
    ir_value *known = ir_map_get(map, v);
    if (known || ir_is_visible(v, s->loop->region))
        return known ? known : v;
    for (int i = 0; i < v->def->nargs; i++)
        early(s, b, map, v->def->args[i]);
    return ir_clone_op(b, v->def, map)->res[0];
}

/* By direction, the sum of the absolute values of its tangents. */
static ir_value *find_sizes(const still *s, ir_builder *b)
{
    const ir_region *body = s->loop->regions[0];
    ir_value *sizes = ir_local(b, s->tangents.at[0]->res[0]->type, ir_int(s->loop->args[1]), "size");
    ir_local_attr(sizes->def)->set = true;
    sizes->exact = true;
    ir_op *loop = ir_loop(b, s->loop->args[0], s->loop->args[1], false, 0, NULL);
    ir_value *index = loop->regions[0]->params[0], *sum = NULL;
    index->name = body->params[0]->name;
    ir_builder in = {.func = s->f, .region = loop->regions[0], .loc = b->loc, .exact = true};
    ir_map map = ir_map_create(s->f);
    ir_map_set(&map, body->params[0], index);
    for (size_t i = 0; i < s->tangents.len; i++) {
        ir_value *size = ir_op1(&in, OP_ABS, early(s, &in, &map, s->tangents.at[i]->res[0]));
        sum = sum ? ir_op2(&in, OP_ADD, sum, size) : size;
    }
    ir_lstore(&in, sizes, index, sum);
    ir_yield(&in, 0, NULL);
    ir_map_free(&map);
    return sizes;
}

/* Whether a zero times, or by, one of the factors is no zero. */
static ir_value *find_odd_factors(const still *s, ir_builder *b)
{
    ir_value *zero = ir_zero(b, s->factors.at[0].v->type);
    ir_op *loop = ir_loop(b, s->inner->args[0], s->inner->args[1], false, 1, &zero);
    ir_region *body = loop->regions[0];
    body->params[0]->name = "lane";
    ir_builder in = {.func = s->f, .region = body, .loc = b->loc};
    ir_map map = ir_map_create(s->f);
    ir_map_set(&map, s->inner->regions[0]->params[0], body->params[0]);
    ir_value *terms = NULL;
    for (size_t i = 0; i < s->factors.len; i++) {
        const factor *of = &s->factors.at[i];
        ir_value *v = ir_cast(&in, zero->type, early(s, &in, &map, of->v)), *term = ir_op2(&in, of->code, zero, v);
        terms = terms ? ir_op2(&in, OP_ADD, terms, term) : term;
    }
    ir_value *sum = ir_op2(&in, OP_ADD, body->params[1], terms);
    ir_yield(&in, 1, &sum);
    ir_map_free(&map);
    return ir_op2(b, OP_NE, ir_op2(b, OP_MUL, loop->res[0], zero), zero);
}

static void leave_out(still *s)
{
    ir_region *body = s->loop->regions[0];
    ir_builder b = {.func = s->f, .region = s->loop->region, .before = s->loop, .loc = s->loop->loc};
    ir_value *sizes = find_sizes(s, &b), *all = s->factors.len ? find_odd_factors(s, &b) : NULL;
    b.region = body;
    b.before = body->first;
    ir_value *size = ir_lload(&b, sizes, body->params[0]);
    size->exact = true;
    ir_value *moves = ir_op2(&b, OP_NE, size, ir_zero(&b, size->type));
    ir_op *choice = ir_if(&b, all ? ir_op2(&b, OP_OR, moves, all) : moves, 0, NULL);
    while (choice->next->code != OP_YIELD)
        ir_move(choice->next, choice->regions[0], NULL);
    for (int k = 0; k < 2; k++) {
        ir_builder end = {.func = s->f, .region = choice->regions[k], .loc = b.loc};
        ir_yield(&end, 0, NULL);
    }
}

/* ---- the pass ---- */

typedef struct still_pass {
    VEC(ir_op *) loops;
} still_pass;

static void find_loop(ir_op *op, void *ctx)
{
    still_pass *p = ctx;
    if (op->code == OP_LOOP)
        vec_push(&p->loops, op);
}

static void find_task(ir_op *op, void *ctx)
{
    if (op->code == OP_TASK && ir_task_attr(op)->lanes)
        ir_walk(op->regions[0], find_loop, ctx);
}

bool lanes_leave_out_still(ir_func *f)
{
    still_pass p = {0};
    bool changed = false;
    ir_walk(f->body, find_task, &p);
    for (size_t i = 0; i < p.loops.len; i++) {
        const size_t n = f->next_value + 1;
        still s = {.f = f, .loop = p.loops.at[i], .zero = ARENA_ARRAY(f->module->mem, bool, n)};
        memset(s.zero, 0, n * sizeof *s.zero);
        if (looks_right(&s)) {
            leave_out(&s);
            changed = true;
        }
        vec_free(&s.tangents);
        vec_free(&s.factors);
    }
    vec_free(&p.loops);
    return changed;
}
