#include "sparse_computed.h"
#include "sparse.h"

#include <tkc/tkc_gen.h>

enum { N = 11, M = 9, MOST = 27 * 18 };

typedef sparse_computed mod;

#define SINGLE (sizeof(((mod *)0)->x.data[0]) == sizeof(float))
#define EPS (SINGLE ? 5e-6 : 1e-13)

static const int next[N] = {3, 1, 0, 3, 7, 8, 5, 10, 2, 9, 4};
static const int ends[M][2] = {{0, 1}, {2, 1}, {3, 3}, {6, 5}, {0, 6}, {5, 4}, {8, 7}, {7, 2}, {4, 8}};

static void set(mod *m)
{
    memcpy(m->next.data, next, sizeof next);
    memcpy(m->ends.data, ends, sizeof ends);
    for (int i = 0; i < N; i++) {
        m->x.data[i] = (float)(sin(1.7 * i) + 0.02 * i + 0.01);
        m->w.data[i] = (float)(0.3 * i);
        m->on.data[i] = i % 3 == 0;
        m->r.data[i] = 0;
        m->s.data[i] = 0;
    }
    for (int i = 0; i < 18; i++)
        m->p.data[i / 2][i % 2] = (float)cos(2.3 * i);
}

/* ---- the kernels ---- */

typedef struct problem {
    const char *name;
    tk_status (*run)(mod *m);
    tk_status (*jvp)(mod *m);
    tk_status (*pattern)(mod *m, const tk_sparse_options *o, tk_sparse **p);
    tk_status (*jac)(mod *m, tk_sparse *p, void *values, size_t n);
    bool vectors;
} problem;

#define KERNEL(k, run_args, jvp_args) \
    static tk_status k##_run(mod *m) \
    { \
        return sparse_computed_##k run_args; \
    } \
    static tk_status k##_jvp(mod *m) \
    { \
        return sparse_computed_##k##_jvp jvp_args; \
    }
#define MATRIX(k, ...) \
    static tk_status k##_pattern(mod *m, const tk_sparse_options *o, tk_sparse **p) \
    { \
        return sparse_computed_##k##_jac_pattern(__VA_ARGS__, o, p); \
    } \
    static tk_status k##_jac(mod *m, tk_sparse *p, void *values, size_t n) \
    { \
        return sparse_computed_##k##_jac(__VA_ARGS__, p, values, n); \
    }
KERNEL(loops, (m, 0.7f), (m, 0.7f, 0))
MATRIX(loops, m, 0.7f)
KERNEL(total, (m), (m))
MATRIX(total, m)
KERNEL(branches, (m), (m))
MATRIX(branches, m)
KERNEL(steps, (m, 2), (m, 2))
MATRIX(steps, m, 2)
KERNEL(vectors, (m, 0.6f), (m, 0.6f, 0))
MATRIX(vectors, m, 0.6f)
KERNEL(arrays, (m), (m))
MATRIX(arrays, m)
KERNEL(some, (m), (m))
MATRIX(some, m)
KERNEL(plain, (m), (m))
MATRIX(plain, m)

#define PROBLEM(k, vectors) \
    { \
#k, k##_run, k##_jvp, k##_pattern, k##_jac, vectors \
    }
static const problem problems[] = {PROBLEM(loops, false), PROBLEM(total, false),  PROBLEM(branches, false),
                                   PROBLEM(steps, false), PROBLEM(vectors, true), PROBLEM(arrays, false),
                                   PROBLEM(some, false)};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static int rows_of(const problem *p)
{
    return p->vectors ? 3 * M : N;
}

static int cols_of(const problem *p)
{
    return p->vectors ? 18 : N;
}

/* ---- references ---- */

static double result(const mod *m, const problem *p, int i, bool dual)
{
    if (p->vectors)
        return (double)(dual ? m->q.dual : m->q.data)[i / 3][i % 3];
    return (double)(dual ? m->r.dual : m->r.data)[i];
}

static void by_products(mod *m, const problem *p, double *D)
{
    const int rows = rows_of(p), cols = cols_of(p);
    for (int j = 0; j < cols; j++) {
        set(m);
        memset(m->x.dual, 0, sizeof m->x.data[0] * N);
        memset(m->s.dual, 0, sizeof m->x.data[0] * N);
        memset(m->r.dual, 0, sizeof m->x.data[0] * N);
        memset(m->p.dual, 0, sizeof m->x.data[0] * 18);
        memset(m->q.dual, 0, sizeof m->x.data[0] * 3 * M);
        if (p->vectors)
            m->p.dual[j / 2][j % 2] = 1;
        else
            m->x.dual[j] = 1;
        CHECK_OK(m, p->jvp(m));
        for (int i = 0; i < rows; i++)
            D[i * cols + j] = result(m, p, i, true);
    }
}

