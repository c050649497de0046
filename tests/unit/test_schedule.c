/* Binomial schedules of checkpoints: as many runs as the best schedule takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schedule.h"

enum { STEPS = 60, SLOTS = 12 };

/* Runs of steps where each image is taken where the schedule says. */
static double runs_of(size_t n, size_t slots)
{
    if (n == 1)
        return 0;
    if (slots == 0)
        return (double)(n * (n - 1) / 2);
    const size_t at = tk_rt_schedule_split(n, slots);
    assert_in_range(at, 1, n - 1);
    return (double)at + runs_of(n - at, slots - 1) + runs_of(at, slots);
}

static void best_of_all(void **state)
{
    static double best[STEPS + 1][SLOTS + 1];
    (void)state;
    for (size_t slots = 0; slots <= SLOTS; slots++)
        for (size_t n = 1; n <= STEPS; n++) {
            best[n][slots] = (double)(n * (n - 1) / 2);
            for (size_t at = 1; at < n && slots > 0; at++) {
                const double runs = (double)at + best[n - at][slots - 1] + best[at][slots];
                best[n][slots] = runs < best[n][slots] ? runs : best[n][slots];
            }
            assert_true(runs_of(n, slots) == best[n][slots]);
            assert_true(tk_rt_schedule_again(n, slots) == best[n][slots]);
        }
}

/* A million steps: C(10 + 13, 10) is the first above it. */
static void long_chains(void **state)
{
    const size_t n = 1000000, slots = 9;
    (void)state;
    const double runs = tk_rt_schedule_again(n, slots);
    assert_true(runs > 11.0 * (double)n && runs < 13.0 * (double)n);
    assert_true(tk_rt_schedule_again(n, n) == (double)(n - 1));
    const size_t at = tk_rt_schedule_split(n, slots);
    assert_true((double)at + tk_rt_schedule_again(n - at, slots - 1) + tk_rt_schedule_again(at, slots) == runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(best_of_all), cmocka_unit_test(long_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
