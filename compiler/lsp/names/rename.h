/* A rename in progress. */
#ifndef TKC_LSP_RENAME_H
#define TKC_LSP_RENAME_H

#include "lsp/features.h"

typedef struct renamed_file {
    const char *key; /* its real path, or what stands for it */
    const strbuf *text;
    text_index ix;
    VEC(size_t) places; /* offsets of the name, sorted */
} renamed_file;

typedef struct renamed_unit {
    unit *u;
    bool owned;
} renamed_unit;

typedef struct renaming {
    store *s;
    doc *d;
    const char *old, *name;  /* name: the new one */
    const char *declared_in; /* key */
    src_loc declared;
    bool local, member; /* a local or parameter; a member of a struct; else an item or the name of an import */
    size_t at;          /* in the document */
    VEC(renamed_unit) units;
    VEC(renamed_file *) files;
} renaming;

/* places.c. The answer is this text; false. */
__attribute__((format(printf, 2, 3))) bool rename_refuse(renaming *r, const char *format, ...);
/* What files of several units are told apart by; NULL: it is no file. */
const char *rename_key(const unit *u, unsigned file);
renamed_file *rename_file(renaming *r, const unit *u, unsigned file);
void rename_add(renamed_file *f, size_t at);
/* The text with the new name in all places. */
void rename_text(const renaming *r, const renamed_file *f, strbuf *out);

/* unchecked.c: code that nothing calls has no types, and names there no known meaning. Adds the places there that can
 * only mean the item; refuses a rename where that is open. */
bool rename_unchecked(renaming *r);

#endif
