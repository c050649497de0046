/* Programs as functions of vectors: what they get, what they leave, and how they fail. */
#include "adapter.h"

#include <petscdmda.h>
#include <stdlib.h>
#include <string.h>

/* ---- creation ---- */

static const char create_name[] = "tk_petsc_create";

static bool same_shape(const tk_field *a, const tk_field *b)
{
    bool same = a->desc->ndim == b->desc->ndim && a->desc->ncomp == b->desc->ncomp;
    for (int d = 0; same && d < a->desc->ndim; d++)
        same = a->shape[d] == b->shape[d];
    return same;
}

bool petsc_is_residual(const tk_petsc *p)
{
    return same_shape(p->program.input, p->program.output);
}

static tk_status check_fields(tk_session *s, const tk_petsc_program *q)
{
    const tk_field *in = q->input, *out = q->output;
    if (!out || out->module->session != s || in == out)
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: the output is NULL, the input, or of another session", create_name);
    if (in->desc->elem != TK_F64 || out->desc->elem != TK_F64)
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: field '%s' does not hold f64, as vectors do", create_name,
                       in->desc->elem != TK_F64 ? in->desc->name : out->desc->name);
    if (!same_shape(in, out) && (out->desc->ndim != 0 || out->desc->ncomp != 1))
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: field '%s' has other extents or components than '%s'", create_name,
                       out->desc->name, in->desc->name);
    if (!q->run)
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: the function of the program is NULL", create_name);
    if (!q->dm && (q->owned < 0 || q->owned > in->count))
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: %lld elements of field '%s' are owned, of %lld", create_name,
                       (long long)q->owned, in->desc->name, (long long)in->count);
    return TK_OK;
}

static bool list_box(tk_petsc *p, const grid_part *part)
{
    int64_t n = 1;
    for (int d = 0; d < part->ndim; d++)
        n *= part->box.hi[d] - part->box.lo[d];
    p->owned = n;
    if (!(p->element = malloc(((size_t)n + 1) * sizeof *p->element)))
        return false;
    for (int64_t k = 0; k < n; k++) {
        int64_t rest = k, scale = 1, e = 0;
        for (int d = part->ndim - 1; d >= 0; d--) {
            const int64_t width = part->box.hi[d] - part->box.lo[d];
            e += (part->box.lo[d] - part->from[d] + rest % width) * scale;
            rest /= width;
            scale *= part->to[d] - part->from[d];
        }
        p->element[k] = e;
    }
    return true;
}

/* False: out of memory, or the session has failed. */
static bool find_owned(tk_petsc *p)
{
    tk_session *s = p->session;
    const tk_field *in = p->program.input;
    grid_part part = {0};
    p->owned = p->program.owned;
    if (!p->program.dm)
        return true;
    if (!petsc_find_part(s, p->program.dm, &part, create_name) || !petsc_fits(s, in, &part, create_name))
        return false;
    if (part.components != in->desc->ncomp) {
        tk_fail(s, TK_BAD_ARGUMENT, "%s: an element of field '%s' has %d components, and %d in the DMDA", create_name,
                in->desc->name, in->desc->ncomp, part.components);
        return false;
    }
    return list_box(p, &part);
}

static void make(tk_petsc *p)
{
    tk_session *s = p->session;
    bool made = petsc_runs(s, create_name) && check_fields(s, &p->program) == TK_OK && find_owned(p);
    if (made) {
        p->numbers = p->owned * p->program.input->desc->ncomp;
        p->before = malloc(((size_t)p->numbers + 1) * sizeof *p->before);
        p->other = malloc(((size_t)p->numbers + 1) * sizeof *p->other);
        made = p->before && p->other;
    }
    if (!made && !tk_failed(s))
        tk_fail(s, TK_NO_MEMORY, "out of memory for %s", create_name);
}

