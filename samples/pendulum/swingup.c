#include "swingup.h"

#include <IpStdCInterface.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const given_names[GIVENS] = {"hessian", "jacobian", "none"};

/* What the callbacks of IPOPT get. The unknowns are p->z one after another; the constraints are the defects, states less what the intervals
   before them lead to. */
typedef struct problem {
    const task *t;
    plan *p;
    progress_fn progress;
    bool nonzero[STATE][INPUTS]; /* in the Jacobian of any interval */
    int nonzeros;
} problem;

/* ---- plans ---- */

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool plan_create(plan *p, const task *t)
{
    *p = (plan){.z = calloc((size_t)t->intervals + 1, sizeof *p->z)};
    return p->z != NULL;
}

void plan_destroy(plan *p)
{
    free(p->z);
    *p = (plan){0};
}

void plan_guess(plan *p, const task *t)
{
    for (int k = 0; k <= t->intervals; k++) {
        const double part = (double)k / (double)t->intervals;
        for (int i = 0; i < STATE; i++)
            p->z[k][i] = (1.0 - part) * t->start[i] + part * t->goal[i];
        p->z[k][STATE] = 0.0;
    }
}

/* The defects of one interval. */
static void defects(const task *t, const double *z, int k, double d[STATE])
{
    const double *const next = z + (k + 1) * INPUTS;
    double out[OUTPUTS];
    interval_outputs(&t->interval, z + k * INPUTS, out);
    for (int i = 0; i < STATE; i++)
        d[i] = next[i] - out[i];
}

static void measure(plan *p, const task *t)
{
    p->cost = p->defect = 0.0;
    for (int k = 0; k < t->intervals; k++) {
        double out[OUTPUTS];
        interval_outputs(&t->interval, p->z[k], out);
        p->cost += out[STATE];
        for (int i = 0; i < STATE; i++)
            p->defect = fmax(p->defect, fabs(p->z[k + 1][i] - out[i]));
    }
}

/* ---- what IPOPT calls ---- */

static Bool cost(Index n, Number *z, Bool new_z, Number *sum, UserDataPtr data)
{
    const task *t = ((const problem *)data)->t;
    (void)n, (void)new_z;
    *sum = 0.0;
    for (int k = 0; k < t->intervals; k++) {
        double out[OUTPUTS];
        interval_outputs(&t->interval, z + k * INPUTS, out);
        *sum += out[STATE];
    }
    return isfinite(*sum);
}

static Bool gradient_of_cost(Index n, Number *z, Bool new_z, Number *gradient, UserDataPtr data)
{
    const task *t = ((const problem *)data)->t;
    (void)new_z;
    for (int k = 0; k < t->intervals; k++)
        interval_gradient_of_cost(&t->interval, z + k * INPUTS, gradient + k * INPUTS);
    for (int i = t->intervals * INPUTS; i < n; i++)
        gradient[i] = 0.0;
    return TRUE;
}

static Bool constraints(Index n, Number *z, Bool new_z, Index m, Number *g, UserDataPtr data)
{
    const task *t = ((const problem *)data)->t;
    (void)n, (void)new_z, (void)m;
    for (int k = 0; k < t->intervals; k++)
        defects(t, z, k, g + k * STATE);
    return TRUE;
}

/* Of each defect: what it has of the interval before it, then its own component. Without values: the places. */
static Bool jacobian(Index n, Number *z, Bool new_z, Index m, Index nonzeros, Index *row, Index *column, Number *value, UserDataPtr data)
{
    const problem *b = data;
    int at = 0;
    (void)n, (void)new_z, (void)m, (void)nonzeros;
    for (int k = 0; k < b->t->intervals; k++) {
        double J[OUTPUTS][INPUTS];
        if (value)
            jacobian_whole(&b->t->interval, z + k * INPUTS, J);
        for (int i = 0; i < STATE; i++)
            for (int j = 0; j <= INPUTS; j++) {
                const bool own = j == INPUTS;
                if (!own && !b->nonzero[i][j])
                    continue;
                if (value) {
                    value[at] = own ? 1.0 : -J[i][j];
                } else {
                    row[at] = k * STATE + i;
                    column[at] = own ? (k + 1) * INPUTS + i : k * INPUTS + j;
                }
                at++;
            }
    }
    return TRUE;
}

/* Blocks along the diagonal, one for each interval; of each the lower half. */
static Bool hessian(Index n, Number *z, Bool new_z, Number factor, Index m, Number *multiplier, Bool new_multiplier, Index nonzeros, Index *row,
                    Index *column, Number *value, UserDataPtr data)
{
    const task *t = ((const problem *)data)->t;
    int at = 0;
    (void)n, (void)new_z, (void)m, (void)new_multiplier, (void)nonzeros;
    for (int k = 0; k < t->intervals; k++) {
        double H[INPUTS][INPUTS], of[STATE];
        if (value) {
            for (int i = 0; i < STATE; i++)
                of[i] = -multiplier[k * STATE + i];
            interval_hessian(&t->interval, z + k * INPUTS, factor, of, H);
        }
        for (int i = 0; i < INPUTS; i++)
            for (int j = 0; j <= i; j++, at++)
                if (value) {
                    value[at] = H[i][j];
                } else {
                    row[at] = k * INPUTS + i;
                    column[at] = k * INPUTS + j;
                }
    }
    return TRUE;
}

