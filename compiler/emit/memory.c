/* Fields, local arrays and the saved-value stack. */
#include "emit/emit_int.h"

#include <assert.h>
#include <string.h>

static void add_read(cfn *c, expr *e, memory_kind kind, int plane, const ir_value *array)
{
    memref *r = ARENA_NEW(c->e->mem, memref);
    *r = (memref){kind, plane, array, e->reads};
    e->reads = r;
}

/* A subscript: C widens smaller integers by itself. */
static expr subscript(expr e)
{
    if (e.bare) {
        e.text = e.bare;
        e.prec = e.bare_prec;
    }
    return e;
}

/* A load of the same element for the same statement (x[i] *= 2.0), whose subscripts were looked at. */
static bool is_checked(const cfn *c, const ir_op *op, ir_opcode load, int nsubs)
{
    enum { NEAR = 64 };
    const ir_op *p = op->prev;
    for (int n = 0; p && n < NEAR; p = p->prev, n++) {
        bool same = p->code == load && ir_field_of(p) == ir_field_of(op) && !memcmp(&p->loc, &op->loc, sizeof p->loc) &&
                    !op_is_dead(c->use, p);
        for (int i = 0; i < nsubs && same; i++)
            same = p->args[i] == op->args[i];
        if (same)
            return true;
    }
    return false;
}

/* --debug: the same for an array of the host. */
static void check_array_bounds(cfn *c, const ir_op *op, const layout_place *p, bool dynamic)
{
    const ir_field *f = p->field;
    arena *mem = c->e->mem;
    for (int d = 0; d < f->ndim + dynamic; d++) {
        const char *text = cexpr_operand(mem, d < f->ndim ? p->at[d] : p->component, PREC_ADD);
        const char *extent = d < f->ndim ? shape_name(c, f, d) : arena_printf(mem, "%d", ir_field_ncomp(f));
        emit_check(c, op->loc, arena_printf(mem, "%s >= 0 && %s < %s", text, text, extent),
                   arena_printf(mem, "%s:%u: subscript %d of '%s'", place_of(c->e, op->loc), op->loc.col, d, f->name));
    }
}

/* --debug: a subscript out of bounds fails the launch and leaves the function. */
static void check_bounds(cfn *c, const ir_op *op, const layout_place *p)
{
    const ir_field *f = p->field;
    const bool dynamic = f->shape != IR_SHAPE_SCALAR && !ir_component_known(op);
    if (is_argument(f)) {
        check_array_bounds(c, op, p, dynamic);
        return;
    }
    if ((f->ndim == 0 && !dynamic) || (op->code != OP_LOAD && is_checked(c, op, OP_LOAD, f->ndim + 1)))
        return;
    c->e->uses_bounds = true;
    c->uses_m = true;
    strbuf b = {0};
    for (int d = 0; d < f->ndim; d++)
        sb_printf(&b, "%s%s", d ? ", " : "", p->at[d].text);
    if (dynamic)
        sb_printf(&b, "%s%s", f->ndim ? ", " : "", p->component.text);
    const char *place = arena_printf(c->e->mem, "%s:%u", place_of(c->e, op->loc), op->loc.col);
    emit_fail_if(c, op->loc,
                 arena_printf(c->e->mem, "!%s(%s, %s, %s, TK_INDICES(%s))", c->e->bounds, field_address(c->e, c->m, f),
                              c_string(c->e->mem, place), dynamic ? "true" : "false", sb_str(&b)));
    sb_free(&b);
}

/* ---- the place of an element; codegen/layout.c has the text ---- */

static const char *extent_term(void *ctx, const ir_field *f, int dim)
{
    return shape_name(ctx, f, dim);
}

static const char *stride_term(void *ctx, const ir_field *f, ir_plane plane, int dim)
{
    return stride_name(ctx, f, plane, dim);
}

static layout_terms terms_of(cfn *c)
{
    return (layout_terms){extent_term, stride_term, c};
}

