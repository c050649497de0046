/* A strip of iterations: what is the same in all of them stands there once, loops that all of them run are loops there,
 * and everything between them becomes loops over the lanes.
 *
 * A value of one such loop that another one wants goes through an array with an element for each lane, unless it is
 * cheap to have again. What inner loops carry are such arrays as well.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/lanes/lanes.h"

/* A sum over the lanes that goes to one element. */
typedef struct lane_sum {
    const ir_op *accum;
    ir_value *result;
} lane_sum;

typedef struct building {
    lanes_study *s;
    ir_region *strip;       /* body of the loop over whole strips, or of the branch that has the last one */
    ir_op *top;             /* in it: arrays of lanes are made before this */
    ir_value *base, *lanes; /* first iteration of the strip, how many */
    ir_value *rounded;      /* that, up to whole vectors */
    ir_map map;             /* what is there: uniform values, and those of the loop over lanes that is open */
    ir_op **home;           /* by value id: the loop over lanes that computed it; NULL: it is in memory */
    ir_value **memory;      /* by value id: the array of lanes that holds it; with a home, the value there */
    ir_region *at;          /* where the next operation goes */
    ir_op *block;           /* the loop over lanes that is open, at the end of `at`; NULL: none */
    ir_value *lane;
    bool more;                   /* it does more than arithmetic on arrays of lanes */
    VEC(ir_value *) yields;      /* of it */
    VEC(const ir_value *) local; /* in the map as long as it is open */
    VEC(lane_sum) sums;
    VEC(ir_value *) wide; /* arrays with an element for each lane */
} building;

static ir_builder at_end(const building *g, src_loc loc)
{
    return (ir_builder){.func = g->s->f, .region = g->at, .loc = loc};
}

static ir_builder in_block(const building *g, src_loc loc)
{
    return (ir_builder){.func = g->s->f, .region = g->block->regions[0], .loc = loc};
}

static bool is_outside(const building *g, const ir_value *v)
{
    return !ir_region_is_ancestor(g->s->loop->regions[0], v->region);
}

/* ---- loops over lanes ---- */

static void set_local(building *g, const ir_value *v, ir_value *w)
{
    ir_map_set(&g->map, v, w);
    vec_push(&g->local, v);
}

static void open_block(building *g, src_loc loc)
{
    if (g->block)
        return;
    ir_builder b = at_end(g, loc);
    g->block = ir_loop(&b, ir_const_i(&b, SC_I64, 0), g->lanes, false, 0, NULL);
    ir_loop_attr(g->block)->parallel = true;
    g->lane = g->block->regions[0]->params[0];
    g->lane->name = "lane";
    ir_builder in = in_block(g, loc);
    const ir_value *index = g->s->loop->regions[0]->params[0];
    ir_value *i = ir_op2(&in, OP_ADD, g->base, g->lane);
    i->name = index->name;
    set_local(g, index, i);
}

static bool is_wide(const building *g, const ir_value *array)
{
    for (size_t i = 0; i < g->wide.len; i++)
        if (g->wide.at[i] == array)
            return true;
    return false;
}

/* The lane's own one of 32 neighbours: there is one for lanes behind the last iteration as well. A lane that chooses
 * its element by the iteration's index may not do so there. */
static bool is_own_element(const building *g, const ir_op *access)
{
    if (access->args[1] == g->lane)
        return true;
    const bool stack = op_memory_of(access->code) == MEMORY_STACK;
    if (!(stack ? lanes_layout_is_wide(g->s, ir_layout_of(access)) : is_wide(g, access->args[0])))
        return false;
    const affine a = affine_of(access->args[1]);
    for (int k = 0; k < a.n; k++)
        if (a.term[k] == g->lane && a.coef[k] != 1)
            return false;
    return varies_with_index(g->block, &a);
}

