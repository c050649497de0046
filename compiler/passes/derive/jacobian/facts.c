/* How matrices are made: the size of straight lines, and what stands against them. --explain prints it. */
#include "ir/ops.h"
#include "passes/derive/jacobian/linearise_int.h"

ir_matrix *jac_made(const ir_func *of, int kind, int rows, int cols)
{
    ir_matrix *made = ARENA_NEW(of->module->mem, ir_matrix);
    *made = (ir_matrix){.of = of, .kind = kind, .at = of->loc, .rows = rows, .cols = cols};
    return made;
}

void jac_list(const ir_matrix *made)
{
    vec_push(&made->of->module->matrices, made);
}

void jac_count_entries(ir_matrix *made, const bool *pattern)
{
    made->entries = 0;
    for (int64_t k = 0; k < (int64_t)made->rows * made->cols; k++)
        made->entries += pattern[k];
}

/* ---- the size of a line ---- */

static bool counts(const ir_op *op)
{
    return op->nres > 0 && op->code != OP_CONST;
}

static void count(ir_op *op, void *ctx)
{
    *(int64_t *)ctx += counts(op);
}

/* Whom a value serves: NOBODY, result number k + 1, or SEVERAL. */
enum { SEVERAL = -1, NOBODY = 0 };

typedef struct service {
    int *serves; /* by value id */
    int whom;    /* whom the operation serves in whose regions the walk is */
    int64_t shared;
} service;

static int both(int a, int b)
{
    return a == NOBODY ? b : b == NOBODY || a == b ? a : SEVERAL;
}

static void serve(ir_op *op, void *ctx)
{
    service *s = ctx;
    s->shared += counts(op) && s->whom == SEVERAL;
    for (int i = 0; i < op->nargs; i++)
        s->serves[op->args[i]->id] = both(s->serves[op->args[i]->id], s->whom);
}

/* Operations that several of the yielded values follow from; a branch or a loop counts as a whole. */
static int64_t shared_operations(const ir_func *f)
{
    service s = {.serves = ARENA_ARRAY(f->module->mem, int, f->next_value + 1)};
    const ir_op *y = ir_yield_of(f->body);
    for (int i = 0; i < y->nargs; i++)
        s.serves[y->args[i]->id] = both(s.serves[y->args[i]->id], i + 1);
    for (ir_op *op = y->prev; op; op = op->prev) {
        s.whom = NOBODY;
        for (int i = 0; i < op->nres; i++)
            s.whom = both(s.whom, s.serves[op->res[i]->id]);
        serve(op, &s);
        for (int k = 0; k < op->nregions; k++)
            ir_walk(op->regions[k], serve, &s);
    }
    return s.shared;
}

bool jac_is_short(const ir_func *line, ir_matrix *made)
{
    made->operations = 0;
    ir_walk(line->body, count, &made->operations);
    made->shared = shared_operations(line);
    if (made->operations <= JAC_MOST_OPERATIONS) {
        made->line = line;
        return true;
    }
    made->why = "the straight line is too long";
    return false;
}

/* ---- what stands against a line ---- */

typedef struct sought {
    src_loc at;
    bool found;
} sought;

static void find_array(ir_op *op, void *ctx)
{
    sought *s = ctx;
    s->found |= op->code == OP_LOCAL && src_loc_equal(op->loc, s->at);
}

/* The operation makes or uses an array that the program has; else a gradient keeps values there. */
static bool is_of_program(const ir_matrix *made, const ir_op *op)
{
    const ir_op *array = op->code == OP_LOCAL ? op : op->nargs && op->args[0]->def ? op->args[0]->def : op;
    sought s = {array->loc, false};
    ir_walk(made->of->body, find_array, &s);
    return s.found;
}

void jac_refuse(ir_matrix *made, const ir_op *op)
{
    made->why_at = op->loc;
    switch (op->code) {
    case OP_LOCAL:
    case OP_LLOAD:
    case OP_LSTORE:
    case OP_LACCUM:
        made->why = is_of_program(made, op) ? "a local array has active elements"
                                            : "the gradient keeps values of a loop";
        break;
    case OP_STK_ALLOC:
    case OP_STK_STORE:
    case OP_STK_LOAD:
        made->why = "the gradient keeps values of a loop";
        break;
    default:
        made->why = arena_printf(made->of->module->mem, "'%s' has no local Jacobian", op_name(op->code));
        break;
    }
}
