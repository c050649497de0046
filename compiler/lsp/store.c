#include "lsp/store.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "files/files.h"

doc *store_find(const store *s, const char *uri)
{
    for (size_t i = 0; uri && i < s->docs.len; i++)
        if (!strcmp(s->docs.at[i]->uri, uri))
            return s->docs.at[i];
    return NULL;
}

static void forget_units(doc *d)
{
    if (d->known != d->now)
        unit_free(d->known);
    unit_free(d->now);
    unit_free(d->lowered);
    d->now = d->known = d->lowered = NULL;
}

static void doc_free(doc *d)
{
    forget_units(d);
    sb_free(&d->text);
    free(d->uri);
    free(d->path);
    free(d->real);
    free(d);
}

static void make_stale(doc *d)
{
    d->changed = true;
    d->told = false;
}

void store_stale(store *s)
{
    for (size_t i = 0; i < s->docs.len; i++)
        make_stale(s->docs.at[i]);
}

/* All that import the file, which the editor calls so. */
static void stale_importers(store *s, const doc *changed)
{
    for (size_t i = 0; i < s->docs.len && changed->real; i++) {
        doc *d = s->docs.at[i];
        for (size_t k = 1; d->now && k < d->now->imports.files.len; k++)
            if (!strcmp(d->now->imports.files.at[k]->real, changed->real)) {
                make_stale(d);
                break;
            }
    }
}

static void set_text(strbuf *b, const char *text, size_t len)
{
    sb_clear(b);
    sb_addn(b, text, len);
}

doc *store_open(store *s, const char *uri, const char *text, size_t len, json_int_t version)
{
    doc *d = store_find(s, uri);
    if (!d) {
        d = xmalloc(sizeof *d);
        *d = (doc){.uri = strdup(uri), .path = uri_path(uri)};
        if (d->path)
            d->real = realpath(d->path, NULL);
        else
            d->path = strdup("untitled.tk");
        vec_push(&s->docs, d);
    }
    set_text(&d->text, text, len);
    d->version = version;
    make_stale(d);
    stale_importers(s, d);
    return d;
}

static void publish(store *s, const doc *d, json_t *list, bool open)
{
    json_t *params = json_pack("{s:s,s:o}", "uri", d->uri, "diagnostics", list);
    if (open)
        json_object_set_new(params, "version", json_integer(d->version));
    wire_notify(s->w, "textDocument/publishDiagnostics", params);
}

void store_close(store *s, doc *d)
{
    publish(s, d, json_array(), false);
    for (size_t i = 0; i < s->docs.len; i++)
        if (s->docs.at[i] == d) {
            s->docs.at[i] = vec_last(&s->docs);
            s->docs.len--;
            break;
        }
    stale_importers(s, d);
    doc_free(d);
}

void store_edit(store *s, doc *d, size_t from, size_t to, const char *text, size_t len)
{
    strbuf b = {0};
    sb_addn(&b, sb_str(&d->text), from);
    sb_addn(&b, text, len);
    sb_addn(&b, sb_str(&d->text) + to, d->text.len - to);
    sb_free(&d->text);
    d->text = b;
    make_stale(d);
    stale_importers(s, d);
}

void store_free(store *s)
{
    for (size_t i = 0; i < s->docs.len; i++)
        doc_free(s->docs.at[i]);
    vec_free(&s->docs);
    for (size_t i = 0; i < s->folders.len; i++)
        free(s->folders.at[i]);
    vec_free(&s->folders);
    sb_free(&s->refusal);
}

/* ---- compiling ---- */

static bool unsaved(void *ctx, const char *real, strbuf *out)
{
    const store *s = ctx;
    for (size_t i = 0; i < s->docs.len; i++)
        if (s->docs.at[i]->real && !strcmp(s->docs.at[i]->real, real)) {
            set_text(out, sb_str(&s->docs.at[i]->text), s->docs.at[i]->text.len);
            return true;
        }
    return false;
}

unit_host store_host(store *s)
{
    return (unit_host){.opt = s->opt, .unsaved = unsaved, .ctx = s, .checked = &s->checked, .compiled = &s->compiled};
}

/* The import of the text itself by which a file came in; NULL: the first. */
static const ast_item *import_of(const unit *u, unsigned file)
{
    const char *path = diag_file_path(u->diag, (uint16_t)file), *base = path_base(path);
    for (const ast_item *it = u->import_items; it; it = it->next)
        if (it->text && !strcmp(path_base(it->text), base))
            return it;
    return u->import_items;
}

