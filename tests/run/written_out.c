#include <stdio.h>

#include "written_out.h"

int main(void)
{
    written_out *m = written_out_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 4; k++)
            m->x.data[4 * i + k] = 0.1 * (1 + i % 3) + (k == 3 && i > 4 ? 1e-17 * (1 << i) : 0.0);
    written_out_draw(m);
    written_out_show(m);
    TK_TAPE(m, m->loss) { written_out_choose(m); }
    for (int i = 0; i < 8; i++)
        printf("%.12g %d\n", m->drawn.data[i], (int)m->chosen.data[i]);
    printf("loss %.12g\n", m->loss.data[0]);
    for (int k = 0; k < 32; k++)
        printf("%.12g%c", m->x.grad[k], k % 4 == 3 ? '\n' : ' ');
    const int failed = written_out_status(m) != TK_OK;
    written_out_destroy(m);
    return failed;
}
