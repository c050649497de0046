#include "recurrences.h"
#include "host.h"

enum { N = 7 };
static const int trips[N] = {0, 1, 3, 5, 2, 6, 4};
static double x[N], u[N];

/* A row of the Jacobian: y[i], and its derivatives by x[j] and u[j]. */
typedef struct row {
    double y, x[N], u[N];
} row;

/* A function of a = x[i] and b = u[i]: value and tangents. */
typedef struct pair {
    double v, a, b;
} pair;

static pair num(double v)
{
    return (pair){v, 0, 0};
}

static pair add(pair p, pair q)
{
    return (pair){p.v + q.v, p.a + q.a, p.b + q.b};
}

static pair mul(pair p, pair q)
{
    return (pair){p.v * q.v, p.a * q.v + p.v * q.a, p.b * q.v + p.v * q.b};
}

static row local(int i, pair p)
{
    row r = {.y = p.v};
    r.x[i] = p.a;
    r.u[i] = p.b;
    return r;
}

static row want_power(int i)
{
    return local(i, (pair){pow(x[i], trips[i]), trips[i] * pow(x[i], trips[i] - 1), 0});
}

static row want_fibonacci(int i)
{
    static const double f[] = {1, 0, 1, 1, 2, 3, 5, 8, 13, 21}; /* F(-1), F(0), ... */
    const int n = trips[i];
    const double a = f[n] * x[i] + f[n + 1] * u[i], b = f[n + 1] * x[i] + f[n + 2] * u[i];
    return local(i, (pair){a * b, f[n] * b + f[n + 1] * a, f[n + 1] * b + f[n + 2] * a});
}

static row want_carried_index(int i)
{
    row r = {.y = 1};
    int count[N] = {0};
    for (int k = 0, at = i; k < trips[i]; k++, at = (2 * at + 1) % N) {
        r.y *= x[at];
        count[at]++;
    }
    for (int j = 0; j < N; j++)
        r.x[j] = count[j] * r.y / x[j];
    return r;
}

static row want_nested_sums(int i)
{
    row r = {0};
    for (int a = 0; a < trips[i]; a++)
        for (int b = 0; b <= a; b++)
            for (int c = b; c < a + trips[b % N]; c++) {
                r.y += x[i] * a + sin(u[c % N] * (b + 1)) * c;
                r.x[i] += a;
                r.u[c % N] += cos(u[c % N] * (b + 1)) * (b + 1) * c;
            }
    return r;
}

static row want_siblings(int i)
{
    const pair a = {x[i], 1, 0}, b = {u[i], 0, 1};
    pair p = num(1), q = num(0);
    for (int outer = 0; outer < 3; outer++) {
        for (int j = 0; j < trips[i]; j++)
            p = mul(p, a);
        q = mul(q, b);
        for (int j = 0; j <= outer; j++)
            q = add(q, mul(p, p));
        while (p.v < 0.1)
            p = mul(p, num(2));
    }
    return local(i, mul(p, q));
}

static row want_logistic(int i)
{
    const double r = 2.5 + u[i];
    pair s = {x[i], 1, 0};
    for (int k = 0; k < 1000; k++) {
        const double slope = r * (1 - 2 * s.v);
        s = (pair){r * s.v * (1 - s.v), slope * s.a, slope * s.b + s.v * (1 - s.v)};
    }
    return local(i, s);
}

static row want_newton(int i)
{
    return local(i, (pair){cbrt(x[i]), 1 / (3 * cbrt(x[i] * x[i])), 0});
}

static row want_march(int i)
{
    const double r = 1 + u[i], c = sqrt(r * r - x[i] * x[i]);
    return local(i, (pair){3 - c, x[i] / c, -r / c});
}

static double partition(int m)
{
    double s = 0;
    for (int j = 0; j < m; j++)
        s += exp(x[j]);
    return s;
}

static row want_softmax(int i)
{
    const int m = trips[i] > i + 1 ? trips[i] : i + 1;
    const double z = partition(m), p = exp(x[i]) / z;
    row r = {.y = p};
    for (int j = 0; j < m; j++)
        r.x[j] = p * ((i == j) - exp(x[j]) / z);
    return r;
}

static row want_log_sum_exp(int i)
{
    const int m = trips[i] + 1;
    const double z = partition(m);
    row r = {.y = log(z)};
    for (int j = 0; j < m; j++)
        r.x[j] = exp(x[j]) / z;
    return r;
}

typedef struct matrix {
    double at[2][2];
} matrix;

static matrix times(matrix a, matrix b)
{
    matrix c = {{{0}}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++)
                c.at[i][j] += a.at[i][k] * b.at[k][j];
    return c;
}

static matrix powered(matrix a, int n)
{
    matrix p = {{{1, 0}, {0, 1}}};
    while (n-- > 0)
        p = times(p, a);
    return p;
}

/* d(A^n) = sum over k of A^k dA A^(n-1-k) */
static row want_matrix_power(int i)
{
    const matrix a = {{{x[i], 0.5}, {u[i], 0.8}}}, by_x = {{{1, 0}, {0, 0}}}, by_u = {{{0, 0}, {1, 0}}};
    pair p = {powered(a, trips[i]).at[0][1], 0, 0};
    for (int k = 0; k < trips[i]; k++) {
        const matrix before = powered(a, k), after = powered(a, trips[i] - 1 - k);
        p.a += times(times(before, by_x), after).at[0][1];
        p.b += times(times(before, by_u), after).at[0][1];
    }
    return local(i, p);
}

