/* Expressions. */
#include <assert.h>

#include "ir/ops.h"
#include "lower/lower_impl.h"

ir_value *lower_scalar(lower *l, const tx_expr *e)
{
    agg a = lower_expr(l, e);
    assert(a.n == 1);
    return agg_get(l, &a, 0);
}

ir_value **lower_scalars(lower *l, tx_expr *const *e, int n)
{
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, n);
    for (int i = 0; i < n; i++)
        v[i] = lower_scalar(l, e[i]);
    return v;
}

static agg lower_const(lower *l, const tx_expr *e)
{
    scalar t = e->type->elem;
    return agg_one(l, scalar_is_float(t) ? ir_const_f(&l->b, t, e->cval.f) : ir_const_i(&l->b, t, e->cval.i));
}

/* ---- what is cheap enough, and harmless enough, to be computed even if it is not chosen ---- */

/* No loads, no calls, nothing that can trap, and nothing whose derivative is not finite for a zero seed. */
static bool is_harmless_op(const tx_expr *e)
{
    bool integer = !scalar_is_float(elem_of(e->type));
    switch (e->opcode) {
    case OP_ADD:
    case OP_SUB:
    case OP_NEG:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
        return true;
    case OP_MUL:
    case OP_MIN:
    case OP_MAX:
        return integer;
    default:
        return false;
    }
}

static bool is_plain(const tx_expr *e, int *budget)
{
    if (--*budget < 0 || in_memory(e->type))
        return false;
    switch (e->kind) {
    case TX_CONST:
    case TX_LOCAL:
    case TX_MPARAM:
    case TX_SHAPE:
        return true;
    case TX_OP:
        if (!is_harmless_op(e))
            return false;
        break;
    case TX_CAST:
    case TX_EXTRACT:
        return is_plain(e->a, budget);
    case TX_LAND:
    case TX_LOR:
    case TX_LET:
        return is_plain(e->a, budget) && is_plain(e->b, budget);
    case TX_COND:
        return is_plain(e->a, budget) && is_plain(e->b, budget) && is_plain(e->c, budget);
    case TX_BUILD:
        break;
    default:
        return false;
    }
    for (int i = 0; i < e->nargs; i++) {
        if (!is_plain(e->args[i], budget))
            return false;
    }
    return true;
}

static bool is_cheap(const lower *l, const tx_expr *e)
{
    int budget = 12;
    return !checks_finite(l) && is_plain(e, &budget);
}

/* ---- choices ---- */

/* The value of one side, yielded, or for large ones copied to `to`. */
static void lower_side(lower *l, ir_op *op, int region, const tx_expr *e, const agg *to)
{
    ir_builder outer = l->b;
    l->b.region = op->regions[region];
    l->b.before = NULL;
    agg v = lower_expr(l, e);
    if (to) {
        copy_memory(l, to->mem, &v);
        ir_yield(&l->b, 0, NULL);
    } else {
        ir_yield(&l->b, v.n, v.at);
    }
    l->b = outer;
}

static agg lower_cond(lower *l, const tx_expr *e)
{
    ir_value *cond = lower_scalar(l, e->a);
    scalar elem = elem_of(e->type);
    int n = ty_ncomp(e->type);
    if (in_memory(e->type)) {
        agg to = agg_memory(l, elem, n, NULL);
        ir_op *op = ir_if(&l->b, cond, 0, NULL);
        lower_side(l, op, 0, e->b, &to);
        lower_side(l, op, 1, e->c, &to);
        return to;
    }
    agg r = agg_scalars(l, elem, n);
    if (is_cheap(l, e->b) && is_cheap(l, e->c)) {
        agg b = lower_expr(l, e->b), c = lower_expr(l, e->c);
        l->b.loc = e->loc;
        for (int k = 0; k < n; k++)
            r.at[k] = ir_op3(&l->b, OP_SELECT, cond, agg_get(l, &b, k), agg_get(l, &c, k));
        return r;
    }
    scalar types[SPLIT_MAX];
    for (int k = 0; k < n; k++)
        types[k] = elem;
    ir_op *op = ir_if(&l->b, cond, n, types);
    lower_side(l, op, 0, e->b, NULL);
    lower_side(l, op, 1, e->c, NULL);
    for (int k = 0; k < n; k++)
        r.at[k] = op->res[k];
    return r;
}

