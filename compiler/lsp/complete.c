/* What may stand at the cursor. */
#include <stdlib.h>
#include <string.h>

#include "lsp/features.h"

/* ---- what is always there ---- */

static const builtin builtins[] = {
#define BUILTIN(name, signature, text) {name, signature, text},
#include "lsp/words/builtins.def"
#undef BUILTIN
};

typedef enum place_kind { ITEM, BODY, TYPE, FIELD_ATTR, FUNC_ATTR, PARAM_WORD } place_kind;

static const struct {
    place_kind where;
    const char *word, *text;
} words[] = {
#define WORD(where, word, text) {where, word, text},
#include "lsp/words/words.def"
#undef WORD
};

const builtin *builtin_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (n && strlen(builtins[i].name) == n && !memcmp(builtins[i].name, name, n))
            return &builtins[i];
    return NULL;
}

size_t word_texts(const char *name, size_t n, const char **out, size_t most)
{
    size_t found = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words && found < most; i++)
        if (n && strlen(words[i].word) == n && !memcmp(words[i].word, name, n))
            out[found++] = words[i].text;
    return found;
}

enum {
    KIND_FUNCTION = 3,
    KIND_FIELD = 5,
    KIND_VARIABLE = 6,
    KIND_MODULE = 9,
    KIND_PROPERTY = 10,
    KIND_KEYWORD = 14,
    KIND_CONSTANT = 21,
    KIND_STRUCT = 22,
    KIND_TYPE = 25
};

static void add(json_t *list, const char *label, int kind, const char *detail, const char *more)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!strcmp(json_string_value(json_object_get(json_array_get(list, i), "label")), label))
            return;
    json_t *j = json_pack("{s:s,s:i}", "label", label, "kind", kind);
    if (!j)
        return;
    if (detail && *detail)
        json_object_set_new(j, "detail", json_string(detail));
    if (more && *more)
        json_object_set_new(j, "documentation", json_string(more));
    json_array_append_new(list, j);
}

static void add_words(json_t *list, place_kind where)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].where == where)
            add(list, words[i].word, where == TYPE ? KIND_TYPE : KIND_KEYWORD, words[i].text, NULL);
}

/* ---- where the cursor is ---- */

typedef struct context {
    const char *text;
    size_t begin;      /* of the word at the cursor */
    size_t statement;  /* where the item or statement around it begins */
    int depth;         /* of braces */
    bool paren, quiet; /* within parentheses; within a comment or a string */
    char before;       /* the last character in front that is no space, '\0': none */
    size_t before_at;
    const char *head; /* first word of the statement */
    size_t head_len;
} context;

static context context_at(const doc *d, size_t offset)
{
    context c = {.text = sb_str(&d->text)};
    text_word(c.text, d->text.len, offset, &c.begin);
    int parens = 0;
    for (size_t i = 0; i < c.begin; i++) {
        const char ch = c.text[i];
        bool closed = true;
        const size_t end = text_skip(c.text, c.begin, i, &closed);
        c.quiet = !closed;
        if (end > i) {
            i = end - 1;
            continue;
        }
        parens += ch == '(' || ch == '[' ? 1 : ch == ')' || ch == ']' ? -1 : 0;
        c.depth += ch == '{' ? 1 : ch == '}' ? -1 : 0;
        if (ch == ';' || ch == '{' || ch == '}') {
            c.statement = i + 1;
            parens = 0;
        }
        if (!strchr(" \t\r\n", ch)) {
            c.before = ch;
            c.before_at = i;
        }
    }
    c.paren = parens > 0;
    for (c.head = c.text + c.statement; c.head < c.text + c.begin && !text_in_word(*c.head);)
        c.head++;
    for (c.head_len = 0; c.head + c.head_len < c.text + c.begin && text_in_word(c.head[c.head_len]);)
        c.head_len++;
    return c;
}

static bool head_is(const context *c, const char *word)
{
    return c->head_len == strlen(word) && !memcmp(c->head, word, c->head_len);
}

/* ---- members ---- */

/* The text with a name where one has yet to be written, so that it can be parsed: the statement may lack its end, too.
 */
static unit *compile_probed(store *s, const doc *d, size_t offset, const char *probe)
{
    size_t begin;
    const size_t n = text_word(sb_str(&d->text), d->text.len, offset, &begin);
    const unit_host host = store_host(s);
    strbuf b = {0};
    sb_addn(&b, sb_str(&d->text), begin);
    sb_add(&b, probe);
    sb_add(&b, sb_str(&d->text) + begin + n);
    unit *u = unit_compile(&host, d->path, b.s, b.len, UNIT_CHECKED);
    sb_free(&b);
    return u;
}

