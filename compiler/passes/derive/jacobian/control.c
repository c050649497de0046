/* Linearisation of branches and loops. */
#include "ir/ops.h"
#include "passes/derive/jacobian/linearise_int.h"
#include "passes/derive/jacobian/product.h"

static ir_region *add_region(const linearisation *w, ir_op *op, int k)
{
    ir_region *r = ir_region_create(w->out);
    ir_set_region(op, k, r);
    return r;
}

static ir_value *or_zero(ir_builder *b, ir_value *v, scalar type)
{
    return v ? v : ir_zero(b, type);
}

/* ---- branches ---- */

typedef struct branch {
    jac_frame frame;
    ir_builder b;
    jac_matrix partials;
    jac_values yielded;
} branch;

static void build_branch(linearisation *w, jac_frame *f, const ir_op *op, ir_op *c, int k, branch *to)
{
    to->frame.outer = f;
    to->b = (ir_builder){.func = w->out, .region = add_region(w, c, k), .loc = op->loc};
    w->region(w, &to->b, &to->frame, op->regions[k]);
    to->partials = frame_matrix(w, &to->frame, &to->b, op->regions[k]);
    lin_yielded(w, op->regions[k], &to->yielded);
}

static ir_value *branch_entry(const branch *x, int row, const ir_value *input)
{
    for (size_t j = 0; j < x->frame.inputs.len; j++)
        if (x->frame.input_values.at[j] == input)
            return *jac_entry(&x->partials, row, (int)j);
    return NULL;
}

/* The edge from `input` to result number k: a result of its own, which is a choice where one side has none. */
static void branch_edge(linearisation *w, ir_builder *b, jac_frame *f, ir_op *c, branch side[2], int k, int to,
                        const ir_value *input)
{
    const scalar type = c->res[k]->type;
    ir_value *entry[2];
    for (int s = 0; s < 2; s++) {
        entry[s] = branch_entry(&side[s], k, input);
        if (entry[s] && jac_is(entry[s], 0))
            entry[s] = NULL;
    }
    if (!entry[0] && !entry[1])
        return;
    ir_value *by = ir_add_result(c, type);
    for (int s = 0; s < 2; s++)
        vec_push(&side[s].yielded, or_zero(&side[s].b, entry[s], type));
    if (!entry[0])
        by = ir_op3(b, OP_SELECT, c->args[0], ir_zero(b, type), by);
    else if (!entry[1])
        by = ir_op3(b, OP_SELECT, c->args[0], by, ir_zero(b, type));
    jac_edge_add(&f->graph, b, frame_vertex(w, f, input), to, by);
}

void lin_if(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op)
{
    scalar *types = ARENA_ARRAY(w->out->module->mem, scalar, op->nres + 1);
    for (int k = 0; k < op->nres; k++)
        types[k] = op->res[k]->type;
    ir_value *cond = lin_value(w, op->args[0]);
    ir_op *c = ir_insert(b, OP_IF, 1, &cond, op->nres, types, 2);
    ir_copy_attr(c, op);
    branch side[2] = {0};
    for (int k = 0; k < 2; k++)
        build_branch(w, f, op, c, k, &side[k]);
    b->loc = op->loc;
    for (int s = 0; s < 2; s++)
        for (size_t j = 0; j < side[s].frame.inputs.len; j++)
            (void)frame_vertex(w, f, side[s].frame.input_values.at[j]); /* in front of the results */
    for (int k = 0; k < op->nres; k++) {
        c->res[k]->name = op->res[k]->name;
        ir_map_set(&w->val, op->res[k], c->res[k]);
        if (!lin_active(w, op->res[k]))
            continue;
        const int to = frame_result(f, op->res[k]);
        for (int s = 0; s < 2; s++)
            for (size_t j = 0; j < side[s].frame.inputs.len; j++) {
                const ir_value *input = side[s].frame.input_values.at[j];
                if (s == 0 || !ptrmap_get(&side[0].frame.vertex, input))
                    branch_edge(w, b, f, c, side, k, to, input);
            }
    }
    for (int s = 0; s < 2; s++) {
        ir_yield(&side[s].b, (int)side[s].yielded.len, side[s].yielded.at);
        vec_free(&side[s].yielded);
        frame_free(&side[s].frame);
    }
}

/* ---- loops: the partials of the carried values by what the loop starts from and by what it reads are carried, too,
 * and each trip multiplies them by the body's matrix ---- */

