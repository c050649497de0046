#include "sparse_hessian.h"
#include "sparse.h"

#include <tkc/tkc_gen.h>

enum { N = 14, NU = 18, MOST_ROWS = 18, T = 6 };

typedef sparse_hessian mod;
typedef tk_status (*pattern_fn)(mod *m, const tk_sparse_options *o, tk_sparse **p);
typedef tk_status (*sweep_fn)(mod *m, tk_sparse *p, double *values, size_t n);
typedef tk_status (*plain_fn)(mod *m);

static const int triangles[T][3] = {{0, 1, 2}, {2, 1, 3}, {3, 2, 4}, {6, 5, 4}, {0, 6, 3}, {5, 1, 5}};

static void set(mod *m)
{
    memcpy(m->tri.data, triangles, sizeof triangles);
    for (int i = 0; i < T; i++)
        m->stiff.data[i] = 0.6 + 0.2 * i;
    for (int i = 0; i < N; i++)
        ((double *)m->x.data)[i] = sin(1.7 * i) + 0.1 * i;
    for (int i = 0; i < NU; i++)
        m->u.data[i] = cos(2.3 * i);
    *m->many.data = 4;
    *m->E.data = 0.25;
}

/* ---- kernels without arguments of their own ---- */

static tk_status elastic_pattern(mod *m, const tk_sparse_options *o, tk_sparse **p)
{
    return sparse_hessian_elastic_hess_pattern(m, 0.7, o, p);
}
static tk_status elastic_hess(mod *m, tk_sparse *p, double *values, size_t n)
{
    return sparse_hessian_elastic_hess(m, 0.7, p, values, n);
}
static tk_status elastic_grad(mod *m)
{
    return sparse_hessian_elastic_grad(m, 0.7);
}
static tk_status elastic_hvp(mod *m)
{
    return sparse_hessian_elastic_hvp(m, 0.7, NULL);
}
static tk_status ties_pattern(mod *m, const tk_sparse_options *o, tk_sparse **p)
{
    return sparse_hessian_ties_hess_pattern(m, 1.3, o, p);
}
static tk_status ties_hess(mod *m, tk_sparse *p, double *values, size_t n)
{
    return sparse_hessian_ties_hess(m, 1.3, p, values, n);
}
static tk_status ties_grad(mod *m)
{
    return sparse_hessian_ties_grad(m, 1.3);
}
static tk_status ties_hvp(mod *m)
{
    return sparse_hessian_ties_hvp(m, 1.3, NULL);
}

static tk_status custom_grad(mod *m)
{
    return sparse_hessian_custom_grad(m);
}
static tk_status custom_hvp(mod *m)
{
    return sparse_hessian_custom_hvp(m);
}
static tk_status membrane_grad(mod *m)
{
    return sparse_hessian_membrane_grad(m);
}
static tk_status membrane_hvp(mod *m)
{
    return sparse_hessian_membrane_hvp(m);
}

typedef struct problem {
    const char *name;
    pattern_fn pattern;
    sweep_fn hess;
    plain_fn grad, hvp;
    int n, block;
    double *x, *g, *dx, *dg, *one;
} problem;

/* ---- references ---- */

static void gradient(mod *m, const problem *p, double *g)
{
    memset(p->g, 0, sizeof(double) * (size_t)p->n);
    *p->one = 1;
    CHECK_OK(m, p->grad(m));
    memcpy(g, p->g, sizeof(double) * (size_t)p->n);
}

static void by_products(mod *m, const problem *p, double *D)
{
    for (int j = 0; j < p->n; j++) {
        memset(p->dx, 0, sizeof(double) * (size_t)p->n);
        memset(p->dg, 0, sizeof(double) * (size_t)p->n);
        p->dx[j] = 1;
        *p->one = 1;
        CHECK_OK(m, p->hvp(m));
        for (int i = 0; i < p->n; i++)
            D[i * p->n + j] = p->dg[i];
    }
}

static void by_differences(mod *m, const problem *p, double *D)
{
    double more[MOST_ROWS], less[MOST_ROWS];
    const double h = 1e-5;
    for (int j = 0; j < p->n; j++) {
        const double at = p->x[j];
        p->x[j] = at + h;
        gradient(m, p, more);
        p->x[j] = at - h;
        gradient(m, p, less);
        p->x[j] = at;
        for (int i = 0; i < p->n; i++)
            D[i * p->n + j] = (more[i] - less[i]) / (2 * h);
    }
}

