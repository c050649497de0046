/* Constants: those of the program, and expressions that must be constant. */
#include <string.h>

#include "check/check.h"

long type_size(checker *c, const ast_expr *e, const char *what, long max)
{
    int64_t n;
    if (!const_int(c, e, what, &n))
        return 0;
    if (n >= 1 && n <= max)
        return (long)n;
    ERR(c, e->span, DIAG_SIZE, what, max, (long long)n);
    return 0;
}

bool const_int(checker *c, const ast_expr *e, const char *what, int64_t *out)
{
    val v = check_expr(c, e);
    if (val_bad(v))
        return false;
    if (v.soft != SOFT_INT && (v.e->type->kind != TY_SCALAR || !scalar_is_int(v.e->type->elem)))
        return ERR(c, e->span, DIAG_NOT_INTEGER, what, name_of(c, v));
    if (v.e->kind != TX_CONST)
        return ERR(c, e->span, DIAG_NOT_CONSTANT, what);
    if (v.e->type->elem == SC_U64 && v.e->cval.i < 0)
        return ERR(c, e->span, DIAG_LITERAL_RANGE, arena_printf(c->mem, "%llu", (unsigned long long)v.e->cval.i),
                   "i64");
    *out = v.e->cval.i;
    return true;
}

bool const_bool(checker *c, const ast_expr *e, const char *what, bool *out)
{
    val v = check_expr(c, e);
    if (val_bad(v))
        return false;
    if (v.soft != SOFT_NO || v.e->type != ty_scalar(c->types, SC_BOOL))
        return ERR(c, e->span, DIAG_CONDITION, what, name_of(c, v));
    if (v.e->kind != TX_CONST)
        return ERR(c, e->span, DIAG_NOT_CONSTANT, what);
    *out = v.e->cval.i != 0;
    return true;
}

/* ---- constants of the program ---- */

/* The expression behind -D NAME=..., where NAME means this in the root file; NULL without one. */
static const ast_expr *define_of(checker *c, const sym *s)
{
    for (int k = c->opt->ndefines - 1; k >= 0; k--) {
        const char *d = c->opt->defines[k], *equals = strchr(d, '=');
        const src_span root = span_at((src_loc){0, 0, (uint16_t)c->root});
        if (!equals || names_item(c, intern_n(c->names, d, (size_t)(equals - d)), root) != s)
            continue;
        const char *text = arena_printf(c->mem, "const %s = %s;\n", s->name, equals + 1);
        uint16_t file = diag_add_file(c->d, "<command line>", text, strlen(text));
        int errors = diag_error_count(c->d);
        const ast_module *m = ast_parse(c->mem, c->names, c->d, file, text, strlen(text));
        if (diag_error_count(c->d) > errors)
            return NULL;
        if (!m->items || m->items->next || m->items->kind != AST_ITEM_CONST || m->items->type) {
            diag(c->d, (src_span){{0, 0, 0}, {0, 0, 0}}, DIAG_DEFINE_VALUE, d);
            return NULL;
        }
        return m->items->value;
    }
    return NULL;
}

val constant_value(checker *c, const ast_expr *e, const ty *type)
{
    val v = check_expr(c, e);
    if (type) {
        v = convert(c, v, type, e->span);
        v.lost = (lossy){0}; /* as behind `let h: i32`: an integer, and meant to be */
    }
    if (!val_bad(v) && !const_is(v.e)) {
        ERR(c, e->span, DIAG_NOT_CONSTANT, "a constant");
        return val_error(c, e->span);
    }
    return v;
}

static void evaluate_const(checker *c, sym *s)
{
    const ty *type = s->item->type ? type_resolve(c, s->item->type) : NULL;
    if (type && type->kind != TY_ERROR && !ty_is_value(type)) {
        ERR(c, s->item->type->span, DIAG_NOT_SCALAR_TYPE, "a constant", ty_name(c->types, type));
        type = ty_error(c->types);
    }
    s->value = constant_value(c, s->item->value, type);
    const ast_expr *define = define_of(c, s);
    if (!define || val_bad(s->value))
        return;
    /* an override has the type of what it overrides; a literal stays of its kind */
    val v = constant_value(c, define, type);
    if (!val_bad(v) && s->value.soft == SOFT_FLOAT)
        v = to_float(c, v, define->span);
    if (!val_bad(v) && (s->value.soft == SOFT_NO || v.soft != s->value.soft))
        v = convert(c, v, settle(c, s->value).e->type, define->span);
    s->value = v;
}

void resolve_const(checker *c, sym *s, src_span use)
{
    if (s->state == SYM_DONE)
        return;
    if (s->state == SYM_ACTIVE) {
        ERR(c, use, DIAG_CONST_CYCLE, s->name);
        s->value = val_error(c, use);
        return;
    }
    fn *outer = c->fn;
    bool constant = c->constant, extents = c->extents;
    c->fn = NULL;
    c->constant = true;
    c->extents = false;
    s->state = SYM_ACTIVE;
    if (too_deep(c, use)) {
        s->value = val_error(c, use);
    } else {
        c->depth += 4;
        evaluate_const(c, s);
        c->depth -= 4;
    }
    s->state = SYM_DONE;
    c->fn = outer;
    c->constant = constant;
    c->extents = extents;
}
