#include <stdlib.h>

#include "bench.h"
#include "hello.h"
#include "tool.h"

typedef struct data {
    double x, y;
} data;

static void *prepare(const json_t *input)
{
    if (!json_is_number(input)) {
        tool_refuse("the input is no number");
        return NULL;
    }
    data *d = calloc(1, sizeof *d);
    if (d)
        d->x = json_number_value(input);
    return d;
}

static void square(void *p)
{
    data *d = p;
    hello_square(d->x, &d->y);
}

static void twice(void *p)
{
    data *d = p;
    const double one = 1.0;
    d->y = 0.0;
    hello_square_grad(d->x, NULL, &one, &d->y);
}

static json_t *output(void *p)
{
    return tool_value(((data *)p)->y);
}

static const tool_function functions[] = {{"square", prepare, square, output}, {"double", prepare, twice, output}, {0}};
const tool_module tool_hello = {"hello", functions};