static const char *component_text(cfn *c, const layout_place *p, bool scatter)
{
    const layout_terms terms = terms_of(c);
    return layout_element(c->e->mem, &terms, p, plane_pointer(c, p->field, p->plane, scatter)).text;
}

/* Of the library is the macro. */
static bool is_stepped(const cfn *c, const ir_op *op)
{
    return op->code != OP_ATOMIC && ir_access_attr(op)->stepped && !c->e->opt->no_runtime;
}

/* simple: their text may be repeated. e: what they read. */
static layout_place place_of_access(cfn *c, const ir_op *op, bool simple, expr *e)
{
    const ir_field *f = ir_field_of(op);
    const ir_value *component = op->args[f->ndim];
    layout_place p = {.field = f,
                      .plane = ir_access_attr(op)->plane,
                      .flat = c->plan->planes[ir_storage_of_op(op)].flat,
                      .constant = ir_is_const(component)};
    const bool named = simple || c->e->m->debug || layout_divides(f);
    p.number = p.constant ? ir_int(component) : 0;
    for (int d = 0; d <= f->ndim; d++) {
        if (d == f->ndim && f->shape == IR_SHAPE_SCALAR)
            break;
        const bool stepped = d == f->ndim - 1 && is_stepped(c, op);
        expr s = subscript(named || stepped ? val_simple(c, op->args[d]) : val(c, op->args[d]));
        expr_absorb(c, e, s);
        if (stepped) {
            c->steps = true;
            s.text = arena_printf(c->e->mem, "TK_STEP(%s)", s.text);
            s.prec = PREC_PRIMARY;
        }
        *(d < f->ndim ? &p.at[d] : &p.component) = (cexpr){s.text, s.prec};
    }
    if (c->e->m->debug) {
        const layout_terms terms = terms_of(c);
        check_bounds(c, op, &p);
        c->watched = c->kind != CFN_EXTENTS && access_is_watched(op) ? layout_number(c->e->mem, &terms, &p) : NULL;
    }
    return p;
}

static expr element(cfn *c, const ir_op *op, bool scatter, bool simple)
{
    expr e = {.prec = PREC_PRIMARY};
    const layout_place p = place_of_access(c, op, simple, &e);
    e.text = component_text(c, &p, scatter);
    if (layout_by_address(p.field))
        e.prec = PREC_ADD;
    return e;
}

/* A load that the user gave no name is called after its field: x_0, U_grad_0. */
static void name_load(cfn *c, const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    const ir_value *comp = op->args[f->ndim];
    vstate *s = &c->v[op->res[0]->id];
    if (!op->res[0]->name && ir_is_const(comp))
        s->hint = arena_printf(c->e->mem, "%s%s_%lld", f->name, plane_tail(ir_access_attr(op)->plane),
                               (long long)ir_int(comp));
}

/* Whether the caller of an export func may leave the array out. */
static bool is_optional(const cfn *c, const ir_op *op)
{
    const ir_field *f = ir_field_of(op);
    if (!is_argument(f))
        return false;
    const bool reverse = c->f->kind == IR_KERNEL_GRAD || c->f->kind == IR_KERNEL_HVP;
    return ir_access_attr(op)->plane == IR_DATA ? reverse && !f->in : reverse || !f->out;
}

static void update_wanted(cfn *c, const ir_op *op, const char *target, const char *how, const char *value)
{
    stmt(c, op->loc, "if (%s)", plane_pointer(c, ir_field_of(op), ir_access_attr(op)->plane, false));
    c->indent++;
    stmt(c, (src_loc){0, 0, 0}, "%s %s %s;", target, how, value);
    c->indent--;
}

