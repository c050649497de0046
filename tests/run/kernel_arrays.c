#include "kernel_arrays.h"
#include "host.h"

enum { MOST = 4000 };
static double seed = 0.5;

static double draw(void)
{
    seed = fmod(seed * 997.0 + 0.123, 1.0);
    return seed - 0.3;
}

static double *fill(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = draw();
    return x;
}

static double dot(const double *a, const double *b, int n)
{
    double s = 0.0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

/* y + h dy */
static void along(double *to, const double *y, const double *dy, double h, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = y[i] + h * dy[i];
}

static void scale(kernel_arrays *m, int n)
{
    static double a[MOST], da[MOST], b[MOST], db[MOST], p[MOST], q[MOST], at[MOST], g[MOST], gb[MOST], g1[MOST], g2[MOST], dg[MOST], dgb[MOST];
    fill(a, n), fill(da, n), fill(gb, n), fill(dgb, n);
    double k = 1.3, dk = -0.4, kg = 100.0, wg[5], dw[5];
    fill(dw, 5);
    for (int i = 0; i < 5; i++)
        m->w.dual[i] = dw[i];
    memset(b, 0x7f, sizeof b);
    CHECK(kernel_arrays_scale_jvp(m, n, a, da, k, &dk, b, db) == TK_OK);
    for (int i = 0; i < n; i++)
        CHECK(near(b[i], k * a[i] * a[i] * m->w.data[i % 5], 1e-14));
    const double h = 1e-5;
    for (int sign = -1; sign <= 1; sign += 2) {
        along(at, a, da, sign * h, n);
        along(m->w.data, m->w.data, dw, sign * h, 5);
        CHECK(kernel_arrays_scale(m, n, at, k + sign * h * dk, sign > 0 ? p : q) == TK_OK);
        along(m->w.data, m->w.data, dw, -sign * h, 5);
    }
    for (int i = 0; i < n; i++)
        CHECK(near(db[i], (p[i] - q[i]) / (2.0 * h), 1e-9));
    /* reverse against forward */
    tk_module_clear_grad(&m->tk);
    for (int i = 0; i < n; i++)
        g[i] = 1.0;
    const double held = gb[0];
    CHECK(kernel_arrays_scale_grad(m, n, a, k, b, gb, g, &kg) == TK_OK);
    for (int i = 0; i < n; i++)
        g[i] -= 1.0;
    memcpy(wg, m->w.grad, sizeof wg);
    CHECK(near(dot(gb, db, n), dot(g, da, n) + (kg - 100.0) * dk + dot(wg, dw, 5), 1e-12) && gb[0] == held);
    /* the second-order product against differences of the gradient */
    memset(g1, 0, sizeof g1), memset(dg, 0, sizeof dg);
    double kg1 = 0.0, dkg = 0.0, kgp = 0.0;
    CHECK(kernel_arrays_scale_hvp(m, n, a, da, k, &dk, b, NULL, gb, dgb, g1, dg, &kg1, &dkg) == TK_OK);
    for (int sign = -1; sign <= 1; sign += 2) {
        double kgs = 0.0;
        memset(sign > 0 ? p : q, 0, sizeof p);
        along(at, a, da, sign * h, n);
        along(g2, gb, dgb, sign * h, n);
        along(m->w.data, m->w.data, dw, sign * h, 5);
        CHECK(kernel_arrays_scale_grad(m, n, at, k + sign * h * dk, b, g2, sign > 0 ? p : q, &kgs) == TK_OK);
        along(m->w.data, m->w.data, dw, -sign * h, 5);
        kgp += sign * kgs / (2.0 * h);
    }
    for (int i = 0; i < n; i++)
        CHECK(near(dg[i], (p[i] - q[i]) / (2.0 * h), 1e-8) && near(g1[i], g[i], 1e-12));
    CHECK(near(dkg, kgp, 1e-7));
    /* what is not wanted, what is zero */
    double kg2 = 0.0;
    CHECK(kernel_arrays_scale_grad(m, n, a, k, b, gb, NULL, &kg2) == TK_OK && near(kg2, kg - 100.0, 1e-12));
    CHECK(kernel_arrays_scale_grad(m, n, a, k, b, NULL, g, &kg2) == TK_OK && near(kg2, kg - 100.0, 1e-12));
    for (int i = 0; i < 5; i++)
        m->w.dual[i] = 0.0;
    CHECK(kernel_arrays_scale_jvp(m, n, a, NULL, k, NULL, b, db) == TK_OK);
    for (int i = 0; i < n; i++)
        CHECK(db[i] == 0.0);
    CHECK(kernel_arrays_scale_jvp(m, n, a, da, k, NULL, b, NULL) == TK_OK);
}

static void matvec(kernel_arrays *m, int n, int k)
{
    static double A[MOST], dA[MOST], x[MOST][2], dx[MOST][2], y[MOST][2], dy[MOST][2], start[MOST][2], p[MOST][2], q[MOST][2], at[MOST], atx[MOST][2];
    static double gA[MOST], gx[MOST][2], gy[MOST][2], seeds[MOST][2];
    fill(A, n * k), fill(dA, n * k), fill(x[0], 2 * k), fill(dx[0], 2 * k), fill(start[0], 2 * n), fill(dy[0], 2 * n), fill(seeds[0], 2 * n);
    static double dy0[MOST][2];
    memcpy(dy0, dy, sizeof dy), memcpy(y, start, sizeof y);
    CHECK(kernel_arrays_matvec_jvp(m, n, k, A, dA, (const double (*)[2])x, (const double (*)[2])dx, y, dy) == TK_OK);
    const double h = 1e-5;
    for (int sign = -1; sign <= 1; sign += 2) {
        along(at, A, dA, sign * h, n * k), along(atx[0], x[0], dx[0], sign * h, 2 * k), along(sign > 0 ? p[0] : q[0], start[0], dy0[0], sign * h, 2 * n);
        CHECK(kernel_arrays_matvec(m, n, k, at, (const double (*)[2])atx, sign > 0 ? p : q) == TK_OK);
    }
    for (int i = 0; i < n; i++)
        CHECK(near(dy[i][1], (p[i][1] - q[i][1]) / (2.0 * h), 1e-8));
    memset(gA, 0, sizeof gA), memset(gx, 0, sizeof gx), memcpy(gy, seeds, sizeof gy);
    CHECK(kernel_arrays_matvec_grad(m, n, k, A, (const double (*)[2])x, (const double (*)[2])y, gA, gx, gy) == TK_OK);
    CHECK(near(dot(seeds[0], dy[0], 2 * n), dot(gA, dA, n * k) + dot(gx[0], dx[0], 2 * k) + dot(gy[0], dy0[0], 2 * n),
               1e-11));
}

static void sums(kernel_arrays *m, int n, int k)
{
    static double a[MOST][3], da[MOST][3], s[MOST], ds[MOST], p[MOST], dp[MOST], gs[MOST], gp[MOST], ga[MOST][3], up[MOST], down[MOST], pp[MOST], pq[MOST], at[MOST][3];
    static int32_t where[MOST];
    fill(a[0], 3 * n), fill(da[0], 3 * n), fill(gs, k), fill(gp, n * k), fill(s, k), fill(p, n * k), fill(ds, k), fill(dp, n * k);
    for (int i = 0; i < n; i++)
        where[i] = i * 7 % k;
    CHECK(kernel_arrays_sums_jvp(m, n, k, (const double (*)[3])a, (const double (*)[3])da, where, s, ds, p, dp) == TK_OK);
    CHECK(m->seen.data[0] == n);
    const double h = 1e-5;
    for (int sign = -1; sign <= 1; sign += 2) {
        along(at[0], a[0], da[0], sign * h, 3 * n);
        memset(sign > 0 ? up : down, 0x7f, sizeof up);
        CHECK(kernel_arrays_sums(m, n, k, (const double (*)[3])at, where, sign > 0 ? up : down, sign > 0 ? pp : pq) == TK_OK);
    }
    for (int i = 0; i < k; i++)
        CHECK(near(ds[i], (up[i] - down[i]) / (2.0 * h), 1e-8));
    for (int i = 0; i < n * k; i++)
        CHECK(near(dp[i], (pp[i] - pq[i]) / (2.0 * h), 1e-8));
    CHECK(k < 2 || p[n * k - 1] == 0.0 || where[n - 1] == k);     /* what is not written is zero */
    memset(ga, 0, sizeof ga);
    CHECK(kernel_arrays_sums_grad(m, n, k, (const double (*)[3])a, where, s, p, gs, gp, ga) == TK_OK);
    CHECK(near(dot(gs, ds, k) + dot(gp, dp, n * k), dot(ga[0], da[0], 3 * n), 1e-11));
}

static void decay(kernel_arrays *m, int n)
{
    static double x[MOST], start[MOST], dx[MOST], dx0[MOST], rate[MOST], g[MOST], seeds[MOST], p[MOST], q[MOST];
    fill(start, n), fill(dx, n), fill(rate, n), fill(seeds, n);
    memcpy(x, start, sizeof x), memcpy(dx0, dx, sizeof dx), memcpy(g, seeds, sizeof g);
    CHECK(kernel_arrays_decay_jvp(m, n, x, dx, rate, NULL) == TK_OK);
    along(p, start, dx0, 1.0, n), along(q, start, dx0, -1.0, n);
    CHECK(kernel_arrays_decay(m, n, p, rate) == TK_OK && kernel_arrays_decay(m, n, q, rate) == TK_OK);
    for (int i = 0; i < n; i++)
        CHECK(near(dx[i], 0.5 * (p[i] - q[i]), 1e-13));            /* it is linear */
    CHECK(kernel_arrays_decay_grad(m, n, x, rate, g) == TK_OK);
    CHECK(near(dot(seeds, dx, n), dot(g, dx0, n), 1e-12));
}

static void stencil(kernel_arrays *m, int n, int k)
{
    static double u[MOST], du[MOST], v[MOST], dv[MOST], p[MOST], q[MOST], at[MOST], g[MOST], seeds[MOST];
    const double h = 1e-5;
    fill(u, n * k), fill(du, n * k), fill(seeds, n * k);
    memset(v, 0x7f, sizeof v), memset(dv, 0x7f, sizeof dv), memset(g, 0, sizeof g);
    CHECK(kernel_arrays_stencil_jvp(m, n, k, u, du, v, dv) == TK_OK);
    for (int sign = -1; sign <= 1; sign += 2) {
        along(at, u, du, sign * h, n * k);
        CHECK(kernel_arrays_stencil(m, n, k, at, sign > 0 ? p : q) == TK_OK);
    }
    for (int i = 0; i < n * k; i++)
        CHECK(near(dv[i], (p[i] - q[i]) / (2.0 * h), 1e-8));
    CHECK(v[0] == 0.0 && kernel_arrays_stencil_grad(m, n, k, u, v, seeds, g) == TK_OK);
    CHECK(near(dot(seeds, dv, n * k), dot(g, du, n * k), 1e-11));
}

static void compact(kernel_arrays *m, int n)
{
    static double x[MOST], kept[MOST], g[MOST], kept_grad[MOST];
    int32_t count[1];
    fill(x, n), fill(kept, n);
    CHECK(kernel_arrays_compact(m, n, 1, x, count, kept) == TK_OK && count[0] > 0 && count[0] < n);
    memset(g, 0, sizeof g);
    for (int i = 0; i < n; i++)
        kept_grad[i] = kept[i];         /* so that the gradient tells which element it came from */
    CHECK(kernel_arrays_compact_grad(m, n, 1, x, count, kept, g, kept_grad) == TK_OK);
    for (int i = 0; i < n; i++)
        CHECK(near(g[i], x[i] > 0.0 ? 2.0 * x[i] * x[i] * x[i] : 0.0, 1e-13) &&
              (i >= count[0] ? kept_grad[i] == kept[i] : kept_grad[i] == 0.0));
}

static void normalise(kernel_arrays *m, int n)
{
    static double x[MOST], dx[MOST], y[MOST], dy[MOST], g[MOST], seeds[MOST], p[MOST], q[MOST], at[MOST];
    double total = 0.4, dtotal = -0.7, tg = 1.5, tp[2] = {0.4, 0.4};
    const double h = 1e-5, dt0 = dtotal;
    fill(x, n), fill(dx, n), fill(seeds, n), memset(g, 0, sizeof g);
    CHECK(kernel_arrays_normalise_jvp(m, n, 1, x, dx, y, dy, &total, &dtotal) == TK_OK);
    for (int sign = 0; sign < 2; sign++) {
        along(at, x, dx, sign ? -h : h, n);
        tp[sign] += (sign ? -h : h) * dt0;
        CHECK(kernel_arrays_normalise(m, n, 1, at, sign ? q : p, &tp[sign]) == TK_OK);
    }
    for (int i = 0; i < n; i++)
        CHECK(near(dy[i], (p[i] - q[i]) / (2.0 * h), 1e-8));
    CHECK(near(dtotal, (tp[0] - tp[1]) / (2.0 * h), 1e-8));
    CHECK(kernel_arrays_normalise_grad(m, n, 1, x, y, &total, seeds, g, &tg) == TK_OK);
    CHECK(near(dot(seeds, dy, n) + 1.5 * dtotal, dot(g, dx, n) + tg * dt0, 1e-11));
}

/* On a tape: arrays that are read, by address. */
static void tape(kernel_arrays *m, unsigned flags)
{
    double t[6] = {0.0, 0.1, 0.4, 0.9, 1.3, 2.0}, y[6] = {2.0, 1.7, 1.4, 0.9, 0.6, 0.3}, from_direct[2];
    tk_session *s = tk_module_session(&m->tk);
    m->w.data[0] = 1.9, m->w.data[1] = 0.8;
    TK_TAPE(m, m->loss) {
        kernel_arrays_misfit(m, 6, t, y);
        kernel_arrays_misfit(m, 3, t + 3, y);
    }
    CHECK(kernel_arrays_status(m) == TK_OK);
    memcpy(from_direct, m->w.grad, sizeof from_direct);
    const double h = 1e-5;
    for (int c = 0; c < 2; c++) {
        double at[2];
        for (int sign = 0; sign < 2; sign++) {
            m->w.data[c] += sign ? -2.0 * h : h;
            m->loss.data[0] = 0.0;
            kernel_arrays_misfit(m, 6, t, y), kernel_arrays_misfit(m, 3, t + 3, y);
            at[sign] = m->loss.data[0];
        }
        m->w.data[c] += h;
        CHECK(near(from_direct[c], (at[0] - at[1]) / (2.0 * h), 1e-8));
    }
    double one = 1.0;
    CHECK(tk_forward_begin(&m->loss.field, 1, m->w.field, (double[]){1.0, 0.0, 0.0, 0.0, 0.0}, 5) == TK_OK);
    m->loss.data[0] = 0.0;
    CHECK(kernel_arrays_misfit(m, 6, t, y) == TK_OK && kernel_arrays_misfit(m, 3, t + 3, y) == TK_OK);
    CHECK(near(m->loss.dual[0], from_direct[0], 1e-12));
    CHECK_STATUS(m, kernel_arrays_copy_w(m, 3, t), TK_NO_DERIVATIVE,
                 "writes the array 'b' of the host, of which a forward scope knows no derivative");
    tk_forward_end(s);
    tk_session_clear_error(s);
    CHECK(tk_tape_begin(m->loss.field, flags) == TK_OK);
    CHECK_STATUS(m, kernel_arrays_copy_w(m, 3, t), TK_NO_DERIVATIVE, "make it a field (bound to your memory)");
    CHECK_STATUS(m, kernel_arrays_scale(m, 3, t, one, y), TK_NO_DERIVATIVE, "needs_grad parameters");
    tk_tape_drop(s);
    int32_t bins[3];
    uint8_t largest[3];
    CHECK(tk_tape_begin(m->loss.field, flags) == TK_OK && kernel_arrays_histogram(m, 6, 3, t, bins, largest) == TK_OK);
    CHECK(bins[0] == 4 && bins[1] == 1 && bins[2] == 1 && largest[0] == 1 && tk_tape_end(m->loss.field) == TK_OK);
    if (flags) {
        CHECK(tk_tape_begin(m->loss.field, flags) == TK_OK && kernel_arrays_misfit(m, 6, t, y) == TK_OK);
        y[4] = 0.5;
        CHECK_STATUS(m, tk_tape_end(m->loss.field), TK_OVERWRITTEN,
                     "an array of the host that kernel 'misfit' (launch 1 on the tape) reads was changed");
        CHECK(tk_tape_begin(m->loss.field, flags) == TK_OK && kernel_arrays_misfit(m, 6, t, y) == TK_OK && tk_tape_end(m->loss.field) == TK_OK);
    }
}

static void misuse(kernel_arrays *m, bool debug)
{
    double a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8] = {0}, g[8] = {0}, k = 1.0;
    CHECK(kernel_arrays_scale(NULL, 4, a, 1.0, b) == TK_BAD_ARGUMENT);
    CHECK_REFUSED(m, kernel_arrays_scale(m, 4, NULL, 1.0, b), "kernel 'scale': the array 'a' is NULL");
    CHECK_REFUSED(m, kernel_arrays_scale(m, -1, a, 1.0, b), "extent 0 of the array 'a' is negative (-1)");
    CHECK_REFUSED(m, kernel_arrays_sums(m, INT64_MAX / 2, 4, NULL, NULL, b, b), "too many elements");
    CHECK_REFUSED(m, kernel_arrays_scale(m, 4, a, 1.0, a + 2), "the data of the array 'b' overlaps the data of 'a'");
    CHECK_REFUSED(m, kernel_arrays_scale(m, 4, a, 1.0, m->w.data + 1),
                  "the data of the array 'b' overlaps the data of 'w'");
    CHECK_REFUSED(m, kernel_arrays_scale_grad(m, 4, a, 1.0, b, g, g, &k), "overlaps the gradient of 'a'");
    CHECK_REFUSED(m, kernel_arrays_scale_grad(m, 4, a, 1.0, b, m->w.grad, g, &k), "overlaps the gradient of 'w'");
    CHECK_REFUSED(m, kernel_arrays_scale(m, 2, (const double *)((const char *)a + 4), 1.0, b),
                  "not aligned to 8 bytes");
    CHECK(kernel_arrays_scale(m, 0, NULL, 1.0, NULL) == TK_OK && kernel_arrays_scale_grad(m, 0, NULL, 1.0, NULL, NULL, NULL, &k) == TK_OK && k == 1.0);
    CHECK(kernel_arrays_scale(m, 4, m->w.data, 1.0, b) == TK_OK && near(b[3], pow(m->w.data[3], 3), 1e-14)); /* both are only read */
    CHECK(kernel_arrays_neighbours(m, 8, a, b) == TK_OK && b[6] == 8.0);
    CHECK_STATUS(m, kernel_arrays_filled_jvp(m, 8, a, g, b, NULL), TK_NO_DERIVATIVE,
                 "the tangent of 'a' would be lost in 'z'");
    CHECK(kernel_arrays_filled_jvp(m, 8, a, NULL, b, g) == TK_OK && b[7] == 8.0 && g[7] == 0.0);
    kernel_arrays_params p = m->params;
    CHECK_REFUSED(m, kernel_arrays_window(m, a, a + 2, 0), "the data of the array 'y' overlaps the data of 'q'");
    b[4] = 99.0;
    CHECK(kernel_arrays_window(m, a, b, 2) == TK_OK && b[0] == 4.0 && b[3] == 4.0 && b[4] == 99.0);
    p.M = 2;
    CHECK(kernel_arrays_set_params(m, &p) == TK_OK && kernel_arrays_window(m, a, b, 1) == TK_OK && b[1] == 4.0 && b[2] == 6.0);
    p.M = -1;
    CHECK(kernel_arrays_set_params(m, &p) == TK_OK);
    CHECK_REFUSED(m, kernel_arrays_window(m, a, b, 1), "extent 0 of the array 'y' is negative (-1)");
    p.M = 4;
    CHECK(kernel_arrays_set_params(m, &p) == TK_OK);
    m->loss.data[0] = 0.0;
    CHECK(kernel_arrays_pair(m, 3, 3, a, a) == TK_OK && m->loss.data[0] == 14.0);
    if (debug) {
        CHECK_STATUS(m, kernel_arrays_pair(m, 2, 3, a, a), TK_ASSERT, "extent 0 of 'b' is not 'n'");
        CHECK_STATUS(m, kernel_arrays_window(m, a, b, 3), TK_BOUNDS, "subscript 0 of 'q' is 3, outside [0, 3)");
        CHECK_STATUS(m, kernel_arrays_reach(m, 8, a, 8), TK_BOUNDS, "subscript 0 of 'x' is 8, outside [0, 8)");
        CHECK_STATUS(m, kernel_arrays_shared(m, 8, b), TK_RACE, "'y[0]'");
    }
    CHECK(kernel_arrays_reach(m, 8, a, 7) == TK_OK && m->loss.data[0] == 8.0);
}

