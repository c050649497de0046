/* The layout of fields: where the components of their elements stand, how many bytes a plane takes, and which. It
 * mirrors compiler/codegen/layout.c; nothing else in libtkc asks how a field's elements lie. */
#include "rt.h"

static bool is_apart(const tk_field *f)
{
    return (f->desc->flags & TK_FIELD_SOA) != 0;
}

static int64_t element_bytes(const tk_field *f)
{
    return (int64_t)f->desc->ncomp * (int64_t)tk_rt_scalar_bytes(f->desc->elem);
}

/* Not one after the other, row-major: strides tell where elements stand. */
static bool has_gaps(const tk_field *f)
{
    return tk_rt_takes_strides(f) || f->member;
}

/* ---- numbers of components ---- */

int64_t tk_rt_number(const tk_field *f, int64_t element, int64_t c)
{
    return is_apart(f) ? c * f->count + element : element * f->desc->ncomp + c;
}

int64_t tk_rt_element(const tk_field *f, int64_t component, int64_t *c)
{
    *c = is_apart(f) ? component / f->count : component % f->desc->ncomp;
    return is_apart(f) ? component % f->count : component / f->desc->ncomp;
}

/* ---- sizes and strides ---- */

bool tk_rt_takes_strides(const tk_field *f)
{
    return (f->desc->flags & TK_FIELD_STRIDED) != 0;
}

size_t tk_rt_alignment(const tk_field *f)
{
    return tk_rt_takes_strides(f) ? 1 : tk_rt_scalar_bytes(f->desc->elem);
}

size_t tk_rt_element_step(const tk_field *f)
{
    return f->member ? f->member->size : (size_t)element_bytes(f);
}

/* Row-major, elements `step` bytes apart. */
static void set_strides(const tk_field *f, int64_t step, int64_t *stride)
{
    for (int d = f->desc->ndim - 1; d >= 0; d--) {
        stride[d] = step;
        step *= f->shape[d];
    }
}

void tk_rt_plain_strides(const tk_field *f, int64_t *stride)
{
    set_strides(f, (int64_t)tk_rt_element_step(f), stride);
}

static bool mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out) && *out <= SIZE_MAX / 16;
}

bool tk_rt_set_shape(tk_field *f)
{
    size_t scalars = (size_t)f->desc->ncomp, bytes;
    f->count = 1;
    for (int d = 0; d < f->desc->ndim; d++) {
        if (!mul_size(scalars, (size_t)f->shape[d], &scalars))
            return false;
        f->count *= f->shape[d];
    }
    if (!mul_size(scalars, tk_rt_scalar_bytes(f->desc->elem), &bytes) ||
        !mul_size((size_t)f->count, tk_rt_element_step(f), &bytes))
        return false;
    for (int p = TK_DATA; p < TK_PLANE_COUNT; p++)
        tk_rt_plain_strides(f, f->stride[p]);
    return true;
}

size_t tk_rt_memory_bytes(const tk_field *f)
{
    return (size_t)f->count * tk_rt_element_step(f);
}

/* ---- memory of several fields ---- */

void tk_rt_set_members(tk_module *m)
{
    for (int k = 0; k < m->desc->nmembers; k++)
        m->fields[m->desc->members[k].field].member = &m->desc->members[k];
}

bool tk_rt_shares_memory(const tk_field *f)
{
    return f->member != NULL;
}

tk_field *tk_rt_owner(const tk_field *f)
{
    return &f->module->fields[f->member ? f->member->lead : f - f->module->fields];
}

int tk_rt_sharers(const tk_field *owner)
{
    const tk_module_desc *d = owner->module->desc;
    int n = 0;
    for (const tk_member *k = owner->member; k && k < d->members + d->nmembers && k->lead == owner->member->lead; k++)
        n++;
    return n ? n : 1;
}

void *tk_rt_placed(const tk_field *f, void *memory)
{
    return memory && f->member ? (unsigned char *)memory + f->member->offset : memory;
}

int tk_rt_whole_name(const tk_field *f)
{
    return (int)(f->member ? strcspn(f->desc->name, ".") : strlen(f->desc->name));
}

void *tk_field_structs(const tk_field *f, tk_plane plane)
{
    return f->plane[plane] ? (unsigned char *)f->plane[plane] - f->member->offset : NULL;
}

void *tk_rt_memory(const tk_field *f, tk_plane plane)
{
    return f->member ? tk_field_structs(f, plane) : f->plane[plane];
}

void *tk_field_component(const tk_field *f, tk_plane plane, int component)
{
    const size_t before = (size_t)component * (size_t)f->count * tk_rt_scalar_bytes(f->desc->elem);
    return f->plane[plane] ? (unsigned char *)f->plane[plane] + before : NULL;
}

/* ---- addresses ---- */

bool tk_rt_elements_dense(const tk_field *f, tk_plane plane, size_t element)
{
    int64_t dense[8];
    if (!has_gaps(f))
        return true;
    set_strides(f, (int64_t)element, dense);
    return memcmp(dense, f->stride[plane], (size_t)f->desc->ndim * sizeof *dense) == 0;
}

