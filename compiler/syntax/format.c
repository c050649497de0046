/* tkc --format: spaces and indentation. Lines are the author's: none is broken, none joined.
 *
 * A line is indented by four spaces more than the one that the brace around it is opened in. One that goes on with the
 * statement of a line above keeps its distance from that line, so what was aligned below an opening bracket stays so,
 * and is four spaces in at least. A comment at the end of a line keeps its column, where the line leaves it room.
 */
#include <ctype.h>
#include <string.h>

#include "syntax/parse.h"
#include "tk.tab.h"

enum { INDENT = 4, TAB = 8 };

typedef struct bracket {
    char kind;      /* that opened it */
    bool of_struct; /* its members end with commas, or the brace */
    int questions;  /* of conditionals whose ':' has not come */
    int line;       /* indentation of the line that it stands in */
} bracket;

/* The last place whose column was found. */
typedef struct ruler {
    size_t at;
    int column;
} ruler;

typedef struct formatter {
    strbuf *out;
    const char *text;
    ruler measured, written;       /* of text, of out */
    size_t at;                     /* behind the last token */
    bracket open[MAX_NESTING + 1]; /* [0]: the file */
    int depth;
    token before;           /* the last token; code TOK_END at the beginning */
    bool unary;             /* it is an operator with one operand */
    bool in_struct;         /* `struct` came, its brace did not */
    int stmt_from, stmt_to; /* columns of the line that the statement began in: before, and now */
    int note_from, note_to; /* of the comment at the end of the line above; -1: none */
    int line_from, line_to; /* of the current line */
} formatter;

/* ---- columns ---- */

static int advance(int column, char c)
{
    return c == '\t' ? column + TAB - column % TAB : ((unsigned char)c & 0xc0) == 0x80 ? column : column + 1;
}

/* The column of a place that is not in front of the last one. */
static int column_at(ruler *r, const char *text, size_t at)
{
    for (; r->at < at; r->at++)
        r->column = text[r->at] == '\n' ? 0 : advance(r->column, text[r->at]);
    return r->column;
}

static int column_of(formatter *f, size_t at)
{
    return column_at(&f->measured, f->text, at);
}

static int column_now(formatter *f)
{
    return column_at(&f->written, sb_str(f->out), f->out->len);
}

static void add_spaces(formatter *f, int n)
{
    for (int i = 0; i < n; i++)
        sb_addc(f->out, ' ');
}

/* ---- what stands between two tokens of a line ---- */

static bool is_word(const formatter *f, const token *t)
{
    const char c = f->text[t->from];
    return t->code != TOK_END &&
           (isalnum((unsigned char)c) || c == '_' || c == '"' || (c == '.' && t->to > t->from + 1));
}

/* Words that an operand or a bracket follows, and none belongs to. */
static bool is_keyword(int code)
{
    switch (code) {
    case TOK_IMPORT:
    case TOK_CONST:
    case TOK_PARAM:
    case TOK_STRUCT:
    case TOK_FIELD:
    case TOK_LET:
    case TOK_VAR:
    case TOK_IF:
    case TOK_ELSE:
    case TOK_FOR:
    case TOK_IN:
    case TOK_WHILE:
    case TOK_STATIC:
    case TOK_SERIAL:
    case TOK_RETURN:
        return true;
    default:
        return false;
    }
}

/* Whether the token ends an operand, so that an operator behind it has two. */
static bool ends_operand(const formatter *f, const token *t)
{
    return t->code == ')' || t->code == ']' || (is_word(f, t) && !is_keyword(t->code));
}

static bool is_sign(int code)
{
    return code == '-' || code == '+' || code == '!' || code == '~';
}

/* Whether the two would be one token, or none, without a space. */
static bool would_join(int before, int code)
{
    return ((code == '-' || code == '+') && before == code) ||
           (code == '.' && (before == TOK_INT || before == TOK_FLOAT));
}

static bool wants_space(const formatter *f, const token *t)
{
    const token *b = &f->before;
    if (would_join(b->code, t->code))
        return true;
    if (f->unary || b->code == '(' || b->code == '[' || b->code == '.')
        return false;
    switch (t->code) {
    case ',':
    case ';':
    case ')':
    case ']':
    case '.':
        return false;
    case ':':
        return f->open[f->depth].questions > 0;
    case '(':
    case '[':
        return b->code == TOK_LIMIT ? t->from > f->at : !ends_operand(f, b); /* a name or the word */
    default:
        return true;
    }
}

/* ---- lines ---- */

static bool goes_on(const formatter *f, int code)
{
    if (f->open[f->depth].kind != '{')
        return true;
    const int b = f->before.code;
    if (b == TOK_END || b == ';' || b == '{' || b == '}' || code == '{' || code == '}' || code == TOK_END)
        return false;
    return !(f->open[f->depth].of_struct && b == ',');
}

static void new_line(formatter *f, int lines, size_t from, int indent)
{
    if (f->out->len > 0) {
        sb_addc(f->out, '\n');
        if (lines > 1)
            sb_addc(f->out, '\n');
    }
    f->line_from = column_of(f, from);
    f->line_to = indent;
    add_spaces(f, indent);
}

/* Of a line in the innermost brace, or of one that begins with so many closing ones. */
static int block_indent(const formatter *f, int closers)
{
    int depth = f->depth;
    while (depth > 0 && (f->open[depth].kind != '{' || closers > 1)) {
        closers -= f->open[depth].kind == '{';
        depth--;
    }
    return depth == 0 ? 0 : f->open[depth].line + (closers ? 0 : INDENT);
}

