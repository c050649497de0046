// threads: 1 2 4 7
// pieces: small
// module: width_grad.tk --real=f64 --prefix=one -D K=1
/* Gradients in several directions: each column is that of a run with one, follows differences, and is the transpose of
 * what tangents in several directions give. */
#include "one.h"
#include "width_grad.h"
#include "host.h"

enum { K = 5, FIELDS = 14, N = 40, M = 6, MOST = N * M, Q = 12, LOW = 13 };

static double number(int i)
{
    return sin(12.9898 * i + 1.5) * 0.9;
}

/* The fields with gradients, in one order; the last has no tangents. */
typedef struct all {
    tk_field *f[FIELDS];
} all;

#define ALL(o) \
    { \
        { \
            (o)->x.field, (o)->v.field, (o)->a.field, (o)->y.field, (o)->z.field, (o)->w.field, (o)->m.field, \
                (o)->h.field, (o)->scale.field, (o)->E.field, (o)->least.field, (o)->kept.field, (o)->q.field, \
                (o)->low.field \
        } \
    }

static const int count[FIELDS] = {N, 3 * N, N *M, N, N, 3 * N, 4 * N, 7, 1, 1, 1, N, N, 7};

enum { KERNELS = 14 };

typedef tk_status launch_wide(width_grad *);
typedef tk_status launch_one(one *);
typedef struct kernel {
    const char *name;
    launch_wide *run, *grad, *jvp;
    launch_one *one_run, *one_grad;
} kernel;

static tk_status straight(width_grad *m)
{
    return width_grad_straight(m, 1.25);
}
static tk_status straight_grad(width_grad *m)
{
    return width_grad_straight_grad(m, 1.25);
}
static tk_status straight_jvp(width_grad *m)
{
    return width_grad_straight_jvp(m, 1.25);
}
static tk_status one_straight_(one *m)
{
    return one_straight(m, 1.25);
}
static tk_status one_straight_grad_(one *m)
{
    return one_straight_grad(m, 1.25);
}

#define KERNEL(k) \
    { \
#k, width_grad_##k, width_grad_##k##_grad, width_grad_##k##_jvp, one_##k, one_##k##_grad \
    }
static const kernel kernels[KERNELS] = {
    {"straight", straight, straight_grad, straight_jvp, one_straight_, one_straight_grad_},
    KERNEL(branches),
    KERNEL(loops),
    KERNEL(arrays),
    KERNEL(totals),
    KERNEL(scatter),
    KERNEL(neighbours),
    KERNEL(shift),
    KERNEL(per_row),
    KERNEL(stepped),
    KERNEL(through),
    KERNEL(gradients),
    {"picked", width_grad_picked, width_grad_picked_grad, NULL, one_picked, one_picked_grad},
    KERNEL(forget),
};

/* Of the field in the place of a plane: of component i in direction d. */
static tk_field *wide(tk_field *f, tk_session *s, const char *plane)
{
    char text[64];
    snprintf(text, sizeof text, "width_grad.%s.%s", tk_field_name(f), plane);
    return tk_field_find(s, text);
}

static double get(tk_field *f, tk_plane plane, int i)
{
    double value = NAN;
    tk_field_get(f, plane, i, 1, &value);
    return value;
}

static void set(tk_field *f, tk_plane plane, int i, double value)
{
    tk_field_set(f, plane, i, 1, &value);
}

static double data(int f, int i)
{
    return number(i + 1000 * f);
}
/* Exact in f32, for the gradient of q. */
static double seed(int f, int i, int d)
{
    return (float)number(7 * i + 131 * f + 17 * d);
}
static double along(int f, int i)
{
    return (float)number(3 * i + 57 * f + 11);
}

/* The data, moved by t along `along`. */
static void set_data(tk_field *const *f, double t)
{
    for (int k = 0; k < FIELDS; k++)
        for (int i = 0; i < count[k]; i++)
            set(f[k], TK_DATA, i, k == LOW ? 9.0 : data(k, i) + t * along(k, i));
}

