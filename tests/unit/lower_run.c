/* Two interpreters: of typed trees and of IR. They share the arithmetic only. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lower_gen.h"

static int64_t wrap(scalar t, uint64_t v)
{
    return t == SC_BOOL ? (int64_t)(v & 1) : t == SC_I32 ? (int32_t)(uint32_t)v : (int64_t)v;
}

static int64_t compute(ir_opcode code, scalar t, const int64_t *v)
{
    uint64_t a = (uint64_t)v[0], b = (uint64_t)v[1];
    switch (code) {
    case OP_ADD: return wrap(t, a + b);
    case OP_SUB: return wrap(t, a - b);
    case OP_MUL: return wrap(t, a * b);
    case OP_NEG: return wrap(t, 0 - a);
    case OP_XOR: return wrap(t, a ^ b);
    case OP_AND: return wrap(t, a & b);
    case OP_OR:  return wrap(t, a | b);
    case OP_NOT: return wrap(t, ~a);
    case OP_MIN: return v[0] < v[1] ? v[0] : v[1];
    case OP_MAX: return v[0] > v[1] ? v[0] : v[1];
    case OP_EQ:  return v[0] == v[1];
    case OP_NE:  return v[0] != v[1];
    case OP_LT:  return v[0] < v[1];
    case OP_LE:  return v[0] <= v[1];
    case OP_GT:  return v[0] > v[1];
    case OP_GE:  return v[0] >= v[1];
    case OP_SELECT: return v[0] ? v[1] : v[2];
    case OP_CAST: return wrap(t, a);
    default: abort();
    }
}

/* ---- typed trees ---- */

enum { COMPONENTS = 40 };

typedef struct value {
    int64_t c[COMPONENTS];
} value;

typedef struct env {
    value *locals; /* by index */
    value result;
} env;

typedef enum state { RUNNING, BROKEN, CONTINUED, RETURNED } state;

static value eval(env *v, const tx_expr *e);
static value tree_call(const tx_func *f, const value *args);

static int64_t eval1(env *v, const tx_expr *e)
{
    return eval(v, e).c[0];
}

static value eval_call(env *v, const tx_expr *e)
{
    value args[NARGS + 1];
    assert(e->nargs <= NARGS + 1);
    for (int i = 0; i < e->nargs; i++)
        args[i] = eval(v, e->args[i]);
    return tree_call(e->callee, args);
}

static int64_t flat(env *v, const tx_local *array, tx_expr *const *subs)
{
    int64_t at = eval1(v, subs[0]);
    for (int d = 1; d < array->type->ndim; d++)
        at = at * array->type->extents[d] + eval1(v, subs[d]);
    return at;
}

static value eval_product(const tx_expr *e, value a, value b)
{
    value r = {{0}};
    int rows = e->a->type->kind == TY_VEC ? 1 : e->a->type->rows, inner = e->b->type->rows;
    int cols = e->b->type->kind == TY_VEC ? 1 : e->b->type->cols;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            for (int k = 0; k < inner; k++)
                r.c[i * cols + j] = wrap(SC_I32, (uint64_t)(r.c[i * cols + j] + a.c[i * inner + k] * b.c[k * cols + j]));
        }
    }
    return r;
}

/* Scalars broadcast. */
static int64_t component(const tx_expr *e, const value *args, int i, int k)
{
    return i < e->nargs ? args[i].c[e->args[i]->type->kind == TY_SCALAR ? 0 : k] : 0;
}

static value eval(env *v, const tx_expr *e)
{
    value r = {{0}}, args[3];
    switch (e->kind) {
    case TX_CONST:
        r.c[0] = e->cval.i;
        return r;
    case TX_LOCAL:
        return v->locals[e->local->index];
    case TX_OP:
        for (int i = 0; i < e->nargs; i++)
            args[i] = eval(v, e->args[i]);
        for (int k = 0; k < ty_ncomp(e->type); k++)
            r.c[k] = compute(e->opcode, e->type->elem, (int64_t[]){component(e, args, 0, k), component(e, args, 1, k), 0});
        return r;
    case TX_CAST:
        r = eval(v, e->a);
        for (int k = 0; k < ty_ncomp(e->type); k++)
            r.c[k] = wrap(e->type->elem, (uint64_t)r.c[k]);
        return r;
    case TX_MATMUL:
        return eval_product(e, eval(v, e->a), eval(v, e->b));
    case TX_BUILD:
        for (int i = 0; i < e->nargs; i++)
            r.c[i] = eval1(v, e->args[i]);
        return r;
    case TX_EXTRACT:
        args[0] = eval(v, e->a);
        for (int k = 0; k < e->ncomps; k++)
            r.c[k] = args[0].c[e->comps[k]];
        return r;
    case TX_INDEX:
        r.c[0] = eval(v, e->a).c[eval1(v, e->args[0])];
        return r;
    case TX_ELEMENT:
        r.c[0] = v->locals[e->local->index].c[flat(v, e->local, e->args)];
        return r;
    case TX_COND:
        return eval1(v, e->a) ? eval(v, e->b) : eval(v, e->c);
    case TX_LAND:
        r.c[0] = eval1(v, e->a) && eval1(v, e->b);
        return r;
    case TX_LOR:
        r.c[0] = eval1(v, e->a) || eval1(v, e->b);
        return r;
    case TX_CALL:
        return eval_call(v, e);
    default:
        abort();
    }
}

