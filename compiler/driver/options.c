#include "driver/options.h"

#include <ctype.h>
#include <errno.h>
#include <popt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "passes/pipeline.h"
#include "passes/schedule/schedule.h"
#include "python/python.h"
#include "syntax/spelling.h"

enum {
    OPT_C = 1,
    OPT_SHARED,
    OPT_PYTHON,
    OPT_PYTHON_WITH,
    OPT_INCLUDE,
    OPT_DEFINE,
    OPT_REAL,
    OPT_EMIT,
    OPT_EXPLAIN,
    OPT_FORMAT,
    OPT_LSP,
    OPT_RUN_PASS,
    OPT_LANES,
    OPT_CHECKPOINTS,
    OPT_LIST_PASSES,
    OPT_DIAGNOSTICS,
    OPT_RUNTIME,
    OPT_WARNING,
    OPT_VERSION,
    OPT_HELP
};

__attribute__((format(printf, 1, 2))) static int usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("tkc: error: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputs("\n'tkc --help' lists the options\n", stderr);
    va_end(ap);
    return TKC_USAGE;
}

static int set_kind(options *o, output_kind kind, const char *option)
{
    if (o->kind != OUTPUT_C && o->kind != kind)
        return usage("'%s' and another choice of output exclude each other", option);
    o->kind = kind;
    return -1;
}

static int set_emit(options *o, const char *what)
{
    static const struct {
        const char *name;
        output_kind kind;
    } kinds[] = {
        {"tokens", OUTPUT_TOKENS}, {"ast", OUTPUT_AST}, {"plan", OUTPUT_PLAN}, {"ir", OUTPUT_IR}, {"c", OUTPUT_C_TEXT}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(what, kinds[i].name))
            return set_kind(o, kinds[i].kind, "--emit");
    return usage("--emit=%s: must be tokens, ast, plan, ir or c", what);
}

static int set_real(options *o, const char *name)
{
    if (strcmp(name, "f32") && strcmp(name, "f64"))
        return usage("--real=%s: must be f32 or f64", name);
    o->real = !strcmp(name, "f64") ? SC_F64 : SC_F32;
    return -1;
}

/* "torch,jax" */
static int set_frameworks(options *o, const char *list)
{
    static const struct {
        const char *name;
        unsigned bit;
    } known[] = {{"torch", PYTHON_TORCH}, {"jax", PYTHON_JAX}};
    for (const char *at = list;; at++) {
        const size_t n = strcspn(at, ",");
        unsigned bit = 0;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (strlen(known[i].name) == n && !strncmp(at, known[i].name, n))
                bit = known[i].bit;
        if (!bit)
            return usage("--python=%s: must be torch, jax or torch,jax", list);
        o->frameworks |= bit;
        at += n;
        if (!*at)
            return set_kind(o, OUTPUT_PYTHON, "--python");
    }
}

/* --NAME=WHEN */
static int set_where(ir_where *where, const char *name, const char *when)
{
    static const char *const names[] = {
        [IR_WHERE_IT_PAYS] = "auto", [IR_WHEREVER_POSSIBLE] = "all", [IR_NOWHERE] = "none"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(when, names[i])) {
            *where = (ir_where)i;
            return -1;
        }
    return usage("--%s=%s: must be auto, all or none", name, when);
}

/* --checkpoints=WHEN, or the bytes of all states of a loop: 65536, 64k, 16M, 2G. */
static int set_checkpoints(options *o, const char *when)
{
    o->checkpoint_bytes = 0;
    if (!isdigit((unsigned char)*when))
        return set_where(&o->checkpoints, "checkpoints", when);
    static const char units[] = "kMG";
    char *end;
    errno = 0;
    const long long n = strtoll(when, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || (*end && (!unit || end[1])) || n < 1 || n > (INT64_MAX >> 20 >> shift))
        return usage("--checkpoints=%s: a number of bytes from 1 up, with k, M or G behind it for 2^10, 2^20, 2^30",
                     when);
    o->checkpoint_bytes = n << shift;
    return -1;
}

static int set_runtime(options *o, const char *where)
{
    if (strcmp(where, "library") && strcmp(where, "embed"))
        return usage("--runtime=%s: must be library or embed", where);
    o->embed = !strcmp(where, "embed");
    return -1;
}

