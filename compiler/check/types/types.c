/* Types as written, and the members of structs. */
#include <string.h>

#include "check/check.h"

const ty *type_builtin(checker *c, const char *name)
{
    for (int s = 0; s < SC_COUNT; s++)
        if (!strcmp(name, scalar_name((scalar)s)))
            return ty_scalar(c->types, (scalar)s);
    scalar real = c->opt->real;
    if (!strcmp(name, "real"))
        return ty_scalar(c->types, real);
    size_t n = strlen(name);
    int k = n > 0 ? name[n - 1] - '0' : 0;
    if (k < 2 || k > 4)
        return NULL;
    if (n == 4 && !strncmp(name, "vec", 3))
        return ty_vec(c->types, k, real);
    if (n == 4 && !strncmp(name, "mat", 3))
        return ty_mat(c->types, k, k, real);
    return n == 5 && !strncmp(name, "ivec", 4) ? ty_vec(c->types, k, SC_I32) : NULL;
}

/* ---- structs ---- */

static const ty *member_type(checker *c, const ast_param *p, const sym *s)
{
    const ty *t = type_resolve(c, p->type);
    if (t->kind == TY_ERROR || ty_is_value(t))
        return t;
    ERR(c, p->type->span, DIAG_NOT_SCALAR_TYPE, arena_printf(c->mem, "a member of struct '%s'", s->name),
        ty_name(c->types, t));
    if (t->kind == TY_ARRAY)
        NOTE(c, p->type->span, "numbers that belong together are a vector: vec(n, T)");
    return ty_error(c->types);
}

static const ir_struct *make_structure(checker *c, const sym *s, int n, const char *const *names,
                                       const ty *const *types)
{
    ir_struct *r = ARENA_NEW(c->mem, ir_struct);
    *r = (ir_struct){.module = c->ir,
                     .name = s->id,
                     .doc = s->item->doc,
                     .nmembers = n,
                     .loc = s->span.begin,
                     .members = ARENA_ARRAY(c->mem, ir_member, n)};
    for (int k = 0; k < n; k++)
        r->members[k] = (ir_member){names[k],           types[k]->structure, types[k]->elem,
                                    shape_of(types[k]), types[k]->rows,      types[k]->cols};
    vec_push(&c->ir->structs, r);
    return r;
}

static const ty *resolve_members(checker *c, const sym *s)
{
    const ty **types = ARENA_ARRAY(c->mem, const ty *, s->nparams + 1);
    const char **names = ARENA_ARRAY(c->mem, const char *, s->nparams + 1);
    bool bad = s->refused;
    int n = 0;
    long total = 0;
    for (const ast_param *p = s->item->params; p; p = p->next, n++) {
        names[n] = p->name;
        types[n] = member_type(c, p, s);
        names_check_member(c, p);
        bad = bad || types[n]->kind == TY_ERROR;
        total += types[n]->kind == TY_ERROR ? 0 : ty_ncomp(types[n]);
        for (int k = 0; k < n; k++)
            if (names[k] == names[n]) {
                ERR(c, p->span, DIAG_REDEFINED, p->name);
                bad = true;
            }
    }
    if (!bad && (total < 1 || total > MAX_COMPONENTS)) {
        ERR(c, s->span, DIAG_SIZE, arena_printf(c->mem, "the number of components of struct '%s'", s->name),
            (long)MAX_COMPONENTS, (long long)total);
        bad = true;
    }
    return bad ? ty_error(c->types)
               : ty_struct(c->types, make_structure(c, s, n, names, types), s->name, n, names, types);
}

const ty *resolve_struct(checker *c, sym *s, src_span use)
{
    if (s->state == SYM_DONE)
        return s->type;
    if (s->state == SYM_ACTIVE) {
        ERR(c, use, DIAG_STRUCT_CYCLE, s->name);
        NOTE(c, s->span, "'%s' is declared here; what is linked is an index into a field", s->name);
        return ty_error(c->types);
    }
    s->state = SYM_ACTIVE;
    s->type = resolve_members(c, s);
    s->state = SYM_DONE;
    return s->type;
}

/* ---- types as written ---- */

static const ty *resolve_name(checker *c, const ast_type *t)
{
    const ty *r = type_builtin(c, t->name);
    if (r)
        return r;
    sym *s = names_use(c, t->name, t->span);
    if (s && s->kind == SYM_STRUCT)
        return resolve_struct(c, s, t->span);
    ERR(c, t->span, DIAG_UNKNOWN_TYPE, t->name);
    hint_foreign(c, t->name, t->span);
    return ty_error(c->types);
}

