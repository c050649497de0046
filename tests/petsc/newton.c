/* Newton-Krylov with the forward scope as the product: it converges quadratically, and the product is that of
 * differences. Fields that vectors share stay as they are. */
#include "solver.h"

enum { MOST = 31 };

/* Each step squares the residual, up to a factor. */
static void check_rate(SNES snes)
{
    PetscReal *norm;
    PetscInt n;
    SNESConvergedReason why;
    OK(SNESGetConvergedReason(snes, &why));
    CHECK(why > 0);
    OK(SNESGetConvergenceHistory(snes, &norm, NULL, &n));
    CHECK(n >= 4 && n <= 8 && norm[n - 1] < 1e-11);
    for (int k = 2; k + 1 < n; k++)
        if (norm[k] > 1e-5 && norm[k + 1] > 4 * norm[k] * norm[k])
            FAIL("residual %d is %g, that before %g", k + 1, norm[k + 1], norm[k]);
}

/* The largest u, known from other solvers on this grid; symmetric in both dimensions. */
static void check_solution(solver *p, Vec x)
{
    PetscReal most, least;
    PetscScalar **u;
    DMDALocalInfo i;
    OK(VecMax(x, NULL, &most));
    OK(VecMin(x, NULL, &least));
    CHECK(most > 0.5 && most < 1.5 && fabs(least) < 1e-12);
    OK(DMDAGetLocalInfo(p->dm, &i));
    OK(DMDAVecGetArrayRead(p->dm, x, &u));
    for (int k = i.xs; k < i.xs + i.xm; k++)
        if (k >= i.ys && k < i.ys + i.ym && SIDE - 1 - k >= i.xs && SIDE - 1 - k < i.xs + i.xm)
            CHECK_NEAR(u[k][k], u[k][SIDE - 1 - k], 1e-9);
    OK(DMDAVecRestoreArrayRead(p->dm, x, &u));
}

/* A vector with another number in each element, the same for all numbers of processes. */
static void vary(DM dm, Vec v, double phase)
{
    PetscScalar **a;
    DMDALocalInfo i;
    OK(DMDAGetLocalInfo(dm, &i));
    OK(DMDAVecGetArray(dm, v, &a));
    for (int y = i.ys; y < i.ys + i.ym; y++)
        for (int x = i.xs; x < i.xs + i.xm; x++)
            a[y][x] = sin(phase + 0.7 * x + 1.9 * y * y);
    OK(DMDAVecRestoreArray(dm, v, &a));
}

/* Against the same formula on the arrays of PETSc. */
static void check_residual(solver *p, tk_petsc *f, Vec r)
{
    const double h = 1.0 / (SIDE - 1);
    Vec x, local;
    PetscScalar **u, **got;
    DMDALocalInfo i;
    OK(DMCreateGlobalVector(p->dm, &x));
    OK(DMCreateLocalVector(p->dm, &local));
    vary(p->dm, x, 0.8);
    OK(tk_petsc_residual(NULL, x, r, f));
    OK(DMGlobalToLocal(p->dm, x, INSERT_VALUES, local));
    OK(DMDAGetLocalInfo(p->dm, &i));
    OK(DMDAVecGetArrayRead(p->dm, local, &u));
    OK(DMDAVecGetArrayRead(p->dm, r, &got));
    for (int b = i.ys; b < i.ys + i.ym; b++)
        for (int a = i.xs; a < i.xs + i.xm; a++) {
            const bool side = a == 0 || b == 0 || a == SIDE - 1 || b == SIDE - 1;
            const double sum = side ? 0 : u[b - 1][a] + u[b + 1][a] + u[b][a - 1] + u[b][a + 1];
            CHECK_NEAR(got[b][a], side ? u[b][a] : 4 * u[b][a] - sum - 6 * h * h * exp(u[b][a]), 1e-13);
        }
    OK(DMDAVecRestoreArrayRead(p->dm, r, &got));
    OK(DMDAVecRestoreArrayRead(p->dm, local, &u));
    OK(VecDestroy(&x));
    OK(VecDestroy(&local));
}

