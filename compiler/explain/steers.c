/* Components of fields and arguments that a kernel reads without a gradient: most of them only decide. */
#include <stdlib.h>
#include <string.h>

#include "explain/words.h"
#include "ir/ops.h"
#include "passes/analysis/activity.h"

/* ---- which components ---- */

typedef struct touched {
    const ir_field *field;
    ir_plane plane;
    bool loads; /* else stores and additions */
    bool *at;   /* by component */
} touched;

static bool is_touched(const touched *t, const ir_op *op)
{
    return op_accesses_field(op->code) && ir_field_of(op) == t->field && ir_access_attr(op)->plane == t->plane &&
           (op->code == OP_LOAD) == t->loads;
}

/* The component of an access; -1: any. */
static int64_t component_of(const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    if (!ir_component_known(op))
        return -1;
    const int64_t c = ir_int(op->args[f->ndim]);
    return c >= 0 && c < ir_field_ncomp(f) ? c : -1;
}

static void mark_touched(ir_op *op, void *ctx)
{
    const touched *t = ctx;
    if (!is_touched(t, op))
        return;
    const int64_t c = component_of(op);
    for (int64_t i = 0; i < ir_field_ncomp(t->field); i++)
        t->at[i] |= c == i || c < 0;
}

/* In f and the functions that it calls. */
static bool *components(const words *w, const ir_func *f, const ir_field *field, ir_plane plane, bool loads)
{
    const touched t = {field, plane, loads, ARENA_ARRAY(w->m->mem, bool, ir_field_ncomp(field) + 1)};
    ptrmap reached = {0};
    ir_reach(&reached, (ir_func *)f);
    for (size_t i = 0; i < w->m->funcs.len; i++)
        if (ptrmap_get(&reached, w->m->funcs.at[i]))
            ir_walk(w->m->funcs.at[i]->body, mark_touched, (void *)&t);
    ptrmap_free(&reached);
    return t.at;
}

static const char *component_name(const words *w, const char *name, ir_shape_kind shape, int rows, int cols, int c)
{
    return shape == IR_SHAPE_SCALAR ? name
           : shape == IR_SHAPE_MAT  ? arena_printf(w->m->mem, "entry %d,%d of %s", c / cols, c % cols, name)
           : rows <= 4              ? arena_printf(w->m->mem, "%s.%c", name, "xyzw"[c])
                                    : arena_printf(w->m->mem, "entry %d of %s", c, name);
}

/* ---- where a derivative ends ---- */

typedef struct trail {
    const words *w;
    flow flow;
    const touched *from; /* loads; NULL: a parameter */
    strbuf ends;         /* "i32() in line 7" */
    bool goes_on;        /* into memory, or to a result */
} trail;

static bool never(void *ctx, const ir_field *field, ir_plane plane)
{
    (void)ctx, (void)field, (void)plane;
    return false;
}

static unsigned nothing(void *ctx, const ir_func *f)
{
    (void)ctx, (void)f;
    return 0;
}

static void begin(ir_op *op, void *ctx)
{
    const trail *t = ctx;
    if (!is_touched(t->from, op))
        return;
    const int64_t c = component_of(op);
    t->flow.varied[op->res[0]->id] = c < 0 || t->from->at[c];
}

static bool is_varied(const trail *t, const ir_value *v)
{
    return scalar_is_float(v->type) && t->flow.varied[v->id];
}

static void note_end(trail *t, const ir_op *op)
{
    const ir_func *callee = op->code == OP_CALL ? ir_callee_of(op) : NULL;
    const bool compares = !callee && op->code != OP_CAST && !scalar_is_float(op->res[0]->type);
    const char *what = callee && callee->prelude ? "a built-in function"
                       : callee                  ? arena_printf(t->w->m->mem, "%s()", callee->name)
                       : compares                ? "a comparison"
                       : op->code == OP_CAST     ? arena_printf(t->w->m->mem, "%s()", scalar_name(op->res[0]->type))
                                                 : arena_printf(t->w->m->mem, "%s()", op_name(op->code));
    add_name(&t->ends, arena_printf(t->w->m->mem, "%s in %s", what, line_of(t->w, op->loc)));
}

static void follow(ir_op *op, void *ctx)
{
    trail *t = ctx;
    bool gives = false;
    for (int i = 0; i < op->nres; i++)
        gives |= is_varied(t, op->res[i]);
    const bool pure = op_is_pure_table(op->code) || op->code == OP_CALL;
    for (int i = 0; i < op->nargs; i++) {
        if (!is_varied(t, op->args[i]))
            continue;
        if (pure && !gives)
            note_end(t, op);
        else if (pure && op_is_pure_table(op->code) && op_zero_derivative(op->code, i))
            note_end(t, op);
        t->goes_on |= op_accesses_field(op->code) || (op->code == OP_YIELD && !op->region->parent);
    }
}

