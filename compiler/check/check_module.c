/* The items of a module: what is declared, in which order it is checked, and what of it is generated. */
#include <string.h>

#include "check/check.h"
#include "syntax/spelling.h"

/* ---- collecting ---- */

static void check_struct_members(checker *c, const ast_item *it)
{
    static const char *const reserved[] = {"grad", "dual", "shape", "data"};
    for (const ast_param *p = it->params; p; p = p->next)
        for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++)
            if (!strcmp(p->name, reserved[k]))
                ERR(c, p->span, DIAG_RESERVED_MEMBER, p->name);
}

static sym *add_item(checker *c, const ast_item *it, sym_kind kind)
{
    sym *s = ARENA_NEW(c->mem, sym);
    *s = (sym){.kind = kind, .name = it->name, .id = it->name, .span = it->name_span, .item = it};
    for (const ast_param *p = it->params; p; p = p->next)
        s->nparams++;
    s->id = names_in_c(c, it);
    s->refused = !spaces_add(c, s);
    *c->items_tail = s;
    c->items_tail = &s->next;
    return s;
}

/* ---- kernels made of others ---- */

static bool refuse_made(checker *c, const ast_item *it, const ast_item *of)
{
    int n = 0;
    for (const ast_param *p = of->params; p; p = p->next)
        n++;
    if (of->made_of) {
        ERR(c, it->made_span, DIAG_MADE_OF, it->name, of->name, "which is made of another one itself");
        return true;
    }
    if (ast_count(it->args) > n) {
        ERR(c, it->made_span, DIAG_ARGUMENT_COUNT, of->name,
            arena_printf(c->mem, "at most %d argument%s", n, n == 1 ? "" : "s"), ast_count(it->args));
        return true;
    }
    const ast_expr *e = it->args;
    for (const ast_param *p = of->params; p; p = p->next, e = e ? e->next : NULL) {
        if (e && p->type && p->type->kind == AST_TYPE_ARRAY) {
            ERR(c, e->span, DIAG_MADE_OF, it->name, of->name,
                arena_printf(c->mem, "whose '%s' is an array of the host", p->name));
            NOTE(c, p->span, "without a type, '%s' stands for a field", p->name);
            return true;
        }
        if (!e && !p->type) {
            ERR(c, it->made_span, DIAG_MADE_OF, it->name, of->name,
                arena_printf(c->mem, "whose '%s' has no type, and gets no argument here", p->name));
            return true;
        }
    }
    return false;
}

/* kernel a = b(x, y); : the body of b, whose first parameters are what the arguments are; the others are a's. */
static const ast_item *make_kernel(checker *c, const ast_item *it, const sym *s)
{
    const ast_item *of = s && s->kind == SYM_KERNEL ? s->item : NULL;
    ast_item *made = ARENA_NEW(c->mem, ast_item);
    *made = *it;
    if (!of) {
        if (is_builtin(c, it->made_of) || s)
            ERR(c, it->made_span, DIAG_MADE_OF, it->name, it->made_of, "which is no kernel");
        else
            names_unknown(c, it->made_of, it->made_span, true);
        return made;
    }
    if (refuse_made(c, it, of))
        return made;
    made->bound = of->params;
    made->params = of->params;
    for (const ast_expr *e = it->args; e; e = e->next)
        made->params = made->params->next;
    made->result = of->result;
    made->body = of->body;
    made->doc = it->doc ? it->doc : of->doc;
    if (!it->attrs)
        made->attrs = of->attrs;
    return made;
}

