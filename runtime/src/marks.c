/* What a launch on a tape overwrites that its own adjoint needs: a byte for each component of the fields of which the
 * compiler could not tell. The kernel marks what it reads, and looks before it writes. */
#include "rt.h"

tk_status tk_rt_marks_begin(tk_module *m, const tk_kernel *k, tk_kernel_fn fn)
{
    if (fn != k->run && fn != k->jvp)
        return TK_OK;
    for (int i = 0; i < k->nparts; i++) {
        tk_field *f = &m->fields[k->parts[i].field];
        if ((k->parts[i].what & TK_MARKED) == 0 || f->marks)
            continue;
        f->marks = tk_rt_alloc(m->session, tk_rt_scalars(f) + 1, true);
        if (!f->marks)
            return tk_fail(m->session, TK_NO_MEMORY, "out of memory for what kernel '%s' needs of '%s'", k->name,
                           f->desc->name);
    }
    return TK_OK;
}

void tk_rt_marks_end(tk_module *m, const tk_kernel *k)
{
    for (int i = 0; i < k->nparts; i++) {
        tk_field *f = &m->fields[k->parts[i].field];
        if ((k->parts[i].what & TK_MARKED) == 0)
            continue;
        tk_rt_free(m->session, f->marks);
        f->marks = NULL;
    }
}

void tk_overwrites(const tk_module *m, int field, int64_t component, const char *place, const char *read)
{
    const tk_field *f = &m->fields[field];
    tk_session *s = m->session;
    tk_fail(s, TK_OVERWRITTEN,
            "%s: kernel '%s' overwrites '%s', but its adjoint needs the value that it read before, at %s: %s", place,
            s->watch.kernel->name, tk_rt_element_text(f, TK_DATA, component).s, read,
            field >= m->desc->nfields ? "write to another array or to a field"
            : (f->desc->flags & TK_FIELD_SCRATCH)
                ? "write to another scratch field, or give it a dimension"
                : "declare the field as saved, give it a dimension for time, or write to another field");
}
