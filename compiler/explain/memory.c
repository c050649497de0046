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

static bool has_second_order(const ir_module *m)
{
    for (size_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.at[i]->ad.hvp)
            return true;
    return false;
}

static const char *planes_text(const words *w, const ir_field *f, bool second)
{
    strbuf b = {0};
    const char *const names[] = {f->grad ? "gradient" : NULL, f->dual ? "dual" : NULL,
                                 second ? "dual of the gradient" : NULL};
    for (int i = 0; i < 3; i++)
        if (names[i])
            add_name(&b, names[i]);
    const char *text = b.len ? arena_printf(w->m->mem, " Its %s take%s as much.", joined(w, &b),
                                            strchr(sb_str(&b), ',') ? "" : "s")
                             : "";
    sb_free(&b);
    return text;
}

void explain_fields(words *w)
{
    formula all = formula_number(0);
    for (size_t i = 0; i < w->m->nfields; i++) {
        const ir_field *f = w->m->fields.at[i];
        const formula n = field_elements(w, f), bytes = field_bytes(w, f);
        const bool second = f->grad && has_second_order(w->m);
        all = formula_join(w, '+', all, formula_join(w, '*', formula_number(1 + f->grad + f->dual + second), bytes));
        say(w, "  ", "%s: %s%s, %s.%s%s%s%s", f->name, type_text(w, f),
            f->ndim && n.known ? arena_printf(w->m->mem, ", %s elements", formula_text(w, n)) : "",
            bytes_text(w, bytes), planes_text(w, f, second),
            f->saved ? " It is saved: launches may overwrite values that adjoints need." : "",
            f->scratch ? " It is scratch: zero at the start of each launch." : "",
            f->distinct ? " It is distinct: its elements differ from each other." : "");
    }
    if (w->m->nfields)
        say(w, "  ", "All fields together: %s, less if planes are lazy or in memory of the host.", bytes_text(w, all));
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

/* What the values of a field have to be when the tape ends. */
static const char *const keeping[] = {
    "They are scratch: the adjoint computes them again.",
    "The field is saved, so the tape restores the values that the launch found.",
    "They must still be in the host's array when the tape ends.",
    ("They must be the same when the tape ends. A launch that surely changes them is an error. Before a launch that "
     "may "
     "change them, the tape keeps a copy. A tape does not detect writes of the host."),
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
            say(w, "  - ", "the values of %s. %s", joined(w, &names), keeping[way]);
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
        l && l->winners ? "the winners of minima and maxima" : "the old values of atomics", bytes_text(r->w, bytes));
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
            say(w, "  - ", "a copy of %s from before the launch, %s.", f->name, bytes_text(w, field_bytes(w, f)));
        else if ((what & IR_PART_SAVED) && (what & IR_PART_WRITES))
            say(w, "  - ", "a copy of %s from before the launch, %s, if an earlier launch of the tape needs it.",
                f->name, bytes_text(w, field_bytes(w, f)));
    }
    w->out = out;
    if (own.len)
        say(w, "  ", "A tape keeps the arguments of each launch, and");
    else
        say(w, "  ", "A tape keeps only the arguments of each launch.");
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
        all.known ? bytes_text(t->w, all) : "a size that depends on the trips", ir_task_of(op) ? ", per thread" : "");
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
                   "values of the trips for the reverse sweep");
    } else if (op->code == OP_LOCAL && (ir_local_attr(op)->stacked || op->nargs)) {
        const formula n = op->nargs ? formula_of(w, op->args[0]) : formula_number(ir_local_attr(op)->count);
        take_block(t, op, formula_join(w, '*', formula_number(scalar_bytes(ir_local_attr(op)->elem)), n),
                   "a local array");
    } else if (op->code == OP_TASK && !w->m->debug) {
        for (int i = 0; i < ir_task_attr(op)->nscatters; i++) {
            const ir_scatter *s = &ir_task_attr(op)->scatters[i];
            if (!s->shared && !s->nfixed)
                say(w, "  - ",
                    "%s: private copies of %s%s if they pay. Each thread except the first takes up to %s, all "
                    "together at most 256 MiB.",
                    line_of(w, op->loc), s->field->name, ir_plane_text(s->plane),
                    bytes_text(w, field_bytes(w, s->field)));
            else if (!s->shared)
                say(w, "  - ",
                    "%s: private copies of the slab of %s%s that it adds to, if they pay. They take at most 256 MiB.",
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
        say(w, "  ", "Memory during %s_%s:", w->m->name, f->name);
    sb_add(out, sb_str(&own));
    sb_free(&own);
}

typedef struct scheduled {
    const words *w;
    strbuf lines;
} scheduled;

static void find_scheduled(ir_op *op, void *ctx)
{
    scheduled *s = ctx;
    if (op->code == OP_AHEAD)
        add_line(s->w, &s->lines, op->loc);
}

/* Loops under --checkpoints=BYTES. */
static void explain_schedule(words *w, const ir_func *grad)
{
    scheduled s = {w, {0}};
    ir_walk(grad->body, find_scheduled, &s);
    if (s.lines.len)
        say(w, "  ",
            "The states of each loop (line %s) have %lld bytes there, or are two if these take more. Trips run again "
            "from them, by a binomial schedule.",
            sb_str(&s.lines), (long long)w->m->checkpoint_bytes);
    sb_free(&s.lines);
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
            names[i], w->m->name, k->name, names[i], bytes.known ? bytes_text(w, bytes) : "a formula in the header");
        explain_schedule(w, derived[i]);
    }
    if (k->ad.grad && !k->ad.grad->ad.workspace)
        say(w, "  ", "It takes no memory except the C stack.");
}
