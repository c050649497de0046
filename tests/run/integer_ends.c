#include "integer_ends.h"
#include "host.h"

#include <inttypes.h>

/* The low bits of n, with their sign. */
static int64_t wrapped(uint64_t n, int bits)
{
    const uint64_t top = UINT64_C(1) << (bits - 1), low = n & (top | (top - 1));
    return low & top ? -(int64_t)(top - (low & (top - 1)) - 1) - 1 : (int64_t)low;
}

static uint64_t power(uint64_t x, int64_t n)
{
    return n == 0 ? 1 : power(x * x, n / 2) * (n % 2 ? x : 1);
}

/* Operation k of two integers that have so many bits. */
static int64_t wanted(int k, int64_t a, int64_t b, int bits)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    const int64_t rest = b == 0 || b == -1 ? 0 : a % b;
    const int by = (int)(y & (uint64_t)(bits - 1));
    switch (k) {
    case 0:
        return wrapped(0 - x, bits);
    case 1:
        return wrapped(a < 0 ? 0 - x : x, bits);
    case 2:
    case 11:
        return wrapped(x + y, bits);
    case 3:
        return wrapped(x - y, bits);
    case 4:
        return wrapped(x * y, bits);
    case 5:
        return b == 0 ? 0 : b == -1 ? wrapped(0 - x, bits) : a / b;
    case 6:
        return rest;
    case 7:
        return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    case 8:
        return wrapped(x << by, bits);
    case 9:
        return a < 0 ? ~(~a >> by) : a >> by;
    default:
        return b >= 0 ? wrapped(power(x, b), bits) : a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    }
}

static void compare(int bits, int64_t (*got)(const integer_ends *m, int i), const integer_ends *m, const int64_t *a, const int64_t *b)
{
    for (int i = 0; i < 12 * 7; i++) {
        const int k = i / 7, at = i % 7;
        const int64_t want = wanted(k, a[at], b[at], bits);
        if (got(m, i) != want)
            FAIL("i%d, operation %d of %" PRId64 " and %" PRId64 ": %" PRId64 ", not %" PRId64, bits, k, a[at], b[at], got(m, i), want);
    }
}

static int64_t wide(const integer_ends *m, int i)
{
    return m->wide.data[i];
}

static int64_t narrow(const integer_ends *m, int i)
{
    return m->narrow.data[i];
}

static int64_t least(const integer_ends *m, int i)
{
    return m->least.data[i];
}

/* Launches a kernel on the ends of a type. */
static void run(integer_ends *m, int bits, tk_status (*kernel)(integer_ends *m), int64_t (*got)(const integer_ends *m, int i))
{
    const int64_t most = INT64_MAX >> (64 - bits), low = -most - 1;
    const int64_t a[7] = {low, most, low, low, most, -1, 3}, b[7] = {-1, most, low, 1, 2, bits - 1, 0};
    for (int k = 0; k < 7; k++) {
        m->a.data[k] = a[k];
        m->b.data[k] = b[k];
    }
    CHECK_OK(m, kernel(m));
    compare(bits, got, m, a, b);
}

int main(void)
{
    integer_ends *m = integer_ends_create(NULL, NULL);
    run(m, 64, integer_ends_wides, wide);
    run(m, 32, integer_ends_narrows, narrow);
    run(m, 8, integer_ends_leasts, least);
    integer_ends_destroy(m);
    return failures != 0;
}
