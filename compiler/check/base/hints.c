/* What to write instead of a name that the language does not have: a similar one, or what another language calls it. */
#include <string.h>

#include "check/base/builtins.h"
#include "check/base/checker.h"
#include "syntax/habits.h"
#include "syntax/spelling.h"

/* ---- similar names ---- */

void hint_spelling(checker *c, const char *name, src_span at, bool function)
{
    spelling_search s = spelling_begin(name, spelling_limit(name));
    const char *imported = NULL;
    for (size_t i = 0; i < c->cap; i++) {
        name_entry *e = &c->entries[i];
        if (!e->name || e->name == name)
            continue;
        const sym *local = e->local && e->local->owner == c->fn ? e->local : NULL, *item = names_item(c, e->name, at);
        if (e->unread)
            prelude_read(c, e);
        const sym *known = local ? local : item ? item : e->prelude;
        const char *dot = strchr(e->name, '.');
        if (!known || known->kind == SYM_BAD || known->kind == SYM_IMPORT || (known->kind == SYM_FUNC) != function)
            continue;
        spelling_consider(&s, e->name);
        if (dot && !strcmp(dot + 1, name))
            imported = e->name;
    }
    for (int op = 0; function && op < OP_PURE_COUNT; op++)
        if (op_get((ir_opcode)op)->user == OP_FOR_USERS)
            spelling_consider(&s, op_get((ir_opcode)op)->name);
    if (imported)
        s.best = imported;
    if (!s.best)
        return;
    NOTE(c, at, "did you mean '%s'?", s.best);
    FIX(c, at.begin, name, s.best);
}

void bad_attribute(checker *c, const ast_attr *a, const char *of, const char *const *known, int n)
{
    ERR(c, a->span, DIAG_ATTR, a->name, of);
    spelling_search s = spelling_begin(a->name, 2);
    if (!strcmp(a->name, "requires_grad"))
        s.best = "needs_grad";
    for (int k = 0; k < n && !s.best; k++)
        if (*known[k])
            spelling_consider(&s, known[k]);
    if (!s.best)
        return;
    NOTE(c, a->span, "did you mean '%s'?", s.best);
    FIX(c, a->span.begin, a->name, s.best);
}

bool plain_attribute(checker *c, const ast_attr *a)
{
    return !a->parens || ERR(c, a->span, DIAG_ATTR_ARGUMENTS, a->name);
}

/* ---- names of other languages ---- */

#define HINT(id, habit, hint) static const char id[] = hint;
#include "syntax/habits.def"

/* The language's name of a type, function or value of another language; NULL: none. */
static const char *called_here(checker *c, const char *name)
{
    const size_t len = strlen(name);
    const habit *h = habit_find(name, len);
    if (h)
        return h->kind == HABIT_TYPE || h->kind == HABIT_NAME ? h->here : NULL;
    if (len < 2 || name[len - 1] != 'f') /* sqrtf, fmaxf */
        return NULL;
    const char *stem = arena_strndup(c->mem, name, len - 1);
    return is_builtin(c, intern(c->names, stem)) ? stem : called_here(c, stem);
}

static bool is_library(checker *c, const char *name, size_t len, src_span at)
{
    const habit *h = habit_find(name, len);
    return h && h->kind == HABIT_LIBRARY && !names_lookup(c, intern_n(c->names, name, len), at);
}

/* The name here of a member of a library; NULL: none is known. */
static const char *hint_member_of_library(checker *c, const char *member, src_span at)
{
    const char *here = is_builtin(c, member) ? member : called_here(c, member);
    const habit *h = habit_find(member, strlen(member));
    if (here)
        NOTE(c, at, "write '%s'", here);
    else if (h && h->kind != HABIT_LIBRARY)
        NOTE(c, at, "%s", h->here);
    return here;
}

/* The unknown name np.float32. */
static bool hint_type_of_library(checker *c, const char *name, src_span at)
{
    const char *dot = strchr(name, '.');
    if (!dot || !is_library(c, name, (size_t)(dot - name), at))
        return false;
    NOTE(c, at, in_library);
    const char *here = hint_member_of_library(c, intern(c->names, dot + 1), at);
    if (here && !strchr(here, 'T'))
        FIX(c, at.begin, name, here);
    return true;
}

bool hint_foreign(checker *c, const char *name, src_span at)
{
    if (hint_type_of_library(c, name, at))
        return true;
    const habit *h = habit_find(name, strlen(name));
    const char *here = called_here(c, name);
    if (here) {
        NOTE(c, at, "it is called '%s' here%s", here,
             !strcmp(here, "f32") || !strcmp(here, "f64") ? "; 'real' is the module's default float" : "");
        if (!strchr(here, 'T')) /* vec(n, T) is no type yet */
            FIX(c, at.begin, name, here);
    } else if (h && h->kind == HABIT_LIBRARY) {
        NOTE(c, at, in_library);
    } else if (h) {
        NOTE(c, at, "%s", h->here);
    }
    return h || here;
}

