/* A value that a launch has stored is read by its adjoint, not computed once more.
 *
 * The adjoint may only do so where it needs the element in any case: where other loads of the kernel, which it repeats,
 * read all that the store writes. Then the data-access rules and tapes see to it that the field holds the value, and no
 * program is refused for this. The rest is as with any stored value: nothing else in the kernel writes there, each
 * iteration has elements of its own, and the value is stored wherever it is computed.
 *
 * It is worth a load where what the value is computed from is not needed: results of loops and calls, and operations
 * with a derivative by their result (exp, sqrt). tanh has one by its operand, which keeps its digits near 1.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/overlap/overlap.h"
#include "passes/analysis/values.h"
#include "passes/derive/derive.h"
#include "passes/simplify/simplify.h"

typedef struct candidate {
    const ir_op *store;
    const ir_value *v;
} candidate;

typedef struct rereading {
    ir_func *kernel, *adjoint;
    ir_module *m;
    VEC(access) writes, needed; /* of data, in the kernel */
    bool *elsewhere;            /* by field: functions that are called write it, or the adjoint does */
    VEC(candidate) candidates;
    uint32_t *uses; /* in the adjoint */
    ir_map map;
    bool changed;
} rereading;

static void note_writes(rereading *r, const ir_op *op)
{
    effects e = effects_of_op(r->m, op);
    for (size_t i = 0; i < r->m->fields.len; i++)
        r->elsewhere[i] |= (e.at[ir_storage_of(r->m->fields.at[i], IR_DATA)] & (OP_STORES | OP_ADDS)) != 0;
    effects_free(&e);
}

static void collect_load(ir_op *op, void *ctx)
{
    rereading *r = ctx;
    if (op->code == OP_CALL)
        note_writes(r, op);
    if (!op_accesses_field(op->code) || ir_access_attr(op)->plane != IR_DATA)
        return;
    if (op_writes_field(op->code))
        vec_push(&r->writes, access_of_op(r->m, op, NULL));
    else if (op->code == OP_LOAD && ir_access_attr(op)->needed)
        vec_push(&r->needed, access_of_op(r->m, op, NULL));
}

static void note_adjoint(ir_op *op, void *ctx)
{
    rereading *r = ctx;
    if (op->code == OP_CALL)
        note_writes(r, op);
    else if (op_writes_field(op->code) && ir_access_attr(op)->plane == IR_DATA)
        r->elsewhere[ir_field_of(op)->index] = true;
}

/* ---- each iteration has an element of its own ---- */

static bool is_fixed(const ir_value *v)
{
    return v->def ? op_is_launch_constant(v->def->code) : !v->region->parent;
}

/* The only index in f, with anything else fixed in a launch; NULL: none. False: more, or others. */
static bool one_index(const affine *f, const ir_value **index)
{
    *index = NULL;
    for (int i = 0; i < f->n && f->ok; i++) {
        if (is_fixed(f->term[i]))
            continue;
        if (*index || f->term[i]->def)
            return false;
        *index = f->term[i];
    }
    return f->ok;
}

static bool is_subscript(const access *a, const ir_value *p)
{
    for (int k = 0; k < a->nsub; k++) {
        const ir_value *index;
        if (one_index(&a->sub[k], &index) && index == p)
            return true;
    }
    return false;
}

static int dims_of(const ir_op *op)
{
    return op->code == OP_TASK ? ir_task_attr(op)->ndim : 1;
}

/* Loops whose iterations are counted, each index of which is a subscript; and no subscript is anything else. */
static bool has_own_elements(const access *a)
{
    const ir_value *index;
    for (int k = 0; k < a->nsub; k++)
        if (!one_index(&a->sub[k], &index))
            return false;
    for (int i = 0; i < a->way.n; i++) {
        const ir_op *op = a->way.at[i].op;
        if (op->code == OP_IF)
            continue;
        if (op->code == OP_LOOP && (!ir_loop_attr(op)->bounded || ir_loop_attr(op)->cond))
            return false;
        for (int d = 0; d < dims_of(op); d++)
            if (!is_subscript(a, op->regions[0]->params[d]))
                return false;
    }
    return true;
}

