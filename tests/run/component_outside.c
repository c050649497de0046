/* --debug: a component that is a constant outside of its vector once functions are opened fails the launch. */
#include "component_outside.h"

#include <stdio.h>

static int failures;

static void check(tk_status (*kernel)(component_outside *), tk_status want)
{
    component_outside *m = component_outside_create(NULL, NULL);
    const tk_status got = m ? kernel(m) : TK_NO_MEMORY;
    if (got != want) {
        printf("status %d, expected %d: %s\n", (int)got, (int)want, component_outside_error(m));
        failures++;
    }
    component_outside_destroy(m);
}

int main(void)
{
    check(component_outside_inside, TK_OK);
    check(component_outside_above, TK_BOUNDS);
    check(component_outside_below, TK_BOUNDS);
    check(component_outside_of_matrix, TK_BOUNDS);
    return failures != 0;
}
