#include "diverged.h"

#include <stdio.h>

static diverged *begin(void)
{
    diverged *m = diverged_create(NULL, NULL);
    if (!m)
        return NULL;
    for (int i = 0; i < 4; i++)
        m->x.data[i] = 0.25 + i;
    for (int i = 0; i < 40; i++)
        m->tex.data[i] = 0.1 * i;
    tk_tape_begin(m->loss.field, 0);
    diverged_sample(m);
    diverged_total(m);
    return m;
}

static void end(diverged *m)
{
    const tk_status s = tk_tape_end(m->loss.field);
    printf("%s: %s\n", tk_status_name(s), s == TK_OK ? "" : diverged_error(m));
    diverged_destroy(m);
}

int main(void)
{
    diverged *m = begin();
    end(m);
    m = begin();
    m->x.data[2] = 3.5;
    end(m);
    m = begin();
    m->y.data[1] = -1;
    end(m);
    m = begin();
    diverged_params p = m->params;
    p.dx = 0.2;
    diverged_set_params(m, &p);
    end(m);
}
