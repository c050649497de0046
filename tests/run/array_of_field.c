/* An array that is memory of a field with derivatives would count as constant on a tape, and in a forward scope: refused there. */
#include "array_of_field.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(array_of_field *m, tk_status want, const char *what, const char *text)
{
    const tk_status got = array_of_field_status(m);
    if (got != want || (text && !strstr(array_of_field_error(m), text))) {
        printf("%s: status %d, expected %d: %s\n", what, (int)got, (int)want, array_of_field_error(m));
        failures++;
    }
    tk_session_clear_error(m->tk.session);
}

static void expect_number(double got, double want, const char *what)
{
    if (fabs(got - want) > 1e-12) {
        printf("%s: %g, expected %g\n", what, got, want);
        failures++;
    }
}

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
    expect(m, TK_NO_DERIVATIVE, "a field", "kernel 'sum' of module 'array_of_field': the array 'w' is memory of the field 'array_of_field.y', which has a gradient");
    TK_TAPE(m, m->loss) array_of_field_sum(m, 2, m->y.data + 4);
    expect(m, TK_NO_DERIVATIVE, "a part of it", "the field 'array_of_field.y'");
    TK_TAPE(m, m->loss) array_of_field_sum(m, 6, other->y.data);
    expect(m, TK_NO_DERIVATIVE, "of another module", "which has a gradient");
    array_of_field_forward_x(m, (tk_field *[]){m->loss.field}, 1, seed, 6);
    array_of_field_sum(m, 6, m->y.data);
    tk_forward_end(m->tk.session);
    expect(m, TK_NO_DERIVATIVE, "in a forward scope", "'array_of_field.y', which has a dual");

    TK_TAPE(m, m->loss) {
        array_of_field_sum(m, 6, copy);
        array_of_field_sum(m, 6, m->plain.data);
        array_of_field_weigh(m, 6, m->count.data);
        array_of_field_look(m, 6, m->y.data);
    }
    expect(m, TK_OK, "what counts as constant", NULL);
    expect_number(m->x.grad[0], 21, "what counts as constant");
    m->loss.data[0] = 0;
    array_of_field_sum(m, 6, m->x.data);
    expect(m, TK_OK, "without a tape", NULL);
    expect_number(m->loss.data[0], 21, "without a tape");
    array_of_field_forward_x(m, (tk_field *[]){m->loss.field}, 1, seed, 6);
    array_of_field_sum_dual_jvp(m, 6, other->y.data, other->y.dual);
    expect_number(m->loss.dual[0], 21, "with its tangents in a scope");
    array_of_field_sum_dual_jvp(m, 6, other->y.data, NULL);
    tk_forward_end(m->tk.session);
    expect(m, TK_NO_DERIVATIVE, "without them", "which has a dual");
    array_of_field_destroy(other);
    array_of_field_destroy(m);
    return failures != 0;
}
