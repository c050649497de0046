#include "draws.h"
#include "host.h"

#include <tkc/tkc_gen.h>

/* |value - want| within 5 standard deviations of it: seeds are fixed, so this is not a matter of luck. */
static void likely(const char *what, double value, double want, double sigma)
{
    if (!(fabs(value - want) <= 5 * sigma))
        FAIL("%s: %g, expected %g +- %g", what, value, want, sigma);
}

/* ---- vectors of the reference implementation, Random123 kat_vectors ---- */

static void known_answers(void)
{
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } v[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        const uint64_t key = v[i].key[0] | (uint64_t)v[i].key[1] << 32;
        const uint64_t a = v[i].counter[0] | (uint64_t)v[i].counter[1] << 32, b = v[i].counter[2] | (uint64_t)v[i].counter[3] << 32;
        const tk_philox r = tk_philox_block(key, a, b);
        CHECK(memcmp(r.word, v[i].want, sizeof r.word) == 0);
        CHECK(tk_random_u64(key, a, b) == (v[i].want[0] | (uint64_t)v[i].want[1] << 32));
    }
    CHECK(tk_below_u64(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
    CHECK(tk_below_u64(UINT64_MAX, 6) == 5);
    CHECK(tk_below_u64(0, UINT64_MAX) == 0);
    CHECK(tk_below_u64(UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543210)) == UINT64_C(0x121fa00ad77d7422));
}

/* ---- statistics ---- */

enum { BINS = 100 };

/* Mean, variance, chi-square of the histogram, correlation with the neighbour, of numbers in [0, 1). */
static void uniform(const char *what, const double *x, int64_t n)
{
    double sum = 0, square = 0, lag = 0, chi = 0;
    int64_t bin[BINS] = {0};
    for (int64_t i = 0; i < n; i++) {
        CHECK(x[i] >= 0 && x[i] < 1);
        sum += x[i];
        square += (x[i] - 0.5) * (x[i] - 0.5);
        if (i > 0)
            lag += (x[i] - 0.5) * (x[i - 1] - 0.5);
        bin[(int)(x[i] * BINS)]++;
    }
    const double count = (double)n;
    for (int i = 0; i < BINS; i++)
        chi += ((double)bin[i] - count / BINS) * ((double)bin[i] - count / BINS) / (count / BINS);
    likely(what, sum / count, 0.5, sqrt(1.0 / 12 / count));
    likely(what, square / count, 1.0 / 12, sqrt(1.0 / 180 / count));
    likely(what, lag / count, 0, 1.0 / 12 / sqrt(count));
    likely(what, chi, BINS - 1, sqrt(2.0 * (BINS - 1)));
}

static void normal(const char *what, const double *x, int64_t n)
{
    double m[5] = {0}, lag = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int p = 1; p <= 4; p++)
            m[p] += pow(x[i], p);
        if (i > 0)
            lag += x[i] * x[i - 1];
    }
    const double count = (double)n;
    likely(what, m[1] / count, 0, 1 / sqrt(count));
    likely(what, m[2] / count, 1, sqrt(2 / count));
    likely(what, m[3] / count, 0, sqrt(15 / count));
    likely(what, m[4] / count, 3, sqrt(96 / count));
    likely(what, lag / count, 0, 1 / sqrt(count));
    int64_t within = 0;
    for (int64_t i = 0; i < n; i++)
        within += fabs(x[i]) < 1;
    likely(what, (double)within / count, 0.6826894921, sqrt(0.6827 * 0.3173 / count));
}

static double correlation(const double *x, const double *y, int64_t n)
{
    double s = 0;
    for (int64_t i = 0; i < n; i++)
        s += (x[i] - 0.5) * (y[i] - 0.5);
    return s / (double)n * 12;
}

static double *widened(const float *x, int64_t n)
{
    double *r = malloc((size_t)n * sizeof *r);
    if (!r)
        exit(2);
    for (int64_t i = 0; i < n; i++)
        r[i] = (double)x[i];
    return r;
}

