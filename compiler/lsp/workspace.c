/* The files of the client's folders, and their items. */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/files.h"
#include "lsp/features.h"

/* ---- files ---- */

enum { MOST_DEEP = 16, MOST_ENTRIES = 20000 };

static bool ends_in_tk(const char *name)
{
    const size_t n = strlen(name);
    return n > 3 && !strcmp(name + n - 3, ".tk");
}

/* Links are not followed: they could lead in a circle. */
static void collect(path_list *list, const char *folder, int deep, int *entries)
{
    DIR *dir = deep < MOST_DEEP ? opendir(folder) : NULL;
    for (const struct dirent *e; dir && (e = readdir(dir)) && ++*entries < MOST_ENTRIES;) {
        if (e->d_name[0] == '.' || !strcmp(e->d_name, "node_modules"))
            continue;
        strbuf path = {0};
        struct stat st;
        sb_printf(&path, "%s/%s", folder, e->d_name);
        const bool found = lstat(sb_str(&path), &st) == 0;
        if (found && S_ISDIR(st.st_mode))
            collect(list, sb_str(&path), deep + 1, entries);
        else if (found && S_ISREG(st.st_mode) && ends_in_tk(e->d_name))
            vec_push(list, strdup(sb_str(&path)));
        sb_free(&path);
    }
    if (dir)
        closedir(dir);
}

static int compare(const void *a, const void *b)
{
    char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

path_list workspace_files(const store *s)
{
    path_list list = {0};
    int entries = 0;
    for (size_t i = 0; i < s->folders.len; i++)
        collect(&list, s->folders.at[i], 0, &entries);
    if (list.len)
        qsort(list.at, list.len, sizeof *list.at, compare);
    return list;
}

static void ignore_message(void *ctx, src_span at, diag_severity severity, diag_code code, const char *text)
{
    (void)ctx, (void)at, (void)severity, (void)code, (void)text;
}

static void ignore_note(void *ctx, src_span at, const char *text)
{
    (void)ctx, (void)at, (void)text;
}

unit *compile_file(const unit_host *host, const char *path, unit_level level)
{
    diag_sink *none = diag_create(NULL, DIAG_FORMAT_TEXT);
    diag_listen(none, &(diag_listener){NULL, ignore_message, ignore_note, NULL});
    strbuf text = {0};
    unit *u = NULL;
    char *real = realpath(path, NULL);
    if (real && ((host->unsaved && host->unsaved(host->ctx, real, &text)) ||
                 (path_is_regular(path) && file_read(&text, path, MAX_SOURCE, none))))
        u = unit_compile(host, path, sb_str(&text), text.len, level);
    free(real);
    sb_free(&text);
    diag_destroy(none);
    return u;
}

void path_list_free(path_list *list)
{
    for (size_t i = 0; i < list->len; i++)
        free(list->at[i]);
    vec_free(list);
}

/* ---- symbols ---- */

/* Whether the name has the letters of the query in this order. */
static bool fits(const char *name, const char *query)
{
    for (; *query && *name; name++)
        if (tolower((unsigned char)*name) == tolower((unsigned char)*query))
            query++;
    return !*query;
}

static void add_items(json_t *list, const store *s, const unit *u, const char *uri, const char *query)
{
    TEXT_INDEX(ix, &u->text, s->wide);
    for (const ast_item *it = u->ast ? u->ast->items : NULL; it; it = it->next) {
        if (!it->name || it->span.begin.file != u->ast->file || !fits(it->name, query))
            continue;
        size_t from, to;
        span_offsets(&ix, it->name_span, &from, &to);
        json_t *one = json_pack("{s:s,s:i,s:{s:s,s:o},s:s}", "name", it->name, "kind", symbol_kind(it), "location",
                                "uri", uri, "range", json_range(&ix, from, to), "containerName", path_base(u->path));
        if (one)
            json_array_append_new(list, one);
    }
}

static bool is_open(const store *s, const char *path)
{
    char *real = realpath(path, NULL);
    bool open = false;
    for (size_t i = 0; i < s->docs.len && real && !open; i++)
        open = s->docs.at[i]->real && !strcmp(s->docs.at[i]->real, real);
    free(real);
    return open;
}

json_t *feature_workspace_symbols(store *s, const char *query)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->docs.len; i++) {
        store_refresh(s, s->docs.at[i]);
        add_items(list, s, s->docs.at[i]->now, s->docs.at[i]->uri, query);
    }
    const unit_host host = store_host(s);
    path_list files = workspace_files(s);
    for (size_t i = 0; i < files.len; i++) {
        unit *u = is_open(s, files.at[i]) ? NULL : compile_file(&host, files.at[i], UNIT_TEXT);
        char *uri = path_uri(files.at[i]);
        if (u)
            add_items(list, s, u, uri, query);
        unit_free(u);
        free(uri);
    }
    path_list_free(&files);
    return list;
}
