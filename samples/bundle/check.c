#include "check.h"

#include <math.h>
#include <string.h>

#include "bundle.h"

static double worse(double a, double b)
{
    return b <= a ? a : b; /* a NaN stays */
}

static double of_sight(const double camera[CAMERA], const double point[POINT], const double seen[SEEN])
{
    double z[BOTH], J[SEEN][BOTH], r[SEEN], above[SEEN], below[SEEN], worst = 0.0;
    memcpy(z, camera, CAMERA * sizeof *z);
    memcpy(z + CAMERA, point, POINT * sizeof *z);
    bundle_residual_jac(z, z + CAMERA, seen, r, J[0], BOTH);
    for (int j = 0; j < BOTH; j++) {
        const double at = z[j], h = 6e-6 * fmax(fabs(at), 0.1);
        z[j] = at + h;
        bundle_residual(z, z + CAMERA, seen, above);
        z[j] = at - h;
        bundle_residual(z, z + CAMERA, seen, below);
        z[j] = at;
        const double size = fmax(1.0, fmax(fabs(J[0][j]), fabs(J[1][j])));
        for (int i = 0; i < SEEN; i++)
            worst = worse(worst, fabs((above[i] - below[i]) / (2.0 * h) - J[i][j]) / size);
    }
    return worst;
}

double compare_with_differences(const scene *s)
{
    double worst = 0.0;
    for (int i = 0; i < s->sights; i++) {
        const sight *t = &s->sight[i];
        double camera[CAMERA];
        worst = worse(worst, of_sight(s->camera[t->camera], s->point[t->point], t->at));
        memcpy(camera, s->camera[t->camera], sizeof camera);
        memset(camera, 0, 3 * sizeof *camera);
        camera[5] = -10.0 - fabs(s->point[t->point][2]); /* in front of it */
        worst = worse(worst, of_sight(camera, s->point[t->point], t->at));
    }
    return worst;
}
