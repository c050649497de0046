/* Fields in the host's memory. */
#include "rt.h"

/* ---- what may be bound ---- */

/* Gradients and duals are always written; data is where a kernel of the module says so, or does not say what it does.
 */
static bool is_written(const tk_field *f, int plane)
{
    if (plane != TK_DATA)
        return true;
    const tk_module_desc *d = f->module->desc;
    const int index = (int)(f - f->module->fields);
    for (int k = 0; k < d->nkernels; k++) {
        const tk_kernel *kernel = &d->kernels[k];
        if (kernel->nparts == 0 || (tk_rt_touches(kernel, index) & RT_WRITES) != 0)
            return true;
    }
    return false;
}

static const char *plane_name(int plane)
{
    return tk_rt_plane(plane)->words;
}

/* Whether every plane is given that was declared, and no other, and whether C may access it. */
static tk_status check_given(tk_field *f, void *const *given)
{
    tk_session *s = f->module->session;
    const size_t align = tk_rt_alignment(f);
    for (int p = TK_DATA; p < TK_PLANES_BOUND; p++) {
        if (f->plane[p] && !given[p] && tk_field_bytes(f) > 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': its %s is NULL", f->desc->name, plane_name(p));
        if (!f->plane[p] && given[p])
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': it has no %s", f->desc->name, plane_name(p));
        if ((uintptr_t)given[p] % align != 0)
            return tk_fail(
                s, TK_BAD_ARGUMENT,
                "binding field '%s': its %s is not aligned to %zu bytes: declare it strided to bind it there",
                f->desc->name, plane_name(p), align);
    }
    return TK_OK;
}

static rt_span span_of_plane(const tk_field *f, int plane)
{
    rt_span l;
    (void)tk_rt_span_of(f, f->plane[plane], f->stride[plane], &l); /* counted when it was bound */
    return l;
}

static tk_status check_others(tk_field *f, int p, const rt_span *l, bool written)
{
    tk_session *s = f->module->session;
    for (tk_module *m = s->modules; m; m = m->next) {
        for (int i = 0; i < m->desc->nfields; i++) {
            const tk_field *other = &m->fields[i];
            for (int q = TK_DATA; q < TK_PLANE_COUNT; q++) {
                /* its own planes in the host's memory are about to be replaced, but what the library allocated is freed
                 * or stays */
                const bool same = tk_rt_owner(other) == tk_rt_owner(f);
                if (same && q < TK_PLANES_BOUND && !tk_rt_owner(f)->own[0])
                    continue;
                const rt_span there = span_of_plane(other, q);
                if (tk_rt_spans_overlap(l, &there) && (same || written || is_written(other, q)))
                    return tk_fail(
                        s, TK_BAD_ARGUMENT,
                        "binding field '%s': its %s overlaps the %s of field '%s.%s', and one of the two is written",
                        f->desc->name, plane_name(p), plane_name(q), m->desc->name, other->desc->name);
            }
        }
    }
    return TK_OK;
}

static tk_status check_overlap(tk_field *f, void *const *given, int64_t (*stride)[8])
{
    tk_session *s = f->module->session;
    rt_span l[TK_PLANES_BOUND];
    for (int p = TK_DATA; p < TK_PLANES_BOUND; p++) {
        if (!tk_rt_span_of(f, given[p], stride[p], &l[p]))
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': the strides of its %s leave the address space",
                           f->desc->name, plane_name(p));
        if (given[p] && is_written(f, p) && tk_rt_span_overlaps_itself(l[p]))
            return tk_fail(s, TK_BAD_ARGUMENT,
                           "binding field '%s': by its strides elements of its %s overlap each other", f->desc->name,
                           plane_name(p));
        for (int q = TK_DATA; q < p; q++)
            if (tk_rt_spans_overlap(&l[p], &l[q]))
                return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': its %s overlaps its %s", f->desc->name,
                               plane_name(p), plane_name(q));
    }
    for (int p = TK_DATA; p < TK_PLANES_BOUND; p++) {
        const tk_status st = check_others(f, p, &l[p], is_written(f, p));
        if (st != TK_OK)
            return st;
    }
    return TK_OK;
}

/* ---- arrays of a kernel ---- */

/* Whether the kernel's run writes that plane of a field, as far as is known. */
static bool writes_plane(const tk_kernel *k, int field, int plane, bool back, bool along)
{
    const bool adjoint = tk_rt_is_adjoint(plane), tangent = tk_rt_is_tangent(plane);
    for (int i = 0; i < k->nparts; i++)
        if (k->parts[i].field == field && (int)k->parts[i].plane == plane && (k->parts[i].what & RT_WRITES) != 0)
            return true;
    return (adjoint || tangent) && (back || !adjoint) && (along || !tangent);
}

static bool writes_array(const tk_array_desc *d, int plane, bool back)
{
    const bool out = (d->what & TK_ARRAY_OUT) != 0, in = (d->what & TK_ARRAY_IN) != 0;
    return tk_rt_is_adjoint(plane) ? in : out && !back;
}

