/* Workspace of export funcs: how many bytes the derivatives keep, from what is known on entry.
 *
 * The adjoint of an export func keeps saved values in memory of its caller, who must know its size beforehand. So each
 * allocation is bounded from above by a formula over the integer parameters: its size, times the trips of the loops
 * around it. Bounds that depend on indices of outer loops are taken at their greatest. What has no such bound, a
 * `while` above all, is an error. A callee's memory is free again when it returns: it counts once.
 *
 * The formula is a function of its own (ir_func.workspace), which the emitter prints as a macro.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/simplify/simplify.h"

/* Where values of a function come from: of a callee, the call. */
typedef struct frame {
    const struct frame *outer;
    const ir_op *call;
} frame;

/* What lies between lo and hi on every run: i64 values of the formula; NULL: not known. Equal if it is known on entry.
 */
typedef struct range {
    ir_value *lo, *hi;
} range;

typedef struct sizing {
    const ir_func *f;
    ir_builder b; /* in the formula */
    ir_value *total;
    const ir_op *unknown; /* the first loop or allocation without a bound */
    int depth, budget;    /* bound the search through shared operands */
} sizing;

static range range_of(sizing *s, const frame *at, const ir_value *v);

static ir_value *number(sizing *s, int64_t x)
{
    return ir_const_i(&s->b, SC_I64, x);
}

/* Of a result narrower than 64 bits, the value that is left of it; of an interval it is taken not to wrap. */
static ir_value *narrow(sizing *s, scalar type, ir_value *x)
{
    return type == SC_I64 ? x : ir_cast(&s->b, SC_I64, ir_cast(&s->b, type, x));
}

static ir_value *apply(sizing *s, ir_opcode code, ir_value *a, ir_value *b)
{
    return a && b ? ir_op2(&s->b, code, a, b) : NULL;
}

/* Known to be `least` or more, 0 or 1, whatever the host passes. */
static bool is_at_least(const ir_value *v, int least)
{
    if (!v || !v->def)
        return false;
    const ir_op *op = v->def;
    switch (op->code) {
    case OP_CONST:
        return ir_int(v) >= least;
    case OP_MAX:
        return is_at_least(op->args[0], least) || is_at_least(op->args[1], least);
    case OP_MUL:
        return is_at_least(op->args[0], least) && is_at_least(op->args[1], least);
    case OP_ADD:
        return (is_at_least(op->args[0], least) && is_at_least(op->args[1], 0)) ||
               (is_at_least(op->args[0], 0) && is_at_least(op->args[1], least));
    default:
        return false;
    }
}

static bool is_negative(const ir_value *v)
{
    return !is_at_least(v, 0);
}

static bool is_exact(range a)
{
    return a.lo && a.lo == a.hi;
}

static range product(sizing *s, range a, range b)
{
    if (is_negative(a.lo) || is_negative(b.lo)) /* signs would decide which end is the upper one */
        return (range){NULL, NULL};
    return (range){apply(s, OP_MUL, a.lo, b.lo), apply(s, OP_MUL, a.hi, b.hi)};
}

/* A product that leaves i32 comes back below 0: its lower end is the least i32 then. */
static range wrapped_product(sizing *s, range r)
{
    if (!r.lo || !r.hi)
        return r;
    ir_value *leaves = number(s, -1), *room = apply(s, OP_SUB, number(s, INT32_MAX), r.hi),
             *over = apply(s, OP_MAX, room, leaves);
    r.lo = apply(s, OP_MIN, r.lo, apply(s, OP_MUL, over, number(s, INT64_C(1) << 31)));
    return r;
}

