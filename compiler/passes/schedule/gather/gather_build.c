/* The loops of a gather: what each element receives, in the interior and in the strips around it. gather.c tells more.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/schedule/gather/gather.h"
#include "passes/schedule/schedule.h"

/* What is added to the range of the task: min and max, for the elements that receive at all; after and before, for the
 * interior, in which nothing is asked. */
typedef struct bounds {
    ir_value *lo[GATHER_DIMS], *hi[GATHER_DIMS];
    ir_value *extent[GATHER_DIMS]; /* of the field, where elements must be looked for in it */
    int64_t min[GATHER_DIMS], max[GATHER_DIMS], after[GATHER_DIMS], before[GATHER_DIMS];
} bounds;

/* One place of the code in which elements receive. */
typedef struct place {
    const gather *g;
    const bounds *bd;
    ir_value *const *t; /* the element, by task index */
    int guarded;        /* in so many leading dimensions it may be anywhere, in the others it is in the interior */
    int group;
    ir_map map;       /* of the iteration that adds */
    ir_value **value; /* by piece; NULL: adds nothing here */
} place;

static ir_value *plus(ir_builder *b, ir_value *v, int64_t c)
{
    return c ? ir_op2(b, OP_ADD, v, ir_const_i(b, SC_I64, c)) : v;
}

/* What an element receives where it receives nothing: of floats -0, as adding 0 would make a -0 another number. */
static ir_value *nothing(ir_builder *b, scalar type)
{
    return scalar_is_float(type) ? ir_const_f(b, type, -0.0) : ir_zero(b, type);
}

static ir_value *both(ir_builder *b, ir_value *x, ir_value *y)
{
    return x ? ir_op2(b, OP_AND, x, y) : y;
}

/* ---- the iteration that adds ---- */

static ir_value *iteration(ir_builder *b, const place *p, const step *s, int d)
{
    ir_value *i = plus(b, p->t[d], -s->by);
    return s->kind == STEP_WRAP && s->by && d < p->guarded ? ir_op2(b, OP_MOD, i, p->bd->hi[d]) : i;
}

/* Whether that iteration exists and takes this step, as far as it is not known: a bool, or NULL where it is. */
static ir_value *takes_step(ir_builder *b, const place *p, const step *s, int d)
{
    const bounds *bd = p->bd;
    ir_value *cond = NULL, *i = s->kind == STEP_WRAP ? p->t[d] : plus(b, p->t[d], -s->by);
    if (s->kind != STEP_WRAP || bd->min[d] < 0)
        cond = both(b, cond, ir_op2(b, OP_GE, i, bd->lo[d]));
    if (s->kind != STEP_WRAP || bd->max[d] > 0)
        cond = both(b, cond, ir_op2(b, OP_LT, i, bd->hi[d]));
    switch (s->kind) {
    case STEP_SHIFT:
    case STEP_WRAP:
        return cond;
    case STEP_BELOW:
        return both(b, cond, ir_op2(b, OP_LT, p->t[d], plus(b, bd->hi[d], -s->edge)));
    case STEP_ABOVE:
        return both(b, cond, ir_op2(b, OP_GE, p->t[d], plus(b, bd->lo[d], s->edge)));
    case STEP_LAST:
        return both(b, cond, ir_op2(b, OP_EQ, p->t[d], plus(b, bd->hi[d], -1 - s->edge)));
    case STEP_FIRST:
        return both(b, cond, ir_op2(b, OP_EQ, p->t[d], plus(b, bd->lo[d], s->edge)));
    }
    return cond;
}

static const known *known_here(const place *p, const ir_value *v)
{
    const known *k = v->id < p->g->nvalues ? p->g->is[v->id] : NULL;
    for (int d = 0; k && d < p->guarded; d++)
        if (k->on[d])
            return NULL;
    return k;
}

static void clone_region(ir_builder *b, place *p, const ir_region *r);

static bool is_cone(const gather *g, const ir_value *v)
{
    return v->id < g->nvalues && g->cone[v->id];
}

