#include "plan.h"

#include <IpStdCInterface.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ITERATIONS = 200 };
static const double END = 1.0; /* what the state at the end costs, as an interval of so many seconds */

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What the callbacks of IPOPT get. */
typedef struct problem {
    task t; /* first: most of them need no more */
    plan *p;
} problem;

/* ---- the numbers that are not zero: the tables of the generated file ---- */

/* The lower triangle of the Hessian of an interval: of its step and of its cost. */
static int lower_triangle(bool nonzero[INPUTS][INPUTS])
{
    int n = 0;
    memset(nonzero, 0, INPUTS * sizeof *nonzero);
    for (int e = 0; e < quadrotor_step_hess_NNZ; e++)
        nonzero[quadrotor_step_hess_row[e]][quadrotor_step_hess_col[e]] = true;
    for (int e = 0; e < quadrotor_stage_hess_NNZ; e++)
        nonzero[quadrotor_stage_hess_row[e]][quadrotor_stage_hess_col[e]] = true;
    for (int i = 0; i < INPUTS; i++)
        for (int j = 0; j <= i; j++)
            n += nonzero[i][j];
    return n;
}

int jacobian_numbers(const task *t)
{
    return t->intervals * (quadrotor_step_jac_NNZ + STATE);
}

int hessian_numbers(const task *t)
{
    bool nonzero[INPUTS][INPUTS];
    return t->intervals * lower_triangle(nonzero) + STATE; /* at the end, the diagonal of the cost */
}

/* ---- what IPOPT calls ---- */

static double cost_of(const task *t, const double *z)
{
    static const double none[THRUSTS] = {0};
    double sum = 0.0, part;
    for (int k = 0; k <= t->intervals; k++, z += INPUTS) {
        const bool end = k == t->intervals;
        quadrotor_stage(z, end ? none : z + STATE, t->goal[k], end ? END : t->time, t->drone, &part);
        sum += part;
    }
    return sum;
}

static Bool cost(Index n, Number *z, Bool new_z, Number *sum, UserDataPtr data)
{
    (void)n, (void)new_z;
    *sum = cost_of(data, z);
    return isfinite(*sum);
}

static Bool gradient(Index n, Number *z, Bool new_z, Number *g, UserDataPtr data)
{
    static const double none[THRUSTS] = {0}, one = 1.0;
    const task *t = data;
    (void)new_z;
    memset(g, 0, (size_t)n * sizeof *g);
    for (int k = 0; k <= t->intervals; k++, z += INPUTS, g += INPUTS) {
        const bool end = k == t->intervals;
        quadrotor_stage_grad(z, end ? none : z + STATE, t->goal[k], end ? END : t->time, t->drone, NULL, &one, g,
                             end ? NULL : g + STATE);
    }
    return TRUE;
}

/* The defects: the state at the beginning of an interval, less what the interval before it leads to. */
static Bool defects(Index n, Number *z, Bool new_z, Index m, Number *g, UserDataPtr data)
{
    const task *t = data;
    (void)n, (void)new_z, (void)m;
    for (int k = 0; k < t->intervals; k++, z += INPUTS, g += STATE) {
        quadrotor_step(z, z + STATE, t->time, t->drone, g);
        for (int i = 0; i < STATE; i++)
            g[i] = z[INPUTS + i] - g[i];
    }
    return TRUE;
}

/* Of each interval what its defects have of it, then what they have of the next. Without values: the places. */
static Bool jacobian(Index n, Number *z, Bool new_z, Index m, Index nonzeros, Index *row, Index *column, Number *value,
                     UserDataPtr data)
{
    const task *t = data;
    (void)n, (void)new_z, (void)m, (void)nonzeros;
    for (int k = 0, at = 0; k < t->intervals; k++) {
        double J[STATE][INPUTS];
        if (value)
            quadrotor_step_jac(z + k * INPUTS, z + k * INPUTS + STATE, t->time, t->drone, NULL, J[0], INPUTS);
        for (int e = 0; e < quadrotor_step_jac_NNZ; e++, at++) {
            const int i = quadrotor_step_jac_row[e], j = quadrotor_step_jac_col[e];
            if (value) {
                value[at] = -J[i][j];
            } else {
                row[at] = k * STATE + i;
                column[at] = k * INPUTS + j;
            }
        }
        for (int i = 0; i < STATE; i++, at++)
            if (value) {
                value[at] = 1.0;
            } else {
                row[at] = k * STATE + i;
                column[at] = (k + 1) * INPUTS + i;
            }
    }
    return TRUE;
}