static range arithmetic(sizing *s, const frame *at, const ir_op *op)
{
    const scalar type = op->res[0]->type;
    const range a = range_of(s, at, op->args[0]), b = range_of(s, at, op->args[1]);
    if (op->code == OP_DIV && (!is_exact(b) || !is_at_least(b.lo, 1)))
        return (range){NULL, NULL};
    if (is_exact(a) && is_exact(b)) {
        ir_value *x = narrow(s, type, apply(s, op->code, a.lo, b.lo));
        return (range){x, x};
    }
    switch (op->code) {
    case OP_SUB:
        return (range){apply(s, OP_SUB, a.lo, b.hi), apply(s, OP_SUB, a.hi, b.lo)};
    case OP_MUL:
        return type == SC_I32 ? wrapped_product(s, product(s, a, b)) : product(s, a, b);
    case OP_MIN:
        return (range){apply(s, OP_MIN, a.lo, b.lo), a.hi && b.hi ? apply(s, OP_MIN, a.hi, b.hi) : a.hi ? a.hi : b.hi};
    case OP_MAX:
        return (range){a.lo && b.lo ? apply(s, OP_MAX, a.lo, b.lo) : a.lo ? a.lo : b.lo, apply(s, OP_MAX, a.hi, b.hi)};
    default: /* ADD, DIV */
        return (range){apply(s, op->code, a.lo, b.lo), apply(s, op->code, a.hi, b.hi)};
    }
}

/* By constants alone, of numbers that are known on entry: of an interval it would matter where they wrap. */
static ir_value *applied(sizing *s, const ir_op *op, ir_value *a, ir_value *b)
{
    const scalar type = op->res[0]->type;
    const bool constant = b && ir_is_const(b), above = constant && ir_int(b) > 0 && ir_int(b) <= INT32_MAX;
    const bool count = constant && ir_int(b) >= 0 && ir_int(b) < 31;
    switch (op->code) {
    case OP_REM:
        return above ? apply(s, OP_REM, a, b) : NULL;
    case OP_MOD:
        return above ? apply(s, OP_REM, apply(s, OP_ADD, apply(s, OP_REM, a, b), b), b) : NULL;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        return apply(s, op->code, a, b);
    case OP_NOT:
        return apply(s, OP_SUB, number(s, -1), a);
    case OP_ABS:
        return type == SC_I32 ? apply(s, OP_MAX, a, apply(s, OP_SUB, number(s, 0), a)) : NULL;
    case OP_SHL:
        return count && type == SC_I32 ? apply(s, OP_MUL, a, number(s, INT64_C(1) << ir_int(b))) : NULL;
    case OP_SHR:
        return count ? apply(s, OP_SHR, a, b) : NULL;
    default:
        return NULL;
    }
}

static range of_exact(sizing *s, const frame *at, const ir_op *op)
{
    const range unknown = {NULL, NULL}, a = range_of(s, at, op->args[0]),
                b = op->nargs > 1 ? range_of(s, at, op->args[1]) : unknown;
    if (!is_exact(a) || (op->nargs > 1 && !is_exact(b)))
        return unknown;
    ir_value *x = applied(s, op, a.lo, b.lo);
    if (!x)
        return unknown;
    x = narrow(s, op->res[0]->type, x);
    return (range){x, x};
}

static range join(sizing *s, range a, range b)
{
    if (a.lo && a.lo == a.hi && a.lo == b.lo && a.lo == b.hi)
        return a;
    return (range){apply(s, OP_MIN, a.lo, b.lo), apply(s, OP_MAX, a.hi, b.hi)};
}

/* One after the other, as both take of one budget. */
static range either(sizing *s, const frame *at, const ir_value *x, const ir_value *y)
{
    const range b = range_of(s, at, y), a = range_of(s, at, x);
    return join(s, a, b);
}

static bool keeps_value(scalar to, scalar from)
{
    const bool wider = scalar_bytes(to) > scalar_bytes(from) && (!scalar_is_signed(from) || scalar_is_signed(to));
    return to == from || wider;
}

static range cast_range(sizing *s, const frame *at, const ir_op *op)
{
    const scalar from = op->args[0]->type, to = op->res[0]->type;
    const range r = range_of(s, at, op->args[0]);
    if (keeps_value(to, from) || (from == SC_I64 && to == SC_I32 &&
                                  value_fits_i32(op->args[0]))) /* loop indices are widened, and narrowed again */
        return r;
    if (from != SC_I64 || to != SC_I32 || !is_exact(r))
        return (range){NULL, NULL};
    ir_value *x = narrow(s, to, r.lo);
    return (range){x, x};
}

