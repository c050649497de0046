#include "solve.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bundle.h"

/* J^T J of all residuals has a block for each camera, for each point, and for each sight, which is between the two.
 * Without the points it is a matrix of the cameras (the Schur complement): J^T J of a point is 3 x 3, and is inverted
 * by itself. */
typedef struct equations {
    double (*camera)[CAMERA][CAMERA]; /* of each camera */
    double (*point)[POINT][POINT];    /* of each point */
    double (*between)[CAMERA][POINT]; /* of each sight */
    double (*camera_grad)[CAMERA], (*point_grad)[POINT];
    double *schur, *step;            /* a matrix of all cameras, its lower triangle by rows; a step of the cameras */
    double (*inverse)[POINT][POINT]; /* of a damped block of each point */
    scene next;                      /* behind a step */
} equations;

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double scene_cost(const scene *s)
{
    double sum = 0.0;
    for (int i = 0; i < s->sights; i++) {
        const sight *t = &s->sight[i];
        double r[SEEN];
        bundle_residual(s->camera[t->camera], s->point[t->point], t->at, r);
        sum += 0.5 * (r[0] * r[0] + r[1] * r[1]);
    }
    return sum;
}

double scene_deviation(const scene *s)
{
    const double gauge = 7.0; /* place, rotation and size of all are free */
    const double free_numbers = (double)SEEN * s->sights - (double)CAMERA * s->cameras - (double)POINT * s->points +
                                gauge;
    return sqrt(2.0 * scene_cost(s) / fmax(free_numbers, 1.0));
}

/* ---- the equations ---- */

static void equations_destroy(equations *e)
{
    free(e->camera);
    free(e->point);
    free(e->between);
    free(e->camera_grad);
    free(e->point_grad);
    free(e->schur);
    free(e->step);
    free(e->inverse);
    scene_destroy(&e->next);
}

static bool equations_create(equations *e, const scene *s)
{
    const size_t n = (size_t)s->cameras * CAMERA, cameras = (size_t)s->cameras, points = (size_t)s->points;
    *e = (equations){.camera = malloc(cameras * sizeof *e->camera),
                     .point = malloc(points * sizeof *e->point),
                     .between = malloc((size_t)s->sights * sizeof *e->between),
                     .camera_grad = malloc(cameras * sizeof *e->camera_grad),
                     .point_grad = malloc(points * sizeof *e->point_grad),
                     .schur = malloc(n * n * sizeof *e->schur),
                     .step = malloc(n * sizeof *e->step),
                     .inverse = malloc(points * sizeof *e->inverse)};
    if (e->camera && e->point && e->between && e->camera_grad && e->point_grad && e->schur && e->step && e->inverse)
        return scene_copy(&e->next, s);
    fprintf(stderr, "bundle: no memory for a matrix of %d cameras\n", s->cameras);
    return false;
}

static void add_sight(equations *e, const scene *s, int i)
{
    const sight *t = &s->sight[i];
    double r[SEEN], J[SEEN][BOTH];
    bundle_residual_jac(s->camera[t->camera], s->point[t->point], t->at, r, J[0], BOTH);
    double(*A)[CAMERA] = e->camera[t->camera], (*B)[POINT] = e->point[t->point];
    for (int a = 0; a < CAMERA; a++) {
        for (int b = 0; b <= a; b++)
            A[a][b] += J[0][a] * J[0][b] + J[1][a] * J[1][b];
        for (int b = 0; b < POINT; b++)
            e->between[i][a][b] = J[0][a] * J[0][CAMERA + b] + J[1][a] * J[1][CAMERA + b];
        e->camera_grad[t->camera][a] += J[0][a] * r[0] + J[1][a] * r[1];
    }
    for (int a = 0; a < POINT; a++) {
        for (int b = 0; b < POINT; b++)
            B[a][b] += J[0][CAMERA + a] * J[0][CAMERA + b] + J[1][CAMERA + a] * J[1][CAMERA + b];
        e->point_grad[t->point][a] += J[0][CAMERA + a] * r[0] + J[1][CAMERA + a] * r[1];
    }
}

