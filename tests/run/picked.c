#include "picked.h"
#include <stdio.h>

static int expect(picked *m, const char *what, float value)
{
    const int wrong = m->x.data[3] != value || m->y.data[3] != 1;
    if (wrong)
        printf("%s: %g, counted %g times\n", what, (double)m->x.data[3], (double)m->y.data[3]);
    m->y.data[3] = 0;
    return wrong;
}

int main(void)
{
    picked *m = picked_create(NULL, NULL);
    int wrong = !m;
    if (m) {
        picked_other_component(m);
        wrong += expect(m, "other_component", 1);
        picked_of_a_list(m);
        wrong += expect(m, "of_a_list", 1);
        picked_twice(m);
        wrong += expect(m, "twice", 4);
        picked_run_time(m, 1);
        wrong += expect(m, "run_time", 1);
        picked_row(m);
        wrong += expect(m, "row", 1);
    }
    picked_destroy(m);
    return wrong != 0;
}
