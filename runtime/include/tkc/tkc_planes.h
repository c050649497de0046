// clang-format off
/* The planes of a field: the memories of numbers that it may have, one number for each number of the data. The compiler
 * and libtkc make their enums, names, members and loops over planes from this table. The planes that the host may bind
 * come first.
 *
 * PLANE(id, name, text, words, derived, attribute, flag, bound, note)
 *   id         TK_id for hosts, IR_id in the compiler
 *   name       the member of a field's view, and the end of names in C: x_grad
 *   text       the text behind the field in programs, printed IR and messages
 *   words      its name in messages of libtkc
 *   derived    its relation to the data: TK_OF_ADJOINT for derivatives of a loss by it, TK_OF_TANGENT for its
 *              derivatives along a direction, both for the tangents of adjoints
 *   attribute  the attribute behind the declaration of a field that adds it; "": none
 *   flag       of the field's descriptor, TK_FIELD_id
 *   bound      1: stands in one block with the data, or in the host's memory; 0: in memory of its own, the library's
 *   note       its description in the header; "": that depends on the layout
 */
// clang-format on
#ifndef TK_PLANES_INCLUDED
#define TK_PLANES_INCLUDED

enum { TK_OF_ADJOINT = 1, TK_OF_TANGENT = 2 };

#define TK_PLANES(PLANE) \
    PLANE(DATA, data, "", "data", 0, "", 0, 1, "") \
    PLANE(GRAD, grad, ".grad", "gradient", TK_OF_ADJOINT, "needs_grad", 1, 1, "gradient, adjoints add into it") \
    PLANE(DUAL, dual, ".dual", "dual", TK_OF_TANGENT, "needs_dual", 2, 1, "tangent") \
    PLANE(GRAD_DUAL, grad_dual, ".grad.dual", "gradient's dual", TK_OF_ADJOINT | TK_OF_TANGENT, "", 4, 0, \
          "tangent of the gradient, second-order products add into it; always the library's memory")

#endif