static void find_other_access(ir_op *op, void *ctx)
{
    const building *g = ctx;
    bool plain = false;
    switch (op->code) {
    case OP_LLOAD:
    case OP_LSTORE:
    case OP_STK_LOAD:
    case OP_STK_STORE:
        plain = is_own_element(g, op);
        if (op->code == OP_STK_LOAD || (op->code == OP_LLOAD && ir_local_attr(op->args[0]->def)->set))
            plain &= scalar_is_float(op->res[0]->type); /* what nobody stored may be no bool */
        break;
    case OP_CONST:
    case OP_IF:
    case OP_YIELD:
        plain = true;
        break;
    case OP_CAST:
        plain = !scalar_is_float(op->args[0]->type) || scalar_is_float(op->res[0]->type);
        break;
    case OP_DIV:
    case OP_REM:
    case OP_MOD:
        plain = scalar_is_float(op->res[0]->type);
        break;
    default:
        plain = op_is_pure_table(op->code);
    }
    if (!plain)
        ((building *)ctx)->more = true;
}

/* Lanes beyond the last iteration may compute what they like, where it ends in elements that nobody reads: loops of
 * whole vectors need no rest. */
static void round_up(building *g)
{
    g->more = g->yields.len > 0 || g->s->level; /* arrays without zeros */
    ir_walk(g->block->regions[0], find_other_access, g);
    if (!g->more)
        g->block->args[1] = g->rounded;
}

static void close_block(building *g)
{
    if (!g->block)
        return;
    round_up(g);
    ir_builder in = in_block(g, g->s->loop->loc);
    ir_yield(&in, (int)g->yields.len, g->yields.at);
    for (size_t i = 0; i < g->local.len; i++)
        ir_map_set_other(&g->map, g->local.at[i], NULL);
    for (size_t i = 0; i < g->sums.len; i++) {
        const ir_op *from = g->sums.at[i].accum;
        const int n = ir_field_of(from)->ndim;
        ir_builder b = at_end(g, from->loc);
        ir_op *to = ir_clone_op(&b, from, &g->map);
        to->args[n + 1] = g->sums.at[i].result;
    }
    g->yields.len = g->local.len = g->sums.len = 0;
    g->block = NULL;
}

static ir_value *array_of_lanes(building *g, scalar type, const char *name, src_loc loc)
{
    ir_builder b = {.func = g->s->f, .region = g->strip, .before = g->top, .loc = loc};
    ir_value *array = ir_local(&b, type, LANES, name);
    ir_local_attr(array->def)->set = g->s->level != NULL; /* by the loop over lanes that it comes from */
    return array;
}

/* ---- values ---- */

/* Whether v costs less than a store and a load: integers that follow from the index. */
static bool is_cheap(const building *g, const ir_value *v, int *left)
{
    if (is_outside(g, v) || !g->s->varying[v->id] || v == g->s->loop->regions[0]->params[0])
        return true;
    if (g->memory[v->id] && !g->home[v->id])
        return true;
    if (!v->def || scalar_is_float(v->type) || --*left < 0)
        return false;
    switch (v->def->code) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_NEG:
    case OP_CAST:
        break;
    default:
        return false;
    }
    for (int i = 0; i < v->def->nargs; i++)
        if (scalar_is_float(v->def->args[i]->type) || !is_cheap(g, v->def->args[i], left))
            return false;
    return true;
}

/* An integer of 64 bits that follows from narrower ones. Beside floats of 32 bits it is made again from these, as
 * clang's vectors are as short as the widest number that a loop stores makes them. */
static bool is_widened(const building *g, const ir_value *v, int *left)
{
    if (is_outside(g, v) || !g->s->varying[v->id] || v == g->s->loop->regions[0]->params[0])
        return true;
    if (!v->def || scalar_is_float(v->type) || --*left < 0)
        return false;
    if (scalar_bytes(v->type) < 8)
        return v->type != SC_BOOL;
    switch (v->def->code) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_NEG:
    case OP_CAST:
        break;
    default:
        return false;
    }
    for (int i = 0; i < v->def->nargs; i++)
        if (!is_widened(g, v->def->args[i], left))
            return false;
    return true;
}

/* Arrays of bools would make vectors of as many elements as there are bytes in one. */
static bool is_condition(const ir_value *v)
{
    return v->type == SC_BOOL && v->def && op_is_pure_table(v->def->code);
}

static ir_value *value(building *g, const ir_value *v);

