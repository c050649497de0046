#include "sparse_project.h"
#include "sparse.h"

enum { N = 9, T = 5, ROWS = 3 * N };

typedef sparse_project mod;

#define SINGLE (sizeof(((mod *)0)->y.data[0]) == sizeof(float))
#define EPS (SINGLE ? 1e-5 : 1e-13)

static const int quads[T][4] = {{0, 1, 2, 3}, {3, 2, 4, 5}, {8, 6, 5, 1}, {7, 7, 0, 4}, {2, 8, 6, 0}};
static const double stiff[T] = {1.0, -0.7, 0.3, 1.5, 2.0};

static void set(mod *m)
{
    memcpy(m->quad.data, quads, sizeof quads);
    for (int i = 0; i < T; i++)
        m->stiff.data[i] = (float)stiff[i];
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 3; c++)
            m->x.data[i][c] = (float)(0.6 * sin(1.7 * (3 * i + c)) + 0.05 * i);
    for (int i = 0; i < N; i++)
        m->y.data[i] = (float)(0.2 * i);
}

static const tk_sparse_options full = {.full = true};

/* A is positive semidefinite: A + shift I has a Cholesky decomposition. */
static bool is_semidefinite(const double *A, int n, double shift)
{
    static double l[ROWS * ROWS];
    for (int i = 0; i < n * n; i++)
        l[i] = A[i] + (i % (n + 1) == 0 ? shift : 0);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            for (int k = 0; k < j; k++)
                l[i * n + j] -= l[i * n + k] * l[j * n + k];
            if (i == j && !(l[i * n + i] > 0))
                return false;
            l[i * n + j] = i == j ? sqrt(l[i * n + i]) : l[i * n + j] / l[j * n + j];
        }
    return true;
}

/* The matrix of the kernel `quads` by x as a dense one; of layout k. Returns how many blocks were projected. */
static size_t matrix(mod *m, int k, bool project, double *D)
{
    static double wide[MOST_ENTRIES];
    static _Alignas(8) unsigned char values[MOST_ENTRIES * sizeof(double)];
    tk_sparse_options o = sparse_option(k);
    tk_sparse *s = NULL;
    memset(values, 0, sizeof values);
    CHECK_OK(m, sparse_project_quads_hess_pattern(m, &o, &s));
    CHECK(tk_sparse_project(s, project) == TK_OK);
    CHECK_OK(m, sparse_project_quads_hess(m, s, (void *)values, tk_sparse_values(s)));
    for (size_t i = 0; i < tk_sparse_values(s); i++)
        wide[i] = SINGLE ? (double)((float *)(void *)values)[i] : ((double *)(void *)values)[i];
    sparse_form(s, &o, ROWS, ROWS, 3, 3);
    sparse_dense(s, &o, wide, 3, 3, D);
    for (int i = 0; i < ROWS * ROWS; i++)
        D[i] = isnan(D[i]) ? 0 : D[i];
    const size_t projected = tk_sparse_projected(s);
    CHECK(project || projected == 0);
    tk_sparse_free(s);
    return projected;
}

/* The nearest semidefinite matrix P of H: P and P - H are semidefinite, and P (P - H) = 0. */
static void is_nearest(const double *H, const double *P, int n)
{
    static double rest[ROWS * ROWS];
    double most = 0;
    for (int i = 0; i < n * n; i++) {
        rest[i] = P[i] - H[i];
        most = fabs(H[i]) > most ? fabs(H[i]) : most;
    }
    CHECK(is_semidefinite(P, n, 50 * EPS * most) && is_semidefinite(rest, n, 50 * EPS * most));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += P[i * n + k] * rest[k * n + j];
            CHECK(fabs(sum) <= 50 * EPS * most * most);
        }
}