/* ---- each layout of each matrix ---- */

static void layouts(mod *m, const problem *p)
{
    double want[MOST_ROWS * MOST_ROWS], differences[MOST_ROWS * MOST_ROWS], g[MOST_ROWS],
        D[MOST_ROWS * MOST_ROWS], values[MOST_ENTRIES];
    by_products(m, p, want);
    by_differences(m, p, differences);
    gradient(m, p, g);
    for (int i = 0; i < p->n * p->n; i++)
        CHECK_NEAR(want[i], differences[i], 1e-7);
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        CHECK_OK(m, p->pattern(m, &o, &s));
        sparse_form(s, &o, (size_t)p->n, (size_t)p->n, p->block, p->block);
        memset(values, 0, sizeof values);
        memset(p->g, 0, sizeof(double) * (size_t)p->n);
        const size_t n = tk_sparse_values(s);
        values[n] = -7;
        CHECK_OK(m, p->hess(m, s, values, n));
        for (int i = 0; i < p->n; i++)
            CHECK_NEAR(p->g[i], g[i], 1e-12);
        sparse_dense(s, &o, values, p->block, p->block, D);
        const int lower = o.full ? 0 : o.blocks ? p->block : 1;
        sparse_equal(p->name, D, want, p->n, p->n, lower, 1e-12);
        /* a second time: the values are added */
        CHECK_OK(m, p->hess(m, s, values, n));
        sparse_dense(s, &o, values, p->block, p->block, D);
        for (int i = 0; i < p->n * p->n; i++)
            D[i] /= 2;
        sparse_equal(p->name, D, want, p->n, p->n, lower, 1e-12);
        CHECK(values[n] == -7);
        CHECK_REFUSED(m, p->hess(m, s, values, n - 1), "values, and the array");
        tk_sparse_free(s);
    }
}

/* ---- two kernels ---- */

static void together(mod *m, const problem *a, const problem *b)
{
    double want[N * N], more[N * N], D[N * N], values[MOST_ENTRIES];
    by_products(m, a, want);
    by_products(m, b, more);
    for (int i = 0; i < N * N; i++)
        want[i] += more[i];
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        memset(values, 0, sizeof values);
        CHECK_OK(m, a->pattern(m, &o, &s));
        CHECK_STATUS(m, b->hess(m, s, values, MOST_ENTRIES), TK_BAD_STATE, "the pattern is not one of 'ties'");
        const size_t alone = tk_sparse_values(s);
        CHECK_OK(m, b->pattern(m, k % 2 ? &o : NULL, &s));
        CHECK(tk_sparse_values(s) > alone);
        CHECK_OK(m, a->hess(m, s, values, tk_sparse_values(s)));
        CHECK_OK(m, b->hess(m, s, values, tk_sparse_values(s)));
        sparse_dense(s, &o, values, 2, 2, D);
        sparse_equal("both", D, want, N, N, o.full ? 0 : o.blocks ? 2 : 1, 1e-12);
        const tk_sparse_options other = sparse_option(k ^ 2);
        CHECK_REFUSED(m, a->pattern(m, &other, &s), "another shape or layout");
        CHECK_REFUSED(m, sparse_hessian_membrane_hess_pattern(m, NULL, &s), "another shape or layout");
        tk_sparse_free(s);
    }
}

/* ---- gradients of fields with another layout ---- */

