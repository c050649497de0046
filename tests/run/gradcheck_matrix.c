#include "gradcheck_matrix.h"
#include "host.h"

#include <tkc/tkc_gen.h>

typedef gradcheck_matrix mod;

enum { MOST_ENTRIES = 400 };

static tk_sparse_options sparse_option(int number)
{
    return (tk_sparse_options){number & 1, number & 2, number & 4, number & 8};
}

/* What is added to one entry, and which is left out. */
typedef struct fault {
    int at, left_out;
    double by;
} fault;

static void plant(const fault *f, double *matrix)
{
    if (f->at >= 0)
        matrix[f->at] += f->by;
    if (f->left_out >= 0)
        matrix[f->left_out] = NAN;
}

/* ---- functions ---- */

static void results(void *user, const double *z, double *y)
{
    (void)user;
    gradcheck_matrix_step(z, z[3], y);
}

static void jacobian(void *user, const double *z, double *matrix)
{
    double y[2];
    gradcheck_matrix_step_jac(z, z[3], y, matrix, 4);
    plant(user, matrix);
}

static void along(void *user, const double *z, const double *dz, double *dy)
{
    double y[2];
    (void)user;
    gradcheck_matrix_step_jvp(z, dz, z[3], dz + 3, y, dy);
}

static const double weights[2] = {0.7, -1.3};

static void gradient(void *user, const double *z, double *g)
{
    (void)user;
    gradcheck_matrix_step_grad(z, z[3], NULL, weights, g, g + 3);
}

static void hessian(void *user, const double *z, double *matrix)
{
    gradcheck_matrix_step_hess(z, z[3], weights, NULL, NULL, matrix, 4);
    plant(user, matrix);
}

static void bent(void *user, const double *z, const double *dz, double *dg)
{
    double g[4] = {0};
    (void)user;
    gradcheck_matrix_step_hvp(z, dz, z[3], dz + 3, NULL, NULL, weights, NULL, g, dg, g + 3, dg + 3);
}

static void to_f32(const double *from, float *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (float)from[i];
}

static void to_f64(const float *from, double *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (double)from[i];
}

static void single_results(void *user, const double *z, double *y)
{
    float x[2], out[2];
    (void)user;
    to_f32(z, x, 2);
    gradcheck_matrix_single(x, out);
    to_f64(out, y, 2);
}

static void single_jacobian(void *user, const double *z, double *matrix)
{
    float x[2], jac[4];
    to_f32(z, x, 2);
    gradcheck_matrix_single_jac(x, NULL, jac, 2);
    to_f64(jac, matrix, 4);
    plant(user, matrix);
}

static void expect(int line, tk_status got, tk_status want, const char *text)
{
    if (got != want || (want != TK_OK && !strstr(tk_error(), text)))
        FAIL("line %d: %s '%s' instead of %s '%s'", line, tk_status_name(got), tk_error(), tk_status_name(want), text);
}
#define EXPECT(got, want, text) expect(__LINE__, got, want, text)

static void nothing(void *user, const double *z, double *numbers)
{
    (void)user, (void)z, (void)numbers;
}

