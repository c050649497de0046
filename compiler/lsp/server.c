/* The protocol: which message asks for what, and in which order they may come. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lsp/features.h"

typedef struct server {
    store s;
    wire w;
    bool initialized, shut_down, exiting;
} server;

/* Each gives the result of a request, a new reference; or NULL with *error set, or for null. */
typedef json_t *handler(server *v, const json_t *params, const char **error);

/* ---- parameters ---- */

static doc *doc_of(server *v, const json_t *params, const char **error)
{
    doc *d = store_find(&v->s, json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri")));
    if (!d)
        *error = "the document is not open";
    return d;
}

/* The document, compiled as it is now, and the offset of the position. */
static doc *doc_at(server *v, const json_t *params, size_t *offset, const char **error)
{
    doc *d = doc_of(v, params, error);
    if (d && !pos_of_json(&v->s, json_object_get(params, "position"), &d->text, offset)) {
        *error = "there is no position";
        return NULL;
    }
    if (d)
        store_refresh(&v->s, d);
    return d;
}

/* ---- life ---- */

static bool offers_utf8(const json_t *params)
{
    const json_t *general = json_object_get(json_object_get(params, "capabilities"), "general");
    const json_t *list = json_object_get(general, "positionEncodings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name && !strcmp(name, "utf-8"))
            return true;
    }
    return false;
}

static void add_folder(store *s, const json_t *uri)
{
    char *path = json_is_string(uri) ? uri_path(json_string_value(uri)) : NULL;
    if (path)
        vec_push(&s->folders, path);
}

static void read_folders(store *s, const json_t *params)
{
    const json_t *folders = json_object_get(params, "workspaceFolders");
    for (size_t i = 0; i < json_array_size(folders); i++)
        add_folder(s, json_object_get(json_array_get(folders, i), "uri"));
    if (!json_array_size(folders))
        add_folder(s, json_object_get(params, "rootUri"));
}

static json_t *capabilities(const store *s)
{
    static const char *const plain[] = {
        "hoverProvider",          "definitionProvider",         "referencesProvider",   "documentHighlightProvider",
        "documentSymbolProvider", "documentFormattingProvider", "foldingRangeProvider", "inlayHintProvider",
        "workspaceSymbolProvider"};
    json_t *caps = json_pack(
        "{s:s, s:{s:b,s:i,s:{s:b}}, s:{s:[s,s]}, s:{s:[s,s]}, s:{s:[s]}, s:{s:[s]}, s:{s:b}, s:{s:o,s:b}}",
        "positionEncoding", s->wide ? "utf-16" : "utf-8", "textDocumentSync", "openClose", true, "change", 2, "save",
        "includeText", false, "completionProvider", "triggerCharacters", ".", ":", "signatureHelpProvider",
        "triggerCharacters", "(", ",", "codeActionProvider", "codeActionKinds", "quickfix", "executeCommandProvider",
        "commands", "tkc.showAdjoint", "renameProvider", "prepareProvider", true, "semanticTokensProvider", "legend",
        tokens_legend(), "full", true);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        json_object_set_new(caps, plain[i], json_true());
    return caps;
}

static json_t *initialize(server *v, const json_t *params, const char **error)
{
    (void)error;
    v->initialized = true;
    v->s.wide = !offers_utf8(params);
    read_folders(&v->s, params);
    return json_pack("{s:o,s:{s:s,s:s}}", "capabilities", capabilities(&v->s), "serverInfo", "name", "tkc", "version",
                     v->s.opt->version);
}

static json_t *shut_down(server *v, const json_t *params, const char **error)
{
    (void)params, (void)error;
    v->shut_down = true;
    return NULL;
}

/* ---- documents ---- */

static void did_open(server *v, const json_t *params)
{
    const json_t *item = json_object_get(params, "textDocument"), *text = json_object_get(item, "text");
    const char *uri = json_string_value(json_object_get(item, "uri"));
    if (uri && json_is_string(text))
        store_open(&v->s, uri, json_string_value(text), json_string_length(text),
                   json_integer_value(json_object_get(item, "version")));
}

static void change(server *v, doc *d, const json_t *one)
{
    const json_t *text = json_object_get(one, "text"), *range = json_object_get(one, "range");
    size_t from = 0, to = d->text.len;
    if (!json_is_string(text))
        return;
    if (range && !json_is_null(range) &&
        (!pos_of_json(&v->s, json_object_get(range, "start"), &d->text, &from) ||
         !pos_of_json(&v->s, json_object_get(range, "end"), &d->text, &to)))
        return;
    store_edit(&v->s, d, from, to < from ? from : to, json_string_value(text), json_string_length(text));
}

static void did_change(server *v, const json_t *params)
{
    const char *error;
    doc *d = doc_of(v, params, &error);
    const json_t *list = json_object_get(params, "contentChanges");
    if (!d)
        return;
    for (size_t i = 0; i < json_array_size(list); i++)
        change(v, d, json_array_get(list, i));
    d->version = json_integer_value(json_object_get(json_object_get(params, "textDocument"), "version"));
}

static void did_close(server *v, const json_t *params)
{
    const char *error;
    doc *d = doc_of(v, params, &error);
    if (d)
        store_close(&v->s, d);
}

/* Others may import what was written. */
static void did_save(server *v, const json_t *params)
{
    (void)params;
    store_stale(&v->s);
}

/* ---- questions ---- */

static json_t *hover(server *v, const json_t *params, const char **error)
{
    size_t offset;
    doc *d = doc_at(v, params, &offset, error);
    if (d)
        store_finish(&v->s, d);
    return d ? feature_hover(&v->s, d, offset) : NULL;
}

static json_t *definition(server *v, const json_t *params, const char **error)
{
    size_t offset;
    doc *d = doc_at(v, params, &offset, error);
    return d ? feature_definition(&v->s, d, offset) : NULL;
}

static json_t *references(server *v, const json_t *params, const char **error)
{
    size_t offset;
    doc *d = doc_at(v, params, &offset, error);
    const json_t *context = json_object_get(params, "context");
    return d ? feature_references(&v->s, d, offset, json_is_true(json_object_get(context, "includeDeclaration")))
             : NULL;
}

static json_t *highlights(server *v, const json_t *params, const char **error)
{
    size_t offset;
    doc *d = doc_at(v, params, &offset, error);
    return d ? feature_highlights(&v->s, d, offset) : NULL;
}

static json_t *completion(server *v, const json_t *params, const char **error)
{
    size_t offset;
    doc *d = doc_at(v, params, &offset, error);
    return d ? feature_completion(&v->s, d, offset) : NULL;
}

static json_t *signature(server *v, const json_t *params, const char **error)
{
    size_t offset;
    doc *d = doc_at(v, params, &offset, error);
    return d ? feature_signature(&v->s, d, offset) : NULL;
}

static json_t *symbols(server *v, const json_t *params, const char **error)
{
    doc *d = doc_of(v, params, error);
    if (!d)
        return NULL;
    store_refresh(&v->s, d);
    return feature_symbols(&v->s, d);
}

static json_t *formatting(server *v, const json_t *params, const char **error)
{
    doc *d = doc_of(v, params, error);
    return d ? feature_formatting(&v->s, d) : NULL;
}

static json_t *folding(server *v, const json_t *params, const char **error)
{
    doc *d = doc_of(v, params, error);
    return d ? feature_folding(&v->s, d) : NULL;
}

static json_t *tokens(server *v, const json_t *params, const char **error)
{
    doc *d = doc_of(v, params, error);
    if (d)
        store_refresh(&v->s, d);
    return d ? feature_tokens(&v->s, d) : NULL;
}

static json_t *workspace_symbols(server *v, const json_t *params, const char **error)
{
    const char *query = json_string_value(json_object_get(params, "query"));
    if (!query)
        *error = "there is no query";
    return query ? feature_workspace_symbols(&v->s, query) : NULL;
}

/* A refusal is no fault of the parameters: it has a code of its own. */
static json_t *refused(server *v, json_t *answer, const char **error)
{
    if (!answer && v->s.refusal.len)
        *error = sb_str(&v->s.refusal);
    return answer;
}

static json_t *prepare_rename(server *v, const json_t *params, const char **error)
{
    size_t offset;
    doc *d = doc_at(v, params, &offset, error);
    return d ? refused(v, feature_prepare_rename(&v->s, d, offset), error) : NULL;
}

static json_t *rename_to(server *v, const json_t *params, const char **error)
{
    size_t offset;
    doc *d = doc_at(v, params, &offset, error);
    const char *name = json_string_value(json_object_get(params, "newName"));
    if (d && !name)
        *error = "there is no new name";
    return d && name ? refused(v, feature_rename(&v->s, d, offset, name), error) : NULL;
}

static bool range_of(server *v, const json_t *params, const doc *d, size_t *from, size_t *to, const char **error)
{
    const json_t *range = json_object_get(params, "range");
    const bool right = pos_of_json(&v->s, json_object_get(range, "start"), &d->text, from) &&
                       pos_of_json(&v->s, json_object_get(range, "end"), &d->text, to);
    if (!right)
        *error = "there is no range";
    return right;
}

static json_t *hints(server *v, const json_t *params, const char **error)
{
    doc *d = doc_of(v, params, error);
    size_t from, to;
    if (!d || !range_of(v, params, d, &from, &to, error))
        return NULL;
    store_lower(&v->s, d);
    return feature_hints(&v->s, d, from, to);
}

/* What the server has done so far. */
static json_t *work_done(server *v, const json_t *params, const char **error)
{
    (void)params, (void)error;
    return json_pack("{s:I,s:I}", "checked", (json_int_t)v->s.checked, "compiled", (json_int_t)v->s.compiled);
}

static json_t *actions(server *v, const json_t *params, const char **error)
{
    doc *d = doc_of(v, params, error);
    size_t from, to;
    if (!d || !range_of(v, params, d, &from, &to, error))
        return NULL;
    store_refresh(&v->s, d);
    return feature_actions(&v->s, d, from, to);
}

/* {textDocument, position} or {textDocument, kernel}. */
static json_t *adjoint(server *v, const json_t *params, const char **error)
{
    doc *d = doc_of(v, params, error);
    const char *kernel = json_string_value(json_object_get(params, "kernel"));
    size_t offset = 0;
    if (!d)
        return NULL;
    if (!kernel && !pos_of_json(&v->s, json_object_get(params, "position"), &d->text, &offset)) {
        *error = "there is neither a position nor the name of a kernel";
        return NULL;
    }
    return feature_adjoint(&v->s, d, offset, kernel);
}

static json_t *execute(server *v, const json_t *params, const char **error)
{
    const char *command = json_string_value(json_object_get(params, "command"));
    if (command && !strcmp(command, "tkc.showAdjoint"))
        return adjoint(v, json_array_get(json_object_get(params, "arguments"), 0), error);
    *error = "there is no such command";
    return NULL;
}

/* ---- messages ---- */

static const struct {
    const char *method;
    handler *run;
} requests[] = {
    {"initialize", initialize},
    {"shutdown", shut_down},
    {"textDocument/hover", hover},
    {"textDocument/definition", definition},
    {"textDocument/references", references},
    {"textDocument/documentHighlight", highlights},
    {"textDocument/completion", completion},
    {"textDocument/signatureHelp", signature},
    {"textDocument/documentSymbol", symbols},
    {"textDocument/formatting", formatting},
    {"textDocument/codeAction", actions},
    {"textDocument/foldingRange", folding},
    {"textDocument/inlayHint", hints},
    {"textDocument/prepareRename", prepare_rename},
    {"textDocument/rename", rename_to},
    {"textDocument/semanticTokens/full", tokens},
    {"workspace/executeCommand", execute},
    {"workspace/symbol", workspace_symbols},
    {"tkc/showAdjoint", adjoint},
    {"tkc/work", work_done},
};

static const struct {
    const char *method;
    void (*run)(server *v, const json_t *params);
} notifications[] = {
    {"textDocument/didOpen", did_open},
    {"textDocument/didChange", did_change},
    {"textDocument/didClose", did_close},
    {"textDocument/didSave", did_save},
    {"workspace/didChangeWatchedFiles", did_save},
};

static handler *find_request(const char *method)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (!strcmp(requests[i].method, method))
            return requests[i].run;
    return NULL;
}

