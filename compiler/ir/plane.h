/* The planes of a field, from the table that libtkc has as well. */
#ifndef TKC_PLANE_H
#define TKC_PLANE_H

#include <stdbool.h>

#include "tkc/tkc_planes.h"

/* Which of a field's storages a memory operation touches. */
typedef enum ir_plane {
#define PLANE(id, ...) IR_##id,
    TK_PLANES(PLANE)
#undef PLANE
        IR_PLANES
} ir_plane;

/* The columns of tkc_planes.h. */
typedef struct ir_plane_info {
    const char *name, *text, *words, *attribute, *note;
    const char *constant, *flag, *tail; /* "TK_GRAD", "TK_FIELD_GRAD", "_grad" */
    unsigned derived;
    bool bound;
} ir_plane_info;
const ir_plane_info *ir_plane_get(ir_plane p);

/* What stands behind a field's name: "", ".grad". */
static inline const char *ir_plane_text(ir_plane p)
{
    return ir_plane_get(p)->text;
}
/* Adjoints, and their tangents; tangents of data and of adjoints. */
static inline bool ir_plane_is_adjoint(ir_plane p)
{
    return (ir_plane_get(p)->derived & TK_OF_ADJOINT) != 0;
}
static inline bool ir_plane_is_tangent(ir_plane p)
{
    return (ir_plane_get(p)->derived & TK_OF_TANGENT) != 0;
}
/* The plane of the adjoints, or tangents, of the numbers in p, which is none of these itself. */
ir_plane ir_adjoint_of(ir_plane p);
ir_plane ir_tangent_of(ir_plane p);
/* The plane that the attribute asks for; IR_PLANES: none. */
ir_plane ir_plane_asked(const char *attribute);
/* The plane that programs call so, x.grad; IR_PLANES: none. */
ir_plane ir_plane_named(const char *name);

#endif
