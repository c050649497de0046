#include "driver/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/typed.h"
#include "driver/cc.h"
#include "files/cleanup.h"
#include "driver/explain.h"
#include "files/files.h"
#include "files/imports.h"
#include "files/name.h"
#include "driver/options.h"
#include "driver/runtime_text.h"
#include "explain/explain.h"
#include "host/host.h"
#include "ir/text/io.h"
#include "lower/lower.h"
#include "lsp/lsp.h"
#include "passes/pipeline.h"
#include "passes/schedule/schedule.h"
#include "python/python.h"
#include "syntax/ast.h"
#include "util/quote.h"

#ifdef NDEBUG
enum { VERIFY = false };
#else
enum { VERIFY = true };
#endif

/* Everything of one compilation. */
typedef struct run {
    options opt;
    arena *mem;
    intern_pool *names;
    diag_sink *diag;
    outputs out;
    strbuf source, c, header, python, types, text;
    uint16_t file;
    ast_module *ast;
    imports imports;
    ir_module *ir;
    tx_module *typed;
    const notes *notes;      /* --explain */
    const char *name;        /* of the module */
    const char *target;      /* main output, NULL when text goes to standard output */
    const char *library;     /* --python: path of the shared library */
    const char *header_path; /* NULL: none is written */
} run;

/* ---- the stages; each reports what is wrong and returns false ---- */

static bool read_source(run *r)
{
    if (!file_read(&r->source, r->opt.input, MAX_SOURCE, r->diag))
        return false;
    r->file = diag_add_file(r->diag, r->opt.input, sb_str(&r->source), r->source.len);
    return true;
}

/* Python would take NAME.so for the module itself, in front of NAME.py. */
static bool name_library(run *r)
{
    if (!path_is_regular(r->target))
        return diag(r->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_WRITE, r->target,
                    "no library can lie beside what is no file");
    const char *name = path_base(path_with_extension(r->mem, r->target, ".so"));
    r->library = arena_printf(r->mem, "%slib%s", path_dir(r->mem, r->target), name);
    return true;
}

/* Who is used to `cc -o main.o` means something else than C. */
static bool is_named_like_c(run *r)
{
    static const struct {
        const char *extension, *meant;
    } others[] = {{".o", "tkc -c makes an object"},
                  {".obj", "tkc -c makes an object"},
                  {".so", "tkc -shared makes a library"},
                  {".a", "tkc -c makes an object"},
                  {".py", "tkc --python makes a module of Python's"},
                  {".tk", "that is the name of a kernel file"}};
    const char *dot = strrchr(path_base(r->target), '.');
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (strcmp(dot, others[i].extension) == 0)
            return diag(r->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_KIND, r->target, others[i].meant);
    return true;
}

/* The name of a header has no escapes. */
static bool can_be_included(run *r, const char *header)
{
    const char *base = path_base(header);
    bool ok = !strpbrk(base, "\"\\") && !strstr(base, "??");
    for (; *base; base++)
        ok = ok && (unsigned char)*base >= ' ' && *base != 0x7f;
    return ok || diag(r->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_WRITE, header,
                      "no #include of C can have that name; give the header another one with --header");
}

static bool name_outputs(run *r)
{
    static const char *const extension[] = {
        [OUTPUT_C] = ".c", [OUTPUT_OBJECT] = ".o", [OUTPUT_SHARED] = ".so", [OUTPUT_PYTHON] = ".py"};
    const options *o = &r->opt;
    r->name = module_name(r->mem, r->diag, o->input, o->prefix);
    if (!r->name)
        return false;
    r->target = o->output;
    if (output_is_text(o->kind))
        return true;
    if (!r->target)
        r->target = arena_printf(r->mem, "%s%s", r->name, extension[o->kind]);
    if (o->kind == OUTPUT_PYTHON && !name_library(r))
        return false;
    if (o->kind == OUTPUT_C && !is_named_like_c(r))
        return false;
    if (o->header)
        r->header_path = o->header;
    else if (o->kind == OUTPUT_PYTHON || !path_is_regular(r->target))
        r->header_path = NULL; /* nobody includes it; -o /dev/null */
    else if (o->kind == OUTPUT_SHARED)
        r->header_path = arena_printf(r->mem, "%s%s.h", path_dir(r->mem, r->target), r->name);
    else
        r->header_path = path_with_extension(r->mem, r->target, ".h");
    return !r->header_path || can_be_included(r, r->header_path);
}

static bool parse(run *r)
{
    r->ast = ast_parse(r->mem, r->names, r->diag, r->file, sb_str(&r->source), r->source.len);
    return diag_error_count(r->diag) == 0;
}

