#include <cmath>
#include <cstdio>

#include "export_beside.h"

int main()
{
    export_beside *m = export_beside_create(nullptr, nullptr);
    if (!m)
        return 1;
    float sum = 0.0f, r_grad = 0.0f, from_kernel = 0.0f;
    const float one = 1.0f, r = 2.9f;
    for (int i = 0; i < 8; i++) {
        alignas(8) unsigned char work[export_beside_population_grad_WORKSPACE];
        m->x.data[i] = 0.1f * static_cast<float>(i + 1);
        float value;
        export_beside_population_grad(m->x.data[i], r, &value, &one, nullptr, &r_grad, work);
        sum += value;
    }
    export_beside_step(m, r);
    if (std::fabs(m->loss.data[0] - sum) > 1e-5f)
        return 2;
    m->loss.grad[0] = 1.0f;
    export_beside_step_grad(m, r, &from_kernel);
    const bool ok = std::fabs(from_kernel - r_grad) < 1e-4f * (1.0f + std::fabs(r_grad)) && export_beside_status(m) == TK_OK;
    export_beside_destroy(m);
    return ok ? 0 : 3;
}
