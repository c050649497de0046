/* Lowering keeps the meaning: thousands of random functions with loops, early exits, calls, arrays and parallel reductions compute the same
 * as typed tree and as IR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/text/io.h"
#include "lower/lower.h"
#include "lower_gen.h"

static void check_seed(unsigned seed)
{
    static const int32_t inputs[][NARGS] = {{0, 0, 0}, {1, -2, 3}, {5, 4, -7}, {-3, 2, 1}, {1000000007, 12345, -99}};
    arena *mem = arena_create();
    intern_pool *names = intern_create();
    diag_sink *d = diag_create(stderr, DIAG_FORMAT_TEXT);
    ir_module *ir = ir_module_create(mem, names, d, "m");
    tx_module *m = gen_module(mem, ty_pool_create(mem, SC_F32), ir, seed);
    lower_module(m);
    for (size_t i = 0; i < ir->funcs.len; i++)
        assert_true(ir_verify(ir->funcs.at[i], "lower"));
    const tx_func *f = gen_last(m);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        int32_t want = tree_run(f, inputs[i]), got = ir_run(f->lowered, inputs[i]);
        if (want != got) {
            ir_print_module(stderr, ir);
            fail_msg("seed %u, input %zu: %d as a tree, %d as IR", seed, i, want, got);
        }
    }
    ir_module_destroy(ir);
    diag_destroy(d);
    intern_destroy(names);
    arena_destroy(mem);
}

static void test_random_functions(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 3000; seed++)
        check_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_functions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