static void begin(width_grad *m, double t)
{
    const all fields = ALL(m);
    set_data(fields.f, t);
    for (int i = 0; i < N; i++)
        m->kind.data[i] = i * 7 % 5 - 1;
}

/* q: 0 leaves out the seeds of the field in f32, whose differences are rounded. */
static void set_seeds(width_grad *m, double q)
{
    const all fields = ALL(m);
    tk_module_clear_grad(&m->tk);
    for (int k = 0; k < FIELDS; k++)
        for (int i = 0; i < count[k] * K; i++)
            set(wide(fields.f[k], m->tk.session, "grad"), TK_DATA, i, (k == Q ? q : 1) * seed(k, i / K, i % K));
}

/* Launches the kernel, and its adjoint with all seeds at once. */
static void run(width_grad *m, const kernel *k, double q)
{
    begin(m, 0);
    CHECK_OK(m, k->run(m));
    set_seeds(m, q);
    CHECK_OK(m, k->grad(m));
}

static void check_columns(width_grad *m, one *o, const kernel *k)
{
    const all fields = ALL(m), narrow = ALL(o);
    run(m, k, 1);
    for (int d = 0; d < K; d++) {
        set_data(narrow.f, 0);
        for (int i = 0; i < N; i++)
            o->kind.data[i] = m->kind.data[i];
        CHECK_OK(o, k->one_run(o));
        for (int f = 0; f < FIELDS; f++)
            for (int i = 0; i < count[f]; i++)
                set(narrow.f[f], TK_GRAD, i, seed(f, i, d));
        CHECK_OK(o, k->one_grad(o));
        for (int f = 0; f < FIELDS; f++)
            for (int i = 0; i < count[f]; i++) {
                const double got = get(wide(fields.f[f], m->tk.session, "grad"), TK_DATA, i * K + d),
                             want = get(narrow.f[f], TK_GRAD, i);
                if (!near(got, want, 1e-13))
                    FAIL("%s: %s.grad[%d], direction %d: %.17g, not %.17g", k->name, tk_field_name(fields.f[f]), i, d,
                         got, want);
                if (!near(get(fields.f[f], TK_DATA, i), get(narrow.f[f], TK_DATA, i), 1e-13))
                    FAIL("%s: %s[%d] differs", k->name, tk_field_name(fields.f[f]), i);
            }
    }
}

/* The data behind a launch from what stands t along the direction. */
static void launch_at(width_grad *m, const kernel *k, double t, double out[FIELDS][MOST])
{
    const all fields = ALL(m);
    begin(m, t);
    CHECK_OK(m, k->run(m));
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < count[f]; i++)
            out[f][i] = get(fields.f[f], TK_DATA, i);
}

/* In each direction the seeds times the change of what comes out are the gradients times that of what goes in. */
static void check_slopes(width_grad *m, const kernel *k)
{
    static double up[FIELDS][MOST], down[FIELDS][MOST];
    const all fields = ALL(m);
    const double step = 1e-5;
    double by_gradient[K] = {0}, by_tangent[K] = {0}, by_difference[K] = {0};
    launch_at(m, k, step, up);
    launch_at(m, k, -step, down);
    run(m, k, 0);
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < count[f] * K && f != Q; i++) {
            const double g = get(wide(fields.f[f], m->tk.session, "grad"), TK_DATA, i);
            by_gradient[i % K] += f == LOW ? 0 : g * along(f, i / K);
            by_difference[i % K] += seed(f, i / K, i % K) * (up[f][i / K] - down[f][i / K]) / (2 * step);
        }
    begin(m, 0);
    for (int f = 0; f < FIELDS - 1; f++)
        for (int i = 0; i < count[f] * K; i++)
            set(wide(fields.f[f], m->tk.session, "dual"), TK_DATA, i, along(f, i / K));
    if (k->jvp)
        CHECK_OK(m, k->jvp(m));
    for (int f = 0; f < FIELDS - 1; f++)
        for (int i = 0; i < count[f] * K && f != Q; i++)
            by_tangent[i % K] += seed(f, i / K, i % K) * get(wide(fields.f[f], m->tk.session, "dual"), TK_DATA, i);
    for (int d = 0; d < K; d++) {
        if (!near(by_gradient[d], by_difference[d], 1e-7))
            FAIL("%s, direction %d: %.12g by gradients, %.12g by differences", k->name, d, by_gradient[d],
                 by_difference[d]);
        if (k->jvp && !near(by_gradient[d], by_tangent[d], 1e-12))
            FAIL("%s, direction %d: %.17g by gradients, %.17g by tangents", k->name, d, by_gradient[d], by_tangent[d]);
    }
}

