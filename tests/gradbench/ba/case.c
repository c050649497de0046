/* The case ba: cameras around a cloud of points, and the values of the sparse Jacobian, as in hand.h. Ours come by
 * export funcs, which write them where they belong, and by a kernel over all observations, whose fields hold them. */
#include <math.h>
#include <string.h>

#include "ba_kernel.h"
#include "ours.h"

typedef struct data {
    ours o;
    ba_output hand;
    ba_kernel *m;
} data;

BENCH_MODULE(ba_kernel)

/* Every camera looks at the origin from a distance of about 5, a little off, and the points lie within 1 of it. */
static void fill(ours *o)
{
    uint64_t seed = 49;
    for (int i = 0; i < o->in.n; i++) {
        double *c = o->cameras + (long)BA_CAMERA * i;
        bench_fill(c, 6, bench_uniform, &seed);
        c[5] -= 5.5;
        c[6] = 400.0 + 100.0 * bench_uniform(&seed);
        c[7] = 10.0 * bench_normal(&seed);
        c[8] = 10.0 * bench_normal(&seed);
        c[9] = 0.1 * bench_normal(&seed);
        c[10] = 0.01 * bench_normal(&seed);
    }
    memset(o->cameras, 0, 3 * sizeof(double)); /* one that is not rotated */
    bench_fill(o->points, 3 * (int64_t)o->in.m, bench_uniform, &seed);
    for (int64_t i = 0; i < o->in.p; i++) {
        o->seen[2 * i] = (int)(i % o->in.n);
        o->seen[2 * i + 1] = (int)(bench_uniform(&seed) * o->in.m);
        o->weights[i] = 0.5 + bench_uniform(&seed);
        o->features[2 * i] = 100.0 * bench_normal(&seed);
        o->features[2 * i + 1] = 100.0 * bench_normal(&seed);
    }
}

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    begin(&d->o, n[0], n[1], n[2]);
    fill(&d->o);
    d->hand = outputs(n[2]);
    return d;
}

static void *create_kernel(const int64_t *n)
{
    data *d = create(n);
    const ours *o = &d->o;
    ba_kernel_params p = ba_kernel_defaults();
    p.N = (int)n[0];
    p.M = (int)n[1];
    p.P = (int)n[2];
    ba_kernel *m = d->m = new_ba_kernel(&p);
    if (!m)
        return NULL;
    memcpy(m->cameras.data, o->cameras, BA_CAMERA * (size_t)p.N * sizeof(double));
    memcpy(m->points.data, o->points, 3 * (size_t)p.M * sizeof(double));
    memcpy(m->weights.data, o->weights, (size_t)p.P * sizeof(double));
    memcpy(m->features.data, o->features, 2 * (size_t)p.P * sizeof(double));
    for (int64_t i = 0; i < p.P; i++) {
        m->camera_of.data[i] = o->seen[2 * i];
        m->point_of.data[i] = o->seen[2 * i + 1];
    }
    return d;
}

BENCH_CALL(primal_kernel, ba_kernel_observe)
BENCH_CALL(grad_kernel, ba_kernel_jacobian)

static void hand_matrices(void *p)
{
    data *d = p;
    ba_hand_matrices(&d->o.in, &d->hand);
}

static void hand_rows(void *p)
{
    data *d = p;
    ba_hand_rows(&d->o.in, &d->hand);
}

/* errors, off; the rows of observations, one by one, as cameras differ; those of weights. */
static double differ(const data *d, const double *errors, const double *off, const double *rows, const double *behind)
{
    const int64_t n = d->o.in.p;
    double top = bench_difference(errors, d->hand.errors, 2 * n);
    top = fmax(top, bench_difference(off, d->hand.off, n));
    for (int64_t i = 0; i < 2 * n; i++)
        top = fmax(top, bench_difference(rows + BA_ROW * i, d->hand.values + BA_ROW * i, BA_ROW));
    return fmax(top, bench_difference(behind, d->hand.values + 2 * BA_ROW * n, n));
}

static double difference(void *p)
{
    const data *d = p;
    return differ(d, d->o.out.errors, d->o.out.off, d->o.out.values, d->o.out.values + 2 * BA_ROW * (int64_t)d->o.in.p);
}

static double difference_kernel(void *p)
{
    const data *d = p;
    return differ(d, (const double *)d->m->errors.data, d->m->off.data, (const double *)(void *)d->m->values.data,
                  d->m->off_values.data);
}

static const bench_size sizes[] = {{"n3 m5 p11", {3, 5, 11}},
                                   {"like ba1: n49 m7776 p31843", {49, 7776, 31843}},
                                   {"like ba4: n372 m47423 p204472", {372, 47423, 204472}},
                                   {0}};
const bench_case bench_ba[] = {
    BENCH_CASE("ba", "export func", "as known: matrices", sizes, create, difference, primal, grad, hand_matrices),
    BENCH_CASE("ba", "export func", "rows", sizes, create, difference, primal, grad, hand_rows),
    BENCH_CASE("ba", "kernel", "as known: matrices", sizes, create_kernel, difference_kernel, primal_kernel,
               grad_kernel, hand_matrices),
    BENCH_CASE("ba", "kernel", "rows", sizes, create_kernel, difference_kernel, primal_kernel, grad_kernel, hand_rows),
    {0}};