static Bool iterated(Index mode, Index iteration, Number sum, Number defect, Number dual, Number mu, Number step, Number regularization,
                     Number alpha_dual, Number alpha, Index trials, UserDataPtr data)
{
    const problem *b = data;
    (void)mode, (void)dual, (void)mu, (void)step, (void)regularization, (void)alpha_dual, (void)alpha, (void)trials;
    b->p->iterations = iteration;
    if (b->progress)
        b->progress(iteration, sum, defect);
    return TRUE;
}

/* ---- the program ---- */

/* The tables of the generated file list the numbers that are not zero whatever the state. */
static void find_structure(problem *b)
{
    b->nonzeros = STATE; /* the defects' own components */
    for (int e = 0; e < pendulum_advance_jac_NNZ; e++) {
        const int row = pendulum_advance_jac_row[e];
        if (row < STATE) {
            b->nonzero[row][pendulum_advance_jac_col[e]] = true;
            b->nonzeros++;
        }
    }
}

/* Start and goal are fixed, positions and forces bounded. */
static void set_bounds(const task *t, double *low, double *high)
{
    for (int k = 0; k <= t->intervals; k++)
        for (int i = 0; i < INPUTS && k * INPUTS + i < t->intervals * INPUTS + STATE; i++) {
            const double bound = i == STATE ? t->force : i == 0 ? t->track : INFINITY;
            const double *fixed = i == STATE ? NULL : k == 0 ? t->start : k == t->intervals ? t->goal : NULL;
            low[k * INPUTS + i] = fixed ? fixed[i] : -bound;
            high[k * INPUTS + i] = fixed ? fixed[i] : bound;
        }
}

static IpoptProblem create(const problem *b)
{
    const task *t = b->t;
    const int n = t->intervals * INPUTS + STATE, m = t->intervals * STATE;
    double *low = malloc((size_t)n * sizeof *low), *high = malloc((size_t)n * sizeof *high), *zero = calloc((size_t)m, sizeof *zero);
    IpoptProblem ipopt = NULL;
    if (low && high && zero) {
        set_bounds(t, low, high);
        ipopt = CreateIpoptProblem(n, low, high, m, zero, zero, t->intervals * b->nonzeros, t->intervals * INPUTS * (INPUTS + 1) / 2, 0,
                                   cost, constraints, gradient_of_cost, jacobian, hessian);
    }
    free(low);
    free(high);
    free(zero);
    return ipopt;
}

static bool set_options(IpoptProblem ipopt, const task *t)
{
    bool ok = AddIpoptIntOption(ipopt, "print_level", 0) && AddIpoptStrOption(ipopt, "sb", "yes") && AddIpoptNumOption(ipopt, "tol", 1e-7) &&
              AddIpoptIntOption(ipopt, "max_iter", t->iterations) && SetIntermediateCallback(ipopt, iterated);
    if (t->given != JACOBIAN_AND_HESSIAN)
        ok = ok && AddIpoptStrOption(ipopt, "hessian_approximation", "limited-memory");
    if (t->given == NO_JACOBIAN)
        ok = ok && AddIpoptStrOption(ipopt, "jacobian_approximation", "finite-difference-values");
    return ok;
}

static const char *outcome(enum ApplicationReturnStatus status)
{
    switch (status) {
    case Solve_Succeeded: return "found";
    case Infeasible_Problem_Detected: return "NOT FOUND: from this guess, bounds and goal do not go together";
    case Maximum_Iterations_Exceeded: return "NOT FOUND: too few iterations";
    case Solved_To_Acceptable_Level: return "NOT FOUND to the tolerance, though nearly";
    default: return "NOT FOUND";
    }
}

bool plan_solve(plan *p, const task *t, progress_fn progress)
{
    problem b = {.t = t, .p = p, .progress = progress};
    find_structure(&b);
    IpoptProblem ipopt = create(&b);
    const bool ok = ipopt && set_options(ipopt, t);
    if (ok) {
        const double start = seconds_now();
        const enum ApplicationReturnStatus status = IpoptSolve(ipopt, p->z[0], NULL, NULL, NULL, NULL, NULL, &b);
        p->seconds = seconds_now() - start;
        p->solved = status == Solve_Succeeded;
        p->outcome = outcome(status);
        measure(p, t);
    }
    if (ipopt)
        FreeIpoptProblem(ipopt);
    return ok;
}
