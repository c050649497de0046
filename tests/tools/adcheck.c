/* Checks the derivatives of every kernel of a module, seen through its descriptor alone:
 *   - the JVP along a random direction against Richardson-extrapolated central differences of the primal,
 *   - reverse against forward, <J v, w> = <v, J^T w>, over the whole state (all float fields with gradient and dual),
 *   - the second-order product, where the kernel has one, against differences of the gradient,
 *   - the same with several threads,
 *   - of code compiled with --debug, that a validated tape gives the same gradient or reports what it cannot know (see below).
 * usage: adcheck [LO HI]   the range that float data are drawn from (default 0.3 1.2); integer fields are filled with 0..4.
 *        adcheck --table FIRST THREADS LO HI   for random programs, from kernel FIRST on: a line for each kernel, components at kinks (where differences of
 *        several steps disagree) are left out and counted; so are the inputs whose gradient is zero. Then, with data at ties (ties.h), that all forms of a kernel decide alike:
 *        integers that a launch and a JVP write, reverse against forward without excuse, the symmetry of second-order products, differences to both sides;
 *        and that nothing was written beside a field
 *        adcheck --broken ...  the same for programs that may break the data-access rule: what a validated tape reports is not compared
 *        adcheck --values FILE LO HI   checks nothing, and writes what the kernels compute from fixed data: random/compare.py compares it between compilers
 *        adcheck --algorithm THREADS LO HI [NAME LO HI]... [random NAME...] [decides NAME...] [within NAME...]   data by the names of fields (addata.c), random and then on lattices, where kinks
 *        are no accident: what slopes to both sides do not tell is left out, but fails where it is all; directions along one field at a time as well
 * Linked with a stub that defines adcheck_create, and adcheck_params where kernels have parameters.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adcheck.h"
#include "addata.h"
#include "ties.h"

enum { MAX_ARGS = 4096, MAX_RESULT = 32, TIES = 3 /* rounds */ };

typedef struct state {
    double *at;
    int64_t n;
} state;

static uint64_t seed = 12345;

static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static void *new(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        exit(2);
    return p;
}

static bool is_float(const tk_field *f)
{
    return f->desc->elem == TK_F32 || f->desc->elem == TK_F64;
}

static bool in_state(const tk_field *f)
{
    return is_float(f) && f->plane[TK_GRAD] && f->plane[TK_DUAL];
}

static int64_t components(const tk_field *f)
{
    return f->count * f->desc->ncomp;
}

static size_t scalar_size(const tk_field_desc *f)
{
    static const size_t size[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    return size[f->elem];
}

static size_t scalar_bytes(const tk_field *f)
{
    return scalar_size(f->desc);
}

/* By its number in the field; members of structs stand apart. */
static void *component(const tk_field *f, tk_plane plane, int64_t j)
{
    const size_t n = (size_t)f->desc->ncomp, k = (size_t)j, element = f->member ? f->member->size : n * scalar_bytes(f);
    return (unsigned char *)f->plane[plane] + k / n * element + k % n * scalar_bytes(f);
}

static double number(const void *at, bool single)
{
    return single ? (double)*(const float *)at : *(const double *)at;
}

static void set_number(void *at, bool single, double value)
{
    if (single)
        *(float *)at = (float)value;
    else
        *(double *)at = value;
}

static void copy(tk_module *m, tk_plane plane, state *s, bool to_state)
{
    int64_t k = 0;
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        if (!in_state(f))
            continue;
        for (int64_t j = 0; j < components(f); j++, k++) {
            void *at = component(f, plane, j);
            if (to_state)
                s->at[k] = number(at, f->desc->elem == TK_F32);
            else
                set_number(at, f->desc->elem == TK_F32, s->at[k]);
        }
    }
}

static int64_t state_size(const tk_module *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->desc->nfields; i++)
        if (in_state(&m->fields[i]))
            n += components(&m->fields[i]);
    return n;
}

/* Everything that is not in the state, so that each run starts alike: duals as well, which kernels without a JVP may change. */
typedef struct backup {
    void **at, **dual;
} backup;

/* Of a member of structs: from its first place to the end of all. */
static size_t bytes(const tk_field *f)
{
    return f->member && f->count ? (size_t)f->count * f->member->size - f->member->offset : (size_t)components(f) * scalar_bytes(f);
}

static backup save(const tk_module *m)
{
    backup b = {new((size_t)m->desc->nfields, sizeof *b.at), new((size_t)m->desc->nfields, sizeof *b.dual)};
    for (int i = 0; i < m->desc->nfields; i++) {
        const tk_field *f = &m->fields[i];
        b.at[i] = new(bytes(f), 1);
        memcpy(b.at[i], f->plane[TK_DATA], bytes(f));
        if (!in_state(f))
            continue;
        b.dual[i] = new(bytes(f), 1);
        memcpy(b.dual[i], f->plane[TK_DUAL], bytes(f));
    }
    return b;
}

static void restore(tk_module *m, const backup *b)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        const tk_field *f = &m->fields[i];
        memcpy(f->plane[TK_DATA], b->at[i], bytes(f));
        if (b->dual[i])
            memcpy(f->plane[TK_DUAL], b->dual[i], bytes(f));
    }
}

static void drop(const tk_module *m, backup *b)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        free(b->at[i]);
        free(b->dual[i]);
    }
    free(b->at);
    free(b->dual);
}

static state make(int64_t n)
{
    return (state){new((size_t)n, sizeof(double)), n};
}

static state random_state(int64_t n, double lo, double hi)
{
    state s = make(n);
    for (int64_t i = 0; i < n; i++)
        s.at[i] = lo + (hi - lo) * uniform();
    return s;
}

static double dot(const state *a, const state *b)
{
    double s = 0.0;
    for (int64_t i = 0; i < a->n; i++)
        s += a->at[i] * b->at[i];
    return s;
}

static double norm(const state *a)
{
    return sqrt(dot(a, a));
}

/* An array of the host among the kernel's parameters; of structs, one for each member. */
typedef struct host_array {
    const tk_array_desc *desc;
    const tk_field_desc *type;
    int64_t n;                   /* components */
    bool active;                 /* of floats: a part of the state */
    bool single;                 /* of f32 */
    size_t stride;               /* bytes from an element to the next */
    void *base[4];               /* what the kernel is given */
    unsigned char *plane[4];     /* where its own numbers begin there; NULL: it has none */
} host_array;

typedef struct checker {
    tk_module *m;
    const tk_kernel *k;
    backup b;
    state x;                     /* the fields' state, then the real parameters and the result, then the arrays of floats */
    int64_t nfield;              /* components that belong to fields */
    const adcheck_param *params;
    int nparams;
    host_array *arrays;          /* as many as the kernel has */
    double result[4][MAX_RESULT]; /* the memory of a result that may be a struct */
    bool table;
    bool algorithm;              /* data may lie at kinks */
    long telling;                /* of the compared: those that are neither zero nor passed through */
    const state *passed;         /* the direction */
    bool *f32;                   /* which components are f32 */
    bool *single;                /* the same; NULL: the kernel does not touch any */
    int failures;
    long compared, skipped;      /* components against differences */
    long taped, reported;        /* tapes with a gradient, and with a report */
    int inputs, zero;            /* fields read and not written; those without any gradient in all rounds */
    bool *nonzero;
    state planes;                /* what a kernel without adjoint finds in gradients, and one without JVP in duals: it may read them */
} checker;

/* Memory of a kernel's arguments, as doubles for the alignment. */
typedef union arguments {
    unsigned char at[MAX_ARGS];
    double align;
} arguments;

/* Few binary digits, so that x + h d and w are exact. */
static void shorten(const checker *c, int64_t at, int64_t n, state *x, state *d, state *w)
{
    for (const int64_t end = at + n; at < end; at++) {
        c->f32[at] = true;
        x->at[at] = (2.0 * floor(x->at[at] * 8192.0) + 1.0) / 16384.0; /* odd: it is none of the constants, and not zero */
        d->at[at] = round(d->at[at] * 16.0) / 16.0;
        w->at[at] = round(w->at[at] * 256.0) / 256.0;
    }
}

