/* Nests of loops that gcc must not vectorise over the outer loop. */
#ifndef TKC_CODEGEN_NESTS_H
#define TKC_CODEGEN_NESTS_H

#include "codegen/facts.h"

/* Whether two iterations of the loop may store to one element by one store of a loop within: the loop is TK_NO_LANES.
 */
bool nest_stores_again(facts *x, const ir_op *loop);

#endif
