/* What the parts of `--explain` share: paragraphs, lines of the source, formulas, and the statements noted. */
#ifndef TKC_EXPLAIN_WORDS_H
#define TKC_EXPLAIN_WORDS_H

#include "codegen/facts.h"
#include "explain/explain.h"

/* What passes may remove from the IR, or change beyond recognition. */
typedef enum note_kind {
    NOTE_BRANCH,
    NOTE_LOOP, /* counted, outside of parallel loops */
    NOTE_WHILE,
    NOTE_PARALLEL,
    NOTE_INNER, /* inside of a parallel loop */
    NOTE_STOP,
    NOTE_ASSERT,
    NOTE_PRINT,
    NOTE_ATOMIC,
    NOTE_RANDOM,
    NOTE_CALL,   /* of a function that the program wrote */
    NOTE_KERNEL, /* of a kernel */
    NOTE_ADJOINT,
    NOTE_HOST /* of a C function */
} note_kind;

typedef struct note {
    note_kind kind;
    src_loc loc;
    const char *name; /* of what is called */
} note;

typedef struct func_notes {
    const char *name;
    VEC(note) at;
} func_notes;

struct notes {
    VEC(func_notes) funcs;
    VEC(note) sources; /* functions that the program wrote */
};

typedef struct words {
    strbuf *out;
    const ir_module *m;
    const notes *noted;
    facts facts;
    const ir_func *owner; /* whose parameters a formula of its own has; NULL: of none */
} words;

/* A paragraph, filled, all of it below its beginning: "  " or "  - ". */
__attribute__((format(printf, 3, 4))) void say(words *w, const char *begin, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void say_heading(words *w, const char *fmt, ...);
const char *line_of(const words *w, src_loc at);         /* "line 7", "line 7 of other.tk" */
void add_line(const words *w, strbuf *list, src_loc at); /* "7, 9", once each */
const func_notes *notes_of(const words *w, const ir_func *f);
bool has_note(const func_notes *n, note_kind kind);
/* The lines of one kind, "3, 7". */
const char *lines_of(const words *w, const func_notes *n, note_kind kind);
/* "a", "a and b", "a, b and c" */
void add_name(strbuf *list, const char *name); /* once each */
const char *joined(const words *w, const strbuf *list);

/* ---- formulas in params, arguments and extents ---- */

/* A sum of products and a constant. What has a name counts as a size, not below 0. */
typedef struct formula {
    bool known;  /* before it runs */
    bool valued; /* with the params' defaults it is: */
    int64_t value;
    const struct summand *sum; /* in the arena */
    int n;
    int64_t constant;
} formula;

formula formula_number(int64_t x);
formula formula_of(const words *w, const ir_value *v);
formula formula_join(const words *w, char operation, formula a, formula b); /* + - * */
bool formula_is_number(formula f);
bool formula_is_size(formula f); /* not below 0 */
const char *formula_text(const words *w, formula f);
formula field_elements(const words *w, const ir_field *f);
formula field_bytes(const words *w, const ir_field *f); /* of one plane */
formula layout_bytes(const ir_layout *l);               /* of an element's struct */
/* "4 N bytes (400 with the defaults)"; what: for a formula that is not known. */
const char *bytes_text(const words *w, formula f);

/* ---- the parts ---- */

void explain_fields(words *w);
void explain_touched(words *w, const ir_func *k);     /* inputs and outputs */
void explain_derivatives(words *w, const ir_func *k); /* which there are, what is active and why not */
void explain_matrices(words *w, const ir_func *k);    /* how Jacobians and Hessians are made */
void explain_matrix_values(words *w);                 /* the same of f.jacobian(x), f.hessian(x) */
/* Components of a field, and of an argument, that have no gradient although the kernel reads them. */
void explain_steering(words *w, const ir_func *k, const ir_field *f);
void explain_steering_argument(words *w, const ir_func *k, const ir_sigparam *p, const char *name);
void explain_repeats(words *w, const ir_func *k); /* functions that run several times */
void explain_needs(words *w, const ir_func *k);   /* of the adjoint, and what tapes keep for it */
void explain_loops(words *w, const ir_func *f);
void explain_memory(words *w, const ir_func *f);
void explain_workspace(words *w, const ir_func *k);

#endif
