/* The entry: checks that the input is text, runs the parser, hangs the doc comments on the items. */
#include "syntax/parse.h"

#include <stdlib.h>
#include <string.h>

#include "tk.tab.h"
#include "util/strbuf.h"
#include "util/utf8.h"

/* Reports the first byte that no source file has. A byte order mark is allowed and is white space. */
static bool check_text(parse *p)
{
    const char *why = NULL;
    src_loc at = {1, 1, p->file};
    if (p->len > MAX_SOURCE)
        why = "it is larger than 64 MiB";
    for (size_t i = 0; i < p->len && !why;) {
        size_t bytes = utf8_length(p->text + i, p->len - i);
        if (bytes == 0 || p->text[i] == '\0') {
            why = bytes == 0 ? "it is not UTF-8" : "it contains a NUL byte";
        } else if (p->text[i] == '\n') {
            at.line++;
            at.col = 1;
        } else {
            at.col = (uint16_t)(at.col + bytes < UINT16_MAX ? at.col + bytes : UINT16_MAX);
        }
        i += bytes;
    }
    return !why || diag(p->diag, span_at(at), DIAG_NOT_TEXT, why);
}

/* ---- doc comments ---- */

static void add_line(strbuf *b, const char *text)
{
    if (b->len > 0)
        sb_addc(b, '\n');
    sb_add(b, text);
}

/* The first of the comments [from, to) of the block, each on its own line, that ends directly above `line`. */
static size_t block_above(const parse *p, size_t from, size_t to, uint32_t line)
{
    size_t k = to;
    while (k > from && p->docs.at[k - 1].own_line && p->docs.at[k - 1].line + 1 == line) {
        k--;
        line = p->docs.at[k].line;
    }
    return k;
}

/* Both lists are in source order. A comment behind an item belongs to it if it stands on its last line, or on the line
 * of its name. */
static void attach_docs(parse *p)
{
    size_t k = 0;
    strbuf doc = {0};
    for (ast_item *i = p->items.first; i; i = i->next) {
        size_t from = k;
        while (k < p->docs.len && p->docs.at[k].line < i->span.begin.line)
            k++;
        for (size_t d = block_above(p, from, k, i->span.begin.line); d < k; d++)
            add_line(&doc, p->docs.at[d].text);
        for (; k < p->docs.len && p->docs.at[k].line <= i->span.end.line; k++) {
            const doc_comment *c = &p->docs.at[k];
            bool at_end = c->line == i->span.end.line || c->line == i->name_span.begin.line;
            bool of_next = i->next && i->next->span.begin.line == c->line;
            if (!c->own_line && at_end && !of_next)
                add_line(&doc, c->text);
        }
        if (doc.len > 0)
            i->doc = arena_strdup(p->mem, sb_str(&doc));
        sb_clear(&doc);
    }
    sb_free(&doc);
}

/* ---- names of imported files ---- */

/* lib.f is one name where lib is what the file calls an import. */
static void join_names(parse *p)
{
    for (const ast_item *it = p->items.first; it; it = it->next)
        for (size_t k = 0; it->as && k < p->members.len; k++) {
            ast_expr *e = p->members.at[k];
            if (e->kind != AST_EXPR_MEMBER || e->a->name != it->as)
                continue;
            e->kind = AST_EXPR_NAME;
            e->name = dotted_name(p, it->as, e->name);
            e->a = NULL;
        }
}

/* ---- entries ---- */

ast_module *ast_parse(arena *mem, intern_pool *names, diag_sink *d, uint16_t file, const char *text, size_t len)
{
    parse *p = ARENA_NEW(mem, parse);
    *p = (parse){.mem = mem, .names = names, .diag = d, .file = file, .text = text, .len = len};
    ast_module *m = ARENA_NEW(mem, ast_module);
    m->file = file;
    if (!check_text(p))
        return m;
    feed_begin(p);
    tk_parse(p);
    feed_end(p);
    attach_docs(p);
    join_names(p);
    m->items = p->items.first;
    vec_free(&p->docs);
    vec_free(&p->members);
    return m;
}

bool parse_scan(intern_pool *names, diag_sink *d, uint16_t file, const char *text, size_t len,
                void (*each)(void *ctx, const token *t), void *ctx)
{
    arena *mem = arena_create();
    parse *p = ARENA_NEW(mem, parse);
    *p = (parse){.mem = mem, .names = names, .diag = d, .file = file, .text = text, .len = len};
    const bool ok = check_text(p);
    if (ok) {
        feed_begin(p);
        for (;;) {
            TK_STYPE value;
            const token t = feed_scan(p, &value);
            if (t.code == TOK_TK_error && !p->stopped)
                continue;
            each(ctx, &t);
            if (t.code == TOK_END)
                break;
        }
        feed_end(p);
        vec_free(&p->docs);
    }
    arena_destroy(mem);
    return ok;
}

typedef struct token_dump {
    FILE *out;
    const char *text;
} token_dump;

static void dump_token(void *ctx, const token *t)
{
    const token_dump *d = ctx;
    fprintf(d->out, "%u:%u: ", (unsigned)t->span.begin.line, (unsigned)t->span.begin.col);
    const char *name = token_name(t->code);
    if (name[0] == '\'' || t->code == TOK_END)
        fprintf(d->out, "%s\n", name);
    else
        fprintf(d->out, "%s %.*s\n", name, (int)(t->to - t->from), d->text + t->from);
}

void ast_dump_tokens(FILE *out, intern_pool *names, diag_sink *d, uint16_t file, const char *text, size_t len)
{
    token_dump dump = {out, text};
    parse_scan(names, d, file, text, len, dump_token, &dump);
}
