/* How the loops of a function run, and each write in them. */
#include <string.h>

#include "explain/words.h"
#include "ir/ops.h"
#include "passes/schedule/schedule.h"

typedef struct looper {
    words *w;
    strbuf targets; /* that wait to be told together: of one class, one after the other */
    ir_class class;
    ir_scatter_reason why;
    bool in_task;
    const ir_func *f;
    src_loc last; /* of the task that was told of last */
    bool reduces; /* writes say what becomes of sums */
} looper;

static bool is_same_place(src_loc a, src_loc b)
{
    return a.file == b.file && a.line == b.line && a.col == b.col;
}

/* ---- parallel loops ---- */

typedef struct inside {
    bool simd, rows, inner;
} inside;

static void collect_inner_loop(ir_op *op, void *ctx)
{
    inside *x = ctx;
    if (op->code != OP_LOOP)
        return;
    x->simd |= ir_loop_attr(op)->simd;
    x->rows |= ir_loop_attr(op)->parallel;
    x->inner |= !ir_loop_attr(op)->parallel;
}

static const char *vectors_text(const looper *x, const ir_op *task)
{
    const ir_attr_task *t = ir_task_attr(task);
    inside in = {0};
    ir_walk(task->regions[0], collect_inner_loop, &in);
    if (t->lanes)
        return arena_printf(x->w->m->mem, "%d iterations run side by side in the lanes of vectors.", t->lanes);
    if (t->no_lanes)
        return arena_printf(x->w->m->mem, "Iterations of a thread run one after the other: %s.",
                            ir_no_lanes_text(t->no_lanes));
    if (in.simd)
        return "Iterations along the innermost index are vectorised.";
    if (in.inner)
        return "Iterations of a thread run one after the other.";
    return "Iterations of a thread run one after the other; the C compiler decides about vectors.";
}

static const char *threads_text(const looper *x, const ir_op *task)
{
    const ir_attr_task *t = ir_task_attr(task);
    if (x->w->m->debug)
        return "One thread, because --debug checks each access.";
    if (t->ordered)
        return "One thread, in order: its sums decide, so the adjoint must find the same bits.";
    if (t->unit_dims)
        return arena_printf(x->w->m->mem, "Threads share the iterations; one thread runs the innermost %s as a whole.",
                            t->unit_dims == 1 ? "index" : "indices");
    return "Threads share the iterations.";
}

/* "i, j"; the rows pass made two parameters of the last index. */
static const char *indices_text(const looper *x, const ir_op *task)
{
    strbuf b = {0};
    const int n = ir_task_attr(task)->ndim;
    for (int i = 0; i < n; i++) {
        const char *name = task->regions[0]->params[i]->name;
        if (!name || !strcmp(name, "lo")) /* the rows pass had no name to begin with */
            continue;
        const size_t len = strlen(name);
        const bool row = i == n - 1 && ir_task_attr(task)->rows && len > 3 && !strcmp(name + len - 3, "_lo");
        add_name(&b, arena_printf(x->w->m->mem, "%.*s", (int)(row ? len - 3 : len), name));
    }
    const char *text = arena_printf(x->w->m->mem, "%s%s", b.len ? " over " : "", sb_str(&b));
    sb_free(&b);
    return text;
}

static const char *iterations_text(const looper *x, const ir_op *task)
{
    formula n = formula_number(1);
    for (int d = 0; d < ir_task_attr(task)->ndim; d++)
        n = formula_join(
            x->w, '*', n,
            formula_join(x->w, '-', formula_of(x->w, task->args[2 * d + 1]), formula_of(x->w, task->args[2 * d])));
    return n.known ? arena_printf(x->w->m->mem, ", %s iterations", formula_text(x->w, n)) : "";
}

static void explain_task(looper *x, const ir_op *task)
{
    if (is_same_place(task->loc, x->last))
        return;
    x->last = task->loc;
    const bool primal = !x->f->ad.primal;
    const bool backwards = x->f->kind == IR_KERNEL_GRAD || x->f->kind == IR_KERNEL_HVP;
    say(x->w, "  - ", "%s: parallel loop%s%s%s. %s %s", line_of(x->w, task->loc), indices_text(x, task),
        primal ? iterations_text(x, task) : "", backwards ? ", reverse sweep" : "", threads_text(x, task),
        vectors_text(x, task));
    if (ir_task_attr(task)->nreductions && !x->reduces)
        say(x->w, "    - ",
            "sums, minima and maxima over all iterations: one for each chunk of the loop, combined in the order of the "
            "chunks. The bits are the same on any number of threads.");
}

