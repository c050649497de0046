/* Texts of C expressions. */
#ifndef TKC_CODEGEN_CEXPR_H
#define TKC_CODEGEN_CEXPR_H

#include "util/arena.h"

/* Precedences of C; the column of ops.def has the same numbers. */
enum {
    PREC_PRIMARY = 20,
    PREC_UNARY = 15,
    PREC_MUL = 13,
    PREC_ADD = 12,
    PREC_REL = 10,
    PREC_EQ = 9,
    PREC_LAND = 5,
    PREC_LOR = 4,
    PREC_COND = 3
};

typedef struct cexpr {
    const char *text;
    int prec;
} cexpr;

/* As an operand that needs at least precedence prec. */
static inline const char *cexpr_operand(arena *mem, cexpr e, int prec)
{
    return e.prec < prec ? arena_printf(mem, "(%s)", e.text) : e.text;
}

#endif
