/* IR to Python: a module that calls the shared library which lies beside it, through ctypes. */
#ifndef TKC_PYTHON_H
#define TKC_PYTHON_H

#include "emit/options.h"
#include "ir/ir.h"
#include "util/strbuf.h"

/* What functions of tensors are made for besides. */
enum { PYTHON_TORCH = 1, PYTHON_JAX = 2 };

/* types: the .pyi that type checkers read. library: name of the shared library's file. frameworks: a set of these. */
void emit_python(strbuf *out, strbuf *types, const ir_module *m, const emit_options *opt, const char *library,
                 unsigned frameworks);
/* What the library has besides, behind the generated C: functions for what is a macro in C. */
void emit_python_glue(strbuf *c, const ir_module *m, const emit_options *opt);

#endif
