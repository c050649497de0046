/* Functions of the C library as arithmetic without branches and calls, so that compilers vectorise loops around them on
 * every processor. tkc_math.h includes this file for compilers without vector variants of the functions.
 *
 * Every polynomial is a minimax approximation made for its interval here (by fpminimax and remez of Sollya: Chevillard,
 * Joldes, Lauter, "Sollya: an environment for the development of numerical codes", 2010). A comment at each function
 * names the reduction to these intervals. The sources are:
 *
 * Cody and Waite, "Software manual for the elementary functions", 1980.
 * Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983.
 * Tang, "Table-driven implementation of the expm1 function in IEEE floating-point arithmetic", TOMS 18, 1992, also for
 * Dekker's sums.
 *
 * Functions of f32 compute in f64, with the shortest sufficient polynomials: 0.6 ulp, unless a comment says otherwise.
 * The errors at functions of f64 are the greatest measured errors, rounded up. tests/bench/README.md has the bounds
 * that tests/driver/functions checks. Zeros keep their signs; infinities, NaN and denormal numbers give correct
 * results.
 *
 * Numbers are rounded to integers by conversion of the bits of a sum, not by subtraction of the added number. The
 * conversion stays right if a compiler reorders sums. */
#ifndef TK_LANES_INCLUDED
#define TK_LANES_INCLUDED

#include <math.h>
#include <stdint.h>
#include <string.h>

/* a + b x + c x^2 + ... */
#define TK_H2_(x, a, b) ((b) * (x) + (a))
#define TK_H3_(x, a, ...) (TK_H2_(x, __VA_ARGS__) * (x) + (a))
#define TK_H4_(x, a, ...) (TK_H3_(x, __VA_ARGS__) * (x) + (a))
#define TK_H5_(x, a, ...) (TK_H4_(x, __VA_ARGS__) * (x) + (a))
#define TK_H6_(x, a, ...) (TK_H5_(x, __VA_ARGS__) * (x) + (a))
#define TK_H7_(x, a, ...) (TK_H6_(x, __VA_ARGS__) * (x) + (a))
#define TK_H8_(x, a, ...) (TK_H7_(x, __VA_ARGS__) * (x) + (a))
#define TK_H9_(x, a, ...) (TK_H8_(x, __VA_ARGS__) * (x) + (a))
#define TK_H10_(x, a, ...) (TK_H9_(x, __VA_ARGS__) * (x) + (a))
#define TK_H11_(x, a, ...) (TK_H10_(x, __VA_ARGS__) * (x) + (a))
#define TK_H12_(x, a, ...) (TK_H11_(x, __VA_ARGS__) * (x) + (a))
#define TK_H13_(x, a, ...) (TK_H12_(x, __VA_ARGS__) * (x) + (a))

/* The same in fewer dependent steps, where z is x^2. Code without loops uses it too. */
#define TK_E4_(x, z, a, b, c, d) (((d) * (x) + (c)) * (z) + ((b) * (x) + (a)))
#define TK_E6_(x, z, a, b, c, d, e, f) (((f) * (x) + (e)) * ((z) * (z)) + TK_E4_(x, z, a, b, c, d))
#define TK_E7_(x, z, a, b, c, d, e, f, g) (TK_H3_(x, e, f, g) * ((z) * (z)) + TK_E4_(x, z, a, b, c, d))
#define TK_E9_(x, z, a, b, c, d, e, ...) (TK_H5_(x, e, __VA_ARGS__) * ((z) * (z)) + TK_E4_(x, z, a, b, c, d))
#define TK_E11_(x, z, a, b, c, d, ...) (TK_E7_(x, z, __VA_ARGS__) * ((z) * (z)) + TK_E4_(x, z, a, b, c, d))
#define TK_E12_(x, z, a, b, c, d, e, f, g, h, ...) \
    ((TK_E4_(x, z, __VA_ARGS__) * ((z) * (z)) + TK_E4_(x, z, e, f, g, h)) * ((z) * (z)) + TK_E4_(x, z, a, b, c, d))

#define TK_LN2_HI_ 0x1.62e42fefp-1 /* products with integers below 2^20 are exact */
#define TK_LN2_LO_ 0x1.473de6af278edp-34
#define TK_INV_LN2_ 1.4426950408889634
#define TK_PI_ 3.141592653589793
#define TK_PI_LO_ 1.2246467991473532e-16 /* pi is the sum of both */

static inline uint64_t tk_lane_bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double tk_lane_of_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* The integer next to x, |x| < 2^31. */
static inline int32_t tk_lane_round(double x)
{
    return (int32_t)(uint32_t)tk_lane_bits(x + 0x1.8p52);
}

/* 2^(k + more), the exponent from -1022 to 1023; unspecified if k was made from NaN. */
static inline double tk_lane_pow2_of(int32_t k, int32_t more)
{
    return tk_lane_of_bits((uint64_t)((uint32_t)k + (uint32_t)(more + 1023)) << 52);
}

