/* Python modules, inside. */
#ifndef TKC_PYTHON_INT_H
#define TKC_PYTHON_INT_H

#include "host/host_int.h"

/* Where a name stands in Python, and what it must not be there. */
typedef enum py_scope { PY_MODULE, PY_CLASS, PY_CREATION, PY_ARGUMENT, PY_MEMBER } py_scope;
typedef VEC(const char *) py_names;
/* The program's name, with as many '_' behind it as keep it apart from Python's words, those of the scope, and the
 * names taken; is taken then. */
const char *py_name(arena *mem, py_names *taken, py_scope scope, const char *name);

typedef struct python {
    emitter e;
    strbuf *out;
    py_names taken; /* in the module */
    ptrmap structs; /* ir_struct -> const char *, its name */
    ptrmap params;  /* ir_mparam -> const char * */
} python;

/* ---- text (text.c) ---- */

const char *py_ctype(arena *mem, scalar s);                            /* "_ct.c_float" */
const char *py_dtype(arena *mem, scalar s);                            /* "_f32" */
const char *py_convert(arena *mem, scalar s);                          /* "_as_i32": a function */
const char *py_shape(arena *mem, ir_shape_kind k, int rows, int cols); /* "(2, 3)" of the components */
const char *py_number(arena *mem, scalar s, int64_t i, double f);      /* a literal */
/* Text in a string; indent goes before each further line of one of three quotes, and is "\\n" in one of one quote. */
void py_doc(strbuf *b, const char *doc, const char *indent);
const char *py_member(arena *mem, const ir_struct *r, int k); /* name of member k */

/* ---- the parts of the file ---- */

/* A function of the library and how it is called: that of a kernel's form or of an export func's. */
void python_binding(python *p, const ir_func *f, kernel_form form);
void python_call(python *p, const ir_func *f, kernel_form form);
/* "f_grad", as the C has it and as bindings are called: "_c_f_grad". */
const char *python_form(arena *mem, const ir_func *f, kernel_form form);
void python_object(python *p);

#endif
