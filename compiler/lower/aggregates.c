/* Elements in memory (fields, local arrays) and loops over the components of large aggregates. */
#include <assert.h>

#include "lower/lower_impl.h"

comp_loop comp_loop_open(lower *l, int64_t n, const char *index, ir_value *init)
{
    comp_loop c = {.outer = l->b};
    ir_value *lo = const_i64(l, 0), *hi = const_i64(l, n);
    c.loop = ir_loop(&l->b, lo, hi, false, init ? 1 : 0, &init);
    c.k = c.loop->regions[0]->params[0];
    c.k->name = index;
    l->b.region = c.loop->regions[0];
    l->b.before = NULL;
    return c;
}

ir_value *comp_loop_close(lower *l, comp_loop *c, ir_value *next)
{
    ir_yield(&l->b, next ? 1 : 0, &next);
    l->b = c->outer;
    return next ? c->loop->res[0] : NULL;
}

place place_of_memory(ir_value *mem, scalar elem, int n)
{
    return (place){.elem = elem, .n = n, .mem = mem};
}

void check_bounds(lower *l, ir_value *subscript, ir_value *extent, const char *what, src_loc loc)
{
    const src_loc outer = l->b.loc;
    l->b.loc = loc;
    ir_op *op = ir_insert(&l->b, OP_ASSERT, 2, (ir_value *[]){subscript, extent}, 0, NULL, 0);
    ir_text_attr(op)->text = what;
    ir_text_attr(op)->whose = IR_ASSERT_BOUNDS;
    l->b.loc = outer;
}

static ir_value *array_extent(lower *l, const tx_local *local, int d)
{
    const lvar *v = var_of(local);
    return v->extents ? v->extents[d] : const_i64(l, local->type->extents[d]);
}

/* The emitter looks at the position in memory, which tells all of an array of scalars with one subscript. */
static void check_subscripts(lower *l, const tx_local *local, tx_expr *const *subs, ir_value *const *s)
{
    const ty *t = local->type;
    if (!l->m->debug || (t->ndim == 1 && ty_ncomp(t->of) == 1))
        return;
    for (int d = 0; d < t->ndim; d++) {
        const char *number = t->ndim == 1 ? "" : arena_printf(l->mem, " %d", d);
        check_bounds(l, s[d], array_extent(l, local, d),
                     arena_printf(l->mem, "subscript%s of '%s'", number, local->name), subs[d]->loc);
    }
}

/* Row-major, components innermost. */
place place_of_element(lower *l, const tx_local *local, tx_expr *const *subs)
{
    const lvar *v = var_of(local);
    const ty *t = local->type;
    assert(t->kind == TY_ARRAY && v->mem);
    int nc = ty_ncomp(t->of);
    ir_value **s = lower_scalars(l, subs, t->ndim);
    check_subscripts(l, local, subs, s);
    ir_value *flat = s[0];
    for (int d = 1; d < t->ndim; d++) {
        flat = ir_op2(&l->b, OP_MUL, flat, array_extent(l, local, d));
        flat = ir_op2(&l->b, OP_ADD, flat, s[d]);
    }
    if (nc != 1)
        flat = ir_op2(&l->b, OP_MUL, flat, const_i64(l, nc));
    return (place){.elem = v->elem, .n = nc, .mem = v->mem, .base = flat};
}

static ir_value *memory_index(lower *l, const place *p, ir_value *comp)
{
    if (!p->base)
        return comp;
    return p->n == 1 ? p->base : ir_op2(&l->b, OP_ADD, p->base, comp);
}

ir_value *place_get(lower *l, const place *p, ir_value *comp)
{
    if (!p->field)
        return ir_lload(&l->b, p->mem, memory_index(l, p, comp));
    ir_value *v = ir_load(&l->b, p->field, p->plane, p->idx, comp);
    return p->stop && scalar_is_float(p->elem) ? ir_op1(&l->b, OP_STOP, v) : v;
}

void place_set(lower *l, const place *p, ir_value *comp, ir_value *v)
{
    if (p->field)
        ir_store(&l->b, p->field, p->plane, p->idx, comp, v);
    else
        ir_lstore(&l->b, p->mem, memory_index(l, p, comp), v);
}

agg place_load(lower *l, const place *p)
{
    if (p->n <= SPLIT_MAX) {
        agg a = agg_scalars(l, p->elem, p->n);
        for (int k = 0; k < p->n; k++)
            a.at[k] = place_get(l, p, const_i64(l, k));
        return a;
    }
    agg a = agg_memory(l, p->elem, p->n, NULL);
    comp_loop c = comp_loop_open(l, p->n, "k", NULL);
    ir_lstore(&l->b, a.mem, c.k, place_get(l, p, c.k));
    comp_loop_close(l, &c, NULL);
    return a;
}

int dyn_count(const tx_stmt *s)
{
    return s->comps ? s->ncomps : 1;
}

ir_value *dyn_component(lower *l, const tx_stmt *s, ir_value *dyn, int i)
{
    return s->comps && s->comps[i] ? ir_op2(&l->b, OP_ADD, dyn, const_i64(l, s->comps[i])) : dyn;
}

void place_assign(lower *l, const place *p, const tx_stmt *s, const agg *value, ir_value *dyn, place_update update,
                  void *ctx)
{
    if (dyn) {
        for (int i = 0; i < dyn_count(s); i++) {
            ir_value *v = agg_get(l, value, i);
            update(l, p, dyn_component(l, s, dyn, i), v, ctx);
        }
    } else if (s->comps || p->n <= SPLIT_MAX) {
        for (int i = 0; i < (s->comps ? s->ncomps : p->n); i++) {
            ir_value *v = agg_get(l, value, i);
            update(l, p, const_i64(l, s->comps ? s->comps[i] : i), v, ctx);
        }
    } else {
        comp_loop c = comp_loop_open(l, p->n, "k", NULL);
        update(l, p, c.k, value->n == 1 ? agg_get(l, value, 0) : agg_get_at(l, value, c.k), ctx);
        comp_loop_close(l, &c, NULL);
    }
}

/* `from` fills `to` once, or again and again when it is an element of the array `to`. */
static void fill_memory(lower *l, ir_value *to, int64_t count, const agg *from)
{
    comp_loop c = comp_loop_open(l, count / from->n, "k", NULL);
    ir_value *first = from->n == 1 ? c.k : ir_op2(&l->b, OP_MUL, c.k, const_i64(l, from->n));
    for (int k = 0; k < from->n; k++) {
        ir_value *v = agg_get(l, from, k);
        ir_lstore(&l->b, to, k ? ir_op2(&l->b, OP_ADD, first, const_i64(l, k)) : first, v);
    }
    comp_loop_close(l, &c, NULL);
}

/* `to` is a whole local array that was just made or that is overwritten entirely. */
void copy_memory(lower *l, ir_value *to, const agg *from)
{
    int64_t count = ir_local_attr(to->def)->count;
    assert(count % from->n == 0);
    if (!from->at && count == from->n) {
        comp_loop c = comp_loop_open(l, count, "k", NULL);
        ir_lstore(&l->b, to, c.k, ir_lload(&l->b, from->mem, c.k));
        comp_loop_close(l, &c, NULL);
    } else if (count != from->n) {
        fill_memory(l, to, count, from);
    } else {
        for (int k = 0; k < from->n; k++)
            ir_lstore(&l->b, to, const_i64(l, k), from->at[k]);
    }
}
