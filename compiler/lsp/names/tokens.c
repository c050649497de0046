/* Semantic tokens: what each name of a file is. */
#include <string.h>

#include "lsp/features.h"

typedef enum token_type {
    TOKEN_NAMESPACE,
    TOKEN_STRUCT,
    TOKEN_FUNCTION,
    TOKEN_VARIABLE,
    TOKEN_PARAMETER,
    TOKEN_PROPERTY
} token_type;

enum { DECLARATION = 1, READONLY = 2, DEFAULT_LIBRARY = 4, ACTIVE = 8 };

json_t *tokens_legend(void)
{
    return json_pack("{s:[s,s,s,s,s,s],s:[s,s,s,s]}", "tokenTypes", "namespace", "struct", "function", "variable",
                     "parameter", "property", "tokenModifiers", "declaration", "readonly", "defaultLibrary", "active");
}

static token_type type_of_item(const ast_item *it)
{
    switch (it->kind) {
    case AST_ITEM_IMPORT:
        return TOKEN_NAMESPACE;
    case AST_ITEM_STRUCT:
        return TOKEN_STRUCT;
    case AST_ITEM_FUNC:
    case AST_ITEM_KERNEL:
        return TOKEN_FUNCTION;
    default:
        return TOKEN_VARIABLE;
    }
}

static token_type type_of(const check_use *use)
{
    if (use->of)
        return TOKEN_PROPERTY;
    if (use->item)
        return type_of_item(use->item);
    if (!strcmp(use->what, "a built-in function"))
        return TOKEN_FUNCTION;
    return !strcmp(use->what, "a parameter") ? TOKEN_PARAMETER : TOKEN_VARIABLE;
}

static int modifiers_of(const check_use *use)
{
    const ast_item_kind kind = use->item ? use->item->kind : AST_ITEM_IMPORT;
    const bool built_in = use->declared.begin.line == 0;
    int m = same_place(use->at.begin, use->declared.begin) ? DECLARATION : 0;
    if (kind == AST_ITEM_CONST || kind == AST_ITEM_PARAM || !strcmp(use->what, "a 'let'"))
        m |= READONLY;
    if (built_in)
        m |= DEFAULT_LIBRARY;
    if (kind == AST_ITEM_FIELD && (use->planes[0] || use->planes[1]))
        m |= ACTIVE;
    return m;
}

/* Each token is five numbers: lines behind the one before it, columns behind it or the line's begin, columns, type,
 * modifiers. */
json_t *feature_tokens(store *s, doc *d)
{
    const unit *u = doc_names(d);
    name_uses names = u->asked ? unit_names(u, u->ast->file) : (name_uses){0};
    const text_change c = text_compare(&u->text, &d->text);
    TEXT_INDEX(ix, &d->text, s->wide);
    json_t *data = json_array();
    text_pos before = {0, 0};
    size_t last = 0;
    for (size_t i = 0; i < names.len; i++) {
        const check_use *use = names.at[i].use;
        size_t from, to;
        if (!text_map(&c, names.at[i].at, &from) || !text_map(&c, names.at[i].at + strlen(use->name), &to) ||
            to != from + strlen(use->name) || from < last)
            continue;
        const text_pos at = text_position(&ix, from), end = text_position(&ix, to);
        json_array_append_new(data, json_integer((json_int_t)(at.line - before.line)));
        json_array_append_new(
            data, json_integer((json_int_t)(at.character - (at.line == before.line ? before.character : 0))));
        json_array_append_new(data, json_integer((json_int_t)(end.character - at.character)));
        json_array_append_new(data, json_integer(type_of(use)));
        json_array_append_new(data, json_integer(modifiers_of(use)));
        before = at;
        last = to;
    }
    vec_free(&names);
    return json_pack("{s:o}", "data", data);
}
