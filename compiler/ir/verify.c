/* The verifier: what every pass must leave intact. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/ops.h"

typedef struct verifier {
    const ir_func *func;
    const char *pass;
    bool *seen;        /* by value id: an id may be defined once */
    bool *visible;     /* by value id: defined before this point in this or an enclosing region */
    const ir_op *task; /* around what is looked at, or NULL */
    unsigned gone;     /* ir_gone */
} verifier;

__attribute__((format(printf, 3, 4))) static bool fault(const verifier *v, const ir_op *op, const char *fmt, ...)
{
    if (v->pass)
        fprintf(stderr, "internal error: invalid IR after pass '%s' in '%s'", v->pass, v->func->name);
    else
        fprintf(stderr, "error: invalid IR in '%s'", v->func->name);
    if (op) {
        fprintf(stderr, ", operation '%s'", op_name(op->code));
        if (op->nres && op->res[0])
            fprintf(stderr, " (%%%" PRIu32 ")", op->res[0]->id);
        if (op->loc.line)
            fprintf(stderr, " at %" PRIu32 ":%u", op->loc.line, (unsigned)op->loc.col);
    }
    fputs(": ", stderr);
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    return false;
}

static bool define(verifier *v, const ir_op *op, const ir_value *x)
{
    if (x->id >= v->func->next_value)
        return fault(v, op, "value %%%" PRIu32 " has an id of another function", x->id);
    if (v->seen[x->id])
        return fault(v, op, "value %%%" PRIu32 " is defined twice", x->id);
    if (x->type == SC_NONE)
        return fault(v, op, "value %%%" PRIu32 " has no type", x->id);
    v->seen[x->id] = v->visible[x->id] = true;
    return true;
}

/* ---- one operation ---- */

static bool expect_type(const verifier *v, const ir_op *op, const ir_value *x, scalar t, const char *what)
{
    if (x->type != t)
        return fault(v, op, "%s %%%" PRIu32 " is %s, not %s", what, x->id, scalar_name(x->type), scalar_name(t));
    return true;
}

static bool expect_shape(const verifier *v, const ir_op *op, int nargs, int nres, int nregions)
{
    if (op->nargs != nargs || op->nres != nres || op->nregions != nregions)
        return fault(v, op, "has %d operands, %d results, %d regions; expected %d, %d, %d", op->nargs, op->nres,
                     op->nregions, nargs, nres, nregions);
    return true;
}

static bool check_pure(const verifier *v, const ir_op *op)
{
    const op_info *info = op_get(op->code);
    if (!expect_shape(v, op, info->arity, 1, 0))
        return false;
    scalar types[3] = {SC_NONE, SC_NONE, SC_NONE}, common = SC_NONE;
    for (int i = 0; i < op->nargs; i++) {
        types[i] = op->args[i]->type;
        if (!op_admits(op->code, i, types[i]))
            return fault(v, op, "operand %d is of type %s", i, scalar_name(types[i]));
        bool shared = info->operands != OPERANDS_FI && !(info->operands == OPERANDS_BAA && i == 0);
        if (shared && common != SC_NONE && types[i] != common)
            return fault(v, op, "operands of types %s and %s", scalar_name(common), scalar_name(types[i]));
        if (shared)
            common = types[i];
    }
    if (info->result == RESULT_X)
        return op->res[0]->type != SC_PTR || fault(v, op, "results in a pointer");
    return expect_type(v, op, op->res[0], op_result_type(op->code, types), "result");
}

/* How it is carried out is known once the function is classed, and inside a task a scatter has its target there. A
 * function adds as its caller tells. */
static bool check_class(const verifier *v, const ir_op *op)
{
    if (!v->func->classed || (op->code != OP_ACCUM && op->code != OP_ATOMIC))
        return true;
    const ir_attr_access *a = ir_access_attr(op);
    if (a->acc == IR_ACC_UNSET)
        return fault(v, op, "into '%s' without a class", a->field->name);
    if (v->func->kind == IR_FUNC)
        return a->acc == IR_ACC_SCATTER || fault(v, op, "into '%s' plain, in a function", a->field->name);
    if (a->acc == IR_ACC_PLAIN)
        return true;
    for (int i = 0; v->task && i < ir_task_attr(v->task)->nscatters; i++)
        if (ir_task_attr(v->task)->scatters[i].field == a->field &&
            ir_task_attr(v->task)->scatters[i].plane == a->plane)
            return true;
    return fault(v, op, "scatters into '%s', which is no target %s", a->field->name,
                 v->task ? "of its task" : "outside of tasks");
}