static void emit_load(cfn *c, const ir_op *op)
{
    name_load(c, op);
    expr e = element(c, op, false, false);
    if (layout_by_address(ir_field_of(op))) {
        e.text = arena_printf(c->e->mem, "tk_load_%s(%s)", scalar_name(ir_field_of(op)->elem), e.text);
        e.prec = PREC_PRIMARY;
    }
    if (is_optional(c, op)) {
        e.text = arena_printf(c->e->mem, "%s ? %s : %s",
                              plane_pointer(c, ir_field_of(op), ir_access_attr(op)->plane, false), e.text,
                              zero_text(ir_field_of(op)->elem));
        e.prec = PREC_COND;
    }
    add_read(c, &e, MEM_PLANE, ir_storage_of_op(op), NULL);
    define(c, op->res[0], e, op->loc);
    emit_watch(c, op, c->watched);
}

static void emit_store(cfn *c, const ir_op *op)
{
    const expr value = val(c, op->args[op->nargs - 1]);
    const expr target = element(c, op, false, false);
    flush_reads(c, MEM_PLANE, ir_storage_of_op(op), NULL);
    if (layout_by_address(ir_field_of(op)))
        stmt(c, op->loc, "tk_store_%s(%s, %s);", scalar_name(ir_field_of(op)->elem), target.text, value.text);
    else if (is_optional(c, op))
        update_wanted(c, op, target.text, "=", value.text);
    else
        stmt(c, op->loc, "%s = %s;", target.text, value.text);
    emit_watch(c, op, c->watched);
}

static void emit_accum(cfn *c, const ir_op *op)
{
    const scalar type = ir_field_of(op)->elem;
    const bool target_plane = c->plan->planes[ir_storage_of_op(op)].scatter, scatter = op_is_scatter(op);
    const bool by_address = layout_by_address(ir_field_of(op));
    const bool in_place = !scatter && (scalar_is_float(type) || type == SC_U32 || type == SC_U64);
    const expr value = val(c, op->args[op->nargs - 1]);
    const expr target = element(c, op, target_plane, !by_address && !scatter && !in_place);
    flush_reads(c, MEM_PLANE, ir_storage_of_op(op), NULL);
    if (is_optional(c, op)) {
        update_wanted(c, op, target.text, "+=", value.text);
        return;
    }
    emit_watch_before(c, op, c->watched);
    if (by_address && scatter)
        stmt(c, op->loc, "tk_scatter_at_%s(%s, %s, %s);", scalar_name(type), target.text, value.text, c->atomic);
    else if (by_address)
        stmt(c, op->loc, "tk_add_at_%s(%s, %s);", scalar_name(type), target.text, value.text);
    else if (scatter)
        stmt(c, op->loc, "tk_scatter_%s(&%s, %s, %s);", scalar_name(type), target.text, value.text, c->atomic);
    else if (!in_place)
        stmt(c, op->loc, "%s = tk_add_%s(%s, %s);", target.text, scalar_name(type), target.text, value.text);
    else if (scalar_is_float(type) && value.prec == PREC_UNARY && value.text[0] == '-')
        stmt(c, op->loc, "%s -= %s;", target.text, value.text + 1);
    else
        stmt(c, op->loc, "%s += %s;", target.text, value.text);
    emit_watch(c, op, c->watched);
}

static const char *slot(cfn *c, const ir_op *op, const ir_value *ptr, const ir_value *i, expr *e, int64_t index);

