#include "decompose.h"
#include "host.h"

enum { COUNT = 400 };

/* Real numbers of the module are of one of two types. */
#define EPS (sizeof(((decompose *)0)->E.data[0]) == sizeof(float) ? 2e-6 : 4e-15)

static void agree(const char *what, int i, double a, double b, double scale)
{
    if (!(fabs(a - b) <= EPS * 8 * (scale + 1e-30)))
        FAIL("%s of matrix %d: %.17g, not %.17g", what, i, a, b);
}

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

/* Matrix i of size n, row-major: random, of lower rank, with equal singular values, zero, reflected, badly scaled. */
static void fill(double *m, int n, int i)
{
    for (int k = 0; k < n * n; k++)
        m[k] = uniform();
    switch (i % 10) {
    case 1: /* rank 1 */
        for (int r = 1; r < n; r++)
            for (int c = 0; c < n; c++)
                m[r * n + c] = r * m[c];
        break;
    case 2: /* rank 2 */
        for (int c = 0; c < n; c++)
            m[(n - 1) * n + c] = m[c] - (n > 2 ? m[n + c] : m[c]);
        break;
    case 3: /* a multiple of the identity, of either sign, or a mirror image */
    case 4:
        for (int k = 0; k < n * n; k++)
            m[k] = k % (n + 1) ? 0 : i % 3 == 0 ? -2.5 : i % 3 == 1 && k == 0 ? -1 : 1;
        break;
    case 5:
        for (int k = 0; k < n * n; k++)
            m[k] = 0;
        break;
    case 6:
        for (int k = 0; k < n * n; k++)
            m[k] *= k / n == 0 ? 1e-6 : k / n == 1 ? 1 : 1e5;
        break;
    case 7: /* two equal singular values, turned */
        for (int k = 0; k < n * n; k++)
            m[k] = k % (n + 1) ? 0 : k == 0 ? 3 : 2;
        for (int c = 0; c < n; c++) {
            const double p = m[c], q = m[n + c];
            m[c] = 0.6 * p - 0.8 * q;
            m[n + c] = 0.8 * p + 0.6 * q;
        }
        break;
    case 8: /* a single entry */
        for (int k = 0; k < n * n; k++)
            m[k] = k == i % (n * n) ? -3 : 0;
        break;
    default: break;
    }
}

static double norm(const double *m, int n)
{
    double s = 0;
    for (int k = 0; k < n; k++)
        s += m[k] * m[k];
    return sqrt(s);
}

/* out = a diag(s) b^T; s NULL: ones */
static void product(double *out, const double *a, const double *s, const double *b, int n)
{
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            out[r * n + c] = 0;
            for (int k = 0; k < n; k++)
                out[r * n + c] += a[r * n + k] * (s ? s[k] : 1) * b[c * n + k];
        }
}

static void orthogonal(const char *what, int i, const double *q, int n)
{
    double one[9] = {0};
    product(one, q, NULL, q, n);
    for (int k = 0; k < n * n; k++)
        agree(what, i, one[k], k % (n + 1) == 0, 1);
}

static void same(const char *what, int i, const double *a, const double *b, int n, double scale)
{
    for (int k = 0; k < n; k++)
        agree(what, i, a[k], b[k], scale);
}

static void check(int i, int n, const double *a, const double *u, const double *s, const double *v, const double *w, const double *q, const double *r, const double *p)
{
    double back[9] = {0}, half[9] = {0}, pt[9] = {0};
    const double size = norm(a, n * n);
    product(back, u, s, v, n);
    same("U S V^T", i, back, a, n * n, size);
    orthogonal("U", i, u, n);
    orthogonal("V", i, v, n);
    for (int k = 0; k + 1 < n; k++)
        if (!(s[k] >= s[k + 1] && s[k + 1] >= 0) || !(w[k] <= w[k + 1]))
            FAIL("order of matrix %d", i);
    for (int k = 0; k < n * n; k++)
        half[k] = 0.5 * (a[k] + a[k % n * n + k / n]);
    product(back, q, w, q, n);
    same("Q W Q^T", i, back, half, n * n, size);
    orthogonal("Q", i, q, n);
    orthogonal("R", i, r, n);
    for (int k = 0; k < n * n; k++)
        pt[k] = p[k % n * n + k / n];
    same("P", i, pt, p, n * n, size);
    product(back, r, NULL, pt, n);
    same("R P", i, back, a, n * n, size);
}

static void get(double *out, const void *data, int i, int n)
{
    for (int k = 0; k < n; k++)
        out[k] = sizeof(((decompose *)0)->E.data[0]) == sizeof(float) ? (double)((const float *)data)[i * n + k] : ((const double *)data)[i * n + k];
}

#define GET(name, n) double name[n]; get(name, m->name.data, i, n)

