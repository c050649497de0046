/* The generated C of one kernel's adjoint. */
#include <ctype.h>
#include <string.h>

#include "files/files.h"
#include "lsp/features.h"

/* A function or struct of the generated C, from its first line to its `}`. */
typedef struct chunk {
    const char *text, *name;
    size_t len, name_len;
    bool wanted;
} chunk;

typedef VEC(chunk) chunk_list;

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* What the first line declares: the name in front of `(`, or behind `struct`. */
static void name_chunk(chunk *c)
{
    const size_t n = strcspn(c->text, "\n");
    const char *paren = memchr(c->text, '(', n);
    const char *end = paren ? paren : c->text;
    if (!paren && !strncmp(c->text, "struct ", 7))
        for (end = c->text + 7; in_name(*end);)
            end++;
    const char *begin = end;
    while (begin > c->text && in_name(begin[-1]))
        begin--;
    c->name = begin;
    c->name_len = (size_t)(end - begin);
}

static void split(const strbuf *c, chunk_list *out)
{
    const char *s = sb_str(c), *const end = s + c->len;
    const char *begin = NULL;
    while (s < end) {
        const char *nl = memchr(s, '\n', (size_t)(end - s)), *next = nl ? nl + 1 : end;
        if (!begin && (isalpha((unsigned char)*s)))
            begin = s;
        if (begin && *s == '}') {
            chunk one = {.text = begin, .len = (size_t)(next - begin)};
            name_chunk(&one);
            if (one.name_len)
                vec_push(out, one);
            begin = NULL;
        } else if (begin && (*s == '\n' || *s == '#')) {
            begin = NULL; /* a prototype, a table */
        }
        s = next;
    }
}

/* Whether the text has the name as a word. */
static bool says(const chunk *c, const char *name, size_t n)
{
    for (const char *p = c->text, *end = c->text + c->len; (p = memmem(p, (size_t)(end - p), name, n)); p++)
        if ((p == c->text || !in_name(p[-1])) && (p + n == end || !in_name(p[n])))
            return true;
    return false;
}

static bool starts(const chunk *c, const char *name)
{
    const size_t n = strlen(name);
    return c->name_len >= n && !memcmp(c->name, name, n) &&
           (c->name_len == n || !strncmp(c->name + n, "_task", 5) || !strncmp(c->name + n, "_run", 4));
}

static void mark_wanted(const unit *u, chunk_list *all, const char *kernel)
{
    const char *launched = arena_printf(u->mem, "%s__%s_grad", u->ir->name, kernel);
    const char *entry = arena_printf(u->mem, "%s_%s_grad", u->ir->name, kernel);
    const char *own = arena_printf(u->mem, "%s__", u->ir->name);
    for (size_t i = 0; i < all->len; i++)
        all->at[i].wanted = starts(&all->at[i], launched) || starts(&all->at[i], entry);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < all->len; i++)
            for (size_t k = 0; !all->at[i].wanted && k < all->len; k++)
                if (all->at[k].wanted && all->at[i].name_len > strlen(own) &&
                    !strncmp(all->at[i].name, own, strlen(own)) &&
                    says(&all->at[k], all->at[i].name, all->at[i].name_len))
                    all->at[i].wanted = more = true;
    }
}

/* ---- which ---- */

static bool can_have(const ast_item *it)
{
    return it->name && (it->kind == AST_ITEM_KERNEL || (it->kind == AST_ITEM_FUNC && it->is_export));
}

/* The one at the line, the one of that name, or the only one. */
static const ast_item *choose(const unit *u, unsigned line, const char *name)
{
    const ast_item *only = NULL;
    int n = 0;
    for (const ast_item *it = u->ast->items; it; it = it->next) {
        if (!can_have(it))
            continue;
        const bool here = it->span.begin.file == u->ast->file && it->span.begin.line <= line &&
                          line <= it->span.end.line;
        if (name ? !strcmp(it->name, name) : here)
            return it;
        only = it;
        n++;
    }
    return n == 1 && !name ? only : NULL;
}

static json_t *refusal(const char *why, const char *more)
{
    strbuf b = {0};
    sb_printf(&b, "%s%s", why, more);
    json_t *j = json_pack("{s:s}", "error", sb_str(&b));
    sb_free(&b);
    return j ? j : json_pack("{s:s}", "error", why);
}

static const ir_func *primal_of(const unit *u, const char *name)
{
    for (size_t i = 0; i < u->ir->funcs.len; i++)
        if (u->ir->funcs.at[i]->kind == IR_KERNEL && !strcmp(u->ir->funcs.at[i]->name, name))
            return u->ir->funcs.at[i];
    return NULL;
}

static json_t *answer(const unit *u, const ast_item *it)
{
    const ir_func *f = primal_of(u, it->name);
    if (!f || !f->ad.grad)
        return refusal("there is no adjoint of it: ", f && f->ad.no_grad_why ? f->ad.no_grad_why : "it asks for none");
    chunk_list all = {0};
    strbuf text = {0};
    split(&u->c, &all);
    mark_wanted(u, &all, it->name);
    sb_printf(&text, "/* The adjoint of %s, as tkc generates it from %s. */\n", it->name, path_base(u->path));
    for (size_t i = 0; i < all.len; i++)
        if (all.at[i].wanted) {
            sb_addc(&text, '\n');
            sb_addn(&text, all.at[i].text, all.at[i].len);
        }
    json_t *j = json_pack("{s:s,s:s}", "name", it->name, "text", sb_str(&text));
    vec_free(&all);
    sb_free(&text);
    return j;
}

json_t *feature_adjoint(store *s, doc *d, size_t offset, const char *kernel)
{
    const unit_host host = store_host(s);
    unit *u = unit_compile(&host, d->path, sb_str(&d->text), d->text.len, UNIT_EMITTED);
    json_t *j = NULL;
    if (u->reached < UNIT_EMITTED) {
        j = refusal("the file has errors", u->messages.len ? "; mend them first" : "");
    } else {
        const ast_item *it = choose(u, text_where(sb_str(&d->text), offset, 0).line, kernel);
        j = it ? answer(u, it) : refusal("there is no kernel here", "");
    }
    unit_free(u);
    return j;
}