tk_petsc *tk_petsc_create(const tk_petsc_program *q)
{
    if (!q || !q->input) {
        tk_fail(NULL, TK_BAD_ARGUMENT, "tk_petsc_create: the %s is NULL", q ? "input" : "program");
        return NULL;
    }
    tk_session *s = q->input->module->session;
    tk_petsc *p = calloc(1, sizeof *p);
    if (p) {
        *p = (tk_petsc){.users = 1, .program = *q, .session = s};
        make(p);
        p->program.dm = NULL; /* which may end earlier */
    } else {
        tk_fail(s, TK_NO_MEMORY, "out of memory for tk_petsc_create");
    }
    if (tk_session_agree(s, create_name) == TK_OK)
        return p;
    petsc_release(p);
    return NULL;
}

void petsc_release(tk_petsc *p)
{
    if (!p || --p->users > 0)
        return;
    free(p->element);
    free(p->before);
    free(p->other);
    free(p->zeros);
    free(p);
}

void tk_petsc_destroy(tk_petsc *p)
{
    petsc_release(p);
}

/* ---- calls ---- */

/* Whether the memory of a vector is that of the plane, and its numbers the owned ones. */
bool petsc_is_memory(const tk_petsc *p, const tk_field *f, tk_plane plane, const double *memory)
{
    return f->plane[plane] == memory && (!p->element || p->owned == f->count);
}

static bool check_length(tk_petsc *p, const petsc_call *c, Vec v)
{
    PetscInt n = 0;
    if (!v || !petsc_ok(p->session, VecGetLocalSize(v, &n), c->what))
        return v != NULL;
    if (n != p->numbers)
        tk_fail(p->session, TK_BAD_ARGUMENT, "%s: a vector has %lld numbers in this process, field '%s' %lld", c->what,
                (long long)n, p->program.input->desc->name, (long long)p->numbers);
    return n == p->numbers;
}

static void load(tk_petsc *p, const petsc_call *c)
{
    tk_field *in = p->program.input;
    const PetscScalar *x = c->values;
    if (c->x && !petsc_ok(p->session, VecGetArrayRead(c->x, &x), c->what))
        return;
    if (!petsc_is_memory(p, in, TK_DATA, x))
        tk_field_unpack(in, TK_DATA, p->element, p->owned, x);
    if (c->x)
        petsc_ok(p->session, VecRestoreArrayRead(c->x, &x), c->what);
}

bool petsc_begin(tk_petsc *p, const petsc_call *c)
{
    tk_session *s = p->session;
    if (tk_tape_is_open(s) || tk_forward_is_open(s))
        tk_fail(s, TK_BAD_STATE, "%s: a tape or a forward scope is open", c->what);
    check_length(p, c, c->x);
    check_length(p, c, c->to);
    tk_field_pack(p->program.input, TK_DATA, p->element, p->owned, p->before);
    if (c->changed && c->changed->plane[c->plane])
        tk_field_pack(c->changed, c->plane, p->element, p->owned, p->other);
    if (tk_session_agree(s, c->what) != TK_OK)
        return false;
    load(p, c);
    return true;
}

/* Returns the memory of the result; NULL: nothing is stored. */
static const double *store(tk_petsc *p, const petsc_call *c, const tk_field *result, tk_plane plane)
{
    PetscScalar *to = NULL;
    if (tk_failed(p->session) || !petsc_ok(p->session, VecGetArrayWrite(c->to, &to), c->what))
        return NULL;
    const double *memory = to;
    if (!petsc_is_memory(p, result, plane, to))
        tk_field_pack(result, plane, p->element, p->owned, to);
    petsc_ok(p->session, VecRestoreArrayWrite(c->to, &to), c->what);
    return memory;
}

/* The plane gets its numbers from before, unless it is the memory of the result. */
static void put_back(tk_petsc *p, tk_field *f, tk_plane plane, const double *before, const double *result)
{
    if (f && f->plane[plane] && !(result && petsc_is_memory(p, f, plane, result)))
        tk_field_unpack(f, plane, p->element, p->owned, before);
}

PetscErrorCode petsc_end(tk_petsc *p, const petsc_call *c, const tk_field *result, tk_plane plane)
{
    tk_session *s = p->session;
    const double *to = c->to ? store(p, c, result, plane) : NULL;
    put_back(p, p->program.input, TK_DATA, p->before, to);
    put_back(p, c->changed, c->plane, p->other, to);
    if (tk_session_agree(s, c->what) != TK_OK)
        SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", tk_session_error(s));
    return 0;
}