/* What waits in the queue may say that this one is of no use any more. */
static bool is_cancelled(const server *v, const json_t *id)
{
    for (size_t i = v->w.taken; i < v->w.queue.len; i++) {
        const json_t *m = v->w.queue.at[i];
        const char *method = json_string_value(json_object_get(m, "method"));
        if (method && !strcmp(method, "$/cancelRequest") &&
            json_equal(json_object_get(json_object_get(m, "params"), "id"), id))
            return true;
    }
    return false;
}

static void request(server *v, json_t *id, const char *method, const json_t *params)
{
    handler *run = find_request(method);
    const bool first = run == initialize;
    const char *error = NULL;
    if (!json_is_integer(id) && !json_is_string(id))
        wire_error(&v->w, NULL, RPC_INVALID_REQUEST, "an id is a number or a string");
    else if (v->shut_down)
        wire_error(&v->w, id, RPC_INVALID_REQUEST, "the server was shut down");
    else if (!v->initialized && !first)
        wire_error(&v->w, id, RPC_NOT_INITIALIZED, "the first request is 'initialize'");
    else if (v->initialized && first)
        wire_error(&v->w, id, RPC_INVALID_REQUEST, "'initialize' comes once");
    else if (!run)
        wire_error(&v->w, id, RPC_METHOD_NOT_FOUND, "there is no such method");
    else if (!first && run != shut_down && is_cancelled(v, id))
        wire_error(&v->w, id, RPC_CANCELLED, "cancelled");
    else {
        json_t *result = run(v, params, &error);
        if (error) {
            json_decref(result);
            wire_error(&v->w, id, error == v->s.refusal.s ? RPC_REQUEST_FAILED : RPC_INVALID_PARAMS, error);
        } else {
            wire_reply(&v->w, id, result);
        }
    }
}