/* A minimum or maximum that keeps who set the element, and in forward mode the winner's tangent. */
static void emit_winner(cfn *c, const ir_op *op, bool scatter)
{
    const ir_field *f = ir_field_of(op);
    const bool tangent = ir_atomic_form(op) == IR_ATOMIC_WITH_TANGENT;
    ir_value *const *where = op->args + f->ndim + 2; /* ptr slot at step */
    expr e = {0};
    const char *value = val(c, op->args[f->ndim + 1]).text, *change = tangent ? val(c, where[4]).text : NULL;
    const layout_place place = place_of_access(c, op, tangent, &e);
    const char *target = component_text(c, &place, c->plan->planes[ir_storage_of_op(op)].scatter), *dual = NULL;
    flush_reads(c, MEM_PLANE, ir_storage_of_op(op), NULL);
    if (tangent) {
        layout_place there = place;
        there.plane = ir_tangent_of(place.plane);
        there.flat = c->plan->planes[ir_storage_of(f, there.plane)].flat;
        dual = component_text(c, &there, false);
        flush_reads(c, MEM_PLANE, ir_storage_of(f, there.plane), NULL);
    }
    emit_watch_before(c, op, c->watched);
    const char *winner = slot(c, op, where[0], where[1], &e, 0);
    const char *at = subscript(val(c, where[2])).text, *step = subscript(val(c, where[3])).text;
    const bool by_address = layout_by_address(f);
    const char *address = by_address ? "" : "&";
    const char *forward = tangent ? arena_printf(c->e->mem, "%s%s, %s", address, dual, change) : "NULL, 0";
    stmt(c, op->loc, "tk_win_%s%s_%s(%s%s, %s, %s, &%s, %s, %s, %s);", by_address ? "at_" : "",
         op_name(ir_access_attr(op)->with), scalar_name(f->elem), address, target, value, forward, winner, at, step,
         scatter ? c->atomic : "false");
    emit_watch(c, op, c->watched);
}

static void emit_atomic(cfn *c, const ir_op *op)
{
    const bool target_plane = c->plan->planes[ir_storage_of_op(op)].scatter, scatter = op_is_scatter(op);
    if (ir_atomic_form(op) >= IR_ATOMIC_RECORDED) {
        emit_winner(c, op, scatter);
        return;
    }
    const expr value = val(c, op->args[ir_field_of(op)->ndim + 1]);
    const expr target = element(c, op, target_plane, false);
    flush_reads(c, MEM_PLANE, ir_storage_of_op(op), NULL);
    emit_watch_before(c, op, c->watched);
    const ir_value *old = op->res[0];
    const bool by_address = layout_by_address(ir_field_of(op));
    const char *call = arena_printf(c->e->mem, "tk_fetch_%s%s_%s(%s%s, %s, %s)", by_address ? "at_" : "",
                                    op_name(ir_access_attr(op)->with), scalar_name(old->type), by_address ? "" : "&",
                                    target.text, value.text, scatter ? c->atomic : "false");
    if (c->use[old->id].uses == 0) {
        stmt(c, op->loc, "%s;", call);
    } else {
        const char *name = names_unique(c->names, old->name ? old->name : "old");
        stmt(c, op->loc, "%s = %s;", declare(c, old, true, name), call);
        define_name(c, old, name);
    }
    emit_watch(c, op, c->watched);
}

void emit_field(cfn *c, const ir_op *op)
{
    switch (op->code) {
    case OP_LOAD:
        emit_load(c, op);
        break;
    case OP_STORE:
        emit_store(c, op);
        break;
    case OP_ACCUM:
        emit_accum(c, op);
        break;
    default:
        assert(op->code == OP_ATOMIC);
        emit_atomic(c, op);
    }
}

/* ---- local arrays ---- */

expr named_index(cfn *c, const ir_value *v)
{
    expr e = subscript(val_simple(c, v));
    e.text = paren(c, e, PREC_ADD + 1);
    return e;
}

/* --debug: as for fields. Constants in an array of a constant extent were looked at when they were read. */
static void check_array(cfn *c, const ir_op *op)
{
    const ir_op *local = op->args[0]->def;
    if (!c->e->m->debug || !local || local->code != OP_LOCAL || (ir_is_const(op->args[1]) && !local->nargs) ||
        (op->code == OP_LSTORE && is_checked(c, op, OP_LLOAD, 2)))
        return;
    const char *what = arena_printf(c->e->mem, "%s:%u: subscript of '%s'", place_of(c->e, op->loc), op->loc.col,
                                    local->res[0]->name ? local->res[0]->name : "array");
    const char *count = local->nargs ? paren(c, val_simple(c, local->args[0]), PREC_PRIMARY)
                                     : arena_printf(c->e->mem, "%lld", (long long)ir_local_attr(local)->count);
    emit_bounds(c, op->loc, op->args[1], count, !local->nargs, what);
}

