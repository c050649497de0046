/* What to write instead of a name that the language does not have: a similar one, or what another language calls it. */
#include <string.h>

#include "check/base/checker.h"
#include "syntax/spelling.h"

/* ---- similar names ---- */

void hint_spelling(checker *c, const char *name, src_span at, bool function)
{
    spelling_search s = spelling_begin(name, spelling_limit(name));
    const char *imported = NULL;
    for (size_t i = 0; i < c->cap; i++) {
        const name_entry *e = &c->entries[i];
        if (!e->name || e->name == name)
            continue;
        const sym *local = e->local && e->local->owner == c->fn ? e->local : NULL, *item = names_item(c, e->name, at);
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

static const struct {
    const char *foreign, *here;
} called[] = {
    {"float", "f32"},
    {"double", "f64"},
    {"int", "i32"},
    {"unsigned", "u32"},
    {"long", "i64"},
    {"short", "i16"},
    {"char", "i8"},
    {"size_t", "u64"},
    {"int8_t", "i8"},
    {"int16_t", "i16"},
    {"int32_t", "i32"},
    {"int64_t", "i64"},
    {"uint8_t", "u8"},
    {"uint16_t", "u16"},
    {"uint32_t", "u32"},
    {"uint64_t", "u64"},
    {"float2", "vec2"},
    {"float3", "vec3"},
    {"float4", "vec4"},
    {"double2", "vec(2, f64)"},
    {"double3", "vec(3, f64)"},
    {"double4", "vec(4, f64)"},
    {"int2", "ivec2"},
    {"int3", "ivec3"},
    {"int4", "ivec4"},
    {"Vec2", "vec2"},
    {"Vec3", "vec3"},
    {"Vec4", "vec4"},
    {"vec2f", "vec2"},
    {"vec3f", "vec3"},
    {"vec4f", "vec4"},
    {"Mat2", "mat2"},
    {"Mat3", "mat3"},
    {"Mat4", "mat4"},
    {"float2x2", "mat2"},
    {"float3x3", "mat3"},
    {"float4x4", "mat4"},
    {"Vector", "vec(n, T)"},
    {"Matrix", "mat(n, m, T)"},
    {"printf", "print"},
    {"fabs", "abs"},
    {"fmin", "min"},
    {"fmax", "max"},
    {"lerp", "mix"},
};

static const char *const pi[] = {"pi", "PI", "M_PI"};
static const char *const libraries[] = {"ti", "tm", "math", "np", "torch", "jnp"};

bool hint_foreign(checker *c, const char *name, src_span at)
{
    for (size_t k = 0; k < sizeof called / sizeof *called; k++) {
        if (strcmp(called[k].foreign, name) != 0)
            continue;
        const char *here = called[k].here;
        NOTE(c, at, "it is called '%s' here%s", here,
             !strcmp(here, "f32") || !strcmp(here, "f64") ? "; 'real' is the module's default float" : "");
        if (!strchr(here, 'T')) /* vec(n, T) is no type yet */
            FIX(c, at.begin, name, here);
        return true;
    }
    for (size_t k = 0; k < sizeof pi / sizeof *pi; k++) {
        if (strcmp(pi[k], name) != 0)
            continue;
        NOTE(c, at, "declare it: const %s = 3.141592653589793;", strcmp(name, "pi") != 0 ? "PI" : name);
        return true;
    }
    for (size_t k = 0; k < sizeof libraries / sizeof *libraries; k++) {
        if (strcmp(libraries[k], name) != 0)
            continue;
        NOTE(c, at, "built-in functions have no name in front: sin(x)");
        return true;
    }
    return false;
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
