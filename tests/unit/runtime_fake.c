#include "runtime_fake.h"

#include <fenv.h>
#include <float.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void note(fake *m, int what)
{
    if (m->nlog < 64)
        m->log[m->nlog++] = what;
}

/* ---- kernels ---- */

static tk_status square_run(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    (void)out, (void)rec;
    note(m, K_SQUARE);
    for (int64_t i = 0; i < m->n; i++)
        m->U.data[0] += ((const scale_args *)args)->a * m->y.data[i] * m->y.data[i];
    return TK_OK;
}

static tk_status square_grad(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    (void)out, (void)rec;
    note(m, 100 + K_SQUARE);
    for (int64_t i = 0; i < m->n; i++)
        m->y.grad[i] += 2 * ((const scale_args *)args)->a * m->y.data[i] * m->U.grad[0];
    return TK_OK;
}

static tk_status square_jvp(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    const scale_jvp_args *a = args;
    (void)out, (void)rec;
    note(m, 200 + K_SQUARE);
    for (int64_t i = 0; i < m->n; i++) {
        m->U.dual[0] += 2 * a->primal.a * m->y.data[i] * m->y.dual[i] + a->a_dual * m->y.data[i] * m->y.data[i];
        m->U.data[0] += a->primal.a * m->y.data[i] * m->y.data[i];
    }
    return TK_OK;
}

static tk_status square_hvp(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    double *const grad_dual = m->tk.fields[F_Y].plane[TK_GRAD_DUAL];
    (void)square_grad(tkm, args, out, rec);
    for (int64_t i = 0; i < m->n; i++)
        grad_dual[i] += 2 * ((const scale_args *)args)->a * m->y.dual[i] * m->U.grad[0];
    return TK_OK;
}

static tk_status scale_run(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    (void)out, (void)rec;
    note(m, K_SCALE);
    for (int64_t i = 0; i < m->n; i++)
        m->y.data[i] *= ((const scale_args *)args)->a;
    return TK_OK;
}

static tk_status scale_grad(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    (void)out, (void)rec;
    note(m, 100 + K_SCALE);
    for (int64_t i = 0; i < m->n; i++)
        m->y.grad[i] *= ((const scale_args *)args)->a;
    return TK_OK;
}

static tk_status fail_run(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    (void)args, (void)out, (void)rec;
    note((fake *)tkm, K_FAIL);
    return tk_fail(tkm->session, TK_BOUNDS, "index %d", 7);
}

static tk_status plain_run(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    (void)args, (void)out, (void)rec;
    note((fake *)tkm, K_ZERO);
    return TK_OK;
}

static tk_status record_run(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    (void)args, (void)out;
    note(m, K_RECORD);
    assert_int_equal(rec->size, sizeof(int));
    assert_int_equal(*(int *)rec->data, 0);
    *(int *)rec->data = m->nlog;
    return TK_OK;
}

static tk_status struct_grad(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    (void)args, (void)out;
    note((fake *)tkm, 1000 + *(int *)rec->data);
    return TK_OK;
}

static tk_status nest_run(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    (void)args, (void)out, (void)rec;
    return fake_launch((fake *)tkm, K_ZERO);
}

static tk_status bad_adjoint(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    (void)tkm, (void)args, (void)out, (void)rec;
    return TK_ASSERT; /* without a message: the runtime gives it one */
}

/* ---- a kernel that needs all kinds of memory ---- */

typedef struct work_args {
    fake *m;
    double *grad;
} work_args;

static void work_task(const void *args, int64_t lo, int64_t hi)
{
    const work_args *a = args;
    tk_stack *const st = tk_stack_acquire(a->m->tk.session);
    if (!st)
        return;
    for (int64_t i = lo; i < hi; i++) {
        const tk_mark mark = tk_stack_mark(st);
        double *const saved = tk_stack_alloc(st, i % 1024 == 0 ? 20000 : 10, sizeof *saved);
        if (!saved)
            return; /* the launch's end gives the stack back */
        saved[0] = 1;
        a->grad[i % 16] += saved[0];
        tk_stack_reset(st, mark);
    }
    tk_stack_release(st);
}

