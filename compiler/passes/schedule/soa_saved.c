/* Saved structs of vectorised loops are stored member by member.
 *
 *     saved = alloc n;  loop i { saved[i].a = x;  saved[i].b = y }          becomes
 *     saved = alloc 2 * n;  loop i { saved[i] = x;  saved[n + i] = y }
 *
 * A vector of iterations then stores a piece of memory, where a struct of each iteration takes a store by itself. Only
 * members of one type make columns: others would need blocks of their own.
 */
#include "ir/ops.h"
#include "passes/analysis/analysis.h"
#include "passes/schedule/schedule.h"

typedef struct saved_block {
    ir_layout *layout;
    const ir_func *f;
    ir_op *alloc;
    int nallocs;
    bool separate; /* vectorised loops go through it element by element, and nothing else in the module does */
    VEC(ir_op *) accesses;
} saved_block;

typedef struct columns_pass {
    const ir_func *f;
    VEC(saved_block) blocks;
} columns_pass;

static saved_block *block_of(columns_pass *p, ir_layout *l)
{
    for (size_t i = 0; i < p->blocks.len; i++) {
        saved_block *b = &p->blocks.at[i];
        if (b->layout == l) {
            b->separate &= b->f == p->f;
            return b;
        }
    }
    vec_push(&p->blocks, ((saved_block){.layout = l, .f = p->f, .separate = true}));
    return &vec_last(&p->blocks);
}

/* One element further in each trip of the loop around it. */
static bool goes_along(const ir_op *access)
{
    const ir_op *loop = access->region->parent;
    while (loop && loop->code == OP_IF)
        loop = loop->region->parent;
    if (!loop || loop->code != OP_LOOP || !ir_loop_attr(loop)->simd)
        return false;
    const affine at = affine_of(access->args[1]);
    return varies_with_index(loop, &at);
}

static void collect_saved(ir_op *op, void *ctx)
{
    columns_pass *p = ctx;
    if (op->code == OP_STK_ALLOC) {
        saved_block *b = block_of(p, ir_layout_of(op));
        b->alloc = op;
        b->nallocs++;
    } else if (op->code == OP_STK_STORE || op->code == OP_STK_LOAD) {
        saved_block *b = block_of(p, ir_layout_of(op));
        b->separate &= goes_along(op);
        vec_push(&b->accesses, op);
    }
}

static bool has_one_type(const ir_layout *l)
{
    for (int i = 0; i < l->n; i++)
        if (l->types[i] != l->types[0] || l->types[i] == SC_PTR)
            return false;
    return true;
}

static bool fits(const saved_block *b)
{
    const ir_layout *l = b->layout;
    if (l->n < 2 || l->log || l->winners || b->nallocs != 1 || !b->separate || !has_one_type(l))
        return false;
    for (size_t i = 0; i < b->accesses.len; i++)
        if (!ir_can_leave(b->alloc->args[0], b->accesses.at[i]))
            return false;
    return true;
}

/* To element i of the member's column, of which each has `count`. */
static void move_access(ir_op *access, ir_value *count)
{
    const int64_t number = ir_slot_attr(access)->number;
    if (number == 0)
        return;
    ir_func *f = access->region->func;
    ir_builder b = {.func = f, .region = access->region, .before = access, .loc = access->loc};
    ir_map made = ir_map_create(f);
    ir_value *before = ir_value_before(&b, count, &made);
    if (number > 1)
        before = ir_op2(&b, OP_MUL, before, ir_const_i(&b, SC_I64, number));
    access->args[1] = ir_op2(&b, OP_ADD, before, access->args[1]);
    ir_slot_attr(access)->number = 0;
    ir_map_free(&made);
}

static void use_columns(saved_block *b)
{
    ir_layout *l = b->layout;
    ir_op *alloc = b->alloc;
    ir_value *count = alloc->args[0];
    ir_builder at = {.func = alloc->region->func, .region = alloc->region, .before = alloc, .loc = alloc->loc};
    for (size_t i = 0; i < b->accesses.len; i++)
        move_access(b->accesses.at[i], count);
    alloc->args[0] = count_times(&at, count, l->n);
    l->n = 1;
    l->names[0] = NULL;
}

void store_by_member(ir_module *m)
{
    columns_pass p = {0};
    for (size_t i = 0; i < m->funcs.len; i++) {
        p.f = m->funcs.at[i];
        ir_walk(m->funcs.at[i]->body, collect_saved, &p);
    }
    for (size_t i = 0; i < p.blocks.len; i++) {
        if (fits(&p.blocks.at[i]))
            use_columns(&p.blocks.at[i]);
        vec_free(&p.blocks.at[i].accesses);
    }
    vec_free(&p.blocks);
}
