/* The data of a case: session, memory, numbers of a fixed seed, and the comparison of results. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- objects ---- */

/* A list of objects, the last one first. */
typedef struct kept {
    struct kept *next;
    void *object;
    bench_run *destroy;
} kept;

tk_session_options bench_options = {.threads = 1};
static tk_session *session;
static kept *all;

static void *checked(void *p)
{
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

void *bench_keep(void *object, bench_run *destroy)
{
    if (!object)
        return NULL;
    kept *k = checked(malloc(sizeof *k));
    *k = (kept){all, object, destroy};
    all = k;
    return object;
}

tk_session *bench_session(void)
{
    if (!session)
        session = checked(tk_session_create(&bench_options));
    return session;
}

const char *bench_failure(void)
{
    return session && tk_session_status(session) != TK_OK ? tk_session_error(session) : NULL;
}

void bench_release(void)
{
    while (all) {
        kept *k = all;
        all = k->next;
        k->destroy(k->object);
        free(k);
    }
    tk_session_destroy(session);
    session = NULL;
    bench_options = tk_session_defaults();
    bench_options.threads = 1;
    bench_worked[BENCH_OURS] = bench_worked[BENCH_HAND] = 0;
}

/* ---- memory ---- */

void *bench_zeros(int64_t bytes)
{
    const size_t size = ((size_t)bytes + 63) / 64 * 64 + 64;
    return bench_keep(memset(checked(aligned_alloc(64, size)), 0, size), free);
}

void *bench_floats(int64_t n)
{
    return bench_zeros(n * (int64_t)sizeof(float));
}

void *bench_doubles(int64_t n)
{
    return bench_zeros(n * (int64_t)sizeof(double));
}

int64_t bench_worked[2];

double *bench_work(bench_keeper keeper, int64_t n)
{
    bench_worked[keeper] += n * (int64_t)sizeof(double);
    return bench_doubles(n);
}

void *bench_workspace(size_t bytes)
{
    return bench_work(BENCH_OURS, (int64_t)(bytes / sizeof(double)) + 1);
}

/* ---- numbers ---- */

/* splitmix64 */
uint64_t bench_bits(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

double bench_uniform(uint64_t *state)
{
    return ((double)(bench_bits(state) >> 11) + 0.5) * 0x1p-53;
}

float bench_random(uint64_t *state)
{
    return (float)(bench_bits(state) >> 40) * 0x1p-24f;
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

static double number(const void *p, int64_t i, size_t size)
{
    return size == sizeof(float) ? (double)((const float *)p)[i] : ((const double *)p)[i];
}

double bench_difference_of(const void *a, const void *b, int64_t n, size_t size)
{
    double top = 0.0, scale = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double x = number(a, i, size), y = number(b, i, size);
        if (!isfinite(x) || !isfinite(y))
            return INFINITY;
        top = fmax(top, fabs(x - y));
        scale = fmax(scale, fabs(y));
    }
    return scale > 0.0 ? top / scale : top;
}
