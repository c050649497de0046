/* What the benchmark and the tool share: a session, memory, numbers of a fixed seed. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tk_session *bench_session(void)
{
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    return tk_session_create(&o);
}

double *bench_doubles(int64_t n)
{
    const size_t bytes = ((size_t)n * sizeof(double) + 63) / 64 * 64 + 64;
    double *p = aligned_alloc(64, bytes);
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

int64_t bench_worked[2];

double *bench_work(bench_side side, int64_t n)
{
    bench_worked[side] += n * (int64_t)sizeof(double);
    return bench_doubles(n);
}

/* splitmix64: the same numbers on every machine. */
double bench_uniform(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

double bench_normal(uint64_t *state)
{
    const double r = sqrt(-2.0 * log(bench_uniform(state)));
    return r * cos(6.283185307179586 * bench_uniform(state));
}

void bench_fill(double *to, int64_t n, double (*draw)(uint64_t *), uint64_t *state)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = draw(state);
}

double bench_difference(const double *a, const double *b, int64_t n)
{
    double top = 0.0, scale = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(a[i]) || !isfinite(b[i]))
            return INFINITY;
        top = fmax(top, fabs(a[i] - b[i]));
        scale = fmax(scale, fabs(b[i]));
    }
    return scale > 0.0 ? top / scale : top;
}