static void by_differences(mod *m, const problem *p, double *D)
{
    const int rows = rows_of(p), cols = cols_of(p);
    const double h = SINGLE ? 4e-3 : 1e-6;
    for (int j = 0; j < cols; j++) {
        double ends_of[2][27], at[2] = {0};
        for (int k = 0; k < 2; k++) {
            set(m);
            if (p->vectors) {
                m->p.data[j / 2][j % 2] += (float)(k ? h : -h);
                at[k] = (double)m->p.data[j / 2][j % 2];
            } else {
                m->x.data[j] += (float)(k ? h : -h);
                at[k] = (double)m->x.data[j];
            }
            CHECK_OK(m, p->run(m));
            for (int i = 0; i < rows; i++)
                ends_of[k][i] = result(m, p, i, false);
        }
        for (int i = 0; i < rows; i++)
            D[i * cols + j] = (ends_of[1][i] - ends_of[0][i]) / (at[1] - at[0]);
    }
    set(m);
}

static double value_at(const void *values, size_t i)
{
    return SINGLE ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* ---- each layout ---- */

static void layouts(mod *m, const problem *p, const double *want)
{
    static double values[MOST_ENTRIES + 1], wide[MOST_ENTRIES], D[MOST];
    const int r = p->vectors ? 3 : 1, c = p->vectors ? 2 : 1;
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        set(m);
        CHECK_OK(m, p->pattern(m, &o, &s));
        CHECK_OK(m, p->pattern(m, NULL, &s)); /* nothing changes */
        sparse_form(s, &o, (size_t)rows_of(p), (size_t)cols_of(p), r, c);
        memset(values, 0, sizeof values);
        const size_t n = tk_sparse_values(s);
        /* a second time: the values are added */
        CHECK_OK(m, p->jac(m, s, values, n));
        CHECK_OK(m, p->jac(m, s, values, n));
        for (size_t i = 0; i < n; i++)
            wide[i] = value_at(values, i) / 2;
        CHECK(value_at(values, n) == 0);
        sparse_dense(s, &o, wide, r, c, D);
        sparse_equal(p->name, D, want, rows_of(p), cols_of(p), 0, 4 * EPS);
        CHECK_REFUSED(m, p->jac(m, s, values, n - 1), "values, and the array");
        tk_sparse_free(s);
    }
}

/* ---- patterns by hand: '1' an entry, in rows of N ---- */

static void pattern_is(mod *m, const problem *p, bool (*has)(int i, int j))
{
    static double values[MOST_ENTRIES], D[MOST];
    const tk_sparse_options o = sparse_option(0);
    tk_sparse *s = NULL;
    set(m);
    CHECK_OK(m, p->pattern(m, &o, &s));
    sparse_dense(s, &o, values, 1, 1, D);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (has(i, j) == isnan(D[i * N + j]))
                FAIL("%s: entry %d, %d is %s the pattern", p->name, i, j, has(i, j) ? "not in" : "in");
    tk_sparse_free(s);
}

static bool of_loops(int i, int j)
{
    return i > 0 && i < N - 1 && j >= i - 1 && j <= i + 1;
}

static bool of_total(int i, int j)
{
    return i < 5 ? j < 5 : j == i;
}

/* Neither the sign of x nor w counts. */
static bool of_branches(int i, int j)
{
    return i > 0 && i < N - 1 && (j == i + 1 || j == i - 1 || j == next[i] || (i % 3 == 0 && j == 0));
}

static bool of_arrays(int i, int j)
{
    return i < N - 3 && j >= i && j <= i + 3;
}

static bool of_some(int i, int j)
{
    return i % 3 == 0 && i < 6 && j == i / 3;
}

/* ---- what else is promised ---- */

/* The kernel has run once, whatever the number of colours. */
static void runs_once(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES];
    double once[27];
    set(m);
    CHECK_OK(m, p->run(m));
    for (int i = 0; i < rows_of(p); i++)
        once[i] = result(m, p, i, false);
    const double s = (double)m->s.data[2];
    set(m);
    tk_sparse *t = NULL;
    CHECK_OK(m, p->pattern(m, NULL, &t));
    CHECK((double)m->s.data[2] == 0 && result(m, p, 3, false) == (p->vectors ? once[3] : 0));
    CHECK_OK(m, p->jac(m, t, values, MOST_ENTRIES));
    for (int i = 0; i < rows_of(p); i++)
        CHECK_NEAR(result(m, p, i, false), once[i], EPS);
    CHECK_NEAR(m->s.data[2], s, EPS);
    tk_sparse_free(t);
}