/* One element at a time, then all of them: the sum of their projections. */
static void nearest(mod *m)
{
    static double H[ROWS * ROWS], P[ROWS * ROWS], sum[ROWS * ROWS], half[ROWS * ROWS];
    size_t all = 0;
    for (int e = 0; e < T; e++) {
        for (int i = 0; i < T; i++)
            m->stiff.data[i] = i == e ? (float)stiff[i] : 0;
        matrix(m, 2, false, H);
        const size_t projected = matrix(m, 2, true, P);
        all += projected;
        if (quads[e][0] != quads[e][1]) { /* of equal vertices the block is projected before they meet */
            CHECK(projected == 1 && !is_semidefinite(H, ROWS, 1e-3));
            is_nearest(H, P, ROWS);
        } else {
            CHECK(is_semidefinite(P, ROWS, 50 * EPS));
        }
        for (int i = 0; i < ROWS * ROWS; i++)
            sum[i] += P[i];
    }
    set(m);
    for (int k = 0; k < 16; k++) {
        CHECK(matrix(m, k, true, P) == all);
        const int lower = k & 2 ? 0 : k & 4 ? 3 : 1;
        for (int i = 0; i < ROWS * ROWS; i++)
            half[i] = lower && i % ROWS / lower > i / ROWS / lower ? 0 : sum[i];
        sparse_equal("projected", P, half, ROWS, ROWS, 0, 10 * EPS);
    }
}

/* Blocks that pass the test keep their bits, and a switch back restores the others. */
static void passes(mod *m)
{
    static double first[MOST_ENTRIES], values[MOST_ENTRIES];
    tk_sparse *s = NULL;
    CHECK_OK(m, sparse_project_convex_hess_pattern(m, &full, &s));
    CHECK_OK(m, sparse_project_convex_hess(m, s, (void *)first, tk_sparse_values(s)));
    CHECK(tk_sparse_project(s, true) == TK_OK);
    CHECK_OK(m, sparse_project_convex_hess(m, s, (void *)values, tk_sparse_values(s)));
    CHECK(tk_sparse_projected(s) == 0 && memcmp(first, values, sizeof values) == 0);
    CHECK_OK(m, sparse_project_quads_hess_pattern(m, NULL, &s));
    memset(first, 0, sizeof first);
    memset(values, 0, sizeof values);
    CHECK_OK(m, sparse_project_quads_hess(m, s, (void *)values, tk_sparse_values(s)));
    CHECK(tk_sparse_projected(s) >= T - 1);
    CHECK(tk_sparse_project(s, false) == TK_OK);
    memset(values, 0, sizeof values);
    CHECK_OK(m, sparse_project_quads_hess(m, s, (void *)first, tk_sparse_values(s)));
    CHECK_OK(m, sparse_project_quads_hess(m, s, (void *)values, tk_sparse_values(s)));
    CHECK(tk_sparse_projected(s) == 0 && memcmp(first, values, sizeof values) == 0);
    tk_sparse_free(s);
}

/* 12 y^2 - 4: negative below 0.577. Numbers that are none stay what they are. */
static void scalars(mod *m)
{
    static _Alignas(8) unsigned char values[N * sizeof(double)];
    tk_sparse *s = NULL;
    CHECK_OK(m, sparse_project_wells_hess_pattern(m, NULL, &s));
    CHECK(tk_sparse_project(s, true) == TK_OK);
    m->y.data[8] = NAN;
    CHECK_OK(m, sparse_project_wells_hess(m, s, (void *)values, N));
    CHECK(tk_sparse_projected(s) == 3);
    for (int i = 0; i < N; i++) {
        const double v = SINGLE ? (double)((float *)(void *)values)[i] : ((double *)(void *)values)[i],
                     y = (double)m->y.data[i], want = 12 * y * y - 4;
        if (i == 8)
            CHECK(isnan(v));
        else
            CHECK_NEAR(v, want > 0 ? want : 0, 4 * EPS);
    }
    tk_sparse_free(s);
    set(m);
}

