#include "lower_gen.h"

#include "lower/lower.h"

const int32_t gen_inputs[NINPUTS][NARGS] = {
    {0, 0, 0}, {1, -2, 3}, {5, 4, -7}, {-3, 2, 1}, {1000000007, 12345, -99}, {7, 7, 7}};

typedef struct gen {
    arena *mem;
    ty_pool *types;
    unsigned rng;
    tx_func *f;
    VEC(tx_local *) ints; /* in scope */
    tx_local *vec, *array; /* an ivec3 and an i32[2, 3] */
    tx_local *big, *snap;  /* vectors of 20: a mutable one, and one that was bound to its value */
    tx_local *sum, *high;  /* kernel-level: reduced in tasks */
    tx_func *callee, *expanded;
    int budget;            /* statements still to be made */
    bool in_task;
} gen;

static unsigned below(gen *g, unsigned n)
{
    g->rng = g->rng * 1664525u + 1013904223u;
    return (g->rng >> 8) % n;
}

/* ---- expressions ---- */

static tx_expr *expr(gen *g, tx_expr_kind kind, const ty *type)
{
    tx_expr *e = ARENA_NEW(g->mem, tx_expr);
    e->kind = kind;
    e->type = type;
    return e;
}

static const ty *i32(gen *g)
{
    return ty_scalar(g->types, SC_I32);
}

static tx_expr *constant(gen *g, scalar t, int64_t v)
{
    tx_expr *e = expr(g, TX_CONST, ty_scalar(g->types, t));
    e->cval.i = v;
    return e;
}

static tx_expr *local_value(gen *g, tx_local *l)
{
    tx_expr *e = expr(g, TX_LOCAL, l->type);
    e->local = l;
    return e;
}

static tx_expr *op(gen *g, ir_opcode code, scalar result, tx_expr *a, tx_expr *b)
{
    tx_expr *e = expr(g, TX_OP, ty_scalar(g->types, result));
    e->opcode = code;
    e->nargs = b ? 2 : 1;
    e->args = ARENA_ARRAY(g->mem, tx_expr *, 2);
    e->args[0] = a;
    e->args[1] = b;
    return e;
}

static tx_expr *gen_int(gen *g, int depth);

/* An i64 in 0 .. n-1. */
static tx_expr *subscript(gen *g, int n)
{
    if (below(g, 2))
        return constant(g, SC_I64, below(g, (unsigned)n));
    tx_expr *low = op(g, OP_MIN, SC_I32, op(g, OP_MAX, SC_I32, gen_int(g, 1), constant(g, SC_I32, 0)), constant(g, SC_I32, n - 1));
    tx_expr *e = expr(g, TX_CAST, ty_scalar(g->types, SC_I64));
    e->a = low;
    return e;
}

static tx_expr **subscripts(gen *g)
{
    tx_expr **s = ARENA_ARRAY(g->mem, tx_expr *, 2);
    s[0] = subscript(g, 2);
    s[1] = subscript(g, 3);
    return s;
}

static tx_expr *gen_bool(gen *g, int depth)
{
    static const ir_opcode compare[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE};
    switch (depth > 0 ? below(g, 6) : 5) {
    case 0:
    case 1: {
        tx_expr *e = expr(g, below(g, 2) ? TX_LAND : TX_LOR, ty_scalar(g->types, SC_BOOL));
        e->a = gen_bool(g, depth - 1);
        e->b = gen_bool(g, depth - 1);
        return e;
    }
    case 2:
        return op(g, OP_NOT, SC_BOOL, gen_bool(g, depth - 1), NULL);
    default:
        return op(g, compare[below(g, 6)], SC_BOOL, gen_int(g, depth - 1), gen_int(g, depth - 1));
    }
}

static tx_expr *index_of(gen *g, tx_local *l, tx_expr *at)
{
    tx_expr *e = expr(g, TX_INDEX, i32(g));
    e->a = local_value(g, l);
    e->nargs = 1;
    e->args = ARENA_ARRAY(g->mem, tx_expr *, 1);
    e->args[0] = at;
    return e;
}

