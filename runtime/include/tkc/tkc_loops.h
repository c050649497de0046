/* Marks of generated loops for the C compiler: which loops may become vectors, and how. tkc_math.h includes it. */
#ifndef TK_LOOPS_INCLUDED
#define TK_LOOPS_INCLUDED

#include <math.h>

/* Before a function with a loop whose stores depend on their order. gcc 12 splits loops, also into calls of memcpy and
 * memset. If it has to test first whether two arrays overlap, it may change the order. In `a = y[i]; y[i] = 0; p[i] =
 * a;` beside another store it may clear y before it copies y. The mark stands only where the order counts, because it
 * keeps sums in vectors of 128 bits in memory. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define TK_WHOLE_LOOPS __attribute__((optimize("no-tree-loop-distribution", "no-tree-loop-distribute-patterns")))
#else
#define TK_WHOLE_LOOPS
#endif

#define TK_PRAGMA_(...) _Pragma(#__VA_ARGS__)

#ifdef __clang__
/* a loop that is marked as independent may be too slow as vectors: no warning for the user */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* Before a loop whose iterations are independent (TK_SIMD), except for sums in the named variables (TK_SIMD_SUM). The
 * marks need -fopenmp-simd or -fopenmp, which the compilers do not show by a macro: without it they are ignored,
 * without a message. TK_NO_OPENMP_SIMD uses the compiler's own pragmas instead, which have no sums. */
#ifndef TK_NO_OPENMP_SIMD
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif
#define TK_SIMD TK_PRAGMA_(omp simd)
#define TK_SIMD_SUM(...) TK_PRAGMA_(omp simd reduction(+ : __VA_ARGS__))
#elif defined(__clang__)
#define TK_SIMD TK_PRAGMA_(clang loop vectorize(assume_safety))
#define TK_SIMD_SUM(...)
#elif defined(__GNUC__)
#define TK_SIMD TK_PRAGMA_(GCC ivdep)
#define TK_SIMD_SUM(...)
#else
#define TK_SIMD
#define TK_SIMD_SUM(...)
#endif

/* TK_STEP(i): i, at a step that gcc cannot compute. In a loop over structs gcc would group numbers by permutations, and
 * make no vectors. It has permutations only for groups of 3 and of powers of 2. At an unknown step it loads and stores
 * the numbers of a vector one by one. A factor of 1 is not enough: gcc makes a version of the loop for it. TK_STEPS
 * stands at the top of a function with such subscripts. */
#if defined(__GNUC__) && !defined(__clang__)
#define TK_STEPS \
    int64_t tk_no_step = 0; \
    __asm__("" : "+r"(tk_no_step));
#define TK_STEP(i) ((i) + (i)*tk_no_step)
#else
#define TK_STEPS
#define TK_STEP(i) (i)
#endif

/* The same before a loop of a constant number of trips, of several vectors. clang would unroll it before it vectorises,
 * and would then find fewer vectors. */
#ifdef __clang__
#define TK_SIMD_FIXED TK_SIMD TK_PRAGMA_(clang loop unroll(disable))
#define TK_SIMD_FIXED_SUM(...) TK_SIMD_SUM(__VA_ARGS__) TK_PRAGMA_(clang loop unroll(disable))
#else
#define TK_SIMD_FIXED TK_SIMD
#define TK_SIMD_FIXED_SUM(...) TK_SIMD_SUM(__VA_ARGS__)
#endif

/* TK_SIMD_SHORT(f64): the same for a loop of 32 trips, or a multiple, with little work each. clang takes as many
 * vectors at once as 32 trips are, and values that the loop around does not change stay in registers. More vectors than
 * trips would be none at all, so the macro gives their length.
 *
 * TK_SIMD_WIDE_SUM: sums of f64 over numbers of f32. clang makes its vectors as long as the wider type allows, which
 * leaves half of each f32 vector empty. The length is at most the length of the vector library's functions. */