static range parameter(sizing *s, const frame *at, const ir_value *v)
{
    const ir_op *parent = v->region->parent;
    if (!parent && at->call)
        return range_of(s, at->outer, at->call->args[v->index]);
    if (!parent) {
        ir_value *p = ir_cast(&s->b, SC_I64, s->b.region->params[v->index]);
        return (range){p, p};
    }
    if (parent->code != OP_LOOP || !ir_loop_attr(parent)->bounded || v->region != parent->regions[0] || v->index != 0)
        return (range){NULL, NULL}; /* carried */
    const range lo = range_of(s, at, parent->args[0]), hi = range_of(s, at, parent->args[1]);
    return (range){lo.lo, apply(s, OP_SUB, hi.hi, number(s, 1))};
}

static range range_of(sizing *s, const frame *at, const ir_value *v)
{
    enum { DEPTH = 64 }; /* beyond that a bound counts as not known, and the program is refused */
    const range unknown = {NULL, NULL};
    if (!scalar_is_int(v->type) || s->depth > DEPTH || --s->budget < 0)
        return unknown;
    const ir_op *op = v->def;
    range r = unknown;
    s->depth++;
    if (!op) {
        r = parameter(s, at, v);
    } else {
        switch (op->code) {
        case OP_CONST:
            r.lo = r.hi = number(s, ir_const_attr(op)->i);
            break;
        case OP_ADD:
        case OP_SUB:
        case OP_MUL:
        case OP_DIV:
        case OP_MIN:
        case OP_MAX:
            if (v->type == SC_I64 || v->type == SC_I32)
                r = arithmetic(s, at, op);
            break;
        case OP_NEG: {
            const range a = range_of(s, at, op->args[0]);
            const bool exact = is_exact(a);
            r.lo = apply(s, OP_SUB, number(s, 0), a.hi);
            if (exact)
                r.lo = narrow(s, v->type, r.lo);
            r.hi = exact ? r.lo : apply(s, OP_SUB, number(s, 0), a.lo);
            break;
        }
        case OP_SELECT:
            r = either(s, at, op->args[1], op->args[2]);
            break;
        case OP_IF:
            r = either(s, at, ir_yield_of(op->regions[0])->args[v->index], ir_yield_of(op->regions[1])->args[v->index]);
            break;
        case OP_CAST:
            if (scalar_is_int(op->args[0]->type))
                r = cast_range(s, at, op);
            break;
        case OP_REM:
        case OP_MOD:
        case OP_AND:
        case OP_OR:
        case OP_XOR:
        case OP_NOT:
        case OP_ABS:
        case OP_SHL:
        case OP_SHR:
            if (v->type == SC_I64 || v->type == SC_I32)
                r = of_exact(s, at, op);
            break;
        default:
            break;
        }
    }
    s->depth--;
    return r;
}

/* ---- allocations ---- */

static int64_t align_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* Bytes of the C struct; pointers are no longer than 8 bytes anywhere. */
static int64_t struct_size(const ir_layout *l)
{
    int64_t at = 0, most = 1;
    for (int i = 0; i < l->n; i++) {
        const int64_t size = l->types[i] == SC_PTR ? 8 : scalar_bytes(l->types[i]);
        at = align_up(at, size) + size;
        most = size > most ? size : most;
    }
    return align_up(at ? at : 1, most);
}

static void size_region(sizing *s, const frame *at, const ir_region *r, ir_value *times);

/* Each allocation is rounded up to IR_WORKSPACE_ALIGN. */
static void size_alloc(sizing *s, const frame *at, const ir_op *op, ir_value *times)
{
    const range count = range_of(s, at, op->args[0]);
    const int64_t size = op->code == OP_LOCAL ? scalar_bytes(ir_local_attr(op)->elem) : struct_size(ir_layout_of(op));
    if (!count.hi || !times) {
        const ir_op *loop = op;
        while (!times && loop->code != OP_LOOP)
            loop = loop->region->parent;
        if (!s->unknown)
            s->unknown = loop;
        return;
    }
    /* one statement for each operation: C does not say which argument is computed first, and the same formula shall
     * come of every compiler */
    ir_value *each = number(s, size),
             *n = is_at_least(count.hi, 0) ? count.hi : ir_op2(&s->b, OP_MAX, count.hi, number(s, 0)),
             *bytes = ir_op2(&s->b, OP_MUL, n, each);
    if (size % IR_WORKSPACE_ALIGN) {
        ir_value *up = ir_op2(&s->b, OP_ADD, bytes, number(s, IR_WORKSPACE_ALIGN - 1));
        ir_value *unit = number(s, IR_WORKSPACE_ALIGN),
                 *units = ir_op2(&s->b, OP_DIV, up, number(s, IR_WORKSPACE_ALIGN));
        bytes = ir_op2(&s->b, OP_MUL, units, unit);
    }
    s->total = ir_op2(&s->b, OP_ADD, s->total, ir_op2(&s->b, OP_MUL, times, bytes));
}

