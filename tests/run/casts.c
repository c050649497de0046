#include "casts.h"
#include "host.h"

#include <inttypes.h>

static void expect(const char *what, int k, int64_t got, int64_t want)
{
    if (got != want)
        FAIL("%s %d: %" PRId64 ", not %" PRId64, what, k, got, want);
}

int main(void)
{
    static const double x[8] = {1.9, -1.9, 2147483648.0, -1e300, INFINITY, NAN, 300.5, -2147483648.5};
    static const int32_t i[8] = {1, -1, INT32_MAX, INT32_MIN, INT32_MAX, 0, 300, INT32_MIN};
    static const int64_t l[8] = {1, -1, 2147483648, INT64_MIN, INT64_MAX, 0, 300, -2147483648};
    static const uint8_t b[8] = {1, 0, 255, 0, 255, 0, 255, 0};
    static const uint64_t u[8] = {1, 0, 2147483648, 0, UINT64_MAX, 0, 300, 0};
    static const int32_t bounded_i[8] = {1, -1, 1000, -7, 1000, -7, 300, -7};
    static const int64_t bounded_l[8] = {1, 1, 43, -2, 43, 37, 43, -2};
    static const uint8_t bounded_b[8] = {1, 0, 255, 0, 255, 0, 255, 0};
    casts *m = casts_create(NULL, NULL);
    for (int k = 0; k < 8; k++)
        m->x.data[k] = x[k], m->q.data[k] = (float)x[k];
    casts_all(m);
    for (int k = 0; k < 8; k++) {
        expect("i32", k, m->i.data[k], i[k]);
        expect("i64", k, m->l.data[k], l[k]);
        expect("u8", k, m->b.data[k], b[k]);
        expect("u64", k, (int64_t)m->u.data[k], (int64_t)u[k]);
    }
    casts_bounded(m);
    for (int k = 0; k < 8; k++) {
        expect("bounded i32", k, m->i.data[k], bounded_i[k]);
        expect("bounded i64", k, m->l.data[k], bounded_l[k]);
        expect("bounded u8", k, m->b.data[k], bounded_b[k]);
        expect("bounded u64", k, (int64_t)m->u.data[k], isfinite(x[k]) ? (int64_t)(fabs(sin(x[k])) * 10) : 0);
    }
    casts_overflown(m);
    for (int k = 0; k < 8; k++) {
        expect("overflown i32", k, m->i.data[k], 0);
        expect("overflown u8", k, m->b.data[k], k == 4 ? 255 : 0);
    }
    casts_chosen(m);
    for (int k = 0; k < 8; k++)
        expect("chosen", k, m->i.data[k], x[k] > 0 ? i[k] : -1);
    casts_folded(m);
    static const int32_t folded_i[4] = {INT32_MAX, INT32_MIN, 0, -1};
    static const uint8_t folded_b[4] = {0, 255, 255, 255};
    static const uint64_t folded_u[4] = {18000000000000000000u, UINT64_MAX, 0, UINT64_MAX};
    for (int k = 0; k < 4; k++) {
        expect("folded i32", k, m->i.data[k], folded_i[k]);
        expect("folded u8", k, m->b.data[k], folded_b[k]);
        expect("folded u64", k, (int64_t)m->u.data[k], (int64_t)folded_u[k]);
    }
    casts_destroy(m);
    return failures != 0;
}