/* Whether a piece of the group stands in op. */
static bool holds_piece(const place *p, const ir_op *op)
{
    for (size_t i = 0; i < p->g->at.len; i++)
        for (int k = 0; k < op->nregions && p->g->at.at[i].group == p->group; k++)
            if (ir_region_is_ancestor(op->regions[k], p->g->at.at[i].accum->region))
                return true;
    return false;
}

static ir_value *mapped(const place *p, ir_value *v)
{
    ir_value *w = ir_map_get(&p->map, v);
    return w ? w : v;
}

/* One branch alone, where it is known which. */
static void clone_branch(ir_builder *b, place *p, const ir_op *op, const ir_region *branch)
{
    clone_region(b, p, branch);
    for (int i = 0; i < op->nres; i++)
        if (is_cone(p->g, op->res[i]))
            ir_map_set(&p->map, op->res[i], mapped(p, ir_yield_of(branch)->args[i]));
}

static bool is_inside(const place *p, size_t k, const ir_region *r)
{
    return p->g->at.at[k].group == p->group && ir_region_is_ancestor(r, p->g->at.at[k].accum->region);
}

/* What a branch gives: the results that are wanted, then the pieces in either branch. */
static void yield_branch(ir_builder *b, place *p, const ir_op *op, const ir_region *branch)
{
    const gather *g = p->g;
    VEC(ir_value *) out = {0};
    for (int i = 0; i < op->nres; i++)
        if (is_cone(g, op->res[i]))
            vec_push(&out, mapped(p, ir_yield_of(branch)->args[i]));
    for (size_t i = 0; i < g->at.len; i++) {
        if (is_inside(p, i, branch) && p->value[i]) {
            vec_push(&out, p->value[i]);
        } else if (is_inside(p, i, op->regions[0]) || is_inside(p, i, op->regions[1])) {
            ir_value *zero = nothing(b, g->at.at[i].accum->args[g->field->ndim + 1]->type);
            vec_push(&out, zero);
        }
    }
    ir_yield(b, (int)out.len, out.at);
    vec_free(&out);
}

static void clone_if(ir_builder *b, place *p, const ir_op *op)
{
    const gather *g = p->g;
    const known *k = known_here(p, op->args[0]);
    if (k) {
        clone_branch(b, p, op, op->regions[k->truth ? 0 : 1]);
        return;
    }
    ir_op *test = ir_if(b, mapped(p, op->args[0]), 0, NULL);
    test->loc = op->loc;
    for (int branch = 0; branch < 2; branch++) {
        ir_builder in = {.func = b->func, .region = test->regions[branch], .loc = b->loc, .origin = b->origin};
        clone_region(&in, p, op->regions[branch]);
        yield_branch(&in, p, op, op->regions[branch]);
    }
    for (int i = 0; i < op->nres; i++)
        if (is_cone(g, op->res[i]))
            ir_map_set(&p->map, op->res[i], ir_add_result(test, op->res[i]->type));
    for (size_t i = 0; i < g->at.len; i++)
        if (is_inside(p, i, op->regions[0]) || is_inside(p, i, op->regions[1]))
            p->value[i] = ir_add_result(test, g->at.at[i].accum->args[g->field->ndim + 1]->type);
}

static void clone_known(ir_builder *b, place *p, const ir_value *v, const known *k)
{
    ir_value *i = mapped(p, p->g->task->regions[0]->params[k->dim]);
    ir_map_set(&p->map, v,
               k->what == KNOWN_TRUTH ? ir_const_i(b, SC_BOOL, k->truth) : ir_cast(b, v->type, plus(b, i, k->plus)));
}

/* The cone is shared by all groups; what this group does not use is removed later. */
static void clone_region(ir_builder *b, place *p, const ir_region *r)
{
    const gather *g = p->g;
    for (const ir_op *op = r->first; op; op = op->next) {
        bool wanted = false;
        for (int i = 0; i < op->nres; i++)
            wanted |= is_cone(g, op->res[i]);
        const known *k = wanted ? known_here(p, op->res[0]) : NULL;
        if (k)
            clone_known(b, p, op->res[0], k);
        else if (op->code == OP_IF && (wanted || holds_piece(p, op)))
            clone_if(b, p, op);
        else if (wanted)
            ir_clone_op(b, op, &p->map);
        for (size_t i = 0; i < g->at.len; i++)
            if (g->at.at[i].accum == op && g->at.at[i].group == p->group)
                p->value[i] = mapped(p, op->args[g->field->ndim + 1]);
    }
}

