/* Whether derivatives go the way their launch went, which the kernels store: what an adjoint adds to `tex` is held against what these say. */
#include "decisions.h"
#include "host.h"

enum { MAX = 20000, TEX = 2100 };
static double want[TEX];
static int32_t first[MAX];

/* Lattices whose points are no doubles, their neighbours, and sums of both. */
static double point(int i, int k)
{
    static const double h[] = {0.1, 0.11, 1.0 / 3.0, 0.01, 1.0 / 7.0};
    const double v = (1 + (i * 37 + k * 11) % 90) * h[(i / 5 + k) % 5];
    const double p = fmin(v, 9.7);
    return i % 7 == 1 ? nextafter(p, 0.0) : i % 7 == 2 ? nextafter(p, 10.0) : p;
}

/* The same, computed once: kernels are many, and each gets all of them anew. */
static double lattice(int i, int k)
{
    enum { PERIOD = 3150 /* of 90, 5 times 5 and 7 */, KINDS = 24 /* Q */ };
    static double known[KINDS][PERIOD]; /* 0: not yet */
    double *const p = &known[k][i % PERIOD];
    if (*p == 0)
        *p = point(i % PERIOD, k);
    return *p;
}

static void fill(decisions *m)
{
    const int n = m->params.N;
    for (int i = 0; i < n; i++) {
        m->x.data[i] = lattice(i, 0);
        m->w.data[i] = lattice(i, 3);
        m->y.grad[i] = 1 + i % 3;
        m->sines.data[i] = sin(m->x.data[i]);
        m->powers.data[i] = exp(m->w.data[i]);
        m->y.dual[i] = m->x.dual[i] = m->w.dual[i] = 0;
        for (int q = 0; q < m->params.Q; q++)
            m->steps.data[decisions_idx_steps(m, i, q)] = lattice(i, q) * (q % 3 == 0 ? 0.5 : 0.1);
    }
    for (int k = 0; k < TEX; k++) {
        m->tex.data[k] = 1 + k;
        m->tex.grad[k] = 0;
        m->tex.dual[k] = k * k;
        want[k] = 0;
    }
}

/* factor: what the kernel multiplies tex[c] by, as it is in memory. */
static void check(decisions *m, const char *name, tk_status run, tk_status grad, const int32_t *went, double (*factor)(const decisions *m, int i))
{
    const int n = m->params.N;
    if (run != TK_OK || grad != TK_OK) {
        FAIL("%s: %s", name, decisions_error(m));
        return;
    }
    for (int i = 0; i < n; i++)
        want[went ? went[i] : *m->once.data] += (1 + i % 3) * factor(m, i);
    for (int k = 0; k < TEX && !failures; k++)
        if (!near(m->tex.grad[k], want[k], 1e-9))
            FAIL("%s: tex.grad[%d] is %.17g, the launch's way gives %.17g", name, k, m->tex.grad[k], want[k]);
}

/* The JVP's decisions are the launch's, and so are the duals it picks. */
static void check_jvp(decisions *m, const char *name, tk_status jvp, double (*factor)(const decisions *m, int i))
{
    const int n = m->params.N;
    if (jvp != TK_OK || memcmp(first, m->went.data, (size_t)n * sizeof *first) != 0) {
        FAIL("%s: the JVP went another way (%s)", name, decisions_error(m));
        return;
    }
    for (int i = 0; i < n && factor; i++) {
        const double d = (double)first[i] * first[i] * factor(m, i);
        if (!near(m->y.dual[i], d, 1e-9)) {
            FAIL("%s: y.dual[%d] is %.17g, not %.17g", name, i, m->y.dual[i], d);
            return;
        }
    }
}

static void keep(const decisions *m)
{
    memcpy(first, m->went.data, (size_t)m->params.N * sizeof *first);
}