/* NULL: not known. */
static ir_value *trips(sizing *s, const frame *at, const ir_op *loop, ir_value *times)
{
    if (!ir_loop_attr(loop)->bounded || !times)
        return NULL;
    const range lo = range_of(s, at, loop->args[0]), hi = range_of(s, at, loop->args[1]);
    ir_value *n = apply(s, OP_SUB, hi.hi, lo.lo);
    return n ? ir_op2(&s->b, OP_MUL, times, ir_op2(&s->b, OP_MAX, n, number(s, 0))) : NULL;
}

/* What its trips take ends with each of them. */
static bool gives_back(const ir_op *loop)
{
    for (const ir_op *op = loop->regions[0]->first; op; op = op->next)
        if (op->code == OP_STK_MARK)
            return true;
    return false;
}

static void size_region(sizing *s, const frame *at, const ir_region *r, ir_value *times)
{
    for (const ir_op *op = r->first; op; op = op->next) {
        ir_value *inside = times;
        if (op->code == OP_STK_ALLOC || (op->code == OP_LOCAL && op->nargs)) {
            size_alloc(s, at, op, times);
        } else if (op->code == OP_CALL) {
            const frame callee = {at, op};
            size_region(s, &callee, ir_callee_of(op)->body, number(s, 1));
        } else if (op->code == OP_LOOP) {
            inside = gives_back(op) ? times : trips(s, at, op, times);
        }
        for (int k = 0; k < op->nregions; k++)
            size_region(s, at, op->regions[k], inside);
    }
}

/* ---- one derivative ---- */

static ir_func *formula_of(const ir_func *f)
{
    ir_module *m = f->module;
    ir_func *w = ir_func_create(m, IR_FUNC, f->name);
    m->funcs.len--; /* no function of the program */
    w->loc = f->loc;
    for (int i = 0; i < f->body->nparams; i++)
        ir_region_param(w->body, f->body->params[i]->type, NULL);
    return w;
}

/* How many operations C text of v has, in which each is written wherever it is used, up to `most`; more than that if it
 * has one that is not printed. */
static int64_t printed(const ir_value *v, int64_t most)
{
    if (!v->def)
        return 1;
    int64_t n = 1;
    bool twice = false;
    switch (v->def->code) {
    case OP_MIN:
    case OP_MAX:
        twice = true;
        break;
    case OP_CONST:
    case OP_CAST:
    case OP_NEG:
    case OP_NOT:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_REM:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHR:
        break;
    default:
        return most + 1;
    }
    for (int i = 0; i < v->def->nargs && n <= most; i++)
        n += (twice ? 2 : 1) * printed(v->def->args[i], most);
    return n;
}

static bool refuse(const ir_func *f, src_loc at)
{
    diag_sink *d = f->module->diag;
    const bool derived = f->kind == IR_KERNEL_GRAD || f->kind == IR_KERNEL_HVP;
    const ir_func *primal = f->ad.primal ? f->ad.primal : f;
    diag(d, span_at(at), DIAG_WORKSPACE,
         !derived                   ? "gradient inside"
         : f->kind == IR_KERNEL_HVP ? "second-order product"
                                    : "gradient",
         primal->name);
    diag_note(
        d, span_at(at),
        "it keeps values of each trip; a bound known on entry is one that comes from constants and integer arguments");
    diag_note(d, span_at(at), "write 'while ... limit n', or a 'for' over such a range that is left with 'break'");
    if (derived)
        diag_note(d, span_at(f->loc), "or write 'derive(jvp)' on '%s' if its gradient is not wanted", primal->name);
    return false;
}