/* A kernel of each form adds to one matrix. */
static void joined(mod *m, const problem *a, const problem *b)
{
    static double values[MOST_ENTRIES], wide[MOST_ENTRIES], D[MOST], want[2][MOST];
    by_products(m, a, want[0]);
    by_products(m, b, want[1]);
    for (int i = 0; i < N * N; i++)
        want[0][i] += want[1][i];
    for (int turn = 0; turn < 2; turn++) {
        tk_sparse *s = NULL;
        memset(values, 0, sizeof values);
        set(m);
        CHECK_OK(m, (turn ? a : b)->pattern(m, NULL, &s));
        CHECK_OK(m, (turn ? b : a)->pattern(m, NULL, &s));
        CHECK_OK(m, a->jac(m, s, values, MOST_ENTRIES));
        CHECK_OK(m, b->jac(m, s, values, MOST_ENTRIES));
        for (size_t i = 0; i < tk_sparse_values(s); i++)
            wide[i] = value_at(values, i);
        const tk_sparse_options o = sparse_option(0);
        sparse_dense(s, &o, wide, 1, 1, D);
        sparse_equal("joined", D, want[0], N, N, 0, 4 * EPS);
        tk_sparse_free(s);
    }
}

/* Other integers: values go to the entries that there are, until the pattern is made again. */
static void changed(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES + 1], wide[MOST_ENTRIES], D[MOST], want[MOST];
    tk_sparse *s = NULL;
    set(m);
    CHECK_OK(m, p->pattern(m, NULL, &s));
    const size_t n = tk_sparse_values(s);
    m->next.data[4] = 0;
    const bool debug = m->tk.desc->sites != NULL;
    CHECK_STATUS(m, p->jac(m, s, values, n), debug ? TK_BAD_STATE : TK_OK,
                 debug ? "the elements of 'steps' are not those of the pattern" : "");
    CHECK(value_at(values, n) == 0 && (!debug || value_at(values, 1) == 0));
    CHECK_OK(m, p->pattern(m, NULL, &s));
    memset(values, 0, sizeof values);
    CHECK_OK(m, p->jac(m, s, values, MOST_ENTRIES));
    for (size_t i = 0; i < tk_sparse_values(s); i++)
        wide[i] = value_at(values, i);
    const tk_sparse_options o = sparse_option(0);
    sparse_dense(s, &o, wide, 1, 1, D);
    for (int j = 0; j < N; j++) {
        memset(m->x.dual, 0, sizeof m->x.data[0] * N);
        memset(m->r.dual, 0, sizeof m->x.data[0] * N);
        m->x.dual[j] = 1;
        CHECK_OK(m, p->jvp(m));
        for (int i = 0; i < N; i++)
            want[i * N + j] = result(m, p, i, true);
    }
    sparse_equal("changed", D, want, N, N, 0, 4 * EPS);
    /* what lies outside has no entry */
    m->next.data[4] = 1000000;
    m->next.data[5] = -1000000;
    CHECK_OK(m, p->pattern(m, NULL, &s));
    tk_sparse_free(s);
}

/* The library's own check: entries, products and differences agree; a wrong entry, and one beside the pattern, are
 * found. */
static const problem *in_program;

static void program(void *user)
{
    mod *const m = user;
    CHECK(in_program->run(m) == TK_OK);
}

static void checked(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES];
    tk_sparse *s = NULL;
    tk_gradcheck_result r;
    tk_field *of = p->vectors ? m->q.field : m->r.field, *by = p->vectors ? m->p.field : m->x.field;
    set(m);
    memset(values, 0, sizeof values);
    CHECK_OK(m, p->pattern(m, NULL, &s));
    CHECK_OK(m, p->jac(m, s, values, MOST_ENTRIES));
    in_program = p;
    set(m);
    CHECK_OK(m, tk_gradcheck_sparse(s, values, of, by, program, m, 0, &r));
    CHECK(r.has_forward);
    if (SINGLE)
        ((float *)values)[1] += 0.5f;
    else
        values[1] += 0.5;
    CHECK_STATUS(m, tk_gradcheck_sparse(s, values, of, by, program, m, 0, &r), TK_WRONG_GRADIENT, "in the matrix");
    tk_sparse_free(s);
}