/* Components that are f32 get few digits; which they are. */
static bool *singles(checker *c, state *x, state *d, state *w)
{
    bool any = false;
    int64_t at = 0;
    c->f32 = new((size_t)x->n, sizeof *c->f32);
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int k = 0; f->desc->elem == TK_F32 && k < c->k->naccess; k++)
            any |= c->k->access[k].field == i;
        if (in_state(f) && f->desc->elem == TK_F32)
            shorten(c, at, components(f), x, d, w);
        at += in_state(f) ? components(f) : 0;
    }
    for (int i = 0; i < c->nparams; at += c->params[i++].ncomp) {
        any |= c->params[i].single;
        if (c->params[i].single)
            shorten(c, at, c->params[i].ncomp, x, d, w);
    }
    for (int i = 0; i < c->k->narrays; at += c->arrays[i].active ? c->arrays[i].n : 0, i++) {
        any |= c->arrays[i].single;
        if (c->arrays[i].single)
            shorten(c, at, c->arrays[i].n, x, d, w);
    }
    return any ? c->f32 : NULL;
}

/* Of comparisons that are equal to rounding: with f32 among the fields, to its rounding. */
static double rounding(const checker *c, double of_f64)
{
    return c->single ? 2e-5 : of_f64;
}

static int64_t tail_size(const checker *c)
{
    int64_t n = 0;
    for (int i = 0; i < c->nparams; i++)
        n += c->params[i].ncomp;
    for (int i = 0; i < c->k->narrays; i++)
        n += c->arrays[i].active ? c->arrays[i].n : 0;
    return n;
}

/* Of an array; those among the arguments are the first members of their struct. */
static int64_t extent_of(const tk_module *m, const tk_array_extent *e)
{
    const unsigned char *param = (const unsigned char *)m + e->at;
    int32_t narrow;
    int64_t wide;
    switch (e->kind) {
    case TK_EXTENT_ARGUMENT: return 4 - (int64_t)(e->at / sizeof(int64_t) % 2);
    case TK_EXTENT_CONSTANT: return e->count;
    case TK_EXTENT_PARAM: break;
    }
    memcpy(&narrow, param, sizeof narrow);
    if (e->type == TK_I32)
        return narrow;
    memcpy(&wide, param, sizeof wide);
    return wide;
}

/* Of an array of structs; NULL: it is none. */
static const tk_member *member_of(const tk_module *m, const tk_array_desc *a)
{
    for (int i = 0; i < m->desc->nmembers; i++)
        if (m->desc->members[i].field == a->field)
            return &m->desc->members[i];
    return NULL;
}

static void make_planes(const tk_module *m, host_array *a, const host_array *first)
{
    const tk_member *member = member_of(m, a->desc);
    const unsigned has[] = {0, TK_FIELD_GRAD, TK_FIELD_DUAL, TK_FIELD_GRAD};
    a->stride = member ? member->size : (size_t)a->type->ncomp * scalar_size(a->type);
    const size_t elements = (size_t)(a->n / a->type->ncomp);
    const host_array *lead = a;
    for (const host_array *b = first; member && b < a; b++)
        if (b->desc->field == member->lead)
            lead = b;
    for (int p = TK_DATA; p <= TK_GRAD_DUAL; p++) {
        if (lead == a && (member || p == TK_DATA || (a->active && (a->type->flags & has[p]))))
            a->base[p] = guard_new(elements * a->stride);
        if (lead != a)
            a->base[p] = lead->base[p];
        if (a->base[p] && (p == TK_DATA || (a->active && (a->type->flags & has[p]))))
            a->plane[p] = (unsigned char *)a->base[p] + (member ? member->offset : 0);
    }
}

static host_array *make_arrays(const tk_module *m, const tk_kernel *k)
{
    host_array *all = new((size_t)k->narrays, sizeof *all);
    for (int i = 0; i < k->narrays; i++) {
        host_array *a = &all[i];
        a->desc = &k->arrays[i];
        a->type = &m->desc->fields[a->desc->field];
        a->single = a->type->elem == TK_F32;
        a->active = a->single || a->type->elem == TK_F64;
        a->n = a->type->ncomp;
        for (int d = 0; d < a->type->ndim; d++)
            a->n *= extent_of(m, &a->desc->extents[d]);
        make_planes(m, a, all);
    }
    return all;
}

/* Component j of an array. */
static void *number_at(const host_array *a, tk_plane plane, int64_t j)
{
    return a->plane[plane] + j / a->type->ncomp * (int64_t)a->stride + j % a->type->ncomp * (int64_t)scalar_size(a->type);
}

/* Number j of a result. */
static void *result_at(checker *c, const adcheck_param *p, tk_plane plane, int j)
{
    return (unsigned char *)c->result[plane] + p->inside + (size_t)j * (p->single ? sizeof(float) : sizeof(double));
}

/* Whether something goes in or comes out there; the gradients go the other way. */
static bool has(const host_array *a, tk_plane plane, bool after)
{
    const bool gradient = plane == TK_GRAD || plane == TK_GRAD_DUAL;
    return a->plane[plane] && (a->desc->what & (after != gradient ? TK_ARRAY_OUT : TK_ARRAY_IN));
}

/* The result and the arrays from the state, before a launch: what goes in of a plane. An `out` array is whatever the host had there. */
static void set_tail(checker *c, tk_plane plane, const state *s)
{
    int64_t at = c->nfield;
    for (int i = 0; i < c->nparams; at += c->params[i++].ncomp)
        if (c->params[i].result)
            for (int j = 0; j < c->params[i].ncomp; j++)
                set_number(result_at(c, &c->params[i], plane, j), c->params[i].single, s->at[at + j]);
    for (int i = 0; i < c->k->narrays; i++) {
        const host_array *a = &c->arrays[i];
        for (int64_t j = 0; !a->active && plane == TK_DATA && j < a->n; j++) {
            const int64_t small = a->type->elem == TK_BOOL ? j * 5 % 3 == 1 : (j * 7 + 3) % 5;
            memcpy(number_at(a, TK_DATA, j), &small, scalar_size(a->type)); /* little-endian */
        }
        if (!a->active)
            continue;
        const bool gradient = plane == TK_GRAD || plane == TK_GRAD_DUAL;
        for (int64_t j = 0; a->plane[plane] && j < a->n; j++)
            set_number(number_at(a, plane, j), a->single, has(a, plane, false) ? s->at[at + j] : gradient ? 0.0 : 99.0);
        at += a->n;
    }
}

/* What came out, after a launch; zero for the rest, parameters among it. */
static void take_tail(checker *c, tk_plane plane, state *s)
{
    int64_t at = c->nfield;
    const bool gradient = plane == TK_GRAD || plane == TK_GRAD_DUAL;
    for (int i = 0; i < c->nparams; at += c->params[i++].ncomp)
        for (int j = 0; j < c->params[i].ncomp; j++)
            s->at[at + j] = c->params[i].result && !gradient ? number(result_at(c, &c->params[i], plane, j), c->params[i].single) : 0.0;
    for (int i = 0; i < c->k->narrays; i++) {
        const host_array *a = &c->arrays[i];
        for (int64_t j = 0; a->active && j < a->n; j++, at++)
            s->at[at] = has(a, plane, true) ? number(number_at(a, plane, j), a->single) : 0.0;
    }
}

static void put_numbers(unsigned char *to, const adcheck_param *p, const double *from)
{
    for (int j = 0; j < p->ncomp; j++)
        set_number(to + (size_t)j * (p->single ? sizeof(float) : sizeof(double)), p->single, from[j]);
}

