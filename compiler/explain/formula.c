/* Numbers that follow from params, arguments and extents: sums of products, as text and with the params' defaults. */
#include "explain/words.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"

/* ---- sums of products ---- */

/* A factor with a name: of a param, an argument, or of a function of formulas. */
typedef struct factor {
    const char *text;
    bool size; /* not below 0 */
} factor;

typedef struct summand {
    int64_t times;
    const factor *of; /* by their texts, in order */
    int n;
} summand;

enum { MOST_SUMMANDS = 64 };

static formula unknown(void)
{
    return (formula){0};
}

formula formula_number(int64_t x)
{
    return (formula){.known = true, .valued = true, .value = x, .constant = x};
}

bool formula_is_number(formula f)
{
    return f.known && f.n == 0;
}

/* A text that is one factor. */
static formula named(const words *w, const char *text, bool size, bool valued, int64_t value)
{
    factor *of = ARENA_NEW(w->m->mem, factor);
    *of = (factor){text, size};
    summand *s = ARENA_NEW(w->m->mem, summand);
    *s = (summand){1, of, 1};
    return (formula){.known = true, .valued = valued, .value = value, .sum = s, .n = 1};
}

static bool compute(char operation, int64_t a, int64_t b, int64_t *out)
{
    return operation == '+'   ? !__builtin_add_overflow(a, b, out)
           : operation == '-' ? !__builtin_sub_overflow(a, b, out)
                              : !__builtin_mul_overflow(a, b, out);
}

static bool same_factors(const summand *a, const summand *b)
{
    if (a->n != b->n)
        return false;
    for (int i = 0; i < a->n; i++)
        if (strcmp(a->of[i].text, b->of[i].text) != 0)
            return false;
    return true;
}

/* Adds `by` times the summands of b to those of `sum`, which has room. False: too large a number. */
static bool add_summands(summand *sum, int *n, formula b, int64_t by)
{
    for (int i = 0; i < b.n; i++) {
        int64_t times;
        int k = 0;
        while (k < *n && !same_factors(&sum[k], &b.sum[i]))
            k++;
        if (!compute('*', b.sum[i].times, by, &times) || (k < *n && !compute('+', sum[k].times, times, &sum[k].times)))
            return false;
        if (k == *n) {
            sum[(*n)++] = b.sum[i];
            sum[k].times = times;
        } else if (sum[k].times == 0) {
            memmove(&sum[k], &sum[k + 1], (size_t)(--*n - k) * sizeof *sum);
        }
    }
    return true;
}

static formula add(const words *w, formula a, formula b, int64_t by)
{
    formula r = {.known = a.known && b.known};
    int64_t constant, value;
    if (!r.known || a.n + b.n > MOST_SUMMANDS || !compute('*', b.constant, by, &constant) ||
        !compute('+', a.constant, constant, &r.constant))
        return unknown();
    r.valued = a.valued && b.valued && compute('*', b.value, by, &value) && compute('+', a.value, value, &r.value);
    summand *sum = ARENA_ARRAY(w->m->mem, summand, a.n + b.n + 1);
    return add_summands(sum, &r.n, a, 1) && add_summands(sum, &r.n, b, by) ? (r.sum = sum, r) : unknown();
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const factor *)a)->text, ((const factor *)b)->text);
}

/* A sum in parentheses is a factor. */
static formula product_of(const words *w, formula f)
{
    if (f.n == 1 && f.constant == 0)
        return f;
    return named(w, arena_printf(w->m->mem, "(%s)", formula_text(w, f)), formula_is_size(f), f.valued, f.value);
}

static formula multiply(const words *w, formula a, formula b)
{
    if (!a.known || !b.known)
        return unknown();
    if (formula_is_number(a) || formula_is_number(b))
        return formula_is_number(b) ? add(w, formula_number(0), a, b.constant)
                                    : add(w, formula_number(0), b, a.constant);
    a = product_of(w, a);
    b = product_of(w, b);
    summand *s = ARENA_NEW(w->m->mem, summand);
    factor *of = ARENA_ARRAY(w->m->mem, factor, a.sum->n + b.sum->n);
    memcpy(of, a.sum->of, (size_t)a.sum->n * sizeof *of);
    memcpy(of + a.sum->n, b.sum->of, (size_t)b.sum->n * sizeof *of);
    *s = (summand){.of = of, .n = a.sum->n + b.sum->n};
    qsort(of, (size_t)s->n, sizeof *of, by_text);
    formula r = {.known = compute('*', a.sum->times, b.sum->times, &s->times), .sum = s, .n = 1};
    r.valued = a.valued && b.valued && compute('*', a.value, b.value, &r.value);
    return r.known ? r : unknown();
}

formula formula_join(const words *w, char operation, formula a, formula b)
{
    return operation == '*' ? multiply(w, a, b) : add(w, a, b, operation == '-' ? -1 : 1);
}

bool formula_is_size(formula f)
{
    bool is = f.known && f.constant >= 0;
    for (int i = 0; i < f.n; i++) {
        is = is && f.sum[i].times > 0;
        for (int k = 0; k < f.sum[i].n; k++)
            is = is && f.sum[i].of[k].size;
    }
    return is;
}

