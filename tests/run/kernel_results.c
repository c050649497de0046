#include "kernel_results.h"
#include "host.h"

enum { N = 300, COUNT = 3 };
static double seed = 0.5;

static double draw(void)
{
    seed = fmod(seed * 997.0 + 0.123, 1.0);
    return seed - 0.4;
}

static double dx[N][2];

static void move(kernel_results *m, double h)
{
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++)
            m->x.data[i][c] += h * dx[i][c];
}

static double along_x(const kernel_results *m)
{
    double s = 0.0;
    for (int i = 0; i < N; i++)
        s += m->x.grad[i][0] * dx[i][0] + m->x.grad[i][1] * dx[i][1];
    return s;
}

static void energy(kernel_results *m)
{
    const double k = 1.7, dk = -0.3, h = 1e-5, w = 2.5, dw = 0.6;
    double e = 0.0, de = 0.0, at[2], kg = 10.0;
    memcpy(m->x.dual, dx, sizeof dx);
    CHECK(kernel_results_energy_jvp(m, k, &dk, &e, &de) == TK_OK);
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += (m->x.data[i][0] * m->x.data[i][0] + m->x.data[i][1] * m->x.data[i][1]) * sin(m->x.data[i][0]);
    CHECK(near(e, 0.5 * k * sum, 1e-13));
    for (int sign = 0; sign < 2; sign++) {
        move(m, sign ? -h : h);
        CHECK(kernel_results_energy(m, k + (sign ? -h : h) * dk, &at[sign]) == TK_OK);
        move(m, sign ? h : -h);
    }
    CHECK(near(de, (at[0] - at[1]) / (2.0 * h), 1e-8));
    tk_module_clear_grad(&m->tk);
    CHECK(kernel_results_energy_grad(m, k, &w, &kg) == TK_OK);
    CHECK(near(w * de, along_x(m) + (kg - 10.0) * dk, 1e-12));

    /* the second-order product against differences of the gradient, along x, k and the seed */
    double kg1 = 0.0, kgd = 0.0, kgs[2] = {0.0, 0.0}, gs[2];
    tk_module_clear_grad(&m->tk);
    CHECK(kernel_results_energy_hvp(m, k, &dk, &w, &dw, &kg1, &kgd) == TK_OK && near(kg1, kg - 10.0, 1e-13));
    const double dg = m->x.grad_dual[7][1];
    for (int sign = 0; sign < 2; sign++) {
        const double t = sign ? -h : h, ws = w + t * dw;
        move(m, t);
        tk_module_clear_grad(&m->tk);
        CHECK(kernel_results_energy_grad(m, k + t * dk, &ws, &kgs[sign]) == TK_OK);
        gs[sign] = m->x.grad[7][1];
        move(m, -t);
    }
    CHECK(near(dg, (gs[0] - gs[1]) / (2.0 * h), 1e-8) && near(kgd, (kgs[0] - kgs[1]) / (2.0 * h), 1e-8));

    /* what is zero, what is not wanted */
    tk_module_clear_grad(&m->tk);
    CHECK(kernel_results_energy_grad(m, k, NULL, &kg) == TK_OK && along_x(m) == 0.0);
    CHECK(kernel_results_energy(m, k, NULL) == TK_OK && kernel_results_energy_jvp(m, k, NULL, NULL, &de) == TK_OK &&
          kernel_results_energy_jvp(m, k, NULL, &e, NULL) == TK_OK);
}

