/* tkc_math.h: the arithmetic of generated code, edges included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <tkc/tkc_gen.h>

/* Every pair of 8-bit values, against arithmetic in int; wrap: back to the type. */
#define CHECK_BYTES(T, t, LO, HI)                                                                                       \
    static void test_##t(void **state)                                                                                  \
    {                                                                                                                   \
        (void)state;                                                                                                    \
        for (int a = LO; a <= HI; a++) {                                                                                \
            const T x = (T)a;                                                                                           \
            assert_int_equal(tk_neg_##t(x), (T)-a);                                                                     \
            assert_int_equal(tk_abs_##t(x), (T)(a < 0 ? -a : a));                                                       \
            assert_int_equal(tk_sign_##t(x), (a > 0) - (a < 0));                                                        \
            assert_int_equal(tk_not_##t(x), (T)~a);                                                                     \
            for (int b = LO; b <= HI; b++) {                                                                            \
                const T y = (T)b;                                                                                       \
                assert_int_equal(tk_add_##t(x, y), (T)(a + b));                                                         \
                assert_int_equal(tk_sub_##t(x, y), (T)(a - b));                                                         \
                assert_int_equal(tk_mul_##t(x, y), (T)(a * b));                                                         \
                assert_int_equal(tk_div_##t(x, y), b ? (T)(a / b) : 0);                                                 \
                assert_int_equal(tk_rem_##t(x, y), b ? (T)(a % b) : 0);                                                 \
                assert_int_equal(tk_mod_##t(x, y), b ? (T)(a - b * (int)floor((double)a / b)) : 0);                     \
                assert_int_equal(tk_min_##t(x, y), a < b ? a : b);                                                      \
                assert_int_equal(tk_max_##t(x, y), a > b ? a : b);                                                      \
                assert_int_equal(tk_and_##t(x, y), (T)(a & b));                                                         \
                assert_int_equal(tk_or_##t(x, y), (T)(a | b));                                                          \
                assert_int_equal(tk_xor_##t(x, y), (T)(a ^ b));                                                         \
                assert_int_equal(tk_shl_##t(x, y), (T)((unsigned)a << (b & 7)));                                        \
                assert_int_equal(tk_shr_##t(x, y), (T)(a >> (b & 7)));                                                  \
                if (b >= 0 && b < 20) {                                                                                 \
                    T r = 1;                                                                                            \
                    for (int k = 0; k < b; k++)                                                                         \
                        r = tk_mul_##t(r, x);                                                                           \
                    assert_int_equal(tk_ipow_##t(x, y), r);                                                             \
                }                                                                                                       \
            }                                                                                                           \
        }                                                                                                               \
    }
CHECK_BYTES(int8_t, i8, -128, 127)
CHECK_BYTES(uint8_t, u8, 0, 255)

static void test_integer_edges(void **state)
{
    (void)state;
    assert_int_equal(tk_add_i32(INT32_MAX, 1), INT32_MIN);
    assert_int_equal(tk_sub_i64(INT64_MIN, 1), INT64_MAX);
    assert_int_equal(tk_mul_i32(INT32_MIN, -1), INT32_MIN);
    assert_int_equal(tk_mul_u16(65535, 65535), 1);
    assert_int_equal(tk_mul_i16(-32768, -32768), 0);
    assert_int_equal(tk_mul_i64(INT64_MIN, -1), INT64_MIN);
    assert_int_equal(tk_neg_i64(INT64_MIN), INT64_MIN);
    assert_int_equal(tk_abs_i32(INT32_MIN), INT32_MIN);
    assert_int_equal(tk_div_i32(INT32_MIN, -1), INT32_MIN);
    assert_int_equal(tk_div_i64(INT64_MIN, -1), INT64_MIN);
    assert_int_equal(tk_rem_i64(INT64_MIN, -1), 0);
    assert_int_equal(tk_mod_i32(INT32_MIN, -1), 0);
    assert_int_equal(tk_div_u64(5, 0), 0);
    assert_int_equal(tk_mod_i32(-7, 3), 2);
    assert_int_equal(tk_mod_i32(7, -3), -2);
    assert_int_equal(tk_mod_i32(-6, 3), 0);
    assert_int_equal(tk_shl_i32(1, 33), 2);
    assert_int_equal(tk_shl_i32(-1, 31), INT32_MIN);
    assert_int_equal(tk_shr_i64(INT64_MIN, 63), -1);
    assert_int_equal(tk_shr_u32(0x80000000u, 31), 1);
    assert_int_equal(tk_shl_i64(1, -1), INT64_MIN);
    assert_int_equal(tk_ipow_i32(3, 4), 81);
    assert_int_equal(tk_ipow_i32(-1, -3), -1);
    assert_int_equal(tk_ipow_i32(-1, -4), 1);
    assert_int_equal(tk_ipow_i32(1, INT32_MIN), 1);
    assert_int_equal(tk_ipow_i32(0, -1), 0);
    assert_int_equal(tk_ipow_i32(2, -1), 0);
    assert_int_equal(tk_ipow_i32(0, 0), 1);
    assert_int_equal(tk_ipow_u64(3, 40), UINT64_C(12157665459056928801));
    assert_true(tk_and_bool(true, true) && tk_or_bool(false, true) && tk_xor_bool(true, false) && tk_not_bool(false) && !tk_xor_bool(true, true));
}

static void test_floats(void **state)
{
    (void)state;
    const double nan = (double)NAN, inf = (double)INFINITY;
    assert_true(tk_min_f64(1, 2) == 1 && tk_max_f64(1, 2) == 2 && tk_min_f32(3, 2) == 2 && tk_max_f32(3, 2) == 3);
    assert_true(signbit(tk_min_f64(0.0, -0.0)) && tk_min_f64(nan, 1) == 1 && tk_isnan_f64(tk_min_f64(1, nan))); /* the second at a tie */
    assert_true(tk_mod_f64(-1.5, 1) == 0.5 && tk_mod_f32(1.5f, -1) == -0.5f);
    assert_true(tk_sign_f64(-3) == -1 && tk_sign_f32(0) == 0 && tk_sign_f64(nan) == 0);
    assert_true(tk_fract_f64(-0.25) == 0.75 && tk_rsqrt_f64(4) == 0.5 && tk_rsqrt_f32(4) == 0.5f);
    assert_true(tk_isnan_f64(nan) && !tk_isnan_f64(inf) && tk_isnan_f32(NAN) && !tk_isnan_f32(1));
    assert_true(tk_isinf_f64(inf) && tk_isinf_f64(-inf) && !tk_isinf_f64(nan) && !tk_isinf_f64(DBL_MAX) && tk_isinf_f32(-INFINITY));
    assert_true(tk_powi_f64(2, 10) == 1024 && tk_powi_f64(2, -2) == 0.25 && tk_powi_f64(-3, 3) == -27 && tk_powi_f64(0, 0) == 1);
    assert_true(tk_powi_f64(1, INT64_MIN) == 1 && tk_isinf_f64(tk_powi_f64(0, -1)) && tk_powi_f32(0.5f, 3) == 0.125f);
}

static void check_relative(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance * fabs(expected)))
        fail_msg("%.17g instead of %.17g", got, expected);
}

/* From tables computed with 40 digits. */
static void test_gamma(void **state)
{
    (void)state;
    const double table[][3] = {
        {0.3, -3.5025242222001332, 12.245364546107732},    {0.5, -1.9635100260214235, 4.934802200544679},
        {1, -0.57721566490153287, 1.6449340668482264},     {1.37, -0.092598708187861145, 1.0558719286026039},
        {1.461, -0.00061188613768651124, 0.96823233652740393}, {1.4616321449683622, -9.2412655217294273e-17, 0.9676722454476212},
        {1.47, 0.0080664890113648687, 0.96031620905115067}, {1.55, 0.082222567539644381, 0.89505413708897374},
        {2, 0.42278433509846713, 0.64493406684822641},     {3.7, 1.1671535393615113, 0.31003785767003827},
        {9.99, 2.2507003728312012, 0.10527695014824179},   {10, 2.2517525890667209, 0.10516633568168575},
        {50, 3.901989673427892, 0.020201333226697125},    {-0.5, 0.03648997397857652, 8.934802200544679},
        {-3.25, 4.4662758723502796, 19.474085068082154},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        check_relative(tk_digamma_f64(table[i][0]), table[i][1], table[i][0] == 1.4616321449683622 ? 1e-6 : 1e-13);
        check_relative(tk_trigamma_f64(table[i][0]), table[i][2], 1e-13);
        check_relative((double)tk_trigamma_f32((float)table[i][0]), table[i][2], 1e-5);
    }
    const double second[][2] = {{0.3, -75.272536588726039}, {1.5, -0.82879664423431999}, {4, -0.080039732245114497}, {25, -0.0016652793184224682}, {-2.3, 68.713792529270302}};
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        check_relative(tk_tetragamma_f64(second[i][0]), second[i][1], 1e-13);
        check_relative((double)tk_tetragamma_f32((float)second[i][0]), second[i][1], 1e-5);
    }
    for (double x = 0.3; x < 50; x += 0.0371) { /* the recurrences, across all seams */
        assert_true(fabs(tk_digamma_f64(x + 1) - tk_digamma_f64(x) - 1 / x) < 2e-14 * (1 + 1 / x));
        assert_true(fabs(tk_trigamma_f64(x + 1) - tk_trigamma_f64(x) + 1 / (x * x)) < 1e-14 * (1 + 1 / (x * x)));
        assert_true(fabs(tk_tetragamma_f64(x + 1) - tk_tetragamma_f64(x) - 2 / (x * x * x)) < 1e-14 * (1 + 2 / (x * x * x)));
    }
    assert_false(isfinite(tk_digamma_f64(0)) && fabs(tk_digamma_f64(0)) < 1e300);
}

/* The one call for both has the bits of the two, for angles of every size. */
#define CHECK_SINCOS(T, t, U) \
    static void check_sincos_##t(uint64_t key) \
    { \
        for (uint64_t i = 0; i < 400000; i++) { \
            U bits = (U)tk_random_u64(key, i, 0); \
            T a, both[2], apart[2]; \
            memcpy(&a, &bits, sizeof a); \
            if (i % 2) /* as angles mostly are */ \
                a = (T)(tk_random_f64(key, i, 1) * 20 - 10); \
            both[0] = tk_exact_sincos_##t(a, &both[1]); \
            apart[0] = tk_exact_sin_##t(a); \
            apart[1] = tk_exact_cos_##t(a); \
            if (isfinite(a)) \
                assert_memory_equal(both, apart, sizeof both); \
            else \
                assert_true(isnan(both[0]) && isnan(both[1])); \
        } \
    }
CHECK_SINCOS(double, f64, uint64_t)
CHECK_SINCOS(float, f32, uint32_t)

static void test_sincos(void **state)
{
    (void)state;
    check_sincos_f64(3);
    check_sincos_f32(4);
}

static void test_scatter(void **state)
{
    (void)state;
    float f = 1;
    double d = 1;
    int8_t b = 127;
    uint64_t u = 1;
    for (int atomic = 0; atomic < 2; atomic++) {
        TK_SCATTER(&f, 0.5f, atomic);
        TK_SCATTER(&d, 0.25, atomic);
        TK_SCATTER(&b, 1, atomic);
        TK_SCATTER(&u, UINT64_MAX, atomic);
    }
    assert_true(f == 2 && d == 1.5);
    assert_int_equal(b, -127);
    assert_int_equal(u, UINT64_MAX);
}

static void test_pragmas(void **state)
{
    (void)state;
    double x[100], y[100], s = 0, t = 1;
    TK_SIMD
    for (int i = 0; i < 100; i++)
        x[i] = i;
    TK_SIMD
    for (int i = 0; i < 100; i++)
        y[i] = exp(x[i] * 0.01) * sin(x[i]);
    TK_SIMD_SUM(s, t)
    for (int i = 0; i < 100; i++) {
        s += x[i];
        t += y[i] - exp(x[i] * 0.01) * sin(x[i]);
    }
    assert_true(s == 4950 && fabs(t - 1) < 1e-12);
}

/* Scales are powers of two with exact reciprocals, and bring what they are for into range. */
#define CHECK_SCALES(T, t, LEAST, GREATEST, ROOM)                                                                       \
    for (T a = LEAST; a < GREATEST; a *= (T)1.37) {                                                                     \
        const T unit = tk_unit_scale_##t(a), even = tk_even_scale_##t(a), n = tk_norm_scale_##t(a * a);                 \
        assert_true(tk_unit_scale_##t(-a) == unit && tk_unit_scale_##t(unit) * unit == 1);                              \
        assert_true(a * unit >= 1 && a * unit < 4 && (a * unit < 2 || a > GREATEST / 2));                               \
        assert_true(even * (1 / even) == 1 && (even == 1 || (a < 1) == (even > 1)));                                 \
        assert_true(tk_norm_unscale_##t(n) * n == 1);\
        assert_true(n * a * (n * a) / (1 << 25) > LEAST && (n == 1 || n * a * (n * a) * 1024 < GREATEST));                                                              \
        assert_true(tk_safe_scale_##t(a, a) == 1 && tk_safe_scale_##t(-a, a) == 1);                                     \
        assert_true(a < 8 * ROOM || (tk_safe_scale_##t((T)INFINITY, a) * a >= ROOM && tk_safe_scale_##t((T)NAN, a) * a < 2 * ROOM)); \
    }                                                                                                                   \
    assert_true(tk_norm_scale_##t(1) == 1 && tk_norm_scale_##t((T)NAN) == 1 && tk_even_scale_##t(1) == 1);              \
    assert_true(tk_unit_scale_##t(0) > 0 && tk_unit_scale_##t((T)INFINITY) > 0 && tk_unit_scale_##t((T)NAN) > 0);       \
    assert_true(tk_nonzero_##t(0) == INFINITY && tk_nonzero_##t((T)-0.0) == INFINITY && tk_nonzero_##t(-2) == -2);      \
    assert_true(tk_max_abs_##t(-3, 2) == 3 && tk_max_abs_##t(2, -3) == 3);

static void test_scales(void **state)
{
    (void)state;
    CHECK_SCALES(float, f32, FLT_MIN, FLT_MAX, 0x1p28f)
    CHECK_SCALES(double, f64, DBL_MIN, DBL_MAX, 0x1p240)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_i8),     cmocka_unit_test(test_u8),    cmocka_unit_test(test_integer_edges), cmocka_unit_test(test_floats),
        cmocka_unit_test(test_scales), cmocka_unit_test(test_gamma),  cmocka_unit_test(test_sincos), cmocka_unit_test(test_scatter), cmocka_unit_test(test_pragmas),
    };
    return cmocka_run_group_tests_name("math", tests, NULL, NULL);
}