/* factor * cost + multiplier . defects, of an interval. */
static void interval_hessian(const task *t, const double *z, int k, double factor, const double *multiplier,
                             double H[INPUTS][INPUTS])
{
    double lambda[STATE], C[INPUTS][INPUTS];
    for (int i = 0; i < STATE; i++)
        lambda[i] = -multiplier[i];
    quadrotor_step_hess(z, z + STATE, t->time, t->drone, lambda, NULL, NULL, H[0], INPUTS);
    quadrotor_stage_hess(z, z + STATE, t->goal[k], t->time, t->drone, NULL, NULL, C[0], INPUTS);
    for (int i = 0; i < INPUTS; i++)
        for (int j = 0; j <= i; j++)
            H[i][j] += factor * C[i][j];
}

static Bool hessian(Index n, Number *z, Bool new_z, Number factor, Index m, Number *multiplier, Bool new_multiplier,
                    Index nonzeros, Index *row, Index *column, Number *value, UserDataPtr data)
{
    static const double none[THRUSTS] = {0};
    const task *t = data;
    bool nonzero[INPUTS][INPUTS];
    double H[INPUTS][INPUTS];
    int at = 0;
    (void)n, (void)new_z, (void)m, (void)new_multiplier, (void)nonzeros;
    lower_triangle(nonzero);
    for (int k = 0; k < t->intervals; k++) {
        if (value)
            interval_hessian(t, z + k * INPUTS, k, factor, multiplier + k * STATE, H);
        for (int i = 0; i < INPUTS; i++)
            for (int j = 0; j <= i; j++)
                if (nonzero[i][j]) {
                    if (value) {
                        value[at] = H[i][j];
                    } else {
                        row[at] = k * INPUTS + i;
                        column[at] = k * INPUTS + j;
                    }
                    at++;
                }
    }
    if (value)
        quadrotor_stage_hess(z + t->intervals * INPUTS, none, t->goal[t->intervals], END, t->drone, NULL, NULL, H[0],
                             INPUTS);
    for (int i = 0; i < STATE; i++, at++)
        if (value)
            value[at] = factor * H[i][i];
        else
            row[at] = column[at] = t->intervals * INPUTS + i;
    return TRUE;
}

static Bool iterated(Index mode, Index iteration, Number sum, Number defect, Number dual, Number mu, Number step,
                     Number regularization, Number alpha_dual, Number alpha, Index trials, UserDataPtr data)
{
    (void)mode, (void)sum, (void)defect, (void)dual, (void)mu, (void)step, (void)regularization, (void)alpha_dual,
        (void)alpha, (void)trials;
    ((problem *)data)->p->iterations = iteration;
    return TRUE;
}

/* ---- the program ---- */

/* The start is fixed; thrusts, rolls and pitches have bounds. */
static void set_bounds(const task *t, double *low, double *high)
{
    for (int k = 0; k <= t->intervals; k++)
        for (int i = 0; i < (k < t->intervals ? INPUTS : STATE); i++) {
            const bool tilt = i == 6 || i == 7;
            const double bound = i >= STATE ? t->thrust : tilt ? t->tilt : INFINITY;
            low[k * INPUTS + i] = k == 0 && i < STATE ? t->start[i] : i >= STATE ? 0.0 : -bound;
            high[k * INPUTS + i] = k == 0 && i < STATE ? t->start[i] : bound;
        }
}

static IpoptProblem create(const task *t)
{
    const int n = t->intervals * INPUTS + STATE, m = t->intervals * STATE;
    double *low = malloc((size_t)n * sizeof *low), *high = malloc((size_t)n * sizeof *high),
           *zero = calloc((size_t)m, sizeof *zero);
    IpoptProblem ipopt = NULL;
    if (low && high && zero) {
        set_bounds(t, low, high);
        ipopt = CreateIpoptProblem(n, low, high, m, zero, zero, jacobian_numbers(t), hessian_numbers(t), 0, cost,
                                   defects, gradient, jacobian, hessian);
    }
    free(low);
    free(high);
    free(zero);
    return ipopt;
}