/* Of a line that begins at `from` with a token of this code, or a comment in front of it. */
static int indent_of(formatter *f, size_t from, int code, int closers)
{
    if (!goes_on(f, code))
        return block_indent(f, closers);
    const int distance = column_of(f, from) - f->stmt_from;
    const bool closes = code == ')' || code == ']';
    return f->stmt_to + (distance >= INDENT || (closes && distance >= 0) ? distance : closes ? 0 : INDENT);
}

/* Blank lines stand between things, not at the edges of a block. */
static int lines_for(const formatter *f, int lines, int code)
{
    return f->before.code == '{' || code == '}' || code == TOK_END ? 1 : lines;
}

/* ---- comments ---- */

static size_t comment_end(const char *text, size_t from, size_t to)
{
    if (text[from + 1] == '/') {
        while (from < to && text[from] != '\n')
            from++;
        while (isspace((unsigned char)text[from - 1]))
            from--;
        return from;
    }
    for (from += 2; from + 1 < to && !(text[from] == '*' && text[from + 1] == '/'); from++)
        ;
    return from + 2;
}

/* In a line: what is aligned with others stays in its column. */
static void add_trailing(formatter *f, size_t from, size_t space)
{
    const int shift = f->line_to - f->line_from, wanted = column_of(f, from) + shift, now = column_now(f);
    f->note_from = column_of(f, from);
    f->note_to = space > 1 && wanted > now ? wanted : now + 1;
    add_spaces(f, f->note_to - now);
}

/* The comments and line breaks between the last token and the next one. Returns the line breaks behind the last
 * comment; *joined: a comment stands in the same line in front of the token. */
static int add_gap(formatter *f, const token *next, bool *joined)
{
    int lines = 0;
    size_t space = 0;
    *joined = false;
    for (size_t i = f->at; i < next->from;) {
        const char c = f->text[i];
        if (isspace((unsigned char)c) || c == '\xef' || c == '\xbb' || c == '\xbf') {
            space = c == '\n' ? 0 : space + 1;
            lines += c == '\n';
            i++;
            continue;
        }
        const size_t end = comment_end(f->text, i, next->from);
        if (lines == 0 && f->out->len > 0)
            add_trailing(f, i, space);
        else if (lines == 1 && column_of(f, i) == f->note_from)
            new_line(f, 1, i, f->note_to);
        else
            new_line(f, lines_for(f, lines, ','), i, indent_of(f, i, next->code == '}' ? ';' : next->code, 0));
        sb_addn(f->out, f->text + i, end - i);
        f->before.code = f->before.code == '{' ? ';' : f->before.code; /* a blank line may follow it */
        *joined = true;
        lines = 0;
        space = 0;
        i = end;
    }
    *joined &= lines == 0;
    return lines;
}

/* ---- tokens ---- */

/* The braces that close at the beginning of a line go back to the line that the last of them was opened in. */
static int leading_closers(const formatter *f, const token *t)
{
    int n = 0;
    for (size_t i = t->from; f->text[i] == '}' || f->text[i] == ' ' || f->text[i] == '\t'; i++)
        n += f->text[i] == '}';
    return n;
}

static void follow_brackets(formatter *f, const token *t)
{
    bracket *top = &f->open[f->depth];
    if (strchr("([{", t->code) && t->code < 128) {
        const bool of_struct = t->code == '{' && f->in_struct;
        f->open[++f->depth] = (bracket){(char)t->code, of_struct, 0, f->line_to};
        f->in_struct = false;
    } else if (strchr(")]}", t->code) && t->code < 128) {
        f->depth--;
    } else if (t->code == '?') {
        top->questions++;
    } else if (t->code == ':' && top->questions > 0) {
        top->questions--;
    }
    f->in_struct |= t->code == TOK_STRUCT;
}

static void add_token(void *ctx, const token *t)
{
    formatter *f = ctx;
    const bool begins = !goes_on(f, t->code) || t->code == '{';
    bool joined;
    const int lines = add_gap(f, t, &joined);
    if (t->code == TOK_END)
        return;
    if (lines > 0 || !joined)
        f->note_from = -1;
    if (lines > 0 || f->out->len == 0)
        new_line(f, lines_for(f, lines, t->code), t->from, indent_of(f, t->from, t->code, leading_closers(f, t)));
    else if (joined || wants_space(f, t))
        sb_addc(f->out, ' ');
    if (begins) {
        f->stmt_from = f->line_from;
        f->stmt_to = f->line_to;
    }
    sb_addn(f->out, f->text + t->from, t->to - t->from);
    f->unary = is_sign(t->code) && !ends_operand(f, &f->before);
    follow_brackets(f, t);
    f->before = *t;
    f->at = t->to;
}

typedef struct token_list {
    strbuf all;
    const char *text;
} token_list;

static void list_token(void *ctx, const token *t)
{
    token_list *l = ctx;
    sb_addn(&l->all, l->text + t->from, t->to - t->from);
    sb_addc(&l->all, '\n');
}

bool ast_format(strbuf *out, intern_pool *names, diag_sink *d, uint16_t file, const char *text, size_t len)
{
    formatter f = {
        .out = out, .text = text, .open = {{'{', false, 0, -INDENT}}, .before = {.code = TOK_END}, .note_from = -1};
    if (!parse_scan(names, d, file, text, len, add_token, &f))
        return false;
    if (out->len > 0)
        sb_addc(out, '\n');
    token_list before = {.text = text}, after = {.text = sb_str(out)};
    parse_scan(names, d, file, text, len, list_token, &before);
    parse_scan(names, d, file, sb_str(out), out->len, list_token, &after);
    const bool same = before.all.len == after.all.len &&
                      !memcmp(sb_str(&before.all), sb_str(&after.all), after.all.len);
    if (!same)
        sb_clear(out);
    sb_free(&before.all);
    sb_free(&after.all);
    return same;
}