static bool check_field_op(const verifier *v, const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    const bool atomic = op->code == OP_ATOMIC, result = op_touches(op->code) & OP_READS,
               value = op_touches(op->code) & (OP_STORES | OP_ADDS);
    if (!f)
        return fault(v, op, "no field");
    if (!check_class(v, op))
        return false;
    const int form = atomic ? ir_atomic_form(op) : 0, extra = form < IR_ATOMIC_NUMBERED       ? 0
                                                              : form < IR_ATOMIC_WITH_TANGENT ? form
                                                                                              : IR_ATOMIC_WITH_TANGENT;
    const int numbers = f->ndim + 2 + (extra >= IR_ATOMIC_RECORDED);
    if (!expect_shape(v, op, f->ndim + 1 + value + extra, result, 0))
        return false;
    if (atomic && (op->region->func->kind == IR_FUNC || ir_access_attr(op)->plane != IR_DATA ||
                   ir_access_attr(op)->with >= OP_PURE_COUNT))
        return fault(v, op, "in a function, or of no operation");
    if (atomic && !expect_type(v, op, op->res[0], f->elem, "result"))
        return false;
    for (int i = 0; i < 3 && extra; i++)
        if (!expect_type(v, op, op->args[numbers + i], SC_I64, "number"))
            return false;
    if (extra >= IR_ATOMIC_RECORDED && !expect_type(v, op, op->args[f->ndim + 2], SC_PTR, "record"))
        return false;
    if (extra == IR_ATOMIC_WITH_TANGENT && !expect_type(v, op, op->args[numbers + 3], f->elem, "tangent"))
        return false;
    for (int i = 0; i <= f->ndim; i++)
        if (!expect_type(v, op, op->args[i], SC_I64, "subscript"))
            return false;
    if (ir_access_attr(op)->plane != IR_DATA && !scalar_is_float(f->elem))
        return fault(v, op, "derivative plane of '%s', which is of type %s", f->name, scalar_name(f->elem));
    if (ir_plane_is_adjoint(ir_access_attr(op)->plane) && !f->grad)
        return fault(v, op, "'%s' has no gradient", f->name);
    return value ? expect_type(v, op, op->args[f->ndim + 1], f->elem, "value")
                 : !result || expect_type(v, op, op->res[0], f->elem, "result");
}

static bool check_array_op(const verifier *v, const ir_op *op)
{
    bool load = op->code == OP_LLOAD;
    if (!expect_shape(v, op, load ? 2 : 3, load ? 1 : 0, 0))
        return false;
    if (!op->args[0]->def || op->args[0]->def->code != OP_LOCAL)
        return fault(v, op, "%%%" PRIu32 " is not a local array", op->args[0]->id);
    return expect_type(v, op, op->args[1], SC_I64, "subscript") &&
           expect_type(v, op, load ? op->res[0] : op->args[2], ir_local_attr(op->args[0]->def)->elem,
                       load ? "result" : "value");
}

static bool check_stack_op(const verifier *v, const ir_op *op)
{
    switch (op->code) {
    case OP_STK_MARK:
        return expect_shape(v, op, 0, 1, 0) && expect_type(v, op, op->res[0], SC_PTR, "result");
    case OP_STK_RELEASE:
        return expect_shape(v, op, 1, 0, 0) && expect_type(v, op, op->args[0], SC_PTR, "mark");
    case OP_STK_ALLOC:
        return expect_shape(v, op, 1, 1, 0) && expect_type(v, op, op->args[0], SC_I64, "count") &&
               expect_type(v, op, op->res[0], SC_PTR, "result") && (ir_layout_of(op) || fault(v, op, "no layout"));
    default:
        break;
    }
    bool load = op->code == OP_STK_LOAD;
    if (!expect_shape(v, op, load ? 2 : 3, load ? 1 : 0, 0))
        return false;
    const ir_layout *l = ir_layout_of(op);
    if (!l || ir_slot_attr(op)->number < 0 || ir_slot_attr(op)->number >= l->n)
        return fault(v, op, "slot %" PRId64 " is not in the layout", ir_slot_attr(op)->number);
    return expect_type(v, op, op->args[0], SC_PTR, "buffer") && expect_type(v, op, op->args[1], SC_I64, "subscript") &&
           expect_type(v, op, load ? op->res[0] : op->args[2], l->types[ir_slot_attr(op)->number],
                       load ? "result" : "value");
}

