/* What depends on the columns of a computed matrix: memory, values, and what steers. */
#include "ir/ops.h"
#include "passes/analysis/activity.h"
#include "passes/derive/computed/computed_int.h"

#include <string.h>

void computed_refuse(computed *c, src_loc at, const char *format, const char *name)
{
    if (c->why)
        return;
    c->why = arena_printf(c->from->module->mem, format, name);
    c->at = at.line ? at : c->from->loc;
}

bool computed_is_row(const computed *c, ir_storage at)
{
    for (int i = 0; i < c->nout; i++)
        if (c->out[i] == at)
            return true;
    return false;
}

/* ---- memory and values that are differentiated ---- */

static bool is_active(void *ctx, const ir_field *f, ir_plane p)
{
    const computed *c = ctx;
    return c->active[ir_storage_of(f, p)];
}

static unsigned callee_bits(void *ctx, const ir_func *f)
{
    const computed *c = ctx;
    effects e = effects_of_region(f->module, f->body);
    unsigned bits = 0;
    for (size_t i = 0; i < ir_storage_count(f->module); i++) {
        if (c->active[i] && (e.at[i] & OP_READS))
            bits |= FLOW_CALLEE_LOADS;
        if (c->active[i] && (e.at[i] & (OP_STORES | OP_ADDS)))
            bits |= FLOW_CALLEE_STORES;
    }
    effects_free(&e);
    return bits;
}

typedef struct spread {
    computed *c;
    const flow *w;
    bool changed;
} spread;

static void spread_store(ir_op *op, void *ctx)
{
    spread *s = ctx;
    if (!op_writes_field(op->code))
        return;
    const ir_storage at = ir_storage_of_op(op);
    s->c->written[at] = true;
    const ir_value *v = ir_stored_value(op);
    if (s->c->active[at] || !scalar_is_float(v->type) || !s->w->varied[v->id])
        return;
    s->c->active[at] = s->changed = true;
}

static void find_active(computed *c)
{
    flow w = flow_create(c->from);
    w.load_active = w.store_active = is_active;
    w.callee = callee_bits;
    w.ctx = c;
    spread s = {c, &w, true};
    while (s.changed) {
        s.changed = false;
        flow_vary(&w);
        ir_walk(c->from->body, spread_store, &s);
    }
    memcpy(c->varied, w.varied, (size_t)c->from->next_value + 1);
    flow_free(&w);
}

computed_slot *computed_slot_of(computed *c, const ir_layout *l, int64_t number)
{
    for (size_t i = 0; i < c->slots.len; i++)
        if (c->slots.at[i].layout == l && c->slots.at[i].number == number)
            return &c->slots.at[i];
    vec_push(&c->slots, ((computed_slot){l, number, FROM_INTEGERS, false}));
    return &vec_last(&c->slots);
}

void computed_free(computed *c)
{
    vec_free(&c->slots);
}

/* ---- levels ---- */

typedef struct leveller {
    computed *c;
    bool changed;
} leveller;

static int level(const leveller *l, const ir_value *v)
{
    return l->c->level[v->id];
}

/* Floats that operations make of integers are such values; others, which would steer without being exact, are none. */
static bool is_of_integers(const ir_value *v)
{
    return !scalar_is_float(v->type) || (v->def && (v->def->code == OP_CONST || op_is_pure_table(v->def->code)));
}

static void raise(leveller *l, const ir_value *v, int to)
{
    to = is_of_integers(v) ? to : FROM_FLOATS;
    if (level(l, v) >= to)
        return;
    l->c->level[v->id] = (unsigned char)to;
    l->changed = true;
}

static int more(int a, int b)
{
    return a > b ? a : b;
}

static int level_of_all(const leveller *l, ir_value *const *v, int n)
{
    int most = FROM_INTEGERS;
    for (int i = 0; i < n; i++)
        most = more(most, level(l, v[i]));
    return most;
}

/* perhaps: sets go there whether or not the program does. */
static void level_region(leveller *l, const ir_region *r, bool perhaps);

static void level_memory(leveller *l, const ir_op *op)
{
    const ir_storage at = ir_storage_of_op(op);
    int to = level_of_all(l, op->args, ir_field_of(op)->ndim + 1);
    if (l->c->active[at] || l->c->written[at] || ir_access_attr(op)->plane != IR_DATA)
        to = FROM_FLOATS;
    raise(l, op->res[0], to);
}

