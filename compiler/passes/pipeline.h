/* The pipeline: passes in their order. Each takes one function, or the module where it must see all, and leaves valid IR (the verifier runs after each in tests and debug builds). */
#ifndef TKC_PIPELINE_H
#define TKC_PIPELINE_H

#include "ir/ir.h"

typedef struct pipeline_options {
    const char *dump_after; /* pass name, "all" or NULL; to stderr */
    bool verify;            /* after every pass */
    bool explain;           /* explain_kernel to stdout */
} pipeline_options;

/* Everything from lowered IR to IR ready for the emitter. False after errors. */
bool pipeline_run(ir_module *m, const pipeline_options *opt);

/* --list-passes */
void pipeline_list(FILE *out);

#endif
