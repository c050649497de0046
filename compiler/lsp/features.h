/* What an editor can ask. Each answer is a new reference; NULL is null. `offset` is in the document's text. */
#ifndef TKC_LSP_FEATURES_H
#define TKC_LSP_FEATURES_H

#include "lsp/store.h"

/* names.c: the names of a file of a unit, in the order of its text; once for each meaning and type that one has */
typedef struct name_use {
    size_t at, nth; /* offset; number in the log */
    const check_use *use;
} name_use;
typedef VEC(name_use) name_uses;
name_uses unit_names(const unit *u, unsigned file);
/* The first at this offset; NULL: there is none. */
const name_use *names_find(const name_uses *list, size_t at);
/* The unit that knows the names: of a text with errors the last one without, if there is one. */
const unit *doc_names(const doc *d);
bool same_place(src_loc a, src_loc b);

/* hover.c */
json_t *feature_hover(store *s, doc *d, size_t offset);

/* navigate.c */
json_t *feature_definition(store *s, doc *d, size_t offset);
json_t *feature_highlights(store *s, doc *d, size_t offset);
json_t *feature_references(store *s, doc *d, size_t offset, bool declaration);
json_t *feature_symbols(store *s, doc *d);
int symbol_kind(const ast_item *it);

/* tokens.c */
json_t *feature_tokens(store *s, doc *d);
json_t *tokens_legend(void);

/* folding.c */
json_t *feature_folding(store *s, doc *d);

/* hints.c: of the text between two offsets */
json_t *feature_hints(store *s, doc *d, size_t from, size_t to);

/* workspace.c */
json_t *feature_workspace_symbols(store *s, const char *query);
typedef VEC(char *) path_list;
/* The files NAME.tk in the folders of the client, each path to be freed. */
path_list workspace_files(const store *s);
void path_list_free(path_list *list);
/* The file as the editor has it, or as it lies there; NULL: it cannot be read. */
unit *compile_file(const unit_host *host, const char *path, unit_level level);

/* rename.c: NULL with a text in s->refusal: it is refused */
json_t *feature_prepare_rename(store *s, doc *d, size_t offset);
json_t *feature_rename(store *s, doc *d, size_t offset, const char *name);

/* complete.c */
json_t *feature_completion(store *s, doc *d, size_t offset);
json_t *feature_signature(store *s, doc *d, size_t offset);
typedef struct builtin {
    const char *name, *signature, *text;
} builtin;
const builtin *builtin_find(const char *name, size_t n);
/* The texts on a keyword, type or attribute: how many, at most `most`. */
size_t word_texts(const char *name, size_t n, const char **out, size_t most);

/* edits.c */
json_t *feature_formatting(store *s, doc *d);
json_t *feature_actions(store *s, doc *d, size_t from, size_t to);

/* adjoint.c: {name, text}: the generated C of the adjoint of the kernel there, or of the only one, or of that name;
 * {error}: there is none, and why */
json_t *feature_adjoint(store *s, doc *d, size_t offset, const char *kernel);

#endif
