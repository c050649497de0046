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
    const bool declared = at.begin.line == s->span.begin.line && at.begin.col == s->span.begin.col;
    if (!declared && at.end.line == at.begin.line && at.end.col - at.begin.col > (int)n) /* f of lib.f */
        at.begin.col = (uint16_t)(at.end.col - n);
    if (is_noted(c, at) && s->kind != SYM_BAD)
        vec_push(&c->opt->log->uses, ((check_use){.at = at, .sym = s}));
}

void log_member(checker *c, const ty *of, const char *name, const ty *type, src_span at)
{
    if (is_noted(c, at))
        vec_push(&c->opt->log->uses, ((check_use){.at = at, .name = name, .type = type, .of = of}));
}

void log_again(checker *c, const ast_expr *first, const ast_expr *again)
{
    check_log *log = c->opt->log;
    if (!first || !is_noted(c, again->span))
        return;
    const bool member = first->kind == AST_EXPR_MEMBER;
    const src_span there = member ? first->op_span : first->span;
    for (size_t k = log->uses.len; k-- > 0;) {
        check_use u = log->uses.at[k];
        if (u.at.begin.line == there.begin.line && u.at.begin.col == there.begin.col &&
            u.at.begin.file == there.begin.file) {
            u.at = member ? again->op_span : again->span;
            vec_push(&log->uses, u);
            break;
        }
    }
    log_again(c, first->a, again->a);
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

static void describe_member(const checker *c, check_use *u)
{
    u->what = u->of->kind == TY_STRUCT ? "a member" : "a component";
    u->id = u->name;
    for (const sym *s = u->of->kind == TY_STRUCT ? c->items : NULL; s; s = s->next)
        for (const ast_param *p = s->kind == SYM_STRUCT && s->type == u->of ? s->item->params : NULL; p; p = p->next)
            if (p->name == u->name)
                u->declared = p->span;
}

static void describe(checker *c, check_use *u)
{
    const sym *s = u->sym;
    if (u->of) {
        describe_member(c, u);
        return;
    }
    u->name = s->name;
    u->id = s->id;
    u->declared = s->prelude ? (src_span){{0, 0, 0}, {0, 0, 0}} : s->span;
    u->what = sym_describe(s);
    u->item = s->prelude ? NULL : s->item;
    u->type = type_of(c, s);
    if (u->type && u->type->kind == TY_ERROR)
        u->type = NULL;
    u->extents = s->kind == SYM_FIELD && !s->dims && !s->nlead ? s->extents : NULL;
    const int n = s->kind != SYM_FIELD || !s->field ? 0 : s->members ? ty_nleaves(s->type) : 1;
    for (int k = 0; k < n; k++) {
        const ir_field *f = s->members ? s->members[k] : s->field;
        u->planes[0] = u->planes[0] || f->grad;
        u->planes[1] = u->planes[1] || ir_field_has_tangents(f);
    }
    u->sym = NULL;
}

void log_end(checker *c)
{
    check_log *log = c->opt->log;
    if (!log)
        return;
    log->types = c->types;
    for (const sym *s = c->items; s; s = s->next) { /* where they are declared */
        log_use(c, s, s->span);
        const ast_param *p = s->kind == SYM_STRUCT && s->type && s->type->kind == TY_STRUCT ? s->item->params : NULL;
        for (int k = 0; p && k < s->type->nmembers; p = p->next, k++)
            log_member(c, s->type, p->name, s->type->members[k], p->span);
    }
    for (size_t k = 0; k < log->uses.len; k++)
        describe(c, &log->uses.at[k]);
}

void check_log_free(check_log *log)
{
    vec_free(&log->uses);
    vec_free(&log->exprs);
}
