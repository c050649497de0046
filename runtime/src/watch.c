/* What code built with --debug lets us see: data that adjoints need and that is overwritten, races between iterations,
 * numbers that are not finite.
 *
 * Such code runs on one thread and calls tk_watch after each access to a field. Nothing else here costs anything.
 */
#include "rt.h"

#include <stdio.h>

/* The last needed read of a component. */
typedef struct rt_read {
    uint64_t bits;           /* the value that was read */
    const tk_kernel *kernel; /* NULL: no such read */
    int site;
    uint32_t launch; /* on the tape, from 1 */
} rt_read;

/* What the last launch on the tape that read or wrote a component left there. */
typedef struct rt_left {
    uint64_t bits;
    const tk_kernel *kernel; /* NULL: none has */
    uint32_t stretch;        /* of the tape, between two calls of tk_call */
} rt_left;

/* Who loaded, stored or accumulated: the last iteration, and whether another one of the same loop did. */
typedef struct rt_mark {
    uint64_t iteration;
    int site, other; /* other: of the iteration before the last, or -1 */
} rt_mark;
typedef struct rt_touch {
    rt_mark by[3];
} rt_touch;
enum { LOADED, STORED, ADDED };

static uint64_t bits_of(const tk_field *f, tk_plane plane, int64_t component)
{
    const size_t size = tk_rt_scalar_bytes(f->desc->elem);
    uint64_t bits = 0;
    memcpy(&bits, tk_rt_component(f, plane, component), size);
    return bits;
}

rt_text tk_rt_element_text(const tk_field *f, tk_plane plane, int64_t component)
{
    rt_text t;
    int64_t index[8] = {0}, number, at = tk_rt_element(f, component, &number);
    for (int d = f->desc->ndim - 1; d >= 0; d--) {
        index[d] = at % f->shape[d];
        at /= f->shape[d];
    }
    size_t n = (size_t)snprintf(t.s, sizeof t.s, "%.60s%s", f->desc->name, tk_rt_plane(plane)->text);
    for (int d = 0; d < f->desc->ndim && n < sizeof t.s - 24; d++)
        n += (size_t)snprintf(t.s + n, sizeof t.s - n, "%s%lld", d ? ", " : "[", (long long)index[d]);
    if (n < sizeof t.s - 32)
        snprintf(t.s + n, sizeof t.s - n, f->desc->ncomp > 1 ? "%s component %d" : "%s", f->desc->ndim ? "]" : "",
                 (int)number);
    return t;
}

/* ---- around launches and loops ---- */

void tk_rt_watch_begin(tk_session *s, const tk_module *m, const tk_kernel *k, tk_kernel_fn fn, tk_record *rec)
{
    const bool back = fn == k->grad || fn == k->hvp, told = m->desc->ndecisions > 0 && (back || k->grad);
    s->watch.record = told && (back ? s->tape.replaying : s->tape.open) ? rec : NULL;
    s->watch.replays = back;
    s->watch.kernel = k;
    s->watch.serial = m->desc->nsites > 0;
    s->watch.derivative = fn == k->run    ? ""
                          : fn == k->grad ? "adjoint of "
                          : fn == k->jvp  ? "JVP of "
                                          : "JVP of the adjoint of ";
    s->watch.iteration = 0;
}

void tk_rt_watch_end(tk_session *s)
{
    s->watch.kernel = NULL;
    s->watch.serial = false;
    s->watch.record = NULL;
    s->watch.iteration = 0;
}

void tk_rt_watch_loop(tk_session *s, bool begins)
{
    if (!s->watch.serial) /* loops may be nested, and run by several threads */
        return;
    s->watch.iteration = 0;
    if (begins)
        s->watch.first = s->watch.count + 1;
}

void tk_watch_iteration(const tk_module *m)
{
    rt_watch *w = &m->session->watch;
    w->iteration = ++w->count;
}

tk_status tk_session_stop_at_nonfinite(tk_session *s, bool on)
{
    if (!s)
        return tk_rt_thread_fail(TK_BAD_ARGUMENT, "tk_session_stop_at_nonfinite: the session is NULL");
    RT_ENTER(s, "tk_session_stop_at_nonfinite", TK_BAD_STATE);
    s->watch.finite = on;
    return TK_OK;
}

/* ---- data that adjoints need ---- */

tk_status tk_rt_watch_check(tk_module *m, const tk_kernel *k)
{
    if (m->desc->nsites > 0 || k->nparts == 0)
        return TK_OK;
    return tk_fail(m->session, TK_BAD_STATE,
                   "kernel '%s' of module '%s' was not built with --debug, so that the validated tape cannot see what "
                   "it reads and writes",
                   k->name, m->desc->name);
}

/* Whether component k of a plane still is what an adjoint needs. */
static tk_status compare(const tk_field *f, tk_plane plane, int64_t k)
{
    const rt_read *r = &f->read_marks[plane][k];
    if (!r->kernel || r->bits == bits_of(f, plane, k))
        return TK_OK;
    const tk_site *read = &f->module->desc->sites[r->site];
    return tk_fail(f->module->session, TK_OVERWRITTEN,
                   "'%s' was changed outside of kernels, but the adjoint of kernel '%s' (launch %u on the tape) needs "
                   "the value that it read at %s:%d:%d",
                   tk_rt_element_text(f, plane, k).s, r->kernel->name, r->launch, read->file, read->line, read->col);
}

