#include "sparse_star.h"
#include "sparse.h"

#include <tkc/tkc_gen.h>

enum { N = 11, P = 24, MOST = P * P };

typedef sparse_star mod;

static const double EPS = 1e-12;

static void set(mod *m)
{
    for (int i = 0; i < N; i++) {
        m->x.data[i] = sin(1.7 * i) + 0.02 * i + 0.01;
        m->w.data[i] = 0.3 * i;
        m->on.data[i] = i % 3;
        m->s.data[i] = m->s.grad[i] = m->x.grad[i] = 0;
    }
    for (int i = 0; i < P; i++) {
        m->p.data[i / 2][i % 2] = cos(2.3 * i);
        m->p.grad[i / 2][i % 2] = 0;
    }
    m->mass.data[0] = 1.5;
    m->E.data[0] = m->E.grad[0] = m->S.grad[0] = m->mass.grad[0] = 0;
}

/* ---- the kernels ---- */

typedef struct problem {
    const char *name;
    tk_status (*run)(mod *m);
    tk_status (*pattern)(mod *m, const tk_sparse_options *o, tk_sparse **p);
    tk_status (*hess)(mod *m, tk_sparse *p, void *values, size_t n);
    int n, block;
} problem;

#define KERNEL(k, ...) \
    static tk_status k##_run(mod *m) \
    { \
        return sparse_star_##k(__VA_ARGS__); \
    } \
    static tk_status k##_pattern(mod *m, const tk_sparse_options *o, tk_sparse **p) \
    { \
        return sparse_star_##k##_hess_pattern(__VA_ARGS__, o, p); \
    } \
    static tk_status k##_hess(mod *m, tk_sparse *p, void *values, size_t n) \
    { \
        return sparse_star_##k##_hess(__VA_ARGS__, p, values, n); \
    }
KERNEL(loops, m, 0.7)
KERNEL(branches, m)
KERNEL(grid, m)
KERNEL(whole, m)
KERNEL(linear, m)
KERNEL(around, m)
KERNEL(saved, m)
KERNEL(plain, m)
KERNEL(kept, m, 1.3)
KERNEL(passive, m, 0.7)

#define PROBLEM(k, n, block) \
    { \
#k, k##_run, k##_pattern, k##_hess, n, block \
    }
static const problem problems[] = {PROBLEM(loops, N, 1), PROBLEM(branches, N, 1), PROBLEM(grid, P, 2),
                                   PROBLEM(whole, P, 2), PROBLEM(linear, N, 1),   PROBLEM(around, N, 1),
                                   PROBLEM(saved, N, 1), PROBLEM(kept, N, 1)};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static tk_field *by_of(mod *m, const problem *p)
{
    return p->n == P ? m->p.field : m->x.field;
}

static double *data_of(mod *m, const problem *p)
{
    return p->n == P ? m->p.data[0] : m->x.data;
}

static double *grad_of(mod *m, const problem *p)
{
    return p->n == P ? m->p.grad[0] : m->x.grad;
}

/* ---- references ---- */

static void gradient(mod *m, const problem *p, double *g)
{
    CHECK_OK(m, tk_tape_begin(m->E.field, 0));
    CHECK_OK(m, p->run(m));
    CHECK_OK(m, tk_tape_end(m->E.field));
    memcpy(g, grad_of(m, p), sizeof(double) * (size_t)p->n);
}

static void by_products(mod *m, const problem *p, double *D)
{
    double seed[P] = {0.0};
    for (int j = 0; j < p->n; j++) {
        set(m);
        tk_field *of = m->E.field;
        seed[j] = 1;
        CHECK_OK(m, tk_forward_begin(&of, 1, by_of(m, p), seed, (size_t)p->n));
        CHECK_OK(m, tk_tape_begin(m->E.field, 0));
        CHECK_OK(m, p->run(m));
        CHECK_OK(m, tk_tape_end(m->E.field));
        const double *dg = p->n == P ? m->p.grad_dual[0] : m->x.grad_dual;
        for (int i = 0; i < p->n; i++)
            D[i * p->n + j] = dg[i];
        CHECK_OK(m, tk_forward_end(m->tk.session));
        seed[j] = 0;
    }
}

