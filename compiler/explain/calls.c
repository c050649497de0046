/* Functions that stay calls: each call computes its function from the beginning. */
#include <stdlib.h>
#include <string.h>

#include "explain/words.h"
#include "ir/ops.h"

typedef struct call {
    const ir_func *callee;
    src_loc loc;
} call;

typedef struct calls {
    const note *of; /* a function of the program: of it and of its derivatives */
    VEC(call) at;
} calls;

static bool is_of(const note *source, const ir_func *f)
{
    return f->loc.file == source->loc.file && f->loc.line == source->loc.line && f->loc.col == source->loc.col;
}

/* A loop that stands twice, in strips and their interior, has the same call twice. */
static void collect_call(ir_op *op, void *ctx)
{
    calls *c = ctx;
    if (op->code != OP_CALL || ir_callee_of(op)->external || !is_of(c->of, ir_callee_of(op)))
        return;
    const call x = {ir_callee_of(op), op->loc};
    for (size_t i = 0; i < c->at.len; i++) {
        const call *o = &c->at.at[i];
        if (o->callee == x.callee && o->loc.file == x.loc.file && o->loc.line == x.loc.line && o->loc.col == x.loc.col)
            return;
    }
    vec_push(&c->at, x);
}

static int by_line(const void *a, const void *b)
{
    const unsigned x = ((const call *)a)->loc.line, y = ((const call *)b)->loc.line;
    return (x > y) - (x < y);
}

/* Calls that the kernel has no more, because they were inlined. */
static int inlined(const words *w, const ir_func *k, const calls *c)
{
    const func_notes *n = notes_of(w, k);
    int found = 0;
    for (size_t i = 0; n && i < n->at.len; i++) {
        const note *x = &n->at.at[i];
        bool stays = x->kind != NOTE_CALL || x->name != c->of->name;
        for (size_t j = 0; j < c->at.len; j++)
            stays = stays || (!c->at.at[j].callee->ad.primal && c->at.at[j].callee->name == x->name);
        found += !stays;
    }
    return found;
}

static void explain_calls_of(words *w, const ir_func *k, const note *source)
{
    const ir_func *const forms[] = {k, k->ad.grad, k->ad.jvp, k->ad.hvp};
    strbuf where = {0}, lines = {0};
    for (int i = 0; i < 4; i++) {
        if (!forms[i] || (i && forms[i] == k) || forms[i]->ad.custom_of)
            continue;
        calls c = {.of = source};
        ir_walk(forms[i]->body, collect_call, &c);
        const int n = (int)c.at.len + (c.at.len > 0 && i == 0 ? inlined(w, k, &c) : 0);
        if (n > 1) {
            add_name(&where, arena_printf(w->m->mem, "%d in %s_%s", n, w->m->name, forms[i]->name));
            qsort(c.at.at, c.at.len, sizeof *c.at.at, by_line);
            for (size_t j = 0; j < c.at.len; j++)
                add_line(w, &lines, c.at.at[j].loc);
        }
        vec_free(&c.at);
    }
    if (where.len)
        say(w, "  - ", "%s stays a call (%s %s). It runs several times, and the runs share no values: %s.",
            source->name, strchr(sb_str(&lines), ',') ? "lines" : "line", sb_str(&lines), joined(w, &where));
    sb_free(&where);
    sb_free(&lines);
}

void explain_repeats(words *w, const ir_func *k)
{
    for (size_t i = 0; i < w->noted->sources.len; i++) {
        const note *source = &w->noted->sources.at[i];
        bool first = true; /* instances of a generic function stand in one place */
        for (size_t j = 0; j < i; j++)
            first = first && !(w->noted->sources.at[j].loc.line == source->loc.line &&
                               w->noted->sources.at[j].loc.file == source->loc.file &&
                               w->noted->sources.at[j].loc.col == source->loc.col);
        if (first)
            explain_calls_of(w, k, source);
    }
}