static void statistics(draws *m)
{
    const int64_t n = m->params.N;
    tk_session_set_seed(m->tk.session, 1);
    draws_draw(m);
    double *u = widened(m->u.data, n), *g = widened(m->n.data, n), *before = malloc((size_t)n * sizeof *before);
    if (!before)
        exit(2);
    uniform("random() f32", u, n);
    uniform("random() f64", m->d.data, n);
    normal("randn() f32", g, n);
    normal("randn() f64", m->e.data, n);
    likely("between places", correlation(u, m->d.data, n), 0, 1 / sqrt((double)n));
    int64_t bin[10] = {0};
    double chi = 0, mean = 0;
    for (int64_t i = 0; i < n; i++) {
        CHECK(m->k.data[i] >= -3 && m->k.data[i] < 7);
        CHECK(m->wide.data[i] >= 0 && m->wide.data[i] < 3000000000000);
        bin[m->k.data[i] + 3]++;
        mean += (double)m->wide.data[i] / 3e12;
    }
    const double each = (double)n / 10;
    for (int i = 0; i < 10; i++)
        chi += ((double)bin[i] - each) * ((double)bin[i] - each) / each;
    likely("random_int(-3, 7)", chi, 9, sqrt(18.0));
    likely("random_int(i64)", mean / (double)n, 0.5, sqrt(1.0 / 12 / (double)n));
    memcpy(before, m->d.data, (size_t)n * sizeof *before);
    draws_draw(m);
    likely("between launches", correlation(before, m->d.data, n), 0, 1 / sqrt((double)n));
    memcpy(before, m->d.data, (size_t)n * sizeof *before);
    tk_session_set_seed(m->tk.session, 2);
    draws_draw(m);
    draws_draw(m);
    likely("between seeds", correlation(before, m->d.data, n), 0, 1 / sqrt((double)n));
    draws_sites(m);
    double *first = malloc((size_t)n * sizeof *first), *second = malloc((size_t)n * sizeof *second);
    for (int64_t i = 0; first && second && i < n; i++) {
        first[i] = (double)m->pair.data[i][0];
        second[i] = (double)m->pair.data[i][1];
    }
    uniform("in a function", first, n);
    likely("between calls of a function", correlation(first, second, n), 0, 1 / sqrt((double)n));
    draws_nest(m);
    uniform("in nested loops", m->deep.data, n);
    likely("between outer iterations", correlation(m->deep.data, m->deep.data + n / 2, n / 2), 0, sqrt(2 / (double)n));
    draws_edges(m);
    double spread = 0;
    for (int i = 0; i < 200; i++) {
        CHECK(m->k.data[i] == 7); /* an empty range gives its lower bound */
        spread += fabs((double)m->wide.data[i]) / 9223372036854775808.0;
    }
    likely("all of i64", spread / 200, 0.5, sqrt(1.0 / 12 / 200));
    free(u);
    free(g);
    free(before);
    free(first);
    free(second);
}

/* ---- what the numbers depend on ---- */

static uint64_t hash(const void *p, size_t n)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * UINT64_C(1099511628211);
    return h;
}

static uint64_t drawn(draws *m)
{
    draws_draw(m);
    return hash(m->d.data, tk_field_bytes(m->d.field)) ^ hash(m->k.data, tk_field_bytes(m->k.field)) ^ hash(m->n.data, tk_field_bytes(m->n.field));
}

