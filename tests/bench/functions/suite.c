/* The functions of the C library in loops, as generated code has them, beside the scalar function of the library called
 * for each element. With `errors [--points N] [NAME...]`: how far results are from those of a greater precision, in
 * units of the last place, the worst of each function and of the special values, and where it is. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "functions.h"
#include <tkc/tkc_gen.h>
#include <tkc/tkc_math.h>

typedef functions_real real;

enum { N = 4096 };
#define IS_F32 (sizeof(real) == 4)
#define TYPE (IS_F32 ? "f32" : "f64")

typedef struct function {
    const char *name;
    double low, high;   /* where it is used most, and timed */
    double least, most; /* the operands that have a finite result */
    long double (*wide)(real x, real z);
    real (*scalar)(real x, real z);
} function;

#define WIDE(f, x) (IS_F32 ? (long double)f((double)(x)) : f##l((long double)(x)))
#define WIDE2(f, x, z) (IS_F32 ? (long double)f((double)(x), (double)(z)) : f##l((long double)(x), (long double)(z)))
#define EXACT(f) _Generic((real)0, float : tk_exact_##f##_f32, double : tk_exact_##f##_f64)
#define ONE(f) \
    static long double wide_##f(real x, real z) \
    { \
        (void)z; \
        return WIDE(f, x); \
    } \
    static real scalar_##f(real x, real z) \
    { \
        (void)z; \
        return EXACT(f)(x); \
    }
#define TWO(f) \
    static long double wide_##f(real x, real z) \
    { \
        return WIDE2(f, x, z); \
    } \
    static real scalar_##f(real x, real z) \
    { \
        return EXACT(f)(x, z); \
    }
ONE(cbrt)
ONE(exp)
ONE(exp2)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log1p)
ONE(sin)
ONE(cos)
ONE(tan)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(erf)
ONE(lgamma)
TWO(pow)
TWO(atan2)
TWO(hypot)

#define ROW(f, ...) \
    { \
#f, __VA_ARGS__, wide_##f, scalar_##f \
    }
static const function functions_of_c[] = {
    ROW(cbrt, -10, 10, -1e30, 1e30), ROW(exp, -10, 10, -760, 710), ROW(exp2, -10, 10, -1080, 1024),
    ROW(expm1, -2, 2, -60, 710),     ROW(log, 0, 10, 0, 1e30),     ROW(log2, 0, 10, 0, 1e30),
    ROW(log1p, -1, 4, -1, 1e30),     ROW(sin, -4, 4, -1e6, 1e6),   ROW(cos, -4, 4, -1e6, 1e6),
    ROW(tan, -1.5, 1.5, -1e6, 1e6),  ROW(asin, -1, 1, -1, 1),      ROW(acos, -1, 1, -1, 1),
    ROW(atan, -4, 4, -1e6, 1e6),     ROW(sinh, -4, 4, -712, 712),  ROW(cosh, -4, 4, -712, 712),
    ROW(tanh, -4, 4, -25, 25),       ROW(erf, -3, 3, -7, 7),       ROW(lgamma, 0, 10, -40, 1e6),
    ROW(pow, 0, 10, 0, 1e30),        ROW(atan2, -4, 4, -1e6, 1e6), ROW(hypot, -4, 4, -1e30, 1e30),
};
enum { COUNT = sizeof functions_of_c / sizeof *functions_of_c };

static functions *m; /* one at a time */

BENCH_MODULE(functions)

static bool begin(void)
{
    functions_params p = functions_defaults();
    p.N = N;
    m = new_functions(&p);
    return m;
}

static bool two_operands(const function *f)
{
    return strcmp(f->name, "pow") == 0 || strcmp(f->name, "atan2") == 0 || strcmp(f->name, "hypot") == 0;
}

static void run(const function *f)
{
    char name[32];
    snprintf(name, sizeof name, "op_%s", f->name);
    tk_module *module;
    const tk_kernel *k = tk_kernel_find(tk_module_session(&m->tk), name, &module);
    if (!k || tk_launch(module, k, NULL) != TK_OK) {
        fprintf(stderr, "%s: %s\n", name, functions_error(m));
        exit(2);
    }
}

/* ---- numbers ---- */

static uint64_t state;

static uint64_t random_bits(void)
{
    return bench_bits(&state);
}

