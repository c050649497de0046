/* The last number that each element gets. */
#include "outer_loops.h"
#include "host.h"

enum { N = 40, WIDTH = 8, ITERATIONS = 33 };

typedef tk_status (*launch)(outer_loops *m);

static int last_of(int element, int iterations)
{
    return element < iterations ? element : iterations - 1;
}

static void check_copies(const char *name, outer_loops *m, launch run, launch grad)
{
    for (int i = 0; i < N; i++) {
        m->x.data[i] = (float)(i * 3 % 7);
        m->x.grad[i] = 0;
        m->y.grad[i] = (float)(i + 1);
    }
    CHECK_OK(m, run(m));
    for (int i = 0; i < N; i++)
        if (!near((double)m->y.data[i], i * 3 % 7, 0))
            FAIL("%s: element %d is %g", name, i, (double)m->y.data[i]);
    CHECK_OK(m, grad(m));
    for (int i = 0; i < N; i++)
        if (!near((double)m->x.grad[i], i + 1, 0))
            FAIL("%s: gradient %d is %g", name, i, (double)m->x.grad[i]);
}

static void check_numbers(const char *name, outer_loops *m, launch run, int width)
{
    for (int i = 0; i < N; i++)
        m->y.data[i] = -1;
    CHECK_OK(m, run(m));
    for (int i = 0; i < N; i++) {
        const int want = i < ITERATIONS + width - 1 ? 2 * last_of(i, ITERATIONS) : -1;
        if (!near((double)m->y.data[i], want, 0))
            FAIL("%s: element %d is %g, should be %d", name, i, (double)m->y.data[i], want);
    }
}

int main(void)
{
    outer_loops *const m = outer_loops_create(NULL, NULL);
    if (!m)
        return 1;
    m->k.data[0] = WIDTH;
    check_copies("fixed", m, outer_loops_fixed, outer_loops_fixed_grad);
    check_copies("counted", m, outer_loops_counted, outer_loops_counted_grad);
    check_copies("down", m, outer_loops_down, outer_loops_down_grad);
    check_numbers("numbers", m, outer_loops_numbers, WIDTH);
    check_numbers("three", m, outer_loops_three, 3);
    check_numbers("called", m, outer_loops_called, WIDTH);
    outer_loops_destroy(m);
    return failures != 0;
}