static agg lower_logical(lower *l, const tx_expr *e)
{
    ir_value *a = lower_scalar(l, e->a);
    bool is_and = e->kind == TX_LAND;
    if (is_cheap(l, e->b)) {
        ir_value *b = lower_scalar(l, e->b);
        l->b.loc = e->loc;
        return agg_one(l, ir_op2(&l->b, is_and ? OP_AND : OP_OR, a, b));
    }
    ir_op *op = ir_if(&l->b, a, 1, &(scalar){SC_BOOL});
    lower_side(l, op, is_and ? 0 : 1, e->b, NULL);
    ir_builder outer = l->b;
    l->b.region = op->regions[is_and ? 1 : 0];
    l->b.before = NULL;
    ir_value *known = ir_const_i(&l->b, SC_BOOL, !is_and);
    ir_yield(&l->b, 1, &known);
    l->b = outer;
    return agg_one(l, op->res[0]);
}

/* ---- component-wise operations ---- */

/* --debug: an integer division by zero fails the launch. Extents of fields, which no function computes, are looked at
 * by libtkc. */
static void check_divisor(lower *l, ir_opcode code, ir_value *divisor)
{
    const bool divides = code == OP_DIV || code == OP_REM || code == OP_MOD;
    if (!l->m->debug || !l->frame || !divides || !scalar_is_int(divisor->type) ||
        (ir_is_const(divisor) && ir_int(divisor) != 0))
        return;
    ir_value *zero = ir_zero(&l->b, divisor->type), *holds = ir_op2(&l->b, OP_NE, divisor, zero);
    ir_op *op = ir_insert(&l->b, OP_ASSERT, 1, &holds, 0, NULL, 0);
    ir_text_attr(op)->text = "integer division by zero";
    ir_text_attr(op)->whose = IR_ASSERT_BUILT_IN;
}

/* The exponential e of 1 + e; NULL: b is another sum. */
static ir_value *exponential_of(const ir_value *b)
{
    const ir_op *sum = b->def;
    for (int i = 0; sum && sum->code == OP_ADD && i < 2; i++) {
        ir_value *e = sum->args[i], *one = sum->args[1 - i];
        if (e->def && e->def->code == OP_EXP && ir_is_const(one) && ir_float(one) == 1.0)
            return e;
    }
    return NULL;
}

/* r, whose derivative by the exponent u of e is -n e / (1 + e)^2: by the rules of / and exp it is 0 * inf where e is
 * infinite, as in 1 / (1 + exp(-x)) of f32 below -88. */
static ir_value *with_rate(lower *l, ir_value *r, ir_value *n, ir_value *e)
{
    ir_value *u = e->def->args[0], *rate = ir_op2(&l->b, OP_LOGISTIC_RATE, u, e);
    ir_value *by_u = ir_op1(&l->b, OP_NEG, ir_op2(&l->b, OP_MUL, n, rate));
    return ir_op3(&l->b, OP_SLOPE, ir_op1(&l->b, OP_STOP, r), u, by_u);
}

static ir_value *quotient(lower *l, ir_value *n, ir_value *b)
{
    ir_value *r = ir_op2(&l->b, OP_DIV, n, b), *e = scalar_is_float(b->type) ? exponential_of(b) : NULL;
    if (!e)
        return r;
    r = with_rate(l, r, n, e);
    if (ir_is_const(n))
        return r;
    ir_value *one = ir_const_f(&l->b, n->type, 1.0);
    return ir_op3(&l->b, OP_SLOPE, r, n, with_rate(l, ir_op2(&l->b, OP_DIV, one, b), one, e));
}

static ir_value *build_op(lower *l, ir_opcode code, int n, ir_value *const *v)
{
    if (n == 2)
        check_divisor(l, code, v[1]);
    if (code == OP_DIV)
        return quotient(l, v[0], v[1]);
    return n == 1   ? ir_op1(&l->b, code, v[0])
           : n == 2 ? ir_op2(&l->b, code, v[0], v[1])
                    : ir_op3(&l->b, code, v[0], v[1], v[2]);
}