static const ty *resolve_shaped(checker *c, const ast_type *t)
{
    const ty *elem = type_resolve(c, t->elem);
    long size[2] = {1, 1};
    int n = t->kind == AST_TYPE_VEC ? 1 : 2, k = 0;
    for (const ast_expr *e = t->extents; e && k < n; e = e->next)
        if (!(size[k++] = type_size(c, e, "the size of a vector or matrix", MAX_COMPONENTS)))
            return ty_error(c->types);
    if (elem->kind == TY_ERROR)
        return elem;
    if (elem->kind != TY_SCALAR) {
        ERR(c, t->elem->span, DIAG_NOT_SCALAR_TYPE, "a component of a vector or matrix", ty_name(c->types, elem));
        return ty_error(c->types);
    }
    if (size[0] * size[1] > MAX_COMPONENTS) {
        ERR(c, t->span, DIAG_SIZE, "the number of components", (long)MAX_COMPONENTS, (long long)(size[0] * size[1]));
        return ty_error(c->types);
    }
    return n == 1 ? ty_vec(c->types, (int)size[0], elem->elem)
                  : ty_mat(c->types, (int)size[0], (int)size[1], elem->elem);
}

static bool is_launch_constant(const tx_expr *e)
{
    if (e->kind != TX_CONST && e->kind != TX_MPARAM && e->kind != TX_SHAPE && e->kind != TX_OP && e->kind != TX_CAST)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_launch_constant(e->args[i]))
            return false;
    return !e->a || is_launch_constant(e->a);
}

/* What does not change while a kernel runs. -1: it is not constant, 0: after an error. */
static long launch_extent(checker *c, const ast_expr *e, tx_expr **out)
{
    const bool outer = c->extents;
    c->extents = true;
    *out = to_i64(c, check_expr(c, e), e->span, "the extent of a local array");
    c->extents = outer;
    if (!*out)
        return 0;
    if ((*out)->kind == TX_CONST) {
        if ((*out)->cval.i < 1 || (*out)->cval.i > MAX_ARRAY)
            ERR(c, e->span, DIAG_SIZE, "the extent of a local array", (long)MAX_ARRAY, (long long)(*out)->cval.i);
        return (*out)->cval.i < 1 || (*out)->cval.i > MAX_ARRAY ? 0 : (long)(*out)->cval.i;
    }
    if (is_launch_constant(*out))
        return -1;
    ERR(c, e->span, DIAG_NOT_CONSTANT, "the extent of a local array");
    NOTE(c, e->span, "it may be made of constants, params and extents of fields");
    return 0;
}

const ty *type_local_array(checker *c, const ast_type *t, tx_expr **launch)
{
    const ty *of = type_resolve(c, t->elem);
    long extents[MAX_DIM], total = 1;
    int n = 0;
    for (const ast_expr *e = t->extents; e; e = e->next) {
        if (n == MAX_DIM) {
            ERR(c, e->span, DIAG_DIMENSIONS, MAX_DIM);
            return ty_error(c->types);
        }
        extents[n] = launch ? launch_extent(c, e, &launch[n])
                            : type_size(c, e, "the extent of a local array", MAX_ARRAY);
        if (!extents[n])
            return ty_error(c->types);
        if (extents[n] > 0)
            total = total > MAX_ARRAY ? total : total * extents[n];
        n++;
    }
    if (of->kind == TY_ERROR)
        return of;
    if (!ty_is_value(of)) {
        ERR(c, t->elem->span, DIAG_NOT_SCALAR_TYPE, "an element of an array", ty_name(c->types, of));
        return ty_error(c->types);
    }
    total *= ty_ncomp(of);
    if (total > MAX_ARRAY) {
        ERR(c, t->span, DIAG_SIZE, "the number of components of a local array", (long)MAX_ARRAY, (long long)total);
        return ty_error(c->types);
    }
    return ty_array(c->types, of, n, extents);
}

static const ty *resolve_tuple(checker *c, const ast_type *t)
{
    const ty *members[64];
    int n = 0;
    for (const ast_type *m = t->members; m; m = m->next) {
        if (n == 64) {
            ERR(c, m->span, DIAG_SIZE, "the number of results", 64L, 65LL);
            return ty_error(c->types);
        }
        members[n] = type_resolve(c, m);
        if (members[n]->kind == TY_ERROR)
            return members[n];
        if (!ty_is_value(members[n])) {
            ERR(c, m->span, DIAG_NOT_SCALAR_TYPE, "a result", ty_name(c->types, members[n]));
            return ty_error(c->types);
        }
        n++;
    }
    return n == 1 ? members[0] : ty_tuple(c->types, n, members);
}

const ty *type_resolve(checker *c, const ast_type *t)
{
    if (too_deep(c, t->span))
        return ty_error(c->types);
    c->depth++;
    const ty *r = NULL;
    switch (t->kind) {
    case AST_TYPE_NAME:
        r = resolve_name(c, t);
        break;
    case AST_TYPE_VEC:
    case AST_TYPE_MAT:
        r = resolve_shaped(c, t);
        break;
    case AST_TYPE_ARRAY:
        r = type_local_array(c, t, NULL);
        break;
    case AST_TYPE_TUPLE:
        r = resolve_tuple(c, t);
        break;
    }
    c->depth--;
    return r;
}
