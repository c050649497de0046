/* Which memory carries derivatives, and the engine that finds which values do. */
#ifndef TKC_ACTIVITY_H
#define TKC_ACTIVITY_H

#include "passes/analysis/analysis.h"

/* Which memory has derivative storage in the given mode: indexed by ir_storage, in the module's arena. Forward: data
 * has duals; gradients have duals where the module has second-order products, and cannot change inside a forward scope
 * where it has none. */
bool *activity_storage(const ir_module *m, activity_mode mode);
/* The same for one function: arrays of an export func count by what its derivatives are by. */
bool *activity_storage_of(const ir_func *f, activity_mode mode);
/* The same where memory counts as constant. */
bool *activity_no_storage(const ir_module *m);
/* Whether a kernel of the module has a second-order product. */
bool activity_has_second_order(const ir_module *m);

/* ---- varied and useful sweeps of one function, with the memory model left to the caller ---- */

enum { FLOW_CALLEE_LOADS = 1, FLOW_CALLEE_STORES = 2 };

/* What passes through one slot of a saved-value layout. */
typedef struct flow_slot {
    const ir_layout *layout;
    int64_t slot;
    bool varied, useful;
} flow_slot;

typedef struct flow {
    const ir_func *f;
    bool *varied, *useful; /* indexed by value id */
    VEC(flow_slot) slots;
    bool changed;
    /* Whether a load from that memory is varied, whether a store into it is useful, and what calls of f do of both
     * (FLOW_CALLEE_*). */
    bool (*load_active)(void *ctx, const ir_field *field, ir_plane plane);
    bool (*store_active)(void *ctx, const ir_field *field, ir_plane plane);
    unsigned (*callee)(void *ctx, const ir_func *f);
    void *ctx;
} flow;

flow flow_create(const ir_func *f);
void flow_free(flow *w);
/* Run to the fixpoint from the bits that are set; true if any bit was added. */
bool flow_vary(flow *w);
bool flow_use(flow *w);
/* Marks the parameters that are active inputs: of functions all floats, of kernels those with a gradient (reverse) or
 * all floats but those without tangent (forward). */
void flow_mark_params(flow *w, activity_mode mode);

#endif
