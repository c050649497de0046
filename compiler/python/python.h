/* IR to Python: a module that calls the shared library which lies beside it, through ctypes. */
#ifndef TKC_PYTHON_H
#define TKC_PYTHON_H

#include "emit/options.h"
#include "ir/ir.h"
#include "util/strbuf.h"

/* library: name of the shared library's file. */
void emit_python(strbuf *out, const ir_module *m, const emit_options *opt, const char *library);
/* What the library has besides, behind the generated C: functions for what is a macro in C. */
void emit_python_glue(strbuf *c, const ir_module *m, const emit_options *opt);

#endif