static void functions(void)
{
    const double z[4] = {0.4, -0.7, 0.25, 1.1}; /* z[2] is at the kink */
    fault f = {-1, -1, 0};
    tk_gradcheck_result r;
    tk_matrix_function jac = {2, results, jacobian, along, false}, hess = {4, gradient, hessian, bent, false};
    EXPECT(tk_gradcheck_matrix(z, 4, &jac, &f, 0, &r), TK_OK, "");
    CHECK(r.compared == 8 && r.has_forward && r.kinks == 1 && !r.field);
    EXPECT(tk_gradcheck_matrix(z, 4, &hess, &f, 0, &r), TK_OK, "");
    CHECK(r.compared == 16);

    f = (fault){5, -1, 1e-8}; /* products see it, differences do not */
    EXPECT(tk_gradcheck_matrix(z, 4, &jac, &f, 0, &r), TK_WRONG_GRADIENT, "the entry in row 1, column 1 is ");
    CHECK(r.component == 5 && strstr(tk_error(), "by a product"));
    jac.product = NULL;
    EXPECT(tk_gradcheck_matrix(z, 4, &jac, &f, 0, &r), TK_OK, "");
    CHECK(!r.has_forward);
    for (int k = 0; k < 8; k++) {
        f = (fault){k, -1, k == 6 ? -2.0 : 0.01}; /* 6: between the slopes of the kink */
        EXPECT(tk_gradcheck_matrix(z, 4, &jac, &f, 0, &r), TK_WRONG_GRADIENT, "in the matrix, ");
        CHECK(r.component == k && !strstr(tk_error(), "product"));
        f = (fault){-1, k, 0};
        EXPECT(tk_gradcheck_matrix(z, 4, &jac, &f, 0, &r), TK_WRONG_GRADIENT, " is nan in the matrix");
        CHECK(r.component == k);
    }
    EXPECT(tk_gradcheck_matrix(z, 4, &jac, &f, 1e3, NULL), TK_WRONG_GRADIENT, "nan");
    f = (fault){7, -1, 0.01};
    EXPECT(tk_gradcheck_matrix(z, 4, &jac, &f, 0.5, NULL), TK_OK, "");
    EXPECT(tk_gradcheck_matrix(z, 4, &hess, &f, 0, &r), TK_WRONG_GRADIENT, "row 1, column 3");

    tk_matrix_function single = {2, single_results, single_jacobian, NULL, true};
    f = (fault){-1, -1, 0};
    EXPECT(tk_gradcheck_matrix(z, 2, &single, &f, 0, &r), TK_OK, "");
    f = (fault){2, -1, 0.1};
    EXPECT(tk_gradcheck_matrix(z, 2, &single, &f, 0, &r), TK_WRONG_GRADIENT, "row 1, column 0");

    EXPECT(tk_gradcheck_matrix(NULL, 4, &jac, &f, 0, NULL), TK_BAD_ARGUMENT, "the point, the function or its matrix");
    EXPECT(tk_gradcheck_matrix(z, 4, NULL, &f, 0, NULL), TK_BAD_ARGUMENT, "is NULL");
    EXPECT(tk_gradcheck_matrix(z, SIZE_MAX / 8, &jac, &f, 0, NULL), TK_NO_MEMORY, "out of memory for 2 rows");
    jac.matrix = NULL;
    EXPECT(tk_gradcheck_matrix(z, 4, &jac, &f, 0, NULL), TK_BAD_ARGUMENT, "is NULL");
    jac = (tk_matrix_function){0, nothing, nothing, NULL, false};
    f = (fault){-1, -1, 0};
    EXPECT(tk_gradcheck_matrix(NULL, 0, &jac, &f, 0, &r), TK_OK, "");
    CHECK(r.compared == 0);
}

/* ---- kernels ---- */

enum { C = 10, R = 8 };

static void set(mod *m)
{
    static const int ends[4][2] = {{0, 1}, {1, 3}, {3, 2}, {4, 2}};
    for (int i = 0; i < C; i++) {
        ((double *)m->x.data)[i] = sin(1.7 * i) + 0.2 * i;
        ((float *)m->u.data)[i] = (float)(cos(2.3 * i) + 0.3 * i);
    }
    memcpy(m->ends.data, ends, sizeof ends);
    *m->E.data = 0.5;
}

static void both(void *user)
{
    gradcheck_matrix_springs(user, 0.8);
    gradcheck_matrix_bends(user);
}

static void springs_alone(void *user)
{
    gradcheck_matrix_springs(user, 0.8);
}

static void residuals(void *user)
{
    gradcheck_matrix_residuals(user);
}

static void coarse(void *user)
{
    gradcheck_matrix_coarse(user);
}