/* A region must yield n values of the types of `like`. */
static bool check_yield(const verifier *v, const ir_op *op, const ir_region *r, ir_value *const *like, int n,
                        const char *what)
{
    const ir_op *y = ir_yield_of(r);
    if (!y)
        return fault(v, op, "%s does not end in yield", what);
    if (y->nargs != n)
        return fault(v, op, "%s yields %d values, not %d", what, y->nargs, n);
    for (int i = 0; i < n; i++)
        if (y->args[i]->type != like[i]->type)
            return fault(v, op, "%s yields %s as value %d, not %s", what, scalar_name(y->args[i]->type), i,
                         scalar_name(like[i]->type));
    return true;
}

static bool check_if(const verifier *v, const ir_op *op)
{
    if (!expect_shape(v, op, 1, op->nres, 2) || !expect_type(v, op, op->args[0], SC_BOOL, "condition"))
        return false;
    if (op->regions[0]->nparams || op->regions[1]->nparams)
        return fault(v, op, "a branch has parameters");
    return check_yield(v, op, op->regions[0], op->res, op->nres, "then branch") &&
           check_yield(v, op, op->regions[1], op->res, op->nres, "else branch");
}

/* The operands at args must have the types of params and of results. */
static bool check_carried(const verifier *v, const ir_op *op, ir_value *const *args, int n, const ir_region *r,
                          int first_param)
{
    if (r->nparams != first_param + n)
        return fault(v, op, "a region has %d parameters, not %d", r->nparams, first_param + n);
    for (int i = 0; i < n; i++)
        if (r->params[first_param + i]->type != args[i]->type || op->res[i]->type != args[i]->type)
            return fault(v, op, "carried value %d: %s in, %s inside, %s out", i, scalar_name(args[i]->type),
                         scalar_name(r->params[first_param + i]->type), scalar_name(op->res[i]->type));
    return true;
}

static bool check_loop(const verifier *v, const ir_op *op)
{
    const ir_attr_loop *a = ir_loop_attr(op);
    int first = ir_loop_first_init(op), n = op->nargs - first;
    if (n < 0 || (!a->bounded && !a->cond))
        return fault(v, op, "a loop needs bounds or a condition");
    if (!expect_shape(v, op, first + n, n + (a->cond ? 1 : 0), a->cond ? 2 : 1))
        return false;
    if (!check_carried(v, op, op->args + first, n, op->regions[0], a->bounded ? 1 : 0))
        return false;
    if (a->bounded && (!expect_type(v, op, op->args[0], SC_I64, "lower bound") ||
                       !expect_type(v, op, op->args[1], SC_I64, "upper bound") ||
                       !expect_type(v, op, op->regions[0]->params[0], SC_I64, "index")))
        return false;
    if (a->cond) {
        if (!check_carried(v, op, op->args + first, n, op->regions[1], 0) ||
            !expect_type(v, op, op->res[n], SC_I64, "trip count"))
            return false;
        const ir_op *y = ir_yield_of(op->regions[1]);
        if (!y || y->nargs != 1 || y->args[0]->type != SC_BOOL)
            return fault(v, op, "the condition region must yield one bool");
    }
    return check_yield(v, op, op->regions[0], op->res, n, "body");
}