static double of_x(const decisions *m, int i) { return m->x.data[i]; }
static double of_w(const decisions *m, int i) { return m->w.data[i]; }
static double of_sum(const decisions *m, int i) { return m->cdf.data[decisions_idx_cdf(m, i, m->params.Q - 1)]; }

#define BOTH(name, factor, ...)                                                                                                       \
    do {                                                                                                                              \
        fill(m);                                                                                                                      \
        const tk_status run = decisions_##name(m __VA_OPT__(, ) __VA_ARGS__);                                                         \
        keep(m);                                                                                                                      \
        const tk_status grad = decisions_##name##_grad(m __VA_OPT__(, ) __VA_ARGS__);                                                 \
        check(m, #name, run, grad, first, factor);                                                                                    \
    } while (0)

/* The sum is near N / 10, above or below. */
static void fill_ones(decisions *m)
{
    fill(m);
    for (int i = 0; i < m->params.N; i++)
        m->x.data[i] = 1;
}

/* One decision for all iterations. */
#define ONCE(name, ...) \
    do { \
        fill_ones(m); \
        const tk_status run = decisions_##name(m __VA_OPT__(, ) __VA_ARGS__); \
        const int32_t way = *m->once.data; \
        const tk_status grad = decisions_##name##_grad(m __VA_OPT__(, ) __VA_ARGS__); \
        check(m, #name, run, grad, NULL, of_x); \
        if (decisions_##name##_jvp(m __VA_OPT__(, ) __VA_ARGS__ __VA_OPT__(, ) __VA_OPT__(NULL)) != TK_OK || \
            *m->once.data != way) \
            FAIL("%s: the JVP went another way", #name); \
    } while (0)

static void kernels(decisions *m)
{
    /* products near k + 0.3, where one rounding and two give different integers */
    static const double frequency[12] = {5.0, 3.0, 0.1 * 30, 9 * (1 / 3.0), 2.1, 3.5, 10.0 / 3.0, 6.0, 1.5, 2.5, 4.0 / 3.0, 9.0 / 7.0};
    BOTH(cells, of_x);
    check_jvp(m, "cells", decisions_cells_jvp(m), of_x);
    BOTH(factors, of_x);
    check_jvp(m, "factors", decisions_factors_jvp(m), of_x);
    BOTH(running, of_sum);
    check_jvp(m, "running", decisions_running_jvp(m), of_sum);
    BOTH(inner, of_x);
    check_jvp(m, "inner", decisions_inner_jvp(m), of_x);
    BOTH(library, of_x);
    check_jvp(m, "library", decisions_library_jvp(m), of_x);
    for (int k = 0; k < 12; k++) {
        const double freq = frequency[k];
        BOTH(contracted, of_x, freq);
        check_jvp(m, "contracted", decisions_contracted_jvp(m, freq, NULL), of_x);
        BOTH(stored, of_x, freq);
        check_jvp(m, "stored", decisions_stored_jvp(m, freq, NULL), of_x);
        BOTH(called, of_w, 0.1 * (k + 1));
        check_jvp(m, "called", decisions_called_jvp(m, 0.1 * (k + 1), NULL), of_w);
    }
    ONCE(summed);
    for (int k = 0; k < 40; k++)
        ONCE(beside, 0.1 * k);
}

/* The gradient of g[i] behind the loop is the sum of what y takes from it. */
static void replayed(decisions *m, double each)
{
    fill(m);
    double into[10] = {0};
    for (int i = 0; i < m->params.N; i++) {
        m->x.data[i] = each;
        into[i % 10] += (1 + i % 3) * m->w.data[i];
    }
    for (int i = 0; i < 10; i++)
        m->g.grad[i] = 0;
    const tk_status run = decisions_replayed(m), grad = decisions_replayed_grad(m);
    for (int i = 0; i < 10; i++)
        want[m->went.data[i]] += into[i] * m->before.data[i] * m->before.data[i];
    for (int k = 0; k < TEX && !failures; k++)
        if (run != TK_OK || grad != TK_OK || !near(m->tex.grad[k], want[k], 1e-9))
            FAIL("replayed: tex.grad[%d] is %.17g, the launch's way gives %.17g (%s)", k, m->tex.grad[k], want[k],
                 decisions_error(m));
}

/* The winner's operand has the gradient: w.grad is x where a = x * k + w wins, and so it is where b does, but x.grad of y's factor tells which. */
static void winners(decisions *m)
{
    for (int round = 0; round < 10; round++) {
        const double k = 0.1 + round / 3.0;
        fill(m);
        for (int i = 0; i < m->params.N; i++) {
            m->y.data[i] = 0;
            m->y.grad[i] = 0;
            m->phase.grad[i] = 1e30;
        }
        decisions_least(m, k);
        keep(m);
        decisions_least_grad(m, k);
        for (int i = 0; i < m->params.N; i++)
            if (m->y.grad[i] != 0 || decisions_status(m) != TK_OK) {
                FAIL("least: y.grad[%d] = %g (%s)", i, m->y.grad[i], decisions_error(m));
                return;
            }
        check_jvp(m, "least", decisions_least_jvp(m, k, NULL), NULL);
    }
}

static void exports(void)
{
    enum { N = 40000 };
    static double v[N], v_grad[N], space[N];
    for (int i = 0; i < N; i++)
        v[i] = lattice(i, 0) * 0.3;
    for (int n = 0; n < 200; n++) {
        double value, again = -1, dual = -1, fx = 0, fy = 0, area_grad = 0;
        const double area = lattice(n, 2), one = 1;
        decisions_piece(3 * area, area * (n % 5), area, &value);
        decisions_piece_grad(3 * area, area * (n % 5), area, &again, &one, &fx, &fy, &area_grad);
        decisions_piece_jvp(3 * area, NULL, area * (n % 5), NULL, area, NULL, &dual, &fx);
        if (memcmp(&value, &again, sizeof value) != 0 || memcmp(&value, &dual, sizeof value) != 0)
            FAIL("piece: %.17g, its gradient's result is %.17g, its JVP's %.17g", value, again, dual);
        double s_grad = 0;
        const int64_t count = n < 100 ? n : n * 200;
        decisions_energy(count, v, 0.7, &value);
        decisions_energy_grad(count, v, 0.7, &again, &one, v_grad, &s_grad, space);
        if (memcmp(&value, &again, sizeof value) != 0)
            FAIL("energy of %d: %.17g, its gradient's result is %.17g", (int)count, value, again);
        double into[2] = {0.7, 0.1 * n}, sums[2], into_grad[2] = {0}, sums2[2];
        const double before[2] = {into[0], into[1]};
        decisions_filled(count, v, into, sums, &value);
        decisions_filled_grad(count, v, before, sums2, &again, NULL, &one, v_grad, into_grad);
        if (memcmp(&value, &again, sizeof value) != 0 || memcmp(sums, sums2, sizeof sums) != 0)
            FAIL("filled by %d: %.17g and %.17g, its gradient's results are %.17g and %.17g", (int)count, value,
                 sums[1], again, sums2[1]);
    }
}

int main(void)
{
    static const int sizes[] = {1, 10, 30, 70, 90, 600, 1010, 3030, 9900, MAX};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes && !failures; k++) {
        decisions_params p = decisions_defaults();
        p.N = sizes[k];
        decisions *m = decisions_create(NULL, &p);
        if (!m) {
            printf("%s\n", tk_error());
            return 1;
        }
        kernels(m);
        winners(m);
        if (m->params.N >= 10)
            replayed(m, 1);
        decisions_destroy(m);
    }
    /* enough for several threads */
    decisions_params p = decisions_defaults();
    p.N = 400000;
    p.Q = 1;
    decisions *m = failures ? NULL : decisions_create(NULL, &p);
    if (m)
        replayed(m, 0.5);
    decisions_destroy(m);
    exports();
    return failures != 0;
}