/* ---- a needed load reads all of them ---- */

static int common_steps(const access *a, const access *b)
{
    int n = 0;
    while (n < a->way.n && n < b->way.n && a->way.at[n].op == b->way.at[n].op &&
           a->way.at[n].region == b->way.at[n].region)
        n++;
    return n;
}

static bool is_inside(const ir_value *index, const access *a, int from)
{
    for (int i = from; i < a->way.n; i++)
        if (index->region == a->way.at[i].op->regions[0])
            return true;
    return false;
}

static bool same_range(const ir_module *m, const ir_value *p, const ir_value *q)
{
    const ir_op *a = p->region->parent, *b = q->region->parent;
    return same_value(m, a->args[2 * p->index], b->args[2 * q->index]) &&
           same_value(m, a->args[2 * p->index + 1], b->args[2 * q->index + 1]);
}

/* Whether subscript k of the load takes all values of the store's; *q is the index with which it does, or NULL. */
static bool covers_subscript(const rereading *r, const access *store, const access *load, int k, int common,
                             const ir_value **q)
{
    const ir_value *p;
    if (!one_index(&store->sub[k], &p) || !one_index(&load->sub[k], q))
        return false;
    const affine difference = affine_sub(&store->sub[k], &load->sub[k]);
    if (!p || !is_inside(p, store, common)) { /* the same iteration of loops in common */
        *q = NULL;
        return difference.ok && difference.n == 0 && difference.konst == 0;
    }
    return *q && is_inside(*q, load, common) && difference.ok && difference.n == 2 && difference.konst == 0 &&
           difference.coef[0] == -difference.coef[1] && same_range(r->m, p, *q);
}

/* Extents count as some: what an adjoint needs of a field does not depend on another's having no elements. */
static bool runs(const ir_module *m, const ir_op *op, int dim)
{
    int64_t lo, hi;
    if (!const_value_of(m, op->args[2 * dim], &lo))
        return false;
    if (const_value_of(m, op->args[2 * dim + 1], &hi))
        return lo < hi;
    const ir_value *v = resolved_value(m, op->args[2 * dim + 1]);
    return lo == 0 && v->def &&
           (v->def->code == OP_SHAPE || (v->def->code == OP_MPARAM && ir_mparam_attr(v->def)->param->sizes));
}

static bool covers(const rereading *r, const access *store, const access *load)
{
    const int common = common_steps(store, load);
    const ir_value *by[AFFINE_TERMS] = {NULL};
    if (load->field != store->field || store->nsub > AFFINE_TERMS || !path_is_unconditional(&store->way, common) ||
        !path_is_unconditional(&load->way, common))
        return false;
    for (int k = 0; k < store->nsub; k++) {
        if (!covers_subscript(r, store, load, k, common, &by[k]))
            return false;
        for (int j = 0; j < k && by[k]; j++)
            if (by[j] == by[k])
                return false; /* a diagonal */
    }
    for (int i = common; i < load->way.n; i++) {
        const ir_op *op = load->way.at[i].op;
        if (op->code == OP_LOOP && !ir_loop_attr(op)->bounded)
            return false;
        for (int d = 0; d < dims_of(op); d++) {
            bool found = runs(r->m, op, d);
            for (int k = 0; k < store->nsub && !found; k++)
                found = by[k] == op->regions[0]->params[d];
            if (!found)
                return false;
        }
    }
    return true;
}

/* ---- the values ---- */

static bool is_candidate(const rereading *r, const access *w)
{
    const ir_op *def = ir_stored_value(w->op)->def;
    if (w->op->code != OP_STORE || !def || def->region != w->op->region || !ir_op_is_rereadable(def))
        return false;
    if (w->field->array || w->field->saved || w->field->scratch || r->elsewhere[w->field->index])
        return false;
    if (!has_own_elements(w))
        return false;
    for (size_t i = 0; i < r->writes.len; i++)
        if (&r->writes.at[i] != w && r->writes.at[i].field == w->field && !access_never_aliases(&r->writes.at[i], w))
            return false;
    for (size_t i = 0; i < r->needed.len; i++)
        if (covers(r, w, &r->needed.at[i]))
            return true;
    return false;
}

