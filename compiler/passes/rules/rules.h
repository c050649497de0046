/* What programs must not do, and examples in which they do it. */
#ifndef TKC_PASSES_RULES_H
#define TKC_PASSES_RULES_H

#include "ir/ir.h"

/* Data-access rules (DESIGN: a read that the adjoint needs must still hold its value when the adjoint runs), provable
 * violations only: the loads of primal data that the simplified adjoint still contains are the needed reads; each is
 * held against the primal's writes that may follow it. Also provable races between iterations of one parallel loop. For
 * kernels, and for functions that stayed calls. False after errors. passes/rules/rules.c */
bool pass_rules(ir_func *f);

/* Warns of operations with poles, as sqrt at 0, that a condition keeps from use behind memory, a call or iterations:
 * there the gradient is 0 * inf. Changes nothing, and is never false. passes/rules/far_guards.c */
bool pass_far_guards(ir_module *m);

#endif
