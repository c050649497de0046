/* What an editor can ask. Each answer is a new reference; NULL is null. `offset` is in the document's text. */
#ifndef TKC_LSP_FEATURES_H
#define TKC_LSP_FEATURES_H

#include "lsp/store.h"

/* hover.c */
json_t *feature_hover(store *s, doc *d, size_t offset);

/* navigate.c */
json_t *feature_definition(store *s, doc *d, size_t offset);
json_t *feature_highlights(store *s, doc *d, size_t offset);
json_t *feature_references(store *s, doc *d, size_t offset, bool declaration);
json_t *feature_symbols(store *s, doc *d);

/* complete.c */
json_t *feature_completion(store *s, doc *d, size_t offset);
json_t *feature_signature(store *s, doc *d, size_t offset);
typedef struct builtin {
    const char *name, *signature, *text;
} builtin;
const builtin *builtin_find(const char *name, size_t n);

/* edits.c */
json_t *feature_formatting(store *s, doc *d);
json_t *feature_actions(store *s, doc *d, size_t from, size_t to);

/* adjoint.c: {name, text}: the generated C of the adjoint of the kernel there, or of the only one, or of that name;
 * {error}: there is none, and why */
json_t *feature_adjoint(store *s, doc *d, size_t offset, const char *kernel);

#endif
