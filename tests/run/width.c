// threads: 1 2 4 7
// pieces: small
// module: width.tk --real=f64 --prefix=one -D K=1
/* Each column of tangents in several directions is that of a run with one, and the primal is the same. */
#include "one.h"
#include "width.h"
#include "host.h"

enum { K = 5, FIELDS = 12, N = 40, M = 6, KERNELS = 11 };

static double number(int i)
{
    return sin(12.9898 * i + 1.5) * 0.9;
}

/* The fields of one module with tangents, in one order. */
typedef struct all {
    tk_field *f[FIELDS];
} all;

#define ALL(o) \
    { \
        { \
            (o)->x.field, (o)->v.field, (o)->a.field, (o)->y.field, (o)->z.field, (o)->w.field, (o)->m.field, \
                (o)->h.field, (o)->scale.field, (o)->E.field, (o)->least.field, (o)->rows.field \
        } \
    }

static const int count[FIELDS] = {N, 3 * N, N *M, N, N, 3 * N, 4 * N, 7, 1, 1, 1, N};

static void set_data(tk_field *const *f)
{
    for (int k = 0; k < FIELDS; k++)
        for (int i = 0; i < count[k]; i++) {
            const double value = number(i + 1000 * k);
            tk_field_set(f[k], TK_DATA, i, 1, &value);
        }
}

static double seed(int k, int i, int d)
{
    return number(7 * i + 131 * k + 17 * d);
}

static void launch_wide(width *m, int kernel)
{
    switch (kernel) {
    case 0:
        width_straight_jvp(m, 1.25);
        return;
    case 1:
        width_branches_jvp(m);
        return;
    case 2:
        width_loops_jvp(m);
        return;
    case 3:
        width_arrays_jvp(m);
        return;
    case 4:
        width_totals_jvp(m);
        return;
    case 5:
        width_scatter_jvp(m);
        return;
    case 6:
        width_neighbours_jvp(m);
        return;
    case 7:
        width_per_row_jvp(m);
        return;
    case 8:
        width_shift_jvp(m);
        return;
    case 9:
        width_conditions_jvp(m);
        return;
    default:
        width_forget_jvp(m);
    }
}

static void launch_one(one *m, int kernel)
{
    switch (kernel) {
    case 0:
        one_straight_jvp(m, 1.25, NULL);
        return;
    case 1:
        one_branches_jvp(m);
        return;
    case 2:
        one_loops_jvp(m);
        return;
    case 3:
        one_arrays_jvp(m);
        return;
    case 4:
        one_totals_jvp(m);
        return;
    case 5:
        one_scatter_jvp(m);
        return;
    case 6:
        one_neighbours_jvp(m);
        return;
    case 7:
        one_per_row_jvp(m);
        return;
    case 8:
        one_shift_jvp(m);
        return;
    case 9:
        one_conditions_jvp(m);
        return;
    default:
        one_forget_jvp(m);
    }
}

static tk_field *tangents(tk_session *s, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "width.%s.dual", name);
    return tk_field_find(s, text);
}

static void begin(width *m)
{
    const all wide = ALL(m);
    set_data(wide.f);
    for (int k = 0; k < FIELDS; k++)
        for (int i = 0; i < count[k]; i++)
            for (int d = 0; d < K; d++) {
                const double value = seed(k, i, d);
                tk_field_set(tangents(m->tk.session, tk_field_name(wide.f[k])), TK_DATA, i * K + d, 1, &value);
            }
    for (int i = 0; i < N; i++) {
        m->kind.data[i] = i * 7 % 5 - 1;
        m->q.data[i] = (float)number(i);
        for (int d = 0; d < K; d++)
            m->q.dual[i][d] = (float)number(i * d);
    }
}

