/* The pipeline: passes in their order. Each takes one function, or the module where it must see all, and leaves valid
 * IR (the verifier runs after each in tests and debug builds). */
#ifndef TKC_PIPELINE_H
#define TKC_PIPELINE_H

#include "ir/ir.h"

/* What the IR is made ready for. */
typedef enum pipeline_target {
    TARGET_C,         /* the emitter */
    TARGET_ITERATIONS /* a compiler that gets the iterations of tasks one by one: no rows, lanes and vectors */
} pipeline_target;

typedef struct pipeline_options {
    pipeline_target target;
    const char *dump_after; /* pass name, "all" or NULL; to stderr */
    bool verify;            /* after every pass */
    bool through_text;      /* each pass gets what is read of the printed IR */
    bool explain;           /* explain_kernel to stdout */
} pipeline_options;

/* Everything from lowered IR to IR ready for the emitter. False after errors. */
bool pipeline_run(ir_module *m, const pipeline_options *opt);

/* --run-pass: one row of the table, whatever comes before it; "lower", which stands in front of the table, leaves the
 * IR as it was read. False after errors, of the verifier as well. */
bool pipeline_has(const char *name);
bool pipeline_run_pass(ir_module *m, const char *name);

/* --list-passes */
void pipeline_list(FILE *out);

#endif