/* The type of the expression that ends at the offset. */
static const ty *type_before(const unit *u, size_t offset)
{
    const src_loc end = text_where(sb_str(&u->text), offset, u->ast->file);
    const check_typed *best = NULL;
    for (size_t i = 0; i < u->log.exprs.len; i++) {
        const check_typed *e = &u->log.exprs.at[i];
        if (e->at.end.line == end.line && e->at.end.col == end.col && e->at.begin.file == end.file &&
            (!best || e->at.begin.line < best->at.begin.line ||
             (e->at.begin.line == best->at.begin.line && e->at.begin.col < best->at.begin.col)))
            best = e;
    }
    return best ? best->type : NULL;
}

static const check_use *use_before(const unit *u, size_t offset)
{
    const src_loc end = text_where(sb_str(&u->text), offset, u->ast->file);
    for (size_t i = 0; i < u->log.uses.len; i++) {
        const check_use *use = &u->log.uses.at[i];
        if (use->name && use->at.begin.file == end.file && use->at.begin.line == end.line &&
            use->at.begin.col + strlen(use->name) == end.col)
            return use;
    }
    return NULL;
}

static void add_methods(json_t *list, const ty *t)
{
    static const char *const none[] = {"assert", "print", "range",  "ndrange", "grouped",  "len",
                                       "rows",   "cols",  "random", "randn",   "identity", "random_int"};
    static const char *const shaped[] = {
        "all",  "any",          "cross",   "determinant",     "distance",      "dot", "inverse", "length",
        "norm", "norm_sqr",     "solve",   "normalized",      "outer_product", "sum", "trace",   "transpose",
        "svd",  "svd_rotation", "sym_eig", "polar_decompose", "polar_rotation"};
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        const builtin *b = &builtins[i];
        bool fits = strncmp(b->name, "atomic_", 7) != 0;
        for (size_t k = 0; k < sizeof none / sizeof *none; k++)
            fits = fits && strcmp(b->name, none[k]) != 0;
        for (size_t k = 0; k < sizeof shaped / sizeof *shaped; k++)
            fits = fits && (t->kind != TY_SCALAR || strcmp(b->name, shaped[k]) != 0);
        if (fits)
            add(list, b->name, KIND_FUNCTION, b->signature, b->text);
    }
}

static void add_members_of(json_t *list, const unit *u, const ty *t)
{
    static const char *const letters[] = {"x", "y", "z", "w"};
    if (t->kind == TY_STRUCT)
        for (int k = 0; k < t->nmembers; k++)
            add(list, t->names[k], KIND_FIELD, ty_name(u->log.types, t->members[k]), NULL);
    for (int k = 0; t->kind == TY_VEC && k < t->rows && k < 4; k++)
        add(list, letters[k], KIND_FIELD, "a component", NULL);
    if (ty_is_numeric(t))
        add_methods(list, t);
}

static void add_planes(json_t *list, const check_use *use)
{
    if (use->planes[0])
        add(list, "grad", KIND_PROPERTY, "the gradient", NULL);
    if (use->planes[1])
        add(list, "dual", KIND_PROPERTY, "the tangent", NULL);
    if (use->what && !strcmp(use->what, "a field"))
        add(list, "shape", KIND_PROPERTY, "the extents", NULL);
    if (use->item && (use->item->kind == AST_ITEM_FUNC || use->item->kind == AST_ITEM_KERNEL))
        add(list, "grad", KIND_FUNCTION, "f.grad(...): the gradient of a call", NULL);
    if (use->item && use->item->kind == AST_ITEM_FUNC) {
        add(list, "jvp", KIND_FUNCTION, "f.jvp(...): the derivative along tangents", NULL);
        add(list, "jacobian", KIND_FUNCTION, "f.jacobian(...): the Jacobian of a function of vectors", NULL);
        add(list, "hessian", KIND_FUNCTION, "f.hessian(...): the Hessian of a call", NULL);
    }
}

static void add_members(json_t *list, store *s, doc *d, size_t offset, size_t dot)
{
    static const char *const probes[] = {"tkc_probe", "tkc_probe;", "tkc_probe = 0;"};
    for (size_t k = 0; k < sizeof probes / sizeof *probes && !json_array_size(list); k++) {
        unit *u = compile_probed(s, d, offset, probes[k]);
        const ty *t = u->asked ? type_before(u, dot) : NULL;
        const check_use *use = u->asked ? use_before(u, dot) : NULL;
        if (use)
            add_planes(list, use);
        if (t)
            add_members_of(list, u, t);
        unit_free(u);
    }
}

/* ---- names ---- */

