/* Each sum against the same of doubles. */
#include "long_sums.h"
#include "host.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static void expect(const char *what, double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * fabs(want)))
        FAIL("%s: %.9g, not %.9g: off by %.2g", what, got, want, fabs(got / want - 1));
}

/* A sum into an element beside the one that the loop reads. */
static void check_moment(long_sums *m, int64_t n)
{
    const float mean = 0.25f;
    double squares = 0, slope = 0;
    for (int i = 0; i < 1024; i++) {
        const double apart = (double)m->x.data[i] - (double)mean, often = (double)(n / 1024 + (i < n % 1024));
        squares += often * apart * apart;
        slope -= often * 2 * apart;
    }
    m->stats.data[0] = mean;
    m->stats.grad[1] = 1;
    m->stats.dual[0] = 1;
    if (long_sums_moment(m) || long_sums_moment_grad(m)) {
        FAIL("%s", long_sums_error(m));
        return;
    }
    expect("a moment", m->stats.data[1], squares);
    expect("its gradient", m->stats.grad[0], slope);
    m->stats.data[1] = 0;
    CHECK_OK(m, long_sums_moment_jvp(m));
    expect("its tangent", m->stats.dual[1], slope);
}

int main(void)
{
    long_sums_params p = long_sums_defaults();
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__)
    p.N /= 10; /* slow there, and the sum is as right */
#endif
    long_sums *m = long_sums_create(NULL, &p);
    double sum = 0;
    for (int i = 0; i < 1024; i++)
        sum += m->x.data[i] = (float)(0.3 + 0.9 * ((i * 37) % 1024) / 1024.0);
    const double all = sum * (double)(p.N / 1024), w = 1.25;
    double rest = 0;
    for (int i = 0; i < p.N % 1024; i++)
        rest += m->x.data[i];
    *m->w.data = (float)w;
    *m->loss.grad = 1;
    *m->w.dual = 1;
    float result = 0, dual = 0;
    if (long_sums_into_field(m) || long_sums_into_field_grad(m))
        return 1;
    expect("a field", *m->loss.data, w * (all + rest));
    expect("a gradient", *m->w.grad, all + rest);
    if (long_sums_local(m, &result) || long_sums_local_jvp(m, &result, &dual))
        return 1;
    expect("a result", result, w * (all + rest));
    expect("a tangent", dual, all + rest);
    if (long_sums_constant(m))
        return 1;
    expect("equal terms", m->both.data[0][0], (double)0.1f * (double)p.N);
    expect("ones", m->both.data[0][1], (double)p.N);
    *m->loss.data = 0;
    if (long_sums_grid(m))
        return 1;
    double rows = 0; /* of i + j */
    for (int64_t i = 0; i < p.N / 1000; i++)
        for (int j = 0; j < 1000; j++)
            rows += m->x.data[(i + j) & 1023];
    expect("a grid", *m->loss.data, w * rows);
    check_moment(m, p.N / 4);
    long_sums_destroy(m);
    return failures != 0;
}
