/* import "file.tk": items of other files become items of the module. */
#ifndef TKC_IMPORTS_H
#define TKC_IMPORTS_H

#include "syntax/ast.h"
#include "util/ptrmap.h"
#include "util/strbuf.h"
#include "util/vec.h"

typedef struct import_file {
    const char *path; /* as it was opened */
    const char *real; /* without links, interned: each file counts once */
    strbuf text;
    uint16_t number; /* of src_loc */
    bool open;       /* its own imports are being read */
} import_file;

typedef struct imports {
    arena *mem;
    intern_pool *names;
    diag_sink *diag;
    const char *const *dirs; /* searched behind the importing file's own directory */
    size_t ndirs;
    /* What an editor has of a file that it has not written yet; NULL: nobody has. False: the file is as it lies
     * there. */
    bool (*unsaved)(void *ctx, const char *real, strbuf *out);
    void *ctx;
    VEC(import_file *) files; /* the root first */
    ptrmap known;             /* by import_file.real */
    int depth;                /* files that are open */
} imports;

/* Puts the items of each imported file behind the first import item of it in `root`, which was read from `path`. False
 * after errors. */
bool imports_join(imports *im, ast_module *root, const char *path);
void imports_free(imports *im);

#endif
