/* Constant-shift accumulations become gathers with boundary strips.
 *
 *     task i in [lo, hi) { accum P[i - 1], f(i);  accum P[i], g(i);  accum P[i + 1], h(i);  rest }
 *
 * adds into neighbours, so two threads may meet and no compiler vectorises it. Seen from the element t that receives,
 * it is
 *
 *     task t in [lo - 1, hi + 1) { accum P[t], f(t + 1) + g(t) + h(t - 1) }       each term only if its iteration
 * exists task i in [lo, hi) { rest }
 *
 * where every element is one iteration's own. The interior, where all terms exist, is a loop without conditions; the
 * strips around it test. The values are computed once per shift, so this is done when they are cheap.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"

/* MAX_COST: operations of the values, which are computed once per shift. MAX_TRIES: accumulations that are tried before
 * the rest stay as they are. Beyond both it is a scatter, which is always right. MAX_DIM: of a field. */
enum { MAX_COST = 80, MAX_DIM = 8, MAX_TRIES = 100 };

typedef struct shifted {
    ir_op *accum;
    int64_t by[MAX_DIM];
    int group; /* of equal shifts */
} shifted;

typedef struct gather {
    ir_func *f;
    ir_op *task;
    int nd;              /* of the task; the field may have more, whose subscripts are the same in all iterations */
    int at_dim[MAX_DIM]; /* dimension of the field that task index k goes through */
    const ir_op *first;
    ir_value *fixed[MAX_DIM]; /* its subscripts in the other dimensions, in front of the task */
    ir_field *field;
    ir_plane plane;
    VEC(shifted) at;
    int ngroups;
    bool *cone; /* by value id: in the cone of a gathered value */
    bool ok;
} gather;

/* ---- finding ---- */

/* Which task index subscript a is, plus a constant; -1: none, it is the same in all iterations; -2: anything else. */
static int index_of(const gather *g, const affine *a)
{
    const ir_region *body = g->task->regions[0];
    int found = -1;
    for (int k = 0; k < a->n; k++) {
        if (a->term[k]->region == body && !a->term[k]->def) {
            if (found >= 0 || a->coef[k] != 1 || a->n != 1)
                return -2;
            found = a->term[k]->index;
        } else if (!ir_is_visible(a->term[k], g->task->region)) {
            return -2;
        }
    }
    return a->ok ? found : -2;
}

/* The accumulation's shift along each task index; false if it is not a shift, or not like the first one in the other
 * dimensions. */
static bool shift_of(gather *g, const ir_op *accum, int64_t *by)
{
    bool seen[MAX_DIM] = {false};
    int n = 0;
    for (int d = 0; d < g->field->ndim; d++) {
        affine a = affine_of(accum->args[d]);
        const int k = index_of(g, &a);
        if (k == -2)
            return false;
        if (k == -1) {
            affine first = affine_of(g->first->args[d]);
            if (!affine_equal(&a, &first) || !ir_can_leave(accum->args[d], g->task))
                return false;
            continue;
        }
        if (seen[k] || (accum != g->first && g->at_dim[k] != d))
            return false;
        seen[k] = true;
        g->at_dim[k] = d;
        by[k] = a.konst;
        n++;
    }
    return n == g->nd && ir_component_known(accum);
}

static bool is_gathered(const gather *g, const ir_op *op)
{
    return op->code == OP_ACCUM && !ir_access_attr(op)->exact && ir_field_of(op) == g->field &&
           ir_access_attr(op)->plane == g->plane && !elements_never_meet(g->task, op, g->first);
}

static void find_other_access(ir_op *op, void *ctx)
{
    gather *g = ctx;
    if (op->code == OP_CALL || op->code == OP_TASK || op->code == OP_ATOMIC)
        g->ok = false;
    if (op->code != OP_LOAD && op->code != OP_STORE && (op->code != OP_ACCUM || op->region == g->task->regions[0]))
        return;
    if (ir_field_of(op) != g->field || ir_access_attr(op)->plane != g->plane)
        return;
    if (!elements_never_meet(g->task, op, g->first))
        g->ok = false;
}

static bool collect_shifts(gather *g)
{
    bool differ = false;
    for (ir_op *op = g->task->regions[0]->first; op; op = op->next) {
        if (!is_gathered(g, op))
            continue;
        shifted s = {.accum = op, .group = -1};
        if (!shift_of(g, op, s.by))
            return false;
        for (size_t i = 0; i < g->at.len && s.group < 0; i++)
            if (memcmp(g->at.at[i].by, s.by, sizeof s.by) == 0)
                s.group = g->at.at[i].group;
        if (s.group < 0) {
            s.group = g->ngroups++;
            differ |= s.group > 0;
        }
        vec_push(&g->at, s);
    }
    return differ;
}