/* The load of the gradient that the store takes, in the same iteration as x. All that is pulled back comes behind it:
 * what stands in front of it is computed again, and no loop that runs backwards. */
static const ir_op *pulled_back(const ir_op *store, const ir_op *x)
{
    const int comp = ir_field_of(store)->ndim;
    for (const ir_op *op = x->next; op; op = op->next)
        if (op->code == OP_LOAD && ir_access_attr(op)->plane == ir_adjoint_of(IR_DATA) &&
            ir_field_of(op) == ir_field_of(store) && ir_is_const(op->args[comp]) &&
            ir_int(op->args[comp]) == ir_int(store->args[comp]))
            return op;
    return NULL;
}

/* Which of x's results it is: a loop may have lost some that nobody uses there, or carry others. */
static ir_value *computed_again(ir_op *x, const ir_value *v)
{
    const ir_op *def = v->def;
    if (x->code != def->code)
        return NULL;
    if (x->code == OP_CALL)
        return ir_callee_of(x) == ir_callee_of(def) ? x->res[v->index] : NULL;
    if (x->code != OP_LOOP)
        return x->res[0];
    const ir_value *last = ir_yield_of(def->regions[0])->args[v->index];
    for (int k = 0; k < x->nres && last->def && !ir_loop_attr(x)->down; k++) {
        const ir_value *y = ir_yield_of(x->regions[0])->args[k];
        if (y->def && ir_root_of(y->def) == last->def && y->index == last->index)
            return x->res[k];
    }
    return NULL;
}

static void reread(rereading *r, ir_op *x, const candidate *c)
{
    ir_value *v = computed_again(x, c->v);
    const ir_op *gradient = v ? pulled_back(c->store, x) : NULL;
    if (!gradient || v->type != c->v->type || !r->uses[v->id])
        return;
    ir_field *f = ir_field_of(c->store);
    ir_builder b = {.func = r->adjoint, .region = x->region, .before = x, .loc = c->store->loc};
    ir_map made = ir_map_create(r->adjoint);
    ir_value **at = ARENA_ARRAY(r->m->mem, ir_value *, f->ndim + 1);
    for (int k = 0; k <= f->ndim; k++)
        at[k] = ir_clone_value(&b, gradient->args[k], &made);
    ir_value *again = ir_load(&b, f, IR_DATA, at, at[f->ndim]);
    again->exact = v->exact;
    ir_map_free(&made);
    ir_map_set(&r->map, v, again);
    r->changed = true;
}

static void reread_op(ir_op *op, void *ctx)
{
    rereading *r = ctx;
    const ir_op *root = ir_root_of(op);
    for (size_t i = 0; i < r->candidates.len && root; i++)
        if (r->candidates.at[i].v->def == root)
            reread(r, op, &r->candidates.at[i]);
}

void pass_reread(ir_func *f)
{
    rereading r = {.kernel = f, .adjoint = f->ad.grad, .m = f->module};
    if (!r.adjoint || f->ad.custom_grad)
        return;
    r.elsewhere = ARENA_ARRAY(r.m->mem, bool, r.m->fields.len + 1);
    memset(r.elsewhere, 0, sizeof *r.elsewhere * (r.m->fields.len + 1));
    ir_walk(f->body, collect_load, &r);
    if (r.needed.len) {
        ir_walk(r.adjoint->body, note_adjoint, &r);
        for (size_t i = 0; i < r.writes.len; i++)
            if (is_candidate(&r, &r.writes.at[i]))
                vec_push(&r.candidates, ((candidate){r.writes.at[i].op, ir_stored_value(r.writes.at[i].op)}));
    }
    if (r.candidates.len) {
        r.uses = ir_count_uses(r.adjoint);
        r.map = ir_map_create(r.adjoint);
        ir_walk(r.adjoint->body, reread_op, &r);
        if (r.changed) {
            ir_rewrite_uses(r.adjoint, &r.map);
            pass_simplify(r.adjoint);
        }
        ir_map_free(&r.map);
        free(r.uses);
    }
    vec_free(&r.writes);
    vec_free(&r.needed);
    vec_free(&r.candidates);
}