static void collect_items(checker *c, const ast_module *m)
{
    static const sym_kind kinds[] = {
        [AST_ITEM_CONST] = SYM_CONST, [AST_ITEM_PARAM] = SYM_PARAM, [AST_ITEM_STRUCT] = SYM_STRUCT,
        [AST_ITEM_FIELD] = SYM_FIELD, [AST_ITEM_FUNC] = SYM_FUNC,   [AST_ITEM_KERNEL] = SYM_KERNEL};
    bool made = false;
    spaces_begin(c, m);
    for (const ast_item *it = m->items; it; it = it->next) {
        if (it->kind == AST_ITEM_IMPORT || it->kind == AST_ITEM_LAZY_GRAD || it->kind == AST_ITEM_LAZY_DUAL ||
            !it->name)
            continue;
        add_item(c, it, kinds[it->kind]);
        made = made || (it->kind == AST_ITEM_KERNEL && it->made_of);
        names_check_item(c, it);
        if (it->kind == AST_ITEM_STRUCT)
            check_struct_members(c, it);
    }
    spaces_link(c, m);
    for (sym *s = made ? c->items : NULL; s; s = s->next) {
        if (s->kind != SYM_KERNEL || !s->item->made_of)
            continue;
        const int errors = diag_error_count(c->d);
        s->item = make_kernel(c, s->item, names_use(c, s->item->made_of, s->item->made_span));
        s->refused = s->refused || diag_error_count(c->d) > errors;
        s->nparams = 0;
        for (const ast_param *q = s->item->params; q; q = q->next)
            s->nparams++;
    }
}

/* ---- constants ---- */

/* Where names of the command line are taken to stand: in the root file. */
static src_span root_at(const checker *c)
{
    return span_at((src_loc){0, 0, (uint16_t)c->root});
}

static bool is_own_const(checker *c, const sym *s)
{
    return s->kind == SYM_CONST && names_item(c, s->name, root_at(c)) == s;
}

/* What -D may name: the nearest constant, and all if they are few. */
static void note_consts(checker *c, const char *name)
{
    enum { SHOWN = 12 };
    spelling_search near = spelling_begin(name, spelling_limit(name));
    strbuf list = {0};
    int n = 0;
    for (const sym *s = c->items; s; s = s->next) {
        if (!is_own_const(c, s))
            continue;
        spelling_consider(&near, s->name);
        if (++n <= SHOWN)
            sb_printf(&list, "%s%s", n > 1 ? ", " : "", s->name);
    }
    if (near.best)
        diag_note(c->d, (src_span){0}, "did you mean '%s'?", near.best);
    if (n == 0)
        diag_note(c->d, (src_span){0}, "the module has no const");
    else if (n <= SHOWN)
        diag_note(c->d, (src_span){0}, "its consts are %s", sb_str(&list));
    else
        diag_note(c->d, (src_span){0}, "its consts are %s and %d more", sb_str(&list), n - SHOWN);
    sb_free(&list);
}

static void check_defines(checker *c)
{
    for (int k = 0; k < c->opt->ndefines; k++) {
        const char *d = c->opt->defines[k], *equals = strchr(d, '=');
        const sym *s = equals ? names_item(c, intern_n(c->names, d, (size_t)(equals - d)), root_at(c)) : NULL;
        if (s && s->kind == SYM_CONST)
            continue;
        diag(c->d, (src_span){0}, DIAG_DEFINE_NAME, d);
        if (s && s->kind == SYM_PARAM)
            diag_note(c->d, s->span, "'%s' is a param: the host gives it a value", s->name);
        else
            note_consts(c, intern_n(c->names, d, strcspn(d, "=")));
    }
}

/* ---- params ---- */

static void check_param(checker *c, sym *s)
{
    const ast_item *it = s->item;
    if (!it->type) {
        ERR(c, it->name_span, DIAG_NEEDS_TYPE, "a param needs a type");
        s->refused = true;
        return;
    }
    const ty *t = type_resolve(c, it->type);
    if (t->kind != TY_SCALAR) {
        if (t->kind != TY_ERROR)
            ERR(c, it->type->span, DIAG_NOT_SCALAR_TYPE, "a param", ty_name(c->types, t));
        s->refused = true;
        return;
    }
    ir_mparam *p = ARENA_NEW(c->mem, ir_mparam);
    p->name = s->id;
    p->doc = it->doc;
    p->type = t->elem;
    p->loc = s->span.begin;
    p->index = (int)c->ir->params.len;
    s->mparam = p;
    vec_push(&c->ir->params, p);
    if (!it->value)
        return;
    c->constant = true;
    val v = constant_value(c, it->value, t);
    c->constant = false;
    if (val_bad(v))
        return;
    if (scalar_is_float(t->elem))
        p->fdefault = v.e->cval.f;
    else
        p->idefault = v.e->cval.i;
}