/* The checked value is the only one that is wrong. */
static void each_value(mod *m, const tk_sparse *p, double *values, tk_field *of, tk_program_fn run, int64_t compared)
{
    tk_gradcheck_result r;
    double before[C];
    memcpy(before, m->x.data, sizeof before);
    CHECK_OK(m, tk_gradcheck_sparse(p, values, of, m->x.field, run, m, 0, &r));
    CHECK(r.compared == compared && r.field == m->x.field && memcmp(before, m->x.data, sizeof before) == 0);
    for (size_t i = 0; i < tk_sparse_values(p); i += 7) {
        values[i] += 0.01;
        CHECK_STATUS(m, tk_gradcheck_sparse(p, values, of, m->x.field, run, m, 0, &r), TK_WRONG_GRADIENT,
                     "in the matrix, ");
        values[i] -= 0.01;
    }
}

static void hessians(mod *m)
{
    double values[MOST_ENTRIES];
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *p = NULL;
        memset(values, 0, sizeof values);
        CHECK_OK(m, gradcheck_matrix_springs_hess_pattern(m, 0.8, &o, &p));
        CHECK_OK(m, gradcheck_matrix_bends_hess_pattern(m, NULL, &p));
        CHECK_OK(m, gradcheck_matrix_springs_hess(m, 0.8, p, values, tk_sparse_values(p)));
        CHECK_STATUS(m, tk_gradcheck_sparse(p, values, m->E.field, m->x.field, both, m, 0, NULL), TK_WRONG_GRADIENT,
                     "the entry of 'x[");
        CHECK_OK(m, gradcheck_matrix_bends_hess(m, p, values, tk_sparse_values(p)));
        each_value(m, p, values, m->E.field, both, C * C);
        tk_sparse_free(p);
    }
}

/* An entry that the pattern lacks. */
static void other_elements(mod *m)
{
    double values[MOST_ENTRIES] = {0};
    tk_sparse *p = NULL;
    tk_gradcheck_result r;
    CHECK_OK(m, gradcheck_matrix_springs_hess_pattern(m, 0.8, NULL, &p));
    CHECK_OK(m, gradcheck_matrix_springs_hess(m, 0.8, p, values, tk_sparse_values(p)));
    CHECK_OK(m, tk_gradcheck_sparse(p, values, m->E.field, m->x.field, springs_alone, m, 0, NULL));
    m->ends.data[0][1] = 4;
    CHECK_STATUS(m, tk_gradcheck_sparse(p, values, m->E.field, m->x.field, springs_alone, m, 0, &r), TK_WRONG_GRADIENT,
                 "the entry of 'x[");
    set(m);
    tk_sparse_free(p);
}

static void jacobians(mod *m)
{
    double values[MOST_ENTRIES];
    for (int k = 0; k < 16; k++) {
        const tk_sparse_options o = sparse_option(k);
        tk_sparse *p = NULL;
        tk_gradcheck_result r;
        memset(values, 0, sizeof values);
        CHECK_OK(m, gradcheck_matrix_residuals_jac_pattern(m, &o, &p));
        CHECK_OK(m, gradcheck_matrix_residuals_jac(m, p, values, tk_sparse_values(p)));
        each_value(m, p, values, m->r.field, residuals, R * C);
        CHECK_OK(m, tk_gradcheck_sparse(p, values, m->r.field, m->x.field, residuals, m, 0, &r));
        CHECK(r.has_forward);
        values[0] += 1e-8;
        CHECK_STATUS(m, tk_gradcheck_sparse(p, values, m->r.field, m->x.field, residuals, m, 0, &r), TK_WRONG_GRADIENT,
                     "by a product");
        tk_sparse_free(p);
    }
}

static void in_f32(mod *m)
{
    float values[MOST_ENTRIES] = {0};
    tk_sparse *p = NULL;
    CHECK_OK(m, gradcheck_matrix_coarse_hess_pattern(m, NULL, &p));
    CHECK_OK(m, gradcheck_matrix_coarse_hess(m, p, values, tk_sparse_values(p)));
    CHECK_OK(m, tk_gradcheck_sparse(p, values, m->F.field, m->u.field, coarse, m, 0, NULL));
    values[3] += 0.5f;
    CHECK_STATUS(m, tk_gradcheck_sparse(p, values, m->F.field, m->u.field, coarse, m, 0, NULL), TK_WRONG_GRADIENT,
                 "the entry of 'u[");
    tk_sparse_free(p);
}