/* The parameters of x and, for a JVP, the tangents of d (NULL: none). */
static arguments fill_arguments(checker *c, const state *x, const state *d)
{
    arguments a = {{0}};
    int64_t at = c->nfield;
    for (int i = 0; i < c->nparams; i++) {
        const adcheck_param *p = &c->params[i];
        if (p->result) {
            const long to[] = {(long)p->offset, p->gradient, (long)p->tangent, p->second};
            for (int k = TK_DATA; k <= TK_GRAD_DUAL; k++)
                if (k == TK_DATA || to[k] > 0)
                    memcpy(a.at + to[k], &(double *){c->result[k]}, sizeof(double *));
        } else if (p->ncomp == 0) {
            memcpy(a.at + p->offset, &p->integer, p->integer_size);
        } else {
            put_numbers(a.at + p->offset, p, x->at + at);
            if (d)
                put_numbers(a.at + p->tangent, p, d->at + at);
        }
        at += p->ncomp;
    }
    for (int i = 0; i < c->k->narrays; i++) {
        const host_array *h = &c->arrays[i];
        memcpy(a.at + h->desc->at, h->base, sizeof h->base);
        for (int k = 0; k < h->type->ndim; k++) {
            const tk_array_extent *e = &h->desc->extents[k];
            const int64_t n = extent_of(c->m, e);
            if (e->kind == TK_EXTENT_ARGUMENT)
                memcpy(a.at + e->at, &n, sizeof n);
        }
    }
    return a;
}

/* What the adjoint gave for the parameters; with `second`, the second-order product. */
static void take_gradients(checker *c, const arguments *out, bool second, state *g)
{
    int64_t at = c->nfield;
    take_tail(c, second ? TK_GRAD_DUAL : TK_GRAD, g);
    for (int i = 0; i < c->nparams; at += c->params[i++].ncomp) {
        const adcheck_param *p = &c->params[i];
        const long from = second ? p->second : p->gradient;
        for (int j = 0; from >= 0 && !p->result && j < p->ncomp; j++)
            g->at[at + j] = number(out->at + from + (size_t)j * (p->single ? sizeof(float) : sizeof(double)), p->single);
    }
}

/* The direction without what has a tangent and no gradient; or seeds without what has no seed. */
static state only_with_gradient(const checker *c, const state *d, bool seeds)
{
    state r = make(d->n);
    memcpy(r.at, d->at, (size_t)d->n * sizeof *d->at);
    int64_t at = c->nfield;
    for (int i = 0; i < c->nparams; i++)
        for (int j = 0; j < c->params[i].ncomp; j++, at++)
            if (seeds ? !c->params[i].result : c->params[i].gradient < 0)
                r.at[at] = 0.0;
    for (int i = 0; i < c->k->narrays; i++)
        for (int64_t j = 0; c->arrays[i].active && j < c->arrays[i].n; j++, at++)
            if (!has(&c->arrays[i], TK_GRAD, !seeds))
                r.at[at] = 0.0;
    return r;
}

static long prints;

static void count_print(void *user, const char *text)
{
    (void)user;
    (void)text;
    prints++;
}

static void need(checker *c, tk_status s)
{
    if (s == TK_OK)
        return;
    printf("%s: %s: %s\n", c->k->name, tk_status_name(s), tk_session_error(c->m->session));
    exit(1);
}

/* Planes that derivatives do not need are memory. Where gradients have a tangent, a JVP takes and a difference follows it, as those of the state. */
static void set_planes(checker *c, const state *d, double h)
{
    if (!c->k->jvp)
        copy(c->m, TK_DUAL, &c->planes, false);
    if (c->k->grad)
        return;
    state at = make(c->nfield);
    int64_t n = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int64_t j = 0; in_state(f) && j < components(f); j++, n++) {
            at.at[n] = c->planes.at[n];
            if (!(f->desc->flags & TK_FIELD_GRAD_DUAL) || f->desc->elem != TK_F64)
                continue;
            at.at[n] += h * d->at[n];
            *(double *)component(f, TK_GRAD_DUAL, j) = d->at[n];
        }
    }
    copy(c->m, TK_GRAD, &at, false);
}

static state primal_at(checker *c, const state *d, double h)
{
    state y = make(c->x.n);
    for (int64_t i = 0; i < y.n; i++)
        y.at[i] = c->x.at[i] + h * d->at[i];
    const arguments args = fill_arguments(c, &y, NULL);
    restore(c->m, &c->b);
    set_planes(c, d, h);
    copy(c->m, TK_DATA, &y, false);
    set_tail(c, TK_DATA, &y);
    need(c, tk_session_set_seed(c->m->session, 7)); /* each launch draws the same random numbers */
    need(c, tk_launch(c->m, c->k, args.at));
    copy(c->m, TK_DATA, &y, true);
    take_tail(c, TK_DATA, &y);
    return y;
}

/* Data and duals are after an adjoint what they were before it, saved fields as well, whose old values it works on. */
static void check_kept(checker *c, const char *what, backup *before)
{
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        const bool data = !memcmp(f->plane[TK_DATA], before->at[i], bytes(f)), dual = !before->dual[i] || !memcmp(f->plane[TK_DUAL], before->dual[i], bytes(f));
        if ((data && dual) || f->member) /* the bytes of a member are those of its neighbours, too */
            continue;
        c->failures++;
        printf("%s: %s changed the %s of '%s'\n", c->k->name, what, data ? "dual" : "data", f->desc->name);
    }
    drop(c->m, before);
}

/* J^T w at x + h d; leaves nothing behind. */
static state gradient_at(checker *c, const state *d, double h, const state *w)
{
    arguments out = {{0}};
    state x = make(c->x.n);
    for (int64_t i = 0; i < x.n; i++)
        x.at[i] = c->x.at[i] + h * d->at[i];
    const arguments args = fill_arguments(c, &x, NULL);
    state y = primal_at(c, d, h);
    copy(c->m, TK_GRAD, (state *)w, false);
    set_tail(c, TK_GRAD, w);
    const long printed = prints;
    backup before = save(c->m);
    need(c, tk_launch_grad(c->m, c->k, args.at, out.at));
    check_kept(c, "the adjoint", &before);
    if (prints != printed) {
        c->failures++;
        printf("%s: the adjoint prints\n", c->k->name);
    }
    copy(c->m, TK_GRAD, &y, true);
    take_gradients(c, &out, false, &y);
    return y;
}

static state jvp(checker *c, const state *d)
{
    const arguments args = fill_arguments(c, &c->x, d);
    state y = make(c->x.n);
    restore(c->m, &c->b);
    set_planes(c, d, 0.0);
    copy(c->m, TK_DATA, &c->x, false);
    copy(c->m, TK_DUAL, (state *)d, false);
    set_tail(c, TK_DATA, &c->x);
    set_tail(c, TK_DUAL, d);
    need(c, tk_session_set_seed(c->m->session, 7));
    need(c, tk_launch_jvp(c->m, c->k, args.at));
    copy(c->m, TK_DUAL, &y, true);
    take_tail(c, TK_DUAL, &y);
    return y;
}

/* (4 D(h/2) - D(h)) / 3 of central differences D. */
static state richardson(const state *p1, const state *m1, const state *p2, const state *m2, double h)
{
    state r = make(p1->n);
    for (int64_t i = 0; i < r.n; i++)
        r.at[i] = (4.0 * (p2->at[i] - m2->at[i]) / h - (p1->at[i] - m1->at[i]) / (2.0 * h)) / 3.0;
    return r;
}

typedef state map_fn(checker *c, const state *d, double h, const state *w);

static state values(checker *c, const state *d, double h, const state *w)
{
    (void)w;
    return primal_at(c, d, h);
}

/* Where f32 is among the numbers: what was added up in f32 may have been that large, whatever is left of it, and what is computed in f64 from it. */
#define SUM_OF_SINGLES 64.0
#define FROM_SINGLES 16.0

/* What is known of differences. */
typedef struct doubt {
    state unsure;                /* how far the extrapolations of three step sizes are apart */
    state rounded;               /* how much of the result may be rounding, where f32 is among the numbers: sums of many are no longer exact */
    state near;                  /* differences of a step so small that rounding is about to take over */
} doubt;

