#include "passes/simplify/simplify.h"

void pass_settle(ir_func *f)
{
    for (int round = 0; round < 4; round++) {
        bool changed = pass_dce(f);
        changed |= pass_fold(f);
        if (!changed)
            return;
    }
    pass_dce(f);
}

static void clean_up(ir_func *f, bool join)
{
    /* Each round shrinks the function; what is left after this many is not worth another. */
    for (int round = 0; round < 12; round++) {
        bool changed = pass_fold(f);
        changed |= pass_cse(f);
        changed |= join && pass_join(f);
        changed |= pass_array_stores(f);
        changed |= pass_dce(f);
        if (!changed)
            return;
    }
}

void pass_simplify(ir_func *f)
{
    clean_up(f, true);
}

void pass_simplify_clones(ir_func *f)
{
    clean_up(f, false);
}