static void layouts_of_fields(mod *m)
{
    static double wide[N / 2][2][3], wide_grad[N / 2][2][3]; /* the module holds them */
    double want[3 * N], values[MOST_ENTRIES] = {0};
    const int64_t step = sizeof wide[0];
    CHECK_OK(m, sparse_hessian_bind_w_strided(m, &wide[0][1], &step, &wide_grad[0][1], &step));
    for (int i = 0; i < N / 2; i++)
        for (int c = 0; c < 3; c++) {
            const double v[] = {sin(i + 3 * c), cos(2 * i - c)};
            CHECK_OK(m, tk_field_set(m->w.field, TK_DATA, 3 * i + c, 1, v));
            if (c < 2)
                CHECK_OK(m, tk_field_set(m->z.field, TK_DATA, 2 * i + c, 1, v + 1));
        }
    for (int k = 0; k < 2; k++) {
        const tk_field *f = k ? m->w.field : m->z.field;
        const int n = (k ? 3 : 2) * N / 2;
        double g[3 * N];
        *m->E.grad = 1;
        CHECK_OK(m, k ? sparse_hessian_strided_grad(m, 1.7) : sparse_hessian_apart_grad(m, 1.7));
        CHECK_OK(m, tk_field_get(f, TK_GRAD, 0, n, want));
        tk_field_clear_grad((tk_field *)f);
        tk_sparse *s = NULL;
        CHECK_OK(m, k ? sparse_hessian_strided_hess_pattern(m, 1.7, NULL, &s)
                      : sparse_hessian_apart_hess_pattern(m, 1.7, NULL, &s));
        CHECK_OK(m, k ? sparse_hessian_strided_hess(m, 1.7, s, values, MOST_ENTRIES)
                      : sparse_hessian_apart_hess(m, 1.7, s, values, MOST_ENTRIES));
        CHECK_OK(m, tk_field_get(f, TK_GRAD, 0, n, g));
        for (int i = 0; i < n; i++)
            CHECK_NEAR(g[i], want[i], 1e-13);
        tk_sparse_free(s);
    }
}

/* ---- misuse ---- */

static void misuse(mod *m, const problem *p)
{
    double values[MOST_ENTRIES];
    tk_sparse *s = NULL;
    CHECK_REFUSED(m, p->pattern(m, NULL, NULL), "the place for it is NULL");
    CHECK(p->pattern(NULL, NULL, &s) == TK_BAD_ARGUMENT && !s);
    CHECK_REFUSED(m, p->hess(m, NULL, values, MOST_ENTRIES), "the pattern is NULL");
    CHECK_OK(m, p->pattern(m, NULL, &s));
    CHECK_REFUSED(m, p->hess(m, s, NULL, MOST_ENTRIES), "the array of values is NULL");
    CHECK(p->hess(NULL, s, values, MOST_ENTRIES) == TK_BAD_ARGUMENT);
    tk_sparse_free(s);
    tk_sparse_free(NULL);
    CHECK(!tk_sparse_rows(NULL) && !tk_sparse_cols(NULL) && !tk_sparse_values(NULL));
    CHECK(!tk_sparse_starts(NULL) && !tk_sparse_indices(NULL) && !tk_sparse_starts_wide(NULL) &&
          !tk_sparse_indices_wide(NULL));
}

/* A vertex that the field has not: refused, and the values in front of the array and behind it are untouched. */
static void outside(mod *m, const problem *p)
{
    tk_sparse *s = NULL;
    const bool debug = m->tk.desc->nsites > 0;
    m->tri.data[2][1] = 7;
    const tk_status st = p->pattern(m, NULL, &s);
    CHECK(st != TK_OK && !s);
    CHECK(debug || strstr(sparse_hessian_error(m), "iteration 2 of kernel 'elastic' takes element 7 of 'x', which has 7"));
    tk_session_clear_error(m->tk.session);
    set(m);
}

/* Tapes and forward scopes refuse both functions, and say which. */
static void differentiated(mod *m, const problem *p)
{
    double values[MOST_ENTRIES] = {0}, seed[N] = {1};
    tk_field *const outputs[] = {m->E.field};
    tk_sparse *s = NULL;
    CHECK_OK(m, p->pattern(m, NULL, &s));
    for (int k = 0; k < 4; k++) {
        tk_sparse *more = NULL;
        CHECK((k & 1 ? tk_forward_begin(outputs, 1, m->x.field, seed, N) : tk_tape_begin(m->E.field, 0)) == TK_OK);
        if (k < 2)
            CHECK_STATUS(m, p->pattern(m, NULL, &more), TK_NO_DERIVATIVE, "kernel 'elastic_hess_pattern' of module");
        else
            CHECK_STATUS(m, p->hess(m, s, values, MOST_ENTRIES), TK_NO_DERIVATIVE,
                         k & 1 ? "which the open forward scope needs: call 'elastic_hess' before or after"
                               : "which the open tape needs: call 'elastic_hess' before or after");
        if (k & 1)
            tk_forward_end(m->tk.session);
        else
            tk_tape_drop(m->tk.session);
        tk_session_clear_error(m->tk.session);
        CHECK(!more && values[0] == 0);
    }
    tk_sparse_free(s);
    set(m);
}

