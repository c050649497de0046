/* Syntax errors in words: what was expected, what stands there, and for what C programmers write by habit, what to
 * write instead (habits.def). */
#include <string.h>

#include "syntax/habits.h"
#include "syntax/parse.h"
#include "tk.tab.h"
#include "util/strbuf.h"

static bool is_literal(int code)
{
    return code == TOK_INT || code == TOK_FLOAT;
}

static bool is_name(int code)
{
    return code == TOK_IDENT || code == TOK_OUT || code == TOK_INOUT || code == TOK_LIMIT || code == TOK_INDEPENDENT ||
           code == TOK_AS;
}

const char *describe_token(parse *p, const token *t)
{
    if (t->code == TOK_END)
        return "end of file";
    if (t->code == TOK_STRING)
        return "a string";
    const char *text = clip_text(p, p->text + t->from, t->to - t->from);
    const char *kind = is_name(t->code) ? "identifier " : is_literal(t->code) ? "number " : "";
    return arena_printf(p->mem, "%s'%s'", kind, text);
}

static bool text_is(const parse *p, const token *t, const char *word)
{
    size_t len = strlen(word);
    return t->to - t->from == len && memcmp(p->text + t->from, word, len) == 0;
}

/* ---- what was expected ---- */

typedef struct expectation {
    const char *const *names;
    int n;
} expectation;

static bool has(const expectation *e, const char *name)
{
    for (int i = 0; i < e->n; i++)
        if (!strcmp(e->names[i], name))
            return true;
    return false;
}

/* The expected tokens as one phrase. A set that begins an expression, a type, a statement or an item is called that;
 * where the construct could as well go on, what ends it is named. NULL if there is nothing short to say. */
static const char *expected_phrase(parse *p, const expectation *e)
{
    static const char *const closers[] = {"';'", "'{'", "'}'", "']'", "')'", "'='", "':'"};
    if (has(e, "'let'"))
        return "a statement or '}'";
    if (has(e, "'kernel'"))
        return "a declaration";
    if (has(e, "integer"))
        return has(e, "')'") ? "an expression or ')'" : has(e, "';'") ? "an expression or ';'" : "an expression";
    if (has(e, "type name"))
        return "a type";
    if (has(e, "'if'") && has(e, "'{'"))
        return "'{' or 'if'";
    if (has(e, "','") && has(e, "')'"))
        return "',' or ')'";
    if (has(e, "','") && has(e, "']'"))
        return "',' or ']'";
    if (has(e, "','") && has(e, "'}'"))
        return "',' or '}'";
    if (has(e, "','") && has(e, "'in'"))
        return "'in'";
    if (has(e, "identifier"))
        for (size_t k = 0; k < sizeof closers / sizeof *closers; k++)
            if (has(e, closers[k]))
                return closers[k];
    if (has(e, "identifier"))
        return has(e, "'('") ? "a name or '('" : "a name";
    if (has(e, "';'"))
        return has(e, "'='") && e->n <= 4 ? "'=' or ';'" : "';'";
    if (has(e, "'='"))
        return "'='";
    if (has(e, "string"))
        return "a string";
    strbuf list = {0};
    for (int i = 0; i < e->n && e->n <= 4; i++)
        sb_printf(&list, "%s%s", i == 0 ? "" : i + 1 == e->n ? " or " : ", ", e->names[i]);
    const char *phrase = list.len > 0 ? arena_strdup(p->mem, sb_str(&list)) : NULL;
    sb_free(&list);
    return phrase;
}

/* ---- hints: the rows of habits.def ---- */

static const habit *habit_of(const parse *p, const token *t)
{
    return t->code == TOK_IDENT ? habit_find(p->text + t->from, t->to - t->from) : NULL;
}

static bool is_foreign(const parse *p, const token *t, habit_kind kind)
{
    const habit *h = habit_of(p, t);
    return h && h->kind == kind;
}

static bool is_keyword(const parse *p, const token *t)
{
    if (t->code < TOK_TYPE || t->code == TOK_STRING || is_name(t->code) || is_literal(t->code))
        return false;
    return p->text[t->from] >= 'a' && p->text[t->from] <= 'z';
}

static bool inside_braces(const parse *p)
{
    int depth = p->cur.code == '{' ? p->depth - 1 : p->depth;
    for (int k = 0; k < depth; k++)
        if (p->open[k].code == '{')
            return true;
    return false;
}

