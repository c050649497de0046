/* IR to C. Prints; decides nothing. */
#ifndef TKC_EMIT_H
#define TKC_EMIT_H

#include "ir/ir.h"
#include "util/strbuf.h"

typedef struct emit_options {
    const char *header_name; /* as in #include "..." */
    const char *c_name;      /* path of the .c, for #line resets */
    bool line_directives;    /* -g */
    bool no_runtime;         /* --no-runtime: the C includes nothing of libtkc */
} emit_options;

void emit_c(strbuf *out, const ir_module *m, const emit_options *opt);
void emit_header(strbuf *out, const ir_module *m, const emit_options *opt);
/* Hash of the interface (names, types, shapes), stored in both files and compared at creation. */
uint64_t emit_interface_hash(const ir_module *m);

#endif
