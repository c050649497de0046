/* The prelude: built-in functions in .tk. Each is parsed when the program or another built-in first names it. */
#include <string.h>

#include "check/base/checker.h"

/* The text of one function, up to the next one. */
struct prelude_text {
    const char *at;
    size_t len;
    prelude_text *next; /* of the same name, in order */
};

static const char *next_function(const char *p)
{
    const char *line = strstr(p, "\nfunc ");
    return line ? line + 1 : p + strlen(p);
}

static size_t name_length(const char *p)
{
    return strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_");
}

/* A function is found by its name, a derivative by the name of its function. */
static const char *found_by(checker *c, const char *text)
{
    const char *name = text + strlen("func "), *line = text + strcspn(text, "\n"), *of = strstr(text, "_for(");
    if (of && of < line)
        name = of + strlen("_for(");
    return intern_n(c->names, name, name_length(name));
}

void prelude_index(checker *c)
{
    for (const char *p = next_function(check_prelude), *end; *p; p = end) {
        end = next_function(p);
        prelude_text *t = ARENA_NEW(c->mem, prelude_text);
        *t = (prelude_text){.at = p, .len = (size_t)(end - p)};
        prelude_text **tail = &names_slot(c, found_by(c, p))->unread;
        while (*tail)
            tail = &(*tail)->next;
        *tail = t;
    }
}

static sym *new_function(checker *c, const ast_item *it)
{
    sym *s = ARENA_NEW(c->mem, sym);
    *s = (sym){.kind = SYM_FUNC, .name = it->name, .id = it->name, .span = it->name_span, .item = it, .prelude = true};
    for (const ast_param *p = it->params; p; p = p->next)
        s->nparams++;
    return s;
}

/* The program's names lead to it, or only the prelude's own, or none: then it is a derivative. */
static void add_function(checker *c, name_entry *e, const ast_item *it)
{
    sym *s = new_function(c, it);
    const ast_attr *a = it->attrs;
    if (a && !strcmp(a->name, "of_func")) {
        s->of_func = true;
        a = a->next;
    }
    if (a && a->args) {
        sym *target = e->inner ? e->inner : e->prelude;
        *(!strcmp(a->name, "grad_for") ? &target->custom_grad : &target->custom_jvp) = s;
    } else if (a) {
        e->inner = s;
    } else {
        s->overload = e->prelude;
        e->prelude = s;
    }
}

void prelude_read(checker *c, name_entry *e)
{
    const prelude_text *t = e->unread;
    e->unread = NULL;
    for (; t; t = t->next) {
        const uint16_t file = diag_add_file(c->d, arena_printf(c->mem, "<prelude: %s>", e->name), t->at, t->len);
        add_function(c, e, ast_parse(c->mem, c->names, c->d, file, t->at, t->len)->items);
    }
}

name_entry *names_entry(checker *c, const char *name)
{
    name_entry *e = names_slot(c, name);
    if (e->unread)
        prelude_read(c, e);
    return e;
}
