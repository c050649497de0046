/* Time and memory of a gradient through 1,000 steps in place, and with a time axis. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "in_place.h"

enum { IN_PLACE, IN_PLACE_GRADIENT, AXIS, AXIS_GRADIENT };

typedef struct data {
    in_place *m;
    float *x_grad;
    size_t bytes[2];
} data;

BENCH_MODULE(in_place)

static void *create(const int64_t *n)
{
    data *d = bench_zeros(sizeof *d);
    in_place_params p = in_place_defaults();
    p.N = (int32_t)n[0];
    p.T = (int32_t)n[1];
    d->m = new_in_place(&p);
    d->x_grad = bench_floats(n[0]);
    return d->m ? d : NULL;
}

static void start(const in_place *m, float *x, float *v)
{
    for (int i = 0; i < m->params.N; i++) {
        x[i] = 0.5f + 0.4f * sinf(0.01f * (float)i);
        v[i] = 0;
    }
}

static void prepare(void *p)
{
    const in_place *m = ((data *)p)->m;
    start(m, m->x.data, m->v.data);
    start(m, m->xt.data, m->vt.data);
}

static void steps(void *p)
{
    in_place *m = ((data *)p)->m;
    for (int t = 0; t < m->params.T; t++)
        in_place_step(m);
}

static void axis_steps(void *p)
{
    in_place *m = ((data *)p)->m;
    for (int t = 0; t < m->params.T; t++)
        in_place_step_t(m, t);
}

static void gradient(void *p)
{
    data *d = p;
    in_place *m = d->m;
    TK_TAPE(m, m->loss)
    {
        steps(d);
        in_place_total(m);
    }
    memcpy(d->x_grad, m->x.grad, tk_field_bytes(m->x.field)); /* the next tape clears it */
    d->bytes[0] = tk_tape_bytes(bench_session()) + 2 * (tk_field_bytes(m->x.field) + tk_field_bytes(m->v.field));
}

static void axis_gradient(void *p)
{
    data *d = p;
    in_place *m = d->m;
    TK_TAPE(m, m->loss)
    {
        axis_steps(d);
        in_place_total_t(m);
    }
    d->bytes[1] = tk_tape_bytes(bench_session()) + 2 * (tk_field_bytes(m->xt.field) + tk_field_bytes(m->vt.field));
}

static double difference(void *p)
{
    const data *d = p;
    return bench_difference(d->x_grad, d->m->xt.grad, d->m->params.N);
}

static void print_side(const bench_row *r, const char *name, int primal)
{
    const data *d = r->data;
    printf("| %s | %s | %d | %.1f | %.1f | %.2f | %.1f | %.0e |\n", r->size->name, name, bench_options.threads,
           1e3 * bench_median(&r->times, primal), 1e3 * bench_median(&r->times, primal + 1),
           bench_ratio(&r->times, primal + 1, primal), (double)d->bytes[primal / AXIS] / 1e6, r->difference);
}

static void print(const bench_row *r)
{
    print_side(r, "in place, saved", IN_PLACE);
    print_side(r, "with a time axis", AXIS);
}

int main(int argc, char **argv)
{
    static const bench_size sizes[] = {{"30 cells, 5 steps", {30, 5}}, {"10000 cells, 1000 steps", {10000, 1000}}, {0}};
    static const bench_case cases[] = {
        {"pendulums", NULL, NULL, sizes, create, {steps, gradient, axis_steps, axis_gradient}, difference, prepare},
        {0}};
    const bench_suite suite = {
        .about = "f32",
        .head = "| size | state | threads | primal ms | gradient ms | gradient / primal | MB with gradients | "
                "difference |\n"
                "|---|---|---|---|---|---|---|---|",
        .watch = {CLOCK_MONOTONIC, 3, 0.0},
        .allowed = 1e-3,
        .cases = (const bench_case *const[]){cases, NULL},
        .print = print,
    };
    return bench_main(&suite, argc, argv);
}
