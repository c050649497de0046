/* Functions whose numbers are finite. Their floats are marked, so that products with 0 and sums with 0 fold. With
 * --debug nothing is marked: all is computed as it is written, and each number is checked. Built-in functions may go
 * through infinity: only their results are. */
#include "lower/lower_impl.h"

void enter_finite(lower *l, frame *f, const frame *outer)
{
    f->finite = f->fn->prelude ? outer && outer->finite : f->fn->finite;
    if (f->finite && l->m->debug && !f->fn->prelude)
        f->not_finite = arena_printf(l->mem, "a number is NaN or infinite, but the numbers of '%s' are finite",
                                     f->fn->name);
    l->b.finite = f->finite && !l->m->debug;
}

bool checks_finite(const lower *l)
{
    return l->frame && l->frame->not_finite;
}

static void check_number(lower *l, ir_value *v)
{
    if (!scalar_is_float(v->type) || ir_is_const(v))
        return;
    *ir_text_attr(ir_insert(&l->b, OP_ASSERT, 1, &v, 0, NULL, 0)) = (ir_attr_text){l->frame->not_finite,
                                                                                   IR_ASSERT_FINITE};
}

void check_finite(lower *l, const agg *a, src_loc loc)
{
    if (!checks_finite(l) || !scalar_is_float(a->elem))
        return;
    const src_loc outer = l->b.loc;
    l->b.loc = loc;
    for (int k = 0; a->at && k < a->n; k++)
        check_number(l, a->at[k]);
    if (!a->at) {
        comp_loop c = comp_loop_open(l, a->n, "k", NULL);
        check_number(l, ir_lload(&l->b, a->mem, c.k));
        comp_loop_close(l, &c, NULL);
    }
    l->b.loc = outer;
}
