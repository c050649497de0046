/* Forward mode, internal to passes/derive/forward*.c. */
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

/* A loop over the directions, forward_wide.c. */
typedef struct stretch {
    ir_region *region, *body; /* it stands in the first */
    ir_op *loop;              /* NULL: it takes tangents still */
} stretch;

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
    bool still;              /* in a condition: nothing has a tangent */
    VEC(wide_layout) layouts;
    int width;   /* directions; 1: a tangent stands beside its value */
    bool linear; /* an adjoint, of several directions: tangents are its gradients, which are not computed any more */
    /* of several: */
    stretch *open; /* that takes tangents; NULL: the next one begins one */
    ir_builder in;
    VEC(stretch *) stretches; /* that are complete but for what is kept */
    stretch **home;           /* by source value: where `tan` is its tangent */
    ir_value **kept;          /* by source value: the array with its tangents, or NULL */
} fwd;

typedef VEC(ir_value *) value_list;

static inline ir_value *val(const fwd *w, const ir_value *v)
{
    ir_value *c = ir_map_get(&w->val, v);
    assert(c);
    return c;
}

static inline bool varied(const fwd *w, const ir_value *v)
{
    return scalar_is_float(v->type) && w->act.varied[v->id] && !w->still;
}

/* ---- forward_wide.c ---- */

void wide_begin(fwd *w);
void wide_end(fwd *w);
/* Where tangents go while b takes the primal operations. */
ir_builder *wide_open(fwd *w, const ir_builder *b);
/* What is built at b from here on stands behind the tangents. */
void wide_close(fwd *w, const ir_builder *b);
/* The tangent of v in the direction of the stretch; NULL: zero. */
ir_value *wide_tangent(fwd *w, const ir_builder *b, const ir_value *v);
/* The tangent of v in one direction, outside of stretches. */
ir_value *wide_direction(fwd *w, ir_builder *b, const ir_value *v, int direction);
/* A new array for the tangents of v, which whoever builds v fills. */
ir_value *wide_array(fwd *w, ir_builder *b, const ir_value *v);
/* The field in the place of the tangents of what op accesses; NULL: they are in a plane, or beside. */
ir_field *wide_field(const fwd *w, const ir_op *op);
/* Its subscripts; idx: those of f, the component behind them. */
ir_value **wide_subscripts(fwd *w, const ir_field *f, ir_value *const *idx, ir_value *direction);
/* Of the array of tangents of a local array. */
ir_value *wide_element(const fwd *w, ir_builder *in, ir_value *index);
/* Whether op adds to one element in all iterations of its task; then the tangents are added. */
bool wide_total(fwd *w, ir_builder *b, const ir_op *op, ir_value *const *idx);
/* Whether tangents change in op. */
bool wide_stirs(const fwd *w, const ir_op *op);

/* ---- tangents of values ---- */

static inline ir_builder *tangents_at(fwd *w, ir_builder *b)
{
    return w->width > 1 ? wide_open(w, b) : b;
}

static inline bool has_tangent(const fwd *w, const ir_value *v)
{
    return w->width > 1 ? w->home[v->id] || w->kept[v->id] : ir_map_get(&w->tan, v) != NULL;
}

/* NULL: zero. */
static inline ir_value *tangent(fwd *w, const ir_builder *b, const ir_value *v)
{
    return w->width > 1 ? wide_tangent(w, b, v) : ir_map_get(&w->tan, v);
}

static inline ir_value *tan_or_zero(fwd *w, ir_builder *b, const ir_value *v)
{
    ir_value *t = tangent(w, b, v);
    return t ? t : ir_zero(tangents_at(w, b), v->type);
}

static inline void set_tangent(fwd *w, const ir_value *v, ir_value *t)
{
    if (w->width > 1)
        w->home[v->id] = w->open;
    ir_map_set_other(&w->tan, v, t);
}

static inline void name_tangent(const fwd *w, ir_value *t, const ir_value *primal)
{
    if (primal->name && !t->name)
        t->name = w->linear ? primal->name : arena_printf(w->m->mem, "%s_dual", primal->name);
}

/* ---- forward.c ---- */

void fwd_region(fwd *w, ir_builder *b, const ir_region *r);

/* A clone of op, without its regions; results that are not tangents are mapped. */
ir_op *fwd_plain(fwd *w, ir_builder *b, const ir_op *op);
/* Whether v is a gradient that is not computed any more. */
static inline bool is_dropped(const fwd *w, const ir_value *v)
{
    return w->linear && varied(w, v);
}
/* Nothing reads such a value; what names it gets a zero. */
static inline void drop_value(fwd *w, ir_builder *b, const ir_value *v)
{
    ir_map_set_other(&w->val, v, ir_zero(b, v->type));
}
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
