#include <stdio.h>

#include "zero_division.h"

int main(void)
{
    zero_division *m = zero_division_create(NULL, NULL);
    if (!m || zero_division_divide(m, 7, 0) != TK_OK)
        return 1;
    if (m->wrong.data[0] != 0)
        return printf("wrong: %d\n", m->wrong.data[0]), 1;
    zero_division_destroy(m);
    return 0;
}
