/* The arithmetic of adjoints: divisions by one value share its reciprocal, constant factors are collected, and common
 * factors of sums are taken out. Each may change the last place of a result, so values that decide stay as they are,
 * and so does all that is no adjoint.
 */
#include "passes/derive/algebra/algebra.h"

#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"
#include "passes/simplify/simplify.h"

/* Bases that were built apart are one value behind the clean-up only: then their factors meet in the next round. */
void pass_scale(ir_func *f)
{
    enum { ROUNDS = 4 };
    for (int i = 0; i < ROUNDS && is_adjoint(f) && scale_values(f); i++)
        pass_simplify(f);
}

void pass_algebra(ir_func *f)
{
    if (!is_adjoint(f))
        return;
    if (share_reciprocals(f))
        pass_simplify(f);
    pass_scale(f);
    if (factor_sums(f)) {
        pass_simplify(f);
        pass_scale(f);
    }
}
