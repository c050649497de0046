/* The files that are open, and what is known of each. */
#ifndef TKC_LSP_STORE_H
#define TKC_LSP_STORE_H

#include <jansson.h>

#include "lsp/text.h"
#include "lsp/unit.h"
#include "lsp/wire.h"

typedef struct doc {
    char *uri, *path, *real; /* real: of the file, NULL if there is none */
    json_int_t version;
    strbuf text;
    bool changed;  /* since it was checked */
    bool told;     /* the editor has all messages about this text */
    unit *now;     /* the last compilation: checked; after a pause the passes have run, too */
    unit *known;   /* the last one that got as far as names and types: maybe the same, maybe of another text */
    unit *lowered; /* of the same text as `known`, for questions about activity; NULL: nobody asked yet */
} doc;

typedef struct store {
    const lsp_options *opt;
    wire *w;
    VEC(doc *) docs;
    bool wide;                /* columns count UTF-16 */
    size_t checked, compiled; /* runs of the checker, of the passes */
    int pause;                /* milliseconds without a message before the passes run */
    VEC(char *) folders;      /* paths: what the client works on */
    strbuf refusal;           /* why the last request was refused; empty: it was not */
} store;

doc *store_find(const store *s, const char *uri);
doc *store_open(store *s, const char *uri, const char *text, size_t len, json_int_t version);
void store_close(store *s, doc *d);
/* The part of its text between two offsets becomes this one. Files that import it are out of date, too. */
void store_edit(store *s, doc *d, size_t from, size_t to, const char *text, size_t len);
/* Checks what has changed; reports errors at once. A change of a correct text costs no more than that. */
void store_refresh(store *s, doc *d);
/* Lowers it as well, which tells what is active. */
void store_lower(store *s, doc *d);
/* Runs the passes as well, and reports all messages. */
void store_finish(store *s, doc *d);
/* Whatever was written by others: all files. */
void store_stale(store *s);
void store_free(store *s);
unit_host store_host(store *s);

/* The path of a file: URI, to be freed; NULL: it is of another kind. */
char *uri_path(const char *uri);
/* The URI of a path, to be freed. */
char *path_uri(const char *path);

/* ---- between protocol and compiler ---- */

json_t *json_pos(const text_index *ix, size_t offset);
json_t *json_range(const text_index *ix, size_t from, size_t to);
/* False: it is no position. */
bool pos_of_json(const store *s, const json_t *pos, const strbuf *text, size_t *offset);
/* Of a place of the compiler: its offsets; to the end of the name there if it has no end. */
void span_offsets(const text_index *ix, src_span at, size_t *from, size_t *to);
/* {uri, range} of a place in any file of the unit; NULL: there is no such file. */
json_t *json_location(store *s, const unit *u, const char *root_uri, src_span at);
/* The text of a file of a unit. */
const strbuf *unit_text(const unit *u, unsigned file);
/* An offset in the text as it is now, in that of the unit. False: what stands there is new. */
bool doc_offset(const doc *d, const unit *u, size_t offset, size_t *mapped);
/* A range of the unit's text, where it is now; NULL: it is gone. Both texts, and what changed from one to the other. */
json_t *doc_range(const text_index *then, const text_index *now, const text_change *c, src_span at);
/* The use that a name at the offset is; NULL: none is known. */
const check_use *doc_use(doc *d, size_t offset, const unit **of);
/* The head of an item as it is written, up to its body. */
void item_head(strbuf *out, const text_index *ix, const ast_item *it);

#endif