static double uniform(double low, double high)
{
    return low + (high - low) * bench_uniform(&state);
}

static real any_bits(void)
{
    const uint64_t u = random_bits();
    const uint32_t v = (uint32_t)(u >> 32);
    real x;
    memcpy(&x, IS_F32 ? (const void *)&v : (const void *)&u, sizeof x);
    return x;
}

/* A number of the function's range, mostly: of any magnitude, even in it, close to the places where it turns. */
static real draw(const function *f)
{
    static const double places[] = {0,
                                    1,
                                    -1,
                                    0.5,
                                    -0.5,
                                    0.625,
                                    2,
                                    -2,
                                    3.141592653589793,
                                    1.5707963267948966,
                                    0.25,
                                    0.75,
                                    0.84375,
                                    1.25,
                                    2.857142857142857,
                                    6,
                                    0.7071067811865476,
                                    1.4142135623730951,
                                    22,
                                    88.7};
    const uint64_t kind = random_bits() >> 61;
    if (kind == 0)
        return any_bits();
    if (kind < 3)
        return (real)((random_bits() >> 63 ? 1 : -1) * exp2(uniform(-40, 10)));
    if (kind < 4)
        return (real)(places[random_bits() % (sizeof places / sizeof *places)] +
                      (random_bits() >> 63 ? 1 : -1) * exp2(uniform(-60, -1)));
    if (kind < 6)
        return (real)uniform(f->low, f->high);
    return (real)uniform(f->least, f->most);
}

static real second(const function *f, real x)
{
    const uint64_t kind = random_bits() >> 62;
    if (strcmp(f->name, "pow") == 0) {
        /* a result in range */
        const double most = IS_F32 ? 128 : 1024, log = log2(fabs((double)x));
        if (kind == 0 || !(fabs(log) < 2000))
            return (real)uniform(-20, 20);
        return kind == 1 ? (real)(double)(int)uniform(-12, 12)
                         : (real)(uniform(-1.05 * most, most) / (log == 0 ? 1 : log));
    }
    if (kind == 0)
        return draw(f);
    return (real)((double)x * (random_bits() >> 63 ? 1 : -1) * exp2(uniform(-12, 12)));
}

static const double special[] = {0.0,  -0.0, 1,    -1,   0.5,  -0.5,  2,        -2,        3,          -3,  4,
                                 1e-5, 20,   -20,  90,   -90,  104,   -104,     710,       -710,       746, -746,
                                 1e6,  -1e6, 1e10, 1e22, 1e36, -1e36, INFINITY, -INFINITY, (double)NAN};
static const double special_of_f32[] = {FLT_MIN,      -FLT_MIN,   FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MIN / 2,
                                        FLT_MIN / 64, FLT_MAX,    -FLT_MAX,     88.7228394,    88.72284,
                                        -87.33655,    -103.97208, 0x1p-149,     0x1.fffffep-1, 0x1.000002p0};
static const double special_of_f64[] = {DBL_MIN,
                                        -DBL_MIN,
                                        DBL_TRUE_MIN,
                                        -DBL_TRUE_MIN,
                                        DBL_MIN / 2,
                                        DBL_MIN / 4096,
                                        DBL_MAX,
                                        -DBL_MAX,
                                        709.782712893384,
                                        709.7827128933841,
                                        -708.3964185322641,
                                        -745.1332191019411,
                                        -745.1332191019412,
                                        710.4758600739439,
                                        0x1.fffffffffffffp-1,
                                        0x1.0000000000001p0,
                                        1e300};

static int specials(real *found)
{
    int n = 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        found[n++] = (real)special[i];
    const double *more = IS_F32 ? special_of_f32 : special_of_f64;
    const size_t count = IS_F32 ? sizeof special_of_f32 / sizeof(double) : sizeof special_of_f64 / sizeof(double);
    for (size_t i = 0; i < count; i++)
        found[n++] = (real)more[i];
    return n;
}

/* ---- errors ---- */

