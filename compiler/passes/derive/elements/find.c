/* Which kernels have sparse matrices: all else is refused, with a reason. */
#include "ir/ops.h"
#include "passes/derive/elements/elements_int.h"

static void refuse(elements *e, src_loc at, const char *why)
{
    if (e->why)
        return;
    e->why = why;
    e->at = at;
}

static const char *text(const elements *e, const char *format, const char *name)
{
    return arena_printf(e->kernel->module->mem, format, name);
}

static const char *columns_text(const elements *e, const char *format)
{
    return text(e, format, ir_columns_names(e->kernel->module->mem, e->by, "' or '"));
}

/* ---- what operations touch ---- */

typedef struct sought {
    const ir_field *field;
    src_loc at;
} sought;

static void seek_read(ir_op *op, void *ctx)
{
    sought *s = ctx;
    if (!s->at.line && op->code == OP_LOAD && ir_field_of(op) == s->field)
        s->at = op->loc;
}

/* The first read of f inside op, of a parallel loop; else op itself. */
static src_loc read_in(const ir_op *op, const ir_field *f)
{
    sought s = {.field = f};
    for (int r = 0; ir_task_of(op) && r < op->nregions; r++)
        ir_walk(op->regions[r], seek_read, &s);
    return s.at.line ? s.at : op->loc;
}

/* ---- calls that stay ---- */

typedef struct call_sought {
    const ir_module *module;
    const ir_field *field;
    const ir_op *call;
} call_sought;

static bool reads_data(const ir_module *m, const ir_op *op, const ir_field *f)
{
    effects x = effects_of_op(m, op);
    const bool reads = x.at[ir_storage_of(f, IR_DATA)] != 0;
    effects_free(&x);
    return reads;
}

static void seek_call(ir_op *op, void *ctx)
{
    call_sought *s = ctx;
    if (!s->call && op->code == OP_CALL && reads_data(s->module, op, s->field))
        s->call = op;
}

/* Of op, or inside of it, the first that reads f; NULL: none. */
static const ir_op *reading_call(const elements *e, ir_op *op, const ir_field *f)
{
    call_sought s = {e->kernel->module, f, NULL};
    seek_call(op, &s);
    for (int r = 0; r < op->nregions; r++)
        ir_walk(op->regions[r], seek_call, &s);
    return s.call;
}

static void refuse_call(elements *e, const ir_op *call, const ir_field *read)
{
    const ir_func *f = ir_callee_of(call);
    refuse(
        e, call->loc,
        arena_printf(e->kernel->module->mem,
                     "'%s' is read in function '%s', which is not inlined: %s. Read '%s' before, and pass the values",
                     read->name, f->name,
                     f->ad.custom_grad || f->ad.custom_jvp ? "its derivative is the program's"
                                                           : "it is large, and called in several places",
                     read->name));
}

/* ---- operations that may not touch fields ---- */

/* Those of the columns, or writes, where op may do neither. */
static void refuse_touching(elements *e, ir_op *op, const char *reads)
{
    const ir_module *m = e->kernel->module;
    effects x = effects_of_op(m, op);
    for (size_t s = 0; s < ir_storage_count(m) && !e->why; s++) {
        const ir_field *f = ir_storage_field(m, s);
        if (x.at[s] & (OP_STORES | OP_ADDS))
            refuse(e, op->loc,
                   f == e->to || (!e->to && op->nregions)
                       ? text(e,
                              "'%s' is written in a branch or an inner loop: add to a local variable, and "
                              "that to the field once",
                              f->name)
                   : ir_columns_have(e->by, f) ? text(e, "'%s' is written", f->name)
                                               : text(e, "'%s' is written as well", f->name));
        else if (x.at[s] && ir_columns_have(e->by, f) && reading_call(e, op, f))
            refuse_call(e, reading_call(e, op, f), f);
        else if (x.at[s] && ir_columns_have(e->by, f))
            refuse(e, read_in(op, f), text(e, reads, f->name));
        else if (x.at[s] && f == e->to)
            refuse(e, op->loc, text(e, "'%s' is read as well", f->name));
    }
    effects_free(&x);
}

