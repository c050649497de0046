#include "lane_masks.h"
#include "host.h"

enum { N = 67 };

static int64_t n[8][N];
static double x[8][N], y[8][N + 1], z[8][N], s[N], shared[2 * N];

static double at(int k) /* on a lattice: ties with every bound */
{
    return (double)(k * 7 % 13) * 0.125;
}

static double poly(double v)
{
    return v * (1.0 + v * (2.0 + v * (3.0 + v * (4.0 + v))));
}

static void fill(lane_masks *m)
{
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < N; i++) {
            x[j][i] = m->x.data[j * N + i] = at(j * N + i);
            z[j][i] = m->z.data[j * N + i] = at(j + i);
            n[j][i] = m->n.data[j * N + i] = (i + j) % 3 ? (i * 5 + j) % 8 : -1000000000 - i;
        }
    for (int i = 0; i < 8 * (N + 1); i++)
        (&y[0][0])[i] = m->y.data[i] = at(i + 3);
    for (int i = 0; i < N; i++)
        s[i] = m->s.data[i] = at(i + 5);
    for (int i = 0; i < 2 * N; i++)
        shared[i] = m->shared.data[i] = at(i + 7);
}

static void masked(void)
{
    for (int i = 0; i < N; i++) {
        double a[8];
        for (int j = 0; j < 8; j++)
            a[7 - j] = x[j][i] > 0.5 ? 2.0 * x[j][i] : x[j][i] + 1.0;
        for (int j = 0; j < 8; j++)
            if (a[j] > 1.0) {
                z[j][i] = a[j];
                if (a[j] > 1.25)
                    s[i] += a[j];
            }
    }
}

static void exclusive(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 8; j++) {
            z[j][i] += poly(x[j][i]);
            if (i % 2 == 0) {
                y[j][i] = x[j][i];
                y[j][i + 1] = -x[j][i];
            }
        }
}

static void inside(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 8; j++) {
            z[j][i] += poly(x[j][i]);
            if (j > 0)
                z[j - 1][i] += x[j][i];
            if (i > 0 && i % 3 == 0)
                shared[i - 1] = x[j][i];
        }
}

static void sided(void)
{
    for (int i = 0; i < N; i++) {
        double a[8] = {0};
        for (int j = 0; j < 8; j++) {
            a[n[j][i] >= 0 ? n[j][i] : 0] += x[j][i];
            if (n[j][i] >= 0)
                a[n[j][i]] *= 2.0;
        }
        for (int j = 0; j < 8; j++)
            z[j][i] = a[j];
    }
}

static void compare(lane_masks *m, const char *what)
{
    if (memcmp(m->y.data, y, sizeof y) || memcmp(m->z.data, z, sizeof z) || memcmp(m->s.data, s, sizeof s) ||
        memcmp(m->shared.data, shared, sizeof shared))
        FAIL("%s: differs", what);
}

int main(void)
{
    lane_masks *m = lane_masks_create(NULL, NULL);
    if (!m)
        return 1;
    fill(m);
    lane_masks_masked(m);
    masked();
    compare(m, "masked");
    fill(m);
    lane_masks_exclusive(m);
    exclusive();
    compare(m, "exclusive");
    fill(m);
    lane_masks_inside(m);
    inside();
    compare(m, "inside");
    fill(m);
    lane_masks_sided(m);
    sided();
    compare(m, "sided");
    lane_masks_destroy(m);
    return failures != 0;
}
