/* What solvers call: residuals, products with their Jacobian, losses with gradients. */
#include "adapter.h"

#include <stdlib.h>
#include <string.h>

static PetscErrorCode refuse(const tk_petsc *p, const char *what)
{
    tk_fail(p ? p->session : NULL, TK_BAD_ARGUMENT, "%s", what);
    if (p)
        tk_session_agree(p->session, what); /* others may come to another agreement, and fail */
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", p ? tk_session_error(p->session) : what);
}

PetscErrorCode tk_petsc_residual(SNES snes, Vec x, Vec f, void *user)
{
    tk_petsc *p = user;
    (void)snes;
    if (!p || !x || !f)
        return refuse(p, "tk_petsc_residual: the program, x or f is NULL");
    tk_field *out = p->program.output;
    const petsc_call c = {"tk_petsc_residual", x, f, NULL, petsc_is_residual(p) ? out : NULL, TK_DATA};
    if (!c.changed)
        tk_fail(p->session, TK_BAD_ARGUMENT, "tk_petsc_residual: field '%s' is a loss", out->desc->name);
    if (petsc_begin(p, &c))
        p->program.run(p->program.user);
    return petsc_end(p, &c, out, TK_DATA);
}

/* ---- the Jacobian ---- */

static const char mat_key[] = "tk_petsc";

typedef struct jacobian {
    tk_petsc *p;
    double *at, *along; /* the input; the direction of a product, whose vector may be the memory of fields */
    bool is_set;
    PetscErrorCode (*duplicate)(Mat, MatDuplicateOption, Mat *); /* PETSc's own */
} jacobian;

/* NULL: out of memory. */
static jacobian *new_jacobian(tk_petsc *p)
{
    jacobian *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    p->users++;
    j->p = p;
    j->at = calloc((size_t)p->numbers + 1, sizeof *j->at);
    j->along = calloc((size_t)p->numbers + 1, sizeof *j->along);
    return j;
}

static bool has_room(const jacobian *j)
{
    return j && j->at && j->along;
}

static PetscErrorCode free_jacobian(void *user)
{
    jacobian *j = user;
    if (!j)
        return 0;
    petsc_release(j->p);
    free(j->at);
    free(j->along);
    free(j);
    return 0;
}

static void run_along(tk_petsc *p, const double *along)
{
    tk_session *s = p->session;
    tk_field *in = p->program.input, *out = p->program.output;
    if (tk_forward_begin(&out, 1, in, p->zeros, (size_t)tk_field_count(in)) != TK_OK)
        return;
    tk_field_unpack(in, TK_DUAL, p->element, p->owned, along);
    p->program.run(p->program.user);
    tk_forward_end(s);
}

/* Returns the memory of the direction, for comparisons; NULL after failing the session. */
static const double *copy_direction(jacobian *j, Vec v, const char *what)
{
    tk_petsc *p = j->p;
    const PetscScalar *from = NULL, *memory;
    PetscInt n = 0;
    if (!petsc_ok(p->session, VecGetLocalSize(v, &n), what))
        return NULL;
    if (n != p->numbers) {
        tk_fail(p->session, TK_BAD_ARGUMENT, "%s: the vector has %lld numbers in this process, not %lld", what,
                (long long)n, (long long)p->numbers);
        return NULL;
    }
    if (!petsc_ok(p->session, VecGetArrayRead(v, &from), what))
        return NULL;
    memory = from;
    if (n > 0)
        memcpy(j->along, from, (size_t)n * sizeof *from);
    petsc_ok(p->session, VecRestoreArrayRead(v, &from), what);
    return memory;
}

static PetscErrorCode multiply(Mat J, Vec v, Vec y)
{
    jacobian *j = NULL;
    PetscCall(MatShellGetContext(J, &j));
    tk_petsc *p = j->p;
    tk_field *const both[] = {p->program.input, p->program.output};
    const petsc_call c = {"product with a Jacobian", NULL, y, j->at, both[1], TK_DATA};
    if (!j->is_set)
        tk_fail(p->session, TK_BAD_STATE, "%s: it has no x yet (tk_petsc_jacobian)", c.what);
    const double *memory = copy_direction(j, v, c.what);
    if (petsc_begin(p, &c))
        run_along(p, j->along);
    const PetscErrorCode code = petsc_end(p, &c, both[1], TK_DUAL);
    for (int i = 0; i < 2 && memory; i++)
        if (petsc_is_memory(p, both[i], TK_DUAL, memory))
            tk_field_unpack(both[i], TK_DUAL, p->element, p->owned, j->along);
    return code;
}