static void level_array(leveller *l, const ir_op *op, bool perhaps)
{
    const ir_value *array = op->args[0];
    if (op->code == OP_LLOAD)
        raise(l, op->res[0], more(level(l, array), level(l, op->args[1])));
    else
        raise(l, array, perhaps ? FROM_FLOATS : level_of_all(l, op->args + 1, 2));
    l->c->collapsed[array->id] |= level(l, op->args[1]) == FROM_FLOATS;
}

/* Blocks of saved values exist where it is known that the program comes there. */
static void level_stack(leveller *l, const ir_op *op, bool perhaps)
{
    computed_slot *slot = op->code == OP_STK_LOAD || op->code == OP_STK_STORE
                              ? computed_slot_of(l->c, ir_layout_of(op), ir_slot_attr(op)->number)
                              : NULL;
    if (op->code == OP_STK_STORE) {
        const int to = perhaps ? FROM_FLOATS : level(l, op->args[2]);
        l->changed |= to > slot->level;
        slot->level = more(to, slot->level);
        slot->varied |= scalar_is_float(op->args[2]->type) && l->c->varied[op->args[2]->id];
    }
    for (int i = 0; i < op->nres; i++)
        raise(l, op->res[i],
              more(perhaps ? FROM_FLOATS : level_of_all(l, op->args, op->nargs), slot ? slot->level : FROM_INTEGERS));
}

static void level_if(leveller *l, const ir_op *op, bool perhaps)
{
    const int cond = level(l, op->args[0]);
    for (int k = 0; k < 2; k++) {
        level_region(l, op->regions[k], perhaps || cond > FROM_INTEGERS);
        for (int i = 0; i < op->nres; i++)
            raise(l, op->res[i], more(cond, level(l, ir_yield_of(op->regions[k])->args[i])));
    }
}

/* Of how often it runs. */
static int level_of_trips(const leveller *l, const ir_op *op)
{
    int to = level_of_all(l, op->args, ir_loop_first_init(op));
    if (ir_loop_attr(op)->cond)
        to = more(to, level(l, ir_yield_of(op->regions[1])->args[0]));
    return to;
}

static void level_loop(leveller *l, const ir_op *op, bool perhaps)
{
    const int init = ir_loop_first_init(op), param = ir_loop_first_param(op), n = ir_loop_ncarried(op);
    const ir_region *body = op->regions[0];
    if (param)
        raise(l, body->params[0], level_of_all(l, op->args, init));
    for (int k = 0; k < n; k++) {
        const int to = more(level(l, op->args[init + k]), level(l, ir_yield_of(body)->args[k]));
        raise(l, body->params[param + k], to);
        if (ir_loop_attr(op)->cond)
            raise(l, op->regions[1]->params[k], to);
    }
    for (int k = op->nregions - 1; k >= 0; k--)
        level_region(l, op->regions[k], perhaps || level_of_trips(l, op) == FROM_FLOATS);
    for (int k = 0; k < op->nres; k++)
        raise(l, op->res[k], more(level_of_trips(l, op), k < n ? level(l, body->params[param + k]) : FROM_INTEGERS));
}

/* Sums of floats depend on their order: no value. */
static void level_task(leveller *l, const ir_op *op, bool perhaps)
{
    const ir_attr_task *t = ir_task_attr(op);
    const int bounds = level_of_all(l, op->args, ir_task_first_init(op));
    for (int d = 0; d < op->regions[0]->nparams; d++)
        raise(l, op->regions[0]->params[d], bounds);
    level_region(l, op->regions[0], perhaps);
    for (int r = 0, k = 0; r < t->nreductions; r++)
        for (int c = 0; c <= t->reductions[r].companions; c++, k++) {
            const bool plain = !t->reductions[r].companions && !scalar_is_float(op->res[k]->type);
            const int both = more(level(l, op->args[ir_task_first_init(op) + k]),
                                  level(l, ir_yield_of(op->regions[0])->args[k]));
            raise(l, op->res[k], plain ? more(bounds, both) : FROM_FLOATS);
        }
}

/* What a call yields has a value only if that follows from its arguments. */
static void level_call(leveller *l, const ir_op *op)
{
    const ir_func *f = ir_callee_of(op);
    effects e = effects_of_region(f->module, f->body);
    bool memory = f->external || e.stack;
    for (size_t i = 0; i < ir_storage_count(f->module); i++)
        memory |= e.at[i] != 0;
    effects_free(&e);
    for (int i = 0; i < op->nres; i++)
        raise(l, op->res[i], memory ? FROM_FLOATS : level_of_all(l, op->args, op->nargs));
}