static void stops(void *user)
{
    mod *m = user;
    m->ends.data[0][0] = 9;
    residuals(m);
}

static void misuse(mod *m)
{
    double values[MOST_ENTRIES] = {0};
    tk_sparse *p = NULL, *q = NULL;
    tk_field *const E = m->E.field, *const x = m->x.field;
    CHECK_OK(m, gradcheck_matrix_bends_hess_pattern(m, NULL, &p));
    CHECK_OK(m, gradcheck_matrix_residuals_jac_pattern(m, NULL, &q));
    CHECK(tk_gradcheck_sparse(p, values, NULL, x, both, m, 0, NULL) == TK_BAD_ARGUMENT);
    CHECK(tk_gradcheck_sparse(p, values, E, NULL, both, m, 0, NULL) == TK_BAD_ARGUMENT);
    CHECK_REFUSED(m, tk_gradcheck_sparse(NULL, values, E, x, both, m, 0, NULL), "the program are NULL");
    CHECK_REFUSED(m, tk_gradcheck_sparse(p, NULL, E, x, both, m, 0, NULL), "the program are NULL");
    CHECK_REFUSED(m, tk_gradcheck_sparse(p, values, E, x, NULL, m, 0, NULL), "the program are NULL");
    CHECK_REFUSED(m, tk_gradcheck_sparse(p, values, m->r.field, x, both, m, 0, NULL), "not one of 'r' by 'x'");
    CHECK_REFUSED(m, tk_gradcheck_sparse(q, values, E, x, both, m, 0, NULL), "not one of 'E' by 'x'");
    CHECK_REFUSED(m, tk_gradcheck_sparse(p, values, E, m->ends.field, both, m, 0, NULL), "not float fields");
    CHECK_STATUS(m, tk_gradcheck_sparse(p, values, E, m->plain.field, both, m, 0, NULL), TK_NO_DERIVATIVE,
                 "'plain' is not declared needs_grad");
    if (m->tk.desc->nsites > 0)
        CHECK_STATUS(m, tk_gradcheck_sparse(q, values, m->r.field, x, stops, m, 0, NULL), TK_BOUNDS, "");
    set(m);
    tk_sparse_free(p);
    tk_sparse_free(q);
}

/* Each allocation that fails is an error, and leaks nothing. */
static void no_memory(void)
{
    bool whole = false;
    for (int64_t at = 1; !whole && at < 2000; at++) {
        heap h = {0};
        tk_session *session = heap_session(&h);
        mod *m = gradcheck_matrix_create(session, NULL);
        double values[MOST_ENTRIES] = {0};
        tk_sparse *p = NULL;
        set(m);
        CHECK_OK(m, gradcheck_matrix_residuals_jac_pattern(m, NULL, &p));
        CHECK_OK(m, gradcheck_matrix_residuals_jac(m, p, values, tk_sparse_values(p)));
        h.fails_at = h.calls + at;
        const tk_status st = tk_gradcheck_sparse(p, values, m->r.field, m->x.field, residuals, m, 0, NULL);
        whole = st == TK_OK && h.calls < h.fails_at;
        CHECK(whole || st == TK_OK || st == TK_NO_MEMORY);
        tk_session_clear_error(session);
        tk_sparse_free(p);
        gradcheck_matrix_destroy(m);
        tk_session_destroy(session);
        CHECK(h.bytes == 0);
    }
    CHECK(whole);
}

int main(void)
{
    mod *m = gradcheck_matrix_create(NULL, NULL);
    if (!m)
        return 1;
    set(m);
    functions();
    hessians(m);
    other_elements(m);
    jacobians(m);
    in_f32(m);
    misuse(m);
    no_memory();
    gradcheck_matrix_destroy(m);
    return failures != 0;
}
