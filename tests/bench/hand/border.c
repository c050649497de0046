/* Borders written into the loop over all cells, against the plain form of the same equation, also generated: what
 * conditions, periodic subscripts and bounds cost. The plain form's field has a border of its own, which a small loop
 * fills where it is not zero. */
#include "bench.h"
#include "border.h"

enum { STEPS = 256 };

typedef tk_status run_fn(border *m);

typedef struct data {
    border *m;
    int64_t n;
    run_fn *const *run;
} data;

typedef enum kind { ZERO, AROUND, HELD } kind;

static run_fn *const run_of[][4] = {
    [ZERO] = {border_zero, border_zero_grad, border_plain_zero, border_plain_zero_grad},
    [AROUND] = {border_around, border_around_grad, border_plain_around, border_plain_around_grad},
    [HELD] = {border_held, border_held_grad, border_plain_held, border_plain_held_grad},
};

BENCH_MODULE(border)

static float *cell(float *plain, int64_t n, int64_t t, int64_t i, int64_t j)
{
    return &plain[(t * (n + 2) + i + 1) * (n + 2) + j + 1];
}

static void *create(const int64_t *size)
{
    data *d = bench_zeros(sizeof *d);
    const int64_t n = d->n = size[0];
    d->run = run_of[size[1]];
    border_params p = border_defaults();
    p.N = (int32_t)n;
    p.T = STEPS;
    d->m = new_border(&p);
    if (!d->m)
        return NULL;
    uint64_t seed = 1;
    for (int64_t t = 0; t < STEPS + 2; t++) {
        for (int64_t k = 0; k < n * n && (t < 2 || t > STEPS); k++) {
            float *to = t < 2 ? d->m->u.data : d->m->u.grad, *plain = t < 2 ? d->m->plain.data : d->m->plain.grad;
            to[t * n * n + k] = *cell(plain, n, t, k / n, k % n) = bench_random(&seed);
        }
    }
    return d;
}

BENCH_CALL(primal, ((data *)p)->run[0])
BENCH_CALL(grad, ((data *)p)->run[1])
BENCH_CALL(plain_primal, ((data *)p)->run[2])
BENCH_CALL(plain_grad, ((data *)p)->run[3])

static double difference(void *p)
{
    const data *d = p;
    float *plain = bench_floats(2 * d->n * d->n);
    for (int64_t k = 0; k < 2 * d->n * d->n; k++) {
        const int64_t at = k % (d->n * d->n);
        plain[k] = *cell(d->m->plain.grad, d->n, k / (d->n * d->n), at / d->n, at % d->n);
    }
    return bench_difference(d->m->u.grad, plain, 2 * d->n * d->n);
}

static const bench_size sizes[][4] = {
    [ZERO] = {{"9 cells a side", {9, ZERO}}, {"48 cells a side", {48, ZERO}}, {"256 cells a side", {256, ZERO}}, {0}},
    [AROUND] = {{"9 cells a side", {9, AROUND}},
                {"48 cells a side", {48, AROUND}},
                {"256 cells a side", {256, AROUND}},
                {0}},
    [HELD] = {{"9 cells a side", {9, HELD}}, {"48 cells a side", {48, HELD}}, {"256 cells a side", {256, HELD}}, {0}},
};
const bench_case bench_border[] = {BENCH_CASE("border: loads under conditions", NULL, "plain form", sizes[ZERO], create,
                                              difference, primal, grad, plain_primal, plain_grad),
                                   BENCH_CASE("border: around the end", NULL, "plain form", sizes[AROUND], create,
                                              difference, primal, grad, plain_primal, plain_grad),
                                   BENCH_CASE("border: held at the edge", NULL, "plain form", sizes[HELD], create,
                                              difference, primal, grad, plain_primal, plain_grad),
                                   {0}};
