/* The order of long straight-line code with many results. Operations of a result follow each other, depth first, and
 * the result with the fewest operations left comes next:
 *
 *     a = ..;  b = ..;  c = f(a);  d = f(b);  yield c, d      becomes      a = ..;  c = f(a);  b = ..;  d = f(b)
 *
 * C compilers keep this order, up to their registers. The C stores an entry of a matrix behind its operations.
 */
#include <stdlib.h>

#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"
#include "util/vec.h"

enum { LEFT = -1, DONE = -2 };

typedef struct sequence {
    ir_region *body;
    ir_op **def;   /* by value id: the operation of the body that it follows from, NULL: none */
    int *seen;     /* by id of an operation's first result: number of a walk, LEFT, DONE */
    int walk;      /* number of the current walk */
    int64_t steps; /* of all walks */
} sequence;

typedef VEC(const ir_value *) values;

/* Of all walks: what is left then stands in the order of the results. */
enum { MOST_STEPS = 20000000 };

/* ---- the operations of a value ---- */

typedef void visit_fn(sequence *s, const ir_value *v, int64_t *count);

static void visit_operands(sequence *s, const ir_op *op, visit_fn *visit, int64_t *count)
{
    for (int i = 0; i < op->nargs; i++)
        visit(s, op->args[i], count);
    for (int k = 0; k < op->nregions; k++)
        for (const ir_op *inner = op->regions[k]->first; inner; inner = inner->next)
            visit_operands(s, inner, visit, count);
}

/* Adds the operations that are still to be placed. */
static void count_left(sequence *s, const ir_value *v, int64_t *count)
{
    const ir_op *op = s->def[v->id];
    s->steps++;
    if (!op || s->seen[op->res[0]->id] == DONE || s->seen[op->res[0]->id] == s->walk)
        return;
    s->seen[op->res[0]->id] = s->walk;
    ++*count;
    visit_operands(s, op, count_left, count);
}

static void place(sequence *s, const ir_value *v, int64_t *count)
{
    ir_op *op = s->def[v->id];
    if (!op || s->seen[op->res[0]->id] == DONE)
        return;
    s->seen[op->res[0]->id] = DONE;
    visit_operands(s, op, place, count);
    ir_move(op, s->body, s->body->last);
}

/* ---- the next result ---- */

static size_t shortest(sequence *s, const values *left)
{
    size_t best = 0;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < left->len && least && s->steps < MOST_STEPS; i++) {
        int64_t n = 0;
        s->walk++;
        count_left(s, left->at[i], &n);
        best = n < least ? i : best;
        least = n < least ? n : least;
    }
    return best;
}

static void place_all(sequence *s, const ir_op *yield)
{
    values left = {0};
    int64_t none = 0;
    for (int i = 0; i < yield->nargs; i++)
        vec_push(&left, yield->args[i]);
    while (left.len) {
        const size_t next = shortest(s, &left);
        place(s, left.at[next], &none);
        left.len--;
        for (size_t i = next; i < left.len; i++)
            left.at[i] = left.at[i + 1];
    }
    vec_free(&left);
}

/* ---- the function ---- */

void pass_live_order(ir_func *f)
{
    if (!is_long_line(f))
        return;
    const size_t n = f->next_value + 1;
    sequence s = {
        .body = f->body, .def = xrealloc(NULL, n * sizeof *s.def), .seen = xrealloc(NULL, n * sizeof *s.seen)};
    for (size_t i = 0; i < n; i++) {
        s.def[i] = NULL;
        s.seen[i] = LEFT;
    }
    for (ir_op *op = f->body->first; op; op = op->next)
        for (int i = 0; i < op->nres; i++)
            s.def[op->res[i]->id] = op;
    place_all(&s, ir_yield_of(f->body));
    free(s.def);
    free(s.seen);
}
