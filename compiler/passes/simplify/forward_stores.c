/* Values that an iteration stores are handed on, so that it writes an element once and reads back nothing that it
 * wrote:
 *
 *     store d[i], a;  b = load d[i];  store d[i], b * 0.5;  accum d[i], c        becomes        store d[i], a * 0.5 + c
 *
 * Less memory is touched, and loops can be marked for vectorisation: compilers take that mark as leave to reorder what
 * one iteration does to one element.
 *
 * The walk keeps a list of elements whose content is known. A load of one of them is replaced by the value, an
 * accumulation becomes a store of the sum, and a store is dropped when another one overwrites the element and nothing
 * can have read it. An accumulation that no other iteration meets, and whose element is read later, becomes a load, a
 * sum and a store. Elements are the same if their subscripts are the same values; they are taken to meet unless some
 * subscript differs by a constant. Where branches store an element that was stored before them, they yield what it
 * shall hold, and one store behind them writes it. No arithmetic is changed: what was stored and what is handed on are
 * the same bits.
 *
 * That others see nothing of it follows from the rules of the language: an element that one iteration stores, no other
 * one touches. An assertion that fails in between leaves written fields unspecified.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/simplify/simplify.h"

/* What is known of more elements is forgotten, the oldest first: a bound of the time that this takes. */
enum { MAX_KNOWN = 256 };

/* What an element holds, for all who know of it: an accumulation becomes a store when the first of them asks for the
 * value. */
typedef struct content {
    ir_op *write;    /* the store, or the accumulation: with its subscripts */
    ir_value *value; /* NULL: of an accumulation, so far */
} content;

typedef struct known {
    content *c;
    bool read; /* something may have read it since */
} known;

typedef VEC(known) known_list;

typedef struct forwarding {
    ir_func *f;
    bool kept; /* only elements that adjoints would keep as they were */
    ir_map map;
    bool changed;
} forwarding;

/* ---- elements ---- */

static bool is_access(const ir_op *op)
{
    return op->code == OP_LOAD || op->code == OP_STORE || op->code == OP_ACCUM;
}

static bool on_one_plane(const ir_op *a, const ir_op *b)
{
    return ir_field_of(a) == ir_field_of(b) && ir_access_attr(a)->plane == ir_access_attr(b)->plane;
}

static bool is_same_element(const ir_op *a, const ir_op *b)
{
    if (!on_one_plane(a, b))
        return false;
    for (int d = 0; d <= ir_field_of(a)->ndim; d++) {
        if (a->args[d] == b->args[d])
            continue;
        const affine x = affine_of(a->args[d]), y = affine_of(b->args[d]);
        if (!affine_equal(&x, &y))
            return false;
    }
    return true;
}

/* The caller of an export func's gradient may leave out arrays: what is stored there is not there to be loaded. */
static bool may_be_absent(const forwarding *w, const ir_field *field)
{
    return field->array && !field->launched && (w->f->kind == IR_KERNEL_GRAD || w->f->kind == IR_KERNEL_HVP);
}

/* ---- what is known ---- */

static known *find(known_list *l, const ir_op *op)
{
    for (size_t i = l->len; i-- > 0;)
        if (is_same_element(l->at[i].c->write, op))
            return &l->at[i];
    return NULL;
}

static void forget(known_list *l, size_t i)
{
    for (l->len--; i < l->len; i++)
        l->at[i] = l->at[i + 1];
}

/* Forgets what a write of op's element may change. */
static void overwrite(known_list *l, const ir_op *op)
{
    for (size_t i = l->len; i-- > 0;)
        if (meet_in_iteration(l->at[i].c->write, op))
            forget(l, i);
}

static void learn(const forwarding *w, known_list *l, ir_op *write, ir_value *value)
{
    if (l->len == MAX_KNOWN)
        forget(l, 0);
    content *c = ARENA_NEW(w->f->module->mem, content);
    *c = (content){write, value};
    vec_push(l, ((known){c, false}));
}

static void note_read(known_list *l, const ir_op *op)
{
    for (size_t i = 0; i < l->len; i++)
        l->at[i].read |= meet_in_iteration(l->at[i].c->write, op);
}

/* A call, an atomic: whole planes. */
static void note_effects(const forwarding *w, known_list *l, const ir_op *op)
{
    if (!l->len)
        return;
    effects e = effects_of_op(w->f->module, op);
    for (size_t i = l->len; i-- > 0;) {
        const ir_op *write = l->at[i].c->write;
        const unsigned what = e.at[ir_storage_of_op(write)];
        l->at[i].read |= (what & OP_READS) != 0;
        if (what & (OP_STORES | OP_ADDS))
            forget(l, i);
    }
    effects_free(&e);
}

/* What an operation, seen from before and behind it, does to memory; of one with regions, what is left in them. */
typedef struct seen_from {
    const forwarding *w;
    known_list *l;
    bool reads; /* or else only what it writes counts */
} seen_from;