static void fail_without(cfn *c, const ir_op *op, const char *memory)
{
    emit_fail_if(c, op->loc, arena_printf(c->e->mem, "!%s", memory));
}

/* A block of the stack, or of a caller's workspace. */
static void alloc(cfn *c, const ir_op *op, const char *type, const char *name, const char *count)
{
    c->uses_st = true;
    define_name(c, op->res[0], name);
    if (c->pure) {
        c->e->uses_take = true;
        stmt(c, op->loc, "%s *const %s = (%s *)%s(&%s, %s, sizeof *%s);", type, name, type, c->e->take, c->st, count,
             name);
        return;
    }
    stmt(c, op->loc, "%s *const %s = (%s *)tk_stack_alloc(%s, %s, sizeof *%s);", type, name, type, c->st, count, name);
    fail_without(c, op, name);
}

static memory_kind kind_of(const ir_value *array)
{
    return ir_local_attr(array->def)->stacked ? MEM_STACK : MEM_LOCAL;
}

void emit_local(cfn *c, const ir_op *op)
{
    switch (op->code) {
    case OP_LOCAL: {
        if (ir_local_attr(op)->stacked && (op->nargs || !c->pure)) {
            const char *count = op->nargs ? subscript(val(c, op->args[0])).text
                                          : arena_printf(c->e->mem, "%lld", (long long)ir_local_attr(op)->count);
            alloc(c, op, scalar_c_type(ir_local_attr(op)->elem),
                  names_unique(c->names, op->res[0]->name ? op->res[0]->name : "array"), count);
            break;
        }
        const char *name = names_unique(c->names, op->res[0]->name ? op->res[0]->name : "array");
        c->e->uses_arrays = true;
        stmt(c, op->loc, "%s %s[%lld]%s;", scalar_c_type(ir_local_attr(op)->elem), name,
             (long long)(ir_local_attr(op)->count > 0 ? ir_local_attr(op)->count : 1),
             ir_local_attr(op)->stacked || ir_local_attr(op)->set ? "" : " = {0}");
        define_name(c, op->res[0], name);
        break;
    }
    case OP_LLOAD: {
        expr e = {.prec = PREC_PRIMARY};
        const expr idx = subscript(c->e->m->debug ? named_index(c, op->args[1]) : val(c, op->args[1]));
        check_array(c, op);
        expr_absorb(c, &e, idx);
        add_read(c, &e, kind_of(op->args[0]), 0, op->args[0]);
        e.text = arena_printf(c->e->mem, "%s[%s]", val_text(c, op->args[0], PREC_PRIMARY), idx.text);
        define(c, op->res[0], e, op->loc);
        break;
    }
    default: {
        const expr value = val(c, op->args[2]);
        const char *array = val_text(c, op->args[0], PREC_PRIMARY);
        const expr idx = subscript(c->e->m->debug ? named_index(c, op->args[1]) : val(c, op->args[1]));
        check_array(c, op);
        flush_reads(c, (int)kind_of(op->args[0]), 0, op->args[0]);
        if (op->code == OP_LACCUM)
            stmt(c, op->loc, "tk_scatter_%s(&%s[%s], %s, %s);", scalar_name(op->args[2]->type), array, idx.text,
                 value.text, c->atomic);
        else
            stmt(c, op->loc, "%s[%s] = %s;", array, idx.text, value.text);
    }
    }
}

/* ---- the saved-value stack ---- */