/* Against PETSc's own product by differences, at another state than that of the field. */
static void check_product(solver *p, SNES snes, tk_petsc *f, Mat J)
{
    Vec x, v, y, z;
    Mat differences;
    PetscReal norm, apart;
    OK(DMCreateGlobalVector(p->dm, &x));
    OK(VecDuplicate(x, &v));
    OK(VecDuplicate(x, &y));
    OK(VecDuplicate(x, &z));
    vary(p->dm, x, 0.3);
    vary(p->dm, v, 1.1);
    OK(tk_petsc_jacobian(snes, x, J, J, f));
    OK(MatMult(J, v, y));
    OK(MatCreateSNESMF(snes, &differences));
    OK(MatMFFDSetBase(differences, x, NULL));
    OK(MatAssemblyBegin(differences, MAT_FINAL_ASSEMBLY));
    OK(MatAssemblyEnd(differences, MAT_FINAL_ASSEMBLY));
    OK(MatMult(differences, v, z));
    OK(VecNorm(y, NORM_2, &norm));
    OK(VecAXPY(z, -1, y));
    OK(VecNorm(z, NORM_2, &apart));
    CHECK(norm > 1);
    if (apart > 1e-6 * norm)
        FAIL("products are %g apart, of %g", apart, norm);
    OK(MatDestroy(&differences));
    OK(VecDestroy(&x));
    OK(VecDestroy(&v));
    OK(VecDestroy(&y));
    OK(VecDestroy(&z));
}

/* The same with vectors over fields, and a program that changes its input. */
static void check_shared(solver *p, tk_petsc *f, Vec r, Mat J, Vec solution)
{
    Vec local, x;
    PetscReal apart;
    PetscScalar *memory;
    const int64_t n = tk_field_count(p->m->u.field);
    CHECK_OK(p->m, tk_petsc_vec(PETSC_COMM_SELF, p->m->u.field, TK_DATA, -1, &local));
    for (int64_t k = 0; k < n; k++)
        p->m->u.data[k] = 1 + 0.01 * (double)k;
    OK(VecDuplicate(solution, &x));
    OK(VecSet(x, 0));
    p->spoils = true;
    SNES snes = newton(p, f, r, J);
    OK(SNESSolve(snes, NULL, x));
    p->spoils = false;
    OK(VecAXPY(x, -1, solution));
    OK(VecNorm(x, NORM_INFINITY, &apart));
    CHECK(apart < 1e-9);
    for (int y = 0; y < p->m->params.H; y++) /* the owned ones are as they were */
        for (int z = 0; z < p->m->params.W; z++) {
            const int64_t k = (int64_t)(y + p->m->params.TOP) * p->m->params.NX + z + p->m->params.LEFT;
            CHECK(p->m->u.data[k] == 1 + 0.01 * (double)k);
        }
    OK(DMGlobalToLocal(p->dm, solution, INSERT_VALUES, local)); /* into the field */
    CHECK_NEAR(p->m->u.data[n - 1], p->m->params.X + p->m->params.NX == SIDE ? 0 : p->m->u.data[n - 1], 1e-12);
    OK(VecGetArrayWrite(local, &memory)); /* norms are to be found anew */
    CHECK(memory == p->m->u.data);
    OK(VecRestoreArrayWrite(local, &memory));
    OK(VecNorm(local, NORM_INFINITY, &apart));
    double most = 0;
    for (int64_t k = 0; k < n; k++)
        most = fmax(most, fabs(p->m->u.data[k]));
    CHECK(apart == most);
    OK(VecDestroy(&local));
    OK(VecDestroy(&x));
    OK(SNESDestroy(&snes));
}

/* One process owns all: the unknowns of the solver are the field itself. */
static void check_in_place(solver *p, tk_petsc *f, Mat J, Vec solution)
{
    Vec x, r;
    PetscReal apart;
    CHECK_OK(p->m, tk_petsc_vec(PETSC_COMM_WORLD, p->m->u.field, TK_DATA, -1, &x));
    CHECK_OK(p->m, tk_petsc_vec(PETSC_COMM_WORLD, p->m->r.field, TK_DATA, -1, &r));
    OK(VecSet(x, 0));
    CHECK(p->m->u.data[SIDE + 1] == 0);
    SNES snes = newton(p, f, r, J);
    OK(SNESSetType(snes, SNESNEWTONLS));
    OK(SNESSolve(snes, NULL, x));
    CHECK(p->m->u.data[SIDE * SIDE / 2] > 0.5);
    OK(VecAXPY(x, -1, solution));
    OK(VecNorm(x, NORM_INFINITY, &apart));
    CHECK(apart < 1e-9);
    OK(VecDestroy(&x));
    OK(VecDestroy(&r));
    OK(SNESDestroy(&snes));
}

static void same(Vec got, Vec want)
{
    Vec apart;
    PetscReal norm;
    PetscScalar *memory;
    OK(VecGetArrayWrite(got, &memory)); /* norms are to be found anew */
    OK(VecRestoreArrayWrite(got, &memory));
    OK(VecDuplicate(want, &apart));
    OK(VecWAXPY(apart, -1, want, got));
    OK(VecNorm(apart, NORM_INFINITY, &norm));
    CHECK(norm == 0);
    OK(VecDestroy(&apart));
}

