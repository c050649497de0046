/* IR to C: the files that a host program is built with. Prints; decides nothing. */
#ifndef TKC_HOST_H
#define TKC_HOST_H

#include "emit/options.h"
#include "ir/ir.h"
#include "util/strbuf.h"

void emit_c(strbuf *out, const ir_module *m, const emit_options *opt);
void emit_header(strbuf *out, const ir_module *m, const emit_options *opt);
/* Hash of the interface (names, types, shapes), stored in both files and compared at creation. */
uint64_t emit_interface_hash(const ir_module *m);

#endif
