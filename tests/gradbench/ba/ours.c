#include "ours.h"

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
    for (int64_t i = 0; i < in->p; i++, row += 2 * BA_ROW)
        ba_observation(*camera(in, i), in->points + 3L * in->seen[2 * i + 1], in->weights[i], in->features + 2 * i,
                       out->errors + 2 * i, (ba_Row *)(void *)row, (ba_Row *)(void *)(row + BA_ROW));
    for (int64_t i = 0; i < in->p; i++)
        row[i] = 0.0;
    for (int64_t i = 0; i < in->p; i++)
        ba_weight_error_grad(in->weights[i], out->off + i, &one, row + i);
}