static void needs(tk_session *s, tk_field *f, tk_plane plane, int site, int64_t component)
{
    if (!f->read_marks[plane]) {
        f->read_marks[plane] = tk_rt_alloc(s, tk_rt_scalars(f) * sizeof *f->read_marks[plane], true);
        if (!f->read_marks[plane]) {
            tk_fail(s, TK_NO_MEMORY, "out of memory for watching field '%s'", f->desc->name);
            return;
        }
    }
    compare(f, plane, component); /* the host may have written between the two launches that read it */
    f->read_marks[plane][component] = (rt_read){bits_of(f, plane, component), s->watch.kernel, site,
                                                (uint32_t)s->tape.count};
}

static void overwrites(tk_session *s, const tk_field *f, const tk_site *w, int64_t component)
{
    rt_read *r = f->read_marks[w->plane] ? &f->read_marks[w->plane][component] : NULL;
    if ((f->desc->flags & TK_FIELD_SAVED) && w->plane == TK_DATA)
        tk_rt_watch_kept(f, TK_DATA, component);
    if (!r || !r->kernel || r->bits == bits_of(f, w->plane, component))
        return;
    const tk_site *read = &f->module->desc->sites[r->site];
    tk_fail(s, TK_OVERWRITTEN,
            "%s:%d:%d: kernel '%s' overwrites '%s', but the adjoint of kernel '%s' (launch %u on the tape) needs the "
            "value that it read at %s:%d:%d",
            w->file, w->line, w->col, s->watch.kernel->name, tk_rt_element_text(f, w->plane, component).s,
            r->kernel->name, r->launch, read->file, read->line, read->col);
}

void tk_rt_watch_kept(const tk_field *f, tk_plane plane, int64_t component)
{
    if (f->read_marks[plane])
        f->read_marks[plane][component].kernel = NULL;
}

/* Derivatives pass from launch to launch through what stays in memory between them; what the host makes of it there is
 * on no tape, but for the functions of tk_call. Integers and fields without gradient have none to pass on. */
static bool passes_on(const tk_field *f, tk_plane plane)
{
    return plane == TK_DATA && (f->desc->flags & tk_rt_plane_needs(RT_ADJOINT)) && !(f->desc->flags & TK_FIELD_SCRATCH);
}

static void goes_on(tk_session *s, const tk_field *f, int site, int64_t component)
{
    const rt_left *l = f->left ? &f->left[component] : NULL;
    if (!l || !l->kernel || l->stretch != s->watch.stretch || l->bits == bits_of(f, TK_DATA, component))
        return;
    const tk_site *at = &f->module->desc->sites[site];
    tk_fail(s, TK_OVERWRITTEN,
            "%s:%d:%d: '%s' was changed outside of kernels after kernel '%s', and kernel '%s' (launch %zu on the tape) "
            "goes on with it: no derivative passes through what the host does",
            at->file, at->line, at->col, tk_rt_element_text(f, TK_DATA, component).s, l->kernel->name,
            s->watch.kernel->name, s->tape.count);
}

static void leaves(tk_session *s, tk_field *f, int64_t component)
{
    if (!f->left)
        f->left = tk_rt_alloc(s, tk_rt_scalars(f) * sizeof *f->left, true);
    if (f->left)
        f->left[component] = (rt_left){bits_of(f, TK_DATA, component), s->watch.kernel, s->watch.stretch};
    else
        tk_fail(s, TK_NO_MEMORY, "out of memory for watching field '%s'", f->desc->name);
}

tk_status tk_rt_watch_compare(tk_session *s)
{
    for (size_t i = 0; i < s->tape.count; i++) {
        const rt_entry *e = &s->tape.entries[i];
        if (e->kernel && e->kernel->grad && e->arrays != tk_rt_arrays_hash(e->module, e->kernel, e->args))
            return tk_fail(s, TK_OVERWRITTEN,
                           "an array of the host that kernel '%s' (launch %zu on the tape) reads was changed since, "
                           "but its adjoint reads it again",
                           e->kernel->name, i + 1);
    }
    tk_status st = TK_OK;
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            for (int p = 0; p < 4; p++)
                for (int64_t k = 0;
                     st == TK_OK && m->fields[i].read_marks[p] && k < (int64_t)tk_rt_scalars(&m->fields[i]); k++)
                    st = compare(&m->fields[i], (tk_plane)p, k);
    return st;
}

static void forget(tk_session *s, tk_field *f)
{
    for (int p = 0; p < 4; p++) {
        tk_rt_free(s, f->read_marks[p]);
        f->read_marks[p] = NULL;
    }
    tk_rt_free(s, f->left);
    f->left = NULL;
}

void tk_rt_watch_forget(tk_session *s)
{
    for (tk_module *m = s->modules; m; m = m->next)
        for (int i = 0; i < m->desc->nfields; i++)
            forget(s, &m->fields[i]);
}