static void notification(server *v, const char *method, const json_t *params)
{
    if (!strcmp(method, "exit"))
        v->exiting = true;
    for (size_t i = 0; v->initialized && !v->shut_down && i < sizeof notifications / sizeof *notifications; i++)
        if (!strcmp(notifications[i].method, method))
            notifications[i].run(v, params);
}

static void handle(server *v, json_t *m)
{
    json_t *id = json_object_get(m, "id");
    const json_t *method = json_object_get(m, "method"), *params = json_object_get(m, "params");
    if (json_is_string(method) && id)
        request(v, id, json_string_value(method), params);
    else if (json_is_string(method))
        notification(v, json_string_value(method), params);
    else if (!json_object_get(m, "result") && !json_object_get(m, "error")) /* we ask clients nothing */
        wire_error(&v->w, id, RPC_INVALID_REQUEST, "a message has a method");
}

/* A text that has to be checked; or, without `check`, one with messages to come. NULL: there is none, or no client. */
static doc *find_work(const server *v, bool check)
{
    for (size_t i = 0; i < v->s.docs.len && !v->shut_down; i++)
        if (check ? v->s.docs.at[i]->changed : !v->s.docs.at[i]->told)
            return v->s.docs.at[i];
    return NULL;
}

/* Milliseconds without a message after which there is something to do; -1: never. */
static int pause_before_work(const server *v)
{
    enum { TYPED = 20 };
    if (find_work(v, true))
        return TYPED;
    return !find_work(v, false) ? -1 : v->s.pause > TYPED ? v->s.pause : TYPED;
}

static void work(server *v)
{
    doc *d = find_work(v, true);
    if (d)
        store_refresh(&v->s, d);
    else
        store_finish(&v->s, find_work(v, false));
}

int lsp_serve(const lsp_options *opt)
{
    server v = {.w = {.in = STDIN_FILENO, .out = STDOUT_FILENO}};
    v.s = (store){.opt = opt, .w = &v.w, .wide = true};
    signal(SIGPIPE, SIG_IGN);
    while (!v.exiting && !v.w.broken) {
        json_t *m = wire_next(&v.w, pause_before_work(&v));
        if (m) {
            handle(&v, m);
            json_decref(m);
        } else if (find_work(&v, false)) {
            work(&v);
        } else if (v.w.ended) {
            break;
        }
    }
    const int status = v.exiting && v.shut_down ? 0 : 1;
    store_free(&v.s);
    wire_free(&v.w);
    return status;
}
