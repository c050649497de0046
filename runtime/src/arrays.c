/* Arrays of the host among a kernel's arguments: fields of the module while the kernel runs. */
#include "rt.h"

static tk_array array_of(const tk_array_desc *d, const void *args)
{
    tk_array a;
    memcpy(&a, (const unsigned char *)args + d->at, sizeof a);
    return a;
}

/* An integer of that type. */
static int64_t read_integer(const void *at, tk_scalar type)
{
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        int64_t i64;
    } v = {0};
    memcpy(&v, at, tk_rt_scalar_bytes(type));
    switch (type) {
    case TK_I8:
        return v.i8;
    case TK_U8:
        return v.u8;
    case TK_I16:
        return v.i16;
    case TK_U16:
        return v.u16;
    case TK_I32:
        return v.i32;
    case TK_U32:
        return v.u32;
    default:
        return v.i64;
    }
}

static int64_t extent_of(const tk_module *m, const tk_array_desc *d, int dim, const void *args)
{
    const tk_array_extent *e = &d->extents[dim];
    switch (e->kind) {
    case TK_EXTENT_ARGUMENT:
        return read_integer((const unsigned char *)args + e->at, TK_I64);
    case TK_EXTENT_PARAM:
        return read_integer((const unsigned char *)m + e->at, e->type);
    case TK_EXTENT_CONSTANT:
        break;
    }
    return e->count;
}

static tk_status set_shape(tk_field *f, const tk_array_desc *d, const tk_kernel *k, const void *args)
{
    tk_session *s = f->module->session;
    for (int i = 0; i < f->desc->ndim; i++) {
        f->shape[i] = extent_of(f->module, d, i, args);
        if (f->shape[i] < 0)
            return tk_fail(s, TK_BAD_ARGUMENT, "kernel '%s': extent %d of the array '%s' is negative (%lld)", k->name,
                           i, f->desc->name, (long long)f->shape[i]);
    }
    return tk_rt_set_shape(f) ? TK_OK
                              : tk_fail(s, TK_BAD_ARGUMENT, "kernel '%s': the array '%s' has too many elements",
                                        k->name, f->desc->name);
}

/* Zeros stand for a gradient or dual that is not given, and take one that is not wanted. */
static tk_status make_plane(const tk_field *f, const tk_array_desc *d, tk_plane p, size_t bytes, void **plane)
{
    tk_session *s = f->module->session;
    const void *given = *plane;
    if (given && !((d->what & TK_ARRAY_COPIED) && tk_rt_is_adjoint(p)))
        return TK_OK;
    *plane = tk_scratch(s, bytes);
    if (!*plane)
        return tk_session_status(s);
    if (given)
        memcpy(*plane, given, bytes);
    else
        memset(*plane, 0, bytes);
    return TK_OK;
}

/* Those of the n fields from number i on that this run uses: all have data. */
static tk_status set_planes(tk_module *m, const tk_kernel *k, int i, int n, const void *args, bool back, bool along)
{
    const tk_array_desc *d = &k->arrays[i];
    const tk_field *lead = &m->fields[d->field];
    const char *name = lead->desc->name;
    const int length = tk_rt_whole_name(lead);
    const tk_array given = array_of(d, args);
    const size_t bytes = tk_rt_memory_bytes(lead);
    for (int p = TK_DATA; p < TK_PLANE_COUNT; p++) {
        const unsigned needs = tk_rt_plane_needs(p);
        const bool runs = (back || !tk_rt_is_adjoint(p)) && (along || !tk_rt_is_tangent(p));
        void *plane = given.plane[p];
        bool any = false;
        if (p == TK_DATA && !plane && bytes > 0)
            return tk_fail(m->session, TK_BAD_ARGUMENT, "kernel '%s': the array '%.*s' is NULL", k->name, length, name);
        for (int q = 0; q < n; q++) {
            tk_field *f = &m->fields[k->arrays[i + q].field];
            const size_t align = tk_rt_scalar_bytes(f->desc->elem);
            f->plane[p] = NULL;
            if (!runs || (f->desc->flags & needs) != needs)
                continue;
            if ((uintptr_t)plane % align != 0)
                return tk_fail(m->session, TK_BAD_ARGUMENT, "kernel '%s': the array '%.*s' is not aligned to %zu bytes",
                               k->name, length, name, align);
            const tk_status st = any ? TK_OK : make_plane(lead, d, (tk_plane)p, bytes, &plane);
            if (st != TK_OK)
                return st;
            any = true;
            f->plane[p] = tk_rt_placed(f, plane);
        }
    }
    return TK_OK;
}