#if defined(__clang__) && defined(__AVX512F__)
#define TK_SHORT_f32_ TK_PRAGMA_(clang loop interleave_count(2))
#define TK_SHORT_f64_ TK_PRAGMA_(clang loop interleave_count(4))
#define TK_WIDE_ TK_PRAGMA_(clang loop vectorize_width(8))
#elif defined(__clang__) && defined(__AVX__)
#define TK_SHORT_f32_ TK_PRAGMA_(clang loop interleave_count(4))
#define TK_SHORT_f64_ TK_PRAGMA_(clang loop interleave_count(8))
#define TK_WIDE_ TK_PRAGMA_(clang loop vectorize_width(8))
#elif defined(__clang__) && (defined(__SSE2__) || defined(__ARM_NEON))
#define TK_SHORT_f32_ TK_PRAGMA_(clang loop interleave_count(8))
#define TK_SHORT_f64_ TK_PRAGMA_(clang loop interleave_count(8))
#define TK_WIDE_ TK_PRAGMA_(clang loop vectorize_width(4))
#else
#define TK_SHORT_f32_
#define TK_SHORT_f64_
#define TK_WIDE_
#endif
#define TK_SIMD_SHORT(t) TK_SIMD_FIXED TK_SHORT_##t##_
#define TK_SIMD_WIDE_SUM(...) TK_SIMD_SUM(__VA_ARGS__) TK_WIDE_
#define TK_SIMD_FIXED_WIDE_SUM(...) TK_SIMD_FIXED_SUM(__VA_ARGS__) TK_WIDE_

/* In a loop that adds several terms to a carried float in order. gcc before 12.4 and 13.2 vectorises such a sum wrongly
 * and counts terms twice (its bug 110381). In order, vectors gain little. */
#if defined(__GNUC__) && !defined(__clang__) && \
    (__GNUC__ < 12 || (__GNUC__ == 12 && __GNUC_MINOR__ < 4) || (__GNUC__ == 13 && __GNUC_MINOR__ < 2))
#define TK_IN_ORDER __asm__ volatile("");
#else
#define TK_IN_ORDER
#endif

/* In a loop around another loop that stores to an element, where a later iteration of both stores again. gcc makes
 * vectors of the outer loop and loses that order. The inner loop may become vectors. */
#if defined(__GNUC__) && !defined(__clang__)
#define TK_NO_LANES __asm__ volatile("");
#else
#define TK_NO_LANES
#endif

/* Before a loop of few trips, and at the beginning of its body: vectors would make it slower. */
#ifdef __clang__
#define TK_BRIEF TK_PRAGMA_(clang loop vectorize(disable) unroll(disable))
#define TK_ONE_BY_ONE
#elif defined(__GNUC__)
#define TK_BRIEF
#define TK_ONE_BY_ONE __asm__ volatile("");
#else
#define TK_BRIEF
#define TK_ONE_BY_ONE
#endif

/* gcc calls the vector math library (libmvec, part of glibc's -lm) only for functions with declared vector variants.
 * glibc declares them under -ffast-math only. clang needs no declarations, but -fveclib=libmvec. TK_VECTOR_MATH=0 omits
 * it. */
#if !defined(TK_VECTOR_MATH) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 22)
#define TK_VECTOR_MATH 1
#endif
#endif
#ifndef TK_VECTOR_MATH
#define TK_VECTOR_MATH 0
#endif
#if TK_VECTOR_MATH
#define TK_VEC1_(name) \
    __attribute__((simd("notinbranch"))) double name(double); \
    __attribute__((simd("notinbranch"))) float name##f(float);
#define TK_VEC2_(name) \
    __attribute__((simd("notinbranch"))) double name(double, double); \
    __attribute__((simd("notinbranch"))) float name##f(float, float);
TK_VEC1_(sin)
TK_VEC1_(cos)
TK_VEC1_(exp)
TK_VEC1_(log)
TK_VEC2_(pow)
#if __GLIBC_PREREQ(2, 35)
TK_VEC1_(tan)
TK_VEC1_(asin)
TK_VEC1_(acos)
TK_VEC1_(atan)
TK_VEC2_(atan2)
TK_VEC1_(sinh)
TK_VEC1_(cosh)
TK_VEC1_(tanh)
TK_VEC1_(exp2)
TK_VEC1_(expm1)
TK_VEC1_(log2)
TK_VEC1_(log1p)
TK_VEC1_(cbrt)
TK_VEC1_(erf)
TK_VEC2_(hypot)
#endif
#undef TK_VEC1_
#undef TK_VEC2_
#endif

#endif