void tk_rt_watch_free(tk_field *f)
{
    tk_session *s = f->module ? f->module->session : NULL;
    if (!s) /* creation failed before it got that far */
        return;
    forget(s, f);
    for (int p = 0; p < 4; p++) {
        tk_rt_free(s, f->touched[p]);
        f->touched[p] = NULL;
    }
}

/* ---- races ---- */

/* Site of another iteration of the running loop that is marked here, or -1. */
static int met(const rt_watch *w, const rt_mark *m)
{
    if (m->iteration < w->first)
        return -1;
    return m->iteration != w->iteration ? m->site : m->other;
}

static void mark(const rt_watch *w, rt_mark *m, int site)
{
    if (m->iteration < w->first)
        m->other = -1;
    else if (m->iteration != w->iteration)
        m->other = m->site;
    m->iteration = w->iteration;
    m->site = site;
}

static void races(tk_session *s, tk_field *f, int site, int64_t component)
{
    static const char *const did[] = {"reads", "stores into", "adds to"};
    const tk_site *at = &f->module->desc->sites[site];
    const rt_watch *w = &s->watch;
    if (!f->touched[at->plane]) {
        f->touched[at->plane] = tk_rt_alloc(s, tk_rt_scalars(f) * sizeof *f->touched[at->plane], true);
        if (!f->touched[at->plane]) {
            tk_fail(s, TK_NO_MEMORY, "out of memory for watching field '%s'", f->desc->name);
            return;
        }
    }
    rt_touch *t = &f->touched[at->plane][component];
    const int me = at->what & TK_READS ? LOADED : at->what & TK_STORES ? STORED : ADDED;
    for (int k = LOADED; k <= ADDED; k++) {
        const int other = k == me && me != STORED ? -1 : met(w, &t->by[k]);
        if (other < 0)
            continue;
        const tk_site *o = &f->module->desc->sites[other];
        tk_fail(s, TK_RACE,
                "%s:%d:%d: in kernel '%s' one iteration of a parallel loop %s '%s', and another iteration %s it at "
                "%s:%d:%d: iterations are unordered",
                at->file, at->line, at->col, w->kernel->name, did[me], tk_rt_element_text(f, at->plane, component).s,
                did[k], o->file, o->line, o->col);
        return;
    }
    mark(w, &t->by[me], site);
}

/* ---- numbers ---- */

static void check_finite(tk_session *s, const tk_field *f, const tk_site *at, int64_t component)
{
    const double x = tk_rt_scalar_get(f, at->plane, component);
    if (isfinite(x))
        return;
    tk_fail(s, TK_NOT_FINITE, "%s:%d:%d: '%s' is %s %s in the %skernel '%s'", at->file, at->line, at->col,
            tk_rt_element_text(f, at->plane, component).s,
            isnan(x) ? "NaN"
            : x > 0  ? "infinite"
                     : "minus infinite",
            at->what & TK_READS ? "when it is read, put there by the host," : "from here on,", s->watch.derivative,
            s->watch.kernel->name);
}

void tk_watch_derivative(const tk_module *m, const char *place)
{
    tk_session *s = m->session;
    if (s->watch.finite && s->watch.kernel)
        tk_fail(s, TK_NOT_FINITE, "%s, in the %skernel '%s'", place, s->watch.derivative, s->watch.kernel->name);
}

/* A function reads for many kernels, of which not every adjoint needs what it reads. */
static bool adjoint_reads(const tk_kernel *k, const tk_site *at)
{
    return at->plane != TK_DATA || (tk_rt_touches(k, at->field) & TK_NEEDED) != 0;
}

void tk_watch(const tk_module *m, int site, int64_t component)
{
    tk_session *s = m->session;
    const rt_watch *w = &s->watch;
    const tk_site *at = &m->desc->sites[site];
    tk_field *f = &m->fields[at->field];
    if (!w->kernel || component < 0 || component >= (int64_t)tk_rt_scalars(f) || !f->plane[at->plane])
        return;
    if (at->what & TK_GOES_ON) {
        if (w->reads && passes_on(f, at->plane))
            goes_on(s, f, site, component);
        return;
    }
    if (w->finite && tk_rt_is_float(f))
        check_finite(s, f, at, component);
    if (at->what & TK_DERIVED)
        return;
    if (w->iteration > 0 && (at->what & TK_MAY_RACE))
        races(s, f, site, component);
    if (tk_rt_is_adjoint(at->plane) || at->field >= m->desc->nfields) /* arrays of the host are compared as a whole */
        return;
    if (w->reads && (at->what & TK_NEEDED) && adjoint_reads(w->kernel, at))
        needs(s, f, at->plane, site, component);
    if (passes_on(f, at->plane) && w->reads && (at->what & TK_READS))
        goes_on(s, f, site, component);
    if (passes_on(f, at->plane) && (w->reads || (w->writes && !(at->what & TK_READS))))
        leaves(s, f, component);
    if (w->writes && (at->what & (TK_STORES | TK_ACCUMULATES)))
        overwrites(s, f, at, component);
}