static double error(real got, long double want)
{
    const int digits = IS_F32 ? FLT_MANT_DIG : DBL_MANT_DIG, most = IS_F32 ? FLT_MAX_EXP : DBL_MAX_EXP,
              least = IS_F32 ? FLT_MIN_EXP : DBL_MIN_EXP;
    if (isnan(want) || isnan(got))
        return isnan(want) && isnan(got) ? 0 : (double)INFINITY;
    if (want == 0)
        return got == 0 && !signbit(got) == !signbit(want) ? 0 : (double)INFINITY;
    const long double limit = ldexpl(1, most);
    long double is = (long double)got;
    if (isinf(got))
        is = copysignl(limit, is);
    if (fabsl(want) > limit)
        want = copysignl(limit, want);
    int exponent;
    frexpl(want, &exponent);
    exponent = fabsl(want) >= limit ? most : exponent < least ? least : exponent;
    return (double)(fabsl(is - want) / ldexpl(1, exponent - digits));
}

typedef struct worst {
    double error;
    real x, z, got;
    long double want;
} worst;

static void look(const function *f, worst *w)
{
    run(f);
    for (int i = 0; i < N; i++) {
        const long double want = f->wide(m->x.data[i], m->z.data[i]);
        const double e = error(m->y.data[i], want);
        if (e > w->error)
            *w = (worst){e, m->x.data[i], m->z.data[i], m->y.data[i], want};
    }
}

static void say(const function *f, const char *where, const worst *w)
{
    printf("%s %s %s %.3f", f->name, TYPE, where, w->error);
    printf(" at %.17g", (double)w->x);
    if (two_operands(f))
        printf(", %.17g", (double)w->z);
    printf(": %.17g for %.21Lg\n", (double)w->got, w->want);
}

static void errors(const function *f, long points)
{
    worst w = {0}, s = {0};
    for (long k = 0; k < points; k += N) {
        for (int i = 0; i < N; i++) {
            m->x.data[i] = draw(f);
            m->z.data[i] = two_operands(f) ? second(f, m->x.data[i]) : 0;
        }
        look(f, &w);
    }
    say(f, "any", &w);
    real value[64];
    const int n = specials(value);
    for (int i = 0; i < N; i++) {
        m->x.data[i] = value[i % n];
        m->z.data[i] = value[i / n % n];
    }
    look(f, &s);
    say(f, "special", &s);
}

/* ---- times ---- */

static void *create(const int64_t *n)
{
    const function *f = &functions_of_c[n[0]];
    if (!begin())
        return NULL;
    for (int i = 0; i < N; i++) {
        m->x.data[i] = (real)uniform(f->low, f->high);
        m->z.data[i] = (real)uniform(f->low, f->high);
    }
    return (void *)f;
}

static void loop(void *f)
{
    run(f);
}

static void scalar(void *p)
{
    const function *f = p;
    for (int i = 0; i < N; i++)
        m->y.data[i] = f->scalar(m->x.data[i], m->z.data[i]);
}

static void print(const bench_row *r)
{
    printf("| %s | %s | %.2f | %.2f |\n", r->of->name, TYPE, 1e9 * bench_median(&r->times, 0) / N,
           1e9 * bench_median(&r->times, 1) / N);
}

static int times(int argc, char **argv)
{
    static bench_size sizes[COUNT][3];
    static bench_case cases[COUNT + 1];
    for (int k = 0; k < COUNT; k++) {
        for (int i = 0; i < 2; i++)
            sizes[k][i] = (bench_size){"4096 elements", {k}};
        cases[k] = (bench_case)BENCH_CASE(functions_of_c[k].name, NULL, NULL, sizes[k], create, NULL, loop, scalar);
    }
    const bench_suite suite = {
        .about = TYPE,
        .head = "| function | type | ns an element: loop | scalar |\n|---|---|---|---|",
        .watch = {CLOCK_MONOTONIC, 41, 2e-5},
        .threads = 1,
        .cases = (const bench_case *const[]){cases, NULL},
        .print = print,
    };
    return bench_main(&suite, argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "errors") != 0)
        return times(argc, argv);
    long points = 1 << 20;
    int at = 2;
    if (argc > 3 && strcmp(argv[2], "--points") == 0)
        points = atol(argv[3]), at = 4;
    if (!begin())
        return 2;
    for (int k = 0; k < COUNT; k++) {
        bool wanted = at >= argc;
        for (int i = at; i < argc; i++)
            wanted |= strcmp(argv[i], functions_of_c[k].name) == 0;
        if (wanted)
            errors(&functions_of_c[k], points);
    }
    bench_release();
}