/* A component of f32 cannot be told by steps so small that rounding is about to take over: there, slopes to both sides tell a kink. */
static void doubt_singles(const checker *c, doubt *doubt, state y, state p, state m, double h)
{
    for (int64_t i = 0; i < y.n; i++) {
        doubt->rounded.at[i] = 0x1p-23 * fmax(fabs(y.at[i]), c->single[i] ? SUM_OF_SINGLES : FROM_SINGLES) / (2.0 * h);
        if (c->single[i])
            doubt->unsure.at[i] = fmax(doubt->unsure.at[i], fabs(p.at[i] - 2.0 * y.at[i] + m.at[i]) / h);
    }
}

/* How far the derivative along d is from the sum of those along parts of it. The median of three equal numbers is as steep on both sides along any d; that it
 * follows the same one of them along all parts is not likely. */
static void doubt_parts(checker *c, map_fn *f, const state *d, const state *w, doubt *doubt, const state *whole, double h)
{
    enum { PARTS = 5 };
    state rest = make(d->n), sum = make(d->n);
    memcpy(rest.at, d->at, (size_t)d->n * sizeof *d->at);
    for (int k = 0; k < PARTS; k++) {
        state part = make(d->n);
        for (int64_t i = 0; i < d->n; i++) {
            part.at[i] = k == PARTS - 1 ? rest.at[i] : d->at[i] == 0.0 ? 0.0 : 2.0 * uniform() - 1.0;
            rest.at[i] -= part.at[i];
        }
        const state p1 = f(c, &part, h, w), m1 = f(c, &part, -h, w), p2 = f(c, &part, h / 2, w), m2 = f(c, &part, -h / 2, w), slope = richardson(&p1, &m1, &p2, &m2, h);
        for (int64_t i = 0; i < d->n; i++)
            sum.at[i] += slope.at[i];
    }
    for (int64_t i = 0; i < d->n; i++)
        doubt->unsure.at[i] = fmax(doubt->unsure.at[i], fabs(whole->at[i] - sum.at[i]));
}

/* How far the slopes to both sides of x are apart: extrapolated to steps of zero, since what is curved has that as well. At a kink a central difference gives
 * the mean of both, for all steps. */
static void doubt_sides(doubt *doubt, state y, const state *p2, const state *m2, const state *p, const state *m, double h)
{
    for (int64_t i = 0; i < y.n; i++) {
        const double coarse = (p2->at[i] - 2.0 * y.at[i] + m2->at[i]) / (2.0 * h), fine = (p->at[i] - 2.0 * y.at[i] + m->at[i]) / h;
        doubt->unsure.at[i] = fmax(doubt->unsure.at[i], fabs(2.0 * fine - coarse));
    }
}

/* The derivative of a map along d, by differences. */
static state differences(checker *c, map_fn *f, const state *d, const state *w, doubt *doubt)
{
    const double h = 0x1p-10;
    state p1 = f(c, d, h, w), m1 = f(c, d, -h, w), p2 = f(c, d, h / 2, w), m2 = f(c, d, -h / 2, w);
    state r = richardson(&p1, &m1, &p2, &m2, h);
    if (!doubt)
        return r;
    /* two comparisons: near a jump of the second derivative one of them agrees by chance */
    state p4 = f(c, d, h / 4, w), m4 = f(c, d, -h / 4, w), p8 = f(c, d, h / 8, w), m8 = f(c, d, -h / 8, w);
    state finer = richardson(&p2, &m2, &p4, &m4, h / 2), finest = richardson(&p4, &m4, &p8, &m8, h / 4);
    const state p = f(c, d, 0x1p-32, w), m = f(c, d, -0x1p-32, w);
    doubt->unsure = make(r.n);
    doubt->near = make(r.n);
    doubt->rounded = make(r.n);
    for (int64_t i = 0; i < r.n; i++) {
        doubt->unsure.at[i] = fmax(fabs(finer.at[i] - r.at[i]), fabs(finest.at[i] - finer.at[i]));
        doubt->near.at[i] = (p.at[i] - m.at[i]) / 0x1p-31;
    }
    if (c->single)
        doubt_singles(c, doubt, f(c, d, 0.0, w), p8, m8, h / 8);
    if (c->algorithm) {
        doubt_sides(doubt, f(c, d, 0.0, w), &p4, &m4, &p8, &m8, h / 8);
        doubt_parts(c, f, d, w, doubt, &finest, h / 4);
    }
    return finest;
}

/* Components of which `doubt` (NULL: none) says that `want` is not known are skipped, and those where small steps tell for `got`: a chaotic map that
 * enters by a small factor looks constant from afar. */
static void compare(checker *c, const char *what, const state *got, const state *want, const doubt *doubt, double tolerance)
{
    double top = 0.0, scale = 1.0;
    int64_t worst = 0;
    bool nan = false;
    for (int64_t i = 0; i < got->n; i++) {
        nan |= isnan(got->at[i]) || isnan(want->at[i]);
        if (!doubt || doubt->unsure.at[i] < 0.1 * fmax(1.0, fabs(want->at[i])))
            scale = fmax(scale, fabs(want->at[i]));
    }
    for (int64_t i = 0; i < got->n; i++) {
        const double coarse = !doubt || !c->single ? 1.0 : c->single[i] ? 1e4 : 1e2; /* differences of f32, and of what is computed from it */
        const double off = fmax(0.0, fabs(got->at[i] - want->at[i]) - (doubt ? doubt->rounded.at[i] : 0.0));
        const bool rough = doubt && off > tolerance * scale && fabs(doubt->near.at[i] - got->at[i]) < 0.5 * fabs(doubt->near.at[i] - want->at[i]);
        if (rough || (doubt && doubt->unsure.at[i] > 0.25 * coarse * tolerance * scale)) {
            c->skipped++;
            continue;
        }
        c->compared += doubt != NULL;
        c->telling += doubt && got->at[i] != 0.0 && got->at[i] != c->passed->at[i];
        if (off > coarse * top) {
            top = off / coarse;
            worst = i;
        }
    }
    if (!nan && top <= tolerance * scale)
        return;
    c->failures++;
    printf("%s: %s: component %lld of the state: %.12g, expected %.12g%s\n", c->k->name, what, (long long)worst, got->at[worst], want->at[worst],
           nan ? " (NaN somewhere)" : "");
}

static void compare_numbers(checker *c, const char *what, double a, double b, double scale)
{
    if (fabs(a - b) <= rounding(c, c->algorithm ? 1e-12 : 1e-10) * scale)
        return;
    c->failures++;
    printf("%s: %s: %.15g and %.15g\n", c->k->name, what, a, b);
}

/* How many of the fields that the kernel only reads have no gradient at all. */
static void count_zeros(checker *c, const state *g, const state *w, bool *nonzero)
{
    int64_t at = 0;
    c->inputs = c->zero = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        if (!in_state(f))
            continue;
        unsigned what = 0;
        for (int k = 0; k < c->k->naccess; k++)
            if (c->k->access[k].field == i)
                what |= c->k->access[k].what;
        bool any = false;
        for (int64_t j = 0; j < components(f); j++, at++)
            any |= g->at[at] != w->at[at];
        if ((what & TK_READS) && !(what & (TK_STORES | TK_ACCUMULATES))) {
            c->inputs++;
            nonzero[i] |= any || (c->algorithm && addata_decides(f->desc->name));
            c->zero += !nonzero[i];
            if (getenv("ADCHECK_ZERO") && !nonzero[i])
                printf("zero %s\n", f->desc->name);
        }
    }
}

/* With f32 among the fields, sums in another order may lose digits. */
static void check_threads(checker *c, const state *d, const state *w, const state *y, const state *g, const state *t, int threads)
{
    tk_session_set_threads(c->m->session, threads);
    state again = primal_at(c, d, 0.0);
    compare(c, "value with several threads", &again, y, NULL, c->single ? 2e-3 : 1e-11);
    if (c->k->grad) {
        again = gradient_at(c, d, 0.0, w);
        compare(c, "gradient with several threads", &again, g, NULL, c->single ? 2e-3 : 1e-11);
    }
    if (c->k->jvp) {
        again = jvp(c, d);
        compare(c, "JVP with several threads", &again, t, NULL, c->single ? 2e-3 : 1e-11);
    }
    tk_session_set_threads(c->m->session, 1);
}

