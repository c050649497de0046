/* Numbers that follow from params, arguments and extents, as text and with the params' defaults. */
#include "explain/words.h"

#include <string.h>

#include "codegen/cexpr.h"
#include "ir/ops.h"

static formula unknown(void)
{
    return (formula){.prec = 0};
}

formula formula_number(int64_t x)
{
    return (formula){.prec = x < 0 ? PREC_UNARY : PREC_PRIMARY, .valued = true, .value = x};
}

static formula made(const char *text, int prec, bool valued, int64_t value)
{
    return (formula){.text = text, .prec = prec, .valued = valued, .value = value};
}

/* A number needs no text. */
static bool is_number(formula f)
{
    return f.valued && !f.text;
}

static bool is_unknown(formula f)
{
    return !f.valued && !f.text;
}

static const char *text_of(const words *w, formula f)
{
    return f.text ? f.text : arena_printf(w->m->mem, "%lld", (long long)f.value);
}

static const char *operand(const words *w, formula f, int prec)
{
    return cexpr_operand(w->m->mem, (cexpr){text_of(w, f), f.prec}, prec);
}

static bool compute(char operation, int64_t a, int64_t b, int64_t *out)
{
    return operation == '+'   ? !__builtin_add_overflow(a, b, out)
           : operation == '-' ? !__builtin_sub_overflow(a, b, out)
                              : !__builtin_mul_overflow(a, b, out);
}

/* a plus or minus a number, which joins the number that is there. */
static formula shifted(const words *w, formula a, int64_t by)
{
    formula r = {.prec = PREC_ADD, .valued = a.valued && compute('+', a.value, by, &r.value)};
    r.base = a.base ? a.base : operand(w, a, PREC_ADD);
    if (by == INT64_MIN || !compute('+', a.offset, by, &r.offset))
        return unknown();
    r.text = arena_printf(w->m->mem, r.offset < 0 ? "%s - %lld" : "%s + %lld", r.base,
                          (long long)(r.offset < 0 ? -r.offset : r.offset));
    if (r.offset == 0) {
        r.text = r.base;
        r.prec = strchr(r.base, ' ') ? PREC_ADD : PREC_PRIMARY;
    }
    return r;
}

formula formula_join(const words *w, char operation, formula a, formula b)
{
    if (is_unknown(a) || is_unknown(b))
        return unknown();
    formula r = {.prec = operation == '*' ? PREC_MUL : PREC_ADD};
    r.valued = a.valued && b.valued && compute(operation, a.value, b.value, &r.value);
    if (is_number(a) && is_number(b) && r.valued)
        return formula_number(r.value);
    if (is_number(b) && b.value == (operation == '*'))
        return a;
    if (operation != '-' && is_number(a) && a.value == (operation == '*'))
        return b;
    if (operation != '*' && is_number(b) && b.value != INT64_MIN)
        return shifted(w, a, operation == '-' ? -b.value : b.value);
    if (operation == '*' && is_number(b)) { /* "4 * N" */
        const formula c = a;
        a = b;
        b = c;
    }
    if (operation == '*' && is_number(a)) {
        if (b.rest && compute('*', a.value, b.factor, &r.factor)) { /* "4 * (6 * N)" */
            a = formula_number(r.factor);
            b = made(b.rest, b.rest_prec, false, 0);
        }
        r.rest = b.text;
        r.rest_prec = b.prec;
        r.factor = a.value;
    }
    r.text = arena_printf(w->m->mem, "%s %c %s", operand(w, a, r.prec), operation,
                          operand(w, b, r.prec + (operation != '+' && operation != '*')));
    return r;
}

static formula of_op(const words *w, const ir_op *op)
{
    switch (op->code) {
    case OP_CONST:
        return scalar_is_float(op->res[0]->type) ? unknown() : formula_number(ir_const_attr(op)->i);
    case OP_MPARAM: {
        const ir_mparam *p = ir_mparam_attr(op)->param;
        return made(p->name, PREC_PRIMARY, scalar_is_int(p->type), p->idefault);
    }
    case OP_SHAPE: {
        const ir_field *f = ir_shape_attr(op)->field;
        if (!f->array)
            return formula_of(w, ir_yield_of(w->m->extents->body)->args[f->extent0 + (int)ir_shape_attr(op)->dim]);
        return made(arena_printf(w->m->mem, "%s.shape[%d]", f->name, (int)ir_shape_attr(op)->dim), PREC_PRIMARY, false,
                    0);
    }
    case OP_CAST:
        return scalar_is_int(op->args[0]->type) ? formula_of(w, op->args[0]) : unknown();
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        return formula_join(w,
                            op->code == OP_ADD   ? '+'
                            : op->code == OP_SUB ? '-'
                                                 : '*',
                            formula_of(w, op->args[0]), formula_of(w, op->args[1]));
    case OP_MIN:
    case OP_MAX:
    case OP_DIV: {
        const formula a = formula_of(w, op->args[0]), b = formula_of(w, op->args[1]);
        if (is_unknown(a) || is_unknown(b) || scalar_is_float(op->res[0]->type))
            return unknown();
        const bool less = a.value < b.value;
        if (op->code == OP_DIV)
            /* in parentheses as an operand: it rounds */
            return made(arena_printf(w->m->mem, "%s / %s", operand(w, a, PREC_MUL), operand(w, b, PREC_MUL + 1)),
                        PREC_ADD, a.valued && b.valued && b.value > 0, b.value > 0 ? a.value / b.value : 0);
        if (is_number(b) && b.value == 0 && op->code == OP_MAX && a.text &&
            !strchr(a.text, ' ')) /* a size by its name */
            return made(text_of(w, a), a.prec, a.valued, less ? 0 : a.value);
        return made(arena_printf(w->m->mem, "%s(%s, %s)", op_name(op->code), text_of(w, a), text_of(w, b)),
                    PREC_PRIMARY, a.valued && b.valued, (op->code == OP_MIN) == less ? a.value : b.value);
    }
    default:
        return unknown();
    }
}

static const char *parameter_name(const words *w, const ir_value *v)
{
    const ir_func *f = w->owner ? w->owner : v->region->func;
    for (int i = 0; i < f->nsig; i++)
        if (!f->sig[i].array && f->sig[i].first == v->index)
            return f->sig[i].name;
    return v->name;
}

formula formula_of(const words *w, const ir_value *v)
{
    if (v->def)
        return of_op(w, v->def);
    if (v->region->parent || !scalar_is_int(v->type) || !parameter_name(w, v))
        return unknown(); /* the index of a loop */
    return made(parameter_name(w, v), PREC_PRIMARY, false, 0);
}

static formula extent_of_array(const words *w, const ir_field *f, int d)
{
    const ir_extent *x = &f->dims[d];
    if (x->mparam)
        return made(x->mparam->name, PREC_PRIMARY, true, x->mparam->idefault);
    if (x->param < 0)
        return formula_number(x->count);
    for (size_t k = 0; k < w->m->funcs.len; k++)
        for (int i = 0; i < w->m->funcs.at[k]->nsig; i++)
            if (w->m->funcs.at[k]->sig[i].array == f)
                return made(w->m->funcs.at[k]->sig[x->param].name, PREC_PRIMARY, false, 0);
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
    if (is_unknown(f))
        return "as many bytes as its extents make";
    if (is_number(f))
        return arena_printf(w->m->mem, "%lld bytes", (long long)f.value);
    return f.valued ? arena_printf(w->m->mem, "%s bytes (%lld with the defaults)", f.text, (long long)f.value)
                    : arena_printf(w->m->mem, "%s bytes", f.text);
}
