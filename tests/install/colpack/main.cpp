#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <tkc/colpack.hpp>

#include "grid.h"

/* Values by ColPack's colours against those by libtkc's. */
template <class pattern_fn, class values_fn>
static int compare(grid *m, const char *name, pattern_fn pattern, values_fn values, const char *order)
{
    std::vector<double> all[2];
    size_t colours[2];
    for (int k = 0; k < 2; k++) {
        tk_sparse *p = nullptr;
        for (int i = 0; i < m->params.N; i++)
            m->x.data[i] = std::sin(0.3 * i) + 1.5;
        if (pattern(m, nullptr, &p) != TK_OK)
            return std::printf("%s\n", grid_error(m));
        all[k].resize(tk_sparse_values(p));
        if (k)
            tk_sparse_colour(p, tkc::colpack, const_cast<char *>(order));
        if (values(m, p, all[k].data(), all[k].size()) != TK_OK)
            return std::printf("%s\n", grid_error(m));
        colours[k] = tk_sparse_colours(p);
        tk_sparse_free(p);
    }
    double most = 0;
    for (size_t i = 0; i < all[0].size(); i++)
        most = std::fmax(most, std::fabs(all[0][i] - all[1][i]));
    std::fprintf(stderr, "%s: %zu colours, by ColPack %zu\n", name, colours[0], colours[1]);
    return most > 1e-13 || colours[0] < 2 || colours[1] < 2 || colours[1] > 12;
}

int main()
{
    grid *m = grid_create(nullptr, nullptr);
    const int wrong = compare(m, "jac", grid_flow_jac_pattern, grid_flow_jac, nullptr) ||
                      compare(m, "hess", grid_energy_hess_pattern, grid_energy_hess, nullptr) ||
                      compare(m, "jac", grid_flow_jac_pattern, grid_flow_jac, "LARGEST_FIRST") ||
                      compare(m, "hess", grid_energy_hess_pattern, grid_energy_hess, "NATURAL");
    grid_destroy(m);
    return wrong;
}
