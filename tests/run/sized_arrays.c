#include "sized_arrays.h"
#include "host.h"

static void set(sized_arrays *m, int32_t k, int64_t l)
{
    sized_arrays_params p = m->params;
    p.K = k;
    p.L = l;
    CHECK(sized_arrays_set_params(m, &p) == TK_OK);
}

static void powers(sized_arrays *m, int k)
{
    set(m, k, 1);
    memset(m->x.grad, 0, 16 * sizeof(double));
    sized_arrays_powers(m);
    for (int i = 0; i < 16; i++) {
        CHECK_NEAR(m->y.data[i], pow(m->x.data[i], k), 1e-12);
        m->y.grad[i] = 1;
    }
    sized_arrays_powers_grad(m);
    for (int i = 0; i < 16; i++)
        CHECK_NEAR(m->x.grad[i], k * pow(m->x.data[i], k - 1), 1e-12);
    sized_arrays_lengths(m);
    CHECK_NEAR(m->y.data[5], k + 1, 1e-12);
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
    CHECK_NEAR(m->y.data[2], 50002 * m->x.data[2], 1e-12);
    memset(m->x.grad, 0, 16 * sizeof(double));
    m->y.grad[2] = 1;
    sized_arrays_large_grad(m);
    CHECK_NEAR(m->x.grad[2], 50002, 1e-12);
    set(m, 4, 100);
    sized_arrays_huge(m);
    CHECK_OK(m, sized_arrays_status(m));
    for (int bits = 30; bits <= 62; bits += 8) { /* also where the product of the extents does not fit 64 bits */
        set(m, 4, INT64_C(1) << bits);
        CHECK_STATUS(m, sized_arrays_huge(m), TK_NO_MEMORY, "");
    }
    set(m, 4, 1);
    sized_arrays_at(m, 3);
    CHECK_NEAR(m->y.data[7], 3, 1e-12);
    tk_session_clear_error(m->tk.session);
    sized_arrays_destroy(m);
    return failures != 0;
}
