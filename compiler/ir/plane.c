#include "ir/plane.h"

#include <assert.h>
#include <string.h>

const ir_plane_info *ir_plane_get(ir_plane p)
{
    static const ir_plane_info planes[IR_PLANES] = {
#define PLANE(id, name, text, words, derived, attribute, flag, bound, note) \
    {#name, text, words, attribute, note, "TK_" #id, "TK_FIELD_" #id, "_" #name, derived, bound},
        TK_PLANES(PLANE)
#undef PLANE
    };
    return &planes[p];
}

static ir_plane derived_from(ir_plane p, unsigned how)
{
    const unsigned both = ir_plane_get(p)->derived | how;
    int found = IR_DATA;
    while (found < IR_PLANES && ir_plane_get((ir_plane)found)->derived != both)
        found++;
    assert(found < IR_PLANES && both != ir_plane_get(p)->derived);
    return (ir_plane)found;
}

ir_plane ir_adjoint_of(ir_plane p)
{
    return derived_from(p, TK_OF_ADJOINT);
}

ir_plane ir_tangent_of(ir_plane p)
{
    return derived_from(p, TK_OF_TANGENT);
}

ir_plane ir_plane_asked(const char *attribute)
{
    int p = IR_DATA;
    while (p < IR_PLANES && (!*attribute || strcmp(ir_plane_get((ir_plane)p)->attribute, attribute) != 0))
        p++;
    return (ir_plane)p;
}

ir_plane ir_plane_named(const char *name)
{
    int p = IR_DATA;
    while (p < IR_PLANES &&
           (!*ir_plane_get((ir_plane)p)->attribute || strcmp(ir_plane_get((ir_plane)p)->name, name) != 0))
        p++;
    return (ir_plane)p;
}
