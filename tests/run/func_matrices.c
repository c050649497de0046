#include "func_matrices.h"
#include "host.h"

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-7 * (1 + fabs(b));
}

int main(void)
{
    const double p[2] = {0.3, 0.7}, t = 1.25, h = 1e-5, e = exp(p[1] * t);
    double J[3][2], b[3], H[2][2], g[2], s;
    func_matrices_matrix(p, t, J, b);
    CHECK(close_to(J[0][0], cos(p[0]) * t) && J[0][1] == 0 && J[1][0] == p[1] && J[1][1] == p[0] && J[2][0] == 0);
    CHECK(close_to(J[2][1], t * e) && close_to(b[0], sin(p[0])) && b[1] == 0 && close_to(b[2], p[1] * e));

    func_matrices_curved(p, t, H, g, &s);
    CHECK(close_to(H[0][0], 2 - 4 * t * (p[1] - 3 * p[0] * p[0])) && close_to(H[1][1], 2 * t) && s == 0);
    CHECK(H[0][1] == H[1][0] && close_to(H[0][1], -4 * t * p[0]));
    CHECK(close_to(g[0], -4 * p[0] * (p[1] - p[0] * p[0])) && close_to(g[1], 2 * (p[1] - p[0] * p[0])));

    static double work[128000 / sizeof(double)];
    double T[2][2], up[2], down[2];
    func_matrices_columns(p, 3, T, H, work);
    CHECK(close_to(T[0][0], p[1] + 1) && close_to(T[0][1], p[0]) && close_to(T[1][0], p[1]) && close_to(T[1][1], p[0]));
    for (int j = 0; j < 2; j++) {
        double x[2] = {p[0], p[1]};
        x[j] = p[j] + h;
        func_matrices_chain_grad(x, up, work);
        x[j] = p[j] - h;
        func_matrices_chain_grad(x, down, work);
        CHECK(close_to(H[0][j], (up[0] - down[0]) / (2 * h)) && close_to(H[1][j], (up[1] - down[1]) / (2 * h)));
    }

    double F[2][2], B[2][2], I[2][2];
    func_matrices_ruled(p, F, B, H, I);
    CHECK(F[0][0] == 3 && F[1][1] == 4 && F[0][1] == 0 && B[0][0] == 5 && B[1][1] == 6 && B[1][0] == 0);
    CHECK(close_to(H[0][0], p[1]) && close_to(H[1][0], p[0]) && H[0][1] == H[1][0] && H[1][1] == 0);
    CHECK(I[0][0] == 30 && I[1][1] == 48 && I[0][1] == 0 && I[1][0] == 0);
    return failures != 0;
}
