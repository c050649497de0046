/* The IR as text, for --emit=ir, --dump-after and the verifier's messages. */
#include <inttypes.h>
#include <stdio.h>

#include "ir/ops.h"

static const char *const plane_suffix[] = {[IR_DATA] = "", [IR_GRAD] = ".grad", [IR_DUAL] = ".dual", [IR_GRAD_DUAL] = ".grad.dual"};
static const char *const acc_names[] = {[IR_ACC_UNSET] = "", [IR_ACC_PLAIN] = " plain", [IR_ACC_SCATTER] = " scatter"};
static const char *const reduce_names[] = {[IR_RED_ADD] = "add", [IR_RED_MIN] = "min", [IR_RED_MAX] = "max"};

static void print_region(FILE *out, const ir_region *r, int depth);

static void print_use(FILE *out, const ir_value *v)
{
    if (v)
        fprintf(out, "%%%" PRIu32, v->id);
    else
        fputs("%null", out);
}

static void print_def(FILE *out, const ir_value *v)
{
    fprintf(out, "%%%" PRIu32 ":%s%s", v->id, scalar_name(v->type), v->exact ? "!" : ""); /* exact */
    if (v->name)
        fprintf(out, " %s", v->name);
}

static void print_uses(FILE *out, ir_value *const *at, int n)
{
    for (int i = 0; i < n; i++) {
        if (i)
            fputs(", ", out);
        print_use(out, at[i]);
    }
}

static void print_defs(FILE *out, ir_value *const *at, int n)
{
    for (int i = 0; i < n; i++) {
        if (i)
            fputs(", ", out);
        print_def(out, at[i]);
    }
}

static void indent(FILE *out, int depth)
{
    for (int i = 0; i < depth; i++)
        fputs("  ", out);
}

static void print_place(FILE *out, src_loc loc)
{
    if (loc.line)
        fprintf(out, "   ; %" PRIu32 ":%u", loc.line, (unsigned)loc.col);
}

static void print_field_op(FILE *out, const ir_op *op)
{
    const ir_field *f = op->attr.field;
    if (op->code == OP_ATOMIC)
        fprintf(out, " %s", op_name((ir_opcode)op->attr.i));
    fprintf(out, " %s%s%s[", f->name, plane_suffix[op->attr.plane], op->code == OP_ACCUM || op->code == OP_ATOMIC ? acc_names[op->attr.acc] : "");
    int ndim = f->ndim < op->nargs ? f->ndim : op->nargs;
    print_uses(out, op->args, ndim);
    fputs("]", out);
    for (int i = ndim; i < op->nargs; i++) {
        fputs(i == ndim ? " comp " : ", ", out);
        print_use(out, op->args[i]);
    }
}

static void print_const(FILE *out, const ir_op *op)
{
    scalar t = op->nres ? op->res[0]->type : SC_NONE;
    if (scalar_is_float(t))
        fprintf(out, " %.17g", op->attr.f);
    else if (t == SC_BOOL)
        fputs(op->attr.i ? " true" : " false", out);
    else if (t == SC_U64)
        fprintf(out, " %" PRIu64, (uint64_t)op->attr.i);
    else
        fprintf(out, " %" PRId64, op->attr.i);
}

static void print_text(FILE *out, const char *s)
{
    fputs(" \"", out);
    for (; s && *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(out, "\\%c", *s);
        else if ((unsigned char)*s < ' ')
            fprintf(out, "\\x%02x", (unsigned)(unsigned char)*s);
        else
            fputc(*s, out);
    }
    fputc('"', out);
}

static void print_loop_head(FILE *out, const ir_op *op)
{
    const ir_attr *a = &op->attr;
    fprintf(out, "%s%s%s%s", a->limit ? " limit" : "", a->down ? " down" : "", a->simd ? " simd" : "", a->forall ? " forall" : "");
    int at = 0;
    if (a->bounded && op->nargs >= 2) {
        fputc(' ', out);
        print_use(out, op->args[0]);
        fputs("..", out);
        print_use(out, op->args[1]);
        at = 2;
    }
    if (op->nargs > at) {
        fputs(" init ", out);
        print_uses(out, op->args + at, op->nargs - at);
    }
}

static void print_task_head(FILE *out, const ir_op *op)
{
    const ir_attr *a = &op->attr;
    if (a->rows)
        fputs(" rows", out);
    if (a->ahead)
        fputs(" ahead", out);
    for (int i = 0; i < a->ndim && 2 * i + 1 < op->nargs; i++) {
        fputs(i ? ", " : " ", out);
        print_use(out, op->args[2 * i]);
        fputs("..", out);
        print_use(out, op->args[2 * i + 1]);
    }
    int at = 2 * a->ndim;
    for (int r = 0; r < a->nreductions; r++) {
        fprintf(out, " %s(", reduce_names[a->reductions[r].kind]);
        for (int end = at + 1 + a->reductions[r].companions; at < end && at < op->nargs; at++) {
            print_use(out, op->args[at]);
            if (at + 1 < end)
                fputs(", ", out);
        }
        fputc(')', out);
    }
    for (int i = 0; i < a->nscatters; i++) {
        fprintf(out, " scatter(%s%s", a->scatters[i].field->name, plane_suffix[a->scatters[i].plane]);
        for (int d = 0; d < a->scatters[i].nfixed && at < op->nargs; d++) {
            fputs(d ? ", " : "[", out);
            print_use(out, op->args[at++]);
        }
        fputs(a->scatters[i].nfixed ? "])" : ")", out);
    }
    if (a->label)
        fprintf(out, " [%s]", a->label);
}