static bool check_task(const verifier *v, const ir_op *op)
{
    const ir_attr_task *a = ir_task_attr(op);
    int n = 0;
    for (int i = 0; i < a->nreductions; i++) {
        const ir_reduction *r = &a->reductions[i];
        if (r->companions < ir_reduce_is_last(r->kind) || (r->kind == IR_RED_ADD && r->companions))
            return fault(v, op, "reduction %d cannot have %d companions", i, r->companions);
        if (ir_reduce_is_last(r->kind) && n + 1 < op->nres &&
            !expect_type(v, op, op->res[n + 1], SC_BOOL, "contribution"))
            return false;
        n += 1 + r->companions;
    }
    if (a->ndim < 1)
        return fault(v, op, "a task needs a dimension");
    if (v->task)
        return fault(v, op, "a task inside a task");
    int fixed = 0;
    for (int i = 0; i < a->nscatters; i++)
        fixed += a->scatters[i].nfixed;
    if (!expect_shape(v, op, 2 * a->ndim + n + fixed, n, 1))
        return false;
    for (int i = 0; i < fixed; i++)
        if (!expect_type(v, op, op->args[ir_task_first_fixed(op) + i], SC_I64, "fixed subscript"))
            return false;
    const ir_region *body = op->regions[0];
    int nparams = a->ndim + (a->rows ? 1 : 0);
    if (body->nparams != nparams)
        return fault(v, op, "the body has %d parameters, not %d", body->nparams, nparams);
    for (int i = 0; i < 2 * a->ndim; i++)
        if (!expect_type(v, op, op->args[i], SC_I64, "bound"))
            return false;
    for (int i = 0; i < nparams; i++)
        if (!expect_type(v, op, body->params[i], SC_I64, "index"))
            return false;
    for (int i = 0; i < n; i++)
        if (!expect_type(v, op, op->res[i], op->args[2 * a->ndim + i]->type, "result"))
            return false;
    return check_yield(v, op, body, op->res, n, "body");
}

static bool check_call(const verifier *v, const ir_op *op)
{
    const ir_func *c = ir_callee_of(op);
    if (!c)
        return fault(v, op, "no callee");
    if (!expect_shape(v, op, c->body->nparams, op->code == OP_CALL ? c->nresults : 0, 0))
        return false;
    for (int i = 0; i < op->nargs; i++)
        if (!expect_type(v, op, op->args[i], c->body->params[i]->type, "argument"))
            return false;
    for (int i = 0; i < op->nres; i++)
        if (!expect_type(v, op, op->res[i], c->results[i], "result"))
            return false;
    return true;
}

/* Of GRADIENT the results, of ALONG more operands, are like the float parameters. */
static bool check_func_derivative(const verifier *v, const ir_op *op)
{
    const ir_func *c = ir_callee_of(op);
    if (!c || c->kind != IR_FUNC || c->nresults != 1 || !scalar_is_float(c->results[0]))
        return fault(v, op, "the derivative of what is no function with one real result");
    const bool along = op->code == OP_ALONG;
    const int nparams = c->body->nparams;
    int n = 0;
    for (int i = 0; i < nparams; i++)
        n += scalar_is_float(c->body->params[i]->type);
    if (!expect_shape(v, op, nparams + (along ? n : 0), along ? 1 : n, 0))
        return false;
    n = 0;
    for (int i = 0; i < nparams; i++) {
        const scalar type = c->body->params[i]->type;
        if (!expect_type(v, op, op->args[i], type, "argument"))
            return false;
        if (scalar_is_float(type) &&
            !expect_type(v, op, along ? op->args[nparams + n] : op->res[n], type, "derivative"))
            return false;
        n += scalar_is_float(type);
    }
    return !along || expect_type(v, op, op->res[0], c->results[0], "result");
}

/* A row for each result; a HESSIAN has the lower triangle, of the types of the parameters. */
static bool check_func_matrix(const verifier *v, const ir_op *op)
{
    const ir_func *c = ir_callee_of(op);
    const bool hess = op->code == OP_HESSIAN;
    if (!c || c->kind != IR_FUNC || c->nresults == 0 || (hess && c->nresults > 1))
        return fault(v, op, "the matrix of what is no function with real results");
    const int nparams = c->body->nparams, rows = hess ? nparams : c->nresults;
    int at = 0;
    for (int i = 0; i < nparams && i < op->nargs; i++)
        if (!expect_type(v, op, op->args[i], c->body->params[i]->type, "argument"))
            return false;
    for (int i = 0; i < rows; i++) {
        const scalar type = hess ? c->body->params[i]->type : c->results[i];
        for (int j = 0; j < nparams && scalar_is_float(type) && (!hess || j <= i); j++)
            if (scalar_is_float(c->body->params[j]->type) && at < op->nres &&
                !expect_type(v, op, op->res[at++], type, "entry"))
                return false;
    }
    return expect_shape(v, op, nparams, at, 0);
}