/* Rows and columns of fixed components are those of the unit matrix, in every layout. */
static void fixing(mod *m)
{
    static double H[ROWS * ROWS], D[ROWS * ROWS], wide[MOST_ENTRIES];
    static _Alignas(8) unsigned char values[MOST_ENTRIES * sizeof(double)];
    static bool fixed[ROWS];
    for (int i = 0; i < ROWS; i++)
        fixed[i] = i < 3 || i % 7 == 5;
    matrix(m, 2, false, H);
    for (int i = 0; i < ROWS * ROWS; i++)
        if (fixed[i / ROWS] || fixed[i % ROWS])
            H[i] = i % (ROWS + 1) == 0;
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        memset(values, 0, sizeof values);
        CHECK_OK(m, sparse_project_quads_hess_pattern(m, &o, &s));
        const size_t n = tk_sparse_values(s);
        CHECK_OK(m, sparse_project_quads_hess(m, s, (void *)values, n));
        CHECK(tk_sparse_fix(s, values, n, fixed, ROWS) == TK_OK);
        for (size_t i = 0; i < n; i++)
            wide[i] = SINGLE ? (double)((float *)(void *)values)[i] : ((double *)(void *)values)[i];
        sparse_dense(s, &o, wide, 3, 3, D);
        const int lower = k & 2 ? 0 : k & 4 ? 3 : 1;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < ROWS; j++)
                if (lower && j / lower > i / lower)
                    CHECK(isnan(D[i * ROWS + j]));
                else if (fixed[i] || fixed[j])
                    CHECK((isnan(D[i * ROWS + j]) ? 0 : D[i * ROWS + j]) == H[i * ROWS + j]);
                else
                    CHECK_NEAR(isnan(D[i * ROWS + j]) ? 0 : D[i * ROWS + j], H[i * ROWS + j], 10 * EPS);
        CHECK(tk_sparse_fix(s, values, n - 1, fixed, ROWS) == TK_BAD_ARGUMENT && strstr(tk_error(), "shorter"));
        CHECK(tk_sparse_fix(s, values, n, fixed, N) == TK_BAD_ARGUMENT && strstr(tk_error(), "one per component"));
        CHECK(tk_sparse_fix(s, NULL, n, fixed, ROWS) == TK_BAD_ARGUMENT && strstr(tk_error(), "values is NULL"));
        CHECK(tk_sparse_fix(s, values, n, NULL, ROWS) == TK_BAD_ARGUMENT && strstr(tk_error(), "flags is NULL"));
        tk_sparse_free(s);
    }
}

static void misuse(mod *m)
{
    tk_sparse *s = NULL;
    double value = 0.0;
    const bool flag = true;
    CHECK(tk_sparse_fix(NULL, &value, 1, &flag, 1) == TK_BAD_ARGUMENT && strstr(tk_error(), "the pattern is NULL"));
    CHECK(tk_sparse_project(NULL, true) == TK_BAD_ARGUMENT && strstr(tk_error(), "the pattern is NULL"));
    CHECK(tk_sparse_projected(NULL) == 0);
    CHECK_OK(m, sparse_project_residuals_jac_pattern(m, NULL, &s));
    CHECK(tk_sparse_project(s, true) == TK_BAD_ARGUMENT && strstr(tk_error(), "that of a Jacobian"));
    CHECK(tk_sparse_fix(s, &value, 1, &flag, 1) == TK_BAD_ARGUMENT && strstr(tk_error(), "that of a Jacobian"));
    tk_sparse_free(s);
}

/* Allocations that fail; threads that are many. */
static void sessions(void)
{
    static double values[MOST_ENTRIES], first[MOST_ENTRIES];
    for (int k = 0; k < 5; k++) {
        static const int threads[] = {1, 2, 3, 7, 1};
        heap h = {0};
        tk_session_options o = tk_session_defaults();
        o.threads = threads[k];
        tk_session *session = k == 4 ? heap_session(&h) : tk_session_create(&o);
        mod *m = sparse_project_create(session, NULL);
        set(m);
        tk_sparse *s = NULL;
        CHECK_OK(m, sparse_project_quads_hess_pattern(m, &full, &s));
        CHECK(tk_sparse_project(s, true) == TK_OK);
        memset(values, 0, sizeof values);
        CHECK_OK(m, sparse_project_quads_hess(m, s, (void *)values, tk_sparse_values(s)));
        if (k == 0)
            memcpy(first, values, sizeof values);
        CHECK(memcmp(first, values, sizeof values) == 0);
        for (int64_t at = 1; k == 4 && at < 10; at++) {
            h.fails_at = h.calls + at;
            const tk_status st = sparse_project_quads_hess(m, s, (void *)values, tk_sparse_values(s));
            CHECK(st == TK_NO_MEMORY || h.calls < h.fails_at);
            CHECK(at > 1 || st == TK_NO_MEMORY);
            tk_session_clear_error(session);
        }
        tk_sparse_free(s);
        sparse_project_destroy(m);
        tk_session_destroy(session);
        CHECK(h.bytes == 0);
    }
}

int main(void)
{
    mod *m = sparse_project_create(NULL, NULL);
    set(m);
    nearest(m);
    passes(m);
    scalars(m);
    fixing(m);
    misuse(m);
    sessions();
    sparse_project_destroy(m);
    return failures != 0;
}