bool tk_rt_is_dense(const tk_field *f, tk_plane plane)
{
    return tk_rt_elements_dense(f, plane, (size_t)element_bytes(f));
}

bool tk_rt_is_row_major(const tk_field *f, tk_plane plane)
{
    return tk_rt_is_dense(f, plane) && !is_apart(f);
}

bool tk_rt_is_aligned(const tk_field *f, tk_plane plane)
{
    const int64_t size = (int64_t)tk_rt_scalar_bytes(f->desc->elem);
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

void *tk_rt_component(const tk_field *f, tk_plane plane, int64_t component)
{
    const int64_t size = (int64_t)tk_rt_scalar_bytes(f->desc->elem), ncomp = f->desc->ncomp;
    if (!has_gaps(f))
        return (unsigned char *)f->plane[plane] + component * size;
    return element_at(f, plane, component / ncomp) + component % ncomp * size;
}

static inline __attribute__((always_inline)) void
copy_sized(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step, int64_t n, size_t bytes)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_step, from + i * from_step, bytes);
}

/* A row of elements. Where their size is a constant, the compiler spells the copy of one out. */
static void copy_row(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step, int64_t n,
                     size_t bytes)
{
    switch (bytes) {
    case 4:
        copy_sized(to, to_step, from, from_step, n, 4);
        return;
    case 8:
        copy_sized(to, to_step, from, from_step, n, 8);
        return;
    case 12:
        copy_sized(to, to_step, from, from_step, n, 12);
        return;
    case 16:
        copy_sized(to, to_step, from, from_step, n, 16);
        return;
    case 24:
        copy_sized(to, to_step, from, from_step, n, 24);
        return;
    case 36:
        copy_sized(to, to_step, from, from_step, n, 36);
        return;
    case 72:
        copy_sized(to, to_step, from, from_step, n, 72);
        return;
    default:
        copy_sized(to, to_step, from, from_step, n, bytes);
    }
}

/* Between a plane with gaps and dense memory. */
static void copy_rows(const tk_field *f, tk_plane plane, size_t element, unsigned char *dense, bool back)
{
    const int64_t bytes = (int64_t)element, row = f->shape[f->desc->ndim - 1],
                  step = f->stride[plane][f->desc->ndim - 1];
    for (int64_t i = 0; i < f->count; i += row, dense += row * bytes) {
        unsigned char *const at = element_at(f, plane, i);
        copy_row(back ? at : dense, back ? step : bytes, back ? dense : at, back ? bytes : step, row, element);
    }
}

void tk_rt_elements_read(const tk_field *f, tk_plane plane, size_t element, void *to)
{
    const size_t bytes = (size_t)f->count * element;
    if (!tk_rt_elements_dense(f, plane, element))
        copy_rows(f, plane, element, to, false);
    else if (bytes > 0)
        memcpy(to, f->plane[plane], bytes);
}

void tk_rt_elements_write(const tk_field *f, tk_plane plane, size_t element, const void *from)
{
    const size_t bytes = (size_t)f->count * element;
    if (!tk_rt_elements_dense(f, plane, element))
        copy_rows(f, plane, element, (unsigned char *)from, true);
    else if (bytes > 0)
        memcpy(f->plane[plane], from, bytes);
}

bool tk_rt_elements_continue(const tk_field *f, size_t element, const tk_field *next, tk_plane plane)
{
    return f->member && next->member && f->member->lead == next->member->lead &&
           (unsigned char *)next->plane[plane] == (unsigned char *)f->plane[plane] + element &&
           memcmp(f->stride[plane], next->stride[plane], (size_t)f->desc->ndim * sizeof f->stride[plane][0]) == 0;
}

void tk_rt_plane_read(const tk_field *f, tk_plane plane, void *to)
{
    tk_rt_elements_read(f, plane, (size_t)element_bytes(f), to);
}

void tk_rt_plane_write(const tk_field *f, tk_plane plane, const void *from)
{
    tk_rt_elements_write(f, plane, (size_t)element_bytes(f), from);
}

void tk_rt_elements_clear(const tk_field *f, tk_plane plane, int64_t lo, int64_t hi)
{
    for (int64_t i = lo; i < hi; i++)
        memset(element_at(f, plane, i), 0, (size_t)element_bytes(f));
}

/* ---- elements by number ---- */

/* Its first component; *step: from a component to the next. */
static unsigned char *first_component(const tk_field *f, tk_plane plane, int64_t element, int64_t *step)
{
    const int64_t size = (int64_t)tk_rt_scalar_bytes(f->desc->elem);
    *step = is_apart(f) ? f->count * size : size;
    if (has_gaps(f))
        return element_at(f, plane, element);
    return (unsigned char *)f->plane[plane] + element * (is_apart(f) ? size : element_bytes(f));
}

void tk_field_pack(const tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, void *to)
{
    const size_t size = tk_rt_scalar_bytes(f->desc->elem), bytes = (size_t)element_bytes(f);
    unsigned char *at = to;
    for (int64_t i = 0, step; i < n; i++) {
        const unsigned char *from = first_component(f, plane, elements ? elements[i] : i, &step);
        for (size_t c = 0; step != (int64_t)size && c < bytes; c += size, from += step)
            memcpy(at + c, from, size);
        if (step == (int64_t)size)
            memcpy(at, from, bytes);
        at += bytes;
    }
}

