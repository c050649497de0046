#include "export_beside.h"
#include "host.h"

#include <cmath>

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
    CHECK(std::fabs(m->loss.data[0] - sum) <= 1e-5f);
    m->loss.grad[0] = 1.0f;
    export_beside_step_grad(m, r, &from_kernel);
    float mean = 0.0f, scale_grad = 0.0f, x_grad[8] = {};
    export_beside_mean_square_grad(8, m->x.data, 2.0f, &mean, &one, x_grad, &scale_grad);
    CHECK(std::fabs(mean - 2.0f * 0.255f) <= 1e-5f && std::fabs(scale_grad - 0.255f) <= 1e-5f &&
          std::fabs(x_grad[2] - 0.15f) <= 1e-5f);
    export_beside_mean_square_grad(8, m->x.data, 2.0f, nullptr, &one, nullptr, &scale_grad);
    CHECK(std::fabs(scale_grad - 0.51f) <= 1e-5f);
    float a_grad[4] = {0.0f, 0.0f, 0.0f, -0.0f};
    export_beside_fourth_grad(2, m->x.data, 0, nullptr, &one, a_grad);
    CHECK(std::signbit(a_grad[3])); // otherwise an element that the array does not have was touched
    CHECK_NEAR(from_kernel, r_grad, 1e-4);
    CHECK_OK(m, export_beside_status(m));
    export_beside_destroy(m);
    return failures != 0;
}