/* ---- fields ---- */

static ir_field *new_field(checker *c, const sym *s, const char *name, const ty *t)
{
    ir_field *f = ARENA_NEW(c->mem, ir_field);
    *f = (ir_field){.name = name,
                    .doc = s->item->doc,
                    .elem = t->elem,
                    .shape = shape_of(t),
                    .rows = t->rows,
                    .cols = t->cols,
                    .loc = s->span.begin};
    return f;
}

/* The fields that a field is: itself, or one for each leaf of its structs. */
static int list_fields(const sym *s, ir_field *const **out)
{
    *out = s->members ? s->members : &s->field;
    return s->members ? ty_nleaves(s->type) : 1;
}

/* Whether attributes contradict each other: two layouts, or components apart and together. */
static bool excludes(const char *a, const char *b)
{
    if ((!strcmp(a, "saved") || !strcmp(a, "distinct")) && !strcmp(b, "scratch"))
        return true;
    const ir_field_layout of_a = ir_field_layout_named(a), of_b = ir_field_layout_named(b);
    const bool apart = ir_field_layout_get(of_a)->properties & IR_LAYOUT_APART;
    return of_a != IR_FIELD_DENSE && (of_b != IR_FIELD_DENSE || (apart && !strcmp(b, "aos")));
}

/* Subscripts are integers, and one element differs from no other. */
static void check_distinct(checker *c, const sym *s, const ast_attr *a)
{
    const char *what = s->type->kind != TY_SCALAR || !scalar_is_int(s->type->elem)
                           ? arena_printf(c->mem, "a field of %s", ty_name(c->types, s->type))
                       : s->field->ndim == 0 ? "a 0-D field"
                                             : NULL;
    if (!what || s->type->kind == TY_ERROR)
        return;
    ERR(c, a->span, DIAG_DISTINCT, s->name, what);
    NOTE(c, a->span, "fields of integers with extents can: 'field %s: i32[n] distinct;'", s->name);
}

/* Its word, if fields can lie so. */
static void check_layout(checker *c, const sym *s, const ast_attr *a)
{
    const ir_field_layout_info *info = ir_field_layout_get(ir_field_layout_named(a->name));
    if ((info->properties & IR_LAYOUT_EXTENTS) && (s->field->ndim == 0 || s->members))
        ERR(c, a->span, DIAG_ATTR, a->name, s->members ? "a field of structs" : "a 0-D field");
}

/* Of a leaf: a scalar has no components that could be apart, but as a member memory of its own. */
static ir_field_layout layout_of(const ir_field *f, ir_field_layout asked)
{
    const bool apart = ir_field_layout_get(asked)->properties & IR_LAYOUT_APART;
    return asked == IR_FIELD_DENSE || (apart && !f->lead && f->shape == IR_SHAPE_SCALAR) ? ir_field_layout_plain(f)
                                                                                         : asked;
}

