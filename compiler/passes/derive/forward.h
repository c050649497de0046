/* Forward mode, internal to passes/derive/forward.c and forward_control.c. */
#ifndef TKC_FORWARD_H
#define TKC_FORWARD_H

#include <assert.h>

#include "passes/analysis/activity.h"
#include "passes/analysis/analysis.h"
#include "passes/derive/derive.h"

/* A saved-value layout with room for tangents. */
typedef struct wide_layout {
    const ir_layout *from;
    ir_layout *to;
    int *tangent; /* slot -> slot of its tangent, or -1 */
} wide_layout;

typedef struct fwd {
    ir_module *m;
    ir_func *from, *out;
    activity act;
    ir_map val, tan;         /* source value -> its clone, its tangent (unset: zero) */
    const bool *storage;     /* by ir_storage */
    ir_field *const *beside; /* by ir_storage, arrays that hold its tangents; NULL: planes of the fields do */
    gradient_maker gradient; /* not NULL: memory counts as constant */
    along_kind kind;         /* then */
    bool passive;            /* of a no_grad kernel: nothing has a tangent, but what is stored over loses its own */
    VEC(wide_layout) layouts;
} fwd;

typedef VEC(ir_value *) value_list;

static inline ir_value *val(const fwd *w, const ir_value *v)
{
    ir_value *c = ir_map_get(&w->val, v);
    assert(c);
    return c;
}

static inline ir_value *tan_or_zero(const fwd *w, ir_builder *b, const ir_value *v)
{
    ir_value *t = ir_map_get(&w->tan, v);
    return t ? t : ir_zero(b, v->type);
}

static inline bool varied(const fwd *w, const ir_value *v)
{
    return scalar_is_float(v->type) && w->act.varied[v->id];
}

static inline void name_tangent(const fwd *w, ir_value *t, const ir_value *primal)
{
    if (primal->name && !t->name)
        t->name = arena_printf(w->m->mem, "%s_dual", primal->name);
}

/* ---- forward.c ---- */

void fwd_region(fwd *w, ir_builder *b, const ir_region *r);

/* A clone of op, without its regions; results that are not tangents are mapped. */
ir_op *fwd_plain(fwd *w, ir_builder *b, const ir_op *op);
/* What is called instead of op's callee: with the arguments, then the tangents of the float ones. */
ir_op *fwd_call_of(fwd *w, ir_builder *b, const ir_op *op, ir_func *callee);
void fwd_set_tangent(fwd *w, const ir_value *v, ir_value *t);

/* ---- forward_args.c ---- */

/* Where memory counts as constant; false: like a call anywhere else. */
bool fwd_args_call(fwd *w, ir_builder *b, const ir_op *op);

/* ---- forward_control.c ---- */

/* `to` gets parameters for all of `from`. */
void fwd_clone_params(fwd *w, ir_region *to, const ir_region *from);
/* And one for the tangent of p. */
void fwd_tangent_param(fwd *w, ir_region *to, const ir_value *p);
/* Fills `to` (parameters are there) with the region's operations and a yield of all values, then of the tangents of
 * those with tangent[k]. */
void fwd_fill(fwd *w, ir_region *to, const ir_region *from, const bool *tangent);
void fwd_if(fwd *w, ir_builder *b, const ir_op *op);
void fwd_loop(fwd *w, ir_builder *b, const ir_op *op);
void fwd_task(fwd *w, ir_builder *b, const ir_op *op);

#endif
