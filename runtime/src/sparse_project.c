/* Projection of elements' blocks onto positive semidefinite matrices, for projected Newton: J. Teran, E. Sifakis,
 * G. Irving, R. Fedkiw, "Robust quasistatic finite elements and flesh simulation", SCA 2005. */
#include "sparse.h"

#include <float.h>
#include <math.h>

/* ---- the test: Cholesky ---- */

/* Whether all eigenvalues of a are no less than about -shift: a + shift I = L D L^T with positive D. a is n x n, its
 * lower triangle is used and kept; l is as large. */
static bool is_semidefinite(const double *a, double shift, int n, double *l)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++)
            l[i * n + j] = a[i * n + j];
        l[i * n + i] += shift;
    }
    for (int k = 0; k < n; k++) {
        const double d = l[k * n + k];
        if (!(d > 0))
            return false;
        for (int i = k + 1; i < n; i++) {
            const double f = l[i * n + k] / d;
            for (int j = k + 1; j <= i; j++)
                l[i * n + j] -= f * l[j * n + k];
        }
    }
    return true;
}

/* ---- eigenvalues: cyclic Jacobi rotations, G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition, 8.5 ----
 */

/* cos and sin of the rotation that makes entry (p, q) zero. */
static void rotation(double app, double aqq, double apq, double *c, double *s)
{
    const double tau = (aqq - app) / (2 * apq), root = sqrt(1 + tau * tau), t = 1 / (tau < 0 ? tau - root : tau + root);
    *c = 1 / sqrt(1 + t * t);
    *s = t * *c;
}

/* a <- J^T a J, v <- v J; both triangles. */
static void rotate(double *a, double *v, int n, int p, int q)
{
    double c, s;
    rotation(a[p * n + p], a[q * n + q], a[p * n + q], &c, &s);
    for (int k = 0; k < n; k++) {
        const double x = a[k * n + p], y = a[k * n + q], vx = v[k * n + p], vy = v[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
        v[k * n + p] = c * vx - s * vy;
        v[k * n + q] = s * vx + c * vy;
    }
    for (int k = 0; k < n; k++) {
        const double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
    a[p * n + q] = a[q * n + p] = 0;
}

/* a: eigenvalues on its diagonal; v: eigenvectors as columns. Entries of a are at most about 1. */
static void diagonalise(double *a, double *v, int n)
{
    enum { SWEEPS = 60 };
    for (int i = 0; i < n * n; i++)
        v[i] = i % (n + 1) == 0;
    bool rotated = true;
    for (int sweep = 0; sweep < SWEEPS && rotated; sweep++) {
        rotated = false;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (fabs(a[p * n + q]) > DBL_EPSILON / 8) {
                    rotate(a, v, n, p, q);
                    rotated = true;
                }
    }
}

/* ---- a block ---- */

/* Largest entry of the lower triangle; infinity if one is infinite or no number. */
static double largest(const double *a, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            most = !isfinite(a[i * n + j]) ? INFINITY : fabs(a[i * n + j]) > most ? fabs(a[i * n + j]) : most;
    return most;
}

/* a: n x n, its lower triangle; work: twice as large. The nearest semidefinite matrix is a less its parts with negative
 * eigenvalues. eps: of the numbers that a came from. Returns whether it was another one. Blocks that are not finite
 * stay. */
static bool project(double *a, int n, double eps, double *work)
{
    const double most = largest(a, n);
    if (!(most > 0) || isinf(most) || is_semidefinite(a, 4 * n * eps * most, n, work))
        return false;
    int exponent;
    frexp(most, &exponent);
    double *const d = work, *const v = work + n * n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            d[i * n + j] = d[j * n + i] = ldexp(a[i * n + j], -exponent);
    diagonalise(d, v, n);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n && d[k * n + k] < 0; i++)
            for (int j = 0; j <= i; j++)
                a[i * n + j] -= ldexp(d[k * n + k] * v[i * n + k] * v[j * n + k], exponent);
    return true;
}

/* ---- a batch, in as many slices as there are threads ---- */

typedef struct batch {
    tk_sparse_run *run;
    const rt_elements *x;
    int64_t n, slices;
    double *work; /* of each slice: three blocks */
    int most;     /* rows of a block */
} batch;

static double get(const tk_sparse_run *run, int64_t at)
{
    return run->p->elem == TK_F32 ? (double)((const float *)run->stage)[at] : ((const double *)run->stage)[at];
}

static void set(const tk_sparse_run *run, int64_t at, double x)
{
    if (run->p->elem == TK_F32)
        ((float *)run->stage)[at] = (float)x;
    else
        ((double *)run->stage)[at] = x;
}

static bool project_element(const batch *b, int64_t e, double *a)
{
    const tk_sparse_run *run = b->run;
    const int32_t *places = b->x->places + (run->from + e) * run->k->width;
    int n = 0;
    while (n < run->k->width && places[n] >= 0)
        n++;
    n *= run->p->block_cols;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a[i * n + j] = get(run, (tk_rt_triangle(i) + j) * run->room + e);
    if (!project(a, n, run->p->elem == TK_F32 ? FLT_EPSILON : DBL_EPSILON, a + n * n))
        return false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            set(run, (tk_rt_triangle(i) + j) * run->room + e, a[i * n + j]);
    return true;
}

static void project_slices(const void *args, int64_t lo, int64_t hi)
{
    const batch *b = args;
    size_t projected = 0;
    for (int64_t slice = lo; slice < hi; slice++)
        for (int64_t e = b->n * slice / b->slices; e < b->n * (slice + 1) / b->slices; e++)
            projected += project_element(b, e, b->work + slice * 3 * b->most * b->most);
    atomic_fetch_add(&b->run->p->projected, projected);
}

tk_status tk_rt_sparse_semidefinite(tk_sparse_run *run, const rt_elements *x, int64_t n)
{
    tk_session *s = run->m->session;
    batch b = {run, x, n, 1, NULL, run->k->width * run->p->block_cols};
    const tk_plan plan = tk_plan_make(n, 1, (int64_t)b.most * b.most * b.most + 100);
    const double work = tk_rt_work(s, &plan);
    b.slices = work > 0 ? s->threads : 1;
    b.work = tk_rt_alloc(s, (size_t)b.slices * 3 * (size_t)b.most * (size_t)b.most * sizeof *b.work, false);
    if (!b.work)
        return tk_fail(s, TK_NO_MEMORY, "out of memory for the projection of the elements of '%s'", run->k->name);
    tk_rt_for(s, &(rt_loop){b.slices, work, project_slices, project_slices, &b, NULL});
    tk_rt_free(s, b.work);
    return TK_OK;
}
