#include "sparse_fields.h"
#include "sparse.h"

#include <tkc/tkc_gen.h>

enum { N = 5, M = 6, MOST_COLS = 3 * N + M + 8, MOST = MOST_COLS * MOST_COLS };

typedef sparse_fields mod;

static const double EPS = 1e-12, SINGLE = 1e-6;

static tk_field *field(mod *m, const char *name)
{
    tk_field *f = tk_field_find(m->tk.session, name);
    CHECK(f != NULL);
    return f;
}

static void set(mod *m)
{
    static const char *const names[] = {"x", "u", "p", "w", "h", "plain"};
    static const int ends[M][2] = {{0, 1}, {2, 1}, {3, 3}, {4, 2}, {0, 4}, {1, 3}};
    memcpy(m->ends.data, ends, sizeof ends);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tk_field *f = field(m, names[i]);
        for (int64_t k = 0; k < tk_field_count(f); k++) {
            const double v = (float)(sin(1.7 * (double)k + (double)i) + 0.1);
            CHECK_OK(m, tk_field_set(f, TK_DATA, k, 1, &v));
        }
    }
    memcpy(m->z.data, m->x.data, sizeof(double) * 3 * N);
    memcpy(m->z.data + 3 * N, m->u.data, sizeof(double) * M);
    m->E.data[0] = 0.25;
    tk_session_clear_grad(m->tk.session);
    tk_session_clear_dual(m->tk.session);
}

/* ---- kernels ---- */

typedef struct problem {
    const char *name;
    tk_status (*run)(mod *m);
    tk_status (*pattern)(mod *m, const tk_sparse_options *o, tk_sparse **p);
    tk_status (*matrix)(mod *m, tk_sparse *p, double *values, size_t n);
    bool hess;
    int rows, block; /* of a Jacobian; of the columns */
    const char *by[4];
    double tolerance;
} problem;

#define KERNEL(k, word, ...) \
    static tk_status k##_run(mod *m) \
    { \
        return sparse_fields_##k(__VA_ARGS__); \
    } \
    static tk_status k##_pattern(mod *m, const tk_sparse_options *o, tk_sparse **p) \
    { \
        return sparse_fields_##k##_##word##_pattern(__VA_ARGS__, o, p); \
    } \
    static tk_status k##_##word(mod *m, tk_sparse *p, double *values, size_t n) \
    { \
        return sparse_fields_##k##_##word(__VA_ARGS__, p, values, n); \
    }
KERNEL(residuals, jac, m)
KERNEL(parts, jac, m)
KERNEL(elastic, hess, m, 0.7)
KERNEL(joined, hess, m, 0.7)
KERNEL(weak, hess, m, 1.5)
KERNEL(blocks, hess, m)
KERNEL(mixed, hess, m)
KERNEL(steps, jac, m)
KERNEL(spread, jac, m)
KERNEL(around, hess, m, 0.7)
KERNEL(tied, hess, m)

#define PROBLEM(k, word, ...) \
    { \
#k, k##_run, k##_pattern, k##_##word, __VA_ARGS__ \
    }
static const problem problems[] = {PROBLEM(residuals, jac, false, 2 * M, 1, {"u", "x"}, EPS),
                                   PROBLEM(parts, jac, false, 2 * M, 2, {"p", "w"}, EPS),
                                   PROBLEM(elastic, hess, true, 0, 1, {"x", "u"}, EPS),
                                   PROBLEM(joined, hess, true, 0, 1, {"z"}, EPS),
                                   PROBLEM(weak, hess, true, 0, 1, {"x", "u"}, EPS),
                                   PROBLEM(blocks, hess, true, 0, 2, {"w", "p"}, EPS),
                                   PROBLEM(mixed, hess, true, 0, 2, {"h", "w"}, SINGLE),
                                   PROBLEM(steps, jac, false, 2 * M, 1, {"x", "u"}, EPS),
                                   PROBLEM(spread, jac, false, 2 * M, 2, {"h", "w", "p"}, EPS),
                                   PROBLEM(around, hess, true, 0, 1, {"x", "u"}, EPS),
                                   PROBLEM(tied, hess, true, 0, 2, {"h", "w", "p"}, SINGLE)};
