/* Operations and regions of the IR's text, both directions. */
#include "ir/text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ops.h"

/* ---- origins: data-access rules and tapes ask what a load or call of derived code stands for, and which value
 * is one that was stored ---- */

/* What a loop carries it is known by. */
static const ir_op *loop_that_carries(const ir_op *op)
{
    const ir_op *loop = op->region->parent, *yield = op->region->last;
    bool found = false;
    for (int k = 0; loop && loop->code == OP_LOOP && op->region == loop->regions[0] && k < yield->nargs; k++)
        found |= yield->args[k]->def == op;
    return found ? loop : NULL;
}

static bool has_origin(const ir_op *op)
{
    return op->code == OP_LOAD || ir_op_is_rereadable(op) || loop_that_carries(op);
}

static bool is_stored(const ir_op *op)
{
    for (const ir_op *s = op->next; s; s = s->next)
        if (s->code == OP_STORE && ir_stored_value(s)->def == op)
            return true;
    return false;
}

static const ir_op *root(const ir_op *op)
{
    const ir_op *o = ir_root_of(op);
    if (!o || o->code != op->code)
        return NULL;
    if (o->code == OP_LOAD || o->code == OP_CALL)
        return o;
    if (!o->region) /* long gone */
        return NULL;
    const ir_op *loop = loop_that_carries(o);
    return (ir_op_is_rereadable(o) && is_stored(o)) || (loop && is_stored(loop)) ? o : NULL;
}

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const text_target *)a)->op, y = (uintptr_t)((const text_target *)b)->op;
    return (x > y) - (x < y);
}

/* 0: none that stands in the module. */
static int64_t label_of(const ir_text *t, const ir_op *op)
{
    if (!op || !t->targets.len)
        return 0;
    const text_target *found = bsearch(&(text_target){.op = op}, t->targets.at, t->targets.len, sizeof *t->targets.at,
                                       by_address);
    return found ? found->label : 0;
}

static void write_origins(ir_text *t, const ir_op *op)
{
    bool any = false;
    for (const ir_op *at = op; at && has_origin(op); at = at->twin)
        any |= label_of(t, root(at)) != 0;
    for (const ir_op *at = op; at && any; at = at->twin)
        sb_printf(t->out, "%s#%" PRId64, at == op ? " from " : ", ", label_of(t, root(at)));
    const int64_t rest = op->code == OP_TASK ? label_of(t, ir_task_attr(op)->fused_with) : 0;
    if (rest)
        sb_printf(t->out, " fused_with #%" PRId64, rest);
}

static void read_label(ir_text *t, int kind, void *to)
{
    text_pending p = {.kind = kind, .slot = to, .at = t->place};
    if (t->kind != TEXT_LABEL)
        text_fault(t, "the number of an operation expected");
    p.number = text_id(t);
    text_next(t);
    if (p.number)
        vec_push(&t->pending, p);
}

static void read_origins(ir_text *t, ir_op *op)
{
    if (text_opt(t, "from", true)) {
        read_label(t, PENDING_ORIGIN, &op->origin);
        for (ir_op *last = op; text_opt(t, ",", true); last = last->twin) {
            last->twin = ARENA_NEW(t->m->mem, ir_op);
            *last->twin = (ir_op){.code = op->code, .region = op->region, .attr = ir_attr_new(t->m->mem, op->code)};
            ir_copy_attr(last->twin, op);
            read_label(t, PENDING_ORIGIN, &last->twin->origin);
        }
    }
    if (op->code == OP_TASK && text_opt(t, "fused_with", true))
        read_label(t, PENDING_REST, &ir_task_attr(op)->fused_with);
}

/* ---- operations ---- */

static void parallel_class(ir_text *t, ir_op *op)
{
    const ir_class class = ir_class_of(op);
    const char *text = class != IR_CLASS_NONE ? ir_class_text(class) : NULL;
    text_opt_string(t, " class ", &text);
    if (t->out || !text)
        return;
    int c = 1;
    while (c < IR_CLASS_COUNT && strcmp(text, ir_class_text((ir_class)c)) != 0)
        c++;
    const ir_attr_kind kind = ir_attr_kind_of(op->code);
    if (c == IR_CLASS_COUNT || (kind != IR_ATTR_ACCESS && kind != IR_ATTR_ELEMENT))
        text_fault(t, "'%s' is no class of this operation", text);
    else
        ir_set_class(op, (ir_class)c);
}

