#include "extrema.h"
#include "host.h"

typedef __typeof__(*((extrema *)0)->x.data) number;

enum { KINDS = 6 };

/* random; with NaN; few zeros of both signs among others; none is above, none below a zero; all zeros */
static number at(int kind, int k)
{
    const number any = (number)((k * 7919 + 13) % 1009) / 64 - 7;
    const number zero = (k * 5 + kind) % 3 ? (number)0 : -(number)0;
    switch (kind) {
    case 0:
        return any;
    case 1:
        return k % 5 == 2 ? (number)NAN : any;
    case 2:
        return k % 7 == 3 ? zero : any;
    case 3:
        return k % 7 == 3 ? zero : -fabs(any) - 1;
    case 4:
        return k % 7 == 3 ? zero : fabs(any) + 1;
    default:
        return zero;
    }
}

static int differs(number a, number b)
{
    return memcmp(&a, &b, sizeof a) != 0;
}

static void check(extrema *m, int n, int kind)
{
    number lo = (number)1e30, hi = -(number)1e30, d = -1, s = 0, most = 0;
    for (int i = 0; i < n; i++)
        m->x.data[i] = at(kind, i);
    for (int k = 0; k < 3 * n; k++)
        m->rows.data[k] = at(kind, k + 3);
    for (int i = 0; i < n; i++) {
        const number v = m->x.data[i];
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
        s += v;
        most = v > most ? v : most;
    }
    for (int k = 0; k < 3 * n; k++) {
        const number v = (number)fabs(m->rows.data[k] - m->x.data[k % n]);
        d = v > d ? v : d;
    }
    extrema_ends(m);
    extrema_furthest(m);
    extrema_summed(m);
    if (differs(lo, *m->least.data) || differs(hi, *m->most.data) || differs(d, *m->far.data))
        FAIL("%d numbers of kind %d: %g %g %g and not %g %g %g", n, kind, (double)*m->least.data, (double)*m->most.data,
             (double)*m->far.data, (double)lo, (double)hi, (double)d);
    if (kind == 0 && fabs((double)(s + most - *m->both.data)) > 1e-3)
        FAIL("%d numbers: %g and not %g", n, (double)*m->both.data, (double)(s + most));
}

int main(void)
{
    for (int n = 0; n < 150; n += n < 100 ? 1 : 23) {
        extrema_params p = extrema_defaults();
        p.N = n;
        extrema *m = extrema_create(NULL, &p);
        if (!m)
            return 2;
        for (int kind = 0; kind < KINDS; kind++)
            check(m, n, kind);
        extrema_destroy(m);
    }
    return failures != 0;
}
