/* Fields: access, clearing, binding to host memory. */
#include "rt.h"

size_t tk_rt_scalar_bytes(tk_scalar t)
{
    static const unsigned char bytes[] = {
        [TK_BOOL] = sizeof(bool),
        [TK_I8] = 1,
        [TK_I16] = 2,
        [TK_I32] = 4,
        [TK_I64] = 8,
        [TK_U8] = 1,
        [TK_U16] = 2,
        [TK_U32] = 4,
        [TK_U64] = 8,
        [TK_F32] = 4,
        [TK_F64] = 8,
    };
    return bytes[t];
}

bool tk_rt_is_float(const tk_field *f)
{
    return f->desc->elem == TK_F32 || f->desc->elem == TK_F64;
}

size_t tk_rt_scalars(const tk_field *f)
{
    return (size_t)f->count * (size_t)f->desc->ncomp; /* checked at creation: no overflow */
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
    return f ? tk_rt_scalars(f) * tk_rt_scalar_bytes(f->desc->elem) : 0;
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
    tk_rt_elements_clear(a->f, a->plane, lo, hi);
}

static void clear_bytes(tk_session *s, void *at, size_t bytes)
{
    const clear_args a = {at, bytes};
    if (!at || bytes == 0)
        return;
    /* with all threads, or this would be the serial part of every tape */
    const tk_plan p = tk_plan_make((int64_t)((bytes + CLEAR_UNIT - 1) / CLEAR_UNIT), 1, 8);
    tk_rt_run_chunks(s, &p, tk_rt_work(s, &p), clear_lines, &a, true);
}

void tk_rt_clear_plane(tk_field *f, tk_plane plane)
{
    if (f->plane[plane] && !tk_rt_is_dense(f, plane)) {
        const strided_clear each = {f, plane};
        const tk_plan p = tk_plan_make(f->count, 1, 8);
        tk_rt_run_chunks(f->module->session, &p, tk_rt_work(f->module->session, &p), clear_elements, &each, true);
        return;
    }
    clear_bytes(f->module->session, f->plane[plane], tk_field_bytes(f));
}

/* A cleared gradient is a constant, a cleared dual no longer varies anything: the gradient's dual goes with either. */
static bool goes_with(int p, int plane)
{
    const unsigned derived = tk_rt_plane(plane)->derived;
    return (tk_rt_plane(p)->derived & derived) == derived;
}

void tk_rt_clear_field(tk_field *f, tk_plane plane)
{
    if (tk_rt_wide(f, plane))
        tk_rt_clear_plane(tk_rt_wide(f, plane), TK_DATA);
    for (int p = TK_DATA; p < TK_PLANE_COUNT; p++)
        if (goes_with(p, plane))
            tk_rt_clear_plane(f, (tk_plane)p);
}

/* All fields of one memory at once, with the gaps between them, which nobody uses. */
static void clear_memory(tk_field *owner, tk_plane plane)
{
    const int n = tk_rt_sharers(owner);
    for (int k = 0; k < n; k++) {
        if (!owner[k].plane[plane])
            continue;
        clear_bytes(owner->module->session, tk_rt_memory(&owner[k], plane), tk_rt_memory_bytes(owner));
        return;
    }
}

void tk_rt_clear_module(tk_module *m, tk_plane plane)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        if (!tk_rt_shares_memory(f)) {
            tk_rt_clear_field(f, plane);
        } else if (tk_rt_owner(f) == f) {
            for (int p = TK_DATA; p < TK_PLANE_COUNT; p++)
                if (goes_with(p, plane))
                    clear_memory(f, (tk_plane)p);
        }
    }
}

void tk_rt_clear_session(tk_session *s, tk_plane plane)
{
    for (tk_module *m = s->modules; m; m = m->next)
        tk_rt_clear_module(m, plane);
}

static const char *plane_word(tk_plane plane)
{
    return tk_rt_plane(plane)->words;
}

static tk_status check_clearable(tk_session *s, tk_plane plane)
{
    const tk_status st = tk_rt_check_idle(s, "clearing");
    if (st != TK_OK)
        return st;
    if (s->tape.open &&
        !(s->tape.replaying && s->in_call)) /* a backward function of the host's may recompute, and clear for that */
        return tk_fail(s, TK_BAD_STATE, "clearing %ss is not possible while a tape is open (on field '%s')",
                       plane_word(plane), s->tape.loss->desc->name);
    return TK_OK;
}

static tk_status clear_field(tk_field *f, tk_plane plane)
{
    if (!f)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "clearing a %s: the field is NULL", plane_word(plane));
    tk_session *s = f->module->session;
    RT_ENTER(s, f->desc->name, TK_BAD_STATE);
    if (!f->plane[plane] && !tk_rt_wide(f, plane))
        return tk_fail(s, TK_NO_DERIVATIVE, "field '%s' has no %s", f->desc->name, plane_word(plane));
    const tk_status st = check_clearable(s, plane);
    if (st == TK_OK)
        tk_rt_clear_field(f, plane);
    return st;
}

static tk_status clear_module(tk_module *m, tk_plane plane)
{
    if (!m || !m->session)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "clearing %ss: the module is NULL", plane_word(plane));
    RT_ENTER(m->session, m->desc->name, TK_BAD_STATE);
    const tk_status st = check_clearable(m->session, plane);
    if (st == TK_OK)
        tk_rt_clear_module(m, plane);
    return st;
}

static tk_status clear_session(tk_session *s, tk_plane plane)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "clearing %ss: the session is NULL", plane_word(plane));
    RT_ENTER(s, "clear", TK_BAD_STATE);
    const tk_status st = check_clearable(s, plane);
    if (st == TK_OK)
        tk_rt_clear_session(s, plane);
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