static void refused(mod *m)
{
    static double values[MOST_ENTRIES];
    tk_sparse *s = NULL;
    const tk_sparse_options wide = {.wide = true};
    CHECK(loops_pattern(NULL, NULL, &s) == TK_BAD_ARGUMENT);
    CHECK_REFUSED(m, loops_pattern(m, NULL, NULL), "the place for it is NULL");
    CHECK_STATUS(m, loops_jac(m, s, values, MOST_ENTRIES), TK_BAD_ARGUMENT, "the pattern is NULL");
    CHECK_OK(m, loops_pattern(m, NULL, &s));
    CHECK_REFUSED(m, total_pattern(m, &wide, &s), "another shape or layout");
    CHECK_REFUSED(m, vectors_pattern(m, NULL, &s), "another shape or layout");
    CHECK_STATUS(m, total_jac(m, s, values, MOST_ENTRIES), TK_BAD_STATE, "the pattern is not one of 'total'");
    CHECK_REFUSED(m, loops_jac(m, s, NULL, MOST_ENTRIES), "array of values is NULL");
    tk_field *of = &m->tk.fields[0];
    CHECK_OK(m, tk_forward_begin(&of, 1, of, m->x.data, N));
    CHECK_STATUS(m, loops_jac(m, s, values, MOST_ENTRIES), TK_NO_DERIVATIVE, "has no derivative");
    (void)tk_forward_end(m->tk.session);
    tk_session_clear_error(m->tk.session);
    for (size_t i = 0; i < MOST_ENTRIES; i++)
        CHECK(value_at(values, i) == 0);
    tk_sparse_free(s);
}

/* Many elements, whose rows are added to in any order: the bits are those of one thread. */
static void bits(void)
{
    enum { MANY = 20000 };
    static const int threads[] = {1, 2, 3, 7};
    double *values[4] = {NULL};
    size_t n = 0;
    for (int k = 0; k < 4; k++) {
        tk_session *session = tk_session_create(&(tk_session_options){.threads = threads[k]});
        sparse_computed_params params = sparse_computed_defaults();
        params.N = MANY;
        mod *m = sparse_computed_create(session, &params);
        uint32_t random = 1;
        for (int i = 0; i < MANY; i++) {
            random = random * 1664525u + 1013904223u;
            m->next.data[i] = i % 5 ? (i + 1 + (int)(random >> 30)) % MANY : 7 * (int)((random >> 8) % 400);
            m->x.data[i] = (float)cos(i);
        }
        tk_sparse *p = NULL;
        CHECK_OK(m, sparse_computed_steps_jac_pattern(m, 1, NULL, &p));
        n = tk_sparse_values(p);
        values[k] = calloc(n, sizeof(double));
        CHECK_OK(m, sparse_computed_steps_jac(m, 1, p, (void *)values[k], n));
        CHECK(n > MANY && memcmp(values[k], values[0], n * sizeof m->x.data[0]) == 0);
        tk_sparse_free(p);
        sparse_computed_destroy(m);
        tk_session_destroy(session);
    }
    for (int k = 0; k < 4; k++)
        free(values[k]);
}

int main(void)
{
    bits();
    mod *m = sparse_computed_create(NULL, NULL);
    static double want[MOST], differences[MOST];
    for (int k = 0; k < PROBLEMS; k++) {
        const problem *p = &problems[k];
        by_products(m, p, want);
        by_differences(m, p, differences);
        for (int i = 0; i < rows_of(p) * cols_of(p) && strcmp(p->name, "arrays"); i++)
            CHECK_NEAR(want[i], differences[i], SINGLE ? 5e-3 : 1e-7);
        layouts(m, p, want);
        runs_once(m, p);
        if (strcmp(p->name, "arrays"))
            checked(m, p);
    }
    pattern_is(m, &problems[0], of_loops);
    pattern_is(m, &problems[1], of_total);
    pattern_is(m, &problems[2], of_branches);
    pattern_is(m, &problems[5], of_arrays);
    pattern_is(m, &problems[6], of_some);
    const problem plain = PROBLEM(plain, false);
    joined(m, &problems[0], &plain);
    joined(m, &problems[2], &problems[1]);
    changed(m, &problems[3]);
    refused(m);
    sparse_computed_destroy(m);
    return failures != 0;
}