static void by_differences(mod *m, const problem *p, double *D)
{
    const double h = 1e-5;
    double more[P], less[P];
    for (int j = 0; j < p->n; j++) {
        set(m);
        data_of(m, p)[j] += h;
        gradient(m, p, more);
        set(m);
        data_of(m, p)[j] -= h;
        gradient(m, p, less);
        for (int i = 0; i < p->n; i++)
            D[i * p->n + j] = (more[i] - less[i]) / (2 * h);
    }
}

/* ---- each layout ---- */

static void layouts(mod *m, const problem *p, const double *want)
{
    static double values[MOST_ENTRIES + 1], D[MOST];
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        set(m);
        CHECK_OK(m, p->pattern(m, &o, &s));
        sparse_form(s, &o, (size_t)p->n, (size_t)p->n, p->block, p->block);
        memset(values, 0, sizeof values);
        const size_t n = tk_sparse_values(s);
        /* a second time: the values are added */
        CHECK_OK(m, p->hess(m, s, values, n));
        CHECK_OK(m, p->hess(m, s, values, n));
        CHECK(values[n] == 0);
        for (size_t i = 0; i < n; i++)
            values[i] /= 2;
        sparse_dense(s, &o, values, p->block, p->block, D);
        sparse_equal(p->name, D, want, p->n, p->n, o.full ? 0 : o.blocks ? p->block : 1, EPS);
        CHECK_REFUSED(m, p->hess(m, s, values, n - 1), "values, and the array");
        tk_sparse_free(s);
    }
}

/* The kernel has run once: energy, gradient, other fields. What the host has in other gradients stays. */
static void runs_once(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES];
    double g[P];
    set(m);
    gradient(m, p, g);
    set(m);
    m->E.data[0] = 2.5;
    CHECK_OK(m, p->run(m));
    const double E = m->E.data[0], s = m->s.data[2], S = m->S.data[0];
    set(m);
    m->E.data[0] = 2.5;
    m->E.grad[0] = 7;
    m->s.grad[2] = 8;
    m->mass.grad[0] = 9;
    grad_of(m, p)[1] = 0.5;
    tk_sparse *t = NULL;
    CHECK_OK(m, p->pattern(m, NULL, &t));
    CHECK_OK(m, p->hess(m, t, values, MOST_ENTRIES));
    CHECK_NEAR(m->E.data[0], E, 1e-14);
    CHECK_NEAR(m->s.data[2], s, 1e-14);
    CHECK_NEAR(m->S.data[0], S, 1e-14);
    CHECK(m->E.grad[0] == 7 && m->s.grad[2] == 8 && m->mass.grad[0] == 9);
    for (int i = 0; i < p->n; i++)
        CHECK_NEAR(grad_of(m, p)[i], g[i] + (i == 1 ? 0.5 : 0.0), 1e-13);
    tk_sparse_free(t);
}

/* ---- colours of the host ---- */

enum { OWN, EQUAL, OUTSIDE, FAILS };

static int32_t colour(void *user, bool symmetric, int64_t rows, int64_t cols, const int64_t *starts, const int32_t *of, int32_t *colours)
{
    const int way = *(int *)user;
    CHECK(symmetric && rows == cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = starts[i]; k < starts[i + 1]; k++)
            CHECK(of[k] >= 0 && of[k] < cols && of[k] != i);
    for (int64_t j = 0; j < cols; j++)
        colours[j] = way == EQUAL ? 0 : (int32_t)(cols - 1 - j);
    return way == FAILS ? -1 : way == EQUAL ? 1 : (int32_t)cols - (way == OUTSIDE);
}