/* The gradients have the same bits for any number of threads. */
static void check_threads(width_grad *m, width_grad *with, const kernel *k)
{
    const all fields = ALL(m);
    run(m, k, 1);
    run(with, k, 1);
    for (int f = 0; f < FIELDS; f++)
        for (int i = 0; i < count[f] * K; i++) {
            const double want = get(wide(fields.f[f], m->tk.session, "grad"), TK_DATA, i),
                         got = get(wide(fields.f[f], with->tk.session, "grad"), TK_DATA, i);
            if (memcmp(&got, &want, sizeof got))
                FAIL("%s, %d threads: %s.grad: %.17g, not %.17g", k->name, tk_session_threads(with->tk.session),
                     tk_field_name(fields.f[f]), got, want);
        }
}

static void check_clear(width_grad *m)
{
    set_seeds(m, 1);
    CHECK_OK(m, tk_field_clear_grad(m->v.field));
    CHECK(m->v.grad[3][1][2] == 0 && m->x.grad[3][2] != 0 && m->x.dual[3][2] != 0);
    CHECK_OK(m, tk_module_clear_grad(&m->tk));
    CHECK(m->x.grad[3][2] == 0 && m->E.grad[0][4] == 0);
}

static void nothing(void *m)
{
    (void)m;
}

/* A tape has one gradient. */
static void check_tapes(width_grad *m, one *o)
{
    double jacobian[N * N];
    CHECK_STATUS(m, tk_tape_begin(m->E.field, 0), TK_NO_DERIVATIVE, "its gradient has several directions");
    CHECK_STATUS(m, tk_jacobian_reverse(m->y.field, m->x.field, nothing, m, jacobian), TK_NO_DERIVATIVE,
                 "several directions");
    tk_session *s = m->tk.session;
    one *beside = one_create(s, NULL);
    CHECK_OK(m, tk_tape_begin(beside->E.field, 0));
    CHECK_STATUS(m, width_grad_shift(m), TK_NO_DERIVATIVE, "call 'shift_grad'");
    tk_tape_end(beside->E.field);
    tk_session_clear_error(s);
    one_destroy(beside);
    CHECK(one_status(o) == TK_OK);
}

int main(void)
{
    width_grad *m = width_grad_create(NULL, NULL);
    one *o = one_create(NULL, NULL);
    CHECK(m && o);
    for (int k = 0; m && o && k < KERNELS; k++) {
        check_columns(m, o, &kernels[k]);
        check_slopes(m, &kernels[k]);
    }
    for (int threads = 2; m && threads <= 7; threads += 5) {
        const tk_session_options options = {.threads = threads, .deterministic = true},
                                 alone = {.threads = 1, .deterministic = true};
        tk_session *s = tk_session_create(&options), *t = tk_session_create(&alone);
        width_grad *with = width_grad_create(s, NULL), *by = width_grad_create(t, NULL);
        tk_session_destroy(s);
        tk_session_destroy(t);
        for (int k = 0; k < KERNELS; k++)
            check_threads(by, with, &kernels[k]);
        width_grad_destroy(with);
        width_grad_destroy(by);
    }
    check_clear(m);
    check_tapes(m, o);
    width_grad_destroy(m);
    one_destroy(o);
    return failures != 0;
}