static const char *token_text(parse *p, const token *t)
{
    return clip_text(p, p->text + t->from, t->to - t->from);
}

/* The word is a name of the program: assigned, subscripted or with a member. */
static bool is_used_as_name(const parse *p, const token *t)
{
    size_t at = t->to;
    while (at < p->len && p->text[at] == ' ')
        at++;
    return at < p->len && strchr("=.[", p->text[at]);
}

/* The word beside the error, or at the beginning of its statement, that has a hint. Where a ';' may be missing at the
 * end of a line, a name of the program can be such a word: only a word alone counts. */
static const habit *word_beside(const parse *p, const expectation *e)
{
    const bool ends = p->cur.first && has(e, "';'"), alone = p->prev.from == p->stmt_start.from;
    const token *tokens[] = {&p->prev, &p->cur, &p->stmt_start};
    for (size_t k = 0; k < sizeof tokens / sizeof *tokens; k++) {
        const habit *h = ends && (k > 0 || !alone) ? NULL : habit_of(p, tokens[k]);
        if (k == 2 && is_used_as_name(p, tokens[k]))
            h = NULL;
        if (h && (h->kind == HABIT_SAY || h->kind == HABIT_TYPE))
            return h;
    }
    return NULL;
}

/* The conditions of the rows, in their order. */

static bool always(const parse *p, const expectation *e)
{
    (void)p, (void)e;
    return true;
}

static bool is_c_cast(const parse *p, const expectation *e)
{
    (void)e;
    return (is_name(p->cur.code) || is_literal(p->cur.code) || p->cur.code == '(') &&
           is_foreign(p, &p->before_prev, HABIT_TYPE);
}

static bool is_parenthesised(const parse *p, const expectation *e)
{
    (void)e;
    return p->before_prev.code == '(';
}

static bool is_foreign_typed_name(const parse *p, const expectation *e)
{
    (void)e;
    return is_name(p->cur.code) && !p->cur.first && is_foreign(p, &p->prev, HABIT_TYPE) &&
           !is_foreign(p, &p->cur, HABIT_TYPE);
}

static bool is_typed_name(const parse *p, const expectation *e)
{
    return is_foreign_typed_name(p, e) || (is_name(p->cur.code) && p->prev.code == TOK_TYPE);
}

static bool is_needs_grad(const parse *p, const expectation *e)
{
    (void)e;
    return text_is(p, &p->cur, "needs_grad");
}

static bool is_in_library(const parse *p, const expectation *e)
{
    (void)e;
    return p->prev.code == '.' && is_foreign(p, &p->before_prev, HABIT_LIBRARY);
}

static bool is_double_colon(const parse *p, const expectation *e)
{
    (void)e;
    return is_foreign(p, &p->prev, HABIT_LIBRARY) && p->cur.to < p->len && p->text[p->cur.to] == ':';
}

static bool is_f_string(const parse *p, const expectation *e)
{
    (void)e;
    return text_is(p, &p->prev, "f") && p->prev.to == p->cur.from;
}

/* A comment stands behind the last operand, on its line, that ends like code. */
static bool is_swallowed(const parse *p, const expectation *e)
{
    (void)e;
    const int head = p->stmt_start.code;
    if (feed_begins_item(head) && head != TOK_CONST && head != TOK_PARAM)
        return false;
    const char *end = p->text + p->len, *at = p->text + p->prev.to;
    while (at < end && *at == ' ')
        at++;
    if (end - at < 3 || at[0] != '/' || at[1] != '/' || at[2] == '/')
        return false;
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    for (at = line_end ? line_end : end; at[-1] == ' ' || at[-1] == '\r';)
        at--;
    return at[-1] == ';' || at[-1] == '{';
}

static bool is_type_word(const parse *p, const expectation *e)
{
    (void)e;
    return is_foreign(p, &p->cur, HABIT_TYPE);
}

static bool is_word(const parse *p, const expectation *e)
{
    return word_beside(p, e) != NULL;
}

/* The ')' of vec(...), mat(...). */
static bool closes(const parse *p, const char *word)
{
    const size_t len = strlen(word);
    size_t at = p->cur.from;
    for (int depth = 1; depth > 0 && at > 0; depth += p->text[at] == ')', depth -= p->text[at] == '(')
        at--;
    while (at > 0 && p->text[at - 1] == ' ')
        at--;
    return at >= len && memcmp(p->text + at - len, word, len) == 0;
}

