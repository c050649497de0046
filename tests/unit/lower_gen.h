/* Random functions as typed trees, and what they compute: the oracle for lowering. Integers only, so that results compare exactly. */
#ifndef LOWER_GEN_H
#define LOWER_GEN_H

#include "check/base/typed.h"

/* A function of `NARGS` integers that gives one, as a typed tree and as IR; it may call others of its module. */
enum { NARGS = 3, NINPUTS = 6 };
typedef struct lowered {
    arena *mem;
    intern_pool *names;
    diag_sink *diag;
    ir_module *ir;
    const tx_func *tree;
    ir_func *f;
} lowered;
lowered gen_lowered(unsigned seed);
void gen_destroy(lowered *l);
extern const int32_t gen_inputs[NINPUTS][NARGS];

/* Runs a typed tree directly. */
int32_t tree_run(const tx_func *f, const int32_t *args);
/* Runs lowered IR. */
int32_t ir_run(const ir_func *f, const int32_t *args);

#endif