static bool is_read(const elements *e, const ir_op *op)
{
    return op->code == OP_LOAD && ir_columns_have(e->by, ir_field_of(op)) && ir_access_attr(op)->plane == IR_DATA;
}

/* ---- activity in a body ---- */

typedef struct search {
    const elements *e;
    const ir_op *around;
    bool active, outer_array;
} search;

static void look(ir_op *op, void *ctx)
{
    search *s = ctx;
    for (int i = 0; i < op->nargs; i++) {
        const ir_value *v = op->args[i];
        s->active |= s->e->active[v->id];
        const ir_region *in = v->region;
        bool inside = false;
        for (int k = 0; k < s->around->nregions; k++)
            inside |= ir_region_is_ancestor(s->around->regions[k], in);
        s->outer_array |= v->type == SC_PTR && !inside;
    }
}

static search look_in(const elements *e, ir_op *op)
{
    search s = {e, op, false, false};
    look(op, &s);
    for (int k = 0; k < op->nregions; k++)
        ir_walk(op->regions[k], look, &s);
    return s;
}

static bool is_event(const ir_op *op)
{
    return op->code == OP_ASSERT || op->code == OP_PRINT || op->code == OP_DECISION;
}

static void follow(elements *e, ir_op *op)
{
    const search s = look_in(e, op);
    if (!s.active || is_event(op))
        return;
    if (s.outer_array)
        refuse(e, op->loc, columns_text(e, "a local array holds what depends on '%s': use a vector"));
    for (int i = 0; i < op->nres; i++)
        e->active[op->res[i]->id] = true;
}

/* ---- one loop ---- */

static bool same_vertex(const ir_op *a, const ir_op *b)
{
    if (ir_field_of(a) != ir_field_of(b))
        return false;
    bool same = true;
    for (int d = 0; d < ir_field_of(a)->ndim; d++) {
        const ir_value *x = a->args[d], *y = b->args[d];
        same &= x == y || (ir_is_const(x) && ir_is_const(y) && ir_int(x) == ir_int(y));
    }
    return same;
}

static void add_read(elements *e, element_loop *l, ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    const int ndim = f->ndim;
    for (int d = 0; d <= ndim; d++)
        if (e->active[op->args[d]->id])
            refuse(e, op->loc,
                   text(e,
                        e->by->n == 1 ? "a subscript of '%s' depends on the field itself"
                                      : "a subscript of '%s' depends on a field of the columns",
                        f->name));
    if (!ir_component_known(op)) {
        refuse(e, op->loc, text(e, "the component of '%s' that is read is not constant", f->name));
        return;
    }
    e->active[op->res[0]->id] = true;
    const int comp = (int)ir_int(op->args[ndim]), part = comp / e->block;
    element_read r = {op, 0, comp % e->block};
    while (r.vertex < (int)l->vertices.len &&
           !(l->vertices.at[r.vertex].part == part && same_vertex(l->vertices.at[r.vertex].load, op)))
        r.vertex++;
    if (r.vertex == (int)l->vertices.len)
        vec_push(&l->vertices, ((element_vertex){op, part}));
    for (size_t i = 0; i < l->reads.len; i++)
        if (l->reads.at[i].vertex == r.vertex && l->reads.at[i].comp == r.comp) {
            ir_replace_uses(l->task->regions[0], op->res[0], l->reads.at[i].load->res[0]);
            return;
        }
    vec_push(&l->reads, r);
}

static bool is_at_own_index(const ir_op *op, const ir_op *task)
{
    bool own = ir_field_of(op)->ndim == ir_task_attr(task)->ndim;
    for (int d = 0; own && d < ir_field_of(op)->ndim; d++)
        own = op->args[d] == task->regions[0]->params[d];
    return own;
}

static void add_energy(elements *e, element_loop *l, ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    if (f->ndim || ir_field_ncomp(f) != 1 || !scalar_is_float(f->elem) || f->array)
        refuse(e, op->loc, text(e, "'%s' is no energy: that is a field of one float", f->name));
    vec_push(&l->writes, op);
}