/* needs_dual(26), needs_grad(26): the number of directions, 0: one. */
static int check_width(checker *c, const sym *s, const ast_attr *a)
{
    if (!a->parens)
        return 0;
    if (a->has_op || ast_count(a->args) != 1) {
        ERR(c, a->span, DIAG_ARGUMENT_COUNT, a->name, "one number of directions", ast_count(a->args));
        return 0;
    }
    c->constant = true;
    const val v = constant_value(c, a->args, ty_scalar(c->types, SC_I64));
    c->constant = false;
    if (val_bad(v))
        return 0;
    const int64_t width = v.e->cval.i;
    if (width < 1 || width > IR_MAX_WIDTH) {
        ERR(c, a->args->span, DIAG_SIZE, "the number of directions", (long)IR_MAX_WIDTH, (long long)width);
        return 0;
    }
    const ir_field *f = s->field;
    if (width > 1 && s->members)
        ERR(c, a->span, DIAG_NOT_COMPILED, "a field of structs with several directions");
    else if (width > 1 && f->ndim + (ir_field_ncomp(f) > 1) + 1 > MAX_DIM)
        ERR(c, a->span, DIAG_DIMENSIONS, MAX_DIM);
    else
        return width > 1 ? (int)width : 0;
    return 0;
}

static void check_field_attrs(checker *c, sym *s)
{
    static const char *const names[] = {
#define PLANE(id, name, text, words, derived, attribute, ...) attribute,
        TK_PLANES(PLANE)
#undef PLANE
            "saved",
        "scratch", "distinct",
#define FIELD_LAYOUT(id, word, ...) word,
#include "ir/field_layout.def"
#undef FIELD_LAYOUT
        "aos"};
    ir_field *const *fields;
    const int n = list_fields(s, &fields);
    bool has[IR_PLANES] = {false}, saved = false, scratch = false, distinct = false;
    int width[IR_PLANES] = {0};
    ir_field_layout asked = IR_FIELD_DENSE;
    for (const ast_attr *a = s->item->attrs; a && !diag_too_many(c->d); a = a->next) {
        const ir_plane plane = ir_plane_asked(a->name);
        bool *const known = plane != IR_PLANES             ? &has[plane]
                            : !strcmp(a->name, "saved")    ? &saved
                            : !strcmp(a->name, "scratch")  ? &scratch
                            : !strcmp(a->name, "distinct") ? &distinct
                                                           : NULL;
        const ir_field_layout layout = ir_field_layout_named(a->name);
        asked = layout != IR_FIELD_DENSE ? layout : asked;
        for (const ast_attr *b = s->item->attrs; b != a; b = b->next)
            if (!strcmp(a->name, b->name)) {
                ERR(c, a->span, DIAG_ATTR_TWICE, a->name);
                break;
            } else if (excludes(a->name, b->name) || excludes(b->name, a->name)) {
                ERR(c, a->span, DIAG_ATTR, a->name, arena_printf(c->mem, "a field that is %s", b->name));
            }
        if (known)
            *known = true;
        if (plane != IR_PLANES)
            width[plane] = check_width(c, s, a);
        else if (known || layout != IR_FIELD_DENSE || !strcmp(a->name, "aos"))
            plain_attribute(c, a);
        else
            bad_attribute(c, a, "a field", names, sizeof names / sizeof *names);
        check_layout(c, s, a);
        if (known == &distinct)
            check_distinct(c, s, a);
        if (plane != IR_PLANES && s->type->kind != TY_ERROR && !ty_has_floats(s->type))
            ERR(c, a->span, DIAG_NEEDS_GRAD_INTEGER, s->name, ty_name(c->types, s->type));
    }
    for (int k = 0; k < n; k++) {
        const bool is_float = fields[k]->elem != SC_NONE && scalar_is_float(fields[k]->elem);
        for (int p = 0; p < IR_PLANES; p++) {
            fields[k]->has[p] = has[p] && is_float && !(width[p] && ir_plane_is_tangent((ir_plane)p));
            fields[k]->width[p] = is_float ? width[p] : 0;
        }
        fields[k]->saved = saved;
        fields[k]->scratch = scratch;
        fields[k]->distinct = distinct;
        fields[k]->layout = layout_of(fields[k], asked);
    }
}

/* Params in an extent of a field are fixed at creation; arrays are made anew by each launch. */
static void note_sizes(tx_expr *e)
{
    if (e->mparam)
        e->mparam->sizes = true;
    for (int k = 0; k < e->nargs; k++)
        note_sizes(e->args[k]);
    tx_expr *const parts[] = {e->a, e->b, e->c};
    for (int k = 0; k < 3; k++)
        if (parts[k])
            note_sizes(parts[k]);
}