int main(void)
{
    kernel_arrays *m = kernel_arrays_create(NULL, NULL);
    if (!m)
        return 1;
    fill(m->w.data, 5);
    double x[2] = {1.0, 2.0};
    const bool debug = kernel_arrays_reach(m, 2, x, 1) == TK_OK && tk_tape_begin(m->loss.field, TK_TAPE_VALIDATE) == TK_OK
                       && kernel_arrays_reach(m, 2, x, 1) == TK_OK && tk_tape_drop(tk_module_session(&m->tk)) == TK_OK;
    tk_tape_drop(tk_module_session(&m->tk));
    tk_session_clear_error(tk_module_session(&m->tk));
    scale(m, 1);
    scale(m, 7);
    scale(m, MOST);
    matvec(m, 1, 1);
    matvec(m, 4, 3);
    matvec(m, 60, 60);
    sums(m, 5, 3);
    sums(m, 300, 13);
    decay(m, 2);
    decay(m, 9);
    decay(m, MOST);
    stencil(m, 3, 3);
    stencil(m, 60, 61);
    compact(m, 30);
    compact(m, MOST);
    normalise(m, 1);
    normalise(m, MOST);
    tape(m, 0);
    if (debug)
        tape(m, TK_TAPE_VALIDATE);
    misuse(m, debug);
    kernel_arrays_destroy(m);
    return failures != 0;
}
