#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* product = Hessian * v, of the columns of its lower triangle. */
static void multiply(const mesh *k, const double *v, double *product)
{
    const int32_t *begin = tk_sparse_starts(k->hessian), *row = tk_sparse_indices(k->hessian);
    memset(product, 0, (size_t)k->n * sizeof *product);
    for (int j = 0; j < k->n; j++)
        for (int32_t e = begin[j]; e < begin[j + 1]; e++) {
            product[row[e]] += k->values[e] * v[j];
            if (row[e] != j)
                product[j] += k->values[e] * v[row[e]];
        }
}

/* The energy at x + step * v, and the gradient there. */
static double look_along(mesh *k, const double *x, const double *v, double step, double *gradient)
{
    for (int i = 0; i < k->n; i++)
        mesh_places(k)[i] = x[i] + step * v[i];
    const double energy = mesh_derive(k, false);
    memcpy(gradient, mesh_gradient(k), (size_t)k->n * sizeof *gradient);
    return energy;
}

bool compare_with_differences(mesh *k, comparison *c)
{
    const size_t n = (size_t)k->n;
    const double h = 1e-6;
    double *memory = calloc(5 * n, sizeof *memory), *x = memory, *v = x + n, *product = v + n, *above = product + n,
           *below = above + n;
    if (!memory) {
        perror("newton");
        return false;
    }
    memcpy(x, mesh_places(k), n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        v[i] = k->held[i] ? 0.0 : sin(1.7 * (double)i + 0.3) / k->shape.cells;
    double slope = 0.0, difference = 0.0, size = 0.0;
    look_along(k, x, v, 0.0, above);
    for (size_t i = 0; i < n; i++)
        slope += above[i] * v[i];
    multiply(k, v, product);
    const double high = look_along(k, x, v, h, above), low = look_along(k, x, v, -h, below);
    for (size_t i = 0; i < n; i++) {
        const double d = fabs((above[i] - below[i]) / (2.0 * h) - product[i]);
        difference = d <= difference ? difference : d; /* keeps a NaN */
        size = fmax(size, fabs(product[i]));
    }
    c->gradient = fabs((high - low) / (2.0 * h) - slope) / fabs(slope);
    c->hessian = difference / size;
    memcpy(mesh_places(k), x, n * sizeof *x);
    free(memory);
    return newton_status(k->m) == TK_OK || mesh_fails(k);
}