static int kind_of(const ast_item *it)
{
    switch (it->kind) {
    case AST_ITEM_FUNC:
    case AST_ITEM_KERNEL:
        return KIND_FUNCTION;
    case AST_ITEM_STRUCT:
        return KIND_STRUCT;
    case AST_ITEM_CONST:
        return KIND_CONSTANT;
    default:
        return KIND_FIELD;
    }
}

/* The items that a file shows to those that import it: its own, and those of what it imports without a name. */
static void add_items(json_t *list, const unit *u, uint16_t file, bool types)
{
    const strbuf *of = NULL;
    text_index ix = {0};
    bool *shown = xmalloc(UINT16_MAX + 1);
    memset(shown, 0, UINT16_MAX + 1);
    shown[file] = true;
    for (bool more = true; more;) {
        more = false;
        for (const ast_item *it = u->ast->items; it; it = it->next) {
            const bool found = it->kind == AST_ITEM_IMPORT && !it->as && shown[it->span.begin.file] && !shown[it->file];
            shown[it->file] = shown[it->file] || found;
            more = more || found;
        }
    }
    for (const ast_item *it = u->ast->items; it; it = it->next) {
        const strbuf *text = it->name && shown[it->span.begin.file] ? unit_text(u, it->span.begin.file) : NULL;
        if (!text || (types && it->kind != AST_ITEM_STRUCT))
            continue;
        if (text != of) {
            text_index_free(&ix);
            ix = text_index_make(text, false);
            of = text;
        }
        strbuf head = {0};
        item_head(&head, &ix, it);
        add(list, it->name, kind_of(it), sb_str(&head), it->doc);
        sb_free(&head);
    }
    free(shown);
    text_index_free(&ix);
}

static void add_local(json_t *list, const unit *u, const char *name, src_loc declared, const char *what)
{
    const ty *t = NULL;
    for (size_t i = 0; i < u->log.uses.len && !t; i++)
        if (u->log.uses.at[i].name && !strcmp(u->log.uses.at[i].name, name) &&
            u->log.uses.at[i].declared.begin.line == declared.line &&
            u->log.uses.at[i].declared.begin.col == declared.col)
            t = u->log.uses.at[i].type;
    add(list, name, KIND_VARIABLE, t ? ty_name(u->log.types, t) : what, NULL);
}

static bool covers(src_span at, src_loc l)
{
    const bool begun = at.begin.line < l.line || (at.begin.line == l.line && at.begin.col <= l.col);
    const bool open = l.line < at.end.line || (l.line == at.end.line && l.col <= at.end.col);
    return begun && open;
}

/* What the statements in front of the place, and those around it, declare. */
static void add_declared(json_t *list, const unit *u, const ast_stmt *st, src_loc at)
{
    for (; st; st = st->next) {
        if (st->span.begin.line > at.line || (st->span.begin.line == at.line && st->span.begin.col > at.col))
            return;
        const bool inside = covers(st->span, at), loop = st->kind == AST_STMT_FOR;
        for (const ast_name *n = st->names; n && (loop ? inside : !inside); n = n->next)
            add_local(list, u, n->name, n->span.begin, loop ? "a loop variable" : "a local");
        if (inside) {
            add_declared(list, u, st->body, at);
            add_declared(list, u, st->else_body, at);
        }
    }
}

static void add_locals(json_t *list, const doc *d, const unit *u, size_t offset)
{
    size_t mapped;
    if (!u || !u->ast || u->ast->file != 0)
        return;
    if (!doc_offset(d, u, offset, &mapped)) /* new text: as where it begins */
        for (mapped = 0; mapped < offset && mapped < u->text.len && u->text.s[mapped] == d->text.s[mapped];)
            mapped++;
    const src_loc at = text_where(sb_str(&u->text), mapped, u->ast->file);
    for (const ast_item *it = u->ast->items; it; it = it->next)
        if (it->span.begin.file == at.file && covers(it->span, at)) {
            for (const ast_param *p = it->kind == AST_ITEM_STRUCT ? NULL : it->params; p; p = p->next)
                add_local(list, u, p->name, p->span.begin, "a parameter");
            add_declared(list, u, it->body, at);
        }
}

static void add_imports(json_t *list, const unit *u, bool types)
{
    for (const ast_item *it = u && u->ast ? u->ast->items : NULL; it; it = it->next)
        if (it->as && it->span.begin.file == u->ast->file)
            add(list, it->as, KIND_MODULE, it->text, NULL);
    if (u && u->ast)
        add_items(list, u, u->ast->file, types);
}

static void add_all_items(json_t *list, const doc *d, bool types)
{
    add_imports(list, doc_names(d), types);
    if (doc_names(d) != d->now) /* what was declared since */
        add_imports(list, d->now, types);
}

