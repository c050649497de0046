#include "matrices.h"
#include "host.h"

enum { CELLS = 20, NA = CELLS * 9, NV = CELLS * 3 };

static double rnd(void)
{
    return rand() / (double)RAND_MAX - 0.4;
}

static double A0[NA], v0[NV], dA[NA], dv[NV];
static const double M[2][2] = {{1, 2}, {3, 4}}, dM[2][2] = {{0.1, 0.2}, {0.3, 0.4}}, q[3] = {0.1, 0.2, 0.3}, dq[3] = {0.5, -0.6, 0.7}, s = 1.3, ds = 0.4;

/* Gradients at the point x + h dx. */
static void gradients(matrices *m, double h, double qg[3], double *sg, double Ag[NA])
{
    double M1[2][2], q1[3];
    for (int i = 0; i < NA; i++)
        (&m->A.data[0][0][0])[i] = A0[i] + h * dA[i];
    for (int i = 0; i < NV; i++)
        (&m->v.data[0][0])[i] = v0[i] + h * dv[i];
    for (int i = 0; i < 4; i++)
        M1[i / 2][i % 2] = M[i / 2][i % 2] + h * dM[i / 2][i % 2];
    for (int i = 0; i < 3; i++) {
        q1[i] = q[i] + h * dq[i];
        qg[i] = 0;
    }
    *sg = 0;
    tk_module_clear_grad(&m->tk);
    m->e.grad[0] = 1;
    matrices_energy_grad(m, (const double(*)[2])M1, q1, s + h * ds, qg, sg);
    memcpy(Ag, m->A.grad, NA * sizeof *Ag);
}

static void second_order(matrices *m)
{
    static double plus[NA], minus[NA], here[NA];
    double qp[3], qm[3], q0[3], sp, sm, s0, qg[3] = {0}, qgd[3] = {0}, sg = 0, sgd = 0;
    const double h = 1e-5;
    gradients(m, h, qp, &sp, plus);
    gradients(m, -h, qm, &sm, minus);
    gradients(m, 0, q0, &s0, here);
    tk_module_clear_grad(&m->tk);
    tk_module_clear_dual(&m->tk);
    memcpy(m->A.dual, dA, sizeof dA);
    memcpy(m->v.dual, dv, sizeof dv);
    m->e.grad[0] = 1;
    matrices_energy_hvp(m, M, dM, q, dq, s, &ds, qg, qgd, &sg, &sgd);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(qg[i], q0[i], 1e-7);
        CHECK_NEAR(qgd[i], (qp[i] - qm[i]) / (2 * h), 1e-7);
    }
    CHECK_NEAR(sg, s0, 1e-7);
    CHECK_NEAR(sgd, (sp - sm) / (2 * h), 1e-7);
    for (int i = 0; i < NA; i++)
        CHECK_NEAR((&m->A.grad_dual[0][0][0])[i], (plus[i] - minus[i]) / (2 * h), 1e-7);
    matrices_energy_hvp(m, M, dM, q, dq, s, NULL, NULL, NULL, NULL, NULL);
}

static void bound(matrices *m)
{
    static double data[CELLS][3], grad[CELLS][3], dual[CELLS][3];
    CHECK(matrices_bind_v(m, data, grad, dual) == TK_OK && m->v.data == data && m->v.grad == grad && m->v.dual == dual);
    data[7][1] = 5;
    m->jj.data[1] = 3;
    memset(m->A.data, 0, sizeof A0);
    matrices_dynamic(m, 1);
    CHECK_NEAR(m->A.data[matrices_idx_A(m, 3, 3)][1][1], 5, 1e-7);
}

int main(void)
{
    matrices *m = matrices_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < NA; i++) {
        A0[i] = rnd();
        dA[i] = rnd();
    }
    for (int i = 0; i < NV; i++) {
        v0[i] = rnd();
        dv[i] = rnd();
    }
    second_order(m);
    bound(m);
    for (int i = 0; i < CELLS * 3; i++)
        m->g.data[i] = i;
    TK_TAPE(m, m->e) {
        matrices_stencil(m);
    }
    CHECK_NEAR(m->g.grad[matrices_idx_g(m, 2, 1, 1)],
               m->g.data[matrices_idx_g(m, 0, 1, 1)] + m->g.data[matrices_idx_g(m, 4, 1, 1)] +
                   2 * m->g.data[matrices_idx_g(m, 2, 1, 1)],
               1e-7);
    CHECK_NEAR(m->g.grad[matrices_idx_g(m, 1, 1, 0)],
               m->g.data[matrices_idx_g(m, 3, 1, 0)] + 2 * m->g.data[matrices_idx_g(m, 1, 1, 0)], 1e-7);
    CHECK_OK(m, matrices_status(m));
    matrices_params p = m->params;
    p.n = 6;
    CHECK(matrices_set_params(m, &p) == TK_BAD_ARGUMENT);
    matrices_destroy(m);
    return failures != 0;
}
