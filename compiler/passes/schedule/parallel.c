/* Classes every write of a task: who else touches the element while the task runs?
 *
 *   own element   all accesses of the plane in the task name, in some dimension for each task index, that index plus
 * one same constant: no other iteration comes near. Plain. row           the same for the leading task indices only:
 * one thread runs all iterations that share them (unit_dims). Plain. scatter       anything else: private copies or
 * atomics, decided at run time; atomics only where the task also loads or stores the plane.
 *
 * Plain stores need nothing: the language forbids that another iteration touches a stored element. Where that is so
 * because a field is distinct, the launch looks whether it is (ir_launch.distinct), as it does for own elements and
 * rows.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"

typedef struct plane_use {
    VEC(ir_op *) ops;
    bool load, store, accum;
    unsigned char called; /* effects of callees on it */
} plane_use;

typedef struct task_uses {
    const ir_module *m;
    plane_use *at; /* by ir_storage */
} task_uses;

static void add_use(plane_use *p, unsigned what)
{
    p->load |= (what & OP_READS) != 0;
    p->store |= (what & OP_STORES) != 0;
    p->accum |= (what & OP_ADDS) != 0;
}

static void collect_uses(ir_op *op, void *ctx)
{
    task_uses *u = ctx;
    if (op->code == OP_CALL) {
        effects e = effects_of_op(u->m, op);
        for (size_t i = 0; i < ir_storage_count(u->m); i++)
            u->at[i].called |= e.at[i];
        effects_free(&e);
        return;
    }
    op_touch touched[OP_TOUCHED_MAX];
    const int n = op_touched(op, touched);
    for (int i = 0; i < n; i++)
        add_use(&u->at[touched[i].at], touched[i].what);
    if (n)
        vec_push(&u->at[touched[0].at].ops, op);
}

/* An adjoint's store goes where the launch's did. */
static bool is_unproved(const ir_op *store)
{
    const ir_op *root = ir_root_of(store);
    return ir_access_attr(store)->unproved || (root && root->code == OP_STORE && ir_access_attr(root)->unproved);
}

static void set_class(const plane_use *p, ir_acc acc, ir_class class)
{
    for (size_t i = 0; i < p->ops.len; i++) {
        ir_op *op = p->ops.at[i];
        if (op->code == OP_ACCUM || op->code == OP_ATOMIC)
            ir_access_attr(op)->acc = acc;
        if (op->code != OP_LOAD && !ir_class_of(op))
            ir_set_class(op, op->code != OP_STORE ? class : is_unproved(op) ? IR_CLASS_ASSUMED : IR_CLASS_OWN);
    }
}

/* A plain write under a condition. */
static bool is_sided(const ir_op *op, const ir_op *task)
{
    if (op->code != OP_STORE && op->code != OP_ACCUM)
        return false;
    for (const ir_op *around = op->region->parent; around != task; around = around->region->parent)
        if (around->code == OP_IF)
            return true;
    return false;
}

/* Whether the iterations that differ in one of the first n indices of the task have different elements. What that
 * relies on, launches of f will look at. */
static bool subscripts_are_injective(ir_func *f, const ir_op *task, ir_op *const *ops, size_t nops, int n)
{
    const size_t nfields = f->module->fields.len;
    bool *relies = xmalloc((nfields + 1) * sizeof *relies);
    memset(relies, 0, (nfields + 1) * sizeof *relies);
    bool own = true;
    for (int d = 0; d < n && own; d++)
        own = subscript_is_injective(task, ops, nops, d, relies);
    for (size_t i = 0; i < nfields && own; i++) {
        if (!relies[i])
            continue;
        if (!f->launch.distinct)
            f->launch.distinct = ARENA_ARRAY(f->module->mem, bool, nfields);
        f->launch.distinct[i] = true;
    }
    free(relies);
    return own;
}

