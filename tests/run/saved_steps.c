/* 1,000 steps in place give the gradients of the same steps with a dimension for time; afterwards the data are those of
 * the last step. */
#include "saved_steps.h"
#include "host.h"

enum { T = 1000, N = 8 };

typedef struct result {
    double value, x[N], v[N], k[N], end_x[N], end_v[N];
} result;

static void start(saved_steps *m)
{
    memset(m->xt.data, 0, tk_field_bytes(m->xt.field));
    memset(m->vt.data, 0, tk_field_bytes(m->vt.field));
    memset(m->gt.data, 0, tk_field_bytes(m->gt.field));
    memset(m->g.data, 0, tk_field_bytes(m->g.field));
    for (int i = 0; i < N; i++) {
        m->k.data[i] = 1.0 + 0.1 * i;
        m->x.data[i] = m->xt.data[i] = 0.3 + 0.05 * i;
        m->v.data[i] = m->vt.data[i] = 0.2 - 0.04 * i;
    }
}

static result of(const saved_steps *m, const double *x, const double *v, const double *end_x, const double *end_v)
{
    result r = {.value = m->loss.data[0]};
    memcpy(r.x, x, sizeof r.x);
    memcpy(r.v, v, sizeof r.v);
    memcpy(r.k, m->k.grad, sizeof r.k);
    memcpy(r.end_x, end_x, sizeof r.x);
    memcpy(r.end_v, end_v, sizeof r.v);
    return r;
}

static result in_place(const saved_steps *m)
{
    return of(m, m->x.grad, m->v.grad, m->x.data, m->v.data);
}

static result in_time(const saved_steps *m)
{
    return of(m, m->xt.grad, m->vt.grad, m->xt.data + T * N, m->vt.data + T * N);
}

static void compare(const char *what, const result *a, const result *b, bool speed)
{
    const double *p = (const double *)a, *q = (const double *)b;
    double worst = 0.0, size = 0.0;
    for (size_t i = 0; i < sizeof *a / sizeof *p; i++) {
        if (!speed && i >= sizeof *a / sizeof *p - N)
            continue;
        worst = fmax(worst, fabs(p[i] - q[i]));
        size += fabs(q[i]);
    }
    if (!(worst <= 1e-12 * size) || !(size > 0.1))
        FAIL("%s: in place and with a time axis differ by %g of %g", what, worst, size);
}

int main(void)
{
    saved_steps *m = saved_steps_create(NULL, NULL);
    if (!m)
        return 1;
    tk_session *s = tk_module_session(&m->tk);

    start(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++) {
            saved_steps_kick_t(m, t);
            saved_steps_drift_t(m, t);
        }
        saved_steps_energy_t(m);
    }
    const result coupled = in_time(m);
    start(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++) {
            saved_steps_kick(m);
            saved_steps_drift(m);
        }
        saved_steps_energy(m);
    }
    result r = in_place(m);
    compare("symplectic Euler, two launches a step", &r, &coupled, true);
    CHECK(tk_tape_bytes(s) >= 2 * T * N * sizeof(double)); /* the copies count */
    for (int again = 0; again < 2; again++) {
        start(m);
        TK_TAPE(m, m->loss) {
            saved_steps_all_steps(m);
            saved_steps_energy(m);
        }
        r = in_place(m);
        compare("symplectic Euler, all steps in one kernel", &r, &coupled, true);
    }

    start(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++) {
            saved_steps_alone_t(m, t);
            saved_steps_drift_t(m, t);
        }
        saved_steps_energy_t(m);
    }
    const result alone = in_time(m);
    start(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++)
            saved_steps_in_one_loop(m);
        saved_steps_energy(m);
    }
    r = in_place(m);
    compare("symplectic Euler in one loop", &r, &alone, true);

    start(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++)
            saved_steps_sweep_t(m, t);
        saved_steps_rest_t(m);
    }
    const result relaxed = in_time(m);
    start(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++)
            saved_steps_sweep(m);
        saved_steps_rest(m);
    }
    r = in_place(m);
    compare("SOR sweep", &r, &relaxed, false);

    start(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++) {
            saved_steps_to_grid_t(m, t);
            saved_steps_on_grid_t(m, t);
            saved_steps_from_grid_t(m, t);
        }
        saved_steps_energy_t(m);
    }
    const result gridded = in_time(m);
    start(m);
    TK_TAPE(m, m->loss) {
        for (int t = 0; t < T; t++) {
            saved_steps_clear(m);
            saved_steps_to_grid(m);
            saved_steps_on_grid(m);
            saved_steps_from_grid(m);
        }
        saved_steps_energy(m);
    }
    r = in_place(m);
    compare("a grid cleared and refilled", &r, &gridded, true);

    CHECK_OK(m, saved_steps_status(m));
    saved_steps_destroy(m);
    return failures != 0;
}
