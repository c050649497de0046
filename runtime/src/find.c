/* Fields and kernels found by name, read, written and launched as numbers, for code that knows no generated type. */
#include "rt.h"

static tk_field *next_in_module(tk_module *m, int index)
{
    for (; m; m = m->next, index = 0)
        if (index < m->desc->nfields)
            return &m->fields[index];
    return NULL;
}

tk_field *tk_field_next(tk_session *s, const tk_field *before)
{
    if (!s)
        return NULL;
    RT_ENTER(s, "tk_field_next", NULL);
    return before ? next_in_module(before->module, (int)(before - before->module->fields) + 1)
                  : next_in_module(s->modules, 0);
}

/* "x", or "module.x". */
static bool is_called(const tk_module *m, const char *own, const char *name)
{
    const size_t n = strlen(m->desc->name);
    return !strcmp(name, own) || (!strncmp(name, m->desc->name, n) && name[n] == '.' && !strcmp(name + n + 1, own));
}

/* Which of two things called so is meant nobody knows. */
static bool is_only_one(const tk_module *found, const tk_module *other, const char *what, const char *name)
{
    if (!found)
        return true;
    tk_rt_thread_fail(TK_BAD_ARGUMENT, "'%s' is a %s of module '%s' and of module '%s'", name, what, found->desc->name,
                      other->desc->name);
    return false;
}

static bool can_look(const tk_session *s, const char *name, const char *what)
{
    if (!s || !name)
        tk_rt_thread_fail(TK_BAD_ARGUMENT, "%s: the session or the name is NULL", what);
    return s && name;
}

tk_field *tk_field_find(tk_session *s, const char *name)
{
    tk_field *found = NULL;
    if (!can_look(s, name, "tk_field_find"))
        return NULL;
    RT_ENTER(s, name, NULL);
    for (tk_field *f = tk_field_next(s, NULL); f; f = tk_field_next(s, f)) {
        if (!is_called(f->module, f->desc->name, name))
            continue;
        if (!is_only_one(found ? found->module : NULL, f->module, "field", name))
            return NULL;
        found = f;
    }
    if (!found)
        tk_rt_thread_fail(TK_BAD_ARGUMENT, "no module of the session has a field '%s'", name);
    return found;
}

const char *tk_field_module(const tk_field *f)
{
    return f ? f->module->desc->name : "";
}

tk_scalar tk_field_scalar(const tk_field *f)
{
    return f ? f->desc->elem : TK_BOOL;
}

int tk_field_components(const tk_field *f)
{
    return f ? f->desc->ncomp : 0;
}

int64_t tk_field_count(const tk_field *f)
{
    return f ? (int64_t)tk_rt_scalars(f) : 0;
}

/* ---- numbers ---- */

/* Components may stand unaligned in a strided field: everything goes by memcpy. */
#define CASES(OF) \
    OF(TK_BOOL, bool) \
    OF(TK_I8, int8_t) \
    OF(TK_I16, int16_t) \
    OF(TK_I32, int32_t) \
    OF(TK_I64, int64_t) \
    OF(TK_U8, uint8_t) \
    OF(TK_U16, uint16_t) \
    OF(TK_U32, uint32_t) \
    OF(TK_U64, uint64_t) \
    OF(TK_F32, float) \
    OF(TK_F64, double)

static double number_at(tk_scalar t, const void *at)
{
#define OF(NAME, TYPE) \
    case NAME: { \
        TYPE x; \
        memcpy(&x, at, sizeof x); \
        return (double)x; \
    }
    switch (t) {
        CASES(OF)
    }
#undef OF
    return 0.0;
}

/* Whether C may convert the number: out of an integer's range that would be undefined. */
static bool fits(tk_scalar t, double x)
{
    static const double bound[][2] = {
        [TK_BOOL] = {0.0, 2.0},           [TK_I8] = {-0x1p7, 0x1p7},        [TK_I16] = {-0x1p15, 0x1p15},
        [TK_I32] = {-0x1p31, 0x1p31},     [TK_I64] = {-0x1p63, 0x1p63},     [TK_U8] = {0.0, 0x1p8},
        [TK_U16] = {0.0, 0x1p16},         [TK_U32] = {0.0, 0x1p32},         [TK_U64] = {0.0, 0x1p64},
        [TK_F32] = {-INFINITY, INFINITY}, [TK_F64] = {-INFINITY, INFINITY},
    };
    if (t == TK_F32 || t == TK_F64)
        return true;
    return x >= bound[t][0] && x < bound[t][1] && x == floor(x);
}

static void set_number(tk_scalar t, void *at, double from)
{
#define OF(NAME, TYPE) \
    case NAME: { \
        const TYPE x = (TYPE)from; \
        memcpy(at, &x, sizeof x); \
        return; \
    }
    switch (t) {
        CASES(OF)
    }
#undef OF
}

static tk_status check_range(const tk_field *f, tk_plane plane, int64_t first, int64_t n, const char *what)
{
    tk_session *s = f->module->session;
    if ((unsigned)plane >= TK_PLANE_COUNT || !f->plane[plane])
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: field '%s' has no such memory", what, f->desc->name);
    const int64_t count = tk_field_count(f);
    if (n < 0 || first < 0 || first > count || n > count - first)
        return tk_fail(s, TK_BAD_ARGUMENT, "%s: %lld numbers from %lld on are not in field '%s', which has %lld", what,
                       (long long)n, (long long)first, f->desc->name, (long long)count);
    return TK_OK;
}