/* Other elements than those of the pattern. */
static void changed(mod *m, const problem *elastic, const problem *ties)
{
    const bool debug = m->tk.desc->nsites > 0;
    double before[MOST_ENTRIES + 1] = {0}, want[N * N], D[N * N], *values = before + 1;
    const tk_sparse_options full = {.full = true};
    tk_sparse *s = NULL;
    CHECK_OK(m, elastic->pattern(m, &full, &s));
    CHECK_OK(m, ties->pattern(m, NULL, &s));
    const size_t n = tk_sparse_values(s);
    before[0] = values[n] = -7;
    m->tri.data[0][2] = 4;
    CHECK_STATUS(m, elastic->hess(m, s, values, n), debug ? TK_BAD_STATE : TK_OK,
                 debug ? "the elements of 'elastic' are not those of the pattern" : "");
    for (size_t i = 0; i < n && debug; i++)
        CHECK(values[i] == 0);
    static const int counts[] = {3, 4, 5, 0};
    for (int k = 0; k < 4; k++) {
        *m->many.data = counts[k];
        const bool other = counts[k] != 4;
        memset(values, 0, sizeof *values * n);
        CHECK_STATUS(m, ties->hess(m, s, values, n), other ? TK_BAD_STATE : TK_OK,
                     other ? "the elements of 'ties' are not those of the pattern" : "");
    }
    CHECK(before[0] == -7 && values[n] == -7);
    /* the pattern anew */
    *m->many.data = 2;
    CHECK_OK(m, elastic->pattern(m, NULL, &s));
    CHECK_OK(m, ties->pattern(m, NULL, &s));
    memset(values, 0, sizeof before - sizeof *before);
    by_products(m, elastic, want);
    CHECK_OK(m, elastic->hess(m, s, values, tk_sparse_values(s)));
    sparse_dense(s, &full, values, 2, 2, D);
    sparse_equal("changed", D, want, N, N, 0, 1e-12);
    tk_sparse_free(s);
    set(m);
}

/* Any other vertices: without --debug they are added where the pattern has its own, and nowhere else. */
static void hostile(mod *m, const problem *elastic)
{
    const bool debug = m->tk.desc->nsites > 0;
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *s = NULL;
        CHECK_OK(m, elastic->pattern(m, &o, &s));
        const size_t n = tk_sparse_values(s);
        double *values = malloc(n * sizeof *values); /* sanitizers see what is next to it */
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 3 * T; i++)
                ((int32_t *)m->tri.data)[i] = round < 7 ? round : (round * 37 + i * i * 11 + i) % 7;
            memset(values, 0, n * sizeof *values);
            CHECK_STATUS(m, elastic->hess(m, s, values, n), debug ? TK_BAD_STATE : TK_OK,
                         debug ? "the elements of 'elastic' are not those of the pattern" : "");
            for (size_t i = 0; i < n; i++)
                CHECK(!debug || values[i] == 0);
        }
        free(values);
        tk_sparse_free(s);
        set(m);
    }
}

/* A short array, or another number of elements: nothing is written. */
static void nothing_written(mod *m, const problem *elastic, const problem *ties)
{
    double values[MOST_ENTRIES];
    tk_sparse *s = NULL;
    CHECK_OK(m, elastic->pattern(m, NULL, &s));
    CHECK_OK(m, ties->pattern(m, NULL, &s));
    for (int i = 0; i < MOST_ENTRIES; i++)
        values[i] = 3;
    memset(elastic->g, 0, sizeof(double) * N);
    const double energy = *m->E.data;
    CHECK_REFUSED(m, elastic->hess(m, s, values, tk_sparse_values(s) - 1), "values, and the array");
    *m->many.data = 3;
    CHECK_STATUS(m, ties->hess(m, s, values, MOST_ENTRIES), TK_BAD_STATE, "the elements of 'ties' are not those");
    for (int i = 0; i < MOST_ENTRIES; i++)
        CHECK(values[i] == 3);
    for (int i = 0; i < N; i++)
        CHECK(elastic->g[i] == 0);
    CHECK(*m->E.data == energy);
    tk_sparse_free(s);
    set(m);
}

/* ---- threads ---- */

