/* Races of which arguments decide. */
#ifndef TKC_RULES_AT_LAUNCH_H
#define TKC_RULES_AT_LAUNCH_H

#include "passes/analysis/overlap/overlap.h"

/* Puts a check in front of the task, whether two of its iterations meet at an element by a and b, if what is the same
 * in all iterations tells that; false: it does not. what: for the message, "reads 'a' and another one stores
 * into it". */
bool check_race_at_launch(ir_module *m, const access *a, const access *b, ir_op *task, const char *what);

#endif
