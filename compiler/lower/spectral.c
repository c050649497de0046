/* Functions of singular values and eigenvalues.
 *
 * U diag(g(s)) V^T, where U, s, V are results of one decomposition of m, is smooth where values of s meet, but U, s and
 * V are not: their derivatives cannot be put together. So such a product becomes a call of spectral_of
 * (check/prelude/spectral.tk), which has rules of its own. */
#include "ir/spectral.h"
#include "lower/lower_impl.h"

struct decomposition {
    const tx_func *of;
    ir_op *call;
    struct decomposition *next;
};

struct product {
    agg a, b, r;
    struct product *next;
};

void note_decomposition(lower *l, const tx_func *f, ir_op *call)
{
    struct decomposition *d = ARENA_NEW(l->mem, struct decomposition);
    *d = (struct decomposition){f, call, l->decompositions};
    l->decompositions = d;
}

void note_product(lower *l, const agg *a, const agg *b, const agg *r)
{
    struct product *p = ARENA_NEW(l->mem, struct product);
    *p = (struct product){*a, *b, *r, l->products};
    l->products = p;
}

typedef struct form {
    ir_spectral is;
    const tx_func *of;
    bool flipped; /* V diag(g) U^T: the transpose */
} form;

static bool same(const agg *a, const agg *b)
{
    bool yes = a->n == b->n;
    for (int k = 0; yes && k < a->n; k++)
        yes = a->at[k] == b->at[k];
    return yes;
}

static bool is_zero(const ir_value *v)
{
    return ir_is_const(v) && ir_float(v) == 0;
}

/* u is U, vt is V^T, or the other way round; middle diagonal, NULL: the identity. */
static bool find_form(lower *l, const agg *u, const agg *middle, const agg *vt, form *f)
{
    const struct decomposition *d = l->decompositions;
    while (d && d->call != u->at[0]->def)
        d = d->next;
    if (!d || !ir_spectral_begin(&f->is, d->call))
        return false;
    const int n = f->is.n;
    bool is = u->n == n * n;
    f->of = d->of;
    f->flipped = u->at[0] != f->is.u[0];
    for (int i = 0; i < n && is; i++) {
        f->is.g[i] = middle ? middle->at[i * n + i] : ir_const_f(&l->b, u->elem, 1);
        for (int k = 0; k < n; k++)
            is = is && u->at[i * n + k] == (f->flipped ? f->is.v : f->is.u)[i * n + k] &&
                 vt->at[k * n + i] == (f->flipped ? f->is.u : f->is.v)[i * n + k] &&
                 (!middle || i == k || is_zero(middle->at[i * n + k]));
    }
    return is;
}

static bool find_product(lower *l, const agg *a, const agg *b, form *f)
{
    for (const struct product *p = l->products; p; p = p->next)
        if ((same(&p->r, a) && find_form(l, &p->a, &p->b, b, f)) ||
            (same(&p->r, b) && find_form(l, a, &p->a, &p->b, f)))
            return true;
    return find_form(l, a, NULL, b, f);
}

bool lower_spectral(lower *l, const agg *a, const agg *b, agg *r)
{
    form f;
    if (!l->decompositions || !find_product(l, a, b, &f) || !f.of->spectral[0])
        return false;
    const int n = f.is.n;
    const ir_op *op = ir_spectral_call(&l->b, &f.is,
                                       (ir_func *[]){f.of->spectral[0]->lowered, f.of->spectral[1]->lowered}, true);
    if (!op && l->frame->fn->of_func)
        diag(l->m->diag, span_at(l->b.loc), DIAG_BUILTIN_ARGUMENTS,
             "a function of singular values or eigenvalues has no effect, and no array parameters");
    if (!op)
        return false;
    for (int k = 0; k < n * n; k++)
        r->at[f.flipped ? k % n * n + k / n : k] = op->res[k];
    ir_forget_origins(l->b.func);
    return true;
}
