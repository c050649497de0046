#include "files/name.h"

#include <stdbool.h>
#include <string.h>

#include "files/files.h"

/* The module's struct has the module's name: it must differ from keywords of C11 and C++17 and from what the headers
 * declare that generated code and nearly every host program include. */
static const char *const reserved[] = {
    "alignas",     "alignof",     "and",       "and_eq",    "asm",        "auto",         "bitand",
    "bitor",       "bool",        "break",     "case",      "catch",      "char",         "char16_t",
    "char32_t",    "class",       "compl",     "const",     "const_cast", "constexpr",    "continue",
    "decltype",    "default",     "delete",    "do",        "double",     "dynamic_cast", "else",
    "enum",        "explicit",    "export",    "extern",    "false",      "float",        "for",
    "friend",      "goto",        "if",        "inline",    "int",        "long",         "mutable",
    "namespace",   "new",         "noexcept",  "not",       "not_eq",     "nullptr",      "operator",
    "or",          "or_eq",       "private",   "protected", "public",     "register",     "reinterpret_cast",
    "restrict",    "return",      "short",     "signed",    "sizeof",     "static",       "static_assert",
    "static_cast", "struct",      "switch",    "template",  "this",       "thread_local", "throw",
    "true",        "try",         "typedef",   "typeid",    "typename",   "typeof",       "union",
    "unsigned",    "using",       "virtual",   "void",      "volatile",   "wchar_t",      "while",
    "xor",         "xor_eq",      "main",      "tk",        "linux",      "unix",         "NULL",
    "INFINITY",    "NAN",         "size_t",    "ptrdiff_t", "offsetof",   "float_t",      "double_t",
    "acos",        "acosh",       "asin",      "asinh",     "atan",       "atan2",        "atanh",
    "cbrt",        "ceil",        "copysign",  "cos",       "cosh",       "erf",          "erfc",
    "exp",         "exp2",        "expm1",     "fabs",      "fdim",       "floor",        "fma",
    "fmax",        "fmin",        "fmod",      "frexp",     "gamma",      "hypot",        "ilogb",
    "isfinite",    "isinf",       "isnan",     "isnormal",  "j0",         "j1",           "jn",
    "ldexp",       "lgamma",      "llrint",    "llround",   "log",        "log10",        "log1p",
    "log2",        "logb",        "lrint",     "lround",    "modf",       "nan",          "nearbyint",
    "nextafter",   "pow",         "remainder", "remquo",    "rint",       "round",        "scalb",
    "scalbn",      "significand", "signbit",   "signgam",   "sin",        "sinh",         "sqrt",
    "tan",         "tanh",        "tgamma",    "trunc",     "y0",         "y1",           "yn",
    "basename",    "bcmp",        "bcopy",     "bzero",     "ffs",        "index",        "memchr",
    "memcmp",      "memcpy",      "memmove",   "memset",    "rindex",     "strcat",       "strchr",
    "strcmp",      "strcpy",      "strdup",    "strlen",    "strsep",     "strstr",       "strtok",
    "abort",       "abs",         "atexit",    "atof",      "atoi",       "atol",         "bsearch",
    "calloc",      "div",         "exit",      "free",      "getenv",     "labs",         "ldiv",
    "malloc",      "qsort",       "rand",      "random",    "realloc",    "srand",        "srandom",
    "strtod",      "strtol",      "system",    "clearerr",  "fclose",     "feof",         "ferror",
    "fflush",      "fgetc",       "fgets",     "fopen",     "fprintf",    "fputc",        "fputs",
    "fread",       "fseek",       "ftell",     "fwrite",    "getc",       "getchar",      "getline",
    "perror",      "printf",      "putc",      "putchar",   "puts",       "remove",       "rename",
    "rewind",      "scanf",       "snprintf",  "sprintf",   "sscanf",     "stderr",       "stdin",
    "stdout",      "tmpfile",     "ungetc",
};

/* Headers of C11, and what the headers of C and C++ include, as far as their names are not above: with -I of its
 * folder, math.h of a module 'math' would be found in their place. */
static const char *const headers[] = {
    "assert", "complex", "ctype",       "errno",    "fenv",    "inttypes",  "iso646",  "limits",  "locale",
    "math",   "setjmp",  "signal",      "stdalign", "stdarg",  "stdatomic", "stdbool", "stddef",  "stdint",
    "stdio",  "stdlib",  "stdnoreturn", "string",   "tgmath",  "threads",   "time",    "uchar",   "wchar",
    "wctype", "alloca",  "endian",      "features", "libintl", "pthread",   "sched",   "strings", "syslimits",
};

static bool is_identifier(const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char more[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return strspn(s, letters) > 0 && s[strspn(s, more)] == '\0';
}

/* Names that C keeps for itself: _X, __x, x__y (C++). */
static bool is_reserved(const char *s)
{
    if (s[0] == '_' || strstr(s, "__"))
        return true;
    const size_t n = strlen(s);
    if (n > 2 && !strcmp(s + n - 2, "_t"))
        return true; /* int32_t, and all of POSIX's */
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!strcmp(s, reserved[i]))
            return true;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (!strcmp(s, headers[i]))
            return true;
    return !strncmp(s, "tk_", 3) || !strncmp(s, "TK_", 3);
}

const char *module_name(arena *mem, diag_sink *d, const char *path, const char *prefix)
{
    const char *name = prefix;
    if (!name) {
        const char *base = path_base(path), *dot = strrchr(base, '.');
        name = arena_strndup(mem, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
    }
    const src_span nowhere = span_at((src_loc){0, 0, 0});
    if (!is_identifier(name))
        diag(d, nowhere, DIAG_MODULE_NAME, name);
    else if (is_reserved(name))
        diag(d, nowhere, DIAG_MODULE_NAME_RESERVED, name);
    else
        return name;
    diag_note(d, nowhere,
              prefix ? "--prefix must give another name" : "give the module another name with --prefix=NAME");
    return NULL;
}
