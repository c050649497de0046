/* Growable arrays of any element type.
 *
 *     VEC(int) v = {0};
 *     vec_push(&v, 3);
 *     for (size_t i = 0; i < v.len; i++) use(v.at[i]);
 *     vec_free(&v);
 */
#ifndef TKC_VEC_H
#define TKC_VEC_H

#include <stddef.h>
#include <stdlib.h>

#include "util/arena.h"

#define VEC(T) \
    struct { \
        T *at; \
        size_t len, cap; \
    }

#define vec_push(v, x) \
    do { \
        if ((v)->len == (v)->cap) { \
            (v)->cap = (v)->cap ? 2 * (v)->cap : 8; \
            (v)->at = xrealloc((v)->at, (v)->cap * sizeof *(v)->at); \
        } \
        (v)->at[(v)->len++] = (x); \
    } while (0)

#define vec_last(v) ((v)->at[(v)->len - 1])
#define vec_pop(v) ((v)->at[--(v)->len])
#define vec_clear(v) ((void)((v)->len = 0))
#define vec_free(v) (free((v)->at), (v)->at = NULL, (v)->len = (v)->cap = 0)

#endif
