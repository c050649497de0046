#include "files/imports.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/files.h"

/* A chain of imports this deep is a mistake of some generator. */
enum { DEEPEST = 100, MOST_FILES = UINT16_MAX /* as src_loc counts them */ };

static const char *real_path(imports *im, const char *path)
{
    char *real = realpath(path, NULL);
    const char *kept = intern(im->names, real ? real : path);
    free(real);
    return kept;
}

static import_file *add_file(imports *im, const char *path)
{
    import_file *f = ARENA_NEW(im->mem, import_file);
    *f = (import_file){.path = path, .real = real_path(im, path)};
    vec_push(&im->files, f);
    ptrmap_set(&im->known, f->real, f);
    return f;
}

/* Beside the importing file, then in the directories of -I, in their order. NULL after a message. */
static const char *find(imports *im, const ast_item *it, const char *importer)
{
    const char *name = it->text,
               *beside = name[0] == '/' ? name : arena_printf(im->mem, "%s%s", path_dir(im->mem, importer), name);
    if (access(beside, R_OK) == 0)
        return beside;
    for (size_t i = 0; i < im->ndirs && name[0] != '/'; i++) {
        const char *path = arena_printf(im->mem, "%s/%s", im->dirs[i], name);
        if (access(path, R_OK) == 0)
            return path;
    }
    diag(im->diag, it->name_span, DIAG_IMPORT_MISSING, name);
    if (name[0] != '/')
        diag_note(im->diag, it->name_span, "looked beside the importing file%s",
                  im->ndirs ? ", and in the directories of -I" : "; -I DIR adds a directory");
    return NULL;
}

static bool join(imports *im, ast_module *m, import_file *of);

/* The items of the file that `it` names, with those that it imports; NULL if there are none, or they are there already.
 */
static ast_item *items_of(imports *im, ast_item *it, const char *importer)
{
    const char *path = find(im, it, importer);
    if (!path)
        return NULL;
    import_file *f = ptrmap_get(&im->known, real_path(im, path));
    if (f && f->open) {
        const char *circle = "";
        for (size_t i = 0; i < im->files.len;
             i++) /* those that are open stand in the order in which they import each other */
            if (im->files.at[i]->open && (*circle || im->files.at[i] == f))
                circle = arena_printf(im->mem, "%s%s imports ", circle, im->files.at[i]->path);
        diag(im->diag, it->name_span, DIAG_IMPORT_CYCLE, it->text);
        diag_note(im->diag, it->name_span, "%s%s", circle, f->path);
    }
    if (f) {
        it->file = f->number;
        return NULL;
    }
    if (im->depth >= DEEPEST) {
        diag(im->diag, it->name_span, DIAG_IMPORT_DEEP, DEEPEST);
        return NULL;
    }
    if (im->files.len >= MOST_FILES) {
        diag(im->diag, it->name_span, DIAG_IMPORT_MANY, MOST_FILES);
        return NULL;
    }
    if (!path_is_regular(path)) { /* a pipe may never end, and reading it once is once too often */
        diag(im->diag, it->name_span, DIAG_FILE_READ, path, "it is not a regular file");
        return NULL;
    }
    f = add_file(im, path);
    if (!(im->unsaved && im->unsaved(im->ctx, f->real, &f->text)) && !file_read(&f->text, path, MAX_SOURCE, im->diag))
        return NULL;
    it->file = f->number = diag_add_file(im->diag, path, sb_str(&f->text), f->text.len);
    ast_module *m = ast_parse(im->mem, im->names, im->diag, f->number, sb_str(&f->text), f->text.len);
    join(im, m, f);
    return m->items;
}

static bool join(imports *im, ast_module *m, import_file *of)
{
    const int errors = diag_error_count(im->diag);
    of->open = true;
    im->depth++;
    for (ast_item *it = m->items, *next; it; it = next) {
        next = it->next;
        if (it->kind != AST_ITEM_IMPORT)
            continue;
        ast_item **link = &it->next;
        *link = items_of(im, it, of->path);
        while (*link)
            link = &(*link)->next;
        *link = next;
    }
    im->depth--;
    of->open = false;
    return diag_error_count(im->diag) == errors;
}

bool imports_join(imports *im, ast_module *root, const char *path)
{
    import_file *f = add_file(im, path);
    f->number = root->file;
    return join(im, root, f);
}

void imports_free(imports *im)
{
    for (size_t i = 0; i < im->files.len; i++)
        sb_free(&im->files.at[i]->text);
    vec_free(&im->files);
    ptrmap_free(&im->known);
}
