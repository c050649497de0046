#include "ours.h"
#include "tool.h"

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
    ours *o = bench_zeros(sizeof *o);
    begin(o, (int)rows / 2, c);
    return tool_numbers(input, "main_params", count, o->gates) &&
                   tool_numbers(input, "extra_params", 3 * B, o->extra) &&
                   tool_numbers(input, "state", rows * B, o->state) && tool_numbers(input, "sequence", c * B, o->text)
               ? o
               : NULL;
}

static json_t *value(void *p)
{
    return tool_value(((ours *)p)->loss);
}

static json_t *gradient(void *p)
{
    const ours *o = p;
    return tool_list(o->gradient, (8 * o->l + 3) * B);
}

static const tool_function functions[] = {
    {"objective", prepare, primal, value}, {"jacobian", prepare, grad, gradient}, {0}};
const tool_module tool_lstm = {"lstm", functions};
