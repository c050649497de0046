/* The host's side of generated code, inside: what kernels are launched with, tables, the header. */
#ifndef TKC_HOST_INT_H
#define TKC_HOST_INT_H

#include "emit/emit_int.h"

/* ---- the .c (kernel.c, kernel_entry.c, kernel_table.c, module.c, export.c) ---- */

void emit_kernels(emitter *e);
int emit_kernel_table(emitter *e); /* number of kernels */
void emit_entries(emitter *e);
void emit_module(emitter *e);
/* Of the argument struct, and of that of its gradients: "gravity_step_jvp_args", "gravity_step_grad_out". */
const char *kernel_args_tag(emitter *e, const ir_func *kernel, kernel_form form);
const char *kernel_out_tag(emitter *e, const ir_func *kernel, kernel_form form);
const char *bind_signature(arena *mem, const ir_module *m, const ir_field *f);
const char *bind_strided_signature(arena *mem, const ir_module *m, const ir_field *f);
/* "float a, const float v[3], float *result"; names of the results give way to the user's. */
const char *export_signature(arena *mem, const ir_module *m, const ir_func *f, kernel_form form);
/* Without the workspace, in their order. */
void export_items(arena *mem, sig_items *items, const ir_func *f, kernel_form form);
/* "(n, steps)" of the macro that sizes a workspace, and its value; NULL: the form needs none. */
const char *export_workspace(arena *mem, const ir_func *f, kernel_form form);
/* Whether that macro has parameter i of the function: an integer, or a struct with one. */
bool export_sizes(const ir_func *f, int i);
void emit_exports(emitter *e);
const char *export_workspace_name(arena *mem, const ir_func *f);
const ir_func *export_workspace_of(const ir_func *f, kernel_form form); /* NULL: it takes none */

/* ---- Jacobians and Hessians of export funcs (matrix.c) ---- */

typedef struct matrix_shape {
    int nrows, ncols;
    scalar elem;
    const char *pattern; /* of the lower triangle for a Hessian; NULL: dense */
} matrix_shape;

/* The names of the arguments behind the others. */
typedef struct matrix_names {
    const char *at, *grad, *ld;
} matrix_names;

bool matrix_is_wanted(const ir_func *f, kernel_form form);
matrix_shape matrix_of(const ir_func *f, kernel_form form);
bool matrix_has(const matrix_shape *s, int i, int j);
/* The pattern of a Hessian has the lower triangle alone; this has both. */
bool matrix_has_either(const matrix_shape *s, kernel_form form, int i, int j);
/* How many entries may differ from zero, of both triangles. */
int matrix_count(const ir_func *f, kernel_form form);
/* A function with several results takes multipliers of them for its Hessian. */
bool matrix_has_multipliers(const ir_func *f);
ir_sigparam matrix_multiplier(arena *mem, const ir_func *f, int i);
matrix_names matrix_names_of(arena *mem, const ir_func *f, kernel_form form);
void matrix_add_arguments(arena *mem, strbuf *b, const ir_func *f, kernel_form form);
/* "jac[2 * ld + 1]"; col: text of a column. */
const char *matrix_element(arena *mem, const matrix_names *n, int i, const char *col);
const char *matrix_entry(arena *mem, const matrix_names *n, int i, int j);
/* The constants and tables of the header, and the comment in front of the declaration. */
void matrix_print_header(emitter *e, const ir_func *f, kernel_form form);
void matrix_print_tables(emitter *e, const ir_func *f, kernel_form form);
/* The first column of parameter i; -1: it has none. */
int matrix_column(const ir_func *f, kernel_form form, int i);

/* Entries that are not zero by structure, yielded behind the results; of a Hessian the gradient is between. entries.c
 */
typedef struct entry_list {
    matrix_shape shape;
    matrix_names names;
    kernel_form form;     /* without a matrix there are none */
    int first, n, *i, *j; /* the yielded value of the first one; how many; row and column of each */
    int *of, *next;       /* by value id: an entry that it is, -1; the next one of the same value */
    bool *written;
} entry_list;
entry_list entries_of(cfn *c, const ir_func *primal, kernel_form form);
/* The body. In a long line each entry is written behind its operations. */
void emit_with_entries(cfn *c, entry_list *l);
/* The gradient, and what is left. */
void write_entries(cfn *c, entry_list *l);

/* Those that are loops over columns (columns.c). */
void emit_matrices(emitter *e);
/* Of --casadi, behind all others (casadi.c). */
void emit_casadi(emitter *e);

/* ---- sparse matrices of kernels (elements.c) ---- */

void elements_print_header(emitter *e, const ir_func *k);
void emit_elements(emitter *e);
/* The name in messages: of a hidden kernel, that of the function which runs it. */
const char *kernel_shown_name(arena *mem, const ir_func *kernel);

/* ---- the .h (header.c, views.c) ---- */

const char *member_decl(arena *mem, const ir_member *m);
void emit_structs(emitter *e);
void emit_field_objects(emitter *e, const ir_field *f);
void emit_member_views(emitter *e, const ir_field *f);

#endif
