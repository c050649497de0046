/* How Jacobians and Hessians are made: as straight lines or column by column, and why. */
#include "explain/words.h"
#include "ir/ops.h"

#include <string.h>

static bool is_hessian(const ir_matrix *x)
{
    return x->kind == IR_DERIVE_HESS || x->kind == IR_DERIVE_BLOCKS;
}

static bool is_sparse(const ir_matrix *x)
{
    return x->kind == IR_DERIVE_ROWS || x->kind == IR_DERIVE_BLOCKS;
}

static const char *matrix_word(const ir_matrix *x)
{
    return is_hessian(x) ? "Hessian" : "Jacobian";
}

/* "1 row", "3 rows" */
static const char *number(const words *w, int64_t n, const char *what)
{
    return arena_printf(w->m->mem, "%lld %s%s", (long long)n, what, n == 1 ? "" : "s");
}

static const char *shape(const words *w, const ir_matrix *x)
{
    return arena_printf(w->m->mem, "%s and %s", number(w, x->rows, "row"), number(w, x->cols, "column"));
}

static const char *filled(const words *w, const ir_matrix *x)
{
    return x->entries == 1 ? arena_printf(w->m->mem, "1 entry%s may differ from zero",
                                          is_hessian(x) ? " of the lower triangle" : "")
                           : arena_printf(w->m->mem, "%d entries%s may differ from zero", x->entries,
                                          is_hessian(x) ? " of the lower triangle" : "");
}

/* ---- what is left in a line ---- */

typedef struct left {
    words *w;
    ir_no_line why;
    strbuf lines; /* of loops that stay for that reason */
    strbuf calls; /* "f_partials (line 7)" */
} left;

static void add_loop(ir_op *op, void *ctx)
{
    left *l = ctx;
    if (op->code == OP_LOOP && ir_loop_attr(op)->no_line == l->why)
        add_line(l->w, &l->lines, op->loc);
}

static void add_call(ir_op *op, void *ctx)
{
    left *l = ctx;
    if (op->code == OP_CALL)
        add_name(&l->calls, arena_printf(l->w->m->mem, "%s (%s)", ir_callee_of(op)->name, line_of(l->w, op->loc)));
}

static void explain_loops_of(words *w, const ir_func *line, ir_no_line why)
{
    left l = {.w = w, .why = why};
    ir_walk(line->body, add_loop, &l);
    const char *reason = why ? ir_no_line_text(why) : w->m->debug ? "--debug code unrolls no loops" : NULL;
    if (l.lines.len) {
        const bool many = strchr(sb_str(&l.lines), ',') != NULL;
        say(w, "  - ", "%s %s: %s and %s the Jacobian along%s%s.", many ? "lines" : "line", sb_str(&l.lines),
            many ? "loops stay" : "the loop stays", many ? "carry" : "carries", reason ? ", because " : "",
            reason ? reason : "");
    }
    sb_free(&l.lines);
}

static void explain_left(words *w, const ir_func *line)
{
    for (int why = IR_NO_LINE_NONE; why < IR_NO_LINE_COUNT; why++)
        explain_loops_of(w, line, (ir_no_line)why);
    left l = {.w = w};
    ir_walk(line->body, add_call, &l);
    if (l.calls.len)
        say(w, "  - ", "functions that stay calls: %s.", joined(w, &l.calls));
    sb_free(&l.calls);
}

/* ---- one matrix ---- */

static void explain_line(words *w, const ir_matrix *x)
{
    say(w, "  - ",
        "a straight line of %s, with one evaluation of the function. %lld of them serve%s several results "
        "or entries.",
        number(w, x->operations, "operation"), (long long)x->shared, x->shared == 1 ? "s" : "");
    const bool reverse = x->reverse < x->forward;
    if (x->forward || x->reverse)
        say(w, "  - ", "after the elimination of inner values, a %s sweep of %s. A %s sweep has %lld.",
            reverse ? "reverse" : "forward", number(w, reverse ? x->reverse : x->forward, "operation"),
            reverse ? "forward" : "reverse", (long long)(reverse ? x->forward : x->reverse));
    explain_left(w, x->line);
}

static void explain_columns(words *w, const ir_matrix *x)
{
    const char *why = x->operations ? arena_printf(w->m->mem, "the straight line has %lld operations, more than 10000",
                                                   (long long)x->operations)
                                    : arena_printf(w->m->mem, "%s (%s)", x->why, line_of(w, x->why_at));
    say(w, "  - ", "column by column, a %s each, because %s.", is_hessian(x) ? "second-order product" : "JVP", why);
}

