#include "sized_arrays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void expect(const char *what, double got, double want)
{
    if (fabs(got - want) > 1e-12 * (1 + fabs(want))) {
        printf("%s: %.15g, should be %.15g\n", what, got, want);
        failed = 1;
    }
}

static void set(sized_arrays *m, int32_t k, int64_t l)
{
    sized_arrays_params p = m->params;
    p.K = k;
    p.L = l;
    if (sized_arrays_set_params(m, &p) != TK_OK)
        failed = 1;
}

static void powers(sized_arrays *m, int k)
{
    set(m, k, 1);
    memset(m->x.grad, 0, 16 * sizeof(double));
    sized_arrays_powers(m);
    for (int i = 0; i < 16; i++) {
        expect("power", m->y.data[i], pow(m->x.data[i], k));
        m->y.grad[i] = 1;
    }
    sized_arrays_powers_grad(m);
    for (int i = 0; i < 16; i++)
        expect("slope", m->x.grad[i], k * pow(m->x.data[i], k - 1));
    sized_arrays_lengths(m);
    expect("length", m->y.data[5], k + 1);
}

int main(void)
{
    sized_arrays *m = sized_arrays_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 16; i++)
        m->x.data[i] = 0.5 + 0.05 * i;
    powers(m, 4);
    powers(m, 1);
    powers(m, 300);
    sized_arrays_large(m);
    expect("large", m->y.data[2], 50002 * m->x.data[2]);
    memset(m->x.grad, 0, 16 * sizeof(double));
    m->y.grad[2] = 1;
    sized_arrays_large_grad(m);
    expect("slope of large", m->x.grad[2], 50002);
    set(m, 4, 100);
    sized_arrays_huge(m);
    expect("status", sized_arrays_status(m), TK_OK);
    for (int bits = 30; bits <= 62; bits += 8) { /* also where the product of the extents does not fit 64 bits */
        set(m, 4, INT64_C(1) << bits);
        expect("huge", sized_arrays_huge(m), TK_NO_MEMORY);
        tk_session_clear_error(m->tk.session);
    }
    set(m, 4, 1);
    sized_arrays_at(m, 3);
    expect("at", m->y.data[7], 3);
    tk_session_clear_error(m->tk.session);
    sized_arrays_destroy(m);
    return failed;
}