static void host_colours(mod *m, const problem *p, const double *want)
{
    static double values[MOST_ENTRIES], D[MOST];
    const tk_sparse_options o = sparse_option(0);
    tk_sparse *s = NULL;
    int way = OWN;
    set(m);
    CHECK_OK(m, p->pattern(m, &o, &s));
    const size_t n = tk_sparse_values(s), vertices = (size_t)(p->n / p->block);
    CHECK(tk_sparse_colours(s) == 0);
    CHECK(tk_sparse_colour(s, colour, &way) == TK_OK);
    memset(values, 0, sizeof values);
    CHECK_OK(m, p->hess(m, s, values, n));
    CHECK(tk_sparse_colours(s) == vertices);
    sparse_dense(s, &o, values, p->block, p->block, D);
    sparse_equal(p->name, D, want, p->n, p->n, 1, EPS);
    way = EQUAL;
    CHECK_OK(m, p->hess(m, s, values, n)); /* the colours stay */
    CHECK(tk_sparse_colour(s, colour, &way) == TK_OK);
    CHECK_REFUSED(m, p->hess(m, s, values, n), "by these colours no product gives entry");
    CHECK(tk_sparse_colours(s) == 0);
    way = OUTSIDE;
    CHECK_REFUSED(m, p->hess(m, s, values, n), "column 0 has colour");
    way = FAILS;
    CHECK(p->hess(m, s, values, n) == TK_BAD_STATE && strstr(sparse_star_error(m), "the function of tk_sparse_colour failed"));
    tk_session_clear_error(m->tk.session);
    CHECK(tk_sparse_colour(s, NULL, NULL) == TK_OK);
    memset(values, 0, sizeof values);
    set(m);
    CHECK_OK(m, p->hess(m, s, values, n));
    CHECK(tk_sparse_colours(s) > 0 && tk_sparse_colours(s) <= vertices);
    sparse_dense(s, &o, values, p->block, p->block, D);
    sparse_equal(p->name, D, want, p->n, p->n, 1, EPS);
    tk_sparse_free(s);
    CHECK(tk_sparse_colour(NULL, colour, &way) == TK_BAD_ARGUMENT && tk_sparse_colours(NULL) == 0);
}

/* ---- patterns by hand ---- */

static void pattern_is(mod *m, const problem *p, bool (*has)(int i, int j))
{
    static double values[MOST_ENTRIES], D[MOST];
    const tk_sparse_options o = sparse_option(0);
    tk_sparse *s = NULL;
    set(m);
    CHECK_OK(m, p->pattern(m, &o, &s));
    sparse_dense(s, &o, values, p->block, p->block, D);
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j <= i; j++)
            if (has(i, j) == isnan(D[i * p->n + j]))
                FAIL("%s: entry %d, %d is %s the pattern", p->name, i, j, has(i, j) ? "not in" : "in");
    tk_sparse_free(s);
}

static bool of_loops(int i, int j)
{
    return j == i || (j == i - 1 && (i < N - 1 || j % 3));
}

/* The sums of x[k] * x[k] by x[i]: k up to on[i] - 1, which is 1 at most. */
static bool of_branches(int i, int j)
{
    const bool inner = j > 0 && j < N - 2;
    return j == i || (i > 0 && i < N - 2 && (j == i - 1 || j == 0)) || (inner && j == i - 2) ||
           (j == 1 && i > 1 && i < N - 2 && i % 3 == 2);
}

static bool of_grid(int i, int j)
{
    const int a = i / 2, b = j / 2;
    return a == b || (a - b == 3 && b < 9) || (a - b == 1 && a / 3 == b / 3);
}

static bool of_linear(int i, int j)
{
    return i == j;
}

/* ---- what else is promised ---- */

/* A kernel of each form adds to one matrix. */
static void joined(mod *m, const problem *a, const problem *b)
{
    static double values[MOST_ENTRIES], D[MOST], want[2][MOST];
    by_products(m, a, want[0]);
    by_products(m, b, want[1]);
    for (int i = 0; i < N * N; i++)
        want[0][i] += want[1][i];
    const tk_sparse_options o = {.full = true};
    tk_sparse *s = NULL;
    memset(values, 0, sizeof values);
    set(m);
    CHECK_OK(m, a->pattern(m, &o, &s));
    CHECK_OK(m, b->pattern(m, &o, &s));
    CHECK_OK(m, a->hess(m, s, values, MOST_ENTRIES));
    CHECK_OK(m, b->hess(m, s, values, MOST_ENTRIES));
    sparse_dense(s, &o, values, 1, 1, D);
    sparse_equal("joined", D, want[0], N, N, 0, EPS);
    CHECK_OK(m, tk_sparse_project(s, true));
    CHECK_REFUSED(m, a->hess(m, s, values, MOST_ENTRIES), "no blocks of elements to project (tk_sparse_project); shift its diagonal");
    const bool elements = !strcmp(b->name, "plain");
    CHECK_STATUS(m, b->hess(m, s, values, MOST_ENTRIES), elements ? TK_OK : TK_BAD_ARGUMENT, "");
    tk_sparse_free(s);
}

