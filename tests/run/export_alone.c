#include "export_alone.h"
#include "host.h"

int main(void)
{
    const double v[2] = {1.0, 2.0};
    double h, u[2];
    export_alone_fall(10.0, v, 0.1, 20, &h, u);

    _Alignas(8) static unsigned char work[export_alone_fall_grad_WORKSPACE(20) + 8];
    memset(work + export_alone_fall_grad_WORKSPACE(20), 0x5a, 8);
    double h1, u1[2], one = 1.0, height_grad = 0.5, v_grad[2] = {0}, drag_grad = 0.0;
    export_alone_fall_grad(10.0, v, 0.1, 20, &h1, u1, &one, NULL, &height_grad, v_grad, &drag_grad, work);
    CHECK(h1 == h && u1[0] == u[0] && u1[1] == u[1]);
    CHECK(near(height_grad, 1.5, 1e-9)); /* added to what was there */
    for (int k = 0; k < 8; k++)
        CHECK(work[export_alone_fall_grad_WORKSPACE(20) + k] == 0x5a);

    double dh, du[2];
    export_alone_fall_jvp(10.0, NULL, v, NULL, 0.1, &one, 20, NULL, &dh, NULL, du);
    CHECK(near(dh, drag_grad, 1e-9));
    const double e1[2] = {0.0, 1.0};
    export_alone_fall_jvp(10.0, NULL, v, e1, 0.1, NULL, 20, NULL, &dh, NULL, NULL);
    CHECK(near(dh, v_grad[1], 1e-9));
    export_alone_fall_grad(10.0, v, 0.1, 20, NULL, NULL, NULL, NULL, NULL, NULL, NULL, work);   /* nothing asked, nothing done */
    export_alone_fall_grad(10.0, v, 0.1, 0, &h1, NULL, &one, NULL, NULL, NULL, NULL, NULL);     /* no trips, no memory */
    CHECK(export_alone_fall_grad_WORKSPACE(0) == 0 && export_alone_fall_grad_WORKSPACE(-3) == 0 &&
          near(h1, 10.0, 1e-9));

    double r, g[4] = {0};
    export_alone_names(0.5, 0.3, 1.1, 2.0, 3, &r);
    unsigned char *memory = malloc(export_alone_names_grad_WORKSPACE(3));
    export_alone_names_grad(0.5, 0.3, 1.1, 2.0, 3, NULL, &one, &g[0], &g[1], &g[2], &g[3], memory);
    free(memory);
    double r1;
    export_alone_names(0.5, 0.3 + 1e-6, 1.1, 2.0, 3, &r1);
    CHECK(fabs((r1 - r) / 1e-6 - g[1]) < 1e-5);

    double w[4] = {1.0, 2.0, 3.0, 4.0};
    export_alone_lookup(w, 2, w);                   /* results may lie where arguments lie */
    CHECK(near(w[0], 3.0, 1e-9));
    double A[2][3] = {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}, B[3][2];
    export_alone_rotate((const double (*)[3])A, B);
    CHECK(near(B[2][1], 6.0, 1e-9) && near(B[0][1], 4.0, 1e-9));
    export_alone_nothing(1.0);
    return failures != 0;
}
