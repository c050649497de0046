/* Costs of the lines of a log that is kept as nested loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loops.h"

enum { MOST = 4000, KERNELS = 4 };

typedef struct program {
    tk_session *s;
    struct rt_budget budget;
    rt_nodes log;
    double ahead[MOST + 1];
} program;

static tk_kernel kernels[KERNELS];
static tk_module module;

static void launch(program *p, int k, double ns)
{
    const rt_logged line = {.module = &module, .kernel = &kernels[k]};
    struct rt_budget *u = &p->budget;
    assert_true(tk_rt_nodes_add(p->s, &p->log, &line, NULL, 0));
    tk_rt_nodes_spend(&p->log, ns);
    u->n++;
    assert_true(u->n <= MOST);
    p->ahead[u->n] = p->ahead[u->n - 1] + ns;
}

static void with(void (*launches)(program *p), size_t nodes, double tolerance)
{
    static program p;
    p = (program){.s = tk_session_create(NULL)};
    p.s->tape.budget = &p.budget;
    launches(&p);
    tk_rt_nodes_settle(&p.log);
    assert_true(p.log.n <= nodes);
    const size_t n = p.budget.n;
    for (size_t i = 0; i <= n; i++) {
        const double off = tk_rt_nodes_cost(&p.log, i) - p.ahead[i];
        assert_true(off <= tolerance * p.ahead[n] && off >= -tolerance * p.ahead[n]);
    }
    const double all = tk_rt_nodes_cost(&p.log, n) - p.ahead[n];
    assert_true(all <= 1e-12 * p.ahead[n] && all >= -1e-12 * p.ahead[n]);
    tk_rt_nodes_free(p.s, &p.log);
    p.s->tape.budget = NULL;
    tk_session_destroy(p.s);
}

static void nested(program *p)
{
    launch(p, 3, 7);
    for (int t = 0; t < 30; t++) {
        launch(p, 0, 100);
        for (int i = 0; i < 9; i++) {
            launch(p, 1, 3);
            for (int j = 0; j < 5; j++)
                launch(p, 2, 0.5);
        }
        launch(p, 1, 20);
    }
    launch(p, 0, 40);
}

static void irregular(program *p)
{
    uint32_t h = 1;
    for (int t = 0; t < 500; t++) {
        h = h * 1664525u + 1013904223u;
        launch(p, (int)(h >> 30), (double)(h >> 30) + 1);
    }
}

/* Turns of one loop differ: each counts as their mean. */
static void noisy(program *p)
{
    for (int t = 0; t < 400; t++)
        for (int k = 0; k < KERNELS; k++)
            launch(p, k, 10.0 * k + (double)(t % 3));
}

static void costs_of_lines(void **state)
{
    (void)state;
    with(nested, 8, 1e-12);
    with(irregular, 500, 1e-12);
    with(noisy, 8, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(costs_of_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