bool hint_library(checker *c, const ast_expr *e)
{
    const ast_expr *root = e->a;
    while (root->kind == AST_EXPR_MEMBER)
        root = root->a;
    if (root->kind != AST_EXPR_NAME || !is_library(c, root->name, strlen(root->name), root->span))
        return false;
    if (!c->fn && names_entry(c, root->name)->told)
        return true;
    names_unknown(c, root->name, root->span, false);
    hint_member_of_library(c, e->name, e->op_span);
    return true;
}

/* ---- assigned, but not declared ---- */

bool is_undeclared(checker *c, const ast_expr *target)
{
    return target->kind == AST_EXPR_NAME && !names_lookup(c, target->name, target->span) &&
           !is_builtin(c, target->name);
}

void hint_undeclared(checker *c, const ast_stmt *s)
{
    if (s->targets)
        NOTE(c, s->span, undeclared_several);
    else if (s->has_op)
        NOTE(c, s->span, undeclared_sum, s->target->name);
    else
        NOTE(c, s->span, undeclared, s->target->name);
}

bool hint_size(checker *c, const char *field, const char *member, src_span at)
{
    if (strcmp(member, "size") != 0 && strcmp(member, "length") != 0)
        return false;
    NOTE(c, at, no_size, field);
    return true;
}

/* ---- hidden items ---- */

void hint_hidden(checker *c, const sym *s)
{
    const sym *item = s && s->kind == SYM_LOCAL ? names_item(c, s->name, s->span) : NULL;
    if (item)
        NOTE(c, s->span, "'%s' is declared here, and hides %s", s->name, sym_describe(item));
}

/* ---- members that are none ---- */

/* The field whose element e is: x of x[i], x[i].a; NULL: of none. */
static const sym *element_of(checker *c, const ast_expr *e)
{
    while (e->kind == AST_EXPR_INDEX || e->kind == AST_EXPR_MEMBER)
        e = e->a;
    const sym *s = e->kind == AST_EXPR_NAME ? names_lookup(c, e->name, e->span) : NULL;
    return s && s->kind == SYM_FIELD ? s : NULL;
}

bool hint_member(checker *c, const ast_expr *e, const ty *of)
{
    const sym *field = element_of(c, e->a), *s = names_lookup(c, e->name, e->op_span);
    const bool function = of->kind != TY_STRUCT &&
                          (op_find_user(e->name) != OP_COUNT || (s && s->kind == SYM_FUNC && s->prelude));
    if (field && e->a->kind != AST_EXPR_NAME && (!strcmp(e->name, "grad") || !strcmp(e->name, "dual"))) {
        NOTE(c, e->op_span, "'%s' stands behind the field's name, in front of subscripts: %s.%s[...]", e->name,
             field->name, e->name);
    } else if (of->kind == TY_MAT && !strcmp(e->name, "T")) {
        NOTE(c, e->op_span, "the transpose is a function: transpose(A), or A.transpose()");
        FIX(c, e->op_span.begin, "T", "transpose()");
    } else if (function) {
        NOTE(c, e->op_span, "it is a function: write %s()", e->name);
        FIX(c, e->op_span.begin, e->name, arena_printf(c->mem, "%s()", e->name));
    } else {
        return false;
    }
    return true;
}

/* ---- unknown names ---- */

void names_unknown(checker *c, const char *name, src_span at, bool function)
{
    if (!c->fn && names_entry(c, name)->told)
        return;
    names_entry(c, name)->told = !c->fn;
    ERR(c, at, function ? DIAG_UNKNOWN_FUNCTION : DIAG_UNKNOWN_NAME, name);
    if (!hint_foreign(c, name, at))
        hint_spelling(c, name, at, function);
    if (c->extents && !c->fn && !strchr(name, '.'))
        NOTE(c, at, "extents are made of consts and params: 'param %s: i32 = 16;'", name);
    name_entry *e = names_entry(c, name);
    if (!c->fn || function || (e->local && e->local->owner == c->fn))
        return;
    /* known as bad from here on, in the outermost scope: one report for each function */
    sym *s = ARENA_NEW(c->mem, sym);
    *s = (sym){.kind = SYM_BAD, .name = name, .span = at, .owner = c->fn, .hidden = e->local};
    scope *outermost = c->fn->scope;
    while (outermost->outer)
        outermost = outermost->outer;
    s->scope_next = outermost->locals;
    outermost->locals = s;
    e->local = s;
}
