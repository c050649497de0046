#include "control_flow.h"
#include "host.h"

enum { N = 12 };
static double x[N][N], y[N];

static void check(const char *what, int i, double got, double want)
{
    if (!near(got, want, 1e-12))
        FAIL("%s[%d]: %.17g, should be %.17g", what, i, got, want);
}

static int find(int row, double limit)
{
    for (int j = 0; j < N; j++)
        if (x[row][j] > limit)
            return j;
    return -1;
}

static int collatz(int n)
{
    int steps = 0;
    for (; n != 1; steps++)
        n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    return steps;
}

static double nested(double a, int n, int *at)
{
    double r = a;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            if (j == 3)
                break;
            if ((i + j) % 3 == 0)
                continue;
            r += i * j;
            if (r > 40) {
                *at = i;
                return r;
            }
        }
        r *= 1.25;
    }
    *at = -n;
    if (r < 2) {
        if (n > 4) {
            *at = n;
            return -r;
        }
        r += 100;
    }
    return r;
}

static double pairs(double total, int i)
{
    for (int a = 1; a < 4; a++)
        for (int b = 0; b < i; b++) {
            if (a * b > 9)
                return total; /* leaves both loops */
            if (b != 2)
                total += x[a][b];
        }
    return total;
}

static void check_sequential(control_flow *g)
{
    control_flow_sequential(g);
    for (int i = 0; i < N; i++) {
        int at, found = find(i, 0.5 * i);
        double total = pairs(nested(y[i], i, &at), i);
        check("y", i, g->y.data[i], found >= 0 && x[i][found] > 3 ? total : -total);
        check("k", i, g->k.data[i], found * 1000 + collatz(i + 1) * 10 + at);
    }
}

static void array(float w[3][2][2])
{
    for (int j = 0; j < 6; j++) {
        w[j / 2][j % 2][0] = (float)j;
        w[j / 2][j % 2][1] = 2 * (float)j;
        w[j % 3][1][1] += 0.5f;
    }
}

static void check_aggregates(control_flow *g)
{
    double m[N][5][5], v[N][5];
    for (int i = 0; i < N; i++)
        for (int r = 0; r < 5; r++) {
            v[i][r] = g->v.data[i][r] = 0.5 * r - i;
            for (int c = 0; c < 5; c++)
                m[i][r][c] = g->m.data[i][r][c] = sin(1 + i + 5 * r + c);
        }
    control_flow_aggregates(g);
    for (int i = 0; i < N; i++) {
        double a[5][5] = {{0}}, before[5][5];
        float w[3][2][2] = {{{0}}};
        array(w);
        for (int r = 0; r < 5; r++)
            for (int c = 0; c < 5; c++) {
                for (int q = 0; q < 5; q++)
                    a[r][c] += m[i][r][q] * m[i][c][q];
                before[r][c] = a[r][c];
            }
        a[i % 5][1] += (double)w[i % 3][i % 2][1];
        for (int r = 0; r < 5; r++)
            for (int c = 0; c < 5; c++) {
                if (i % 2)
                    a[r][c] += before[r][c];
                else if (i <= 6)
                    a[r][c] = a[r][c] * i - (r == 1 && c == 2);
                check("m", i, g->m.data[i][r][c], a[r][c]);
            }
        for (int r = 0; r < 5; r++) {
            double sum = 0;
            for (int c = 0; c < 5; c++)
                sum += a[r][c] * v[i][c];
            check("v", i, g->v.data[i][r], sum);
        }
    }
}

static void check_reduce(control_flow *g, int n)
{
    double total = 0.5, ones = 1, pair = 2, low = 1e300;
    int high = -1000;
    g->best.data[1] = -7;
    control_flow_reduce(g, n);
    for (int step = 0; step < 3; step += 2)
        for (int i = 0; i < n; i++)
            for (int j = 2; j < N; j++) {
                if (i == j)
                    continue;
                total += x[i][j];
                for (int q = 0; q < i && q <= 4; q++)
                    pair -= x[q][j];
                ones += x[i][j] > 2;
                low = fmin(low, x[i][j]);
                high = i - 2 * j > high ? i - 2 * j : high;
            }
    double want[] = {total, ones, pair, low};
    for (int i = 0; i < 4; i++)
        check("sums", i, g->sums.data[i], want[i]);
    check("best", 0, g->best.data[0], high);
    check("best", 1, g->best.data[1], n < 5 ? -7 : n);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void check_limits(control_flow *g, int n)
{
    const int trips = n < 0 ? 0 : n;
    control_flow_limits(g, n);
    const double want[] = {trips, least(trips, 3), least(trips, 6), n > 0 ? least(n, 9) : 9};
    for (int i = 0; i < 4; i++)
        check("limits", i, g->sums.data[i], want[i]);
    for (int i = 0; i < N; i++)
        check("limits in a task", i, g->k.data[i], least(trips, i));
    const int tests = least(trips, 7); /* 1, 3, 7, 15, 31, 63, 127 */
    check("tests of a condition", 0, g->wave.data[0], (1 << tests) - 1);
}

int main(void)
{
    control_flow *g = control_flow_create(NULL, NULL);
    if (!g) {
        printf("%s\n", tk_error());
        return 1;
    }
    for (int i = 0; i < N; i++) {
        y[i] = g->y.data[i] = i % 3 - 0.75 * i;
        for (int j = 0; j < N; j++)
            x[i][j] = g->x.data[control_flow_idx_x(g, i, j)] = fmod(7 * i + 5 * j * j, 11) - 2;
    }
    check_sequential(g);
    check_aggregates(g);
    check_reduce(g, 0);
    check_reduce(g, 4);
    check_reduce(g, N);
    check_limits(g, -1);
    check_limits(g, 0);
    check_limits(g, 2);
    check_limits(g, 100);
    CHECK_OK(g, control_flow_status(g));
    control_flow_destroy(g);
    return failures != 0;
}