static void changed(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES + 1];
    tk_sparse *s = NULL;
    set(m);
    CHECK_OK(m, p->pattern(m, NULL, &s));
    const size_t n = tk_sparse_values(s);
    m->on.data[3] = 4;
    m->on.data[7] = 4;
    const bool debug = m->tk.desc->sites != NULL;
    CHECK_STATUS(m, p->hess(m, s, values, n), debug ? TK_BAD_STATE : TK_OK,
                 debug ? "the elements of 'branches' are not those of the pattern" : "");
    CHECK(values[n] == 0);
    tk_sparse_free(s);
}

/* The matrix and energy of loops, twice: memory of gradients is zero before each product. */
static void without_gradients(mod *m)
{
    static double values[2][MOST_ENTRIES];
    const problem passive = PROBLEM(passive, N, 1), *const loops = &problems[0];
    tk_sparse *s = NULL, *t = NULL;
    set(m);
    memcpy(m->y.data, m->x.data, sizeof(double) * N);
    m->E.data[0] = m->F.data[0] = 2.5;
    memset(values, 0, sizeof values);
    CHECK_OK(m, loops->pattern(m, NULL, &s));
    CHECK_OK(m, passive.pattern(m, NULL, &t));
    for (int k = 0; k < 2; k++) {
        CHECK_OK(m, loops->hess(m, s, values[0], MOST_ENTRIES));
        CHECK_OK(m, passive.hess(m, t, values[1], MOST_ENTRIES));
    }
    CHECK(tk_sparse_values(s) == tk_sparse_values(t) && tk_sparse_values(s) > N);
    for (size_t i = 0; i < tk_sparse_values(s); i++)
        CHECK_NEAR(values[1][i], values[0][i], 1e-14);
    CHECK_NEAR(m->F.data[0], m->E.data[0], 1e-14);
    tk_sparse_free(s);
    tk_sparse_free(t);
}

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
    set(m);
    memset(values, 0, sizeof values);
    CHECK_OK(m, p->pattern(m, NULL, &s));
    CHECK_OK(m, p->hess(m, s, values, MOST_ENTRIES));
    in_program = p;
    set(m);
    CHECK_OK(m, tk_gradcheck_sparse(s, values, m->E.field, by_of(m, p), program, m, 0, NULL));
    values[1] += 0.5;
    CHECK_STATUS(m, tk_gradcheck_sparse(s, values, m->E.field, by_of(m, p), program, m, 0, NULL), TK_WRONG_GRADIENT,
                 "in the matrix");
    tk_sparse_free(s);
}

int main(void)
{
    mod *m = sparse_star_create(NULL, NULL);
    static double want[MOST], differences[MOST];
    for (int k = 0; k < PROBLEMS; k++) {
        const problem *p = &problems[k];
        by_products(m, p, want);
        by_differences(m, p, differences);
        for (int i = 0; i < p->n * p->n; i++)
            CHECK_NEAR(want[i], differences[i], 1e-7);
        layouts(m, p, want);
        runs_once(m, p);
        if (p == &problems[0] || p == &problems[2])
            host_colours(m, p, want);
        if (strcmp(p->name, "linear"))
            checked(m, p);
    }
    pattern_is(m, &problems[0], of_loops);
    pattern_is(m, &problems[1], of_branches);
    pattern_is(m, &problems[2], of_grid);
    pattern_is(m, &problems[4], of_linear);
    const problem plain = PROBLEM(plain, N, 1);
    joined(m, &problems[0], &plain);
    joined(m, &problems[1], &problems[0]);
    changed(m, &problems[1]);
    without_gradients(m);
    sparse_star_destroy(m);
    return failures != 0;
}
