#include "forward_output.h"
#include "host.h"

int main(void)
{
    forward_output *m = forward_output_create(NULL, NULL);
    if (!m)
        return 1;
    const double seed[3] = {1, 0, 2};
    for (int both = 0; both < 2; both++) {
        tk_field *outputs[2] = {m->y.field, m->x.field};
        for (int i = 0; i < 3; i++)
            m->x.data[i] = 0.5 + i;
        tk_forward_begin(outputs, 1 + both, m->x.field, seed, 3);
        forward_output_step(m);
        CHECK(tk_forward_end(tk_module_session(&m->tk)) == TK_OK);
        for (int i = 0; i < 3; i++) {
            const double want = cos(0.5 + i) * seed[i];
            CHECK(fabs(m->y.dual[i] - 2 * want) <= 1e-15 && fabs(m->x.dual[i] - (both ? want : 0)) <= 1e-15);
        }
    }
    forward_output_destroy(m);
    return failures != 0;
}
