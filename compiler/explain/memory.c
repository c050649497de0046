/* What fields, launches, tapes and adjoints take. */
#include <string.h>

#include "explain/words.h"
#include "ir/ops.h"

/* ---- fields ---- */

static const char *type_text(const words *w, const ir_field *f)
{
    const char *elem = scalar_name(f->elem);
    return f->shape == IR_SHAPE_VEC   ? arena_printf(w->m->mem, "vectors of %d %s", f->rows, elem)
           : f->shape == IR_SHAPE_MAT ? arena_printf(w->m->mem, "%d x %d matrices of %s", f->rows, f->cols, elem)
                                      : elem;
}

/* Bytes of all planes, one summand for each number of elements. */
typedef struct total {
    VEC(formula) elements;
    VEC(int64_t) bytes;
} total;

static void add_planes(total *t, formula elements, int64_t bytes)
{
    for (size_t i = 0; i < t->elements.len; i++) {
        const formula *e = &t->elements.at[i];
        if (e->text && elements.text ? !strcmp(e->text, elements.text)
                                     : !e->text && !elements.text && e->valued == elements.valued) {
            t->bytes.at[i] += bytes * (e->text || !e->valued ? 1 : elements.value);
            return;
        }
    }
    vec_push(&t->bytes, elements.text || !elements.valued ? bytes : bytes * elements.value);
    vec_push(&t->elements, elements.text || !elements.valued ? elements : formula_number(1));
}

static formula sum_up(const words *w, total *t)
{
    formula sum = formula_number(0);
    for (size_t i = 0; i < t->elements.len; i++)
        sum = formula_join(w, '+', sum, formula_join(w, '*', formula_number(t->bytes.at[i]), t->elements.at[i]));
    vec_free(&t->elements);
    vec_free(&t->bytes);
    return sum;
}

static bool has_second_order(const ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i]->ad.hvp)
            return true;
    return false;
}

void explain_fields(words *w)
{
    total all = {0};
    for (size_t i = 0; i < w->m->nfields; i++) {
        const ir_field *f = w->m->fields.at[i];
        const formula n = field_elements(w, f);
        const bool second = f->grad && has_second_order(w->m);
        add_planes(&all, n, (int64_t)(1 + f->grad + f->dual + second) * ir_field_ncomp(f) * scalar_bytes(f->elem));
        say(w, "  ", "%s: %s%s, %s%s%s%s%s%s%s.", f->name, type_text(w, f),
            f->ndim == 0 ? ""
            : n.text     ? arena_printf(w->m->mem, ", %s of them", n.text)
                         : arena_printf(w->m->mem, ", %lld of them", (long long)n.value),
            bytes_text(w, field_bytes(w, f)), f->grad ? ", as many for its gradient" : "",
            f->dual ? ", for its dual" : "", second ? ", for its gradient's dual" : "",
            f->saved ? "; saved: launches may overwrite what adjoints need" : "",
            f->scratch ? "; scratch: zero when a launch begins" : "",
            f->distinct ? "; distinct: no two elements are the same number" : "");
    }
    if (w->m->nfields)
        say(w, "  ", "All together %s, but for what is lazy, or bound to memory of the host.",
            bytes_text(w, sum_up(w, &all)));
}

/* ---- what the adjoint needs, and what a tape keeps ---- */

typedef struct needs {
    const words *w;
    const ir_field *field;
    strbuf lines;
} needs;

static void find_needed(ir_op *op, void *ctx)
{
    needs *n = ctx;
    if (op->code == OP_LOAD && ir_access_attr(op)->needed && ir_field_of(op) == n->field)
        add_line(n->w, &n->lines, op->loc);
}

static unsigned adjoint_reads(words *w, const ir_func *k, const ir_field *f)
{
    return facts_of(&w->facts, k->ad.grad)->planes[ir_storage_of(f, IR_DATA)] & OP_READS;
}

/* What is asked of the values of a field in between. */
static const char *const keeping[] = {
    "scratch, which the adjoint computes again",
    "as the launch found them; the field is saved, so the tape brings them back",
    "which must still be in the host's array when the tape ends",
    ("which must be the same when the tape ends: a launch that would change them is refused, or they are kept with the "
     "tape where only the launch can tell. What the host writes in between no tape sees"),
};