void tk_field_unpack(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, const void *from)
{
    const size_t size = tk_rt_scalar_bytes(f->desc->elem), bytes = (size_t)element_bytes(f);
    const unsigned char *at = from;
    for (int64_t i = 0, step; i < n; i++) {
        unsigned char *to = first_component(f, plane, elements ? elements[i] : i, &step);
        for (size_t c = 0; step != (int64_t)size && c < bytes; c += size, to += step)
            memcpy(to, at + c, size);
        if (step == (int64_t)size)
            memcpy(to, at, bytes);
        at += bytes;
    }
}

static void add_scalar(bool single, unsigned char *to, const unsigned char *from)
{
    float x, y;
    double u, v;
    if (single) {
        memcpy(&x, to, sizeof x);
        memcpy(&y, from, sizeof y);
        x += y;
        memcpy(to, &x, sizeof x);
    } else {
        memcpy(&u, to, sizeof u);
        memcpy(&v, from, sizeof v);
        u += v;
        memcpy(to, &u, sizeof u);
    }
}

void tk_field_unpack_add(tk_field *f, tk_plane plane, const int64_t *elements, int64_t n, const void *from)
{
    const size_t size = tk_rt_scalar_bytes(f->desc->elem);
    const unsigned char *at = from;
    for (int64_t i = 0, step; i < n; i++) {
        unsigned char *to = first_component(f, plane, elements ? elements[i] : i, &step);
        for (int c = 0; c < f->desc->ncomp; c++, to += step, at += size)
            add_scalar(f->desc->elem == TK_F32, to, at);
    }
}

/* ---- which bytes a plane takes ---- */

bool tk_rt_span_of(const tk_field *f, void *base, const int64_t *stride, rt_span *l)
{
    const int64_t element = element_bytes(f);
    *l = (rt_span){.base = (uintptr_t)base, .block = element};
    if (f->count == 0 || !base)
        return true;
    l->hi = element;
    for (int d = 0; d < f->desc->ndim; d++) {
        int64_t span;
        if (__builtin_mul_overflow(stride[d], f->shape[d] - 1, &span))
            return false;
        if (__builtin_add_overflow(span < 0 ? l->lo : l->hi, span, span < 0 ? &l->lo : &l->hi))
            return false;
        if (f->shape[d] == 1)
            continue;
        l->stride[l->ndim] = stride[d];
        l->extent[l->ndim++] = f->shape[d];
    }
    for (int d = 0; d < l->ndim; d++) {
        if (l->stride[d] != l->block)
            continue;
        l->block *= l->extent[d];
        l->ndim--;
        l->stride[d] = l->stride[l->ndim];
        l->extent[d] = l->extent[l->ndim];
        d = -1; /* another one may continue it now */
    }
    return l->hi <= INT64_MAX / 8 && l->lo >= -(INT64_MAX / 8);
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

rt_span tk_rt_span_of_memory(const tk_field *f, void *memory)
{
    const int64_t bytes = (int64_t)tk_rt_memory_bytes(f);
    return (rt_span){.base = (uintptr_t)memory, .hi = memory ? bytes : 0, .block = bytes};
}

/* Each stride must step over all that smaller ones cover. */
bool tk_rt_span_overlaps_itself(rt_span l)
{
    int64_t covered = l.block;
    while (l.ndim > 0) {
        int least = 0;
        for (int d = 1; d < l.ndim; d++)
            if (magnitude(l.stride[d]) < magnitude(l.stride[least]))
                least = d;
        if (magnitude(l.stride[least]) < covered)
            return true;
        covered += magnitude(l.stride[least]) * (l.extent[least] - 1);
        l.ndim--;
        l.stride[least] = l.stride[l.ndim];
        l.extent[least] = l.extent[l.ndim];
    }
    return false;
}

static int64_t common_period(const rt_span *a, int64_t period)
{
    for (int d = 0; d < a->ndim; d++)
        for (int64_t x = magnitude(a->stride[d]); x != 0;) {
            const int64_t rest = period % x;
            period = x;
            x = rest;
        }
    return period;
}

/* Members of one struct in an array lie in one range, but at places of their own in the common period of strides. */
bool tk_rt_spans_overlap(const rt_span *a, const rt_span *b)
{
    if (a->lo == a->hi || b->lo == b->hi)
        return false;
    const uintptr_t from_a = a->base + (uintptr_t)a->lo, from_b = b->base + (uintptr_t)b->lo;
    if (from_a >= b->base + (uintptr_t)b->hi || from_b >= a->base + (uintptr_t)a->hi)
        return false;
    const int64_t period = common_period(b, common_period(a, 0));
    if (period == 0)
        return true;
    const uintptr_t n = (uintptr_t)period;
    const int64_t apart = (int64_t)((b->base % n + n - a->base % n) % n);
    return a->block > apart || b->block > period - apart;
}
