/* Between the protocol's positions and the compiler's places. */
#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "lsp/store.h"

char *uri_path(const char *uri)
{
    if (strncmp(uri, "file://", 7) != 0)
        return NULL;
    const char *p = strchr(uri + 7, '/'); /* behind the host */
    strbuf b = {0};
    for (; p && *p; p++) {
        unsigned byte;
        char two[3] = {p[0] == '%' ? p[1] : '\0', p[0] == '%' && p[1] ? p[2] : '\0', '\0'};
        char *end = two;
        byte = (unsigned)strtoul(two, &end, 16);
        if (*p == '%' && end == two + 2 && byte) {
            sb_addc(&b, (char)byte);
            p += 2;
        } else {
            sb_addc(&b, *p);
        }
    }
    return b.s;
}

char *path_uri(const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    strbuf b = {0};
    sb_add(&b, "file://");
    for (; *path; path++)
        if (strchr(plain, *path))
            sb_addc(&b, *path);
        else
            sb_printf(&b, "%%%02X", (unsigned)(unsigned char)*path);
    return b.s;
}

json_t *json_pos(const text_index *ix, size_t offset)
{
    const text_pos at = text_position(ix, offset);
    return json_pack("{s:I,s:I}", "line", (json_int_t)at.line, "character", (json_int_t)at.character);
}

json_t *json_range(const text_index *ix, size_t from, size_t to)
{
    return json_pack("{s:o,s:o}", "start", json_pos(ix, from), "end", json_pos(ix, to < from ? from : to));
}

bool pos_of_json(const store *s, const json_t *pos, const strbuf *text, size_t *offset)
{
    const json_t *line = json_object_get(pos, "line"), *character = json_object_get(pos, "character");
    if (!json_is_integer(line) || !json_is_integer(character) || json_integer_value(line) < 0 ||
        json_integer_value(character) < 0)
        return false;
    *offset = text_offset(sb_str(text), text->len,
                          (text_pos){(size_t)json_integer_value(line), (size_t)json_integer_value(character)}, s->wide);
    return true;
}

void span_offsets(const text_index *ix, src_span at, size_t *from, size_t *to)
{
    *from = *to = 0;
    if (at.begin.line == 0)
        return;
    *from = text_offset_of(ix, at.begin);
    if (at.end.line > 0) {
        *to = text_offset_of(ix, at.end);
    } else {
        for (*to = *from; *to < ix->len && text_in_word(ix->text[*to]);)
            ++*to;
    }
    if (*to < *from)
        *to = *from;
}

const strbuf *unit_text(const unit *u, unsigned file)
{
    /* in the order in which they were read; the prelude's comes behind, and has no path that is a file */
    if (file == u->ast->file)
        return &u->text;
    const char *path = diag_file_path(u->diag, (uint16_t)file);
    for (size_t i = 0; i < u->imports.files.len; i++)
        if (!strcmp(u->imports.files.at[i]->path, path))
            return &u->imports.files.at[i]->text;
    return NULL;
}

json_t *json_location(store *s, const unit *u, const char *root_uri, src_span at)
{
    const strbuf *text = at.begin.line ? unit_text(u, at.begin.file) : NULL;
    if (!text)
        return NULL;
    TEXT_INDEX(ix, text, s->wide);
    size_t from, to;
    span_offsets(&ix, at, &from, &to);
    char *uri = NULL;
    if (text != &u->text) {
        const char *path = diag_file_path(u->diag, at.begin.file);
        char *real = realpath(path, NULL);
        for (size_t i = 0; i < s->docs.len && real && !uri; i++) /* as the editor calls it */
            if (s->docs.at[i]->real && !strcmp(s->docs.at[i]->real, real))
                uri = strdup(s->docs.at[i]->uri);
        uri = uri ? uri : path_uri(real ? real : path);
        free(real);
    }
    json_t *j = json_pack("{s:s,s:o}", "uri", uri ? uri : root_uri, "range", json_range(&ix, from, to));
    free(uri);
    return j;
}

bool doc_offset(const doc *d, const unit *u, size_t offset, size_t *mapped)
{
    const text_change c = text_compare(&d->text, &u->text);
    return text_map(&c, offset, mapped);
}

json_t *doc_range(const text_index *then, const text_index *now, const text_change *c, src_span at)
{
    size_t from, to, now_from, now_to;
    span_offsets(then, at, &from, &to);
    if (!text_map(c, from, &now_from))
        return NULL;
    if (!text_map(c, to, &now_to) || now_to < now_from)
        now_to = now_from;
    return json_range(now, now_from, now_to);
}

/* The one of the unit at that offset of its text; with a name but no offset, any of that name. */
static const check_use *use_at(const unit *u, size_t offset)
{
    const src_loc at = text_where(sb_str(&u->text), offset, u->ast->file);
    for (size_t i = u->log.uses.len; i-- > 0;) {
        const check_use *use = &u->log.uses.at[i];
        const size_t n = use->name ? strlen(use->name) : 0;
        if (use->at.begin.file == at.file && use->at.begin.line == at.line && use->at.begin.col <= at.col &&
            at.col <= use->at.begin.col + n && n > 0)
            return use;
    }
    return NULL;
}

static const check_use *use_named(const unit *u, const char *name, size_t n)
{
    const check_use *found = NULL;
    for (size_t i = 0; i < u->log.uses.len; i++) {
        const check_use *use = &u->log.uses.at[i];
        if (!use->name || strncmp(use->name, name, n) != 0 || use->name[n])
            continue;
        if (use->item)
            return use;
        found = use;
    }
    return found;
}

const check_use *doc_use(doc *d, size_t offset, const unit **of)
{
    unit *const units[] = {d->now, d->known};
    size_t begin, mapped;
    const size_t n = text_word(sb_str(&d->text), d->text.len, offset, &begin);
    const char *name = sb_str(&d->text) + begin;
    for (int k = 0; k < 2 && n > 0; k++) {
        *of = units[k];
        if (!*of || !(*of)->asked || (k == 1 && *of == units[0]) || !doc_offset(d, *of, begin, &mapped))
            continue;
        const check_use *use = use_at(*of, mapped);
        if (use && strlen(use->name) == n && !memcmp(use->name, name, n))
            return use;
    }
    /* new text around it, or nothing was checked there: what has that name in the module */
    for (int k = 0; k < 2 && n > 0; k++) {
        *of = units[k];
        const char before = begin > 0 ? d->text.s[begin - 1] : '\0';
        size_t ignored;
        if (!*of || !(*of)->asked || before == '.' ||
            (*of == d->now && doc_offset(d, *of, begin, &ignored) && k == 0 && d->now->reached >= UNIT_CHECKED))
            continue;
        const check_use *use = use_named(*of, name, n);
        if (use && use->item)
            return use;
    }
    return NULL;
}

void item_head(strbuf *out, const text_index *ix, const ast_item *it)
{
    size_t from, to;
    span_offsets(ix, it->span, &from, &to);
    const char *s = ix->text;
    size_t end = to;
    if (it->kind == AST_ITEM_FUNC || it->kind == AST_ITEM_KERNEL) {
        const char *brace = memchr(s + from, '{', to - from);
        end = brace ? (size_t)(brace - s) : to;
    }
    while (end > from && strchr(" \t\r\n;", s[end - 1]))
        end--;
    sb_addn(out, s + from, end - from);
}
