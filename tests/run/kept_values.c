#include "kept_values.h"

#include <math.h>
#include <stdio.h>

enum { N = 5, LONG = 67 };

static int check(const char *what, int i, double got, double want)
{
    if (fabs(got - want) <= 1e-13 * (1 + fabs(want)))
        return 0;
    printf("%s[%d]: %.17g, should be %.17g\n", what, i, got, want);
    return 1;
}

static int check_memory(kept_values *m, const double *x)
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
    int bad = check("s", 0, *m->s.data, s);
    for (int i = 0; i < N; i++)
        bad += check("memory: y", i, m->y.data[i], y[i]);
    return bad;
}

static int check_arrays(kept_values *m, const double *x)
{
    int bad = 0;
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
        bad += check("arrays: y", i, m->y.data[i], before * r[at] + 100 * r[1]);
        bad += check("arrays: z", i, m->z.data[i], r[2]);
    }
    return bad;
}

static int check_signs(kept_values *m, const double *x)
{
    int bad = 0;
    for (int i = 0; i < N; i++)
        m->z.data[i] = 0.5 - 0.3 * i;
    kept_values_signs(m);
    for (int i = 0; i < N; i++) {
        const double a = x[i], b = m->z.data[i];
        bad += check("signs: y", i, m->y.data[i], 3 * a + 3 * b - 5 * a - 5 * b + 7 * a * b + 11 * a - 11 * b - (a - b) / (2 + b * b));
    }
    return bad;
}

static int check_recurrences(kept_values *m)
{
    int bad = 0;
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
        bad += check("recurrences: y", i, m->y.data[i], a);
        bad += fabs(m->z.data[i] - b - 10 * c) > 1e-9 * fabs(10 * c);
    }
    return bad;
}

static int check_extremes(kept_values *m, const double *x)
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
    int bad = check("extremes: up", 0, m->counts.data[0], -1) + check("extremes: down", 0, m->counts.data[1], 3);
    for (int i = 0; i < 4; i++)
        bad += check("extremes", i, m->most.data[i], most[i]);
    return bad;
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
    int bad = check_memory(m, x) + check_arrays(m, x) + check_signs(m, x) + check_recurrences(m) + check_extremes(m, x);
    bad += kept_values_status(m) != TK_OK;
    kept_values_destroy(m);
    return bad != 0;
}
