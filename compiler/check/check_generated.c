/* Names of items: fit for the interface, and free of what it makes of other names. */
#include <string.h>

#include "check/check.h"
#include "util/ptrmap.h"

/* Types of the headers that generated C includes: a C function of the host cannot be called so. */
static const char *const c_types[] = {
    "double_t", "float_t",     "int16_t",   "int32_t", "int64_t",  "int8_t",   "intmax_t",
    "intptr_t", "max_align_t", "ptrdiff_t", "size_t",  "uint16_t", "uint32_t", "uint64_t",
    "uint8_t",  "uintmax_t",   "uintptr_t", "wchar_t", "FILE",
};

static bool is_c_type(const char *name)
{
    for (size_t i = 0; i < sizeof c_types / sizeof *c_types; i++)
        if (!strcmp(c_types[i], name))
            return true;
    return false;
}

void names_check_item(checker *c, const ast_item *it)
{
    if (!names_check_fit(c, it->name, it->name_span, true))
        return;
    if (it->kind == AST_ITEM_KERNEL && !strcmp(it->name, "tk"))
        ERR(c, it->name_span, DIAG_RESERVED_NAME, it->name,
            "it makes names with 'tk_' in front, which belong to the runtime");
    if (it->is_extern && is_c_type(it->name))
        ERR(c, it->name_span, DIAG_UNFIT_NAME, it->name, "a type of C");
    if (it->is_extern && is_builtin(c, it->name)) /* generated C may call the function of the C library */
        ERR(c, it->name_span, DIAG_BUILTIN_NAME, it->name);
    else
        names_warn_hidden(c, it->name, it->name_span, NULL);
}

void names_check_member(checker *c, const ast_param *p)
{
    names_check_fit(c, p->name, p->span, true);
}

/* ---- names that the generated interface makes of the user's ---- */

typedef struct made {
    const char *name, *of; /* of: item's name, NULL: always there */
    src_span at;
} made;

typedef struct made_table {
    checker *c;
    ptrmap made; /* by name, interned */
} made_table;

/* False, and reported, if the name is taken. */
static bool make_name(made_table *t, const char *name, const char *of, src_span at)
{
    checker *c = t->c;
    name = intern(c->names, name);
    const made *m = ptrmap_get(&t->made, name);
    if (m && m->of && m->of == of)
        return true;
    if (m) {
        ERR(c, at, DIAG_GENERATED_NAME, of, arena_printf(c->mem, "%s_%s", c->ir->name, name));
        if (m->of) {
            NOTE(c, m->at, "'%s' makes that name as well", m->of);
            const size_t n = strlen(m->of);
            if (!strncmp(name, m->of, n) && name[n] == '_')
                NOTE(c, at,
                     "the derivatives of '%s' are called %s_grad, %s_jvp and %s_hvp: give one of the two another name",
                     m->of, m->of, m->of, m->of);
        }
        return false;
    }
    made *first = ARENA_NEW(c->mem, made);
    *first = (made){.name = name, .of = of, .at = at};
    ptrmap_set(&t->made, name, first);
    return true;
}

static void make_field_names(made_table *t, const char *id, const char *of, src_span at)
{
    static const char *const pattern[] = {"bind_%s", "%s_view", "idx_%s", "forward_%s"};
    for (size_t k = 0; k < sizeof pattern / sizeof *pattern; k++) {
        const char *hole = strchr(pattern[k], '%');
        if (!make_name(t, arena_printf(t->c->mem, "%.*s%s%s", (int)(hole - pattern[k]), pattern[k], id, hole + 2), of,
                       at))
            return; /* once is enough */
    }
}

/* Members of fields of structs have functions and views, too. */
static void make_member_names(made_table *t)
{
    checker *c = t->c;
    for (size_t i = 0; i < c->ir->fields.len; i++) {
        const ir_field *f = c->ir->fields.at[i];
        if (!f->lead)
            continue;
        char *id = arena_strdup(c->mem, f->name);
        for (char *dot = id; (dot = strchr(dot, '.'));)
            *dot = '_';
        make_field_names(t, id, f->name, span_at(f->loc));
    }
}

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);
    return n > k && !strcmp(name + n - k, end);
}

/* What the generated C makes of an item's name for itself, beside the interface: functions and tables of kernels,
 * arguments of export funcs. */
