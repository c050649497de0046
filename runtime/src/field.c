/* Fields: access, clearing, binding to host memory. */
#include "rt.h"

size_t rt_scalar_bytes(tk_scalar t)
{
    static const unsigned char bytes[] = {
        [TK_BOOL] = sizeof(bool), [TK_I8] = 1, [TK_I16] = 2, [TK_I32] = 4, [TK_I64] = 8, [TK_U8] = 1,
        [TK_U16] = 2,             [TK_U32] = 4, [TK_U64] = 8, [TK_F32] = 4, [TK_F64] = 8,
    };
    return bytes[t];
}

bool rt_is_float(const tk_field *f)
{
    return f->desc->elem == TK_F32 || f->desc->elem == TK_F64;
}

size_t rt_scalars(const tk_field *f)
{
    return (size_t)f->count * (size_t)f->desc->ncomp; /* checked at creation: no overflow */
}

/* ---- planes, whatever their strides ---- */

void rt_dense_strides(const tk_field *f, int64_t *stride)
{
    int64_t bytes = f->member ? (int64_t)f->member->size : (int64_t)f->desc->ncomp * (int64_t)rt_scalar_bytes(f->desc->elem);
    for (int d = f->desc->ndim - 1; d >= 0; d--) {
        stride[d] = bytes;
        bytes *= f->shape[d];
    }
}

bool rt_is_dense(const tk_field *f, tk_plane plane)
{
    int64_t dense[8];
    if (f->member)
        return false;
    if ((f->desc->flags & TK_FIELD_STRIDED) == 0)
        return true;
    rt_dense_strides(f, dense);
    return memcmp(dense, f->stride[plane], (size_t)f->desc->ndim * sizeof *dense) == 0;
}

bool rt_is_aligned(const tk_field *f, tk_plane plane)
{
    const int64_t size = (int64_t)rt_scalar_bytes(f->desc->elem);
    bool aligned = (uintptr_t)f->plane[plane] % (uintptr_t)size == 0;
    for (int d = 0; d < f->desc->ndim; d++)
        aligned = aligned && f->stride[plane][d] % size == 0;
    return aligned;
}

static unsigned char *element_at(const tk_field *f, tk_plane plane, int64_t element)
{
    int64_t offset = 0;
    for (int d = f->desc->ndim - 1; d >= 0; d--) {
        offset += element % f->shape[d] * f->stride[plane][d];
        element /= f->shape[d];
    }
    return (unsigned char *)f->plane[plane] + offset;
}

void *rt_component(const tk_field *f, tk_plane plane, int64_t component)
{
    const int64_t size = (int64_t)rt_scalar_bytes(f->desc->elem), ncomp = f->desc->ncomp;
    if ((f->desc->flags & TK_FIELD_STRIDED) == 0 && !f->member)
        return (unsigned char *)f->plane[plane] + component * size;
    return element_at(f, plane, component / ncomp) + component % ncomp * size;
}

static size_t element_bytes(const tk_field *f)
{
    return (size_t)f->desc->ncomp * rt_scalar_bytes(f->desc->elem);
}

void rt_plane_read(const tk_field *f, tk_plane plane, void *to)
{
    const size_t bytes = element_bytes(f);
    if (rt_is_dense(f, plane) && tk_field_bytes(f) > 0)
        memcpy(to, f->plane[plane], tk_field_bytes(f));
    for (int64_t i = 0; !rt_is_dense(f, plane) && i < f->count; i++)
        memcpy((unsigned char *)to + (size_t)i * bytes, element_at(f, plane, i), bytes);
}

void rt_plane_write(const tk_field *f, tk_plane plane, const void *from)
{
    const size_t bytes = element_bytes(f);
    if (rt_is_dense(f, plane) && tk_field_bytes(f) > 0)
        memcpy(f->plane[plane], from, tk_field_bytes(f));
    for (int64_t i = 0; !rt_is_dense(f, plane) && i < f->count; i++)
        memcpy(element_at(f, plane, i), (const unsigned char *)from + (size_t)i * bytes, bytes);
}