static void see(ir_op *op, void *ctx)
{
    const seen_from *s = ctx;
    if (op->code == OP_LOAD && s->reads)
        note_read(s->l, op);
    else if (op->code == OP_STORE || op->code == OP_ACCUM)
        overwrite(s->l, op);
    else if (op->code == OP_CALL || op->code == OP_ATOMIC || op->code == OP_ADJOINT)
        note_effects(s->w, s->l, op);
}

static void see_regions(const forwarding *w, known_list *l, const ir_op *op, bool reads)
{
    seen_from s = {w, l, reads};
    for (int k = 0; k < op->nregions && l->len; k++)
        ir_walk(op->regions[k], see, &s);
}

/* ---- rewriting ---- */

static ir_op *store_instead(forwarding *w, ir_op *op, ir_value *v)
{
    ir_builder b = {.func = w->f, .region = op->region, .before = op, .loc = op->loc, .origin = op->origin};
    ir_op *store = ir_store(&b, ir_field_of(op), ir_access_attr(op)->plane, op->args, op->args[ir_field_of(op)->ndim],
                            v);
    ir_set_class(store, ir_class_of(op));
    ir_access_attr(store)->no_alias = ir_access_attr(op)->no_alias;
    ir_remove(op);
    w->changed = true;
    return store;
}

static ir_builder in_front_of(forwarding *w, ir_op *accum)
{
    return (ir_builder){.func = w->f,
                        .region = accum->region,
                        .before = accum,
                        .loc = accum->loc,
                        .origin = accum->origin,
                        .exact = ir_access_attr(accum)->exact};
}

/* element + v, in front of the accumulation, which becomes a store of it. */
static ir_op *store_sum(forwarding *w, ir_op *accum, ir_value *element)
{
    ir_builder b = in_front_of(w, accum);
    ir_value *const v = accum->args[accum->nargs - 1];
    const bool minus = v->def && v->def->code == OP_NEG;
    return store_instead(w, accum,
                         minus ? ir_op2(&b, OP_SUB, element, v->def->args[0]) : ir_op2(&b, OP_ADD, element, v));
}

/* The value of an element; of an accumulation it is made now that somebody asks. */
static ir_value *value_of(forwarding *w, content *k)
{
    if (k->value)
        return k->value;
    ir_op *accum = k->write;
    ir_builder b = in_front_of(w, accum);
    k->write = store_sum(w, accum,
                         ir_load(&b, ir_field_of(accum), ir_access_attr(accum)->plane, accum->args,
                                 accum->args[ir_field_of(accum)->ndim]));
    k->value = k->write->args[k->write->nargs - 1];
    return k->value;
}

static void visit_load(forwarding *w, known_list *l, ir_op *op)
{
    known *k = find(l, op);
    if (!k) {
        note_read(l, op);
        return;
    }
    ir_value *v = value_of(w, k->c);
    ir_map_set(&w->map, op->res[0], v);
    if (!v->name && !ir_is_const(v))
        v->name = op->res[0]->name;
    ir_remove(op);
    w->changed = true;
}

/* It puts back what has been loaded of its element, which nothing has changed since. */
static bool stores_nothing(const forwarding *w, const ir_op *store)
{
    const ir_op *load = store->args[store->nargs - 1]->def;
    if (w->kept || !load || load->code != OP_LOAD || load->region != store->region || !is_same_element(load, store))
        return false;
    for (const ir_op *op = load->next; op != store; op = op->next) {
        if (op->nregions || op->code == OP_CALL || op->code == OP_ATOMIC || op->code == OP_ADJOINT)
            return false;
        if ((op->code == OP_STORE || op->code == OP_ACCUM) && on_one_plane(op, store) && meet_in_iteration(op, store))
            return false;
    }
    return true;
}

static void visit_store(forwarding *w, known_list *l, ir_op *op)
{
    known *before = find(l, op);
    if (before && !before->read && before->c->write->region == op->region) {
        ir_op *dead = before->c->write;
        forget(l, (size_t)(before - l->at));
        ir_remove(dead);
        w->changed = true;
    }
    if (stores_nothing(w, op)) {
        ir_remove(op);
        w->changed = true;
        return;
    }
    overwrite(l, op);
    learn(w, l, op, op->args[op->nargs - 1]);
}

/* Each iteration of the unordered loops around it adds to an element of its own. */
static bool is_own(const ir_op *accum)
{
    for (const ir_op *loop = accum->region->parent; loop; loop = loop->region->parent) {
        bool varies = loop->code != OP_LOOP || !ir_loop_attr(loop)->parallel;
        for (int d = 0; d < ir_field_of(accum)->ndim && !varies; d++) {
            const affine a = affine_of(accum->args[d]);
            varies = varies_with_index(loop, &a);
        }
        if (!varies)
            return false;
    }
    return true;
}

/* Before accumulations have classes: nobody but the iteration touches the element, as each index of the task is, up to
 * a shift, a subscript. */
static bool is_alone(const ir_op *accum)
{
    const ir_op *task = ir_task_of(accum);
    for (int i = 0; task && i < ir_task_attr(task)->ndim; i++) {
        bool found = false;
        for (int d = 0; d < ir_field_of(accum)->ndim && !found; d++) {
            const affine a = affine_of(accum->args[d]);
            found = a.ok && a.n == 1 && a.term[0] == task->regions[0]->params[i];
        }
        if (!found)
            return false;
    }
    return true;
}

