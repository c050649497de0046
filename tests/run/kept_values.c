#include "kept_values.h"
#include "host.h"

enum { N = 5, LONG = 67 };

static void check(const char *what, int i, double got, double want)
{
    if (!near(got, want, 1e-13))
        FAIL("%s[%d]: %.17g, should be %.17g", what, i, got, want);
}

static void check_memory(kept_values *m, const double *x)
{
    double s = 0.25, y[N] = {0};
    for (int i = 0; i < N; i++)
        m->y.data[i] = 0;
    *m->s.data = s;
    y[0] = 0.5 * s;
    for (int i = 0; i < N; i++)
        s = 0.9 * s + x[i] * x[i];
    y[1] = 2 * s;
    for (int k = 0; s > 0.5 && k < 3; k++)
        y[2] += s *= 0.5;
    y[3] = s = x[0] > 0 ? 7 : x[1];
    kept_values_memory(m);
    check("s", 0, *m->s.data, s);
    for (int i = 0; i < N; i++)
        check("memory: y", i, m->y.data[i], y[i]);
}

static void check_arrays(kept_values *m, const double *x)
{
    kept_values_arrays(m);
    for (int i = 0; i < N; i++) {
        const int at = m->n.data[i] % 3;
        double r[3] = {x[i], 2 * x[i], 3 * x[i]};
        const double before = r[at] * x[i];
        for (int k = 0; k < 4; k++)
            r[at] = r[at] * 0.5 + r[k % 3];
        r[0] = 1;
        r[at] += 10;
        r[0] += x[i];
        r[1] = r[0] - r[1];
        check("arrays: y", i, m->y.data[i], before * r[at] + 100 * r[1]);
        check("arrays: z", i, m->z.data[i], r[2]);
    }
}

static void check_signs(kept_values *m, const double *x)
{
    for (int i = 0; i < N; i++)
        m->z.data[i] = 0.5 - 0.3 * i;
    kept_values_signs(m);
    for (int i = 0; i < N; i++) {
        const double a = x[i], b = m->z.data[i];
        check("signs: y", i, m->y.data[i],
              3 * a + 3 * b - 5 * a - 5 * b + 7 * a * b + 11 * a - 11 * b - (a - b) / (2 + b * b));
    }
}

static void check_recurrences(kept_values *m)
{
    for (int k = 0; k < N * LONG; k++)
        m->row.data[k] = sin(0.7 * k);
    kept_values_recurrences(m);
    for (int i = 0; i < N; i++) {
        const double *at = m->row.data + i * LONG;
        double a = 0, b = 0, c = 0;
        for (int j = 0; j < LONG; j++) {
            a = at[j] - a;
            b = (b + at[j]) * 0.5;
            c = c - (at[j] - c) * 0.25;
        }
        check("recurrences: y", i, m->y.data[i], a);
        CHECK(fabs(m->z.data[i] - b - 10 * c) <= 1e-9 * fabs(10 * c));
    }
}

static void check_extremes(kept_values *m, const double *x)
{
    double most[4] = {-1e30, 1e30, -1e30, 1e30};
    kept_values_extremes(m);
    for (int k = 0; k < N * LONG; k++) {
        most[0] = fmax(most[0], -2 - m->row.data[k]);
        most[1] = fmin(most[1], 2 + m->row.data[k]);
    }
    for (int i = 0; i < N; i++) {
        most[2] = fmax(most[2], -3 - x[i]);
        most[3] = fmin(most[3], 3 + x[i]);
    }
    check("extremes: up", 0, m->counts.data[0], -1);
    check("extremes: down", 0, m->counts.data[1], 3);
    for (int i = 0; i < 4; i++)
        check("extremes", i, m->most.data[i], most[i]);
}

int main(void)
{
    static const double x[N] = {0.7, -1.1, 0.4, 1.3, -0.2};
    kept_values *m = kept_values_create(NULL, NULL);
    if (!m) {
        fprintf(stderr, "%s\n", tk_error());
        return 1;
    }
    for (int i = 0; i < N; i++) {
        m->x.data[i] = x[i];
        m->n.data[i] = (3 * i + 1) % 4;
    }
    check_memory(m, x);
    check_arrays(m, x);
    check_signs(m, x);
    check_recurrences(m);
    check_extremes(m, x);
    CHECK_OK(m, kept_values_status(m));
    kept_values_destroy(m);
    return failures != 0;
}
