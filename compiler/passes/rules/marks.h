/* What of a kernel is left to its launches to check. */
#ifndef TKC_RULES_MARKS_H
#define TKC_RULES_MARKS_H

#include "passes/analysis/overlap/overlap.h"

/* Launches on a tape mark what `read` reads, and fail where `write` changes what is marked. Of the data of a field. */
void mark_pair(ir_module *m, const access *read, const access *write);

#endif
