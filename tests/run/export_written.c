#include "export_written.h"
#include "host.h"

static void rates(void)
{
    const double s[3][2] = {{0.1, 0.2}, {0.3, -0.4}, {-0.5, 0.6}}, k = 0.7;
    double ds[4][2], dual[4][2];
    for (int i = 0; i < 4; i++)
        ds[i][0] = ds[i][1] = dual[i][0] = dual[i][1] = NAN;    /* what is there does not matter */
    export_written_rates(3, s, k, ds);
    CHECK(near(ds[1][0], -0.4, 1e-9) && near(ds[1][1], 0.7 * (0.1 - 0.3) - sin(0.3), 1e-9) && isnan(ds[3][0]));
    const double one = 1.0;
    export_written_rates_jvp(3, s, NULL, k, &one, ds, dual);
    CHECK(dual[0][0] == 0.0 && near(dual[1][1], 0.1 - 0.3, 1e-9) && isnan(dual[3][1]));

    const double seed[3][2] = {{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}};
    double s_grad[3][2] = {{100.0}}, k_grad = 10.0, again[3][2];
    void *work = malloc(export_written_rates_grad_WORKSPACE(3));
    export_written_rates_grad(3, s, k, again, seed, s_grad, &k_grad, work);
    CHECK(memcmp(again, ds, sizeof again) == 0);
    CHECK(near(s_grad[0][1], 1.0, 1e-9) && near(s_grad[0][0], 100.0 + 2.0 * (-k - cos(0.1)) + 4.0 * k, 1e-9));
    CHECK(near(k_grad, 10.0 - 2.0 * 0.1 + 4.0 * (0.1 - 0.3) + 6.0 * (0.3 + 0.5), 1e-9));
    export_written_rates_grad(3, s, k, NULL, NULL, s_grad, &k_grad, work);      /* no seed: nothing is added */
    CHECK(near(s_grad[0][1], 1.0, 1e-9));
    export_written_rates_grad(0, s, k, NULL, seed, NULL, NULL, work);
    free(work);
}

/* Twenty steps, and back through them: the gradient of an array that is changed is changed itself. */
static void logistic(void)
{
    enum { STEPS = 20 };
    const double r = 3.7, one = 1.0;
    double x[STEPS + 1][2] = {{0.2, 0.6}}, x_dual[2] = {1.0, 0.0}, last[2] = {0.2, 0.6}, r_dual[2] = {0.0, 0.0}, moved[2] = {0.2, 0.6};
    for (int t = 0; t < STEPS; t++) {
        memcpy(x[t + 1], x[t], sizeof x[t]);
        export_written_logistic(2, x[t + 1], r);
        export_written_logistic_jvp(2, last, x_dual, r, NULL);
        export_written_logistic_jvp(2, moved, r_dual, r, &one);
    }
    CHECK(memcmp(last, x[STEPS], sizeof last) == 0 && x_dual[1] == 0.0);

    void *work = malloc(export_written_logistic_grad_WORKSPACE(2));
    double x_grad[2] = {1.0, 0.5}, r_grad = 0.0;
    for (int t = STEPS; t-- > 0;) {
        double held[2] = {x[t][0], x[t][1]};
        export_written_logistic_grad(2, x[t], r, x_grad, &r_grad, work);
        CHECK(memcmp(held, x[t], sizeof held) == 0);
    }
    CHECK(near(x_grad[0], x_dual[0], 1e-9) && near(r_grad, r_dual[0] + 0.5 * r_dual[1], 1e-9));
    r_grad = 0.0;
    export_written_logistic_grad(2, x[0], r, NULL, &r_grad, work);
    CHECK(r_grad == 0.0);
    free(work);
}

static void sparse(void)
{
    const double x[4] = {2.0, 3.0, 5.0, 7.0};
    const int32_t at[3] = {1, 3, 1};
    double y[4] = {9.0, 9.0, 9.0, 9.0}, s;
    int32_t hits[4] = {9, 9, 9, 9};
    export_written_sparse(4, 3, x, at, y, hits, &s);
    CHECK(y[0] == 0.0 && y[1] == 3.0 * 2.0 + 3.0 && y[2] == 0.0 && y[3] == 7.0 && s == 3.0 + 7.0 + 9.0);
    CHECK(hits[0] == 0 && hits[1] == 2 && hits[3] == 1);

    const size_t size = export_written_sparse_grad_WORKSPACE(4, 3);
    unsigned char *work = malloc(size + 8);
    memset(work, 0x5a, size + 8);
    const double one = 1.0, y_grad[4] = {1.0, 1.0, 1.0, 1.0};
    double g[4] = {0.0}, value;
    export_written_sparse_grad(4, 3, x, at, NULL, NULL, &value, NULL, &one, g, work);
    CHECK(value == s && near(g[0], 3.0, 1e-9) && near(g[1], 1.0 + 1.0 + 2.0, 1e-9) && g[2] == 0.0 &&
          near(g[3], 1.0, 1e-9));
    int32_t counted[4];
    double written[4];
    export_written_sparse_grad(4, 3, x, at, written, counted, NULL, y_grad, NULL, g, work);
    CHECK(memcmp(written, y, sizeof y) == 0 && memcmp(counted, hits, sizeof hits) == 0 && near(g[1], 4.0 + 3.0, 1e-9) &&
          near(g[3], 2.0, 1e-9));
    for (int k = 0; k < 8; k++)
        CHECK(work[size + (size_t)k] == 0x5a);
    free(work);
}

static void grid(void)
{
    const double u[2][3] = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
    double v[3][2], k[2][2] = {{0.5, 1.5}, {2.5, 3.5}};
    export_written_grid(2, 3, &u[0][0], &v[0][0], k);
    CHECK(near(v[2][1], 36.0 + 2.5, 1e-9) && near(v[1][0], 4.0 + 0.5, 1e-9) && k[1][1] == 3.5);
    double v_grad[3][2] = {{0.0}}, u_grad[2][3] = {{0.0}}, k_grad[2][2] = {{10.0, 20.0}};
    v_grad[2][1] = 2.0;
    void *work = malloc(export_written_grid_grad_WORKSPACE(2, 3));
    export_written_grid_grad(2, 3, &u[0][0], NULL, (const double (*)[2])k, &v_grad[0][0], &u_grad[0][0], k_grad, work);
    free(work);
    CHECK(near(u_grad[1][2], 24.0, 1e-9) && u_grad[0][0] == 0.0);
    CHECK(near(k_grad[1][0], 2.0, 1e-9) && k_grad[0][0] == 10.0 &&
          k_grad[0][1] == 20.0); /* what is not written keeps its gradient */
}

int main(void)
{
    rates();
    logistic();
    sparse();
    grid();
    return failures != 0;
}
