/* Semantic types, interned: equal types are equal pointers. */
#ifndef TKC_TYPES_H
#define TKC_TYPES_H

#include <stdbool.h>

#include "util/arena.h"
#include "util/scalar.h"

typedef enum ty_kind {
    TY_ERROR, /* of something already reported: silences what follows */
    TY_VOID,
    TY_SCALAR, /* elem */
    TY_VEC,    /* rows components of elem */
    TY_MAT,    /* rows x cols of elem, row-major */
    TY_STRUCT, /* name, members; its leaves are the members that are no structs, those of nested ones included */
    TY_STRING,
    TY_ARRAY, /* local array: `of`, extents; ndim */
    TY_TUPLE  /* several results */
} ty_kind;

typedef struct ty ty;
struct ty {
    ty_kind kind;
    scalar elem;
    int rows, cols; /* scalar 1 x 1, vec n x 1 */
    const ty *of;
    int ndim;
    long extents[8];    /* -1: known when the kernel runs */
    const ty **members; /* tuple, struct */
    int nmembers;
    /* struct */
    const struct ir_struct *structure; /* what it is in the interface */
    const char *name, **names;         /* names: of the members */
    int *first;                        /* by member: its first leaf */
    const ty **leaves;
    const char **paths; /* of the leaves: "inner.pos" */
    int nleaves;
};

typedef struct ty_pool ty_pool;
/* real: the module's default float, whose vectors are named vec3 rather than vec(3, f32). */
ty_pool *ty_pool_create(arena *mem, scalar real);
const ty *ty_error(ty_pool *p);
const ty *ty_void(ty_pool *p);
const ty *ty_string(ty_pool *p);
const ty *ty_scalar(ty_pool *p, scalar s);
const ty *ty_vec(ty_pool *p, int n, scalar s);
const ty *ty_mat(ty_pool *p, int n, int m, scalar s);
const ty *ty_array(ty_pool *p, const ty *of, int ndim, const long *extents);
const ty *ty_tuple(ty_pool *p, int n, const ty *const *members);
/* A struct, equal to no other. */
const ty *ty_struct(ty_pool *p, const struct ir_struct *structure, const char *name, int n, const char *const *names,
                    const ty *const *members);
/* What a value consists of that is no struct: the leaves of a struct or of an array of structs, else the type itself.
 */
int ty_nleaves(const ty *t);
const ty *ty_leaf(ty_pool *p, const ty *t, int k);
/* A result as lowering knows it: structs, also inside a tuple, are so many results. */
const ty *ty_flat(ty_pool *p, const ty *t);
bool ty_has_struct(const ty *t); /* a struct, or a tuple with one */
/* The same shape with another component type. */
const ty *ty_with_elem(ty_pool *p, const ty *t, scalar s);
int ty_ncomp(const ty *t); /* scalar 1, vec n, mat n*m; structs: of all members; arrays: of all elements, 0 where an
                              extent is not constant */
bool ty_is_numeric(const ty *t); /* scalar (also bool), vec or mat */
bool ty_is_value(const ty *t);   /* numeric or a struct */
bool ty_has_floats(const ty *t);
/* Name as written in .tk, for messages: "vec3", "mat(2, 3, f64)". */
const char *ty_name(ty_pool *p, const ty *t);

#endif
