/* The clean-up passes keep the meaning: random functions compute the same before and after each of them, in every order that is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/text/io.h"
#include "lower/lower.h"
#include "lower_gen.h"
#include "passes/simplify/simplify.h"

static const struct {
    const char *name;
    bool (*run)(ir_func *f);
} passes[] = {{"fold", pass_fold}, {"cse", pass_cse}, {"dce", pass_dce}, {"licm", pass_licm}};

enum { NPASSES = sizeof passes / sizeof *passes, NINPUTS = 6 };

static const int32_t inputs[NINPUTS][NARGS] = {{0, 0, 0}, {1, -2, 3}, {5, 4, -7}, {-3, 2, 1}, {1000000007, 12345, -99}, {7, 7, 7}};

static void compare(const ir_module *m, const ir_func *f, const int32_t *want, unsigned seed, const char *pass)
{
    for (size_t i = 0; i < m->funcs.len; i++)
        if (!ir_verify(m->funcs.at[i], pass))
            fail_msg("seed %u: invalid IR after %s", seed, pass);
    for (int i = 0; i < NINPUTS; i++) {
        int32_t got = ir_run(f, inputs[i]);
        if (got == want[i])
            continue;
        ir_print_module(stderr, m);
        fail_msg("seed %u, input %d: %d before and %d after %s", seed, i, want[i], got, pass);
    }
}

static void check_seed(unsigned seed)
{
    arena *mem = arena_create();
    intern_pool *names = intern_create();
    diag_sink *d = diag_create(stderr, DIAG_FORMAT_TEXT);
    ir_module *ir = ir_module_create(mem, names, d, "m");
    tx_module *m = gen_module(mem, ty_pool_create(mem, SC_F32), ir, seed);
    lower_module(m);
    ir_func *f = gen_last(m)->lowered;
    int32_t want[NINPUTS];
    for (int i = 0; i < NINPUTS; i++)
        want[i] = ir_run(f, inputs[i]);
    if (seed % 2) {
        pass_inline(ir);
        compare(ir, f, want, seed, "inline");
    }
    unsigned random = seed;
    for (int step = 0; step < 8; step++) {
        random = random * 1103515245u + 12345u;
        int p = (int)(random >> 16) % NPASSES;
        for (size_t i = 0; i < ir->funcs.len; i++)
            passes[p].run(ir->funcs.at[i]);
        compare(ir, f, want, seed, passes[p].name);
    }
    for (size_t i = 0; i < ir->funcs.len; i++)
        pass_simplify(ir->funcs.at[i]);
    compare(ir, f, want, seed, "simplify");
    ir_module_destroy(ir);
    diag_destroy(d);
    intern_destroy(names);
    arena_destroy(mem);
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
