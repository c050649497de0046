#include "no_slab.h"
#include "host.h"

/* Any addition makes a signalling NaN a quiet one, that of a zero too. */
static const uint64_t untouched = 0x7ff0000000000001;

enum { N = 9, M = 3, ROOM = 128, MOST = N * M * N };

/* A plane with room around it. */
typedef struct memory {
    double at[ROOM + MOST + ROOM];
} memory;

static double *prepare(memory *p, int n)
{
    for (int i = 0; i < ROOM + n + ROOM; i++)
        memcpy(&p->at[i], &untouched, sizeof untouched);
    for (int i = 0; i < n; i++)
        p->at[ROOM + i] = i;
    return p->at + ROOM;
}

static void check(const memory *p, int n, const char *what, int t)
{
    int bad = 0;
    for (int i = 0; i < ROOM + n + ROOM; i++)
        bad += (i < ROOM || i >= ROOM + n) && memcmp(&p->at[i], &untouched, sizeof untouched);
    if (bad)
        FAIL("%s, slab %d: %d numbers beside the field were written", what, t, bad);
}

int main(void)
{
    static memory data[2], grad[2];
    no_slab *m = no_slab_create(NULL, NULL);
    if (!m)
        return 1;
    static const int numbers[] = {0, 1, M, M + 1};
    for (int k = 0; k < 4; k++) {
        const int t = numbers[k];
        no_slab_bind_u(m, prepare(&data[0], M * N), prepare(&grad[0], M * N));
        no_slab_bind_w(m, prepare(&data[1], N * M * N), prepare(&grad[1], N * M * N));
        if (t <= M)
            no_slab_before(m, t), no_slab_before_grad(m, t);
        if (t == 0)
            no_slab_behind(m, M), no_slab_behind_grad(m, M);
        no_slab_plane(m, t), no_slab_plane_grad(m, t);
        no_slab_added(m, t), no_slab_added_grad(m, t);
        for (int i = 0; i < 2; i++) {
            check(&data[i], i ? N * M * N : M * N, i ? "w" : "u", t);
            check(&grad[i], i ? N * M * N : M * N, i ? "w.grad" : "u.grad", t);
        }
        CHECK_OK(m, no_slab_status(m));
    }
    no_slab_destroy(m);
    return failures != 0;
}
