/* C identifiers: the user's names, kept where C allows it and made unique where it does not. */
#include "codegen/names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/vec.h"

/* Words that a variable must not be called: C and C++ keywords, macros of the headers that generated code includes
 * (also under gnu11), and library functions that generated code calls or that a static function must not redeclare.
 * Sorted. */
/* clang-format off */
static const char *const reserved[] = {
    "DECIMAL_DIG", "EOF", "FP_ILOGB0", "FP_ILOGBNAN", "FP_INFINITE", "FP_NAN", "FP_NORMAL", "FP_SUBNORMAL", "FP_ZERO",
    "HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "I", "INFINITY", "INT16_C", "INT16_MAX", "INT16_MIN", "INT32_C",
    "INT32_MAX", "INT32_MIN", "INT64_C", "INT64_MAX", "INT64_MIN", "INT8_C", "INT8_MAX", "INT8_MIN", "INTMAX_C",
    "INTMAX_MAX", "INTMAX_MIN", "INTPTR_MAX", "INTPTR_MIN", "MATH_ERREXCEPT", "MATH_ERRNO", "M_1_PI", "M_2_PI",
    "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2", "M_LOG10E", "M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2", "M_SQRT2",
    "NAN", "NULL", "PTRDIFF_MAX", "PTRDIFF_MIN", "SIG_ATOMIC_MAX", "SIG_ATOMIC_MIN", "SIZE_MAX", "UINT16_C",
    "UINT16_MAX", "UINT32_C", "UINT32_MAX", "UINT64_C", "UINT64_MAX", "UINT8_C", "UINT8_MAX", "UINTMAX_C",
    "UINTMAX_MAX", "UINTPTR_MAX", "WCHAR_MAX", "WCHAR_MIN", "WINT_MAX", "WINT_MIN", "_Alignas", "_Alignof", "_Atomic",
    "_Bool", "_Complex", "_Generic", "_Imaginary", "_Noreturn", "_Pragma", "_Static_assert", "_Thread_local", "abs",
    "acos", "acosf", "acosh", "acoshf", "alignas", "alignof", "and", "and_eq", "asin", "asinf", "asinh", "asinhf",
    "asm", "assert", "atan", "atan2", "atan2f", "atanf", "atanh", "atanhf", "auto", "bitand", "bitor", "bool",
    "break", "case", "catch", "cbrt", "cbrtf", "ceil", "ceilf", "char", "char16_t", "char32_t", "class", "compl",
    "concept", "const", "const_cast", "constexpr", "continue", "copysign", "copysignf", "cos", "cosf", "cosh",
    "coshf", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "erf", "erfc", "erfcf",
    "erff", "errno", "exp", "exp10", "exp2", "exp2f", "expf", "explicit", "expm1", "expm1f", "export", "extern",
    "fabs", "fabsf", "false", "fdimf", "float", "floor", "floorf", "fma", "fmaf", "fmax", "fmaxf", "fmin", "fminf",
    "fmod", "fmodf", "for", "fpclassify", "friend", "goto", "hypot", "hypotf", "i386", "if", "inline", "int",
    "int16_t", "int32_t", "int64_t", "int8_t", "intptr_t", "isfinite", "isgreater", "isgreaterequal", "isinf",
    "isless", "islessequal", "islessgreater", "isnan", "isnormal", "isunordered", "labs", "ldexp", "lgamma",
    "lgammaf", "linux", "llabs", "llrint", "llround", "log", "log10", "log10f", "log1p", "log1pf", "log2", "log2f",
    "logf", "long", "lrint", "lround", "math_errhandling", "memchr", "memcmp", "memcpy", "memmove", "memset",
    "mutable", "namespace", "nearbyint", "new", "nextafter", "nexttoward", "noexcept", "not", "not_eq", "nullptr",
    "offsetof", "operator", "or", "or_eq", "pow", "powf", "printf", "private", "protected", "public", "register",
    "reinterpret_cast", "remainder", "remquo", "requires", "restrict", "return", "rintf", "round", "roundf", "short",
    "signbit", "signed", "sin", "sincos", "sinf", "sinh", "sinhf", "size_t", "sizeof", "snprintf", "sqrt", "sqrtf",
    "static", "static_assert", "static_cast", "strcat", "strchr", "strcmp", "strcpy", "strlen", "strncmp", "strncpy",
    "strrchr", "strstr", "struct", "switch", "tan", "tanf", "tanh", "tanhf", "template", "tgamma", "tgammaf", "this",
    "thread_local", "throw", "true", "trunc", "truncf", "try", "typedef", "typeid", "typename", "typeof", "uint16_t",
    "uint32_t", "uint64_t", "uint8_t", "uintptr_t", "union", "unix", "unsigned", "using", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
};
/* clang-format on */

