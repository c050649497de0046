/* Arithmetic of generated code, for every scalar type, as the operation table names it: operations without a C operator
 * or a function of libm.
 *
 * Integers wrap, and no operation on them is undefined. Arithmetic uses unsigned types of at least int's rank, so
 * promotion cannot overflow either. Division by zero gives zero; shift counts are taken modulo the width. No function
 * here branches on errno or floating-point exceptions. */
#ifndef TK_MATH_INCLUDED
#define TK_MATH_INCLUDED

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tkc_loops.h"

/* ---- deciding values ----
 * A number decides by a comparison, a cast to an integer, or floor. It must have the same bits in a launch and in all
 * derivatives that compute it again. Without flags of the -ffast-math family, C compilers change bits in two ways. They
 * contract x * y + z into one operation, and compute functions of the C library themselves or by vector variants. */

/* TK_HIDE hides the value of the variable x from the compiler. Two uses with different texts `what` are never merged.
 */
#if !defined(__GNUC__) || defined(__TINYC__)
#define TK_HIDE(x, what) ((void)*(volatile char *)&(x))
#elif defined(__x86_64__) || (defined(__i386__) && defined(__SSE2_MATH__))
#define TK_HIDE(x, what) __asm__("" what : "+x"(x))
#else
#define TK_HIDE(x, what) __asm__("" what : "+m"(x))
#endif

/* TK_ROUNDED(x * y, f64): the product, rounded before any addition. The macro adds -0, hidden from the compiler:
 * contracted with it, the product keeps its rounded value. TK_ROUNDING(double, f64) stands at the top of a function
 * with such products. */
#if defined(__FMA__) || defined(__FMA4__) || defined(__AVX512F__) || defined(__ARM_FEATURE_FMA) || \
    !(defined(__x86_64__) || defined(__i386__) || defined(__arm__))