static const piece *first_of_group(const gather *g, int k)
{
    for (size_t i = 0; i < g->at.len; i++)
        if (g->at.at[i].group == k)
            return &g->at.at[i];
    return NULL;
}

/* The values of the group's pieces, without the test. */
static void clone_group(ir_builder *b, place *p)
{
    const gather *g = p->g;
    const piece *s = first_of_group(g, p->group);
    p->map = ir_map_create(g->f);
    for (int d = 0; d < g->nd; d++)
        ir_map_set(&p->map, g->task->regions[0]->params[d], iteration(b, p, &s->at[d], d));
    clone_region(b, p, g->task->regions[0]);
    ir_map_free(&p->map);
}

/* The values of the group's pieces, zero where the iteration does not exist or takes other steps. */
static void receive_group(ir_builder *b, place *p)
{
    const gather *g = p->g;
    const piece *s = first_of_group(g, p->group);
    ir_value *cond = NULL;
    for (int d = 0; d < g->nd; d++) {
        if (d >= p->guarded && step_is_edge(&s->at[d]))
            return;
        ir_value *takes = d < p->guarded ? takes_step(b, p, &s->at[d], d) : NULL;
        cond = takes ? both(b, cond, takes) : cond;
    }
    if (!cond) {
        clone_group(b, p);
        return;
    }
    ir_op *test = ir_if(b, cond, 0, NULL);
    ir_builder in = {.func = b->func, .region = test->regions[0], .loc = b->loc, .origin = b->origin}, no = in;
    no.region = test->regions[1];
    clone_group(&in, p);
    VEC(ir_value *) vals = {0};
    VEC(ir_value *) zeros = {0};
    for (size_t i = 0; i < g->at.len; i++) {
        if (g->at.at[i].group != p->group || !p->value[i])
            continue;
        ir_value *zero = nothing(&no, p->value[i]->type);
        vec_push(&vals, p->value[i]);
        vec_push(&zeros, zero);
        p->value[i] = ir_add_result(test, zero->type);
    }
    ir_yield(&in, (int)vals.len, vals.at);
    ir_yield(&no, (int)zeros.len, zeros.at);
    vec_free(&vals);
    vec_free(&zeros);
}

/* Everything that element t receives. A term counts only if its iteration exists: tested in the first `guarded`
 * dimensions, known in the others. */
static void receive(const gather *g, ir_builder *b, const bounds *bd, ir_value *const *t, int guarded)
{
    const int n = (int)g->at.len;
    arena *mem = g->f->module->mem;
    place p = {.g = g, .bd = bd, .t = t, .guarded = guarded, .value = ARENA_ARRAY(mem, ir_value *, n)};
    ir_value **sum = ARENA_ARRAY(mem, ir_value *, n);
    int64_t *comp = ARENA_ARRAY(mem, int64_t, n);
    int ncomp = 0;
    for (p.group = 0; p.group < g->ngroups; p.group++) {
        receive_group(b, &p);
        for (int i = 0; i < n; i++) {
            if (g->at.at[i].group != p.group || !p.value[i])
                continue;
            const int64_t c = ir_int(g->at.at[i].accum->args[g->field->ndim]);
            int j = 0;
            while (j < ncomp && comp[j] != c)
                j++;
            comp[j] = c;
            sum[j] = j == ncomp ? p.value[i] : ir_op2(b, OP_ADD, sum[j], p.value[i]);
            ncomp += j == ncomp;
        }
    }
    for (int j = 0; j < ncomp; j++) {
        ir_value *idx[GATHER_DIMS];
        for (int d = 0; d < g->field->ndim; d++)
            idx[d] = g->fixed[d];
        for (int k = 0; k < g->nd; k++)
            idx[g->at_dim[k]] = t[k];
        ir_op *op = ir_accum(b, g->field, g->plane, idx, ir_const_i(b, SC_I64, comp[j]), sum[j]);
        ir_access_attr(op)->acc = IR_ACC_PLAIN;
        ir_set_class(op, g->asked->at.len ? IR_CLASS_VERSION : IR_CLASS_GATHER);
        op->loc = g->at.at[0].accum->loc;
    }
}