static bool import(run *r)
{
    r->imports = (imports){.mem = r->mem,
                           .names = r->names,
                           .diag = r->diag,
                           .dirs = r->opt.include_dirs.at,
                           .ndirs = r->opt.include_dirs.len};
    return imports_join(&r->imports, r->ast, r->opt.input);
}

static bool check(run *r)
{
    r->ir = ir_module_create(r->mem, r->names, r->diag, r->name);
    r->ir->source = r->opt.input;
    r->ir->real = r->opt.real;
    r->ir->debug = r->opt.debug;
    r->ir->lanes = r->opt.lanes;
    r->ir->checkpoints = r->opt.checkpoints;
    r->ir->checkpoint_bytes = r->opt.checkpoint_bytes;
    const check_options opt = {.real = r->opt.real,
                               .defines = r->opt.defines.at,
                               .ndefines = (int)r->opt.defines.len,
                               .shadow = r->opt.shadow,
                               .no_runtime = r->opt.no_runtime,
                               .finite = r->opt.finite};
    r->typed = check_module(r->mem, r->names, r->diag, r->ast, r->ir, &opt);
    return r->typed && diag_error_count(r->diag) == 0;
}

static bool lower(run *r)
{
    lower_module(r->typed);
    if (r->opt.kind == OUTPUT_WORDS)
        r->notes = notes_take(r->ir);
    return diag_error_count(r->diag) == 0;
}

static bool transform(run *r)
{
    const pipeline_options opt = {.dump_after = r->opt.dump_after,
                                  .verify = VERIFY,
                                  .explain = r->opt.explain,
                                  .through_text = r->opt.through_text};
    if (r->opt.kind == OUTPUT_PLAN)
        r->ir->plans = &r->text;
    return pipeline_run(r->ir, &opt) && diag_error_count(r->diag) == 0;
}

static bool emit(run *r)
{
    const char *header = path_base(r->header_path ? r->header_path : arena_printf(r->mem, "%s.h", r->name));
    const char *c = r->target && r->opt.kind == OUTPUT_C ? r->target : arena_printf(r->mem, "%s.c", r->name);
    const emit_options opt = {.header_name = header,
                              .c_name = c,
                              .line_directives = r->opt.line_directives,
                              .no_runtime = r->opt.no_runtime,
                              .casadi = r->opt.casadi,
                              .embed = r->opt.embed};
    emit_c(&r->c, r->ir, &opt);
    emit_header(&r->header, r->ir, &opt);
    if (r->opt.kind == OUTPUT_PYTHON) {
        emit_python_glue(&r->c, r->ir, &opt);
        emit_python(&r->python, &r->types, r->ir, &opt, path_base(r->library), r->opt.frameworks);
    }
    return true;
}

/* --run-pass: the module comes from printed IR, whose files are those that it names. */
static bool run_passes(run *r)
{
    enum { MAX_IR = 1 << 30 };
    if (!file_read(&r->source, r->opt.input, MAX_IR, r->diag))
        return false;
    r->name = module_name(r->mem, r->diag, r->opt.input, r->opt.prefix);
    if (!r->name)
        return false;
    r->target = r->opt.output;
    r->ir = ir_module_create(r->mem, r->names, r->diag, r->name);
    bool ok = ir_read_module(r->ir, r->opt.input, sb_str(&r->source), r->source.len, stderr);
    for (size_t i = 0; i < r->opt.run_passes.len && ok; i++)
        ok = pipeline_run_pass(r->ir, r->opt.run_passes.at[i]) && diag_error_count(r->diag) == 0;
    return ok;
}

/* ---- results ---- */

/* --emit: collects in memory, so that nothing is printed of a run that fails. */
static bool print_text(run *r)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        abort();
    if (r->opt.kind == OUTPUT_TOKENS)
        ast_dump_tokens(f, r->names, r->diag, r->file, sb_str(&r->source), r->source.len);
    else if (r->opt.kind == OUTPUT_AST)
        ast_dump(f, r->ast);
    else if (r->opt.kind == OUTPUT_IR || r->opt.kind == OUTPUT_PASSES)
        ir_print_module(f, r->ir);
    else
        fputs(sb_str(&r->c), f);
    fclose(f);
    sb_addn(&r->text, text, len);
    free(text);
    return diag_error_count(r->diag) == 0;
}

static void spare_inputs(run *r)
{
    outputs_spare(&r->out, r->opt.input);
    for (size_t i = 0; i < r->imports.files.len; i++)
        outputs_spare(&r->out, r->imports.files.at[i]->path);
}