/* ---- writes ---- */

static const char *target_name(const looper *x, const ir_op *op)
{
    if (op->code == OP_LACCUM)
        return op->args[0]->name ? op->args[0]->name : "a local array";
    return arena_printf(x->w->m->mem, "%s%s", ir_field_of(op)->name, ir_plane_text(ir_access_attr(op)->plane));
}

static void tell_targets(looper *x)
{
    if (x->w->m->debug)
        x->why = IR_SCATTER_NONE;
    if (x->targets.len)
        say(x->w, x->in_task ? "    - " : "  - ", "%s: %s.%s%s%s", joined(x->w, &x->targets),
            x->w->m->debug ? "a plain write" : ir_class_words(x->class), x->why ? " No gather: " : "",
            ir_scatter_reason_text(x->why), x->why ? "." : "");
    sb_clear(&x->targets);
}

static void tell(const explained *e, void *ctx)
{
    looper *x = ctx;
    if (e->op->code == OP_TASK) {
        tell_targets(x);
        if (e->called)
            say(x->w, "    - ", "functions that it calls add to %s: %s.", e->called->field->name,
                ir_class_words(e->class));
        else
            explain_task(x, e->op);
        return;
    }
    const bool in_task = ir_task_of(e->op) != NULL;
    if (x->class != e->class || x->why != e->why || x->in_task != in_task)
        tell_targets(x);
    x->class = e->class;
    x->why = e->why;
    x->in_task = in_task;
    add_name(&x->targets, arena_printf(x->w->m->mem, "%s %s (%s)", target_name(x, e->op),
                                       e->op->code == OP_STORE    ? "="
                                       : e->op->code == OP_ATOMIC ? "by an atomic"
                                                                  : "+=",
                                       line_of(x->w, e->op->loc)));
}

static void find_reduction(const explained *e, void *ctx)
{
    looper *x = ctx;
    x->reduces |= e->class == IR_CLASS_REDUCE;
}

/* ---- loops that are not parallel ---- */

static void explain_serial(words *w, const ir_func *f)
{
    const func_notes *n = notes_of(w, f);
    for (size_t i = 0; n && i < n->at.len; i++) {
        const note *x = &n->at.at[i];
        if (x->kind == NOTE_LOOP)
            say(w, "  - ", "%s: a serial loop. Its trips run in order, on the launching thread.", line_of(w, x->loc));
        else if (x->kind == NOTE_INNER)
            say(w, "  - ", "%s: an inner loop. Each iteration of the parallel loop runs its trips in order.",
                line_of(w, x->loc));
        else if (x->kind == NOTE_WHILE)
            say(w, "  - ", "%s: a loop with a condition. Its trips run in order.", line_of(w, x->loc));
    }
}

/* Of a sweep, which the program cannot call, the function that runs it. */
static const char *name_of_user(const ir_func *f)
{
    const ir_func *k = f->ad.elements_of;
    const char *word = k && ir_request_of(k, IR_DERIVE_BLOCKS) ? "hess" : "jac";
    return k ? arena_printf(k->module->mem, "%s_%s", k->name, word) : f->name;
}

void explain_loops(words *w, const ir_func *f)
{
    const bool primal = !f->ad.primal;
    looper x = {.w = w, .f = f};
    explain_writes(f, find_reduction, &x);
    strbuf *out = w->out, own = {0};
    w->out = &own;
    if (primal)
        explain_serial(w, f);
    explain_writes(f, tell, &x);
    tell_targets(&x);
    for (size_t i = 0; f->launch.distinct && i < w->m->nfields; i++)
        if (f->launch.distinct[i])
            say(w, "  - ",
                "it relies on distinct elements of %s. A launch checks them first, and fails if two are equal.",
                w->m->fields.at[i]->name);
    sb_free(&x.targets);
    w->out = out;
    if (own.len)
        say(w, "  ", primal ? "How it runs:" : "How %s_%s runs:", w->m->name, name_of_user(f));
    sb_add(out, sb_str(&own));
    sb_free(&own);
}
