/* What names mean where they stand, and scopes of locals. */
#include <string.h>

#include "check/base/builtins.h"

static bool in_prelude(const checker *c)
{
    return c->fn && c->fn->sym->prelude;
}

sym *names_lookup(checker *c, const char *name, src_span at)
{
    const name_entry *e = names_entry(c, name);
    if (e->local && e->local->owner == c->fn)
        return e->local;
    sym *item = in_prelude(c) ? NULL : names_item(c, name, at);
    return item ? item : in_prelude(c) && e->inner ? e->inner : e->prelude;
}

sym *names_use(checker *c, const char *name, src_span at)
{
    sym *s = names_lookup(c, name, at);
    const char *dot = strchr(name, '.');
    if (dot && s && s->kind != SYM_BAD) {
        const size_t n = (size_t)(dot - name);
        src_span head = {at.begin, at.begin};
        head.end.col = (uint16_t)(head.end.col + n);
        log_use(c, names_item(c, intern_n(c->names, name, n), at), head);
    }
    if (s)
        log_use(c, s, at);
    return s;
}

bool calls_builtin(checker *c, const ast_expr *e, const char *name)
{
    return e->kind == AST_EXPR_CALL && e->a->kind == AST_EXPR_NAME && !strcmp(e->a->name, name) &&
           !names_lookup(c, e->a->name, e->a->span);
}

/* ---- scopes ---- */

void scope_push(checker *c, scope *s)
{
    *s = (scope){.outer = c->fn->scope};
    c->fn->scope = s;
}

void scope_pop(checker *c)
{
    for (sym *s = c->fn->scope->locals; s; s = s->scope_next)
        names_entry(c, s->name)->local = s->hidden;
    c->fn->scope = c->fn->scope->outer;
}

sym *scope_declare(checker *c, sym_kind kind, const char *name, src_span at)
{
    name_entry *e = names_entry(c, name);
    const sym *before = e->local && e->local->owner == c->fn && e->local->kind != SYM_BAD ? e->local : NULL,
              *item = in_prelude(c) ? NULL : names_item(c, name, at);
    if (item && item->kind == SYM_IMPORT) /* the parser has made one name of lib.f */
        before = item;
    if (before && (before == item || before->scope == c->fn->scope)) {
        ERR(c, at, DIAG_REDEFINED, name);
        NOTE(c, before->span, "it is declared here already");
    } else if (names_check_fit(c, name, at, c->fn->in_header)) {
        if (!in_prelude(c))
            names_warn_hidden(c, name, at, before ? before : item && names_sees(c, at, item) ? item : NULL);
    }
    sym *s = ARENA_NEW(c->mem, sym);
    *s = (sym){.kind = kind,
               .name = name,
               .span = at,
               .owner = c->fn,
               .scope = c->fn->scope,
               .hidden = e->local,
               .task = c->fn->task};
    s->scope_next = c->fn->scope->locals;
    c->fn->scope->locals = s;
    e->local = s;
    log_use(c, s, at);
    return s;
}

tx_local *local_new(checker *c, const char *name, const ty *type, src_loc loc)
{
    tx_local *l = ARENA_NEW(c->mem, tx_local);
    l->name = name;
    l->type = type;
    l->loc = loc;
    l->index = c->fn->tx->nlocals++;
    return l;
}

const char *check_names_unique(checker *c, const char *base, bool numbered)
{
    name_entry *e = names_entry(c, base);
    if (!numbered && !e->taken) {
        e->taken = true;
        return base;
    }
    for (int k = 1;; k++) {
        const char *name = intern(c->names, arena_printf(c->mem, "%s_%d", base, k));
        e = names_entry(c, name);
        if (e->taken || e->item)
            continue;
        e->taken = true;
        return name;
    }
}
