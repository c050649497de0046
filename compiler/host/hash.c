/* The hash of a module's interface: a host compiled against another one is refused when it creates the module. */
#include "host/host.h"
#include "host/host_int.h"

static void add(strbuf *b, const char *what, const char *name, int type, int shape, int rows, int cols, int rest)
{
    sb_printf(b, "%s %s %d %d %d %d %d\n", what, name, type, shape, rows, cols, rest);
}

uint64_t emit_interface_hash(const ir_module *m)
{
    strbuf b = {0};
    sb_printf(&b, "module %s\n", m->name);
    for (size_t i = 0; i < m->params.len; i++)
        add(&b, "param", m->params.at[i]->name, (int)m->params.at[i]->type, m->params.at[i]->sizes, 0, 0, 0);
    for (size_t i = 0; i < m->structs.len; i++)
        for (int k = 0; k < m->structs.at[i]->nmembers; k++) {
            const ir_member *x = &m->structs.at[i]->members[k];
            add(&b, m->structs.at[i]->name, x->name, (int)x->elem, (int)x->shape, x->rows, x->cols, 0);
        }
    for (size_t i = 0; i < m->nfields; i++) {
        const ir_field *f = m->fields.at[i];
        add(&b, f->lead ? f->structure->name : "field", f->name, (int)f->elem, (int)f->shape, f->rows, f->cols,
            f->ndim * 16 + (int)layout_bits(f) + f->grad * 2 + f->dual);
        for (int p = IR_DATA; p < IR_PLANES; p++)
            if (f->wide[p])
                sb_printf(&b, "width %d of %s\n", f->width[p], ir_plane_get((ir_plane)p)->name);
    }
    for (size_t i = 0; i < m->funcs.len; i++) {
        const ir_func *f = m->funcs.at[i];
        if (!ir_is_kernel(f))
            continue;
        add(&b, "kernel", f->name, f->ad.grad != NULL, f->ad.jvp != NULL, f->ad.hvp != NULL, f->nsig, 0);
        for (int k = 0; k < f->nsig; k++) {
            const ir_sigparam *p = &f->sig[k];
            const ir_field *a = p->array;
            for (int d = 0; a && d < a->ndim; d++)
                if (a->dims[d].param < 0)
                    sb_printf(&b, "extent %s %lld\n", a->dims[d].mparam ? a->dims[d].mparam->name : "",
                              (long long)a->dims[d].count);
            if (a)
                add(&b, "array", p->name, (int)p->elem, a->rows, a->ndim, a->in * 2 + a->out, p->grad);
            else
                add(&b, p->structure ? p->structure->name : "arg", p->name, (int)p->elem, (int)p->shape, p->rows,
                    p->cols, p->grad);
        }
    }
    for (size_t i = 0; i < m->externs.len; i++) {
        const ir_func *f = m->externs.at[i];
        for (int k = 0; k < f->nsig + f->nouts; k++) {
            const ir_sigparam *p = k < f->nsig ? &f->sig[k] : &f->outs[k - f->nsig];
            add(&b, f->name, p->name, (int)p->elem, (int)p->shape, p->rows, p->cols, 0);
        }
    }
    for (size_t i = 0; i < m->funcs.len; i++)
        for (int k = 0; k < m->funcs.at[i]->nouts && ir_is_kernel(m->funcs.at[i]); k++) {
            const ir_sigparam *p = &m->funcs.at[i]->outs[k];
            add(&b, "result", m->funcs.at[i]->name, (int)p->elem, (int)p->shape, p->rows, p->cols, 0);
        }
    /* FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/ */
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < b.len; i++)
        h = (h ^ (unsigned char)b.s[i]) * 0x100000001b3u;
    sb_free(&b);
    return h;
}
