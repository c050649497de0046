/* Renames in functions that nothing calls, and in branches that are not compiled. */
#include <stdint.h>
#include <string.h>

#include "lsp/names/rename.h"

/* ---- what an item declares ---- */

static bool extents_declare(const ast_type *t, const char *name)
{
    for (const ast_expr *e = t && t->kind == AST_TYPE_ARRAY ? t->extents : NULL; e; e = e->next)
        if (e->kind == AST_EXPR_NAME && !strcmp(e->name, name))
            return true;
    return false;
}

static bool params_declare(const ast_item *it, const char *name)
{
    for (const ast_param *p = it->params; p; p = p->next)
        if (!strcmp(p->name, name) || extents_declare(p->type, name))
            return true;
    return false;
}

static bool body_declares(const ast_stmt *st, const char *name)
{
    for (; st; st = st->next) {
        for (const ast_name *n = st->names; n; n = n->next)
            if (!strcmp(n->name, name))
                return true;
        if (body_declares(st->body, name) || body_declares(st->else_body, name))
            return true;
    }
    return false;
}

static bool declares(const ast_item *it, const char *name)
{
    return params_declare(it, name) || body_declares(it->body, name);
}

/* ---- names that the checker did not see ---- */

typedef struct search {
    renaming *r;
    renamed_file *f;
    const unit *u; /* one that has the file, as `file` */
    unsigned file;
} search;

static const ast_item *function_at(const search *s, src_loc at)
{
    for (const ast_item *it = s->u->ast->items; it; it = it->next) {
        const src_loc a = it->span.begin, b = it->span.end;
        if ((it->kind == AST_ITEM_FUNC || it->kind == AST_ITEM_KERNEL) && a.file == s->file &&
            (a.line < at.line || (a.line == at.line && a.col <= at.col)) &&
            (at.line < b.line || (at.line == b.line && at.col <= b.col)))
            return it;
    }
    return NULL;
}

/* Items of that name which are not the one. */
static bool has_namesake(const search *s)
{
    for (const ast_item *it = s->u->ast->items; it; it = it->next)
        if (it->name && !strcmp(it->name, s->r->old) &&
            (it->name_span.begin.line != s->r->declared.line || it->name_span.begin.col != s->r->declared.col ||
             strcmp(rename_key(s->u, it->name_span.begin.file), s->r->declared_in) != 0))
            return true;
    return false;
}

/* Whether the file declares the item, or imports it without a name: no other file has it in place of a built-in
 * function of that name. */
static bool sees(const search *s)
{
    bool seen[UINT16_MAX + 1] = {false}, more = true;
    seen[s->file] = true;
    while (more) {
        more = false;
        for (const ast_item *it = s->u->ast->items; it; it = it->next)
            if (it->kind == AST_ITEM_IMPORT && !it->as && seen[it->span.begin.file] && !seen[it->file])
                seen[it->file] = more = true;
    }
    for (unsigned file = 0; file <= s->u->imports.files.len; file++)
        if (seen[file] && rename_key(s->u, file) && !strcmp(rename_key(s->u, file), s->r->declared_in))
            return true;
    return false;
}

static bool is_open_here(const search *s, src_loc at)
{
    return rename_refuse(s->r, "line %u of %s says '%s' in code that nothing calls: its meaning is unknown",
                         (unsigned)at.line, diag_file_path(s->u->diag, (uint16_t)s->file), s->r->old);
}

static bool behind_dot(const search *s, size_t at)
{
    return at > 0 && s->f->text->s[at - 1] == '.';
}

/* In front of the dot stands the name of an import. */
static bool behind_import(const search *s, size_t at)
{
    size_t begin;
    const char *text = s->f->text->s;
    const size_t n = text_word(text, s->f->text->len, at - 1, &begin);
    for (const ast_item *it = s->u->ast->items; it; it = it->next)
        if (it->as && it->span.begin.file == s->file && strlen(it->as) == n && !memcmp(it->as, text + begin, n))
            return true;
    return false;
}

