/* Variables and their values: components as SSA values, or memory. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "lower/lower_impl.h"

ir_value *const_i64(lower *l, int64_t x)
{
    return ir_const_i(&l->b, SC_I64, x);
}

scalar elem_of(const ty *t)
{
    return t->kind == TY_ARRAY ? elem_of(t->of) : t->elem;
}

/* Arrays are memory whatever their size: they are subscripted. */
bool in_memory(const ty *t)
{
    return t->kind == TY_ARRAY || ty_ncomp(t) > SPLIT_MAX;
}

agg agg_scalars(lower *l, scalar elem, int n)
{
    return (agg){.elem = elem, .n = n, .at = ARENA_ARRAY(l->mem, ir_value *, n), .stable = true};
}

agg agg_one(lower *l, ir_value *v)
{
    agg a = agg_scalars(l, v->type, 1);
    a.at[0] = v;
    return a;
}

agg agg_memory(lower *l, scalar elem, int n, const char *name)
{
    return (agg){.elem = elem, .n = n, .mem = ir_local(&l->b, elem, n, name), .stable = true, .fresh = true};
}

ir_value *agg_get(lower *l, const agg *a, int k)
{
    if (a->n == 1)
        k = 0;
    return a->at ? a->at[k] : ir_lload(&l->b, a->mem, const_i64(l, k));
}

static bool is_times(const ir_value *v, ir_value **x, int64_t *c)
{
    for (int i = 0; i < 2 && v->def && v->def->code == OP_MUL; i++)
        if (ir_is_const(v->def->args[i]) && ir_int(v->def->args[i]) > 1) {
            *c = ir_int(v->def->args[i]);
            *x = v->def->args[1 - i];
            return true;
        }
    return false;
}

/* Of A[i, 1] in rows of two only every second component can be meant: i * 2 + 1 == 5 is i == 2, and i * 2 + 1 == 4 is
 * never. */
ir_value *is_component(lower *l, ir_value *index, int k)
{
    enum { MAX_OFFSET = 1 << 20 };
    ir_value *x = index;
    int64_t d = 0, c = 1;
    for (int i = 0; i < 2 && index->def && index->def->code == OP_ADD; i++)
        if (ir_is_const(index->def->args[i])) {
            x = index->def->args[1 - i];
            d = ir_int(index->def->args[i]);
            break;
        }
    if (d < -MAX_OFFSET || d > MAX_OFFSET || !is_times(x, &x, &c))
        return ir_op2(&l->b, OP_EQ, index, const_i64(l, k));
    return (k - d) % c ? NULL : ir_op2(&l->b, OP_EQ, x, const_i64(l, (k - d) / c));
}

ir_value *agg_get_at(lower *l, const agg *a, ir_value *k)
{
    if (!a->at)
        return ir_lload(&l->b, a->mem, k);
    /* a chain of selects: nothing is stored, and the derivative goes to the chosen component only */
    ir_value *v = NULL;
    for (int i = 0; i < a->n; i++) {
        ir_value *chosen = is_component(l, k, i);
        if (chosen)
            v = v ? ir_op3(&l->b, OP_SELECT, chosen, a->at[i], v) : a->at[i];
    }
    return v ? v : a->at[0];
}

agg agg_to_memory(lower *l, agg a)
{
    if (!a.at)
        return a;
    agg m = agg_memory(l, a.elem, a.n, NULL);
    copy_memory(l, m.mem, &a);
    return m;
}

/* v_x .. v_w for small vectors, v_4 for others, m_1_2 for matrices. */
const char **component_names(lower *l, const char *name, const ty *t)
{
    int n = ty_ncomp(t);
    const char **names = ARENA_ARRAY(l->mem, const char *, n);
    if (!name)
        return names;
    for (int k = 0; k < n; k++) {
        if (t->kind == TY_VEC && n <= 4)
            names[k] = arena_printf(l->mem, "%s_%c", name, "xyzw"[k]);
        else if (t->kind == TY_VEC)
            names[k] = arena_printf(l->mem, "%s_%d", name, k);
        else if (t->kind == TY_MAT)
            names[k] = arena_printf(l->mem, "%s_%d_%d", name, k / t->cols, k % t->cols);
        else
            names[k] = name;
    }
    return names;
}