static state exec(env *v, const tx_stmt *list);

static state exec_for(env *v, const tx_stmt *s, int d, const int64_t *lo, const int64_t *hi)
{
    if (d == s->ndim)
        return exec(v, s->body);
    for (int64_t i = lo[d]; i < hi[d]; i++) {
        v->locals[s->indices[d]->index].c[0] = i;
        state st = exec_for(v, s, d + 1, lo, hi);
        if (st == BROKEN || st == RETURNED)
            return st;
    }
    return RUNNING;
}

static state exec_loop(env *v, const tx_stmt *s)
{
    if (s->kind == TX_FOR) {
        enum { DIMS = 8 };
        int64_t lo[DIMS], hi[DIMS];
        if (s->ndim > DIMS)
            abort();
        for (int d = 0; d < s->ndim; d++) {
            lo[d] = eval1(v, s->lo[d]);
            hi[d] = eval1(v, s->hi[d]);
        }
        return exec_for(v, s, 0, lo, hi) == RETURNED ? RETURNED : RUNNING;
    }
    int64_t limit = s->limit ? eval1(v, s->limit) : INT64_MAX;
    while (limit-- > 0 && eval1(v, s->cond)) {
        state st = exec(v, s->body);
        if (st == RETURNED)
            return st;
        if (st == BROKEN)
            break;
    }
    return RUNNING;
}

static void exec_assign(env *v, const tx_stmt *s)
{
    value val = eval(v, s->value), *to = &v->locals[s->local->index];
    if (s->comps)
        to->c[s->comps[0]] = val.c[0];
    else if (s->dyn)
        to->c[eval1(v, s->dyn)] = val.c[0];
    else if (s->nsubs)
        to->c[flat(v, s->local, s->subs)] = val.c[0];
    else
        *to = val;
}

static void exec_reduce(env *v, const tx_stmt *s)
{
    int64_t val = eval1(v, s->value);
    int n = s->comps ? s->ncomps : ty_ncomp(s->local->type);
    for (int i = 0; i < n; i++) {
        int64_t *to = &v->locals[s->local->index].c[s->comps ? s->comps[i] : i];
        *to = compute(s->red == IR_RED_ADD ? OP_ADD : OP_MAX, SC_I32, (int64_t[]){*to, val, 0});
    }
}

static state exec_stmt(env *v, const tx_stmt *s)
{
    switch (s->kind) {
    case TX_DECL:
        v->locals[s->locals[0]->index] = s->value ? eval(v, s->value) : (value){{0}};
        return RUNNING;
    case TX_ASSIGN:
        exec_assign(v, s);
        return RUNNING;
    case TX_REDUCE:
        exec_reduce(v, s);
        return RUNNING;
    case TX_IF:
        return exec(v, eval1(v, s->cond) ? s->body : s->else_body);
    case TX_FOR:
    case TX_WHILE:
        return exec_loop(v, s);
    case TX_BLOCK:
        return exec(v, s->body);
    case TX_BREAK:
        return BROKEN;
    case TX_CONTINUE:
        return CONTINUED;
    case TX_RETURN:
        v->result = eval(v, s->values[0]);
        return RETURNED;
    default:
        abort();
    }
}

static state exec(env *v, const tx_stmt *list)
{
    for (const tx_stmt *s = list; s; s = s->next) {
        state st = exec_stmt(v, s);
        if (st != RUNNING)
            return st;
    }
    return RUNNING;
}

static value tree_call(const tx_func *f, const value *args)
{
    env v = {.locals = calloc((size_t)f->nlocals, sizeof(value))};
    for (int i = 0; i < f->nparams; i++)
        v.locals[f->params[i]->index] = args[i];
    exec(&v, f->body);
    free(v.locals);
    return v.result;
}

int32_t tree_run(const tx_func *f, const int32_t *args)
{
    value a[NARGS] = {{{0}}};
    for (int i = 0; i < NARGS; i++)
        a[i].c[0] = args[i];
    return (int32_t)tree_call(f, a).c[0];
}

/* ---- IR ---- */

typedef struct machine {
    int64_t *v; /* by value id */
    VEC(int64_t *) arrays;
    int64_t *yielded; /* by the region that was run last */
} machine;

static void run_region(machine *m, const ir_region *r);

static void yield_to(machine *m, ir_value *const *to, int n)
{
    for (int i = 0; i < n; i++)
        m->v[to[i]->id] = m->yielded[i];
}