/* What the value is computed from inside the task; false if that cannot be repeated. */
static bool mark_cone(gather *g, const ir_value *v, int *cost)
{
    if (!v->def || v->region != g->task->regions[0] || g->cone[v->id])
        return true;
    g->cone[v->id] = true;
    const ir_op *op = v->def;
    switch (op->code) {
    case OP_LOAD:
        *cost += 2;
        break;
    default:
        if (!op_follows_from_operands(op->code))
            return false;
        *cost += op_cost(op->code);
    }
    if (*cost > MAX_COST)
        return false;
    for (int i = 0; i < op->nargs; i++)
        if (!mark_cone(g, op->args[i], cost))
            return false;
    return true;
}

static bool cones_are_cheap(gather *g)
{
    int total = 0;
    bool *all = xmalloc(g->f->next_value * sizeof *all);
    memset(all, 0, g->f->next_value * sizeof *all);
    bool ok = true;
    for (int k = 0; k < g->ngroups && ok; k++) {
        memset(g->cone, 0, g->f->next_value * sizeof *g->cone);
        for (size_t i = 0; i < g->at.len && ok; i++)
            if (g->at.at[i].group == k)
                ok = mark_cone(g, g->at.at[i].accum->args[g->field->ndim + 1], &total);
        for (uint32_t i = 0; i < g->f->next_value; i++)
            all[i] |= g->cone[i];
    }
    free(g->cone);
    g->cone = all;
    return ok && total <= MAX_COST;
}

typedef struct conflict {
    const gather *g;
    const ir_op *load;
    bool found;
} conflict;

/* Whether op, in the body of the task or deeper, stands before `load` in the body. */
static bool comes_before(const ir_op *op, const ir_op *load)
{
    while (op->region != load->region)
        op = op->region->parent;
    for (; op; op = op->next)
        if (op == load)
            return true;
    return false;
}

/* Both touch one element in each iteration, which no other iteration names by these subscripts. */
static bool are_own_element(const gather *g, const ir_op *a, const ir_op *b)
{
    bool seen[MAX_DIM] = {false};
    int n = 0;
    for (int d = 0; d < ir_field_of(a)->ndim; d++) {
        const affine x = affine_of(a->args[d]), y = affine_of(b->args[d]);
        const int k = index_of(g, &x);
        if (k == -2 || !affine_equal(&x, &y))
            return false;
        if (k >= 0 && !seen[k]) {
            seen[k] = true;
            n++;
        }
    }
    return n == g->nd;
}

/* A plane that the cone loads must still be untouched when the gather runs, before all of the task: the load comes
 * before any store of its own iteration, and what is accumulated into it is the iteration's own element, later. */
static void find_conflict(ir_op *op, void *ctx)
{
    conflict *c = ctx;
    if (op->code != OP_ACCUM && op->code != OP_STORE) /* x.shape[k] has no subscripts to compare */
        return;
    if (ir_field_of(op) != ir_field_of(c->load) || ir_access_attr(op)->plane != ir_access_attr(c->load)->plane ||
        never_meet(c->g->task, op, c->load))
        return;
    if (op->code == OP_ACCUM)
        c->found |= comes_before(op, c->load) || !are_own_element(c->g, op, c->load);
    if (op->code == OP_STORE)
        c->found |= comes_before(op, c->load);
}

static bool loads_are_safe(const gather *g)
{
    for (ir_op *op = g->task->regions[0]->first; op; op = op->next) {
        if (op->code != OP_LOAD || !g->cone[op->res[0]->id])
            continue;
        conflict c = {g, op, false};
        ir_walk(g->task->regions[0], find_conflict, &c);
        if (c.found)
            return false;
    }
    return true;
}

/* ---- building ---- */

typedef struct bounds {
    ir_value *lo[MAX_DIM], *hi[MAX_DIM];
    int64_t min[MAX_DIM], max[MAX_DIM];
} bounds;

static ir_value *plus(ir_builder *b, ir_value *v, int64_t c)
{
    return c ? ir_op2(b, OP_ADD, v, ir_const_i(b, SC_I64, c)) : v;
}

static ir_value *both(ir_builder *b, ir_value *x, ir_value *y)
{
    return x ? ir_op2(b, OP_AND, x, y) : y;
}

static void clone_cone(const gather *g, ir_builder *b, const shifted *s, ir_value *const *t, ir_value **values)
{
    ir_map map = ir_map_create(g->f);
    for (int d = 0; d < g->nd; d++)
        ir_map_set(&map, g->task->regions[0]->params[d], plus(b, t[d], -s->by[d]));
    /* The cone is shared by all groups; what this group does not use is removed later. */
    for (ir_op *op = g->task->regions[0]->first; op; op = op->next)
        if (op->nres == 1 && g->cone[op->res[0]->id])
            ir_clone_op(b, op, &map);
    int n = 0;
    for (size_t i = 0; i < g->at.len; i++) {
        if (g->at.at[i].group != s->group)
            continue;
        ir_value *v = g->at.at[i].accum->args[g->field->ndim + 1], *w = ir_map_get(&map, v);
        values[n++] = w ? w : v;
    }
    ir_map_free(&map);
}