static void add_residual(elements *e, element_loop *l, ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    const int ndim = f->ndim;
    if (!scalar_is_float(f->elem) || f->array || !ir_component_known(op) || !is_at_own_index(op, l->task))
        refuse(e, op->loc, text(e, "'%s' is no residual: an iteration stores floats at its own index", f->name));
    for (size_t i = 0; i < l->writes.len && !e->why; i++)
        if (ir_int(l->writes.at[i]->args[ndim]) == ir_int(op->args[ndim]))
            refuse(e, op->loc, text(e, "'%s' is stored twice", f->name));
    vec_push(&l->writes, op);
}

static bool is_output(elements *e, const ir_op *op)
{
    const ir_opcode code = e->kind == IR_DERIVE_BLOCKS ? OP_ACCUM : OP_STORE;
    if (op->code != code || ir_columns_have(e->by, ir_field_of(op)) || ir_access_attr(op)->plane != IR_DATA)
        return false;
    e->to = e->to ? e->to : ir_field_of(op);
    return ir_field_of(op) == e->to;
}

static void find_loop(elements *e, ir_op *task)
{
    element_loop l = {.task = task};
    if (ir_task_attr(task)->nreductions)
        refuse(e, task->loc, "a parallel loop gives a local variable its sum, minimum or maximum");
    if (e->kind == IR_DERIVE_ROWS && e->loops.len)
        refuse(e, task->loc, "it has a second parallel loop");
    for (ir_op *op = task->regions[0]->first; op && !e->why; op = op->next) {
        if (is_read(e, op)) {
            add_read(e, &l, op);
        } else if (is_output(e, op)) {
            if (e->kind == IR_DERIVE_BLOCKS)
                add_energy(e, &l, op);
            else
                add_residual(e, &l, op);
        } else if (op->code != OP_YIELD) {
            refuse_touching(e, op, "'%s' is read in a branch or an inner loop: read it before");
            follow(e, op);
        }
    }
    bool active = false;
    for (size_t i = 0; i < l.writes.len; i++)
        active |= e->active[ir_stored_value(l.writes.at[i])->id];
    if (!e->why && !active)
        refuse(e, task->loc, columns_text(e, "a parallel loop gives nothing that depends on '%s'"));
    vec_push(&e->loops, l);
}

/* ---- the kernel ---- */

static void refuse_signature(elements *e)
{
    const ir_func *f = e->kernel;
    for (int i = 0; i < f->nsig; i++)
        if (f->sig[i].array)
            refuse(e, f->loc, text(e, "it takes the array '%s' of the host: make that a field", f->sig[i].name));
    if (f->nouts)
        refuse(e, f->loc, "it has a result");
    if (f->draws)
        refuse(e, f->loc, "it draws random numbers");
}

elements elements_of(ir_func *kernel, const ir_request *r)
{
    elements e = {.kernel = kernel, .kind = r->kind, .by = &r->by, .block = ir_columns_block(&r->by)};
    e.active = ARENA_ARRAY(kernel->module->mem, bool, kernel->next_value + 1);
    refuse_signature(&e);
    for (ir_op *op = kernel->body->first; op && !e.why; op = op->next)
        if (op->code == OP_TASK)
            find_loop(&e, op);
        else if (op->code != OP_YIELD)
            refuse_touching(&e, op, "'%s' is read outside of its parallel loops, or these are in a loop or a branch");
    if (!e.why && !e.loops.len)
        refuse(&e, kernel->loc, "it has no parallel loop");
    return e;
}

int elements_arity(const elements *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->loops.len; i++)
        n = e->loops.at[i].vertices.len > n ? e->loops.at[i].vertices.len : n;
    return (int)n;
}

void elements_free(elements *e)
{
    for (size_t i = 0; i < e->loops.len; i++) {
        vec_free(&e->loops.at[i].reads);
        vec_free(&e->loops.at[i].vertices);
        vec_free(&e->loops.at[i].writes);
    }
    vec_free(&e->loops);
}
