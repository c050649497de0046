/* What a kernel takes and gives beside fields: its parameters, its result, arrays of the host. Their floats are the tail of the state. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checker.h"
#include "ties.h"

/* ---- f32 among the numbers ---- */

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

bool *ad_singles(checker *c, state *x, state *d, state *w)
{
    bool any = false;
    int64_t at = 0;
    c->f32 = ad_new((size_t)x->n, sizeof *c->f32);
    for (int i = 0; i < c->m->desc->nfields; i++) {
        const tk_field *f = &c->m->fields[i];
        any |= f->desc->elem == TK_F32 && ad_touches(c->k, i) != 0;
        if (ad_in_state(f) && f->desc->elem == TK_F32)
            shorten(c, at, ad_components(f), x, d, w);
        at += ad_in_state(f) ? ad_components(f) : 0;
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

int64_t ad_tail_size(const checker *c)
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
    a->stride = member ? member->size : (size_t)a->type->ncomp * ad_scalar_size(a->type);
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
    host_array *all = ad_new((size_t)k->narrays, sizeof *all);
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

checker ad_checker(tk_module *m, const tk_kernel *k)
{
    checker c = {.m = m, .k = k, .nfield = ad_state_size(m), .nonzero = ad_new((size_t)m->desc->nfields, sizeof *c.nonzero)};
    if (adcheck_params)
        c.params = adcheck_params(k->name, &c.nparams);
    if (k->args_size > MAX_ARGS || k->jvp_args_size > MAX_ARGS)
        exit(2);
    c.arrays = make_arrays(m, k);
    return c;
}

/* Component j of an array. */
static void *number_at(const host_array *a, tk_plane plane, int64_t j)
{
    return a->plane[plane] + j / a->type->ncomp * (int64_t)a->stride + j % a->type->ncomp * (int64_t)ad_scalar_size(a->type);
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

void ad_set_tail(checker *c, tk_plane plane, const state *s)
{
    int64_t at = c->nfield;
    for (int i = 0; i < c->nparams; at += c->params[i++].ncomp)
        if (c->params[i].result)
            for (int j = 0; j < c->params[i].ncomp; j++)
                ad_set_number(result_at(c, &c->params[i], plane, j), c->params[i].single, s->at[at + j]);
    for (int i = 0; i < c->k->narrays; i++) {
        const host_array *a = &c->arrays[i];
        for (int64_t j = 0; !a->active && plane == TK_DATA && j < a->n; j++) {
            const int64_t small = a->type->elem == TK_BOOL ? j * 5 % 3 == 1 : (j * 7 + 3) % 5;
            memcpy(number_at(a, TK_DATA, j), &small, ad_scalar_size(a->type)); /* little-endian */
        }
        if (!a->active)
            continue;
        const bool gradient = plane == TK_GRAD || plane == TK_GRAD_DUAL;
        for (int64_t j = 0; a->plane[plane] && j < a->n; j++)
            ad_set_number(number_at(a, plane, j), a->single, has(a, plane, false) ? s->at[at + j] : gradient ? 0.0 : 99.0);
        at += a->n;
    }
}

void ad_take_tail(checker *c, tk_plane plane, state *s)
{
    int64_t at = c->nfield;
    const bool gradient = plane == TK_GRAD || plane == TK_GRAD_DUAL;
    for (int i = 0; i < c->nparams; at += c->params[i++].ncomp)
        for (int j = 0; j < c->params[i].ncomp; j++)
            s->at[at + j] = c->params[i].result && !gradient ? ad_number(result_at(c, &c->params[i], plane, j), c->params[i].single) : 0.0;
    for (int i = 0; i < c->k->narrays; i++) {
        const host_array *a = &c->arrays[i];
        for (int64_t j = 0; a->active && j < a->n; j++, at++)
            s->at[at] = has(a, plane, true) ? ad_number(number_at(a, plane, j), a->single) : 0.0;
    }
}

void ad_put_numbers(unsigned char *to, const adcheck_param *p, const double *from)
{
    for (int j = 0; j < p->ncomp; j++)
        ad_set_number(to + (size_t)j * (p->single ? sizeof(float) : sizeof(double)), p->single, from[j]);
}

arguments ad_fill_arguments(checker *c, const state *x, const state *d)
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
            ad_put_numbers(a.at + p->offset, p, x->at + at);
            if (d)
                ad_put_numbers(a.at + p->tangent, p, d->at + at);
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

void ad_take_gradients(checker *c, const arguments *out, bool second, state *g)
{
    int64_t at = c->nfield;
    ad_take_tail(c, second ? TK_GRAD_DUAL : TK_GRAD, g);
    for (int i = 0; i < c->nparams; at += c->params[i++].ncomp) {
        const adcheck_param *p = &c->params[i];
        const long from = second ? p->second : p->gradient;
        for (int j = 0; from >= 0 && !p->result && j < p->ncomp; j++)
            g->at[at + j] = ad_number(out->at + from + (size_t)j * (p->single ? sizeof(float) : sizeof(double)), p->single);
    }
}

state ad_only_with_gradient(const checker *c, const state *d, bool seeds)
{
    state r = ad_make(d->n);
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
