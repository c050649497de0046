/* U diag(g(s)) V^T of a decomposition U diag(s) V^T: what lowering needs to make one function of it. */
#include <string.h>

#include "check/check.h"

static instance *instance_for(checker *c, const char *name, const ty *type)
{
    instance *i = names_entry(c, intern(c->names, name))->prelude->instances;
    while (i && i->args[0] != type)
        i = i->next;
    return i && i->ready ? i : NULL;
}

/* spectral_of(m, u, s, v, g, j, h0, h1, h2), see spectral.tk. */
static instance *spectral_of(checker *c, const ty *mat, bool symmetric, bool single, src_span at)
{
    const ty *number = ty_scalar(c->types, mat->elem), *vec = ty_vec(c->types, mat->rows, mat->elem);
    const ty *types[] = {mat,
                         mat,
                         vec,
                         symmetric ? number : mat,
                         vec,
                         single ? vec : mat,
                         single ? vec : mat,
                         single ? number : mat,
                         single || mat->rows == 2 ? number : mat};
    return call_instance(c, names_entry(c, intern(c->names, "spectral_of"))->inner, types, at);
}

static const char *const names[] = {"svd", "svd_rotation", "sym_eig"};

void check_spectral(checker *c, const ty *type, src_span at)
{
    if (!c->fn || !scalar_is_float(type->elem) || type->kind != TY_MAT || type->rows != type->cols || type->rows > 3 ||
        (c->fn->sym->prelude && !c->fn->sym->of_func))
        return;
    for (int k = 0; k < 3; k++) {
        const instance *of = instance_for(c, names[k], type);
        for (int single = 0; of && single < 2; single++)
            of->tx->spectral[single] = spectral_of(c, type, k == 2, single, at)->tx;
    }
}

void check_decomposition(checker *c, const sym *s, const ty *type, src_span at)
{
    for (int k = 0; k < 3; k++)
        if (!strcmp(s->name, names[k]))
            check_spectral(c, type, at);
}
