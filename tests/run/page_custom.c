#include <stdio.h>
#include "page_custom.h"

typedef struct call {
    page_custom *m;
    float mul;
} call;

static tk_status forward(void *args)
{
    const call *c = args;
    page_custom_add(c->m, c->mul);
    return page_custom_add(c->m, c->mul);
}

static tk_status backward(void *args)
{
    const call *c = args;
    return page_custom_add_grad(c->m, c->mul);
}

int main(void)
{
    static const tk_triple custom = {"forward", forward, backward, NULL, 0};
    page_custom *m = page_custom_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 128; i++)
        m->x.data[i] = 1.0f;
    TK_TAPE(m, m->total) {
        const call c = {m, 4.0f};
        tk_call(tk_module_session(&m->tk), &custom, &c, sizeof c);
    }
    printf("total %g, x.grad[0] %g, x.grad[127] %g\n", (double)m->total.data[0], (double)m->x.grad[0], (double)m->x.grad[127]);
    if (page_custom_status(m) != TK_OK)
        printf("%s\n", page_custom_error(m));
    page_custom_destroy(m);
    return 0;
}