/* How much <J d, w> and <d, J^T w> change with x in its last digits: a loop that iterates a chaotic map makes much of them. */
static double sensitivity(checker *c, const state *d, const state *w, double forward, double reverse)
{
    const state x = c->x;
    c->x = make(x.n);
    for (int64_t i = 0; i < x.n; i++)
        c->x.at[i] = x.at[i] * (1.0 + (i % 2 ? 1e-15 : -1e-15));
    const state t = jvp(c, d), g = gradient_at(c, d, 0.0, w);
    c->x = x;
    return fabs(dot(&t, w) - forward) + fabs(dot(d, &g) - reverse);
}

static void check_first(checker *c, const state *d, const state *w, int threads)
{
    doubt doubt = {0};
    c->passed = d;
    state y = primal_at(c, d, 0.0);
    const state dg = only_with_gradient(c, d, false);
    state fd = differences(c, values, c->k->jvp ? d : &dg, NULL, c->table ? &doubt : NULL);
    state t = make(c->x.n), g = make(c->x.n);
    if (c->k->jvp) {
        t = jvp(c, d);
        compare(c, "JVP against differences", &t, &fd, c->table ? &doubt : NULL, 1e-6);
        state v = make(c->x.n);
        jvp(c, d);
        copy(c->m, TK_DATA, &v, true);
        take_tail(c, TK_DATA, &v);
        compare(c, "value computed by the JVP", &v, &y, NULL, rounding(c, 1e-12));
    }
    if (c->k->grad) {
        g = gradient_at(c, d, 0.0, w);
        const state forward = !c->k->jvp ? fd : c->nparams || c->k->narrays ? jvp(c, &dg) : t;
        const double scale = norm(&forward) * norm(w) + norm(&dg) * norm(&g) + 1e-300;
        bool known = true; /* without a JVP, differences must do, unless one of them is at a kink */
        for (int64_t i = 0; i < fd.n && !c->k->jvp && c->table; i++)
            known &= doubt.unsure.at[i] < 1e-7 * (1.0 + norm(&fd));
        const double a = dot(&forward, w), b = dot(&dg, &g);
        if (c->table && c->k->jvp && fabs(a - b) > rounding(c, 1e-10) * scale)
            known = fabs(a - b) > 10.0 * sensitivity(c, &dg, w, a, b);
        if (known)
            compare_numbers(c, "reverse against forward", a, b, c->k->jvp ? scale : 1e4 * scale);
        else
            c->skipped += fd.n;
        count_zeros(c, &g, w, c->nonzero);
    }
    if (threads > 1)
        check_threads(c, d, w, &y, &g, &t, threads);
    for (int n = 2; !threads && n <= 7; n += n == 2 ? 2 : 3)
        check_threads(c, d, w, &y, &g, &t, n);
}

/* H d; and g, which the product gives along. */
static state second_order(checker *c, const state *d, const state *w, state *g)
{
    const arguments args = fill_arguments(c, &c->x, d);
    arguments out = {{0}};
    state zero = make(c->x.n), got = make(c->x.n);
    *g = make(c->x.n);
    need(c, tk_module_need_grad_dual(c->m));
    jvp(c, d);
    copy(c->m, TK_GRAD, (state *)w, false);
    copy(c->m, TK_GRAD_DUAL, &zero, false);
    set_tail(c, TK_GRAD, w);
    set_tail(c, TK_GRAD_DUAL, &zero);
    backup before = save(c->m);
    need(c, tk_launch_hvp(c->m, c->k, args.at, out.at));
    check_kept(c, "the second-order product", &before);
    copy(c->m, TK_GRAD, g, true);
    take_gradients(c, &out, false, g);
    copy(c->m, TK_GRAD_DUAL, &got, true);
    take_gradients(c, &out, true, &got);
    return got;
}

static state second_product(checker *c, const state *d, const state *w)
{
    state g;
    return second_order(c, d, w, &g);
}

/* The adjoint behind a JVP and a second-order product, called directly: it goes by what the JVP has kept. */
static void check_adjoint_behind(checker *c, const state *d, const state *w, const state *want)
{
    const arguments args = fill_arguments(c, &c->x, d);
    arguments out = {{0}};
    state g = make(c->x.n);
    copy(c->m, TK_GRAD, (state *)w, false);
    set_tail(c, TK_GRAD, w);
    need(c, tk_launch_grad(c->m, c->k, args.at, out.at));
    copy(c->m, TK_GRAD, &g, true);
    take_gradients(c, &out, false, &g);
    compare(c, "gradient behind a second-order product", &g, want, NULL, rounding(c, 1e-10));
}

static void check_second(checker *c, const state *d, const state *w)
{
    if (!c->k->hvp)
        return;
    doubt doubt = {0};
    state g;
    const state got = second_order(c, d, w, &g);
    check_adjoint_behind(c, d, w, &g);
    state fd = differences(c, gradient_at, d, w, c->table ? &doubt : NULL);
    compare(c, "second-order product against differences", &got, &fd, c->table ? &doubt : NULL, c->single ? 1e-5 : 1e-6);
}

/* ---- data at ties ---- */

/* Integers, and floats without derivatives: decisions that a launch has written down. */
static state decisions(const tk_module *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->desc->nfields; i++)
        n += in_state(&m->fields[i]) ? 0 : components(&m->fields[i]);
    state s = make(n);
    n = 0;
    for (int i = 0; i < m->desc->nfields; i++) {
        const tk_field *f = &m->fields[i];
        for (int64_t j = 0; !in_state(f) && j < components(f); j++)
            memcpy(&s.at[n++], component(f, TK_DATA, j), scalar_bytes(f));
    }
    return s;
}

static void compare_decisions(checker *c, const char *what, const state *got, const state *want)
{
    int64_t at = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int64_t j = 0; !in_state(f) && j < components(f); j++, at++) {
            if (!memcmp(&got->at[at], &want->at[at], sizeof(double)))
                continue;
            c->failures++;
            printf("%s: %s: decided otherwise: component %lld of '%s'\n", c->k->name, what, (long long)j, f->desc->name);
            return;
        }
    }
}

/* Multiples of the round's step and their neighbours. */
static state state_at_ties(const checker *c, const state *like, int round, double lo, double hi)
{
    state x = make(like->n);
    const double h = adcheck_step ? adcheck_step() : ties_steps[round % (int)(sizeof ties_steps / sizeof *ties_steps)];
    for (int64_t i = 0; i < x.n; i++) {
        const double u[] = {uniform(), uniform(), uniform(), uniform()};
        x.at[i] = ties_draw(h, u, lo, hi, c->f32[i]);
    }
    return x;
}

/* Directions and seeds, which f32 holds exactly where it must. */
static state random_direction(const checker *c)
{
    state d = random_state(c->x.n, -1.0, 1.0);
    for (int64_t i = 0; i < d.n; i++)
        if (c->f32[i])
            d.at[i] = round(d.at[i] * 16.0) / 16.0;
    return d;
}

/* A direction that leaves most fields as they are: what they decide stays decided, and differences tell. */
static state some_fields(const checker *c, const state *d)
{
    state r = make(d->n);
    int64_t at = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const int64_t n = in_state(&c->m->fields[i]) ? components(&c->m->fields[i]) : 0;
        if (uniform() < 0.3)
            memcpy(r.at + at, d->at + at, (size_t)n * sizeof *d->at);
        at += n;
    }
    for (; at < d->n; at++)
        r.at[at] = uniform() < 0.5 ? d->at[at] : 0.0;
    return r;
}

/* The derivative to one side (that of h), extrapolated from three steps; NaN at a jump. */
static state slope(checker *c, const state *d, double h)
{
    const state y = primal_at(c, d, 0.0), y1 = primal_at(c, d, h), y2 = primal_at(c, d, h / 2), y4 = primal_at(c, d, h / 4);
    state r = make(y.n);
    for (int64_t i = 0; i < r.n; i++) {
        const double d1 = (y1.at[i] - y.at[i]) / h, d2 = (y2.at[i] - y.at[i]) / (h / 2), d4 = (y4.at[i] - y.at[i]) / (h / 4);
        r.at[i] = (8.0 * d4 - 6.0 * d2 + d1) / 3.0;
        if (fabs(r.at[i] - (2.0 * d4 - d2)) > 1e-3 * (1.0 + fabs(r.at[i])))
            r.at[i] = NAN;
    }
    return r;
}