/* What only a name of the file must not be: library names that generated code never calls, but that the headers it
 * includes declare. */
static const char *const reserved_in_file[] = {
    "asprintf",    "basename",    "bcmp",      "bcopy",     "bzero",       "clearerr",   "ctermid",      "cuserid",
    "dprintf",     "drem",        "fclose",    "fdim",      "fdopen",      "feof",       "ferror",       "fflush",
    "ffs",         "fgetc",       "fgetpos",   "fgets",     "fileno",      "finite",     "flockfile",    "fmemopen",
    "fopen",       "fopencookie", "fprintf",   "fputc",     "fputs",       "fread",      "freopen",      "frexp",
    "fscanf",      "fseek",       "fseeko",    "fsetpos",   "ftell",       "ftello",     "funlockfile",  "fwrite",
    "gamma",       "getc",        "getchar",   "getdelim",  "getline",     "gets",       "getw",         "ilogb",
    "index",       "isascii",     "j0",        "j1",        "jn",          "lgamma_r",   "logb",         "main",
    "memccpy",     "memfrob",     "memmem",    "mempcpy",   "memrchr",     "modf",       "nan",          "nanf",
    "pclose",      "perror",      "popen",     "putc",      "putchar",     "puts",       "putw",         "rawmemchr",
    "remove",      "rename",      "renameat",  "rewind",    "rindex",      "rint",       "scalb",        "scalbln",
    "scalbn",      "scanf",       "setbuf",    "setbuffer", "setlinebuf",  "setvbuf",    "sigabbrev_np", "signgam",
    "significand", "sprintf",     "sscanf",    "stpcpy",    "stpncpy",     "strcasecmp", "strcasestr",   "strcoll",
    "strcspn",     "strdup",      "strerror",  "strfry",    "strncasecmp", "strncat",    "strndup",      "strnlen",
    "strpbrk",     "strsep",      "strsignal", "strspn",    "strtok",      "strverscmp", "strxfrm",      "swab",
    "tempnam",     "tmpfile",     "tmpnam",    "toascii",   "ungetc",      "vprintf",    "y0",           "y1",
    "yn",
};

/* So begin the macros of float.h, and the many of stdint.h that nobody uses. */
static const char *const reserved_heads[] = {"DBL_",      "FLT_",      "LDBL_",     "INT_FAST",
                                             "INT_LEAST", "UINT_FAST", "UINT_LEAST"};

static int compare_words(const void *key, const void *word)
{
    return strcmp(key, *(const char *const *)word);
}

#define HAS_WORD(list, s) (bsearch((s), (list), sizeof(list) / sizeof *(list), sizeof *(list), compare_words) != NULL)

static bool is_library_name(const char *s)
{
    if (HAS_WORD(reserved_in_file, s))
        return true;
    char stem[32]; /* rintf, rintl */
    const size_t n = strlen(s);
    if (n < 2 || n > sizeof stem || (s[n - 1] != 'f' && s[n - 1] != 'l'))
        return false;
    memcpy(stem, s, n - 1);
    stem[n - 1] = '\0';
    return HAS_WORD(reserved_in_file, stem) || HAS_WORD(reserved, stem);
}

/* Whatever stands behind it. */
static bool has_reserved_head(const char *s)
{
    if (strncmp(s, "tk_", 3) == 0 || strncmp(s, "TK_", 3) == 0 || s[0] == '_' || strstr(s, "__"))
        return true;
    for (size_t i = 0; i < sizeof reserved_heads / sizeof *reserved_heads; i++)
        if (strncmp(s, reserved_heads[i], strlen(reserved_heads[i])) == 0)
            return true;
    return false;
}

static bool is_reserved(const char *s, bool in_file)
{
    if (has_reserved_head(s))
        return true;
    return HAS_WORD(reserved, s) || (in_file && is_library_name(s));
}

const char *name_member(arena *mem, const char *name)
{
    return is_reserved(name, false) ? arena_printf(mem, "%s_", name) : name;
}

/* ---- scoped tables ---- */

typedef struct entry {
    const char *key;
    bool used;
    uint32_t next; /* suffix to try first */
} entry;

typedef struct undo {
    const char *key; /* NULL: a scope begins */
    uint32_t next;
    bool used;
} undo;

