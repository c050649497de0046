#include "export_inputs.h"
#include "host.h"

enum { N = 6 };

typedef export_inputs_Spring spring;

/* Another number of arguments is another type. */
static void (*const some_grad)(int64_t, const double *, spring, const double[2], double, double *, const double *, double[2],
                               double *, void *) = export_inputs_some_grad;
static void (*const some_jvp)(int64_t, const double *, spring, const double[2], const double[2], double, const double *,
                              double *, double *) = export_inputs_some_jvp;
static void (*const some_hvp)(int64_t, const double *, spring, const double[2], const double[2], double, const double *,
                              double *, double *, const double *, const double *, double[2], double[2], double *, double *,
                              void *) = export_inputs_some_hvp;
static void (*const listed_grad)(int64_t, const double *, spring, const double[2], double, double *, const double *,
                                 double[2], void *) = export_inputs_listed_grad;
static void (*const listed_jvp)(int64_t, const double *, spring, const double[2], double, const double *, double *,
                                double *) = export_inputs_listed_jvp;
static void (*const listed_hvp)(int64_t, const double *, spring, const spring *, const double[2], double, double *, double *,
                                const double *, const double *, spring *, spring *, void *) = export_inputs_listed_hvp;

int main(void)
{
    const double rain[N] = {0.3, 0.1, 0.7, 0.2, 0.5, 0.4}, p[2] = {0.6, 0.9}, w = 0.8, one = 1.0;
    const spring s = {0.7, 3, 1.1}, ds = {0.4, 7, -0.3};
    const double dp[2] = {0.5, -1.5}, dw = 2.0;
    void *const work = malloc(export_inputs_whole_hvp_WORKSPACE(N, s));

    /* what the function without const gives along the same inputs */
    double h, rain_grad[N] = {0}, p_grad[2] = {0}, w_grad = 0.0;
    spring s_grad = {0};
    export_inputs_whole_grad(N, rain, s, p, w, &h, &one, rain_grad, &s_grad, p_grad, &w_grad, work);
    double dh, p_along[2] = {0}, w_along = 0.0;
    export_inputs_whole_hvp(N, rain, NULL, s, NULL, p, dp, w, &dw, &h, &dh, &one, NULL, NULL, NULL, NULL, NULL, NULL, p_along,
                            NULL, &w_along, work);

    double g[2] = {0}, gw = 0.0, h1, dh1, a[2] = {0}, aw = 0.0;
    some_grad(N, rain, s, p, w, &h1, &one, g, &gw, work);
    CHECK(h1 == h);
    CHECK_NEAR(g[0], p_grad[0], 1e-14);
    CHECK_NEAR(g[1], p_grad[1], 1e-14);
    CHECK_NEAR(gw, w_grad, 1e-14);
    some_jvp(N, rain, s, p, dp, w, &dw, &h1, &dh1);
    CHECK_NEAR(dh1, dp[0] * p_grad[0] + dp[1] * p_grad[1] + dw * w_grad, 1e-14);
    some_hvp(N, rain, s, p, dp, w, &dw, &h1, &dh1, &one, NULL, NULL, a, NULL, &aw, work);
    CHECK_NEAR(dh1, dh, 1e-14);
    CHECK_NEAR(a[0], p_along[0], 1e-13);
    CHECK_NEAR(a[1], p_along[1], 1e-13);
    CHECK_NEAR(aw, w_along, 1e-13);

    /* each derivative by other inputs */
    g[0] = g[1] = 0.0;
    listed_grad(N, rain, s, p, w, &h1, &one, g, work);
    CHECK_NEAR(g[0], p_grad[0], 1e-14);
    CHECK_NEAR(g[1], p_grad[1], 1e-14);
    listed_jvp(N, rain, s, p, w, &one, &h1, &dh1);
    CHECK_NEAR(dh1, w_grad, 1e-14);
    spring sg = {0}, sa = {0}, s_along = {0};
    export_inputs_whole_hvp(N, rain, NULL, s, &ds, p, NULL, w, NULL, &h, &dh, &one, NULL, NULL, NULL, NULL, &s_along, NULL, NULL,
                            NULL, NULL, work);
    listed_hvp(N, rain, s, &ds, p, w, &h1, &dh1, &one, NULL, &sg, &sa, work);
    CHECK_NEAR(dh1, dh, 1e-14);
    CHECK_NEAR(sg.k, s_grad.k, 1e-14);
    CHECK_NEAR(sg.rest, s_grad.rest, 1e-14);
    CHECK_NEAR(sa.k, s_along.k, 1e-13);
    CHECK_NEAR(sa.rest, s_along.rest, 1e-13);

    CHECK(export_inputs_listed_grad_WORKSPACE(N, s) < export_inputs_whole_grad_WORKSPACE(N, s));
    free(work);

    /* a product with a constant keeps nothing */
    CHECK(export_inputs_kept_whole_grad_WORKSPACE(N) > 0);
    double u, u0_grad = 0.0, product = 1.0;
    export_inputs_kept_less_grad(N, rain, 0.5, &u, &one, &u0_grad);
    for (int i = 0; i < N; i++)
        product *= rain[i];
    CHECK_NEAR(u, 0.5 * product, 1e-14);
    CHECK_NEAR(u0_grad, product, 1e-14);
    return failures != 0;
}