static bool write_text(run *r)
{
    if (r->target) {
        spare_inputs(r);
        return outputs_add_text(&r->out, r->target, &r->text) && outputs_commit(&r->out);
    }
    return stdout_write(&r->text, r->diag);
}

static bool add_dependency(run *r, strbuf *b, const char *depfile, const char *name, bool target)
{
    const char *bad = quote_make(b, name, target);
    return !bad ||
           diag(r->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_WRITE, depfile,
                arena_printf(r->mem, "no rule of make can name '%s': it has %s", quote_base(r->mem, name), bad));
}

static bool add_depfile(run *r)
{
    if (!r->opt.write_deps)
        return true;
    const char *path = r->opt.depfile ? r->opt.depfile : path_with_extension(r->mem, r->target, ".d");
    strbuf b = {0};
    bool ok = add_dependency(r, &b, path, r->target, true);
    sb_add(&b, ":");
    for (size_t i = 0; i < r->imports.files.len && ok; i++) {
        sb_addc(&b, ' ');
        ok = add_dependency(r, &b, path, r->imports.files.at[i]->path, false);
    }
    sb_addc(&b, '\n');
    /* Rules without commands: a file that is gone is no reason to stop. The space is for CMake before 3.25, which reads
     * the files of a rule up to it. */
    for (size_t i = 1; i < r->imports.files.len; i++)
        if (!quote_make(&b, r->imports.files.at[i]->path, true))
            sb_add(&b, ": \n");
    ok = ok && outputs_add_text(&r->out, path, &b);
    sb_free(&b);
    return ok;
}

/* Writes both sources to a directory of their own, where the C compiler finds the header by its name. */
static bool compile_in(run *r, const char *dir, const char *object)
{
    outputs sources = {.mem = r->mem, .diag = r->diag};
    const char *c = arena_printf(r->mem, "%s/%s.c", dir, r->name);
    const char *h = arena_printf(r->mem, "%s/%s", dir,
                                 path_base(r->header_path ? r->header_path : arena_printf(r->mem, "%s.h", r->name)));
    cleanup_name(c);
    cleanup_name(h);
    const bool ok = outputs_add_text(&sources, c, &r->c) && outputs_add_text(&sources, h, &r->header) &&
                    outputs_commit(&sources) && cc_compile(r->mem, r->diag, &r->opt, c, object);
    outputs_discard(&sources);
    const char *const both[] = {c, h};
    for (int i = 0; i < 2; i++) {
        unlink(both[i]);
        cleanup_forget(both[i]);
    }
    return ok;
}

static bool compile_object(run *r, const char *object)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = arena_printf(r->mem, "%s/tkc.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (cleanup_folder(dir) < 0)
        return diag(r->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_WRITE, dir, strerror(errno));
    const bool ok = compile_in(r, dir, object);
    rmdir(dir);
    cleanup_forget(dir);
    return ok;
}

/* Several modules of a program write the same: a file that is there already stays as it is, so that nothing is compiled
 * for it again. */
static bool add_runtime_file(run *r, const char *beside, const char *name, const char *text)
{
    const char *path = arena_printf(r->mem, "%s%s", path_dir(r->mem, beside), name);
    if (!strcmp(path, beside))
        return diag(r->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_WRITE, path,
                    "a module and its libtkc are the same file");
    strbuf old = {0}, new = {0};
    sb_add(&new, text);
    const bool same = access(path, R_OK) == 0 && path_is_regular(path) && file_read(&old, path, new.len, r->diag) &&
                      old.len == new.len && !memcmp(sb_str(&old), text, new.len);
    const bool ok = same || outputs_add_generated(&r->out, path, &new);
    sb_free(&old);
    sb_free(&new);
    return ok;
}

static bool add_runtime(run *r)
{
    return !r->opt.embed || !r->header_path ||
           (add_runtime_file(r, r->target, "tkc_runtime.c", runtime_source) &&
            add_runtime_file(r, r->header_path, "tkc_runtime.h", runtime_header));
}

/* What cannot be written is found before the C compiler runs. */
static bool write_module(run *r)
{
    spare_inputs(r);
    const output_kind kind = r->opt.kind;
    const char *object = kind == OUTPUT_C ? NULL : outputs_add(&r->out, r->library ? r->library : r->target);
    return (object || (kind == OUTPUT_C && outputs_add_generated(&r->out, r->target, &r->c))) &&
           (kind != OUTPUT_PYTHON ||
            (outputs_add_generated(&r->out, r->target, &r->python) &&
             outputs_add_generated(&r->out, path_with_extension(r->mem, r->target, ".pyi"), &r->types))) &&
           (!r->header_path || outputs_add_generated(&r->out, r->header_path, &r->header)) && add_runtime(r) &&
           add_depfile(r) && (!object || compile_object(r, object)) && outputs_commit(&r->out);
}