static void check_all(decompose *m)
{
    for (int i = 0; i < COUNT; i++) {
        double a[16];
        fill(a, 2, i);
        for (int k = 0; k < 4; k++)
            m->a2.data[i][k / 2][k % 2] = a[k];
        fill(a, 3, i);
        for (int k = 0; k < 9; k++)
            m->a3.data[i][k / 3][k % 3] = a[k];
        for (int k = 0; k < 16; k++)
            m->a4.data[i][k / 4][k % 4] = k == 3 || k == 6 || k == 9 || k == 12 ? 4 + uniform() : uniform(); /* pivots stand across */
        for (int k = 0; k < 4; k++)
            m->b4.data[i][k] = uniform();
    }
    decompose_decompose(m);
    for (int i = 0; i < COUNT; i++) {
        GET(a2, 4); GET(u2, 4); GET(s2, 2); GET(v2, 4); GET(w2, 2); GET(q2, 4); GET(r2, 4); GET(p2, 4);
        check(i, 2, a2, u2, s2, v2, w2, q2, r2, p2);
        GET(a3, 9); GET(u3, 9); GET(s3, 3); GET(v3, 9); GET(w3, 3); GET(q3, 9); GET(r3, 9); GET(p3, 9);
        check(i, 3, a3, u3, s3, v3, w3, q3, r3, p3);
        GET(a4, 16); GET(x4, 4); GET(b4, 4);
        for (int r = 0; r < 4; r++) {
            double sum = 0;
            for (int c = 0; c < 4; c++)
                sum += a4[4 * r + c] * x4[c];
            agree("A x", i, sum, b4[r], 4);
        }
    }
}

static void set_identity(decompose *m, int which)
{
    for (int k = 0; k < 9; k++)
        m->F.data[0][k / 3][k % 3] = k % 4 ? 0 : which && k == 0 ? 2 : 1;
    for (int k = 0; k < 4; k++)
        m->G.data[0][k / 2][k % 2] = k % 3 ? 0 : 1;
}

/* dR/dF at the identity is (dF - dF^T) / 2, dP is (dF + dF^T) / 2. */
static void check_rigid(decompose *m)
{
    set_identity(m, 0);
    TK_TAPE(m, m->E) decompose_rigid(m);
    for (int k = 0; k < 9; k++)
        agree("gradient of F", k, m->F.grad[0][k / 3][k % 3], k == 5 || k == 7 ? 0.5 : 0, 1);
    for (int k = 0; k < 4; k++)
        agree("gradient of G", k, m->G.grad[0][k / 2][k % 2], k == 2 ? 1 : 0, 1);
    /* second derivatives by differences of gradients, at a place where singular values meet */
    for (int which = 0; which < 2; which++) {
        const double h = sizeof(m->E.data[0]) == sizeof(float) ? 1e-2 : 1e-5;
        for (int d = 0; d < 9; d++) {
            double hessian[9], lo[9], hi[9];
            set_identity(m, which);
            tk_module_clear_dual(&m->tk);
            tk_module_clear_grad(&m->tk);
            m->E.grad[0] = 1;
            m->F.dual[0][d / 3][d % 3] = 1;
            decompose_rigid_hvp(m);
            get(hessian, m->F.grad_dual, 0, 9);
            for (int side = 0; side < 2; side++) {
                set_identity(m, which);
                m->F.data[0][d / 3][d % 3] += side ? h : -h;
                TK_TAPE(m, m->E) decompose_rigid(m);
                get(side ? hi : lo, m->F.grad, 0, 9);
            }
            for (int k = 0; k < 9; k++)
                if (!(fabs(hessian[k] - (hi[k] - lo[k]) / (2 * h)) < 4 * h * h + 3e-8 / h * EPS * 1e7))
                    FAIL("Hessian of F at %d, %d: %g, not %g", k, d, hessian[k], (hi[k] - lo[k]) / (2 * h));
        }
    }
    set_identity(m, 0);
    TK_TAPE(m, m->E) decompose_rigid_svd(m);
    for (int k = 0; k < 9; k++)
        agree("gradient of F by svd", k, m->F.grad[0][k / 3][k % 3], 0, 1);
    m->F.data[0][2][0] = 1;
    TK_TAPE(m, m->E) decompose_rigid_svd(m);
    double by_svd[9];
    get(by_svd, m->F.grad, 0, 9);
    for (int k = 0; k < 9; k++)
        CHECK(isfinite(by_svd[k]));
}

int main(void)
{
    decompose_params p = decompose_defaults();
    p.N = COUNT;
    decompose *m = decompose_create(NULL, &p);
    if (!m)
        return 1;
    srand(7);
    check_all(m);
    check_rigid(m);
    CHECK_OK(m, decompose_status(m));
    decompose_destroy(m);
    return failures != 0;
}