/* Matrix, gradient and energy have the same bits for any number of threads. */
static void same_bits(void)
{
    static const int threads[] = {1, 2, 3, 7, 1};
    double first[3][MOST_ENTRIES], values[MOST_ENTRIES];
    for (int layout = 0; layout < 16; layout++)
        for (int k = 0; k < 5; k++) {
            tk_session_options o = tk_session_defaults();
            o.deterministic = k == 4;
            o.threads = threads[k];
            tk_session *session = tk_session_create(&o);
            mod *m = sparse_hessian_create(session, NULL);
            set(m);
            tk_sparse *s = NULL;
            const tk_sparse_options form = sparse_option(layout);
            memset(values, 0, sizeof values);
            CHECK_OK(m, elastic_pattern(m, &form, &s));
            CHECK_OK(m, elastic_hess(m, s, values, tk_sparse_values(s)));
            double *const all[] = {values, (double *)m->x.grad, m->E.data};
            const size_t bytes[] = {sizeof values, sizeof(double) * N, sizeof(double)};
            for (int i = 0; i < 3; i++) {
                if (k == 0)
                    memcpy(first[i], all[i], bytes[i]);
                CHECK(memcmp(first[i], all[i], bytes[i]) == 0);
            }
            tk_sparse_free(s);
            sparse_hessian_destroy(m);
            tk_session_destroy(session);
        }
}

/* Each allocation that fails is an error, and leaks nothing. */
static void no_memory(void)
{
    double values[MOST_ENTRIES] = {0};
    const tk_sparse_options o = {true, true, false, true};
    bool whole = false;
    for (int64_t at = 1; !whole && at < 200; at++) {
        heap h = {0};
        tk_session *session = heap_session(&h);
        mod *m = sparse_hessian_create(session, NULL);
        set(m);
        tk_sparse *s = NULL;
        h.fails_at = h.calls + at;
        tk_status st = elastic_pattern(m, &o, &s);
        CHECK((st == TK_OK) == (s != NULL));
        if (st == TK_OK)
            st = ties_pattern(m, NULL, &s);
        if (st == TK_OK)
            st = elastic_hess(m, s, values, tk_sparse_values(s));
        whole = st == TK_OK && h.calls < h.fails_at;
        CHECK(whole || st == TK_OK || st == TK_NO_MEMORY);
        tk_session_clear_error(session);
        tk_sparse_free(s);
        sparse_hessian_destroy(m);
        tk_session_destroy(session);
        CHECK(h.bytes == 0);
    }
    CHECK(whole);
}

int main(void)
{
    mod *m = sparse_hessian_create(NULL, NULL);
    set(m);
    double *const x = (double *)m->x.data, *const dx = (double *)m->x.dual, *const g = (double *)m->x.grad,
                  *const dg = (double *)m->x.grad_dual;
    const problem elastic = {"elastic", elastic_pattern, elastic_hess, elastic_grad, elastic_hvp, N, 2, x, g, dx, dg, m->E.grad};
    const problem ties = {"ties", ties_pattern, ties_hess, ties_grad, ties_hvp, N, 2, x, g, dx, dg, m->E.grad};
    const problem membrane = {"membrane", sparse_hessian_membrane_hess_pattern, sparse_hessian_membrane_hess,
                              membrane_grad, membrane_hvp, NU, 1, m->u.data, m->u.grad, m->u.dual, m->u.grad_dual, m->F.grad};
    const problem custom = {"custom", sparse_hessian_custom_hess_pattern, sparse_hessian_custom_hess, custom_grad, custom_hvp,
                            N, 2, x, g, dx, dg, m->E.grad};
    layouts(m, &custom);
    layouts(m, &elastic);
    layouts(m, &ties);
    layouts(m, &membrane);
    together(m, &elastic, &ties);
    layouts_of_fields(m);
    misuse(m, &elastic);
    outside(m, &elastic);
    differentiated(m, &elastic);
    changed(m, &elastic, &ties);
    hostile(m, &elastic);
    nothing_written(m, &elastic, &ties);
    same_bits();
    no_memory();

    /* the kernel's own value */
    double values[MOST_ENTRIES] = {0}, energy;
    tk_sparse *s = NULL;
    *m->E.data = 0.25;
    CHECK_OK(m, sparse_hessian_elastic(m, 0.7));
    energy = *m->E.data;
    *m->E.data = 0.25;
    CHECK_OK(m, elastic_pattern(m, NULL, &s));
    CHECK(*m->E.data == 0.25);
    CHECK_OK(m, elastic_hess(m, s, values, MOST_ENTRIES));
    CHECK_NEAR(*m->E.data, energy, 1e-14);
    tk_sparse_free(s);
    sparse_hessian_destroy(m);
    return failures != 0;
}
