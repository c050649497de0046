#include "bench.h"
#include "lstm.h"
#include "lstm_l4.h"
#include "lstm_l6.h"
#include "tool.h"

enum { B = 14 };

typedef struct data {
    int l, c;
    double *gates, *extra, *state, *text, *gradient, loss;
    void *workspace;
} data;

static size_t workspace(int l, int c)
{
    return l == 2   ? lstm_loss_grad_WORKSPACE(c)
           : l == 4 ? lstm_l4_loss_grad_WORKSPACE(c)
                    : lstm_l6_loss_grad_WORKSPACE(c);
}

static void *prepare(const json_t *input)
{
    const int64_t rows = tool_length(input, "main_params"), count = rows < 0 ? -1 : tool_count(input, "main_params"),
                  c = tool_length(input, "sequence");
    if (count < 0 || c < 0)
        return NULL;
    if ((rows != 4 && rows != 8 && rows != 12) || count != rows * 4 * B || c < 2 || c > 1 << 24) {
        tool_refuse("this program has 2, 4 or 6 layers of %d bits, and at least two characters", B);
        return NULL;
    }
    data *d = bench_zeros(sizeof *d);
    d->l = (int)rows / 2;
    d->c = (int)c;
    d->gates = bench_doubles(count);
    d->extra = bench_doubles(3 * B);
    d->state = bench_doubles(rows * B);
    d->text = bench_doubles(c * B);
    d->gradient = bench_doubles(count + 3 * B);
    d->workspace = bench_doubles((int64_t)(workspace(d->l, d->c) / sizeof(double)) + 1);
    if (tool_numbers(input, "main_params", count, d->gates) && tool_numbers(input, "extra_params", 3 * B, d->extra) &&
        tool_numbers(input, "state", rows * B, d->state) && tool_numbers(input, "sequence", c * B, d->text))
        return d;
    return NULL;
}

static void objective(void *p)
{
    data *d = p;
    (d->l == 2   ? lstm_loss
     : d->l == 4 ? lstm_l4_loss
                 : lstm_l6_loss)(d->c, d->gates, d->extra, d->state, d->text, &d->loss);
}

static void jacobian(void *p)
{
    data *d = p;
    const double one = 1.0;
    double *extra = d->gradient + 8 * d->l * B;
    for (int i = 0; i < (8 * d->l + 3) * B; i++)
        d->gradient[i] = 0.0;
    (d->l == 2   ? lstm_loss_grad
     : d->l == 4 ? lstm_l4_loss_grad
                 : lstm_l6_loss_grad)(d->c, d->gates, d->extra, d->state, d->text, NULL, &one, d->gradient, extra, NULL,
                                      NULL, d->workspace);
}

static json_t *value(void *p)
{
    return tool_value(((data *)p)->loss);
}

static json_t *gradient(void *p)
{
    const data *d = p;
    return tool_list(d->gradient, (8 * d->l + 3) * B);
}

static const tool_function functions[] = {
    {"objective", prepare, objective, value}, {"jacobian", prepare, jacobian, gradient}, {0}};
const tool_module tool_lstm = {"lstm", functions};