static bool is_made_of(checker *c, const char *name, const ast_item *it)
{
    const char *id = names_in_c(c, it);
    const size_t n = strlen(id);
    if (it->kind == AST_ITEM_KERNEL && !strncmp(name, id, n) && name[n] == '_')
        return strstr(name + n, "_task") || ends_in(name, "_run") || ends_in(name, "_access");
    for (const ast_param *p = it->is_export ? it->params : NULL; p; p = p->next)
        if (generated_param_collides(name, p))
            return true;
    return false;
}

/* A C function of the host has its name without the module's in front. */
static void make_extern_name(made_table *t, const ast_item *it, const ast_module *m)
{
    checker *c = t->c;
    const size_t n = strlen(c->ir->name);
    if (!strncmp(it->name, c->ir->name, n) && it->name[n] == '_')
        make_name(t, it->name + n + 1, it->name, it->name_span);
    if (!strcmp(it->name, c->ir->name))
        ERR(c, it->name_span, DIAG_GENERATED_NAME, it->name, c->ir->name);
    for (const ast_item *o = m->items; o; o = o->next)
        if (o->name && is_made_of(c, it->name, o)) {
            ERR(c, it->name_span, DIAG_GENERATED_NAME, it->name, it->name);
            NOTE(c, o->name_span, "'%s' makes that name as well", o->name);
        }
}

/* A kernel with a parameter without type is no kernel of the interface. */
static bool is_template_item(const ast_item *it)
{
    for (const ast_param *p = it->kind == AST_ITEM_KERNEL ? it->params : NULL; p; p = p->next)
        if (!p->type)
            return true;
    return false;
}

/* derive(hess(x)) of a kernel makes k_hess and k_hess_pattern. */
static void make_matrix_names(made_table *t, const ast_item *it, const char *id)
{
    for (const ast_attr *a = it->attrs; a; a = a->next)
        for (const ast_expr *e = strcmp(a->name, "derive") == 0 ? a->args : NULL; e; e = e->next) {
            const char *word = e->kind == AST_EXPR_CALL && e->a->kind == AST_EXPR_NAME ? e->a->name : "";
            if (strcmp(word, "jac") != 0 && strcmp(word, "hess") != 0)
                continue;
            make_name(t, arena_printf(t->c->mem, "%s_%s", id, word), id, it->name_span);
            make_name(t, arena_printf(t->c->mem, "%s_%s_pattern", id, word), id, it->name_span);
        }
}

void names_check_generated(checker *c, const ast_module *m)
{
    static const char *const fixed[] = {"create", "create_", "destroy",    "defaults",
                                        "status", "error",   "set_params", "params"};
    static const char *const of_kernel[] = {"", "_grad", "_jvp", "_hvp", "_grad_WORKSPACE", "_hvp_WORKSPACE"};
    made_table t = {.c = c};
    for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
        make_name(&t, fixed[k], NULL, (src_span){{0, 0, 0}, {0, 0, 0}});
    for (const ast_item *it = m->items; it; it = it->next) {
        if (is_template_item(it) || !it->name)
            continue;
        const char *id = names_in_c(c, it);
        if (it->kind == AST_ITEM_KERNEL || it->is_export) {
            for (int k = 0; k < 4 + 2 * it->is_export; k++)
                make_name(&t, arena_printf(c->mem, "%s%s", id, of_kernel[k]), id, it->name_span);
            if (it->kind == AST_ITEM_KERNEL)
                make_matrix_names(&t, it, id);
            if (it->kind == AST_ITEM_KERNEL && is_made_of(c, c->ir->name, it)) {
                ERR(c, it->name_span, DIAG_GENERATED_NAME, it->name, c->ir->name);
                NOTE(c, it->name_span, "it is the name of the module; --prefix=NAME gives it another");
            }
        } else if (it->is_extern) {
            make_extern_name(&t, it, m);
        } else if (it->kind == AST_ITEM_STRUCT) {
            make_name(&t, id, id, it->name_span);
        } else if (it->kind == AST_ITEM_FIELD) {
            make_field_names(&t, id, id, it->name_span);
            for (const ast_attr *a = it->attrs; a; a = a->next)
                if (ir_field_layout_get(ir_field_layout_named(a->name))->properties & IR_LAYOUT_BYTES)
                    make_name(&t, arena_printf(c->mem, "bind_%s_strided", id), id, it->name_span);
            if (!strcmp(id, "tk") || !strcmp(id, "params"))
                ERR(c, it->name_span, DIAG_GENERATED_NAME, it->name, it->name);
        }
    }
    make_member_names(&t);
    ptrmap_free(&t.made);
}