static int keeping_of(const ir_field *f)
{
    return f->scratch ? 0 : f->saved ? 1 : f->array ? 2 : 3;
}

static bool explain_values(words *w, const ir_func *k)
{
    bool any = false;
    for (int way = 0; way < (int)(sizeof keeping / sizeof *keeping); way++) {
        strbuf names = {0};
        for (size_t i = 0; i < w->m->fields.len; i++) {
            const ir_field *f = w->m->fields.at[i];
            if ((f->array && !f->launched) || keeping_of(f) != way || !adjoint_reads(w, k, f))
                continue;
            needs n = {w, f, {0}};
            ir_walk(k->body, find_needed, &n);
            for (char *at = n.lines.s; at && *at; at++)
                *at = *at == ',' ? ';' : *at; /* the last comma is that between names */
            add_name(&names,
                     n.lines.len ? arena_printf(w->m->mem, "%s (line %s)", f->name, sb_str(&n.lines)) : f->name);
            sb_free(&n.lines);
        }
        if (names.len)
            say(w, "  - ", "the values of %s, %s.", joined(w, &names), keeping[way]);
        any |= names.len > 0;
        sb_free(&names);
    }
    return any;
}

typedef struct record {
    words *w;
    bool any;
} record;

static void find_record(ir_op *op, void *ctx)
{
    record *r = ctx;
    if (op->code != OP_REC_ALLOC)
        return;
    const ir_layout *l = ir_slot_attr(op)->layout;
    const formula bytes = formula_join(r->w, '*', l ? layout_bytes(l) : formula_number(8),
                                       formula_of(r->w, op->args[1]));
    say(r->w, "  - ", "%s: %s, %s.", line_of(r->w, op->loc),
        l && l->winners ? "who set the minimum or maximum" : "what the atomics gave", bytes_text(r->w, bytes));
    r->any = true;
}

static void explain_tape(words *w, const ir_func *k)
{
    strbuf *out = w->out, own = {0};
    w->out = &own;
    record r = {w, false};
    ir_walk(k->body, find_record, &r);
    for (size_t i = 0; i < w->m->nfields; i++) {
        const ir_field *f = w->m->fields.at[i];
        const unsigned what = ir_touches(k, f);
        if (what & IR_PART_BEFORE_WANTED)
            say(w, "  - ", "%s as it was before the launch, a copy of %s.", f->name, bytes_text(w, field_bytes(w, f)));
        else if ((what & IR_PART_SAVED) && (what & IR_PART_WRITES))
            say(w, "  - ", "%s as it was, a copy of %s, where an earlier launch on the tape needs it.", f->name,
                bytes_text(w, field_bytes(w, f)));
    }
    w->out = out;
    if (own.len)
        say(w, "  ", "A tape keeps for each launch its arguments and");
    else
        say(w, "  ", "A tape keeps for each launch its arguments and nothing else.");
    sb_add(out, sb_str(&own));
    sb_free(&own);
}

void explain_needs(words *w, const ir_func *k)
{
    if (!k->ad.grad || k->pure)
        return;
    strbuf *out = w->out, own = {0};
    w->out = &own;
    const bool any = explain_values(w, k);
    w->out = out;
    say(w, "  ", any ? "The adjoint needs" : "The adjoint needs no values of fields.");
    sb_add(out, sb_str(&own));
    sb_free(&own);
    explain_tape(w, k);
}

/* ---- what a launch takes while it runs ---- */

typedef struct taken {
    words *w;
    VEC(const ir_layout *) told;
} taken;

/* Of a loop that stands twice, over whole strips and behind them, both have blocks, one after the other. */
static bool is_told(taken *t, const ir_layout *l)
{
    for (size_t i = 0; i < t->told.len; i++)
        if (t->told.at[i] == l)
            return true;
    vec_push(&t->told, l);
    return false;
}

/* Whether what is allocated in r is free again when r ends. */
static bool is_released(const ir_region *r)
{
    for (const ir_op *op = r->first; op; op = op->next)
        if (op->code == OP_STK_RELEASE)
            return true;
    return false;
}

