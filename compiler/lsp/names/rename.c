/* Renames: all places that mean the same, in all files that can see it; refused where a name would mean something else
 * afterwards. The proof is a compilation of the changed texts: each name has to mean what it meant. */
#include <stdlib.h>
#include <string.h>

#include "lsp/features.h"
#include "lsp/names/rename.h"

/* ---- the name at the cursor ---- */

static bool meant_by(const check_use *use, const renaming *r, const unit *u)
{
    const char *key = use->declared.begin.line ? rename_key(u, use->declared.begin.file) : NULL;
    return key && use->declared.begin.line == r->declared.line && use->declared.begin.col == r->declared.col &&
           !strcmp(use->name, r->old) && !strcmp(key, r->declared_in);
}

static const check_use *use_in(const unit *u, const char *key, size_t at)
{
    const check_use *found = NULL;
    for (unsigned file = 0; file <= u->imports.files.len && !found; file++) {
        const char *own = rename_key(u, file);
        if (!own || strcmp(own, key) != 0)
            continue;
        name_uses names = unit_names(u, file);
        const name_use *hit = names_find(&names, at);
        found = hit ? hit->use : NULL;
        vec_free(&names);
    }
    return found;
}

static bool has_importer(const renaming *r, const unit *u)
{
    for (size_t i = 0; i < r->units.len; i++)
        if (r->units.at[i].u == u ||
            !strcmp(rename_key(r->units.at[i].u, r->units.at[i].u->ast->file), rename_key(u, u->ast->file)))
            return true;
    return false;
}

static bool imports_file(const unit *u, const char *key)
{
    for (size_t i = 0; i < u->imports.files.len; i++)
        if (!strcmp(u->imports.files.at[i]->real, key))
            return true;
    const char *base = strrchr(key, '/');
    base = base ? base + 1 : key;
    for (const ast_item *it = u->reached < UNIT_PARSED ? u->import_items : NULL; it; it = it->next) {
        const char *named = it->text ? strrchr(it->text, '/') : NULL;
        if (it->text && !strcmp(named ? named + 1 : it->text, base))
            return true;
    }
    return false;
}

static bool add_importer(renaming *r, unit *u, bool owned)
{
    if (has_importer(r, u)) {
        if (owned)
            unit_free(u);
        return true;
    }
    vec_push(&r->units, ((renamed_unit){u, owned}));
    return u->reached >= UNIT_CHECKED ||
           rename_refuse(r, "%s imports %s and has errors", u->path, r->declared_in ? r->declared_in : r->d->path);
}

/* Whatever may use what the file declares: open texts, and files of the client's folders. */
static bool add_importers(renaming *r, const char *key)
{
    const unit_host host = store_host(r->s);
    bool right = true;
    for (size_t i = 0; i < r->s->docs.len && right; i++) {
        doc *d = r->s->docs.at[i];
        store_refresh(r->s, d);
        if (d != r->d && imports_file(d->now, key))
            right = add_importer(r, d->now, false);
    }
    path_list files = workspace_files(r->s);
    for (size_t i = 0; i < files.len && right; i++) {
        unit *u = compile_file(&host, files.at[i], UNIT_PARSED);
        if (u && imports_file(u, key) && !has_importer(r, u)) {
            unit_continue(u, &host, UNIT_CHECKED);
            right = add_importer(r, u, true);
        } else {
            unit_free(u);
        }
    }
    path_list_free(&files);
    return right;
}

