/* The gradient of a parameter fit by CVODES' adjoint: the right-hand side, its Jacobian times a vector, and the
 * adjoint's right-hand side are those of prey.tk. */
#include <cvodes/cvodes.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <sunlinsol/sunlinsol_spgmr.h>

#include "prey.h"

enum { STATE = 2, PARAMETERS = 4, COUNTS = 10 };
static const double start[STATE] = {1.0, 1.0}, truth[PARAMETERS] = {1.5, 1.0, 3.0, 1.0};
static double counted[COUNTS][STATE];

static double *at(N_Vector v)
{
    return N_VGetArrayPointer(v);
}

/* ---- what CVODES asks for ---- */

static int rhs(double t, N_Vector y, N_Vector dy, void *p)
{
    (void)t;
    prey_rate(at(y), p, at(dy));
    return 0;
}

static int jacobian_times(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector fy, void *p, N_Vector tmp)
{
    (void)t, (void)fy, (void)tmp;
    double dy[STATE];
    const double still[PARAMETERS] = {0.0};
    prey_rate_jvp(at(y), at(v), p, still, dy, at(Jv));
    return 0;
}

/* -J^T b, and -(df/dp)^T b for the quadrature. */
static void transposed(const double *y, const double *p, const double *b, double *by_y, double *by_p)
{
    double dy[STATE], gy[STATE] = {0.0}, gp[PARAMETERS] = {0.0};
    prey_rate_grad(y, p, dy, b, gy, gp);
    for (int i = 0; i < STATE && by_y; i++)
        by_y[i] = -gy[i];
    for (int i = 0; i < PARAMETERS && by_p; i++)
        by_p[i] = -gp[i];
}

static int adjoint_rhs(double t, N_Vector y, N_Vector b, N_Vector db, void *p)
{
    (void)t;
    transposed(at(y), p, at(b), at(db), NULL);
    return 0;
}

static int adjoint_times(N_Vector v, N_Vector Jv, double t, N_Vector y, N_Vector b, N_Vector fb, void *p, N_Vector tmp)
{
    (void)t, (void)b, (void)fb, (void)tmp;
    transposed(at(y), p, at(v), at(Jv), NULL);
    return 0;
}

static int adjoint_quadrature(double t, N_Vector y, N_Vector b, N_Vector dq, void *p)
{
    (void)t;
    transposed(at(y), p, at(b), NULL, at(dq));
    return 0;
}

/* ---- the fit ---- */

static int failed;
static void must(int status)
{
    failed |= status < 0;
}

typedef struct solver {
    SUNContext context;
    void *cvode;
    N_Vector y;
    SUNLinearSolver linear;
} solver;

static void begin(solver *s, double *p)
{
    must(SUNContext_Create(NULL, &s->context));
    s->y = N_VNew_Serial(STATE, s->context);
    for (int i = 0; i < STATE; i++)
        at(s->y)[i] = start[i];
    s->cvode = CVodeCreate(CV_BDF, s->context);
    must(CVodeInit(s->cvode, rhs, 0.0, s->y));
    must(CVodeSStolerances(s->cvode, 1e-11, 1e-12));
    must(CVodeSetUserData(s->cvode, p));
    must(CVodeSetMaxNumSteps(s->cvode, 100000));
    s->linear = SUNLinSol_SPGMR(s->y, SUN_PREC_NONE, 0, s->context);
    must(CVodeSetLinearSolver(s->cvode, s->linear, NULL));
    must(CVodeSetJacTimes(s->cvode, NULL, jacobian_times));
}

static void end(solver *s)
{
    CVodeFree(&s->cvode);
    SUNLinSolFree(s->linear);
    N_VDestroy(s->y);
    SUNContext_Free(&s->context);
}

static double loss_of(double *p, double states[COUNTS][STATE])
{
    solver s;
    double loss = 0.0, t;
    begin(&s, p);
    for (int k = 0; k < COUNTS && !failed; k++) {
        double one;
        must(CVode(s.cvode, k + 1.0, s.y, &t, CV_NORMAL));
        for (int i = 0; i < STATE && states; i++)
            states[k][i] = at(s.y)[i];
        prey_misfit(at(s.y), counted[k], &one);
        loss += one;
    }
    end(&s);
    return loss;
}