static const shifted *first_of_group(const gather *g, int k)
{
    for (size_t i = 0; i < g->at.len; i++)
        if (g->at.at[i].group == k)
            return &g->at.at[i];
    return NULL;
}

/* Everything that element t receives. A term counts only if its iteration exists: tested in the first `guarded`
 * dimensions, known in the others. */
static void receive(const gather *g, ir_builder *b, const bounds *bd, ir_value *const *t, int guarded)
{
    const int n = (int)g->at.len;
    arena *mem = g->f->module->mem;
    ir_value **sum = ARENA_ARRAY(mem, ir_value *, n), **vals = ARENA_ARRAY(mem, ir_value *, n);
    int64_t *comp = ARENA_ARRAY(mem, int64_t, n);
    int ncomp = 0;
    for (int k = 0; k < g->ngroups; k++) {
        const shifted *s = first_of_group(g, k);
        ir_op *test = NULL;
        ir_builder in = *b;
        if (guarded) {
            ir_value *cond = NULL;
            for (int d = 0; d < guarded; d++) {
                ir_value *i = plus(b, t[d], -s->by[d]);
                cond = both(b, cond, ir_op2(b, OP_GE, i, bd->lo[d]));
                cond = both(b, cond, ir_op2(b, OP_LT, i, bd->hi[d]));
            }
            test = ir_if(b, cond, 0, NULL);
            in.region = test->regions[0];
            in.before = NULL;
        }
        clone_cone(g, &in, s, t, vals);
        int at = 0;
        if (guarded) {
            ir_builder no = in;
            no.region = test->regions[1];
            VEC(ir_value *) zeros = {0};
            for (size_t i = 0; i < g->at.len; i++)
                if (g->at.at[i].group == k) {
                    ir_value *zero = ir_zero(&no, vals[zeros.len]->type);
                    vec_push(&zeros, zero);
                }
            ir_yield(&in, (int)zeros.len, vals);
            ir_yield(&no, (int)zeros.len, zeros.at);
            for (size_t i = 0; i < zeros.len; i++)
                vals[i] = ir_add_result(test, vals[i]->type);
            vec_free(&zeros);
        }
        for (size_t i = 0; i < g->at.len; i++) {
            if (g->at.at[i].group != k)
                continue;
            const int64_t c = ir_int(g->at.at[i].accum->args[g->field->ndim]);
            int j = 0;
            while (j < ncomp && comp[j] != c)
                j++;
            if (j == ncomp) {
                comp[ncomp] = c;
                sum[ncomp++] = vals[at++];
            } else {
                sum[j] = ir_op2(b, OP_ADD, sum[j], vals[at++]);
            }
        }
    }
    for (int j = 0; j < ncomp; j++) {
        ir_value *idx[MAX_DIM];
        for (int d = 0; d < g->field->ndim; d++)
            idx[d] = g->fixed[d];
        for (int k = 0; k < g->nd; k++)
            idx[g->at_dim[k]] = t[k];
        ir_op *op = ir_accum(b, g->field, g->plane, idx, ir_const_i(b, SC_I64, comp[j]), sum[j]);
        ir_access_attr(op)->acc = IR_ACC_PLAIN;
        ir_set_class(op, IR_CLASS_GATHER);
        op->loc = g->at.at[0].accum->loc;
    }
}

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
    ir_loop_attr(receive_loop(g, &in, bd, t, lo, hi, g->nd))->brief = true;
    ir_yield(&in, 0, NULL);
}

/* A row segment: strips at the ends of the row, and between them the interior; a row at the boundary of an outer
 * dimension tests for that. */
static void fill_row(const gather *g, ir_builder *b, const bounds *bd, ir_region *row)
{
    const int last = g->nd - 1;
    ir_value *t[MAX_DIM], *inside = NULL;
    for (int d = 0; d < last; d++) {
        t[d] = row->params[d];
        inside = both(b, inside, ir_op2(b, OP_GE, t[d], plus(b, bd->lo[d], bd->max[d])));
        inside = both(b, inside, ir_op2(b, OP_LT, t[d], plus(b, bd->hi[d], bd->min[d])));
    }
    ir_value *const *segment = row->params + last;
    ir_value *from = ir_op2(b, OP_MIN, ir_op2(b, OP_MAX, plus(b, bd->lo[last], bd->max[last]), segment[0]), segment[1]);
    ir_value *to = ir_op2(b, OP_MIN, ir_op2(b, OP_MAX, plus(b, bd->hi[last], bd->min[last]), from), segment[1]);
    strips(g, b, bd, t, segment, from, to);
    if (!inside) {
        receive_loop(g, b, bd, t, from, to, 0);
    } else {
        ir_op *which = ir_if(b, inside, 0, NULL);
        for (int k = 0; k < 2; k++) {
            ir_builder in = {.func = g->f, .region = which->regions[k], .loc = b->loc, .origin = b->origin};
            receive_loop(g, &in, bd, t, from, to, k == 0 ? 0 : last);
            ir_yield(&in, 0, NULL);
        }
    }
    ir_yield(b, 0, NULL);
}