static tk_status work_run(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    (void)args, (void)out, (void)rec;
    if (!tk_scratch(tkm->session, 100000))
        return tk_session_status(tkm->session);
    const work_args a = {m, m->y.grad};
    const tk_scatter_target target = {.offset = offsetof(work_args, grad), .field = m->y.field, .plane = TK_GRAD, .shared = false};
    const tk_plan p = tk_plan_make(4096, 1, 100);
    return tk_run_scatter(tkm->session, &p, work_task, work_task, &a, sizeof a, &target, 1);
}

static void halve_min(const void *args, int64_t lo, int64_t hi)
{
    volatile double tiny = 2.2250738585072014e-308;
    (void)lo, (void)hi;
    double *const *out = args;
    if (lo == 0)
        **out = tiny * 0.5;
    else if (tiny * 0.5 > 0)
        *(*out + 1) = 1;
}

static tk_status mode_run(tk_module *tkm, const void *args, void *out, tk_record *rec)
{
    fake *m = (fake *)tkm;
    double found[2] = {-1, 0}, *const p = found;
    (void)args, (void)out, (void)rec;
    const tk_plan plan = tk_plan_make(64, 1, 16384);
    (void)tk_run(tkm->session, &plan, halve_min, &p);
    m->flushed = found[0] + found[1];
    return TK_OK;
}

/* ---- descriptors ---- */

static const tk_field_desc fields[] = {
    {"x", TK_F32, 2, 1, TK_FIELD_GRAD | TK_FIELD_DUAL}, {"U", TK_F64, 1, 0, TK_FIELD_GRAD | TK_FIELD_DUAL},
    {"y", TK_F64, 1, 1, TK_FIELD_GRAD | TK_FIELD_DUAL},
    {"c", TK_I32, 1, 1, 0},                             {"r", TK_F64, 1, 1, 0},                             {"s", TK_F64, 1, 0, 0},
};

static const tk_part parts[] = {
    {F_X, TK_DATA, TK_STORES}, {F_U, TK_DATA, TK_ACCUMULATES}, {F_Y, TK_DATA, TK_READS | TK_STORES},
    {F_C, TK_DATA, TK_STORES}, {F_R, TK_DATA, TK_READS},       {F_S, TK_DATA, TK_STORES},
};

#define PARTS .parts = parts, .nparts = 6
static const tk_kernel kernels[] = {
    {.name = "square", .index = 0, .args_size = sizeof(scale_args), .jvp_args_size = sizeof(scale_jvp_args),
     .run = square_run, .grad = square_grad, .jvp = square_jvp, .hvp = square_hvp, PARTS},
    {.name = "scale", .index = 1, .args_size = sizeof(scale_args), .run = scale_run, .grad = scale_grad, .no_jvp = "derive(grad) leaves it out",
     PARTS},
    {.name = "fail", .index = 2, .run = fail_run, .grad = plain_run, .jvp = fail_run, PARTS},
    {.name = "undiff", .index = 3, .run = plain_run, .no_grad = "it reads x.grad", .no_jvp = "it reads x.grad", PARTS},
    {.name = "zero", .index = 4, .run = plain_run, PARTS},
    {.name = "grad_args", .index = 5, .run = plain_run, .grad = plain_run, .grad_args = true, PARTS},
    {.name = "record", .index = 6, .run = record_run, .grad = struct_grad, .record_size = sizeof(int), PARTS},
    {.name = "nest", .index = 7, .run = nest_run, .grad = plain_run, PARTS},
    {.name = "bad_adjoint", .index = 8, .run = plain_run, .grad = bad_adjoint, PARTS},
    {.name = "work", .index = 9, .run = work_run, .grad = work_run, .jvp = work_run, PARTS},
    {.name = "mode", .index = 10, .run = mode_run, .grad = mode_run, PARTS},
};

