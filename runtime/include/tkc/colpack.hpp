/* tkc/colpack.hpp: colours of computed matrices by ColPack 1.0.10 (Debian: libcolpack-dev), for tk_sparse_colour.
 *
 *     tk_sparse_colour(pattern, tkc::colpack, nullptr);
 *
 * Link with -lColPack and -fopenmp. */
#ifndef TK_COLPACK_INCLUDED
#define TK_COLPACK_INCLUDED

#ifndef TK_TKC_INCLUDED /* --runtime=embed: the generated header comes first */
#include <tkc/tkc.h>
#endif

#include <ColPack/ColPackHeaders.h>

namespace tkc
{
namespace detail
{

/* Lines as ColPack takes them: how many columns, and then these. */
class colpack_lines
{
  public:
    colpack_lines(int64_t rows, const int64_t *starts, const int32_t *of) : numbers(), lines()
    {
        numbers.reserve(static_cast<size_t>(starts[rows] + rows));
        for (int64_t i = 0; i < rows; i++) {
            numbers.push_back(static_cast<unsigned>(starts[i + 1] - starts[i]));
            numbers.insert(numbers.end(), of + starts[i], of + starts[i + 1]);
        }
        for (int64_t i = 0; i < rows; i++)
            lines.push_back(numbers.data() + starts[i] + i);
    }

    unsigned **get()
    {
        return lines.data();
    }

  private:
    std::vector<unsigned> numbers;
    std::vector<unsigned *> lines;
};

template <class graph> int32_t colpack_copy(graph &g, void (graph::*get)(std::vector<int> &), int64_t n, int32_t *to)
{
    std::vector<int> colours;
    (g.*get)(colours);
    if (static_cast<int64_t>(colours.size()) != n)
        return -1;
    std::copy(colours.begin(), colours.end(), to);
    return n > 0 ? 1 + *std::max_element(colours.begin(), colours.end()) : 0;
}

} // namespace detail

/** A tk_colouring_fn. user: the name of an ordering of ColPack, a const char *; null: "SMALLEST_LAST". -1 where there
 * is no memory. */
inline int32_t colpack(void *user, bool symmetric, int64_t rows, int64_t cols, const int64_t *starts, const int32_t *of,
                       int32_t *colours)
{
    try {
        const std::string order = user ? static_cast<const char *>(user) : "SMALLEST_LAST";
        detail::colpack_lines lines(rows, starts, of);
        if (symmetric) {
            ColPack::GraphColoringInterface g(SRC_MEM_ADOLC, lines.get(), static_cast<int>(rows));
            g.Coloring(order, "STAR");
            return detail::colpack_copy<ColPack::GraphColoring>(g, &ColPack::GraphColoring::GetVertexColors, cols,
                                                                colours);
        }
        ColPack::BipartiteGraphPartialColoringInterface g(SRC_MEM_ADOLC, lines.get(), static_cast<int>(rows),
                                                          static_cast<int>(cols));
        g.PartialDistanceTwoColoring(order, "COLUMN_PARTIAL_DISTANCE_TWO");
        return detail::colpack_copy<ColPack::BipartiteGraphPartialColoring>(
            g, &ColPack::BipartiteGraphPartialColoring::GetRightVertexColors, cols, colours);
    } catch (const std::bad_alloc &) {
        return -1;
    }
}

} // namespace tkc

#endif
