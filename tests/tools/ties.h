/* Data at which decisions are close: multiples of a step, a few of them many times over, and the numbers next to them. And memory that notices who writes
 * beside a field. For adcheck and expcheck.c.
 */
#ifndef TIES_H
#define TIES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The steps of a module whose stub names none. */
static const double ties_steps[] = {0.1, 1.0 / 3.0, 0.25, 0.11, 1.0 / 7.0};

/* k h or k / (1 / h), which differ in the last digit for some k, or a neighbour; in [lo, hi]. u: four numbers in [0, 1). */
static inline double ties_draw(double h, const double u[4], double lo, double hi, bool single)
{
    const double k = rint((lo + (hi - lo) * u[0]) / h);
    double x = u[1] < 0.5 ? k * h : k / rint(1.0 / h);
    if (fabs(x - k * h) > 1e-9)
        x = k * h;
    if (single)
        x = (double)(float)x;
    if (u[2] < 0.3) {
        const double to = u[3] < 0.5 ? -INFINITY : INFINITY;
        x = single ? (double)nextafterf((float)x, (float)to) : nextafter(x, to);
    }
    return x < lo || x > hi ? 0.0 : x;
}

enum { GUARD = 2048, GUARD_BYTE = 0xff }; /* bytes on each side; floats there are NaN */

/* n bytes, zeroed, between two zones. */
static inline void *guard_new(size_t n)
{
    unsigned char *p = malloc(n + 2 * (size_t)GUARD);
    if (!p)
        exit(2);
    memset(p, GUARD_BYTE, n + 2 * (size_t)GUARD);
    memset(p + GUARD, 0, n);
    return p + GUARD;
}

/* Whether nobody wrote there; mends them. */
static inline bool guard_whole(void *at, size_t n)
{
    unsigned char *const zones[] = {(unsigned char *)at - GUARD, (unsigned char *)at + n};
    bool whole = true;
    for (int z = 0; z < 2; z++) {
        for (size_t i = 0; i < GUARD; i++)
            whole &= zones[z][i] == GUARD_BYTE;
        memset(zones[z], GUARD_BYTE, GUARD);
    }
    return whole;
}

#endif
