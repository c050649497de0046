/* --debug: a component that is a constant outside of its vector once functions are opened fails the launch. */
#include "component_outside.h"
#include "host.h"

static void check(tk_status (*kernel)(component_outside *), tk_status want)
{
    component_outside *m = component_outside_create(NULL, NULL);
    CHECK_STATUS(m, kernel(m), want, "");
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
