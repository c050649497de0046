#include "lsp/unit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "files/name.h"
#include "host/host.h"
#include "lower/lower.h"
#include "passes/pipeline.h"

/* ---- faults: the verifier, an assertion ---- */

/* Where SIGABRT leads while a unit is compiled. A signal handler has nothing but globals. */
static sigjmp_buf fault;

static void on_abort(int signal)
{
    (void)signal;
    siglongjmp(fault, 1);
}

/* ---- messages ---- */

static void on_message(void *ctx, src_span at, diag_severity severity, diag_code code, const char *text)
{
    unit *u = ctx;
    vec_push(&u->messages,
             ((unit_message){
                 .at = at, .severity = severity, .code = diag_code_name(code), .text = arena_strdup(u->mem, text)}));
}

static void on_note(void *ctx, src_span at, const char *text)
{
    unit *u = ctx;
    vec_push(&vec_last(&u->messages).notes, ((unit_note){at, arena_strdup(u->mem, text)}));
}

static void on_fix(void *ctx, src_loc at, const char *old, const char *text)
{
    unit *u = ctx;
    vec_push(&vec_last(&u->messages).fixes, ((unit_fix){at, arena_strdup(u->mem, old), arena_strdup(u->mem, text)}));
}

static void ignore_message(void *ctx, src_span at, diag_severity severity, diag_code code, const char *text)
{
    (void)ctx, (void)at, (void)severity, (void)code, (void)text;
}

static void ignore_note(void *ctx, src_span at, const char *text)
{
    (void)ctx, (void)at, (void)text;
}

/* ---- stages ---- */

static bool reach(unit *u, unit_level level)
{
    if (diag_error_count(u->diag) > 0)
        return false;
    u->reached = level;
    return true;
}

static void keep_imports(unit *u)
{
    ast_item **end = &u->import_items;
    for (const ast_item *it = u->ast->items; it; it = it->next)
        if (it->kind == AST_ITEM_IMPORT) {
            *end = ARENA_NEW(u->mem, ast_item);
            **end = *it;
            (*end)->next = NULL;
            end = &(*end)->next;
        }
}

static bool parse(unit *u)
{
    const uint16_t file = diag_add_file(u->diag, u->path, sb_str(&u->text), u->text.len);
    u->ast = ast_parse(u->mem, u->names, u->diag, file, sb_str(&u->text), u->text.len);
    keep_imports(u);
    return reach(u, UNIT_TEXT);
}

static bool join(unit *u, const unit_host *h)
{
    u->imports = (imports){.mem = u->mem,
                           .names = u->names,
                           .diag = u->diag,
                           .dirs = h->opt->include_dirs,
                           .ndirs = h->opt->ninclude_dirs,
                           .unsaved = h->unsaved,
                           .ctx = h->ctx};
    return imports_join(&u->imports, u->ast, u->path) && reach(u, UNIT_PARSED);
}

static void count(size_t *n)
{
    if (n)
        ++*n;
}

static bool check(unit *u, const unit_host *h, const char *name)
{
    const lsp_options *o = h->opt;
    count(h->checked);
    u->ir = ir_module_create(u->mem, u->names, u->diag, name);
    u->ir->source = u->path;
    u->ir->real = o->real;
    u->ir->debug = o->debug;
    u->ir->lanes = o->lanes;
    u->ir->checkpoints = o->checkpoints;
    u->ir->checkpoint_bytes = o->checkpoint_bytes;
    const check_options opt = {.log = &u->log,
                               .real = o->real,
                               .defines = o->defines,
                               .ndefines = (int)o->ndefines,
                               .shadow = o->shadow,
                               .no_runtime = o->no_runtime,
                               .finite = o->finite};
    u->asked = true;
    u->typed = check_module(u->mem, u->names, u->diag, u->ast, u->ir, &opt);
    return u->typed && reach(u, UNIT_CHECKED);
}

static bool lower(unit *u)
{
    lower_module(u->typed);
    if (!reach(u, UNIT_LOWERED))
        return false;
    unit_find_active(u);
    return true;
}