/* At a tie a launch goes one of several ways, each of which may be the one on either side. Where both sides agree there is one derivative. */
static void compare_sides(checker *c, const state *d)
{
    const double h = 0x1p-9;
    const state t = jvp(c, d), right = slope(c, d, h), left = slope(c, d, -h);
    for (int64_t i = 0; i < t.n; i++) {
        const double got = t.at[i], scale = 1.0 + fabs(got);
        if (fabs(got - right.at[i]) <= 1e-5 * scale || fabs(got - left.at[i]) <= 1e-5 * scale) {
            c->compared++;
        } else if (!(fabs(right.at[i] - left.at[i]) <= 1e-7 * scale)) {
            c->skipped++;
        } else {
            c->failures++;
            printf("%s: JVP against differences to both sides: component %lld of the state: %.12g, expected %.12g\n", c->k->name, (long long)i, got, right.at[i]);
            return;
        }
    }
}

/* Forward and reverse at the same decisions: nothing excuses that they differ. */
static state same_ways(checker *c, const state *d, const state *w, const char *what)
{
    const state dg = only_with_gradient(c, d, false), t = jvp(c, &dg), g = gradient_at(c, d, 0.0, w);
    const double scale = norm(&t) * norm(w) + norm(&dg) * norm(&g) + 1e-300;
    compare_numbers(c, what, dot(&t, w), dot(&dg, &g), scale);
    return g;
}

/* Of a second-order product at ties: its gradient is the adjoint's, and the Hessian is symmetric. */
static void check_second_at_ties(checker *c, const state *d, const state *w, const state *g)
{
    if (!c->k->hvp || !c->k->grad)
        return;
    const state u = random_direction(c);
    state gd, gu;
    const state dg = only_with_gradient(c, d, false), ug = only_with_gradient(c, &u, false);
    const state hd = second_order(c, &dg, w, &gd), hu = second_order(c, &ug, w, &gu);
    compare(c, "gradient of the second-order product", &gd, g, NULL, rounding(c, 1e-10));
    compare_numbers(c, "symmetry of the second-order product", dot(&hd, &ug), dot(&hu, &dg), norm(&hd) * norm(&ug) + norm(&hu) * norm(&dg) + 1e-300);
}

/* Of a program that computes values twice: `zero` says where they differ. */
static void check_zero(checker *c)
{
    for (int i = 0; i < c->k->naccess; i++) {
        const tk_field *f = &c->m->fields[c->k->access[i].field];
        if (strcmp(f->desc->name, "zero") || !(c->k->access[i].what & TK_STORES))
            continue;
        for (int64_t j = 0; j < components(f); j++) {
            if (*(const int32_t *)component(f, TK_DATA, j) == 0)
                continue;
            c->failures++;
            printf("%s: a value computed twice is two values, at %lld\n", c->k->name, (long long)j);
            return;
        }
    }
}

static void check_at_ties(checker *c, const state *d, const state *w, int threads)
{
    const state y = primal_at(c, d, 0.0), decided = decisions(c->m);
    check_zero(c);
    if (c->k->jvp) {
        state v = make(c->x.n);
        jvp(c, d);
        const state again = decisions(c->m);
        copy(c->m, TK_DATA, &v, true);
        take_tail(c, TK_DATA, &v);
        compare_decisions(c, "JVP at ties", &again, &decided);
        compare(c, "value computed by the JVP at ties", &v, &y, NULL, rounding(c, 1e-12));
    }
    if (c->k->jvp && c->k->grad) {
        const state g = same_ways(c, d, w, "reverse against forward at ties");
        check_second_at_ties(c, d, w, &g);
    }
    if (c->k->jvp && !c->single) {
        const state some = some_fields(c, d);
        compare_sides(c, &some);
    }
    if (threads > 1 && c->k->jvp && c->k->grad) {
        tk_session_set_threads(c->m->session, threads);
        same_ways(c, d, w, "reverse against forward at ties, with several threads");
        tk_session_set_threads(c->m->session, 1);
    }
}

/* ---- the memory beside fields ---- */

/* Each field gets memory of the host between guard zones, but members of structs. */
static void bind_guarded(tk_module *m)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        void *given[] = {NULL, NULL, NULL};
        if (f->member)
            continue;
        for (int p = TK_DATA; p <= TK_DUAL; p++)
            if (f->plane[p])
                given[p] = guard_new(bytes(f));
        adcheck_bind(m, f->desc->name, given);
    }
}

static void check_guards(checker *c)
{
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int p = TK_DATA; f->bound && p <= TK_DUAL; p++) {
            if (!f->plane[p] || guard_whole(f->plane[p], bytes(f)))
                continue;
            c->failures++;
            printf("%s: wrote beside '%s', plane %d\n", c->k->name, f->desc->name, p);
        }
    }
    for (int i = 0; i < c->k->narrays; i++) {
        const host_array *a = &c->arrays[i];
        for (int p = TK_DATA; p <= TK_GRAD_DUAL; p++) {
            if (!a->base[p] || guard_whole(a->base[p], (size_t)(a->n / a->type->ncomp) * a->stride))
                continue;
            c->failures++;
            printf("%s: wrote beside the array '%s', plane %d\n", c->k->name, a->type->name, p);
        }
    }
}

/* ---- validated tapes ---- */

static tk_field *loss_field(const tk_module *m)
{
    for (int i = 0; i < m->desc->nfields; i++)
        if (in_state(&m->fields[i]) && m->fields[i].desc->ndim == 0 && m->fields[i].desc->ncomp == 1)
            return &m->fields[i];
    return NULL;
}

static bool fits_on_tape(const tk_kernel *k)
{
    for (int i = 0; i < k->narrays; i++)
        if (k->arrays[i].what & TK_ARRAY_OUT)
            return false;
    return k->grad && !k->grad_args && !k->result;
}

/* Whether `then` writes to a field that the adjoint of `first` reads. What they do to duals, which kernels without a JVP use, no descriptor tells. */
static bool may_break(const tk_kernel *first, const tk_kernel *then)
{
    if (!first->jvp && !then->jvp)
        return true;
    for (int i = 0; i < first->naccess; i++) {
        const tk_access *read = &first->access[i];
        for (int j = 0; j < then->naccess; j++)
            if (read->field == then->access[j].field && (then->access[j].what & (TK_STORES | TK_ACCUMULATES)) && (read->what & TK_NEEDED))
                return true;
    }
    return false;
}

/* Arguments for a kernel that is not the one being checked. */
static arguments other_arguments(const tk_kernel *k)
{
    arguments a = {{0}};
    int n = 0;
    const adcheck_param *p = adcheck_params ? adcheck_params(k->name, &n) : NULL;
    double halves[MAX_RESULT];
    for (int j = 0; j < MAX_RESULT; j++)
        halves[j] = 0.5;
    for (int i = 0; i < n; i++) {
        if (p[i].ncomp == 0)
            memcpy(a.at + p[i].offset, &p[i].integer, p[i].integer_size);
        else if (!p[i].result)
            put_numbers(a.at + p[i].offset, &p[i], halves);
    }
    return a;
}

static bool same_bits(const state *a, const state *b)
{
    for (int64_t i = 0; i < a->n; i++)
        if (a->at[i] != b->at[i] && !(isnan(a->at[i]) && isnan(b->at[i])))
            return false;
    return true;
}

/* A kernel twice in a row: what a direct call of its adjoint goes by is then of the second launch. */
static bool lost_record(const tk_kernel *k)
{
    bool saved = false;
    for (int i = 0; i < k->naccess; i++)
        saved |= (k->access[i].what & TK_SAVED) != 0;
    return saved || k->record_size > 0 || k->records || k->draws;
}