static int set_diagnostics(options *o, const char *name)
{
    if (strcmp(name, "text") && strcmp(name, "json"))
        return usage("--diagnostics=%s: must be text or json", name);
    o->diagnostics = !strcmp(name, "json") ? DIAG_FORMAT_JSON : DIAG_FORMAT_TEXT;
    return -1;
}

static int add_define(options *o, const char *text)
{
    const char *eq = strchr(text, '=');
    if (!eq || eq == text)
        return usage("-D %s: must be NAME=VALUE", text);
    vec_push(&o->defines, text);
    return -1;
}

static int add_pass(options *o, const char *name)
{
    if (!pipeline_has(name)) {
        fprintf(stderr, "tkc: error: --run-pass=%s: no such pass; there are\n", name);
        pipeline_list(stderr);
        return TKC_USAGE;
    }
    vec_push(&o->run_passes, name);
    return o->kind == OUTPUT_PASSES ? -1 : set_kind(o, OUTPUT_PASSES, "--run-pass");
}

/* The text pipeline_list prints. */
static char *pass_list(void)
{
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f)
        abort();
    pipeline_list(f);
    fclose(f);
    return text;
}

/* Each line of the list starts with a pass's name. */
static bool is_pass(const char *name)
{
    char *list = pass_list();
    const size_t n = strlen(name);
    bool found = false;
    for (char *line = strtok(list, "\n"); line && !found; line = strtok(NULL, "\n")) {
        line += strspn(line, " ");
        found = n == strcspn(line, " \t:") && !strncmp(line, name, n);
    }
    free(list);
    return found;
}

/* Acts on one option. arg is owned by o->parser's strings, or lives as long. */
static int apply(options *o, int opt, const char *arg, poptContext con)
{
    switch (opt) {
    case OPT_C:
        return set_kind(o, OUTPUT_OBJECT, "-c");
    case OPT_SHARED:
        return set_kind(o, OUTPUT_SHARED, "-shared");
    case OPT_PYTHON:
        return set_kind(o, OUTPUT_PYTHON, "--python");
    case OPT_PYTHON_WITH:
        return set_frameworks(o, arg);
    case OPT_INCLUDE:
        vec_push(&o->include_dirs, arg);
        return -1;
    case OPT_DEFINE:
        return add_define(o, arg);
    case OPT_REAL:
        return set_real(o, arg);
    case OPT_EMIT:
        return set_emit(o, arg);
    case OPT_EXPLAIN:
        return set_kind(o, OUTPUT_WORDS, "--explain");
    case OPT_FORMAT:
        return set_kind(o, OUTPUT_FORMAT, "--format");
    case OPT_LSP:
        return set_kind(o, OUTPUT_SERVER, "--lsp");
    case OPT_RUN_PASS:
        return add_pass(o, arg);
    case OPT_LANES:
        return set_where(&o->lanes, "lanes", arg);
    case OPT_CHECKPOINTS:
        return set_checkpoints(o, arg);
    case OPT_DIAGNOSTICS:
        return set_diagnostics(o, arg);
    case OPT_RUNTIME:
        return set_runtime(o, arg);
    case OPT_WARNING:
        return usage("-W%s: no such warning option", arg);
    case OPT_LIST_PASSES:
        pipeline_list(stdout);
        return TKC_OK;
    case OPT_VERSION:
        puts("tkc " TKC_VERSION);
        return TKC_OK;
    default:
        poptPrintHelp(con, stdout, 0);
        return TKC_OK;
    }
}

/* --lsp takes what says how modules are compiled, and nothing that says what becomes of one. */
static int check_server(const options *o, bool explain)
{
    if (o->input)
        return usage("--lsp gets its files from the editor: '%s'", o->input);
    if (o->output || o->header || o->prefix || o->depfile || o->cc || o->dump_after || o->write_deps || o->embed ||
        o->in_place || explain || o->diagnostics != DIAG_FORMAT_TEXT)
        return usage(
            "--lsp goes with -I, -D, --real, --debug, --finite, --no-runtime, --lanes, --checkpoints, -Werror and "
            "-Wshadow alone");
#ifndef TKC_HAVE_LSP
    return usage("--lsp: this tkc was built without jansson (Debian: libjansson-dev)");
#else
    return -1;
#endif
}

