/* The table of planes, and tangents and gradients in several directions, which are no plane of their field: the data of
 * a field called "x.dual", "x.grad", whose last subscript is the direction. */
#include "rt.h"

const rt_plane *tk_rt_plane(int plane)
{
    static const rt_plane planes[TK_PLANE_COUNT] = {
#define PLANE(id, name, text, words, derived, attribute, flag, bound, note) {text, words, attribute, derived, flag},
        TK_PLANES(PLANE)
#undef PLANE
    };
    return &planes[plane];
}

unsigned tk_rt_plane_needs(int plane)
{
    const rt_plane *p = tk_rt_plane(plane);
    const unsigned follows = p->derived & ~(unsigned)TK_OF_TANGENT;
    for (int k = 0; k < TK_PLANE_COUNT && !*p->attribute; k++)
        if (tk_rt_plane(k)->derived == follows)
            return tk_rt_plane(k)->flag;
    return p->flag;
}

tk_field *tk_rt_wide(const tk_field *f, int plane)
{
    const tk_module *m = f->module;
    const size_t n = strlen(f->desc->name);
    for (int i = m->desc->nfields; i-- > 0 && tk_rt_has_tangents_of(&m->fields[i]);)
        if (!strncmp(m->fields[i].desc->name, f->desc->name, n) &&
            !strcmp(m->fields[i].desc->name + n, tk_rt_plane(plane)->text))
            return &m->fields[i];
    return NULL;
}

int64_t tk_rt_width(const tk_field *f)
{
    const tk_field *wide = tk_rt_wide(f, RT_TANGENT);
    return wide ? wide->shape[wide->desc->ndim - 1] : f->plane[RT_TANGENT] != NULL;
}

int64_t tk_rt_wide_number(const tk_field *f, int64_t k, int64_t direction)
{
    int64_t component;
    const int64_t element = tk_rt_element(f, k, &component);
    return (element * f->desc->ncomp + component) * tk_rt_width(f) + direction;
}
