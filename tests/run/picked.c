#include "picked.h"
#include "host.h"

static void expect(picked *m, const char *what, float value)
{
    if (m->x.data[3] != value || m->y.data[3] != 1)
        FAIL("%s: %g, counted %g times", what, (double)m->x.data[3], (double)m->y.data[3]);
    m->y.data[3] = 0;
}

int main(void)
{
    picked *m = picked_create(NULL, NULL);
    if (!m)
        return 1;
    picked_other_component(m);
    expect(m, "other_component", 1);
    picked_of_a_list(m);
    expect(m, "of_a_list", 1);
    picked_twice(m);
    expect(m, "twice", 4);
    picked_run_time(m, 1);
    expect(m, "run_time", 1);
    picked_row(m);
    expect(m, "row", 1);
    picked_destroy(m);
    return failures != 0;
}
