/* What stands behind an operation's name, both directions. */
#include "ir/text/text.h"

#include <inttypes.h>
#include <string.h>

#include "ir/ops.h"

static const char *const acc_words[] = {[IR_ACC_UNSET] = "", [IR_ACC_PLAIN] = " plain", [IR_ACC_SCATTER] = " scatter"};
static const char *const reduce_words[] = {[IR_RED_ADD] = " add(",
                                           [IR_RED_MIN] = " min(",
                                           [IR_RED_MAX] = " max(",
                                           [IR_RED_LAST_MIN] = " last_min(",
                                           [IR_RED_LAST_MAX] = " last_max("};
static const char *const assert_words[] = {
    [IR_ASSERT_USER] = "",      [IR_ASSERT_BUILT_IN] = " built_in",     [IR_ASSERT_BOUNDS] = " bounds",
    [IR_ASSERT_RACE] = " race", [IR_ASSERT_DERIVATIVE] = " derivative", [IR_ASSERT_FINITE] = " finite",
};

enum { LEN_ACC = 3, LEN_REDUCE = 5, LEN_ASSERT = 6 };

ir_opcode text_code(const ir_text *t)
{
    for (int c = 0; c < OP_COUNT && t->kind == TEXT_WORD; c++) {
        const char *name = op_name((ir_opcode)c);
        if (name[0] == t->token[0] && !strncmp(name, t->token, t->token_len) && !name[t->token_len])
            return (ir_opcode)c;
    }
    return OP_COUNT;
}

static void constant(ir_text *t, ir_op *op)
{
    const scalar type = op->nres ? op->res[0]->type : SC_NONE;
    text_lit(t, " ");
    if (scalar_is_float(type)) {
        text_double(t, &ir_const_attr(op)->f);
    } else if (type == SC_BOOL) {
        int is = ir_const_attr(op)->i != 0;
        text_choice(t, (const char *const[]){"false", "true"}, 2, &is);
        if (!t->out)
            ir_const_attr(op)->i = is;
    } else if (type == SC_U64) {
        uint64_t x = (uint64_t)ir_const_attr(op)->i;
        text_u64(t, &x);
        if (!t->out)
            ir_const_attr(op)->i = (int64_t)x;
    } else {
        text_i64(t, &ir_const_attr(op)->i, INT64_MIN, INT64_MAX);
    }
}

static void atomic_code(ir_text *t, ir_op *op)
{
    text_lit(t, " ");
    if (t->out) {
        sb_add(t->out, op_name(ir_access_attr(op)->with));
        return;
    }
    ir_access_attr(op)->with = text_code(t);
    if (ir_access_attr(op)->with >= OP_PURE_COUNT)
        text_fault(t, "the operation of an atomic expected");
    text_next(t);
}

static void layout(ir_text *t, ir_op *op)
{
    text_lit(t, " ");
    void *of = ir_layout_of(op);
    text_refer(t, &t->layouts, "layout", &of);
    ir_set_layout(op, of);
}

static void field_op(ir_text *t, ir_op *op)
{
    if (op->code == OP_ATOMIC)
        atomic_code(t, op);
    text_lit(t, " ");
    ir_attr_access *a = ir_access_attr(op);
    text_plane(t, &a->field, &a->plane);
    int acc = a->acc;
    if (op->code == OP_ACCUM || op->code == OP_ATOMIC)
        text_choice(t, acc_words, LEN_ACC, &acc);
    if (!t->out)
        a->acc = (ir_acc)acc;
    text_lit(t, "[");
    const int ndim = t->out && a->field->ndim < op->nargs ? a->field->ndim : op->nargs;
    const int at = text_args(t, op, 0, ndim);
    text_lit(t, "]");
    if (text_opt(t, " comp ", at < op->nargs))
        text_args(t, op, at, op->nargs);
    if (text_opt(t, " into", a->layout != NULL))
        layout(t, op);
    text_flag(t, " needed", &a->needed);
    text_flag(t, " unproved", &a->unproved);
    text_flag(t, " discarded", &a->discarded);
    text_flag(t, " no_alias", &a->no_alias);
    text_flag(t, " stepped", &a->stepped);
    text_flag(t, " exact", &a->exact);
}

static void local_op(ir_text *t, ir_op *op)
{
    text_lit(t, " ");
    text_scalar(t, &ir_local_attr(op)->elem);
    text_lit(t, "[");
    if (t->out ? op->nargs > 0 : t->kind == TEXT_VALUE)
        text_args(t, op, 0, op->nargs);
    else
        text_i64(t, &ir_local_attr(op)->count, 0, INT64_MAX);
    text_lit(t, "]");
    text_flag(t, " set", &ir_local_attr(op)->set);
    text_flag(t, " cleared", &ir_local_attr(op)->cleared);
    text_flag(t, " stacked", &ir_local_attr(op)->stacked);
}

