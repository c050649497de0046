/* Tables of built-in functions and statements. */
#include "check/base/builtins.h"

#include <string.h>

static const static_builtin statics[] = {
    {"len", CALL_LEN, 1, 1, false},
    {"rows", CALL_ROWS, 1, 1, false},
    {"cols", CALL_COLS, 1, 1, false},
    {"identity", CALL_IDENTITY, 1, 1, false},
    {"is_vec", CALL_IS_VEC, 1, 1, true},
    {"is_mat", CALL_IS_MAT, 1, 1, true},
    {"is_float", CALL_IS_FLOAT, 1, 1, true},
    {"is_bool", CALL_IS_BOOL, 1, 1, true},
    {"takes_vec", CALL_TAKES_VEC, 1, 1, true},
    {"to_elem", CALL_TO_ELEM, 2, 2, true},
    {"zeros_like", CALL_ZEROS_LIKE, 2, 3, true},
    {"epsilon", CALL_EPSILON, 1, 1, true},
};

static const atomic_builtin atomics[] = {
    {"atomic_add", OP_ADD, false, false}, {"atomic_sub", OP_ADD, true, false}, {"atomic_min", OP_MIN, false, false},
    {"atomic_max", OP_MAX, false, false}, {"atomic_and", OP_AND, false, true}, {"atomic_or", OP_OR, false, true},
    {"atomic_xor", OP_XOR, false, true},
};

static const statement_builtin statements[] = {
    {"print", CALL_PRINT, false, false},
    {"assert", CALL_ASSERT, false, false},
    {"stop_grad", CALL_STOP_GRAD, false, true},
    {"require", CALL_REQUIRE, true, false},
};

const char *const decompositions[DECOMPOSITIONS] = {"svd", "svd_rotation", "sym_eig"};

#define COUNT(table) (sizeof(table) / sizeof *(table))

const static_builtin *static_find(const char *name, bool prelude)
{
    for (size_t k = 0; k < COUNT(statics); k++)
        if (!strcmp(statics[k].name, name))
            return prelude || !statics[k].prelude ? &statics[k] : NULL;
    return NULL;
}

const atomic_builtin *atomic_find(const char *name)
{
    for (size_t k = 0; k < COUNT(atomics); k++)
        if (!strcmp(atomics[k].name, name))
            return &atomics[k];
    return NULL;
}

const statement_builtin *statement_find(const char *name, bool prelude)
{
    for (size_t k = 0; k < COUNT(statements); k++)
        if (!strcmp(statements[k].name, name))
            return prelude || !statements[k].prelude ? &statements[k] : NULL;
    return NULL;
}

bool is_random(const char *name)
{
    return !strcmp(name, "random") || !strcmp(name, "randn") || !strcmp(name, "random_int");
}

bool is_range(const char *name)
{
    return !strcmp(name, "range") || !strcmp(name, "ndrange") || !strcmp(name, "grouped");
}

bool is_statement(const char *name, bool prelude)
{
    const statement_builtin *s = statement_find(name, prelude);
    return s && !s->has_value;
}

bool is_builtin(checker *c, const char *name)
{
    return op_find_user(name) != OP_COUNT || is_random(name) || atomic_find(name) || names_entry(c, name)->prelude ||
           static_find(name, false) || is_range(name) || is_statement(name, false);
}

const sym *decomposition(checker *c, int k)
{
    return names_slot(c, intern(c->names, decompositions[k]))->prelude;
}

bool is_decomposition(checker *c, const sym *s)
{
    bool is = false;
    for (int k = 0; k < DECOMPOSITIONS && s->prelude; k++) {
        const sym *d = decomposition(c, k);
        is |= d && (s == d || s == d->custom_grad);
    }
    return is;
}

/* ---- calls that are none ---- */

val wrong_count(checker *c, const char *name, const char *takes, int given, src_span at)
{
    ERR(c, at, DIAG_ARGUMENT_COUNT, name, takes, given);
    return val_error(c, at);
}

val called_too_early(checker *c, src_span at)
{
    ERR(c, at, DIAG_NOT_CONSTANT, c->extents ? "an extent" : "a constant");
    NOTE(c, at, "functions are not called at compile time");
    return val_error(c, at);
}
