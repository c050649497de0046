/* The same loops over volatile arrays, which no compiler takes apart. */
#include "whole_loops.h"
#include "host.h"

enum { N = 70, FIELDS = 6 };

typedef struct arrays {
    volatile double a[N], b[N], c[N], d[N], e[N], f[N];
} arrays;

static void chained(arrays *x)
{
    for (int i = 2; i < N - 1; i++) {
        x->e[i] = 0;
        x->d[i] = 0;
        x->a[i] = 0.5 * x->a[i - 1] + x->d[i];
        x->f[i] += x->a[i + 1];
    }
}

static void handed(arrays *x)
{
    for (int i = 2; i < N - 1; i++) {
        x->f[i] = x->b[i + 1];
        x->a[i] = 0;
        const double next = x->e[i + 1];
        x->e[i] = 1;
        x->b[i] = 0.5 * x->b[i - 1] + next;
    }
}

static void overwritten(arrays *x)
{
    for (int i = 2; i < N - 1; i++) {
        x->e[i] = 0.5 * x->e[i - 1] + x->d[i];
        const double sum = x->e[i];
        x->c[i] = 0;
        x->e[i] = x->a[0];
        x->a[i] = 0.5 * x->a[i - 1] + sum;
    }
}

static void summed(arrays *x)
{
    double total = 0;
    for (int i = 2; i < N - 1; i++) {
        total += x->a[i];
        x->a[i] = 0;
        x->b[i] = 1;
    }
    x->c[0] = total;
}

static void carried(arrays *x)
{
    for (int i = 4; i < N - 6; i++) {
        const double t = x->e[i];
        double s = 0;
        for (int j = 0; j < 4; j++) {
            x->f[i - 1 + j] = s;
            s = s + t;
        }
        x->b[i] = x->c[i - 1];
        x->e[i + 1] = x->c[i];
    }
}

static void turned(arrays *x)
{
    for (int i = 4; i < N - 6; i++) {
        x->d[i] = 0;
        const double t = x->b[i];
        for (int j = 0; j < 4; j++)
            x->e[i + j] = t;
        x->b[i - 1] = x->f[i];
    }
}

static void bounded(arrays *x)
{
    for (int i = 4; i < N - 6; i++) {
        x->b[i] = 0.5 * x->b[i - 1];
        x->e[i - 1] = x->b[i + 1];
        x->c[i - 1] = x->e[i];
    }
}

static void several(arrays *x)
{
    for (int i = 4; i < N - 8; i++) {
        x->f[i] = 0.5 * x->f[i - 1] + x->d[i];
        for (int j = 0; j < 2; j++)
            x->c[i - j] = x->a[i + 1 + j];
    }
}

static void check(whole_loops *m, const char *name, tk_status (*kernel)(whole_loops *), void (*by_hand)(arrays *))
{
    static arrays x;
    double *const got[FIELDS] = {m->a.data, m->b.data, m->c.data, m->d.data, m->e.data, m->f.data};
    volatile double *const want[FIELDS] = {x.a, x.b, x.c, x.d, x.e, x.f};
    for (int k = 0; k < FIELDS; k++)
        for (int i = 0; i < N; i++)
            want[k][i] = got[k][i] = (k * 37 + i * 11) % 17 / 8.0;
    CHECK(kernel(m) == TK_OK);
    by_hand(&x);
    int bad = 0;
    for (int k = 0; k < FIELDS; k++)
        for (int i = 0; i < N; i++)
            bad += got[k][i] < want[k][i] || got[k][i] > want[k][i]; /* dyadic numbers: exact */
    if (bad)
        FAIL("%s: %d elements differ", name, bad);
}

int main(void)
{
    whole_loops *const m = whole_loops_create(NULL, NULL);
    if (!m)
        return 1;
    check(m, "chained", whole_loops_chained, chained);
    check(m, "handed", whole_loops_handed, handed);
    check(m, "overwritten", whole_loops_overwritten, overwritten);
    check(m, "summed", whole_loops_summed, summed);
    check(m, "called", whole_loops_called, handed);
    check(m, "carried", whole_loops_carried, carried);
    check(m, "turned", whole_loops_turned, turned);
    check(m, "bounded", whole_loops_bounded, bounded);
    check(m, "several", whole_loops_several, several);
    whole_loops_destroy(m);
    return failures != 0;
}