static void check_kernel(width *m, one *o, int kernel)
{
    const all wide = ALL(m), narrow = ALL(o);
    begin(m);
    launch_wide(m, kernel);
    for (int d = 0; d < K; d++) {
        set_data(narrow.f);
        for (int k = 0; k < FIELDS; k++)
            for (int i = 0; i < count[k]; i++) {
                const double value = seed(k, i, d);
                tk_field_set(narrow.f[k], TK_DUAL, i, 1, &value);
            }
        for (int i = 0; i < N; i++) {
            o->kind.data[i] = m->kind.data[i];
            o->q.data[i] = (float)number(i);
            o->q.dual[i] = (float)number(i * d);
        }
        launch_one(o, kernel);
        for (int k = 0; k < FIELDS; k++)
            for (int i = 0; i < count[k]; i++) {
                double got, want, value, same;
                tk_field_get(tangents(m->tk.session, tk_field_name(wide.f[k])), TK_DATA, i * K + d, 1, &got);
                tk_field_get(narrow.f[k], TK_DUAL, i, 1, &want);
                if (!near(got, want, 1e-14))
                    FAIL("kernel %d: %s.dual[%d], direction %d: %.17g, not %.17g", kernel, tk_field_name(wide.f[k]), i,
                         d, got, want);
                tk_field_get(wide.f[k], TK_DATA, i, 1, &value);
                tk_field_get(narrow.f[k], TK_DATA, i, 1, &same);
                if (!near(value, same, 1e-14))
                    FAIL("kernel %d: %s[%d] is %.17g, not %.17g", kernel, tk_field_name(wide.f[k]), i, value, same);
            }
        for (int i = 0; i < N; i++) {
            CHECK_NEAR(m->q.dual[i][d], o->q.dual[i], 1e-6);
            CHECK_NEAR(m->q.data[i], o->q.data[i], 1e-6);
        }
    }
    CHECK(width_status(m) == TK_OK && one_status(o) == TK_OK);
}

/* The tangents have the same bits for any number of threads; those of scatters in a deterministic session. */
static void check_threads(width *m, const width *with, int kernel)
{
    const all one_thread = ALL(m);
    for (int k = 0; k < FIELDS; k++)
        for (int i = 0; i < count[k] * K; i++) {
            const char *name = tk_field_name(one_thread.f[k]);
            double got, want;
            tk_field_get(tangents(m->tk.session, name), TK_DATA, i, 1, &want);
            tk_field_get(tangents(with->tk.session, name), TK_DATA, i, 1, &got);
            if (memcmp(&got, &want, sizeof got))
                FAIL("kernel %d, %d threads: %s: %.17g, not %.17g", kernel, tk_session_threads(with->tk.session), name,
                     got, want);
        }
}

static void check_clear(width *m)
{
    begin(m);
    CHECK_OK(m, tk_field_clear_dual(m->v.field));
    CHECK(m->v.dual[3][1][2] == 0 && m->x.dual[3][2] != 0);
    CHECK_OK(m, tk_module_clear_dual(&m->tk));
    CHECK(m->x.dual[3][2] == 0 && m->E.dual[0][4] == 0);
}

/* A scope seeds one field, in all directions, and launches of kernels are their JVPs. */
static void check_scope(width *m)
{
    static double all_seeds[N * K], few[N];
    for (int i = 0; i < N * K; i++)
        all_seeds[i] = number(i);
    begin(m);
    CHECK_STATUS(m, width_forward_x(m, &m->y.field, 1, few, N), TK_BAD_ARGUMENT, "200 are needed");
    CHECK_STATUS(m, width_forward_E(m, &m->y.field, 1, NULL, 0), TK_BAD_ARGUMENT, "several directions");
    CHECK_OK(m, width_forward_x(m, &m->y.field, 1, all_seeds, N * K));
    CHECK(m->v.dual[0][0][0] == 0 && m->x.dual[2][1] == number(2 * K + 1));
    CHECK_OK(m, width_straight(m, 1.25));
    for (int i = 0; i < N; i++) {
        const double x = number(i), p = sin(x) * 1.25 + m->v.data[1][i] * m->v.data[0][i];
        for (int d = 0; d < K; d++)
            CHECK_NEAR(m->y.dual[i][d], 2 * p * cos(x) * 1.25 * number(i * K + d), 1e-13);
    }
    CHECK_OK(m, tk_forward_end(m->tk.session));
    CHECK(m->x.dual[2][1] == 0 && m->y.dual[2][1] != 0);
}

int main(void)
{
    width *m = width_create(NULL, NULL);
    one *o = one_create(NULL, NULL);
    CHECK(m && o);
    for (int kernel = 0; m && o && kernel < KERNELS; kernel++)
        check_kernel(m, o, kernel);
    for (int threads = 1; m && threads <= 7; threads++) {
        const tk_session_options options = {.threads = threads, .deterministic = true};
        tk_session *s = tk_session_create(&options);
        width *with = width_create(s, NULL);
        tk_session_destroy(s);
        for (int kernel = 0; kernel < KERNELS; kernel++) {
            begin(with);
            launch_wide(with, kernel);
            begin(m);
            launch_wide(m, kernel);
            if (kernel != 5 && kernel != 6)
                check_threads(m, with, kernel);
        }
        width_destroy(with);
    }
    check_clear(m);
    check_scope(m);
    width_destroy(m);
    one_destroy(o);
    return failures != 0;
}
