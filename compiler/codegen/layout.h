/* The layout of fields: all of generated code, and of what the header says, that depends on where a field's elements
 * stand. Who adds a layout writes its row of ir/field_layout.def, and here what is different; runtime/src/layout.c is
 * the same for libtkc. */
#ifndef TKC_CODEGEN_LAYOUT_H
#define TKC_CODEGEN_LAYOUT_H

#include "codegen/cexpr.h"
#include "ir/ir.h"
#include "util/strbuf.h"

/* ---- the address of an element ---- */

/* Texts of extents and strides (bytes). They are asked for when an address needs them: they are declared in front. */
typedef struct layout_terms {
    const char *(*extent)(void *ctx, const ir_field *f, int dim);
    const char *(*stride)(void *ctx, const ir_field *f, ir_plane plane, int dim);
    void *ctx;
} layout_terms;

/* A component of an element. */
typedef struct layout_place {
    const ir_field *field;
    ir_plane plane;
    bool flat;       /* of matrices: the pointer to the plane is one to rows of components */
    cexpr at[8];     /* subscripts */
    cexpr component; /* number of the component; nothing of a scalar */
    bool constant;   /* it is `number`, which may lie outside of the element; else known when it runs */
    int64_t number;
} layout_place;

/* "x[i][0]"; where elements are reached by address, that: "x + i * x_stride0 + 4". base: the pointer to the plane. */
cexpr layout_element(arena *mem, const layout_terms *terms, const layout_place *p, const char *base);
/* The component's number in the whole field, as libtkc counts them. */
const char *layout_number(arena *mem, const layout_terms *terms, const layout_place *p);
/* The element's number behind a pointer to a plane: "(i * n1 + j) * n2 + k". */
cexpr layout_position(arena *mem, const layout_terms *terms, const ir_field *f, const cexpr *at);
/* Has no view: C code reaches it by its number in the module. */
bool layout_is_apart(const ir_field *f);
/* Elements may stand anywhere: they are loaded, stored and added to by functions that take an address. */
bool layout_by_address(const ir_field *f);
/* The text of the component's number stands in an address twice. */
bool layout_divides(const ir_field *f);
/* An address is made of more than the pointer and one subscript: of extents or strides, which the module has. */
bool layout_needs_module(const ir_field *f);

/* ---- pointers to planes ---- */

const char *layout_element_type(arena *mem, const ir_field *f); /* "float", "gravity_Body" */
/* Behind it: "[2]", of a matrix "[2][3]" or flat "[6]", of scalars and structs "". */
const char *layout_element_dims(arena *mem, const ir_field *f, bool flat);
/* Declaration in a function: "const float (*restrict const x)[2]"; flat: matrices as one row of components. */
const char *layout_pointer(arena *mem, const ir_field *f, bool is_const, const char *quals, const char *name,
                           bool flat);
/* Whether one pointer to a plane serves both. */
bool layout_one_pointer(const ir_field *f, const ir_field *other);

/* ---- the host's view of a field ---- */

/* As the program calls what the view is of: "x", "p"; of a member with a view of its own "p.link.pos". */
const char *layout_title(const ir_field *f);
const char *layout_id(arena *mem, const ir_field *f);   /* in names of the interface: "x", "p", "p_link_pos" */
const char *layout_view(arena *mem, const ir_field *f); /* where it is in the module's struct: "x", "p.link.pos" */
bool layout_view_is_shared(const ir_field *f);          /* by members of structs */
/* Its tk_field in the module's struct: "x.field", "p.field.link.pos". */
const char *layout_object(arena *mem, const char *view, const ir_field *f);
const char *layout_element_name(arena *mem, const ir_field *f); /* as the program writes it: "vec(2, f32)", "Body" */
const char *layout_word(arena *mem, const ir_field *f);         /* behind that in the header: ", soa" or "" */
const char *layout_note(const ir_field *f);                     /* how the elements lie, for the header */
const char *layout_bind_note(const ir_field *f);                /* how the host's memory must */
/* The declaration of a pointer in the view, "float (*data)[2]", components apart "float *data[2]"; as a parameter. */
const char *layout_view_pointer(arena *mem, const ir_field *f, const char *name);
const char *layout_bind_pointer(arena *mem, const ir_field *f, const char *name);
/* Behind a view's pointer, in the header, to one component: "[k]"; "" where there is one pointer only. */
const char *layout_subscript(const ir_field *f);
bool layout_has_index(const ir_field *f);     /* of several dimensions: the header tells an element's position */
bool layout_takes_strides(const ir_field *f); /* may be bound at strides, which the view then has */
/* The pointer to a plane as C code begins with it; view: of the field, in the struct that m points to. */
const char *layout_plane(arena *mem, const char *m, const char *view, const ir_field *f, ir_plane plane, bool is_const,
                         bool flat);
const char *layout_stride(arena *mem, const char *m, const char *view, ir_plane plane, int dim);
/* Statements that fill the view's pointers to a plane from the module's tk_field; leaf: the first in the view that has
 * the plane. */
void layout_fill_view(arena *mem, strbuf *b, const char *view, const ir_field *f, ir_plane plane, const ir_field *leaf);

/* Of a plane in several directions: the pointer in the view of f, and the statement that fills it. */
const char *layout_wide_pointer(arena *mem, const ir_field *f, ir_plane plane);
void layout_fill_wide(arena *mem, strbuf *b, const char *view, const ir_field *f, ir_plane plane);

/* ---- what libtkc is told ---- */

const char *layout_flag(const ir_field *f); /* of its descriptor: "TK_FIELD_SOA", "" */
unsigned layout_bits(const ir_field *f);    /* of the interface's hash */
const char *layout_bind_function(const ir_field *f);
/* Its row in the table of members: "{1, 0, offsetof(...), sizeof(...)}"; NULL: it has none. */
const char *layout_member_row(arena *mem, const ir_field *f);

#endif