static void print_operands(FILE *out, const ir_op *op)
{
    switch (op->code) {
    case OP_CONST:
        print_const(out, op);
        return;
    case OP_MPARAM:
        fprintf(out, " %s", op->attr.mparam->name);
        return;
    case OP_SHAPE:
        fprintf(out, " %s %" PRId64, op->attr.field->name, op->attr.i);
        return;
    case OP_LOAD:
    case OP_STORE:
    case OP_ACCUM:
    case OP_ATOMIC:
        print_field_op(out, op);
        return;
    case OP_LOCAL:
        fprintf(out, op->nargs ? " %s[" : " %s[%" PRId64, scalar_name(op->attr.elem), op->attr.i);
        print_uses(out, op->args, op->nargs);
        fputs(op->attr.stacked ? "] stacked" : "]", out);
        return;
    case OP_LOOP:
        print_loop_head(out, op);
        return;
    case OP_TASK:
        print_task_head(out, op);
        return;
    case OP_CALL:
    case OP_ADJOINT:
        fprintf(out, " %s(", op->attr.callee->name);
        print_uses(out, op->args, op->nargs);
        fputc(')', out);
        return;
    case OP_ASSERT:
    case OP_PRINT:
        print_text(out, op->attr.text);
        break;
    case OP_STK_ALLOC:
        fprintf(out, " layout%" PRIu32, op->attr.layout->id);
        break;
    case OP_STK_STORE:
    case OP_STK_LOAD:
        fprintf(out, " layout%" PRIu32 ".%" PRId64, op->attr.layout->id, op->attr.i);
        break;
    default:
        break;
    }
    if (op->nargs) {
        fputc(' ', out);
        print_uses(out, op->args, op->nargs);
    }
}

static void print_op(FILE *out, const ir_op *op, int depth)
{
    indent(out, depth);
    if (op->nres) {
        print_defs(out, op->res, op->nres);
        fputs(" = ", out);
    }
    fputs(op_name(op->code), out);
    print_operands(out, op);
    for (int i = 0; i < op->nregions; i++) {
        const ir_region *r = op->regions[i];
        fputs(i == 0 ? " " : op->code == OP_IF ? " else " : " while ", out);
        if (r->nparams) {
            fputc('(', out);
            print_defs(out, r->params, r->nparams);
            fputs(") ", out);
        }
        fputc('{', out);
        if (i == 0)
            print_place(out, op->loc);
        fputc('\n', out);
        print_region(out, r, depth + 1);
        indent(out, depth);
        fputc('}', out);
    }
    if (!op->nregions)
        print_place(out, op->loc);
    fputc('\n', out);
}

static void print_region(FILE *out, const ir_region *r, int depth)
{
    for (const ir_op *op = r->first; op; op = op->next)
        print_op(out, op, depth);
}

void ir_print_func(FILE *out, const ir_func *f)
{
    static const char *const kinds[] = {[IR_FUNC] = "func", [IR_KERNEL] = "kernel", [IR_KERNEL_GRAD] = "kernel_grad",
                                        [IR_KERNEL_JVP] = "kernel_jvp", [IR_KERNEL_HVP] = "kernel_hvp"};
    fprintf(out, "%s%s %s(", f->pure ? "pure " : "", kinds[f->kind], f->name);
    print_defs(out, f->body->params, f->body->nparams);
    fputs(")", out);
    for (int i = 0; i < f->nresults; i++)
        fprintf(out, "%s%s", i ? ", " : " -> ", scalar_name(f->results[i]));
    if (f->external)
        fputs(" extern", out);
    else if (f->no_inline)
        fputs(" no_inline", out);
    fputs(" {", out);
    print_place(out, f->loc);
    fputc('\n', out);
    print_region(out, f->body, 1);
    fputs("}\n", out);
}

void ir_print_module(FILE *out, const ir_module *m)
{
    for (size_t i = 0; i < m->params.len; i++)
        fprintf(out, "param %s: %s\n", m->params.at[i]->name, scalar_name(m->params.at[i]->type));
    for (size_t i = 0; i < m->fields.len; i++) {
        const ir_field *f = m->fields.at[i];
        fprintf(out, "%s %s: %s", f->array ? "array" : "field", f->name, scalar_name(f->elem));
        if (f->shape == IR_SHAPE_VEC)
            fprintf(out, " x %d", f->rows);
        else if (f->shape == IR_SHAPE_MAT)
            fprintf(out, " x %d x %d", f->rows, f->cols);
        fprintf(out, ", %d-D%s%s%s%s%s\n", f->ndim, f->soa ? ", soa" : "", f->grad ? ", grad" : "", f->dual ? ", dual" : "", f->saved ? ", saved" : "",
                f->strided ? ", strided" : "");
    }
    bool seen = false;
    for (size_t i = 0; i < m->funcs.len; i++) {
        fputc('\n', out);
        ir_print_func(out, m->funcs.at[i]);
        seen = seen || m->funcs.at[i] == m->extents;
    }
    if (m->extents && !seen) {
        fputc('\n', out);
        ir_print_func(out, m->extents);
    }
}