static bool find_target(renaming *r, size_t offset)
{
    const unit *u = r->d->now;
    const char *text = sb_str(&r->d->text);
    size_t begin;
    const size_t n = text_word(text, r->d->text.len, offset, &begin);
    const char *words[1];
    if (!n || text_is_quiet(text, begin) || (text[begin] >= '0' && text[begin] <= '9'))
        return rename_refuse(r, "there is no name here");
    if (u->reached < UNIT_CHECKED)
        return rename_refuse(r, "the file has errors: only files without errors can be changed");
    const char *key = rename_key(u, u->ast->file);
    vec_push(&r->units, ((renamed_unit){r->d->now, false}));
    const check_use *use = use_in(u, key, begin);
    if (!use && (builtin_find(text + begin, n) || word_texts(text + begin, n, words, 1)))
        return rename_refuse(r, "'%.*s' is a word of the language", (int)n, text + begin);
    if (!use && !add_importers(r, key))
        return false;
    for (size_t i = 1; i < r->units.len && !use; i++)
        use = use_in(u = r->units.at[i].u, key, begin);
    if (!use)
        return rename_refuse(r, "the meaning of '%.*s' is unknown: nothing calls the function around it", (int)n,
                             text + begin);
    if (use->declared.begin.line == 0 || !rename_key(u, use->declared.begin.file))
        return rename_refuse(r, "'%s' is built in", use->name);
    r->old = use->name;
    r->declared = use->declared.begin;
    r->declared_in = rename_key(u, use->declared.begin.file);
    r->member = use->of != NULL;
    r->local = !use->item && !use->of;
    r->at = begin;
    return true;
}

/* ---- the new name ---- */

static bool check_name(renaming *r)
{
    const char *name = r->name, *words[1];
    const size_t n = strlen(name);
    bool fits = n > 0 && !(name[0] >= '0' && name[0] <= '9');
    for (size_t i = 0; i < n; i++)
        fits = fits && text_in_word(name[i]) && (unsigned char)name[i] < 128;
    if (!fits)
        return rename_refuse(r, "'%s' is not a name", name);
    if (builtin_find(name, n))
        return rename_refuse(r, "'%s' is a built-in function", name);
    if (word_texts(name, n, words, 1))
        return rename_refuse(r, "'%s' is a word of the language", name);
    return true;
}

/* ---- the places ---- */

static void collect(renaming *r)
{
    for (size_t k = 0; k < r->units.len; k++) {
        const unit *u = r->units.at[k].u;
        for (size_t i = 0; i < u->log.uses.len; i++) {
            const check_use *use = &u->log.uses.at[i];
            renamed_file *f = use->name && meant_by(use, r, u) ? rename_file(r, u, use->at.begin.file) : NULL;
            const size_t at = f ? text_offset_of(&f->ix, use->at.begin) : 0, n = strlen(r->old);
            if (f && f->text->len - at >= n && !memcmp(f->text->s + at, r->old, n))
                rename_add(f, at);
        }
    }
}

/* ---- the proof ---- */

static bool unsaved(void *ctx, const char *real, strbuf *out)
{
    const renaming *r = ctx;
    for (size_t i = 0; i < r->files.len; i++)
        if (!strcmp(r->files.at[i]->key, real)) {
            rename_text(r, r->files.at[i], out);
            return true;
        }
    const unit_host host = store_host(r->s);
    return host.unsaved(host.ctx, real, out);
}

/* Where a place of the unit is once the edits are done. */
static src_loc moved(renaming *r, const unit *u, src_loc at)
{
    const renamed_file *f = at.line ? rename_file(r, u, at.file) : NULL;
    const long more = (long)strlen(r->name) - (long)strlen(r->old);
    if (!f)
        return at;
    const size_t offset = text_offset_of(&f->ix, at), line = text_offset_of(&f->ix, (src_loc){at.line, 1, at.file});
    for (size_t i = 0; i < f->places.len && f->places.at[i] < offset; i++)
        if (f->places.at[i] >= line)
            at.col = (uint16_t)(at.col + more);
    return at;
}

static bool means_the_same(renaming *r, const unit *u, const check_use *before, const check_use *after)
{
    const char *name = meant_by(before, r, u) ? r->name : before->name;
    return same_place(moved(r, u, before->at.begin), after->at.begin) && !strcmp(after->name, name) &&
           same_place(moved(r, u, before->declared.begin), after->declared.begin);
}

