/* What an editor can fold: blocks, comments of several lines, and imports. Broken texts have them, too. */
#include <string.h>

#include "lsp/features.h"

typedef struct folds {
    const text_index *ix;
    json_t *list;
    VEC(size_t) open;           /* lines of the braces */
    const char *run;            /* kind of the lines so far that stand together; NULL: there are none */
    size_t run_first, run_last; /* lines */
} folds;

static void add(folds *f, size_t first, size_t last, const char *kind)
{
    if (last <= first)
        return;
    json_t *j = json_pack("{s:I,s:I}", "startLine", (json_int_t)first, "endLine", (json_int_t)last);
    if (kind)
        json_object_set_new(j, "kind", json_string(kind));
    json_array_append_new(f->list, j);
}

static void end_run(folds *f)
{
    if (f->run)
        add(f, f->run_first, f->run_last, f->run);
    f->run = NULL;
}

static void add_to_run(folds *f, const char *kind, size_t line)
{
    if (!f->run || strcmp(f->run, kind) != 0 || line > f->run_last + 1) {
        end_run(f);
        f->run = kind;
        f->run_first = line;
    }
    f->run_last = line;
}

static bool begins_line(const text_index *ix, size_t i)
{
    while (i > 0 && (ix->text[i - 1] == ' ' || ix->text[i - 1] == '\t'))
        i--;
    return i == 0 || ix->text[i - 1] == '\n' || ix->text[i - 1] == '\r';
}

static void pass_quiet(folds *f, size_t from, size_t to)
{
    const char *t = f->ix->text + from;
    const size_t line = text_position(f->ix, from).line;
    if (t[0] == '"')
        return;
    if (t[1] == '*')
        add(f, line, text_position(f->ix, to).line, "comment");
    else if (begins_line(f->ix, from))
        add_to_run(f, "comment", line);
}

static void pass_brace(folds *f, size_t i)
{
    const size_t line = text_position(f->ix, i).line;
    if (f->ix->text[i] == '{') {
        vec_push(&f->open, line);
    } else if (f->open.len) { /* the line of the `}` stays visible */
        const size_t first = f->open.at[--f->open.len];
        add(f, first, line ? line - 1 : 0, NULL);
    }
}

json_t *feature_folding(store *s, doc *d)
{
    TEXT_INDEX(ix, &d->text, s->wide);
    folds f = {.ix = &ix, .list = json_array()};
    for (size_t i = 0; i < ix.len;) {
        const size_t end = text_skip(ix.text, ix.len, i, NULL);
        size_t begin;
        if (end > i) {
            pass_quiet(&f, i, end);
            i = end;
            continue;
        }
        const size_t n = begins_line(&ix, i) ? text_word(ix.text, ix.len, i, &begin) : 0;
        if (n == 6 && !memcmp(ix.text + i, "import", 6))
            add_to_run(&f, "imports", text_position(&ix, i).line);
        else if (n)
            end_run(&f);
        if (ix.text[i] == '{' || ix.text[i] == '}')
            pass_brace(&f, i);
        i += n ? n : 1;
    }
    end_run(&f);
    vec_free(&f.open);
    return f.list;
}