static ir_value *again(building *g, const ir_value *v)
{
    for (int i = 0; i < v->def->nargs; i++)
        value(g, v->def->args[i]);
    ir_builder in = in_block(g, v->loc);
    ir_clone_op(&in, v->def, &g->map);
    vec_push(&g->local, v);
    return ir_map_get(&g->map, v);
}

/* From here on v is in an array, which the loop over lanes that has it fills. */
static void put_away(building *g, const ir_value *v)
{
    ir_op *home = g->home[v->id];
    ir_region *body = home->regions[0];
    ir_value *w = g->memory[v->id]; /* the value itself: block_op */
    ir_value *array = array_of_lanes(g, v->type, v->name, v->loc);
    array->exact = v->exact;
    ir_builder b = {.func = g->s->f, .region = body, .before = ir_yield_of(body), .loc = v->loc};
    ir_lstore(&b, array, body->params[0], w);
    g->memory[v->id] = array;
    g->home[v->id] = NULL;
}

/* v, in the open loop over lanes or, uniform, in front of it. */
static ir_value *value(building *g, const ir_value *v)
{
    if (is_outside(g, v))
        return (ir_value *)v;
    ir_value *w = ir_map_get(&g->map, v);
    if (w)
        return w;
    if (g->home[v->id]) {
        int left = 8, wide = 8;
        if (is_cheap(g, v, &left) || is_condition(v) ||
            (g->s->narrow && scalar_bytes(v->type) == 8 && is_widened(g, v, &wide)))
            return again(g, v);
        put_away(g, v);
    }
    ir_builder in = in_block(g, v->loc);
    w = ir_lload(&in, g->memory[v->id], g->lane);
    w->name = v->name;
    set_local(g, v, w);
    w->exact = v->exact;
    return w;
}

/* ---- accesses to what has an element for each lane ---- */

static void move_access(building *g, ir_op *op, ir_value *lane)
{
    bool wide = false, own = true;
    if (op->code == OP_LLOAD || op->code == OP_LSTORE) {
        wide = is_wide(g, op->args[0]);
    } else if (op->code == OP_STK_LOAD || op->code == OP_STK_STORE) {
        wide = lanes_layout_is_wide(g->s, ir_layout_of(op));
        own = lanes_member_varies(g->s, ir_layout_of(op), ir_slot_attr(op)->number);
    }
    if (!wide)
        return;
    ir_builder b = {.func = g->s->f, .region = op->region, .before = op, .loc = op->loc};
    ir_value *i = ir_op2(&b, OP_MUL, op->args[1], ir_const_i(&b, SC_I64, LANES));
    op->args[1] = own ? ir_op2(&b, OP_ADD, i, lane) : i;
}

typedef struct moving {
    building *g;
    ir_value *lane;
} moving;

static void move_inner(ir_op *op, void *ctx)
{
    const moving *m = ctx;
    move_access(m->g, op, m->lane);
}

/* ---- operations ---- */

static void build_operands(building *g, const ir_op *op, const ir_op *whole)
{
    for (int i = 0; i < op->nargs; i++) {
        bool inside = false;
        for (int k = 0; k < whole->nregions; k++)
            inside |= ir_region_is_ancestor(whole->regions[k], op->args[i]->region);
        if (!inside)
            value(g, op->args[i]);
    }
    for (int k = 0; k < op->nregions; k++)
        for (const ir_op *in = op->regions[k]->first; in; in = in->next)
            build_operands(g, in, whole);
}

static void add_sum(building *g, const ir_op *op)
{
    ir_value *v = value(g, op->args[ir_field_of(op)->ndim + 1]), *result;
    ir_builder before = {.func = g->s->f, .region = g->at, .before = g->block, .loc = op->loc};
    ir_value *sum = ir_loop_carry(g->block, ir_zero(&before, v->type), &result);
    ir_builder in = in_block(g, op->loc);
    vec_push(&g->yields, ir_op2(&in, OP_ADD, sum, v));
    vec_push(&g->sums, ((lane_sum){op, result}));
}

