/* Random functions as typed trees, and what they compute: the oracle for lowering. Integers only, so that results compare exactly. */
#ifndef LOWER_GEN_H
#define LOWER_GEN_H

#include "check/base/typed.h"

/* A module with a few functions; the last one is called with `NARGS` integers and gives one. */
enum { NARGS = 3 };
tx_module *gen_module(arena *mem, ty_pool *types, ir_module *ir, unsigned seed);
tx_func *gen_last(const tx_module *m);

/* Runs a typed tree directly. */
int32_t tree_run(const tx_func *f, const int32_t *args);
/* Runs lowered IR. */
int32_t ir_run(const ir_func *f, const int32_t *args);

#endif
