/* The state: all float fields with gradient and dual, as one vector; and what else is in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checker.h"

static uint64_t seed = 12345;

void ad_reseed(uint64_t to)
{
    seed = to;
}

double ad_uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) / 9007199254740992.0;
}

void *ad_new(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p)
        exit(2);
    return p;
}

bool ad_is_float(const tk_field *f)
{
    return f->desc->elem == TK_F32 || f->desc->elem == TK_F64;
}

bool ad_in_state(const tk_field *f)
{
    return ad_is_float(f) && f->plane[TK_GRAD] && f->plane[TK_DUAL];
}

unsigned ad_touches(const tk_kernel *k, int field)
{
    unsigned what = 0;
    for (int i = 0; i < k->nparts; i++)
        what |= k->parts[i].field == field && k->parts[i].plane == TK_DATA ? k->parts[i].what : 0;
    return what;
}

int64_t ad_components(const tk_field *f)
{
    return f->count * f->desc->ncomp;
}

size_t ad_scalar_size(const tk_field_desc *f)
{
    static const size_t size[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    return size[f->elem];
}

size_t ad_scalar_bytes(const tk_field *f)
{
    return ad_scalar_size(f->desc);
}

void *ad_component(const tk_field *f, tk_plane plane, int64_t j)
{
    const size_t n = (size_t)f->desc->ncomp, k = (size_t)j, element = f->member ? f->member->size : n * ad_scalar_bytes(f);
    return (unsigned char *)f->plane[plane] + k / n * element + k % n * ad_scalar_bytes(f);
}

double ad_number(const void *at, bool single)
{
    return single ? (double)*(const float *)at : *(const double *)at;
}

void ad_set_number(void *at, bool single, double value)
{
    if (single)
        *(float *)at = (float)value;
    else
        *(double *)at = value;
}

void ad_copy(tk_module *m, tk_plane plane, state *s, bool to_state)
{
    int64_t k = 0;
    for (int i = 0; i < m->desc->nfields; i++) {
        tk_field *f = &m->fields[i];
        if (!ad_in_state(f))
            continue;
        for (int64_t j = 0; j < ad_components(f); j++, k++) {
            void *at = ad_component(f, plane, j);
            if (to_state)
                s->at[k] = ad_number(at, f->desc->elem == TK_F32);
            else
                ad_set_number(at, f->desc->elem == TK_F32, s->at[k]);
        }
    }
}

int64_t ad_state_size(const tk_module *m)
{
    int64_t n = 0;
    for (int i = 0; i < m->desc->nfields; i++)
        if (ad_in_state(&m->fields[i]))
            n += ad_components(&m->fields[i]);
    return n;
}

size_t ad_bytes(const tk_field *f)
{
    return f->member && f->count ? (size_t)f->count * f->member->size - f->member->offset : (size_t)ad_components(f) * ad_scalar_bytes(f);
}

backup ad_save(const tk_module *m)
{
    backup b = {ad_new((size_t)m->desc->nfields, sizeof *b.at), ad_new((size_t)m->desc->nfields, sizeof *b.dual)};
    for (int i = 0; i < m->desc->nfields; i++) {
        const tk_field *f = &m->fields[i];
        b.at[i] = ad_new(ad_bytes(f), 1);
        memcpy(b.at[i], f->plane[TK_DATA], ad_bytes(f));
        if (!ad_in_state(f))
            continue;
        b.dual[i] = ad_new(ad_bytes(f), 1);
        memcpy(b.dual[i], f->plane[TK_DUAL], ad_bytes(f));
    }
    return b;
}

void ad_restore(tk_module *m, const backup *b)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        const tk_field *f = &m->fields[i];
        memcpy(f->plane[TK_DATA], b->at[i], ad_bytes(f));
        if (b->dual[i])
            memcpy(f->plane[TK_DUAL], b->dual[i], ad_bytes(f));
    }
}

void ad_drop(const tk_module *m, backup *b)
{
    for (int i = 0; i < m->desc->nfields; i++) {
        free(b->at[i]);
        free(b->dual[i]);
    }
    free(b->at);
    free(b->dual);
}

state ad_make(int64_t n)
{
    return (state){ad_new((size_t)n, sizeof(double)), n};
}

state ad_random_state(int64_t n, double lo, double hi)
{
    state s = ad_make(n);
    for (int64_t i = 0; i < n; i++)
        s.at[i] = lo + (hi - lo) * ad_uniform();
    return s;
}

double ad_dot(const state *a, const state *b)
{
    double s = 0.0;
    for (int64_t i = 0; i < a->n; i++)
        s += a->at[i] * b->at[i];
    return s;
}

double ad_norm(const state *a)
{
    return sqrt(ad_dot(a, a));
}
