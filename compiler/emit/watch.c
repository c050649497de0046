/* Accesses that tell libtkc of themselves, so that it can check at run time what no compiler can: with --debug all of
 * them, else those of which the rules pass could not tell whether they overwrite what the adjoint needs. */
#include "emit/emit_int.h"

#include <string.h>

/* Whether accesses in this function are the user's own. Those of derivatives are only looked at for NaN and infinity.
 */
static bool is_primal(const cfn *c)
{
    return !c->f->ad.primal;
}

/* Planes that a kernel only reads, or only adds to, hold no races. */
static bool may_race(cfn *c, ir_storage key)
{
    for (size_t i = 0; i < c->e->m->funcs.len; i++) {
        const ir_func *f = c->e->m->funcs.at[i];
        if (!ir_is_kernel(f) || (c->f->kind == IR_KERNEL && c->f != f))
            continue;
        const unsigned use = facts_of(&c->e->facts, f)->planes[key];
        if ((use & OP_STORES) || ((use & OP_ADDS) && (use & OP_READS)))
            return true;
    }
    return false;
}

static const char *file_of(const emitter *e, src_loc loc)
{
    return c_string(e->mem, base_of(e, loc));
}

static void add_site(cfn *c, const ir_op *op, const char *flags)
{
    emitter *e = c->e;
    const ir_field *f = ir_field_of(op);
    sb_printf(&e->sites, "    {%s, %u, %u, %d, %s, %s}, /* %s */\n", file_of(e, op->loc), op->loc.line, op->loc.col,
              f->index, plane_enum(ir_access_attr(op)->plane), flags, f->name);
}

static void tell(cfn *c, const char *index)
{
    c->uses_m = true;
    stmt(c, (src_loc){0, 0, 0}, "tk_watch(&%s->tk, %d, %s);", c->m, c->e->nsites++, index);
}

static bool is_watched(const cfn *c, const ir_op *op)
{
    return c->kind != CFN_EXTENTS && access_is_watched(op);
}

void emit_watch(cfn *c, const ir_op *op, const char *index)
{
    if (!is_watched(c, op))
        return;
    strbuf flags = {0};
    sb_add(&flags, op->code == OP_LOAD ? "TK_READS" : op->code == OP_STORE ? "TK_STORES" : "TK_ACCUMULATES");
    if (op->code == OP_LOAD && ir_access_attr(op)->needed && is_primal(c))
        sb_add(&flags, " | TK_NEEDED");
    if (is_primal(c) && may_race(c, ir_storage_of(ir_field_of(op), ir_access_attr(op)->plane)))
        sb_add(&flags, " | TK_MAY_RACE");
    if (!is_primal(c))
        sb_add(&flags, " | TK_DERIVED");
    add_site(c, op, sb_str(&flags));
    sb_free(&flags);
    tell(c, index);
}

void emit_watch_before(cfn *c, const ir_op *op, const char *index)
{
    const ir_field *f = ir_field_of(op);
    if (!is_watched(c, op) || !is_primal(c) || ir_access_attr(op)->plane != IR_DATA || !f->grad || f->scratch)
        return;
    add_site(c, op, "TK_GOES_ON");
    tell(c, index);
}

void emit_watch_iteration(cfn *c)
{
    if (!c->e->m->debug || !is_primal(c))
        return;
    c->uses_m = true;
    stmt(c, (src_loc){0, 0, 0}, "tk_watch_iteration(&%s->tk);", c->m);
}

void emit_decision(cfn *c, const ir_op *op)
{
    const scalar t = op->args[0]->type;
    const char *v = val_simple(c, op->args[0]).text;
    strbuf b = {0};
    c->uses_m = true;
    sb_printf(&b, "tk_watch_decision(&%s->tk, %lld, ", c->m, (long long)ir_place_attr(op)->number);
    if (scalar_is_float(t))
        sb_printf(&b, "tk_bits_%s(%s)", scalar_name(t), v);
    else
        sb_printf(&b, "(uint64_t)%s", v);
    if (op->nargs == 1)
        sb_add(&b, ", NULL, 0)");
    else
        for (int i = 1; i < op->nargs; i++)
            sb_printf(&b, "%s%s", i == 1 ? ", TK_INDICES(" : ", ", val_text(c, op->args[i], PREC_COND));
    if (op->nargs > 1)
        sb_printf(&b, "), %d)", op->nargs - 1);
    stmt(c, op->loc, "%s;", sb_str(&b));
    sb_free(&b);
}

static const char *differ_text(cfn *c, const ir_value *x, const ir_value *y)
{
    const bool real = scalar_is_float(x->type);
    const char *type = real ? "double" : "int64_t", *p = val_text(c, x, PREC_UNARY), *q = val_text(c, y, PREC_UNARY);
    return arena_printf(c->e->mem, "tk_differ_%s((%s)%s, (%s)%s)", real ? "f64" : "i64", type, p, type, q);
}

void emit_mark(cfn *c, const ir_op *op)
{
    const ir_field *f = ir_mark_attr(op)->field;
    c->uses_m = true;
    const char *place = arena_printf(c->e->mem, "%s:%u", place_of(c->e, op->loc), op->loc.col);
    if (op->code == OP_NEED)
        stmt(c, op->loc, "tk_need(&%s->tk, %d, %s);", c->m, f->index, val_text(c, op->args[0], PREC_COND));
    else
        stmt(c, op->loc, "tk_keep(&%s->tk, %d, %s, %s, %s, %s);", c->m, f->index, val_text(c, op->args[0], PREC_COND),
             differ_text(c, op->args[1], op->args[2]), c_string(c->e->mem, place),
             c_string(c->e->mem, ir_mark_attr(op)->place));
}

void emit_places(emitter *e)
{
    const ir_module *m = e->m;
    if (m->places.len)
        sb_printf(e->out, "/* Where numbers steer. */\nstatic const tk_place %s[] = {\n", e->places_name);
    for (size_t i = 0; i < m->places.len; i++)
        sb_printf(e->out, "    {%s, %u, %u},\n", file_of(e, m->places.at[i]), (unsigned)m->places.at[i].line,
                  (unsigned)m->places.at[i].col);
    if (m->places.len)
        sb_add(e->out, "};\n\n");
}

void emit_sites(emitter *e)
{
    if (e->nsites)
        sb_printf(e->out, "/* Where fields are accessed. */\nstatic const tk_site %s[] = {\n%s};\n\n", e->sites_name,
                  sb_str(&e->sites));
}
