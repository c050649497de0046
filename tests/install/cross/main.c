/* Of a machine where tkc does not run: the gradient by the tape and by forward mode, held against differences. */
#include "wave.h"

#include <stdio.h>

static void program(void *user)
{
    wave *const w = user;
    for (int t = 1; t <= w->params.STEPS; t++)
        wave_step(w, t);
    wave_measure(w);
}

int main(void)
{
    wave *w = wave_create(NULL, NULL);
    if (!w) {
        fprintf(stderr, "%s\n", tk_error());
        return 1;
    }
    for (int t = 0; t < 2; t++)
        for (int i = 1; i < w->params.N - 1; i++)
            w->u.data[wave_idx_u(w, t, i)] = 0.01 * i * (20 - i % 7 - t);
    tk_field *const inputs[] = {w->u.field};
    tk_gradcheck_result r;
    const tk_status s = tk_gradcheck(w->energy.field, inputs, 1, program, w, 1e-6, &r);
    if (s != TK_OK)
        fprintf(stderr, "%s\n", wave_error(w));
    printf("%d-bit, %lld derivatives are right\n", (int)(8 * sizeof(void *)), (long long)r.compared);
    wave_destroy(w);
    return s != TK_OK || !r.has_forward || r.kinks || r.jumps;
}
