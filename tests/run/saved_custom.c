#include "saved_custom.h"
#include "host.h"

static tk_status forward(void *args)
{
    return saved_custom_fill(*(saved_custom **)args);
}

static tk_status backward(void *args)
{
    (void)args;
    return TK_OK;
}

int main(void)
{
    saved_custom *m = saved_custom_create(NULL, NULL);
    if (!m)
        return 1;
    tk_session *s = tk_module_session(&m->tk);
    for (int i = 0; i < 4; i++)
        m->x.data[i] = (float)(i + 1);
    TK_TAPE(m, m->loss) {
        saved_custom_fill(m);
        saved_custom_use(m);
        saved_custom_own(m); /* its adjoint clears g, of which the adjoint of 'use' reads the values */
    }
    for (int i = 0; i < 4; i++) {
        const float x = m->x.data[i];
        CHECK(m->x.grad[i] == 4 * x * x * x + 1 && m->g.data[i] == x * x);
    }
    const tk_triple triple = {.forward = forward, .backward = backward, .name = "host"};
    TK_TAPE(m, m->loss) {
        tk_call(s, &triple, &m, sizeof m); /* nobody needs what it overwrites */
        saved_custom_use(m);
    }
    CHECK_OK(m, saved_custom_status(m));
    TK_TAPE(m, m->loss) {
        saved_custom_fill(m);
        saved_custom_use(m);
        tk_call(s, &triple, &m, sizeof m);
    }
    CHECK_OK(m, saved_custom_status(m));
    for (int i = 0; i < 4; i++)
        CHECK(m->x.grad[i] == 4 * m->x.data[i] * m->x.data[i] * m->x.data[i]);
    TK_TAPE(m, m->loss) {
        saved_custom_fill(m);
        saved_custom_use(m);
        tk_call_with(s, &triple, &m, sizeof m, NULL, 0); /* says that it stores nothing, and launches what does */
    }
    CHECK_STATUS(m, saved_custom_status(m), TK_NO_DERIVATIVE, "inside the function 'host' of the host, whose footprint does not say so");
    saved_custom_destroy(m);
    return failures != 0;
}