tk_status tk_rt_arrays_bind(tk_module *m, const tk_kernel *k, tk_kernel_fn fn, const void *args)
{
    const bool along = fn != k->run && (fn == k->jvp || fn == k->hvp),
               back = fn != k->run && (fn == k->grad || fn == k->hvp);
    for (int i = 0, n; i < k->narrays; i += n) {
        n = tk_rt_sharers(&m->fields[k->arrays[i].field]); /* of structs, a field for each member */
        tk_status st = TK_OK;
        for (int q = 0; q < n && st == TK_OK; q++)
            st = set_shape(&m->fields[k->arrays[i + q].field], &k->arrays[i + q], k, args);
        if (st == TK_OK)
            st = set_planes(m, k, i, n, args, back, along);
        if (st != TK_OK)
            return st;
    }
    return tk_rt_arrays_check(m, k, back, along);
}

void tk_rt_arrays_unbind(tk_module *m, const tk_kernel *k)
{
    for (int i = 0; i < k->narrays; i++) {
        tk_field *f = &m->fields[k->arrays[i].field];
        tk_rt_watch_free(f);
        memset(f->plane, 0, sizeof f->plane);
        memset(f->shape, 0, sizeof f->shape);
        f->count = 0;
    }
}

tk_status tk_rt_arrays_refuse_results(tk_module *m, const tk_kernel *k, const char *where)
{
    if (k->result)
        return tk_fail(m->session, TK_NO_DERIVATIVE,
                       "kernel '%s' of module '%s' has a result, of which %s knows no derivative: make it a field",
                       k->name, m->desc->name, where);
    for (int i = 0; i < k->narrays; i++) {
        const tk_field *f = &m->fields[k->arrays[i].field];
        if ((k->arrays[i].what & TK_ARRAY_OUT) != 0 && (f->desc->flags & tk_rt_plane_needs(RT_TANGENT)) != 0)
            return tk_fail(m->session, TK_NO_DERIVATIVE,
                           "kernel '%s' of module '%s' writes the array '%s' of the host, of which %s knows no "
                           "derivative: make it a field (bound to your memory)",
                           k->name, m->desc->name, f->desc->name, where);
    }
    return TK_OK;
}

/* FNV-1a over the bytes of all of them. */
uint64_t tk_rt_arrays_hash(const tk_module *m, const tk_kernel *k, const void *args)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < k->narrays; i++) {
        const tk_field_desc *f = &m->desc->fields[k->arrays[i].field];
        const tk_field *array = &m->fields[k->arrays[i].field];
        const unsigned char *data = tk_rt_placed(array, array_of(&k->arrays[i], args).plane[TK_DATA]);
        const size_t each = (size_t)f->ncomp * tk_rt_scalar_bytes(f->elem), step = tk_rt_element_step(array);
        size_t n = (k->arrays[i].what & TK_ARRAY_OUT) ? 0 : 1;
        for (int d = 0; d < f->ndim; d++)
            n *= (size_t)extent_of(m, &k->arrays[i], d, args);
        for (size_t e = 0; e < n; e++)
            for (size_t b = 0; b < each; b++)
                h = (h ^ data[e * step + b]) * 0x100000001b3u;
    }
    return h;
}
