/* The name table: one entry for each name, with what it means in the module, in the prelude and in the function being
 * checked. */
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "util/ptrmap.h"

/* ---- the table ---- */

static size_t slot_of(const checker *c, const char *name)
{
    uint64_t h = (uint64_t)(uintptr_t)name * 0x9e3779b97f4a7c15u;
    return (size_t)(h >> 20) & (c->cap - 1);
}

static name_entry *find(const checker *c, const char *name)
{
    size_t i = slot_of(c, name);
    while (c->entries[i].name && c->entries[i].name != name)
        i = (i + 1) & (c->cap - 1);
    return &c->entries[i];
}

static void grow(checker *c)
{
    name_entry *old = c->entries;
    size_t n = c->cap;
    c->cap = n ? 2 * n : 1024;
    c->entries = ARENA_ARRAY(c->mem, name_entry, c->cap);
    for (size_t i = 0; i < n; i++)
        if (old[i].name)
            *find(c, old[i].name) = old[i];
}

name_entry *names_entry(checker *c, const char *name)
{
    if (2 * (c->nentries + 1) > c->cap)
        grow(c);
    name_entry *e = find(c, name);
    if (!e->name) {
        e->name = name;
        c->nentries++;
    }
    return e;
}

static bool in_prelude(const checker *c)
{
    return c->fn && c->fn->sym->prelude;
}

sym *names_lookup(checker *c, const char *name)
{
    name_entry *e = names_entry(c, name);
    if (e->local && e->local->owner == c->fn)
        return e->local;
    if (e->global && !in_prelude(c))
        return e->global;
    return in_prelude(c) && e->inner ? e->inner : e->prelude;
}

sym *names_use(checker *c, const char *name, src_span at)
{
    sym *s = names_lookup(c, name);
    if (s)
        log_use(c, s, at);
    return s;
}

/* ---- unknown names ---- */