/* Returns the largest component of the gradient, each divided by the root of its square on the diagonal: unknowns have
 * different units. */
static double linearise(equations *e, const scene *s)
{
    double most = 0.0;
    memset(e->camera, 0, (size_t)s->cameras * sizeof *e->camera);
    memset(e->point, 0, (size_t)s->points * sizeof *e->point);
    memset(e->camera_grad, 0, (size_t)s->cameras * sizeof *e->camera_grad);
    memset(e->point_grad, 0, (size_t)s->points * sizeof *e->point_grad);
    for (int i = 0; i < s->sights; i++)
        add_sight(e, s, i);
    for (int k = 0; k < s->cameras * CAMERA; k++)
        most = fmax(most, fabs(e->camera_grad[k / CAMERA][k % CAMERA]) /
                              sqrt(fmax(e->camera[k / CAMERA][k % CAMERA][k % CAMERA], 1e-300)));
    for (int k = 0; k < s->points * POINT; k++)
        most = fmax(most, fabs(e->point_grad[k / POINT][k % POINT]) /
                              sqrt(fmax(e->point[k / POINT][k % POINT][k % POINT], 1e-300)));
    return most;
}

static double damped(double diagonal, double damping)
{
    return diagonal + damping * fmax(diagonal, 1e-6);
}

static void invert(double B[POINT][POINT], double damping, double to[POINT][POINT])
{
    double A[3][3], determinant = 0.0;
    memcpy(A, B, sizeof A);
    for (int i = 0; i < 3; i++)
        A[i][i] = damped(A[i][i], damping);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            to[j][i] = A[(i + 1) % 3][(j + 1) % 3] * A[(i + 2) % 3][(j + 2) % 3] -
                       A[(i + 1) % 3][(j + 2) % 3] * A[(i + 2) % 3][(j + 1) % 3];
    for (int j = 0; j < 3; j++)
        determinant += A[0][j] * to[j][0];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            to[i][j] /= determinant;
}

/* Takes a point's sights, from `first` to before `end`, out of the matrix of the cameras. */
static void eliminate(equations *e, const scene *s, int first, int end)
{
    const int p = s->sight[first].point, n = s->cameras * CAMERA;
    for (int i = first; i < end; i++) {
        const int row = CAMERA * s->sight[i].camera;
        double W[CAMERA][POINT]; /* between * inverse */
        for (int a = 0; a < CAMERA; a++)
            for (int b = 0; b < POINT; b++) {
                W[a][b] = 0.0;
                for (int k = 0; k < POINT; k++)
                    W[a][b] += e->between[i][a][k] * e->inverse[p][k][b];
            }
        for (int a = 0; a < CAMERA; a++)
            for (int b = 0; b < POINT; b++)
                e->step[row + a] += W[a][b] * e->point_grad[p][b];
        for (int j = first; j < end; j++) {
            const int column = CAMERA * s->sight[j].camera;
            if (column > row)
                continue;
            for (int a = 0; a < CAMERA; a++)
                for (int b = 0; b < CAMERA; b++)
                    for (int k = 0; k < POINT; k++)
                        e->schur[(size_t)(row + a) * (size_t)n + (size_t)(column + b)] -= W[a][k] * e->between[j][b][k];
        }
    }
}

/* The matrix of the cameras, and its right side in `step`. */
static void reduce(equations *e, const scene *s, double damping)
{
    const size_t n = (size_t)s->cameras * CAMERA;
    memset(e->schur, 0, n * n * sizeof *e->schur);
    for (size_t k = 0; k < n; k++) {
        const size_t c = k / CAMERA, a = k % CAMERA;
        for (size_t b = 0; b <= a; b++)
            e->schur[k * n + c * CAMERA + b] = e->camera[c][a][b];
        e->schur[k * n + k] = damped(e->camera[c][a][a], damping);
        e->step[k] = -e->camera_grad[c][a];
    }
    for (int p = 0; p < s->points; p++)
        invert(e->point[p], damping, e->inverse[p]);
    for (int first = 0, end; first < s->sights; first = end) {
        for (end = first + 1; end < s->sights && s->sight[end].point == s->sight[first].point;)
            end++;
        eliminate(e, s, first, end);
    }
}