enum { ELASTIC = 2, JOINED = 3, WEAK = 4, AROUND = 9, PROBLEMS = sizeof problems / sizeof *problems };

static int columns(mod *m, const problem *p)
{
    int n = 0;
    for (int i = 0; p->by[i]; i++)
        n += (int)tk_field_count(field(m, p->by[i]));
    return n;
}

static int rows(mod *m, const problem *p)
{
    return p->hess ? columns(m, p) : p->rows;
}

/* All of a plane of the columns' fields, one field after the other. */
static void get(mod *m, const problem *p, tk_plane plane, double *to)
{
    for (int i = 0; p->by[i]; i++) {
        const tk_field *f = field(m, p->by[i]);
        CHECK_OK(m, tk_field_get(f, plane, 0, tk_field_count(f), to));
        to += tk_field_count(f);
    }
}

static void by_products(mod *m, const problem *p, double *D)
{
    static const double zeros[MOST_COLS];
    const double one = 1;
    const int n = columns(m, p), nrows = rows(m, p);
    static double column[MOST_COLS];
    for (int i = 0, j = 0; p->by[i]; i++)
        for (int64_t k = 0; k < tk_field_count(field(m, p->by[i])); k++, j++) {
            tk_field *f = field(m, p->by[i]), *of = p->hess ? m->E.field : m->r.field;
            set(m);
            CHECK_OK(m, tk_forward_begin(&of, 1, f, zeros, (size_t)tk_field_count(f)));
            CHECK_OK(m, tk_field_set(f, TK_DUAL, k, 1, &one));
            CHECK_OK(m, p->hess ? tk_tape_begin(of, 0) : TK_OK);
            CHECK_OK(m, p->run(m));
            CHECK_OK(m, p->hess ? tk_tape_end(of) : TK_OK);
            if (p->hess)
                get(m, p, TK_GRAD_DUAL, column);
            else
                CHECK_OK(m, tk_field_get(of, TK_DUAL, 0, nrows, column));
            CHECK_OK(m, tk_forward_end(m->tk.session));
            for (int row = 0; row < nrows; row++)
                D[row * n + j] = column[row];
        }
}

static void layouts(mod *m, const problem *p, const double *want)
{
    static double values[MOST_ENTRIES + 1], D[MOST];
    const int n = columns(m, p), nrows = rows(m, p), block_rows = p->hess ? p->block : 2;
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        set(m);
        CHECK_OK(m, p->pattern(m, &o, &s));
        sparse_form(s, &o, (size_t)nrows, (size_t)n, block_rows, p->block);
        memset(values, 0, sizeof values);
        const size_t count = tk_sparse_values(s);
        CHECK_OK(m, p->matrix(m, s, values, count));
        CHECK_OK(m, p->matrix(m, s, values, count));
        CHECK(values[count] == 0);
        for (size_t i = 0; i < count; i++)
            values[i] /= 2;
        sparse_dense(s, &o, values, block_rows, p->block, D);
        sparse_equal(p->name, D, want, nrows, n, p->hess && !o.full ? o.blocks ? p->block : 1 : 0, p->tolerance);
        tk_sparse_free(s);
    }
}

/* The energy is added to; so is the gradient of each field. */
static void gradients(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES], want[MOST_COLS], got[MOST_COLS];
    const double before = 0.5;
    tk_sparse *s = NULL;
    set(m);
    CHECK_OK(m, tk_tape_begin(m->E.field, 0));
    CHECK_OK(m, p->run(m));
    CHECK_OK(m, tk_tape_end(m->E.field));
    get(m, p, TK_GRAD, want);
    const double E = m->E.data[0] + 0.25; /* a tape begins at 0 */
    set(m);
    CHECK_OK(m, tk_field_set(field(m, p->by[1] ? p->by[1] : p->by[0]), TK_GRAD, 2, 1, &before));
    want[(p->by[1] ? tk_field_count(field(m, p->by[0])) : 0) + 2] += before;
    CHECK_OK(m, p->pattern(m, NULL, &s));
    CHECK_OK(m, p->matrix(m, s, values, MOST_ENTRIES));
    get(m, p, TK_GRAD, got);
    for (int i = 0; i < columns(m, p); i++)
        CHECK_NEAR(got[i], want[i], p->tolerance);
    CHECK_NEAR(m->E.data[0], E, 1e-13);
    tk_sparse_free(s);
}

