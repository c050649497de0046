#include "reference_c_shared.h"
#include "host.h"

#include <tkc/tkc_gen.h>

static void old_values(reference_c_shared *m)
{
    static const int32_t left[8] = {14, 4, 5, 9, 9 & 5, 9 | 5, 9 ^ 5, 14};
    for (int i = 0; i < 8; i++)
        m->n.data[i] = 9;
    m->wide.data[0] = 10;
    reference_c_shared_olds(m);
    for (int i = 0; i < 7; i++)
        CHECK(m->old.data[i] == 9);
    for (int i = 0; i < 8; i++)
        CHECK(m->n.data[i] == left[i]);
    CHECK(m->wide.data[0] == 7);
}

static void steps(reference_c_shared *m)
{
    const int64_t n = m->params.N;
    m->wide.data[0] = 0;
    m->wide.data[1] = n;
    m->bits.data[0] = 0;
    m->bits.data[1] = ~UINT64_C(0);
    m->tickets.data[0] = n;
    reference_c_shared_steps(m);
    CHECK(m->wide.data[0] == n - 1 && m->gain.data[0] == n - 1);
    CHECK(m->wide.data[1] == 0 && m->gain.data[1] == n);
    CHECK(m->bits.data[0] == ~UINT64_C(0) && m->bits.data[1] == 0 && m->bits.data[2] == 0 && m->zeros.data[0] == n / 2);
    for (int i = 0; i < 64; i++)
        CHECK(m->taken.data[i] == 101);
    CHECK(m->tickets.data[0] == 0 && m->tickets.data[1] == n * (n + 1) / 2);
}

static void nans(reference_c_shared *m)
{
    m->low.data[0] = 5;
    m->high.data[0] = 5;
    m->low.data[1] = NAN;
    m->high.data[1] = NAN;
    reference_c_shared_of_nan(m, NAN);
    CHECK(m->low.data[0] == 1 && m->high.data[0] == 999 && isnan(m->low.data[1]) && isnan(m->high.data[1]));
}

/* With one thread, and in a deterministic session, the order is that of the iterations. */
static void queue(bool deterministic)
{
    tk_session_options opt = tk_session_defaults();
    opt.threads = deterministic ? 4 : 1;
    opt.deterministic = deterministic;
    tk_session *s = tk_session_create(&opt);
    reference_c_shared *m = reference_c_shared_create(s, NULL);
    for (int launch = 0; launch < 3; launch++) {
        reference_c_shared_queue(m);
        for (int i = 0; i < 1000; i++)
            CHECK(m->slots.data[i] == i);
    }
    reference_c_shared_destroy(m);
    tk_session_destroy(s);
}

static void draws(reference_c_shared *m)
{
    int hits[5] = {0}, bytes[256] = {0}, fine = 0;
    reference_c_shared_draws(m);
    for (int i = 0; i < 200; i++) {
        CHECK(m->whole.data[i] >= 0 && m->whole.data[i] < 5);
        CHECK(m->bytes.data[i] >= 250 && m->bytes.data[i] < 255);
        hits[m->whole.data[i]]++;
        bytes[m->bytes.data[i]]++;
        fine += (double)(float)m->r64.data[i] != m->r64.data[i]; /* what meets an f64 has its digits */
        CHECK((double)m->r32.data[i] != m->r64.data[i]);
    }
    CHECK(fine > 150);
    for (int i = 0; i < 5; i++)
        CHECK(hits[i] > 0 && bytes[250 + i] > 0);
    /* instances of a generic function, copies of a static for, iterations and trips */
    double first[13];
    for (int launch = 0; launch < 2; launch++) {
        reference_c_shared_places(m);
        for (int i = 0; i < 13; i++) {
            for (int k = 0; k < i; k++)
                CHECK(m->r64.data[i] != m->r64.data[k]);
            CHECK(launch == 0 || m->r64.data[i] != first[i]);
            first[i] = m->r64.data[i];
        }
    }
}

/* randn is the transformation of Box and Muller, of what Philox gives. */
static void box_and_muller(void)
{
    for (uint64_t i = 0; i < 100; i++) {
        const tk_philox r = tk_philox_block(7, i, 3);
        const double u = ((double)((r.word[0] | (uint64_t)r.word[1] << 32) >> 11) + 1) / 9007199254740992.0;
        const double turn = (double)((r.word[2] | (uint64_t)r.word[3] << 32) >> 11) / 9007199254740992.0;
        CHECK(fabs(tk_randn_f64(7, i, 3) - sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * turn)) < 1e-14);
        const double v = ((double)r.word[0] + 0.5) / 4294967296.0, part = (double)r.word[1] / 4294967296.0;
        CHECK(fabs((double)tk_randn_f32(7, i, 3) - sqrt(-2 * log(v)) * cos(2 * 3.14159265358979323846 * part)) < 1e-5);
    }
}

int main(void)
{
    reference_c_shared *m = reference_c_shared_create(NULL, NULL);
    if (!m)
        return 2;
    old_values(m);
    steps(m);
    nans(m);
    queue(false);
    queue(true);
    draws(m);
    box_and_muller();
    CHECK(m->wrong.data[0] == 0);
    CHECK_OK(m, reference_c_shared_status(m));
    reference_c_shared_destroy(m);
    return failures != 0;
}
