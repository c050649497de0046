/* The built-in functions and statements that the checker has tables of; operations stand in ir/ops.def, others in the
 * prelude. */
#ifndef TKC_CHECK_BUILTINS_H
#define TKC_CHECK_BUILTINS_H

#include "check/base/checker.h"

/* Functions of what is known at compile time. */
typedef enum static_call {
    CALL_LEN,
    CALL_ROWS,
    CALL_COLS,
    CALL_IDENTITY,
    CALL_IS_VEC,
    CALL_IS_MAT,
    CALL_IS_FLOAT,
    CALL_IS_BOOL,
    CALL_TAKES_VEC,
    CALL_TO_ELEM,
    CALL_ZEROS_LIKE,
    CALL_EPSILON
} static_call;

typedef struct static_builtin {
    const char *name;
    static_call call;
    int least, most; /* arguments */
    bool prelude;    /* not for programs */
} static_builtin;

typedef struct atomic_builtin {
    const char *name;
    ir_opcode with;
    bool negated, integer;
} atomic_builtin;

typedef enum statement_call { CALL_PRINT, CALL_ASSERT, CALL_STOP_GRAD, CALL_REQUIRE } statement_call;

typedef struct statement_builtin {
    const char *name;
    statement_call call;
    bool prelude;   /* not for programs */
    bool has_value; /* as an expression it is a function */
} statement_builtin;

/* NULL: none has that name; prelude: those for the prelude count. */
const static_builtin *static_find(const char *name, bool prelude);
const atomic_builtin *atomic_find(const char *name);
const statement_builtin *statement_find(const char *name, bool prelude);

bool is_random(const char *name);                  /* a function that draws */
bool is_range(const char *name);                   /* a loop runs over it */
bool is_statement(const char *name, bool prelude); /* a built-in, or one of the prelude, that has no value */
bool is_builtin(checker *c, const char *name);     /* a function that programs call, and do not declare */

/* Errors: a wrong number of arguments, of which it takes so many; a call where none can be computed. */
val wrong_count(checker *c, const char *name, const char *takes, int given, src_span at);
val called_too_early(checker *c, src_span at);

/* svd, svd_rotation and sym_eig, by number. */
enum { DECOMPOSITIONS = 3 };
extern const char *const decompositions[DECOMPOSITIONS];
/* NULL: the program calls none. */
const sym *decomposition(checker *c, int k);
/* One of these, or its pull-back. */
bool is_decomposition(checker *c, const sym *s);

#endif
