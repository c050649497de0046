/* Classes every write of a task: who else touches the element while the task runs?
 *
 *   own element   all accesses of the plane in the task name, in some dimension for each task index, that index plus one same constant: no other
 *                 iteration comes near. Plain.
 *   row           the same for the leading task indices only: one thread runs all iterations that share them (unit_dims). Plain.
 *   scatter       anything else: private copies or atomics, decided at run time; atomics only where the task also loads or stores the plane.
 *
 * Plain stores need nothing: the language forbids that another iteration touches a stored element.
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
    plane_use *at; /* [field * 4 + plane] */
} task_uses;

static void add_use(plane_use *p, ir_op *op)
{
    p->load |= op->code == OP_LOAD || op->code == OP_ATOMIC;
    p->store |= op->code == OP_STORE;
    p->accum |= op->code == OP_ACCUM || op->code == OP_ATOMIC;
    vec_push(&p->ops, op);
}

static void collect(ir_op *op, void *ctx)
{
    task_uses *u = ctx;
    if (op->code == OP_CALL) {
        effects e = effects_of_op(u->m, op);
        for (size_t i = 0; i < u->m->fields.len * 4; i++)
            u->at[i].called |= e.at[i];
        effects_free(&e);
        return;
    }
    if (op_memory_of(op->code) != MEMORY_FIELD)
        return;
    add_use(&u->at[op->attr.field->index * 4 + (int)op->attr.plane], op);
    if (op->code == OP_ATOMIC && ir_atomic_form(op) == IR_ATOMIC_WITH_TANGENT)
        u->at[op->attr.field->index * 4 + IR_DUAL].store = true;
}

static bool is_task_index(const ir_op *task, const ir_value *v)
{
    return v->region == task->regions[0] && !v->def;
}

/* Subscript d of op as index `iv` of the task (coefficient 1) plus something that is the same in all iterations. */
static bool is_shifted_index(const ir_op *task, const affine *a, const ir_value *iv)
{
    bool found = false;
    for (int k = 0; k < a->n; k++) {
        if (a->term[k] == iv && a->coef[k] == 1)
            found = true;
        else if (is_task_index(task, a->term[k]) || !ir_is_visible(a->term[k], task->region))
            return false;
    }
    return a->ok && found;
}

static bool owns_index(const ir_op *task, const plane_use *p, int t)
{
    const ir_value *iv = task->regions[0]->params[t];
    for (int d = 0; d < p->ops.at[0]->attr.field->ndim; d++) {
        affine first = affine_of(p->ops.at[0]->args[d]);
        if (!is_shifted_index(task, &first, iv))
            continue;
        bool same = true;
        for (size_t i = 1; i < p->ops.len && same; i++) {
            if (p->ops.at[i]->args[d] == p->ops.at[0]->args[d])
                continue;
            affine a = affine_of(p->ops.at[i]->args[d]);
            same = a.ok && affine_equal(&first, &a);
        }
        if (same)
            return true;
    }
    return false;
}

static void set_class(const plane_use *p, ir_acc acc, const char *label)
{
    for (size_t i = 0; i < p->ops.len; i++) {
        ir_op *op = p->ops.at[i];
        if (op->code == OP_ACCUM || op->code == OP_ATOMIC)
            op->attr.acc = acc;
        if (op->code != OP_LOAD && !op->attr.label)
            op->attr.label = op->code == OP_STORE ? "own element" : label;
    }
}

static void add_scatter(ir_func *f, ir_op *task, int index, bool shared, bool called)
{
    ir_scatter *s = ARENA_ARRAY(f->module->mem, ir_scatter, task->attr.nscatters + 1);
    for (int i = 0; i < task->attr.nscatters; i++)
        s[i] = task->attr.scatters[i];
    s[task->attr.nscatters++] = (ir_scatter){f->module->fields.at[index / 4], (ir_plane)(index % 4), shared, called, 0};
    task->attr.scatters = s;
}

/* The accesses of one plane that may meet; false: somebody else may touch their elements meanwhile. */
static bool class_own(ir_op *task, const plane_use *p)
{
    const int nd = task->attr.ndim;
    int own = 0;
    if (!p->accum) {
        set_class(p, IR_ACC_PLAIN, NULL);
        return true;
    }
    while (own < nd && owns_index(task, p, own))
        own++;
    if (own == nd) {
        set_class(p, IR_ACC_PLAIN, "own element");
        return true;
    }
    if (own > 0 && !p->load && !p->store && !ir_task_sum_decides(task)) {
        if (task->attr.unit_dims < nd - own)
            task->attr.unit_dims = nd - own;
        set_class(p, IR_ACC_PLAIN, "own element of a row");
        return true;
    }
    return false;
}

/* Classes each group of accesses of the plane that never meets the others. False if one scatters. */
static bool class_groups(ir_op *task, const plane_use *p, const char *label)
{
    const size_t n = p->ops.len;
    size_t *group = groups_that_meet(task, p->ops.at, n);
    plane_use *part = xmalloc((n + 1) * sizeof *part);
    memset(part, 0, (n + 1) * sizeof *part);
    for (size_t i = 0; i < n; i++)
        add_use(&part[group[i]], p->ops.at[i]);
    bool all = true;
    for (size_t g = 0; g < n; g++) {
        if (part[g].ops.len && !class_own(task, &part[g])) {
            set_class(&part[g], IR_ACC_SCATTER, label);
            all = false;
        }
        vec_free(&part[g].ops);
    }
    free(part);
    free(group);
    return all;
}

