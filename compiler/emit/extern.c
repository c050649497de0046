/* extern func: C functions of the host. The header declares them, by the rule of export funcs; but a single scalar is
 * returned. */
#include "emit/emit_int.h"

#include <string.h>

/* "{p_x, p_y}", "{{a, b}, {c, d}}" */
static const char *initializer(cfn *c, const ir_sigparam *p, ir_value *const *v)
{
    strbuf b = {0};
    for (int i = 0; i < p->rows * p->cols; i++) {
        const bool opens = p->shape == IR_SHAPE_MAT && i % p->cols == 0;
        sb_printf(&b, "%s%s%s%s", i ? ", " : "{", opens ? "{" : "", val(c, v[i]).text,
                  p->shape == IR_SHAPE_MAT && i % p->cols == p->cols - 1 ? "}" : "");
    }
    sb_addc(&b, '}');
    const char *r = arena_strdup(c->e->mem, sb_str(&b));
    sb_free(&b);
    return r;
}

/* "{.k = k, .link = {.pos = {x, y}}}", whose leaves are the parameters from *p on. C++ has no `.link.pos = `. */
static const char *members(cfn *c, const ir_struct *s, const ir_sigparam **p, ir_value *const *v)
{
    strbuf b = {0};
    for (int k = 0; k < s->nmembers; k++) {
        const ir_member *m = &s->members[k];
        const char *value = NULL;
        if (m->structure) {
            value = members(c, m->structure, p, v);
        } else {
            value = sig_is_shapeless(*p) ? val(c, v[(*p)->first]).text : initializer(c, *p, v + (*p)->first);
            (*p)++;
        }
        sb_printf(&b, "%s.%s = %s", b.len ? ", " : "{", name_member(c->e->mem, m->name), value);
    }
    sb_addc(&b, '}');
    const char *r = arena_strdup(c->e->mem, sb_str(&b));
    sb_free(&b);
    return r;
}

/* In the function around one that takes or gives vectors, matrices or structs. */
void emit_extern(cfn *c, const ir_op *op)
{
    const ir_func *f = c->f;
    arena *mem = c->e->mem;
    strbuf args = {0};
    for (int i = 0; i < f->nsig; i++) {
        const ir_sigparam *s = &f->sig[i], *leaf = s;
        ir_sigparam p = *s;
        if (!sig_stands(s))
            continue;
        if (sig_is_scalar(s)) {
            sb_printf(&args, "%s%s", args.len ? ", " : "", val(c, op->args[s->first]).text);
            continue;
        }
        p.name = names_unique_function(c->names, s->name);
        stmt(c, op->loc, "%s%s = %s;", s->structure ? "const " : "", sig_decl(mem, &p, IR_DATA, SIG_INPUT),
             s->structure ? members(c, s->structure, &leaf, op->args) : initializer(c, s, op->args + s->first));
        sb_printf(&args, "%s%s", args.len ? ", " : "", p.name);
    }
    const char *name = NULL;
    for (int i = 0; i < f->nouts; i++) {
        ir_sigparam p = f->outs[i];
        if (sig_stands(&p))
            name = names_unique_function(c->names, p.name);
        p.name = name;
        if (!extern_returns(f) && sig_stands(&p)) {
            stmt(c, op->loc, "%s;", sig_decl(mem, &p, IR_DATA, SIG_MEMBER));
            sb_printf(&args, "%s%s%s", args.len ? ", " : "", sig_is_shapeless(&p) || p.structure ? "&" : "", p.name);
        }
        for (int k = 0; k < p.rows * p.cols && !extern_returns(f); k++)
            define_name(c, op->res[p.first + k], sig_component(mem, &p, IR_DATA, ".", k));
    }
    if (extern_returns(f))
        define(c, op->res[0], (expr){.text = arena_printf(mem, "%s(%s)", f->name, sb_str(&args)), .prec = PREC_PRIMARY},
               op->loc);
    else
        stmt(c, op->loc, "%s(%s);", f->name, sb_str(&args));
    sb_free(&args);
}
