/* What editors ask for: what the names are, and of which type the expressions. */
#include <string.h>

#include "check/base/checker.h"

const char *sym_describe(const sym *s)
{
    switch (s->kind) {
    case SYM_CONST:
        return "a constant";
    case SYM_PARAM:
        return "a param";
    case SYM_FIELD:
        return s->what ? s->what : "a field";
    case SYM_FUNC:
        return s->prelude ? "a built-in function" : "a function";
    case SYM_KERNEL:
        return "a kernel";
    case SYM_STRUCT:
        return "a struct";
    case SYM_IMPORT:
        return "an import";
    case SYM_STATIC:
        return "a 'static for' variable";
    case SYM_LOCAL:
        return s->what ? s->what : "a local";
    case SYM_BAD:
        break;
    }
    return "an unknown name";
}

static bool is_noted(const checker *c, src_span at)
{
    return c->opt->log && at.begin.line > 0 && !(c->fn && c->fn->sym->prelude);
}

void log_use(checker *c, const sym *s, src_span at)
{
    const size_t n = strlen(s->name);
    if (at.end.line == at.begin.line && at.end.col - at.begin.col > (int)n) /* f of lib.f */
        at.begin.col = (uint16_t)(at.end.col - n);
    if (is_noted(c, at) && s->kind != SYM_BAD)
        vec_push(&c->opt->log->uses, ((check_use){.at = at, .sym = s}));
}

void log_expr(checker *c, src_span at, const ty *type)
{
    if (type && is_noted(c, at) && type->kind != TY_ERROR)
        vec_push(&c->opt->log->exprs, ((check_typed){at, type}));
}

static const ty *type_of(checker *c, const sym *s)
{
    switch (s->kind) {
    case SYM_PARAM:
        return s->mparam ? ty_scalar(c->types, s->mparam->type) : NULL;
    case SYM_FIELD:
    case SYM_STRUCT:
        return s->type;
    case SYM_FUNC:
        return s->result;
    case SYM_LOCAL:
        return s->local ? s->local->type : NULL;
    case SYM_CONST:
    case SYM_STATIC:
        return s->value.e && s->value.soft == SOFT_NO ? s->value.e->type : NULL;
    default:
        return NULL;
    }
}

static void describe(checker *c, check_use *u)
{
    const sym *s = u->sym;
    u->name = s->name;
    u->id = s->id;
    u->declared = s->prelude ? (src_span){{0, 0, 0}, {0, 0, 0}} : s->span;
    u->what = sym_describe(s);
    u->item = s->prelude ? NULL : s->item;
    u->type = type_of(c, s);
    if (u->type && u->type->kind == TY_ERROR)
        u->type = NULL;
    const int n = s->kind != SYM_FIELD || !s->field ? 0 : s->members ? ty_nleaves(s->type) : 1;
    for (int k = 0; k < n; k++) {
        const ir_field *f = s->members ? s->members[k] : s->field;
        u->planes[0] = u->planes[0] || f->grad;
        u->planes[1] = u->planes[1] || f->dual;
    }
    u->sym = NULL;
}

void log_end(checker *c)
{
    check_log *log = c->opt->log;
    if (!log)
        return;
    log->types = c->types;
    for (const sym *s = c->items; s; s = s->next) /* where they are declared */
        log_use(c, s, s->span);
    for (size_t k = 0; k < log->uses.len; k++)
        describe(c, &log->uses.at[k]);
}

void check_log_free(check_log *log)
{
    vec_free(&log->uses);
    vec_free(&log->exprs);
}