/* The gradient of one kernel, or of two in a row, when each adjoint finds the data that its launch left. False if an assert of the second one fails: it
 * holds for data that are drawn, not for what the first one makes of them. */
static bool replayed_gradient(checker *c, const arguments *args, const tk_kernel *then, const arguments *then_args, const state *w, state *g)
{
    arguments out = {{0}};
    *g = make(c->x.n);
    restore(c->m, &c->b);
    copy(c->m, TK_DATA, &c->x, false);
    need(c, tk_session_set_seed(c->m->session, 7));
    need(c, tk_launch(c->m, c->k, args->at));
    const backup between = save(c->m);
    const tk_status s = then ? tk_launch(c->m, then, then_args->at) : TK_OK;
    if (s == TK_ASSERT) {
        tk_session_clear_error(c->m->session);
        return false;
    }
    need(c, s);
    copy(c->m, TK_GRAD, (state *)w, false);
    if (then)
        need(c, tk_launch_grad(c->m, then, then_args->at, out.at));
    restore(c->m, &between);
    need(c, tk_launch_grad(c->m, c->k, args->at, out.at));
    copy(c->m, TK_GRAD, g, true);
    return true;
}

/* validate: TK_TAPE_VALIDATE or 0. */
static tk_status run_tape(checker *c, const arguments *args, const tk_kernel *then, const arguments *then_args, const state *w, unsigned validate)
{
    tk_field *const loss = loss_field(c->m);
    need(c, tk_tape_begin(loss, TK_TAPE_CONTINUE | validate));
    restore(c->m, &c->b);
    copy(c->m, TK_DATA, &c->x, false);
    need(c, tk_session_set_seed(c->m->session, 7));
    tk_launch(c->m, c->k, args->at);
    if (then)
        tk_launch(c->m, then, then_args->at);
    copy(c->m, TK_GRAD, (state *)w, false);
    const double *seed_of_loss = loss->plane[TK_GRAD];
    return tk_tape_end_with(loss, *seed_of_loss);
}

/* Of a program that may break the rule inside one launch. */
static bool is_reported(checker *c, const state *w)
{
    const arguments args = fill_arguments(c, &c->x, NULL);
    set_tail(c, TK_DATA, &c->x);
    const tk_status s = run_tape(c, &args, NULL, NULL, w, TK_TAPE_VALIDATE);
    if (s != TK_OVERWRITTEN)
        need(c, s);
    tk_session_clear_error(c->m->session);
    c->taped += s == TK_OK;
    c->reported += s != TK_OK;
    return s != TK_OK;
}

/* On a tape a write over what an adjoint needs is reported, or the gradient is right; and nothing is reported without cause. */
static void check_tape(checker *c, const tk_kernel *then, const state *w, unsigned validate)
{
    if ((validate && !c->m->desc->sites) || !loss_field(c->m) || (adcheck_own_adjoint && adcheck_own_adjoint(c->k->name)) || !fits_on_tape(c->k) || (then && (!fits_on_tape(then) || then->narrays)) ||
        (then == c->k && lost_record(then)))
        return;
    set_tail(c, TK_DATA, &c->x);
    const arguments args = fill_arguments(c, &c->x, NULL), then_args = then ? other_arguments(then) : args;
    state want, got = make(c->x.n);
    if (!replayed_gradient(c, &args, then, &then_args, w, &want))
        return;
    const tk_status s = run_tape(c, &args, then, &then_args, w, validate);
    if (s == TK_OVERWRITTEN && then && may_break(c->k, then)) {
        c->reported++;
        tk_session_clear_error(c->m->session);
        return;
    }
    need(c, s);
    copy(c->m, TK_GRAD, &got, true);
    c->taped++;
    if (same_bits(&got, &want))
        return;
    c->failures++;
    printf("%s%s%s: gradient on a %stape is another one, and nothing is reported\n", c->k->name, then ? ", then " : "", then ? then->name : "", validate ? "validated " : "");
}

/* ---- the values alone ---- */

/* Which of a kernel's functions, how many numbers, and the numbers. */
static void put_state(FILE *out, int kernel, int what, const state *s)
{
    const int64_t head[] = {kernel, what, s->n};
    if (fwrite(head, sizeof head, 1, out) != 1 || fwrite(s->at, sizeof *s->at, (size_t)s->n, out) != (size_t)s->n)
        exit(2);
}

static void put_values(checker *c, FILE *out, int kernel, double lo, double hi)
{
    enum { VALUE, GRADIENT, TANGENT, VALUE_OF_JVP, SECOND };
    c->x = random_state(c->nfield + tail_size(c), lo, hi);
    const state d = random_state(c->x.n, -1.0, 1.0), all = random_state(c->x.n, -1.0, 1.0);
    c->planes = all;
    const state w = only_with_gradient(c, &all, true);
    state s = primal_at(c, &d, 0.0);
    put_state(out, kernel, VALUE, &s);
    if (c->k->grad) {
        s = gradient_at(c, &d, 0.0, &w);
        put_state(out, kernel, GRADIENT, &s);
    }
    if (c->k->jvp) {
        s = jvp(c, &d);
        put_state(out, kernel, TANGENT, &s);
        copy(c->m, TK_DATA, &s, true);
        take_tail(c, TK_DATA, &s);
        put_state(out, kernel, VALUE_OF_JVP, &s);
    }
    if (c->k->hvp) {
        s = second_product(c, &d, &w);
        put_state(out, kernel, SECOND, &s);
    }
}

/* What is not in the state: tables and constants. */
static void fill_rest(tk_module *m, double lo, double hi)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        for (int64_t j = 0; j < components(f); j++) {
            const int64_t small = (j * 7 + 3) % 5;
            if (f->desc->elem >= TK_I8 && f->desc->elem <= TK_U64)
                memcpy(component(f, TK_DATA, j), &small, scalar_bytes(f)); /* little-endian */
            else if (f->desc->elem == TK_BOOL)
                *(bool *)component(f, TK_DATA, j) = j * 5 % 3 == 1;
            else if (f->desc->elem == TK_F64 && !in_state(f))
                *(double *)component(f, TK_DATA, j) = lo + (hi - lo) * uniform();
        }
    }
}

/* ---- algorithms ---- */

static state draw_state(const checker *c, int lattice)
{
    state x = make(c->x.n);
    int64_t at = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        for (int64_t j = 0; in_state(f) && j < components(f); j++)
            x.at[at++] = addata_draw(f->desc->name, lattice, uniform());
    }
    while (at < x.n)
        x.at[at++] = addata_draw(NULL, lattice, uniform());
    return x;
}

static void draw_rest(tk_module *m, int lattice)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        for (int64_t j = 0; j < components(f) && !in_state(f); j++) {
            const long long whole = addata_draw_integer(f->desc->name, uniform());
            if (f->desc->elem == TK_BOOL)
                *(bool *)component(f, TK_DATA, j) = uniform() < 0.5;
            else if (is_float(f))
                set_number(component(f, TK_DATA, j), f->desc->elem == TK_F32, addata_draw(f->desc->name, lattice, uniform()));
            else
                memcpy(component(f, TK_DATA, j), &whole, scalar_bytes(f)); /* little-endian */
        }
    }
}

/* At a kink no difference is known, but Hessians are symmetric: of the branch that was taken. */
static void check_symmetry(checker *c, const state *d, const state *e, const state *w)
{
    if (!c->k->hvp)
        return;
    const state a = only_with_gradient(c, d, false), b = only_with_gradient(c, e, false), p = second_product(c, &a, w), q = second_product(c, &b, w);
    compare_numbers(c, "second-order product both ways", dot(&b, &p), dot(&a, &q), norm(&b) * norm(&p) + norm(&a) * norm(&q) + 1e-300);
}

/* Along one field at a time, so that what jumps or has a kink in one does not hide what is smooth in another. */
static void check_along_fields(checker *c, const state *w)
{
    int64_t at = 0;
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        if (!in_state(f))
            continue;
        bool read = false;
        for (int k = 0; k < c->k->naccess; k++)
            read |= c->k->access[k].field == i && (c->k->access[k].what & TK_READS);
        state d = make(c->x.n);
        for (int64_t j = 0; j < components(f); j++)
            d.at[at++] = 2.0 * uniform() - 1.0;
        if (!read)
            continue;
        check_first(c, &d, w, 1);
        check_second(c, &d, w);
    }
}