static void print_layout(emitter *e, const ir_layout *l, saved_struct *info, strbuf *out)
{
    info->members = ARENA_ARRAY(e->mem, const char *, l->n + 1);
    names *n = names_create(e->mem, NULL);
    sb_printf(out, "struct %s {\n", info->tag);
    for (int i = 0; i < l->n; i++) {
        info->members[i] = names_unique_function(n, l->names && l->names[i] ? l->names[i] : "v");
        sb_printf(out, "    %s%s%s;\n",
                  l->log       ? "tk_log"
                  : l->winners ? "tk_winner"
                               : scalar_c_type(l->types[i]),
                  !l->log && l->types[i] == SC_PTR ? "" : " ", info->members[i]);
    }
    if (l->n == 0)
        sb_add(out, "    char unused;\n");
    sb_add(out, "};\n\n");
    names_free(n);
}

/* Two of one function are two types, so that a C compiler sees that they do not overlap; those of others with the same
 * members are one. */
const saved_struct *saved_struct_of(emitter *e, const ir_layout *l)
{
    saved_struct *info = ptrmap_get(&e->layouts, l);
    if (info)
        return info;
    info = ARENA_NEW(e->mem, saved_struct);
    ptrmap_set(&e->layouts, l, info);
    const char *own = info->tag = arena_printf(e->mem, "%s_saved%d", e->base, e->nlayouts);
    strbuf text = {0};
    print_layout(e, l, info, &text);
    info->tag = shared_name(e, arena_printf(e->mem, "%d %s", e->nlayouts++, sb_str(&text)), own);
    if (info->tag == own)
        sb_addn(e->out, sb_str(&text), text.len);
    sb_free(&text);
    return info;
}

static const char *slot(cfn *c, const ir_op *op, const ir_value *ptr, const ir_value *i, expr *e, int64_t index)
{
    const saved_struct *l = saved_struct_of(c->e, ir_layout_of(op));
    const bool named = !c->v[ptr->id].pending; /* else it is a member, which points to anything */
    const expr base = val(c, ptr);
    expr_absorb(c, e, base);
    const char *p = paren(c, base, PREC_PRIMARY);
    if (!named || c->use[ptr->id].layout != ir_layout_of(op))
        p = arena_printf(c->e->mem, "((struct %s *)%s)", l->tag, p);
    const char *member = l->members[index];
    if (ir_is_const(i) && ir_int(i) == 0)
        return arena_printf(c->e->mem, "%s->%s", p, member);
    const expr idx = subscript(val(c, i));
    expr_absorb(c, e, idx);
    return arena_printf(c->e->mem, "%s[%s].%s", p, idx.text, member);
}

static void emit_alloc(cfn *c, const ir_op *op)
{
    ir_value *v = op->res[0];
    const char *count = subscript(val(c, op->args[0])).text;
    const char *type = arena_printf(c->e->mem, "struct %s", saved_struct_of(c->e, ir_layout_of(op))->tag),
               *name = names_unique(c->names, v->name ? v->name : "saved");
    alloc(c, op, type, name, count);
}

static void emit_block(cfn *c, const ir_op *op)
{
    const char *name = names_unique(c->names, op->res[0]->name);
    const char *tag = saved_struct_of(c->e, ir_layout_of(op))->tag, *turn = subscript(val(c, op->args[0])).text;
    c->uses_rec = true;
    if (op->code == OP_REC_GET) {
        stmt(c, op->loc, "struct %s *const %s = (struct %s *)tk_record_get(%s, tk_rec, %lld, %s);", tag, name, tag,
             session_text(c), (long long)ir_slot_attr(op)->number, turn);
    } else {
        const char *count = subscript(val(c, op->args[1])).text, *of = ir_layout_of(op)->log ? "logs" : "alloc";
        stmt(c, op->loc, "struct %s *const %s = (struct %s *)tk_record_%s(%s, tk_rec, %lld, %s, %s, sizeof *%s);", tag,
             name, tag, of, session_text(c), (long long)ir_slot_attr(op)->number, turn, count, name);
    }
    fail_without(c, op, name);
    define_name(c, op->res[0], name);
}