/* Backwards from count to count: at each, the adjoint state gets what the misfit there adds. */
static void gradient_of(double *p, double *gradient)
{
    solver s;
    double t, states[COUNTS][STATE];
    int which, checkpoints;
    begin(&s, p);
    must(CVodeAdjInit(s.cvode, 200, CV_HERMITE));
    for (int k = 0; k < COUNTS && !failed; k++) {
        must(CVodeF(s.cvode, k + 1.0, s.y, &t, CV_NORMAL, &checkpoints));
        for (int i = 0; i < STATE; i++)
            states[k][i] = at(s.y)[i];
    }
    N_Vector b = N_VNew_Serial(STATE, s.context), q = N_VNew_Serial(PARAMETERS, s.context);
    SUNLinearSolver linear = SUNLinSol_SPGMR(b, SUN_PREC_NONE, 0, s.context);
    N_VConst(0.0, b);
    N_VConst(0.0, q);
    for (int k = COUNTS - 1; k >= 0 && !failed; k--) {
        const double one = 1.0;
        double loss;
        prey_misfit_grad(states[k], counted[k], &loss, &one, at(b), NULL);
        if (k == COUNTS - 1) {
            must(CVodeCreateB(s.cvode, CV_BDF, &which));
            must(CVodeInitB(s.cvode, which, adjoint_rhs, k + 1.0, b));
            must(CVodeSStolerancesB(s.cvode, which, 1e-10, 1e-11));
            must(CVodeSetUserDataB(s.cvode, which, p));
            must(CVodeSetMaxNumStepsB(s.cvode, which, 100000));
            must(CVodeSetLinearSolverB(s.cvode, which, linear, NULL));
            must(CVodeSetJacTimesB(s.cvode, which, NULL, adjoint_times));
            must(CVodeQuadInitB(s.cvode, which, adjoint_quadrature, q));
            must(CVodeSetQuadErrConB(s.cvode, which, SUNTRUE));
            must(CVodeQuadSStolerancesB(s.cvode, which, 1e-10, 1e-11));
        } else {
            must(CVodeReInitB(s.cvode, which, k + 1.0, b));
            must(CVodeQuadReInitB(s.cvode, which, q));
        }
        must(CVodeB(s.cvode, k, CV_NORMAL));
        must(CVodeGetB(s.cvode, which, &t, b));
        must(CVodeGetQuadB(s.cvode, which, &t, q));
    }
    for (int i = 0; i < PARAMETERS; i++)
        gradient[i] = at(q)[i];
    N_VDestroy(b);
    N_VDestroy(q);
    end(&s);
    SUNLinSolFree(linear);
}

int main(void)
{
    double p[PARAMETERS], gradient[PARAMETERS], worst = 0.0;
    for (int i = 0; i < PARAMETERS; i++)
        p[i] = truth[i];
    loss_of(p, counted);
    for (int i = 0; i < PARAMETERS; i++)
        p[i] = truth[i] * (1.0 + 0.02 * (i - 1.5));
    gradient_of(p, gradient);
    printf("misfit %.6f\n", loss_of(p, NULL));
    for (int i = 0; i < PARAMETERS; i++) {
        const double h = 1e-5, old = p[i];
        p[i] = old + h;
        const double up = loss_of(p, NULL);
        p[i] = old - h;
        const double difference = (up - loss_of(p, NULL)) / (2.0 * h);
        p[i] = old;
        printf("by p[%d]: adjoint %+.6f, differences %+.6f\n", i, gradient[i], difference);
        worst = fmax(worst, fabs(gradient[i] - difference) / (1.0 + fabs(difference)));
    }
    printf("they deviate by %s\n", worst < 1e-5 ? "less than 1e-5" : "too much");
    return failed || !(worst < 1e-5);
}