/* Bounds lo..hi from operand i on, if they are next. */
static bool bounds(ir_text *t, ir_op *op, int i, bool are)
{
    if (t->out ? !are : t->kind != TEXT_VALUE)
        return false;
    text_arg(t, op, i);
    text_lit(t, "..");
    text_arg(t, op, i + 1);
    return true;
}

static void no_line(ir_text *t, ir_attr_loop *a)
{
    const char *why = a->no_line ? ir_no_line_text(a->no_line) : NULL;
    text_opt_string(t, " no_line ", &why);
    if (t->out || !why)
        return;
    for (int k = IR_NO_LINE_NONE + 1; k < IR_NO_LINE_COUNT; k++)
        if (!strcmp(why, ir_no_line_text((ir_no_line)k)))
            a->no_line = (ir_no_line)k;
    if (!a->no_line)
        text_fault(t, "'%s' is no reason against a straight line", why);
}

static void loop_head(ir_text *t, ir_op *op)
{
    ir_attr_loop *a = ir_loop_attr(op);
    text_flag(t, " limit", &a->limit);
    text_flag(t, " down", &a->down);
    text_flag(t, " simd", &a->simd);
    text_flag(t, " short_trip", &a->short_trip);
    text_flag(t, " unrolled_by_4", &a->unrolled_by_4);
    text_flag(t, " parallel", &a->parallel);
    no_line(t, a);
    text_lit(t, " ");
    const bool bounded = bounds(t, op, 0, a->bounded && op->nargs >= 2);
    if (!t->out)
        a->bounded = bounded;
    const int at = bounded ? 2 : 0;
    if (text_opt(t, bounded ? " init " : "init ", at < op->nargs))
        text_args(t, op, at, op->nargs);
}

static int task_reduction(ir_text *t, ir_op *op, int i, int at)
{
    ir_attr_task *a = ir_task_attr(op);
    ir_reduction r = t->out ? a->reductions[i] : (ir_reduction){0};
    int kind = r.kind;
    text_choice(t, reduce_words, LEN_REDUCE, &kind);
    const int end = text_args(t, op, at, t->out ? at + 1 + r.companions : 0);
    text_lit(t, ")");
    if (t->out)
        return end;
    r = (ir_reduction){(ir_reduce)kind, end - at - 1};
    ir_reduction *more = ARENA_ARRAY(t->m->mem, ir_reduction, i + 1);
    if (i)
        memcpy(more, a->reductions, sizeof r * (size_t)i);
    more[i] = r;
    a->reductions = more;
    a->nreductions = i + 1;
    return end;
}

static int task_scatter(ir_text *t, ir_op *op, int i, int at)
{
    ir_attr_task *a = ir_task_attr(op);
    ir_scatter s = t->out ? a->scatters[i] : (ir_scatter){0};
    text_plane(t, &s.field, &s.plane);
    text_flag(t, " shared", &s.shared);
    text_flag(t, " called", &s.called);
    int end = at;
    if (text_opt(t, "[", s.nfixed > 0)) {
        end = text_args(t, op, at, at + s.nfixed);
        text_lit(t, "]");
    }
    text_lit(t, ")");
    if (t->out)
        return end;
    s.nfixed = end - at;
    ir_scatter *more = ARENA_ARRAY(t->m->mem, ir_scatter, i + 1);
    if (i)
        memcpy(more, a->scatters, sizeof s * (size_t)i);
    more[i] = s;
    a->scatters = more;
    a->nscatters = i + 1;
    return end;
}

static bool is_reduction(const ir_text *t)
{
    return text_is(t, "add") || text_is(t, "min") || text_is(t, "max") || text_is(t, "last_min") ||
           text_is(t, "last_max");
}

static void no_lanes(ir_text *t, ir_attr_task *a)
{
    const char *why = a->no_lanes ? ir_no_lanes_text(a->no_lanes) : NULL;
    text_opt_string(t, " no_lanes ", &why);
    if (t->out || !why)
        return;
    for (int k = IR_NO_LANES_NONE + 1; k < IR_NO_LANES_COUNT; k++)
        if (!strcmp(why, ir_no_lanes_text((ir_no_lanes)k)))
            a->no_lanes = (ir_no_lanes)k;
    if (!a->no_lanes)
        text_fault(t, "'%s' is no reason against lanes", why);
}