static void numbering(draws *m)
{
    tk_session *s = m->tk.session;
    tk_session_set_seed(s, 5);
    const uint64_t a = drawn(m), b = drawn(m);
    CHECK(a != b);
    tk_session_set_seed(s, 5);
    CHECK(drawn(m) == a);
    draws_quiet(m); /* does not draw, does not count */
    CHECK(drawn(m) == b);
    tk_session_set_seed(s, 6);
    CHECK(drawn(m) != a);
    const int threads = tk_session_threads(s);
    for (int t = 1; t <= 7; t++) {
        tk_session_set_threads(s, t);
        tk_session_set_seed(s, 5);
        CHECK(drawn(m) == a);
    }
    tk_session_set_threads(s, threads);
    tk_session_options o = tk_session_defaults();
    o.seed = 5;
    tk_session *other = tk_session_create(&o);
    draws *again = draws_create(other, NULL);
    CHECK(drawn(again) == a);
    draws_destroy(again);
    tk_session_destroy(other);
    CHECK(tk_session_set_seed(NULL, 1) == TK_BAD_ARGUMENT);
}

/* ---- derivatives ---- */

static void several(void *user)
{
    draws *m = user;
    draws_step(m);
    draws_advance(m);
    draws_step(m);
    draws_quiet(m);
    draws_advance(m);
}

static void fill(draws *m)
{
    for (int i = 0; i < 8; i++)
        m->x.data[i] = 0.3 + 0.1 * i;
}

/* A tape of several launches: each adjoint draws what its launch drew. */
static void on_tape(draws *m)
{
    tk_gradcheck_result r;
    fill(m);
    tk_session_set_seed(m->tk.session, 3);
    CHECK(tk_gradcheck(m->loss.field, (tk_field *[]){m->x.field}, 1, several, m, 1e-7, &r) == TK_OK);
    CHECK(r.has_forward);
    double forward[8], reverse[8];
    tk_session_set_seed(m->tk.session, 3);
    CHECK(tk_jacobian_forward(m->loss.field, m->x.field, several, m, forward) == TK_OK);
    CHECK(tk_jacobian_reverse(m->loss.field, m->x.field, several, m, reverse) == TK_OK);
    for (int i = 0; i < 8; i++)
        CHECK(fabs(forward[i] - reverse[i]) < 1e-12);
}

/* A direct call of the adjoint goes by the last launch. */
static void direct(draws *m)
{
    double first[8];
    fill(m);
    tk_session_set_seed(m->tk.session, 9);
    for (int round = 0; round < 2; round++) {
        tk_session_clear_grad(m->tk.session);
        draws_advance(m);
        m->loss.grad[0] = 1;
        draws_advance_grad(m);
        if (round == 0) {
            memcpy(first, m->x.grad, sizeof first);
            continue;
        }
        CHECK(first[0] != m->x.grad[0]);
        tk_session_set_seed(m->tk.session, 9); /* the launch that was keeps its numbers */
        const double sum = m->x.grad[0];
        draws_advance_grad(m);
        CHECK(m->x.grad[0] == 2 * sum);
    }
    tk_session_clear_grad(m->tk.session);
    draws_advance(m);
    m->loss.grad[0] = 1;
    draws_advance_grad(m);
    CHECK(!memcmp(first, m->x.grad, sizeof first));
}

enum { WALKS = 6 };

/* The gradient of six walks by where they began, in segments: each draws what its launches drew. */
static void walks(draws *m, int segment, double gradient[8])
{
    tk_session *s = tk_module_session(&m->tk);
    double at[WALKS][8];
    uint64_t number[WALKS];
    fill(m);
    tk_session_set_seed(s, 7);
    for (int t = 0; t < WALKS; t++) {
        memcpy(at[t], m->x.data, sizeof at[t]);
        number[t] = tk_session_draws(s);
        draws_walk(m);
    }
    for (int from = WALKS - segment; from >= 0; from -= segment) {
        const bool last = from + segment == WALKS;
        memcpy(m->x.data, at[from], sizeof at[from]);
        CHECK_OK(m, tk_session_set_draws(s, number[from]));
        tk_tape_begin(m->loss.field, last ? 0 : TK_TAPE_CONTINUE);
        for (int t = from; t < from + segment; t++)
            draws_walk(m);
        if (last)
            draws_quiet(m);
        CHECK_OK(m, tk_tape_end(m->loss.field));
    }
    memcpy(gradient, m->x.grad, 8 * sizeof *gradient);
}

