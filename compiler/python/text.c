/* Types and numbers in Python. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "python/python_int.h"

const char *py_ctype(arena *mem, scalar s)
{
    if (s == SC_BOOL)
        return "_ct.c_bool";
    if (scalar_is_float(s))
        return scalar_bytes(s) == 8 ? "_ct.c_double" : "_ct.c_float";
    return arena_printf(mem, "_ct.c_%sint%d", scalar_is_signed(s) ? "" : "u", 8 * scalar_bytes(s));
}

const char *py_dtype(arena *mem, scalar s)
{
    return arena_printf(mem, "_%s", scalar_name(s));
}

const char *py_convert(arena *mem, scalar s)
{
    return scalar_is_float(s) ? "_as_real" : arena_printf(mem, "_as_%s", scalar_name(s));
}

const char *py_shape(arena *mem, ir_shape_kind k, int rows, int cols)
{
    if (k == IR_SHAPE_SCALAR)
        return "()";
    return k == IR_SHAPE_VEC ? arena_printf(mem, "(%d,)", rows) : arena_printf(mem, "(%d, %d)", rows, cols);
}

/* The fewest digits that are this number. */
static const char *float_text(arena *mem, scalar s, double f)
{
    if (isnan(f) || isinf(f))
        return isnan(f) ? "float(\"nan\")" : f < 0 ? "float(\"-inf\")" : "float(\"inf\")";
    for (int digits = 1;; digits++) {
        const char *text = arena_printf(mem, "%.*g", digits, f);
        const bool same = scalar_bytes(s) == 8 ? strtod(text, NULL) == f : strtof(text, NULL) == (float)f;
        if (same || digits == 17)
            return strpbrk(text, ".e") ? text : arena_printf(mem, "%s.0", text);
    }
}

const char *py_number(arena *mem, scalar s, int64_t i, double f)
{
    if (s == SC_BOOL)
        return i ? "True" : "False";
    if (scalar_is_float(s))
        return float_text(mem, s, f);
    return s == SC_U64 ? arena_printf(mem, "%llu", (unsigned long long)i) : arena_printf(mem, "%lld", (long long)i);
}

const char *py_member(arena *mem, const ir_struct *r, int k)
{
    py_names taken = {0};
    const char *name = NULL;
    for (int i = 0; i <= k; i++)
        name = py_name(mem, &taken, PY_MEMBER, r->members[i].name);
    vec_free(&taken);
    return name;
}

const char *python_form(arena *mem, const ir_func *f, kernel_form form)
{
    return arena_printf(mem, "%s%s", f->name, form_suffix(form));
}

bool python_is_argument(const item *x)
{
    return x->role != ROLE_EXTENT && x->role != ROLE_RESULT;
}

bool python_is_required(const item *x)
{
    return x->role == ROLE_ARRAY || x->role == ROLE_VALUE;
}