static bool compare(renaming *r, const unit *u, const unit *changed)
{
    for (size_t i = 0; i < changed->messages.len && changed->reached < UNIT_CHECKED; i++) {
        const unit_message *m = &changed->messages.at[i];
        if (m->severity == DIAG_ERROR)
            return rename_refuse(r, "the name '%s' does not fit: %s", r->name, m->text);
    }
    for (size_t i = 0; i < u->log.uses.len && i < changed->log.uses.len; i++) {
        const check_use *before = &u->log.uses.at[i];
        if (!means_the_same(r, u, before, &changed->log.uses.at[i]))
            return rename_refuse(r, "'%s' would mean something else in line %u of %s", before->name,
                                 (unsigned)before->at.begin.line, diag_file_path(u->diag, before->at.begin.file));
    }
    return u->log.uses.len == changed->log.uses.len ||
           rename_refuse(r, "the program would be another one with the name '%s'", r->name);
}

static bool prove(renaming *r)
{
    unit_host host = store_host(r->s);
    host.unsaved = unsaved;
    host.ctx = r;
    bool right = true;
    for (size_t i = 0; i < r->units.len && right; i++) {
        const unit *u = r->units.at[i].u;
        const renamed_file *root = rename_file(r, u, u->ast->file);
        strbuf text = {0};
        rename_text(r, root, &text);
        unit *changed = unit_compile(&host, u->path, sb_str(&text), text.len, UNIT_CHECKED);
        right = compare(r, u, changed);
        unit_free(changed);
        sb_free(&text);
    }
    return right;
}

/* ---- answers ---- */

static json_t *edits_of(const renaming *r, const renamed_file *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->places.len; i++)
        json_array_append_new(list, json_pack("{s:o,s:s}", "range",
                                              json_range(&f->ix, f->places.at[i], f->places.at[i] + strlen(r->old)),
                                              "newText", r->name));
    return list;
}

static json_t *answer(const renaming *r)
{
    json_t *changes = json_object();
    for (size_t i = 0; i < r->files.len; i++) {
        const renamed_file *f = r->files.at[i];
        const doc *own = r->d;
        char *uri = !strcmp(own->real ? own->real : own->path, f->key) ? strdup(own->uri) : NULL;
        for (size_t k = 0; k < r->s->docs.len && !uri; k++) { /* as the editor calls it */
            const doc *d = r->s->docs.at[k];
            if (!strcmp(d->real ? d->real : d->path, f->key))
                uri = strdup(d->uri);
        }
        uri = uri ? uri : path_uri(f->key);
        if (f->places.len)
            json_object_set_new(changes, uri, edits_of(r, f));
        free(uri);
    }
    return json_pack("{s:o}", "changes", changes);
}

static void end(renaming *r)
{
    for (size_t i = 0; i < r->files.len; i++) {
        text_index_free(&r->files.at[i]->ix);
        vec_free(&r->files.at[i]->places);
        free(r->files.at[i]);
    }
    for (size_t i = 0; i < r->units.len; i++)
        if (r->units.at[i].owned)
            unit_free(r->units.at[i].u);
    vec_free(&r->files);
    vec_free(&r->units);
}

json_t *feature_prepare_rename(store *s, doc *d, size_t offset)
{
    renaming r = {.s = s, .d = d};
    json_t *j = NULL;
    sb_clear(&s->refusal);
    if (find_target(&r, offset)) {
        TEXT_INDEX(ix, &d->text, s->wide);
        j = json_pack("{s:o,s:s}", "range", json_range(&ix, r.at, r.at + strlen(r.old)), "placeholder", r.old);
    }
    end(&r);
    return j;
}

json_t *feature_rename(store *s, doc *d, size_t offset, const char *name)
{
    renaming r = {.s = s, .d = d, .name = name};
    json_t *j = NULL;
    sb_clear(&s->refusal);
    if (find_target(&r, offset) && check_name(&r) && (r.local || add_importers(&r, r.declared_in))) {
        collect(&r);
        if (rename_unchecked(&r) && prove(&r))
            j = answer(&r);
    }
    end(&r);
    return j;
}
