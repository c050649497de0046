/* Calls the entry points as CasADi does, by their shapes and sparsity: Jacobian blocks against differences of the
 * function, the adjoint against the Jacobian, and the Jacobian of the adjoint against differences of the adjoint. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int eval(const double **arg, double **res, long long *iw, double *w, int mem);
typedef long long count(void);
typedef const long long *sparsity(long long i);

typedef struct entry {
    const char *name;
    eval *call;
    count *n_in, *n_out;
    sparsity *in, *out;
} entry;

#define DECLARE(f) \
    eval f; \
    count f##_n_in, f##_n_out; \
    sparsity f##_sparsity_in, f##_sparsity_out;
#define ENTRY(f) \
    { \
#f, f, f##_n_in, f##_n_out, f##_sparsity_in, f##_sparsity_out \
    }
DECLARE(model_step_casadi)
DECLARE(jac_model_step_casadi)
DECLARE(adj1_model_step_casadi)
DECLARE(jac_adj1_model_step_casadi)
DECLARE(model_blend_casadi)
DECLARE(jac_model_blend_casadi)
DECLARE(adj1_model_blend_casadi)
DECLARE(model_cost_casadi)
DECLARE(jac_model_cost_casadi)
DECLARE(adj1_model_cost_casadi)
DECLARE(jac_adj1_model_cost_casadi)
const char *model_step_casadi_name_in(long long i);
const char *model_step_casadi_name_out(long long i);
int jac_adj1_model_step_casadi_work(long long *, long long *, long long *, long long *);

enum { MOST = 64 };

static double step[MOST]; /* of differences, for each input */

static void fail(const entry *e, const char *what)
{
    printf("%s: %s\n", e->name, what);
    exit(1);
}

static int size_of(const long long *s)
{
    return (int)(s[0] * s[1]);
}

static int stored(const long long *s)
{
    return s[2] == 1 && s[1] != 0 ? size_of(s) : (int)s[2 + s[1]];
}

/* All outputs, or the one with index `only`. Values of inputs that an entry point does not read are NULL. */
static void run(const entry *e, double (*in)[MOST], double (*out)[MOST], int only)
{
    const double *arg[MOST];
    double *res[MOST];
    for (int i = 0; i < e->n_in(); i++)
        arg[i] = stored(e->in(i)) ? in[i] : NULL;
    for (int i = 0; i < e->n_out(); i++)
        res[i] = only < 0 || i == only ? out[i] : NULL;
    if (e->call(arg, res, NULL, NULL, 0) != 0)
        fail(e, "a status");
}

/* Output o of `jac`, dense by columns, against differences of `f` with the same inputs. */
static void check_jacobian(const entry *f, const entry *jac, double (*in)[MOST])
{
    static double blocks[MOST][MOST], lo[MOST][MOST], hi[MOST][MOST];
    run(jac, in, blocks, -1);
    const int nin = (int)f->n_in(), nout = (int)f->n_out();
    if (jac->n_out() != (long long)nin * nout || jac->n_in() != nin + nout)
        fail(jac, "the number of blocks");
    for (int i = 0; i < nin; i++)
        for (int k = 0; k < stored(f->in(i)); k++) {
            const double x = in[i][k], h = step[i];
            in[i][k] = x + h;
            run(f, in, hi, -1);
            in[i][k] = x - h;
            run(f, in, lo, -1);
            in[i][k] = x;
            for (int o = 0; o < nout; o++) {
                const long long *s = jac->out(o * nin + i), *row = s + 3 + s[1];
                if (s[0] != size_of(f->out(o)) || s[1] != size_of(f->in(i)))
                    fail(jac, "the shape of a block");
                double column[MOST] = {0};
                for (long long at = s[2 + k]; at < s[3 + k]; at++)
                    column[row[at]] = blocks[o * nin + i][at];
                for (int r = 0; r < s[0]; r++)
                    if (!(fabs(column[r] - (hi[o][r] - lo[o][r]) / (2 * h)) <= 1e-5 * (1 + fabs(column[r])))) {
                        printf("%s: output %d, input %d, row %d, column %d: %.9g, by differences %.9g\n", jac->name, o,
                               i, r, k, column[r], (hi[o][r] - lo[o][r]) / (2 * h));
                        exit(1);
                    }
            }
        }
}

