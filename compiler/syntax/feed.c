/* Tokens for the parser: what the scanner finds, with brackets counted.
 *
 * Forgotten braces are found here, not by the grammar, which would only notice far away: when an item keyword stands
 * where items stand (first on its line and not further right than the line that opened the outermost bracket), or the
 * file ends, the open brackets are reported once and closed.
 */
#include "syntax/parse.h"

#include "tk.tab.h"

#define YYSTYPE TK_STYPE
#define YYLTYPE src_span
#include "tk.lex.h"

void feed_begin(parse *p)
{
    p->line = p->col = 1;
    scan_lex_init_extra(p, &p->scanner);
    scan__scan_bytes(p->text, (int)p->len, p->scanner);
}

void feed_end(parse *p)
{
    scan_lex_destroy(p->scanner);
    p->scanner = NULL;
}

void parse_stop(parse *p)
{
    p->stopped = true;
}

token feed_scan(parse *p, TK_STYPE *value)
{
    token t = {0};
    t.code = p->stopped ? TOK_END : scan_lex(value, &t.span, p->scanner);
    if (t.code == TOK_END) {
        t.span.begin = t.span.end = (src_loc){p->line, (uint16_t)(p->col < UINT16_MAX ? p->col : UINT16_MAX), p->file};
        t.from = t.to = p->offset;
    } else {
        t.from = p->match_from;
        t.to = p->offset;
    }
    t.first = t.span.begin.line != p->token_line;
    p->token_line = t.span.begin.line;
    return t;
}

/* ---- brackets ---- */

static int closer_of(int open)
{
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

/* The innermost open '{', -1 if none. */
static int innermost_brace(const parse *p)
{
    for (int k = p->depth - 1; k >= 0; k--)
        if (p->open[k].code == '{')
            return k;
    return -1;
}

void feed_forget_parens(parse *p)
{
    while (p->depth > 0 && p->open[p->depth - 1].code != '{')
        p->depth--;
    if (p->depth == 0)
        p->forgive_brace = true;
}

static void open_bracket(parse *p, const token *t)
{
    if (p->depth == MAX_NESTING) {
        diag(p->diag, t->span, DIAG_NESTING, MAX_NESTING);
        parse_stop(p);
        return;
    }
    if (p->depth == 0) {
        p->outer_col = p->line_col;
        p->in_struct = p->prev.code == TOK_STRUCT;
    }
    p->open[p->depth++] = *t;
}

/* False for a '}' without '{', which the parser is not to see. */
static bool close_bracket(parse *p, const token *t)
{
    if (t->code != '}') {
        if (p->depth > 0 && closer_of(p->open[p->depth - 1].code) == t->code)
            p->depth--;
        return true;
    }
    int brace = innermost_brace(p);
    if (brace >= 0) {
        p->depth = brace;
        return true;
    }
    if (!p->forgive_brace)
        diag(p->diag, t->span, DIAG_EXTRA_BRACE);
    p->forgive_brace = false;
    return false;
}

bool feed_begins_item(int code)
{
    switch (code) {
    case TOK_IMPORT:
    case TOK_CONST:
    case TOK_PARAM:
    case TOK_STRUCT:
    case TOK_FIELD:
    case TOK_FUNC:
    case TOK_EXPORT:
    case TOK_EXTERN:
    case TOK_KERNEL:
    case TOK_LAZY_GRAD:
    case TOK_LAZY_DUAL:
        return true;
    default:
        return false;
    }
}

/* Whether the brackets open here were forgotten; reports it. */
static bool forgotten(parse *p, const token *t)
{
    bool outside = t->code == TOK_END || (feed_begins_item(t->code) && t->first && t->span.begin.col <= p->outer_col);
    if (!outside || p->depth == 0 || p->stopped)
        return false;
    int brace = innermost_brace(p);
    if (brace < 0) {
        p->depth = 0; /* the parser reports an open parenthesis better */
        return false;
    }
    diag(p->diag, t->span, DIAG_MISSING_BRACE, describe_token(p, t));
    diag_note(p->diag, p->open[brace].span, "to match this '{'");
    return true;
}

/* ---- what the parser calls ---- */

static int deliver(parse *p, const token *t, src_span *at)
{
    p->before_prev = p->prev;
    p->prev = p->cur;
    p->cur = *t;
    if (p->prev.code == TOK_END || p->prev.code == ';' || p->prev.code == '{' || p->prev.code == '}')
        p->stmt_start = *t;
    *at = t->span;
    return t->code;
}

/* Closes one of the forgotten brackets, or delivers the token that stood there. */
static int deliver_closing(parse *p, src_span *at)
{
    if (p->depth == 0) {
        p->closing = false;
        return deliver(p, &p->held, at);
    }
    token t = p->held;
    t.code = closer_of(p->open[--p->depth].code);
    t.span.end = t.span.begin;
    t.to = t.from;
    return deliver(p, &t, at);
}

/* The next token, behind the head of a loop of C if its '(' was an error. */
static token scan_on(parse *p, TK_STYPE *value)
{
    token t = feed_scan(p, value);
    for (int open = 1; p->skips_parens && open > 0; t = feed_scan(p, value)) {
        if (t.code == TOK_END || t.code == '{' || t.code == '}')
            break;
        open += (t.code == '(') - (t.code == ')');
    }
    p->skips_parens = false;
    return t;
}

int tk_lex(TK_STYPE *value, src_span *at, parse *p)
{
    if (p->closing)
        return deliver_closing(p, at);
    if (diag_too_many(p->diag))
        parse_stop(p);
    for (;;) {
        token t = scan_on(p, value);
        if (t.first)
            p->line_col = t.span.begin.col;
        if (forgotten(p, &t)) {
            p->held = t;
            p->closing = true;
            return deliver_closing(p, at);
        }
        if (t.code == '(' || t.code == '[' || t.code == '{')
            open_bracket(p, &t);
        else if ((t.code == ')' || t.code == ']' || t.code == '}') && !close_bracket(p, &t))
            continue;
        else if (p->depth == 0 && feed_begins_item(t.code))
            p->forgive_brace = false;
        if (p->stopped)
            t.code = TOK_END;
        return deliver(p, &t, at);
    }
}