/* One set of data. */
static void check_data(checker *c, int lattice, int threads)
{
    draw_rest(c->m, lattice);
    c->b = save(c->m);
    c->x = draw_state(c, lattice);
    const state d = random_state(c->x.n, -1.0, 1.0), e = random_state(c->x.n, -1.0, 1.0), all = random_state(c->x.n, -1.0, 1.0);
    c->planes = all;
    const state w = only_with_gradient(c, &all, true);
    check_first(c, &d, &w, threads);
    check_second(c, &d, &w);
    check_symmetry(c, &d, &e, &w);
    if (lattice != ADDATA_RANDOM)
        check_along_fields(c, &w);
    restore(c->m, &c->b);
}

static void fail_unless(checker *c, bool holds, const char *what)
{
    if (holds)
        return;
    c->failures++;
    printf("%s: %s: compared %ld, of which %ld tell something, left out %ld\n", c->k->name, what, c->compared, c->telling, c->skipped);
}

/* A kernel that sorts or counts: nothing that it writes has a derivative. */
static bool decides_only(const checker *c)
{
    for (int i = 0; i < c->k->naccess; i++)
        if (in_state(&c->m->fields[c->k->access[i].field]) && (c->k->access[i].what & (TK_STORES | TK_ACCUMULATES)))
            return false;
    return !c->k->narrays && !c->k->result;
}

/* Every kernel with a derivative, on two sets of random data and on each lattice. */
static int check_algorithm(tk_module *m, int threads)
{
    int failures = 0, checked = 0;
    for (int k = 0; k < m->desc->nkernels; k++) {
        checker c = {.m = m, .k = &m->desc->kernels[k], .nfield = state_size(m), .table = true, .algorithm = true, .nonzero = new((size_t)m->desc->nfields, sizeof(bool))};
        if (!c.k->grad || (adcheck_own_adjoint && adcheck_own_adjoint(c.k->name)) || addata_within(c.k->name))
            continue;
        if (adcheck_params)
            c.params = adcheck_params(c.k->name, &c.nparams);
        if (c.k->args_size > MAX_ARGS || c.k->jvp_args_size > MAX_ARGS)
            exit(2);
        c.arrays = make_arrays(m, c.k);
        c.x.n = c.nfield + tail_size(&c);
        seed = 424243;
        for (int round = 0; round < 2; round++)
            check_data(&c, ADDATA_RANDOM, threads);
        const bool idle = decides_only(&c);
        fail_unless(&c, idle || (c.telling > 0 && c.skipped < c.compared), "random data say too little");
        if (getenv("ADCHECK_COUNTS"))
            printf("%s: random: compared %ld, telling %ld, left out %ld\n", c.k->name, c.compared, c.telling, c.skipped);
        c.compared = c.skipped = c.telling = 0;
        for (int lattice = 0; lattice < ADDATA_LATTICES; lattice++)
            check_data(&c, lattice, threads);
        fail_unless(&c, idle || c.telling > 0, "data on lattices say nothing");
        fail_unless(&c, idle || c.zero == 0, "an input has no gradient with any data");
        if (getenv("ADCHECK_COUNTS"))
            printf("%s: lattices: compared %ld, telling %ld, left out %ld; inputs %d, without gradient %d\n", c.k->name, c.compared, c.telling, c.skipped, c.inputs, c.zero);
        failures += c.failures;
        checked++;
    }
    if (!checked)
        printf("no derivative to check\n");
    return failures + !checked;
}

int main(int argc, char **argv)
{
    const bool algorithm = argc > 2 && !strcmp(argv[1], "--algorithm");
    const bool broken = argc == 6 && !strcmp(argv[1], "--broken"), table = broken || (argc == 6 && !strcmp(argv[1], "--table"));
    const bool only_values = argc == 5 && !strcmp(argv[1], "--values");
    const int range = table ? 4 : only_values ? 3 : 1;
    const double lo = argc > range + 1 ? atof(argv[range]) : 0.3, hi = argc > range + 1 ? atof(argv[range + 1]) : 1.2;
    const int first = table ? atoi(argv[2]) : 0, threads = table ? atoi(argv[3]) : 0, rounds = table ? 2 : 3;
    tk_session_options o = tk_session_defaults();
    o.threads = 1;
    o.on_print = count_print;
    tk_session *s = tk_session_create(&o);
    tk_module *m = s ? adcheck_create(s) : NULL;
    if (!m) {
        printf("%s\n", tk_error());
        return 2;
    }
    if (algorithm && (!addata_parse || !addata_parse(argc - 3, argv + 3)))
        return 2;
    if (table && adcheck_bind)
        bind_guarded(m);
    fill_rest(m, lo, hi);
    FILE *out = only_values ? fopen(argv[2], "wb") : NULL;
    if (only_values && !out)
        return 2;
    int failures = algorithm ? check_algorithm(m, atoi(argv[2])) : 0, checked = algorithm;
    for (int k = first; k < m->desc->nkernels && !algorithm; k++) {
        if (table || only_values)
            seed = 424243; /* so that a kernel alone is checked with the same data, none of it equal to the constants */
        checker c = {.m = m, .k = &m->desc->kernels[k], .b = save(m), .nfield = state_size(m), .table = table,
                     .nonzero = new((size_t)m->desc->nfields, sizeof(bool))};
        if (adcheck_params)
            c.params = adcheck_params(c.k->name, &c.nparams);
        if (c.k->args_size > MAX_ARGS || c.k->jvp_args_size > MAX_ARGS)
            return 2;
        c.arrays = make_arrays(m, c.k);
        if (only_values)
            put_values(&c, out, k, lo, hi);
        for (int round = 0; round < rounds && !only_values; round++) {
            c.x = random_state(c.nfield + tail_size(&c), lo, hi);
            state d = random_state(c.x.n, -1.0, 1.0), w = random_state(c.x.n, -1.0, 1.0);
            c.single = singles(&c, &c.x, &d, &w);
            c.planes = w;
            w = only_with_gradient(&c, &w, true);
            if (broken && (!fits_on_tape(c.k) || is_reported(&c, &w)))
                continue;
            check_first(&c, &d, &w, threads);
            if (broken)
                continue;
            check_second(&c, &d, &w);
            for (int validate = 0; validate <= TK_TAPE_VALIDATE; validate += TK_TAPE_VALIDATE) {
                check_tape(&c, NULL, &w, (unsigned)validate);
                for (int j = 0; table && j < m->desc->nkernels; j += 1 + m->desc->nkernels / 8)
                    check_tape(&c, &m->desc->kernels[(k + j) % m->desc->nkernels], &w, (unsigned)validate);
            }
        }
        for (int round = 0; round < TIES && table && !broken; round++) {
            state d = random_direction(&c), w = random_direction(&c);
            c.planes = w;
            w = only_with_gradient(&c, &w, true);
            c.x = state_at_ties(&c, &c.x, round, lo, hi);
            check_at_ties(&c, &d, &w, threads);
            check_tape(&c, NULL, &w, TK_TAPE_VALIDATE);
        }
        if (table)
            check_guards(&c);
        restore(m, &c.b);
        failures += c.failures;
        checked += (c.k->grad != NULL) + (c.k->jvp != NULL) + (c.k->hvp != NULL);
        if (table) {
            printf("kernel %d %s %s compared %ld skipped %ld inputs %d zero %d taped %ld reported %ld\n", k, c.k->name, c.failures ? "FAILED" : "ok", c.compared,
                   c.skipped, c.inputs, c.zero, c.taped, c.reported);
            fflush(stdout);
        }
    }
    if (!checked && !table && !only_values) {
        printf("no derivative to check\n");
        failures++;
    }
    if (out && fclose(out) != 0)
        return 2;
    adcheck_destroy(m);
    tk_session_destroy(s);
    return failures != 0;
}
