/* Every row of the operation table at 100 random points of its domain: first derivatives against extrapolated differences (1e-6 relative), forward
 * against reverse (1e-12), second derivatives against differences of the first. Element-wise kernels, so each point is checked by itself.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optable.h"
#include "optable_rows.h"
#include <tkc/tkc_gen.h>

enum { N = 100 };

static uint64_t seed = 99;
static int failures;

static double uniform(double lo, double hi)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * ((double)(seed >> 11) / 9007199254740992.0);
}

typedef struct row {
    optable *m;
    const tk_kernel *k;
    double *in[3];
    double x[3][N], lo[3], hi[3];
    int arity;
} row;

static void must(const row *r, tk_status s)
{
    if (s == TK_OK)
        return;
    printf("%s: %s\n", r->k->name, optable_error(r->m));
    exit(1);
}

static void load(row *r, int operand, double h)
{
    for (int k = 0; k < r->arity; k++)
        for (int i = 0; i < N; i++)
            r->in[k][i] = r->x[k][i] + (k == operand ? h : 0.0);
    must(r, tk_session_clear_grad(r->m->tk.session));
    must(r, tk_session_clear_dual(r->m->tk.session));
}

static void value_at(row *r, int operand, double h, double *out)
{
    load(r, operand, h);
    must(r, tk_launch(&r->m->tk, r->k, NULL));
    memcpy(out, r->m->r.data, N * sizeof *out);
}

/* All operands' gradients of sum(r). */
static void gradient_at(row *r, int operand, double h, double g[3][N])
{
    load(r, operand, h);
    must(r, tk_launch(&r->m->tk, r->k, NULL));
    for (int i = 0; i < N; i++)
        r->m->r.grad[i] = 1.0;
    must(r, tk_launch_grad(&r->m->tk, r->k, NULL, NULL));
    memcpy(g[0], r->m->a.grad, sizeof g[0]);
    memcpy(g[1], r->m->b.grad, sizeof g[1]);
    memcpy(g[2], r->m->c.grad, sizeof g[2]);
}

static void seed_dual(row *r, int operand)
{
    double *dual[3] = {r->m->a.dual, r->m->b.dual, r->m->c.dual};
    load(r, operand, 0.0);
    for (int i = 0; i < N; i++)
        dual[operand][i] = 1.0;
    must(r, tk_launch_jvp(&r->m->tk, r->k, NULL));
}

static void expect(const row *r, const char *what, int i, double got, double want, double tolerance)
{
    if (fabs(got - want) <= tolerance * fmax(1.0, fabs(want)))
        return;
    failures++;
    printf("%s: %s at (%.17g, %.17g, %.17g): %.15g, expected %.15g\n", r->k->name, what, r->x[0][i], r->x[1][i], r->x[2][i], got, want);
}

static void check_operand(row *r, int k)
{
    static double v[4][N], g[3][N], gd[4][3][N], t[N];
    const double h = 1e-3, steps[4] = {h, -h, h / 2, -h / 2};
    for (int s = 0; s < 4; s++) {
        value_at(r, k, steps[s], v[s]);
        gradient_at(r, k, steps[s], gd[s]);
    }
    gradient_at(r, k, 0.0, g);
    seed_dual(r, k);
    memcpy(t, r->m->r.dual, sizeof t);
    /* Second order: the tangents of data are there from the JVP; the seed r.grad is constant. */
    must(r, tk_module_need_grad_dual(&r->m->tk));
    for (int i = 0; i < r->m->tk.desc->nfields; i++)
        if (r->m->tk.fields[i].plane[TK_GRAD_DUAL])
            memset(r->m->tk.fields[i].plane[TK_GRAD_DUAL], 0, N * sizeof(double));
    for (int i = 0; i < N; i++)
        r->m->r.grad[i] = 1.0;
    must(r, tk_launch_hvp(&r->m->tk, r->k, NULL, NULL));
    const int field[3] = {0, 1, 2};
    for (int i = 0; i < N; i++) {
        const double fd = (4.0 * (v[2][i] - v[3][i]) / h - (v[0][i] - v[1][i]) / (2.0 * h)) / 3.0;
        const bool cast = strcmp(r->k->name, "op_cast") == 0; /* rounds its value to f32: differences are coarse */
        if (strcmp(r->k->name, "op_stop_grad") == 0)
            expect(r, "stopped derivative", i, t[i], 0.0, 0.0);
        else
            expect(r, "forward against differences", i, t[i], fd, cast ? 1e-3 : 1e-6);
        expect(r, "reverse against forward", i, g[k][i], t[i], 1e-12);
        for (int j = 0; j < r->arity; j++) {
            const double *second = r->m->tk.fields[field[j]].plane[TK_GRAD_DUAL];
            const double want = (4.0 * (gd[2][j][i] - gd[3][j][i]) / h - (gd[0][j][i] - gd[1][j][i]) / (2.0 * h)) / 3.0;
            expect(r, "second derivative", i, second[i], want, 1e-6);
        }
    }
}

static void check_row(optable *m, int at)
{
    row r = {.m = m, .arity = rows[at].arity, .in = {m->a.data, m->b.data, m->c.data}};
    for (int k = 0; k < m->tk.desc->nkernels; k++)
        if (strcmp(m->tk.desc->kernels[k].name, rows[at].name) == 0)
            r.k = &m->tk.desc->kernels[k];
    const char *d = rows[at].domain;
    for (int k = 0; k < r.arity; k++) {
        char *end;
        r.lo[k] = strtod(d, &end);
        r.hi[k] = strtod(end + 1, &end);
        d = end;
    }
    const bool powi = strcmp(rows[at].name, "op_powi") == 0;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < r.arity; k++)
            r.x[k][i] = uniform(r.lo[k], r.hi[k]);
        /* Away from kinks by more than the step. */
        while (strchr(rows[at].domain, '!') && (r.arity == 1 ? fabs(r.x[0][i]) : fabs(r.x[0][i] - r.x[1][i])) < 0.01)
            r.x[0][i] = uniform(r.lo[0], r.hi[0]);
        while (strcmp(rows[at].name, "op_select") == 0 && fabs(r.x[0][i] - 0.5) < 0.01)
            r.x[0][i] = uniform(r.lo[0], r.hi[0]);
        if (powi)
            m->n.data[i] = (int32_t)floor(r.x[1][i]);
    }
    if (powi)
        r.arity = 1;
    for (int k = 0; k < r.arity; k++)
        check_operand(&r, k);
}

int main(void)
{
    optable *m = optable_create(NULL, NULL);
    if (!m) {
        printf("%s\n", tk_error());
        return 2;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row(m, (int)i);
    optable_destroy(m);
    return failures != 0;
}