static void explain_made(words *w, const ir_matrix *x)
{
    if (x->line)
        explain_line(w, x);
    else
        explain_columns(w, x);
}

/* ---- of functions and kernels ---- */

static void explain_dense(words *w, const ir_matrix *x)
{
    say(w, "  ", "%s: %s_%s%s has %s.%s%s%s", matrix_word(x), w->m->name, x->of->name, is_hessian(x) ? "_hess" : "_jac",
        shape(w, x), x->line ? " " : "", x->line ? filled(w, x) : "", x->line ? "." : "");
    explain_made(w, x);
}

static void explain_element(words *w, const ir_matrix *x, bool first)
{
    const char *word = is_hessian(x) ? "hess" : "jac";
    const ir_request *r = ir_request_of(x->of, x->kind);
    if (first)
        say(w, "  ", "Sparse %s by %s: %s_%s_%s adds the matrices of elements, the iterations of parallel loops.",
            matrix_word(x), ir_columns_names(w->m->mem, &r->by, ", "), w->m->name, x->of->name, word);
    say(w, "  - ", "%s: an iteration is an element of %s with %s. Its %s has %s. %s.", line_of(w, x->at),
        x->vertices == 1 ? "1 vertex" : arena_printf(w->m->mem, "%d vertices", x->vertices),
        number(w, ir_columns_block(&r->by), "component"), matrix_word(x), shape(w, x), filled(w, x));
    explain_made(w, x);
}

static void explain_computed(words *w, const ir_matrix *x)
{
    const char *word = is_hessian(x) ? "hess" : "jac";
    say(w, "  ", "Sparse %s by %s: %s_%s_%s runs one %s per colour of columns.", matrix_word(x),
        ir_columns_names(w->m->mem, &ir_request_of(x->of, x->kind)->by, ", "), w->m->name, x->of->name, word,
        is_hessian(x) ? "second-order product" : "forward product");
    say(w, "  - ", "the pattern is computed from sets of columns. Iterations are no elements (%s): %s.",
        line_of(w, x->why_at), x->why);
}

void explain_matrices(words *w, const ir_func *k)
{
    bool first = true;
    for (size_t i = 0; i < w->m->matrices.len; i++) {
        const ir_matrix *x = w->m->matrices.at[i];
        if (x->of != k || x->value)
            continue;
        if (is_sparse(x) && !x->vertices)
            explain_computed(w, x);
        else if (is_sparse(x))
            explain_element(w, x, first);
        else
            explain_dense(w, x);
        first = false;
    }
}

/* ---- values: f.jacobian(x), f.hessian(x) ---- */

static bool is_same(const ir_matrix *x, const ir_matrix *y)
{
    return x->value && y->value && x->of == y->of && x->kind == y->kind;
}

/* The first use of a matrix; of a function, if it is the first of its matrices. */
static bool is_first(const words *w, size_t i, bool of_function)
{
    const ir_matrix *x = w->m->matrices.at[i];
    for (size_t k = 0; k < i; k++) {
        const ir_matrix *y = w->m->matrices.at[k];
        if (of_function ? y->value && y->of == x->of : is_same(x, y))
            return false;
    }
    return true;
}

static void explain_value(words *w, size_t i)
{
    const ir_matrix *x = w->m->matrices.at[i];
    strbuf uses = {0};
    for (size_t k = i; k < w->m->matrices.len; k++)
        if (is_same(x, w->m->matrices.at[k]))
            add_line(w, &uses, w->m->matrices.at[k]->at);
    say(w, "  ", "%s (%s %s): %s. %s.", matrix_word(x), strchr(sb_str(&uses), ',') ? "lines" : "line", sb_str(&uses),
        shape(w, x), filled(w, x));
    explain_made(w, x);
    sb_free(&uses);
}

void explain_matrix_values(words *w)
{
    for (size_t i = 0; i < w->m->matrices.len; i++) {
        const ir_matrix *x = w->m->matrices.at[i];
        if (!x->value || !is_first(w, i, true))
            continue;
        say_heading(w, "Matrices of %s (%s)", x->of->name, line_of(w, x->of->loc));
        for (size_t k = i; k < w->m->matrices.len; k++)
            if (w->m->matrices.at[k]->value && w->m->matrices.at[k]->of == x->of && is_first(w, k, false))
                explain_value(w, k);
    }
}