typedef struct loop_lin {
    linearisation *w;
    const ir_op *op;
    ir_op *c;
    jac_frame frame;  /* of the body */
    jac_matrix body;  /* carried values by the frame's inputs */
    int ncarried;     /* of the source */
    int *input_of;    /* carried value -> input of the frame that is its parameter, -1: not active */
    VEC(int) sources; /* vertices of the frame around the loop: the results are differentiated by these */
    int *start;       /* carried value -> source that it starts from, -1: none */
    int *reads;       /* input of the frame -> source that it is, -1: a carried value */
    bool *has;        /* carried value by source: its partial is not zero by structure */
    ir_value **param, **result;
} loop_lin;

static bool *loop_has(const loop_lin *x, int k, size_t s)
{
    return &x->has[(size_t)k * x->sources.len + s];
}

static int source_of(loop_lin *x, int vertex)
{
    for (size_t s = 0; s < x->sources.len; s++)
        if (x->sources.at[s] == vertex)
            return (int)s;
    vec_push(&x->sources, vertex);
    return (int)x->sources.len - 1;
}

static void find_sources(loop_lin *x, jac_frame *f)
{
    arena *mem = x->w->out->module->mem;
    const int init = ir_loop_first_init(x->op);
    x->start = ARENA_ARRAY(mem, int, x->ncarried + 1);
    x->reads = ARENA_ARRAY(mem, int, x->frame.inputs.len + 1);
    for (int k = 0; k < x->ncarried; k++) {
        const ir_value *v = x->op->args[init + k];
        const int from = x->input_of[k] >= 0 && lin_active(x->w, v) ? frame_vertex(x->w, f, v) : -1;
        x->start[k] = from < 0 ? -1 : source_of(x, from);
    }
    for (size_t j = 0; j < x->frame.inputs.len; j++) {
        bool own = false;
        for (int k = 0; k < x->ncarried; k++)
            own |= x->input_of[k] == (int)j;
        x->reads[j] = own ? -1 : source_of(x, frame_vertex(x->w, f, x->frame.input_values.at[j]));
    }
}

/* What the body adds to the partial of carried value k by source s directly. */
static ir_value *read_partial(const loop_lin *x, ir_builder *in, int k, size_t s)
{
    ir_value *sum = NULL;
    for (size_t j = 0; j < x->frame.inputs.len; j++)
        if (x->reads[j] == (int)s)
            sum = in ? jac_sum(in, sum, *jac_entry(&x->body, k, (int)j)) : sum ? sum : *jac_entry(&x->body, k, (int)j);
    return sum;
}

/* To the fixpoint: a partial is there before the first trip, comes from the body, or from a carried value. */
static void find_pattern(loop_lin *x)
{
    const size_t n = x->sources.len;
    x->has = ARENA_ARRAY(x->w->out->module->mem, bool, (size_t)x->ncarried *n + 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < x->ncarried; k++)
            for (size_t s = 0; s < n; s++) {
                bool has = *loop_has(x, k, s) || x->start[k] == (int)s || read_partial(x, NULL, k, s);
                for (int i = 0; i < x->ncarried && !has; i++)
                    has = x->input_of[i] >= 0 && *jac_entry(&x->body, k, x->input_of[i]) && *loop_has(x, i, s);
                changed |= has && !*loop_has(x, k, s);
                *loop_has(x, k, s) = has;
            }
    }
}

/* What a trip makes of the partial of carried value k by source s. */
static ir_value *next_partial(loop_lin *x, ir_builder *in, int k, size_t s)
{
    const size_t n = x->sources.len;
    ir_value *sum = NULL;
    for (int i = 0; i < x->ncarried; i++) {
        ir_value *by = x->input_of[i] >= 0 ? *jac_entry(&x->body, k, x->input_of[i]) : NULL;
        if (by && *loop_has(x, i, s))
            sum = jac_sum(in, sum, jac_product(in, by, x->param[(size_t)i * n + s]));
    }
    return or_zero(in, jac_sum(in, sum, read_partial(x, in, k, s)), x->op->res[k]->type);
}