/* ---- loops ---- */

static ir_op *receive_loop(const gather *g, ir_builder *b, const bounds *bd, ir_value **t, ir_value *lo, ir_value *hi,
                           int guarded)
{
    ir_op *loop = ir_loop(b, lo, hi, false, 0, NULL);
    loop->regions[0]->params[0]->name = g->task->regions[0]->params[g->nd - 1]->name;
    t[g->nd - 1] = loop->regions[0]->params[0];
    ir_builder in = {.func = g->f, .region = loop->regions[0], .loc = b->loc, .origin = b->origin};
    receive(g, &in, bd, t, guarded);
    ir_yield(&in, 0, NULL);
    return loop;
}

/* Both strips of a row share one piece of code: strip 0 before [from, to), strip 1 behind it. They are as short as the
 * shifts. */
static void strips(const gather *g, ir_builder *b, const bounds *bd, ir_value **t, ir_value *const *segment,
                   ir_value *from, ir_value *to)
{
    ir_value *zero = ir_const_i(b, SC_I64, 0), *two = ir_const_i(b, SC_I64, 2);
    ir_op *both_strips = ir_loop(b, zero, two, false, 0, NULL);
    ir_value *strip = both_strips->regions[0]->params[0];
    strip->name = "strip";
    ir_builder in = {.func = g->f, .region = both_strips->regions[0], .loc = b->loc, .origin = b->origin};
    ir_value *first = ir_op2(&in, OP_EQ, strip, ir_const_i(&in, SC_I64, 0));
    ir_value *lo = ir_op3(&in, OP_SELECT, first, segment[0], to), *hi = ir_op3(&in, OP_SELECT, first, from, segment[1]);
    ir_loop_attr(receive_loop(g, &in, bd, t, lo, hi, g->nd))->short_trip = true;
    ir_yield(&in, 0, NULL);
}

/* Whether all of a row is interior: nothing is added beside its own element. */
static bool is_whole_row(const bounds *bd, int last)
{
    return !bd->min[last] && !bd->max[last] && !bd->after[last] && !bd->before[last];
}

/* Directions: one thread runs them all, so that what they share is computed once. */
static bool row_is_unit(const gather *g, const bounds *bd)
{
    const int last = g->nd - 1;
    return last > 0 && is_whole_row(bd, last) && ir_is_const(bd->lo[last]) && ir_is_const(bd->hi[last]) &&
           ir_int(bd->lo[last]) < ir_int(bd->hi[last]);
}

/* A row segment: strips at the ends of the row, and between them the interior; a row at the boundary of an outer
 * dimension tests for that. */
static void fill_row(const gather *g, ir_builder *b, const bounds *bd, ir_value *const *outer, ir_value *const *segment)
{
    const int last = g->nd - 1;
    ir_value *t[GATHER_DIMS], *inside = NULL;
    for (int d = 0; d < last; d++) {
        t[d] = outer[d];
        inside = both(b, inside, ir_op2(b, OP_GE, t[d], plus(b, bd->lo[d], bd->after[d])));
        inside = both(b, inside, ir_op2(b, OP_LT, t[d], plus(b, bd->hi[d], -bd->before[d])));
    }
    const bool whole = row_is_unit(g, bd);
    ir_value *from = whole ? bd->lo[last] : segment[0], *to = whole ? bd->hi[last] : segment[1];
    if (!is_whole_row(bd, last)) {
        from = ir_op2(b, OP_MIN, ir_op2(b, OP_MAX, plus(b, bd->lo[last], bd->after[last]), from), to);
        to = ir_op2(b, OP_MIN, ir_op2(b, OP_MAX, plus(b, bd->hi[last], -bd->before[last]), from), to);
        strips(g, b, bd, t, segment, from, to);
    }
    if (!inside) {
        receive_loop(g, b, bd, t, from, to, 0);
        return;
    }
    ir_op *which = ir_if(b, inside, 0, NULL);
    for (int k = 0; k < 2; k++) {
        ir_builder in = {.func = g->f, .region = which->regions[k], .loc = b->loc, .origin = b->origin};
        receive_loop(g, &in, bd, t, from, to, k == 0 ? 0 : last);
        ir_yield(&in, 0, NULL);
    }
}

