/* What a module that was read must keep besides what the verifier looks at in each function: signatures, fields, and
 * calls that end. */
#include <inttypes.h>

#include "ir/text/text.h"

static bool wrong(ir_text *t, const char *what, const char *name)
{
    fprintf(t->errors, "%s: error: %s '%s'\n", t->path, what, name);
    t->failed = true;
    return false;
}

/* ---- fields ---- */

static bool check_array(ir_text *t, const ir_field *f)
{
    for (int d = 0; d < f->ndim; d++)
        if (f->dims[d].param < 0 && !f->dims[d].value)
            return wrong(t, "an extent has no value in the extents: array", f->name);
    return !f->lead || f->lead->array || wrong(t, "the first member is no array: array", f->name);
}

static bool check_field(ir_text *t, const ir_field *f)
{
    const ir_module *m = t->m;
    if (f->rows < 1 || f->cols < 1 || f->elem == SC_PTR || (f->lead && f->lead->ndim != f->ndim))
        return wrong(t, "no memory looks so: field", f->name);
    for (int p = 0; p < IR_PLANES; p++) {
        if (f->has[p] && !*ir_plane_get((ir_plane)p)->attribute)
            return wrong(t, "a plane that no declaration asks for: field", f->name);
        if (f->has[p] && !scalar_is_float(f->elem))
            return wrong(t, "no float has a derivative: field", f->name);
    }
    if (f->wide_of && (f->wide_of->array || !f->wide_of->width[f->wide_plane] || f->wide_of->wide[f->wide_plane] != f ||
                       f->elem != f->wide_of->elem ||
                       f->ndim != f->wide_of->ndim + (ir_field_ncomp(f->wide_of) > 1) + 1 || ir_field_ncomp(f) != 1))
        return wrong(t, "no plane in several directions looks so: field", f->name);
    for (int p = 0; p < IR_PLANES; p++)
        if (f->width[p] && (!f->wide[p] || (f->has[p] && ir_plane_is_tangent((ir_plane)p))))
            return wrong(t, "there is no plane of this width: field", f->name);
    if (f->array)
        return check_array(t, f);
    return !m->extents || f->extent0 + f->ndim <= m->extents->nresults ||
           wrong(t, "the extents do not yield those of field", f->name);
}

/* ---- functions ---- */

/* The components of s are values of these types, or it is an array. */
static bool check_sigparam(ir_text *t, const ir_func *f, const ir_sigparam *s, int n, bool out)
{
    if (s->array)
        return (s->array->array && !out) || wrong(t, "a parameter is no array: function", f->name);
    const int ncomp = s->rows * s->cols;
    if (ncomp < 1 || s->first > n - ncomp)
        return wrong(t, "a parameter or result has components that are not there: function", f->name);
    for (int i = s->first; i < s->first + ncomp; i++)
        if (s->elem != (out ? f->results[i] : f->body->params[i]->type))
            return wrong(t, "a parameter or result has components of another type: function", f->name);
    return true;
}

static bool check_func(ir_text *t, const ir_func *f)
{
    for (int i = 0; i < f->nsig; i++)
        if (!check_sigparam(t, f, &f->sig[i], f->body->nparams, false))
            return false;
    for (int i = 0; i < f->nouts && !f->ad.primal;
         i++) /* a derivative's are its primal's, and it may yield none of them */
        if (!check_sigparam(t, f, &f->outs[i], f->nresults, true))
            return false;
    const ir_func *const forms[] = {f->ad.grad, f->ad.jvp, f->ad.hvp, f->ad.jac, f->ad.hess, f->ad.workspace};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i] && !forms[i]->body->last)
            return wrong(t, "a derivative has no body: function", f->name);
    if (f == t->m->extents && f->body->nparams)
        return wrong(t, "the extents have parameters: function", f->name);
    return true;
}

typedef struct looked {
    ir_text *t;
    bool ok;
} callee_check;

static bool is_array_of(const ir_func *f, const ir_field *array)
{
    for (int i = 0; i < f->nsig; i++)
        if (f->sig[i].array == array)
            return true;
    return false;
}

static void check_callee(ir_op *op, void *ctx)
{
    callee_check *l = ctx;
    const ir_func *c = ir_attr_kind_of(op->code) == IR_ATTR_CALL ? ir_callee_of(op) : NULL;
    if (op->code == OP_CALL && c && (c->kind != IR_FUNC || !c->body->last))
        l->ok = l->ok && wrong(l->t, "a call of what is no function that can be called:", c->name);
    if (op->code == OP_ADJOINT && c && c->kind != IR_KERNEL)
        l->ok = l->ok && wrong(l->t, "the adjoint of what is no kernel:", c->name);
    if (ir_is_func_derivative(op) && c && (c->kind != IR_FUNC || !c->body->last))
        l->ok = l->ok && wrong(l->t, "the derivative of what is no function:", c->name);
}

/* Every array stands in a signature, which its extents are parameters of. */
static bool check_array_extents(ir_text *t, const ir_field *array)
{
    for (size_t i = 0; i < t->read.len; i++) {
        const ir_func *f = t->read.at[i];
        for (int d = 0; is_array_of(f, array) && d < array->ndim; d++) {
            const ir_extent *e = &array->dims[d];
            if (e->param >= f->nsig ||
                (e->param >= 0 && (f->sig[e->param].array || f->body->params[f->sig[e->param].first]->type != SC_I64)))
                return wrong(t, "an extent is no parameter of a function of array", array->name);
        }
    }
    return true;
}

/* ---- calls ---- */

enum { NEW, OPEN, DONE };

typedef struct calls {
    ir_text *t;
    bool ok;
} calls;

static void follow(calls *c, ir_func *f);

static void follow_call(ir_op *op, void *ctx)
{
    calls *c = ctx;
    if ((op->code == OP_CALL || ir_is_func_derivative(op)) && ir_callee_of(op) && c->ok)
        follow(c, ir_callee_of(op));
}

/* The yield's pos says how far it is. */
static void follow(calls *c, ir_func *f)
{
    ir_op *y = ir_yield_of(f->body);
    if (!y || y->pos == DONE)
        return;
    if (y->pos == OPEN) {
        c->ok = wrong(c->t, "a function calls itself:", f->name);
        return;
    }
    y->pos = OPEN;
    ir_walk(f->body, follow_call, c);
    y->pos = DONE;
}

static bool check_calls(ir_text *t)
{
    calls c = {.t = t, .ok = true};
    for (size_t i = 0; i < t->read.len && c.ok; i++)
        follow(&c, t->read.at[i]);
    return c.ok;
}

bool text_check(ir_text *t)
{
    const ir_module *m = t->m;
    bool ok = true;
    for (size_t i = 0; i < m->fields.len && ok; i++)
        ok = check_field(t, m->fields.at[i]);
    for (size_t i = 0; i < t->read.len && ok; i++) {
        callee_check l = {t, true};
        ok = check_func(t, t->read.at[i]);
        ir_walk(t->read.at[i]->body, check_callee, &l);
        ok = ok && l.ok;
    }
    for (size_t i = m->nfields; i < m->fields.len && ok; i++)
        ok = check_array_extents(t, m->fields.at[i]);
    return ok && check_calls(t);
}