static bool check_assert_print(const verifier *v, const ir_op *op)
{
    if (!ir_text_attr(op)->text)
        return fault(v, op, "no text");
    if (op->nres || op->nregions)
        return fault(v, op, "has results or regions");
    if (op->code == OP_ASSERT && ir_text_attr(op)->whose == IR_ASSERT_BOUNDS)
        return expect_shape(v, op, 2, 0, 0) && expect_type(v, op, op->args[0], SC_I64, "subscript") &&
               expect_type(v, op, op->args[1], SC_I64, "extent");
    if (op->code == OP_ASSERT && ir_text_attr(op)->whose == IR_ASSERT_FINITE)
        return expect_shape(v, op, 1, 0, 0) &&
               (scalar_is_float(op->args[0]->type) || fault(v, op, "no float that is finite"));
    return op->code == OP_PRINT ||
           (expect_shape(v, op, 1, 0, 0) && expect_type(v, op, op->args[0], SC_BOOL, "condition"));
}

static bool check_record_op(const verifier *v, const ir_op *op)
{
    const ir_layout *l = ir_layout_of(op);
    const bool store = op->code == OP_REC_STORE, element = store || op->code == OP_REC_LOAD,
               alloc = op->code == OP_REC_ALLOC;
    if (!l || l->n != 1)
        return fault(v, op, "no layout of one member");
    if (!expect_shape(v, op, store ? 4 : element ? 3 : alloc ? 2 : 1, store ? 0 : 1, 0))
        return false;
    if (!element)
        return expect_type(v, op, op->res[0], SC_PTR, "result") && expect_type(v, op, op->args[0], SC_I64, "turn") &&
               (!alloc || expect_type(v, op, op->args[1], SC_I64, "count"));
    return expect_type(v, op, op->args[0], SC_PTR, "record") && expect_type(v, op, op->args[1], SC_I64, "index") &&
           expect_type(v, op, op->args[2], SC_I64, "step") &&
           expect_type(v, op, store ? op->args[3] : op->res[0], l->types[0], "element");
}