/* The old name, in a place without a known meaning. */
static bool place_of_old(const search *s, size_t at)
{
    renaming *r = s->r;
    const src_loc where = text_where(s->f->text->s, at, s->file);
    const ast_item *in = function_at(s, where);
    const char *words[1];
    if (!in || word_texts(r->old, strlen(r->old), words, 1))
        return true; /* a word of the language */
    if (r->member || behind_dot(s, at))
        return !behind_dot(s, at) || (!r->member && !behind_import(s, at)) || is_open_here(s, where);
    if (r->local) {
        const ast_item *own = function_at(s, (src_loc){r->declared.line, r->declared.col, (uint16_t)s->file});
        return in != own || is_open_here(s, where);
    }
    if (params_declare(in, r->old) || (builtin_find(r->old, strlen(r->old)) && !sees(s)))
        return true;
    if (body_declares(in->body, r->old) || declares(in, r->name) || has_namesake(s))
        return is_open_here(s, where);
    rename_add(s->f, at);
    return true;
}

/* The new name, in such a place: it would mean the local from then on. */
static bool place_of_new(const search *s, size_t at)
{
    const src_loc where = text_where(s->f->text->s, at, s->file);
    const src_loc declared = {s->r->declared.line, s->r->declared.col, (uint16_t)s->file};
    if (!s->r->local || behind_dot(s, at) || !function_at(s, where) ||
        function_at(s, where) != function_at(s, declared))
        return true;
    return rename_refuse(s->r, "line %u of %s says '%s' already", (unsigned)where.line,
                         diag_file_path(s->u->diag, (uint16_t)s->file), s->r->name);
}

typedef VEC(name_uses) known_names;

/* The names of the file that any unit knows. */
static known_names find_known(const renaming *r, const char *key)
{
    known_names all = {0};
    for (size_t i = 0; i < r->units.len; i++) {
        const unit *u = r->units.at[i].u;
        for (unsigned file = 0; file <= u->imports.files.len; file++) {
            const char *own = rename_key(u, file);
            if (own && !strcmp(own, key))
                vec_push(&all, unit_names(u, file));
        }
    }
    return all;
}

static bool is_known(const known_names *known, size_t at)
{
    for (size_t i = 0; i < known->len; i++)
        if (names_find(&known->at[i], at))
            return true;
    return false;
}

static bool search_file(const search *s, const known_names *known)
{
    const char *text = sb_str(s->f->text);
    const size_t nold = strlen(s->r->old), nnew = strlen(s->r->name), len = s->f->text->len;
    for (size_t i = 0; i < len;) {
        const size_t end = text_skip(text, len, i, NULL);
        size_t begin;
        const size_t n = end > i || !text_in_word(text[i]) ? 0 : text_word(text, len, i, &begin);
        const bool old = n == nold && n && !memcmp(text + i, s->r->old, n);
        const bool new = n == nnew &&n && !memcmp(text + i, s->r->name, n);
        if ((old || new) && !is_known(known, i) && !(old ? place_of_old(s, i) : place_of_new(s, i)))
            return false;
        i = end > i ? end : i + (n ? n : 1);
    }
    return true;
}

static bool search_known(const search *s)
{
    known_names known = find_known(s->r, s->f->key);
    const bool right = search_file(s, &known);
    for (size_t i = 0; i < known.len; i++)
        vec_free(&known.at[i]);
    vec_free(&known);
    return right;
}

bool rename_unchecked(renaming *r)
{
    for (size_t i = 0; i < r->units.len; i++) {
        const unit *u = r->units.at[i].u;
        for (unsigned file = 0; file <= u->imports.files.len; file++) {
            const search s = {r, rename_file(r, u, file), u, file};
            if (s.f && (!r->local || !strcmp(s.f->key, r->declared_in)) && !search_known(&s))
                return false;
        }
    }
    return true;
}
