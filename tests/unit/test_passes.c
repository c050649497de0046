/* The clean-up passes keep the meaning: random functions compute the same before and after each of them, in every order that is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/text/io.h"
#include "lower_gen.h"
#include "passes/simplify/simplify.h"

static const struct {
    const char *name;
    bool (*run)(ir_func *f);
} passes[] = {{"fold", pass_fold}, {"cse", pass_cse}, {"dce", pass_dce}, {"licm", pass_licm}};

enum { NPASSES = sizeof passes / sizeof *passes };

static void compare(const lowered *l, const int32_t *want, unsigned seed, const char *pass)
{
    for (size_t i = 0; i < l->ir->funcs.len; i++)
        if (!ir_verify(l->ir->funcs.at[i], pass))
            fail_msg("seed %u: invalid IR after %s", seed, pass);
    for (int i = 0; i < NINPUTS; i++) {
        int32_t got = ir_run(l->f, gen_inputs[i]);
        if (got == want[i])
            continue;
        ir_print_module(stderr, l->ir);
        fail_msg("seed %u, input %d: %d before and %d after %s", seed, i, want[i], got, pass);
    }
}

static void check_seed(unsigned seed)
{
    lowered l = gen_lowered(seed);
    int32_t want[NINPUTS];
    for (int i = 0; i < NINPUTS; i++)
        want[i] = ir_run(l.f, gen_inputs[i]);
    if (seed % 2) {
        pass_inline(l.ir);
        compare(&l, want, seed, "inline");
    }
    unsigned random = seed;
    for (int step = 0; step < 8; step++) {
        random = random * 1103515245u + 12345u;
        int p = (int)(random >> 16) % NPASSES;
        for (size_t i = 0; i < l.ir->funcs.len; i++)
            passes[p].run(l.ir->funcs.at[i]);
        compare(&l, want, seed, passes[p].name);
    }
    for (size_t i = 0; i < l.ir->funcs.len; i++)
        pass_simplify(l.ir->funcs.at[i]);
    compare(&l, want, seed, "simplify");
    gen_destroy(&l);
}

static void test_random_functions(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 2000; seed++)
        check_seed(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_functions)};
    return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