/* Everything that one option alone cannot tell. */
static int check_together(const options *o, bool explain)
{
    if (o->kind == OUTPUT_SERVER)
        return check_server(o, explain);
    if (!o->input)
        return usage("no input file");
    if (o->depfile && !o->write_deps)
        return usage("-MF has no effect without -MD");
    if (output_is_text(o->kind) && o->write_deps)
        return usage("-MD: no file is written that could have dependencies");
    if (o->embed && o->kind != OUTPUT_C)
        return usage("--runtime=embed: this choice of output writes no C");
    if (o->embed && o->no_runtime)
        return usage("--runtime=embed and --no-runtime exclude each other");
    if (o->casadi && output_is_text(o->kind) && o->kind != OUTPUT_C_TEXT)
        return usage("--casadi: this choice of output writes no C");
    if (output_is_text(o->kind) && o->header)
        return usage("--header: this choice of output has no header");
    if (explain && o->kind != OUTPUT_EXPLAIN && output_is_text(o->kind))
        return usage("--explain-adjoint and another choice of output that is text exclude each other");
    if (o->in_place && (o->kind != OUTPUT_FORMAT || o->output))
        return usage("--in-place writes what --format gives over the source, and nowhere else");
    if (o->cc && o->kind != OUTPUT_OBJECT && !output_links(o->kind))
        return usage("--cc has no effect without -c, -shared or --python");
    if (o->dump_after && strcmp(o->dump_after, "all") && !is_pass(o->dump_after))
        return usage("--dump-after=%s: no such pass ('tkc --list-passes' lists them)", o->dump_after);
    if (o->dump_after &&
        (o->kind == OUTPUT_TOKENS || o->kind == OUTPUT_AST || o->kind == OUTPUT_FORMAT || o->kind == OUTPUT_PASSES))
        return usage("--dump-after: no pass runs for this choice of output");
    return -1;
}

/* What popt itself sets. */
typedef struct flags {
    int explain, in_place, write_deps, debug, lines, werror, shadow, no_runtime, casadi, finite, through_text;
} flags;

/* The long option that an unknown one may be meant for: a similar name, or one that goes on. */
static const struct poptOption *nearest(const struct poptOption *table, const char *bad)
{
    const size_t n = strcspn(bad, "=");
    char *name = strndup(bad, n);
    if (!name)
        abort();
    spelling_search near = spelling_begin(name, spelling_limit(name));
    const struct poptOption *found = NULL;
    for (const struct poptOption *t = table; t->longName || t->shortName; t++)
        if (t->longName && !(t->argInfo & POPT_ARGFLAG_DOC_HIDDEN)) {
            spelling_consider(&near, t->longName);
            if (near.best == t->longName || (!near.best && !found && n > 2 && !strncmp(t->longName, name, n)))
                found = t;
        }
    free(name);
    return found;
}

static int bad_option(poptContext con, int error, const struct poptOption *table)
{
    const char *bad = poptBadOption(con, POPT_BADOPTION_NOALIAS), *name = bad + strspn(bad, "-");
    const struct poptOption *meant = error == POPT_ERROR_BADOPT ? nearest(table, name) : NULL;
    if (!meant)
        return usage("%s: %s", bad, poptStrerror(error));
    return usage("%s: %s (did you mean '%s%s'?)", bad, poptStrerror(error),
                 meant->argInfo & POPT_ARGFLAG_ONEDASH ? "-" : "--", meant->longName);
}

static int parse_all(options *o, poptContext con, const struct poptOption *table, const flags *f)
{
    int opt;
    while ((opt = poptGetNextOpt(con)) > 0) {
        const char *arg = poptGetOptArg(con);
        if (arg)
            vec_push(&o->strings, arg);
        const int status = apply(o, opt, arg, con);
        if (status >= 0)
            return status;
    }
    if (opt < -1)
        return bad_option(con, opt, table);
    o->input = poptGetArg(con);
    const char *second = o->input ? poptGetArg(con) : NULL;
    if (second)
        return usage("one input file at a time: '%s' and '%s' are two", o->input, second);
    o->write_deps = f->write_deps;
    o->explain = f->explain;
    o->in_place = f->in_place;
    o->no_runtime = f->no_runtime;
    o->casadi = f->casadi;
    o->finite = f->finite;
    if (f->explain && o->kind == OUTPUT_C && !o->output)
        o->kind = OUTPUT_EXPLAIN;
    return check_together(o, f->explain);
}