/* Stores that would meet if elements of a distinct field did not differ. */
static void check_stores(ir_func *f, const ir_op *task, const plane_use *p)
{
    for (size_t i = 0; i < p->ops.len; i++)
        if (p->ops.at[i]->code == OP_STORE)
            (void)subscripts_are_injective(f, task, &p->ops.at[i], 1, ir_task_attr(task)->ndim);
}

/* What a branch writes may also be written where it is not taken, if the element is the iteration's own by its
 * subscripts alone: conditions that exclude each other are no reason any more. */
static void mark_no_alias(ir_func *f, const ir_op *task, const plane_use *p)
{
    bool any = false;
    for (size_t i = 0; i < p->ops.len; i++)
        any |= is_sided(p->ops.at[i], task);
    const bool own = any && !p->called && !ir_field_has_gaps(ir_field_of(p->ops.at[0])) &&
                     subscripts_are_injective(f, task, p->ops.at, p->ops.len, ir_task_attr(task)->ndim);
    for (size_t i = 0; i < p->ops.len && own; i++)
        if (is_sided(p->ops.at[i], task))
            ir_access_attr(p->ops.at[i])->no_alias = true;
}

static void add_scatter(ir_func *f, ir_op *task, ir_storage index, bool shared, bool called)
{
    ir_scatter *s = ARENA_ARRAY(f->module->mem, ir_scatter, ir_task_attr(task)->nscatters + 1);
    for (int i = 0; i < ir_task_attr(task)->nscatters; i++)
        s[i] = ir_task_attr(task)->scatters[i];
    s[ir_task_attr(task)->nscatters++] = (ir_scatter){ir_storage_field(f->module, index), ir_storage_plane(index),
                                                      shared, called, 0};
    ir_task_attr(task)->scatters = s;
}

/* The accesses of one plane that may meet; false: somebody else may touch their elements meanwhile. */
static bool class_own(ir_func *f, ir_op *task, const plane_use *p)
{
    const int nd = ir_task_attr(task)->ndim;
    const bool rows = !p->load && !p->store && !ir_task_sum_decides(task);
    if (!p->accum) {
        set_class(p, IR_ACC_PLAIN, IR_CLASS_NONE);
        return true;
    }
    int own = nd;
    while (own > 0 && !subscripts_are_injective(f, task, p->ops.at, p->ops.len, own))
        own = rows ? own - 1 : 0;
    if (own == nd) {
        set_class(p, IR_ACC_PLAIN, IR_CLASS_OWN);
        return true;
    }
    if (own > 0) {
        if (ir_task_attr(task)->unit_dims < nd - own)
            ir_task_attr(task)->unit_dims = nd - own;
        set_class(p, IR_ACC_PLAIN, IR_CLASS_ROW);
        return true;
    }
    return false;
}

/* Classes each group of accesses of the plane that never meets the others. False if one scatters. */
static bool class_groups(ir_func *f, ir_op *task, const plane_use *p, ir_class class)
{
    const size_t n = p->ops.len;
    size_t *group = groups_that_meet(task, p->ops.at, n);
    plane_use *part = xmalloc((n + 1) * sizeof *part);
    memset(part, 0, (n + 1) * sizeof *part);
    for (size_t i = 0; i < n; i++) {
        add_use(&part[group[i]], op_touches(p->ops.at[i]->code));
        vec_push(&part[group[i]].ops, p->ops.at[i]);
    }
    bool all = true;
    for (size_t g = 0; g < n; g++) {
        if (part[g].ops.len && !class_own(f, task, &part[g])) {
            set_class(&part[g], IR_ACC_SCATTER, class);
            all = false;
        }
        vec_free(&part[g].ops);
    }
    free(part);
    free(group);
    return all;
}

static ir_class scatter_class(bool shared)
{
    return shared ? IR_CLASS_ATOMIC : IR_CLASS_SCATTER;
}