static void centre(kernel_results *m)
{
    const double a[COUNT] = {0.4, -0.2, 0.9}, da[COUNT] = {0.3, 0.5, -0.6}, h = 1e-6, r = 0.8, dr = -1.1, w[2] = {0.7, -1.2};
    double c[2], dc[2], at[2][2], loss[2], as[COUNT], ag[COUNT] = {0.0};
    memcpy(m->x.dual, dx, sizeof dx);
    m->loss.data[0] = m->loss.dual[0] = 0.0;
    CHECK(kernel_results_centre_jvp(m, COUNT, a, da, r, &dr, c, dc) == TK_OK);
    const double dloss = m->loss.dual[0];
    for (int sign = 0; sign < 2; sign++) {
        const double t = sign ? -h : h;
        move(m, t);
        for (int i = 0; i < COUNT; i++)
            as[i] = a[i] + t * da[i];
        m->loss.data[0] = 0.0;
        CHECK(kernel_results_centre(m, COUNT, as, r + t * dr, at[sign]) == TK_OK);
        loss[sign] = m->loss.data[0];
        move(m, -t);
    }
    CHECK(near(dc[0], (at[0][0] - at[1][0]) / (2.0 * h), 1e-7) && near(dc[1], (at[0][1] - at[1][1]) / (2.0 * h), 1e-7) && near(dloss, (loss[0] - loss[1]) / (2.0 * h), 1e-6));
    /* the result and the fields that are written have gradients at once; the JVP once more, with what has one in reverse mode */
    CHECK(kernel_results_centre_jvp(m, COUNT, a, da, r, NULL, c, dc) == TK_OK);
    tk_module_clear_grad(&m->tk);
    m->loss.grad[0] = 1.5;
    double seeds = w[0] * dc[0] + w[1] * dc[1] + 1.5 * (m->loss.dual[0] - dloss);
    for (int i = 0; i < N; i++) {
        m->kept.grad[i] = draw();
        seeds += m->kept.grad[i] * m->kept.dual[i];
    }
    CHECK(kernel_results_centre_grad(m, COUNT, a, r, w, ag) == TK_OK);
    CHECK(near(seeds, along_x(m) + ag[0] * da[0] + ag[1] * da[1] + ag[2] * da[2], 1e-11));
}

static void others(kernel_results *m)
{
    int32_t n = -1;
    int expected = 0;
    for (int i = 0; i < N; i++)
        expected += m->x.data[i][0] > 0.1;
    CHECK(kernel_results_count(m, 0.1, &n) == TK_OK && n == expected && kernel_results_count_grad(m, 0.1) == TK_OK);
    n = -1;
    CHECK(kernel_results_count_jvp(m, 0.1, NULL, &n) == TK_OK && n == expected);
    double M[2][2], dM[2][2], seeds[2][2] = {{1.0, 0.5}, {-0.5, 2.0}}, s = 0.0;
    memcpy(m->x.dual, dx, sizeof dx);
    CHECK(kernel_results_moments_jvp(m, M, dM) == TK_OK && near(M[0][1], M[1][0], 1e-14));
    tk_module_clear_grad(&m->tk);
    CHECK(kernel_results_moments_grad(m, (const double (*)[2])seeds) == TK_OK);
    for (int k = 0; k < 4; k++)
        s += seeds[k / 2][k % 2] * dM[k / 2][k % 2];
    CHECK(near(s, along_x(m), 1e-11));
    bool b = false;
    CHECK(kernel_results_largest(m, &b) == TK_OK && b == (m->x.data[0][0] > 0.0));

    /* on a tape, in a forward scope */
    tk_session *session = tk_module_session(&m->tk);
    double e;
    CHECK(tk_tape_begin(m->loss.field, 0) == TK_OK);
    CHECK_STATUS(m, kernel_results_moments(m, M), TK_NO_DERIVATIVE,
                 "kernel 'moments' of module 'kernel_results' has a result, of which a tape knows no derivative: make "
                 "it a field");
    tk_tape_drop(session);
    n = -1;
    TK_TAPE(m, m->loss) {
        kernel_results_count(m, 0.1, &n);
        kernel_results_largest(m, &b);
        m->kept.grad[0] = 1;
    }
    CHECK(kernel_results_status(m) == TK_OK && n == expected);
    const double one = 1.0;
    CHECK(tk_forward_begin(&m->kept.field, 1, m->loss.field, &one, 1) == TK_OK);
    n = -1;
    CHECK(kernel_results_count(m, 0.1, &n) == TK_OK && n == expected);
    CHECK_STATUS(m, kernel_results_energy(m, 1.0, &e), TK_NO_DERIVATIVE,
                 "has a result, of which a forward scope knows no derivative");
    tk_forward_end(session);
    tk_session_clear_error(session);
}

int main(void)
{
    kernel_results *m = kernel_results_create(NULL, NULL);
    if (!m)
        return 1;
    for (int i = 0; i < N; i++)
        for (int c = 0; c < 2; c++) {
            m->x.data[i][c] = draw();
            dx[i][c] = draw();
        }
    energy(m);
    centre(m);
    others(m);
    kernel_results_destroy(m);
    return failures != 0;
}
