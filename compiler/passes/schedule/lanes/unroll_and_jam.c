/* Trips of a loop over lanes side by side (unroll and jam):
 *
 *     loop j { loop lane { s[lane] += a[j][lane] * b[lane] } }        becomes
 *
 *     loop q { loop lane { t = s[lane] + a[4q][lane] * b[lane];  ...  s[lane] = t + a[4q + 3][lane] * b[lane] } }
 *     loop j of what is left { ... }
 *
 * What all trips look at, s and b, is loaded once for four of them, and stored once. Each lane does what it did, in the
 * order in which it did it. Lanes are iterations of a parallel loop: none touches what another one writes, so that one
 * may be ahead of the others by a trip.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/lanes/lanes.h"

enum {
    TOGETHER = 4,
    MAX_COST = 24 /* of a lane's trip: all four must find room in registers */
};

typedef struct jam {
    ir_func *f;
    ir_op *loop, *inner;    /* of trips, and the one in it, over lanes */
    unsigned char *touched; /* by ir_storage */
    ir_map maps[TOGETHER];
} jam;

/* ---- what it looks like ---- */

static bool is_array_access(const ir_op *op)
{
    switch (op->code) {
    case OP_LLOAD:
    case OP_LSTORE:
    case OP_STK_LOAD:
    case OP_STK_STORE:
        return true;
    default:
        return false;
    }
}

static bool stores(const ir_op *op)
{
    return op->code == OP_LSTORE || op->code == OP_STK_STORE;
}

/* Of one array, or of one member of one block. */
static bool is_in_one(const ir_op *a, const ir_op *b)
{
    const op_memory m = op_memory_of(a->code);
    return m == op_memory_of(b->code) && a->args[0] == b->args[0] &&
           (m != MEMORY_STACK ||
            (ir_layout_of(a) == ir_layout_of(b) && ir_slot_attr(a)->number == ir_slot_attr(b)->number));
}

/* Straight code that a lane may run some trips ahead. */
static bool is_simple(const ir_op *op)
{
    if (op->nregions)
        return false;
    switch (op->code) {
    case OP_LOAD:
    case OP_STORE:
    case OP_YIELD:
        return true;
    case OP_ACCUM:
        return !ir_access_attr(op)->exact;
    default:
        return is_array_access(op) || op_follows_from_operands(op->code);
    }
}

static bool is_over_lanes(const ir_op *op)
{
    if (op->code != OP_LOOP || !ir_loop_attr(op)->parallel || !ir_is_const(op->args[0]) || ir_int(op->args[0]) != 0 ||
        !ir_is_const(op->args[1]) || ir_int(op->args[1]) != LANES)
        return false;
    for (const ir_op *in = op->regions[0]->first; in; in = in->next)
        if (!is_simple(in))
            return false;
    return true;
}

/* What stands around the loop over lanes: of memory, loads in front of it and sums behind it. */
static bool fits_around(const ir_op *op, bool behind)
{
    switch (op->code) {
    case OP_LOAD:
    case OP_LLOAD:
    case OP_STK_LOAD:
        return !behind;
    case OP_ACCUM:
        return behind && !ir_access_attr(op)->exact;
    case OP_YIELD:
        return op->nargs == 0;
    default:
        return !op->nregions && op_follows_from_operands(op->code);
    }
}

static void note_touch(jam *j, const ir_op *op)
{
    op_touch touched[OP_TOUCHED_MAX];
    for (int n = op_touched(op, touched), i = 0; i < n; i++)
        j->touched[touched[i].at] |= (unsigned char)touched[i].what;
}

/* Loads of fields, and in front of the lanes those of arrays, come before what earlier trips write. */
static bool reads_what_stays(const jam *j, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        if (op->code == OP_LOAD && (j->touched[ir_storage_of_op(op)] & (OP_STORES | OP_ADDS)))
            return false;
        if (r != j->loop->regions[0] || !is_array_access(op))
            continue;
        for (const ir_op *in = j->inner->regions[0]->first; in; in = in->next)
            if (stores(in) && is_in_one(in, op))
                return false;
    }
    return true;
}