static bool check_op(const verifier *v, const ir_op *op)
{
    if (op_is_pure_table(op->code))
        return check_pure(v, op);
    if (op_memory_of(op->code) == MEMORY_FIELD)
        return check_field_op(v, op);
    switch (op->code) {
    case OP_CONST:
        return expect_shape(v, op, 0, 1, 0) &&
               (scalar_is_float(op->res[0]->type) ||
                ir_wrap_int(op->res[0]->type, ir_const_attr(op)->i) == ir_const_attr(op)->i ||
                fault(v, op, "value out of range"));
    case OP_MPARAM:
        return expect_shape(v, op, 0, 1, 0) && (ir_mparam_attr(op)->param || fault(v, op, "no parameter")) &&
               expect_type(v, op, op->res[0], ir_mparam_attr(op)->param->type, "result");
    case OP_KEY:
        return expect_shape(v, op, 0, 1, 0) && expect_type(v, op, op->res[0], SC_U64, "result") &&
               (op->region->func->kind != IR_FUNC || fault(v, op, "in a function"));
    case OP_SHAPE:
        return expect_shape(v, op, 0, 1, 0) && expect_type(v, op, op->res[0], SC_I64, "result") &&
               (ir_field_of(op) || fault(v, op, "no field")) &&
               ((ir_shape_attr(op)->dim >= 0 && ir_shape_attr(op)->dim < ir_field_of(op)->ndim) ||
                fault(v, op, "'%s' has no dimension %" PRId64, ir_field_of(op)->name, ir_shape_attr(op)->dim));
    case OP_OLD:
        return expect_shape(v, op, 3, 1, 0) && expect_type(v, op, op->args[0], SC_I64, "turn") &&
               expect_type(v, op, op->args[1], SC_I64, "iteration") && expect_type(v, op, op->args[2], SC_I64, "step");
    case OP_WON:
    case OP_REC_WON:
        return expect_shape(v, op, 4, 1, 0) &&
               expect_type(v, op, op->args[0], op->code == OP_WON ? SC_I64 : SC_PTR, "record") &&
               expect_type(v, op, op->args[1], SC_I64, "slot") &&
               expect_type(v, op, op->args[2], SC_I64, "iteration") &&
               expect_type(v, op, op->args[3], SC_I64, "step") && expect_type(v, op, op->res[0], SC_BOOL, "result");
    case OP_REC_ALLOC:
    case OP_REC_GET:
    case OP_REC_STORE:
    case OP_REC_LOAD:
        return check_record_op(v, op);
    case OP_LOCAL:
        return expect_shape(v, op, op->nargs ? 1 : 0, 1, 0) && expect_type(v, op, op->res[0], SC_PTR, "result") &&
               (op->nargs ? expect_type(v, op, op->args[0], SC_I64, "count")
                          : ir_local_attr(op)->count > 0 ||
                                fault(v, op, "an array of %" PRId64 " elements", ir_local_attr(op)->count));
    case OP_LLOAD:
    case OP_LSTORE:
    case OP_LACCUM:
        return check_array_op(v, op);
    case OP_IF:
        return check_if(v, op);
    case OP_LOOP:
        return check_loop(v, op);
    case OP_TASK:
        return check_task(v, op);
    case OP_CALL:
    case OP_ADJOINT:
        return check_call(v, op);
    case OP_GRADIENT:
    case OP_ALONG:
        return check_func_derivative(v, op);
    case OP_JACOBIAN:
    case OP_HESSIAN:
        return check_func_matrix(v, op);
    case OP_EXTERN:
        return op->region->func->external ? expect_shape(v, op, op->region->func->body->nparams, op->nres, 0)
                                          : fault(v, op, "in a function of the program");
    case OP_YIELD:
        return expect_shape(v, op, op->nargs, 0, 0);
    case OP_ASSERT:
    case OP_PRINT:
        return check_assert_print(v, op);
    case OP_NEED:
    case OP_KEEP:
        return expect_shape(v, op, op->code == OP_KEEP ? 3 : 1, 0, 0) &&
               (ir_mark_attr(op)->field || fault(v, op, "no field")) &&
               expect_type(v, op, op->args[0], SC_I64, "component") &&
               (op->code == OP_NEED || (expect_type(v, op, op->args[2], op->args[1]->type, "new value") &&
                                        (ir_mark_attr(op)->place || fault(v, op, "no place"))));
    case OP_DECISION:
        return expect_shape(v, op, op->nargs, 0, 0) && (op->nargs > 0 || fault(v, op, "nothing decides"));
    case OP_STK_MARK:
    case OP_STK_RELEASE:
    case OP_STK_ALLOC:
    case OP_STK_STORE:
    case OP_STK_LOAD:
        return check_stack_op(v, op);
    default:
        return fault(v, op, "unknown operation %d", (int)op->code);
    }
}

/* ---- what decides (passes/analysis/decisions.c) ---- */

/* Memory, products with 0, and what is the same everywhere have their bits. */
static bool is_given(const ir_value *v)
{
    const ir_op *op = v->def;
    if (v->exact || !scalar_is_float(v->type) || (op && (op_is_zeroed_by(op, 0) || op_is_zeroed_by(op, 1))))
        return true;
    switch (v->def ? v->def->code : OP_COUNT) {
    case OP_CONST:
    case OP_MPARAM:
    case OP_LOAD:
    case OP_ATOMIC:
    case OP_OLD:
    case OP_REC_LOAD:
    case OP_EXTERN:
        return true;
    default:
        return false;
    }
}

static bool expect_exact(const verifier *v, const ir_op *op, const ir_value *x, const char *what)
{
    return is_given(x) || fault(v, op, "%s, %%%" PRIu32 ", decides and is not exact", what, x->id);
}

