/* What derivatives make of a program, for an editor: which values are active and why, which ones adjoints read again,
 * how writes are made parallel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lsp/unit.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"

/* ---- of what is compiled ---- */

typedef struct collector {
    unit *u;
    const ir_func *f;
} collector;

static void collect_load(ir_op *op, void *ctx)
{
    const collector *c = ctx;
    if (op->code != OP_LOAD || !ir_access_attr(op)->needed || ir_access_attr(op)->plane != IR_DATA)
        return;
    const ir_field *field = ir_field_of(op);
    for (size_t i = 0; i < c->u->facts.len; i++) { /* components of a vector are one */
        const unit_fact *f = &c->u->facts.at[i];
        if (f->needed == field && f->at.line == op->loc.line && f->at.col == op->loc.col && f->kernel == c->f->name)
            return;
    }
    vec_push(&c->u->facts, ((unit_fact){.at = op->loc, .kernel = c->f->name, .needed = field, .text = ""}));
}

/* Lines "  PATH:LINE:COLUMN: TEXT". */
static void collect_explained(unit *u, const ir_func *f)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        abort();
    explain_kernel(out, f);
    fclose(out);
    const size_t n = strlen(u->path);
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        unsigned at_line, at_col;
        int used = 0;
        if (strncmp(line, "  ", 2) != 0 || strncmp(line + 2, u->path, n) != 0 ||
            sscanf(line + 2 + n, ":%u:%u: %n", &at_line, &at_col, &used) != 2 || !used)
            continue;
        vec_push(&u->facts, ((unit_fact){.at = {at_line, (uint16_t)at_col, u->ast->file},
                                         .kernel = f->name,
                                         .text = arena_strdup(u->mem, line + 2 + n + used)}));
    }
    free(text);
}

void unit_find_facts(unit *u)
{
    for (size_t i = 0; i < u->ir->funcs.len; i++) {
        const ir_func *f = u->ir->funcs.at[i];
        if (f->kind == IR_FUNC)
            continue;
        collector c = {u, f};
        if (f->kind == IR_KERNEL && f->ad.grad)
            ir_walk(f->body, collect_load, &c);
        collect_explained(u, f);
    }
}

/* ---- activity ---- */

typedef struct trace {
    const ir_func *f;
    const activity *a;
    const char *name;
    unsigned from, until; /* lines */
    bool *seen;           /* by value id */
    bool found, varied, useful, wide;
    bool changed;
    const ir_op *source, *target; /* where it comes from; goes to */
    bool to_result;
} trace;

static void trace_value(trace *t, const ir_value *v)
{
    if (!v->name || strcmp(v->name, t->name) != 0 || v->loc.line < t->from || (t->until && v->loc.line >= t->until) ||
        !scalar_is_float(v->type) || v->id >= t->a->n)
        return;
    t->found = true;
    t->varied = t->varied || t->a->varied[v->id];
    t->useful = t->useful || t->a->useful[v->id];
    if (activity_has(t->a, v))
        t->wide = true;
    t->seen[v->id] = true;
}

static void each_value(ir_op *op, void *ctx)
{
    for (int i = 0; i < op->nres; i++)
        trace_value(ctx, op->res[i]);
    for (int r = 0; r < op->nregions; r++)
        for (int i = 0; i < op->regions[r]->nparams; i++)
            trace_value(ctx, op->regions[r]->params[i]);
}

static void mark(trace *t, const bool *within, const ir_value *v)
{
    if (v->id >= t->a->n || t->seen[v->id] || !within[v->id])
        return;
    t->seen[v->id] = true;
    t->changed = true;
}

static bool is_seen(const trace *t, const ir_value *v)
{
    return v->id < t->a->n && t->seen[v->id];
}

static bool any_seen(const trace *t, ir_value *const *v, int n)
{
    for (int i = 0; i < n; i++)
        if (is_seen(t, v[i]))
            return true;
    return false;
}

static bool has_gradient(const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    return f && f->grad && ir_access_attr(op)->plane == IR_DATA;
}

static void mark_all(trace *t, const bool *within, ir_value *const *v, int n)
{
    for (int i = 0; i < n; i++)
        mark(t, within, v[i]);
}

/* One step against the flow: what feeds the values that are seen. */
static void feed(ir_op *op, void *ctx)
{
    trace *t = ctx;
    const bool *within = t->a->varied;
    const bool stores = (op->code == OP_LSTORE || op->code == OP_LACCUM) && is_seen(t, op->args[0]);
    bool wanted = stores || any_seen(t, op->res, op->nres);
    for (int r = 0; r < op->nregions; r++)
        wanted = wanted || any_seen(t, op->regions[r]->params, op->regions[r]->nparams);
    if (!wanted)
        return;
    if (!t->source && op->code == OP_LOAD && has_gradient(op))
        t->source = op;
    mark_all(t, within, op->args, op->nargs);
    for (int r = 0; r < op->nregions; r++)
        if (op->regions[r]->last)
            mark_all(t, within, op->regions[r]->last->args, op->regions[r]->last->nargs);
}

