#include "reference_c.h"
#include "host.h"

#include <stdatomic.h>

/* ---- the session: who prints, and who allocates ---- */

static atomic_int printing;
static int lines, overlaps;
static heap memory;

static void on_print(void *user, const char *text)
{
    (void)user;
    if (atomic_fetch_add(&printing, 1) != 0)
        overlaps++;
    if (strncmp(text, "line ", 5) == 0 && strchr(text, '\n') == text + strlen(text) - 1)
        lines++;
    else
        fputs(text, stdout);
    atomic_fetch_sub(&printing, 1);
}

static int64_t allocated(reference_c *m, tk_status (*launch)(reference_c *))
{
    const int64_t before = memory.calls;
    CHECK(launch(m) == TK_OK);
    for (int i = 0; i < 4; i++)
        CHECK(m->out.data[i] == 1);
    return memory.calls - before;
}

static void set_k(reference_c *m, int k)
{
    reference_c_params p = m->params;
    p.K = k;
    CHECK(reference_c_set_params(m, &p) == TK_OK);
}

/* Up to 16 KB of constant extents lie on the stack; for all else a thread gets memory, and keeps it. */
static void of_arrays(void)
{
    tk_session_options opt = tk_session_defaults();
    opt.alloc = heap_alloc;
    opt.alloc_user = &memory;
    opt.threads = 1;
    tk_session *s = tk_session_create(&opt);
    reference_c *m = reference_c_create(s, NULL);
    CHECK(allocated(m, reference_c_small) == 0);
    CHECK(allocated(m, reference_c_sized) > 0);
    CHECK(allocated(m, reference_c_sized) == 0);
    set_k(m, 4);
    CHECK(allocated(m, reference_c_sized) == 0);
    reference_c_destroy(m);
    tk_session_destroy(s);
    s = tk_session_create(&opt);
    m = reference_c_create(s, NULL);
    CHECK(allocated(m, reference_c_small) == 0);
    CHECK(allocated(m, reference_c_large) > 0);
    CHECK(allocated(m, reference_c_large) == 0);
    reference_c_destroy(m);
    tk_session_destroy(s);
}

static void statements(reference_c *m)
{
    int32_t a[2][3] = {{0}};
    reference_c_visits(m, 2, 3, &a[0][0]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 5; k++)
                CHECK(m->g.data[(i * 4 + j) * 5 + k] == 1001 * (1 + i * 20 + j * 5 + k));
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            CHECK(m->box.data[i * 5 + j] == (i < 3 && j >= 1 && j < 4));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            CHECK(a[i][j] == 10 * i + j + 1);

    int64_t up[4] = {0}, down[4] = {0};
    double halves[4] = {0};
    for (int i = 0; i < 100; i++)
        m->pick.data[i] = i * i % 4 + (i % 3 == 0);
    for (int i = 0; i < m->params.N; i++) {
        const int k = m->pick.data[i % 100];
        up[k] += 1;
        down[k] -= i % 7;
        halves[k] += 0.5;
        halves[3 - k] -= 0.25;
    }
    reference_c_atomic_sums(m);
    for (int i = 0; i < 4; i++)
        CHECK(m->up.data[i] == up[i] && m->down.data[i] == down[i] && m->halves.data[i] == halves[i]);

    m->calls.data[0] = 0;
    CHECK(reference_c_asserted(m) == TK_OK);
    CHECK(m->calls.data[0] == 0);
    reference_c_talk(m);
    CHECK(lines == 2000 && overlaps == 0);
}

static void expressions(reference_c *m)
{
    reference_c_of_bool(m, (const double[]){1, 3}, (const double[]){2, 2});
    reference_c_components(m, 1, 0);
    double longer[12];
    for (int i = 0; i < 12; i++)
        longer[i] = 10 * i;
    longer[3] = -10;
    CHECK(reference_c_bind_near(m, longer + 4) == TK_OK);
    longer[9] = 50;
    reference_c_chosen(m, 0, NULL, 0); /* reads longer[9] and longer[3], outside of the four elements */
    for (int i = 0; i < 100; i++)
        reference_c_powers(m, sin(i) * 3 + 4, cos(i) * 5, 5);
    reference_c_order(m);
}

/* ---- built-in functions ---- */

