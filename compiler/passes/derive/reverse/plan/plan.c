/* Reverse mode, planning: all that is decided before an adjoint is built. The build (build/) reads it, once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "passes/derive/reverse/plan/plan.h"

rev_plan *rev_plan_begin(const ir_func *f)
{
    arena *mem = f->module->mem;
    const size_t n = f->next_value + 1;
    rev_plan *p = ARENA_NEW(mem, rev_plan);
    p->n = n;
    p->is_asked = ARENA_ARRAY(mem, bool, n);
    p->pulled = ARENA_ARRAY(mem, bool, n);
    p->live = ARENA_ARRAY(mem, bool, n);
    p->price = ARENA_ARRAY(mem, rev_price, n);
    p->wanted = ARENA_ARRAY(mem, bool, n);
    p->is_saved = ARENA_ARRAY(mem, bool, n);
    p->touched = effects_of_region(f->module, f->body);
    rev_note_unary(p, f);
    return p;
}

void rev_plan_end(rev_plan *p)
{
    vec_free(&p->asked);
    ptrmap_free(&p->loops);
    effects_free(&p->touched);
}

/* Which values are asked for, and which are live, by what is decided so far. */
static void find_values(rev *rv)
{
    rev_plan *p = rv->plan;
    p->asked.len = 0;
    ptrmap_free(&p->loops);
    p->loops = (ptrmap){0};
    memset(p->is_asked, 0, p->n * sizeof *p->is_asked);
    memset(p->pulled, 0, p->n * sizeof *p->pulled);
    memset(p->live, 0, p->n * sizeof *p->live);
    rev_find_needs(rv);
    rev_find_live(rv);
}

static bool choose(rev *rv)
{
    rev_plan *p = rv->plan;
    memset(rv->filled, 0, p->n * sizeof *rv->filled);
    memset(p->price, 0, p->n * sizeof *p->price);
    p->pricing = true;
    rev_find_needs(rv);
    p->pricing = false;
    return rev_choose(rv);
}

/* Scratch fields first: what they are made of is read as well. */
static bool plan_memory(rev *rv)
{
    saved_plan *memory = scratch_study(rv);
    if (memory) {
        rv->memory = memory;
        find_values(rv);
    }
    bool *live = ARENA_ARRAY(rv->module->mem, bool, rv->plan->n);
    do { /* what is written again is computed from reads, which other writes have to come before */
        memcpy(live, rv->plan->live, rv->plan->n * sizeof *live);
        if (!saved_study(rv, &memory))
            return false;
        if (memory) {
            rv->memory = memory;
            find_values(rv);
        }
        for (size_t i = 0; i < rv->plan->n; i++) /* a write that is no longer taken back asks for less: an end comes */
            rv->plan->live[i] |= live[i];
    } while (memory && memcmp(live, rv->plan->live, rv->plan->n * sizeof *live) != 0);
    return true;
}

bool rev_make_plan(rev *rv, bool kernel)
{
    find_values(rv);
    if (kernel && !plan_memory(rv))
        return false;
    if (choose(rv)) { /* in checkpointed loops, other values are asked for */
        find_values(rv);
        choose(rv);
    }
    return true;
}

/* ---- the adjoint held against it ---- */

static void check_read(ir_op *op, void *ctx)
{
    const rev *rv = ctx;
    const ir_op *o = op->origin;
    while (o && o->origin)
        o = o->origin;
    if (op->code != OP_LOAD || ir_access_attr(op)->plane != IR_DATA || !o || o->code != OP_LOAD ||
        o->region->func != rv->primal || rv->plan->live[o->res[0]->id])
        return;
    fprintf(stderr, "tkc: internal error: the adjoint of '%s' reads '%s' at %d:%d, which its plan has not\n",
            rv->primal->name, ir_field_of(op)->name, op->loc.line, op->loc.col);
    abort();
}

void rev_check_reads(const rev *rv, const ir_func *adjoint)
{
    ir_walk(adjoint->body, check_read, (void *)rv);
}

/* ---- as text ---- */

typedef struct printer {
    strbuf *text;
    const rev *rv;
} printer;

static void print_name(strbuf *text, const char *name, src_loc at)
{
    sb_printf(text, "%s @%d:%d", name ? name : "-", at.line, at.col);
}

static void print_loop(const printer *p, const ir_op *op)
{
    static const char *const names[] = {"plain", "rematerialised", "fused", "winner", "checkpointed"};
    rev_loop_way way;
    if (!rev_way_of(p->rv->plan, op, &way))
        return;
    print_name(p->text, "    loop", op->loc);
    sb_printf(p->text, ": %s\n", names[way]);
}

static void print_values(const printer *p, int n, ir_value *const *values)
{
    const rev_plan *plan = p->rv->plan;
    for (int i = 0; i < n; i++) {
        const rev_price *price = &plan->price[values[i]->id];
        if (!plan->wanted[values[i]->id] || ir_is_const(values[i]) || price->save == 0)
            continue;
        sb_add(p->text, "    value ");
        print_name(p->text, values[i]->name, values[i]->loc);
        if (plan->is_saved[values[i]->id])
            sb_printf(p->text, ": save, %d bytes\n", price->bytes);
        else
            sb_printf(p->text, ": compute again, cost %d\n", price->again);
    }
}

static void print_write(const printer *p, const ir_op *op)
{
    const rev *rv = p->rv;
    if (!rev_is_write(op) || !rev_writes_again(rv, op))
        return;
    sb_add(p->text, "    write ");
    print_name(p->text, ir_field_of(op)->name, op->loc);
    sb_printf(p->text, ": again%s\n", rev_undoes(rv, op) ? ", taken back" : "");
}

static void print_op(ir_op *op, void *ctx)
{
    const printer *p = ctx;
    const rev *rv = p->rv;
    if (op->code == OP_LOOP)
        print_loop(p, op);
    for (size_t i = 0; op->code == OP_TASK && rv->memory && i < rv->module->fields.len; i++)
        if (rv->memory->snap[(size_t)op->pos * rv->module->fields.len + i]) {
            print_name(p->text, "    task", op->loc);
            sb_printf(p->text, ": keeps %s\n", rv->module->fields.at[i]->name);
        }
    print_write(p, op);
    for (int k = 0; k < op->nregions; k++)
        print_values(p, op->regions[k]->nparams, op->regions[k]->params);
    print_values(p, op->nres, op->res);
}

void rev_print_plan(strbuf *text, const rev *rv)
{
    const ir_func *f = rv->primal;
    sb_printf(text, "adjoint of %s\n", f->name);
    for (int i = 0; i < f->launch.nparts; i++)
        sb_printf(text, "    field %s: %s\n", f->launch.parts[i].field->name,
                  f->launch.parts[i].what & IR_PART_BEFORE_REPLAYED ? "as before the launch, and replayed"
                                                                    : "as before the launch");
    ir_walk(f->body, print_op, &(printer){text, rv});
}