static void level_op(leveller *l, const ir_op *op, bool perhaps)
{
    switch (op->code) {
    case OP_LOAD:
        level_memory(l, op);
        return;
    case OP_LLOAD:
    case OP_LSTORE:
    case OP_LACCUM:
        level_array(l, op, perhaps);
        return;
    case OP_LOCAL:
        raise(l, op->res[0], level_of_all(l, op->args, op->nargs));
        return;
    case OP_STK_MARK:
    case OP_STK_RELEASE:
    case OP_STK_ALLOC:
    case OP_STK_STORE:
    case OP_STK_LOAD:
        level_stack(l, op, perhaps);
        return;
    case OP_IF:
        level_if(l, op, perhaps);
        return;
    case OP_LOOP:
        level_loop(l, op, perhaps);
        return;
    case OP_TASK:
        level_task(l, op, perhaps);
        return;
    case OP_CALL:
        level_call(l, op);
        return;
    default:
        for (int i = 0; i < op->nres; i++) {
            const bool known = op->code == OP_CONST || op_is_pure_table(op->code) || op->code == OP_SHAPE ||
                               op->code == OP_MPARAM;
            raise(l, op->res[i], known ? level_of_all(l, op->args, op->nargs) : FROM_FLOATS);
        }
    }
}

static void level_region(leveller *l, const ir_region *r, bool perhaps)
{
    for (const ir_op *op = r->first; op; op = op->next)
        level_op(l, op, perhaps);
}

static void find_levels(computed *c)
{
    leveller l = {c, true};
    for (int i = 0; i < c->from->body->nparams; i++)
        if (scalar_is_float(c->from->body->params[i]->type))
            c->level[c->from->body->params[i]->id] = FROM_FLOATS;
    while (l.changed) {
        l.changed = false;
        level_region(&l, c->from->body, false);
    }
}

/* ---- what there is no matrix of ---- */

static bool depends(const computed *c, ir_value *const *v, int n)
{
    for (int i = 0; i < n; i++)
        if (c->level[v[i]->id] == FROM_FLOATS)
            return true;
    return false;
}

static void check_access(computed *c, const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    const ir_storage at = ir_storage_of_op(op);
    if (ir_access_attr(op)->plane != IR_DATA && !c->nout)
        computed_refuse(c, op->loc, "it uses a derivative of '%s'", f->name);
    if (ir_access_attr(op)->plane == IR_DATA && ir_columns_have(c->by, f) && op_writes_field(op->code))
        computed_refuse(c, op->loc, "'%s' is written", f->name);
    if (!c->active[at])
        return;
    if (op->code == OP_ATOMIC)
        computed_refuse(c, op->loc, "'%s' gets a minimum or maximum at once", f->name);
    if (depends(c, op->args, f->ndim + 1))
        computed_refuse(c, op->loc, "a subscript of '%s' depends on floats, or on what the kernel writes", f->name);
}

/* Derivatives of a function take the tangents of fields from their own planes. */
static void check_call(computed *c, const ir_op *op)
{
    const ir_module *m = c->from->module;
    const bool *carries = activity_storage(m, ACTIVITY_FORWARD);
    effects e = effects_of_op(m, op);
    for (size_t i = 0; i < ir_storage_count(m); i++)
        if (e.at[i] & (OP_STORES | OP_ADDS))
            computed_refuse(c, op->loc, "a function that stays a call writes '%s'", ir_storage_field(m, i)->name);
        else if (e.at[i] && (c->active[i] || carries[i]))
            computed_refuse(c, op->loc, "a function that stays a call reads '%s'", ir_storage_field(m, i)->name);
    effects_free(&e);
}

static void check_stack(computed *c, const ir_op *op)
{
    const int places = op->code == OP_STK_STORE ? 2 : op->nargs;
    const bool block = op->code == OP_STK_MARK || op->code == OP_STK_ALLOC;
    if (depends(c, op->args, places) || (block && depends(c, op->res, 1)))
        computed_refuse(c, op->loc, "its adjoint saves values of a loop under a condition on floats%s", "");
}