/* What stays for all trips of the loops around it counts as often as they run. */
static formula times_trips(const words *w, const ir_op *op, formula bytes)
{
    for (const ir_region *r = op->region; r->parent && r->parent->code != OP_TASK && !is_released(r);
         r = r->parent->region) {
        const ir_op *loop = r->parent;
        if (loop->code != OP_LOOP)
            continue;
        if (!ir_loop_attr(loop)->bounded)
            return (formula){0};
        bytes = formula_join(w, '*', bytes,
                             formula_join(w, '-', formula_of(w, loop->args[1]), formula_of(w, loop->args[0])));
    }
    return bytes;
}

static void take_block(const taken *t, const ir_op *op, formula bytes, const char *what)
{
    const formula all = times_trips(t->w, op, bytes);
    say(t->w, "  - ", "%s: %s, %s%s.", line_of(t->w, op->loc), what,
        all.text || all.valued ? bytes_text(t->w, all) : "as much as the trips make that its loops run",
        ir_task_of(op) ? ", in each iteration that a thread is at" : "");
}

static void find_taken(ir_op *op, void *ctx)
{
    taken *t = ctx;
    words *w = t->w;
    if (op->code == OP_STK_ALLOC) {
        const ir_layout *l = ir_slot_attr(op)->layout;
        if (is_told(t, l))
            return;
        take_block(t, op, formula_join(w, '*', layout_bytes(l), formula_of(w, op->args[0])),
                   "what the way back needs of the loop's trips");
    } else if (op->code == OP_LOCAL && (ir_local_attr(op)->stacked || op->nargs)) {
        const formula n = op->nargs ? formula_of(w, op->args[0]) : formula_number(ir_local_attr(op)->count);
        take_block(t, op, formula_join(w, '*', formula_number(scalar_bytes(ir_local_attr(op)->elem)), n),
                   "a local array");
    } else if (op->code == OP_TASK && !w->m->debug) {
        for (int i = 0; i < ir_task_attr(op)->nscatters; i++) {
            const ir_scatter *s = &ir_task_attr(op)->scatters[i];
            if (!s->shared && !s->nfixed)
                say(w, "  - ",
                    "%s: private copies of %s%s, where they pay: up to %s for each thread but the first; never "
                    "more than 256 MiB.",
                    line_of(w, op->loc), s->field->name, ir_plane_text(s->plane),
                    bytes_text(w, field_bytes(w, s->field)));
            else if (!s->shared)
                say(w, "  - ",
                    "%s: private copies of the slab of %s%s that it adds to, where they pay; never more than "
                    "256 MiB.",
                    line_of(w, op->loc), s->field->name, ir_plane_text(s->plane));
        }
    }
}

void explain_memory(words *w, const ir_func *f)
{
    strbuf *out = w->out, own = {0};
    w->out = &own;
    taken t = {.w = w};
    ir_walk(f->body, find_taken, &t);
    vec_free(&t.told);
    w->out = out;
    if (own.len)
        say(w, "  ", "While %s_%s runs it takes", w->m->name, f->name);
    sb_add(out, sb_str(&own));
    sb_free(&own);
}

void explain_workspace(words *w, const ir_func *k)
{
    const ir_func *const derived[] = {k->ad.grad, k->ad.jvp, k->ad.hvp};
    static const char *const names[] = {"grad", "jvp", "hvp"};
    for (int i = 0; i < 3; i++) {
        const ir_func *size = derived[i] && derived[i] != k ? derived[i]->ad.workspace : NULL;
        if (!size)
            continue;
        w->owner = k;
        const formula bytes = formula_of(w, ir_yield_of(size->body)->args[0]);
        w->owner = NULL;
        say(w, "  ", "%s_%s_%s takes a workspace from its caller: %s_%s_%s_WORKSPACE, %s.", w->m->name, k->name,
            names[i], w->m->name, k->name, names[i],
            bytes.text || bytes.valued ? bytes_text(w, bytes) : "a formula in the header");
    }
    if (k->ad.grad && !k->ad.grad->ad.workspace)
        say(w, "  ", "Nothing here takes memory but C's stack.");
}