static void block_op(building *g, const ir_op *op)
{
    open_block(g, op->loc);
    if (lanes_sum_up(g->s, op)) {
        add_sum(g, op);
        return;
    }
    build_operands(g, op, op);
    ir_builder in = in_block(g, op->loc);
    ir_op *c = ir_clone_op(&in, op, &g->map);
    for (int i = 0; i < op->nres; i++) {
        vec_push(&g->local, op->res[i]);
        g->memory[op->res[i]->id] = c->res[i];
        g->home[op->res[i]->id] = g->block;
    }
    const moving m = {g, g->lane};
    move_access(g, c, g->lane);
    for (int k = 0; k < c->nregions; k++)
        ir_walk(c->regions[k], move_inner, (void *)&m);
}

/* Whether lanes look at the member one by one. */
static bool is_read_by_lanes(const building *g, const ir_op *store)
{
    for (size_t i = 0; i < g->s->ops.len; i++) {
        const ir_op *op = g->s->ops.at[i];
        if (op->code == OP_STK_LOAD && lanes_kind_of(g->s, op) == LANES_INNER &&
            ir_layout_of(op) == ir_layout_of(store) && ir_slot_attr(op)->number == ir_slot_attr(store)->number)
            return true;
    }
    return false;
}

/* May not come in front of what stands before it: the loop over lanes that is open. */
static bool has_order(const building *g, const ir_op *op)
{
    switch (op->code) {
    case OP_STK_MARK:
    case OP_STK_ALLOC:
        return false;
    case OP_STK_STORE:
        return is_read_by_lanes(g, op);
    default:
        return op->nregions > 0 || op_effect_of(op->code) == OP_EFFECT_WRITE;
    }
}

static void widen(building *g, ir_builder *b, const ir_op *op, ir_op *c)
{
    if (op->code == OP_STK_ALLOC && lanes_layout_is_wide(g->s, ir_layout_of(op))) {
        b->before = c;
        c->args[0] = count_times(b, c->args[0], LANES);
    } else if (op->code == OP_LOCAL && g->s->wide[op->res[0]->id]) {
        b->before = c;
        vec_push(&g->wide, c->res[0]);
        if (c->nargs)
            c->args[0] = count_times(b, c->args[0], LANES);
        else
            ir_local_attr(c)->count *= LANES;
    }
}

static void uniform_op(building *g, const ir_op *op)
{
    if (has_order(g, op))
        close_block(g);
    ir_builder b = at_end(g, op->loc);
    b.before = g->block;
    ir_op *c = ir_clone_op(&b, op, &g->map);
    widen(g, &b, op, c);
    move_access(g, c, NULL);
    const moving m = {g, NULL};
    for (int k = 0; k < c->nregions; k++)
        ir_walk(c->regions[k], move_inner, (void *)&m);
}

static void build_region(building *g, const ir_region *from);

/* What each lane has of v goes into the array. Several are read before any is written: they may be each other's. */
static void store_all(building *g, ir_value *const *arrays, const ir_value *const *values, int n, src_loc loc)
{
    ir_value **now = ARENA_ARRAY(g->s->f->module->mem, ir_value *, n + 1);
    bool any = false;
    for (int i = 0; i < n; i++)
        any |= arrays[i] != NULL;
    if (!any)
        return;
    open_block(g, loc);
    for (int i = 0; i < n; i++)
        if (arrays[i])
            now[i] = value(g, values[i]);
    ir_builder in = in_block(g, loc);
    for (int i = 0; i < n; i++)
        if (arrays[i])
            ir_lstore(&in, arrays[i], g->lane, now[i]);
    close_block(g); /* what reads the arrays behind this reads what was stored */
}

