// threads: 1 2 4 7
// pieces: small
// module: width_still.tk --real=f64 --prefix=one -D K=1
/* Directions along which nothing moves are left out of sums, and no other: each column of tangents is that of a run
 * with one direction, and close to a difference. */
#include "one.h"
#include "width_still.h"
#include "host.h"

enum { K = 6, N = 75, B = 5, KERNELS = 6 };

#define EACH_KERNEL(DO) DO(0, blend) DO(1, fractions) DO(2, both_move) DO(3, fades) DO(4, sides) DO(5, in_place)

static void launch_wide(width_still *m, int kernel)
{
#define LAUNCH(at, name) \
    if (kernel == at) \
        CHECK_OK(m, width_still_##name##_jvp(m));
    EACH_KERNEL(LAUNCH)
#undef LAUNCH
}

static void launch_one(one *m, int kernel, bool along)
{
#define LAUNCH(at, name) \
    if (kernel == at) \
        CHECK_OK(m, along ? one_##name##_jvp(m) : one_##name(m));
    EACH_KERNEL(LAUNCH)
#undef LAUNCH
}

static double number(int i)
{
    return sin(12.9898 * i + 1.5) * 0.9;
}

/* Which directions move what: none, one of four numbers in one direction, all. */
typedef enum seeding { NONE, FEW, ALL, SEEDINGS } seeding;

static double seed(seeding how, int of, int i, int d)
{
    const bool moves = how == ALL || (how == FEW && (of == 0 ? i % 4 == d - 1 && i / 4 % 3 : i == d - 1));
    return moves ? number(7 * i + 131 * of + 17 * d) : 0.0;
}

/* What a factor is. */
typedef enum odd { PLAIN, INFINITE, NOT_A_NUMBER, ODDS } odd;

static double weight(odd how, int b, int i)
{
    return how == PLAIN || b != 2 || i % 37 != 11 ? 1.25 + number(3 * b + 11 * i) : how == INFINITE ? INFINITY : NAN;
}

#define SET_DATA(m, odd_is) \
    for (int b = 0; b < B; b++) { \
        for (int k = 0; k < 4; k++) \
            (m)->bone.data[b][k / 2][k % 2] = number(b * 4 + k); \
        (m)->part.data[b] = number(50 + b); \
        (m)->side.data[b] = b % 2; \
        for (int i = 0; i < N; i++) \
            (m)->weight.data[b * N + i] = weight(odd_is, b, i); \
    } \
    for (int i = 0; i < N; i++) { \
        (m)->x.data[i] = number(90 + i); \
        (m)->y.data[i] = number(200 + i); \
        (m)->base.data[i][0] = number(300 + i); \
        (m)->base.data[i][1] = number(400 + i); \
    }

static void begin(width_still *m, seeding how, odd is)
{
    SET_DATA(m, is)
    for (int d = 0; d < K; d++) {
        for (int b = 0; b < B; b++) {
            for (int k = 0; k < 4; k++)
                m->bone.dual[b][k / 2][k % 2][d] = seed(how, 0, b * 4 + k, d);
            m->part.dual[b][d] = seed(how, 1, b, d);
        }
        for (int i = 0; i < N; i++) {
            m->x.dual[i][d] = seed(how, 2, i, d);
            m->y.dual[i][d] = seed(how, 3, i, d);
        }
    }
}

/* d < 0: no tangents; the data are moved along -1 - d by step. */
static void begin_one(one *m, seeding how, odd is, int d, double step)
{
    const int along = d < 0 ? -1 - d : d;
    SET_DATA(m, is)
    for (int b = 0; b < B; b++) {
        for (int k = 0; k < 4; k++) {
            m->bone.dual[b][k / 2][k % 2] = seed(how, 0, b * 4 + k, along);
            m->bone.data[b][k / 2][k % 2] += step * m->bone.dual[b][k / 2][k % 2];
        }
        m->part.dual[b] = seed(how, 1, b, along);
        m->part.data[b] += step * m->part.dual[b];
    }
    for (int i = 0; i < N; i++) {
        m->x.dual[i] = seed(how, 2, i, along);
        m->x.data[i] += step * m->x.dual[i];
        m->y.dual[i] = seed(how, 3, i, along);
        m->y.data[i] += step * m->y.dual[i];
    }
}

static bool same(double got, double want)
{
    return isfinite(want) ? near(got, want, 1e-14) : !isfinite(got);
}

static void check_column(width_still *m, one *o, int kernel, seeding how, odd is, int d)
{
    begin_one(o, how, is, d, 0);
    launch_one(o, kernel, true);
    for (int i = 0; i < N; i++)
        for (int k = kernel > 0 ? 2 : 0; k < (kernel > 0 ? 3 : 2); k++) {
            const double got = k == 2 ? m->y.dual[i][d] : m->place.dual[i][k][d],
                         want = k == 2 ? o->y.dual[i] : o->place.dual[i][k];
            if (!same(got, want))
                FAIL("kernel %d, seeds %d, factors %d, element %d, component %d, direction %d: %g, not %g", kernel,
                     (int)how, (int)is, i, k, d, got, want);
        }
}

static void check_difference(const width_still *m, one *o, int kernel, seeding how, int d)
{
    enum { ENDS = 2 };
    static double end[ENDS][N][3];
    const double step = 1e-5;
    for (int e = 0; e < ENDS; e++) {
        begin_one(o, how, PLAIN, -1 - d, e ? step : -step);
        launch_one(o, kernel, false);
        for (int i = 0; i < N; i++) {
            end[e][i][0] = o->place.data[i][0];
            end[e][i][1] = o->place.data[i][1];
            end[e][i][2] = o->y.data[i];
        }
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 2 && kernel == 0; k++)
            CHECK_NEAR(m->place.dual[i][k][d], (end[1][i][k] - end[0][i][k]) / (2 * step), 1e-7);
        if (kernel > 0)
            CHECK_NEAR(m->y.dual[i][d], (end[1][i][2] - end[0][i][2]) / (2 * step), 1e-7);
    }
}

static void check_threads(width_still *m, int kernel, seeding how)
{
    for (int threads = 2; threads <= 7; threads++) {
        const tk_session_options options = {.threads = threads};
        tk_session *s = tk_session_create(&options);
        width_still *with = width_still_create(s, NULL);
        tk_session_destroy(s);
        CHECK(with);
        begin(with, how, PLAIN);
        launch_wide(with, kernel);
        begin(m, how, PLAIN);
        launch_wide(m, kernel);
        CHECK(!memcmp(with->y.dual, m->y.dual, sizeof(double) * N * K));
        CHECK(kernel > 0 || !memcmp(with->place.dual, m->place.dual, sizeof(double) * 2 * N * K));
        width_still_destroy(with);
    }
}

int main(void)
{
    const tk_session_options options = {.threads = 1};
    tk_session *s = tk_session_create(&options);
    width_still *m = width_still_create(s, NULL);
    one *o = one_create(s, NULL);
    tk_session_destroy(s);
    CHECK(m && o);
    for (int kernel = 0; m && o && kernel < KERNELS; kernel++)
        for (seeding how = NONE; how < SEEDINGS; how++) {
            for (odd is = PLAIN; is < ODDS; is++) {
                begin(m, how, is);
                launch_wide(m, kernel);
                for (int d = 0; d < K; d++)
                    check_column(m, o, kernel, how, is, d);
            }
            begin(m, how, PLAIN);
            launch_wide(m, kernel);
            for (int d = 0; d < K; d++)
                check_difference(m, o, kernel, how, d);
            check_threads(m, kernel, how);
        }
    width_still_destroy(m);
    one_destroy(o);
    return failures != 0;
}