static tk_status fail_overlap(const tk_kernel *k, const tk_field *f, int p, const tk_field *other, int q)
{
    return tk_fail(f->module->session, TK_BAD_ARGUMENT,
                   "kernel '%s': the %s of the array '%s' overlaps the %s of '%s', and one of the two is written",
                   k->name, plane_name(p), f->desc->name, plane_name(q), other->desc->name);
}

/* Whether the array's own tangents are those of the field, as far as they lie in the same memory. */
static bool has_dual_of(const tk_field *array, const tk_field *f)
{
    return array->plane[RT_TANGENT] && f->plane[RT_TANGENT] &&
           (uintptr_t)array->plane[RT_TANGENT] - (uintptr_t)f->plane[RT_TANGENT] ==
               (uintptr_t)array->plane[TK_DATA] - (uintptr_t)f->plane[TK_DATA];
}

/* An open tape, or forward scope, takes an array for a constant. What is in fields with derivatives is none. */
static tk_status check_constant(const tk_kernel *k, const tk_field *array, tk_plane plane)
{
    tk_session *s = array->module->session;
    const rt_span l = span_of_plane(array, TK_DATA);
    for (tk_module *m = s->modules; m; m = m->next)
        for (int n = 0; n < m->desc->nfields; n++) {
            const tk_field *f = &m->fields[n];
            const rt_span there = span_of_plane(f, TK_DATA);
            const bool derived = f->plane[plane] || tk_rt_wide(f, plane);
            if (derived && tk_rt_spans_overlap(&l, &there) && !(tk_rt_is_tangent(plane) && has_dual_of(array, f)))
                return tk_fail(s, TK_NO_DERIVATIVE,
                               "kernel '%s' of module '%s': the array '%s' is memory of the field '%s.%s', which has a "
                               "%s, and %s takes an array for a constant: "
                               "use the field in the kernel, or pass a copy",
                               k->name, array->module->desc->name, array->desc->name, m->desc->name, f->desc->name,
                               plane_name(plane), tk_rt_is_adjoint(plane) ? "a tape" : "a forward scope");
        }
    return TK_OK;
}

static tk_status check_constants(tk_module *m, const tk_kernel *k, bool along)
{
    const tk_session *s = m->session;
    const bool taped = s->tape.open && !s->tape.replaying && (k->grad || k->no_grad),
               carried = s->forward.open && along;
    tk_status st = TK_OK;
    for (int i = 0; i < k->narrays && !s->in_call && st == TK_OK; i++) {
        const tk_field *f = &m->fields[k->arrays[i].field];
        if (taped && tk_rt_is_float(f))
            st = check_constant(k, f, RT_ADJOINT);
        if (carried && tk_rt_is_float(f) && st == TK_OK)
            st = check_constant(k, f, RT_TANGENT);
    }
    return st;
}

tk_status tk_rt_arrays_check(tk_module *m, const tk_kernel *k, bool back, bool along)
{
    const tk_status st = check_constants(m, k, along);
    if (st != TK_OK)
        return st;
    for (int i = 0; i < k->narrays; i++) {
        const tk_field *f = &m->fields[k->arrays[i].field];
        for (int p = TK_DATA; p < TK_PLANE_COUNT; p++) {
            if (!f->plane[p])
                continue;
            const rt_span l = span_of_plane(f, p);
            const bool written = writes_array(&k->arrays[i], p, back);
            for (int n = 0; n < m->desc->nfields; n++)
                for (int q = TK_DATA; q < TK_PLANE_COUNT; q++) {
                    if (!m->fields[n].plane[q])
                        continue;
                    const rt_span there = span_of_plane(&m->fields[n], q);
                    if (tk_rt_spans_overlap(&l, &there) && (written || writes_plane(k, n, q, back, along)))
                        return fail_overlap(k, f, p, &m->fields[n], q);
                }
            for (int n = 0; n <= i; n++)
                for (int q = TK_DATA; q < (n < i ? TK_PLANE_COUNT : p); q++) {
                    const rt_span there = span_of_plane(&m->fields[k->arrays[n].field], q);
                    if (tk_rt_spans_overlap(&l, &there) && (written || writes_array(&k->arrays[n], q, back)))
                        return fail_overlap(k, f, p, &m->fields[k->arrays[n].field], q);
                }
        }
    }
    return TK_OK;
}

/* ---- the interface ---- */

static tk_status check_closed(const tk_field *f)
{
    tk_session *s = f->module->session;
    const tk_status st = tk_rt_check_idle(s, "binding");
    if (st != TK_OK)
        return st;
    if (s->tape.open || s->forward.open)
        return tk_fail(s, TK_BAD_STATE, "binding field '%s' is not possible while a %s is open", f->desc->name,
                       s->tape.open ? "tape" : "forward scope");
    return TK_OK;
}