/* ---- against differences, and planted faults ---- */

typedef struct program {
    mod *m;
    const problem *p;
} program;

static void run(void *user)
{
    const program *g = user;
    if (g->p->hess)
        g->m->E.data[0] = 0;
    g->p->run(g->m);
}

static void check(mod *m, const problem *p)
{
    static double values[MOST_ENTRIES];
    program g = {m, p};
    tk_sparse *s = NULL;
    tk_gradcheck_result at;
    tk_field *of = p->hess ? m->E.field : m->r.field;
    set(m);
    CHECK_OK(m, p->pattern(m, NULL, &s));
    memset(values, 0, sizeof values);
    CHECK_OK(m, p->matrix(m, s, values, MOST_ENTRIES));
    for (int i = 0; p->by[i]; i++) {
        set(m);
        CHECK_OK(
            m, tk_gradcheck_sparse(s, values, of, field(m, p->by[i]), run, &g, p->tolerance > EPS ? 1e-2 : 1e-5, NULL));
    }
    set(m);
    CHECK_REFUSED(m, tk_gradcheck_sparse(s, values, of, m->s.field, run, &g, 1e-5, NULL), "is not one of");
    /* the last entry belongs to the last column with entries: that of the last field, in a Hessian its diagonal */
    const size_t n = tk_sparse_values(s);
    values[n - 1] += 0.25;
    if (p->hess && p->by[1] && p->tolerance == EPS) {
        const int last = p->by[2] ? 2 : 1, cols = columns(m, p);
        const tk_status st = tk_gradcheck_sparse(s, values, of, field(m, p->by[last]), run, &g, 1e-5, &at);
        CHECK(st == TK_WRONG_GRADIENT && at.component == (int64_t)cols * cols - 1);
        CHECK(strstr(tk_session_error(m->tk.session), p->by[last]) != NULL);
        tk_session_clear_error(m->tk.session);
    }
    tk_sparse_free(s);
}

/* ---- one pattern ---- */

/* Three kernels, of both forms, add to one matrix: their matrices add up. */
static void together(mod *m)
{
    static double values[3 * MOST_ENTRIES], D[MOST], want[MOST], one[MOST];
    const tk_sparse_options full = {.full = true};
    const int kernels[] = {ELASTIC, WEAK, AROUND}, n = columns(m, &problems[ELASTIC]);
    tk_sparse *s = NULL;
    memset(want, 0, sizeof want);
    for (int i = 0; i < 3; i++) {
        by_products(m, &problems[kernels[i]], one);
        for (int k = 0; k < n * n; k++)
            want[k] += one[k];
        CHECK_OK(m, problems[kernels[i]].pattern(m, &full, &s));
    }
    set(m);
    for (int i = 0; i < 3; i++)
        CHECK_OK(m, problems[kernels[i]].matrix(m, s, values, 3 * MOST_ENTRIES));
    sparse_dense(s, &full, values, 1, 1, D);
    sparse_equal("together", D, want, n, n, 0, EPS);
    CHECK_REFUSED(m, problems[0].pattern(m, &full, &s), "another shape");

    /* the second half of the flags is that of the second field */
    bool fixed[3 * N + M] = {false};
    fixed[1] = fixed[3 * N + 2] = true;
    CHECK(tk_sparse_fix(s, values, tk_sparse_values(s), fixed, (size_t)n) == TK_OK);
    CHECK(tk_sparse_fix(s, values, tk_sparse_values(s), fixed, 3 * N) == TK_BAD_ARGUMENT);
    sparse_dense(s, &full, values, 1, 1, D);
    for (int k = 0; k < n * n; k++)
        if (fixed[k / n] || fixed[k % n])
            want[k] = k / n == k % n;
    sparse_equal("fixed", D, want, n, n, 0, EPS);
    tk_sparse_free(s);
}