/* Back-propagation through time. */
static row want_cell(int i)
{
    double h[N + 1][2] = {{0}};
    const int n = trips[i];
    for (int t = 0; t < n; t++) {
        h[t + 1][0] = tanh(x[i] * h[t][0] + 0.3 * h[t][1] + u[t % N]);
        h[t + 1][1] = tanh(x[i] * h[t][1] - 0.2 * h[t][0] + 0.5);
    }
    row r = {.y = h[n][0] + h[n][1]};
    double g0 = 1, g1 = 1;
    for (int t = n; t-- > 0;) {
        const double s0 = g0 * (1 - h[t + 1][0] * h[t + 1][0]), s1 = g1 * (1 - h[t + 1][1] * h[t + 1][1]);
        r.x[i] += s0 * h[t][0] + s1 * h[t][1];
        r.u[t % N] += s0;
        g0 = s0 * x[i] - 0.2 * s1;
        g1 = 0.3 * s0 + s1 * x[i];
    }
    return r;
}

static row want_prefix(int i)
{
    double v[N] = {x[0]};
    for (int k = 1; k <= i; k++)
        v[k] = sin(v[k - 1]) * u[k] + x[k];
    row r = {.y = v[i]};
    double g = 1;
    for (int k = i; k > 0; k--) {
        r.x[k] = g;
        r.u[k] = g * sin(v[k - 1]);
        g *= u[k] * cos(v[k - 1]);
    }
    r.x[0] = g;
    return r;
}

static row want_stores(int i)
{
    const double n = trips[i] - 1;
    if (trips[i] == 0)
        return local(i, (pair){exp(u[i]) + pow(x[i], 3), 3 * x[i] * x[i], exp(u[i])});
    return local(i, (pair){x[i] * u[i] * n + pow(x[i], 3), u[i] * n + 3 * x[i] * x[i], x[i] * n});
}

static row want_overwritten(int i)
{
    const pair a = {x[i], 1, 0}, b = {u[i], 0, 1};
    pair w[4] = {a, b, {1, 0, 0}, {0.5, 0, 0}};
    for (int k = 0; k < 4 * trips[i]; k++)
        w[k % 4] = add(mul(num(0.5), mul(w[(k + 1) % 4], w[(k + 3) % 4])), a);
    return local(i, mul(w[0], w[3]));
}

static row want_trips(int i)
{
    const pair growth = {1 + x[i], 1, 0};
    pair s = {u[i], 0, 1};
    while (s.v < 50)
        s = add(mul(s, growth), num(0.01));
    return local(i, s);
}

static void expect(const char *kernel, const char *what, int i, double got, double want)
{
    if (!near(got, want, 1e-8))
        FAIL("%s: %s[%d] is %.15g, should be %.15g", kernel, what, i, got, want);
}

static void check(recurrences *m, const char *name, tk_status (*run)(recurrences *), tk_status (*grad)(recurrences *),
                  tk_status (*jvp)(recurrences *), row (*want)(int))
{
    static const double seed[N] = {1.0, -0.7, 0.4, 1.3, -1.1, 0.6, 0.9};
    static const double vx[N] = {0.2, 1.0, -0.5, 0.3, 0.8, -1.2, 0.1}, vu[N] = {-0.4, 0.6, 1.0, -0.9, 0.2, 0.7, 0.5};
    double gx[N] = {0}, gu[N] = {0};
    memset(m->y.data, 0, sizeof x);
    run(m);
    memcpy(m->y.grad, seed, sizeof seed);
    memset(m->x.grad, 0, sizeof x);
    memset(m->u.grad, 0, sizeof x);
    grad(m);
    for (int i = 0; i < N; i++) {
        const row r = want(i);
        expect(name, "y", i, m->y.data[i], r.y);
        for (int j = 0; j < N; j++) {
            gx[j] += seed[i] * r.x[j];
            gu[j] += seed[i] * r.u[j];
        }
    }
    for (int j = 0; j < N; j++) {
        expect(name, "x.grad", j, m->x.grad[j], gx[j]);
        expect(name, "u.grad", j, m->u.grad[j], gu[j]);
    }
    memcpy(m->x.dual, vx, sizeof vx);
    memcpy(m->u.dual, vu, sizeof vu);
    memset(m->y.dual, 0, sizeof x);
    jvp(m);
    for (int i = 0; i < N; i++) {
        const row r = want(i);
        double d = 0;
        for (int j = 0; j < N; j++)
            d += r.x[j] * vx[j] + r.u[j] * vu[j];
        expect(name, "y.dual", i, m->y.dual[i], d);
    }
}

#define KERNEL(kernel) \
    check(m, #kernel, recurrences_##kernel, recurrences_##kernel##_grad, recurrences_##kernel##_jvp, want_##kernel)

int main(void)
{
    recurrences_params p = recurrences_defaults();
    p.N = N;
    recurrences *m = recurrences_create(NULL, &p);
    if (!m)
        return 1;
    for (int i = 0; i < N; i++) {
        m->x.data[i] = x[i] = 0.35 + 0.09 * i;
        m->u.data[i] = u[i] = 0.85 - 0.07 * i;
        m->n.data[i] = trips[i];
    }
    KERNEL(power);
    KERNEL(fibonacci);
    KERNEL(carried_index);
    KERNEL(nested_sums);
    KERNEL(siblings);
    KERNEL(logistic);
    KERNEL(newton);
    KERNEL(march);
    KERNEL(softmax);
    KERNEL(log_sum_exp);
    KERNEL(matrix_power);
    KERNEL(cell);
    KERNEL(prefix);
    KERNEL(stores);
    KERNEL(overwritten);
    KERNEL(trips);
    CHECK_OK(m, recurrences_status(m));
    recurrences_destroy(m);
    return failures != 0;
}