/* Of what has a class: to the passes before, it is the same operation. */
static void no_gather(ir_text *t, ir_op *op)
{
    const bool is = op->code == OP_ACCUM && ir_access_attr(op)->why && ir_class_of(op);
    const char *text = is ? ir_scatter_reason_text(ir_access_attr(op)->why) : NULL;
    text_opt_string(t, " why ", &text);
    if (t->out || !text)
        return;
    int w = 1;
    while (w < IR_SCATTER_COUNT && strcmp(text, ir_scatter_reason_text((ir_scatter_reason)w)) != 0)
        w++;
    if (w == IR_SCATTER_COUNT || op->code != OP_ACCUM)
        text_fault(t, "'%s' is no reason of this operation", text);
    else
        ir_access_attr(op)->why = (ir_scatter_reason)w;
}

static void tail(ir_text *t, ir_op *op)
{
    parallel_class(t, op);
    no_gather(t, op);
    if (t->out)
        write_origins(t, op);
    else
        read_origins(t, op);
    text_loc(t, &op->loc);
}

static void indent(ir_text *t, int depth)
{
    for (int i = 0; t->out && i < depth; i++)
        sb_add(t->out, "  ");
}

static void inner_region(ir_text *t, ir_op *op, int i, int depth)
{
    ir_region *r = op->regions[i];
    if (text_opt(t, "(", r->nparams > 0)) {
        text_params(t, r);
        text_lit(t, ") ");
    }
    text_lit(t, "{");
    if (i == 0)
        tail(t, op);
    text_lit(t, "\n");
    text_region(t, r, depth + 1);
    indent(t, depth);
    text_lit(t, "}");
}

static void write_op(ir_text *t, ir_op *op, int depth)
{
    indent(t, depth);
    const int64_t label = label_of(t, op);
    if (label)
        sb_printf(t->out, "#%" PRId64 " ", label);
    for (int i = 0; i < op->nres; i++) {
        sb_add(t->out, i ? ", " : "");
        text_write_def(t, op->res[i]);
    }
    sb_printf(t->out, "%s%s", op->nres ? " = " : "", op_name(op->code));
    text_attributes(t, op);
    for (int i = 0; i < op->nregions; i++) {
        sb_add(t->out, i == 0 ? " " : op->code == OP_IF ? " else " : " while ");
        inner_region(t, op, i, depth);
    }
    if (!op->nregions)
        tail(t, op);
    text_lit(t, "\n");
}

static void read_regions(ir_text *t, ir_op *op, int depth)
{
    const bool is_if = op->code == OP_IF;
    if (!is_if && op->code != OP_LOOP && op->code != OP_TASK) {
        tail(t, op);
        return;
    }
    op->regions = ARENA_ARRAY(t->m->mem, ir_region *, 2);
    do {
        ir_set_region(op, op->nregions++, ir_region_create(op->region->func));
        inner_region(t, op, op->nregions - 1, depth);
    } while (op->nregions < 2 && op->code != OP_TASK && text_opt(t, is_if ? "else" : "while", true));
    if (op->code == OP_LOOP)
        ir_loop_attr(op)->cond = op->nregions == 2;
    for (int i = 0; i < op->nregions; i++)
        for (int k = 0; k < op->regions[i]->nparams; k++)
            op->regions[i]->params[k]->loc = op->loc;
}

static void read_label_of(ir_text *t, int64_t *label)
{
    const text_place at = t->place;
    *label = text_id(t);
    if (*label < (int64_t)t->labelled.len && t->labelled.at[*label])
        text_fault_at(t, at, "#%" PRId64 " is there already", *label);
    text_next(t);
}

