/* U diag(g(s)) V^T, where U, s, V are the results of one decomposition. */
#ifndef TKC_IR_SPECTRAL_H
#define TKC_IR_SPECTRAL_H

#include "ir/ir.h"

enum { IR_SPECTRAL_MOST = 3 }; /* values */

typedef struct ir_spectral {
    ir_op *call; /* of the decomposition */
    int n;
    bool symmetric; /* V is U, and s comes first */
    ir_value *u[IR_SPECTRAL_MOST * IR_SPECTRAL_MOST], *s[IR_SPECTRAL_MOST], *v[IR_SPECTRAL_MOST * IR_SPECTRAL_MOST],
        *g[IR_SPECTRAL_MOST]; /* g: the caller's */
} ir_spectral;

/* All but g. False: the call has other arguments or results. */
bool ir_spectral_begin(ir_spectral *f, ir_op *call);
/* The call of spectral_of, whose results are the matrix: of[0] of functions of all values, of[1] of one each. Its
 * arguments hold ALONG, and functions are made that do. bends: with second derivatives of g. NULL: g cannot be computed
 * at b once more. */
ir_op *ir_spectral_call(ir_builder *b, const ir_spectral *f, ir_func *const *of, bool bends);

#endif