/* --format. The source may be written over: by itself, in order. */
static bool format(run *r)
{
    if (!parse(r))
        return false;
    if (!ast_format(&r->text, r->names, r->diag, r->file, sb_str(&r->source), r->source.len))
        abort();
    r->target = r->opt.output;
    if (!r->opt.in_place)
        return write_text(r);
    if (!path_is_regular(r->opt.input)) /* what is written to a pipe that was read is lost */
        return diag(r->diag, span_at((src_loc){0, 0, 0}), DIAG_FILE_WRITE, r->opt.input, "it is not a regular file");
    const bool same = r->text.len == r->source.len && !memcmp(sb_str(&r->text), sb_str(&r->source), r->text.len);
    return same || (outputs_add_text(&r->out, r->opt.input, &r->text) && outputs_commit(&r->out));
}

/* ---- the pipeline ---- */

#ifdef TKC_HAVE_LSP
static int serve(const options *o)
{
    const lsp_options opt = {.include_dirs = o->include_dirs.at,
                             .defines = o->defines.at,
                             .ninclude_dirs = o->include_dirs.len,
                             .ndefines = o->defines.len,
                             .real = o->real,
                             .lanes = o->lanes,
                             .checkpoints = o->checkpoints,
                             .checkpoint_bytes = o->checkpoint_bytes,
                             .debug = o->debug,
                             .no_runtime = o->no_runtime,
                             .finite = o->finite,
                             .werror = o->werror,
                             .shadow = o->shadow,
                             .verify = VERIFY,
                             .version = TKC_VERSION,
                             .page_of = explain_page};
    return lsp_serve(&opt);
}
#endif

static bool stages(run *r)
{
    const output_kind kind = r->opt.kind;
    if (kind == OUTPUT_PASSES)
        return run_passes(r) && print_text(r) && write_text(r);
    if (!read_source(r))
        return false;
    if (kind == OUTPUT_FORMAT)
        return format(r);
    if (!name_outputs(r))
        return false;
    if (kind == OUTPUT_TOKENS)
        return print_text(r) && write_text(r);
    if (!parse(r))
        return false;
    if (kind == OUTPUT_AST)
        return print_text(r) && write_text(r);
    if (!import(r) || !check(r) || !lower(r) || !transform(r))
        return false;
    if (kind == OUTPUT_EXPLAIN)
        return stdout_write(&r->text, r->diag);
    if (kind == OUTPUT_WORDS) {
        explain_module(&r->text, r->ir, r->notes);
        return diag_error_count(r->diag) == 0 && write_text(r);
    }
    if (kind == OUTPUT_PLAN)
        return write_text(r);
    if (kind == OUTPUT_IR)
        return print_text(r) && write_text(r);
    if (!emit(r))
        return false;
    if (kind == OUTPUT_C_TEXT)
        return print_text(r) && write_text(r);
    /* Warnings that count as errors must stop the run before files change. */
    return diag_error_count(r->diag) == 0 && write_module(r);
}

int tkc_main(int argc, const char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "explain"))
        return explain_main(argc - 2, argv + 2);
    run r = {0};
    int status = options_parse(&r.opt, argc, argv);
    if (status == TKC_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        fprintf(stderr, "tkc: error: cannot write standard output: %s\n", strerror(errno));
        status = TKC_ERRORS;
    }
#ifdef TKC_HAVE_LSP
    if (status < 0 && r.opt.kind == OUTPUT_SERVER)
        status = serve(&r.opt);
#endif
    if (status < 0) {
        cleanup_begin();
        r.mem = arena_create();
        r.names = intern_create();
        r.diag = diag_create(stderr, r.opt.diagnostics);
        diag_set_werror(r.diag, r.opt.werror);
        r.out = (outputs){.mem = r.mem, .diag = r.diag};
        status = stages(&r) ? TKC_OK : TKC_ERRORS;
        outputs_discard(&r.out);
        diag_flush(r.diag);
        notes_free(r.notes);
        diag_destroy(r.diag);
        if (r.ir)
            ir_module_destroy(r.ir);
        imports_free(&r.imports);
        intern_destroy(r.names);
        arena_destroy(r.mem);
        sb_free(&r.source);
        sb_free(&r.c);
        sb_free(&r.header);
        sb_free(&r.python);
        sb_free(&r.types);
        sb_free(&r.text);
    }
    options_free(&r.opt);
    return status;
}