static void carry_partials(loop_lin *x, const ir_builder *b, ir_builder *in)
{
    ir_builder front = *b;
    front.before = x->c;
    const size_t n = x->sources.len, all = (size_t)x->ncarried * n;
    arena *mem = x->w->out->module->mem;
    x->param = ARENA_ARRAY(mem, ir_value *, all + 1);
    x->result = ARENA_ARRAY(mem, ir_value *, all + 1);
    for (size_t at = 0; at < all; at++) {
        const int k = (int)(at / n);
        if (x->has[at])
            x->param[at] = ir_loop_carry(x->c, ir_const_f(&front, x->op->res[k]->type, x->start[k] == (int)(at % n)),
                                         &x->result[at]);
    }
    jac_values yielded = {0};
    lin_yielded(x->w, x->op->regions[0], &yielded);
    for (size_t at = 0; at < all; at++)
        if (x->has[at])
            vec_push(&yielded, next_partial(x, in, (int)(at / n), at % n));
    ir_yield(in, (int)yielded.len, yielded.at);
    vec_free(&yielded);
}

/* The loop of the values themselves; its body has no yield yet. */
static void clone_loop(loop_lin *x, ir_builder *b)
{
    linearisation *w = x->w;
    const ir_op *op = x->op;
    arena *mem = w->out->module->mem;
    ir_value **args = ARENA_ARRAY(mem, ir_value *, op->nargs + 1);
    scalar *types = ARENA_ARRAY(mem, scalar, op->nres + 1);
    for (int i = 0; i < op->nargs; i++)
        args[i] = lin_value(w, op->args[i]);
    for (int i = 0; i < op->nres; i++)
        types[i] = op->res[i]->type;
    x->c = ir_insert(b, OP_LOOP, op->nargs, args, op->nres, types, op->nregions);
    ir_copy_attr(x->c, op);
    for (int i = 0; i < op->nres; i++)
        x->c->res[i]->name = op->res[i]->name;
    for (int k = op->nregions - 1; k >= 0; k--) {
        ir_region *to = add_region(w, x->c, k);
        for (int i = 0; i < op->regions[k]->nparams; i++)
            ir_map_set(&w->val, op->regions[k]->params[i], ir_region_param_like(to, op->regions[k]->params[i]));
    }
    if (op->nregions < 2)
        return;
    ir_builder in = {.func = w->out, .region = x->c->regions[1], .loc = op->loc};
    ir_clone_region_ops(&in, op->regions[1], &w->val);
    jac_values yielded = {0};
    lin_yielded(w, op->regions[1], &yielded);
    ir_yield(&in, (int)yielded.len, yielded.at);
    vec_free(&yielded);
}

void lin_loop(linearisation *w, ir_builder *b, jac_frame *f, const ir_op *op)
{
    loop_lin x = {.w = w, .op = op, .frame = {.outer = f}, .ncarried = ir_loop_ncarried(op)};
    const int param = ir_loop_first_param(op);
    x.input_of = ARENA_ARRAY(w->out->module->mem, int, x.ncarried + 1);
    clone_loop(&x, b);
    for (int k = 0; k < x.ncarried; k++) {
        const ir_value *p = op->regions[0]->params[param + k];
        x.input_of[k] = lin_active(w, p) ? (int)x.frame.inputs.len : -1;
        if (x.input_of[k] >= 0)
            frame_input(&x.frame, p);
    }
    ir_builder in = {.func = w->out, .region = x.c->regions[0], .loc = op->loc};
    w->region(w, &in, &x.frame, op->regions[0]);
    x.body = frame_matrix(w, &x.frame, &in, op->regions[0]);
    b->loc = op->loc;
    find_sources(&x, f);
    find_pattern(&x);
    const ir_value *trips = op->nres > x.ncarried ? op->res[op->nres - 1] : NULL;
    carry_partials(&x, b, &in);
    for (int k = 0; k < x.ncarried; k++)
        ir_map_set(&w->val, op->res[k], x.c->res[k]);
    if (trips)
        ir_map_set(&w->val, trips, x.c->res[x.c->nres - 1]);
    for (int k = 0; k < x.ncarried; k++) {
        if (!lin_active(w, op->res[k]))
            continue;
        const int to = frame_result(f, op->res[k]);
        for (size_t s = 0; s < x.sources.len; s++)
            if (*loop_has(&x, k, s))
                jac_edge_add(&f->graph, b, x.sources.at[s], to, x.result[(size_t)k * x.sources.len + s]);
    }
    vec_free(&x.sources);
    frame_free(&x.frame);
}