/* In front of the dot stands what the text calls an import. */
static void add_imported(json_t *list, const doc *d, size_t dot)
{
    const unit *u = doc_names(d);
    size_t begin;
    const size_t n = text_word(sb_str(&d->text), d->text.len, dot, &begin);
    const char *lib = sb_str(&d->text) + begin;
    if (begin > 0 && lib[-1] == '.')
        return;
    for (const ast_item *it = u && u->ast ? u->ast->items : NULL; it; it = it->next)
        if (it->as && it->span.begin.file == u->ast->file && strlen(it->as) == n && !memcmp(it->as, lib, n))
            add_items(list, u, it->file, false);
}

static void add_values(json_t *list, const doc *d, size_t offset)
{
    add_locals(list, d, doc_names(d), offset);
    add_all_items(list, d, false);
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        add(list, builtins[i].name, KIND_FUNCTION, builtins[i].signature, builtins[i].text);
}

/* ---- all ---- */

static void add_in_head(json_t *list, const doc *d, const context *c)
{
    const bool function = head_is(c, "func") || head_is(c, "kernel") || head_is(c, "export") || head_is(c, "extern");
    const bool typed = c->before == ':' || (c->before == '>' && c->before_at > 0 && c->text[c->before_at - 1] == '-');
    if (c->begin == c->statement || c->head >= c->text + c->begin) {
        add_words(list, ITEM);
    } else if (typed) {
        add_words(list, TYPE);
        add_all_items(list, d, true);
        if (c->paren)
            add_words(list, PARAM_WORD);
    } else if (head_is(c, "field") && memchr(c->head, ':', (size_t)(c->text + c->begin - c->head)) && !c->paren) {
        add_words(list, FIELD_ATTR);
    } else if (function && !c->paren && memchr(c->head, ')', (size_t)(c->text + c->begin - c->head))) {
        add_words(list, FUNC_ATTR);
    } else if (function && c->paren) {
        add_words(list, TYPE);
        add_words(list, PARAM_WORD);
        add_all_items(list, d, true);
    } else if (head_is(c, "export") || head_is(c, "extern")) {
        add(list, "func", KIND_KEYWORD, NULL, NULL);
    } else {
        add_all_items(list, d, false);
    }
}

json_t *feature_completion(store *s, doc *d, size_t offset)
{
    json_t *list = json_array();
    const context c = context_at(d, offset);
    const bool number = c.begin < offset && c.text[c.begin] >= '0' && c.text[c.begin] <= '9';
    if (c.quiet || number) {
        /* nothing */
    } else if (c.before == '.' && c.before_at + 1 == c.begin) {
        add_imported(list, d, c.before_at);
        add_members(list, s, d, offset, c.before_at);
    } else if (c.depth <= 0) {
        add_in_head(list, d, &c);
    } else if (head_is(&c, "struct") || (c.before == ':' && !c.paren)) {
        add_words(list, TYPE);
        add_all_items(list, d, true);
    } else {
        add_values(list, d, offset);
        add_words(list, BODY);
        add_words(list, TYPE);
    }
    return json_pack("{s:b,s:o}", "isIncomplete", false, "items", list);
}

/* The call around the cursor: what its parameters are. */
json_t *feature_signature(store *s, doc *d, size_t offset)
{
    (void)s;
    const char *t = sb_str(&d->text);
    int depth = 0, argument = 0;
    size_t i = offset < d->text.len ? offset : d->text.len;
    while (i > 0 && !strchr(";{}", t[i - 1])) {
        i--;
        depth += t[i] == ')' || t[i] == ']' ? 1 : t[i] == '(' || t[i] == '[' ? -1 : 0;
        argument += depth == 0 && t[i] == ',';
        if (depth < 0)
            break;
    }
    if (depth >= 0 || t[i] != '(')
        return NULL;
    size_t begin;
    const size_t n = text_word(t, d->text.len, i, &begin);
    const builtin *b = builtin_find(t + begin, i - begin);
    const unit *u;
    const check_use *use = n && !b ? doc_use(d, begin, &u) : NULL;
    strbuf label = {0};
    if (b)
        sb_add(&label, b->signature);
    else if (use && use->item && (use->item->kind == AST_ITEM_FUNC || use->item->kind == AST_ITEM_KERNEL) &&
             unit_text(u, use->item->span.begin.file)) {
        TEXT_INDEX(ix, unit_text(u, use->item->span.begin.file), false);
        item_head(&label, &ix, use->item);
    }
    json_t *j = NULL;
    if (label.len)
        j = json_pack("{s:[{s:s,s:s}],s:i,s:i}", "signatures", "label", sb_str(&label), "documentation",
                      b                ? b->text
                      : use->item->doc ? use->item->doc
                                       : "",
                      "activeSignature", 0, "activeParameter", argument);
    sb_free(&label);
    return j;
}