static void task_head(ir_text *t, ir_op *op)
{
    ir_attr_task *a = ir_task_attr(op);
    text_flag(t, " rows", &a->rows);
    text_flag(t, " overlap_next", &a->overlap_next);
    text_flag(t, " independent", &a->independent);
    text_flag(t, " ordered", &a->ordered);
    if (text_opt(t, " periodic_halo ", a->periodic_halo != 0))
        text_int(t, &a->periodic_halo, 0, INT32_MAX);
    if (text_opt(t, " unit ", a->unit_dims != 0))
        text_int(t, &a->unit_dims, 0, 8);
    if (text_opt(t, " lanes ", a->lanes != 0))
        text_int(t, &a->lanes, 0, 1024);
    no_lanes(t, a);
    text_lit(t, " ");
    int at = 0;
    do {
        if (bounds(t, op, at, at < 2 * a->ndim && at + 1 < op->nargs))
            at += 2;
    } while (text_opt(t, ", ", at < 2 * a->ndim && at + 1 < op->nargs));
    if (!t->out)
        a->ndim = at / 2;
    for (int i = 0; t->out ? i < a->nreductions : is_reduction(t); i++)
        at = task_reduction(t, op, i, at);
    for (int i = 0; text_opt(t, " scatter(", i < a->nscatters); i++)
        at = task_scatter(t, op, i, at);
}

static void number(ir_text *t, int64_t *n)
{
    text_lit(t, "[");
    text_i64(t, n, 0, INT32_MAX);
    text_lit(t, "]");
}

static void record_op(ir_text *t, ir_op *op)
{
    if (t->out ? ir_layout_of(op) != NULL : t->kind == TEXT_WORD)
        layout(t, op);
    if (op->code == OP_REC_ALLOC || op->code == OP_REC_GET)
        number(t, &ir_slot_attr(op)->number);
}

static void text_op(ir_text *t, ir_op *op)
{
    int whose = ir_text_attr(op)->whose;
    if (op->code == OP_ASSERT)
        text_choice(t, assert_words, LEN_ASSERT, &whose);
    if (!t->out)
        ir_text_attr(op)->whose = (ir_assert)whose;
    text_lit(t, " ");
    text_string(t, &ir_text_attr(op)->text);
}

static void slot_op(ir_text *t, ir_op *op)
{
    if (op_memory_of(op->code) == MEMORY_RECORD) {
        record_op(t, op);
        return;
    }
    layout(t, op);
    if (op->code != OP_STK_ALLOC)
        number(t, &ir_slot_attr(op)->number);
}

static void call_op(ir_text *t, ir_op *op)
{
    text_lit(t, " ");
    text_func(t, &ir_call_attr(op)->callee);
    text_lit(t, "(");
    text_args(t, op, 0, op->nargs);
    text_lit(t, ")");
}

static void mark_op(ir_text *t, ir_op *op)
{
    void *of = ir_mark_attr(op)->field;
    text_lit(t, " ");
    text_refer(t, &t->fields, "field", &of);
    ir_mark_attr(op)->field = of;
    if (op->code != OP_KEEP)
        return;
    text_lit(t, " ");
    text_string(t, &ir_mark_attr(op)->place);
}

void text_attributes(ir_text *t, ir_op *op)
{
    void *of;
    switch (ir_attr_kind_of(op->code)) {
    case IR_ATTR_CONST:
        constant(t, op);
        return;
    case IR_ATTR_MPARAM:
        text_lit(t, " ");
        of = ir_mparam_attr(op)->param;
        text_refer(t, &t->params, "param", &of);
        ir_mparam_attr(op)->param = of;
        return;
    case IR_ATTR_SHAPE:
        text_lit(t, " ");
        of = ir_shape_attr(op)->field;
        text_refer(t, &t->fields, "field", &of);
        ir_shape_attr(op)->field = of;
        text_lit(t, " ");
        text_i64(t, &ir_shape_attr(op)->dim, 0, 7);
        return;
    case IR_ATTR_ACCESS:
        field_op(t, op);
        return;
    case IR_ATTR_LOCAL:
        local_op(t, op);
        return;
    case IR_ATTR_LOOP:
        loop_head(t, op);
        return;
    case IR_ATTR_TASK:
        task_head(t, op);
        return;
    case IR_ATTR_CALL:
        call_op(t, op);
        return;
    case IR_ATTR_TEXT:
        text_op(t, op);
        break;
    case IR_ATTR_MARK:
        mark_op(t, op);
        break;
    case IR_ATTR_PLACE:
        number(t, &ir_place_attr(op)->number);
        break;
    case IR_ATTR_SLOT:
        slot_op(t, op);
        break;
    case IR_ATTR_ELEMENT:
        text_flag(t, " final", &ir_element_attr(op)->final);
        break;
    case IR_ATTR_NOTHING:
    case IR_ATTR_KINDS:
        break;
    }
    text_lit(t, op->nargs ? " " : "");
    text_args(t, op, 0, op->nargs);
}
