/* What activity.c and forward.c share: which memory carries derivatives. */
#ifndef TKC_ACTIVITY_H
#define TKC_ACTIVITY_H

#include "passes/analysis/analysis.h"

/* Which memory has derivative storage in the given mode: indexed by ir_storage, in the module's arena. Forward: data
 * has duals; gradients have duals where the module has second-order products, and cannot change inside a forward scope
 * where it has none. */
bool *activity_storage(const ir_module *m, activity_mode mode);
/* The same where memory counts as constant. */
bool *activity_no_storage(const ir_module *m);
/* Whether a kernel of the module has a second-order product. */
bool activity_has_second_order(const ir_module *m);
/* The plane that holds tangents of the given one. */
ir_plane activity_tangent_plane(ir_plane plane);

#endif