static bool set_options(IpoptProblem ipopt, bool warm)
{
    bool ok = AddIpoptIntOption(ipopt, "print_level", 0) && AddIpoptStrOption(ipopt, "sb", "yes") &&
              AddIpoptNumOption(ipopt, "tol", 1e-7) && AddIpoptIntOption(ipopt, "max_iter", MOST_ITERATIONS) &&
              SetIntermediateCallback(ipopt, iterated);
    if (warm)
        ok = ok && AddIpoptStrOption(ipopt, "warm_start_init_point", "yes") &&
             AddIpoptNumOption(ipopt, "mu_init", 1e-5) && AddIpoptNumOption(ipopt, "warm_start_bound_push", 1e-7) &&
             AddIpoptNumOption(ipopt, "warm_start_mult_bound_push", 1e-7);
    return ok;
}

static const char *outcome(enum ApplicationReturnStatus status)
{
    switch (status) {
    case Solve_Succeeded:
    case Solved_To_Acceptable_Level:
        return NULL;
    case Infeasible_Problem_Detected:
        return "thrusts and tilt do not allow any";
    case Maximum_Iterations_Exceeded:
        return "IPOPT has too few iterations";
    default:
        return "IPOPT fails";
    }
}

const char *plan_solve(plan *p, const task *t)
{
    problem b = {*t, p};
    IpoptProblem ipopt = create(t);
    const char *why = "IPOPT does not begin";
    for (int i = 0; i < STATE; i++) /* where the start is another one, the multipliers are of no use */
        p->warm = p->warm && fabs(p->z[0][i] - t->start[i]) < 0.5;
    if (ipopt && set_options(ipopt, p->warm)) {
        const double start = seconds_now();
        memcpy(p->z[0], t->start, sizeof t->start);
        why = outcome(
            IpoptSolve(ipopt, p->z[0], NULL, &p->cost, p->multiplier, p->low_multiplier, p->high_multiplier, &b));
        p->seconds = seconds_now() - start;
        p->warm = !why;
    }
    if (ipopt)
        FreeIpoptProblem(ipopt);
    return why;
}

/* ---- plans ---- */

bool plan_create(plan *p, const task *t)
{
    const size_t n = (size_t)t->intervals + 1;
    *p = (plan){.z = calloc(n, sizeof *p->z),
                .multiplier = calloc(n * STATE, sizeof(double)),
                .low_multiplier = calloc(n * INPUTS, sizeof(double)),
                .high_multiplier = calloc(n * INPUTS, sizeof(double))};
    return p->z && p->multiplier && p->low_multiplier && p->high_multiplier;
}

void plan_destroy(plan *p)
{
    free(p->z);
    free(p->multiplier);
    free(p->low_multiplier);
    free(p->high_multiplier);
}

void plan_guess(plan *p, const task *t)
{
    const double hover = 0.25 * 9.81 * t->drone.mass;
    for (int k = 0; k <= t->intervals; k++) {
        memcpy(p->z[k], t->start, sizeof t->start);
        for (int i = STATE; i < INPUTS; i++)
            p->z[k][i] = hover;
    }
    p->warm = false;
}

static void shift(double *a, int n, int by)
{
    memmove(a, a + by, (size_t)(n - by) * sizeof *a);
}

void plan_shift(plan *p, const task *t)
{
    const int n = t->intervals * INPUTS + STATE, last = t->intervals - 1;
    shift(p->z[0], n, INPUTS);
    shift(p->low_multiplier, n, INPUTS);
    shift(p->high_multiplier, n, INPUTS);
    shift(p->multiplier, t->intervals * STATE, STATE);
    memcpy(p->z[last] + STATE, p->z[last - 1] + STATE, THRUSTS * sizeof(double));
    quadrotor_step(p->z[last], p->z[last] + STATE, t->time, t->drone, p->z[last + 1]);
}
