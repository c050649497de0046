#include "steps.h"
#include "host.h"

#include <stdint.h>

/* Whether from, from + step, ... is not at its end `to`; without overflow. */
static bool is_within(__int128 i, int64_t to, int64_t step)
{
    return step > 0 ? i < to : i > to;
}

static void check_walk(const steps *m, int64_t a, int64_t b, int at, int64_t step, int most)
{
    int64_t n = 0, last = 0;
    uint64_t sum = 0;
    for (__int128 i = a; is_within(i, b, step) && n < most; i += step) {
        n++;
        last = (int64_t)i;
        sum += (uint64_t)last;
    }
    if (m->trips.data[at] != n || m->total.data[at] != (int64_t)sum || m->last.data[at] != last)
        FAIL("range(%lld, %lld, %lld): %lld trips to %lld, not %lld to %lld", (long long)a, (long long)b,
             (long long)step, (long long)m->trips.data[at], (long long)m->last.data[at], (long long)n, (long long)last);
}

static void walks(steps *m)
{
    const int32_t ends[][2] = {{0, 0},
                               {0, 1},
                               {0, 6},
                               {0, 7},
                               {-5, 6},
                               {6, -5},
                               {7, 0},
                               {3, 3},
                               {INT32_MAX - 7, INT32_MAX},
                               {INT32_MAX, INT32_MAX - 7},
                               {INT32_MIN, INT32_MIN + 7},
                               {INT32_MIN + 8, INT32_MIN},
                               {INT32_MAX, INT32_MAX}};
    static const int64_t near[] = {1, 2, 3, -1, -2, -3};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        const int32_t a = ends[k][0], b = ends[k][1];
        CHECK_OK(m, steps_walk(m, a, b));
        for (int s = 0; s < 6; s++) {
            check_walk(m, a, b, s, near[s], 1000);
            CHECK(m->trips.data[s] == 0 || m->first.data[s] == a);
            CHECK(m->found.data[s] == m->trips.data[s] + m->total.data[s]);
        }
    }
}

static void far_walks(steps *m)
{
    const int32_t at[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
    static const int64_t far[] = {INT32_MAX, INT32_MIN, 1000000007, -1000000007};
    for (int i = 0; i < 49; i++) {
        CHECK_OK(m, steps_far(m, at[i / 7], at[i % 7]));
        for (int s = 0; s < 4; s++)
            check_walk(m, at[i / 7], at[i % 7], s, far[s], 1000);
    }
}

static void wide_walks(steps *m)
{
    const int64_t at[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    static const int64_t by[] = {INT32_MAX, INT32_MIN, 2, -1, -2};
    for (int i = 0; i < 49; i++) {
        CHECK_OK(m, steps_wide(m, at[i / 7], at[i % 7]));
        for (int s = 0; s < 5; s++)
            check_walk(m, at[i / 7], at[i % 7], s, by[s], 5);
    }
}

enum { N = 11 };

static void reached(steps *m, int a, int b)
{
    int want[6][N] = {{0}};
    for (int i = 0; i < N; i += 2)
        want[0][i] += i + 1;
    for (int i = 1; i < N - 1; i += 3)
        want[1][i + 1] += i + 1;
    for (int i = N - 1; i > -1; i--)
        want[2][i] += i + 1;
    for (int i = N - 1; i > 0; i -= 2)
        want[3][i - 1] += i + 1;
    for (int i = a; i < b; i += 4)
        want[4][N - 1 - i] += i + 1;
    for (int i = b - 1; i > a - 1; i -= 3)
        want[5][i] = i + 1;
    CHECK_OK(m, steps_reach(m, a, b));
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < N; i++)
            if (m->seen.data[k * N + i] != want[k][i])
                FAIL("seen[%d, %d] is %d, not %d", k, i, m->seen.data[k * N + i], want[k][i]);
}

static void boxes(steps *m)
{
    int want[N][N] = {{0}};
    for (int i = N - 1; i > -1; i -= 3)
        for (int j = 1; j < N; j += 2)
            want[i][j] += 1;
    for (int i = 0; i < N; i += 4)
        for (int j = 0; j < N; j++)
            want[i][j] += 10;
    for (int i = 0; i < N; i += 5)
        for (int j = 0; j < N; j += 5)
            want[i][j] += 100;
    for (int i = 6; i > 2; i -= 2)
        for (int j = 0; j < 9; j += 4)
            want[i][j] += 1000;
    for (int i = 7; i > 1; i -= 3)
        for (int j = 0; j < 5; j += 2)
            want[i][j] += 10000;
    for (int i = 2; i > 0; i--)
        for (int j = 4; j < 9; j += 3)
            want[i][j] += 100000;
    CHECK_OK(m, steps_boxes(m));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (m->box.data[i * N + j] != want[i][j])
                FAIL("box[%d, %d] is %d, not %d", i, j, m->box.data[i * N + j], want[i][j]);
}

static void orders(steps *m)
{
    int n = 0;
    CHECK_OK(m, steps_orders(m));
    for (int i = N - 1; i >= 0; i -= 2)
        CHECK(m->order.data[i] == n++);
    for (int i = 9; i > 0; i -= 2)
        CHECK(m->order.data[i] == n++);
}

static void shifts(steps *m)
{
    for (int n = 0; n < 5; n++) {
        const bool meets = n == 2 || n == 4;
        CHECK_STATUS(m, steps_shift(m, n), meets ? TK_RACE : TK_OK, meets ? "in kernel 'shift'" : "");
    }
}

static void lists(steps *m)
{
    CHECK_OK(m, steps_lists(m));
    CHECK_NEAR(m->x.data[0], 1031.0, 0);
    static const int at[4][2] = {{6, 5}, {5, 6}, {4, 5}, {5, 4}};
    for (int k = 0; k < 4; k++)
        CHECK(m->box.data[at[k][0] * N + at[k][1]] == 7);
}

int main(void)
{
    steps *m = steps_create(NULL, NULL);
    walks(m);
    far_walks(m);
    wide_walks(m);
    reached(m, 0, N);
    reached(m, 2, 9);
    reached(m, 5, 4);
    boxes(m);
    orders(m);
    shifts(m);
    lists(m);
    steps_destroy(m);
    return failures != 0;
}
