// module: ../algorithms/ogden.tk --real=f64 --prefix=ogden64
// module: ../algorithms/ogden.tk --real=f32 --prefix=ogden32
// module: ../algorithms/hencky.tk --real=f64 --prefix=hencky64
// module: ../algorithms/hencky.tk --real=f32 --prefix=hencky32
// module: ../algorithms/corotated.tk --real=f64 --prefix=corotated64
// module: ../algorithms/corotated.tk --real=f32 --prefix=corotated32
// module: ../algorithms/snow.tk --real=f64 --prefix=snow64
// module: ../algorithms/snow.tk --real=f32 --prefix=snow32
/* Materials at rest, rotated, and near to both: gradients and second-order products of f32 are those of f64. */
#include "corotated32.h"
#include "corotated64.h"
#include "hencky32.h"
#include "hencky64.h"
#include "host.h"
#include "ogden32.h"
#include "ogden64.h"
#include "snow32.h"
#include "snow64.h"

enum { N = 4, MAX = N * 9 };

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

/* m += what makes the element, less the identity: at rest; rotated; so, and strained by 1e-5; strained. */
static void element(double *m, int n, int i)
{
    const double angle = 2 * uniform(), strain = i == 2 ? 1e-5 : 0.1;
    for (int k = 0; k < n * n; k++)
        m[k] = 0;
    if (i == 0)
        return;
    double d[9], r[9];
    for (int k = 0; k < n * n; k++) {
        d[k] = (k % (n + 1) == 0) + (i == 1 ? 0 : strain * uniform());
        r[k] = k % (n + 1) == 0;
    }
    r[0] = r[n + 1] = cos(angle);
    r[n] = sin(angle);
    r[1] = -sin(angle);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            for (int k = 0; k < n; k++)
                m[a * n + b] += r[a * n + k] * d[k * n + b];
            m[a * n + b] -= a == b;
        }
    for (int k = 0; k < n * n; k++)
        m[k] = (float)m[k];
}

typedef struct run {
    tk_session *s;
    tk_module *m;
    const char *name;
} run;

static tk_field *field_of(const run *r, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "%s.%s", r->name, name);
    return tk_field_find(r->s, full);
}

static void launch(const run *r, const char *kernel)
{
    char full[64];
    snprintf(full, sizeof full, "%s.%s", r->name, kernel);
    tk_module *m = NULL;
    const tk_kernel *k = tk_kernel_find(r->s, full, &m);
    CHECK(k && tk_kernel_launch(m, k, NULL, 0) == TK_OK);
}

/* Elements, and everything else. */
static void fill(const run *r, const char *strained, const double *elements, int n)
{
    for (tk_field *f = NULL; (f = tk_field_next(r->s, f)) != NULL;) {
        double v[MAX];
        for (int64_t k = 0; k < tk_field_count(f); k++)
            v[k] = strcmp(tk_field_name(f), "L") ? 0.75 : 0.0;
        tk_field_set(f, TK_DATA, 0, tk_field_count(f), v);
    }
    tk_field_set(field_of(r, strained), TK_DATA, 0, N * n * n, elements);
}

/* Along a direction of the elements: dual and, of a number, gradient and its dual. */
static void along(const run *r, const char *kernel, const char *strained, const char *output, const double *direction,
                  int n, double out[3][MAX])
{
    tk_field *f = field_of(r, strained), *o = field_of(r, output);
    const bool number = tk_field_count(o) == 1;
    float narrow[MAX];
    for (int k = 0; k < N * n * n; k++)
        narrow[k] = (float)direction[k];
    tk_module_clear_grad(r->m);
    CHECK(tk_forward_begin(&o, 1, f, tk_field_scalar(f) == TK_F32 ? (const void *)narrow : direction,
                           (size_t)(N * n * n)) == TK_OK);
    if (number)
        CHECK(tk_tape_begin(o, 0) == TK_OK);
    launch(r, kernel);
    if (number)
        CHECK(tk_tape_end(o) == TK_OK);
    memset(out, 0, 3 * sizeof *out);
    tk_field_get(o, TK_DUAL, 0, tk_field_count(o), out[0]);
    if (number) {
        tk_field_get(f, TK_GRAD, 0, N * n * n, out[1]);
        tk_field_get(f, TK_GRAD_DUAL, 0, N * n * n, out[2]);
    }
    CHECK(tk_forward_end(r->s) == TK_OK);
}

static void compare(const run *narrow, const run *wide, const char *kernel, const char *strained, const char *output,
                    int n)
{
    static const char *const what[] = {"dual", "gradient", "second-order product"};
    for (int times = 0; times < 20; times++) {
        double elements[MAX], direction[MAX], out[2][3][MAX];
        for (int i = 0; i < N; i++)
            element(elements + i * n * n, n, i);
        for (int k = 0; k < N * n * n; k++)
            direction[k] = (float)uniform();
        for (int k = 0; k < 2; k++) {
            fill(k ? wide : narrow, strained, elements, n);
            along(k ? wide : narrow, kernel, strained, output, direction, n, out[k]);
        }
        for (int w = 0; w < 3; w++)
            for (int k = 0; k < N * n * n; k++)
                if (!near(out[0][w][k], out[1][w][k], 1e-4))
                    FAIL("%s of %s in %s, element %d: %g in f32, %g in f64", what[w], kernel, wide->name, k / n / n,
                         out[0][w][k], out[1][w][k]);
    }
}

#define MATERIAL(name) \
    run name##_narrow = {tk_session_create(NULL), NULL, #name "32"}, \
        name##_wide = {tk_session_create(NULL), NULL, #name "64"}; \
    name##32 *name##_a = name##32_create(name##_narrow.s, NULL); \
    name##64 *name##_b = name##64_create(name##_wide.s, NULL); \
    if (!name##_a || !name##_b) \
        return 1; \
    name##_narrow.m = &name##_a->tk; \
    name##_wide.m = &name##_b->tk

#define END(name) \
    name##32_destroy(name##_a), name##64_destroy(name##_b), tk_session_destroy(name##_narrow.s), \
        tk_session_destroy(name##_wide.s)

#define COMPARE(name, kernel, strained, output, n) compare(&name##_narrow, &name##_wide, kernel, strained, output, n)

int main(void)
{
    srand(5);
    MATERIAL(ogden);
    MATERIAL(hencky);
    MATERIAL(corotated);
    MATERIAL(snow);
    COMPARE(ogden, "energy", "F", "U", 3);
    COMPARE(ogden, "stresses", "F", "P", 3);
    COMPARE(hencky, "energy", "F", "U", 3);
    COMPARE(hencky, "stresses", "F", "P", 3);
    COMPARE(hencky, "flow", "F", "next_F", 3);
    COMPARE(corotated, "energy", "F", "U", 3);
    COMPARE(corotated, "stress3", "F", "P", 3);
    COMPARE(corotated, "stress2", "G", "Q", 2);
    COMPARE(snow, "yields", "F", "next_F", 3);
    COMPARE(snow, "energy", "F", "U", 3);
    END(ogden);
    END(hencky);
    END(corotated);
    END(snow);
    return failures != 0;
}