static agg lower_op(lower *l, const tx_expr *e)
{
    agg args[3];
    ir_value *v[3];
    int n = ty_ncomp(e->type);
    assert(e->nargs >= 1 && e->nargs <= 3);
    for (int i = 0; i < e->nargs; i++) {
        args[i] = lower_expr(l, e->args[i]);
        assert(args[i].n == 1 || args[i].n == n);
    }
    l->b.loc = e->loc;
    if (!in_memory(e->type)) {
        agg r = agg_scalars(l, elem_of(e->type), n);
        for (int k = 0; k < n; k++) {
            for (int i = 0; i < e->nargs; i++)
                v[i] = agg_get(l, &args[i], k);
            r.at[k] = build_op(l, e->opcode, e->nargs, v);
        }
        return r;
    }
    agg r = agg_memory(l, elem_of(e->type), n, NULL);
    comp_loop c = comp_loop_open(l, n, "k", NULL);
    for (int i = 0; i < e->nargs; i++)
        v[i] = args[i].n == 1 ? agg_get(l, &args[i], 0) : agg_get_at(l, &args[i], c.k);
    ir_lstore(&l->b, r.mem, c.k, build_op(l, e->opcode, e->nargs, v));
    comp_loop_close(l, &c, NULL);
    return r;
}

static agg lower_cast(lower *l, const tx_expr *e)
{
    scalar to = elem_of(e->type);
    /* a loop index as a subscript is the loop's own index: its bounds are of the narrower type, so nothing was cut off
     */
    if (e->a->kind == TX_LOCAL && to == SC_I64 && var_of(e->a->local)->wide)
        return agg_one(l, var_of(e->a->local)->wide);
    agg a = lower_expr(l, e->a);
    l->b.loc = e->loc;
    if (a.at) {
        agg r = agg_scalars(l, to, a.n);
        for (int k = 0; k < a.n; k++)
            r.at[k] = ir_cast(&l->b, to, a.at[k]);
        return r;
    }
    agg r = agg_memory(l, to, a.n, NULL);
    comp_loop c = comp_loop_open(l, a.n, "k", NULL);
    ir_lstore(&l->b, r.mem, c.k, ir_cast(&l->b, to, ir_lload(&l->b, a.mem, c.k)));
    comp_loop_close(l, &c, NULL);
    return r;
}

/* A new local array holds zeros already. */
static bool is_positive_zero(const ir_value *v)
{
    return ir_is_const(v) && ir_int(v) == 0;
}

static agg lower_build(lower *l, const tx_expr *e)
{
    int n = ty_ncomp(e->type);
    bool memory = in_memory(e->type);
    assert(e->nargs == n);
    ir_value **v = lower_scalars(l, e->args, n);
    if (!memory) {
        agg r = agg_scalars(l, elem_of(e->type), n);
        r.at = v;
        return r;
    }
    agg r = agg_memory(l, elem_of(e->type), n, NULL);
    for (int k = 0; k < n; k++) {
        if (!is_positive_zero(v[k]))
            ir_lstore(&l->b, r.mem, const_i64(l, k), v[k]);
    }
    return r;
}

/* ---- parts ---- */

static bool is_place(const tx_expr *e)
{
    return e->kind == TX_LOAD || e->kind == TX_ELEMENT;
}

static place place_of(lower *l, const tx_expr *e)
{
    if (e->kind == TX_ELEMENT)
        return place_of_element(l, e->local, e->args);
    return (place){.elem = e->field->elem,
                   .n = ir_field_ncomp(e->field),
                   .field = e->field,
                   .plane = e->plane,
                   .idx = lower_scalars(l, e->args, e->nargs),
                   .stop = e->no_grad};
}