#define TK_ROUNDING(T, t) \
    T tk_zero_##t = (T)-0.0; \
    TK_HIDE(tk_zero_##t, "");
#define TK_ROUNDED(product, t) ((product) + tk_zero_##t)
#else
#define TK_ROUNDING(T, t)
#define TK_ROUNDED(product, t) (product)
#endif

/* TK_OTHER(x, f64): x, hidden from the compiler as another number. gcc makes one call, cexpi, of the sine and the
 * cosine of a number, and cexpi has no variant for vectors. TK_OTHERS(double, f64) stands at the top of the function.
 */
#if TK_VECTOR_MATH
#define TK_OTHERS(T, t) \
    T tk_other_##t = (T)-0.0; \
    TK_HIDE(tk_other_##t, "");
#define TK_OTHER(x, t) ((x) + tk_other_##t)
#else
#define TK_OTHERS(T, t)
#define TK_OTHER(x, t) (x)
#endif

/* ---- integers ---- */

/* Operations of signed and unsigned types. W: unsigned, at least as wide as T and as int. */
#define TK_INTEGER_(T, t, U, W, BITS) \
    static inline T tk_add_##t(T a, T b) \
    { \
        return (T)(U)((W)a + (W)b); \
    } \
    static inline T tk_sub_##t(T a, T b) \
    { \
        return (T)(U)((W)a - (W)b); \
    } \
    static inline T tk_mul_##t(T a, T b) \
    { \
        return (T)(U)((W)a * (W)b); \
    } \
    static inline T tk_neg_##t(T a) \
    { \
        return (T)(U)((W)0 - (W)a); \
    } \
    static inline T tk_min_##t(T a, T b) \
    { \
        return a < b ? a : b; \
    } \
    static inline T tk_max_##t(T a, T b) \
    { \
        return a > b ? a : b; \
    } \
    static inline T tk_and_##t(T a, T b) \
    { \
        return (T)(U)((W)a & (W)b); \
    } \
    static inline T tk_or_##t(T a, T b) \
    { \
        return (T)(U)((W)a | (W)b); \
    } \
    static inline T tk_xor_##t(T a, T b) \
    { \
        return (T)(U)((W)a ^ (W)b); \
    } \
    static inline T tk_not_##t(T a) \
    { \
        return (T)(U) ~(W)a; \
    } \
    static inline T tk_shl_##t(T a, T b) \
    { \
        return (T)(U)((W)a << ((W)b & (W)(BITS - 1))); \
    } \
    /* of signed types arithmetic, as gcc and clang define it */ \
    static inline T tk_shr_##t(T a, T b) \
    { \
        return (T)(a >> ((W)b & (W)(BITS - 1))); \
    } \
    static inline void tk_scatter_##t(T *p, T v, bool atomic) \
    { \
        if (atomic) \
            (void)__atomic_fetch_add(p, v, __ATOMIC_RELAXED); \
        else \
            *p = tk_add_##t(*p, v); \
    }

#define TK_SIGNED_(T, t, U, W, BITS) \
    TK_INTEGER_(T, t, U, W, BITS) \
    static inline T tk_div_##t(T a, T b) \
    { \
        if (b == 0) \
            return 0; \
        if (b == -1) \
            return tk_neg_##t(a); \
        return (T)(a / b); \
    } \
    static inline T tk_rem_##t(T a, T b) \
    { \
        if (b == 0 || b == -1) \
            return 0; \
        return (T)(a % b); \
    } \
    static inline T tk_mod_##t(T a, T b) \
    { \
        const T r = tk_rem_##t(a, b); \
        return r != 0 && (r < 0) != (b < 0) ? (T)(r + b) : r; \
    } \
    static inline T tk_abs_##t(T a) \
    { \
        return a < 0 ? tk_neg_##t(a) : a; \
    } \
    static inline T tk_sign_##t(T a) \
    { \
        return (T)((a > 0) - (a < 0)); \
    } \
    /* a negative power is 1 / a**-b in integers; 0 to a negative power is 0, like division by zero */ \
    static inline T tk_ipow_##t(T a, T b) \
    { \
        if (b < 0) \
            return a == 1 ? (T)1 : a == -1 ? (T)((b & 1) != 0 ? -1 : 1) : (T)0; \
        T r = 1; \
        for (W n = (W)b, x = (W)a; n != 0; n >>= 1, x *= x) \
            if ((n & 1u) != 0) \
                r = tk_mul_##t(r, (T)(U)x); \
        return r; \
    }

#define TK_UNSIGNED_(T, t, W, BITS) \
    TK_INTEGER_(T, t, T, W, BITS) \
    static inline T tk_div_##t(T a, T b) \
    { \
        if (b == 0) \
            return 0; \
        return (T)(a / b); \
    } \
    static inline T tk_rem_##t(T a, T b) \
    { \
        if (b == 0) \
            return 0; \
        return (T)(a % b); \
    } \
    static inline T tk_mod_##t(T a, T b) \
    { \
        return tk_rem_##t(a, b); \
    } \
    static inline T tk_abs_##t(T a) \
    { \
        return a; \
    } \
    static inline T tk_sign_##t(T a) \
    { \
        return (T)(a != 0); \
    } \
    static inline T tk_ipow_##t(T a, T b) \
    { \
        T r = 1; \
        for (W n = b, x = a; n != 0; n >>= 1, x *= x) \
            if ((n & 1u) != 0) \
                r = tk_mul_##t(r, (T)x); \
        return r; \
    }

/* unsigned overflow is intended; clang's -fsanitize=integer would report it, -fsanitize=undefined does not */
TK_SIGNED_(int8_t, i8, uint8_t, uint32_t, 8)
TK_SIGNED_(int16_t, i16, uint16_t, uint32_t, 16)
TK_SIGNED_(int32_t, i32, uint32_t, uint32_t, 32)
TK_SIGNED_(int64_t, i64, uint64_t, uint64_t, 64)
TK_UNSIGNED_(uint8_t, u8, uint32_t, 8)
TK_UNSIGNED_(uint16_t, u16, uint32_t, 16)
TK_UNSIGNED_(uint32_t, u32, uint32_t, 32)
TK_UNSIGNED_(uint64_t, u64, uint64_t, 64)
#undef TK_INTEGER_
#undef TK_SIGNED_
#undef TK_UNSIGNED_

static inline bool tk_and_bool(bool a, bool b)
{
    return a && b;
}
static inline bool tk_or_bool(bool a, bool b)
{
    return a || b;
}
static inline bool tk_xor_bool(bool a, bool b)
{
    return a != b;
}
static inline bool tk_not_bool(bool a)
{
    return !a;
}

/* ---- casts of floats ---- */

/* tk_i32_from_f64: rounds towards zero. Beyond the type's range x gives the nearest integer, NaN gives 0; C leaves both
 * undefined, and processors differ. LAST: the last float of type T below END, the first float that is too large.
 * Without branches: loops around them are vectorised. */
#define TK_FROM_FLOAT_(I, i, T, t, LEAST, LAST, END, MOST) \
    static inline I tk_##i##_from_##t(T x) \
    { \
        const T above = x > (T)LEAST ? x : (T)LEAST; \
        const I r = (I)(above < (T)LAST ? above : (T)LAST); \
        return x >= (T)END ? (I)MOST : x == x ? r : (I)0; \
    }
#define TK_FROM_SMALL_(I, i, LEAST, MOST) \
    TK_FROM_FLOAT_(I, i, float, f32, LEAST, MOST, MOST, MOST) \
    TK_FROM_FLOAT_(I, i, double, f64, LEAST, MOST, MOST, MOST)
#define TK_FROM_LARGE_(I, i, LEAST, F32, F64, END, MOST) \
    TK_FROM_FLOAT_(I, i, float, f32, LEAST, F32, END, MOST) \
    TK_FROM_FLOAT_(I, i, double, f64, LEAST, F64, END, MOST)
TK_FROM_SMALL_(int8_t, i8, -128, 127)
TK_FROM_SMALL_(int16_t, i16, -32768, 32767)
TK_FROM_SMALL_(uint8_t, u8, 0, 255)
TK_FROM_SMALL_(uint16_t, u16, 0, 65535)
TK_FROM_LARGE_(int32_t, i32, -0x1p31, 0x1.fffffep30, 0x1.fffffffcp30, 0x1p31, INT32_MAX)
TK_FROM_LARGE_(int64_t, i64, -0x1p63, 0x1.fffffep62, 0x1.fffffffffffffp62, 0x1p63, INT64_MAX)
TK_FROM_LARGE_(uint32_t, u32, 0, 0x1.fffffep31, 0x1.fffffffep31, 0x1p32, UINT32_MAX)
TK_FROM_LARGE_(uint64_t, u64, 0, 0x1.fffffep63, 0x1.fffffffffffffp63, 0x1p64, UINT64_MAX)
#undef TK_FROM_FLOAT_
#undef TK_FROM_SMALL_
#undef TK_FROM_LARGE_

/* ---- floats ---- */

/* min and max are the forms that compilers map to one instruction. With a NaN and at a tie they give the second
 * operand, as the derivative does. An atomic addition is a compare-and-exchange loop: the target processors cannot add
 * floats in memory. */
#define TK_FLOAT_(T, t, s, MAX) \
    static inline T tk_min_##t(T a, T b) \
    { \
        return a < b ? a : b; \
    } \
    static inline T tk_max_##t(T a, T b) \
    { \
        return a > b ? a : b; \
    } \
    static inline T tk_mod_##t(T a, T b) \
    { \
        const T r = fmod##s(a, b); \
        if (r == 0 || (r < 0) == (b < 0)) \
            return r == 0 ? copysign##s(r, b) : r; \
        return r + b == b ? nextafter##s(b, 0) : r + b; /* b itself is no remainder */ \
    } \
    static inline T tk_sign_##t(T a) \
    { \
        return (T)((a > 0) - (a < 0)); \
    } \
    static inline T tk_fract_##t(T a) \
    { \
        return a - floor##s(a); \
    } \
    static inline T tk_rsqrt_##t(T a) \
    { \
        return (T)1 / sqrt##s(a); \
    } \
    static inline T tk_nonzero_##t(T a) \
    { \
        return a == 0 ? (T)INFINITY : a; \
    } \
    static inline bool tk_isnan_##t(T a) \
    { \
        return a != a; \
    } \
    static inline bool tk_isinf_##t(T a) \
    { \
        return a > MAX || a < -MAX; \
    } \
    static inline void tk_scatter_##t(T *p, T v, bool atomic) \
    { \
        if (!atomic) { \
            *p += v; \
            return; \
        } \
        T old, sum; \
        __atomic_load(p, &old, __ATOMIC_RELAXED); \
        do \
            sum = old + v; \
        while (!__atomic_compare_exchange(p, &old, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
    }
TK_FLOAT_(float, f32, f, FLT_MAX)
TK_FLOAT_(double, f64, , DBL_MAX)
#undef TK_FLOAT_

// clang-format off
/* Powers of two as factors that keep squares and products in range. Their reciprocals are powers of two as well.
 *
 *   max_abs      the larger magnitude of two numbers
 *   unit_scale   1 / a, rounded to a power of two: numbers of greatest magnitude a come between 1 and 2. For a power of
 *                two that it gave, the reciprocal
 *   even_scale   EVEN if a is below 1 / EVEN, 1 / EVEN if a is above EVEN, otherwise 1: products and quotients of two
 *                scales are powers of two again
 *   norm_scale   from a sum of squares: 1 if the sum, and products of the numbers and their tangents, are far from
 *                overflow and underflow; norm_unscale gives its reciprocal
 *   safe_scale   1 if a, a value made of products, is finite; otherwise the scale that brings numbers of up to b to
 *                ROOM, and four such numbers can be multiplied
 *
 * Without branches: loops around them are vectorised. */
// clang-format on
#define TK_SCALES_(T, t, s, MAX, U, EXPONENT, TOP, BOTTOM, NORM_LEAST, NORM_MOST, NORM_UP, EVEN, ROOM) \
    static inline T tk_max_abs_##t(T a, T b) \
    { \
        return tk_max_##t(fabs##s(a), fabs##s(b)); \
    } \
    static inline T tk_unit_scale_##t(T a) \
    { \
        U u; \
        T r; \
        memcpy(&u, &a, sizeof u); \
        u &= EXPONENT; \
        u = u < BOTTOM ? BOTTOM : u; \
        u = TOP - (u > TOP - BOTTOM ? TOP - BOTTOM : u); \
        memcpy(&r, &u, sizeof r); \
        return r; \
    } \
    static inline T tk_even_scale_##t(T a) \
    { \
        return a > EVEN ? 1 / EVEN : a < 1 / EVEN ? EVEN : (T)1; \
    } \
    /* in integers: of a choice between constants gcc makes branches */ \
    static inline T tk_norm_scale_##t(T a) \
    { \
        const U u = TOP / 2 + (NORM_UP & -(U)(a < NORM_LEAST)) - (NORM_UP & -(U)(a > NORM_MOST)); \
        memcpy(&a, &u, sizeof u); \
        return a; \
    } \
    static inline T tk_norm_unscale_##t(T a) \
    { \
        U u; \
        memcpy(&u, &a, sizeof u); \
        u = TOP - u; \
        memcpy(&a, &u, sizeof u); \
        return a; \
    } \
    static inline T tk_safe_scale_##t(T a, T b) \
    { \
        const T scale = tk_unit_scale_##t(b / ROOM); \
        return fabs##s(a) <= MAX ? (T)1 : scale; \
    }
TK_SCALES_(float, f32, f, FLT_MAX, int32_t, 0x7f800000, 0x7f000000, 0x00800000, 0x1p-100f, 0x1p100f, 0x28000000,
           0x1p60f, 0x1p28f)
TK_SCALES_(double, f64, , DBL_MAX, int64_t, 0x7ff0000000000000, 0x7fe0000000000000, 0x0010000000000000, 0x1p-960,
           0x1p960, 0x2580000000000000, 0x1p480, 0x1p240)
#undef TK_SCALES_

/* ---- elements of strided fields: at any address ---- */

/* atomic: only if p is aligned; libtkc guarantees it. */
#define TK_ANYWHERE_(T, t, SUM) \
    static inline T tk_load_##t(const void *p) \
    { \
        T v; \
        memcpy(&v, p, sizeof v); \
        return v; \
    } \
    static inline void tk_store_##t(void *p, T v) \
    { \
        memcpy(p, &v, sizeof v); \
    } \
    static inline void tk_add_at_##t(void *p, T v) \
    { \
        const T old = tk_load_##t(p); \
        tk_store_##t(p, SUM); \
    } \
    static inline void tk_scatter_at_##t(void *p, T v, bool atomic) \
    { \
        if (atomic) \
            tk_scatter_##t((T *)p, v, true); \
        else \
            tk_add_at_##t(p, v); \
    }
TK_ANYWHERE_(int8_t, i8, tk_add_i8(old, v))
TK_ANYWHERE_(int16_t, i16, tk_add_i16(old, v))
TK_ANYWHERE_(int32_t, i32, tk_add_i32(old, v))
TK_ANYWHERE_(int64_t, i64, tk_add_i64(old, v))
TK_ANYWHERE_(uint8_t, u8, tk_add_u8(old, v))
TK_ANYWHERE_(uint16_t, u16, tk_add_u16(old, v))
TK_ANYWHERE_(uint32_t, u32, tk_add_u32(old, v))
TK_ANYWHERE_(uint64_t, u64, tk_add_u64(old, v))
TK_ANYWHERE_(float, f32, old + v)
TK_ANYWHERE_(double, f64, old + v)
#undef TK_ANYWHERE_

static inline bool tk_load_bool(const void *p)
{
    bool v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void tk_store_bool(void *p, bool v)
{
    memcpy(p, &v, sizeof v);
}

/* *p += v, as an atomic operation or plainly; the type is p's. */
#define TK_SCATTER(p, v, atomic) \
    _Generic((p), \
             int8_t *: tk_scatter_i8, int16_t *: tk_scatter_i16, \
             int32_t *: tk_scatter_i32, int64_t *: tk_scatter_i64, \
             uint8_t *: tk_scatter_u8, uint16_t *: tk_scatter_u16, \
             uint32_t *: tk_scatter_u32, uint64_t *: tk_scatter_u64, \
             float *: tk_scatter_f32, double *: tk_scatter_f64)((p), (v), (atomic))

/* ---- atomics with old values ----
 * *p becomes v op old, at once if `atomic`. Returns the old value. A NaN in v leaves a minimum or maximum as it is:
 * tk_min returns the second operand if the operands do not compare. */

/* Of a strided field, at any address; atomic: only where p is aligned. */
#define TK_FETCH_AT_(T, t, op) \
    static inline T tk_fetch_at_##op##_##t(void *p, T v, bool atomic) \
    { \
        if (atomic) \
            return tk_fetch_##op##_##t((T *)p, v, true); \
        T now = tk_load_##t(p); \
        const T old = tk_fetch_##op##_##t(&now, v, false); \
        tk_store_##t(p, now); \
        return old; \
    }
#define TK_FETCH_(T, t, op) \
    static inline T tk_fetch_##op##_##t(T *p, T v, bool atomic) \
    { \
        T old, now; \
        if (!atomic) { \
            old = *p; \
            *p = tk_##op##_##t(v, old); \
            return old; \
        } \
        __atomic_load(p, &old, __ATOMIC_RELAXED); \
        do \
            now = tk_##op##_##t(v, old); \
        while (!__atomic_compare_exchange(p, &old, &now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        return old; \
    } \
    TK_FETCH_AT_(T, t, op)
#define TK_FETCH_INTEGER_(T, t) \
    static inline T tk_fetch_add_##t(T *p, T v, bool atomic) \
    { \
        if (atomic) \
            return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); \
        const T old = *p; \
        *p = tk_add_##t(old, v); \
        return old; \
    } \
    TK_FETCH_AT_(T, t, add) \
    TK_FETCH_(T, t, min) TK_FETCH_(T, t, max) TK_FETCH_(T, t, and) TK_FETCH_(T, t, or) TK_FETCH_(T, t, xor)
static inline float tk_add_f32(float a, float b)
{
    return a + b;
}
static inline double tk_add_f64(double a, double b)
{
    return a + b;
}
TK_FETCH_INTEGER_(int8_t, i8)
TK_FETCH_INTEGER_(int16_t, i16)
TK_FETCH_INTEGER_(int32_t, i32)
TK_FETCH_INTEGER_(int64_t, i64)
TK_FETCH_INTEGER_(uint8_t, u8)
TK_FETCH_INTEGER_(uint16_t, u16)
TK_FETCH_INTEGER_(uint32_t, u32)
TK_FETCH_INTEGER_(uint64_t, u64)
TK_FETCH_(float, f32, add)
TK_FETCH_(float, f32, min)
TK_FETCH_(float, f32, max)
TK_FETCH_(double, f64, add)
TK_FETCH_(double, f64, min)
TK_FETCH_(double, f64, max)
#undef TK_FETCH_
#undef TK_FETCH_AT_
#undef TK_FETCH_INTEGER_

/* ---- deciding functions of the C library: calls of the scalar functions ---- */

#define TK_EXACT1_(name) \
    static inline double tk_exact_##name##_f64(double a) \
    { \
        TK_HIDE(a, "/* " #name " */"); \
        return name(a); \
    } \
    static inline float tk_exact_##name##_f32(float a) \
    { \
        TK_HIDE(a, "/* " #name " */"); \
        return name##f(a); \
    }
#define TK_EXACT2_(name) \
    static inline double tk_exact_##name##_f64(double a, double b) \
    { \
        TK_HIDE(a, "/* " #name " */"); \
        TK_HIDE(b, "/* " #name " */"); \
        return name(a, b); \
    } \
    static inline float tk_exact_##name##_f32(float a, float b) \
    { \
        TK_HIDE(a, "/* " #name " */"); \
        TK_HIDE(b, "/* " #name " */"); \
        return name##f(a, b); \
    }
TK_EXACT1_(sin)
TK_EXACT1_(cos)
TK_EXACT1_(tan)
TK_EXACT1_(asin)
TK_EXACT1_(acos)
TK_EXACT1_(atan)
TK_EXACT1_(sinh)
TK_EXACT1_(cosh)
TK_EXACT1_(tanh)
TK_EXACT1_(exp)
TK_EXACT1_(exp2)
TK_EXACT1_(expm1)
TK_EXACT1_(log)
TK_EXACT1_(log2)
TK_EXACT1_(log1p)
TK_EXACT1_(cbrt)
TK_EXACT1_(erf)
TK_EXACT1_(erfc)
TK_EXACT1_(lgamma)
TK_EXACT2_(pow)
TK_EXACT2_(atan2)
TK_EXACT2_(hypot)
#undef TK_EXACT1_
#undef TK_EXACT2_

/* The sine; *cosine: the cosine. One call, where sincos of the C library has the bits of both. */
static inline double tk_exact_sincos_f64(double a, double *cosine)
{
#if defined(__x86_64__) && __GLIBC__ == 2 && __GLIBC_MINOR__ >= 28 && !defined(__cplusplus)
    (void)tk_exact_sin_f64; /* used elsewhere */
    (void)tk_exact_cos_f64;
    extern void sincos(double, double *, double *);
    double sine;
    TK_HIDE(a, "/* sincos */");
    sincos(a, &sine, cosine);
    return sine;
#else
    *cosine = tk_exact_cos_f64(a);
    return tk_exact_sin_f64(a);
#endif
}
static inline float tk_exact_sincos_f32(float a, float *cosine)
{
#if defined(__x86_64__) && __GLIBC__ == 2 && __GLIBC_MINOR__ >= 28 && !defined(__cplusplus)
    (void)tk_exact_sin_f32; /* used elsewhere */
    (void)tk_exact_cos_f32;
    extern void sincosf(float, float *, float *);
    float sine;
    TK_HIDE(a, "/* sincos */");
    sincosf(a, &sine, cosine);
    return sine;
#else
    *cosine = tk_exact_cos_f32(a);
    return tk_exact_sin_f32(a);
#endif
}

/* ---- functions of the C library in loops ----
 * tkc_lanes.h has vectorised arithmetic for these functions. It is used without a vector math library with variants of
 * all of them. gcc calls the library of glibc 2.35 and later on x86-64; clang 14 uses five of its functions. It is not
 * used if types are evaluated with more digits than they have. Nor does gcc use it for x86 before SSE 4.1, where it is
 * no faster. TK_OWN_MATH=1 selects it for all functions, TK_OWN_MATH=0 the C library.
 *
 * clang calls exp and log of the vector math library if it may (-fveclib=libmvec). Its calls have vectors of 32 bytes,
 * which make short loops faster. */
#ifdef TK_OWN_MATH
#define TK_OWN_EXP TK_OWN_MATH
#else
#if !defined(__GNUC__) || defined(__TINYC__) || defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0
#define TK_OWN_MATH 0
#elif defined(__clang__)
#define TK_OWN_MATH 1
#elif defined(__x86_64__) && !defined(__SSE4_1__)
#define TK_OWN_MATH 0
#elif !TK_VECTOR_MATH
#define TK_OWN_MATH 1
#else
#define TK_OWN_MATH !__GLIBC_PREREQ(2, 35)
#endif
#if defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define TK_OWN_EXP 0
#else
#define TK_OWN_EXP TK_OWN_MATH
#endif
#endif
#if TK_OWN_MATH
#include "tkc_lanes.h"
#define TK_OF_(name, t, library) tk_lane_##name##_##t
#else
#define TK_OF_(name, t, library) library
#endif
#define TK_LANE1_(name, f64, f32) \
    static inline double tk_##name##_f64(double a) \
    { \
        return f64(a); \
    } \
    static inline float tk_##name##_f32(float a) \
    { \
        return f32(a); \
    }
#define TK_LANE2_(name, f64, f32) \
    static inline double tk_##name##_f64(double a, double b) \
    { \
        return f64(a, b); \
    } \
    static inline float tk_##name##_f32(float a, float b) \
    { \
        return f32(a, b); \
    }
#if TK_OWN_EXP
TK_LANE1_(exp, tk_lane_exp_f64, tk_lane_exp_f32)
TK_LANE1_(log, tk_lane_log_f64, tk_lane_log_f32)
#else
TK_LANE1_(exp, exp, expf)
TK_LANE1_(log, log, logf)
#endif
TK_LANE1_(cbrt, TK_OF_(cbrt, f64, cbrt), TK_OF_(cbrt, f32, cbrtf))
TK_LANE1_(exp2, TK_OF_(exp2, f64, exp2), TK_OF_(exp2, f32, exp2f))
TK_LANE1_(expm1, TK_OF_(expm1, f64, expm1), TK_OF_(expm1, f32, expm1f))
TK_LANE1_(log2, TK_OF_(log2, f64, log2), TK_OF_(log2, f32, log2f))
TK_LANE1_(log1p, TK_OF_(log1p, f64, log1p), TK_OF_(log1p, f32, log1pf))
TK_LANE1_(asin, TK_OF_(asin, f64, asin), TK_OF_(asin, f32, asinf))
TK_LANE1_(acos, TK_OF_(acos, f64, acos), TK_OF_(acos, f32, acosf))
TK_LANE1_(atan, TK_OF_(atan, f64, atan), TK_OF_(atan, f32, atanf))
TK_LANE1_(sinh, TK_OF_(sinh, f64, sinh), TK_OF_(sinh, f32, sinhf))
TK_LANE1_(cosh, TK_OF_(cosh, f64, cosh), TK_OF_(cosh, f32, coshf))
TK_LANE1_(tanh, TK_OF_(tanh, f64, tanh), TK_OF_(tanh, f32, tanhf))
TK_LANE1_(erf, TK_OF_(erf, f64, erf), TK_OF_(erf, f32, erff))
TK_LANE2_(atan2, TK_OF_(atan2, f64, atan2), TK_OF_(atan2, f32, atan2f))
TK_LANE2_(hypot, TK_OF_(hypot, f64, hypot), TK_OF_(hypot, f32, hypotf))
#undef TK_LANE1_
#undef TK_LANE2_
#undef TK_OF_
static inline double tk_tan_f64(double a)
{
    return tan(a);
}
#if TK_OWN_MATH
static inline float tk_tan_f32(float a)
{
    return tk_lane_tan_f32(a);
}
#else
static inline float tk_tan_f32(float a)
{
    return tanf(a);
}
#endif

/* ---- powers ---- */

/* Each product doubles the error. Beyond a few products the library's function is called in f64, where a large exponent
 * is never odd. */
static inline double tk_powi_f64(double a, int64_t b)
{
    if (b > 7 || b < -7) {
        const double size = tk_exact_pow_f64(fabs(a), (double)b);
        return (b & 1) != 0 ? copysign(size, a) : size;
    }
    double r = 1.0, x = a;
    for (int n = (int)(b < 0 ? -b : b); n != 0; n >>= 1, x *= x)
        if ((n & 1) != 0)
            r *= x;
    return b < 0 ? 1.0 / r : r;
}

static inline float tk_powi_f32(float a, int64_t b)
{
    if (b > 7 || b < -7) {
        const float size = (float)tk_exact_pow_f64(fabs((double)a), (double)b);
        return (b & 1) != 0 ? copysignf(size, a) : size;
    }
    float r = 1.0f, x = a;
    for (int n = (int)(b < 0 ? -b : b); n != 0; n >>= 1, x *= x)
        if ((n & 1) != 0)
            r *= x;
    return b < 0 ? 1.0f / r : r;
}

/* ---- random numbers ----
 * Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", Supercomputing 2011.
 * Numbers are a function of key and counters alone, so any thread may draw any number again, in any order. */

typedef struct tk_philox {
    uint32_t word[4];
} tk_philox;

static inline tk_philox tk_philox_block(uint64_t key, uint64_t a, uint64_t b)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    uint32_t x0 = (uint32_t)a, x1 = (uint32_t)(a >> 32), x2 = (uint32_t)b, x3 = (uint32_t)(b >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)x0 * 0xD2511F53u, q = (uint64_t)x2 * 0xCD9E8D57u;
        x0 = (uint32_t)(q >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)q;
        x2 = (uint32_t)(p >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    const tk_philox r = {{x0, x1, x2, x3}};
    return r;
}

static inline uint64_t tk_random_u64(uint64_t key, uint64_t a, uint64_t b)
{
    const tk_philox r = tk_philox_block(key, a, b);
    return r.word[0] | (uint64_t)r.word[1] << 32;
}

/* Uniform in [0, 1): multiples of 2^-24 and 2^-53. */
static inline float tk_random_f32(uint64_t key, uint64_t a, uint64_t b)
{
    return (float)(tk_philox_block(key, a, b).word[0] >> 8) * 0x1p-24f;
}

static inline double tk_random_f64(uint64_t key, uint64_t a, uint64_t b)
{
    return (double)(tk_random_u64(key, a, b) >> 11) * 0x1p-53;
}

/* Normal: Box and Muller, "A note on the generation of random normal deviates", 1958. The logarithm is of a number in
 * (0, 1]. */
static inline float tk_randn_f32(uint64_t key, uint64_t a, uint64_t b)
{
    const tk_philox r = tk_philox_block(key, a, b);
    const float u = (float)r.word[0] * 0x1p-32f + 0x1p-33f, turn = (float)(r.word[1] >> 8) * 0x1p-24f;
    return sqrtf(-2.0f * tk_log_f32(u)) * cosf(6.28318530717958647693f * turn);
}

static inline double tk_randn_f64(uint64_t key, uint64_t a, uint64_t b)
{
    const tk_philox r = tk_philox_block(key, a, b);
    const uint64_t first = r.word[0] | (uint64_t)r.word[1] << 32, second = r.word[2] | (uint64_t)r.word[3] << 32;
    const double u = (double)((first >> 11) + 1) * 0x1p-53, turn = (double)(second >> 11) * 0x1p-53;
    return sqrt(-2.0 * tk_log_f64(u)) * cos(6.28318530717958647693 * turn);
}

/* The same for deciding values. */
static inline float tk_exact_randn_f32(uint64_t key, uint64_t a, uint64_t b)
{
    const tk_philox r = tk_philox_block(key, a, b);
    const float u = (float)r.word[0] * 0x1p-32f + 0x1p-33f, turn = (float)(r.word[1] >> 8) * 0x1p-24f;
    return sqrtf(-2.0f * tk_exact_log_f32(u)) * tk_exact_cos_f32(6.28318530717958647693f * turn);
}

static inline double tk_exact_randn_f64(uint64_t key, uint64_t a, uint64_t b)
{
    const tk_philox r = tk_philox_block(key, a, b);
    const uint64_t first = r.word[0] | (uint64_t)r.word[1] << 32, second = r.word[2] | (uint64_t)r.word[3] << 32;
    const double u = (double)((first >> 11) + 1) * 0x1p-53, turn = (double)(second >> 11) * 0x1p-53;
    return sqrt(-2.0 * tk_exact_log_f64(u)) * tk_exact_cos_f64(6.28318530717958647693 * turn);
}

/* The upper half of the product of 64-bit numbers: bits as a fraction of 1, times n, truncated. */
static inline uint64_t tk_below_u64(uint64_t bits, uint64_t n)
{
    const uint64_t low = (bits & 0xFFFFFFFFu) * (n & 0xFFFFFFFFu), mid = (bits >> 32) * (n & 0xFFFFFFFFu) + (low >> 32);
    const uint64_t cross = (bits & 0xFFFFFFFFu) * (n >> 32) + (mid & 0xFFFFFFFFu);
    return (bits >> 32) * (n >> 32) + (mid >> 32) + (cross >> 32);
}

/* ---- digamma, and derivatives of it and of lgamma ----
 * Recurrence to x >= 10, then the asymptotic series: Bernardo, "Algorithm AS 103: Psi (digamma) function", 1976, and
 * Schneider, "Algorithm AS 121: Trigamma function", 1978, both Applied Statistics, with more terms than they take. Left
 * of 0 by reflection. At poles: NaN or infinity. */

/* Near its positive root digamma cancels: there its Taylor series about the root keeps the relative accuracy. */
static inline double tk_digamma_at_root_(double x)
{
    static const double c[] = {0.9676722454476212,    -0.44276316898359208,  0.25849976095565103,
                               -0.16394270544240652,  0.10782405069126237,   -0.072199561256454714,
                               0.04880428816414311,   -0.033161126474847362, 0.022597648232218104,
                               -0.01542476590494896,  0.010538791616612175,  -0.0072045343863568687,
                               0.0049267813957298533, -0.0033698016554393282};
    const double d = (x - 1.4616321449683622) - 9.5499954299656974e-17;
    double r = 0.0;
    for (int k = 13; k >= 0; k--)
        r = r * d + c[k];
    return r * d;
}

static inline double tk_digamma_f64(double x)
{
    const double pi = 3.14159265358979323846;
    double r = 0.0;
    if (x <= 0.0) {
        /* tan has period pi: reducing first keeps its accuracy */
        r = -pi / tan(pi * (x - round(x)));
        x = 1.0 - x;
    }
    if (x > 1.36 && x < 1.56)
        return r + tk_digamma_at_root_(x);
    for (; x < 10.0; x += 1.0)
        r -= 1.0 / x;
    const double y = 1.0 / (x * x);
    const double series = y * (1.0 / 12.0 -
                               y * (1.0 / 120.0 -
                                    y * (1.0 / 252.0 -
                                         y * (1.0 / 240.0 - y * (1.0 / 132.0 - y * (691.0 / 32760.0 - y / 12.0))))));
    return r + (log(x) - 0.5 / x - series);
}

static inline double tk_trigamma_f64(double x)
{
    const double pi = 3.14159265358979323846;
    double r = 0.0, sign = 1.0;
    if (x <= 0.0) {
        const double s = sin(pi * (x - round(x)));
        r = (pi / s) * (pi / s);
        x = 1.0 - x;
        sign = -1.0;
    }
    double sum = 0.0;
    for (; x < 10.0; x += 1.0)
        sum += 1.0 / (x * x);
    const double y = 1.0 / (x * x);
    const double series =
        y *
        (1.0 / 6.0 -
         y * (1.0 / 30.0 -
              y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * (5.0 / 66.0 - y * (691.0 / 2730.0 -
                                                                         y * (7.0 / 6.0 - y * (3617.0 / 510.0))))))));
    sum += 1.0 / x + 0.5 * y + series / x;
    return r + sign * sum;
}

static inline double tk_tetragamma_f64(double x)
{
    const double pi = 3.14159265358979323846;
    double r = 0.0;
    if (x <= 0.0) {
        const double at = pi * (x - round(x)), s = pi / sin(at);
        r = -2.0 * cos(at) * s * s * s;
        x = 1.0 - x;
    }
    for (; x < 10.0; x += 1.0)
        r -= 2.0 / (x * x * x);
    const double y = 1.0 / (x * x);
    const double series =
        y * y *
        (1.0 / 2.0 -
         y * (1.0 / 6.0 -
              y * (1.0 / 6.0 -
                   y * (3.0 / 10.0 - y * (5.0 / 6.0 - y * (691.0 / 210.0 - y * (35.0 / 2.0 - y * (3617.0 / 30.0))))))));
    return r - (y + y / x + series);
}

/* For deciding values: one piece of code, so all callers have the same contractions. */
#if defined(__clang__)
#define TK_NOINLINE_EXACT __attribute__((noinline, unused))
#elif defined(__GNUC__) && __GNUC__ >= 8
#define TK_NOINLINE_EXACT __attribute__((noipa, unused))
#else
#define TK_NOINLINE_EXACT
#endif
static TK_NOINLINE_EXACT double tk_exact_digamma_f64(double x)
{
    return tk_digamma_f64(x);
}
static TK_NOINLINE_EXACT double tk_exact_trigamma_f64(double x)
{
    return tk_trigamma_f64(x);
}
static inline float tk_exact_digamma_f32(float x)
{
    return (float)tk_exact_digamma_f64((double)x);
}
static TK_NOINLINE_EXACT double tk_exact_tetragamma_f64(double x)
{
    return tk_tetragamma_f64(x);
}
static inline float tk_exact_trigamma_f32(float x)
{
    return (float)tk_exact_trigamma_f64((double)x);
}
static inline float tk_exact_tetragamma_f32(float x)
{
    return (float)tk_exact_tetragamma_f64((double)x);
}

/* ---- derivatives of other functions, and functions that are derivatives ---- */

#define TK_SLOPES_(T, t, s) \
    /* of asin */ \
    static inline T tk_arc_slope_##t(T a) \
    { \
        return 1 / sqrt##s((1 - a) * (1 + a)); \
    } \
    /* of atan2 by its first operand, b / (a * a + b * b) at any scale */ \
    static inline T tk_arc_rate_##t(T a, T b) \
    { \
        const T m = tk_max_##t(fabs##s(a), fabs##s(b)), x = a / m, y = b / m; \
        return tk_isinf_##t(m) ? 0 : y / (x * x + y * y) / m; \
    } \
    /* of tanh; 1 - tanh(a) ** 2 would cancel near 1 */ \
    static inline T tk_sech_sqr_##t(T a) \
    { \
        const T e = tk_exp_##t(-2 * fabs##s(a)), d = 1 + e; \
        return 4 * e / (d * d); \
    } \
    static inline T tk_sigmoid_##t(T a) \
    { \
        return 1 / (1 + tk_exp_##t(-a)); \
    } \
    static inline T tk_softplus_##t(T a) \
    { \
        return tk_max_##t(a, 0) + tk_log1p_##t(tk_exp_##t(-fabs##s(a))); \
    } \
    static inline T tk_logistic_rate_##t(T a, T b) \
    { \
        const T q = 1 / (1 + b); \
        (void)a; \
        return q * (b > 1 ? 1 - q : b * q); \
    } \
    static inline T tk_times_##t(T a, T b) \
    { \
        return a == 0 ? 0 : a * b; \
    } \
    /* of pow by its second operand, for c = pow(a, b) */ \
    static inline T tk_pow_log_##t(T a, T b, T c) \
    { \
        const T r = c * tk_log_##t(a); \
        return a == 0 && b > 0 ? 0 : r; \
    }
TK_SLOPES_(float, f32, f)
TK_SLOPES_(double, f64, )
#undef TK_SLOPES_

/* exp(-a * a) for erf. The rounding error of the square becomes an error of the exponential, as many times greater. The
 * parts of a have exact products: Veltkamp and Dekker, "A floating-point technique for extending the available
 * precision", Numerische Mathematik 18, 1971. */
static inline double tk_gauss_f64(double a)
{
    const double x = fabs(a) > 40.0 ? 40.0 : a, c = 134217729.0 * x, high = c - (c - x), low = x - high, square = x * x;
    const double lost = ((high * high - square) + 2.0 * high * low) + low * low, e = tk_exp_f64(-square);
    return e - e * lost;
}

static inline float tk_gauss_f32(float a)
{
    const float x = fabsf(a) > 20.0f ? 20.0f : a, square = x * x, e = tk_exp_f32(-square);
    return e - e * (float)((double)x * (double)x - (double)square);
}

/* For gradients that a program uses to decide, like the exact derivatives of lgamma. */
#define TK_EXACT_SLOPES_(T, t) \
    static TK_NOINLINE_EXACT T tk_exact_arc_slope_##t(T a) \
    { \
        return tk_arc_slope_##t(a); \
    } \
    static TK_NOINLINE_EXACT T tk_exact_arc_rate_##t(T a, T b) \
    { \
        return tk_arc_rate_##t(a, b); \
    } \
    static TK_NOINLINE_EXACT T tk_exact_sech_sqr_##t(T a) \
    { \
        return tk_sech_sqr_##t(a); \
    } \
    static TK_NOINLINE_EXACT T tk_exact_sigmoid_##t(T a) \
    { \
        return tk_sigmoid_##t(a); \
    } \
    static TK_NOINLINE_EXACT T tk_exact_softplus_##t(T a) \
    { \
        return tk_softplus_##t(a); \
    } \
    static TK_NOINLINE_EXACT T tk_exact_logistic_rate_##t(T a, T b) \
    { \
        return tk_logistic_rate_##t(a, b); \
    } \
    static TK_NOINLINE_EXACT T tk_exact_pow_log_##t(T a, T b, T c) \
    { \
        return tk_pow_log_##t(a, b, c); \
    } \
    static TK_NOINLINE_EXACT T tk_exact_gauss_##t(T a) \
    { \
        return tk_gauss_##t(a); \
    }
TK_EXACT_SLOPES_(float, f32)
TK_EXACT_SLOPES_(double, f64)
#undef TK_EXACT_SLOPES_

static inline float tk_digamma_f32(float x)
{
    return (float)tk_digamma_f64((double)x);
}
static inline float tk_trigamma_f32(float x)
{
    return (float)tk_trigamma_f64((double)x);
}
static inline float tk_tetragamma_f32(float x)
{
    return (float)tk_tetragamma_f64((double)x);
}

/* ---- checkpoints ----
 * Binomial schedules: A. Griewank and A. Walther, Algorithm 799: revolve, ACM TOMS 26 (2000). c states are kept, the
 * first one among them. Each step runs at most r times before the run that is recorded. Then C(c + r, c) steps can be
 * reversed. */

/* C(c + r, c), at most `most`. */
static inline double tk_checkpoint_reach(int64_t c, int64_t r, double most)
{
    const int64_t low = c < r ? c : r, high = c < r ? r : c;
    double b = 1.0;
    for (int64_t k = 1; k <= low && b < most; k++)
        b = b * (double)(high + k) / (double)k;
    return b < most ? b : most;
}

/* The least r that reaches n steps. */
static inline int64_t tk_checkpoint_runs(int64_t n, int64_t c)
{
    int64_t r = 0;
    for (int64_t step = n; step > 0; step /= 2)
        while (r + step < n && tk_checkpoint_reach(c, r + step, (double)n) < (double)n)
            r += step;
    return tk_checkpoint_reach(c, r, (double)n) < (double)n ? r + 1 : r;
}

/* n steps are to be reversed, 2 or more, and the state in front of them is kept; there is room for `slots` more. The
 * next state is kept behind so many steps, from 1 to n - 1. Without room: n - 1. */
static inline int64_t tk_checkpoint_ahead(int64_t n, int64_t slots)
{
    if (slots <= 0)
        return n - 1;
    if (n <= slots + 2)
        return 1;
    const int64_t c = slots + 1, r = tk_checkpoint_runs(n, c);
    const double most = (double)n;
    const double left = r > 1 ? tk_checkpoint_reach(c, r - 2, most) : 1.0,
                 right = most - tk_checkpoint_reach(c - 1, r, most);
    const double at = left > right ? left : right;
    return at < 1.0 ? 1 : at > most - 1.0 ? n - 1 : (int64_t)at;
}

#endif