static inline double tk_lane_pow2(int32_t k)
{
    return tk_lane_pow2_of(k, 0);
}

/* x between a and b; NaN stays. */
static inline double tk_lane_clamp(double x, double a, double b)
{
    const double y = x < a ? a : x;
    return y > b ? b : y;
}

/* A positive number as 2^k m, m from sqrt(1/2) to sqrt(2). */
typedef struct tk_lane_parts {
    double k, m;
} tk_lane_parts;

static inline tk_lane_parts tk_lane_split(double x)
{
    const uint64_t least = 0x3fe6a09e667f3bcdu, one = 0x3ff0000000000000u;
    const uint64_t u = tk_lane_bits(x), e = (u + (one - least)) >> 52;
    const tk_lane_parts r = {(double)((int32_t)(uint32_t)e - 1023), tk_lane_of_bits(u - (e << 52) + one)};
    return r;
}

/* The same of denormal numbers, too. */
static inline tk_lane_parts tk_lane_split_any(double x)
{
    const int small = x < 0x1p-1022;
    tk_lane_parts r = tk_lane_split(small ? x * 0x1p54 : x);
    r.k = small ? r.k - 54 : r.k;
    return r;
}

/* The logarithm of negative numbers, zero, NaN and infinity; else r. */
static inline double tk_lane_log_of(double x, double r)
{
    const double edge = x == 0 ? -HUGE_VAL : x < 0 ? (double)NAN : x;
    return x > 0 && x < HUGE_VAL ? r : edge;
}

/* ---- powers of 2 and of e: x = k ln 2 + r, |r| < 0.35 (Cody and Waite) ---- */

/* 1.4 ulp */
static inline double tk_lane_exp2_f64(double x)
{
    const double y = tk_lane_clamp(x, -1100, 1100);
    const int32_t k = tk_lane_round(y), half = k >> 1;
    const double r = y - (double)k;
    const double p = TK_E12_(r, r * r, 0.6931471805599453, 0.24022650695910072, 0.05550410866482347,
                             0.009618129107627948, 0.0013333558145993498, 0.00015403530394342456,
                             1.5252734219089084e-05, 1.3215486031693731e-06, 1.0177906105768696e-07,
                             7.055179731007167e-09, 4.4777733289709636e-10, 2.5347121462991543e-11);
    return (1 + r * p) * tk_lane_pow2(half) * tk_lane_pow2(k - half);
}

static inline float tk_lane_exp2_f32(float x)
{
    const double y = tk_lane_clamp((double)x, -200, 200);
    const int32_t k = tk_lane_round(y);
    const double r = y - (double)k;
    const double p = TK_H7_(r, 0.693147180553706, 0.24022650922608804, 0.05550410928838595, 0.009618056612816504,
                            0.0013333454457031173, 0.0001546147036346518, 1.5310105980815077e-05);
    return (float)((1 + r * p) * tk_lane_pow2(k));
}

/* (exp(r) - 1 - r) / r^2 */
static inline double tk_lane_exp_tail(double r)
{
    return TK_E11_(r, r * r, 0.5, 0.1666666666666667, 0.04166666666666668, 0.008333333333325895, 0.0013888888888876985,
                   0.00019841269875419193, 2.480158734242275e-05, 2.7557254811255995e-06, 2.7557257004407846e-07,
                   2.5105417054891745e-08, 2.092035066105072e-09);
}

/* 0.9 ulp */
static inline double tk_lane_exp_f64(double x)
{
    const double y = tk_lane_clamp(x, -760, 760);
    const int32_t n = tk_lane_round(y * TK_INV_LN2_), half = n >> 1;
    const double k = (double)n, high = y - k * TK_LN2_HI_, low = k * TK_LN2_LO_, r = high - low;
    return (1 + (high + (r * r * tk_lane_exp_tail(r) - low))) * tk_lane_pow2(half) * tk_lane_pow2(n - half);
}

