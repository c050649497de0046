/* Lowering keeps the meaning: thousands of random functions with loops, early exits, calls, arrays and parallel reductions compute the same
 * as typed tree and as IR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/text/io.h"
#include "lower_gen.h"

static void check_seed(unsigned seed)
{
    lowered l = gen_lowered(seed);
    for (size_t i = 0; i < l.ir->funcs.len; i++)
        assert_true(ir_verify(l.ir->funcs.at[i], "lower"));
    for (int i = 0; i < NINPUTS; i++) {
        int32_t want = tree_run(l.tree, gen_inputs[i]), got = ir_run(l.f, gen_inputs[i]);
        if (want != got) {
            ir_print_module(stderr, l.ir);
            fail_msg("seed %u, input %d: %d as a tree, %d as IR", seed, i, want, got);
        }
    }
    gen_destroy(&l);
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