/* In one function, after those of its values were marked that are looked for. */
static void follow_in(trail *t, const ir_func *f, const ir_sigparam *p, const bool *which)
{
    t->flow = flow_create(f);
    t->flow.load_active = never;
    t->flow.store_active = never;
    t->flow.callee = nothing;
    if (t->from)
        ir_walk(f->body, begin, t);
    for (int c = 0; p && c < p->rows * p->cols; c++)
        t->flow.varied[f->body->params[p->first + c]->id] = which[c];
    flow_vary(&t->flow);
    ir_walk(f->body, follow, t);
    flow_free(&t->flow);
}

/* names: of what is read and has no gradient. */
static void tell(words *w, const ir_func *k, const strbuf *names, const trail *t, bool argument)
{
    const func_notes *n = notes_of(w, k);
    const bool many = strstr(sb_str(names), ", ") != NULL;
    const char *of = joined(w, names);
    const char *result = argument ? many ? "their gradients are zero" : "its gradient is zero"
                         : many   ? "no gradient flows to them"
                                  : "no gradient flows to it";
    if (!t->goes_on && t->ends.len)
        say(w, "  - ", "%s only decide%s (%s): %s.", of, many ? "" : "s", joined(w, &t->ends), result);
    else if (has_note(n, NOTE_STOP))
        say(w, "  - ", "%s %s behind stop_grad (%s): %s.", of, many ? "are" : "is", lines_of(w, n, NOTE_STOP), result);
    else
        say(w, "  - ", "%s reach%s no value with a gradient: %s.", of, many ? "" : "es", result);
}

void explain_steering(words *w, const ir_func *k, const ir_field *f)
{
    if (!scalar_is_float(f->elem) || !f->grad || (f->array && !f->in) || k->ad.grad == k->ad.custom_grad)
        return;
    bool *read = components(w, k, f, IR_DATA, true);
    const bool *has = components(w, k->ad.grad, f, ir_adjoint_of(IR_DATA), false);
    const int n = ir_field_ncomp(f);
    strbuf names = {0};
    bool whole = true;
    for (int c = 0; c < n; c++) {
        whole &= !has[c];
        read[c] &= !has[c];
        if (read[c])
            add_name(&names, component_name(w, f->name, f->shape, f->rows, f->cols, c));
    }
    if (names.len && whole) {
        sb_clear(&names);
        add_name(&names, f->name);
    }
    if (names.len) {
        const touched from = {f, IR_DATA, true, read};
        trail t = {.w = w, .from = &from};
        ptrmap reached = {0};
        ir_reach(&reached, (ir_func *)k);
        for (size_t i = 0; i < w->m->funcs.len; i++)
            if (ptrmap_get(&reached, w->m->funcs.at[i]))
                follow_in(&t, w->m->funcs.at[i], NULL, NULL);
        tell(w, k, &names, &t, false);
        ptrmap_free(&reached);
        sb_free(&t.ends);
    }
    sb_free(&names);
}

void explain_steering_argument(words *w, const ir_func *k, const ir_sigparam *p, const char *name)
{
    if (!k->ad.grad || k->ad.grad == k->ad.custom_grad || p->array || !scalar_is_float(p->elem))
        return;
    int first = 0, all = 0;
    for (int i = 0; i < k->nsig; i++) {
        const ir_sigparam *q = &k->sig[i];
        if (q == p)
            first = all;
        if (!q->array && scalar_is_float(q->elem) && (q->grad || k->pure))
            all += q->rows * q->cols;
    }
    const ir_op *y = ir_yield_of(k->ad.grad->body);
    uint32_t *uses = ir_count_uses(k);
    strbuf names = {0};
    const int n = p->rows * p->cols;
    bool *decides = ARENA_ARRAY(w->m->mem, bool, n + 1);
    int zero = 0;
    for (int c = 0; c < n && y->nargs >= all; c++) {
        const ir_value *v = y->args[y->nargs - all + first + c];
        const bool is = ir_is_const(v) && ir_float(v) == 0.0;
        zero += is;
        decides[c] = is && uses[k->body->params[p->first + c]->id];
        if (decides[c])
            add_name(&names, component_name(w, name, p->shape, p->rows, p->cols, c));
    }
    if (names.len && zero == n) {
        sb_clear(&names);
        add_name(&names, name);
    }
    if (names.len) {
        trail t = {.w = w};
        follow_in(&t, k, p, decides);
        tell(w, k, &names, &t, true);
        sb_free(&t.ends);
    }
    sb_free(&names);
    free(uses);
}
