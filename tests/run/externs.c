#include "ext.h"
#include "host.h"

typedef __typeof__(*((ext *)0)->x.data) real;

real weight(real h)
{
    return (real)exp(-(double)h * (double)h);
}

float single(float h, double s)
{
    return (float)((double)h * (double)h * s);
}

void turn(const real p[2], const real A[2][3], real result_0[3], uint8_t *result_1)
{
    for (int k = 0; k < 3; k++)
        result_0[k] = p[0] * A[0][k] + p[1] * A[1][k];
    *result_1 = 200;
}

bool odd(int8_t a, uint16_t b, int64_t c, uint64_t u, bool e)
{
    return a == b % 100 && c == b * INT64_C(5000000000) && u == b && e;
}

void swap(ext_Pair p, int32_t i, ext_Pair *result_0, real *result_1, ext_Spring *result_2)
{
    *result_0 = p;
    result_0->at[0] = p.at[1];
    result_0->at[1] = p.at[0];
    *result_1 = (real)i;
    *result_2 = p.first;
    result_2->n = i;
}

real length_of(ext_Spring s)
{
    return 100 * s.k + 1000 * (real)s.n + 10000 * s.ends[0][2];
}

int32_t never(void)
{
    return -3;
}

real result(real a)
{
    return a * a;
}

real workspace(real a)
{
    return a + 1;
}

static void named(void)
{
    static _Alignas(8) unsigned char memory[ext_named_grad_WORKSPACE(2)];
    const real one = 1;
    real s, by_a = 0;
    ext_named(0.5f, 2, &s);
    ext_named_grad(0.5f, 2, NULL, &one, &by_a, memory);
    CHECK_NEAR(s, 1.75 * 1.75 + 2.75, 1e-4);
    CHECK_NEAR(by_a, (2 * 1.75 + 1) * 2, 1e-4);
}

int main(void)
{
    ext *m = ext_create(NULL, NULL);
    if (!m)
        return 1;
    const int n = 5000;
    for (int i = 0; i < n; i++) {
        m->x.data[i] = (real)(0.001 * i - 2);
        m->d.data[i] = 0.5 * i;
        m->x.dual[i] = 1;
        m->d.dual[i] = 2;
    }
    TK_TAPE(m, m->loss) {
        ext_weigh(m);
        ext_total(m);
    }
    for (int i = 0; i < n; i++) {
        const double h = (double)m->x.data[i];
        CHECK_NEAR(m->y.data[i], exp(-h * h) * (i % 7), 1e-4);
        CHECK_NEAR(m->x.grad[i], -2 * h * exp(-h * h) * (i % 7), 1e-4);
    }
    tk_session_clear_grad(tk_module_session(&m->tk));
    for (int i = 0; i < n; i++)
        m->f.grad[i] = 3;
    ext_mixed(m);
    ext_mixed_grad(m);
    ext_mixed_jvp(m);
    for (int i = 0; i < n; i++) {
        const double h = (double)m->x.data[i], by_h = 2 * h * 0.5 * i, by_s = h * h;
        CHECK_NEAR(m->f.data[i], 2 * h * h * 0.5 * i, 1e-4);
        CHECK_NEAR(m->x.grad[i], 3 * by_h, 1e-4);
        CHECK_NEAR(m->d.grad[i], 3 * by_s, 1e-4);
        CHECK_NEAR(m->f.dual[i], by_h + 2 * by_s, 1e-4);
    }
    ext_turned(m);
    CHECK_NEAR(m->y.data[1], 100 * 2 + 1000 * 10 + 10000 * 3 + 2 + 3 + 4 + 7 + 9 + 10, 1e-4);
    for (int i = 2; i < n; i++) {
        CHECK_NEAR(m->y.data[i], 6.0 * i + 15, 1e-4);
        CHECK(m->bytes.data[i] == (i % 2 ? 200 : 0));
    }
    named();
    CHECK_NEAR(m->y.data[0], -3, 1e-4);
    CHECK_OK(m, ext_status(m));
    ext_destroy(m);
    return failures != 0;
}