/* ---- text ---- */

/* "8 n * steps", "2 n^2", without the sign. */
static void add_product(strbuf *b, const summand *s)
{
    if (s->times != 1 && s->times != -1)
        sb_printf(b, "%llu ", (unsigned long long)llabs(s->times));
    for (int i = 0, same = 1; i < s->n; i += same) {
        for (same = 1; i + same < s->n && !strcmp(s->of[i].text, s->of[i + same].text);)
            same++;
        sb_printf(b, "%s%s", i > 0 ? " * " : "", s->of[i].text);
        if (same > 1)
            sb_printf(b, "^%d", same);
    }
}

static void add_sign(strbuf *b, bool minus)
{
    if (b->len)
        sb_add(b, minus ? " - " : " + ");
    else if (minus)
        sb_add(b, "-");
}

/* "2 n - 1": what is added comes first. */
const char *formula_text(const words *w, formula f)
{
    strbuf b = {0};
    for (int minus = 0; minus < 2; minus++) {
        for (int i = 0; i < f.n; i++)
            if ((f.sum[i].times < 0) == minus) {
                add_sign(&b, minus);
                add_product(&b, &f.sum[i]);
            }
        if ((f.constant < 0) == minus && (f.constant != 0 || (f.n == 0 && !minus))) {
            add_sign(&b, minus);
            sb_printf(&b, "%llu", minus ? 0 - (unsigned long long)f.constant : (unsigned long long)f.constant);
        }
    }
    const char *text = arena_printf(w->m->mem, "%s", sb_str(&b));
    sb_free(&b);
    return text;
}

/* ---- minima, maxima, quotients ---- */

/* Saved values have bounds at which their number of bytes would not fit 64 bits: no machine has that much memory. */
static bool is_beyond_memory(formula f)
{
    return formula_is_number(f) && f.constant >= INT64_C(1) << 48;
}

/* Bounds of products that may leave i32 have such numbers: as a text they say nothing. */
static bool has_large_numbers(formula f)
{
    bool has = llabs(f.constant) > INT32_MAX;
    for (int i = 0; i < f.n; i++)
        has = has || llabs(f.sum[i].times) > INT32_MAX;
    return has;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t c = a % b;
        a = b;
        b = c;
    }
    return llabs(a);
}

/* What divides all numbers of f, and `with`. */
static int64_t common_factor(formula f, int64_t with)
{
    int64_t common = common_divisor(with, f.constant);
    for (int i = 0; i < f.n; i++)
        common = common_divisor(common, f.sum[i].times);
    return common;
}

/* by: a common factor. */
static formula divided(const words *w, formula f, int64_t by)
{
    summand *sum = ARENA_ARRAY(w->m->mem, summand, f.n + 1);
    for (int i = 0; i < f.n; i++) {
        sum[i] = f.sum[i];
        sum[i].times /= by;
    }
    f.sum = sum;
    f.constant /= by;
    f.value /= by;
    return f;
}

static formula extremum(const words *w, const ir_op *op, formula a, formula b)
{
    const bool least = op->code == OP_MIN;
    const formula apart = add(w, a, b, -1);
    if (!a.known || !b.known)
        return unknown();
    if (least && (is_beyond_memory(a) || is_beyond_memory(b)))
        return is_beyond_memory(a) ? b : a;
    if (has_large_numbers(a) || has_large_numbers(b))
        return unknown();
    if (formula_is_number(apart))
        return (apart.constant <= 0) == least ? a : b;
    if (!least && formula_is_number(b) && b.constant <= 0 && formula_is_size(a))
        return a;
    const int64_t common = least || !formula_is_number(b) || b.constant != 0 ? 1 : common_factor(a, 0);
    if (common > 1) /* "2 max(n - 1, 0)" */
        return multiply(w, formula_number(common), extremum(w, op, divided(w, a, common), b));
    const bool size = least ? formula_is_size(a) && formula_is_size(b) : formula_is_size(a) || formula_is_size(b);
    return named(w,
                 arena_printf(w->m->mem, "%s(%s, %s)", least ? "min" : "max", formula_text(w, a), formula_text(w, b)),
                 size, a.valued && b.valued, (a.value < b.value) == least ? a.value : b.value);
}

/* "ceil(n / 2)" for (4 * n + 7) / 8. */
static formula quotient(const words *w, formula a, formula b)
{
    if (!a.known || !b.known || (formula_is_number(b) && b.constant <= 0))
        return unknown();
    if (formula_is_number(a) && formula_is_number(b))
        return formula_number(a.constant / b.constant);
    const bool valued = a.valued && b.valued && b.value > 0;
    const int64_t value = valued ? a.value / b.value : 0;
    formula over = a;
    int64_t by = formula_is_number(b) ? b.constant : 0;
    bool up = false;
    if (by) {
        const formula lower = add(w, a, formula_number(by - 1), -1);
        const int64_t common_up = lower.known ? common_factor(lower, by) : 1;
        up = common_up > 1 || (by > 1 && a.constant == by - 1);
        const int64_t common = up ? common_up : common_factor(a, by);
        over = divided(w, up ? lower : a, common);
        by /= common;
    }
    if (by == 1)
        return over;
    const formula under = by ? formula_number(by) : b;
    const char *const dividend = formula_text(w, over.n + (over.constant != 0) > 1 ? product_of(w, over) : over),
                      *const divisor = formula_text(w, under.n ? product_of(w, under) : under);
    return named(w, arena_printf(w->m->mem, "%s(%s / %s)", up ? "ceil" : "floor", dividend, divisor),
                 formula_is_size(a), valued, value);
}