/* The body of a split operation, and what it yields: varying values into their arrays. */
static void split_region(building *g, const ir_region *from, ir_region *to, ir_value *const *arrays, int n)
{
    ir_region *outer = g->at;
    g->at = to;
    build_region(g, from);
    const ir_op *y = ir_yield_of(from);
    const ir_value **values = ARENA_ARRAY(g->s->f->module->mem, const ir_value *, n + 1);
    ir_value **left = ARENA_ARRAY(g->s->f->module->mem, ir_value *, n + 1);
    for (int i = 0; i < n; i++) {
        values[i] = y->args[i];
        const bool stays = arrays[i] && !g->home[y->args[i]->id] && g->memory[y->args[i]->id] == arrays[i];
        left[i] = stays ? NULL : arrays[i];
    }
    store_all(g, left, values, n, y->loc);
    close_block(g);
    VEC(ir_value *) yields = {0};
    for (int i = 0; i < n; i++)
        if (!arrays[i])
            vec_push(&yields, value(g, y->args[i]));
    ir_builder b = at_end(g, y->loc);
    ir_yield(&b, (int)yields.len, yields.at);
    vec_free(&yields);
    g->at = outer;
}

/* The array that holds v, if nobody but this loop, which carries it on as `res`, asks for it, and once in its life. An
 * array of numbers that decide has no others. */
static ir_value *array_to_take(const building *g, const ir_value *v, const ir_op *loop, const ir_value *res)
{
    if (v->region != loop->region || g->s->uses[v->id] != 1 || g->home[v->id] || v->exact != res->exact)
        return NULL;
    return g->memory[v->id];
}

/* Arrays for those results of a split operation that vary. A sum through several loops stays in one. */
static ir_value **result_arrays(building *g, const ir_op *op)
{
    ir_value **arrays = ARENA_ARRAY(g->s->f->module->mem, ir_value *, op->nres + 1);
    for (int i = 0; i < op->nres; i++) {
        if (!g->s->varying[op->res[i]->id])
            continue;
        arrays[i] = op->code == OP_LOOP ? array_to_take(g, op->args[2 + i], op, op->res[i]) : NULL;
        if (!arrays[i])
            arrays[i] = array_of_lanes(g, op->res[i]->type, op->res[i]->name, op->loc);
        arrays[i]->exact = op->res[i]->exact;
        g->memory[op->res[i]->id] = arrays[i];
    }
    return arrays;
}

static void map_results(building *g, const ir_op *from, const ir_op *to, ir_value *const *arrays)
{
    for (int i = 0, at = 0; i < from->nres; i++)
        if (!arrays[i]) {
            to->res[at]->name = from->res[i]->name;
            ir_map_set(&g->map, from->res[i], to->res[at++]);
        }
}

static void split_loop(building *g, const ir_op *op)
{
    const int n = op->nres;
    const ir_region *body = op->regions[0];
    ir_value **arrays = result_arrays(g, op), **left = ARENA_ARRAY(g->s->f->module->mem, ir_value *, n + 1);
    const ir_value **inits = ARENA_ARRAY(g->s->f->module->mem, const ir_value *, n + 1);
    VEC(ir_value *) carried = {0};
    for (int i = 0; i < n; i++) {
        inits[i] = op->args[2 + i];
        left[i] = g->memory[inits[i]->id] == arrays[i] ? NULL : arrays[i];
    }
    store_all(g, left, inits, n, op->loc);
    close_block(g);
    for (int i = 0; i < n; i++)
        if (!arrays[i])
            vec_push(&carried, value(g, op->args[2 + i]));
    ir_builder b = at_end(g, op->loc);
    ir_op *c = ir_loop(&b, value(g, op->args[0]), value(g, op->args[1]), false, (int)carried.len, carried.at);
    ir_copy_attr(c, op);
    vec_free(&carried);
    ir_region *to = c->regions[0];
    to->params[0]->name = body->params[0]->name;
    ir_map_set(&g->map, body->params[0], to->params[0]);
    for (int i = 0, at = 1; i < n; i++) {
        if (arrays[i])
            g->memory[body->params[1 + i]->id] = arrays[i];
        else {
            to->params[at]->name = body->params[1 + i]->name;
            ir_map_set(&g->map, body->params[1 + i], to->params[at++]);
        }
    }
    split_region(g, body, to, arrays, n);
    map_results(g, op, c, arrays);
}

static void split_if(building *g, const ir_op *op)
{
    close_block(g);
    ir_value **arrays = result_arrays(g, op);
    ir_builder b = at_end(g, op->loc);
    ir_op *c = ir_if(&b, value(g, op->args[0]), 0, NULL);
    for (int i = 0; i < op->nres; i++)
        if (!arrays[i])
            ir_add_result(c, op->res[i]->type);
    for (int k = 0; k < 2; k++)
        split_region(g, op->regions[k], c->regions[k], arrays, op->nres);
    map_results(g, op, c, arrays);
}

