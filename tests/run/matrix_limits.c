#include "matrix_limits.h"
#include "host.h"

/* Of f.jacobian(x) with 16 rows, and of f.hessian(x) with 10 arguments: the matrices of export funcs. */
int main(void)
{
    double x[16], all[256], y[16], jac[256], blocks[55], hess[100], value;
    for (int i = 0; i < 16; i++)
        x[i] = sin(2.7 * i + 0.5) + 0.1 * i;
    matrix_limits_wide(x, all);
    matrix_limits_wide_rows_jac(x, y, jac, 16);
    for (int i = 0; i < 256; i++)
        CHECK_NEAR(all[i], jac[i], 1e-14);
    matrix_limits_pairs(x, blocks);
    matrix_limits_pairs_whole_hess(x, &value, NULL, hess, 10);
    int filled = 0;
    for (int i = 0, at = 0; i < 10; i++)
        for (int j = i; j < 10; j++, at++) {
            filled += hess[i * 10 + j] != 0;
            CHECK_NEAR(blocks[at], hess[i * 10 + j], 1e-14);
        }
    CHECK(2 * filled - 7 == matrix_limits_pairs_whole_hess_NNZ); /* 7: of the diagonal */

    const double a[2][2] = {{0.3, -0.2}, {0.5, 0.7}};
    double by_a[4], second[16];
    matrix_limits_by_columns_jac(a, 0.9, &value, by_a, 4);
    matrix_limits_by_columns_hess(a, 0.9, NULL, NULL, second, 4);
    for (int k = 0; k < 4; k++) {
        double dir[2][2] = {{k == 0, k == 1}, {k == 2, k == 3}}, slope;
        matrix_limits_by_columns_jvp(a, (const double(*)[2])dir, 0.9, NULL, &value, &slope);
        CHECK(by_a[k] == slope);
        CHECK_NEAR(second[4 * k + 3], second[12 + k], 1e-14);
    }
    return failures != 0;
}