static agg lower_extract(lower *l, const tx_expr *e)
{
    int n = e->ncomps;
    place p = {0};
    agg a = {0};
    bool at_place = is_place(e->a);
    if (at_place)
        p = place_of(l, e->a);
    else
        a = lower_expr(l, e->a);
    l->b.loc = e->loc;
    agg r = in_memory(e->type) ? agg_memory(l, elem_of(e->type), n, NULL) : agg_scalars(l, elem_of(e->type), n);
    for (int i = 0; i < n; i++) {
        ir_value *v = at_place ? place_get(l, &p, const_i64(l, e->comps[i])) : agg_get(l, &a, e->comps[i]);
        if (r.at)
            r.at[i] = v;
        else
            ir_lstore(&l->b, r.mem, const_i64(l, i), v);
    }
    return r;
}

static agg lower_index(lower *l, const tx_expr *e)
{
    if (is_place(e->a)) {
        place p = place_of(l, e->a);
        ir_value *k = lower_scalar(l, e->args[0]);
        l->b.loc = e->loc;
        return agg_one(l, place_get(l, &p, k));
    }
    agg a = lower_expr(l, e->a);
    ir_value *k = lower_scalar(l, e->args[0]);
    l->b.loc = e->loc;
    return agg_one(l, agg_get_at(l, &a, k));
}

static agg lower_within(lower *l, const tx_expr *e)
{
    ir_value *v = lower_scalar(l, e->a);
    if (l->m->debug)
        check_bounds(l, v, const_i64(l, e->ncomps), e->text, e->loc);
    return agg_one(l, v);
}

static agg lower_place(lower *l, const tx_expr *e)
{
    place p = place_of(l, e);
    l->b.loc = e->loc;
    return place_load(l, &p);
}

static agg lower_call_value(lower *l, const tx_expr *e)
{
    assert(result_count(e->callee->result) == 1);
    agg r;
    lower_call(l, e, &r);
    return r;
}

/* An expression changes no local: what is bound may be shared. */
static void lower_let_locals(lower *l, const tx_expr *e)
{
    agg *v = ARENA_ARRAY(l->mem, agg, e->nlocals);
    if (e->a->type->kind == TY_STRUCT)
        lower_group(l, e->a, v);
    else
        v[0] = lower_expr(l, e->a);
    for (int k = 0; k < e->nlocals; k++) {
        v[k].stable = true;
        var_bind(l, e->locals[k], &v[k]);
    }
}

static agg lower_atomic(lower *l, const tx_expr *e)
{
    ir_value **idx = lower_scalars(l, e->args, e->nargs);
    ir_value *comp = const_i64(l, e->ncomps ? e->comps[0] : 0);
    if (e->a)
        comp = ir_op2(&l->b, OP_ADD, lower_scalar(l, e->a), comp);
    ir_value *v = lower_scalar(l, e->b);
    l->b.loc = e->loc;
    ir_value *old = ir_atomic(&l->b, e->opcode, e->field, idx, comp, v);
    ir_access_attr(old->def)->discarded = e->discarded;
    return agg_one(l, old);
}

static agg lower_let(lower *l, const tx_expr *e)
{
    lower_let_locals(l, e);
    return lower_expr(l, e->b);
}

/* ---- structs ---- */

/* The leaves of one side of a choice: yielded, or for large ones copied to memory that was made for them. */
static void lower_group_side(lower *l, ir_op *op, int region, const tx_expr *e, int n, agg *leaf, const agg *to)
{
    ir_builder outer = l->b;
    l->b.region = op->regions[region];
    l->b.before = NULL;
    lower_group(l, e, leaf);
    ir_value **v = ARENA_ARRAY(l->mem, ir_value *, op->nres);
    int at = 0;
    for (int k = 0; k < n; k++) {
        if (to[k].mem)
            copy_memory(l, to[k].mem, &leaf[k]);
        for (int i = 0; !to[k].mem && i < leaf[k].n; i++)
            v[at++] = leaf[k].at[i];
    }
    ir_yield(&l->b, at, v);
    l->b = outer;
}

