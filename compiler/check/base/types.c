#include "check/base/types.h"

#include <stdio.h>
#include <string.h>

#include "util/strbuf.h"

typedef struct node node;
struct node {
    ty t;
    node *next;
};

struct ty_pool {
    arena *mem;
    scalar real;
    ty error, void_, string;
    ty scalars[SC_COUNT];
    node *shaped;   /* vectors and matrices: a program has a handful */
    node *composed; /* arrays and tuples */
};

ty_pool *ty_pool_create(arena *mem, scalar real)
{
    ty_pool *p = ARENA_NEW(mem, ty_pool);
    p->mem = mem;
    p->real = real;
    p->error = (ty){.kind = TY_ERROR, .elem = SC_NONE, .rows = 1, .cols = 1};
    p->void_ = (ty){.kind = TY_VOID, .elem = SC_NONE};
    p->string = (ty){.kind = TY_STRING, .elem = SC_NONE};
    for (int s = 0; s < SC_COUNT; s++)
        p->scalars[s] = (ty){.kind = TY_SCALAR, .elem = (scalar)s, .rows = 1, .cols = 1};
    return p;
}

const ty *ty_error(ty_pool *p)
{
    return &p->error;
}
const ty *ty_void(ty_pool *p)
{
    return &p->void_;
}
const ty *ty_string(ty_pool *p)
{
    return &p->string;
}
const ty *ty_scalar(ty_pool *p, scalar s)
{
    return &p->scalars[s];
}

static const ty *shaped(ty_pool *p, ty_kind kind, int rows, int cols, scalar s)
{
    for (const node *n = p->shaped; n; n = n->next)
        if (n->t.kind == kind && n->t.elem == s && n->t.rows == rows && n->t.cols == cols)
            return &n->t;
    node *n = ARENA_NEW(p->mem, node);
    n->t = (ty){.kind = kind, .elem = s, .rows = rows, .cols = cols};
    n->next = p->shaped;
    p->shaped = n;
    return &n->t;
}

const ty *ty_vec(ty_pool *p, int n, scalar s)
{
    return shaped(p, TY_VEC, n, 1, s);
}
const ty *ty_mat(ty_pool *p, int n, int m, scalar s)
{
    return shaped(p, TY_MAT, n, m, s);
}

const ty *ty_array(ty_pool *p, const ty *of, int ndim, const long *extents)
{
    for (const node *n = p->composed; n; n = n->next)
        if (n->t.kind == TY_ARRAY && n->t.of == of && n->t.ndim == ndim &&
            !memcmp(n->t.extents, extents, (size_t)ndim * sizeof *extents))
            return &n->t;
    node *n = ARENA_NEW(p->mem, node);
    n->t = (ty){.kind = TY_ARRAY, .elem = of->elem, .rows = of->rows, .cols = of->cols, .of = of, .ndim = ndim};
    memcpy(n->t.extents, extents, (size_t)ndim * sizeof *extents);
    n->next = p->composed;
    p->composed = n;
    return &n->t;
}

const ty *ty_tuple(ty_pool *p, int count, const ty *const *members)
{
    for (const node *n = p->composed; n; n = n->next)
        if (n->t.kind == TY_TUPLE && n->t.nmembers == count &&
            !memcmp(n->t.members, members, (size_t)count * sizeof *members))
            return &n->t;
    node *n = ARENA_NEW(p->mem, node);
    const ty **copy = ARENA_ARRAY(p->mem, const ty *, count);
    memcpy(copy, members, (size_t)count * sizeof *members);
    n->t = (ty){.kind = TY_TUPLE, .elem = SC_NONE, .members = copy, .nmembers = count};
    n->next = p->composed;
    p->composed = n;
    return &n->t;
}

const ty *ty_struct(ty_pool *p, const struct ir_struct *structure, const char *name, int count,
                    const char *const *names, const ty *const *members)
{
    ty t = {.kind = TY_STRUCT,
            .elem = SC_NONE,
            .rows = 1,
            .cols = 1,
            .structure = structure,
            .name = name,
            .nmembers = count};
    for (int k = 0; k < count; k++)
        t.nleaves += ty_nleaves(members[k]);
    t.members = ARENA_ARRAY(p->mem, const ty *, count);
    t.names = ARENA_ARRAY(p->mem, const char *, count);
    t.first = ARENA_ARRAY(p->mem, int, count);
    t.leaves = ARENA_ARRAY(p->mem, const ty *, t.nleaves);
    t.paths = ARENA_ARRAY(p->mem, const char *, t.nleaves);
    int at = 0;
    for (int k = 0; k < count; k++) {
        t.members[k] = members[k];
        t.names[k] = names[k];
        t.first[k] = at;
        for (int i = 0; i < ty_nleaves(members[k]); i++, at++) {
            t.leaves[at] = ty_leaf(p, members[k], i);
            t.paths[at] = members[k]->kind == TY_STRUCT ? arena_printf(p->mem, "%s.%s", names[k], members[k]->paths[i])
                                                        : names[k];
        }
    }
    node *n = ARENA_NEW(p->mem, node);
    n->t = t;
    return &n->t;
}