/* Twenty components: such a parameter makes lowering expand the callee. */
static tx_expr *large(gen *g)
{
    tx_expr *e = expr(g, TX_BUILD, ty_vec(g->types, 20, SC_I32));
    e->nargs = 20;
    e->args = ARENA_ARRAY(g->mem, tx_expr *, 20);
    for (int i = 0; i < 20; i++)
        e->args[i] = gen_int(g, 0);
    if (below(g, 3) == 0)
        return e;
    tx_expr *own = local_value(g, below(g, 2) ? g->big : g->snap);
    if (below(g, 3) == 0)
        return own;
    tx_expr *mix;
    if (below(g, 2)) {
        mix = op(g, OP_ADD, SC_I32, below(g, 2) ? e : gen_int(g, 1), own);
    } else {
        mix = expr(g, TX_COND, e->type);
        mix->a = gen_bool(g, 1);
        mix->b = own;
        mix->c = below(g, 2) ? e : local_value(g, g->big);
    }
    mix->type = e->type;
    return mix;
}

static tx_expr *gen_call(gen *g)
{
    tx_func *f = below(g, 2) ? g->callee : g->expanded;
    if (!f)
        return constant(g, SC_I32, 7);
    tx_expr *e = expr(g, TX_CALL, i32(g));
    e->callee = f;
    e->nargs = f->nparams;
    e->args = ARENA_ARRAY(g->mem, tx_expr *, f->nparams);
    for (int i = 0; i < f->nparams; i++)
        e->args[i] = f->params[i]->type->kind == TY_VEC ? large(g) : gen_int(g, 1);
    return e;
}