/* Each gradient against the seeds times the Jacobian's blocks; one output alone gives the same numbers. */
static void check_adjoint(const entry *f, const entry *jac, const entry *adj, double (*in)[MOST])
{
    static double blocks[MOST][MOST], all[MOST][MOST], one[MOST][MOST];
    const int nin = (int)f->n_in(), nout = (int)f->n_out();
    run(jac, in, blocks, -1);
    run(adj, in, all, -1);
    for (int i = 0; i < nin; i++) {
        run(adj, in, one, i);
        for (int k = 0; k < size_of(f->in(i)); k++) {
            double sum = 0;
            for (int o = 0; o < nout; o++) {
                const long long *s = jac->out(o * nin + i), *row = s + 3 + s[1];
                for (long long at = s[2 + k]; at < s[3 + k]; at++)
                    sum += in[nin + nout + o][row[at]] * blocks[o * nin + i][at];
            }
            if (!(fabs(sum - all[i][k]) <= 1e-12 * (1 + fabs(sum))) || all[i][k] != one[i][k])
                fail(adj, "a gradient");
        }
    }
}

int main(void)
{
    const entry family[][4] = {
        {ENTRY(model_step_casadi), ENTRY(jac_model_step_casadi), ENTRY(adj1_model_step_casadi),
         ENTRY(jac_adj1_model_step_casadi)},
        {ENTRY(model_blend_casadi), ENTRY(jac_model_blend_casadi), ENTRY(adj1_model_blend_casadi), {0}},
        {ENTRY(model_cost_casadi), ENTRY(jac_model_cost_casadi), ENTRY(adj1_model_cost_casadi),
         ENTRY(jac_adj1_model_cost_casadi)}};
    static double in[MOST][MOST];
    for (int m = 0; m < 3; m++) {
        const entry *f = &family[m][0], *jac = &family[m][1], *adj = &family[m][2], *hess = &family[m][3];
        for (int i = 0; i < MOST; i++)
            for (int k = 0; k < MOST; k++)
                in[i][k] = 0.6 + 0.13 * ((3 * i + 5 * k + m) % 7);
        if (m == 0)
            memset(in[4], 0, sizeof in[4]); /* an integer, which differences do not move */
        for (int i = 0; i < MOST; i++)
            step[i] = m == 2 && i == 1 ? 1.0 / 1024 : 1e-5;
        if (m == 2)
            in[1][0] = 0.75; /* f32, which has the points beside it */
        check_jacobian(f, jac, in);
        check_adjoint(f, jac, adj, in);
        if (hess->name)
            check_jacobian(adj, hess, in);
    }
    long long n[4] = {-1, -1, -1, -1};
    if (jac_adj1_model_step_casadi_work(&n[0], &n[1], &n[2], &n[3]) != 0 || n[0] != 14 || n[1] != 45 || n[2] || n[3]) {
        printf("work: %lld %lld %lld %lld\n", n[0], n[1], n[2], n[3]);
        return 1;
    }
    if (strcmp(model_step_casadi_name_in(2), "arg") != 0 || model_step_casadi_name_in(5) ||
        model_step_casadi_name_out(-1) || model_step_casadi_sparsity_in(5))
        return 1;
    double x[2] = {3, 4}, y[1]; /* NULL is zero */
    const double *arg[2] = {x, NULL};
    double *res[1] = {y};
    return model_cost_casadi(arg, res, NULL, NULL, 0) != 0 || fabs(y[0] - 2500) > 1e-9;
}
