#include "spectral.h"
#include "host.h"

typedef spectral_real real;

/* Errors: of one pull-back, of its derivative; sums of a dozen terms with quotients in them. */
#define F32 (sizeof(real) == sizeof(float))
#define NEAR (F32 ? 1e-4 : 1e-9)
#define NEAR2 (F32 ? 2e-3 : 2e-6)

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1;
}

/* A rotation of size 2 or 3, n x n; turns about axes. */
static void turn(double *q, int n)
{
    for (int k = 0; k < n * n; k++)
        q[k] = k % (n + 1) == 0;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            const double t = 3 * uniform(), c = cos(t), s = sin(t);
            for (int r = 0; r < n; r++) {
                const double x = q[r * n + a], y = q[r * n + b];
                q[r * n + a] = c * x - s * y;
                q[r * n + b] = s * x + c * y;
            }
        }
}

/* Q diag(s) P^T; the values of case i. */
static void fill(double *m, int n, bool symmetric, int i)
{
    static const double gaps[] = {0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 1e-2, 0.1};
    double s[3] = {1.3, 1.3 + gaps[i % 9], 1.3 - gaps[i / 9 % 9]}, q[9], p[9];
    if (i % 3 == 1)
        s[2] = 0.4;
    if (i % 5 == 3)
        s[n - 1] = 0;
    if (i % 5 == 4)
        s[n - 1] = s[n - 2] = i % 2 ? 0 : 1e-6;
    if (i % 50 == 49)
        s[0] = s[1] = s[2] = 0;
    turn(q, n);
    turn(p, n);
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++) {
            m[r * n + c] = 0;
            for (int k = 0; k < n; k++)
                m[r * n + c] += q[r * n + k] * s[k] * (symmetric ? q : p)[c * n + k];
            if (i % 10 == 0) /* at rest */
                m[r * n + c] = r == c;
        }
}

static void agree(const char *name, const char *what, int i, const real *a, const real *b, int n, double near)
{
    double scale = 0;
    for (int k = 0; k < n; k++)
        scale = fmax(scale, fabs((double)b[k]));
    for (int k = 0; k < n; k++)
        if (!(fabs((double)a[k] - (double)b[k]) <= near * (1 + scale)))
            FAIL("%s, %s, case %d: %.17g, not %.17g", name, what, i, (double)a[k], (double)b[k]);
}

#define SIZED(n) \
    typedef void hvp##n(const real F[n][n], const real Fd[n][n], const real W[n][n], const real Wd[n][n], real *r, \
                        real *rd, const real *seed, const real *seed_d, real g[n][n], real gd[n][n], real w[n][n], \
                        real wd[n][n]); \
    typedef void jvp##n(const real F[n][n], const real Fd[n][n], const real W[n][n], const real Wd[n][n], real *r, \
                        real *rd); \
    typedef void grad##n(const real F[n][n], const real W[n][n], real *r, const real *seed, real g[n][n], \
                         real w[n][n]); \
    static void check##n(const char *name, bool symmetric, hvp##n *h, hvp##n *h_is, jvp##n *j, jvp##n *j_is, \
                         grad##n *g, grad##n *g_is) \
    { \
        for (int i = 0; i < 200; i++) { \
            double m[n * n]; \
            real F[n][n], W[n][n], D[n][n], out[2][7][n][n] = {{{{0}}}}, r[2][4] = {{0}}; \
            const real one = 1, half = (real)0.5; \
            fill(m, n, symmetric, i); \
            for (int k = 0; k < n * n; k++) { \
                F[k / n][k % n] = (real)m[k]; \
                W[k / n][k % n] = (real)uniform(); \
                D[k / n][k % n] = (real)uniform(); \
            } \
            for (int k = 0; k < 2; k++) { \
                real(*o)[n][n] = out[k]; \
                (k ? h_is : h)(F, D, W, D, &r[k][0], &r[k][1], &one, &half, o[0], o[1], o[2], o[3]); \
                (k ? g_is : g)(F, W, &r[k][2], &one, o[4], o[5]); \
                (k ? j_is : j)(F, D, W, D, &r[k][2], &r[k][3]); \
            } \
            agree(name, "values", i, r[0], r[1], 4, NEAR); \
            agree(name, "gradient", i, out[0][4][0], out[1][4][0], n *n, NEAR); \
            agree(name, "gradient by W", i, out[0][5][0], out[1][5][0], n *n, NEAR); \
            agree(name, "gradient beside the product", i, out[0][0][0], out[1][0][0], n *n, NEAR); \
            agree(name, "second-order product", i, out[0][1][0], out[1][1][0], n *n, NEAR2); \
            agree(name, "second-order product by W", i, out[0][3][0], out[1][3][0], n *n, NEAR); \
        } \
    }
SIZED(2)
SIZED(3)

#define BOTH(n, name, symmetric) \
    check##n(#name, symmetric, spectral_##name##_hvp, spectral_##name##_is_hvp, spectral_##name##_jvp, \
             spectral_##name##_is_jvp, spectral_##name##_grad, spectral_##name##_is_grad)

/* Of a I + t D the greatest value goes with that of the symmetric part of D; of t D with the greatest singular value.
 */
static void check_one_sided(void)
{
    for (int i = 0; i < 50; i++) {
        real A[3][3] = {{0}}, D[3][3], S[3][3], r, along[4], want[2];
        for (int k = 0; k < 9; k++)
            D[k / 3][k % 3] = (real)uniform();
        for (int k = 0; k < 9; k++)
            S[k / 3][k % 3] = (D[k / 3][k % 3] + D[k % 3][k / 3]) / 2;
        spectral_top_svd(D, &want[1]);
        spectral_top_svd_jvp(A, D, &r, &along[0]);
        A[0][0] = A[1][1] = A[2][2] = (real)1.5;
        spectral_top_eig(S, &want[0]);
        spectral_top_eig_jvp(A, D, &r, &along[1]);
        spectral_top_svd_jvp(A, D, &r, &along[2]);
        agree("greatest", "zero", i, &along[0], &want[1], 1, NEAR);
        agree("greatest", "eigenvalue", i, &along[1], &want[0], 1, NEAR);
        agree("greatest", "singular value", i, &along[2], &want[0], 1, NEAR);
    }
}

int main(void)
{
    srand(3);
    BOTH(2, odd2, false);
    BOTH(3, odd3, false);
    BOTH(2, all2, false);
    BOTH(3, all3, false);
    BOTH(3, lop3, false);
    BOTH(2, sym2, true);
    BOTH(3, sym3, true);
    BOTH(3, sum3, true);
    BOTH(2, val2, false);
    BOTH(3, val3, false);
    BOTH(3, inv3, true);
    BOTH(3, grad3, false);
    BOTH(3, call3, false);
    BOTH(3, hand3, false);
    BOTH(2, rot2, false);
    BOTH(3, eig3, true);
    check_one_sided();
    return failures != 0;
}