/* The steps of the points follow from those of the cameras. */
static void step_points(equations *e, const scene *s)
{
    for (int i = 0; i < s->sights; i++)
        for (int b = 0; b < POINT; b++)
            for (int a = 0; a < CAMERA; a++)
                e->point_grad[s->sight[i].point][b] += e->between[i][a][b] * e->step[CAMERA * s->sight[i].camera + a];
    for (int p = 0; p < s->points; p++)
        for (int a = 0; a < POINT; a++) {
            e->next.point[p][a] = s->point[p][a];
            for (int b = 0; b < POINT; b++)
                e->next.point[p][a] -= e->inverse[p][a][b] * e->point_grad[p][b];
        }
}

/* e->next becomes what is behind a step; false: the damping is too little. Gradients are spent. */
static bool try_step(equations *e, const scene *s, double damping)
{
    const int n = s->cameras * CAMERA;
    reduce(e, s, damping);
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', n, 1, e->schur, n, e->step, 1) != 0)
        return false;
    for (int k = 0; k < n; k++)
        e->next.camera[k / CAMERA][k % CAMERA] = s->camera[k / CAMERA][k % CAMERA] + e->step[k];
    step_points(e, s);
    return true;
}

/* ---- iterations ---- */

/* Damping grows until the sum of squares falls; false: it does not. */
static bool improve(equations *e, scene *s, course *c, double *damping)
{
    iteration *i = &c->at[c->count];
    for (; *damping < 1e16; *damping *= 4.0) {
        const double start = seconds_now();
        i->gradient = linearise(e, s);
        const double middle = seconds_now();
        const bool stepped = try_step(e, s, *damping);
        c->residuals = fmin(c->residuals, middle - start);
        c->equations = fmin(c->equations, seconds_now() - middle);
        if (stepped && scene_cost(&e->next) < i->cost) {
            memcpy(s->camera, e->next.camera, sizeof *s->camera * (size_t)s->cameras);
            memcpy(s->point, e->next.point, sizeof *s->point * (size_t)s->points);
            i->damping = *damping;
            *damping = fmax(0.2 * *damping, 1e-10);
            return true;
        }
    }
    return false;
}

bool solve(scene *s, int iterations, void (*told)(int, const iteration *), course *c)
{
    equations e;
    double damping = 1e-3;
    *c = (course){.at = calloc((size_t)iterations + 1, sizeof *c->at), .residuals = INFINITY, .equations = INFINITY};
    bool ok = equations_create(&e, s) && c->at;
    if (ok)
        c->at[0].cost = scene_cost(s);
    if (ok && !isfinite(c->at[0].cost)) {
        fprintf(stderr, "bundle: a point of the first guess is in the plane of a camera that sees it\n");
        ok = false;
    }
    for (int still = 0; ok && !c->converged && c->count < iterations;) {
        const double before = c->at[c->count].cost;
        const bool improved = improve(&e, s, c, &damping);
        told(c->count, &c->at[c->count]);
        if (!improved) { /* by rounding only, once there */
            c->converged = c->at[c->count].gradient < 1e-3;
            break;
        }
        c->at[++c->count].cost = scene_cost(s);
        still = before - c->at[c->count].cost < 1e-9 * before ? still + 1 : 0;
        c->converged = still == 2;
    }
    if (ok && c->count > 0 && c->at[c->count].gradient == 0.0) {
        c->at[c->count].gradient = linearise(&e, s);
        told(c->count, &c->at[c->count]);
    }
    equations_destroy(&e);
    return ok;
}

void course_destroy(course *c)
{
    free(c->at);
}