struct names {
    arena *mem;
    const names *outer;
    entry *slot; /* open addressing, cap is a power of two */
    size_t len, cap;
    VEC(undo) log;
    uint32_t temporaries;
};

names *names_create(arena *mem, const names *outer)
{
    names *n = xmalloc(sizeof *n);
    *n = (names){.mem = mem, .outer = outer, .cap = 64};
    n->slot = xmalloc(n->cap * sizeof *n->slot);
    memset(n->slot, 0, n->cap * sizeof *n->slot);
    return n;
}

void names_free(names *n)
{
    free(n->slot);
    vec_free(&n->log);
    free(n);
}

static entry *find(const names *n, const char *key)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (const char *p = key; *p; p++)
        h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    size_t i = (size_t)h & (n->cap - 1);
    while (n->slot[i].key && strcmp(n->slot[i].key, key) != 0)
        i = (i + 1) & (n->cap - 1);
    return &n->slot[i];
}

static entry *insert(names *n, const char *key)
{
    entry *at = find(n, key);
    if (at->key)
        return at;
    if (2 * (n->len + 1) > n->cap) {
        entry *old = n->slot;
        const size_t cap = n->cap;
        n->cap *= 2;
        n->slot = xmalloc(n->cap * sizeof *n->slot);
        memset(n->slot, 0, n->cap * sizeof *n->slot);
        for (size_t i = 0; i < cap; i++)
            if (old[i].key)
                *find(n, old[i].key) = old[i];
        free(old);
        at = find(n, key);
    }
    n->len++;
    at->key = arena_strdup(n->mem, key);
    at->next = 2;
    return at;
}

static bool is_taken(const names *n, const char *key)
{
    for (; n; n = n->outer)
        if (find(n, key)->used)
            return true;
    return false;
}

void names_push(names *n)
{
    vec_push(&n->log, ((undo){NULL, 0, false}));
}

void names_pop(names *n)
{
    for (;;) {
        const undo u = vec_pop(&n->log);
        if (!u.key)
            return;
        entry *at = find(n, u.key);
        at->used = u.used;
        at->next = u.next;
    }
}

void names_release(names *n, const char *name)
{
    find(n, name)->used = false;
}

/* Hints come from the user and from passes: what is no identifier becomes one. */
static const char *identifier(arena *mem, const char *hint)
{
    const size_t len = strlen(hint);
    char *s = arena_alloc(mem, len + 3), *p = s;
    if (hint[0] == '_' || isdigit((unsigned char)hint[0]) || !hint[0])
        *p++ = 'v';
    for (const char *h = hint; *h; h++) {
        const char ch = isalnum((unsigned char)*h) && (unsigned char)*h < 128 ? *h : '_';
        if (ch != '_' || p == s || p[-1] != '_')
            *p++ = ch;
    }
    return s;
}

static bool ends_in_underscore(const char *s)
{
    return s[0] && s[strlen(s) - 1] == '_';
}

static const char *unique(names *n, const char *hint, bool scoped)
{
    const char *name;
    if (!hint) {
        do
            name = arena_printf(n->mem, "t%u", ++n->temporaries);
        while (is_taken(n, name));
    } else {
        const char *base = name = identifier(n->mem, hint);
        if (has_reserved_head(base))
            base = name = arena_printf(n->mem, "v_%s", base);
        if (is_reserved(base, !n->outer) || is_taken(n, base)) {
            entry *at = insert(n, base);
            if (scoped && n->log.len)
                vec_push(&n->log, ((undo){at->key, at->next, at->used}));
            uint32_t k = at->next;
            do
                name = arena_printf(n->mem, "%s%s%u", base, ends_in_underscore(base) ? "" : "_", k++);
            while (is_reserved(name, !n->outer) || is_taken(n, name)); /* M_PI, M_PI_2 */
            find(n, base)->next = k;
        }
    }
    entry *at = insert(n, name);
    if (scoped && n->log.len)
        vec_push(&n->log, ((undo){at->key, at->next, at->used}));
    at->used = true;
    return at->key;
}

const char *names_unique(names *n, const char *hint)
{
    return unique(n, hint, true);
}

const char *names_unique_function(names *n, const char *hint)
{
    return unique(n, hint, false);
}

const char *names_internal(names *n, const names *hints, const char *base)
{
    const char *name = base;
    for (int k = 2; is_reserved(name, false) || is_taken(n, name) || is_taken(hints, name); k++)
        name = arena_printf(n->mem, "%s_%d", base, k);
    entry *at = insert(n, name);
    at->used = true;
    return at->key;
}
