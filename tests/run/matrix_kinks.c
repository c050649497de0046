/* A derivative that is not chosen is 0 beside an infinite one; results and gradients may be NULL. */
#include "matrix_kinks.h"

#include <stdio.h>

static int failures;
#define CHECK(condition) \
    ((condition) ? (void)0 : (void)(failures++, printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition)))

int main(void)
{
    double y[2], j[4] = {7, 7, 7, 7}, g = 7.0;
    for (int k = 0; k < 2; k++) {
        matrix_kinks_root_jac(k - 1.0, k ? y : NULL, j, 1);
        CHECK(j[0] == 0.0);
        matrix_kinks_root_hess(k - 1.0, NULL, k ? &g : NULL, j, 1);
        CHECK(j[0] == 0.0);
    }
    CHECK(y[0] == 0.0 && g == 0.0);
    matrix_kinks_inner_jac(-1.0, NULL, j, 1);
    CHECK(j[0] == 0.0);
    matrix_kinks_root_hess(4.0, y, &g, j, 1);
    CHECK(y[0] == 2.0 && g == 0.25 && j[0] == -1.0 / 32.0);
    matrix_kinks_sides_jac((const double[2]){0.0, 3.0}, NULL, j, 2);
    CHECK(j[0] == 0.0 && j[1] == 1.0 && j[2] == 0.0 && j[3] == 0.0);
    matrix_kinks_sides_jac((const double[2]){4.0, 1.0}, y, j, 2);
    CHECK(y[0] == 8.0 && y[1] == 2.0 && j[0] == 3.0 && j[1] == 0.0 && j[2] == 0.25 && j[3] == 2.0);
    return failures != 0;
}