static bool looks_right(jam *j)
{
    const ir_attr_loop *a = ir_loop_attr(j->loop);
    if (!a->bounded || a->cond || j->loop->nres || a->parallel)
        return false;
    for (ir_op *op = j->loop->regions[0]->first; op; op = op->next) {
        if (!j->inner && is_over_lanes(op))
            j->inner = op;
        else if (!fits_around(op, j->inner != NULL))
            return false;
        note_touch(j, op);
    }
    if (!j->inner)
        return false;
    for (const ir_op *op = j->inner->regions[0]->first; op; op = op->next)
        note_touch(j, op);
    return reads_what_stays(j, j->loop->regions[0]) && reads_what_stays(j, j->inner->regions[0]);
}

/* ---- elements that all trips look at ---- */

static bool is_the_same(const jam *j, const ir_value *v)
{
    if (v == j->inner->regions[0]->params[0] || ir_is_visible(v, j->loop->region))
        return true;
    if (!v->def || !op_follows_from_operands(v->def->code))
        return false;
    for (int i = 0; i < v->def->nargs; i++)
        if (!is_the_same(j, v->def->args[i]))
            return false;
    return true;
}

static bool is_one_element(const ir_op *a, const ir_op *b)
{
    const affine x = affine_of(a->args[1]), y = affine_of(b->args[1]);
    return affine_equal(&x, &y);
}

/* Whether the element is all that is touched of its array, or nobody stores into that. */
static bool is_alone(const jam *j, const ir_op *access)
{
    bool stored = false, others = false;
    for (const ir_op *op = j->inner->regions[0]->first; op; op = op->next) {
        if (!is_array_access(op) || !is_in_one(op, access))
            continue;
        stored |= stores(op);
        others |= !is_one_element(op, access);
    }
    return !stored || !others;
}

/* It is loaded once for four trips, and stored once. */
static bool is_held(const jam *j, const ir_op *op)
{
    return is_array_access(op) && is_the_same(j, op->args[0]) && is_the_same(j, op->args[1]) && is_alone(j, op);
}

static bool trips_are_known(const ir_op *loop, int64_t *trips)
{
    if (!ir_is_const(loop->args[0]) || !ir_is_const(loop->args[1]))
        return false;
    *trips = ir_int(loop->args[1]) - ir_int(loop->args[0]);
    return true;
}

/* Where an element is stored in each trip, and the rest of a trip is little. */
static bool pays(const jam *j)
{
    int cost = 0, saved = 0;
    bool stored = false;
    for (const ir_op *op = j->inner->regions[0]->first; op; op = op->next) {
        const bool held = is_held(j, op);
        saved += held;
        stored |= held && stores(op);
        if (is_array_access(op) || op_accesses_field(op->code))
            cost += 1;
        else if (op->nres && scalar_is_float(op->res[0]->type) && op_is_pure_table(op->code))
            cost += op_cost(op->code);
    }
    int64_t trips;
    const bool few = trips_are_known(j->loop, &trips) && trips < TOGETHER;
    return stored && !few && cost <= MAX_COST && TOGETHER * saved >= cost;
}

/* ---- four trips ---- */

static ir_value *mapped(const ir_map *map, ir_value *v)
{
    ir_value *w = ir_map_get(map, v);
    return w ? w : v;
}

static void clone_lanes(jam *j, ir_builder *b)
{
    const ir_region *from = j->inner->regions[0];
    VEC(ir_value *) inits = {0};
    const int n = j->inner->nres;
    for (int u = 0; u < TOGETHER; u++)
        for (int k = 0; k < n; k++)
            vec_push(&inits, mapped(&j->maps[u], j->inner->args[2 + k]));
    ir_op *made = ir_loop(b, j->inner->args[0], j->inner->args[1], false, (int)inits.len, inits.at);
    vec_free(&inits);
    ir_copy_attr(made, j->inner);
    ir_region *to = made->regions[0];
    to->params[0]->name = from->params[0]->name;
    ir_builder in = {.func = j->f, .region = to, .loc = j->inner->loc};
    VEC(ir_value *) yields = {0};
    for (int u = 0; u < TOGETHER; u++) {
        ir_map *map = &j->maps[u];
        ir_map_set(map, from->params[0], to->params[0]);
        for (int k = 0; k < n; k++) {
            ir_map_set(map, from->params[1 + k], to->params[1 + u * n + k]);
            ir_map_set(map, j->inner->res[k], made->res[u * n + k]);
        }
        for (const ir_op *op = from->first; op; op = op->next) {
            if (op->code != OP_YIELD)
                ir_clone_op(&in, op, map);
            for (int k = 0; op->code == OP_YIELD && k < n; k++)
                vec_push(&yields, mapped(map, op->args[k]));
        }
    }
    ir_yield(&in, (int)yields.len, yields.at);
    vec_free(&yields);
}

