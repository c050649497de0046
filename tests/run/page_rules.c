#include "page_rules.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void expect(const char *what, float got, float want)
{
    if (got != want) {
        printf("%s is %g instead of %g\n", what, (double)got, (double)want);
        failed = 1;
    }
}

int main(void)
{
    page_rules *m = page_rules_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 16; i++)
        m->x.data[i] = (float)i;
    TK_TAPE(m, m->loss) page_rules_rule_1(m);
    expect("rule 1: x.grad[1]", m->x.grad[1], 10.0f);

    tk_module_clear_grad(&m->tk);
    m->before.data[0] = 2.0f;
    m->loss.grad[0] = 1.0f;
    page_rules_rule_2(m);
    page_rules_rule_2_grad(m);
    expect("rule 2: x.grad[1]", m->x.grad[1], 4.0f);
    expect("rule 2: x.grad[2]", m->x.grad[2], 3.0f);

    m->b.data[0] = 10.0f;
    tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    page_rules_func_1(m);
    page_rules_func_2(m);
    if (tk_tape_end(m->loss.field) != TK_OVERWRITTEN ||
        strcmp(page_rules_error(m), "page_rules.tk:22:5: kernel 'func_2' overwrites 'b', but the adjoint of kernel 'func_1' (launch 1 on the tape) "
                                    "needs the value that it read at page_rules.tk:18:40") != 0) {
        printf("%s\n", page_rules_error(m));
        failed = 1;
    }
    page_rules_destroy(m);
    return failed;
}