static bool check_exact_loop(const verifier *v, const ir_op *op)
{
    const int init = ir_loop_first_init(op), first = ir_loop_first_param(op);
    bool ok = true;
    for (int i = 0; i < ir_loop_ncarried(op) && ok; i++) {
        const ir_value *param = op->regions[0]->params[first + i],
                       *test = ir_loop_attr(op)->cond ? op->regions[1]->params[i] : param;
        if (param->exact || test->exact || op->res[i]->exact)
            ok = expect_exact(v, op, op->args[init + i], "a carried value's beginning") &&
                 expect_exact(v, op, param, "a carried value") &&
                 expect_exact(v, op, ir_yield_of(op->regions[0])->args[i], "what a carried value becomes");
    }
    return ok;
}

static bool check_exact_task(const verifier *v, const ir_op *op)
{
    bool ok = true;
    for (int i = 0, at = 0; i < ir_task_attr(op)->nreductions && ok;
         at += 1 + ir_task_attr(op)->reductions[i++].companions)
        if (ir_task_attr(op)->reductions[i].kind != IR_RED_ADD || op->res[at]->exact)
            ok = expect_exact(v, op, op->args[ir_task_first_init(op) + at], "a reduction's beginning") &&
                 expect_exact(v, op, ir_yield_of(op->regions[0])->args[at], "a contribution");
    return ok;
}

static bool check_exact_call(const verifier *v, const ir_op *op)
{
    const ir_func *c = ir_callee_of(op);
    bool ok = true;
    for (int i = 0; i < op->nargs && ok && !ir_is_of_rule(c); i++) /* it may look at seeds */
        ok = !c->body->params[i]->exact || expect_exact(v, op, op->args[i], "an argument");
    for (int i = 0; i < op->nres && ok && !c->external; i++)
        ok = !op->res[i]->exact || expect_exact(v, op, ir_yield_of(c->body)->args[i], "a result");
    return ok;
}

/* What decides is exact, and what is exact is computed from what is: one operation at a time. */
static bool check_exact(const verifier *v, const ir_op *op)
{
    bool ok = true;
    switch (op->code) {
    case OP_LOOP:
        return check_exact_loop(v, op);
    case OP_TASK:
        return check_exact_task(v, op);
    case OP_CALL:
        return check_exact_call(v, op);
    case OP_IF:
        for (int i = 0; i < op->nres && ok; i++)
            for (int k = 0; k < 2 && ok && op->res[i]->exact; k++)
                ok = expect_exact(v, op, ir_yield_of(op->regions[k])->args[i], "what a branch yields");
        return ok;
    case OP_LLOAD:
        return !op->res[0]->exact || op->args[0]->exact || fault(v, op, "an array of what decides is not exact");
    case OP_LSTORE:
        return !op->args[0]->exact || expect_exact(v, op, op->args[2], "an element");
    default:
        for (int i = 0; op_is_pure_table(op->code) && i < op->nargs && ok; i++)
            if (op->res[0]->exact || op_decides(op, i))
                ok = expect_exact(v, op, op->args[i], "an operand");
        return ok;
    }
}

/* ---- what a row of the pipeline says that there is none of behind it ---- */

static bool has_narrow_sum(const ir_op *task)
{
    for (int i = 0, at = 0; i < ir_task_attr(task)->nreductions;
         at += 1 + ir_task_attr(task)->reductions[i++].companions)
        if (ir_task_attr(task)->reductions[i].kind == IR_RED_ADD && task->res[at]->type == SC_F32)
            return true;
    return false;
}

/* Launches that are watched with --debug have tasks without row segments, and in their derivatives those that add up
 * what decides as the launch does. */
static bool may_be_flat(const ir_op *task)
{
    const ir_func *f = task->region->func;
    return f->module->debug && ((!f->ad.primal && !f->pure) || ir_task_sum_decides(task));
}

static unsigned kind_of(const ir_op *op)
{
    switch (op->code) {
    case OP_OLD:
    case OP_WON:
        return IR_GONE_OLD;
    case OP_ADJOINT:
        return IR_GONE_ADJOINT;
    case OP_GRADIENT:
    case OP_ALONG:
    case OP_JACOBIAN:
    case OP_HESSIAN:
        return IR_GONE_GRADIENT;
    case OP_STOP:
    case OP_SLOPE:
    case OP_LEG:
    case OP_ROOT:
        return IR_GONE_STOP;
    case OP_TASK:
        return (has_narrow_sum(op) ? IR_GONE_NARROW_SUM : 0) |
               (ir_task_attr(op)->rows || may_be_flat(op) ? 0 : IR_GONE_FLAT_TASK);
    case OP_LOCAL:
        return op->nargs && !ir_local_attr(op)->stacked ? IR_GONE_SIZED : 0;
    default:
        return 0;
    }
}

