/* The table of planes. */
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