static bool run_passes(unit *u, const unit_host *h)
{
    const pipeline_options opt = {.verify = h->opt->verify};
    count(h->compiled);
    if (!pipeline_run(u->ir, &opt) || !reach(u, UNIT_COMPILED))
        return false;
    unit_find_facts(u);
    return true;
}

static void emit(unit *u, const lsp_options *o, const char *name)
{
    const emit_options opt = {.header_name = arena_printf(u->mem, "%s.h", name),
                              .c_name = arena_printf(u->mem, "%s.c", name),
                              .no_runtime = o->no_runtime};
    emit_c(&u->c, u->ir, &opt);
}

/* Whoever builds it may give a --prefix that we do not know: a file's name is no error here. */
static const char *name_of(unit *u)
{
    diag_sink *nobody = diag_create(NULL, DIAG_FORMAT_TEXT);
    diag_listen(nobody, &(diag_listener){NULL, ignore_message, ignore_note, NULL});
    const char *name = module_name(u->mem, nobody, u->path, NULL);
    diag_destroy(nobody);
    return name ? name : "module";
}

/* From where it stopped. */
static void stages(unit *u, const unit_host *h, unit_level level)
{
    const char *name = name_of(u);
    if (!u->ast && !parse(u))
        return;
    if (level >= UNIT_PARSED && u->reached < UNIT_PARSED && !join(u, h))
        return;
    if (level >= UNIT_CHECKED && u->reached < UNIT_CHECKED && !check(u, h, name))
        return;
    if (level >= UNIT_LOWERED && u->reached < UNIT_LOWERED && !lower(u))
        return;
    if (level >= UNIT_COMPILED && u->reached < UNIT_COMPILED && !run_passes(u, h))
        return;
    if (level >= UNIT_EMITTED && u->reached < UNIT_EMITTED) {
        emit(u, h->opt, name);
        reach(u, UNIT_EMITTED);
    }
}

bool unit_is_short_of(const unit *u, unit_level level)
{
    return u->reached < level && !u->broken && diag_error_count(u->diag) == 0;
}

void unit_continue(unit *u, const unit_host *host, unit_level level)
{
    struct sigaction now = {.sa_handler = on_abort}, before;
    if (!unit_is_short_of(u, level))
        return;
    sigaction(SIGABRT, &now, &before);
    if (!sigsetjmp(fault, 1)) {
        stages(u, host, level);
    } else {
        u->broken = true;
        vec_push(&u->messages,
                 ((unit_message){.at = {{0, 0, 0}, {0, 0, 0}},
                                 .severity = DIAG_ERROR,
                                 .text = "a fault of tkc: it stopped at this text, which is worth a report"}));
    }
    sigaction(SIGABRT, &before, NULL);
}

unit *unit_compile(const unit_host *host, const char *path, const char *text, size_t len, unit_level level)
{
    unit *const u = xmalloc(sizeof *u);
    *u = (unit){.mem = arena_create(), .names = intern_create(), .diag = diag_create(NULL, DIAG_FORMAT_TEXT)};
    u->path = arena_strdup(u->mem, path);
    sb_addn(&u->text, text, len);
    diag_listen(u->diag, &(diag_listener){u, on_message, on_note, on_fix});
    diag_set_werror(u->diag, host->opt->werror);
    unit_continue(u, host, level);
    return u;
}

void unit_free(unit *u)
{
    if (!u)
        return;
    for (size_t i = 0; i < u->messages.len; i++) {
        vec_free(&u->messages.at[i].notes);
        vec_free(&u->messages.at[i].fixes);
    }
    vec_free(&u->messages);
    vec_free(&u->facts);
    vec_free(&u->active);
    check_log_free(&u->log);
    diag_destroy(u->diag);
    if (u->ir)
        ir_module_destroy(u->ir);
    imports_free(&u->imports);
    intern_destroy(u->names);
    sb_free(&u->text);
    sb_free(&u->c);
    arena_destroy(u->mem);
    free(u);
}
