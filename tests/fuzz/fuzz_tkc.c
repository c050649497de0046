/* A target for libFuzzer: a module from its text to the text of the generated C, header and Python module. No files are read or written.
 * A digit in front of the text, which no module begins with, selects options; mutate.c changes it like the rest. */
#include <stdio.h>
#include <stdlib.h>

#include "check/base/typed.h"
#include "host/host.h"
#include "lower/lower.h"
#include "passes/pipeline.h"
#include "passes/schedule/schedule.h"
#include "python/python.h"
#include "syntax/ast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { REAL_F64 = 1, DEBUG = 2, NO_RUNTIME = 4 };

/* Items of other files are missing then: which files there are is none of the compiler's business here. */
static void drop_imports(ast_module *m)
{
    for (ast_item **i = &m->items; *i;)
        if ((*i)->kind == AST_ITEM_IMPORT)
            *i = (*i)->next;
        else
            i = &(*i)->next;
}

static void emit(const ir_module *ir, bool no_runtime)
{
    const emit_options opt = {.header_name = "fuzz.h", .c_name = "fuzz.c", .line_directives = ir->debug, .no_runtime = no_runtime};
    strbuf c = {0}, header = {0}, python = {0}, types = {0};
    emit_c(&c, ir, &opt);
    emit_header(&header, ir, &opt);
    emit_python(&python, &types, ir, &opt, "libfuzz.so", ~0u);
    emit_python_glue(&c, ir, &opt);
    sb_free(&c);
    sb_free(&header);
    sb_free(&python);
    sb_free(&types);
}

static void compile(arena *mem, intern_pool *names, diag_sink *d, ast_module *ast, int options)
{
    const scalar real = options & REAL_F64 ? SC_F64 : SC_F32;
    const check_options opt = {.real = real, .no_runtime = (options & NO_RUNTIME) != 0};
    const pipeline_options passes = {.verify = true};
    ir_module *ir = ir_module_create(mem, names, d, "fuzz");
    ir->source = "fuzz.tk";
    ir->real = real;
    ir->debug = (options & DEBUG) != 0;
    drop_imports(ast);
    tx_module *typed = check_module(mem, names, d, ast, ir, &opt);
    if (typed && diag_error_count(d) == 0) {
        lower_module(typed);
        if (pipeline_run(ir, &passes) && diag_error_count(d) == 0)
            emit(ir, opt.no_runtime);
    }
    ir_module_destroy(ir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int options = 0;
    if (size > 0 && data[0] >= '0' && data[0] <= '7') {
        options = data[0] - '0';
        data++;
        size--;
    }
    FILE *messages = fopen("/dev/null", "w");
    arena *mem = arena_create();
    intern_pool *names = intern_create();
    diag_sink *d = diag_create(messages, DIAG_FORMAT_TEXT);
    const char *text = arena_strndup(mem, (const char *)data, size);
    ast_module *ast = ast_parse(mem, names, d, diag_add_file(d, "fuzz.tk", text, size), text, size);
    if (diag_error_count(d) == 0)
        compile(mem, names, d, ast, options);
    diag_flush(d);
    diag_destroy(d);
    intern_destroy(names);
    arena_destroy(mem);
    fclose(messages);
    return 0;
}