/* An energy by two fields is one by a field that has both: so are projected matrices. */
static void projected(mod *m)
{
    static double values[2][MOST_ENTRIES];
    size_t n[2], changed[2];
    for (int i = 0; i < 2; i++) {
        const problem *p = &problems[i ? JOINED : ELASTIC];
        tk_sparse *s = NULL;
        set(m);
        CHECK_OK(m, p->pattern(m, NULL, &s));
        CHECK(tk_sparse_project(s, true) == TK_OK);
        memset(values[i], 0, sizeof values[i]);
        CHECK_OK(m, p->matrix(m, s, values[i], MOST_ENTRIES));
        n[i] = tk_sparse_values(s);
        changed[i] = tk_sparse_projected(s);
        tk_sparse_free(s);
    }
    CHECK(n[0] == n[1] && changed[0] == changed[1] && changed[0] > 0);
    for (size_t k = 0; k < n[0]; k++)
        CHECK_NEAR(values[0][k], values[1][k], EPS);
}

/* Vertices that the first field lacks are not those of the second one. */
static void outside(mod *m)
{
    static double values[MOST_ENTRIES];
    const bool debug = m->tk.desc->nsites > 0;
    tk_sparse *s = NULL;
    set(m);
    for (int k = 0; k < 2; k++) {
        m->ends.data[2][1] = k ? -1 : N;
        const char *text = k ? "takes element -1 of 'x', which has 5" : "takes element 5 of 'x', which has 5";
        CHECK(elastic_pattern(m, NULL, &s) != TK_OK && !s);
        CHECK(debug || strstr(sparse_fields_error(m), text));
        tk_session_clear_error(m->tk.session);
    }
    set(m);
    CHECK_OK(m, elastic_pattern(m, NULL, &s));
    m->ends.data[2][1] = 0; /* another vertex */
    if (debug)
        CHECK_STATUS(m, elastic_hess(m, s, values, MOST_ENTRIES), TK_BAD_STATE,
                     "call its function for the pattern again");
    tk_sparse_free(s);
}

/* A field of the columns without a gradient. */
static void no_gradient(mod *m)
{
    static double values[MOST_ENTRIES], D[MOST];
    const tk_sparse_options o = {.full = true};
    tk_sparse *s = NULL;
    set(m);
    CHECK_OK(m, sparse_fields_without_hess_pattern(m, &o, &s));
    CHECK_OK(m, sparse_fields_without_hess(m, s, values, MOST_ENTRIES));
    sparse_dense(s, &o, values, 1, 1, D);
    for (int i = 0; i < M; i++) {
        const int n = 3 * N + M, row = 3 * (i % 2) + 1, col = 3 * N + i;
        CHECK_NEAR(D[row * n + col], 2 * m->plain.data[i], EPS);
        CHECK_NEAR(D[col * n + col], 2 * m->x.data[i % 2][1], EPS);
    }
    CHECK_NEAR(m->x.grad[1][1],
               m->plain.data[1] * m->plain.data[1] + m->plain.data[3] * m->plain.data[3] +
                   m->plain.data[5] * m->plain.data[5],
               EPS);
    tk_sparse_free(s);
}

int main(void)
{
    mod *m = sparse_fields_create(NULL, NULL);
    static double want[MOST];
    for (int i = 0; i < PROBLEMS; i++) {
        const problem *p = &problems[i];
        by_products(m, p, want);
        layouts(m, p, want);
        if (p->hess)
            gradients(m, p);
        check(m, p);
    }
    together(m);
    projected(m);
    outside(m);
    no_gradient(m);
    sparse_fields_destroy(m);
    return failures != 0;
}