lvar *var_create(lower *l, const char *name, const ty *t)
{
    lvar *v = ARENA_NEW(l->mem, lvar);
    v->name = name;
    v->elem = elem_of(t);
    v->n = ty_ncomp(t);
    if (!in_memory(t)) {
        v->names = component_names(l, name, t);
        v->val = ARENA_ARRAY(l->mem, ir_value *, v->n);
    }
    return v;
}

lvar *var_flag(lower *l, const char *name)
{
    lvar *v = ARENA_NEW(l->mem, lvar);
    v->name = name;
    v->elem = SC_BOOL;
    v->n = 1;
    v->names = ARENA_ARRAY(l->mem, const char *, 1);
    v->names[0] = name;
    v->val = ARENA_ARRAY(l->mem, ir_value *, 1);
    return v;
}

lvar *var_of(const tx_local *local)
{
    assert(local->lowered);
    return local->lowered;
}

void name_value(ir_value *v, const char *name)
{
    if (!v->name && !ir_is_const(v))
        v->name = name;
}

static void bind_memory(lower *l, lvar *v, bool mutable_, const agg *value)
{
    if (value && value->mem && value->n == v->n && (mutable_ ? value->fresh : value->stable)) {
        v->mem = value->mem;
        name_value(v->mem, v->name);
        return;
    }
    v->mem = ir_local(&l->b, v->elem, v->n, v->name);
    if (value)
        copy_memory(l, v->mem, value);
}

/* How many bits a value has at most; an extent that is a param is not wider than that. */
static int bits_of(const ir_value *v)
{
    if (ir_is_const(v)) {
        int n = 0;
        for (uint64_t i = (uint64_t)ir_int(v); i; i >>= 1)
            n++;
        return n;
    }
    const bool cast = v->def && v->def->code == OP_CAST;
    return 8 * scalar_bytes(cast ? v->def->args[0]->type : v->type) - 1;
}

/* n * e, or so much that no memory is there for it. */
static ir_value *times_extent(lower *l, ir_value *n, ir_value *e, int *bits)
{
    enum { MAX_BITS = 62, NO_MEMORY = 59 };
    ir_value *product = ir_op2(&l->b, OP_MUL, n, e);
    *bits += bits_of(e);
    if (*bits <= MAX_BITS)
        return product;
    *bits = MAX_BITS;
    ir_value *most = const_i64(l, INT64_C(1) << NO_MEMORY), *positive = ir_op2(&l->b, OP_MAX, e, const_i64(l, 1));
    return ir_op3(&l->b, OP_SELECT, ir_op2(&l->b, OP_GT, n, ir_op2(&l->b, OP_DIV, most, positive)), most, product);
}

static void bind_sized(lower *l, lvar *v, const tx_local *local)
{
    const ty *t = local->type;
    v->extents = lower_scalars(l, local->extents, t->ndim);
    int bits = bits_of(v->extents[0]);
    ir_value *count = v->extents[0];
    for (int d = 1; d < t->ndim; d++)
        count = times_extent(l, count, v->extents[d], &bits);
    if (ty_ncomp(t->of) != 1)
        count = times_extent(l, count, const_i64(l, ty_ncomp(t->of)), &bits);
    v->mem = ir_local_sized(&l->b, v->elem, count, v->name);
}

void var_bind(lower *l, tx_local *local, const agg *value)
{
    lvar *v = var_create(l, local->name, local->type);
    v->constant = !local->mutable_;
    local->lowered = v;
    if (local->extents) {
        bind_sized(l, v, local);
        return;
    }
    if (!v->val) {
        bind_memory(l, v, local->mutable_, value);
        return;
    }
    for (int k = 0; k < v->n; k++) {
        v->val[k] = value ? agg_get(l, value, k) : ir_zero(&l->b, v->elem);
        name_value(v->val[k], v->names[k]);
    }
}

static ir_value *identity(lower *l, scalar t, int kind)
{
    if (kind < 0 || kind == IR_RED_ADD)
        return ir_zero(&l->b, t);
    bool low = ir_reduce_is_max((ir_reduce)kind);
    if (scalar_is_float(t))
        return ir_const_f(&l->b, t, low ? -INFINITY : INFINITY);
    if (t == SC_BOOL)
        return ir_const_i(&l->b, t, !low);
    int bits = 8 * scalar_bytes(t);
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (!scalar_is_signed(t))
        return ir_const_i(&l->b, t, low ? 0 : (int64_t)all);
    int64_t max = (int64_t)(all >> 1);
    return ir_const_i(&l->b, t, low ? -max - 1 : max);
}