static bool is_untyped_vector(const parse *p, const expectation *e)
{
    (void)e;
    return closes(p, "vec");
}

static bool is_untyped_matrix(const parse *p, const expectation *e)
{
    (void)e;
    return closes(p, "mat");
}

static bool is_data_type(const parse *p, const expectation *e)
{
    static const char *const words[] = {"vector", "row_vector", "matrix", "array"};
    bool found = false;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        found = found || text_is(p, &p->cur, words[k]);
    (void)e;
    return found && p->cur.to < p->len && p->text[p->cur.to] == '[';
}

/* The ':' stands between two bounds, in front of the block. */
static bool is_colon_range(const parse *p, const expectation *e)
{
    (void)e;
    const int head = p->stmt_start.code;
    size_t at = p->cur.to;
    while (at < p->len && (p->text[at] == ' ' || p->text[at] == '\r'))
        at++;
    const size_t bound = at;
    while (at < p->len && !strchr("{;\n", p->text[at]))
        at++;
    return (head == TOK_FOR || head == TOK_SERIAL || head == TOK_STATIC || head == TOK_INDEPENDENT) && at > bound &&
           at < p->len && p->text[at] == '{';
}

/* The token has an expression behind it, and no block. */
static bool takes_value(const parse *p, const expectation *e)
{
    (void)e;
    const int code = p->prev.code;
    return code == '=' || code == TOK_ADD_ASSIGN || code == TOK_SUB_ASSIGN || code == ',' || code == '[';
}

static bool ends_line(const parse *p, const expectation *e)
{
    (void)e;
    size_t at = p->cur.to;
    while (at < p->len && (p->text[at] == ' ' || p->text[at] == '\r'))
        at++;
    return at == p->len || p->text[at] == '\n' || p->text[at] == '{' || p->text[at] == '/' || p->text[at] == '#';
}

static bool begins_parameter(const parse *p, const expectation *e)
{
    return (p->prev.code == '(' || p->prev.code == ',' || p->prev.code == '{') &&
           (has(e, "')'") || has(e, "identifier"));
}

static bool is_two_names(const parse *p, const expectation *e)
{
    (void)e;
    return is_name(p->cur.code) && is_name(p->prev.code);
}

static bool precedes_type(const parse *p, const expectation *e)
{
    return p->depth > 0 && p->open[p->depth - 1].code == '(' && has(e, p->prev.code == ':' ? "type name" : "')'");
}

static bool expects_semicolon(const parse *p, const expectation *e)
{
    (void)p;
    return has(e, "';'");
}

/* What stands behind the token is an integer, as far as its line shows. */
static bool is_integer_ahead(const parse *p, const expectation *e)
{
    (void)e;
    const char *at = p->text + p->cur.to, *end = p->text + p->len;
    while (at < end && (*at == ' ' || *at == '-'))
        at++;
    const char *digits = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at > digits && at < end && *at != '.' && *at != 'e' && *at != 'E';
}

static bool is_let(const parse *p, const expectation *e)
{
    (void)e;
    return p->stmt_start.code == TOK_LET;
}

static bool lacks_brace(const parse *p, const expectation *e)
{
    (void)e;
    return p->cur.code != '=' && p->cur.code != '{';
}

static bool is_declaration(const parse *p, const expectation *e)
{
    return is_let(p, e) || p->stmt_start.code == TOK_VAR;
}

static bool is_walrus(const parse *p, const expectation *e)
{
    (void)e;
    return p->cur.code == ':' ? p->cur.to < p->len && p->text[p->cur.to] == '=' : p->prev.to == p->cur.from;
}

static bool is_construction(const parse *p, const expectation *e)
{
    (void)e;
    return p->prev.code == TOK_TYPE || is_name(p->prev.code);
}

typedef enum place { AT_ANY, AT_ITEM, AT_START, AT_HEAD, AT_BODY, AT_TAIL } place;

static const struct row {
    place where;
    int prev, cur;
    const char *expects;
    bool (*when)(const parse *p, const expectation *e);
    const char *hint;
} rows[] = {
#define SYNTAX(where, prev, cur, expects, when, habit, hint) {AT_##where, prev, cur, expects, when, hint},
#include "syntax/habits.def"
};

