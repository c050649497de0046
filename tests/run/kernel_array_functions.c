#include "kernel_array_functions.h"
#include "host.h"

enum { N = 5, M = 3 };

int main(void)
{
    kernel_array_functions *m = kernel_array_functions_create(NULL, NULL);
    const double a[N] = {0.3, 0.5, -0.2, 0.7, 0.1}, da[N] = {1.0, -1.0, 0.5, 0.2, 0.3}, w[M] = {0.5, -1.0, 2.0}, h = 1e-5;
    double b[M], db[M], up[M], down[M], at[N], g[N] = {0.0}, forward = 0.0, reverse = 0.0;
    CHECK(m && kernel_array_functions_use_jvp(m, N, M, a, da, b, db) == TK_OK);
    const double dloss = m->loss.dual[0];
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < N; i++)
            at[i] = a[i] + sign * h * da[i];
        CHECK(kernel_array_functions_use(m, N, M, at, sign > 0 ? up : down) == TK_OK);
    }
    for (int i = 0; i < M; i++) {
        CHECK(near(db[i], (up[i] - down[i]) / (2.0 * h), 1e-8));
        forward += w[i] * db[i];
    }
    m->loss.grad[0] = 0.7;
    CHECK(kernel_array_functions_use_grad(m, N, M, a, b, w, g) == TK_OK);
    for (int i = 0; i < N; i++)
        reverse += g[i] * da[i];
    CHECK(near(forward + 0.7 * dloss, reverse, 1e-12));

    double y[N] = {0.0}, dy[N] = {1.0, 1.0, 1.0, 1.0, 1.0}, seeds[N] = {1.0, 2.0, 3.0, 4.0, 5.0}, e, de, g2[N] = {0.0};
    const double ws = 1.5;
    CHECK(kernel_array_functions_into_jvp(m, N, a, da, y, dy, &e, &de) == TK_OK && near(y[3], 0.49, 1e-14) && near(e, 0.88, 1e-14));
    forward = ws * de;
    reverse = 0.0;
    for (int i = 0; i < N; i++)
        forward += seeds[i] * dy[i];
    CHECK(kernel_array_functions_into_grad(m, N, a, y, &ws, g2, seeds) == TK_OK);
    for (int i = 0; i < N; i++)
        reverse += g2[i] * da[i] + seeds[i];
    CHECK(near(forward, reverse, 1e-12));
    kernel_array_functions_destroy(m);
    return failures != 0;
}