static long check_extent(checker *c, const ast_expr *e, tx_expr **out)
{
    c->extents = true;
    val v = check_expr(c, e);
    *out = to_i64(c, v, e->span, "an extent");
    c->extents = false;
    if (*out)
        note_sizes(*out);
    if (!*out || (*out)->kind != TX_CONST)
        return -1;
    if ((*out)->cval.i < 1)
        ERR(c, e->span, DIAG_EXTENT, (long long)(*out)->cval.i);
    return (long)(*out)->cval.i;
}

static void check_extents(checker *c, sym *s, ir_field *f, const ast_type *t)
{
    long *extents = ARENA_ARRAY(c->mem, long, MAX_DIM);
    for (const ast_expr *e = t->kind == AST_TYPE_ARRAY ? t->extents : NULL; e; e = e->next) {
        if (f->ndim == MAX_DIM) {
            ERR(c, e->span, DIAG_DIMENSIONS, MAX_DIM);
            return;
        }
        extents[f->ndim++] = check_extent(c, e, &c->tx->extents[c->tx->nextents]);
        c->tx->nextents++;
    }
    s->extents = extents;
}

/* One field for each leaf: they have the extents of the first. */
static void check_members(checker *c, sym *s, const ty *t)
{
    s->members = ARENA_ARRAY(c->mem, ir_field *, t->nleaves);
    for (int k = 0; k < t->nleaves; k++) {
        ir_field *f = new_field(c, s, arena_printf(c->mem, "%s.%s", s->id, t->paths[k]), t->leaves[k]);
        f->whole = s->id;
        f->path = t->paths[k];
        f->structure = t->structure;
        s->members[k] = f;
        f->lead = s->members[0];
    }
    s->field = s->members[0];
}

static void check_field(checker *c, sym *s)
{
    const ast_type *t = s->item->type;
    const ty *elem = type_resolve(c, t->kind == AST_TYPE_ARRAY ? t->elem : t);
    if (elem->kind != TY_ERROR && !ty_is_value(elem)) {
        ERR(c, t->span, DIAG_NOT_SCALAR_TYPE, "an element of a field", ty_name(c->types, elem));
        elem = ty_error(c->types);
    }
    s->type = elem;
    if (elem->kind == TY_STRUCT)
        check_members(c, s, elem);
    else
        s->field = new_field(c, s, s->id, elem);
    check_extents(c, s, s->field, t);
    check_field_attrs(c, s);
    ir_field *const *fields;
    const int n = list_fields(s, &fields);
    for (int k = 0; k < n; k++) {
        fields[k]->ndim = s->field->ndim;
        fields[k]->index = (int)c->ir->fields.len;
        vec_push(&c->ir->fields, fields[k]);
    }
}

static void apply_lazy(checker *c, const ast_module *m)
{
    for (const ast_item *it = m->items; it; it = it->next)
        for (size_t k = 0; k < c->ir->fields.len; k++) {
            ir_field *f = c->ir->fields.at[k];
            if (f->elem == SC_NONE || !scalar_is_float(f->elem) || f->loc.file != it->span.begin.file)
                continue;
            f->grad = f->grad || it->kind == AST_ITEM_LAZY_GRAD;
            f->dual = f->dual || (it->kind == AST_ITEM_LAZY_DUAL && !f->width[IR_DUAL]);
        }
}

/* ---- the whole ---- */