/* Vectors over planes of the program's fields get what other vectors get, in every role. */
static void check_roles(solver *p, tk_petsc *f, Mat J)
{
    enum { ROLES = 4 };
    tk_field *const fields[ROLES] = {p->m->u.field, p->m->r.field, p->m->u.field, p->m->r.field};
    const tk_plane planes[ROLES] = {TK_DATA, TK_DATA, TK_DUAL, TK_DUAL};
    Vec x, v, r, y, of[ROLES];
    OK(DMCreateGlobalVector(p->dm, &x));
    OK(VecDuplicate(x, &v));
    OK(VecDuplicate(x, &r));
    OK(VecDuplicate(x, &y));
    vary(p->dm, x, 0.3);
    vary(p->dm, v, 1.1);
    for (int a = 0; a < ROLES; a++)
        CHECK_OK(p->m, tk_petsc_vec(PETSC_COMM_WORLD, fields[a], planes[a], -1, &of[a]));
    OK(tk_petsc_residual(NULL, x, r, f));
    OK(tk_petsc_jacobian(NULL, x, J, J, f));
    OK(MatMult(J, v, y));
    for (int a = 0; a < ROLES; a++)
        for (int b = 0; b < ROLES; b++) {
            OK(VecCopy(x, of[a]));
            OK(tk_petsc_residual(NULL, of[a], of[b], f));
            same(of[b], r);
            same(of[a], a == b ? r : x);
            if (a == b)
                continue;
            OK(VecCopy(v, of[a]));
            OK(MatMult(J, of[a], of[b]));
            same(of[b], y);
            same(of[a], v);
        }
    for (int a = 0; a < ROLES; a++)
        OK(VecDestroy(&of[a]));
    OK(VecDestroy(&x));
    OK(VecDestroy(&v));
    OK(VecDestroy(&r));
    OK(VecDestroy(&y));
}

/* A duplicate of a duplicate keeps its x, and lives longer than they do. */
static void check_duplicates(solver *p, tk_petsc *f)
{
    Vec x, v, y, z;
    Mat J, other, last;
    OK(DMCreateGlobalVector(p->dm, &x));
    OK(VecDuplicate(x, &v));
    OK(VecDuplicate(x, &y));
    OK(VecDuplicate(x, &z));
    vary(p->dm, x, 0.3);
    vary(p->dm, v, 1.1);
    CHECK_OK(p->m, tk_petsc_mat(f, &J));
    OK(tk_petsc_jacobian(NULL, x, J, J, f));
    OK(MatMult(J, v, y));
    OK(MatDuplicate(J, MAT_COPY_VALUES, &other));
    OK(MatDuplicate(other, MAT_COPY_VALUES, &last));
    OK(tk_petsc_jacobian(NULL, v, J, J, f));
    OK(tk_petsc_jacobian(NULL, v, other, other, f));
    OK(MatDestroy(&J));
    OK(MatDestroy(&other));
    OK(MatMult(last, v, z));
    same(z, y);
    OK(MatDestroy(&last));
    OK(VecDestroy(&x));
    OK(VecDestroy(&v));
    OK(VecDestroy(&y));
    OK(VecDestroy(&z));
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    solver p = {0};
    start(&p);
    Vec x, r;
    Mat J;
    const tk_petsc_program q = program_of(&p);
    tk_petsc *f = tk_petsc_create(&q);
    CHECK_OK(p.m, tk_petsc_mat(f, &J));
    OK(DMCreateGlobalVector(p.dm, &x));
    OK(VecDuplicate(x, &r));
    SNES snes = newton(&p, f, r, J);
    PetscReal history[MOST];
    OK(SNESSetConvergenceHistory(snes, history, NULL, MOST, PETSC_TRUE));
    OK(VecSet(x, 0));
    OK(SNESSolve(snes, NULL, x));
    CHECK_OK(p.m, tk_session_status(p.s));
    check_rate(snes);
    check_solution(&p, x);
    check_residual(&p, f, r);
    check_product(&p, snes, f, J);
    check_shared(&p, f, r, J, x);
    check_duplicates(&p, f);
    if (ranks == 1) {
        check_in_place(&p, f, J, x);
        check_roles(&p, f, J);
    }
    tk_petsc_destroy(f); /* the matrix keeps it */
    OK(SNESDestroy(&snes));
    OK(MatDestroy(&J));
    OK(VecDestroy(&x));
    OK(VecDestroy(&r));
    finish(&p);
    return end();
}
