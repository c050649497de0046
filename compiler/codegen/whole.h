/* Whose loops the C compiler may take apart. */
#ifndef TKC_CODEGEN_WHOLE_H
#define TKC_CODEGEN_WHOLE_H

#include "codegen/facts.h"

/* Whether a loop of region r, tasks aside, stores what it would not if one of its stores ran for all of its trips
 * before another one did: such a function is TK_WHOLE_LOOPS. */
bool needs_whole_loops(facts *x, const ir_region *r);
/* The same of a task's iterations. */
bool task_needs_whole_loops(facts *x, const ir_op *task);

#endif