static bool is_at(const parse *p, const expectation *e, place where)
{
    const bool starts = has(e, "'let'"), item = has(e, "'kernel'");
    const bool body = inside_braces(p) && !p->in_struct;
    switch (where) {
    case AT_ANY:
        return true;
    case AT_ITEM:
        return item;
    case AT_START:
        return starts;
    case AT_HEAD:
        return !item && !body;
    case AT_BODY:
        return !starts && body;
    case AT_TAIL:
        return !starts && body && !has(e, "integer") &&
               (has(e, "';'") || has(e, "')'") || has(e, "']'") || has(e, "'{'") || has(e, "'('"));
    }
    return false;
}

static const char *word_hint(parse *p, const expectation *e)
{
    const habit *h = word_beside(p, e);
    return h->kind == HABIT_SAY ? h->here : arena_printf(p->mem, "'%s' is called '%s' here", h->word, h->here);
}

static const char *typed_text(parse *p)
{
    const token *t = p->prev.code == ')' ? &p->before_prev : &p->prev;
    const habit *h = habit_of(p, t);
    return h ? h->here : token_text(p, t);
}

/* The row's text, with texts for $p, $c, $t and $w. */
static const char *fill(parse *p, const expectation *e, const char *hint)
{
    strbuf b = {0};
    for (; *hint; hint++) {
        if (*hint != '$')
            sb_addc(&b, *hint);
        else if (*++hint == 'w')
            sb_add(&b, word_hint(p, e));
        else if (*hint == 't')
            sb_add(&b, typed_text(p));
        else
            sb_add(&b, token_text(p, *hint == 'c' ? &p->cur : &p->prev));
    }
    const char *text = arena_strdup(p->mem, sb_str(&b));
    sb_free(&b);
    return text;
}

static const char *hint(parse *p, const expectation *e, const char *phrase)
{
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct row *r = &rows[k];
        if ((r->prev && r->prev != p->prev.code) || (r->cur && r->cur != p->cur.code) ||
            (r->expects && !has(e, r->expects)) || !is_at(p, e, r->where) || !r->when(p, e))
            continue;
        return fill(p, e, r->hint);
    }
    if (phrase && !strcmp(phrase, "a name") && is_keyword(p, &p->cur) && p->cur.code != TOK_IN)
        return arena_printf(p->mem, "%s is a keyword", describe_token(p, &p->cur));
    return NULL;
}

/* ---- the error ---- */

/* What is missing at the end of a line is shown there, not at the next token. */
static src_span error_span(const parse *p, const char *phrase)
{
    bool closes = phrase && phrase[0] == '\'' && p->prev.span.end.line > 0;
    if (closes && p->cur.first && p->prev.span.end.line != p->cur.span.begin.line)
        return span_at(p->prev.span.end);
    return p->cur.span;
}

/* The '}' of a list in braces, whose '{' was an error or stands behind it. */
static bool ends_bad_list(const parse *p)
{
    const char *at = p->text + p->reported_at, *end = p->text + p->cur.from;
    if (p->cur.code != '}')
        return false;
    while (at < end && !strchr("{;\n", *at))
        at++;
    if (at == end || *at != '{')
        return false;
    for (at++; at < end; at++)
        if (strchr("{;\n", *at))
            return false;
    return true;
}

/* The parser resumed in the statement of the last error, or lost a '}' on the way to the end of the file. */
static bool follows_error(const parse *p)
{
    return p->reported && (p->reported_at == p->cur.from || p->reported_start == p->stmt_start.from ||
                           (p->cur.code == TOK_END && p->depth == 0) || ends_bad_list(p));
}

void syntax_error(parse *p, const char *const *expected, int n)
{
    if (p->stopped || p->closing || follows_error(p))
        return;
    p->reported = true;
    p->reported_at = p->cur.from;
    p->reported_start = p->stmt_start.from;
    p->skips_parens = p->cur.code == '(' && p->prev.code == TOK_FOR;
    expectation e = {expected, n};
    const char *phrase = expected_phrase(p, &e), *more = hint(p, &e, phrase);
    const char *what = describe_token(p, &p->cur);
    const char *text = phrase ? arena_printf(p->mem, "expected %s before %s", phrase, what)
                              : arena_printf(p->mem, "unexpected %s", what);
    if (more)
        text = arena_printf(p->mem, "%s; %s", text, more);
    const src_span at = error_span(p, phrase);
    diag(p->diag, at, DIAG_SYNTAX, text);
    if (phrase && !strcmp(phrase, "';'") && !more && at.end.line == 0) /* it is missing at the end of a line */
        diag_fix(p->diag, at.begin, "", ";");
    feed_forget_parens(p);
}
