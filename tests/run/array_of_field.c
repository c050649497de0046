/* An array that is memory of a field with derivatives would count as constant on a tape, and in a forward scope: refused there. */
#include "array_of_field.h"
#include "host.h"

int main(void)
{
    array_of_field *m = array_of_field_create(NULL, NULL), *other = m ? array_of_field_create(m->tk.session, NULL) : NULL;
    if (!other)
        return 2;
    const double copy[6] = {1, 2, 3, 4, 5, 6};
    double seed[6] = {1};
    for (int i = 0; i < 6; i++)
        m->x.data[i] = other->y.data[i] = i + 1;
    TK_TAPE(m, m->loss) {
        array_of_field_square(m);
        array_of_field_sum(m, 6, m->y.data);
    }
    /* a field */
    CHECK_STATUS(m, array_of_field_status(m), TK_NO_DERIVATIVE,
                 "kernel 'sum' of module 'array_of_field': the array 'w' is memory of the field 'array_of_field.y', "
                 "which has a gradient");
    TK_TAPE(m, m->loss) array_of_field_sum(m, 2, m->y.data + 4);
    CHECK_STATUS(m, array_of_field_status(m), TK_NO_DERIVATIVE, "the field 'array_of_field.y'"); /* a part of it */
    TK_TAPE(m, m->loss) array_of_field_sum(m, 6, other->y.data);
    CHECK_STATUS(m, array_of_field_status(m), TK_NO_DERIVATIVE, "which has a gradient"); /* of another module */
    array_of_field_forward_x(m, (tk_field *[]){m->loss.field}, 1, seed, 6);
    array_of_field_sum(m, 6, m->y.data);
    tk_forward_end(m->tk.session);
    /* in a forward scope */
    CHECK_STATUS(m, array_of_field_status(m), TK_NO_DERIVATIVE, "'array_of_field.y', which has a dual");

    TK_TAPE(m, m->loss) {
        array_of_field_sum(m, 6, copy);
        array_of_field_sum(m, 6, m->plain.data);
        array_of_field_weigh(m, 6, m->count.data);
        array_of_field_look(m, 6, m->y.data);
    }
    CHECK_OK(m, array_of_field_status(m)); /* what counts as constant */
    CHECK_NEAR(m->x.grad[0], 21, 1e-13);
    m->loss.data[0] = 0;
    array_of_field_sum(m, 6, m->x.data);
    CHECK_OK(m, array_of_field_status(m)); /* without a tape */
    CHECK_NEAR(m->loss.data[0], 21, 1e-13);
    array_of_field_forward_x(m, (tk_field *[]){m->loss.field}, 1, seed, 6);
    array_of_field_sum_dual_jvp(m, 6, other->y.data, other->y.dual);
    CHECK_NEAR(m->loss.dual[0], 21, 1e-13);
    array_of_field_sum_dual_jvp(m, 6, other->y.data, NULL);
    tk_forward_end(m->tk.session);
    CHECK_STATUS(m, array_of_field_status(m), TK_NO_DERIVATIVE, "which has a dual"); /* without them */
    array_of_field_destroy(other);
    array_of_field_destroy(m);
    return failures != 0;
}
