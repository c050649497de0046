/* Arrays of the host among a kernel's arguments: fields of the module while the kernel runs. */
#include "rt.h"

static tk_array array_of(const tk_array_desc *d, const void *args)
{
    tk_array a;
    memcpy(&a, (const unsigned char *)args + d->at, sizeof a);
    return a;
}

static tk_status set_shape(tk_field *f, const tk_array_desc *d, const tk_kernel *k, const void *args)
{
    tk_session *s = f->module->session;
    int64_t scalars = f->desc->ncomp, bytes;
    f->count = 1;
    for (int i = 0; i < f->desc->ndim; i++) {
        memcpy(&f->shape[i], (const unsigned char *)args + d->extents[i], sizeof f->shape[i]);
        if (f->shape[i] < 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "kernel '%s': extent %d of the array '%s' is negative (%lld)", k->name, i, f->desc->name, (long long)f->shape[i]);
        if (__builtin_mul_overflow(scalars, f->shape[i], &scalars))
            return tk_fail(s, TK_BAD_ARGUMENT, "kernel '%s': the array '%s' has too many elements", k->name, f->desc->name);
        f->count *= f->shape[i];
    }
    if (__builtin_mul_overflow(scalars, (int64_t)rt_scalar_bytes(f->desc->elem) * 16, &bytes))
        return tk_fail(s, TK_BAD_ARGUMENT, "kernel '%s': the array '%s' has too many elements", k->name, f->desc->name);
    for (int p = TK_DATA; p <= TK_GRAD_DUAL; p++)
        rt_dense_strides(f, f->stride[p]);
    return TK_OK;
}

/* Zeros stand for a gradient or dual that is not given, and take one that is not wanted. */
static tk_status set_planes(tk_field *f, const tk_array_desc *d, const tk_kernel *k, const void *args, const bool *used)
{
    tk_session *s = f->module->session;
    const tk_array given = array_of(d, args);
    const size_t bytes = tk_field_bytes(f), align = rt_scalar_bytes(f->desc->elem);
    for (int p = TK_DATA; p <= TK_GRAD_DUAL; p++) {
        f->plane[p] = used[p] ? given.plane[p] : NULL;
        if ((uintptr_t)f->plane[p] % align != 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "kernel '%s': the array '%s' is not aligned to %zu bytes", k->name, f->desc->name, align);
        if (!used[p] || f->plane[p])
            continue;
        if (p == TK_DATA && bytes > 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "kernel '%s': the array '%s' is NULL", k->name, f->desc->name);
        f->plane[p] = tk_scratch(s, bytes);
        if (!f->plane[p])
            return tk_session_status(s);
        memset(f->plane[p], 0, bytes);
    }
    return TK_OK;
}

tk_status rt_arrays_bind(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, const void *args)
{
    const bool along = fn != k->run && (fn == k->jvp || fn == k->hvp), back = fn != k->run && (fn == k->grad || fn == k->hvp);
    for (int i = 0; i < k->narrays; i++) {
        tk_field *f = &m->fields[k->arrays[i].field];
        const bool grad = back && (f->desc->flags & TK_FIELD_GRAD) != 0, dual = along && (f->desc->flags & TK_FIELD_DUAL) != 0;
        const bool used[] = {true, grad, dual, grad && along};
        tk_status st = set_shape(f, &k->arrays[i], k, args);
        if (st == TK_OK)
            st = set_planes(f, &k->arrays[i], k, args, used);
        if (st != TK_OK)
            return st;
    }
    return rt_arrays_check(m, k, back, along);
}

void rt_arrays_unbind(tk_module *m, const tk_kernel *k)
{
    for (int i = 0; i < k->narrays; i++) {
        tk_field *f = &m->fields[k->arrays[i].field];
        rt_watch_free(f);
        memset(f->plane, 0, sizeof f->plane);
        memset(f->shape, 0, sizeof f->shape);
        f->count = 0;
    }
}

tk_status rt_arrays_refuse_results(tk_module *m, const tk_kernel *k, const char *where)
{
    if (k->result)
        return tk_fail(m->session, TK_NO_DERIVATIVE, "kernel '%s' of module '%s' has a result, of which %s knows no derivative: make it a field", k->name,
                       m->desc->name, where);
    for (int i = 0; i < k->narrays; i++) {
        const tk_field *f = &m->fields[k->arrays[i].field];
        if ((k->arrays[i].what & TK_ARRAY_OUT) != 0 && (f->desc->flags & TK_FIELD_DUAL) != 0)
            return tk_fail(m->session, TK_NO_DERIVATIVE,
                           "kernel '%s' of module '%s' writes the array '%s' of the host, of which %s knows no derivative: make it a field (bound to your memory)",
                           k->name, m->desc->name, f->desc->name, where);
    }
    return TK_OK;
}

/* FNV-1a over the bytes of all of them. */
uint64_t rt_arrays_hash(const tk_module *m, const tk_kernel *k, const void *args)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < k->narrays; i++) {
        const tk_field_desc *f = &m->desc->fields[k->arrays[i].field];
        const unsigned char *data = array_of(&k->arrays[i], args).plane[TK_DATA];
        size_t n = (size_t)f->ncomp * rt_scalar_bytes(f->elem);
        for (int d = 0; d < f->ndim; d++) {
            int64_t extent;
            memcpy(&extent, (const unsigned char *)args + k->arrays[i].extents[d], sizeof extent);
            n *= (size_t)extent;
        }
        for (size_t b = 0; b < n && (k->arrays[i].what & TK_ARRAY_OUT) == 0; b++)
            h = (h ^ data[b]) * 0x100000001b3u;
    }
    return h;
}
