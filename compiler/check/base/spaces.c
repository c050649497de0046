/* Which item a name means where it stands. A space is the root file, or a file that is imported under a name, with the
 * files that these import without one: the items of a space have one set of names. */
#include <string.h>

#include "check/base/builtins.h"

struct name_space {
    ptrmap items;       /* by name */
    const char *prefix; /* of the names in the generated C */
    name_space *next;
};

typedef struct plain_import {
    uint16_t file;
    struct plain_import *next;
} plain_import;

struct source_file {
    name_space *space;     /* NULL: no file of the module */
    plain_import *imports; /* without a name */
    ptrmap named;          /* "lib" and "lib.f" of what it imports as lib */
    int seen;              /* the last search that came here */
    source_file *next;     /* where it goes on */
};

/* ---- files ---- */

static source_file *file_at(const checker *c, src_span at)
{
    const size_t k = at.begin.file;
    return &c->files[k < c->nfiles && c->files[k].space ? k : c->root];
}

static name_space *new_space(checker *c, const char *prefix)
{
    name_space *s = ARENA_NEW(c->mem, name_space);
    *s = (name_space){.prefix = prefix, .next = c->spaces};
    c->spaces = s;
    return s;
}

/* Marks the file and those that it imports without a name, directly or not. */
static void mark_seen(checker *c, source_file *f)
{
    const int search = ++c->search;
    f->seen = search;
    f->next = NULL;
    for (source_file *todo = f; todo;) {
        const plain_import *p = todo->imports;
        todo = todo->next;
        for (; p; p = p->next) {
            source_file *to = &c->files[p->file];
            if (to->seen == search)
                continue;
            to->seen = search;
            to->next = todo;
            todo = to;
        }
    }
}

/* The file, and those that it shows, are of the space if they are of none yet. */
static void enter_space(checker *c, source_file *f, name_space *s)
{
    mark_seen(c, f);
    for (size_t k = 0; k < c->nfiles; k++)
        if (c->files[k].seen == c->search && !c->files[k].space)
            c->files[k].space = s;
}

void spaces_begin(checker *c, const ast_module *m)
{
    c->root = m->file;
    c->nfiles = c->root + 1u;
    for (const ast_item *it = m->items; it; it = it->next) {
        const size_t last = it->file > it->span.begin.file ? it->file : it->span.begin.file;
        c->nfiles = last < c->nfiles ? c->nfiles : last + 1;
    }
    c->files = ARENA_ARRAY(c->mem, source_file, c->nfiles);
    for (const ast_item *it = m->items; it; it = it->next) {
        if (it->kind != AST_ITEM_IMPORT || it->as)
            continue;
        source_file *from = &c->files[it->span.begin.file];
        plain_import *p = ARENA_NEW(c->mem, plain_import);
        *p = (plain_import){it->file, from->imports};
        from->imports = p;
    }
    enter_space(c, &c->files[c->root], new_space(c, ""));
    for (const ast_item *it = m->items; it; it = it->next)
        if (it->as && !c->files[it->file].space) {
            const char *prefix = file_at(c, it->span)->space->prefix;
            enter_space(c, &c->files[it->file], new_space(c, arena_printf(c->mem, "%s%s_", prefix, it->as)));
        }
}

void spaces_end(checker *c)
{
    for (name_space *s = c->spaces; s; s = s->next)
        ptrmap_free(&s->items);
    for (size_t k = 0; k < c->nfiles; k++)
        ptrmap_free(&c->files[k].named);
}

bool names_sees(checker *c, src_span at, const sym *s)
{
    if (s->span.begin.file == at.begin.file)
        return true;
    mark_seen(c, file_at(c, at));
    return file_at(c, s->span)->seen == c->search;
}

/* ---- names ---- */