void *tk_field_structs(const tk_field *f, tk_plane plane)
{
    return f->plane[plane] ? (unsigned char *)f->plane[plane] - f->member->offset : NULL;
}

void *tk_field_component(const tk_field *f, tk_plane plane, int component)
{
    return f->plane[plane] ? (unsigned char *)f->plane[plane] + (size_t)component * (size_t)f->count * rt_scalar_bytes(f->desc->elem) : NULL;
}

/* ---- access ---- */

const char *tk_field_name(const tk_field *f)
{
    return f ? f->desc->name : "";
}

int tk_field_ndim(const tk_field *f)
{
    return f ? f->desc->ndim : 0;
}

int64_t tk_field_extent(const tk_field *f, int dim)
{
    return f && dim >= 0 && dim < f->desc->ndim ? f->shape[dim] : 0;
}

size_t tk_field_bytes(const tk_field *f)
{
    return f ? rt_scalars(f) * rt_scalar_bytes(f->desc->elem) : 0;
}

void *tk_field_data(const tk_field *f)
{
    return f ? f->plane[TK_DATA] : NULL;
}

void *tk_field_grad(const tk_field *f)
{
    return f ? f->plane[TK_GRAD] : NULL;
}

void *tk_field_dual(const tk_field *f)
{
    return f ? f->plane[TK_DUAL] : NULL;
}

static int64_t stride_of(const tk_field *f, tk_plane plane, int dim)
{
    return f && f->plane[plane] && dim >= 0 && dim < f->desc->ndim ? f->stride[plane][dim] : 0;
}

int64_t tk_field_data_stride(const tk_field *f, int dim)
{
    return stride_of(f, TK_DATA, dim);
}

int64_t tk_field_grad_stride(const tk_field *f, int dim)
{
    return stride_of(f, TK_GRAD, dim);
}

int64_t tk_field_dual_stride(const tk_field *f, int dim)
{
    return stride_of(f, TK_DUAL, dim);
}

/* ---- clearing ---- */

typedef struct clear_args {
    unsigned char *p;
    size_t bytes;
} clear_args;

typedef struct strided_clear {
    const tk_field *f;
    tk_plane plane;
} strided_clear;

enum { CLEAR_UNIT = 64 };

static void clear_lines(const void *args, int64_t lo, int64_t hi)
{
    const clear_args *a = args;
    const size_t from = (size_t)lo * CLEAR_UNIT;
    const size_t to = (size_t)hi * CLEAR_UNIT < a->bytes ? (size_t)hi * CLEAR_UNIT : a->bytes;
    memset(a->p + from, 0, to - from);
}

/* The elements [lo, hi) of a plane with gaps, which belong to others. */
static void clear_elements(const void *args, int64_t lo, int64_t hi)
{
    const strided_clear *a = args;
    for (int64_t i = lo; i < hi; i++)
        memset(element_at(a->f, a->plane, i), 0, element_bytes(a->f));
}

static void clear_bytes(tk_session *s, void *at, size_t bytes)
{
    const clear_args a = {at, bytes};
    if (!at || bytes == 0)
        return;
    /* with all threads, or this would be the serial part of every tape */
    const tk_plan p = tk_plan_make((int64_t)((bytes + CLEAR_UNIT - 1) / CLEAR_UNIT), 1, 8);
    rt_run_chunks(s, &p, rt_worth_threads(s, &p), clear_lines, &a, true);
}

void rt_clear_plane(tk_field *f, tk_plane plane)
{
    if (f->plane[plane] && !rt_is_dense(f, plane)) {
        const strided_clear each = {f, plane};
        const tk_plan p = tk_plan_make(f->count, 1, 8);
        rt_run_chunks(f->module->session, &p, rt_worth_threads(f->module->session, &p), clear_elements, &each, true);
        return;
    }
    clear_bytes(f->module->session, f->plane[plane], tk_field_bytes(f));
}

