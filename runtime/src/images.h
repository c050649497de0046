/* Images of the data of fields, inside: images.c has the copies of what launches overwrite, segments.c the segments of
 * a tape. */
#ifndef RT_IMAGES_H
#define RT_IMAGES_H

#include "budget.h"
#include "files.h"

static inline int dims_of(const tk_field *f)
{
    return f->desc->ndim + 1;
}

static inline size_t held_bytes(const tk_field *f)
{
    return sizeof(rt_held) + 2 * (size_t)dims_of(f) * sizeof(int64_t);
}

static inline bool is_held(const rt_held *list, const tk_field *f, const int64_t *b)
{
    for (; list; list = list->next)
        if (list->field == f && holds(list->box, b, dims_of(f)))
            return true;
    return false;
}

static inline bool is_whole(const tk_field *f, const int64_t *b)
{
    int64_t whole[2 * DIMS_MAX];
    tk_rt_needs_whole(f, whole);
    return holds(b, whole, dims_of(f));
}

static inline rt_segment *last_segment(const struct rt_budget *b)
{
    return &b->segment[b->nsegments - 1];
}

/* Of a state of so many bytes that is in memory, and perhaps in the file as well. */
static inline size_t tk_rt_image_bytes(const struct rt_budget *u, size_t bytes)
{
    return bytes + (u->file ? sizeof(rt_filed) : 0);
}

#endif
