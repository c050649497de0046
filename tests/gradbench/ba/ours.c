#include "ours.h"

#include <string.h>

#include "ba.h"

static const ba_Camera *camera(const ba_input *in, int64_t i)
{
    return (const ba_Camera *)(const void *)in->cameras + in->seen[2 * i];
}

void ba_errors(const ba_input *in, ba_output *out)
{
    for (int64_t i = 0; i < in->p; i++) {
        ba_reprojection(*camera(in, i), in->points + 3L * in->seen[2 * i + 1], in->weights[i], in->features + 2 * i,
                        out->errors + 2 * i);
        ba_weight_error(in->weights[i], out->off + i);
    }
}

void ba_jacobian(const ba_input *in, ba_output *out)
{
    const double one = 1.0;
    double *row = out->values;
    memset(row, 0, (2 * BA_ROW + 1) * (size_t)in->p * sizeof(double));
    for (int64_t i = 0; i < in->p; i++) {
        for (int k = 0; k < 2; k++, row += BA_ROW) {
            const double seed[2] = {k == 0, k == 1};
            ba_reprojection_grad(*camera(in, i), in->points + 3L * in->seen[2 * i + 1], in->weights[i],
                                 in->features + 2 * i, NULL, seed, (ba_Camera *)(void *)row, row + BA_CAMERA,
                                 row + BA_CAMERA + 3, NULL);
        }
    }
    for (int64_t i = 0; i < in->p; i++)
        ba_weight_error_grad(in->weights[i], NULL, &one, row + i);
}
