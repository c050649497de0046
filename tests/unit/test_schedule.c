/* Binomial schedules of checkpoints: as many runs as the best schedule takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

/* ---- launches of unequal costs ---- */

enum { CHAIN = 60, FEW_SLOTS = 8 };

static double cost_of(const void *ctx, size_t first, size_t n)
{
    const double *w = ctx;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += w[first + i];
    return sum;
}

/* Time of launches that run again where images come behind so many launches: by their costs, or by their number. */
static double time_of(const double *w, size_t first, size_t n, size_t slots, bool by_cost)
{
    double sum = 0;
    for (size_t i = 1; i < n && slots == 0; i++)
        sum += cost_of(w, first, i);
    if (n < 2 || slots == 0)
        return sum;
    size_t at = tk_rt_schedule_split(n, slots);
    if (by_cost)
        at = tk_rt_schedule_cut(first, n, (double)at / (double)n, cost_of, w);
    assert_in_range(at, 1, n - 1);
    return cost_of(w, first, at) + time_of(w, first + at, n - at, slots - 1, by_cost) +
           time_of(w, first, at, slots, by_cost);
}

static double best_time(const double *w, size_t n, size_t slots)
{
    static double best[CHAIN + 1][CHAIN + 1][FEW_SLOTS + 1];
    for (size_t k = 0; k <= slots; k++)
        for (size_t size = 0; size <= n; size++)
            for (size_t first = 0; first + size <= n; first++) {
                double *b = &best[first][size][k];
                *b = time_of(w, first, size, 0, false);
                for (size_t at = 1; at < size && k > 0; at++) {
                    const double t = cost_of(w, first, at) + best[first + at][size - at][k - 1] + best[first][at][k];
                    *b = t < *b ? t : *b;
                }
            }
    return best[0][n][slots];
}

static void costs_decide(void **state)
{
    static const struct {
        int every;
        double high;
        int phase; /* so many of them at the beginning, or at the end */
    } cases[] = {{1, 1, 0}, {4, 10, 0}, {10, 100, 0}, {7, 30, 0}, {0, 100, 20}, {0, 100, -20}};
    (void)state;
    double of_best = 0, of_number = 0;
    int n = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t slots = 1; slots <= FEW_SLOTS; slots *= 2, n++) {
            double w[CHAIN];
            for (int i = 0; i < CHAIN; i++) {
                const int phase = cases[c].phase;
                const bool high = cases[c].every > 0 ? i % cases[c].every == 0
                                  : phase > 0        ? i < phase
                                                     : i >= CHAIN + phase;
                w[i] = high ? cases[c].high : 1;
            }
            const double by_cost = time_of(w, 0, CHAIN, slots, true), by_number = time_of(w, 0, CHAIN, slots, false);
            const double best = best_time(w, CHAIN, slots);
            assert_true(by_cost >= best && by_cost <= 1.75 * best);
            if (cases[c].every == 1)
                assert_true(by_cost == best);
            of_best += by_cost / best;
            of_number += by_cost / by_number;
        }
    assert_true(of_best < 1.2 * n && of_number < 0.85 * n);
}

/* Images that cost as much as launches are fewer. */
static void copies_cost(void **state)
{
    (void)state;
    rt_means m = {.n = 2000, .bytes = 60000, .memory = 60000, .image = 1000, .entry = 3000};
    const rt_plan free_ones = tk_rt_schedule_plan(&m);
    assert_true(free_ones.slots > 0 && free_ones.time == free_ones.again);
    double was = free_ones.again;
    size_t units = free_ones.units;
    for (m.copy = 0.25; m.copy <= 64; m.copy *= 4) {
        const rt_plan p = tk_rt_schedule_plan(&m);
        assert_true(p.slots * m.image + p.few * m.entry <= m.bytes);
        assert_true(p.units <= units && p.again >= was && p.time >= p.again);
        was = p.again;
        units = p.units;
    }
    assert_true(units < free_ones.units && was > free_ones.again);
    m.bytes = m.memory = 6000000; /* all fit */
    assert_true(tk_rt_schedule_plan(&m).units == 1 && tk_rt_schedule_plan(&m).again == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(best_of_all), cmocka_unit_test(long_chains),
                                       cmocka_unit_test(costs_decide), cmocka_unit_test(copies_cost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