ir_value *var_get(lower *l, const lvar *v, int k)
{
    if (!v->val)
        return ir_lload(&l->b, v->mem, const_i64(l, k));
    if (v->val[k])
        return v->val[k];
    return identity(l, v->elem, v->kinds ? v->kinds[k] : -1);
}

agg var_agg(lower *l, const lvar *v)
{
    if (!v->val)
        return (agg){.elem = v->elem, .n = v->n, .mem = v->mem, .stable = v->constant};
    agg a = agg_scalars(l, v->elem, v->n);
    for (int k = 0; k < v->n; k++)
        a.at[k] = var_get(l, v, k);
    return a;
}

/* ---- slots ---- */

static void add_var(slots *s, lvar *v, bool live)
{
    for (int k = 0; v->val && k < v->n; k++) {
        if (v->kinds && v->kinds[k] < 0)
            continue;
        s->var[s->n] = v;
        s->comp[s->n] = k;
        s->live[s->n] = live;
        s->before[s->n] = v->val[k];
        s->n++;
    }
}

static void add_flag(slots *s, lvar *flag, bool live)
{
    assert(flag);
    add_var(s, flag, live);
}

/* With NULL for `out` counts only. */
static int visit_locals(lower *l, const scan *sc, slots *out)
{
    const func_scan *fs = l->frame->scan;
    int n = 0;
    for (int i = 0; i < fs->nlocals; i++) {
        if (i % 64 == 0 && !(sc->assigned[i / 64] | sc->reduced[i / 64])) {
            i += 63; /* most words are empty in long functions */
            continue;
        }
        bool assigned = bit_get(sc->assigned, i), reduced = bit_get(sc->reduced, i);
        if (!assigned && !reduced)
            continue;
        lvar *v = var_of(fs->locals[i]);
        if (reduced)
            v = v->acc;
        assert(v);
        if (out)
            add_var(out, v, true);
        n += v->n;
    }
    return n;
}

slots slots_collect(lower *l, const scan *sc, unsigned exits, unsigned need)
{
    frame *f = l->frame;
    int room = visit_locals(l, sc, NULL) + 3;
    for (int i = 0; i < f->nresults; i++)
        room += f->results[i]->n;
    slots s = {0, ARENA_ARRAY(l->mem, lvar *, room), ARENA_ARRAY(l->mem, int, room), ARENA_ARRAY(l->mem, bool, room),
               ARENA_ARRAY(l->mem, ir_value *, room)};
    visit_locals(l, sc, &s);
    if (exits & EXIT_RETURN) {
        for (int i = 0; i < f->nresults; i++)
            add_var(&s, f->results[i], true);
        add_flag(&s, f->returned, need & EXIT_RETURN);
    }
    if (exits & EXIT_BREAK)
        add_flag(&s, f->loop->stop, need & EXIT_BREAK);
    if (exits & EXIT_CONTINUE)
        add_flag(&s, f->loop->skip, need & EXIT_CONTINUE);
    return s;
}

void slots_restore(const slots *s)
{
    slots_set(s, s->before);
}

void slots_set(const slots *s, ir_value *const *values)
{
    for (int i = 0; i < s->n; i++)
        s->var[i]->val[s->comp[i]] = values[i];
}

ir_value *slot_get(lower *l, const slots *s, int i)
{
    return var_get(l, s->var[i], s->comp[i]);
}

ir_value **slot_values(lower *l, const slots *s)
{
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, s->n);
    for (int i = 0; i < s->n; i++)
        v[i] = slot_get(l, s, i);
    return v;
}

void slots_name(const slots *s, ir_value *const *values)
{
    for (int i = 0; i < s->n; i++)
        values[i]->name = s->var[i]->names[s->comp[i]];
}

/* ---- exits ---- */

void set_flag(lower *l, lvar *flag)
{
    flag->val[0] = ir_const_i(&l->b, SC_BOOL, 1);
}

ir_value *exit_flags(lower *l, unsigned exits)
{
    const lvar *flags[3];
    int n = 0;
    if (exits & EXIT_RETURN)
        flags[n++] = l->frame->returned;
    if (exits & EXIT_BREAK)
        flags[n++] = l->frame->loop->stop;
    if (exits & EXIT_CONTINUE)
        flags[n++] = l->frame->loop->skip;
    assert(n > 0);
    ir_value *any = var_get(l, flags[0], 0);
    for (int i = 1; i < n; i++)
        any = ir_op2(&l->b, OP_OR, any, var_get(l, flags[i], 0));
    return any;
}
