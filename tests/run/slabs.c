#include "slabs.h"
#include "host.h"

int main(void)
{
    slabs *m = slabs_create(NULL, NULL);
    slabs_number(m);
    slabs_sum_of(m, 2);
    CHECK(m->n.data[0] == 86 * 100 + 44);
    slabs_sum_of_deep(m, 1, 2);
    CHECK(m->n.data[0] == 2 * (4 * 120 + 6));
    slabs_sum_of_half(m, 1);
    CHECK(m->n.data[0] == (12 * 100 + 4 * 30 + 18) * 100 + 33);
    slabs_all_rows(m);
    for (int k = 0; k < 12; k++)
        CHECK(m->h.data[k] == 100 + 10 * (k / 4) + k % 4 + 1000 * (k / 4));
    slabs_shift(m, 0);
    CHECK(m->h.data[4] == 105 && m->h.data[7] == 108 && m->h.data[8] == 2120);
    slabs_double_row(m, 1);
    CHECK(m->h.data[8] == 210 && m->h.data[11] == 216 && m->h.data[4] == 105);
    slabs_zero_last(m);
    slabs_zero_middle(m);
    slabs_clear(m, 0);
    CHECK(m->h.data[8] == 0 && m->h.data[11] == 0 && m->h.data[7] == 108 && m->h.data[3] == 7 && m->h.data[0] == 7);
    CHECK(m->d.data[11] == 23 && m->d.data[12] == 0 && m->d.data[23] == 0);
    CHECK_OK(m, slabs_status(m));
    slabs_destroy(m);
    return failures != 0;
}
