/* Parallel tasks, inside the emitter: task.c has the kernel's side, task_func.c the function's. */
#ifndef TKC_EMIT_TASK_H
#define TKC_EMIT_TASK_H

#include "codegen/plan.h"
#include "emit/emit_int.h"

enum { MAX_TASK_DIM = 8 };

typedef struct capture {
    const ir_value *value;
    const char *member;
    expr outside; /* its expression in the kernel */
} capture;

typedef struct task {
    const ir_op *op;
    task_plan plan;
    cfn *run, *fn;
    const char *name;
    const char *partial_type; /* NULL: no reductions */
    bool partial_is_struct;
    VEC(capture) captures;
    const char **part_names;           /* of reductions: in the task function, and members of the partial struct */
    const char *members[MAX_TASK_DIM]; /* n0, n1, ... */
    const char *lows[MAX_TASK_DIM];    /* NULL: zero */
    const char *m, *chunk, *partial;   /* other members */
    const char **scatter_members;
    const char *lo, *hi; /* the range, parameters of the function */
    const char *fetched; /* "partial0[k]" while partial results are combined */
} task;

/* Name of reduction k where it is a variable. */
const char *part_hint(const task *t, int k);
/* sum += y, or the strictly better one wins with all its companions: ties keep the earlier. other: the text of value k
 * to combine with vars[k]. */
void combine_parts(cfn *c, const task *t, const char *(*other)(cfn *, const task *, int), const char *const *vars);
/* "before {a, b};", on lines of its own where it is long. items: one a line; freed. */
void print_initialiser(cfn *c, const char *before, strbuf *items);
/* An array of the kernel that the task adds to. */
bool is_array_target(const task *t, const capture *k);
/* Prints the structs and the function to t->run->tasks; t->fn is the function, fresh. The kernel's expressions of
 * captured values are kept. */
void emit_task_function(task *t);

#endif
