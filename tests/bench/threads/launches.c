/* What a launch of a tiny kernel costs: forward, without a tape. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tiny.h"

enum { LAUNCHES = 1000000, RUNS = 9, KERNELS = 4 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may use the processor */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_one(tiny *m, int kernel)
{
    const double start = now();
    for (int k = 0; k < LAUNCHES; k++) {
        switch (kernel) {
        case 0:
            tiny_single(m);
            break;
        case 1:
            tiny_several(m);
            break;
        case 2:
            tiny_given(m, k, 0.25f);
            break;
        default:
            tiny_total(m);
            break;
        }
    }
    return (now() - start) / LAUNCHES;
}

int main(void)
{
    static const char *const name[KERNELS] = {"0-D", "16 elements", "16 elements, arguments", "sum of 16 elements"};
    tiny *m = tiny_create(NULL, NULL);
    if (!m)
        return 1;
    double t[KERNELS][RUNS];
    for (int r = 0; r < RUNS; r++)
        for (int k = 0; k < KERNELS; k++)
            t[k][r] = time_one(m, k);
    printf("| kernel | ns a launch |\n|---|---|\n");
    for (int k = 0; k < KERNELS; k++) {
        qsort(t[k], RUNS, sizeof t[k][0], compare);
        printf("| %s | %.1f |\n", name[k], 1e9 * t[k][RUNS / 2]);
    }
    const int failed = tiny_status(m) != TK_OK;
    tiny_destroy(m);
    return failed;
}