static void visit_accum(forwarding *w, known_list *l, ir_op *op)
{
    known *k = find(l, op);
    if (k && !k->c->value && !k->read && !w->kept && is_own(op))
        value_of(w, k->c);
    if (k && k->c->value) {
        visit_store(w, l, store_sum(w, op, k->c->value));
        return;
    }
    overwrite(l, op);
    if (ir_access_attr(op)->acc == IR_ACC_PLAIN || (w->kept && is_alone(op)))
        learn(w, l, op, NULL);
}

static known_list walk_region(forwarding *w, ir_region *r, const known_list *outside);

/* ---- branches ---- */

/* What a branch leaves in an element that was stored before it: NULL if that is not known, or if its store cannot move
 * to its end. */
static content *left_by(const ir_op *branch, int k, known_list *after, const content *before)
{
    const known *left = find(after, before->write);
    if (!left || !left->c->value)
        return NULL;
    return left->c == before || (left->c->write->region == branch->regions[k] && !left->read) ? left->c : NULL;
}

/* An element that was stored before is stored in branches: they yield the value, and it is stored behind them. Adds
 * that store to `behind`. */
static void merge_branches(forwarding *w, ir_op *branch, const content *before, known_list *after, known_list *behind)
{
    content *left[2];
    for (int k = 0; k < 2; k++)
        if (!(left[k] = left_by(branch, k, &after[k], before)))
            return;
    if (left[0] == left[1])
        return;
    ir_op *write = left[left[0] == before]->write;
    ir_builder b = {
        .func = w->f, .region = branch->region, .before = branch->next, .loc = write->loc, .origin = write->origin};
    ir_value *v = ir_add_result(branch, left[0]->value->type);
    v->exact = left[0]->value->exact && left[1]->value->exact;
    const ir_op *at = before->write;
    ir_op *store = ir_store(&b, ir_field_of(at), ir_access_attr(at)->plane, at->args, at->args[ir_field_of(at)->ndim],
                            v);
    ir_set_class(store, ir_class_of(write));
    ir_access_attr(store)->no_alias = ir_access_attr(write)->no_alias;
    for (int k = 0; k < 2; k++) {
        ir_add_arg(ir_yield_of(branch->regions[k]), left[k]->value);
        if (left[k] != before)
            ir_remove(left[k]->write);
    }
    learn(w, behind, store, v);
    w->changed = true;
}

/* What is known before is known inside, as far as no iteration writes it; of tasks, which are functions of their own,
 * nothing is. */
static void visit_regions(forwarding *w, known_list *l, ir_op *op)
{
    known_list inside = {0}, after[2] = {{0}}, behind = {0};
    for (size_t i = 0; i < l->len && op->code != OP_TASK; i++)
        vec_push(&inside, l->at[i]);
    if (op->code == OP_LOOP)
        see_regions(w, &inside, op, false);
    for (int k = 0; k < op->nregions; k++)
        after[k] = walk_region(w, op->regions[k], &inside);
    for (size_t i = 0; i < l->len && op->code == OP_IF; i++)
        if (l->at[i].c->value)
            merge_branches(w, op, l->at[i].c, after, &behind);
    see_regions(w, l, op, true);
    for (size_t i = 0; i < behind.len; i++)
        visit_store(w, l, behind.at[i].c->write);
    vec_free(&inside);
    vec_free(&after[0]);
    vec_free(&after[1]);
    vec_free(&behind);
}

static void visit(forwarding *w, known_list *l, ir_op *op)
{
    for (int i = 0; i < op->nargs; i++) {
        ir_value *v = ir_map_get(&w->map, op->args[i]);
        if (v)
            op->args[i] = v;
    }
    if (op->nregions) {
        visit_regions(w, l, op);
        return;
    }
    if (is_access(op) && (may_be_absent(w, ir_field_of(op)) || (w->kept && !adjoints_keep(op))))
        return;
    if (op->code == OP_LOAD)
        visit_load(w, l, op);
    else if (op->code == OP_STORE)
        visit_store(w, l, op);
    else if (op->code == OP_ACCUM)
        visit_accum(w, l, op);
    else
        see(op, &(seen_from){w, l, true});
}

/* What is known at the end. */
static known_list walk_region(forwarding *w, ir_region *r, const known_list *outside)
{
    known_list l = {0};
    for (size_t i = 0; i < outside->len; i++)
        vec_push(&l, outside->at[i]);
    for (ir_op *op = r->first, *next; op; op = next) {
        next = op->next;
        visit(w, &l, op);
    }
    return l;
}

static bool forward(ir_func *f, bool kept)
{
    forwarding w = {.f = f, .kept = kept, .map = ir_map_create(f)};
    const known_list nothing = {0};
    known_list end = walk_region(&w, f->body, &nothing);
    vec_free(&end);
    ir_map_free(&w.map);
    return w.changed;
}

bool pass_forward_stores(ir_func *f)
{
    return forward(f, false);
}

bool pass_forward_kept(ir_func *f)
{
    return forward(f, true);
}