/* Elements that no iteration adds to, as a condition holds it back, need not be elements of the field: these are left
 * out. */
static void fill_inside(const gather *g, ir_builder *b, const bounds *bd, ir_value *const *row)
{
    const int last = g->nd - 1;
    ir_value *cond = NULL, *segment[2] = {row[last], row[last + 1]};
    for (int d = 0; d < g->nd; d++) {
        const affine lo = affine_of(bd->lo[d]), hi = affine_of(bd->hi[d]);
        int64_t beyond;
        if (!bd->extent[d])
            continue;
        const affine extent = affine_of(bd->extent[d]);
        const bool low = lo.n || lo.konst + bd->min[d] < 0;
        const bool high = !gather_distance(g, &extent, &hi, &beyond) || beyond < bd->max[d];
        ir_value *zero = low ? ir_const_i(b, SC_I64, 0) : NULL;
        if (d == last) {
            segment[0] = low ? ir_op2(b, OP_MAX, segment[0], zero) : segment[0];
            segment[1] = high ? ir_op2(b, OP_MIN, segment[1], bd->extent[d]) : segment[1];
            continue;
        }
        cond = low ? both(b, cond, ir_op2(b, OP_GE, row[d], zero)) : cond;
        cond = high ? both(b, cond, ir_op2(b, OP_LT, row[d], bd->extent[d])) : cond;
    }
    if (!cond) {
        fill_row(g, b, bd, row, segment);
        return;
    }
    ir_op *test = ir_if(b, cond, 0, NULL);
    ir_builder in = {.func = g->f, .region = test->regions[0], .loc = b->loc, .origin = b->origin}, no = in;
    fill_row(g, &in, bd, row, segment);
    ir_yield(&in, 0, NULL);
    no.region = test->regions[1];
    ir_yield(&no, 0, NULL);
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What one step asks of the interior of its dimension. */
static void bound_step(bounds *bd, const step *s, int d, int64_t after, int64_t before)
{
    const int64_t by = s->kind == STEP_WRAP ? 0 : s->by;
    bd->min[d] = by < bd->min[d] ? by : bd->min[d];
    bd->max[d] = largest(by, bd->max[d]);
    if (s->kind == STEP_LAST || s->kind == STEP_BELOW)
        bd->before[d] = largest(bd->before[d], s->edge + step_is_edge(s));
    if (s->kind == STEP_FIRST || s->kind == STEP_ABOVE)
        bd->after[d] = largest(bd->after[d], s->edge + step_is_edge(s));
    if (s->kind == STEP_WRAP) {
        bd->after[d] = largest(bd->after[d], 0);
        bd->before[d] = largest(bd->before[d], 0);
    }
    if (!step_is_edge(s)) {
        bd->after[d] = largest(bd->after[d], s->by + after);
        bd->before[d] = largest(bd->before[d], before - s->by);
    }
}

static bounds find_bounds(const gather *g, ir_builder *b)
{
    bounds bd = {0};
    for (int d = 0; d < g->nd; d++) {
        int64_t after = 0, before = 0;
        for (uint32_t i = 0; i < g->nvalues; i++) {
            after = g->is[i] ? largest(after, g->is[i]->after[d]) : after;
            before = g->is[i] ? largest(before, g->is[i]->before[d]) : before;
        }
        bd.lo[d] = g->task->args[2 * d];
        bd.hi[d] = g->task->args[2 * d + 1];
        bd.extent[d] = g->inside ? ir_shape(b, g->field, g->at_dim[d]) : NULL;
        bd.min[d] = INT64_MAX;
        bd.max[d] = bd.after[d] = bd.before[d] = INT64_MIN;
        for (size_t i = 0; i < g->at.len; i++)
            bound_step(&bd, &g->at.at[i].at[d], d, after, before);
    }
    return bd;
}

/* Whether some piece is added in every iteration. */
static bool always_adds(const gather *g)
{
    for (size_t i = 0; i < g->at.len; i++)
        if (g->at.at[i].accum->region == g->task->regions[0])
            return true;
    return false;
}

/* The subscripts that all iterations share; returns whether the field has elements there, or NULL where it has them for
 * certain. A condition that holds in no iteration, `t > 0 ? u[t - 1, i + 1] : 0.0`, may be what keeps it from that. */
static ir_value *find_fixed(gather *g, ir_builder *b)
{
    bool indexed[GATHER_DIMS] = {false};
    for (int k = 0; k < g->nd; k++)
        indexed[g->at_dim[k]] = true;
    const bool sure = always_adds(g);
    ir_value *exists = NULL;
    ir_map map = ir_map_create(g->f);
    for (int d = 0; d < g->field->ndim; d++) {
        if (indexed[d])
            continue;
        g->fixed[d] = ir_value_before(b, g->first->args[d], &map);
        ir_value *one = sure ? NULL : subscript_in_range(b, g->field, d, g->fixed[d]);
        exists = one ? both(b, exists, one) : exists;
    }
    ir_map_free(&map);
    return exists;
}

/* Where the first index alone goes around, element 0 comes `first` rows later: then row k of the rest follows rows k to
 * k + around of the gather, all but the last `around`, which follow all. False: the rest is to wait. */
static bool can_follow(const gather *g, const bounds *bd, int64_t *first, int *around)
{
    int64_t low = 0, high = 0;
    for (size_t i = 0; i < g->at.len; i++) {
        low = g->at.at[i].at[0].by < low ? g->at.at[i].at[0].by : low;
        high = largest(g->at.at[i].at[0].by, high);
    }
    if (g->nd < 2 || bd->min[0] || bd->max[0] || high - low > GATHER_EDGE)
        return false;
    *first = low;
    *around = (int)(high - low);
    return true;
}

void gather_build(gather *g)
{
    ir_builder b = {.func = g->f,
                    .region = g->task->region,
                    .before = g->task,
                    .loc = g->task->loc,
                    .origin = g->at.at[0].accum->origin};
    ir_value *lo[GATHER_DIMS], *hi[GATHER_DIMS];
    ir_value *exists = find_fixed(g, &b);
    const bounds bd = find_bounds(g, &b);
    for (int d = 0; d < g->nd; d++) {
        /* An empty task stays empty, and one is that finds no elements. */
        lo[d] = plus(&b, bd.lo[d], bd.min[d]);
        ir_value *any = ir_op2(&b, OP_LT, bd.lo[d], bd.hi[d]), *end = plus(&b, bd.hi[d], bd.max[d]);
        any = d == 0 && exists ? both(&b, exists, any) : any;
        hi[d] = ir_op3(&b, OP_SELECT, any, end, lo[d]);
    }
    ir_op *task = ir_task(&b, g->nd, lo, hi, 0, NULL, NULL);
    ir_task_attr(task)->rows = true;
    ir_task_attr(task)->unit_dims = row_is_unit(g, &bd);
    int64_t first = 0;
    if (!g->wraps[0] || can_follow(g, &bd, &first, &ir_task_attr(task)->periodic_halo))
        ir_task_attr(task)->fused_with = g->task;
    ir_region *row = ir_region_create(g->f);
    for (int d = 0; d < g->nd - 1; d++)
        ir_region_param(row, SC_I64, g->task->regions[0]->params[d]->name);
    ir_region_param(row, SC_I64, "lo");
    ir_region_param(row, SC_I64, "hi");
    ir_set_region(task, 0, row);
    ir_builder in = {.func = g->f, .region = row, .loc = b.loc, .origin = b.origin};
    ir_value *at[GATHER_DIMS + 1];
    for (int k = 0; k <= g->nd; k++)
        at[k] = row->params[k];
    at[0] = first ? ir_op2(&in, OP_MOD, plus(&in, at[0], first), bd.hi[0]) : at[0];
    fill_inside(g, &in, &bd, at);
    ir_yield(&in, 0, NULL);
    for (size_t i = 0; i < g->at.len; i++) /* pieces of one accumulation stand side by side */
        if (i == 0 || g->at.at[i].accum != g->at.at[i - 1].accum)
            ir_remove(g->at.at[i].accum);
}
