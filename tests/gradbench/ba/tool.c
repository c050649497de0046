#include <string.h>

#include "bench.h"
#include "ours.h"
#include "tool.h"

/* GradBench shows these entries of a matrix, and the last one. */
enum { SHOWN = 2 * BA_ROW };

typedef struct data {
    ba_input in;
    ba_output out;
    double *cameras, *points, *weights, *features;
    int *seen;
} data;

/* `count` copies of what stands in front. */
static void repeat(double *numbers, int64_t size, int64_t count)
{
    for (int64_t i = size; i < size * count; i++)
        numbers[i] = numbers[i - size];
}

static void *prepare(const json_t *input)
{
    data *d = bench_zeros(sizeof *d);
    ba_input *in = &d->in;
    bool ok = tool_integer(input, "n", 1, 1 << 20, &in->n) && tool_integer(input, "m", 1, 1 << 26, &in->m) &&
              tool_integer(input, "p", 10, 1 << 26, &in->p);
    if (ok) {
        in->cameras = d->cameras = bench_doubles((int64_t)BA_CAMERA * in->n);
        in->points = d->points = bench_doubles(3 * (int64_t)in->m);
        in->weights = d->weights = bench_doubles(in->p);
        in->features = d->features = bench_doubles(2 * (int64_t)in->p);
        in->seen = d->seen = bench_zeros(2 * in->p * (int64_t)sizeof(int));
        d->out = (ba_output){bench_doubles(2 * (int64_t)in->p), bench_doubles(in->p),
                             bench_doubles((2 * BA_ROW + 1) * (int64_t)in->p)};
        ok = tool_numbers(input, "cam", BA_CAMERA, d->cameras) && tool_numbers(input, "x", 3, d->points) &&
             tool_numbers(input, "w", 1, d->weights) && tool_numbers(input, "feat", 2, d->features);
    }
    if (!ok) {
        return NULL;
    }
    repeat(d->cameras, BA_CAMERA, in->n);
    repeat(d->points, 3, in->m);
    repeat(d->weights, 1, in->p);
    repeat(d->features, 2, in->p);
    for (int i = 0; i < in->p; i++) {
        d->seen[2 * i] = i % in->n;
        d->seen[2 * i + 1] = i % in->m;
    }
    return d;
}

static void objective(void *p)
{
    data *d = p;
    ba_errors(&d->in, &d->out);
}

static void jacobian(void *p)
{
    data *d = p;
    ba_jacobian(&d->in, &d->out);
}

static json_t *errors(void *p)
{
    const data *d = p;
    return json_pack("{s:{s:o, s:i}, s:{s:o, s:i}}", "reproj_error", "elements", tool_list(d->out.errors, 2),
                     "repeated", d->in.p, "w_err", "element", tool_value(d->out.off[0]), "repeated", d->in.p);
}

/* Where row r begins. */
static int row_start(const data *d, int r)
{
    return r <= 2 * d->in.p ? r * BA_ROW : 2 * d->in.p * BA_ROW + (r - 2 * d->in.p);
}

/* The column of entry i of the rows of observations. */
static int column(const data *d, int i)
{
    const int observation = i / (2 * BA_ROW), in_row = i % BA_ROW;
    if (in_row < BA_CAMERA)
        return BA_CAMERA * d->seen[2 * observation] + in_row;
    if (in_row < BA_CAMERA + 3)
        return BA_CAMERA * d->in.n + 3 * d->seen[2 * observation + 1] + in_row - BA_CAMERA;
    return BA_CAMERA * d->in.n + 3 * d->in.m + observation;
}

static json_t *matrix(void *p)
{
    const data *d = p;
    json_t *rows = json_array(), *columns = json_array(), *values = tool_list(d->out.values, SHOWN);
    for (int i = 0; i < SHOWN; i++) {
        json_array_append_new(rows, json_integer(row_start(d, i)));
        json_array_append_new(columns, json_integer(column(d, i)));
    }
    json_array_append_new(rows, json_integer(row_start(d, 3 * d->in.p)));
    json_array_append_new(columns, json_integer(BA_CAMERA * d->in.n + 3 * d->in.m + d->in.p - 1));
    if (values)
        json_array_append_new(values, tool_value(d->out.values[(2 * BA_ROW + 1) * (int64_t)d->in.p - 1]));
    return json_pack("{s:o, s:o, s:o}", "rows", rows, "cols", columns, "vals", values);
}

static const tool_function functions[] = {
    {"objective", prepare, objective, errors}, {"jacobian", prepare, jacobian, matrix}, {0}};
const tool_module tool_ba = {"ba", functions};