static void check_declarations(checker *c, const ast_module *m)
{
    int nextents = 0;
    for (const ast_item *it = m->items; it; it = it->next)
        if (it->kind == AST_ITEM_FIELD && it->type->kind == AST_TYPE_ARRAY)
            for (const ast_expr *e = it->type->extents; e; e = e->next)
                nextents++;
    c->tx->extents = ARENA_ARRAY(c->mem, tx_expr *, nextents + 1);
    check_defines(c);
    for (sym *s = c->items; s; s = s->next)
        if (s->kind == SYM_FUNC && !s->refused)
            declare_operator(c, s);
    for (sym *s = c->items; s; s = s->next) {
        if (s->kind == SYM_STRUCT)
            resolve_struct(c, s, s->span);
        else if (s->kind == SYM_PARAM)
            check_param(c, s);
        else if (s->kind == SYM_CONST)
            resolve_const(c, s, s->span);
    }
    for (sym *s = c->items; s; s = s->next)
        if (s->kind == SYM_FIELD)
            check_field(c, s);
    apply_lazy(c, m);
    for (size_t k = 0, n = c->ir->fields.len; k < n; k++)
        ir_add_wide(c->ir, c->ir->fields.at[k]);
    c->ir->nfields = c->ir->fields.len;
    names_check_generated(c, m);
}

static bool is_used_template(checker *c, const sym *s)
{
    for (const sym *o = c->items; o; o = o->next)
        if (o->kind == SYM_KERNEL && o->item->made_of && names_item(c, o->item->made_of, o->item->made_span) == s)
            return true;
    return s->instances != NULL;
}

/* A forgotten type would leave the kernel out without a word. In a file that is imported it may wait for its use. */
static void check_unused_templates(checker *c, uint16_t file)
{
    for (const sym *s = c->items; s; s = s->next) {
        if (s->kind != SYM_KERNEL || !s->generic || s->refused || s->span.begin.file != file || is_used_template(c, s))
            continue;
        const ast_param *p = s->item->params;
        while (p->type)
            p = p->next;
        ERR(c, p->span, DIAG_NEEDS_TYPE, "a parameter of a kernel needs a type");
        NOTE(c, p->span, "without one it stands for a field, and nothing gives it one: kernel %s_x = %s(x);", s->name,
             s->name);
    }
}

static void check_bodies(checker *c)
{
    for (sym *s = c->items; s && !diag_too_many(c->d); s = s->next)
        if (s->kind == SYM_FUNC && !s->refused)
            check_plain_func(c, s);
    for (sym *s = c->items; s && !diag_too_many(c->d); s = s->next)
        if (s->kind == SYM_KERNEL)
            check_kernel(c, s);
}

/* Callees were completed before their callers; custom derivatives, which count as callees, may come later. */
static void mark_used(checker *c)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (const instance *i = c->completed; i; i = i->before)
            for (const call_edge *e = i->used ? i->callees : NULL; e; e = e->next) {
                changed = changed || !e->to->used;
                e->to->used = true;
            }
    }
}

/* Functions that a kernel or an export func reaches, callees before callers: instances were completed in that order. */
static void list_functions(checker *c)
{
    mark_used(c);
    for (instance *i = c->completed; i; i = i->before) {
        if (!i->used)
            continue;
        i->tx->next = c->tx->funcs;
        c->tx->funcs = i->tx;
    }
}

tx_module *check_module(arena *mem, intern_pool *names, diag_sink *d, const ast_module *ast, ir_module *ir,
                        const check_options *opt)
{
    checker c = {.mem = mem, .names = names, .d = d, .opt = opt, .ir = ir};
    int errors = diag_error_count(d);
    c.items_tail = &c.items;
    c.types = ty_pool_create(mem, opt->real);
    c.tx = ARENA_NEW(mem, tx_module);
    c.tx->ir = ir;
    c.tx->types = c.types;
    prelude_index(&c);
    collect_items(&c, ast);
    check_declarations(&c, ast);
    check_bodies(&c);
    check_unused_templates(&c, ast->file);
    order_arrays(&c);
    check_externs(&c);
    check_custom(&c);
    check_exports(&c);
    log_end(&c);
    spaces_end(&c);
    if (diag_error_count(d) > errors)
        return NULL;
    list_functions(&c);
    return c.tx;
}