void names_unknown(checker *c, const char *name, src_span at, bool function)
{
    if (!c->fn && names_entry(c, name)->told)
        return;
    names_entry(c, name)->told = !c->fn;
    ERR(c, at, function ? DIAG_UNKNOWN_FUNCTION : DIAG_UNKNOWN_NAME, name);
    if (!hint_foreign(c, name, at))
        hint_near(c, name, at, function);
    if (c->extents && !c->fn)
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

/* ---- names that are not free ---- */

static const char *const c_keywords[] = {
    "auto",   "break",    "case",     "char",     "const", "continue", "default", "do",     "double",
    "else",   "enum",     "extern",   "float",    "for",   "goto",     "if",      "inline", "int",
    "long",   "register", "restrict", "return",   "short", "signed",   "sizeof",  "static", "struct",
    "switch", "typedef",  "union",    "unsigned", "void",  "volatile", "while",   "asm",    "typeof",
};

static const char *const cxx_keywords[] = {
    "alignas",      "alignof",
    "and",          "and_eq",
    "bitand",       "bitor",
    "catch",        "char16_t",
    "char32_t",     "class",
    "compl",        "concept",
    "const_cast",   "constexpr",
    "decltype",     "delete",
    "dynamic_cast", "explicit",
    "export",       "friend",
    "mutable",      "namespace",
    "new",          "noexcept",
    "not",          "not_eq",
    "nullptr",      "operator",
    "or",           "or_eq",
    "private",      "protected",
    "public",       "reinterpret_cast",
    "requires",     "static_assert",
    "static_cast",  "template",
    "this",         "thread_local",
    "throw",        "try",
    "typeid",       "typename",
    "using",        "virtual",
    "wchar_t",      "xor",
    "xor_eq",
};

/* Macros of the headers that generated code and its users include. */
static const char *const macros[] = {
    "BUFSIZ",      "CHAR_BIT",    "EOF",        "HUGE_VAL",       "HUGE_VALF",   "INFINITY",       "NAN",
    "NULL",        "RAND_MAX",    "SEEK_CUR",   "SEEK_END",       "SEEK_SET",    "SIZE_MAX",       "INT_MAX",
    "INT_MIN",     "LONG_MAX",    "LONG_MIN",   "UINT_MAX",       "DECIMAL_DIG", "FP_ILOGB0",      "FP_ILOGBNAN",
    "FP_INFINITE", "FP_NAN",      "FP_NORMAL",  "FP_SUBNORMAL",   "FP_ZERO",     "HUGE_VALL",      "INTMAX_MAX",
    "INTMAX_MIN",  "INTPTR_MAX",  "INTPTR_MIN", "MATH_ERREXCEPT", "MATH_ERRNO",  "SIG_ATOMIC_MAX", "SIG_ATOMIC_MIN",
    "UINTMAX_MAX", "UINTPTR_MAX", "WCHAR_MAX",  "WCHAR_MIN",      "WINT_MAX",    "WINT_MIN",       "math_errhandling",
    "M_E",         "M_LOG2E",     "M_LOG10E",   "M_LN2",          "M_LN10",      "M_PI",           "M_PI_2",
    "M_PI_4",      "M_1_PI",      "M_2_PI",     "M_2_SQRTPI",     "M_SQRT2",     "M_SQRT1_2",      "INT8_MAX",
    "INT16_MAX",   "INT32_MAX",   "INT64_MAX",  "INT8_MIN",       "INT16_MIN",   "INT32_MIN",      "INT64_MIN",
    "UINT8_MAX",   "UINT16_MAX",  "UINT32_MAX", "UINT64_MAX",     "PTRDIFF_MAX", "PTRDIFF_MIN",    "assert",
    "bool",        "errno",       "false",      "i386",           "linux",       "offsetof",       "signgam",
    "stderr",      "stdin",       "stdout",     "true",           "unix",
};

static const char *const macro_heads[] = {"DBL_", "FLT_", "LDBL_", "INT_FAST", "INT_LEAST", "UINT_FAST", "UINT_LEAST"};

/* Types of the headers that generated C includes: a C function of the host cannot be called so. */
static const char *const c_types[] = {
    "double_t", "float_t",     "int16_t",   "int32_t", "int64_t",  "int8_t",   "intmax_t",
    "intptr_t", "max_align_t", "ptrdiff_t", "size_t",  "uint16_t", "uint32_t", "uint64_t",
    "uint8_t",  "uintmax_t",   "uintptr_t", "wchar_t", "FILE",
};

static bool listed(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}
#define LISTED(list, name) listed(list, sizeof(list) / sizeof *(list), name)

/* What makes a name unfit for the generated C; NULL if nothing. */
static const char *unfit(const char *name, bool in_header)
{
    if (LISTED(c_keywords, name))
        return "a keyword of C";
    if (!in_header)
        return NULL;
    if (LISTED(cxx_keywords, name))
        return "a keyword of C++";
    if (LISTED(macros, name))
        return "a standard macro";
    for (size_t i = 0; i < sizeof macro_heads / sizeof *macro_heads; i++)
        if (!strncmp(name, macro_heads[i], strlen(macro_heads[i])))
            return "one that the C library keeps for its macros";
    return !strcmp(name, "main") ? "the host's entry point" : NULL;
}

static bool check_fit(checker *c, const char *name, src_span at, bool in_header)
{
    const char *why = unfit(name, in_header);
    if (why)
        return ERR(c, at, DIAG_UNFIT_NAME, name, why);
    if (in_header && (!strncmp(name, "tk_", 3) || !strncmp(name, "TK_", 3)))
        return ERR(c, at, DIAG_RESERVED_NAME, name, "names with 'tk_' in front belong to the runtime");
    if (in_header && (name[0] == '_' || strstr(name, "__")))
        return ERR(c, at, DIAG_RESERVED_NAME, name,
                   "C and C++ keep names with '_' in front or '__' inside for themselves");
    return true;
}

void names_check_item(checker *c, const ast_item *it)
{
    if (!check_fit(c, it->name, it->name_span, true))
        return;
    if (it->kind == AST_ITEM_KERNEL && !strcmp(it->name, "tk"))
        ERR(c, it->name_span, DIAG_RESERVED_NAME, it->name,
            "it makes names with 'tk_' in front, which belong to the runtime");
    if (it->is_extern && LISTED(c_types, it->name))
        ERR(c, it->name_span, DIAG_UNFIT_NAME, it->name, "a type of C");
    /* kernels may be called `step`: nothing calls them by that name but the host */
    if (it->kind == AST_ITEM_FUNC && is_builtin(c, it->name))
        ERR(c, it->name_span, DIAG_BUILTIN_NAME, it->name);
}

void names_check_member(checker *c, const ast_param *p)
{
    check_fit(c, p->name, p->span, true);
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
static bool is_made_of(const char *name, const ast_item *it)
{
    const size_t n = strlen(it->name);
    if (it->kind == AST_ITEM_KERNEL && !strncmp(name, it->name, n) && name[n] == '_')
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
        if (o->name && is_made_of(it->name, o)) {
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

void names_check_generated(checker *c, const ast_module *m)
{
    static const char *const fixed[] = {"create", "create_", "destroy",    "defaults",
                                        "status", "error",   "set_params", "params"};
    static const char *const of_kernel[] = {"", "_grad", "_jvp", "_hvp", "_grad_WORKSPACE", "_hvp_WORKSPACE"};
    made_table t = {.c = c};
    for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++)
        make_name(&t, fixed[k], NULL, (src_span){{0, 0, 0}, {0, 0, 0}});
    for (const ast_item *it = m->items; it; it = it->next) {
        if (is_template_item(it))
            continue;
        if (it->kind == AST_ITEM_KERNEL || it->is_export) {
            for (int k = 0; k < 4 + 2 * it->is_export; k++)
                make_name(&t, arena_printf(c->mem, "%s%s", it->name, of_kernel[k]), it->name, it->name_span);
            if (it->kind == AST_ITEM_KERNEL && is_made_of(c->ir->name, it)) {
                ERR(c, it->name_span, DIAG_GENERATED_NAME, it->name, c->ir->name);
                NOTE(c, it->name_span, "it is the name of the module; --prefix=NAME gives it another");
            }
        } else if (it->is_extern && it->name) {
            make_extern_name(&t, it, m);
        } else if (it->kind == AST_ITEM_STRUCT && it->name) {
            make_name(&t, it->name, it->name, it->name_span);
        } else if (it->kind == AST_ITEM_FIELD) {
            make_field_names(&t, it->name, it->name, it->name_span);
            for (const ast_attr *a = it->attrs; a; a = a->next)
                if (ir_field_layout_get(ir_field_layout_named(a->name))->properties & IR_LAYOUT_BYTES)
                    make_name(&t, arena_printf(c->mem, "bind_%s_strided", it->name), it->name, it->name_span);
            if (!strcmp(it->name, "tk") || !strcmp(it->name, "params"))
                ERR(c, it->name_span, DIAG_GENERATED_NAME, it->name, it->name);
        }
    }
    make_member_names(&t);
    ptrmap_free(&t.made);
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
    sym *before = e->local && e->local->owner == c->fn ? e->local : NULL;
    if (before && before->kind == SYM_BAD)
        before = NULL;
    /* a kernel is rarely called by its name, and `step` is what time loops count */
    if (!before && e->global && e->global->kind != SYM_KERNEL && !in_prelude(c))
        before = e->global;
    if (before) {
        ERR(c, at, DIAG_HIDES, name, sym_describe(before));
        NOTE(c, before->span, "'%s' is declared here", name);
    } else {
        check_fit(c, name, at, c->fn->in_header);
    }
    sym *s = ARENA_NEW(c->mem, sym);
    *s = (sym){.kind = kind, .name = name, .span = at, .owner = c->fn, .hidden = e->local, .task = c->fn->task};
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
        if (e->taken || e->global)
            continue;
        e->taken = true;
        return name;
    }
}