static double floored(double a, double b)
{
    const double r = fmod(a, b);
    return r != 0 && signbit(r) != signbit(b) ? r + b : r;
}

static void remainders(reference_c *m)
{
    static const double values[] = {1, 3, 0.1, 1e-30, 7e29, 1.5e-300, 3e300, 6.283185307179586, 1e16, 12345.678};
    enum { COUNT = sizeof values / sizeof *values };
    for (int i = 0; i < 4 * COUNT * COUNT; i++) {
        const double a = values[i % COUNT] * (i / COUNT / COUNT % 2 ? -1 : 1), b = values[i / COUNT % COUNT] * (i / COUNT / COUNT / 2 ? -1 : 1);
        const float x = (float)a, y = (float)b;
        reference_c_remainders(m, x, y, a, b);
        const double rest = m->f64s.data[0], whole = m->f64s.data[1];
        CHECK(rest == fmod(a, b));
        CHECK(b > 0 ? whole >= 0 && whole < b : whole <= 0 && whole > b);
        CHECK(whole == floored(a, b) || (floored(a, b) == b && fabs(whole) == nextafter(fabs(b), 0)));
        if (y == 0 || isinf(x) || isinf(y))
            continue;
        CHECK(m->f32s.data[0] == fmodf(x, y));
        const float of_floats = m->f32s.data[1], want = (float)floored((double)x, (double)y);
        CHECK(y > 0 ? of_floats >= 0 && of_floats < y : of_floats <= 0 && of_floats > y);
        CHECK(of_floats == want || (want == y && fabsf(of_floats) == nextafterf(fabsf(y), 0)));
    }
}

static void not_finite(reference_c *m)
{
    static const double numbers[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++)
        for (int at = 0; at < 9; at++) {
            double A[2][2], B[3][3];
            for (int i = 0; i < 4; i++)
                A[i / 2][i % 2] = i == at % 4 ? numbers[k] : 1 + i;
            for (int i = 0; i < 9; i++)
                B[i / 3][i % 3] = i == at ? numbers[k] : 1 + i * i % 7;
            reference_c_not_finite(m, A, B);
        }
}

static void built_ins(reference_c *m)
{
    not_finite(m);
    reference_c_component_by_component(m, (const double[]){0.3, 0.7}, (const double[]){0.6, 0.2}, (const double[]){-1.5, 2.25});
    reference_c_methods(m, 0.5, 0.75, (const double[]){0.5, 1, 2}, true);
    double a[2][3] = {{0}};
    reference_c_lengths(m, 2, 3, &a[0][0]);
    remainders(m);
    reference_c_as_written(m, 2e19f, 2e18f); /* the sum of the squares is out of range */
    CHECK(isinf(m->f32s.data[0]) && m->f32s.data[1] > 2e19f && m->f32s.data[1] < 2.1e19f && m->f32s.data[2] == 0);
    reference_c_as_written(m, 3, 4);
    CHECK(fabsf(m->f32s.data[0] - sqrtf(26)) < 1e-6f && m->f32s.data[1] == 5 && fabsf(m->f32s.data[2] - 3 / sqrtf(26)) < 1e-6f);
    reference_c_out_of_range(m, 1e20f);
    CHECK(!isfinite(m->f32s.data[0]) && fabsf(m->f32s.data[1] * 2e20f - 1) < 1e-6f && fabsf(m->f32s.data[2] * 1e-10f - 1) < 1e-6f);
    reference_c_out_of_range(m, 1e-20f);
    CHECK((m->f32s.data[0] == 0 || isnan(m->f32s.data[0])) && fabsf(m->f32s.data[1] * 2e-20f - 1) < 1e-6f && !isfinite(m->f32s.data[2]));
    reference_c_as_written(m, 0, 0);
    CHECK(m->f32s.data[0] == 1 && m->f32s.data[2] == 0);
}

int main(void)
{
    tk_session_options opt = tk_session_defaults();
    opt.on_print = on_print;
    tk_session *s = tk_session_create(&opt);
    reference_c *m = reference_c_create(s, NULL);
    if (!m)
        return 2;
    of_arrays();
    statements(m);
    expressions(m);
    built_ins(m);
    CHECK(m->wrong.data[0] == 0);
    CHECK_OK(m, reference_c_status(m));
    reference_c_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
