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
    strbuf types;   /* the .pyi, behind what all have */
    int classes;    /* of structs there */
    py_names taken; /* in the module */
    ptrmap structs; /* ir_struct -> const char *, its name */
    ptrmap params;  /* ir_mparam -> const char * */
    ptrmap names;   /* ir_func -> const char *, of what the host calls */
} python;

/* ---- text (text.c) ---- */

const char *py_ctype(arena *mem, scalar s);                            /* "_ct.c_float" */
const char *py_dtype(arena *mem, scalar s);                            /* "_f32" */
const char *py_convert(arena *mem, scalar s);                          /* "_as_i32": a function */
const char *py_shape(arena *mem, ir_shape_kind k, int rows, int cols); /* "(2, 3)" of the components */
const char *py_number(arena *mem, scalar s, int64_t i, double f);      /* a literal */
const char *py_member(arena *mem, const ir_struct *r, int k);          /* name of member k */
/* "f_grad", as the C has it and as bindings are called: "_c_f_grad". */
const char *python_form(arena *mem, const ir_func *f, kernel_form form);

/* ---- calls (call.c) ---- */

typedef enum role {
    ROLE_EXTENT,      /* no argument: the arrays tell it */
    ROLE_ARRAY,       /* must be given */
    ROLE_MAYBE_ARRAY, /* None: NULL */
    ROLE_NEW_ARRAY,   /* made unless given; a result */
    ROLE_VALUE,
    ROLE_MAYBE_VALUE, /* None: NULL */
    ROLE_RESULT
} role;

typedef struct item {
    const sig_item *sig;
    role role;
    const char *name, *type; /* in Python: the argument or result, the type of C */
    bool whole;              /* a scalar or struct: no array of NumPy */
} item;

typedef struct call {
    python *p;
    const ir_func *f;
    kernel_form form;
    sig_items sigs;
    item *at;
    int n, seeds, results;
    bool arrays;
} call;

bool python_has_form(const ir_func *f, kernel_form form);
call python_call_new(python *p, const ir_func *f, kernel_form form); /* vec_free its sigs */
bool python_is_argument(const item *x);
bool python_is_required(const item *x);
const char *python_element_type(const call *c, const ir_sigparam *p);
const char *python_element_shape(const call *c, const ir_sigparam *p);
/* "n": a name of an extent, a number, a param; in a tuple, with quotes; for people, without. */
const char *python_dims(const call *c, const ir_sigparam *p, bool tuple);

/* ---- the parts of the file ---- */

/* A function of the library and how it is called: that of a kernel's form or of an export func's. */
void python_binding(python *p, const ir_func *f, kernel_form form);
void python_call(python *p, const ir_func *f, kernel_form form);
void python_object(python *p);
/* Statements that turn a call's values into C's, and one of its arguments in C. */
void python_values(const call *c, const char *indent);
const char *python_argument(const call *c, const item *x);
/* Of a kernel with a sparse matrix: its functions in C, and its method; nothing of others. */
void python_sparse_bindings(python *p, const ir_func *k);
void python_sparse_method(python *p, const ir_func *k);

/* ---- the types of the .pyi, beside the parts of the file (types.c) ---- */

void types_struct(python *p, const ir_struct *r, const char *name);
void types_results(const call *c, const char *name); /* of several results: the class of the tuple */
const char *types_argument(const call *c, const item *x);
void types_call(const call *c, const char *name);    /* of a kernel: a method */
void types_field(python *p, const ir_field *f, const char *name);
/* Classes of structs' fields, and the head of class Module, in front of its attributes. */
void types_module(python *p);
void types_wrappers(python *p, unsigned frameworks);
/* The tables of what functions for PyTorch and JAX are made of (wrap.c), and what makes them. */
void python_wrappers(python *p, unsigned frameworks);

#endif