enum { PRINTED = 20000 }; /* operations */

/* A number of the sum, and how often it is added. */
typedef struct addend {
    ir_value *value;
    int64_t times;
} addend;

typedef VEC(addend) addend_list;

static void add_addend(addend_list *sum, ir_value *v, int64_t times)
{
    const ir_op *op = v->def;
    if (op && op->code == OP_MUL && ir_is_const(op->args[1]) && ir_int(op->args[1]) > 0 &&
        ir_int(op->args[1]) <= INT32_MAX && times <= INT32_MAX) {
        add_addend(sum, op->args[0], times * ir_int(op->args[1]));
        return;
    }
    for (size_t i = 0; i < sum->len; i++)
        if (sum->at[i].value == v) {
            sum->at[i].times += times;
            return;
        }
    vec_push(sum, ((addend){v, times}));
}

/* Arrays of one size are one product of the formula. */
static void collect_terms(ir_func *w)
{
    ir_op *y = ir_yield_of(w->body);
    addend_list sum = {0};
    VEC(ir_value *) left = {0};
    vec_push(&left, y->args[0]);
    int64_t looked_at = 0;
    while (left.len > 0 && looked_at++ < PRINTED) {
        ir_value *v = left.at[--left.len];
        if (v->def && v->def->code == OP_ADD) {
            vec_push(&left, v->def->args[0]);
            vec_push(&left, v->def->args[1]);
        } else {
            add_addend(&sum, v, 1);
        }
    }
    const bool whole = left.len == 0;
    vec_free(&left);
    ir_builder b = {.func = w, .region = w->body, .before = y, .loc = y->loc};
    ir_value *total = NULL;
    for (size_t i = sum.len; i-- > 0 && whole;) {
        const addend a = sum.at[i];
        ir_value *v = a.times == 1 ? a.value : ir_op2(&b, OP_MUL, a.value, ir_const_i(&b, SC_I64, a.times));
        total = total ? ir_op2(&b, OP_ADD, total, v) : v;
    }
    if (whole)
        y->args[0] = total;
    vec_free(&sum);
}

static bool size_func(ir_func *f)
{
    ir_func *w = formula_of(f);
    sizing s = {.f = f, .budget = 100000, .b = {.func = w, .region = w->body, .loc = f->loc}};
    s.total = number(&s, 0);
    const frame at = {NULL, NULL};
    size_region(&s, &at, f->body, number(&s, 1));
    if (s.unknown)
        return refuse(f, s.unknown->loc);
    ir_yield(&s.b, 1, &s.total);
    w->nresults = 1;
    w->results = ARENA_ARRAY(f->module->mem, scalar, 1);
    w->results[0] = SC_I64;
    pass_simplify(w);
    collect_terms(w);
    pass_simplify(w);
    if (printed(ir_yield_of(w->body)->args[0], PRINTED) >
        PRINTED) /* nobody reads such a macro, and compilers choke on it */
        return refuse(f, f->loc);
    const ir_value *total = ir_yield_of(w->body)->args[0];
    if (!ir_is_const(total) || ir_int(total) > 0)
        f->ad.workspace = w;
    return true;
}

/* The function itself, and its JVP, do so where they ask for gradients of others. */
static bool keeps_values(const ir_func *f)
{
    if (f->kind == IR_KERNEL_GRAD || f->kind == IR_KERNEL_HVP)
        return true;
    effects e = effects_of_region(f->module, f->body);
    const bool keeps = e.stack;
    effects_free(&e);
    return keeps;
}

bool pass_workspace(ir_module *m)
{
    const ir_func *refused = NULL; /* one message for each function is enough */
    for (size_t i = 0; i < m->funcs.len; i++) {
        ir_func *f = m->funcs.at[i];
        const ir_func *primal = f->ad.primal ? f->ad.primal : f;
        if (f->pure && f->kind != IR_FUNC && primal != refused && keeps_values(f) && !size_func(f))
            refused = primal;
    }
    return !refused;
}
