/* Fields in the host's memory. */
#include "rt.h"

static bool overlap(const void *a, size_t na, const void *b, size_t nb)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a && b && x < y + nb && y < x + na;
}

/* Gradients and duals are always written; data is where a kernel of the module says so, or does not say what it does. */
static bool is_written(const tk_field *f, int plane)
{
    if (plane != TK_DATA)
        return true;
    const tk_module_desc *d = f->module->desc;
    const int index = (int)(f - f->module->fields);
    for (int k = 0; k < d->nkernels; k++) {
        const tk_kernel *kernel = &d->kernels[k];
        if (kernel->naccess == 0)
            return true;
        for (int i = 0; i < kernel->naccess; i++)
            if (kernel->access[i].field == index && (kernel->access[i].what & (TK_STORES | TK_ACCUMULATES)) != 0)
                return true;
    }
    return false;
}

static const char *plane_name(int plane)
{
    static const char *const names[] = {"data", "gradient", "dual", "gradient's dual"};
    return names[plane];
}

/* Whether every plane is given that was declared, and no other, and whether C may access it. */
static tk_status check_given(tk_field *f, void *const *given)
{
    tk_session *s = f->module->session;
    for (int p = TK_DATA; p <= TK_DUAL; p++) {
        if (f->plane[p] && !given[p] && tk_field_bytes(f) > 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': its %s is NULL", f->desc->name, plane_name(p));
        if (!f->plane[p] && given[p])
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': it has no %s", f->desc->name, plane_name(p));
        if ((uintptr_t)given[p] % rt_scalar_bytes(f->desc->elem) != 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': its %s is not aligned to %zu bytes", f->desc->name, plane_name(p),
                           rt_scalar_bytes(f->desc->elem));
    }
    return TK_OK;
}

static tk_status check_overlap(tk_field *f, void *const *given)
{
    tk_session *s = f->module->session;
    const size_t bytes = tk_field_bytes(f);
    for (int p = TK_DATA; p <= TK_DUAL; p++)
        for (int q = TK_DATA; q < p; q++)
            if (overlap(given[p], bytes, given[q], bytes))
                return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': its %s overlaps its %s", f->desc->name, plane_name(p), plane_name(q));
    for (tk_module *m = s->modules; m; m = m->next) {
        for (int i = 0; i < m->desc->nfields; i++) {
            const tk_field *other = &m->fields[i];
            for (int p = TK_DATA; p <= TK_DUAL; p++) {
                for (int q = TK_DATA; q <= TK_GRAD_DUAL; q++) {
                    /* its own planes in the host's memory are about to be replaced, but what the library allocated is freed or stays */
                    if (other == f && q != TK_GRAD_DUAL && !f->own[0])
                        continue;
                    if (overlap(given[p], bytes, other->plane[q], tk_field_bytes(other)) && (other == f || is_written(f, p) || is_written(other, q)))
                        return tk_fail(s, TK_BAD_ARGUMENT,
                                       "binding field '%s': its %s overlaps the %s of field '%s.%s', and one of the two is written",
                                       f->desc->name, plane_name(p), plane_name(q), m->desc->name, other->desc->name);
                }
            }
        }
    }
    return TK_OK;
}

tk_status tk_field_bind(tk_field *f, void *data, void *grad, void *dual)
{
    if (!f)
        return rt_thread_fail(TK_BAD_ARGUMENT, "tk_field_bind: the field is NULL");
    tk_session *s = f->module->session;
    void *const given[] = {data, grad, dual};
    tk_status st = rt_check_idle(s, "binding");
    if (st != TK_OK)
        return st;
    if (s->tape.open || s->forward.open)
        return tk_fail(s, TK_BAD_STATE, "binding field '%s' is not possible while a %s is open", f->desc->name,
                       s->tape.open ? "tape" : "forward scope");
    st = check_given(f, given);
    if (st == TK_OK)
        st = check_overlap(f, given);
    if (st != TK_OK)
        return st;
    for (int p = TK_DATA; p <= TK_DUAL; p++)
        if (given[p])
            f->plane[p] = given[p];
    /* a plane without bytes may stay where it was: then the block that it points into must stay too */
    if (tk_field_bytes(f) > 0) {
        rt_free(s, f->own[0]);
        f->own[0] = NULL;
    }
    f->bound = true;
    return TK_OK;
}
