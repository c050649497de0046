/* The IR as text: what --emit=ir and --dump-after print and --run-pass reads. */
#ifndef TKC_IR_TEXT_IO_H
#define TKC_IR_TEXT_IO_H

#include "ir/ir.h"

void ir_print_func(FILE *out, const ir_func *f);
void ir_print_module(FILE *out, const ir_module *m);
void ir_print_text(strbuf *out, const ir_module *m);
/* Fills an empty module with what was printed of one: every attribute is in the text. After a fault, false: it was
 * printed with the path, line and column. */
bool ir_read_module(ir_module *m, const char *path, const char *text, size_t len, FILE *errors);
/* Puts in the module's place what is read of its own text; false, after a message, if that cannot be read, or gives
 * another text. when: the pass that was last. text: of the last time, with which nothing is to be done if nothing
 * changed; freed by the caller. */
bool ir_reread_module(ir_module *m, const char *when, strbuf *text, FILE *errors);

#endif
