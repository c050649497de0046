/* Where a name is declared and used, and the outline of a file. */
#include <stdlib.h>
#include <string.h>

#include "lsp/features.h"

/* The string of an import leads to the file. */
static json_t *imported_at(const doc *d, size_t offset)
{
    const unit *u = d->now;
    size_t mapped;
    if (!u || !doc_offset(d, u, offset, &mapped))
        return NULL;
    const src_loc at = text_where(sb_str(&u->text), mapped, u->ast->file);
    for (const ast_item *it = u->import_items; it; it = it->next) {
        if (it->span.begin.line != at.line || !it->text)
            continue;
        const size_t n = strlen(it->text);
        for (size_t i = 1; i < u->imports.files.len; i++) {
            const import_file *f = u->imports.files.at[i];
            const size_t m = strlen(f->path);
            if (m < n || strcmp(f->path + m - n, it->text) != 0)
                continue;
            char *uri = path_uri(f->real);
            json_t *j = json_pack("{s:s,s:{s:{s:i,s:i},s:{s:i,s:i}}}", "uri", uri, "range", "start", "line", 0,
                                  "character", 0, "end", "line", 0, "character", 0);
            free(uri);
            return j;
        }
    }
    return NULL;
}

json_t *feature_definition(store *s, doc *d, size_t offset)
{
    const unit *u;
    const check_use *use = doc_use(d, offset, &u);
    if (!use)
        return imported_at(d, offset);
    if (use->declared.begin.line == 0)
        return NULL;
    if (use->declared.begin.file != u->ast->file)
        return json_location(s, u, d->uri, use->declared);
    src_span at = use->declared;
    at.end = (src_loc){0, 0, 0}; /* the name */
    TEXT_INDEX(then, &u->text, s->wide);
    TEXT_INDEX(now, &d->text, s->wide);
    const text_change c = text_compare(&u->text, &d->text);
    json_t *range = doc_range(&then, &now, &c, at);
    return range ? json_pack("{s:s,s:o}", "uri", d->uri, "range", range) : NULL;
}

/* All uses of what the name at the offset means, in the text itself or in all files of the unit. */
static json_t *uses_of(store *s, doc *d, size_t offset, bool here, bool declaration)
{
    const unit *u;
    const check_use *use = doc_use(d, offset, &u);
    if (!use || use->declared.begin.line == 0)
        return NULL;
    json_t *list = json_array();
    TEXT_INDEX(then, &u->text, s->wide);
    TEXT_INDEX(now, &d->text, s->wide);
    const text_change c = text_compare(&u->text, &d->text);
    for (size_t i = 0; i < u->log.uses.len; i++) {
        const check_use *o = &u->log.uses.at[i];
        if (o->name != use->name || !same_place(o->declared.begin, use->declared.begin) ||
            (here && o->at.begin.file != u->ast->file) || (!declaration && same_place(o->at.begin, o->declared.begin)))
            continue;
        bool again = false; /* an instance of a generic function */
        for (size_t k = 0; k < i && !again; k++)
            again = u->log.uses.at[k].name == o->name && same_place(u->log.uses.at[k].at.begin, o->at.begin) &&
                    same_place(u->log.uses.at[k].declared.begin, o->declared.begin);
        src_span at = o->at;
        at.end = (src_loc){0, 0, 0};
        json_t *one = NULL;
        if (!again && o->at.begin.file == u->ast->file) {
            json_t *range = doc_range(&then, &now, &c, at);
            if (range)
                one = here ? json_pack("{s:o}", "range", range) : json_pack("{s:s,s:o}", "uri", d->uri, "range", range);
        } else if (!again) {
            one = json_location(s, u, d->uri, at);
        }
        if (one)
            json_array_append_new(list, one);
    }
    return list;
}

json_t *feature_highlights(store *s, doc *d, size_t offset)
{
    return uses_of(s, d, offset, true, true);
}

json_t *feature_references(store *s, doc *d, size_t offset, bool declaration)
{
    return uses_of(s, d, offset, false, declaration);
}

/* ---- outline ---- */

enum {
    SYMBOL_FUNCTION = 12,
    SYMBOL_VARIABLE = 13,
    SYMBOL_CONSTANT = 14,
    SYMBOL_FIELD = 8,
    SYMBOL_STRUCT = 23,
    SYMBOL_PROPERTY = 7
};

int symbol_kind(const ast_item *it)
{
    switch (it->kind) {
    case AST_ITEM_CONST:
        return SYMBOL_CONSTANT;
    case AST_ITEM_PARAM:
        return SYMBOL_PROPERTY;
    case AST_ITEM_STRUCT:
        return SYMBOL_STRUCT;
    case AST_ITEM_FIELD:
        return SYMBOL_VARIABLE;
    default:
        return SYMBOL_FUNCTION;
    }
}

static json_t *symbol(const text_index *ix, const char *name, int kind, src_span whole, src_span at)
{
    size_t from, to, name_from, name_to;
    span_offsets(ix, whole, &from, &to);
    span_offsets(ix, at, &name_from, &name_to);
    name_from = name_from < from ? from : name_from; /* one has to lie in the other */
    to = to < name_to ? name_to : to;
    return json_pack("{s:s,s:i,s:o,s:o}", "name", name, "kind", kind, "range", json_range(ix, from, to),
                     "selectionRange", json_range(ix, name_from, name_to));
}

static json_t *members(const text_index *ix, const ast_item *it)
{
    json_t *list = json_array();
    for (const ast_param *p = it->params; p; p = p->next) {
        src_span at = p->span;
        at.end = (src_loc){0, 0, 0};
        json_t *one = p->name ? symbol(ix, p->name, SYMBOL_FIELD, p->span, at) : NULL;
        if (one)
            json_array_append_new(list, one);
    }
    return list;
}

/* The head of the item on one line. */
static json_t *detail(const text_index *ix, const ast_item *it)
{
    strbuf head = {0}, line = {0};
    item_head(&head, ix, it);
    for (size_t i = 0; i < head.len && line.len < 120; i++) {
        const bool space = strchr(" \t\r\n", head.s[i]) != NULL;
        if (!space || (line.len && line.s[line.len - 1] != ' '))
            sb_addc(&line, space ? ' ' : head.s[i]);
    }
    json_t *j = json_string(sb_str(&line));
    sb_free(&head);
    sb_free(&line);
    return j ? j : json_string("");
}

json_t *feature_symbols(store *s, doc *d)
{
    json_t *list = json_array();
    const unit *u = d->now;
    TEXT_INDEX(ix, &u->text, s->wide);
    for (const ast_item *it = u->ast ? u->ast->items : NULL; it; it = it->next) {
        if (!it->name || it->span.begin.file != u->ast->file)
            continue;
        json_t *one = symbol(&ix, it->name, symbol_kind(it), it->span, it->name_span);
        if (!one)
            continue;
        json_object_set_new(one, "detail", detail(&ix, it));
        if (it->kind == AST_ITEM_STRUCT)
            json_object_set_new(one, "children", members(&ix, it));
        json_array_append_new(list, one);
    }
    return list;
}