/* ---- of values ---- */

static formula of_arg(const words *w, const ir_op *op, int k)
{
    return scalar_is_int(op->args[k]->type) ? formula_of(w, op->args[k]) : unknown();
}

static formula of_op(const words *w, const ir_op *op)
{
    switch (op->code) {
    case OP_CONST:
        return scalar_is_float(op->res[0]->type) ? unknown() : formula_number(ir_const_attr(op)->i);
    case OP_MPARAM: {
        const ir_mparam *p = ir_mparam_attr(op)->param;
        return named(w, p->name, true, scalar_is_int(p->type), p->idefault);
    }
    case OP_SHAPE: {
        const ir_field *f = ir_shape_attr(op)->field;
        if (!f->array)
            return formula_of(w, ir_yield_of(w->m->extents->body)->args[f->extent0 + (int)ir_shape_attr(op)->dim]);
        return named(w, arena_printf(w->m->mem, "%s.shape[%d]", f->name, (int)ir_shape_attr(op)->dim), true, false, 0);
    }
    case OP_CAST:
        return of_arg(w, op, 0);
    case OP_NEG:
        return add(w, formula_number(0), of_arg(w, op, 0), -1);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        return formula_join(w,
                            op->code == OP_ADD   ? '+'
                            : op->code == OP_SUB ? '-'
                                                 : '*',
                            of_arg(w, op, 0), of_arg(w, op, 1));
    case OP_MIN:
    case OP_MAX:
        return extremum(w, op, of_arg(w, op, 0), of_arg(w, op, 1));
    case OP_DIV:
        return quotient(w, of_arg(w, op, 0), of_arg(w, op, 1));
    default:
        return unknown();
    }
}

static const char *parameter_name(const words *w, const ir_value *v)
{
    const ir_func *f = w->owner ? w->owner : v->region->func;
    for (int i = 0; i < f->nsig; i++)
        if (!f->sig[i].array && f->sig[i].first == v->index)
            return f->sig[i].structure ? arena_printf(w->m->mem, "%s.%s", f->sig[i].name, f->sig[i].path)
                                       : f->sig[i].name;
    return v->name;
}

formula formula_of(const words *w, const ir_value *v)
{
    if (v->def)
        return of_op(w, v->def);
    if (v->region->parent || !scalar_is_int(v->type) || !parameter_name(w, v))
        return unknown(); /* the index of a loop */
    return named(w, parameter_name(w, v), true, false, 0);
}

static formula extent_of_array(const words *w, const ir_field *f, int d)
{
    const ir_extent *x = &f->dims[d];
    if (x->mparam)
        return named(w, x->mparam->name, true, true, x->mparam->idefault);
    if (x->param < 0)
        return formula_number(x->count);
    for (size_t k = 0; k < w->m->funcs.len; k++)
        for (int i = 0; i < w->m->funcs.at[k]->nsig; i++)
            if (w->m->funcs.at[k]->sig[i].array == f)
                return named(w, w->m->funcs.at[k]->sig[x->param].name, true, false, 0);
    return unknown();
}

formula field_elements(const words *w, const ir_field *f)
{
    formula n = formula_number(1);
    for (int d = 0; d < f->ndim; d++)
        n = formula_join(w, '*', n,
                         f->array ? extent_of_array(w, f, d)
                                  : formula_of(w, ir_yield_of(w->m->extents->body)->args[f->extent0 + d]));
    return n;
}

formula field_bytes(const words *w, const ir_field *f)
{
    return formula_join(w, '*', formula_number((int64_t)ir_field_ncomp(f) * scalar_bytes(f->elem)),
                        field_elements(w, f));
}

formula layout_bytes(const ir_layout *l)
{
    int64_t size = 0, align = 1;
    for (int i = 0; i < l->n; i++) {
        const int64_t n = l->types[i] == SC_PTR ? (int64_t)sizeof(void *) : scalar_bytes(l->types[i]);
        size = (size + n - 1) / n * n + n;
        align = n > align ? n : align;
    }
    return formula_number((size + align - 1) / align * align);
}

const char *bytes_text(const words *w, formula f)
{
    if (!f.known)
        return "as many bytes as its extents make";
    const char *const text = arena_printf(w->m->mem, "%s %s", formula_text(w, f),
                                          f.n == 0 && f.constant == 1 ? "byte" : "bytes");
    return f.n && f.valued ? arena_printf(w->m->mem, "%s (%lld with the defaults)", text, (long long)f.value) : text;
}
