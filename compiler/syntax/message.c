/* Syntax errors in words: what was expected, what stands there, and for what C programmers write by habit, what to
 * write instead. */
#include <string.h>

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

/* ---- hints ---- */

static const struct {
    const char *word, *hint;
} habits[] = {
    {"void", "a function is declared with 'func' or 'kernel', its result with '->'"},
    {"int", "there is no 'int'; integers are i8 to i64 and u8 to u64"},
    {"unsigned", "integers are i8 to i64 and u8 to u64"},
    {"long", "integers are i8 to i64 and u8 to u64"},
    {"short", "integers are i8 to i64 and u8 to u64"},
    {"char", "integers are i8 to i64 and u8 to u64"},
    {"float", "there is no 'float'; write f32, or real for the default"},
    {"double", "there is no 'double'; write f64, or real for the default"},
    {"auto", "a variable is declared with 'let' or 'var'"},
    {"typedef", "there is no 'typedef'; see 'struct'"},
    {"enum", "there is no 'enum'; write constants with 'const'"},
    {"union", "there is no 'union'"},
    {"do", "there is no 'do'; see 'while'"},
    {"switch", "there is no 'switch'; write 'if' and 'else if'"},
    {"case", "there is no 'switch'; write 'if' and 'else if'"},
    {"goto", "there is no 'goto'"},
    {"elif", "write 'else if'"},
    {"def", "a function is declared with 'func', a kernel with 'kernel'"},
    {"fn", "a function is declared with 'func', a kernel with 'kernel'"},
    {"and", "write '&&'"},
    {"or", "write '||'"},
    {"not", "write '!'"},
};

static const char *habit(const parse *p, const token *t)
{
    for (size_t k = 0; t->code == TOK_IDENT && k < sizeof habits / sizeof *habits; k++)
        if (text_is(p, t, habits[k].word))
            return habits[k].hint;
    return NULL;
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

/* The token is at a place where a statement or an item begins. */
static const char *hint_at_start(const parse *p, bool in_block)
{
    switch (p->cur.code) {
    case TOK_FUNC:
    case TOK_KERNEL:
    case TOK_STRUCT:
    case TOK_FIELD:
    case TOK_PARAM:
        return in_block ? "it is declared at module level, outside functions and kernels" : NULL;
    case TOK_CONST:
        return in_block ? "a value that does not change is declared with 'let'" : NULL;
    case TOK_LET:
    case TOK_VAR:
        return in_block ? NULL : "at module level it is 'const', 'param' or 'field'";
    case TOK_INC:
        return "write '+= 1'";
    case TOK_DEC:
        return "write '-= 1'";
    case ';':
        return in_block ? "there is no empty statement" : NULL;
    default:
        return NULL;
    }
}

/* What stands behind the token is an integer, as far as its line shows. */
static bool is_integer_ahead(const parse *p)
{
    const char *at = p->text + p->cur.to, *end = p->text + p->len;
    while (at < end && (*at == ' ' || *at == '-'))
        at++;
    const char *digits = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at > digits && at < end && *at != '.' && *at != 'e' && *at != 'E';
}

/* The token is in the head of an item: types, parameters, attributes. */
static const char *hint_in_head(parse *p, const expectation *e)
{
    const token *cur = &p->cur, *prev = &p->prev;
    bool in_list = prev->code == '(' || prev->code == ',' || prev->code == '{';
    if (cur->code == TOK_TYPE && in_list && (has(e, "')'") || has(e, "identifier")))
        return "the type stands behind the name, 'a: real'";
    if (is_name(cur->code) && is_name(prev->code) && has(e, "')'"))
        return "the type stands behind the name, 'a: T'";
    if (cur->code == TOK_CONST && p->depth > 0 && p->open[p->depth - 1].code == '(' &&
        has(e, prev->code == ':' ? "type name" : "')'"))
        return "'const' stands behind the type, 'a: T const'";
    if (cur->code == ';' && has(e, "'}'"))
        return "members are separated by ','";
    if (cur->code == ';' && has(e, "'{'"))
        return "only an 'extern func' has no body";
    if (cur->code == ']' && prev->code == '[')
        return "extents are written out; an array parameter names them, 'a: in real[n]'";
    if (cur->code == ':' && prev->code == ')')
        return "the type of the result stands behind '->'";
    if (cur->code == TOK_ARROW && has(e, "'{'"))
        return "the result stands before the attributes";
    if (cur->code == ',' && has(e, "identifier") && has(e, "';'"))
        return "attributes are separated by spaces";
    if (cur->code == '=' && has(e, "':'"))
        return arena_printf(p->mem, "its type stands behind the name, '%s: %s = ...'", token_text(p, prev),
                            is_integer_ahead(p) ? "i32" : "real");
    return NULL;
}

/* The token does not go on an expression that has just ended. */
static const char *hint_after_operand(parse *p, const expectation *e)
{
    const token *cur = &p->cur, *prev = &p->prev;
    switch (cur->code) {
    case TOK_INC:
        return "write '+= 1'";
    case TOK_DEC:
        return "write '-= 1'";
    case TOK_OTHER_ASSIGN:
        return "compound assignments are '+=', '-=', '*=' and '/='";
    case TOK_IF:
        return "a choice is written 'c ? a : b'";
    case '=':
        if (p->stmt_start.code == TOK_LET || p->stmt_start.code == TOK_VAR)
            return "one declaration a statement; several names have their values behind one '=', 'let a, b = 1, 2;'";
        return "an assignment is a statement, not an expression; comparison is '=='";
    case TOK_ARROW:
        return "members are accessed with '.'";
    case '{':
        if (prev->code != TOK_TYPE && !is_name(prev->code))
            return NULL;
        return arena_printf(p->mem, "a value is constructed with parentheses, '%s(...)'", token_text(p, prev));
    case ',':
        return has(e, "')'") ? "there is no comma operator; a vector is written '[a, b]'"
                             : "one declaration or assignment a statement";
    default:
        return NULL;
    }
}

/* A comment stands behind the token, on its line, that ends like code. */
static bool is_swallowed(const parse *p, const token *t)
{
    const char *end = p->text + p->len, *at = p->text + t->to;
    while (at < end && *at == ' ')
        at++;
    if (end - at < 3 || at[0] != '/' || at[1] != '/' || at[2] == '/')
        return false;
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    for (at = line_end ? line_end : end; at[-1] == ' ' || at[-1] == '\r';)
        at--;
    return at[-1] == ';' || at[-1] == '{';
}

static const char *hint_in_body(parse *p, const expectation *e)
{
    const token *cur = &p->cur, *prev = &p->prev;
    if (cur->code == '(' && prev->code == TOK_FOR)
        return "a loop is written 'for i in range(n) { ... }'";
    if (cur->code == '(' && (prev->code == TOK_LET || prev->code == TOK_VAR))
        return "several names are written 'let a, b = ...'";
    if (cur->code == ')' && prev->code == TOK_TYPE && p->before_prev.code == '(')
        return arena_printf(p->mem, "a cast is written '%s(x)'", token_text(p, prev));
    if (is_name(cur->code) && prev->code == TOK_TYPE)
        return "a variable is declared with 'let' or 'var', its type behind the name: 'var x: f32 = 0.0;'";
    if (cur->code == ';' && has(e, "'='") && p->stmt_start.code == TOK_LET)
        return "what 'let' declares has a value and keeps it; what is set later is declared with 'var'";
    if (is_swallowed(p, prev))
        return "'//' begins a comment; integers are divided by '/'";
    if (has(e, "'{'") && cur->code != '=' && cur->code != '{')
        return "braces are mandatory";
    if (!has(e, "integer") && (has(e, "';'") || has(e, "')'") || has(e, "']'") || has(e, "'{'") || has(e, "'('")))
        return hint_after_operand(p, e);
    return NULL;
}

/* Types where C has them: (float)x, int x, real[n][m]. */
static const char *hint_c_type(parse *p)
{
    static const struct {
        const char *c, *tk;
    } types[] = {{"float", "f32"}, {"double", "f64"}, {"int", "i32"}};
    const bool operand = is_name(p->cur.code) || is_literal(p->cur.code) || p->cur.code == '(';
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (p->prev.code == ')' && operand && text_is(p, &p->before_prev, types[k].c))
            return arena_printf(p->mem, "a cast is written '%s(x)'", types[k].tk);
        if (is_name(p->cur.code) && is_name(p->prev.code) && text_is(p, &p->prev, types[k].c))
            return inside_braces(p)
                       ? arena_printf(
                             p->mem,
                             "a variable is declared with 'let' or 'var', its type behind the name: 'var %s: %s'",
                             token_text(p, &p->cur), types[k].tk)
                       : arena_printf(p->mem, "the type stands behind the name, '%s: %s'", token_text(p, &p->cur),
                                      types[k].tk);
    }
    if (p->cur.code == '[' && p->prev.code == ']')
        return "all extents stand in one pair of brackets, 'real[n, m]'";
    if (p->cur.code == TOK_IDENT && text_is(p, &p->cur, "needs_grad") && !inside_braces(p))
        return "gradients belong to fields and to parameters of kernels: a number to differentiate by is a 0-D field, "
               "'field a: real needs_grad;'";
    return NULL;
}