/* One step along the flow. */
static void spread(ir_op *op, void *ctx)
{
    trace *t = ctx;
    const bool *within = t->a->useful;
    if (!any_seen(t, op->args, op->nargs))
        return;
    if (op->code == OP_STORE || op->code == OP_ACCUM || op->code == OP_ATOMIC) {
        if (!t->target && has_gradient(op))
            t->target = op;
    } else if (op->code == OP_LSTORE || op->code == OP_LACCUM) {
        mark(t, within, op->args[0]);
    } else if (op->code == OP_YIELD) {
        const ir_op *parent = op->region->parent;
        if (!parent) {
            t->to_result = true;
            return;
        }
        mark_all(t, within, parent->res, parent->nres);
        for (int r = 0; r < parent->nregions; r++)
            mark_all(t, within, parent->regions[r]->params, parent->regions[r]->nparams);
    }
    mark_all(t, within, op->res, op->nres);
    for (int r = 0; r < op->nregions; r++)
        mark_all(t, within, op->regions[r]->params, op->regions[r]->nparams);
}

static void find_values(trace *t)
{
    memset(t->seen, 0, t->a->n + 1);
    const unsigned from = t->from;
    t->from = 0; /* nothing else is called as a parameter is */
    for (int i = 0; i < t->f->body->nparams; i++)
        trace_value(t, t->f->body->params[i]);
    t->from = from;
    ir_walk(t->f->body, each_value, t);
}

static void follow(trace *t, void (*step)(ir_op *op, void *ctx))
{
    enum { SWEEPS = 50 }; /* it is for a hint: what is farther away than that is not told */
    find_values(t);
    t->changed = true;
    for (int k = 0; k < SWEEPS && t->changed; k++) {
        t->changed = false;
        ir_walk(t->f->body, step, t);
    }
}

static const char *place_name(unit *u, const ir_op *op, const char *otherwise)
{
    return op ? arena_printf(u->mem, "`%s` (line %u)", ir_field_of(op)->name, (unsigned)op->loc.line) : otherwise;
}

static const char *in_words(unit *u, const trace *t)
{
    const char *source = place_name(u, t->source, "a field or parameter");
    const char *target = place_name(u, t->target, t->to_result ? "the result" : "a field or result");
    if (t->wide)
        return arena_printf(u->mem, "**Active**: it depends on %s, and %s depends on it; both have gradients.", source,
                            target);
    if (t->varied && !t->useful)
        return arena_printf(u->mem, "Not active: it depends on %s, but nothing that has a gradient depends on it.",
                            source);
    if (t->useful && !t->varied)
        return arena_printf(u->mem, "Not active: %s depends on it, but it depends on nothing that has a gradient.",
                            target);
    return "Not active: it depends on nothing that has a gradient, and nothing that has one depends on it.";
}

const char *unit_activity(unit *u, const ast_item *item, const char *name, unsigned from, unsigned until)
{
    const ir_func *f = NULL;
    for (size_t i = 0; u->reached == UNIT_LOWERED && i < u->ir->funcs.len && !f; i++)
        if (u->ir->funcs.at[i]->kind == IR_KERNEL && !strcmp(u->ir->funcs.at[i]->name, item->name))
            f = u->ir->funcs.at[i];
    if (!f || !(ir_derives(f) & IR_DERIVE_GRAD) || f->ad.no_grad)
        return NULL;
    activity a = activity_compute(f, ACTIVITY_REVERSE);
    trace t = {.f = f, .a = &a, .name = name, .from = from, .until = until, .seen = xmalloc(a.n + 1)};
    follow(&t, feed);
    follow(&t, spread);
    const char *text = t.found ? in_words(u, &t) : NULL;
    free(t.seen);
    activity_free(&a);
    return text;
}

/* ---- active names ---- */

typedef struct finder {
    unit *u;
    const ir_func *f;
    const activity *a;
} finder;

static void find_value(finder *f, const ir_value *v)
{
    if (v->name && v->id < f->a->n && activity_has(f->a, v))
        vec_push(&f->u->active, ((unit_active){f->f->name, v->name, v->loc.line}));
}

static void find_values_of(ir_op *op, void *ctx)
{
    for (int i = 0; i < op->nres; i++)
        find_value(ctx, op->res[i]);
    for (int r = 0; r < op->nregions; r++)
        for (int i = 0; i < op->regions[r]->nparams; i++)
            find_value(ctx, op->regions[r]->params[i]);
}

void unit_find_active(unit *u)
{
    for (size_t i = 0; i < u->ir->funcs.len; i++) {
        const ir_func *f = u->ir->funcs.at[i];
        if (f->kind != IR_KERNEL || !(ir_derives(f) & IR_DERIVE_GRAD) || f->ad.no_grad)
            continue;
        activity a = activity_compute(f, ACTIVITY_REVERSE);
        finder one = {u, f, &a};
        ir_walk(f->body, find_values_of, &one);
        activity_free(&a);
    }
}

bool unit_is_active(const unit *u, const char *kernel, const char *name, unsigned from, unsigned until)
{
    for (size_t i = 0; i < u->active.len; i++) {
        const unit_active *a = &u->active.at[i];
        if (a->line >= from && (!until || a->line < until) && !strcmp(a->name, name) && !strcmp(a->kernel, kernel))
            return true;
    }
    return false;
}
