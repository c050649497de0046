/* Edits: what --format would write, and what messages say how to mend. */
#include <string.h>

#include "lsp/features.h"

/* ---- formatting ---- */

static json_t *edit(const text_index *ix, size_t from, size_t to, const char *with, size_t n)
{
    return json_pack("{s:o,s:s%}", "range", json_range(ix, from, to), "newText", with, n);
}

static size_t line_length(const char *s, size_t n)
{
    const char *end = memchr(s, '\n', n);
    return end ? (size_t)(end - s) + 1 : n;
}

static size_t count_lines(const strbuf *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->len; i += line_length(b->s + i, b->len - i))
        n++;
    return n;
}

/* Lines are neither broken nor joined: one edit for each that changes, so that the cursor stays where it is. */
static json_t *line_edits(const text_index *ix, const strbuf *old, const strbuf *new)
{
    json_t *list = json_array();
    for (size_t a = 0, b = 0; a < old->len && b < new->len;) {
        const size_t na = line_length(old->s + a, old->len - a), nb = line_length(new->s + b, new->len - b);
        if (na != nb || memcmp(old->s + a, new->s + b, na) != 0) {
            /* without what both end with: the end of the line */
            size_t ka = na, kb = nb;
            while (ka > 0 && kb > 0 && old->s[a + ka - 1] == new->s[b + kb - 1])
                ka--, kb--;
            while (ka < na && ((unsigned char)old->s[a + ka] & 0xc0) == 0x80) /* within a character */
                ka++, kb++;
            json_array_append_new(list, edit(ix, a, a + ka, new->s + b, kb));
        }
        a += na;
        b += nb;
    }
    return list;
}

json_t *feature_formatting(store *s, doc *d)
{
    const unit_host host = store_host(s);
    TEXT_INDEX(ix, &d->text, s->wide);
    unit *u = unit_compile(&host, d->path, sb_str(&d->text), d->text.len, UNIT_TEXT);
    bool broken = !u->ast || u->ast->file != 0;
    for (size_t i = 0; i < u->messages.len; i++)
        broken = broken || u->messages.at[i].severity == DIAG_ERROR;
    strbuf out = {0};
    json_t *list = NULL;
    const bool formatted = !broken && ast_format(&out, u->names, u->diag, u->ast->file, sb_str(&u->text), u->text.len);
    if (formatted && count_lines(&out) == count_lines(&d->text)) {
        list = line_edits(&ix, &d->text, &out);
    } else if (formatted) {
        list = json_array();
        json_array_append_new(list, edit(&ix, 0, d->text.len, out.s, out.len));
    }
    sb_free(&out);
    unit_free(u);
    return list;
}

/* ---- what messages say ---- */

static json_t *diagnostic_of(const text_index *ix, const unit_message *m, size_t from, size_t to)
{
    json_t *j = json_pack("{s:o,s:i,s:s,s:s}", "range", json_range(ix, from, to), "severity",
                          m->severity == DIAG_ERROR ? 1 : 2, "source", "tkc", "message", m->text);
    if (j && m->code)
        json_object_set_new(j, "code", json_string(m->code));
    return j;
}

static json_t *action(const text_index *ix, const doc *d, const unit_message *m, const unit_fix *f, json_t *diagnostic)
{
    const size_t at = text_offset_of(ix, f->at), n = strlen(f->old);
    if (d->text.len - at < n || memcmp(sb_str(&d->text) + at, f->old, n) != 0)
        return NULL;
    strbuf title = {0};
    if (n)
        sb_printf(&title, "Replace '%s' by '%s'", f->old, f->text);
    else
        sb_printf(&title, "Insert '%s'", f->text);
    json_t *edits = json_array();
    json_array_append_new(edits, edit(ix, at, at + n, f->text, strlen(f->text)));
    json_t *j = json_pack("{s:s,s:s,s:b,s:[O],s:{s:{s:o}}}", "title", sb_str(&title), "kind", "quickfix", "isPreferred",
                          m->fixes.len == 1, "diagnostics", diagnostic, "edit", "changes", d->uri, edits);
    sb_free(&title);
    return j;
}

/* The text is the one that was compiled. */
json_t *feature_actions(store *s, doc *d, size_t from, size_t to)
{
    json_t *list = json_array();
    const unit *u = d->now;
    TEXT_INDEX(ix, &d->text, s->wide);
    for (size_t i = 0; i < u->messages.len; i++) {
        const unit_message *m = &u->messages.at[i];
        size_t begin, end;
        if (!m->fixes.len || m->at.begin.file != u->ast->file)
            continue;
        span_offsets(&ix, m->at, &begin, &end);
        if (end < from || begin > to)
            continue;
        json_t *diagnostic = diagnostic_of(&ix, m, begin, end);
        for (size_t k = 0; k < m->fixes.len && diagnostic; k++) {
            json_t *one = m->fixes.at[k].at.file == u->ast->file ? action(&ix, d, m, &m->fixes.at[k], diagnostic)
                                                                 : NULL;
            if (one)
                json_array_append_new(list, one);
        }
        json_decref(diagnostic);
    }
    return list;
}
