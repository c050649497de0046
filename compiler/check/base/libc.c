/* Extern funcs: their types, and names that the headers of generated C declare. */
#include <string.h>

#include "check/base/checker.h"
#include "util/strbuf.h"

/* Functions of math.h of doubles, by the number of their parameters; with f behind it, of floats. */
static const char *const of_one[] = {
    "acos",        "acosh",  "asin", "asinh", "atan",  "atanh", "cbrt",   "ceil",      "cos",   "cosh",
    "erf",         "erfc",   "exp",  "exp10", "exp2",  "expm1", "fabs",   "floor",     "gamma", "j0",
    "j1",          "lgamma", "log",  "log10", "log1p", "log2",  "logb",   "nearbyint", "rint",  "round",
    "significand", "sin",    "sinh", "sqrt",  "tan",   "tanh",  "tgamma", "trunc",     "y0",    "y1",
};
static const char *const of_two[] = {
    "atan2", "copysign", "drem", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "pow", "remainder", "scalb",
};

/* What else math.h declares, of types that no extern func has; with f and l behind it, too. */
static const char *const others_of_math[] = {
    "finite", "fpclassify", "frexp", "ilogb", "isinf",      "isnan",  "llrint",  "llround",
    "lrint",  "lround",     "modf",  "nan",   "nexttoward", "remquo", "scalbln", "sincos",
};

/* What else the headers declare, or a C compiler knows. */
/* clang-format off */
static const char *const others[] = {
    "abort", "abs", "asprintf", "atexit", "basename", "bcmp", "bcopy", "bzero", "calloc", "clearerr", "ctermid",
    "cuserid", "dprintf", "exit", "explicit_bzero", "fclose", "fdopen", "feof", "ferror", "fflush", "ffs", "ffsl",
    "ffsll", "fgetc", "fgetpos", "fgets", "fileno", "flockfile", "fmemopen", "fopen", "fopencookie", "fprintf",
    "fputc", "fputs", "fread", "free", "freopen", "fscanf", "fseek", "fseeko", "fsetpos", "ftell", "ftello",
    "ftrylockfile", "funlockfile", "fwrite", "getc", "getchar", "getdelim", "getenv", "getline", "getw", "index",
    "isascii", "isfinite", "isgreater", "isgreaterequal", "isless", "islessequal", "islessgreater", "isnormal",
    "isunordered", "labs", "lgamma_r", "lgammaf_r", "lgammal_r", "llabs", "malloc", "memccpy", "memchr", "memcmp",
    "memcpy", "memfrob", "memmem", "memmove", "mempcpy", "memrchr", "memset", "open_memstream", "pclose", "perror",
    "popen", "printf", "putc", "putchar", "puts", "putw", "rand", "rawmemchr", "realloc", "remove", "rename",
    "renameat", "renameat2", "rewind", "rindex", "scanf", "setbuf", "setbuffer", "setlinebuf", "setvbuf",
    "sigabbrev_np", "sigdescr_np", "signbit", "snprintf", "sprintf", "srand", "sscanf", "stpcpy", "stpncpy",
    "strcasecmp", "strcasecmp_l", "strcasestr", "strcat", "strchr", "strchrnul", "strcmp", "strcoll", "strcoll_l",
    "strcpy", "strcspn", "strdup", "strerror", "strerror_l", "strerror_r", "strerrordesc_np", "strerrorname_np",
    "strfry", "strlen", "strncasecmp", "strncasecmp_l", "strncat", "strncmp", "strncpy", "strndup", "strnlen",
    "strpbrk", "strrchr", "strsep", "strsignal", "strspn", "strstr", "strtok", "strtok_r", "strverscmp", "strxfrm",
    "strxfrm_l", "swab", "system", "tempnam", "tmpfile", "tmpnam", "toascii", "ungetc", "vasprintf", "vdprintf",
    "vfprintf", "vfscanf", "vprintf", "vscanf", "vsnprintf", "vsprintf", "vsscanf",
};
/* clang-format on */

static bool among(const char *const *list, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) == len && !strncmp(list[i], name, len))
            return true;
    return false;
}
#define AMONG(list, name, len) among(list, sizeof(list) / sizeof *(list), name, len)

/* Of others of math.h: f its float, i an int. */
static const struct {
    const char *name, *operands;
} mixed[] = {{"fma", "fff"}, {"jn", "if"}, {"ldexp", "fi"}, {"scalbn", "fi"}, {"yn", "if"}};

static const char *operands_of(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++)
        if (strlen(mixed[i].name) == len && !strncmp(mixed[i].name, name, len))
            return mixed[i].operands;
    return AMONG(of_one, name, len) ? "f" : AMONG(of_two, name, len) ? "ff" : NULL;
}

static bool is_number(const ty *t, scalar s)
{
    return t && t->kind == TY_SCALAR && t->elem == s;
}

bool extern_fits_libc(checker *c, const sym *s)
{
    const size_t len = strlen(s->name);
    const char last = s->name[len - 1];
    scalar type = SC_F64;
    const char *operands = operands_of(s->name, len);
    if (!operands && len > 1 && (last == 'f' || last == 'l')) {
        operands = operands_of(s->name, len - 1);
        type = last == 'f' ? SC_F32 : SC_NONE; /* no type of ours is long double */
    }
    const bool other = AMONG(others, s->name, len) || AMONG(others_of_math, s->name, len) ||
                       ((last == 'f' || last == 'l') && AMONG(others_of_math, s->name, len - 1));
    if (!operands && !other)
        return true;
    bool fits = operands && s->nparams == (int)strlen(operands) && is_number(s->result, type);
    for (int k = 0; k < s->nparams && fits; k++)
        fits = is_number(s->param_types[k], operands[k] == 'i' ? SC_I32 : type);
    if (fits)
        return true;
    ERR(c, s->span, DIAG_UNFIT_NAME, s->name, "a function that the C library declares otherwise");
    if (operands && type != SC_NONE) {
        strbuf b = {0};
        for (const char *o = operands; *o; o++)
            sb_printf(&b, "%s%s", o > operands ? ", " : "", *o == 'i' ? "i32" : scalar_name(type));
        NOTE(c, s->span, "there it is %s(%s) -> %s", s->name, sb_str(&b), scalar_name(type));
        sb_free(&b);
    }
    return false;
}

bool extern_has_type(checker *c, const char *what, const ty *t, src_span at)
{
    enum { MOST = 16 }; /* what functions that stay calls can have */
    const bool tuple = t->kind == TY_TUPLE;
    for (int k = 0; k < (tuple ? t->nmembers : 1); k++) {
        const ty *part = tuple ? t->members[k] : t;
        int most = 0;
        for (int i = 0; i < ty_nleaves(part); i++)
            most = ty_ncomp(ty_leaf(c->types, part, i)) > most ? ty_ncomp(ty_leaf(c->types, part, i)) : most;
        if (ty_is_value(part) && most <= MOST)
            continue;
        if (ty_is_value(part))
            ERR(c, at, DIAG_SIZE, arena_printf(c->mem, "the number of components of %s of an extern func", what),
                (long)MOST, (long long)most);
        else
            ERR(c, at, DIAG_NOT_SCALAR_TYPE, arena_printf(c->mem, "%s of an extern func", what),
                ty_name(c->types, part));
        return false;
    }
    return true;
}
