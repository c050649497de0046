/* The name table: one entry for each name. Names that C keeps for itself. */
#include <string.h>

#include "check/base/checker.h"

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

name_entry *names_slot(checker *c, const char *name)
{
    name_entry *e = c->cap ? find(c, name) : NULL;
    if (e && e->name) /* entries move for new names alone */
        return e;
    if (2 * (c->nentries + 1) > c->cap)
        grow(c);
    e = find(c, name);
    e->name = name;
    c->nentries++;
    return e;
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
    "stderr",      "stdin",       "stdout",     "true",           "unix",        "INT8_C",         "INT16_C",
    "INT32_C",     "INT64_C",     "INTMAX_C",   "UINT8_C",        "UINT16_C",    "UINT32_C",       "UINT64_C",
    "UINTMAX_C",
};

static const char *const macro_heads[] = {"DBL_", "FLT_", "LDBL_", "INT_FAST", "INT_LEAST", "UINT_FAST", "UINT_LEAST"};

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

bool names_check_fit(checker *c, const char *name, src_span at, bool in_header)
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

/* ---- names that derivatives make ---- */

bool generated_param_collides(const char *name, const ast_param *other)
{
    size_t n = strlen(other->name);
    if (strncmp(name, other->name, n) != 0)
        return false;
    const char *rest = name + n;
    return !strcmp(rest, "_grad") || !strcmp(rest, "_dual") || !strcmp(rest, "_grad_dual");
}
