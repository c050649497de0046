/* Effects of a function: reads of fields and of locals around a parallel loop, and all that makes it more than a
 * function of its arguments. */
#include "check/base/checker.h"

/* ---- effects ---- */

void note_impure(checker *c, const char *what, const char *name, src_span at)
{
    if (!c->fn || c->fn->inst->impure)
        return;
    c->fn->inst->impure = what ? arena_printf(c->mem, "uses %s '%s'", what, name) : "prints";
    c->fn->inst->impure_at = report_span(c, at);
}

/* A function and its custom derivatives may call each other in a circle. */
static const instance *search_impure(instance *i, const instance *from)
{
    if (i->impure)
        return i;
    i->searched = from;
    for (const call_edge *e = i->callees; e; e = e->next) {
        const instance *found = e->to->searched == from ? NULL : search_impure(e->to, from);
        if (found)
            return found;
    }
    return NULL;
}

const instance *find_impure(instance *i)
{
    return search_impure(i, i);
}

/* ---- reads ---- */

void note_read(checker *c, sym *s, src_span at)
{
    if (!c->fn->task || s->task == c->fn->task || !s->local->mutable_)
        return;
    if (s->red_task == c->fn->task) {
        ERR(c, at, DIAG_REDUCED_READ, s->name);
        NOTE(c, s->red_span, "it is reduced here; its value is known after the loop only");
    }
    s->read_task = c->fn->task;
    s->read_span = at;
}

bool is_stopped(const checker *c, const ir_field *f)
{
    for (const scope *s = c->fn->scope; s; s = s->outer)
        for (const stopped *t = s->stops; t; t = t->next)
            if (t->field == f)
                return true;
    return false;
}

void note_active(checker *c, const ir_field *f, src_loc loc)
{
    tx_func *tx = c->fn->tx;
    for (const tx_read *r = tx->reads; r; r = r->next)
        if (r->field == f)
            return;
    tx_read *r = ARENA_NEW(c->mem, tx_read);
    *r = (tx_read){f, loc, tx->reads};
    tx->reads = r;
}

bool check_stops(checker *c, const tx_func *callee, const char *name, src_span at)
{
    bool ok = true;
    for (const tx_read *r = callee->reads; r; r = r->next) {
        note_active(c, r->field, r->loc);
        if (!is_stopped(c, r->field))
            continue;
        ok = ERR(c, at, DIAG_STOP_CALL, r->field->name, name);
        NOTE(c, span_at(r->loc), "'%s' is read here, with its derivative", r->field->name);
        NOTE(c, at, "stop it there, or hand over stop_grad(%s[...])", r->field->name);
    }
    return ok;
}

/* ---- fields ---- */

tx_expr *extent_of(checker *c, const sym *s, int d, src_span at)
{
    const tx_local *local = s->kind == SYM_LOCAL ? s->local : NULL;
    if (local && local->type->extents[d] >= 0)
        return val_const_i(c, SC_I64, local->type->extents[d], at).e;
    tx_expr *e = tx_new(c, TX_SHAPE, ty_scalar(c->types, SC_I64), at);
    if (local || s->dims) {
        const src_loc loc = e->loc;
        *e = local ? *local->extents[d] : *s->dims[d];
        e->loc = loc;
    } else {
        note_impure(c, "the field", s->field->whole ? s->field->whole : s->field->name, at);
        e->field = s->field;
        e->dim = s->nlead + d;
    }
    return e;
}

bool may_write(checker *c, const ir_field *f, src_span at)
{
    if (!f->distinct)
        return true;
    ERR(c, at, DIAG_DISTINCT_WRITE, f->name);
    NOTE(c, span_at(f->loc), "declared here: the host fills it");
    return false;
}
