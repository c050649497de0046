/* Minimum cuts of flow networks. */
#ifndef TKC_CUT_H
#define TKC_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/vec.h"

/* More than all capacities together that a cut may go through. */
#define CUT_NEVER (INT64_MAX / 4)

typedef struct cut_edge {
    int to, next; /* next: of the same node, -1: none. The edge back is the one at index ^ 1 */
    int64_t room; /* capacity that is left */
} cut_edge;

typedef struct cut_graph {
    VEC(cut_edge) edges;
    VEC(int) first; /* by node: index of an edge, -1: none */
    VEC(int) level; /* by node: steps from the source, -1: out of reach */
} cut_graph;

enum { CUT_SOURCE, CUT_SINK };

/* With a source and a sink. To be freed. */
cut_graph cut_create(void);
void cut_free(cut_graph *g);
int cut_node(cut_graph *g);
/* At most CUT_NEVER. */
void cut_edge_add(cut_graph *g, int from, int to, int64_t capacity);
/* Splits the nodes so that the edges from the source's side to the sink's have the least capacity together. Of several
 * such splits, the one with the fewest nodes on the source's side.
 *
 * Y. Dinitz: Algorithm for solution of a problem of maximum flow in a network with power estimation, 1970. */
void cut_solve(cut_graph *g);
/* Behind cut_solve. */
bool cut_is_with_source(const cut_graph *g, int node);

#endif
