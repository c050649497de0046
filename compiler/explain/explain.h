/* `tkc --explain`: what a module is, in words. Facts come from where they are decided, as the passes left them in the
 * IR; what is gone from it by then, statements that were folded or merged, is noted before the passes run. */
#ifndef TKC_EXPLAIN_EXPLAIN_H
#define TKC_EXPLAIN_EXPLAIN_H

#include "ir/ir.h"

typedef struct notes notes;

/* Of a module that was just lowered. The notes live in its arena. */
const notes *notes_take(const ir_module *m);
void notes_free(const notes *n);
/* Of the same module behind all passes. */
void explain_module(strbuf *out, const ir_module *m, const notes *n);

#endif