static void read_op(ir_text *t, ir_region *r, int depth)
{
    int64_t label = 0;
    VEC(text_defined) results = {0};
    if (t->kind == TEXT_LABEL)
        read_label_of(t, &label);
    if (t->kind == TEXT_VALUE) {
        do
            vec_push(&results, text_read_def(t));
        while (text_opt(t, ",", true));
        text_lit(t, "=");
    }
    const ir_opcode code = text_code(t);
    if (code == OP_COUNT)
        text_fault(t, "there is no operation '%.*s'", (int)(t->token_len < 40 ? t->token_len : 40), t->token);
    text_next(t);
    if (!t->failed) {
        ir_op *op = ir_insert(&(ir_builder){.func = r->func, .region = r}, code, 0, NULL, 0, NULL, 0);
        for (size_t i = 0; i < results.len; i++)
            text_define_value(t, ir_add_result(op, results.at[i].type), &results.at[i]);
        while (label && (int64_t)t->labelled.len <= label)
            vec_push(&t->labelled, NULL);
        if (label)
            t->labelled.at[label] = op;
        text_attributes(t, op);
        read_regions(t, op, depth);
        for (int i = 0; i < op->nres; i++)
            op->res[i]->loc = op->loc;
    }
    text_lit(t, "\n");
    vec_free(&results);
}

void text_region(ir_text *t, ir_region *r, int depth)
{
    for (ir_op *op = r->first; t->out && op; op = op->next)
        write_op(t, op, depth);
    if (t->out)
        return;
    if (++t->depth > TEXT_MAX_DEPTH)
        text_fault(t, "more than %d levels of regions", TEXT_MAX_DEPTH);
    while (!t->failed && t->kind != TEXT_END && !text_is(t, "}"))
        read_op(t, r, depth);
    if (!t->failed && !ir_yield_of(r))
        text_fault(t, "a region ends in yield");
    t->depth--;
}

/* ---- survey ---- */

static void add_layout(ir_text *t, ir_layout *l)
{
    for (size_t i = 0; i < t->layouts.len; i++)
        if (t->layouts.at[i].of == l)
            return;
    text_add(&t->layouts, arena_printf(t->m->mem, "saved%zu", t->layouts.len), l);
}

static void add_target(ir_text *t, const ir_op *op)
{
    if (op)
        vec_push(&t->targets, ((text_target){op, 0}));
}

static void survey_op(ir_op *op, void *ctx)
{
    ir_text *t = ctx;
    text_survey_file(t, op->loc);
    for (const ir_op *at = op; at && has_origin(op); at = at->twin)
        add_target(t, root(at));
    if (op->code == OP_TASK)
        add_target(t, ir_task_attr(op)->fused_with);
    if (ir_layout_of(op))
        add_layout(t, ir_layout_of(op));
}

typedef struct labelling {
    ir_text *t;
    int64_t n;
} labelling;

static void label_op(ir_op *op, void *ctx)
{
    labelling *l = ctx;
    text_target *found = bsearch(&(text_target){.op = op}, l->t->targets.at, l->t->targets.len,
                                 sizeof *l->t->targets.at, by_address);
    if (found)
        found->label = ++l->n;
}

void text_survey_file(ir_text *t, src_loc loc)
{
    while (loc.line && t->files.len <= loc.file)
        vec_push(&t->files, false);
    if (loc.line)
        t->files.at[loc.file] = true;
}

void text_survey(ir_text *t, ir_func *const *funcs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        text_survey_file(t, funcs[i]->loc);
        ir_walk(funcs[i]->body, survey_op, t);
    }
    if (!t->targets.len)
        return;
    qsort(t->targets.at, t->targets.len, sizeof *t->targets.at, by_address);
    size_t kept = 0;
    for (size_t i = 0; i < t->targets.len; i++)
        if (!kept || t->targets.at[kept - 1].op != t->targets.at[i].op)
            t->targets.at[kept++] = t->targets.at[i];
    t->targets.len = kept;
    labelling l = {t, 0};
    for (size_t i = 0; i < n; i++)
        ir_walk(funcs[i]->body, label_op, &l);
}

static void greatest(ir_op *op, void *ctx)
{
    uint32_t *next = ctx;
    for (int i = 0; i < op->nres; i++)
        *next = op->res[i]->id >= *next ? op->res[i]->id + 1 : *next;
    for (int r = 0; r < op->nregions; r++)
        for (int i = 0; i < op->regions[r]->nparams; i++)
            *next = op->regions[r]->params[i]->id >= *next ? op->regions[r]->params[i]->id + 1 : *next;
}

uint32_t text_ids(const ir_func *f)
{
    uint32_t next = 0;
    for (int i = 0; i < f->body->nparams; i++)
        next = f->body->params[i]->id >= next ? f->body->params[i]->id + 1 : next;
    ir_walk(f->body, greatest, &next);
    return next;
}
