/* Export funcs: what the host calls without a module object computes its results from its arguments and does nothing
 * else. */
#include "check/check.h"

/* --no-runtime: what needs a module object is refused. */
static void check_standalone(checker *c)
{
    bool exports = false, refused = false;
    for (const sym *s = c->items; s; s = s->next) {
        exports = exports || (s->kind == SYM_FUNC && s->item->is_export);
        if (s->kind != SYM_KERNEL && s->kind != SYM_FIELD && s->kind != SYM_PARAM)
            continue;
        ERR(c, s->span, DIAG_NEEDS_RUNTIME, s->name, sym_describe(s));
        if (!refused)
            NOTE(c, s->span, "constants and functions remain, and export funcs that take what they need as arguments");
        refused = true;
    }
    if (!exports && !refused)
        diag(c->d, (src_span){{0, 0, 0}, {0, 0, 0}}, DIAG_NO_EXPORTS);
}

void check_exports(checker *c)
{
    if (c->opt->no_runtime)
        check_standalone(c);
    for (const sym *s = c->items; s; s = s->next) {
        instance *i = s->kind == SYM_FUNC && s->item->is_export ? s->instances : NULL;
        const instance *found = i ? find_impure(i) : NULL;
        if (!found)
            continue;
        ERR(c, found->impure_at, DIAG_EXPORT_IMPURE, found->tx->name, found->impure);
        if (found != i)
            NOTE(c, s->span, "'%s' is an export func and comes to call it", s->name);
        NOTE(c, s->span, "the host calls '%s' without a module object: pass what it needs as arguments", s->name);
    }
}
