/* The statements of each kernel as the program has them. */
#include "explain/words.h"
#include "ir/ops.h"

static void add(func_notes *n, note_kind kind, const ir_op *op, const char *name)
{
    for (size_t i = 0; i < n->at.len; i++) { /* an early return is several branches of one line */
        const note *o = &n->at.at[i];
        if (o->kind == kind && o->loc.line == op->loc.line && o->loc.file == op->loc.file && o->name == name)
            return;
    }
    const note x = {kind, op->loc, name};
    vec_push(&n->at, x);
}

static void note_call(func_notes *n, const ir_op *op)
{
    const ir_func *f = ir_callee_of(op);
    if (f->external)
        add(n, NOTE_HOST, op, f->name);
    else if (f->kind == IR_KERNEL)
        add(n, NOTE_KERNEL, op, f->name);
    else if (!f->prelude)
        add(n, NOTE_CALL, op, f->name);
}

static void note_op(ir_op *op, void *ctx)
{
    func_notes *n = ctx;
    switch (op->code) {
    case OP_IF:
        add(n, NOTE_BRANCH, op, NULL);
        break;
    case OP_LOOP:
        add(n, ir_loop_attr(op)->cond ? NOTE_WHILE : ir_task_of(op) ? NOTE_INNER : NOTE_LOOP, op, NULL);
        break;
    case OP_TASK:
        add(n, NOTE_PARALLEL, op, NULL);
        break;
    case OP_STOP:
        add(n, NOTE_STOP, op, NULL);
        break;
    case OP_ASSERT:
        if (ir_text_attr(op)->whose == IR_ASSERT_USER)
            add(n, NOTE_ASSERT, op, NULL);
        break;
    case OP_PRINT:
        add(n, NOTE_PRINT, op, NULL);
        break;
    case OP_ATOMIC:
        add(n, NOTE_ATOMIC, op, NULL);
        break;
    case OP_RANDOM:
    case OP_RANDN:
        add(n, NOTE_RANDOM, op, NULL);
        break;
    case OP_CALL:
        note_call(n, op);
        break;
    case OP_ADJOINT:
        add(n, NOTE_ADJOINT, op, ir_callee_of(op)->name);
        break;
    default:
        break;
    }
}

const notes *notes_take(const ir_module *m)
{
    notes *all = arena_alloc(m->mem, sizeof *all);
    for (size_t i = 0; i < m->funcs.len; i++) {
        const ir_func *f = m->funcs.at[i];
        if (f->kind == IR_FUNC) {
            const note source = {NOTE_CALL, f->loc, f->name};
            if (!f->prelude && !f->external)
                vec_push(&all->sources, source);
            continue;
        }
        func_notes n = {.name = f->name};
        ir_walk(f->body, note_op, &n);
        vec_push(&all->funcs, n);
    }
    return all;
}

void notes_free(const notes *n)
{
    if (!n)
        return;
    notes *all = (notes *)n;
    for (size_t i = 0; i < all->funcs.len; i++)
        vec_free(&all->funcs.at[i].at);
    vec_free(&all->funcs);
    vec_free(&all->sources);
}

const func_notes *notes_of(const words *w, const ir_func *f)
{
    while (f->ad.primal)
        f = f->ad.primal;
    for (size_t i = 0; i < w->noted->funcs.len; i++)
        if (w->noted->funcs.at[i].name == f->name)
            return &w->noted->funcs.at[i];
    return NULL;
}

bool has_note(const func_notes *n, note_kind kind)
{
    for (size_t i = 0; n && i < n->at.len; i++)
        if (n->at.at[i].kind == kind)
            return true;
    return false;
}

const char *lines_of(const words *w, const func_notes *n, note_kind kind)
{
    strbuf b = {0};
    int lines = 0;
    for (size_t i = 0; n && i < n->at.len; i++)
        if (n->at.at[i].kind == kind) {
            const size_t before = b.len;
            add_line(w, &b, n->at.at[i].loc);
            lines += b.len > before;
        }
    const char *text = arena_printf(w->m->mem, "%s %s", lines == 1 ? "line" : "lines", sb_str(&b));
    sb_free(&b);
    return text;
}
