#include "page_rules.h"
#include "host.h"

int main(void)
{
    page_rules *m = page_rules_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < 16; i++)
        m->x.data[i] = (float)i;
    TK_TAPE(m, m->loss) page_rules_rule_1(m);
    CHECK(m->x.grad[1] == 10.0f); /* rule 1 */

    tk_module_clear_grad(&m->tk);
    m->before.data[0] = 2.0f;
    m->loss.grad[0] = 1.0f;
    page_rules_rule_2(m);
    page_rules_rule_2_grad(m);
    CHECK(m->x.grad[1] == 4.0f && m->x.grad[2] == 3.0f); /* rule 2 */

    m->b.data[0] = 10.0f;
    tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE);
    page_rules_func_1(m);
    page_rules_func_2(m);
    if (tk_tape_end(m->loss.field) != TK_OVERWRITTEN ||
        strcmp(page_rules_error(m), "page_rules.tk:22:5: kernel 'func_2' overwrites 'b', but the adjoint of kernel "
                                    "'func_1' (launch 1 on the tape) needs the value that it read at "
                                    "page_rules.tk:18:40") != 0)
        FAIL("%s", page_rules_error(m));
    page_rules_destroy(m);
    return failures != 0;
}