/* 2^k, -127 < k < 128. */
static inline float tk_lane_pow2_f32(int32_t k)
{
    const uint32_t u = ((uint32_t)k + 127) << 23;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* In f32, like logarithms, because nearly every program uses them: 0.9 ulp */
static inline float tk_lane_exp_f32(float x)
{
    const float least = x < -105 ? -105 : x, y = least > 90 ? 90 : least, sum = y * 1.44269504f + 0x1.8p23f;
    int32_t bits;
    memcpy(&bits, &sum, sizeof bits);
    const int32_t n = bits - 0x4b400000, half = n >> 1;
    const float k = (float)n, high = y - k * 0.693359375f, low = k * -2.12194440e-4f, r = high - low;
    const float p = TK_E6_(r, r * r, 0.5f, 0.16666667f, 0.041666508f, 0.008333177f, 0.0013930865f, 0.00019972307f);
    return (1 + (high + (r * r * p - low))) * tk_lane_pow2_f32(half) * tk_lane_pow2_f32(n - half);
}

/* 2^k exp(r) - 1 as in Tang's paper, plus the rounding error of the sum (2^k - 1) + 2^k r: 1.3 ulp. The last power of 2
 * has a factor of its own. */
static inline double tk_lane_expm1_f64(double x)
{
    const double y = tk_lane_clamp(x, -50, 710);
    const int32_t n = tk_lane_round(y * TK_INV_LN2_);
    const double k = (double)n, high = y - k * TK_LN2_HI_, low = k * TK_LN2_LO_, r = high - low;
    const double lost = (high - r) - low, tail = r * r * tk_lane_exp_tail(r) + lost;
    const double up = n > 1000 ? 0.5 : 1, power = tk_lane_pow2_of(n, n > 1000 ? -1 : 0);
    const double a = power - up, b = power * r, sum = a + b, rest = (a - sum) + b;
    return copysign((sum + (rest + power * tail)) * (1 / up), x);
}

static inline float tk_lane_expm1_f32(float x)
{
    const double y = tk_lane_clamp((double)x, -50, 100);
    const int32_t n = tk_lane_round(y * TK_INV_LN2_);
    const double k = (double)n, r = (y - k * TK_LN2_HI_) - k * TK_LN2_LO_, power = tk_lane_pow2(n);
    const double p = TK_H7_(r, 0.9999999999910075, 0.5000000047149311, 0.16666666853770556, 0.04166635276775536,
                            0.008333268560615429, 0.0013941118621400308, 0.00019915883020801714);
    return copysignf((float)((power - 1) + power * (r * p)), x);
}

/* sinh(k ln 2 + r) = sinh(k ln 2) cosh(r) + cosh(k ln 2) sinh(r), likewise cosh: the greatest part apart, and the
 * rounding error of its sum. s is sinh(r) - r, c is cosh(r) - 1. a and b are (2^k -+ 2^-k) / 2, without a factor that
 * large k leave to the end. lost is the rounding error of a + b r. */
typedef struct tk_lane_hyperbolic {
    double a, b, r, c, s, lost, up;
} tk_lane_hyperbolic;

static inline tk_lane_hyperbolic tk_lane_hyperbolic_f64(double x)
{
    const double y = tk_lane_clamp(fabs(x), 0, 711);
    const int32_t n = tk_lane_round(y * TK_INV_LN2_);
    const double k = (double)n, high = y - k * TK_LN2_HI_, low = k * TK_LN2_LO_, r = high - low, z = r * r;
    const double power = tk_lane_pow2_of(n, n > 1000 ? -3 : -1), inverse = tk_lane_pow2(-1 - (n > 100 ? 100 : n));
    const double s = TK_H6_(z, 0.16666666666666666, 0.008333333333334874, 0.00019841269834087078,
                            2.7557332900259497e-06, 2.5040706545521373e-08, 1.9526548268843717e-10);
    const double c = TK_H6_(z, 0.5, 0.04166666666666667, 0.0013888888888882163, 2.4801587330000307e-05,
                            2.755726894075426e-07, 2.091636116562055e-09);
    const double a = power - inverse, b = power + inverse;
    const tk_lane_hyperbolic h = {
        a, b, r, z * c, z * r * s + ((high - r) - low), (power - a) - inverse, n > 1000 ? 4.0 : 1.0};
    return h;
}

/* 1.4 ulp */
static inline double tk_lane_sinh_f64(double x)
{
    const tk_lane_hyperbolic h = tk_lane_hyperbolic_f64(x);
    const double t = h.b * h.r, sum = h.a + t, rest = ((h.a - sum) + t) + h.lost;
    return copysign((sum + (rest + (h.a * h.c + h.b * h.s))) * h.up, x);
}

/* 1.0 ulp */
static inline double tk_lane_cosh_f64(double x)
{
    const tk_lane_hyperbolic h = tk_lane_hyperbolic_f64(x);
    const double t = h.a * h.r, sum = h.b + t, rest = ((h.b - sum) + t) - h.lost;
    return (sum + (rest + (h.b * h.c + h.a * h.s))) * h.up;
}

static inline tk_lane_hyperbolic tk_lane_hyperbolic_f32(float x)
{
    const double y = tk_lane_clamp(fabs((double)x), 0, 100);
    const int32_t n = tk_lane_round(y * TK_INV_LN2_);
    const double k = (double)n, r = (y - k * TK_LN2_HI_) - k * TK_LN2_LO_, z = r * r;
    const double power = tk_lane_pow2_of(n, -1), inverse = tk_lane_pow2(-1 - n);
    const double s = TK_H3_(z, 0.16666666681629264, 0.008333310922175596, 0.00019890992983696872);
    const double c = TK_H3_(z, 0.5000000013472873, 0.041666464884652005, 0.0013933652845370562);
    const tk_lane_hyperbolic h = {power - inverse, power + inverse, r, 1 + z * c, r + z * r * s, 0, 1};
    return h;
}

static inline float tk_lane_sinh_f32(float x)
{
    const tk_lane_hyperbolic h = tk_lane_hyperbolic_f32(x);
    return copysignf((float)(h.a * h.c + h.b * h.s), x);
}

static inline float tk_lane_cosh_f32(float x)
{
    const tk_lane_hyperbolic h = tk_lane_hyperbolic_f32(x);
    return (float)(h.b * h.c + h.a * h.s);
}

/* Moshier's, of the Cephes library: 1.4 ulp */
static inline double tk_lane_tanh_f64(double x)
{
    const double a = fabs(x), s = a * a;
    const double p = (-9.64399179425052238628e-1 * s - 9.92877231001918586564e1) * s - 1.61468768441708447952e3;
    const double q = ((s + 1.12811678491632931402e2) * s + 2.23548839060100448583e3) * s + 4.84406305325125486048e3;
    const double near = a + a * s * (p / q), far = 1.0 - 2.0 / (tk_lane_exp_f64(2.0 * a) + 1.0);
    return copysign(a < 0.625 ? near : far, x);
}

/* 1.4 ulp */
static inline float tk_lane_tanh_f32(float x)
{
    const float a = fabsf(x), s = a * a;
    const float p = (((-5.70498872745e-3f * s + 2.06390887954e-2f) * s - 5.37397155531e-2f) * s + 1.33314422036e-1f) *
                        s -
                    3.33332819422e-1f;
    const float near = a + a * s * p, far = 1.0f - 2.0f / (tk_lane_exp_f32(2.0f * a) + 1.0f);
    return copysignf(a < 0.625f ? near : far, x);
}

/* ---- logarithms: log(m) = 2 atanh(s), s = f / (2 + f), f = m - 1 (Cody and Waite) ---- */

/* 2 atanh(s) = 2 s + s r(s^2). With f exact, log(1 + f) is f - (f^2 / 2 - s (f^2 / 2 + r)). */
static inline double tk_lane_log_rest(double z)
{
    return z * TK_E7_(z, z * z, 0.666666666666667, 0.3999999999989928, 0.28571428626210205, 0.22222211090523236,
                      0.1818289246286912, 0.1533161084202332, 0.14617797125896773);
}

/* 0.9 ulp */
static inline double tk_lane_log_f64(double x)
{
    const tk_lane_parts p = tk_lane_split_any(x);
    const double f = p.m - 1, s = f / (2 + f), half = 0.5 * f * f;
    const double r = s * (half + tk_lane_log_rest(s * s)) + p.k * TK_LN2_LO_;
    return tk_lane_log_of(x, p.k * TK_LN2_HI_ + (f - (half - r)));
}

/* log(1 + f) as f - f^2 / 2 + f^3 p(f): 0.9 ulp */
static inline float tk_lane_log_f32(float x)
{
    const int small = x < 0x1p-126f;
    const float y = small ? x * 0x1p23f : x;
    uint32_t u;
    memcpy(&u, &y, sizeof u);
    const uint32_t least = 0x3f3504f3, one = 0x3f800000, e = (u + (one - least)) >> 23, v = u - (e << 23) + one;
    float m;
    memcpy(&m, &v, sizeof m);
    const float k = (float)((int32_t)e - 127 - (small ? 23 : 0)), f = m - 1, z = f * f;
    const float p = TK_E9_(f, z, 0.33333313f, -0.2500001f, 0.20002119f, -0.16667996f, 0.14219546f, -0.12405571f,
                           0.11888196f, -0.11675782f, 0.067467235f);
    const float r = k * 0.693359375f + (f - (0.5f * z - (f * z * p + k * -2.12194440e-4f)));
    const float edge = x == 0 ? -HUGE_VALF : x < 0 ? NAN : x;
    return x > 0 && x < HUGE_VALF ? r : edge;
}

/* log(1 + f) as a number of 21 bits and the rest, both times the reciprocal of ln 2 in two parts as well: 0.9 ulp */
static inline double tk_lane_log2_f64(double x)
{
    const tk_lane_parts p = tk_lane_split_any(x);
    const double inv_high = 0x1.71547p+0, inv_low = 0x1.94ae0bf85ddf4p-22;
    const double f = p.m - 1, s = f / (2 + f), half = 0.5 * f * f;
    const double high = tk_lane_of_bits(tk_lane_bits(f - half) & 0xffffffff00000000u);
    const double low = ((f - high) - half) + s * (half + tk_lane_log_rest(s * s));
    const double t = high * inv_high, sum = p.k + t, rest = (p.k - sum) + t;
    return tk_lane_log_of(x, sum + (rest + ((low + high) * inv_low + low * inv_high)));
}

static inline double tk_lane_log_rest_f32(double z)
{
    return z * TK_H4_(z, 0.6666666655286643, 0.4000012287873729, 0.28550722985391785, 0.23332766244515507);
}

static inline float tk_lane_log2_f32(float x)
{
    const tk_lane_parts p = tk_lane_split((double)x);
    const double f = p.m - 1, s = f / (2 + f);
    return (float)tk_lane_log_of((double)x, p.k + s * (2 + tk_lane_log_rest_f32(s * s)) * TK_INV_LN2_);
}

/* Near 0, f is x; elsewhere f belongs to 1 + x, with the rounding error of this sum: 0.9 ulp */
static inline double tk_lane_log1p_f64(double x)
{
    const double u = 1 + x;
    const tk_lane_parts p = tk_lane_split(u);
    const int near = fabs(x) < 0.29;
    const double lost = x > 1 ? 1 - (u - x) : x - (u - 1);
    const double k = near ? 0 : p.k, f = near ? x : p.m - 1, c = near ? 0 : lost / u;
    const double s = f / (2 + f), half = 0.5 * f * f;
    const double r = s * (half + tk_lane_log_rest(s * s)) + (k * TK_LN2_LO_ + c);
    return copysign(tk_lane_log_of(u, k * TK_LN2_HI_ + (f - (half - r))), x);
}

static inline float tk_lane_log1p_f32(float x)
{
    const double y = (double)x, u = 1 + y;
    const tk_lane_parts p = tk_lane_split(u);
    const int near = fabs(y) < 0.29;
    const double k = near ? 0 : p.k, f = near ? y : p.m - 1, s = f / (2 + f);
    return copysignf((float)tk_lane_log_of(u, k * 0.6931471805599453 + s * (2 + tk_lane_log_rest_f32(s * s))), x);
}

/* ---- inverse functions of angles ---- */

/* atan(a / b), 0 <= a <= b, as an angle (0, atan(1/2) or pi/4) and the rest. Only the first has a rounded quotient that
 * matters. */
typedef struct tk_lane_angle {
    double at, at_low, t, tail;
} tk_lane_angle;

static inline tk_lane_angle tk_lane_angle_f64(double a, double b)
{
    const int second = a >= 0.4375 * b, third = a >= 0.6875 * b;
    const double number = third ? a - b : second ? 2 * a - b : a, by = third ? a + b : second ? 2 * b + a : b;
    const double t = number / by, z = t * t;
    const double p = TK_H12_(z, -0.3333333333333333, 0.19999999999998763, -0.142857142854817, 0.11111111091452555,
                             -0.09090908179031841, 0.07692281876951673, -0.06666192615184477, 0.05876512333709125,
                             -0.05214183755587282, 0.04483235932578913, -0.032941965204579086, 0.01460600228343909);
    const tk_lane_angle r = {third    ? TK_PI_ / 4
                             : second ? 0.4636476090008061
                                      : 0,
                             third    ? TK_PI_LO_ / 4
                             : second ? 2.2698777452961687e-17
                                      : 0,
                             t, t * z * p};
    return r;
}

/* c - the angle, where c and its rest are at least as great. */
static inline tk_lane_angle tk_lane_from(double c, double c_low, tk_lane_angle g)
{
    const double at = c - g.at;
    const tk_lane_angle r = {at, ((c - at) - g.at) + (c_low - g.at_low), -g.t, -g.tail};
    return r;
}

static inline double tk_lane_total(tk_lane_angle g)
{
    return g.at + (g.t + (g.tail + g.at_low));
}

static inline tk_lane_angle tk_lane_choose(int first, tk_lane_angle a, tk_lane_angle b)
{
    const tk_lane_angle r = {first ? a.at : b.at, first ? a.at_low : b.at_low, first ? a.t : b.t,
                             first ? a.tail : b.tail};
    return r;
}

/* 0.9 ulp */
static inline double tk_lane_atan_f64(double x)
{
    const double y = fabs(x);
    const int beyond = y > 1;
    const tk_lane_angle g = tk_lane_angle_f64(beyond ? 1 : y, beyond ? y : 1);
    return copysign(tk_lane_total(tk_lane_choose(beyond, tk_lane_from(TK_PI_ / 2, TK_PI_LO_ / 2, g), g)), x);
}

/* 1.5 ulp. Equal operands, including zeros and infinities, become 1 and 1, or 0 and 1. Large operands are scaled down
 * and small operands up, because they are added and have factors. */
static inline double tk_lane_atan2_f64(double y, double x)
{
    const double u = fabs(y), v = fabs(x);
    const int beyond = u > v, same = u == v, left = copysign(1.0, x) < 0;
    const double least = beyond ? v : u, most = beyond ? u : v;
    const double scale = most > 0x1p1000 ? 0x1p-30 : most < 0x1p-900 ? 0x1p100 : 1;
    const double a = same ? (u > 0 ? 1 : 0) : least * scale, b = same ? 1 : most * scale;
    tk_lane_angle g = tk_lane_angle_f64(a, b);
    g = tk_lane_choose(beyond, tk_lane_from(TK_PI_ / 2, TK_PI_LO_ / 2, g), g);
    g = tk_lane_choose(left, tk_lane_from(TK_PI_, TK_PI_LO_, g), g);
    const double r = copysign(tk_lane_total(g), y);
    return x == x && y == y ? r : x + y;
}

static inline double tk_lane_atan_of_f32(double t)
{
    const double z = t * t;
    return t + t * z *
                   TK_H10_(z, -0.3333333314540758, 0.19999959524026237, -0.14284271568956794, 0.11090976783486718,
                           -0.08945651462146358, 0.07071525076013378, -0.04962808332490421, 0.02696137941716527,
                           -0.0094929378258899, 0.001565754940178685);
}

static inline float tk_lane_atan_f32(float x)
{
    const double y = fabs((double)x);
    const double r = tk_lane_atan_of_f32((y > 1 ? 1 : y) / (y > 1 ? y : 1));
    return copysignf((float)(y > 1 ? TK_PI_ / 2 - r : r), x);
}

static inline float tk_lane_atan2_f32(float y, float x)
{
    const double u = fabs((double)y), v = fabs((double)x);
    const int beyond = u > v, same = u == v;
    const double q = (beyond ? v : u) / (beyond ? u : v);
    double r = tk_lane_atan_of_f32(same ? (u > 0 ? 1 : 0) : q);
    r = beyond ? TK_PI_ / 2 - r : r;
    r = copysign(1.0, (double)x) < 0 ? TK_PI_ - r : r;
    return x == x && y == y ? copysignf((float)r, y) : x + y;
}

/* asin(s) = s + s z p(z), z = s^2 < 1/4; asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)) beyond 1/2 (Cody and Waite). Of f64
 * by way of pi/4, from which 2 s is taken without error where that counts. */
static inline double tk_lane_arc_rest(double z)
{
    return z * TK_H13_(z, 0.16666666666666669, 0.07499999999998017, 0.04464285714700721, 0.030381944094300607,
                       0.022372174556052764, 0.017352357280159696, 0.013971711915719531, 0.01147452121243462,
                       0.010351934602547883, 0.005336831549972352, 0.01771874266585035, -0.015333687560372776,
                       0.029077773065133285);
}

/* 1.4 ulp */
static inline double tk_lane_asin_f64(double x)
{
    const double a = fabs(x);
    const int far = a > 0.5;
    const double z = far ? (1 - a) * 0.5 : a * a, s = far ? sqrt(z) : a, w = s * tk_lane_arc_rest(z);
    const double r = TK_PI_ / 4 - ((2 * w - TK_PI_LO_ / 2) - (TK_PI_ / 4 - 2 * s));
    return copysign(far ? r : s + w, x);
}

/* 1.2 ulp */
static inline double tk_lane_acos_f64(double x)
{
    const double a = fabs(x);
    const int far = a > 0.5;
    const double z = far ? (1 - a) * 0.5 : a * a, s = far ? sqrt(z) : x, w = s * tk_lane_arc_rest(z);
    const double middle = TK_PI_ / 2 - (s + (w - TK_PI_LO_ / 2)), left = TK_PI_ - (2 * s + (2 * w - TK_PI_LO_));
    return far ? (x < 0 ? left : 2 * (s + w)) : middle;
}

static inline double tk_lane_arc_rest_f32(double z)
{
    return z * TK_H7_(z, 0.1666666668873365, 0.07499991632224555, 0.044648027907803194, 0.03026287238693031,
                      0.023660524257409207, 0.010400051865418137, 0.031208480434614366);
}

static inline float tk_lane_asin_f32(float x)
{
    const double a = fabs((double)x);
    const int far = a > 0.5;
    const double z = far ? (1 - a) * 0.5 : a * a, s = far ? sqrt(z) : a, r = s + s * tk_lane_arc_rest_f32(z);
    return copysignf((float)(far ? TK_PI_ / 2 - 2 * r : r), x);
}

static inline float tk_lane_acos_f32(float x)
{
    const double y = (double)x, a = fabs(y);
    const int far = a > 0.5;
    const double z = far ? (1 - a) * 0.5 : a * a, s = far ? sqrt(z) : y, r = s + s * tk_lane_arc_rest_f32(z);
    return (float)(far ? (y < 0 ? TK_PI_ - 2 * r : 2 * r) : TK_PI_ / 2 - r);
}

/* ---- roots ---- */

/* The exponent divided by 3, a polynomial for the rest, and a step of Halley's iteration, from a number whose square is
 * exact: 0.7 ulp */
static inline double tk_lane_cbrt_f64(double x)
{
    const double a = fabs(x);
    const int small = a < 0x1p-1022;
    const uint64_t u = tk_lane_bits(small ? a * 0x1p54 : a);
    const double e = (double)((int32_t)(uint32_t)(u >> 52) - 1023);
    const int32_t n = tk_lane_round(e * (1.0 / 3) - 1.0 / 3);
    const double rest = e - 3 * (double)n, m = tk_lane_of_bits((u & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    const double root = rest < 0.5 ? 1 : rest < 1.5 ? 0x1.428a2f98d728bp+0 : 0x1.965fea53d6e3dp+0;
    const double p = TK_H6_(m, 0.47385973134911297, 0.8362822892324061, -0.46660320883140705, 0.20096914296764637,
                            -0.04977302575299475, 0.0052664442799382205);
    const double v = m * (rest < 0.5 ? 1 : rest < 1.5 ? 2 : 4);
    const double t = tk_lane_of_bits((tk_lane_bits(p * root) + 0x20000000u) & 0xffffffffc0000000u);
    const double q = v / (t * t), r = t + t * ((q - t) / (2 * t + q));
    const double scaled = r * tk_lane_pow2(n) * (small ? 0x1p-18 : 1);
    return a > 0 && a < HUGE_VAL ? copysign(scaled, x) : x + x;
}

static inline float tk_lane_cbrt_f32(float x)
{
    const double a = fabs((double)x);
    const uint64_t u = tk_lane_bits(a);
    const double e = (double)((int32_t)(uint32_t)(u >> 52) - 1023);
    const int32_t n = tk_lane_round(e * (1.0 / 3) - 1.0 / 3);
    const double rest = e - 3 * (double)n, m = tk_lane_of_bits((u & 0x000fffffffffffffu) | 0x3ff0000000000000u);
    const double root = rest < 0.5 ? 1 : rest < 1.5 ? 0x1.428a2f98d728bp+0 : 0x1.965fea53d6e3dp+0;
    const double v = m * (rest < 0.5 ? 1 : rest < 1.5 ? 2 : 4);
    const double t = root * TK_H5_(m, 0.5076589937108731, 0.716222830771019, -0.2985953459418145, 0.0851741623182031,
                                   -0.010450362411452075);
    const double c = t * t * t, r = t * ((c + 2 * v) / (2 * c + v)) * tk_lane_pow2(n);
    return a > 0 && a < HUGE_VAL ? copysignf((float)r, x) : x + x;
}

/* 1.3 ulp; squares in range by a power of 2 */
static inline double tk_lane_hypot_f64(double x, double y)
{
    const double u = fabs(x), v = fabs(y), most = u > v ? u : v;
    const int large = most > 0x1p510, small = most < 0x1p-450;
    const double scale = large ? 0x1p-600 : small ? 0x1p600 : 1, back = large ? 0x1p600 : small ? 0x1p-600 : 1;
    const double a = u * scale, b = v * scale, r = sqrt(a * a + b * b) * back;
    return u == HUGE_VAL || v == HUGE_VAL ? HUGE_VAL : r;
}

static inline float tk_lane_hypot_f32(float x, float y)
{
    const double u = fabs((double)x), v = fabs((double)y), r = sqrt(u * u + v * v);
    return (float)(u == HUGE_VAL || v == HUGE_VAL ? HUGE_VAL : r);
}

/* ---- erf: x + x p(x^2) below 1, then 1 - exp(-x^2) q((x - c) / (x + c)), which has errors of erfc alone ---- */

/* 1.2 ulp */
static inline double tk_lane_erf_f64(double x)
{
    const double y = fabs(x), a = y > 6 ? 6 : y, z = a * a;
    const double near = TK_H13_(z, 0.1283791670955126, -0.37612638903183876, 0.11283791670958783, -0.02686617064563193,
                                0.005223977629246368, -0.0008548327199419399, 0.00012055338164247336,
                                -1.4925748260975493e-05, 1.6463248766607857e-06, -1.6372388792945082e-07,
                                1.4798478798207956e-08, -1.1877050408903301e-09, 6.763673045037708e-11);
    const int32_t n = tk_lane_round(-z * TK_INV_LN2_);
    const double k = (double)n, r = (-z - k * TK_LN2_HI_) - k * TK_LN2_LO_;
    const double gauss = (1 + (r + r * r * tk_lane_exp_tail(r))) * tk_lane_pow2(n), t = (a - 3) / (a + 3);
    const double far = TK_H13_(t, 0.17900115118139, -0.3262335600431626, 0.24560380170781057, -0.15011593654565755,
                               0.0716658374405312, -0.02439248996853017, 0.004269232729334439, 0.0007083055573942406,
                               -0.0005950000557932318, 5.02185978616078e-05, 7.162406029692055e-05,
                               -6.440944372159985e-06, -6.579402661291499e-06);
    return copysign(a < 1 ? a + a * near : 1 - gauss * far, x);
}

static inline float tk_lane_erf_f32(float x)
{
    const double y = fabs((double)x), a = y > 4 ? 4 : y, z = a * a;
    const double near = TK_H8_(z, 0.1283791670631586, -0.37612638483813654, 0.11283782747275443, -0.0268654458259066,
                               0.005221074890991414, -0.0008484711638544457, 0.00011270545869607453,
                               -9.680140342048926e-06);
    const int32_t n = tk_lane_round(-z * TK_INV_LN2_);
    const double r = -z - (double)n * 0.6931471805599453;
    const double gauss = (1 + r * TK_H7_(r, 0.9999999999910075, 0.5000000047149311, 0.16666666853770556,
                                         0.04166635276775536, 0.008333268560615429, 0.0013941118621400308,
                                         0.00019915883020801714)) *
                         tk_lane_pow2(n);
    const double t = (a - 2) / (a + 2);
    const double far = TK_H6_(t, 0.2553956779131434, -0.42718585349517224, 0.24165727021305608, -0.07898690612878109,
                              0.003729738552632273, 0.007212550079377349);
    return copysignf((float)(a < 1 ? a + a * near : 1 - gauss * far), x);
}

/* ---- tan: quarter turns are taken off (Cody and Waite; Payne and Hanek for large numbers) ---- */

/* For f32 only: a large f64 takes twice as many digits of 2/pi, and they get no branch of their own. From each byte on,
 * 32 bits of 2/pi, with 32 zeros in front of them. */
static const uint32_t tk_lane_two_over_pi[] = {
    0x00000000, 0x000000a2, 0x0000a2f9, 0x00a2f983, 0xa2f9836e, 0xf9836e4e, 0x836e4e44, 0x6e4e4415, 0x4e441529,
    0x441529fc, 0x1529fc27, 0x29fc2757, 0xfc2757d1, 0x2757d1f5, 0x57d1f534, 0xd1f534dd, 0xf534ddc0, 0x34ddc0db,
    0xddc0db62, 0xc0db6295, 0xdb629599, 0x6295993c, 0x95993c43, 0x993c4390, 0x3c439041, 0x439041fe};

static inline float tk_lane_tan_f32(float x)
{
    const double y = (double)x;
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    /* x = m 2^e; the bits of 2/pi that give multiples of 4 quarter turns are left out */
    const uint32_t field = (u >> 23) & 255, from = (field < 127 ? 127 : field) - 127 - 23 - 2 + 32;
    const uint64_t m = (uint64_t)((u & 0x7fffff) | 0x800000) << (from & 7);
    const uint32_t *w = tk_lane_two_over_pi + (from >> 3);
    const uint64_t turns = (m * w[0] << 32) + m * w[4] + (m * w[8] >> 32);
    const uint64_t quarters = (turns + (UINT64_C(1) << 61)) >> 62, part = turns - (quarters << 62);
    const double far = ((double)(int32_t)(uint32_t)(part >> 32) * 0x1p32 +
                        (double)(int32_t)(uint32_t)((part & 0xffffffff) >> 1) * 2) *
                       (TK_PI_ / 2 * 0x1p-62);
    const int large = fabs(y) > 8192;
    const int32_t n = tk_lane_round(large ? 0 : y * 0.6366197723675814);
    const double near = (y - (double)n * 0x1.921fb544p+0) - (double)n * 0x1.0b4611a626331p-34;
    const double r = large ? (y < 0 ? -far : far) : near, z = r * r;
    const double s = r + r * z *
                             TK_H4_(z, -0.16666666663858126, 0.008333331875272864, -0.00019840086864117692,
                                    2.724992734618039e-06);
    const double c = 1 + z * TK_H5_(z, -0.49999999999963907, 0.04166666663739901, -0.0013888885091187845,
                                    2.4799862017301165e-05, -2.723711680139923e-07);
    const int odd = ((large ? (uint32_t)quarters : (uint32_t)n) & 1) != 0;
    const float t = (float)((odd ? -c : s) / (odd ? s : c));
    return x == 0 ? x : x - x == 0 ? t : x - x;
}

#undef TK_E4_
#undef TK_E6_
#undef TK_E7_
#undef TK_E9_
#undef TK_E11_
#undef TK_E12_
#undef TK_H2_
#undef TK_H3_
#undef TK_H4_
#undef TK_H5_
#undef TK_H6_
#undef TK_H7_
#undef TK_H8_
#undef TK_H9_
#undef TK_H10_
#undef TK_H11_
#undef TK_H12_
#undef TK_H13_
#undef TK_LN2_HI_
#undef TK_LN2_LO_
#undef TK_INV_LN2_
#undef TK_PI_
#undef TK_PI_LO_
#endif