static void check_op(ir_op *op, void *ctx)
{
    computed *c = ctx;
    switch (op->code) {
    case OP_LOAD:
    case OP_STORE:
    case OP_ACCUM:
    case OP_ATOMIC:
        check_access(c, op);
        return;
    case OP_LOOP:
        if (depends(c, op->args, ir_loop_first_init(op)))
            computed_refuse(c, op->loc, "the bounds of a loop depend on floats, or on what the kernel writes%s", "");
        else if (ir_loop_attr(op)->cond && !ir_loop_attr(op)->bounded &&
                 depends(c, ir_yield_of(op->regions[1])->args, 1))
            computed_refuse(c, op->loc, "the condition of a loop depends on floats, or on what the kernel writes%s",
                            "");
        return;
    case OP_TASK:
        if (depends(c, op->args, ir_task_first_init(op)))
            computed_refuse(c, op->loc, "the bounds of a loop depend on floats, or on what the kernel writes%s", "");
        return;
    case OP_LOCAL:
        if (depends(c, op->args, op->nargs))
            computed_refuse(c, op->loc, "the size of an array depends on floats, or on what the kernel writes%s", "");
        return;
    case OP_CALL:
        check_call(c, op);
        return;
    case OP_IF:
    case OP_YIELD:
    case OP_LLOAD:
    case OP_LSTORE:
    case OP_LACCUM:
    case OP_CONST:
    case OP_MPARAM:
    case OP_SHAPE:
    case OP_ASSERT:
    case OP_PRINT:
    case OP_NEED:
    case OP_KEEP:
    case OP_DECISION:
        return;
    default:
        if (op_memory_of(op->code) == MEMORY_STACK)
            check_stack(c, op);
        else if (!op_is_pure_table(op->code))
            computed_refuse(c, op->loc, "it runs the operation '%s'", op_name(op->code));
    }
}

/* ---- rows ---- */

static bool reads(const ir_func *f, ir_storage at)
{
    effects e = effects_of_region(f->module, f->body);
    const bool any = (e.at[at] & OP_READS) != 0;
    effects_free(&e);
    return any;
}

/* The field of the rows: the only one that depends on the columns, or of several the only one that is not read again.
 */
static void find_rows(computed *c)
{
    const ir_module *m = c->from->module;
    ir_field *all[2] = {NULL}, *last[2] = {NULL};
    int n = 0, nlast = 0;
    for (size_t i = 0; i < m->nfields; i++) {
        ir_field *f = m->fields.at[i];
        const ir_storage at = ir_storage_of(f, IR_DATA);
        if (!c->active[at] || !c->written[at] || f->scratch || ir_columns_have(c->by, f))
            continue;
        all[n < 2 ? n++ : 1] = f;
        if (!reads(c->from, at))
            last[nlast < 2 ? nlast++ : 1] = f;
    }
    if (!n)
        computed_refuse(c, c->from->loc, "it stores nothing that depends on '%s'",
                        ir_columns_names(m->mem, c->by, "' or '"));
    else if (n > 1 && nlast != 1)
        computed_refuse(c, c->from->loc,
                        nlast ? "'%s' and another field are both results: residuals are one field"
                              : "it reads each of its results again, '%s' too: residuals are one field",
                        nlast ? last[0]->name : all[0]->name);
    c->to = n == 1 ? all[0] : last[0];
    if (c->to)
        c->out[c->nout++] = ir_storage_of(c->to, IR_DATA);
}

static void check_signature(computed *c)
{
    const ir_func *f = c->from;
    for (int i = 0; i < f->nsig; i++)
        if (f->sig[i].array)
            computed_refuse(c, f->loc, "it takes the array '%s' of the host: make that a field", f->sig[i].name);
    if (f->nouts)
        computed_refuse(c, f->loc, "it has a result%s", "");
    if (f->draws)
        computed_refuse(c, f->loc, "it draws random numbers%s", "");
}

void computed_follow(computed *c, bool adjoint)
{
    arena *mem = c->from->module->mem;
    const size_t nstorages = ir_storage_count(c->from->module), nvalues = c->from->next_value;
    c->active = ARENA_ARRAY(mem, bool, nstorages + 1);
    c->written = ARENA_ARRAY(mem, bool, nstorages + 1);
    c->varied = ARENA_ARRAY(mem, bool, nvalues + 1);
    c->collapsed = ARENA_ARRAY(mem, bool, nvalues + 1);
    c->level = ARENA_ARRAY(mem, unsigned char, nvalues + 1);
    c->out = ARENA_ARRAY(mem, ir_storage, c->by->n + 1);
    for (int i = 0; i < c->by->n; i++) {
        c->active[ir_storage_of(c->by->at[i], IR_DATA)] = true;
        if (adjoint)
            c->out[c->nout++] = ir_storage_of(c->by->at[i], ir_adjoint_of(IR_DATA));
    }
    vec_clear(&c->slots);
    check_signature(c);
    find_active(c);
    find_levels(c);
    ir_walk(c->from->body, check_op, c);
    if (!c->why && !c->hessian)
        find_rows(c);
}