sym *names_item(checker *c, const char *name, src_span at)
{
    const source_file *f = file_at(c, at);
    sym *s = ptrmap_get(&f->named, name);
    if (!s)
        s = ptrmap_get(&f->space->items, name);
    /* what hides a built-in function does so for those that declare or import it, and for no file that they import */
    return s && s->span.begin.file != at.begin.file && is_builtin(c, name) && !names_sees(c, at, s) ? NULL : s;
}

const char *names_in_c(checker *c, const ast_item *it)
{
    const char *prefix = it->is_extern ? "" : file_at(c, it->span)->space->prefix;
    return *prefix ? intern(c->names, arena_printf(c->mem, "%s%s", prefix, it->name)) : it->name;
}

static bool declared_twice(checker *c, src_span at, const char *name, const sym *before)
{
    ERR(c, at, DIAG_REDEFINED, name);
    NOTE(c, before->span, "it is declared here already");
    return false;
}

bool spaces_add(checker *c, sym *s)
{
    ptrmap *items = &file_at(c, s->span)->space->items;
    const sym *before = ptrmap_get(items, s->name);
    if (before)
        return declared_twice(c, s->span, s->name, before);
    ptrmap_set(items, s->name, s);
    name_entry *e = names_entry(c, s->id);
    if (e->item) {
        ERR(c, s->span, DIAG_GENERATED_NAME, s->name, s->id);
        NOTE(c, e->item->span, "'%s' makes that name as well", e->item->name);
        return false;
    }
    e->item = s;
    return true;
}

/* ---- what is hidden ---- */

void names_warn_hidden(checker *c, const char *name, src_span at, const sym *hidden)
{
    if (!c->opt->shadow)
        return;
    if (hidden && !hidden->prelude) {
        diag(c->d, at, DIAG_SHADOWS, name, sym_describe(hidden));
        NOTE(c, hidden->span, "'%s' is declared here", name);
    } else if (is_builtin(c, name)) {
        diag(c->d, at, DIAG_SHADOWS, name, "a built-in function");
    }
}

/* ---- what imports add ---- */

/* What the file shows to others is there in this space as well. */
static void add_again(checker *c, name_space *to, const ast_item *it)
{
    mark_seen(c, &c->files[it->file]);
    for (sym *s = c->items; s; s = s->next) {
        const sym *before = file_at(c, s->span)->seen == c->search ? ptrmap_get(&to->items, s->name) : s;
        if (!before) {
            ptrmap_set(&to->items, s->name, s);
        } else if (before != s) {
            declared_twice(c, it->name_span, s->name, before);
            NOTE(c, s->span, "the other one is declared here");
        }
    }
}

static void add_named(checker *c, source_file *from, const ast_item *it)
{
    sym *lib = ARENA_NEW(c->mem, sym);
    *lib = (sym){.kind = SYM_IMPORT, .name = it->as, .span = it->as_span, .item = it};
    const sym *before = names_item(c, it->as, it->as_span);
    if (before) {
        declared_twice(c, it->as_span, it->as, before);
        return;
    }
    if (names_check_fit(c, it->as, it->as_span, true))
        names_warn_hidden(c, it->as, it->as_span, NULL);
    ptrmap_set(&from->named, it->as, lib);
    names_entry(c, it->as);
    log_use(c, lib, it->as_span);
    mark_seen(c, &c->files[it->file]);
    for (sym *s = c->items; s; s = s->next) {
        if (file_at(c, s->span)->seen != c->search)
            continue;
        const char *name = intern(c->names, arena_printf(c->mem, "%s.%s", it->as, s->name));
        names_entry(c, name);
        ptrmap_set(&from->named, name, s);
    }
}

void spaces_link(checker *c, const ast_module *m)
{
    for (int named = 0; named < 2; named++)
        for (const ast_item *it = m->items; it; it = it->next) {
            if (it->kind != AST_ITEM_IMPORT || named != (it->as != NULL))
                continue;
            source_file *from = file_at(c, it->span);
            if (named)
                add_named(c, from, it);
            else if (from->space != c->files[it->file].space)
                add_again(c, from->space, it);
        }
}