int ty_nleaves(const ty *t)
{
    return t->kind == TY_STRUCT ? t->nleaves : t->kind == TY_ARRAY ? ty_nleaves(t->of) : 1;
}

const ty *ty_leaf(ty_pool *p, const ty *t, int k)
{
    if (t->kind == TY_ARRAY)
        return ty_array(p, ty_leaf(p, t->of, k), t->ndim, t->extents);
    return t->kind == TY_STRUCT ? t->leaves[k] : t;
}

bool ty_has_struct(const ty *t)
{
    bool has = t->kind == TY_STRUCT;
    for (int k = 0; t->kind == TY_TUPLE && k < t->nmembers; k++)
        has = has || t->members[k]->kind == TY_STRUCT;
    return has;
}

const ty *ty_flat(ty_pool *p, const ty *t)
{
    if (!ty_has_struct(t))
        return t;
    const int n = t->kind == TY_TUPLE ? t->nmembers : 1;
    int leaves = 0;
    for (int k = 0; k < n; k++)
        leaves += ty_nleaves(t->kind == TY_TUPLE ? t->members[k] : t);
    const ty **flat = ARENA_ARRAY(p->mem, const ty *, leaves);
    leaves = 0;
    for (int k = 0; k < n; k++) {
        const ty *m = t->kind == TY_TUPLE ? t->members[k] : t;
        for (int i = 0; i < ty_nleaves(m); i++)
            flat[leaves++] = ty_leaf(p, m, i);
    }
    return ty_tuple(p, leaves, flat);
}

const ty *ty_with_elem(ty_pool *p, const ty *t, scalar s)
{
    switch (t->kind) {
    case TY_SCALAR:
        return ty_scalar(p, s);
    case TY_VEC:
    case TY_MAT:
        return shaped(p, t->kind, t->rows, t->cols, s);
    case TY_ARRAY:
        return ty_array(p, ty_with_elem(p, t->of, s), t->ndim, t->extents);
    case TY_ERROR:
    case TY_VOID:
    case TY_STRING:
    case TY_STRUCT:
    case TY_TUPLE:
        break;
    }
    return t;
}

int ty_ncomp(const ty *t)
{
    if (t->kind == TY_STRUCT) {
        int n = 0;
        for (int k = 0; k < t->nleaves; k++)
            n += ty_ncomp(t->leaves[k]);
        return n;
    }
    if (t->kind == TY_ARRAY) {
        long n = ty_ncomp(t->of);
        for (int k = 0; k < t->ndim; k++)
            n *= t->extents[k] > 0 ? t->extents[k] : 0;
        return (int)n;
    }
    return t->rows * t->cols;
}

bool ty_is_numeric(const ty *t)
{
    return t->kind == TY_SCALAR || t->kind == TY_VEC || t->kind == TY_MAT;
}

bool ty_is_value(const ty *t)
{
    return ty_is_numeric(t) || t->kind == TY_STRUCT;
}

bool ty_has_floats(const ty *t)
{
    bool has = t->kind != TY_STRUCT && scalar_is_float(t->elem);
    for (int k = 0; t->kind == TY_STRUCT && k < t->nleaves; k++)
        has = has || scalar_is_float(t->leaves[k]->elem);
    return has;
}

static void put_name(const ty_pool *p, strbuf *b, const ty *t)
{
    switch (t->kind) {
    case TY_ERROR:
        sb_add(b, "an erroneous type");
        break;
    case TY_VOID:
        sb_add(b, "nothing");
        break;
    case TY_STRING:
        sb_add(b, "a string");
        break;
    case TY_SCALAR:
        sb_add(b, scalar_name(t->elem));
        break;
    case TY_VEC:
        if (t->rows >= 2 && t->rows <= 4 && (t->elem == p->real || t->elem == SC_I32))
            sb_printf(b, "%svec%d", t->elem == SC_I32 ? "i" : "", t->rows);
        else
            sb_printf(b, "vec(%d, %s)", t->rows, scalar_name(t->elem));
        break;
    case TY_MAT:
        if (t->rows == t->cols && t->rows >= 2 && t->rows <= 4 && t->elem == p->real)
            sb_printf(b, "mat%d", t->rows);
        else
            sb_printf(b, "mat(%d, %d, %s)", t->rows, t->cols, scalar_name(t->elem));
        break;
    case TY_STRUCT:
        sb_add(b, t->name);
        break;
    case TY_ARRAY:
        put_name(p, b, t->of);
        for (int k = 0; k < t->ndim; k++)
            sb_printf(b, t->extents[k] < 0 ? "%s..." : "%s%ld", k ? ", " : "[", t->extents[k]);
        sb_addc(b, ']');
        break;
    case TY_TUPLE:
        for (int k = 0; k < t->nmembers; k++) {
            sb_add(b, k ? ", " : "(");
            put_name(p, b, t->members[k]);
        }
        sb_addc(b, ')');
        break;
    }
}

const char *ty_name(ty_pool *p, const ty *t)
{
    strbuf b = {0};
    put_name(p, &b, t);
    const char *s = arena_strdup(p->mem, sb_str(&b));
    sb_free(&b);
    return s;
}