/* popt would take the next word for the argument of an option that may have one: --python=LIST has a name of its own.
 */
#define PYTHON_WITH "python-with"
static const char *split_python(options *o, const char *word)
{
    static const char option[] = "--python=";
    if (strncmp(word, option, strlen(option)) != 0)
        return word;
    char *own;
    if (asprintf(&own, "--" PYTHON_WITH "=%s", word + strlen(option)) < 0)
        abort();
    vec_push(&o->strings, own);
    return own;
}

int options_parse(options *o, int argc, const char **argv)
{
    *o = (options){.real = SC_F32, .diagnostics = DIAG_FORMAT_TEXT};
    flags f = {0};
    const struct poptOption table[] = {
        {"output", 'o', POPT_ARG_STRING, &o->output, 0, "Write the module to FILE, its header beside it", "FILE"},
        {NULL, 'c', POPT_ARG_NONE, NULL, OPT_C, "Compile the generated C to an object file", NULL},
        {"shared", 0, POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH, NULL, OPT_SHARED,
         "Compile the generated C to a shared library", NULL},
        {"python", 0, POPT_ARG_NONE, NULL, OPT_PYTHON,
         "Write a Python module, and the shared library that it calls beside it (=torch,jax: with functions for these)",
         NULL},
        {PYTHON_WITH, 0, POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, NULL, OPT_PYTHON_WITH, NULL, NULL},
        {"cc", 0, POPT_ARG_STRING, &o->cc, 0, "C compiler of -c, -shared and --python (else $TKC_CC, clang, gcc or cc)",
         "COMMAND"},
        {"header", 0, POPT_ARG_STRING, &o->header, 0, "Write the header to PATH", "PATH"},
        {"prefix", 0, POPT_ARG_STRING, &o->prefix, 0, "Start all generated names with NAME_ (else the file's name)",
         "NAME"},
        {"MD", 0, POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH, &f.write_deps, 0, "Write a dependency file for make and ninja",
         NULL},
        {"MF", 0, POPT_ARG_STRING | POPT_ARGFLAG_ONEDASH, &o->depfile, 0,
         "Name of the dependency file (else the output's with .d)", "FILE"},
        {NULL, 'I', POPT_ARG_STRING, NULL, OPT_INCLUDE, "Look for imports in DIR; also given to the C compiler", "DIR"},
        {NULL, 'D', POPT_ARG_STRING, NULL, OPT_DEFINE, "Give the const NAME another value", "NAME=VALUE"},
        {"real", 0, POPT_ARG_STRING, NULL, OPT_REAL, "The type that `real` stands for (f32)", "f32|f64"},
        {"debug", 0, POPT_ARG_NONE, &f.debug, 0,
         "Generate checks of bounds, assertions, races and data that adjoints need", NULL},
        {"finite", 0, POPT_ARG_NONE, &f.finite, 0,
         "Fold products and sums with 0, as if no number were NaN or infinite; --debug checks each", NULL},
        {"no-runtime", 0, POPT_ARG_NONE, &f.no_runtime, 0,
         "Generate export funcs that need libm alone, for embedded use; fields and kernels are errors", NULL},
        {"casadi", 0, POPT_ARG_NONE, &f.casadi, 0,
         "Generate entry points of CasADi's external functions beside the export funcs", NULL},
        {"runtime", 0, POPT_ARG_STRING, NULL, OPT_RUNTIME,
         "Where libtkc comes from (library); embed: write it beside the C, as tkc_runtime.c and tkc_runtime.h",
         "library|embed"},
        {NULL, 'g', POPT_ARG_NONE, &f.lines, 0, "Let debuggers show the .tk source (#line)", NULL},
        {"emit", 0, POPT_ARG_STRING, NULL, OPT_EMIT, "Print a stage of the compilation instead",
         "tokens|ast|plan|ir|c"},
        {"format", 0, POPT_ARG_NONE, NULL, OPT_FORMAT, "Print the source with its spaces and indentation in order",
         NULL},
        {"lsp", 0, POPT_ARG_NONE, NULL, OPT_LSP, "Be a language server for an editor, on standard input and output",
         NULL},
        {"in-place", 0, POPT_ARG_NONE, &f.in_place, 0, "With --format: write it over the source, if it differs", NULL},
        {"dump-after", 0, POPT_ARG_STRING, &o->dump_after, 0, "Print the IR after a pass to standard error",
         "PASS|all"},
        {"run-pass", 0, POPT_ARG_STRING, NULL, OPT_RUN_PASS,
         "Read IR instead of a module, run this pass on it (several in their order), print the IR", "PASS"},
        {"check-ir-text", 0, POPT_ARG_NONE, &f.through_text, 0,
         "Print and read the IR between all passes: an error if that changes it", NULL},
        {"list-passes", 0, POPT_ARG_NONE, NULL, OPT_LIST_PASSES, "List the passes in their order", NULL},
        {"explain", 0, POPT_ARG_NONE, NULL, OPT_EXPLAIN,
         "Print in words what is differentiated, what that needs and keeps, how loops run, what memory all takes",
         NULL},
        {"explain-adjoint", 0, POPT_ARG_NONE, &f.explain, 0,
         "Print how each write of the kernels and adjoints is made parallel", NULL},
        {"lanes", 0, POPT_ARG_STRING, NULL, OPT_LANES,
         "Which parallel loops run iterations side by side as lanes of vectors (auto: where it pays)", "auto|all|none"},
        {"checkpoints", 0, POPT_ARG_STRING, NULL, OPT_CHECKPOINTS,
         "Which loops of export funcs keep the state of each trip and compute the rest again: auto (where it pays), "
         "all, "
         "none; or how many bytes the states of a loop may have (64k, 16M): then trips run again from some of them",
         "WHEN|BYTES"},
        {"diagnostics", 0, POPT_ARG_STRING, NULL, OPT_DIAGNOSTICS, "Form of errors and warnings (text)", "text|json"},
        {"Werror", 0, POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH, &f.werror, 0, "Warnings are errors", NULL},
        {"Wshadow", 0, POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH, &f.shadow, 0,
         "Warn where a declaration hides another one, or a built-in function", NULL},
        {NULL, 'W', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, NULL, OPT_WARNING, NULL, NULL},
        {"version", 0, POPT_ARG_NONE, NULL, OPT_VERSION, "Print the version", NULL},
        {"help", 'h', POPT_ARG_NONE, NULL, OPT_HELP, "Print this help", NULL},
        POPT_TABLEEND,
    };
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    if (!words)
        abort();
    for (int i = 0; i < argc; i++)
        words[i] = split_python(o, argv[i]);
    poptContext con = poptGetContext("tkc", argc, words, table, 0);
    if (!con)
        abort();
    o->words = words;
    poptSetOtherOptionHelp(con, "[OPTION...] KERNEL.tk\n  or:  tkc explain [CODE...]");
    o->parser = con;
    int status = parse_all(o, con, table, &f);
    o->debug = f.debug;
    o->line_directives = f.lines;
    o->through_text = f.through_text;
    o->werror = f.werror;
    o->shadow = f.shadow;
    if (status < 0 && o->kind == OUTPUT_SERVER && (f.lines || f.through_text))
        status = usage("--lsp writes no C and prints no IR");
    return status;
}

void options_free(options *o)
{
    for (size_t i = 0; i < o->strings.len; i++)
        free((void *)o->strings.at[i]);
    free((void *)o->output);
    free((void *)o->header);
    free((void *)o->prefix);
    free((void *)o->depfile);
    free((void *)o->cc);
    free((void *)o->dump_after);
    vec_free(&o->strings);
    vec_free(&o->include_dirs);
    vec_free(&o->defines);
    vec_free(&o->run_passes);
    poptFreeContext(o->parser);
    free(o->words);
}