static void in_segments(draws *m)
{
    double whole[8], segments[8];
    walks(m, WALKS, whole);
    CHECK(whole[0] != 1 && whole[0] != whole[1]);
    for (int segment = 1; segment < WALKS; segment++) {
        if (WALKS % segment)
            continue;
        walks(m, segment, segments);
        CHECK(!memcmp(whole, segments, sizeof whole));
    }
    tk_session_set_seed(m->tk.session, 7);
    CHECK(tk_session_draws(m->tk.session) == 0 && tk_session_draws(NULL) == 0);
    CHECK(tk_session_set_draws(NULL, 1) == TK_BAD_ARGUMENT);
}

static tk_status forward_twice(void *args)
{
    draws *m = *(draws **)args;
    draws_advance(m);
    return draws_status(m);
}

static tk_status backward_again(void *args)
{
    draws *m = *(draws **)args;
    const double loss = m->loss.data[0];
    draws_advance(m);
    m->loss.data[0] = loss;
    draws_advance_grad(m);
    return draws_status(m);
}

static tk_status backward_alone(void *args)
{
    draws *m = *(draws **)args;
    draws_advance_grad(m);
    return draws_status(m);
}

static void calls(void *user)
{
    static const tk_triple t = {"host", forward_twice, backward_again, forward_twice, 0};
    draws *m = user;
    tk_call(m->tk.session, &t, &m, sizeof m);
    draws_step(m);
    tk_call(m->tk.session, &t, &m, sizeof m);
}

/* Inside tk_call: backward launches again and draws the same; it is not let draw anything else. */
static void in_calls(draws *m)
{
    static const tk_triple alone = {"host", forward_twice, backward_alone, NULL, 0};
    double reverse[8];
    fill(m);
    tk_session_set_seed(m->tk.session, 4);
    CHECK(tk_jacobian_reverse(m->loss.field, m->x.field, calls, m, reverse) == TK_OK);
    for (int i = 0; i < 8; i++) {
        double at[2];
        for (int k = 0; k < 2; k++) {
            fill(m);
            m->x.data[i] += k ? 1e-5 : -1e-5;
            m->loss.data[0] = 0;
            tk_session_set_seed(m->tk.session, 4);
            calls(m);
            at[k] = m->loss.data[0];
        }
        CHECK(fabs((at[1] - at[0]) / 2e-5 - reverse[i]) < 1e-7);
    }
    fill(m);
    tk_tape_begin(m->loss.field, 0);
    tk_call(m->tk.session, &alone, &m, sizeof m);
    CHECK(tk_tape_end(m->loss.field) == TK_OK); /* one call: the last launch is its own */
    tk_tape_begin(m->loss.field, 0);
    tk_call(m->tk.session, &alone, &m, sizeof m);
    tk_call(m->tk.session, &alone, &m, sizeof m);
    CHECK(tk_tape_end(m->loss.field) == TK_BAD_STATE);
    CHECK(strstr(draws_error(m), "would not go by its launch") != NULL);
    tk_session_clear_error(m->tk.session);
}

/* The adjoint of a kernel that never ran has nothing to draw. */
static void without_launch(void)
{
    draws *m = draws_create(NULL, NULL);
    CHECK(draws_advance_grad(m) == TK_BAD_STATE);
    draws_destroy(m);
}

int main(void)
{
    draws *m = draws_create(NULL, NULL);
    if (!m)
        return 2;
    known_answers();
    statistics(m);
    numbering(m);
    on_tape(m);
    direct(m);
    in_segments(m);
    in_calls(m);
    without_launch();
    CHECK_OK(m, draws_status(m));
    draws_destroy(m);
    return failures != 0;
}
