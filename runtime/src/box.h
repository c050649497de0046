/* Boxes: a first and a last value for each subscript of a field, and of its components. */
#ifndef RT_BOX_H
#define RT_BOX_H

#include <stdbool.h>
#include <stdint.h>

enum { DIMS_MAX = 9 };

static inline bool meet(const int64_t *a, const int64_t *b, int dims)
{
    for (int d = 0; d < dims; d++)
        if (a[2 * d] > b[2 * d + 1] || b[2 * d] > a[2 * d + 1])
            return false;
    return true;
}

static inline bool holds(const int64_t *a, const int64_t *b, int dims)
{
    for (int d = 0; d < dims; d++)
        if (a[2 * d] > b[2 * d] || a[2 * d + 1] < b[2 * d + 1])
            return false;
    return true;
}

static inline void copy(int64_t *to, const int64_t *b, int dims)
{
    for (int d = 0; d < 2 * dims; d++)
        to[d] = b[d];
}

static inline void surround(int64_t *a, const int64_t *b, int dims)
{
    for (int d = 0; d < dims; d++) {
        a[2 * d] = a[2 * d] < b[2 * d] ? a[2 * d] : b[2 * d];
        a[2 * d + 1] = a[2 * d + 1] > b[2 * d + 1] ? a[2 * d + 1] : b[2 * d + 1];
    }
}

enum { APART = -2, HOLDS = -1 };

/* HOLDS: a holds b. Else the dimension in which they lie side by side, or over each other, so that both together are a
 * box; APART: there is none. */
static inline int relate(const int64_t *a, const int64_t *b, int dims)
{
    int other = HOLDS;
    bool smaller = false;
    for (int d = 0; d < dims; d++, a += 2, b += 2) {
        if (a[0] == b[0] && a[1] == b[1])
            continue;
        if (a[0] <= b[0] && a[1] >= b[1]) {
            smaller = true;
            continue;
        }
        if (other != HOLDS || a[0] > b[1] + 1 || b[0] > a[1] + 1)
            return APART;
        other = d;
    }
    return smaller && other != HOLDS ? APART : other;
}

static inline void extend(int64_t *a, const int64_t *b, int d)
{
    a[2 * d] = a[2 * d] < b[2 * d] ? a[2 * d] : b[2 * d];
    a[2 * d + 1] = a[2 * d + 1] > b[2 * d + 1] ? a[2 * d + 1] : b[2 * d + 1];
}

static inline int64_t extent(const int64_t *b, int d)
{
    return b[2 * d + 1] - b[2 * d] + 1;
}

#endif
