/* Tapes whose gradients are added to those that are there: these are set aside when the tape opens, so that its
 * adjoints do not take them for gradients of its final state, and added when it closes. */
#include "rt.h"

static const tk_plane planes[] = {TK_GRAD, TK_GRAD_DUAL};
enum { PLANES = 2, UNIT = 256 /* components */ };

bool tk_rt_plane_is_zero(const tk_field *f, tk_plane plane)
{
    const size_t n = tk_rt_is_dense(f, plane) ? tk_field_bytes(f) : 0;
    uint64_t word;
    for (size_t i = 0; i < n; i += sizeof word) {
        word = 0;
        memcpy(&word, (const unsigned char *)f->plane[plane] + i, n - i < sizeof word ? n - i : sizeof word);
        if (word != 0)
            return false;
    }
    for (int64_t k = 0; !tk_rt_is_dense(f, plane) && k < (int64_t)tk_rt_scalars(f); k++)
        if (tk_rt_scalar_get(f, plane, k) != 0.0)
            return false;
    return true;
}

static void forget(tk_session *s)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int p = 0; p < PLANES; p++) {
                tk_rt_free(s, m->fields[i].sum[p]);
                m->fields[i].sum[p] = NULL;
            }
    s->tape.sum = false;
}

static bool keep(tk_field *f, int p)
{
    if (!f->plane[planes[p]] || tk_rt_plane_is_zero(f, planes[p]))
        return true;
    f->sum[p] = tk_rt_alloc(f->module->session, tk_field_bytes(f), false);
    if (f->sum[p])
        tk_rt_plane_read(f, planes[p], f->sum[p]);
    return f->sum[p] != NULL;
}

tk_status tk_rt_sum_begin(const tk_field *loss)
{
    tk_session *s = loss->module->session;
    s->tape.sum = true;
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int p = 0; p < PLANES; p++)
                if (&m->fields[i] != loss && !keep(&m->fields[i], p)) {
                    forget(s);
                    return tk_fail(s, TK_NO_MEMORY,
                                   "out of memory for the gradient of field '%s' that a tape is to be added to",
                                   m->fields[i].desc->name);
                }
    return TK_OK;
}

typedef struct add_args {
    const tk_field *f;
    tk_plane plane;
    const unsigned char *kept;
} add_args;

static void add_range(const void *args, int64_t lo, int64_t hi)
{
    const add_args *a = args;
    const bool f32 = a->f->desc->elem == TK_F32;
    for (int64_t k = lo; k < hi; k++) {
        void *at = tk_rt_component(a->f, a->plane, k);
        if (f32)
            tk_store_f32(at, tk_load_f32(a->kept + (size_t)k * sizeof(float)) + tk_load_f32(at));
        else
            tk_store_f64(at, tk_load_f64(a->kept + (size_t)k * sizeof(double)) + tk_load_f64(at));
    }
}

void tk_rt_sum_add(tk_session *s)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int p = 0; p < PLANES; p++) {
                const tk_field *f = &m->fields[i];
                const add_args a = {f, planes[p], f->sum[p]};
                const tk_plan plan = tk_plan_make(f->sum[p] ? (int64_t)tk_rt_scalars(f) : 0, UNIT, 8);
                tk_rt_run_chunks(s, &plan, tk_rt_work(s, &plan), add_range, &a, true);
            }
    forget(s);
}

void tk_rt_sum_put_back(tk_session *s)
{
    if (!s->tape.sum)
        return;
    tk_rt_clear_session(s, TK_GRAD);
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int p = 0; p < PLANES; p++)
                if (m->fields[i].sum[p])
                    tk_rt_plane_write(&m->fields[i], planes[p], m->fields[i].sum[p]);
    forget(s);
}