static void class_plane(ir_func *f, ir_op *task, const plane_use *p, ir_storage index)
{
    const bool called_adds = p->called & OP_ADDS, called_other = p->called & (OP_READS | OP_STORES);
    if (!p->accum && !called_adds) {
        set_class(p, IR_ACC_PLAIN, IR_CLASS_NONE);
        return;
    }
    const ir_field *field = ir_storage_field(f->module, index);
    const bool shared = p->load || p->store || called_other ||
                        ir_field_has_gaps(field); /* a private copy would have none */
    const ir_class class = scatter_class(shared);
    if (p->called)
        set_class(p, IR_ACC_SCATTER, class);
    else if (class_groups(f, task, p, class))
        return;
    add_scatter(f, task, index, shared, called_adds);
}

static void class_task(ir_func *f, ir_op *task)
{
    const size_t n = ir_storage_count(f->module);
    task_uses u = {f->module, xmalloc((n + 1) * sizeof *u.at)};
    memset(u.at, 0, (n + 1) * sizeof *u.at);
    ir_walk(task->regions[0], collect_uses, &u);
    for (ir_storage i = 0; i < n; i++) {
        if (u.at[i].ops.len || u.at[i].called)
            class_plane(f, task, &u.at[i], i);
        if (u.at[i].ops.len && (u.at[i].store || u.at[i].accum))
            mark_no_alias(f, task, &u.at[i]);
        check_stores(f, task, &u.at[i]);
        vec_free(&u.at[i].ops);
    }
    free(u.at);
}

static void class_op(ir_op *op, void *ctx)
{
    ir_func *f = ctx;
    if (op->code == OP_TASK) {
        if (ir_task_attr(op)->rows) /* a gather: classed by who made it */
            return;
        class_task(f, op);
        return;
    }
    if (op->code == OP_LACCUM)
        ir_set_class(op, scatter_class(false));
    if (op->code != OP_ACCUM && op->code != OP_STORE && op->code != OP_ATOMIC)
        return;
    if (ir_task_of(op)) /* classed with its task */
        return;
    /* Outside tasks nothing runs beside it; a function does not know where it is called from. */
    if (op->code != OP_STORE)
        ir_access_attr(op)->acc = f->kind == IR_FUNC ? IR_ACC_SCATTER : IR_ACC_PLAIN;
    if (!ir_class_of(op))
        ir_set_class(op, f->kind == IR_FUNC ? IR_CLASS_CALLED : IR_CLASS_KERNEL);
}

static bool stores_in_task(const ir_op *op)
{
    return op->code == OP_STORE && ir_task_of(op);
}

/* A derivative stores into gradients of what its primal stored into, and clears them; by subscripts that it may have
 * kept from its forward sweep, which tell nothing. So if it stores, it looks at what its primal looks at. */
static void take_primal_checks(ir_func *f)
{
    const ir_func *p = f->ad.primal;
    if (!p || !p->launch.distinct || !ir_has(f->body, stores_in_task))
        return;
    for (size_t i = 0; i < f->module->fields.len; i++) {
        if (!p->launch.distinct[i])
            continue;
        if (!f->launch.distinct)
            f->launch.distinct = ARENA_ARRAY(f->module->mem, bool, f->module->fields.len);
        f->launch.distinct[i] = true;
    }
}

void pass_parallel(ir_func *f)
{
    ir_walk(f->body, class_op, f);
    take_primal_checks(f);
    f->classed = true; /* the verifier holds us to it, and whoever adds an accumulation behind us */
}

/* ---- --explain, --explain-adjoint ---- */

typedef struct explanation {
    void (*tell)(const explained *x, void *ctx);
    void *ctx;
    VEC(const ir_op *) told;
} explanation;