static void check_jacobian(tk_petsc *p, const jacobian *j)
{
    tk_session *s = p->session;
    const tk_field *in = p->program.input, *out = p->program.output;
    if (!petsc_is_residual(p))
        tk_fail(s, TK_BAD_ARGUMENT, "tk_petsc_mat: field '%s' is no residual of '%s'", out->desc->name, in->desc->name);
    else if (!in->plane[TK_DUAL] || !out->plane[TK_DUAL])
        tk_fail(s, TK_NO_DERIVATIVE, "tk_petsc_mat: field '%s' is not declared needs_dual, or has several directions",
                in->plane[TK_DUAL] ? out->desc->name : in->desc->name);
    if (!p->zeros)
        p->zeros = calloc((size_t)tk_field_count(in) + 1, sizeof *p->zeros);
    if (!has_room(j) || !p->zeros)
        tk_fail(s, TK_NO_MEMORY, "out of memory for tk_petsc_mat");
}

/* The matrix owns j from here on; a container tells it from other matrices. */
static PetscErrorCode give(Mat J, jacobian *j)
{
    PetscContainer box;
    const PetscErrorCode code = PetscContainerCreate(PetscObjectComm((PetscObject)J), &box);
    if (code != 0) {
        free_jacobian(j);
        return code;
    }
    PetscCall(PetscContainerSetPointer(box, j));
    PetscCall(PetscContainerSetUserDestroy(box, free_jacobian));
    PetscCall(PetscObjectCompose((PetscObject)J, mat_key, (PetscObject)box));
    PetscCall(PetscContainerDestroy(&box));
    PetscCall(MatShellSetContext(J, j));
    return 0;
}

/* PETSc's own duplicate has the same context, which ends with J. */
static PetscErrorCode duplicate(Mat J, MatDuplicateOption option, Mat *copy)
{
    jacobian *j = NULL, *other;
    PetscCall(MatShellGetContext(J, &j));
    PetscCall(j->duplicate(J, option, copy));
    if (!(other = new_jacobian(j->p)) || !has_room(other)) {
        free_jacobian(other);
        PetscCall(MatDestroy(copy));
        SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "out of memory for a duplicate of a Jacobian");
    }
    memcpy(other->at, j->at, (size_t)j->p->numbers * sizeof *j->at);
    other->is_set = j->is_set;
    other->duplicate = j->duplicate;
    PetscCall(MatShellSetOperation(*copy, MATOP_DUPLICATE, (void (*)(void))duplicate));
    return give(*copy, other);
}

static PetscErrorCode make_shell(tk_petsc *p, jacobian *j, Mat *J)
{
    void (*own)(void) = NULL;
    const PetscInt n = (PetscInt)p->numbers;
    const PetscErrorCode code = MatCreateShell(petsc_comm(p->session), n, n, PETSC_DETERMINE, PETSC_DETERMINE, j, J);
    if (code != 0) {
        free_jacobian(j);
        return code;
    }
    PetscCall(give(*J, j));
    PetscCall(MatShellSetOperation(*J, MATOP_MULT, (void (*)(void))multiply));
    PetscCall(MatGetOperation(*J, MATOP_DUPLICATE, &own));
    j->duplicate = (PetscErrorCode(*)(Mat, MatDuplicateOption, Mat *))own;
    PetscCall(MatShellSetOperation(*J, MATOP_DUPLICATE, (void (*)(void))duplicate));
    return 0;
}

tk_status tk_petsc_mat(tk_petsc *p, Mat *J)
{
    if (!p)
        return tk_fail(NULL, TK_BAD_ARGUMENT, "tk_petsc_mat: the program is NULL");
    tk_session *s = p->session;
    jacobian *j = new_jacobian(p);
    if (!J)
        tk_fail(s, TK_BAD_ARGUMENT, "tk_petsc_mat: the place for the matrix is NULL");
    else
        *J = NULL;
    check_jacobian(p, j);
    if (tk_session_agree(s, "tk_petsc_mat") != TK_OK) {
        free_jacobian(j);
        return tk_session_status(s);
    }
    if (!petsc_ok(s, make_shell(p, j, J), "tk_petsc_mat"))
        MatDestroy(J);
    return tk_session_agree(s, "tk_petsc_mat, the end");
}