/* A cleared gradient is a constant, a cleared dual no longer varies anything: the gradient's dual goes with either. */
void rt_clear_field(tk_field *f, tk_plane plane)
{
    rt_clear_plane(f, plane);
    rt_clear_plane(f, TK_GRAD_DUAL);
}

/* All members of an array of structs at once, with the gaps between them, which nobody uses. */
static void clear_structs(tk_module *m, int first, tk_plane plane)
{
    for (int i = first; i < m->desc->nfields && m->fields[i].member && m->fields[i].member->lead == first; i++) {
        const tk_field *f = &m->fields[i];
        if (!f->plane[plane])
            continue;
        clear_bytes(m->session, tk_field_structs(f, plane), (size_t)f->count * f->member->size);
        return;
    }
}

void rt_clear_module(tk_module *m, tk_plane plane)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        if (!m->fields[i].member) {
            rt_clear_field(&m->fields[i], plane);
        } else if (m->fields[i].member->lead == i) {
            clear_structs(m, i, plane);
            clear_structs(m, i, TK_GRAD_DUAL);
        }
    }
}

void rt_clear_session(tk_session *s, tk_plane plane)
{
    for (tk_module *m = s->modules; m; m = m->next)
        rt_clear_module(m, plane);
}

static const char *plane_word(tk_plane plane)
{
    return plane == TK_GRAD ? "gradient" : "dual";
}

static tk_status check_clearable(tk_session *s, tk_plane plane)
{
    const tk_status st = rt_check_idle(s, "clearing");
    if (st != TK_OK)
        return st;
    if (s->tape.open && !(s->tape.replaying && s->in_call)) /* a backward function of the host's may recompute, and clear for that */
        return tk_fail(s, TK_BAD_STATE, "clearing %ss is not possible while a tape is open (on field '%s')", plane_word(plane),
                       s->tape.loss->desc->name);
    return TK_OK;
}

static tk_status clear_field(tk_field *f, tk_plane plane)
{
    if (!f)
        return rt_thread_fail(TK_BAD_ARGUMENT, "clearing a %s: the field is NULL", plane_word(plane));
    tk_session *s = f->module->session;
    if (!f->plane[plane])
        return tk_fail(s, TK_NO_DERIVATIVE, "field '%s' has no %s", f->desc->name, plane_word(plane));
    const tk_status st = check_clearable(s, plane);
    if (st == TK_OK)
        rt_clear_field(f, plane);
    return st;
}

static tk_status clear_module(tk_module *m, tk_plane plane)
{
    if (!m || !m->session)
        return rt_thread_fail(TK_BAD_ARGUMENT, "clearing %ss: the module is NULL", plane_word(plane));
    const tk_status st = check_clearable(m->session, plane);
    if (st == TK_OK)
        rt_clear_module(m, plane);
    return st;
}

static tk_status clear_session(tk_session *s, tk_plane plane)
{
    if (!s)
        return rt_thread_fail(TK_BAD_ARGUMENT, "clearing %ss: the session is NULL", plane_word(plane));
    const tk_status st = check_clearable(s, plane);
    if (st == TK_OK)
        rt_clear_session(s, plane);
    return st;
}

tk_status tk_field_clear_grad(tk_field *f)
{
    return clear_field(f, TK_GRAD);
}

tk_status tk_field_clear_dual(tk_field *f)
{
    return clear_field(f, TK_DUAL);
}

tk_status tk_module_clear_grad(tk_module *m)
{
    return clear_module(m, TK_GRAD);
}

tk_status tk_module_clear_dual(tk_module *m)
{
    return clear_module(m, TK_DUAL);
}

tk_status tk_session_clear_grad(tk_session *s)
{
    return clear_session(s, TK_GRAD);
}

tk_status tk_session_clear_dual(tk_session *s)
{
    return clear_session(s, TK_DUAL);
}
