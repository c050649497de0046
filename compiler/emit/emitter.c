/* What all printers share: where the parts of a module stand, and the names of the file. */
#include "emit/emit_int.h"

#include <string.h>

void emitter_init(emitter *e, const ir_module *m, const emit_options *opt)
{
    *e = (emitter){.mem = arena_create(), .m = m, .opt = opt};
    e->facts = facts_create(m, e->mem);
    e->globals = names_create(e->mem, NULL);
    e->texts = intern_create();
    e->field_names = ARENA_ARRAY(e->mem, const char *, m->fields.len + 1);
    for (size_t i = 0; i < m->fields.len; i++) {
        const ir_field *f = m->fields.at[i];
        e->field_names[i] = layout_is_apart(f) ? arena_printf(e->mem, "tk.fields[%d]", f->index)
                                               : layout_view(e->mem, f);
    }
    for (size_t i = 0; i < m->params.len; i++)
        ptrmap_set(&e->params, m->params.at[i], arena_printf(e->mem, "%s", name_member(e->mem, m->params.at[i]->name)));
}

void emitter_done(emitter *e)
{
    names_free(e->globals);
    sb_free(&e->sites);
    facts_free(&e->facts);
    ptrmap_free(&e->functions);
    ptrmap_free(&e->layouts);
    ptrmap_free(&e->shared);
    intern_destroy(e->texts);
    ptrmap_free(&e->params);
    arena_destroy(e->mem);
}

const char *file_level(const emitter *e, const char *name)
{
    return arena_printf(e->mem, "%s__%s", e->m->name, name); /* no name of a program has two underscores */
}

const char *shared_name(emitter *e, const char *text, const char *name)
{
    strbuf b = {0};
    const size_t n = strlen(name);
    for (const char *next; (next = strstr(text, name)); text = next + n) {
        sb_addn(&b, text, (size_t)(next - text));
        sb_addc(&b, '@');
    }
    sb_add(&b, text);
    const char *key = intern(e->texts, sb_str(&b)), *known = ptrmap_get(&e->shared, key);
    sb_free(&b);
    if (known)
        return known;
    ptrmap_set(&e->shared, key, (void *)name);
    return name;
}