static const char *scatter_label(bool shared)
{
    return shared ? "scatter (atomics)" : "scatter (private copies or atomics)";
}

static void class_plane(ir_func *f, ir_op *task, const plane_use *p, int index)
{
    const bool called_adds = p->called & EFFECT_ACCUM, called_other = p->called & (EFFECT_READ | EFFECT_STORE);
    if (!p->accum && !called_adds) {
        set_class(p, IR_ACC_PLAIN, NULL);
        return;
    }
    const ir_field *field = f->module->fields.at[index / 4];
    const bool shared = p->load || p->store || called_other || ir_field_has_gaps(field); /* a private copy would have none */
    const char *label = scatter_label(shared);
    if (p->called)
        set_class(p, IR_ACC_SCATTER, label);
    else if (class_groups(task, p, label))
        return;
    add_scatter(f, task, index, shared, called_adds);
}

static void class_task(ir_func *f, ir_op *task)
{
    const size_t n = f->module->fields.len * 4;
    task_uses u = {f->module, xmalloc((n + 1) * sizeof *u.at)};
    memset(u.at, 0, (n + 1) * sizeof *u.at);
    ir_walk(task->regions[0], collect, &u);
    for (size_t i = 0; i < n; i++) {
        if (u.at[i].ops.len || u.at[i].called)
            class_plane(f, task, &u.at[i], (int)i);
        vec_free(&u.at[i].ops);
    }
    free(u.at);
}

static void class_op(ir_op *op, void *ctx)
{
    ir_func *f = ctx;
    if (op->code == OP_TASK) {
        if (op->attr.rows) /* a gather: classed by who made it */
            return;
        class_task(f, op);
        return;
    }
    if (op->code == OP_LACCUM)
        op->attr.label = scatter_label(false);
    if (op->code != OP_ACCUM && op->code != OP_STORE && op->code != OP_ATOMIC)
        return;
    if (ir_task_of(op)) /* classed with its task */
        return;
    /* Outside tasks nothing runs beside it; a function does not know where it is called from. */
    if (op->code != OP_STORE)
        op->attr.acc = f->kind == IR_FUNC ? IR_ACC_SCATTER : IR_ACC_PLAIN;
    if (!op->attr.label)
        op->attr.label = f->kind == IR_FUNC ? "in a function" : "kernel level";
}

void pass_parallel(ir_func *f)
{
    ir_walk(f->body, class_op, f);
    f->classed = true; /* the verifier holds us to it, and whoever adds an accumulation behind us */
}

/* ---- --explain-adjoint ---- */

typedef struct explanation {
    FILE *out;
    const char *file;
    VEC(const ir_op *) told;
} explanation;

/* Components of one vector, and a gather's strips and interior, are one line. */
static bool is_told(const explanation *x, const ir_op *op)
{
    for (size_t n = 1; n <= x->told.len; n++) {
        const ir_op *t = x->told.at[x->told.len - n];
        if (t->loc.line != op->loc.line || t->loc.col != op->loc.col || t->code != op->code || strcmp(t->attr.label, op->attr.label) != 0)
            continue;
        if (op->code == OP_LACCUM ? t->args[0] == op->args[0] : t->attr.field == op->attr.field && t->attr.plane == op->attr.plane)
            return true;
    }
    return false;
}

static const char *const planes[] = {"", ".grad", ".dual", ".grad.dual"};

/* What its functions do, whose own operations are not told of: they may be called from elsewhere, too. */
static void explain_calls(const explanation *x, const ir_op *task)
{
    for (int i = 0; i < task->attr.nscatters; i++) {
        const ir_scatter *s = &task->attr.scatters[i];
        if (s->called)
            fprintf(x->out, "  %s:%u:%u: %s%s +=: %s, by functions\n", x->file, (unsigned)task->loc.line, (unsigned)task->loc.col, s->field->name,
                    planes[s->plane], scatter_label(s->shared));
    }
}

static void explain_op(ir_op *op, void *ctx)
{
    explanation *x = ctx;
    if (op->code == OP_TASK)
        explain_calls(x, op);
    const bool array = op->code == OP_LACCUM;
    if ((!array && op->code != OP_ACCUM && op->code != OP_STORE && op->code != OP_ATOMIC) || !op->attr.label || is_told(x, op))
        return;
    vec_push(&x->told, op);
    fprintf(x->out, "  %s:%u:%u: %s%s %s: %s\n", x->file, (unsigned)op->loc.line, (unsigned)op->loc.col, array ? op->args[0]->name : op->attr.field->name,
            array ? "" : planes[op->attr.plane], op->code == OP_STORE ? "=" : op->code == OP_ATOMIC ? "atomic" : "+=", op->attr.label);
}

void explain_kernel(FILE *out, const ir_func *f)
{
    explanation x = {.out = out, .file = f->module->source};
    fprintf(out, "%s\n", f->name);
    ir_walk(f->body, explain_op, &x);
    vec_free(&x.told);
    if (f->no_grad_why)
        fprintf(out, "  no adjoint: %s\n", f->no_grad_why);
}