/* *j stays NULL for another matrix. */
static PetscErrorCode find_jacobian(Mat J, jacobian **j)
{
    PetscObject box = NULL;
    if (J)
        PetscCall(PetscObjectQuery((PetscObject)J, mat_key, &box));
    if (box)
        PetscCall(PetscContainerGetPointer((PetscContainer)box, (void **)j));
    return 0;
}

/* The matrices among the two that are of this program get x. */
static bool set_jacobians(tk_petsc *p, Vec x, jacobian *const *of)
{
    static const char what[] = "tk_petsc_jacobian";
    tk_session *s = p->session;
    const PetscScalar *values = NULL;
    PetscInt n = 0;
    if (!petsc_ok(s, VecGetLocalSize(x, &n), what) || !petsc_ok(s, VecGetArrayRead(x, &values), what))
        return false;
    if (n != p->numbers)
        tk_fail(s, TK_BAD_ARGUMENT, "%s: a vector has %lld numbers in this process, field '%s' %lld", what,
                (long long)n, p->program.input->desc->name, (long long)p->numbers);
    for (int i = 0; i < 2 && n == p->numbers; i++)
        if (of[i] && of[i]->p == p) {
            memcpy(of[i]->at, values, (size_t)n * sizeof *values);
            of[i]->is_set = true;
        }
    petsc_ok(s, VecRestoreArrayRead(x, &values), what);
    return tk_session_agree(s, what) == TK_OK;
}

PetscErrorCode tk_petsc_jacobian(SNES snes, Vec x, Mat J, Mat P, void *user)
{
    tk_petsc *p = user;
    jacobian *of[2] = {NULL, NULL};
    (void)snes;
    PetscCall(find_jacobian(J, &of[0]));
    PetscCall(find_jacobian(P, &of[1]));
    if (!p || !x || ((!of[0] || of[0]->p != p) && (!of[1] || of[1]->p != p)))
        return refuse(p, "tk_petsc_jacobian: the program or x is NULL, or no matrix is of its tk_petsc_mat");
    if (!set_jacobians(p, x, of))
        SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", tk_session_error(p->session));
    Mat const both[] = {J, P};
    for (int i = 0; i < 2; i++)
        if (both[i] && (i == 0 || P != J)) {
            PetscCall(MatAssemblyBegin(both[i], MAT_FINAL_ASSEMBLY));
            PetscCall(MatAssemblyEnd(both[i], MAT_FINAL_ASSEMBLY));
        }
    return 0;
}

/* ---- losses ---- */

/* All processes have the same bits. */
static void check_loss(tk_petsc *p, double loss)
{
    tk_session *s = p->session;
    int64_t both[2];
    memcpy(both, &loss, sizeof loss);
    both[1] = ~both[0];
    if (tk_session_agree(s, "loss of tk_petsc_objective") != TK_OK)
        return;
    if (MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT64_T, MPI_MAX, petsc_comm(s)) != MPI_SUCCESS)
        tk_fail(s, TK_BAD_STATE, "tk_petsc_objective: MPI failed");
    else if (both[0] != ~both[1])
        tk_fail(s, TK_BAD_ARGUMENT, "tk_petsc_objective: the loss '%s' differs between processes (tk_allsum)",
                p->program.output->desc->name);
}

PetscErrorCode tk_petsc_objective(Tao tao, Vec x, PetscReal *loss, Vec gradient, void *user)
{
    tk_petsc *p = user;
    (void)tao;
    if (!p || !x || !loss || !gradient)
        return refuse(p, "tk_petsc_objective: the program, x, loss or gradient is NULL");
    tk_session *s = p->session;
    tk_field *in = p->program.input, *out = p->program.output;
    const petsc_call c = {"tk_petsc_objective", x, gradient, NULL, in, TK_GRAD};
    if (out->desc->ndim != 0 || out->desc->ncomp != 1)
        tk_fail(s, TK_BAD_ARGUMENT, "%s: field '%s' is no loss", c.what, out->desc->name);
    if (!in->plane[TK_GRAD])
        tk_fail(s, TK_NO_DERIVATIVE, "%s: field '%s' is not declared needs_grad", c.what, in->desc->name);
    if (petsc_begin(p, &c) && tk_tape_begin(out, 0) == TK_OK) {
        p->program.run(p->program.user);
        tk_tape_end(out);
        tk_field_get(out, TK_DATA, 0, 1, loss);
        check_loss(p, *loss);
    }
    return petsc_end(p, &c, in, TK_GRAD);
}
