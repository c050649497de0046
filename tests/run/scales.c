#include "scales.h"
#include "host.h"

enum { COUNT = 50 };

typedef tk_status run(scales *m);
static const struct {
    const char *name;
    int power;
    run *value, *grad, *jvp;
} rows[] = {
#define ROW(name, power) {#name, power, scales_##name, scales_##name##_grad, scales_##name##_jvp}
    ROW(norm_of_vector, 1),
    ROW(norm_of_matrix, 1),
    ROW(normalized_vector, 0),
    ROW(length_and_distance, 1),
    ROW(determinant2, 2),
    ROW(determinant3, 3),
    ROW(determinant4, 4),
    ROW(inverse2, -1),
    ROW(inverse3, -1),
    ROW(inverse4, -1),
    ROW(solve2, -1),
    ROW(solve3, -1),
    ROW(solve4, -1),
    ROW(solve_both, 0),
    ROW(svd_values2, 1),
    ROW(svd_values3, 1),
    ROW(svd_vectors2, 0),
    ROW(svd_vectors3, 0),
    ROW(sym_eig_values2, 1),
    ROW(sym_eig_values3, 1),
    ROW(sym_eig_vectors2, 0),
    ROW(sym_eig_vectors3, 0),
    ROW(polar2, 0),
    ROW(polar3, 0),
    ROW(polar_stretch2, 1),
    ROW(polar_stretch3, 1),
    ROW(rotation2, 0),
    ROW(rotation3, 0),
    ROW(svd_rotation3, 1),
};
enum { INPUTS = 3 + 4 + 9 + 16 };

static int is_f32(const scales *m)
{
    return sizeof m->y.data[0] == sizeof(float);
}

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

static double base[COUNT][INPUTS];

/* Inputs of element i, all of them a list: from the base times k, or their gradients into out. */
static void inputs(scales *m, int i, double k, double *out)
{
    int n = 0;
#define INPUT(name, rows, cols)                                                  \
    for (int r = 0; r < rows; r++)                                               \
        for (int c = 0; c < cols; c++, n++) {                                    \
            if (out)                                                             \
                out[n] = m->name.grad[i]AT(r, c);                                \
            else                                                                 \
                m->name.data[i]AT(r, c) = base[i][n] * k, m->name.dual[i]AT(r, c) = n % 3 - 0.5; \
        }
#define AT(r, c) [c]
    INPUT(v, 1, 3)
#undef AT
#define AT(r, c) [r][c]
    INPUT(m2, 2, 2)
    INPUT(m3, 3, 3)
    INPUT(m4, 4, 4)
}

static void fill(scales *m)
{
    for (int i = 0; i < COUNT; i++) {
        for (int n = 0; n < INPUTS; n++)
            base[i][n] = uniform();
        for (int c = 0; c < 3; c++)
            m->c3.data[i][c] = uniform();
    }
}

/* Two numbers that belong together, in units of the rounding of `size`. */
static void agree(const char *what, const char *name, int i, int exponent, double a, double b, double size, double eps)
{
    if (!(fabs(a - b) <= 2000 * eps * (size + fabs(b))))
        FAIL("%s of %s, element %d times 2^%d: %.9g, not %.9g", what, name, i, exponent, a, b);
}

static void compare(scales *m, size_t row, int exponent)
{
    static double value[COUNT], tangent[COUNT], gradient[COUNT][INPUTS];
    const double eps = is_f32(m) ? 6e-8 : 1.2e-16;
    double g[INPUTS];
    for (int i = 0; i < COUNT; i++)
        inputs(m, i, ldexp(1, exponent), NULL);
    tk_module_clear_grad(&m->tk);
    rows[row].value(m);
    for (int i = 0; i < COUNT; i++)
        m->y.grad[i] = 1;
    rows[row].grad(m);
    rows[row].jvp(m);
    for (int i = 0; i < COUNT; i++) {
        const int up = exponent * rows[row].power, up1 = exponent * (rows[row].power - 1);
        double size = 0, lo = is_f32(m) ? 0x1p-126 : 0x1p-1022, hi = is_f32(m) ? 0x1p127 : 0x1p1023;
        inputs(m, i, 0, g);
        if (exponent == 0) {
            value[i] = m->y.data[i];
            tangent[i] = m->y.dual[i];
            for (int n = 0; n < INPUTS; n++)
                gradient[i][n] = g[n];
            continue;
        }
        for (int n = 0; n < INPUTS; n++)
            size = fmax(size, fabs(gradient[i][n]));
        /* what is out of the type's range itself is not looked at */
        if (fabs(ldexp(value[i], up)) > lo && fabs(ldexp(value[i], up)) < hi)
            agree("value", rows[row].name, i, exponent, ldexp(m->y.data[i], -up), value[i], 1, eps);
        if (ldexp(size, up1) < 0x1p30 * lo || ldexp(size, up1) > hi / 16)
            continue;
        agree("tangent", rows[row].name, i, exponent, ldexp(m->y.dual[i], -up1), tangent[i], size, eps);
        for (int n = 0; n < INPUTS; n++)
            agree("gradient", rows[row].name, i, exponent, ldexp(g[n], -up1), gradient[i][n], size, eps);
    }
}

int main(void)
{
    scales_params p = scales_defaults();
    p.N = COUNT;
    scales *m = scales_create(NULL, &p);
    if (!m) {
        puts(tk_error());
        return 1;
    }
    const int top = is_f32(m) ? 125 : 1021, bottom = is_f32(m) ? -119 : -1015;
    fill(m);
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        compare(m, row, 0);
        for (int k = 0; k <= 8; k++)
            compare(m, row, bottom + (top - bottom) * k / 8);
    }
    scales_destroy(m);
    return failures != 0;
}