static void build(gather *g)
{
    bounds bd;
    ir_builder b = {.func = g->f,
                    .region = g->task->region,
                    .before = g->task,
                    .loc = g->task->loc,
                    .origin = g->at.at[0].accum->origin};
    ir_value *lo[MAX_DIM], *hi[MAX_DIM];
    bool indexed[MAX_DIM] = {false};
    for (int k = 0; k < g->nd; k++)
        indexed[g->at_dim[k]] = true;
    ir_map map = ir_map_create(g->f);
    for (int d = 0; d < g->field->ndim; d++)
        if (!indexed[d])
            g->fixed[d] = ir_value_before(&b, g->first->args[d], &map);
    ir_map_free(&map);
    for (int d = 0; d < g->nd; d++) {
        bd.lo[d] = g->task->args[2 * d];
        bd.hi[d] = g->task->args[2 * d + 1];
        bd.min[d] = bd.max[d] = g->at.at[0].by[d];
        for (size_t i = 1; i < g->at.len; i++) {
            const int64_t by = g->at.at[i].by[d];
            bd.min[d] = by < bd.min[d] ? by : bd.min[d];
            bd.max[d] = by > bd.max[d] ? by : bd.max[d];
        }
        /* An empty task stays empty. */
        lo[d] = plus(&b, bd.lo[d], bd.min[d]);
        ir_value *any = ir_op2(&b, OP_LT, bd.lo[d], bd.hi[d]), *end = plus(&b, bd.hi[d], bd.max[d]);
        hi[d] = ir_op3(&b, OP_SELECT, any, end, lo[d]);
    }
    ir_op *task = ir_task(&b, g->nd, lo, hi, 0, NULL, NULL);
    ir_task_attr(task)->rows = true;
    ir_task_attr(task)->rest = g->task;
    ir_region *row = ir_region_create(g->f);
    for (int d = 0; d < g->nd - 1; d++)
        ir_region_param(row, SC_I64, g->task->regions[0]->params[d]->name);
    ir_region_param(row, SC_I64, "lo");
    ir_region_param(row, SC_I64, "hi");
    ir_set_region(task, 0, row);
    ir_builder in = {.func = g->f, .region = row, .loc = b.loc, .origin = b.origin};
    fill_row(g, &in, &bd, row);
    for (size_t i = 0; i < g->at.len; i++)
        ir_remove(g->at.at[i].accum);
}

static bool gather_plane(ir_func *f, ir_op *task, const ir_op *first)
{
    gather g = {.f = f,
                .task = task,
                .nd = ir_task_attr(task)->ndim,
                .first = first,
                .field = ir_field_of(first),
                .plane = ir_access_attr(first)->plane,
                .ok = true};
    g.cone = xmalloc((f->next_value + 1) * sizeof *g.cone);
    bool done = false;
    ir_walk(task->regions[0], find_other_access, &g);
    if (g.ok && collect_shifts(&g) && cones_are_cheap(&g) && loads_are_safe(&g)) {
        build(&g);
        done = true;
    }
    vec_free(&g.at);
    free(g.cone);
    return done;
}

typedef struct gather_pass {
    ir_func *f;
    bool changed;
} gather_pass;

static void gather_task(ir_op *op, void *ctx)
{
    gather_pass *p = ctx;
    const int nd = op->code == OP_TASK ? ir_task_attr(op)->ndim : 0;
    if (op->code != OP_TASK || ir_task_attr(op)->rows || nd > MAX_DIM)
        return;
    for (bool again = true; again;) {
        again = false;
        int left = MAX_TRIES;
        for (ir_op *a = op->regions[0]->first; a && !again && left > 0; a = a->next) {
            if (a->code != OP_ACCUM || ir_field_of(a)->ndim < nd || ir_field_of(a)->ndim > MAX_DIM)
                continue;
            again = gather_plane(p->f, op, a);
            left--;
        }
        p->changed |= again;
    }
}

bool pass_gather(ir_func *f)
{
    gather_pass p = {f, false};
    ir_walk(f->body, gather_task, &p);
    return p.changed;
}