static void run_loop(machine *m, const ir_op *op)
{
    int64_t at = ir_loop_attr(op)->bounded ? m->v[op->args[0]->id] : 0, end = ir_loop_attr(op)->bounded ? m->v[op->args[1]->id] : INT64_MAX, trips = 0;
    int first = ir_loop_attr(op)->bounded ? 2 : 0, n = op->nargs - first;
    int64_t *carried = calloc((size_t)n + 1, sizeof *carried);
    const ir_region *body = op->regions[0];
    for (int i = 0; i < n; i++)
        carried[i] = m->v[op->args[first + i]->id];
    for (; at < end; at++, trips++) {
        if (ir_loop_attr(op)->cond) {
            for (int i = 0; i < n; i++)
                m->v[op->regions[1]->params[i]->id] = carried[i];
            run_region(m, op->regions[1]);
            if (!m->yielded[0])
                break;
        }
        if (ir_loop_attr(op)->bounded)
            m->v[body->params[0]->id] = at;
        for (int i = 0; i < n; i++)
            m->v[body->params[ir_loop_attr(op)->bounded + i]->id] = carried[i];
        run_region(m, body);
        memcpy(carried, m->yielded, (size_t)n * sizeof *carried);
    }
    for (int i = 0; i < n; i++)
        m->v[op->res[i]->id] = carried[i];
    if (ir_loop_attr(op)->cond)
        m->v[op->res[n]->id] = trips;
    free(carried);
}

static void run_box(machine *m, const ir_op *op, int d)
{
    if (d < ir_task_attr(op)->ndim) {
        for (int64_t i = m->v[op->args[2 * d]->id]; i < m->v[op->args[2 * d + 1]->id]; i++) {
            m->v[op->regions[0]->params[d]->id] = i;
            run_box(m, op, d + 1);
        }
        return;
    }
    run_region(m, op->regions[0]);
    for (int i = 0; i < op->nres; i++) {
        int64_t *to = &m->v[op->res[i]->id];
        ir_opcode code = ir_task_attr(op)->reductions[i].kind == IR_RED_ADD ? OP_ADD : ir_task_attr(op)->reductions[i].kind == IR_RED_MIN ? OP_MIN : OP_MAX;
        *to = compute(code, op->res[i]->type, (int64_t[]){*to, m->yielded[i], 0});
    }
}

static void run_task(machine *m, const ir_op *op)
{
    for (int i = 0; i < op->nres; i++)
        m->v[op->res[i]->id] = m->v[op->args[2 * ir_task_attr(op)->ndim + i]->id];
    run_box(m, op, 0);
}

static void run_func(const ir_func *f, const int64_t *args, int64_t *results)
{
    machine m = {.v = calloc(f->next_value, sizeof(int64_t))};
    for (int i = 0; i < f->body->nparams; i++)
        m.v[f->body->params[i]->id] = args[i];
    run_region(&m, f->body);
    memcpy(results, m.yielded, (size_t)f->nresults * sizeof *results);
    for (size_t i = 0; i < m.arrays.len; i++)
        free(m.arrays.at[i]);
    vec_free(&m.arrays);
    free(m.yielded);
    free(m.v);
}

static void run_call(machine *m, const ir_op *op)
{
    int64_t args[8], results[4];
    assert(op->nargs <= 8 && op->nres <= 4);
    for (int i = 0; i < op->nargs; i++)
        args[i] = m->v[op->args[i]->id];
    run_func(ir_callee_of(op), args, results);
    for (int i = 0; i < op->nres; i++)
        m->v[op->res[i]->id] = results[i];
}

static void run_op(machine *m, const ir_op *op)
{
    int64_t a[3] = {0}, *array;
    for (int i = 0; i < op->nargs && i < 3; i++)
        a[i] = m->v[op->args[i]->id];
    switch (op->code) {
    case OP_CONST:
        m->v[op->res[0]->id] = ir_const_attr(op)->i;
        break;
    case OP_LOCAL:
        array = calloc((size_t)ir_local_attr(op)->count, sizeof *array);
        vec_push(&m->arrays, array);
        m->v[op->res[0]->id] = (int64_t)(intptr_t)array;
        break;
    case OP_LLOAD:
        m->v[op->res[0]->id] = ((int64_t *)(intptr_t)a[0])[a[1]];
        break;
    case OP_LSTORE:
        ((int64_t *)(intptr_t)a[0])[a[1]] = a[2];
        break;
    case OP_IF:
        run_region(m, op->regions[a[0] ? 0 : 1]);
        yield_to(m, op->res, op->nres);
        break;
    case OP_LOOP:
        run_loop(m, op);
        break;
    case OP_TASK:
        run_task(m, op);
        break;
    case OP_CALL:
        run_call(m, op);
        break;
    case OP_YIELD:
        m->yielded = realloc(m->yielded, ((size_t)op->nargs + 1) * sizeof *m->yielded);
        for (int i = 0; i < op->nargs; i++)
            m->yielded[i] = m->v[op->args[i]->id];
        break;
    default:
        m->v[op->res[0]->id] = compute(op->code, op->res[0]->type, a);
    }
}

static void run_region(machine *m, const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        run_op(m, op);
}

int32_t ir_run(const ir_func *f, const int32_t *args)
{
    int64_t a[NARGS], result = 0;
    assert(f->nresults == 1);
    for (int i = 0; i < NARGS; i++)
        a[i] = args[i];
    run_func(f, a, &result);
    return (int32_t)result;
}