static void emit_log_store(cfn *c, const ir_op *op)
{
    expr e = {0};
    const char *type = scalar_c_type(op->args[3]->type), *name = names_unique(c->names, "logged");
    const char *value = val(c, op->args[3]).text, *log = slot(c, op, op->args[0], op->args[1], &e, 0),
               *step = subscript(val(c, op->args[2])).text;
    stmt(c, op->loc, "%s *const %s = (%s *)tk_log_add(%s, &%s, %s, sizeof *%s);", type, name, type, session_text(c),
         log, step, name);
    fail_without(c, op, name);
    stmt(c, op->loc, "*%s = %s;", name, value);
}

void emit_record(cfn *c, const ir_op *op)
{
    expr e = {.prec = PREC_PRIMARY};
    const ir_layout *l = ir_layout_of(op);
    if (op->code == OP_REC_ALLOC || op->code == OP_REC_GET) {
        emit_block(c, op);
    } else if (op->code == OP_REC_STORE && l->log) {
        emit_log_store(c, op);
    } else if (op->code == OP_REC_STORE) {
        const expr value = val(c, op->args[3]);
        stmt(c, op->loc, "%s = %s;", slot(c, op, op->args[0], op->args[1], &e, 0), value.text);
    } else {
        e.text = slot(c, op, op->args[0], op->args[1], &e, 0);
        if (op->code == OP_REC_WON) {
            const expr at = subscript(val(c, op->args[2])), step = subscript(val(c, op->args[3]));
            expr_absorb(c, &e, at);
            expr_absorb(c, &e, step);
            e.text = arena_printf(c->e->mem, "tk_won(&%s, %s, %s)", e.text, at.text, step.text);
        } else if (l->log) {
            const expr step = subscript(val(c, op->args[2]));
            const char *type = scalar_c_type(l->types[0]);
            expr_absorb(c, &e, step);
            e.prec = PREC_UNARY;
            e.text = arena_printf(c->e->mem, "*(const %s *)tk_log_get(%s, &%s, %s, sizeof(%s))", type, session_text(c),
                                  e.text, step.text, type);
        }
        define(c, op->res[0], e, op->loc);
    }
}

void emit_stack(cfn *c, const ir_op *op)
{
    if (c->pure && !op->region->parent && (op->code == OP_STK_MARK || op->code == OP_STK_RELEASE))
        return; /* its own pointer into the workspace dies with the function */
    if (op->code != OP_STK_LOAD && op->code != OP_STK_STORE)
        c->uses_st = true;
    switch (op->code) {
    case OP_STK_MARK: {
        const char *name = names_unique(c->names, "mark");
        if (c->pure)
            stmt(c, op->loc, "unsigned char *const %s = %s;", name, c->st);
        else
            stmt(c, op->loc, "const tk_mark %s = tk_stack_mark(%s);", name, c->st);
        define_name(c, op->res[0], name);
        break;
    }
    case OP_STK_RELEASE:
        flush_reads(c, MEM_STACK, 0, NULL);
        if (c->pure)
            stmt(c, op->loc, "%s = %s;", c->st, val_text(c, op->args[0], 0));
        else
            stmt(c, op->loc, "tk_stack_reset(%s, %s);", c->st, val_text(c, op->args[0], 0));
        break;
    case OP_STK_ALLOC:
        emit_alloc(c, op);
        break;
    case OP_STK_STORE: {
        expr e = {0};
        const expr value = val(c, op->args[2]);
        const char *target = slot(c, op, op->args[0], op->args[1], &e, ir_slot_attr(op)->number);
        flush_reads(c, MEM_STACK, 0, NULL);
        stmt(c, op->loc, "%s = %s;", target, value.text);
        break;
    }
    default: {
        expr e = {.prec = PREC_PRIMARY};
        add_read(c, &e, MEM_STACK, 0, NULL);
        e.text = slot(c, op, op->args[0], op->args[1], &e, ir_slot_attr(op)->number);
        e.pointer = op->res[0]->type == SC_PTR ? "void *" : NULL;
        define(c, op->res[0], e, op->loc);
    }
    }
}