/* The index of trip `u` of the four. */
static ir_value *index_of(const jam *j, ir_builder *b, ir_value *first, int u)
{
    ir_value *trip = ir_op2(b, OP_ADD, first, ir_const_i(b, SC_I64, ir_loop_attr(j->loop)->down ? u + 1 : u));
    ir_value *i = ir_loop_attr(j->loop)->down ? ir_op2(b, OP_SUB, j->loop->args[1], trip)
                                              : ir_op2(b, OP_ADD, j->loop->args[0], trip);
    i->name = j->loop->regions[0]->params[0]->name;
    return i;
}

static ir_value *fours_of(ir_builder *b, const ir_op *loop)
{
    int64_t known;
    if (trips_are_known(loop, &known))
        return ir_const_i(b, SC_I64, known / TOGETHER);
    ir_value *zero = ir_const_i(b, SC_I64, 0);
    ir_value *trips = ir_op2(b, OP_MAX, ir_op2(b, OP_SUB, loop->args[1], loop->args[0]), zero);
    ir_value *together = ir_const_i(b, SC_I64, TOGETHER);
    return ir_op2(b, OP_DIV, trips, together);
}

/* The trips that are left, at most three. */
static void keep_rest(ir_builder *b, ir_op *loop, ir_value *fours)
{
    int64_t known;
    if (trips_are_known(loop, &known) && known % TOGETHER == 0) {
        ir_remove(loop);
        return;
    }
    ir_loop_attr(loop)->short_trip = true;
    ir_value *done = ir_op2(b, OP_MUL, fours, ir_const_i(b, SC_I64, TOGETHER));
    if (ir_loop_attr(loop)->down)
        loop->args[1] = ir_op2(b, OP_SUB, loop->args[1], done);
    else
        loop->args[0] = ir_op2(b, OP_ADD, loop->args[0], done);
}

static void put_together(jam *j)
{
    ir_op *loop = j->loop;
    ir_builder b = {.func = j->f, .region = loop->region, .before = loop, .loc = loop->loc};
    ir_value *n = fours_of(&b, loop);
    ir_op *main = ir_loop(&b, ir_const_i(&b, SC_I64, 0), n, false, 0, NULL);
    ir_loop_attr(main)->unrolled_by_4 = true;
    ir_region *body = main->regions[0];
    body->params[0]->name = "four";
    ir_builder in = {.func = j->f, .region = body, .loc = loop->loc};
    ir_value *first = ir_op2(&in, OP_MUL, body->params[0], ir_const_i(&in, SC_I64, TOGETHER));
    for (int u = 0; u < TOGETHER; u++) {
        j->maps[u] = ir_map_create(j->f);
        ir_map_set(&j->maps[u], loop->regions[0]->params[0], index_of(j, &in, first, u));
        for (const ir_op *op = loop->regions[0]->first; op != j->inner; op = op->next)
            ir_clone_op(&in, op, &j->maps[u]);
    }
    clone_lanes(j, &in);
    for (int u = 0; u < TOGETHER; u++) {
        for (const ir_op *op = j->inner->next; op->code != OP_YIELD; op = op->next)
            ir_clone_op(&in, op, &j->maps[u]);
        ir_map_free(&j->maps[u]);
    }
    ir_yield(&in, 0, NULL);
    keep_rest(&b, loop, n);
}

/* ---- the pass ---- */

typedef struct jam_pass {
    VEC(ir_op *) loops;
} jam_pass;

static void find_loop(ir_op *op, void *ctx)
{
    jam_pass *p = ctx;
    if (op->code == OP_LOOP)
        vec_push(&p->loops, op);
}

static void find_task(ir_op *op, void *ctx)
{
    if (op->code == OP_TASK && ir_task_attr(op)->lanes)
        ir_walk(op->regions[0], find_loop, ctx);
}

bool unroll_and_jam(ir_func *f)
{
    jam_pass p = {0};
    bool changed = false;
    ir_walk(f->body, find_task, &p);
    for (size_t i = 0; i < p.loops.len; i++) {
        jam j = {.f = f,
                 .loop = p.loops.at[i],
                 .touched = ARENA_ARRAY(f->module->mem, unsigned char, ir_storage_count(f->module) + 1)};
        if (looks_right(&j) && pays(&j)) {
            put_together(&j);
            changed = true;
        }
    }
    vec_free(&p.loops);
    return changed;
}
