#include "ours.h"
#include "tool.h"

/* GradBench shows these entries of a matrix, and the last one. */
enum { SHOWN = 2 * BA_ROW };

/* `count` copies of what stands in front. */
static void repeat(double *numbers, int64_t size, int64_t count)
{
    for (int64_t i = size; i < size * count; i++)
        numbers[i] = numbers[i - size];
}

static void *prepare(const json_t *input)
{
    int n, m, p;
    if (!tool_integer(input, "n", 1, 1 << 20, &n) || !tool_integer(input, "m", 1, 1 << 26, &m) ||
        !tool_integer(input, "p", 10, 1 << 26, &p))
        return NULL;
    ours *o = bench_zeros(sizeof *o);
    begin(o, n, m, p);
    if (!tool_numbers(input, "cam", BA_CAMERA, o->cameras) || !tool_numbers(input, "x", 3, o->points) ||
        !tool_numbers(input, "w", 1, o->weights) || !tool_numbers(input, "feat", 2, o->features))
        return NULL;
    repeat(o->cameras, BA_CAMERA, n);
    repeat(o->points, 3, m);
    repeat(o->weights, 1, p);
    repeat(o->features, 2, p);
    for (int i = 0; i < p; i++) {
        o->seen[2 * i] = i % n;
        o->seen[2 * i + 1] = i % m;
    }
    return o;
}

static json_t *errors(void *p)
{
    const ours *o = p;
    return json_pack("{s:{s:o, s:i}, s:{s:o, s:i}}", "reproj_error", "elements", tool_list(o->out.errors, 2),
                     "repeated", o->in.p, "w_err", "element", tool_value(o->out.off[0]), "repeated", o->in.p);
}

/* Where row r begins. */
static int row_start(const ours *o, int r)
{
    return r <= 2 * o->in.p ? r * BA_ROW : 2 * o->in.p * BA_ROW + (r - 2 * o->in.p);
}

/* The column of entry i of the rows of observations. */
static int column(const ours *o, int i)
{
    const int observation = i / (2 * BA_ROW), in_row = i % BA_ROW;
    if (in_row < BA_CAMERA)
        return BA_CAMERA * o->seen[2 * observation] + in_row;
    if (in_row < BA_CAMERA + 3)
        return BA_CAMERA * o->in.n + 3 * o->seen[2 * observation + 1] + in_row - BA_CAMERA;
    return BA_CAMERA * o->in.n + 3 * o->in.m + observation;
}

static json_t *matrix(void *p)
{
    const ours *o = p;
    json_t *rows = json_array(), *columns = json_array(), *values = tool_list(o->out.values, SHOWN);
    for (int i = 0; i < SHOWN; i++) {
        json_array_append_new(rows, json_integer(row_start(o, i)));
        json_array_append_new(columns, json_integer(column(o, i)));
    }
    json_array_append_new(rows, json_integer(row_start(o, 3 * o->in.p)));
    json_array_append_new(columns, json_integer(BA_CAMERA * o->in.n + 3 * o->in.m + o->in.p - 1));
    if (values)
        json_array_append_new(values, tool_value(o->out.values[(2 * BA_ROW + 1) * (int64_t)o->in.p - 1]));
    return json_pack("{s:o, s:o, s:o}", "rows", rows, "cols", columns, "vals", values);
}

static const tool_function functions[] = {
    {"objective", prepare, primal, errors}, {"jacobian", prepare, grad, matrix}, {0}};
const tool_module tool_ba = {"ba", functions};