static tk_status bind(tk_field *f, void *const *given, const int64_t *const *strides)
{
    tk_session *s = f->module->session;
    RT_ENTER(s, f->desc->name, TK_BAD_STATE);
    tk_status st = check_closed(f);
    if (st != TK_OK)
        return st;
    if (tk_rt_shares_memory(f))
        return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%s': a member is bound together with its structs",
                       f->desc->name);
    int64_t stride[TK_PLANES_BOUND][8] = {{0}};
    for (int p = TK_DATA; p < TK_PLANES_BOUND; p++) {
        if (strides && strides[p])
            memcpy(stride[p], strides[p], (size_t)f->desc->ndim * sizeof stride[p][0]);
        else
            tk_rt_plain_strides(f, stride[p]);
    }
    st = check_given(f, given);
    if (st == TK_OK)
        st = check_overlap(f, given, stride);
    if (st != TK_OK)
        return st;
    for (int p = TK_DATA; p < TK_PLANES_BOUND; p++) {
        if (!given[p])
            continue;
        f->plane[p] = given[p];
        memcpy(f->stride[p], stride[p], sizeof stride[p]);
    }
    /* a plane without bytes may stay where it was: then the block that it points into must stay too */
    if (tk_field_bytes(f) > 0) {
        tk_rt_free(s, f->own[0]);
        f->own[0] = NULL;
    }
    f->bound = true;
    return TK_OK;
}

tk_status tk_field_bind(tk_field *f, void *data, void *grad, void *dual)
{
    void *const given[] = {data, grad, dual};
    return f ? bind(f, given, NULL) : tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_field_bind: the field is NULL");
}

tk_status tk_field_bind_strided(tk_field *f, void *const *given, const int64_t *const *strides)
{
    if (!f)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_field_bind_strided: the field is NULL");
    if (!tk_rt_takes_strides(f))
        return tk_fail(f->module->session, TK_BAD_ARGUMENT,
                       "binding field '%s' with strides: it is not declared strided", f->desc->name);
    return bind(f, given, strides);
}

/* ---- arrays of structs ---- */

typedef struct struct_bind {
    tk_field *lead;
    int n;                          /* members */
    rt_span whole[TK_PLANES_BOUND]; /* of all structs, by plane */
} struct_bind;

static tk_status check_structs(const struct_bind *b, void *const *given)
{
    tk_session *s = b->lead->module->session;
    for (int p = TK_DATA; p < TK_PLANES_BOUND; p++) {
        bool has = false, written = false;
        size_t align = 1;
        for (int k = 0; k < b->n; k++) {
            const size_t bytes = tk_rt_scalar_bytes(b->lead[k].desc->elem);
            has = has || b->lead[k].plane[p];
            written = written || is_written(&b->lead[k], p);
            align = bytes > align ? bytes : align;
        }
        if (has && !given[p] && b->lead->count > 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%.*s': the %s is NULL", tk_rt_whole_name(b->lead),
                           b->lead->desc->name, plane_name(p));
        if (!has && given[p])
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%.*s': there is no %s", tk_rt_whole_name(b->lead),
                           b->lead->desc->name, plane_name(p));
        if ((uintptr_t)given[p] % align != 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%.*s': the %s is not aligned to %zu bytes",
                           tk_rt_whole_name(b->lead), b->lead->desc->name, plane_name(p), align);
        for (int q = TK_DATA; q < p; q++)
            if (tk_rt_spans_overlap(&b->whole[p], &b->whole[q]))
                return tk_fail(s, TK_BAD_ARGUMENT, "binding field '%.*s': the %s overlaps the %s",
                               tk_rt_whole_name(b->lead), b->lead->desc->name, plane_name(p), plane_name(q));
        const tk_status st = given[p] ? check_others(b->lead, p, &b->whole[p], written) : TK_OK;
        if (st != TK_OK)
            return st;
    }
    return TK_OK;
}

tk_status tk_field_bind_structs(tk_field *f, void *data, void *grad, void *dual)
{
    if (!f)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_field_bind_structs: the field is NULL");
    RT_ENTER(f->module->session, f->desc->name, TK_BAD_STATE);
    tk_status st = check_closed(f);
    if (st != TK_OK)
        return st;
    if (!tk_rt_shares_memory(f))
        return tk_fail(f->module->session, TK_BAD_ARGUMENT, "binding the structs of field '%s': it is no member of any",
                       f->desc->name);
    void *const given[] = {data, grad, dual};
    struct_bind b = {.lead = tk_rt_owner(f), .n = tk_rt_sharers(tk_rt_owner(f))};
    for (int p = TK_DATA; p < TK_PLANES_BOUND; p++)
        b.whole[p] = tk_rt_span_of_memory(b.lead, given[p]);
    st = check_structs(&b, given);
    if (st != TK_OK)
        return st;
    for (int k = 0; k < b.n; k++) {
        for (int p = TK_DATA; p < TK_PLANES_BOUND; p++)
            if (given[p] && b.lead[k].plane[p])
                b.lead[k].plane[p] = tk_rt_placed(&b.lead[k], given[p]);
        b.lead[k].bound = true;
    }
    if (tk_rt_memory_bytes(b.lead) > 0) {
        tk_rt_free(f->module->session, b.lead->own[0]);
        b.lead->own[0] = NULL;
    }
    return TK_OK;
}
