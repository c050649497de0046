/* Data of fields that are declared distinct: the numbers below that of their elements, out of order. For parcheck.c and adcheck. */
#ifndef DISTINCT_H
#define DISTINCT_H

#include <stdbool.h>
#include <stdint.h>

#include <tkc/tkc_gen.h>

static inline bool is_distinct(const tk_field *f)
{
    return (f->desc->flags & TK_FIELD_DISTINCT) != 0;
}

/* Of element i: steps without a divisor in common with the number of elements come to each of them. */
static inline int64_t distinct_number(const tk_field *f, int64_t i)
{
    for (int64_t step = f->count * 5 / 8;; step++) {
        int64_t a = f->count, b = step;
        while (b) {
            const int64_t r = a % b;
            a = b;
            b = r;
        }
        if (a == 1)
            return (i * step + f->count / 3) % f->count;
    }
}

#endif
