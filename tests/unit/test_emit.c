/* The emitter's small parts: constants read back as what they were, names are unique and legal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "emit/emit_int.h"

static void floats_read_back(void **state)
{
    (void)state;
    arena *mem = arena_create();
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double d;
        float f;
        const uint32_t half = (uint32_t)(seed >> 32);
        memcpy(&d, &seed, sizeof d);
        memcpy(&f, &half, sizeof f);
        int prec;
        if (isfinite(d)) {
            const char *text = const_text(mem, SC_F64, 0, d, &prec);
            assert_true(strtod(text, NULL) == d);
            assert_true(strpbrk(text, ".e") != NULL);
            assert_int_equal(prec == PREC_UNARY, text[0] == '-');
        }
        if (isfinite(f)) {
            const char *text = const_text(mem, SC_F32, 0, f, &prec);
            assert_true(strtof(text, NULL) == f);
            assert_int_equal(text[strlen(text) - 1], 'f');
        }
    }
    arena_destroy(mem);
}

static void constants_have_their_spelling(void **state)
{
    (void)state;
    static const struct {
        scalar type;
        int64_t i;
        double f;
        const char *text;
    } row[] = {
        {SC_F32, 0, 0.1f, "0.1f"}, {SC_F32, 0, 100, "100.0f"}, {SC_F32, 0, 1e-3f, "0.001f"}, {SC_F32, 0, 1e30f, "1e30f"}, {SC_F64, 0, -0.0, "-0.0"},
        {SC_F64, 0, 5e-324, "5e-324"}, {SC_F64, 0, INFINITY, "(double)INFINITY"}, {SC_F32, 0, -INFINITY, "-INFINITY"}, {SC_F64, 0, NAN, "(double)NAN"},
        {SC_I32, INT32_MIN, 0, "INT32_MIN"}, {SC_I32, -5, 0, "-5"}, {SC_I64, INT64_MIN, 0, "INT64_MIN"}, {SC_I64, 5000000000, 0, "INT64_C(5000000000)"},
        {SC_I64, -5000000000, 0, "-INT64_C(5000000000)"}, {SC_U32, 3000000000, 0, "3000000000u"}, {SC_U64, -1, 0, "UINT64_C(18446744073709551615)"},
        {SC_U8, 255, 0, "255"}, {SC_BOOL, 1, 0, "true"}, {SC_PTR, 0, 0, "NULL"},
    };
    arena *mem = arena_create();
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        int prec;
        assert_string_equal(const_text(mem, row[k].type, row[k].i, row[k].f, &prec), row[k].text);
    }
    arena_destroy(mem);
}

static void names_are_unique_and_legal(void **state)
{
    (void)state;
    arena *mem = arena_create();
    names *file = names_create(mem, NULL), *hints = names_create(mem, NULL), *n = names_create(mem, file);
    assert_string_equal(names_unique(file, "helper"), "helper");
    assert_string_equal(names_unique(file, "index"), "index_2"); /* strings.h declares it */
    names_unique_function(hints, "m");
    assert_string_equal(names_unique(n, "helper"), "helper_2");
    assert_string_equal(names_unique(n, "index"), "index");
    assert_string_equal(names_unique(n, "x"), "x");
    assert_string_equal(names_internal(n, hints, "m"), "m_2");
    names_push(n);
    assert_string_equal(names_unique(n, "x"), "x_2");
    assert_string_equal(names_unique(n, "y"), "y");
    assert_string_equal(names_unique_function(n, "z"), "z");
    names_push(n);
    assert_string_equal(names_unique(n, "x"), "x_3");
    names_pop(n);
    names_pop(n);
    assert_string_equal(names_unique(n, "x"), "x_2"); /* free again with its block */
    assert_string_equal(names_unique(n, "y"), "y");
    assert_string_equal(names_unique(n, "z"), "z_2");
    assert_string_equal(names_unique(n, "while"), "while_2");
    assert_string_equal(names_unique(n, "class"), "class_2");
    assert_string_equal(names_unique(n, "tk_x"), "v_tk_x");
    assert_string_equal(names_unique(n, "INFINITY"), "INFINITY_2");
    assert_string_equal(names_unique(n, "M_PI"), "M_PI_3"); /* M_PI_2 is a macro */
    assert_string_equal(names_unique(n, "DBL_X"), "v_DBL_X");
    assert_string_equal(names_unique(n, "INT8_MAX"), "INT8_MAX_2");
    names_unique(n, "last_");
    assert_string_equal(names_unique(n, "last_"), "last_2");
    assert_string_equal(names_unique(n, "sqrtf"), "sqrtf_2");
    assert_string_equal(names_unique(n, "a.b c"), "a_b_c");
    assert_string_equal(names_unique(n, "3d"), "v3d");
    assert_string_equal(names_unique(n, NULL), "t1");
    assert_string_equal(names_unique(n, "t2"), "t2");
    assert_string_equal(names_unique(n, NULL), "t3");
    assert_string_equal(name_member(mem, "new"), "new_");
    assert_string_equal(name_member(mem, "x"), "x");
    names_free(n);
    names_free(hints);
    names_free(file);
    arena_destroy(mem);
}

static void strings_are_escaped(void **state)
{
    (void)state;
    arena *mem = arena_create();
    assert_string_equal(c_string(mem, "a\"b\\c\n\x01?" "?="), "\"a\\\"b\\\\c\\n\\001\\077?=\"");
    arena_destroy(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_read_back),
        cmocka_unit_test(constants_have_their_spelling),
        cmocka_unit_test(names_are_unique_and_legal),
        cmocka_unit_test(strings_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