static json_t *related(store *s, const doc *d, const unit *u, src_span at, const char *text)
{
    json_t *where = json_location(s, u, d->uri, at);
    return where ? json_pack("{s:o,s:s}", "location", where, "message", text) : NULL;
}

static void add_related(json_t *list, json_t *one)
{
    if (one)
        json_array_append_new(list, one);
}

/* A message about an imported file stands at the import, and leads to its place. */
static json_t *to_json(store *s, const doc *d, const unit *u, const text_index *ix, const unit_message *m)
{
    const bool here = m->at.begin.line == 0 || m->at.begin.file == u->ast->file;
    const ast_item *import = here ? NULL : import_of(u, m->at.begin.file);
    strbuf text = {0};
    size_t from, to;
    json_t *more = json_array();
    span_offsets(ix, here ? m->at : import ? import->name_span : (src_span){{0, 0, 0}, {0, 0, 0}}, &from, &to);
    if (!here) {
        sb_printf(&text, "%s:%u: ", diag_file_path(u->diag, m->at.begin.file), (unsigned)m->at.begin.line);
        add_related(more, related(s, d, u, m->at, m->text));
    }
    sb_add(&text, m->text);
    for (size_t i = 0; i < m->notes.len; i++) {
        json_t *one = related(s, d, u, m->notes.at[i].at, m->notes.at[i].text);
        if (!one || m->notes.at[i].at.begin.line == m->at.begin.line)
            sb_printf(&text, "\n%s", m->notes.at[i].text); /* editors show few of the related places */
        add_related(more, one);
    }
    json_t *j = json_pack("{s:o,s:i,s:s,s:s}", "range", json_range(ix, from, to), "severity",
                          m->severity == DIAG_ERROR ? 1 : 2, "source", "tkc", "message", sb_str(&text));
    sb_free(&text);
    if (!j) { /* not UTF-8: the message quotes a text that is none */
        j = json_pack("{s:o,s:i,s:s,s:s}", "range", json_range(ix, from, to), "severity", 1, "source", "tkc", "message",
                      "the file is not UTF-8");
    }
    if (m->code) {
        json_object_set_new(j, "code", json_string(m->code));
        char *page = s->opt->page_of ? s->opt->page_of(m->code) : NULL;
        if (page)
            json_object_set_new(j, "codeDescription", json_pack("{s:s}", "href", page));
        free(page);
    }
    if (json_array_size(more) > 0)
        json_object_set(j, "relatedInformation", more);
    json_decref(more);
    return j;
}

static void tell(store *s, doc *d)
{
    const unit *u = d->now;
    json_t *list = json_array();
    TEXT_INDEX(ix, &u->text, s->wide);
    for (size_t i = 0; i < u->messages.len; i++)
        json_array_append_new(list, to_json(s, d, u, &ix, &u->messages.at[i]));
    publish(s, d, list, true);
    d->told = true;
}

void store_refresh(store *s, doc *d)
{
    if (!d->changed && d->now)
        return;
    d->changed = d->told = false;
    const unit_host host = store_host(s);
    unit *u = unit_compile(&host, d->path, sb_str(&d->text), d->text.len, UNIT_CHECKED);
    if (d->now != d->known)
        unit_free(d->now);
    d->now = u;
    /* with errors in what was checked less is known than before: the last state without stays beside it */
    if (u->asked && (u->reached >= UNIT_CHECKED || !d->known)) {
        unit_free(d->known);
        unit_free(d->lowered);
        d->known = u;
        d->lowered = NULL;
    }
    if (!unit_is_short_of(u, UNIT_COMPILED))
        tell(s, d);
}

void store_lower(store *s, doc *d)
{
    store_refresh(s, d);
    const unit_host host = store_host(s);
    unit_continue(d->now, &host, UNIT_LOWERED);
    if (!d->told && !unit_is_short_of(d->now, UNIT_COMPILED))
        tell(s, d);
}

static int64_t milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The passes delay keys that are pressed meanwhile: they run after a pause of twice the time that they took before. */
void store_finish(store *s, doc *d)
{
    enum { MOST = 1000 };
    store_refresh(s, d);
    if (d->told)
        return;
    const unit_host host = store_host(s);
    const int64_t begin = milliseconds();
    unit_continue(d->now, &host, UNIT_COMPILED);
    const int64_t twice = 2 * (milliseconds() - begin);
    s->pause = twice < MOST ? (int)twice : MOST;
    tell(s, d);
}
