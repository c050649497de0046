/* Minimum cuts against all splits of small networks, and of a network too deep to recurse into. */
// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include "passes/derive/min_cut.h"

enum { NODES = 9, EDGES = 30 };

typedef struct edge {
    int from, to;
    int64_t capacity;
} edge;

static uint32_t next(uint32_t *r)
{
    *r ^= *r << 13;
    *r ^= *r >> 17;
    return *r ^= *r << 5;
}

/* What a split costs; bit k of `with`: node k is on the source's side. */
static int64_t cost(const edge *edges, int n, unsigned with)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        if (with >> edges[i].from & 1 && !(with >> edges[i].to & 1))
            sum += edges[i].capacity;
    return sum;
}

static void test_all_splits(void **state)
{
    (void)state;
    uint32_t r = 20261123;
    for (int round = 0; round < 3000; round++) {
        edge edges[EDGES];
        const int n = 1 + (int)(next(&r) % EDGES);
        cut_graph g = cut_create();
        for (int k = 2; k < NODES; k++)
            assert_int_equal(cut_node(&g), k);
        for (int i = 0; i < n; i++) {
            const int from = (int)(next(&r) % NODES), to = (int)(next(&r) % NODES);
            edges[i] = (edge){from, to, next(&r) % 12 ? next(&r) % 5 : 1000};
            cut_edge_add(&g, from, to, edges[i].capacity);
        }
        cut_solve(&g);
        int64_t least = INT64_MAX;
        unsigned fewest = 0;
        for (unsigned with = 0; with < 1u << NODES; with++) {
            if (!(with >> CUT_SOURCE & 1) || with >> CUT_SINK & 1)
                continue;
            const int64_t c = cost(edges, n, with);
            fewest = c < least ? with : c == least ? fewest & with : fewest;
            least = c < least ? c : least;
        }
        unsigned found = 0;
        for (int k = 0; k < NODES; k++)
            found |= (unsigned)cut_is_with_source(&g, k) << k;
        assert_int_equal(found, fewest); /* what all least splits share is one of them */
        assert_int_equal(cost(edges, n, found), least);
        cut_free(&g);
    }
}

static void test_deep(void **state)
{
    (void)state;
    enum { DEPTH = 300000, NARROW = 170000 };
    cut_graph g = cut_create();
    int last = CUT_SOURCE;
    for (int k = 0; k < DEPTH; k++) {
        const int node = cut_node(&g);
        cut_edge_add(&g, last, node, k == NARROW ? 3 : CUT_NEVER);
        last = node;
    }
    cut_edge_add(&g, last, CUT_SINK, 4);
    cut_solve(&g);
    assert_true(cut_is_with_source(&g, 2 + NARROW - 1));
    assert_false(cut_is_with_source(&g, 2 + NARROW));
    cut_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_splits), cmocka_unit_test(test_deep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
