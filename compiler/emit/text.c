/* Constants, types and strings as C text. */
#include "emit/emit_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest decimal that reads back as the same float or double. */
static const char *float_text(arena *mem, scalar type, double x, int *prec)
{
    const bool single = type == SC_F32;
    if (isnan(x) || isinf(x)) {
        const char *macro = isnan(x) ? "NAN" : "INFINITY";
        /* the macros are floats: without the cast a double made of them is an implicit promotion */
        const char *text = single ? macro : arena_printf(mem, "(double)%s", macro);
        *prec = single ? PREC_PRIMARY : PREC_UNARY;
        if (isinf(x) && x < 0) {
            *prec = PREC_UNARY;
            text = arena_printf(mem, "-%s", text);
        }
        return text;
    }
    char s[40];
    *prec = signbit(x) ? PREC_UNARY : PREC_PRIMARY;
    if (fabs(x) < 1e6 && x == floor(x)) /* 100.0, where the shortest is 1e2 */
        return arena_printf(mem, "%.1f%s", x, single ? "f" : "");
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(s, sizeof s, "%.*g", digits, x);
        if (single ? strtof(s, NULL) == (float)x : strtod(s, NULL) == x)
            break;
    }
    char *exponent = strchr(s, 'e');
    if (!exponent)
        return arena_printf(mem, "%s%s%s", s, strchr(s, '.') ? "" : ".0", single ? "f" : "");
    const int power = atoi(exponent + 1);
    *exponent = '\0';
    return arena_printf(mem, "%se%d%s", s, power, single ? "f" : "");
}

const char *const_text(arena *mem, scalar type, int64_t i, double f, int *prec)
{
    *prec = PREC_PRIMARY;
    if (scalar_is_float(type))
        return float_text(mem, type, f, prec);
    switch (type) {
    case SC_PTR:
        return "NULL";
    case SC_BOOL:
        return i ? "true" : "false";
    case SC_U8:
        return arena_printf(mem, "%u", (unsigned)(uint8_t)i);
    case SC_U16:
        return arena_printf(mem, "%u", (unsigned)(uint16_t)i);
    case SC_U32:
        return arena_printf(mem, "%uu", (unsigned)(uint32_t)i);
    case SC_U64:
        return (uint64_t)i <= UINT32_MAX ? arena_printf(mem, "%uu", (unsigned)i)
                                         : arena_printf(mem, "UINT64_C(%llu)", (unsigned long long)i);
    default:
        break;
    }
    if (i == INT64_MIN)
        return "INT64_MIN";
    if (i == INT32_MIN)
        return "INT32_MIN";
    const bool small = i >= INT32_MIN && i <= INT32_MAX;
    if (i < 0)
        *prec = PREC_UNARY;
    return small ? arena_printf(mem, "%lld", (long long)i)
                 : arena_printf(mem, "%sINT64_C(%lld)", i < 0 ? "-" : "", (long long)(i < 0 ? -i : i));
}

const char *zero_text(scalar type)
{
    switch (type) {
    case SC_PTR:
        return "NULL";
    case SC_BOOL:
        return "false";
    case SC_F32:
        return "0.0f";
    case SC_F64:
        return "0.0";
    default:
        return "0";
    }
}

const char *scalar_enum(scalar s)
{
    static const char *const text[SC_COUNT] = {
#define SCALAR(id, name, c_type, bytes, kind) [SC_##id] = "TK_" #id,
#include "util/scalar.def"
#undef SCALAR
    };
    return text[s];
}

const char *c_string(arena *mem, const char *s)
{
    strbuf b = {0};
    quote_c(&b, s);
    const char *r = arena_strdup(mem, sb_str(&b));
    sb_free(&b);
    return r;
}

const char *source_base(const emitter *e)
{
    return quote_base(e->mem, e->m->source ? e->m->source : e->m->name);
}

const char *base_of(const emitter *e, src_loc loc)
{
    const char *path = loc.file && e->m->diag ? diag_file_path(e->m->diag, loc.file) : NULL;
    return path ? quote_base(e->mem, path) : source_base(e);
}

const char *place_of(const emitter *e, src_loc loc)
{
    return arena_printf(e->mem, "%s:%u", base_of(e, loc), loc.line);
}

const char *wrap_list(arena *mem, const char *list, size_t column, int indent)
{
    enum { WIDTH = 130 };
    if (column + strlen(list) <= WIDTH)
        return list;
    strbuf b = {0};
    while (*list) {
        size_t n = 0;
        for (int depth = 0; list[n] && (depth || list[n] != ','); n++)
            depth += (list[n] == '(') - (list[n] == ')');
        n += list[n] == ',';
        if (b.len && column + n > WIDTH) {
            sb_printf(&b, "\n%*s", 4 * indent, "");
            column = 4 * (size_t)indent;
        } else if (b.len) {
            sb_addc(&b, ' ');
            column++;
        }
        sb_addn(&b, list, n);
        column += n;
        list += n;
        list += *list == ' ';
    }
    const char *r = arena_strdup(mem, sb_str(&b));
    sb_free(&b);
    return r;
}
