/* What functions need from their callers and do to fields, and what regions cost. */
#ifndef TKC_CODEGEN_FACTS_H
#define TKC_CODEGEN_FACTS_H

#include "ir/ir.h"
#include "util/ptrmap.h"

/* Callees included. */
typedef struct func_facts {
    unsigned char *planes;        /* OP_READS, OP_STORES, OP_ADDS, by ir_storage */
    bool *marked;                 /* by field index: launches on a tape mark what of it is needed */
    bool module, stack, can_fail; /* takes the module, takes a stack, returns false after a failure */
    bool pure;    /* for export funcs: no session; saved values live in the caller's workspace, checks are C's assert */
    bool tasks;   /* holds parallel tasks */
    int64_t cost; /* rough cycles of a run */
} func_facts;

/* Of one module, gathered when asked for. */
typedef struct facts {
    arena *mem;
    const ir_module *m;
    ptrmap shared; /* ir_func -> func_facts */
    ptrmap apart;  /* the same, of functions that export funcs call and that would take a module or a stack */
    bool pure;     /* what is asked for belongs to an export func */
} facts;

facts facts_create(const ir_module *m, arena *mem); /* mem keeps the facts */
void facts_free(facts *x);
const func_facts *facts_of(facts *x, const ir_func *f);

/* Whether others may touch the element of an accumulation or atomic meanwhile; without a class it is an internal error.
 */
bool op_is_scatter(const ir_op *op);
/* True if region r or a callee may leave the function on a failure. */
bool region_may_fail(facts *x, const ir_region *r);
bool region_uses_stack(facts *x, const ir_region *r); /* tasks inside not counted: they have stacks of their own */
int64_t region_cost(facts *x, const ir_region *r);
int64_t task_cost(facts *x, const ir_op *task); /* rough cycles of an iteration, at least 1 */
/* How often an iteration of a task adds to what it scatters into, loops of unknown length taken for 32 trips. */
int64_t task_adds(const ir_op *task, const ir_scatter *s);

#endif