static tx_expr *build(gen *g, const ty *t)
{
    tx_expr *e = expr(g, TX_BUILD, t);
    e->nargs = ty_ncomp(t);
    e->args = ARENA_ARRAY(g->mem, tx_expr *, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        e->args[i] = below(g, 4) ? constant(g, SC_I32, i % 7 - 3) : gen_int(g, 0);
    return e;
}

/* A matrix product of any of the three forms, of matrices that are written out, looped over, or mixed. */
static tx_expr *product(gen *g)
{
    int rows = 1 + (int)below(g, 6), inner = 1 + (int)below(g, 6), cols = 1 + (int)below(g, 6);
    unsigned form = below(g, 3);
    const ty *left = form == 0 ? ty_vec(g->types, inner, SC_I32) : ty_mat(g->types, rows, inner, SC_I32);
    const ty *right = form == 1 ? ty_vec(g->types, inner, SC_I32) : ty_mat(g->types, inner, cols, SC_I32);
    const ty *t = form == 0 ? ty_vec(g->types, cols, SC_I32) : form == 1 ? ty_vec(g->types, rows, SC_I32) : ty_mat(g->types, rows, cols, SC_I32);
    tx_expr *e = expr(g, TX_MATMUL, t);
    e->a = build(g, left);
    e->b = build(g, right);
    return e;
}

/* A component of a matrix product, cast back and forth, of a part of it. */
static tx_expr *product_part(gen *g)
{
    tx_expr *e = product(g);
    int n = ty_ncomp(e->type);
    tx_expr *wide = expr(g, TX_CAST, ty_with_elem(g->types, e->type, SC_I64)), *narrow = expr(g, TX_CAST, e->type);
    wide->a = e;
    narrow->a = wide;
    tx_expr *some = expr(g, TX_EXTRACT, ty_vec(g->types, n > 1 ? n - 1 : 1, SC_I32));
    some->a = narrow;
    some->ncomps = ty_ncomp(some->type);
    some->comps = ARENA_ARRAY(g->mem, int, some->ncomps);
    for (int i = 0; i < some->ncomps; i++)
        some->comps[i] = n - 1 - i;
    tx_expr *r = expr(g, TX_INDEX, i32(g));
    r->a = below(g, 2) ? some : e;
    r->nargs = 1;
    r->args = ARENA_ARRAY(g->mem, tx_expr *, 1);
    r->args[0] = subscript(g, ty_ncomp(r->a->type));
    return r;
}

static tx_expr *part(gen *g)
{
    tx_expr *e;
    switch (below(g, 5)) {
    case 4:
        return product_part(g);
    case 3:
        return index_of(g, below(g, 2) ? g->big : g->snap, subscript(g, 20));
    case 0:
        e = expr(g, TX_EXTRACT, i32(g));
        e->a = local_value(g, g->vec);
        e->ncomps = 1;
        e->comps = ARENA_ARRAY(g->mem, int, 1);
        e->comps[0] = (int)below(g, 3);
        return e;
    case 1:
        return index_of(g, g->vec, subscript(g, 3));
    default:
        e = expr(g, TX_ELEMENT, i32(g));
        e->local = g->array;
        e->nargs = 2;
        e->args = subscripts(g);
        return e;
    }
}

static tx_expr *gen_int(gen *g, int depth)
{
    static const ir_opcode arithmetic[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX};
    switch (depth > 0 ? below(g, 10) : below(g, 4)) {
    case 0:
        return constant(g, SC_I32, (int)below(g, 9) - 3);
    case 1:
    case 2:
    case 3:
        return local_value(g, g->ints.at[below(g, (unsigned)g->ints.len)]);
    case 4: {
        tx_expr *e = expr(g, TX_COND, i32(g));
        e->a = gen_bool(g, depth - 1);
        e->b = gen_int(g, depth - 1);
        e->c = gen_int(g, depth - 1);
        return e;
    }
    case 5:
    case 6:
        return part(g);
    case 7:
        return gen_call(g);
    default:
        return op(g, arithmetic[below(g, 5)], SC_I32, gen_int(g, depth - 1), gen_int(g, depth - 1));
    }
}

/* ---- statements ---- */

static tx_stmt *stmt(gen *g, tx_stmt_kind kind)
{
    tx_stmt *s = ARENA_NEW(g->mem, tx_stmt);
    s->kind = kind;
    return s;
}

static tx_local *new_local(gen *g, const char *name, const ty *t, bool mutable_)
{
    tx_local *l = ARENA_NEW(g->mem, tx_local);
    l->name = name;
    l->type = t;
    l->index = g->f->nlocals++;
    l->mutable_ = mutable_;
    return l;
}

static tx_stmt *declare(gen *g, tx_local *l, tx_expr *value)
{
    tx_stmt *s = stmt(g, TX_DECL);
    s->nlocals = 1;
    s->locals = ARENA_ARRAY(g->mem, tx_local *, 1);
    s->locals[0] = l;
    s->value = value;
    return s;
}

static tx_stmt *assign(gen *g, tx_local *l, tx_expr *value)
{
    tx_stmt *s = stmt(g, TX_ASSIGN);
    s->local = l;
    s->value = value;
    return s;
}

/* A mutable local in scope that is declared outside of any task, or inside when we are in one; NULL if there is none. */
static tx_local *some_mutable(gen *g)
{
    for (int tries = 0; tries < 8; tries++) {
        tx_local *l = g->ints.at[below(g, (unsigned)g->ints.len)];
        if (l->mutable_)
            return l;
    }
    return NULL;
}

static tx_stmt *gen_assign(gen *g)
{
    tx_local *l = some_mutable(g);
    unsigned kind = g->in_task ? 0 : below(g, 7);
    if (kind == 1) {
        tx_stmt *s = assign(g, g->vec, gen_int(g, 2));
        s->ncomps = 1;
        s->comps = ARENA_ARRAY(g->mem, int, 1);
        s->comps[0] = (int)below(g, 3);
        return s;
    }
    if (kind == 2) {
        tx_stmt *s = assign(g, g->vec, gen_int(g, 2));
        s->dyn = subscript(g, 3);
        return s;
    }
    if (kind == 3) {
        tx_stmt *s = assign(g, g->array, gen_int(g, 2));
        s->nsubs = 2;
        s->subs = subscripts(g);
        return s;
    }
    if (kind == 4) {
        bool whole = below(g, 2);
        tx_stmt *s = assign(g, g->big, whole ? large(g) : gen_int(g, 2));
        if (!whole)
            s->dyn = subscript(g, 20);
        return s;
    }
    return l ? assign(g, l, gen_int(g, 3)) : NULL;
}

typedef struct where {
    int depth;
    bool loop, can_break, can_return;
} where;

static tx_stmt *gen_list(gen *g, where w);

static tx_stmt *gen_if(gen *g, where w)
{
    tx_stmt *s = stmt(g, TX_IF);
    s->cond = gen_bool(g, 2);
    s->body = gen_list(g, w);
    if (below(g, 2))
        s->else_body = gen_list(g, w);
    return s;
}

static void add_index(gen *g, tx_stmt *s, const char *name)
{
    s->indices[s->ndim] = new_local(g, name, i32(g), false);
    s->lo[s->ndim] = constant(g, SC_I64, below(g, 2));
    s->hi[s->ndim] = below(g, 2) ? subscript(g, 5) : constant(g, SC_I64, below(g, 5));
    s->ndim++;
}

static tx_stmt *gen_for(gen *g, where w, bool parallel)
{
    tx_stmt *s = stmt(g, TX_FOR);
    s->indices = ARENA_ARRAY(g->mem, tx_local *, 2);
    s->lo = ARENA_ARRAY(g->mem, tx_expr *, 2);
    s->hi = ARENA_ARRAY(g->mem, tx_expr *, 2);
    s->parallel = parallel;
    add_index(g, s, "i");
    if (below(g, 3) == 0)
        add_index(g, s, "j");
    size_t scope = g->ints.len;
    for (int d = 0; d < s->ndim; d++)
        vec_push(&g->ints, s->indices[d]);
    w.loop = true;
    w.can_break = !parallel;
    if (parallel) {
        w.can_return = false;
        /* inside a task only what it declares itself may be assigned */
        for (size_t i = 0; i < scope; i++)
            g->ints.at[i]->mutable_ = false;
        g->in_task = true;
    }
    s->body = gen_list(g, w);
    g->ints.len = scope;
    if (parallel)
        g->in_task = false;
    return s;
}

/* Counts down a variable of its own, so that it ends. */
static tx_stmt *gen_while(gen *g, where w)
{
    tx_local *fuel = new_local(g, "fuel", i32(g), true);
    tx_stmt *block = stmt(g, TX_BLOCK), *s = stmt(g, TX_WHILE);
    block->body = declare(g, fuel, constant(g, SC_I32, below(g, 6)));
    block->body->next = s;
    s->cond = expr(g, TX_LAND, ty_scalar(g->types, SC_BOOL));
    s->cond->a = op(g, OP_GT, SC_BOOL, local_value(g, fuel), constant(g, SC_I32, 0));
    s->cond->b = gen_bool(g, 1);
    if (below(g, 3) == 0)
        s->limit = constant(g, SC_I64, below(g, 4));
    tx_stmt *down = assign(g, fuel, op(g, OP_SUB, SC_I32, local_value(g, fuel), constant(g, SC_I32, 1)));
    w.loop = w.can_break = true;
    down->next = gen_list(g, w);
    s->body = down;
    return block;
}

static tx_stmt *gen_exit(gen *g, where w)
{
    unsigned kind = below(g, 3);
    if (kind == 0 && w.loop && w.can_break)
        return stmt(g, TX_BREAK);
    if (kind == 1 && w.loop)
        return stmt(g, TX_CONTINUE);
    if (!w.can_return)
        return NULL;
    tx_stmt *s = stmt(g, TX_RETURN);
    s->nvalues = 1;
    s->values = ARENA_ARRAY(g->mem, tx_expr *, 1);
    s->values[0] = gen_int(g, 2);
    return s;
}

static tx_stmt *gen_reduce(gen *g)
{
    tx_stmt *s = stmt(g, TX_REDUCE);
    bool add = below(g, 2);
    s->local = add ? g->sum : g->high;
    s->red = add ? IR_RED_ADD : IR_RED_MAX;
    s->value = gen_int(g, 2);
    if (add && below(g, 2)) {
        s->ncomps = 1;
        s->comps = ARENA_ARRAY(g->mem, int, 1);
        s->comps[0] = (int)below(g, 2);
    }
    return s;
}

static tx_stmt *gen_stmt(gen *g, where w)
{
    g->budget--;
    switch (w.depth > 0 && g->budget > 0 ? below(g, 12) : 5 + below(g, 7)) {
    case 0:
    case 1:
        w.depth--;
        return gen_if(g, w);
    case 2:
        w.depth--;
        return gen_for(g, w, false);
    case 3:
        w.depth--;
        return gen_while(g, w);
    case 4: {
        tx_stmt *s = stmt(g, TX_BLOCK);
        w.depth--;
        s->body = gen_list(g, w);
        return s;
    }
    case 5:
        return gen_exit(g, w);
    case 6: {
        tx_local *l = new_local(g, "v", i32(g), true);
        tx_stmt *s = declare(g, l, below(g, 5) ? gen_int(g, 2) : NULL);
        vec_push(&g->ints, l);
        return s;
    }
    case 7:
        if (g->in_task)
            return gen_reduce(g);
        return gen_assign(g);
    default:
        return gen_assign(g);
    }
}

static tx_stmt *gen_list(gen *g, where w)
{
    tx_stmt *first = NULL, **at = &first;
    size_t scope = g->ints.len;
    for (int n = (int)below(g, 5); n >= 0; n--) {
        tx_stmt *s = gen_stmt(g, w);
        if (!s)
            continue;
        *at = s;
        at = &s->next;
    }
    g->ints.len = scope;
    return first;
}

/* ---- functions ---- */

static void param(gen *g, const char *name, const ty *t)
{
    g->f->params[g->f->nparams++] = new_local(g, name, t, false);
}

/* A parallel loop in a block of its own; the locals around are written again behind it. */
static tx_stmt *gen_task(gen *g)
{
    bool *mutable_ = ARENA_ARRAY(g->mem, bool, g->ints.len);
    size_t n = g->ints.len;
    for (size_t i = 0; i < n; i++)
        mutable_[i] = g->ints.at[i]->mutable_;
    tx_stmt *s = gen_for(g, (where){.depth = 3}, true);
    for (size_t i = 0; i < n; i++)
        g->ints.at[i]->mutable_ = mutable_[i];
    return s;
}

/* Everything that the function holds at its end goes into the result. */
static tx_expr *digest(gen *g)
{
    tx_expr *h = constant(g, SC_I32, 17);
    for (size_t i = 0; i < g->ints.len; i++)
        h = op(g, OP_ADD, SC_I32, op(g, OP_MUL, SC_I32, h, constant(g, SC_I32, 31)), local_value(g, g->ints.at[i]));
    for (int k = 0; k < 3; k++) {
        tx_expr *e = expr(g, TX_EXTRACT, i32(g));
        e->a = local_value(g, g->vec);
        e->ncomps = 1;
        e->comps = ARENA_ARRAY(g->mem, int, 1);
        e->comps[0] = k;
        h = op(g, OP_XOR, SC_I32, op(g, OP_MUL, SC_I32, h, constant(g, SC_I32, 5)), e);
    }
    for (int k = 0; k < 40; k++) {
        tx_expr *e = index_of(g, k % 2 ? g->big : g->snap, constant(g, SC_I64, k / 2));
        h = op(g, OP_ADD, SC_I32, op(g, OP_MUL, SC_I32, h, constant(g, SC_I32, 7)), e);
    }
    for (int k = 0; k < 2; k++) {
        tx_expr *e = expr(g, TX_EXTRACT, i32(g));
        e->a = local_value(g, g->sum);
        e->ncomps = 1;
        e->comps = ARENA_ARRAY(g->mem, int, 1);
        e->comps[0] = k;
        h = op(g, OP_SUB, SC_I32, h, e);
    }
    return op(g, OP_ADD, SC_I32, op(g, OP_MUL, SC_I32, h, constant(g, SC_I32, 3)), local_value(g, g->high));
}

static tx_func *gen_func(gen *g, const char *name, bool kernel, bool expanded)
{
    tx_func *f = g->f = ARENA_NEW(g->mem, tx_func);
    f->name = name;
    f->is_kernel = kernel;
    f->declared = f->result = i32(g);
    f->params = ARENA_ARRAY(g->mem, tx_local *, NARGS + 1);
    if (expanded)
        param(g, "big", ty_vec(g->types, 20, SC_I32));
    param(g, "a", i32(g));
    param(g, "b", i32(g));
    param(g, "c", i32(g));
    vec_clear(&g->ints);
    for (int i = expanded; i < f->nparams; i++)
        vec_push(&g->ints, f->params[i]);
    g->vec = new_local(g, "vec", ty_vec(g->types, 3, SC_I32), true);
    g->array = new_local(g, "array", ty_array(g->types, i32(g), 2, (long[]){2, 3}), true);
    g->sum = new_local(g, "sum", ty_vec(g->types, 2, SC_I32), true);
    g->high = new_local(g, "high", i32(g), true);
    g->big = new_local(g, "big", ty_vec(g->types, 20, SC_I32), true);
    tx_local *own[] = {g->vec, g->array, g->sum, g->high, g->big};
    tx_stmt **at = &f->body;
    for (int i = 0; i < 5; i++) {
        *at = declare(g, own[i], NULL);
        at = &(*at)->next;
    }
    *at = assign(g, g->big, gen_int(g, 0));
    (*at)->dyn = constant(g, SC_I64, below(g, 20));
    at = &(*at)->next;
    g->snap = new_local(g, "snap", g->big->type, below(g, 2));
    *at = declare(g, g->snap, local_value(g, g->big));
    at = &(*at)->next;
    if (expanded) {
        tx_local *first = new_local(g, "first", i32(g), true);
        *at = declare(g, first, index_of(g, f->params[0], subscript(g, 20)));
        at = &(*at)->next;
        vec_push(&g->ints, first);
    }
    g->budget = 40;
    for (int i = 0; i < 7; i++) {
        tx_stmt *s = kernel && below(g, 3) == 0 ? gen_task(g) : gen_stmt(g, (where){.depth = 4, .can_return = true});
        if (!s)
            continue;
        *at = s;
        at = &s->next;
    }
    tx_stmt *end = stmt(g, TX_RETURN);
    end->nvalues = 1;
    end->values = ARENA_ARRAY(g->mem, tx_expr *, 1);
    end->values[0] = digest(g);
    *at = end;
    return f;
}

lowered gen_lowered(unsigned seed)
{
    lowered l = {.mem = arena_create(), .names = intern_create(), .diag = diag_create(stderr, DIAG_FORMAT_TEXT)};
    l.ir = ir_module_create(l.mem, l.names, l.diag, "m");
    gen g = {.mem = l.mem, .types = ty_pool_create(l.mem, SC_F32), .rng = seed * 2654435761u + 1};
    tx_func *callee = gen_func(&g, "callee", false, false);
    tx_func *expanded = gen_func(&g, "expanded", false, true);
    g.callee = callee;
    g.expanded = expanded;
    tx_func *top = gen_func(&g, "top", below(&g, 2), false);
    callee->next = expanded;
    expanded->next = top;
    tx_module *m = ARENA_NEW(l.mem, tx_module);
    m->ir = l.ir;
    m->funcs = callee;
    m->types = g.types;
    vec_free(&g.ints);
    lower_module(m);
    l.tree = top;
    l.f = top->lowered;
    return l;
}

void gen_destroy(lowered *l)
{
    ir_module_destroy(l->ir);
    diag_destroy(l->diag);
    intern_destroy(l->names);
    arena_destroy(l->mem);
}
