/* Writes a test of every differentiable row of the operation table: a module with one kernel a row, and a C table with the rows' domains.
 * usage: optable OUT.tk OUT.h
 */
#include <stdio.h>
#include <string.h>

#include "ir/ops.h"

/* How .tk reaches rows that have no name of their own. */
static const struct {
    ir_opcode op;
    const char *text;
} operators[] = {
    {OP_ADD, "a[i] + b[i]"},
    {OP_SUB, "a[i] - b[i]"},
    {OP_MUL, "a[i] * b[i]"},
    {OP_DIV, "a[i] / b[i]"},
    {OP_REM, "a[i] % b[i]"},
    {OP_NEG, "-a[i]"},
    {OP_POW, "a[i] ** b[i]"},
    {OP_POWI, "a[i] ** n[i]"},
    {OP_CAST, "f64(f32(a[i]))"},
};

/* Rows whose results or operands carry no derivative in any form, and rows that only derivatives (second derivatives of others check these) or the prelude reach. */
static bool has_test(ir_opcode code)
{
    const op_info *op = op_get(code);
    if (!*op->domain || op->user == OP_FOR_PRELUDE || op->result == RESULT_B)
        return false;
    return code == OP_CAST || code == OP_POWI || code == OP_SELECT || op_admits(code, 0, SC_F64);
}

static const char *text_of(ir_opcode code)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (operators[i].op == code)
            return operators[i].text;
    return NULL;
}

static void write_kernel(FILE *tk, ir_opcode code)
{
    static const char *const operands[] = {"a[i]", "b[i]", "c[i]"};
    const op_info *op = op_get(code);
    fprintf(tk, "kernel op_%s() derive(grad, jvp, hvp) {\n    for i in r { r[i] = ", op->name);
    if (text_of(code)) {
        fputs(text_of(code), tk);
    } else {
        fprintf(tk, "%s(", op->name);
        for (int k = 0; k < op->arity; k++)
            fprintf(tk, "%s%s", k ? ", " : "", code == OP_SELECT && k == 0 ? "a[i] > 0.5" : operands[k % 3]);
        fputs(")", tk);
    }
    fputs("; }\n}\n", tk);
}

int main(int argc, char **argv)
{
    FILE *tk = argc == 3 ? fopen(argv[1], "w") : NULL, *h = tk ? fopen(argv[2], "w") : NULL;
    if (!h) {
        fputs("usage: optable OUT.tk OUT.h\n", stderr);
        return 2;
    }
    fputs("// Written by tests/tools/optable.c from the operation table.\nlazy_grad; lazy_dual;\nconst N: i32 = 100;\n"
          "field a: real[N]; field b: real[N]; field c: real[N]; field r: real[N];\nfield n: i32[N];\n", tk);
    fputs("static const struct { const char *name, *domain; int arity; } rows[] = {\n", h);
    for (int i = 0; i < OP_PURE_COUNT; i++) {
        const ir_opcode code = (ir_opcode)i;
        const op_info *op = op_get(code);
        if (!has_test(code))
            continue;
        if (op->user == OP_WITHOUT_NAME && !text_of(code)) {
            fprintf(stderr, "optable: no way to reach '%s'\n", op->name);
            return 1;
        }
        write_kernel(tk, code);
        fprintf(h, "    {\"op_%s\", \"%s\", %d},\n", op->name, op->domain, op->arity);
    }
    fputs("};\n", h);
    return fclose(tk) || fclose(h);
}