/* The token has an expression behind it, and no block. */
static bool takes_value(const token *t)
{
    return t->code == '=' || t->code == TOK_ADD_ASSIGN || t->code == TOK_SUB_ASSIGN || t->code == ',' || t->code == '[';
}

static const char *hint(parse *p, const expectation *e, const char *phrase)
{
    const char *written = hint_c_type(p);
    if (written)
        return written;
    const token *tokens[] = {&p->prev, &p->cur, &p->stmt_start};
    for (size_t k = 0; k < sizeof tokens / sizeof *tokens; k++) {
        const char *h = habit(p, tokens[k]);
        if (h)
            return h;
    }
    if (has(e, "'let'") || has(e, "'kernel'"))
        return hint_at_start(p, has(e, "'let'"));
    if (p->cur.code == '{' && has(e, "integer") && takes_value(&p->prev))
        return "a vector is written '[a, b]'";
    const char *h = inside_braces(p) && !p->in_struct ? hint_in_body(p, e) : hint_in_head(p, e);
    if (!h && phrase && !strcmp(phrase, "a name") && is_keyword(p, &p->cur) && p->cur.code != TOK_IN)
        h = arena_printf(p->mem, "%s is a keyword", describe_token(p, &p->cur));
    return h;
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

/* The '}' of a list in braces, whose '{' was an error. */
static bool ends_bad_list(const parse *p)
{
    if (!p->reported || p->cur.code != '}' || p->text[p->reported_at] != '{')
        return false;
    for (size_t k = p->reported_at + 1; k < p->cur.from; k++)
        if (strchr("{;\n", p->text[k]))
            return false;
    return true;
}

void syntax_error(parse *p, const char *const *expected, int n)
{
    if (p->stopped || p->closing || (p->reported && p->reported_at == p->cur.from) || ends_bad_list(p))
        return;
    p->reported = true;
    p->reported_at = p->cur.from;
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