/* Components of one vector, and a gather's strips and interior, are one line. */
static bool is_told(const explanation *x, const ir_op *op)
{
    for (size_t n = 1; n <= x->told.len; n++) {
        const ir_op *t = x->told.at[x->told.len - n];
        if (t->loc.line != op->loc.line || t->loc.col != op->loc.col || t->code != op->code ||
            ir_class_of(t) != ir_class_of(op))
            continue;
        if (op->code == OP_LACCUM
                ? t->args[0] == op->args[0]
                : ir_field_of(t) == ir_field_of(op) && ir_access_attr(t)->plane == ir_access_attr(op)->plane)
            return true;
    }
    return false;
}

/* With what its functions do, whose own operations are not told of: they may be called from elsewhere, too. */
static void explain_task(const explanation *x, const ir_op *task)
{
    x->tell(&(explained){.op = task}, x->ctx);
    for (int i = 0; i < ir_task_attr(task)->nscatters; i++) {
        const ir_scatter *s = &ir_task_attr(task)->scatters[i];
        if (s->called)
            x->tell(&(explained){.op = task, .called = s, .class = scatter_class(s->shared)}, x->ctx);
    }
}

static void explain_op(ir_op *op, void *ctx)
{
    explanation *x = ctx;
    if (op->code == OP_TASK)
        explain_task(x, op);
    if ((op->code != OP_LACCUM && op->code != OP_ACCUM && op->code != OP_STORE && op->code != OP_ATOMIC) ||
        !ir_class_of(op) || is_told(x, op))
        return;
    vec_push(&x->told, op);
    const ir_class class = ir_class_of(op);
    const bool scatters = op->code == OP_ACCUM && (class == IR_CLASS_SCATTER || class == IR_CLASS_ATOMIC);
    x->tell(&(explained){.op = op, .class = class, .why = scatters ? ir_access_attr(op)->why : IR_SCATTER_NONE},
            x->ctx);
}

void explain_writes(const ir_func *f, void (*tell)(const explained *x, void *ctx), void *ctx)
{
    explanation x = {.tell = tell, .ctx = ctx};
    ir_walk(f->body, explain_op, &x);
    vec_free(&x.told);
}

static void print_lanes(FILE *out, const char *place, const ir_op *task)
{
    if (ir_task_attr(task)->lanes)
        fprintf(out, "%s: lanes: %d iterations side by side\n", place, ir_task_attr(task)->lanes);
    else if (ir_task_attr(task)->no_lanes)
        fprintf(out, "%s: no lanes: %s\n", place, ir_no_lanes_text(ir_task_attr(task)->no_lanes));
}

static void print_explained(const explained *x, void *out)
{
    const ir_op *op = x->op;
    const ir_module *m = op->region->func->module;
    const char *place = arena_printf(m->mem, "  %s:%u:%u", diag_file_path(m->diag, op->loc.file),
                                     (unsigned)op->loc.line, (unsigned)op->loc.col);
    const bool array = op->code == OP_LACCUM;
    if (x->called)
        fprintf(out, "%s: %s%s +=: %s, by functions\n", place, x->called->field->name, ir_plane_text(x->called->plane),
                ir_class_text(x->class));
    else if (op->code == OP_TASK)
        print_lanes(out, place, op);
    else
        fprintf(out, "%s: %s%s %s: %s%s%s\n", place, array ? op->args[0]->name : ir_field_of(op)->name,
                array ? "" : ir_plane_text(ir_access_attr(op)->plane),
                op->code == OP_STORE    ? "="
                : op->code == OP_ATOMIC ? "atomic"
                                        : "+=",
                ir_class_text(x->class), x->why ? "; no gather: " : "", ir_scatter_reason_text(x->why));
}

void explain_kernel(FILE *out, const ir_func *f)
{
    fprintf(out, "%s\n", f->name);
    explain_writes(f, print_explained, out);
    for (size_t i = 0; f->launch.distinct && i < f->module->fields.len; i++)
        if (f->launch.distinct[i])
            fprintf(out, "  %s is distinct: each launch looks\n", f->module->fields.at[i]->name);
    if (f->ad.no_grad_why)
        fprintf(out, "  no adjoint: %s\n", f->ad.no_grad_why);
}