/* Number k of a field, row-major, the components of an element one after the other, wherever it stands. */
static void *place_of(const tk_field *f, tk_plane plane, int64_t k)
{
    return tk_rt_component(f, plane, tk_rt_number(f, k / f->desc->ncomp, k % f->desc->ncomp));
}

tk_status tk_field_get(const tk_field *f, tk_plane plane, int64_t first, int64_t n, double *values)
{
    if (!f || !values)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_field_get: the field or the values are NULL");
    RT_ENTER(f->module->session, f->desc->name, TK_BAD_STATE);
    const tk_status st = check_range(f, plane, first, n, "tk_field_get");
    for (int64_t k = 0; st == TK_OK && k < n; k++)
        values[k] = number_at(f->desc->elem, place_of(f, plane, first + k));
    return st;
}

tk_status tk_field_set(tk_field *f, tk_plane plane, int64_t first, int64_t n, const double *values)
{
    if (!f || !values)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_field_set: the field or the values are NULL");
    RT_ENTER(f->module->session, f->desc->name, TK_BAD_STATE);
    const tk_status st = check_range(f, plane, first, n, "tk_field_set");
    for (int64_t k = 0; st == TK_OK && k < n; k++)
        if (!fits(f->desc->elem, values[k]))
            return tk_fail(f->module->session, TK_BAD_ARGUMENT,
                           "tk_field_set: %g is no value of the integers of field '%s'", values[k], f->desc->name);
    for (int64_t k = 0; st == TK_OK && k < n; k++)
        set_number(f->desc->elem, place_of(f, plane, first + k), values[k]);
    return st;
}

/* ---- kernels ---- */

const tk_kernel *tk_kernel_at(const tk_module *m, int k)
{
    return m && k >= 0 && k < m->desc->nkernels ? &m->desc->kernels[k] : NULL;
}

const char *tk_kernel_name(const tk_kernel *k)
{
    return k ? k->name : "";
}

const tk_kernel *tk_kernel_find(tk_session *s, const char *name, tk_module **module)
{
    const tk_kernel *found = NULL;
    tk_module *of = NULL;
    if (!can_look(s, name, "tk_kernel_find"))
        return NULL;
    RT_ENTER(s, name, NULL);
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nkernels; i++) {
            if (!is_called(m, m->desc->kernels[i].name, name))
                continue;
            if (!is_only_one(of, m, "kernel", name))
                return NULL;
            found = &m->desc->kernels[i];
            of = m;
        }
    if (!found)
        tk_rt_thread_fail(TK_BAD_ARGUMENT, "no module of the session has a kernel '%s'", name);
    if (module)
        *module = of;
    return found;
}

int tk_kernel_numbers(const tk_kernel *k)
{
    int n = 0;
    if (k && k->narrays > 0)
        return -1;
    for (int i = 0; k && i < k->nparameters; i++)
        n += k->parameters[i].ncomp;
    return n;
}

const char *tk_kernel_number_name(const tk_kernel *k, int n)
{
    for (int i = 0; k && n >= 0 && i < k->nparameters; i++) {
        if (n < k->parameters[i].ncomp)
            return k->parameters[i].name;
        n -= k->parameters[i].ncomp;
    }
    return "";
}

tk_status tk_kernel_launch(tk_module *m, const tk_kernel *k, const double *numbers, int n)
{
    if (!m || !k)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_kernel_launch: the module or the kernel is NULL");
    if (tk_kernel_at(m, k->index) != k)
        return tk_fail(m->session, TK_BAD_ARGUMENT, "tk_kernel_launch: '%s' is no kernel of module '%s'", k->name,
                       m->desc->name);
    const int takes = tk_kernel_numbers(k);
    if (takes < 0)
        return tk_fail(m->session, TK_BAD_ARGUMENT, "tk_kernel_launch: kernel '%s' takes arrays", k->name);
    if (n != takes || (takes > 0 && !numbers))
        return tk_fail(m->session, TK_BAD_ARGUMENT, "tk_kernel_launch: kernel '%s' takes %d number%s, not %d", k->name,
                       takes, takes == 1 ? "" : "s", numbers ? n : 0);
    unsigned char *args = tk_rt_alloc(m->session, k->args_size + 1, true);
    if (!args)
        return tk_fail(m->session, TK_NO_MEMORY, "out of memory for the arguments of kernel '%s'", k->name);
    tk_status st = TK_OK;
    for (int i = 0; i < k->nparameters && st == TK_OK; i++) {
        const tk_parameter *p = &k->parameters[i];
        for (int c = 0; c < p->ncomp && st == TK_OK; c++, numbers++) {
            if (!fits(p->type, *numbers))
                st = tk_fail(m->session, TK_BAD_ARGUMENT, "tk_kernel_launch: %g is no value of '%s' of kernel '%s'",
                             *numbers, p->name, k->name);
            else
                set_number(p->type, args + p->at + (size_t)c * tk_rt_scalar_bytes(p->type), *numbers);
        }
    }
    if (st == TK_OK)
        st = tk_launch(m, k, k->args_size ? args : NULL);
    tk_rt_free(m->session, args);
    return st;
}