static bool is_carried(const building *g, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        if (g->s->carried[op->res[i]->id])
            return true;
    return false;
}

/* A body without inner loops, loop over lanes after loop over lanes. */
static void build_levels(building *g, const ir_region *from)
{
    for (int level = 0; level < LEVEL_COUNT; level++) {
        for (const ir_op *op = from->first; op; op = op->next) {
            if (op->code == OP_YIELD || is_carried(g, op))
                continue;
            const bool uniform = lanes_kind_of(g->s, op) == LANES_UNIFORM;
            if (uniform && level == 0)
                uniform_op(g, op);
            else if (!uniform && g->s->level[op->pos] == level)
                block_op(g, op);
        }
        close_block(g);
    }
}

static void build_region(building *g, const ir_region *from)
{
    for (const ir_op *op = from->first; op; op = op->next) {
        if (op->code == OP_YIELD || is_carried(g, op))
            continue;
        switch (lanes_kind_of(g->s, op)) {
        case LANES_INNER:
            block_op(g, op);
            break;
        case LANES_UNIFORM:
            uniform_op(g, op);
            break;
        case LANES_SPLIT:
            if (op->code == OP_LOOP)
                split_loop(g, op);
            else
                split_if(g, op);
        }
    }
}

/* Sums of the loop itself: lane after lane, as its iterations did. from: what they are in front of the strip. */
static void carry(building *g, ir_value *const *from)
{
    const ir_op *loop = g->s->loop, *y = ir_yield_of(loop->regions[0]);
    const int n = loop->nres;
    ir_value **results = ARENA_ARRAY(g->s->f->module->mem, ir_value *, n + 1);
    if (n)
        open_block(g, loop->loc);
    for (int i = 0; i < n; i++) {
        const ir_value *param = loop->regions[0]->params[1 + i];
        ir_value *p = ir_loop_carry(g->block, from[i], &results[i]);
        p->name = param->name;
        results[i]->exact = loop->res[i]->exact;
        set_local(g, param, p);
    }
    for (const ir_op *op = loop->regions[0]->first; op && n; op = op->next) {
        if (op->code == OP_YIELD || !is_carried(g, op))
            continue;
        build_operands(g, op, op);
        ir_builder in = in_block(g, op->loc);
        ir_clone_op(&in, op, &g->map);
        for (int i = 0; i < op->nres; i++)
            vec_push(&g->local, op->res[i]);
    }
    /* behind the sums to single elements, which were carried first */
    for (int i = 0; i < n; i++)
        vec_push(&g->yields, value(g, y->args[i]));
    close_block(g);
    ir_builder b = at_end(g, loop->loc);
    ir_yield(&b, n, results);
}

void lanes_build_strip(lanes_study *s, ir_region *in, ir_value *base, ir_value *lanes, ir_value *rounded,
                       ir_value *const *from)
{
    arena *mem = s->f->module->mem;
    building g = {.s = s,
                  .strip = in,
                  .map = ir_map_create(s->f),
                  .memory = ARENA_ARRAY(mem, ir_value *, s->nvalues + 1),
                  .home = ARENA_ARRAY(mem, ir_op *, s->nvalues + 1),
                  .base = base,
                  .lanes = lanes,
                  .rounded = rounded,
                  .at = in};
    ir_builder b = at_end(&g, s->loop->loc);
    g.top = ir_const_i(&b, SC_I64, 0)->def;
    if (s->level)
        build_levels(&g, s->loop->regions[0]);
    else
        build_region(&g, s->loop->regions[0]);
    if (s->loop->nres)
        carry(&g, from);
    else {
        close_block(&g);
        ir_builder end = at_end(&g, s->loop->loc);
        ir_yield(&end, 0, NULL);
    }
    ir_map_free(&g.map);
    vec_free(&g.yields);
    vec_free(&g.local);
    vec_free(&g.sums);
    vec_free(&g.wide);
}
