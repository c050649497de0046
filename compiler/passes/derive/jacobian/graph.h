/* The graph of a region's partials: a vertex for each active value, an edge from an operand to a result whose value is
 * the partial derivative. Its elimination gives the local Jacobian. */
#ifndef TKC_JACOBIAN_GRAPH_H
#define TKC_JACOBIAN_GRAPH_H

#include "ir/ir.h"

typedef struct jac_edge {
    int from, to;
    ir_value *by; /* of the type of `to`; NULL: eliminated */
} jac_edge;

typedef struct jac_vertex {
    scalar type;
    VEC(int) in, out; /* edges */
} jac_vertex;

typedef struct jac_graph {
    VEC(jac_vertex) vertices; /* in program order: edges lead from lower numbers to higher ones */
    VEC(jac_edge) edges;
} jac_graph;

void jac_graph_free(jac_graph *g);
int jac_vertex_add(jac_graph *g, scalar type);
/* Adds `by` to the partial of `to` by `from`. A zero is no edge. */
void jac_edge_add(jac_graph *g, ir_builder *b, int from, int to, ir_value *by);

/* Rows are sinks, columns are sources of the graph. */
typedef struct jac_matrix {
    int nrows, ncols;
    ir_value **at;            /* row major; NULL: zero by structure */
    int64_t forward, reverse; /* operations of the two sweeps */
} jac_matrix;

static inline ir_value **jac_entry(const jac_matrix *j, int row, int col)
{
    return &j->at[(int64_t)row * j->ncols + col];
}

/* The partials of the sinks by the sources, built at b: vertices with one predecessor or one successor are eliminated
 * first; then one sweep, forward or reverse, whichever has fewer operations. The graph is used up. rows[i] is a sink or
 * -1: a value that no source reaches. lower: entries right of the diagonal are not wanted, and are NULL.
 * A. Griewank and A. Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapters 9 and 10. */
jac_matrix jac_eliminate(jac_graph *g, ir_builder *b, const int *rows, int nrows, const int *cols, int ncols,
                         bool lower);

#endif
