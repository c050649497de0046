/* The places of a rename, file by file. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lsp/names/rename.h"

bool rename_refuse(renaming *r, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        abort();
    sb_clear(&r->s->refusal);
    sb_add(&r->s->refusal, text);
    free(text);
    return false;
}

const char *rename_key(const unit *u, unsigned file)
{
    for (size_t i = 0; i < u->imports.files.len; i++)
        if (u->imports.files.at[i]->number == file)
            return u->imports.files.at[i]->real;
    return file == u->ast->file ? u->path : NULL;
}

renamed_file *rename_file(renaming *r, const unit *u, unsigned file)
{
    const char *key = rename_key(u, file);
    const strbuf *text = unit_text(u, file);
    if (!key || !text)
        return NULL;
    for (size_t i = 0; i < r->files.len; i++)
        if (!strcmp(r->files.at[i]->key, key))
            return r->files.at[i];
    renamed_file *f = xmalloc(sizeof *f);
    *f = (renamed_file){.key = key, .text = text, .ix = text_index_make(text, r->s->wide)};
    vec_push(&r->files, f);
    return f;
}

void rename_add(renamed_file *f, size_t at)
{
    size_t i = f->places.len;
    while (i > 0 && f->places.at[i - 1] > at)
        i--;
    if (i > 0 && f->places.at[i - 1] == at)
        return;
    vec_push(&f->places, at);
    memmove(f->places.at + i + 1, f->places.at + i, (f->places.len - 1 - i) * sizeof *f->places.at);
    f->places.at[i] = at;
}

void rename_text(const renaming *r, const renamed_file *f, strbuf *out)
{
    size_t done = 0;
    sb_clear(out);
    for (size_t i = 0; i < f->places.len; i++) {
        sb_addn(out, sb_str(f->text) + done, f->places.at[i] - done);
        sb_add(out, r->name);
        done = f->places.at[i] + strlen(r->old);
    }
    sb_addn(out, sb_str(f->text) + done, f->text->len - done);
}
