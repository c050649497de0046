/* tkc --lsp: a language server on standard input and output. */
#ifndef TKC_LSP_H
#define TKC_LSP_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/ir.h"
#include "util/scalar.h"

/* As the command line has them, for all files. */
typedef struct lsp_options {
    const char *const *include_dirs, *const *defines;
    size_t ninclude_dirs, ndefines;
    scalar real;
    ir_where lanes, checkpoints;
    int64_t checkpoint_bytes;
    bool debug, no_runtime, finite, werror, shadow, verify;
    const char *version;
    /* Address of the page that explains a diagnostic; NULL: there is none. The caller frees it. */
    char *(*page_of)(const char *code);
} lsp_options;

/* Serves one client until it says `exit` or is gone. 0 if it said `shutdown` before. */
int lsp_serve(const lsp_options *opt);

#endif
