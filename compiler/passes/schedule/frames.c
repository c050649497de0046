/* Arrays whose size is known when the kernel runs only, and large ones, live on the stack of saved values and not on
 * C's. Each is made once, where the function or the iteration of a task begins, and zeroed where it stood; so in a loop
 * it does not grow. Export funcs have only C's stack for those of constant size, which its caller's C compiler can
 * bound, and the workspace for the others.
 *
 * Of what stands twice, a loop over whole strips and the strip that is left (lanes), the arrays are the same memory:
 * the first ones are gone when the second begin.
 */
#include <string.h>

#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/analysis/values.h"
#include "passes/schedule/schedule.h"

enum { MAX_ON_C_STACK = 16 * 1024 /* bytes: threads of a host's pool may have small stacks */ };

typedef struct array_list {
    VEC(ir_op *) at;
} array_list;

static bool is_stacked(const ir_op *op)
{
    return op->code == OP_LOCAL &&
           (op->nargs || (!op->region->func->pure &&
                          ir_local_attr(op)->count > MAX_ON_C_STACK / scalar_bytes(ir_local_attr(op)->elem)));
}

static void collect_array(ir_op *op, void *ctx)
{
    array_list *l = ctx;
    if (is_stacked(op))
        vec_push(&l->at, op);
}

static ir_region *root_of(const ir_op *op)
{
    ir_region *r = op->region;
    while (r->parent && r->parent->code != OP_TASK)
        r = r->parent->region;
    return r;
}

static void zero(ir_func *f, ir_op *before, src_loc loc, ir_value *array)
{
    ir_builder b = {.func = f, .region = before->region, .before = before, .loc = loc};
    ir_value *lo = ir_const_i(&b, SC_I64, 0), *count = ir_local_count(&b, array->def);
    ir_op *loop = ir_loop(&b, lo, count, false, 0, NULL);
    ir_builder in = {.func = f, .region = loop->regions[0], .loc = loc};
    ir_value *k = loop->regions[0]->params[0];
    k->name = "k";
    ir_lstore(&in, array, k, ir_zero(&in, ir_local_attr(array->def)->elem));
    ir_yield(&in, 0, NULL);
}

/* A piece of memory for arrays that never live at the same time. */
typedef struct piece {
    const ir_op *first; /* of its arrays */
    const ir_op *user;  /* the operation of the root's own region that holds the last one */
    ir_value *array;
    bool clear; /* there are zeros in front of each operation of the root's own region that comes from here on */
} piece;

typedef struct framing {
    ir_func *f;
    ir_region *root;
    ir_builder at; /* where the root begins */
    ir_map made;
    VEC(piece) pieces;
} framing;

static ir_op *user_of(const framing *p, ir_op *op)
{
    while (op->region != p->root)
        op = op->region->parent;
    return op;
}

/* In all that C sees of them, the name included: a piece is called what its arrays are. */
static bool are_alike(const ir_module *m, const ir_op *a, const ir_op *b)
{
    const char *x = a->res[0]->name, *y = b->res[0]->name;
    if ((x && y ? strcmp(x, y) != 0 : x != y) || a->res[0]->exact != b->res[0]->exact ||
        ir_local_attr(a)->elem != ir_local_attr(b)->elem || a->nargs != b->nargs)
        return false;
    return a->nargs ? same_value(m, a->args[0], b->args[0]) : ir_local_attr(a)->count == ir_local_attr(b)->count;
}

/* One that is free again; NULL: none. */
static piece *find_piece(framing *p, ir_op *local)
{
    for (size_t i = 0; i < p->pieces.len; i++) {
        piece *x = &p->pieces.at[i];
        const bool gone = x->user->code != OP_LOCAL && x->user != user_of(p, local); /* a root's own lives as it does */
        if (gone && are_alike(p->f->module, x->first, local))
            return x;
    }
    return NULL;
}

static piece *memory_for(framing *p, ir_op *old)
{
    piece *x = find_piece(p, old);
    if (!x) {
        ir_builder *b = &p->at;
        b->loc = old->loc;
        ir_value *array = old->nargs
                              ? ir_local_sized(b, ir_local_attr(old)->elem, ir_clone_value(b, old->args[0], &p->made),
                                               old->res[0]->name)
                              : ir_local(b, ir_local_attr(old)->elem, ir_local_attr(old)->count, old->res[0]->name);
        ir_local_attr(array->def)->stacked = true;
        array->loc = old->res[0]->loc;
        vec_push(&p->pieces, ((piece){.first = old, .array = array}));
        x = &vec_last(&p->pieces);
    }
    x->user = user_of(p, old);
    return x;
}

/* What clears up behind itself finds zeros in each trip, if it did in the first one. */
static void begin_with_zeros(framing *p, ir_op *old, piece *x)
{
    const bool cleared = ir_local_attr(old)->cleared;
    if (ir_local_attr(old)->set) {
        x->clear &= cleared;
        return;
    }
    if (!cleared || old->region == p->root)
        zero(p->f, old, old->loc, x->array);
    else if (!x->clear)
        zero(p->f, user_of(p, old), old->loc, x->array);
    x->clear = cleared;
}

/* All arrays of one root. */
static void frame(ir_func *f, ir_region *root, const array_list *arrays, ir_map *replaced)
{
    const scalar type = SC_PTR;
    framing p = {.f = f,
                 .root = root,
                 .at = {.func = f, .region = root, .before = root->first, .loc = f->loc},
                 .made = ir_map_create(f)};
    ir_op *mark = ir_insert(&p.at, OP_STK_MARK, 0, NULL, 1, &type, 0);
    for (size_t i = 0; i < arrays->at.len; i++) {
        ir_op *old = arrays->at.at[i];
        if (root_of(old) != root)
            continue;
        piece *x = memory_for(&p, old);
        begin_with_zeros(&p, old, x);
        ir_map_set(replaced, old->res[0], x->array);
    }
    p.at.before = ir_yield_of(root);
    p.at.loc = f->loc;
    ir_insert(&p.at, OP_STK_RELEASE, 1, mark->res, 0, NULL, 0);
    ir_map_free(&p.made);
    vec_free(&p.pieces);
}

void pass_frames(ir_func *f)
{
    array_list arrays = {0};
    mark_locals(f);
    ir_walk(f->body, collect_array, &arrays);
    ir_map replaced = ir_map_create(f);
    for (size_t i = 0; i < arrays.at.len; i++)
        if (!ir_map_get(&replaced, arrays.at.at[i]->res[0]))
            frame(f, root_of(arrays.at.at[i]), &arrays, &replaced);
    if (arrays.at.len)
        ir_rewrite_uses(f, &replaced);
    for (size_t i = 0; i < arrays.at.len; i++)
        ir_remove(arrays.at.at[i]);
    ir_map_free(&replaced);
    vec_free(&arrays.at);
}