static void lower_group_cond(lower *l, const tx_expr *e, agg *out)
{
    const ty *t = e->type;
    ir_value *cond = lower_scalar(l, e->a);
    scalar *types = ARENA_ARRAY(l->mem, scalar, ty_ncomp(t));
    int nres = 0;
    for (int k = 0; k < t->nleaves; k++) {
        const ty *leaf = t->leaves[k];
        out[k] = in_memory(leaf) ? agg_memory(l, leaf->elem, ty_ncomp(leaf), NULL)
                                 : agg_scalars(l, leaf->elem, ty_ncomp(leaf));
        for (int i = 0; out[k].at && i < out[k].n; i++)
            types[nres++] = leaf->elem;
    }
    ir_op *op = ir_if(&l->b, cond, nres, types);
    agg *leaf = ARENA_ARRAY(l->mem, agg, t->nleaves);
    lower_group_side(l, op, 0, e->b, t->nleaves, leaf, out);
    lower_group_side(l, op, 1, e->c, t->nleaves, leaf, out);
    nres = 0;
    for (int k = 0; k < t->nleaves; k++)
        for (int i = 0; out[k].at && i < out[k].n; i++)
            out[k].at[i] = op->res[nres++];
}

void lower_group(lower *l, const tx_expr *e, agg *out)
{
    src_loc outer = l->b.loc;
    l->b.loc = e->loc;
    switch (e->kind) {
    case TX_GROUP:
        for (int k = 0; k < e->nargs; k++)
            out[k] = lower_expr(l, e->args[k]);
        break;
    case TX_COND:
        lower_group_cond(l, e, out);
        break;
    case TX_LET:
        lower_let_locals(l, e);
        lower_group(l, e->b, out);
        break;
    default:
        assert(e->kind == TX_CALL);
        lower_call(l, e, out);
    }
    l->b.loc = outer;
}

void lower_bind(lower *l, tx_local *const *locals, int n, const tx_expr *value)
{
    agg *v = ARENA_ARRAY(l->mem, agg, n);
    if (value->type->kind == TY_STRUCT || n > 1)
        lower_group(l, value, v);
    else
        v[0] = lower_expr(l, value);
    for (int k = 0; k < n; k++)
        var_bind(l, locals[k], &v[k]);
}

/* Not of a whole local array, whose elements are checked one by one, of what a task reduces into, which begins with the
 * greatest or least number there is, nor of a call, whose results are checked. */
static bool has_checks(const tx_expr *e)
{
    if (e->kind == TX_LOCAL)
        return !in_memory(e->type) && !var_of(e->local)->acc;
    return e->kind != TX_CALL && e->kind != TX_LET;
}

agg lower_expr(lower *l, const tx_expr *e)
{
    src_loc outer = l->b.loc;
    agg r = {0};
    l->b.loc = e->loc;
    switch (e->kind) {
    case TX_CONST:
        r = lower_const(l, e);
        break;
    case TX_LOCAL:
        r = var_agg(l, var_of(e->local)->acc ? var_of(e->local)->acc : var_of(e->local));
        break;
    case TX_MPARAM:
        r = agg_one(l, ir_mparam_value(&l->b, e->mparam));
        break;
    case TX_SHAPE:
        r = agg_one(l, ir_shape(&l->b, e->field, e->dim));
        break;
    case TX_LOAD:
    case TX_ELEMENT:
        r = lower_place(l, e);
        break;
    case TX_OP:
        r = lower_op(l, e);
        break;
    case TX_CAST:
        r = lower_cast(l, e);
        break;
    case TX_BUILD:
        r = lower_build(l, e);
        break;
    case TX_EXTRACT:
        r = lower_extract(l, e);
        break;
    case TX_INDEX:
        r = lower_index(l, e);
        break;
    case TX_WITHIN:
        r = lower_within(l, e);
        break;
    case TX_MATMUL:
        r = lower_matmul(l, e);
        break;
    case TX_COND:
        r = lower_cond(l, e);
        break;
    case TX_LAND:
    case TX_LOR:
        r = lower_logical(l, e);
        break;
    case TX_CALL:
        r = lower_call_value(l, e);
        break;
    case TX_ATOMIC:
        r = lower_atomic(l, e);
        break;
    case TX_RANDOM:
        r = lower_random(l, e);
        break;
    case TX_GROUP:
        assert(!"a struct where one value is expected");
        break;
    case TX_LET:
        r = lower_let(l, e);
        break;
    }
    if (has_checks(e))
        check_finite(l, &r, e->loc);
    l->b.loc = outer;
    return r;
}