static bool check_gone(const verifier *v, const ir_op *op)
{
    return !(v->gone & kind_of(op)) || fault(v, op, "an earlier pass was to leave none of these");
}

/* ---- structure ---- */

static bool check_links(const verifier *v, const ir_region *r, const ir_op *op)
{
    if (op->region != r)
        return fault(v, op, "stands in a region that it does not know");
    if ((op->next ? op->next->prev : r->last) != op || (op->prev ? op->prev->next : r->first) != op)
        return fault(v, op, "the list of operations is broken here");
    if (op->code == OP_YIELD ? op->next != NULL : op->next == NULL)
        return fault(v, op, op->next ? "yield in the middle of a region" : "a region that does not end in yield");
    for (int i = 0; i < op->nargs; i++)
        if (!op->args[i])
            return fault(v, op, "operand %d is missing", i);
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i]->id >= v->func->next_value || !v->visible[op->args[i]->id])
            return fault(v, op, "operand %d, %%%" PRIu32 ", is not defined before or not visible", i, op->args[i]->id);
    for (int i = 0; i < op->nres; i++)
        if (op->res[i]->def != op || op->res[i]->index != i || op->res[i]->region != r)
            return fault(v, op, "result %d does not know where it is defined", i);
    return true;
}

static bool check_region(verifier *v, const ir_region *r, const ir_op *parent)
{
    bool ok = true;
    if (r->parent != parent || r->func != v->func)
        return fault(v, parent, "a region does not know its parent");
    for (int i = 0; i < r->nparams; i++) {
        if (r->params[i]->region != r || r->params[i]->def || r->params[i]->index != i)
            return fault(v, parent, "region parameter %d does not know its region", i);
        if (!define(v, parent, r->params[i]))
            return false;
    }
    if (!r->last)
        return fault(v, parent, "an empty region");
    for (const ir_op *op = r->first; op && ok; op = op->next) {
        ok = check_links(v, r, op);
        const ir_op *outer_task = v->task;
        if (ok && op->code == OP_TASK && outer_task)
            ok = fault(v, op, "a task inside a task");
        v->task = op->code == OP_TASK ? op : outer_task;
        for (int i = 0; ok && i < op->nregions; i++)
            ok = check_region(v, op->regions[i], op);
        v->task = outer_task;
        for (int i = 0; ok && i < op->nres; i++)
            ok = define(v, op, op->res[i]);
        ok = ok && check_op(v, op) && check_gone(v, op) && (!v->func->module->decided || check_exact(v, op));
    }
    /* what was defined here is out of sight behind the region */
    for (int i = 0; i < r->nparams; i++)
        v->visible[r->params[i]->id] = false;
    for (const ir_op *op = r->first; ok && op; op = op->next)
        for (int i = 0; i < op->nres; i++)
            v->visible[op->res[i]->id] = false;
    return ok;
}

bool ir_verify(const ir_func *f, const char *after_pass)
{
    return ir_verify_gone(f, after_pass, 0);
}

bool ir_verify_gone(const ir_func *f, const char *after_pass, unsigned gone)
{
    size_t n = (size_t)f->next_value + 1;
    verifier v = {.func = f, .pass = after_pass, .gone = gone, .seen = xmalloc(n), .visible = xmalloc(n)};
    memset(v.seen, 0, n);
    memset(v.visible, 0, n);
    bool ok = check_region(&v, f->body, NULL);
    const ir_op *y = ok ? ir_yield_of(f->body) : NULL;
    if (y && y->nargs != f->nresults)
        ok = fault(&v, y, "the function yields %d values, not %d", y->nargs, f->nresults);
    for (int i = 0; ok && i < f->nresults; i++)
        if (y->args[i]->type != f->results[i])
            ok = fault(&v, y, "the function yields %s as result %d, not %s", scalar_name(y->args[i]->type), i,
                       scalar_name(f->results[i]));
    free(v.seen);
    free(v.visible);
    return ok;
}