const tk_module_desc fake_desc = {.name = "fake", .interface = TK_INTERFACE, .hash = FAKE_HASH, .fields = fields, .nfields = F_COUNT,
                                  .kernels = kernels, .nkernels = K_COUNT};

/* ---- what a header would offer ---- */

void fake_refresh(fake *m)
{
    view *const views[] = {&m->U, &m->y, &m->s};
    const int index[] = {F_U, F_Y, F_S};
    for (int i = 0; i < 3; i++) {
        tk_field *const f = &m->tk.fields[index[i]];
        *views[i] = (view){f->plane[TK_DATA], f->plane[TK_GRAD], f->plane[TK_DUAL], f};
    }
}

fake *fake_create(tk_session *s, int64_t n)
{
    const int64_t extents[] = {n, n, n, n};
    fake *const m = tk_module_alloc(s, sizeof *m);
    if (!m)
        return NULL;
    if (tk_module_init(&m->tk, s, &fake_desc, extents, FAKE_HASH, TK_INTERFACE) != TK_OK) {
        tk_module_free(s, m, sizeof *m);
        return NULL;
    }
    m->n = n;
    fake_refresh(m);
    return m;
}

void fake_destroy(fake *m)
{
    if (!m)
        return;
    tk_session *const s = m->tk.session;
    (void)tk_module_done(&m->tk);
    tk_module_free(s, m, sizeof *m);
}

tk_status fake_square(fake *m, double a)
{
    const scale_args args = {a};
    return tk_launch(m ? &m->tk : NULL, &kernels[K_SQUARE], &args);
}

tk_status fake_scale(fake *m, double a)
{
    const scale_args args = {a};
    return tk_launch(&m->tk, &kernels[K_SCALE], &args);
}

tk_status fake_launch(fake *m, int kernel)
{
    return tk_launch(&m->tk, &kernels[kernel], NULL);
}

tk_status fake_launch_grad(fake *m, int kernel)
{
    return tk_launch_grad(&m->tk, &kernels[kernel], NULL, NULL);
}

/* ---- hooks ---- */

void *counting_alloc(void *user, void *old, size_t old_size, size_t size)
{
    counting *c = user;
    if (size == 0) {
        assert_non_null(old);
        assert_int_equal(*(size_t *)((char *)old - 16), old_size);
        c->live -= old_size;
        free((char *)old - 16);
        return NULL;
    }
    assert_null(old);
    c->calls++;
    if (c->countdown >= 0 && c->countdown-- == 0)
        return NULL;
    char *raw = malloc(size + 16);
    assert_non_null(raw);
    memset(raw, 0xa5, size + 16);
    *(size_t *)raw = size;
    c->live += size;
    return raw + 16;
}

tk_session *counted_session(counting *c)
{
    *c = (counting){.countdown = -1};
    tk_session_options opt = tk_session_defaults();
    opt.alloc = counting_alloc;
    opt.alloc_user = c;
    return tk_session_create(&opt);
}

enum { HOOK_THREADS = 4 };

typedef struct pool_job {
    atomic_llong next;
    int64_t n;
    tk_task_fn fn;
    const void *args;
    atomic_int flushing; /* threads that were left in another mode of arithmetic */
} pool_job;

static void *pool_worker(void *user)
{
    pool_job *j = user;
    fesetenv(FE_DFL_ENV); /* not the caller's, as a thread that was there before the launch */
    for (int64_t k; (k = atomic_fetch_add(&j->next, 1)) < j->n;)
        j->fn(j->args, k, k + 1);
    volatile double least = DBL_MIN;
    if (!(least * 0.5 > 0))
        atomic_fetch_add(&j->flushing, 1);
    return NULL;
}

void pthread_hook(void *user, int64_t n, tk_task_fn fn, const void *args)
{
    pool_job j = {.n = n, .fn = fn, .args = args};
    pthread_t threads[HOOK_THREADS];
    if (user)
        atomic_fetch_add((atomic_int *)user, 1);
    for (int t = 0; t < HOOK_THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, pool_worker, &j), 0);
    for (int t = 0; t < HOOK_THREADS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(j.flushing, 0);
}
