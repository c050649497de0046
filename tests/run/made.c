#include "made.h"
#include "host.h"

int main(void)
{
    made *m = made_create(NULL, NULL);
    tk_session *s = tk_module_session(&m->tk);
    made_count_a(m, 5);
    CHECK(m->a.data[2] == 7 && m->n.data[0] == 3);
    made_count_b(m);
    CHECK(m->b.data[3] == 13 && m->n.data[0] == 7 && m->a.data[2] == 7);
    made_both(m, 100);
    CHECK(m->a.data[1] == 101 && m->b.data[1] == 201 && m->n.data[0] == 14);
    made_set_a(m);
    made_set_c(m);
    float mean;
    made_mean_c(m, 3, &mean);
    CHECK(m->a.data[0] == 7 && m->c.data[1][1] == 0.5f && mean == 1.5f);
    made_plain_5(m);
    CHECK(m->n.data[0] == 5);
    made_plain(m, 6);
    made_plain_n(m);
    CHECK(m->n.data[0] == 6);
    CHECK(!tk_kernel_find(s, "count", NULL) && !tk_kernel_find(s, "set", NULL) && tk_kernel_find(s, "count_b", NULL));
    CHECK_OK(m, made_status(m));
    made_destroy(m);
    return failures != 0;
}
