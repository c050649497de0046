#include "bench.h"
#include "det.h"
#include "tool.h"

typedef struct size {
    void (*value)(const double *A, double *result);
    void (*grad)(const double *A, double *result, const double *result_grad, double *A_grad, void *workspace);
    size_t workspace;
} size;

enum { LEAST = 5, MOST = 11 };

#define SIZE(n) \
    { \
        det_of##n, det_of##n##_grad, det_of##n##_grad_WORKSPACE \
    }
static const size sizes[] = {SIZE(5), SIZE(6), SIZE(7), SIZE(8), SIZE(9), SIZE(10), SIZE(11)};

typedef struct data {
    int n;
    const size *s;
    double *A, *gradient, value;
    void *workspace;
} data;

static void *prepare(const json_t *input)
{
    int n;
    if (!tool_integer(input, "ell", LEAST, MOST, &n))
        return NULL;
    data *d = bench_zeros(sizeof *d);
    d->n = n;
    d->s = &sizes[n - LEAST];
    d->A = bench_doubles(n * n);
    d->gradient = bench_doubles(n * n);
    d->workspace = bench_zeros((int64_t)d->s->workspace);
    if (tool_numbers(input, "A", n * n, d->A))
        return d;
    return NULL;
}

static void primal(void *p)
{
    data *d = p;
    d->s->value(d->A, &d->value);
}

static void gradient(void *p)
{
    data *d = p;
    const double one = 1.0;
    for (int i = 0; i < d->n * d->n; i++)
        d->gradient[i] = 0.0;
    d->s->grad(d->A, NULL, &one, d->gradient, d->workspace);
}

static json_t *value(void *p)
{
    return tool_value(((data *)p)->value);
}

static json_t *slopes(void *p)
{
    const data *d = p;
    return tool_list(d->gradient, d->n * d->n);
}

static const tool_function functions[] = {
    {"primal", prepare, primal, value}, {"gradient", prepare, gradient, slopes}, {0}};
const tool_module tool_det = {"det", functions};
