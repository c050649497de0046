/* Vectors over fields. */
#include "adapter.h"

/* Whether the numbers are one after the other. */
static bool is_dense(const tk_field *f, tk_plane plane)
{
    int64_t step = (int64_t)sizeof(double) * f->desc->ncomp;
    if ((f->desc->flags & TK_FIELD_SOA) && f->desc->ncomp > 1)
        return false;
    for (int d = f->desc->ndim - 1; d >= 0; d--) {
        if (f->shape[d] > 1 && f->stride[plane][d] != step)
            return false;
        step *= f->shape[d];
    }
    return true;
}

static tk_status check(tk_session *s, const tk_field *f, tk_plane plane, int64_t elements)
{
    const char *name = f->desc->name;
    if (!petsc_runs(s, "tk_petsc_vec"))
        return tk_session_status(s);
    if ((unsigned)plane >= (unsigned)TK_PLANE_COUNT || !f->plane[plane])
        return tk_fail(s, TK_NO_DERIVATIVE, "tk_petsc_vec: field '%s' has no memory for that (needs_grad, needs_dual)",
                       name);
    if (f->desc->elem != TK_F64)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_petsc_vec: field '%s' does not hold f64, as vectors do", name);
    if (!is_dense(f, plane))
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_petsc_vec: the numbers of field '%s' are not one after the other", name);
    if (elements > f->count)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_petsc_vec: field '%s' has %lld elements, not %lld", name,
                       (long long)f->count, (long long)elements);
    if (elements * f->desc->ncomp > PETSC_MAX_INT)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_petsc_vec: field '%s' has more numbers than a PetscInt counts", name);
    return TK_OK;
}

tk_status tk_petsc_vec(MPI_Comm comm, tk_field *f, tk_plane plane, int64_t elements, Vec *v)
{
    int ranks = 1;
    if (v)
        *v = NULL;
    if (!f || !v)
        return tk_fail(f ? f->module->session : NULL, TK_BAD_ARGUMENT, "tk_petsc_vec: the %s is NULL",
                       f ? "place for the vector" : "field");
    tk_session *s = f->module->session;
    const int64_t n = elements < 0 ? f->count : elements;
    if (comm == MPI_COMM_NULL)
        return tk_fail(s, TK_BAD_ARGUMENT, "tk_petsc_vec: the communicator is MPI_COMM_NULL");
    if (check(s, f, plane, n) != TK_OK)
        return tk_session_status(s);
    MPI_Comm_size(comm, &ranks);
    const PetscInt block = f->desc->ncomp, numbers = (PetscInt)n * block;
    const PetscScalar *memory = f->plane[plane];
    petsc_ok(s,
             ranks == 1 ? VecCreateSeqWithArray(comm, block, numbers, memory, v)
                        : VecCreateMPIWithArray(comm, block, numbers, PETSC_DETERMINE, memory, v),
             "tk_petsc_vec");
    return tk_session_status(s);
}
